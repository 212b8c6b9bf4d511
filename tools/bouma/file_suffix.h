/* file_suffix.h -- how the name of a file ends. */
#ifndef FILE_SUFFIX_H
#define FILE_SUFFIX_H

#include <stdbool.h>
#include <string.h>
#include <strings.h>

/* Whether a path ends in 'suffix', in letters of any case, with more before. */
static inline bool ends_in(const char *path, const char *suffix)
{
    size_t length = strlen(path), n = strlen(suffix);

    return length > n && strcasecmp(path + length - n, suffix) == 0;
}

#endif
