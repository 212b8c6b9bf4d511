/* make_golden.c -- write the golden datasets that are not there yet:
 * make_golden DIRECTORY (which must exist; see make.sh). */
#include <stdio.h>
#include <unistd.h>
#include <zstd.h>

#include "golden_sets.h"

int main(int argc, char **argv)
{
    unsigned version = ZSTD_versionNumber();
    char path[1024];
    FILE *f;

    if (argc != 2) {
        fprintf(stderr, "usage: make_golden DIRECTORY\n");
        return 2;
    }
    /* Compressed bytes are the same only with the same zstd. */
    snprintf(path, sizeof(path), "%s/zstd-version", argv[1]);
    f = fopen(path, "a+");
    if (!f)
        return 1;
    rewind(f);
    if (fscanf(f, "%u", &version) != 1)
        fprintf(f, "%u\n", version);
    if (fclose(f))
        return 1;
    if (version != ZSTD_versionNumber()) {
        fprintf(stderr, "make_golden: %s has zstd %u, this is %u\n", argv[1],
                version, ZSTD_versionNumber());
        return 1;
    }
    for (int i = 0; golden_name(i); i++) {
        snprintf(path, sizeof(path), "%s/%s.bouma", argv[1], golden_name(i));
        if (access(path, F_OK) && !golden_is_old(i) && golden_write(i, path))
            return 1;
    }
    return 0;
}
