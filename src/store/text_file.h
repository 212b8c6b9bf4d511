/* text_file.h -- a file that is not part of a dataset, such as one that
 * describes a machine. */
#ifndef BM_TEXT_FILE_H
#define BM_TEXT_FILE_H

#include "base/bytes.h"
#include "base/error.h"

#define BM_TEXT_FILE_BYTES ((size_t)16 << 20) /* that one can have */

/* Append the whole file; ELIMIT if it is too long. */
int bm_text_file_load(struct bm_buffer *out, const char *path,
                      struct bm_error *error);

#endif
