/* Samples from rows into Z and HZ order and back, against one sample at a time
 * where the definition puts it. */
#include "plan/hz_order.h"

#include "check.h"
#include "templates.h"

/* Byte b of a sample, of the Z address that it has. */
static uint8_t byte_of(uint64_t z, size_t b)
{
    uint64_t x = z * 0x9e3779b97f4a7c15u + b * 0xbf58476d1ce4e5b9u;

    return (uint8_t)(x >> 40 ^ x >> 17);
}

enum { GAP = 0xa5 };

/* Rows in a block of memory, with room around: axes in any order and
 * direction, and bytes between samples. */
struct memory {
    uint8_t *block;
    size_t bytes;
    struct bm_hz_rows rows;
};

/* 'form' 0 is a plain array; bits of others say how it differs. */
static struct memory memory_new(const struct bm_hz *hz, size_t size,
                                uint64_t form, size_t shift)
{
    static const int orders[6][3] = {{2, 1, 0}, {1, 2, 0}, {2, 0, 1},
                                     {0, 1, 2}, {1, 0, 2}, {0, 2, 1}};
    struct memory m = {.rows.size = size};
    int64_t pitch = (int64_t)size + (form & 1 ? 3 : form & 2 ? 4 : 0);
    int64_t start = (int64_t)shift;

    for (int i = 0; i < 3; i++) {
        int axis = orders[form / 8 % 6][i];
        int64_t last = ((int64_t)1 << hz->count[axis]) - 1;

        m.rows.stride[axis] = form >> (6 + i) & 1 ? -pitch : pitch;
        start += form >> (6 + i) & 1 ? last * pitch : 0;
        pitch = pitch * (last + 1) + (form & 4 ? 5 : 0);
    }
    m.bytes = shift + (size_t)pitch + size;
    m.block = malloc(m.bytes);
    REQUIRE(m.block);
    memset(m.block, GAP, m.bytes);
    m.rows.data = m.block + start;
    return m;
}

static uint8_t *sample_at(const struct memory *m, const int64_t index[3])
{
    uint8_t *p = m->rows.data;

    for (int d = 0; d < 3; d++)
        p += index[d] * m->rows.stride[d];
    return p;
}

/* By the definition, or by what test_hz has found to be the same. */
static void find_sample(const struct bm_hz *hz, const char *text, uint64_t z,
                        int64_t index[3], uint64_t *h)
{
    if (hz->bits <= 9) {
        slow_index(text, z, index);
        *h = slow_hz(text, z);
    } else {
        bm_hz_index_of(hz, z, index);
        *h = bm_hz_of_z(hz, z);
    }
}

/* Both ways; 'form' and 'shift' are as above, the other side begins 'shift'
 * bytes into its block, too. */
static void check_order(const char *text, enum bm_hz_order order, size_t size,
                        uint64_t form, size_t shift)
{
    struct bm_hz hz = template_of(text);
    struct memory rows = memory_new(&hz, size, form, shift);
    struct memory back = memory_new(&hz, size, form, shift);
    size_t bytes = size << hz.bits;
    uint8_t *expected = malloc(shift + bytes + 1);
    uint8_t *got = malloc(shift + bytes + 1);

    REQUIRE(expected && got);
    memset(expected, GAP, shift + bytes + 1);
    memset(got, GAP, shift + bytes + 1);
    for (uint64_t z = 0; z < (uint64_t)1 << hz.bits; z++) {
        int64_t index[3];
        uint8_t *sample;
        uint64_t h;

        find_sample(&hz, text, z, index, &h);
        sample = sample_at(&rows, index);
        for (size_t b = 0; b < size; b++)
            sample[b] = byte_of(z, b);
        memcpy(expected + shift + (order == BM_ORDER_Z ? z : h) * size, sample,
               size);
    }
    bm_hz_pack(got + shift, &hz, order, &rows.rows);
    CHECK(!memcmp(got, expected, shift + bytes + 1));
    bm_hz_unpack(&back.rows, &hz, order, expected + shift);
    CHECK(!memcmp(back.block, rows.block, rows.bytes));
    free(rows.block);
    free(back.block);
    free(expected);
    free(got);
}

static const size_t usual[] = {4, 8, 1, 2, 12, 16, 24};

static void short_templates_are_ordered_both_ways(void)
{
    char text[BM_HZ_BITS + 1];
    unsigned turn = 0;

    for (int length = 0, many = 1; length <= 9; length++, many *= 3)
        for (int n = 0; n < many; n++, turn++) {
            nth_template(text, length, n);
            check_order(text, BM_ORDER_HZ, usual[turn % 7], 0, 0);
            if (length < 8)
                check_order(text, BM_ORDER_Z, usual[turn / 3 % 7], 0, 0);
        }
}

static void samples_have_any_size_and_strides(void)
{
    char text[BM_HZ_BITS + 1];
    uint64_t state = 5;

    for (int n = 0; n < 3000; n++) {
        size_t size = n < 1000 ? 1 + (size_t)n % 24 : usual[n % 7];
        int length = (int)check_below(&state, 12);

        size = n % 50 ? size : 25 + (size_t)check_below(&state, 232);
        random_template(text, length, &state);
        check_order(text, n & 1 ? BM_ORDER_Z : BM_ORDER_HZ, size,
                    check_random(&state) & 511,
                    (size_t)check_below(&state, 70));
    }
    check_order("zyxzyx", BM_ORDER_HZ, 256, 0, 0);
}

/* More than a tile, more than one page along x. */
static void long_templates_are_ordered_both_ways(void)
{
    static const char *const texts[] = {
        "zyxzyxzyxzyxzyxzyx", "xyzxyzxyzxyzxyzxyz", "zzzzzzyyyyyyxxxxxx",
        "xxxxxxyyyyyyzzzzzz", "yxyxyxyxyxyxyxyxyx", "xxxxxxxxxxxxxxxxxx",
        "zzzzzzzzzzzzzzzzzz", "zzyyxxzyxzyxzyxzyx", "yyyyyyxxxxxxxxxxxx"};
    char text[BM_HZ_BITS + 1];
    uint64_t state = 6;

    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        check_order(texts[i], i % 3 ? BM_ORDER_HZ : BM_ORDER_Z, usual[i % 7], 0,
                    0);
    check_order(texts[0], BM_ORDER_HZ, 4, 0, 16);
    for (int n = 0; n < 40; n++) {
        random_template(text, 12 + (int)check_below(&state, 7), &state);
        check_order(text, n % 4 ? BM_ORDER_HZ : BM_ORDER_Z, usual[n % 7],
                    n % 3 ? 0 : check_random(&state) & 511,
                    (size_t)check_below(&state, 70));
    }
}

/* More than the caches nearby hold, from lines on, behind them, and from no
 * multiple of the size. */
static void large_results_are_ordered_both_ways(void)
{
    static const struct {
        int bits;
        size_t size, shift;
    } cases[] = {{20, 4, 0}, {20, 4, 16}, {20, 4, 2},
                 {19, 8, 0}, {22, 1, 5},  {18, 16, 48}};
    char text[BM_HZ_BITS + 1];

    for (size_t c = 0; c < sizeof(cases) / sizeof(*cases); c++) {
        for (int i = 0; i < cases[c].bits; i++)
            text[cases[c].bits - 1 - i] = "xyz"[i % 3];
        text[cases[c].bits] = 0;
        check_order(text, c % 4 == 3 ? BM_ORDER_Z : BM_ORDER_HZ, cases[c].size,
                    0, cases[c].shift);
    }
    /* Lines from the start on: malloc() leaves some bytes before. */
    {
        struct bm_hz hz;
        int64_t shape[3] = {128, 128, 128}, at[3];
        size_t bytes = (size_t)4 << 21;
        uint32_t *rows = aligned_alloc(64, bytes);
        uint32_t *out = aligned_alloc(64, bytes);
        struct bm_hz_rows r = {(uint8_t *)rows, {128 * 128 * 4, 128 * 4, 4}, 4};
        int wrong = 0;

        REQUIRE(rows && out && !bm_hz_from_shape(&hz, shape, BM_HZ_TURNS));
        for (uint32_t i = 0; i < 1u << 21; i++)
            rows[i] = i;
        bm_hz_pack((uint8_t *)out, &hz, BM_ORDER_HZ, &r);
        for (uint64_t h = 0; h < 1u << 21; h++) {
            bm_hz_index_of(&hz, bm_hz_to_z(&hz, h), at);
            wrong += out[h] != (uint32_t)((at[0] * 128 + at[1]) * 128 + at[2]);
        }
        memset(rows, 0, bytes);
        bm_hz_unpack(&r, &hz, BM_ORDER_HZ, (const uint8_t *)out);
        for (uint32_t i = 0; i < 1u << 21; i++)
            wrong += rows[i] != i;
        CHECK_EQ(wrong, 0);
        free(rows);
        free(out);
    }
}

int main(void)
{
    short_templates_are_ordered_both_ways();
    samples_have_any_size_and_strides();
    long_templates_are_ordered_both_ways();
    large_results_are_ordered_both_ways();
    return check_result();
}
