/* Splitting samples into a coarser level and its details, and back, against
 * asking each sample where it belongs. */
#include "codec/lattice.h"

#include "check.h"
#include "native.h"

/* Sample (z, y, x) of a lattice has this value, in 'size' bytes. */
static uint64_t value_at(const struct bm_lattice *l, const int64_t at[3],
                         size_t size)
{
    uint64_t v =
        0x9e3779b97f4a7c15u *
        (uint64_t)(1 + (at[0] * l->count[1] + at[1]) * l->count[2] + at[2]);

    v ^= v >> 29;
    return size == 8 ? v : v & (((uint64_t)1 << 8 * size) - 1);
}

static int is_coarse(const struct bm_lattice *l, const int64_t at[3])
{
    for (int d = 0; d < 3; d++)
        if ((l->start[d] + at[d]) & 1)
            return 0;
    return 1;
}

static int in_part(const struct bm_strided *part, const int64_t at[3])
{
    for (int d = 0; d < 3; d++)
        if (at[d] < part->lo[d] || at[d] >= part->hi[d])
            return 0;
    return 1;
}

#define EACH_SAMPLE(l, at)                                                     \
    for (at[0] = 0; at[0] < (l)->count[0]; at[0]++)                            \
        for (at[1] = 0; at[1] < (l)->count[1]; at[1]++)                        \
            for (at[2] = 0; at[2] < (l)->count[2]; at[2]++)

/* ---- memory of the part ------------------------------------------------- */

enum { MEMORY = 1 << 18, MARK = 0xa5 };

/* Strides of several kinds for the part; where its first sample is. */
static uint8_t *lay_out(struct bm_strided *part, uint8_t *memory, size_t size,
                        int kind)
{
    int64_t n[3], s = (int64_t)size, origin = MEMORY / 2;

    for (int d = 0; d < 3; d++)
        n[d] = part->hi[d] - part->lo[d];
    part->stride[2] = s;
    part->stride[1] = s * n[2];
    part->stride[0] = part->stride[1] * n[1];
    if (kind == 1) { /* components between, ghost cells around */
        part->stride[2] = 3 * s;
        part->stride[1] = part->stride[2] * (n[2] + 2);
        part->stride[0] = part->stride[1] * (n[1] + 3);
    } else if (kind == 2) { /* unaligned, by one byte each */
        part->stride[2] = s + 1;
        part->stride[1] = part->stride[2] * n[2] + 1;
        part->stride[0] = part->stride[1] * n[1] + 3;
    } else if (kind == 3) { /* backwards */
        for (int d = 0; d < 3; d++)
            part->stride[d] = -part->stride[d];
    } else if (kind == 4) { /* Fortran order, one axis backwards */
        part->stride[0] = s;
        part->stride[1] = -s * n[0];
        part->stride[2] = s * n[0] * n[1];
    } else if (kind == 5) { /* dense rows at an odd address */
        origin++;
    } else if (kind == 6) { /* planes turned: rows go down */
        part->stride[1] = s;
        part->stride[2] = s * n[1];
    }
    return memory + origin;
}

static uint8_t *sample_at(const struct bm_strided *part, uint8_t *data,
                          const int64_t at[3])
{
    for (int d = 0; d < 3; d++)
        data += (at[d] - part->lo[d]) * part->stride[d];
    return data;
}

/* ---- one lattice, one part ---------------------------------------------- */

static uint8_t memory[MEMORY], detail[MEMORY / 4], coarse[MEMORY / 4],
    dense[MEMORY / 4];

static int check_split(const struct bm_lattice *l, size_t size,
                       const struct bm_strided *part, uint8_t *data)
{
    int64_t at[3], details = 0, coarses = 0;
    int bad = 0;

    memset(detail, MARK, sizeof(detail));
    memset(coarse, MARK, sizeof(coarse));
    EACH_SAMPLE(l, at)
    if (in_part(part, at)) {
        store_integer(sample_at(part, data, at), value_at(l, at, size), size);
    }
    bm_lattice_split(l, size, part, data, detail, coarse);
    EACH_SAMPLE(l, at)
    {
        uint8_t *p = is_coarse(l, at) ? coarse + (size_t)coarses++ * size
                                      : detail + (size_t)details++ * size;

        if (in_part(part, at))
            bad |= load_integer(p, size) != value_at(l, at, size);
        else
            for (size_t i = 0; i < size; i++)
                bad |= p[i] != MARK;
    }
    bad |= detail[(size_t)details * size] != MARK;
    bad |= coarse[(size_t)coarses * size] != MARK;
    bad |= (uint64_t)details != bm_lattice_details(l);
    return bad;
}

/* Both arrays are whole; the part alone is merged into marked memory. */
static int check_merge(const struct bm_lattice *l, size_t size,
                       const struct bm_strided *part, uint8_t *data)
{
    int64_t at[3];
    uint8_t *d = detail, *c = coarse;
    int bad = 0;

    EACH_SAMPLE(l, at)
    {
        uint64_t v = value_at(l, at, size);
        uint8_t **p = is_coarse(l, at) ? &c : &d;

        store_integer(*p, v, size);
        *p += size;
    }
    memset(memory, MARK, sizeof(memory));
    bm_lattice_merge(l, size, part, data, detail, coarse);
    EACH_SAMPLE(l, at)
    if (in_part(part, at)) {
        uint8_t *p = sample_at(part, data, at);

        bad |= load_integer(p, size) != value_at(l, at, size);
        memset(p, MARK, size);
    }
    for (size_t i = 0; i < MEMORY; i++)
        bad |= memory[i] != MARK; /* nothing else was touched */
    return bad;
}

static int check_pack(const struct bm_lattice *l, size_t size,
                      const struct bm_strided *part, uint8_t *data)
{
    uint64_t samples = bm_lattice_samples(l);
    int64_t at[3];
    uint8_t *p = dense;
    int bad = 0;

    memset(memory, MARK, sizeof(memory));
    memset(dense, MARK, sizeof(dense));
    EACH_SAMPLE(l, at)
    if (in_part(part, at)) {
        store_integer(sample_at(part, data, at), value_at(l, at, size), size);
    }
    bm_lattice_pack(l, size, part, data, dense);
    EACH_SAMPLE(l, at)
    {
        if (in_part(part, at))
            bad |= load_integer(p, size) != value_at(l, at, size);
        else
            for (size_t i = 0; i < size; i++)
                bad |= p[i] != MARK;
        p += size;
    }
    bad |= *p != MARK;
    memset(memory, MARK, sizeof(memory));
    bm_lattice_unpack(l, size, part, data, dense);
    EACH_SAMPLE(l, at)
    if (in_part(part, at)) {
        uint8_t *q = sample_at(part, data, at);

        bad |= load_integer(q, size) != value_at(l, at, size);
        memset(q, MARK, size);
    }
    for (size_t i = 0; i < MEMORY; i++)
        bad |= memory[i] != MARK;
    return bad | ((size_t)(p - dense) != samples * size);
}

static void check_part(const struct bm_lattice *l, size_t size,
                       struct bm_strided *part, int kind, int all)
{
    uint8_t *data = lay_out(part, memory, size, kind);
    int bad = check_split(l, size, part, data);

    if (all) {
        bad |= check_merge(l, size, part, data) << 1;
        bad |= check_pack(l, size, part, data) << 2;
    }
    CHECK_EQ(bad, 0);
    if (bad)
        printf("    counts %d %d %d starts %d %d %d size %zu kind %d\n",
               (int)l->count[0], (int)l->count[1], (int)l->count[2],
               (int)l->start[0], (int)l->start[1], (int)l->start[2], size,
               kind);
}

/* ---- the claims --------------------------------------------------------- */

/* All sizes 1 to 9, even and odd starts; a random part, and the whole; the
 * kinds of memory and sizes of element in turn. */
static void all_small_lattices_go_apart_and_together(void)
{
    uint64_t state = 26;
    unsigned turn = 0;

    for (int64_t a = 1; a <= 9; a++)
        for (int64_t b = 1; b <= 9; b++)
            for (int64_t c = 1; c <= 9; c++)
                for (int odd = 0; odd < 8; odd++, turn++) {
                    struct bm_lattice l = {
                        {2 + (odd >> 2 & 1), 4 + (odd >> 1 & 1), odd & 1},
                        {a, b, c}};
                    struct bm_strided part = {{0, 0, 0}, {a, b, c}, {0, 0, 0}};
                    size_t size = (size_t)1 << turn % 4;

                    check_part(&l, size, &part, (int)(turn / 4 % 6),
                               turn % 7 == 0);
                    for (int d = 0; d < 3; d++) {
                        part.lo[d] = check_below(&state, l.count[d]);
                        part.hi[d] =
                            part.lo[d] + 1 +
                            check_below(&state, l.count[d] - part.lo[d]);
                    }
                    check_part(&l, size, &part, (int)(turn / 5 % 6),
                               turn % 7 == 3);
                }
}

static void every_kind_of_memory_and_element_is_served(void)
{
    uint64_t state = 27;

    for (int tries = 0; tries < 12; tries++)
        for (size_t size = 1; size <= 8; size *= 2)
            for (int kind = 0; kind < 7; kind++) {
                struct bm_strided part;
                struct bm_lattice l;

                for (int d = 0; d < 3; d++) {
                    l.start[d] = check_below(&state, 100);
                    l.count[d] = 1 + check_below(&state, d == 2 ? 22 : 12);
                    part.lo[d] = check_below(&state, l.count[d]);
                    part.hi[d] = part.lo[d] + 1 +
                                 check_below(&state, l.count[d] - part.lo[d]);
                }
                check_part(&l, size, &part, kind, 1);
            }
}

/* Parts that tile the lattice, taken one after the other, make all of it. */
static void parts_make_the_whole(void)
{
    uint64_t state = 28;

    for (int tries = 0; tries < 200; tries++) {
        struct bm_lattice l;
        int64_t cut[3], at[3], n = 0, k = 0;
        int bad = 0;

        for (int d = 0; d < 3; d++) {
            l.start[d] = check_below(&state, 5);
            l.count[d] = 1 + check_below(&state, 9);
            cut[d] = check_below(&state, l.count[d] + 1);
        }
        memset(detail, MARK, sizeof(detail));
        memset(coarse, MARK, sizeof(coarse));
        for (int corner = 0; corner < 8; corner++) {
            struct bm_strided part;
            uint8_t *data;
            int empty = 0;

            for (int d = 0; d < 3; d++) {
                part.lo[d] = corner >> d & 1 ? cut[d] : 0;
                part.hi[d] = corner >> d & 1 ? l.count[d] : cut[d];
                empty |= part.lo[d] == part.hi[d];
            }
            data = lay_out(&part, memory, 4, tries % 6);
            EACH_SAMPLE(&l, at)
            if (in_part(&part, at)) {
                store_integer(sample_at(&part, data, at), value_at(&l, at, 4),
                              4);
            }
            if (!empty)
                bm_lattice_split(&l, 4, &part, data, detail, coarse);
        }
        EACH_SAMPLE(&l, at)
        {
            uint8_t *p =
                is_coarse(&l, at) ? coarse + 4 * n++ : detail + 4 * k++;

            bad |= load_integer(p, 4) != value_at(&l, at, 4);
        }
        CHECK_EQ(bad, 0);
    }
}

/* Level after level: multiples of 2^k in a box, counted one by one. */
static void lattices_are_the_multiples_in_a_box(void)
{
    uint64_t state = 29;

    for (int tries = 0; tries < 2000; tries++) {
        int level = (int)check_below(&state, 6);
        struct bm_lattice l, finer, next;
        struct bm_box box;

        for (int d = 0; d < 3; d++) {
            box.lo[d] = check_below(&state, 70);
            box.hi[d] = box.lo[d] + check_below(&state, 40);
        }
        l = bm_lattice_of(&box, level);
        for (int d = 0; d < 3; d++) {
            int64_t n = 0, first = -1;

            for (int64_t x = box.lo[d]; x < box.hi[d]; x++)
                if (x % ((int64_t)1 << level) == 0) {
                    first = n++ ? first : x >> level;
                }
            CHECK_EQ(l.count[d], n);
            if (n)
                CHECK_EQ(l.start[d], first);
        }
        CHECK_EQ(bm_lattice_samples(&l), l.count[0] * l.count[1] * l.count[2]);
        next = bm_lattice_of(&box, level + 1);
        finer = bm_lattice_coarser(&l);
        CHECK(!memcmp(&finer, &next, sizeof(next)));
        CHECK_EQ(bm_lattice_details(&l),
                 bm_lattice_samples(&l) - bm_lattice_samples(&next));
    }
}

static void the_drawing_in_the_header_is_right(void)
{
    struct bm_lattice l = {{0, 0, 0}, {1, 2, 4}};
    uint8_t data[8] = {0, 1, 2, 3, 4, 5, 6, 7}, rest[6], kept[2], back[8];
    struct bm_strided whole = bm_lattice_whole(&l, 1);

    bm_lattice_split(&l, 1, &whole, data, rest, kept);
    CHECK(!memcmp(kept, "\0\2", 2));
    CHECK(!memcmp(rest, "\1\3\4\5\6\7", 6));
    bm_lattice_merge(&l, 1, &whole, back, rest, kept);
    CHECK(!memcmp(back, data, 8));
}

int main(void)
{
    all_small_lattices_go_apart_and_together();
    every_kind_of_memory_and_element_is_served();
    parts_make_the_whole();
    lattices_are_the_multiples_in_a_box();
    the_drawing_in_the_header_is_right();
    return check_result();
}
