/* array.h -- arrays of callers: where their samples are, of which type, and how
 * they come here or go there if the processor cannot use them as they are. */
#ifndef BM_ARRAY_H
#define BM_ARRAY_H

#include "base/convert.h"
#include "base/remote.h"
#include "layout/object.h"
#include "plan/chunking.h"

/* Samples along three axes: the first of them, and the bytes to the next. The
 * array of a box at level k has strides from one sample of that level to the
 * next. A put only reads it. */
struct bm_array {
    bouma_type type; /* of the values in it */
    int rounds;      /* values that the other type does not have */
    uint8_t *data;
    int64_t stride[3];
    int64_t component_stride;
    const int64_t *apart; /* [components]: bytes from 'data' to each; NULL: they
                             are a component_stride apart */
    struct bm_remote remote;
};

/* The bytes from 'data' to a component. */
static inline int64_t bm_array_at(const struct bm_array *a, int component)
{
    return a->apart ? a->apart[component] : component * a->component_stride;
}
static inline uint8_t *bm_array_component(const struct bm_array *a,
                                          int component)
{
    return a->data + bm_array_at(a, component);
}

/* Whether samples can be used where they are, as those of a variable. */
static inline int bm_array_is_plain(const struct bm_array *a,
                                    const struct bouma_variable *v)
{
    return a->type == v->type && !a->remote.copy;
}

/* Set the strides to those of 'given' (NULL: dense, of the array's type) for a
 * variable's samples, so many along each axis. */
void bm_array_lay_out(struct bm_array *out, const bouma_array *given,
                      const struct bouma_variable *variable,
                      const int64_t shape[3]);

/* A dense one in 'data', of the variable's type: a sample's components side by
 * side, or one component after the other. */
struct bm_array bm_array_dense(const struct bouma_variable *v, uint8_t *data,
                               const int64_t count[3]);
struct bm_array bm_array_planar(const struct bouma_variable *v, uint8_t *data,
                                const int64_t count[3]);

/* The samples of a footprint, out of an array for those of 'all', which has
 * them: as an array of their own. */
struct bm_array bm_array_part(const struct bm_array *a,
                              const struct bm_footprint *all,
                              const struct bm_footprint *part);

/* Samples of a variable that are in an array, or are to be there: those of a
 * footprint. */
struct bm_cutout {
    const struct bouma_variable *variable;
    struct bm_array array;
    struct bm_footprint samples;
};

/* The bytes of room that a cutout of so many samples needs. */
size_t bm_cutout_room(const struct bm_array *a, const struct bouma_variable *v,
                      uint64_t samples);

/* Bring the samples of a cutout that is not plain into 'room', of the
 * variable's type: *out is where they are there. EINVAL if a value does not
 * fit, EABORTED if the caller's function fails; with a message. */
int bm_cutout_fetch(struct bm_array *out, const struct bm_cutout *w,
                    uint8_t *room, struct bm_error *error);

/* Bring samples of the variable's type to a cutout that is not plain. */
int bm_cutout_store(const struct bm_cutout *w, const struct bm_array *from,
                    uint8_t *room, struct bm_error *error);

/* The next part of 'all', with 'most' samples at the most; the first, if *part
 * has none. 0 if there is none. */
int bm_footprint_next(struct bm_footprint *part, const struct bm_footprint *all,
                      uint64_t most);

#endif
