/* collector.c -- see collector.h. */
#include "read/collector.h"

#include <stdlib.h>
#include <string.h>

#include "base/keyed.h"

int bm_collector_init(struct bm_collector *c, const bouma_allocator *a,
                      const struct bm_criteria *asked)
{
    memset(c, 0, sizeof(*c));
    c->a = a;
    c->asked = asked;
    bm_buffer_init(&c->keys, a);
    c->columns = bm_new(a, asked->variable_count, sizeof(*c->columns));
    return c->columns ? BOUMA_OK : BOUMA_ENOMEM;
}

void bm_collector_release(struct bm_collector *c)
{
    if (!c->a)
        return;
    for (size_t i = 0; i < c->asked->variable_count && c->columns; i++)
        bm_drop(c->a, c->columns[i]);
    bm_buffer_release(&c->keys);
    bm_drop(c->a, c->columns);
    memset(c, 0, sizeof(*c));
}

void bm_collector_clear(struct bm_collector *c)
{
    bm_buffer_clear(&c->keys);
    c->count = 0;
}

int bm_lanes(const struct bm_criteria *asked, const bouma_variable *v)
{
    return asked->order == BOUMA_COMPONENT_ORDER_INTERLEAVED ? 1
                                                             : v->components;
}

size_t bm_lane_size(const struct bm_criteria *asked, const bouma_variable *v)
{
    return asked->order == BOUMA_COMPONENT_ORDER_INTERLEAVED
               ? bm_variable_sample_size(v)
               : bm_variable_value_size(v);
}

/* Those of the i-th variable. */
static int lanes_of(const struct bm_collector *c, size_t i)
{
    return bm_lanes(c->asked, c->asked->variables[i]);
}

static size_t size_of(const struct bm_collector *c, size_t i)
{
    return bm_lane_size(c->asked, c->asked->variables[i]);
}

uint8_t *bm_collector_lane(const struct bm_collector *c, size_t v, int lane)
{
    return c->columns[v] + (size_t)lane * (size_t)c->room * size_of(c, v);
}

/* Lanes of so many bytes, from one every 'from' bytes to one every 'to';
 * none is where another still has to go from. */
static void move_lanes(uint8_t *column, int lanes, size_t bytes, size_t from,
                       size_t to)
{
    for (int i = 1; i < lanes && bytes; i++) {
        size_t k = (size_t)(to > from ? lanes - i : i);

        memmove(column + k * to, column + k * from, bytes);
    }
}

int bm_collector_reserve(struct bm_collector *c, uint64_t count)
{
    if (count <= c->room)
        return BOUMA_OK;
    /* All or none: columns that have grown are as good as before. */
    for (size_t i = 0; i < c->asked->variable_count; i++) {
        size_t size = bm_variable_sample_size(c->asked->variables[i]);
        uint8_t *grown =
            count > SIZE_MAX / size
                ? NULL
                : bm_resize(c->a, c->columns[i], (size_t)count, size);

        if (!grown)
            return BOUMA_ENOMEM;
        c->columns[i] = grown;
    }
    for (size_t i = 0; i < c->asked->variable_count; i++) {
        size_t size = size_of(c, i);

        move_lanes(c->columns[i], lanes_of(c, i), (size_t)c->count * size,
                   (size_t)c->room * size, (size_t)count * size);
    }
    c->room = count;
    return BOUMA_OK;
}

int bm_collector_extend(struct bm_collector *c, uint64_t count)
{
    uint64_t need = c->count + count;

    if (need > c->room &&
        bm_collector_reserve(c, need > 2 * c->room ? need : 2 * c->room))
        return BOUMA_ENOMEM;
    c->count = need;
    return BOUMA_OK;
}

int bm_collector_add(void *context, const bouma_batch *batch)
{
    struct bm_collector *c = context;
    uint64_t had = c->count;

    if (c->draw)
        bm_put_bytes(&c->keys, c->draw->keys,
                     (size_t)batch->count * sizeof(uint64_t));
    if (c->keys.failed || bm_collector_extend(c, batch->count))
        return 1;
    for (size_t i = 0; i < c->asked->variable_count; i++) {
        size_t size = size_of(c, i);
        size_t bytes = (size_t)batch->count * size;

        for (int k = 0; k < lanes_of(c, i); k++)
            memcpy(bm_collector_lane(c, i, k) + (size_t)had * size,
                   (const uint8_t *)batch->columns[i] + (size_t)k * bytes,
                   bytes);
    }
    return 0;
}

/* ---- by chance ---------------------------------------------------------- */

/* values[i] = values[order[i].at], for the first 'count'; 'room' has room for
 * them. */
static void reorder(uint8_t *values, uint8_t *room,
                    const struct bm_keyed *order, size_t count, size_t size)
{
    for (size_t i = 0; i < count; i++)
        memcpy(room + i * size, values + order[i].at * size, size);
    memcpy(values, room, count * size);
}

int bm_collector_thin(struct bm_collector *c, uint64_t count)
{
    size_t total = (size_t)c->count;
    size_t n = count < total ? (size_t)count : total, widest = 1;
    struct bm_keyed *order;
    uint8_t *room;

    if (!total)
        return BOUMA_OK;
    for (size_t v = 0; v < c->asked->variable_count; v++)
        widest = size_of(c, v) > widest ? size_of(c, v) : widest;
    order = bm_new_raw(c->a, total, sizeof(*order));
    room = bm_new_raw(c->a, n + 1, widest);
    if (!order || !room) {
        bm_drop(c->a, order);
        bm_drop(c->a, room);
        return BOUMA_ENOMEM;
    }
    for (size_t i = 0; i < total; i++) {
        memcpy(&order[i].key, c->keys.data + i * sizeof(uint64_t),
               sizeof(uint64_t));
        order[i].at = i;
    }
    qsort(order, total, sizeof(*order), bm_keyed_compare);
    for (size_t v = 0; v < c->asked->variable_count; v++) {
        size_t size = size_of(c, v);

        for (int k = 0; k < lanes_of(c, v); k++)
            reorder(bm_collector_lane(c, v, k), room, order, n, size);
    }
    for (size_t i = 0; i < n; i++)
        memcpy(c->keys.data + i * sizeof(uint64_t), &order[i].key,
               sizeof(uint64_t));
    c->count = n;
    bm_drop(c->a, order);
    bm_drop(c->a, room);
    return BOUMA_OK;
}

/* ---- as the caller gets it ---------------------------------------------- */

/* Particles in memory: what the caller sees of them, and the step that their
 * variables belong to. */
struct held_data {
    bouma_particle_data seen; /* first, so that it has the same address */
    struct bouma_step *step;  /* NULL: there are no variables */
};

void bouma_particle_data_free(bouma_particle_data *data)
{
    const bouma_allocator *a;

    if (!data)
        return;
    a = data->allocator;
    bm_step_drop(((struct held_data *)data)->step);
    for (size_t i = 0; data->columns && i < data->variable_count; i++)
        bm_drop(a, data->columns[i]);
    bm_drop(a, data->columns);
    bm_drop(a, data->variables);
    bm_drop(a, data);
}

/* A column without the room that is left, which is given back. NULL if there is
 * no memory. */
static void *close_column(struct bm_collector *c, size_t i)
{
    size_t size = size_of(c, i);
    uint8_t *column = c->columns[i], *smaller;

    if (c->count == c->room && column)
        return column;
    if (column)
        move_lanes(column, lanes_of(c, i), (size_t)c->count * size,
                   (size_t)c->room * size, (size_t)c->count * size);
    smaller = bm_resize(c->a, column, (size_t)c->count,
                        bm_variable_sample_size(c->asked->variables[i]));
    return smaller ? smaller : column;
}

bouma_particle_data *bm_collector_finish(struct bm_collector *c)
{
    struct held_data *held = bm_new(c->a, 1, sizeof(*held));
    bouma_particle_data *d;
    int whole;

    if (!held)
        return NULL;
    d = &held->seen;
    if (c->asked->variable_count) {
        held->step = c->asked->variables[0]->object->schema->step;
        bm_step_hold(held->step);
    }
    d->size = sizeof(*d);
    d->allocator = c->a;
    d->order = c->asked->order;
    d->count = c->count;
    d->variables =
        bm_new(c->a, c->asked->variable_count, sizeof(*d->variables));
    d->columns = bm_new(c->a, c->asked->variable_count, sizeof(*d->columns));
    whole = d->variables && d->columns;
    d->variable_count = whole ? c->asked->variable_count : 0;
    for (size_t i = 0; i < c->asked->variable_count && whole; i++) {
        d->variables[i] = c->asked->variables[i];
        d->columns[i] = close_column(c, i);
        whole = d->columns[i] != NULL;
        c->columns[i] = NULL; /* its memory is the caller's now */
    }
    if (!whole) {
        bouma_particle_data_free(d);
        return NULL;
    }
    return d;
}
