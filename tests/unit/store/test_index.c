/* The list of steps, and the file that spares opening every manifest. */
#include "store/index.h"

#include "check.h"
#include "fault_alloc.h"

static const uint8_t id[16] = {1, 2, 3}, other_id[16] = {1, 2, 4};

static struct bm_step_entry entry_of(uint64_t step, uint32_t attempt)
{
    return (struct bm_step_entry){step, (double)step / 8, {5, attempt}};
}

/* ---- lists -------------------------------------------------------------- */

static void a_list_is_sorted_whatever_comes(void)
{
    uint64_t state = 38;

    for (int tries = 0; tries < 50; tries++) {
        uint32_t latest[100] = {0};
        struct bm_step_list list;
        size_t count = 0;

        bm_step_list_init(&list, bm_allocator_default());
        for (uint32_t i = 1; i <= 150; i++) {
            uint64_t step = (uint64_t)check_below(&state, 100);

            REQUIRE(!bm_step_list_put(&list, entry_of(step, i)));
            latest[step] = i;
        }
        for (uint64_t step = 0; step < 100; step++) {
            const struct bm_step_entry *e = bm_step_list_find(&list, step);

            CHECK_EQ(e != NULL, latest[step] != 0);
            if (!e)
                continue;
            CHECK_EQ(e->generation.attempt, latest[step]);
            CHECK_EQ(e - list.entries, count);
            count++;
        }
        CHECK_EQ(list.count, count);
        CHECK(!bm_step_list_find(&list, UINT64_MAX));
        bm_step_list_release(&list);
        CHECK(!bm_step_list_find(&list, 3));
        bm_step_list_release(&list);
    }
}

/* Whatever steps are added, sorting gives what putting them gives. */
static void sorting_is_putting(void)
{
    uint64_t state = 91;

    for (int tries = 0; tries < 200; tries++) {
        size_t count = (size_t)check_below(&state, 200);
        uint64_t mask = check_random(&state) >> check_below(&state, 64);
        struct bm_step_list put, added;

        bm_step_list_init(&put, bm_allocator_default());
        bm_step_list_init(&added, bm_allocator_default());
        for (uint32_t i = 0; i < count; i++) {
            uint64_t step = check_random(&state) & mask;

            REQUIRE(!bm_step_list_put(&put, entry_of(step, i)));
            REQUIRE(!bm_step_list_add(&added, entry_of(step, i)));
        }
        CHECK_EQ(bm_step_list_sort(&added), BOUMA_OK);
        CHECK_EQ(added.count, put.count);
        for (size_t i = 0, at = 0; i < put.count && i < added.count; i++) {
            CHECK(bm_step_entry_is_same(&added.entries[i], &put.entries[i]));
            CHECK(bm_step_list_next(&put, &at, added.entries[i].step) ==
                  &put.entries[i]);
        }
        CHECK_EQ(bm_step_list_sort(&added), BOUMA_OK);
        CHECK_EQ(added.count, put.count);
        bm_step_list_release(&put);
        bm_step_list_release(&added);
    }
}

static void reserved_room_needs_no_memory(void)
{
    struct fault_alloc memory;
    struct bm_step_list list;

    fault_alloc_init(&memory);
    fault_alloc_arm(&memory, 2, 1);
    bm_step_list_init(&list, &memory.table);
    CHECK_EQ(bm_step_list_reserve(&list, 1000), BOUMA_OK);
    for (uint64_t i = 0; i < 1000; i++)
        CHECK_EQ(bm_step_list_put(&list, entry_of(999 - i, 1)), BOUMA_OK);
    CHECK_EQ(list.count, 1000);
    while (list.count < list.capacity)
        CHECK_EQ(bm_step_list_put(&list, entry_of(5000 + list.count, 1)),
                 BOUMA_OK);
    CHECK_EQ(bm_step_list_put(&list, entry_of(9999, 1)), BOUMA_ENOMEM);
    CHECK_EQ(bm_step_list_put(&list, entry_of(7, 2)), BOUMA_OK); /* replaced */
    CHECK_EQ(bm_step_list_reserve(&list, 1), BOUMA_ENOMEM);
    CHECK(bm_step_list_find(&list, 999) != NULL);
    bm_step_list_release(&list);
}

/* ---- records ------------------------------------------------------------ */

static size_t decode(struct bm_step_list *list, const uint8_t *data,
                     size_t bytes, const uint8_t of[16])
{
    uint8_t *copy = malloc(bytes ? bytes : 1);
    size_t bad = 99;

    REQUIRE(copy);
    memcpy(copy, data, bytes);
    bm_step_list_init(list, bm_allocator_default());
    REQUIRE(!bm_index_decode(list, copy, bytes, of, &bad));
    free(copy);
    return bad;
}

static void records_come_back(void)
{
    uint8_t raw[3 * BM_INDEX_RECORD];
    const struct bm_step_entry *e;
    struct bm_step_list list;
    struct bm_step_entry a = entry_of(9, 1), b = entry_of(2, 7);
    struct bm_step_entry c = entry_of(9, 3);

    bm_index_encode(raw, &a, id);
    bm_index_encode(raw + BM_INDEX_RECORD, &b, id);
    bm_index_encode(raw + 2 * BM_INDEX_RECORD, &c, id);
    CHECK_EQ(decode(&list, raw, sizeof(raw), id), 0);
    CHECK_EQ(list.count, 2);
    e = bm_step_list_find(&list, 9);
    REQUIRE(e);
    CHECK_EQ(e->generation.attempt, 3); /* the later record counts */
    CHECK_EQ(e->generation.epoch, 5);
    CHECK(e->time == 9.0 / 8);
    bm_step_list_release(&list);
    CHECK_EQ(decode(&list, raw, sizeof(raw), other_id), 3);
    CHECK_EQ(list.count, 0);
    bm_step_list_release(&list);
    CHECK_EQ(decode(&list, raw, 0, id), 0);
    bm_step_list_release(&list);
}

static void every_changed_byte_loses_just_its_record(void)
{
    uint8_t raw[3 * BM_INDEX_RECORD];
    struct bm_step_list list;

    for (uint64_t i = 0; i < 3; i++) {
        struct bm_step_entry e = entry_of(i, 1);

        bm_index_encode(raw + i * BM_INDEX_RECORD, &e, id);
    }
    for (size_t i = 0; i < sizeof(raw); i++)
        for (int bit = 0; bit < 8; bit++) {
            raw[i] ^= (uint8_t)(1 << bit);
            CHECK_EQ(decode(&list, raw, sizeof(raw), id), 1);
            CHECK_EQ(list.count, 2);
            CHECK(!bm_step_list_find(&list, i / BM_INDEX_RECORD));
            bm_step_list_release(&list);
            raw[i] ^= (uint8_t)(1 << bit);
        }
    for (size_t n = 0; n < sizeof(raw); n++) {
        CHECK_EQ(decode(&list, raw, n, id), n % BM_INDEX_RECORD != 0);
        CHECK_EQ(list.count, n / BM_INDEX_RECORD);
        bm_step_list_release(&list);
    }
}

/* ---- the file ----------------------------------------------------------- */

static void the_file_is_appended_to_and_rebuilt(void)
{
    bouma_io *io = bouma_io_memory_new();
    struct bm_error error = {0};
    const struct bm_step_entry *e;
    struct bm_step_list list;
    struct bm_store s;
    size_t bad;

    REQUIRE(io);
    REQUIRE(!bm_store_open(&s, io, bm_allocator_default(), "d", 1, &error));
    bm_step_list_init(&list, bm_allocator_default());
    CHECK_EQ(bm_index_load(&s, id, &list, &bad, &error), BOUMA_OK);
    CHECK_EQ(bad, 0); /* there is none yet */
    CHECK_EQ(list.count, 0);
    for (uint64_t i = 0; i < 5; i++) {
        struct bm_step_entry one = entry_of(i, 1);

        bm_index_append(&s, id, &one);
    }
    CHECK_EQ(bm_index_forget(&s, id, 3, &error), BOUMA_OK);
    CHECK_EQ(bm_index_load(&s, id, &list, &bad, &error), BOUMA_OK);
    CHECK_EQ(bad, 0);
    CHECK_EQ(list.count, 5);
    e = bm_step_list_find(&list, 3);
    REQUIRE(e);
    CHECK(!e->generation.epoch && !e->generation.attempt);
    e = bm_step_list_find(&list, 4);
    CHECK(e && e->generation.epoch == 5);
    REQUIRE(!bm_step_list_put(&list, entry_of(3, 8)));
    CHECK_EQ(bm_index_rebuild(&s, id, &list, &error), BOUMA_OK);
    CHECK_EQ(bm_index_rebuild(&s, id, &list, &error), BOUMA_OK);
    CHECK(!bm_store_exists(&s, "index.tmp"));
    bm_step_list_release(&list);
    bm_step_list_init(&list, bm_allocator_default());
    CHECK_EQ(bm_index_load(&s, id, &list, &bad, &error), BOUMA_OK);
    CHECK_EQ(list.count, 5);
    e = bm_step_list_find(&list, 3);
    CHECK(e && e->generation.attempt == 8);
    CHECK_EQ(error.status, BOUMA_OK);
    bm_step_list_release(&list);
    bm_store_close(&s);
    bouma_io_memory_free(io);
}

int main(void)
{
    a_list_is_sorted_whatever_comes();
    sorting_is_putting();
    reserved_room_needs_no_memory();
    records_come_back();
    every_changed_byte_loses_just_its_record();
    the_file_is_appended_to_and_rebuilt();
    return check_result();
}
