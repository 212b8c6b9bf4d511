/* fuzz_index.c -- the index. The first byte of the input says whether the
 * checksums of its records are made right. */
#include "fuzz_help.h"
#include "store/index.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bm_step_list list;
    size_t n, bad = 0;
    uint8_t *copy;

    if (!size)
        return 0;
    n = size - 1;
    copy = fuzz_copy(data + 1, n);
    for (size_t at = 0; (data[0] & 1) && at + BM_INDEX_RECORD <= n;
         at += BM_INDEX_RECORD) {
        memcpy(copy + at, "bmstep\r\n", 8);
        bm_store_u64(copy + at + 40, bm_hash64(copy + at, BM_INDEX_RECORD - 8,
                                               bm_hash64(fuzz_id, 16, 0)));
    }
    bm_step_list_init(&list, bm_allocator_default());
    HOLDS(!bm_index_decode(&list, copy, n, fuzz_id, &bad));
    HOLDS(list.count <= n / BM_INDEX_RECORD);
    for (size_t i = 0; i < list.count; i++) {
        HOLDS(!i || list.entries[i - 1].step < list.entries[i].step);
        HOLDS(list.entries[i].step <= INT64_MAX);
        HOLDS(bm_step_list_find(&list, list.entries[i].step) ==
              &list.entries[i]);
    }
    bm_step_list_release(&list);
    free(copy);
    return 0;
}
