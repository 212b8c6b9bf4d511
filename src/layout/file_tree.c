/* file_tree.c -- see file_tree.h; docs/format.md has its bytes. */
#include "layout/file_tree.h"

#include <math.h>
#include <string.h>

#include "base/search.h"

void bm_file_tree_init(struct bm_file_tree *t, const bouma_allocator *a,
                       const struct bm_object *set)
{
    memset(t, 0, sizeof(*t));
    t->a = a;
    t->set = set;
}

void bm_file_tree_release(struct bm_file_tree *t)
{
    if (!t->a)
        return;
    bm_drop(t->a, t->summaries);
    bm_drop(t->a, t->subfiles);
    bm_drop(t->a, t->nodes);
    bm_drop(t->a, t->bins);
    bm_drop(t->a, t->bitmaps);
    for (size_t i = 0; i < t->sheet_count; i++) {
        bm_drop(t->a, t->sheets[i].summaries);
        bm_drop(t->a, t->sheets[i].subfiles);
    }
    bm_drop(t->a, t->sheets);
    memset(t, 0, sizeof(*t));
}

int bm_file_tree_add_file(struct bm_file_tree *t,
                          const struct bm_particle_summary *summary,
                          size_t subfile)
{
    const struct bm_particle_summary **summaries =
        bm_grow(t->a, t->summaries, t->files, sizeof(*summaries));
    size_t *subfiles;

    if (!summaries)
        return BOUMA_ENOMEM;
    t->summaries = summaries;
    subfiles = bm_grow(t->a, t->subfiles, t->files, sizeof(*subfiles));
    if (!subfiles)
        return BOUMA_ENOMEM;
    t->subfiles = subfiles;
    summaries[t->files] = summary;
    subfiles[t->files++] = subfile;
    return BOUMA_OK;
}

/* ---- sheets --------------------------------------------------------------- */

int bm_file_tree_add_sheet(struct bm_file_tree *t, size_t sheet,
                           const struct bm_particle_summary *sum, size_t files)
{
    struct bm_file_tree_sheet *grown;

    if (t->sheet_count) {
        const struct bm_particle_summary *first = t->sheets[0].sum;

        if (sum->rows != first->rows ||
            (sum->rows &&
             memcmp(sum->types, first->types, sum->rows * sizeof(*sum->types))))
            return BOUMA_EFORMAT;
    }
    grown = bm_grow(t->a, t->sheets, t->sheet_count, sizeof(*grown));
    if (!grown)
        return BOUMA_ENOMEM;
    t->sheets = grown;
    grown[t->sheet_count++] = (struct bm_file_tree_sheet){
        .sheet = sheet, .first = t->files, .count = files, .sum = sum};
    t->files += files;
    t->rows = sum->rows;
    return BOUMA_OK;
}

/* That with the number 'sheet', which is there. */
static struct bm_file_tree_sheet *find_sheet(const struct bm_file_tree *t,
                                             size_t sheet)
{
    size_t at = 0;

    BM_BISECT(at, t->sheet_count, i, t->sheets[i].sheet <= sheet);
    return &t->sheets[at];
}

int bm_file_tree_open_sheet(struct bm_file_tree *t, size_t sheet)
{
    struct bm_file_tree_sheet *s = find_sheet(t, sheet);

    s->shown = 0;
    if (!s->summaries)
        s->summaries = bm_new(t->a, s->count, sizeof(*s->summaries));
    if (!s->subfiles)
        s->subfiles = bm_new(t->a, s->count, sizeof(*s->subfiles));
    return s->summaries && s->subfiles ? BOUMA_OK : BOUMA_ENOMEM;
}

void bm_file_tree_show_file(struct bm_file_tree *t, size_t sheet,
                            const struct bm_particle_summary *summary,
                            size_t subfile)
{
    struct bm_file_tree_sheet *s = find_sheet(t, sheet);

    s->summaries[s->shown] = summary;
    s->subfiles[s->shown++] = subfile;
}

void bm_file_tree_close_sheet(struct bm_file_tree *t, size_t sheet)
{
    struct bm_file_tree_sheet *s = find_sheet(t, sheet);

    bm_drop(t->a, s->summaries);
    bm_drop(t->a, s->subfiles);
    s->summaries = NULL;
    s->subfiles = NULL;
    s->shown = 0;
}

const struct bm_file_tree_sheet *
bm_file_tree_sheet_of(const struct bm_file_tree *t, size_t f)
{
    size_t at = 0;

    BM_BISECT(at, t->sheet_count, i, t->sheets[i].first <= f);
    return &t->sheets[at];
}

const struct bm_particle_summary *
bm_file_tree_summary(const struct bm_file_tree *t, size_t f)
{
    const struct bm_file_tree_sheet *s;

    if (!t->sheet_count)
        return t->summaries[f];
    s = bm_file_tree_sheet_of(t, f);
    return s->summaries[f - s->first];
}

size_t bm_file_tree_subfile(const struct bm_file_tree *t, size_t f)
{
    const struct bm_file_tree_sheet *s;

    if (!t->sheet_count)
        return t->subfiles[f];
    s = bm_file_tree_sheet_of(t, f);
    return s->subfiles[f - s->first];
}

size_t bm_file_tree_known(const struct bm_file_tree *t)
{
    return t->sheet_count ? t->sheet_count : t->files;
}

const struct bm_particle_summary *
bm_file_tree_of_known(const struct bm_file_tree *t, size_t i)
{
    return t->sheet_count ? t->sheets[i].sum : t->summaries[i];
}

/* ---- the tree ----------------------------------------------------------- */

/* Whether nodes[count] are a binary tree in preorder whose leaves are the files
 * 0, 1, 2 ...: a walk that always knows where the next right child must be. */
static int is_tree(const struct bm_file_tree *t)
{
    size_t files = 0, open = 1; /* subtrees that are still to come */

    for (size_t i = 0; i < t->node_count; i++) {
        const struct bm_file_tree_node *n = &t->nodes[i];

        if (!open)
            return 0;
        if (n->right) {
            if (n->right <= i + 1 || n->right >= t->node_count ||
                n->axis < -1 || n->axis >= t->set->ndims || isnan(n->split))
                return 0;
            open++;
        } else {
            if (n->file != files || n->axis != -1)
                return 0;
            files++;
            open--;
        }
    }
    if (open || files != t->files)
        return 0;
    /* From behind, the size of each subtree is known: right children must be
     * where the left ones end. The sizes are kept in 'count' meanwhile. */
    for (size_t i = t->node_count; i-- > 0;) {
        struct bm_file_tree_node *n = &t->nodes[i];

        n->count = 1;
        if (!n->right)
            continue;
        if (n->right != i + 1 + t->nodes[i + 1].count)
            return 0;
        n->count += t->nodes[i + 1].count + t->nodes[n->right].count;
    }
    return 1;
}

/* Of all files, the same variables; the bins over all of their ranges. */
static int make_bins(struct bm_file_tree *t)
{
    t->rows = t->files ? t->summaries[0]->rows : 0;
    t->bins = bm_new(t->a, t->rows, sizeof(*t->bins));
    if (!t->bins)
        return BOUMA_ENOMEM;
    for (size_t f = 0; f < t->files; f++)
        if (t->summaries[f]->rows != t->rows ||
            (t->rows && memcmp(t->summaries[f]->types, t->summaries[0]->types,
                               t->rows * sizeof(*t->summaries[f]->types))))
            return BOUMA_EFORMAT;
    for (uint32_t i = 0; i < t->rows; i++) {
        bouma_type type = t->summaries[0]->types[i];
        struct bm_range all = {{0}, {0}, 0, 0};
        int finite = 1;

        for (size_t f = 0; f < t->files; f++) {
            const struct bm_particle_summary *c = t->summaries[f];
            struct bm_range one = {c->bins[i].low, c->bins[i].high, 1, 0};

            if (c->bitmaps[i]) /* else it has no values, and no range */
                bm_range_join(&all, type, &one);
            finite &= c->bins[i].finite;
        }
        bm_bins_init(&t->bins[i], type, all.low, all.high);
        t->bins[i].finite = finite;
    }
    return BOUMA_OK;
}

static void fill_leaf(struct bm_file_tree *t, size_t i)
{
    struct bm_file_tree_node *n = &t->nodes[i];
    const struct bm_particle_summary *c = t->summaries[n->file];

    n->count = c->count;
    for (int d = 0; d < t->set->ndims; d++) {
        n->low[d] = c->strays < c->count ? c->low[d] : INFINITY;
        n->high[d] = c->strays < c->count ? c->high[d] : -INFINITY;
    }
    for (uint32_t r = 0; r < t->rows; r++)
        t->bitmaps[i * t->rows + r] =
            bm_bins_remap(&c->bins[r], c->bitmaps[r], &t->bins[r]);
}

static void fill_inner(struct bm_file_tree *t, size_t i)
{
    struct bm_file_tree_node *n = &t->nodes[i];
    const struct bm_file_tree_node *left = n + 1, *right = &t->nodes[n->right];

    n->count = left->count + right->count;
    for (int d = 0; d < t->set->ndims; d++) {
        n->low[d] = fmin(left->low[d], right->low[d]);
        n->high[d] = fmax(left->high[d], right->high[d]);
    }
    for (uint32_t r = 0; r < t->rows; r++)
        t->bitmaps[i * t->rows + r] = t->bitmaps[(i + 1) * t->rows + r] |
                                      t->bitmaps[n->right * t->rows + r];
}

/* With the nodes there: check them, and fill in what follows. */
static int complete(struct bm_file_tree *t)
{
    int rc = make_bins(t);

    if (!rc && t->node_count && !is_tree(t))
        rc = BOUMA_EFORMAT;
    if (rc)
        return rc;
    t->bitmaps = bm_new(t->a, t->node_count * t->rows, sizeof(*t->bitmaps));
    if (!t->bitmaps)
        return BOUMA_ENOMEM;
    for (size_t i = t->node_count; i-- > 0;)
        if (t->nodes[i].right)
            fill_inner(t, i);
        else
            fill_leaf(t, i);
    return BOUMA_OK;
}

int bm_file_tree_make(struct bm_file_tree *t,
                      const struct bm_aggregation_node *nodes, size_t count)
{
    t->nodes = bm_new(t->a, count, sizeof(*t->nodes));
    if (!t->nodes)
        return BOUMA_ENOMEM;
    t->node_count = count;
    for (size_t i = 0; i < count; i++)
        t->nodes[i] = (struct bm_file_tree_node){.right = nodes[i].right,
                                                 .file = nodes[i].file,
                                                 .axis = nodes[i].axis,
                                                 .split = nodes[i].split};
    return complete(t);
}

/* ---- bytes -------------------------------------------------------------- */

void bm_file_tree_encode(struct bm_buffer *b, const struct bm_file_tree *t)
{
    bm_put_u64(b, t->node_count);
    for (size_t i = 0; i < t->node_count; i++) {
        const struct bm_file_tree_node *n = &t->nodes[i];

        bm_put_u32(b, n->right);
        bm_put_u32(b, n->file);
        bm_put_u32(b, (uint32_t)(n->axis + 1));
        bm_put_f64(b, n->split);
        for (uint32_t r = 0; r < t->rows; r++)
            bm_put_u32(b, t->bitmaps[i * t->rows + r]);
    }
}

int bm_file_tree_decode(struct bm_file_tree *t, struct bm_cursor *c)
{
    size_t count = bm_get_count(c, 20);
    struct bm_cursor again = *c;
    uint32_t rows = t->files ? t->summaries[0]->rows : 0;
    int rc;

    if (c->failed || count > 2 * t->files)
        return BOUMA_EFORMAT;
    t->nodes = bm_new(t->a, count, sizeof(*t->nodes));
    if (!t->nodes)
        return BOUMA_ENOMEM;
    t->node_count = count;
    for (size_t i = 0; i < count; i++) {
        struct bm_file_tree_node *n = &t->nodes[i];
        uint32_t axis;

        n->right = bm_get_u32(c);
        n->file = bm_get_u32(c);
        axis = bm_get_u32(c);
        n->axis = axis <= 3 ? (int)axis - 1 : 3;
        n->split = bm_get_f64(c);
        bm_get_bytes(c, 4 * (size_t)rows);
    }
    if (c->failed)
        return BOUMA_EFORMAT;
    rc = complete(t);
    /* The bitmaps follow from the files: they must be what they are. */
    for (size_t i = 0; i < count && !rc; i++) {
        bm_get_bytes(&again, 20);
        for (uint32_t r = 0; r < rows && !rc; r++)
            if (bm_get_u32(&again) != t->bitmaps[i * rows + r])
                rc = BOUMA_EFORMAT;
    }
    return rc;
}

/* ---- queries ------------------------------------------------------------ */

static int meets(const struct bm_file_tree_query *q, int ndims,
                 const double *low, const double *high)
{
    for (int d = 0; d < ndims; d++)
        if (!(high[d] >= q->low[d]) ||
            !(q->closed >> d & 1 ? low[d] <= q->high[d] : low[d] < q->high[d]))
            return 0;
    return 1;
}

/* Whether a file can match, by what is known of it. */
static int file_matches(const struct bm_particle_summary *c,
                        const struct bm_file_tree_query *q)
{
    if (q->boxed &&
        (c->strays == c->count || !meets(q, c->set->ndims, c->low, c->high)))
        return 0;
    if (c->strays) /* they are in no bitmap */
        return 1;
    for (size_t i = 0; i < q->rows; i++)
        if (!(c->bitmaps[q->row[i]] &
              bm_bins_select(&c->bins[q->row[i]], q->least[i], q->most[i])))
            return 0;
    return 1;
}

static int node_matches(const struct bm_file_tree *t, size_t i,
                        const struct bm_file_tree_query *q, int strays)
{
    const struct bm_file_tree_node *n = &t->nodes[i];

    if (q->boxed && !meets(q, t->set->ndims, n->low, n->high))
        return 0;
    for (size_t k = 0; k < q->rows && !strays; k++)
        if (!(t->bitmaps[i * t->rows + q->row[k]] &
              bm_bins_select(&t->bins[q->row[k]], q->least[k], q->most[k])))
            return 0;
    return 1;
}

static int any_matches_file(const struct bm_particle_summary *c,
                            const struct bm_file_tree_query *q)
{
    while (q && !file_matches(c, q))
        q = q->next;
    return q != NULL;
}

static int any_matches_node(const struct bm_file_tree *t, size_t i,
                            const struct bm_file_tree_query *q, int strays)
{
    while (q && !node_matches(t, i, q, strays))
        q = q->next;
    return q != NULL;
}

int bm_file_tree_sheet_matches(const struct bm_file_tree *t, size_t i,
                               const struct bm_file_tree_query *query)
{
    return any_matches_file(t->sheets[i].sum, query);
}

static size_t select_in_sheets(const struct bm_file_tree *t,
                               const struct bm_file_tree_query *query,
                               size_t *files)
{
    size_t n = 0;

    for (size_t i = 0; i < t->sheet_count; i++) {
        const struct bm_file_tree_sheet *s = &t->sheets[i];

        if (!s->summaries || !bm_file_tree_sheet_matches(t, i, query))
            continue;
        for (size_t f = 0; f < s->count; f++)
            if (any_matches_file(s->summaries[f], query))
                files[n++] = s->first + f;
    }
    return n;
}

size_t bm_file_tree_select(const struct bm_file_tree *t,
                           const struct bm_file_tree_query *query,
                           size_t *files)
{
    size_t n = 0;
    int strays = 0;

    if (t->sheet_count)
        return select_in_sheets(t, query, files);
    if (!t->node_count) {
        for (size_t f = 0; f < t->files; f++)
            if (any_matches_file(t->summaries[f], query))
                files[n++] = f;
        return n;
    }
    for (size_t f = 0; f < t->files; f++)
        strays |= t->summaries[f]->strays > 0;
    /* In preorder a subtree that cannot match is left out by going to where it
     * ends: behind its last leaf, which is that of its rightmost child. */
    for (size_t i = 0; i < t->node_count;) {
        const struct bm_file_tree_node *node = &t->nodes[i];

        if (!any_matches_node(t, i, query, strays)) {
            while (t->nodes[i].right)
                i = t->nodes[i].right;
        } else if (!node->right &&
                   any_matches_file(t->summaries[node->file], query)) {
            files[n++] = node->file;
        }
        i++;
    }
    return n;
}
