/* read.c -- boxes of samples, for one rank alone. */
#include "read/read.h"
#include "read/read_tiles.h"

#include <string.h>

/* The samples of a request. */
static struct bm_footprint samples_of(const struct bm_read_request *r)
{
    struct bm_footprint box = bm_footprint_of_box(&r->box);

    return bm_footprint_at_level(&box, r->level);
}

void bm_read_give(const struct bm_decoding *chunk,
                  const struct bm_read_request *r)
{
    struct bm_target target = {samples_of(r), r->to};

    r->variable->object->layout->give(chunk, &target);
}

static int give_to_box(void *context, const struct bm_decoding *chunk,
                       struct bm_error *error)
{
    (void)error;
    bm_read_give(chunk, context);
    return BOUMA_OK;
}

/* ---- arrays that are not as the variable's samples ----------------------- */

/* What is read into one, chunk by chunk. */
struct delivery {
    const struct bm_read_request *request;
    struct bouma_dataset *ds;
    struct bm_block_of_memory chunks, room;
};

/* The samples that a chunk has of the request. */
static struct bm_footprint part_of(const struct bm_read_request *r,
                                   uint64_t key)
{
    const struct bm_object *o = r->variable->object;
    struct bm_chunking c = o->layout->chunking(o);
    struct bm_footprint f;
    struct bm_box part;

    c.level = r->level;
    f = bm_chunking_footprint(&c, c.calls->find(c.own, key));
    part = bm_footprint_part(&f, &r->box);
    return bm_footprint_cut(&f, &part);
}

/* Not more than the limit: what is larger is refused before it is used. */
static size_t room_for(const void *context, uint64_t key)
{
    const struct delivery *d = context;
    struct bm_footprint part = part_of(d->request, key);
    uint64_t bytes = bm_footprint_samples(&part) *
                     bm_variable_sample_size(d->request->variable);

    return bytes <= d->ds->store.memory_limit ? (size_t)bytes : 0;
}

static void fill(void *context, const struct bm_decoding *chunk, uint8_t *room)
{
    const struct delivery *d = context;
    const struct bouma_variable *v = d->request->variable;
    struct bm_target target = {.samples = part_of(d->request, chunk->key)};

    target.array = bm_array_planar(v, room, target.samples.count);
    if (bm_footprint_samples(&target.samples))
        v->object->layout->give(chunk, &target);
}

/* On the thread that reads, so that it may call the caller's function. */
static int deliver(void *context, uint64_t key, const uint8_t *room,
                   struct bm_error *error)
{
    struct delivery *d = context;
    const struct bm_read_request *r = d->request;
    struct bm_footprint all = samples_of(r), part = part_of(r, key);
    uint64_t samples = bm_footprint_samples(&part);
    struct bm_cutout w = {.variable = r->variable, .samples = part};
    struct bm_array from;
    uint8_t *data;

    if (!samples)
        return BOUMA_OK;
    if (bm_block_grow(d->ds->a, &d->room,
                      bm_cutout_room(&r->to, r->variable, samples)))
        return bm_fail(error, BOUMA_ENOMEM, "no memory to read");
    memcpy(&data, &room, sizeof(data)); /* is only read */
    from = bm_array_planar(r->variable, data, part.count);
    w.array = bm_array_part(&r->to, &all, &part);
    return bm_cutout_store(&w, &from, d->room.data, error);
}

int bm_read_deliver(struct bouma_step *step, const struct bm_read_request *r,
                    const struct bm_read_request *stored)
{
    struct bm_footprint all = samples_of(r), there = samples_of(stored);
    struct bm_footprint part = {.count = {0, 0, 0}};
    size_t most = r->to.remote.most ? r->to.remote.most : BM_REMOTE_BYTES;
    size_t sample =
        bouma_type_size(r->to.type) * (size_t)r->variable->components;
    uint64_t samples = r->to.remote.copy ? most / sample : UINT64_MAX;
    struct bm_block_of_memory room = {0};
    int rc = BOUMA_OK;

    while (!rc && bm_footprint_next(&part, &all, samples)) {
        struct bm_array from = bm_array_part(&stored->to, &there, &part);
        struct bm_cutout w = {r->variable, bm_array_part(&r->to, &all, &part),
                              part};
        size_t bytes = r->to.remote.copy
                           ? (size_t)bm_footprint_samples(&part) * sample
                           : 0;

        rc = bm_block_grow(step->ds->a, &room, bytes)
                 ? bm_fail(&step->ds->error, BOUMA_ENOMEM, "no memory to read")
                 : bm_cutout_store(&w, &from, room.data, &step->ds->error);
    }
    bm_drop(step->ds->a, room.data);
    return rc;
}

/* ---- one box ------------------------------------------------------------- */

/* Samples, or coefficients, as they are stored. */
static int read_stored(struct bouma_step *step,
                       const struct bm_read_request *request)
{
    const struct bm_object *grid = request->variable->object;
    struct delivery delivery = {.request = request, .ds = step->ds};
    struct bm_fetch_ordered ordered = {.room = room_for,
                                       .fill = fill,
                                       .deliver = deliver,
                                       .memory = &delivery.chunks};
    int plain = bm_array_is_plain(&request->to, request->variable);
    struct bm_fetch fetch = {.step = step,
                             .variable = request->variable,
                             .fine = request->level,
                             .coarse = grid->levels - 1,
                             .each = give_to_box,
                             .context = plain ? (void *)request : &delivery,
                             .clip = &request->box,
                             .ordered = plain ? NULL : &ordered};
    uint64_t *keys;
    int rc = bm_chunks_select(&keys, &fetch.count, grid, &request->box,
                              request->level);

    if (rc)
        return bm_fail(&step->ds->error, rc, "no memory to read");
    fetch.keys = keys;
    rc = bm_fetch(&fetch);
    bm_drop(step->ds->a, delivery.chunks.data);
    bm_drop(step->ds->a, delivery.room.data);
    bm_drop(grid->a, keys);
    return rc;
}

int bm_read_box(struct bouma_step *step, const struct bm_read_request *request)
{
    const struct bm_object *grid = request->variable->object;
    struct bm_read_request inner;
    int rc;

    if (!bm_object_is_tiled(grid) &&
        !(request->to.remote.copy && grid->layout->scattered))
        return read_stored(step, request);
    rc = bm_tiles_request(&inner, step, request);
    if (!rc)
        rc = read_stored(step, &inner);
    if (!rc)
        rc = bm_tiles_give(request, &inner, step);
    bm_tiles_drop(&inner, step, request);
    return rc;
}
