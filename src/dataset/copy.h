/* copy.h -- subfiles from one store of a dataset to another, every byte checked
 * on its way: what does not match its checksums does not arrive. */
#ifndef BM_COPY_H
#define BM_COPY_H

#include <stdatomic.h>

#include "layout/head.h"
#include "layout/manifest.h"
#include "store/store.h"

struct bm_copier {
    struct bm_store *from, *to;
    uint8_t id[16]; /* of the dataset, in both stores */
    struct bm_buffer piece;
    atomic_int *stop; /* may be NULL; 1: give up, with EABORTED */
    uint64_t bytes;   /* copied so far */
    /* Told of bytes as they are copied; may be NULL. */
    void (*told)(void *user, uint64_t bytes);
    void *user;
};

void bm_copier_init(struct bm_copier *c, struct bm_store *from,
                    struct bm_store *to, const uint8_t id[16],
                    const bouma_allocator *a);
void bm_copier_release(struct bm_copier *c); /* also a zeroed one */

/* Copy a subfile of a step and make it durable (but not yet its name), under a
 * name of its own until all of it is there. 'info' (may be NULL) is what the
 * manifest says of it. One that is there already, whole, every byte checked, is
 * left as it is, so what was interrupted goes on where it was; one whose data
 * are damaged there is replaced. The step's directory is made if it
 * is missing, and removed again if nothing came to it. */
int bm_copy_subfile(struct bm_copier *c, uint64_t step,
                    struct bm_generation generation, uint32_t subfile,
                    const struct bm_subfile_info *info, struct bm_error *error);

/* 1 if the file is there, one of all of the step's, with the size and the heads
 * that the manifest says; 0 if it is not, or another. */
int bm_subfile_is_there(struct bm_store *s, const struct bm_manifest *m,
                        uint32_t file);

/* Remove what copiers of this generation that were killed have left. */
void bm_copies_remove(struct bm_store *s, uint64_t step,
                      struct bm_generation generation);

#endif
