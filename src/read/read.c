/* read.c -- boxes of samples, for one rank alone or for all together. */
#include "read/read.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "comm/route.h"
#include "layout/patch.h"
#include "plan/distribute.h"

/* ---- one box ------------------------------------------------------------ */

/* Put a chunk's samples where a request wants them. */
static void give(const struct bm_fetched *f, const struct bm_read_request *r)
{
    struct bm_lattice l = bm_lattice_of(&r->box, r->level);

    bm_patch_give(f->geometry, &f->samples, &r->box, l.start, r->data,
                  r->stride, r->component_stride);
}

static int give_to_box(void *context, const struct bm_fetched *f,
                       struct bm_error *error)
{
    (void)error;
    give(f, context);
    return BOUMA_OK;
}

int bm_read_box(struct bouma_step *step, const struct bm_read_request *request)
{
    const struct bouma_grid *grid = request->variable->grid;
    struct bm_fetch fetch = {.step = step,
                             .variable = request->variable,
                             .fine = request->level,
                             .coarse = grid->levels - 1,
                             .each = give_to_box,
                             .context = (void *)request,
                             .clip = &request->box};
    int64_t *patches;
    int rc = bm_select(&patches, &fetch.count, step->ds->a, &grid->tiling,
                       &request->box, request->level);

    if (rc)
        return bm_fail(&step->ds->error, rc, "no memory to read");
    fetch.patches = patches;
    rc = bm_fetch(&fetch);
    bm_drop(step->ds->a, patches);
    return rc;
}

/* ---- all ranks together ------------------------------------------------- */

#define WISH_BYTES 60

/* What some rank wants; 'number' is its place among that rank's requests. */
struct wish {
    uint32_t variable;
    int level;
    int rank;
    uint32_t number;
    bouma_box box;
};

/* The wishes for one variable at one level: who reads which patch. */
struct group {
    const struct wish *wishes;
    size_t count;
    struct bm_block *blocks; /* one for each wish */
    struct bm_partition partition;
    int *owner;
    int64_t *mine;      /* patches that this rank reads, ascending */
    size_t *first_send; /* of each, the serial of its first part to send */
    size_t mine_count;
};

struct collective {
    struct bouma_step *step;
    const struct bm_read_request *requests;
    struct wish *wishes;
    size_t wish_count;
    struct group *groups;
    size_t group_count;
    struct bm_route sends, receives;
    struct group *current;
    int shared; /* some patch is wanted by several ranks */
};

static int by_group(const void *left, const void *right)
{
    const struct wish *a = left, *b = right;

    if (a->variable != b->variable)
        return a->variable < b->variable ? -1 : 1;
    if (a->level != b->level)
        return a->level < b->level ? -1 : 1;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

/* Gather the wishes of all ranks. Collective. */
static int gather_wishes(struct collective *c, size_t count, int rc)
{
    struct bouma_dataset *ds = c->step->ds;
    size_t *sizes = bm_new(ds->a, (size_t)ds->comm->size, sizeof(*sizes));
    struct bm_buffer mine, all;
    struct bm_cursor in;
    size_t n = 0;

    bm_buffer_init(&mine, ds->a);
    bm_buffer_init(&all, ds->a);
    for (size_t i = 0; i < count && !rc; i++) {
        bm_put_u32(&mine, c->requests[i].variable->id);
        bm_put_u32(&mine, (uint32_t)c->requests[i].level);
        bm_put_u32(&mine, (uint32_t)i);
        for (int d = 0; d < 3; d++) {
            bm_put_i64(&mine, c->requests[i].box.lo[d]);
            bm_put_i64(&mine, c->requests[i].box.hi[d]);
        }
    }
    if (!sizes && !rc)
        rc = bm_fail(&ds->error, BOUMA_ENOMEM, "no memory to read");
    rc = bm_comm_collect(ds->comm, &mine, &all, sizes, 1, rc, &ds->error);
    if (!rc) {
        c->wish_count = all.size / WISH_BYTES;
        c->wishes = bm_new_raw(ds->a, c->wish_count, sizeof(*c->wishes));
        if (!c->wishes)
            rc = bm_fail(&ds->error, BOUMA_ENOMEM, "no memory to read");
    }
    in = bm_cursor_of(all.data, all.size);
    for (int r = 0; r < ds->comm->size && !rc; r++)
        for (size_t i = 0; i < sizes[r] / WISH_BYTES; i++) {
            struct wish *w = &c->wishes[n++];

            w->rank = r;
            w->variable = bm_get_u32(&in);
            w->level = (int)bm_get_u32(&in);
            w->number = bm_get_u32(&in);
            for (int d = 0; d < 3; d++) {
                w->box.lo[d] = bm_get_i64(&in);
                w->box.hi[d] = bm_get_i64(&in);
            }
        }
    if (!rc && c->wish_count)
        qsort(c->wishes, c->wish_count, sizeof(*c->wishes), by_group);
    bm_buffer_release(&mine);
    bm_buffer_release(&all);
    bm_drop(ds->a, sizes);
    return rc;
}

/* A part of a patch at the level of its group, as it goes into a message. */
static struct bm_read_request dense_part(const struct bouma_variable *v,
                                         int level, const bouma_box *box,
                                         uint8_t *data)
{
    struct bm_lattice l = bm_lattice_of(box, level);
    struct bm_read_request r = {v, level, *box, data, {0, 0, 0}, 0};

    r.stride[2] = (int64_t)bm_variable_value_size(v);
    r.stride[1] = r.stride[2] * l.count[2];
    r.stride[0] = r.stride[1] * l.count[1];
    r.component_stride = r.stride[0] * l.count[0];
    return r;
}

static size_t part_bytes(const struct bouma_variable *v, int level,
                         const bouma_box *box)
{
    struct bm_lattice l = bm_lattice_of(box, level);

    return (size_t)bm_lattice_samples(&l) * bm_variable_value_size(v) *
           (size_t)v->components;
}

/* Patches may have no samples at a coarse level: nobody reads those. */
static int has_samples(const struct bm_tiling *t, int64_t patch, int level)
{
    bouma_box box = bm_tiling_patch_box(t, patch);
    struct bm_lattice l = bm_lattice_of(&box, level);

    return l.count[0] > 0 && l.count[1] > 0 && l.count[2] > 0;
}

/* List the parts that go between ranks for one group. Both ends walk the
 * patches and parts in the same order. */
static int plan_group(struct collective *c, struct group *g)
{
    struct bouma_dataset *ds = c->step->ds;
    const struct bouma_variable *v =
        c->step->schema.by_id[g->wishes[0].variable];
    const struct bm_tiling *t = &v->grid->tiling;
    int level = g->wishes[0].level, me = ds->comm->rank, rc;

    g->blocks = bm_new_raw(ds->a, g->count, sizeof(*g->blocks));
    g->owner = bm_new_raw(ds->a, (size_t)t->patches, sizeof(*g->owner));
    g->mine = bm_new_raw(ds->a, (size_t)t->patches, sizeof(*g->mine));
    g->first_send =
        bm_new_raw(ds->a, (size_t)t->patches, sizeof(*g->first_send));
    if (!g->blocks || !g->owner || !g->mine || !g->first_send)
        return BOUMA_ENOMEM;
    for (size_t i = 0; i < g->count; i++)
        g->blocks[i] = (struct bm_block){g->wishes[i].rank, g->wishes[i].box};
    rc = bm_partition_init(&g->partition, ds->a, t, g->blocks, g->count);
    if (!rc)
        rc = bm_distribute_readers(g->owner, &g->partition, ds->comm->size);
    for (int64_t p = 0; p < t->patches && !rc; p++) {
        if (g->owner[p] < 0 || !has_samples(t, p, level))
            continue;
        if (g->owner[p] == me) {
            g->first_send[g->mine_count] = c->sends.count;
            g->mine[g->mine_count++] = p;
        }
        for (int64_t k = g->partition.first[p]; k < g->partition.first[p + 1];
             k++) {
            int wanting = g->blocks[g->partition.part[k]].rank;
            bouma_box box = bm_partition_box(&g->partition, p, k);

            if (wanting == g->owner[p])
                continue;
            c->shared = 1;
            if (wanting == me)
                bm_route_add(&c->receives, 0, g->owner[p],
                             part_bytes(v, level, &box));
            else if (g->owner[p] == me)
                bm_route_add(&c->sends, 0, wanting, part_bytes(v, level, &box));
        }
    }
    return rc;
}

static int plan_groups(struct collective *c)
{
    struct bouma_dataset *ds = c->step->ds;
    int rc = BOUMA_OK;

    c->groups = bm_new(ds->a, c->wish_count, sizeof(*c->groups));
    if (!c->groups)
        rc = BOUMA_ENOMEM;
    for (size_t i = 0, end; i < c->wish_count && !rc; i = end) {
        struct group *g = &c->groups[c->group_count++];

        for (end = i + 1; end < c->wish_count &&
                          c->wishes[end].variable == c->wishes[i].variable &&
                          c->wishes[end].level == c->wishes[i].level;)
            end++;
        g->wishes = c->wishes + i;
        g->count = end - i;
        rc = plan_group(c, g);
    }
    if (!rc)
        rc = bm_route_seal(&c->sends) || bm_route_seal(&c->receives)
                 ? BOUMA_ENOMEM
                 : BOUMA_OK;
    if (rc)
        bm_fail(&ds->error, rc, "no memory to plan the read");
    return rc;
}

/* Chunks come in the order of files, messages are laid out in that of
 * patches. */
static size_t first_serial(const struct group *g, int64_t patch)
{
    size_t at = 0;

    BM_BISECT(at, g->mine_count, i, g->mine[i] <= patch);
    return g->first_send[at];
}

/* A chunk that this rank read: to its own requests, and into messages. */
static int give_to_group(void *context, const struct bm_fetched *f,
                         struct bm_error *error)
{
    struct collective *c = context;
    struct group *g = c->current;
    const struct bouma_variable *v =
        c->step->schema.by_id[g->wishes[0].variable];
    int level = g->wishes[0].level, me = c->step->ds->comm->rank;
    size_t serial = first_serial(g, f->patch);

    (void)error;
    for (int64_t k = g->partition.first[f->patch];
         k < g->partition.first[f->patch + 1]; k++) {
        const struct wish *w = &g->wishes[g->partition.part[k]];
        bouma_box box = bm_partition_box(&g->partition, f->patch, k);

        if (w->rank == me) {
            give(f, &c->requests[w->number]);
        } else {
            struct bm_read_request part =
                dense_part(v, level, &box, bm_route_at(&c->sends, serial++));

            give(f, &part);
        }
    }
    return BOUMA_OK;
}

static int fetch_groups(struct collective *c)
{
    uint64_t done = 0, total = 0;
    int rc = BOUMA_OK;

    for (size_t i = 0; i < c->group_count; i++)
        total += c->groups[i].mine_count;

    for (size_t i = 0; i < c->group_count && !rc; i++) {
        struct group *g = &c->groups[i];
        const struct bouma_variable *v =
            c->step->schema.by_id[g->wishes[0].variable];

        c->current = g;
        if (g->mine_count) {
            struct bm_fetch fetch = {.step = c->step,
                                     .variable = v,
                                     .fine = g->wishes[0].level,
                                     .coarse = v->grid->levels - 1,
                                     .patches = g->mine,
                                     .count = g->mine_count,
                                     .each = give_to_group,
                                     .context = c,
                                     .before = done,
                                     .total = total};

            rc = bm_fetch(&fetch);
            done += g->mine_count;
        }
    }
    return rc;
}

/* From a message to the request it is for. */
static void take_part(const struct bm_read_request *to,
                      const struct bm_read_request *from)
{
    struct bm_lattice part = bm_lattice_of(&from->box, from->level);
    struct bm_lattice all = bm_lattice_of(&to->box, to->level);
    struct bm_strided s = bm_lattice_whole(&part, 1);
    uint8_t *data = to->data;

    if (!bm_lattice_samples(&part))
        return;
    for (int d = 0; d < 3; d++) {
        s.stride[d] = to->stride[d];
        data += (part.start[d] - all.start[d]) * to->stride[d];
    }
    for (int j = 0; j < to->variable->components; j++)
        bm_lattice_unpack(&part, bm_variable_value_size(to->variable), &s,
                          data + j * to->component_stride,
                          from->data + j * from->component_stride);
}

static void unpack(struct collective *c)
{
    int me = c->step->ds->comm->rank;
    size_t serial = 0;

    for (size_t i = 0; i < c->group_count; i++) {
        struct group *g = &c->groups[i];
        const struct bouma_variable *v =
            c->step->schema.by_id[g->wishes[0].variable];
        int level = g->wishes[0].level;

        for (int64_t p = 0; p < v->grid->tiling.patches; p++) {
            if (g->owner[p] < 0 || g->owner[p] == me ||
                !has_samples(&v->grid->tiling, p, level))
                continue;
            for (int64_t k = g->partition.first[p];
                 k < g->partition.first[p + 1]; k++) {
                const struct wish *w = &g->wishes[g->partition.part[k]];
                bouma_box box = bm_partition_box(&g->partition, p, k);
                struct bm_read_request from;

                if (w->rank != me)
                    continue;
                from = dense_part(v, level, &box,
                                  bm_route_at(&c->receives, serial++));
                take_part(&c->requests[w->number], &from);
            }
        }
    }
}

static void release(struct collective *c)
{
    const bouma_allocator *a = c->step->ds->a;

    for (size_t i = 0; i < c->group_count; i++) {
        bm_partition_release(&c->groups[i].partition);
        bm_drop(a, c->groups[i].blocks);
        bm_drop(a, c->groups[i].owner);
        bm_drop(a, c->groups[i].mine);
        bm_drop(a, c->groups[i].first_send);
    }
    bm_drop(a, c->groups);
    bm_drop(a, c->wishes);
    bm_route_release(&c->sends);
    bm_route_release(&c->receives);
}

int bm_read_all(struct bouma_step *step, const struct bm_read_request *requests,
                size_t count, int rc)
{
    struct bouma_dataset *ds = step->ds;
    size_t send_count, receive_count;
    const struct bm_message *sends, *receives;
    struct collective c;

    memset(&c, 0, sizeof(c));
    c.step = step;
    c.requests = requests;
    bm_route_init(&c.sends, ds->a);
    bm_route_init(&c.receives, ds->a);
    rc = bm_comm_begin(ds->comm, "reading a step", step->manifest.step, NULL, 0,
                       rc, &ds->error);
    if (rc == BOUMA_EMISMATCH && !ds->error.status)
        bm_fail(&ds->error, rc, "the ranks read different steps");
    if (!rc) {
        rc = gather_wishes(&c, count, rc);
        if (!rc)
            rc = plan_groups(&c);
        rc = bm_comm_agree(ds->comm, rc, &ds->error);
    }
    if (!rc) {
        rc = fetch_groups(&c);
        if (c.shared) {
            int exchanged;

            sends = bm_route_messages(&c.sends, 0, &send_count);
            receives = bm_route_messages(&c.receives, 0, &receive_count);
            exchanged = bm_comm_exchange(ds->comm, sends, send_count, receives,
                                         receive_count, &ds->error);
            if (!exchanged && !rc)
                unpack(&c);
            rc = rc ? rc : exchanged;
        }
        rc = bm_comm_agree(ds->comm, rc, &ds->error);
    }
    release(&c);
    return rc;
}
