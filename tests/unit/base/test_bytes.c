/* Little-endian bytes: what is put comes out again, and nothing is read past
 * the end. */
#include "base/bytes.h"

#include <stdint.h>

#include "check.h"
#include "fault_alloc.h"

/* ---- writing ------------------------------------------------------------ */

static void put_all(struct bm_buffer *b)
{
    bm_put_u8(b, 0x01);
    bm_put_u16(b, 0x0302);
    bm_put_u32(b, 0x07060504u);
    bm_put_u64(b, 0x0f0e0d0c0b0a0908u);
    bm_put_i64(b, -2);
    bm_put_f64(b, -1.5);
    bm_put_text(b, "h\xc3\xa9llo");
    bm_put_bytes(b, "xyz", 3);
}

enum { ALL_BYTES = 1 + 2 + 4 + 8 + 8 + 8 + 2 + 6 + 3 };

static void values_are_little_endian(void)
{
    struct bm_buffer b;

    bm_buffer_init(&b, bm_allocator_default());
    put_all(&b);
    CHECK(!b.failed);
    REQUIRE(b.size == ALL_BYTES);
    for (int i = 0; i < 15; i++)
        CHECK_EQ(b.data[i], i + 1);
    CHECK_EQ(b.data[15], 0xfe); /* -2 */
    for (int i = 16; i < 23; i++)
        CHECK_EQ(b.data[i], 0xff);
    CHECK(!memcmp(b.data + 23, "\0\0\0\0\0\0\xf8\xbf", 8)); /* -1.5 */
    CHECK(!memcmp(b.data + 31, "\6\0h\xc3\xa9lloxyz", 11));
    bm_buffer_release(&b);
}

static void a_buffer_grows_and_keeps_what_it_has(void)
{
    struct bm_buffer b;

    bm_buffer_init(&b, bm_allocator_default());
    for (uint32_t i = 0; i < 10000; i++)
        bm_put_u32(&b, i * 7);
    CHECK_EQ(b.size, 40000);
    for (uint32_t i = 0; i < 10000; i++)
        CHECK_EQ(bm_load_u32(b.data + 4 * i), i * 7);
    bm_buffer_clear(&b);
    CHECK_EQ(b.size, 0);
    CHECK(b.capacity >= 40000);
    CHECK(bm_buffer_extend(&b, 0) != NULL);
    bm_buffer_release(&b);
    CHECK(!b.data);
    bm_buffer_release(&b);
}

static void an_overflowing_size_fails_and_is_remembered(void)
{
    struct bm_buffer b;

    bm_buffer_init(&b, bm_allocator_default());
    bm_put_u8(&b, 1);
    CHECK(!bm_buffer_extend(&b, SIZE_MAX));
    CHECK(b.failed);
    bm_put_u8(&b, 2);
    CHECK_EQ(b.size, 1);
    bm_buffer_clear(&b);
    CHECK(!b.failed);
    CHECK(!bm_buffer_extend(&b, SIZE_MAX - 16)); /* no overflow, no memory */
    CHECK(b.failed);
    bm_buffer_release(&b);
}

static void each_failed_allocation_is_remembered(void)
{
    struct fault_alloc memory;

    fault_alloc_init(&memory);
    for (int calls = 0; calls < 4; calls++) {
        struct bm_buffer b;
        size_t size;

        fault_alloc_arm(&memory, calls + 1, 1);
        bm_buffer_init(&b, &memory.table);
        for (int i = 0; i < 200 && !b.failed; i++)
            bm_put_u64(&b, (uint64_t)i);
        CHECK(b.failed);
        size = b.size;
        bm_put_text(&b, "more");
        CHECK_EQ(b.size, size);
        for (size_t i = 0; i < size / 8; i++)
            CHECK_EQ(bm_load_u64(b.data + 8 * i), i);
        bm_buffer_release(&b);
        CHECK_EQ(memory.live, 0);
    }
}

static void a_long_text_is_cut_at_65535_bytes(void)
{
    char *text = malloc(70001);
    struct bm_buffer b;

    REQUIRE(text);
    memset(text, 'a', 70000);
    text[70000] = 0;
    bm_buffer_init(&b, bm_allocator_default());
    bm_put_text(&b, text);
    CHECK_EQ(b.size, 2 + 65535);
    CHECK_EQ(bm_load_u16(b.data), 65535);
    bm_buffer_clear(&b);
    bm_put_text(&b, NULL);
    CHECK_EQ(b.size, 2);
    CHECK_EQ(bm_load_u16(b.data), 0);
    bm_buffer_release(&b);
    free(text);
}

/* ---- reading ------------------------------------------------------------ */

/* How many of the eight values come out, and that the rest is zero. */
static int get_all(struct bm_cursor *c)
{
    int no_memory = 0, n = 0;
    uint8_t u8;
    uint16_t u16;
    uint32_t u32;
    uint64_t u64;
    int64_t i64;
    double f64;
    const uint8_t *raw;
    char *text;

    u8 = bm_get_u8(c);
    CHECK_EQ(u8, c->failed ? 0 : 1);
    n += !c->failed;
    u16 = bm_get_u16(c);
    CHECK_EQ(u16, c->failed ? 0 : 0x0302);
    n += !c->failed;
    u32 = bm_get_u32(c);
    CHECK_EQ(u32, c->failed ? 0 : 0x07060504u);
    n += !c->failed;
    u64 = bm_get_u64(c);
    CHECK(u64 == (c->failed ? 0 : 0x0f0e0d0c0b0a0908u));
    n += !c->failed;
    i64 = bm_get_i64(c);
    CHECK_EQ(i64, c->failed ? 0 : -2);
    n += !c->failed;
    f64 = bm_get_f64(c);
    CHECK(f64 == (c->failed ? 0 : -1.5));
    n += !c->failed;
    text = bm_get_text(c, bm_allocator_default(), &no_memory);
    CHECK(c->failed ? !text : !strcmp(text, "h\xc3\xa9llo"));
    CHECK(!no_memory);
    n += !c->failed;
    free(text);
    raw = bm_get_bytes(c, 3);
    CHECK(c->failed ? !raw : !memcmp(raw, "xyz", 3));
    n += !c->failed;
    return n;
}

/* Each length on a block of its own, so that a sanitizer sees a step beyond. */
static void every_truncation_fails_where_it_must(void)
{
    static const int ends[8] = {1, 3, 7, 15, 23, 31, 39, 42};
    struct bm_buffer b;

    bm_buffer_init(&b, bm_allocator_default());
    put_all(&b);
    for (size_t n = 0; n <= b.size; n++) {
        uint8_t *copy = malloc(n ? n : 1);
        struct bm_cursor c;
        int whole = 0;

        REQUIRE(copy);
        memcpy(copy, b.data, n);
        c = bm_cursor_of(copy, n);
        while (whole < 8 && (size_t)ends[whole] <= n)
            whole++;
        CHECK_EQ(get_all(&c), whole);
        CHECK_EQ(c.failed, n < ALL_BYTES);
        CHECK_EQ(bm_cursor_left(&c), 0);
        free(copy);
    }
    bm_buffer_release(&b);
}

static void a_failed_cursor_stays_failed(void)
{
    uint8_t raw[4] = {1, 2, 3, 4};
    struct bm_cursor c = bm_cursor_of(raw, sizeof(raw));

    CHECK_EQ(bm_get_u64(&c), 0);
    CHECK(c.failed);
    CHECK_EQ(bm_get_u8(&c), 0); /* although there would be one */
    CHECK_EQ(bm_cursor_left(&c), 0);
    CHECK(!bm_get_bytes(&c, 0));
    CHECK_EQ(bm_get_count(&c, 1), 0);
}

static void an_empty_cursor_holds_nothing(void)
{
    struct bm_cursor c = bm_cursor_of(NULL, 0);

    CHECK_EQ(bm_cursor_left(&c), 0);
    bm_get_bytes(&c, 0);
    CHECK(!c.failed);
    CHECK_EQ(bm_get_u8(&c), 0);
    CHECK(c.failed);
    c = bm_cursor_of("a", 1);
    CHECK(!bm_get_bytes(&c, SIZE_MAX));
    CHECK(c.failed);
}

static size_t count_of(uint64_t n, size_t left, size_t entry, int *failed)
{
    uint8_t raw[8 + 64] = {0};
    struct bm_cursor c;
    size_t got;

    bm_store_u64(raw, n);
    c = bm_cursor_of(raw, 8 + left);
    got = bm_get_count(&c, entry);
    *failed = c.failed;
    return got;
}

static void a_count_needs_its_bytes_to_be_there(void)
{
    static const size_t entries[] = {0, 1, 2, 3, 7, 8, 11, 64, 1000};
    int failed;

    for (size_t left = 0; left <= 64; left++)
        for (size_t e = 0; e < sizeof(entries) / sizeof(entries[0]); e++) {
            size_t entry = entries[e] ? entries[e] : 1;
            uint64_t most = left / entry;

            CHECK_EQ(count_of(most, left, entries[e], &failed), most);
            CHECK(!failed);
            CHECK_EQ(count_of(most + 1, left, entries[e], &failed), 0);
            CHECK(failed);
            CHECK_EQ(count_of(UINT64_MAX, left, entries[e], &failed), 0);
            CHECK(failed);
            /* That times the entry wraps round to little. */
            CHECK_EQ(count_of(((uint64_t)1 << 63) + 1, left, 2, &failed), 0);
            CHECK(failed);
        }
}

static void a_text_with_a_nul_is_refused(void)
{
    struct bm_cursor c = bm_cursor_of("\3\0a\0b", 5);
    int no_memory = 0;

    CHECK(!bm_get_text(&c, bm_allocator_default(), &no_memory));
    CHECK(c.failed && !no_memory);
}

static void a_text_without_memory_says_so(void)
{
    struct bm_cursor c = bm_cursor_of("\3\0abc", 5);
    struct fault_alloc none;
    int no_memory = 0;

    fault_alloc_init(&none);
    fault_alloc_arm(&none, 1, 1);
    CHECK(!bm_get_text(&c, &none.table, &no_memory));
    CHECK(no_memory && !c.failed);
}

static void single_values_come_back(void)
{
    uint64_t state = 1;
    uint8_t raw[8];

    for (int i = 0; i < 1000; i++) {
        uint64_t v = check_random(&state);

        bm_store_u64(raw, v);
        CHECK(bm_load_u64(raw) == v);
        CHECK_EQ(raw[0], v & 255);
        CHECK_EQ(raw[7], v >> 56);
        bm_store_u32(raw, (uint32_t)v);
        CHECK(bm_load_u32(raw) == (uint32_t)v);
        bm_store_u16(raw, (uint16_t)v);
        CHECK(bm_load_u16(raw) == (uint16_t)v);
    }
}

static void counts_that_overflow_get_no_memory(void)
{
    const bouma_allocator *a = bm_allocator_default();
    char *empty = bm_copy_text(a, NULL);
    void *none = bm_new(a, 0, 8);

    CHECK(!bm_new(a, SIZE_MAX / 2, 3));
    CHECK(!bm_new_raw(a, SIZE_MAX, 1));
    CHECK(!bm_resize(a, NULL, (size_t)1 << 62, 4));
    CHECK(none != NULL);
    CHECK(empty && !*empty);
    bm_drop(a, none);
    bm_drop(a, empty);
    bm_drop(a, NULL);
}

int main(void)
{
    values_are_little_endian();
    a_buffer_grows_and_keeps_what_it_has();
    an_overflowing_size_fails_and_is_remembered();
    each_failed_allocation_is_remembered();
    a_long_text_is_cut_at_65535_bytes();
    every_truncation_fails_where_it_must();
    a_failed_cursor_stays_failed();
    an_empty_cursor_holds_nothing();
    a_count_needs_its_bytes_to_be_there();
    a_text_with_a_nul_is_refused();
    a_text_without_memory_says_so();
    single_values_come_back();
    counts_that_overflow_get_no_memory();
    return check_result();
}
