/* api_plan_report.c -- what a plan says: in all, of its patches, files and
 * ranks, and why a rank writes a file. */
#include "api/api_plan.h"

#include <inttypes.h>
#include <string.h>

#include "layout/grid_hz.h"
#include "layout/grid_patch.h"
#include "plan/particle_cut.h"

/* The grid, its chunks, and the ranks. */
static void tell_grid(bouma_plan_report *out, const bouma_plan *plan)
{
    const struct bm_object *o = plan->grid;
    const struct bm_estimate_task *task = &plan->task;
    bouma_grid_info info = {0};
    int first = 3 - o->ndims;

    o->layout->info(o, &info);
    out->layout = (bouma_layout)o->layout->code;
    for (int d = 0; d < o->ndims; d++) {
        out->patch[d] = info.patch[d];
        out->usual_patch[d] = plan->usual_patch[d];
        out->grid[d] = out->layout == BOUMA_LAYOUT_PATCH
                           ? (task->shape[first + d] - 1) / info.patch[d] + 1
                           : 0;
    }
    out->patches = task->chunks.chunking.count;
    out->raw_bytes = bm_box_volume(&o->domain) * task->sample_bytes;
    memcpy(out->hz_template, info.hz_template, sizeof(out->hz_template));
    out->hz_block_bits = info.hz_block_bits;
    out->hz_blocks_per_file = info.hz_blocks_per_file;
    out->hz_order = info.hz_order;
    if (out->layout == BOUMA_LAYOUT_HZ)
        out->hz_conforms =
            bm_hz_ranks_conform(&task->ranks, &bm_grid_hz_of(o)->blocks.hz);
    out->fewest_holders = plan->sharing.fewest_ranks;
    out->most_holders = plan->sharing.most_ranks;
    out->fewest_held = plan->sharing.fewest_files;
    out->most_held = plan->sharing.most_files;
    out->held_files = plan->sharing.pairs;
}

static void tell_particles(bouma_plan_report *out, const bouma_plan *plan)
{
    out->particles = plan->task.particles;
    out->fewest_particles = plan->estimate.fewest_particles;
    out->most_particles = plan->estimate.most_particles;
    out->raw_bytes = plan->task.particles * plan->task.sample_bytes;
    out->assign = bm_particle_scheme(plan->options.assign);
}

int bouma_plan_report_get(bouma_plan_report *given, const bouma_plan *plan)
{
    BM_STRICT_MATH;
    bouma_plan_report own = {0}, *out = &own;
    const struct bm_estimate *e;

    if (!plan || !bm_reply_begin(given, sizeof(own)))
        return BOUMA_EINVAL;
    e = &plan->estimate;
    out->distribute = plan->options.distribute;
    out->assign = e->assign;
    out->place = plan->options.place;
    out->ranks = plan->task.ranks.count;
    for (int d = 0; d < plan->ndims; d++)
        out->blocks[d] = plan->task.ranks.grid[3 - plan->ndims + d];
    if (plan->grid)
        tell_grid(out, plan);
    else
        tell_particles(out, plan);
    out->shared_patches = e->owners.report.shared_patches;
    out->fewest_patches = e->fewest_patches;
    out->most_patches = e->owners.report.most_patches;
    out->moved_bytes = e->owners.report.moved_samples * plan->task.sample_bytes;
    out->moved_messages = e->moved_messages;
    out->shipped_bytes = e->shipped_bytes;
    out->shipped_messages = e->shipped_messages;
    out->rounds = e->rounds;
    out->writers = e->writers;
    out->files = e->files;
    out->smallest_file = UINT64_MAX;
    for (int64_t f = 0; f < e->files; f++) {
        uint64_t bytes = e->file_bytes[f];

        out->stored_bytes += bytes;
        if (bytes > out->largest_file)
            out->largest_file = bytes;
        if (bytes < out->smallest_file)
            out->smallest_file = bytes;
    }
    out->mean_file = out->stored_bytes / (uint64_t)e->files;
    out->memory_bytes = plan->counter.peak;
    out->seconds = plan->seconds;
    out->machine = plan->machine != NULL;
    out->byte_hops = e->byte_hops;
    out->nodes = plan->places.nodes;
    out->moved_between = e->moved_samples_between * plan->task.sample_bytes;
    out->shipped_between = e->shipped_bytes_between;
    return bm_reply(given, &own, sizeof(own));
}

/* The patch at some coordinates; -1 if there is none. */
static int64_t patch_at(const struct bm_object *o, const int64_t *at)
{
    const struct bm_tiling *t;
    int64_t lifted[3] = {0};
    int first;

    if (!o || o->layout->code != BOUMA_LAYOUT_PATCH)
        return -1;
    first = 3 - o->ndims;
    t = bm_tiling_of(o);
    for (int d = first; d < 3; d++) {
        lifted[d] = at[d - first];
        if (lifted[d] < 0 || lifted[d] >= t->count[d])
            return -1;
    }
    return bm_tiling_index(t, lifted);
}

int bouma_plan_patch_get(bouma_plan_patch *given, const bouma_plan *plan,
                         const int64_t *at)
{
    bouma_plan_patch own = {0}, *out = &own;
    int64_t patch, place;

    if (!plan || !at || !bm_reply_begin(given, sizeof(own)))
        return BOUMA_EINVAL;
    patch = patch_at(plan->grid, at);
    if (patch < 0)
        return BOUMA_ENOTFOUND;
    place = bm_chunking_position(&plan->task.chunks.chunking, patch);
    out->owner = bm_owner_at(&plan->estimate.owners, (size_t)place);
    out->file = bm_estimate_file(&plan->estimate, place);
    out->bytes = bm_sums_each(&plan->estimate.bytes, (size_t)place);
    return bm_reply(given, &own, sizeof(own));
}

/* The levels of an HZ order that a file has. */
static void tell_levels(bouma_plan_file *out, const bouma_plan *plan,
                        int64_t file)
{
    const struct bm_estimate *e = &plan->estimate;
    struct bm_listed_chunk one;
    uint64_t block[2];
    int bits;

    out->first_level = out->last_level = 0;
    if (!plan->grid || plan->grid->layout->code != BOUMA_LAYOUT_HZ)
        return;
    bits = bm_grid_hz_of(plan->grid)->blocks.block_bits;
    bm_chunking_list(&e->chunking, (int64_t)e->first[file], 1, &one);
    block[0] = one.key;
    bm_chunking_list(&e->chunking, (int64_t)e->first[file + 1] - 1, 1, &one);
    block[1] = one.key;
    out->first_level = block[0] ? bits + bm_hz_level(block[0]) : 0;
    out->last_level = bits + bm_hz_level(block[1]);
}

int bouma_plan_file_get(bouma_plan_file *given, const bouma_plan *plan,
                        int64_t file)
{
    BM_STRICT_MATH;
    bouma_plan_file own = {0}, *out = &own;
    const struct bm_estimate *e;
    const size_t *first;

    if (!plan || !bm_reply_begin(given, sizeof(own)))
        return BOUMA_EINVAL;
    e = &plan->estimate;
    if (file < 0 || file >= e->files)
        return BOUMA_ENOTFOUND;
    out->writer = e->writer[file];
    out->tier = e->tier[file];
    first = plan->grid ? e->first : e->gathering.first;
    out->patches = (int64_t)(first[file + 1] - first[file]);
    out->bytes = e->file_bytes[file];
    tell_levels(out, plan, file);
    return bm_reply(given, &own, sizeof(own));
}

int bouma_plan_rank_get(bouma_plan_rank *given, const bouma_plan *plan,
                        int rank)
{
    BM_STRICT_MATH;
    bouma_plan_rank own = {0}, *out = &own;
    int64_t cell[3];
    struct bm_box box;
    int first;

    if (!plan || !bm_reply_begin(given, sizeof(own)))
        return BOUMA_EINVAL;
    if (rank < 0 || rank >= plan->task.ranks.count)
        return BOUMA_ENOTFOUND;
    first = 3 - plan->ndims;
    bm_hz_ranks_cell(&plan->task.ranks, rank, cell);
    box = bm_hz_ranks_box(&plan->task.ranks, rank);
    for (int d = first; d < 3; d++) {
        out->at[d - first] = cell[d];
        out->box.lo[d - first] = box.lo[d];
        out->box.hi[d - first] = box.hi[d];
    }
    return bm_reply(given, &own, sizeof(own));
}

int bouma_plan_holders(const bouma_plan *plan, int64_t file,
                       void (*each)(void *user, int rank), void *user)
{
    BM_STRICT_MATH;
    struct bm_estimate_groups groups;
    int rc, count;

    if (!plan || !each)
        return BOUMA_EINVAL;
    if (file < 0 || file >= plan->estimate.files)
        return BOUMA_ENOTFOUND;
    if (!plan->grid) {
        const struct bm_gathering *g = &plan->estimate.gathering;

        for (size_t i = g->first[file]; i < g->first[file + 1]; i++)
            each(user, g->rank[i]);
        return BOUMA_OK;
    }
    rc = bm_estimate_groups_init(&groups, &plan->estimate,
                                 plan->task.ranks.count);
    count = rc ? 0 : bm_estimate_groups_find(&groups, file);
    for (int i = 0; i < count; i++)
        each(user, groups.rank[i]);
    bm_estimate_groups_release(&groups);
    return rc;
}

static bouma_plan_cost cost_row(const bouma_plan *plan,
                                const struct bm_cost *cost,
                                const struct bm_cost *choice)
{
    return (bouma_plan_cost){.size = sizeof(bouma_plan_cost),
                             .rank = cost->rank,
                             .node = cost->node,
                             .tier = plan->task.rule.tiers[cost->tier].kind,
                             .fits = cost->fits,
                             .chosen = cost->rank == choice->rank &&
                                       cost->tier == choice->tier,
                             .gather = cost->gather,
                             .store = cost->store,
                             .links = cost->links,
                             .wait = cost->wait};
}

int bouma_plan_explain(const bouma_plan *plan, int64_t file,
                       void (*each)(void *user, const bouma_plan_cost *cost),
                       void *user)
{
    BM_STRICT_MATH;
    const struct bm_estimate *e;
    struct bm_cost *table = NULL;
    size_t count;
    int rc;

    if (!plan || !each || !plan->estimate.choice)
        return BOUMA_EINVAL;
    e = &plan->estimate;
    if (file < 0 || file >= e->files)
        return BOUMA_ENOTFOUND;
    rc = bm_cost_table(&table, &count, plan->counter.a, &plan->task.rule,
                       &e->gathering, file);
    for (size_t i = 0; i < count && !rc; i++) {
        bouma_plan_cost row = cost_row(plan, &table[i], &e->choice[file]);

        each(user, &row);
    }
    bm_drop(plan->counter.a, table);
    return rc;
}
