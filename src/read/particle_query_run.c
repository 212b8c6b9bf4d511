/* particle_query_run.c -- from what is asked to what is looked at: columns,
 * tests, the box and the rows of bitmaps. */
#include <math.h>

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

static int is_empty(bouma_type type, union bm_scalar low, union bm_scalar high)
{
    if (bm_type_is_float(type))
        return !(low.f <= high.f);
    return type >= BOUMA_TYPE_U8 && type <= BOUMA_TYPE_U64 ? low.u > high.u
                                                           : low.i > high.i;
}

/* Positions must be from low to high along an axis. */
static void narrow(struct bm_query_question *q, int axis, double low,
                   double high)
{
    q->tree.boxed = 1;
    q->tree.low[axis] = fmax(q->tree.low[axis], low);
    q->tree.high[axis] = fmin(q->tree.high[axis], high);
    if (!(q->tree.low[axis] <= q->tree.high[axis]))
        q->never = 1;
}

static void add_test(struct bm_query_state *s, const struct bouma_variable *v,
                     int component, union bm_scalar low, union bm_scalar high)
{
    struct bm_query_question *q = &s->asked;
    int column = add_column(q, v);

    q->tested_count = q->column_count; /* nothing else is there yet */
    q->tests[q->test_count++] = (struct bm_query_test){
        column, component, v == s->set->variables[0], low, high};
    if (is_empty(v->type, low, high))
        q->never = 1;
    else if (v == s->set->variables[0])
        narrow(q, component, low.f, high.f);
    else {
        q->least[q->tree.rows] = low;
        q->most[q->tree.rows] = high;
        ((uint32_t *)q->tree.row)[q->tree.rows++] =
            bm_particle_row(s->set, v, component);
    }
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

/* Memory for it all, empty. BOUMA_OK or ENOMEM. */
static int make_room(struct bm_query_state *s)
{
    const bouma_allocator *a = s->step->ds->a;
    const struct bm_criteria *query = &s->query->query;
    struct bm_query_question *q = &s->asked;
    size_t tests = query->condition_count + 3;
    size_t columns = query->variable_count + query->condition_count + 1;
    uint32_t *row = bm_new(a, tests, sizeof(*row));

    q->tree.row = row;
    q->columns = bm_new(a, columns, sizeof(*q->columns));
    q->tests = bm_new(a, tests, sizeof(*q->tests));
    q->least = bm_new(a, tests, sizeof(*q->least));
    q->most = bm_new(a, tests, sizeof(*q->most));
    s->file.wanted = bm_new(a, tests, sizeof(*s->file.wanted));
    s->batch.tested.step = s->batch.others.step = s->step;
    s->batch.tested.shelf = s->batch.others.shelf = s->query->shelf;
    s->batch.tested.exact = s->batch.others.exact = s->query->exact;
    if (!row || !q->columns || !q->tests || !q->least || !q->most ||
        !s->file.wanted)
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

    if (make_room(s))
        return bm_query_no_memory(&s->step->ds->error);
    q->tree.closed = 7;
    for (int i = 0; i < 3; i++) {
        q->tree.low[i] = -INFINITY;
        q->tree.high[i] = INFINITY;
    }
    test_box(s);
    for (size_t i = 0; i < query->condition_count; i++)
        add_test(s, query->conditions[i].variable,
                 query->conditions[i].component, query->conditions[i].low,
                 query->conditions[i].high);
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
    bm_drop(a, (void *)q->tree.row);
    bm_drop(a, s->file.wanted);
    bm_drop(a, s->file.runs);
    bm_drop(a, b->pieces);
    bm_drop(a, b->first_piece);
    bm_drop(a, b->choices.data);
    bm_drop(a, b->keys.data);
    bm_drop(a, b->out.data);
    bm_drop(a, b->picked.data);
    bm_fetcher_release(&b->tested);
    bm_fetcher_release(&b->others);
    if (s->has_mutex)
        pthread_mutex_destroy(&s->keeping);
}
