/* fuzz_manifest.c -- a manifest. The first byte of the input says whether the
 * rest is sealed. What is accepted is encoded again, to the same bytes. */
#include "fuzz_help.h"
#include "layout/sheet_walk.h"
#include "layout/writings.h"

/* The same with sheets that are not decoded; one by one, they can be. */
static void pass_on(const uint8_t *data, size_t size)
{
    struct bm_error error = {0};
    struct bm_writing *w = bm_writing_new(bm_allocator_default(), &error);
    struct bm_sheet_walk walk = {.m = &w->manifest};
    struct bm_buffer b;

    bm_buffer_init(&b, bm_allocator_default());
    HOLDS(!bm_manifest_decode_lent(&w->manifest, data, size, NULL, "manifest",
                                   &error));
    bm_manifest_encode(&b, &w->manifest, data + 32);
    HOLDS(!b.failed && b.size == size);
    HOLDS(!memcmp(b.data + 64, data + 64, b.size - 64));
    for (size_t i = 0; i < bm_manifest_files(&w->manifest) && i < 4096; i++)
        HOLDS(!bm_sheet_walk_to(&walk, i, &error));
    bm_sheet_walk_end(&walk);
    bm_buffer_release(&b);
    bm_writing_free(w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const bouma_allocator *a = bm_allocator_default();
    struct bm_error error = {0};
    struct bm_schema schema;
    struct bm_manifest m;
    uint8_t *copy;

    if (!size)
        return 0;
    copy = fuzz_copy(data + 1, size - 1);
    if (data[0] & 1)
        fuzz_seal(copy, size - 1, BM_KIND_MANIFEST);
    bm_schema_init(&schema, a, &error);
    bm_manifest_init(&m, a, &schema, &error);
    if (!bm_manifest_decode(&m, copy, size - 1, NULL, "manifest", &error)) {
        struct bm_buffer b;

        bm_buffer_init(&b, a);
        bm_manifest_encode(&b, &m, copy + 32);
        HOLDS(!b.failed && b.size == size - 1);
        HOLDS(!memcmp(b.data + 64, copy + 64, b.size - 64));
        bm_buffer_release(&b);
        pass_on(copy, size - 1);
    } else {
        HOLDS(error.text[0]);
    }
    bm_manifest_release(&m);
    bm_schema_release(&schema);
    free(copy);
    return 0;
}
