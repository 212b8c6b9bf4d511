/* catalogue.c -- see catalogue.h. */
#include "base/catalogue.h"

#include <string.h>

#include "bouma.h"

int bm_catalogue_find(const struct bm_catalogue *c, const void *list,
                      bm_name_at name_at, const char *name, size_t *rank)
{
    size_t lo = 0, hi = c->count;
    int found = -1;

    while (lo < hi && found < 0) {
        size_t mid = lo + (hi - lo) / 2;
        int order = strcmp(name_at(list, c->order[mid]), name);

        if (!order)
            found = c->order[mid];
        if (order < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    if (rank)
        *rank = hi;
    return found;
}

int bm_catalogue_add(struct bm_catalogue *c, const bouma_allocator *a,
                     size_t rank)
{
    uint16_t *grown = c->count < BM_CATALOGUE_MOST
                          ? bm_grow(a, c->order, c->count, sizeof(*grown))
                          : NULL;

    if (!grown)
        return BOUMA_ENOMEM;
    memmove(grown + rank + 1, grown + rank, (c->count - rank) * sizeof(*grown));
    grown[rank] = (uint16_t)c->count++;
    c->order = grown;
    return BOUMA_OK;
}

void bm_catalogue_remove_last(struct bm_catalogue *c)
{
    size_t kept = 0;

    for (size_t i = 0; i < c->count; i++)
        if (c->order[i] != c->count - 1)
            c->order[kept++] = c->order[i];
    c->count = kept;
}

void bm_catalogue_release(struct bm_catalogue *c, const bouma_allocator *a)
{
    bm_drop(a, c->order);
    memset(c, 0, sizeof(*c));
}
