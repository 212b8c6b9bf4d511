/* field.h -- a grid in memory that knows what every read of it must give: the
 * brute force against which the library is compared. */
#ifndef FIELD_H
#define FIELD_H

#include "arrays.h"
#include "bouma_lists.h"
#include "check.h"
#include "must.h"

struct field {
    bouma_type type;
    int components, ndims;
    int64_t shape[3]; /* the grid's own axes first */
    uint8_t *data;    /* dense, C order, components innermost */
    size_t size;      /* of a value */
    size_t samples;
};

static inline void set_value(void *to, bouma_type type, double v)
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

/* Values 0 to 126, so that they fit every type; some structure, some noise. */
static inline void field_init(struct field *f, bouma_type type, int components,
                              int ndims, const int64_t *shape, uint64_t seed)
{
    memset(f, 0, sizeof(*f));
    f->type = type;
    f->components = components;
    f->ndims = ndims;
    f->size = bouma_type_size(type);
    f->samples = 1;
    for (int d = 0; d < ndims; d++) {
        f->shape[d] = shape[d];
        f->samples *= (size_t)shape[d];
    }
    f->data = malloc(f->samples * (size_t)components * f->size);
    REQUIRE(f->data);
    for (size_t i = 0; i < f->samples * (size_t)components; i++)
        set_value(f->data + i * f->size, type,
                  (double)(i % 100 + check_random(&seed) % 27));
}

static inline void field_release(struct field *f)
{
    free(f->data);
    f->data = NULL;
}

static inline bouma_box field_all(const struct field *f)
{
    bouma_box box = {{0, 0, 0}, {0, 0, 0}};

    for (int d = 0; d < f->ndims; d++)
        box.hi[d] = f->shape[d];
    return box;
}

static inline uint8_t *field_at(const struct field *f, const int64_t *at)
{
    int64_t i = 0;

    for (int d = 0; d < f->ndims; d++)
        i = i * f->shape[d] + at[d];
    return f->data + (size_t)i * (size_t)f->components * f->size;
}

/* Bytes of one sample of the field. */
static inline size_t field_sample(const struct field *f)
{
    return (size_t)f->components * f->size;
}

/* Call 'each' for every sample of the box at a level, in C order, with its
 * index among those of the result. */
static inline int64_t field_select(const struct field *f, int level,
                                   const bouma_box *box, int64_t shape[3],
                                   int64_t first[3])
{
    int64_t unit = (int64_t)1 << level, samples = 1;

    for (int d = 0; d < f->ndims; d++) {
        shape[d] = 0;
        for (int64_t x = box->lo[d]; x < box->hi[d]; x++)
            if (x % unit == 0) {
                if (!shape[d])
                    first[d] = x;
                shape[d]++;
            }
        samples *= shape[d];
    }
    return samples;
}

/* Whether 'got' (dense) is the box at the level. */
static inline int field_matches(const struct field *f, int level,
                                const bouma_box *box, const void *got)
{
    int64_t shape[3] = {1, 1, 1}, first[3] = {0, 0, 0};
    int64_t samples = field_select(f, level, box, shape, first);
    const uint8_t *p = got;

    for (int64_t i = 0; i < samples; i++, p += field_sample(f)) {
        int64_t rest = i, at[3];

        for (int d = f->ndims - 1; d >= 0; d--) {
            at[d] = first[d] + (rest % shape[d] << level);
            rest /= shape[d];
        }
        if (memcmp(p, field_at(f, at), field_sample(f)))
            return 0;
    }
    return 1;
}

static inline bouma_box field_random_box(const struct field *f, uint64_t *state)
{
    bouma_box box = {{0, 0, 0}, {0, 0, 0}};

    for (int d = 0; d < f->ndims; d++) {
        box.lo[d] = check_below(state, f->shape[d]);
        box.hi[d] = box.lo[d] + 1 + check_below(state, f->shape[d] - box.lo[d]);
    }
    return box;
}

/* Read the box at the level and compare. */
static inline void check_read(bouma_variable *v, const struct field *f,
                              int level, const bouma_box *box)
{
    bouma_box all = field_all(f), whole = box ? *box : all;
    int64_t shape[3] = {1, 1, 1}, first[3] = {0, 0, 0};
    int64_t samples = field_select(f, level, &whole, shape, first);
    size_t bytes = (size_t)samples * field_sample(f);
    uint8_t *got = malloc(bytes + 1);
    bouma_selection s = {.size = sizeof(s)};

    REQUIRE(got);
    memset(got, 0xcc, bytes + 1);
    CHECK_EQ(bouma_variable_select(&s, v, level, box), BOUMA_OK);
    CHECK_EQ(s.bytes, bytes);
    CHECK_EQ(s.ndims, f->ndims);
    for (int d = 0; d < f->ndims; d++) {
        CHECK_EQ(s.shape[d], shape[d]);
        if (shape[d])
            CHECK_EQ(s.first[d], first[d]);
    }
    CHECK_EQ(test_read(v, level, box, got), BOUMA_OK);
    CHECK(field_matches(f, level, &whole, got));
    CHECK_EQ(got[bytes], 0xcc);
    free(got);
}

#endif
