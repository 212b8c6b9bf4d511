/* fair_queue.h -- requests that wait, with a turn for each client: of clients
 * that all have some waiting, each gets the next one done in its turn, however
 * many others it has sent. Not for several threads at once. */
#ifndef SERVE_FAIR_QUEUE_H
#define SERVE_FAIR_QUEUE_H

#include <stdbool.h>
#include <stddef.h>

/* The address of a client. */
struct fair_client {
    unsigned char bytes[16];
};

/* Part of what waits. */
struct fair_item {
    struct fair_client client;
    struct fair_item *behind; /* of the same client */
    /* Of the first item of a client: */
    struct fair_item *last;
    struct fair_item *next_turn; /* of another client; a ring */
};

struct fair_queue {
    struct fair_item *turn; /* the last client that had its turn; NULL: empty */
    size_t count;
};

void fair_queue_put(struct fair_queue *queue, struct fair_item *item);
/* NULL if nothing waits. */
struct fair_item *fair_queue_take(struct fair_queue *queue);

#endif
