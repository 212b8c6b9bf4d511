/* idx_dataset.h -- an IDX dataset and its files: samples of a box, put together
 * from the blocks that have some.
 *
 * Samples of blocks that were never written are filled with the field's default
 * value. Blocks that should be there and cannot be read (their file is missing or
 * cut off, their header or their bytes are wrong) are filled, too, but counted
 * apart, and the first of them is told. */
#ifndef IDX_DATASET_H
#define IDX_DATASET_H

#include "context.h"
#include "read_idx.h"

struct idx_dataset {
    const char *path; /* of the header; must outlive this */
    struct idx_header header;
};

/* How many samples were looked for, and what became of them. */
struct idx_tally {
    bool fill; /* told by the caller: go on, however many are lost */
    uint64_t samples;
    uint64_t absent;  /* in a block that was never written */
    uint64_t lost;    /* in one that cannot be read */
    bool stopped;     /* so many were lost that the rest was not looked for */
    char first[1024]; /* the file that has the first of these, and why */
};

/* A box of a field in a timestep. */
struct idx_part {
    size_t field;
    int64_t step;
    bouma_box box; /* in coordinates of the dataset */
};

/* Look at the headers of all blocks that the part needs; add to *tally. */
void idx_dataset_survey(const struct idx_dataset *dataset,
                        const struct idx_part *part, struct idx_tally *tally);

/* Load them into 'data', a dense array, x fastest, as they are stored: of the
 * byte order of the files. */
int idx_dataset_load(const struct idx_dataset *dataset, struct context *ctx,
                     const struct idx_part *part, uint8_t *data,
                     struct idx_tally *tally);

#endif
