/* step_dir.h -- the directory of a step: the files of a step that has many lie
 * in subdirectories of it (see bm_name_subfile()). */
#ifndef BM_STEP_DIR_H
#define BM_STEP_DIR_H

#include "store/store.h"

/* Call 'each' with what is in the directory of a step and in its
 * subdirectories: "0001/d.1024.e7a1", and "0001" behind all that is in that.
 * Else as bm_store_list(). */
int bm_step_dir_list(struct bm_store *s, uint64_t step,
                     int (*each)(void *context, const char *entry),
                     void *context, struct bm_error *error);
/* Remove the subdirectories that are empty, and the directory if it is, too.
 * Best effort. */
void bm_step_dir_remove(struct bm_store *s, uint64_t step);

/* Make the subdirectory that the file 'name' is to lie in, if it is to. */
int bm_step_dir_make_folder(struct bm_store *s, const char *name,
                            struct bm_error *error);
/* Remove it if it is empty. Best effort. */
void bm_step_dir_remove_folder(struct bm_store *s, const char *name);
/* Make the entry of a file in a subdirectory durable. (That of the others is
 * durable with the directory of the step, and that with a commit.) */
int bm_step_dir_sync_folder(struct bm_store *s, const char *name,
                            struct bm_error *error);
/* Create a file, and the subdirectory if it is the first one there. */
int bm_step_dir_create(struct bm_file *f, struct bm_store *s, const char *name,
                       struct bm_error *error);

#endif
