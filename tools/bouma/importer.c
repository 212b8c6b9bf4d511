/* importer.c -- the formats that are imported, by the end of a name or the
 * beginning of a file. */
#include "importer.h"

#include <stdio.h>

#include "file_suffix.h"
#include "format_text.h"

#define ENTRY(name) &import_##name,
static const struct importer *const importers[] = {IMPORTER_LIST(ENTRY) NULL};

const struct importer *importer_at(int i)
{
    return i >= 0 && (size_t)i < sizeof(importers) / sizeof(importers[0])
               ? importers[i]
               : NULL;
}

static bool has_suffix(const struct importer *importer, const char *path)
{
    const char *at = importer->suffixes;
    char suffix[32];

    while (at && *at) {
        size_t n = strcspn(at, "|");

        snprintf(suffix, sizeof(suffix), "%.*s", (int)n, at);
        if (ends_in(path, suffix))
            return true;
        at += n + (at[n] == '|');
    }
    return false;
}

/* ".npy and .raw": the formats for grids, or for particles. */
static const char *list_names(char *text, size_t bytes, bool particles)
{
    const char *names[sizeof(importers) / sizeof(importers[0])];
    size_t used = 0;
    int count = 0;

    for (int i = 0; importers[i]; i++)
        if (particles ? importers[i]->particles : importers[i]->grids)
            names[count++] = importers[i]->name;
    for (int i = 0; i < count && used < bytes; i++)
        used += (size_t)snprintf(text + used, bytes - used, "%s%s",
                                 i == 0           ? ""
                                 : i == count - 1 ? " and "
                                                  : ", ",
                                 names[i]);
    return text;
}

static int unknown(struct context *ctx, const char *path)
{
    char grids[FORMAT_BYTES], particles[FORMAT_BYTES];

    return context_fail(ctx, CALL_AT_FAULT,
                        "cannot tell what %s is; grids come from %s files, "
                        "particles (with --particles NAME) from %s files",
                        path, list_names(grids, sizeof(grids), false),
                        list_names(particles, sizeof(particles), true));
}

const struct importer *importer_find_series(const char *path)
{
    for (int i = 0; importers[i]; i++)
        if (importers[i]->open_series && has_suffix(importers[i], path))
            return importers[i];
    return NULL;
}

int importer_find_grid(const struct importer **out, struct context *ctx,
                       const char *path)
{
    for (int i = 0; importers[i]; i++)
        if (importers[i]->open_grid && has_suffix(importers[i], path)) {
            *out = importers[i];
            return DONE;
        }
    return unknown(ctx, path);
}

int importer_find_particles(const struct importer **out, struct context *ctx,
                            const struct mapped_file *file)
{
    for (int i = 0; importers[i]; i++)
        if (importers[i]->open &&
            (has_suffix(importers[i], file->path) ||
             (importers[i]->begins && importers[i]->begins(file)))) {
            *out = importers[i];
            return DONE;
        }
    for (int i = 0; importers[i]; i++)
        if (importers[i]->grids && !importers[i]->particles &&
            has_suffix(importers[i], file->path))
            return context_fail(ctx, CALL_AT_FAULT,
                                "%s holds a grid, and no particles; leave out "
                                "--particles",
                                file->path);
    return unknown(ctx, file->path);
}
