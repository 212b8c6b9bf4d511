/* column_overlap.h -- whether arrays that are read into share memory. */
#ifndef BM_API_COLUMN_OVERLAP_H
#define BM_API_COLUMN_OVERLAP_H

#include "api/column.h"

/* 'count' values of 'bytes' bytes, a stride (above 0) apart. */
struct bm_row {
    int64_t first, bytes, stride, count;
};

/* Whether two rows have a byte in common. Members of the same structs do not,
 * though they lie between each other. */
int bm_rows_meet(const struct bm_row *a, const struct bm_row *b);

/* BOUMA_EINVAL, with both names, if two columns for 'count' particles share
 * memory. */
int bm_api_columns_apart(const struct bm_column *columns, size_t column_count,
                         uint64_t count, struct bm_error *error);

#endif
