/* subfile.h -- a subfile while its aggregator writes it. */
#ifndef BM_SUBFILE_H
#define BM_SUBFILE_H

#include "plan/assign.h"
#include "write/write_plan.h"

struct bm_subfile {
    struct bm_file file;
    struct bm_head head;
    size_t chunks;
    struct bm_subfile_slot {
        uint32_t section;
        uint32_t place;
    } * slots;              /* [chunks], in the order of the step */
    struct bm_loss *losses; /* [chunks] */
    struct bm_buffer
        front; /* the head, and zeros up to the data; once sealed */
};

/* Make the file and its table, still without sizes; 'subfiles' is the number of
 * all. A zeroed one can be released. */
int bm_subfile_init(struct bm_subfile *f, struct bouma_dataset *ds,
                    const struct bm_write_plan *plan,
                    const struct bm_assignment *files, uint32_t number,
                    uint32_t subfiles, struct bm_generation generation);
void bm_subfile_release(struct bm_subfile *f);

/* Enter the record of chunk 't' of this file (see shape.h) into the table. */
void bm_subfile_note(struct bm_subfile *f, size_t t, const uint8_t *record);

/* Where sizes are known without a record: those of the samples. */
void bm_subfile_assume_sizes(struct bm_subfile *f);

/* With all sizes there, find where everything goes. */
int bm_subfile_arrange(struct bm_subfile *f, struct bouma_dataset *ds);

/* The bytes of all levels of chunk 't'. */
uint64_t bm_subfile_chunk_bytes(const struct bm_subfile *f, size_t t);

/* Write 'bytes' bytes of chunk 't', its levels coarse to fine, from byte 'from'
 * on. */
int bm_subfile_write(struct bm_subfile *f, size_t t, uint64_t from,
                     const uint8_t *data, uint64_t bytes,
                     struct bm_error *error);

/* All chunks are known: make the head's bytes. The hash is that of the head. */
int bm_subfile_seal(struct bm_subfile *f, struct bouma_dataset *ds,
                    uint8_t hash[16]);

/* Write the head, twice, and sync ('sync') and close the file, unless it is to
 * be held open ('hold'). May be done by another thread. */
int bm_subfile_finish(struct bm_subfile *f, int sync, int hold,
                      struct bm_error *error);

#endif
