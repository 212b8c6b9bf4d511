/* ship.h -- encoded chunks go to the ranks that write their files, round by
 * round, and into the files. */
#ifndef BM_SHIP_H
#define BM_SHIP_H

#include "comm/route.h"
#include "engine/keeper.h"
#include "engine/pipe.h"
#include "plan/assign.h"
#include "write/particle_ship.h"
#include "write/shape.h"
#include "write/subfile.h"

enum bm_phase {
    BM_DESCRIBE,
    BM_PLAN,
    BM_DISTRIBUTE,
    BM_SHAPE,
    BM_SHIP,
    BM_STORE,
    BM_PHASES
};

/* A chunk of a file that this rank writes, by its place in the stream of all
 * that this rank gathers. */
struct bm_arrival {
    uint64_t at;
    size_t subfile; /* in step.subfiles */
    size_t t;       /* in the subfile */
    int owner;
    size_t m;       /* in plan->mine, if it is this rank's own */
    uint64_t bytes; /* in the stream */
};

/* What the streams carry. */
enum bm_cargo {
    BM_CHUNKS,  /* all of them; records go apart */
    BM_SLOTS,   /* for each a record, and room for its bytes: see predict.h */
    BM_MISFITS, /* chunks that were too large for their slots */
};

struct bm_step {
    struct bouma_dataset *ds;
    struct bm_write_plan *plan;
    struct bm_generation generation;
    uint64_t number; /* of the step; the caller may have begun the next one */
    double time;
    int synced;         /* it must be durable when it is visible */
    int made_directory; /* rank 0: it was not there before */
    struct bm_shaper shaper;
    uint64_t *bytes;     /* [chunks] */
    uint8_t *size_bytes; /* [chunks]: see table_costs.h */
    struct bm_assignment files;
    struct bm_subfile *subfiles; /* of this rank, with grids */
    size_t subfile_count;
    struct bm_particle_write particles;
    int64_t all_files; /* those of grids, then those of particles */

    struct bm_route record_sends, record_receives;
    size_t *send_m;              /* [record_sends.count] */
    struct bm_arrival *arrivals; /* ascending */
    size_t arrival_count;
    enum bm_cargo cargo;
    struct bm_pipe *pipe;             /* for the chunks' bytes */
    uint64_t earlier_rounds;          /* of pipes before it */
    struct bm_prediction *prediction; /* NULL: nothing is predicted */
    size_t misfits;                   /* chunks, of all ranks */
    struct bm_keeper *bundler; /* stores the files of particles; NULL: none */
    struct bm_keeper *closer;  /* ends all files meanwhile; NULL: not so */
    struct bm_buffer manifest; /* rank 0 */
    bouma_record record;

    double seconds[BM_PHASES];
    double since;
};

/* Count the time since the last call to a phase. */
void bm_step_lap(struct bm_step *s, enum bm_phase phase);

/* The rank that writes a file. */
int bm_step_writer(const struct bm_step *s, size_t file);

/* The i-th subfile that this rank writes, those of particles behind those of
 * grids; and their number. */
struct bm_subfile *bm_step_subfile(struct bm_step *s, size_t i);
size_t bm_step_subfile_count(const struct bm_step *s);

/* The bytes of a chunk in the stream to its writer, by s->cargo. */
uint64_t bm_ship_bytes(const struct bm_step *s, size_t chunk);

/* All that this rank sends and takes in, with the memory for it but for
 * buffers. May be called again for another cargo when the first has arrived. */
int bm_ship_plan(struct bm_step *s);

/* Bring the records of chunks to the writers of their files. Runs on all ranks,
 * whatever 'rc' is: the shaper's records are there in any case. */
int bm_ship_records(struct bm_step *s, int rc);

/* With all sizes known, find where everything goes in this rank's files. */
int bm_ship_arrange(struct bm_step *s, int rc);

/* Bring the bytes of chunks to the writers of their files, and store them: all
 * of them, or (with `async`, unless they were predicted) leave the last ones to
 * the thread. Runs on all ranks, whatever 'rc' is. */
int bm_ship_chunks(struct bm_step *s, int rc);

/* The thread that stores files of particles: the i-th of them. */
bm_keep bm_ship_bundle;

#endif
