/* fair_queue.c -- a ring of clients, with a line behind each.
 *
 *     turn -> A1 -> B1 -> C1 -> (A1)     next_turn
 *             |           |
 *             A2          C2             behind
 *
 * 'turn' is the client whose turn comes last: its neighbour is next. */
#include "fair_queue.h"

#include <string.h>

static bool is_same(const struct fair_item *a, const struct fair_item *b)
{
    return memcmp(&a->client, &b->client, sizeof(a->client)) == 0;
}

/* The first item of the same client, or NULL. */
static struct fair_item *find(const struct fair_queue *queue,
                              const struct fair_item *item)
{
    struct fair_item *at = queue->turn;

    if (!at)
        return NULL;
    do {
        if (is_same(at, item))
            return at;
        at = at->next_turn;
    } while (at != queue->turn);
    return NULL;
}

void fair_queue_put(struct fair_queue *queue, struct fair_item *item)
{
    struct fair_item *first = find(queue, item);

    item->behind = NULL;
    queue->count++;
    if (first) {
        first->last->behind = item;
        first->last = item;
        return;
    }
    item->last = item;
    if (queue->turn) {
        item->next_turn = queue->turn->next_turn;
        queue->turn->next_turn = item;
    } else {
        item->next_turn = item;
    }
    queue->turn = item; /* all others come before */
}

struct fair_item *fair_queue_take(struct fair_queue *queue)
{
    struct fair_item *before = queue->turn, *first, *second;

    if (!before)
        return NULL;
    first = before->next_turn;
    second = first->behind;
    queue->count--;
    if (second) { /* takes its place, and is the last one now */
        second->last = first->last;
        second->next_turn = first == before ? second : first->next_turn;
        if (first != before)
            before->next_turn = second;
        queue->turn = second;
    } else if (first == before) {
        queue->turn = NULL;
    } else {
        before->next_turn = first->next_turn;
    }
    return first;
}
