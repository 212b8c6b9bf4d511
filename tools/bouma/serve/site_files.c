/* site_files.c -- the files of a dataset, listed and copied. */
#include "site_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../output.h"

/* ---- listing ------------------------------------------------------------- */

static int add_file(struct site_files *files, struct context *ctx,
                    const char *name, uint64_t bytes)
{
    if (files->count == files->room) {
        size_t room = 2 * files->room + 64;
        struct site_file *grown =
            realloc(files->all, room * sizeof(*files->all));

        if (!grown)
            return context_fail_memory(ctx);
        files->all = grown;
        files->room = room;
    }
    files->all[files->count].name = strdup(name);
    files->all[files->count].bytes = bytes;
    if (!files->all[files->count].name)
        return context_fail_memory(ctx);
    files->count++;
    files->bytes += bytes;
    return DONE;
}

static int list_below(struct site_files *files, struct context *ctx,
                      const char *root, const char *below);

static int list_entry(struct site_files *files, struct context *ctx,
                      const char *root, const char *name)
{
    char path[PATH_MAX];
    struct stat about;

    if (snprintf(path, sizeof(path), "%s/%s", root, name) >= (int)sizeof(path))
        return context_fail(ctx, DATA_AT_FAULT, "%s/%s: the name is too long",
                            root, name);
    if (lstat(path, &about) != 0) /* a writer may have removed it */
        return errno == ENOENT ? DONE
                               : context_fail_errno(ctx, "look at", path);
    if (S_ISREG(about.st_mode))
        return add_file(files, ctx, name, (uint64_t)about.st_size);
    return S_ISDIR(about.st_mode) ? list_below(files, ctx, root, name) : DONE;
}

static int list_below(struct site_files *files, struct context *ctx,
                      const char *root, const char *below)
{
    struct dirent **entries;
    char path[PATH_MAX];
    int count, rc = DONE;

    snprintf(path, sizeof(path), "%s/%s", root, below);
    count = scandir(path, &entries, NULL, alphasort);
    if (count < 0)
        return context_fail_errno(ctx, "list", path);
    for (int i = 0; i < count; i++) {
        const char *entry = entries[i]->d_name;
        char name[PATH_MAX];

        if (!rc && strcmp(entry, ".") != 0 && strcmp(entry, "..") != 0) {
            int length = snprintf(name, sizeof(name), "%s%s%s", below,
                                  below[0] ? "/" : "", entry);

            rc = length < (int)sizeof(name)
                     ? list_entry(files, ctx, root, name)
                     : context_fail(ctx, DATA_AT_FAULT,
                                    "%s: the name of a file is too long", path);
        }
        free(entries[i]);
    }
    free(entries);
    return rc;
}

int site_files_list(struct site_files *out, struct context *ctx,
                    const char *path)
{
    *out = (struct site_files){0};
    return list_below(out, ctx, path, "");
}

void site_files_release(struct site_files *files)
{
    for (size_t i = 0; i < files->count; i++)
        free(files->all[i].name);
    free(files->all);
    *files = (struct site_files){0};
}

/* ---- copying ------------------------------------------------------------- */

static bool is_copied(const char *from, const char *to)
{
    struct stat a, b;

    return stat(from, &a) == 0 && lstat(to, &b) == 0 && S_ISREG(b.st_mode) &&
           a.st_size == b.st_size &&
           (b.st_mtim.tv_sec > a.st_mtim.tv_sec ||
            (b.st_mtim.tv_sec == a.st_mtim.tv_sec &&
             b.st_mtim.tv_nsec > a.st_mtim.tv_nsec));
}

/* The directories on the way to a file, of which 'base' bytes of the path are
 * there. */
static int make_way(struct context *ctx, char *path, size_t base)
{
    for (char *slash = strchr(path + base + 1, '/'); slash;
         slash = strchr(slash + 1, '/')) {
        bool made;

        *slash = '\0';
        made = mkdir(path, 0777) == 0 || errno == EEXIST;
        if (!made)
            context_fail_errno(ctx, "make", path);
        *slash = '/';
        if (!made)
            return DATA_AT_FAULT;
    }
    return DONE;
}

/* As many bytes as are listed: a writer may append more. */
static int copy_bytes(struct output *out, struct context *ctx, int from,
                      const char *path, uint64_t bytes)
{
    size_t room = (size_t)1 << 20;
    char *buffer = malloc(room);
    uint64_t at = 0;
    int rc = buffer ? DONE : context_fail_memory(ctx);

    while (!rc && at < bytes) {
        size_t most = bytes - at < room ? (size_t)(bytes - at) : room;
        ssize_t n = pread(from, buffer, most, (off_t)at);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            rc = context_fail_errno(ctx, "read", path);
        else if (n == 0)
            rc = context_fail(ctx, DATA_AT_FAULT,
                              "%s: it became shorter while it was copied; try "
                              "again",
                              path);
        else
            rc = output_write(out, ctx, buffer, (size_t)n, at);
        at += n > 0 ? (uint64_t)n : 0;
    }
    free(buffer);
    return rc;
}

static int copy_file(struct context *ctx, const char *from, const char *to,
                     uint64_t bytes)
{
    int file = open(from, O_RDONLY | O_CLOEXEC | O_NOFOLLOW), rc;
    struct output out;

    if (file < 0)
        return context_fail_errno(ctx, "open", from);
    rc = output_create(&out, ctx, to);
    if (!rc)
        rc = copy_bytes(&out, ctx, file, from, bytes);
    rc = output_finish(&out, ctx, rc);
    close(file);
    return rc;
}

int site_files_copy(const struct site_files *files, struct context *ctx,
                    const char *from, const char *to)
{
    int rc = DONE;

    for (size_t i = 0; !rc && i < files->count; i++) {
        const struct site_file *file = &files->all[i];
        char source[PATH_MAX], target[PATH_MAX];

        if (snprintf(source, sizeof(source), "%s/%s", from, file->name) >=
                (int)sizeof(source) ||
            snprintf(target, sizeof(target), "%s/%s", to, file->name) >=
                (int)sizeof(target))
            return context_fail(ctx, DATA_AT_FAULT,
                                "%s/%s: the name is too long", to, file->name);
        if (is_copied(source, target))
            continue;
        rc = make_way(ctx, target, strlen(to));
        if (!rc)
            rc = copy_file(ctx, source, target, file->bytes);
    }
    return rc;
}
