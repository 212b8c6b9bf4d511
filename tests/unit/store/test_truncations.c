/* Which steps were dropped, and the bytes in which that is on record. */
#include "store/truncations.h"

#include "bouma_store.h"
#include "check.h"
#include "store/envelope.h"
#include "store/identity.h"

static const uint8_t id[16] = {1, 2, 3};

static struct bm_truncation item_of(int64_t last, uint32_t epoch,
                                    uint32_t attempt)
{
    return (struct bm_truncation){last, {epoch, attempt}};
}

/* Against all items that were ever added. */
static void only_what_matters_is_kept(void)
{
    uint64_t state = 5;

    for (int tries = 0; tries < 200; tries++) {
        struct bm_truncation all[12];
        struct bm_truncations t;

        bm_truncations_init(&t, bm_allocator_default());
        for (size_t i = 0; i < 12; i++) {
            all[i] = item_of((int64_t)check_below(&state, 6) - 1,
                             (uint32_t)check_below(&state, 3) + 1,
                             (uint32_t)check_below(&state, 3));
            REQUIRE(!bm_truncations_add(&t, all[i]));
        }
        for (size_t i = 1; i < t.count; i++) {
            CHECK(t.items[i - 1].last < t.items[i].last);
            CHECK(bm_generation_is_later(t.items[i].generation,
                                         t.items[i - 1].generation));
        }
        for (uint64_t step = 0; step < 8; step++)
            for (uint32_t k = 0; k < 16; k++) {
                struct bm_generation g = {k / 4, k % 4};
                int dropped = 0;

                for (size_t i = 0; i < 12; i++)
                    dropped |= (int64_t)step > all[i].last && g.epoch &&
                               !bm_generation_is_later(g, all[i].generation);
                CHECK_EQ(bm_truncations_has(&t, step, g), dropped);
            }
        bm_truncations_release(&t);
    }
}

/* The same with deletions among them. */
static void deletions_add_to_truncations(void)
{
    uint64_t state = 6;

    for (int tries = 0; tries < 300; tries++) {
        struct {
            int64_t from, to; /* from < step <= to */
            struct bm_generation g;
        } all[12];
        struct bm_error error = {0};
        struct bm_truncations t, back;
        struct bm_buffer b;

        bm_truncations_init(&t, bm_allocator_default());
        bm_truncations_init(&back, bm_allocator_default());
        for (size_t i = 0; i < 12; i++) {
            struct bm_step_entry entries[3] = {{.step = 0}};
            struct bm_step_list list = {.entries = entries};

            all[i].from = (int64_t)check_below(&state, 7) - 1;
            all[i].to = INT64_MAX;
            all[i].g.epoch = (uint32_t)check_below(&state, 3) + 1;
            all[i].g.attempt = (uint32_t)check_below(&state, 3);
            if (check_below(&state, 3)) {
                list.count = (size_t)check_below(&state, 3) + 1;
                for (size_t k = 0; k < list.count; k++)
                    entries[k].step = (uint64_t)all[i].from + 1 + k;
                all[i].to = all[i].from + (int64_t)list.count;
                REQUIRE(!bm_truncations_delete(&t, &list, all[i].g));
            } else {
                REQUIRE(!bm_truncations_add(
                    &t, (struct bm_truncation){all[i].from, all[i].g}));
            }
        }
        bm_buffer_init(&b, bm_allocator_default());
        bm_truncations_encode(&b, &t, id);
        CHECK_EQ(bm_truncations_decode(&back, b.data, b.size, id, "t", &error),
                 BOUMA_OK);
        for (uint64_t step = 0; step < 11; step++)
            for (uint32_t k = 0; k < 16; k++) {
                struct bm_generation g = {k / 4, k % 4};
                int dropped = 0;

                for (size_t i = 0; i < 12; i++)
                    dropped |= (int64_t)step > all[i].from &&
                               (int64_t)step <= all[i].to && g.epoch &&
                               !bm_generation_is_later(g, all[i].g);
                CHECK_EQ(bm_truncations_has(&t, step, g), dropped);
                CHECK_EQ(bm_truncations_has(&back, step, g), dropped);
            }
        bm_buffer_release(&b);
        bm_truncations_release(&t);
        bm_truncations_release(&back);
    }
}

/* Two lists that cannot be: which one is wrong, and how. */
static void deletions_that_contradict_are_refused(void)
{
    static const struct {
        uint64_t count, first, second;
        uint32_t epochs[2];
        int more;
    } wrong[] = {
        {0, 1, 2, {2, 2}, 0},          {1, 1, 2, {2, 2}, 0},
        {3, 1, 2, {2, 2}, 0},          {2, 2, 1, {2, 2}, 0},
        {2, 1, 1, {2, 3}, 0},          {2, 1, 2, {0, 2}, 0},
        {2, 1, 9, {2, 1}, 0}, /* behind 5, up to epoch 1, all are dropped */
        {2, 1, UINT64_MAX, {2, 3}, 0}, {2, 1, 2, {2, 2}, 1},
    };

    for (size_t k = 0; k <= sizeof(wrong) / sizeof(wrong[0]); k++) {
        int sound = k == sizeof(wrong) / sizeof(wrong[0]);
        struct bm_error error = {0};
        struct bm_truncations t;
        struct bm_buffer b;
        uint8_t hash[16];

        bm_truncations_init(&t, bm_allocator_default());
        bm_buffer_init(&b, bm_allocator_default());
        bm_envelope_reserve(&b);
        bm_put_u64(&b, 1);
        bm_put_i64(&b, 5);
        bm_put_u32(&b, 1);
        bm_put_u32(&b, 0);
        bm_put_u64(&b, sound ? 2 : wrong[k].count);
        for (int i = 0; i < 2; i++) {
            bm_put_u64(&b, sound ? (uint64_t)i
                           : i   ? wrong[k].second
                                 : wrong[k].first);
            bm_put_u32(&b, sound ? 1 : wrong[k].epochs[i]);
            bm_put_u32(&b, 0);
        }
        if (!sound && wrong[k].more)
            bm_put_u32(&b, 0);
        bm_envelope_seal(&b, BM_KIND_TRUNCATIONS, id, hash);
        CHECK_EQ(bm_truncations_decode(&t, b.data, b.size, id, "t", &error),
                 sound ? BOUMA_OK : BOUMA_EFORMAT);
        CHECK_EQ(t.deletion_count, sound ? 2 : 0);
        CHECK(sound || strstr(error.text, "contradicts itself"));
        bm_buffer_release(&b);
        bm_truncations_release(&t);
    }
}

/* As docs/format.md has it. */
static void the_bytes_are_those_of_the_format(void)
{
    static const uint8_t body[] = {
        2,    0,    0,    0,    0,    0,    0,    0,    /* two */
        0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, /* after -1 */
        3,    0,    0,    0,    0,    0,    0,    0,    /* epoch, attempt */
        40,   0,    0,    0,    0,    0,    0,    0,    /* after 40 */
        7,    1,    0,    0,    2,    0,    0,    0};
    struct bm_truncations t, back;
    struct bm_error error = {0};
    struct bm_buffer b;

    bm_truncations_init(&t, bm_allocator_default());
    bm_truncations_init(&back, bm_allocator_default());
    REQUIRE(!bm_truncations_add(&t, item_of(40, 263, 2)));
    REQUIRE(!bm_truncations_add(&t, item_of(-1, 3, 0)));
    bm_buffer_init(&b, bm_allocator_default());
    bm_truncations_encode(&b, &t, id);
    REQUIRE(!b.failed && b.size == BM_ENVELOPE_BYTES + sizeof(body));
    CHECK_EQ(b.data[8], 5);
    CHECK(!memcmp(b.data + BM_ENVELOPE_BYTES, body, sizeof(body)));
    CHECK_EQ(bm_truncations_decode(&back, b.data, b.size, id, "t", &error), 0);
    CHECK_EQ(back.count, 2);
    CHECK_EQ(bm_truncations_epoch(&back), 263);
    CHECK(bm_truncations_has(&back, 41, (struct bm_generation){263, 2}));
    CHECK(!bm_truncations_has(&back, 40, (struct bm_generation){263, 2}));
    CHECK(bm_truncations_has(&back, 0, (struct bm_generation){3, 0}));
    CHECK(!bm_truncations_has(&back, 0, (struct bm_generation){3, 1}));
    bm_truncations_release(&back);
    /* No byte can be another one, nor one be missing. */
    for (size_t i = 0; i < b.size; i++) {
        b.data[i] ^= 4;
        bm_error_clear(&error);
        CHECK(bm_truncations_decode(&back, b.data, b.size, id, "t", &error));
        b.data[i] ^= 4;
        bm_error_clear(&error);
        CHECK_EQ(bm_truncations_decode(&back, b.data, i, id, "t", &error),
                 BOUMA_EFORMAT);
    }
    bm_buffer_release(&b);
    bm_truncations_release(&t);
}

/* The checksum is right, and yet it cannot be. */
static void what_contradicts_itself_is_refused(void)
{
    const struct {
        uint64_t count;
        struct bm_truncation items[2];
    } wrong[] = {
        {0, {item_of(0, 0, 0), item_of(0, 0, 0)}},
        {3, {item_of(1, 1, 0), item_of(2, 2, 0)}},
        {UINT64_MAX, {item_of(1, 1, 0), item_of(2, 2, 0)}},
        {2, {item_of(1, 1, 0), item_of(2, 1, 0)}},
        {2, {item_of(1, 2, 0), item_of(1, 3, 0)}},
        {2, {item_of(1, 2, 1), item_of(2, 2, 0)}},
        {2, {item_of(-2, 1, 0), item_of(2, 2, 0)}},
        {2, {item_of(1, 0, 5), item_of(2, 2, 0)}},
    };

    for (size_t k = 0; k < sizeof(wrong) / sizeof(wrong[0]); k++) {
        struct bm_error error = {0};
        struct bm_truncations t;
        struct bm_buffer b;
        uint8_t hash[16];

        bm_truncations_init(&t, bm_allocator_default());
        bm_buffer_init(&b, bm_allocator_default());
        bm_envelope_reserve(&b);
        bm_put_u64(&b, wrong[k].count);
        for (size_t i = 0; i < 2 && wrong[k].count; i++) {
            bm_put_i64(&b, wrong[k].items[i].last);
            bm_put_u32(&b, wrong[k].items[i].generation.epoch);
            bm_put_u32(&b, wrong[k].items[i].generation.attempt);
        }
        bm_envelope_seal(&b, BM_KIND_TRUNCATIONS, id, hash);
        CHECK_EQ(bm_truncations_decode(&t, b.data, b.size, id, "t", &error),
                 BOUMA_EFORMAT);
        CHECK_TEXT(error.text, "contradicts itself");
        CHECK_EQ(t.count, 0);
        bm_buffer_release(&b);
        bm_truncations_release(&t);
    }
}

/* One after the other; and what is damaged is not written over. */
static void records_add_up_in_the_file(void)
{
    bouma_io *io = bouma_io_memory_new();
    struct bm_error error = {0};
    struct bm_truncations t;
    struct bm_store s = {0};
    uint32_t epoch = 0;
    char note[100];

    REQUIRE(io &&
            !bm_store_open(&s, io, bm_allocator_default(), "d", 1, &error));
    REQUIRE(!bm_identity_create(&s, id, &error));
    REQUIRE(!bm_epoch_claim(&s, &epoch, 0, note, sizeof(note), &error));
    bm_truncations_init(&t, bm_allocator_default());
    CHECK_EQ(bm_truncations_load(&s, id, &t, &error), 0);
    CHECK_EQ(t.count, 0);
    CHECK_EQ(bm_truncations_record(&s, id, item_of(4, epoch, 0), &error), 0);
    CHECK_EQ(bm_truncations_record(&s, id, item_of(9, epoch, 2), &error), 0);
    CHECK_EQ(bm_truncations_record(&s, id, item_of(7, epoch, 3), &error), 0);
    CHECK_EQ(bm_truncations_load(&s, id, &t, &error), 0);
    CHECK_EQ(t.count, 2);
    CHECK_EQ(bm_truncations_record(&s, id, item_of(3, epoch - 1, 0), &error),
             BOUMA_EBUSY);
    bm_error_clear(&error);
    bm_store_remove(&s, BM_NAME_TRUNCATIONS);
    REQUIRE(!bm_store_save(&s, BM_NAME_TRUNCATIONS, "what?", 5, 0, &error));
    CHECK_EQ(bm_truncations_record(&s, id, item_of(3, epoch, 4), &error),
             BOUMA_EFORMAT);
    CHECK_TEXT(error.text, "no step was dropped");
    CHECK_EQ(bm_truncations_remove(&s), 1);
    CHECK_EQ(bm_truncations_load(&s, id, &t, &error), 0);
    CHECK_EQ(t.count, 0);
    bm_truncations_release(&t);
    bm_store_close(&s);
    bouma_io_memory_free(io);
}

int main(void)
{
    only_what_matters_is_kept();
    deletions_add_to_truncations();
    deletions_that_contradict_are_refused();
    the_bytes_are_those_of_the_format();
    what_contradicts_itself_is_refused();
    records_add_up_in_the_file();
    return check_result();
}
