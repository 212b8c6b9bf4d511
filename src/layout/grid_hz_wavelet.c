/* grid_hz_wavelet.c -- grids in HZ order whose blocks have wavelet coefficients
 * in place of samples: see codec/subbands.h. */
#include "codec/subbands.h"
#include "layout/grid_hz.h"

enum { TILE_BITS = 15, MOST_TILE_BITS = 24 };

const char *bm_grid_hz_set_wavelet(struct bm_grid_hz *own,
                                   const bouma_grid_spec *spec)
{
    const struct bm_hz *hz = &own->blocks.hz;
    struct bm_tiling t;

    if (spec->hz_wavelet != 0 && spec->hz_wavelet != 1)
        return "has an hz_wavelet that is neither 0 nor 1";
    if (spec->hz_tile_bits && !spec->hz_wavelet)
        return "has hz_tile_bits, which are for hz_wavelet only";
    if (spec->hz_tile_bits < 0 || spec->hz_tile_bits > MOST_TILE_BITS)
        return "needs hz_tile_bits from 1 to 24";
    if (spec->hz_tile_bits > hz->bits)
        return "has tiles of more samples than its template covers";
    own->wavelet = spec->hz_wavelet;
    own->tile_bits = spec->hz_tile_bits     ? spec->hz_tile_bits
                     : hz->bits < TILE_BITS ? hz->bits
                                            : TILE_BITS;
    return own->wavelet &&
                   bm_subbands_tiling(&t, hz, own->tile_bits, own->blocks.shape)
               ? "has too many tiles; choose larger 'hz_tile_bits'"
               : NULL;
}

static int tiling(const struct bm_object *o, struct bm_tiling *out)
{
    const struct bm_grid_hz *own = bm_grid_hz_of(o);

    return own->wavelet &&
           !bm_subbands_tiling(out, &own->blocks.hz, own->tile_bits,
                               own->blocks.shape);
}

static struct bm_subbands subbands_of(const struct bouma_variable *v)
{
    const struct bm_grid_hz *own = bm_grid_hz_of(v->object);
    struct bm_subbands s = {&own->blocks.hz, own->tile_bits,
                            bm_words_of(v->type, v->bound)};

    return s;
}

static void forward(const struct bouma_variable *v, void *samples,
                    const struct bm_box *box)
{
    struct bm_subbands s = subbands_of(v);

    bm_subbands_forward(&s, samples, box);
}

static void inverse(const struct bouma_variable *v, void *coefficients,
                    const struct bm_box *box, int level)
{
    struct bm_subbands s = subbands_of(v);

    bm_subbands_inverse(&s, coefficients, box, level);
}

static void round_values(const struct bouma_variable *v, void *values,
                         size_t count, struct bm_loss *loss)
{
    if (bm_words_averages(v->type))
        bm_quantise(v->type, values, count, v->bound, loss);
}

static int averages(const struct bouma_variable *v)
{
    return bm_words_averages(v->type);
}

const struct bm_tile_functions bm_grid_hz_tiles = {
    .tiling = tiling,
    .forward = forward,
    .inverse = inverse,
    .round = round_values,
    .averages = averages,
};
