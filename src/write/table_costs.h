/* table_costs.h -- what chunks cost in the table of their subfile. */
#ifndef BM_TABLE_COSTS_H
#define BM_TABLE_COSTS_H

#include "plan/assign.h"
#include "write/write_plan.h"

/* Bytes in a table that the sizes of a chunk's levels have: by the geometry, if
 * they are those of the samples; and by its record (see shape.h). */
uint8_t bm_table_size_bytes(const struct bouma_variable *v,
                            const uint64_t values[BM_MAX_LEVELS]);
uint8_t bm_table_recorded_bytes(const struct bouma_variable *v,
                                const uint8_t *record);

/* The costs of all chunks, to be dropped by the caller; size_bytes[chunks] is
 * what the functions above give. NULL if there is no memory. */
struct bm_chunk_table *bm_table_costs(const struct bm_write_plan *plan,
                                      const uint8_t *size_bytes);

#endif
