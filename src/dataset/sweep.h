/* sweep.h -- files that nobody needs any more: those of a step that was written
 * again, or is to go. Whoever calls this has claimed the dataset. */
#ifndef BM_SWEEP_H
#define BM_SWEEP_H

#include "dataset/dataset.h"

/* Remove the files in the directory of a step that were written before 'kept',
 * as far as that can be done: an earlier version, or what a killed writer left
 * of one. Of a step that was extended, that is its oldest writing. */
void bm_sweep_older(struct bm_store *s, uint64_t step,
                    struct bm_generation kept);
/* Remove what killed writers left between the writings of a step that was
 * extended, 'm': files that it does not name. None of them was ever committed:
 * a replacement that was would be its oldest writing. */
void bm_sweep_between(struct bm_store *s, const struct bm_manifest *m);
/* How many earlier files there are beside those that the manifest names. */
uint64_t bm_sweep_count(struct bm_store *s, const struct bm_manifest *m);

/* Directories of steps that are removed with all that is in them, and are none
 * of the dataset's any more. */
struct bm_sweep {
    double until; /* a bm_clock(): then it pauses; INFINITY: it does not */
    int paused;   /* and is to be called again with the same step */
    /* Of directories that had to stay: */
    uint64_t left;
    char ours[BM_NAME_BYTES * 2];    /* a file that could not be removed */
    char foreign[BM_NAME_BYTES * 2]; /* one that is not the dataset's */
};

/* Whether an entry in the directory of a step is part of a dataset. */
int bm_sweep_is_ours(const char *entry);

/* Remove the files of the dataset in the directory of a step, and the directory
 * if nothing else is in it; if there is, it stays, durably without them. It may
 * be gone already. */
int bm_sweep_dir(struct bm_sweep *w, struct bm_store *s, uint64_t step,
                 struct bm_error *error);

/* The same with a step of which the index knows nothing. First its manifest,
 * durably: so it is there whole or not at all, whatever happens. */
int bm_sweep_step(struct bm_sweep *w, struct bm_store *s, uint64_t step,
                  struct bm_error *error);

/* What is to be told of directories that had to stay, as a note; "" if there
 * are none. */
#define BM_SWEEP_NOTE 1200
const char *bm_sweep_note(char text[BM_SWEEP_NOTE], const struct bm_sweep *w,
                          const struct bm_store *s);

/* The same, told by bouma_dataset_note(). */
int bm_sweep_tell(struct bouma_dataset *ds, const struct bm_sweep *w,
                  const struct bm_store *s);

/* Remove the older files of steps that were replaced on this rank's storage;
 * but not while a rank has an older version open. Collective. */
int bm_sweep_replaced(struct bouma_dataset *ds);
/* The same when nobody reads any more. */
void bm_sweep_all_replaced(struct bm_step_list *replaced, struct bm_store *s);

#endif
