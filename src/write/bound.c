/* bound.c -- see bound.h. */
#include "write/bound.h"

#include <math.h>
#include <string.h>

#include "base/type.h"

#define AT_ONCE (BM_COMM_MAX_VALUES / 2) /* variables in one reduction */

/* The finite values of a put: their smallest and largest, if there are any. */
struct extent {
    double low, high;
    int any;
};

#define WIDEN(type)                                                            \
    static void widen_##type(struct extent *e, const uint8_t *row,             \
                             int64_t stride, int64_t n)                        \
    {                                                                          \
        type low = (type)INFINITY, high = (type)-INFINITY;                     \
                                                                               \
        for (int64_t i = 0; i < n; i++) {                                      \
            type x;                                                            \
                                                                               \
            memcpy(&x, row + i * stride, sizeof(x));                           \
            x = x - x == 0 ? x : low; /* what is not finite counts not */      \
            low = x < low ? x : low;                                           \
            high = x > high && x < (type)INFINITY ? x : high;                  \
        }                                                                      \
        if (low <= high) {                                                     \
            e->low = !e->any || (double)low < e->low ? (double)low : e->low;   \
            e->high =                                                          \
                !e->any || (double)high > e->high ? (double)high : e->high;    \
            e->any = 1;                                                        \
        }                                                                      \
    }
WIDEN(float)
WIDEN(double)

static void widen_by_put(struct extent *e, const struct bm_put *put)
{
    const struct bm_memory_box *m = &put->from;
    int64_t n[3];

    for (int d = 0; d < 3; d++)
        n[d] = m->box.hi[d] - m->box.lo[d];
    for (int c = 0; c < put->variable->components; c++)
        for (int64_t z = 0; z < n[0]; z++)
            for (int64_t y = 0; y < n[1]; y++) {
                const uint8_t *row = m->data + c * m->component_stride +
                                     z * m->stride[0] + y * m->stride[1];

                if (put->variable->type == BOUMA_F32)
                    widen_float(e, row, m->stride[2], n[2]);
                else
                    widen_double(e, row, m->stride[2], n[2]);
            }
}

/* Doubles as integers of the same order, and back. 0 is below all. */
static uint64_t ordered(double v)
{
    uint64_t u;

    memcpy(&u, &v, sizeof(u));
    return u >> 63 ? ~u : u | (uint64_t)1 << 63;
}

static double unordered(uint64_t u)
{
    double v;

    u = u >> 63 ? u & ~((uint64_t)1 << 63) : ~u;
    memcpy(&v, &u, sizeof(v));
    return v;
}

static int is_relative(const struct bouma_variable *v)
{
    return v->tolerance > 0 && v->tolerance_kind == BOUMA_RELATIVE;
}

void bm_bounds_reset(struct bm_schema *schema)
{
    for (uint32_t i = 0; i < schema->variables; i++)
        if (is_relative(schema->by_id[i]))
            schema->by_id[i]->bound = 0;
}

/* One reduction for some variables: of each, the largest value and the negative
 * of the smallest. */
static int reduce(struct bouma_dataset *ds, struct bouma_variable **variables,
                  int count, int rc)
{
    uint64_t extremes[2 * AT_ONCE] = {0};
    int reduced;

    for (int i = 0; i < count && !rc; i++) {
        struct extent e = {0, 0, 0};

        for (size_t k = 0; k < ds->put_count; k++)
            if (ds->puts[k].variable == variables[i])
                widen_by_put(&e, &ds->puts[k]);
        if (e.any) {
            extremes[2 * i] = ordered(e.high);
            extremes[2 * i + 1] = ordered(-e.low);
        }
    }
    reduced = bm_comm_max(ds->comm, extremes, 2 * count, &ds->error);
    for (int i = 0; i < count && !reduced; i++) {
        double range = 0;

        if (extremes[2 * i])
            range = unordered(extremes[2 * i]) / 2 +
                    unordered(extremes[2 * i + 1]) / 2;
        range = range * variables[i]->tolerance; /* halves cannot overflow */
        variables[i]->bound = range < 0x1p1022 ? range * 2 : 0x1p1023;
    }
    return rc ? rc : reduced;
}

int bm_bounds_find(struct bouma_dataset *ds, int rc)
{
    struct bouma_variable *some[AT_ONCE];
    int count = 0;

    for (uint32_t i = 0; i < ds->schema.variables; i++) {
        if (is_relative(ds->schema.by_id[i]))
            some[count++] = ds->schema.by_id[i];
        if (count == AT_ONCE || (count && i + 1 == ds->schema.variables)) {
            rc = reduce(ds, some, count, rc);
            count = 0;
        }
    }
    return rc;
}
