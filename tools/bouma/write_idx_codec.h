/* write_idx_codec.h -- the codecs of blocks of an IDX dataset. */
#ifndef WRITE_IDX_CODEC_H
#define WRITE_IDX_CODEC_H

#include "write_idx.h"

/* Whether this program has a codec. */
bool idx_can_compress(enum idx_write_codec codec);

/* The bytes of a block into 'out', which has as much room; returns their number,
 * or 0 if they do not become fewer. */
size_t idx_compress(void *out, const void *in, size_t bytes,
                    enum idx_write_codec codec);

#endif
