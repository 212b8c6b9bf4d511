/* bouma.h -- multiresolution storage for the grids and particles of a
 * simulation.
 *
 * Write:  create a dataset, define grids and particle sets and their variables,
 *         then for each output step: begin, put what this rank holds, end.
 * Read:   open a dataset, open a step. Of a grid, read any box at any level;
 *         level 0 is full resolution, level k holds the samples whose indices
 *         are multiples of 2^k (averages there, with BOUMA_CODEC_WAVELET). Of
 *         particles, query any box, any ranges of values, at any quality;
 *         quality q is the share q of the particles.
 *
 * Axes are in C order, the slowest first, as in NumPy and HDF5. Boxes are
 * half-open and count full-resolution samples, whatever the level.
 *
 * A function that can fail returns BOUMA_OK or a negative bouma_status, and
 * bouma_error_message() then tells what failed, on which rank, in which file,
 * and what to do. One that gives a handle gives NULL, and leaves a message too.
 * All ranks of a dataset call a "Collective" function, in the same order, and
 * get one same status; in a program without MPI there is just one rank. Other
 * functions concern the calling rank only. Every *_free() accepts NULL; with
 * NULL for a handle all others do nothing, and no dataset can remember it: all
 * that tells is what they return: BOUMA_EINVAL, NULL or 0.
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

/* BOUMA_ECOMM is for good: MPI has failed, or some rank did not come within the
 * option 'timeout'. Ranks that were done with their call by then get it from
 * the next one. The handle can only be freed, which waits for nobody; arrays of
 * the call that failed must stay as they are until MPI is finalized, since MPI
 * may still send from them or receive into them. */

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

/* Bytes of one value (1 for BOUMA_STRING, 0 for an unknown type); its text
 * ("f32", "string"), or NULL; the type of a text, or 0. */
BOUMA_API size_t bouma_type_size(bouma_type type);
BOUMA_API const char *bouma_type_name(bouma_type type);
BOUMA_API bouma_type bouma_type_parse(const char *text);

#define BOUMA_MAX_DIMS 3

/* The samples lo <= index < hi, on as many axes as the grid has. */
typedef struct bouma_box {
    int64_t lo[BOUMA_MAX_DIMS];
    int64_t hi[BOUMA_MAX_DIMS];
} bouma_box;

/* Where the samples of a box lie in memory, from the box's first sample at the
 * 'data' pointer that goes with it. Strides are in bytes, as in NumPy, and may
 * be negative; all zero means: dense, components innermost. A single 0 repeats
 * a sample that is put, and is refused where one is read; so is any stride that
 * is less than a value has bytes (BOUMA_EINVAL). */
typedef struct bouma_memory {
    int64_t stride[BOUMA_MAX_DIMS];
    int64_t component_stride;
} bouma_memory;

/* Fill 'out' for a box inside a larger dense array, such as one with ghost
 * cells: the array has 'extent' samples along each axis, the components of a
 * sample side by side. The 'data' pointer to hand over with it is that of the
 * box's own first sample. All zeros if 'ndims' is not 1 to 3. */
BOUMA_API void bouma_memory_inside(bouma_memory *out, bouma_type type,
                                   int components, int ndims,
                                   const int64_t *extent);

/* ---- options ------------------------------------------------------------ */

/* The choices: name, value, text. Values never change. */
#define BOUMA_CHOICE_ENTRY(name, value, text) BOUMA_##name = value,

/* What an ended step survives. After a power loss the last fast steps may be
 * gone, never silently wrong. The steps of a group become visible and durable
 * together, at the price of one; bouma_dataset_flush() and _close() finish a
 * group early. */
#define BOUMA_DURABILITY_LIST(X)                                               \
    X(DURABLE, 1, "durable") /* a power loss (default) */                      \
    X(FAST, 2, "fast")       /* a killed program */                            \
    X(GROUP, 3, "group")     /* a power loss, 'group' steps at once */
typedef enum bouma_durability {
    BOUMA_DURABILITY_LIST(BOUMA_CHOICE_ENTRY)
} bouma_durability;

/* Who puts a patch together and encodes it. With `weighted`, ranks get as much
 * to do by the times that encoding took in the step before: who encodes then
 * differs from run to run, the bytes of a chunk do not. */
#define BOUMA_DISTRIBUTE_LIST(X)                                               \
    X(DISTRIBUTE_BALANCED, 1, "balanced") /* all alike, few moved (default) */ \
    X(DISTRIBUTE_GREEDY, 2, "greedy")     /* the rank that holds most of it */ \
    X(DISTRIBUTE_NONE, 3, "none")         /* the first rank that holds some */ \
    X(DISTRIBUTE_WEIGHTED, 4, "weighted") /* balanced in time, not number */
typedef enum bouma_distribute {
    BOUMA_DISTRIBUTE_LIST(BOUMA_CHOICE_ENTRY)
} bouma_distribute;

/* Which file holds a chunk. The first three take runs of the order of chunks
 * (of particles: of ranks along a Morton curve); the optimal one makes the
 * largest file as small as it can be, tables and all, but for up to 63 bytes
 * that align its data (of particles: as few particles as can be; with
 * `predict`, by the sizes that chunks had in the last step). The last three are
 * for particles, and mean `optimal` to grids; `split` divides ranks that have
 * more than others. With none of them, particles are assigned as by `split`,
 * but ranks are divided only where that saves time. */
#define BOUMA_ASSIGN_LIST(X)                                                   \
    X(ASSIGN_OPTIMAL, 1, "optimal")   /* (default of grids) */                 \
    X(ASSIGN_RUNNING, 2, "running")   /* running average of what is left */    \
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
    X(PLACE_COST, 3, "cost")     /* of those that send to it, the one that     \
                                    gathers at the least cost: see 'machine' */
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

/* How samples are stored. */
#define BOUMA_CODEC_LIST(X)                                                    \
    X(CODEC_ZSTD, 1, "zstd")       /* bytes shuffled, then zstd (default) */   \
    X(CODEC_RAW, 2, "raw")         /* as they are */                           \
    X(CODEC_INTERP, 3, "interp")   /* predicted; within a tolerance */         \
    X(CODEC_WAVELET, 4, "wavelet") /* wavelets and zfp; within a tolerance */  \
    X(CODEC_ZFP_REVERSIBLE, 5, "zfp-reversible") /* zfp, every bit kept */     \
    X(CODEC_QUANTISE, 6, "quantise") /* particles; within a tolerance */
typedef enum bouma_codec { BOUMA_CODEC_LIST(BOUMA_CHOICE_ENTRY) } bouma_codec;

/* The memory that a writer gathers bytes in on their way to its files. */
#define BOUMA_TIER_LIST(X)                                                     \
    X(TIER_DRAM, 1, "dram")   /* the main memory */                            \
    X(TIER_HBM, 2, "hbm")     /* of high bandwidth, if it is there */          \
    X(TIER_LOCAL, 3, "local") /* a file in the directory 'local' */
typedef enum bouma_tier { BOUMA_TIER_LIST(BOUMA_CHOICE_ENTRY) } bouma_tier;

/* How bytes get to a writer. With `windows`, ranks of its node put them into
 * its memory; others send. */
#define BOUMA_TRANSPORT_LIST(X)                                                \
    X(TRANSPORT_MESSAGES, 1, "messages") /* sent and received */               \
    X(TRANSPORT_WINDOWS, 2, "windows")   /* put, on its node */
typedef enum bouma_transport {
    BOUMA_TRANSPORT_LIST(BOUMA_CHOICE_ENTRY)
} bouma_transport;

/* Whether the sizes of the last step choose the files of this one, so that
 * chunks are sent and stored while others are still encoded. That is of use to
 * a series of steps with the same grids, variables and blocks, and codecs whose
 * sizes are not known before (all but raw); others are written as with `off`.
 * Chunks that turn out larger than predicted are stored behind the others, and
 * files are as even as the sizes of the last step were: see bouma_record. With
 * 'async', all but heads and syncs is done when bouma_step_end() returns. */
#define BOUMA_PREDICT_LIST(X)                                                  \
    X(PREDICT_OFF, 1, "off") /* first all chunks are encoded */                \
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
BOUMA_API bouma_codec bouma_codec_parse(const char *text);
BOUMA_API bouma_tier bouma_tier_parse(const char *text);
BOUMA_API bouma_transport bouma_transport_parse(const char *text);
BOUMA_API bouma_predict bouma_predict_parse(const char *text);

#define BOUMA_PATH_BYTES 256

/* Zero means "choose for me" in every field; new fields go at the end. Set
 * 'size' and zero the rest with bouma_options_init(&opts, sizeof(opts)). The
 * strings and tables pointed to must outlive the dataset. */
typedef struct bouma_options {
    size_t size;
    const bouma_io *io;               /* NULL: bouma_io_posix() */
    const bouma_allocator *allocator; /* NULL: malloc and free */

    bouma_durability durability;
    int group;   /* steps in a group of BOUMA_GROUP; 0: 8 */
    int replace; /* 1: a step that exists may be written again; when the new
                    one is durable, the files of the old one are removed (those
                    who have it open for reading may be told to open it again)
                  */
    int force;   /* 1: append although another writer seems alive */
    int files;   /* files a step, for grids and for each set of particles;
                    0: chosen from bytes and ranks */
    uint64_t file_size; /* wanted bytes a file, used where 'files' is 0 */
    bouma_distribute distribute;
    bouma_assign assign;
    bouma_place place;
    bouma_order order;

    uint64_t message_bytes; /* longest message between ranks; 0: 1 GiB */
    uint64_t buffer_bytes;  /* of each of a writer's buffers; 0: the block or
                               stripe of the storage, if that is 1 MiB or more,
                               else 4 MiB, of plain files 1 MiB */
    uint64_t memory_limit;  /* no single allocation for file content beyond
                               this, but for files up to 4 KiB; 0: 16 GiB */
    double timeout;         /* seconds without a sign of another rank that this
                               one waits for; 0: 1800, INFINITY: for ever. The
                               clock runs while a rank is in a call, and starts
                               anew with every message. Then BOUMA_ECOMM */

    unsigned char id[16]; /* identity of a new dataset; all zero: random */
    int threads; /* that work, on each rank; 0: 1 with several ranks or an
                    allocator of one's own, else one for each processor, up to
                    8. With more than 1 the allocator's functions must be safe
                    to be called by several at once */

    /* Called on rank 0 now and then while a call takes long, on the thread
     * that made the call. It must not use or free the dataset at work, nor
     * anything opened from it: reads of a step that is being read are refused
     * with BOUMA_ESTATE, and bouma_step_free() and bouma_dataset_free() do
     * nothing then. */
    void (*progress)(void *user, const char *what, uint64_t done,
                     uint64_t total);
    void *progress_user;

    int best_axis; /* 1: trees over ranks (`kdtree`, `split`) are split along
                      the axis where that is most even; 0: along the longest */

    /* What is where and how fast, for `place` = cost: "flat", a model such as
     * "torus:8x8x8", "auto" (what hwloc and Slurm tell), or the path of a
     * machine file. Empty: flat. */
    char machine[BOUMA_PATH_BYTES];
    bouma_tier tier;              /* 0: by cost, or dram */
    char local[BOUMA_PATH_BYTES]; /* a directory on storage of the node */
    int persist; /* 1: steps stay in 'local' as a dataset that can be read, and
                    are copied to their place meanwhile: see
                    bouma_dataset_drain() */
    int buffers; /* of 'buffer_bytes', that a writer has: while one is stored,
                    the next is filled; 0: 2, or 16 with 'async' */
    bouma_transport transport; /* 0: as the machine file says, or windows; for
                                  plain files messages */
    int async; /* 1: bouma_step_end() returns before all is stored: see there */
    bouma_predict predict;
    int writers; /* ranks that write a file of bouma_io_open(); 0: chosen */
    int check;   /* 1: a step fails if an array that was put has been changed
                    before the step had ended, or is no longer mapped (which
                    costs two passes over it); -1: do not look; 0: 1 in debug
                    builds of the library */
    int clobber; /* 1: bouma_dataset_create() removes a dataset of that path */
    /* A file for a trace of what each rank does when, for Perfetto; written
     * when the dataset or plain file is closed. Beside a trace of the same
     * process, as of another dataset, it is "trace-2.json" and so on. A trace
     * that cannot be written fails nothing: see bouma_dataset_note(). "off":
     * none, whatever the environment says. */
    char trace[BOUMA_PATH_BYTES];
} bouma_options;

BOUMA_API void bouma_options_init(bouma_options *opts, size_t size);

/* Set a field by its name and text, as "assign" and "optimal", "file_size" and
 * "64MiB", "durability" and "group=4". BOUMA_EINVAL if there is no such field
 * or value; 'message' (of 'bytes' bytes, may be NULL) then says which are, the
 * options stay as they were, and nothing remembers it: look at the status.
 *
 * The environment variable BOUMA_OPTIONS ("files=4;order=chunk;") sets fields
 * that the program leaves at zero, but not 'clobber'; BOUMA_TIER ("hbm") does
 * so for 'tier', and BOUMA_TRACE ("trace.json") for 'trace'. A program that
 * sets 'files' or 'file_size' has chosen both. */
BOUMA_API int bouma_options_set(bouma_options *opts, const char *name,
                                const char *value, char *message, size_t bytes);

/* Take over from the environment what 'opts' leaves at zero, as every call does
 * that is given options: for programs that want to know beforehand.
 * BOUMA_EINVAL if the environment is wrong; 'message' then tells, and 'opts' is
 * as before. */
BOUMA_API int bouma_options_environment(bouma_options *opts, char *message,
                                        size_t bytes);

/* What an option is for. */
enum {
    BOUMA_OPTION_SAME = 1,  /* all ranks must give the same */
    BOUMA_OPTION_STEPS = 2, /* of programs that write steps */
    BOUMA_OPTION_PLAN = 4   /* bouma_plan_make() looks at it */
};

/* An option, for programs that offer options to their users. New members go at
 * the end. */
typedef struct bouma_option_info {
    const char *name;     /* as bouma_options_set() takes it: "file_size" */
    const char *flag;     /* as a command line writes it: "file-size" */
    const char *argument; /* what stands for its value: "BYTES"; NULL: it is
                             yes or no */
    const char *choices;  /* "level|chunk": the words that it takes; or NULL */
    const char *help;     /* a line, without a full stop */
    unsigned use;         /* BOUMA_OPTION_*, as a sum */
} bouma_option_info;

/* The i-th option that bouma_options_set() knows, valid for ever, and its name;
 * NULL beyond the last. */
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

/* Make a new dataset: a directory, by custom named NAME.bouma. An empty
 * directory, or what a killed creation left, is taken over; anything else of
 * that name is BOUMA_EEXISTS.
 *
 * With the option 'clobber', a dataset of that name makes way: all its steps
 * are removed, also those in local copies with 'persist'. Nothing else is: it
 * is still BOUMA_EEXISTS if there is something that is no dataset, or if other
 * files are between those of its steps; and BOUMA_EBUSY while another program
 * writes it. All of that is found out before anything is removed. Other files
 * elsewhere in its directory stay. If the removal is interrupted, the old
 * dataset is there, or none, and the same call does the rest. A directory that
 * cannot be removed, since files in it are still open (NFS), is left behind and
 * told by bouma_dataset_note().
 *
 * 'opts' may be NULL. The caller owns *out and ends it with
 * bouma_dataset_free(), after a failure too: it holds the message. Collective.
 */
BOUMA_API int bouma_dataset_create(bouma_dataset **out, const char *path,
                                   const bouma_options *opts);

/* Open a dataset to write more steps. Leftovers of a killed writer do no harm
 * and are told by bouma_dataset_note(). BOUMA_EBUSY if the last writer is known
 * to be still running. That of another machine cannot be known: this one then
 * takes over, and the other one's next step fails with BOUMA_EBUSY. Grids and
 * variables are defined anew, maybe differently. Collective. */
BOUMA_API int bouma_dataset_append(bouma_dataset **out, const char *path,
                                   const bouma_options *opts);

/* Open a dataset for reading; it may be written meanwhile. With the option
 * 'local', files that the local copy in that directory has are read from there,
 * and steps that only it has are listed, too: see bouma_dataset_drain().
 * Collective. */
BOUMA_API int bouma_dataset_open(bouma_dataset **out, const char *path,
                                 const bouma_options *opts);

/* Finish writing: flush what a group holds back, drain, and release the claim
 * on the dataset. The handle stays, for its message. A step that was begun and
 * not ended is dropped, and that is BOUMA_ESTATE. Collective. */
BOUMA_API int bouma_dataset_close(bouma_dataset *ds);

/* Free the handle and all grids, variables and attributes it has; steps and
 * refinements opened from it must be freed before. Of a dataset that was not
 * closed, an unfinished step and the steps that a group holds back are left
 * behind unpublished. Collective only if it was opened with MPI. */
BOUMA_API void bouma_dataset_free(bouma_dataset *ds);

/* What the last failed call on 'ds' (or on anything that belongs to it) has to
 * say. Valid until the next call. NULL gives the text for no memory. A field of
 * bouma_options is named as in "the option 'replace'", so that a program can
 * put its own word there. */
BOUMA_API const char *bouma_error_message(const bouma_dataset *ds);

/* Remarks of bouma_dataset_append(), such as "step 42 is incomplete (5
 * subfiles, no manifest), ignored"; of bouma_step_end(), on a tolerance that
 * leaves little of a variable's values, and on the first step that nothing was
 * put in though there are variables; and of bouma_dataset_create() and
 * bouma_dataset_truncate(), on directories of removed steps that had to stay:
 * the i-th, or NULL past the last. */
BOUMA_API const char *bouma_dataset_note(const bouma_dataset *ds, int i);

/* ---- writing ------------------------------------------------------------ */

/* A grid. Zero means "choose for me" but in ndims and shape. */
typedef struct bouma_grid_spec {
    size_t size; /* sizeof(bouma_grid_spec) */
    int ndims;   /* 1 to 3 */
    int64_t shape[BOUMA_MAX_DIMS];
    int64_t patch[BOUMA_MAX_DIMS];  /* powers of two; 0: 64 in 3-D, 256 in 2-D,
                                       65536 in 1-D; larger ones than the grid
                                       are cut down */
    int levels;                     /* 0: down to about 64 samples a patch */
    double origin[BOUMA_MAX_DIMS];  /* position of sample 0 */
    double spacing[BOUMA_MAX_DIMS]; /* 0: 1 */
    const char *unit;               /* of positions, such as "m"; may be NULL */
    bouma_layout layout;            /* 0: BOUMA_LAYOUT_PATCH */
    /* Of BOUMA_LAYOUT_HZ, which has no patches; a level is as coarse as one
     * likes, and costs nothing. */
    const char *hz_template; /* such as "zyxzyx": the axis that each split
                                 halves, the coarsest first; x is the last axis.
                                 It covers the shape. NULL: the longest one is
                                 split first, of equal ones z, then y */
    int hz_block_bits;       /* log2 of the samples in a block; 0: 15, or all */
    int hz_blocks_per_file;  /* 0: 512 */
    bouma_hz_order hz_order; /* 0: BOUMA_HZ_ROWS */
} bouma_grid_spec;

/* What a tolerance is: a number in the variable's unit, or a part of its range
 * (largest less smallest finite value of the step, of all components), which is
 * below 1. */
typedef enum bouma_tolerance {
    BOUMA_ABSOLUTE = 0,
    BOUMA_RELATIVE = 1
} bouma_tolerance;

typedef struct bouma_variable_spec {
    size_t size; /* sizeof(bouma_variable_spec) */
    bouma_type type;
    int components; /* values a sample, such as 3 for a velocity; 0: 1 */
    bouma_codec codec;
    int codec_level;  /* zstd's level; 0: 1 */
    const char *unit; /* of values, such as "K"; may be NULL */
    /* Largest error of any sample of f32 or f64; 0 keeps every bit. With one
     * and no codec, the codec is BOUMA_CODEC_INTERP, where it holds at any
     * level. The coarser levels of BOUMA_CODEC_WAVELET are smoothed, so there
     * it is that of level 0. */
    double tolerance;
    bouma_tolerance tolerance_kind;
    /* 1 (BOUMA_CODEC_WAVELET only): the tolerance is that of coefficients. It
     * takes half the time, but the errors of samples are not known, and some
     * are larger. */
    int nominal;
} bouma_variable_spec;

/* Define a grid, and a variable of a grid, before the step that first uses it.
 * All ranks define the same ones in the same order; that is checked when a step
 * ends. Names are UTF-8 without '/' and control characters, at most 255 bytes.
 * *out belongs to the dataset. In a dataset opened for append, nothing is
 * defined at first.
 *
 * A definition that fails, or an attribute that cannot be set, also fails every
 * bouma_step_end() from then on, on all ranks, with its own message: until the
 * same name is defined (or set) successfully, or the program says that it will
 * do without, by bouma_dataset_clear_failures(). So does a grid that has no
 * variable. So statuses may be left to the end of the step, but for calls with
 * NULL for a handle, which no dataset knows of. */
BOUMA_API int bouma_grid_define(bouma_grid **out, bouma_dataset *ds,
                                const char *name, const bouma_grid_spec *spec);
BOUMA_API int bouma_variable_define(bouma_variable **out, bouma_grid *grid,
                                    const char *name,
                                    const bouma_variable_spec *spec);

/* Begin step number 'step' (of any order, 0 or more) at 'time', which is a
 * finite number. */
BOUMA_API int bouma_step_begin(bouma_dataset *ds, int64_t step, double time);

/* Hand over one block of a variable: the samples of 'box' (NULL: the whole
 * grid), from 'data' on, as 'memory' tells (NULL: dense). A rank may hand over
 * any number of blocks, or none (an empty box is none); those of all ranks
 * together must cover the grid exactly once. A variable that no rank hands over
 * is absent from the step. A put that fails also fails the step, on all ranks,
 * so its status may be left to the end.
 *
 * THE ARRAY IS BORROWED UNTIL bouma_step_end() RETURNS. It is read then, not
 * now: do not change or free it before. It is never changed by the library, and
 * may be unaligned. Beware of temporaries: where a Fortran compiler packs an
 * array section for the call, or Python an expression, the array is gone when
 * the put returns. There use bouma_variable_put_copy(), which copies the
 * samples at once; the copy is freed when the step ends. The option 'check'
 * finds arrays that were changed too early. */
BOUMA_API int bouma_variable_put(bouma_variable *variable, const bouma_box *box,
                                 const void *data, const bouma_memory *memory);
BOUMA_API int bouma_variable_put_copy(bouma_variable *variable,
                                      const bouma_box *box, const void *data,
                                      const bouma_memory *memory);

/* Forget, on this rank, all definitions, attributes and puts that have failed:
 * the next step does not fail because of them, and is written without them.
 * Grids that have no variable now may stay so. */
BOUMA_API int bouma_dataset_clear_failures(bouma_dataset *ds);

/* ---- writing particles -------------------------------------------------- */

/* A set of particles: positions, and any number of variables, which are their
 * attributes. Zero means "choose for me" but in ndims. */
typedef struct bouma_particles_spec {
    size_t size;      /* sizeof(bouma_particles_spec) */
    int ndims;        /* axes of positions, 1 to 3 */
    bouma_type type;  /* of positions: BOUMA_F32 (also 0) or BOUMA_F64 */
    const char *unit; /* of positions, such as "m"; may be NULL */
    /* How positions are stored, as in bouma_variable_spec. The tolerance is
     * absolute, and holds for each coordinate. */
    bouma_codec codec;
    int codec_level;
    double tolerance;
    int leaf; /* at most so many particles in a leaf of the tree; 0: 256 */
} bouma_particles_spec;

/* Define a set of particles and its variables, as grids are defined. Of codecs,
 * BOUMA_CODEC_ZSTD (the default), _RAW and, with an absolute tolerance,
 * _QUANTISE (then the default) are for particles. "position" is the variable
 * that each set has from the start, with a component for each axis. */
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
    const void *data;         /* of the first particle; NULL if there are */
    const void *const *parts; /* arrays of components, [components] */
    int64_t stride;           /* from one particle to the next; 0: dense */
    int64_t component_stride; /* in 'data'; 0: components side by side */
} bouma_column;

/* Hand over 'count' particles (0 is fine), of which there is a column for the
 * position and for each variable that the step is to have. All ranks that have
 * particles hand over the same variables. 'bounds' may be NULL; else it has the
 * lowest and the highest coordinate for each axis, and saves a pass over
 * positions: it says which file they go to, and nothing is lost if it is wrong.
 * A rank may call this several times, for several blocks. Order is not kept:
 * give particles an id if it matters.
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

/* Seconds of the phases of a step, the slowest rank's. What is stored is stored
 * by a thread, so 'store' may overlap with 'ship' and, in steps that are
 * predicted and with raw, with 'shape': the sum may be more than the step took.
 */
typedef struct bouma_phases {
    double describe, plan, distribute, shape, ship, store, commit;
} bouma_phases;

/* What a step cost, as kept in its manifest (there without the seconds of the
 * commit, which is not over when the manifest is written). */
typedef struct bouma_record {
    uint64_t raw_bytes;     /* samples as they were in memory */
    uint64_t stored_bytes;  /* all files but the manifest */
    uint64_t moved_bytes;   /* between ranks, to put patches together */
    uint64_t shipped_bytes; /* between ranks, to the writers of the files */
    uint64_t moved_messages, shipped_messages; /* in which these went */
    uint64_t largest_file;
    uint64_t mean_file;
    int64_t files;
    int64_t chunks;
    int64_t ranks;
    int64_t most_patches; /* that one rank put together; once for all variables
                             that the ranks hold in the same blocks */
    bouma_phases seconds;
    double slowest_encode; /* seconds of the rank that encoded longest */
    double mean_encode;    /* of all ranks */
    int64_t predicted;     /* 1: the sizes of the last step chose the files of
                              grids: see the option 'predict' */
    int64_t misfits;       /* chunks that were larger than predicted */
} bouma_record;

/* Write the step and commit it. After BOUMA_OK it is complete and, by default,
 * durable. After a failure it is either absent or complete, and the dataset can
 * be used further, also to write the step once more. 'record' may be NULL.
 * Collective. */
BOUMA_API int bouma_step_end(bouma_dataset *ds, bouma_record *record);

/* With the option 'async', bouma_step_end() returns once all that was handed
 * over has been copied: the caller's arrays are free again when it returns,
 * whatever it returns, and so is everything else, to be defined or changed for
 * the next step. What was gathered is stored by a thread that makes no calls of
 * MPI. The step is committed, and its failure told, by the next collective call
 * on the dataset: bouma_dataset_wait(), _flush(), _drain(), _refresh(),
 * _truncate(), _close(), bouma_step_open(), bouma_step_read(),
 * bouma_particles_restart(), and bouma_step_end() or _abort(): if the step
 * before has failed, that is what these two tell, and the step that they were
 * to end is dropped; it can be begun again.
 * A program that ends without any of these leaves the step uncommitted.
 *
 * How soon it returns depends on the option 'buffers': what does not fit into
 * the buffers has to be stored before. With 'async' there are 16 of them unless
 * told otherwise. */

/* Wait for a step that is still being stored, and commit it; its record, with
 * all times, if 'record' is not NULL. BOUMA_OK if there is none. Collective. */
BOUMA_API int bouma_dataset_wait(bouma_dataset *ds, bouma_record *record);

/* Give the step up. A rank may call this where others call bouma_step_end();
 * all of them then get BOUMA_EABORTED. Collective. */
BOUMA_API int bouma_step_abort(bouma_dataset *ds);

/* Make the steps that BOUMA_GROUP holds back visible and durable; and drain, as
 * bouma_dataset_drain(). Collective. */
BOUMA_API int bouma_dataset_flush(bouma_dataset *ds);

/* With the option 'persist' a step is written to a local copy of the dataset on
 * the storage of the node, LOCAL/<last part of the path>, and ended when it is
 * committed there. On one node the local copy is a dataset as any other, to be
 * read at once; of several nodes, each has the files that its own ranks have
 * written. Steps are copied to the path of the dataset by a thread on each rank
 * while the program goes on, every byte checked, and appear there in their
 * order, whole or not at all, and durable.
 *
 * Wait until all steps are there. After a failure the steps that are not are
 * whole in the local copies: the next call (or step, or flush, or close) tries
 * again, and so does `bouma drain` when the program is over. Without 'persist'
 * there is nothing to do. Collective. */
BOUMA_API int bouma_dataset_drain(bouma_dataset *ds);

/* Drop all steps after 'step' (-1: all steps), durably: for a run that goes on
 * from there, and writes them anew. A step is dropped whole or not at all, the
 * last one first, also where the call is interrupted. With 'persist' they are
 * dropped from the local copies as well; local copies that this call does not
 * know keep their copies, but it is on record that these were dropped, and no
 * drain brings them back. Waits for a step that is being stored,
 * finishes a group and drains before. Collective. */
BOUMA_API int bouma_dataset_truncate(bouma_dataset *ds, int64_t step);

/* ---- attributes --------------------------------------------------------- */

/* Named values on a dataset, a step, a grid or a variable. Those of a dataset,
 * grids and variables are kept with each step that is written; reading a
 * dataset's gives those of its newest step (NULL, with a message, if the list
 * of steps cannot be read). In a parallel program, all ranks set the same ones.
 */
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

typedef struct bouma_attribute {
    const char *name;
    bouma_type type;
    size_t count;
    const void *values; /* aligned; of a string: NUL-terminated */
} bouma_attribute;

/* All of them by number, 0 up to the count; one by its name. What is filled in
 * belongs to the attributes, until they change. BOUMA_ENOTFOUND otherwise. */
BOUMA_API int bouma_attributes_count(const bouma_attributes *attributes);
BOUMA_API int bouma_attributes_get(const bouma_attributes *attributes, int i,
                                   bouma_attribute *out);
BOUMA_API int bouma_attributes_find(const bouma_attributes *attributes,
                                    const char *name, bouma_attribute *out);

/* ---- reading ------------------------------------------------------------ */

/* The committed steps, by ascending number: those that there are when a dataset
 * is opened, or refreshed; to a reader of one process those that there are when
 * it first asks, by one of these or for the dataset's attributes, since opening
 * one step of very many needs no list of all. Each call works on its own. The
 * count is -1 if the list cannot be read; bouma_error_message() says why. */
typedef struct bouma_step_info {
    int64_t step;
    double time;
} bouma_step_info;
BOUMA_API int64_t bouma_dataset_step_count(const bouma_dataset *ds);
BOUMA_API int bouma_dataset_step_get(const bouma_dataset *ds, int64_t i,
                                     bouma_step_info *out);

/* Look again for steps that were committed since. Collective. */
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
 * BOUMA_ENOTFOUND if there is no such step; BOUMA_EFORMAT if there was one, and
 * it is lost (see bouma_losses()). If the step is written again by
 * another program meanwhile, reads of it may fail with BOUMA_ESTATE: then free
 * it and open it again. (Steps that are open on the writer's own handle are
 * kept till they are freed.) Collective. */
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

/* The grids of a step, and the variables of a grid, by number or by name;
 * NULL if there is none, and then the message says which there are. They belong
 * to the step (or, of grids being written, to the dataset). */
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
    int64_t patches; /* or blocks of BOUMA_LAYOUT_HZ, which have no 'patch' */
    bouma_layout layout;
    char hz_template[64]; /* of BOUMA_LAYOUT_HZ, else empty */
    int hz_block_bits, hz_blocks_per_file;
    bouma_hz_order hz_order;
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
    double tolerance; /* as it was asked for */
    bouma_tolerance tolerance_kind;
    double bound;         /* as an absolute number */
    double largest_error; /* that was made, of all samples; infinite if it is
                             not known, as with 'nominal' */
    double psnr;          /* in dB: the range over the mean error; infinite if
                             there is none, NaN if it is not known, as with
                             'nominal' or infinite values */
    int nominal;          /* 1: the tolerance is that of coefficients */
    double span;          /* of a variable that was written with a relative
                             tolerance, in its last step: what all values span
                             but for some one in a thousand; else 0. If it is
                             less than 'bound', outliers make the range, and
                             little may be left of the other values */
} bouma_variable_info;
BOUMA_API void bouma_variable_info_get(const bouma_variable *variable,
                                       bouma_variable_info *out);

/* Stored bytes of one level, which reading it needs beside those of the coarser
 * ones; 0 if there is no such level. */
BOUMA_API uint64_t bouma_variable_level_bytes(const bouma_variable *variable,
                                              int level);

/* The range of one component's values, NaN left out and counted apart. 'empty'
 * says that there is nothing but NaN. Integers are exact in the union's member
 * for their kind; 'low' and 'high' are the same as doubles. */
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

/* What a read of 'box' at 'level' gives: its shape, and where its first sample
 * lies. 'box' may be NULL: all of the grid. */
typedef struct bouma_selection {
    int ndims;
    int64_t shape[BOUMA_MAX_DIMS];
    int64_t first[BOUMA_MAX_DIMS]; /* index at full resolution */
    double origin[BOUMA_MAX_DIMS], spacing[BOUMA_MAX_DIMS];
    uint64_t bytes; /* of a dense array for it */
} bouma_selection;
BOUMA_API int bouma_variable_select(const bouma_variable *variable, int level,
                                    const bouma_box *box, bouma_selection *out);

/* Read the samples of 'box' (NULL: all) at 'level' into 'data', as 'memory'
 * tells (NULL: dense, shaped as bouma_variable_select() says). Only this rank:
 * any rank may read what it likes. */
BOUMA_API int bouma_variable_read(bouma_variable *variable, int level,
                                  const bouma_box *box, void *data,
                                  const bouma_memory *memory);

/* The same for any number of boxes on every rank (0 is fine) of one step, each
 * chunk read by one rank only and passed on to those that want it.
 * Collective. */
typedef struct bouma_request {
    bouma_variable *variable;
    int level;
    bouma_box box;
    void *data;
    const bouma_memory *memory;
} bouma_request;
BOUMA_API int bouma_step_read(bouma_step *step, const bouma_request *requests,
                              size_t count);

/* Patch by patch, each at a level of its own: fine where something happens and
 * coarse elsewhere, or nothing at all.
 *
 * Patches that do not meet 'box' (NULL: all) are left out and, if 'within' is
 * 1, those that have no value from 'low' to 'high' in 'component', without a
 * look at files that have none. 'choose' then gives the level for a patch, or
 * -1 to leave it out; where it is NULL, that is 'level'. 'each' is handed the
 * samples of the patch (of its part in 'box') at that level: dense, the
 * components of a sample side by side, shaped and placed as 'selection' says;
 * not called for parts without samples at the level. It returns 0 to go on,
 * anything else ends the call with BOUMA_EABORTED. Both are called by the
 * thread that asks, 'each' in an order that depends on the files and levels
 * only; neither may read the step meanwhile (BOUMA_ESTATE), nor free it. */
typedef struct bouma_patch_info {
    bouma_box box; /* all of the patch, in samples of level 0 */
    int levels, components;
    const bouma_range *ranges;   /* [components], as they were given: what is
                                    read may be beyond them by the bound */
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

/* Coarse to fine: hold 'box' (NULL: all) at 'level', then go to finer levels,
 * each time reading only the bytes that are new. The array belongs to the
 * refinement and is replaced by bouma_refinement_next(); BOUMA_ENOTFOUND when
 * level 0 is held already. After a failure the old array still stands. */
BOUMA_API int bouma_refinement_open(bouma_refinement **out,
                                    bouma_variable *variable, int level,
                                    const bouma_box *box);
BOUMA_API int bouma_refinement_next(bouma_refinement *refinement);
BOUMA_API const void *bouma_refinement_data(const bouma_refinement *refinement,
                                            bouma_selection *selection,
                                            int *level);
BOUMA_API void bouma_refinement_free(bouma_refinement *refinement);

/* ---- reading particles -------------------------------------------------- */

/* The sets of a step, and their variables (the position, which is number 0, and
 * the attributes), as those of grids. bouma_variable_info_get() and _range()
 * serve these variables, too; their levels are levels of detail. */
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
    int variables; /* the position is one of them */
    int levels;    /* of detail */
    uint64_t count;
    uint64_t strays; /* of these: not at a finite position */
    double low[BOUMA_MAX_DIMS], high[BOUMA_MAX_DIMS]; /* of finite positions */
    int64_t files;
    int64_t tree_nodes; /* of the tree over the files; 0: there is none */
} bouma_particles_info;
BOUMA_API void bouma_particles_info_get(const bouma_particles *particles,
                                        bouma_particles_info *out);

/* What the i-th file of a set holds. */
typedef struct bouma_particles_file {
    int64_t file; /* among those of the step */
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
    int axis;      /* -1: no axis, divided by the order of ranks; or a leaf */
    double split;
    uint64_t count; /* of particles below it */
    double low[BOUMA_MAX_DIMS], high[BOUMA_MAX_DIMS];
} bouma_particles_node;
BOUMA_API int bouma_particles_node_get(const bouma_particles *particles,
                                       int64_t i, bouma_particles_node *out);

/* Values from low to high, both included, in the union's member for the
 * variable's kind of type (f for f32, too). NaN is in no range. */
typedef struct bouma_condition {
    bouma_variable *variable;
    int component;
    bouma_scalar low, high;
} bouma_condition;

/* The same from doubles, which may be infinite: integers are rounded inwards.
 */
BOUMA_API int bouma_condition_set(bouma_condition *out,
                                  bouma_variable *variable, int component,
                                  double low, double high);

/* Particles that were found, a part of all: values of each wanted variable,
 * component after component, each of 'count' values; aligned. Valid during the
 * call. */
typedef struct bouma_batch {
    uint64_t count;
    const void *const *columns; /* [variables] */
} bouma_batch;

/* What to look for. bouma_particles_query_init() sets 'size', no box, no
 * conditions, quality 1, all variables. */
typedef struct bouma_particles_query {
    size_t size;
    /* The share of the particles: those above 'from' up to 'quality', 0 to 1.
     * Queries from 0 to 0.1, 0.1 to 0.4 and 0.4 to 1 give each particle once,
     * and read each byte once. */
    double from, quality;
    /* Where 'boxed' is 1: low <= position < high on each axis; on axes whose
     * bit (1 << axis) is set in 'closed', high is included. */
    int boxed;
    double low[BOUMA_MAX_DIMS], high[BOUMA_MAX_DIMS];
    unsigned closed;
    /* All of these must hold. */
    const bouma_condition *conditions;
    size_t condition_count;
    /* What is handed over; NULL: the position and all others that the step has,
     * in their order. */
    bouma_variable *const *variables;
    size_t variable_count;
    int shares; /* 1: an equal share for each rank; bouma_particles_restart()
                   only, and without a box */
} bouma_particles_query;
BOUMA_API void bouma_particles_query_init(bouma_particles_query *query,
                                          size_t size);

/* Hand all particles that match to 'each', batch by batch, in no particular
 * order (but always the same): no other ones, none twice. It returns 0 to go
 * on, anything else ends the call with BOUMA_EABORTED. It may not read the step
 * meanwhile (BOUMA_ESTATE), nor free it. Only this rank. */
BOUMA_API int bouma_particles_query_run(
    bouma_particles *particles, const bouma_particles_query *query,
    int (*each)(void *user, const bouma_batch *batch), void *user);

/* Particles in memory: the caller owns and frees them. Columns are as in a
 * batch, of all particles. */
typedef struct bouma_particle_data {
    uint64_t count;
    size_t variable_count;
    bouma_variable **variables; /* [variable_count] */
    void **columns;             /* [variable_count] */
    const bouma_allocator *allocator;
} bouma_particle_data;
BOUMA_API void bouma_particle_data_free(bouma_particle_data *data);

/* The same as bouma_particles_query_run(), into arrays. 'query' may be NULL:
 * everything. On failure *out is NULL. */
BOUMA_API int bouma_particles_read(bouma_particle_data **out,
                                   bouma_particles *particles,
                                   const bouma_particles_query *query);

/* 'count' of the particles that match (all, if there are no more), none twice.
 * 'query' may be NULL; its quality is not used. The same 'seed' gives the same
 * sample, on any machine and number of ranks.
 *
 * With a seed from 1 on it is a simple random sample: each set of so many
 * particles is as likely as any other, and samples of different seeds are
 * independent. So the mean of n values, with the standard deviation s, out of N
 * particles has the standard error s / sqrt(n) * sqrt(1 - n / N), and a number
 * of particles of some kind in the sample is hypergeometric. The particles are
 * in the order in which they were drawn: the first k are the sample of k. Each
 * level of a chunk that has one of them is read: where that is more than one
 * particle in some hundred, nearly everything that is asked for.
 *
 * Seed 0 gives the even sample: from the coarse levels of detail, so it reads
 * little more than what it gives, and its particles are spread more evenly than
 * chance would spread them. There is one; sums over space have a smaller error
 * than the formula says. */
BOUMA_API int bouma_particles_sample(bouma_particle_data **out,
                                     bouma_particles *particles,
                                     const bouma_particles_query *query,
                                     uint64_t count, uint64_t seed);

/* Each rank gets the particles of its own box, as after a restart: any number
 * of ranks, each file read by one of them. With 'query' NULL on all ranks, or
 * 'shares' set in it, each gets an equal share, particles that are close
 * together with the same rank (and of these, those that match); else every rank
 * gives a box (boxes may differ, overlap or leave something out; the rest must
 * be the same). Boxes that share a face share no particle; with 'closed' left
 * 0, a box that reaches the far face of all particles' bounds includes it,
 * unless the box of some rank goes on behind it there. A query with neither a
 * box nor shares asks for all particles, on each rank. Those that are not at a
 * finite position are in no box. Collective. */
BOUMA_API int bouma_particles_restart(bouma_particle_data **out,
                                      bouma_particles *particles,
                                      const bouma_particles_query *query);

/* ---- plain files of any program ----------------------------------------- */

/* What a sequence of MPI_File_write_at_all() or MPI_File_read_at_all() does, by
 * one call: all ranks declare which bytes of a file they have, for any number
 * of variables at once; then these are gathered across the variables, and
 * written by a few ranks in large pieces. The bytes in the file are just those
 * of the sequence.
 *
 *     bouma_io_open_mpi(&f, comm, "out.dat", BOUMA_IO_CREATE, NULL);
 *     bouma_io_declare(f, n, count, size, offset);
 *     bouma_io_write(f, data);          as often as wanted
 *     bouma_io_close(f);
 *     bouma_io_free(f);
 *
 * Of the options, these count: io, allocator, files, writers, place, machine,
 * tier, local, buffers, buffer_bytes, message_bytes, transport, timeout,
 * durability (all but durable: nothing is synced) and progress. */
typedef struct bouma_io_file bouma_io_file;

typedef enum bouma_io_mode {
    BOUMA_IO_READ = 1,   /* a file that is there */
    BOUMA_IO_CREATE = 2, /* a new file; one that is there is emptied, and keeps
                            its owner and links */
    BOUMA_IO_UPDATE = 3  /* made if it is missing; what is there stays, but for
                            what is written */
} bouma_io_mode;

/* The caller owns *out and ends it with bouma_io_free(), after a failure too:
 * it holds the message. With the option 'files' above 1, ranks are divided into
 * so many groups (at most one for each rank) of as many consecutive ranks, each
 * with a file of its own: PATH.0000, PATH.0001, ... Collective. */
BOUMA_API int bouma_io_open(bouma_io_file **out, const char *path,
                            bouma_io_mode mode, const bouma_options *opts);
/* Syncs, if the option 'durability' is durable (the default), and closes.
 * Collective. */
BOUMA_API int bouma_io_close(bouma_io_file *file);
/* Collective only if it was opened with MPI. */
BOUMA_API void bouma_io_free(bouma_io_file *file);
BOUMA_API const char *bouma_io_message(const bouma_io_file *file);

/* Which file this rank's is, which of the ranks of that file it is, and how
 * many these are. Any of the pointers may be NULL. */
BOUMA_API int bouma_io_group(const bouma_io_file *file, int *group, int *rank,
                             int *ranks);

/* This rank has, of variable i, count[i] elements of size[i] bytes from byte
 * offset[i] of its group's file on. Ranks may have different numbers of
 * variables; nothing but bytes counts. It holds until the next call.
 * Ranges of several ranks that are written must not overlap (if they do, one of
 * them is written; of one rank's own, the last one in the list); ranges that
 * are read may. Collective. */
BOUMA_API int bouma_io_declare(bouma_io_file *file, size_t variables,
                               const uint64_t *count, const uint64_t *size,
                               const uint64_t *offset);

/* Write what is at data[i] for variable i; or read it to there. Bytes beyond
 * the end of a file are not read: BOUMA_EFORMAT. Collective. */
BOUMA_API int bouma_io_write(bouma_io_file *file, const void *const *data);
BOUMA_API int bouma_io_read(bouma_io_file *file, void *const *data);

/* What the last write or read did, summed up over all ranks. */
typedef struct bouma_io_report {
    uint64_t bytes;        /* that were declared */
    uint64_t moved_bytes;  /* between ranks */
    int64_t writers;       /* ranks that wrote or read files */
    int64_t rounds;        /* most of any of them */
    uint64_t buffer_bytes; /* of each buffer */
    double seconds;        /* of the slowest rank */
    double store_seconds;  /* of the slowest rank's thread */
} bouma_io_report;
BOUMA_API int bouma_io_report_get(const bouma_io_file *file,
                                  bouma_io_report *out);

/* ---- checking and mending ----------------------------------------------- */

typedef enum bouma_verify_depth {
    BOUMA_VERIFY_QUICK = 1, /* manifests, and the sizes of the files */
    BOUMA_VERIFY_META = 2,  /* and the tables of chunks */
    BOUMA_VERIFY_FULL = 3,  /* and every checksum */
    BOUMA_VERIFY_DEEP = 4   /* and every chunk decoded, its range compared */
} bouma_verify_depth;

typedef enum bouma_severity {
    BOUMA_NOTE = 1,     /* harmless, such as leftovers of a killed writer */
    BOUMA_DAMAGE = 2,   /* something committed cannot be read, or not fully */
    BOUMA_UNCHECKED = 3 /* it could not be looked at: the device failed, or a
                           newer version of bouma wrote it */
} bouma_severity;

typedef struct bouma_finding {
    bouma_severity severity;
    int64_t step;     /* -1: not about one step */
    const char *name; /* file, relative to the dataset */
    const char *text;
} bouma_finding;

typedef struct bouma_verify_report {
    uint64_t steps, files, chunks, bytes; /* looked at */
    uint64_t notes, damages;              /* findings */
    uint64_t unchecked;                   /* findings, too */
} bouma_verify_report;

/* Check the dataset at 'path'. 'each' (may be NULL) is told each finding, on
 * every rank. BOUMA_OK means that the check could be made, whatever it found;
 * on failure 'message' (of 'bytes' bytes) says why it could not. */
BOUMA_API int bouma_verify(const char *path, bouma_verify_depth depth,
                           const bouma_options *opts,
                           void (*each)(void *user, const bouma_finding *f),
                           void *user, bouma_verify_report *report,
                           char *message, size_t bytes);

/* What repair did or, without 'apply', would do. It reads all data; what does
 * not match its checksums goes on record as lost. What is in the way is moved
 * to lost/. Removed are only the files of an earlier writing of a step that was
 * written again and is whole, as its writer would have done; the record of a
 * loss that is over; the old index, when it is written anew; and the empty
 * directory of a step that is lost. 'each' is told each action. Steps stand
 * alone: one that cannot be looked at, or that a newer version of bouma wrote,
 * is left as it is, and the others are mended. */
typedef struct bouma_repair_report {
    uint64_t actions;   /* done, or to be done */
    uint64_t hopeless;  /* damages that stay, if they are not forgotten: as
                           bouma_verify() counts them */
    uint64_t unchecked; /* findings about what could not be looked at */
} bouma_repair_report;
BOUMA_API int bouma_repair(const char *path, int apply,
                           const bouma_options *opts,
                           void (*each)(void *user, const bouma_finding *f),
                           void *user, bouma_repair_report *report,
                           char *message, size_t bytes);

/* What was committed and is gone, or damaged. It stays on record, also when the
 * index is written anew, and verify counts it as a damage, until it is
 * forgotten or the step is written again. */
typedef struct bouma_loss {
    int64_t step;
    double time;      /* of the step, if 'is_known' */
    int64_t recorded; /* when it was put on record: seconds since 1970; 0: it is
                         not yet, below 0: not known */
    int64_t files;    /* 0: the whole step is lost; else of so many of its files
                         a part, and the rest can be read */
    int accepted;     /* of files: forgotten, so that verify has but notes */
    int is_known;     /* the time is */
    int attributes;   /* one of 'files' is the manifest: it was made anew, and
                         attributes of the step and of the dataset are lost */
} bouma_loss;

/* Tell each loss that is known of the dataset at 'path', by ascending step. A
 * file that is damaged and that repair has not seen yet is found by verify. If
 * the index cannot be read, those on record are told, and the status is that of
 * the index: it may know more. */
BOUMA_API int bouma_losses(const char *path, const bouma_options *opts,
                           void (*each)(void *user, const bouma_loss *loss),
                           void *user, char *message, size_t bytes);

/* Forget the loss of a step, or all losses if 'step' is -1; as bouma_repair(),
 * without 'apply' only tell. BOUMA_ENOTFOUND if no loss of the step is known:
 * bouma_repair() puts those of files and chunks on record. A step whose
 * manifest can be read is never taken away. */
BOUMA_API int bouma_repair_forget(
    const char *path, int64_t step, int apply, const bouma_options *opts,
    void (*each)(void *user, const bouma_finding *f), void *user,
    bouma_repair_report *report, char *message, size_t bytes);

/* ---- draining what was left behind -------------------------------------- */

/* Steps; and files and bytes that were copied. */
typedef struct bouma_drain_report {
    uint64_t steps;     /* that the local copy has */
    uint64_t present;   /* were in their place before */
    uint64_t published; /* have appeared there now */
    uint64_t waiting;   /* lack files that are on other nodes */
    uint64_t failed;    /* not copied, or not removed: damaged, or the like */
    uint64_t removed;   /* from the local copy */
    uint64_t files, bytes;
    uint64_t older; /* not copied, as a later writing of them is known */
    uint64_t
        replaced;     /* of 'published': took the place of an earlier writing */
    uint64_t losses;  /* of steps, that were put on record there: they are lost
                         here or there, and did not come */
    uint64_t dropped; /* not copied: dropped there by a truncation */
} bouma_drain_report;

/* Finish what a program with the option 'persist' could not: copy all steps
 * that the local copy 'local' has and the dataset 'path' does not, every byte
 * checked, and publish them. The dataset is made if it is missing; if it is
 * there, it must have the local copy's id (BOUMA_EEXISTS). What was
 * interrupted, or failed, goes on where it was when it is called again.
 * BOUMA_EBUSY while a program writes the dataset, which then drains by itself.
 *
 * If both have a step, and it was written again in one of them, the later
 * writing counts: that of the later writer (its epoch; see docs/format.md), or
 * of one writer the later attempt. From the local copy it takes the place of
 * the earlier one; if the dataset has it, nothing is copied, and the local copy
 * keeps its own ('older'). If neither is later, though they differ, the step is
 * left as it is in both (BOUMA_EEXISTS). A step that the local copy has lost,
 * and the dataset does not have, is put on record there as lost. One that was
 * dropped there by bouma_dataset_truncate() is not copied ('dropped'); if the
 * record of these is damaged, nothing is (BOUMA_EFORMAT).
 *
 * If there are several nodes, each has a local copy with the files of its own
 * ranks: drain each, in any order or at once; a step is published by whoever
 * brings its last file.
 *
 * With 'remove', steps of which the dataset has this very writing are removed
 * from the local copy, after all bytes of their files have been read there and
 * found right. What is damaged there stays in the local copy, also if that was
 * forgotten. Steps that were dropped there are removed as well.
 *
 * A step that is damaged, here or there, does not keep others from being copied
 * and removed: it is counted as 'failed', and 'message' (of 'bytes' bytes) is
 * about the first one. 'report' may be NULL; it is also filled in after a
 * failure. */
BOUMA_API int bouma_drain(const char *local, const char *path, int remove,
                          const bouma_options *opts, bouma_drain_report *report,
                          char *message, size_t bytes);

/* ---- planning ahead ----------------------------------------------------- */

/* What the write of one variable by any number of ranks would do: found by the
 * functions that plan real writes, but without those ranks and without data.
 * Each rank holds one block of a regular arrangement, as equal as can be; ranks
 * are counted with the last axis fastest. */
typedef struct bouma_plan bouma_plan;

typedef struct bouma_plan_spec {
    size_t size; /* sizeof(bouma_plan_spec) */
    int ranks;
    int ndims; /* 1 to 3 */
    int64_t shape[BOUMA_MAX_DIMS];
    int64_t blocks[BOUMA_MAX_DIMS]; /* ranks along each axis; all 0: so that
                                       blocks are most like cubes */
    int64_t patch[BOUMA_MAX_DIMS];  /* as in bouma_grid_spec */
    bouma_type type;                /* 0: BOUMA_F32 */
    int components;                 /* 0: 1 */
    double ratio; /* of raw bytes to those of all chunks; 0: 1 */
    double vary;  /* chunks differ by up to this factor, smoothly in space; 0:
                     1, they do not */
} bouma_plan_spec;

/* Files, and stored_bytes, count chunks and their entries in tables, but not
 * the names and what else a file has once. */
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
    uint64_t moved_bytes; /* between ranks, to put patches together */
    int64_t moved_messages;
    uint64_t shipped_bytes; /* between ranks, to the writers of the files */
    int64_t shipped_messages;
    int64_t rounds;  /* in which they are sent; see 'buffer_bytes' */
    int64_t writers; /* ranks that write */
    int64_t files;
    uint64_t smallest_file, largest_file, mean_file;
    uint64_t memory_bytes; /* that planning took at most, as it would on every
                              rank */
    double seconds;
    int machine;      /* 1: one was given, or the scheme needs one; then... */
    double byte_hops; /* ...shipped bytes, each times the links that it goes
                         over */
} bouma_plan_report;

/* Plan. Of 'opts' (may be NULL) the fields for files, schemes, buffers and the
 * machine count, and the allocator. On failure *out is NULL, and 'message' (of
 * 'bytes' bytes, may be NULL) says why. The caller owns *out. */
BOUMA_API int bouma_plan_make(bouma_plan **out, const bouma_plan_spec *spec,
                              const bouma_options *opts, char *message,
                              size_t bytes);
BOUMA_API void bouma_plan_free(bouma_plan *plan);

BOUMA_API int bouma_plan_report_get(const bouma_plan *plan,
                                    bouma_plan_report *out);

/* What becomes of one patch, by its place among the patches (ndims entries);
 * and what is in a file. BOUMA_ENOTFOUND if there is no such one. */
typedef struct bouma_plan_patch {
    int owner; /* the rank that puts it together and encodes it */
    int64_t file;
    uint64_t bytes;
} bouma_plan_patch;
typedef struct bouma_plan_file {
    int writer;
    int64_t patches;
    uint64_t bytes;
    bouma_tier tier; /* where the writer gathers it */
} bouma_plan_file;
BOUMA_API int bouma_plan_patch_get(const bouma_plan *plan, const int64_t *at,
                                   bouma_plan_patch *out);
BOUMA_API int bouma_plan_file_get(const bouma_plan *plan, int64_t file,
                                  bouma_plan_file *out);

/* Why `place` = cost has chosen the writer of a file: what it would cost, in
 * seconds, to gather it by one of the ranks that send to it, in one of the
 * tiers of its node. docs/placement.md has the formulas. The smallest sum of
 * the four is chosen, among tiers that fit. */
typedef struct bouma_plan_cost {
    int rank, node;
    bouma_tier tier;
    int fits;      /* the tier has room, and keeps what it must */
    int chosen;    /* this is the one */
    double gather; /* to bring the bytes there */
    double store;  /* to bring them from there to the target */
    double links;  /* that other files could use meanwhile */
    double wait;   /* for files that are gathered there already */
} bouma_plan_cost;
/* Call 'each' for all that could be chosen for a file, ascending by rank. A
 * file that is empty has none. ENOTFOUND if there is no such file, EINVAL if
 * the plan is not by cost, ENOMEM. */
BOUMA_API int bouma_plan_explain(const bouma_plan *plan, int64_t file,
                                 void (*each)(void *user,
                                              const bouma_plan_cost *cost),
                                 void *user);

/* ---- measuring a machine ------------------------------------------------ */

/* What to measure. Zeros: choose for me. */
typedef struct bouma_probe_spec {
    size_t size;       /* sizeof(bouma_probe_spec) */
    const char *local; /* a directory on storage of the node; NULL: leave out */
    const char *target;     /* one that datasets shall be in; NULL: leave out */
    uint64_t storage_bytes; /* written there, in each try; 0: 64 MiB */
    int tries;              /* of which the median counts; 0: 5 */
} bouma_probe_spec;

typedef struct bouma_speed {
    double latency;   /* seconds, of a smallest transfer */
    double bandwidth; /* bytes a second, of large ones; 0: not measured */
} bouma_speed;

typedef struct bouma_probe_report {
    int ranks, nodes;
    uint64_t dram_bytes,
        hbm_bytes;         /* a node has at least; 0: not known, none */
    bouma_speed dram, hbm; /* read from all over; copied into, by one process */
    bouma_speed network;   /* messages between nodes, or else inside of one */
    bouma_speed local, target; /* written and synced, by one process */
    char local_path[BOUMA_PATH_BYTES];
    double windows, messages;  /* bytes a second that one rank gathers from the
                                  others by each transport; 0: not measured */
    bouma_transport transport; /* the faster one; 0: not known */
} bouma_probe_report;

/* Measure memory, network and storages, for the option 'machine'. Takes
 * seconds. Of 'opts' (may be NULL) memory and progress are used. On failure
 * 'message' (of 'bytes' bytes) says why. */
BOUMA_API int bouma_probe(const bouma_probe_spec *spec,
                          const bouma_options *opts, bouma_probe_report *report,
                          char *message, size_t bytes);

/* The machine file of a report, which docs/machine.md describes. Like
 * snprintf(): up to 'bytes' bytes with the NUL go to 'text', and the length of
 * all of it comes back (0: no memory, or no report). */
BOUMA_API size_t bouma_probe_text(const bouma_probe_report *report, char *text,
                                  size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
