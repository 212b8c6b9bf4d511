/* gathering.h -- who sends how many bytes to which file. */
#ifndef BM_GATHERING_H
#define BM_GATHERING_H

#include "plan/assign.h"

/* The group of file f, ascending: rank[first[f]] ... rank[first[f + 1] - 1]. */
struct bm_gathering {
    const bouma_allocator *a;
    int64_t files;
    int ranks;       /* all there are */
    size_t *first;   /* [files + 1] */
    int *rank;       /* [first[files]] */
    uint64_t *bytes; /* [first[files]], what the rank sends; not 0 */
    int *series;     /* [files], whose file it is: see place_local.h; NULL: all
                        are of one */
};

/* Make one file by file: bm_gatherer_add() what a rank sends to the file, then
 * bm_gatherer_end_file(). */
struct bm_gatherer {
    struct bm_gathering *out;
    uint64_t *sum; /* [ranks] */
    int *list;     /* [ranks], of the file */
    size_t count;
    size_t room; /* that out->rank and out->bytes have */
    int64_t file;
};

/* BOUMA_OK or ENOMEM, all. After a failure too, both the gatherer and the
 * gathering are released. */
int bm_gatherer_init(struct bm_gatherer *g, struct bm_gathering *out,
                     const bouma_allocator *a, int64_t files, int ranks);
int bm_gatherer_end_file(struct bm_gatherer *g);
void bm_gatherer_release(struct bm_gatherer *g);

static inline void bm_gatherer_add(struct bm_gatherer *g, int rank,
                                   uint64_t bytes)
{
    if (!g->sum[rank] && bytes)
        g->list[g->count++] = rank;
    g->sum[rank] += bytes;
}

/* From chunks in files. BOUMA_OK or ENOMEM. Released after a failure too. */
int bm_gathering_of_chunks(struct bm_gathering *out, const bouma_allocator *a,
                           const struct bm_chunk_sizes *sizes,
                           const struct bm_assignment *files, int ranks);
void bm_gathering_release(struct bm_gathering *gathering);

#endif
