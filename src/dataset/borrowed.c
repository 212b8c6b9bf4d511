/* borrowed.c -- see borrowed.h. */
#include "dataset/borrowed.h"

#include <string.h>

#include "base/mix.h"
#include "base/spread.h"

/* The values of a put: of all components, or of one, if they lie apart. */
static struct bm_spread spread_of_put(const struct bm_put *put, int component)
{
    const struct bm_array *a = &put->from.array;
    struct bm_spread s = {.data = bm_array_component(a, component),
                          .size = bouma_type_size(a->type)};

    for (int d = 0; d < 3; d++) {
        s.count[d] = (uint64_t)(put->from.box.hi[d] - put->from.box.lo[d]);
        s.stride[d] = a->stride[d];
    }
    s.count[3] = a->apart ? 1 : (uint64_t)put->variable->components;
    s.stride[3] = a->apart ? 0 : a->component_stride;
    return s;
}

static int spreads_of_put(const struct bm_put *put)
{
    return put->from.array.apart ? put->variable->components : 1;
}

static struct bm_spread spread_of_lane(const struct bm_particle_block *block,
                                       const struct bm_particle_lane *lane,
                                       size_t size)
{
    return (struct bm_spread){.data = lane->data,
                              .size = size,
                              .count = {1, 1, 1, block->count},
                              .stride = {0, 0, 0, lane->stride}};
}

/* ---- copies ------------------------------------------------------------- */

void bm_put_release(struct bm_put *put, const bouma_allocator *a)
{
    bm_drop(a, put->copy);
    bm_drop(a, put->apart);
    put->copy = NULL;
    put->apart = NULL;
}

/* Copy samples that are not as the variable's, some at a time if they must be
 * fetched. */
static int convert_copy(const struct bm_array *to, const struct bm_put *put,
                        const bouma_allocator *a, struct bm_error *error)
{
    const struct bouma_variable *v = put->variable;
    const struct bm_array *from = &put->from.array;
    struct bm_footprint all = bm_footprint_of_box(&put->from.box);
    struct bm_footprint part = {.count = {0, 0, 0}};
    size_t most = from->remote.most ? from->remote.most : BM_REMOTE_BYTES;
    size_t sample = bouma_type_size(from->type) * (size_t)v->components;
    uint64_t samples = most < sample ? 1 : most / sample;
    uint64_t there = bm_footprint_samples(&all);
    uint8_t *room = bm_new_raw(
        a, bm_cutout_room(from, v, samples < there ? samples : there), 1);
    int rc = room ? BOUMA_OK
                  : bm_fail(error, BOUMA_ENOMEM, "no memory to copy a block");

    while (!rc && bm_footprint_next(&part, &all, samples)) {
        struct bm_cutout w = {v, bm_array_part(from, &all, &part), part};
        struct bm_cutout here = {v, bm_array_part(to, &all, &part), part};
        struct bm_array fetched;

        rc = bm_cutout_fetch(&fetched, &w, room, error);
        if (!rc)
            rc = bm_cutout_store(&here, &fetched, NULL, error);
    }
    bm_drop(a, room);
    return rc;
}

static void copy_plain(struct bm_array *to, const struct bm_put *put)
{
    uint8_t *data = to->data;
    int64_t stride[BM_SPREAD_AXES];
    int spreads = spreads_of_put(put);

    for (int c = 0; c < spreads; c++) {
        struct bm_spread s = spread_of_put(put, c);

        bm_spread_copy(data, stride, &s);
        data += bm_spread_bytes(&s);
        to->component_stride =
            spreads > 1 ? (int64_t)bm_spread_bytes(&s) : stride[3];
    }
    memcpy(to->stride, stride, sizeof(to->stride));
}

int bm_put_keep_copy(struct bm_put *put, const bouma_allocator *a,
                     struct bm_error *error)
{
    const struct bouma_variable *v = put->variable;
    struct bm_footprint all = bm_footprint_of_box(&put->from.box);
    size_t sample = bm_variable_sample_size(v), bytes;
    struct bm_array to;
    int rc = BOUMA_OK;

    if (__builtin_mul_overflow(bm_footprint_samples(&all), sample, &bytes))
        bytes = SIZE_MAX;
    put->copy = bm_new_raw(a, bytes, 1);
    if (!put->copy)
        return bm_fail(error, BOUMA_ENOMEM,
                       "variable \"%s/%s\": no memory for a copy of %zu bytes",
                       v->object->name, v->name, bytes);
    to = bm_array_planar(v, put->copy, all.count);
    if (bm_array_is_plain(&put->from.array, v))
        copy_plain(&to, put);
    else
        rc = convert_copy(&to, put, a, error);
    put->from.array = to;
    return rc;
}

static int is_fetched_at_once(const struct bm_put *put)
{
    const struct bouma_variable *v = put->variable;
    const struct bm_object *o = v->object;

    return put->from.array.remote.copy &&
           ((o->layout->scattered && !bm_object_is_tiled(o)) ||
            (v->tolerance > 0 &&
             v->tolerance_kind == BOUMA_TOLERANCE_RELATIVE));
}

int bm_borrowed_fetch(struct bouma_dataset *ds)
{
    int rc = BOUMA_OK;

    for (size_t i = 0; i < ds->given.put_count && !rc; i++)
        if (is_fetched_at_once(&ds->given.puts[i]))
            rc = bm_put_keep_copy(&ds->given.puts[i], ds->a, &ds->error);
    return rc;
}

/* Call 'each' for all lanes that were handed over. */
static void each_lane(struct bm_particle_block *block, void *context,
                      void (*each)(void *context, struct bm_particle_lane *lane,
                                   const struct bm_spread *s))
{
    size_t at = 0;

    for (int i = 0; i < block->set->count; i++) {
        const struct bouma_variable *v = block->set->variables[i];

        for (int c = 0; c < v->components && at < block->lane_count;
             c++, at++) {
            struct bm_particle_lane *lane = &block->lanes[at];
            struct bm_spread s =
                spread_of_lane(block, lane, bm_variable_value_size(v));

            if (lane->data)
                each(context, lane, &s);
        }
    }
}

static void add_bytes(void *context, struct bm_particle_lane *lane,
                      const struct bm_spread *s)
{
    size_t *sum = context;

    if (!lane->kept && __builtin_add_overflow(*sum, bm_spread_bytes(s), sum))
        *sum = SIZE_MAX;
}

static void copy_lane(void *context, struct bm_particle_lane *lane,
                      const struct bm_spread *s)
{
    uint8_t **to = context;
    int64_t stride[BM_SPREAD_AXES];

    if (lane->kept)
        return;
    bm_spread_copy(*to, stride, s);
    lane->data = *to;
    lane->stride = (int64_t)s->size;
    *to += bm_spread_bytes(s);
}

int bm_particle_block_keep_copy(struct bm_particle_block *block,
                                const bouma_allocator *a,
                                struct bm_error *error)
{
    size_t bytes = 0;
    uint8_t *to;

    each_lane(block, &bytes, add_bytes);
    block->copy = to = bm_new_raw(a, bytes, 1);
    if (!to)
        return bm_fail(error, BOUMA_ENOMEM,
                       "particles \"%s\": no memory for a copy of %zu bytes",
                       block->set->name, bytes);
    each_lane(block, &to, copy_lane);
    return BOUMA_OK;
}

void bm_particle_block_release(struct bm_particle_block *block,
                               const bouma_allocator *a)
{
    for (size_t i = 0; i < block->lane_count && block->lanes; i++)
        bm_drop(a, block->lanes[i].own);
    bm_drop(a, block->lanes);
    bm_drop(a, block->copy);
}

/* ---- the check ---------------------------------------------------------- */

/* Nobody looks at what the processor cannot reach. */
static int is_checked(const struct bm_put *put)
{
    return !put->copy && !put->from.array.remote.copy;
}

static uint64_t hash_put(const struct bm_put *put)
{
    uint64_t hash = 0;

    for (int c = 0; c < spreads_of_put(put); c++) {
        struct bm_spread s = spread_of_put(put, c);

        hash = c ? bm_mix_next(hash) ^ bm_spread_hash(&s) : bm_spread_hash(&s);
    }
    return hash;
}

static int put_is_mapped(const struct bm_put *put)
{
    int mapped = 1;

    for (int c = 0; c < spreads_of_put(put) && mapped; c++) {
        struct bm_spread s = spread_of_put(put, c);

        mapped = bm_spread_is_mapped(&s);
    }
    return mapped;
}

void bm_put_remember(struct bm_put *put)
{
    if (is_checked(put))
        put->hash = hash_put(put);
}

static void hash_lane(void *context, struct bm_particle_lane *lane,
                      const struct bm_spread *s)
{
    (void)context;
    lane->hash = bm_spread_hash(s);
}

void bm_particle_block_remember(struct bm_particle_block *block)
{
    each_lane(block, NULL, hash_lane);
}

static int blame_put(struct bm_error *error, const struct bm_put *put,
                     const char *what)
{
    const struct bouma_variable *v = put->variable;
    char box[160];

    bm_box_text(box, sizeof(box), &put->from.box, v->object->ndims);
    return bm_fail(error, BOUMA_ESTATE,
                   "variable \"%s/%s\": the array for the box %s was %s before "
                   "the step had ended; keep it unchanged until then, or use "
                   "bouma_variable_put_copy()",
                   v->object->name, v->name, box, what);
}

static int blame_lane(struct bm_error *error,
                      const struct bm_particle_block *block,
                      const struct bm_particle_lane *lane, const char *what)
{
    const char *name = "";

    for (int i = 0; i < block->set->count; i++)
        if (bm_variable_lane(block->set->variables[i]) <=
            (size_t)(lane - block->lanes))
            name = block->set->variables[i]->name;
    return bm_fail(error, BOUMA_ESTATE,
                   "particles \"%s\": the array for \"%s\" was %s before the "
                   "step had ended; keep it unchanged until then, or use "
                   "bouma_particles_put_copy()",
                   block->set->name, name, what);
}

static int same_values(const struct bm_spread *s, uint64_t hash)
{
    return bm_spread_hash(s) == hash;
}

static int still_mapped(const struct bm_spread *s, uint64_t hash)
{
    (void)hash;
    return bm_spread_is_mapped(s);
}

/* A test of all lanes, and the first that fails it. */
struct trial {
    int (*test)(const struct bm_spread *s, uint64_t hash);
    struct bm_particle_lane *failed;
};

static void try_lane(void *context, struct bm_particle_lane *lane,
                     const struct bm_spread *s)
{
    struct trial *t = context;

    if (!t->failed && !t->test(s, lane->hash))
        t->failed = lane;
}

/* Try all arrays that are borrowed; the first that fails is 'what'. */
static int try_all(const struct bm_given *given, const char *what,
                   int (*test)(const struct bm_spread *s, uint64_t hash),
                   struct bm_error *error)
{
    int rc = BOUMA_OK;

    for (size_t i = 0; i < given->put_count && !rc; i++) {
        const struct bm_put *put = &given->puts[i];

        if (is_checked(put) &&
            !(test == still_mapped ? put_is_mapped(put)
                                   : hash_put(put) == put->hash))
            rc = blame_put(error, put, what);
    }
    for (size_t i = 0; i < given->block_count && !rc; i++) {
        struct trial t = {test, NULL};

        if (!given->blocks[i].copy)
            each_lane(&given->blocks[i], &t, try_lane);
        if (t.failed)
            rc = blame_lane(error, &given->blocks[i], t.failed, what);
    }
    return rc;
}

int bm_borrowed_is_there(struct bouma_dataset *ds)
{
    return ds->options.check == 1
               ? try_all(&ds->given, "freed", still_mapped, &ds->error)
               : BOUMA_OK;
}

int bm_borrowed_check(struct bouma_dataset *ds)
{
    return ds->options.check == 1
               ? try_all(&ds->given, "changed", same_values, &ds->error)
               : BOUMA_OK;
}
