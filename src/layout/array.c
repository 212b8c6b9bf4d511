/* array.c -- see array.h. */
#include "layout/array.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- where samples are -------------------------------------------------- */

/* Of a caller's array: particles lie along one. */
static int axes_of(const struct bouma_variable *v)
{
    return v->object->kind == BM_PARTICLES ? 1 : v->object->ndims;
}

/* Wraps around; what is that large is refused for its size. */
static int64_t product(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a * (uint64_t)b);
}

static void set_dense(struct bm_array *out, int components,
                      const int64_t shape[3])
{
    out->component_stride = (int64_t)bouma_type_size(out->type);
    out->stride[2] = product(out->component_stride, components);
    out->stride[1] = product(out->stride[2], shape[2]);
    out->stride[0] = product(out->stride[1], shape[1]);
}

void bm_array_lay_out(struct bm_array *out, const bouma_array *given,
                      const struct bouma_variable *variable,
                      const int64_t shape[3])
{
    int64_t any = 0, size = (int64_t)bouma_type_size(out->type);
    int ndims = axes_of(variable);

    for (int d = 0; d < ndims && given; d++)
        any |= given->stride[d];
    if (!any) { /* with a component_stride, each component is dense */
        int planar = given && (given->parts || given->component_stride);

        set_dense(out, planar ? 1 : variable->components, shape);
        if (planar && !given->parts && variable->components > 1)
            out->component_stride = given->component_stride;
        return;
    }
    /* Along an axis of one sample any stride is right, and none is used. */
    for (int d = 0; d < 3; d++)
        out->stride[d] = shape[d] > 1 ? given->stride[d - 3 + ndims] : size;
    out->component_stride =
        given->parts ? 0
        : given->component_stride && variable->components > 1
            ? given->component_stride
            : size;
}

struct bm_array bm_array_dense(const struct bouma_variable *v, uint8_t *data,
                               const int64_t count[3])
{
    struct bm_array a = {.type = v->type, .data = data};

    set_dense(&a, v->components, count);
    return a;
}

struct bm_array bm_array_planar(const struct bouma_variable *v, uint8_t *data,
                                const int64_t count[3])
{
    struct bm_array a = {.type = v->type, .data = data};

    set_dense(&a, 1, count);
    a.component_stride = a.stride[0] * count[0];
    return a;
}

struct bm_array bm_array_part(const struct bm_array *a,
                              const struct bm_footprint *all,
                              const struct bm_footprint *part)
{
    struct bm_array out = *a;

    for (int d = 0; d < 3; d++) {
        int64_t at = (part->start[d] - all->start[d]) >> all->shift[d];

        out.data += at * a->stride[d];
        out.stride[d] =
            a->stride[d] * ((int64_t)1 << (part->shift[d] - all->shift[d]));
    }
    return out;
}

int bm_footprint_next(struct bm_footprint *part, const struct bm_footprint *all,
                      uint64_t most)
{
    int begins = !bm_footprint_samples(part), carry = !begins;

    if (!bm_footprint_samples(all))
        return 0;
    for (int d = 2; d >= 0; d--) {
        int64_t step = (int64_t)1 << all->shift[d], next;
        int64_t edge =
            most < (uint64_t)all->count[d] ? (int64_t)most : all->count[d];

        edge = edge ? edge : 1;
        most /= (uint64_t)edge;
        next = begins ? 0 : (part->start[d] - all->start[d]) / step;
        next += carry ? edge : 0;
        carry = carry && next >= all->count[d];
        next = carry ? 0 : next;
        part->shift[d] = all->shift[d];
        part->start[d] = all->start[d] + next * step;
        part->count[d] =
            edge < all->count[d] - next ? edge : all->count[d] - next;
    }
    return !carry;
}

/* ---- values ------------------------------------------------------------- */

/* Why the value at 'at', of a component, is refused. */
static int refuse(const struct bm_cutout *w, const struct bm_conversion *c,
                  const int64_t at[3], int component, const uint8_t *value,
                  struct bm_error *error)
{
    const struct bouma_variable *v = w->variable;
    int near, ndims = axes_of(v);
    char why[BM_REFUSAL_TEXT_BYTES], index[80] = "", which[40] = "";
    size_t n = 0;

    for (int d = 3 - ndims; d < 3; d++) {
        int64_t i =
            w->samples.start[d] + at[d] * ((int64_t)1 << w->samples.shift[d]);

        n += (size_t)snprintf(index + n, sizeof(index) - n, "%s%" PRId64,
                              d > 3 - ndims ? "," : "", i);
    }
    if (v->components > 1)
        snprintf(which, sizeof(which), "component %d of ", component);
    near = bm_convert_refusal(why, c, value);
    return bm_fail(error, BOUMA_EINVAL,
                   "variable \"%s/%s\", %ssample [%s]: %s; the array is %s, "
                   "the variable %s%s",
                   v->object->name, v->name, which, index, why,
                   bouma_type_name(w->array.type), bouma_type_name(v->type),
                   near ? ". Give both one type, or set the array's 'convert' "
                          "to BOUMA_CONVERT_ROUND"
                        : "");
}

/* The axis along which 'from' is walked through in small steps. */
static int run_axis(const struct bm_array *from, const int64_t count[3])
{
    int axis = 2;

    for (int d = 1; d >= 0; d--) {
        int64_t step = from->stride[d] < 0 ? -from->stride[d] : from->stride[d];
        int64_t least =
            from->stride[axis] < 0 ? -from->stride[axis] : from->stride[axis];

        if (count[d] > 1 && (count[axis] == 1 || step < least))
            axis = d;
    }
    return axis;
}

/* Copy the samples of a cutout from one array to another, both here. */
static int copy_samples(const struct bm_array *to, const struct bm_array *from,
                        const struct bm_cutout *w, struct bm_error *error)
{
    const struct bm_conversion c = {from->type, to->type, w->array.rounds};
    const int64_t *count = w->samples.count;
    int run = run_axis(from, count), i = run == 0, j = run == 2 ? 1 : 2;
    int64_t at[3];

    for (int k = 0; k < w->variable->components; k++)
        for (at[i] = 0; at[i] < count[i]; at[i]++)
            for (at[j] = 0; at[j] < count[j]; at[j]++) {
                uint8_t *out = bm_array_component(to, k) +
                               at[i] * to->stride[i] + at[j] * to->stride[j];
                const uint8_t *in = bm_array_component(from, k) +
                                    at[i] * from->stride[i] +
                                    at[j] * from->stride[j];

                at[run] =
                    (int64_t)bm_convert(&c, out, to->stride[run], in,
                                        from->stride[run], (size_t)count[run]);
                if (at[run] < count[run])
                    return refuse(w, &c, at, k,
                                  in + at[run] * from->stride[run], error);
            }
    return BOUMA_OK;
}

/* ---- memory that the processor cannot reach ----------------------------- */

/* The values of a cutout there: of all components, or of one. */
static struct bm_spread spread_of(const struct bm_cutout *w, int component)
{
    struct bm_spread s = {.data = bm_array_component(&w->array, component),
                          .size = bouma_type_size(w->array.type)};

    for (int d = 0; d < 3; d++) {
        s.count[d] = (uint64_t)w->samples.count[d];
        s.stride[d] = w->array.stride[d];
    }
    s.count[3] = w->array.apart ? 1 : (uint64_t)w->variable->components;
    s.stride[3] = w->array.apart ? 0 : w->array.component_stride;
    return s;
}

/* Where they are once they are here. */
static struct bm_array view_of(const struct bm_cutout *w, uint8_t *room)
{
    struct bm_spread there = spread_of(w, 0);
    struct bm_spread view = bm_remote_view(&there, room);
    struct bm_array here = {.type = w->array.type,
                            .data = room + (view.data - room)};

    for (int d = 0; d < 3; d++)
        here.stride[d] = view.stride[d];
    here.component_stride =
        w->array.apart ? (int64_t)bm_remote_room(&there) : view.stride[3];
    return here;
}

static int copy_remote(const struct bm_cutout *w, uint8_t *room,
                       bouma_copy_direction direction, struct bm_error *error)
{
    int parts = w->array.apart ? w->variable->components : 1, rc = 0;

    for (int k = 0; k < parts && !rc; k++) {
        struct bm_spread there = spread_of(w, k);

        rc = bm_remote_copy(&w->array.remote, &there,
                            room + (size_t)k * bm_remote_room(&there),
                            direction);
    }
    return rc ? bm_fail(error, BOUMA_EABORTED,
                        "variable \"%s/%s\": the copy function of the array "
                        "returned %d",
                        w->variable->object->name, w->variable->name, rc)
              : BOUMA_OK;
}

/* ---- both --------------------------------------------------------------- */

/* Of all values, as those of the variable. */
static size_t converted_bytes(const struct bm_array *a,
                              const struct bouma_variable *v, uint64_t samples)
{
    return a->type == v->type ? 0
                              : (size_t)samples * bm_variable_sample_size(v);
}

size_t bm_cutout_room(const struct bm_array *a, const struct bouma_variable *v,
                      uint64_t samples)
{
    size_t raw = a->remote.copy ? (size_t)samples * (size_t)v->components *
                                      bouma_type_size(a->type)
                                : 0;

    return raw + converted_bytes(a, v, samples);
}

int bm_cutout_fetch(struct bm_array *out, const struct bm_cutout *w,
                    uint8_t *room, struct bm_error *error)
{
    size_t converted = converted_bytes(&w->array, w->variable,
                                       bm_footprint_samples(&w->samples));
    struct bm_array from = w->array;
    int rc = BOUMA_OK;

    if (from.remote.copy) {
        rc = copy_remote(w, room + converted, BOUMA_COPY_DIRECTION_FROM_ARRAY,
                         error);
        from = view_of(w, room + converted);
    }
    *out =
        converted ? bm_array_planar(w->variable, room, w->samples.count) : from;
    return rc || !converted ? rc : copy_samples(out, &from, w, error);
}

int bm_cutout_store(const struct bm_cutout *w, const struct bm_array *from,
                    uint8_t *room, struct bm_error *error)
{
    struct bm_array to = w->array.remote.copy ? view_of(w, room) : w->array;
    int rc = copy_samples(&to, from, w, error);

    return rc || !w->array.remote.copy
               ? rc
               : copy_remote(w, room, BOUMA_COPY_DIRECTION_TO_ARRAY, error);
}
