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
    at[2] = patch % t->count[2];
    patch /= t->count[2];
    at[1] = patch % t->count[1];
    at[0] = patch / t->count[1];
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

/* Walk the implicit 2^n-tree over the patches, children in Morton order, and
 * leave out what lies outside: the order without sorting. 'size' is a node's
 * edge in patches. The stack holds at most 7 waiting siblings per depth. */
void bm_tiling_order(const struct bm_tiling *t, int64_t *order)
{
    struct node {
        int64_t at[3], size;
    } stack[64 * 7 + 1];
    int depth = 0;
    int64_t n = 0, root = 1;

    for (int d = 0; d < 3; d++)
        while (root < t->count[d])
            root *= 2;
    stack[depth++] = (struct node){{0, 0, 0}, root};
    while (depth) {
        struct node node = stack[--depth];

        if (node.size == 1) {
            order[n++] = bm_tiling_index(t, node.at);
            continue;
        }
        node.size /= 2;
        /* Pushed last to first, so that the first comes off first. */
        for (int child = 7; child >= 0; child--) {
            struct node next = node;
            int outside = 0;

            for (int d = 0; d < 3; d++) {
                if (child >> (2 - d) & 1)
                    next.at[d] += node.size;
                outside |= next.at[d] >= t->count[d];
            }
            if (!outside)
                stack[depth++] = next;
        }
    }
}
