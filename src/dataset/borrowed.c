/* borrowed.c -- see borrowed.h. */
#include "dataset/borrowed.h"

#include "base/spread.h"

static struct bm_spread spread_of_put(const struct bm_put *put)
{
    const struct bm_memory_box *from = &put->from;
    struct bm_spread s = {.data = from->data,
                          .size = bm_variable_value_size(put->variable)};

    for (int d = 0; d < 3; d++) {
        s.count[d] = (uint64_t)(from->box.hi[d] - from->box.lo[d]);
        s.stride[d] = from->stride[d];
    }
    s.count[3] = (uint64_t)put->variable->components;
    s.stride[3] = from->component_stride;
    return s;
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

int bm_put_keep_copy(struct bm_put *put, const bouma_allocator *a,
                     struct bm_error *error)
{
    struct bm_spread s = spread_of_put(put);
    size_t bytes = bm_spread_bytes(&s);
    int64_t stride[BM_SPREAD_AXES];

    put->copy = bm_new_raw(a, bytes, 1);
    if (!put->copy)
        return bm_fail(error, BOUMA_ENOMEM,
                       "variable \"%s/%s\": no memory for a copy of %zu bytes",
                       put->variable->object->name, put->variable->name, bytes);
    bm_spread_copy(put->copy, stride, &s);
    put->from.data = put->copy;
    for (int d = 0; d < 3; d++)
        put->from.stride[d] = stride[d];
    put->from.component_stride = stride[3];
    return BOUMA_OK;
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

    (void)lane;
    if (__builtin_add_overflow(*sum, bm_spread_bytes(s), sum))
        *sum = SIZE_MAX;
}

static void copy_lane(void *context, struct bm_particle_lane *lane,
                      const struct bm_spread *s)
{
    uint8_t **to = context;
    int64_t stride[BM_SPREAD_AXES];

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

/* ---- the check ---------------------------------------------------------- */

void bm_put_remember(struct bm_put *put)
{
    struct bm_spread s = spread_of_put(put);

    put->hash = bm_spread_hash(&s);
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
                   "variable \"%s/%s\": the array for the box %s was %s "
                   "before the step had ended; leave it as it is till then, or "
                   "hand it over with bouma_variable_put_copy()",
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
                   "particles \"%s\": the array for \"%s\" was %s before "
                   "the step had ended; leave it as it is till then, or hand "
                   "it over with bouma_particles_put_copy()",
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
        struct bm_spread s = spread_of_put(&given->puts[i]);

        if (!given->puts[i].copy && !test(&s, given->puts[i].hash))
            rc = blame_put(error, &given->puts[i], what);
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
