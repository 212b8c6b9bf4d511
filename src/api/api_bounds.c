/* api_bounds.c -- boxes of a grid's samples and boxes in physical coordinates,
 * one from the other. */
#include <string.h>

#include "api/api.h"
#include "base/bounds.h"

/* Of a sample, as bouma_selection has it. Never decreases along the axis, or
 * never increases. */
static double position_of(const struct bm_object *grid, int axis, int64_t i)
{
    return grid->origin[axis] + grid->spacing[axis] * (double)i;
}

/* An end of a range, as a question to samples. */
struct end {
    const struct bm_object *grid;
    int axis;
    double at;
    int included; /* a sample at it is not beyond it */
};

static int is_before(const struct end *e, int64_t i)
{
    double x = position_of(e->grid, e->axis, i);
    int upward = e->grid->spacing[e->axis] > 0;

    if (x == e->at)
        return e->included;
    return upward ? x < e->at : x > e->at;
}

/* How many of the first 'count' samples of the axis are before it. */
static int64_t count_before(const struct end *e, int64_t count)
{
    int64_t low = 0, high = count;

    while (low < high) {
        int64_t middle = low + (high - low) / 2;

        if (is_before(e, middle))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int bouma_grid_box(bouma_box *out, const bouma_grid *grid,
                   const bouma_bounds *bounds)
{
    BM_STRICT_MATH;
    const struct bm_object *g = grid ? &grid->object : NULL;
    bouma_bounds b;
    int rc, empty = 0;

    if (!out)
        return bm_api_no_output(g ? g->schema->error : NULL, "a box");
    memset(out, 0, sizeof(*out));
    if (!g)
        return BOUMA_EINVAL;
    bm_error_clear(g->schema->error);
    if (!bounds)
        return bm_fail(g->schema->error, BOUMA_EINVAL,
                       "grid \"%s\": the bounds are NULL", g->name);
    rc = bm_bounds_take(&b, bounds, BOUMA_AXES_ZYX, g->ndims,
                        "the bounds of a box", g->schema->error);
    for (int d = 0; d < g->ndims && !rc; d++) {
        int closed = b.closed >> d & 1, upward = g->spacing[d] > 0;
        struct end low = {g, d, b.low[d], !upward};
        struct end high = {g, d, b.high[d], upward ? closed : !closed};
        int64_t n = g->domain.hi[3 - g->ndims + d];

        out->lo[d] = count_before(upward ? &low : &high, n);
        out->hi[d] = count_before(upward ? &high : &low, n);
        empty |= out->lo[d] >= out->hi[d];
    }
    if (rc || empty)
        memset(out, 0, sizeof(*out));
    return rc;
}

/* The region of the samples from lo up to hi of an axis. */
static void region_of(bouma_bounds *out, const struct bm_object *g, int axis,
                      int64_t lo, int64_t hi)
{
    int i = bm_bounds_index(out->axes, BOUMA_AXES_ZYX, g->ndims, axis);

    if (g->spacing[axis] > 0 || lo == hi) {
        out->low[i] = position_of(g, axis, lo);
        out->high[i] = position_of(g, axis, hi);
        return;
    }
    out->low[i] = position_of(g, axis, hi - 1);
    out->high[i] = position_of(g, axis, lo);
    out->closed |= 1u << i;
}

int bouma_grid_bounds(bouma_bounds *out, const bouma_grid *grid,
                      bouma_axes axes, const bouma_box *box)
{
    BM_STRICT_MATH;
    const struct bm_object *g = grid ? &grid->object : NULL;

    if (!out)
        return bm_api_no_output(g ? g->schema->error : NULL, "bounds");
    memset(out, 0, sizeof(*out));
    if (!g)
        return BOUMA_EINVAL;
    bm_error_clear(g->schema->error);
    if (axes != BOUMA_AXES_XYZ && axes != BOUMA_AXES_ZYX)
        return bm_fail(g->schema->error, BOUMA_EINVAL,
                       "grid \"%s\": the order of axes is %d; it can be "
                       "BOUMA_AXES_XYZ (1) or BOUMA_AXES_ZYX (2)",
                       g->name, (int)axes);
    out->axes = axes;
    for (int d = 0; d < g->ndims; d++) {
        int64_t n = g->domain.hi[3 - g->ndims + d];
        int64_t lo = box ? box->lo[d] : 0, hi = box ? box->hi[d] : n;

        if (lo < 0 || hi < lo || hi > n) {
            memset(out, 0, sizeof(*out));
            return bm_fail(g->schema->error, BOUMA_EINVAL,
                           "grid \"%s\": the box is not in the grid: %lld to "
                           "%lld of axis %d, which has %lld samples",
                           g->name, (long long)lo, (long long)hi, d,
                           (long long)n);
        }
        region_of(out, g, d, lo, hi);
    }
    return BOUMA_OK;
}
