/* output.h -- the file that a command writes, with all processes at once.
 *
 * It is made under a temporary name beside its own and renamed when it is
 * complete, so nobody ever sees half of it. "-" is standard output instead,
 * where process 0 alone writes, from the start to the end. */
#ifndef OUTPUT_H
#define OUTPUT_H

#include <limits.h>
#include <stdbool.h>

#include "context.h"

struct output {
    const char *path;
    bool stream; /* standard output */
    bool made;   /* this process has made the temporary file */
    char temporary[PATH_MAX];
    int file;
};

/* Make the temporary file for 'path', a text that must outlive *out. Every
 * process ends *out with output_finish(), after a failure too. Collective. */
int output_create(struct output *out, struct context *ctx, const char *path);

int output_write(struct output *output, struct context *ctx, const void *data,
                 size_t bytes, uint64_t offset);

/* Give the file its name, if every process comes with DONE; remove it
 * otherwise. Returns the worst outcome of all. Collective. */
int output_finish(struct output *output, struct context *ctx, int outcome);

#endif
