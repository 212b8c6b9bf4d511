/* dataset.h -- the handle of a dataset: what all calls on it share. Opening,
 * the list of steps, and the commit of a step live in this folder; the two
 * pipelines build on it. */
#ifndef BM_DATASET_H
#define BM_DATASET_H

#include "base/option.h"
#include "codec/lattice.h"
#include "comm/common.h"
#include "dataset/refused.h"
#include "dataset/step_times.h"
#include "engine/engine.h"
#include "layout/manifest.h"
#include "layout/schema.h"
#include "plan/placement.h"
#include "store/losses.h"
#include "store/store.h"

enum bm_mode { BM_MODE_READ, BM_MODE_CREATE, BM_MODE_APPEND };

/* A block that was handed over for the step that is being written. */
struct bm_put {
    struct bouma_variable *variable;
    size_t serial; /* in the order of the calls */
    struct bm_memory_box from;
    uint8_t *copy;  /* what 'from' points to, if it is the library's own */
    int64_t *apart; /* that of from.array, or NULL */
    uint64_t hash;  /* of the samples, if they are borrowed and checked */
};

/* Drop what the put has of its own. */
void bm_put_release(struct bm_put *put, const bouma_allocator *a);

/* Values of one component of a variable, one for each particle. */
struct bm_particle_lane {
    const uint8_t *data; /* NULL: not handed over */
    int64_t stride;      /* bytes */
    uint64_t hash;       /* of the values, if they are borrowed and checked */
    int kept;            /* the values are in memory of the library: */
    uint8_t *own;        /* of the first lane of a variable; else NULL */
};

/* Particles that were handed over for the step that is being written. */
struct bm_particle_block {
    struct bm_object *set;
    size_t serial; /* in the order of the calls */
    uint64_t count;
    struct bm_particle_lane
        *lanes; /* [lane_count], of all variables in their order */
    size_t lane_count;
    int bounded;
    double low[3], high[3];
    uint8_t *copy; /* what lanes point to, if it is the library's own */
};

/* A step of BOUMA_DURABILITY_GROUP whose manifest is written but not yet published. */
struct bm_held_step {
    struct bm_step_entry entry;
    struct bm_file manifest; /* rank 0 only */
    int published;
};

/* A step that is open for reading. */
struct bm_open_step {
    uint64_t step;
    struct bm_generation generation;
    struct bm_open_step *next;
    int busy; /* calls that read it, and may call their caller back */
};

/* By which this handle writes. */
struct bm_claim {
    uint32_t epoch, attempt;
    uint32_t copies; /* of manifests that were begun here: names them */
    int claims, claims_second; /* the epoch of this store is this rank's */
};

/* What the caller gave for the step that is being written. */
struct bm_given {
    int in_step; /* one was begun */
    uint64_t step;
    double time;
    struct bm_generation
        base; /* what is added to, if the step is there already;
                                  epoch 0: nothing */
    struct bouma_attributes step_attributes;
    struct bm_put *puts;
    size_t put_count, put_room;
    struct bm_particle_block *blocks;
    size_t block_count, block_room;
    struct bm_refused_list refused;
};

/* What was committed, and is not yet all over. */
struct bm_commits {
    struct bm_held_step *held; /* [options.group], of BOUMA_DURABILITY_GROUP */
    int held_count;
    struct bm_file *held_files; /* subfiles of this rank, not yet durable */
    size_t held_file_count;
    struct bm_step_list unsynced; /* visible, but perhaps not durable */
    struct bm_step_list replaced; /* durable; older versions can be removed */
    struct bm_loss_list losses;   /* on record here, of who commits */
    int idx_behind; /* the step is not shown to readers of IDX: they may have
                       links to the version before */
    int idx_mended; /* headers and links of idx/ were right when this handle
                       looked, and are its own since: see idx.h */
};

/* What one who writes carries over from step to step. */
struct bm_carried {
    struct bm_write_job *pending; /* is still being stored; NULL: none is */
    struct bm_write_plan *plan;   /* of the last step, for reuse */
    struct bm_split *split; /* its ranks, if partitions are written apart; else
                               NULL */
    uint64_t plan_hash;
    struct bm_common particles[2]; /* what the ranks of a node have in common of
                                      a step's plan of particles */
    int told_empty;                /* that a step has no data */
    bouma_record record;           /* of the last step */
};

/* Of one who writes with 'persist': how steps get from local copies to the
 * target. */
struct bm_draining {
    int local_copies;       /* that the ranks write to */
    struct bm_drain *drain; /* NULL without 'persist' */
};

/* What there is in the dataset, as far as that was looked for. A reader of one
 * process looks when it is asked, see bm_dataset_list() and
 * bm_dataset_describe(); all others when they open it. */
struct bm_found {
    int listed;    /* the steps are there */
    int described; /* so are notes and attributes */
    struct bm_step_list steps;
    struct bm_step_times times; /* of these, when somebody has asked */
    char **notes;
    int note_count;
    struct bouma_attributes attributes;
};

/* How long a handle lives. Its caller may free it at any time; steps that are
 * open, and calls that are under way and call the caller back, keep it. */
struct bm_lifetime {
    int freed;            /* by its caller */
    int calls;            /* under way */
    int ended;            /* see bm_dataset_end() */
    int together;         /* it had several ranks, until it ended... */
    int rank;             /* ...and this one was here */
    struct bm_comm alone; /* that of a handle that has ended */
};

/* Of the format in which it is written. */
struct bm_version {
    int major, minor;
};

struct bouma_dataset {
    struct bm_error error;
    const bouma_allocator *a;
    struct bm_options options; /* complete: nothing left to choose */
    enum bm_mode mode;
    int opened, closed;
    struct bm_comm *comm;
    struct bm_store store; /* where steps are written; or read, most of all */
    /* Not open: there is none. Of one who writes with 'persist', whose store is
     * the local copy: the target that steps are drained to. Of one who reads
     * with 'local': the local copy. */
    struct bm_store second;
    uint8_t id[16];
    struct bm_version version;
    struct bm_engine engine;
    struct bm_found found;
    struct bm_open_step *open_steps;
    struct bm_lifetime life;

    /* Writing: */
    struct bm_schema schema;
    struct bm_claim claim;
    struct bm_draining draining;
    struct bm_given given;
    struct bm_carried carried;
    struct bm_commits commits;
};

/* Open, create or open to append. Takes 'comm' over, also on failure. On
 * return *out is there unless even it could not be allocated. Collective. */
int bm_dataset_open(struct bouma_dataset **out, struct bm_comm *comm,
                    enum bm_mode mode, const char *path,
                    const struct bm_options *options, const bouma_allocator *a);
void bm_dataset_free(struct bouma_dataset *ds);
/* End what the handle has in common with other ranks, and with other writers:
 * the communicator, the claim, what was not committed. Open steps can still be
 * read, each rank for itself. Collective, if it was opened with MPI. */
void bm_dataset_end(struct bouma_dataset *ds);

/* At its end: nothing is drained any more, and the trace is written, if there
 * is to be one; if that fails, a note says why. Collective. */
void bm_dataset_end_trace(struct bouma_dataset *ds);

/* Forget what was handed over for a step. */
void bm_given_forget_puts(struct bm_given *given, const bouma_allocator *a);

/* How many threads work for a call on this rank: as many as wanted; or as there
 * are processors for each rank of the node, if the allocator is known to bear
 * it. */
int bm_dataset_threads(const struct bouma_dataset *ds);

/* Bytes read so far, of local copies, too. */
uint64_t bm_dataset_bytes_read(const struct bouma_dataset *ds);

/* Pipes of a dataset: buffers and transport as its options and the machine
 * say. */
struct bm_pipe_options bm_dataset_pipe(const struct bouma_dataset *ds);

/* A hash of all that ranks must give alike; and, where they do not, a message
 * that tells who differs in what: EMISMATCH. Collective. */
uint64_t bm_options_hash(const struct bouma_dataset *ds, const char *path);
int bm_options_mismatch(struct bouma_dataset *ds, const char *path);

/* Give the claims of this rank back, unless that was done. */
int bm_dataset_release(struct bouma_dataset *ds, struct bm_error *error);

/* Where a file of a step is looked for, in this order: 1 store or 2. */
int bm_dataset_stores(struct bouma_dataset *ds, struct bm_store *stores[2]);

/* Rank 0: the manifest of a step, and where it was found: see
 * bm_manifest_read_front(). If there are two, that of the later writing. */
int bm_dataset_manifest(struct bouma_dataset *ds, uint64_t step,
                        struct bm_buffer *out, uint64_t *bytes,
                        struct bm_store **store, struct bm_error *error);

/* Before the steps that were found are used by what a reader calls; and before
 * attributes or notes are. Not collective. */
int bm_dataset_list(struct bouma_dataset *ds);
int bm_dataset_describe(struct bouma_dataset *ds);

/* Look for committed steps again. Collective. */
int bm_dataset_refresh(struct bouma_dataset *ds);

/* A remark for bouma_dataset_note(). */
int bm_dataset_add_note(struct bouma_dataset *ds, const char *format, ...)
    BM_PRINTF(2, 3);

enum bm_find {
    BM_FIND_PLAIN,
    /* For writers: sync steps that the index does not know. Their writer may
     * have been killed before they were durable. */
    BM_FIND_SYNC = 1,
    /* The index is not believed, every manifest is asked. */
    BM_FIND_EXACT = 2,
    /* For who opens each step that is found: what is wrong with its manifest is
     * told then, and is no note. */
    BM_FIND_QUIET = 4
};

/* The numbers of all directories of steps, with and without manifests, into an
 * empty list. EFORMAT if steps/ is missing. */
int bm_steps_list(struct bm_store *s, struct bm_step_list *out,
                  struct bm_error *error);

/* A look for the committed steps of a dataset. */
struct bm_step_search {
    struct bm_store *store;
    const uint8_t *id;          /* of the dataset */
    struct bm_step_list *found; /* an empty list, to be filled */
    int how;                    /* a sum of bm_find */
    /* Is told every oddity; may be NULL. */
    int (*note)(void *context, const char *text);
    void *context;
    /* Found: the index does not say the same. Not set if it cannot be read:
     * then it is left as it is. */
    int stale;
};

/* The committed steps, from the index and the directories; for rank 0. */
int bm_steps_find(struct bm_step_search *search, struct bm_error *error);

/* Steps that the index knows, and whose directories are not there, into an
 * empty list. Fails if the index cannot be read. */
int bm_steps_gone(struct bm_store *s, const uint8_t id[16],
                  struct bm_step_list *gone, struct bm_error *error);
/* Write the index anew, for one who writes: what the old one knows and is gone
 * is put on record before. With 'note' (may be NULL) it is told, too. */
int bm_steps_write_index(struct bm_store *s, const uint8_t id[16],
                         const struct bm_step_list *list,
                         int (*note)(void *context, const char *text),
                         void *context, struct bm_error *error);

/* Load and decode a manifest without its sheets (layout/sheet.h): that is enough
 * for all but the records of files. 'name' may be NULL: the published one. */
int bm_manifest_load_front(struct bm_manifest *m, struct bm_store *s,
                           uint64_t step, const char *name, const uint8_t *id,
                           struct bm_error *error);
/* Sheet k of a manifest, or of a writing before, whose file has this name. */
int bm_manifest_load_sheet(struct bm_manifest *m, size_t k, struct bm_store *s,
                           const char *name, struct bm_error *error);
/* The bytes of a manifest without its sheets; of a damaged one, all bytes. And
 * the bytes of the file. */
int bm_manifest_read_front(struct bm_store *s, const char *name,
                           struct bm_buffer *out, uint64_t *bytes,
                           struct bm_error *error);
int bm_manifest_read_front_of(struct bm_file *f, struct bm_buffer *out,
                              uint64_t *bytes, struct bm_error *error);
/* EFORMAT if a file of so many bytes has more than a manifest, which was made
 * of its first 'front' bytes, and its sheets. (That it has less concerns only
 * those that read these sheets.) */
int bm_manifest_check_end(struct bm_manifest *m, size_t front, uint64_t bytes,
                          const char *name, struct bm_error *error);

/* Who commits here: which losses are on record now, so that those of steps that
 * are written again can go. */
int bm_commit_load_losses(struct bouma_dataset *ds);
/* How a step is committed. */
struct bm_commit_how {
    int synced; /* it is durable before it is visible */
    struct bm_generation
        base; /* the writing that must be there, all of which is
                                  in it: it is not held back; epoch 0: none */
    struct bm_generation
        oldest; /* of its writings, whose files stay; epoch 0: it
                                    has one */
    const struct bm_manifest *extended; /* for bm_commit() itself */
};
/* Rank 0: write the manifest ('bytes') of a step and, unless it is held back,
 * publish it. *published is set once it may have become visible. */
int bm_commit(struct bouma_dataset *ds, const struct bm_step_entry *entry,
              const struct bm_buffer *bytes, const struct bm_commit_how *how,
              int *published);
/* Commit a step whose manifest was published elsewhere, and whose subfiles are
 * all here. */
int bm_commit_copy(struct bouma_dataset *ds, const struct bm_step_entry *entry,
                   const struct bm_buffer *manifest);
/* Rank 0: make a visible step durable, and all that is not synced. */
int bm_commit_sync(struct bouma_dataset *ds, uint64_t step);
/* Rank 0: all that is not synced. */
int bm_commit_sync_all(struct bouma_dataset *ds);
/* Make the first 'count' files of a step durable, whoever wrote them. */
int bm_commit_sync_files(struct bm_store *s, const struct bm_manifest *m,
                         size_t count, struct bm_error *error);
/* Finish a group: sync and publish all that is held. Collective. */
int bm_commit_flush(struct bouma_dataset *ds);

#endif
