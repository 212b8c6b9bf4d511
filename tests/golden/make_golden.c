/* make_golden.c -- write the golden datasets: make_golden DIRECTORY (which must
 * exist; see make.sh). */
#include <stdio.h>
#include <zstd.h>

#include "golden_sets.h"

int main(int argc, char **argv)
{
    char path[1024];
    FILE *f;

    if (argc != 2) {
        fprintf(stderr, "usage: make_golden DIRECTORY\n");
        return 2;
    }
    for (int i = 0; golden_name(i); i++) {
        snprintf(path, sizeof(path), "%s/%s.bouma", argv[1], golden_name(i));
        if (golden_write(i, path))
            return 1;
    }
    /* Compressed bytes are the same only with the same zstd. */
    snprintf(path, sizeof(path), "%s/zstd-version", argv[1]);
    f = fopen(path, "w");
    if (!f)
        return 1;
    fprintf(f, "%u\n", ZSTD_versionNumber());
    return fclose(f) != 0;
}
