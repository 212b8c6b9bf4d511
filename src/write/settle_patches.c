/* settle_patches.c -- see settle_patches.h. */
#include "write/settle_patches.h"

#include <string.h>

#include "base/bits.h"
#include "layout/grid_patch.h"
#include "layout/writings.h"

/* What ranks reduce first: the edges that rank 0 knows, each as its exponent and
 * 1; whether it could not look; then the facts. */
enum {
    KNOWN_EDGES = 3,
    NOT_KNOWN = KNOWN_EDGES,
    FACTS,
    FIRST_VALUES = FACTS + BM_PATCH_FACTS
};

/* What rank 0 has found in the dataset. */
struct found {
    struct bm_writing *step;
    int rc;
};

/* What this rank holds of a grid. */
struct holding {
    struct bm_patch_grid task;
    struct bm_box box; /* around all of it */
    int scattered;     /* some variable does not fill the box */
};

/* ---- what this rank holds ------------------------------------------------ */

static uint64_t samples_put(const struct bm_given *given,
                            const struct bouma_variable *v)
{
    uint64_t n = 0;

    for (size_t i = 0; i < given->put_count; i++)
        if (given->puts[i].variable == v)
            n += bm_box_volume(&given->puts[i].from.box);
    return n;
}

static void find_holding(struct holding *out, const struct bm_given *given,
                         const struct bm_object *o)
{
    uint64_t volume;

    memset(out, 0, sizeof(*out));
    out->task = bm_grid_patch_task(o);
    for (size_t i = 0; i < given->put_count; i++)
        if (given->puts[i].variable->object == o)
            out->box = bm_box_join(&out->box, &given->puts[i].from.box);
    volume = bm_box_volume(&out->box);
    for (int i = 0; i < o->count; i++) {
        uint64_t n = samples_put(given, o->variables[i]);

        out->scattered |= n && n != volume;
    }
}

/* ---- what is there ------------------------------------------------------- */

/* Rank 0: the step whose grids have edges that are to stay; NULL: there is none,
 * or it cannot be read, which is told by whoever needs it. BOUMA_OK or
 * ENOMEM. */
static int load_step(const struct bm_write_job *job, struct bm_writing **out)
{
    struct bouma_dataset *ds = job->ds;
    const struct bm_step_list *steps = &ds->found.steps;
    struct bm_error ignored = {0};
    struct bm_store *store;
    struct bm_buffer b;
    uint64_t bytes;
    int rc;

    *out = NULL;
    if (!job->base.epoch && !steps->count)
        return BOUMA_OK;
    bm_buffer_init(&b, ds->a);
    rc = bm_dataset_manifest(ds,
                             job->base.epoch
                                 ? job->entry.step
                                 : steps->entries[steps->count - 1].step,
                             &b, &bytes, &store, &ignored);
    if (!rc) {
        *out = bm_writing_new(ds->a, &ignored);
        rc = *out ? bm_manifest_decode_front(&(*out)->manifest, b.data, b.size,
                                             ds->id, store->path, &ignored)
                  : BOUMA_ENOMEM;
    }
    bm_buffer_release(&b);
    if (rc) {
        bm_writing_free(*out);
        *out = NULL;
    }
    return rc == BOUMA_ENOMEM ? rc : BOUMA_OK;
}

/* The edges that a grid of the step has. */
static void tell_known(uint64_t known[KNOWN_EDGES], const struct bm_object *o,
                       const struct bm_writing *step)
{
    size_t count = step ? bm_manifest_writings(&step->manifest) : 0;
    int64_t edge[3];

    for (size_t k = 0; k < count; k++) {
        const struct bm_object *there = bm_schema_find(
            bm_manifest_writing(&step->manifest, k)->schema, o->name);

        if (there && bm_grid_patch_same(edge, o, there))
            for (int d = 0; d < 3; d++)
                known[d] = (uint64_t)bm_bits_length((uint64_t)edge[d]);
    }
}

/* ---- the choice ---------------------------------------------------------- */

/* Count what each of the edges would do, and take the best. */
static int choose(struct bm_write_job *job, const struct holding *h,
                  const uint64_t *facts, int64_t edge[3])
{
    uint64_t values[3 * BM_PATCH_CHOICES];
    struct bm_patch_tally tally[BM_PATCH_CHOICES] = {{0, 0, 0}};
    struct bm_patch_choices choices;
    int n, rc = BOUMA_OK;

    _Static_assert(3 * BM_PATCH_CHOICES <= BM_COMM_MAX_VALUES, "one call");
    bm_patch_list(&choices, &h->task, facts);
    n = choices.count;
    for (int i = 0; i < n; i++) {
        tally[i] = bm_patch_count(&h->task, choices.edge[i], &h->box);
        values[2 * i] = tally[i].patches;
        values[2 * i + 1] = tally[i].most;
        values[2 * n + i] = tally[i].stay;
    }
    if (n > 1)
        rc = bm_comm_reduce(job->comm, values, 3 * n, n, &job->ds->error);
    for (int i = 0; i < n; i++)
        tally[i] = (struct bm_patch_tally){values[2 * i], values[2 * i + 1],
                                           values[2 * n + i]};
    memcpy(edge,
           choices.edge[bm_patch_choose(&choices, &h->task, facts, tally)],
           3 * sizeof(*edge));
    return rc;
}

/* One grid; *changed if it has other edges now. Collective, and the same on all
 * ranks, unless they have lost touch. */
static int settle(struct bm_write_job *job, const struct bm_object *o,
                  const struct found *found, int *changed)
{
    uint64_t values[FIRST_VALUES] = {0}, *facts = values + FACTS;
    int64_t edge[3];
    struct holding h;
    int rc;

    _Static_assert(FIRST_VALUES <= BM_COMM_MAX_VALUES, "one call");
    find_holding(&h, &job->ds->given, o);
    bm_patch_tell(facts, &h.task, &h.box);
    facts[BM_PATCH_SCATTERED] = (uint64_t)h.scattered;
    values[NOT_KNOWN] = found->rc != BOUMA_OK;
    tell_known(values, o, found->step);
    rc = bm_comm_reduce(job->comm, values, FIRST_VALUES, BM_PATCH_FACT_SUMS,
                        &job->ds->error);
    if (rc || values[NOT_KNOWN] || !facts[BM_PATCH_HOLDERS])
        return rc;
    if (values[0]) {
        for (int d = 0; d < 3; d++)
            edge[d] = (int64_t)1 << (values[d] - 1);
    } else if (bm_grid_patch_open(o)->settled) {
        return BOUMA_OK;
    } else {
        rc = choose(job, &h, facts, edge);
    }
    if (!rc)
        *changed |= bm_grid_patch_settle(o, edge);
    return rc;
}

/* Whether there is something to settle: the edges of a new grid, or, in a step
 * that is extended, those of any. */
static int concerns(const struct bm_write_job *job, const struct bm_object *o)
{
    const struct bm_grid_patch *own = bm_grid_patch_open(o);

    return own && (!own->settled || job->base.epoch);
}

int bm_settle_patches(struct bm_write_job *job)
{
    const struct bm_schema *schema = &job->ds->schema;
    struct bm_error *error = &job->ds->error;
    struct found found = {NULL, BOUMA_OK};
    int any = 0, changed = 0, lost = BOUMA_OK;

    for (int i = 0; i < schema->count; i++)
        any |= concerns(job, schema->objects[i]);
    if (!any)
        return BOUMA_OK;
    if (job->comm->rank == 0)
        found.rc = load_step(job, &found.step);
    for (int i = 0; i < schema->count && !lost; i++)
        if (concerns(job, schema->objects[i]))
            lost = settle(job, schema->objects[i], &found, &changed);
    bm_writing_free(found.step);
    if (lost)
        return lost;
    job->given.is_new |= changed;
    if (!found.rc && changed)
        found.rc = bm_job_hash_given(job);
    if (found.rc)
        bm_fail(error, found.rc, "no memory to describe the step");
    return bm_comm_agree(job->comm, found.rc, error);
}
