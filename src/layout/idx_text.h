/* idx_text.h -- what an IDX dataset consists of beside its samples: the text of
 * its header, the names of its files, and the headers of blocks in them.
 *
 * A dataset of this kind is read by OpenVisus and, if its blocks are raw, by
 * PIDX: version 6, samples in HZ order, a directory for each timestep, file
 * names with as many digits as PIDX wants. Pure. The command line includes this
 * header, too: its export writes the same. */
#ifndef BM_IDX_TEXT_H
#define BM_IDX_TEXT_H

#include <limits.h>

#include "base/bytes.h"
#include "bouma.h"

#define BM_IDX_LAST_STEP INT_MAX
#define BM_IDX_MAX_NAME  128 /* bytes of the name of a dataset */
/* PIDX reads offsets of 32 bits, and both readers sizes of blocks of 31. */
#define BM_IDX_FILE_LIMIT ((uint64_t)1 << 32)

struct bm_idx_field {
    const char *name;
    bouma_type type;
    int components;
};

/* A dataset; axes are lifted, see base/box.h. */
struct bm_idx_text {
    const char *name; /* and that of the directory beside the header */
    int ndims;        /* 2 or 3 */
    int64_t shape[3];
    int placed; /* origin and spacing are told */
    double origin[3], spacing[3];
    int bits; /* of the mask: the axis that each split halves, coarsest first */
    const uint8_t *axis;
    int block_bits;
    int64_t blocks_per_file;
    const struct bm_idx_field *fields;
    int field_count;
    const char *codec;
    int row_major;        /* samples of a block are in rows, not in HZ order */
    const int64_t *steps; /* ascending, none beyond BM_IDX_LAST_STEP */
    size_t step_count;
};

/* NULL if a dataset can have this name, else what is wrong with it. */
const char *bm_idx_check_name(const char *name);

/* The text of the header, behind what is in the buffer, which may fail. */
void bm_idx_put_header(struct bm_buffer *out, const struct bm_idx_text *t);

/* What cannot be in the name of a field becomes "_"; the bytes of 'out' are as
 * many as those of the name with its NUL. Whether that changed it. */
int bm_idx_field_name(char *out, const char *name);

/* "time000000042", the directory of a timestep. */
#define BM_IDX_TIME_BYTES 32
void bm_idx_time_name(char out[BM_IDX_TIME_BYTES], int64_t step);
/* The file that begins with block 'first', below that directory, if numbers of
 * blocks have so many bits; gives how many directories that has, too. */
#define BM_IDX_FILE_BYTES 40
int bm_idx_file_name(char out[BM_IDX_FILE_BYTES], int number_bits,
                     uint64_t first);

/* The timesteps that a header lists, ascending: *steps is the caller's to drop
 * from 'a'. BOUMA_OK, ENOMEM, or EFORMAT if it is none that
 * bm_idx_put_header() could have written, or lists more than 'most'. */
int bm_idx_get_steps(int64_t **steps, size_t *count, const bouma_allocator *a,
                     const struct bm_buffer *header, size_t most);
/* Whether a header that lists timesteps leads to the files of this name. */
int bm_idx_is_template_of(const struct bm_buffer *header, const char *name);
/* The same header with other timesteps; it has been read by the above. */
void bm_idx_put_steps(struct bm_buffer *out, const struct bm_buffer *header,
                      const int64_t *steps, size_t count);

/* ---- files --------------------------------------------------------------- */

#define BM_IDX_BLOCK_HEADER 40 /* bytes */

/* What stands in front of the blocks; PIDX reads a preamble for each field. */
static inline uint64_t bm_idx_front_bytes(int fields, int64_t blocks_per_file)
{
    return (uint64_t)BM_IDX_BLOCK_HEADER * (uint64_t)fields *
           ((uint64_t)blocks_per_file + 1);
}

/* A block that is there. */
struct bm_idx_block {
    uint64_t offset, bytes;
    int flags; /* its codec, and 16 if its samples are in rows */
};

/* Its header, at the place of its field and slot; slots without a block are
 * zero. */
void bm_idx_put_block(uint8_t *front, int64_t blocks_per_file, int field,
                      uint64_t slot, const struct bm_idx_block *block);

#endif
