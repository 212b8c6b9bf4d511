/* import_request.h -- what a call of `bouma import` asks for. */
#ifndef IMPORT_REQUEST_H
#define IMPORT_REQUEST_H

#include "arguments.h"
#include "source.h"

struct import_request {
    const struct arguments *args;
    const char *path; /* of the dataset */
    bool adds;        /* to a step that is there: `bouma add` */
    bool step_given, time_given;
    int64_t step;
    double time;
    const char *grid_name;
    const char *particles_name;     /* NULL: a grid */
    bouma_grid_spec grid;           /* shape: by the sources */
    char hz_template[64];           /* of --hz-template ranks */
    const int64_t *ranks;           /* along each axis, for that; NULL: each has
                                       layers of the first one */
    bouma_variable_spec variable;   /* type, components, unit: by the source */
    int patches, spacings, origins; /* how many values were given */
    bool series; /* SRC has variables and steps of its own: see grid_series.h */
    struct source_request request;
    bouma_options opts;
    char local[4096]; /* the option of that name */
};

/* Read the options; nothing is known of the sources yet. */
int import_request_read(struct import_request *out, struct context *ctx,
                        const struct arguments *args);

/* Read only how values are to be stored: codecs, tolerances, layouts, and the
 * options of the library; for commands that write steps without importing. */
int import_request_storage(struct import_request *request, struct context *ctx);

/* Complete 'request->grid' with the shape that the sources have. */
int import_request_shape(struct import_request *request, struct context *ctx,
                         int ndims, const int64_t *shape);

/* The name of the i-th variable, in 'out' of 'bytes' bytes, and its unit, or
 * NULL. */
void import_request_name(const struct import_request *request, int i, char *out,
                         size_t bytes);
const char *import_request_unit(const struct import_request *request, int i);

/* Whether a codec for particles is left to those that have a tolerance: others
 * get the one that is chosen for them. */
bool import_codec_yields(bouma_codec codec);

#endif
