/* read.h -- the read pipeline:
 *
 *     open -> select -> fetch -> unship -> unshape
 */
#ifndef BM_READ_H
#define BM_READ_H

#include "codec/codec.h"
#include "dataset/dataset.h"

#define BM_MOST_OPEN_FILES 64 /* of a step */

/* A subfile of a step that is being read. */
struct bm_source {
    struct bm_file file;
    struct bm_head head;
    int loaded;            /* the head is there */
    uint64_t bytes;        /* that the file has: perhaps less than written */
    struct bm_tree *trees; /* [head.summaries.count], once asked for */
    uint64_t used; /* when, to close the one that was used longest ago */
    /* Of a step that was aimed: the bytes that were read with the head, and how
     * far the first read behind the head went in the step before. */
    struct bm_block_of_memory front;
    uint64_t front_offset, front_bytes, first_end;
};

#define BM_SPARE_BLOCKS 11

struct bouma_step {
    struct bm_open_step open; /* in the dataset's list, once it is open */
    struct bouma_dataset *ds;
    struct bm_schema schema;
    struct bm_manifest manifest;
    uint64_t manifest_bytes, manifest_hash;
    uint64_t opened; /* the step whose manifest it is; see bm_step_aim() */
    uint8_t front_hash[16];     /* in the envelope of the manifest */
    struct bm_source **sources; /* [manifest.count]; NULL: never opened */
    struct bm_source *held[BM_MOST_OPEN_FILES]; /* [open_files] */
    int open_files;
    uint64_t clock;
    struct bm_worker *workers; /* [worker_count], one for each thread */
    int worker_count;
    struct bm_block_of_memory spare[BM_SPARE_BLOCKS]; /* of the last query of
                                                         particles */
    int aimed; /* see bm_step_aim(); then: */
    struct bm_buffer schema_bytes;
    int freed; /* by its caller */
    int holds; /* the caller's, until then; those of refinements, of particles
                  in memory and of calls that are under way */
    /* A step that was extended, see extended.c; else NULL: */
    struct bouma_step **writings; /* [manifest.earlier_count] */
    struct bm_object_list shown[BM_LAST_KIND + 1];
    struct bouma_step *whole; /* of one of these: the step, which holds it; its
                                 manifest is lent */
};

/* Collective. The message is in the dataset. */
int bm_step_open(struct bouma_step **out, struct bouma_dataset *ds,
                 uint64_t step);
void bm_step_free(struct bouma_step *step);

/* Keep a step, and with it its dataset; and let go of it. What nobody keeps is
 * freed: a dataset that its caller has freed goes with its last step. */
void bm_step_hold(struct bouma_step *step);
void bm_step_drop(struct bouma_step *step); /* accepts NULL */

/* Close the files of a step, or of a writing, and drop what it has for them. */
void bm_step_close(struct bouma_step *step);

/* Turn to another step, which is expected to lie in files as this one does, and
 * was not extended (nor was this one): its manifest is not read. Where a chunk
 * is expected decides only which files are opened. Their heads must be those of
 * this writing of the step, and have the schema of this one to the byte; they
 * tell where chunks lie, and what their checksums are. If anything is otherwise,
 * reads fail, which says nothing of the step: then open it. */
void bm_step_aim(struct bouma_step *step, const struct bm_step_entry *entry);

/* Of a step whose manifest is there: the writings before the last, and what is
 * seen of all. BOUMA_OK or ENOMEM. */
int bm_step_open_writings(struct bouma_step *step);
void bm_step_free_writings(struct bouma_step *step);
/* The k-th writing of a step, of bm_manifest_writings(); the last is the step
 * itself. And the step that a writing belongs to. */
struct bouma_step *bm_step_writing(struct bouma_step *step, size_t k);
struct bouma_step *bm_step_whole(struct bouma_step *step);
/* What callers see of a step: objects of a kind, their number, and one by its
 * name, or NULL. */
struct bm_object *bm_step_object(const struct bouma_step *step,
                                 enum bm_object_kind kind, int i);
int bm_step_object_count(const struct bouma_step *step,
                         enum bm_object_kind kind);
struct bm_object *bm_step_find_object(const struct bouma_step *step,
                                      const char *name);
/* And the variables of such an object: its own, and those that were added. */
int bm_object_variable_count(const struct bm_object *o);
struct bouma_variable *bm_object_variable(const struct bm_object *o, int i);
struct bouma_variable *bm_object_find_variable(const struct bm_object *o,
                                               const char *name);

/* Tell the caller's 'progress', if there is one. What it calls leaves no
 * message behind. */
void bm_step_tell_progress(struct bouma_step *step, uint64_t done,
                           uint64_t total);

/* Whether a store has another version of the step now than the one that was
 * opened: ESTATE, or ENOTFOUND if it has none any more, with a message. */
int bm_step_is_current(const struct bouma_step *step, struct bm_store *store,
                       struct bm_error *error);

/* The i-th subfile, opened, with its table. */
int bm_step_source(struct bouma_step *step, size_t i, struct bm_source **out);
/* Whether an open one has these bytes, or was cut before: EFORMAT, with a
 * message that tells what is lost. */
int bm_step_source_has(const struct bouma_step *step, size_t i, uint64_t offset,
                       uint64_t bytes, const char *what,
                       struct bm_error *error);
/* Its name, with the dataset's path, for messages. */
void bm_step_source_name(const struct bouma_step *step, size_t i, char *text,
                         size_t bytes);

/* Whether the head of the i-th subfile is there. */
int bm_step_source_loaded(const struct bouma_step *step, size_t i);

/* Close the files, and drop what they have told. */
void bm_step_close_sources(struct bouma_step *step);

/* A sheet of the manifest (layout/sheet.h) is read when it is first asked for:
 * sheet k; the one with the record of a file, if there are sheets; with the file
 * i of all writings, and with a file of a set of particles (the message is in
 * the dataset); and all with files of the set that can match. */
int bm_step_load_sheet(struct bouma_step *step, size_t k,
                       struct bm_error *error);
int bm_step_load_record(struct bouma_step *step, size_t file,
                        struct bm_error *error);
int bm_step_load_file(struct bouma_step *step, size_t i);
int bm_step_load_set_file(struct bouma_step *step, const struct bm_file_tree *t,
                          size_t f);
struct bm_look;
/* With 'look', as long as all is within its limit. */
int bm_step_load_set(struct bouma_step *step, const struct bm_file_tree *t,
                     const struct bm_file_tree_query *query,
                     struct bm_look *look);
/* What it takes to load sheet k; 0: it is there. And what its files have beside
 * data: heads and trees have no more. */
uint64_t bm_step_sheet_cost(const struct bouma_step *step, size_t k);
uint64_t bm_step_sheet_rest(const struct bouma_step *step, size_t k);

/* The subfiles with chunks of a variable, one after the other; sheets that have
 * nothing of interest are not read. */
struct bm_file_walk {
    struct bouma_step *step;
    uint32_t variable;
    /* Whether a sheet may be of interest, which has 'sum' of the variable, in
     * so many files, from the variable's file 'first' on; NULL: all are. */
    int (*wants)(void *context, const struct bm_part_info *sum, size_t first,
                 size_t files);
    /* Whether such a sheet may be loaded, or is passed; NULL: it may. */
    int (*may_load)(void *context, size_t sheet,
                    const struct bm_part_info *sum);
    void *context;
    /* What was found: */
    const struct bm_part_info *part; /* NULL: there are no more */
    size_t file;                     /* its number in the step */
    size_t number;                   /* and among those of the variable */
    size_t next, seen;               /* of the walk itself */
};
/* The message is in the dataset. */
int bm_file_walk_next(struct bm_file_walk *w);

/* Read, check and decode the levels 'fine' to 'coarse' of some chunks of a
 * grid's variable, few large reads for many small pieces, and hand each to
 * 'each', which returns BOUMA_OK to go on: the samples are those of level
 * 'fine', and there during the call. Unless 'coarse' is the coarsest level,
 * 'coarser' gives what was kept of level coarse + 1 of a chunk. Both may be
 * called by several threads at once, for different chunks, and put what they
 * have to say into 'error'. */
struct bm_fetch {
    struct bouma_step *step;
    const struct bouma_variable *variable;
    int fine, coarse;
    const uint64_t *keys; /* [count] */
    size_t count;
    int (*each)(void *context, const struct bm_decoding *chunk,
                struct bm_error *error);
    const uint8_t *(*coarser)(void *context, uint64_t key);
    void *context;
    uint64_t before, total;    /* chunks, for the progress of a larger call */
    const struct bm_box *clip; /* 'each' looks at nothing else; NULL: at all */
    const struct bm_fetch_ordered *ordered; /* instead of 'each', or NULL */
    int exact;            /* no byte is read that no piece has */
    struct bm_look *look; /* NULL, or: read no chunks, only find their bytes */
};

/* What is to be read, as far as sheets and heads tell. Those that are not there
 * are read as long as all is within the limit; then 'bytes' has an upper limit,
 * with sheets and heads, for the rest. */
struct bm_look {
    uint64_t limit;
    uint64_t bytes;  /* of all pieces */
    uint64_t looked; /* of sheets and heads that were read for this */
    int over;        /* some were not */
};
/* May so many bytes be read to find out more? If so, they are counted. */
int bm_look_may(struct bm_look *look, uint64_t bytes);

/* For callers that want chunks one by one: in the order of files, and of the
 * chunks in each. */
struct bm_fetch_ordered {
    /* The bytes that are wanted of a chunk; they are put into such a room, by
     * several threads at once. */
    size_t (*room)(const void *context, uint64_t key);
    void (*fill)(void *context, const struct bm_decoding *chunk, uint8_t *room);
    /* On the thread that fetches. */
    int (*deliver)(void *context, uint64_t key, const uint8_t *room,
                   struct bm_error *error);
    struct bm_block_of_memory *memory; /* of rooms; the caller's to drop */
};
int bm_fetch(const struct bm_fetch *fetch);

/* One box on one rank. */
struct bm_read_request {
    const struct bouma_variable *variable;
    int level;
    struct bm_box box; /* lifted, checked */
    struct bm_array to;
    int64_t *apart; /* that of 'to', or NULL: the caller's to drop */
};
int bm_read_box(struct bouma_step *step, const struct bm_read_request *request);
/* Put a chunk's samples where a request wants them, as the variable's. */
void bm_read_give(const struct bm_decoding *chunk,
                  const struct bm_read_request *r);

/* What was read for a request, of this box or a larger one and as the
 * variable's samples, into its array, which wants them otherwise. */
int bm_read_deliver(struct bouma_step *step,
                    const struct bm_read_request *request,
                    const struct bm_read_request *stored);

/* Boxes of all ranks. 'rc' is this rank's status so far. Collective. */
int bm_read_all(struct bouma_step *step, const struct bm_read_request *requests,
                size_t count, int rc);

/* Patches, each at its own level. 'lifted' is the query's box. */
int bm_query(struct bouma_step *step, const struct bouma_variable *variable,
             const bouma_patch_query *query, const struct bm_box *lifted);

/* What a caller who reads these samples gets. */
void bm_selection_of(bouma_selection *out, const struct bm_object *grid,
                     size_t sample_bytes, const struct bm_footprint *samples);

/* ---- particles ---------------------------------------------------------- */

/* Whether that of a set is there already. */
int bm_step_has_tree(const struct bouma_step *step, size_t source,
                     const struct bm_object *set);
/* The tree of a summary of an open source; loaded once. */
int bm_step_tree(struct bouma_step *step, size_t source, size_t summary,
                 const struct bm_tree **out);

/* Particles by chance. Each has a key, a number from 0 to 2^64 - 1 that follows
 * from the seed, the step, the set, the file and the slot in it, and from
 * nothing else. Those with the n smallest keys are a simple random sample of n,
 * whatever is asked for, in however many steps keys are gone through. */
struct bm_draw {
    /* Not by chance: all particles, and the keys tell their order by quality.
     * A key is rank + offset (see detail.h), times 2^32. */
    int by_rank;
    uint64_t seed;
    uint64_t first, last; /* only particles with keys from first to last */
    const uint64_t *keys; /* [count] of the batch that 'each' is given */
};

/* A component must be from low to high, both included. */
struct bm_condition {
    const struct bouma_variable *variable;
    int component;
    union bm_scalar low, high;
    int group; /* 0: it must hold; those of a group from 1 on must hold for some
                  group */
};

/* Which particles, and what of them: what a caller asks, checked and complete.
 * If 'boxed': low <= position < high on each axis, in the order of coordinates;
 * on axes whose bit is set in 'closed', high is included. */
struct bm_criteria {
    double from, quality;
    int boxed;
    double low[3], high[3];
    unsigned closed;
    const struct bm_condition *conditions; /* by ascending group */
    size_t condition_count;
    int never; /* conditions contradict each other */
    bouma_variable *const *variables;
    size_t variable_count;
    bouma_component_order order; /* of what is handed over */
    int shares;
};

/* A query in full. */
struct bm_particle_query {
    struct bouma_step *step;
    struct bm_object *set;
    struct bm_criteria query;
    int (*each)(void *context, const bouma_batch *batch);
    void *context;
    /* NULL: files that can match; else just these of the set, and of them the
     * slots from[i] up to to[i]. */
    const size_t *files;
    const uint64_t *from, *to;
    size_t file_count;
    struct bm_draw *draw; /* NULL: not by chance */
    /* NULL, or, with one file: what was read of it for other queries, and is
     * read for this one; and the values of it that were decoded. With 'each'
     * NULL all that can match is read, and nothing else is done. */
    struct bm_shelf *shelf, *values;
    int exact;                     /* no byte is read that no piece has */
    struct bm_particle_look *look; /* NULL, or: read no particles, only find
                                      what they cost; all of the set's files */
};
int bm_particle_query(const struct bm_particle_query *query);

/* What a query may read, by level of detail, whatever its quality; in 'heads'
 * the heads and trees that have not been read. */
struct bm_particle_look {
    struct bm_look heads;
    uint64_t bytes[BM_MAX_LEVELS], particles[BM_MAX_LEVELS];
};

/* A query that is read level by level: particle_refine.c. It holds the step. */
struct bm_budget;
struct bouma_particles_refinement;
/* With a copy of the criteria. NULL: no memory, with a message. */
struct bouma_particles_refinement *
bm_particle_refinement_new(struct bouma_step *step, struct bm_object *set,
                           const struct bm_criteria *criteria);
void bm_particle_refinement_free(struct bouma_particles_refinement *r);
/* The next particles: into arrays of the caller, or, if 'into' is NULL, *out.
 * ELIMIT, with a message, if not a level fits; 'answer' is filled then, too. */
struct bm_into;
int bm_particle_refinement_next(bouma_particle_data **out, struct bm_into *into,
                                bouma_answer *answer,
                                struct bouma_particles_refinement *r,
                                const struct bm_budget *budget);

/* ---- refinement --------------------------------------------------------- */

int bm_refinement_open(struct bouma_refinement **out, struct bouma_step *step,
                       const struct bouma_variable *variable, int level,
                       const struct bm_box *lifted);
int bm_refinement_next(struct bouma_refinement *r);
/* As far as the budget allows: refine_within.c. 'out' tells how far; ELIMIT,
 * with a message, if that is no level at all. */
struct bm_budget;
int bm_refinement_within(bouma_answer *out, struct bouma_refinement *r,
                         const struct bm_budget *budget);
/* Not a level yet; for the first of these calls. NULL: no memory. */
struct bouma_refinement *
bm_refinement_new(struct bouma_step *step,
                  const struct bouma_variable *variable,
                  const struct bm_box *lifted);
int bm_refinement_go(struct bouma_refinement *r, int level);
/* The bytes of a step to 'level' from the next coarser one; if there is none
 * yet, from nothing. */
int bm_refinement_look(struct bm_look *look, const struct bouma_refinement *r,
                       int level, int from_nothing);
void bm_refinement_free(struct bouma_refinement *r);

struct bouma_refinement {
    struct bouma_step *step;
    const struct bouma_variable *variable;
    struct bm_box box;
    int level;     /* the number of levels: none is there yet */
    int measured;  /* what each level adds is measured: */
    double error;  /* that of 'level'; infinite: not known */
    int freed;     /* by its caller */
    int calls;     /* under way: they keep it */
    uint8_t *data; /* dense, of the current level */
    struct bm_refined {
        uint64_t *keys; /* [count], ascending: chunks with samples of it */
        size_t count;
        uint8_t **kept; /* [count]: the samples, which the next builds on */
    } chunks;
};

#endif
