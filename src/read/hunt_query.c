/* hunt_query.c -- from what is asked to what is looked at: columns, tests, the
 * box and the rows of bitmaps. */
#include <math.h>

#include "read/hunt.h"

static int column_of(const struct bm_search *s, const struct bouma_variable *v)
{
    for (int i = 0; i < s->column_count; i++)
        if (s->columns[i].variable == v)
            return i;
    return -1;
}

static int add_column(struct bm_search *s, const struct bouma_variable *v)
{
    int at = column_of(s, v);

    if (at >= 0)
        return at;
    s->columns[s->column_count] =
        (struct bm_hunt_column){.variable = v, .out = -1};
    return s->column_count++;
}

/* The row of a tree's bitmaps that a component of an attribute is. */
static uint32_t row_of(const struct bm_object *set,
                       const struct bouma_variable *v, int component)
{
    uint32_t row = (uint32_t)component;

    for (int j = 1; set->variables[j] != v; j++)
        if (set->variables[j]->present)
            row += (uint32_t)set->variables[j]->components;
    return row;
}

static int is_empty(bouma_type type, bouma_scalar low, bouma_scalar high)
{
    if (bm_type_is_float(type))
        return !(low.f <= high.f);
    return type >= BOUMA_U8 && type <= BOUMA_U64 ? low.u > high.u
                                                 : low.i > high.i;
}

/* Positions must be from low to high along an axis. */
static void narrow(struct bm_search *s, int axis, double low, double high)
{
    s->tree.boxed = 1;
    s->tree.low[axis] = fmax(s->tree.low[axis], low);
    s->tree.high[axis] = fmin(s->tree.high[axis], high);
    if (!(s->tree.low[axis] <= s->tree.high[axis]))
        s->never = 1;
}

static void add_test(struct bm_search *s, const struct bouma_variable *v,
                     int component, bouma_scalar low, bouma_scalar high)
{
    int column = add_column(s, v);

    s->columns[column].tested = 1;
    s->tested_count = s->column_count; /* nothing else is there yet */
    s->tests[s->test_count++] = (struct bm_hunt_test){
        column, component, v == s->set->variables[0], low, high};
    if (is_empty(v->type, low, high))
        s->never = 1;
    else if (v == s->set->variables[0])
        narrow(s, component, low.f, high.f);
    else {
        s->least[s->tree.rows] = low;
        s->most[s->tree.rows] = high;
        ((uint32_t *)s->tree.row)[s->tree.rows++] =
            row_of(s->set, v, component);
    }
}

/* The box as tests of the position: a half-open end becomes the number before
 * it. */
static void test_box(struct bm_search *s)
{
    const bouma_particles_query *q = &s->hunt->query;

    for (int d = 0; d < s->set->ndims && q->boxed; d++) {
        bouma_scalar low = {.f = q->low[d]}, high = {.f = q->high[d]};

        if (!(q->closed >> d & 1))
            high.f = nextafter(high.f, -INFINITY);
        add_test(s, s->set->variables[0], d, low, high);
    }
}

int bm_search_init(struct bm_search *s)
{
    const bouma_allocator *a = s->step->ds->a;
    const bouma_particles_query *q = &s->hunt->query;
    size_t tests = q->condition_count + 3;
    size_t columns = q->variable_count + q->condition_count + 1;
    uint32_t *row = bm_new(a, tests, sizeof(*row));

    s->tree.row = row;
    s->columns = bm_new(a, columns, sizeof(*s->columns));
    s->out = bm_new(a, q->variable_count, sizeof(*s->out));
    s->tests = bm_new(a, tests, sizeof(*s->tests));
    s->wanted = bm_new(a, tests, sizeof(*s->wanted));
    s->least = bm_new(a, tests, sizeof(*s->least));
    s->most = bm_new(a, tests, sizeof(*s->most));
    s->places = bm_new(a, bm_bat_of(s->set)->detail.chunk, sizeof(*s->places));
    s->chosen = bm_new(a, bm_bat_of(s->set)->detail.chunk, sizeof(*s->chosen));
    s->in_run = bm_new(a, bm_bat_of(s->set)->detail.chunk, 1);
    if (!row || !s->columns || !s->out || !s->tests || !s->wanted ||
        !s->least || !s->most || !s->places || !s->chosen || !s->in_run)
        return bm_search_no_memory(s);
    s->tree.closed = 7;
    for (int d = 0; d < 3; d++) {
        s->tree.low[d] = -INFINITY;
        s->tree.high[d] = INFINITY;
    }
    test_box(s);
    for (size_t i = 0; i < q->condition_count; i++)
        add_test(s, q->conditions[i].variable, q->conditions[i].component,
                 q->conditions[i].low, q->conditions[i].high);
    for (size_t i = 0; i < q->variable_count; i++)
        s->columns[add_column(s, q->variables[i])].out = (int)i;
    s->out_count = (int)q->variable_count;
    s->t_from = bm_detail_threshold(&bm_bat_of(s->set)->detail, q->from);
    s->t_to = bm_detail_threshold(&bm_bat_of(s->set)->detail, q->quality);
    if (!(s->t_from < s->t_to))
        s->never = 1;
    return BOUMA_OK;
}

void bm_search_release(struct bm_search *s)
{
    const bouma_allocator *a = s->step->ds->a;

    for (int i = 0; i < s->column_count; i++) {
        bm_drop(a, s->columns[i].values.data);
        bm_drop(a, s->columns[i].picked.data);
    }
    bm_drop(a, s->columns);
    bm_drop(a, (void *)s->out);
    bm_drop(a, s->tests);
    bm_drop(a, s->wanted);
    bm_drop(a, s->least);
    bm_drop(a, s->most);
    bm_drop(a, (void *)s->tree.row);
    bm_drop(a, s->places);
    bm_drop(a, s->chosen);
    bm_drop(a, s->in_run);
    bm_drop(a, s->pieces);
    bm_drop(a, s->extents);
    bm_drop(a, (void *)s->data);
    bm_drop(a, s->bytes);
    bm_drop(a, s->choices);
    bm_drop(a, s->keys);
    bm_drop(a, s->runs);
    bm_drop(a, s->raw[0].data);
    bm_drop(a, s->raw[1].data);
    bm_codec_state_release(&s->codec);
}
