/* bouma_plan.h -- plan writes without ranks or data, and measure a machine.
 *
 * Example:
 *
 *     bouma_plan_spec spec = {.size = sizeof(spec), .ranks = 512, .ndims = 3,
 *                             .shape = {1024, 1024, 1024}};
 *     bouma_plan_report report = {.size = sizeof(report)};
 *     bouma_plan *plan = NULL;
 *     char why[200];
 *
 *     int rc = bouma_plan_make(&plan, &spec, NULL, why, sizeof(why));
 *     if (!rc)
 *         rc = bouma_plan_report_get(&report, plan);
 *     if (rc)
 *         fprintf(stderr, "%s\n", why);
 *     else
 *         printf("%d files by %d ranks\n", (int)report.files,
 *                (int)report.writers);
 *     bouma_plan_free(plan);
 */
#ifndef BOUMA_PLAN_H
#define BOUMA_PLAN_H

#include <stddef.h>
#include <stdint.h>

#include "bouma_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- planning ahead ----------------------------------------------------- */

/* The plan of a write of one variable, or of particles, by any number of ranks:
 * the one that a real write would have, but without the ranks and the
 * data. Each rank holds one block of a regular arrangement, as equal as
 * possible: block i of n begins at sample i * shape / n. */
typedef struct bouma_plan bouma_plan;

/* The write that is planned. Zero means "choose for me", except in ranks, ndims
 * and shape. */
typedef struct bouma_plan_spec {
    size_t size; /* sizeof(bouma_plan_spec) */
    int ranks;
    int ndims; /* 1 to 3 */
    int64_t shape[BOUMA_MAX_DIMS];
    int64_t blocks[BOUMA_MAX_DIMS]; /* ranks along each axis; all 0: blocks as
                                       cubic as possible */
    int64_t patch[BOUMA_MAX_DIMS];  /* as in bouma_grid_spec */
    bouma_type type;                /* 0: BOUMA_TYPE_F32 */
    int components;                 /* 0: 1 */
    double ratio; /* of raw bytes to those of all chunks; 0: 1 */
    double vary;  /* sizes of chunks differ by up to this factor, smoothly in
                     space; 0: 1 */
    bouma_rank_order rank_order; /* 0: BOUMA_RANK_ORDER_ROW_MAJOR */
    bouma_layout layout;         /* this one and the rest as in bouma_grid_spec;
                                    blocks of BOUMA_LAYOUT_HZ are "patches" */
    const char *hz_template;     /* also "ranks": that of bouma_hz_template()
                                    for these blocks and this order */
    int hz_block_bits, hz_blocks_per_file;
    bouma_hz_order hz_order;
    /* 0: a grid. Else so many particles, whose coordinates are in the shape; a
     * particle is its position and 'components' values, all of 'type'. 'patch',
     * 'vary', 'layout' and what belongs to it must be 0 then. */
    uint64_t particles;
    /* NULL: ranks hold equal shares. Else called for each rank, ascending, with
     * the index of its block along each axis and the numbers of blocks: the
     * bytes that its block is stored as ('ratio' and 'vary' are not asked
     * then); or a number in proportion to which particles are shared out. */
    uint64_t (*load)(void *user, int rank, const int64_t *at,
                     const int64_t *blocks);
    void *load_user;
} bouma_plan_spec;

/* File sizes and stored_bytes include chunks and their table entries, but not
 * what a file holds once, such as names. */
typedef struct bouma_plan_report {
    size_t size; /* sizeof(bouma_plan_report), set by the caller */
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
    uint64_t memory_bytes; /* peak memory of this planning; a real write lists
                              blocks of any kind, and needs more */
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
    /* Of particles, else 0. 'patches' and all about them are 0 for them; a
     * message is what a rank sends to a file, and files are their particles
     * alone. */
    uint64_t particles;
    uint64_t fewest_particles, most_particles; /* of any rank */
    /* If a machine was given, else 0: the nodes that ranks are on, and what of
     * 'moved_bytes' and 'shipped_bytes' goes from one to another. */
    int64_t nodes;
    uint64_t moved_between, shipped_between;
    /* What 'patch' would be if the library did not look at the blocks of ranks:
     * another one only if it was left to the library, and others are better. */
    int64_t usual_patch[BOUMA_MAX_DIMS];
} bouma_plan_report;

/* Make a plan. Of 'opts' (may be NULL) it uses the fields for files, schemes,
 * buffers, the machine and the allocator. On failure *out is NULL, and
 * 'message' (of 'bytes' bytes, may be NULL) says why. The caller owns *out. */
BOUMA_API int bouma_plan_make(bouma_plan **out, const bouma_plan_spec *spec,
                              const bouma_options *opts, char *message,
                              size_t bytes);
BOUMA_API void bouma_plan_free(bouma_plan *plan);

/* The sums of a plan. */
BOUMA_API int bouma_plan_report_get(bouma_plan_report *out,
                                    const bouma_plan *plan);

/* One patch, by its index along each axis (ndims entries), which blocks of
 * BOUMA_LAYOUT_HZ and particles do not have; and one file. BOUMA_ENOTFOUND if
 * there is none. */
typedef struct bouma_plan_patch {
    size_t size; /* sizeof(bouma_plan_patch), set by the caller */
    int owner;   /* the rank that assembles and encodes it */
    int64_t file;
    uint64_t bytes;
} bouma_plan_patch;
typedef struct bouma_plan_file {
    size_t size; /* sizeof(bouma_plan_file), set by the caller */
    int writer;
    int64_t patches; /* of particles: ranks that send to it */
    uint64_t bytes;
    bouma_tier tier; /* where the writer gathers it */
    /* The levels of the HZ order that it has samples of; 0 is the coarsest, and
     * in other layouts both are 0. */
    int first_level, last_level;
} bouma_plan_file;
BOUMA_API int bouma_plan_patch_get(bouma_plan_patch *out,
                                   const bouma_plan *plan, const int64_t *at);
BOUMA_API int bouma_plan_file_get(bouma_plan_file *out, const bouma_plan *plan,
                                  int64_t file);
/* A rank: the index of its block along each axis, and its samples, of which
 * there may be none. BOUMA_ENOTFOUND if there is no such rank. */
typedef struct bouma_plan_rank {
    size_t size; /* sizeof(bouma_plan_rank), set by the caller */
    int64_t at[BOUMA_MAX_DIMS];
    bouma_box box;
} bouma_plan_rank;
BOUMA_API int bouma_plan_rank_get(bouma_plan_rank *out, const bouma_plan *plan,
                                  int rank);

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
    size_t size; /* sizeof(bouma_plan_cost) */
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

/* How fast something is. */
typedef struct bouma_speed {
    double latency;   /* seconds, of a smallest transfer */
    double bandwidth; /* bytes per second, of large ones; 0: not measured */
} bouma_speed;

/* What was measured. */
typedef struct bouma_probe_report {
    size_t size; /* sizeof(bouma_probe_report), set by the caller */
    int ranks, nodes;
    uint64_t dram_bytes,
        hbm_bytes;         /* of the smallest node; 0: not known, none */
    bouma_speed dram, hbm; /* latency: random reads; bandwidth: copying, by one
                              process */
    bouma_speed network;   /* messages between nodes, or inside a single one */
    bouma_speed local, target; /* written and synced, by one process */
    const char *local_path;    /* the 'local' of the bouma_probe_spec */
    double windows, messages;  /* bytes per second that one rank gathers from
                                  the others by each transport; 0: not measured
                                  */
    bouma_transport transport; /* the faster one; 0: not known */
} bouma_probe_report;

/* Measure memory, network and storage, for the option 'machine'. Takes seconds.
 * Of 'opts' (may be NULL) the allocator and the progress function are used. On
 * failure 'message' (of 'bytes' bytes) says why. */
BOUMA_API int bouma_probe(bouma_probe_report *report,
                          const bouma_probe_spec *spec,
                          const bouma_options *opts, char *message,
                          size_t bytes);

/* The machine file of a report, as docs/machine.md describes it. Like
 * snprintf(): writes up to 'bytes' bytes, including the NUL, to 'text', and
 * returns the full length (0: no memory, or no report). */
BOUMA_API size_t bouma_probe_text(const bouma_probe_report *report, char *text,
                                  size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
