/* restart_boxes.h -- what the boxes of a restart say, by looking at nothing but
 * the summaries of files, or of the sheets that they are in. */
#ifndef BM_RESTART_BOXES_H
#define BM_RESTART_BOXES_H

#include "read/read.h"

/* What one rank wants. */
struct bm_request {
    int boxed;
    double low[3], high[3];
    unsigned closed;
    int said; /* by the caller which faces are */
};

/* What all ranks want. */
struct bm_requests {
    const struct bm_object *set;
    const struct bm_file_tree *tree;
    struct bm_request *all; /* [ranks] */
    int ranks;
    int shares; /* no boxes: equal shares */
    int *meet;  /* [ranks], of which 'meet_count' are those that can have
                   particles of the file at hand, ascending */
    size_t meet_count;
};

/* A box that ends at the far face of all particles includes it, unless another
 * rank's box goes on behind it there, which then has it. A box without width
 * has nothing, but where all particles are in one plane. */
void bm_requests_close_faces(struct bm_requests *r);

/* Whether a rank's box can have particles of a file. */
int bm_requests_meet(const struct bm_requests *r, const struct bm_request *w,
                     const struct bm_particle_summary *c);

/* List the ranks that can have particles of a file: its slots [from, to), of
 * the slots of all files one after the other, if they have equal shares. */
void bm_requests_list(struct bm_requests *r,
                      const struct bm_particle_summary *c, uint64_t from,
                      uint64_t to);

/* The box around all that the listed ranks want of a file; 0 if they leave out
 * much of it, so that reading all that is in it would be a waste. */
int bm_requests_box(const struct bm_requests *r,
                    const struct bm_particle_summary *c,
                    struct bm_request *out);

/* How many particles a rank will get, as far as boxes tell; 0 where conditions
 * decide. */
uint64_t bm_requests_expect(const struct bm_requests *r, int rank,
                            const struct bm_criteria *q);

#endif
