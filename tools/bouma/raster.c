/* raster.c -- the samples of a box at a level, gathered into cells. */
#include "raster.h"

#include <math.h>
#include <stdlib.h>

#include "bouma_lists.h"
#include "division.h"
#include "sized.h"

/* Memory for samples that a process takes, unless a single row of patches
 * needs more. */
static const uint64_t piece_bytes = (uint64_t)32 << 20;

/* ---- pieces -------------------------------------------------------------- */

/* A part of the box in memory. */
struct piece {
    bouma_selection part;
    int64_t first[3], count[3]; /* among the samples of the whole; of three */
    void *data;
    double *line;    /* one line of samples along the last axis */
    int *cell_of[3]; /* of the samples along the axes of rows and columns; -1:
                        they are not picked */
};

int64_t raster_extent(const struct raster_source *source, int axis)
{
    int own = axis - (3 - source->ndims);

    return own < 0 ? 1 : source->selection.shape[own];
}

static void piece_release(struct piece *piece)
{
    free(piece->data);
    free(piece->line);
    for (int i = 0; i < 3; i++)
        free(piece->cell_of[i]);
}

/* The cell of each sample along an axis: equal shares of 'total' samples for
 * 'cells' cells. Picked is the first sample of a cell. */
static int *map_cells(int64_t first, int64_t count, int64_t total, int cells,
                      bool pick)
{
    int *out = malloc((size_t)count * sizeof(*out));

    for (int64_t i = 0; out && i < count; i++) {
        int cell = (int)((first + i) * cells / total);
        int before = first + i ? (int)((first + i - 1) * cells / total) : -1;

        out[i] = pick && cell == before ? -1 : cell;
    }
    return out;
}

static int piece_init(struct piece *piece, struct context *ctx,
                      const struct raster *raster,
                      const struct raster_source *source)
{
    int missing = 3 - source->ndims;
    bool pick = raster->rule == RASTER_PICK;

    for (int i = 0; i < 3; i++) {
        int own = i - missing;

        piece->count[i] = own < 0 ? 1 : piece->part.shape[own];
        piece->first[i] =
            own < 0 ? 0
                    : (piece->part.first[own] - source->selection.first[own]) >>
                          source->level;
    }
    piece->data = malloc(piece->part.bytes);
    piece->line = malloc((size_t)piece->count[2] * sizeof(*piece->line));
    piece->cell_of[raster->row] =
        map_cells(piece->first[raster->row], piece->count[raster->row],
                  raster_extent(source, raster->row), raster->rows, pick);
    piece->cell_of[raster->column] =
        map_cells(piece->first[raster->column], piece->count[raster->column],
                  raster_extent(source, raster->column), raster->columns, pick);
    if (!piece->data || !piece->line || !piece->cell_of[raster->row] ||
        !piece->cell_of[raster->column])
        return context_fail(ctx, DATA_AT_FAULT,
                            "no memory for %llu bytes; draw a coarser --level",
                            (unsigned long long)piece->part.bytes);
    return DONE;
}

/* ---- from samples to cells ----------------------------------------------- */

/* One component of 'count' samples, from sample 'first' on, as doubles. */
static void to_numbers(double *out, const struct raster_source *source,
                       const void *data, size_t first, int64_t count)
{
    size_t stride = (size_t)source->components;
    size_t start = first * stride + (size_t)source->component;

    switch (source->type) {
#define TO_NUMBERS(name, value, ctype, text)                                   \
    case BOUMA_##name:                                                         \
        for (int64_t i = 0; i < count; i++)                                    \
            out[i] =                                                           \
                (double)((const ctype *)data)[start + (size_t)i * stride];     \
        break;
        BOUMA_TYPE_LIST(TO_NUMBERS)
#undef TO_NUMBERS
    default:
        break;
    }
}

static void fold(struct raster *raster, size_t cell, double sample)
{
    double *value = &raster->value[cell];

    if (raster->rule != RASTER_PICK && isnan(sample))
        return;
    raster->count[cell]++;
    switch (raster->rule) {
    case RASTER_PICK:
    case RASTER_MEAN:
        *value += sample;
        break;
    case RASTER_SPAN:
        raster->high[cell] = fmax(raster->high[cell], sample);
        *value = fmin(*value, sample);
        break;
    case RASTER_MIN:
        *value = fmin(*value, sample);
        break;
    case RASTER_MAX:
        *value = fmax(*value, sample);
    }
}

static void fold_line(struct raster *raster, const struct piece *piece,
                      int64_t at[3])
{
    const int *rows = piece->cell_of[raster->row];
    const int *columns = piece->cell_of[raster->column];

    for (at[2] = 0; at[2] < piece->count[2]; at[2]++) {
        int row = rows[at[raster->row]], column = columns[at[raster->column]];

        if (row >= 0 && column >= 0)
            fold(raster, (size_t)row * (size_t)raster->columns + (size_t)column,
                 piece->line[at[2]]);
    }
}

static int read_piece(struct raster *raster, struct context *ctx,
                      const struct raster_source *source, const bouma_box *box)
{
    struct piece piece = {0};
    size_t first = 0;
    int64_t at[3];
    int rc = DONE,
        status = bouma_variable_select(SIZED(&piece.part), source->variable,
                                       source->level, box);

    if (!status && piece.part.bytes == 0)
        return DONE;
    if (!status)
        rc = piece_init(&piece, ctx, raster, source);
    if (!status && !rc)
        status = bouma_variable_read(
            source->variable, source->level, box,
            &BOUMA_ARRAY(source->type, piece.data, piece.part.bytes));
    if (status)
        rc = context_fail_status(ctx, status, bouma_error_message(source->ds));
    for (at[0] = 0; !rc && at[0] < piece.count[0]; at[0]++)
        for (at[1] = 0; at[1] < piece.count[1]; at[1]++) {
            to_numbers(piece.line, source, piece.data, first, piece.count[2]);
            fold_line(raster, &piece, at);
            first += (size_t)piece.count[2];
        }
    piece_release(&piece);
    return rc;
}

/* ---- the whole ----------------------------------------------------------- */

/* Bytes of the samples in one layer of patches. */
static uint64_t layer_bytes(const struct raster_source *source)
{
    uint64_t planes = (uint64_t)source->patch[0] >> source->level;
    uint64_t all = (uint64_t)source->selection.shape[0];

    planes = planes ? planes : 1;
    planes = planes < all ? planes : all;
    return source->selection.bytes / all * planes;
}

/* Read a box, in pieces along the second axis if it is a large one. */
static int read_layers(struct raster *raster, struct context *ctx,
                       const struct raster_source *source, const bouma_box *box)
{
    uint64_t pieces = layer_bytes(source) / piece_bytes + 1;
    int64_t patch = source->patch[1], step;
    int rc = DONE;

    if (source->ndims < 2 || pieces == 1)
        return read_piece(raster, ctx, source, box);
    step = (box->hi[1] - box->lo[1]) / (int64_t)pieces / patch * patch;
    step = step ? step : patch;
    for (int64_t lo = box->lo[1] / patch * patch; !rc && lo < box->hi[1];
         lo += step) {
        bouma_box part = *box;

        part.lo[1] = lo > part.lo[1] ? lo : part.lo[1];
        part.hi[1] = lo + step < part.hi[1] ? lo + step : part.hi[1];
        rc = read_piece(raster, ctx, source, &part);
    }
    return rc;
}

static double start_of(enum raster_rule rule)
{
    return rule == RASTER_MIN || rule == RASTER_SPAN ? INFINITY
           : rule == RASTER_MAX                      ? -INFINITY
                                                     : 0;
}

static int raster_init(struct raster *raster, struct context *ctx,
                       const struct raster_source *source)
{
    size_t cells;

    raster->row = raster->across == 0;
    raster->column = raster->across == 2 ? 1 : 2;
    if (raster->rows > raster_extent(source, raster->row))
        raster->rows = (int)raster_extent(source, raster->row);
    if (raster->columns > raster_extent(source, raster->column))
        raster->columns = (int)raster_extent(source, raster->column);
    cells = (size_t)raster->rows * (size_t)raster->columns;
    raster->value = malloc(cells * sizeof(*raster->value));
    raster->high = malloc(cells * sizeof(*raster->high));
    raster->count = calloc(cells, sizeof(*raster->count));
    if (!raster->value || !raster->high || !raster->count)
        return context_fail(ctx, DATA_AT_FAULT,
                            "no memory for the picture; choose a smaller "
                            "--size");
    for (size_t i = 0; i < cells; i++) {
        raster->value[i] = start_of(raster->rule);
        raster->high[i] = -INFINITY;
    }
    return DONE;
}

/* Bring the cells of all processes together, on process 0. Collective. */
static void combine(struct raster *raster, struct context *ctx)
{
    size_t cells = (size_t)raster->rows * (size_t)raster->columns;
    enum session_operation operation =
        raster->rule == RASTER_MIN || raster->rule == RASTER_SPAN ? SESSION_MIN
        : raster->rule == RASTER_MAX                              ? SESSION_MAX
                                                                  : SESSION_SUM;

    session_combine(ctx->session, raster->value, cells, operation);
    session_combine(ctx->session, raster->count, cells, SESSION_SUM);
    if (raster->rule == RASTER_SPAN)
        session_combine(ctx->session, raster->high, cells, SESSION_MAX);
    for (size_t i = 0; i < cells; i++) {
        if (raster->rule == RASTER_MEAN)
            raster->value[i] /= raster->count[i];
        if (raster->count[i] == 0)
            raster->value[i] = NAN;
        if (raster->rule != RASTER_SPAN || raster->count[i] == 0)
            raster->high[i] = raster->value[i];
    }
}

int raster_read(struct raster *raster, struct context *ctx,
                const struct raster_source *source)
{
    struct division division = {.box = source->box,
                                .patch = source->patch[0],
                                .step = 1,
                                .size = session_size(ctx->session),
                                .rank = session_rank(ctx->session)};
    uint64_t layer = layer_bytes(source);
    int64_t pieces;
    bouma_box box;
    int rc = raster_init(raster, ctx, source);

    if (layer && piece_bytes / layer > 1)
        division.step = (int64_t)(piece_bytes / layer);
    pieces = division_pieces(&division);
    for (int64_t i = 0; !rc && i < pieces; i++)
        if (division_piece(&division, i, &box))
            rc = read_layers(raster, ctx, source, &box);
    rc = context_agree(ctx, rc);
    if (!rc)
        combine(raster, ctx);
    return rc;
}

void raster_release(struct raster *raster)
{
    free(raster->value);
    free(raster->high);
    free(raster->count);
}
