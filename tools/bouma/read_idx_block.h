/* read_idx_block.h -- blocks of samples in the binary files of an IDX dataset.
 *
 * A file begins with a header of fixed size for each block of each field; these
 * say where the block lies and how it is compressed. Works on memory. */
#ifndef READ_IDX_BLOCK_H
#define READ_IDX_BLOCK_H

#include "read_idx.h"

enum { IDX_BLOCK_HEADER = 40 }; /* bytes, at most */

struct idx_block {
    bool absent; /* it was never written */
    uint64_t offset;
    uint32_t size;
    enum idx_codec codec;
    bool row_major;
};

/* Where the header of a block is, and how long it is; 0: there are none, and
 * idx_block_plain() tells of a file of so many bytes what it is. */
uint64_t idx_block_at(const struct idx_header *header,
                      const struct idx_place *place, size_t *bytes);
bool idx_block_plain(struct idx_block *out, const struct idx_header *header,
                     size_t field, uint64_t file_bytes,
                     struct idx_message *message);

/* From the bytes of a block header, in a file of so many bytes. False if there
 * can be no such block: 'message' tells why. */
bool idx_block_parse(struct idx_block *out, const struct idx_header *header,
                     size_t field, const uint8_t *bytes, uint64_t file_bytes,
                     struct idx_message *message);

/* Bytes of a block's samples, and bytes of memory that decoding one takes. */
size_t idx_block_bytes(const struct idx_header *header, size_t field);
uint64_t idx_block_memory(const struct idx_header *header, size_t field);

/* Decode 'in', the block->size bytes of a block, into 'out', which has
 * idx_block_bytes() of room. */
bool idx_block_decode(void *out, const struct idx_header *header,
                      const struct idx_place *place,
                      const struct idx_block *block, const uint8_t *in,
                      struct idx_message *message);

#endif
