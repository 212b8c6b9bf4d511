/* refine.c -- the same box at finer and finer levels, every byte read once.
 * The samples of the levels already read are kept, patch by patch, because the
 * next finer level is put together from them. */
#include <string.h>

#include "base/search.h"
#include "read/read.h"

struct refining {
    struct bouma_refinement *r;
    int level; /* to which it goes */
    uint8_t *data;
    int64_t stride[3];
    uint8_t **kept; /* [count], of the new level */
};

static size_t find_chunk(const struct bouma_refinement *r, uint64_t key)
{
    size_t at = 0;

    BM_BISECT(at, r->count, i, r->keys[i] <= key);
    return at;
}

/* Keep the samples, and put them into the array of the new level. */
static int refine_chunk(void *context, const struct bm_decoding *chunk,
                        struct bm_error *error)
{
    struct refining *w = context;
    struct bouma_refinement *r = w->r;
    const struct bm_layout *layout = r->variable->object->layout;
    struct bm_read_request request = {r->variable, w->level,  r->box,
                                      w->data,     {0, 0, 0}, 0};

    if (w->level > 0) {
        uint8_t *samples = bm_new_raw(r->step->ds->a,
                                      layout->sample_bytes(chunk, w->level), 1);

        if (!samples)
            return bm_fail(error, BOUMA_ENOMEM, "no memory to refine");
        layout->keep(chunk, samples);
        w->kept[find_chunk(r, chunk->key)] = samples;
    }
    memcpy(request.stride, w->stride, sizeof(request.stride));
    request.component_stride = (int64_t)bm_variable_value_size(r->variable);
    bm_read_give(chunk, &request);
    return BOUMA_OK;
}

static const uint8_t *coarser_samples(void *context, uint64_t key)
{
    struct refining *w = context;

    return w->r->kept[find_chunk(w->r, key)];
}

static void forget(struct bouma_refinement *r, uint8_t **kept)
{
    for (size_t i = 0; i < r->count && kept; i++)
        bm_drop(r->step->ds->a, kept[i]);
    bm_drop(r->step->ds->a, kept);
}

/* Chunks without samples at a coarse level may have some at a finer one: they
 * are in the list from the start, and their empty levels cost nothing. */
static int go_to(struct bouma_refinement *r, int level, int coarse)
{
    struct bouma_dataset *ds = r->step->ds;
    struct bm_lattice l = bm_lattice_of(&r->box, level);
    struct refining w = {r, level, NULL, {0, 0, 0}, NULL};
    struct bm_fetch fetch = {.step = r->step,
                             .variable = r->variable,
                             .fine = level,
                             .coarse = coarse,
                             .keys = r->keys,
                             .count = r->count,
                             .each = refine_chunk,
                             .coarser = coarser_samples,
                             .context = &w};
    int64_t component_stride;
    uint64_t bytes = bm_lattice_samples(&l) *
                     bm_variable_value_size(r->variable) *
                     (uint64_t)r->variable->components;
    int rc = BOUMA_OK;

    if (bytes > ds->store.memory_limit)
        return bm_fail(
            &ds->error, BOUMA_ELIMIT,
            "the array would be larger than the option 'memory_limit' allows");
    w.data = bm_new_raw(ds->a, (size_t)bytes, 1);
    w.kept = bm_new(ds->a, r->count, sizeof(*w.kept));
    if (!w.data || !w.kept)
        rc = bm_fail(&ds->error, BOUMA_ENOMEM, "no memory to refine");
    bm_memory_lift(w.stride, &component_stride, NULL, r->variable, l.count);
    if (!rc)
        rc = bm_fetch(&fetch);
    if (rc) {
        forget(r, w.kept);
        bm_drop(ds->a, w.data);
        return rc;
    }
    forget(r, r->kept);
    bm_drop(ds->a, r->data);
    r->kept = w.kept;
    r->data = w.data;
    r->level = level;
    return BOUMA_OK;
}

int bm_refinement_open(struct bouma_refinement **out, struct bouma_step *step,
                       const struct bouma_variable *variable, int level,
                       const bouma_box *lifted)
{
    const bouma_allocator *a = step->ds->a;
    struct bouma_refinement *r = bm_new(a, 1, sizeof(*r));
    int rc;

    *out = NULL;
    if (!r)
        return bm_fail(&step->ds->error, BOUMA_ENOMEM, "no memory to refine");
    r->step = step;
    r->variable = variable;
    r->box = *lifted;
    rc = bm_chunks_select(&r->keys, &r->count, variable->object, lifted, 0);
    if (rc)
        bm_fail(&step->ds->error, rc, "no memory to refine");
    else
        rc = go_to(r, level, variable->object->levels - 1);
    if (rc) {
        bm_refinement_free(r);
        return rc;
    }
    *out = r;
    return BOUMA_OK;
}

int bm_refinement_next(struct bouma_refinement *r)
{
    if (r->level == 0)
        return bm_fail(&r->step->ds->error, BOUMA_ENOTFOUND,
                       "level 0 is the finest there is");
    return go_to(r, r->level - 1, r->level - 1);
}

void bm_refinement_free(struct bouma_refinement *r)
{
    const bouma_allocator *a;

    if (!r)
        return;
    a = r->step->ds->a;
    forget(r, r->kept);
    bm_drop(r->variable->object->a, r->keys);
    bm_drop(a, r->data);
    bm_drop(a, r);
}
