/* levels.c -- see levels.h. */
#include "codec/levels.h"

#include <string.h>

void bm_levels_list(struct bm_levels *l, const struct bm_field *field)
{
    int k = 0;

    bm_octants_init(&l->octants[0], field->lattice[0].count);
    while (k + 1 < field->levels &&
           bm_lattice_samples(&field->lattice[k + 1])) {
        k++;
        bm_octants_init(&l->octants[k], field->lattice[k].count);
    }
    l->root = k;
    l->size = field->size;
}

size_t bm_level_samples(const struct bm_levels *l, int k)
{
    const int64_t *n = l->octants[k].n;

    return (size_t)(n[0] * n[1] * n[2]);
}

size_t bm_level_held(const struct bm_levels *l, int k)
{
    return bm_level_samples(l, k) -
           (k < l->root ? bm_level_samples(l, k + 1) : 0);
}

size_t bm_levels_samples(const struct bm_levels *l)
{
    size_t n = 0;

    for (int k = 0; k <= l->root; k++)
        n += bm_level_samples(l, k);
    return n;
}

int bm_level_bands(struct bm_band bands[BM_MAX_BANDS],
                   const struct bm_levels *l, int k, void *sorted)
{
    const struct bm_octants *o = &l->octants[k];

    if (k == l->root) {
        bands[0].data = sorted;
        memcpy(bands[0].count, o->n, sizeof(o->n));
        return 1;
    }
    for (int i = 1; i < BM_OCTANTS; i++) {
        int p = bm_octant_order[i];

        bands[i - 1].data = (uint8_t *)sorted + o->at[p] * l->size;
        memcpy(bands[i - 1].count, o->count[p], sizeof(o->count[p]));
    }
    return BM_OCTANTS - 1;
}

void bm_levels_sort(uint8_t *sorted[BM_MAX_LEVELS], const struct bm_levels *l,
                    void *memory, const void *samples)
{
    const void *dense = samples;
    uint8_t *to = memory;

    for (int k = 0; k <= l->root; k++) {
        size_t bytes = bm_level_samples(l, k) * l->size;

        sorted[k] = to;
        if (k < l->root)
            bm_octants_split(&l->octants[k], l->size, to, dense);
        else
            memcpy(to, dense, bytes);
        dense = to; /* octant 0 comes first */
        to += bytes;
    }
}

int bm_level_pack(struct bm_codec_state *state, struct bm_buffer *out,
                  const struct bm_levels *l, int k, const void *sorted)
{
    size_t held = bm_level_held(l, k), n = bm_level_samples(l, k);

    return bm_zstd_pack(state, out,
                        (const uint8_t *)sorted + (n - held) * l->size, held,
                        l->size);
}

int bm_level_unpack(struct bm_codec_state *state, void *samples,
                    const void *coarse, const struct bm_levels *l, void *spare,
                    const struct bm_coded_level *packed)
{
    int k = packed->level;
    size_t held = bm_level_held(l, k), n = bm_level_samples(l, k);
    uint8_t *sorted = spare;
    int rc;

    if (k == l->root)
        return bm_zstd_unpack(state, samples, n, l->size, packed->data,
                              packed->bytes);
    rc = bm_zstd_unpack(state, sorted + (n - held) * l->size, held, l->size,
                        packed->data, packed->bytes);
    if (!rc)
        bm_octants_merge_with(&l->octants[k], l->size, samples, sorted, coarse);
    return rc;
}
