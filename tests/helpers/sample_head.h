/* sample_head.h -- heads of subfiles as a writer would make them: every patch
 * of every variable, shared out among some subfiles. */
#ifndef SAMPLE_HEAD_H
#define SAMPLE_HEAD_H

#include "layout/head.h"
#include "layout/patch.h"
#include "sample_schema.h"

static inline int64_t patch_of_turn(const struct bm_tiling *t, int64_t i)
{
    int64_t *order = malloc((size_t)t->patches * sizeof(*order)), patch;

    REQUIRE(order);
    bm_tiling_order(t, order);
    patch = order[i];
    free(order);
    return patch;
}

/* Some range that fits the type; of floats, some NaN. */
static inline struct bm_range sample_range(bouma_type type, uint64_t samples,
                                           uint64_t *state)
{
    struct bm_range r = {{0}, {0}, samples, 0};

    if (bm_type_is_float(type)) {
        r.nans = (uint64_t)check_below(state, (int64_t)samples);
        r.count -= r.nans;
        r.low.f = -(double)check_below(state, 100);
        r.high.f = (double)check_below(state, 100) / 4;
    } else {
        r.low.i = check_below(state, 50);
        r.high.i = 50 + check_below(state, 200);
    }
    return r;
}

/* The chunks on turn first, first + step, ... of each variable. */
static inline void build_head(struct bm_head *h, const struct bm_schema *schema,
                              int64_t first, int64_t step, bouma_order order)
{
    uint64_t state = 1000 + (uint64_t)first;

    bm_head_init(h, bm_allocator_default());
    h->step = 42;
    h->time = 0.125;
    h->subfile = (uint32_t)first;
    h->subfiles = (uint32_t)step;
    h->generation = (struct bm_generation){3, 2};
    h->order = order;
    for (uint32_t id = 0; id < schema->variables; id++) {
        const struct bouma_variable *v = schema->by_id[id];
        const struct bm_tiling *t = bm_tiling_of(v->object);
        size_t count = 0;
        struct bm_section *s;

        for (int64_t i = first; i < t->patches; i += step)
            count++;
        if (!count)
            continue;
        REQUIRE(!bm_head_add_section(h, v, count));
        s = &h->sections[h->count - 1];
        for (size_t i = 0; i < count; i++) {
            int64_t patch = patch_of_turn(t, first + (int64_t)i * step);
            struct bm_patch p;

            s->keys[i] = bm_tiling_key(t, patch);
            bm_patch_init(&p, v, patch);
            for (int j = 0; j < v->components; j++)
                s->ranges[i * (size_t)v->components + (size_t)j] =
                    sample_range(v->type, bm_box_volume(&p.box), &state);
            for (int k = 0; k < s->levels; k++) {
                size_t at = i * (size_t)s->levels + (size_t)k;
                size_t bytes = bm_patch_level_bytes(&p, k);

                s->sizes[at] = (uint32_t)bytes;
                if (v->codec == BOUMA_CODEC_ZSTD && bytes)
                    s->sizes[at] =
                        1 + (uint32_t)check_below(&state, (int64_t)bytes);
                s->hashes[at] = (uint32_t)check_random(&state);
            }
        }
    }
    REQUIRE(!bm_head_arrange(h, schema));
}

#endif
