/* step_data.c -- see step_data.h. */
#include "step_data.h"

#include <math.h>
#include <string.h>

#include "base/mix.h"
#include "rank_grid.h"

/* ---- where --------------------------------------------------------------- */

void step_shape(const struct step_request *step,
                const struct load_request *load, int64_t shape[3])
{
    for (int d = 0; d < 3; d++)
        shape[d] = step->block[d] * load->grid[2 - d];
}

bouma_box step_box(const struct step_request *step,
                   const struct load_request *load, int64_t rank)
{
    bouma_box box;
    int64_t at[3];

    rank_grid_at(load->grid, rank, at);
    for (int d = 0; d < 3; d++) {
        box.lo[d] = at[2 - d] * step->block[d];
        box.hi[d] = box.lo[d] + step->block[d];
    }
    return box;
}

bouma_bounds step_bounds(const struct load_request *load, int64_t rank)
{
    bouma_bounds bounds = {.axes = BOUMA_AXES_XYZ};
    int64_t at[3];

    rank_grid_at(load->grid, rank, at);
    for (int d = 0; d < 3; d++) {
        double n = (double)load->grid[d];

        bounds.low[d] = (float)((double)at[d] / n);
        bounds.high[d] = (float)((double)(at[d] + 1) / n);
    }
    return bounds;
}

uint64_t step_particles(const struct load_request *load, int64_t rank)
{
    return load_bytes(load, rank, 0) / (uint64_t)load->load->widths[0];
}

int step_variables(const struct load_request *load)
{
    return step_has_particles(load) ? load->variables - 3 : load->variables;
}

bouma_type step_type(const struct load_request *load, int variable)
{
    int width = load->load->widths[variable + 3];

    return width == 8   ? BOUMA_TYPE_F64
           : width == 4 ? BOUMA_TYPE_F32
                        : BOUMA_TYPE_U16;
}

/* ---- values -------------------------------------------------------------- */

/* From 0 to below 1, from a key that is a place's own. */
static double noise(uint64_t key, int variable)
{
    uint64_t x = bm_mix_next(key + (uint64_t)variable * BM_MIX_STEP);

    return (double)(x >> 11) * (1.0 / ((uint64_t)1 << 53));
}

/* 'at' is x, y, z. */
static double value_at(const struct load_request *load, const double at[3],
                       uint64_t key, int variable)
{
    double burnt;

    if (!load->load->of_variable)
        return (variable + 1) * at[0] * at[1] - at[2] * at[2] +
               1e-4 * noise(key, variable);
    burnt = load_burnt(load, at, variable);
    return burnt + 0.1 * burnt * (1 - burnt) * noise(key, variable);
}

/* A sample of a row of the grid. */
struct row {
    const struct load_request *load;
    int64_t shape[3], first; /* samples in rows before */
    double at[3];
    int variable;
};

static double sample(struct row *row, int64_t x)
{
    row->at[0] = ((double)x + 0.5) / (double)row->shape[2];
    return value_at(row->load, row->at, (uint64_t)(row->first + x),
                    row->variable);
}

/* Sets the samples, or, with a tolerance of 0 or more, compares them: the first
 * that is wrong, or their number. */
static size_t visit(uint8_t *data, const struct step_request *step,
                    const struct load_request *load, int64_t rank,
                    struct row *row, double tolerance)
{
    bouma_box box = step_box(step, load, rank);
    bool wide = step->type == BOUMA_TYPE_F64;
    size_t n = 0;

    row->load = load;
    step_shape(step, load, row->shape);
    for (int64_t z = box.lo[0]; z < box.hi[0]; z++)
        for (int64_t y = box.lo[1]; y < box.hi[1]; y++) {
            row->at[2] = ((double)z + 0.5) / (double)row->shape[0];
            row->at[1] = ((double)y + 0.5) / (double)row->shape[1];
            row->first = (z * row->shape[1] + y) * row->shape[2];
            for (int64_t x = box.lo[2]; x < box.hi[2]; x++, n++) {
                double value = sample(row, x);
                double narrow = (float)value;

                if (tolerance < 0 && wide)
                    ((double *)data)[n] = value;
                else if (tolerance < 0)
                    ((float *)data)[n] = (float)value;
                else if (wide
                             ? !(fabs(((double *)data)[n] - value) <= tolerance)
                             : !(fabs((double)((float *)data)[n] - narrow) <=
                                 tolerance))
                    return n;
            }
        }
    return n;
}

void step_fill_samples(void *data, const struct step_request *step,
                       const struct load_request *load, int64_t rank,
                       int variable)
{
    struct row row = {.variable = variable};

    visit(data, step, load, rank, &row, -1);
}

size_t step_check_samples(const void *data, const struct step_request *step,
                          const struct load_request *load, int64_t rank,
                          int variable, double tolerance)
{
    struct row row = {.variable = variable};

    return visit((uint8_t *)data, step, load, rank, &row, tolerance);
}

/* ---- particles ----------------------------------------------------------- */

void step_fill_positions(float *position, const struct load_request *load,
                         int64_t rank, uint64_t count)
{
    bouma_bounds bounds = step_bounds(load, rank);
    uint64_t key = bm_mix_next(load->seed ^ bm_mix_next((uint64_t)rank));

    for (uint64_t i = 0; i < 3 * count; i++) {
        int d = (int)(i % 3);
        double part = noise(key + i / 3 * 7, d);

        position[i] =
            (float)(bounds.low[d] + part * (bounds.high[d] - bounds.low[d]));
    }
}

static double particle(const struct load_request *load, int variable,
                       const float p[3])
{
    double at[3] = {p[0], p[1], p[2]};
    uint64_t key = 0;

    for (int d = 0; d < 3; d++) {
        uint32_t bits;

        memcpy(&bits, &p[d], sizeof(bits));
        key = bm_mix_next(key ^ bits);
    }
    return value_at(load, at, key, variable);
}

/* The value in its type. */
static size_t encode(uint8_t out[8], bouma_type type, double value)
{
    float narrow = (float)value;
    uint16_t whole = (uint16_t)(int64_t)floor(value * 256);

    if (type == BOUMA_TYPE_F64) {
        memcpy(out, &value, 8);
        return 8;
    }
    if (type == BOUMA_TYPE_F32) {
        memcpy(out, &narrow, 4);
        return 4;
    }
    memcpy(out, &whole, 2);
    return 2;
}

void step_fill_variable(void *data, const struct load_request *load,
                        int variable, const float *position, uint64_t count)
{
    bouma_type type = step_type(load, variable);
    uint8_t *at = data, value[8];

    for (uint64_t i = 0; i < count; i++) {
        size_t n =
            encode(value, type, particle(load, variable, &position[3 * i]));

        memcpy(at, value, n);
        at += n;
    }
}

uint64_t step_check_variable(const void *data, const struct load_request *load,
                             int variable, const float *position,
                             uint64_t count)
{
    bouma_type type = step_type(load, variable);
    const uint8_t *at = data;
    uint8_t value[8];

    for (uint64_t i = 0; i < count; i++) {
        size_t n =
            encode(value, type, particle(load, variable, &position[3 * i]));

        if (memcmp(at, value, n) != 0)
            return i;
        at += n;
    }
    return count;
}
