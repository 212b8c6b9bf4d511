/* route.c -- see route.h. */
#include "comm/route.h"

#include <stdlib.h>
#include <string.h>

void bm_route_init(struct bm_route *r, const bouma_allocator *a)
{
    memset(r, 0, sizeof(*r));
    r->a = a;
}

void bm_route_release(struct bm_route *r)
{
    if (!r->a)
        return;
    bm_drop(r->a, r->items);
    bm_drop(r->a, r->item_of);
    bm_drop(r->a, r->messages);
    bm_drop(r->a, r->first_message);
    bm_drop(r->a, r->data);
    bm_route_init(r, r->a);
}

void bm_route_leak_if_lost(struct bm_route *r, const struct bm_comm *comm)
{
    if (comm->lost)
        r->data = NULL;
}

void bm_route_add(struct bm_route *r, uint32_t round, int peer, size_t bytes)
{
    bytes = (bytes + 7) / 8 * 8; /* samples of any type stay aligned */
    if (r->count == r->capacity) {
        size_t room = r->capacity * 2 + 64;
        struct bm_route_item *grown =
            bm_resize(r->a, r->items, room, sizeof(*grown));

        if (!grown) {
            r->failed = 1;
            return;
        }
        r->items = grown;
        r->capacity = room;
    }
    r->items[r->count] =
        (struct bm_route_item){round, peer, r->count, bytes, 0};
    r->count++;
}

static int by_round_and_peer(const void *left, const void *right)
{
    const struct bm_route_item *a = left, *b = right;

    if (a->round != b->round)
        return a->round < b->round ? -1 : 1;
    if (a->peer != b->peer)
        return a->peer < b->peer ? -1 : 1;
    return a->serial < b->serial ? -1 : a->serial > b->serial;
}

/* Give items their offsets, and find the size of the largest round and the
 * number of messages. */
static size_t lay_out(struct bm_route *r)
{
    size_t messages = 0, at = 0;

    for (size_t i = 0; i < r->count; i++) {
        struct bm_route_item *item = &r->items[i];
        int new_round = !i || item->round != item[-1].round;

        if (new_round)
            at = 0;
        messages += new_round || item->peer != item[-1].peer;
        item->offset = at;
        at += item->bytes;
        if (at > r->data_bytes)
            r->data_bytes = at;
        r->item_of[item->serial] = i;
    }
    return messages;
}

static void make_messages(struct bm_route *r)
{
    size_t n = 0;
    uint32_t round = 0;

    for (size_t i = 0; i < r->count; i++) {
        struct bm_route_item *item = &r->items[i];

        while (round <= item->round)
            r->first_message[round++] = n;
        if (!i || item->round != item[-1].round || item->peer != item[-1].peer)
            r->messages[n++] =
                (struct bm_message){item->peer, r->data + item->offset, 0};
        r->messages[n - 1].bytes += item->bytes;
    }
    while (round <= r->rounds)
        r->first_message[round++] = n;
}

int bm_route_seal(struct bm_route *r)
{
    size_t messages;

    if (r->failed)
        return BOUMA_ENOMEM;
    r->item_of = bm_new_raw(r->a, r->count, sizeof(*r->item_of));
    if (!r->item_of)
        return BOUMA_ENOMEM;
    if (r->count)
        qsort(r->items, r->count, sizeof(*r->items), by_round_and_peer);
    r->rounds = r->count ? r->items[r->count - 1].round + 1 : 0;
    messages = lay_out(r);
    r->data = bm_new_raw(r->a, r->data_bytes, 1);
    r->messages = bm_new_raw(r->a, messages, sizeof(*r->messages));
    r->first_message =
        bm_new_raw(r->a, (size_t)r->rounds + 1, sizeof(*r->first_message));
    if (!r->data || !r->messages || !r->first_message)
        return BOUMA_ENOMEM;
    make_messages(r);
    return BOUMA_OK;
}

uint8_t *bm_route_at(const struct bm_route *r, size_t serial)
{
    return r->data + r->items[r->item_of[serial]].offset;
}

size_t bm_route_message_count(const struct bm_route *r)
{
    return r->rounds ? r->first_message[r->rounds] : 0;
}

const struct bm_message *bm_route_messages(const struct bm_route *r,
                                           uint32_t round, size_t *count)
{
    if (round >= r->rounds) {
        *count = 0;
        return NULL;
    }
    *count = r->first_message[round + 1] - r->first_message[round];
    return r->messages + r->first_message[round];
}
