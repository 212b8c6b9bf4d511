/* stored_chunks.h -- where the chunks of a variable are, and how many bytes they
 * have in files; nothing but the tables of chunks is read. */
#ifndef BM_STORED_CHUNKS_H
#define BM_STORED_CHUNKS_H

#include "read/read.h"

/* The smallest box around the samples of a chunk, lifted; and its bytes. */
typedef void bm_stored_chunk(void *context, const struct bm_box *box,
                             uint64_t bytes);

/* All chunks of a variable of a grid, of a step that is open. The message is in
 * the dataset. */
int bm_stored_chunks(const struct bouma_variable *v, bm_stored_chunk *each,
                     void *context);

#endif
