/* measure.c -- see measure.h. */
#include "machine/measure.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mix.h"
#include "machine/temp_file.h"
#include "machine/tier_memory.h"

#define MOST_TRIES  100
#define COPY_BYTES  ((size_t)64 << 20) /* more than caches have */
#define CHASE_STEPS 200000
#define PIECE_BYTES ((size_t)4 << 20) /* of a write */
#define BLOCK_BYTES 4096

static int by_value(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;

    return (a > b) - (a < b);
}

double bm_median(double *values, size_t count)
{
    qsort(values, count, sizeof(*values), by_value);
    return values[count / 2];
}

/* A time that can be divided by, whatever the clock says. */
static double since(double start)
{
    double t = bm_clock() - start;

    return t > 1e-9 ? t : 1e-9;
}

/* ---- memory ------------------------------------------------------------- */

/* Entries, in a random order that is one circle (Sattolo): entry i has
 * the number of the next. Each stands in a cache line of its own. */
static void make_circle(uint32_t *next, size_t stride, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        next[i * stride] = i;
    for (uint32_t i = count - 1; i > 0; i--) {
        uint32_t k = (uint32_t)(bm_mix_next(i * BM_MIX_STEP) % i);
        uint32_t t = next[i * stride];

        next[i * stride] = next[k * stride];
        next[k * stride] = t;
    }
}

static double chase(const uint32_t *next, size_t stride)
{
    double start = bm_clock();
    uint32_t at = 0;

    for (int i = 0; i < CHASE_STEPS; i++)
        at = next[at * stride];
    /* What nobody looks at would not be read. */
    __asm__ volatile("" : : "r"(at) : "memory");
    return since(start) / CHASE_STEPS;
}

static double copy(uint8_t *to, const uint8_t *from)
{
    double start = bm_clock();

    memcpy(to, from, COPY_BYTES);
    __asm__ volatile("" : : "r"(to) : "memory");
    return since(start);
}

int bm_measure_memory(bouma_speed *out, bouma_tier tier, int tries,
                      const bouma_allocator *a, struct bm_error *error)
{
    const size_t stride = 64 / sizeof(uint32_t);
    double times[MOST_TRIES], waits[MOST_TRIES];
    struct bm_tier_memory to = {0}, from = {0};
    int rc = bm_tier_memory_new(&to, tier, COPY_BYTES, NULL, a, error);

    if (!rc)
        rc = bm_tier_memory_new(&from, BOUMA_TIER_DRAM, COPY_BYTES, NULL, a,
                                error);
    if (!rc) {
        memset(from.data, 1, COPY_BYTES);
        copy(to.data, from.data); /* pages are there now */
        for (int i = 0; i < tries; i++)
            times[i] = copy(to.data, from.data);
        make_circle((uint32_t *)(void *)to.data, stride, COPY_BYTES / 64);
        for (int i = 0; i < tries; i++)
            waits[i] = chase((uint32_t *)(void *)to.data, stride);
        out->latency = bm_median(waits, (size_t)tries);
        out->bandwidth = (double)COPY_BYTES / bm_median(times, (size_t)tries);
    }
    bm_tier_memory_free(&from);
    bm_tier_memory_free(&to);
    return rc;
}

/* ---- storage ------------------------------------------------------------ */

/* Bytes that no storage can squeeze. */
static void fill(uint8_t *data, size_t bytes)
{
    for (size_t i = 0; i + 8 <= bytes; i += 8) {
        uint64_t v = bm_mix_next(i * BM_MIX_STEP);

        memcpy(data + i, &v, 8);
    }
}

/* Write 'bytes' from the beginning on, and sync: 0 or an errno. */
static int write_synced(int file, const uint8_t *piece, uint64_t bytes)
{
    for (uint64_t at = 0; at < bytes;) {
        size_t n =
            bytes - at < PIECE_BYTES ? (size_t)(bytes - at) : PIECE_BYTES;
        ssize_t done = pwrite(file, piece, n, (off_t)at);

        if (done < 0 && errno != EINTR)
            return errno;
        at += done > 0 ? (uint64_t)done : 0;
    }
    return fdatasync(file) ? errno : 0;
}

/* Seconds for one write; a file that is empty before. */
static int try_write(double *seconds, int file, const uint8_t *piece,
                     uint64_t bytes)
{
    int code = ftruncate(file, 0) ? errno : 0;
    double start = bm_clock();

    if (!code)
        code = write_synced(file, piece, bytes);
    *seconds = since(start);
    return code;
}

static int try_storage(bouma_speed *out, int file, const uint8_t *piece,
                       uint64_t bytes, int tries)
{
    double times[MOST_TRIES], waits[MOST_TRIES], wait, time;
    int code = 0;

    for (int i = 0; !code && i < tries; i++)
        code = try_write(&waits[i], file, piece, BLOCK_BYTES);
    for (int i = 0; !code && i < tries; i++)
        code = try_write(&times[i], file, piece, bytes);
    if (code)
        return code;
    wait = bm_median(waits, (size_t)tries);
    time = bm_median(times, (size_t)tries);
    out->latency = wait;
    /* What a large write takes beyond a small one, if that can be told. */
    out->bandwidth = (double)bytes / (time > 2 * wait ? time - wait : time);
    return 0;
}

int bm_measure_storage(bouma_speed *out, const char *directory, uint64_t bytes,
                       int tries, const bouma_allocator *a,
                       struct bm_error *error)
{
    uint8_t *piece = bm_new_raw(a, PIECE_BYTES, 1);
    int file, code;

    if (!piece)
        return bm_fail(error, BOUMA_ENOMEM, "no memory for a buffer");
    fill(piece, PIECE_BYTES);
    file = bm_temp_file_open(directory, a, error);
    if (file < 0) {
        bm_drop(a, piece);
        return error->status;
    }
    code = try_storage(out, file, piece, bytes, tries);
    close(file);
    bm_drop(a, piece);
    return code ? bm_fail_io(error, code, "%s: a measurement", directory)
                : BOUMA_OK;
}
