/* write_idx.h -- an IDX dataset that is being written: its header, and its
 * files of blocks, as layout/idx_text.h has them. Where a block lies in a file
 * depends only on the header, so that any process can write any samples. */
#ifndef WRITE_IDX_H
#define WRITE_IDX_H

#include "context.h"
#include "layout/idx_text.h"
#include "read_idx_order.h"

enum idx_write_codec {
    IDX_WRITE_RAW = 0,
    IDX_WRITE_ZIP = 3,
    IDX_WRITE_LZ4 = 7,
    IDX_WRITE_ZFP = 8
};

/* An accuracy of zfp is a power of two with so many digits behind the point. */
#define IDX_ZFP_DIGITS 60

struct idx_write_field {
    char *name;
    bouma_type type;
    int components;
    size_t size; /* bytes of a sample */
};

struct idx_write {
    struct idx_order order;
    int ndims;
    bouma_box domain; /* 3 axes, from 0 */
    double origin[3], spacing[3];
    bool placed;  /* these two are told */
    int per_file; /* blocks */
    struct idx_write_field *fields;
    int field_count;
    const int64_t *steps;
    size_t step_count;
    enum idx_write_codec codec;
    double tolerance, accuracy; /* of zfp, and what it is told; 0: reversible */
    char *stem;                 /* name of the directory beside the header */
};

/* The text of the header, which the caller frees; NULL: no memory. */
char *idx_write_header(const struct idx_write *idx, size_t *bytes);

/* The name of the file that begins with block 'first', below the directory. */
void idx_write_name(char *out, size_t bytes, const struct idx_write *idx,
                    int64_t step, uint64_t first);

/* Bytes of the largest sample of all fields. */
uint64_t idx_write_sample(const struct idx_write *idx);

/* Bytes of a file whose blocks are all there. */
uint64_t idx_write_largest(const struct idx_write *idx);

/* ---- files --------------------------------------------------------------- */

enum { IDX_OPEN_FILES = 32 };

/* A file that is open, and which of its blocks are there. */
struct idx_write_file {
    int file; /* -1: none is open */
    uint64_t first;
    uint32_t blocks;
    uint32_t *index; /* [per_file]: the place among those there, or NOWHERE */
};

/* The files of a timestep that a process writes into. */
struct idx_write_files {
    const struct idx_write *idx;
    const char *folder; /* where the directories of timesteps are */
    int64_t step;
    struct idx_write_file open[IDX_OPEN_FILES];
    uint64_t files, bytes; /* finished */
};

void idx_write_begin(struct idx_write_files *files, const struct idx_write *idx,
                     const char *folder, int64_t step);

/* Write the samples of a run, which lie in one block. */
int idx_write_run(struct idx_write_files *files, struct context *ctx, int field,
                  const struct idx_run *run, const void *samples);

/* Once all processes have written all samples: finish those files that fall to
 * this process. */
int idx_write_finish(struct idx_write_files *files, struct context *ctx);

/* After a failure, too. */
void idx_write_end(struct idx_write_files *files);

#endif
