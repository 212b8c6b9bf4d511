/* api_array.c -- arrays of the caller: checked, and lifted to three axes. */
#include <inttypes.h>
#include <string.h>

#include "api/api.h"

/* ---- a part of a larger array ------------------------------------------- */

static int is_dense(const bouma_array *array)
{
    int64_t any = array->component_stride;

    for (int d = 0; d < BOUMA_MAX_DIMS; d++)
        any |= array->stride[d];
    return !any;
}

/* The strides of a dense array, and what it takes; EINVAL if that is more than
 * the array has. */
static int lay_out(bouma_array *array, int components, int ndims,
                   const int64_t *extent)
{
    int64_t bytes = (int64_t)bouma_type_size(array->type);

    array->component_stride = bytes;
    if (__builtin_mul_overflow(bytes, components, &bytes))
        return BOUMA_EINVAL;
    for (int d = ndims - 1; d >= 0; d--) {
        array->stride[d] = bytes;
        if (extent[d] < 1 || __builtin_mul_overflow(bytes, extent[d], &bytes))
            return BOUMA_EINVAL;
    }
    return (uint64_t)bytes <= array->bytes ? BOUMA_OK : BOUMA_EINVAL;
}

int bouma_array_inside(bouma_array *array, int components, int ndims,
                       const int64_t *extent, const int64_t *first)
{
    int rc;

    if (!array || array->size < sizeof(*array))
        return BOUMA_EINVAL;
    rc = extent && first && ndims >= 1 && ndims <= 3 && components >= 1 &&
                 array->data && is_dense(array)
             ? lay_out(array, components, ndims, extent)
             : BOUMA_EINVAL;
    for (int d = 0; d < ndims && !rc; d++)
        if (first[d] < 0 || first[d] >= extent[d])
            rc = BOUMA_EINVAL;
    for (int d = 0; d < ndims && !rc; d++)
        array->data = (uint8_t *)array->data + first[d] * array->stride[d];
    if (rc)
        array->type = (bouma_type)0; /* refused wherever it is used */
    return rc;
}

/* ---- the array of a put or a read --------------------------------------- */

/* EINVAL where values would overlap in memory. */
static int check_strides(const bouma_variable *v, const int64_t count[3],
                         const struct bm_array *a, int may_repeat)
{
    int64_t size = (int64_t)bouma_type_size(a->type);

    for (int d = 0; d < 4; d++) {
        int64_t n = d < 3 ? count[d] : v->components;
        int64_t one = d < 3 ? a->stride[d] : a->component_stride;

        if (n > 1 && one > -size && one < size && (one || !may_repeat))
            return bm_fail(v->object->schema->error, BOUMA_EINVAL,
                           "variable \"%s/%s\": with a %s of %lld bytes its "
                           "values, of %lld bytes each, would overlap",
                           v->object->name, v->name,
                           d < 3 ? "stride" : "component_stride",
                           (long long)one, (long long)size);
    }
    return BOUMA_OK;
}

/* From the first byte of all samples to behind the last; UINT64_MAX if that is
 * more than there can be. */
static uint64_t span_of(const struct bm_array *a, int components,
                        const int64_t count[3])
{
    uint64_t span = bouma_type_size(a->type);

    for (int d = 0; d < 4; d++) {
        int64_t stride = d < 3 ? a->stride[d] : a->component_stride;
        uint64_t n = (uint64_t)(d < 3 ? count[d] : components) - 1;
        uint64_t one = stride < 0 ? -(uint64_t)stride : (uint64_t)stride;

        if (__builtin_mul_overflow(one, n, &one) ||
            __builtin_add_overflow(span, one, &span))
            return UINT64_MAX;
    }
    return span;
}

static int check_span(const bouma_variable *v, const struct bm_array *a,
                      const int64_t count[3], size_t bytes)
{
    uint64_t span = span_of(a, v->components, count);

    return span <= bytes
               ? BOUMA_OK
               : bm_fail(v->object->schema->error, BOUMA_EINVAL,
                         "variable \"%s/%s\": the array has %zu bytes; these "
                         "samples, as %s, need %" PRIu64,
                         v->object->name, v->name, bytes,
                         bouma_type_name(a->type), span);
}

static int check_array(const bouma_variable *v, const bouma_array *own)
{
    struct bm_error *error = v->object->schema->error;

    if (!bm_type_valid((int)own->type))
        return bm_fail(error, BOUMA_EINVAL,
                       "variable \"%s/%s\": the array has no type; set 'type' "
                       "to that of the values in memory",
                       v->object->name, v->name);
    if (own->type != v->type)
        return bm_fail(error, BOUMA_EINVAL,
                       "variable \"%s/%s\" is %s, but the array is %s",
                       v->object->name, v->name, bouma_type_name(v->type),
                       bouma_type_name(own->type));
    if (own->parts || own->copy)
        return bm_fail(error, BOUMA_EINVAL,
                       "variable \"%s/%s\": 'parts' and 'copy' of an array "
                       "must be NULL",
                       v->object->name, v->name);
    return own->data ? BOUMA_OK
                     : bm_fail(error, BOUMA_EINVAL,
                               "variable \"%s/%s\": the array has no data",
                               v->object->name, v->name);
}

int bm_api_array(struct bm_array *out, const bouma_array *given,
                 const bouma_variable *v, const int64_t count[3],
                 int may_repeat)
{
    bouma_array own;
    int rc = bm_api_copy_spec(v->object->schema->error, &own, sizeof(own),
                              given, given ? given->size : 0, "bouma_array");

    memset(out, 0, sizeof(*out));
    if (!rc)
        rc = check_array(v, &own);
    if (rc)
        return rc;
    out->type = own.type;
    out->data = own.data;
    bm_array_lay_out(out, &own, v, count);
    rc = check_strides(v, count, out, may_repeat);
    return rc ? rc : check_span(v, out, count, own.bytes);
}
