/* http_response.c -- an answer as a response of libmicrohttpd: its body, and the
 * headers that tell what it is and who may read it. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "http_inside.h"
#include "response.h"

const char *http_header(const struct job *job, const char *name)
{
    return MHD_lookup_connection_value(job->connection, MHD_HEADER_KIND, name);
}

void http_add_header(struct MHD_Response *response, const char *name,
                     const char *value)
{
    MHD_add_response_header(response, name, value);
}

/* Memory that is given back when the body is sent. */
struct sent_body {
    struct memory_budget *memory;
    void *body;
};

static void free_body(void *user)
{
    struct sent_body *sent = user;

    memory_budget_release(sent->memory, sent->body);
    free(sent);
}

static struct MHD_Response *from_memory(struct answer *answer,
                                        const struct response_plan *plan)
{
    struct sent_body *sent = malloc(sizeof(*sent));
    struct MHD_Response *response = NULL;

    if (!sent)
        return NULL;
    *sent = (struct sent_body){answer->memory, answer->body};
    response = MHD_create_response_from_buffer_with_free_callback_cls(
        (size_t)plan->bytes, (char *)answer->body + plan->offset, free_body,
        sent);
    if (response)
        answer->body = NULL;
    else
        free(sent);
    return response;
}

struct MHD_Response *http_no_body(void)
{
    return MHD_create_response_from_buffer(0, (void *)(uintptr_t) "",
                                           MHD_RESPMEM_PERSISTENT);
}

static ssize_t send_nothing(void *user, uint64_t at, char *to, size_t room)
{
    (void)user, (void)at, (void)to, (void)room;
    return MHD_CONTENT_READER_END_WITH_ERROR;
}

/* Without a length, the library would send the end of a body in chunks that
 * there is not, and what comes next would be misunderstood: so nothing does. */
struct MHD_Response *http_head_only(uint64_t bytes)
{
    struct MHD_Response *response =
        MHD_create_response_from_callback(bytes, 1, send_nothing, NULL, NULL);

    if (response && bytes == MHD_SIZE_UNKNOWN)
        MHD_set_response_options(response, MHD_RF_HTTP_1_0_COMPATIBLE_STRICT,
                                 MHD_RO_END);
    return response;
}

static struct MHD_Response *make_body(struct job *job, struct answer *answer,
                                      const struct response_plan *plan)
{
    if (answer->file >= 0)
        return http_file_response(job, answer, plan->offset, plan->bytes);
    if (answer->fixed)
        return MHD_create_response_from_buffer(
            (size_t)plan->bytes,
            (char *)(uintptr_t)answer->fixed + plan->offset,
            MHD_RESPMEM_PERSISTENT);
    return from_memory(answer, plan);
}

static uint64_t length_of(const struct answer *answer)
{
    return answer->file >= 0 ? answer->file_bytes : answer->bytes;
}

/* What all answers say: who may read them, and that nothing is to be guessed
 * from them. */
void http_add_policy(struct MHD_Response *response, const struct job *job,
                     const char *policy)
{
    http_add_header(response, "X-Content-Type-Options", "nosniff");
    http_add_header(response, "Content-Security-Policy",
                    policy ? policy
                           : "default-src 'none'; frame-ancestors 'none'");
    http_add_header(response, "Referrer-Policy", "no-referrer");
    http_add_header(response, "Cross-Origin-Resource-Policy",
                    job->origin ? "cross-origin" : "same-origin");
    http_add_header(response, "Vary", "Origin, Accept-Encoding");
    if (!job->origin)
        return;
    http_add_header(response, "Access-Control-Allow-Origin", job->origin);
    http_add_header(response, "Access-Control-Expose-Headers",
                    "ETag, Content-Range, Retry-After, Bouma-Bytes-Read, "
                    "Bouma-Columns, Bouma-Complete, Bouma-Count, Bouma-Error, "
                    "Bouma-Error-Kind, Bouma-First, Bouma-High, Bouma-Level, "
                    "Bouma-Limit, Bouma-Low, Bouma-Quality, Bouma-Shape, "
                    "Bouma-Spacing, Bouma-Step, Bouma-Tag, Bouma-Type");
}

/* Of a compressed answer, or one that would be if it became shorter. */
static void add_tag(struct MHD_Response *response, const struct answer *answer,
                    enum response_encoding tried)
{
    const char *encoding = answer->encoding;
    char text[100];

    if (!answer->etag[0])
        return;
    if (!encoding && response_may_compress(answer, tried))
        encoding = response_encoding_name(tried);
    snprintf(text, sizeof(text), "\"%s%s%s\"", answer->etag,
             encoding ? "-" : "", encoding ? encoding : "");
    http_add_header(response, "ETag", text);
}

static void add_content(struct MHD_Response *response,
                        const struct answer *answer,
                        const struct response_plan *plan, uint64_t total)
{
    char text[100];

    if (answer->type && plan->code != 304)
        http_add_header(response, "Content-Type", answer->type);
    if (answer->encoding && plan->code != 304)
        http_add_header(response, "Content-Encoding", answer->encoding);
    add_tag(response, answer, plan->encoding);
    if (answer->binary && plan->code < 300)
        http_add_header(response, "Accept-Ranges", "bytes");
    if (plan->code == 206) {
        snprintf(text, sizeof(text), "bytes %" PRIu64 "-%" PRIu64 "/%" PRIu64,
                 plan->offset, plan->offset + plan->bytes - 1, total);
        http_add_header(response, "Content-Range", text);
    }
    for (size_t i = 0; i < answer->header_count; i++)
        http_add_header(response, answer->headers[i].name,
                        answer->headers[i].value);
}

/* There is no such part. */
static void fail_range(struct answer *answer, struct response_plan *plan,
                       const char *range, uint64_t total)
{
    answer_fail(answer, 416, BOUMA_EINVAL,
                "the range '%.100s' is not in the %" PRIu64 " bytes there are",
                range, total);
    answer_header(answer, "Content-Range", "bytes */%" PRIu64, total);
    *plan = (struct response_plan){.code = 416, .bytes = answer->bytes};
}

/* Only headers: how long the body is, unless that depends on what it becomes
 * by compression, or on work that is left out. */
static struct MHD_Response *make_head(const struct answer *answer,
                                      const struct response_plan *plan)
{
    bool known =
        !answer->unmeasured && !response_may_compress(answer, plan->encoding);

    return http_head_only(known ? plan->bytes : MHD_SIZE_UNKNOWN);
}

/* The body, compressed if that is wanted. */
static struct MHD_Response *make_response(struct job *job,
                                          struct answer *answer,
                                          struct response_plan *plan)
{
    struct MHD_Response *response;

    if (plan->code == 304)
        return http_no_body();
    if (job->head)
        return make_head(answer, plan);
    if (!response_compress(answer, plan->encoding))
        plan->encoding = ENCODING_NONE;
    if (answer->encoding && !answer->fixed)
        plan->bytes = answer->bytes;
    if (plan->bytes == 0)
        return http_no_body();
    response = make_body(job, answer, plan);
    if (response || answer->code < 400)
        return response;
    /* Its file cannot be read, and the answer tells. */
    *plan =
        (struct response_plan){.code = answer->code, .bytes = answer->bytes};
    return make_body(job, answer, plan);
}

/* Make the response of a job; the answer is used up. */
void http_respond(struct job *job, struct answer *answer)
{
    struct response_wishes wishes = {
        job->head ? NULL : http_header(job, "Range"), /* of GET only */
        http_header(job, "If-Range"), http_header(job, "Accept-Encoding")};
    uint64_t total = length_of(answer);
    struct response_plan plan;

    response_plan(&plan, answer, total, &wishes);
    if (plan.code == 416)
        fail_range(answer, &plan, wishes.range, total);
    job->response = make_response(job, answer, &plan);
    job->code = plan.code;
    job->bytes = job->head || plan.code == 304 ? 0 : plan.bytes;
    if (job->response) {
        add_content(job->response, answer, &plan, total);
        http_add_header(job->response, "Cache-Control",
                        response_caching(
                            answer, job->server->options.access.token != NULL));
        http_add_policy(job->response, job, answer->policy);
    }
    answer_release(answer);
}

void http_respond_error(struct job *job, int code, int status,
                        const char *format, ...)
{
    struct answer answer;
    char message[400];
    va_list list;

    va_start(list, format);
    vsnprintf(message, sizeof(message), format, list);
    va_end(list);
    answer_init(&answer, &job->server->memory,
                job->server->options.limits.answer_bytes);
    answer_fail(&answer, code, status, "%s", message);
    if (code == 401)
        answer_header(&answer, "WWW-Authenticate", "Bearer");
    if (code == 405)
        answer_header(&answer, "Allow", "GET, HEAD, OPTIONS");
    http_respond(job, &answer);
}
