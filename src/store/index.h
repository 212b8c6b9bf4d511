/* index.h -- the committed steps of a dataset.
 *
 * The truth is in the directories: a step is there if it has a manifest. The
 * file `index` is a cache of it, appended to at each commit, that spares a
 * reader to open every manifest. For rank 0.
 *
 * What it says of a step is true of the step's manifest, if that can be read,
 * in whatever state a power loss leaves the two: before a manifest replaces
 * another, or one that the index knows, the index forgets the step
 * durably; and it learns of it again when the new one is durable. Only of a
 * step that is new may it learn earlier: it has just one manifest. */
#ifndef BM_INDEX_H
#define BM_INDEX_H

#include "store/store.h"

#define BM_INDEX_RECORD 48

struct bm_step_entry {
    uint64_t step;
    double time;
    struct bm_generation generation;
};

struct bm_step_list {
    const bouma_allocator *a;
    struct bm_step_entry *entries; /* ascending by step */
    size_t count, capacity;
    uint64_t changes; /* counts what was done to entries */
};

void bm_step_list_init(struct bm_step_list *list, const bouma_allocator *a);
void bm_step_list_release(struct bm_step_list *list);
/* Room for 'more' entries, so that putting them cannot fail. */
int bm_step_list_reserve(struct bm_step_list *list, size_t more);
/* Insert or replace. BOUMA_OK or ENOMEM. Cheap at the end of the list only:
 * many that come in any order are added, and then sorted. */
int bm_step_list_put(struct bm_step_list *list, struct bm_step_entry entry);
/* Append, wherever it belongs; nothing else may be done with the list before it
 * is sorted. BOUMA_OK or ENOMEM. */
int bm_step_list_add(struct bm_step_list *list, struct bm_step_entry entry);
/* In time linear in the number of entries. Of those of one step the one that
 * was added last stays. BOUMA_OK or ENOMEM. */
int bm_step_list_sort(struct bm_step_list *list);
const struct bm_step_entry *bm_step_list_find(const struct bm_step_list *list,
                                              uint64_t step);
/* The same, for steps that are asked for in ascending order: *at, at first 0,
 * is where the last search ended. */
const struct bm_step_entry *bm_step_list_next(const struct bm_step_list *list,
                                              size_t *at, uint64_t step);

/* Whether 'a' was written after 'b'. */
int bm_generation_is_same(struct bm_generation a, struct bm_generation b);
int bm_generation_is_later(struct bm_generation a, struct bm_generation b);
/* One number for both; 0 for none. */
uint64_t bm_generation_number(struct bm_generation g);

int bm_step_entry_is_same(const struct bm_step_entry *a,
                          const struct bm_step_entry *b);

/* An entry as bytes: in messages, and in records of losses. */
#define BM_STEP_ENTRY_BYTES 24
void bm_put_step_entry(struct bm_buffer *b, const struct bm_step_entry *entry);
struct bm_step_entry bm_get_step_entry(struct bm_cursor *c);

/* The records of an index file, as far as they are whole and of this dataset,
 * into an empty list; *bad counts the others. */
int bm_index_decode(struct bm_step_list *out, const uint8_t *data, size_t bytes,
                    const uint8_t id[16], size_t *bad);
void bm_index_encode(uint8_t record[BM_INDEX_RECORD],
                     const struct bm_step_entry *entry, const uint8_t id[16]);

/* Those of the dataset. None if there is no index; but one that cannot be read,
 * or is beyond the memory limit, is a failure: it may know what nothing else
 * does, and must not be written anew. */
int bm_index_load(struct bm_store *s, const uint8_t id[16],
                  struct bm_step_list *out, size_t *bad,
                  struct bm_error *error);
/* Best effort, as the index is only a cache. */
void bm_index_append(struct bm_store *s, const uint8_t id[16],
                     const struct bm_step_entry *entry);
/* Before a step is written again: from now on (durably) the index does not know
 * it, and its manifest is asked. The entry has then generation 0. */
int bm_index_forget(struct bm_store *s, const uint8_t id[16], uint64_t step,
                    struct bm_error *error);
/* The same for many at once; all their entries have generation 0. */
int bm_index_forget_all(struct bm_store *s, const uint8_t id[16],
                        const struct bm_step_list *steps,
                        struct bm_error *error);
/* Remove it, of a dataset that is to go. */
void bm_index_remove(struct bm_store *s);
/* Write it anew and replace the old one, durably. Entries of
 * generation 0 are left out. */
int bm_index_rebuild(struct bm_store *s, const uint8_t id[16],
                     const struct bm_step_list *list, struct bm_error *error);

#endif
