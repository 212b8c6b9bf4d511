/* plan_loads.c -- see plan_loads.h. */
#include "plan_loads.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mapped_file.h"

/* ---- sizes of a small grid of ranks -------------------------------------- */

static uint64_t load_of_sizes(void *user, int rank, const int64_t *at,
                              const int64_t *blocks)
{
    const struct plan_loads *loads = user;
    int64_t ranks[3] = {1, 1, 1}, cell[3] = {0, 0, 0}; /* x, y, z */

    (void)rank;
    for (int d = 0; d < loads->ndims; d++) {
        ranks[d] = blocks[loads->ndims - 1 - d];
        cell[d] = at[loads->ndims - 1 - d];
    }
    return size_grid_bytes_of_all(&loads->sizes, ranks, cell);
}

static int read_sizes(struct plan_loads *out, struct context *ctx,
                      const char *path)
{
    struct mapped_file file;
    char message[200];
    int rc = mapped_file_open(&file, ctx, path);

    if (!rc && !size_grid_parse(&out->sizes, file.bytes, file.size, message,
                                sizeof(message)))
        rc = context_fail(ctx, DATA_AT_FAULT, "%s: %s", path, message);
    mapped_file_close(&file);
    return rc;
}

/* ---- a table of counts --------------------------------------------------- */

static uint64_t load_of_counts(void *user, int rank, const int64_t *at,
                               const int64_t *blocks)
{
    (void)at, (void)blocks;
    return ((const struct plan_loads *)user)->counts[rank];
}

static bool is_between(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == ',';
}

/* The next number of a text, up to 2^62; false if there is none. */
static bool next_count(const char **at, const char *end, uint64_t *out)
{
    const char *p = *at;

    while (p < end && is_between(*p))
        p++;
    if (p == end || *p < '0' || *p > '9')
        return false;
    for (*out = 0; p < end && *p >= '0' && *p <= '9'; p++) {
        *out = 10 * *out + (uint64_t)(*p - '0');
        if (*out >> 62)
            return false;
    }
    *at = p;
    return p == end || is_between(*p);
}

static int parse_counts(struct plan_loads *out, struct context *ctx,
                        const struct mapped_file *file, bouma_plan_spec *spec)
{
    const char *at = file->bytes, *end = at + file->size;
    uint64_t sum = 0;

    out->counts = malloc((size_t)spec->ranks * sizeof(*out->counts));
    if (!out->counts)
        return context_fail_memory(ctx);
    for (int r = 0; r < spec->ranks; r++) {
        if (!next_count(&at, end, &out->counts[r]) ||
            out->counts[r] > INT64_MAX - sum)
            return context_fail(ctx, DATA_AT_FAULT,
                                "%s: there is no number of particles for rank "
                                "%d of %d",
                                file->path, r, spec->ranks);
        sum += out->counts[r];
    }
    while (at < end && is_between(*at))
        at++;
    if (at < end)
        return context_fail(ctx, DATA_AT_FAULT,
                            "%s: there are more than %d numbers, one for each "
                            "rank",
                            file->path, spec->ranks);
    spec->particles = spec->particles ? spec->particles : sum;
    return spec->particles
               ? DONE
               : context_fail(ctx, DATA_AT_FAULT, "%s: no rank has particles",
                              file->path);
}

static int read_counts(struct plan_loads *out, struct context *ctx,
                       const char *path, bouma_plan_spec *spec)
{
    struct mapped_file file;
    int rc = mapped_file_open(&file, ctx, path);

    if (!rc)
        rc = parse_counts(out, ctx, &file, spec);
    mapped_file_close(&file);
    return rc;
}

/* ---- clusters ------------------------------------------------------------ */

/* A few clusters over a thin background: the density at the middle of a block,
 * a thousand times as high in the densest one as far away. */
static uint64_t load_of_clusters(void *user, int rank, const int64_t *at,
                                 const int64_t *blocks)
{
    static const struct cluster {
        double centre[3], radius, weight;
    } clusters[] = {{{0.31, 0.42, 0.36}, 0.06, 1000},
                    {{0.72, 0.55, 0.64}, 0.04, 700},
                    {{0.55, 0.21, 0.78}, 0.09, 300},
                    {{0.18, 0.81, 0.57}, 0.03, 500}};
    int ndims = ((const struct plan_loads *)user)->ndims;
    double density = 1;

    (void)rank;
    for (size_t i = 0; i < sizeof(clusters) / sizeof(clusters[0]); i++) {
        double distance = 0;

        for (int d = 0; d < ndims; d++) {
            double x = ((double)at[d] + 0.5) / (double)blocks[d] -
                       clusters[i].centre[d];

            distance += x * x;
        }
        density +=
            clusters[i].weight *
            exp(-distance / (2 * clusters[i].radius * clusters[i].radius));
    }
    return (uint64_t)(1024 * density);
}

/* ---- the options --------------------------------------------------------- */

static int check(const struct arguments *args, struct context *ctx)
{
    bool particles =
        arguments_has(args, "particles") || arguments_has(args, "counts");

    if (particles && arguments_has(args, "sizes"))
        return context_fail(ctx, CALL_AT_FAULT,
                            "--sizes are of grids; particles have --counts");
    if (!particles && arguments_has(args, "clustered"))
        return context_fail(ctx, CALL_AT_FAULT,
                            "--clustered is for particles: add --particles "
                            "COUNT");
    if (arguments_has(args, "counts") && arguments_has(args, "clustered"))
        return context_fail(ctx, CALL_AT_FAULT,
                            "--counts say where particles are; leave out "
                            "--clustered");
    if (arguments_has(args, "sizes") &&
        (arguments_has(args, "ratio") || arguments_has(args, "vary")))
        return context_fail(ctx, CALL_AT_FAULT,
                            "--sizes say what is stored; leave out --ratio and "
                            "--vary");
    return DONE;
}

int plan_loads_read(struct plan_loads *out, struct context *ctx,
                    const struct arguments *args, bouma_plan_spec *spec)
{
    const char *sizes = arguments_text(args, "sizes");
    const char *counts = arguments_text(args, "counts");
    int rc;

    memset(out, 0, sizeof(*out));
    out->ndims = spec->ndims;
    rc = check(args, ctx);
    if (!rc && sizes) {
        spec->load = load_of_sizes;
        rc = read_sizes(out, ctx, sizes);
    } else if (!rc && counts) {
        spec->load = load_of_counts;
        rc = read_counts(out, ctx, counts, spec);
    } else if (!rc && arguments_has(args, "clustered")) {
        spec->load = load_of_clusters;
    }
    spec->load_user = out;
    return rc;
}

void plan_loads_release(struct plan_loads *loads)
{
    size_grid_release(&loads->sizes);
    free(loads->counts);
}
