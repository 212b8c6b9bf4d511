/* query_tiles.c -- queries of grids that are stored as coefficients: tile by
 * tile, each at a level of its own. Tables have the ranges of chunks, whose
 * samples are in many tiles: so no tile is left out before it was read, unless
 * the variable has no value that is asked for. */
#include "base/value.h"
#include "read/read_tiles.h"

#include <string.h>

#define RUN_BYTES ((uint64_t)16 << 20) /* of tiles that are read together */

struct query {
    struct bouma_step *step;
    const struct bouma_variable *variable;
    const bouma_patch_query *asked;
    struct bm_box box; /* lifted */
    struct bm_tiling tiling;
    bouma_range *ranges; /* [components], of the variable */
    uint64_t no_bytes[BM_MAX_LEVELS];
    struct bm_block_of_memory samples, tile;
};

/* Tiles in a row, at one level: the part of them that is asked for. */
struct run {
    struct bm_box box;
    int level;
    int64_t first, end; /* tiles */
};

static int may_have(const struct query *q, const struct bm_range *range)
{
    return bm_variable_may_have(q->variable, range, q->asked->low,
                                q->asked->high);
}

static bouma_patch_info describe(const struct query *q, int64_t tile)
{
    const struct bouma_variable *v = q->variable;
    struct bm_box box = bm_tiling_patch_box(&q->tiling, tile);
    bouma_patch_info info = {
        sizeof(info),      bm_box_lower(&box, v->object->ndims),
        v->object->levels, v->components,
        q->ranges,         q->no_bytes};

    return info;
}

/* The level of a tile, or -1 to skip it. */
static int choose(const struct query *q, int64_t tile, int *level)
{
    const struct bouma_variable *v = q->variable;
    bouma_patch_info info;

    *level = q->asked->level;
    if (q->asked->choose) {
        info = describe(q, tile);
        *level = q->asked->choose(q->asked->user, &info);
    }
    return *level < v->object->levels
               ? BOUMA_OK
               : bm_fail(&q->step->ds->error, BOUMA_EINVAL,
                         "level %d was chosen for a patch of \"%s/%s\", which "
                         "has levels 0 to %d",
                         *level, v->object->name, v->name,
                         v->object->levels - 1);
}

static int no_memory(const struct query *q)
{
    return bm_fail(&q->step->ds->error, BOUMA_ENOMEM, "no memory to query");
}

/* Whether a tile that was read at level 0 has a value that is asked for. */
static int has_value(const struct query *q, const uint8_t *samples,
                     size_t count)
{
    const struct bouma_variable *v = q->variable;
    size_t size = bm_variable_value_size(v), all = bm_variable_sample_size(v);
    struct bm_range range = {.count = 0};

    samples += (size_t)q->asked->component * size;
    for (size_t i = 0; i < count && !may_have(q, &range); i++) {
        memset(&range, 0, sizeof(range));
        bm_range_add(&range, v->type, samples + i * all, 1);
    }
    return may_have(q, &range);
}

/* Hand a tile's part of what was read to the caller. */
static int hand_over(struct query *q, const struct run *run, int64_t tile)
{
    const struct bouma_variable *v = q->variable;
    size_t size = bm_variable_sample_size(v);
    struct bm_box box = bm_tiling_patch_box(&q->tiling, tile);
    struct bm_lattice all = bm_lattice_of(&run->box, run->level);
    struct bm_footprint part;
    bouma_patch_info info = describe(q, tile);
    bouma_selection selection = {.size = sizeof(selection)};
    const uint8_t *from = q->samples.data;
    uint8_t *to;
    size_t row;

    bm_box_meet(&box, &box, &run->box);
    part = bm_footprint_of_box(&box);
    part = bm_footprint_at_level(&part, run->level);
    if (!bm_footprint_samples(&part))
        return BOUMA_OK;
    bm_selection_of(&selection, v->object, size, &part);
    if (bm_block_grow(q->step->ds->a, &q->tile, (size_t)selection.bytes))
        return no_memory(q);
    to = q->tile.data;
    row = (size_t)part.count[2] * size;
    for (int64_t z = 0; z < part.count[0]; z++)
        for (int64_t y = 0; y < part.count[1]; y++, to += row) {
            int64_t at = (part.start[0] >> run->level) - all.start[0] + z;

            at = at * all.count[1] + (part.start[1] >> run->level) -
                 all.start[1] + y;
            at = at * all.count[2] + (part.start[2] >> run->level) -
                 all.start[2];
            memcpy(to, from + (size_t)at * size, row);
        }
    if (q->asked->within && !run->level &&
        !has_value(q, q->tile.data, (size_t)bm_footprint_samples(&part)))
        return BOUMA_OK;
    return q->asked->each(q->asked->user, &info, run->level, &selection,
                          q->tile.data)
               ? bm_fail(&q->step->ds->error, BOUMA_EABORTED,
                         "the caller ended the query")
               : BOUMA_OK;
}

static uint64_t run_bytes(const struct query *q, const struct run *run)
{
    struct bm_lattice l = bm_lattice_of(&run->box, run->level);

    return bm_lattice_samples(&l) * bm_variable_sample_size(q->variable);
}

/* Read the tiles of a run, and hand over each. */
static int read_run(struct query *q, const struct run *run)
{
    struct bm_read_request r = {
        .variable = q->variable, .level = run->level, .box = run->box};
    struct bm_lattice l = bm_lattice_of(&run->box, run->level);
    uint64_t bytes = run_bytes(q, run);
    int rc;

    if (!bytes)
        return BOUMA_OK;
    if (bm_block_grow(q->step->ds->a, &q->samples, (size_t)bytes))
        return no_memory(q);
    r.to = bm_array_dense(q->variable, q->samples.data, l.count);
    rc = bm_read_box(q->step, &r);
    for (int64_t tile = run->first; tile < run->end && !rc; tile++)
        rc = hand_over(q, run, tile);
    return rc;
}

/* The tiles of a row that the box meets: those at one level together, as far as
 * memory should go. */
static int query_row(struct query *q, const int64_t from[3], int64_t end)
{
    int64_t first = bm_tiling_index(&q->tiling, from);
    struct run run = {.level = -1};
    int rc = BOUMA_OK;

    for (int64_t tile = first; tile < first + end - from[2] && !rc; tile++) {
        struct run next = {.level = -1, .first = tile, .end = tile + 1};

        next.box = bm_tiling_patch_box(&q->tiling, tile);
        bm_box_meet(&next.box, &next.box, &q->box);
        rc = choose(q, tile, &next.level);
        if (rc)
            break;
        if (run.level >= 0 && run.level == next.level && run.end == tile &&
            run_bytes(q, &run) + run_bytes(q, &next) <= RUN_BYTES) {
            run.box.hi[2] = next.box.hi[2];
            run.end = tile + 1;
        } else {
            rc = run.level >= 0 ? read_run(q, &run) : BOUMA_OK;
            run = next;
        }
    }
    return rc || run.level < 0 ? rc : read_run(q, &run);
}

static int query_rows(struct query *q)
{
    struct bm_box met = bm_tiling_meeting(&q->tiling, &q->box);
    int64_t at[3];
    int rc = BOUMA_OK;

    at[2] = met.lo[2];
    for (at[0] = met.lo[0]; at[0] < met.hi[0] && !rc; at[0]++)
        for (at[1] = met.lo[1]; at[1] < met.hi[1] && !rc; at[1]++)
            rc = query_row(q, at, met.hi[2]);
    return rc;
}

int bm_query_tiles(struct bouma_step *step,
                   const struct bouma_variable *variable,
                   const bouma_patch_query *query, const struct bm_box *lifted)
{
    const bouma_allocator *a = step->ds->a;
    struct query q = {
        .step = step, .variable = variable, .asked = query, .box = *lifted};
    int rc = BOUMA_OK;

    if (!bm_object_tiling(variable->object, &q.tiling) ||
        !bm_box_volume(lifted) ||
        (query->within &&
         !may_have(&q, &variable->in_step.ranges[query->component])))
        return BOUMA_OK;
    step->open.busy++; /* while levels are chosen, too */
    q.ranges = bm_new(a, (size_t)variable->components, sizeof(*q.ranges));
    for (int j = 0; j < variable->components && q.ranges; j++)
        bm_range_public(&q.ranges[j], &variable->in_step.ranges[j],
                        variable->type);
    rc = q.ranges ? query_rows(&q) : no_memory(&q);
    step->open.busy--;
    bm_drop(a, q.ranges);
    bm_drop(a, q.samples.data);
    bm_drop(a, q.tile.data);
    return rc;
}
