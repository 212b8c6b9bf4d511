/* chunking.c -- see chunking.h. */
#include "plan/chunking.h"

uint64_t bm_footprint_samples(const struct bm_footprint *f)
{
    uint64_t n = 1;

    for (int d = 0; d < 3; d++)
        n *= (uint64_t)f->count[d];
    return n;
}

struct bm_footprint bm_footprint_of_box(const struct bm_box *box)
{
    struct bm_footprint f;

    for (int d = 0; d < 3; d++) {
        f.start[d] = box->lo[d];
        f.count[d] = box->hi[d] > box->lo[d] ? box->hi[d] - box->lo[d] : 0;
        f.shift[d] = 0;
    }
    return f;
}

struct bm_box bm_footprint_bounds(const struct bm_footprint *f)
{
    struct bm_box box;

    for (int d = 0; d < 3; d++) {
        box.lo[d] = f->start[d];
        box.hi[d] =
            f->start[d] + (f->count[d] - 1) * ((int64_t)1 << f->shift[d]) + 1;
    }
    return box;
}

struct bm_footprint bm_footprint_cut(const struct bm_footprint *f,
                                     const struct bm_box *part)
{
    struct bm_footprint out = *f;

    for (int d = 0; d < 3; d++) {
        out.start[d] += part->lo[d] * ((int64_t)1 << f->shift[d]);
        out.count[d] =
            part->hi[d] > part->lo[d] ? part->hi[d] - part->lo[d] : 0;
    }
    return out;
}

struct bm_footprint bm_footprint_common(const struct bm_footprint *a,
                                        const struct bm_footprint *b)
{
    struct bm_footprint out = *a;

    for (int d = 0; d < 3; d++) {
        const struct bm_footprint *wide = a->shift[d] > b->shift[d] ? a : b;
        const struct bm_footprint *near = wide == a ? b : a;
        int64_t step = (int64_t)1 << wide->shift[d], unit;
        int64_t end = wide->start[d] + wide->count[d] * step;
        int64_t near_end;

        unit = (int64_t)1 << near->shift[d];
        near_end = near->start[d] + near->count[d] * unit;
        out.shift[d] = wide->shift[d];
        out.start[d] = wide->start[d];
        if (near->start[d] > wide->start[d]) /* up to its first one or beyond */
            out.start[d] +=
                (near->start[d] - wide->start[d] + step - 1) & ~(step - 1);
        end = end < near_end ? end : near_end;
        out.count[d] = (wide->start[d] - near->start[d]) & (unit - 1) ||
                               end <= out.start[d]
                           ? 0
                           : ((end - out.start[d] - 1) >> out.shift[d]) + 1;
    }
    return out;
}

struct bm_footprint bm_footprint_at_level(const struct bm_footprint *f,
                                          int level)
{
    struct bm_footprint out = *f;

    for (int d = 0; d < 3; d++) {
        int shift = f->shift[d] < level ? f->shift[d] : level;
        int64_t last =
            f->start[d] + (f->count[d] - 1) * ((int64_t)1 << f->shift[d]);

        if (f->start[d] & (((int64_t)1 << shift) - 1)) {
            out.count[d] = 0; /* all lie between multiples */
        } else if (f->shift[d] < level) {
            out.shift[d] = level;
            out.start[d] =
                (((f->start[d] - 1) >> level) + 1) * ((int64_t)1 << level);
            out.count[d] =
                last < out.start[d] ? 0 : ((last - out.start[d]) >> level) + 1;
        }
    }
    return out;
}

/* ---- on the order -------------------------------------------------------- */

void bm_chunking_list(const struct bm_chunking *c, int64_t first, int64_t count,
                      struct bm_listed_chunk *out)
{
    if (c->calls->list) {
        c->calls->list(c->own, first, count, out);
        return;
    }
    for (int64_t i = 0; i < count; i++)
        out[i] = (struct bm_listed_chunk){
            first + i, c->calls->key(c->own, first + i),
            c->calls->footprint(c->own, first + i)};
}

int64_t bm_chunking_list_groups(const struct bm_chunking *c, int64_t first,
                                int64_t count, struct bm_chunk_group *out)
{
    if (c->calls->list_groups)
        return c->calls->list_groups(c->own, first, count, out);
    for (int64_t i = 0; i < count; i++) {
        out[i].count = 1;
        bm_chunking_list(c, first + i, 1, &out[i].first);
    }
    return count;
}

int64_t bm_chunking_position(const struct bm_chunking *c, int64_t chunk)
{
    return c->calls->position ? c->calls->position(c->own, chunk) : chunk;
}

/* ---- patches ------------------------------------------------------------- */

/* How far a patch goes along an axis. */
static inline int64_t extent_from(const struct bm_tiling *t, int d,
                                  int64_t start)
{
    int64_t left = t->shape[d] - start;

    return left < t->edge[d] ? left : t->edge[d];
}

/* All at once: a struct that is filled bit by bit is copied, and the copy waits
 * for what was just stored. */
static inline struct bm_footprint footprint_at(const struct bm_tiling *t,
                                               const int64_t at[3])
{
    int64_t z = at[0] * t->edge[0], y = at[1] * t->edge[1];
    int64_t x = at[2] * t->edge[2];

    return (struct bm_footprint){
        {z, y, x},
        {extent_from(t, 0, z), extent_from(t, 1, y), extent_from(t, 2, x)},
        {0, 0, 0}};
}

static struct bm_footprint footprint_of_patch(const void *own, int64_t patch)
{
    int64_t at[3];

    bm_tiling_at(own, patch, at);
    return footprint_at(own, at);
}

static void touched_patches(const void *own, const struct bm_box *box,
                            int level, bm_chunk_run each, void *context)
{
    const struct bm_tiling *t = own;
    struct bm_box over = bm_tiling_meeting(t, box);
    int64_t at[3] = {0, 0, over.lo[2]}, run = over.hi[2] - over.lo[2];

    (void)level; /* all patches have samples of most levels */
    for (at[0] = over.lo[0]; at[0] < over.hi[0]; at[0]++)
        for (at[1] = over.lo[1]; at[1] < over.hi[1]; at[1]++) {
            int64_t first = bm_tiling_index(t, at);

            each(context, first, first + run);
        }
}

static uint64_t key_of_patch(const void *own, int64_t patch)
{
    return bm_tiling_key(own, patch);
}

static int64_t find_patch(const void *own, uint64_t key)
{
    return bm_tiling_find(own, key);
}

static void order_patches(const void *own, int64_t *order)
{
    bm_tiling_order(own, order);
}

static void list_one(struct bm_listed_chunk *out, const struct bm_tiling *t,
                     const int64_t at[3], uint64_t key)
{
    out->chunk = bm_tiling_index(t, at);
    out->key = key;
    out->footprint = footprint_at(t, at);
}

/* Whether it is the first of eight patches in a cube that lies inside. */
static int begins_cube(const struct bm_tiling *t, const int64_t at[3])
{
    return t->ndims == 3 && !((at[0] | at[1] | at[2]) & 1) &&
           at[0] + 1 < t->count[0] && at[1] + 1 < t->count[1] &&
           at[2] + 1 < t->count[2];
}

/* Most patches are in such cubes. */
static void list_patches(const void *own, int64_t first, int64_t count,
                         struct bm_listed_chunk *out)
{
    const struct bm_tiling *t = own;
    struct bm_tiling_walk walk;
    int64_t i = 0;

    bm_tiling_walk_from(&walk, t, first);
    while (i < count) {
        if (count - i >= 8 && begins_cube(t, walk.at)) {
            for (int k = 0; k < 7; k++) {
                int64_t at[3] = {walk.at[0] + (k >> 2),
                                 walk.at[1] + (k >> 1 & 1),
                                 walk.at[2] + (k & 1)};

                list_one(&out[i++], t, at, walk.key + (uint64_t)k);
            }
            for (int d = 0; d < 3; d++)
                walk.at[d]++;
            walk.key += 7;
        }
        list_one(&out[i++], t, walk.at, walk.key);
        if (i < count)
            bm_tiling_walk_on(&walk, t);
    }
}

/* Such a cube is a group if none of its patches is smaller than others. */
static int64_t list_groups(const void *own, int64_t first, int64_t count,
                           struct bm_chunk_group *out)
{
    const struct bm_tiling *t = own;
    struct bm_tiling_walk walk;
    int64_t groups = 0;

    bm_tiling_walk_from(&walk, t, first);
    for (int64_t i = 0; i < count;) {
        struct bm_chunk_group *g = &out[groups++];
        int whole = count - i >= BM_CHUNK_GROUP && begins_cube(t, walk.at);

        list_one(&g->first, t, walk.at, walk.key);
        for (int d = 0; d < 3; d++)
            whole &=
                g->first.footprint.start[d] + 2 * t->edge[d] <= t->shape[d];
        g->count = whole ? BM_CHUNK_GROUP : 1;
        for (int d = 0; d < 3; d++) {
            g->axis[d] = 2 - d;
            g->step[d] = d ? g->step[d - 1] * t->count[3 - d] : 1;
            walk.at[d] += whole;
        }
        walk.key += (uint64_t)g->count - 1;
        i += g->count;
        if (i < count)
            bm_tiling_walk_on(&walk, t);
    }
    return groups;
}

static int64_t position_of_patch(const void *own, int64_t patch)
{
    return bm_tiling_position(own, patch);
}

struct bm_chunking bm_chunking_of_tiling(const struct bm_tiling *t)
{
    static const struct bm_chunking_functions calls = {
        .footprint = footprint_of_patch,
        .touched = touched_patches,
        .key = key_of_patch,
        .find = find_patch,
        .order = order_patches,
        .list = list_patches,
        .list_groups = list_groups,
        .position = position_of_patch,
    };

    return (struct bm_chunking){&calls, t, t->patches, 0, 0};
}
