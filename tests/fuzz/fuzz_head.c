/* fuzz_head.c -- the head of a subfile. The first byte of the input says
 * whether the rest is sealed; the size of the file is made to fit. What is
 * accepted is encoded again, to the same bytes. */
#include "fuzz_help.h"
#include "layout/head.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const bouma_allocator *a = bm_allocator_default();
    struct bm_error error = {0};
    struct bm_schema schema;
    struct bm_head head;
    uint64_t file_bytes = 0;
    uint8_t *copy;
    size_t n;

    if (!size)
        return 0;
    n = size - 1;
    copy = fuzz_copy(data + 1, n);
    if (data[0] & 1)
        fuzz_seal(copy, n, BM_KIND_HEAD);
    /* head, zeros up to a multiple of 64, data, head */
    if (n >= 112)
        file_bytes = (n + 63) / 64 * 64 + bm_load_u64(copy + 104) + n;
    bm_schema_init(&schema, a, &error);
    bm_head_init(&head, a);
    if (!bm_head_decode(&head, NULL, &schema, copy, n, file_bytes, NULL, "head",
                        &error)) {
        struct bm_buffer b;
        uint8_t hash[16];

        for (size_t i = 0; i < head.count; i++) {
            const struct bm_section *s = &head.sections[i];

            for (size_t k = 0; k < s->count * (size_t)s->levels; k++)
                HOLDS(s->offsets[k] >= head.data_offset &&
                      s->offsets[k] + s->sizes[k] <=
                          head.data_offset + head.data_bytes);
        }
        bm_buffer_init(&b, a);
        bm_head_encode(&b, &head, &schema, copy + 32, hash);
        HOLDS(!b.failed && b.size == n);
        HOLDS(!memcmp(b.data + 64, copy + 64, n - 64));
        bm_buffer_release(&b);
    } else {
        HOLDS(error.text[0]);
    }
    bm_head_release(&head);
    bm_schema_release(&schema);
    free(copy);
    return 0;
}
