/* fuzz_truncations.c -- the record of dropped steps. The first byte of the input
 * says whether the rest is sealed. */
#include "fuzz_help.h"
#include "store/truncations.h"

/* What was decoded is encoded as the same bytes, and is what comes of adding
 * its parts in any order: none of them includes another. */
static void try_whole(const struct bm_truncations *t, const uint8_t *data,
                      size_t size)
{
    struct bm_truncations again;
    struct bm_buffer b;

    bm_truncations_init(&again, bm_allocator_default());
    for (size_t i = t->count; i; i--) {
        const struct bm_truncation *item = &t->items[i - 1];

        HOLDS(!bm_truncations_add(&again, *item));
        if (item->last < INT64_MAX)
            HOLDS(bm_truncations_has(t, (uint64_t)(item->last + 1),
                                     item->generation));
    }
    HOLDS(again.count == t->count);
    for (size_t i = t->deletion_count; i; i--) {
        const struct bm_deletion *item = &t->deletions[i - 1];
        struct bm_step_entry entry = {item->step, 0, {0, 0}};
        struct bm_step_list one = {.entries = &entry, .count = 1};

        HOLDS(!bm_truncations_delete(&again, &one, item->generation));
        HOLDS(bm_truncations_has(t, item->step, item->generation));
    }
    HOLDS(again.deletion_count == t->deletion_count);
    bm_buffer_init(&b, bm_allocator_default());
    bm_truncations_encode(&b, &again, fuzz_id);
    HOLDS(!b.failed && b.size == size);
    HOLDS(!memcmp(b.data + BM_ENVELOPE_BYTES, data + BM_ENVELOPE_BYTES,
                  size - BM_ENVELOPE_BYTES));
    bm_buffer_release(&b);
    bm_truncations_release(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bm_truncations t;
    struct bm_error error = {0};
    uint8_t *copy;

    if (!size || size > 16384) /* adding takes quadratic time */
        return 0;
    copy = fuzz_copy(data + 1, size - 1);
    if (data[0] & 1)
        fuzz_seal(copy, size - 1, BM_KIND_TRUNCATIONS);
    bm_truncations_init(&t, bm_allocator_default());
    if (bm_truncations_decode(&t, copy, size - 1, fuzz_id, "truncations",
                              &error))
        HOLDS(error.text[0] && !t.count);
    else
        try_whole(&t, copy, size - 1);
    bm_truncations_release(&t);
    free(copy);
    return 0;
}
