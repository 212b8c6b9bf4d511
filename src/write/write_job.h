/* write_job.h -- a step that is being written: its stages, and what they hand
 * on to each other.
 *
 *     describe -> (split) -> plan -> distribute -> shape -> assign -> ship
 *                                                  -> store -> commit
 *
 * Each stage has a file of its own, stage_<name>.c; write_job.c has the orders
 * in which they run. Every rank goes through the same exchanges whatever
 * happens to it: a stage gets this rank's status so far, leaves its work out if
 * that is a failure, and gives the status on; the next agreement tells
 * everyone. Memory for an exchange is there before the agreement that precedes
 * it. */
#ifndef BM_WRITE_JOB_H
#define BM_WRITE_JOB_H

#include "comm/route.h"
#include "engine/io_thread.h"
#include "engine/pipe.h"
#include "plan/concern.h"
#include "write/particle_ship.h"
#include "write/shape.h"
#include "write/subfile.h"

/* What time is spent on. */
enum bm_phase {
    BM_DESCRIBE,
    BM_PLAN,
    BM_DISTRIBUTE,
    BM_SHAPE,
    BM_SHIP,
    BM_STORE,
    BM_COMMIT,
    BM_PHASES
};

/* A chunk of a file that this rank writes, by its offset in the stream of all
 * that this rank gathers. */
struct bm_arrival {
    uint64_t at;
    size_t subfile; /* in held.subfiles */
    size_t t;       /* in the subfile */
    int owner;
    size_t m;       /* in plan.grids->mine, if it is this rank's own */
    uint64_t bytes; /* in the stream */
};

/* What the streams carry. */
enum bm_cargo {
    BM_CHUNKS,  /* all of them; records go apart */
    BM_SLOTS,   /* for each a record, and room for its bytes: see predict.h */
    BM_MISFITS, /* chunks that were too large for their slots */
};

/* What the caller gave, as this rank describes it. */
struct bm_job_given {
    struct bm_buffer blocks; /* of grids, as bytes for the other ranks */
    uint64_t hash;           /* of these and the schema */
    int is_new; /* on some rank it is not what the last plan was made of */
};

/* Who does what; the same on all ranks. Those of a node have it in common, but
 * for the size_bytes, which only their first has: see files_image.h. */
struct bm_job_plan {
    struct bm_write_plan *grids;      /* the dataset's, which keeps it */
    int is_view;                      /* what follows is that of another rank */
    uint64_t *bytes;                  /* [chunks] */
    uint8_t *size_bytes;              /* [chunks]: see table_costs.h */
    bouma_assign assign;              /* how files of grids are cut */
    struct bm_assignment files;       /* of grids */
    struct bm_writers writers;        /* of these */
    int64_t all_files;                /* and those of particles behind them */
    struct bm_prediction *prediction; /* NULL: nothing is predicted */
};

/* What this rank has in memory and in files. */
struct bm_job_held {
    int made_directory; /* rank 0: it was not there before */
    int may_have_files; /* all ranks have a plan, and go on to make files */
    struct bm_shaper shaper;
    struct bm_subfile *subfiles; /* with grids */
    size_t subfile_count;
    struct bm_particle_write particles; /* and the subfiles with them */
};

/* What is on its way to other ranks, or to storage. */
struct bm_job_transit {
    enum bm_cargo cargo;
    struct bm_route record_sends, record_receives;
    size_t *send_m;              /* [record_sends.count] */
    struct bm_arrival *arrivals; /* ascending */
    size_t arrival_count;
    struct bm_pipe *pipe;       /* for the chunks' bytes */
    struct bm_file_batch batch; /* of whoever stores them */
    uint64_t earlier_rounds;    /* of pipes before it */
    struct bm_io_thread
        *particle_storer;        /* stores the files of particles; NULL: none */
    struct bm_io_thread *closer; /* ends all files meanwhile; NULL: not so */
};

struct bm_job_result {
    size_t misfits;            /* chunks, of all ranks */
    struct bm_buffer manifest; /* rank 0 */
    int keep;                  /* the files are committed, or may be */
    bouma_record record;
    double seconds[BM_PHASES];
    double since; /* the last lap */
};

struct bm_write_job {
    struct bouma_dataset *ds;
    /* Those who do it, and their buffers; and if partitions are written apart
     * (see split.h): */
    struct bm_comm *comm;
    struct bm_pipe_pool *pool;
    struct bm_write_job *part;  /* of this rank's group; NULL: it is not so */
    struct bm_write_job *whole; /* of such a one: the step's */
    /* Number, time and generation. The caller may have begun the next step
     * before this one is committed. */
    struct bm_step_entry entry;
    struct bm_generation
        base;   /* the writing of this step that it adds to; epoch
                                  0: none */
    int synced; /* it must be durable when it is visible */
    int failed; /* on all ranks, and all know it: no stage follows */
    int defers; /* what is stored meanwhile is waited for by a later call */
    struct bm_job_given given;
    struct bm_job_plan plan;
    struct bm_job_held held;
    struct bm_job_transit transit;
    struct bm_job_result result;
};

/* ---- stages ------------------------------------------------------------- */

/* 'rc' is this rank's status so far; gives that after the stage. Collective. */
typedef int bm_stage_run(struct bm_write_job *job, int rc);

/* The first exchange of a step: is all well, do all agree, is a new plan
 * needed? */
bm_stage_run bm_stage_describe;

/* Where partitions are written apart: that is done. */
bm_stage_run bm_stage_split;

/* Who encodes which chunk of grids, made or used again; and which particles go
 * to which file. Memory for what goes between ranks. */
bm_stage_run bm_stage_plan;

/* Particles go to the writers of their files, and parts of chunks to the ranks
 * that encode them. */
bm_stage_run bm_stage_distribute;

/* Encode all chunks of grids, and tell their sizes. Particles can be shaped
 * once their files have a number, that is, behind bm_stage_assign(): each file
 * is stored while the next is shaped. */
bm_stage_run bm_stage_shape_grids;
bm_stage_run bm_stage_shape_particles;

/* Chunks are assigned to files, by their sizes: those that were told, those
 * that follow from the geometry, or those of the step before. Every rank makes
 * the files of grids that it writes. */
bm_stage_run bm_stage_assign;
bm_stage_run bm_stage_assign_known;
bm_stage_run bm_stage_assign_predicted;

/* Chunks go to the writers of their files, and are stored. They are encoded;
 * they are encoded straight into the buffers; or one after the other, while
 * those before it are on their way (see predict.h). */
bm_stage_run bm_stage_ship;
bm_stage_run bm_stage_ship_known;
bm_stage_run bm_stage_ship_predicted;

/* Heads and manifest are made; nothing of the caller's is needed any more. The
 * files are ended now, or by a thread that bm_stage_store_wait() waits for. */
bm_stage_run bm_stage_store;
bm_stage_run bm_stage_store_meanwhile;
bm_stage_run bm_stage_store_wait;

/* Rank 0 commits, and the step enters the lists of the dataset. */
bm_stage_run bm_stage_commit;

/* ---- what stages share -------------------------------------------------- */

/* Count the time since the last call to a phase. */
void bm_job_lap(struct bm_write_job *job, enum bm_phase phase);

/* The job of this rank's group: write what it has for itself. 'rc' is that of
 * the group; it ends with a status of this rank's own. Collective in the group.
 */
int bm_job_run_part(struct bm_write_job *job, int rc);

/* 'rc' is that of all ranks; it comes back. After a failure the job is over. */
int bm_job_agreed(struct bm_write_job *job, int rc);

/* The rank that writes a file. */
int bm_job_writer(const struct bm_write_job *job, size_t file);

/* The i-th subfile that this rank writes, those of particles behind those of
 * grids and of its group's partitions; and their number. */
struct bm_subfile *bm_job_subfile(struct bm_write_job *job, size_t i);
size_t bm_job_subfile_count(const struct bm_write_job *job);

/* What differs between this rank's description of the step and rank 0's, as a
 * message on all ranks. Collective. */
int bm_job_mismatch(struct bm_write_job *job);

/* What the schema's bytes need not have of each object: its partitions, and
 * whether the edges of patches are left to the library. */
void bm_job_put_choices(struct bm_buffer *b, const struct bm_schema *schema);

/* Hash what this rank holds, and the grids, by which the next step finds out
 * whether the plan can be used again. BOUMA_OK or ENOMEM. */
int bm_job_hash_given(struct bm_write_job *job);

/* Tell the first rank of each node the sizes of all chunks. Collective. */
int bm_job_gather_sizes(struct bm_write_job *job, int rc);

/* Room in the lists that a committed step enters, so that this cannot fail. */
int bm_job_reserve_lists(struct bm_write_job *job);

/* After a failure: the directory, if it was made for this step. Files may have
 * been made in it if all ranks got as far as that, and are removed when all
 * have come here; then it is collective. Another writer that has taken over may
 * be about to use it. */
void bm_job_remove_directory(struct bm_write_job *job, int rc);

#endif
