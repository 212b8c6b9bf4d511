/* collector.c -- see collector.h. */
#include "read/collector.h"

#include <string.h>

#include "base/mix.h"

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
    bm_drop(c->a, c->lanes);
    memset(c, 0, sizeof(*c));
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
    c->count += batch->count;
    return 0;
}

/* ---- by chance ---------------------------------------------------------- */

static uint64_t next_random(uint64_t *state)
{
    uint64_t x = bm_mix_next(*state);

    *state += BM_MIX_STEP;
    return x;
}

/* A number below n, each with the same chance: those of the last, incomplete
 * round are drawn again. */
static uint64_t below(uint64_t *state, uint64_t n)
{
    uint64_t limit = UINT64_MAX - UINT64_MAX % n, x;

    do
        x = next_random(state);
    while (x >= limit);
    return x % n;
}

int bm_collector_thin(struct bm_collector *c, uint64_t count, uint64_t seed)
{
    uint64_t *chosen, state = seed;
    uint8_t *is_chosen;
    size_t lane = 0;

    if (c->count <= count)
        return BOUMA_OK;
    chosen = bm_new_raw(c->a, (size_t)c->count, sizeof(*chosen));
    is_chosen = bm_new(c->a, (size_t)c->count, 1);
    if (!chosen || !is_chosen) {
        bm_drop(c->a, chosen);
        bm_drop(c->a, is_chosen);
        return BOUMA_ENOMEM;
    }
    for (uint64_t i = 0; i < c->count; i++)
        chosen[i] = i;
    for (uint64_t i = 0; i < count; i++) { /* the first cards of a shuffle */
        uint64_t k = i + below(&state, c->count - i), swap = chosen[i];

        chosen[i] = chosen[k];
        chosen[k] = swap;
    }
    /* In their order, so that a value is never written before it is read. */
    for (uint64_t i = 0; i < count; i++)
        is_chosen[chosen[i]] = 1;
    for (uint64_t i = 0, n = 0; n < count; i++) {
        chosen[n] = i;
        n += is_chosen[i];
    }
    for (size_t v = 0; v < c->variable_count; v++) {
        size_t size = bm_variable_value_size(c->variables[v]);

        for (int k = 0; k < c->variables[v]->components; k++, lane++) {
            uint8_t *data = c->lanes[lane].data;

            for (uint64_t i = 0; i < count; i++)
                memmove(data + i * size, data + chosen[i] * size, size);
            c->lanes[lane].size = (size_t)count * size;
        }
    }
    c->count = count;
    bm_drop(c->a, chosen);
    bm_drop(c->a, is_chosen);
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

bouma_particle_data *bm_particle_data_new(const bouma_allocator *a,
                                          bouma_variable *const *variables,
                                          size_t variable_count, uint64_t count)
{
    bouma_particle_data *d = bm_new(a, 1, sizeof(*d));
    int whole;

    if (!d)
        return NULL;
    d->allocator = a;
    d->count = count;
    d->variables = bm_new(a, variable_count, sizeof(*d->variables));
    d->columns = bm_new(a, variable_count, sizeof(*d->columns));
    whole = d->variables && d->columns;
    d->variable_count = whole ? variable_count : 0;
    for (size_t i = 0; i < variable_count && whole; i++) {
        d->variables[i] = variables[i];
        d->columns[i] =
            bm_new_raw(a, (size_t)count, bm_variable_sample_size(variables[i]));
        whole = d->columns[i] != NULL;
    }
    if (!whole) {
        bouma_particle_data_free(d);
        return NULL;
    }
    return d;
}

bouma_particle_data *bm_collector_finish(struct bm_collector *c)
{
    bouma_particle_data *d =
        bm_particle_data_new(c->a, c->variables, c->variable_count, c->count);
    size_t lane = 0;

    for (size_t i = 0; d && i < c->variable_count; i++) {
        size_t bytes =
            (size_t)c->count * bm_variable_value_size(c->variables[i]);

        for (int k = 0; k < c->variables[i]->components; k++, lane++) {
            if (bytes)
                memcpy((uint8_t *)d->columns[i] + (size_t)k * bytes,
                       c->lanes[lane].data, bytes);
            bm_buffer_release(&c->lanes[lane]);
        }
    }
    return d;
}
