/* replay.c -- feed files, and all files in directories, to a fuzz target. */
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "fuzz_help.h"

static int run_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    uint8_t *data = NULL;
    size_t size = 0, n = 1;

    if (!f) {
        perror(path);
        return -1;
    }
    while (n) {
        data = realloc(data, size + 65536);
        if (!data)
            exit(1);
        n = fread(data + size, 1, 65536, f);
        size += n;
    }
    fclose(f);
    data = realloc(data, size ? size : 1); /* no room behind it */
    LLVMFuzzerTestOneInput(data, size);
    free(data);
    return 1;
}

/* The number of files that were run, or -1. */
static int run(const char *path)
{
    struct dirent *e;
    struct stat st;
    int count = 0;
    DIR *d;

    if (stat(path, &st) || !S_ISDIR(st.st_mode))
        return run_file(path);
    d = opendir(path);
    if (!d) {
        perror(path);
        return -1;
    }
    while ((e = readdir(d)) && count >= 0) {
        char name[4096];
        int n;

        if (e->d_name[0] == '.')
            continue;
        snprintf(name, sizeof(name), "%s/%s", path, e->d_name);
        n = run(name);
        count = n < 0 ? n : count + n;
    }
    closedir(d);
    return count;
}

int main(int argc, char **argv)
{
    int total = 0;

    for (int i = 1; i < argc; i++) {
        int n = run(argv[i]);

        if (n < 0)
            return 1;
        total += n;
    }
    printf("%d inputs\n", total);
    return total == 0; /* nothing to run is a mistake */
}
