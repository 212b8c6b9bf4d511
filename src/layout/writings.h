/* writings.h -- a step that was extended: variables, grids or sets of particles
 * were added to it when it was committed already. Its manifest is that of the
 * last writing, and has those of the earlier ones, as they were, behind its own
 * facts. Each writing has its own generation, schema and subfiles, and none
 * knows of later ones.
 *
 * Files of the step are numbered through, those of the oldest writing first, so
 * that numbers stay as they are when a step is extended. */
#ifndef BM_WRITINGS_H
#define BM_WRITINGS_H

#include "layout/manifest.h"

#define BM_MAX_EARLIER 64

/* One of the writings before the last. */
struct bm_writing {
    struct bm_schema schema;
    struct bm_manifest manifest;
};

/* NULL if there is no memory. */
struct bm_writing *bm_writing_new(const bouma_allocator *a,
                                  struct bm_error *error);
void bm_writing_free(struct bm_writing *w); /* accepts NULL */

/* Room for so many, of which none is there. BOUMA_OK, ENOMEM or EFORMAT. */
int bm_writings_reserve(struct bm_manifest *m, size_t count);
void bm_writings_release(struct bm_manifest *m);
/* With all of them there, and totals made: fill in what follows from them.
 * EFORMAT if they cannot be those of one step. */
int bm_writings_join(struct bm_manifest *m);
/* Make the manifest that a step has the last writing before 'm', which is taken
 * over with all that were before it. ENOMEM, and nothing has changed; or as
 * above. */
int bm_writings_extend(struct bm_manifest *m, struct bm_writing *before);

/* Why a writing cannot be added to another one: a status, with a message that
 * says 'step N has', for a caller who adds it. Both have totals. */
int bm_writings_conflict(const struct bm_manifest *before,
                         const struct bm_manifest *added,
                         struct bm_error *error);

/* How many writings a step has, and the i-th of them, the oldest first. */
size_t bm_manifest_writings(const struct bm_manifest *m);
const struct bm_manifest *bm_manifest_writing(const struct bm_manifest *m,
                                              size_t i);
/* The generation by which the step was committed that 'm' is a writing of. */
struct bm_generation bm_manifest_committed(const struct bm_manifest *m);

/* The files of all writings: their number; and of file i, the writing that has
 * it, and its number there. */
size_t bm_manifest_files(const struct bm_manifest *m);
const struct bm_manifest *bm_manifest_with_file(const struct bm_manifest *m,
                                                size_t i, size_t *number);
const struct bm_subfile_info *bm_manifest_file(const struct bm_manifest *m,
                                               size_t i);
/* Whether its record is there: that of a sheet may not be loaded. */
int bm_manifest_has_file(const struct bm_manifest *m, size_t i);
void bm_manifest_file_name(char name[BM_NAME_BYTES],
                           const struct bm_manifest *m, size_t i);
/* Whether a file with this name is one of the step's. */
int bm_manifest_names(const struct bm_manifest *m, uint32_t subfile,
                      struct bm_generation g);

/* And its number among them. */
size_t bm_manifest_number(const struct bm_manifest *m, uint32_t subfile,
                          struct bm_generation g);

/* Whether a step has data of an object. */
int bm_object_has_data(const struct bm_object *o);

#endif
