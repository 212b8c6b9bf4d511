/* files.h -- files that tests make: two of them compared, all of them removed.
 */
#ifndef FILES_H
#define FILES_H

#include <ftw.h>
#include <stdio.h>
#include <string.h>

static inline int same_file(const char *left, const char *right)
{
    FILE *a = fopen(left, "rb"), *b = fopen(right, "rb");
    int same = a && b;

    while (same) {
        char x[4096], y[4096];
        size_t n = fread(x, 1, sizeof(x), a), m = fread(y, 1, sizeof(y), b);

        same = n == m && !memcmp(x, y, n);
        if (!n)
            break;
    }
    if (a)
        fclose(a);
    if (b)
        fclose(b);
    return same;
}

static inline int remove_one(const char *path, const struct stat *st, int flag,
                             struct FTW *ftw)
{
    (void)st;
    (void)flag;
    (void)ftw;
    return remove(path);
}

/* A directory and all below it; 0 if nothing is left. */
static inline int remove_tree(const char *path)
{
    return nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

#endif
