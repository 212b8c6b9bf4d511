/* Items packed into messages: both ends find every item at the same offset of
 * the same message, and nothing overlaps. */
#include "comm/route.h"

#include "check.h"
#include "fault_alloc.h"

struct item {
    uint32_t round;
    int peer;
    size_t bytes;
};

static void fill_route(struct bm_route *r, const struct item *items, size_t n)
{
    bm_route_init(r, bm_allocator_default());
    for (size_t i = 0; i < n; i++)
        bm_route_add(r, items[i].round, items[i].peer, items[i].bytes);
    REQUIRE(!bm_route_seal(r));
}

static int in_message(const struct bm_message *m, const uint8_t *p,
                      size_t bytes)
{
    const uint8_t *begin = m->data;

    return p >= begin && p + bytes <= begin + m->bytes;
}

static void items_lie_in_the_message_of_their_peer_and_round(void)
{
    uint64_t state = 22;
    struct item items[200];

    for (int tries = 0; tries < 300; tries++) {
        size_t n = (size_t)check_below(&state, 200);
        uint64_t total = 0, sent = 0, largest = 0;
        struct bm_route r;

        for (size_t i = 0; i < n; i++) {
            items[i].round = (uint32_t)check_below(&state, 6) * 2; /* gaps */
            items[i].peer = (int)check_below(&state, 7);
            items[i].bytes = (size_t)check_below(&state, 50);
        }
        fill_route(&r, items, n);
        CHECK_EQ(r.count, n);
        for (uint32_t round = 0; round < r.rounds; round++) {
            size_t count;
            const struct bm_message *m = bm_route_messages(&r, round, &count);
            uint64_t in_round = 0;
            int last = -1;

            for (size_t k = 0; k < count; k++) {
                CHECK(m[k].peer > last); /* one for each peer, ascending */
                last = m[k].peer;
                sent += m[k].bytes;
                in_round += m[k].bytes;
                CHECK((uint8_t *)m[k].data + m[k].bytes <=
                      r.data + r.data_bytes);
                if (k)
                    CHECK((uint8_t *)m[k].data ==
                          (uint8_t *)m[k - 1].data + m[k - 1].bytes);
            }
            largest = in_round > largest ? in_round : largest;
            for (size_t i = 0; i < n; i++) {
                const uint8_t *p = bm_route_at(&r, i);
                int found = 0;

                /* In a message, items come in the order of addition. */
                for (size_t k = 0; k < i; k++)
                    if (items[k].round == items[i].round &&
                        items[k].peer == items[i].peer)
                        CHECK(bm_route_at(&r, k) <= p);

                if (items[i].round != round)
                    continue;
                CHECK_EQ((uintptr_t)p % 8, 0);
                for (size_t k = 0; k < count; k++)
                    found += m[k].peer == items[i].peer &&
                             in_message(&m[k], p, items[i].bytes);
                CHECK_EQ(found, 1);
            }
        }
        for (size_t i = 0; i < n; i++)
            total += (items[i].bytes + 7) / 8 * 8;
        CHECK_EQ(sent, total);
        CHECK_EQ(r.data_bytes, largest); /* not that of all rounds */
        bm_route_release(&r);
        bm_route_release(&r);
    }
}

/* Write a pattern into every item of a round, in any order, and see that none
 * has overwritten another. */
static void items_of_a_round_do_not_overlap(void)
{
    uint64_t state = 23;
    struct item items[100];

    for (int tries = 0; tries < 100; tries++) {
        struct bm_route r;

        for (size_t i = 0; i < 100; i++) {
            items[i].round = (uint32_t)check_below(&state, 4);
            items[i].peer = (int)check_below(&state, 5);
            items[i].bytes = (size_t)check_below(&state, 40);
        }
        fill_route(&r, items, 100);
        for (uint32_t round = 0; round < r.rounds; round++) {
            for (size_t i = 0; i < 100; i++)
                if (items[i].round == round)
                    memset(bm_route_at(&r, i), (int)i + 1, items[i].bytes);
            for (size_t i = 0; i < 100; i++)
                for (size_t k = 0;
                     items[i].round == round && k < items[i].bytes; k++)
                    CHECK_EQ(bm_route_at(&r, i)[k], i + 1);
        }
        bm_route_release(&r);
    }
}

/* Rank 'me' sends to each of several; each of those lists what comes from all
 * ranks. What both list for each other has the same layout. */
static void both_ends_agree_on_the_layout(void)
{
    enum { RANKS = 5, ITEMS = 200 };
    struct {
        uint32_t round;
        int from, to;
        size_t bytes;
    } all[ITEMS];
    struct bm_route sends[RANKS], receives[RANKS];
    size_t send_serial[ITEMS], receive_serial[ITEMS];
    uint64_t state = 24;

    for (int r = 0; r < RANKS; r++) {
        bm_route_init(&sends[r], bm_allocator_default());
        bm_route_init(&receives[r], bm_allocator_default());
    }
    for (int i = 0; i < ITEMS; i++) {
        all[i].round = (uint32_t)check_below(&state, 4);
        all[i].from = (int)check_below(&state, RANKS);
        all[i].to = (int)check_below(&state, RANKS);
        all[i].bytes = (size_t)check_below(&state, 30);
        send_serial[i] = sends[all[i].from].count;
        receive_serial[i] = receives[all[i].to].count;
        bm_route_add(&sends[all[i].from], all[i].round, all[i].to,
                     all[i].bytes);
        bm_route_add(&receives[all[i].to], all[i].round, all[i].from,
                     all[i].bytes);
    }
    for (int r = 0; r < RANKS; r++)
        REQUIRE(!bm_route_seal(&sends[r]) && !bm_route_seal(&receives[r]));
    for (uint32_t round = 0; round < 5; round++) {
        for (int i = 0; i < ITEMS; i++)
            if (all[i].round == round)
                memset(bm_route_at(&sends[all[i].from], send_serial[i]), i + 1,
                       all[i].bytes);
        for (int from = 0; from < RANKS; from++)
            for (int to = 0; to < RANKS; to++) {
                size_t n, k;
                const struct bm_message *s =
                    bm_route_messages(&sends[from], round, &n);
                const struct bm_message *t =
                    bm_route_messages(&receives[to], round, &k);

                while (n && s->peer != to)
                    s++, n--;
                while (k && t->peer != from)
                    t++, k--;
                CHECK_EQ(n > 0, k > 0);
                if (!n || !k)
                    continue;
                CHECK_EQ(s->bytes, t->bytes);
                memcpy(t->data, s->data, s->bytes);
            }
        for (int i = 0; i < ITEMS; i++)
            for (size_t k = 0; all[i].round == round && k < all[i].bytes; k++)
                CHECK_EQ(
                    bm_route_at(&receives[all[i].to], receive_serial[i])[k],
                    (uint8_t)(i + 1));
    }
    for (int r = 0; r < RANKS; r++) {
        bm_route_release(&sends[r]);
        bm_route_release(&receives[r]);
    }
}

static void an_empty_route_has_no_rounds(void)
{
    struct bm_route r;
    size_t count = 9;

    fill_route(&r, NULL, 0);
    CHECK_EQ(r.rounds, 0);
    CHECK(!bm_route_messages(&r, 0, &count));
    CHECK_EQ(count, 0);
    bm_route_release(&r);
}

/* ---- without memory ----------------------------------------------------- */

static void every_failed_allocation_is_told_and_leaks_nothing(void)
{
    struct fault_alloc memory;
    int rc = BOUMA_ENOMEM, calls = 0;

    fault_alloc_init(&memory);
    for (; rc && calls < 20; calls++) {
        struct bm_route r;

        fault_alloc_arm(&memory, calls + 1, 1);
        bm_route_init(&r, &memory.table);
        for (int i = 0; i < 100; i++)
            bm_route_add(&r, (uint32_t)i % 3, i % 5, 16);
        rc = bm_route_seal(&r);
        CHECK(rc == BOUMA_OK || rc == BOUMA_ENOMEM);
        bm_route_release(&r);
        CHECK_EQ(memory.live, 0);
    }
    CHECK_EQ(rc, BOUMA_OK);
    CHECK(calls > 4);
}

int main(void)
{
    items_lie_in_the_message_of_their_peer_and_round();
    items_of_a_round_do_not_overlap();
    both_ends_agree_on_the_layout();
    an_empty_route_has_no_rounds();
    every_failed_allocation_is_told_and_leaks_nothing();
    return check_result();
}
