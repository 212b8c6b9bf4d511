/* extents.h -- pieces of a subfile, few large reads for many small ones. */
#ifndef BM_EXTENTS_H
#define BM_EXTENTS_H

#include "read/read.h"
#include "read/shelf.h"

/* One level of one chunk in a file. */
struct bm_extent {
    uint64_t offset;
    uint32_t bytes;
    int level;
    const struct bm_section *section;
    size_t chunk;        /* in the section */
    size_t tag;          /* the caller's */
    const uint8_t *data; /* once read */
    int checked;         /* before: see bm_extents_fetch() */
};

/* Sort the extents by offset and read them: what lies close together in one
 * call, with no more than an eighth that nobody wants; if 'exact', no byte of
 * that. 'raw' is the memory that they lie in, kept and grown from one call to
 * the next. */
int bm_extents_read(struct bouma_step *step, size_t source,
                    struct bm_extent *extents, size_t count, int exact,
                    struct bm_block_of_memory *raw);

/* The same, but what the shelf has is not read, and what is read is put there;
 * 'shelf' is that of the source. Who has read it has checked it, too. */
int bm_extents_fetch(struct bouma_step *step, size_t source,
                     struct bm_extent *extents, size_t count,
                     struct bm_shelf *shelf);

/* Check one that was read. Whatever is wrong is told with its offset, to the
 * byte. */
int bm_extent_check(const struct bouma_step *step, size_t source,
                    const struct bm_extent *extent, struct bm_error *error);
int bm_extent_damaged(const struct bouma_step *step, size_t source,
                      const struct bm_extent *extent, const char *what,
                      struct bm_error *error);

#endif
