/* grid_hz.c -- see grid_hz.h. */
#include "layout/grid_hz.h"

#include <stdio.h>
#include <string.h>

#include "layout/grid_idx.h"

enum { BLOCK_BITS = 15, MOST_BLOCK_BITS = 30, BLOCKS_PER_FILE = 512 };

/* Added to the order in a schema: partitions have an index each; blocks have
 * wavelet coefficients; files are those of IDX, too. */
enum { LOCAL_FLAG = 32, WAVELET_FLAG = 64, IDX_FLAG = 128 };

#define MOST_SAMPLES ((int64_t)1 << 40) /* along an axis */

/* ---- schema -------------------------------------------------------------- */

static int max_levels(const struct bm_hz *hz)
{
    int most = 0;

    for (int d = 0; d < 3; d++)
        most = hz->count[d] > most ? hz->count[d] : most;
    return most + 1 < BM_MAX_LEVELS ? most + 1 : BM_MAX_LEVELS;
}

/* What is wrong with the numbers of a spec, as the end of a sentence, or NULL.
 */
static const char *check_spec(const bouma_grid_spec *spec)
{
    for (int d = 0; d < spec->ndims; d++) {
        if (spec->shape[d] < 1)
            return "has an axis without samples";
        if (spec->shape[d] > MOST_SAMPLES)
            return "has an axis of more than 2^40 samples";
        if (spec->patch[d])
            return "is in HZ order, which has no patches";
    }
    if (spec->hz_block_bits < 0 || spec->hz_block_bits > MOST_BLOCK_BITS)
        return "needs hz_block_bits from 1 to 30";
    if (spec->hz_blocks_per_file < 0)
        return "has a negative hz_blocks_per_file";
    if (spec->hz_order && !bouma_hz_order_name(spec->hz_order))
        return "has an hz_order that is neither BOUMA_HZ_ORDER_ROWS nor "
               "BOUMA_HZ_ORDER_CURVE";
    if (spec->hz_index && !bouma_hz_index_name(spec->hz_index))
        return "has an hz_index that is neither BOUMA_HZ_INDEX_GLOBAL nor "
               "BOUMA_HZ_INDEX_LOCAL";
    /* A tile would be transformed for its partition, and again for blocks that
     * several have samples in. */
    if (spec->hz_wavelet && spec->hz_partitions > 1)
        return "has both partitions and wavelet coefficients, which do not go "
               "together";
    return NULL;
}

static int find_template(struct bm_hz *hz, const struct bm_object *o,
                         const bouma_grid_spec *spec)
{
    struct bm_error why = {0};
    int64_t shape[3];
    int rc;

    if (spec->hz_template) {
        rc = bm_hz_parse(hz, spec->hz_template, o->ndims, o->domain.hi, &why);
        if (!rc && spec->idx && !bm_grid_idx_has_axes(hz, o->ndims))
            rc = bm_fail(&why, BOUMA_EINVAL,
                         "the template \"%s\" does not have all axes, and IDX "
                         "needs each of them at least once",
                         spec->hz_template);
        return rc ? bm_fail(o->schema->error, rc, "grid \"%s\": %s", o->name,
                            why.text)
                  : BOUMA_OK;
    }
    memcpy(shape, o->domain.hi, sizeof(shape));
    if (spec->idx)
        bm_grid_idx_shape(shape, o);
    rc = bm_hz_from_shape(hz, shape, BM_HZ_LONGEST);
    return rc ? bm_fail(o->schema->error, rc,
                        "grid \"%s\" has more samples than an HZ order of 62 "
                        "bits covers",
                        o->name)
              : BOUMA_OK;
}

/* A step can have so many files, and to number those that have samples takes
 * memory and time for each: of all grids together, which a file may list. */
static int count_files(struct bm_object *o, int64_t most)
{
    int64_t others = o->schema->fixed_files;

    if (most > BM_HZ_MAX_FILES - others)
        return bm_fail(o->schema->error, BOUMA_EINVAL,
                       "grid \"%s\"%s would need more than 2^20 files; choose "
                       "more blocks a file",
                       o->name, others ? " and those before it" : "");
    o->schema->fixed_files += most;
    ((struct bm_grid_hz *)o->own)->most_files = most;
    return BOUMA_OK;
}

static int64_t most_files(const bouma_grid_spec *spec, const struct bm_hz *hz,
                          int bits, int64_t blocks)
{
    return spec->hz_index == BOUMA_HZ_INDEX_LOCAL
               ? bm_hz_local_most_files(hz, bits, blocks,
                                        bm_grid_hz_partition_bits(spec))
               : bm_hz_blocks_most_files(hz, bits, blocks);
}

static int make_blocks(struct bm_object *o, const struct bm_hz *hz,
                       const bouma_grid_spec *spec)
{
    struct bm_grid_hz *own = o->own;
    int bits = spec->hz_block_bits ? spec->hz_block_bits : BLOCK_BITS;
    int64_t blocks =
        spec->hz_blocks_per_file ? spec->hz_blocks_per_file : BLOCKS_PER_FILE;
    int rc;

    if (!spec->hz_block_bits && bits > hz->bits)
        bits = hz->bits;
    if (bits > hz->bits)
        return bm_fail(o->schema->error, BOUMA_EINVAL,
                       "grid \"%s\" has blocks of 2^%d samples, more than the "
                       "2^%d that its template covers",
                       o->name, bits, hz->bits);
    own->idx = spec->idx;
    own->order = spec->hz_order ? spec->hz_order
                 : spec->idx    ? BOUMA_HZ_ORDER_CURVE
                                : BOUMA_HZ_ORDER_ROWS;
    rc = bm_grid_hz_check_partitions(o, spec, hz, bits);
    if (!rc)
        rc = count_files(o, most_files(spec, hz, bits, blocks));
    if (rc)
        return rc;
    rc = bm_hz_blocks_init(&own->blocks, o->a, hz, o->domain.hi, bits, blocks);
    return rc ? bm_fail(o->schema->error, rc, "grid \"%s\": no memory", o->name)
              : bm_grid_hz_partition(o, spec);
}

static int define(struct bm_object *o, const void *wanted)
{
    const bouma_grid_spec *spec = wanted;
    struct bm_error *error = o->schema->error;
    const char *wrong;
    struct bm_hz hz;
    int rc;

    o->own = bm_new(o->a, 1, sizeof(struct bm_grid_hz));
    if (!o->own)
        return bm_fail(error, BOUMA_ENOMEM, "grid \"%s\": no memory", o->name);
    rc = bm_schema_set_axes(o, spec);
    if (rc)
        return rc;
    wrong = check_spec(spec);
    if (!wrong)
        wrong = bm_grid_idx_check(o->name, spec);
    if (wrong)
        return bm_fail(error, BOUMA_EINVAL, "grid \"%s\" %s", o->name, wrong);
    for (int d = 0; d < 3; d++)
        o->domain.hi[d] =
            d < 3 - o->ndims ? 1 : spec->shape[d - (3 - o->ndims)];
    rc = find_template(&hz, o, spec);
    if (!rc)
        rc = make_blocks(o, &hz, spec);
    wrong = rc ? NULL : bm_grid_hz_set_wavelet(o->own, spec);
    if (wrong)
        rc = bm_fail(error, BOUMA_EINVAL, "grid \"%s\" %s", o->name, wrong);
    if (!rc && (spec->levels < 0 || spec->levels > max_levels(&hz)))
        rc = bm_fail(error, BOUMA_EINVAL,
                     "grid \"%s\" has %d levels, but its template allows 1 to "
                     "%d",
                     o->name, spec->levels, max_levels(&hz));
    o->levels = spec->levels ? spec->levels : max_levels(&hz);
    return rc;
}

static void release(struct bm_object *o)
{
    struct bm_grid_hz *own = o->own;

    if (own) {
        o->schema->fixed_files -= own->most_files;
        if (own->local)
            bm_hz_local_release(own->local);
        bm_drop(o->a, own->local);
        bm_hz_blocks_release(&own->blocks);
    }
    bm_drop(o->a, own);
    o->own = NULL;
}

static void encode(struct bm_buffer *b, const struct bm_object *o)
{
    const struct bm_grid_hz *own = bm_grid_hz_of(o);
    char text[BM_HZ_BITS + 1];

    for (int d = 0; d < o->ndims; d++) {
        bm_put_i64(b, o->domain.hi[3 - o->ndims + d]);
        bm_put_f64(b, o->origin[d]);
        bm_put_f64(b, o->spacing[d]);
    }
    bm_hz_text(text, &own->blocks.hz);
    bm_put_text(b, text);
    bm_put_u8(b, (uint8_t)own->blocks.block_bits);
    bm_put_u8(b, (uint8_t)((int)own->order | (own->local ? LOCAL_FLAG : 0) |
                           (own->wavelet ? WAVELET_FLAG : 0) |
                           (own->idx ? IDX_FLAG : 0)));
    bm_put_u32(b, (uint32_t)own->blocks.blocks_per_file);
    if (own->local)
        bm_put_u8(b, (uint8_t)own->local->bits);
    if (own->wavelet)
        bm_put_u8(b, (uint8_t)own->tile_bits);
}

/* What follows if the flag is set. To files, other partitions do not matter. */
static void decode_partitions(bouma_grid_spec *spec, struct bm_cursor *c)
{
    int bits = bm_get_u8(c);

    c->failed |= bits < 1 || bits > BM_HZ_MAX_PARTITION_BITS;
    spec->hz_partitions = c->failed ? 0 : 1 << bits;
    spec->hz_index = BOUMA_HZ_INDEX_LOCAL;
}

/* Bytes say what a caller could have said, and go through the same checks; of
 * what a caller may leave out, only the block of a single sample is 0. */
static int decode(struct bm_object *o, struct bm_cursor *c)
{
    bouma_grid_spec spec = {.size = sizeof(spec)};
    int no_memory = 0, order, rc;
    uint32_t blocks;
    char *text;

    spec.ndims = o->ndims;
    spec.levels = o->levels;
    for (int d = 0; d < o->ndims; d++) {
        spec.shape[d] = bm_get_i64(c);
        spec.origin[d] = bm_get_f64(c);
        spec.spacing[d] = bm_get_f64(c);
        if (spec.spacing[d] == 0)
            return BOUMA_EFORMAT;
    }
    text = bm_get_text(c, o->a, &no_memory);
    spec.hz_template = text;
    spec.hz_block_bits = bm_get_u8(c);
    order = bm_get_u8(c);
    spec.idx = (order & IDX_FLAG) != 0;
    spec.hz_order =
        (bouma_hz_order)(order & ~(LOCAL_FLAG | WAVELET_FLAG | IDX_FLAG));
    blocks = bm_get_u32(c);
    if (order & LOCAL_FLAG)
        decode_partitions(&spec, c);
    spec.hz_wavelet = (order & WAVELET_FLAG) != 0;
    spec.hz_tile_bits = spec.hz_wavelet ? bm_get_u8(c) : 0;
    spec.hz_blocks_per_file = (int)(blocks & INT32_MAX);
    if (no_memory)
        rc = BOUMA_ENOMEM;
    else
        rc = c->failed || !text || !blocks || blocks > INT32_MAX ||
                     !spec.hz_order || (!spec.hz_block_bits && *text) ||
                     (spec.hz_wavelet && !spec.hz_tile_bits && *text)
                 ? BOUMA_EFORMAT
                 : define(o, &spec);
    bm_drop(o->a, text);
    return rc;
}

static const char *check_variable(const struct bm_object *o,
                                  const bouma_variable_spec *spec,
                                  int components)
{
    uint64_t values = (uint64_t)1 << bm_grid_hz_of(o)->blocks.block_bits;

    if (values >
        BM_MAX_CHUNK / bouma_type_size(spec->type) / (uint64_t)components)
        return "has blocks of more than 1 GiB; choose a smaller "
               "'hz_block_bits'";
    return bm_grid_is_idx(o) ? bm_grid_idx_check_variable(o, spec, components)
                             : NULL;
}

static bouma_codec exact_codec(const struct bm_object *o)
{
    return bm_grid_is_idx(o) ? BOUMA_CODEC_RAW : BOUMA_CODEC_ZSTD;
}

static int complete(const struct bm_object *o)
{
    (void)o;
    return 1;
}

/* How a grid is stored, in words. */
static void storage_text(char *text, size_t bytes, const struct bm_object *o)
{
    const struct bm_grid_hz *own = bm_grid_hz_of(o);
    char template[BM_HZ_BITS + 1], wavelet[48] = "";

    bm_hz_text(template, &own->blocks.hz);
    if (own->wavelet)
        snprintf(wavelet, sizeof(wavelet), ", wavelet in tiles of 2^%d",
                 own->tile_bits);
    snprintf(
        text, bytes,
        "template %s, blocks of 2^%d, %lld in a file, order %s, %d levels, "
        "%lld index spaces (%s)%s%s",
        template, own->blocks.block_bits,
        (long long)own->blocks.blocks_per_file, bouma_hz_order_name(own->order),
        o->levels, own->local ? 1LL << own->local->bits : 1LL,
        bouma_hz_index_name(own->local ? BOUMA_HZ_INDEX_LOCAL
                                       : BOUMA_HZ_INDEX_GLOBAL),
        wavelet, own->idx ? ", idx" : "");
}

static int differs(char *text, size_t bytes, const struct bm_object *mine,
                   const struct bm_object *root, int me)
{
    char mine_box[128], root_box[128], mine_storage[256], root_storage[256];

    bm_box_text(mine_box, sizeof(mine_box), &mine->domain, mine->ndims);
    bm_box_text(root_box, sizeof(root_box), &root->domain, root->ndims);
    storage_text(mine_storage, sizeof(mine_storage), mine);
    storage_text(root_storage, sizeof(root_storage), root);
    if (strcmp(mine_box, root_box))
        snprintf(text, bytes, "rank %d has grid \"%s\" as %s, rank 0 as %s", me,
                 mine->name, mine_box, root_box);
    else if (strcmp(mine_storage, root_storage))
        snprintf(text, bytes, "rank %d has grid \"%s\" with %s; rank 0 with %s",
                 me, mine->name, mine_storage, root_storage);
    else
        return 0;
    return 1;
}

static void info(const struct bm_object *o, bouma_grid_info *out)
{
    const struct bm_grid_hz *own = bm_grid_hz_of(o);

    for (int d = 0; d < o->ndims; d++)
        out->patch[d] = own->blocks.span[3 - o->ndims + d];
    bm_hz_text(out->hz_template, &own->blocks.hz);
    out->hz_block_bits = own->blocks.block_bits;
    out->hz_blocks_per_file = (int)own->blocks.blocks_per_file;
    out->hz_order = own->order;
    out->hz_partitions = 1 << (own->local ? own->local->bits : 0);
    out->hz_index = own->local ? BOUMA_HZ_INDEX_LOCAL : BOUMA_HZ_INDEX_GLOBAL;
    out->hz_wavelet = own->wavelet;
    out->hz_tile_bits = own->wavelet ? own->tile_bits : 0;
    out->idx = own->idx;
}

/* ---- chunks -------------------------------------------------------------- */

static uint64_t most_values(const struct bm_object *o)
{
    return (uint64_t)1 << bm_grid_hz_of(o)->blocks.block_bits;
}

static struct bm_chunking chunking(const struct bm_object *o)
{
    const struct bm_grid_hz *own = bm_grid_hz_of(o);

    return own->local ? bm_hz_local_chunking(own->local)
                      : bm_hz_blocks_chunking(&own->blocks);
}

static int has_chunk(const struct bm_object *o, const struct bm_summary *s,
                     uint64_t key)
{
    struct bm_chunking c = chunking(o);

    (void)s;
    return c.calls->find(c.own, key) >= 0;
}

static uint64_t values_of(const struct bm_object *o, const struct bm_summary *s,
                          uint64_t key, uint64_t values[BM_MAX_LEVELS])
{
    const struct bm_grid_hz *own = bm_grid_hz_of(o);
    struct bm_footprint f = bm_grid_hz_footprint(own, key);
    uint64_t samples = bm_footprint_samples(&f);

    (void)s;
    /* Along the curve, blocks are filled up. */
    values[0] = own->order == BOUMA_HZ_ORDER_CURVE
                    ? (uint64_t)1 << bm_grid_hz_inside(own, key).bits
                    : samples;
    return samples;
}

static void text_of(char *text, size_t bytes, const struct bm_object *o,
                    uint64_t key)
{
    struct bm_box box = bm_chunk_bounds(o, key);
    char region[160];

    bm_box_text(region, sizeof(region), &box, o->ndims);
    snprintf(text, bytes, "block %llu in %s", (unsigned long long)key, region);
}

static struct bm_limits chunks(const struct bm_object *o,
                               const struct bm_summary *s)
{
    (void)s;
    return (struct bm_limits){1, (uint64_t)chunking(o).count};
}

static struct bm_limits samples(const struct bm_object *o,
                                const struct bm_summary *s)
{
    (void)s;
    return (struct bm_limits){0, bm_box_volume(&o->domain)};
}

const struct bm_layout bm_layout_grid_hz = {
    .kind = BM_GRID,
    .code = BOUMA_LAYOUT_HZ,
    .pieces = 1,
    .scattered = 1,
    .use = BM_FOR_FIELDS,
    .lossy = BOUMA_CODEC_INTERP,
    .define = define,
    .release = release,
    .encode_schema = encode,
    .decode_schema = decode,
    .exact_codec = exact_codec,
    .check_variable = check_variable,
    .complete = complete,
    .differs = differs,
    .info = info,
    .most_values = most_values,
    .has_chunk = has_chunk,
    .values = values_of,
    .text = text_of,
    .chunks = chunks,
    .samples = samples,
    .chunking = chunking,
    .encode_begin = bm_grid_hz_encode_begin,
    .take = bm_grid_hz_take,
    .encode_pieces = bm_grid_hz_encode,
    .decode_begin = bm_grid_hz_decode_begin,
    .decode_piece = bm_grid_hz_decode,
    .ranges = bm_grid_hz_ranges,
    .sample_bytes = bm_grid_hz_sample_bytes,
    .keep = bm_grid_hz_keep,
    .give = bm_grid_hz_give,
    .tiles = &bm_grid_hz_tiles,
    .front = &bm_grid_idx_front,
};
