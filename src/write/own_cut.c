/* own_cut.c -- see own_plan.h: files that follow from the sizes of all chunks.
 * Rank 0 alone learns these, and forgets them when files are cut. */
#include <string.h>

#include "write/own_parts.h"
#include "write/table_costs.h"

/* ---- on rank 0 ----------------------------------------------------------- */

/* All chunks of the step, as where one plan has them all. */
struct whole {
    const bouma_allocator *a;
    struct bm_write_plan plan; /* its grids, and nothing else */
    uint64_t *bytes;           /* [chunks] */
    uint8_t *size_bytes;       /* [chunks] */
    struct bm_chunk_table *tables;
    size_t *end; /* [files] */
    int64_t files;
};

static void release_whole(struct whole *w)
{
    for (size_t i = 0; i < w->plan.grid_count; i++)
        bm_drop(w->a, w->plan.grids[i].order);
    bm_drop(w->a, w->plan.grids);
    bm_drop(w->a, w->bytes);
    bm_drop(w->a, w->size_bytes);
    bm_drop(w->a, w->tables);
    bm_drop(w->a, w->end);
}

static int init_whole(struct whole *w, const struct bm_write_plan *base)
{
    size_t chunks = (size_t)base->own->chunks;

    w->a = w->plan.a = base->a;
    w->plan.chunks = chunks;
    w->plan.grids = bm_new(w->a, base->grid_count, sizeof(*w->plan.grids));
    w->bytes = bm_new_raw(w->a, chunks, sizeof(*w->bytes));
    w->size_bytes = bm_new_raw(w->a, chunks, 1);
    if (!w->plan.grids || !w->bytes || !w->size_bytes)
        return BOUMA_ENOMEM;
    w->plan.grid_count = base->grid_count;
    for (size_t i = 0; i < base->grid_count; i++) {
        struct bm_plan_grid *g = &w->plan.grids[i];

        *g = base->grids[i];
        g->chunking = g->subset->whole;
        g->first = (size_t)base->own->first[i];
        g->order =
            bm_new_raw(w->a, (size_t)g->chunking.count, sizeof(*g->order));
        if (!g->order)
            return BOUMA_ENOMEM;
        g->chunking.calls->order(g->chunking.own, g->order);
    }
    return BOUMA_OK;
}

/* A chunk with its size, as it is told: u64 each, and u8 bytes in a table. */
enum { TOLD = 17 };

static int read_sizes(struct whole *w, const struct bm_buffer *all)
{
    struct bm_cursor c = bm_cursor_of(all->data, all->size);

    if (all->size != TOLD * w->plan.chunks)
        return BOUMA_ECOMM;
    while (bm_cursor_left(&c)) {
        uint64_t chunk = bm_get_u64(&c);

        if (chunk >= w->plan.chunks)
            return BOUMA_ECOMM;
        w->bytes[chunk] = bm_get_u64(&c);
        w->size_bytes[chunk] = bm_get_u8(&c);
    }
    return BOUMA_OK;
}

/* As assign_files() in stage_assign.c does. */
static int cut_whole(struct whole *w, const struct bm_write_job *job)
{
    const struct bm_options *o = &job->ds->options;
    struct bm_chunk_sizes sizes = {.count = w->plan.chunks,
                                   .bytes = w->bytes,
                                   .sections = job->ds->schema.variables};
    uint64_t total = 0;

    if (sizes.count > UINT32_MAX)
        return BOUMA_ELIMIT;
    for (size_t i = 0; i < sizes.count; i++)
        total += w->bytes[i];
    w->files = bm_assign_files(total, sizes.count, job->comm->size, o->files,
                               o->file_size);
    if (w->files > BM_MAX_SUBFILES)
        w->files = BM_MAX_SUBFILES;
    w->tables = bm_table_costs(&w->plan, w->size_bytes);
    w->end = bm_new(w->a, (size_t)w->files, sizeof(*w->end));
    if (!w->tables || !w->end)
        return BOUMA_ENOMEM;
    sizes.tables = w->tables;
    return bm_assign_runs(w->end, w->a, bm_assign_in_order(o->assign), &sizes,
                          w->files);
}

/* Where files end, by what all ranks told, which is dropped once it is read. */
static int find_ends(struct bm_buffer *out, const struct bm_write_job *job,
                     struct bm_buffer *all)
{
    struct whole w = {0};
    int rc = init_whole(&w, job->plan.grids);

    if (!rc)
        rc = read_sizes(&w, all);
    bm_buffer_release(all);
    if (!rc)
        rc = cut_whole(&w, job);
    for (int64_t f = 0; f < w.files && !rc; f++)
        bm_put_u64(out, w.end[f]);
    release_whole(&w);
    return rc ? rc : out->failed ? BOUMA_ENOMEM : BOUMA_OK;
}

/* ---- on all ranks -------------------------------------------------------- */

static int fail(struct bm_write_job *job, int rc)
{
    return bm_fail(&job->ds->error, rc,
                   rc == BOUMA_ENOMEM ? "no memory to assign chunks to files"
                   : rc == BOUMA_ELIMIT
                       ? "too many chunks; choose larger patches"
                       : "another rank told nonsense of its chunks");
}

/* The sizes of this rank's chunks, as bytes for rank 0. */
static int tell_sizes(struct bm_buffer *out, const struct bm_making *m)
{
    const struct bm_job_plan *plan = &m->job->plan;
    size_t count = bm_own_list_mine(m, NULL);
    uint64_t *number = bm_new_raw(m->a, count, sizeof(*number));

    if (!number)
        return BOUMA_ENOMEM;
    bm_own_list_mine(m, number);
    for (size_t i = 0; i < count; i++) {
        bm_put_u64(out, number[i]);
        bm_put_u64(out, plan->bytes[m->base->mine[i]]);
        bm_put_u8(out, plan->size_bytes[m->base->mine[i]]);
    }
    bm_drop(m->a, number);
    return out->failed ? BOUMA_ENOMEM : BOUMA_OK;
}

/* Where files end, on all ranks. Collective; one status on all ranks. */
static int share_ends(struct bm_making *m, struct bm_buffer *ends)
{
    struct bm_write_job *job = m->job;
    struct bm_buffer mine, all;
    int rc;

    bm_buffer_init(&mine, m->a);
    bm_buffer_init(&all, m->a);
    rc = tell_sizes(&mine, m);
    if (rc)
        fail(job, rc);
    rc = bm_comm_collect_at_root(job->comm, &mine, &all, rc, &job->ds->error);
    bm_buffer_release(&mine);
    if (!rc) {
        if (job->comm->rank == 0) {
            rc = find_ends(ends, job, &all);
            if (rc)
                fail(job, rc);
        }
        rc = bm_comm_share(job->comm, ends, 0, rc, &job->ds->error);
    }
    bm_buffer_release(&all);
    return rc;
}

/* By what ranks have, whether each writes a file of its own: then where these
 * end is not asked. Collective; one status on all ranks. */
static int settle_scheme(struct bm_making *m)
{
    struct bm_write_job *job = m->job;
    const struct bm_options *o = &job->ds->options;
    struct bm_rank_loads loads = {.ranks = job->comm->size};
    uint64_t all[3] = {0}; /* the most of a rank, of all, ranks with some */
    int64_t files;
    int rc;

    for (size_t i = 0; i < m->base->mine_count; i++)
        all[0] += job->plan.bytes[m->base->mine[i]];
    all[1] = all[0];
    all[2] = m->base->mine_count > 0;
    rc = bm_comm_reduce(job->comm, all, 3, 2, &job->ds->error);
    if (rc)
        return rc;
    loads.most = all[0];
    loads.total = all[1];
    loads.busy = (int64_t)all[2];
    files = bm_assign_files(all[1], (size_t)m->chunks, job->comm->size,
                            o->files, o->file_size);
    m->files = (uint64_t)files;
    m->assign = files > BM_MAX_SUBFILES
                    ? bm_assign_in_order(o->assign)
                    : bm_assign_settle(o->assign, files, &loads);
    return rc;
}

/* Lists of grids and variables as those of the base. */
static int copy_grids(struct bm_making *m)
{
    const struct bm_write_plan *base = m->base;
    struct bm_write_plan *plan = m->plan = bm_new(m->a, 1, sizeof(*plan));

    if (!plan)
        return BOUMA_ENOMEM;
    plan->a = m->a;
    plan->own = bm_new(m->a, 1, sizeof(*plan->own));
    plan->grids = bm_new(m->a, base->grid_count, sizeof(*plan->grids));
    if (!plan->own || !plan->grids)
        return BOUMA_ENOMEM;
    for (size_t i = 0; i < base->grid_count; i++) {
        const struct bm_plan_grid *from = &base->grids[i];
        struct bm_plan_grid *g = &plan->grids[plan->grid_count++];

        g->grid = from->grid;
        g->chunking = from->subset->whole;
        g->count = from->count;
        g->variables = bm_new(m->a, g->count, sizeof(*g->variables));
        g->of = bm_new(m->a, g->count, sizeof(*g->of));
        if (!g->variables || !g->of)
            return BOUMA_ENOMEM;
        memcpy(g->variables, from->variables, g->count * sizeof(*g->variables));
        memcpy(g->of, from->of, g->count * sizeof(*g->of));
    }
    plan->raw_bytes = base->raw_bytes;
    plan->moved_bytes = base->moved_bytes;
    plan->most_patches = base->most_patches;
    return BOUMA_OK;
}

/* The ends of files, as numbers. */
static int read_ends(struct bm_making *m, const struct bm_buffer *ends,
                     uint64_t **out)
{
    struct bm_cursor c = bm_cursor_of(ends->data, ends->size);

    m->files = ends->size / 8;
    *out = bm_new_raw(m->a, (size_t)m->files, sizeof(**out));
    for (uint64_t f = 0; f < m->files && *out; f++)
        (*out)[f] = bm_get_u64(&c);
    m->end = *out;
    return *out ? BOUMA_OK : BOUMA_ENOMEM;
}

static int make_plan(struct bm_making *m)
{
    struct bm_write_job *job = m->job;
    struct bm_buffer ends;
    uint64_t *end = NULL;
    int rc;

    bm_buffer_init(&ends, m->a);
    rc = settle_scheme(m);
    if (!rc && bm_assign_makes_runs(m->assign))
        rc = share_ends(m, &ends);
    if (!rc) {
        if (bm_assign_makes_runs(m->assign))
            rc = read_ends(m, &ends, &end);
        if (!rc)
            rc = copy_grids(m);
        if (rc)
            fail(job, rc);
        rc = bm_comm_agree(job->comm, rc, &job->ds->error);
    }
    bm_buffer_release(&ends);
    if (!rc)
        rc = bm_own_files_find(m);
    if (!rc) {
        rc = bm_own_chunks_list(m);
        if (rc)
            fail(job, rc);
        rc = bm_comm_agree(job->comm, rc, &job->ds->error);
    }
    bm_drop(m->a, m->entries);
    bm_drop(m->a, end);
    return rc;
}

/* The plan of files instead of the other one, with the sizes in it. */
static int take_plan(struct bm_write_job *job, struct bm_write_plan *cut)
{
    const bouma_allocator *a = job->ds->a;
    uint64_t *bytes = bm_new_raw(a, cut->chunks, sizeof(*bytes));
    uint8_t *size_bytes = bm_new(a, cut->chunks, 1); /* nobody asks any more */

    if (!bytes || !size_bytes) {
        bm_drop(a, bytes);
        bm_drop(a, size_bytes);
        return fail(job, BOUMA_ENOMEM);
    }
    memcpy(bytes, cut->own->bytes, cut->chunks * sizeof(*bytes));
    bm_drop(a, job->plan.bytes);
    bm_drop(a, job->plan.size_bytes);
    job->plan.bytes = bytes;
    job->plan.size_bytes = size_bytes;
    job->plan.grids = cut;
    return BOUMA_OK;
}

int bm_own_plan_cut(struct bm_write_job *job, int rc)
{
    struct bm_own_plan *own = job->plan.grids->own;
    struct bm_making m = {.job = job,
                          .a = job->ds->a,
                          .base = job->plan.grids,
                          .chunks = own->chunks,
                          .first = own->first};

    if (!own->waits)
        return rc;
    rc = bm_comm_agree(job->comm, rc, &job->ds->error);
    /* Files of known sizes are those of the last step. */
    if (!rc && !(own->cut && job->held.shaper.sized)) {
        bm_plan_free(own->cut);
        own->cut = NULL;
        rc = make_plan(&m);
        if (rc)
            bm_plan_free(m.plan);
        else
            own->cut = m.plan;
        own->assign = m.assign;
    }
    job->plan.assign = own->assign;
    if (!rc)
        rc = take_plan(job, own->cut);
    return bm_comm_agree(job->comm, rc, &job->ds->error);
}
