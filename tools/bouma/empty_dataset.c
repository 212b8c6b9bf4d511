/* empty_dataset.c -- take away a dataset that has nothing in it.
 *
 * A new dataset (docs/format.md) is
 *
 *     DATASET
 *     epochs/000001/owner, and closed
 *     steps/
 *     DATASET.tmp.local, and .part, of a local copy
 *
 * It is taken apart name by name, the directory of the steps first: who has
 * begun a step meanwhile keeps it all, as a directory that is not empty cannot
 * be removed. */
#include "empty_dataset.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_ROOM = 4096 };

/* path + "/" + name in 'out'; false if it is too long. */
static bool join(char *out, const char *path, const char *name)
{
    return snprintf(out, PATH_ROOM, "%s/%s", path, name) < PATH_ROOM;
}

/* Whether a directory has nothing but the names of the list in it. */
static bool has_only(const char *path, const char *name,
                     const char *const *names)
{
    char full[PATH_ROOM];
    const struct dirent *entry;
    bool only = true;
    DIR *dir;

    if (!join(full, path, name) || !(dir = opendir(full)))
        return false;
    while (only && (entry = readdir(dir))) {
        const char *const *known = names;

        while (*known && strcmp(*known, entry->d_name) != 0)
            known++;
        only = *known || strcmp(entry->d_name, ".") == 0 ||
               strcmp(entry->d_name, "..") == 0;
    }
    closedir(dir);
    return only;
}

static bool drop(const char *path, const char *name, int (*how)(const char *))
{
    char full[PATH_ROOM];

    return join(full, path, name) && how(full) == 0;
}

void remove_empty_dataset(const char *path)
{
    static const char *const root[] = {
        "DATASET",           "epochs",           "steps",
        "DATASET.tmp.local", "DATASET.tmp.part", NULL};
    static const char *const epochs[] = {"000001", NULL};
    static const char *const first[] = {"owner", "closed", NULL};
    static const char *const none[] = {NULL};
    char steps[PATH_ROOM];

    if (!has_only(path, ".", root) || !has_only(path, "epochs", epochs) ||
        !has_only(path, "epochs/000001", first) ||
        !has_only(path, "steps", none) || !drop(path, "steps", rmdir))
        return;
    drop(path, "epochs/000001/closed", unlink);
    drop(path, "epochs/000001/owner", unlink);
    drop(path, "epochs/000001", rmdir);
    if (!drop(path, "epochs", rmdir)) { /* somebody has just opened it */
        if (join(steps, path, "steps"))
            mkdir(steps, 0777);
        return;
    }
    drop(path, "DATASET.tmp.part", unlink);
    drop(path, "DATASET.tmp.local", unlink);
    drop(path, "DATASET", unlink);
    rmdir(path);
}
