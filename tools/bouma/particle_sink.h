/* particle_sink.h -- where the particles of a query go: a .npz file, text in
 * the form of .csv, or nowhere but into a count and ranges.
 *
 * Batches are written as they come. The columns of a .npz file come one after
 * the other, and how long they are is known at the end only: each goes into a
 * temporary file without a name, beside the output, and is copied then. So
 * memory does not grow with the number of particles. */
#ifndef PARTICLE_SINK_H
#define PARTICLE_SINK_H

#include "output.h"

enum sink_kind { SINK_NONE, SINK_NPZ, SINK_CSV };

struct particle_sink {
    struct context *ctx;
    enum sink_kind kind;
    const bouma_variable_info *variables; /* [count], of the batches */
    size_t count;
    struct output *output;
    uint64_t particles;   /* that came */
    bouma_range **ranges; /* [count][components]; NULL unless SINK_NONE */
    struct npz_column *columns;
    struct csv_text *text;
};

/* What a name of an output asks for; SINK_NONE if it cannot be told. */
enum sink_kind particle_sink_kind(const char *path);

/* The variables, context and output (not of SINK_NONE) must outlive *out. The
 * caller ends *out with particle_sink_release(), after a failure too. */
int particle_sink_open(struct particle_sink *out, struct context *ctx,
                       enum sink_kind kind,
                       const bouma_variable_info *variables, size_t count,
                       struct output *output);
int particle_sink_take(void *sink, const bouma_batch *batch);
/* Write what is left. */
int particle_sink_finish(struct particle_sink *sink);
void particle_sink_release(struct particle_sink *sink);

/* Of the kinds: what particle_sink.c calls. */
int sink_npz_open(struct particle_sink *sink);
int sink_npz_take(struct particle_sink *sink, const bouma_batch *batch);
int sink_npz_finish(struct particle_sink *sink);
void sink_npz_release(struct particle_sink *sink);
int sink_csv_open(struct particle_sink *sink);
int sink_csv_take(struct particle_sink *sink, const bouma_batch *batch);
int sink_csv_finish(struct particle_sink *sink);
void sink_csv_release(struct particle_sink *sink);

#endif
