/* grid_idx.c -- see grid_idx.h. */
#include "layout/grid_idx.h"

#include <string.h>

#include "layout/head.h"

int bm_grid_is_idx(const struct bm_object *o)
{
    return o->layout == &bm_layout_grid_hz && bm_grid_hz_of(o)->idx;
}

int bm_schema_has_idx(const struct bm_schema *schema)
{
    for (int i = 0; i < schema->count; i++)
        if (bm_grid_is_idx(schema->objects[i]))
            return 1;
    return 0;
}

/* ---- what it can have ---------------------------------------------------- */

const char *bm_grid_idx_check(const char *name, const bouma_grid_spec *spec)
{
    if (spec->idx != 0 && spec->idx != 1)
        return "has an 'idx' that is neither 0 nor 1";
    if (!spec->idx)
        return NULL;
    if (spec->ndims < 2)
        return "has one axis, and IDX has 2 or 3; leave 'idx' out";
    if (spec->hz_order == BOUMA_HZ_ORDER_ROWS)
        return "has BOUMA_HZ_ORDER_ROWS, but the blocks of IDX are in the "
               "order of "
               "the curve; leave 'hz_order' or 'idx' out";
    if (spec->hz_index == BOUMA_HZ_INDEX_LOCAL)
        return "has BOUMA_HZ_INDEX_LOCAL, but IDX has one index of the whole "
               "grid; "
               "leave 'hz_index' or 'idx' out";
    if (spec->hz_wavelet)
        return "has wavelet coefficients, which IDX does not know; leave "
               "'hz_wavelet' or 'idx' out";
    return bm_idx_check_name(name)
               ? "has a name that is none for an IDX dataset: up to 128 bytes "
                 "without blanks, %, $, # and .idx, and no dot in front"
               : NULL;
}

static uint64_t block_bytes(const struct bm_grid_hz *own, bouma_type type,
                            int components)
{
    return (uint64_t)bouma_type_size(type) * (uint64_t)components
           << own->blocks.block_bits;
}

const char *bm_grid_idx_check_variable(const struct bm_object *o,
                                       const bouma_variable_spec *spec,
                                       int components)
{
    const struct bm_grid_hz *own = bm_grid_hz_of(o);
    uint64_t per_file = (uint64_t)own->blocks.blocks_per_file;
    uint64_t possible = (uint64_t)1
                        << (own->blocks.hz.bits - own->blocks.block_bits);
    uint64_t blocks = per_file < possible ? per_file : possible;
    uint64_t front = bm_idx_front_bytes(o->count + 1, (int64_t)per_file);
    uint64_t left = BM_IDX_FILE_LIMIT;

    if (spec->tolerance > 0)
        return "has a tolerance, but its grid has 'idx', and its blocks are "
               "raw; leave one of them out";
    if (spec->codec && spec->codec != BOUMA_CODEC_RAW)
        return "has a codec that IDX does not know: with 'idx' it must be raw; "
               "leave one of them out, or write the grid with `bouma export "
               "--format idx`, which has zip and lz4";
    if (front > BM_MAX_FRONT_BYTES)
        return "has too many headers of blocks in a file; choose a smaller "
               "'hz_blocks_per_file'";
    left -= front;
    for (int i = 0; i <= o->count; i++) {
        uint64_t bytes = i < o->count
                             ? block_bytes(own, o->variables[i]->type,
                                           o->variables[i]->components)
                             : block_bytes(own, spec->type, components);

        if (bytes > left / blocks)
            return "makes files of more than 4 GiB, which PIDX cannot read; "
                   "choose a smaller 'hz_blocks_per_file'";
        left -= bytes * blocks;
    }
    return NULL;
}

void bm_grid_idx_shape(int64_t out[3], const struct bm_object *o)
{
    for (int d = 0; d < 3; d++)
        out[d] = d >= 3 - o->ndims && o->domain.hi[d] < 2 ? 2 : o->domain.hi[d];
}

int bm_grid_idx_has_axes(const struct bm_hz *hz, int ndims)
{
    for (int d = 3 - ndims; d < 3; d++)
        if (!hz->count[d])
            return 0;
    return 1;
}

/* ---- files --------------------------------------------------------------- */

static uint64_t front_bytes(const struct bm_object *o)
{
    const struct bm_grid_hz *own = bm_grid_hz_of(o);

    return own->idx ? bm_idx_front_bytes(o->count, own->blocks.blocks_per_file)
                    : 0;
}

static int field_of(const struct bm_object *o, const struct bouma_variable *v)
{
    return (int)(v->id - o->variables[0]->id);
}

static void fill(uint8_t *out, const struct bm_head *h,
                 const struct bm_object *o)
{
    int64_t per_file = bm_grid_hz_of(o)->blocks.blocks_per_file;

    for (size_t i = 0; i < h->count; i++) {
        const struct bm_section *s = &h->sections[i];

        for (size_t k = 0; k < s->count; k++) {
            struct bm_idx_block block = {s->offsets[k], s->sizes[k], 0};

            bm_idx_put_block(out, per_file, field_of(o, s->variable),
                             s->keys[k] % (uint64_t)per_file, &block);
        }
    }
}

const struct bm_front_functions bm_grid_idx_front = {.bytes = front_bytes,
                                                     .fill = fill};

int bm_grid_idx_file(char out[BM_IDX_FILE_BYTES], const struct bm_object *o,
                     uint64_t first)
{
    const struct bm_hz_blocks *blocks = &bm_grid_hz_of(o)->blocks;

    return bm_idx_file_name(out, blocks->hz.bits - blocks->block_bits, first);
}

int64_t bm_grid_idx_files(const struct bm_object *o)
{
    return bm_grid_hz_of(o)->blocks.files;
}

uint64_t bm_grid_idx_first(const struct bm_object *o, int64_t i)
{
    return bm_hz_blocks_file_start(&bm_grid_hz_of(o)->blocks, i);
}

uint64_t bm_grid_idx_first_with(const struct bm_object *o, uint64_t block)
{
    return block - block % (uint64_t)bm_grid_hz_of(o)->blocks.blocks_per_file;
}

/* ---- the header ---------------------------------------------------------- */

int bm_grid_idx_header(struct bm_buffer *out, const struct bm_object *o,
                       const int64_t *steps, size_t count)
{
    const struct bm_hz_blocks *blocks = &bm_grid_hz_of(o)->blocks;
    struct bm_idx_field *fields =
        bm_new(o->a, (size_t)o->count, sizeof(*fields));
    struct bm_idx_text t = {
        .name = o->name,
        .ndims = o->ndims,
        .placed = 1,
        .bits = blocks->hz.bits,
        .axis = blocks->hz.axis,
        .block_bits = blocks->block_bits,
        .blocks_per_file = blocks->blocks_per_file,
        .fields = fields,
        .field_count = o->count,
        .codec = "raw",
        .steps = steps,
        .step_count = count,
    };

    if (!fields)
        return BOUMA_ENOMEM;
    memcpy(t.shape, o->domain.hi, sizeof(t.shape));
    for (int d = 0; d < o->ndims; d++) {
        t.origin[3 - o->ndims + d] = o->origin[d];
        t.spacing[3 - o->ndims + d] = o->spacing[d];
        t.placed = t.placed && o->spacing[d] > 0; /* IDX has no others */
    }
    for (int i = 0; i < o->count; i++)
        fields[i] =
            (struct bm_idx_field){o->variables[i]->name, o->variables[i]->type,
                                  o->variables[i]->components};
    bm_idx_put_header(out, &t);
    bm_drop(o->a, fields);
    return out->failed ? BOUMA_ENOMEM : BOUMA_OK;
}
