/* files.c -- /files/RUN/: the files of a dataset as they are.
 *
 * Every part of a name is opened by itself, below the directory of the dataset,
 * and no link is followed: nothing outside can be named. */
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "route.h"
#include "served.h"

#define DEEPEST 8

static int open_below(int directory, const char *name, bool is_directory)
{
    return openat(directory, name,
                  O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK |
                      (is_directory ? O_DIRECTORY : 0));
}

/* ---- the list ------------------------------------------------------------ */

static void list_directory(struct json_out *out, int directory, char *path,
                           size_t room, int depth);

static void list_entry(struct json_out *out, int directory, const char *name,
                       char *path, size_t room, int depth)
{
    size_t length = strlen(path);
    struct stat about;

    if (fstatat(directory, name, &about, AT_SYMLINK_NOFOLLOW) != 0 ||
        (size_t)snprintf(path + length, room - length, "%s%s",
                         length ? "/" : "", name) >= room - length) {
        path[length] = '\0';
        return;
    }
    if (S_ISREG(about.st_mode)) {
        json_out_open(out, '[');
        json_out_text(out, path);
        json_out_count(out, (uint64_t)about.st_size);
        json_out_close(out, ']');
    } else if (S_ISDIR(about.st_mode) && depth < DEEPEST) {
        int below = open_below(directory, name, true);

        if (below >= 0)
            list_directory(out, below, path, room, depth + 1);
    }
    path[length] = '\0';
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

struct names {
    char **all;
    size_t count, room;
};

static bool add_name(struct names *names, const char *name)
{
    if (names->count == names->room) {
        size_t room = names->room ? 2 * names->room : 64;
        char **more = realloc(names->all, room * sizeof(*more));

        if (!more)
            return false;
        names->all = more;
        names->room = room;
    }
    names->all[names->count] = strdup(name);
    if (!names->all[names->count])
        return false;
    names->count++;
    return true;
}

/* In the order of their names. Closes 'directory'. */
static void list_directory(struct json_out *out, int directory, char *path,
                           size_t room, int depth)
{
    DIR *open = fdopendir(directory);
    struct names names = {NULL, 0, 0};
    struct dirent *entry;

    if (!open) {
        close(directory);
        return;
    }
    while (!out->failed && (entry = readdir(open)) != NULL)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            out->failed = !add_name(&names, entry->d_name);
    if (names.count)
        qsort(names.all, names.count, sizeof(*names.all), by_name);
    for (size_t i = 0; i < names.count; i++) {
        if (!out->failed)
            list_entry(out, directory, names.all[i], path, room, depth);
        free(names.all[i]);
    }
    free(names.all);
    closedir(open);
}

static void answer_list(int root, struct answer *answer)
{
    struct json_out out;
    char path[1024] = "";

    json_out_init(&out, answer->memory, answer->limit);
    json_out_open(&out, '{');
    json_out_key(&out, "files");
    json_out_open(&out, '[');
    list_directory(&out, root, path, sizeof(path), 0);
    json_out_close(&out, ']');
    json_out_close(&out, '}');
    answer_put_json(answer, &out);
}

/* ---- one of them --------------------------------------------------------- */

/* Closes 'root'; -1 if there is no such regular file. */
static int open_file(int root, const struct request *request,
                     struct stat *about)
{
    int at = root;

    for (size_t i = 0; i < request->rest_count && at >= 0; i++) {
        const char *part = request->rest[i];
        bool last = i + 1 == request->rest_count;
        int below = strchr(part, '/') ? -1 : open_below(at, part, !last);

        close(at);
        at = below;
    }
    if (at >= 0 && (fstat(at, about) != 0 || !S_ISREG(about->st_mode))) {
        close(at);
        at = -1;
    }
    return at;
}

static void answer_file(int file, const struct stat *about,
                        const struct request *request, struct answer *answer)
{
    char etag[40];

    snprintf(etag, sizeof(etag), "%" PRIx64 "-%" PRIx64,
             (uint64_t)about->st_size,
             (uint64_t)about->st_ino * 0x9e3779b97f4a7c15u +
                 (uint64_t)about->st_mtim.tv_sec * 1000000000u +
                 (uint64_t)about->st_mtim.tv_nsec);
    answer->as_it_is = true;
    if (request_has_tag(request, answer, etag)) {
        close(file);
        return;
    }
    answer->type = ANSWER_BYTES;
    answer->file = file;
    answer->file_bytes = (uint64_t)about->st_size;
    answer->binary = true;
}

void route_files(struct request *request, struct answer *answer)
{
    long number = served_find(request->served, request->names[0]);
    const struct served_dataset *dataset =
        number < 0 ? NULL : served_get(request->served, (size_t)number);
    int root =
        dataset ? open(dataset->path, O_RDONLY | O_CLOEXEC | O_DIRECTORY) : -1;
    struct stat about;

    if (root >= 0 && request->rest_count == 0) {
        answer_list(root, answer);
        return;
    }
    if (root >= 0 && !request->url->directory)
        root = open_file(root, request, &about);
    else if (root >= 0) {
        close(root);
        root = -1;
    }
    if (root < 0)
        answer_fail(answer, 404, BOUMA_ENOTFOUND,
                    "there is no such file; /files/%.60s/ lists those there "
                    "are",
                    dataset ? dataset->name : "RUN");
    else
        answer_file(root, &about, request, answer);
}
