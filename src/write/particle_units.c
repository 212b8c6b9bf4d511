/* particle_units.c -- what all ranks hold of particles, in units that go to one
 * file each.
 *
 * Ranks tell how many particles they have and where, in a first exchange. Those
 * that have too many for an even cut tell a second time, in pieces. */
#include <string.h>

#include "write/particle_plan.h"

/* With `split`, no unit has more than this part of a file. */
#define PARTS_OF_A_FILE 16

/* ---- what this rank tells ----------------------------------------------- */

static void lanes_of(struct bm_positions *p, const struct bm_swarm *swarm)
{
    const struct bouma_grid *set = swarm->set;

    memset(p, 0, sizeof(*p));
    p->ndims = set->ndims;
    p->type = set->variables[0]->type;
    p->count = (size_t)swarm->count;
    for (int d = 0; d < set->ndims; d++) {
        p->axis[d] = swarm->lanes[d].data;
        p->stride[d] = swarm->lanes[d].stride;
    }
}

/* Whether a swarm has a variable. */
static int has_variable(const struct bm_swarm *s, int j)
{
    size_t lane = 0;

    for (int i = 0; i < j; i++)
        lane += (size_t)s->set->variables[i]->components;
    return lane < s->lane_count && s->lanes[lane].data;
}

static struct bm_unit unit_of(const struct bm_swarm *swarm, int rank)
{
    struct bm_unit u = {.count = swarm->count, .rank = rank};
    struct bm_positions p;

    if (swarm->bounded) {
        memcpy(u.low, swarm->low, sizeof(u.low));
        memcpy(u.high, swarm->high, sizeof(u.high));
        return u;
    }
    lanes_of(&p, swarm);
    bm_positions_bounds(&p, u.low, u.high);
    for (int d = 0; d < swarm->set->ndims; d++)
        if (!(u.low[d] <= u.high[d])) /* none that is finite */
            u.low[d] = u.high[d] = 0;
    return u;
}

static void put_unit(struct bm_buffer *b, const struct bm_unit *u, int ndims)
{
    bm_put_u64(b, u->count);
    for (int d = 0; d < ndims; d++) {
        bm_put_f64(b, u->low[d]);
        bm_put_f64(b, u->high[d]);
    }
}

static void get_unit(struct bm_unit *u, struct bm_cursor *c, int ndims,
                     int rank)
{
    memset(u, 0, sizeof(*u));
    u->rank = rank;
    u->count = bm_get_u64(c);
    for (int d = 0; d < ndims; d++) {
        u->low[d] = bm_get_f64(c);
        u->high[d] = bm_get_f64(c);
    }
}

/* Of each set: the number of swarms that have particles, for each of them a
 * unit, and a byte for each variable: whether all swarms have it. */
static int describe(struct bm_particle_plan *plan, struct bouma_dataset *ds,
                    struct bm_buffer *out)
{
    for (size_t i = 0; i < plan->set_count; i++) {
        const struct bouma_grid *set = plan->sets[i].set;
        const struct bm_swarm *first = NULL;
        uint32_t count = 0;

        for (size_t k = 0; k < ds->swarm_count; k++)
            count += ds->swarms[k].set == set && ds->swarms[k].count;
        bm_put_u32(out, count);
        for (size_t k = 0; k < ds->swarm_count; k++) {
            const struct bm_swarm *s = &ds->swarms[k];
            struct bm_unit u;

            if (s->set != set || !s->count)
                continue;
            u = unit_of(s, ds->comm->rank);
            put_unit(out, &u, set->ndims);
            for (int j = 0; j < set->count && first; j++)
                if (has_variable(s, j) != has_variable(first, j))
                    return bm_fail(
                        &ds->error, BOUMA_EMISMATCH,
                        "rank %d hands over \"%s/%s\" for some of its "
                        "particles, but not for all",
                        ds->comm->rank, set->name, set->variables[j]->name);
            first = first ? first : s;
        }
        for (int j = 0; j < set->count; j++)
            bm_put_u8(out, first && has_variable(first, j));
    }
    return out->failed ? bm_fail(&ds->error, BOUMA_ENOMEM,
                                 "no memory to describe particles")
                       : BOUMA_OK;
}

/* ---- what all have told ------------------------------------------------- */

static int grow_units(struct bm_set_plan *set, const bouma_allocator *a,
                      size_t more)
{
    struct bm_unit *grown =
        bm_resize(a, set->units, set->unit_count + more, sizeof(*grown));

    if (!grown)
        return BOUMA_ENOMEM;
    set->units = grown;
    return BOUMA_OK;
}

/* One rank's word on one set. 'given' has what the first rank with particles
 * said of variables. */
static int take_description(struct bm_particle_plan *plan,
                            struct bm_set_plan *set, struct bm_cursor *c,
                            int rank, uint8_t *given, int *given_by,
                            struct bm_error *error)
{
    uint32_t count = bm_get_u32(c);

    if (count > bm_cursor_left(c) / 8)
        return bm_fail(error, BOUMA_ECOMM,
                       "the description of particles was not understood");
    if (grow_units(set, plan->a, count))
        return BOUMA_ENOMEM;
    for (uint32_t i = 0; i < count; i++) {
        struct bm_unit *u = &set->units[set->unit_count++];

        get_unit(u, c, set->set->ndims, rank);
        if (__builtin_add_overflow(set->particles, u->count, &set->particles) ||
            set->particles >= BM_MAX_PARTICLES)
            return bm_fail(error, BOUMA_ELIMIT,
                           "particles \"%s\" are more than 2^62",
                           set->set->name);
    }
    for (int j = 0; j < set->set->count; j++) {
        uint8_t has = bm_get_u8(c);

        if (count && *given_by >= 0 && has != given[j])
            return bm_fail(error, BOUMA_EMISMATCH,
                           "rank %d hands over particles \"%s\" with \"%s\", "
                           "rank %d without it",
                           has ? rank : *given_by, set->set->name,
                           set->set->variables[j]->name,
                           has ? *given_by : rank);
        if (count)
            given[j] = has;
    }
    if (count && *given_by < 0)
        *given_by = rank;
    return BOUMA_OK;
}

/* The variables of a set that the step has. */
static int list_variables(struct bm_particle_plan *plan,
                          struct bm_set_plan *set, const uint8_t *given)
{
    set->variables =
        bm_new(plan->a, (size_t)set->set->count, sizeof(*set->variables));
    if (!set->variables)
        return BOUMA_ENOMEM;
    for (int j = 0; j < set->set->count; j++)
        if (given[j]) {
            set->variables[set->count++] = set->set->variables[j];
            set->bytes += bm_variable_sample_size(set->set->variables[j]);
        }
    return BOUMA_OK;
}

static int take_all(struct bm_particle_plan *plan, const struct bm_buffer *all,
                    const size_t *sizes, int ranks, int rank,
                    struct bm_error *error)
{
    struct bm_cursor *cursors =
        bm_new(plan->a, (size_t)ranks, sizeof(*cursors));
    uint8_t given[BM_MAX_VARIABLES];
    const uint8_t *at = all->data;
    int rc = cursors ? BOUMA_OK : BOUMA_ENOMEM;

    for (int r = 0; r < ranks && !rc; at += sizes[r], r++)
        cursors[r] = bm_cursor_of(at, sizes[r]);
    for (size_t i = 0; i < plan->set_count && !rc; i++) {
        struct bm_set_plan *set = &plan->sets[i];
        int given_by = -1;

        memset(given, 0, sizeof(given));
        for (int r = 0; r < ranks && !rc; r++) {
            if (r == rank)
                set->my_first = set->unit_count;
            rc = take_description(plan, set, &cursors[r], r, given, &given_by,
                                  error);
            if (!rc && cursors[r].failed)
                rc = bm_fail(error, BOUMA_ECOMM,
                             "the description of particles was not "
                             "understood");
        }
        if (!rc)
            rc = list_variables(plan, set, given);
    }
    bm_drop(plan->a, cursors);
    return rc;
}

/* ---- pieces ------------------------------------------------------------- */

uint64_t bm_particle_target(const struct bm_set_plan *set,
                            const struct bouma_dataset *ds)
{
    uint64_t bytes = set->particles > UINT64_MAX / set->bytes
                         ? UINT64_MAX
                         : set->particles * set->bytes;

    if (ds->options.files > 0)
        return bytes / (uint64_t)ds->options.files + 1;
    return ds->options.file_size ? ds->options.file_size
                                 : bm_aggregate_target(bytes, ds->comm->size);
}

/* With `split`, most particles that a unit may have; else as many as there
 * are. */
static uint64_t most_of(const struct bm_particle_plan *plan,
                        const struct bm_set_plan *set,
                        const struct bouma_dataset *ds)
{
    uint64_t target, most;

    if (plan->scheme != BOUMA_ASSIGN_SPLIT || !set->particles)
        return UINT64_MAX;
    target = bm_particle_target(set, ds);
    /* One file takes everything: there is nothing to cut. */
    if (set->particles <= target / set->bytes)
        return UINT64_MAX;
    most = target / set->bytes / PARTS_OF_A_FILE;
    return most ? most : 1;
}

static int any_heavy(const struct bm_set_plan *set, uint64_t most)
{
    for (size_t i = 0; i < set->unit_count; i++)
        if (set->units[i].count > most)
            return 1;
    return 0;
}

/* Cut this rank's swarms that are too large, and tell the pieces: for each unit
 * of the rank, how many, and these. */
static int cut_swarms(struct bm_particle_plan *plan, struct bouma_dataset *ds,
                      struct bm_buffer *out)
{
    for (size_t i = 0; i < plan->set_count; i++) {
        struct bm_set_plan *set = &plan->sets[i];
        uint64_t most = most_of(plan, set, ds);
        size_t unit = set->my_first;

        for (size_t k = 0; k < ds->swarm_count; k++) {
            const struct bm_swarm *s = &ds->swarms[k];
            struct bm_swarm_units *u = &plan->swarms[k];

            if (s->set != set->set || !s->count)
                continue;
            if (s->count > most) {
                struct bm_positions p;

                lanes_of(&p, s);
                if (bm_pieces_make(&u->pieces, plan->a, &p, most))
                    return BOUMA_ENOMEM;
                bm_put_u32(out, (uint32_t)u->pieces.count);
                for (size_t j = 0; j < u->pieces.count; j++)
                    put_unit(out, &u->pieces.units[j], set->set->ndims);
            } else {
                bm_put_u32(out, 1);
                put_unit(out, &set->units[unit], set->set->ndims);
            }
            unit++;
        }
    }
    return out->failed ? BOUMA_ENOMEM : BOUMA_OK;
}

/* Units of a set anew, from what ranks say of their pieces. */
static int take_pieces(struct bm_particle_plan *plan, size_t i,
                       struct bm_cursor *cursors, int ranks, int rank)
{
    struct bm_set_plan *set = &plan->sets[i];
    struct bm_unit *old = set->units;
    size_t old_count = set->unit_count;
    int rc = BOUMA_OK;

    set->units = NULL;
    set->unit_count = 0;
    for (size_t k = 0, r = 0; r < (size_t)ranks && !rc; r++) {
        if ((int)r == rank)
            set->my_first = set->unit_count;
        for (; k < old_count && old[k].rank == (int)r && !rc; k++) {
            uint32_t count = bm_get_u32(&cursors[r]);

            if (count > bm_cursor_left(&cursors[r]) / 8)
                rc = BOUMA_ECOMM;
            else
                rc = grow_units(set, plan->a, count);
            for (uint32_t j = 0; j < count && !rc; j++)
                get_unit(&set->units[set->unit_count++], &cursors[r],
                         set->set->ndims, (int)r);
        }
        if (cursors[r].failed)
            rc = BOUMA_ECOMM;
    }
    bm_drop(plan->a, old);
    return rc;
}

/* Collective. */
static int refine_units(struct bm_particle_plan *plan, struct bouma_dataset *ds,
                        size_t *sizes)
{
    int ranks = ds->comm->size, rc;
    struct bm_cursor *cursors =
        bm_new(plan->a, (size_t)ranks, sizeof(*cursors));
    struct bm_buffer mine, all;
    const uint8_t *at;

    bm_buffer_init(&mine, ds->a);
    bm_buffer_init(&all, ds->a);
    rc = cursors ? cut_swarms(plan, ds, &mine) : BOUMA_ENOMEM;
    if (rc)
        bm_fail(&ds->error, rc, "no memory to cut particles into pieces");
    rc = bm_comm_collect(ds->comm, &mine, &all, sizes, 1, rc, &ds->error);
    at = all.data;
    for (int r = 0; r < ranks && !rc; at += sizes[r], r++)
        cursors[r] = bm_cursor_of(at, sizes[r]);
    for (size_t i = 0; i < plan->set_count && !rc; i++)
        rc = take_pieces(plan, i, cursors, ranks, ds->comm->rank);
    if (rc && !ds->error.status)
        bm_fail(&ds->error, rc,
                rc == BOUMA_ENOMEM
                    ? "no memory for the pieces of particles"
                    : "the pieces of particles were not understood");
    bm_buffer_release(&mine);
    bm_buffer_release(&all);
    bm_drop(plan->a, cursors);
    return rc;
}

/* Which of its set's units, from my_first on, each swarm of this rank is. */
static void number_units(struct bm_particle_plan *plan,
                         const struct bouma_dataset *ds)
{
    for (size_t i = 0; i < plan->set_count; i++) {
        size_t next = 0;

        for (size_t k = 0; k < ds->swarm_count; k++) {
            struct bm_swarm_units *u = &plan->swarms[k];

            if (ds->swarms[k].set != plan->sets[i].set || !ds->swarms[k].count)
                continue;
            u->first = next;
            u->count = u->pieces.count ? u->pieces.count : 1;
            next += u->count;
        }
    }
}

int bm_particle_units_find(struct bm_particle_plan *plan,
                           struct bouma_dataset *ds, int rc)
{
    size_t *sizes = bm_new(ds->a, (size_t)ds->comm->size, sizeof(*sizes));
    struct bm_buffer mine, all;
    int heavy = 0;

    bm_buffer_init(&mine, ds->a);
    bm_buffer_init(&all, ds->a);
    if (!rc && !sizes)
        rc = bm_fail(&ds->error, BOUMA_ENOMEM, "no memory for particles");
    if (!rc)
        rc = describe(plan, ds, &mine);
    rc = bm_comm_collect(ds->comm, &mine, &all, sizes, 1, rc, &ds->error);
    if (!rc)
        rc = take_all(plan, &all, sizes, ds->comm->size, ds->comm->rank,
                      &ds->error);
    if (rc == BOUMA_ENOMEM)
        bm_fail(&ds->error, rc, "no memory for particles");
    /* Not the same everywhere if memory is short. */
    rc = bm_comm_agree(ds->comm, rc, &ds->error);
    for (size_t i = 0; i < plan->set_count && !rc; i++)
        heavy |= any_heavy(&plan->sets[i], most_of(plan, &plan->sets[i], ds));
    if (!rc && heavy)
        rc = refine_units(plan, ds, sizes);
    if (!rc)
        number_units(plan, ds);
    bm_buffer_release(&mine);
    bm_buffer_release(&all);
    bm_drop(ds->a, sizes);
    return rc;
}
