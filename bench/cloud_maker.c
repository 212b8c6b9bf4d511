/* cloud_maker.c -- see cloud_maker.h. */
#include "cloud_maker.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TWO_PI 6.283185307179586

const char *const cloud_names[CLOUD_ATTRIBUTES] = {"temperature", "pressure",
                                                   "id", "random"};

/* splitmix64 */
static uint64_t next(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static double uniform(uint64_t *state)
{
    return (double)(next(state) >> 11) * 0x1p-53;
}

static double gaussian(uint64_t *state)
{
    double radius = sqrt(-2 * log(1 - uniform(state)));

    return radius * cos(TWO_PI * uniform(state));
}

void cloud_stream_init(struct cloud_stream *s, const struct cloud_spec *spec)
{
    memset(s, 0, sizeof(*s));
    s->spec = *spec;
    s->state = spec->seed;
    for (int i = 0; i < spec->blobs; i++) {
        for (int d = 0; d < 3; d++)
            s->centre[i][d] = 0.05 + 0.9 * uniform(&s->state);
        s->deviation[i] =
            spec->narrow + (spec->wide - spec->narrow) * uniform(&s->state);
    }
}

static int is_inside(const float at[3])
{
    for (int d = 0; d < 3; d++)
        if (!(at[d] >= 0 && at[d] < 1))
            return 0;
    return 1;
}

void cloud_stream_next(struct cloud_stream *s, float at[3])
{
    int blob = -1;

    if (s->spec.blobs && uniform(&s->state) >= s->spec.background) {
        double u = uniform(&s->state);

        blob = (int)(u * u * s->spec.blobs); /* the first ones have more */
    }
    do
        for (int d = 0; d < 3; d++)
            at[d] = (float)(blob < 0
                                ? uniform(&s->state)
                                : s->centre[blob][d] +
                                      s->deviation[blob] * gaussian(&s->state));
    while (!is_inside(at));
}

static int allocate(struct cloud *c, uint64_t room)
{
    int failed = 0;

    memset(c, 0, sizeof(*c));
    for (int d = 0; d < 3; d++) {
        c->position[d] = malloc((size_t)room * sizeof(float) + 1);
        failed |= !c->position[d];
    }
    for (int j = 0; j < CLOUD_ATTRIBUTES; j++) {
        c->attribute[j] = malloc((size_t)room * sizeof(double) + 1);
        failed |= !c->attribute[j];
    }
    return failed ? -1 : 0;
}

void cloud_release(struct cloud *c)
{
    for (int d = 0; d < 3; d++)
        free(c->position[d]);
    for (int j = 0; j < CLOUD_ATTRIBUTES; j++)
        free(c->attribute[j]);
    memset(c, 0, sizeof(*c));
}

static void put(struct cloud *c, const float at[3], uint64_t id)
{
    uint64_t i = c->count++, noise = id * 7919 + 13;
    double x = (double)at[0], y = (double)at[1], z = (double)at[2];
    double far =
        (x - 0.5) * (x - 0.5) + (y - 0.4) * (y - 0.4) + (z - 0.3) * (z - 0.3);

    for (int d = 0; d < 3; d++)
        c->position[d][i] = at[d];
    c->attribute[CLOUD_TEMPERATURE][i] =
        300 + 100 * (sin(TWO_PI * x) * cos(TWO_PI * y) + z) +
        0.5 * gaussian(&noise);
    c->attribute[CLOUD_PRESSURE][i] =
        1e5 * exp(-3 * far) + 100 * gaussian(&noise);
    c->attribute[CLOUD_ID][i] = (double)id;
    c->attribute[CLOUD_RANDOM][i] = uniform(&noise);
}

/* Equal numbers of a uniform background are drawn where they are wanted. */
static int make_uniform(struct cloud *c, const struct cloud_spec *spec,
                        uint64_t total, const int place[3], const int boxes[3])
{
    uint64_t count =
        (uint64_t)boxes[0] * (uint64_t)boxes[1] * (uint64_t)boxes[2];
    uint64_t number =
        (uint64_t)((place[0] * boxes[1] + place[1]) * boxes[2] + place[2]);
    uint64_t first = total * number / count;
    uint64_t end = total * (number + 1) / count;
    uint64_t state = spec->seed + (number << 32);

    if (allocate(c, end - first))
        return -1;
    for (uint64_t i = first; i < end; i++) {
        float at[3];

        do
            for (int d = 0; d < 3; d++)
                at[d] = (float)((place[d] + uniform(&state)) / boxes[d]);
        while (!is_inside(at));
        put(c, at, i);
    }
    return 0;
}

static int is_in_place(const float at[3], const int place[3],
                       const int boxes[3])
{
    for (int d = 0; d < 3; d++)
        if ((int)((double)at[d] * boxes[d]) != place[d])
            return 0;
    return 1;
}

int cloud_make(struct cloud *c, const struct cloud_spec *spec, uint64_t total,
               const int place[3], const int boxes[3])
{
    struct cloud_stream s;
    uint64_t count = 0;
    float at[3];

    if (!spec->blobs)
        return make_uniform(c, spec, total, place, boxes);
    cloud_stream_init(&s, spec);
    for (uint64_t i = 0; i < total; i++) {
        cloud_stream_next(&s, at);
        count += (uint64_t)is_in_place(at, place, boxes);
    }
    if (allocate(c, count))
        return -1;
    cloud_stream_init(&s, spec);
    for (uint64_t i = 0; i < total; i++) {
        cloud_stream_next(&s, at);
        if (is_in_place(at, place, boxes))
            put(c, at, i);
    }
    return 0;
}
