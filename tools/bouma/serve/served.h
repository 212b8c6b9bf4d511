/* served.h -- the datasets that are served, by name. Any thread may ask. */
#ifndef SERVE_SERVED_H
#define SERVE_SERVED_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/* Of datasets and of directories of datasets. */
#define SERVED_MOST 10000

/* Neither name nor path changes, nor is it removed. */
struct served_dataset {
    char *name, *path;
};

struct served {
    pthread_mutex_t lock;
    struct served_dataset **datasets; /* [count] */
    size_t count, room;
    char **directories; /* [directory_count] that are looked through again */
    size_t directory_count;
    double looked; /* when, for the last time */
};

/* The caller ends *out with served_release(), after a failure too. */
bool served_init(struct served *out);
void served_release(struct served *served);

/* Add a dataset, or the datasets in a directory, also those that come later.
 * False if there is no such thing: 'message' (of 'bytes' bytes) tells. */
bool served_add(struct served *served, const char *path, char *message,
                size_t bytes);

/* How many there are; directories are looked through again for that, once a
 * second at most. */
size_t served_count(struct served *served);
/* The i-th; and the number of one by name, or -1. */
const struct served_dataset *served_get(struct served *served, size_t i);
long served_find(struct served *served, const char *name);

/* Seconds of a clock that is never set back. */
double served_clock(void);

#endif
