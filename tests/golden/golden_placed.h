/* golden_placed.h -- make placed subfiles of usual ones. */
#ifndef GOLDEN_PLACED_H
#define GOLDEN_PLACED_H

#include <stdint.h>

/* Write every second subfile of a step of the dataset 'path' anew, the first of
 * even steps among them, with its chunk levels in another order and gaps
 * between them, and the manifest to fit. 0, or 1 after a message on stderr. */
int golden_place(const char *path, int64_t step);

#endif
