/* domain.h -- who writes which part of a plain file that many ranks have
 * segments of.
 *
 * The bytes that any rank has are cut into cells, each no larger than a buffer.
 * Where nothing is missing in the file they end at multiples of it; or, if the
 * storage has no use for that, where what one gatherer's ranks have begins or
 * ends, so that it need not move. A cell goes to one gatherer: that of the
 * ranks which have most of it; unless this one has more than its share, then to
 * another. A gatherer's cells, one after the other, are its stream, and
 * its rounds. */
#ifndef BM_DOMAIN_H
#define BM_DOMAIN_H

#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"

/* What rank 'rank' has: its segment number 'tag'. */
struct bm_segment {
    uint64_t offset, bytes;
    int rank;
    uint32_t tag;
};

/* Bytes of the file that somebody has, and how many of these lie before. */
struct bm_covered {
    uint64_t offset, bytes, before;
};

struct bm_cell {
    uint64_t before, bytes; /* among the covered bytes */
    uint64_t at;            /* in its gatherer's stream */
    int gatherer;
};

struct bm_domain {
    const bouma_allocator *a;
    struct bm_segment *segments; /* ascending by offset; without empty ones */
    size_t segment_count;
    struct bm_covered *covered; /* ascending, apart from each other */
    size_t covered_count;
    struct bm_cell *cells; /* ascending */
    size_t cell_count;
    size_t *first; /* [ranks + 1]; in: */
    size_t *order; /* the cells of each gatherer, ascending */
    uint64_t bytes;
};

struct bm_domain_rule {
    uint64_t buffer; /* most bytes of a cell */
    uint64_t grain;  /* cells end at multiples of this, near the ends of
                        segments that are several times as long; 0: at
                        multiples of the buffer */
    double share;    /* of the mean, that a gatherer may have */
    int ranks;
    const int *gatherer; /* [ranks], who gathers what a rank has, as long as
                            that is no more than its share */
};

/* The segments are copied. BOUMA_OK, ENOMEM, EINVAL if a segment reaches beyond
 * 2^63, or ELIMIT if there would be too many cells. */
int bm_domain_init(struct bm_domain *d, const bouma_allocator *a,
                   const struct bm_segment *segments, size_t count,
                   const struct bm_domain_rule *rule);
void bm_domain_release(struct bm_domain *d);

/* The bytes that are declared but not gathered by the rank that has them. */
uint64_t bm_domain_moved(const struct bm_domain *d);

/* Call 'each' with every stretch of segment 's' (a number in d->segments) that
 * lies in one cell: from byte 'from' of the segment on. It returns 0 to go on.
 */
struct bm_domain_stretch {
    size_t segment, cell;
    uint64_t from, bytes;
    uint64_t at; /* in the stream of the cell's gatherer */
};
int bm_domain_walk(const struct bm_domain *d, size_t s,
                   int (*each)(void *context,
                               const struct bm_domain_stretch *stretch),
                   void *context);

/* Where in the file a byte of a gatherer's stream is, and how many that follow
 * it there follow it in the stream, too. */
uint64_t bm_domain_offset(const struct bm_domain *d, int gatherer, uint64_t at,
                          uint64_t *run);

#endif
