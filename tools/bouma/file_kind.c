/* file_kind.c -- what a file of samples is, by the end of its name. */
#include "file_kind.h"

#include <string.h>

enum file_kind file_kind_of(const char *path)
{
    size_t length = strlen(path);

    if (length <= 4)
        return FILE_UNKNOWN;
    if (strcmp(path + length - 4, ".npy") == 0)
        return FILE_NPY;
    if (strcmp(path + length - 4, ".raw") == 0)
        return FILE_RAW;
    return FILE_UNKNOWN;
}
