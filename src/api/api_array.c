/* api_array.c -- arrays of the caller: checked, and lifted to three axes. */
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "api/api.h"

/* ---- a part of a larger array ------------------------------------------- */

static int is_dense(const bouma_array *array)
{
    int64_t any = array->component_stride | array->part_offset;

    for (int d = 0; d < BM_MAX_DIMS; d++)
        any |= array->stride[d];
    return !any;
}

/* A dense array of the caller, and the sample of it where a part begins. */
struct whole {
    int components, ndims;
    const int64_t *extent, *first;
};

static int check_whole(const bouma_array *array, const struct whole *w,
                       struct bm_error *error)
{
    const char *wrong =
        !bm_type_valid((int)array->type) ? "the array has no type"
        : !array->data && !array->parts
            ? "the array has neither 'data' nor 'parts'"
        : array->data && array->parts ? "the array has both 'data' and 'parts'"
        : !is_dense(array) ? "the array has strides already; give a dense one"
        : !w->extent       ? "extent is NULL"
        : !w->first        ? "first is NULL"
                           : NULL;

    if (wrong)
        return bm_fail(error, BOUMA_EINVAL, "%s", wrong);
    if (w->ndims < 1 || w->ndims > BM_MAX_DIMS || w->components < 1)
        return bm_fail(error, BOUMA_EINVAL,
                       "ndims is %d, and components is %d; there are 1 to %d "
                       "axes, and 1 component or more",
                       w->ndims, w->components, BM_MAX_DIMS);
    for (int d = 0; d < w->ndims; d++)
        if (w->first[d] < 0 || w->first[d] >= w->extent[d])
            return bm_fail(error, BOUMA_EINVAL,
                           "first[%d] is %" PRId64 ", and the extent of that "
                           "axis is %" PRId64,
                           d, w->first[d], w->extent[d]);
    return BOUMA_OK;
}

/* Set the strides of a dense array. */
static int lay_out(bouma_array *array, const struct whole *w,
                   struct bm_error *error)
{
    int64_t bytes = (int64_t)bouma_type_size(array->type);
    int over;

    if (!array->parts)
        array->component_stride = bytes;
    over =
        __builtin_mul_overflow(bytes, array->parts ? 1 : w->components, &bytes);
    for (int d = w->ndims - 1; d >= 0 && !over; d--) {
        array->stride[d] = bytes;
        over = __builtin_mul_overflow(bytes, w->extent[d], &bytes);
    }
    if (over)
        return bm_fail(error, BOUMA_EINVAL,
                       "an array of that extent has 2^63 bytes or more");
    if ((uint64_t)bytes > array->bytes)
        return bm_fail(error, BOUMA_EINVAL,
                       "the array has %zu bytes, and needs %" PRId64
                       " for that extent",
                       array->bytes, bytes);
    return BOUMA_OK;
}

static int cut_out(bouma_array *array, const struct whole *w,
                   struct bm_error *error)
{
    /* Also the shorter struct of an older caller has strides. */
    const size_t enough =
        offsetof(bouma_array, part_offset) + sizeof(array->part_offset);
    bouma_array own;
    int64_t offset = 0;
    int rc = bm_api_copy_spec(error, &own, sizeof(own), array, array->size,
                              "bouma_array");

    if (!rc && array->size < enough)
        rc = bm_fail(error, BOUMA_EINVAL,
                     "a bouma_array of %zu bytes has no strides", array->size);
    if (rc)
        return rc;
    rc = check_whole(&own, w, error);
    if (!rc)
        rc = lay_out(&own, w, error);
    if (rc) {
        array->type = (bouma_type)0; /* refused wherever it is used */
        return rc;
    }
    for (int d = 0; d < w->ndims; d++)
        offset += w->first[d] * own.stride[d];
    if (own.parts) {
        own.part_offset = offset;
    } else {
        own.data = (uint8_t *)own.data + offset;
        own.bytes -= (size_t)offset;
    }
    memcpy(array, &own, array->size < sizeof(own) ? array->size : sizeof(own));
    return BOUMA_OK;
}

int bouma_array_inside(bouma_array *array, int components, int ndims,
                       const int64_t *extent, const int64_t *first,
                       char *message, size_t bytes)
{
    const struct whole w = {components, ndims, extent, first};
    struct bm_error error = {0};
    int rc = array ? cut_out(array, &w, &error)
                   : bm_fail(&error, BOUMA_EINVAL, "array is NULL");

    bm_api_tell(message, bytes, error.text);
    return rc;
}

/* ---- the array of a put or a read --------------------------------------- */

/* Also of INT64_MIN, which has no positive counterpart. */
static uint64_t distance(int64_t stride)
{
    return stride < 0 ? -(uint64_t)stride : (uint64_t)stride;
}

/* Whether two values share bytes. Axes by ascending strides: each must step over
 * all that the ones before it span. */
static int overlap(int components, const int64_t count[3],
                   const struct bm_array *a)
{
    uint64_t stride[4], span = bouma_type_size(a->type);
    int64_t n[4];
    int axes = 0;

    for (int d = 0; d < 4; d++) {
        int64_t one = d < 3 ? a->stride[d] : a->component_stride;
        int64_t many = d < 3 ? count[d] : components;
        uint64_t apart = distance(one);
        int at = axes;

        if (many < 2)
            continue;
        for (; at && stride[at - 1] > apart; at--) {
            stride[at] = stride[at - 1];
            n[at] = n[at - 1];
        }
        stride[at] = apart;
        n[at] = many;
        axes++;
    }
    for (int i = 0; i < axes; i++) {
        uint64_t more;

        if (stride[i] < span)
            return 1;
        if (__builtin_mul_overflow(stride[i], (uint64_t)n[i] - 1, &more) ||
            __builtin_add_overflow(span, more, &span))
            return 0; /* more than there is memory, which is refused */
    }
    return 0;
}

/* EINVAL where values would overlap in memory. */
static int check_strides(const bouma_variable *v, int components,
                         const int64_t count[3], const struct bm_array *a,
                         int may_repeat)
{
    int64_t size = (int64_t)bouma_type_size(a->type);

    for (int d = 0; d < 4; d++) {
        int64_t n = d < 3 ? count[d] : components;
        int64_t one = d < 3 ? a->stride[d] : a->component_stride;

        if (n > 1 && one > -size && one < size && (one || !may_repeat))
            return bm_fail(v->object->schema->error, BOUMA_EINVAL,
                           "variable \"%s/%s\": with a %s of %lld bytes its "
                           "values, of %lld bytes each, would overlap; strides "
                           "count bytes",
                           v->object->name, v->name,
                           d < 3 ? "stride" : "component_stride",
                           (long long)one, (long long)size);
    }
    if (!may_repeat && v->object->kind == BM_GRID && /* particles: later */
        overlap(components, count, a))
        return bm_fail(v->object->schema->error, BOUMA_EINVAL,
                       "variable \"%s/%s\": with these strides, values of "
                       "different samples would overlap",
                       v->object->name, v->name);
    return BOUMA_OK;
}

/* From the first byte of all samples to behind the last, in each array;
 * UINT64_MAX if that is more than there can be. */
static uint64_t span_of(const struct bm_array *a, int components,
                        const int64_t count[3])
{
    uint64_t span = bouma_type_size(a->type);

    for (int d = 0; d < 4; d++) {
        int64_t stride = d < 3 ? a->stride[d] : a->component_stride;
        uint64_t n = (uint64_t)(d < 3 ? count[d] : components) - 1;
        uint64_t one = distance(stride);

        if (__builtin_mul_overflow(one, n, &one) ||
            __builtin_add_overflow(span, one, &span))
            return UINT64_MAX;
    }
    return span;
}

/* With a part_offset it is known where the samples lie in the memory. */
static int is_beyond(const struct bm_array *a, const int64_t count[3],
                     const bouma_array *own)
{
    uint64_t before = 0,
             behind = (uint64_t)own->part_offset + bouma_type_size(a->type);

    for (int d = 0; d < 3; d++) {
        uint64_t one = distance(a->stride[d]) * (uint64_t)(count[d] - 1);

        *(a->stride[d] < 0 ? &before : &behind) += one;
    }
    return before > (uint64_t)own->part_offset || behind > own->bytes;
}

static int check_span(const bouma_variable *v, const struct bm_array *a,
                      const int64_t count[3], const bouma_array *own)
{
    uint64_t span = span_of(a, own->parts ? 1 : v->components, count);

    if (span <= own->bytes && own->part_offset && is_beyond(a, count, own))
        return bm_fail(v->object->schema->error, BOUMA_EINVAL,
                       "variable \"%s/%s\": with a part_offset of %" PRId64
                       ", samples lie beyond the %zu bytes of each part",
                       v->object->name, v->name, own->part_offset, own->bytes);

    return span <= own->bytes
               ? BOUMA_OK
               : bm_fail(v->object->schema->error, BOUMA_EINVAL,
                         "variable \"%s/%s\": %s %zu bytes; these samples, as "
                         "%s, need %" PRIu64,
                         v->object->name, v->name,
                         own->parts ? "each part of the array has"
                                    : "the array has",
                         own->bytes, bouma_type_name(a->type), span);
}

/* What is wrong with an array, whatever its samples are; or NULL. */
static const char *fault_of(const bouma_variable *v, const bouma_array *own)
{
    if (!bm_type_valid((int)own->type))
        return "has no type; set 'type' to that of the values in memory (if it "
               "was set, bouma_array_inside() has refused the array)";
    if (own->convert != BOUMA_CONVERT_EXACT &&
        own->convert != BOUMA_CONVERT_ROUND)
        return "has a wrong 'convert'";
    if (!own->copy && (own->copy_user || own->copy_bytes))
        return "has 'copy_user' or 'copy_bytes', but no function 'copy'";
    if (own->data && own->parts)
        return "has both 'data' and 'parts'; leave one of them NULL";
    if (!own->data && !own->parts)
        return "has no data; set 'data' or 'parts'";
    if (!own->parts && own->part_offset)
        return "has a part_offset, but no 'parts'";
    if (own->part_offset < 0)
        return "has a part_offset below 0";
    if (own->parts && own->component_stride)
        return "has 'parts' and a component_stride, which has no meaning then";
    for (int c = 0; own->parts && c < v->components; c++)
        if (!own->parts[c])
            return "has a part that is NULL";
    return NULL;
}

/* The bytes from the first part to each. */
static int take_parts(struct bm_array *out, int64_t **apart,
                      const bouma_array *own, const bouma_variable *v)
{
    size_t n = (size_t)v->components;

    *apart = bm_new_raw(v->object->schema->a, n, sizeof(**apart));
    if (!*apart)
        return bm_fail(v->object->schema->error, BOUMA_ENOMEM,
                       "no memory for the parts of an array");
    for (size_t c = 0; c < n; c++)
        (*apart)[c] =
            (int64_t)((uintptr_t)own->parts[c] - (uintptr_t)own->parts[0]);
    out->data = (uint8_t *)own->parts[0] + own->part_offset;
    out->apart = *apart;
    return BOUMA_OK;
}

int bm_api_array(struct bm_array *out, int64_t **apart,
                 const bouma_array *given, const bouma_variable *v,
                 const int64_t count[3], int may_repeat)
{
    struct bm_error *error = v->object->schema->error;
    bouma_array own;
    const char *fault;
    int rc = bm_api_copy_spec(error, &own, sizeof(own), given,
                              given ? given->size : 0, "bouma_array");

    memset(out, 0, sizeof(*out));
    *apart = NULL;
    if (rc)
        return rc;
    fault = fault_of(v, &own);
    if (fault)
        return bm_fail(error, BOUMA_EINVAL, "variable \"%s/%s\": the array %s",
                       v->object->name, v->name, fault);
    out->type = own.type;
    out->rounds = own.convert == BOUMA_CONVERT_ROUND;
    out->data = own.data;
    out->remote = (struct bm_remote){own.copy, own.copy_user, own.copy_bytes};
    bm_array_lay_out(out, &own, v, count);
    rc =
        check_strides(v, own.parts ? 1 : v->components, count, out, may_repeat);
    if (!rc)
        rc = check_span(v, out, count, &own);
    return rc || !own.parts ? rc : take_parts(out, apart, &own, v);
}
