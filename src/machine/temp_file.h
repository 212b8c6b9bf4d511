/* temp_file.h -- files without a name, for buffers and measurements: they are
 * gone when the program is, however it ends. */
#ifndef BM_TEMP_FILE_H
#define BM_TEMP_FILE_H

#include "base/error.h"
#include "base/memory.h"

/* A new file in 'directory', open to read and write, for the caller to close;
 * -1, with a message and a status, if that cannot be. */
int bm_temp_file_open(const char *directory, const bouma_allocator *a,
                      struct bm_error *error);

#endif
