/* bouma_base.h -- statuses, types, boxes, arrays and options: what all other
 * headers of bouma use. */
#ifndef BOUMA_BASE_H
#define BOUMA_BASE_H

#include <stddef.h>
#include <stdint.h>

#include "bouma_store.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- version ------------------------------------------------------------ */

/* The version that a program is compiled with. */
#define BOUMA_VERSION_MAJOR 0
#define BOUMA_VERSION_MINOR 1
#define BOUMA_VERSION_PATCH 0

/* To compare: 10203 is version 1.2.3. */
#define BOUMA_VERSION_NUMBER                                                   \
    (BOUMA_VERSION_MAJOR * 10000 + BOUMA_VERSION_MINOR * 100 +                 \
     BOUMA_VERSION_PATCH)

/* The version of the library in use, such as "0.1.0", and its number. Programs
 * work with any library that has the same SONAME and at least the number that
 * they were compiled with: see docs/versions.md. */
BOUMA_API const char *bouma_version(void);
BOUMA_API int bouma_version_number(void);

/* How the library in use was built. Of "mpi", "hwloc", "zstd", "zfp" and
 * "xxhash" the version it was built with, or "no" if it does without; further
 * "compiler", "processor" and "type" (such as "Release"). NULL for other names.
 * And the i-th of these names; NULL past the last. */
BOUMA_API const char *bouma_build_info(const char *name);
BOUMA_API const char *bouma_build_field(int i);

/* ---- status ------------------------------------------------------------- */

/* Values never change. */
typedef enum bouma_status {
    BOUMA_OK = 0,         /* success */
    BOUMA_EINVAL = -1,    /* wrong argument */
    BOUMA_ENOMEM = -2,    /* out of memory */
    BOUMA_EIO = -3,       /* a file could not be read or written */
    BOUMA_EFORMAT = -4,   /* not a bouma file, or a damaged one */
    BOUMA_EVERSION = -5,  /* written by a newer version */
    BOUMA_ENOTFOUND = -6, /* no such thing */
    BOUMA_EEXISTS = -7,   /* exists already */
    BOUMA_EMISMATCH = -8, /* the ranks disagree */
    BOUMA_ECOVER = -9,    /* blocks overlap or are missing */
    BOUMA_EBUSY = -10,    /* another writer is at work */
    BOUMA_ELIMIT = -11,   /* beyond a limit */
    BOUMA_ESTATE = -12,   /* not allowed at this point */
    BOUMA_EABORTED = -13, /* aborted by the caller */
    BOUMA_ECOMM = -14,    /* message passing failed */
    BOUMA_ENOSPC = -15    /* no space left */
} bouma_status;

/* BOUMA_ECOMM is permanent: MPI has failed, or a rank did not come within the
 * option 'timeout'. Ranks that had already left the call get it from the next
 * one. Free the handle, which waits for nobody. Keep the arrays of the failed
 * call unchanged until MPI is finalized, since MPI may still send from them or
 * receive into them. */

/* "ENOMEM" and "out of memory" for BOUMA_ENOMEM. */
BOUMA_API const char *bouma_status_name(int status);
BOUMA_API const char *bouma_status_text(int status);

/* ---- types -------------------------------------------------------------- */

/* The types of samples and attributes: int8_t to uint64_t, float, double. */
typedef enum bouma_type {
    BOUMA_TYPE_I8 = 1,
    BOUMA_TYPE_I16 = 2,
    BOUMA_TYPE_I32 = 3,
    BOUMA_TYPE_I64 = 4,
    BOUMA_TYPE_U8 = 5,
    BOUMA_TYPE_U16 = 6,
    BOUMA_TYPE_U32 = 7,
    BOUMA_TYPE_U64 = 8,
    BOUMA_TYPE_F32 = 9,
    BOUMA_TYPE_F64 = 10,
    BOUMA_TYPE_STRING = 11 /* attributes only: bytes of UTF-8 */
} bouma_type;

/* Bytes of one value (1 for BOUMA_TYPE_STRING, 0 for an unknown type); the name
 * of a type ("f32", "string"), or NULL; the type of a name, or 0. */
BOUMA_API size_t bouma_type_size(bouma_type type);
BOUMA_API const char *bouma_type_name(bouma_type type);
BOUMA_API bouma_type bouma_type_parse(const char *text);

/* Room for axes, in structs. Grids and positions have 1 to 3 axes; more are
 * refused. */
#define BOUMA_MAX_DIMS 6

/* The samples lo <= index < hi, on as many axes as the grid has. */
typedef struct bouma_box {
    int64_t lo[BOUMA_MAX_DIMS];
    int64_t hi[BOUMA_MAX_DIMS];
} bouma_box;

/* The order of axes in a bouma_bounds. Values never change. */
typedef enum bouma_axes {
    BOUMA_AXES_XYZ = 1, /* low[0] is x: the first coordinate of particles, the
                           last axis of a grid */
    BOUMA_AXES_ZYX = 2  /* the C order of a grid: low[0] is its first axis, the
                           last coordinate of particles */
} bouma_axes;

/* A box in physical coordinates, of particles and grids alike: low <= position
 * < high along each axis that they have; further axes are not looked at. Ends
 * may be infinite, not NaN. If low is not below high, nothing is inside. 'axes'
 * must be given. This struct never grows. */
typedef struct bouma_bounds {
    bouma_axes axes;
    unsigned closed; /* axes, as bits (1 << i), on which high[i] is included */
    double low[BOUMA_MAX_DIMS], high[BOUMA_MAX_DIMS];
} bouma_bounds;

/* A number with its type: BOUMA_TYPE_I64 in 'i', _U64 in 'u' or _F64 in 'f',
 * and 0 in the other two; type 0: there is none. This struct never grows. */
typedef struct bouma_value {
    bouma_type type;
    int64_t i;
    uint64_t u;
    double f;
} bouma_value;

/* A value of each type. */
BOUMA_API bouma_value bouma_value_int(int64_t number);
BOUMA_API bouma_value bouma_value_uint(uint64_t number);
BOUMA_API bouma_value bouma_value_real(double number);

/* ---- arrays ------------------------------------------------------------- */

/* An array may have another type than its variable: values are converted when
 * they are put or read. Without BOUMA_CONVERT_ROUND, each must be the same
 * number in the other type: 3.0 becomes 3, but 0.1 has no equal in f32 or i32.
 * With it, a value becomes the nearest one that the other type has, and of two
 * equally near ones the even one.
 *
 * Nothing is ever clipped. Numbers beyond the range of the other type are
 * refused, f64 beyond that of f32 included, and so are NaN and infinities where
 * the other type is of integers. The call, or the step, then fails with
 * BOUMA_EINVAL, and the message has the sample and the value. Between floats,
 * NaN stays NaN (its payload may change), infinities stay infinite, and -0
 * keeps its sign; as an integer, -0 is 0. */
typedef enum bouma_convert {
    BOUMA_CONVERT_EXACT = 0, /* refuse what is not the same (default) */
    BOUMA_CONVERT_ROUND = 1  /* round to the nearest */
} bouma_convert;

/* Which way bytes go in a copy. */
typedef enum bouma_copy_direction {
    BOUMA_COPY_DIRECTION_FROM_ARRAY = 1, /* a put: array to host memory */
    BOUMA_COPY_DIRECTION_TO_ARRAY = 2    /* a read: host memory to array */
} bouma_copy_direction;

/* One copy between an array that the processor cannot reach and host memory:
 * count[0] planes of count[1] rows of 'run' bytes. Row j of plane i is at
 *
 *     to + i * to_stride[0] + j * to_stride[1]
 *
 * and likewise in 'from'. 'ndims' says what is needed: 0, one run; 1, rows; 2,
 * planes of rows. A count that is not needed is 1, and its stride is that of a
 * dense copy. Strides are positive, and those of rows at least 'run': a 2-D
 * copy of CUDA or HIP for each plane is enough. */
typedef struct bouma_copy {
    size_t size; /* set by the library */
    bouma_copy_direction direction;
    int ndims;
    void *to;
    const void *from;
    size_t run;
    size_t count[2];
    int64_t to_stride[2], from_stride[2]; /* bytes */
} bouma_copy;

/* Carries out one copy, and returns when it is done: 0, or any other number if
 * it has failed; then the call fails with BOUMA_EABORTED. It is called by the
 * thread that has called the library, one copy at a time, and must not call the
 * library. */
typedef int (*bouma_copy_function)(void *user, const bouma_copy *copy);

/* An array of the caller: the samples of a box, to put or to read.
 *
 *     double field[64][64];
 *     bouma_array array = {.size = sizeof(array), .type = BOUMA_TYPE_F64,
 *                          .data = field, .bytes = sizeof(field)};
 *
 * is a dense one: in C order, the components of a sample side by side. In C,
 * BOUMA_ARRAY(BOUMA_TYPE_F64, field, sizeof(field)) is the same.
 *
 * Strides are in bytes, as in NumPy, and may be negative; all zero means dense,
 * and a component_stride of 0 that components are side by side. With a
 * component_stride alone, each component is a dense array. In a put, a single
 * stride of 0 repeats a sample; in a read it is BOUMA_EINVAL, and so are
 * strides with which values would overlap; in either, any other stride shorter
 * than a value.
 *
 * 'bytes' is the size of the memory that the array lies in. If the samples of
 * the box, from the first byte to the last, take more than that, the call fails
 * with BOUMA_EINVAL, and its message says how many bytes are needed.
 *
 * 'parts' has an array for each component, instead of 'data'. Strides and
 * 'bytes' are then those of each part.
 *
 * With 'copy', the library never uses 'data' or 'parts' itself, but only
 * computes addresses from them for that function, as for arrays on a GPU.
 *
 * The struct and the list of parts may go once the call has returned. A put
 * never changes the values. */
typedef struct bouma_array {
    size_t size;     /* sizeof(bouma_array) */
    bouma_type type; /* of the values in memory; must be given */
    bouma_convert convert;
    void *data;   /* the first sample of the box; NULL: see 'parts' */
    size_t bytes; /* of the memory, or of each of the parts */
    int64_t stride[BOUMA_MAX_DIMS];
    int64_t component_stride;
    void *const *parts;       /* [components]; component_stride must be 0 */
    int64_t part_offset;      /* bytes from each part to its first sample */
    bouma_copy_function copy; /* NULL: the processor can use the memory */
    void *copy_user;          /* the first argument of 'copy' */
    size_t copy_bytes;        /* most bytes in one copy; 0: 4 MiB */
} bouma_array;

/* A dense array in one expression of C (a compound literal, which C++ lacks);
 * constant data are fine for a put. */
#define BOUMA_ARRAY(type_, data_, bytes_)                                      \
    ((bouma_array){.size = sizeof(bouma_array),                                \
                   .type = (type_),                                            \
                   .data = (void *)(data_),                                    \
                   .bytes = (bytes_)})

/* Turn 'array', a dense array of extent[ndims] samples with 'components' values
 * each, into the part of it that begins at index 'first': set the strides, and
 * move 'data' to that sample; 'bytes' are those from there on. With 'parts',
 * each of which is such an array of one component, only 'part_offset' is set.
 * So a box without its ghost cells is
 *
 *     double field[66][66];
 *     bouma_array inner = BOUMA_ARRAY(BOUMA_TYPE_F64, field, sizeof(field));
 *     bouma_array_inside(&inner, 1, 2, (int64_t[]){66, 66},
 *                        (int64_t[]){1, 1}, NULL, 0);
 *
 * BOUMA_EINVAL if the array is too small for that extent or has strides
 * already, 'first' is not in it, or ndims is not 1 to 3: 'message' (of 'bytes'
 * bytes, may be NULL) says which. Every call then refuses the array, so it is
 * enough to check the status there. */
BOUMA_API int bouma_array_inside(bouma_array *array, int components, int ndims,
                                 const int64_t *extent, const int64_t *first,
                                 char *message, size_t bytes);

/* ---- options ------------------------------------------------------------ */

/* Choices. Values never change. bouma_lists.h has all constants as lists for
 * macros. */

/* What a step survives once it has ended. After a power loss the last fast
 * steps may be gone, but are never silently wrong. The steps of a group become
 * visible and durable together, at the cost of one; bouma_dataset_flush() and
 * _close() finish a group early. */
typedef enum bouma_durability {
    BOUMA_DURABILITY_DURABLE = 1, /* a power loss (default) */
    BOUMA_DURABILITY_FAST = 2,    /* a killed program */
    BOUMA_DURABILITY_GROUP = 3    /* a power loss, 'group' steps at once */
} bouma_durability;

/* Which rank assembles and encodes a patch. `weighted` balances the encoding
 * times of the previous step: the encoding rank then differs from run to run,
 * the bytes of a chunk do not. */
typedef enum bouma_distribute {
    BOUMA_DISTRIBUTE_BALANCED = 1, /* equal, few moved (default) */
    BOUMA_DISTRIBUTE_GREEDY = 2,   /* the rank that holds most of it */
    BOUMA_DISTRIBUTE_NONE = 3,     /* the first rank that holds some */
    BOUMA_DISTRIBUTE_WEIGHTED = 4  /* balanced in time, not number */
} bouma_distribute;

/* Which file holds a chunk. The first three cut the sequence of chunks (for
 * particles, of ranks along a Morton curve) into runs. `optimal` makes the
 * largest file as small as possible, including its tables, but for up to 63
 * bytes of alignment (for particles: as few particles as possible; with
 * `predict`, by the sizes of the last step). `kdtree`, `aug` and `split` are
 * for particles, and mean `optimal` for grids; `split` divides ranks that have
 * more than others. By default, grids are assigned as by `per-rank` where each
 * of several ranks is to write a file and none has more than a tenth above the
 * mean, so that nothing is shipped, else, and with `weighted`, as by `optimal`;
 * particles as by `split`, but ranks are divided only where that saves time. */
typedef enum bouma_assign {
    BOUMA_ASSIGN_OPTIMAL = 1,  /* the largest file is smallest */
    BOUMA_ASSIGN_RUNNING = 2,  /* running average of the rest */
    BOUMA_ASSIGN_COUNT = 3,    /* equal numbers of chunks */
    BOUMA_ASSIGN_PER_RANK = 4, /* one file for each encoding rank */
    BOUMA_ASSIGN_SINGLE = 5,   /* one file */
    BOUMA_ASSIGN_KDTREE = 6,   /* particles: a k-d tree over ranks */
    BOUMA_ASSIGN_AUG = 7,      /* particles: a uniform grid of files */
    BOUMA_ASSIGN_SPLIT = 8,    /* particles: as kdtree, ranks divided */
    BOUMA_ASSIGN_PER_NODE = 9 /* one file for each node: see 'nodes_per_file' */
} bouma_assign;

/* Which rank writes a file. */
typedef enum bouma_place {
    BOUMA_PLACE_SPREAD = 1, /* evenly over the ranks (default) */
    BOUMA_PLACE_FIRST = 2,  /* the first ranks */
    BOUMA_PLACE_COST = 3,   /* where gathering costs least: see 'machine' */
    BOUMA_PLACE_LOCAL = 4   /* the middle one of those that send to it */
} bouma_place;

/* How chunks lie in a file. */
typedef enum bouma_order {
    BOUMA_ORDER_LEVEL = 1, /* all coarse levels first (default) */
    BOUMA_ORDER_CHUNK = 2  /* the levels of a chunk together */
} bouma_order;

/* How an object lies in files. */
typedef enum bouma_layout {
    BOUMA_LAYOUT_PATCH = 1, /* grids: patches (default) */
    BOUMA_LAYOUT_TREE = 2,  /* particles: sorted along a tree */
    BOUMA_LAYOUT_HZ = 3     /* grids: one HZ order over all samples */
} bouma_layout;

/* How samples lie in a block of layout hz. */
typedef enum bouma_hz_order {
    BOUMA_HZ_ORDER_ROWS = 1, /* C order (default) */
    BOUMA_HZ_ORDER_CURVE = 2 /* in HZ order; blocks at borders are filled up */
} bouma_hz_order;

/* Whose addresses the blocks of layout hz have, if the grid has partitions: the
 * grid's, so that files are those of a grid without partitions; or each
 * partition has its own, and files of its own. */
typedef enum bouma_hz_index {
    BOUMA_HZ_INDEX_GLOBAL = 1, /* the grid's (default) */
    BOUMA_HZ_INDEX_LOCAL = 2   /* each partition its own */
} bouma_hz_index;

/* How ranks are numbered in a grid of them. MPI_Cart_create() does it row by
 * row. */
typedef enum bouma_rank_order {
    BOUMA_RANK_ORDER_ROW_MAJOR = 1,    /* last axis fastest (default) */
    BOUMA_RANK_ORDER_COLUMN_MAJOR = 2, /* first axis fastest */
    BOUMA_RANK_ORDER_MORTON = 3        /* along a Z curve */
} bouma_rank_order;

/* How samples are stored. */
typedef enum bouma_codec {
    BOUMA_CODEC_ZSTD = 1,     /* bytes shuffled, then zstd (default) */
    BOUMA_CODEC_RAW = 2,      /* as they are */
    BOUMA_CODEC_INTERP = 3,   /* predicted; within a tolerance */
    BOUMA_CODEC_WAVELET = 4,  /* wavelets and zfp; within a tolerance */
    BOUMA_CODEC_QUANTISE = 6, /* particles; within a tolerance */
    BOUMA_CODEC_EXACT = 7     /* predicted, every bit kept */
} bouma_codec;

/* A tolerance is a number in the unit of the variable, or a fraction (below 1)
 * of its range: the largest minus the smallest finite value of the step, over
 * all components. */
typedef enum bouma_tolerance {
    BOUMA_TOLERANCE_ABSOLUTE = 0,
    BOUMA_TOLERANCE_RELATIVE = 1
} bouma_tolerance;

/* The memory in which a writer gathers bytes for its files. */
typedef enum bouma_tier {
    BOUMA_TIER_DRAM = 1, /* the main memory */
    BOUMA_TIER_HBM = 2,  /* high-bandwidth memory, if any */
    BOUMA_TIER_LOCAL = 3 /* a file in the directory 'local' */
} bouma_tier;

/* How bytes get to a writer. With `windows`, ranks on its node copy them into
 * its memory; others send messages. */
typedef enum bouma_transport {
    BOUMA_TRANSPORT_MESSAGES = 1, /* sent and received */
    BOUMA_TRANSPORT_WINDOWS = 2   /* put, on its node */
} bouma_transport;

/* Whether the sizes of the last step choose the files of this one, so that
 * chunks are sent and stored while others are still encoded. This helps a
 * series of steps with the same grids, variables and blocks, and with codecs
 * whose sizes are not known beforehand (all but raw); other steps are written
 * as with `off`. Chunks larger than predicted are stored behind the others, and
 * files are as balanced as the sizes of the last step were: see bouma_record.
 * With 'async', everything but heads and syncs is done when bouma_step_end()
 * returns. */
typedef enum bouma_predict {
    BOUMA_PREDICT_OFF = 1, /* encode all chunks first */
    BOUMA_PREDICT_ON = 2   /* from the second step of a series on */
} bouma_predict;

/* Who knows the plan of a step: which rank encodes which chunk of a grid, and
 * which one writes it. Files are the same. `local` is for jobs of so many ranks
 * that one plan of all is too much on each node. It is refused with a message
 * where a choice depends on what all ranks do: it needs an `assign` other than
 * per-node, `place` = spread or first, `distribute` other than weighted,
 * `predict` = off, and grids in patches. With `assign` = optimal or running, or
 * without a number of files, rank 0 learns the sizes of all chunks. */
typedef enum bouma_planning {
    BOUMA_PLANNING_NODE = 1, /* one plan of all ranks on each node */
    BOUMA_PLANNING_LOCAL = 2 /* each rank knows what concerns it */
} bouma_planning;

/* The text of a choice ("per-rank"), or NULL; the choice of a text, or 0. */
BOUMA_API const char *bouma_durability_name(bouma_durability choice);
BOUMA_API const char *bouma_distribute_name(bouma_distribute choice);
BOUMA_API const char *bouma_assign_name(bouma_assign choice);
BOUMA_API const char *bouma_place_name(bouma_place choice);
BOUMA_API const char *bouma_order_name(bouma_order choice);
BOUMA_API const char *bouma_layout_name(bouma_layout choice);
BOUMA_API const char *bouma_hz_order_name(bouma_hz_order choice);
BOUMA_API const char *bouma_hz_index_name(bouma_hz_index choice);
BOUMA_API const char *bouma_rank_order_name(bouma_rank_order choice);
BOUMA_API const char *bouma_codec_name(bouma_codec choice);
BOUMA_API const char *bouma_tier_name(bouma_tier choice);
BOUMA_API const char *bouma_transport_name(bouma_transport choice);
BOUMA_API const char *bouma_predict_name(bouma_predict choice);
BOUMA_API const char *bouma_planning_name(bouma_planning choice);
BOUMA_API bouma_durability bouma_durability_parse(const char *text);
BOUMA_API bouma_distribute bouma_distribute_parse(const char *text);
BOUMA_API bouma_assign bouma_assign_parse(const char *text);
BOUMA_API bouma_place bouma_place_parse(const char *text);
BOUMA_API bouma_order bouma_order_parse(const char *text);
BOUMA_API bouma_layout bouma_layout_parse(const char *text);
BOUMA_API bouma_hz_order bouma_hz_order_parse(const char *text);
BOUMA_API bouma_hz_index bouma_hz_index_parse(const char *text);
BOUMA_API bouma_rank_order bouma_rank_order_parse(const char *text);
BOUMA_API bouma_codec bouma_codec_parse(const char *text);
BOUMA_API bouma_tier bouma_tier_parse(const char *text);
BOUMA_API bouma_transport bouma_transport_parse(const char *text);
BOUMA_API bouma_predict bouma_predict_parse(const char *text);
BOUMA_API bouma_planning bouma_planning_parse(const char *text);

/* What a codec is like: 1 or 0 each. */
typedef struct bouma_codec_info {
    size_t size;          /* sizeof(bouma_codec_info), set by the caller */
    int grids, particles; /* variables of these can have it */
    int tolerance;        /* it needs one */
    int effort;           /* 'codec_level' counts */
    int averages;         /* coarser levels of a grid are averages, for which no
                             tolerance holds; else, and with BOUMA_LAYOUT_HZ,
                             they are samples */
} bouma_codec_info;
/* BOUMA_OK, or EINVAL and a zeroed *out if there is no such codec. */
BOUMA_API int bouma_codec_info_get(bouma_codec_info *out, bouma_codec codec);

/* 1 if it is a choice for grids; 0 if for particles alone, or none. */
BOUMA_API int bouma_assign_is_for_grids(bouma_assign choice);

/* Zero means "choose for me" in every field; new fields go at the end.
 *
 *     bouma_options opts = {.size = sizeof(opts), .files = 4};
 *
 * The tables 'io' and 'allocator' must outlive the dataset and the steps opened
 * from it; texts are copied, and may have up to 4095 bytes. */
typedef struct bouma_options {
    size_t size;                      /* sizeof(bouma_options) */
    const bouma_io *io;               /* NULL: bouma_io_posix() */
    const bouma_allocator *allocator; /* NULL: malloc and free */

    bouma_durability durability;
    int group; /* steps in a group of BOUMA_DURABILITY_GROUP; 0: 8 */
    /* 1: allow a step that exists to be written again; once the new one is
     * durable, the files of the old one are removed (programs that have it open
     * for reading may have to open it again) */
    int replace;
    int force; /* 1: append even if another writer seems active */
    int files; /* files per step, for grids and for each set of particles; 0:
                    chosen from bytes and ranks */
    uint64_t file_size; /* desired bytes per file, used if 'files' is 0 */
    bouma_distribute distribute;
    bouma_assign assign;
    bouma_place place;
    bouma_order order;

    uint64_t message_bytes; /* longest message between ranks; 0: 1 GiB */
    uint64_t buffer_bytes;  /* size of each buffer of a writer; 0: the block or
                               stripe of the storage, if that is at least 1 MiB,
                               else 1 MiB, with async or predict 4 MiB */
    uint64_t memory_limit;  /* largest single allocation for file content,
                               except for files up to 4 KiB; 0: 16 GiB */
    /* seconds to wait for another rank without any message; 0: 1800, INFINITY:
     * for ever. The clock runs while a rank is in a call, and restarts with
     * every message. Then BOUMA_ECOMM */
    double timeout;

    unsigned char id[16]; /* identity of a new dataset; all zero: random */
    int threads; /* worker threads per rank; 0: one for each processor that the
                    other ranks of the node leave to this one, up to 8; 1 with a
                    custom allocator. With more than 1 it must be thread-safe */

    /* Called on rank 0 from time to time during a long call, on the thread that
     * made the call. It must not use the dataset, nor anything opened from it,
     * but may free them; the same holds for a plain file. Reads of the step
     * that is being read, and all calls with the file, fail with
     * BOUMA_ESTATE. */
    void (*progress)(void *user, const char *what, uint64_t done,
                     uint64_t total);
    void *progress_user;

    int best_axis; /* 1: split trees over ranks (`kdtree`, `split`) along the
                      axis with the most even split; 0: along the longest */

    /* Network and speeds, for `place` = cost: "flat", a model such as
     * "torus:8x8x8", "auto" (from hwloc and Slurm), or the path of a machine
     * file. NULL: flat. */
    const char *machine;
    bouma_tier tier;   /* 0: by cost, or dram */
    const char *local; /* a directory on node-local storage */
    int persist; /* 1: commit steps in a dataset in 'local', and copy them to
                    the path of the dataset in the background: see
                    bouma_dataset_drain() */
    int buffers; /* buffers of a writer: while one is stored, the next is
                    filled; 0: 2, or 16 with 'async' */
    bouma_transport transport; /* 0: by the machine file, else windows; for
                                  plain files messages */
    int async; /* 1: bouma_step_end() returns before all data are stored: see
                  there */
    bouma_predict predict;
    int writers; /* ranks that write a file of bouma_file_open(); 0: chosen */
    /* 1: fail a step if an array changes between the put and the end of the
     * step, or is no longer mapped (costs two passes over it); -1: do not
     * check; 0: 1 in debug builds of the library */
    int check;
    int clobber; /* 1: bouma_dataset_create() removes a dataset of that path */
    /* A file for a trace of all ranks, for Perfetto; written when the dataset
     * or plain file is closed. If the process has already written a trace of
     * that name, as of another dataset, it is "trace-2.json" and so on. If the
     * trace cannot be written, nothing fails: see bouma_dataset_note(). "off":
     * no trace, even if BOUMA_TRACE is set. */
    const char *trace;
    /* K: one file for every K nodes (or K - 1, so that all are alike), written
     * on one of them, of what their ranks encode; "files" and "node:K" set it.
     * It is the same as 'assign' = per-node, and cannot be combined with
     * another 'assign', 'files' or 'file_size'. 0: not so, or, with per-node,
     * 1 */
    int nodes_per_file;
    bouma_planning planning;
} bouma_options;

/* Set a field by its name and text: "assign" and "optimal", "file_size" and
 * "64MiB", "durability" and "group=4", "files" and "node". A field that is a
 * text becomes 'value' itself, which must stay until the options have been
 * used. BOUMA_EINVAL if there is no such field or value: 'message' (of 'bytes'
 * bytes, may be NULL) then lists those there are, and the options are
 * unchanged. No step fails because of it, so check the status.
 *
 * The environment variable BOUMA_OPTIONS ("files=4;order=chunk;") sets fields
 * that the program leaves at zero, except 'clobber'; so do BOUMA_TIER ("hbm")
 * for 'tier' and BOUMA_TRACE ("trace.json") for 'trace'. A program that sets
 * 'files', 'file_size' or 'nodes_per_file' has chosen all three. */
BOUMA_API int bouma_options_set(bouma_options *opts, const char *name,
                                const char *value, char *message, size_t bytes);

/* What a call with these options (NULL: none) is told by a field, as a text:
 * what they have, else what the environment says. It is empty if neither says
 * anything, so that the library chooses. BOUMA_EINVAL if there is no such
 * field, the text and its NUL need more than 'text_bytes' bytes, or the options
 * or the environment are wrong: 'message' says why. */
BOUMA_API int bouma_options_get(char *text, size_t text_bytes,
                                const bouma_options *opts, const char *name,
                                char *message, size_t bytes);

/* What an option is for. */
typedef enum bouma_option_use {
    BOUMA_OPTION_USE_SAME = 1,  /* all ranks must set the same */
    BOUMA_OPTION_USE_STEPS = 2, /* for programs that write steps */
    BOUMA_OPTION_USE_PLAN = 4   /* bouma_plan_make() uses it */
} bouma_option_use;

/* An option, for programs that offer options to their users. New members go at
 * the end. */
typedef struct bouma_option_info {
    size_t size;          /* sizeof(bouma_option_info) */
    const char *name;     /* for bouma_options_set(): "file_size" */
    const char *flag;     /* for a command line: "file-size" */
    const char *argument; /* placeholder of its value: "BYTES"; NULL: it is yes
                             or no */
    const char *choices;  /* its values, "level|chunk"; or NULL */
    const char *help;     /* one line, without a full stop */
    unsigned use;         /* sum of BOUMA_OPTION_USE_* */
} bouma_option_info;

/* The i-th option that bouma_options_set() knows; NULL past the last. They are
 * static. */
BOUMA_API const bouma_option_info *bouma_options_info(int i);

#ifdef __cplusplus
}
#endif
#endif
