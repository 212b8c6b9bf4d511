/* restart_boxes.h -- what the boxes of a restart say, by looking at nothing but
 * the summaries of files. */
#ifndef BM_RESTART_BOXES_H
#define BM_RESTART_BOXES_H

#include "read/read.h"

/* What one rank wants. */
struct bm_wish {
    int boxed;
    double low[3], high[3];
    unsigned closed;
    int said; /* by the caller which faces are */
};

/* What all ranks want. */
struct bm_wishes {
    const struct bm_object *set;
    const struct bm_top *top;
    struct bm_wish *all; /* [ranks] */
    int ranks;
    int shares; /* no boxes: equal shares */
};

/* A box that ends at the far face of all particles includes it, unless another
 * rank's box goes on behind it there, which then has it. A box without width
 * has nothing, but where all particles are in one plane. */
void bm_wishes_close_faces(struct bm_wishes *r);

/* Whether a rank's box can have particles of a file. */
int bm_wishes_meet(const struct bm_wishes *r, const struct bm_wish *w,
                   const struct bm_cloud *c);

/* The box around all that ranks want of a file; 0 if they leave out much of it,
 * so that reading all that is in it would be a waste. */
int bm_wishes_box(const struct bm_wishes *r, const struct bm_cloud *c,
                  struct bm_wish *out);

/* How many particles a rank will get, as far as boxes tell; 0 where conditions
 * decide. */
uint64_t bm_wishes_expect(const struct bm_wishes *r, int rank,
                          const bouma_particles_query *q);

#endif
