/* refused.c -- see refused.h. */
#include "dataset/refused.h"

#include <string.h>

#include "base/hash.h"

uint64_t bm_refused_key(const void *owner, const char *name)
{
    return bm_hash64(name ? name : "", name ? strlen(name) : 0,
                     bm_hash64(&owner, sizeof(owner), 0));
}

static struct bm_refused *find(const struct bm_refused_list *list, uint64_t key)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->entries[i].key == key)
            return &list->entries[i];
    return NULL;
}

static void drop(struct bm_refused_list *list, struct bm_refused *entry)
{
    size_t behind = (size_t)(list->entries + list->count - entry) - 1;

    memmove(entry, entry + 1, behind * sizeof(*entry));
    list->count--;
}

int bm_refused_note(struct bm_refused_list *list, const bouma_allocator *a,
                    uint64_t key, enum bm_refused_scope scope, int rc,
                    const struct bm_error *error)
{
    struct bm_refused *known = find(list, key), *grown;

    if (!rc && known)
        drop(list, known);
    if (!rc && list->lost.key == key && !list->lost_more)
        bm_error_clear(&list->lost.error);
    if (!rc || known)
        return rc;
    grown = bm_grow(a, list->entries, list->count, sizeof(*grown));
    if (grown) {
        list->entries = grown;
        grown[list->count++] = (struct bm_refused){key, scope, *error};
    } else if (!list->lost.error.status) {
        list->lost = (struct bm_refused){key, scope, *error};
    } else {
        list->lost_more |= list->lost.key != key;
    }
    return rc;
}

int bm_refused_tell(const struct bm_refused_list *list, struct bm_error *error)
{
    const struct bm_error *first =
        list->count ? &list->entries[0].error : &list->lost.error;

    return first->status ? bm_fail(error, first->status, "%s", first->text)
                         : BOUMA_OK;
}

void bm_refused_end_step(struct bm_refused_list *list)
{
    for (size_t i = list->count; i-- > 0;)
        if (list->entries[i].scope == BM_OF_STEP)
            drop(list, &list->entries[i]);
    if (list->lost.scope == BM_OF_STEP && !list->lost_more)
        bm_error_clear(&list->lost.error);
}

void bm_refused_clear(struct bm_refused_list *list, const bouma_allocator *a)
{
    bm_drop(a, list->entries);
    memset(list, 0, sizeof(*list));
}
