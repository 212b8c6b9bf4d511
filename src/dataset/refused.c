/* refused.c -- see refused.h. */
#include "dataset/refused.h"

#include <string.h>

#include "base/hash.h"

uint64_t bm_refused_key(const void *owner, const char *name)
{
    return bm_hash64(name ? name : "", name ? strlen(name) : 0,
                     bm_hash64(&owner, sizeof(owner), 0));
}

static struct bm_refused *find(struct bm_refused *entries, size_t count,
                               uint64_t key)
{
    for (size_t i = 0; i < count; i++)
        if (entries[i].key == key)
            return &entries[i];
    return NULL;
}

static void drop(struct bm_refused *entries, size_t *count,
                 struct bm_refused *entry)
{
    size_t behind = (size_t)(entries + *count - entry) - 1;

    memmove(entry, entry + 1, behind * sizeof(*entry));
    --*count;
}

/* Add a refusal wherever there is room for it. */
static void add(struct bm_refused_list *list, const bouma_allocator *a,
                const struct bm_refused *entry)
{
    struct bm_refused *grown =
        bm_grow(a, list->entries, list->count, sizeof(*grown));

    if (grown) {
        list->entries = grown;
        grown[list->count++] = *entry;
    } else if (list->spare_count < BM_REFUSED_SPARE) {
        list->spare[list->spare_count++] = *entry;
    } else if (entry->scope == BM_OF_STEP) {
        list->more_of_step = 1;
    } else {
        list->more_of_dataset = 1;
    }
}

int bm_refused_add(struct bm_refused_list *list, const bouma_allocator *a,
                   uint64_t key, enum bm_refused_scope scope, int rc,
                   const struct bm_error *error)
{
    struct bm_refused *known = find(list->entries, list->count, key);
    struct bm_refused *spare = find(list->spare, list->spare_count, key);

    if (!rc && known)
        drop(list->entries, &list->count, known);
    if (!rc && spare)
        drop(list->spare, &list->spare_count, spare);
    if (rc && !known && !spare)
        add(list, a, &(struct bm_refused){key, scope, *error});
    return rc;
}

int bm_refused_tell(const struct bm_refused_list *list, struct bm_error *error)
{
    const struct bm_refused *first = list->count         ? list->entries
                                     : list->spare_count ? list->spare
                                                         : NULL;

    if (first)
        return bm_fail(error, first->error.status, "%s", first->error.text);
    return list->more_of_step || list->more_of_dataset
               ? bm_fail(
                     error, BOUMA_ENOMEM,
                     "earlier calls failed for lack of memory, and there was "
                     "none left to record which; "
                     "bouma_dataset_clear_failures() continues without them")
               : BOUMA_OK;
}

static void drop_those_of_step(struct bm_refused *entries, size_t *count)
{
    for (size_t i = *count; i-- > 0;)
        if (entries[i].scope == BM_OF_STEP)
            drop(entries, count, &entries[i]);
}

void bm_refused_end_step(struct bm_refused_list *list)
{
    drop_those_of_step(list->entries, &list->count);
    drop_those_of_step(list->spare, &list->spare_count);
    list->more_of_step = 0;
}

void bm_refused_clear(struct bm_refused_list *list, const bouma_allocator *a)
{
    bm_drop(a, list->entries);
    memset(list, 0, sizeof(*list));
}
