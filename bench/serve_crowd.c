/* serve_crowd.c -- 64 clients at once, each with an address of its own: what
 * each of them gets, and what memory that takes. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "measure.h"
#include "score.h"
#include "serve_client.h"
#include "serve_data.h"
#include "serve_parts.h"

enum { CLIENTS = 64, ENOUGH = 50, WAITS = 4096 };

struct client {
    const struct bench *bench;
    const struct server *server;
    const atomic_bool *ended;
    const char *variable;
    int64_t edge;
    int number;
    pthread_t thread;
    atomic_int answers, refused, failed; /* 200; 503; others, or none */
    double waits[WAITS];                 /* of the first answers, seconds */
};

static void ask_once(struct client *c, int s, unsigned *seed)
{
    bouma_box box = bench_box(c->bench, c->edge, seed);
    double begun = measure_now();
    struct reply reply;
    char target[400];

    bench_target(target, sizeof(target), c->variable, &box);
    if (http_get(&reply, s, target, NULL, NULL, 0) != 0) {
        c->failed++;
    } else if (reply.code == 200) {
        if (c->answers < WAITS)
            c->waits[c->answers] = measure_now() - begun;
        c->answers++;
    } else if (reply.code == 503) {
        c->refused++;
        usleep(100000);
    } else {
        c->failed++;
    }
}

static void *run_client(void *user)
{
    struct client *c = user;
    unsigned seed = (unsigned)c->number + 7;
    int s = server_connect(c->server, c->number + 1);

    while (!atomic_load(c->ended) && !c->failed)
        ask_once(c, s, &seed);
    close(s);
    return NULL;
}

static int fewest_answers(const struct client *clients)
{
    int fewest = clients[0].answers;

    for (int i = 1; i < CLIENTS; i++)
        if (clients[i].answers < fewest)
            fewest = clients[i].answers;
    return fewest;
}

/* Let them ask for at least 'seconds', and until each has 'enough' answers,
 * but a minute at most. */
static void run_clients(struct client *clients, const struct bench *b,
                        const struct server *s, double seconds, int enough)
{
    atomic_bool ended = false;
    double begun = measure_now(), now = begun;

    for (int i = 0; i < CLIENTS; i++) {
        clients[i].bench = b;
        clients[i].server = s;
        clients[i].ended = &ended;
        clients[i].number = i;
        if (pthread_create(&clients[i].thread, NULL, run_client, &clients[i]))
            fail("no thread");
    }
    while (now - begun < seconds ||
           (fewest_answers(clients) < enough && now - begun < 60)) {
        usleep(20000);
        now = measure_now();
    }
    atomic_store(&ended, true);
    for (int i = 0; i < CLIENTS; i++)
        pthread_join(clients[i].thread, NULL);
}

/* Answers of some clients: the fewest, the median, the most; in all. */
struct shares {
    double least, median, most, sum;
    int refused, failed;
};

static struct shares shares_of(const struct client *clients, int first, int end)
{
    struct shares s = {0};
    double answers[CLIENTS];
    int n = end - first;

    for (int i = first; i < end; i++) {
        answers[i - first] = clients[i].answers;
        s.sum += clients[i].answers;
        s.refused += clients[i].refused;
        s.failed += clients[i].failed;
    }
    s.least = measure_quantile(answers, n, 0);
    s.median = measure_median(answers, n);
    s.most = measure_quantile(answers, n, 1);
    return s;
}

static struct client *new_clients(void)
{
    struct client *clients = calloc(CLIENTS, sizeof(*clients));

    if (!clients)
        fail("no memory");
    return clients;
}

/* ---- who asks what ------------------------------------------------------- */

static void same_for_all(const struct bench *b, const struct server *server)
{
    struct client *clients = new_clients();
    struct shares s;

    for (int i = 0; i < CLIENTS; i++) {
        clients[i].variable = DATA_LOSSY;
        clients[i].edge = 64;
    }
    run_clients(clients, b, server, 0, ENOUGH);
    s = shares_of(clients, 0, CLIENTS);
    score_part("%d clients, boxes of 64^3 of '%s'", CLIENTS, DATA_LOSSY);
    score("answers of each client: smallest", "", s.least, SCORE_AT_LEAST,
          ENOUGH);
    score("answers of each client: median", "", s.median, SCORE_TOLD_MORE, 0);
    score("answers of each client: largest", "", s.most, SCORE_TOLD_MORE, 0);
    score("smallest share / median", "", s.least / s.median, SCORE_AT_LEAST,
          0.9);
    score("largest share / median", "", s.most / s.median, SCORE_AT_MOST, 1.1);
    score("errors", "", s.failed + s.refused, SCORE_AT_MOST, 0);
    free(clients);
}

/* Seconds within which a light client has nine of ten answers, of all. */
static double patience(const struct client *clients, int first)
{
    double worst = 0;

    for (int i = first; i < CLIENTS; i++) {
        int n = clients[i].answers < WAITS ? clients[i].answers : WAITS;
        double wait = measure_quantile(clients[i].waits, n, 0.9);

        worst = wait > worst ? wait : worst;
    }
    return worst;
}

static void heavy_and_light(const struct bench *b, const struct server *server)
{
    enum { HEAVY = 8 };
    int64_t large = b->size < 256 ? b->size : 256;
    struct client *clients = new_clients();
    struct shares heavy, light;

    for (int i = 0; i < CLIENTS; i++) {
        clients[i].variable = DATA_LOSSY;
        clients[i].edge = i < HEAVY ? large : 32;
    }
    run_clients(clients, b, server, b->seconds, 1);
    heavy = shares_of(clients, 0, HEAVY);
    light = shares_of(clients, HEAVY, CLIENTS);
    score_part("%d clients with boxes of %lld^3, %d with 32^3", HEAVY,
               (long long)large, CLIENTS - HEAVY);
    score("answers of a light client: smallest / median", "",
          light.least / light.median, SCORE_AT_LEAST, 0.9);
    score("answers, smallest of light clients / largest of heavy ones", "",
          light.least / heavy.most, SCORE_AT_LEAST, 1);
    score("answers of a heavy client: smallest", "", heavy.least,
          SCORE_AT_LEAST, 1);
    score("9 of 10 answers, the worst light client", "ms",
          1e3 * patience(clients, HEAVY), SCORE_TOLD, 0);
    score("errors", "",
          heavy.failed + heavy.refused + light.failed + light.refused,
          SCORE_AT_MOST, 0);
    free(clients);
}

/* All want much more than there is. */
static void within_memory(const struct bench *b)
{
    int64_t large = b->size < 256 ? b->size : 256;
    struct client *clients = new_clients();
    struct server server;
    struct shares s;
    double most;

    server_start(&server, b->program, b->grid_path, "512M");
    for (int i = 0; i < CLIENTS; i++) {
        clients[i].variable = i & 1 ? DATA_LOSSY : DATA_RAW;
        clients[i].edge = large;
    }
    run_clients(clients, b, &server, b->seconds, 0);
    most = server_memory(&server, "VmHWM:");
    s = shares_of(clients, 0, CLIENTS);
    score_part("%d clients with boxes of %lld^3, --memory 512M", CLIENTS,
               (long long)large);
    score("most MiB resident / those of --memory", "", most / 512,
          SCORE_AT_MOST, 1.1);
    score("answers", "", s.sum, SCORE_AT_LEAST, CLIENTS / 8);
    score("told to ask again (503)", "", s.refused, SCORE_TOLD, 0);
    score("errors", "", s.failed, SCORE_AT_MOST, 0);
    server_stop(&server);
    free(clients);
}

void bench_crowds(const struct bench *b)
{
    struct server server;

    server_start(&server, b->program, b->grid_path, NULL);
    same_for_all(b, &server);
    heavy_and_light(b, &server);
    server_stop(&server);
    within_memory(b);
}
