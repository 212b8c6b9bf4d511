/* exporter.h -- the files that commands write, as a table.
 *
 * A format is a file of its own, with its record, and a line in the list below.
 * How a file is called says which format it has; messages, help and the manual
 * page list what the table has. */
#ifndef EXPORTER_H
#define EXPORTER_H

#include "canvas.h"
#include "output.h"

enum exported {
    EXPORT_NOTHING,
    EXPORT_SAMPLES,
    EXPORT_PARTICLES,
    EXPORT_PICTURE
};

enum { EXPORT_HEADER = 512 }; /* bytes, at most, before the samples */

struct particle_sink;

struct exporter {
    const char *suffix; /* ".npy" */
    enum exported takes;
    bool stream; /* it is what goes to standard output */
    const char *help;
    const char *missing; /* the library that this build lacks for it; or NULL */

    /* Of samples: what stands before the plain values, in 'out' of
     * EXPORT_HEADER bytes; returns its length. NULL: nothing. */
    size_t (*header)(char *out, bouma_type type, int ndims,
                     const int64_t *shape);

    /* Of particles; see particle_sink.h. open() may set 'sink->state', which
     * release() frees, also if open() has failed. */
    int (*open)(struct particle_sink *sink);
    int (*take)(struct particle_sink *sink, const bouma_batch *batch);
    int (*finish)(struct particle_sink *sink);
    void (*release)(struct particle_sink *sink);

    /* Of pictures: the bytes of the file, which the caller frees, after a
     * failure too. */
    int (*encode)(void **out, size_t *bytes, struct context *ctx,
                  const struct canvas *canvas);
};

/* All formats, in the order of messages and help: a new one adds a line here. */
#define EXPORTER_LIST(X)                                                       \
    X(npy)                                                                     \
    X(raw)                                                                     \
    X(npz)                                                                     \
    X(csv)                                                                     \
    X(png)
#define EXPORTER_LIST_ENTRY(name) extern const struct exporter export_##name;
EXPORTER_LIST(EXPORTER_LIST_ENTRY)
#undef EXPORTER_LIST_ENTRY

/* The i-th format for that; NULL: there are no more. */
const struct exporter *exporter_at(enum exported takes, int i);

/* The format that a path asks for ("-": standard output). Fails if there is no
 * path, if it cannot be told, or if --json wants standard output, too. */
int exporter_find(const struct exporter **out, struct context *ctx,
                  enum exported takes, const char *path);

/* Write a picture. Collective. */
int exporter_draw(struct context *ctx, const char *path,
                  const struct canvas *canvas);

#endif
