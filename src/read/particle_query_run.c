/* particle_query_run.c -- from what is asked to what is looked at: columns,
 * tests, and what trees are asked. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "read/particle_query.h"

static int column_of(const struct bm_query_question *q,
                     const struct bouma_variable *v)
{
    for (int i = 0; i < q->column_count; i++)
        if (q->columns[i].variable == v)
            return i;
    return -1;
}

static int add_column(struct bm_query_question *q,
                      const struct bouma_variable *v)
{
    int at = column_of(q, v);

    if (at >= 0)
        return at;
    q->columns[q->column_count] = (struct bm_query_column){
        .variable = v,
        .out = -1,
        .value_size = bm_variable_value_size(v),
        .sample_size = bm_variable_sample_size(v),
        .plain = bm_codec_find((int)v->codec)->sized &&
                 __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__};
    return q->column_count++;
}

/* Positions must be from low to high along an axis, too; false: none can be. */
static int narrow(struct bm_tree_query *tree, int axis, double low, double high)
{
    tree->boxed = 1;
    tree->low[axis] = fmax(tree->low[axis], low);
    tree->high[axis] = fmin(tree->high[axis], high);
    return tree->low[axis] <= tree->high[axis];
}

static void add_test(struct bm_query_state *s, const struct bouma_variable *v,
                     int component, union bm_scalar low, union bm_scalar high)
{
    struct bm_query_question *q = &s->asked;
    int column = add_column(q, v);

    q->tested_count = q->column_count; /* nothing else is there yet */
    q->tests[q->test_count++] = (struct bm_query_test){
        column, component, v == s->set->variables[0], low, high};
}

/* The box as tests of the position: a half-open end becomes the number before
 * it. */
static void test_box(struct bm_query_state *s)
{
    const struct bm_criteria *q = &s->query->query;

    for (int d = 0; d < s->set->ndims && q->boxed; d++) {
        union bm_scalar low = {.f = q->low[d]}, high = {.f = q->high[d]};

        if (!(q->closed >> d & 1))
            high.f = nextafter(high.f, -INFINITY);
        add_test(s, s->set->variables[0], d, low, high);
    }
}

/* The box, and the conditions: of the first group those that must hold in any
 * case. */
static void add_tests(struct bm_query_state *s)
{
    const struct bm_criteria *query = &s->query->query;
    struct bm_query_question *q = &s->asked;

    test_box(s);
    for (size_t i = 0; i < query->condition_count; i++) {
        const struct bm_condition *c = &query->conditions[i];

        add_test(s, c->variable, c->component, c->low, c->high);
        if (c->group == 0)
            continue;
        if (i == 0 || c->group != query->conditions[i - 1].group)
            q->groups[q->group_count++].first = q->test_count - 1;
        q->groups[q->group_count - 1].count++;
    }
    q->common.count = q->group_count ? q->groups[0].first : q->test_count;
}

/* ---- what trees are asked ------------------------------------------------ */

/* Let an alternative ask for what some tests ask; false: nothing can match. */
static int ask_tests(struct bm_query_state *s, struct bm_tree_query *tree,
                     struct bm_query_tests tests)
{
    struct bm_query_question *q = &s->asked;

    for (size_t i = tests.first; i < tests.first + tests.count; i++) {
        const struct bm_query_test *t = &q->tests[i];
        const struct bouma_variable *v = q->columns[t->column].variable;

        if (!bm_query_in_order(v->type, t->low, t->high))
            return 0;
        if (t->of_position) {
            if (!narrow(tree, t->component, t->low.f, t->high.f))
                return 0;
            continue;
        }
        q->least[q->rows] = t->low;
        q->most[q->rows] = t->high;
        q->row_test[q->rows] = i;
        q->row[q->rows++] = bm_particle_row(s->set, v, t->component);
        tree->rows++;
    }
    return 1;
}

/* One alternative more: the common tests, and those of a group; false: nothing
 * can match, and there is none. */
static int add_tree(struct bm_query_state *s, struct bm_query_tests group)
{
    struct bm_query_question *q = &s->asked;
    struct bm_tree_query *tree = &q->trees[q->tree_count];
    struct bm_file_tree_query *file = &q->files[q->tree_count];
    size_t before = q->rows;

    *tree = (struct bm_tree_query){
        .closed = 7, .row = q->row + before, .wanted = s->file.wanted + before};
    for (int i = 0; i < 3; i++) {
        tree->low[i] = -INFINITY;
        tree->high[i] = INFINITY;
    }
    if (!ask_tests(s, tree, q->common) || !ask_tests(s, tree, group)) {
        q->rows = before;
        return 0;
    }
    /* Positions that are not finite, and in no box, can meet conditions. */
    *file = (struct bm_file_tree_query){.boxed = tree->boxed &&
                                                 s->query->query.boxed,
                                        .closed = 7,
                                        .row = tree->row,
                                        .least = q->least + before,
                                        .most = q->most + before,
                                        .rows = tree->rows};
    memcpy(file->low, tree->low, sizeof(file->low));
    memcpy(file->high, tree->high, sizeof(file->high));
    if (q->tree_count) {
        tree[-1].next = tree;
        file[-1].next = file;
    }
    q->tree_count++;
    return 1;
}

/* Groups that nothing can match are dropped: a run that lies in the boxes of all
 * alternatives is not tested for positions in any group. */
static void add_trees(struct bm_query_state *s)
{
    struct bm_query_question *q = &s->asked;
    size_t groups = q->group_count;

    q->group_count = 0;
    for (size_t i = 0; i < groups; i++)
        if (add_tree(s, q->groups[i]))
            q->groups[q->group_count++] = q->groups[i];
    if (!groups)
        add_tree(s, (struct bm_query_tests){0});
    q->never = !q->tree_count || s->query->query.never;
}

void bm_query_ask_tree(struct bm_query_state *s, const struct bm_tree *tree)
{
    const struct bm_query_question *q = &s->asked;

    for (size_t i = 0; i < q->rows; i++)
        s->file.wanted[i] =
            bm_bins_select(&tree->bins[q->row[i]], q->least[i], q->most[i]);
}

/* ---- memory ---------------------------------------------------------------- */

#define SPARE_BYTES ((size_t)8 << 20) /* of a block, that is kept */

static void list_blocks(struct bm_query_batch *b,
                        struct bm_block_of_memory *blocks[BM_SPARE_BLOCKS])
{
    struct bm_block_of_memory *own[] = {&b->by_level, &b->choices, &b->keys,
                                        &b->out, &b->picked};
    int n = 0;

    for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
        blocks[n++] = own[i];
    for (int i = 0; i < 3; i++) {
        blocks[n++] = &b->tested.room[i];
        blocks[n++] = &b->others.room[i];
    }
    assert(n == BM_SPARE_BLOCKS);
}

/* Memory is kept by the step from one query to the next: new memory costs as
 * much as what is read into it. A query within a query has its own. */
static void take_memory(struct bm_query_state *s)
{
    struct bm_block_of_memory *blocks[BM_SPARE_BLOCKS];

    list_blocks(&s->batch, blocks);
    for (int i = 0; i < BM_SPARE_BLOCKS; i++) {
        *blocks[i] = s->step->spare[i];
        s->step->spare[i] = (struct bm_block_of_memory){0};
    }
}

static void give_memory(struct bm_query_state *s)
{
    struct bm_block_of_memory *blocks[BM_SPARE_BLOCKS];

    list_blocks(&s->batch, blocks);
    for (int i = 0; i < BM_SPARE_BLOCKS; i++) {
        struct bm_block_of_memory *spare = &s->step->spare[i];

        if (spare->data || blocks[i]->bytes > SPARE_BYTES)
            bm_drop(s->step->ds->a, blocks[i]->data);
        else
            *spare = *blocks[i];
        *blocks[i] = (struct bm_block_of_memory){0};
    }
}

/* ---- all of it ----------------------------------------------------------- */

/* How many groups there are, and conditions that are in none. */
static size_t count_groups(const struct bm_criteria *query, size_t *common)
{
    size_t groups = 0, n = query->condition_count;

    *common = 0;
    for (size_t i = 0; i < n; i++) {
        *common += query->conditions[i].group == 0;
        groups += query->conditions[i].group &&
                  (i == 0 || query->conditions[i].group !=
                                 query->conditions[i - 1].group);
    }
    return groups;
}

/* Memory for it all, empty. BOUMA_OK or ENOMEM. */
static int make_room(struct bm_query_state *s)
{
    const bouma_allocator *a = s->step->ds->a;
    const struct bm_criteria *query = &s->query->query;
    struct bm_query_question *q = &s->asked;
    size_t common, groups = count_groups(query, &common);
    size_t trees = groups ? groups : 1;
    size_t tests = query->condition_count + 3;
    size_t columns = query->variable_count + query->condition_count + 1;
    size_t rows = query->condition_count + trees * common;

    q->columns = bm_new(a, columns, sizeof(*q->columns));
    q->tests = bm_new(a, tests, sizeof(*q->tests));
    q->groups = bm_new(a, groups, sizeof(*q->groups));
    q->trees = bm_new(a, trees, sizeof(*q->trees));
    q->files = bm_new(a, trees, sizeof(*q->files));
    q->row = bm_new(a, rows, sizeof(*q->row));
    q->least = bm_new(a, rows, sizeof(*q->least));
    q->most = bm_new(a, rows, sizeof(*q->most));
    q->row_test = bm_new(a, rows, sizeof(*q->row_test));
    s->file.wanted = bm_new(a, rows, sizeof(*s->file.wanted));
    s->batch.tested.step = s->batch.others.step = s->step;
    s->batch.tested.shelf = s->batch.others.shelf = s->query->shelf;
    s->batch.tested.exact = s->batch.others.exact = s->query->exact;
    if (!q->columns || !q->tests || !q->groups || !q->trees || !q->files ||
        !q->row || !q->least || !q->most || !q->row_test || !s->file.wanted)
        return BOUMA_ENOMEM;
    s->has_mutex = s->query->values && !pthread_mutex_init(&s->keeping, NULL);
    return s->query->values && !s->has_mutex ? BOUMA_ENOMEM : BOUMA_OK;
}

/* The i-th variable that is wanted. */
static void hand_over(struct bm_query_question *q,
                      const struct bm_criteria *query, int i)
{
    struct bm_query_column *c = &q->columns[add_column(q, query->variables[i])];

    c->out = i;
    c->woven = query->order == BOUMA_COMPONENT_ORDER_INTERLEAVED &&
               c->variable->components > 1;
}

int bm_query_init(struct bm_query_state *s)
{
    const struct bm_criteria *query = &s->query->query;
    const struct bm_detail *d = &bm_bat_of(s->set)->detail;
    struct bm_query_question *q = &s->asked;

    take_memory(s);
    if (make_room(s))
        return bm_query_no_memory(&s->step->ds->error);
    add_tests(s);
    add_trees(s);
    for (size_t i = 0; i < query->variable_count; i++)
        hand_over(q, query, (int)i);
    q->out_count = (int)query->variable_count;
    q->t_from = bm_detail_threshold(d, query->from);
    q->t_to = bm_detail_threshold(d, query->quality);
    if (!(q->t_from < q->t_to))
        q->never = 1;
    return BOUMA_OK;
}

void bm_query_release(struct bm_query_state *s)
{
    const bouma_allocator *a = s->step->ds->a;
    struct bm_query_question *q = &s->asked;
    struct bm_query_batch *b = &s->batch;

    bm_drop(a, q->columns);
    bm_drop(a, q->tests);
    bm_drop(a, q->least);
    bm_drop(a, q->most);
    bm_drop(a, q->groups);
    bm_drop(a, q->trees);
    bm_drop(a, q->files);
    bm_drop(a, q->row);
    bm_drop(a, q->row_test);
    bm_drop(a, s->file.wanted);
    bm_drop(a, s->file.runs);
    bm_drop(a, b->pieces);
    bm_drop(a, b->first_piece);
    give_memory(s);
    if (s->has_mutex)
        pthread_mutex_destroy(&s->keeping);
}
