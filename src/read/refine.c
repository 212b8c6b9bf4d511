/* refine.c -- the same box at finer and finer levels, every byte read once.
 * The samples of the levels already read are kept, chunk by chunk, because the
 * next finer level is put together from them. A chunk is read from the first
 * level on at which it has samples in the box. */
#include <math.h>
#include <string.h>

#include "base/search.h"
#include "read/read_tiles.h"
#include "read/refine_error.h"

struct refining {
    struct bouma_refinement *r;
    int level;                     /* to which it goes */
    struct bm_read_request stored; /* of whole tiles, if there are any */
    struct bm_refined chunks;      /* of the new level */
};

static size_t find_chunk(const struct bm_refined *chunks, uint64_t key)
{
    size_t at = 0;

    BM_BISECT(at, chunks->count, i, chunks->keys[i] <= key);
    return at;
}

/* Keep the samples, and put them into the array of the new level. */
static int refine_chunk(void *context, const struct bm_decoding *chunk,
                        struct bm_error *error)
{
    struct refining *w = context;
    struct bouma_refinement *r = w->r;
    const struct bm_layout *layout = r->variable->object->layout;

    if (w->level > 0) {
        uint8_t *samples = bm_new_raw(r->step->ds->a,
                                      layout->sample_bytes(chunk, w->level), 1);

        if (!samples)
            return bm_fail(error, BOUMA_ENOMEM, "no memory to refine");
        layout->keep(chunk, samples);
        w->chunks.kept[find_chunk(&w->chunks, chunk->key)] = samples;
    }
    bm_read_give(chunk, &w->stored);
    return BOUMA_OK;
}

static const uint8_t *coarser_samples(void *context, uint64_t key)
{
    const struct bm_refined *chunks = &((struct refining *)context)->r->chunks;

    return chunks->kept[find_chunk(chunks, key)];
}

static void forget(const struct bouma_refinement *r, struct bm_refined *chunks)
{
    for (size_t i = 0; i < chunks->count && chunks->kept; i++)
        bm_drop(r->step->ds->a, chunks->kept[i]);
    bm_drop(r->step->ds->a, chunks->kept);
    bm_drop(r->variable->object->a, chunks->keys);
    *chunks = (struct bm_refined){NULL, 0, NULL};
}

/* The keys of the new level: those that the level before has, too, and then
 * the others. How many there are of the first kind. */
static size_t split_keys(uint64_t *out, const struct bm_refined *old,
                         const struct bm_refined *chunks)
{
    size_t shared = 0, other = 0, at = 0;

    for (int others = 0; others < 2; others++) {
        at = 0;
        for (size_t i = 0; i < chunks->count; i++) {
            uint64_t key = chunks->keys[i];
            int is_old;

            while (at < old->count && old->keys[at] < key)
                at++;
            is_old = at < old->count && old->keys[at] == key;
            if (is_old && !others)
                out[shared++] = key;
            else if (!is_old && others)
                out[shared + other++] = key;
        }
    }
    return shared;
}

/* Chunks that the level before has, too, need one more level; others all from
 * the coarsest on. */
static int fetch_chunks(struct bm_fetch *fetch, const struct bm_refined *old,
                        const struct bm_refined *chunks)
{
    const bouma_allocator *a = fetch->step->ds->a;
    uint64_t *keys = bm_new_raw(a, chunks->count, sizeof(*keys));
    int rc;

    if (!keys)
        return bm_fail(&fetch->step->ds->error, BOUMA_ENOMEM,
                       "no memory to refine");
    fetch->keys = keys;
    fetch->total = chunks->count;
    fetch->count = split_keys(keys, old, chunks);
    rc = fetch->count ? bm_fetch(fetch) : BOUMA_OK;
    fetch->before = fetch->count;
    fetch->keys += fetch->count;
    fetch->count = chunks->count - fetch->count;
    fetch->coarse = fetch->variable->object->levels - 1;
    if (!rc && fetch->count)
        rc = bm_fetch(fetch);
    bm_drop(a, keys);
    return rc;
}

int bm_refinement_look(struct bm_look *look, const struct bouma_refinement *r,
                       int level, int from_nothing)
{
    const struct bm_object *o = r->variable->object;
    struct bm_box box = bm_tiles_around(o, &r->box);
    struct bm_refined before = {NULL, 0, NULL}, chunks = {NULL, 0, NULL};
    struct bm_fetch fetch = {.step = r->step,
                             .variable = r->variable,
                             .fine = level,
                             .coarse = level,
                             .look = look};
    int rc = bm_chunks_select(&chunks.keys, &chunks.count, o, &box, level);

    if (!rc && !from_nothing)
        rc = bm_chunks_select(&before.keys, &before.count, o, &box, level + 1);
    rc = rc ? bm_fail(&r->step->ds->error, rc, "no memory to refine")
            : fetch_chunks(&fetch, &before, &chunks);
    bm_drop(o->a, chunks.keys);
    bm_drop(o->a, before.keys);
    return rc;
}

/* What a new level adds to the one that is there, the next coarser one. */
static double measure(const struct bouma_refinement *r, const uint8_t *data,
                      int level)
{
    struct bm_refined_level fine = {bm_lattice_of(&r->box, level), data};
    struct bm_refined_level coarse = {bm_lattice_of(&r->box, r->level),
                                      r->data};

    return bm_refine_error(&fine, &coarse, r->variable->type,
                           r->variable->components);
}

int bm_refinement_go(struct bouma_refinement *r, int level)
{
    struct bouma_dataset *ds = r->step->ds;
    struct bm_lattice l = bm_lattice_of(&r->box, level);
    struct refining w = {.r = r, .level = level};
    struct bm_fetch fetch = {.step = r->step,
                             .variable = r->variable,
                             .fine = level,
                             .coarse = level,
                             .each = refine_chunk,
                             .coarser = coarser_samples,
                             .context = &w,
                             .exact = 1};
    struct bm_read_request shown = {
        .variable = r->variable, .level = level, .box = r->box};
    uint64_t bytes = bm_lattice_samples(&l) *
                     bm_variable_value_size(r->variable) *
                     (uint64_t)r->variable->components;
    int rc;

    if (bytes > ds->store.memory_limit)
        return bm_fail(
            &ds->error, BOUMA_ELIMIT,
            "the array would be larger than the option 'memory_limit' allows");
    shown.to = bm_array_dense(r->variable, bm_new_raw(ds->a, (size_t)bytes, 1),
                              l.count);
    rc = bm_tiles_request(&w.stored, r->step, &shown);
    if (!rc && (!shown.to.data ||
                bm_chunks_select(&w.chunks.keys, &w.chunks.count,
                                 r->variable->object, &w.stored.box, level)))
        rc = BOUMA_ENOMEM;
    if (!rc)
        w.chunks.kept = bm_new(ds->a, w.chunks.count, sizeof(*w.chunks.kept));
    if (!rc && !w.chunks.kept)
        rc = BOUMA_ENOMEM;
    if (rc == BOUMA_ENOMEM)
        bm_fail(&ds->error, rc, "no memory to refine");
    if (!rc)
        rc = fetch_chunks(&fetch, &r->chunks, &w.chunks);
    if (!rc && bm_tiles_are_apart(&shown))
        rc = bm_tiles_give(&shown, &w.stored, r->step);
    bm_tiles_drop(&w.stored, r->step, &shown);
    if (rc) {
        forget(r, &w.chunks);
        bm_drop(ds->a, shown.to.data);
        return rc;
    }
    r->error = r->measured && r->data ? measure(r, shown.to.data, level)
                                      : (double)INFINITY;
    forget(r, &r->chunks);
    bm_drop(ds->a, r->data);
    r->chunks = w.chunks;
    r->data = shown.to.data;
    r->level = level;
    return BOUMA_OK;
}

struct bouma_refinement *
bm_refinement_new(struct bouma_step *step,
                  const struct bouma_variable *variable,
                  const struct bm_box *lifted)
{
    struct bouma_refinement *r = bm_new(step->ds->a, 1, sizeof(*r));

    if (!r) {
        bm_fail(&step->ds->error, BOUMA_ENOMEM, "no memory to refine");
        return NULL;
    }
    bm_step_hold(step);
    r->step = step;
    r->variable = variable;
    r->box = *lifted;
    r->level = variable->object->levels;
    r->error = INFINITY;
    return r;
}

int bm_refinement_open(struct bouma_refinement **out, struct bouma_step *step,
                       const struct bouma_variable *variable, int level,
                       const struct bm_box *lifted)
{
    struct bouma_refinement *r = bm_refinement_new(step, variable, lifted);
    int rc = r ? bm_refinement_go(r, level) : BOUMA_ENOMEM;

    *out = rc ? NULL : r;
    if (rc)
        bm_refinement_free(r);
    return rc;
}

int bm_refinement_next(struct bouma_refinement *r)
{
    if (r->level == 0)
        return bm_fail(&r->step->ds->error, BOUMA_ENOTFOUND,
                       "level 0 is the finest there is");
    return bm_refinement_go(r, r->level - 1);
}

void bm_refinement_free(struct bouma_refinement *r)
{
    const bouma_allocator *a;

    if (!r)
        return;
    a = r->step->ds->a;
    forget(r, &r->chunks);
    bm_drop(a, r->data);
    bm_step_drop(r->step);
    bm_drop(a, r);
}
