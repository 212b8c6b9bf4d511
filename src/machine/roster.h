/* roster.h -- names and their numbers, in the order in which they come: hosts,
 * nodes, switches. */
#ifndef BM_ROSTER_H
#define BM_ROSTER_H

#include "base/bytes.h"

struct bm_roster {
    const bouma_allocator *a;
    struct bm_buffer text; /* names, each with a NUL behind it */
    size_t *start;         /* [room]: of each name in it */
    int count, room;
    int *slots; /* [2^bits]: numbers by the hash of the name; -1: none */
    int bits;
};

void bm_roster_init(struct bm_roster *r, const bouma_allocator *a);
void bm_roster_release(struct bm_roster *r); /* accepts a zeroed one */

/* The number of a name; -1: it is not there, or (add) there is no memory. */
int bm_roster_find(const struct bm_roster *r, const char *name, size_t bytes);
int bm_roster_add(struct bm_roster *r, const char *name, size_t bytes);

/* NUL-terminated; good until the next one is added. */
const char *bm_roster_name(const struct bm_roster *r, int i);

#endif
