/* any_array.h -- arrays as callers may have them: of any type and order of axes,
 * with gaps, backwards, with a part for each component, or on a device that the
 * processor cannot reach. */
#ifndef ANY_ARRAY_H
#define ANY_ARRAY_H

#include <sys/mman.h>

#include "bouma_lists.h"
#include "check.h"

/* ---- a device ----------------------------------------------------------- */

/* Its addresses are those of memory that ends the program if it is touched; its
 * bytes are elsewhere. */
struct fake_device {
    uint8_t *address, *memory;
    size_t bytes;
    size_t most;    /* bytes that a copy may have */
    int calls;      /* so far */
    int fails;      /* this call (from 1) and those after it fail; 0: none */
    int directions; /* those that were seen, as bits */
};

static inline void fake_device_init(struct fake_device *d, uint8_t *memory,
                                    size_t bytes)
{
    memset(d, 0, sizeof(*d));
    d->memory = memory;
    d->bytes = bytes;
    d->address =
        mmap(NULL, bytes + 1, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(d->address != MAP_FAILED);
}

static inline void fake_device_release(struct fake_device *d)
{
    munmap(d->address, d->bytes + 1);
}

static inline int fake_device_copy(void *user, const bouma_copy *c)
{
    struct fake_device *d = user;
    int out = c->direction == BOUMA_COPY_DIRECTION_FROM_ARRAY;
    const uint8_t *there = out ? c->from : c->to;
    const int64_t *far = out ? c->from_stride : c->to_stride;
    const int64_t *near = out ? c->to_stride : c->from_stride;

    d->calls++;
    d->directions |= 1 << c->direction;
    if (d->fails && d->calls >= d->fails)
        return 77;
    CHECK_EQ(c->size, sizeof(*c));
    CHECK_EQ(c->ndims, c->count[0] > 1 ? 2 : c->count[1] > 1 ? 1 : 0);
    CHECK(c->run && c->count[0] && c->count[1]);
    CHECK(far[1] >= (int64_t)c->run && near[1] >= (int64_t)c->run);
    CHECK(far[0] >= far[1] && near[0] >= near[1]);
    CHECK(!d->most || c->run * c->count[0] * c->count[1] <= d->most);
    for (size_t i = 0; i < c->count[0]; i++)
        for (size_t j = 0; j < c->count[1]; j++) {
            int64_t at =
                there - d->address + (int64_t)i * far[0] + (int64_t)j * far[1];
            int64_t step = (int64_t)i * near[0] + (int64_t)j * near[1];

            REQUIRE(at >= 0 && (size_t)at + c->run <= d->bytes);
            if (out)
                memcpy((uint8_t *)c->to + step, d->memory + at, c->run);
            else
                memcpy(d->memory + at, (const uint8_t *)c->from + step, c->run);
        }
    return 0;
}

/* ---- arrays ------------------------------------------------------------- */

#define ANY_COMPONENTS 4

struct any_array {
    bouma_array array;
    int ndims, components;
    int64_t shape[3];
    uint8_t *memory, *copy;
    size_t bytes;
    int64_t first, stride[3], apart[ANY_COMPONENTS]; /* in 'memory' */
    void *parts[ANY_COMPONENTS];
    struct fake_device device;
};

enum { ANY_PARTS = 1, ANY_DEVICE = 2 };

/* The axes in any order, with gaps and of any direction. */
static inline int64_t any_array_strides(struct any_array *a, int parts,
                                        uint64_t *random)
{
    int64_t size = (int64_t)bouma_type_size(a->array.type), reach = size;
    int order[4] = {0, 1, 2, 3};

    for (int k = 3; k > 0; k--) {
        int other = (int)check_below(random, k + 1), kept = order[k];

        order[k] = order[other];
        order[other] = kept;
    }
    for (int k = 0; k < 4; k++) {
        int d = order[k];
        int64_t n = d == 3         ? (parts ? 1 : a->components)
                    : d < a->ndims ? a->shape[d]
                                   : 1;
        int64_t stride =
            reach + check_below(random, 3) * check_below(random, 4);

        if (n > 1)
            reach = stride * (n - 1) + reach;
        if (check_below(random, 4) == 0 && n > 1) {
            a->first += stride * (n - 1);
            stride = -stride;
        }
        if (d < 3)
            a->stride[d] = stride;
        for (int c = 0; c < a->components && d == 3; c++)
            a->apart[c] = parts ? 0 : c * stride;
        if (d == 3 && !parts)
            a->array.component_stride = stride;
        if (d < a->ndims)
            a->array.stride[d] = stride;
    }
    return reach;
}

static inline void any_array_dense(struct any_array *a, int parts)
{
    int64_t size = (int64_t)bouma_type_size(a->array.type);
    int64_t stride = size * (parts ? 1 : a->components);

    for (int c = 0; c < a->components; c++)
        a->apart[c] = parts ? 0 : c * size;
    for (int d = a->ndims - 1; d >= 0; d--) {
        a->stride[d] = stride;
        stride *= a->shape[d];
    }
    a->bytes = (size_t)stride;
}

/* An array for samples of a shape, none of which is 0. 'may' are the flags
 * above. Filled with 0xa5. */
static inline void any_array_make(struct any_array *a, bouma_type type,
                                  int components, int ndims,
                                  const int64_t *shape, int may,
                                  uint64_t *random)
{
    int parts = may & ANY_PARTS && !check_below(random, 3);
    int64_t each, room = 0;

    memset(a, 0, sizeof(*a));
    a->array.size = sizeof(a->array);
    a->array.type = type;
    a->ndims = ndims;
    a->components = components;
    memcpy(a->shape, shape, (size_t)ndims * sizeof(*shape));
    if (check_below(random, 4))
        a->bytes = (size_t)any_array_strides(a, parts, random);
    else
        any_array_dense(a, parts);
    a->array.bytes = a->bytes;
    each = (int64_t)a->bytes;
    for (int c = 0; c < components && parts; c++) {
        a->apart[components - 1 - c] = room;
        room += each + check_below(random, 20);
    }
    a->bytes = parts ? (size_t)room : a->bytes;
    a->memory = malloc(a->bytes + 1);
    a->copy = malloc(a->bytes + 1);
    REQUIRE(a->memory && a->copy);
    memset(a->memory, 0xa5, a->bytes + 1);
    memset(a->copy, 0xa5, a->bytes + 1);
    fake_device_init(&a->device, a->memory, a->bytes);
    if (may & ANY_DEVICE && !check_below(random, 3)) {
        a->array.copy = fake_device_copy;
        a->array.copy_user = &a->device;
        a->array.copy_bytes = (size_t)check_below(random, 300);
        a->device.most = a->array.copy_bytes;
    }
    for (int c = 0; c < components; c++)
        a->parts[c] = (a->array.copy ? a->device.address : a->memory) +
                      a->first + a->apart[c];
    if (parts)
        a->array.parts = a->parts;
    else
        a->array.data = (uint8_t *)a->parts[0] - a->apart[0];
}

static inline void any_array_free(struct any_array *a)
{
    fake_device_release(&a->device);
    free(a->memory);
    free(a->copy);
}

/* Where a value is, whether the processor can reach the array or not. */
static inline uint8_t *any_array_at(const struct any_array *a,
                                    const int64_t *index, int component)
{
    int64_t at = a->first + a->apart[component];

    for (int d = 0; d < a->ndims; d++)
        at += index[d] * a->stride[d];
    return a->memory + at;
}

/* Remember all bytes; whether they are the same. */
static inline void any_array_keep(struct any_array *a)
{
    memcpy(a->copy, a->memory, a->bytes);
}
static inline int any_array_kept(const struct any_array *a)
{
    return !memcmp(a->copy, a->memory, a->bytes);
}

/* ---- values ------------------------------------------------------------- */

static inline void any_value_set(void *to, bouma_type type, double v)
{
    switch (type) {
#define SET(name, value, ctype, text)                                          \
    case BOUMA_##name: {                                                       \
        ctype one = (ctype)v;                                                  \
        memcpy(to, &one, sizeof(one));                                         \
        break;                                                                 \
    }
        BOUMA_TYPE_LIST(SET)
#undef SET
    case BOUMA_TYPE_STRING:
        break;
    }
}

static inline double any_value_get(const void *from, bouma_type type)
{
    switch (type) {
#define GET(name, value, ctype, text)                                          \
    case BOUMA_##name: {                                                       \
        ctype one;                                                             \
        memcpy(&one, from, sizeof(one));                                       \
        return (double)one;                                                    \
    }
        BOUMA_TYPE_LIST(GET)
#undef GET
    case BOUMA_TYPE_STRING:
        break;
    }
    return 0;
}

/* A number that every type has, of a sample at an index of the grid. */
static inline double any_number(const int64_t *index, int ndims, int component)
{
    int64_t n = 11 * component;

    for (int d = 0; d < ndims; d++)
        n += index[d] * (int64_t[]){7, 3, 5}[d];
    return (double)(n % 101);
}

/* Fill with the numbers of a box; or count those that are wrong for a selection,
 * and what else has changed. */
static inline void any_array_fill(struct any_array *a, const bouma_box *box)
{
    int64_t n[3] = {1, 1, 1}, i[3], at[3];

    memcpy(n, a->shape, (size_t)a->ndims * sizeof(*n));
    for (i[0] = 0; i[0] < n[0]; i[0]++)
        for (i[1] = 0; i[1] < n[1]; i[1]++)
            for (i[2] = 0; i[2] < n[2]; i[2]++)
                for (int c = 0; c < a->components; c++) {
                    for (int d = 0; d < a->ndims; d++)
                        at[d] = box->lo[d] + i[d];
                    any_value_set(any_array_at(a, i, c), a->array.type,
                                  any_number(at, a->ndims, c));
                }
    any_array_keep(a);
}

static inline int64_t any_array_wrong(struct any_array *a,
                                      const bouma_selection *s)
{
    int64_t n[3] = {1, 1, 1}, i[3], at[3], wrong = 0;

    memcpy(n, a->shape, (size_t)a->ndims * sizeof(*n));
    for (i[0] = 0; i[0] < n[0]; i[0]++)
        for (i[1] = 0; i[1] < n[1]; i[1]++)
            for (i[2] = 0; i[2] < n[2]; i[2]++)
                for (int c = 0; c < a->components; c++) {
                    uint8_t *value = any_array_at(a, i, c);

                    for (int d = 0; d < a->ndims; d++)
                        at[d] = s->first[d] + i[d] * s->step[d];
                    wrong += any_value_get(value, a->array.type) !=
                             any_number(at, a->ndims, c);
                    memset(value, 0xa5, bouma_type_size(a->array.type));
                }
    return wrong + !any_array_kept(a);
}

#endif
