/* api_attribute_values.c -- attributes as the caller's own types, converted
 * where that loses nothing. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "api/api.h"
#include "base/plain_text.h"

/* ---- numbers of any type ---------------------------------------------------- */

struct number {
    enum { SIGNED, UNSIGNED, REAL } kind;
    int64_t i;
    uint64_t u;
    double f;
};

/* Value 'at' of an attribute that is not text. */
static struct number load(const struct bm_attribute *e, size_t at)
{
    const uint8_t *from =
        (const uint8_t *)e->values + at * bouma_type_size(e->type);
    struct number n = {SIGNED, 0, 0, 0};

#define LOAD(type, ctype, its_kind, member)                                    \
    case type: {                                                               \
        ctype value;                                                           \
                                                                               \
        memcpy(&value, from, sizeof(value));                                   \
        n.kind = its_kind;                                                     \
        n.member = value;                                                      \
        break;                                                                 \
    }
    switch (e->type) {
        LOAD(BOUMA_TYPE_I8, int8_t, SIGNED, i)
        LOAD(BOUMA_TYPE_I16, int16_t, SIGNED, i)
        LOAD(BOUMA_TYPE_I32, int32_t, SIGNED, i)
        LOAD(BOUMA_TYPE_I64, int64_t, SIGNED, i)
        LOAD(BOUMA_TYPE_U8, uint8_t, UNSIGNED, u)
        LOAD(BOUMA_TYPE_U16, uint16_t, UNSIGNED, u)
        LOAD(BOUMA_TYPE_U32, uint32_t, UNSIGNED, u)
        LOAD(BOUMA_TYPE_U64, uint64_t, UNSIGNED, u)
        LOAD(BOUMA_TYPE_F32, float, REAL, f)
        LOAD(BOUMA_TYPE_F64, double, REAL, f)
    case BOUMA_TYPE_STRING:
        break;
    }
#undef LOAD
    return n;
}

/* Whether it is a double, which is put into room[at]; and the same for an
 * integer. Both bounds of the comparisons are exact. */
static int store_double(void *room, size_t at, const struct number *n)
{
    double value = n->kind == REAL     ? n->f
                   : n->kind == SIGNED ? (double)n->i
                                       : (double)n->u;

    ((double *)room)[at] = value;
    return n->kind == REAL ||
           (n->kind == SIGNED ? value < 0x1p63 && (int64_t)value == n->i
                              : value < 0x1p64 && (uint64_t)value == n->u);
}

static int store_int64(void *room, size_t at, const struct number *n)
{
    int fits = n->kind == SIGNED ? 1
               : n->kind == UNSIGNED
                   ? n->u <= INT64_MAX
                   : n->f >= -0x1p63 && n->f < 0x1p63 && n->f == trunc(n->f);

    if (fits)
        ((int64_t *)room)[at] = n->kind == SIGNED     ? n->i
                                : n->kind == UNSIGNED ? (int64_t)n->u
                                                      : (int64_t)n->f;
    return fits;
}

/* ---- attributes -------------------------------------------------------------- */

static int no_text(const struct bouma_attributes *attributes,
                   const struct bm_attribute *e, const char *wanted)
{
    return bm_fail(attributes->error, BOUMA_EINVAL,
                   "attribute \"%s\" is %s, not %s", e->name,
                   e->type == BOUMA_TYPE_STRING ? "a text"
                   : e->count == 1              ? "a number"
                                                : "numbers",
                   wanted);
}

static int no_fit(const struct bouma_attributes *attributes,
                  const struct bm_attribute *e, const struct number *n,
                  const char *wanted)
{
    static const char text[] =
        "attribute \"%s\": its value %s cannot be converted to %s exactly; its "
        "type is %s, see bouma_attributes_find()";
    char value[40];

    if (n->kind == REAL)
        bm_format(value, sizeof(value), "%.17g", n->f);
    else if (n->kind == SIGNED)
        bm_format(value, sizeof(value), "%" PRId64, n->i);
    else
        bm_format(value, sizeof(value), "%" PRIu64, n->u);
    return bm_fail(attributes->error, BOUMA_EINVAL, text, e->name, value,
                   wanted, bouma_type_name(e->type));
}

/* The attribute of that name; NULL with a status. */
static const struct bm_attribute *find(const bouma_attributes *attributes,
                                       const char *name, const void *out,
                                       int *rc)
{
    bouma_attribute found = {.size = sizeof(found)};

    if (!attributes || !out) {
        *rc = bm_api_no_output(attributes ? attributes->error : NULL,
                               "the value of an attribute");
        return NULL;
    }
    *rc = bouma_attributes_find(&found, attributes, name);
    if (*rc)
        return NULL;
    bm_error_clear(attributes->error);
    return bm_attributes_find(attributes, name);
}

/* Exactly 'count' numbers, of a type that 'store' puts into 'out'. */
static int get(void *out, size_t count, const bouma_attributes *attributes,
               const char *name, const char *wanted,
               int (*store)(void *room, size_t at, const struct number *n))
{
    int rc;
    const struct bm_attribute *e = find(attributes, name, out, &rc);

    if (!e)
        return rc;
    if (e->type == BOUMA_TYPE_STRING)
        return no_text(attributes, e, "a number");
    if (e->count != count)
        return bm_fail(attributes->error, BOUMA_EINVAL,
                       "attribute \"%s\" has %zu value%s, not %zu", e->name,
                       e->count, e->count == 1 ? "" : "s", count);
    for (size_t i = 0; i < count; i++) {
        struct number n = load(e, i);

        if (!store(out, i, &n))
            return no_fit(attributes, e, &n, wanted);
    }
    return BOUMA_OK;
}

int bouma_attributes_get_text(const char **out,
                              const bouma_attributes *attributes,
                              const char *name)
{
    int rc;
    const struct bm_attribute *e;

    if (out)
        *out = NULL;
    e = find(attributes, name, out, &rc);
    if (!e)
        return rc;
    if (e->type != BOUMA_TYPE_STRING)
        return no_text(attributes, e, "a text");
    if (memchr(e->values, 0, e->count))
        return bm_fail(attributes->error, BOUMA_EINVAL,
                       "attribute \"%s\" has a zero byte among its %zu; see "
                       "bouma_attributes_find()",
                       e->name, e->count);
    *out = e->values;
    return BOUMA_OK;
}

int bouma_attributes_get_numbers(double *out, size_t count,
                                 const bouma_attributes *attributes,
                                 const char *name)
{
    BM_STRICT_MATH;
    int rc = get(out, count, attributes, name, "double", store_double);

    if (rc && out)
        memset(out, 0, count * sizeof(*out));
    return rc;
}

int bouma_attributes_get_int64s(int64_t *out, size_t count,
                                const bouma_attributes *attributes,
                                const char *name)
{
    BM_STRICT_MATH;
    int rc = get(out, count, attributes, name, "int64_t", store_int64);

    if (rc && out)
        memset(out, 0, count * sizeof(*out));
    return rc;
}

int bouma_attributes_get_number(double *out, const bouma_attributes *attributes,
                                const char *name)
{
    return bouma_attributes_get_numbers(out, 1, attributes, name);
}

int bouma_attributes_get_int64(int64_t *out, const bouma_attributes *attributes,
                               const char *name)
{
    return bouma_attributes_get_int64s(out, 1, attributes, name);
}

int bouma_attributes_set_int64(bouma_attributes *attributes, const char *name,
                               int64_t number)
{
    return bouma_attributes_set(attributes, name, BOUMA_TYPE_I64, 1, &number);
}
