/* site_files.h -- the files of a dataset, listed and copied. */
#ifndef SERVE_SITE_FILES_H
#define SERVE_SITE_FILES_H

#include <stddef.h>
#include <stdint.h>

#include "../context.h"

struct site_file {
    char *name; /* below the dataset, "steps/00000000/manifest" */
    uint64_t bytes;
};

struct site_files {
    struct site_file *all; /* [count], in the order of their names */
    size_t count, room;
    uint64_t bytes;
};

/* The regular files below 'path'; links are not followed. The index comes
 * before the steps that it names, so that these are there, too, if someone
 * writes. The caller ends *out with site_files_release(), after a failure too.
 */
int site_files_list(struct site_files *out, struct context *ctx,
                    const char *path);
void site_files_release(struct site_files *files);

/* Copy them from below 'from' to below 'to', a directory, unless they are there
 * already: of the same size, and newer. */
int site_files_copy(const struct site_files *files, struct context *ctx,
                    const char *from, const char *to);

#endif
