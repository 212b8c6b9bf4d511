/* route.h -- which function answers which path.
 *
 * A view is a file with a function, and a line in SERVE_ROUTES. In a pattern,
 * '*' is one part of the path, and "**" all that are left, perhaps none. The
 * first pattern that fits is taken. Parameters that are not listed are refused;
 * 'tag' and 'token' are known everywhere. */
#ifndef SERVE_ROUTE_H
#define SERVE_ROUTE_H

#include "request.h"

#define SERVE_ROUTES(X)                                                        \
    X("/", "", viewer)                                                         \
    X("/viewer/*", "", viewer)                                                 \
    X("/api/v1", "", api_root)                                                 \
    X("/api/v1/*", "", api_dataset)                                            \
    X("/api/v1/*/events", "", api_events)                                      \
    X("/api/v1/*/series/*/*", "at from to every component", api_series)        \
    X("/api/v1/*/*", "", api_step)                                             \
    X("/api/v1/*/*/*/particles",                                               \
      "box where quality from limit max_bytes variables type origin",          \
      api_particles)                                                           \
    X("/api/v1/*/*/*/*/samples",                                               \
      "box level max_bytes max_points max_error type low high component",      \
      api_samples)                                                             \
    X("/api/v1/*/*/*/*/ranges", "box component", api_ranges)                   \
    X("/api/v1/*/*/*/*/histogram",                                             \
      "bins component low high box where max_bytes exact", api_histogram)      \
    X("/files/*/**", "", files)                                                \
    X("/zarr/*/*/**", "", zarr)                                                \
    X("/ome/*/*/*/**", "", ome)                                                \
    X("/ome2/*/*/*/**", "", ome2)                                              \
    X("/annotations/*/*/**", "", annotations)                                  \
    X("/ept/*/*/**", "", ept)                                                  \
    X("/ept-laszip/*/*/**", "", ept_las)

#define SERVE_ROUTE_ENTRY(pattern, parameters, name)                           \
    void route_##name(struct request *request, struct answer *answer);
SERVE_ROUTES(SERVE_ROUTE_ENTRY)
#undef SERVE_ROUTE_ENTRY

/* Answer a request, whose url, wishes, limits and reader are there. */
void route_answer(struct request *request, struct answer *answer);

/* Whether a pattern fits; the request's names and rest are then filled in. */
bool route_fits(const char *pattern, struct request *request);

#endif
