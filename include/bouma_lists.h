/* bouma_lists.h -- the constants of bouma.h as lists for macros.
 *
 * For programs that treat all types, codecs or statuses alike, such as
 *
 *     #define CASE(name, value, ctype, text) \
 *         case BOUMA_##name: return sum_##ctype(data, count);
 *     switch (type) { BOUMA_TYPE_LIST(CASE) }
 *
 * Each entry has the constant's name without BOUMA_, its value and its text,
 * and for types also the C type. All enums are here; BOUMA_TYPE_STRING alone,
 * which is no type of samples, is in no list. bouma.h does not include this
 * header. */
#ifndef BOUMA_LISTS_H
#define BOUMA_LISTS_H

#include "bouma.h"

#define BOUMA_STATUS_LIST(X)                                                   \
    X(OK, 0, "success")                                                        \
    X(EINVAL, -1, "wrong argument")                                            \
    X(ENOMEM, -2, "out of memory")                                             \
    X(EIO, -3, "a file could not be read or written")                          \
    X(EFORMAT, -4, "not a bouma file, or a damaged one")                       \
    X(EVERSION, -5, "written by a newer version")                              \
    X(ENOTFOUND, -6, "no such thing")                                          \
    X(EEXISTS, -7, "exists already")                                           \
    X(EMISMATCH, -8, "the ranks disagree")                                     \
    X(ECOVER, -9, "blocks overlap or are missing")                             \
    X(EBUSY, -10, "another writer is at work")                                 \
    X(ELIMIT, -11, "beyond a limit")                                           \
    X(ESTATE, -12, "not allowed at this point")                                \
    X(EABORTED, -13, "aborted by the caller")                                  \
    X(ECOMM, -14, "message passing failed")                                    \
    X(ENOSPC, -15, "no space left")

#define BOUMA_TYPE_LIST(X)                                                     \
    X(TYPE_I8, 1, int8_t, "i8")                                                \
    X(TYPE_I16, 2, int16_t, "i16")                                             \
    X(TYPE_I32, 3, int32_t, "i32")                                             \
    X(TYPE_I64, 4, int64_t, "i64")                                             \
    X(TYPE_U8, 5, uint8_t, "u8")                                               \
    X(TYPE_U16, 6, uint16_t, "u16")                                            \
    X(TYPE_U32, 7, uint32_t, "u32")                                            \
    X(TYPE_U64, 8, uint64_t, "u64")                                            \
    X(TYPE_F32, 9, float, "f32")                                               \
    X(TYPE_F64, 10, double, "f64")

#define BOUMA_DURABILITY_LIST(X)                                               \
    X(DURABILITY_DURABLE, 1, "durable")                                        \
    X(DURABILITY_FAST, 2, "fast")                                              \
    X(DURABILITY_GROUP, 3, "group")

#define BOUMA_DISTRIBUTE_LIST(X)                                               \
    X(DISTRIBUTE_BALANCED, 1, "balanced")                                      \
    X(DISTRIBUTE_GREEDY, 2, "greedy")                                          \
    X(DISTRIBUTE_NONE, 3, "none")                                              \
    X(DISTRIBUTE_WEIGHTED, 4, "weighted")

#define BOUMA_ASSIGN_LIST(X)                                                   \
    X(ASSIGN_OPTIMAL, 1, "optimal")                                            \
    X(ASSIGN_RUNNING, 2, "running")                                            \
    X(ASSIGN_COUNT, 3, "count")                                                \
    X(ASSIGN_PER_RANK, 4, "per-rank")                                          \
    X(ASSIGN_SINGLE, 5, "single")                                              \
    X(ASSIGN_KDTREE, 6, "kdtree")                                              \
    X(ASSIGN_AUG, 7, "aug")                                                    \
    X(ASSIGN_SPLIT, 8, "split")                                                \
    X(ASSIGN_PER_NODE, 9, "per-node")

#define BOUMA_PLACE_LIST(X)                                                    \
    X(PLACE_SPREAD, 1, "spread")                                               \
    X(PLACE_FIRST, 2, "first")                                                 \
    X(PLACE_COST, 3, "cost")                                                   \
    X(PLACE_LOCAL, 4, "local")

#define BOUMA_ORDER_LIST(X)                                                    \
    X(ORDER_LEVEL, 1, "level")                                                 \
    X(ORDER_CHUNK, 2, "chunk")

#define BOUMA_LAYOUT_LIST(X)                                                   \
    X(LAYOUT_PATCH, 1, "patch")                                                \
    X(LAYOUT_TREE, 2, "tree")                                                  \
    X(LAYOUT_HZ, 3, "hz")

#define BOUMA_HZ_ORDER_LIST(X)                                                 \
    X(HZ_ORDER_ROWS, 1, "rows")                                                \
    X(HZ_ORDER_CURVE, 2, "hz")

#define BOUMA_HZ_INDEX_LIST(X)                                                 \
    X(HZ_INDEX_GLOBAL, 1, "global")                                            \
    X(HZ_INDEX_LOCAL, 2, "local")

#define BOUMA_RANK_ORDER_LIST(X)                                               \
    X(RANK_ORDER_ROW_MAJOR, 1, "row-major")                                    \
    X(RANK_ORDER_COLUMN_MAJOR, 2, "column-major")                              \
    X(RANK_ORDER_MORTON, 3, "morton")

#define BOUMA_CODEC_LIST(X)                                                    \
    X(CODEC_ZSTD, 1, "zstd")                                                   \
    X(CODEC_RAW, 2, "raw")                                                     \
    X(CODEC_INTERP, 3, "interp")                                               \
    X(CODEC_WAVELET, 4, "wavelet")                                             \
    X(CODEC_QUANTISE, 6, "quantise")                                           \
    X(CODEC_EXACT, 7, "exact")

#define BOUMA_TIER_LIST(X)                                                     \
    X(TIER_DRAM, 1, "dram")                                                    \
    X(TIER_HBM, 2, "hbm")                                                      \
    X(TIER_LOCAL, 3, "local")

#define BOUMA_TRANSPORT_LIST(X)                                                \
    X(TRANSPORT_MESSAGES, 1, "messages")                                       \
    X(TRANSPORT_WINDOWS, 2, "windows")

#define BOUMA_PREDICT_LIST(X)                                                  \
    X(PREDICT_OFF, 1, "off")                                                   \
    X(PREDICT_ON, 2, "on")

#define BOUMA_PLANNING_LIST(X)                                                 \
    X(PLANNING_NODE, 1, "node")                                                \
    X(PLANNING_LOCAL, 2, "local")

#define BOUMA_AXES_LIST(X)                                                     \
    X(AXES_XYZ, 1, "xyz")                                                      \
    X(AXES_ZYX, 2, "zyx")

#define BOUMA_CONVERT_LIST(X)                                                  \
    X(CONVERT_EXACT, 0, "exact")                                               \
    X(CONVERT_ROUND, 1, "round")

#define BOUMA_COPY_DIRECTION_LIST(X)                                           \
    X(COPY_DIRECTION_FROM_ARRAY, 1, "from-array")                              \
    X(COPY_DIRECTION_TO_ARRAY, 2, "to-array")

#define BOUMA_COMPONENT_ORDER_LIST(X)                                          \
    X(COMPONENT_ORDER_PLANAR, 1, "planar")                                     \
    X(COMPONENT_ORDER_INTERLEAVED, 2, "interleaved")

#define BOUMA_TOLERANCE_LIST(X)                                                \
    X(TOLERANCE_ABSOLUTE, 0, "absolute")                                       \
    X(TOLERANCE_RELATIVE, 1, "relative")

#define BOUMA_OPTION_USE_LIST(X)                                               \
    X(OPTION_USE_SAME, 1, "same")                                              \
    X(OPTION_USE_STEPS, 2, "steps")                                            \
    X(OPTION_USE_PLAN, 4, "plan")

#define BOUMA_DEPTH_LIST(X)                                                    \
    X(DEPTH_QUICK, 1, "quick")                                                 \
    X(DEPTH_META, 2, "meta")                                                   \
    X(DEPTH_FULL, 3, "full")                                                   \
    X(DEPTH_DEEP, 4, "deep")

#define BOUMA_SEVERITY_LIST(X)                                                 \
    X(SEVERITY_NOTE, 1, "note")                                                \
    X(SEVERITY_DAMAGE, 2, "damage")                                            \
    X(SEVERITY_UNCHECKED, 3, "unchecked")

#define BOUMA_FILE_MODE_LIST(X)                                                \
    X(FILE_MODE_READ, 1, "read")                                               \
    X(FILE_MODE_CREATE, 2, "create")                                           \
    X(FILE_MODE_UPDATE, 3, "update")

#define BOUMA_OPEN_MODE_LIST(X)                                                \
    X(OPEN_MODE_READ, 1, "read")                                               \
    X(OPEN_MODE_CREATE, 2, "create")                                           \
    X(OPEN_MODE_APPEND, 3, "append")                                           \
    X(OPEN_MODE_UPDATE, 4, "update")                                           \
    X(OPEN_MODE_EMPTY, 5, "empty")                                             \
    X(OPEN_MODE_VIEW, 6, "view")

#define BOUMA_LIMIT_LIST(X)                                                    \
    X(LIMIT_NONE, 0, "none")                                                   \
    X(LIMIT_BYTES, 1, "bytes")                                                 \
    X(LIMIT_POINTS, 2, "points")                                               \
    X(LIMIT_ERROR, 3, "error")

#define BOUMA_BASIS_LIST(X)                                                    \
    X(BASIS_INDEX, 1, "index")                                                 \
    X(BASIS_SAMPLE, 2, "sample")                                               \
    X(BASIS_EXACT, 3, "exact")

#endif
