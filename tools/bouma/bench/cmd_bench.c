/* cmd_bench.c -- bouma bench: how fast the ranks bring buffers of given sizes
 * into files and back, by several pipelines (paper 000, section V-C). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "bench_report.h"
#include "exporter.h"
#include "mapped_file.h"
#include "rank_grid.h"
#include "size_grid.h"
#include "step_arguments.h"
#include "storage_options.h"

/* What --load can be; a test compares it with the table of loads. */
#define LOAD_NAMES                                                             \
    "uniform|random|normal|hacc|hacc-random|hacc-normal|s3d|cloud|boiler|dam"

/* "|a|b": the names of all pipelines. */
#define CHOICE(id, text) "|" text

static const struct option_spec options[] = {
    {.name = "load",
     .argument = "LOAD",
     .choices = LOAD_NAMES,
     .help = "the bytes of each rank; default: uniform"},
    {.name = "sizes",
     .argument = "FILE",
     .help = "io: instead, the sizes of a dataset, from `bouma size-grid`, "
             "interpolated for the ranks that run"},
    {.name = "ranks",
     .argument = "NZ,NY,NX",
     .help = "the grid of the ranks that run; default: nearest to a cube"},
    {.name = "bytes",
     .argument = "BYTES",
     .help = "bytes of a rank: the mean, or the most of random ones; default: "
             "the load's own"},
    {.name = "variables",
     .argument = "N",
     .help = "number of buffers of a rank; default: the load's own"},
    {.name = "time",
     .argument = "T",
     .help = "the moment of a series (boiler, dam), 0 to 1; default: 1"},
    {.name = "seed", .argument = "N", .help = "other random sizes; default: 0"},
    {.name = "pipeline",
     .argument = "NAME",
     .many = true,
     .choices = &(PIPELINES_ANYWHERE(CHOICE) PIPELINES_OF_MPI(CHOICE))[1],
     .help =
         "io: only this one; may be repeated; default: all that this program "
         "has"},
    {.name = "files",
     .argument = "F",
     .help = "files of a step, or of those that make several; write: also "
             "node or node:K, one for every K nodes; default: one for 8 "
             "ranks"},
    {.name = "repetitions",
     .argument = "N",
     .help = "of which the median counts; default: 5"},
    {.name = "warm-up",
     .argument = "N",
     .help = "repetitions before these, which do not count; default: 1"},
    {.name = "fsync", .help = "io: sync files before they are closed"},
    {.name = "no-read", .help = "do not read the files back"},
    {.name = "verify", .help = "check every byte that was read"},
    {.name = "keep", .help = "leave the files of the last repetition"},
    {.name = "block",
     .argument = "NZ,NY,NX",
     .scope = FOR_GRIDS,
     .help =
         "write: the samples of each rank; default: a cube of about --bytes "
         "in all variables"},
    {.name = "type",
     .argument = "TYPE",
     .choices = "f32|f64",
     .scope = FOR_GRIDS,
     .help = "write: of these samples; default: f32"},
    STORAGE_OPTIONS,
    {.name = "output",
     .letter = 'o',
     .argument = "OUT.png",
     .help = "a picture: the bandwidth of each pipeline"},
    {.field = "place"},
    {.field = "machine"},
    {.field = "tier"},
    {.field = "buffers"},
    {.field = "buffer_bytes"},
    {.field = "transport"},
    {.field = "message_bytes"},
    {.field = "timeout"},
    {.field = "distribute"},
    {.field = "assign"},
    {.field = "file_size"},
    {.field = "order"},
    {.field = "best_axis"},
    {.field = "threads"},
    {.field = "durability"},
    {.field = "group"},
    {.field = "async"},
    {.field = "predict"},
    {.field = "planning"},
    {.field = "local"},
    {.field = "persist"},
    {0}};

/* The benchmarks, and the options that only one of them has. */
enum bench_kind { BENCH_BUFFERS, BENCH_STEPS };
static const char *const of_buffers[] = {"sizes", "pipeline", "fsync"};
static const char *const of_both[] = {
    "load",    "ranks",   "bytes",        "variables", "time",
    "seed",    "files",   "repetitions",  "warm-up",   "no-read",
    "verify",  "keep",    "output",       "place",     "machine",
    "tier",    "buffers", "buffer-bytes", "transport", "message-bytes",
    "timeout", "json",    "local"};

enum { MOST_VARIABLES = 4096, MOST_REPETITIONS = 10000 };
#define MOST_FILE_BYTES ((uint64_t)1 << 30) /* of sizes */

/* ---- the load ------------------------------------------------------------ */

/* Process 0 reads the file, all parse it. Collective. */
static int read_sizes(struct size_grid *out, struct context *ctx,
                      const char *path)
{
    struct mapped_file file = {0};
    bool first = session_rank(ctx->session) == 0;
    uint64_t size = 0;
    char *text = NULL, message[512];
    int rc = first ? mapped_file_open(&file, ctx, path) : DONE;

    if (first && !rc && file.size > MOST_FILE_BYTES)
        rc = context_fail(ctx, DATA_AT_FAULT, "%s: is larger than 1 GiB", path);
    size = file.size;
    rc = context_agree(ctx, rc);
    session_broadcast(ctx->session, &size, sizeof(size));
    if (!rc) {
        text = malloc(size + 1);
        rc = context_agree(ctx, text ? DONE : context_fail_memory(ctx));
    }
    if (!rc) {
        if (first)
            memcpy(text, file.bytes, size);
        session_broadcast(ctx->session, text, size);
        if (!size_grid_parse(out, text, size, message, sizeof(message)))
            rc = context_fail(ctx, DATA_AT_FAULT, "%s: %s", path, message);
        rc = context_agree(ctx, rc);
    }
    free(text);
    if (first)
        mapped_file_close(&file);
    return rc;
}

/* Variables and bytes: the load's own, or those that are asked for. */
static int parse_amounts(struct load_request *load, struct context *ctx,
                         const struct arguments *args)
{
    int64_t bytes = (int64_t)load->load->bytes, seed = 0;
    int64_t variables = load->load->variables;
    int rc = arguments_integer(args, ctx, "bytes", 0, &bytes);

    if (!rc)
        rc = arguments_integer(args, ctx, "seed", 0, &seed);
    if (!rc)
        rc = arguments_integer(args, ctx, "variables", 1, &variables);
    if (!rc && variables > MOST_VARIABLES)
        rc = context_fail(ctx, CALL_AT_FAULT,
                          "--variables %" PRId64 ": at most %d", variables,
                          MOST_VARIABLES);
    if (!rc && bytes > (int64_t)1 << 50)
        rc = context_fail(ctx, CALL_AT_FAULT, "--bytes %" PRId64 ": at most 1P",
                          bytes);
    load->bytes = (uint64_t)bytes;
    load->seed = (uint64_t)seed;
    load->variables = (int)variables;
    if (!rc && arguments_has(args, "variables") && load->load->widths)
        rc = context_fail(ctx, CALL_AT_FAULT,
                          "--variables: the load %s has its own",
                          load->load->name);
    return rc;
}

static int parse_time(struct load_request *load, struct context *ctx,
                      const struct arguments *args)
{
    int rc;

    load->time = 1;
    rc = arguments_number(args, ctx, "time", &load->time);
    if (!rc && (load->time < 0 || load->time > 1))
        rc = context_fail(ctx, CALL_AT_FAULT, "--time %s: is not from 0 to 1",
                          arguments_text(args, "time"));
    if (!rc && arguments_has(args, "time") && !load->load->series)
        rc = context_fail(ctx, CALL_AT_FAULT,
                          "--time: the load %s is no series", load->load->name);
    return rc;
}

static int parse_rank_grid(struct load_request *load, struct context *ctx,
                           const struct arguments *args)
{
    const char *text = arguments_text(args, "ranks");
    int64_t ranks = session_size(ctx->session);

    if (!text) {
        rank_grid_choose(ranks, load->load->axes, load->grid);
        return DONE;
    }
    if (!rank_grid_parse(text, load->grid))
        return context_fail(ctx, CALL_AT_FAULT,
                            "--ranks %s: is not as 1,2,4 (NZ,NY,NX: along x "
                            "comes last), numbers from 1 on",
                            text);
    if (rank_grid_ranks(load->grid) != ranks)
        return context_fail(ctx, CALL_AT_FAULT,
                            "--ranks %s: are %" PRId64 ", but %" PRId64 " run",
                            text, rank_grid_ranks(load->grid), ranks);
    return DONE;
}

/* What a size grid says is fixed. */
static int check_sizes(struct context *ctx, const struct arguments *args)
{
    static const char *const others[] = {"load", "bytes", "variables", "time",
                                         "seed"};

    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (arguments_has(args, others[i]))
            return context_fail(ctx, CALL_AT_FAULT,
                                "--sizes and --%s cannot be combined",
                                others[i]);
    return DONE;
}

/* Collective. */
static int parse_load(struct load_request *load, struct size_grid *sizes,
                      struct context *ctx, const struct arguments *args)
{
    const char *file = arguments_text(args, "sizes"), *name = NULL;
    int rc = arguments_choice(args, ctx, "load", &name);

    load->load = load_find(file ? "sizes" : name ? name : "uniform");
    if (!rc && file)
        rc = check_sizes(ctx, args);
    if (!rc)
        rc = parse_rank_grid(load, ctx, args);
    if (!rc && !file)
        rc = parse_amounts(load, ctx, args);
    if (!rc && !file)
        rc = parse_time(load, ctx, args);
    rc = context_agree(ctx, rc);
    if (!rc && file) {
        rc = read_sizes(sizes, ctx, file);
        load->sizes = sizes;
        load->variables = (int)sizes->count;
        if (!rc && sizes->count > MOST_VARIABLES)
            rc = context_fail(ctx, DATA_AT_FAULT,
                              "%s: has more than %d variables", file,
                              MOST_VARIABLES);
    }
    return rc;
}

/* ---- the rest ------------------------------------------------------------ */

static int add_pipeline(struct bench_request *request, struct context *ctx,
                        const char *name)
{
    const struct pipeline *p = pipeline_find(name);

    if (!p)
        return context_fail(ctx, CALL_AT_FAULT,
                            "--pipeline %s: there is none; `%s bench --help` "
                            "lists them",
                            name, session_program());
    if (p->missing)
        return context_fail(ctx, CALL_AT_FAULT,
                            "--pipeline %s: this %s is built without %s", name,
                            session_program(), p->missing);
    for (int i = 0; i < request->count; i++)
        if (request->pipelines[i] == p)
            return context_fail(ctx, CALL_AT_FAULT,
                                "--pipeline %s: is given twice", name);
    request->pipelines[request->count++] = p;
    return DONE;
}

static int parse_pipelines(struct bench_request *request, struct context *ctx,
                           const struct arguments *args)
{
    int n = arguments_count(args, "pipeline"), rc = DONE;

    for (int i = 0; i < n && !rc; i++)
        rc = add_pipeline(request, ctx, arguments_nth(args, "pipeline", i));
    for (int i = 0; pipelines[i] && !n; i++)
        if (!pipelines[i]->missing)
            request->pipelines[request->count++] = pipelines[i];
    return rc;
}

/* A number; or files by node, which are an option of the library. */
static int parse_files(struct bench_request *request, struct context *ctx,
                       const struct arguments *args)
{
    const char *text = arguments_text(args, "files");
    const char *assign = arguments_text(args, "assign");
    bool by_node = assign && !strcmp(assign, "per-node");
    int64_t ranks = session_size(ctx->session);
    char message[512];
    int rc;

    request->files = by_node || arguments_has(args, "file-size") ? 0
                     : ranks > 8                                 ? ranks / 8
                                                                 : 1;
    if (text && !strncmp(text, "node", 4) &&
        request->pipelines[0] == &pipeline_steps) {
        request->files = 0;
        return bouma_options_set(&request->options, "files", text, message,
                                 sizeof(message))
                   ? context_fail_status(ctx, BOUMA_EINVAL, message)
                   : DONE;
    }
    rc = arguments_integer(args, ctx, "files", 1, &request->files);
    if (!rc && request->files > ranks)
        rc = context_fail(ctx, CALL_AT_FAULT,
                          "--files %" PRId64 ": there are just %" PRId64
                          " ranks",
                          request->files, ranks);
    return rc;
}

static int parse_counts(struct bench_request *request, struct context *ctx,
                        const struct arguments *args)
{
    int64_t repetitions = 5, warm_up = 1;
    int rc = arguments_integer(args, ctx, "repetitions", 1, &repetitions);

    if (!rc)
        rc = arguments_integer(args, ctx, "warm-up", 0, &warm_up);
    if (!rc && (repetitions > MOST_REPETITIONS || warm_up > MOST_REPETITIONS))
        rc = context_fail(ctx, CALL_AT_FAULT,
                          "there can be no more than %d repetitions",
                          MOST_REPETITIONS);
    request->repetitions = (int)repetitions;
    request->warm_up = (int)warm_up;
    return rc ? rc : parse_files(request, ctx, args);
}

static bool is_in(const char *name, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(list[i], name))
            return true;
    return false;
}

#define IS_IN(name, list) is_in(name, list, sizeof(list) / sizeof(*(list)))

/* Which benchmark it is; no option is for the other one. */
static int parse_kind(enum bench_kind *out, struct context *ctx,
                      const struct arguments *args)
{
    const char *name = args->operands[0];

    *out = strcmp(name, "write") ? BENCH_BUFFERS : BENCH_STEPS;
    if (*out == BENCH_BUFFERS && strcmp(name, "io") != 0)
        return context_fail(ctx, CALL_AT_FAULT,
                            "there is no benchmark '%s'; there are 'io' and "
                            "'write'",
                            name);
    for (int i = 0; i < args->given_count; i++) {
        const char *option = args->given[i].option.name;

        if (*out == BENCH_STEPS
                ? IS_IN(option, of_buffers)
                : !IS_IN(option, of_buffers) && !IS_IN(option, of_both))
            return context_fail(ctx, CALL_AT_FAULT,
                                "--%s is for `bench %s`; leave it out", option,
                                *out == BENCH_STEPS ? "io" : "write");
    }
    return DONE;
}

static int parse_request(struct bench_request *request, struct context *ctx,
                         const struct arguments *args)
{
    enum bench_kind kind;
    const struct exporter *picture;
    const char *target = arguments_text(args, "output");
    int rc = parse_kind(&kind, ctx, args);

    request->directory = args->operands[1];
    request->options.size = sizeof(request->options);
    request->sync = arguments_has(args, "fsync");
    request->read = !arguments_has(args, "no-read");
    request->verify = arguments_has(args, "verify");
    request->keep = arguments_has(args, "keep");
    if (!rc && request->verify && !request->read)
        rc = context_fail(ctx, CALL_AT_FAULT,
                          "--verify and --no-read cannot be combined");
    if (!rc && target)
        rc = exporter_find(&picture, ctx, EXPORT_PICTURE, target);
    if (!rc && kind == BENCH_BUFFERS)
        rc = parse_pipelines(request, ctx, args);
    if (!rc && kind == BENCH_STEPS)
        request->pipelines[request->count++] = &pipeline_steps;
    if (!rc)
        rc = parse_counts(request, ctx, args);
    return rc ? rc : arguments_fields(args, ctx, &request->options);
}

/* Process 0 draws, all write. Collective. */
static int draw(struct context *ctx, const struct bench_request *request,
                const struct bench_report *report, const char *target)
{
    struct canvas canvas = {0};
    int rc = DONE;

    if (session_rank(ctx->session) == 0)
        rc = bench_report_draw(&canvas, ctx, request, report);
    rc = context_agree(ctx, rc);
    if (!rc)
        rc = exporter_draw(ctx, target, &canvas);
    canvas_release(&canvas);
    return rc;
}

static int run(struct context *ctx, const struct arguments *args)
{
    const char *target = arguments_text(args, "output");
    struct bench_request request = {.directory = NULL};
    struct bench_report report = {.bytes = 0};
    struct size_grid sizes = {.count = 0};
    int rc = context_agree(ctx, parse_request(&request, ctx, args));

    if (!rc)
        rc = context_agree(ctx, parse_load(&request.load, &sizes, ctx, args));
    if (!rc && request.pipelines[0] == &pipeline_steps)
        rc = context_agree(ctx, step_arguments(&request, ctx, args));
    if (!rc)
        rc = bench_run(&report, ctx, &request);
    if (!rc && target)
        rc = draw(ctx, &request, &report, target);
    if (!rc && !(target && strcmp(target, "-") == 0))
        rc = bench_report_print(ctx, &request, &report);
    bench_report_release(&report);
    size_grid_release(&sizes);
    return rc;
}

const struct command cmd_bench = {
    .name = "bench",
    .summary = "measure ways to write and read files with all ranks",
    .operands = "io|write DIR [--load LOAD | --sizes FILE] [-o OUT.png]",
    .least = 2,
    .most = 2,
    .words = "io|write",
    .exports = EXPORT_PICTURE,
    .examples =
        "  mpirun -n 64 bouma-mpi bench io /scratch/me --load s3d --files 8\n"
        "  bouma size-grid run.bouma --ranks 2,4,4 -o sizes.json\n"
        "  mpirun -n 512 bouma-mpi bench io /scratch/me --sizes sizes.json "
        "--fsync -o bench.png\n"
        "  mpirun -n 64 bouma-mpi bench write /scratch/me --load boiler "
        "--assign kdtree\n",
    .footer =
        "io: Each rank has buffers of the sizes of the load, and writes them "
        "to "
        "files in\n"
        "DIR/bouma-bench, which must not be there, and is removed at the end. "
        "Pipelines:\n"
        "file-per-process; collective and group-collective (MPI-IO, one file "
        "or "
        "--files);\n"
        "count, running, optimal (the library's engine, --files files; "
        "assignments as in\n"
        "`bouma import --assign`); hdf5, pnetcdf (one file). A time is that of "
        "the slowest\n"
        "rank, from opening to closing. SPREAD is the time from the fastest "
        "repetition to\n"
        "the slowest. Reading has the same ranks, and may come from memory.\n"
        "\n"
        "write: Each rank has a block of a grid (loads uniform and s3d) or "
        "particles (the\n"
        "others), and writes them as a step, with all options that `bouma "
        "import` has; then\n"
        "it reads what is its own, as after a restart. Phases are those of the "
        "slowest rank,\n"
        "and overlap. With --async, a step ends when its data are gathered; "
        "with "
        "--persist, when\n"
        "it is on local storage, and the time until it is in the dataset is "
        "told as well.\n",
    .options = options,
    .run = run};
