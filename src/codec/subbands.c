/* subbands.c -- see subbands.h. */
#include "codec/subbands.h"

#include <string.h>

const char *bm_subbands_tiling(struct bm_tiling *t, const struct bm_hz *hz,
                               int tile_bits, const int64_t shape[3])
{
    int64_t edge[3];

    bm_hz_tile(edge, hz, tile_bits);
    return bm_tiling_init(t, 3, shape, edge);
}

/* The words of one step in a tile, which is 'part' of a dense array of a level:
 * those that are multiples of the step's strides. */
static struct bm_word_array words_of(const struct bm_word_array *part,
                                     const struct bm_lift *step, int level)
{
    struct bm_word_array a = *part;

    for (int d = 0; d < 3; d++) {
        int shift = step->shift[d] - level;

        a.count[d] = (a.count[d] + ((int64_t)1 << shift) - 1) >> shift;
        a.stride[d] *= (int64_t)1 << shift;
    }
    return a;
}

/* What is done to each tile. */
struct pass {
    const struct bm_subbands *subbands;
    int level;
    struct bm_lift lifts[BM_HZ_BITS]; /* the coarsest first */
    int count;
};

static void forward_tile(const struct pass *p, const struct bm_word_array *tile)
{
    for (int i = p->count - 1; i >= 0; i--) {
        struct bm_word_array a = words_of(tile, &p->lifts[i], p->level);

        bm_lift_forward(&p->subbands->words, &a, p->lifts[i].axis);
    }
}

static void inverse_tile(const struct pass *p, const struct bm_word_array *tile)
{
    for (int i = 0; i < p->count; i++) {
        struct bm_word_array a = words_of(tile, &p->lifts[i], p->level);

        bm_lift_inverse(&p->subbands->words, &a, p->lifts[i].axis);
    }
}

/* One tile of a dense array, which has what 'all' is of a level. */
static struct bm_word_array tile_of(const struct bm_subbands *s, void *data,
                                    const struct bm_lattice *all,
                                    const struct bm_lattice *own)
{
    struct bm_word_array a = {
        .stride = {all->count[1] * all->count[2], all->count[2], 1}};
    int64_t at = 0;

    memcpy(a.count, own->count, sizeof(a.count));
    for (int d = 0; d < 3; d++)
        at += (own->start[d] - all->start[d]) * a.stride[d];
    a.data = (uint8_t *)data + at * (int64_t)bouma_type_size(s->words.type);
    return a;
}

static void
each_tile(const struct pass *p, void *data, const struct bm_box *box,
          void (*each)(const struct pass *, const struct bm_word_array *))
{
    struct bm_lattice all = bm_lattice_of(box, p->level);
    int64_t edge[3];
    struct bm_box tile;

    bm_hz_tile(edge, p->subbands->hz, p->subbands->tile_bits);
    for (tile.lo[0] = box->lo[0]; tile.lo[0] < box->hi[0];
         tile.lo[0] += edge[0])
        for (tile.lo[1] = box->lo[1]; tile.lo[1] < box->hi[1];
             tile.lo[1] += edge[1])
            for (tile.lo[2] = box->lo[2]; tile.lo[2] < box->hi[2];
                 tile.lo[2] += edge[2]) {
                struct bm_word_array a;
                struct bm_lattice own;

                for (int d = 0; d < 3; d++) {
                    int64_t end = tile.lo[d] + edge[d];

                    tile.hi[d] = end < box->hi[d] ? end : box->hi[d];
                }
                own = bm_lattice_of(&tile, p->level);
                if (!bm_lattice_samples(&own))
                    continue;
                a = tile_of(p->subbands, data, &all, &own);
                each(p, &a);
            }
}

void bm_subbands_forward(const struct bm_subbands *s, void *samples,
                         const struct bm_box *box)
{
    struct pass p = {.subbands = s};

    p.count = bm_hz_lifts(p.lifts, s->hz, s->tile_bits, 0);
    bm_words_make(&s->words, samples, (size_t)bm_box_volume(box));
    each_tile(&p, samples, box, forward_tile);
}

void bm_subbands_inverse(const struct bm_subbands *s, void *coefficients,
                         const struct bm_box *box, int level)
{
    struct bm_lattice all = bm_lattice_of(box, level);
    struct pass p = {.subbands = s, .level = level};

    p.count = bm_hz_lifts(p.lifts, s->hz, s->tile_bits, level);
    if (p.count)
        each_tile(&p, coefficients, box, inverse_tile);
    bm_words_restore(&s->words, coefficients, (size_t)bm_lattice_samples(&all));
}
