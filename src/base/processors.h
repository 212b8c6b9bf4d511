/* processors.h -- how many processors there are for this process, and for its
 * threads. */
#ifndef BM_PROCESSORS_H
#define BM_PROCESSORS_H

/* Those of this node that are switched on, and of these the ones that this
 * process may use; at least 1. */
struct bm_processors {
    int all, allowed;
};

struct bm_processors bm_processors_find(void);

/* How many threads a rank can keep busy on a node that it shares with others:
 * 'ranks' in all. Ranks that are bound to processors of their own use these;
 * others share all. At least 1, and at most BM_USUAL_THREADS. */
#define BM_USUAL_THREADS 8
int bm_processors_share(struct bm_processors p, int ranks);

#endif
