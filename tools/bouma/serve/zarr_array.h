/* zarr_array.h -- an array as Zarr describes it, in versions 2 and 3, and the
 * keys of its chunks. Chunks are plain bytes, little-endian, in C order, which
 * every client reads; HTTP compresses them. Pure functions. */
#ifndef SERVE_ZARR_ARRAY_H
#define SERVE_ZARR_ARRAY_H

#include "json_out.h"

#define ZARR_AXES 5

struct zarr_array {
    int ndims;
    int64_t shape[ZARR_AXES], chunk[ZARR_AXES];
    const char *names[ZARR_AXES]; /* of the axes */
    bouma_type type;
    bool has_fill;  /* chunks may be missing: NaN, or 0 of integers */
    bool has_slash; /* version 2: keys are 0/1/2, else 0.1.2 */
};

/* One more axis, behind the others. */
void zarr_add_axis(struct zarr_array *array, const char *name, int64_t shape,
                   int64_t chunk);

/* The values of .zarray; and the members of zarr.json but "attributes". */
void zarr_put_v2(struct json_out *out, const struct zarr_array *array);
void zarr_put_v3(struct json_out *out, const struct zarr_array *array);

/* Which chunk the last parts of a path are: "0.1.2", or "0", "1", "2". False if
 * the array has no such chunk. */
bool zarr_chunk_find(int64_t *out, const struct zarr_array *array,
                     const char *const *parts, size_t count);

/* How many values along each axis a chunk really has: fewer at the end. */
void zarr_chunk_shape(int64_t *out, const struct zarr_array *array,
                      const int64_t *chunk);

/* Bytes of a chunk, padded. */
uint64_t zarr_chunk_bytes(const struct zarr_array *array);

/* Move values of 'shape' to their places in a whole chunk, which is zeros
 * before. */
void zarr_chunk_pad(void *to, const void *from, const struct zarr_array *array,
                    const int64_t *shape);

/* A chunk of a grid: along each axis some patches (of patch[] samples at this
 * level), about 64 x 64 x 64 samples, within 'most' bytes if a sample has
 * 'bytes', and not beyond the shape. */
void zarr_choose_chunk(int64_t *out, int ndims, const int64_t *shape,
                       const int64_t *patch, uint64_t bytes, uint64_t most);

#endif
