/* file_kind.h -- what a file of samples is, by the end of its name. */
#ifndef FILE_KIND_H
#define FILE_KIND_H

enum file_kind {
    FILE_UNKNOWN,
    FILE_RAW, /* .raw: plain values */
    FILE_NPY  /* .npy: NumPy's */
};

enum file_kind file_kind_of(const char *path);

#endif
