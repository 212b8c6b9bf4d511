/* losses.h -- what was committed and is gone stays on record.
 *
 * The index knows a step whose directory is not there any more: that is a loss.
 * As the index is a cache, which is written anew now and then, the loss is put
 * on record first: in a file lost/00000042.loss, for a whole step, or for files
 * that were cut and pieces of files that are damaged. The record stays until
 * somebody forgets it, or the step is written again, durably. For rank 0. */
#ifndef BM_LOSSES_H
#define BM_LOSSES_H

#include "store/envelope.h"
#include "store/index.h"

/* A file of which less is left than was written. */
struct bm_lost_file {
    uint32_t subfile;
    uint64_t bytes; /* that are left, 0 if it is gone */
};

/* What has a checksum of its own, and does not match it: a level of a chunk, or
 * a tree over particles. The offset tells which one. */
struct bm_lost_piece {
    uint32_t subfile;
    uint64_t offset; /* 0: both heads, and so the whole file */
};

/* Instead of a subfile: the manifest was made anew, without the attributes
 * of the step and of the dataset. */
#define BM_LOST_ATTRIBUTES UINT32_MAX

struct bm_lost_step {
    struct bm_step_entry entry; /* as it was committed; epoch 0: not known */
    int64_t recorded;           /* seconds since 1970; 0: not on record yet,
                                   below 0: what the record says is not known */
    int unreadable;             /* the record may be sound, but not for us: the
                                   device fails, the version is newer, or the
                                   memory limit too low */
    int accepted;               /* forgotten, but for the note in verify */
    struct bm_lost_file *files; /* [count], ascending */
    uint32_t count;
    struct bm_lost_piece *pieces; /* [piece_count], ascending */
    uint32_t piece_count;
};

struct bm_loss_list {
    const bouma_allocator *a;
    struct bm_lost_step *steps; /* [count], ascending */
    size_t count, capacity;
};

void bm_losses_init(struct bm_loss_list *list, const bouma_allocator *a);
void bm_losses_release(struct bm_loss_list *list);
struct bm_lost_step *bm_losses_find(const struct bm_loss_list *list,
                                    uint64_t step);
/* A loss that is not on record, of the whole step, behind all others; NULL
 * without memory. No step may be there twice, and bm_losses_find() must wait
 * for bm_losses_sort(). */
struct bm_lost_step *bm_losses_append(struct bm_loss_list *list,
                                      const struct bm_step_entry *entry);
void bm_losses_sort(struct bm_loss_list *list);

void bm_lost_step_release(struct bm_lost_step *lost, const bouma_allocator *a);
/* Whether there is a record, which is damaged: what it says is gone for good.
 */
int bm_lost_step_is_vague(const struct bm_lost_step *lost);
/* Whether the whole step is lost, and not parts of it. */
int bm_lost_step_is_whole(const struct bm_lost_step *lost);
/* One more file, behind all others. BOUMA_OK or ENOMEM. */
int bm_lost_step_add(struct bm_lost_step *lost, uint32_t subfile,
                     uint64_t bytes, const bouma_allocator *a);
const struct bm_lost_file *bm_lost_step_file(const struct bm_lost_step *lost,
                                             uint32_t subfile);
/* One more piece; to be sorted before any is asked for. */
int bm_lost_step_add_piece(struct bm_lost_step *lost, uint32_t subfile,
                           uint64_t offset, const bouma_allocator *a);
void bm_lost_step_sort(struct bm_lost_step *lost);
int bm_lost_step_has_piece(const struct bm_lost_step *lost, uint32_t subfile,
                           uint64_t offset);
/* How many files have lost something. */
uint32_t bm_lost_step_files(const struct bm_lost_step *lost);
/* Whether 'all' has everything that 'some' has. */
int bm_lost_step_covers(const struct bm_lost_step *all,
                        const struct bm_lost_step *some);

/* The records of a dataset, into an empty list. One that is damaged stands for
 * the step in its name. */
int bm_losses_load(struct bm_store *s, const uint8_t id[16],
                   struct bm_loss_list *list, struct bm_error *error);
/* Put a loss on record, durably; 'recorded' is set if it is 0. */
int bm_losses_save(struct bm_store *s, const uint8_t id[16],
                   struct bm_lost_step *lost, struct bm_error *error);
/* Remove a record, durably. */
int bm_losses_remove(struct bm_store *s, uint64_t step, struct bm_error *error);

/* "recorded 2026-11-16", or "not on record". */
#define BM_LOSS_DATE 40
const char *bm_loss_date(char text[BM_LOSS_DATE],
                         const struct bm_lost_step *lost);

void bm_loss_encode(struct bm_buffer *b, const struct bm_lost_step *lost,
                    const uint8_t id[16]);
/* Into a zeroed one, which is the caller's to release. */
int bm_loss_decode_record(struct bm_lost_step *lost, const bouma_allocator *a,
                          const struct bm_metadata *in, struct bm_error *error);

/* Remove the records of all steps beyond 'last' (-1: of all), durably. */
int bm_losses_truncate(struct bm_store *s, int64_t last,
                       struct bm_error *error);

void bm_name_loss(char name[BM_NAME_BYTES], uint64_t step);
/* Whether an entry of lost/ is a record, and of which step. */
int bm_name_parse_loss(const char *entry, uint64_t *step);

#endif
