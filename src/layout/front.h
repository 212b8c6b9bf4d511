/* front.h -- files that begin with bytes of another format, so that its readers
 * can read them, too. The layout says which bytes (see layout.h). Our head
 * stands right behind them, and again at the end as in every file:
 *
 *     | front | zeros | head | zeros | indices, chunk levels | head |
 *
 * How long the front is follows from the object, which such a file has for
 * itself. For those who do not know the object yet, the head ends with the
 * bytes of the front and its own: the last ones of the file. */
#ifndef BM_FRONT_H
#define BM_FRONT_H

#include "layout/head.h"
#include "store/envelope.h"

#define BM_FRONT_RECORD 16 /* bytes at the end of such a head */

/* What files of an object begin with; 0: with the head. */
static inline uint64_t bm_front_bytes(const struct bm_object *o)
{
    return o->layout->front ? o->layout->front->bytes(o) : 0;
}

/* Where the head begins behind a front of so many bytes. */
static inline uint64_t bm_front_end(uint64_t bytes)
{
    return (bytes + BM_DATA_ALIGNMENT - 1) / BM_DATA_ALIGNMENT *
           BM_DATA_ALIGNMENT;
}

/* The front of a file that has these objects, told one after the other; zeroed
 * at first. */
struct bm_front {
    const struct bm_object *object; /* the last one */
    uint64_t bytes;
};

/* EFORMAT if a file cannot have it beside those before; BOUMA_OK. */
int bm_front_join(struct bm_front *f, const struct bm_object *o);

/* All bytes of a file before its head, once that is arranged; none if it has no
 * front. Into an empty buffer, which may fail. */
void bm_front_make(struct bm_buffer *out, const struct bm_head *h);

/* The first head of a file, as far as it can be checked without all of it. */
struct bm_first_head {
    uint64_t offset;
    struct bm_envelope envelope;
    uint8_t begin[BM_ENVELOPE_BYTES + 24]; /* its first bytes */
};

/* Find it in a file of so many bytes; 'name' is for messages. A file with a
 * front whose end was cut off does not tell. */
int bm_front_find_head(struct bm_first_head *out, struct bm_file *f,
                       uint64_t bytes, const char *name,
                       struct bm_error *error);

#endif
