/* particle_units.c -- what all ranks hold of particles, in units that go to one
 * file each.
 *
 * Ranks tell how many particles they have and where, in a first exchange. If
 * files cannot be made alike from that, those that have too many tell where
 * some of them are. The first rank of each node gets to know it. */
#include <string.h>

#include "write/particle_plan.h"

/* ---- what this rank tells ----------------------------------------------- */

void bm_particle_block_positions(struct bm_positions *p,
                                 const struct bm_particle_block *block)
{
    const struct bm_object *set = block->set;

    memset(p, 0, sizeof(*p));
    p->ndims = set->ndims;
    p->type = set->variables[0]->type;
    p->count = (size_t)block->count;
    for (int d = 0; d < set->ndims; d++) {
        p->axis[d] = block->lanes[d].data;
        p->stride[d] = block->lanes[d].stride;
    }
}

/* Whether a block of particles has a variable. */
static int has_variable(const struct bm_particle_block *s, int j)
{
    size_t lane = bm_variable_lane(s->set->variables[j]);

    return lane < s->lane_count && s->lanes[lane].data;
}

static struct bm_unit unit_of(const struct bm_particle_block *block, int rank)
{
    struct bm_unit u = {.count = block->count, .rank = rank};
    struct bm_positions p;

    if (block->bounded) {
        memcpy(u.low, block->low, sizeof(u.low));
        memcpy(u.high, block->high, sizeof(u.high));
        return u;
    }
    bm_particle_block_positions(&p, block);
    bm_positions_bounds(&p, u.low, u.high);
    for (int d = 0; d < block->set->ndims; d++)
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

/* Of each set: the number of blocks of particles, for each of them (none is
 * empty) a unit, and a byte for each variable: whether all blocks of particles
 * have it. */
static int describe(struct bm_particle_plan *plan, struct bouma_dataset *ds,
                    struct bm_buffer *out)
{
    for (size_t i = 0; i < plan->set_count; i++) {
        const struct bm_set_plan *plan_of = &plan->sets[i];
        const struct bm_object *set = plan_of->set;
        const struct bm_particle_block *first = NULL;

        bm_put_u32(out, (uint32_t)(plan_of->end_block - plan_of->first_block));
        for (size_t k = plan_of->first_block; k < plan_of->end_block; k++) {
            const struct bm_particle_block *s = &ds->given.blocks[k];
            struct bm_unit u;

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
    size_t count = set->unit_count + more;
    struct bm_unit *grown = bm_resize(a, set->units, count, sizeof(*grown));
    uint8_t *sampled;

    if (!grown)
        return BOUMA_ENOMEM;
    set->units = grown;
    sampled = bm_resize(a, set->sampled, count, sizeof(*sampled));
    if (!sampled)
        return BOUMA_ENOMEM;
    set->sampled = sampled;
    memset(sampled + set->unit_count, 0, more);
    return BOUMA_OK;
}

/* The variables that ranks with particles of a set have for them. */
struct given {
    uint8_t has[BM_MAX_VARIABLES];
    int by; /* the first rank with particles; -1: none so far */
};

/* One rank's word on one set. */
static int take_description(struct bm_particle_plan *plan,
                            struct bm_set_plan *set, struct bm_cursor *c,
                            int rank, struct given *given,
                            struct bm_error *error)
{
    uint32_t count = bm_get_u32(c);

    if (count > bm_cursor_left(c) / 8)
        return bm_fail(error, BOUMA_ECOMM,
                       "the description of particles could not be decoded");
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

        if (count && given->by >= 0 && has != given->has[j])
            return bm_fail(error, BOUMA_EMISMATCH,
                           "rank %d hands over particles \"%s\" with \"%s\", "
                           "rank %d without it",
                           has ? rank : given->by, set->set->name,
                           set->set->variables[j]->name,
                           has ? given->by : rank);
        if (count)
            given->has[j] = has;
    }
    if (count && given->by < 0)
        given->by = rank;
    return BOUMA_OK;
}

int bm_particle_variables(struct bm_set_plan *set, const bouma_allocator *a,
                          const uint8_t *given)
{
    set->variables =
        bm_new(a, (size_t)set->set->count, sizeof(*set->variables));
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
                    const size_t *sizes, int ranks, struct bm_error *error)
{
    struct bm_cursor *cursors =
        bm_new(plan->a, (size_t)ranks, sizeof(*cursors));
    const uint8_t *at = all->data;
    struct given given;
    int rc = cursors ? BOUMA_OK : BOUMA_ENOMEM;

    for (int r = 0; r < ranks && !rc; at += sizes[r], r++)
        cursors[r] = bm_cursor_of(at, sizes[r]);
    for (size_t i = 0; i < plan->set_count && !rc; i++) {
        struct bm_set_plan *set = &plan->sets[i];

        memset(given.has, 0, (size_t)set->set->count);
        given.by = -1;
        for (int r = 0; r < ranks && !rc; r++) {
            rc = take_description(plan, set, &cursors[r], r, &given, error);
            if (!rc && cursors[r].failed)
                rc = bm_fail(
                    error, BOUMA_ECOMM,
                    "the description of particles could not be decoded");
        }
        if (!rc)
            rc = bm_particle_variables(set, plan->a, given.has);
    }
    bm_drop(plan->a, cursors);
    return rc;
}

/* ---- pieces ------------------------------------------------------------- */

static struct bm_particle_rule rule_of(const struct bm_set_plan *set,
                                       const struct bouma_dataset *ds)
{
    return (struct bm_particle_rule){.ndims = set->set->ndims,
                                     .bytes = set->bytes,
                                     .particles = set->particles,
                                     .ranks = ds->comm->size,
                                     .assign = ds->options.assign,
                                     .files = ds->options.files,
                                     .file_size = ds->options.file_size};
}

uint64_t bm_particle_target(const struct bm_set_plan *set,
                            const struct bouma_dataset *ds)
{
    struct bm_particle_rule rule = rule_of(set, ds);

    return bm_particle_file_bytes(&rule);
}

/* Which sets are to be cut. */
static int choose_cuts(struct bm_particle_plan *plan, struct bouma_dataset *ds)
{
    int rc = BOUMA_OK;

    for (size_t i = 0; i < plan->set_count && !rc; i++) {
        struct bm_set_plan *set = &plan->sets[i];
        struct bm_particle_rule rule = rule_of(set, ds);

        rc = bm_particle_must_cut(&set->cut, &rule, plan->a, set->units,
                                  set->unit_count);
    }
    return rc;
}

/* ---- samples ------------------------------------------------------------ */

/* For each block of particles of a set that is cut: the number of points (0: it
 * stays whole), and these. */
static int draw_samples(struct bm_particle_plan *plan, struct bouma_dataset *ds,
                        struct bm_buffer *out)
{
    for (size_t i = 0; i < plan->set_count; i++) {
        struct bm_set_plan *set = &plan->sets[i];
        struct bm_particle_rule rule = rule_of(set, ds);

        for (size_t k = set->first_block; k < set->end_block && set->cut; k++) {
            const struct bm_particle_block *s = &ds->given.blocks[k];
            struct bm_sample *sample = &plan->blocks[k].sample;
            struct bm_positions p;

            bm_particle_block_positions(&p, s);
            if (s->count > bm_particle_most_uncut(&rule) &&
                bm_sample_make(sample, plan->a, &p,
                               bm_particle_points(&rule, s->count)))
                return BOUMA_ENOMEM;
            bm_put_u32(out, (uint32_t)sample->count);
            for (size_t j = 0; j < sample->count; j++) {
                bm_put_u64(out, sample->units[j].count);
                for (int d = 0; d < set->set->ndims; d++)
                    bm_put_f64(out, sample->units[j].low[d]);
            }
        }
    }
    return out->failed ? BOUMA_ENOMEM : BOUMA_OK;
}

/* The points of one unit, or the unit itself. */
static int take_sample(struct bm_particle_plan *plan, struct bm_set_plan *set,
                       const struct bm_unit *whole, struct bm_cursor *c)
{
    uint32_t count = bm_get_u32(c);
    size_t more = count ? count : 1;

    if (c->failed || count > bm_cursor_left(c) / 16)
        return BOUMA_ECOMM;
    if (grow_units(set, plan->a, more))
        return BOUMA_ENOMEM;
    if (!count)
        set->units[set->unit_count++] = *whole;
    for (uint32_t j = 0; j < count; j++) {
        struct bm_unit *u = &set->units[set->unit_count];

        memset(u, 0, sizeof(*u));
        u->rank = whole->rank;
        u->count = bm_get_u64(c);
        for (int d = 0; d < set->set->ndims; d++)
            u->low[d] = u->high[d] = bm_get_f64(c);
        set->sampled[set->unit_count++] = 1;
    }
    return c->failed ? BOUMA_ECOMM : BOUMA_OK;
}

/* Units of a set anew, from what ranks say of theirs. */
static int take_samples(struct bm_particle_plan *plan, struct bm_set_plan *set,
                        const struct bm_unit *old, size_t count,
                        struct bm_cursor *cursors)
{
    int rc = BOUMA_OK;

    for (size_t k = 0; k < count && !rc; k++)
        rc = take_sample(plan, set, &old[k], &cursors[old[k].rank]);
    return rc;
}

/* Those of a set that is not cut. */
static int copy_units(struct bm_particle_plan *plan, struct bm_set_plan *set,
                      const struct bm_unit *old, size_t count)
{
    if (grow_units(set, plan->a, count))
        return BOUMA_ENOMEM;
    if (count)
        memcpy(set->units, old, count * sizeof(*old));
    set->unit_count = count;
    return BOUMA_OK;
}

/* The units of all sets anew; the others may be those of the node. */
static int take_all_samples(struct bm_particle_plan *plan,
                            const struct bm_buffer *all, const size_t *sizes,
                            int ranks)
{
    struct bm_cursor *cursors =
        bm_new(plan->a, (size_t)ranks, sizeof(*cursors));
    const uint8_t *at = all->data;
    int rc = cursors ? BOUMA_OK : BOUMA_ENOMEM;

    for (int r = 0; r < ranks && !rc; at += sizes[r], r++)
        cursors[r] = bm_cursor_of(at, sizes[r]);
    for (size_t i = 0; i < plan->set_count; i++) {
        struct bm_set_plan *set = &plan->sets[i], old = *set;

        set->units = NULL;
        set->sampled = NULL;
        set->unit_count = 0;
        if (!rc)
            rc = set->cut ? take_samples(plan, set, old.units, old.unit_count,
                                         cursors)
                          : copy_units(plan, set, old.units, old.unit_count);
        if (!(plan->views & BM_UNITS)) {
            bm_drop(plan->a, old.units);
            bm_drop(plan->a, old.sampled);
        }
    }
    plan->views &= ~BM_UNITS;
    bm_drop(plan->a, cursors);
    return rc;
}

/* Which of its set's units, from my_first on, each block of particles of this
 * rank is. */
static void number_units(struct bm_particle_plan *plan)
{
    for (size_t i = 0; i < plan->set_count; i++) {
        const struct bm_set_plan *set = &plan->sets[i];
        size_t next = 0;

        for (size_t k = set->first_block; k < set->end_block; k++) {
            struct bm_particle_block_units *u = &plan->blocks[k];

            u->first = next;
            next += u->sample.count ? u->sample.count : 1;
        }
    }
}

int bm_particle_units_cut(struct bm_particle_plan *plan,
                          struct bouma_dataset *ds, int rc)
{
    int leads = bm_comm_leads(ds->comm);
    size_t *sizes =
        bm_new(ds->a, leads ? (size_t)ds->comm->size : 0, sizeof(*sizes));
    struct bm_buffer mine, all;

    bm_buffer_init(&mine, ds->a);
    bm_buffer_init(&all, ds->a);
    if (!rc) {
        rc = sizes ? draw_samples(plan, ds, &mine) : BOUMA_ENOMEM;
        if (rc)
            bm_fail(&ds->error, rc, "no memory for a sample of particles");
    }
    rc = bm_comm_collect_at_nodes(ds->comm, &mine, &all, sizes, rc, &ds->error);
    if (!rc && leads)
        rc = take_all_samples(plan, &all, sizes, ds->comm->size);
    if (rc && !ds->error.status)
        bm_fail(&ds->error, rc,
                rc == BOUMA_ENOMEM
                    ? "no memory for the samples of particles"
                    : "the samples of particles could not be decoded");
    if (!rc)
        number_units(plan);
    bm_buffer_release(&mine);
    bm_buffer_release(&all);
    bm_drop(ds->a, sizes);
    return rc;
}

int bm_particle_units_find(struct bm_particle_plan *plan,
                           struct bouma_dataset *ds, int rc)
{
    int leads = bm_comm_leads(ds->comm);
    size_t *sizes =
        bm_new(ds->a, leads ? (size_t)ds->comm->size : 0, sizeof(*sizes));
    struct bm_buffer mine, all;

    bm_buffer_init(&mine, ds->a);
    bm_buffer_init(&all, ds->a);
    if (!rc && !sizes)
        rc = bm_fail(&ds->error, BOUMA_ENOMEM, "no memory for particles");
    if (!rc)
        rc = describe(plan, ds, &mine);
    rc = bm_comm_collect_at_nodes(ds->comm, &mine, &all, sizes, rc, &ds->error);
    if (!rc && leads)
        rc = take_all(plan, &all, sizes, ds->comm->size, &ds->error);
    if (rc == BOUMA_ENOMEM)
        bm_fail(&ds->error, rc, "no memory for particles");
    if (!rc && leads && choose_cuts(plan, ds))
        rc = bm_fail(&ds->error, BOUMA_ENOMEM, "no memory to plan particles");
    if (!rc)
        number_units(plan);
    bm_buffer_release(&mine);
    bm_buffer_release(&all);
    bm_drop(ds->a, sizes);
    return rc;
}
