/* api_ranges.c -- .../OBJECT/VARIABLE/ranges: the lowest and highest value of
 * each patch of a grid. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "grid_box.h"
#include "route.h"

/* Their bytes are a number still. */
#define MOST_PATCHES (UINT64_MAX / 16)

/* Where the ranges go: patches first[] to first[] + count[] along each axis. */
struct range_table {
    const bouma_grid_info *grid;
    int component;
    int64_t first[BOUMA_MAX_DIMS], count[BOUMA_MAX_DIMS];
    float (*pairs)[2];
    bool odd; /* a patch that is not where one should be */
};

static float outwards(double value, float direction)
{
    float near = (float)value;

    return (direction < 0 ? (double)near > value : (double)near < value)
               ? nextafterf(near, direction)
               : near;
}

/* Every patch is looked at, and none is read. */
static int take_range(void *user, const bouma_patch_info *patch)
{
    struct range_table *table = user;
    const bouma_range *range = &patch->ranges[table->component];
    int64_t at = 0;

    for (int i = 0; i < table->grid->ndims; i++) {
        int64_t k = patch->box.lo[i] / table->grid->patch[i] - table->first[i];

        if (k < 0 || k >= table->count[i]) {
            table->odd = true;
            return -1;
        }
        at = at * table->count[i] + k;
    }
    table->pairs[at][0] = range->empty ? NAN : outwards(range->low, -INFINITY);
    table->pairs[at][1] = range->empty ? NAN : outwards(range->high, INFINITY);
    return -1;
}

static int take_none(void *user, const bouma_patch_info *patch, int level,
                     const bouma_selection *selection, const void *samples)
{
    (void)user, (void)patch, (void)level, (void)selection, (void)samples;
    return 0;
}

/* How many patches there are; a number beyond all limits if that is none. */
static uint64_t lay_out(struct range_table *table, const struct grid_box *of)
{
    uint64_t patches = 1;

    table->grid = &of->about;
    for (int i = 0; i < of->about.ndims; i++) {
        int64_t patch = of->about.patch[i];

        table->first[i] = of->box.lo[i] / patch;
        table->count[i] = (of->box.hi[i] + patch - 1) / patch - table->first[i];
        if (patches > MOST_PATCHES / (uint64_t)table->count[i])
            return MOST_PATCHES;
        patches *= (uint64_t)table->count[i];
    }
    return patches;
}

static int list_ranges(void *user, const struct read_step *step,
                       const struct request *request, struct answer *answer)
{
    struct range_table table = {0};
    struct grid_box of;
    bouma_patch_query query = {.size = sizeof(query),
                               .choose = take_range,
                               .each = take_none,
                               .user = &table};
    char shape[160] = "";
    uint64_t patches, before = reader_bytes(step->ds);
    size_t used = 0;
    int rc;

    (void)user;
    if (!grid_box_find(&of, step, request, answer, request->names[2],
                       request->names[3]) ||
        !grid_box_component(&table.component, &of, request, answer))
        return BOUMA_OK;
    if (of.about.layout != BOUMA_LAYOUT_PATCH) {
        answer_fail(answer, 404, BOUMA_ENOTFOUND,
                    "'%.100s' lies in HZ order, and has no patches",
                    of.about.name);
        return BOUMA_OK;
    }
    table.component = table.component < 0 ? 0 : table.component;
    patches = lay_out(&table, &of);
    for (int i = 0; i < of.about.ndims; i++)
        used += (size_t)snprintf(shape + used, sizeof(shape) - used,
                                 "%" PRId64 ",", table.count[i]);
    answer_header(answer, "Bouma-Type", "f32");
    answer_header(answer, "Bouma-Shape", "%s2", shape);
    table.pairs =
        answer_body(answer, ANSWER_BYTES, patches * sizeof(*table.pairs));
    if (!table.pairs)
        return BOUMA_OK;
    for (uint64_t i = 0; i < patches; i++)
        table.pairs[i][0] = table.pairs[i][1] = NAN;
    query.box = &of.box;
    rc = bouma_variable_query(of.variable, &query);
    if (rc || table.odd)
        return rc ? rc : BOUMA_EFORMAT;
    answer_header(answer, "Bouma-Bytes-Read", "%" PRIu64,
                  reader_bytes(step->ds) - before);
    return BOUMA_OK;
}

void route_api_ranges(struct request *request, struct answer *answer)
{
    reader_with_step(request, answer, request->names[0], request->names[1],
                     list_ranges, NULL);
}
