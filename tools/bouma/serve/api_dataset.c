/* api_dataset.c -- /api/v1/RUN: a dataset and its steps. */
#include <stdio.h>

#include "reader.h"
#include "route.h"

/* All steps: a number or a time for each. */
static int put_steps(struct json_out *out, bouma_dataset *ds, bool times)
{
    int64_t count = bouma_dataset_step_count(ds);
    bouma_step_info info = {.size = sizeof(info)};

    json_out_open(out, '[');
    for (int64_t i = 0; i < count && !out->failed; i++) {
        bouma_dataset_step_get(&info, ds, i);
        if (times)
            json_out_number(out, info.time);
        else
            json_out_integer(out, info.step);
    }
    json_out_close(out, ']');
    return count < 0 ? BOUMA_EIO : BOUMA_OK;
}

static void put_identity(struct json_out *out, const bouma_dataset *ds)
{
    bouma_dataset_info about = {.size = sizeof(about)};
    char text[40];

    bouma_dataset_info_get(&about, ds);
    for (int i = 0; i < 16; i++)
        snprintf(text + 2 * i, 3, "%02x", about.id[i]);
    json_out_key(out, "id");
    json_out_text(out, text);
    snprintf(text, sizeof(text), "%d.%d", about.format_major,
             about.format_minor);
    json_out_key(out, "format");
    json_out_text(out, text);
}

void route_api_dataset(struct request *request, struct answer *answer)
{
    bouma_dataset *ds =
        reader_dataset(request->reader, answer, request->names[0]);
    struct json_out out;
    int rc;

    if (!ds)
        return;
    json_out_init(&out, answer->memory, answer->limit);
    json_out_open(&out, '{');
    json_out_key(&out, "name");
    json_out_text(&out, request->names[0]);
    put_identity(&out, ds);
    json_out_key(&out, "steps");
    rc = put_steps(&out, ds, false);
    json_out_key(&out, "times");
    put_steps(&out, ds, true);
    json_out_key(&out, "attributes");
    json_out_attributes(&out, bouma_dataset_attributes(ds));
    json_out_close(&out, '}');
    answer_put_json(answer, &out);
    if (rc)
        answer_fail_status(answer, rc, bouma_error_message(ds));
}

void route_api_events(struct request *request, struct answer *answer)
{
    /* Looked at here, so that the answer tells what is wrong with it. */
    if (!reader_dataset(request->reader, answer, request->names[0]))
        return;
    answer->type = "text/event-stream";
    answer->events = true;
    /* It is there by now, and stays in the list. */
    answer->events_of = (size_t)served_find(request->served, request->names[0]);
}
