/* name_table.h -- names and their numbers, in the order in which they come:
 * hosts, nodes, switches. */
#ifndef BM_NAME_TABLE_H
#define BM_NAME_TABLE_H

#include "base/bytes.h"

struct bm_name_table {
    const bouma_allocator *a;
    struct bm_buffer text; /* names, each with a NUL behind it */
    size_t *start;         /* [room]: of each name in it */
    int count, room;
    int *slots; /* [2^bits]: numbers by the hash of the name; -1: none */
    int bits;
};

void bm_name_table_init(struct bm_name_table *r, const bouma_allocator *a);
void bm_name_table_release(struct bm_name_table *r); /* accepts a zeroed one */

/* The number of a name; -1: it is not there, or (add) there is no memory. */
int bm_name_table_find(const struct bm_name_table *r, const char *name,
                       size_t bytes);
int bm_name_table_add(struct bm_name_table *r, const char *name, size_t bytes);

/* NUL-terminated; good until the next one is added. */
const char *bm_name_table_name(const struct bm_name_table *r, int i);

#endif
