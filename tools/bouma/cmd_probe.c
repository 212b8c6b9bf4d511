/* cmd_probe.c -- bouma probe: how fast memory, network and storage are, with
 * --work the processor, too, and the machine file of it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "bench/measure_work.h"
#include "format_text.h"
#include "output.h"
#include "print_json.h"
#include "progress_bar.h"
#include "stopwatch.h"
#include "text_table.h"

static const struct option_spec options[] = {
    {.name = "target",
     .argument = "DIR",
     .help = "measure the storage of datasets in this directory"},
    {.name = "local",
     .argument = "DIR",
     .help = "measure node-local storage in this directory"},
    {.name = "bytes",
     .argument = "BYTES",
     .help = "bytes to write in each try, such as 1G; default: 64M"},
    {.name = "tries",
     .argument = "N",
     .help = "number of tries, of which the median counts; default: 5"},
    {.name = "work",
     .help = "measure how fast one process encodes, sorts and copies"},
    {.name = "output",
     .letter = 'o',
     .argument = "OUT",
     .help = "write a machine file; - is standard output"},
    {0}};

static int parse_request(struct session_probe *probe, struct context *ctx,
                         const struct arguments *args)
{
    int64_t bytes = 0, tries = 0;
    int rc = arguments_integer(args, ctx, "bytes", 1, &bytes);

    if (!rc)
        rc = arguments_integer(args, ctx, "tries", 1, &tries);
    if (!rc && tries > 100)
        rc = context_fail(ctx, CALL_AT_FAULT,
                          "--tries %" PRId64 ": there can be 1 to 100", tries);
    probe->spec.size = sizeof(probe->spec);
    probe->spec.target = arguments_text(args, "target");
    probe->spec.local = arguments_text(args, "local");
    probe->spec.storage_bytes = (uint64_t)bytes;
    probe->spec.tries = (int)tries;
    return rc;
}

/* ---- telling ------------------------------------------------------------- */

struct found {
    const bouma_probe_report *report;
    const struct bm_work_rates *rates; /* all 0: not asked for */
};

/* What was measured, in the order in which it is told. */
struct row {
    const char *name, *key;
    bouma_speed speed;
    uint64_t capacity;
};

enum { ROWS = 7 };

static void list_rows(struct row *rows, const bouma_probe_report *r)
{
    const struct row all[ROWS] = {
        {"memory", "dram", r->dram, r->dram_bytes},
        {"high bandwidth memory", "hbm", r->hbm, r->hbm_bytes},
        {"network", "network", r->network, 0},
        {"gathering by windows", "windows", {0, r->windows}, 0},
        {"gathering by messages", "messages", {0, r->messages}, 0},
        {"local storage", "local", r->local, 0},
        {"target storage", "target", r->target, 0}};

    memcpy(rows, all, sizeof(all));
}

/* "850 ns", "12.3 us", "1.20 ms": times here are short ones. */
static void add_latency(struct text_table *table, double seconds)
{
    if (seconds <= 0)
        text_table_add(table, "-");
    else if (seconds < 1e-6)
        text_table_add(table, "%.0f ns", 1e9 * seconds);
    else if (seconds < 1e-3)
        text_table_add(table, "%.1f us", 1e6 * seconds);
    else
        text_table_add(table, "%.2f ms", 1e3 * seconds);
}

static int print_rows(struct context *ctx, const struct row *rows)
{
    static const char *const names[] = {"WHAT", "LATENCY", "BANDWIDTH",
                                        "CAPACITY"};
    char text[FORMAT_BYTES];
    struct text_table table;
    int rc;

    text_table_init(&table, "lrrr");
    for (int i = 0; i < 4; i++)
        text_table_add(&table, "%s", names[i]);
    for (int i = 0; i < ROWS; i++) {
        if (rows[i].speed.bandwidth <= 0)
            continue;
        text_table_add(&table, "%s", rows[i].name);
        add_latency(&table, rows[i].speed.latency);
        text_table_add(&table, "%s/s",
                       format_bytes(text, (uint64_t)rows[i].speed.bandwidth));
        text_table_add(&table, "%s",
                       rows[i].capacity ? format_bytes(text, rows[i].capacity)
                                        : "-");
    }
    rc = text_table_print(&table, ctx, 0);
    text_table_release(&table);
    return rc;
}

/* What a kind of work is called, and its rate. */
struct work_row {
    char name[48];
    double rate;
};

enum { WORK_ROWS = BM_WORKS + 4 * BM_RATED_CODECS };

/* Those that were measured; gives their number. */
static int list_work(struct work_row *rows, const struct bm_work_rates *r)
{
    struct work_row all[WORK_ROWS];
    int count = 0, n = 0;

    for (int i = 0; i < BM_WORKS; i++, n++) {
        snprintf(all[n].name, sizeof(all[n].name), "%s", bm_work_name(i));
        all[n].rate = r->work[i];
    }
    for (int i = 1; i < BM_RATED_CODECS; i++) {
        const struct bm_codec_rates *c = &r->codecs[i];
        const struct {
            const char *name;
            double rate;
        } each[4] = {{"encode", c->encode},
                     {"decode", c->decode},
                     {"encode_list", c->encode_list},
                     {"decode_list", c->decode_list}};
        const char *name = bouma_codec_name((bouma_codec)i);

        for (int k = 0; k < 4 && name; k++, n++) {
            snprintf(all[n].name, sizeof(all[n].name), "%s %s", name,
                     each[k].name);
            all[n].rate = each[k].rate;
        }
    }
    for (int i = 0; i < n; i++)
        if (all[i].rate > 0)
            rows[count++] = all[i];
    return count;
}

static int print_work(struct context *ctx, const struct bm_work_rates *rates)
{
    struct work_row rows[WORK_ROWS];
    int count = list_work(rows, rates), rc;
    char text[FORMAT_BYTES];
    struct text_table table;

    if (!count)
        return DONE;
    text_table_init(&table, "lr");
    text_table_add(&table, "WORK");
    text_table_add(&table, "RATE");
    for (int i = 0; i < count; i++) {
        text_table_add(&table, "%s", rows[i].name);
        text_table_add(&table, "%s/s",
                       format_bytes(text, (uint64_t)rows[i].rate));
    }
    printf("\n");
    rc = text_table_print(&table, ctx, 0);
    text_table_release(&table);
    return rc;
}

/* An object of rates by name. */
static json_t *json_work(const struct bm_work_rates *rates)
{
    struct work_row rows[WORK_ROWS];
    int count = list_work(rows, rates);
    json_t *object;

    if (!count)
        return json_null();
    object = json_object();
    for (int i = 0; i < count; i++)
        json_put(object, rows[i].name, json_number(rows[i].rate));
    return object;
}

static json_t *json_speed(const struct row *row)
{
    json_t *object;

    if (row->speed.bandwidth <= 0)
        return json_null();
    object = json_object();
    if (row->speed.latency > 0)
        json_put(object, "latency", json_number(row->speed.latency));
    json_put(object, "bandwidth", json_number(row->speed.bandwidth));
    if (row->capacity)
        json_put(object, "capacity", json_count(row->capacity));
    return object;
}

static int print_object(struct context *ctx, const struct row *rows,
                        const struct found *found, const char *target,
                        double seconds)
{
    const bouma_probe_report *r = found->report;
    json_t *root = json_object();

    json_put(root, "ranks", json_integer(r->ranks));
    json_put(root, "nodes", json_integer(r->nodes));
    for (int i = 0; i < ROWS; i++)
        json_put(root, rows[i].key, json_speed(&rows[i]));
    json_put(root, "transport",
             r->transport ? json_text(bouma_transport_name(r->transport))
                          : json_null());
    json_put(root, "work", json_work(found->rates));
    if (target)
        json_put(root, "file", json_text(target));
    json_put(root, "seconds", json_number(seconds));
    return print_json(ctx, root);
}

static int tell(struct context *ctx, const struct found *found,
                const char *target, double seconds)
{
    const bouma_probe_report *report = found->report;
    struct row rows[ROWS];
    char one[FORMAT_BYTES], two[FORMAT_BYTES], three[FORMAT_BYTES];
    int rc;

    if (!context_prints(ctx) || (target && strcmp(target, "-") == 0))
        return DONE;
    list_rows(rows, report);
    if (ctx->json)
        return print_object(ctx, rows, found, target, seconds);
    printf("%s on %s, in %s\n",
           format_count(one, (uint64_t)report->ranks, "rank"),
           format_count(two, (uint64_t)report->nodes, "node"),
           format_seconds(three, seconds));
    rc = print_rows(ctx, rows);
    return rc ? rc : print_work(ctx, found->rates);
}

/* ---- the machine file ---------------------------------------------------- */

/* Process 0 writes it all. Collective. */
static int write_file(struct context *ctx, const struct found *found,
                      const char *target)
{
    size_t bytes = bouma_probe_text(found->report, NULL, 0);
    char *text = malloc(bytes + 1);
    struct bm_buffer work;
    struct output output;
    int rc = output_create(&output, ctx, target);

    bm_buffer_init(&work, bm_allocator_default());
    bm_work_rates_put(&work, found->rates);
    if (!rc && (!bytes || !text || work.failed))
        rc = context_fail_memory(ctx);
    if (!rc && session_rank(ctx->session) == 0) {
        bouma_probe_text(found->report, text, bytes + 1);
        rc = output_write(&output, ctx, text, bytes, 0);
        if (!rc && work.size)
            rc = output_write(&output, ctx, work.data, work.size, bytes);
    }
    bm_buffer_release(&work);
    free(text);
    return output_finish(&output, ctx, rc);
}

/* Process 0 does; the others wait. Collective. */
static int measure(struct context *ctx, struct bm_work_rates *rates,
                   const struct session_probe *probe)
{
    int tries = probe->spec.tries ? probe->spec.tries : 5, failed = 0;

    if (session_rank(ctx->session) == 0)
        failed = !measure_work(rates, tries);
    return session_agree(ctx->session, failed, NULL, 0)
               ? context_fail_memory(ctx)
               : DONE;
}

static int run(struct context *ctx, const struct arguments *args)
{
    double start = stopwatch_now();
    const char *target = arguments_text(args, "output");
    struct session_probe probe = {.spec = {0}};
    struct bm_work_rates rates = {.work = {0}};
    const struct found found = {&probe.report, &rates};
    struct progress_bar bar;
    bouma_options opts = {.size = sizeof(opts)};
    int status, rc = parse_request(&probe, ctx, args);

    if (rc)
        return rc;
    progress_bar_init(&bar, ctx, &opts);
    probe.opts = &opts;
    status = session_probe(ctx->session, &probe);
    progress_bar_clear(&bar);
    if (status)
        return context_fail_status(ctx, status, probe.message);
    if (arguments_has(args, "work"))
        rc = measure(ctx, &rates, &probe);
    if (!rc && target)
        rc = write_file(ctx, &found, target);
    return rc ? rc : tell(ctx, &found, target, stopwatch_now() - start);
}

const struct command cmd_probe = {
    .name = "probe",
    .summary = "measure memory, network and storage; write a machine file",
    .operands = "[--target DIR] [--local DIR] [--work] [-o OUT]",
    .least = 0,
    .most = 0,
    .examples =
        "  bouma probe --target /scratch/me\n"
        "  mpirun -n 8 bouma-mpi probe --target /scratch/me --local /tmp -o "
        "here.machine\n",
    .footer =
        "The machine file is for the option 'machine' of a write; "
        "docs/machine.md explains\n"
        "how to edit it. Latency and bandwidth of memory are those of one "
        "process. The\n"
        "network is measured between the first process and some others, "
        "on other nodes if\n"
        "there are any. Gathering is the rate at which the first process "
        "receives from all\n"
        "others by each transport; the file names the faster one. Storage "
        "is measured with\n"
        "files that are written, synced and removed. The rates of --work are "
        "for simulated\n"
        "machines (sim/README.md); nothing else needs them.\n",
    .options = options,
    .run = run};
