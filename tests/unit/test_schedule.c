/* When chunks are sent: rounds that fit the buffer, the same order on every
 * rank, and all owners busy from the start. */
#include "plan/schedule.h"

#include "check.h"

#define MAX_SLOTS 300

static size_t random_slots(struct bm_slot *slots, uint64_t *state, int owners)
{
    size_t count = (size_t)check_below(state, MAX_SLOTS);

    for (size_t i = 0; i < count; i++)
        slots[i] = (struct bm_slot){
            (uint32_t)(i * 3), (int)check_below(state, owners),
            (uint64_t)check_below(state, check_below(state, 4) ? 100 : 1000),
            777, 777};
    return count;
}

static void rounds_keep_to_the_buffer(void)
{
    struct bm_slot slots[MAX_SLOTS];
    uint64_t state = 18;

    for (int tries = 0; tries < 1000; tries++) {
        uint64_t buffer = 1 + (uint64_t)check_below(&state, 800);
        size_t count = random_slots(slots, &state, 8), at = 0;
        uint32_t rounds = bm_schedule(slots, count, buffer);

        CHECK_EQ(rounds == 0, count == 0);
        for (uint32_t round = 0; round < rounds; round++) {
            uint64_t bytes = 0;
            size_t chunks = 0, begin = at;

            for (; at < count && slots[at].round == round; at++) {
                bytes += slots[at].bytes;
                chunks += slots[at].bytes > 0;
            }
            CHECK(bytes <= buffer || chunks == 1);
            CHECK(at > begin);
            /* No round ends before it must. */
            if (at < count)
                CHECK(bytes + slots[at].bytes > buffer);
        }
        CHECK_EQ(at, count);
    }
}

static void all_chunks_are_there_with_what_came_before(void)
{
    struct bm_slot slots[MAX_SLOTS], given[MAX_SLOTS];
    uint64_t state = 19;

    for (int tries = 0; tries < 300; tries++) {
        size_t count = random_slots(slots, &state, 5);
        char seen[MAX_SLOTS] = {0};

        memcpy(given, slots, sizeof(slots));
        bm_schedule(slots, count, 500);
        for (size_t i = 0; i < count; i++) {
            const struct bm_slot *was = &given[slots[i].place / 3];
            uint64_t before = 0;

            CHECK(!seen[slots[i].place / 3]);
            seen[slots[i].place / 3] = 1;
            CHECK_EQ(slots[i].owner, was->owner);
            CHECK_EQ(slots[i].bytes, was->bytes);
            for (size_t k = 0; k < count; k++)
                if (given[k].owner == was->owner && given[k].place < was->place)
                    before += given[k].bytes;
            CHECK_EQ(slots[i].before, before);
            if (i)
                CHECK(slots[i].before >= slots[i - 1].before);
        }
    }
}

/* Whatever order they are given in, the outcome is one. */
static void the_order_is_the_same_from_any_order(void)
{
    struct bm_slot slots[MAX_SLOTS], shuffled[MAX_SLOTS];
    uint64_t state = 20;

    for (int tries = 0; tries < 300; tries++) {
        size_t count = random_slots(slots, &state, 6);

        memcpy(shuffled, slots, sizeof(slots));
        for (size_t i = count; i > 1; i--) {
            size_t k = (size_t)check_below(&state, (int64_t)i);
            struct bm_slot one = shuffled[k];

            shuffled[k] = shuffled[i - 1];
            shuffled[i - 1] = one;
        }
        CHECK_EQ(bm_schedule(slots, count, 300),
                 bm_schedule(shuffled, count, 300));
        for (size_t i = 0; i < count; i++) {
            CHECK_EQ(slots[i].place, shuffled[i].place);
            CHECK_EQ(slots[i].before, shuffled[i].before);
            CHECK_EQ(slots[i].round, shuffled[i].round);
        }
    }
}

static void an_owner_sends_its_chunks_in_their_order(void)
{
    struct bm_slot slots[MAX_SLOTS];
    uint64_t state = 21;

    for (int tries = 0; tries < 300; tries++) {
        size_t count = random_slots(slots, &state, 4);
        uint32_t last[4] = {0};

        bm_schedule(slots, count, 400);
        for (size_t i = 0; i < count; i++) {
            CHECK(!last[slots[i].owner] ||
                  slots[i].place >= last[slots[i].owner]);
            last[slots[i].owner] = slots[i].place;
        }
    }
}

/* Four owners with their chunks side by side on the order: they take turns. */
static void owners_take_turns(void)
{
    struct bm_slot slots[40];

    for (uint32_t i = 0; i < 40; i++)
        slots[i] = (struct bm_slot){i, (int)(i / 10), 10, 0, 0};
    CHECK_EQ(bm_schedule(slots, 40, 40), 10);
    for (uint32_t i = 0; i < 40; i++) {
        CHECK_EQ(slots[i].owner, i % 4);
        CHECK_EQ(slots[i].place, i % 4 * 10 + i / 4);
        CHECK_EQ(slots[i].round, i / 4);
    }
}

static void a_chunk_larger_than_the_buffer_has_its_own_round(void)
{
    struct bm_slot slots[3] = {
        {0, 0, 5, 0, 0}, {1, 0, 100, 0, 0}, {2, 0, 5, 0, 0}};

    CHECK_EQ(bm_schedule(slots, 3, 10), 3);
    for (uint32_t i = 0; i < 3; i++)
        CHECK_EQ(slots[i].round, i);
    CHECK_EQ(bm_schedule(slots, 0, 10), 0);
}

int main(void)
{
    rounds_keep_to_the_buffer();
    all_chunks_are_there_with_what_came_before();
    the_order_is_the_same_from_any_order();
    an_owner_sends_its_chunks_in_their_order();
    owners_take_turns();
    a_chunk_larger_than_the_buffer_has_its_own_round();
    return check_result();
}
