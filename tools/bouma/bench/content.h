/* content.h -- what the buffers of the benchmark have in them: each byte follows
 * from the rank, the variable and its place, so that any that is lost, doubled
 * or swapped shows. */
#ifndef CONTENT_H
#define CONTENT_H

#include <stddef.h>
#include <stdint.h>

/* Of a variable of a rank. */
struct content {
    int64_t rank;
    int variable;
};

/* Memory for it, which content_free() gives back; NULL: there is none. */
uint8_t *content_new(size_t bytes);
void content_free(uint8_t *data);

void content_fill(uint8_t *data, size_t bytes, struct content content);

/* The first byte that is wrong, or 'bytes' if none is. */
size_t content_check(const uint8_t *data, size_t bytes, struct content content);

#endif
