/* repair.h -- what the files of repair share. */
#ifndef BM_REPAIR_H
#define BM_REPAIR_H

#include "check/check.h"
#include "layout/sheet_walk.h"
#include "store/envelope.h"
#include "store/truncations.h"

struct bm_repair {
    struct bm_request *request;
    struct bouma_dataset ds; /* only what the checks need */
    int apply;
    int is_part;        /* of a local copy of several nodes */
    uint64_t elsewhere; /* files of a step that are on others */
    int changing;  /* since the last look at a step or file: a failure is not of
                      looking any more */
    int unclaimed; /* a status: another has taken over, or who knows; nothing
                      more is done then */
    struct bm_findings findings;
    struct bm_loss_list records;  /* of losses, as they were at first */
    struct bm_loss_list losses;   /* those that are known */
    struct bm_step_list known;    /* to the index */
    struct bm_step_list strays;   /* directories that hold another step, and
                                     are not looked at */
    struct bm_step_list returned; /* steps that are back where they belong, or
                                     would be */
    struct bm_truncations truncations; /* what was dropped on purpose */
    int has_idx;                       /* a step has a grid with 'idx' */
    int has_index;                     /* that can be read, if there is one */
    int has_identity; /* the dataset's own file is whole: else the id is that of
                         some step */
    bouma_repair_report *report;
    struct bm_error *error; /* of the request */
};

int bm_repair_init(struct bm_repair *r, struct bm_request *q, int apply,
                   bouma_repair_report *report);
/* Tell the findings, release all, and return the status. */
int bm_repair_finish(struct bm_repair *r, int rc);

/* Tell of an action. Returns whether to carry it out: not if the claim is lost,
 * either, which ends the repair. */
int bm_repair_act(struct bm_repair *r, int64_t step, const char *name,
                  const char *text);
/* EBUSY if another has taken over the dataset: to be called before changes. */
int bm_repair_check_claim(struct bm_repair *r);
/* Tell of damage that cannot be mended. */
void bm_repair_hopeless(struct bm_repair *r, int64_t step, const char *name,
                        const char *text);
/* What could not be looked at ('rc', with a message in r->error), or is beyond
 * the memory limit, does not keep the rest from being mended: it is told, and
 * BOUMA_OK is returned. Any other status comes back. */
int bm_repair_leave(struct bm_repair *r, int64_t step, const char *name,
                    int rc);
/* All that writers have left of a step, and its manifest, moved to lost/. */
int bm_repair_move_step(struct bm_repair *r, uint64_t step);
/* Move a file to lost/, under a name that is free there. */
int bm_repair_move_away(struct bm_repair *r, const char *name);

/* The records of a step's files, of a manifest that is in a file of this name:
 * walk to each. */
struct bm_repair_files {
    struct bm_sheet_walk walk;
    struct bm_repair *r;
    char name[BM_NAME_BYTES];
};
void bm_repair_files_init(struct bm_repair_files *f, struct bm_repair *r,
                          struct bm_manifest *m, const char *name);
/* Go to all of them, one sheet after the other. */
int bm_repair_files_check(struct bm_repair_files *f, struct bm_error *error);
/* Then, go to one of them. A failure is one to look: it was there before. The
 * message is in r->error. */
int bm_repair_files_to(struct bm_repair_files *f, size_t i);

/* What has the name of a file and is none: moved to lost/, and then the file is
 * missing. */
int bm_repair_no_file(struct bm_repair *r, int64_t step, const char *name);

/* A subfile, whose record is there, gets a damaged head back from the other. What is
 * lost of one that was cut, and all data that do not match their checksums, go
 * into 'now'; *whole counts what does. */
int bm_repair_subfile(struct bm_repair *r, struct bouma_step *step, size_t i,
                      struct bm_lost_step *now, uint64_t *whole);

/* A mended copy that a killed repair has left is put where its file was, if
 * that is out of the way already, and removed if it is not. *back is the file of
 * the step that is back by it; bm_manifest_files(): none. */
int bm_repair_mended(struct bm_repair_files *files, size_t *back);

/* ---- the dataset's own file: repair_identity.c --------------------------- */

/* Find the identity; *anew is set if its file is to be written. */
int bm_repair_find_identity(struct bm_repair *r, int *anew);
/* Once the dataset is claimed: it may have been written anew till then, or have
 * made way for another. */
int bm_repair_identity(struct bm_repair *r, int anew);

/* ---- manifests: repair_manifest.c ---------------------------------------- */

/* A step in memory, for the checks; its manifest is filled by the caller. */
void bm_repair_step_init(struct bm_repair *r, struct bouma_step *step);
void bm_repair_step_release(struct bouma_step *step);

/* The bytes of the first head of a file of *bytes, and no more; or of the one
 * that the file ends with. EFORMAT if there is none. */
typedef int bm_repair_load(struct bm_repair *r, struct bm_buffer *b,
                           struct bm_envelope *e, uint64_t *bytes,
                           const char *name, struct bm_error *why);
bm_repair_load bm_repair_load_front;
bm_repair_load bm_repair_load_back;
/* What the head at the front of a subfile says of it. */
struct bm_repair_front {
    uint8_t id[16];
    uint64_t step;
    struct bm_generation generation;
    uint64_t bytes; /* of the file */
};
/* EFORMAT if the head is damaged or not there; any other status is a failure to
 * look. No message is left. */
int bm_repair_peek_head(struct bm_repair *r, const char *name,
                        struct bm_repair_front *out);
/* Load the head of a subfile. With 'schema' it must describe that; else it
 * fills 'own'. Any damage is EFORMAT. */
int bm_repair_load_head(struct bm_repair *r, struct bm_head *head,
                        uint8_t hash[16], const struct bm_schema *schema,
                        struct bm_schema *own, const char *name);

/* The same with 'schema'; the second head if the first one is damaged. For those
 * who know by a checksum what is to come of it. */
int bm_repair_load_any_head(struct bm_repair *r, struct bm_head *head,
                            uint8_t hash[16], const struct bm_schema *schema,
                            const char *name);

/* Publish the manifest that the writer of a step has left unpublished; or one
 * made anew from the subfiles of a generation. EFORMAT if there is no way to
 * one, or the step is not whole. A 'damaged' one that is
 * there is moved to lost/. */
int bm_repair_publish_written(struct bm_repair *r, uint64_t number,
                              struct bm_generation g, int damaged);
int bm_repair_rebuild_manifest(struct bm_repair *r, uint64_t number,
                               struct bm_generation g, int damaged);

/* ---- sheets of a manifest: repair_sheets.c -------------------------------- */

/* Load a manifest whose body is whole, and make sheets that are damaged again
 * from the heads of their files: these are in memory then. *is_whole: its file
 * has all of them now, or would. EFORMAT if the body is not whole, or there are
 * no sheets. */
int bm_repair_sheets(struct bm_repair *r, struct bm_manifest *m,
                     uint64_t number, int *is_whole, struct bm_error *why);

/* ---- a step without a manifest that can be read: repair_unpublished.c ---- */

int bm_repair_unpublished(struct bm_repair *r, uint64_t number, int damaged);

/* ---- what is no file, or no directory: kinds.c --------------------------- */

/* It is moved to lost/, which is made first if a file has its name. */
int bm_repair_kinds(struct bm_repair *r);

/* ---- directories --------------------------------------------------------- */

/* epochs/ is made anew if it is missing. *least is an epoch that no file has in
 * its name, nor a later one. */
int bm_repair_epochs(struct bm_repair *r, uint32_t *least);
/* So is steps/; *is_there tells whether it is there now. */
int bm_repair_steps_dir(struct bm_repair *r, int *is_there);

/* The directory of a step that holds another one is given its own number again
 * or, if that one is there, moved to lost/. Before losses are looked for: such
 * a step is none. */
int bm_repair_strays(struct bm_repair *r);

/* ---- files in the directory of another step: repair_stray_files.c -------- */

/* What is in the directory of a step, whose manifest says 'manifest', perhaps
 * of another step (NULL: none that can be read). */
struct bm_stray_files {
    uint64_t strays; /* subfiles of other steps than the manifest's */
    uint64_t others; /* subfiles of the directory's own step, or that cannot be
                        told */
    uint64_t better; /* subfiles of the manifest's step that are not in its own
                        directory, or damaged there */
};
int bm_repair_count_strays(struct bm_repair *r, uint64_t dir,
                           const struct bm_step_entry *manifest,
                           struct bm_stray_files *out);
/* Move each subfile to the step that its head names; to lost/ if it is there
 * already, or was dropped. */
int bm_repair_return_files(struct bm_repair *r, uint64_t dir,
                           const struct bm_step_entry *manifest);
/* The same with a manifest. If the step's own directory has that of a third
 * step, as if directories were swapped, the manifest waits there under another
 * name, and the step goes into 'waiting'. */
int bm_repair_return_manifest(struct bm_repair *r, uint64_t dir,
                              const struct bm_step_entry *manifest,
                              struct bm_step_list *waiting);
/* When all others are out of their way. */
int bm_repair_return_waiting(struct bm_repair *r,
                             const struct bm_step_list *waiting);
/* The manifest and the subfiles of another dataset go to lost/. */
int bm_repair_foreign(struct bm_repair *r, uint64_t dir);

/* ---- files of an earlier writing: repair_older.c ------------------------- */

/* A step that is whole needs none: a replacement that was killed after its
 * commit has left them. They are removed if they say that they are of this
 * step; else they are moved to lost/. */
int bm_repair_older(struct bm_repair *r, const struct bm_manifest *m);

/* ---- dropped steps: truncations_check.c ---------------------------------- */

/* Load their record; it is moved to lost/ if it is damaged. */
int bm_repair_truncations(struct bm_repair *r);

/* ---- names for readers of IDX: idx_check.c ------------------------------- */

/* Once all steps are mended. */
int bm_repair_idx(struct bm_repair *r);

/* ---- losses -------------------------------------------------------------- */

/* Load those that are known, put on record what is not, and tell them. */
int bm_repair_losses(struct bm_repair *r);
/* A step that the index knows, and of which no manifest can be made. */
int bm_repair_lost_step(struct bm_repair *r, const struct bm_step_entry *entry);
/* A step whose manifest is damaged, and of which no other can be made. */
int bm_repair_lost_manifest(struct bm_repair *r, uint64_t step);
/* Put on record that the attributes are lost of a step whose manifest is made
 * anew: a damage if it was committed, else a note. */
int bm_repair_lost_attributes(struct bm_repair *r, const struct bm_manifest *m,
                              int committed);
/* What was found lost of a step that has a manifest, 'is_all' if all of its
 * files could be looked at: on record, unless it is already. With 'is_left'
 * some of its data can be read. */
int bm_repair_lost_parts(struct bm_repair *r, const struct bm_manifest *m,
                         struct bm_lost_step *now, int is_all, int is_left);

#endif
