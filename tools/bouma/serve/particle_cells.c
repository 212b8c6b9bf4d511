/* particle_cells.c -- particles as a tree of cells. */
#include "particle_cells.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sized.h"

/* ---- geometry: pure ------------------------------------------------------ */

void cell_tree_init(struct cell_tree *out, bouma_particles *particles,
                    const bouma_particles_info *about, bool cube)
{
    double largest = 0;

    *out = (struct cell_tree){.particles = particles,
                              .ndims = about->ndims,
                              .count = (double)(about->count - about->strays),
                              .last = CELL_DEPTH};
    for (int i = 0; i < about->ndims; i++) {
        double size = about->high[i] - about->low[i];

        out->low[i] = out->count > 0 ? about->low[i] : 0;
        out->size[i] = out->count > 0 && size > 0 && isfinite(size) ? size : 1;
        largest = fmax(largest, out->size[i]);
    }
    for (int i = 0; cube && i < 3; i++)
        out->size[i] = largest;
}

/* A number below 'limit', and what follows it; NULL if it is none. */
static const char *read_number(int64_t *out, const char *text, int64_t limit)
{
    size_t length = strspn(text, "0123456789");

    if (length == 0 || length > 9 || (text[0] == '0' && length > 1))
        return NULL;
    *out = strtol(text, NULL, 10);
    return *out < limit ? text + length : NULL;
}

static bool read_axes(struct cell *out, const char *text, int axes, int ndims,
                      char between)
{
    for (int i = 0; i < axes; i++) {
        text = read_number(&out->at[i], text,
                           i < ndims ? (int64_t)1 << out->depth : 1);
        if (!text || *text != (i < axes - 1 ? between : '\0'))
            return false;
        text++;
    }
    return true;
}

bool cell_parse(struct cell *out, const struct cell_tree *tree,
                const char *text)
{
    int64_t depth;

    *out = (struct cell){0};
    text = read_number(&depth, text, tree->last + 1);
    if (!text || *text != '-')
        return false;
    out->depth = (int)depth;
    return read_axes(out, text + 1, 3, tree->ndims, '-');
}

bool cell_parse_at(struct cell *out, const struct cell_tree *tree, int depth,
                   const char *text)
{
    *out = (struct cell){.depth = depth};
    return read_axes(out, text, tree->ndims, tree->ndims, '_');
}

/* The same number for all cells that meet there, of any depth. */
static double edge(const struct cell_tree *tree, int axis, int depth, int64_t i)
{
    return tree->low[axis] + tree->size[axis] * ldexp((double)i, -depth);
}

void cell_box(bouma_bounds *out, const struct cell_tree *tree,
              const struct cell *cell)
{
    *out = (bouma_bounds){.axes = BOUMA_AXES_XYZ};
    for (int i = 0; i < tree->ndims; i++) {
        int64_t at = cell->at[i], end = (int64_t)1 << cell->depth;

        out->low[i] = at == 0 ? -INFINITY : edge(tree, i, cell->depth, at);
        out->high[i] =
            at + 1 == end ? INFINITY : edge(tree, i, cell->depth, at + 1);
    }
}

double cell_next_quality(double parent, double count)
{
    double more = count > 0 ? CELL_PARTICLES / count : 1;

    /* The last bit of them is not worth another cell. */
    return parent + 1.25 * more >= 1 ? 1 : parent + more;
}

/* ---- qualities ----------------------------------------------------------- */

int cell_count(uint64_t *out, const struct cell_tree *tree,
               const struct cell *cell, double from, double to)
{
    bouma_bounds box;
    bouma_particles_query query = {
        .size = sizeof(query), .from = from, .quality = to, .box = &box};

    *out = 0;
    if (from >= to)
        return BOUMA_OK;
    cell_box(&box, tree, cell);
    return bouma_particles_count(out, tree->particles, &query);
}

int cell_quality_below(double *to, const struct cell_tree *tree,
                       const struct cell *cell, double from)
{
    uint64_t sample = 0;
    int rc = BOUMA_OK;

    if (cell->depth == tree->last || from >= 1) {
        *to = 1;
        return BOUMA_OK;
    }
    if (cell->depth == 0) {
        *to = cell_next_quality(0, tree->count);
        return BOUMA_OK;
    }
    /* What the cells above have of this box is an even sample of it. */
    rc = cell_count(&sample, tree, cell, 0, from);
    *to = cell_next_quality(from, (double)sample / from);
    return rc;
}

int cell_quality(double *from, double *to, const struct cell_tree *tree,
                 const struct cell *cell)
{
    int rc = BOUMA_OK;

    *from = *to = 0;
    for (int depth = 0; depth <= cell->depth && !rc; depth++) {
        struct cell above = {.depth = depth};

        for (int i = 0; i < 3; i++)
            above.at[i] = cell->at[i] >> (cell->depth - depth);
        *from = *to;
        rc = cell_quality_below(to, tree, &above, *from);
    }
    return rc;
}

/* ---- reading ------------------------------------------------------------- */

int cell_columns(struct cell_column *out, bouma_particles *particles)
{
    int others = bouma_particles_variable_count(particles), count = 0;
    int values = 0;

    for (int i = -1; i < others && count < CELL_COLUMNS; i++) {
        struct cell_column *column = &out[count];

        column->variable = i < 0 ? bouma_particles_position(particles)
                                 : bouma_particles_variable(particles, i);
        bouma_variable_info_get(SIZED(&column->about), column->variable);
        if (i >= 0 && (!column->about.present ||
                       values + column->about.components > CELL_VALUES))
            continue;
        values += column->about.components;
        count++;
    }
    return count;
}

uint64_t cell_stride(uint64_t count)
{
    uint64_t stride = (uint64_t)(0.6180339887 * (double)count);

    for (;; stride++) {
        uint64_t a = count, b = stride;

        while (b) {
            uint64_t rest = a % b;

            a = b;
            b = rest;
        }
        if (a <= 1)
            return stride;
    }
}

uint64_t cell_spread(uint64_t i, uint64_t count, uint64_t stride)
{
    return i * stride % count;
}

struct reading {
    const struct cell_column *columns;
    int column_count;
    const struct cell_format *format;
    struct answer *answer;
    char *rows;
    uint64_t count, room, most;
    bool full, no_memory;
};

static bool make_room(struct reading *r, uint64_t more)
{
    uint64_t room = 2 * r->room + more;
    char *grown;

    if (more <= r->room - r->count)
        return true;
    room = room < r->most ? room : r->most;
    grown = memory_budget_resize(r->answer->memory, r->rows,
                                 r->format->head +
                                     room * (r->format->row + r->format->tail));
    if (grown) {
        r->rows = grown;
        r->room = room;
    }
    return grown != NULL;
}

static int take(void *user, const bouma_batch *batch)
{
    struct reading *r = user;
    const void *values[CELL_COLUMNS];

    r->full = batch->count > r->most - r->count;
    if (r->full)
        return 1;
    r->no_memory = !make_room(r, batch->count);
    if (r->no_memory)
        return 1;
    for (uint64_t i = 0; i < batch->count; i++) {
        for (int c = 0; c < r->column_count; c++) {
            const bouma_variable_info *about = &r->columns[c].about;

            values[c] =
                (const char *)batch->columns[c] +
                i * (uint64_t)about->components * bouma_type_size(about->type);
        }
        r->format->put(r->format->user,
                       r->rows + r->format->head +
                           (r->count + i) * r->format->row,
                       values);
    }
    r->count += batch->count;
    return 0;
}

/* Rows to where they go in the body. */
static void spread(char *to, const struct reading *r)
{
    uint64_t stride = cell_stride(r->count);
    size_t row = r->format->row;

    for (uint64_t i = 0; i < r->count; i++)
        memcpy(to + cell_spread(i, r->count, stride) * row,
               r->rows + r->format->head + i * row, row);
}

static int run_query(struct reading *r, const struct cell_tree *tree,
                     const struct cell *cell, double from, double to)
{
    bouma_variable *variables[CELL_COLUMNS];
    bouma_bounds box;
    bouma_particles_query query = {.size = sizeof(query),
                                   .from = from,
                                   .quality = to,
                                   .box = &box,
                                   .variables = variables,
                                   .variable_count = (size_t)r->column_count,
                                   .order = BOUMA_COMPONENT_ORDER_INTERLEAVED};

    for (int i = 0; i < r->column_count; i++)
        variables[i] = r->columns[i].variable;
    cell_box(&box, tree, cell);
    return from < to
               ? bouma_particles_query_run(tree->particles, &query, take, r)
               : BOUMA_OK;
}

int cell_read(uint64_t *count, const struct cell_tree *tree,
              const struct cell *cell, double from, double to,
              const struct cell_column *columns, int column_count,
              const struct cell_format *format, struct answer *answer)
{
    struct reading r = {.columns = columns,
                        .column_count = column_count,
                        .format = format,
                        .answer = answer};
    int rc = BOUMA_OK;

    r.most = (answer->limit - format->head) / (format->row + format->tail);
    rc = make_room(&r, 1) ? run_query(&r, tree, cell, from, to) : BOUMA_ENOMEM;
    if (r.no_memory)
        rc = BOUMA_ENOMEM;
    if (r.full) {
        rc = BOUMA_OK;
        answer_fail(answer, 413, BOUMA_ELIMIT,
                    "this cell has more particles than an answer can have");
    } else if (!rc) {
        size_t bytes =
            format->head + (size_t)r.count * (format->row + format->tail);
        char *body = answer_body(answer, ANSWER_BYTES, bytes);

        if (body) {
            memset(body, 0, bytes);
            spread(body + format->head, &r);
        }
    }
    memory_budget_release(answer->memory, r.rows);
    *count = r.count;
    return rc;
}
