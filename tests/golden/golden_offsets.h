/* golden_offsets.h -- store the offsets in subfiles that have none. */
#ifndef GOLDEN_OFFSETS_H
#define GOLDEN_OFFSETS_H

#include <stdint.h>

/* Write every second subfile of a step of the dataset 'path' anew, the first of
 * even steps among them, with its chunk levels in another order and gaps
 * between them, and the manifest to fit. 0, or 1 after a message on stderr. */
int golden_store_offsets(const char *path, int64_t step);

#endif
