/* particle_query_ranges.c -- what the table of chunks tells before anything of
 * them is read: which can have no match, and which tests all of their particles
 * pass. Ranges are exact, so nothing else need be asked. */
#include "read/particle_query.h"

int bm_query_in_order(bouma_type type, union bm_scalar low,
                      union bm_scalar high)
{
    if (bm_type_is_float(type))
        return low.f <= high.f;
    return type >= BOUMA_TYPE_U8 && type <= BOUMA_TYPE_U64 ? low.u <= high.u
                                                           : low.i <= high.i;
}

static const struct bm_range *range_of(const struct bm_query_state *s,
                                       size_t chunk,
                                       const struct bm_query_test *t,
                                       bouma_type *type)
{
    const struct bm_section *section = s->asked.columns[t->column].section;

    *type = section->variable->type;
    return &section->ranges[chunk * (size_t)section->variable->components +
                            (size_t)t->component];
}

static int some_pass(const struct bm_query_state *s, size_t chunk,
                     const struct bm_query_test *t)
{
    bouma_type type;
    const struct bm_range *r = range_of(s, chunk, t, &type);

    return r->count && bm_query_in_order(type, t->low, r->high) &&
           bm_query_in_order(type, r->low, t->high);
}

int bm_query_all_pass(const struct bm_query_state *s, size_t chunk,
                      const struct bm_query_test *t)
{
    bouma_type type;
    const struct bm_range *r = range_of(s, chunk, t, &type);

    return !r->nans && bm_query_in_order(type, t->low, r->low) &&
           bm_query_in_order(type, r->high, t->high);
}

static int some_pass_each(const struct bm_query_state *s, size_t chunk,
                          struct bm_query_tests tests)
{
    for (size_t i = tests.first; i < tests.first + tests.count; i++)
        if (!some_pass(s, chunk, &s->asked.tests[i]))
            return 0;
    return 1;
}

int bm_query_may_match(const struct bm_query_state *s, size_t chunk)
{
    const struct bm_query_question *q = &s->asked;
    size_t g = 0;

    if (!some_pass_each(s, chunk, q->common))
        return 0;
    while (g < q->group_count && !some_pass_each(s, chunk, q->groups[g]))
        g++;
    return !q->group_count || g < q->group_count;
}
