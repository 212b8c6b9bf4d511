/* fuzz_schema.c -- the description of grids and variables. What is accepted is
 * encoded again, to the same bytes. */
#include "fuzz_help.h"
#include "layout/particle_summary.h"
#include "layout/patch.h"
#include "layout/schema.h"

/* The corners of a grid: geometry that was accepted can be computed with. */
static void use(const struct bouma_variable *v)
{
    const struct bm_tiling *t = bm_tiling_of(v->object);
    const int64_t some[3] = {0, t->patches / 2, t->patches - 1};

    if (v->object->kind == BM_PARTICLES) {
        uint64_t values[BM_MAX_LEVELS], sum = 0;

        HOLDS(bm_particle_summary_chunks(v->object, 100) >= 1);
        HOLDS(bm_particle_summary_values(v->object, 100, 3, 0, values) ==
              bm_particle_summary_chunk_slots(v->object, 100, 0));
        for (int k = 0; k < v->object->levels; k++)
            sum += values[k];
        HOLDS(sum == bm_particle_summary_chunk_slots(v->object, 100, 0));
        return;
    }
    for (int i = 0; i < 3; i++) {
        struct bm_patch p;

        bm_patch_init(&p, v, some[i]);
        HOLDS(bm_patch_bytes(&p) <= BM_MAX_CHUNK);
        HOLDS(bm_tiling_find(t, bm_tiling_key(t, some[i])) == some[i]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const bouma_allocator *a = bm_allocator_default();
    struct bm_error error = {0};
    struct bm_schema schema;
    uint8_t *copy = fuzz_copy(data, size);
    struct bm_cursor c = bm_cursor_of(copy, size);

    bm_schema_init(&schema, a, &error);
    if (!bm_schema_decode(&schema, &c, "schema", &error)) {
        size_t used = size - bm_cursor_left(&c);
        struct bm_buffer b;

        bm_buffer_init(&b, a);
        bm_schema_encode(&b, &schema);
        HOLDS(!b.failed && b.size == used && !memcmp(b.data, copy, used));
        bm_buffer_release(&b);
        for (uint32_t i = 0; i < schema.variables; i++)
            use(schema.by_id[i]);
    } else {
        HOLDS(error.text[0]);
    }
    bm_schema_release(&schema);
    free(copy);
    return 0;
}
