/* particle_histogram.c -- how many particles have which values: bounds from
 * trees and summaries, estimates from levels of detail, or all of them. */
#include <string.h>

#include "layout/sheet.h"
#include "layout/tree_tally.h"
#include "read/particle_query.h"
#include "read/particle_refine.h"
#include "read/value_histogram.h"

static int add_batch(void *context, const bouma_batch *batch)
{
    struct bm_histogram *h = context;
    size_t size = bm_variable_value_size(h->variable);
    const uint8_t *lane = batch->columns[0];

    bm_histogram_add(h, lane + (size_t)h->component * batch->count * size,
                     (size_t)batch->count, size);
    return 0;
}

/* ---- the index ---------------------------------------------------------- */

/* The index while it is gone through. */
struct index {
    struct bm_histogram *h;
    struct bm_query_state *s; /* the question */
    const struct bm_file_tree *files;
    const size_t *chosen; /* [count] of these */
    size_t count;
    uint64_t *nans; /* [rows of the question], of the file at hand */
};

/* What the manifest has of a file, or a sheet of files. */
struct piece {
    const struct bm_particle_summary *summary;
    const struct bm_subfile_info *info;
};

static const struct bm_range *
range_in(const struct piece *p, const struct bouma_variable *v, int component)
{
    const struct bm_part_info *part = bm_subfile_info_part(p->info, v->id);

    return part ? &part->ranges[component] : NULL;
}

/* The NaN that it has in the rows of conditions. */
static void find_nans(const struct index *x, const struct piece *p)
{
    const struct bm_query_question *q = &x->s->asked;

    for (size_t i = 0; i < q->rows; i++) {
        const struct bm_query_test *t = &q->tests[q->row_test[i]];
        const struct bm_range *r =
            range_in(p, q->columns[t->column].variable, t->component);

        x->nans[i] = r ? r->nans : 1;
    }
}

/* What reading the tree of a file takes. */
static uint64_t tree_cost(const struct index *x, size_t i)
{
    struct bouma_step *step = x->h->step;
    size_t subfile = bm_file_tree_subfile(x->files, x->chosen[i]);
    uint64_t bytes =
        bm_step_source_loaded(step, subfile)
            ? 0
            : bm_manifest_record(&step->manifest, subfile)->head_bytes;

    return bm_step_has_tree(step, subfile, x->s->set)
               ? 0
               : bytes +
                     bm_file_tree_summary(x->files, x->chosen[i])->tree_bytes;
}

static int load_tree(const struct index *x, size_t subfile,
                     const struct bm_tree **tree)
{
    const struct bm_summary_list *all;
    struct bm_source *source;
    size_t i = 0;
    int rc = bm_step_source(x->h->step, subfile, &source);

    if (rc)
        return rc;
    all = &source->head.summaries;
    while (i < all->count && all->entries[i]->object != x->s->set)
        i++;
    if (i == all->count)
        return bm_fail(&x->h->step->ds->error, BOUMA_EFORMAT,
                       "subfile %zu has not the particles that the manifest "
                       "says",
                       subfile);
    return bm_step_tree(x->h->step, subfile, i, tree);
}

/* Particles without a finite position are in no tree. */
static void add_strays(const struct index *x, uint64_t strays,
                       const struct bm_range *range, double numbers)
{
    const struct bm_query_question *q = &x->s->asked;
    struct bm_interval piece;
    struct bm_group g = {.piece = &piece,
                         .count = strays,
                         .certain = !q->test_count,
                         .share = q->test_count ? 0.5 : 1,
                         .numbers = numbers};

    if (!strays || x->s->query->query.boxed)
        return;
    g.map = range && range->count;
    if (g.map)
        piece = bm_histogram_interval(&x->h->edges, x->h->variable, range);
    bm_tally_add(&x->h->tally, &g);
}

/* With its tree, or NULL: by its summary alone. */
static int add_piece(const struct index *x, const struct piece *p,
                     const struct bm_tree *tree)
{
    struct bm_histogram *h = x->h;
    struct bm_query_question *q = &x->s->asked;
    const struct bm_particle_summary *summary = p->summary;
    const struct bm_range *range = range_in(p, h->variable, h->component);
    int is_position = h->variable == x->s->set->variables[0];
    double all = range ? (double)(range->count + range->nans) : 0;
    struct bm_tree_count count = {
        .axis = is_position ? h->component : -1,
        .row = is_position
                   ? 0
                   : bm_particle_row(x->s->set, h->variable, h->component),
        .numbers = all > 0 ? (double)range->count / all : 1,
        .query = q->trees,
        .least = q->least,
        .most = q->most,
        .nans = x->nans};
    struct bm_tree_of_one one;

    find_nans(x, p);
    bm_tree_of_summary(&one, summary, h->step->ds->a);
    if (!tree)
        tree = &one.tree;
    bm_query_ask_tree(x->s, tree);
    if (bm_tree_tally(&h->tally, tree, &count))
        return bm_query_no_memory(&h->step->ds->error);
    if (is_position) /* in the tree, all are finite */
        bm_tally_close(&h->tally, 0);
    add_strays(x, summary->strays, range, count.numbers);
    bm_tally_close(&h->tally, range ? range->nans : summary->count);
    return BOUMA_OK;
}

/* One file, with its tree or without. */
static int add_file(const struct index *x, size_t file, int with_tree)
{
    size_t subfile = bm_file_tree_subfile(x->files, file);
    struct piece p = {bm_file_tree_summary(x->files, file),
                      bm_manifest_record(&x->h->step->manifest, subfile)};
    const struct bm_tree *tree = NULL;
    int rc = with_tree ? load_tree(x, subfile, &tree) : BOUMA_OK;

    return rc ? rc : add_piece(x, &p, tree);
}

/* The sheets that the budget did not allow. */
static int add_sheets(const struct index *x, bouma_histogram *out)
{
    struct bouma_step *step = x->h->step;
    int rc = BOUMA_OK;

    for (size_t i = 0; i < x->files->sheet_count && !rc; i++) {
        const struct bm_file_tree_sheet *sheet = &x->files->sheets[i];
        struct piece p = {sheet->sum, &step->manifest.sheets[sheet->sheet].sum};
        uint64_t cost = bm_step_sheet_cost(step, sheet->sheet);

        if (!cost ||
            !bm_file_tree_sheet_matches(x->files, i, x->s->asked.files))
            continue;
        out->limit = BOUMA_LIMIT_BYTES;
        out->next_bytes += cost;
        rc = add_piece(x, &p, NULL);
    }
    return rc;
}

/* Whether the trees of all files can be read within half of the budget. */
static int trees_fit(const struct index *x)
{
    uint64_t left = bm_histogram_left(x->h) / 2;

    for (size_t i = 0; i < x->count; i++) {
        uint64_t cost = tree_cost(x, i);

        if (cost > left)
            return 0;
        left -= cost;
    }
    return 1;
}

/* All files: with 'index_only', the trees of as many as the budget allows; else
 * of all or of none. */
static int add_files(const struct index *x, bouma_histogram *out)
{
    int fit = x->h->index_only || trees_fit(x), rc = BOUMA_OK;

    for (size_t i = 0; i < x->count && !rc; i++) {
        uint64_t cost = tree_cost(x, i);
        int read = !cost || (fit && cost <= bm_histogram_left(x->h));

        if (!read) {
            out->limit = BOUMA_LIMIT_BYTES;
            out->next_bytes += cost;
        }
        rc = add_file(x, x->chosen[i], read);
    }
    return rc;
}

/* What the index tells of all particles that can match. */
static int go_through_index(bouma_histogram *out, struct bm_histogram *h,
                            struct bm_query_state *s)
{
    const bouma_allocator *a = h->step->ds->a;
    struct index x = {.h = h,
                      .s = s,
                      .files =
                          bm_manifest_file_tree(&h->step->manifest, s->set)};
    size_t *chosen = bm_new(a, x.files->files, sizeof(*chosen));
    struct bm_look look = {.limit = bm_histogram_left(h)};
    int rc = BOUMA_OK;

    x.nans = bm_new(a, s->asked.rows, sizeof(*x.nans));
    if (!chosen || !x.nans)
        rc = bm_query_no_memory(&h->step->ds->error);
    x.chosen = chosen;
    if (!rc)
        rc = bm_query_select_files(s, x.files, chosen, &x.count, &look);
    if (!rc)
        rc = add_files(&x, out);
    if (!rc)
        rc = add_sheets(&x, out);
    bm_drop(a, x.nans);
    bm_drop(a, chosen);
    return rc;
}

/* ---- particles ---------------------------------------------------------- */

/* As many levels of detail as what is left of the budget allows. */
static int sample(bouma_histogram *out, bouma_bin *bins, struct bm_histogram *h,
                  struct bm_object *set, const struct bm_criteria *criteria)
{
    struct bouma_particles_refinement *r =
        bm_particle_refinement_new(h->step, set, criteria);
    struct bm_budget left = *h->budget;
    struct bm_particle_levels levels;
    int rc;

    if (!r)
        return BOUMA_ENOMEM;
    left.bytes = bm_histogram_left(h);
    rc = bm_particle_refinement_pass(&levels, r, &left, add_batch, h);
    bm_particle_refinement_free(r);
    if (rc)
        return rc;
    if (levels.complete) {
        bm_histogram_tell_exact(out, bins, h);
        return BOUMA_OK;
    }
    if (levels.particles)
        bm_histogram_tell_sample(
            out, bins, h,
            (struct bm_seen){.looked = levels.particles, .all = levels.all});
    else
        bm_histogram_tell_index(out, bins, h);
    out->level = levels.level;
    out->limit = levels.limit;
    out->next_bytes = levels.next_bytes;
    return BOUMA_OK;
}

static int read_all(bouma_histogram *out, bouma_bin *bins,
                    struct bm_histogram *h, struct bm_particle_query *query)
{
    int rc;

    query->each = add_batch;
    query->context = h;
    rc = bm_particle_query(query);
    if (!rc)
        bm_histogram_tell_exact(out, bins, h);
    return rc;
}

int bm_particle_histogram(bouma_histogram *out, bouma_bin *bins,
                          struct bm_histogram *h,
                          const struct bm_criteria *criteria)
{
    struct bm_object *set = h->variable->object;
    struct bm_particle_query query = {
        .step = h->step, .set = set, .query = *criteria};
    struct bm_query_state s = {.query = &query, .step = h->step, .set = set};
    int never, rc;

    if (!h->budget && !h->index_only)
        return read_all(out, bins, h, &query);
    rc = bm_query_init(&s);
    never = s.asked.never;
    if (!rc && !never)
        rc = go_through_index(out, h, &s);
    bm_query_release(&s);
    if (rc)
        return rc;
    if (never)
        bm_histogram_tell_exact(out, bins, h);
    else if (h->index_only)
        bm_histogram_tell_index(out, bins, h);
    else
        return sample(out, bins, h, set, criteria);
    return BOUMA_OK;
}
