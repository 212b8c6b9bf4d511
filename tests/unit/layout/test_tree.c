/* What a tree is good for: nothing that a query asks for is left out, what is
 * said to lie inside does, and its bytes give the same tree or are refused. */
#include "layout/tree.h"

#include <math.h>

#include "check.h"
#include "damage.h"
#include "fault_alloc.h"
#include "native.h"

enum { ROWS = 4 };
static const bouma_type row_types[ROWS] = {BOUMA_TYPE_F64, BOUMA_TYPE_F32,
                                           BOUMA_TYPE_U8, BOUMA_TYPE_I64};

/* A tree with the particles it was made of, in the order of slots. */
struct sample {
    struct bm_tree t;
    int ndims;
    bouma_type type;
    uint32_t count;
    double *x;     /* [3][count] */
    double *value; /* [ROWS][count] */
};

static double uniform(uint64_t *state)
{
    return (double)(check_random(state) >> 11) * 0x1p-53;
}

enum kind { UNIFORM, LATTICE, POINT, HOLES, NOTHING, KINDS };

static double coordinate(enum kind kind, uint64_t *state)
{
    switch (kind) {
    case LATTICE:
        return (double)check_below(state, 5);
    case POINT:
        return 0.3;
    case HOLES:
        return check_below(state, 30) ? 4 * uniform(state) : (double)NAN;
    case NOTHING:
        return INFINITY;
    default:
        return 4 * uniform(state);
    }
}

/* The values of a row, in its type; the caller frees them. */
static void *typed_row(const struct sample *s, int row)
{
    size_t size = bouma_type_size(row_types[row]);
    uint8_t *out = malloc(s->count * size + 1);

    REQUIRE(out);
    for (uint32_t i = 0; i < s->count; i++) {
        double v = s->value[(uint32_t)row * s->count + i];
        union bm_scalar scalar = {.f = v};

        if (row == 2)
            scalar.u = (uint64_t)v;
        if (row == 3)
            scalar.i = (int64_t)v;
        store_value(out + i * size, row_types[row], scalar);
    }
    return out;
}

static void fill_rows(struct sample *s)
{
    REQUIRE(!bm_tree_add_maps(&s->t, ROWS));
    for (int row = 0; row < ROWS; row++) {
        void *values = typed_row(s, row);
        size_t size = bouma_type_size(row_types[row]);
        union bm_scalar low = {0}, high = {0};
        int any = 0;

        bm_bins_widen(&low, &high, &any, row_types[row], values, s->count);
        bm_bins_init(&s->t.bins[row], row_types[row], low, high);
        for (uint32_t n, at = 0; at < s->count; at += n) {
            n = s->count - at < 100 ? s->count - at : 100; /* within leaves */
            bm_tree_fill_map(&s->t, (uint32_t)row,
                             (const char *)values + at * size, at, at + n);
        }
        free(values);
    }
    bm_tree_join_maps(&s->t);
}

static void sample_init(struct sample *s, enum kind kind, uint32_t count,
                        int ndims, bouma_type type, uint32_t leaf)
{
    size_t size = bouma_type_size(type);
    uint64_t state = 1000 * (uint64_t)kind + count;
    struct bm_positions p = {.ndims = ndims, .type = type, .count = count};
    uint32_t *order = malloc((count + 1) * sizeof(*order));
    uint8_t *raw = malloc(3 * count * size + 1);
    double *x = calloc(3 * (size_t)count + 1, sizeof(*x));

    *s = (struct sample){.ndims = ndims, .type = type, .count = count};
    s->x = calloc(3 * (size_t)count + 1, sizeof(*s->x));
    s->value = calloc(ROWS * (size_t)count + 1, sizeof(*s->value));
    REQUIRE(order && raw && x && s->x && s->value);
    for (int axis = 0; axis < ndims; axis++) {
        p.axis[axis] = raw + (size_t)axis * count * size;
        p.stride[axis] = (int64_t)size;
        for (uint32_t i = 0; i < count; i++) {
            size_t at = (size_t)axis * count + i;
            union bm_scalar v = {.f = coordinate(kind, &state)};

            store_value(raw + at * size, type, v);
            x[at] = load_value(raw + at * size, type).f;
        }
    }
    bm_tree_init(&s->t, bm_allocator_default());
    REQUIRE(!bm_tree_build(&s->t, order, &p, leaf, 2, NULL));
    for (int axis = 0; axis < ndims; axis++)
        for (uint32_t i = 0; i < count; i++)
            s->x[(size_t)axis * count + i] = x[(size_t)axis * count + order[i]];
    for (uint32_t i = 0; i < count; i++) {
        double first = isfinite(s->x[i]) ? s->x[i] : 0;

        s->value[i] = sin(first) * 100;
        s->value[count + i] = (double)(float)uniform(&state);
        s->value[2 * count + i] = (double)check_below(&state, 7);
        s->value[3 * (size_t)count + i] = floor(first * 1e6);
    }
    fill_rows(s);
    free(x);
    free(raw);
    free(order);
}

static void sample_release(struct sample *s)
{
    bm_tree_release(&s->t);
    free(s->x);
    free(s->value);
}

/* ---- queries ------------------------------------------------------------ */

static int in_box(const struct sample *s, const struct bm_tree_query *q,
                  uint32_t i)
{
    for (int axis = 0; q->boxed && axis < s->ndims; axis++) {
        double x = s->x[(size_t)axis * s->count + i];

        if (!(x >= q->low[axis] &&
              (q->closed >> axis & 1 ? x <= q->high[axis] : x < q->high[axis])))
            return 0;
    }
    return 1;
}

/* Whether the particle is in one of the wanted bins of each row. */
static int is_wanted(const struct sample *s, const struct bm_tree_query *q,
                     void *const values[ROWS], uint32_t i)
{
    for (size_t k = 0; k < q->rows; k++) {
        uint32_t row = q->row[k];
        const struct bm_bins *bins = &s->t.bins[row];
        const char *value =
            (const char *)values[row] + i * bouma_type_size(bins->type);

        if (!(bm_bins_map(bins, value, 1) & q->wanted[k]))
            return 0;
    }
    return 1;
}

static void check_query(const struct sample *s, const struct bm_tree_query *q,
                        void *const values[ROWS])
{
    struct bm_run *runs;
    size_t count, at = 0, missed = 0, outside = 0;

    REQUIRE(!bm_tree_select(&s->t, q, &runs, &count));
    for (size_t k = 0; k < count; k++) {
        CHECK(runs[k].begin < runs[k].end && runs[k].end <= s->t.count);
        CHECK(runs[k].begin >= q->begin && (!q->end || runs[k].end <= q->end));
        CHECK(!k || runs[k - 1].end < runs[k].begin ||
              (runs[k - 1].end == runs[k].begin &&
               runs[k - 1].inside != runs[k].inside));
    }
    for (uint32_t i = 0; i < s->t.count; i++) {
        int in = in_box(s, q, i), listed;

        while (at < count && runs[at].end <= i)
            at++;
        listed = at < count && runs[at].begin <= i;
        if (i < q->begin || (q->end && i >= q->end))
            continue;
        missed += in && !listed && is_wanted(s, q, values, i);
        outside += !in && listed && runs[at].inside;
    }
    CHECK_EQ(missed, 0);
    CHECK_EQ(outside, 0);
    if (!q->boxed && !q->rows)
        CHECK_EQ(count, s->t.count > q->begin);
    bm_drop(s->t.a, runs);
}

/* An end of a box: anywhere, beyond, or just at a particle. */
static double end_of_box(const struct sample *s, int axis, uint64_t *state)
{
    switch (check_below(state, 6)) {
    case 0:
        return -1e300;
    case 1:
        return 1e300;
    case 2:
    case 3:
        if (s->t.count)
            return s->x[(size_t)axis * s->count +
                        (size_t)check_below(state, s->t.count)];
        return 0;
    default:
        return 5 * uniform(state) - 0.5;
    }
}

static void queries_lose_nothing(void)
{
    static const uint32_t counts[] = {0, 1, 2, 17, 400, 3000};
    uint64_t state = 3;

    for (int kind = 0; kind < KINDS; kind++)
        for (size_t k = 0; k < sizeof(counts) / sizeof(counts[0]); k++)
            for (int ndims = 1; ndims <= 3; ndims++) {
                struct sample s;
                void *values[ROWS];

                sample_init(&s, (enum kind)kind, counts[k], ndims,
                            ndims == 2 ? BOUMA_TYPE_F32 : BOUMA_TYPE_F64,
                            1 + (uint32_t)check_below(&state, 20));
                for (int row = 0; row < ROWS; row++)
                    values[row] = typed_row(&s, row);
                for (int tries = 0; tries < 200; tries++) {
                    uint32_t row[ROWS], wanted[ROWS];
                    struct bm_tree_query q = {
                        .boxed = check_below(&state, 8) > 0,
                        .closed = (unsigned)check_below(&state, 8),
                        .wanted = wanted,
                        .row = row,
                        .rows = (size_t)check_below(&state, 3)};

                    for (int axis = 0; axis < ndims; axis++) {
                        q.low[axis] = end_of_box(&s, axis, &state);
                        q.high[axis] = check_below(&state, 8)
                                           ? end_of_box(&s, axis, &state)
                                           : q.low[axis];
                        if (q.low[axis] > q.high[axis] &&
                            check_below(&state, 8)) {
                            double low = q.low[axis];

                            q.low[axis] = q.high[axis];
                            q.high[axis] = low;
                        }
                    }
                    for (size_t i = 0; i < q.rows; i++) {
                        row[i] = (uint32_t)check_below(&state, ROWS);
                        wanted[i] = (uint32_t)check_random(&state) &
                                    (uint32_t)check_random(&state);
                    }
                    check_query(&s, &q, values);
                    q.begin = (uint32_t)check_below(&state, counts[k] + 2);
                    if (check_below(&state, 4))
                        q.end = q.begin + 1 +
                                (uint32_t)check_below(&state, counts[k] + 2);
                    check_query(&s, &q, values);
                }
                for (int row = 0; row < ROWS; row++)
                    free(values[row]);
                sample_release(&s);
            }
}

/* A box round everything has it all, and knows it; unless its open end is on
 * the last particle. */
static void all_of_it_is_inside(void)
{
    struct sample s;
    struct bm_tree_query q = {.boxed = 1, .closed = 7};
    struct bm_run *runs;
    size_t count;

    sample_init(&s, UNIFORM, 5000, 3, BOUMA_TYPE_F32, 32);
    memcpy(q.low, s.t.low, sizeof(q.low));
    memcpy(q.high, s.t.high, sizeof(q.high));
    REQUIRE(!bm_tree_select(&s.t, &q, &runs, &count));
    REQUIRE(count == 1);
    CHECK(runs[0].begin == 0 && runs[0].end == 5000 && runs[0].inside);
    bm_drop(s.t.a, runs);
    q.closed = 3;
    REQUIRE(!bm_tree_select(&s.t, &q, &runs, &count));
    CHECK(count > 1 && runs[count - 1].end == 5000);
    bm_drop(s.t.a, runs);
    q.low[0] = NAN;
    REQUIRE(!bm_tree_select(&s.t, &q, &runs, &count));
    CHECK_EQ(count, 0);
    bm_drop(s.t.a, runs);
    sample_release(&s);
}

/* A small box in many particles is found in few of them. */
static void small_boxes_take_few(void)
{
    struct sample s;
    struct bm_tree_query q = {.boxed = 1};
    struct bm_run *runs;
    size_t count, particles = 0;

    sample_init(&s, UNIFORM, 60000, 3, BOUMA_TYPE_F64, 64);
    for (int axis = 0; axis < 3; axis++) {
        q.low[axis] = 1;
        q.high[axis] = 1.4; /* a thousandth of all */
    }
    REQUIRE(!bm_tree_select(&s.t, &q, &runs, &count));
    for (size_t i = 0; i < count; i++)
        particles += runs[i].end - runs[i].begin;
    CHECK(particles > 30 && particles < 64 * 27);
    bm_drop(s.t.a, runs);
    sample_release(&s);
}

/* ---- bytes -------------------------------------------------------------- */

static struct bm_tree_spec spec_of(const struct sample *s)
{
    return (struct bm_tree_spec){.ndims = s->ndims,
                                 .type = s->type,
                                 .particles = s->count,
                                 .types = row_types,
                                 .maps = ROWS};
}

static void encode(struct bm_buffer *out, const struct bm_tree *t)
{
    struct bm_codec_state state;

    bm_codec_state_init(&state, t->a);
    bm_buffer_init(out, t->a);
    REQUIRE(!bm_tree_encode(out, t, &state));
    bm_codec_state_release(&state);
}

static int decode(struct bm_tree *t, const uint8_t *data, size_t bytes,
                  const struct bm_tree_spec *spec)
{
    const bouma_allocator *a = bm_allocator_default();
    struct bm_codec_state state;
    int rc;

    bm_codec_state_init(&state, a);
    bm_tree_init(t, a);
    rc = bm_tree_decode(t, data, bytes, spec, &state);
    bm_codec_state_release(&state);
    return rc;
}

static void check_same(const struct bm_tree *a, const struct bm_tree *b)
{
    CHECK(a->leaf == b->leaf && a->count == b->count && a->maps == b->maps);
    CHECK(!memcmp(a->low, b->low, sizeof(a->low)));
    CHECK(!memcmp(a->high, b->high, sizeof(a->high)));
    REQUIRE(a->node_count == b->node_count);
    for (uint32_t i = 0; i < a->node_count; i++) {
        const struct bm_tree_node *m = &a->nodes[i], *n = &b->nodes[i];

        CHECK(m->begin == n->begin && m->end == n->end &&
              m->right == n->right && m->axis == n->axis &&
              m->split == n->split);
    }
    CHECK(!memcmp(a->bitmaps, b->bitmaps,
                  sizeof(*a->bitmaps) * a->maps * a->node_count));
    for (uint32_t i = 0; i < a->maps; i++)
        CHECK(a->bins[i].type == b->bins[i].type &&
              a->bins[i].low.u == b->bins[i].low.u &&
              a->bins[i].high.u == b->bins[i].high.u);
}

static void bytes_give_the_same_tree(void)
{
    static const uint32_t counts[] = {0, 1, 5, 300, 20000};

    for (int kind = 0; kind < KINDS; kind++)
        for (size_t k = 0; k < sizeof(counts) / sizeof(counts[0]); k++)
            for (int ndims = 1; ndims <= 3; ndims++) {
                struct bm_tree_spec spec;
                struct bm_buffer b;
                struct bm_tree t;
                struct sample s;

                sample_init(&s, (enum kind)kind, counts[k], ndims,
                            k % 2 ? BOUMA_TYPE_F32 : BOUMA_TYPE_F64, 6);
                spec = spec_of(&s);
                encode(&b, &s.t);
                CHECK(!decode(&t, b.data, b.size, &spec));
                check_same(&s.t, &t);
                bm_tree_release(&t);
                if (s.t.count) {
                    spec.particles = s.t.count - 1;
                    CHECK_EQ(decode(&t, b.data, b.size, &spec), BOUMA_EFORMAT);
                    bm_tree_release(&t);
                }
                bm_buffer_release(&b);
                sample_release(&s);
            }
}

/* With leaves of 256 and four rows, at most 0.15 bytes a particle. */
static void bytes_are_few(void)
{
    for (int kind = UNIFORM; kind <= LATTICE; kind++) {
        struct bm_buffer b;
        struct sample s;

        sample_init(&s, (enum kind)kind, 300000, 3, BOUMA_TYPE_F64, 256);
        encode(&b, &s.t);
        CHECK(b.size < 0.15 * 300000);
        bm_buffer_release(&b);
        sample_release(&s);
    }
}

/* 16-bit numbers are not enough for all, or just enough, or not worth it. */
static void bitmaps_of_any_number_are_kept(void)
{
    static const uint32_t distinct[] = {1,     2,     256,   257,
                                        65535, 65536, 65537, 150000};
    struct sample s;

    sample_init(&s, UNIFORM, 150000, 1, BOUMA_TYPE_F64, 1);
    for (size_t k = 0; k < sizeof(distinct) / sizeof(distinct[0]); k++) {
        struct bm_tree_spec spec = spec_of(&s);
        struct bm_buffer b;
        struct bm_tree t;
        uint32_t leaf = 0;

        for (uint32_t i = 0; i < s.t.node_count; i++)
            if (!s.t.nodes[i].right) {
                uint32_t number = leaf++ % distinct[k];

                s.t.bitmaps[i] = number * 2654435761u;
                s.t.bitmaps[s.t.node_count + i] = number;
            }
        bm_tree_join_maps(&s.t);
        encode(&b, &s.t);
        CHECK(!decode(&t, b.data, b.size, &spec));
        check_same(&s.t, &t);
        bm_tree_release(&t);
        bm_buffer_release(&b);
    }
    sample_release(&s);
}

/* ---- damage ------------------------------------------------------------- */

/* What is accepted is a tree that can be walked, and encoded again. */
static int try_decode(void *context, const uint8_t *data, size_t bytes)
{
    const struct bm_tree_spec *spec = context;
    struct bm_tree t;
    int rc = decode(&t, data, bytes, spec);

    CHECK(rc == BOUMA_OK || rc == BOUMA_EFORMAT);
    if (!rc) {
        struct bm_tree_query q = {
            .boxed = 1, .low = {1, 1, 1}, .high = {3, 2, 3}};
        struct bm_run *runs;
        size_t count;

        CHECK(!bm_tree_select(&t, &q, &runs, &count));
        for (size_t i = 0; i < count; i++)
            CHECK(runs[i].begin < runs[i].end && runs[i].end <= t.count);
        bm_drop(t.a, runs);
    }
    bm_tree_release(&t);
    return rc;
}

static void damage_is_noticed_or_harmless(void)
{
    for (int kind = UNIFORM; kind <= HOLES; kind++)
        for (uint32_t leaf = 4; leaf <= 64; leaf *= 4) {
            struct bm_tree_spec spec;
            struct bm_buffer b;
            struct sample s;

            sample_init(&s, (enum kind)kind, 300, 3, BOUMA_TYPE_F32, leaf);
            spec = spec_of(&s);
            encode(&b, &s.t);
            CHECK_EQ(cut_bytes(try_decode, &spec, b.data, b.size, 0).accepted,
                     0);
            hurt_bytes(try_decode, &spec, b.data, b.size, 0);
            scramble_bytes(try_decode, &spec, b.data, b.size, 0, 9, 500);
            bm_put_u8(&b, 0); /* a byte too many */
            CHECK_EQ(try_copy(try_decode, &spec, b.data, b.size, 0),
                     BOUMA_EFORMAT);
            bm_buffer_release(&b);
            sample_release(&s);
        }
}

/* ---- memory ------------------------------------------------------------- */

/* Encode, decode and select with so many allocations. */
static int act(const struct bm_tree *source, const struct bm_tree_spec *spec,
               const bouma_allocator *a)
{
    struct bm_tree_query q = {.boxed = 1, .high = {3, 3, 3}};
    struct bm_tree from = *source, t;
    struct bm_codec_state state;
    struct bm_run *runs = NULL;
    struct bm_buffer b;
    size_t count;
    int rc;

    from.a = a;
    bm_codec_state_init(&state, a);
    bm_buffer_init(&b, a);
    bm_tree_init(&t, a);
    rc = bm_tree_encode(&b, &from, &state);
    if (!rc)
        rc = bm_tree_decode(&t, b.data, b.size, spec, &state);
    if (!rc)
        rc = bm_tree_select(&t, &q, &runs, &count);
    bm_drop(a, runs);
    bm_tree_release(&t);
    bm_buffer_release(&b);
    bm_codec_state_release(&state);
    return rc;
}

static void no_memory_is_told_and_nothing_leaks(void)
{
    struct sample s;
    struct bm_tree_spec spec;
    struct fault_alloc memory;
    int rc = 1, failed = 0;

    fault_alloc_init(&memory);
    sample_init(&s, UNIFORM, 1000, 3, BOUMA_TYPE_F32, 4);
    spec = spec_of(&s);
    for (long most = 0; rc && most < 1000; most++) {
        fault_alloc_arm(&memory, most + 1, 1);
        rc = act(&s.t, &spec, &memory.table);
        CHECK(rc == BOUMA_OK || rc == BOUMA_ENOMEM);
        CHECK_EQ(memory.live, 0);
        failed += rc != 0;
    }
    CHECK(!rc && failed > 10);
    sample_release(&s);
}

int main(void)
{
    queries_lose_nothing();
    all_of_it_is_inside();
    small_boxes_take_few();
    bytes_give_the_same_tree();
    bytes_are_few();
    bitmaps_of_any_number_are_kept();
    damage_is_noticed_or_harmless();
    no_memory_is_told_and_nothing_leaks();
    return check_result();
}
