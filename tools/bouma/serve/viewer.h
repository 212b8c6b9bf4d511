/* viewer.h -- the files of the viewer, which is a part of the program.
 *
 * viewer/build.mjs writes them as an array of C; without npm there are none. */
#ifndef SERVE_VIEWER_H
#define SERVE_VIEWER_H

#include <stddef.h>

struct viewer_file {
    const char *name, *type; /* "viewer.js", "text/javascript" */
    const char *tag;         /* of its contents */
    const unsigned char *bytes;
    size_t count;
};

/* Compressed by gzip, which every browser reads. The first one is the page. */
extern const struct viewer_file viewer_files[];
extern const size_t viewer_file_count;

/* The file of that name; NULL if there is none. */
const struct viewer_file *viewer_find(const char *name);

#endif
