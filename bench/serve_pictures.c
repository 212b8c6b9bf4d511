/* serve_pictures.c -- the viewer's requests (serve_requests.mjs records them),
 * sent again to a server that was just started and has opened nothing, with the
 * dataset out of the page cache: what the first picture takes, and the one that
 * is as fine as the screen. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "measure.h"
#include "score.h"
#include "serve_client.h"
#include "serve_data.h"
#include "serve_parts.h"

/* Requests of a browser at once, and what it takes. */
enum { AT_ONCE = 6, TARGET_BYTES = 1000 };
#define ENCODINGS "gzip, deflate, br, zstd"

struct asked {
    size_t needs; /* answers that it waits for */
    char target[TARGET_BYTES];
};

struct recording {
    struct asked *asked;
    size_t count, first;            /* those before the first picture */
    double fetched, visible, sharp; /* bytes: see serve_requests.mjs */
};

/* ---- recording ----------------------------------------------------------- */

static void run_recorder(const struct bench *b, const struct server *s,
                         const char *out)
{
    char url[100];
    int status;
    pid_t child;

    snprintf(url, sizeof(url), "http://127.0.0.1:%d/", s->port);
    child = fork();
    if (child == 0) {
        execlp("node", "node", b->recorder, url, out, (char *)NULL);
        _exit(127);
    }
    if (child < 0 || waitpid(child, &status, 0) < 0 || status != 0)
        fail("the requests of the viewer are not recorded");
}

static void add_line(struct recording *r, const char *line)
{
    struct asked next;
    char phase[16];
    double bytes;

    if (sscanf(line, "%15s %zu %999s", phase, &next.needs, next.target) == 3) {
        r->asked = realloc(r->asked, (r->count + 1) * sizeof(*r->asked));
        if (!r->asked)
            fail("no memory");
        r->asked[r->count++] = next;
        r->first += strcmp(phase, "first") == 0;
    } else if (sscanf(line, "%15s %lf", phase, &bytes) == 2) {
        *(strcmp(phase, "fetched") == 0   ? &r->fetched
          : strcmp(phase, "visible") == 0 ? &r->visible
                                          : &r->sharp) = bytes;
    }
}

static void record(struct recording *r, const struct bench *b, const char *path)
{
    char out[BENCH_PATH_BYTES + 16], line[TARGET_BYTES + 64];
    struct server s;
    FILE *lines;

    *r = (struct recording){0};
    snprintf(out, sizeof(out), "%s/requests", b->directory);
    server_start(&s, b->program, path, NULL);
    run_recorder(b, &s, out);
    server_stop(&s);
    lines = fopen(out, "r");
    while (lines && fgets(line, sizeof(line), lines))
        add_line(r, line);
    if (!lines || !r->first || !(r->visible > 0))
        fail("the requests of the viewer are not recorded");
    fclose(lines);
}

/* ---- sending it again ---------------------------------------------------- */

struct replay {
    const struct recording *recording;
    const struct server *server;
    size_t next, end, ended;
    double bytes;
    pthread_mutex_t lock;
    pthread_cond_t changed;
};

/* One connection: the next request, when those are answered that it needs. */
static void *run_connection(void *user)
{
    struct replay *r = user;
    int s = server_connect(r->server, 1);

    pthread_mutex_lock(&r->lock);
    while (r->next < r->end) {
        const struct asked *asked = &r->recording->asked[r->next++];
        struct reply reply;

        while (r->ended < asked->needs)
            pthread_cond_wait(&r->changed, &r->lock);
        pthread_mutex_unlock(&r->lock);
        if (http_get(&reply, s, asked->target, ENCODINGS, NULL, 0) != 0 ||
            reply.code != 200)
            fail(asked->target);
        pthread_mutex_lock(&r->lock);
        r->ended++;
        r->bytes += (double)(reply.header + reply.body);
        pthread_cond_broadcast(&r->changed);
    }
    pthread_mutex_unlock(&r->lock);
    close(s);
    return NULL;
}

/* Requests up to number 'end'; their bytes as they are sent. */
static double replay(const struct recording *recording, const struct server *s,
                     size_t end)
{
    struct replay r = {.recording = recording, .server = s, .end = end};
    pthread_t threads[AT_ONCE];

    pthread_mutex_init(&r.lock, NULL);
    pthread_cond_init(&r.changed, NULL);
    for (int i = 0; i < AT_ONCE; i++)
        if (pthread_create(&threads[i], NULL, run_connection, &r) != 0)
            fail("no thread");
    for (int i = 0; i < AT_ONCE; i++)
        pthread_join(threads[i], NULL);
    pthread_cond_destroy(&r.changed);
    pthread_mutex_destroy(&r.lock);
    return r.bytes;
}

/* ---- pictures ------------------------------------------------------------ */

struct first_picture {
    struct times clock, processor, listening;
    double bytes, cached;
};

static void add_first(struct first_picture *out, const struct bench *b,
                      const struct recording *recording, const char *path)
{
    double cached = data_evict(path), begun = measure_now();
    struct server s;

    server_start(&s, b->program, path, NULL);
    times_add(&out->listening, measure_now() - begun);
    out->bytes = replay(recording, &s, recording->first);
    times_add(&out->clock, measure_now() - begun);
    times_add(&out->processor, server_seconds(&s));
    out->cached = cached > out->cached ? cached : out->cached;
    server_stop(&s);
}

static void report_first(const char *what, const struct first_picture *p,
                         size_t requests)
{
    const struct times *times[] = {&p->clock, &p->processor, &p->listening};
    static const char *const names[] = {"from the start of the server",
                                        "processor time", "until it listens"};
    char name[100];

    snprintf(name, sizeof(name), "%s, first picture: bytes, page included",
             what);
    score(name, "KiB", p->bytes / 1024, SCORE_AT_MOST, 1024);
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof(name), "%s, first picture: %s", what, names[i]);
        score_times(name, "s", times[i], i ? SCORE_TOLD : SCORE_AT_MOST, 0.3);
    }
    snprintf(name, sizeof(name), "%s, first picture: requests", what);
    score(name, "", (double)requests, SCORE_TOLD, 0);
    snprintf(name, sizeof(name), "%s: in the page cache before", what);
    score(name, "%", 100 * p->cached, SCORE_AT_MOST, 1);
}

static void report_refined(const char *what, const struct bench *b,
                           const struct recording *r, const char *path)
{
    struct server s;
    double begun, bytes;
    char name[100];

    server_start(&s, b->program, path, NULL);
    begun = measure_now();
    bytes = replay(r, &s, r->count);
    begun = measure_now() - begun;
    server_stop(&s);
    snprintf(name, sizeof(name),
             "%s, refined: bytes fetched / bytes of what is visible", what);
    score(name, "", r->fetched / r->visible, SCORE_AT_MOST, 1.5);
    snprintf(name, sizeof(name), "%s, refined: as fine as the screen", what);
    score(name, "%", 100 * r->sharp / r->visible, SCORE_TOLD_MORE, 0);
    snprintf(name, sizeof(name), "%s, refined: bytes as they are sent", what);
    score(name, "MiB", bytes / 1048576, SCORE_TOLD, 0);
    snprintf(name, sizeof(name), "%s, refined: requests", what);
    score(name, "", (double)r->count, SCORE_TOLD, 0);
    snprintf(name, sizeof(name), "%s, refined: time", what);
    score(name, "s", begun, SCORE_TOLD, 0);
}

void bench_pictures(const struct bench *b)
{
    const char *paths[] = {b->grid_path, b->particles_path};
    char names[2][64];

    snprintf(names[0], sizeof(names[0]), "%lld^3", (long long)b->size);
    snprintf(names[1], sizeof(names[1]), "%.3g M particles",
             (double)b->particles / 1e6);
    if (!b->recorder) {
        printf("\nno pictures: needs node, and the viewer's packages\n");
        return;
    }
    score_part("%s", "pictures");
    printf("what the viewer asks of a server that was just started, with the "
           "files out of\nthe page cache (posix_fadvise; the program itself "
           "stays)\n");
    for (int i = 0; i < 2; i++) {
        static struct first_picture first;
        struct recording recording;

        record(&recording, b, paths[i]);
        first = (struct first_picture){0};
        for (int n = 0; n < b->repetitions; n++)
            add_first(&first, b, &recording, paths[i]);
        report_first(names[i], &first, recording.first);
        report_refined(names[i], b, &recording, paths[i]);
        free(recording.asked);
    }
}
