/* particle_sink.c -- where the particles of a query go; here, into ranges. */
#include "particle_sink.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bouma_lists.h"

/* ---- ranges -------------------------------------------------------------- */

static int open_ranges(struct particle_sink *sink)
{
    sink->ranges = calloc(sink->count + 1, sizeof(*sink->ranges));
    for (size_t v = 0; sink->ranges && v < sink->count; v++) {
        size_t components = (size_t)sink->variables[v].components;

        sink->ranges[v] = calloc(components, sizeof(**sink->ranges));
        if (!sink->ranges[v])
            break;
        for (size_t c = 0; c < components; c++)
            sink->ranges[v][c].empty = 1;
        if (v + 1 == sink->count)
            return DONE;
    }
    return sink->ranges && sink->count == 0
               ? DONE
               : context_fail(sink->ctx, DATA_AT_FAULT, "out of memory");
}

/* Widen a range by the values of one component. */
static void widen(bouma_range *range, bouma_type type, const void *values,
                  uint64_t count)
{
    switch (type) {
#define CASE(name, value, ctype, text)                                         \
    case BOUMA_##name: {                                                       \
        const ctype *v = values;                                               \
        for (uint64_t i = 0; i < count; i++) {                                 \
            bouma_value at;                                                    \
            if (v[i] != v[i]) {                                                \
                range->nans++;                                                 \
                continue;                                                      \
            }                                                                  \
            if (BOUMA_##name >= BOUMA_TYPE_F32)                                \
                at = bouma_value_real((double)v[i]);                           \
            else if (BOUMA_##name >= BOUMA_TYPE_U8)                            \
                at = bouma_value_uint((uint64_t)v[i]);                         \
            else                                                               \
                at = bouma_value_int((int64_t)v[i]);                           \
            if (range->empty || v[i] < MEMBER_##name(range->exact_low))        \
                range->exact_low = at;                                         \
            if (range->empty || v[i] > MEMBER_##name(range->exact_high))       \
                range->exact_high = at;                                        \
            range->empty = 0;                                                  \
        }                                                                      \
        break;                                                                 \
    }
#define MEMBER_TYPE_I8(s)  (int8_t)(s).i
#define MEMBER_TYPE_I16(s) (int16_t)(s).i
#define MEMBER_TYPE_I32(s) (int32_t)(s).i
#define MEMBER_TYPE_I64(s) (s).i
#define MEMBER_TYPE_U8(s)  (uint8_t)(s).u
#define MEMBER_TYPE_U16(s) (uint16_t)(s).u
#define MEMBER_TYPE_U32(s) (uint32_t)(s).u
#define MEMBER_TYPE_U64(s) (s).u
#define MEMBER_TYPE_F32(s) (float)(s).f
#define MEMBER_TYPE_F64(s) (s).f
        BOUMA_TYPE_LIST(CASE)
#undef CASE
    case BOUMA_TYPE_STRING:
        break;
    }
}

static void take_ranges(struct particle_sink *sink, const bouma_batch *batch)
{
    for (size_t v = 0; v < sink->count; v++) {
        const bouma_variable_info *about = &sink->variables[v];

        for (int c = 0; c < about->components; c++)
            widen(&sink->ranges[v][c], about->type,
                  (const char *)batch->columns[v] +
                      (uint64_t)c * batch->count * bouma_type_size(about->type),
                  batch->count);
    }
}

/* ---- all of them --------------------------------------------------------- */

int particle_sink_open(struct particle_sink *out, struct context *ctx,
                       const struct exporter *exporter,
                       const bouma_variable_info *variables, size_t count,
                       struct output *output)
{
    *out = (struct particle_sink){.ctx = ctx,
                                  .exporter = exporter,
                                  .variables = variables,
                                  .count = count,
                                  .output = output};
    return exporter ? exporter->open(out) : open_ranges(out);
}

int particle_sink_take(void *user, const bouma_batch *batch)
{
    struct particle_sink *sink = user;

    sink->particles += batch->count;
    if (sink->exporter)
        return sink->exporter->take(sink, batch);
    take_ranges(sink, batch);
    return DONE;
}

int particle_sink_finish(struct particle_sink *sink)
{
    return sink->exporter ? sink->exporter->finish(sink) : DONE;
}

void particle_sink_release(struct particle_sink *sink)
{
    for (size_t v = 0; sink->ranges && v < sink->count; v++)
        free(sink->ranges[v]);
    free(sink->ranges);
    if (sink->exporter)
        sink->exporter->release(sink);
    *sink = (struct particle_sink){0};
}
