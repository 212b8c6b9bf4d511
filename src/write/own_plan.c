/* own_plan.c -- see own_plan.h. */
#include "write/own_plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/keyed.h"
#include "base/search.h"
#include "comm/sparse.h"
#include "write/own_parts.h"
#include "write/plan_local.h"

const char *bm_own_plan_refuses(const struct bm_options *o,
                                const struct bm_schema *schema)
{
    bouma_assign assign = bm_assign_in_order(o->assign);
    const char *why = NULL;

    if (assign == BOUMA_ASSIGN_PER_NODE)
        return "'assign' must not be per-node, nor 'files' by nodes";
    if (!bm_placement_of(o->place)->formula)
        return "'place' must be spread or first: others compare what all ranks "
               "send";
    if (o->predict == BOUMA_PREDICT_ON)
        return "'predict' goes by the sizes of all chunks";
    for (int i = 0; i < schema->count && !why; i++) {
        const struct bm_object *grid = schema->objects[i];
        struct bm_chunking c;

        if (!grid->layout->chunking)
            continue;
        c = grid->layout->chunking(grid);
        if (c.calls->file || bm_object_is_tiled(grid))
            return "grids must have the layout 'patch', without 'idx' and "
                   "wavelets over tiles";
        bm_local_serves(&c, o->distribute, &why);
    }
    return why;
}

/* Whether files follow from the sizes of all chunks. */
static int waits_for_sizes(const struct bm_options *o)
{
    bouma_assign assign = bm_assign_in_order(o->assign);

    return assign == BOUMA_ASSIGN_OPTIMAL || assign == BOUMA_ASSIGN_RUNNING ||
           (assign == BOUMA_ASSIGN_COUNT && !o->files);
}

void bm_own_plan_free(struct bm_own_plan *own, const bouma_allocator *a)
{
    if (!own)
        return;
    bm_assignment_release(&own->files);
    bm_route_release(&own->to_writers);
    bm_route_release(&own->from_owners);
    bm_route_release(&own->to_feeders);
    bm_route_release(&own->from_writers);
    bm_drop(a, own->at);
    bm_drop(a, own->file_bytes);
    bm_drop(a, own->slots);
    bm_drop(a, own->feeder);
    bm_drop(a, own->first);
    bm_drop(a, own->bytes);
    bm_plan_free(own->cut);
    bm_drop(a, own);
}

/* ---- what all ranks have of a variable ----------------------------------- */

/* The first put of a variable, or of one behind it. */
static size_t first_put(const struct bouma_dataset *ds, uint64_t variable)
{
    const struct bm_put *puts = ds->given.puts;
    size_t count = ds->given.put_count, at = 0;

    if (!count || puts[0].variable->id >= variable)
        return 0;
    BM_BISECT(at, count, i, puts[i].variable->id < variable);
    return at + 1;
}

/* They are sorted by variables: the number of those of one. */
static size_t find_puts(const struct bouma_dataset *ds, uint32_t variable,
                        size_t *first)
{
    *first = first_put(ds, variable);
    return first_put(ds, (uint64_t)variable + 1) - *first;
}

/* Variables that are laid out alike have the same hash. */
static void tell_variable(const struct bm_making *m, uint32_t variable,
                          uint64_t said[2])
{
    const struct bouma_dataset *ds = m->job->ds;
    size_t first, count = find_puts(ds, variable, &first);
    uint64_t hash = (uint64_t)m->job->comm->rank + 1;

    for (size_t i = 0; i < count; i++)
        hash = bm_hash64(&ds->given.puts[first + i].from.box,
                         sizeof(struct bm_box), hash);
    said[0] = count ? hash : 0;
    said[1] = count;
}

enum { AT_ONCE = BM_COMM_MAX_VALUES / 2 };

/* Which variables some rank has, and which are laid out alike. */
static int find_variables(struct bm_making *m)
{
    uint32_t count = m->job->ds->schema.variables;
    int rc = BOUMA_OK;

    for (uint32_t v = 0; v < count && !rc; v += AT_ONCE) {
        uint64_t said[2 * AT_ONCE] = {0};
        uint32_t n = count - v < AT_ONCE ? count - v : AT_ONCE;

        for (uint32_t i = 0; i < n; i++)
            tell_variable(m, v + i, said + 2 * i);
        rc = bm_comm_reduce(m->job->comm, said, 2 * (int)n, 2 * (int)n,
                            &m->job->ds->error);
        memcpy(m->said + 2 * v, said, 2 * n * sizeof(*said));
    }
    return rc;
}

/* ---- decompositions ------------------------------------------------------ */

/* The owners of a variable's chunks that concern this rank. */
static int decompose(struct bm_making *m, struct bm_decomposition *d,
                     struct bm_local_result *result,
                     const struct bouma_variable *v)
{
    struct bouma_dataset *ds = m->job->ds;
    size_t first, count = find_puts(ds, v->id, &first);
    struct bm_box *boxes = bm_new_raw(ds->a, count, sizeof(*boxes));
    struct bm_local_task task = {v->object->layout->chunking(v->object),
                                 ds->options.distribute,
                                 m->job->comm->size,
                                 m->job->comm->rank,
                                 boxes,
                                 count};
    struct bm_local l;
    int rc = bm_local_init(&l, ds->a, &task);

    for (size_t i = 0; i < count && boxes; i++)
        boxes[i] = ds->given.puts[first + i].from.box;
    if (rc || !boxes)
        rc = bm_fail(&ds->error, BOUMA_ENOMEM, "no memory to plan the step");
    rc = bm_local_run(&l, m->job->comm, rc, &ds->error);
    if (!rc) {
        *result = l.result;
        memset(&l.result, 0, sizeof(l.result));
        d->grid = v->object;
        d->report = result->report;
    }
    bm_local_release(&l);
    bm_drop(ds->a, boxes);
    return rc;
}

/* A grid with the variables that are present: see plan_grid() in write_plan.c.
 * Of its chunks nothing is known yet but what local plans say. */
static int begin_grid(struct bm_making *m, const struct bm_object *grid)
{
    struct bm_write_plan *plan = m->plan;
    struct bm_plan_grid *g = &plan->grids[plan->grid_count];
    int rc = BOUMA_OK;

    g->grid = grid;
    g->chunking = grid->layout->chunking(grid);
    for (int i = 0; i < grid->count && !rc; i++) {
        struct bouma_variable *v = grid->variables[i];
        struct bm_decomposition *d = NULL;

        if (!m->said[2 * v->id + 1])
            continue;
        for (size_t k = 0; k < g->count && !d; k++)
            if (m->said[2 * g->variables[k]->id] == m->said[2 * v->id])
                d = g->of[k];
        if (!d) {
            d = &plan->decompositions[plan->decomposition_count];
            rc = decompose(m, d, &m->results[plan->decomposition_count++], v);
        }
        g->variables[g->count] = v;
        g->of[g->count++] = d;
        plan->raw_bytes +=
            bm_box_volume(&grid->domain) * bm_variable_sample_size(v);
        plan->moved_bytes +=
            d->report.moved_samples * bm_variable_sample_size(v);
    }
    m->first[plan->grid_count] = m->chunks;
    m->chunks += (uint64_t)g->count * (uint64_t)g->chunking.count;
    plan->grid_count += g->count > 0;
    return rc;
}

/* Memory for lists of grids and variables. */
static int begin(struct bm_making *m)
{
    const struct bm_schema *schema = &m->job->ds->schema;
    const bouma_allocator *a = m->job->ds->a;
    size_t variables = schema->variables, grids = (size_t)schema->count;
    struct bm_write_plan *plan = m->plan = bm_new(a, 1, sizeof(*plan));

    m->a = a;
    m->said = bm_new(a, 2 * variables, sizeof(*m->said));
    m->results = bm_new(a, variables, sizeof(*m->results));
    m->first = bm_new(a, grids + 1, sizeof(*m->first));
    if (!plan)
        return BOUMA_ENOMEM;
    plan->a = a;
    plan->own = bm_new(a, 1, sizeof(*plan->own));
    plan->decompositions = bm_new(a, variables, sizeof(*plan->decompositions));
    plan->grids = bm_new(a, grids, sizeof(*plan->grids));
    for (size_t i = 0; i < grids && plan->grids; i++) {
        struct bm_plan_grid *g = &plan->grids[i];

        g->variables = bm_new(a, variables, sizeof(*g->variables));
        g->of = bm_new(a, variables, sizeof(*g->of));
        if (!g->variables || !g->of)
            return BOUMA_ENOMEM;
    }
    return m->said && m->results && m->first && plan->own &&
                   plan->decompositions && plan->grids
               ? BOUMA_OK
               : BOUMA_ENOMEM;
}

static void end(struct bm_making *m)
{
    size_t variables = m->job->ds->schema.variables;

    for (size_t i = 0; i < variables && m->results; i++)
        bm_local_result_release(&m->results[i]);
    bm_drop(m->a, m->said);
    bm_drop(m->a, m->results);
    bm_drop(m->a, m->first);
    bm_drop(m->a, m->entries);
}

/* Lists of grids without variables in this step. */
static void drop_grids(struct bm_making *m)
{
    struct bm_write_plan *plan = m->plan;

    for (int i = 0; plan && plan->grids && i < m->job->ds->schema.count; i++) {
        struct bm_plan_grid *g = &plan->grids[i];

        if ((size_t)i < plan->grid_count)
            continue;
        bm_drop(m->a, g->variables);
        bm_drop(m->a, g->of);
        memset(g, 0, sizeof(*g));
    }
}

/* The most chunks of any rank; and what the plans of files need later on. */
static int end_without_files(struct bm_making *m)
{
    struct bm_own_plan *own = m->plan->own;
    uint64_t most = bm_own_list_mine(m, NULL);
    int rc = bm_comm_max(m->job->comm, &most, 1, &m->job->ds->error);

    m->plan->most_patches = (int64_t)most;
    own->waits = 1;
    own->chunks = m->chunks;
    own->first = m->first;
    m->first = NULL;
    return rc;
}

static int make(struct bm_making *m)
{
    int waits = waits_for_sizes(&m->job->ds->options);
    struct bouma_dataset *ds = m->job->ds;
    int rc = begin(m);

    if (rc)
        bm_fail(&ds->error, rc, "no memory to plan the step");
    rc = bm_comm_agree(m->job->comm, rc, &ds->error);
    if (!rc)
        rc = find_variables(m);
    for (int i = 0; i < ds->schema.count && !rc; i++)
        if (ds->schema.objects[i]->layout->chunking)
            rc = begin_grid(m, ds->schema.objects[i]);
    if (!rc && m->chunks && !waits)
        rc = bm_own_files_find(m);
    if (!rc && m->chunks) {
        rc = bm_own_chunks_list(m);
        if (rc)
            bm_fail(&ds->error, rc, "no memory to plan the step");
        rc = bm_comm_agree(m->job->comm, rc, &ds->error);
    }
    if (!rc && m->chunks && waits)
        rc = end_without_files(m);
    return rc;
}

int bm_own_plan_make(struct bm_write_plan **out, struct bm_write_job *job)
{
    struct bm_making m = {.job = job};
    int rc = make(&m);

    drop_grids(&m);
    end(&m);
    *out = rc || !m.chunks ? NULL : m.plan;
    if (!*out)
        bm_plan_free(m.plan);
    return rc;
}
