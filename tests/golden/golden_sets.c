/* golden_sets.c -- see golden_sets.h. Nothing here may change once a format is
 * released: new things go into new sets. */
#include "golden_sets.h"

#include "../helpers/arrays.h"
#include "golden_offsets.h"
#include "golden_particles.h"
#include "golden_sheets.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- tables ------------------------------------------------------------- */

enum { MAX_GRIDS = 4, MAX_VARIABLES = 10, MAX_STEPS = 3 };

struct variable {
    const char *name;
    bouma_type type;
    int components;
    bouma_codec codec;
    int codec_level;
    const char *unit;
    int absent; /* in the last step */
    bouma_tolerance kind;
    double tolerance;
};

struct grid {
    const char *name;
    bouma_grid_spec spec;
    struct variable variables[MAX_VARIABLES];
};

struct set {
    const char *name;
    bouma_order order;
    bouma_assign assign;
    int files;
    int attributes; /* on everything */
    int64_t steps[MAX_STEPS + 1];
    struct grid grids[MAX_GRIDS];
};

#define EXACT(name, type, components, codec, level, unit, absent)              \
    {                                                                          \
        name, type, components, codec, level, unit, absent,                    \
            BOUMA_TOLERANCE_ABSOLUTE, 0                                        \
    }
#define LOSSY(name, type, components, kind, tolerance)                         \
    {                                                                          \
        name, type, components, BOUMA_CODEC_INTERP, 0, NULL, 0, kind,          \
            tolerance                                                          \
    }
#define ROUNDED(name, type, components, codec, kind, tolerance)                \
    {                                                                          \
        name, type, components, codec, 0, NULL, 0, kind, tolerance             \
    }
#define ALL_TYPES(codec, level)                                                \
    {                                                                          \
        EXACT("i8", BOUMA_TYPE_I8, 1, codec, level, NULL, 0),                  \
            EXACT("i16", BOUMA_TYPE_I16, 1, codec, level, NULL, 0),            \
            EXACT("i32", BOUMA_TYPE_I32, 1, codec, level, NULL, 0),            \
            EXACT("i64", BOUMA_TYPE_I64, 1, codec, level, NULL, 0),            \
            EXACT("u8", BOUMA_TYPE_U8, 1, codec, level, NULL, 0),              \
            EXACT("u16", BOUMA_TYPE_U16, 1, codec, level, NULL, 0),            \
            EXACT("u32", BOUMA_TYPE_U32, 1, codec, level, NULL, 0),            \
            EXACT("u64", BOUMA_TYPE_U64, 1, codec, level, NULL, 0),            \
            EXACT("f32", BOUMA_TYPE_F32, 1, codec, level, NULL, 0),            \
            EXACT("f64", BOUMA_TYPE_F64, 1, codec, level, NULL, 0),            \
    }
#define SPEC .size = sizeof(bouma_grid_spec)

static const struct set sets[] = {
    {"line_raw",
     BOUMA_ORDER_LEVEL,
     BOUMA_ASSIGN_OPTIMAL,
     1,
     0,
     {0, 1, -1},
     {{"line",
       {SPEC, .ndims = 1, .shape = {203}, .patch = {64}, .levels = 4},
       ALL_TYPES(BOUMA_CODEC_RAW, 0)}}},
    {"line_zstd",
     BOUMA_ORDER_CHUNK,
     BOUMA_ASSIGN_COUNT,
     2,
     0,
     {0, -1},
     {{"line",
       {SPEC, .ndims = 1, .shape = {309}, .patch = {128}, .levels = 3},
       ALL_TYPES(BOUMA_CODEC_ZSTD, 3)}}},
    {"plane",
     BOUMA_ORDER_CHUNK,
     BOUMA_ASSIGN_RUNNING,
     3,
     1,
     {3, 4, 1000000, -1},
     {{"plane",
       {SPEC, .ndims = 2, .shape = {37, 29}, .patch = {16, 8}, .levels = 3,
        .origin = {-1.5, 2.25}, .spacing = {0.5, 0.125}, .unit = "m"},
       {EXACT("velocity", BOUMA_TYPE_F32, 3, BOUMA_CODEC_ZSTD, 0, "m/s", 0),
        EXACT("special", BOUMA_TYPE_F64, 1, BOUMA_CODEC_RAW, 0, "K", 0),
        EXACT("special two", BOUMA_TYPE_F32, 2, BOUMA_CODEC_ZSTD, 9, NULL, 0),
        EXACT("now and then", BOUMA_TYPE_U16, 1, BOUMA_CODEC_RAW, 0, "", 1)}},
      {"coarse \xc3\xa9t\xc3\xa9",
       {SPEC, .ndims = 2, .shape = {5, 64}, .patch = {8, 8}, .levels = 1},
       {EXACT("\xce\xb1", BOUMA_TYPE_I64, 1, BOUMA_CODEC_RAW, 0, NULL, 1)}}}},
    {"cube",
     BOUMA_ORDER_LEVEL,
     BOUMA_ASSIGN_OPTIMAL,
     4,
     1,
     {0, 7, -1},
     {{"cube",
       {SPEC, .ndims = 3, .shape = {9, 14, 11}, .patch = {4, 8, 4},
        .levels = 4},
       {EXACT("special", BOUMA_TYPE_F32, 1, BOUMA_CODEC_RAW, 0, NULL, 0),
        EXACT("count", BOUMA_TYPE_U16, 2, BOUMA_CODEC_RAW, 0, NULL, 0)}}}},
    {"point",
     BOUMA_ORDER_LEVEL,
     BOUMA_ASSIGN_SINGLE,
     0,
     0,
     {9223372036854775807, -1},
     {{"point",
       {SPEC, .ndims = 3, .shape = {1, 1, 1}},
       {EXACT("v", BOUMA_TYPE_F64, 1, BOUMA_CODEC_RAW, 0, NULL, 0)}}}},
    /* Pieces of more and of fewer samples than one table of symbols is for. */
    {"interp_line",
     BOUMA_ORDER_LEVEL,
     BOUMA_ASSIGN_OPTIMAL,
     1,
     0,
     {0, 50, -1},
     {{"line",
       {SPEC, .ndims = 1, .shape = {5000}, .patch = {4096}, .levels = 5},
       {LOSSY("smooth f32", BOUMA_TYPE_F32, 1, BOUMA_TOLERANCE_ABSOLUTE, 1e-2),
        LOSSY("smooth f64", BOUMA_TYPE_F64, 1, BOUMA_TOLERANCE_RELATIVE, 1e-6),
        LOSSY("noise f32", BOUMA_TYPE_F32, 1, BOUMA_TOLERANCE_RELATIVE, 1e-2),
        LOSSY("constant f32", BOUMA_TYPE_F32, 1, BOUMA_TOLERANCE_RELATIVE,
              1e-3),
        LOSSY("constant f64", BOUMA_TYPE_F64, 1, BOUMA_TOLERANCE_ABSOLUTE,
              0.25),
        LOSSY("holes f32", BOUMA_TYPE_F32, 1, BOUMA_TOLERANCE_ABSOLUTE, 1e-3)}},
      {"short",
       {SPEC, .ndims = 1, .shape = {9}, .patch = {2}, .levels = 2},
       {LOSSY("smooth f32", BOUMA_TYPE_F32, 2, BOUMA_TOLERANCE_RELATIVE, 1e-2),
        LOSSY("noise f64", BOUMA_TYPE_F64, 1, BOUMA_TOLERANCE_ABSOLUTE, 1e-14),
        LOSSY("holes f64", BOUMA_TYPE_F64, 1, BOUMA_TOLERANCE_ABSOLUTE, 1e-3)}},
      {"middling",
       {SPEC, .ndims = 1, .shape = {200}, .patch = {128}, .levels = 8},
       {LOSSY("smooth least", BOUMA_TYPE_F32, 1, BOUMA_TOLERANCE_ABSOLUTE,
              1e-40),
        LOSSY("smooth most", BOUMA_TYPE_F64, 1, BOUMA_TOLERANCE_ABSOLUTE,
              1e300),
        LOSSY("noise f64", BOUMA_TYPE_F64, 1, BOUMA_TOLERANCE_RELATIVE, 1e-15),
        LOSSY("noise f32", BOUMA_TYPE_F32, 3, BOUMA_TOLERANCE_ABSOLUTE, 1),
        LOSSY("huge f32", BOUMA_TYPE_F32, 1, BOUMA_TOLERANCE_ABSOLUTE, 1),
        LOSSY("huge f64", BOUMA_TYPE_F64, 1, BOUMA_TOLERANCE_ABSOLUTE, 1e6)}}}},
    {"interp_plane",
     BOUMA_ORDER_CHUNK,
     BOUMA_ASSIGN_COUNT,
     2,
     0,
     {7, -1},
     {{"plane",
       {SPEC, .ndims = 2, .shape = {70, 61}, .patch = {64, 64}, .levels = 7},
       {LOSSY("smooth f32", BOUMA_TYPE_F32, 3, BOUMA_TOLERANCE_RELATIVE, 1e-3),
        LOSSY("smooth f64", BOUMA_TYPE_F64, 1, BOUMA_TOLERANCE_ABSOLUTE, 1e-7),
        LOSSY("noise f64", BOUMA_TYPE_F64, 1, BOUMA_TOLERANCE_ABSOLUTE, 0.5),
        LOSSY("holes f32", BOUMA_TYPE_F32, 2, BOUMA_TOLERANCE_RELATIVE, 1e-4),
        LOSSY("constant f64", BOUMA_TYPE_F64, 2, BOUMA_TOLERANCE_RELATIVE,
              0.1)}},
      {"stripes",
       {SPEC, .ndims = 2, .shape = {5, 19}, .patch = {1, 8}, .levels = 4},
       {LOSSY("smooth f32", BOUMA_TYPE_F32, 1, BOUMA_TOLERANCE_ABSOLUTE, 1e-3),
        LOSSY("holes f64", BOUMA_TYPE_F64, 2, BOUMA_TOLERANCE_RELATIVE, 1e-3)}},
      {"dots",
       {SPEC, .ndims = 2, .shape = {3, 4}, .patch = {1, 1}, .levels = 1},
       {LOSSY("smooth f64", BOUMA_TYPE_F64, 1, BOUMA_TOLERANCE_ABSOLUTE, 1e-3),
        LOSSY("holes f32", BOUMA_TYPE_F32, 1, BOUMA_TOLERANCE_ABSOLUTE, 1e-3)}},
      {"whole", /* one piece with all passes */
       {SPEC, .ndims = 2, .shape = {45, 50}, .patch = {64, 64}, .levels = 1},
       {LOSSY("smooth f32", BOUMA_TYPE_F32, 1, BOUMA_TOLERANCE_RELATIVE, 1e-5),
        LOSSY("holes f64", BOUMA_TYPE_F64, 1, BOUMA_TOLERANCE_ABSOLUTE,
              1e-3)}}}},
    {"interp_cube",
     BOUMA_ORDER_LEVEL,
     BOUMA_ASSIGN_RUNNING,
     3,
     0,
     {0, -1},
     {{"cube",
       {SPEC, .ndims = 3, .shape = {19, 22, 17}, .patch = {16, 16, 16},
        .levels = 3},
       {LOSSY("smooth f32", BOUMA_TYPE_F32, 1, BOUMA_TOLERANCE_ABSOLUTE, 1e-3),
        LOSSY("smooth f64", BOUMA_TYPE_F64, 2, BOUMA_TOLERANCE_RELATIVE, 1e-5),
        LOSSY("noise f32", BOUMA_TYPE_F32, 1, BOUMA_TOLERANCE_ABSOLUTE, 4),
        LOSSY("holes f64", BOUMA_TYPE_F64, 1, BOUMA_TOLERANCE_ABSOLUTE, 0.5),
        LOSSY("huge f32", BOUMA_TYPE_F32, 1, BOUMA_TOLERANCE_ABSOLUTE, 1e29)}},
      {"wall",
       {SPEC, .ndims = 3, .shape = {17, 1, 33}, .patch = {16, 1, 64},
        .levels = 7},
       {LOSSY("smooth f32", BOUMA_TYPE_F32, 2, BOUMA_TOLERANCE_RELATIVE, 1e-5),
        LOSSY("holes f32", BOUMA_TYPE_F32, 1, BOUMA_TOLERANCE_ABSOLUTE, 1e-2)}},
      {"cells",
       {SPEC, .ndims = 3, .shape = {3, 5, 4}, .patch = {2, 2, 2}, .levels = 2},
       {LOSSY("smooth f32", BOUMA_TYPE_F32, 1, BOUMA_TOLERANCE_ABSOLUTE, 1e-2),
        LOSSY("holes f64", BOUMA_TYPE_F64, 3, BOUMA_TOLERANCE_ABSOLUTE, 1e-2),
        LOSSY("noise f32", BOUMA_TYPE_F32, 1, BOUMA_TOLERANCE_RELATIVE,
              1e-9)}}}},
    /* Some subfiles of these have stored offsets; see golden_offsets.h. */
    {"placed_level",
     BOUMA_ORDER_LEVEL,
     BOUMA_ASSIGN_COUNT,
     2,
     0,
     {2, 5, -1},
     {{"plane",
       {SPEC, .ndims = 2, .shape = {37, 29}, .patch = {16, 8}, .levels = 4},
       {EXACT("velocity", BOUMA_TYPE_F32, 2, BOUMA_CODEC_RAW, 0, "m/s", 0),
        EXACT("packed", BOUMA_TYPE_I32, 1, BOUMA_CODEC_ZSTD, 3, NULL, 0),
        LOSSY("smooth f64", BOUMA_TYPE_F64, 1, BOUMA_TOLERANCE_ABSOLUTE,
              1e-3)}},
      {"stripes",
       {SPEC, .ndims = 2, .shape = {5, 19}, .patch = {1, 8}, .levels = 4},
       {EXACT("u8", BOUMA_TYPE_U8, 1, BOUMA_CODEC_RAW, 0, NULL, 0),
        LOSSY("holes f32", BOUMA_TYPE_F32, 1, BOUMA_TOLERANCE_ABSOLUTE,
              1e-3)}}}},
    {"placed_chunk",
     BOUMA_ORDER_CHUNK,
     BOUMA_ASSIGN_SINGLE,
     0,
     0,
     {0, -1},
     {{"cube",
       {SPEC, .ndims = 3, .shape = {9, 14, 11}, .patch = {4, 8, 4},
        .levels = 4},
       {EXACT("special", BOUMA_TYPE_F32, 1, BOUMA_CODEC_RAW, 0, NULL, 0),
        EXACT("count", BOUMA_TYPE_U16, 2, BOUMA_CODEC_ZSTD, 0, NULL, 0)}}}},
    /* As "cube", whose files were cut when `optimal` did not count tables. */
    {"cube_even",
     BOUMA_ORDER_LEVEL,
     BOUMA_ASSIGN_OPTIMAL,
     4,
     1,
     {0, 7, -1},
     {{"cube",
       {SPEC, .ndims = 3, .shape = {9, 14, 11}, .patch = {4, 8, 4},
        .levels = 4},
       {EXACT("special", BOUMA_TYPE_F32, 1, BOUMA_CODEC_RAW, 0, NULL, 0),
        EXACT("count", BOUMA_TYPE_U16, 2, BOUMA_CODEC_RAW, 0, NULL, 0)}}}},
    /* HZ order: blocks in rows, and along the curve beside a grid of patches. */
    {"hz_rows",
     BOUMA_ORDER_LEVEL,
     BOUMA_ASSIGN_OPTIMAL,
     0,
     0,
     {0, 7, -1},
     {{"plane",
       {SPEC, .ndims = 2, .shape = {37, 29}, .levels = 7,
        .origin = {-1.5, 2.25}, .spacing = {0.5, 0.125}, .unit = "m",
        .layout = BOUMA_LAYOUT_HZ, .hz_template = "yxyyxxyxyxy",
        .hz_block_bits = 4, .hz_blocks_per_file = 30},
       {EXACT("velocity", BOUMA_TYPE_F32, 3, BOUMA_CODEC_RAW, 0, "m/s", 0),
        EXACT("packed", BOUMA_TYPE_I32, 1, BOUMA_CODEC_ZSTD, 3, NULL, 0),
        EXACT("special", BOUMA_TYPE_F64, 1, BOUMA_CODEC_RAW, 0, "K", 1),
        LOSSY("smooth f64", BOUMA_TYPE_F64, 2, BOUMA_TOLERANCE_ABSOLUTE,
              1e-3)}},
      {"point",
       {SPEC, .ndims = 3, .shape = {1, 1, 1}, .layout = BOUMA_LAYOUT_HZ},
       {EXACT("v", BOUMA_TYPE_F64, 1, BOUMA_CODEC_RAW, 0, NULL, 0)}}}},
    {"hz_curve",
     BOUMA_ORDER_CHUNK,
     BOUMA_ASSIGN_COUNT,
     5,
     0,
     {4, -1},
     {{"cube",
       {SPEC, .ndims = 3, .shape = {9, 14, 11}, .levels = 5,
        .layout = BOUMA_LAYOUT_HZ, .hz_block_bits = 5, .hz_blocks_per_file = 40,
        .hz_order = BOUMA_HZ_ORDER_CURVE},
       {EXACT("special", BOUMA_TYPE_F32, 1, BOUMA_CODEC_RAW, 0, NULL, 0),
        EXACT("count", BOUMA_TYPE_U16, 2, BOUMA_CODEC_ZSTD, 0, NULL, 0),
        LOSSY("holes f32", BOUMA_TYPE_F32, 1, BOUMA_TOLERANCE_RELATIVE, 1e-3)}},
      {"line",
       {SPEC, .ndims = 1, .shape = {203}, .levels = 8,
        .layout = BOUMA_LAYOUT_HZ, .hz_template = "xxxxxxxxx",
        .hz_block_bits = 3, .hz_blocks_per_file = 64,
        .hz_order = BOUMA_HZ_ORDER_CURVE},
       {EXACT("velocity", BOUMA_TYPE_F32, 3, BOUMA_CODEC_RAW, 0, NULL, 0)}},
      {"patches",
       {SPEC, .ndims = 1, .shape = {100}, .patch = {32}, .levels = 2},
       {EXACT("u8", BOUMA_TYPE_U8, 1, BOUMA_CODEC_RAW, 0, NULL, 0)}}}},
    /* Partitions that have an index each. */
    {"hz_local",
     BOUMA_ORDER_LEVEL,
     BOUMA_ASSIGN_OPTIMAL,
     0,
     0,
     {0, 3, -1},
     {{"plane",
       {SPEC, .ndims = 2, .shape = {37, 29}, .levels = 7,
        .layout = BOUMA_LAYOUT_HZ, .hz_template = "yxyyxxyxyxy",
        .hz_block_bits = 4, .hz_blocks_per_file = 20, .hz_partitions = 8,
        .hz_index = BOUMA_HZ_INDEX_LOCAL},
       {EXACT("velocity", BOUMA_TYPE_F32, 3, BOUMA_CODEC_RAW, 0, "m/s", 0),
        EXACT("packed", BOUMA_TYPE_I32, 1, BOUMA_CODEC_ZSTD, 3, NULL, 0),
        LOSSY("smooth f64", BOUMA_TYPE_F64, 1, BOUMA_TOLERANCE_ABSOLUTE,
              1e-3)}},
      {"cube",
       {SPEC, .ndims = 3, .shape = {9, 14, 11}, .levels = 5,
        .layout = BOUMA_LAYOUT_HZ, .hz_block_bits = 5, .hz_blocks_per_file = 40,
        .hz_order = BOUMA_HZ_ORDER_CURVE, .hz_partitions = 4,
        .hz_index = BOUMA_HZ_INDEX_LOCAL},
       {EXACT("special", BOUMA_TYPE_F32, 1, BOUMA_CODEC_RAW, 0, NULL, 0),
        EXACT("count", BOUMA_TYPE_U16, 2, BOUMA_CODEC_ZSTD, 0, NULL, 1)}}}},
    /* Wavelet coefficients in HZ order: tiles that the grid cuts, and a template
     * that does not halve the axes in turn. */
    {"hz_wavelet",
     BOUMA_ORDER_LEVEL,
     BOUMA_ASSIGN_OPTIMAL,
     0,
     0,
     {2, 5, -1},
     {{"cube",
       {SPEC, .ndims = 3, .shape = {9, 14, 11}, .levels = 5,
        .layout = BOUMA_LAYOUT_HZ, .hz_block_bits = 6, .hz_blocks_per_file = 30,
        .hz_wavelet = 1, .hz_tile_bits = 9},
       {EXACT("special", BOUMA_TYPE_F32, 1, BOUMA_CODEC_RAW, 0, NULL, 0),
        EXACT("count", BOUMA_TYPE_U16, 2, BOUMA_CODEC_RAW, 0, NULL, 0),
        ROUNDED("smooth f32", BOUMA_TYPE_F32, 2, BOUMA_CODEC_RAW,
                BOUMA_TOLERANCE_ABSOLUTE, 1e-3),
        ROUNDED("holes f64", BOUMA_TYPE_F64, 1, BOUMA_CODEC_RAW,
                BOUMA_TOLERANCE_RELATIVE, 1e-4),
        ROUNDED("huge f32", BOUMA_TYPE_F32, 1, BOUMA_CODEC_RAW,
                BOUMA_TOLERANCE_ABSOLUTE, 0.1)}},
      {"plane",
       {SPEC, .ndims = 2, .shape = {37, 29}, .levels = 6,
        .layout = BOUMA_LAYOUT_HZ, .hz_template = "yyxyyxxyxyx",
        .hz_block_bits = 5, .hz_blocks_per_file = 40,
        .hz_order = BOUMA_HZ_ORDER_CURVE, .hz_wavelet = 1, .hz_tile_bits = 7},
       {EXACT("special", BOUMA_TYPE_F64, 1, BOUMA_CODEC_RAW, 0, NULL, 0),
        EXACT("velocity", BOUMA_TYPE_F32, 3, BOUMA_CODEC_RAW, 0, NULL, 0),
        EXACT("packed", BOUMA_TYPE_I64, 1, BOUMA_CODEC_ZSTD, 0, NULL, 0),
        EXACT("u8", BOUMA_TYPE_U8, 1, BOUMA_CODEC_ZSTD, 0, NULL, 0)}},
      {"point",
       {SPEC, .ndims = 3, .shape = {1, 1, 1}, .layout = BOUMA_LAYOUT_HZ,
        .hz_wavelet = 1},
       {EXACT("v", BOUMA_TYPE_F64, 1, BOUMA_CODEC_RAW, 0, NULL, 0)}}}},
    /* Files that are those of IDX, too. */
    {"hz_idx",
     BOUMA_ORDER_LEVEL,
     BOUMA_ASSIGN_OPTIMAL,
     0,
     0,
     {3, 9, -1},
     {{"cube",
       {SPEC, .ndims = 3, .shape = {5, 9, 6}, .levels = 4,
        .origin = {1, -2, 0.5}, .spacing = {0.5, 2, 0.25},
        .layout = BOUMA_LAYOUT_HZ, .hz_block_bits = 4, .hz_blocks_per_file = 12,
        .idx = 1},
       {EXACT("velocity", BOUMA_TYPE_F32, 3, BOUMA_CODEC_RAW, 0, "m/s", 0),
        EXACT("count", BOUMA_TYPE_U16, 1, BOUMA_CODEC_RAW, 0, NULL, 0)}},
      {"plane",
       {SPEC, .ndims = 2, .shape = {11, 1}, .levels = 2,
        .layout = BOUMA_LAYOUT_HZ, .hz_block_bits = 2, .hz_blocks_per_file = 3,
        .idx = 1},
       {EXACT("special", BOUMA_TYPE_F64, 1, BOUMA_CODEC_RAW, 0, "K", 1)}}}},
    /* Steps of three writings. */
    {"extended",
     BOUMA_ORDER_LEVEL,
     BOUMA_ASSIGN_COUNT,
     2,
     1,
     {3, 9, -1},
     {{"plane",
       {SPEC, .ndims = 2, .shape = {19, 14}, .patch = {8, 8}, .levels = 3,
        .unit = "m"},
       {EXACT("velocity", BOUMA_TYPE_F32, 2, BOUMA_CODEC_RAW, 0, "m/s", 0),
        EXACT("count", BOUMA_TYPE_U16, 1, BOUMA_CODEC_ZSTD, 0, NULL, 0),
        EXACT("special", BOUMA_TYPE_F64, 1, BOUMA_CODEC_RAW, 0, "K", 1)}},
      {"line",
       {SPEC, .ndims = 1, .shape = {40}, .patch = {16}, .levels = 2},
       {EXACT("i32", BOUMA_TYPE_I32, 1, BOUMA_CODEC_RAW, 0, NULL, 1),
        EXACT("i8", BOUMA_TYPE_I8, 1, BOUMA_CODEC_RAW, 0, NULL, 0)}}}},
    /* Patches that are large enough for finer bounds on coarse levels, for eight
     * states of the range coder, and for rows without integers. */
    {"interp_large",
     BOUMA_ORDER_LEVEL,
     BOUMA_ASSIGN_RUNNING,
     1,
     0,
     {1, -1},
     {{"cube",
       {SPEC, .ndims = 3, .shape = {33, 32, 34}, .patch = {64, 64, 64},
        .levels = 4},
       {LOSSY("smooth f32", BOUMA_TYPE_F32, 1, BOUMA_TOLERANCE_RELATIVE,
              1e-3)}},
      {"plane",
       {SPEC, .ndims = 2, .shape = {320, 301}, .patch = {512, 512},
        .levels = 5},
       {LOSSY("smooth f64", BOUMA_TYPE_F64, 1, BOUMA_TOLERANCE_RELATIVE,
              1e-4)}}}},
    {"exact_line",
     BOUMA_ORDER_CHUNK,
     BOUMA_ASSIGN_COUNT,
     2,
     0,
     {0, -1},
     {{"line",
       {SPEC, .ndims = 1, .shape = {309}, .patch = {128}, .levels = 3},
       ALL_TYPES(BOUMA_CODEC_EXACT, 0)}}},
    {"exact_cube",
     BOUMA_ORDER_LEVEL,
     BOUMA_ASSIGN_RUNNING,
     2,
     0,
     {3, -1},
     {{"cube",
       {SPEC, .ndims = 3, .shape = {9, 14, 19}, .patch = {16, 16, 16},
        .levels = 4},
       {EXACT("smooth", BOUMA_TYPE_F32, 2, BOUMA_CODEC_EXACT, 0, NULL, 0),
        EXACT("smooth f64", BOUMA_TYPE_F64, 1, BOUMA_CODEC_EXACT, 0, NULL, 0),
        EXACT("holes", BOUMA_TYPE_F32, 1, BOUMA_CODEC_EXACT, 0, NULL, 0),
        EXACT("huge", BOUMA_TYPE_F64, 1, BOUMA_CODEC_EXACT, 0, NULL, 0),
        EXACT("noise", BOUMA_TYPE_F32, 1, BOUMA_CODEC_EXACT, 0, NULL, 0),
        EXACT("steps", BOUMA_TYPE_F32, 1, BOUMA_CODEC_EXACT, 0, NULL, 0),
        EXACT("steps f64", BOUMA_TYPE_F64, 1, BOUMA_CODEC_EXACT, 0, NULL, 0),
        ROUNDED("steps rounded", BOUMA_TYPE_F32, 1, BOUMA_CODEC_INTERP,
                BOUMA_TOLERANCE_ABSOLUTE, 0.01)}}}},
    /* Eight states of the range coder. */
    {"exact_large",
     BOUMA_ORDER_LEVEL,
     BOUMA_ASSIGN_RUNNING,
     1,
     0,
     {1, -1},
     {{"cube",
       {SPEC, .ndims = 3, .shape = {48, 44, 48}, .patch = {64, 64, 64},
        .levels = 4},
       {EXACT("steps", BOUMA_TYPE_F32, 1, BOUMA_CODEC_EXACT, 0, NULL, 0),
        LOSSY("smooth", BOUMA_TYPE_F32, 1, BOUMA_TOLERANCE_ABSOLUTE, 0.05)}}}},
    /* Manifests with sheets of two files. */
    {"sheets",
     BOUMA_ORDER_LEVEL,
     BOUMA_ASSIGN_COUNT,
     5,
     1,
     {3, 9, -1},
     {{"plane",
       {SPEC, .ndims = 2, .shape = {37, 29}, .patch = {8, 8}, .levels = 3,
        .unit = "m"},
       {EXACT("velocity", BOUMA_TYPE_F32, 2, BOUMA_CODEC_RAW, 0, "m/s", 0),
        EXACT("count", BOUMA_TYPE_U16, 1, BOUMA_CODEC_RAW, 0, NULL, 0),
        EXACT("special", BOUMA_TYPE_F64, 1, BOUMA_CODEC_RAW, 0, "K", 1)}}}},
    /* Pieces that are divided into blocks, with samples that are kept, too. */
    {"interp_blocks",
     BOUMA_ORDER_LEVEL,
     BOUMA_ASSIGN_RUNNING,
     1,
     0,
     {1, -1},
     {{"cube",
       {SPEC, .ndims = 3, .shape = {35, 34, 36}, .patch = {64, 64, 64},
        .levels = 2},
       {LOSSY("holes f64", BOUMA_TYPE_F64, 1, BOUMA_TOLERANCE_ABSOLUTE, 1e-4)}},
      {"plane",
       {SPEC, .ndims = 2, .shape = {251, 180}, .patch = {256, 256},
        .levels = 3},
       {LOSSY("noise f32", BOUMA_TYPE_F32, 1, BOUMA_TOLERANCE_ABSOLUTE, 12)}}}},
    /* Weights and predictions of exact that are mended. */
    {"exact_mended",
     BOUMA_ORDER_LEVEL,
     BOUMA_ASSIGN_RUNNING,
     1,
     0,
     {2, -1},
     {{"cube",
       {SPEC, .ndims = 3, .shape = {23, 26, 29}, .patch = {32, 32, 32},
        .levels = 3},
       {EXACT("smooth", BOUMA_TYPE_F32, 1, BOUMA_CODEC_EXACT, 0, NULL, 0),
        EXACT("smooth f64", BOUMA_TYPE_F64, 1, BOUMA_CODEC_EXACT, 0, NULL, 0),
        EXACT("holes", BOUMA_TYPE_F32, 1, BOUMA_CODEC_EXACT, 0, NULL, 0),
        EXACT("steps", BOUMA_TYPE_F32, 1, BOUMA_CODEC_EXACT, 0, NULL, 0)}}}},
};

enum { SETS = sizeof(sets) / sizeof(sets[0]) };

const char *golden_name(int i)
{
    return i >= 0 && i < SETS ? sets[i].name : golden_particles_name(i - SETS);
}

int64_t golden_step(int i, int k)
{
    return i < SETS ? sets[i].steps[k] : golden_particles_step(i - SETS, k);
}

int golden_has_zstd(int i)
{
    if (i >= SETS) /* trees always have */
        return 1;
    for (int g = 0; g < MAX_GRIDS; g++)
        for (int v = 0; v < MAX_VARIABLES; v++)
            switch (sets[i].grids[g].variables[v].codec) {
            case BOUMA_CODEC_ZSTD:
            case BOUMA_CODEC_INTERP: /* for what is kept exactly */
            case BOUMA_CODEC_EXACT:
                return 1;
            default:
                break;
            }
    return 0;
}

int golden_has_offsets(int i)
{
    return i < SETS && !strncmp(sets[i].name, "placed", 6);
}

int golden_has_sheets(int i)
{
    return i < SETS && !strcmp(sets[i].name, "sheets");
}

int golden_is_old(int i)
{
    static const char *const old[] = {
        "cube", "interp_line", "interp_plane", "exact_cube",
        "foam", "dust",        "flock"};
    int is = 0;

    for (size_t k = 0; k < sizeof(old) / sizeof(old[0]); k++)
        is |= !strcmp(golden_name(i), old[k]);
    return is;
}

/* What is in a dataset's id: that of others stays when one is added. The first
 * eight have 0x40 to 0x47. */
static int mark_of(int i)
{
    if (i < SETS && !strcmp(sets[i].name, "hz_local"))
        return 0x20; /* wherever it is in the list */
    if (i < SETS && !strcmp(sets[i].name, "sheets"))
        return 0x21;
    if (i < SETS && !strcmp(sets[i].name, "exact_mended"))
        return 0x76;
    return i >= SETS ? 0x48 + i - SETS : (i >= 8 ? 0x60 : 0x40) + i;
}

static int is_last(const struct set *s, int64_t step)
{
    int k = 0;

    while (s->steps[k] != step)
        k++;
    return s->steps[k + 1] < 0;
}

static double time_of(int64_t step)
{
    return (double)(step % 1000) * 0.0625 - 1;
}

/* ---- values ------------------------------------------------------------- */

static int begins(const char *name, const char *with)
{
    return !strncmp(name, with, strlen(with));
}

/* What lossy variables are given: quotients of integers, and nothing that a
 * compiler could fuse or a libm could round differently. (compare_golden.py has
 * the same.) */
static double lossy_value(const struct variable *v, int64_t step,
                          const int64_t *at, int component)
{
    int64_t x = at[0], y = at[1], z = at[2] % 301, c = component;
    int64_t n = at[0] * 5 + at[1] * 3 + at[2] * 7 + c * 13;
    int64_t distance =
        (x - 5) * (x - 5) + (y - 9) * (y - 9) + (z - 20 - 4 * c) * (z - 20);
    uint64_t mixed = (uint64_t)(n + step + 1) * 0x9e3779b97f4a7c15u;
    double huge = v->type == BOUMA_TYPE_F32 ? 3e38 : 1.7e308;
    double smooth = (double)(40000 + 100 * step) / (double)(900 + distance);

    smooth += (double)(x - 2 * y + 3 * z) / 64;
    mixed ^= mixed >> 29;
    mixed *= 0xbf58476d1ce4e5b9u;
    if (begins(v->name, "constant"))
        return 1.5;
    if (begins(v->name, "noise"))
        return (double)(mixed >> 11) / 35184372088832; /* 0 to 256 */
    if (begins(v->name, "huge"))
        return n % 3 == 0 ? huge : n % 3 == 1 ? -huge : smooth;
    if (begins(v->name, "steps"))
        return n % 41 == 0 ? -0.0 : (double)(int64_t)(smooth * 4) * 0.25;
    if (begins(v->name, "holes")) {
        if (n % 17 == 0 || x + y + z < 4)
            return NAN;
        if (n % 19 == 0)
            return INFINITY;
        if (n % 23 == 0)
            return -INFINITY;
        if (n % 29 == 0)
            return -0.0;
    }
    return smooth;
}

/* Exact in every type: no rounding, no libm. */
static void value_of(void *out, const struct variable *v, int64_t step,
                     const int64_t *at, int component)
{
    int64_t n = at[0] * 5 + at[1] * 3 + at[2] * 7 + component * 13 + step % 100;
    uint64_t mixed = (uint64_t)n * 0x9e3779b97f4a7c15u;
    double real = (double)(n % 512) * 0.03125 - 3;

    if (v->tolerance > 0 || v->codec == BOUMA_CODEC_EXACT)
        real = lossy_value(v, step, at, component);
    if (begins(v->name, "special")) {
        if (n % 17 == 0)
            real = NAN;
        else if (n % 19 == 0)
            real = INFINITY;
        else if (n % 23 == 0)
            real = -INFINITY;
        else if (n % 29 == 0)
            real = -0.0;
        else if (n % 31 == 0)
            real = 1.401298464324817e-45; /* the least float */
    }
    n = at[2] % 11 == 0 ? (int64_t)(mixed >> 7) : n;
    switch (v->type) {
    case BOUMA_TYPE_F32: {
        float c = (float)real;

        memcpy(out, &c, sizeof(c));
        break;
    }
    case BOUMA_TYPE_F64:
        memcpy(out, &real, sizeof(real));
        break;
    case BOUMA_TYPE_I8:
    case BOUMA_TYPE_U8: {
        uint8_t c = (uint8_t)n;

        memcpy(out, &c, sizeof(c));
        break;
    }
    case BOUMA_TYPE_I16:
    case BOUMA_TYPE_U16: {
        uint16_t c = (uint16_t)n;

        memcpy(out, &c, sizeof(c));
        break;
    }
    case BOUMA_TYPE_I32:
    case BOUMA_TYPE_U32: {
        uint32_t c = (uint32_t)n;

        memcpy(out, &c, sizeof(c));
        break;
    }
    case BOUMA_TYPE_I64:
    case BOUMA_TYPE_U64: {
        uint64_t c = mixed ^ (uint64_t)n;

        memcpy(out, &c, sizeof(c));
        break;
    }
    case BOUMA_TYPE_STRING:
        break;
    }
}

/* The samples of a lattice, dense: 'first' the index of the first, 2^level
 * apart. The caller frees it. */
static void *values_of(const struct variable *v, const bouma_grid_spec *spec,
                       int64_t step, const int64_t *shape, const int64_t *first,
                       int level)
{
    size_t size = bouma_type_size(v->type), samples = 1;
    int64_t n[3] = {1, 1, 1}, from[3] = {0, 0, 0}, i[3];
    uint8_t *all, *p;

    for (int d = 0; d < spec->ndims; d++) {
        n[3 - spec->ndims + d] = shape[d];
        from[3 - spec->ndims + d] = first[d];
        samples *= (size_t)shape[d];
    }
    p = all = malloc(samples * size * (size_t)v->components + 1);
    if (!all)
        exit(2);
    for (i[0] = 0; i[0] < n[0]; i[0]++)
        for (i[1] = 0; i[1] < n[1]; i[1]++)
            for (i[2] = 0; i[2] < n[2]; i[2]++)
                for (int c = 0; c < v->components; c++, p += size) {
                    int64_t at[3];

                    for (int d = 0; d < 3; d++)
                        at[d] = from[d] + (i[d] << level);
                    value_of(p, v, step, at, c);
                }
    return all;
}

/* ---- attributes --------------------------------------------------------- */

static const int8_t some_i8[] = {-128, 0, 127};
static const int16_t some_i16[] = {-32768, 7};
static const int32_t some_i32[] = {INT32_MIN, -1, INT32_MAX};
static const int64_t some_i64[] = {INT64_MIN, INT64_MAX};
static const uint8_t some_u8[] = {0, 255};
static const uint16_t some_u16[] = {65535};
static const uint32_t some_u32[] = {4294967295u, 1};
static const uint64_t some_u64[] = {UINT64_MAX, 0, 5};
static const float some_f32[] = {-0.5f, 1.25f, INFINITY};
static const double some_f64[] = {0.1, -1e300, 4.9e-324};

#define SOME(type, values)                                                     \
    {                                                                          \
        sizeof(bouma_attribute), #values, type,                                \
            sizeof(values) / sizeof(*(values)), values                         \
    }

static const bouma_attribute attributes[] = {
    SOME(BOUMA_TYPE_I8, some_i8),
    SOME(BOUMA_TYPE_I16, some_i16),
    SOME(BOUMA_TYPE_I32, some_i32),
    SOME(BOUMA_TYPE_I64, some_i64),
    SOME(BOUMA_TYPE_U8, some_u8),
    SOME(BOUMA_TYPE_U16, some_u16),
    SOME(BOUMA_TYPE_U32, some_u32),
    SOME(BOUMA_TYPE_U64, some_u64),
    SOME(BOUMA_TYPE_F32, some_f32),
    SOME(BOUMA_TYPE_F64, some_f64),
    {sizeof(bouma_attribute), "text", BOUMA_TYPE_STRING, 11,
     "gr\xc3\xbc\xc3\x9f Gott"},
    {sizeof(bouma_attribute), "empty text", BOUMA_TYPE_STRING, 0, ""},
};

enum { ATTRIBUTES = sizeof(attributes) / sizeof(attributes[0]) };

/* All of them, and one that tells where they are. */
static int set_attributes(bouma_attributes *to, const char *owner)
{
    int rc = bouma_attributes_set_text(to, "place", owner);

    for (int i = 0; i < ATTRIBUTES && !rc; i++)
        rc = bouma_attributes_set(to, attributes[i].name, attributes[i].type,
                                  attributes[i].count, attributes[i].values);
    return rc;
}

static int wrong_attributes(const bouma_attributes *from, const char *owner,
                            int expected)
{
    int wrong = bouma_attributes_count(from) != (expected ? ATTRIBUTES + 1 : 0);
    bouma_attribute got = {.size = sizeof(got)};

    if (!expected)
        return wrong;
    wrong += bouma_attributes_find(&got, from, "place") ||
             got.type != BOUMA_TYPE_STRING || strcmp(got.values, owner);
    for (int i = 0; i < ATTRIBUTES; i++) {
        const bouma_attribute *a = &attributes[i];

        wrong +=
            bouma_attributes_find(&got, from, a->name) || got.type != a->type ||
            got.count != a->count ||
            memcmp(got.values, a->values, a->count * bouma_type_size(a->type));
    }
    if (wrong)
        printf("attributes of the %s: %d are wrong\n", owner, wrong);
    return wrong;
}

/* ---- writing ------------------------------------------------------------ */

/* All variables but the first of a grid come one by one, each as an extension of
 * the step. */
static int is_extended(const struct set *s)
{
    return !strcmp(s->name, "extended");
}

/* One writing of a step; if it is extended, the variables of that number. */
static int write_writing(const struct set *s, bouma_dataset *ds, int64_t step,
                         int number,
                         bouma_variable *handles[MAX_GRIDS][MAX_VARIABLES])
{
    void *kept[MAX_GRIDS][MAX_VARIABLES] = {{NULL}};
    int rc = number ? bouma_step_extend(ds, step)
                    : bouma_step_begin(ds, step, time_of(step));

    if (!rc && s->attributes && !number)
        rc = set_attributes(bouma_dataset_step_attributes(ds), "step");
    for (int g = 0; g < MAX_GRIDS && s->grids[g].name; g++)
        for (int v = 0; v < MAX_VARIABLES && !rc; v++) {
            const struct variable *variable = &s->grids[g].variables[v];
            const bouma_grid_spec *spec = &s->grids[g].spec;
            bouma_box box = {{0, 0, 0}, {0, 0, 0}};

            if (!variable->name || (variable->absent && is_last(s, step)) ||
                (is_extended(s) && v != number))
                continue;
            memcpy(box.hi, spec->shape, sizeof(box.hi));
            kept[g][v] =
                values_of(variable, spec, step, spec->shape, box.lo, 0);
            rc = test_put(handles[g][v], &box, kept[g][v]);
        }
    if (!rc)
        rc = bouma_step_end(ds);
    for (int g = 0; g < MAX_GRIDS; g++)
        for (int v = 0; v < MAX_VARIABLES; v++)
            free(kept[g][v]);
    return rc;
}

static int has_writing(const struct set *s, int64_t step, int number)
{
    for (int g = 0; g < MAX_GRIDS && s->grids[g].name; g++) {
        const struct variable *v = &s->grids[g].variables[number];

        if (v->name && !(v->absent && is_last(s, step)))
            return 1;
    }
    return 0;
}

static int write_step(const struct set *s, bouma_dataset *ds, int64_t step,
                      bouma_variable *handles[MAX_GRIDS][MAX_VARIABLES])
{
    int rc = write_writing(s, ds, step, 0, handles);

    for (int v = 1; v < MAX_VARIABLES && is_extended(s) && !rc; v++)
        if (has_writing(s, step, v))
            rc = write_writing(s, ds, step, v, handles);
    return rc;
}

static int define(const struct set *s, bouma_dataset *ds,
                  bouma_variable *handles[MAX_GRIDS][MAX_VARIABLES])
{
    int rc = BOUMA_OK;

    if (s->attributes)
        rc = set_attributes(bouma_dataset_attributes(ds), "dataset");
    for (int g = 0; g < MAX_GRIDS && s->grids[g].name && !rc; g++) {
        bouma_grid *grid;

        rc = bouma_grid_define(&grid, ds, s->grids[g].name, &s->grids[g].spec);
        if (!rc && s->attributes)
            rc = set_attributes(bouma_grid_attributes(grid), "grid");
        for (int v = 0; v < MAX_VARIABLES && !rc; v++) {
            const struct variable *from = &s->grids[g].variables[v];
            bouma_variable_spec spec = {.size = sizeof(spec),
                                        .type = from->type,
                                        .components = from->components,
                                        .codec = from->codec,
                                        .codec_level = from->codec_level,
                                        .unit = from->unit,
                                        .tolerance = from->tolerance,
                                        .tolerance_kind = from->kind};

            if (!from->name)
                break;
            rc = bouma_variable_define(&handles[g][v], grid, from->name, &spec);
            if (!rc && s->attributes)
                rc = set_attributes(bouma_variable_attributes(handles[g][v]),
                                    "variable");
        }
    }
    return rc;
}

int golden_write(int i, const char *path)
{
    bouma_variable *handles[MAX_GRIDS][MAX_VARIABLES] = {{NULL}};
    const struct set *s;
    bouma_options options = {.size = sizeof(options)};
    bouma_dataset *ds;
    int rc;

    options.durability = BOUMA_DURABILITY_FAST;
    memset(options.id, mark_of(i), sizeof(options.id));
    memcpy(options.id, "golden", 6);
    if (i >= SETS)
        return golden_particles_write(i - SETS, path, &options);
    s = &sets[i];
    options.order = s->order;
    options.assign = s->assign;
    options.files = s->files;
    rc = bouma_dataset_create(&ds, path, &options);
    if (!rc)
        rc = define(s, ds, handles);
    for (int k = 0; s->steps[k] >= 0 && !rc; k++)
        rc = write_step(s, ds, s->steps[k], handles);
    if (!rc)
        rc = bouma_dataset_close(ds);
    if (rc)
        fprintf(stderr, "%s: %s\n", path, bouma_error_message(ds));
    bouma_dataset_free(ds);
    for (int k = 0; golden_has_offsets(i) && s->steps[k] >= 0 && !rc; k++)
        rc = golden_store_offsets(path, s->steps[k]) ? BOUMA_EIO : BOUMA_OK;
    for (int k = 0; golden_has_sheets(i) && s->steps[k] >= 0 && !rc; k++) {
        char name[1200];

        snprintf(name, sizeof(name), "%s/steps/%08" PRId64 "/manifest", path,
                 s->steps[k]);
        rc = golden_cut_manifest(name, 2) ? BOUMA_EIO : BOUMA_OK;
    }
    return rc;
}

/* ---- reading ------------------------------------------------------------ */

static int told(int wrong, const char *set, int64_t step, const char *what)
{
    if (wrong)
        printf("%s, step %" PRId64 ": %s\n", set, step, what);
    return wrong != 0;
}

static double value_at(const void *values, bouma_type type, size_t i)
{
    return type == BOUMA_TYPE_F32 ? (double)((const float *)values)[i]
                                  : ((const double *)values)[i];
}

/* Of 'bytes' bytes: with a bound, finite numbers may be that far off. */
static int wrong_values(const void *got, const void *right, size_t bytes,
                        const bouma_variable_info *info)
{
    if (!(info->tolerance > 0))
        return memcmp(got, right, bytes) != 0;
    for (size_t i = 0; i < bytes / bouma_type_size(info->type); i++) {
        double a = value_at(got, info->type, i);
        double b = value_at(right, info->type, i);

        if (isfinite(b) ? !(fabs(a - b) <= info->bound)
            : isnan(b)  ? !isnan(a)
                        : a != b)
            return 1;
    }
    return 0;
}

static int wrong_variable(const struct set *s, int64_t step,
                          const struct grid *grid, const struct variable *v,
                          bouma_variable *handle)
{
    int absent = v->absent && is_last(s, step), wrong = 0;
    bouma_variable_info info = {.size = sizeof(info)};
    bouma_range range;

    bouma_variable_info_get(&info, handle);
    wrong += info.type != v->type || info.components != v->components ||
             info.codec != v->codec || info.codec_level != v->codec_level ||
             info.tolerance != v->tolerance || info.tolerance_kind != v->kind ||
             info.largest_error > info.bound ||
             strcmp(info.unit, v->unit ? v->unit : "");
    wrong += info.present == absent;
    wrong += wrong_attributes(bouma_variable_attributes(handle), "variable",
                              s->attributes);
    wrong += (bouma_variable_range(&range, handle, 0) != 0) != absent;
    for (int level = 0; level < (grid->spec.levels ? grid->spec.levels : 1);
         level++) {
        bouma_selection sel = {.size = sizeof(sel)};
        uint8_t *got, *right;
        int rc = bouma_variable_select(&sel, handle, level, NULL);

        got = malloc(sel.bytes + 1);
        if (rc || !got)
            exit(2);
        right = values_of(v, &grid->spec, step, sel.shape, sel.first, level);
        rc = test_read(handle, level, NULL, got);
        if (absent)
            wrong += rc != BOUMA_ENOTFOUND;
        else /* averages are what compare_golden.py says */
            wrong += rc || (!(info.averages && level) &&
                            wrong_values(got, right, sel.bytes, &info));
        free(got);
        free(right);
    }
    return told(wrong, s->name, step, v->name);
}

static int wrong_grid(const struct set *s, int64_t step, const struct grid *g,
                      bouma_grid *handle)
{
    bouma_grid_info info = {.size = sizeof(info)};
    int wrong = 0, n = 0;

    bouma_grid_info_get(&info, handle);
    wrong += info.ndims != g->spec.ndims ||
             (g->spec.levels && info.levels != g->spec.levels) ||
             strcmp(info.unit, g->spec.unit ? g->spec.unit : "");
    for (int d = 0; d < g->spec.ndims; d++)
        wrong += info.shape[d] != g->spec.shape[d] ||
                 info.origin[d] != g->spec.origin[d] ||
                 info.spacing[d] !=
                     (g->spec.spacing[d] != 0 ? g->spec.spacing[d] : 1);
    wrong +=
        wrong_attributes(bouma_grid_attributes(handle), "grid", s->attributes);
    wrong = told(wrong, s->name, step, g->name);
    for (; n < MAX_VARIABLES && g->variables[n].name; n++) {
        bouma_variable *v =
            bouma_grid_find_variable(handle, g->variables[n].name);

        wrong += v ? wrong_variable(s, step, g, &g->variables[n], v)
                   : told(1, s->name, step, "a variable is missing");
    }
    return wrong +
           told(info.variables != n, s->name, step, "the number of variables");
}

static int wrong_step(const struct set *s, bouma_dataset *ds, int64_t number)
{
    bouma_step_details details = {.size = sizeof(details)};
    bouma_step *step;
    int wrong = 0;

    if (bouma_step_open(&step, ds, number))
        return told(1, s->name, number, bouma_error_message(ds));
    bouma_step_details_get(&details, step);
    wrong += told(details.time != time_of(number) || details.order != s->order,
                  s->name, number, "time or order");
    wrong +=
        wrong_attributes(bouma_step_attributes(step), "step", s->attributes);
    for (int g = 0; g < MAX_GRIDS && s->grids[g].name; g++) {
        bouma_grid *grid = bouma_step_find_grid(step, s->grids[g].name);

        wrong += grid ? wrong_grid(s, number, &s->grids[g], grid)
                      : told(1, s->name, number, "a grid is missing");
    }
    bouma_step_free(step);
    return wrong;
}

int golden_differences(int i, const char *path)
{
    const struct set *s = &sets[i < SETS ? i : 0];
    bouma_verify_report report = {.size = sizeof(report)};
    bouma_dataset *ds;
    int wrong = 0, k = 0;

    if (i >= SETS)
        return golden_particles_differences(i - SETS, path);
    if (bouma_dataset_open(&ds, path, NULL)) {
        wrong += told(1, s->name, -1, bouma_error_message(ds));
        bouma_dataset_free(ds);
        return wrong;
    }
    wrong += wrong_attributes(bouma_dataset_attributes(ds), "dataset",
                              s->attributes);
    for (; s->steps[k] >= 0; k++)
        wrong += wrong_step(s, ds, s->steps[k]);
    wrong += told(bouma_dataset_step_count(ds) != k, s->name, -1,
                  "the number of steps");
    bouma_dataset_free(ds);
    wrong += told(bouma_verify(&report, path, BOUMA_DEPTH_DEEP, NULL, NULL,
                               NULL, NULL, 0) ||
                      report.damages || report.notes,
                  s->name, -1, "verify has findings");
    return wrong;
}
