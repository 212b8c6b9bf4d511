/* table_costs.c -- see table_costs.h. The table stands in the file twice, at
 * the front and at the end. */
#include "write/table_costs.h"

#include "layout/head.h"

uint8_t bm_table_size_bytes(const struct bouma_variable *v,
                            const uint64_t values[BM_MAX_LEVELS])
{
    size_t bytes = 0;

    for (int k = 0; k < v->object->levels; k++)
        bytes += bm_varint_bytes(values[k] * bm_variable_sample_size(v));
    return (uint8_t)bytes; /* of 32 levels, with at most 5 each */
}

uint8_t bm_table_recorded_bytes(const struct bouma_variable *v,
                                const uint8_t *record)
{
    size_t bytes = 0;

    for (int k = 0; k < v->object->levels; k++)
        bytes += bm_varint_bytes(bm_load_u32(record + 8 * k));
    return (uint8_t)bytes;
}

/* Keys of one variable ascend along the order of chunks; each is stored as the
 * difference to the one before it in the file. */
struct bm_chunk_table *bm_table_costs(const struct bm_write_plan *plan,
                                      const uint8_t *size_bytes)
{
    struct bm_chunk_table *tables =
        bm_new_raw(plan->a, plan->chunks, sizeof(*tables));

    for (size_t i = 0; i < plan->grid_count && tables; i++) {
        const struct bm_plan_grid *g = &plan->grids[i];
        size_t at = g->first;
        uint64_t before = 0;

        for (int64_t p = 0; p < g->chunking.count; p++) {
            uint64_t key = g->chunking.calls->key(g->chunking.own, g->order[p]);
            size_t apart = bm_varint_bytes(key - before);
            size_t alone = bm_varint_bytes(key);

            for (size_t j = 0; j < g->count; j++, at++)
                tables[at] = (struct bm_chunk_table){
                    g->variables[j]->id,
                    (uint32_t)(BM_HEAD_COPIES *
                               (bm_head_row_bytes(g->variables[j]) + apart +
                                size_bytes[at])),
                    (uint32_t)(BM_HEAD_COPIES *
                               (BM_SECTION_BYTES + alone - apart))};
            before = key;
        }
    }
    return tables;
}
