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

/* The coarse samples beside a fine one, along an axis: the same one twice if it
 * is in its place, or at the rim. */
static void beside(int64_t out[2], const struct bm_lattice *coarse, int axis,
                   int64_t fine)
{
    int64_t last = coarse->start[axis] + coarse->count[axis] - 1;

    out[0] = fine / 2;
    out[1] = fine / 2 + fine % 2;
    if (out[0] < coarse->start[axis])
        out[0] = out[1];
    if (out[1] > last)
        out[1] = out[0];
    out[0] -= coarse->start[axis];
    out[1] -= coarse->start[axis];
}

/* A row of samples along the last axis. */
struct row {
    const struct bm_refined_level *fine, *coarse;
    value_of *value;
    size_t components;
    size_t at;        /* of its first sample */
    size_t beside[4]; /* where the coarse rows beside it begin */
};

static double row_error(const struct row *r)
{
    const struct bm_lattice *l = &r->fine->lattice;
    double worst = 0;

    for (int64_t x = 0; x < l->count[2]; x++) {
        int64_t near[2];

        beside(near, &r->coarse->lattice, 2, l->start[2] + x);
        for (size_t c = 0; c < r->components; c++) {
            double sum = 0, own;

            for (int i = 0; i < 8; i++)
                sum += r->value(r->coarse->data,
                                (r->beside[i / 2] + (size_t)near[i % 2]) *
                                        r->components +
                                    c) /
                       8;
            own = r->value(r->fine->data,
                           (r->at + (size_t)x) * r->components + c);
            worst = fmax(worst, fabs(own - sum)); /* not if that is NaN */
        }
    }
    return worst;
}

double bm_refine_error(const struct bm_refined_level *fine,
                       const struct bm_refined_level *coarse, bouma_type type,
                       int components)
{
    const struct bm_lattice *f = &fine->lattice, *c = &coarse->lattice;
    struct row row = {fine, coarse, values[type], (size_t)components, 0, {0}};
    double worst = 0;

    if (!bm_lattice_samples(c))
        return INFINITY;
    for (int64_t z = 0; z < f->count[0]; z++)
        for (int64_t y = 0; y < f->count[1]; y++) {
            int64_t planes[2], rows[2];

            beside(planes, c, 0, f->start[0] + z);
            beside(rows, c, 1, f->start[1] + y);
            for (int i = 0; i < 4; i++)
                row.beside[i] =
                    (size_t)((planes[i / 2] * c->count[1] + rows[i % 2]) *
                             c->count[2]);
            row.at = (size_t)((z * f->count[1] + y) * f->count[2]);
            worst = fmax(worst, row_error(&row));
        }
    return worst;
}
