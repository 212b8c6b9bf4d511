/* fuzz_sheet.c -- a manifest with sheets. The first byte of the input says
 * whether the front and the sheets are sealed, so that checksums do not keep
 * what is inside from being looked at. A sheet that is accepted is encoded again,
 * to the same bytes, and has the sum that the front tells of. */
#include "fuzz_help.h"
#include "layout/sheet.h"

/* Sheet k, with a checksum that fits. */
static void try_sheet(struct bm_manifest *m, size_t k, uint8_t *data,
                      size_t bytes, int seal)
{
    struct bm_sheet *s = &m->sheets[k], sum;
    struct bm_error error = {0};
    struct bm_buffer left, right;

    if (seal) {
        fuzz_seal(data, bytes, BM_KIND_SHEET);
        memcpy(s->hash, data + 48, 16);
    }
    if (bm_manifest_take_sheet(m, k, data, bytes, "manifest", &error)) {
        HOLDS(error.text[0]);
        HOLDS(!s->records);
        return;
    }
    HOLDS(s->record_count == bm_sheet_records(m, k));
    bm_buffer_init(&left, m->a);
    bm_buffer_init(&right, m->a);
    for (size_t i = 0; i < s->record_count; i++)
        bm_subfile_info_encode(&left, &s->records[i], m->schema);
    HOLDS(!left.failed && left.size == bytes - 88);
    HOLDS(!memcmp(left.data, data + 88, left.size));
    bm_buffer_clear(&left);
    HOLDS(!bm_sheet_sum(&sum, s->records, s->record_count, m->schema));
    sum.bytes = s->bytes;
    memcpy(sum.hash, s->hash, 16);
    bm_sheet_encode_sum(&left, s, m->schema);
    bm_sheet_encode_sum(&right, &sum, m->schema);
    HOLDS(left.size == right.size && !memcmp(left.data, right.data, left.size));
    bm_sheet_release(&sum, m->a);
    bm_buffer_release(&left);
    bm_buffer_release(&right);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const bouma_allocator *a = bm_allocator_default();
    struct bm_error error = {0};
    struct bm_schema schema;
    struct bm_manifest m;
    uint8_t *copy;
    size_t n, front;

    if (size < 1 + 64)
        return 0;
    n = size - 1;
    copy = fuzz_copy(data + 1, n);
    front = bm_load_u64(copy + 16) <= n - 64
                ? 64 + (size_t)bm_load_u64(copy + 16)
                : n;
    if (data[0] & 1)
        fuzz_seal(copy, front, BM_KIND_MANIFEST);
    bm_schema_init(&schema, a, &error);
    bm_manifest_init(&m, a, &schema, &error);
    if (!bm_manifest_decode_front(&m, copy, n, NULL, "manifest", &error)) {
        for (size_t k = 0; k < m.sheet_count; k++)
            if (m.sheets[k].offset <= n &&
                m.sheets[k].bytes <= n - m.sheets[k].offset)
                try_sheet(&m, k, copy + m.sheets[k].offset,
                          (size_t)m.sheets[k].bytes, data[0] & 1);
    } else {
        HOLDS(error.text[0]);
    }
    bm_manifest_release(&m);
    bm_schema_release(&schema);
    free(copy);
    return 0;
}
