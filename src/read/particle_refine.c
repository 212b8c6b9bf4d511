/* particle_refine.c -- particles of a query from coarse to fine, as many at a
 * time as a budget allows.
 *
 * A level of detail is read as a whole. If it may have more particles than are
 * wanted, they come with keys, by which they are sorted: the first go to the
 * caller, the others are kept for the next call. */
#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include "plan/budget.h"
#include "read/into.h"
#include "read/particle_refine.h"

/* ---- levels -------------------------------------------------------------- */

/* The levels that the query wants some of, the coarsest first. */
static void list_slices(struct bouma_particles_refinement *r)
{
    const struct bm_detail *d = &bm_bat_of(r->set)->detail;
    double from = bm_detail_threshold(d, r->asked.from);
    double to = bm_detail_threshold(d, r->asked.quality);

    for (int k = r->set->levels - 1; k >= 0; k--)
        if (d->limit[k] > from && d->limit[k + 1] < to && from < to)
            r->slices[r->count++] = (struct bm_slice){
                k, d->limit[k] >= to ? r->asked.quality
                                     : (double)d->limit[k] / d->chunk};
}

/* Where the i-th slice begins. */
static double slice_begin(const struct bouma_particles_refinement *r, int i)
{
    return i ? r->slices[i - 1].end : r->asked.from;
}

struct bouma_particles_refinement *
bm_particle_refinement_new(struct bouma_step *step, struct bm_object *set,
                           const struct bm_criteria *criteria)
{
    const bouma_allocator *a = step->ds->a;
    struct bouma_particles_refinement *r = bm_new(a, 1, sizeof(*r));
    size_t variables = criteria->variable_count;
    size_t conditions = criteria->condition_count;

    if (r) {
        bm_step_hold(step);
        r->step = step;
        r->set = set;
        r->asked = *criteria;
        r->variables = bm_new(a, variables, sizeof(*r->variables));
        r->conditions = bm_new(a, conditions, sizeof(*r->conditions));
    }
    if (!r || !r->variables || !r->conditions) {
        bm_particle_refinement_free(r);
        bm_fail(&step->ds->error, BOUMA_ENOMEM, "no memory to refine");
        return NULL;
    }
    if (variables)
        memcpy(r->variables, criteria->variables,
               variables * sizeof(*r->variables));
    if (conditions)
        memcpy(r->conditions, criteria->conditions,
               conditions * sizeof(*r->conditions));
    r->asked.variables = r->variables;
    r->asked.conditions = r->conditions;
    r->keys.by_rank = 1;
    list_slices(r);
    return r;
}

void bm_particle_refinement_free(struct bouma_particles_refinement *r)
{
    const bouma_allocator *a;

    if (!r)
        return;
    a = r->step->ds->a;
    bm_collector_release(&r->kept);
    bm_drop(a, r->variables);
    bm_drop(a, r->conditions);
    bm_step_drop(r->step);
    bm_drop(a, r);
}

/* Find what each level costs, as far as heads and trees may be read. */
static int look(struct bouma_particles_refinement *r, uint64_t left)
{
    struct bm_particle_query query = {
        .step = r->step, .set = r->set, .query = r->asked, .look = &r->look};
    int rc;

    memset(&r->look, 0, sizeof(r->look));
    r->look.heads.limit = left;
    rc = bm_particle_query(&query);
    r->looked = !rc && !r->look.heads.over;
    return rc;
}

/* The slices that are still to come. */
struct rest {
    const struct bouma_particles_refinement *r;
    int next;
};

static uint64_t points_of(const void *context, int i)
{
    const struct rest *rest = context;
    uint64_t points = 0;

    for (int k = rest->next; k <= rest->next + i; k++)
        points += rest->r->look.particles[rest->r->slices[k].level];
    return points;
}

static int cost_of(struct bm_step_cost *out, void *context, int i,
                   uint64_t left)
{
    const struct rest *rest = context;
    const struct bm_particle_look *l = &rest->r->look;

    (void)left;
    *out = (struct bm_step_cost){
        l->heads.bytes + l->bytes[rest->r->slices[rest->next + i].level], 0};
    return BOUMA_OK;
}

/* ---- particles ----------------------------------------------------------- */

static int no_memory(const struct bouma_particles_refinement *r)
{
    struct bm_error *error = &r->step->ds->error;

    bm_error_clear(error);
    return bm_fail(error, BOUMA_ENOMEM,
                   "no memory for the particles that were found");
}

/* Read some slices, for 'query->each'. */
static int pass_slices(struct bouma_particles_refinement *r,
                       struct bm_particle_query *query, int first, int count)
{
    query->step = r->step;
    query->set = r->set;
    query->query = r->asked;
    query->exact = 1;
    query->query.from = slice_begin(r, first);
    query->query.quality = r->slices[first + count - 1].end;
    return bm_particle_query(query);
}

/* The same into a collector. */
static int read_slices(struct bouma_particles_refinement *r, int first,
                       int count, struct bm_collector *to)
{
    struct bm_particle_query query = {.each = bm_collector_add,
                                      .context = to,
                                      .draw = to->draw ? &r->keys : NULL};
    int rc = pass_slices(r, &query, first, count);

    return rc == BOUMA_EABORTED ? no_memory(r) : rc;
}

/* Append particles of one collector to another: BOUMA_OK or ENOMEM. */
static int append(struct bm_collector *to, const struct bm_collector *from,
                  uint64_t first, uint64_t count)
{
    uint64_t had = to->count;

    if (!count)
        return BOUMA_OK;
    if (bm_collector_extend(to, count))
        return BOUMA_ENOMEM;
    for (size_t v = 0; v < to->asked->variable_count; v++) {
        size_t size = bm_lane_size(to->asked, to->asked->variables[v]);

        for (int k = 0; k < bm_lanes(to->asked, to->asked->variables[v]); k++)
            memcpy(bm_collector_lane(to, v, k) + (size_t)had * size,
                   bm_collector_lane(from, v, k) + (size_t)first * size,
                   (size_t)count * size);
    }
    return BOUMA_OK;
}

/* ---- a call -------------------------------------------------------------- */

/* What a call has done so far. The refinement changes when it ends well. */
struct turn {
    struct bouma_particles_refinement *r;
    const struct bm_budget *budget;
    uint64_t before; /* bytes read before the call */
    struct bm_collector out;
    struct bm_collector kept; /* instead of r->kept, if it has any */
    uint64_t given;           /* of the particles that are kept */
    int next;
    bouma_limit limit;
};

static uint64_t bytes_so_far(const struct turn *t)
{
    return bm_dataset_bytes_read(t->r->step->ds) - t->before;
}

static struct bm_budget left_of(const struct turn *t)
{
    struct bm_budget left = *t->budget;
    uint64_t bytes = bytes_so_far(t);

    if (left.bytes < UINT64_MAX)
        left.bytes = left.bytes > bytes ? left.bytes - bytes : 0;
    if (left.points < UINT64_MAX)
        left.points -= t->out.count;
    return left;
}

/* The particles of a level that may have more than are wanted. */
static int take_some(struct turn *t, uint64_t room)
{
    struct bouma_particles_refinement *r = t->r;
    struct bm_collector *c = &t->kept;
    int rc = bm_collector_init(c, r->step->ds->a, &r->asked);

    c->draw = &r->keys;
    rc = rc ? no_memory(r) : read_slices(r, t->next, 1, c);
    if (!rc && c->count > room && bm_collector_thin(c, c->count))
        rc = no_memory(r);
    t->given = c->count < room ? c->count : room;
    if (!rc && append(&t->out, c, 0, t->given))
        rc = no_memory(r);
    if (!rc && t->given == c->count) {
        bm_collector_release(c);
        t->given = 0;
    }
    t->next += !rc;
    return rc;
}

/* The slices that fit as a whole, or what is wanted of the next one. */
static int take_slices(struct turn *t)
{
    struct rest rest = {t->r, t->next};
    struct bm_steps steps = {&rest, t->r->count - t->next, points_of, cost_of};
    struct bm_budget left = left_of(t);
    struct bm_reach reach;
    int rc = bm_budget_reach(&reach, &steps, &left, INT_MAX);

    if (rc)
        return rc;
    if (reach.steps) {
        rc = read_slices(t->r, t->next, reach.steps, &t->out);
        t->next += rc ? 0 : reach.steps;
        return rc;
    }
    if (reach.limit == BOUMA_LIMIT_POINTS && reach.next_bytes <= left.bytes)
        return take_some(t, left.points);
    t->limit = BOUMA_LIMIT_BYTES;
    return BOUMA_OK;
}

/* First those that are there. */
static int take(struct turn *t)
{
    const struct bm_collector *kept = &t->r->kept;
    uint64_t there = kept->count - t->given;
    uint64_t n = there < t->budget->points ? there : t->budget->points;
    int rc = append(&t->out, kept, t->given, n) ? no_memory(t->r) : BOUMA_OK;

    t->given += n;
    if (n < there)
        t->limit = BOUMA_LIMIT_POINTS;
    else
        t->given = 0;
    while (!rc && !t->limit && t->next < t->r->count)
        if (t->out.count == t->budget->points)
            t->limit = BOUMA_LIMIT_POINTS;
        else
            rc = take_slices(t);
    if (t->kept.count)
        t->limit = BOUMA_LIMIT_POINTS;
    return rc;
}

/* From now on the refinement is where the call has come to. */
static void settle(struct turn *t)
{
    struct bouma_particles_refinement *r = t->r;
    int some_left = t->given != 0;

    if (!some_left || t->kept.count)
        bm_collector_release(&r->kept);
    if (t->kept.count) {
        r->kept = t->kept;
        memset(&t->kept, 0, sizeof(t->kept));
    }
    r->given = t->given;
    r->next = t->next;
}

/* How far it has come, as a part of all particles. */
static double quality_of(const struct bouma_particles_refinement *r)
{
    double end = slice_begin(r, r->next), begin, cut;
    uint64_t key;

    if (!r->kept.count)
        return r->next == r->count ? r->asked.quality : end;
    begin = slice_begin(r, r->next - 1);
    memcpy(&key, r->kept.keys.data + (size_t)r->given * sizeof(key),
           sizeof(key));
    cut = (double)key / 0x1p32 / bm_bat_of(r->set)->detail.chunk;
    return cut < begin ? begin : cut > end ? end : cut;
}

static void tell(bouma_answer *out, const struct turn *t)
{
    const struct bouma_particles_refinement *r = t->r;
    struct rest rest = {r, r->next};
    struct bm_step_cost cost = {0, 0};

    out->bytes = bytes_so_far(t);
    out->points = t->out.count;
    out->complete = r->next == r->count && !r->kept.count;
    out->level = r->next ? r->slices[r->next - 1].level : -1;
    out->quality = quality_of(r);
    out->limit = out->complete ? BOUMA_LIMIT_NONE : t->limit;
    if (out->complete)
        return;
    if (r->kept.count) {
        out->next_points = r->kept.count - r->given;
        return;
    }
    cost_of(&cost, &rest, 0, 0);
    out->next_bytes = cost.bytes;
    out->next_points = points_of(&rest, 0);
}

static int refuse(const bouma_answer *answer, const struct turn *t)
{
    return bm_fail(&t->r->step->ds->error, BOUMA_ELIMIT,
                   "level %d of detail of particles \"%s\" takes up to %" PRIu64
                   " bytes, with heads and trees; the budget is %" PRIu64
                   " bytes",
                   t->r->slices[t->r->next].level, t->r->set->name,
                   answer->bytes + answer->next_bytes, t->budget->bytes);
}

/* The particles that were taken, to the caller. */
static int hand_over(struct turn *t, bouma_particle_data **out,
                     struct bm_into *into)
{
    uint64_t count = t->out.count;

    if (into)
        return bm_into_collected(into, &t->out);
    *out = bm_collector_finish(&t->out);
    t->out.count = count;
    return *out ? BOUMA_OK : no_memory(t->r);
}

int bm_particle_refinement_next(bouma_particle_data **out, struct bm_into *into,
                                bouma_answer *answer,
                                struct bouma_particles_refinement *r,
                                const struct bm_budget *budget)
{
    struct turn t = {.r = r,
                     .budget = budget,
                     .before = bm_dataset_bytes_read(r->step->ds),
                     .given = r->given,
                     .next = r->next};
    int moved, rc = BOUMA_OK;

    if (!r->looked)
        rc = look(r, budget->bytes);
    if (!rc && bm_collector_init(&t.out, r->step->ds->a, &r->asked))
        rc = no_memory(r);
    if (!rc && !r->looked)
        t.limit = BOUMA_LIMIT_BYTES;
    else if (!rc)
        rc = take(&t);
    moved = t.out.count || t.next > r->next || r->next == r->count;
    if (!rc && moved)
        rc = hand_over(&t, out, into);
    if (!rc) {
        settle(&t);
        tell(answer, &t);
        rc = moved ? BOUMA_OK : refuse(answer, &t);
    }
    bm_collector_release(&t.kept);
    bm_collector_release(&t.out);
    return rc;
}

/* ---- whole levels -------------------------------------------------------- */

int bm_particle_refinement_pass(
    struct bm_particle_levels *out, struct bouma_particles_refinement *r,
    const struct bm_budget *budget,
    int (*each)(void *context, const bouma_batch *batch), void *context)
{
    uint64_t before = bm_dataset_bytes_read(r->step->ds), read;
    struct bm_particle_query query = {.each = each, .context = context};
    struct rest rest = {r, 0};
    struct bm_steps steps = {&rest, r->count, points_of, cost_of};
    struct bm_budget left = *budget;
    struct bm_reach reach = {.limit = BOUMA_LIMIT_BYTES};
    int rc = look(r, budget->bytes);

    memset(out, 0, sizeof(*out));
    out->level = -1;
    if (rc)
        return rc;
    read = bm_dataset_bytes_read(r->step->ds) - before;
    if (left.bytes < UINT64_MAX)
        left.bytes = left.bytes > read ? left.bytes - read : 0;
    if (!r->looked)
        left.bytes = 0; /* heads are missing: no level can be read */
    rc = bm_budget_reach(&reach, &steps, &left, r->looked ? INT_MAX : 0);
    if (!rc && reach.steps)
        rc = pass_slices(r, &query, 0, reach.steps);
    out->limit = r->looked ? reach.limit : BOUMA_LIMIT_BYTES;
    out->next_bytes = reach.next_bytes;
    out->complete = r->looked && reach.steps == r->count;
    out->all = r->count ? points_of(&rest, r->count - 1) : 0;
    if (reach.steps) {
        out->level = r->slices[reach.steps - 1].level;
        out->particles = points_of(&rest, reach.steps - 1);
    }
    return rc;
}
