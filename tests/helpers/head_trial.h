/* head_trial.h -- heads to bytes, and bytes, whatever they say, to heads. */
#ifndef HEAD_TRIAL_H
#define HEAD_TRIAL_H

#include "damage.h"
#include "sample_head.h"

/* The dataset that the heads are of. */
static const uint8_t head_id[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9};

/* The caller releases the buffer. */
static inline void head_bytes(struct bm_buffer *b, const struct bm_head *h,
                              const struct bm_schema *schema)
{
    uint8_t hash[16];

    bm_buffer_init(b, bm_allocator_default());
    bm_head_encode(b, h, schema, head_id, hash);
    REQUIRE(!b->failed);
    CHECK_EQ(b->size, h->head_bytes);
    CHECK(!memcmp(b->data + ENVELOPE_HASH, hash, 16));
}

/* A way to decode heads; see decode_try. */
struct head_trial {
    const struct bm_schema *schema; /* NULL: the head's own is taken */
    uint64_t file_bytes;
    void (*check)(const struct bm_head *h); /* of heads that are accepted */
};

/* Decode; what comes out must encode to the very same body. */
static inline int try_head(void *context, const uint8_t *data, size_t bytes)
{
    const struct head_trial *t = context;
    struct bm_head_bytes from = {data,    bytes,  t->file_bytes,
                                 head_id, "file", NULL};
    struct bm_error error = {0}, usual = {0};
    struct bm_schema own;
    struct bm_head h;
    int rc;

    bm_schema_init(&own, bm_allocator_default(), &usual);
    bm_head_init(&h, bm_allocator_default());
    rc = bm_head_decode(&h, t->schema, &own, &from, &error);
    if (rc) {
        check_refusal(rc, &error, "file: ");
    } else {
        struct bm_buffer b;

        t->check(&h);
        CHECK_EQ(h.file_bytes, t->file_bytes);
        for (size_t i = 0; i < h.count; i++)
            for (size_t k = 1; k < h.sections[i].count; k++)
                CHECK(h.sections[i].keys[k - 1] < h.sections[i].keys[k]);
        head_bytes(&b, &h, t->schema ? t->schema : &own);
        check_body(&b, data, bytes);
        bm_buffer_release(&b);
    }
    bm_head_release(&h);
    bm_schema_release(&own);
    return rc;
}

#endif
