/* concern.h -- which files of a step a rank has to do with: those that it
 * writes, those for which it has chunks, and, as what goes to a writer is one
 * stream, all others of the same writers. Found by search: what it takes
 * depends on this rank's chunks and on what is found, and not on how many ranks
 * and files there are. */
#ifndef BM_CONCERN_H
#define BM_CONCERN_H

#include "plan/assign.h"

/* Files in the order of their writers, for what follows. */
struct bm_writers {
    const struct bm_assignment *files;
    /* [files]; NULL: they are in this order. */
    uint32_t *order;
};
/* Once writers are known. ENOMEM. */
int bm_writers_init(struct bm_writers *out, const struct bm_assignment *files);
void bm_writers_release(struct bm_writers *w); /* a zeroed one, too */
/* The files of a writer are those from *begin on up to *end in that order. */
void bm_writers_find(const struct bm_writers *w, int writer, size_t *begin,
                     size_t *end);
static inline uint32_t bm_writers_file(const struct bm_writers *w, size_t i)
{
    return w->order ? w->order[i] : (uint32_t)i;
}

struct bm_concern {
    uint32_t file;
    int own; /* this rank writes it, or has chunks for it */
};
struct bm_concerns {
    const bouma_allocator *a;
    struct bm_concern *each; /* [count], ascending */
    size_t count;
    size_t steps; /* entries of lists that were looked at */
};
/* Of 'rank', which has the chunks mine[count]. ENOMEM. */
int bm_concerns_init(struct bm_concerns *out, const struct bm_writers *w,
                     int rank, const size_t *mine, size_t count);
void bm_concerns_release(struct bm_concerns *c); /* a zeroed one, too */

#endif
