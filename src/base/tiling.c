/* tiling.c -- see tiling.h. */
#include "base/tiling.h"

void bm_tiling_edges(int64_t *edge, int ndims, const int64_t *shape,
                     const int64_t *wanted)
{
    static const int64_t usual[3] = {65536, 256, 64};

    for (int d = 0; d < ndims; d++) {
        edge[d] = wanted[d] ? wanted[d] : usual[ndims - 1];
        if (edge[d] <= 0 || (edge[d] & (edge[d] - 1)))
            continue;
        while (edge[d] > 1 && edge[d] / 2 >= shape[d])
            edge[d] /= 2;
    }
}

const char *bm_tiling_init(struct bm_tiling *t, int ndims, const int64_t *shape,
                           const int64_t *edge)
{
    uint64_t samples = 1;

    if (ndims < 1 || ndims > 3)
        return "must have 1 to 3 axes";
    t->ndims = ndims;
    t->patches = 1;
    for (int d = 0; d < 3; d++)
        t->shape[d] = t->edge[d] = t->count[d] = 1;
    for (int d = 0; d < ndims; d++) {
        int axis = 3 - ndims + d;

        if (shape[d] < 1)
            return "has an axis with no samples";
        if (shape[d] >= BM_MAX_EXTENT)
            return "has an axis of 2^40 samples or more";
        if (edge[d] < 1 || (edge[d] & (edge[d] - 1)) ||
            edge[d] >= BM_MAX_EXTENT)
            return "has a patch edge that is not a power of two";
        if (__builtin_mul_overflow(samples, (uint64_t)shape[d], &samples) ||
            samples >= BM_MAX_SAMPLES)
            return "has 2^62 samples or more";
        t->shape[axis] = shape[d];
        t->edge[axis] = edge[d];
        t->count[axis] = (shape[d] - 1) / edge[d] + 1;
        if (t->count[axis] >> bm_morton_bits(ndims) ||
            __builtin_mul_overflow(t->patches, t->count[axis], &t->patches) ||
            t->patches > BM_MAX_PATCHES)
            return "has too many patches; choose larger ones";
    }
    return NULL;
}

int bm_tiling_levels(const struct bm_tiling *t)
{
    uint64_t samples;
    int levels = 0;

    do {
        samples = 1;
        levels++;
        for (int d = 0; d < 3; d++) {
            int64_t n = t->edge[d] >> levels;

            samples *= n ? (uint64_t)n : 1;
        }
    } while (samples >= 64);
    return levels;
}

void bm_tiling_at(const struct bm_tiling *t, int64_t patch, int64_t at[3])
{
    /* There are fewer than 2^32, and such divisions are the faster ones. */
    uint32_t left = (uint32_t)patch, ny = (uint32_t)t->count[1],
             nx = (uint32_t)t->count[2], row = left / nx;

    at[2] = left - row * nx;
    at[0] = row / ny;
    at[1] = row - (uint32_t)at[0] * ny;
}

int64_t bm_tiling_index(const struct bm_tiling *t, const int64_t at[3])
{
    return (at[0] * t->count[1] + at[1]) * t->count[2] + at[2];
}

struct bm_box bm_tiling_box(const struct bm_tiling *t, const int64_t at[3])
{
    struct bm_box box;

    for (int d = 0; d < 3; d++) {
        box.lo[d] = at[d] * t->edge[d];
        box.hi[d] = box.lo[d] + t->edge[d];
        if (box.hi[d] > t->shape[d])
            box.hi[d] = t->shape[d];
    }
    return box;
}

struct bm_box bm_tiling_patch_box(const struct bm_tiling *t, int64_t patch)
{
    int64_t at[3];

    bm_tiling_at(t, patch, at);
    return bm_tiling_box(t, at);
}

struct bm_box bm_tiling_domain(const struct bm_tiling *t)
{
    struct bm_box box = {{0, 0, 0}, {t->shape[0], t->shape[1], t->shape[2]}};

    return box;
}

uint64_t bm_tiling_key(const struct bm_tiling *t, int64_t patch)
{
    int64_t at[3];

    bm_tiling_at(t, patch, at);
    return bm_morton(at, t->ndims);
}

int64_t bm_tiling_find(const struct bm_tiling *t, uint64_t key)
{
    int64_t at[3];

    if (key >> 63)
        return -1;
    bm_morton_invert(at, key, t->ndims);
    for (int d = 0; d < 3; d++)
        if (at[d] < 0 || at[d] >= t->count[d])
            return -1;
    if (bm_morton(at, t->ndims) != key)
        return -1;
    return bm_tiling_index(t, at);
}

struct bm_box bm_tiling_meeting(const struct bm_tiling *t,
                                const struct bm_box *box)
{
    struct bm_box out;

    for (int d = 0; d < 3; d++) {
        out.lo[d] = box->lo[d] / t->edge[d];
        out.hi[d] = (box->hi[d] - 1) / t->edge[d] + 1;
    }
    return out;
}

/* ---- the order ----------------------------------------------------------- */

/* The implicit tree over the patches: a node is a cube of 2^n patches along
 * each axis, of which some may lie outside; its children come in Morton order.
 * So the order needs no sorting. */

/* The child of a node, of 'size' patches along each axis; 0 if all of it lies
 * outside. */
static int child_of(int64_t out[3], const struct bm_tiling *t,
                    const int64_t at[3], int64_t size, int child)
{
    for (int d = 0; d < 3; d++) {
        out[d] = at[d] + (child >> (2 - d) & 1 ? size : 0);
        if (out[d] >= t->count[d])
            return 0;
    }
    return 1;
}

/* Patches of a node that do not lie outside. */
static int64_t count_patches(const struct bm_tiling *t, const int64_t at[3],
                             int64_t size)
{
    int64_t n = 1;

    for (int d = 0; d < 3; d++)
        n *= t->count[d] - at[d] < size ? t->count[d] - at[d] : size;
    return n;
}

/* The root has so many patches along each axis. */
static int64_t root_size(const struct bm_tiling *t)
{
    int64_t size = 1;

    for (int d = 0; d < 3; d++)
        while (size < t->count[d])
            size *= 2;
    return size;
}

int64_t bm_tiling_position(const struct bm_tiling *t, int64_t patch)
{
    int64_t at[3], node[3] = {0, 0, 0}, position = 0;

    bm_tiling_at(t, patch, at);
    for (int64_t size = root_size(t) / 2; size; size /= 2) {
        int64_t next[3];
        int own = 0;

        for (int d = 0; d < 3; d++)
            own |= (at[d] & size ? 1 : 0) << (2 - d);
        for (int child = 0; child < own; child++)
            if (child_of(next, t, node, size, child))
                position += count_patches(t, next, size);
        child_of(node, t, node, size, own);
    }
    return position;
}

void bm_tiling_walk_from(struct bm_tiling_walk *w, const struct bm_tiling *t,
                         int64_t position)
{
    int64_t node[3] = {0, 0, 0};

    for (int64_t size = root_size(t) / 2; size; size /= 2) {
        int64_t next[3] = {0, 0, 0};

        for (int child = 0; child < 8; child++) {
            int64_t inside = child_of(next, t, node, size, child)
                                 ? count_patches(t, next, size)
                                 : 0;

            if (position < inside)
                break;
            position -= inside;
        }
        for (int d = 0; d < 3; d++)
            node[d] = next[d];
    }
    for (int d = 0; d < 3; d++)
        w->at[d] = node[d];
    w->key = bm_morton(w->at, t->ndims);
}

/* Up to a node with a child after this one that is not outside, and down to its
 * first patch. */
void bm_tiling_walk_on(struct bm_tiling_walk *w, const struct bm_tiling *t)
{
    for (int up = 0;; up++) {
        int64_t size = (int64_t)1 << up, node[3], next[3];
        int own = 0;

        for (int d = 0; d < 3; d++) {
            own |= (int)(w->at[d] >> up & 1) << (2 - d);
            node[d] = w->at[d] & -(2 * size);
        }
        for (int child = own + 1; child < 8; child++)
            if (child_of(next, t, node, size, child)) {
                for (int d = 0; d < 3; d++)
                    w->at[d] = next[d];
                w->key = t->ndims < 3
                             ? bm_morton(w->at, t->ndims)
                             : (w->key >> 3 * up >> 3 << 3 | (uint64_t)child)
                                   << 3 * up;
                return;
            }
    }
}

void bm_tiling_order(const struct bm_tiling *t, int64_t *order)
{
    struct bm_tiling_walk walk;

    bm_tiling_walk_from(&walk, t, 0);
    for (int64_t i = 0; i < t->patches; i++) {
        order[i] = bm_tiling_index(t, walk.at);
        if (i + 1 < t->patches)
            bm_tiling_walk_on(&walk, t);
    }
}
