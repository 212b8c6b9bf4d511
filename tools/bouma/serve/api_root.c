/* api_root.c -- /api/v1: what is served, and the limits. */
#include "reader.h"
#include "route.h"

/* Of more than so many datasets, only the names are told: to count steps, each
 * must be opened. */
#define MOST_COUNTED 256

static void put_dataset(struct json_out *out, struct reader *reader, size_t i,
                        bool is_counted)
{
    bouma_step_info last = {.size = sizeof(last)};
    bouma_dataset *ds = NULL;
    int64_t steps = is_counted && !reader_open(&ds, reader, i)
                        ? bouma_dataset_step_count(ds)
                        : -1;

    json_out_open(out, '{');
    json_out_key(out, "name");
    json_out_text(out, served_get(reader->served, i)->name);
    json_out_key(out, "steps");
    if (steps < 0)
        json_out_null(out);
    else
        json_out_integer(out, steps);
    json_out_key(out, "last");
    if (steps < 0 || bouma_dataset_last_step(&last, ds))
        json_out_null(out);
    else
        json_out_integer(out, last.step);
    json_out_close(out, '}');
}

void route_api_root(struct request *request, struct answer *answer)
{
    size_t count = served_count(request->served);
    struct json_out out;

    json_out_init(&out, answer->memory, answer->limit);
    json_out_open(&out, '{');
    json_out_key(&out, "bouma");
    json_out_text(&out, bouma_version());
    json_out_key(&out, "api");
    json_out_integer(&out, 1);
    json_out_key(&out, "limits");
    json_out_open(&out, '{');
    json_out_key(&out, "answer_bytes");
    json_out_count(&out, request->limits.answer_bytes);
    json_out_key(&out, "url_bytes");
    json_out_integer(&out, URL_BYTES);
    json_out_close(&out, '}');
    json_out_key(&out, "datasets");
    json_out_open(&out, '[');
    for (size_t i = 0; i < count && !out.failed; i++)
        put_dataset(&out, request->reader, i, count <= MOST_COUNTED);
    json_out_close(&out, ']');
    json_out_close(&out, '}');
    answer_put_json(answer, &out);
}
