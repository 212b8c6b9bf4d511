/* view_run.c -- which steps a view shows. */
#include "view_run.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Looked at for an example: each is opened. */
#define MOST_LOOKS 8

const char *view_run_step(const char *text, size_t *length)
{
    const char *at = strrchr(text, '@');

    if (!at || at == text || !at[1] ||
        (strcmp(at + 1, "last") != 0 && at[1 + strspn(at + 1, "0123456789")]))
        return NULL;
    *length = (size_t)(at - text);
    return at + 1;
}

bool view_run_open(struct view_run *out, const struct request *request,
                   struct answer *answer, const char *text)
{
    size_t length = strlen(text);

    *out = (struct view_run){0};
    if (served_find(request->served, text) < 0)
        out->one = view_run_step(text, &length);
    if (length >= sizeof(out->name)) {
        answer_fail(answer, 404, BOUMA_ENOTFOUND,
                    "the name of a dataset is not so long");
        return false;
    }
    memcpy(out->name, text, length);
    out->ds = reader_dataset_now(request->reader, answer, out->name);
    if (!out->ds)
        return false;
    out->count = out->one ? 1 : bouma_dataset_step_count(out->ds);
    if (out->count < 0) {
        answer_fail_status(answer, BOUMA_EIO, bouma_error_message(out->ds));
        return false;
    }
    return true;
}

int64_t view_run_number(const struct view_run *run, int64_t i,
                        const struct request *request, struct answer *answer)
{
    bouma_step_info info = {.size = sizeof(info)};
    struct read_step step;

    if (run->one)
        return reader_step(&step, request->reader, answer, run->name, run->one)
                   ? step.number
                   : -1;
    if (!bouma_dataset_step_get(&info, run->ds, i))
        return info.step;
    answer_fail(answer, 404, BOUMA_ENOTFOUND, "there is no step of this index");
    return -1;
}

static bool has(const struct read_step *step, const char *object,
                const char *variable)
{
    bouma_variable_info about = {.size = sizeof(about)};
    bouma_grid *grid = bouma_step_find_grid(step->step, object);
    bouma_variable *found;

    if (!variable)
        return grid || bouma_step_find_particles(step->step, object);
    found = grid ? bouma_grid_find_variable(grid, variable) : NULL;
    return found && !bouma_variable_info_get(&about, found) && about.present;
}

bool view_run_example(struct read_step *out, const struct view_run *run,
                      const struct request *request, struct answer *answer,
                      const char *object, const char *variable)
{
    bouma_step_info info = {.size = sizeof(info)};
    char number[24];
    int looks = 0, rc;

    if (run->one) {
        if (!reader_step(out, request->reader, answer, run->name, run->one))
            return false;
        if (has(out, object, variable))
            return true;
    }
    for (rc = run->one ? BOUMA_ENOTFOUND
                       : bouma_dataset_last_step(&info, run->ds);
         !rc && looks < MOST_LOOKS; looks++) {
        snprintf(number, sizeof(number), "%" PRId64, info.step);
        if (!reader_step(out, request->reader, answer, run->name, number))
            return false;
        if (has(out, object, variable))
            return true;
        rc = bouma_dataset_previous_step(&info, run->ds, info.step);
    }
    answer_fail(answer, 404, BOUMA_ENOTFOUND,
                "there is no '%.100s%s%.100s' in %s; RUN@STEP names a step",
                object, variable ? "/" : "", variable ? variable : "",
                run->one ? "this step" : "the last steps");
    return false;
}

void view_run_with_example(const struct request *request, struct answer *answer,
                           const char *text, const char *object,
                           reader_work work, void *user)
{
    struct view_run run;
    struct read_step step;
    char number[24];

    if (!view_run_open(&run, request, answer, text) ||
        !view_run_example(&step, &run, request, answer, object, NULL))
        return;
    snprintf(number, sizeof(number), "%" PRId64, step.number);
    reader_with_step(request, answer, run.name, number, work, user);
}
