/* column_overlap.c -- see column_overlap.h. */
#include "api/column_overlap.h"

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

static int64_t end_of(const struct bm_row *r)
{
    return r->first + (r->count - 1) * r->stride + r->bytes;
}

/* Whether a row has a byte in [lo, hi): only the first value that ends behind
 * lo can tell. */
static int meets(const struct bm_row *r, int64_t lo, int64_t hi)
{
    int64_t i = floor_div(lo - r->first - r->bytes, r->stride) + 1;

    i = i < 0 ? 0 : i;
    return i < r->count && r->first + i * r->stride < hi;
}

/* With the same stride, value i of one and i + k of the other are at the same
 * distance for all i: look at the first k that is not too far below. */
static int meet_in_step(const struct bm_row *a, const struct bm_row *b)
{
    int64_t apart = b->first - a->first;
    int64_t k = floor_div(-b->bytes - apart, a->stride) + 1;

    k = k < 1 - a->count ? 1 - a->count : k;
    return k < b->count && apart + k * a->stride < a->bytes;
}

int bm_rows_meet(const struct bm_row *a, const struct bm_row *b)
{
    int64_t lo = a->first > b->first ? a->first : b->first;
    int64_t hi = end_of(a) < end_of(b) ? end_of(a) : end_of(b);
    const struct bm_row *few = a->stride > b->stride ? a : b;
    const struct bm_row *many = few == a ? b : a;
    int64_t i;

    if (lo >= hi)
        return 0;
    if (a->stride == b->stride)
        return meet_in_step(a, b);
    i = floor_div(lo - few->first - few->bytes, few->stride) + 1;
    for (i = i < 0 ? 0 : i; i < few->count; i++) {
        int64_t at = few->first + i * few->stride;

        if (at >= hi)
            return 0;
        if (meets(many, at, at + few->bytes))
            return 1;
    }
    return 0;
}

/* Components side by side are one row, others one each. */
static int rows_of(const struct bm_column *c)
{
    const struct bm_array *a = &c->array;

    return a->apart || a->component_stride != (int64_t)bouma_type_size(a->type)
               ? c->variable->components
               : 1;
}

static struct bm_row row_of(const struct bm_column *c, int i, uint64_t count)
{
    const struct bm_array *a = &c->array;
    int64_t size = (int64_t)bouma_type_size(a->type), stride = a->stride[2];
    struct bm_row row = {.first =
                             (int64_t)(uintptr_t)a->data + bm_array_at(a, i),
                         .bytes = size,
                         .stride = stride < 0 ? -stride : stride,
                         .count = (int64_t)count};

    if (rows_of(c) == 1)
        row.bytes *= c->variable->components;
    if (stride < 0)
        row.first += (row.count - 1) * stride;
    if (count == 1 || !row.stride)
        row.stride = row.bytes;
    return row;
}

/* Addresses of a device say nothing about those of others. */
static int same_memory(const struct bm_remote *a, const struct bm_remote *b)
{
    return a->copy == b->copy && (!a->copy || a->user == b->user);
}

static int columns_meet(const struct bm_column *a, const struct bm_column *b,
                        uint64_t count)
{
    if (!same_memory(&a->array.remote, &b->array.remote))
        return 0;
    for (int i = 0; i < rows_of(a); i++)
        for (int j = a == b ? i + 1 : 0; j < rows_of(b); j++) {
            struct bm_row one = row_of(a, i, count),
                          other = row_of(b, j, count);

            if (bm_rows_meet(&one, &other))
                return 1;
        }
    return 0;
}

int bm_api_columns_apart(const struct bm_column *columns, size_t column_count,
                         uint64_t count, struct bm_error *error)
{
    for (size_t i = 0; i < column_count && count; i++)
        for (size_t j = i; j < column_count; j++) {
            const bouma_variable *a = columns[i].variable;

            if (!columns_meet(&columns[i], &columns[j], count))
                continue;
            if (i == j)
                return bm_fail(error, BOUMA_EINVAL,
                               "variable \"%s/%s\": its parts overlap in "
                               "memory",
                               a->object->name, a->name);
            return bm_fail(error, BOUMA_EINVAL,
                           "particles \"%s\": the arrays for \"%s\" and \"%s\" "
                           "(columns %zu and %zu) overlap in memory",
                           a->object->name, a->name, columns[j].variable->name,
                           i, j);
        }
    return BOUMA_OK;
}
