/* patch.c -- see patch.h. Components are stored one after the other within a
 * level: they compress better, and a codec sees one field at a time. */
#include "layout/patch.h"

#include <string.h>

void bm_patch_init(struct bm_patch *p, const struct bouma_variable *variable,
                   int64_t patch)
{
    p->box = bm_tiling_patch_box(bm_tiling_of(variable->object), patch);
    p->levels = variable->object->levels;
    p->components = variable->components;
    p->size = bm_variable_value_size(variable);
    for (int k = 0; k < p->levels; k++) {
        p->lattice[k] = bm_lattice_of(&p->box, k);
        p->values[k] = k == p->levels - 1 ? bm_lattice_samples(&p->lattice[k])
                                          : bm_lattice_details(&p->lattice[k]);
    }
}

size_t bm_patch_level_bytes(const struct bm_patch *p, int level)
{
    return (size_t)p->values[level] * p->size * (size_t)p->components;
}

size_t bm_patch_bytes(const struct bm_patch *p)
{
    return (size_t)bm_lattice_samples(&p->lattice[0]) * p->size *
           (size_t)p->components;
}

/* Samples of one component at a level, in bytes; 0 past the coarsest. */
static size_t dense_bytes(const struct bm_patch *p, int level)
{
    return level < p->levels
               ? (size_t)bm_lattice_samples(&p->lattice[level]) * p->size
               : 0;
}

/* All components at level 1, and two more for one at level 2 and beyond. The
 * reader, which begins at any level, needs less. */
size_t bm_patch_scratch_bytes(const struct bm_patch *p)
{
    return dense_bytes(p, 1) * (size_t)(p->components > 2 ? p->components : 2) +
           dense_bytes(p, 2) * 2 + 1;
}

/* ---- writing ------------------------------------------------------------ */

/* The part of a patch that lies in 'from', and where its data begins. */
static int part_of(struct bm_strided *part, const uint8_t **data,
                   const struct bm_patch *p, const struct bm_memory_box *from)
{
    struct bm_box box;

    if (!bm_box_meet(&box, &p->box, &from->box))
        return 0;
    *data = from->array.data;
    for (int d = 0; d < 3; d++) {
        part->lo[d] = box.lo[d] - p->box.lo[d];
        part->hi[d] = box.hi[d] - p->box.lo[d];
        part->stride[d] = from->array.stride[d];
        *data += (box.lo[d] - from->box.lo[d]) * from->array.stride[d];
    }
    return 1;
}

void bm_patch_take(const struct bm_patch *p, const struct bm_memory_box *from,
                   uint8_t *const level[], uint8_t *scratch)
{
    const struct bm_lattice *l = &p->lattice[0];
    struct bm_strided part;
    const uint8_t *data;

    if (!part_of(&part, &data, p, from))
        return;
    for (int c = 0; c < p->components; c++) {
        const uint8_t *first = data + bm_array_at(&from->array, c);
        uint8_t *details = level[0] + (size_t)c * p->values[0] * p->size;

        if (p->levels == 1)
            bm_lattice_pack(l, p->size, &part, first, details);
        else
            bm_lattice_split(l, p->size, &part, first, details,
                             scratch + (size_t)c * dense_bytes(p, 1));
    }
}

void bm_patch_take_dense(const struct bm_patch *p,
                         const struct bm_memory_box *from, uint8_t *dense)
{
    struct bm_strided part;
    const uint8_t *data;

    if (!part_of(&part, &data, p, from))
        return;
    for (int c = 0; c < p->components; c++)
        bm_lattice_pack(&p->lattice[0], p->size, &part,
                        data + bm_array_at(&from->array, c),
                        dense + (size_t)c * dense_bytes(p, 0));
}

void bm_patch_fill_coarser(const struct bm_patch *p, uint8_t *const level[],
                           uint8_t *scratch)
{
    uint8_t *spare = scratch + dense_bytes(p, 1) * (size_t)p->components;

    for (int c = 0; c < p->components && p->levels > 1; c++) {
        const uint8_t *dense = scratch + (size_t)c * dense_bytes(p, 1);

        for (int k = 1; k < p->levels; k++) {
            uint8_t *details = level[k] + (size_t)c * p->values[k] * p->size;
            struct bm_strided whole = bm_lattice_whole(&p->lattice[k], p->size);
            /* Two buffers in turn, each large enough for level 2. */
            uint8_t *coarse = spare + (k & 1 ? 0 : dense_bytes(p, 2));

            if (k == p->levels - 1)
                memcpy(details, dense, dense_bytes(p, k));
            else
                bm_lattice_split(&p->lattice[k], p->size, &whole, dense,
                                 details, coarse);
            dense = coarse;
        }
    }
}

void bm_patch_ranges(const struct bm_patch *p, bouma_type type,
                     uint8_t *const level[], struct bm_range *ranges)
{
    memset(ranges, 0, sizeof(*ranges) * (size_t)p->components);
    for (int c = 0; c < p->components; c++)
        for (int k = 0; k < p->levels; k++)
            bm_range_add(&ranges[c], type,
                         level[k] + (size_t)c * p->values[k] * p->size,
                         (size_t)p->values[k]);
}

void bm_patch_dense_ranges(const struct bm_patch *p, bouma_type type,
                           const uint8_t *dense, struct bm_range *ranges)
{
    size_t samples = (size_t)bm_lattice_samples(&p->lattice[0]);

    memset(ranges, 0, sizeof(*ranges) * (size_t)p->components);
    for (int c = 0; c < p->components; c++)
        bm_range_add(&ranges[c], type, dense + (size_t)c * samples * p->size,
                     samples);
}

struct bm_field bm_patch_field(const struct bm_patch *p,
                               const struct bouma_variable *variable)
{
    struct bm_field f = {.codec = bm_codec_find((int)variable->codec),
                         .type = variable->type,
                         .components = p->components,
                         .size = p->size,
                         .levels = p->levels,
                         .lattice = p->lattice,
                         .bound = variable->bound,
                         .effort = variable->effort,
                         .nominal = variable->nominal};

    return f;
}

/* ---- reading ------------------------------------------------------------ */

size_t bm_patch_dense_bytes(const struct bm_patch *p, int level)
{
    return dense_bytes(p, level) * (size_t)p->components;
}

int bm_patch_window(struct bm_window *out, const struct bm_patch *p, int level,
                    const struct bm_box *clip)
{
    struct bm_lattice l;
    struct bm_box box;

    if (!bm_box_meet(&box, &p->box, clip))
        return 0;
    l = bm_lattice_of(&box, level);
    for (int d = 0; d < 3; d++) {
        out->lo[d] = l.start[d] - p->lattice[level].start[d];
        out->hi[d] = out->lo[d] + l.count[d];
    }
    return 1;
}

void bm_patch_merge(const struct bm_patch *p, const struct bm_patch_samples *s,
                    const struct bm_window *wanted, uint8_t *dense)
{
    const struct bm_lattice *l = &p->lattice[s->level];
    struct bm_strided part = bm_lattice_whole(l, p->size);
    size_t bytes = dense_bytes(p, s->level), first = 0;

    if (!s->detail || s->level == p->levels - 1) {
        const uint8_t *from = s->detail ? s->detail : s->dense;

        memcpy(dense, from, bytes * (size_t)p->components);
        return;
    }
    for (int d = 0; wanted && d < 3; d++) {
        if (wanted->lo[d] >= wanted->hi[d])
            return;
        part.lo[d] = wanted->lo[d];
        part.hi[d] = wanted->hi[d];
        first += (size_t)(wanted->lo[d] * part.stride[d]);
    }
    for (int c = 0; c < p->components; c++)
        bm_lattice_merge(l, p->size, &part, dense + (size_t)c * bytes + first,
                         s->detail + (size_t)c * p->values[s->level] * p->size,
                         s->dense + (size_t)c * dense_bytes(p, s->level + 1));
}

void bm_patch_give(const struct bm_patch *p, const struct bm_patch_samples *s,
                   const struct bm_box *clip, const struct bm_level_memory *to)
{
    const struct bm_lattice *l = &p->lattice[s->level];
    uint8_t *first = to->array.data;
    struct bm_lattice wanted;
    struct bm_strided part;
    struct bm_box box;

    if (!bm_box_meet(&box, &p->box, clip))
        return;
    wanted = bm_lattice_of(&box, s->level);
    for (int d = 0; d < 3; d++) {
        if (wanted.count[d] <= 0)
            return;
        part.lo[d] = wanted.start[d] - l->start[d];
        part.hi[d] = part.lo[d] + wanted.count[d];
        part.stride[d] = to->array.stride[d];
        first += (wanted.start[d] - to->first[d]) * to->array.stride[d];
    }
    for (size_t c = 0; c < (size_t)p->components; c++) {
        size_t details = c * (size_t)p->values[s->level] * p->size;
        uint8_t *data = first + bm_array_at(&to->array, (int)c);

        if (!s->detail)
            bm_lattice_unpack(l, p->size, &part, data,
                              s->dense + c * dense_bytes(p, s->level));
        else if (s->level == p->levels - 1)
            bm_lattice_unpack(l, p->size, &part, data, s->detail + details);
        else
            bm_lattice_merge(l, p->size, &part, data, s->detail + details,
                             s->dense + c * dense_bytes(p, s->level + 1));
    }
}
