/* fuzz_whole.c -- a small dataset in memory, changed as the input says: open
 * it, read everything, verify it, mend it, and look again. The input is
 *
 *     flags | (operation, file, offset u16, value)... | rest
 *
 * and the rest asks for one of three datasets. An odd number of bytes (1 or 3):
 * the one that has the codecs wavelet and exact, particles whose values
 * are all quantised, and in its second step subfiles with stored offsets. 4
 * bytes: the one with two grids in HZ order. Checksums are then made right, as
 * the flags say: of chunks in the heads, of heads in the manifests, and of both
 * in themselves. */
#include <math.h>
#include <stdio.h>

#include "../helpers/arrays.h"
#include "bouma.h"
#include "columns.h"
#include "condition.h"
#include "fuzz_help.h"
#include "layout/head.h"
#include "layout/particle_summary.h"
#include "store/index.h"
#include "store/store.h"

/* Of subfiles, half have grids and half have particles; or each half has one of
 * two grids. */
enum { STEPS = 2, SUBFILES = 4, ROWS = 11, COLUMNS = 9, MAX_ROOM = 1 << 14 };
enum { DATASETS = 3, DEPTH = 6, HEIGHT = 5, WIDTH = 9 };
enum { PARTICLES = 90, MAX_LEVELS = 512 };

/* DATASET, index, and a manifest and subfiles for each step. */
enum { AT_DATASET, AT_INDEX, AT_STEPS, PER_STEP = 1 + SUBFILES };
enum { FILES = AT_STEPS + STEPS * PER_STEP };

enum flags {
    FIX_CHUNKS = 1,
    COPY_HEADS = 2,
    FIX_HEADS = 4,
    FIX_MANIFESTS = 8,
    FIX_OTHERS = 16,
    UNPUBLISHED = 32, /* the last manifest has its temporary name */
    WITHOUT_MANIFEST = 64,
    WITHOUT_INDEX = 128
};

struct content {
    uint8_t bytes[MAX_ROOM];
    size_t size;
};

/* A chunk level of the original. */
struct level {
    int file;
    uint64_t offset, hash;
    uint32_t bytes;
    struct bm_address address;
    size_t hash_at;     /* in the head */
    size_t manifest_at; /* of a tree: in the manifest, too; else 0 */
};

static struct original {
    struct content files[FILES];
    struct level levels[MAX_LEVELS];
    int level_count;
} originals[DATASETS];

static struct content changed[FILES];
static float warm[STEPS][ROWS][COLUMNS];
static double cold[STEPS][ROWS][COLUMNS];
static uint16_t pairs[STEPS][ROWS][COLUMNS][2];
static float positions[PARTICLES][2];
static double masses[PARTICLES];
static int16_t kinds_of[PARTICLES][2];
static float waves[STEPS][DEPTH][HEIGHT][WIDTH];
static double pairs_of_waves[STEPS][DEPTH][HEIGHT][WIDTH][2];
static int32_t whole[STEPS][DEPTH][HEIGHT][WIDTH];

static void name_of(char *name, int file)
{
    int step = (file - AT_STEPS) / PER_STEP;
    int which = (file - AT_STEPS) % PER_STEP;
    struct bm_generation g = {1, (uint32_t)step + 1};

    if (file == AT_DATASET)
        snprintf(name, BM_NAME_BYTES, BM_NAME_DATASET);
    else if (file == AT_INDEX)
        snprintf(name, BM_NAME_BYTES, BM_NAME_INDEX);
    else if (which == 0)
        bm_name_manifest(name, (uint64_t)step);
    else
        bm_name_subfile(name, (uint64_t)step, (uint32_t)which - 1, g);
}

/* ---- the original ------------------------------------------------------- */

static void define_particles(bouma_particles **out, bouma_variable **v,
                             bouma_dataset *ds)
{
    bouma_particles_spec spec = {.size = sizeof(spec), .ndims = 2, .leaf = 8};
    bouma_variable_spec mass = {
        .size = sizeof(mass), .type = BOUMA_TYPE_F64, .tolerance = 0.01};
    bouma_variable_spec kind = {.size = sizeof(kind),
                                .type = BOUMA_TYPE_I16,
                                .components = 2,
                                .codec = BOUMA_CODEC_RAW};

    HOLDS(!bouma_particles_define(out, ds, "p", &spec));
    HOLDS(!bouma_particles_define_variable(&v[1], *out, "mass", &mass));
    HOLDS(!bouma_particles_define_variable(&v[2], *out, "kind", &kind));
    v[0] = bouma_particles_position(*out);
    for (int i = 0; i < PARTICLES; i++) {
        positions[i][0] = i % 30 == 4 ? (float)NAN : (float)(i * 7 % 90) / 8;
        positions[i][1] = (float)(i * 11 % 90) / 16;
        masses[i] = i % 20 == 3 ? (double)NAN : i * 0.125;
        kinds_of[i][0] = (int16_t)(i % 5);
        kinds_of[i][1] = (int16_t)(-100 * i);
    }
}

static void put_particles(bouma_particles *p, bouma_variable **v, int step)
{
    struct test_column columns[3] = {{.variable = v[0], .data = positions},
                                     {.variable = v[1], .data = masses},
                                     {.variable = v[2], .data = kinds_of}};

    HOLDS(!test_put_particles(p, (uint64_t)(PARTICLES - 20 * step), columns, 3,
                              NULL));
}

static void write_original(bouma_options *options)
{
    bouma_grid_spec shape = {.size = sizeof(shape),
                             .ndims = 2,
                             .shape = {ROWS, COLUMNS},
                             .patch = {8, 4},
                             .levels = 3};
    bouma_variable_spec kinds[3] = {
        {.size = sizeof(*kinds), .type = BOUMA_TYPE_F32, .unit = "K"},
        {.size = sizeof(*kinds),
         .type = BOUMA_TYPE_U16,
         .components = 2,
         .codec = BOUMA_CODEC_RAW},
        {.size = sizeof(*kinds),
         .type = BOUMA_TYPE_F64,
         .tolerance = 1e-3,
         .tolerance_kind = BOUMA_TOLERANCE_RELATIVE}};
    bouma_box all = {.hi = {ROWS, COLUMNS}};
    bouma_variable *v[3], *attributes[3];
    bouma_particles *p;
    bouma_dataset *ds;
    bouma_grid *g;

    memcpy(options->id, fuzz_id, 16);
    options->files = SUBFILES / 2;
    HOLDS(!bouma_dataset_create(&ds, "d", options));
    HOLDS(!bouma_attributes_set_number(bouma_dataset_attributes(ds), "n", 1));
    HOLDS(!bouma_grid_define(&g, ds, "g", &shape));
    HOLDS(!bouma_variable_define(&v[0], g, "a", &kinds[0]));
    HOLDS(!bouma_variable_define(&v[1], g, "b", &kinds[1]));
    HOLDS(!bouma_variable_define(&v[2], g, "c", &kinds[2]));
    HOLDS(!bouma_attributes_set_text(bouma_grid_attributes(g), "t", "text"));
    define_particles(&p, attributes, ds);
    for (int s = 0; s < STEPS; s++) {
        for (int y = 0; y < ROWS; y++)
            for (int x = 0; x < COLUMNS; x++) {
                warm[s][y][x] = (float)(s + y / 3);
                cold[s][y][x] = y * x == 6 ? NAN : 1. / (1 + s + y * x);
                pairs[s][y][x][0] = (uint16_t)(s * 300 + y * x);
                pairs[s][y][x][1] = (uint16_t)(y + x);
            }
        HOLDS(!bouma_step_begin(ds, s, s));
        HOLDS(!test_put(v[0], &all, warm[s]));
        HOLDS(!test_put(v[1], &all, pairs[s]));
        HOLDS(!test_put(v[2], &all, cold[s]));
        put_particles(p, attributes, s);
        HOLDS(!bouma_step_end(ds));
    }
    HOLDS(!bouma_dataset_close(ds));
    bouma_dataset_free(ds);
}

/* ---- the other original ---------------------------------------------------
 */

static void define_quantised(bouma_particles **out, bouma_variable **v,
                             bouma_dataset *ds)
{
    bouma_particles_spec spec = {
        .size = sizeof(spec), .ndims = 2, .leaf = 8, .tolerance = 1e-3};
    bouma_variable_spec mass = {
        .size = sizeof(mass), .type = BOUMA_TYPE_F64, .tolerance = 0.01};
    bouma_variable_spec pace = {.size = sizeof(pace),
                                .type = BOUMA_TYPE_F32,
                                .components = 2,
                                .tolerance = 0.25};

    HOLDS(!bouma_particles_define(out, ds, "q", &spec));
    HOLDS(!bouma_particles_define_variable(&v[1], *out, "mass", &mass));
    HOLDS(!bouma_particles_define_variable(&v[2], *out, "pace", &pace));
    v[0] = bouma_particles_position(*out);
}

static void put_quantised(bouma_particles *p, bouma_variable **v, int step)
{
    struct test_column columns[3] = {{.variable = v[0], .data = positions},
                                     {.variable = v[1], .data = masses},
                                     {.variable = v[2], .data = positions}};

    HOLDS(!test_put_particles(p, (uint64_t)(PARTICLES - 20 * step), columns, 3,
                              NULL));
}

static void fill_waves(int s)
{
    for (int z = 0; z < DEPTH; z++)
        for (int y = 0; y < HEIGHT; y++)
            for (int x = 0; x < WIDTH; x++) {
                double wave = sin(0.3 * (x + 2 * y - z) + s);

                waves[s][z][y][x] = x * y * z == 12 ? NAN : (float)wave;
                pairs_of_waves[s][z][y][x][0] = wave * 1e-3;
                pairs_of_waves[s][z][y][x][1] = x * y;
                whole[s][z][y][x] = x == 3 ? INT32_MIN : 100 * y - z + s;
            }
}

static void write_other(bouma_options *options)
{
    bouma_grid_spec shape = {.size = sizeof(shape),
                             .ndims = 3,
                             .shape = {DEPTH, HEIGHT, WIDTH},
                             .patch = {4, 4, 8},
                             .levels = 3};
    bouma_variable_spec kinds[4] = {{.size = sizeof(*kinds),
                                     .type = BOUMA_TYPE_F32,
                                     .codec = BOUMA_CODEC_WAVELET,
                                     .tolerance = 1e-2},
                                    {.size = sizeof(*kinds),
                                     .type = BOUMA_TYPE_F64,
                                     .components = 2,
                                     .codec = BOUMA_CODEC_WAVELET,
                                     .tolerance = 1e-4},
                                    {.size = sizeof(*kinds),
                                     .type = BOUMA_TYPE_F32,
                                     .codec = BOUMA_CODEC_EXACT},
                                    {.size = sizeof(*kinds),
                                     .type = BOUMA_TYPE_I32,
                                     .codec = BOUMA_CODEC_EXACT}};
    static const char *const names[4] = {"w", "x", "y", "z"};
    bouma_box all = {.hi = {DEPTH, HEIGHT, WIDTH}};
    bouma_variable *v[4], *attributes[3];
    bouma_particles *p;
    bouma_dataset *ds;
    bouma_grid *g;

    memcpy(options->id, fuzz_id, 16);
    options->files = SUBFILES / 2;
    options->predict = BOUMA_PREDICT_ON;
    HOLDS(!bouma_dataset_create(&ds, "d", options));
    HOLDS(!bouma_grid_define(&g, ds, "g", &shape));
    for (int i = 0; i < 4; i++)
        HOLDS(!bouma_variable_define(&v[i], g, names[i], &kinds[i]));
    define_quantised(&p, attributes, ds);
    for (int s = 0; s < STEPS; s++) {
        fill_waves(s);
        HOLDS(!bouma_step_begin(ds, s, s));
        HOLDS(!test_put(v[0], &all, waves[s]));
        HOLDS(!test_put(v[1], &all, pairs_of_waves[s]));
        HOLDS(!test_put(v[2], &all, waves[s]));
        HOLDS(!test_put(v[3], &all, whole[s]));
        put_quantised(p, attributes, s);
        HOLDS(!bouma_step_end(ds));
    }
    HOLDS(!bouma_dataset_close(ds));
    bouma_dataset_free(ds);
}

/* ---- grids in HZ order ----------------------------------------------------
 */

/* Two files each: blocks in rows, in two partitions that have an index each, of
 * which one has no samples; and along the curve, with wavelet coefficients. Both
 * have blocks that lack samples, and addresses without blocks. */
static void define_hz(bouma_variable *v[2][3], bouma_dataset *ds)
{
    bouma_grid_spec shapes[2] = {{.size = sizeof(*shapes),
                                  .ndims = 2,
                                  .shape = {ROWS, COLUMNS},
                                  .levels = 3,
                                  .layout = BOUMA_LAYOUT_HZ,
                                  .hz_template = "yyxxyxxyy",
                                  .hz_block_bits = 4,
                                  .hz_blocks_per_file = 16,
                                  .hz_partitions = 2,
                                  .hz_index = BOUMA_HZ_INDEX_LOCAL},
                                 {.size = sizeof(*shapes),
                                  .ndims = 2,
                                  .shape = {ROWS, COLUMNS},
                                  .levels = 3,
                                  .layout = BOUMA_LAYOUT_HZ,
                                  .hz_block_bits = 5,
                                  .hz_blocks_per_file = 4,
                                  .hz_order = BOUMA_HZ_ORDER_CURVE,
                                  .hz_wavelet = 1,
                                  .hz_tile_bits = 6}};
    bouma_variable_spec kinds[3] = {
        {.size = sizeof(*kinds), .type = BOUMA_TYPE_F32},
        {.size = sizeof(*kinds),
         .type = BOUMA_TYPE_U16,
         .components = 2,
         .codec = BOUMA_CODEC_RAW},
        {.size = sizeof(*kinds), .type = BOUMA_TYPE_F64, .tolerance = 1e-3}};
    static const char *const names[3] = {"a", "b", "c"};

    for (int i = 0; i < 2; i++) {
        bouma_grid *g;

        HOLDS(!bouma_grid_define(&g, ds, i ? "curve" : "rows", &shapes[i]));
        for (int j = 0; j < 3; j++)
            HOLDS(!bouma_variable_define(&v[i][j], g, names[j], &kinds[j]));
    }
}

static void write_hz(bouma_options *options)
{
    bouma_box all = {.hi = {ROWS, COLUMNS}};
    bouma_variable *v[2][3];
    bouma_dataset *ds;

    memcpy(options->id, fuzz_id, 16);
    HOLDS(!bouma_dataset_create(&ds, "d", options));
    define_hz(v, ds);
    for (int s = 0; s < STEPS; s++) { /* values are there already */
        HOLDS(!bouma_step_begin(ds, s, s));
        for (int i = 0; i < 2; i++) {
            HOLDS(!test_put(v[i][0], &all, warm[s]));
            HOLDS(!test_put(v[i][1], &all, pairs[s]));
            HOLDS(!test_put(v[i][2], &all, cold[s]));
        }
        HOLDS(!bouma_step_end(ds));
    }
    HOLDS(!bouma_dataset_close(ds));
    bouma_dataset_free(ds);
}

/* ---- as bytes -------------------------------------------------------------
 */

static void load_original(struct original *o, bouma_io *io)
{
    void *root, *file;

    HOLDS(!io->attach(io->user, &root, "d", 0));
    for (int i = 0; i < FILES; i++) {
        char name[BM_NAME_BYTES];

        name_of(name, i);
        HOLDS(!io->open(io->user, root, &file, name, BOUMA_OPEN_MODE_READ));
        HOLDS(!io->read(io->user, file, o->files[i].bytes, MAX_ROOM, 0,
                        &o->files[i].size));
        HOLDS(o->files[i].size < MAX_ROOM / 2);
        io->close(io->user, file);
    }
    io->detach(io->user, root);
}

static size_t head_bytes(const struct content *c)
{
    uint64_t body = c->size < 64 ? 0 : bm_load_u64(c->bytes + 16);

    return c->size < 64 || body > c->size - 64 ? 0 : (size_t)body + 64;
}

/* Where some bytes are in a file, or its size. */
static size_t find(const struct content *c, const void *bytes, size_t n)
{
    size_t at = 0;

    while (at + n <= c->size && memcmp(c->bytes + at, bytes, n))
        at++;
    return at + n <= c->size ? at : c->size;
}

/* The checksum of a tree stands in the head and in the manifest. */
static void record_tree(struct original *o, int file,
                        const struct bm_summary *s, uint64_t step)
{
    const struct bm_particle_summary *summary = bm_particle_summary_of(s);
    int manifest = AT_STEPS + (int)step * PER_STEP;
    uint8_t hash[4];

    HOLDS(o->level_count < MAX_LEVELS);
    bm_store_u32(hash, summary->tree_hash);
    o->levels[o->level_count++] =
        (struct level){file,
                       s->index_offset,
                       summary->tree_hash,
                       (uint32_t)summary->tree_bytes,
                       {fuzz_id, step, 1, (uint32_t)step + 1,
                        summary->set->variables[0]->id, 0, BM_INDEX_LEVEL},
                       find(&o->files[file], hash, 4),
                       find(&o->files[manifest], hash, 4)};
}

static void record_levels(struct original *o, int file)
{
    const struct content *c = &o->files[file];
    uint64_t step = (uint64_t)((file - AT_STEPS) / PER_STEP);
    struct bm_head_bytes from = {c->bytes, head_bytes(c), c->size,
                                 NULL,     "head",        NULL};
    struct bm_error error = {0};
    struct bm_schema schema;
    struct bm_head h;

    bm_schema_init(&schema, bm_allocator_default(), &error);
    bm_head_init(&h, bm_allocator_default());
    HOLDS(!bm_head_decode(&h, NULL, &schema, &from, &error));
    HOLDS(h.has_offsets ==
          (o == &originals[1] && step == 1 && !h.summaries.count));
    for (size_t s = 0; s < h.count; s++)
        for (size_t k = 0; k < h.sections[s].count; k++)
            for (int l = 0; l < h.sections[s].levels; l++) {
                const struct bm_section *section = &h.sections[s];
                size_t at = k * (size_t)section->levels + (size_t)l;
                uint8_t hash[4];

                HOLDS(o->level_count < MAX_LEVELS);
                bm_store_u32(hash, section->hashes[at]);
                o->levels[o->level_count++] = (struct level){
                    file,
                    section->offsets[at],
                    section->hashes[at],
                    section->sizes[at],
                    {fuzz_id, step, 1, (uint32_t)step + 1,
                     section->variable->id, section->keys[k], (uint32_t)l},
                    find(c, hash, 4),
                    0};
            }
    for (size_t i = 0; i < h.summaries.count; i++)
        record_tree(o, file, h.summaries.entries[i], step);
    bm_head_release(&h);
    bm_schema_release(&schema);
}

static void make_original(int which)
{
    struct original *o = &originals[which];
    bouma_io *io = bouma_io_memory_new();
    bouma_options options = {.size = sizeof(options)};

    HOLDS(io);
    options.io = io;
    if (which == 2)
        write_hz(&options);
    else if (which)
        write_other(&options);
    else
        write_original(&options);
    load_original(o, io);
    for (int i = AT_STEPS; i < FILES; i++)
        if ((i - AT_STEPS) % PER_STEP)
            record_levels(o, i);
    bouma_io_memory_free(io);
}

/* ---- changes ------------------------------------------------------------ */

static void change(const struct original *o, const uint8_t op[5])
{
    struct content *c = &changed[op[1] % FILES];
    size_t at = c->size ? (op[2] | (size_t)op[3] << 8) % c->size : 0;
    size_t n = 1 + op[4] % 32;

    switch (op[0] % 8) {
    case 0:
        c->bytes[at] = op[4];
        break;
    case 1:
        c->bytes[at] ^= op[4];
        break;
    case 2: /* a large number, or a small one */
        if (at + 4 <= c->size)
            bm_store_u32(c->bytes + at,
                         op[4] > 127 ? UINT32_MAX - op[4] : op[4]);
        break;
    case 3:
        if (at + 8 <= c->size)
            bm_store_u64(c->bytes + at,
                         op[4] > 127 ? (uint64_t)1 << (op[4] & 63) : op[4]);
        break;
    case 4:
        c->size = at;
        break;
    case 5:
        if (c->size + n <= MAX_ROOM) {
            memmove(c->bytes + at + n, c->bytes + at, c->size - at);
            memset(c->bytes + at, op[4], n);
            c->size += n;
        }
        break;
    case 6:
        n = n < c->size - at ? n : c->size - at;
        memmove(c->bytes + at, c->bytes + at + n, c->size - at - n);
        c->size -= n;
        break;
    default:
        *c = o->files[op[4] % FILES];
    }
}

static void fix_chunks(const struct original *o)
{
    for (int i = 0; i < o->level_count; i++) {
        const struct level *l = &o->levels[i];
        struct content *c = &changed[l->file];
        struct content *manifest =
            &changed[l->file - (l->file - AT_STEPS) % PER_STEP];
        uint32_t hash;

        if (l->offset + l->bytes > c->size || l->hash_at + 4 > c->size ||
            bm_load_u32(c->bytes + l->hash_at) != l->hash)
            continue;
        hash = bm_hash_chunk(&l->address, c->bytes + l->offset, l->bytes);
        bm_store_u32(c->bytes + l->hash_at, hash);
        if (l->manifest_at && l->manifest_at + 4 <= manifest->size)
            bm_store_u32(manifest->bytes + l->manifest_at, hash);
    }
}

/* Seal a subfile's head, and tell the manifest about it. */
static void fix_head(const struct original *o, int file, int copy,
                     struct content *manifest)
{
    struct content *c = &changed[file];
    size_t n = head_bytes(c), at;

    if (!n)
        return;
    fuzz_seal(c->bytes, n, BM_KIND_HEAD);
    if (copy && n <= c->size / 2)
        memcpy(c->bytes + c->size - n, c->bytes, n);
    at = find(manifest, o->files[file].bytes + 48, 16);
    if (at == manifest->size || at < 16)
        return;
    memcpy(manifest->bytes + at, c->bytes + 48, 16);
    bm_store_u64(manifest->bytes + at - 8, n);
    bm_store_u64(manifest->bytes + at - 16, c->size);
}

static void fix(const struct original *o, unsigned flags)
{
    if (flags & FIX_CHUNKS)
        fix_chunks(o);
    for (int s = 0; s < STEPS; s++) {
        int first = AT_STEPS + s * PER_STEP;
        struct content *manifest = &changed[first];

        for (int k = 1; k < PER_STEP && (flags & FIX_HEADS); k++)
            fix_head(o, first + k, (flags & COPY_HEADS) != 0, manifest);
        if (flags & FIX_MANIFESTS)
            fuzz_seal(manifest->bytes, manifest->size, BM_KIND_MANIFEST);
    }
    if (flags & FIX_OTHERS) {
        struct content *index = &changed[AT_INDEX];

        fuzz_seal(changed[AT_DATASET].bytes, changed[AT_DATASET].size,
                  BM_KIND_DATASET);
        for (size_t at = 0; at + BM_INDEX_RECORD <= index->size;
             at += BM_INDEX_RECORD)
            bm_store_u64(index->bytes + at + 40,
                         bm_hash64(index->bytes + at, BM_INDEX_RECORD - 8,
                                   bm_hash64(fuzz_id, 16, 0)));
    }
}

static void save(const bouma_io *io, unsigned flags)
{
    static const char *const dirs[] = {"epochs", "epochs/000001", "steps",
                                       "steps/00000000", "steps/00000001"};
    void *root, *file;
    size_t done;

    HOLDS(!io->attach(io->user, &root, "d", 1));
    for (int i = 0; i < 5; i++)
        HOLDS(!io->make_dir(io->user, root, dirs[i]));
    for (int i = 0; i < FILES; i++) {
        char name[BM_NAME_BYTES];

        name_of(name, i);
        if ((i == AT_INDEX && (flags & WITHOUT_INDEX)) ||
            (i == AT_STEPS && (flags & WITHOUT_MANIFEST)))
            continue;
        if (i == AT_STEPS + PER_STEP && (flags & UNPUBLISHED))
            bm_name_manifest_new(name, 1, (struct bm_generation){1, 2});
        HOLDS(!io->open(io->user, root, &file, name, BOUMA_OPEN_MODE_CREATE));
        HOLDS(!io->write(io->user, file, changed[i].bytes, changed[i].size, 0,
                         &done));
        io->close(io->user, file);
    }
    io->detach(io->user, root);
}

/* ---- use ---------------------------------------------------------------- */

/* Keeps the compiler from leaving out what is only read. */
static volatile uint8_t touched;

/* Levels of variables that were decoded, and variables of particles. */
static long decoded[BOUMA_CODEC_EXACT + 1];

static void record_decoded(const bouma_variable *v)
{
    bouma_variable_info info = {.size = sizeof(info)};

    bouma_variable_info_get(&info, v);
    decoded[info.codec]++;
}

static void use_attributes(const bouma_attributes *attributes)
{
    bouma_attribute a = {.size = sizeof(a)};
    uint8_t sum = 0;

    for (int i = 0; i < bouma_attributes_count(attributes); i++) {
        HOLDS(!bouma_attributes_get(&a, attributes, i));
        for (size_t k = 0; k < a.count * bouma_type_size(a.type); k++)
            sum ^= ((const uint8_t *)a.values)[k];
    }
    touched = sum;
}

static void use_variable(bouma_variable *v, int count)
{
    bouma_refinement *r;
    bouma_selection s = {.size = sizeof(s)};
    bouma_range range;

    use_attributes(bouma_variable_attributes(v));
    bouma_variable_range(&range, v, 0);
    for (int level = 0; level < count; level++) {
        void *data;

        HOLDS(!bouma_variable_select(&s, v, level, NULL));
        if (s.bytes > 1 << 22)
            continue;
        data = malloc(s.bytes + 1);
        HOLDS(data);
        if (!test_read(v, level, NULL, data))
            record_decoded(v);
        free(data);
    }
    if (count < 1 || bouma_variable_select(&s, v, 0, NULL) || s.bytes > 1 << 22)
        return;
    if (!bouma_refinement_open(&r, v, count - 1, NULL))
        while (!bouma_refinement_next(r))
            ;
    bouma_refinement_free(r);
}

static int take_batch(void *user, const bouma_batch *batch)
{
    *(uint64_t *)user += batch->count;
    return 0;
}

/* Ask in many ways: a condition on each component, with and without a box, some
 * of the particles, all of them. */
static void use_particles(bouma_particles *p)
{
    int count = 1 + bouma_particles_variable_count(p);
    bouma_particles_info info = {.size = sizeof(info)};
    bouma_particles_file file = {.size = sizeof(file)};
    bouma_particles_node node = {.size = sizeof(node)};
    bouma_particle_data *d;
    bouma_particles_query q;
    bouma_bounds box = {.axes = BOUMA_AXES_XYZ};
    uint64_t all = 0, found;

    use_attributes(bouma_particles_attributes(p));
    bouma_particles_info_get(&info, p);
    for (int64_t i = 0; !bouma_particles_file_get(&file, p, i); i++)
        all += file.count;
    HOLDS(all == info.count);
    for (int64_t i = 0; !bouma_particles_node_get(&node, p, i); i++)
        HOLDS(node.count <= all);
    if (all > 1 << 20)
        return;
    for (int v = 0; v < count; v++) {
        bouma_variable *variable = v ? bouma_particles_variable(p, v - 1)
                                     : bouma_particles_position(p);
        bouma_variable_info about = {.size = sizeof(about)};
        bouma_range range;
        bouma_condition c;

        bouma_variable_info_get(&about, variable);
        for (int k = 0; k < about.components; k++) {
            bouma_variable_range(&range, variable, k);
            q = (bouma_particles_query){.size = sizeof(q)};
            c = condition_of(variable, k, 0.5, 5);
            q.conditions = &c;
            q.condition_count = 1;
            q.box = k & 1 ? &box : NULL;
            box.high[0] = box.high[1] = box.high[2] = 4;
            q.quality = k & 2 ? 0.4 : 1;
            found = 0;
            if (!bouma_particles_query_run(p, &q, take_batch, &found))
                HOLDS(found <= all);
        }
    }
    q = (bouma_particles_query){.size = sizeof(q)};
    q.box = &box;
    box.high[0] = box.high[1] = box.high[2] = 5;
    found = 0;
    if (!bouma_particles_query_run(p, &q, take_batch, &found))
        HOLDS(found <= all);
    found = 0;
    if (!bouma_particles_query_run(p, NULL, take_batch, &found))
        HOLDS(found == all);
    if (!bouma_particles_sample(&d, p, NULL, 10, 1))
        HOLDS(d->count == (all < 10 ? all : 10));
    bouma_particle_data_free(d);
    if (!bouma_particles_restart(&d, p, &q))
        HOLDS(d->count <= all);
    bouma_particle_data_free(d);
    if (!bouma_particles_restart(&d, p, NULL)) {
        HOLDS(d->count == all);
        for (int v = 0; v < count && all; v++)
            record_decoded(v ? bouma_particles_variable(p, v - 1)
                             : bouma_particles_position(p));
    }
    bouma_particle_data_free(d);
}

static void use_dataset(const bouma_options *options)
{
    bouma_step_info info = {.size = sizeof(info)};
    bouma_dataset *ds;

    if (bouma_dataset_open(&ds, "d", options))
        HOLDS(bouma_error_message(ds)[0]);
    else
        use_attributes(bouma_dataset_attributes(ds));
    for (int64_t i = 0; !bouma_dataset_step_get(&info, ds, i); i++) {
        bouma_step *step;

        if (bouma_step_open(&step, ds, info.step)) {
            HOLDS(bouma_error_message(ds)[0]);
            continue;
        }
        use_attributes(bouma_step_attributes(step));
        for (int g = 0; g < bouma_step_grid_count(step); g++) {
            bouma_grid *grid = bouma_step_grid(step, g);
            bouma_grid_info about = {.size = sizeof(about)};

            bouma_grid_info_get(&about, grid);
            use_attributes(bouma_grid_attributes(grid));
            for (int v = 0; v < about.variables; v++)
                use_variable(bouma_grid_variable(grid, v), about.levels);
        }
        for (int k = 0; k < bouma_step_particles_count(step); k++)
            use_particles(bouma_step_particles(step, k));
        bouma_step_free(step);
    }
    bouma_dataset_free(ds);
}

/* As they were written, all datasets are read without a complaint, and all
 * codecs have something to decode. */
static void use_originals(void)
{
    enum { READS = STEPS * 3 /* levels */ };
    static const long wanted[] = {
        [BOUMA_CODEC_ZSTD] = 4 * READS + STEPS, /* and positions */
        [BOUMA_CODEC_RAW] = 3 * READS + STEPS,
        [BOUMA_CODEC_INTERP] = 2 * READS,
        [BOUMA_CODEC_WAVELET] = 2 * READS,
        [BOUMA_CODEC_EXACT] = 2 * READS,
        [BOUMA_CODEC_QUANTISE] = 4 * STEPS};

    for (int i = 0; i < DATASETS; i++) {
        bouma_verify_report verified = {.size = sizeof(verified)};
        bouma_io *io = bouma_io_memory_new();
        bouma_options options = {.size = sizeof(options)};

        HOLDS(io);
        make_original(i);
        memcpy(changed, originals[i].files, sizeof(changed));
        save(io, 0);
        options.io = io;
        use_dataset(&options);
        HOLDS(!bouma_verify(&verified, "d", BOUMA_DEPTH_DEEP, &options, NULL,
                            NULL, NULL, 0) &&
              !verified.damages);
        bouma_io_memory_free(io);
    }
    for (int codec = 0; codec <= BOUMA_CODEC_EXACT; codec++)
        HOLDS(decoded[codec] == wanted[codec]);
}

/* The dataset that an input of this size changes. */
static const struct original *original_of(size_t size)
{
    size_t rest = (size - 1) % 5;

    return &originals[rest == 4 ? 2 : rest % 2];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bouma_verify_report verified = {.size = sizeof(verified)};
    bouma_repair_report repaired = {.size = sizeof(repaired)};
    const struct original *o;
    bouma_options options = {.size = sizeof(options)};
    char message[256];
    bouma_io *io;

    if (!originals[0].level_count)
        use_originals();
    if (!size || size > 500)
        return 0;
    o = original_of(size);
    memcpy(changed, o->files, sizeof(changed));
    for (size_t at = 1; at + 5 <= size; at += 5)
        change(o, data + at);
    fix(o, data[0]);
    io = bouma_io_memory_new();
    HOLDS(io);
    save(io, data[0]);
    options.io = io;
    options.memory_limit = 64 << 20;
    use_dataset(&options);
    bouma_verify(&verified, "d", BOUMA_DEPTH_DEEP, &options, NULL, NULL,
                 message, sizeof(message));
    if (!bouma_repair(&repaired, "d", 1, &options, NULL, NULL, message,
                      sizeof(message)) &&
        repaired.actions) {
        bouma_verify(&verified, "d", BOUMA_DEPTH_FULL, &options, NULL, NULL,
                     message, sizeof(message));
        use_dataset(&options);
    }
    bouma_io_memory_free(io);
    return 0;
}
