/* test_hz_partition.c -- partitions of an HZ order, their blocks and their own
 * index spaces, against the samples one by one. */
#include "plan/hz_partition.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "plan/chunk_subset.h"
#include "plan/hz_local.h"
#include "templates.h"

enum { MOST_BITS = 12, ALL_BITS = 7 };

/* The partition of a sample: the first r characters of its Z address. */
static int64_t slow_partition(const char *text, int r, const int64_t index[3])
{
    return (int64_t)(slow_z(text, index) >> ((int)strlen(text) - r));
}

/* ---- boxes and blocks ---------------------------------------------------- */

struct told {
    int64_t *list;
    int64_t count;
};

static void note(void *context, int64_t partition)
{
    struct told *t = context;

    CHECK(!t->count || t->list[t->count - 1] < partition);
    t->list[t->count++] = partition;
}

static void check_boxes(const char *text, int r, const struct bm_box *box)
{
    struct bm_hz hz = template_of(text);
    struct bm_hz inside = bm_hz_partition_template(&hz, r);
    int64_t list[1 << ALL_BITS] = {0}, i[3], n = 0;
    uint8_t met[1 << ALL_BITS] = {0};
    struct told told = {list, 0};
    char rest[BM_HZ_BITS + 1];

    bm_hz_text(rest, &inside);
    CHECK_TEXT(rest, text + r);
    for (i[0] = box->lo[0]; i[0] < box->hi[0]; i[0]++)
        for (i[1] = box->lo[1]; i[1] < box->hi[1]; i[1]++)
            for (i[2] = box->lo[2]; i[2] < box->hi[2]; i[2]++) {
                int64_t p = slow_partition(text, r, i), origin[3];

                met[p] = 1;
                bm_hz_partition_origin(&hz, r, p, origin);
                for (int d = 0; d < 3; d++)
                    CHECK(i[d] >= origin[d] &&
                          i[d] < origin[d] + ((int64_t)1 << inside.count[d]));
            }
    bm_hz_partition_touched(&hz, r, box, note, &told);
    for (int64_t p = 0; p < (int64_t)1 << r; p++)
        if (met[p])
            CHECK_EQ(list[n++], p);
    CHECK_EQ(told.count, n);
}

/* -1: none yet; -2: several. */
static void check_blocks(const char *text, int r, int b)
{
    int length = (int)strlen(text), several = 0;
    uint64_t samples = (uint64_t)1 << length, blocks = samples >> b;
    int64_t of[1 << ALL_BITS];

    for (uint64_t i = 0; i < blocks; i++)
        of[i] = -1;
    for (uint64_t z = 0; z < samples; z++) {
        int64_t *at = &of[slow_hz(text, z) >> b], p;

        p = (int64_t)(z >> (length - r));
        *at = *at == -1 || *at == p ? p : -2;
    }
    for (uint64_t i = 0; i < blocks; i++) {
        int64_t p = bm_hz_partition_of_block(r, i);

        several += p == -1;
        CHECK_EQ(p, of[i] == -2 ? -1 : of[i]);
    }
    CHECK_EQ(several, r ? 1 << r : 0);
    for (uint64_t first = 0; first < blocks; first += 1 + first / 3)
        for (uint64_t end = first + 1; end <= blocks; end++) {
            int64_t p = of[first];

            for (uint64_t i = first; i < end; i++)
                p = of[i] == p ? p : -2;
            CHECK_EQ(bm_hz_partition_of_blocks(r, first, end),
                     p == -2 ? -1 : p);
        }
}

static void all_templates(void)
{
    uint64_t random = 3;
    char text[ALL_BITS + 1];

    for (int length = 0, all = 1; length <= ALL_BITS; length++, all *= 3)
        for (int n = 0; n < all; n++) {
            struct bm_hz hz;
            struct bm_box box;
            int r = (int)check_below(&random, length + 1);

            nth_template(text, length, n);
            hz = template_of(text);
            for (int d = 0; d < 3; d++) {
                int64_t size = (int64_t)1 << hz.count[d];

                box.lo[d] = check_below(&random, size);
                box.hi[d] =
                    box.lo[d] + 1 + check_below(&random, size - box.lo[d]);
            }
            check_boxes(text, r, &box);
        }
    /* Blocks do not care for letters. */
    for (int length = 0; length <= ALL_BITS; length++)
        for (int b = 0; b <= length; b++)
            for (int r = 0; r <= b && r + b <= length; r++) {
                random_template(text, length, &random);
                check_blocks(text, r, b);
            }
}

/* ---- index spaces of their own ------------------------------------------- */

struct grid {
    const char *text;
    struct bm_hz_blocks whole;
    struct bm_hz_local local;
    struct bm_chunking chunking;
    int b, r;
    int64_t per_file;
};

/* The key of a sample, as hz_local.h says it. */
static uint64_t slow_key(const struct grid *g, const int64_t index[3])
{
    int length = (int)strlen(g->text), rest = length - g->r;
    uint64_t z = slow_z(g->text, index), p = z >> rest, h;
    uint64_t keys = (uint64_t)g->r + ((uint64_t)1 << (rest - g->b)) - 1;

    if (slow_hz(g->text, z) >> g->b == 0)
        return 0;
    h = slow_hz(g->text + g->r, z & (((uint64_t)1 << rest) - 1));
    if (h >> g->b) /* a block */
        return 1 + p * keys + (uint64_t)g->r + (h >> g->b) - 1;
    /* a level of block 0 */
    return 1 + p * keys +
           (uint64_t)(slow_level(g->text + g->r,
                                 z & (((uint64_t)1 << rest) - 1)) -
                      (g->b - g->r) - 1);
}

/* The file of a key in its partition, before empty ones are left out. */
static uint64_t slow_file(const struct grid *g, uint64_t key)
{
    int rest = (int)strlen(g->text) - g->r;
    uint64_t blocks = (uint64_t)1 << (rest - g->b);
    uint64_t keys = (uint64_t)g->r + blocks - 1, i = (key - 1) % keys;
    uint64_t block = i < (uint64_t)g->r ? 0 : i - (uint64_t)g->r + 1;

    return 1 + (key - 1) / keys * blocks + block / (uint64_t)g->per_file;
}

static void check_chunks(const struct grid *g, const int64_t *samples,
                         uint64_t keys)
{
    const struct bm_chunking_functions *calls = g->chunking.calls;
    const void *own = g->chunking.own;
    int64_t chunk = 0, file = -1;
    uint64_t last = UINT64_MAX;

    for (uint64_t key = 0; key < keys; key++) {
        struct bm_footprint f;
        struct bm_hz inside;
        uint64_t slow = key ? slow_file(g, key) : 0;

        if (!samples[key]) {
            CHECK_EQ(calls->find(own, key), -1);
            continue;
        }
        CHECK_EQ(calls->find(own, key), chunk);
        CHECK_EQ(calls->key(own, chunk), key);
        f = calls->footprint(own, chunk);
        CHECK_EQ(bm_footprint_samples(&f), (uint64_t)samples[key]);
        inside = bm_hz_local_template(&g->local, key);
        for (int d = 0; d < 3; d++)
            CHECK(f.count[d] <= (int64_t)1 << inside.count[d]);
        CHECK(inside.bits <= g->b);
        file += slow != last;
        last = slow;
        CHECK_EQ(calls->file(own, chunk), file);
        chunk++;
    }
    CHECK_EQ(g->chunking.count, chunk);
    CHECK_EQ(g->local.first_file[(size_t)1 << g->r], file + 1);
    CHECK(file < bm_hz_local_most_files(&g->whole.hz, g->b, g->per_file, g->r));
    CHECK_EQ(calls->find(own, keys), -1);
    CHECK_EQ(calls->find(own, UINT64_MAX), -1);
}

static int is_in(const struct bm_footprint *f, const int64_t index[3])
{
    for (int d = 0; d < 3; d++) {
        int64_t from = index[d] - f->start[d];

        if (from < 0 || from & (((int64_t)1 << f->shift[d]) - 1) ||
            from >> f->shift[d] >= f->count[d])
            return 0;
    }
    return 1;
}

/* Where a sample is in its chunk, along the curve. */
static uint64_t slow_place(const struct grid *g, const int64_t index[3])
{
    int rest = (int)strlen(g->text) - g->r;
    uint64_t z = slow_z(g->text, index), h, inside;

    if (slow_hz(g->text, z) >> g->b == 0)
        return slow_hz(g->text, z);
    inside = z & (((uint64_t)1 << rest) - 1);
    h = slow_hz(g->text + g->r, inside);
    if (h >> g->b)
        return h & (((uint64_t)1 << g->b) - 1);
    return h - ((uint64_t)1 << (slow_level(g->text + g->r, inside) - 1));
}

/* Each sample is in its chunk, at its place; chunks have no others. */
static void check_samples(const struct grid *g)
{
    int rest = g->whole.hz.bits - g->r;
    uint64_t each = (uint64_t)g->r - 1 + ((uint64_t)1 << (rest - g->b));
    uint64_t keys = 1 + (each << g->r);
    int64_t *samples = calloc(keys, sizeof(*samples)), i[3];

    REQUIRE(samples);
    for (i[0] = 0; i[0] < g->whole.shape[0]; i[0]++)
        for (i[1] = 0; i[1] < g->whole.shape[1]; i[1]++)
            for (i[2] = 0; i[2] < g->whole.shape[2]; i[2]++) {
                uint64_t key = slow_key(g, i);
                struct bm_footprint f = bm_hz_local_footprint(&g->local, key);
                struct bm_hz inside = bm_hz_local_template(&g->local, key);
                int64_t at[3];
                uint64_t z;

                REQUIRE(key < keys);
                samples[key]++;
                CHECK(is_in(&f, i));
                for (int d = 0; d < 3; d++)
                    at[d] = (i[d] - f.start[d]) >> f.shift[d];
                z = bm_hz_z_of(&inside, at);
                CHECK_EQ(key ? z : bm_hz_of_z(&inside, z), slow_place(g, i));
            }
    check_chunks(g, samples, keys);
    free(samples);
}

struct marks {
    uint8_t *chunk; /* [chunks] */
    int64_t end;
};

static void mark(void *context, int64_t first, int64_t end)
{
    struct marks *t = context;

    CHECK(first >= t->end && end > first); /* ascending, none twice */
    t->end = end;
    memset(t->chunk + first, 1, (size_t)(end - first));
}

static void check_touched(struct bm_chunking c, const struct bm_box *box,
                          int level)
{
    struct marks t = {calloc((size_t)c.count + 1, 1), 0};

    REQUIRE(t.chunk);
    c.calls->touched(c.own, box, level, mark, &t);
    c.level = level;
    for (int64_t i = 0; i < c.count; i++) {
        struct bm_footprint f = bm_chunking_footprint(&c, i);

        CHECK_EQ(t.chunk[i], bm_footprint_samples_in(&f, box) > 0);
    }
    free(t.chunk);
}

/* The same of the chunks of partition 0, and of those of none. */
static void check_subset(const struct grid *g, const struct bm_box *box,
                         int level)
{
    uint8_t wanted[1 << MOST_BITS] = {1};

    for (int i = 0; i < 2; i++) {
        struct bm_chunk_subset *s = bm_chunk_subset_new(
            bm_allocator_default(), &g->chunking, i ? wanted : NULL);

        REQUIRE(s);
        check_touched(bm_chunk_subset_chunking(s), box, level);
        bm_chunk_subset_free(s);
    }
}

/* The partition of a chunk is the only one that has samples in its file; and
 * chunks of some partitions, and those of none, are all of them. */
static void check_partitions(const struct grid *g, const struct bm_chunking *c,
                             uint64_t *random)
{
    uint8_t wanted[1 << MOST_BITS] = {0};
    int64_t *of = calloc((size_t)c->count + 1, sizeof(*of)), found = 0, file;
    struct bm_chunk_subset *some, *shared;

    REQUIRE(of);
    CHECK_EQ(c->partitions, (int64_t)1 << g->r);
    for (int64_t i = 0; i < c->count; i++) { /* 1 more; -1: several */
        struct bm_footprint f = c->calls->footprint(c->own, i);
        struct bm_box box = bm_footprint_bounds(&f);
        int64_t first = slow_partition(g->text, g->r, box.lo) + 1, last[3];

        for (int d = 0; d < 3; d++)
            last[d] = box.hi[d] - 1;
        file = c->calls->file(c->own, i);
        if (slow_partition(g->text, g->r, last) + 1 != first)
            first = -1;
        of[file] = !of[file] || of[file] == first ? first : -1;
    }
    for (int64_t i = 0; i < (int64_t)1 << g->r; i++)
        wanted[i] = (uint8_t)check_below(random, 2);
    some = bm_chunk_subset_new(bm_allocator_default(), c, wanted);
    shared = bm_chunk_subset_new(bm_allocator_default(), c, NULL);
    REQUIRE(some && shared);
    for (int64_t i = 0; i < c->count; i++) {
        int64_t p = c->calls->partition(c->own, i);
        struct bm_chunk_subset *in = p < 0 ? shared : wanted[p] ? some : NULL;
        struct bm_chunking s;

        /* Which ones a domain leaves empty is not asked. */
        CHECK(p < 0 || of[c->calls->file(c->own, i)] == p + 1);
        if (!in)
            continue;
        s = bm_chunk_subset_chunking(in);
        file = s.calls->find(s.own, c->calls->key(c->own, i));
        REQUIRE(file >= 0 && file < s.count);
        CHECK_EQ(in->chunk[file], i);
        CHECK_EQ(s.calls->key(s.own, file), c->calls->key(c->own, i));
        CHECK_EQ(s.calls->file(s.own, file), c->calls->file(c->own, i));
        found++;
    }
    CHECK_EQ(found, some->count + shared->count);
    bm_chunk_subset_free(some);
    bm_chunk_subset_free(shared);
    free(of);
}

static void check_grid(const char *text, const int64_t shape[3], int b, int r,
                       uint64_t *random)
{
    struct grid g = {.text = text, .b = b, .r = r};
    struct bm_hz hz = template_of(text);
    struct bm_chunking whole;

    g.per_file = 1 + check_below(random, 6);
    REQUIRE(!bm_hz_blocks_init(&g.whole, bm_allocator_default(), &hz, shape, b,
                               g.per_file));
    REQUIRE(!bm_hz_local_init(&g.local, bm_allocator_default(), &g.whole, r));
    g.chunking = bm_hz_local_chunking(&g.local);
    check_samples(&g);
    check_partitions(&g, &g.chunking, random);
    g.whole.partition_bits = r;
    whole = bm_hz_blocks_chunking(&g.whole);
    check_partitions(&g, &whole, random);
    for (int i = 0; i < 6; i++) {
        struct bm_box box;

        for (int d = 0; d < 3; d++) {
            box.lo[d] = check_below(random, shape[d]);
            box.hi[d] =
                box.lo[d] + 1 + check_below(random, shape[d] - box.lo[d]);
        }
        check_touched(g.chunking, &box, i % 4);
        check_subset(&g, &box, i % 4);
    }
    bm_hz_local_release(&g.local);
    bm_hz_blocks_release(&g.whole);
}

static void random_grids(void)
{
    uint64_t random = 11;

    for (int i = 0; i < 1500; i++) {
        int bits = 2 + (int)check_below(&random, MOST_BITS - 1), b, r;
        char text[MOST_BITS + 1];
        int64_t shape[3] = {1, 1, 1};

        random_template(text, bits, &random);
        for (int c = 0; c < bits; c++)
            shape[axis_of_letter(text[c])] *= 2;
        for (int d = 0; d < 3; d++) /* some whole, most cut */
            if (check_below(&random, 3))
                shape[d] = 1 + check_below(&random, shape[d]);
        b = 1 + (int)check_below(&random, bits - 1);
        r = b < bits - b ? b : bits - b;
        r = 1 + (int)check_below(&random, r);
        check_grid(text, shape, b, r, &random);
    }
}

/* ---- figures ------------------------------------------------------------- */

/* Figure 10: 16 x 16 samples, 4 partitions, blocks of 16. */
static void figure_10(void)
{
    static const int several[4] = {4, 4, 2, 2};
    static const uint64_t of_block_0[4][4] = {
        {0, 4, 8, 9}, {2, 5, 10, 11}, {1, 6, 12, 13}, {3, 7, 14, 15}};
    struct bm_hz hz = template_of("yxyxyxyx");
    int seen[16][4] = {{0}};

    for (uint64_t h = 0; h < 256; h++)
        seen[h / 16][bm_hz_to_z(&hz, h) >> 6] = 1;
    for (uint64_t block = 0; block < 16; block++) {
        int n =
            seen[block][0] + seen[block][1] + seen[block][2] + seen[block][3];

        CHECK_EQ(n, block < 4 ? several[block] : 1);
        CHECK_EQ(bm_hz_partition_of_block(2, block) < 0, block < 4);
        if (block >= 4)
            CHECK(seen[block][bm_hz_partition_of_block(2, block)]);
    }
    for (int p = 0; p < 4; p++)
        for (int i = 0; i < 4; i++)
            CHECK_EQ(bm_hz_to_z(&hz, of_block_0[p][i]) >> 6, (uint64_t)p);
}

/* Figure 11: the first block of each partition's own index space; the top has
 * the first 4 of each. */
static void figure_11(void)
{
    static const uint64_t whole[4][16] = {
        {0, 4, 8, 9, 16, 17, 18, 19, 32, 33, 34, 35, 36, 37, 38, 39},
        {2, 5, 10, 11, 20, 21, 22, 23, 40, 41, 42, 43, 44, 45, 46, 47},
        {1, 6, 12, 13, 24, 25, 26, 27, 48, 49, 50, 51, 52, 53, 54, 55},
        {3, 7, 14, 15, 28, 29, 30, 31, 56, 57, 58, 59, 60, 61, 62, 63}};
    const int64_t shape[3] = {1, 16, 16};
    struct bm_hz hz = template_of("yxyxyxyx");
    struct bm_hz inside = bm_hz_partition_template(&hz, 2);
    struct bm_hz_blocks blocks;
    struct bm_hz_local local;

    REQUIRE(
        !bm_hz_blocks_init(&blocks, bm_allocator_default(), &hz, shape, 4, 4));
    REQUIRE(!bm_hz_local_init(&local, bm_allocator_default(), &blocks, 2));
    CHECK_EQ(local.keys, 5);
    for (int p = 0; p < 4; p++)
        for (uint64_t h = 0; h < 16; h++) {
            uint64_t z = (uint64_t)p << 6 | bm_hz_to_z(&inside, h);
            uint64_t key = h < 4   ? 0
                           : h < 8 ? (uint64_t)(1 + 5 * p)
                                   : (uint64_t)(2 + 5 * p);
            struct bm_footprint f = bm_hz_local_footprint(&local, key);
            int64_t index[3];

            CHECK_EQ(bm_hz_of_z(&hz, z), whole[p][h]);
            bm_hz_index_of(&hz, z, index);
            CHECK(is_in(&f, index));
        }
    bm_hz_local_release(&local);
    bm_hz_blocks_release(&blocks);
}

/* ---- without memory ------------------------------------------------------ */

static int left;

static void *few(void *user, void *block, size_t bytes)
{
    (void)user;
    return left-- > 0 ? realloc(block, bytes) : NULL;
}

static void release(void *user, void *block)
{
    (void)user;
    free(block);
}

static void little_memory(void)
{
    const bouma_allocator a = {
        .size = sizeof(a), .resize = few, .release = release};
    const int64_t shape[3] = {5, 7, 13};
    struct bm_hz hz = template_of("zyxzyxzyxx");
    struct bm_hz_blocks blocks;
    int failures = 0, rc;

    REQUIRE(
        !bm_hz_blocks_init(&blocks, bm_allocator_default(), &hz, shape, 3, 3));
    do {
        struct bm_hz_local local;

        left = failures;
        rc = bm_hz_local_init(&local, &a, &blocks, 3);
        CHECK(!rc || rc == BOUMA_ENOMEM);
        bm_hz_local_release(&local);
        failures += rc != 0;
    } while (rc);
    CHECK(failures > 2);
    bm_hz_blocks_release(&blocks);
}

int main(void)
{
    all_templates();
    random_grids();
    figure_10();
    figure_11();
    little_memory();
    return check_result();
}
