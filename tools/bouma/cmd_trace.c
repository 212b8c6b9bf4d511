/* cmd_trace.c -- bouma trace: where the time went, from a trace. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "exporter.h"
#include "format_text.h"
#include "print_json.h"
#include "text_table.h"
#include "trace_events.h"
#include "trace_picture.h"

static const struct option_spec options[] = {
    {.name = "kind",
     .argument = "KIND",
     .choices = "call|stage|wait|exchange|round|buffer|chunk|file",
     .help = "only events of this kind"},
    {.name = "output",
     .letter = 'o',
     .argument = "OUT.png",
     .help = "a picture: the stages of each rank over time"},
    {0}};

enum { MOST_SUMS = 256 };

/* All events of one name. */
struct sum {
    char kind[TRACE_WORD], name[TRACE_WORD];
    uint64_t events, bytes;
    int rank;       /* the last that had one */
    double seconds; /* of it */
    double most;    /* of a rank before it */
    double all;     /* of all */
};

struct sums {
    struct context *ctx;
    const char *kind; /* NULL: all */
    struct sum all[MOST_SUMS];
    int count, ranks;
    double end; /* of the last event */
};

static struct sum *find(struct sums *s, const struct trace_event *e)
{
    struct sum *sum = s->all;

    while (sum < s->all + s->count &&
           (strcmp(sum->kind, e->kind) || strcmp(sum->name, e->name)))
        sum++;
    if (sum == s->all + s->count && s->count < MOST_SUMS) {
        memcpy(sum->kind, e->kind, sizeof(sum->kind));
        memcpy(sum->name, e->name, sizeof(sum->name));
        s->count++;
    }
    return sum < s->all + s->count ? sum : NULL;
}

/* Of the slowest rank. */
static double longest(const struct sum *sum)
{
    return sum->seconds > sum->most ? sum->seconds : sum->most;
}

static int add(void *user, const struct trace_event *e)
{
    struct sums *s = user;
    struct sum *sum;

    s->ranks = e->rank >= s->ranks ? e->rank + 1 : s->ranks;
    s->end = e->begin + e->seconds > s->end ? e->begin + e->seconds : s->end;
    if (s->kind && strcmp(s->kind, e->kind))
        return DONE;
    sum = find(s, e);
    if (!sum)
        return context_fail(s->ctx, DATA_AT_FAULT,
                            "the trace has more than %d kinds of events",
                            MOST_SUMS);
    if (e->rank != sum->rank) { /* ranks come one after the other */
        sum->most = longest(sum);
        sum->seconds = 0;
        sum->rank = e->rank;
    }
    sum->seconds += e->seconds;
    sum->all += e->seconds;
    sum->events++;
    sum->bytes += e->bytes;
    return DONE;
}

/* Kinds from the outside in; of each, what takes longest first. */
static int kind_order(const char *kind)
{
    static const char *const kinds[] = {"call",  "stage",  "wait",  "exchange",
                                        "round", "buffer", "chunk", "file"};
    int i = 0;

    while (i < 8 && strcmp(kinds[i], kind))
        i++;
    return i;
}

static int by_kind(const void *left, const void *right)
{
    const struct sum *a = left, *b = right;
    int order = kind_order(a->kind) - kind_order(b->kind);
    double x = longest(a), y = longest(b);

    return order ? order : x < y ? 1 : x > y ? -1 : strcmp(a->name, b->name);
}

static int print_table(const struct sums *s, struct context *ctx)
{
    static const char *const heading[] = {"KIND", "WHAT",    "EVENTS", "BYTES",
                                          "MEAN", "SLOWEST", "SHARE"};
    struct text_table table;
    char text[FORMAT_BYTES];
    int rc;

    printf("%s, ", format_count(text, (uint64_t)s->ranks, "rank"));
    printf("%s\n", format_seconds(text, s->end));
    text_table_init(&table, "llrrrrr");
    for (size_t i = 0; i < sizeof(heading) / sizeof(heading[0]); i++)
        text_table_add(&table, "%s", heading[i]);
    for (int i = 0; i < s->count; i++) {
        const struct sum *sum = &s->all[i];
        double most = longest(sum);

        text_table_add(&table, "%s", sum->kind);
        text_table_add(&table, "%s", sum->name);
        text_table_add(&table, "%" PRIu64, sum->events);
        text_table_add(&table, "%s",
                       sum->bytes ? format_bytes(text, sum->bytes) : "");
        text_table_add(&table, "%s", format_seconds(text, sum->all / s->ranks));
        text_table_add(&table, "%s", format_seconds(text, most));
        text_table_add(&table, "%.0f%%", s->end > 0 ? 100 * most / s->end : 0);
    }
    rc = text_table_print(&table, ctx, 0);
    text_table_release(&table);
    return rc;
}

static int print_sums(const struct sums *s, struct context *ctx,
                      const char *path)
{
    json_t *root, *list;

    if (!context_prints(ctx))
        return DONE;
    if (!ctx->json)
        return print_table(s, ctx);
    root = json_object();
    list = json_array();
    json_put(root, "trace", json_text(path));
    json_put(root, "ranks", json_count((uint64_t)s->ranks));
    json_put(root, "seconds", json_number(s->end));
    for (int i = 0; i < s->count; i++) {
        const struct sum *sum = &s->all[i];
        json_t *one = json_object();

        json_put(one, "kind", json_text(sum->kind));
        json_put(one, "name", json_text(sum->name));
        json_put(one, "events", json_count(sum->events));
        json_put(one, "bytes", json_count(sum->bytes));
        json_put(one, "mean", json_number(sum->all / s->ranks));
        json_put(one, "slowest", json_number(longest(sum)));
        json_array_append_new(list, one);
    }
    json_put(root, "events", list);
    return print_json(ctx, root);
}

static int draw(const struct sums *s, struct context *ctx, const char *path,
                const char *picture)
{
    struct canvas canvas = {0};
    int rc = context_agree(
        ctx, trace_picture_draw(&canvas, ctx, path, s->ranks, s->end));

    if (!rc)
        rc = exporter_draw(ctx, picture, &canvas);
    canvas_release(&canvas);
    return rc;
}

static int run(struct context *ctx, const struct arguments *args)
{
    const char *path = args->operands[0];
    const char *picture = arguments_text(args, "output");
    struct sums *s = calloc(1, sizeof(*s));
    int rc = s ? DONE : context_fail_memory(ctx);

    if (!rc) {
        s->ctx = ctx;
        rc = arguments_choice(args, ctx, "kind", &s->kind);
    }
    if (!rc)
        rc = trace_events_read(ctx, path, add, s);
    if (!rc && !s->ranks)
        rc = context_fail(ctx, DATA_AT_FAULT, "%s: has no events", path);
    rc = context_agree(ctx, rc);
    if (!rc) {
        qsort(s->all, (size_t)s->count, sizeof(s->all[0]), by_kind);
        rc = print_sums(s, ctx, path);
    }
    if (!rc && picture)
        rc = draw(s, ctx, path, picture);
    free(s);
    return rc;
}

const struct command cmd_trace = {
    .name = "trace",
    .summary = "summarise a trace: where the time went",
    .operands = "TRACE.json",
    .least = 1,
    .most = 1,
    .examples = "  BOUMA_TRACE=t.json mpirun -n 4 ./simulation\n"
                "  bouma trace t.json --kind stage\n"
                "  bouma trace t.json -o t.png\n",
    .footer = "TRACE.json is the file that the library writes with BOUMA_TRACE "
              "or the option\ntrace. MEAN and SLOWEST are seconds per rank, "
              "over all events of that name; SHARE\nis the time of the slowest "
              "rank divided by the total time. Events are nested: a\ncall has "
              "stages; a stage has waits, exchanges and files.\n",
    .options = options,
    .exports = EXPORT_PICTURE,
    .run = run};
