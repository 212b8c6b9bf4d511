/* value_histogram.c -- see value_histogram.h: what particles and grids have in
 * common. */
#include "read/value_histogram.h"

#include <math.h>
#include <string.h>

int bm_histogram_init(struct bm_histogram *h, size_t bins, const double *edges,
                      double low, double high)
{
    const bouma_allocator *a = h->step->ds->a;

    h->before = bm_dataset_bytes_read(h->step->ds);
    if (!bm_edges_init(&h->edges, a, h->variable->type, bins, edges, low,
                       high) &&
        !bm_tally_init(&h->tally, &h->edges)) {
        h->counts = bm_new(a, h->edges.slots, sizeof(*h->counts));
        if (h->counts)
            return BOUMA_OK;
    }
    return bm_fail(&h->step->ds->error, BOUMA_ENOMEM,
                   "no memory for a histogram of %zu bins", bins);
}

void bm_histogram_release(struct bm_histogram *h)
{
    if (h->counts)
        bm_drop(h->step->ds->a, h->counts);
    bm_tally_release(&h->tally);
    bm_edges_release(&h->edges);
}

void bm_histogram_add(struct bm_histogram *h, const void *values, size_t count,
                      size_t stride)
{
    h->points += count;
    bm_edges_count(&h->edges, h->counts, &h->nans, values, count, stride);
}

uint64_t bm_histogram_left(const struct bm_histogram *h)
{
    uint64_t read = bm_dataset_bytes_read(h->step->ds) - h->before;

    if (!h->budget || h->budget->bytes == UINT64_MAX)
        return UINT64_MAX;
    return h->budget->bytes > read ? h->budget->bytes - read : 0;
}

/* ---- ranges ------------------------------------------------------------- */

/* Beyond a value by the slack, and by what rounding may take from that. */
static double beyond(double v, double slack, double direction)
{
    if (!(slack > 0) || !(v - v == 0))
        return v;
    return nextafter(v + copysign(slack, direction), direction);
}

struct bm_interval bm_histogram_interval(const struct bm_edges *e,
                                         const struct bouma_variable *v,
                                         const struct bm_range *range)
{
    union bm_scalar low = range->low, high = range->high;
    double slack;

    if (bm_type_is_float(v->type)) {
        slack = bm_variable_slack(v, range);
        low.f = beyond(low.f, slack, -INFINITY);
        high.f = beyond(high.f, slack, INFINITY);
    }
    return bm_interval_of(e, low, high);
}

/* The finite ones of a file's values of an attribute, or positions. */
static int finite_range(const struct bm_particle_summary *s,
                        const struct bouma_variable *v, int component,
                        struct bm_range *out)
{
    uint32_t row = bm_particle_row(s->set, v, component);

    if (v == s->set->variables[0] && s->count > s->strays)
        *out = (struct bm_range){
            {.f = s->low[component]}, {.f = s->high[component]}, 1, 0};
    else if (v != s->set->variables[0] && row < s->rows && s->bitmaps[row])
        *out = (struct bm_range){s->bins[row].low, s->bins[row].high, 1, 0};
    return out->count > 0;
}

/* Those of all files. */
static struct bm_range finite_values(const struct bouma_step *step,
                                     const struct bouma_variable *v,
                                     int component)
{
    const struct bm_file_tree *t =
        bm_manifest_file_tree(&step->manifest, v->object);
    struct bm_range all = {.count = 0};

    for (size_t i = 0; t && i < bm_file_tree_known(t); i++) {
        struct bm_range one = {.count = 0};

        if (finite_range(bm_file_tree_of_known(t, i), v, component, &one))
            bm_range_join(&all, v->type, &one);
    }
    return all;
}

static int is_finite(const struct bm_range *r, bouma_type type)
{
    return !bm_type_is_float(type) ||
           (fabs(r->low.f) <= DBL_MAX && fabs(r->high.f) <= DBL_MAX);
}

int bm_histogram_range(const struct bouma_variable *v, int component,
                       double *low, double *high)
{
    const struct bouma_step *step = v->object->schema->step;
    struct bm_range r = {.count = 0};
    double slack = 0;

    if (v->in_step.present)
        r = v->in_step.ranges[component];
    if (r.count && !is_finite(&r, v->type) && v->object->kind == BM_PARTICLES)
        r = finite_values(step, v, component);
    *low = 0;
    *high = 1;
    if (!r.count)
        return BOUMA_OK;
    if (!is_finite(&r, v->type))
        return bm_fail(&step->ds->error, BOUMA_EINVAL,
                       "\"%s/%s\" has infinite values, and the step does not "
                       "tell the range of the others: give the histogram 'low' "
                       "and 'high', or edges",
                       v->object->name, v->name);
    if (bm_type_is_float(v->type))
        slack = bm_variable_slack(v, &r);
    bm_edges_around(low, high, v->type, r.low, r.high);
    *low = beyond(*low, slack, -INFINITY);
    *high = beyond(*high, slack, INFINITY);
    return BOUMA_OK;
}

/* ---- the answer --------------------------------------------------------- */

static double edge_of(const struct bm_edges *e, size_t slot)
{
    return slot == 0          ? -INFINITY
           : slot == e->slots ? INFINITY
                              : e->edge[slot - 1];
}

static void tell_bin(bouma_bin *out, const struct bm_edges *e, size_t slot,
                     const struct bm_count *c)
{
    *out = (bouma_bin){edge_of(e, slot), edge_of(e, slot + 1), c->lower,
                       c->upper,         c->estimate,          c->error};
}

/* All slots and all that matches, from the index; or with a sample. */
static void tell(bouma_histogram *out, bouma_bin *bins,
                 const struct bm_histogram *h, const struct bm_seen *sample)
{
    const struct bm_tally *t = &h->tally;
    const struct bm_edges *e = &h->edges;
    struct bm_count all =
        bm_count_guess(t->all_lower, t->all_upper, t->all_estimate);

    if (sample)
        all = bm_count_sampled(&all, sample->matched, sample);
    out->all = (bouma_bin){-INFINITY, INFINITY,     all.lower,
                           all.upper, all.estimate, all.error};
    for (size_t s = 0; s < e->slots; s++) {
        uint64_t upper = t->upper[s] < all.upper ? t->upper[s] : all.upper;
        struct bm_count c = bm_count_guess(
            t->lower[s] < upper ? t->lower[s] : upper, upper, t->estimate[s]);

        if (sample)
            c = bm_count_sampled(&c, sample->counts[s], sample);
        tell_bin(s == 0              ? &out->below
                 : s == e->slots - 1 ? &out->above
                                     : &bins[s - 1],
                 e, s, &c);
    }
    out->points = h->points;
    out->bytes = bm_dataset_bytes_read(h->step->ds) - h->before;
}

void bm_histogram_tell_index(bouma_histogram *out, bouma_bin *bins,
                             const struct bm_histogram *h)
{
    out->basis = BOUMA_BASIS_INDEX;
    out->level = -1;
    tell(out, bins, h, NULL);
}

void bm_histogram_tell_sample(bouma_histogram *out, bouma_bin *bins,
                              const struct bm_histogram *h,
                              struct bm_seen sample)
{
    sample.counts = h->counts;
    sample.matched = h->points;
    out->basis = BOUMA_BASIS_SAMPLE;
    tell(out, bins, h, &sample);
}

void bm_histogram_tell_exact(bouma_histogram *out, bouma_bin *bins,
                             const struct bm_histogram *h)
{
    const struct bm_edges *e = &h->edges;
    double all = (double)h->points;

    out->basis = BOUMA_BASIS_EXACT;
    out->level = 0;
    out->limit = BOUMA_LIMIT_NONE;
    out->next_bytes = 0;
    out->all = (bouma_bin){-INFINITY, INFINITY, h->points, h->points, all, 0};
    for (size_t s = 0; s < e->slots; s++) {
        struct bm_count c = {h->counts[s], h->counts[s], (double)h->counts[s],
                             0};

        tell_bin(s == 0              ? &out->below
                 : s == e->slots - 1 ? &out->above
                                     : &bins[s - 1],
                 e, s, &c);
    }
    out->points = h->points;
    out->bytes = bm_dataset_bytes_read(h->step->ds) - h->before;
}
