/* names.c -- names of files, from integers and back. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "store/store.h"

#define MENDED "mended.tmp.e"

static const char *last_part(const char *entry)
{
    const char *slash = strrchr(entry, '/');

    return slash ? slash + 1 : entry;
}

void bm_name_step(char name[BM_NAME_BYTES], uint64_t step)
{
    snprintf(name, BM_NAME_BYTES, BM_NAME_STEPS "/%08" PRIu64, step);
}

void bm_name_manifest(char name[BM_NAME_BYTES], uint64_t step)
{
    snprintf(name, BM_NAME_BYTES, BM_NAME_STEPS "/%08" PRIu64 "/manifest",
             step);
}

void bm_name_manifest_new(char name[BM_NAME_BYTES], uint64_t step,
                          struct bm_generation g)
{
    snprintf(name, BM_NAME_BYTES,
             BM_NAME_STEPS "/%08" PRIu64 "/manifest.tmp.e%" PRIu32 "a%" PRIu32,
             step, g.epoch, g.attempt);
}

/* The files that one directory has; tests have fewer. */
#ifndef BM_FOLDER_FILES
#define BM_FOLDER_FILES 1024u
#endif

uint32_t bm_name_folder_files(void)
{
    return BM_FOLDER_FILES;
}

/* The directory that a subfile lies in, with a slash; gives its length. It
 * follows from the number alone: who makes a file need not know how many there
 * will be, and who finds one need not know how many there were. */
static size_t folder_of(char name[BM_NAME_BYTES], uint64_t step,
                        uint32_t subfile)
{
    uint32_t folder = subfile / BM_FOLDER_FILES;
    int n = folder ? snprintf(name, BM_NAME_BYTES,
                              BM_NAME_STEPS "/%08" PRIu64 "/%04" PRIu32 "/",
                              step, folder)
                   : snprintf(name, BM_NAME_BYTES,
                              BM_NAME_STEPS "/%08" PRIu64 "/", step);

    return (size_t)n;
}

void bm_name_subfile(char name[BM_NAME_BYTES], uint64_t step, uint32_t subfile,
                     struct bm_generation g)
{
    size_t n = folder_of(name, step, subfile);

    snprintf(name + n, BM_NAME_BYTES - n,
             "d.%04" PRIu32 ".e%" PRIu32 "a%" PRIu32, subfile, g.epoch,
             g.attempt);
}

void bm_name_copy(char name[BM_NAME_BYTES], uint64_t step, uint32_t subfile,
                  struct bm_generation g, uint32_t nonce)
{
    size_t n = folder_of(name, step, subfile);

    snprintf(name + n, BM_NAME_BYTES - n,
             "copy.%04" PRIu32 ".%08" PRIx32 ".e%" PRIu32 "a%" PRIu32, subfile,
             nonce, g.epoch, g.attempt);
}

void bm_name_mended(char name[BM_NAME_BYTES], const char *subfile,
                    uint32_t epoch)
{
    snprintf(name, BM_NAME_BYTES, "%.*s" MENDED "%" PRIu32,
             (int)(last_part(subfile) - subfile), subfile, epoch);
}

void bm_name_epoch(char name[BM_NAME_BYTES], uint32_t epoch)
{
    snprintf(name, BM_NAME_BYTES, BM_NAME_EPOCHS "/%06" PRIu32, epoch);
}

void bm_name_epoch_owner(char name[BM_NAME_BYTES], uint32_t epoch)
{
    snprintf(name, BM_NAME_BYTES, BM_NAME_EPOCHS "/%06" PRIu32 "/owner", epoch);
}

void bm_name_epoch_owner_new(char name[BM_NAME_BYTES], uint32_t epoch)
{
    snprintf(name, BM_NAME_BYTES, BM_NAME_EPOCHS "/%06" PRIu32 "/owner.tmp",
             epoch);
}

void bm_name_epoch_closed(char name[BM_NAME_BYTES], uint32_t epoch)
{
    snprintf(name, BM_NAME_BYTES, BM_NAME_EPOCHS "/%06" PRIu32 "/closed",
             epoch);
}

/* A run of digits at *text, which is moved past it; 0 if there is none or it
 * does not fit. */
static int number(const char **text, uint64_t limit, uint64_t *value)
{
    const char *p = *text;
    uint64_t v = 0;

    for (; *p >= '0' && *p <= '9'; p++) {
        uint64_t digit = (uint64_t)(*p - '0');

        if (v > (limit - digit) / 10)
            return 0;
        v = v * 10 + digit;
    }
    if (p == *text)
        return 0;
    *text = p;
    *value = v;
    return 1;
}

/* "eNaM" at the end of a name. */
static int generation(const char *text, struct bm_generation *g)
{
    uint64_t epoch, attempt;

    if (*text++ != 'e' || !number(&text, UINT32_MAX, &epoch) ||
        *text++ != 'a' || !number(&text, UINT32_MAX, &attempt) || *text)
        return 0;
    g->epoch = (uint32_t)epoch;
    g->attempt = (uint32_t)attempt;
    return 1;
}

/* Whether 'entry' is the last part of 'name': so only the one right way to
 * write a number is accepted. */
static int is_last_part(const char *name, const char *entry)
{
    const char *slash = strrchr(name, '/');

    return slash && !strcmp(slash + 1, entry);
}

/* The same for what is in the directory of a step or in one below that: 'name'
 * is that of step 0. */
static int is_in_step(const char *name, const char *entry)
{
    return !strcmp(name + sizeof(BM_NAME_STEPS "/00000000/") - 1, entry);
}

/* A directory may have very many of them: so without writing the name. */
int bm_name_parse_step(const char *entry, uint64_t *step)
{
    const char *p = entry;

    return number(&p, INT64_MAX, step) && !*p &&
           (p - entry == 8 || (p - entry > 8 && *entry != '0'));
}

int bm_name_parse_epoch(const char *entry, uint32_t *epoch)
{
    const char *p = entry;
    char name[BM_NAME_BYTES];
    uint64_t v;

    if (!number(&p, UINT32_MAX, &v) || *p)
        return 0;
    *epoch = (uint32_t)v;
    bm_name_epoch(name, *epoch);
    return is_last_part(name, entry);
}

int bm_name_parse_manifest_new(const char *entry, struct bm_generation *g)
{
    static const char prefix[] = "manifest.tmp.";
    char name[BM_NAME_BYTES];

    if (strncmp(entry, prefix, sizeof(prefix) - 1) ||
        !generation(entry + sizeof(prefix) - 1, g))
        return 0;
    bm_name_manifest_new(name, 0, *g);
    return is_in_step(name, entry);
}

int bm_name_parse_subfile(const char *entry, uint32_t *subfile,
                          struct bm_generation *g)
{
    const char *p = last_part(entry);
    char name[BM_NAME_BYTES];
    uint64_t v;

    if (strncmp(p, "d.", 2))
        return 0;
    p += 2;
    if (!number(&p, UINT32_MAX, &v) || *p++ != '.' || !generation(p, g))
        return 0;
    *subfile = (uint32_t)v;
    bm_name_subfile(name, 0, *subfile, *g);
    return is_in_step(name, entry);
}

int bm_name_is_copy(const char *entry, struct bm_generation *g)
{
    static const char prefix[] = "copy.";
    const char *base = last_part(entry), *p = base + sizeof(prefix) - 1;
    char folder[BM_NAME_BYTES];
    uint64_t subfile;

    if (strncmp(base, prefix, sizeof(prefix) - 1) ||
        !number(&p, UINT32_MAX, &subfile) || *p++ != '.' ||
        strspn(p, "0123456789abcdef") != 8 || p[8] != '.')
        return 0;
    folder_of(folder, 0, (uint32_t)subfile);
    snprintf(folder + strlen(folder), BM_NAME_BYTES - strlen(folder), "%.100s",
             base);
    return is_in_step(folder, entry) && generation(p + 9, g);
}

void bm_name_in_step(char name[BM_NAME_BYTES], uint64_t step, const char *entry)
{
    snprintf(name, BM_NAME_BYTES, BM_NAME_STEPS "/%08" PRIu64 "/%.200s", step,
             entry);
}

int bm_name_is_folder(const char *entry)
{
    const char *p = entry;
    char name[BM_NAME_BYTES];
    uint64_t folder;
    size_t n;

    if (!number(&p, UINT32_MAX / BM_FOLDER_FILES, &folder) || *p || !folder)
        return 0;
    n = folder_of(name, 0, (uint32_t)folder * BM_FOLDER_FILES);
    name[n - 1] = 0;
    return is_in_step(name, entry);
}

int bm_name_folder(char folder[BM_NAME_BYTES], const char *name)
{
    size_t n = sizeof(BM_NAME_STEPS); /* with the slash */
    const char *last = strrchr(name, '/'), *second;

    if (strncmp(name, BM_NAME_STEPS "/", n))
        return 0;
    second = strchr(name + n, '/');
    if (second == last) /* or there is none */
        return 0;
    snprintf(folder, BM_NAME_BYTES, "%.*s", (int)(last - name), name);
    return second != NULL;
}

int bm_name_same_folder(const char *a, const char *b)
{
    size_t n = (size_t)(last_part(a) - a);

    return n == (size_t)(last_part(b) - b) && !strncmp(a, b, n);
}

int bm_name_parse_mended(const char *entry, uint32_t *epoch)
{
    const char *base = last_part(entry), *p = base + sizeof(MENDED) - 1;
    char folder[BM_NAME_BYTES];
    uint64_t n;

    if (strncmp(base, MENDED, sizeof(MENDED) - 1) ||
        !number(&p, UINT32_MAX, &n) || *p)
        return 0;
    snprintf(folder, sizeof(folder), "%.*s", (int)(base - entry), entry);
    if (folder[0])
        folder[strlen(folder) - 1] = 0; /* the slash */
    *epoch = (uint32_t)n;
    return base == entry || bm_name_is_folder(folder);
}

int bm_name_written(char name[BM_NAME_BYTES], uint64_t step, const char *entry)
{
    struct bm_generation g;
    uint32_t subfile;

    if (bm_name_parse_subfile(entry, &subfile, &g))
        bm_name_subfile(name, step, subfile, g);
    else if (bm_name_parse_manifest_new(entry, &g))
        bm_name_manifest_new(name, step, g);
    else
        return 0;
    return 1;
}

int bm_name_is_ghost(const char *entry)
{
    return !strncmp(last_part(entry), ".nfs", 4);
}
