/* remote.h -- values in memory that the processor cannot reach, such as that of
 * a GPU: a function of the caller copies them, in pieces of a size that the
 * caller states, here or there. */
#ifndef BM_REMOTE_H
#define BM_REMOTE_H

#include "base/spread.h"
#include "bouma.h"

struct bm_remote {
    bouma_copy_function copy; /* NULL: the processor can use the memory */
    void *user;
    size_t most; /* bytes in one call; 0: BM_REMOTE_BYTES */
};

#define BM_REMOTE_BYTES ((size_t)4 << 20)

/* Bytes of room for the values of 'there'; one that is repeated takes room
 * once. */
size_t bm_remote_room(const struct bm_spread *there);

/* Where these values lie once they are in 'room': side by side, in the order in
 * which they lie there, so that most can be copied in long runs. */
struct bm_spread bm_remote_view(const struct bm_spread *there, uint8_t *room);

/* Copy them into the room, or from it. 0, or what the function returned. */
int bm_remote_copy(const struct bm_remote *r, const struct bm_spread *there,
                   uint8_t *room, bouma_copy_direction direction);

#endif
