/* shape_tiles.c -- see shape_tiles.h. */
#include "write/shape_tiles.h"

#include <stdlib.h>
#include <string.h>

/* ---- tiles that concern this rank ---------------------------------------- */

/* Tiles come in runs. */
struct listing {
    const bouma_allocator *a;
    struct bm_tile_list *list;
};

static void add_tiles(void *context, int64_t first, int64_t end)
{
    const struct listing *l = context;

    for (int64_t tile = first; tile < end; tile++) {
        int64_t *grown =
            bm_grow(l->a, l->list->tile, l->list->count, sizeof(*grown));

        if (!grown) {
            l->list->failed = 1;
            return;
        }
        l->list->tile = grown;
        grown[l->list->count++] = tile;
    }
}

/* Those that the blocks of a rank meet, from the first of these on. */
static void add_blocks(const struct listing *l, const struct bm_tiling *tiling,
                       const struct bm_block *blocks, size_t first,
                       size_t count, int rank)
{
    struct bm_chunking c = bm_chunking_of_tiling(tiling);

    for (size_t b = first; b < count && blocks[b].rank == rank; b++)
        c.calls->touched(c.own, &blocks[b].box, 0, add_tiles, (void *)l);
}

static int ascending(const void *left, const void *right)
{
    const int64_t *a = left, *b = right;

    return *a < *b ? -1 : *a > *b;
}

/* A rank transforms the tiles in its blocks of coefficients. */
static int list_tiles(struct bm_shaper *s, const struct bouma_variable *v,
                      const struct bm_decomposition *d)
{
    struct bm_tile_list *list = &s->tiles.concern[v->id];
    struct listing l = {s->ds->a, list};
    const struct bm_tile_plan *t = d->tiles;
    size_t n = 0;

    add_blocks(&l, &t->tiling, t->given, t->my_first_given, t->given_count,
               s->comm->rank);
    add_blocks(&l, &t->tiling, d->blocks, d->my_first_block, d->block_count,
               s->comm->rank);
    if (list->count)
        qsort(list->tile, list->count, sizeof(*list->tile), ascending);
    for (size_t i = 0; i < list->count; i++)
        if (!i || list->tile[i] != list->tile[i - 1])
            list->tile[n++] = list->tile[i];
    list->count = n;
    return list->failed ? BOUMA_ENOMEM : BOUMA_OK;
}

/* ---- parts of tiles ------------------------------------------------------ */

/* A variable of the plan, with tiles. */
struct tiled {
    const struct bouma_variable *variable;
    const struct bm_decomposition *decomposition;
};

/* Call 'each' for every part of every tile that concerns this rank; all ranks go
 * through them in the same order. */
static void each_part(struct bm_shaper *s,
                      void (*each)(struct bm_shaper *s, const struct tiled *v,
                                   int64_t tile, int64_t k))
{
    for (size_t i = 0; i < s->plan->grid_count; i++)
        for (size_t j = 0; j < s->plan->grids[i].count; j++) {
            struct tiled v = {s->plan->grids[i].variables[j],
                              s->plan->grids[i].of[j]};
            const struct bm_tile_plan *t = v.decomposition->tiles;
            const struct bm_tile_list *list = &s->tiles.concern[v.variable->id];

            for (size_t n = 0; t && n < list->count; n++)
                for (int64_t k = t->partition.first[list->tile[n]];
                     k < t->partition.first[list->tile[n] + 1]; k++)
                    each(s, &v, list->tile[n], k);
        }
}

static int holder_of(const struct tiled *v, int64_t k)
{
    const struct bm_tile_plan *t = v->decomposition->tiles;

    return t->given[t->partition.part[k]].rank;
}

static size_t bytes_of(const struct tiled *v, int64_t tile, int64_t k)
{
    struct bm_footprint f =
        bm_partition_part(&v->decomposition->tiles->partition, tile, k);

    return (size_t)bm_footprint_samples(&f) *
           bm_variable_sample_size(v->variable);
}

static void list_part(struct bm_shaper *s, const struct tiled *v, int64_t tile,
                      int64_t k)
{
    int me = s->comm->rank, holder = holder_of(v, k);
    int owner = v->decomposition->tiles->owner[tile];

    if (holder == me && owner != me)
        bm_route_add(&s->tiles.sends, 0, owner, bytes_of(v, tile, k));
    else if (holder != me && owner == me)
        bm_route_add(&s->tiles.receives, 0, holder, bytes_of(v, tile, k));
}

/* Samples of a part, as the caller has them. */
static struct bm_memory_part
given_part(struct bm_shaper *s, const struct tiled *v, int64_t tile, int64_t k)
{
    const struct bm_tile_plan *t = v->decomposition->tiles;
    struct bm_footprint f = bm_partition_part(&t->partition, tile, k);
    const struct bm_put *put =
        &s->first_put[v->variable->id]
                     [t->partition.part[k] - t->my_first_given];

    return bm_part_given(s->hands, put, &f);
}

static void pack_part(struct bm_shaper *s, const struct tiled *v, int64_t tile,
                      int64_t k, uint8_t *to)
{
    struct bm_memory_part from = given_part(s, v, tile, k);
    size_t size = bm_variable_value_size(v->variable);
    size_t bytes = (size_t)bm_footprint_samples(&from.samples) * size;

    for (int j = 0; j < v->variable->components; j++)
        bm_part_pack(to + (size_t)j * bytes, &from, j, size);
}

/* Samples of a part, dense, into the block of its tile. */
static void unpack_part(struct bm_shaper *s, const struct tiled *v,
                        int64_t tile, int64_t k, const uint8_t *from)
{
    const struct bm_decomposition *d = v->decomposition;
    struct bm_footprint f = bm_partition_part(&d->tiles->partition, tile, k);
    const struct bm_memory_box *box =
        &s->tiles.boxes[v->variable->id]
                       [d->tiles->block_of[tile] - d->my_first_block];
    struct bm_memory_part to = bm_part_in_box(box, &f);
    size_t size = bm_variable_value_size(v->variable);
    size_t bytes = (size_t)bm_footprint_samples(&f) * size;
    struct bm_lattice l = {.start = {0, 0, 0}};
    struct bm_strided part;

    memcpy(l.count, f.count, sizeof(l.count));
    part = bm_lattice_whole(&l, size);
    memcpy(part.stride, to.array.stride, sizeof(part.stride));
    for (int j = 0; j < v->variable->components; j++)
        bm_lattice_unpack(&l, size, &part, bm_array_component(&to.array, j),
                          from + (size_t)j * bytes);
}

static void send_part(struct bm_shaper *s, const struct tiled *v, int64_t tile,
                      int64_t k)
{
    int me = s->comm->rank;

    if (holder_of(v, k) == me && v->decomposition->tiles->owner[tile] != me)
        pack_part(s, v, tile, k, bm_route_at(&s->tiles.sends, s->tiles.next++));
}

/* What came from others, and this rank's own: through the same dense form. */
static void receive_part(struct bm_shaper *s, const struct tiled *v,
                         int64_t tile, int64_t k)
{
    if (v->decomposition->tiles->owner[tile] != s->comm->rank)
        return;
    if (holder_of(v, k) != s->comm->rank) {
        unpack_part(s, v, tile, k,
                    bm_route_at(&s->tiles.receives, s->tiles.next++));
    } else {
        pack_part(s, v, tile, k, s->tiles.part);
        unpack_part(s, v, tile, k, s->tiles.part);
    }
}

static int exchange(struct bm_shaper *s)
{
    size_t send_count, receive_count;
    const struct bm_message *sends, *receives;
    int rc;

    s->tiles.next = 0;
    each_part(s, send_part);
    sends = bm_route_messages(&s->tiles.sends, 0, &send_count);
    receives = bm_route_messages(&s->tiles.receives, 0, &receive_count);
    rc = bm_comm_exchange(s->comm, sends, send_count, receives, receive_count,
                          &s->ds->error);
    bm_route_leak_if_lost(&s->tiles.sends, s->comm);
    bm_route_leak_if_lost(&s->tiles.receives, s->comm);
    return rc;
}

/* ---- facts --------------------------------------------------------------- */

size_t bm_tiles_fact_bytes(const struct bouma_variable *v)
{
    return (size_t)v->components * sizeof(struct bm_range) +
           sizeof(struct bm_loss);
}

static void join_loss(struct bm_loss *loss, const struct bm_loss *other)
{
    loss->largest =
        other->largest > loss->largest ? other->largest : loss->largest;
    loss->squares += other->squares;
}

/* Those of a part that this rank has, before it is transformed. */
static void find_facts(struct bm_shaper *s, const struct bm_chunk *c, int64_t k,
                       struct bm_range *ranges, struct bm_loss *loss)
{
    const struct bouma_variable *v = c->variable;
    struct bm_memory_part from = bm_part_mine(s, s->hands, c, k);
    size_t count = (size_t)bm_footprint_samples(&from.samples);

    for (int j = 0; j < v->components; j++) {
        bm_part_pack(s->tiles.part, &from, j, bm_variable_value_size(v));
        bm_range_add(&ranges[j], v->type, s->tiles.part, count);
        v->object->layout->tiles->round(v, s->tiles.part, count, loss);
    }
}

/* Of the parts that this rank has of a chunk that it encodes. */
static void find_own_facts(struct bm_shaper *s, size_t m)
{
    struct bm_chunk c = bm_plan_chunk(s->plan, s->plan->mine[m]);
    const struct bm_partition *p = &c.decomposition->partition;

    for (int64_t k = p->first[c.number]; k < p->first[c.number + 1]; k++)
        if (c.decomposition->tiles && bm_part_rank(&c, k) == s->comm->rank)
            find_facts(s, &c, k, s->tiles.facts[m].ranges,
                       &s->tiles.facts[m].loss);
}

/* Of those of a chunk that it sends, from 'serial' on: behind the samples in
 * messages. Gives the next serial. */
static size_t find_sent_facts(struct bm_shaper *s, size_t chunk, size_t serial)
{
    struct bm_chunk c = bm_plan_chunk(s->plan, chunk);
    const struct bm_partition *p = &c.decomposition->partition;

    for (int64_t k = p->first[c.number]; k < p->first[c.number + 1]; k++) {
        struct bm_range ranges[BM_MAX_COMPONENTS] = {{.count = 0}};
        struct bm_loss loss = {0, 0};
        uint8_t *to;

        if (bm_part_rank(&c, k) != s->comm->rank)
            continue;
        to = bm_route_at(&s->sends, serial++);
        if (!c.decomposition->tiles)
            continue;
        find_facts(s, &c, k, ranges, &loss);
        to += bm_part_bytes(&c, k);
        memcpy(to, &loss, sizeof(loss));
        memcpy(to + sizeof(loss), ranges,
               (size_t)c.variable->components * sizeof(*ranges));
    }
    return serial;
}

/* Of all parts that this rank has. */
static void find_all_facts(struct bm_shaper *s)
{
    size_t serial = 0;

    for (size_t m = 0; m < s->plan->mine_count; m++)
        find_own_facts(s, m);
    for (size_t i = 0; i < s->sent_count; i++)
        serial = find_sent_facts(s, s->sent[i], serial);
}

void bm_tiles_tell_facts(const struct bm_shaper *s, size_t m,
                         const struct bm_chunk *c, struct bm_encoding *e)
{
    const struct bm_partition *p = &c->decomposition->partition;
    size_t serial = s->first_part[m];

    if (!c->decomposition->tiles)
        return;
    e->loss = s->tiles.facts[m].loss;
    memcpy(e->ranges, s->tiles.facts[m].ranges,
           (size_t)c->variable->components * sizeof(*e->ranges));
    for (int64_t k = p->first[c->number]; k < p->first[c->number + 1]; k++) {
        const uint8_t *from;
        struct bm_range range;
        struct bm_loss loss;

        if (bm_part_rank(c, k) == s->comm->rank)
            continue;
        from = bm_route_at(&s->receives, serial++) + bm_part_bytes(c, k);
        memcpy(&loss, from, sizeof(loss));
        join_loss(&e->loss, &loss);
        from += sizeof(loss);
        for (int j = 0; j < c->variable->components; j++) {
            memcpy(&range, from + (size_t)j * sizeof(range), sizeof(range));
            bm_range_join(&e->ranges[j], c->variable->type, &range);
        }
    }
}

/* ---- the transform ------------------------------------------------------- */

static void transform_block(const struct bouma_variable *v,
                            const struct bm_memory_box *block)
{
    const struct bm_tile_functions *tiles = v->object->layout->tiles;
    struct bm_loss known = {0, 0}; /* from the facts */

    for (int j = 0; j < v->components; j++) {
        uint8_t *samples = bm_array_component(&block->array, j);

        tiles->round(v, samples, (size_t)bm_box_volume(&block->box), &known);
        tiles->forward(v, samples, &block->box);
    }
}

static size_t my_blocks(const struct bm_shaper *s,
                        const struct bm_decomposition *d)
{
    size_t n = d->my_first_block;

    while (n < d->block_count && d->blocks[n].rank == s->comm->rank)
        n++;
    return n - d->my_first_block;
}

static void transform(struct bm_shaper *s)
{
    s->tiles.next = 0;
    each_part(s, receive_part);
    find_all_facts(s);
    for (size_t i = 0; i < s->plan->grid_count; i++)
        for (size_t j = 0; j < s->plan->grids[i].count; j++) {
            const struct bouma_variable *v = s->plan->grids[i].variables[j];
            const struct bm_decomposition *d = s->plan->grids[i].of[j];
            size_t blocks = d->tiles ? my_blocks(s, d) : 0;

            for (size_t k = 0; k < blocks; k++)
                transform_block(v, &s->tiles.boxes[v->id][k]);
        }
}

int bm_tiles_transform(struct bm_shaper *s, int rc)
{
    if (!s->plan->tiled)
        return rc;
    if (s->plan->tiled_bytes) {
        rc = bm_comm_agree(s->comm, rc, &s->ds->error);
        if (!rc)
            rc = exchange(s);
    }
    if (!rc)
        transform(s);
    return rc ? rc : bm_shaper_failed(s);
}

/* ---- memory -------------------------------------------------------------- */

/* This rank's blocks of a variable, dense, one component after the other. */
static int make_boxes(struct bm_shaper *s, const struct bouma_variable *v,
                      const struct bm_decomposition *d)
{
    size_t count = my_blocks(s, d);
    struct bm_memory_box *boxes = bm_new(s->ds->a, count + 1, sizeof(*boxes));

    s->tiles.boxes[v->id] = boxes;
    for (size_t i = 0; i < count && boxes; i++) {
        const struct bm_box *box = &d->blocks[d->my_first_block + i].box;
        struct bm_memory_box *b = &boxes[i];
        uint64_t bytes = bm_box_volume(box) * bm_variable_sample_size(v);

        struct bm_footprint f = bm_footprint_of_box(box);
        uint8_t *data =
            bytes <= SIZE_MAX ? bm_new_raw(s->ds->a, (size_t)bytes, 1) : NULL;

        b->box = *box;
        b->array = bm_array_planar(v, data, f.count);
        if (!data)
            return BOUMA_ENOMEM;
    }
    return boxes ? BOUMA_OK : BOUMA_ENOMEM;
}

static int make_facts(struct bm_shaper *s)
{
    const bouma_allocator *a = s->ds->a;

    s->tiles.fact_count = s->plan->mine_count;
    s->tiles.facts = bm_new(a, s->plan->mine_count, sizeof(*s->tiles.facts));
    for (size_t m = 0; m < s->plan->mine_count && s->tiles.facts; m++) {
        struct bm_chunk c = bm_plan_chunk(s->plan, s->plan->mine[m]);

        if (!c.decomposition->tiles)
            continue;
        s->tiles.facts[m].ranges =
            bm_new(a, (size_t)c.variable->components, sizeof(struct bm_range));
        if (!s->tiles.facts[m].ranges)
            return BOUMA_ENOMEM;
    }
    return s->tiles.facts ? BOUMA_OK : BOUMA_ENOMEM;
}

/* The largest part of a tile, with all components, or of a chunk, with one. */
static size_t most_bytes(const struct bouma_variable *v,
                         const struct bm_decomposition *d)
{
    const int64_t *edge = d->tiles->tiling.edge;
    uint64_t chunk = v->object->layout->most_values(v->object);
    uint64_t tile = (uint64_t)v->components;

    for (int i = 0; i < 3; i++)
        tile *= (uint64_t)edge[i];
    return (size_t)(tile > chunk ? tile : chunk) * bm_variable_value_size(v);
}

int bm_tiles_init(struct bm_shaper *s)
{
    size_t most = 0;
    int rc;

    if (!s->plan->tiled)
        return BOUMA_OK;
    s->tiles.variables = s->ds->schema.variables;
    s->tiles.boxes =
        bm_new(s->ds->a, s->tiles.variables, sizeof(*s->tiles.boxes));
    s->tiles.concern =
        bm_new(s->ds->a, s->tiles.variables, sizeof(*s->tiles.concern));
    rc = s->tiles.boxes && s->tiles.concern ? make_facts(s) : BOUMA_ENOMEM;
    for (size_t i = 0; i < s->plan->grid_count; i++)
        for (size_t j = 0; j < s->plan->grids[i].count && !rc; j++) {
            const struct bouma_variable *v = s->plan->grids[i].variables[j];
            const struct bm_decomposition *d = s->plan->grids[i].of[j];

            if (!d->tiles)
                continue;
            rc = make_boxes(s, v, d);
            if (!rc)
                rc = list_tiles(s, v, d);
            most = most_bytes(v, d) > most ? most_bytes(v, d) : most;
        }
    if (rc)
        return rc;
    each_part(s, list_part);
    s->tiles.part = bm_new_raw(s->ds->a, most, 1);
    return s->tiles.part && !bm_route_seal(&s->tiles.sends) &&
                   !bm_route_seal(&s->tiles.receives)
               ? BOUMA_OK
               : BOUMA_ENOMEM;
}

/* The plan may be gone. */
void bm_tiles_release(struct bm_shaper *s)
{
    const bouma_allocator *a = s->ds->a;

    for (size_t i = 0; i < s->tiles.variables && s->tiles.boxes; i++) {
        struct bm_memory_box *boxes = s->tiles.boxes[i];

        for (struct bm_memory_box *b = boxes; b && b->array.data; b++)
            bm_drop(a, b->array.data);
        bm_drop(a, boxes);
    }
    for (size_t i = 0; i < s->tiles.variables && s->tiles.concern; i++)
        bm_drop(a, s->tiles.concern[i].tile);
    bm_drop(a, s->tiles.concern);
    for (size_t m = 0; m < s->tiles.fact_count && s->tiles.facts; m++)
        bm_drop(a, s->tiles.facts[m].ranges);
    bm_drop(a, s->tiles.facts);
    bm_drop(a, s->tiles.boxes);
    bm_drop(a, s->tiles.part);
    bm_route_release(&s->tiles.sends);
    bm_route_release(&s->tiles.receives);
}
