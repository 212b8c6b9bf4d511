/* column.c -- see column.h. */
#include "api/column.h"

#include <string.h>

/* Strides that are not given are those of dense values. */
static void complete(bouma_array *a, const bouma_variable *v)
{
    int64_t size = (int64_t)bouma_type_size(a->type);

    if (a->stride[0] && !a->component_stride && !a->parts && v->components > 1)
        a->component_stride = size;
    else if (!a->stride[0] && a->component_stride)
        a->stride[0] = size;
}

/* Whether the components of a particle, side by side, reach into the next. */
static int check_overlap(const bouma_variable *v, const struct bm_array *a,
                         uint64_t count)
{
    int64_t size = (int64_t)bouma_type_size(a->type);
    int64_t whole = size * v->components, stride = a->stride[2];

    if (a->apart || a->component_stride != size || count < 2 ||
        stride >= whole || stride <= -whole)
        return BOUMA_OK;
    return bm_fail(v->object->schema->error, BOUMA_EINVAL,
                   "variable \"%s/%s\": with a stride of %lld bytes its "
                   "values, of %lld bytes each, would overlap",
                   v->object->name, v->name, (long long)stride,
                   (long long)whole);
}

static int check_axes(const bouma_variable *v, const bouma_array *a)
{
    for (int d = 1; d < BOUMA_MAX_DIMS; d++)
        if (a->stride[d])
            return bm_fail(v->object->schema->error, BOUMA_EINVAL,
                           "variable \"%s/%s\": the array has a stride[%d], "
                           "but arrays of particles have one axis",
                           v->object->name, v->name, d);
    return BOUMA_OK;
}

int bm_api_column(struct bm_column *out, const struct bm_object *set,
                  const bouma_column *columns, size_t i, uint64_t count)
{
    struct bm_error *error = set->schema->error;
    const int64_t shape[3] = {1, 1, (int64_t)count};
    bouma_column column;
    bouma_array array;
    int rc = bm_api_copy_element(error, &column, sizeof(column), columns, i,
                                 "bouma_column");

    memset(out, 0, sizeof(*out));
    if (rc)
        return rc;
    if (!column.variable || column.variable->object != set)
        return bm_api_not_theirs(set, column.variable, "a column's variable",
                                 error);
    out->variable = column.variable;
    if (!count)
        return BOUMA_OK;
    if (!column.array)
        return bm_fail(error, BOUMA_EINVAL,
                       "variable \"%s/%s\": the column has no array", set->name,
                       column.variable->name);
    rc = bm_api_copy_spec(error, &array, sizeof(array), column.array,
                          column.array->size, "bouma_array");
    if (!rc)
        rc = check_axes(column.variable, &array);
    if (rc)
        return rc;
    array.size = sizeof(array);
    complete(&array, column.variable);
    rc = bm_api_array(&out->array, &out->apart, &array, column.variable, shape,
                      0);
    return rc ? rc : check_overlap(column.variable, &out->array, count);
}

void bm_api_column_release(struct bm_column *column, const bouma_allocator *a)
{
    bm_drop(a, column->apart);
    column->apart = NULL;
}
