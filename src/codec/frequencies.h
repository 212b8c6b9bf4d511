/* frequencies.h -- how often each symbol occurs in each context, for the range
 * coder of entropy.h: which contexts share a table, and tables in few bits. */
#ifndef BM_FREQUENCIES_H
#define BM_FREQUENCIES_H

#include "codec/entropy.h"

#define BM_RANS_BITS  12
#define BM_RANS_TOTAL (1 << BM_RANS_BITS)

struct bm_frequencies {
    int tables;
    uint8_t table[BM_RANS_CONTEXTS]; /* of each context */
    uint32_t of[BM_RANS_TABLES]
               [BM_SYMBOLS]; /* those of a table: TOTAL in all */
};

/* Contexts are in an order in which neighbours are alike: as many of them share
 * a table as makes the whole short. Of symbols that were counted, of which there
 * are less than 2^31; appended are bits. The counts are changed. */
void bm_frequencies_put(struct bm_frequencies *f, struct bm_bit_writer *w,
                        uint32_t (*counts)[BM_SYMBOLS], int contexts);
/* About how many bits one table takes together with its symbols. */
uint64_t bm_frequencies_cost(const uint32_t *counts);
/* Back; 0 if there are no such tables. */
int bm_frequencies_get(struct bm_frequencies *f, struct bm_bit_reader *r,
                       int contexts);

#endif
