/* cloud_floor.c -- see cloud_floor.h. */
#include "cloud_floor.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "measure.h"

#define AXIS_BITS 21
#define DIGIT     11
#define DIGITS    6 /* of 63 bits */
#define AHEAD     16

const char *const cloud_floor_names[FLOOR_PARTS] = {"keys", "sort", "gather",
                                                    "write"};

int cloud_floor_init(struct cloud_floor *f, uint64_t count)
{
    size_t pairs = (size_t)(count + 1) * sizeof(*f->pairs);
    size_t column = (size_t)(count + 1) * sizeof(*f->column);

    f->pairs = malloc(pairs);
    f->other = malloc(pairs);
    f->column = malloc(column);
    if (!f->pairs || !f->other || !f->column)
        return -1;
    memset(f->pairs, 1, pairs);
    memset(f->other, 1, pairs);
    memset(f->column, 1, column);
    return 0;
}

void cloud_floor_release(struct cloud_floor *f)
{
    free(f->pairs);
    free(f->other);
    free(f->column);
    memset(f, 0, sizeof(*f));
}

/* Two zeros between the bits of 21. */
static uint64_t spread(uint64_t x)
{
    x = (x | x << 32) & 0x1f00000000ffffu;
    x = (x | x << 16) & 0x1f0000ff0000ffu;
    x = (x | x << 8) & 0x100f00f00f00f00fu;
    x = (x | x << 4) & 0x10c30c30c30c30c3u;
    x = (x | x << 2) & 0x1249249249249249u;
    return x;
}

/* The keys, in the bounds of the particles. */
static void make_keys(struct cloud_pair *pairs, const struct cloud *c)
{
    float low[3], scale[3];

    for (int d = 0; d < 3; d++) {
        const float *x = c->position[d];
        float high = c->count ? x[0] : 0;

        low[d] = high;
        for (uint64_t i = 0; i < c->count; i++) {
            low[d] = x[i] < low[d] ? x[i] : low[d];
            high = x[i] > high ? x[i] : high;
        }
        scale[d] =
            high > low[d] ? (float)((1 << AXIS_BITS) - 1) / (high - low[d]) : 0;
    }
    for (uint64_t i = 0; i < c->count; i++) {
        uint64_t key = 0;

        for (int d = 0; d < 3; d++) {
            int32_t cell = (int32_t)((c->position[d][i] - low[d]) * scale[d]);

            key |= spread((uint64_t)cell & ((1 << AXIS_BITS) - 1)) << (2 - d);
        }
        pairs[i].key = key;
        pairs[i].index = (uint32_t)i;
    }
}

/* Least digit first; digits that all keys share are passed over. Gives the
 * array that is sorted, one of the two. */
static struct cloud_pair *sort(struct cloud_pair *from, struct cloud_pair *to,
                               size_t n)
{
    static uint32_t counts[DIGITS][1 << DIGIT];

    memset(counts, 0, sizeof(counts));
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < DIGITS; k++)
            counts[k][from[i].key >> (k * DIGIT) & ((1 << DIGIT) - 1)]++;
    for (int k = 0; k < DIGITS && n; k++) {
        uint32_t *place = counts[k], sum = 0;
        struct cloud_pair *swap = from;
        int shift = k * DIGIT;

        if (place[from[0].key >> shift & ((1 << DIGIT) - 1)] == n)
            continue;
        for (int i = 0; i < 1 << DIGIT; i++) {
            uint32_t count = place[i];

            place[i] = sum;
            sum += count;
        }
        for (size_t i = 0; i < n; i++)
            to[place[from[i].key >> shift & ((1 << DIGIT) - 1)]++] = from[i];
        from = to;
        to = swap;
    }
    return from;
}

static void gather_f32(float *restrict to, const float *restrict from,
                       const struct cloud_pair *order, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        __builtin_prefetch(&from[order[i + AHEAD < n ? i + AHEAD : i].index]);
        to[i] = from[order[i].index];
    }
}

static void gather_f64(double *restrict to, const double *restrict from,
                       const struct cloud_pair *order, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        __builtin_prefetch(&from[order[i + AHEAD < n ? i + AHEAD : i].index]);
        to[i] = from[order[i].index];
    }
}

static int write_all(int fd, const void *data, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        ssize_t n = write(fd, (const char *)data + done, bytes - done);

        if (n <= 0)
            return -1;
        done += (size_t)n;
    }
    return 0;
}

int cloud_floor_run(struct cloud_floor *f, const struct cloud *c,
                    const char *path, double seconds[FLOOR_PARTS])
{
    size_t n = (size_t)c->count;
    struct cloud_pair *order;
    double begun = measure_now(), now;
    int fd, failed;

    memset(seconds, 0, FLOOR_PARTS * sizeof(*seconds));
    make_keys(f->pairs, c);
    now = measure_now();
    seconds[FLOOR_KEYS] = now - begun;
    begun = now;
    order = sort(f->pairs, f->other, n);
    now = measure_now();
    seconds[FLOOR_SORT] = now - begun;
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    failed = fd < 0;
    for (int i = 0; i < 3 + CLOUD_ATTRIBUTES && !failed; i++) {
        size_t size = i < 3 ? sizeof(float) : sizeof(double);

        begun = measure_now();
        if (i < 3)
            gather_f32((float *)f->column, c->position[i], order, n);
        else
            gather_f64(f->column, c->attribute[i - 3], order, n);
        now = measure_now();
        seconds[FLOOR_GATHER] += now - begun;
        failed = write_all(fd, f->column, n * size);
        seconds[FLOOR_WRITE] += measure_now() - now;
    }
    if (fd >= 0 && close(fd))
        failed = 1;
    return failed ? -1 : 0;
}
