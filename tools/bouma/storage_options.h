/* storage_options.h -- the options that say how values are stored, for commands
 * that write new grids or particles; import_request_storage() reads them. */
#ifndef STORAGE_OPTIONS_H
#define STORAGE_OPTIONS_H

#include "bouma_lists.h"
#include "choice_names.h"

/* Rows of a table of options. */
#define STORAGE_OPTIONS                                                        \
    {.name = "codec",                                                          \
     .argument = "CODEC",                                                      \
     .choices = CHOICES(BOUMA_CODEC_LIST),                                     \
     .help = "how values are stored; default: zstd, with a tolerance interp "  \
             "(particles: quantise)"},                                         \
        {.name = "tolerance",                                                  \
         .argument = "E",                                                      \
         .help =                                                               \
             "largest error of any value; default: none, every bit is kept; "  \
             "particles: for all f32 and f64 variables"},                      \
        {.name = "relative",                                                   \
         .scope = FOR_GRIDS,                                                   \
         .argument = "E",                                                      \
         .help = "largest error, as a fraction of the range of the variable"}, \
        {.name = "codec-level",                                                \
         .argument = "N",                                                      \
         .help = "effort of zstd, 1 to 22; default: 1"},                       \
        {.name = "nominal",                                                    \
         .scope = FOR_GRIDS,                                                   \
         .help = "wavelet: faster, but the tolerance is that of "              \
                 "coefficients, and "                                          \
                 "errors are not checked"},                                    \
        {.name = "layout",                                                     \
         .scope = FOR_GRIDS,                                                   \
         .argument = "LAYOUT",                                                 \
         .choices = "patch|hz",                                                \
         .help =                                                               \
             "patch: patches with their levels (default); hz: one HZ order "   \
             "over the whole grid"},                                           \
        {.name = "hz-template",                                                \
         .scope = FOR_GRIDS,                                                   \
         .argument = "TEMPLATE",                                               \
         .help =                                                               \
             "layout hz: the axis that each split halves, such as zyxzyx, "    \
             "the "                                                            \
             "coarsest split first; default: always the longest axis; ranks: " \
             "as --hz-ranks says"},                                            \
        {.name = "hz-ranks",                                                   \
         .scope = FOR_GRIDS,                                                   \
         .argument = "PZ,PY,PX",                                               \
         .help = "--hz-template ranks: make it for so many ranks along each "  \
                 "axis, "                                                      \
                 "each with a block; default: the processes of this call"},    \
        {.name = "rank-order",                                                 \
         .scope = FOR_GRIDS,                                                   \
         .argument = "ORDER",                                                  \
         .choices = CHOICES(BOUMA_RANK_ORDER_LIST),                            \
         .help = "--hz-template ranks: how these are numbered; default: "      \
                 "row-major"},                                                 \
        {.name = "hz-block-bits",                                              \
         .scope = FOR_GRIDS,                                                   \
         .argument = "B",                                                      \
         .help =                                                               \
             "layout hz: blocks have 2^B samples; default: 15, less for a "    \
             "smaller grid"},                                                  \
        {.name = "hz-blocks-per-file",                                         \
         .scope = FOR_GRIDS,                                                   \
         .argument = "N",                                                      \
         .help =                                                               \
             "layout hz: blocks of each variable in a file; default: 512"},    \
        {.name = "hz-order",                                                   \
         .scope = FOR_GRIDS,                                                   \
         .argument = "ORDER",                                                  \
         .choices = CHOICES(BOUMA_HZ_ORDER_LIST),                              \
         .help = "layout hz: samples of a block in rows (default), or in HZ "  \
                 "order"},                                                     \
        {.name = "hz-partitions",                                              \
         .scope = FOR_GRIDS,                                                   \
         .argument = "R",                                                      \
         .help =                                                               \
             "layout hz: cut the grid along the first splits into R parts, a " \
             "power of two, that are written separately"},                     \
        {.name = "hz-index",                                                   \
         .scope = FOR_GRIDS,                                                   \
         .argument = "INDEX",                                                  \
         .choices = CHOICES(BOUMA_HZ_INDEX_LIST),                              \
         .help = "global: partitions share the blocks and files of the whole " \
                 "grid "                                                       \
                 "(default; no more partitions than ranks); local: each has "  \
                 "its own"},                                                   \
        {.name = "hz-wavelet",                                                 \
         .scope = FOR_GRIDS,                                                   \
         .help =                                                               \
             "layout hz: wavelet coefficients in place of samples; coarse "    \
             "levels of f32 and f64 are averages"},                            \
        {.name = "hz-tile-bits",                                               \
         .scope = FOR_GRIDS,                                                   \
         .argument = "T",                                                      \
         .help = "hz-wavelet: transform tiles of 2^T samples, which are read " \
                 "whole; default: 15, less for a smaller grid"},               \
        {.name = "idx",                                                        \
         .scope = FOR_GRIDS,                                                   \
         .help = "layout hz: OpenVisus and PIDX can read the dataset as "      \
                 "DS/idx/GRID.idx; samples are raw, in HZ order"},             \
        {.name = "patch",                                                      \
         .scope = FOR_GRIDS,                                                   \
         .argument = "P[,P,P]",                                                \
         .help = "samples of a patch along each axis, powers of two"},         \
    {                                                                          \
        .name = "levels", .scope = FOR_GRIDS, .argument = "L",                 \
        .help = "levels of resolution"                                         \
    }

#endif
