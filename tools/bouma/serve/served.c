/* served.c -- the datasets that are served. */
#include "served.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

double served_clock(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

bool served_init(struct served *out)
{
    *out = (struct served){0};
    return pthread_mutex_init(&out->lock, NULL) == 0;
}

static void free_dataset(struct served_dataset *dataset)
{
    if (!dataset)
        return;
    free(dataset->name);
    free(dataset->path);
    free(dataset);
}

void served_release(struct served *served)
{
    for (size_t i = 0; i < served->count; i++)
        free_dataset(served->datasets[i]);
    for (size_t i = 0; i < served->directory_count; i++)
        free(served->directories[i]);
    free(served->datasets);
    free(served->directories);
    pthread_mutex_destroy(&served->lock);
}

/* Datasets have this file; see docs/format.md. */
static bool is_dataset(const char *path)
{
    char name[PATH_MAX];
    struct stat about;

    return snprintf(name, sizeof(name), "%s/DATASET", path) <
               (int)sizeof(name) &&
           stat(name, &about) == 0 && S_ISREG(about.st_mode);
}

static long find(const struct served *served, const char *name)
{
    for (size_t i = 0; i < served->count; i++)
        if (strcmp(served->datasets[i]->name, name) == 0)
            return (long)i;
    return -1;
}

static bool has_path(const struct served *served, const char *path)
{
    for (size_t i = 0; i < served->count; i++)
        if (strcmp(served->datasets[i]->path, path) == 0)
            return true;
    return false;
}

/* "run" of "data/run.bouma"; or "run~2", if there is one of that name. */
static char *name_for(const struct served *served, const char *path)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    size_t length = strlen(base), room = length + 24;
    char *name = malloc(room);

    if (length > 6 && strcmp(base + length - 6, ".bouma") == 0)
        length -= 6;
    if (!name)
        return NULL;
    snprintf(name, room, "%.*s", (int)length, base);
    for (int i = 2; find(served, name) >= 0; i++)
        snprintf(name, room, "%.*s~%d", (int)length, base, i);
    return name;
}

static bool add_dataset(struct served *served, const char *path)
{
    struct served_dataset *dataset;

    if (has_path(served, path))
        return true;
    if (served->count == SERVED_MOST)
        return false;
    if (served->count == served->room) {
        size_t room = 2 * served->room + 8;
        struct served_dataset **grown =
            realloc(served->datasets, room * sizeof(*grown));

        if (!grown)
            return false;
        served->datasets = grown;
        served->room = room;
    }
    dataset = calloc(1, sizeof(*dataset));
    if (dataset) {
        dataset->path = strdup(path);
        dataset->name = name_for(served, path);
    }
    if (!dataset || !dataset->path || !dataset->name) {
        free_dataset(dataset);
        return false;
    }
    served->datasets[served->count++] = dataset;
    return true;
}

/* Add the datasets of a directory, by name; false if it cannot be read. */
static bool look_through(struct served *served, const char *directory)
{
    struct dirent **entries;
    int count = scandir(directory, &entries, NULL, alphasort);

    if (count < 0)
        return false;
    for (int i = 0; i < count; i++) {
        char path[PATH_MAX];

        if (entries[i]->d_name[0] != '.' &&
            snprintf(path, sizeof(path), "%s/%s", directory,
                     entries[i]->d_name) < (int)sizeof(path) &&
            is_dataset(path))
            add_dataset(served, path);
        free(entries[i]);
    }
    free(entries);
    return true;
}

static bool keep_directory(struct served *served, const char *path)
{
    char **grown = realloc(served->directories,
                           (served->directory_count + 1) * sizeof(*grown));

    if (!grown)
        return false;
    served->directories = grown;
    grown[served->directory_count] = strdup(path);
    if (!grown[served->directory_count])
        return false;
    served->directory_count++;
    return true;
}

bool served_add(struct served *served, const char *path, char *message,
                size_t bytes)
{
    char *full = realpath(path, NULL);
    bool fine = full != NULL;

    if (!fine)
        snprintf(message, bytes, "%s: %s", path, strerror(errno));
    else if (is_dataset(full)) {
        if (!(fine = add_dataset(served, full)))
            snprintf(message, bytes, "out of memory");
    } else {
        errno = 0;
        fine = look_through(served, full) && keep_directory(served, full);
        if (!fine)
            snprintf(message, bytes,
                     "%s: is neither a dataset nor a directory of datasets%s%s",
                     path, errno ? ": " : "", errno ? strerror(errno) : "");
    }
    free(full);
    return fine;
}

/* With the lock held. */
static void look_again(struct served *served)
{
    double now = served_clock();

    if (now - served->looked < 1)
        return;
    for (size_t i = 0; i < served->directory_count; i++)
        look_through(served, served->directories[i]);
    served->looked = served_clock();
}

size_t served_count(struct served *served)
{
    size_t count;

    pthread_mutex_lock(&served->lock);
    look_again(served);
    count = served->count;
    pthread_mutex_unlock(&served->lock);
    return count;
}

const struct served_dataset *served_get(struct served *served, size_t i)
{
    const struct served_dataset *dataset;

    pthread_mutex_lock(&served->lock);
    dataset = i < served->count ? served->datasets[i] : NULL;
    pthread_mutex_unlock(&served->lock);
    return dataset;
}

long served_find(struct served *served, const char *name)
{
    long number;

    pthread_mutex_lock(&served->lock);
    number = find(served, name);
    if (number < 0) {
        look_again(served);
        number = find(served, name);
    }
    pthread_mutex_unlock(&served->lock);
    return number;
}
