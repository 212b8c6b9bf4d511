/* fuzz_names.c -- names of files, as a directory lists them: no text makes
 * their parsers crash, and what is taken for a name is written in one way. */
#include "fuzz_help.h"
#include "store/losses.h"
#include "store/store.h"

/* Whether 'entry' is the last part of 'name'. */
static int ends_in(const char *name, const char *entry)
{
    const char *slash = strrchr(name, '/');

    return slash && !strcmp(slash + 1, entry);
}

static void try_numbers(const char *entry)
{
    char name[BM_NAME_BYTES];
    uint32_t epoch;
    uint64_t step;

    if (bm_name_parse_step(entry, &step)) {
        bm_name_step(name, step);
        HOLDS(step <= INT64_MAX && ends_in(name, entry));
    }
    if (bm_name_parse_loss(entry, &step)) {
        bm_name_loss(name, step);
        HOLDS(step <= INT64_MAX && ends_in(name, entry));
    }
    if (bm_name_parse_epoch(entry, &epoch)) {
        bm_name_epoch(name, epoch);
        HOLDS(ends_in(name, entry));
    }
    if (bm_name_parse_mended(entry, &epoch))
        HOLDS(strstr(entry, "mended.tmp.e") != NULL);
}

static void try_generations(const char *entry)
{
    char name[BM_NAME_BYTES], again[BM_NAME_BYTES];
    struct bm_generation g;
    uint32_t subfile;
    int found = 0;

    if (bm_name_parse_subfile(entry, &subfile, &g)) {
        bm_name_subfile(name, 7, subfile, g);
        HOLDS(!strcmp(name + strlen("steps/00000007/"), entry));
        found++;
    }
    if (bm_name_parse_manifest_new(entry, &g)) {
        bm_name_manifest_new(name, 7, g);
        HOLDS(ends_in(name, entry));
        found++;
    }
    HOLDS(bm_name_written(again, 7, entry) == found && found <= 1);
    HOLDS(!found || !strcmp(name, again));
    HOLDS(!found || !bm_name_is_copy(entry, &g));
    if (bm_name_is_folder(entry)) {
        bm_name_subfile(name, 7, 1024 * (uint32_t)strtoul(entry, NULL, 10),
                        (struct bm_generation){1, 1});
        HOLDS(bm_name_folder(again, name) && ends_in(again, entry) && !found);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *entry = malloc(size + 1);

    if (!entry)
        exit(1);
    if (size)
        memcpy(entry, data, size);
    entry[size] = 0;
    try_numbers(entry);
    try_generations(entry);
    free(entry);
    return 0;
}
