/* test_hz_blocks.c -- the blocks of a grid in HZ order against the order of its
 * samples, one by one. */
#include "plan/hz_blocks.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"

enum { MOST_BITS = 12 };

/* A template of the characters "zyx". */
static struct bm_hz template_of(const char *text)
{
    struct bm_hz hz = {.bits = (int)strlen(text)};

    for (int i = 0; i < hz.bits; i++) {
        hz.axis[i] = (uint8_t)(strchr("zyx", text[i]) - "zyx");
        hz.count[hz.axis[i]]++;
        hz.mask[hz.axis[i]] |= (uint64_t)1 << (hz.bits - 1 - i);
    }
    return hz;
}

/* The HZ address of a sample, bit by bit. */
static uint64_t address_of(const struct bm_hz *hz, const int64_t index[3])
{
    int64_t left[3] = {index[0], index[1], index[2]};
    uint64_t z = 0;

    for (int i = hz->bits - 1; i >= 0; i--) {
        int d = hz->axis[i];

        z |= (uint64_t)(left[d] & 1) << (hz->bits - 1 - i);
        left[d] >>= 1;
    }
    z |= (uint64_t)1 << hz->bits;
    while (!(z & 1))
        z >>= 1;
    return z >> 1;
}

struct grid {
    struct bm_hz_blocks blocks;
    struct bm_chunking chunking;
    int64_t *samples; /* [blocks]: how many samples of the domain each has */
    uint64_t count;   /* of blocks */
};

static void count_samples(struct grid *g)
{
    const struct bm_hz_blocks *o = &g->blocks;
    int64_t i[3];

    for (i[0] = 0; i[0] < o->shape[0]; i[0]++)
        for (i[1] = 0; i[1] < o->shape[1]; i[1]++)
            for (i[2] = 0; i[2] < o->shape[2]; i[2]++)
                g->samples[address_of(&o->hz, i) >> o->block_bits]++;
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

/* Lists of chunks, from all kinds of firsts on. */
static void check_lists(const struct grid *g)
{
    const struct bm_chunking *c = &g->chunking;

    for (int64_t first = 0; first < c->count; first += 1 + first / 7) {
        struct bm_listed_chunk list[50];
        int64_t n = c->count - first < 50 ? c->count - first : 50;

        bm_chunking_list(c, first, n, list);
        for (int64_t i = 0; i < n; i++) {
            struct bm_footprint f = c->calls->footprint(c->own, first + i);

            CHECK_EQ(list[i].chunk, first + i);
            CHECK_EQ(list[i].key, c->calls->key(c->own, first + i));
            for (int d = 0; d < 3; d++) {
                CHECK_EQ(list[i].footprint.start[d], f.start[d]);
                CHECK_EQ(list[i].footprint.count[d], f.count[d]);
                CHECK_EQ(list[i].footprint.shift[d], f.shift[d]);
            }
        }
        CHECK_EQ(bm_chunking_position(c, first), first);
    }
}

/* Numbers of chunks, keys, files; each sample is in the footprint of its block,
 * which has no others. */
static void check_chunks(const struct grid *g)
{
    const struct bm_hz_blocks *o = &g->blocks;
    const struct bm_chunking_functions *calls = g->chunking.calls;
    int64_t chunk = 0, file = -1, last = -1, i[3];

    for (uint64_t b = 0; b < g->count; b++) {
        struct bm_footprint f;

        if (!g->samples[b]) {
            CHECK_EQ(calls->find(o, b), -1);
            continue;
        }
        CHECK_EQ(calls->find(o, b), chunk);
        CHECK_EQ(calls->key(o, chunk), b);
        f = calls->footprint(o, chunk);
        CHECK_EQ(bm_footprint_samples(&f), (uint64_t)g->samples[b]);
        if ((int64_t)b / o->blocks_per_file != last) {
            last = (int64_t)b / o->blocks_per_file;
            file++;
            CHECK_EQ(bm_hz_blocks_file_start(o, file),
                     (uint64_t)(last * o->blocks_per_file));
        }
        CHECK_EQ(calls->file(o, chunk), file);
        chunk++;
    }
    CHECK_EQ(g->chunking.count, chunk);
    CHECK_EQ(o->files, file + 1);
    CHECK_EQ(calls->find(o, g->count), -1);
    CHECK_EQ(calls->find(o, UINT64_MAX), -1);
    for (i[0] = 0; i[0] < o->shape[0]; i[0]++)
        for (i[1] = 0; i[1] < o->shape[1]; i[1]++)
            for (i[2] = 0; i[2] < o->shape[2]; i[2]++) {
                uint64_t b = address_of(&o->hz, i) >> o->block_bits;
                struct bm_footprint f = calls->footprint(o, calls->find(o, b));

                CHECK(is_in(&f, i));
            }
}

struct told {
    uint8_t *chunk; /* [chunks] */
    int64_t end;
};

static void mark(void *context, int64_t first, int64_t end)
{
    struct told *t = context;

    CHECK(first >= t->end && end > first); /* ascending, none twice */
    t->end = end;
    memset(t->chunk + first, 1, (size_t)(end - first));
}

/* Just those with samples of the level in the box. */
static void check_touched(const struct grid *g, const struct bm_box *box,
                          int level)
{
    size_t chunks = (size_t)g->chunking.count;
    struct told t = {calloc(chunks, 1), 0};
    struct bm_chunking c = g->chunking;

    REQUIRE(t.chunk);
    c.calls->touched(c.own, box, level, mark, &t);
    c.level = level;
    for (int64_t i = 0; i < c.count; i++) {
        struct bm_footprint f = bm_chunking_footprint(&c, i);
        int has = bm_footprint_samples_in(&f, box) > 0;

        CHECK_EQ(t.chunk[i], has);
    }
    free(t.chunk);
}

static void check_grid(const char *text, const int64_t shape[3], int b,
                       int64_t per_file, uint64_t *random)
{
    struct bm_hz hz = template_of(text);
    struct grid g;

    REQUIRE(!bm_hz_blocks_init(&g.blocks, bm_allocator_default(), &hz, shape, b,
                               per_file));
    g.count = (uint64_t)1 << (hz.bits - b);
    g.chunking = bm_hz_blocks_chunking(&g.blocks);
    g.samples = calloc(g.count, sizeof(*g.samples));
    REQUIRE(g.samples);
    count_samples(&g);
    check_chunks(&g);
    check_lists(&g);
    for (int i = 0; i < 12; i++) {
        struct bm_box box;

        for (int d = 0; d < 3; d++) {
            box.lo[d] = check_below(random, shape[d]);
            box.hi[d] =
                box.lo[d] + 1 + check_below(random, shape[d] - box.lo[d]);
        }
        check_touched(&g, &box, i % 4);
    }
    free(g.samples);
    bm_hz_blocks_release(&g.blocks);
}

static void random_grids(void)
{
    uint64_t random = 7;

    for (int i = 0; i < 1500; i++) {
        int bits = (int)check_below(&random, MOST_BITS + 1);
        char text[MOST_BITS + 1] = "";
        int64_t shape[3] = {1, 1, 1};

        for (int c = 0; c < bits; c++) {
            int d = (int)check_below(&random, 3);

            text[c] = "zyx"[d];
            shape[d] *= 2;
        }
        for (int d = 0; d < 3; d++) /* some whole, most cut */
            if (check_below(&random, 3))
                shape[d] = 1 + check_below(&random, shape[d]);
        check_grid(text, shape, (int)check_below(&random, bits + 1),
                   1 + check_below(&random, 9), &random);
    }
}

/* No table has the size of the grid. */
static void large_grids(void)
{
    struct bm_hz hz;
    struct bm_hz_blocks o;
    int64_t shape[3] = {1000000, 1000000, 600000};
    struct bm_chunking c;
    char text[64] = "";

    for (int i = 0; i < 60; i++)
        text[i] = "zyx"[i % 3];
    hz = template_of(text);
    CHECK_EQ(bm_hz_blocks_init(&o, bm_allocator_default(), &hz, shape, 15, 512),
             BOUMA_ELIMIT);
    bm_hz_blocks_release(&o);
    REQUIRE(!bm_hz_blocks_init(&o, bm_allocator_default(), &hz, shape, 21,
                               (int64_t)1 << 22));
    c = bm_hz_blocks_chunking(&o);
    for (int64_t chunk = 0; chunk < c.count; chunk += c.count / 997) {
        uint64_t key = c.calls->key(c.own, chunk);

        CHECK_EQ(c.calls->find(c.own, key), chunk);
    }
    CHECK_EQ(c.calls->file(c.own, c.count - 1), o.files - 1);
    bm_hz_blocks_release(&o);
}

static void *little(void *user, void *block, size_t bytes)
{
    (void)user;
    return bytes <= 1024 ? realloc(block, bytes) : NULL;
}

static void release(void *user, void *block)
{
    (void)user;
    free(block);
}

/* A domain of few samples is in few files, though its template has room for a
 * million: their table has no more entries than chunks. */
static void small_grid_of_large_template(void)
{
    const bouma_allocator a = {
        .size = sizeof(a), .resize = little, .release = release};
    const int64_t shape[3] = {2, 2, 3};
    struct bm_hz_blocks o;
    struct bm_hz hz;
    char text[64] = "";

    for (int i = 0; i < 51; i++)
        text[i] = "zyx"[i % 3];
    hz = template_of(text);
    REQUIRE(!bm_hz_blocks_init(&o, &a, &hz, shape, 1, (int64_t)1 << 30));
    CHECK(o.count <= 12);
    CHECK(o.files > 1 && o.files <= o.count);
    bm_hz_blocks_release(&o);
}

int main(void)
{
    random_grids();
    large_grids();
    small_grid_of_large_template();
    return check_result();
}
