/* into.c -- see into.h. */
#include "read/into.h"

#include <inttypes.h>

#include "read/collector.h"

/* The values of one column. */
static int add_column(struct bm_into *into, const struct bm_column *c,
                      uint64_t count, const void *values, uint64_t apart)
{
    const int64_t all[3] = {1, 1, (int64_t)apart};
    struct bm_array from =
        bm_array_planar(c->variable, (uint8_t *)(uintptr_t)values, all);
    struct bm_cutout w = {.variable = c->variable,
                          .array = c->array,
                          .samples = {.start = {0, 0, (int64_t)into->count},
                                      .count = {1, 1, (int64_t)count}}};

    w.array.data += (int64_t)into->count * c->array.stride[2];
    if (bm_block_grow(into->a, &into->room,
                      bm_cutout_room(&w.array, c->variable, count)))
        return bm_fail(into->error, BOUMA_ENOMEM,
                       "no memory to hand over particles");
    return bm_cutout_store(&w, &from, into->room.data, into->error);
}

int bm_into_add(struct bm_into *into, uint64_t count,
                const void *const *columns, uint64_t apart)
{
    int fits =
        into->count <= into->capacity && count <= into->capacity - into->count;

    for (size_t i = 0; i < into->column_count && count && fits && !into->rc;
         i++)
        into->rc =
            add_column(into, &into->columns[i], count, columns[i], apart);
    into->count += count;
    return into->rc;
}

int bm_into_batch(void *context, const bouma_batch *batch)
{
    return bm_into_add(context, batch->count, batch->columns, batch->count);
}

int bm_into_collected(struct bm_into *into, const struct bm_collector *c)
{
    const void **columns =
        bm_new(into->a, into->column_count, sizeof(*columns));
    int rc;

    if (!columns)
        return bm_fail(into->error, BOUMA_ENOMEM,
                       "no memory to hand over particles");
    for (size_t i = 0; i < into->column_count; i++)
        columns[i] = c->columns[i];
    rc = bm_into_add(into, c->count, columns, c->room);
    bm_drop(into->a, columns);
    return rc;
}

int bm_into_check(const struct bm_into *into, const struct bm_object *set)
{
    if (!into->column_count || into->count <= into->capacity)
        return BOUMA_OK;
    return bm_fail(into->error, BOUMA_ELIMIT,
                   "particles \"%s\": %" PRIu64 " match, but the arrays have "
                   "room for %" PRIu64,
                   set->name, into->count, into->capacity);
}
