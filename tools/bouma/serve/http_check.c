/* http_check.c -- what can be told of a request without a look at the data: its
 * form, who may ask, and which methods there are. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "http_inside.h"

/* Of a request, without its URL. */
#define HEADER_BYTES 8192

void http_take_authority(struct job *job)
{
    const char *name = job->target + 7;
    size_t length, rest;

    if (strncasecmp(job->target, "http://", 7) != 0)
        return;
    length = strcspn(name, "/?");
    rest = strlen(name + length);
    if (length == 0 || length >= sizeof(job->authority) || name[length] == '?')
        return;
    memcpy(job->authority, name, length);
    memmove(job->target, rest ? name + length : "/", rest ? rest + 1 : 2);
}

/* What all headers say together: two programs on the way may each believe
 * another one of those that are given twice. */
struct framing {
    int hosts;
    bool body;
};

static enum MHD_Result look_at_header(void *user, enum MHD_ValueKind kind,
                                      const char *name, const char *value)
{
    struct framing *framing = user;

    (void)kind;
    framing->hosts += strcasecmp(name, "Host") == 0;
    framing->body |= strcasecmp(name, "Transfer-Encoding") == 0 ||
                     (strcasecmp(name, "Content-Length") == 0 &&
                      (!value || strcmp(value, "0") != 0));
    return MHD_YES;
}

void http_check_header(struct job *job)
{
    const union MHD_ConnectionInfo *size = MHD_get_connection_info(
        job->connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    struct framing framing = {0};

    MHD_get_connection_values(job->connection, MHD_HEADER_KIND, look_at_header,
                              &framing);
    if (size && size->header_size > HEADER_BYTES + strlen(job->target))
        http_respond_error(
            job, 431, BOUMA_ELIMIT,
            "the header is longer than %d bytes, without the URL",
            HEADER_BYTES);
    else if (framing.body)
        http_respond_error(job, 400, BOUMA_EINVAL, "a request has no body");
    else if (framing.hosts > 1)
        http_respond_error(job, 400, BOUMA_EINVAL,
                           "the header Host is given twice");
}

/* The token: in a header, a parameter, or the path, from which it is taken. One
 * of them must be right: a proxy on the way may have a header of its own. */
static bool has_token(struct job *job)
{
    const char *secret = job->server->options.access.token;
    const char *given[3] = {access_bearer(http_header(job, "Authorization")),
                            url_parameter(&job->url, "token")};
    bool right = !secret;

    if (secret && job->url.part_count >= 2 &&
        strcmp(job->url.parts[0], "t") == 0) {
        given[2] = job->url.parts[1];
        snprintf(job->prefix, sizeof(job->prefix), "/t/%.200s", given[2]);
        url_skip(&job->url, 2);
    }
    for (int i = 0; secret && i < 3; i++)
        right |= given[i] && access_same(secret, given[i]);
    return right;
}

/* The page with the token as a parameter. Its files lie below it, and a browser
 * asks for them without parameters: it is sent to where the path has it. */
static bool is_page_by_parameter(const struct job *job)
{
    const char *secret = job->server->options.access.token;
    const char *given = url_parameter(&job->url, "token");

    return secret && given && !job->prefix[0] && job->url.part_count == 0 &&
           access_same(secret, given);
}

static void respond_page_below_token(struct job *job)
{
    char place[220];

    job->code = 302;
    job->response = http_no_body();
    if (!job->response)
        return;
    snprintf(place, sizeof(place), "t/%.200s/",
             job->server->options.access.token);
    http_add_header(job->response, "Location", place);
    http_add_header(job->response, "Cache-Control", "no-store");
    http_add_policy(job->response, job, NULL);
}

static void respond_options(struct job *job)
{
    job->code = 204;
    job->response = http_no_body();
    if (!job->response)
        return;
    http_add_header(job->response, "Allow", "GET, HEAD, OPTIONS");
    http_add_header(job->response, "Access-Control-Allow-Methods",
                    "GET, HEAD, OPTIONS");
    http_add_header(job->response, "Access-Control-Allow-Headers",
                    "Authorization, If-None-Match, If-Range, Range");
    http_add_header(job->response, "Access-Control-Max-Age", "86400");
    http_add_policy(job->response, job, NULL);
}

void http_check_request(struct job *job, const char *method,
                        const char *version)
{
    const struct access *access = &job->server->options.access;
    const char *host = http_header(job, "Host"),
               *origin = http_header(job, "Origin");
    char message[200];

    if (!host && strcmp(version, MHD_HTTP_VERSION_1_0) != 0) {
        http_respond_error(job, 400, BOUMA_EINVAL,
                           "the header Host is missing");
        return;
    }
    if (!access_host(access, host) ||
        (job->authority[0] && !access_host(access, job->authority))) {
        http_respond_error(
            job, 403, BOUMA_EINVAL,
            "'%.100s' is no name of this server; --host tells it",
            access_host(access, host) ? job->authority : host);
        return;
    }
    if (origin && !access_origin(access, origin, host)) {
        http_respond_error(
            job, 403, BOUMA_EINVAL,
            "pages of '%.100s' may not read this; --allow-origin "
            "allows it",
            origin);
        return;
    }
    job->origin = origin;
    if (strcmp(method, "OPTIONS") == 0)
        respond_options(job);
    else if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
        http_respond_error(job, 405, BOUMA_EINVAL,
                           "the methods are GET, HEAD and OPTIONS");
    else if (strlen(job->target) > URL_BYTES)
        http_respond_error(job, 414, BOUMA_ELIMIT,
                           "the URL is longer than %d bytes", URL_BYTES);
    else if (!url_parse(&job->url, job->target, message, sizeof(message)))
        http_respond_error(job, 400, BOUMA_EINVAL, "%s", message);
    else if (!has_token(job))
        http_respond_error(job, 401, BOUMA_EINVAL,
                           "this server wants its token: in the header "
                           "Authorization, the parameter token, or the path");
    else if (is_page_by_parameter(job))
        respond_page_below_token(job);
}
