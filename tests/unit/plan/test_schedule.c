/* When chunks are sent: one after the other, in the same order on every rank,
 * and all owners busy from the start. */
#include "plan/schedule.h"

#include "check.h"

#define MAX_SLOTS 300

static size_t random_slots(struct bm_slot *slots, uint64_t *state, int owners)
{
    size_t count = (size_t)check_below(state, MAX_SLOTS);

    for (size_t i = 0; i < count; i++)
        slots[i] = (struct bm_slot){
            (uint32_t)(i * 3),
            (int)check_below(state, owners),
            (uint64_t)check_below(state, check_below(state, 4) ? 100 : 1000),
            777,
            777,
            777};
    return count;
}

static void chunks_follow_each_other(void)
{
    struct bm_slot slots[MAX_SLOTS];
    uint64_t state = 18;

    for (int tries = 0; tries < 1000; tries++) {
        size_t count = random_slots(slots, &state, 8);
        uint64_t all = bm_schedule(slots, count), at = 0;

        for (size_t i = 0; i < count; i++) {
            CHECK_EQ(slots[i].at, at);
            at += slots[i].bytes;
        }
        CHECK_EQ(all, at);
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
        bm_schedule(slots, count);
        for (size_t i = 0; i < count; i++) {
            const struct bm_slot *was = &given[slots[i].index / 3];
            uint64_t before = 0;

            CHECK(!seen[slots[i].index / 3]);
            seen[slots[i].index / 3] = 1;
            CHECK_EQ(slots[i].owner, was->owner);
            CHECK_EQ(slots[i].bytes, was->bytes);
            for (size_t k = 0; k < count; k++)
                if (given[k].owner == was->owner && given[k].index < was->index)
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
        CHECK_EQ(bm_schedule(slots, count), bm_schedule(shuffled, count));
        for (size_t i = 0; i < count; i++) {
            CHECK_EQ(slots[i].index, shuffled[i].index);
            CHECK_EQ(slots[i].before, shuffled[i].before);
            CHECK_EQ(slots[i].at, shuffled[i].at);
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

        bm_schedule(slots, count);
        for (size_t i = 0; i < count; i++) {
            CHECK(!last[slots[i].owner] ||
                  slots[i].index >= last[slots[i].owner]);
            last[slots[i].owner] = slots[i].index;
        }
    }
}

/* Four owners with their chunks side by side on the order: they take turns. */
static void owners_take_turns(void)
{
    struct bm_slot slots[40];

    for (uint32_t i = 0; i < 40; i++)
        slots[i] = (struct bm_slot){i, (int)(i / 10), 10, 0, 0, 0};
    CHECK_EQ(bm_schedule(slots, 40), 400);
    for (uint32_t i = 0; i < 40; i++) {
        CHECK_EQ(slots[i].owner, i % 4);
        CHECK_EQ(slots[i].index, i % 4 * 10 + i / 4);
        CHECK_EQ(slots[i].at, i * 10);
    }
}

/* Chunks that have an owner each arrive in the order of the file, whoever these
 * are: they lie side by side in the writer's buffer. */
static void chunks_of_many_owners_arrive_as_the_file_has_them(void)
{
    struct bm_slot slots[16];

    for (uint32_t i = 0; i < 16; i++)
        slots[i] = (struct bm_slot){i, (int)(i * 7 % 16), 10, 0, 0, 0};
    bm_schedule(slots, 16);
    for (uint32_t i = 0; i < 16; i++)
        CHECK_EQ(slots[i].index, i);
}

/* Owners that have several come in the order of their first ones, each time. */
static void turns_are_in_the_order_of_first_chunks(void)
{
    static const int owner[6] = {5, 2, 2, 2, 5, 5};
    static const uint32_t order[6] = {0, 1, 4, 2, 5, 3};
    struct bm_slot slots[6];

    for (uint32_t i = 0; i < 6; i++)
        slots[i] = (struct bm_slot){i, owner[i], 10, 0, 0, 0};
    bm_schedule(slots, 6);
    for (uint32_t i = 0; i < 6; i++)
        CHECK_EQ(slots[i].index, order[i]);
}

int main(void)
{
    chunks_follow_each_other();
    all_chunks_are_there_with_what_came_before();
    the_order_is_the_same_from_any_order();
    an_owner_sends_its_chunks_in_their_order();
    owners_take_turns();
    chunks_of_many_owners_arrive_as_the_file_has_them();
    turns_are_in_the_order_of_first_chunks();
    return check_result();
}
