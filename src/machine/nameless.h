/* nameless.h -- files without a name, for buffers and measurements: they are
 * gone when the program is, however it ends. */
#ifndef BM_NAMELESS_H
#define BM_NAMELESS_H

#include "base/error.h"
#include "base/memory.h"

/* A new file in 'directory', open to read and write, for the caller to close;
 * -1, with a message and a status, if that cannot be. */
int bm_nameless_open(const char *directory, const bouma_allocator *a,
                     struct bm_error *error);

#endif
