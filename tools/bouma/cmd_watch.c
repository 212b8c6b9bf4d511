/* cmd_watch.c -- bouma watch: tell of each step when it is committed. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "arguments.h"
#include "format_text.h"
#include "print_json.h"
#include "sized.h"
#include "step_entries.h"
#include "stopwatch.h"

static const struct option_spec options[] = {
    {.name = "count",
     .letter = 'n',
     .argument = "N",
     .help = "end after N steps; default: never"},
    {.name = "from",
     .argument = "N",
     .help = "begin with the steps from number N on that are there already; "
             "default: only new ones"},
    {.name = "timeout",
     .argument = "T",
     .help = "end with exit status 1 if no step has come for T seconds; "
             "default: wait for ever"},
    {.name = "interval",
     .argument = "T",
     .help = "seconds from one look at the dataset to the next; default: 1"},
    {.name = "exec",
     .argument = "COMMAND",
     .help = "run this by sh for each step, with BOUMA_DATASET, BOUMA_STEP and "
             "BOUMA_TIME set; end if it fails"},
    {0}};

/* Numbers of steps, ascending. */
struct numbers {
    int64_t *list;
    int64_t count;
};

struct watch {
    const char *path, *command;
    bouma_dataset *ds;
    struct numbers seen;
    int64_t left;   /* steps to tell of; -1: any number */
    double timeout; /* infinite: none */
    double interval;
    double last; /* when the last step came, or the watch began */
};

/* ---- a step -------------------------------------------------------------- */

static void print_objects(bouma_step *step)
{
    struct entry_cursor cursor = {.step = step};
    const char *object = NULL;
    struct entry entry;

    while (entry_next(&entry, &cursor)) {
        if (entry.object != object) {
            printf("%s", object ? ", " : ": ");
            print_clean(entry.object);
        }
        object = entry.object;
    }
    putchar('\n');
}

static json_t *json_objects(bouma_step *step)
{
    struct entry_cursor cursor = {.step = step};
    json_t *list = json_array();
    const char *object = NULL;
    struct entry entry;

    while (entry_next(&entry, &cursor)) {
        if (entry.object != object)
            json_array_append_new(list, json_text(entry.object));
        object = entry.object;
    }
    return list;
}

static int print_line(struct context *ctx, bouma_step *step,
                      const bouma_step_details *details)
{
    char raw[FORMAT_BYTES], stored[FORMAT_BYTES], files[FORMAT_BYTES];
    bouma_record record;
    json_t *root;
    char *text;

    bouma_step_record_get(SIZED(&record), step);
    if (!ctx->json) {
        printf("step %" PRId64 ", time %g, %s in %s, %s", details->step,
               details->time, format_bytes(raw, record.raw_bytes),
               format_bytes(stored, record.stored_bytes),
               format_count(files, (uint64_t)record.files, "file"));
        print_objects(step);
        return DONE;
    }
    root = json_object();
    json_put(root, "step", json_integer(details->step));
    json_put(root, "time", json_number(details->time));
    json_put(root, "raw_bytes", json_count(record.raw_bytes));
    json_put(root, "stored_bytes", json_count(record.stored_bytes));
    json_put(root, "files", json_integer(record.files));
    json_put(root, "objects", json_objects(step));
    text = json_dumps(root, JSON_COMPACT | JSON_REAL_PRECISION(17));
    json_decref(root);
    if (!text)
        return context_fail_memory(ctx);
    puts(text);
    free(text);
    return DONE;
}

/* In the child: standard output is for JSON alone, if that is wanted. */
static void become(const struct watch *watch, const struct context *ctx,
                   const bouma_step_details *details)
{
    char step[32], time[64];

    snprintf(step, sizeof(step), "%" PRId64, details->step);
    snprintf(time, sizeof(time), "%.17g", details->time);
    if (!setenv("BOUMA_DATASET", watch->path, 1) &&
        !setenv("BOUMA_STEP", step, 1) && !setenv("BOUMA_TIME", time, 1) &&
        (!ctx->json || dup2(STDERR_FILENO, STDOUT_FILENO) >= 0))
        execl("/bin/sh", "sh", "-c", watch->command, (char *)NULL);
    _exit(127);
}

static int run_command(const struct watch *watch, struct context *ctx,
                       const bouma_step_details *details)
{
    int ended = 0;
    pid_t child = fork(), waited;

    if (child == 0)
        become(watch, ctx, details);
    do
        waited = child < 0 ? -1 : waitpid(child, &ended, 0);
    while (waited < 0 && child > 0 && errno == EINTR);
    if (waited < 0)
        return context_fail_errno(ctx, "run", watch->command);
    if (WIFEXITED(ended) && WEXITSTATUS(ended) == 0)
        return DONE;
    return context_fail(ctx, DATA_AT_FAULT, "step %lld: '%s' ended with %s %d",
                        (long long)details->step, watch->command,
                        WIFEXITED(ended) ? "status" : "signal",
                        WIFEXITED(ended) ? WEXITSTATUS(ended)
                                         : WTERMSIG(ended));
}

/* A step can be gone, or damaged, before it is looked at. */
static int tell_step(struct watch *watch, struct context *ctx, int64_t number)
{
    bouma_step_details details = {.size = sizeof(details)};
    bouma_step *step = NULL;
    int rc, status = bouma_step_open(&step, watch->ds, number);

    if (!status)
        status = bouma_step_details_get(&details, step);
    if (status) {
        context_note(ctx, "%s", bouma_error_message(watch->ds));
        bouma_step_free(step);
        return DONE;
    }
    rc = print_line(ctx, step, &details);
    bouma_step_free(step);
    /* Whoever reads a pipe gets each line at once. */
    if (!rc && fflush(stdout))
        rc = context_fail_errno(ctx, "write to", "standard output");
    if (!rc && watch->command)
        rc = run_command(watch, ctx, &details);
    if (watch->left > 0)
        watch->left--;
    return rc;
}

/* ---- all of them --------------------------------------------------------- */

/* Those below 'end' alone. */
static int list_numbers(struct numbers *out, struct context *ctx,
                        const bouma_dataset *ds, int64_t end)
{
    int64_t count = bouma_dataset_step_count(ds);
    bouma_step_info about = {.size = sizeof(about)};

    *out = (struct numbers){0};
    if (count < 0)
        return context_fail_status(ctx, BOUMA_EIO, bouma_error_message(ds));
    out->list = malloc((size_t)(count + 1) * sizeof(*out->list));
    if (!out->list)
        return context_fail_memory(ctx);
    for (int64_t i = 0; i < count; i++)
        if (!bouma_dataset_step_get(&about, ds, i) && about.step < end)
            out->list[out->count++] = about.step;
    return DONE;
}

/* Tell of the steps that have come since the last look. */
static int look(struct watch *watch, struct context *ctx)
{
    struct numbers now = {0};
    int64_t at = 0;
    int status = bouma_dataset_refresh(watch->ds), rc;

    if (status)
        return context_fail_status(ctx, status, bouma_error_message(watch->ds));
    rc = list_numbers(&now, ctx, watch->ds, INT64_MAX);
    for (int64_t i = 0; !rc && watch->left != 0 && i < now.count; i++) {
        while (at < watch->seen.count && watch->seen.list[at] < now.list[i])
            at++;
        if (at < watch->seen.count && watch->seen.list[at] == now.list[i])
            continue;
        rc = tell_step(watch, ctx, now.list[i]);
        watch->last = stopwatch_now();
    }
    free(watch->seen.list);
    watch->seen = now;
    return rc;
}

static void pause_for(double seconds)
{
    struct timespec time = {.tv_sec = (time_t)seconds};

    time.tv_nsec = (long)((seconds - floor(seconds)) * 1e9);
    nanosleep(&time, NULL);
}

/* Until it is time for the next look; fails if there is no time left, for
 * 'what'. */
static int wait_a_while(const struct watch *watch, struct context *ctx,
                        const char *what)
{
    double left = watch->timeout - (stopwatch_now() - watch->last);

    if (!(left > 0))
        return context_fail(ctx, DATA_AT_FAULT, "%s: %s for %g seconds",
                            watch->path, what, watch->timeout);
    pause_for(left < watch->interval ? left : watch->interval);
    return DONE;
}

static int keep_looking(struct watch *watch, struct context *ctx)
{
    int rc = look(watch, ctx);

    while (!rc && watch->left != 0) {
        rc = wait_a_while(watch, ctx, "no new step");
        if (!rc)
            rc = look(watch, ctx);
    }
    return rc;
}

/* Open the dataset, once it is there. Steps of one that was not there are all
 * new; of others, those from number 'from' on count as such. */
static int open_dataset(struct watch *watch, struct context *ctx, int64_t from)
{
    int status = bouma_dataset_open(&watch->ds, watch->path, NULL), rc = DONE;

    if (status == BOUMA_ENOTFOUND) {
        context_note(ctx, "%s: is not there yet; waiting for it", watch->path);
        from = 0;
    }
    while (status == BOUMA_ENOTFOUND && !rc) {
        bouma_dataset_free(watch->ds);
        watch->ds = NULL;
        rc = wait_a_while(watch, ctx, "there was no such dataset");
        if (!rc)
            status = bouma_dataset_open(&watch->ds, watch->path, NULL);
    }
    if (!rc && status)
        rc = context_fail_status(ctx, status, bouma_error_message(watch->ds));
    return rc ? rc : list_numbers(&watch->seen, ctx, watch->ds, from);
}

static int seconds_of(double *out, struct context *ctx,
                      const struct arguments *args, const char *name,
                      bool positive)
{
    int rc = arguments_number(args, ctx, name, out);

    if (!rc && (*out < 0 || (positive && *out == 0) ||
                (arguments_has(args, name) && *out > 1e9)))
        rc = context_fail(
            ctx, CALL_AT_FAULT, "--%s %s: must be a number of seconds%s", name,
            arguments_text(args, name), positive ? " above 0" : "");
    return rc;
}

static int run(struct context *ctx, const struct arguments *args)
{
    struct watch watch = {.path = args->operands[0],
                          .command = arguments_text(args, "exec"),
                          .left = -1,
                          .timeout = INFINITY,
                          .interval = 1,
                          .last = stopwatch_now()};
    int64_t from = INT64_MAX;
    int rc = arguments_integer(args, ctx, "count", 1, &watch.left);

    if (!rc)
        rc = arguments_integer(args, ctx, "from", 0, &from);
    if (!rc)
        rc = seconds_of(&watch.timeout, ctx, args, "timeout", false);
    if (!rc)
        rc = seconds_of(&watch.interval, ctx, args, "interval", true);
    if (rc || !context_prints(ctx)) /* process 0 looks */
        return rc;
    rc = open_dataset(&watch, ctx, from);
    if (!rc)
        rc = keep_looking(&watch, ctx);
    free(watch.seen.list);
    bouma_dataset_free(watch.ds);
    return rc;
}

const struct command cmd_watch = {
    .name = "watch",
    .summary = "tell of each step when it is committed",
    .operands = "DS [options]",
    .least = 1,
    .most = 1,
    .examples =
        "  bouma watch run.bouma\n"
        "  bouma watch run.bouma --from 0 -n 10 --json\n"
        "  bouma watch run.bouma --timeout 600 --exec \\\n"
        "      'bouma render \"$BOUMA_DATASET\" flow/rho --step $BOUMA_STEP -o "
        "$BOUMA_STEP.png'\n",
    .footer =
        "With --json, each step is one line. A step that is written again or "
        "extended is not\n"
        "told of again. A dataset that is not there yet is waited for. The "
        "exit status is 0\n"
        "after -n steps, and 1 at a timeout or if the command of --exec fails. "
        "What that prints\n"
        "goes to standard error with --json.\n",
    .options = options,
    .run = run};
