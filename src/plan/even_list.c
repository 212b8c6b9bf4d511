/* even_list.c -- see even_list.h. */
#include "plan/even_list.h"

#include <string.h>

#include "bouma.h"

int bm_even_list_init(struct bm_even_list *l, const bouma_allocator *a,
                      size_t count)
{
    size_t groups = count / BM_EVEN_GROUP + 1;

    memset(l, 0, sizeof(*l));
    l->a = a;
    l->count = count;
    l->slabs = groups / BM_EVEN_SLAB + 1;
    l->head = bm_new_raw(a, groups, sizeof(*l->head));
    l->slab = bm_new(a, l->slabs, sizeof(*l->slab));
    if (!l->head || !l->slab)
        l->rc = BOUMA_ENOMEM;
    return l->rc;
}

void bm_even_list_release(struct bm_even_list *l)
{
    if (!l->a)
        return;
    for (size_t i = 0; i < l->slabs && l->slab; i++)
        bm_drop(l->a, l->slab[i]);
    bm_drop(l->a, l->slab);
    bm_drop(l->a, l->head);
    memset(l, 0, sizeof(*l));
}

/* Room for the numbers of one more group; NULL if there is no memory. */
static uint32_t *add_group(struct bm_even_list *l)
{
    uint32_t **slab = &l->slab[l->groups / BM_EVEN_SLAB];

    if (!*slab)
        *slab = bm_new_raw(l->a, BM_EVEN_SLAB, BM_EVEN_GROUP * sizeof(**slab));
    if (!*slab) {
        l->rc = BOUMA_ENOMEM;
        return NULL;
    }
    return *slab + l->groups++ % BM_EVEN_SLAB * BM_EVEN_GROUP;
}

void bm_even_list_change(struct bm_even_list *l, size_t i, uint32_t number)
{
    uint32_t *head = &l->head[i / BM_EVEN_GROUP], group = *head & BM_EVEN_MOST;
    uint32_t *own;

    if (*head & BM_EVEN_OWN) {
        own = l->slab[group / BM_EVEN_SLAB] +
              group % BM_EVEN_SLAB * BM_EVEN_GROUP;
    } else {
        own = *head == number ? NULL : add_group(l);
        for (size_t k = 0; k < BM_EVEN_GROUP && own; k++)
            own[k] = *head;
        if (own)
            *head = (uint32_t)(l->groups - 1) | BM_EVEN_OWN;
    }
    if (own)
        own[i % BM_EVEN_GROUP] = number;
}
