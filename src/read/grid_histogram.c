/* grid_histogram.c -- how many samples of a grid have which values: bounds from
 * the ranges of patches, estimates from a coarse level, or all of them. */
#include <string.h>

#include "read/read_tiles.h"
#include "read/value_histogram.h"

/* ---- the index ---------------------------------------------------------- */

/* Samples of which a range is on record. */
struct known {
    const struct bm_range *range;
    uint64_t count;  /* in the box, NaN included */
    int whole;       /* they are all of those that the range is about */
    int exact_count; /* else there may be fewer */
};

/* 'nans' of 'count' may be NaN, and are if the range is about just these. */
static void add_known(struct bm_histogram *h, const struct known *k)
{
    struct bm_interval piece;
    struct bm_group g = {.piece = &piece, .map = 1, .share = 1, .numbers = 1};
    uint64_t nans = k->range->nans < k->count ? k->range->nans : k->count;
    uint64_t most = k->range->count < k->count ? k->range->count : k->count;
    uint64_t least = k->exact_count ? k->count - nans : 0;

    if (!k->range->count || !k->count)
        return;
    piece = bm_histogram_interval(&h->edges, h->variable, k->range);
    g.count = k->whole ? most : least;
    g.certain = 1;
    bm_tally_add(&h->tally, &g);
    if (k->whole)
        return;
    g.count = most - least;
    g.certain = 0;
    g.share = 0.5;
    bm_tally_add(&h->tally, &g);
}

/* The patches of a file that have samples in the box. 'at' has room for them. */
static void add_patches(struct bm_histogram *h, const struct bm_section *s,
                        const struct bm_box *box, const size_t *at, size_t n)
{
    const struct bm_object *o = h->variable->object;
    struct bm_chunking c = o->layout->chunking(o);
    size_t components = (size_t)h->variable->components;

    for (size_t i = 0; i < n; i++) {
        struct bm_footprint f =
            bm_chunking_footprint(&c, c.calls->find(c.own, s->keys[at[i]]));
        struct known k = {
            .range = &s->ranges[at[i] * components + (size_t)h->component],
            .count = bm_footprint_samples_in(&f, box),
            .exact_count = 1};

        k.whole = k.count == bm_footprint_samples(&f);
        add_known(h, &k);
    }
}

/* A file, or a sheet of files, of which only the manifest tells. */
static void add_file(struct bm_histogram *h, const struct bm_part_info *part,
                     const struct bm_box *common)
{
    struct known k = {.range = &part->ranges[h->component],
                      .count = bm_box_volume(common)};
    uint64_t all = k.range->count + k.range->nans;

    k.whole = bm_box_inside(&part->bounds, common);
    k.count = k.whole || k.count > all ? all : k.count;
    add_known(h, &k);
}

/* The files that are looked at. */
struct files {
    bouma_histogram *out;
    struct bm_histogram *h;
    const struct bm_box *box;
};

static int meets_box(void *context, const struct bm_part_info *part,
                     size_t first, size_t files)
{
    const struct files *all = context;
    struct bm_box common;

    (void)first;
    (void)files;
    return bm_box_meet(&common, &part->bounds, all->box);
}

/* Whether so many bytes may be read. If not, the manifest tells what there is.
 */
static int may_read(const struct files *all, uint64_t cost,
                    const struct bm_part_info *part)
{
    struct bm_box common;

    if (cost <= bm_histogram_left(all->h))
        return 1;
    all->out->limit = BOUMA_LIMIT_BYTES;
    all->out->next_bytes += cost;
    bm_box_meet(&common, &part->bounds, all->box);
    add_file(all->h, part, &common);
    return 0;
}

static int may_load(void *context, size_t sheet, const struct bm_part_info *sum)
{
    const struct files *all = context;

    return may_read(all, bm_step_sheet_cost(all->h->step, sheet), sum);
}

static int add_files(bouma_histogram *out, struct bm_histogram *h,
                     const struct bm_box *box, const uint64_t *keys,
                     size_t count, size_t *at)
{
    struct bouma_step *step = h->step;
    struct files all = {out, h, box};
    struct bm_file_walk walk = {.step = step,
                                .variable = h->variable->id,
                                .wants = meets_box,
                                .may_load = may_load,
                                .context = &all};
    int rc = bm_file_walk_next(&walk);

    for (; !rc && walk.part; rc = rc ? rc : bm_file_walk_next(&walk)) {
        uint64_t cost =
            bm_step_source_loaded(step, walk.file)
                ? 0
                : bm_manifest_record(&step->manifest, walk.file)->head_bytes;
        const struct bm_section *s;
        struct bm_source *source;

        if (!meets_box(&all, walk.part, 0, 1) ||
            !may_read(&all, cost, walk.part))
            continue;
        rc = bm_step_source(step, walk.file, &source);
        s = rc ? NULL : bm_head_section(&source->head, h->variable->id);
        if (s)
            add_patches(h, s, box, at, bm_section_common(s, keys, count, at));
    }
    return rc;
}

/* Coefficients have no ranges: all that is known is that of the variable. */
static void add_variable(struct bm_histogram *h, const struct bm_box *box)
{
    const struct bm_box *domain = &h->variable->object->domain;
    struct known k = {.range = &h->variable->in_step.ranges[h->component],
                      .count = bm_box_volume(box),
                      .whole = bm_box_inside(domain, box),
                      .exact_count = 1};

    add_known(h, &k);
}

static int go_through_index(bouma_histogram *out, struct bm_histogram *h,
                            const struct bm_box *box)
{
    const struct bm_object *o = h->variable->object;
    double all = (double)bm_box_volume(box);
    uint64_t *keys = NULL;
    size_t count = 0, *at = NULL;
    int rc = BOUMA_OK;

    if (bm_object_is_tiled(o)) {
        add_variable(h, box);
    } else {
        rc = bm_chunks_select(&keys, &count, o, box, 0);
        at = rc ? NULL : bm_new_raw(h->step->ds->a, count, sizeof(*at));
        if (!at)
            rc = bm_fail(&h->step->ds->error, BOUMA_ENOMEM,
                         "no memory for a histogram");
        if (!rc)
            rc = add_files(out, h, box, keys, count, at);
        bm_drop(h->step->ds->a, at);
        bm_drop(o->a, keys);
    }
    bm_tally_close(&h->tally, 0); /* NaN were left out */
    h->tally.all_lower = h->tally.all_upper = bm_box_volume(box);
    h->tally.all_estimate = all;
    return rc;
}

/* ---- samples ------------------------------------------------------------ */

static void add_samples(struct bm_histogram *h, const void *samples,
                        uint64_t count)
{
    const struct bouma_variable *v = h->variable;

    bm_histogram_add(h,
                     (const uint8_t *)samples +
                         (size_t)h->component * bm_variable_value_size(v),
                     (size_t)count, bm_variable_sample_size(v));
}

static int add_patch(void *user, const bouma_patch_info *patch, int level,
                     const bouma_selection *selection, const void *samples)
{
    struct bm_histogram *h = user;

    (void)patch;
    (void)level;
    add_samples(h, samples,
                selection->bytes / bm_variable_sample_size(h->variable));
    return 0;
}

static int read_all(bouma_histogram *out, bouma_bin *bins,
                    struct bm_histogram *h, const struct bm_box *box)
{
    bouma_patch_query query = {
        .size = sizeof(query), .each = add_patch, .user = h};
    int rc = bm_query(h->step, h->variable, &query, box);

    if (!rc)
        bm_histogram_tell_exact(out, bins, h);
    return rc;
}

/* The finest level that what is left of the budget allows. */
static int sample(bouma_histogram *out, bouma_bin *bins, struct bm_histogram *h,
                  const struct bm_box *box)
{
    struct bouma_refinement *r = bm_refinement_new(h->step, h->variable, box);
    struct bm_budget left = *h->budget;
    bouma_answer answer = {0};
    int rc = BOUMA_ENOMEM;

    left.bytes = bm_histogram_left(h);
    if (r)
        rc = bm_refinement_within(&answer, r, &left);
    if (rc == BOUMA_ELIMIT && answer.next_points) { /* not even one level */
        bm_error_clear(&h->step->ds->error);
        bm_histogram_tell_index(out, bins, h);
        rc = BOUMA_OK;
    } else if (!rc) {
        add_samples(h, r->data, answer.points);
        if (answer.complete)
            bm_histogram_tell_exact(out, bins, h);
        else
            bm_histogram_tell_sample(
                out, bins, h,
                (struct bm_seen){
                    .looked = answer.points,
                    .all = bm_box_volume(box),
                    .altered = h->variable->in_step.loss.largest > 0,
                    .averages = bm_variable_averages(h->variable)});
        out->level = answer.level;
    }
    out->limit = answer.limit;
    out->next_bytes = answer.next_bytes;
    bm_refinement_free(r);
    return rc;
}

int bm_grid_histogram(bouma_histogram *out, bouma_bin *bins,
                      struct bm_histogram *h, const struct bm_box *box)
{
    int rc;

    if (!bm_box_volume(box)) {
        bm_histogram_tell_exact(out, bins, h);
        return BOUMA_OK;
    }
    if (!h->budget && !h->index_only)
        return read_all(out, bins, h, box);
    rc = go_through_index(out, h, box);
    if (rc || !h->index_only)
        return rc ? rc : sample(out, bins, h, box);
    bm_histogram_tell_index(out, bins, h);
    return BOUMA_OK;
}
