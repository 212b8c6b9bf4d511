/* write_idx_codec.h -- the codecs of blocks of an IDX dataset. */
#ifndef WRITE_IDX_CODEC_H
#define WRITE_IDX_CODEC_H

#include "write_idx.h"

/* Whether this program has a codec. */
bool idx_can_compress(enum idx_write_codec codec);

/* The bytes of a block into 'out', which has as much room; returns their number,
 * or 0 if they do not become fewer. Not for zfp. */
size_t idx_compress(void *out, const void *in, size_t bytes,
                    enum idx_write_codec codec);

/* Whether zfp takes values of a type; 'exact': every bit of them. */
bool idx_zfp_takes(bouma_type type, int components, bool exact);

/* The same for zfp, of a block of a field. Samples are in rows then. 0 also if
 * zfp does not keep the tolerance. */
#define IDX_WRITE_ROWS 0x10 /* among the flags of a block */
size_t idx_compress_zfp(void *out, const void *in, const struct idx_write *idx,
                        int field, uint64_t block);

#endif
