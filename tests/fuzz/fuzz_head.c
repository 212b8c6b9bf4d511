/* fuzz_head.c -- the head of a subfile. The first byte of the input says
 * whether the rest is sealed; the size of the file is made to fit. What is
 * accepted has no level outside of the data and no two in one place, and is
 * encoded again, to the same bytes. One layout (tests/layout/grid_rows.c) has
 * files that begin with bytes of another format. */
#include "fuzz_help.h"
#include "layout/front.h"

struct stretch {
    uint64_t begin, end;
};

static int by_begin(const void *left, const void *right)
{
    const struct stretch *a = left, *b = right;

    return a->begin < b->begin ? -1 : a->begin > b->begin;
}

static void check_places(const struct bm_head *h)
{
    uint64_t end = h->data_offset + h->data_bytes;
    struct stretch *all;
    size_t n = 0;

    for (size_t i = 0; i < h->count; i++)
        n += h->sections[i].count * (size_t)h->sections[i].levels;
    all = malloc((n + 1) * sizeof(*all));
    HOLDS(all);
    n = 0;
    for (size_t i = 0; i < h->count; i++) {
        const struct bm_section *s = &h->sections[i];

        for (size_t k = 0; k < s->count * (size_t)s->levels; k++) {
            HOLDS(s->offsets[k] >= h->data_offset && s->offsets[k] <= end &&
                  s->sizes[k] <= end - s->offsets[k]);
            if (s->sizes[k])
                all[n++] = (struct stretch){s->offsets[k],
                                            s->offsets[k] + s->sizes[k]};
        }
    }
    qsort(all, n, sizeof(*all), by_begin);
    for (size_t i = 1; i < n; i++)
        HOLDS(all[i - 1].end <= all[i].begin);
    free(all);
    HOLDS(!h->placed || !h->summaries.count);
    HOLDS(h->head_offset % 64 == 0 && h->head_offset >= h->front_bytes &&
          h->head_offset < h->front_bytes + 64);
    HOLDS(h->data_offset % 64 == 0 &&
          h->data_offset >= h->head_offset + h->head_bytes);
    HOLDS(h->placed || h->data_offset < h->head_offset + h->head_bytes + 64);
    HOLDS(h->file_bytes == end + h->head_bytes);
}

/* What stands before the head can be made of it. */
static void check_front(const struct bm_head *h)
{
    struct bm_buffer b;

    bm_buffer_init(&b, bm_allocator_default());
    bm_front_make(&b, h);
    HOLDS(!b.failed && b.size == h->head_offset);
    bm_buffer_release(&b);
}

/* The size that the file must have: front, head, zeros up to a multiple of 64 or
 * to where it says, data, head. */
static uint64_t file_bytes(const uint8_t *head, size_t n)
{
    uint64_t front = bm_load_u64(head + n - 8) == n
                         ? bm_front_end(bm_load_u64(head + n - 16))
                         : 0;
    uint64_t data = bm_load_u32(head + 100) ? bm_load_u64(head + 112)
                                            : (front + n + 63) / 64 * 64;

    return data + bm_load_u64(head + 104) + n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const bouma_allocator *a = bm_allocator_default();
    struct bm_error error = {0};
    struct bm_head_bytes from = {.name = "head"};
    struct bm_schema schema;
    struct bm_head head;
    uint8_t *copy;
    size_t n;

    if (!size)
        return 0;
    n = size - 1;
    copy = fuzz_copy(data + 1, n);
    if (data[0] & 1)
        fuzz_seal(copy, n, BM_KIND_HEAD);
    if (n >= 120)
        from.file_bytes = file_bytes(copy, n);
    from.data = copy;
    from.bytes = n;
    bm_schema_init(&schema, a, &error);
    bm_head_init(&head, a);
    if (!bm_head_decode(&head, NULL, &schema, &from, &error)) {
        struct bm_buffer b;
        uint8_t hash[16];

        check_places(&head);
        check_front(&head);
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
