/* where_groups.c -- see where_groups.h. */
#include "base/where_groups.h"

#include <string.h>

#include "base/where_number.h"

/* By variable, then by component. */
static int compare(const struct bm_where_range *a,
                   const struct bm_where_range *b)
{
    if (a->variable != b->variable)
        return a->variable < b->variable ? -1 : 1;
    return (a->component > b->component) - (a->component < b->component);
}

/* Whether all that meets the ranges is in the group, too. */
static bool is_within(const struct bm_where_range *ranges, size_t count,
                      const struct bm_where_group *group,
                      const struct bm_where_variable *variables)
{
    size_t at = 0;

    for (size_t i = 0; i < group->count; i++) {
        const struct bm_where_range *limit = &group->ranges[i];

        while (at < count && compare(&ranges[at], limit) < 0)
            at++;
        if (at == count || compare(&ranges[at], limit) > 0 ||
            !bm_where_within(variables[limit->variable].type, ranges[at].low,
                             ranges[at].high, limit->low, limit->high))
            return false;
    }
    return true;
}

/* Drop the groups that a new one has all of. */
static void drop_within(struct bm_where *to,
                        const struct bm_where_variable *variables,
                        const struct bm_where_group *new)
{
    size_t kept = 0;

    for (size_t i = 0; i < to->count; i++) {
        struct bm_where_group *group = &to->groups[i];

        if (is_within(group->ranges, group->count, new, variables)) {
            to->ranges -= group->count;
            bm_drop(to->a, group->ranges);
        } else {
            to->groups[kept++] = *group;
        }
    }
    to->count = kept;
}

int bm_where_add(struct bm_where *to, const struct bm_where_variable *variables,
                 const struct bm_where_range *ranges, size_t count)
{
    struct bm_where_group group = {.count = count}, *groups;

    for (size_t i = 0; i < to->count; i++)
        if (is_within(ranges, count, &to->groups[i], variables))
            return BOUMA_OK;
    group.ranges = bm_new(to->a, count, sizeof(*ranges));
    if (!group.ranges)
        return BOUMA_ENOMEM;
    memcpy(group.ranges, ranges, count * sizeof(*ranges));
    drop_within(to, variables, &group);
    groups = bm_grow(to->a, to->groups, to->count, sizeof(*groups));
    if (groups)
        to->groups = groups;
    if (!groups || to->count == BM_WHERE_GROUPS ||
        to->ranges + count > BM_WHERE_RANGES) {
        bm_drop(to->a, group.ranges);
        return groups ? BOUMA_ELIMIT : BOUMA_ENOMEM;
    }
    groups[to->count++] = group;
    to->ranges += count;
    return BOUMA_OK;
}

int bm_where_or(struct bm_where *to, const struct bm_where_variable *variables,
                const struct bm_where *other)
{
    int rc = BOUMA_OK;

    for (size_t i = 0; i < other->count && !rc; i++)
        rc = bm_where_add(to, variables, other->groups[i].ranges,
                          other->groups[i].count);
    return rc;
}

/* The ranges of both groups into out[], which has room for all; gives their
 * number, or 0: they have nothing in common. */
static size_t join(struct bm_where_range *out, const struct bm_where_group *a,
                   const struct bm_where_group *b,
                   const struct bm_where_variable *variables)
{
    size_t i = 0, k = 0, n = 0;

    while (i < a->count || k < b->count) {
        int order = i == a->count   ? 1
                    : k == b->count ? -1
                                    : compare(&a->ranges[i], &b->ranges[k]);

        out[n] = order <= 0 ? a->ranges[i] : b->ranges[k];
        if (order == 0 &&
            !bm_where_intersect(variables[out[n].variable].type, &out[n].low,
                                &out[n].high, b->ranges[k].low,
                                b->ranges[k].high))
            return 0;
        i += order <= 0;
        k += order >= 0;
        n++;
    }
    return n;
}

int bm_where_and(struct bm_where *to, const struct bm_where_variable *variables,
                 const struct bm_where *other)
{
    struct bm_where both = {.a = to->a};
    struct bm_where_range *room =
        bm_new(to->a, to->ranges + other->ranges, sizeof(*room));
    int rc = room ? BOUMA_OK : BOUMA_ENOMEM;

    for (size_t i = 0; i < to->count && !rc; i++)
        for (size_t k = 0; k < other->count && !rc; k++) {
            size_t n = join(room, &to->groups[i], &other->groups[k], variables);

            if (n)
                rc = bm_where_add(&both, variables, room, n);
        }
    bm_drop(to->a, room);
    bm_where_release(to);
    *to = both;
    return rc;
}

void bm_where_release(struct bm_where *where)
{
    for (size_t i = 0; i < where->count; i++)
        bm_drop(where->a, where->groups[i].ranges);
    bm_drop(where->a, where->groups);
    *where = (struct bm_where){.a = where->a};
}
