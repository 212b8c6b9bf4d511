/* refine.c -- the same box at finer and finer levels, every byte read once.
 * The samples of the levels already read are kept, patch by patch, because the
 * next finer level is put together from them. */
#include <string.h>

#include "layout/patch.h"
#include "read/read.h"

struct refining {
    struct bouma_refinement *r;
    int level; /* to which it goes */
    uint8_t *data;
    int64_t stride[3];
    uint8_t *scratch;
    size_t scratch_bytes;
};

static uint8_t **kept_of(struct bouma_refinement *r, size_t i)
{
    return r->kept + i * (size_t)r->variable->grid->levels;
}

static size_t find_patch(const struct bouma_refinement *r, int64_t patch)
{
    const struct bm_tiling *t = &r->variable->grid->tiling;
    uint64_t key = bm_tiling_key(t, patch);
    size_t lo = 0, hi = r->count;

    while (hi - lo > 1) { /* patches are in Morton order */
        size_t mid = lo + (hi - lo) / 2;

        if (bm_tiling_key(t, r->patches[mid]) <= key)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}

/* Keep what is new, and put the patch into the array of the new level. */
static int refine_patch(void *context, const struct bm_fetched *f)
{
    struct refining *w = context;
    struct bouma_refinement *r = w->r;
    const bouma_allocator *a = r->step->ds->a;
    uint8_t **kept = kept_of(r, find_patch(r, f->patch));
    struct bm_lattice l = bm_lattice_of(&r->box, w->level);
    const uint8_t *level[BM_MAX_LEVELS];
    size_t scratch = bm_patch_scratch_bytes(f->geometry);

    for (int k = w->level; k < f->geometry->levels; k++) {
        level[k] = f->level[k] ? f->level[k] : kept[k];
        if (f->level[k] && k > 0) {
            size_t bytes = bm_patch_level_bytes(f->geometry, k);

            kept[k] = bm_new_raw(a, bytes, 1);
            if (!kept[k])
                return bm_fail(&r->step->ds->error, BOUMA_ENOMEM,
                               "no memory to refine");
            memcpy(kept[k], f->level[k], bytes);
        }
    }
    if (scratch > w->scratch_bytes || !w->scratch) {
        bm_drop(a, w->scratch);
        w->scratch = bm_new_raw(a, scratch, 1);
        w->scratch_bytes = w->scratch ? scratch : 0;
        if (!w->scratch)
            return bm_fail(&r->step->ds->error, BOUMA_ENOMEM,
                           "no memory to refine");
    }
    bm_patch_give(f->geometry, w->level, &r->box, l.start, w->data, w->stride,
                  (int64_t)bm_variable_value_size(r->variable), level,
                  w->scratch);
    return BOUMA_OK;
}

static void forget(struct bouma_refinement *r, int fine, int coarse)
{
    for (size_t i = 0; i < r->count; i++)
        for (int k = fine; k <= coarse; k++) {
            bm_drop(r->step->ds->a, kept_of(r, i)[k]);
            kept_of(r, i)[k] = NULL;
        }
}

/* Patches without samples at a coarse level may have some at a finer one: they
 * are in the list from the start, and their empty levels cost nothing. */
static int go_to(struct bouma_refinement *r, int level, int coarse)
{
    struct bouma_dataset *ds = r->step->ds;
    struct bm_lattice l = bm_lattice_of(&r->box, level);
    struct refining w = {r, level, NULL, {0, 0, 0}, NULL, 0};
    int64_t component_stride;
    uint64_t bytes = bm_lattice_samples(&l) *
                     bm_variable_value_size(r->variable) *
                     (uint64_t)r->variable->components;
    int rc = BOUMA_OK;

    if (bytes > ds->store.memory_limit)
        return bm_fail(&ds->error, BOUMA_ELIMIT,
                       "the array would be beyond the memory limit");
    w.data = bm_new_raw(ds->a, (size_t)bytes, 1);
    if (!w.data)
        rc = bm_fail(&ds->error, BOUMA_ENOMEM, "no memory to refine");
    bm_memory_lift(w.stride, &component_stride, NULL, r->variable, l.count);
    if (!rc)
        rc = bm_fetch(r->step, r->variable, level, coarse, r->patches, r->count,
                      refine_patch, &w);
    bm_drop(ds->a, w.scratch);
    if (rc) {
        forget(r, level, coarse);
        bm_drop(ds->a, w.data);
        return rc;
    }
    bm_drop(ds->a, r->data);
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
    rc = bm_select(&r->patches, &r->count, a, &variable->grid->tiling, lifted,
                   0);
    if (!rc) {
        r->kept = bm_new(a, r->count * (size_t)variable->grid->levels,
                         sizeof(*r->kept));
        rc = r->kept ? BOUMA_OK : BOUMA_ENOMEM;
    }
    if (rc)
        bm_fail(&step->ds->error, rc, "no memory to refine");
    else
        rc = go_to(r, level, variable->grid->levels - 1);
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
    if (r->kept)
        forget(r, 0, r->variable->grid->levels - 1);
    bm_drop(a, r->kept);
    bm_drop(a, r->patches);
    bm_drop(a, r->data);
    bm_drop(a, r);
}
