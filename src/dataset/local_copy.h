/* local_copy.h -- a dataset that is written with 'persist' has a local copy on
 * the storage of each node: LOCAL/<the last part of its path>, a dataset of the
 * same id. The ranks of a node write there; what they have written is drained
 * to the path (drain.h).
 *
 * All stores are claimed under one epoch, later than any that one of them has
 * seen, so names are never used twice in any of them. Which ranks share a local
 * copy nobody is told: it is known by who made the directory of the epoch in
 * it. That rank also keeps its manifests. */
#ifndef BM_LOCAL_COPY_H
#define BM_LOCAL_COPY_H

#include "dataset/dataset.h"

/* The path of the local copy; EINVAL if the options or the path do not allow
 * one. */
int bm_local_copy_path(char *out, size_t bytes, const char *local,
                       const char *path, struct bm_error *error);

/* Open a store, and make its directory if it is missing. The store is to be
 * closed in any case. */
int bm_store_open_or_make(struct bm_store *s, const bouma_io *io,
                          const bouma_allocator *a, const char *path,
                          struct bm_error *error);
/* See that it has the dataset 'id', and make that if nothing is there. EEXISTS
 * if there is something else, which is left as it is; without a message, if
 * that is another dataset. With 'anyway' other files do no harm: they are what
 * a dataset that made way has left. */
int bm_identity_ensure(struct bm_store *s, const uint8_t id[16], int anyway,
                       struct bm_error *error);

/* Before a dataset is created or opened to append: whether a local copy can be;
 * and the least epoch that nobody has used. Collective. */
int bm_local_copy_look(struct bouma_dataset *ds, const char *path,
                       uint32_t *least);

/* With the store open and the epoch claimed, or known from rank 0 who claimed
 * it: ds->store becomes the second store, and the local copy, made if it is
 * missing, the first. Rank 0 first, then the others. */
int bm_local_copy_enter(struct bouma_dataset *ds);

/* Marks of a local copy, files with the id of the dataset: that it is one; and
 * that it is not the only one, and has just some of the subfiles. To make them
 * is best effort. */
#define BM_NAME_LOCAL BM_NAME_DATASET_NEW "local"
#define BM_NAME_PART  BM_NAME_DATASET_NEW "part"
void bm_local_copy_mark(struct bm_store *s, const char *mark,
                        const uint8_t id[16]);
int bm_local_copy_is_marked(struct bm_store *s, const char *mark,
                            const uint8_t id[16]);

/* Before reading: the local copy as the second store, if there is one. */
int bm_local_copy_find(struct bouma_dataset *ds);

#endif
