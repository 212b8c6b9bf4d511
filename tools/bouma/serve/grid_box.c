/* grid_box.c -- the box of a grid that a request names. */
#include "grid_box.h"

#include <string.h>

#include "numbers.h"
#include "sized.h"

static bool choose_box(struct grid_box *out, const struct request *request,
                       struct answer *answer)
{
    const char *text = request_text(request, "box");
    char message[256];

    for (int i = 0; i < out->about.ndims; i++)
        out->box.hi[i] = out->about.shape[i];
    if (!text || parse_box(text, out->about.ndims, out->about.shape, &out->box,
                           message, sizeof(message)))
        return true;
    answer_fail(answer, 400, BOUMA_EINVAL, "box: %s", message);
    return false;
}

bool grid_box_find(struct grid_box *out, const struct read_step *step,
                   const struct request *request, struct answer *answer,
                   const char *object, const char *variable)
{
    *out = (struct grid_box){0};
    out->grid = bouma_step_find_grid(step->step, object);
    if (out->grid)
        out->variable = bouma_grid_find_variable(out->grid, variable);
    if (!out->variable) {
        answer_fail(answer, 404, BOUMA_ENOTFOUND, "%s",
                    bouma_error_message(step->ds));
        return false;
    }
    bouma_grid_info_get(SIZED(&out->about), out->grid);
    bouma_variable_info_get(SIZED(&out->values), out->variable);
    if (!out->values.present) {
        answer_fail(answer, 404, BOUMA_ENOTFOUND,
                    "step %lld has no data of '%.100s'",
                    (long long)step->number, variable);
        return false;
    }
    return choose_box(out, request, answer);
}

bool grid_box_component(int *out, const struct grid_box *box,
                        const struct request *request, struct answer *answer)
{
    int64_t component = -1;

    if (!request_integer(request, answer, "component", 0,
                         box->values.components - 1, &component))
        return false;
    *out = (int)component;
    return true;
}

uint64_t grid_box_cost(const bouma_grid_info *grid,
                       const bouma_variable_info *values, const bouma_box *box,
                       int level)
{
    uint64_t cost =
        bouma_type_size(values->type) * (uint64_t)values->components;

    for (int i = 0; i < grid->ndims; i++) {
        int64_t patch = grid->patch[i] > 0 ? grid->patch[i] : 1;
        int64_t first = box->lo[i] / patch * patch;
        int64_t last = (box->hi[i] + patch - 1) / patch * patch;
        uint64_t span = ((uint64_t)(last - first) >> level) + 1;

        if (span > UINT64_MAX / (cost ? cost : 1))
            return UINT64_MAX;
        cost *= span;
    }
    return cost;
}

/* Own values of all components to those that are sent. */
static void convert_all(void *to, const void *from, size_t samples,
                        int components, int component,
                        const struct conversion *how)
{
    size_t own = bouma_type_size(how->from);

    if (component < 0)
        convert_values(to, 1, from, 1, samples * (size_t)components, how);
    else
        convert_values(to, 1, (const char *)from + own * (size_t)component,
                       (size_t)components, samples, how);
}

int grid_box_read(const struct grid_box *box, int level, int component,
                  struct conversion how, const struct request *request,
                  struct answer *answer)
{
    const bouma_variable_info *values = &box->values;
    bouma_selection selection = {.size = sizeof(selection)};
    uint64_t samples,
        cost = grid_box_cost(&box->about, values, &box->box, level);
    int sent = component < 0 ? values->components : 1, rc;
    bool direct = component < 0 || values->components == 1;
    bouma_array array;
    void *body, *own;

    if (cost > request->limits.cost_bytes) {
        answer_fail(answer, 413, BOUMA_ELIMIT,
                    "%llu bytes would be decoded for this box, and the limit "
                    "is %llu; ask for a smaller box or a coarser level",
                    (unsigned long long)cost,
                    (unsigned long long)request->limits.cost_bytes);
        return BOUMA_OK;
    }
    rc = bouma_variable_select(&selection, box->variable, level, &box->box);
    if (rc)
        return rc;
    how.from = values->type;
    samples = selection.bytes /
              (bouma_type_size(values->type) * (uint64_t)values->components);
    body = answer_body(answer, ANSWER_BYTES,
                       samples * (uint64_t)sent *
                           sent_type_size(how.to, how.from));
    if (!body || !samples)
        return BOUMA_OK;
    direct = direct && (how.to == SENT_OWN ||
                        (how.to == SENT_F32 && how.from == BOUMA_TYPE_F32));
    own = direct ? body
                 : memory_budget_resize(answer->memory, NULL,
                                        (size_t)selection.bytes);
    if (!own)
        return BOUMA_ENOMEM;
    array = BOUMA_ARRAY(values->type, own, (size_t)selection.bytes);
    rc = bouma_variable_read(box->variable, level, &box->box, &array);
    if (!direct) {
        if (!rc)
            convert_all(body, own, (size_t)samples, values->components,
                        component, &how);
        memory_budget_release(answer->memory, own);
    }
    return rc;
}
