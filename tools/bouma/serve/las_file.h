/* las_file.h -- points as a file of LAS 1.4, records of format 6 with extra
 * bytes, not compressed. Those who read LAZ read it, too: a bit of the header
 * tells them which it is. Pure functions. */
#ifndef SERVE_LAS_FILE_H
#define SERVE_LAS_FILE_H

#include "bouma.h"

/* Of a record: the position as three integers of 32 bits, and what lasers
 * measure. Other values come behind. */
#define LAS_RECORD_BYTES 30
#define LAS_NAME_BYTES   32

/* A value that is added to each record. */
struct las_extra {
    char name[LAS_NAME_BYTES + 1];
    bouma_type type;
};

struct las_file {
    double scale, offset[3], low[3], high[3];
    const struct las_extra *extra; /* [extra_count] */
    size_t extra_count;            /* at most 300 */
    size_t record;                 /* bytes of one, with all values */
};

/* What is before the records. */
size_t las_header_bytes(size_t extra_count);
void las_put_header(void *to, const struct las_file *file, uint64_t points);

/* The first LAS_RECORD_BYTES of a record. */
void las_put_record(void *to, const int32_t position[3]);

#endif
