/* refine_error.c -- see refine_error.h. */
#include "read/refine_error.h"

#include <math.h>

/* One value of each type, as a double. */
#define VALUE(name, ctype)                                                     \
    static double value_##name(const void *data, size_t i)                     \
    {                                                                          \
        return (double)((const ctype *)data)[i];                               \
    }
VALUE(i8, int8_t)
VALUE(i16, int16_t)
VALUE(i32, int32_t)
VALUE(i64, int64_t)
VALUE(u8, uint8_t)
VALUE(u16, uint16_t)
VALUE(u32, uint32_t)
VALUE(u64, uint64_t)
VALUE(f32, float)
VALUE(f64, double)

typedef double value_of(const void *data, size_t i);

static value_of *const values[] = {
    [BOUMA_TYPE_I8] = value_i8,   [BOUMA_TYPE_I16] = value_i16,
    [BOUMA_TYPE_I32] = value_i32, [BOUMA_TYPE_I64] = value_i64,
    [BOUMA_TYPE_U8] = value_u8,   [BOUMA_TYPE_U16] = value_u16,
    [BOUMA_TYPE_U32] = value_u32, [BOUMA_TYPE_U64] = value_u64,
    [BOUMA_TYPE_F32] = value_f32, [BOUMA_TYPE_F64] = value_f64};

/* The coarse samples beside a fine one along an axis, and what each counts. */
struct beside {
    int64_t at[2];
    double weight[2];
    int count;
};

static struct beside beside(const struct bm_lattice *coarse, int axis,
                            int64_t fine)
{
    int64_t low = fine / 2 - coarse->start[axis], n = coarse->count[axis];

    if (fine % 2 == 0)
        return (struct beside){{low, 0}, {1, 0}, 1};
    if (n == 1) /* the only one, wherever it is */
        return (struct beside){{0, 0}, {1, 0}, 1};
    if (low < 0)
        return (struct beside){{0, 1}, {1.5, -0.5}, 2};
    if (low + 1 >= n)
        return (struct beside){{low, low - 1}, {1.5, -0.5}, 2};
    return (struct beside){{low, low + 1}, {0.5, 0.5}, 2};
}

/* A row of samples along the last axis. */
struct row {
    const struct bm_refined_level *fine, *coarse;
    value_of *value;
    size_t components;
    size_t at; /* of its first sample */
    /* Where the coarse rows beside it begin, and what each counts. */
    size_t begin[4];
    double weight[4];
    int count;
};

/* What the coarse rows give in place of a sample. */
static double interpolate(const struct row *r, const struct beside *x, size_t c)
{
    double sum = 0;

    for (int i = 0; i < r->count; i++)
        for (int k = 0; k < x->count; k++)
            sum +=
                r->weight[i] * x->weight[k] *
                r->value(r->coarse->data,
                         (r->begin[i] + (size_t)x->at[k]) * r->components + c);
    return sum;
}

static double row_error(const struct row *r)
{
    const struct bm_lattice *l = &r->fine->lattice;
    double worst = -1;

    for (int64_t i = 0; i < l->count[2]; i++) {
        struct beside x = beside(&r->coarse->lattice, 2, l->start[2] + i);

        for (size_t c = 0; c < r->components; c++) {
            double own = r->value(r->fine->data,
                                  (r->at + (size_t)i) * r->components + c);

            /* Of NaN, fmax() gives the other one. */
            worst = fmax(worst, fabs(own - interpolate(r, &x, c)));
        }
    }
    return worst;
}

static void find_rows(struct row *r, const struct beside *z,
                      const struct beside *y)
{
    const struct bm_lattice *c = &r->coarse->lattice;

    r->count = 0;
    for (int i = 0; i < z->count; i++)
        for (int k = 0; k < y->count; k++) {
            r->begin[r->count] =
                (size_t)((z->at[i] * c->count[1] + y->at[k]) * c->count[2]);
            r->weight[r->count++] = z->weight[i] * y->weight[k];
        }
}

double bm_refine_error(const struct bm_refined_level *fine,
                       const struct bm_refined_level *coarse, bouma_type type,
                       int components)
{
    const struct bm_lattice *f = &fine->lattice;
    struct row row = {.fine = fine,
                      .coarse = coarse,
                      .value = values[type],
                      .components = (size_t)components};
    double worst = -1; /* there is nothing to compare */

    if (!bm_lattice_samples(&coarse->lattice))
        return INFINITY;
    for (int64_t z = 0; z < f->count[0]; z++)
        for (int64_t y = 0; y < f->count[1]; y++) {
            struct beside planes = beside(&coarse->lattice, 0, f->start[0] + z);
            struct beside rows = beside(&coarse->lattice, 1, f->start[1] + y);

            find_rows(&row, &planes, &rows);
            row.at = (size_t)((z * f->count[1] + y) * f->count[2]);
            worst = fmax(worst, row_error(&row));
        }
    return worst < 0 ? INFINITY : worst;
}
