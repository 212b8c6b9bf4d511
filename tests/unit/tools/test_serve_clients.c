/* test_serve_clients.c -- who may ask, whose turn it is, what the log says, what
 * listeners are told, and who gets memory. */
#include <pthread.h>
#include <semaphore.h>

#include "check.h"
#include "serve/access.h"
#include "serve/events.h"
#include "serve/fair_queue.h"
#include "serve/serve_log.h"

static void hosts_are_addresses_or_known_names(void)
{
    static const char *const names[] = {"node7.cluster"};
    struct access access = {.hosts = names, .host_count = 1};

    CHECK(access_host(&access, NULL));
    CHECK(access_host(&access, "127.0.0.1:8080"));
    CHECK(access_host(&access, "localhost"));
    CHECK(access_host(&access, "LOCALHOST:1"));
    CHECK(access_host(&access, "[::1]:8080"));
    CHECK(access_host(&access, "10.1.2.3"));
    CHECK(access_host(&access, "Node7.Cluster:80"));
    CHECK(!access_host(&access, "evil.example"));
    CHECK(!access_host(&access, "evil.example:8080"));
    CHECK(!access_host(&access, "127.0.0.1.evil.example"));
    CHECK(!access_host(&access, "localhost.evil.example"));
    CHECK(!access_host(&access, ""));
    CHECK(!access_host(&access, "[::1"));
    CHECK(!access_host(&access, "::1"));
}

static void origins_are_loopback_same_or_told(void)
{
    static const char *const told[] = {"https://lab.example"};
    static const char *const all[] = {"*"};
    struct access access = {.origins = told, .origin_count = 1};

    CHECK(access_origin(&access, "http://localhost:3000", NULL));
    CHECK(access_origin(&access, "http://127.0.0.1", NULL));
    CHECK(access_origin(&access, "http://[::1]:9", NULL));
    CHECK(access_origin(&access, "https://lab.example", "x"));
    CHECK(access_origin(&access, "http://node7:80", "node7:80"));
    CHECK(!access_origin(&access, "http://lab.example", "x"));
    CHECK(!access_origin(&access, "https://lab.example.evil", "x"));
    CHECK(!access_origin(&access, "http://127.evil.example", "x"));
    CHECK(!access_origin(&access, "null", "x"));
    access.origins = all;
    CHECK(access_origin(&access, "null", "x"));
}

static void tokens_are_compared_whole(void)
{
    CHECK(access_same("secret-1", "secret-1"));
    CHECK(!access_same("secret-1", "secret-2"));
    CHECK(!access_same("secret-1", "secret-"));
    CHECK(!access_same("secret-1", "secret-1secret-1"));
    CHECK(!access_same("secret-1", ""));
    CHECK(access_is_token("abcdEFGH-._~09"));
    CHECK(!access_is_token("short"));
    CHECK(!access_is_token("with space"));
    CHECK(!access_is_token("with/slash"));
    CHECK(!strcmp(access_bearer("Bearer abc"), "abc"));
    CHECK(!strcmp(access_bearer("bearer  abc"), "abc"));
    CHECK(!access_bearer("Basic abc") && !access_bearer(NULL));
    CHECK(!access_bearer("Bearerabc"));
}

static struct fair_item item_of(unsigned char client)
{
    return (struct fair_item){.client = {{client}}};
}

static void clients_take_turns(void)
{
    /* A has four waiting before B and C come with one and two. */
    static const char expected[] = "ABCACAA";
    struct fair_item items[7];
    struct fair_queue queue = {0};
    struct fair_item *item;

    for (int i = 0; i < 7; i++)
        items[i] = item_of((unsigned char)"AAAABCC"[i]);
    for (int i = 0; i < 7; i++)
        fair_queue_put(&queue, &items[i]);
    CHECK_EQ(queue.count, 7);
    for (int i = 0; i < 7; i++) {
        item = fair_queue_take(&queue);
        REQUIRE(item);
        CHECK_EQ(item->client.bytes[0], expected[i]);
    }
    CHECK(!fair_queue_take(&queue));
}

/* Those of one client come in their order; one that comes waits for all who
 * were there, once. */
static void who_comes_later_waits_one_turn(void)
{
    struct fair_item a[3], b = item_of('B');
    struct fair_queue queue = {0};

    for (int i = 0; i < 3; i++) {
        a[i] = item_of('A');
        fair_queue_put(&queue, &a[i]);
    }
    CHECK(fair_queue_take(&queue) == &a[0]);
    fair_queue_put(&queue, &b);
    CHECK(fair_queue_take(&queue) == &a[1]);
    CHECK(fair_queue_take(&queue) == &b);
    fair_queue_put(&queue, &b);
    CHECK(fair_queue_take(&queue) == &a[2]);
    CHECK(fair_queue_take(&queue) == &b);
    CHECK_EQ(queue.count, 0);
}

static void the_log_has_no_controls_and_no_tokens(void)
{
    char out[100];

    serve_log_escape(out, sizeof(out), "a\r\n\x1b[31m\"\\\xff");
    CHECK(!strcmp(out, "a\\x0d\\x0a\\x1b[31m\\x22\\x5c\\xff"));
    serve_log_escape(out, 8, "\x01\x02\x03");
    CHECK(strlen(out) < 8);
    serve_log_hide(out, sizeof(out), "/t/secret/api/v1?x=1");
    CHECK(!strcmp(out, "/t/***/api/v1?x=1"));
    serve_log_hide(out, sizeof(out), "/api?token=secret&x=1");
    CHECK(!strcmp(out, "/api?token=***&x=1"));
    serve_log_hide(out, sizeof(out), "/t/secret");
    CHECK(!strcmp(out, "/t/***"));
    serve_log_hide(out, sizeof(out), "/tt/x");
    CHECK(!strcmp(out, "/tt/x"));
}

static void changes_are_told_in_order(void)
{
    static const struct event_step before[] = {
        {1, 0.1, 7}, {2, 0.2, 8}, {5, 0.5, 9}};
    static const struct event_step after[] = {
        {1, 0.1, 7}, {3, 0.3, 10}, {5, 0.5, 11}};
    static const char expected[] =
        "event: removed\ndata: {\"step\":2,\"time\":0.2}\n\n"
        "event: step\ndata: {\"step\":3,\"time\":0.3}\n\n"
        "event: step\ndata: {\"step\":5,\"time\":0.5}\n\n";
    struct memory_budget memory;
    struct json_out out;

    memory_budget_init(&memory, 1 << 20);
    json_out_init(&out, &memory, 1 << 16);
    events_changes(&out, before, 3, before, 3);
    CHECK_EQ(out.used, 0);
    events_changes(&out, before, 3, after, 3);
    CHECK_EQ(out.used, strlen(expected));
    CHECK(out.text && !memcmp(out.text, expected, out.used));
    memory_budget_release(&memory, out.text);
}

/* Until it is told to end. */
struct greedy {
    struct memory_budget memory;
    atomic_bool ended;
    atomic_int got;
};

static void *ask_for_too_much(void *user)
{
    struct greedy *greedy = user;

    while (!atomic_load(&greedy->ended))
        atomic_fetch_add(&greedy->got,
                         memory_budget_take(&greedy->memory, 1001));
    return NULL;
}

static void who_asks_for_too_much_takes_nothing_from_others(void)
{
    struct greedy greedy = {.got = 0};
    pthread_t thread;
    int refused = 0;

    memory_budget_init(&greedy.memory, 1000);
    REQUIRE(!pthread_create(&thread, NULL, ask_for_too_much, &greedy));
    for (int i = 0; i < 1000000; i++) {
        bool got = memory_budget_take(&greedy.memory, 1);

        refused += !got;
        if (got)
            memory_budget_give(&greedy.memory, 1);
    }
    atomic_store(&greedy.ended, true);
    pthread_join(thread, NULL);
    CHECK_EQ(refused, 0);
    CHECK_EQ(atomic_load(&greedy.got), 0);
    CHECK_EQ(atomic_load(&greedy.memory.used), 0);
}

static void fall_asleep(void *user)
{
    (void)user;
}

static void wake_up(void *user)
{
    sem_post(user);
}

/* So it is seen whether they are there: a place for each that has left would be
 * lost. */
static void who_listens_to_a_dataset_that_is_gone_hears_comments(void)
{
    char name[] = "gone", path[] = "/nowhere/gone.bouma", text[16] = "";
    struct served_dataset gone = {.name = name, .path = path};
    struct served_dataset *all[] = {&gone};
    struct memory_budget memory;
    struct served served;
    struct events *events;
    struct event_listener *listener;
    long taken = 0;
    sem_t woken;

    CHECK(served_init(&served));
    served.datasets = all;
    served.count = 1;
    sem_init(&woken, 0, 0);
    memory_budget_init(&memory, 1 << 24);
    events = events_start(&served, &memory, 1 << 16, 1);
    CHECK(events != NULL);
    listener = events_listen(events, 0, fall_asleep, wake_up, &woken);
    CHECK(listener != NULL);
    CHECK(!events_listen(events, 0, fall_asleep, wake_up, &woken));
    while ((taken = events_take(listener, text, sizeof(text))) == 0)
        sem_wait(&woken);
    CHECK_EQ(taken, 3);
    CHECK(!memcmp(text, ":\n\n", 3));
    events_end(events);
    CHECK_EQ(events_take(listener, text, sizeof(text)), -1);
    events_leave(listener);
    events_free(events);
    memory_budget_drop(&memory);
    CHECK_EQ(atomic_load(&memory.used), 0);
    sem_destroy(&woken);
    pthread_mutex_destroy(&served.lock);
}

int main(void)
{
    hosts_are_addresses_or_known_names();
    origins_are_loopback_same_or_told();
    tokens_are_compared_whole();
    clients_take_turns();
    who_comes_later_waits_one_turn();
    the_log_has_no_controls_and_no_tokens();
    changes_are_told_in_order();
    who_asks_for_too_much_takes_nothing_from_others();
    who_listens_to_a_dataset_that_is_gone_hears_comments();
    return check_result();
}
