/* route.h -- what goes between ranks in one phase: items of known size, packed
 * into one message for each pair of ranks and round.
 *
 * Both ends list their items in the same order, so an item has the same offset
 * in the message on either side, and nothing but payload is sent. All memory is
 * there once a route is sealed: the exchange itself cannot run out of it. */
#ifndef BM_ROUTE_H
#define BM_ROUTE_H

#include "comm/comm.h"

struct bm_route_item {
    uint32_t round;
    int peer;
    size_t serial; /* in the order of addition */
    size_t bytes;
    size_t offset; /* in 'data', while its round is on */
};

struct bm_route {
    const bouma_allocator *a;
    struct bm_route_item *items; /* by serial, until sealed; then see below */
    size_t count, capacity;
    size_t *item_of; /* [count]: items[item_of[serial]] is item 'serial' */
    struct bm_message *messages;
    size_t *first_message; /* [rounds + 1] */
    uint32_t rounds;
    uint8_t *data; /* of the largest round */
    size_t data_bytes;
    int failed; /* no memory for an item */
};

void bm_route_init(struct bm_route *r, const bouma_allocator *a);
void bm_route_release(struct bm_route *r);
/* After an exchange: if the communicator is lost, MPI may still use the data,
 * which is then never given back. */
void bm_route_leak_if_lost(struct bm_route *r, const struct bm_comm *comm);

/* Its serial number is the count of those before. */
void bm_route_add(struct bm_route *r, uint32_t round, int peer, size_t bytes);

/* BOUMA_OK or ENOMEM. */
int bm_route_seal(struct bm_route *r);

/* Where item 'serial' is while its round is on. */
uint8_t *bm_route_at(const struct bm_route *r, size_t serial);

/* The messages of all rounds. */
size_t bm_route_message_count(const struct bm_route *r);

/* The messages of a round; none for rounds past the last. */
const struct bm_message *bm_route_messages(const struct bm_route *r,
                                           uint32_t round, size_t *count);

#endif
