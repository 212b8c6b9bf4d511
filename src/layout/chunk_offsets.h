/* chunk_offsets.h -- where the chunk levels of a subfile lie. Within a section
 * they are walked in the order of the file:
 *
 *     order=level:  for each level, coarse to fine: chunks
 *     order=chunk:  for each chunk: levels, coarse to fine
 *
 * Usually their offsets follow from that and the sizes. A subfile may also
 * store them, each as the difference to where it would lie right behind the one
 * before it in the walk (the first: at the start of the data), so that a
 * regular layout costs a byte a level. Those of no bytes are not stored: they
 * lie where they would. */
#ifndef BM_CHUNK_OFFSETS_H
#define BM_CHUNK_OFFSETS_H

#include "layout/head.h"

/* From data_offset on: those of trees and levels, and data_bytes. */
void bm_chunk_offsets_derive(struct bm_head *h);

/* ---- of a subfile with stored offsets ----------------------------------- */

/* Give levels of no bytes their offsets. */
void bm_chunk_offsets_fill(struct bm_head *h);

size_t bm_chunk_offsets_bytes(const struct bm_head *h,
                              const struct bm_section *s);
void bm_chunk_offsets_encode(struct bm_buffer *b, const struct bm_head *h,
                             const struct bm_section *s);
/* Once the sizes are there. EFORMAT unless all lie in the data. */
int bm_chunk_offsets_decode(struct bm_head *h, struct bm_section *s,
                            struct bm_cursor *c);

/* EFORMAT if two levels have a byte in common; BOUMA_OK or ENOMEM. */
int bm_chunk_offsets_check(const struct bm_head *h);

#endif
