/* answers.c -- what `bouma serve` answers, for bouma_wasm.h: its functions for
 * the paths below /api/v1 with all that they call, as they are. What they need
 * of the rest of the server is here: there is one dataset, and no client has an
 * answer already. */
#include <stdlib.h>
#include <string.h>

#include "bouma_wasm.h"
#include "json.h"
#include "serve/reader.h"
#include "serve/response.h"
#include "serve/route.h"

/* Longest answer, as of a server; all answers and open datasets; and what is
 * decoded for one answer, so that its size is a size_t. */
enum { MOST_ANSWER = 64 << 20, MOST_MEMORY = 1 << 30, MOST_COST = 1 << 30 };

struct bw_answers {
    struct served served;
    struct served_dataset dataset, *datasets[1];
    struct memory_budget memory;
    struct reader reader;
    struct answer answer;
    struct json headers;
};

struct bw_answers *bw_answers_new(const char *name)
{
    struct bw_answers *a = calloc(1, sizeof(*a));

    if (!a)
        return NULL;
    memory_budget_init(&a->memory, MOST_MEMORY);
    answer_init(&a->answer, &a->memory, MOST_ANSWER);
    a->dataset.name = a->dataset.path = strdup(name);
    a->datasets[0] = &a->dataset;
    a->served.datasets = a->datasets;
    a->served.count = 1;
    if (!a->dataset.name ||
        !reader_init(&a->reader, &a->served, &a->memory, READER_STEPS)) {
        bw_answers_free(a);
        return NULL;
    }
    return a;
}

void bw_answers_free(struct bw_answers *a)
{
    if (!a)
        return;
    answer_release(&a->answer);
    reader_release(&a->reader);
    json_release(&a->headers);
    free(a->dataset.name);
    free(a);
}

static void answer_elsewhere(struct answer *answer)
{
    answer_fail(answer, 404, BOUMA_ENOTFOUND,
                "this path is answered only where 'bouma serve' runs");
}

static void list_headers(struct bw_answers *a)
{
    const struct answer *answer = &a->answer;

    json_clear(&a->headers);
    json_add(&a->headers, "{");
    if (answer->type)
        json_string(&a->headers, "Content-Type", answer->type);
    for (size_t i = 0; i < answer->header_count; i++)
        json_string(&a->headers, answer->headers[i].name,
                    answer->headers[i].value);
    json_add(&a->headers, "}");
}

int bw_answers_get(struct bw_answers *a, const char *target)
{
    struct url url;
    struct request request = {.url = &url,
                              .prefix = "",
                              .limits = {MOST_ANSWER, MOST_COST},
                              .served = &a->served,
                              .reader = &a->reader};
    char message[256];

    answer_release(&a->answer);
    answer_init(&a->answer, &a->memory, MOST_ANSWER);
    if (url_parse(&url, target, message, sizeof(message)))
        route_answer(&request, &a->answer);
    else
        answer_fail(&a->answer, 400, BOUMA_EINVAL, "%s", message);
    url_release(&url);
    if (a->answer.events)
        answer_elsewhere(&a->answer);
    list_headers(a);
    return a->headers.failed ? 503 : a->answer.code;
}

const char *bw_answers_headers(const struct bw_answers *a)
{
    return a->headers.failed ? "{}" : a->headers.text;
}

const void *bw_answers_body(const struct bw_answers *a)
{
    return a->answer.fixed ? a->answer.fixed : a->answer.body;
}

size_t bw_answers_bytes(const struct bw_answers *a)
{
    return a->answer.bytes;
}

/* ---- in place of parts of the server ------------------------------------- */

size_t served_count(struct served *served)
{
    return served->count;
}

const struct served_dataset *served_get(struct served *served, size_t i)
{
    return i < served->count ? served->datasets[i] : NULL;
}

long served_find(struct served *served, const char *name)
{
    return strcmp(served->datasets[0]->name, name) == 0 ? 0 : -1;
}

/* It stands still: what JavaScript lists does not change. */
double served_clock(void)
{
    return 0;
}

bool response_matches(const char *if_none_match, const char *etag)
{
    (void)if_none_match;
    (void)etag;
    return false;
}

/* Paths whose functions are not compiled: the viewer, files, and views. */
#define ELSEWHERE(name)                                                        \
    void route_##name(struct request *request, struct answer *answer)          \
    {                                                                          \
        (void)request;                                                         \
        answer_elsewhere(answer);                                              \
    }
#include "elsewhere.h" /* their names, which build.sh takes from route.h */
