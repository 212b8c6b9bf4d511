/* cmd_plan.c -- bouma plan: what a write would do at any scale, without data.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "arguments.h"

#include "bouma_lists.h"
#include "choice_names.h"
#include "exporter.h"
#include "format_text.h"
#include "hz_arguments.h"
#include "plan_explain.h"
#include "plan_loads.h"
#include "plan_picture.h"
#include "plan_ranks_picture.h"
#include "plan_report.h"
#include "print_json.h"
#include "progress_bar.h"
#include "text_table.h"

/* Enough for a process on each core of any machine. A plan takes up to 350 bytes
 * and a microsecond for each. */
#define MOST_RANKS ((int64_t)1 << 23)

static const struct option_spec options[] = {
    {.name = "ranks",
     .argument = "N",
     .help = "processes that write, up to 8M (required)"},
    {.name = "shape",
     .argument = "NZ,NY,NX",
     .help = "samples along each axis (required); of particles the extents "
             "of their domain, by default a cube"},
    {.name = "particles",
     .argument = "COUNT",
     .help = "plan so many particles instead of a grid"},
    {.name = "clustered",
     .help = "particles lie in a few clusters; default: they are everywhere"},
    {.name = "counts",
     .argument = "FILE",
     .help = "particles of each process, as numbers in a text; with "
             "--particles in proportion to these"},
    {.name = "sizes",
     .argument = "SIZES.json",
     .help = "stored bytes of each process of a small grid of them (bouma "
             "size-grid), interpolated to these processes"},
    {.name = "blocks",
     .argument = "PZ,PY,PX",
     .help = "processes along each axis, in the order of --shape; default: "
             "blocks most like cubes"},
    {.name = "rank-order",
     .argument = "ORDER",
     .choices = CHOICES(BOUMA_RANK_ORDER_LIST),
     .help = "how processes are numbered in their blocks; default: "
             "row-major"},
    {.name = "patch",
     .argument = "P[,P,P]",
     .help = "samples along a patch; default: 64, with two axes 256, or what "
             "fits the blocks better"},
    {.name = "layout",
     .argument = "LAYOUT",
     .choices = "patch|hz",
     .help = "patch: patches with their levels (default); hz: one HZ order "
             "over the whole grid"},
    {.name = "hz-template",
     .argument = "TEMPLATE",
     .help = "layout hz: the axis that each split halves, the coarsest split "
             "first; default: always the longest axis; ranks: one that fits "
             "the blocks of the processes"},
    {.name = "hz-block-bits",
     .argument = "B",
     .help = "layout hz: blocks have 2^B samples; default: 15, less for a "
             "smaller grid"},
    {.name = "hz-blocks-per-file",
     .argument = "N",
     .help = "layout hz: blocks in a file; default: 512"},
    {.name = "hz-order",
     .argument = "ORDER",
     .choices = CHOICES(BOUMA_HZ_ORDER_LIST),
     .help = "layout hz: samples of a block in rows (default), or in HZ "
             "order"},
    {.name = "type",
     .argument = "TYPE",
     .choices = TYPES,
     .help = "type of a sample; default: f32"},
    {.name = "components",
     .argument = "C",
     .help = "values per sample, or per particle besides its position; "
             "default: 1"},
    {.name = "ratio",
     .argument = "R",
     .help = "ratio of raw to stored bytes; default: 1"},
    {.name = "vary",
     .argument = "V",
     .help = "stored sizes differ by up to this factor, smoothly in space"},
    {.name = "explain",
     .help =
         "with --place cost: what each candidate would cost, for some files"},
    {.name = "file",
     .argument = "I",
     .help = "with --explain: only this file, counted from 0"},
    {.name = "compare", .help = "compare all ways to distribute and assign"},
    {.name = "output",
     .letter = 'o',
     .argument = "OUT.png",
     .help = "a picture of patches, files, their sizes and writers; with "
             "--layout hz that of --picture"},
    {.name = "picture",
     .help = "-o draws the ranks instead: who writes the files of each level, "
             "and who has samples of them, with --place local and spread"},
    {0}};

/* A request. */
struct planning {
    const struct arguments *args;
    bouma_plan_spec spec;
    struct plan_loads loads;
    bouma_options opts;
    int64_t file; /* to explain; -1: the first ones */
    struct progress_bar bar;
};

static bool is_of_particles(const struct arguments *args)
{
    return arguments_has(args, "particles") || arguments_has(args, "counts");
}

/* ---- what to plan -------------------------------------------------------- */

static int parse_extents(struct planning *planning, struct context *ctx)
{
    const struct arguments *args = planning->args;
    bouma_plan_spec *spec = &planning->spec;
    int blocks = 0, patches = 0;
    int rc;

    if (is_of_particles(args)) {
        spec->ndims = 3;
        for (int d = 0; d < 3; d++)
            spec->shape[d] = (int64_t)1 << 31;
    }
    rc = arguments_integers(args, ctx, "shape", spec->shape, &spec->ndims);
    if (!rc)
        rc = arguments_integers(args, ctx, "blocks", spec->blocks, &blocks);
    if (!rc)
        rc = arguments_integers(args, ctx, "patch", spec->patch, &patches);
    if (rc)
        return rc;
    if (blocks && blocks != spec->ndims)
        return context_fail(ctx, CALL_AT_FAULT,
                            "--blocks %s: the shape has %d axes, and processes "
                            "are along each in the same order (NZ,NY,NX)",
                            arguments_text(args, "blocks"), spec->ndims);
    if (patches > 1 && patches != spec->ndims)
        return context_fail(ctx, CALL_AT_FAULT,
                            "--patch %s: the shape has %d axes",
                            arguments_text(args, "patch"), spec->ndims);
    for (int i = 1; i < spec->ndims && patches == 1; i++)
        spec->patch[i] = spec->patch[0];
    return DONE;
}

/* To the library 0 means 1, which nobody who writes 0 here has in mind. */
static int parse_factor(const struct planning *planning, struct context *ctx,
                        const char *name, double *out)
{
    int rc = arguments_number(planning->args, ctx, name, out);

    if (!rc && arguments_has(planning->args, name) && *out == 0)
        rc = context_fail(ctx, CALL_AT_FAULT, "--%s %s: must be above 0", name,
                          arguments_text(planning->args, name));
    return rc;
}

/* How many write, and how large the samples are. */
static int parse_counts(struct planning *planning, struct context *ctx)
{
    const struct arguments *args = planning->args;
    bouma_plan_spec *spec = &planning->spec;
    const char *type = arguments_text(args, "type");
    int64_t ranks = 0, components = 0;
    int rc = arguments_integer(args, ctx, "ranks", 1, &ranks);

    if (!rc && ranks > MOST_RANKS)
        rc = context_fail(ctx, CALL_AT_FAULT,
                          "--ranks %lld: at most 8M (2^23) are planned; more "
                          "would take minutes, and many GiB",
                          (long long)ranks);
    if (!rc)
        rc = arguments_integer(args, ctx, "components", 1, &components);
    if (!rc && components > INT32_MAX)
        components = INT32_MAX; /* too many in any case */
    spec->ranks = (int)ranks;
    spec->components = (int)components;
    if (!rc)
        rc = parse_extents(planning, ctx);
    if (rc || !type)
        return rc;
    spec->type = bouma_type_parse(type);
    if (!spec->type || spec->type == BOUMA_TYPE_STRING)
        return context_fail(ctx, CALL_AT_FAULT, "--type %s: there are %s", type,
                            TYPE_NAMES);
    return DONE;
}

/* Particles instead of a grid: what they do not have is refused. */
static int parse_particles(struct planning *planning, struct context *ctx)
{
    static const char *const of_grids[] = {
        "patch",      "layout",        "vary",
        "distribute", "hz-template",   "hz-order",
        "output",     "hz-block-bits", "hz-blocks-per-file"};
    const struct arguments *args = planning->args;
    bouma_plan_spec *spec = &planning->spec;
    int64_t count = 0;
    int rc = arguments_integer(args, ctx, "particles", 1, &count);

    if (rc || !is_of_particles(args))
        return rc;
    for (size_t i = 0; i < sizeof(of_grids) / sizeof(of_grids[0]); i++)
        if (arguments_has(args, of_grids[i]))
            return context_fail(ctx, CALL_AT_FAULT,
                                "--%s is for grids, and this plans particles",
                                of_grids[i]);
    spec->particles = (uint64_t)count;
    return DONE;
}

/* How the grid lies in files. */
static int parse_layout(struct planning *planning, struct context *ctx)
{
    bouma_plan_spec *spec = &planning->spec;
    bouma_grid_spec grid = {0};
    int rc = hz_arguments_read(&grid, ctx, planning->args);

    if (!rc)
        rc = hz_arguments_rank_order(&spec->rank_order, ctx, planning->args,
                                     false);
    if (!rc && grid.layout == BOUMA_LAYOUT_HZ)
        hz_arguments_note_files(ctx, planning->args);
    spec->layout = grid.layout;
    spec->hz_template = grid.hz_template;
    spec->hz_block_bits = grid.hz_block_bits;
    spec->hz_blocks_per_file = grid.hz_blocks_per_file;
    spec->hz_order = grid.hz_order;
    return rc;
}

/* What is told of the plan. */
static int parse_telling(struct planning *planning, struct context *ctx)
{
    const struct arguments *args = planning->args;
    const char *target = arguments_text(args, "output");
    bool comparing = arguments_has(args, "compare");
    bool explain = arguments_has(args, "explain");
    const struct exporter *picture;
    int rc;

    planning->file = -1;
    rc = arguments_integer(args, ctx, "file", 0, &planning->file);
    if (!rc && target)
        rc = exporter_find(&picture, ctx, EXPORT_PICTURE, target);
    if (rc)
        return rc;
    if (comparing && target)
        return context_fail(ctx, CALL_AT_FAULT,
                            "--compare has no picture; leave out -o");
    if (arguments_has(args, "picture") && !target)
        return context_fail(ctx, CALL_AT_FAULT,
                            "--picture needs a file: add -o OUT.png");
    if (arguments_has(args, "file") && !explain)
        return context_fail(ctx, CALL_AT_FAULT,
                            "--file is for --explain: add it");
    if (comparing && explain)
        return context_fail(ctx, CALL_AT_FAULT,
                            "--compare is of many plans; --explain is of one");
    return DONE;
}

static int parse_request(struct planning *planning, struct context *ctx)
{
    const struct arguments *args = planning->args;
    bouma_plan_spec *spec = &planning->spec;
    int rc;

    spec->size = sizeof(*spec);
    planning->opts = (bouma_options){.size = sizeof(planning->opts)};
    if (!arguments_has(args, "ranks") ||
        !(arguments_has(args, "shape") || is_of_particles(args)))
        return context_fail(ctx, CALL_AT_FAULT,
                            "say how many write what: --ranks N --shape "
                            "NZ,NY,NX, or --ranks N --particles COUNT");
    rc = parse_counts(planning, ctx);
    if (!rc)
        rc = parse_layout(planning, ctx);
    if (!rc)
        rc = parse_factor(planning, ctx, "ratio", &spec->ratio);
    if (!rc)
        rc = parse_factor(planning, ctx, "vary", &spec->vary);
    if (!rc)
        rc = parse_particles(planning, ctx);
    if (!rc && !is_of_particles(args))
        rc = arguments_check_grid_assign(args, ctx, ", and this plans a grid;");
    if (!rc)
        rc = plan_loads_read(&planning->loads, ctx, args, spec);
    if (!rc)
        rc = arguments_fields(args, ctx, &planning->opts);
    return rc ? rc : parse_telling(planning, ctx);
}

static int make(bouma_plan **out, const struct planning *planning,
                struct context *ctx, const bouma_options *opts)
{
    char message[512] = "";
    int status =
        bouma_plan_make(out, &planning->spec, opts, message, sizeof(message));

    return status ? context_fail_status(ctx, status, message) : DONE;
}

/* ---- all schemes --------------------------------------------------------- */

static void add_heading(struct text_table *table)
{
    static const char *const names[] = {
        "DISTRIBUTE", "ASSIGN", "PATCHES", "MOVED",   "MESSAGES", "SHIPPED",
        "MESSAGES",   "FILES",  "LARGEST", "BALANCE", "SECONDS"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        text_table_add(table, "%s", names[i]);
}

static void add_scheme(struct text_table *table,
                       const bouma_plan_report *report)
{
    char text[FORMAT_BYTES];

    text_table_add(
        table, "%s",
        report->particles ? "-" : bouma_distribute_name(report->distribute));
    text_table_add(table, "%s",
                   report->assign ? bouma_assign_name(report->assign) : "-");
    text_table_add(table, "%" PRId64 "-%" PRId64, report->fewest_patches,
                   report->most_patches);
    text_table_add(table, "%s", format_bytes(text, report->moved_bytes));
    text_table_add(table, "%" PRId64, report->moved_messages);
    text_table_add(table, "%s", format_bytes(text, report->shipped_bytes));
    text_table_add(table, "%" PRId64, report->shipped_messages);
    text_table_add(table, "%" PRId64, report->files);
    text_table_add(table, "%s", format_bytes(text, report->largest_file));
    text_table_add(table, "%.3f", plan_report_balance(report));
    text_table_add(table, "%.3g", report->seconds);
}

/* The choices of a list. */
#define CHOICE_VALUE(name, value, text) value,
static const bouma_distribute distributes[] = {
    BOUMA_DISTRIBUTE_LIST(CHOICE_VALUE)};
static const bouma_assign assigns[] = {BOUMA_ASSIGN_LIST(CHOICE_VALUE)};
#undef CHOICE_VALUE
enum {
    DISTRIBUTES = sizeof(distributes) / sizeof(distributes[0]),
    ASSIGNS = sizeof(assigns) / sizeof(assigns[0])
};

/* The i-th of all pairs of schemes, into the options; false if another one was
 * given, or it is for particles, and for grids the same as one before, or by
 * nodes that no machine tells. In HZ
 * order files are what they are; particles are not distributed. */
static bool choose_pair(bouma_options *opts, int i, const bouma_plan_spec *spec)
{
    bouma_distribute distribute = distributes[i / ASSIGNS];
    bouma_assign assign = assigns[i % ASSIGNS];
    bool by_node = assign == BOUMA_ASSIGN_PER_NODE;

    if ((opts->distribute && opts->distribute != distribute) ||
        (opts->assign && opts->assign != assign) ||
        (by_node ? !opts->machine : opts->nodes_per_file > 0) ||
        (!spec->particles && !bouma_assign_is_for_grids(assign)) ||
        (spec->particles && i / ASSIGNS) ||
        (spec->layout == BOUMA_LAYOUT_HZ && i % ASSIGNS))
        return false;
    opts->distribute = distribute;
    opts->assign = assign;
    if (by_node) { /* which does not ask for these, and refuses them */
        opts->files = 0;
        opts->file_size = 0;
    }
    return true;
}

/* Make the plans, and add a row of the table and an element of the array for
 * each. Schemes that would make a file too large for the format are left out,
 * unless all do. */
static int plan_all(struct text_table *table, json_t *schemes,
                    const struct planning *planning, struct context *ctx)
{
    char message[512] = "";
    int made = 0;

    for (int i = 0; i < DISTRIBUTES * ASSIGNS; i++) {
        bouma_options opts = planning->opts;
        bouma_plan_report report = {.size = sizeof(report)};
        bouma_plan *plan = NULL;
        json_t *scheme;
        int rc;

        if (opts.progress)
            opts.progress(opts.progress_user, "planning", (uint64_t)i,
                          DISTRIBUTES * ASSIGNS);
        if (!choose_pair(&opts, i, &planning->spec))
            continue;
        rc = bouma_plan_make(&plan, &planning->spec, &opts, message,
                             sizeof(message));
        if (rc == BOUMA_ELIMIT)
            continue;
        if (rc)
            return context_fail_status(ctx, rc, message);
        bouma_plan_report_get(&report, plan);
        bouma_plan_free(plan);
        add_scheme(table, &report);
        scheme = json_object();
        plan_report_put(scheme, &report, &planning->spec);
        json_array_append_new(schemes, scheme);
        made++;
    }
    return made ? DONE : context_fail_status(ctx, BOUMA_ELIMIT, message);
}

static int compare(struct planning *planning, struct context *ctx)
{
    struct text_table table;
    json_t *root = json_object(), *schemes = json_array();
    int rc;

    progress_bar_init(&planning->bar, ctx, &planning->opts);
    text_table_init(&table, "llrrrrrrrrr");
    add_heading(&table);
    rc = plan_all(&table, schemes, planning, ctx);
    progress_bar_clear(&planning->bar);
    json_put(root, "schemes", schemes);
    if (!rc && ctx->json) {
        rc = print_json(ctx, root);
    } else {
        json_decref(root);
        if (!rc)
            rc = text_table_print(&table, ctx, 0);
    }
    text_table_release(&table);
    return rc;
}

/* ---- one plan ------------------------------------------------------------ */

/* The same with the usual patches, if these are fitted to the blocks: *out,
 * else NULL. */
static int plan_usual(bouma_plan_report **out, bouma_plan_report *room,
                      const struct planning *planning, struct context *ctx,
                      const bouma_plan_report *report)
{
    struct planning usual = *planning;
    bouma_plan *plan = NULL;
    int rc;

    *out = NULL;
    if (!plan_report_is_fitted(report))
        return DONE;
    memcpy(usual.spec.patch, report->usual_patch, sizeof(usual.spec.patch));
    rc = make(&plan, &usual, ctx, &usual.opts);
    if (rc)
        return rc;
    bouma_plan_report_get(room, plan);
    bouma_plan_free(plan);
    *out = room;
    return DONE;
}

/* The report, and why its writers are those. */
static int tell(const struct planning *planning, struct context *ctx,
                const bouma_plan *plan, const struct canvas *canvas)
{
    bool explain = arguments_has(planning->args, "explain");
    const char *target = arguments_text(planning->args, "output");
    bouma_plan_report report = {.size = sizeof(report)};
    bouma_plan_report room = {.size = sizeof(room)}, *usual;
    json_t *root, *costs = NULL;
    int rc;

    if (!context_prints(ctx) || (target && strcmp(target, "-") == 0))
        return DONE;
    bouma_plan_report_get(&report, plan);
    rc = plan_usual(&usual, &room, planning, ctx, &report);
    if (rc)
        return rc;
    if (!ctx->json) {
        plan_report_print(&report, usual, &planning->spec);
        return explain ? plan_explain_print(ctx, plan, planning->file) : DONE;
    }
    if (explain) {
        costs = plan_explain_json(ctx, plan, planning->file);
        if (!costs)
            return CALL_AT_FAULT;
    }
    root = json_object();
    plan_report_put(root, &report, &planning->spec);
    if (usual)
        plan_report_put_usual(root, usual, &planning->spec);
    if (costs)
        json_put(root, "explain", costs);
    if (target) {
        json_put(root, "file", json_text(target));
        json_put(root, "width", json_integer(canvas->width));
        json_put(root, "height", json_integer(canvas->height));
    }
    return print_json(ctx, root);
}

/* The ranks, with the plan that was asked for, and those by `local` and by
 * `spread`. */
static int draw_ranks(struct canvas *out, struct context *ctx,
                      const struct planning *planning, bouma_plan *plan)
{
    static const bouma_place places[] = {BOUMA_PLACE_LOCAL, BOUMA_PLACE_SPREAD};
    bouma_plan *plans[3], *made[2] = {NULL, NULL};
    bouma_place own = planning->opts.place;
    int count = 0, rc = DONE;

    if (own && own != BOUMA_PLACE_LOCAL && own != BOUMA_PLACE_SPREAD)
        plans[count++] = plan;
    for (int i = 0; i < 2 && !rc; i++) {
        bouma_options opts = planning->opts;

        opts.place = places[i];
        rc = make(&made[i], planning, ctx, &opts);
        plans[count++] = made[i];
    }
    if (!rc)
        rc = plan_ranks_picture_draw(out, ctx, plans, count, &planning->spec);
    bouma_plan_free(made[0]);
    bouma_plan_free(made[1]);
    return rc;
}

static int draw(struct canvas *out, struct context *ctx,
                const struct planning *planning, bouma_plan *plan)
{
    return planning->spec.layout == BOUMA_LAYOUT_HZ ||
                   arguments_has(planning->args, "picture")
               ? draw_ranks(out, ctx, planning, plan)
               : plan_picture_draw(out, ctx, plan, &planning->spec);
}

/* Process 0 does it; nothing is gained by more. Collective. */
static int run(struct context *ctx, const struct arguments *args)
{
    struct planning planning = {.args = args};
    const char *target = arguments_text(args, "output");
    bool comparing = arguments_has(args, "compare");
    struct canvas canvas = {0};
    bouma_plan *plan = NULL;
    int rc = parse_request(&planning, ctx);

    if (!rc && session_rank(ctx->session) == 0) {
        rc = comparing ? compare(&planning, ctx)
                       : make(&plan, &planning, ctx, &planning.opts);
        if (!rc && arguments_has(args, "explain"))
            rc = plan_explain_check(ctx, plan, planning.file);
        if (!rc && target)
            rc = draw(&canvas, ctx, &planning, plan);
    }
    rc = context_agree(ctx, rc);
    if (!rc && target)
        rc = exporter_draw(ctx, target, &canvas);
    if (!rc && !comparing)
        rc = tell(&planning, ctx, plan, &canvas);
    canvas_release(&canvas);
    bouma_plan_free(plan);
    plan_loads_release(&planning.loads);
    return rc;
}

const struct command cmd_plan = {
    .name = "plan",
    .summary = "predict a write at any scale, without data",
    .operands = "--ranks N (--shape NZ,NY,NX | --particles COUNT) [options]",
    .least = 0,
    .most = 0,
    .examples =
        "  bouma plan --ranks 1M --shape 16384,8192,8192\n"
        "  bouma plan --ranks 96 --shape 500,500,500 --ratio 4 --vary 20 -o "
        "plan.png\n"
        "  bouma plan --ranks 96 --shape 500,500,500 --files 8 --compare\n"
        "  bouma plan --ranks 4096 --particles 1G --clustered --compare\n"
        "  bouma plan --ranks 16K --shape 4096,4096,4096 --sizes sizes.json\n"
        "  bouma plan --ranks 512 --shape 512,512,512 --place cost --machine "
        "torus:8x8x8 --explain\n"
        "  bouma plan --ranks 512 --shape 256,256,256 --layout hz "
        "--hz-template "
        "ranks --hz-blocks-per-file 16 -o ranks.png\n",
    .footer =
        "Each process holds one block of a grid with one variable, or the "
        "particles in one. A\n"
        "real write has the same plan. File sizes include chunks and their "
        "table entries. A\n"
        "real write takes more time and memory to plan: its blocks may be of "
        "any kind.\n"
        "\n"
        "With --machine, ranks fill nodes in order. --explain shows the "
        "costs of each\n"
        "candidate: C1 to gather a file, C2 to move it on to the target, "
        "LINKS for links\n"
        "that other files share, WAIT for files already gathered there. "
        "The smallest sum is\n"
        "chosen (*). See docs/placement.md.\n",
    .options = options,
    .exports = EXPORT_PICTURE,
    .takes = BOUMA_OPTION_USE_PLAN,
    .run = run};
