/* main.c -- the command line of bouma: find the command, run it, and print the
 * message that it leaves. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arguments.h"
#include "print_json.h"
#include "same_command.h"

/* Not under mpirun: it gives processes a terminal though its own output may be
 * a file. */
static bool wants_color(const struct session *session)
{
    const char *term = getenv("TERM");
    const char *no_color = getenv("NO_COLOR"); /* no-color.org */

    return session_size(session) == 1 && isatty(STDOUT_FILENO) && term &&
           strcmp(term, "dumb") != 0 && !(no_color && no_color[0]);
}

/* Known before the arguments are parsed, as that can fail, too. */
static bool wants_json(char *const *argv)
{
    for (; *argv && strcmp(*argv, "--") != 0; argv++)
        if (strcmp(*argv, "--json") == 0)
            return true;
    return false;
}

static int number_in(const char *variable, int otherwise)
{
    const char *text = getenv(variable);

    return text ? atoi(text) : otherwise;
}

/* The serial program under mpirun would do everything once a process. */
static void warn_under_mpirun(const struct context *ctx)
{
    int size = number_in("OMPI_COMM_WORLD_SIZE", number_in("PMI_SIZE", 1));
    int rank = number_in("OMPI_COMM_WORLD_RANK", number_in("PMI_RANK", 0));

    if (size > session_size(ctx->session) && rank == 0)
        context_note(ctx,
                     "mpirun started %d copies of bouma, and each does all of "
                     "the work; run bouma-mpi instead",
                     size);
}

/* The libraries that a build can do without, and whether this one has them. */
static const struct {
    const char *name;
    bool here;
} libraries[] = {{"hwloc", BOUMA_WITH_HWLOC},
                 {"jansson", BOUMA_WITH_JANSSON},
                 {"libpng", BOUMA_WITH_PNG},
                 {"lz4", BOUMA_WITH_LZ4},
                 {"libmicrohttpd", BOUMA_WITH_MICROHTTPD}};
enum { LIBRARY_COUNT = sizeof(libraries) / sizeof(libraries[0]) };

/* A line of those that are here, or are not; none if there are none. */
static void print_libraries(const char *title, bool here)
{
    const char *between = title;

    for (int i = 0; i < LIBRARY_COUNT; i++)
        if (libraries[i].here == here) {
            printf("%s%s", between, libraries[i].name);
            between = ", ";
        }
    if (between != title)
        putchar('\n');
}

static int print_version(struct context *ctx)
{
    json_t *root, *parts, *build;

    if (!context_prints(ctx))
        return DONE;
    if (!ctx->json) {
        printf("%s %s\n", session_program(), bouma_version());
        print_libraries("built with ", true);
        print_libraries("built without ", false);
        printf("library: ");
        for (int i = 0; bouma_build_field(i); i++)
            printf("%s%s %s", i ? ", " : "", bouma_build_field(i),
                   bouma_build_info(bouma_build_field(i)));
        putchar('\n');
        return DONE;
    }
    root = json_object();
    parts = json_object();
    build = json_object();
    json_put(root, "program", json_text(session_program()));
    json_put(root, "version", json_text(bouma_version()));
    for (int i = 0; i < LIBRARY_COUNT; i++)
        json_put(parts, libraries[i].name, json_boolean(libraries[i].here));
    json_put(root, "libraries", parts);
    for (int i = 0; bouma_build_field(i); i++)
        json_put(build, bouma_build_field(i),
                 json_text(bouma_build_info(bouma_build_field(i))));
    json_put(root, "build", build);
    return print_json(ctx, root);
}

static int run_command(struct context *ctx, const struct command *command,
                       int argc, char **argv)
{
    struct arguments args;
    int rc = arguments_parse(&args, ctx, command, argc, argv);

    if (!rc && arguments_has(&args, "help")) {
        if (context_prints(ctx))
            command_print_help(command);
    } else if (!rc) {
        rc = command->run(ctx, &args);
    }
    arguments_release(&args);
    return rc;
}

static int dispatch(struct context *ctx, int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : NULL;
    const struct command *command;

    if (!BOUMA_WITH_JANSSON && wants_json(argv))
        return context_fail(ctx, CALL_AT_FAULT,
                            "this %s is built without jansson, and has no "
                            "--json",
                            session_program());
    if (!name)
        return context_fail(ctx, CALL_AT_FAULT,
                            "say what to do: import, info, read, query, ...; "
                            "'%s help' lists all commands",
                            session_program());
    if (strcmp(name, "--version") == 0)
        return print_version(ctx);
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        name = "help";
    command = command_find(name);
    if (!command)
        return command_unknown(ctx, name);
    ctx->command = command->name;
    return run_command(ctx, command, argc - 2, argv + 2);
}

/* A full file system or a closed pipe behind standard output shows here. */
static int flush_output(struct context *ctx, int rc)
{
    bool failed;

    errno = 0;
    failed = fflush(stdout) != 0 || ferror(stdout);
    if (!failed || rc != DONE)
        return rc;
    if (!errno) /* an earlier write failed, and its reason is gone */
        errno = EIO;
    return context_fail_errno(ctx, "write to", "standard output");
}

int main(int argc, char **argv)
{
    struct context ctx = {.json = BOUMA_WITH_JANSSON && wants_json(argv)};
    int rc;

    ctx.session = session_start(&argc, &argv);
    if (!ctx.session) {
        fprintf(stderr, "%s: out of memory\n", session_program());
        return DATA_AT_FAULT;
    }
    ctx.color = wants_color(ctx.session);
    warn_under_mpirun(&ctx);
    rc = same_command(&ctx, argv);
    if (!rc) {
        rc = flush_output(&ctx, dispatch(&ctx, argc, argv));
        rc = context_agree(&ctx, rc);
    }
    if (rc)
        context_report(&ctx, rc);
    session_finish(ctx.session);
    return rc;
}
