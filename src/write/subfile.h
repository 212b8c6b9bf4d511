/* subfile.h -- a subfile while its aggregator writes it. */
#ifndef BM_SUBFILE_H
#define BM_SUBFILE_H

#include "plan/assign.h"
#include "store/file_batch.h"
#include "write/write_plan.h"

struct bm_subfile {
    struct bm_file file;
    struct bm_head head;
    size_t assigned; /* its number in the assignment */
    size_t chunks;
    struct bm_subfile_slot {
        uint32_t section;
        uint32_t index;
    } * slots;              /* [chunks], in the order of the step */
    struct bm_loss *losses; /* [chunks] */
    /* Where the next bytes of each level go, if the file has stored offsets.
     * Room 0 is the last one, has no end, and takes what does not fit
     * elsewhere. */
    struct bm_room {
        uint64_t at, end;
    } * rooms; /* [BM_MAX_LEVELS], else NULL */
    /* Once sealed: the head, and zeros up to the data; and what stands before
     * it (see front.h). */
    struct bm_buffer front, foreign;
};

/* Subfile 'number' of 'subfiles' of a step. A zeroed one can be released. */
void bm_subfile_init(struct bm_subfile *f, const struct bouma_dataset *ds,
                     const struct bm_step_entry *entry, uint32_t number,
                     uint32_t subfiles);
/* Make the file and its table, still without sizes: 'file' of the assignment,
 * whose number in the step may be another. */
int bm_subfile_make(struct bm_subfile *f, struct bouma_dataset *ds,
                    const struct bm_write_plan *plan,
                    const struct bm_assignment *files, size_t file);
void bm_subfile_release(struct bm_subfile *f);

/* Enter the record of chunk 't' of this file (see shape.h) into the table. */
void bm_subfile_enter(struct bm_subfile *f, size_t t, const uint8_t *record,
                      int sizes);

/* Where sizes are known without a record: those of the samples. */
void bm_subfile_assume_sizes(struct bm_subfile *f);

/* With all sizes there, find where everything goes. */
int bm_subfile_arrange(struct bm_subfile *f, struct bouma_dataset *ds);

/* Instead, before any size is known: a file with stored offsets, and rooms for
 * levels. 'expected' is a guess at the bytes of its chunks, and
 * share[BM_MAX_LEVELS] at what each level has of them; NULL: as of the samples.
 */
int bm_subfile_make_rooms(struct bm_subfile *f, struct bouma_dataset *ds,
                          uint64_t expected, const uint64_t *share);
/* Once the record of chunk 't' is there: find where its level 'k' goes. The
 * room that it comes from. */
int bm_subfile_reserve(struct bm_subfile *f, size_t t, int k);
/* With room for all chunks reserved, the head follows. */
int bm_subfile_finish_head(struct bm_subfile *f, struct bouma_dataset *ds);

/* Add up the bytes of all chunks by level, into bytes[BM_MAX_LEVELS]; gives
 * their sum. */
uint64_t bm_subfile_levels(const struct bm_subfile *f, uint64_t *bytes);

/* The bytes of all levels of chunk 't'. */
uint64_t bm_subfile_chunk_bytes(const struct bm_subfile *f, size_t t);

/* Write 'bytes' bytes of chunk 't', its levels coarse to fine, from byte 'from'
 * on. They are written once the batch is flushed. */
int bm_subfile_write(struct bm_subfile *f, struct bm_file_batch *batch,
                     size_t t, uint64_t from, const uint8_t *data,
                     uint64_t bytes, struct bm_error *error);

/* All chunks are known: make the head's bytes. The hash is that of the head. */
int bm_subfile_seal(struct bm_subfile *f, struct bouma_dataset *ds,
                    uint8_t hash[16]);

/* Write the head, twice, and sync ('sync') and close the file, unless it is to
 * be held open ('hold'). May be done by another thread. */
int bm_subfile_finish(struct bm_subfile *f, int sync, int hold,
                      struct bm_error *error);

#endif
