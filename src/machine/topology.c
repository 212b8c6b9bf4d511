/* topology.c -- the texts of models, and what all kinds of networks share. */
#include "machine/topology.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- texts -------------------------------------------------------------- */

#define ENTRY(name) &bm_topology_##name,
static const struct bm_topology_kind *const kinds[] = {BM_TOPOLOGIES(ENTRY)};
#undef ENTRY

const struct bm_topology_kind *bm_model_kind(const char *text, size_t bytes)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        size_t n = strlen(kinds[i]->name);

        if (bytes >= n && !memcmp(text, kinds[i]->name, n) &&
            (bytes == n || text[n] == ':' || text[n] == ','))
            return kinds[i];
    }
    return NULL;
}

/* A whole number from 1 on at *at, which is moved behind it; 0: none. */
static int number(const char *text, size_t bytes, size_t *at)
{
    int64_t v = 0;
    size_t i = *at;

    for (; i < bytes && text[i] >= '0' && text[i] <= '9' && v <= INT_MAX; i++)
        v = v * 10 + (text[i] - '0');
    if (i == *at || v > INT_MAX)
        return 0;
    *at = i;
    return (int)v;
}

static int wrong(struct bm_error *error, const char *text, size_t bytes,
                 size_t at, const char *wanted)
{
    if (at < bytes)
        return bm_fail(error, BOUMA_EINVAL, "'%.*s': at '%.*s', expected %s",
                       (int)bytes, text, (int)(bytes - at), text + at, wanted);
    return bm_fail(error, BOUMA_EINVAL, "'%.*s': at its end, expected %s",
                   (int)bytes, text, wanted);
}

/* "8x8x4" behind the colon. */
static int parse_extents(struct bm_model *m, const char *text, size_t bytes,
                         size_t *at, struct bm_error *error)
{
    do {
        size_t start = ++*at;
        int v = number(text, bytes, at);

        if (!v)
            return wrong(error, text, bytes, start,
                         "a number from 1 to 2147483647");
        if (m->axes == m->kind->most_axes)
            return wrong(error, text, bytes, start, "no further number");
        m->extent[m->axes++] = v;
    } while (*at < bytes && text[*at] == 'x');
    return BOUMA_OK;
}

/* ",per=16" or ",io=128". */
static int parse_option(struct bm_model *m, const char *text, size_t bytes,
                        size_t *at, struct bm_error *error)
{
    size_t start = *at + 1;
    int *to = NULL;

    if (bytes - start > 4 && !memcmp(text + start, "per=", 4)) {
        *at = start + 4;
        to = &m->per;
    } else if (bytes - start > 3 && !memcmp(text + start, "io=", 3)) {
        *at = start + 3;
        to = &m->io;
    }
    if (text[start - 1] != ',' || !to)
        return wrong(error, text, bytes, text[start - 1] == ',' ? start : *at,
                     ",per=RANKS or ,io=NODES or the end");
    start = *at;
    *to = number(text, bytes, at);
    return *to ? BOUMA_OK
               : wrong(error, text, bytes, start,
                       "a number from 1 to 2147483647");
}

int bm_model_parse(struct bm_model *out, const char *text, size_t bytes,
                   struct bm_error *error)
{
    int rc = BOUMA_OK;
    size_t at;

    memset(out, 0, sizeof(*out));
    bytes = bytes > 256 ? 256 : bytes; /* for messages; none is so long */
    out->kind = bm_model_kind(text, bytes);
    if (!out->kind)
        return bm_fail(error, BOUMA_EINVAL,
                       "'%.*s': there are flat, torus:AxBxC, "
                       "dragonfly:GROUPSxROUTERSxNODES, fattree:DOWN1xDOWN2",
                       (int)bytes, text);
    at = strlen(out->kind->name);
    if (at < bytes && text[at] == ':' && out->kind->most_axes)
        rc = parse_extents(out, text, bytes, &at, error);
    if (!rc && out->axes < out->kind->least_axes)
        rc = wrong(error, text, bytes, at, out->axes ? "xNUMBER" : ":NUMBER");
    while (!rc && at < bytes)
        rc = parse_option(out, text, bytes, &at, error);
    return rc;
}

/* ---- nodes -------------------------------------------------------------- */

int bm_topology_shape(struct bm_topology *t, const struct bm_model *model,
                      struct bm_error *error)
{
    int64_t nodes = 1;

    memset(t, 0, sizeof(*t));
    t->kind = model->kind;
    t->io = model->io ? model->io : model->kind->io;
    t->axes = model->axes;
    for (int i = 0; i < t->axes; i++) {
        int d = t->kind->first_fastest ? i : t->axes - 1 - i;

        t->extent[d] = model->extent[d];
        t->stride[d] = (int)nodes;
        nodes *= model->extent[d];
        if (nodes > BM_MOST_NODES)
            return bm_fail(error, BOUMA_EINVAL,
                           "the %s has more than %d nodes: take smaller "
                           "numbers",
                           t->kind->name, BM_MOST_NODES);
    }
    t->nodes = t->axes ? (int)nodes : 0;
    return BOUMA_OK;
}

int bm_topology_init(struct bm_topology *t, const struct bm_model *model,
                     const bouma_allocator *a, struct bm_error *error)
{
    int rc = bm_topology_shape(t, model, error);

    if (rc)
        return rc;
    if (t->kind->make)
        rc = t->kind->make(t, a);
    return rc ? bm_fail(error, rc, "no memory for the switches of %d nodes",
                        t->nodes)
              : BOUMA_OK;
}

void bm_topology_release(struct bm_topology *t)
{
    bm_fabric_release(&t->tree);
}

int bm_topology_hops_to_target(const struct bm_topology *t, int node)
{
    if (t->io)
        return t->kind->hops(t, node, node - node % t->io) + 1;
    return t->kind->hops_to_target(t, node);
}

/* ---- sums --------------------------------------------------------------- */

static int before(const struct bm_summand *x, const struct bm_summand *y)
{
    return x->key != y->key ? x->key < y->key : x->node < y->node;
}

static int compare(const void *x, const void *y)
{
    return before(y, x) - before(x, y);
}

void bm_summands_sort(struct bm_summand *s, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (before(&s[i], &s[i - 1])) {
            qsort(s, count, sizeof(*s), compare);
            return;
        }
}
