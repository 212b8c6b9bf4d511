/* particle_query_deliver.c -- the values of particles that match: decoded and
 * picked on the threads, handed over one piece after the other. */
#include "base/gather.h"
#include "read/particle_query.h"

#define ROOM_ALIGN 64

/* ---- values -------------------------------------------------------------- */

/* A column of a piece, as it was read. */
static const struct bm_extent *stored(const struct bm_query_state *s,
                                      const struct bm_query_piece *p,
                                      int column)
{
    size_t piece = (size_t)(p - s->batch.pieces);
    int tested = s->asked.tested_count;

    if (column < tested)
        return s->batch.tested.by_tag[piece * (size_t)tested + (size_t)column];
    return s->batch.others
        .by_tag[piece * (size_t)(s->asked.column_count - tested) +
                (size_t)(column - tested)];
}

/* Whether what is stored is the values themselves. */
static int is_plain(const struct bm_query_column *c, const struct bm_extent *e)
{
    return c->plain && !((uintptr_t)e->data & (c->value_size - 1));
}

/* Whether values are kept for other queries. */
static int is_kept(const struct bm_query_state *s, const struct bm_extent *e)
{
    return s->query->values && e->bytes;
}

/* Where the values of a piece are kept; if they are there already, *done is
 * set. NULL if there is no memory. No other thread asks for the same. */
static void *kept_room(struct bm_query_state *s, const struct bm_extent *e,
                       size_t bytes, int *done)
{
    uint64_t end = e->offset + e->bytes;
    const uint8_t *kept;

    pthread_mutex_lock(&s->keeping);
    kept = bm_shelf_find(s->query->values, e->offset, end);
    *done = kept != NULL;
    if (!kept)
        kept = bm_shelf_add(s->query->values, e->offset, end, bytes);
    pthread_mutex_unlock(&s->keeping);
    return (void *)kept;
}

int bm_query_values(struct bm_query_state *s, const struct bm_turn *turn,
                    const struct bm_query_piece *p, int column, void *room,
                    const uint8_t **out)
{
    const struct bm_query_column *c = &s->asked.columns[column];
    const struct bm_extent *e = stored(s, p, column);
    size_t bytes = (size_t)p->count * c->sample_size;
    struct bm_block_of_memory *own = &turn->coder->room[BM_QUERY_VALUES];
    int rc, done = 0;

    *out = e->data;
    if (is_plain(c, e))
        return BOUMA_OK;
    if (is_kept(s, e))
        room = kept_room(s, e, bytes, &done);
    else if (!room)
        room = bm_block_grow(turn->coder->a, own, bytes) ? NULL : own->data;
    *out = room;
    if (!room)
        return bm_query_no_memory(turn->error);
    if (done)
        return BOUMA_OK;
    rc = bm_values_decode(&turn->coder->codec, room, c->variable, p->count,
                          e->data, e->bytes);
    if (rc == BOUMA_EFORMAT)
        return bm_extent_damaged(s->step, s->file.source, e,
                                 "the data cannot be decoded", turn->error);
    return rc ? bm_query_no_memory(turn->error) : BOUMA_OK;
}

/* ---- delivery ------------------------------------------------------------ */

static uint32_t matches(const struct bm_query_piece *p)
{
    return p->choice == BM_ALL_MATCH ? p->count : p->choice;
}

static size_t rounded(size_t bytes)
{
    return (bytes + ROOM_ALIGN - 1) / ROOM_ALIGN * ROOM_ALIGN;
}

/* The room that a piece needs, for columns whose values are not somewhere
 * already; gives the bytes that are decoded and picked. */
static size_t plan_piece(const struct bm_query_state *s,
                         struct bm_query_piece *p)
{
    int all = p->choice == BM_ALL_MATCH;
    size_t bytes = 0;

    p->room = 0;
    for (int i = 0; i < s->asked.column_count && p->choice; i++) {
        const struct bm_query_column *c = &s->asked.columns[i];
        const struct bm_extent *e = stored(s, p, i);
        int plain = is_plain(c, e);

        if (c->out < 0)
            continue;
        if (!all || c->woven || (!plain && !is_kept(s, e)))
            p->room += rounded((size_t)matches(p) * c->sample_size);
        if (!plain)
            bytes += (size_t)p->count * c->sample_size;
    }
    return bytes + p->room;
}

static size_t piece_room(const void *context, size_t piece)
{
    const struct bm_query_state *s = context;

    return s->batch.pieces[piece].room;
}

/* The values of a column that match. */
static int pick_column(struct bm_query_state *s, const struct bm_turn *turn,
                       const struct bm_query_piece *p, int column,
                       uint8_t *room, const void **out)
{
    const struct bm_query_column *c = &s->asked.columns[column];
    const uint16_t *choices = s->batch.choices.data;
    size_t size = c->value_size, components = (size_t)c->variable->components;
    int all = p->choice == BM_ALL_MATCH, as_it_is = all && !c->woven;
    const uint8_t *values;
    int rc =
        bm_query_values(s, turn, p, column, as_it_is ? room : NULL, &values);

    *out = as_it_is ? values : room;
    for (size_t k = 0; k < components && !rc && !as_it_is; k++) {
        const uint8_t *from = values + k * p->count * size;

        if (c->woven)
            bm_gather_apart(room + k * size, components, from,
                            all ? NULL : choices + p->chosen, matches(p), size);
        else
            bm_gather_near(room + k * p->choice * size, from,
                           choices + p->chosen, p->choice, size);
    }
    return rc;
}

static const void **columns_of(const struct bm_query_state *s, size_t piece)
{
    return (const void **)s->batch.out.data +
           piece * (size_t)s->asked.out_count;
}

static int pick_piece(void *context, const struct bm_turn *turn)
{
    struct bm_query_state *s = context;
    const struct bm_query_piece *p = &s->batch.pieces[turn->number];
    const void **out = columns_of(s, turn->number);
    uint8_t *room = turn->room;
    int rc = BOUMA_OK;

    for (int i = 0; i < s->asked.column_count && p->choice && !rc; i++) {
        int column = s->asked.columns[i].out;

        if (column < 0)
            continue;
        rc = pick_column(s, turn, p, i, room, &out[column]);
        if (out[column] == room)
            room +=
                rounded((size_t)matches(p) * s->asked.columns[i].sample_size);
    }
    return rc;
}

static int deliver_piece(void *context, const struct bm_turn *turn)
{
    struct bm_query_state *s = context;
    const struct bm_query_piece *p = &s->batch.pieces[turn->number];
    bouma_batch batch = {.size = sizeof(batch),
                         .count = matches(p),
                         .columns = columns_of(s, turn->number),
                         .order = s->query->query.order};
    int rc;

    if (!batch.count)
        return BOUMA_OK;
    if (s->query->draw)
        s->query->draw->keys = (uint64_t *)s->batch.keys.data + p->chosen;
    rc = s->query->each(s->query->context, &batch);
    if (rc) /* where a call that it made has failed, that is the reason */
        return bm_fail(&s->step->ds->error, BOUMA_EABORTED,
                       "the caller ended the query");
    bm_error_clear(&s->step->ds->error);
    return BOUMA_OK;
}

int bm_query_deliver(struct bm_query_state *s)
{
    struct bm_query_batch *b = &s->batch;
    struct bm_work work = {.context = s,
                           .count = b->piece_count,
                           .name = "decode values",
                           .run = pick_piece,
                           .deliver = deliver_piece,
                           .room = piece_room,
                           .memory = &b->picked};

    if (bm_block_grow(s->step->ds->a, &b->out,
                      b->piece_count * (size_t)s->asked.out_count *
                          sizeof(const void *)))
        return bm_query_no_memory(&s->step->ds->error);
    for (size_t i = 0; i < b->piece_count; i++)
        work.bytes += (double)plan_piece(s, &b->pieces[i]);
    return bm_work_run(s->step, &work);
}
