/* particle_ship.c -- see particle_ship.h.
 *
 * What goes to a file is cut into rounds (engine/pipe.h), each with a share of
 * the particles of every rank that has some for the file, so that all of them
 * pack at the same time, straight into the writer's buffers; the writer's
 * thread takes the values from there to the columns of the file. */
#include "write/particle_ship.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "engine/flow_builder.h"

/* ---- what a rank sends to a file ---------------------------------------- */

/* The lane of a block of particles that a variable's component is. */
static const struct bm_particle_lane *
lane_of(const struct bm_particle_block *block, const struct bouma_variable *v,
        int component)
{
    return &block->lanes[bm_variable_lane(v) + (size_t)component];
}

static int is_dense(const struct bm_particle_lane *lane, size_t size)
{
    return lane->stride == (int64_t)size && !((uintptr_t)lane->data % size);
}

/* The file of a set's unit of this rank. */
static uint32_t file_of(const struct bm_set_plan *set, size_t unit)
{
    return set->files.file[set->my_first + unit];
}

/* If all that this rank has for a file is one whole block of particles, that;
 * else NULL. */
static const struct bm_particle_block *
only_particle_block(const struct bm_particle_write *p,
                    const struct bm_set_plan *set, uint32_t file)
{
    const struct bm_particle_block *only = NULL;

    for (size_t k = set->first_block; k < set->end_block; k++) {
        const struct bm_particle_block *s = &p->ds->given.blocks[k];
        const struct bm_particle_block_units *u = &p->plan.blocks[k];
        int here, all = 1;

        if (u->sample.count) {
            here = bm_particle_router_find(&u->router, file) >= 0;
            all = u->router.count == 1;
        } else {
            here = file_of(set, u->first) == file;
        }
        if (here && (only || !all))
            return NULL;
        if (here)
            only = s;
    }
    return only;
}

/* Copy 'n' values that are 'stride' apart. */
static void copy_values(uint8_t *to, const struct bm_particle_lane *lane,
                        size_t size, uint64_t n)
{
    const uint8_t *from = lane->data;

    if (lane->stride == (int64_t)size) {
        memcpy(to, from, (size_t)n * size);
        return;
    }
    switch (size) {
    case 8:
        for (uint64_t i = 0; i < n; i++, from += lane->stride)
            memcpy(to + i * 8, from, 8);
        break;
    case 4:
        for (uint64_t i = 0; i < n; i++, from += lane->stride)
            memcpy(to + i * 4, from, 4);
        break;
    default:
        for (uint64_t i = 0; i < n; i++, from += lane->stride)
            memcpy(to + i * size, from, size);
    }
}

/* Copy those of some particles; gives the end. */
static uint8_t *copy_some(uint8_t *to, const struct bm_particle_lane *lane,
                          size_t size, const uint32_t *index, uint64_t n)
{
    switch (size) {
    case 8:
        for (uint64_t i = 0; i < n; i++)
            memcpy(to + i * 8, lane->data + (int64_t)index[i] * lane->stride,
                   8);
        break;
    case 4:
        for (uint64_t i = 0; i < n; i++)
            memcpy(to + i * 4, lane->data + (int64_t)index[i] * lane->stride,
                   4);
        break;
    default:
        for (uint64_t i = 0; i < n; i++)
            memcpy(to + i * size, lane->data + (int64_t)index[i] * lane->stride,
                   size);
    }
    return to + n * size;
}

/* The values of one lane of a parcel of this rank: in the order of blocks of
 * particles, in each as they were given. Gives the end. */
static uint8_t *pack(const struct bm_particle_write *p,
                     const struct bm_parcel *parcel,
                     const struct bouma_variable *v, int component, uint8_t *to)
{
    const struct bm_set_plan *set = parcel->set;
    uint64_t from = parcel->from, end = parcel->end, before = 0;
    uint32_t file = parcel->delivery->file;
    size_t size = bm_variable_value_size(v);

    for (size_t k = set->first_block; k < set->end_block && before < end; k++) {
        const struct bm_particle_block *s = &p->ds->given.blocks[k];
        const struct bm_particle_block_units *u = &p->plan.blocks[k];
        const uint32_t *index = NULL;
        struct bm_particle_lane lane;
        uint64_t n = 0, low, high;

        if (u->sample.count) {
            int64_t slot = bm_particle_router_find(&u->router, file);

            if (slot >= 0) {
                index = u->router.index + u->router.first[slot];
                n = u->router.first[slot + 1] - u->router.first[slot];
            }
        } else if (file_of(set, u->first) == file) {
            n = s->count;
        }
        low = from > before ? from - before : 0;
        high = end - before < n ? end - before : n;
        before += n;
        if (low >= high)
            continue;
        lane = *lane_of(s, v, component);
        if (index) {
            to = copy_some(to, &lane, size, index + low, high - low);
            continue;
        }
        lane.data += (int64_t)low * lane.stride;
        copy_values(to, &lane, size, high - low);
        to += (high - low) * size;
    }
    return to;
}

/* ---- what comes --------------------------------------------------------- */

/* Whether all that comes to a file of this rank is this rank's own. */
static int is_own(const struct bm_particle_write *p,
                  const struct bm_particle_file *b)
{
    const struct bm_set_plan *set = b->set;
    size_t first = set->first_delivery[b->file];

    return set->first_delivery[b->file + 1] == first + 1 &&
           set->deliveries[first].rank == p->ds->comm->rank;
}

/* An array for each lane of a file of this rank; or the arrays of this rank
 * itself, if nothing else comes. */
static int make_columns(struct bm_particle_write *p, struct bm_particle_file *b)
{
    const struct bm_set_plan *set = b->set;
    const struct bm_particle_block *whole =
        is_own(p, b) ? only_particle_block(p, set, b->file) : NULL;
    size_t lane_at = 0;

    for (int j = 0; j < set->count; j++) {
        const struct bouma_variable *v = set->variables[j];
        size_t size = bm_variable_value_size(v);

        for (int c = 0; c < v->components; c++, lane_at++) {
            struct bm_column_data *column = &b->columns[lane_at];
            const struct bm_particle_lane *lane =
                whole ? lane_of(whole, v, c) : NULL;

            if (lane && is_dense(lane, size) &&
                !bm_codec_find((int)v->codec)->round) {
                column->values = lane->data;
                continue;
            }
            column->own = bm_new_raw(p->ds->a, b->count, size);
            column->values = column->own;
            if (!column->own)
                return BOUMA_ENOMEM;
        }
    }
    return BOUMA_OK;
}

/* What this rank has for its own file. */
static void pack_own(struct bm_particle_write *p, struct bm_particle_file *b,
                     const struct bm_delivery *d)
{
    struct bm_parcel all = {.set = b->set, .delivery = d, .end = d->count};
    size_t lane_at = 0;

    for (int j = 0; j < b->set->count; j++) {
        const struct bouma_variable *v = b->set->variables[j];
        size_t size = bm_variable_value_size(v);

        for (int c = 0; c < v->components; c++, lane_at++) {
            uint8_t *to = b->columns[lane_at].own;

            if (to)
                pack(p, &all, v, c, to + d->first * size);
        }
    }
}

/* ---- the pipe ----------------------------------------------------------- */

/* Make what goes into a buffer: some particles, lane after lane. */
static void fill_parcel(void *context, size_t tag, uint8_t *room)
{
    struct bm_particle_write *p = context;
    const struct bm_parcel *c = &p->sent[tag];

    for (int j = 0; j < c->set->count; j++) {
        const struct bouma_variable *v = c->set->variables[j];

        for (int k = 0; k < v->components; k++)
            room = pack(p, c, v, k, room);
    }
}

/* The thread's: from a buffer to the columns of the file. */
static const uint8_t *unpack_parcel(const struct bm_parcel *c,
                                    const uint8_t *data)
{
    size_t lane_at = 0;

    for (int j = 0; j < c->set->count; j++) {
        const struct bouma_variable *v = c->set->variables[j];
        size_t size = bm_variable_value_size(v);
        size_t bytes = (size_t)(c->end - c->from) * size;

        for (int k = 0; k < v->components; k++, lane_at++) {
            uint8_t *to = c->particle_file->columns[lane_at].own;

            memcpy(to + (c->delivery->first + c->from) * size, data, bytes);
            data += bytes;
        }
    }
    return data;
}

static int unpack_round(void *context, uint64_t at, uint8_t *data,
                        uint64_t bytes, struct bm_error *error)
{
    struct bm_particle_write *p = context;
    const uint8_t *next = data;
    size_t i = 0;

    (void)error;
    BM_BISECT(i, p->come_count, k, p->come[k].at <= at);
    while (next < data + bytes)
        next = unpack_parcel(&p->come[i++], next);
    return BOUMA_OK;
}

/* Behind those that are there. ENOMEM. */
static int add_parcel(const bouma_allocator *a, struct bm_parcel **list,
                      size_t *count, const struct bm_parcel *parcel)
{
    struct bm_parcel *grown = bm_grow(a, *list, *count, sizeof(*grown));

    if (!grown)
        return BOUMA_ENOMEM;
    *list = grown;
    grown[(*count)++] = *parcel;
    return BOUMA_OK;
}

/* The part of a delivery that goes in one round of several. */
static int route_parcel(struct bm_particle_write *p,
                        struct bm_flow_builder *flows, struct bm_parcel *c)
{
    const bouma_allocator *a = p->ds->a;
    int writer = c->set->placed.writer[c->delivery->file],
        me = p->ds->comm->rank;

    c->at =
        bm_flow_builder_add(flows, writer, c->delivery->rank,
                            (c->end - c->from) * c->set->bytes, p->sent_count);
    if (c->end == c->from)
        return BOUMA_OK;
    if (writer == me)
        return add_parcel(a, &p->come, &p->come_count, c);
    if (c->delivery->rank == me)
        return add_parcel(a, &p->sent, &p->sent_count, c);
    return BOUMA_OK;
}

/* What goes between ranks for a file; 'particle_file', if it is this rank's. */
static int route_file(struct bm_particle_write *p,
                      struct bm_flow_builder *flows,
                      const struct bm_set_plan *set, uint32_t file,
                      struct bm_particle_file *particle_file)
{
    const struct bm_delivery *first =
        &set->deliveries[set->first_delivery[file]];
    const struct bm_delivery *end =
        &set->deliveries[set->first_delivery[file + 1]];
    uint64_t buffer = p->ds->engine.env.buffer_bytes, rounds;
    uint64_t bytes = bm_delivery_bytes(set, file);
    uint64_t slack =
        (uint64_t)(end - first) * set->bytes; /* shares are whole */
    int rc = BOUMA_OK;

    if (buffer <= 2 * slack)
        slack = 0;
    rounds = (bytes + buffer - slack - 1) / (buffer - slack);
    for (uint64_t r = 0; r < rounds && !rc; r++) {
        bm_flow_builder_fit(flows, set->placed.writer[file],
                            bytes / rounds + slack, buffer);
        for (const struct bm_delivery *d = first; d < end && !rc; d++) {
            struct bm_parcel c = {set,
                                  d,
                                  particle_file,
                                  bm_cut(d->count, rounds, r),
                                  bm_cut(d->count, rounds, r + 1),
                                  0};

            if (d->rank != set->placed.writer[file])
                rc = route_parcel(p, flows, &c);
        }
    }
    return rc;
}

/* The tier of this rank's buffers: that of its first file. */
static bouma_tier own_tier(const struct bm_particle_write *p)
{
    const struct bm_particle_file *b = p->particle_files;

    return p->particle_file_count ? b->set->placed.tier[b->file]
                                  : p->ds->options.tier;
}

static int make_pipe(struct bm_particle_write *p, struct bm_flow_builder *flows)
{
    struct bm_pipe_options options = bm_dataset_pipe(p->ds);
    struct bm_pipe_calls calls = {
        .context = p, .fill = fill_parcel, .store = unpack_round};

    options.tier = own_tier(p);
    return bm_flow_builder_pipe(flows, 0, &p->pipe, p->ds->comm, &options,
                                &calls);
}

/* ---- all of it ---------------------------------------------------------- */

static int make_particle_files(struct bm_particle_write *p)
{
    struct bouma_dataset *ds = p->ds;
    size_t count = 0, begin, end;
    int rc = BOUMA_OK;

    for (size_t i = 0; i < p->plan.set_count; i++) {
        bm_writers_find(&p->plan.sets[i].writers, ds->comm->rank, &begin, &end);
        count += end - begin;
    }
    p->particle_files = bm_new(ds->a, count, sizeof(*p->particle_files));
    if (!p->particle_files)
        return BOUMA_ENOMEM;
    for (size_t i = 0; i < p->plan.set_count; i++) {
        const struct bm_set_plan *set = &p->plan.sets[i];

        bm_writers_find(&set->writers, ds->comm->rank, &begin, &end);
        for (size_t k = begin; k < end && !rc; k++)
            rc = bm_particle_file_init(
                &p->particle_files[p->particle_file_count++], ds, set,
                bm_writers_file(&set->writers, k));
    }
    return rc;
}

static int ascending(const void *left, const void *right)
{
    const int *a = left, *b = right;

    return *a < *b ? -1 : *a > *b;
}

/* The writers to which this rank sends, and itself, ascending: *out, which the
 * caller frees. The streams of others are of no concern to it. ENOMEM. */
static int find_writers(const struct bm_particle_write *p, int **out,
                        size_t *count)
{
    int me = p->ds->comm->rank, *writers;
    size_t room = 1, n = 0, begin, end;

    for (size_t i = 0; i < p->plan.set_count; i++) {
        bm_deliveries_of_rank(&p->plan.sets[i], me, &begin, &end);
        room += end - begin;
    }
    *out = writers = bm_new_raw(p->ds->a, room, sizeof(*writers));
    if (!writers)
        return BOUMA_ENOMEM;
    writers[n++] = me;
    for (size_t i = 0; i < p->plan.set_count; i++) {
        const struct bm_set_plan *set = &p->plan.sets[i];

        bm_deliveries_of_rank(set, me, &begin, &end);
        for (size_t k = begin; k < end; k++)
            writers[n++] =
                set->placed.writer[set->deliveries[set->by_rank[k]].file];
    }
    qsort(writers, n, sizeof(*writers), ascending);
    *count = 1;
    for (size_t i = 1; i < n; i++)
        if (writers[i] != writers[*count - 1])
            writers[(*count)++] = writers[i];
    return BOUMA_OK;
}

/* The stream of a writer: columns for its files, if they are this rank's, and
 * what goes through the pipe. All ranks that it concerns go through its files
 * in the same order. */
static int route_stream(struct bm_particle_write *p,
                        struct bm_flow_builder *flows, int writer)
{
    struct bm_particle_file *b =
        writer == p->ds->comm->rank ? p->particle_files : NULL;
    size_t begin, end;
    int rc = BOUMA_OK;

    for (size_t i = 0; i < p->plan.set_count; i++) {
        const struct bm_set_plan *set = &p->plan.sets[i];

        bm_writers_find(&set->writers, writer, &begin, &end);
        for (size_t k = begin; k < end && !rc; k++, b += b != NULL) {
            if (b && !is_own(p, b))
                rc = make_columns(p, b);
            if (!rc)
                rc = route_file(p, flows, set,
                                bm_writers_file(&set->writers, k), b);
        }
    }
    return rc;
}

static int route_all(struct bm_particle_write *p)
{
    struct bm_flow_builder flows;
    int *writers = NULL;
    size_t count = 0;
    int rc = bm_flow_builder_init(&flows, p->ds->comm);

    for (size_t i = 0; i < p->plan.set_count; i++) {
        const struct bm_set_plan *set = &p->plan.sets[i];

        p->raw_bytes += set->particles * set->bytes;
        p->shipped_bytes += set->shipped_bytes;
    }
    if (!rc)
        rc = find_writers(p, &writers, &count);
    for (size_t i = 0; i < count && !rc; i++)
        rc = route_stream(p, &flows, writers[i]);
    if (!rc && p->shipped_bytes)
        rc = make_pipe(p, &flows);
    bm_flow_builder_release(&flows);
    bm_drop(p->ds->a, writers);
    return rc;
}

int bm_particles_prepare(struct bm_particle_write *p, struct bouma_dataset *ds,
                         int rc)
{
    memset(p, 0, sizeof(*p));
    p->ds = ds;
    bm_codec_state_init(&p->codec, ds->a);
    rc = bm_particle_plan_make(&p->plan, ds, rc);
    if (rc)
        return rc;
    rc = make_particle_files(p);
    if (!rc)
        rc = route_all(p);
    if (rc)
        bm_fail(&ds->error, rc, "no memory to send particles");
    return bm_comm_agree(ds->comm, rc, &ds->error);
}

int bm_particles_exchange(struct bm_particle_write *p)
{
    struct bouma_dataset *ds = p->ds;
    int rc = BOUMA_OK;

    if (p->shipped_bytes)
        rc = bm_pipe_open(p->pipe, ds->comm, &ds->engine.pool, rc, &ds->error);
    for (size_t i = 0; i < p->particle_file_count && !rc; i++) {
        struct bm_particle_file *b = &p->particle_files[i];
        const struct bm_delivery *own =
            bm_delivery_of(b->set, b->file, ds->comm->rank);

        if (own && !is_own(p, b))
            pack_own(p, b, own);
    }
    if (p->shipped_bytes && !rc)
        rc = bm_pipe_run(p->pipe, 1, rc, &ds->error);
    if (p->pipe)
        p->rounds = bm_pipe_stats_of(p->pipe).rounds;
    bm_pipe_free(p->pipe);
    p->pipe = NULL;
    return rc;
}

int bm_particles_take(struct bm_particle_write *p, size_t i)
{
    struct bm_particle_file *b = &p->particle_files[i];
    int rc;

    if (!is_own(p, b))
        return BOUMA_OK;
    rc = make_columns(p, b);
    if (rc)
        return bm_fail(&p->ds->error, rc, "no memory to sort particles \"%s\"",
                       b->set->set->name);
    pack_own(p, b, &b->set->deliveries[b->set->first_delivery[b->file]]);
    return BOUMA_OK;
}

void bm_particles_release(struct bm_particle_write *p)
{
    const bouma_allocator *a;

    if (!p->ds)
        return;
    a = p->ds->a;
    for (size_t i = 0; i < p->particle_file_count; i++)
        bm_particle_file_release(&p->particle_files[i]);
    bm_drop(a, p->particle_files);
    bm_codec_state_release(&p->codec);
    bm_pipe_free(p->pipe);
    bm_drop(a, p->sent);
    bm_drop(a, p->come);
    bm_particle_plan_release(&p->plan);
    memset(p, 0, sizeof(*p));
}
