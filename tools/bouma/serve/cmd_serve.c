/* cmd_serve.c -- bouma serve: datasets over HTTP. */
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../arguments.h"
#include "http_server.h"
#include "listen.h"
#include "serve_options.h"
#include "static_site.h"

extern char **environ;

/* What one answer may cost: a plane through patches of 64^3 samples decodes 64
 * times what it sends. */
#define COST_FACTOR 64

struct serving {
    const struct arguments *args;
    struct served served;
    struct listening listening;
    struct http_options http;
    const char **hosts;
    bool json;
    char url[600];
};

/* ---- options ------------------------------------------------------------- */

static int read_numbers(struct serving *s, struct context *ctx, int *port)
{
    int64_t number = 8080, memory = (int64_t)1 << 30, answer = 64 << 20;
    int64_t connections = 1024, workers = sysconf(_SC_NPROCESSORS_ONLN);
    int rc = arguments_integer(s->args, ctx, "port", 0, &number);

    workers = workers < 4 ? 4 : workers > 64 ? 64 : workers;
    if (!rc)
        rc = arguments_integer(s->args, ctx, "memory", 1 << 20, &memory);
    if (!rc)
        rc = arguments_integer(s->args, ctx, "max-answer", 1 << 16, &answer);
    if (!rc)
        rc = arguments_integer(s->args, ctx, "connections", 1, &connections);
    if (!rc)
        rc = arguments_integer(s->args, ctx, "workers", 1, &workers);
    if (!rc && number > 65535)
        rc = context_fail(ctx, CALL_AT_FAULT, "--port %lld: 65535 is the last",
                          (long long)number);
    if (!rc && (connections > 100000 || workers > 1024))
        rc = context_fail(ctx, CALL_AT_FAULT,
                          "--connections is at most 100000, and --workers at "
                          "most 1024");
    *port = (int)number;
    s->http.memory = (size_t)memory;
    s->http.limits.answer_bytes = (size_t)answer;
    s->http.limits.cost_bytes = answer > INT64_MAX / COST_FACTOR
                                    ? INT64_MAX
                                    : (uint64_t)answer * COST_FACTOR;
    s->http.connections = (int)connections;
    s->http.workers = (int)workers;
    return rc;
}

/* Who may ask. */
static int read_access(struct serving *s, struct context *ctx)
{
    struct access *access = &s->http.access;
    const char *bind = arguments_text(s->args, "bind");
    int hosts = arguments_count(s->args, "host");
    int origins = arguments_count(s->args, "allow-origin");
    const char **texts = calloc((size_t)(hosts + origins) + 2, sizeof(*texts));

    s->hosts = texts;
    if (!texts)
        return context_fail_memory(ctx);
    access->token = arguments_text(s->args, "token");
    if (!access->token)
        access->token = getenv("BOUMA_TOKEN");
    if (access->token && !access_is_token(access->token))
        return context_fail(ctx, CALL_AT_FAULT,
                            "a token has 8 to 200 letters, digits, '-', '.', "
                            "'_' or '~'");
    if (access->token && arguments_has(s->args, "public"))
        return context_fail(ctx, CALL_AT_FAULT,
                            "--public and a token cannot be combined");
    access->origins = texts;
    for (int i = 0; i < origins; i++)
        *texts++ = arguments_nth(s->args, "allow-origin", i);
    access->origin_count = origins;
    access->hosts = texts;
    for (int i = 0; i < hosts; i++)
        *texts++ = arguments_nth(s->args, "host", i);
    if (bind)
        *texts++ = bind;
    *texts++ = s->listening.host; /* filled in when it listens */
    access->host_count = (int)(texts - access->hosts);
    return DONE;
}

static int listen_safely(struct serving *s, struct context *ctx, int port)
{
    const char *bind = arguments_text(s->args, "bind");
    char message[512];

    if (!bind)
        bind = "127.0.0.1";
    if (!s->http.access.token && !arguments_has(s->args, "public") &&
        !serve_is_loopback(bind))
        return context_fail(ctx, CALL_AT_FAULT,
                            "--bind %s: other machines can reach that: give a "
                            "--token, or --public to answer everyone",
                            bind);
    if (!serve_listen(&s->listening, bind, port, message, sizeof(message)))
        return context_fail(ctx, CALL_AT_FAULT, "cannot listen at %s", message);
    s->http.socket = s->listening.socket;
    return DONE;
}

static int find_datasets(struct serving *s, struct context *ctx)
{
    char message[512];

    if (!served_init(&s->served))
        return context_fail_memory(ctx);
    for (int i = 0; i < s->args->operand_count; i++)
        if (!served_add(&s->served, s->args->operands[i], message,
                        sizeof(message)))
            return context_fail(ctx, CALL_AT_FAULT, "%s", message);
    s->http.served = &s->served;
    return DONE;
}

/* ---- serving ------------------------------------------------------------- */

static void open_browser(const char *url)
{
    char *argv[] = {"xdg-open", (char *)(uintptr_t)url, NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none;
    pid_t child;

    /* Signals are blocked here, and standard output is for the URL. */
    sigemptyset(&none);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, STDERR_FILENO, STDOUT_FILENO);
    if (posix_spawnp(&child, argv[0], &files, &attributes, argv, environ) != 0)
        fprintf(stderr, "bouma serve: there is no xdg-open\n");
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
}

/* The first line is the URL, for programs that wait for it. */
static void tell_ready(void *user)
{
    struct serving *s = user;
    const char *token = s->http.access.token;

    snprintf(s->url, sizeof(s->url), "http://%s:%d/%s%s%s", s->listening.host,
             s->listening.port, token ? "t/" : "", token ? token : "",
             token ? "/" : "");
    printf(s->json ? "{\"url\": \"%s\"}\n" : "%s\n", s->url);
    fflush(stdout);
    if (arguments_has(s->args, "open"))
        open_browser(s->url);
}

static int serve(struct serving *s, struct context *ctx)
{
    char message[256];
    int port, rc = read_numbers(s, ctx, &port);

    s->listening.socket = -1;
    if (!rc)
        rc = find_datasets(s, ctx);
    if (!rc)
        rc = read_access(s, ctx);
    if (!rc)
        rc = listen_safely(s, ctx, port);
    if (!rc && !http_serve(&s->http, tell_ready, s, message, sizeof(message)))
        rc = context_fail(ctx, DATA_AT_FAULT, "%s", message);
    if (s->http.served)
        served_release(&s->served);
    free(s->hosts);
    return rc;
}

/* ---- a folder ------------------------------------------------------------ */

static bool is_of_folders(const char *option)
{
    return strcmp(option, "static") == 0 || strcmp(option, "copy") == 0 ||
           strcmp(option, "force") == 0;
}

/* Options of a server and those of a folder are not given together. */
static int check_kind(const struct arguments *args, struct context *ctx,
                      bool folder)
{
    for (const struct option_spec *o = serve_options; o->name; o++) {
        if (!arguments_has(args, o->name) || is_of_folders(o->name) == folder)
            continue;
        return folder ? context_fail(ctx, CALL_AT_FAULT,
                                     "--static writes a folder and serves "
                                     "nothing, so --%s has no meaning",
                                     o->name)
                      : context_fail(ctx, CALL_AT_FAULT,
                                     "--%s is for --static only", o->name);
    }
    return DONE;
}

static int write_folder(struct serving *s, struct context *ctx)
{
    struct static_site site = {.folder = arguments_text(s->args, "static"),
                               .served = &s->served,
                               .copies = arguments_has(s->args, "copy"),
                               .forced = arguments_has(s->args, "force")};
    int rc = find_datasets(s, ctx);

    if (!rc)
        rc = static_site_write(&site, ctx);
    if (s->http.served)
        served_release(&s->served);
    return rc;
}

/* What is sent is little-endian, as memory is nearly everywhere. */
static bool is_little_endian(void)
{
    const uint16_t one = 1;

    return *(const unsigned char *)&one == 1;
}

static int run(struct context *ctx, const struct arguments *args)
{
    struct serving s = {.args = args, .json = ctx->json};
    bool folder = arguments_has(args, "static");
    int rc = check_kind(args, ctx, folder);

    if (rc)
        return rc;
    if (session_size(ctx->session) > 1)
        return context_fail(ctx, CALL_AT_FAULT,
                            "one process serves; do not start several");
    if (folder)
        return write_folder(&s, ctx);
    if (!is_little_endian())
        return context_fail(ctx, CALL_AT_FAULT,
                            "this machine is big-endian, and cannot serve");
    return serve(&s, ctx);
}

const struct command cmd_serve = {
    .name = "serve",
    .summary = "answer over HTTP: a viewer, and data for other programs",
    .operands = "PATH... [options]",
    .least = 1,
    .most = -1,
    .examples = "  bouma serve run.bouma --open\n"
                "  bouma serve runs/ --port 9000\n"
                "  bouma serve run.bouma --static site --copy\n"
                "  curl 'http://127.0.0.1:8080/api/v1/run/last/grid/rho/"
                "samples?level=3' -o rho.f32\n",
    .footer =
        "PATH is a dataset, or a directory of datasets. New steps, and new "
        "datasets in a\n"
        "directory, appear while it runs. The first line on standard output "
        "is the URL;\n"
        "requests are logged on standard error. SIGINT (Ctrl-C) ends it.\n"
        "\n"
        "Data can only be read, and nothing outside of the datasets can be "
        "named. An address\n"
        "that other machines can reach needs --token, or --public. "
        "docs/http.md describes the\n"
        "interface.\n"
        "\n"
        "With --static no program runs where the data are: a browser reads "
        "them by itself, from\n"
        "any web server that knows Range requests; docs/http.md describes "
        "the folder. A folder\n"
        "that was written so is brought up to date; run it again after new "
        "steps.\n",
    .options = serve_options,
    .run = run};
