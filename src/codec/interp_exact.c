/* interp_exact.c -- see interp.h: pieces of codec exact in place of those within
 * a tolerance, where they are shorter. */
#include <string.h>

#include "base/tiling.h"
#include "codec/exact.h"
#include "codec/interp.h"

/* A sample has many bits, or uses few of its own, in steps or before zeros. */
#define MANY_BITS   3 /* a third of all */
#define UNUSED_BITS 8

int bm_interp_may_be_exact(const struct bm_field *f, const void *samples,
                           size_t count, size_t bytes)
{
    struct bm_exact_view v = bm_exact_view_of(f->type);

    if (bytes > count * f->size / MANY_BITS)
        return 1;
    return v.kind == BM_EXACT_REALS &&
           (v.kernels->unused_bits(samples, count) >= UNUSED_BITS ||
            bm_exact_step(f->type, samples, count) > 0);
}

int bm_interp_try_exact(struct bm_codec_state *state, const struct bm_field *f,
                        const struct bm_middle *m, const void *samples,
                        size_t *bytes)
{
    struct bm_lattice lattice = f->lattice[0];
    struct bm_field part = *f;
    struct bm_loss none = {0, 0};
    struct bm_buffer out;
    uint32_t size;
    int rc;

    memcpy(lattice.count, m->n, sizeof(m->n));
    part.lattice = &lattice;
    part.levels = 1;
    bm_buffer_init(&out, state->a);
    rc = bm_exact_encode(state, &out, &size, &none, &part, samples);
    *bytes = out.size;
    bm_buffer_release(&out);
    return rc;
}

int bm_interp_take_exact(struct bm_codec_state *state, struct bm_buffer *out,
                         size_t begin, uint32_t *sizes,
                         const struct bm_field *f, const void *samples,
                         int *exact)
{
    uint32_t others[BM_MAX_LEVELS];
    struct bm_loss none = {0, 0};
    struct bm_buffer other;
    size_t forms = 0, at = 0;
    int rc;

    *exact = 0;
    bm_buffer_init(&other, state->a);
    rc = bm_exact_encode(state, &other, others, &none, f, samples);
    for (int k = 0; k < f->levels && !rc; k++)
        forms += others[k] > 0;
    if (!rc && other.size + forms < out->size - begin) {
        *exact = 1;
        out->size = begin;
        for (int k = f->levels - 1; k >= 0; k--) {
            sizes[k] = others[k] ? others[k] + 1 : 0;
            if (others[k])
                bm_put_u8(out, FORM_PREDICTED);
            bm_put_bytes(out, other.data + at, others[k]);
            at += others[k];
        }
    }
    bm_buffer_release(&other);
    return rc ? rc : out->failed ? BOUMA_ENOMEM : BOUMA_OK;
}
