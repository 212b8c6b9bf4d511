/* particle_raster.c -- particles gathered into the cells of a picture. */
#include "particle_raster.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bouma_lists.h"

/* A drawing at work. */
struct drawing {
    struct particle_raster *raster;
    const struct particle_query *query;
    int rows, columns;
};

static double value_at(const void *values, bouma_type type, uint64_t i)
{
    switch (type) {
#define CASE(name, value, ctype, text)                                         \
    case BOUMA_##name:                                                         \
        return (double)((const ctype *)values)[i];
        BOUMA_TYPE_LIST(CASE)
#undef CASE
    case BOUMA_TYPE_STRING:
        break;
    }
    return NAN;
}

/* ---- discs --------------------------------------------------------------- */

static void add_to_cell(struct particle_raster *raster, size_t cell,
                        double value, double weight)
{
    switch (raster->rule) {
    case SPLAT_DENSITY:
    case SPLAT_MEAN:
        raster->sum[cell] += weight * value;
        raster->weight[cell] += weight;
        break;
    case SPLAT_MAX:
        raster->sum[cell] = fmax(raster->sum[cell], value);
        break;
    case SPLAT_MIN:
        raster->sum[cell] = fmin(raster->sum[cell], value);
        break;
    }
}

/* Whether the middle of a cell is inside of the disc around x, y; the cell that
 * has x, y always is. */
static bool covers(double x, double y, double radius, int column, int row)
{
    double dx = column + 0.5 - x, dy = row + 0.5 - y;

    return dx * dx + dy * dy <= radius * radius ||
           (column == (int)floor(x) && row == (int)floor(y));
}

/* The first and the last cell that the disc can touch along an axis. */
static void span(double x, double radius, int *first, int *last)
{
    int own = (int)floor(x);

    *first = (int)floor(x - radius);
    *last = (int)floor(x + radius);
    *first = *first < own ? *first : own;
    *last = *last > own ? *last : own;
}

/* A particle counts as one, whatever its size: what lies beyond the picture is
 * lost, not pushed into it. */
static void add_disc(const struct drawing *drawing, double x, double y,
                     double value)
{
    struct particle_raster *raster = drawing->raster;
    int left, right, bottom, top, cells = 0;

    span(x, raster->radius, &left, &right);
    span(y, raster->radius, &bottom, &top);
    if (drawing->rows == 1)
        bottom = top = (int)floor(y);
    for (int row = bottom; row <= top; row++)
        for (int column = left; column <= right; column++)
            cells += covers(x, y, raster->radius, column, row);
    for (int row = bottom; row <= top; row++)
        for (int column = left; column <= right; column++)
            if (row >= 0 && row < drawing->rows && column >= 0 &&
                column < drawing->columns &&
                covers(x, y, raster->radius, column, row))
                add_to_cell(raster,
                            (size_t)row * (size_t)drawing->columns +
                                (size_t)column,
                            value, 1.0 / cells);
}

/* ---- particles ----------------------------------------------------------- */

/* Where a coordinate is in cells; the far face belongs to the last one. */
static double in_cells(const struct particle_raster *raster, int axis,
                       int cells, double coordinate)
{
    double low = raster->low[axis], high = raster->high[axis];

    if (coordinate == high)
        return cells - 0.5;
    return (coordinate - low) / (high - low) * cells;
}

static int take_batch(void *user, const bouma_batch *batch)
{
    const struct drawing *drawing = user;
    struct particle_raster *raster = drawing->raster;
    const bouma_variable_info *infos = drawing->query->infos;
    bouma_type type = infos[0].type;
    double margin = raster->radius + 1;

    for (uint64_t i = 0; i < batch->count; i++) {
        double value = 1, y = 0.5,
               x = in_cells(
                   raster, raster->column_axis, drawing->columns,
                   value_at(batch->columns[0], type,
                            (uint64_t)raster->column_axis * batch->count + i));

        if (raster->row_axis >= 0)
            y = in_cells(
                raster, raster->row_axis, drawing->rows,
                value_at(batch->columns[0], type,
                         (uint64_t)raster->row_axis * batch->count + i));
        if (raster->rule != SPLAT_DENSITY)
            value = value_at(batch->columns[1], infos[1].type,
                             (uint64_t)raster->component * batch->count + i);
        /* Not at a finite position, or none that is seen; NaN has no colour. */
        if (!(x > -margin && x < drawing->columns + margin && y > -margin &&
              y < drawing->rows + margin) ||
            isnan(value))
            continue;
        raster->particles++;
        add_disc(drawing, x, y, value);
    }
    return DONE;
}

/* ---- all together -------------------------------------------------------- */

/* The value of a cell, from what it was given. */
static double cell_value(const struct particle_raster *raster, size_t cell,
                         double quality)
{
    double sum = raster->sum[cell], weight = raster->weight[cell];

    switch (raster->rule) {
    case SPLAT_DENSITY:
        return weight > 0 ? log10(sum / quality) : NAN;
    case SPLAT_MEAN:
        return weight > 0 ? sum / weight : NAN;
    case SPLAT_MAX:
        return sum > -INFINITY ? sum : NAN;
    case SPLAT_MIN:
        return sum < INFINITY ? sum : NAN;
    }
    return NAN;
}

static int make_cells(struct raster *out, struct particle_raster *raster,
                      struct context *ctx)
{
    size_t cells = (size_t)out->rows * (size_t)out->columns;
    double start = raster->rule == SPLAT_MAX   ? -INFINITY
                   : raster->rule == SPLAT_MIN ? INFINITY
                                               : 0;

    out->value = calloc(cells, sizeof(*out->value));
    out->high = calloc(cells, sizeof(*out->high));
    out->count = calloc(cells, sizeof(*out->count));
    if (!out->value || !out->high || !out->count)
        return context_fail_memory(ctx);
    raster->sum = out->value;
    raster->weight = out->count;
    for (size_t i = 0; i < cells; i++)
        raster->sum[i] = start;
    return DONE;
}

/* Processes take equal parts of the quality, which have no particle in
 * common. */
static int draw_part(const struct drawing *drawing, struct context *ctx)
{
    struct particle_query part = *drawing->query;
    double from = part.query.from, width = part.query.quality - from;
    int size = session_size(ctx->session), rank = session_rank(ctx->session);

    if (part.within.given) /* process 0 has them all */
        return particle_query_run(&part, ctx, take_batch, (void *)drawing);
    part.query.from = from + width * rank / size;
    part.query.quality = rank + 1 == size ? part.query.quality
                                          : from + width * (rank + 1) / size;
    return particle_query_run(&part, ctx, take_batch, (void *)drawing);
}

int particle_raster_draw(struct raster *out, struct particle_raster *raster,
                         struct context *ctx,
                         const struct particle_query *query)
{
    struct drawing drawing = {raster, query, out->rows, out->columns};
    size_t cells = (size_t)out->rows * (size_t)out->columns;
    double quality = query->query.quality - query->query.from;
    int rc = make_cells(out, raster, ctx);

    if (!rc)
        rc = draw_part(&drawing, ctx);
    rc = context_agree(ctx, rc);
    if (rc)
        return rc;
    session_combine(ctx->session, raster->sum, cells,
                    raster->rule == SPLAT_MAX   ? SESSION_MAX
                    : raster->rule == SPLAT_MIN ? SESSION_MIN
                                                : SESSION_SUM);
    session_combine(ctx->session, raster->weight, cells, SESSION_SUM);
    raster->particles = session_sum(ctx->session, raster->particles);
    for (size_t i = 0; i < cells; i++)
        out->value[i] = out->high[i] = cell_value(raster, i, quality);
    return DONE;
}
