/* particle_sink.h -- where the particles of a query go: a .npz file, text in
 * the form of .csv, or nowhere but into a count and ranges.
 *
 * Batches are written as they come. The columns of a .npz file come one after
 * the other, and how long they are is known at the end only: each goes into a
 * temporary file without a name, beside the output, and is copied then. So
 * memory does not grow with the number of particles. */
#ifndef PARTICLE_SINK_H
#define PARTICLE_SINK_H

#include "exporter.h"

struct particle_sink {
    struct context *ctx;
    const struct exporter *exporter;      /* NULL: into ranges */
    const bouma_variable_info *variables; /* [count], of the batches */
    size_t count;
    struct output *output;
    uint64_t particles;   /* that came */
    bouma_range **ranges; /* [count][components]; NULL with an exporter */
    void *state;          /* the exporter's own */
};

/* The variables, context and output (if there is an exporter) must outlive
 * *out. The caller ends *out with particle_sink_release(), after a failure too.
 */
int particle_sink_open(struct particle_sink *out, struct context *ctx,
                       const struct exporter *exporter,
                       const bouma_variable_info *variables, size_t count,
                       struct output *output);
int particle_sink_take(void *sink, const bouma_batch *batch);
/* Write what is left. */
int particle_sink_finish(struct particle_sink *sink);
void particle_sink_release(struct particle_sink *sink);

#endif
