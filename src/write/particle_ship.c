/* particle_ship.c -- see particle_ship.h.
 *
 * Each component of each variable is a message of its own, from the caller's
 * array straight into that of the writer; what does not lie dense in memory, or
 * goes to several files, is packed before. */
#include "write/particle_ship.h"

#include <string.h>

/* ---- what a rank sends to a file ---------------------------------------- */

/* The lane of a swarm that a variable's component is. */
static const struct bm_lane *lane_of(const struct bm_swarm *swarm,
                                     const struct bouma_variable *v,
                                     int component)
{
    return &swarm->lanes[bm_variable_lane(v) + (size_t)component];
}

static int is_dense(const struct bm_lane *lane, size_t size)
{
    return lane->stride == (int64_t)size && !((uintptr_t)lane->data % size);
}

/* The file of a set's unit of this rank. */
static uint32_t file_of(const struct bm_set_plan *set, size_t unit)
{
    return set->files.file[set->my_first + unit];
}

/* If all that this rank has for a file is one whole swarm, that; else NULL. */
static const struct bm_swarm *only_swarm(const struct bm_particle_write *p,
                                         const struct bm_set_plan *set,
                                         uint32_t file)
{
    const struct bm_swarm *only = NULL;

    for (size_t k = 0; k < p->plan.swarm_count; k++) {
        const struct bm_swarm *s = &p->ds->swarms[k];
        const struct bm_swarm_units *u = &p->plan.swarms[k];
        int here, all = 1;

        if (s->set != set->set || !s->count)
            continue;
        if (u->sample.count) {
            here = bm_sieve_find(&u->sieve, file) >= 0;
            all = u->sieve.count == 1;
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
static void copy_values(uint8_t *to, const struct bm_lane *lane, size_t size,
                        uint64_t n)
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
static uint8_t *copy_some(uint8_t *to, const struct bm_lane *lane, size_t size,
                          const uint32_t *index, uint64_t n)
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

/* The values of one lane of all particles that this rank has for a file, in the
 * order of swarms, in each as they were given. Gives the end. */
static uint8_t *pack(const struct bm_particle_write *p,
                     const struct bm_set_plan *set, uint32_t file,
                     const struct bouma_variable *v, int component, uint8_t *to)
{
    size_t size = bm_variable_value_size(v);

    for (size_t k = 0; k < p->plan.swarm_count; k++) {
        const struct bm_swarm *s = &p->ds->swarms[k];
        const struct bm_swarm_units *u = &p->plan.swarms[k];
        const struct bm_lane *lane;
        int64_t slot;

        if (s->set != set->set || !s->count)
            continue;
        lane = lane_of(s, v, component);
        if (!u->sample.count) {
            if (file_of(set, u->first) == file) {
                copy_values(to, lane, size, s->count);
                to += s->count * size;
            }
            continue;
        }
        slot = bm_sieve_find(&u->sieve, file);
        if (slot >= 0)
            to =
                copy_some(to, lane, size, u->sieve.index + u->sieve.first[slot],
                          u->sieve.first[slot + 1] - u->sieve.first[slot]);
    }
    return to;
}

/* ---- messages ----------------------------------------------------------- */

/* Room for 'bytes' that are freed with the rest. */
static uint8_t *new_packed(struct bm_particle_write *p, size_t bytes)
{
    uint8_t **grown = bm_resize(p->ds->a, p->packed, p->packed_count + 1,
                                sizeof(*grown)),
            *fresh;

    if (!grown)
        return NULL;
    p->packed = grown;
    fresh = bm_new_raw(p->ds->a, bytes, 1);
    if (fresh)
        grown[p->packed_count++] = fresh;
    return fresh;
}

static int add_message(const bouma_allocator *a, struct bm_message **list,
                       size_t *count, struct bm_message m)
{
    /* Grown in steps that double. */
    if (!(*count & (*count + 1)) || !*list) {
        struct bm_message *grown =
            bm_resize(a, *list, *count * 2 + 2, sizeof(*grown));

        if (!grown)
            return BOUMA_ENOMEM;
        *list = grown;
    }
    (*list)[(*count)++] = m;
    return BOUMA_OK;
}

/* What this rank has for the file of another. */
static int send_to(struct bm_particle_write *p, const struct bm_set_plan *set,
                   const struct bm_delivery *d)
{
    const struct bm_swarm *whole = only_swarm(p, set, d->file);

    for (int j = 0; j < set->count; j++) {
        const struct bouma_variable *v = set->variables[j];
        size_t size = bm_variable_value_size(v);

        for (int c = 0; c < v->components; c++) {
            const struct bm_lane *lane = whole ? lane_of(whole, v, c) : NULL;
            struct bm_message m = {set->writer[d->file], NULL,
                                   (size_t)d->count * size};

            if (lane && is_dense(lane, size)) {
                m.data = (void *)lane->data;
            } else {
                m.data = new_packed(p, m.bytes);
                if (!m.data)
                    return BOUMA_ENOMEM;
                pack(p, set, d->file, v, c, m.data);
            }
            if (add_message(p->ds->a, &p->sends, &p->send_count, m))
                return BOUMA_ENOMEM;
        }
    }
    return BOUMA_OK;
}

/* What comes for a file of this rank, each lane into one array; or the arrays
 * of this rank itself, if nothing comes. */
static int receive_into(struct bm_particle_write *p, struct bm_bundle *b)
{
    const struct bm_set_plan *set = b->set;
    const struct bm_delivery *first =
        &set->deliveries[set->first_delivery[b->file]];
    const struct bm_delivery *end =
        &set->deliveries[set->first_delivery[b->file + 1]];
    const struct bm_swarm *whole =
        end == first + 1 && first->rank == p->ds->comm->rank
            ? only_swarm(p, set, b->file)
            : NULL;
    size_t lane_at = 0;

    for (int j = 0; j < set->count; j++) {
        const struct bouma_variable *v = set->variables[j];
        size_t size = bm_variable_value_size(v);

        for (int c = 0; c < v->components; c++, lane_at++) {
            struct bm_column_data *column = &b->columns[lane_at];
            const struct bm_lane *lane = whole ? lane_of(whole, v, c) : NULL;

            if (lane && is_dense(lane, size) &&
                v->codec != BOUMA_CODEC_QUANTISE) {
                column->values = lane->data;
                continue;
            }
            column->own = bm_new_raw(p->ds->a, b->count, size);
            column->values = column->own;
            if (!column->own)
                return BOUMA_ENOMEM;
        }
    }
    for (const struct bm_delivery *d = first; d < end; d++) {
        lane_at = 0;
        for (int j = 0; j < set->count; j++) {
            const struct bouma_variable *v = set->variables[j];
            size_t size = bm_variable_value_size(v);

            for (int c = 0; c < v->components; c++, lane_at++) {
                uint8_t *to = b->columns[lane_at].own;
                struct bm_message m = {d->rank, NULL, (size_t)d->count * size};

                if (!to)
                    continue;
                m.data = to + d->first * size;
                if (d->rank == p->ds->comm->rank)
                    pack(p, set, b->file, v, c, m.data);
                else if (add_message(p->ds->a, &p->receives, &p->receive_count,
                                     m))
                    return BOUMA_ENOMEM;
            }
        }
    }
    return BOUMA_OK;
}

/* ---- all of it ---------------------------------------------------------- */

static int make_bundles(struct bm_particle_write *p)
{
    struct bouma_dataset *ds = p->ds;
    size_t count = 0;
    int rc = BOUMA_OK;

    for (size_t i = 0; i < p->plan.set_count; i++)
        for (int64_t f = 0; f < p->plan.sets[i].files.files; f++)
            count += p->plan.sets[i].writer[f] == ds->comm->rank;
    p->bundles = bm_new(ds->a, count, sizeof(*p->bundles));
    if (!p->bundles)
        return BOUMA_ENOMEM;
    for (size_t i = 0; i < p->plan.set_count; i++)
        for (int64_t f = 0; f < p->plan.sets[i].files.files && !rc; f++)
            if (p->plan.sets[i].writer[f] == ds->comm->rank)
                rc = bm_bundle_init(&p->bundles[p->bundle_count++], ds,
                                    &p->plan.sets[i], (uint32_t)f);
    return rc;
}

/* Both ends go through files, ranks and lanes in the same order, so messages
 * between two ranks match. */
static int make_messages(struct bm_particle_write *p)
{
    int me = p->ds->comm->rank, rc = BOUMA_OK;
    size_t bundle = 0;

    for (size_t i = 0; i < p->plan.set_count; i++) {
        const struct bm_set_plan *set = &p->plan.sets[i];

        p->raw_bytes += set->particles * set->bytes;
        for (size_t k = 0; k < set->delivery_count && !rc; k++) {
            const struct bm_delivery *d = &set->deliveries[k];

            if (set->writer[d->file] != d->rank)
                p->shipped_bytes += d->count * set->bytes;
            if (d->rank == me && set->writer[d->file] != me)
                rc = send_to(p, set, d);
        }
        for (int64_t f = 0; f < set->files.files && !rc; f++)
            if (set->writer[f] == me)
                rc = receive_into(p, &p->bundles[bundle++]);
    }
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
    rc = make_bundles(p);
    if (!rc)
        rc = make_messages(p);
    if (rc)
        bm_fail(&ds->error, rc, "no memory to send particles");
    return bm_comm_agree(ds->comm, rc, &ds->error);
}

int bm_particles_exchange(struct bm_particle_write *p)
{
    int rc = bm_comm_exchange(p->ds->comm, p->sends, p->send_count, p->receives,
                              p->receive_count, &p->ds->error);

    for (size_t i = 0; i < p->packed_count; i++)
        bm_drop(p->ds->a, p->packed[i]);
    p->packed_count = 0;
    return rc;
}

void bm_particles_release(struct bm_particle_write *p)
{
    const bouma_allocator *a;

    if (!p->ds)
        return;
    a = p->ds->a;
    for (size_t i = 0; i < p->bundle_count; i++)
        bm_bundle_release(&p->bundles[i]);
    bm_drop(a, p->bundles);
    bm_codec_state_release(&p->codec);
    bm_drop(a, p->sends);
    bm_drop(a, p->receives);
    for (size_t i = 0; i < p->packed_count; i++)
        bm_drop(a, p->packed[i]);
    bm_drop(a, p->packed);
    bm_particle_plan_release(&p->plan);
    memset(p, 0, sizeof(*p));
}
