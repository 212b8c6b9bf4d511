/* mapped_file.h -- a file to import, mapped into memory: a process touches only
 * the part that it needs. The mapping is private, so that bytes can be changed
 * in place; the file stays as it is. */
#ifndef MAPPED_FILE_H
#define MAPPED_FILE_H

#include <stddef.h>

#include "context.h"

struct mapped_file {
    const char *path;
    void *bytes;
    size_t size;
};

/* Map all of 'path', a text that must outlive *out; it is not empty. The caller
 * ends *out with mapped_file_close(), after a failure too. */
int mapped_file_open(struct mapped_file *out, struct context *ctx,
                     const char *path);
/* Give back the memory of what was read so far; it is read from the file again
 * if need be. Only for one whose bytes were not changed. */
void mapped_file_forget(struct mapped_file *file);
void mapped_file_close(struct mapped_file *file);

#endif
