/* collector.c -- see collector.h. */
#include "read/collector.h"

#include <stdlib.h>
#include <string.h>

/* The largest type of a value. */
#define MAX_VALUE_SIZE 8

int bm_collector_init(struct bm_collector *c, const bouma_allocator *a,
                      bouma_variable *const *variables, size_t count)
{
    size_t lanes = 0;

    memset(c, 0, sizeof(*c));
    for (size_t i = 0; i < count; i++)
        lanes += (size_t)variables[i]->components;
    c->a = a;
    c->variables = variables;
    c->variable_count = count;
    bm_buffer_init(&c->keys, a);
    c->lanes = bm_new(a, lanes, sizeof(*c->lanes));
    if (!c->lanes)
        return BOUMA_ENOMEM;
    c->lane_count = lanes;
    for (size_t i = 0; i < lanes; i++)
        bm_buffer_init(&c->lanes[i], a);
    return BOUMA_OK;
}

void bm_collector_release(struct bm_collector *c)
{
    if (!c->a)
        return;
    for (size_t i = 0; i < c->lane_count; i++)
        bm_buffer_release(&c->lanes[i]);
    bm_buffer_release(&c->keys);
    bm_drop(c->a, c->lanes);
    memset(c, 0, sizeof(*c));
}

void bm_collector_clear(struct bm_collector *c)
{
    for (size_t i = 0; i < c->lane_count; i++)
        bm_buffer_clear(&c->lanes[i]);
    bm_buffer_clear(&c->keys);
    c->count = 0;
}

int bm_collector_extend(struct bm_collector *c, uint64_t count)
{
    size_t lane = 0;

    for (size_t i = 0; i < c->variable_count; i++)
        for (int k = 0; k < c->variables[i]->components; k++, lane++) {
            bm_buffer_extend(&c->lanes[lane],
                             (size_t)count *
                                 bm_variable_value_size(c->variables[i]));
            if (c->lanes[lane].failed)
                return BOUMA_ENOMEM;
        }
    c->count += count;
    return BOUMA_OK;
}

int bm_collector_add(void *context, const bouma_batch *batch)
{
    struct bm_collector *c = context;
    size_t lane = 0;

    for (size_t i = 0; i < c->variable_count; i++) {
        size_t bytes =
            (size_t)batch->count * bm_variable_value_size(c->variables[i]);

        for (int k = 0; k < c->variables[i]->components; k++, lane++) {
            bm_put_bytes(&c->lanes[lane],
                         (const uint8_t *)batch->columns[i] + (size_t)k * bytes,
                         bytes);
            if (c->lanes[lane].failed)
                return 1;
        }
    }
    if (c->draw)
        bm_put_bytes(&c->keys, c->draw->keys,
                     (size_t)batch->count * sizeof(uint64_t));
    if (c->keys.failed)
        return 1;
    c->count += batch->count;
    return 0;
}

/* ---- by chance ---------------------------------------------------------- */

struct keyed {
    uint64_t key;
    size_t at;
};

static int by_key(const void *a, const void *b)
{
    const struct keyed *x = a, *y = b;

    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

/* values[i] = values[order[i].at], for the first 'count'; 'room' has room for
 * them. */
static void reorder(uint8_t *values, uint8_t *room, const struct keyed *order,
                    size_t count, size_t size)
{
    for (size_t i = 0; i < count; i++)
        memcpy(room + i * size, values + order[i].at * size, size);
    memcpy(values, room, count * size);
}

int bm_collector_thin(struct bm_collector *c, uint64_t count)
{
    size_t total = (size_t)c->count, lane = 0;
    size_t n = count < total ? (size_t)count : total;
    struct keyed *order;
    uint8_t *room;

    if (!total)
        return BOUMA_OK;
    order = bm_new_raw(c->a, total, sizeof(*order));
    room = bm_new_raw(c->a, n + 1, MAX_VALUE_SIZE);
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
    qsort(order, total, sizeof(*order), by_key);
    for (size_t v = 0; v < c->variable_count; v++) {
        size_t size = bm_variable_value_size(c->variables[v]);

        for (int k = 0; k < c->variables[v]->components; k++, lane++) {
            reorder(c->lanes[lane].data, room, order, n, size);
            c->lanes[lane].size = n * size;
        }
    }
    c->count = n;
    bm_drop(c->a, order);
    bm_drop(c->a, room);
    return BOUMA_OK;
}

/* ---- as the caller gets it ---------------------------------------------- */

void bouma_particle_data_free(bouma_particle_data *data)
{
    const bouma_allocator *a;

    if (!data)
        return;
    a = data->allocator;
    for (size_t i = 0; data->columns && i < data->variable_count; i++)
        bm_drop(a, data->columns[i]);
    bm_drop(a, data->columns);
    bm_drop(a, data->variables);
    bm_drop(a, data);
}

/* The lanes of a variable as one column: the memory of the first, where those
 * of the others are appended. NULL if there is no memory. */
static void *join_lanes(struct bm_collector *c, size_t lane,
                        const struct bouma_variable *v)
{
    size_t bytes = (size_t)c->count * bm_variable_value_size(v);
    struct bm_buffer *first = &c->lanes[lane];
    uint8_t *column =
        bm_resize(c->a, first->data, (size_t)v->components, bytes);

    if (!column)
        return NULL;
    bm_buffer_init(first, c->a); /* its memory is the column's now */
    for (int k = 1; k < v->components; k++) {
        if (bytes)
            memcpy(column + (size_t)k * bytes, first[k].data, bytes);
        bm_buffer_release(&first[k]);
    }
    return column;
}

bouma_particle_data *bm_collector_finish(struct bm_collector *c)
{
    bouma_particle_data *d = bm_new(c->a, 1, sizeof(*d));
    size_t lane = 0;
    int whole;

    if (!d)
        return NULL;
    d->allocator = c->a;
    d->count = c->count;
    d->variables = bm_new(c->a, c->variable_count, sizeof(*d->variables));
    d->columns = bm_new(c->a, c->variable_count, sizeof(*d->columns));
    whole = d->variables && d->columns;
    d->variable_count = whole ? c->variable_count : 0;
    for (size_t i = 0; i < c->variable_count && whole; i++) {
        d->variables[i] = c->variables[i];
        d->columns[i] = join_lanes(c, lane, c->variables[i]);
        whole = d->columns[i] != NULL;
        lane += (size_t)c->variables[i]->components;
    }
    if (!whole) {
        bouma_particle_data_free(d);
        return NULL;
    }
    return d;
}
