/* fuzz_schema.c -- the description of grids and variables. What is accepted is
 * encoded again, to the same bytes. */
#include "fuzz_help.h"
#include "layout/grid_hz.h"
#include "layout/particle_summary.h"
#include "layout/patch.h"
#include "layout/schema.h"

/* The same of blocks of HZ order. */
static void use_blocks(const struct bouma_variable *v)
{
    const struct bm_hz_blocks *b = &bm_grid_hz_of(v->object)->blocks;
    const int64_t some[3] = {0, b->count / 2, b->count - 1};

    HOLDS(b->count > 0 && b->files > 0 && b->files <= b->count);
    for (int i = 0; i < 3; i++) {
        uint64_t block = bm_hz_blocks_block(b, some[i]);
        struct bm_footprint f = bm_hz_blocks_footprint(b, block);
        uint64_t samples = bm_footprint_samples(&f);
        uint64_t values[BM_MAX_LEVELS];

        HOLDS(bm_hz_blocks_chunk(b, block) == some[i]);
        HOLDS(samples > 0 && samples <= (uint64_t)1 << b->block_bits);
        HOLDS(v->object->layout->values(v->object, NULL, block, values) ==
              samples);
        HOLDS(values[0] >= samples);
        for (int d = 0; d < 3; d++)
            HOLDS(f.start[d] + ((f.count[d] - 1) << f.shift[d]) < b->shape[d]);
    }
}

/* And of partitions that have an index each. */
static void use_partitions(const struct bouma_variable *v)
{
    struct bm_chunking c = v->object->layout->chunking(v->object);
    const int64_t some[4] = {0, c.count > 1, c.count / 2, c.count - 1};

    HOLDS(c.count > 0);
    for (int i = 0; i < 4; i++) {
        uint64_t key = c.calls->key(c.own, some[i]), values[BM_MAX_LEVELS];
        struct bm_footprint f = c.calls->footprint(c.own, some[i]);
        uint64_t samples = bm_footprint_samples(&f);

        HOLDS(c.calls->find(c.own, key) == some[i]);
        HOLDS(c.calls->file(c.own, some[i]) <= some[i]);
        HOLDS(c.calls->partition(c.own, some[i]) < c.partitions);
        HOLDS(samples > 0);
        HOLDS(v->object->layout->values(v->object, NULL, key, values) ==
              samples);
        HOLDS(values[0] >= samples &&
              values[0] <= v->object->layout->most_values(v->object));
        for (int d = 0; d < 3; d++)
            HOLDS(f.start[d] + ((f.count[d] - 1) << f.shift[d]) <
                  v->object->domain.hi[d]);
    }
}

/* The corners of a grid: geometry that was accepted can be computed with. */
static void use(const struct bouma_variable *v)
{
    const struct bm_tiling *t;

    if (v->object->layout->code == BOUMA_LAYOUT_HZ) {
        if (bm_grid_hz_of(v->object)->local)
            use_partitions(v);
        else
            use_blocks(v);
        return;
    }
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
    t = bm_tiling_of(v->object);
    for (int i = 0; i < 3; i++) {
        const int64_t some[3] = {0, t->patches / 2, t->patches - 1};
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
