/* even_list.h -- a list of numbers that are mostly like their neighbours: eight
 * in a row that are equal are kept as one.
 *
 *     5 5 5 5 5 5 5 5   5 5 5 7 7 7 7 7   7 7 7 7 7 7 7 7
 *     5                 -> group 0        7
 */
#ifndef BM_EVEN_LIST_H
#define BM_EVEN_LIST_H

#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"

#define BM_EVEN_GROUP 8
#define BM_EVEN_MOST  ((uint32_t)INT32_MAX) /* the largest number */

struct bm_even_list {
    const bouma_allocator *a;
    size_t count;
    /* [count / BM_EVEN_GROUP + 1]: the number, or which one of the groups that
     * have their own numbers, with the highest bit. */
    uint32_t *head;
    uint32_t **slab; /* [slabs]: so many groups each */
    size_t slabs, groups;
    int rc;
};

#define BM_EVEN_OWN  (BM_EVEN_MOST + 1)
#define BM_EVEN_SLAB 512 /* groups */

/* BOUMA_OK or ENOMEM. A zeroed struct can be released. */
int bm_even_list_init(struct bm_even_list *l, const bouma_allocator *a,
                      size_t count);
void bm_even_list_release(struct bm_even_list *l);

/* Another number at i, which has one. Without memory for it l->rc is ENOMEM. */
void bm_even_list_change(struct bm_even_list *l, size_t i, uint32_t number);

/* The next numbers: 'n' times the same, after all those before i were put. */
static inline void bm_even_list_put(struct bm_even_list *l, size_t i, size_t n,
                                    uint32_t number)
{
    for (size_t end = i + n; i < end;) {
        uint32_t *head = &l->head[i / BM_EVEN_GROUP];

        if (i % BM_EVEN_GROUP == 0) /* of the whole group, until another one */
            *head = number;
        else if (*head != number)
            bm_even_list_change(l, i, number);
        i = *head == number && end - i >= BM_EVEN_GROUP
                ? (i / BM_EVEN_GROUP + 1) * BM_EVEN_GROUP
                : i + 1;
    }
}

static inline uint32_t bm_even_list_get(const struct bm_even_list *l, size_t i)
{
    uint32_t head = l->head[i / BM_EVEN_GROUP], group = head & BM_EVEN_MOST;

    return head & BM_EVEN_OWN ? l->slab[group / BM_EVEN_SLAB]
                                       [group % BM_EVEN_SLAB * BM_EVEN_GROUP +
                                        i % BM_EVEN_GROUP]
                              : head;
}

/* How many from i on, before 'end', are known to be equal, and the number. */
static inline size_t bm_even_list_run(const struct bm_even_list *l, size_t i,
                                      size_t end, uint32_t *number)
{
    size_t next = (i / BM_EVEN_GROUP + 1) * BM_EVEN_GROUP;

    *number = bm_even_list_get(l, i);
    if (l->head[i / BM_EVEN_GROUP] & BM_EVEN_OWN)
        return 1;
    return (next < end ? next : end) - i;
}

#endif
