/* grid_hz_partition.c -- grids in HZ order that are cut into partitions: what a
 * caller may ask for. */
#include "layout/grid_hz.h"

int bm_grid_hz_partition_bits(const bouma_grid_spec *spec)
{
    int n = spec->hz_partitions;

    return n > 1 && !(n & (n - 1)) ? __builtin_ctz((unsigned)n) : 0;
}

int bm_grid_hz_check_partitions(const struct bm_object *o,
                                const bouma_grid_spec *spec,
                                const struct bm_hz *hz, int block_bits)
{
    struct bm_error *error = o->schema->error;
    int n = spec->hz_partitions, bits = bm_grid_hz_partition_bits(spec);

    if (n < 0 || (n > 1 && !bits))
        return bm_fail(error, BOUMA_EINVAL,
                       "grid \"%s\" has %d partitions; 'hz_partitions' must "
                       "be a power of two",
                       o->name, n);
    if (spec->hz_index == BOUMA_HZ_INDEX_LOCAL && !bits)
        return bm_fail(error, BOUMA_EINVAL,
                       "grid \"%s\" has no partitions that could have an "
                       "index each; set 'hz_partitions'",
                       o->name);
    if (bits > BM_HZ_MAX_PARTITION_BITS)
        return bm_fail(error, BOUMA_EINVAL,
                       "grid \"%s\" has %d partitions; 65536 is the most",
                       o->name, n);
    if (bits > block_bits)
        return bm_fail(error, BOUMA_EINVAL,
                       "grid \"%s\" has %d partitions, more than the 2^%d "
                       "samples of a block",
                       o->name, n, block_bits);
    if (bits > hz->bits - block_bits)
        return bm_fail(error, BOUMA_EINVAL,
                       "grid \"%s\" has %d partitions, more than its 2^%d "
                       "blocks",
                       o->name, n, hz->bits - block_bits);
    return BOUMA_OK;
}

int bm_grid_hz_partition(struct bm_object *o, const bouma_grid_spec *spec)
{
    struct bm_grid_hz *own = o->own;
    int rc = BOUMA_ENOMEM;

    own->blocks.partition_bits = bm_grid_hz_partition_bits(spec);
    if (spec->hz_index != BOUMA_HZ_INDEX_LOCAL)
        return BOUMA_OK;
    own->local = bm_new(o->a, 1, sizeof(*own->local));
    if (own->local)
        rc = bm_hz_local_init(own->local, o->a, &own->blocks,
                              own->blocks.partition_bits);
    return rc ? bm_fail(o->schema->error, rc, "grid \"%s\": no memory", o->name)
              : BOUMA_OK;
}
