/* The particles of a rank as pieces: each in one, none too large, bounds that
 * are exact, whatever the positions are and however they lie in memory. */
#include "plan/pieces.h"

#include <math.h>

#include "check.h"

#define MOST 3000

enum kind {
    EVEN,
    BLOBS,
    FEW_PLACES,
    HALVING,
    LARGE,
    TINY,
    FLAT,
    BROKEN,
    KINDS
};

static double uniform(uint64_t *state)
{
    return (double)(check_random(state) >> 11) * 0x1p-53;
}

static double coordinate(enum kind kind, size_t i, int d, bouma_type type,
                         uint64_t *state)
{
    int f64 = type == BOUMA_F64;

    switch (kind) {
    case EVEN:
        return uniform(state) - 0.5;
    case BLOBS:
        return i % 10 ? (double)(i % 7) + 1e-4 * uniform(state)
                      : 10 * uniform(state);
    case FEW_PLACES:
        return (double)((i * i + (size_t)d) % 5);
    case HALVING: /* as deep as it gets */
        return ldexp(1, -(int)(i % (f64 ? 1070 : 145)));
    case LARGE:
        return (2 * uniform(state) - 1) * (f64 ? 1.7e308 : 3.4e38);
    case TINY:
        return (double)check_below(state, 100) * (f64 ? 4.95e-324 : 1.5e-45);
    case FLAT:
        return d == 1 ? 1e30 : d == 0 ? uniform(state) : -0.0;
    default:
        return check_below(state, 4)   ? uniform(state)
               : check_below(state, 2) ? NAN
               : check_below(state, 2) ? INFINITY
                                       : -INFINITY;
    }
}

/* Positions in any layout, out of step with any alignment. */
struct store {
    struct bm_positions p;
    uint8_t *raw;
};

static void store_init(struct store *s, enum kind kind, bouma_type type,
                       int ndims, size_t count, uint64_t *state)
{
    size_t size = type == BOUMA_F32 ? 4 : 8;
    size_t each = 3 * size + (size_t)check_below(state, 6);
    int apart = (int)check_below(state, 2); /* an array for each axis */

    s->raw = calloc(3 * (count + 1), each);
    REQUIRE(s->raw);
    s->p = (struct bm_positions){.ndims = ndims, .type = type, .count = count};
    for (int d = 0; d < ndims; d++) {
        uint8_t *at = s->raw + (apart ? (count + 1) * each * (size_t)d
                                      : size * (size_t)d);

        s->p.stride[d] = (int64_t)(apart ? size : each);
        if (apart && check_below(state, 4) == 0 && count) { /* backwards */
            at += (count - 1) * size;
            s->p.stride[d] = -s->p.stride[d];
        }
        s->p.axis[d] = at;
        for (size_t i = 0; i < count; i++) {
            double v = coordinate(kind, i, d, type, state);
            float f = (float)v;

            memcpy(at + (int64_t)i * s->p.stride[d],
                   size == 4 ? (void *)&f : (void *)&v, size);
        }
    }
}

static double at(const struct bm_positions *p, size_t i, int d)
{
    const uint8_t *place =
        (const uint8_t *)p->axis[d] + (int64_t)i * p->stride[d];
    double v;
    float f;

    if (p->type == BOUMA_F32) {
        memcpy(&f, place, sizeof(f));
        return f;
    }
    memcpy(&v, place, sizeof(v));
    return v;
}

static int finite_all(const struct bm_positions *p, size_t i)
{
    for (int d = 0; d < p->ndims; d++)
        if (!isfinite(at(p, i, d)))
            return 0;
    return 1;
}

static void check_pieces(const struct bm_pieces *q,
                         const struct bm_positions *p, uint64_t most)
{
    struct bm_unit *seen = calloc(q->count + 1, sizeof(*seen));
    uint64_t *finite = calloc(q->count + 1, sizeof(*finite)), bad = 0;
    double low[3], high[3];

    REQUIRE(seen && finite);
    CHECK_EQ(q->count > 0, p->count > 0);
    for (size_t i = 0; i < p->count; i++) {
        struct bm_unit *u;

        REQUIRE(q->of[i] < q->count);
        u = &seen[q->of[i]];
        u->count++;
        if (!finite_all(p, i)) {
            CHECK_EQ(q->of[i], 0);
            bad++;
            continue;
        }
        for (int d = 0; d < p->ndims; d++) {
            double v = at(p, i, d);

            if (!finite[q->of[i]] || v < u->low[d])
                u->low[d] = v;
            if (!finite[q->of[i]] || v > u->high[d])
                u->high[d] = v;
        }
        finite[q->of[i]]++;
    }
    for (size_t k = 0; k < q->count; k++) {
        int place = 1;

        CHECK(q->units[k].count > 0);
        CHECK_EQ(q->units[k].count, seen[k].count);
        CHECK_EQ(q->units[k].rank, 0);
        for (int d = 0; d < 3; d++) {
            CHECK(q->units[k].low[d] == seen[k].low[d]);
            CHECK(q->units[k].high[d] == seen[k].high[d]);
            place &= seen[k].low[d] == seen[k].high[d];
        }
        CHECK(finite[k] <= (most ? most : 1) || place);
    }
    CHECK_EQ(bm_positions_bounds(p, low, high), bad);
    for (int d = 0; d < 3; d++) {
        double l = INFINITY, h = -INFINITY;

        for (size_t k = 0; k < q->count; k++)
            if (finite[k]) {
                l = fmin(l, seen[k].low[d]);
                h = fmax(h, seen[k].high[d]);
            }
        if (d >= p->ndims)
            l = h = 0;
        CHECK(low[d] == l && high[d] == h);
    }
    free(seen);
    free(finite);
}

static void pieces_hold_all_and_are_small(void)
{
    uint64_t state = 41;

    for (int tries = 0; tries < 1500; tries++) {
        enum kind kind = (enum kind)(tries % KINDS);
        bouma_type type = tries / KINDS % 2 ? BOUMA_F32 : BOUMA_F64;
        size_t count = tries % 7 ? (size_t)check_below(&state, MOST)
                                 : (size_t)check_below(&state, 4);
        int64_t most = check_below(&state, 4)
                           ? check_below(&state, 1 + (int64_t)count / 3)
                           : check_below(&state, 4);
        struct bm_pieces q, again;
        struct store s;

        store_init(&s, kind, type, 1 + (int)check_below(&state, 3), count,
                   &state);
        REQUIRE(
            !bm_pieces_make(&q, bm_allocator_default(), &s.p, (uint64_t)most));
        REQUIRE(!bm_pieces_make(&again, bm_allocator_default(), &s.p,
                                (uint64_t)most));
        check_pieces(&q, &s.p, (uint64_t)most);
        CHECK_EQ(q.count, again.count);
        CHECK(!memcmp(q.of, again.of, count * sizeof(*q.of)));
        bm_pieces_release(&q);
        bm_pieces_release(&q);
        bm_pieces_release(&again);
        free(s.raw);
    }
}

/* As small steps have few cells and large ones many, both are seen. */
static void many_particles_make_few_pieces(void)
{
    size_t count = 300000;
    uint64_t state = 42;

    for (int kind = EVEN; kind <= BLOBS; kind++)
        for (int ndims = 1; ndims <= 3; ndims++)
            for (uint64_t most = 30000; most >= 30; most /= 10) {
                struct bm_pieces q;
                struct store s;

                store_init(&s, (enum kind)kind, BOUMA_F32, ndims, count,
                           &state);
                REQUIRE(
                    !bm_pieces_make(&q, bm_allocator_default(), &s.p, most));
                check_pieces(&q, &s.p, most);
                /* Halves that fit together are one: not much below half full
                 * on average, but for what is left around the blobs. */
                CHECK(q.count <= 3 * count / most + 100);
                bm_pieces_release(&q);
                free(s.raw);
            }
}

static void one_place_is_one_piece(void)
{
    size_t count = 100000;
    float *same = malloc(count * sizeof(*same));
    struct bm_positions p = {
        3, BOUMA_F32, {same, same, same}, {4, 4, 4}, count};
    struct bm_pieces q;

    REQUIRE(same);
    for (size_t i = 0; i < count; i++)
        same[i] = 0.3f;
    REQUIRE(!bm_pieces_make(&q, bm_allocator_default(), &p, 1));
    CHECK_EQ(q.count, 1);
    check_pieces(&q, &p, 1);
    bm_pieces_release(&q);
    same[5000] = NAN; /* and with one that is nowhere */
    REQUIRE(!bm_pieces_make(&q, bm_allocator_default(), &p, 1));
    CHECK_EQ(q.count, 1);
    bm_pieces_release(&q);
    for (size_t i = 0; i < count; i++)
        same[i] = i % 2 ? NAN : -INFINITY; /* all of them */
    REQUIRE(!bm_pieces_make(&q, bm_allocator_default(), &p, 1));
    CHECK_EQ(q.count, 1);
    CHECK(q.units[0].low[0] == 0 && q.units[0].high[2] == 0);
    CHECK_EQ(q.units[0].count, count);
    bm_pieces_release(&q);
    free(same);
}

static void wrong_questions_are_refused(void)
{
    struct bm_positions p = {.ndims = 3, .type = BOUMA_F32};
    struct bm_pieces q;

    REQUIRE(!bm_pieces_make(&q, bm_allocator_default(), &p, 1));
    CHECK_EQ(q.count, 0);
    bm_pieces_release(&q);
    p.ndims = 0;
    CHECK_EQ(bm_pieces_make(&q, bm_allocator_default(), &p, 1), BOUMA_EINVAL);
    p.ndims = 3;
    p.type = BOUMA_I32;
    CHECK_EQ(bm_pieces_make(&q, bm_allocator_default(), &p, 1), BOUMA_EINVAL);
    p.type = BOUMA_F64;
    p.count = UINT32_MAX;
    CHECK_EQ(bm_pieces_make(&q, bm_allocator_default(), &p, 1), BOUMA_ELIMIT);
    bm_pieces_release(&q);
}

struct failing {
    long left, blocks;
};

static void *failing_resize(void *user, void *block, size_t bytes)
{
    struct failing *f = user;
    void *out;

    if (f->left-- <= 0)
        return NULL;
    out = realloc(block, bytes);
    f->blocks += !block && out;
    return out;
}

static void failing_release(void *user, void *block)
{
    ((struct failing *)user)->blocks--;
    free(block);
}

static void no_memory_is_said_and_nothing_is_kept(void)
{
    uint64_t state = 43;
    struct store s;

    store_init(&s, BLOBS, BOUMA_F64, 3, MOST, &state);
    for (long n = 0, rc = BOUMA_ENOMEM; rc; n++) {
        struct failing f = {n, 0};
        bouma_allocator a = {&f, failing_resize, failing_release};
        struct bm_pieces q;

        rc = bm_pieces_make(&q, &a, &s.p, 9);
        CHECK(rc == BOUMA_OK || rc == BOUMA_ENOMEM);
        bm_pieces_release(&q);
        CHECK_EQ(f.blocks, 0);
        REQUIRE(n < 100);
    }
    free(s.raw);
}

int main(void)
{
    pieces_hold_all_and_are_small();
    many_particles_make_few_pieces();
    one_place_is_one_piece();
    wrong_questions_are_refused();
    no_memory_is_said_and_nothing_is_kept();
    return check_result();
}
