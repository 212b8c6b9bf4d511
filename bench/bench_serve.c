/* bench_serve.c -- boxes from `bouma serve` beside the same reads in C; 64
 * clients at once, and what each of them gets.
 *
 *   bench_serve BOUMA --directory DIR [--size N] [--box N] [--reads N]
 *               [--seconds S]
 *
 * Reads and requests of the same boxes alternate, so that a busy machine slows
 * down both: the ratio of their medians is what counts. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bouma.h"
#include "field.h"
#include "measure.h"

#define CLIENTS 64

struct bench {
    const char *program, *directory;
    int64_t size, box;
    int reads;
    double seconds;
    char path[1024];
    struct field field;
    pid_t server;
    int port;
    atomic_int ended;
};

static int fail(const char *what)
{
    perror(what);
    return 1;
}

/* ---- the dataset and the server ------------------------------------------ */

static int write_dataset(struct bench *b)
{
    bouma_box all = {{0}, {b->size, b->size, b->size}};
    size_t bytes = (size_t)(b->size * b->size * b->size) * sizeof(float);
    float *data = malloc(bytes);
    bouma_array array = BOUMA_ARRAY(BOUMA_TYPE_F32, data, bytes);
    bouma_grid_spec spec = {
        .size = sizeof(spec), .ndims = 3, .shape = {b->size, b->size, b->size}};
    bouma_variable_spec v = {.size = sizeof(v), .type = BOUMA_TYPE_F32};
    bouma_dataset *ds = NULL;
    bouma_grid *grid = NULL;
    bouma_variable *variable = NULL;
    int rc;

    if (!data)
        return fail("malloc");
    field_fill(&b->field, &all, data);
    rc = bouma_dataset_create(&ds, b->path, NULL);
    if (!rc)
        rc = bouma_grid_define(&grid, ds, "g", &spec);
    if (!rc)
        rc = bouma_variable_define(&variable, grid, "v", &v);
    if (!rc)
        rc = bouma_step_begin(ds, 0, 0);
    if (!rc)
        rc = bouma_variable_put_borrow(variable, &all, &array);
    if (!rc)
        rc = bouma_step_end(ds);
    if (!rc)
        rc = bouma_dataset_close(ds);
    if (rc)
        fprintf(stderr, "%s\n", bouma_error_message(ds));
    bouma_dataset_free(ds);
    free(data);
    return rc != 0;
}

static int start_server(struct bench *b)
{
    char url[200] = "";
    int out[2];
    FILE *lines;

    if (pipe(out) != 0 || (b->server = fork()) < 0)
        return fail("fork");
    if (b->server == 0) {
        dup2(out[1], STDOUT_FILENO);
        close(out[0]);
        if (!freopen("/dev/null", "w", stderr))
            _exit(1);
        execl(b->program, b->program, "serve", b->path, "--port", "0",
              (char *)NULL);
        _exit(127);
    }
    close(out[1]);
    lines = fdopen(out[0], "r");
    if (!lines || !fgets(url, sizeof(url), lines) ||
        sscanf(url, "http://127.0.0.1:%d/", &b->port) != 1)
        return fail("the server has not started");
    fclose(lines);
    return 0;
}

/* Resident KiB of the server, now or at most. */
static long server_memory(const struct bench *b, const char *field)
{
    char path[64], line[200];
    long found = -1;
    FILE *status;

    snprintf(path, sizeof(path), "/proc/%d/status", (int)b->server);
    status = fopen(path, "r");
    while (status && fgets(line, sizeof(line), status))
        if (strncmp(line, field, strlen(field)) == 0)
            found = atol(line + strlen(field) + 1);
    if (status)
        fclose(status);
    return found;
}

/* ---- requests ------------------------------------------------------------ */

static int connect_to(const struct bench *b)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)b->port)};
    int s = socket(AF_INET, SOCK_STREAM, 0), on = 1;

    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (s < 0 || connect(s, (struct sockaddr *)&at, sizeof(at)) != 0)
        return -1;
    setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    return s;
}

/* Ask for 'target'; the body goes to 'to'. Its bytes, or -1; *header is how
 * many came before it. */
static long ask(int s, const char *target, char *to, size_t room, long *header)
{
    char text[4096], *end = NULL;
    size_t used = 0, got;
    const char *length;
    long bytes;

    snprintf(text, sizeof(text), "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n",
             target);
    if (send(s, text, strlen(text), MSG_NOSIGNAL) < 0)
        return -1;
    while (!end) {
        ssize_t n = recv(s, text + used, sizeof(text) - 1 - used, 0);

        if (n <= 0)
            return -1;
        used += (size_t)n;
        text[used] = '\0';
        end = strstr(text, "\r\n\r\n");
    }
    length = strstr(text, "Content-Length: ");
    bytes = length ? atol(length + 16) : -1;
    if (strncmp(text + 9, "200", 3) != 0 || bytes < 0 || (size_t)bytes > room)
        return -1;
    *header = (long)(end + 4 - text);
    got = used - (size_t)*header;
    memcpy(to, end + 4, got);
    while (got < (size_t)bytes) {
        ssize_t n = recv(s, to + got, (size_t)bytes - got, 0);

        if (n <= 0)
            return -1;
        got += (size_t)n;
    }
    return bytes;
}

static bouma_box random_box(const struct bench *b, unsigned *seed)
{
    bouma_box box = {{0}, {0}};

    for (int i = 0; i < 3; i++) {
        box.lo[i] = rand_r(seed) % (b->size - b->box + 1);
        box.hi[i] = box.lo[i] + b->box;
    }
    return box;
}

static void box_target(char *text, size_t room, const bouma_box *box)
{
    snprintf(text, room,
             "/api/v1/bench/0/g/v/samples?box=%lld:%lld,%lld:%lld,%lld:%lld",
             (long long)box->lo[0], (long long)box->hi[0],
             (long long)box->lo[1], (long long)box->hi[1],
             (long long)box->lo[2], (long long)box->hi[2]);
}

/* ---- one client beside the library --------------------------------------- */

static int compare(struct bench *b, bouma_variable *v, float *data,
                   size_t bytes)
{
    double *own = calloc((size_t)b->reads, sizeof(*own));
    double *served = calloc((size_t)b->reads, sizeof(*served));
    int s = connect_to(b), rc = !own || !served || s < 0;
    unsigned seed = 1;
    long header;

    for (int i = -2; i < b->reads && !rc; i++) { /* two to warm up */
        bouma_box box = random_box(b, &seed);
        bouma_array array = BOUMA_ARRAY(BOUMA_TYPE_F32, data, bytes);
        char target[200];
        double start, middle, end;

        box_target(target, sizeof(target), &box);
        start = measure_now();
        rc = bouma_variable_read(v, 0, &box, &array);
        middle = measure_now();
        rc = rc || ask(s, target, (char *)data, bytes, &header) != (long)bytes;
        end = measure_now();
        rc = rc || field_mismatches(&b->field, &box, data) != 0;
        if (i >= 0) {
            own[i] = middle - start;
            served[i] = end - middle;
        }
    }
    if (!rc) {
        double c = measure_median(own, b->reads);
        double h = measure_median(served, b->reads);

        printf("box of %lld^3 f32: C %.2f ms, HTTP %.2f ms (medians of %d); "
               "speed of HTTP / C: %.2f\n",
               (long long)b->box, c * 1e3, h * 1e3, b->reads, c / h);
    }
    if (s >= 0)
        close(s);
    free(own);
    free(served);
    return rc;
}

static int compare_with_library(struct bench *b)
{
    size_t bytes = (size_t)(b->box * b->box * b->box) * sizeof(float);
    float *data = malloc(bytes);
    bouma_dataset *ds = NULL;
    bouma_step *step = NULL;
    int rc = bouma_dataset_open(&ds, b->path, NULL);

    if (!rc)
        rc = bouma_step_open(&step, ds, 0);
    if (!rc && data)
        rc = compare(
            b, bouma_grid_find_variable(bouma_step_find_grid(step, "g"), "v"),
            data, bytes);
    if (rc)
        fprintf(stderr, "reads differ or fail: %s\n", bouma_error_message(ds));
    bouma_step_free(step);
    bouma_dataset_free(ds);
    free(data);
    return rc != 0;
}

/* ---- the first picture --------------------------------------------------- */

static int first_answers(struct bench *b)
{
    static const char *const targets[] = {
        "/api/v1", "/api/v1/bench", "/api/v1/bench/last",
        "/api/v1/bench/last/g/v/samples?max_points=40000"};
    char *body = malloc(1 << 22);
    int s = connect_to(b);
    long total = 0;

    for (int i = 0; i < 4; i++) {
        long header = 0;
        long bytes = body ? ask(s, targets[i], body, 1 << 22, &header) : -1;

        if (bytes < 0)
            return fail(targets[i]);
        total += bytes + header;
    }
    printf("first picture (what there is, a step, at most 40,000 samples): "
           "%ld bytes in 4 answers\n",
           total);
    close(s);
    free(body);
    return 0;
}

/* ---- 64 of them ---------------------------------------------------------- */

struct client {
    struct bench *bench;
    pthread_t thread;
    unsigned seed;
    double answers;
    int failed;
};

static void *run_client(void *user)
{
    struct client *client = user;
    struct bench *b = client->bench;
    size_t bytes = (size_t)(b->box * b->box * b->box) * sizeof(float);
    char *data = malloc(bytes);
    int s = connect_to(b);

    while (!atomic_load(&b->ended) && !client->failed) {
        bouma_box box = random_box(b, &client->seed);
        char target[200];
        long header;

        box_target(target, sizeof(target), &box);
        client->failed =
            !data || ask(s, target, data, bytes, &header) != (long)bytes;
        client->answers += !client->failed;
    }
    if (s >= 0)
        close(s);
    free(data);
    return NULL;
}

static int many_clients(struct bench *b)
{
    struct client clients[CLIENTS];
    double answers[CLIENTS], sum = 0;
    int failed = 0;

    for (int i = 0; i < CLIENTS; i++) {
        clients[i] = (struct client){.bench = b, .seed = (unsigned)i + 7};
        pthread_create(&clients[i].thread, NULL, run_client, &clients[i]);
    }
    usleep((useconds_t)(b->seconds * 1e6));
    atomic_store(&b->ended, 1);
    for (int i = 0; i < CLIENTS; i++) {
        pthread_join(clients[i].thread, NULL);
        answers[i] = clients[i].answers;
        failed += clients[i].failed;
        sum += answers[i];
    }
    printf("%d clients at once: %.0f answers; each got %.0f to %.0f (median "
           "%.0f), %d failed\n",
           CLIENTS, sum, measure_quantile(answers, CLIENTS, 0),
           measure_quantile(answers, CLIENTS, 1),
           measure_median(answers, CLIENTS), failed);
    printf("server: %ld MiB resident, %ld MiB at most\n",
           server_memory(b, "VmRSS:") >> 10, server_memory(b, "VmHWM:") >> 10);
    return failed != 0;
}

/* ---- all ----------------------------------------------------------------- */

static int run(struct bench *b)
{
    int rc;

    snprintf(b->path, sizeof(b->path), "%s/bench.bouma", b->directory);
    if (field_init(&b->field, b->size) != 0)
        return fail("field");
    rc = write_dataset(b) || start_server(b) || compare_with_library(b) ||
         first_answers(b) || many_clients(b);
    if (b->server > 0) {
        kill(b->server, SIGINT);
        waitpid(b->server, NULL, 0);
    }
    field_release(&b->field);
    return rc;
}

int main(int argc, char **argv)
{
    struct bench b = {.size = 256, .box = 64, .reads = 100, .seconds = 5};

    b.program = argc > 1 ? argv[1] : NULL;
    for (int i = 2; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--directory") == 0)
            b.directory = argv[i + 1];
        else if (strcmp(argv[i], "--size") == 0)
            b.size = atol(argv[i + 1]);
        else if (strcmp(argv[i], "--box") == 0)
            b.box = atol(argv[i + 1]);
        else if (strcmp(argv[i], "--reads") == 0)
            b.reads = atoi(argv[i + 1]);
        else if (strcmp(argv[i], "--seconds") == 0)
            b.seconds = atof(argv[i + 1]);
        else
            b.program = NULL;
    }
    if (!b.program || !b.directory || b.box > b.size || b.reads < 1) {
        fprintf(stderr,
                "usage: %s BOUMA --directory DIR [--size N] [--box N] [--reads "
                "N] [--seconds S]\n",
                argv[0]);
        return 2;
    }
    return run(&b);
}
