/* bouma.h -- multiresolution storage for the grids and particles of a
 * simulation.
 *
 *     Write:  create a dataset, define grids, particle sets and variables, then
 *             for each output step: begin, put what this rank holds, end.
 *     Read:   open a dataset, open a step. Read any box of a grid at any level:
 *             level 0 is full resolution, level k has the samples whose indices
 *             are multiples of 2^k (averages with BOUMA_CODEC_WAVELET or
 *             'hz_wavelet'). Query particles by box and by ranges of values, at
 *             any quality: quality q is the fraction q of the particles.
 *
 * Axes are in C order, the slowest first, as in NumPy and HDF5. Boxes are
 * half-open and count full-resolution samples, whatever the level.
 *
 * A function that can fail returns BOUMA_OK or a negative bouma_status;
 * bouma_error_message() then says what failed, on which rank, in which file,
 * and what to do. A function that returns a handle returns NULL on failure, and
 * leaves a message, too. All ranks of a dataset call a "Collective" function,
 * in the same order, and get the same status; a program without MPI has one
 * rank. Other functions concern the calling rank only.
 *
 * Every *_free() accepts NULL. With a NULL handle, all other functions do
 * nothing and return BOUMA_EINVAL, NULL or 0; no dataset remembers the failure.
 *
 * A handle is used by one thread at a time. There is no global state: several
 * datasets can be in use at once, also from several threads.
 *
 * Programs with MPI include bouma_mpi.h instead and link libbouma_mpi. */
#ifndef BOUMA_H
#define BOUMA_H

#include <stddef.h>
#include <stdint.h>

#include "bouma_store.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- version ------------------------------------------------------------ */

#define BOUMA_VERSION_MAJOR 0
#define BOUMA_VERSION_MINOR 1
#define BOUMA_VERSION_PATCH 0

/* The version of the library in use, such as "0.1.0". */
BOUMA_API const char *bouma_version(void);

/* ---- status ------------------------------------------------------------- */

/* Codes, names and texts come from this one list. Values never change. */
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

typedef enum bouma_status {
#define BOUMA_STATUS_ENTRY(name, value, text) BOUMA_##name = value,
    BOUMA_STATUS_LIST(BOUMA_STATUS_ENTRY)
#undef BOUMA_STATUS_ENTRY
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

/* The types of samples and attributes: name, value, C type, text. */
#define BOUMA_TYPE_LIST(X)                                                     \
    X(I8, 1, int8_t, "i8")                                                     \
    X(I16, 2, int16_t, "i16")                                                  \
    X(I32, 3, int32_t, "i32")                                                  \
    X(I64, 4, int64_t, "i64")                                                  \
    X(U8, 5, uint8_t, "u8")                                                    \
    X(U16, 6, uint16_t, "u16")                                                 \
    X(U32, 7, uint32_t, "u32")                                                 \
    X(U64, 8, uint64_t, "u64")                                                 \
    X(F32, 9, float, "f32")                                                    \
    X(F64, 10, double, "f64")

typedef enum bouma_type {
#define BOUMA_TYPE_ENTRY(name, value, ctype, text) BOUMA_##name = value,
    BOUMA_TYPE_LIST(BOUMA_TYPE_ENTRY)
#undef BOUMA_TYPE_ENTRY
        BOUMA_STRING = 11 /* attributes only: bytes of UTF-8 */
} bouma_type;

/* Bytes of one value (1 for BOUMA_STRING, 0 for an unknown type); the name of a
 * type ("f32", "string"), or NULL; the type of a name, or 0. */
BOUMA_API size_t bouma_type_size(bouma_type type);
BOUMA_API const char *bouma_type_name(bouma_type type);
BOUMA_API bouma_type bouma_type_parse(const char *text);

#define BOUMA_MAX_DIMS 3

/* The samples lo <= index < hi, on as many axes as the grid has. */
typedef struct bouma_box {
    int64_t lo[BOUMA_MAX_DIMS];
    int64_t hi[BOUMA_MAX_DIMS];
} bouma_box;

/* Where the samples of a box lie in memory, relative to its first sample at
 * 'data'. Strides are in bytes, as in NumPy, and may be negative; all zero
 * means dense, components innermost. In a put, a single stride of 0 repeats a
 * sample; in a read it is BOUMA_EINVAL, and so is, in either, any other stride
 * shorter than a value. */
typedef struct bouma_memory {
    int64_t stride[BOUMA_MAX_DIMS];
    int64_t component_stride;
} bouma_memory;

/* Fill 'out' for a box inside a larger dense array, such as one with ghost
 * cells: the array has 'extent' samples along each axis, the components of a
 * sample side by side. Pass the address of the box's first sample as 'data'.
 * All zeros if 'ndims' is not 1 to 3. */
BOUMA_API void bouma_memory_inside(bouma_memory *out, bouma_type type,
                                   int components, int ndims,
                                   const int64_t *extent);

/* ---- options ------------------------------------------------------------ */

/* The choices: name, value, text. Values never change. */
#define BOUMA_CHOICE_ENTRY(name, value, text) BOUMA_##name = value,

/* What a step survives once it has ended. After a power loss the last fast
 * steps may be gone, but are never silently wrong. The steps of a group become
 * visible and durable together, at the cost of one; bouma_dataset_flush() and
 * _close() finish a group early. */
#define BOUMA_DURABILITY_LIST(X)                                               \
    X(DURABLE, 1, "durable") /* a power loss (default) */                      \
    X(FAST, 2, "fast")       /* a killed program */                            \
    X(GROUP, 3, "group")     /* a power loss, 'group' steps at once */
typedef enum bouma_durability {
    BOUMA_DURABILITY_LIST(BOUMA_CHOICE_ENTRY)
} bouma_durability;

/* Which rank assembles and encodes a patch. `weighted` balances the encoding
 * times of the previous step: the encoding rank then differs from run to run,
 * the bytes of a chunk do not. */
#define BOUMA_DISTRIBUTE_LIST(X)                                               \
    X(DISTRIBUTE_BALANCED, 1, "balanced") /* equal, few moved (default) */     \
    X(DISTRIBUTE_GREEDY, 2, "greedy")     /* the rank that holds most of it */ \
    X(DISTRIBUTE_NONE, 3, "none")         /* the first rank that holds some */ \
    X(DISTRIBUTE_WEIGHTED, 4, "weighted") /* balanced in time, not number */
typedef enum bouma_distribute {
    BOUMA_DISTRIBUTE_LIST(BOUMA_CHOICE_ENTRY)
} bouma_distribute;

/* Which file holds a chunk. The first three cut the sequence of chunks (for
 * particles, of ranks along a Morton curve) into runs. `optimal` makes the
 * largest file as small as possible, including its tables, but for up to 63
 * bytes of alignment (for particles: as few particles as possible; with
 * `predict`, by the sizes of the last step). The last three are for particles,
 * and mean `optimal` for grids; `split` divides ranks that have more than
 * others. By default, particles are assigned as by `split`, but ranks are
 * divided only where that saves time. */
#define BOUMA_ASSIGN_LIST(X)                                                   \
    X(ASSIGN_OPTIMAL, 1, "optimal")   /* (default of grids) */                 \
    X(ASSIGN_RUNNING, 2, "running")   /* running average of the rest */        \
    X(ASSIGN_COUNT, 3, "count")       /* equal numbers of chunks */            \
    X(ASSIGN_PER_RANK, 4, "per-rank") /* one file for each encoding rank */    \
    X(ASSIGN_SINGLE, 5, "single")     /* one file */                           \
    X(ASSIGN_KDTREE, 6, "kdtree")     /* particles: a k-d tree over ranks */   \
    X(ASSIGN_AUG, 7, "aug")           /* particles: a uniform grid of files */ \
    X(ASSIGN_SPLIT, 8, "split")       /* particles: as kdtree, ranks divided */
typedef enum bouma_assign {
    BOUMA_ASSIGN_LIST(BOUMA_CHOICE_ENTRY)
} bouma_assign;

/* Which rank writes a file. */
#define BOUMA_PLACE_LIST(X)                                                    \
    X(PLACE_SPREAD, 1, "spread") /* evenly over the ranks (default) */         \
    X(PLACE_FIRST, 2, "first")   /* the first ranks */                         \
    X(PLACE_COST, 3,                                                           \
      "cost") /* the rank that gathers at the least cost: see 'machine' */     \
    X(PLACE_LOCAL, 4, "local") /* the middle one of those that send to it */
typedef enum bouma_place { BOUMA_PLACE_LIST(BOUMA_CHOICE_ENTRY) } bouma_place;

/* How chunks lie in a file. */
#define BOUMA_ORDER_LIST(X)                                                    \
    X(ORDER_LEVEL, 1, "level") /* all coarse levels first (default) */         \
    X(ORDER_CHUNK, 2, "chunk") /* the levels of a chunk together */
typedef enum bouma_order { BOUMA_ORDER_LIST(BOUMA_CHOICE_ENTRY) } bouma_order;

/* How an object lies in files. */
#define BOUMA_LAYOUT_LIST(X)                                                   \
    X(LAYOUT_PATCH, 1, "patch") /* grids: patches (default) */                 \
    X(LAYOUT_TREE, 2, "tree")   /* particles: sorted along a tree */           \
    X(LAYOUT_HZ, 3, "hz")       /* grids: one HZ order over all samples */
typedef enum bouma_layout {
    BOUMA_LAYOUT_LIST(BOUMA_CHOICE_ENTRY)
} bouma_layout;

/* How samples lie in a block of layout hz. */
#define BOUMA_HZ_ORDER_LIST(X)                                                 \
    X(HZ_ROWS, 1, "rows") /* C order (default) */                              \
    X(HZ_CURVE, 2, "hz")  /* in HZ order; blocks at borders are filled up */
typedef enum bouma_hz_order {
    BOUMA_HZ_ORDER_LIST(BOUMA_CHOICE_ENTRY)
} bouma_hz_order;

/* Whose addresses the blocks of layout hz have, if the grid has partitions: the
 * grid's, so that files are those of a grid without partitions; or each
 * partition has its own, and files of its own. */
#define BOUMA_HZ_INDEX_LIST(X)                                                 \
    X(HZ_GLOBAL, 1, "global") /* the grid's (default) */                       \
    X(HZ_LOCAL, 2, "local")   /* each partition its own */
typedef enum bouma_hz_index {
    BOUMA_HZ_INDEX_LIST(BOUMA_CHOICE_ENTRY)
} bouma_hz_index;

/* How ranks are numbered in a grid of them. MPI_Cart_create() does it row by
 * row. */
#define BOUMA_RANK_ORDER_LIST(X)                                               \
    X(RANKS_ROW_MAJOR, 1, "row-major")       /* last axis fastest (default) */ \
    X(RANKS_COLUMN_MAJOR, 2, "column-major") /* first axis fastest */          \
    X(RANKS_MORTON, 3, "morton")             /* along a Z curve */
typedef enum bouma_rank_order {
    BOUMA_RANK_ORDER_LIST(BOUMA_CHOICE_ENTRY)
} bouma_rank_order;

/* How samples are stored. */
#define BOUMA_CODEC_LIST(X)                                                    \
    X(CODEC_ZSTD, 1, "zstd")       /* bytes shuffled, then zstd (default) */   \
    X(CODEC_RAW, 2, "raw")         /* as they are */                           \
    X(CODEC_INTERP, 3, "interp")   /* predicted; within a tolerance */         \
    X(CODEC_WAVELET, 4, "wavelet") /* wavelets and zfp; within a tolerance */  \
    X(CODEC_ZFP_REVERSIBLE, 5, "zfp-reversible") /* zfp, every bit kept */     \
    X(CODEC_QUANTISE, 6, "quantise") /* particles; within a tolerance */
typedef enum bouma_codec { BOUMA_CODEC_LIST(BOUMA_CHOICE_ENTRY) } bouma_codec;

/* The memory in which a writer gathers bytes for its files. */
#define BOUMA_TIER_LIST(X)                                                     \
    X(TIER_DRAM, 1, "dram")   /* the main memory */                            \
    X(TIER_HBM, 2, "hbm")     /* high-bandwidth memory, if any */              \
    X(TIER_LOCAL, 3, "local") /* a file in the directory 'local' */
typedef enum bouma_tier { BOUMA_TIER_LIST(BOUMA_CHOICE_ENTRY) } bouma_tier;

/* How bytes get to a writer. With `windows`, ranks on its node copy them into
 * its memory; others send messages. */
#define BOUMA_TRANSPORT_LIST(X)                                                \
    X(TRANSPORT_MESSAGES, 1, "messages") /* sent and received */               \
    X(TRANSPORT_WINDOWS, 2, "windows")   /* put, on its node */
typedef enum bouma_transport {
    BOUMA_TRANSPORT_LIST(BOUMA_CHOICE_ENTRY)
} bouma_transport;

/* Whether the sizes of the last step choose the files of this one, so that
 * chunks are sent and stored while others are still encoded. This helps a
 * series of steps with the same grids, variables and blocks, and with codecs
 * whose sizes are not known beforehand (all but raw); other steps are written
 * as with `off`. Chunks larger than predicted are stored behind the others, and
 * files are as balanced as the sizes of the last step were: see bouma_record.
 * With 'async', everything but heads and syncs is done when bouma_step_end()
 * returns. */
#define BOUMA_PREDICT_LIST(X)                                                  \
    X(PREDICT_OFF, 1, "off") /* encode all chunks first */                     \
    X(PREDICT_ON, 2, "on")   /* from the second step of a series on */
typedef enum bouma_predict {
    BOUMA_PREDICT_LIST(BOUMA_CHOICE_ENTRY)
} bouma_predict;

#undef BOUMA_CHOICE_ENTRY

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

/* What a codec is like: 1 or 0 each. */
typedef struct bouma_codec_info {
    int grids, particles; /* variables of these can have it */
    int tolerance;        /* it needs one */
    int effort;           /* 'codec_level' counts */
    int averages;         /* coarser levels of a grid are averages, for which no
                             tolerance holds; else, and with BOUMA_LAYOUT_HZ,
                             they are samples */
} bouma_codec_info;
/* BOUMA_OK, or EINVAL and a zeroed *out if there is no such codec. */
BOUMA_API int bouma_codec_info_get(bouma_codec codec, bouma_codec_info *out);

/* 1 if it is a choice for grids; 0 if for particles alone, or none. */
BOUMA_API int bouma_assign_is_for_grids(bouma_assign choice);

#define BOUMA_PATH_BYTES 256

/* Zero means "choose for me" in every field; new fields go at the end. Set
 * 'size' and zero the rest with bouma_options_init(&opts, sizeof(opts)). The
 * strings and tables pointed to must outlive the dataset. */
typedef struct bouma_options {
    size_t size;
    const bouma_io *io;               /* NULL: bouma_io_posix() */
    const bouma_allocator *allocator; /* NULL: malloc and free */

    bouma_durability durability;
    int group; /* steps in a group of BOUMA_GROUP; 0: 8 */
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
                               else 4 MiB; for plain files 1 MiB */
    uint64_t memory_limit;  /* largest single allocation for file content,
                               except for files up to 4 KiB; 0: 16 GiB */
    /* seconds to wait for another rank without any message; 0: 1800, INFINITY:
     * for ever. The clock runs while a rank is in a call, and restarts with
     * every message. Then BOUMA_ECOMM */
    double timeout;

    unsigned char id[16]; /* identity of a new dataset; all zero: random */
    int threads; /* worker threads per rank; 0: 1 with several ranks or a custom
                    allocator, else one per processor, up to 8. With more than 1
                    the allocator must be thread-safe */

    /* Called on rank 0 from time to time during a long call, on the thread that
     * made the call. It must not use or free the dataset, nor anything opened
     * from it: reads of the step being read fail with BOUMA_ESTATE, and
     * bouma_step_free() and bouma_dataset_free() do nothing then. */
    void (*progress)(void *user, const char *what, uint64_t done,
                     uint64_t total);
    void *progress_user;

    int best_axis; /* 1: split trees over ranks (`kdtree`, `split`) along the
                      axis with the most even split; 0: along the longest */

    /* Network and speeds, for `place` = cost: "flat", a model such as
     * "torus:8x8x8", "auto" (from hwloc and Slurm), or the path of a machine
     * file. Empty: flat. */
    char machine[BOUMA_PATH_BYTES];
    bouma_tier tier;              /* 0: by cost, or dram */
    char local[BOUMA_PATH_BYTES]; /* a directory on node-local storage */
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
    int writers; /* ranks that write a file of bouma_io_open(); 0: chosen */
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
    char trace[BOUMA_PATH_BYTES];
} bouma_options;

BOUMA_API void bouma_options_init(bouma_options *opts, size_t size);

/* Set a field by its name and text: "assign" and "optimal", "file_size" and
 * "64MiB", "durability" and "group=4". BOUMA_EINVAL if there is no such field
 * or value: 'message' (of 'bytes' bytes, may be NULL) then lists those there
 * are, and the options are unchanged. No step fails because of it, so check the
 * status.
 *
 * The environment variable BOUMA_OPTIONS ("files=4;order=chunk;") sets fields
 * that the program leaves at zero, except 'clobber'; so do BOUMA_TIER ("hbm")
 * for 'tier' and BOUMA_TRACE ("trace.json") for 'trace'. A program that sets
 * 'files' or 'file_size' has chosen both. */
BOUMA_API int bouma_options_set(bouma_options *opts, const char *name,
                                const char *value, char *message, size_t bytes);

/* Set from the environment the fields that are zero in 'opts', as every call
 * with options does; for programs that need them beforehand. BOUMA_EINVAL if
 * the environment is wrong: 'message' says why, and 'opts' is unchanged. */
BOUMA_API int bouma_options_environment(bouma_options *opts, char *message,
                                        size_t bytes);

/* What an option is for. */
enum {
    BOUMA_OPTION_SAME = 1,  /* all ranks must set the same */
    BOUMA_OPTION_STEPS = 2, /* for programs that write steps */
    BOUMA_OPTION_PLAN = 4   /* bouma_plan_make() uses it */
};

/* An option, for programs that offer options to their users. New members go at
 * the end. */
typedef struct bouma_option_info {
    const char *name;     /* for bouma_options_set(): "file_size" */
    const char *flag;     /* for a command line: "file-size" */
    const char *argument; /* placeholder of its value: "BYTES"; NULL: it is yes
                             or no */
    const char *choices;  /* its values, "level|chunk"; or NULL */
    const char *help;     /* one line, without a full stop */
    unsigned use;         /* sum of BOUMA_OPTION_* */
} bouma_option_info;

/* The i-th option that bouma_options_set() knows, and its name; NULL past the
 * last. They are static. */
BOUMA_API const bouma_option_info *bouma_options_info(int i);
BOUMA_API const char *bouma_options_field(int i);

/* ---- datasets ----------------------------------------------------------- */

typedef struct bouma_dataset bouma_dataset;
typedef struct bouma_step bouma_step;
typedef struct bouma_grid bouma_grid;
typedef struct bouma_particles bouma_particles;
typedef struct bouma_variable bouma_variable;
typedef struct bouma_attributes bouma_attributes;
typedef struct bouma_refinement bouma_refinement;

/* Create a dataset: a directory, by convention named NAME.bouma. An empty
 * directory, or what a killed creation left, is taken over; anything else of
 * that name is BOUMA_EEXISTS.
 *
 * With the option 'clobber', an existing dataset is removed first: all its
 * steps, with 'persist' also those in local copies. Nothing else is removed: it
 * is still BOUMA_EEXISTS if the path is not a dataset, or if other files are
 * among those of its steps; and BOUMA_EBUSY while another program writes it.
 * All of that is checked before anything is removed. Other files elsewhere in
 * its directory stay. If the removal is interrupted, either the old dataset or
 * none is there, and the same call does the rest. A directory that cannot be
 * removed because files in it are still open (NFS) is left behind and reported
 * by bouma_dataset_note().
 *
 * 'opts' may be NULL. The caller owns *out and frees it with
 * bouma_dataset_free(), after a failure, too: it holds the message. Collective.
 */
BOUMA_API int bouma_dataset_create(bouma_dataset **out, const char *path,
                                   const bouma_options *opts);

/* Open a dataset to write more steps. Leftovers of a killed writer do no harm;
 * bouma_dataset_note() reports them. BOUMA_EBUSY if the last writer is known to
 * be still running. A writer on another machine cannot be seen: this one then
 * takes over, and the next step of the other one fails with BOUMA_EBUSY. Define
 * grids and variables again, by bouma_define_like() or one by one; they may
 * differ. Collective. */
BOUMA_API int bouma_dataset_append(bouma_dataset **out, const char *path,
                                   const bouma_options *opts);

/* Open a dataset for reading, also while it is being written. With the option
 * 'local', files are read from the local copy in that directory if it has them,
 * and steps that only it has are listed, too: see bouma_dataset_drain().
 * Collective. */
BOUMA_API int bouma_dataset_open(bouma_dataset **out, const char *path,
                                 const bouma_options *opts);

/* Finish writing: flush a group, drain, and release the claim on the dataset.
 * The handle stays, for its message. A step that was begun and not ended is
 * dropped, with BOUMA_ESTATE. Collective. */
BOUMA_API int bouma_dataset_close(bouma_dataset *ds);

/* Free the handle with its grids, variables and attributes; free steps and
 * refinements opened from it first. If the dataset was not closed, an
 * unfinished step and the steps of an unfinished group stay unpublished.
 * Collective only if it was opened with MPI. */
BOUMA_API void bouma_dataset_free(bouma_dataset *ds);

/* The message of the last failed call on 'ds' or on anything that belongs to
 * it. Valid until the next call. For NULL, the text of BOUMA_ENOMEM. A field of
 * bouma_options is named as in "the option 'replace'", so that a program can
 * substitute its own name. */
BOUMA_API const char *bouma_error_message(const bouma_dataset *ds);

/* The i-th remark, or NULL past the last. bouma_dataset_append() reports
 * leftovers, such as "step 42 is incomplete (5 subfiles, no manifest),
 * ignored"; bouma_step_end() a tolerance that leaves little of a variable's
 * values, partitions that are not written apart since ranks hold samples of
 * several, and the first step without data although there are variables;
 * bouma_dataset_create() and bouma_dataset_truncate() directories of removed
 * steps that had to stay. */
BOUMA_API const char *bouma_dataset_note(const bouma_dataset *ds, int i);

/* ---- writing ------------------------------------------------------------ */

/* A grid. Zero means "choose for me", except in ndims and shape. */
typedef struct bouma_grid_spec {
    size_t size; /* sizeof(bouma_grid_spec) */
    int ndims;   /* 1 to 3 */
    int64_t shape[BOUMA_MAX_DIMS];
    int64_t patch[BOUMA_MAX_DIMS];  /* powers of two; 0: 64 in 3-D, 256 in 2-D,
                                       65536 in 1-D; reduced to the size of the
                                       grid */
    int levels;                     /* 0: down to about 64 samples per patch */
    double origin[BOUMA_MAX_DIMS];  /* position of sample 0 */
    double spacing[BOUMA_MAX_DIMS]; /* 0: 1 */
    const char *unit;               /* of positions, such as "m"; may be NULL */
    bouma_layout layout;            /* 0: BOUMA_LAYOUT_PATCH */
    /* For BOUMA_LAYOUT_HZ only, which has blocks instead of patches. Coarse
     * levels take no space there: 0 levels means all, down to one sample. */
    const char *hz_template; /* such as "zyxzyx": the axis that each split
                                halves, the coarsest split first; x is the last
                                axis. It must cover the shape. NULL: the longest
                                axis is split first, of equal ones z, then y */
    int hz_block_bits;       /* log2 of the samples in a block; 0: 15, or less
                                if the grid is smaller */
    int hz_blocks_per_file;  /* blocks of each variable in a file; 0: 512 */
    bouma_hz_order hz_order; /* 0: BOUMA_HZ_ROWS */
    /* The grid is cut along the first splits of the template into so many
     * partitions, a power of two; 0: 1. Those that hold samples of a partition
     * write it among themselves, and nothing goes from one partition to
     * another but coarse levels: with BOUMA_HZ_GLOBAL, the files that several
     * partitions have samples in; with BOUMA_HZ_LOCAL, one block. A rank with
     * samples of two partitions has them written together. With
     * BOUMA_HZ_GLOBAL, no more than there are ranks. */
    int hz_partitions;
    bouma_hz_index hz_index; /* 0: BOUMA_HZ_GLOBAL */
    /* 1: blocks have wavelet coefficients in place of samples. Smooth fields
     * become smaller, and coarser levels of f32 and f64 are averages, for which
     * no tolerance holds. Boxes that are read take the tiles that they meet:
     * 2^hz_tile_bits samples, those of the last splits (0: 15 bits, or less if
     * the grid is smaller; at most 24). Codecs must keep every bit; with a
     * tolerance, samples are rounded before. Not with 'hz_partitions'. */
    int hz_wavelet;
    int hz_tile_bits;
    /* 1: the files of each step are those of an IDX dataset, too, which
     * OpenVisus and PIDX open as PATH/idx/NAME.idx. Blocks are raw and in the
     * order BOUMA_HZ_CURVE; the grid has 2 or 3 axes, and a name without
     * blanks. See the guide, chapter 12. */
    int idx;
} bouma_grid_spec;

/* A template for BOUMA_LAYOUT_HZ that suits ranks with a block each: 'ranks'
 * along each axis, numbered in 'order' (0: BOUMA_RANKS_ROW_MAJOR). Its first
 * characters tell ranks apart, in their order, the others the samples of a
 * rank, axis by axis in turns. So each level visits the ranks in ascending
 * order, if the blocks are equal powers of two; other blocks are taken as if
 * they were such ones, and the template is near. Few ranks have samples of a
 * file then, and each of few files.
 *
 * Any program gets the same text for the same numbers, without ranks or a
 * dataset. BOUMA_OK; BOUMA_EINVAL for numbers that are not positive, for more
 * than 2^31 - 1 ranks or 62 characters, and if 'out' has less room than 64
 * bytes: then 'out' is empty. */
BOUMA_API int bouma_hz_template(char *out, size_t bytes, int ndims,
                                const int64_t *shape, const int64_t *ranks,
                                bouma_rank_order order);

/* A tolerance is a number in the unit of the variable, or a fraction (below 1)
 * of its range: the largest minus the smallest finite value of the step, over
 * all components. */
typedef enum bouma_tolerance {
    BOUMA_ABSOLUTE = 0,
    BOUMA_RELATIVE = 1
} bouma_tolerance;

typedef struct bouma_variable_spec {
    size_t size; /* sizeof(bouma_variable_spec) */
    bouma_type type;
    int components; /* values per sample, such as 3 for a velocity; 0: 1 */
    bouma_codec codec;
    int codec_level;  /* zstd's level; 0: 1 */
    const char *unit; /* of values, such as "K"; may be NULL */
    /* Largest error of any sample; f32 and f64 only; 0 keeps every bit. The
     * default codec is then BOUMA_CODEC_INTERP, where it holds at every level.
     * Coarser levels of BOUMA_CODEC_WAVELET are averages, so there it holds at
     * level 0 only; with BOUMA_LAYOUT_HZ it holds at every level. Grids with
     * 'hz_wavelet' have exact codecs, by default BOUMA_CODEC_ZSTD; there it
     * holds at level 0. */
    double tolerance;
    bouma_tolerance tolerance_kind;
    /* 1 (BOUMA_CODEC_WAVELET only): the tolerance is that of coefficients.
     * Encoding takes half the time, but the errors of samples are not known,
     * and some are larger. */
    int nominal;
} bouma_variable_spec;

/* The codec that a variable of a grid gets: the one it asks for, or the one
 * that is chosen for it. */
BOUMA_API bouma_codec bouma_grid_codec(const bouma_variable_spec *spec);

/* Define a grid, and a variable of a grid, before the step that first uses it.
 * All ranks define the same ones in the same order; the end of a step checks
 * that. Names are UTF-8 without '/' and control characters, at most 255 bytes.
 * *out belongs to the dataset. A dataset opened for append has no definitions
 * at first.
 *
 * A definition or an attribute that fails also fails every later
 * bouma_step_end(), on all ranks, with its own message: until the same name is
 * defined (or set) successfully, or the program calls
 * bouma_dataset_clear_failures() to go on without it. So does a grid without
 * variables. So it is enough to check the status at the end of the step, except
 * for calls with a NULL handle, which no dataset knows of. */
BOUMA_API int bouma_grid_define(bouma_grid **out, bouma_dataset *ds,
                                const char *name, const bouma_grid_spec *spec);
BOUMA_API int bouma_variable_define(bouma_variable **out, bouma_grid *grid,
                                    const char *name,
                                    const bouma_variable_spec *spec);

/* Define what a committed step has, as a program does that appends to a dataset:
 * all grids, sets of particles and variables of step 'step' (-1: the last one),
 * with their attributes; and set those attributes of the dataset that the step
 * has. The files of the next step are then, byte for byte, those that the same
 * definitions made by hand would give. ('hz_partitions' with BOUMA_HZ_GLOBAL is
 * in no file, so it is 1 then.) Find the handles with
 * bouma_dataset_find_grid() and _particles(), and more can be defined.
 *
 * BOUMA_ENOTFOUND if there is no such step, which fails no later step.
 * BOUMA_EEXISTS if a name is defined already: call this first. After a failure
 * nothing is defined. Collective. */
BOUMA_API int bouma_define_like(bouma_dataset *ds, int64_t step);

/* A grid or a set of particles that is defined in this dataset, by its name;
 * bouma_grid_find_variable() then finds its variables. BOUMA_ENOTFOUND if there
 * is none: the message lists those there are, *out is NULL, and the next step
 * fails as after a failed definition, until the name is defined. (That holds
 * for a variable that is not found, too.) Of steps that are read, see
 * bouma_step_find_grid(). */
BOUMA_API int bouma_dataset_find_grid(bouma_grid **out, bouma_dataset *ds,
                                      const char *name);
BOUMA_API int bouma_dataset_find_particles(bouma_particles **out,
                                           bouma_dataset *ds, const char *name);

/* Begin step number 'step' (0 or more, in any order) at 'time', which must be
 * finite. */
BOUMA_API int bouma_step_begin(bouma_dataset *ds, int64_t step, double time);

/* Hand over one block of a variable: the samples of 'box' (NULL: the whole
 * grid), at 'data', laid out as 'memory' says (NULL: dense). A rank may hand
 * over any number of blocks, or none (an empty box is none); the blocks of all
 * ranks together must cover the grid exactly once. A variable that no rank
 * hands over is absent from the step. A put that fails also fails the step on
 * all ranks, so it is enough to check the status there.
 *
 * THE ARRAY IS BORROWED UNTIL bouma_step_end() RETURNS. It is read then, not
 * now: do not change or free it before. The library never changes it; it may be
 * unaligned. Beware of temporaries: if a Fortran compiler packs an array
 * section for the call, or Python evaluates an expression, the array is gone
 * when the put returns. Then use bouma_variable_put_copy(), which copies the
 * samples at once; the copy is freed when the step ends. The option 'check'
 * finds arrays that were changed too early. */
BOUMA_API int bouma_variable_put(bouma_variable *variable, const bouma_box *box,
                                 const void *data, const bouma_memory *memory);
BOUMA_API int bouma_variable_put_copy(bouma_variable *variable,
                                      const bouma_box *box, const void *data,
                                      const bouma_memory *memory);

/* Forget, on this rank, all failed definitions, attributes and puts: the next
 * step is written without them and does not fail because of them. Grids that
 * have no variable now may stay so. */
BOUMA_API int bouma_dataset_clear_failures(bouma_dataset *ds);

/* ---- writing particles -------------------------------------------------- */

/* A set of particles: positions, and any number of variables (attributes). Zero
 * means "choose for me", except in ndims. */
typedef struct bouma_particles_spec {
    size_t size;      /* sizeof(bouma_particles_spec) */
    int ndims;        /* coordinates of a position, 1 to 3 */
    bouma_type type;  /* of positions: BOUMA_F32 (also 0) or BOUMA_F64 */
    const char *unit; /* of positions, such as "m"; may be NULL */
    /* How positions are stored, as in bouma_variable_spec. The tolerance is
     * absolute, and holds for each coordinate. */
    bouma_codec codec;
    int codec_level;
    double tolerance;
    int leaf; /* most particles in a leaf of the tree; 0: 256 */
} bouma_particles_spec;

/* Define a set of particles and its variables, as grids are defined. The codecs
 * for particles are BOUMA_CODEC_ZSTD (the default), _RAW, and with an absolute
 * tolerance _QUANTISE (then the default). Each set has the variable "position"
 * from the start, with a component for each axis. */
BOUMA_API int bouma_particles_define(bouma_particles **out, bouma_dataset *ds,
                                     const char *name,
                                     const bouma_particles_spec *spec);
BOUMA_API int bouma_particles_define_variable(bouma_variable **out,
                                              bouma_particles *particles,
                                              const char *name,
                                              const bouma_variable_spec *spec);

/* Where the values of a variable lie: in one array, or each component in an
 * array of its own. Strides are in bytes, and may be negative; values must not
 * overlap (BOUMA_EINVAL). */
typedef struct bouma_column {
    bouma_variable *variable;
    const void *data;         /* of the first particle; NULL: see 'parts' */
    const void *const *parts; /* one array per component, [components] */
    int64_t stride;           /* from one particle to the next; 0: dense */
    int64_t component_stride; /* in 'data'; 0: components side by side */
} bouma_column;

/* Hand over 'count' particles (may be 0), with a column for the position and
 * one for each variable that the step is to have. All ranks with particles hand
 * over the same variables. 'bounds' may be NULL, or the lowest and the highest
 * coordinate for each axis, which saves a pass over the positions; it affects
 * only which file they go to, so wrong bounds lose nothing. A rank may call
 * this several times, for several blocks. Order is not kept: give particles an
 * id if it matters.
 *
 * ARRAYS ARE BORROWED UNTIL bouma_step_end() RETURNS, as with
 * bouma_variable_put(): do not change or free them before. (The columns
 * themselves and the bounds are copied.) bouma_particles_put_copy() copies the
 * values at once. */
BOUMA_API int bouma_particles_put(bouma_particles *particles, uint64_t count,
                                  const bouma_column *columns,
                                  size_t column_count, const double *bounds);
BOUMA_API int bouma_particles_put_copy(bouma_particles *particles,
                                       uint64_t count,
                                       const bouma_column *columns,
                                       size_t column_count,
                                       const double *bounds);

/* Seconds of the phases of a step, on the slowest rank. A thread stores, so
 * 'store' may overlap with 'ship' and, in predicted steps and with raw, with
 * 'shape': the sum may exceed the time of the step. */
typedef struct bouma_phases {
    double describe, plan, distribute, shape, ship, store, commit;
} bouma_phases;

/* The cost of a step, as recorded in its manifest (there without the time of
 * the commit, which follows). */
typedef struct bouma_record {
    uint64_t raw_bytes;     /* samples as they were in memory */
    uint64_t stored_bytes;  /* all files but the manifest */
    uint64_t moved_bytes;   /* between ranks, to assemble patches */
    uint64_t shipped_bytes; /* between ranks, to the writers of the files */
    uint64_t moved_messages, shipped_messages; /* in which these went */
    uint64_t largest_file;
    uint64_t mean_file;
    int64_t files;
    int64_t chunks;
    int64_t ranks;
    int64_t most_patches; /* of one rank, to assemble; counted once for all
                             variables that the ranks hold in the same blocks */
    bouma_phases seconds;
    double slowest_encode; /* seconds of the rank that encoded longest */
    double mean_encode;    /* of all ranks */
    int64_t predicted;     /* 1: files of grids were chosen by the sizes of the
                              last step: see the option 'predict' */
    int64_t misfits;       /* chunks larger than predicted */
} bouma_record;

/* Write the step and commit it. After BOUMA_OK it is complete and, by default,
 * durable. After a failure it is either absent or complete; the dataset can
 * still be used, and the step written again. 'record' may be NULL. Collective.
 */
BOUMA_API int bouma_step_end(bouma_dataset *ds, bouma_record *record);

/* With the option 'async', bouma_step_end() returns once all data have been
 * copied: whatever it returns, the caller may then change its arrays,
 * definitions and attributes. A thread, which never calls MPI, stores what was
 * gathered. The next collective call on the dataset commits the step, or
 * reports its failure: bouma_dataset_wait(), _flush(), _drain(), _refresh(),
 * _truncate(), _close(), bouma_step_open(), bouma_step_read(),
 * bouma_particles_restart(), bouma_step_end() or _abort(). If the previous step
 * has failed, the last two return that failure and drop the step they were to
 * end; it can be begun again. A program that ends without any of these calls
 * leaves the step uncommitted.
 *
 * How soon it returns depends on the option 'buffers': data that do not fit
 * into the buffers must be stored first. With 'async' the default is 16
 * buffers. */

/* Wait for a step that is still being stored, and commit it; 'record' (may be
 * NULL) gets its record, with all times. BOUMA_OK if there is none. Collective.
 */
BOUMA_API int bouma_dataset_wait(bouma_dataset *ds, bouma_record *record);

/* Abandon the step. A rank may call this where others call bouma_step_end();
 * all of them then get BOUMA_EABORTED. Collective. */
BOUMA_API int bouma_step_abort(bouma_dataset *ds);

/* Make the steps of an unfinished group visible and durable; then drain, as
 * bouma_dataset_drain(). Collective. */
BOUMA_API int bouma_dataset_flush(bouma_dataset *ds);

/* With the option 'persist' a step is written to a local copy of the dataset on
 * the storage of the node, LOCAL/<last part of the path>, and ends when it is
 * committed there. On one node the local copy is a complete dataset that can be
 * read at once; with several nodes, each has the files that its own ranks have
 * written. A thread on each rank copies steps to the path of the dataset while
 * the program goes on, and checks every byte. They appear there in order,
 * complete and durable.
 *
 * This call waits until all steps are there. After a failure the missing steps
 * are complete in the local copies: the next call (or step, flush or close)
 * tries again, and so does `bouma drain` after the end of the program. Without
 * 'persist' it does nothing. Collective. */
BOUMA_API int bouma_dataset_drain(bouma_dataset *ds);

/* Drop all steps after 'step' (-1: all steps), durably, for a run that restarts
 * from there and writes them anew. Steps are dropped one by one, the last one
 * first; an interrupted call leaves each step either complete or dropped. With
 * 'persist' they are dropped from the local copies as well. Local copies that
 * this call does not know of keep theirs, but the dataset records that they
 * were dropped, and no drain brings them back. Before that, the call waits for
 * a step that is being stored, finishes a group and drains. Collective. */
BOUMA_API int bouma_dataset_truncate(bouma_dataset *ds, int64_t step);

/* ---- attributes --------------------------------------------------------- */

/* Named values on a dataset, a step, a grid or a variable. Those of a dataset,
 * its grids and variables are stored with each step that is written; a reader
 * gets the dataset's attributes from its newest step (NULL, with a message, if
 * the list of steps cannot be read). In a parallel program, all ranks set the
 * same attributes. */
BOUMA_API bouma_attributes *bouma_dataset_attributes(bouma_dataset *ds);
BOUMA_API bouma_attributes *bouma_step_attributes(bouma_step *step);
BOUMA_API bouma_attributes *bouma_grid_attributes(bouma_grid *grid);
BOUMA_API bouma_attributes *bouma_variable_attributes(bouma_variable *variable);
/* The attributes of the step that is being written (NULL outside one). */
BOUMA_API bouma_attributes *bouma_dataset_step_attributes(bouma_dataset *ds);

/* Set or replace. 'count' values of 'type', copied; for BOUMA_STRING the bytes
 * of a text, without a NUL. */
BOUMA_API int bouma_attributes_set(bouma_attributes *attributes,
                                   const char *name, bouma_type type,
                                   size_t count, const void *values);
BOUMA_API int bouma_attributes_set_text(bouma_attributes *attributes,
                                        const char *name, const char *text);
BOUMA_API int bouma_attributes_set_number(bouma_attributes *attributes,
                                          const char *name, double number);
BOUMA_API int bouma_attributes_set_int64(bouma_attributes *attributes,
                                         const char *name, int64_t number);

typedef struct bouma_attribute {
    const char *name;
    bouma_type type;
    size_t count;
    const void *values; /* aligned; of a string: NUL-terminated */
} bouma_attribute;

/* One attribute by its number, 0 up to the count, or by its name. What is
 * filled in belongs to the attributes, and is valid until they change.
 * BOUMA_ENOTFOUND if there is none. */
BOUMA_API int bouma_attributes_count(const bouma_attributes *attributes);
BOUMA_API int bouma_attributes_get(const bouma_attributes *attributes, int i,
                                   bouma_attribute *out);
BOUMA_API int bouma_attributes_find(const bouma_attributes *attributes,
                                    const char *name, bouma_attribute *out);

/* The value of an attribute by its name. A number of any type is converted, if
 * that loses nothing: 3 of type f32 is an int64_t, 3.5 is not; 2^53 + 1 of type
 * i64 is no double. Text is never a number, nor a number text. The arrays get
 * exactly 'count' values: bouma_attributes_find() tells how many there are. A
 * text belongs to the attributes, is NUL-terminated and valid until they change.
 *
 * BOUMA_ENOTFOUND if there is no such attribute. BOUMA_EINVAL if its type or
 * the number of its values does not fit, if a value would change, or if a text
 * has a zero byte in it; the message says what there is. What 'out' points to is
 * then 0 or NULL. */
BOUMA_API int bouma_attributes_get_text(const char **out,
                                        const bouma_attributes *attributes,
                                        const char *name);
BOUMA_API int bouma_attributes_get_number(double *out,
                                          const bouma_attributes *attributes,
                                          const char *name);
BOUMA_API int bouma_attributes_get_int64(int64_t *out,
                                         const bouma_attributes *attributes,
                                         const char *name);
BOUMA_API int bouma_attributes_get_numbers(double *out, size_t count,
                                           const bouma_attributes *attributes,
                                           const char *name);
BOUMA_API int bouma_attributes_get_int64s(int64_t *out, size_t count,
                                          const bouma_attributes *attributes,
                                          const char *name);

/* ---- reading ------------------------------------------------------------ */

/* The committed steps, by ascending number. The list is made when a dataset is
 * opened or refreshed; a serial reader makes it at its first use, by one of
 * these calls or for the dataset's attributes, because opening one of very many
 * steps needs no list. The count is -1 if the list cannot be read;
 * bouma_error_message() says why. Not collective. */
typedef struct bouma_step_info {
    int64_t step;
    double time;
} bouma_step_info;
BOUMA_API int64_t bouma_dataset_step_count(const bouma_dataset *ds);
BOUMA_API int bouma_dataset_step_get(const bouma_dataset *ds, int64_t i,
                                     bouma_step_info *out);

/* The first and the last step; the next one after a number, and the one before
 * it (of which there need not be a step); and the step whose time is nearest to
 * 'time'. Of steps that are equally near, the one with the lowest number is
 * taken; damaged ones whose time is not known are left out. All of them bisect
 * the list above. BOUMA_ENOTFOUND if there is no such step. Not collective.
 *
 *     for (rc = bouma_dataset_first_step(&info, ds); !rc;
 *          rc = bouma_dataset_next_step(&info, ds, info.step))
 */
BOUMA_API int bouma_dataset_first_step(bouma_step_info *out,
                                       const bouma_dataset *ds);
BOUMA_API int bouma_dataset_last_step(bouma_step_info *out,
                                      const bouma_dataset *ds);
BOUMA_API int bouma_dataset_next_step(bouma_step_info *out,
                                      const bouma_dataset *ds, int64_t after);
BOUMA_API int bouma_dataset_previous_step(bouma_step_info *out,
                                          const bouma_dataset *ds,
                                          int64_t before);
BOUMA_API int bouma_dataset_step_at(bouma_step_info *out,
                                    const bouma_dataset *ds, double time);

/* Find steps that were committed since. Collective. */
BOUMA_API int bouma_dataset_refresh(bouma_dataset *ds);

/* The identity (16 bytes) of a dataset, the version of its format, and what
 * this handle has read and written so far, on this rank. */
typedef struct bouma_dataset_info {
    unsigned char id[16];
    int format_major, format_minor;
    uint64_t bytes_read, bytes_written, files_opened;
    uint64_t local_bytes_read; /* of bytes_read: from the directory 'local' */
} bouma_dataset_info;
BOUMA_API int bouma_dataset_info_get(const bouma_dataset *ds,
                                     bouma_dataset_info *out);

/* Open a committed step. The caller owns *out and frees it before the dataset.
 * BOUMA_ENOTFOUND if there is no such step; BOUMA_EFORMAT if there was one and
 * it is lost (see bouma_losses()). If another program rewrites the step, reads
 * of it may fail with BOUMA_ESTATE: then free it and open it again. (Steps that
 * are open on the writer's own handle are kept until they are freed.)
 * Collective. */
BOUMA_API int bouma_step_open(bouma_step **out, bouma_dataset *ds,
                              int64_t step);
BOUMA_API void bouma_step_free(bouma_step *step);

/* How a step lies on disk. */
typedef struct bouma_step_details {
    int64_t step;
    double time;
    bouma_order order;
    bouma_record record;
    bouma_distribute distribute;
    bouma_assign assign;
    bouma_place place;
    uint64_t manifest_bytes;
    bouma_assign assign_particles; /* as 'assign' is that of grids */
} bouma_step_details;
BOUMA_API int bouma_step_details_get(const bouma_step *step,
                                     bouma_step_details *out);

typedef struct bouma_file_info {
    uint64_t bytes;
    int64_t chunks;
} bouma_file_info;
BOUMA_API int bouma_step_file_get(const bouma_step *step, int64_t i,
                                  bouma_file_info *out);

/* The grids of a step, and the variables of a grid, by number or by name. NULL
 * if there is none; the message then lists those there are. They belong to the
 * step (grids being written: to the dataset). */
BOUMA_API int bouma_step_grid_count(const bouma_step *step);
BOUMA_API bouma_grid *bouma_step_grid(bouma_step *step, int i);
BOUMA_API bouma_grid *bouma_step_find_grid(bouma_step *step, const char *name);
BOUMA_API int bouma_grid_variable_count(const bouma_grid *grid);
BOUMA_API bouma_variable *bouma_grid_variable(bouma_grid *grid, int i);
BOUMA_API bouma_variable *bouma_grid_find_variable(bouma_grid *grid,
                                                   const char *name);

typedef struct bouma_grid_info {
    const char *name;
    int ndims, levels;
    int64_t shape[BOUMA_MAX_DIMS];
    int64_t patch[BOUMA_MAX_DIMS];
    double origin[BOUMA_MAX_DIMS], spacing[BOUMA_MAX_DIMS];
    const char *unit;
    int variables;
    int64_t patches; /* of BOUMA_LAYOUT_HZ: blocks; 'patch' is what one of the
                        finest level spans */
    bouma_layout layout;
    char hz_template[64]; /* of BOUMA_LAYOUT_HZ, else empty */
    int hz_block_bits, hz_blocks_per_file;
    bouma_hz_order hz_order;
    int hz_partitions; /* 1 unless partitions have an index each: to files and
                          readers, others do not matter */
    bouma_hz_index hz_index;
    int hz_wavelet, hz_tile_bits; /* 0: samples, no coefficients */
    int idx; /* it is an IDX dataset, too: idx/NAME.idx in the dataset */
} bouma_grid_info;
BOUMA_API void bouma_grid_info_get(const bouma_grid *grid,
                                   bouma_grid_info *out);

typedef struct bouma_variable_info {
    const char *name;
    bouma_type type;
    int components;
    bouma_codec codec;
    int codec_level;
    const char *unit;
    int present; /* 1 if this step has it */
    uint64_t raw_bytes, stored_bytes;
    double tolerance; /* as given */
    bouma_tolerance tolerance_kind;
    double bound;         /* the tolerance as an absolute number */
    double largest_error; /* largest error of all samples; infinite if not
                             known, as with 'nominal' */
    double psnr;          /* in dB: the range over the root mean square error;
                             infinite if there is no error, NaN if not known, as
                             with 'nominal' or infinite values */
    int nominal;          /* 1: the tolerance is that of coefficients */
    /* for a variable written with a relative tolerance, in its last step: the
     * range without the outermost thousandth of its values; else 0. If it is
     * less than 'bound', outliers dominate the range, and little may be left of
     * the other values */
    double span;
    int averages; /* 1: coarser levels are averages, for which no tolerance
                     holds; 0: they are samples */
} bouma_variable_info;
BOUMA_API void bouma_variable_info_get(const bouma_variable *variable,
                                       bouma_variable_info *out);

/* Stored bytes of one level; reading it also takes those of the coarser ones. 0
 * if there is no such level. With BOUMA_LAYOUT_HZ all bytes count as those of
 * the coarsest level: what each level has is not on record. */
BOUMA_API uint64_t bouma_variable_level_bytes(const bouma_variable *variable,
                                              int level);

/* The range of one component's values, without NaN, which is counted
 * separately. 'empty' is 1 if there is no value but NaN. Integers are exact in
 * the union's member for their type; 'low' and 'high' are the same as doubles.
 */
typedef union bouma_scalar {
    int64_t i;
    uint64_t u;
    double f;
} bouma_scalar;
typedef struct bouma_range {
    double low, high;
    bouma_scalar exact_low, exact_high;
    uint64_t nans;
    int empty;
} bouma_range;
BOUMA_API int bouma_variable_range(const bouma_variable *variable,
                                   int component, bouma_range *out);

/* The result of reading 'box' at 'level': its shape, and the position of its
 * first sample. 'box' may be NULL: the whole grid. */
typedef struct bouma_selection {
    int ndims;
    int64_t shape[BOUMA_MAX_DIMS];
    int64_t first[BOUMA_MAX_DIMS]; /* index at full resolution */
    double origin[BOUMA_MAX_DIMS], spacing[BOUMA_MAX_DIMS];
    uint64_t bytes;               /* of a dense array for it */
    int64_t step[BOUMA_MAX_DIMS]; /* to the next sample, at full resolution */
} bouma_selection;
BOUMA_API int bouma_variable_select(const bouma_variable *variable, int level,
                                    const bouma_box *box, bouma_selection *out);

/* Read the samples of 'box' (NULL: all) at 'level' into 'data', laid out as
 * 'memory' says (NULL: dense, with the shape of bouma_variable_select()). Not
 * collective: any rank may read what it likes. */
BOUMA_API int bouma_variable_read(bouma_variable *variable, int level,
                                  const bouma_box *box, void *data,
                                  const bouma_memory *memory);

/* The same for any number of boxes on each rank (may be 0) of one step. Each
 * chunk is read by one rank only, which passes it on to the others. Collective.
 */
typedef struct bouma_request {
    bouma_variable *variable;
    int level;
    bouma_box box;
    void *data;
    const bouma_memory *memory;
} bouma_request;
BOUMA_API int bouma_step_read(bouma_step *step, const bouma_request *requests,
                              size_t count);

/* Read patch by patch, each at its own level: fine where something happens, and
 * coarse, or nothing at all, elsewhere.
 *
 * Patches that do not meet 'box' (NULL: all) are skipped. If 'within' is 1, so
 * are those with no value from 'low' to 'high' in 'component'; files without
 * such values are not read. 'choose' then returns the level for a patch, or -1
 * to skip it; if it is NULL, that is 'level'. 'each' gets the samples of the
 * patch (of its part in 'box') at that level: dense, the components of a sample
 * side by side, with shape and position as in 'selection'. It is not called for
 * parts without samples at the level. It returns 0 to continue; anything else
 * ends the call with BOUMA_EABORTED. Both run on the calling thread, 'each' in
 * an order that depends only on the files and levels; neither may read the step
 * (BOUMA_ESTATE) or free it.
 *
 * Of a grid of BOUMA_LAYOUT_HZ, the patches are blocks. Their samples lie apart
 * from each other: 'box' is the smallest one around them, and 'step' of the
 * selection tells how far, along each axis. Blocks without samples of the level
 * are skipped. With 'hz_wavelet', the patches are its tiles: 'ranges' are those
 * of the variable, 'level_bytes' are 0, and with 'within' all tiles are read.
 */
typedef struct bouma_patch_info {
    bouma_box box; /* the whole patch, in samples of level 0 */
    int levels, components;
    const bouma_range *ranges;   /* [components], of the original values: those
                                    read may be outside by the bound */
    const uint64_t *level_bytes; /* [levels], stored */
} bouma_patch_info;

typedef struct bouma_patch_query {
    size_t size; /* sizeof(bouma_patch_query) */
    const bouma_box *box;
    int level;
    int within, component;
    double low, high;
    int (*choose)(void *user, const bouma_patch_info *patch);
    int (*each)(void *user, const bouma_patch_info *patch, int level,
                const bouma_selection *selection, const void *samples);
    void *user;
} bouma_patch_query;
BOUMA_API int bouma_variable_query(bouma_variable *variable,
                                   const bouma_patch_query *query);

/* Read from coarse to fine: hold 'box' (NULL: all) at 'level', then go to finer
 * levels, reading only the additional bytes. The array belongs to the
 * refinement, and bouma_refinement_next() replaces it; BOUMA_ENOTFOUND if level
 * 0 is already there. After a failure the old array is still valid. */
BOUMA_API int bouma_refinement_open(bouma_refinement **out,
                                    bouma_variable *variable, int level,
                                    const bouma_box *box);
BOUMA_API int bouma_refinement_next(bouma_refinement *refinement);
BOUMA_API const void *bouma_refinement_data(const bouma_refinement *refinement,
                                            bouma_selection *selection,
                                            int *level);
BOUMA_API void bouma_refinement_free(bouma_refinement *refinement);

/* ---- reading particles -------------------------------------------------- */

/* The sets of a step, and their variables (number 0 is the position, the others
 * are the attributes), like those of grids. bouma_variable_info_get() and
 * _range() work on these variables, too; their levels are levels of detail. */
BOUMA_API int bouma_step_particles_count(const bouma_step *step);
BOUMA_API bouma_particles *bouma_step_particles(bouma_step *step, int i);
BOUMA_API bouma_particles *bouma_step_find_particles(bouma_step *step,
                                                     const char *name);
BOUMA_API int bouma_particles_variable_count(const bouma_particles *particles);
BOUMA_API bouma_variable *bouma_particles_variable(bouma_particles *particles,
                                                   int i);
BOUMA_API bouma_variable *
bouma_particles_find_variable(bouma_particles *particles, const char *name);
BOUMA_API bouma_attributes *
bouma_particles_attributes(bouma_particles *particles);

typedef struct bouma_particles_info {
    const char *name;
    int ndims;
    bouma_type type; /* of positions */
    const char *unit;
    int variables; /* including the position */
    int levels;    /* of detail */
    uint64_t count;
    uint64_t strays; /* of these: without a finite position */
    double low[BOUMA_MAX_DIMS], high[BOUMA_MAX_DIMS]; /* of finite positions */
    int64_t files;
    int64_t tree_nodes; /* of the tree over the files; 0: no tree */
} bouma_particles_info;
BOUMA_API void bouma_particles_info_get(const bouma_particles *particles,
                                        bouma_particles_info *out);

/* The content of the i-th file of a set. */
typedef struct bouma_particles_file {
    int64_t file; /* number among the files of the step */
    uint64_t count, strays;
    double low[BOUMA_MAX_DIMS], high[BOUMA_MAX_DIMS];
    uint64_t tree_bytes;
} bouma_particles_file;
BOUMA_API int bouma_particles_file_get(const bouma_particles *particles,
                                       int64_t i, bouma_particles_file *out);

/* The i-th node of the tree over the files, in preorder: the left child of an
 * inner node is the next one. BOUMA_ENOTFOUND past the last. */
typedef struct bouma_particles_node {
    int64_t right; /* number of the right child; 0: a leaf */
    int64_t file;  /* of a leaf, as for bouma_particles_file_get() */
    int axis;      /* -1: none, divided by the order of ranks; or a leaf */
    double split;
    uint64_t count; /* of particles below it */
    double low[BOUMA_MAX_DIMS], high[BOUMA_MAX_DIMS];
} bouma_particles_node;
BOUMA_API int bouma_particles_node_get(const bouma_particles *particles,
                                       int64_t i, bouma_particles_node *out);

/* Values from low to high, inclusive, in the union's member for the type of the
 * variable (f for f32, too). NaN is in no range. */
typedef struct bouma_condition {
    bouma_variable *variable;
    int component;
    bouma_scalar low, high;
} bouma_condition;

/* The same from doubles, which may be infinite; for integers, rounded inwards.
 */
BOUMA_API int bouma_condition_set(bouma_condition *out,
                                  bouma_variable *variable, int component,
                                  double low, double high);

/* Some of the particles found: for each wanted variable its components, one
 * after the other, each with 'count' values; aligned. Valid during the call. */
typedef struct bouma_batch {
    uint64_t count;
    const void *const *columns; /* [variables] */
} bouma_batch;

/* A query. bouma_particles_query_init() sets 'size', no box, no conditions,
 * quality 1, all variables. */
typedef struct bouma_particles_query {
    size_t size;
    /* The fraction of the particles: those above 'from' up to 'quality', 0 to
     * 1. Queries from 0 to 0.1, 0.1 to 0.4 and 0.4 to 1 return each particle
     * once, and read each byte once. */
    double from, quality;
    /* If 'boxed' is 1: low <= position < high on each axis; on axes whose bit
     * (1 << axis) is set in 'closed', high is included. */
    int boxed;
    double low[BOUMA_MAX_DIMS], high[BOUMA_MAX_DIMS];
    unsigned closed;
    /* All of these must hold. */
    const bouma_condition *conditions;
    size_t condition_count;
    /* Variables to return; NULL: the position and all others that the step has,
     * in their order. */
    bouma_variable *const *variables;
    size_t variable_count;
    int shares; /* 1: an equal share for each rank; only for
                   bouma_particles_restart(), and without a box */
} bouma_particles_query;
BOUMA_API void bouma_particles_query_init(bouma_particles_query *query,
                                          size_t size);

/* Pass all particles that match, each once, to 'each', batch by batch, in no
 * particular order (but always the same). It returns 0 to continue; anything
 * else ends the call with BOUMA_EABORTED. It may not read the step
 * (BOUMA_ESTATE) or free it. Not collective. */
BOUMA_API int bouma_particles_query_run(
    bouma_particles *particles, const bouma_particles_query *query,
    int (*each)(void *user, const bouma_batch *batch), void *user);

/* Particles in memory: the caller owns and frees them. Columns are as in a
 * batch, for all particles. */
typedef struct bouma_particle_data {
    uint64_t count;
    size_t variable_count;
    bouma_variable **variables; /* [variable_count] */
    void **columns;             /* [variable_count] */
    const bouma_allocator *allocator;
} bouma_particle_data;
BOUMA_API void bouma_particle_data_free(bouma_particle_data *data);

/* The same as bouma_particles_query_run(), into arrays. 'query' may be NULL:
 * all particles. On failure *out is NULL. */
BOUMA_API int bouma_particles_read(bouma_particle_data **out,
                                   bouma_particles *particles,
                                   const bouma_particles_query *query);

/* 'count' of the particles that match (all, if there are no more), none twice.
 * 'query' may be NULL; its quality is not used. The same 'seed' gives the same
 * sample on any machine and number of ranks.
 *
 * A seed from 1 on gives a simple random sample: each set of that many
 * particles is equally likely, and samples of different seeds are independent.
 * So the mean of n values with standard deviation s, out of N particles, has
 * the standard error s / sqrt(n) * sqrt(1 - n / N), and the number of particles
 * of some kind in the sample is hypergeometric. The particles are in the order
 * in which they were drawn: the first k are the sample of k. Each level of a
 * chunk that has one of them is read: for samples of more than one particle in
 * some hundred, nearly all data of the query.
 *
 * Seed 0 gives the even sample: it is taken from the coarse levels of detail,
 * so it reads little more than it returns, and it is spread more evenly than a
 * random one. It is always the same; sums over space have a smaller error than
 * the formula says. */
BOUMA_API int bouma_particles_sample(bouma_particle_data **out,
                                     bouma_particles *particles,
                                     const bouma_particles_query *query,
                                     uint64_t count, uint64_t seed);

/* Give each rank the particles of its own box, as after a restart, on any
 * number of ranks; each file is read by one of them.
 *
 * With 'query' NULL on all ranks, or with 'shares' set, each rank gets an equal
 * share of the particles (that match); particles that are close together are on
 * the same rank. Otherwise every rank gives a box; boxes may differ, overlap or
 * leave gaps, but the rest of the query must be the same. Boxes that share a
 * face share no particle. If 'closed' is 0, a box that reaches the far face of
 * the bounds of all particles includes that face, unless the box of some rank
 * continues behind it. A query with neither a box nor shares returns all
 * particles to each rank. Particles without a finite position are in no box.
 * Collective. */
BOUMA_API int bouma_particles_restart(bouma_particle_data **out,
                                      bouma_particles *particles,
                                      const bouma_particles_query *query);

/* ---- plain files of any program ----------------------------------------- */

/* One call for a sequence of MPI_File_write_at_all() or MPI_File_read_at_all():
 * all ranks declare which bytes of a file they have, for any number of
 * variables at once; these are gathered across the variables, and a few ranks
 * write them in large pieces. The bytes in the file are those of the sequence.
 *
 *     bouma_io_open_mpi(&f, comm, "out.dat", BOUMA_IO_CREATE, NULL);
 *     bouma_io_declare(f, n, count, size, offset);
 *     bouma_io_write(f, data);          as often as wanted
 *     bouma_io_close(f);
 *     bouma_io_free(f);
 *
 * These options apply: io, allocator, files, writers, place, machine, tier,
 * local, buffers, buffer_bytes, message_bytes, transport, timeout, durability
 * (synced only if durable) and progress. */
typedef struct bouma_io_file bouma_io_file;

typedef enum bouma_io_mode {
    BOUMA_IO_READ = 1,   /* an existing file */
    BOUMA_IO_CREATE = 2, /* a new file; an existing one is emptied, and keeps
                            its owner and links */
    BOUMA_IO_UPDATE = 3  /* created if missing; bytes that are not written stay
                            */
} bouma_io_mode;

/* The caller owns *out and frees it with bouma_io_free(), after a failure, too:
 * it holds the message. With the option 'files' above 1, ranks are divided into
 * that many groups (at most one per rank) of equally many consecutive ranks,
 * each with its own file: PATH.0000, PATH.0001, ... Collective. */
BOUMA_API int bouma_io_open(bouma_io_file **out, const char *path,
                            bouma_io_mode mode, const bouma_options *opts);
/* Sync, if the option 'durability' is durable (the default), and close.
 * Collective. */
BOUMA_API int bouma_io_close(bouma_io_file *file);
/* Collective only if it was opened with MPI. */
BOUMA_API void bouma_io_free(bouma_io_file *file);
BOUMA_API const char *bouma_io_message(const bouma_io_file *file);

/* The number of this rank's file, the rank's number within the group of that
 * file, and the size of the group. Any of the pointers may be NULL. */
BOUMA_API int bouma_io_group(const bouma_io_file *file, int *group, int *rank,
                             int *ranks);

/* Declare that this rank has count[i] elements of size[i] bytes of variable i,
 * from byte offset[i] of its group's file on. Ranks may have different numbers
 * of variables; only bytes matter. The declaration holds until the next one.
 * Ranges to be written must not overlap between ranks (if they do, one of them
 * is written; within a rank, the last one in the list); ranges to be read may.
 * Collective. */
BOUMA_API int bouma_io_declare(bouma_io_file *file, size_t variables,
                               const uint64_t *count, const uint64_t *size,
                               const uint64_t *offset);

/* Write variable i from data[i], or read it into data[i]. Reading beyond the
 * end of a file is BOUMA_EFORMAT. Collective. */
BOUMA_API int bouma_io_write(bouma_io_file *file, const void *const *data);
BOUMA_API int bouma_io_read(bouma_io_file *file, void *const *data);

/* The last write or read, summed over all ranks. */
typedef struct bouma_io_report {
    uint64_t bytes;        /* declared */
    uint64_t moved_bytes;  /* between ranks */
    int64_t writers;       /* ranks that wrote or read files */
    int64_t rounds;        /* of the rank with the most */
    uint64_t buffer_bytes; /* of each buffer */
    double seconds;        /* of the slowest rank */
    double store_seconds;  /* of the slowest rank's thread */
} bouma_io_report;
BOUMA_API int bouma_io_report_get(const bouma_io_file *file,
                                  bouma_io_report *out);

/* ---- checking and mending ----------------------------------------------- */

typedef enum bouma_verify_depth {
    BOUMA_VERIFY_QUICK = 1, /* manifests and file sizes */
    BOUMA_VERIFY_META = 2,  /* also the tables of chunks */
    BOUMA_VERIFY_FULL = 3,  /* also every checksum */
    BOUMA_VERIFY_DEEP = 4   /* also decode every chunk, compare its range */
} bouma_verify_depth;

typedef enum bouma_severity {
    BOUMA_NOTE = 1,     /* harmless, such as leftovers of a killed writer */
    BOUMA_DAMAGE = 2,   /* something committed cannot be read, or not fully */
    BOUMA_UNCHECKED = 3 /* it could not be checked: the device failed, or a
                           newer version of bouma wrote it */
} bouma_severity;

typedef struct bouma_finding {
    bouma_severity severity;
    int64_t step;     /* -1: not about one step */
    const char *name; /* file, relative to the dataset */
    const char *text;
} bouma_finding;

typedef struct bouma_verify_report {
    uint64_t steps, files, chunks, bytes; /* checked */
    uint64_t notes, damages;              /* findings */
    uint64_t unchecked;                   /* findings */
} bouma_verify_report;

/* Check the dataset at 'path'. 'each' (may be NULL) gets each finding, on every
 * rank. BOUMA_OK means that the check was made, whatever it found; on failure
 * 'message' (of 'bytes' bytes) says why it could not be made. A program may be
 * writing meanwhile: a step that it replaces or drops is a note; BOUMA_ESTATE
 * if it has replaced this dataset by another. */
BOUMA_API int bouma_verify(const char *path, bouma_verify_depth depth,
                           const bouma_options *opts,
                           void (*each)(void *user, const bouma_finding *f),
                           void *user, bouma_verify_report *report,
                           char *message, size_t bytes);

/* Repair the dataset or, without 'apply', report what a repair would do. It
 * reads all data; data that do not match their checksums are recorded as lost.
 * Whatever is in the way is moved to lost/. Only these are removed: the files
 * of an earlier version of a step that was rewritten and is whole; the record
 * of a loss that is over; the old index, when it is rebuilt; and the empty
 * directory of a lost step. 'each' gets each action. Steps are independent: one
 * that cannot be checked, or that a newer version of bouma wrote, is left
 * alone, and the others are repaired. */
typedef struct bouma_repair_report {
    uint64_t actions;   /* done, or to do */
    uint64_t hopeless;  /* damages that remain unless forgotten, as
                           bouma_verify() counts them */
    uint64_t unchecked; /* findings that could not be checked */
} bouma_repair_report;
BOUMA_API int bouma_repair(const char *path, int apply,
                           const bouma_options *opts,
                           void (*each)(void *user, const bouma_finding *f),
                           void *user, bouma_repair_report *report,
                           char *message, size_t bytes);

/* Committed data that are gone or damaged. A loss stays on record, also when
 * the index is rebuilt, and verify counts it as damage, until it is forgotten
 * or the step is rewritten. */
typedef struct bouma_loss {
    int64_t step;
    double time;      /* of the step, if 'is_known' */
    int64_t recorded; /* when it was recorded: seconds since 1970; 0: not yet,
                         below 0: not known */
    int64_t files;    /* 0: the whole step is lost; else the number of files
                         that are lost or damaged: the rest can be read */
    int accepted;     /* files only: forgotten, so verify reports notes */
    int is_known;     /* 1: 'time' is known */
    int attributes;   /* one of 'files' is the manifest: it was rebuilt, and
                         attributes of the step and of the dataset are lost */
} bouma_loss;

/* Report each known loss of the dataset at 'path', by ascending step. Damaged
 * files that repair has not seen yet are found by verify only. If the index
 * cannot be read, the losses on record are reported, and the status is that of
 * the index: it may know of more. */
BOUMA_API int bouma_losses(const char *path, const bouma_options *opts,
                           void (*each)(void *user, const bouma_loss *loss),
                           void *user, char *message, size_t bytes);

/* Forget the loss of a step, or all losses if 'step' is -1; without 'apply'
 * only report, as bouma_repair(). BOUMA_ENOTFOUND if no loss of the step is
 * known: bouma_repair() records those of files and chunks. A step whose
 * manifest can be read is never removed. */
BOUMA_API int bouma_repair_forget(
    const char *path, int64_t step, int apply, const bouma_options *opts,
    void (*each)(void *user, const bouma_finding *f), void *user,
    bouma_repair_report *report, char *message, size_t bytes);

/* ---- draining what was left behind -------------------------------------- */

/* Numbers of steps; and of files and bytes that were copied. */
typedef struct bouma_drain_report {
    uint64_t steps;     /* in the local copy */
    uint64_t present;   /* already in the dataset */
    uint64_t published; /* added to the dataset */
    uint64_t waiting;   /* lack files of other nodes */
    uint64_t failed;    /* not copied or not removed, as they are damaged or the
                           like */
    uint64_t removed;   /* from the local copy */
    uint64_t files, bytes;
    uint64_t older;    /* not copied: the dataset has a later version */
    uint64_t replaced; /* of 'published': replaced an earlier version */
    uint64_t losses;   /* recorded in the dataset as lost: they are lost here or
                         there, and could not be copied */
    uint64_t dropped;  /* not copied: dropped by a truncation */
} bouma_drain_report;

/* Finish the draining of a program with the option 'persist': copy all steps
 * that the local copy 'local' has and the dataset 'path' does not, check every
 * byte, and publish them. The dataset is created if it is missing; otherwise it
 * must have the local copy's id (BOUMA_EEXISTS). After an interruption or a
 * failure, another call continues where the first stopped. BOUMA_EBUSY while a
 * program writes the dataset, which then drains by itself.
 *
 * If both have a step, and it was rewritten in one of them, the later version
 * counts: that of the later writer (its epoch; see docs/format.md), or the
 * later attempt of the same writer. A later version in the local copy replaces
 * that of the dataset; if the dataset has the later one, nothing is copied, and
 * the local copy keeps its own ('older'). If they differ but neither is later,
 * both stay as they are (BOUMA_EEXISTS). A step that the local copy has lost,
 * and the dataset does not have, is recorded there as lost. A step that
 * bouma_dataset_truncate() has dropped is not copied ('dropped'); if the record
 * of dropped steps is damaged, no step is (BOUMA_EFORMAT).
 *
 * With several nodes, each has a local copy with the files of its own ranks:
 * drain each, in any order or at once; the one that brings the last file of a
 * step publishes it.
 *
 * With 'remove', steps that the dataset has in the same version are removed
 * from the local copy, after all bytes of their files have been read back from
 * the dataset and checked. Steps that are damaged in the dataset stay in the
 * local copy, even if the damage was forgotten. Dropped steps are removed as
 * well.
 *
 * A damaged step, here or there, does not stop the others: it is counted as
 * 'failed', and 'message' (of 'bytes' bytes) describes the first one. 'report'
 * may be NULL; it is also filled in after a failure. */
BOUMA_API int bouma_drain(const char *local, const char *path, int remove,
                          const bouma_options *opts, bouma_drain_report *report,
                          char *message, size_t bytes);

/* ---- planning ahead ----------------------------------------------------- */

/* The plan of a write of one variable by any number of ranks, made by the
 * functions that plan real writes, but without the ranks and the data. Each
 * rank holds one block of a regular arrangement, as equal as possible: block i
 * of n begins at sample i * shape / n. */
typedef struct bouma_plan bouma_plan;

typedef struct bouma_plan_spec {
    size_t size; /* sizeof(bouma_plan_spec) */
    int ranks;
    int ndims; /* 1 to 3 */
    int64_t shape[BOUMA_MAX_DIMS];
    int64_t blocks[BOUMA_MAX_DIMS]; /* ranks along each axis; all 0: blocks as
                                       cubic as possible */
    int64_t patch[BOUMA_MAX_DIMS];  /* as in bouma_grid_spec */
    bouma_type type;                /* 0: BOUMA_F32 */
    int components;                 /* 0: 1 */
    double ratio; /* of raw bytes to those of all chunks; 0: 1 */
    double vary;  /* sizes of chunks differ by up to this factor, smoothly in
                     space; 0: 1 */
    bouma_rank_order rank_order; /* 0: BOUMA_RANKS_ROW_MAJOR */
    bouma_layout layout;         /* this one and the rest as in bouma_grid_spec;
                                    blocks of BOUMA_LAYOUT_HZ are "patches" */
    const char *hz_template;     /* also "ranks": that of bouma_hz_template()
                                    for these blocks and this order */
    int hz_block_bits, hz_blocks_per_file;
    bouma_hz_order hz_order;
} bouma_plan_spec;

/* File sizes and stored_bytes include chunks and their table entries, but not
 * what a file holds once, such as names. */
typedef struct bouma_plan_report {
    bouma_distribute distribute;
    bouma_assign assign;
    bouma_place place;
    int64_t ranks;
    int64_t blocks[BOUMA_MAX_DIMS]; /* along each axis */
    int64_t patch[BOUMA_MAX_DIMS];  /* samples */
    int64_t grid[BOUMA_MAX_DIMS];   /* patches along each axis */
    int64_t patches;
    int64_t shared_patches;               /* held by more than one rank */
    int64_t fewest_patches, most_patches; /* of any rank */
    uint64_t raw_bytes, stored_bytes;
    uint64_t moved_bytes; /* between ranks, to assemble patches */
    int64_t moved_messages;
    uint64_t shipped_bytes; /* between ranks, to the writers of the files */
    int64_t shipped_messages;
    int64_t rounds;  /* of sending; see 'buffer_bytes' */
    int64_t writers; /* ranks that write */
    int64_t files;
    uint64_t smallest_file, largest_file, mean_file;
    uint64_t memory_bytes; /* peak memory of planning, as on every rank of a
                              real write */
    double seconds;
    int machine;      /* 1: a machine was given, or the scheme needs one;
                         then... */
    double byte_hops; /* ...shipped bytes times the links they go over */
    bouma_layout layout;
    /* Of BOUMA_LAYOUT_HZ, else 0. 'assign' and 'grid' are 0 for it, and 'patch'
     * is the extent of a block of the finest level. */
    char hz_template[64];
    int hz_block_bits, hz_blocks_per_file;
    bouma_hz_order hz_order;
    int hz_conforms; /* 1: each level visits the ranks in ascending order */
    int fewest_holders, most_holders; /* ranks with samples of a file, of any
                                         file */
    int64_t fewest_held, most_held;   /* files with samples of a rank, of any
                                         rank that has samples */
    int64_t held_files;               /* the sum over all ranks */
} bouma_plan_report;

/* Make a plan. Of 'opts' (may be NULL) it uses the fields for files, schemes,
 * buffers, the machine and the allocator. On failure *out is NULL, and
 * 'message' (of 'bytes' bytes, may be NULL) says why. The caller owns *out. */
BOUMA_API int bouma_plan_make(bouma_plan **out, const bouma_plan_spec *spec,
                              const bouma_options *opts, char *message,
                              size_t bytes);
BOUMA_API void bouma_plan_free(bouma_plan *plan);

BOUMA_API int bouma_plan_report_get(const bouma_plan *plan,
                                    bouma_plan_report *out);

/* One patch, by its index along each axis (ndims entries), which blocks of
 * BOUMA_LAYOUT_HZ do not have; and one file. BOUMA_ENOTFOUND if there is
 * none. */
typedef struct bouma_plan_patch {
    int owner; /* the rank that assembles and encodes it */
    int64_t file;
    uint64_t bytes;
} bouma_plan_patch;
typedef struct bouma_plan_file {
    int writer;
    int64_t patches;
    uint64_t bytes;
    bouma_tier tier; /* where the writer gathers it */
    /* The levels of the HZ order that it has samples of; 0 is the coarsest, and
     * in other layouts both are 0. */
    int first_level, last_level;
} bouma_plan_file;
BOUMA_API int bouma_plan_patch_get(const bouma_plan *plan, const int64_t *at,
                                   bouma_plan_patch *out);
BOUMA_API int bouma_plan_file_get(const bouma_plan *plan, int64_t file,
                                  bouma_plan_file *out);
/* A rank: the index of its block along each axis, and its samples, of which
 * there may be none. BOUMA_ENOTFOUND if there is no such rank. */
typedef struct bouma_plan_rank {
    int64_t at[BOUMA_MAX_DIMS];
    bouma_box box;
} bouma_plan_rank;
BOUMA_API int bouma_plan_rank_get(const bouma_plan *plan, int rank,
                                  bouma_plan_rank *out);

/* Call 'each' for all ranks that hold samples of a file, in no order.
 * BOUMA_ENOTFOUND if there is no such file, BOUMA_ENOMEM. */
BOUMA_API int bouma_plan_holders(const bouma_plan *plan, int64_t file,
                                 void (*each)(void *user, int rank),
                                 void *user);

/* Why `place` = cost has chosen the writer of a file: the cost, in seconds, of
 * gathering it on one of the ranks that send to it, in one of the tiers of its
 * node. The smallest sum of the four costs is chosen, among tiers that fit.
 * docs/placement.md has the formulas. */
typedef struct bouma_plan_cost {
    int rank, node;
    bouma_tier tier;
    int fits;      /* the tier has room, and keeps what it must */
    int chosen;    /* 1: this candidate was chosen */
    double gather; /* moving the bytes to the rank */
    double store;  /* moving them on to the target */
    double links;  /* link time taken from other files */
    double wait;   /* for files already gathered there */
} bouma_plan_cost;
/* Call 'each' for all candidates of a file, ascending by rank; an empty file
 * has none. BOUMA_ENOTFOUND if there is no such file, BOUMA_EINVAL if the plan
 * is not by cost, BOUMA_ENOMEM. */
BOUMA_API int bouma_plan_explain(const bouma_plan *plan, int64_t file,
                                 void (*each)(void *user,
                                              const bouma_plan_cost *cost),
                                 void *user);

/* ---- measuring a machine ------------------------------------------------ */

/* What to measure. Zeros: choose for me. */
typedef struct bouma_probe_spec {
    size_t size;            /* sizeof(bouma_probe_spec) */
    const char *local;      /* a directory on node-local storage; NULL: skip */
    const char *target;     /* a directory for datasets; NULL: skip */
    uint64_t storage_bytes; /* to write in each try; 0: 64 MiB */
    int tries;              /* of which the median counts; 0: 5 */
} bouma_probe_spec;

typedef struct bouma_speed {
    double latency;   /* seconds, of a smallest transfer */
    double bandwidth; /* bytes per second, of large ones; 0: not measured */
} bouma_speed;

typedef struct bouma_probe_report {
    int ranks, nodes;
    uint64_t dram_bytes,
        hbm_bytes;         /* of the smallest node; 0: not known, none */
    bouma_speed dram, hbm; /* latency: random reads; bandwidth: copying, by one
                              process */
    bouma_speed network;   /* messages between nodes, or inside a single one */
    bouma_speed local, target; /* written and synced, by one process */
    char local_path[BOUMA_PATH_BYTES];
    double windows, messages;  /* bytes per second that one rank gathers from
                                  the others by each transport; 0: not measured
                                  */
    bouma_transport transport; /* the faster one; 0: not known */
} bouma_probe_report;

/* Measure memory, network and storage, for the option 'machine'. Takes seconds.
 * Of 'opts' (may be NULL) the allocator and the progress function are used. On
 * failure 'message' (of 'bytes' bytes) says why. */
BOUMA_API int bouma_probe(const bouma_probe_spec *spec,
                          const bouma_options *opts, bouma_probe_report *report,
                          char *message, size_t bytes);

/* The machine file of a report, as docs/machine.md describes it. Like
 * snprintf(): writes up to 'bytes' bytes, including the NUL, to 'text', and
 * returns the full length (0: no memory, or no report). */
BOUMA_API size_t bouma_probe_text(const bouma_probe_report *report, char *text,
                                  size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
