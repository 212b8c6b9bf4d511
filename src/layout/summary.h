/* summary.h -- what a file has of its objects, in short: a list, ascending by
 * object, as it stands in heads and in the manifest. */
#ifndef BM_SUMMARY_H
#define BM_SUMMARY_H

#include "layout/schema.h"
#include "store/store.h"

struct bm_summary_list {
    const bouma_allocator *a;
    struct bm_summary **entries; /* they stay where they are */
    size_t count;
};

void bm_summaries_init(struct bm_summary_list *list, const bouma_allocator *a);
void bm_summaries_release(struct bm_summary_list *list);

/* An empty one of an object that comes after those in the list. BOUMA_OK or
 * ENOMEM. */
int bm_summaries_add(struct bm_summary_list *list,
                     const struct bm_object *object);
/* That of an object, by its number, or NULL. */
struct bm_summary *bm_summaries_find(const struct bm_summary_list *list,
                                     uint32_t object);

/* Into an empty list. BOUMA_OK or ENOMEM. */
int bm_summaries_copy(struct bm_summary_list *out,
                      const struct bm_summary_list *list);
void bm_summaries_encode(struct bm_buffer *b,
                         const struct bm_summary_list *list);
/* Into an empty list. BOUMA_OK, ENOMEM or EFORMAT. */
int bm_summaries_decode(struct bm_summary_list *list,
                        const struct bm_schema *schema, struct bm_cursor *c);

/* Whether they can be those of a file with these variables. */
int bm_summaries_fit(const struct bm_summary_list *list,
                     const struct bm_contents *c);
/* Whether two lists say the same: *same. BOUMA_OK or ENOMEM. */
int bm_summaries_compare(int *same, const struct bm_summary_list *left,
                         const struct bm_summary_list *right);

/* The checksum of an object's index in a file of a step. */
struct bm_step_address {
    const uint8_t *id; /* [16], of the dataset */
    uint64_t step;
    struct bm_generation generation;
};
uint32_t bm_summary_hash_index(const struct bm_summary *s,
                               const struct bm_step_address *step,
                               const void *data, size_t bytes);

#endif
