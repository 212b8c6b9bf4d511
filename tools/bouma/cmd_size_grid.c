/* cmd_size_grid.c -- bouma size-grid: how many bytes of each variable the ranks
 * of a small grid would have stored, as a file (see size_grid.h) that `bench`
 * and `plan` take. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "end_reading.h"
#include "format_text.h"
#include "locate.h"
#include "output.h"
#include "print_json.h"
#include "rank_grid.h"
#include "read/stored_chunks.h"
#include "sample_value.h"
#include "size_cells.h"
#include "size_grid.h"
#include "sized.h"
#include "step_entries.h"

static const struct option_spec options[] = {
    {.name = "ranks",
     .argument = "NZ,NY,NX",
     .help = "the grid of ranks, such as 2,4,4; default: 4,4,4"},
    {.name = "step",
     .argument = "N",
     .help = "a number, -N (counted from the end) or last; default: last"},
    {.name = "output",
     .letter = 'o',
     .argument = "OUT",
     .help = "write the file here; - is standard output"},
    {0}};

struct sizing {
    const struct arguments *args;
    bouma_dataset *ds;
    int64_t ranks[3], step;
    json_t *variables; /* of the file */
    uint64_t count, bytes;
    uint64_t *shares; /* [ranks], of one variable */
    char *text;       /* of the file */
};

/* ---- sizes --------------------------------------------------------------- */

/* Lifted boxes have z first. */
static void add_chunk(void *context, const struct bm_box *box, uint64_t bytes)
{
    struct size_cells *cells = context;
    double low[3], high[3];

    for (int d = 0; d < 3; d++) {
        low[d] = (double)box->lo[2 - d];
        high[d] = (double)box->hi[2 - d];
    }
    size_cells_add_box(cells, low, high, (double)bytes);
}

static int share_grid(struct sizing *s, struct context *ctx,
                      const struct entry *entry, struct size_cells *cells)
{
    double extent[3] = {1, 1, 1};
    bouma_grid_info grid;
    int status;

    bouma_grid_info_get(SIZED(&grid), entry->grid);
    for (int d = 0; d < grid.ndims; d++)
        extent[grid.ndims - 1 - d] = (double)grid.shape[d];
    if (!size_cells_init(cells, s->ranks, extent))
        return context_fail_memory(ctx);
    status = bm_stored_chunks(entry->variable, add_chunk, cells);
    return status ? context_fail_status(ctx, status, bouma_error_message(s->ds))
                  : DONE;
}

/* Particles while they are counted; x comes first. */
struct counting {
    struct size_cells *cells;
    bouma_particles_info about;
};

static int add_batch(void *user, const bouma_batch *batch)
{
    struct counting *c = user;

    for (uint64_t i = 0; i < batch->count; i++) {
        double at[3] = {0, 0, 0};

        for (int d = 0; d < c->about.ndims; d++)
            at[d] = value_number(sample_value(c->about.type, batch->columns[0],
                                              (size_t)d * batch->count + i)) -
                    c->about.low[d];
        size_cells_add_point(c->cells, at, 1);
    }
    return 0;
}

/* By the numbers of particles in the box around all. */
static int share_particles(struct sizing *s, struct context *ctx,
                           const struct entry *entry, struct size_cells *cells)
{
    bouma_variable *position = bouma_particles_position(entry->particles);
    bouma_particles_query query = {
        .size = sizeof(query), .variables = &position, .variable_count = 1};
    struct counting c = {.cells = cells};
    double extent[3] = {1, 1, 1};
    int status;

    bouma_particles_info_get(SIZED(&c.about), entry->particles);
    for (int d = 0; d < c.about.ndims; d++)
        if (c.about.high[d] > c.about.low[d])
            extent[d] = c.about.high[d] - c.about.low[d];
    if (!size_cells_init(cells, s->ranks, extent))
        return context_fail_memory(ctx);
    status = bouma_particles_query_run(entry->particles, &query, add_batch, &c);
    return status ? context_fail_status(ctx, status, bouma_error_message(s->ds))
                  : DONE;
}

static int add_variable(struct sizing *s, struct context *ctx,
                        const struct entry *entry)
{
    int64_t ranks = rank_grid_ranks(s->ranks);
    struct size_cells cells = {.weight = NULL};
    int rc = entry->grid ? share_grid(s, ctx, entry, &cells)
                         : share_particles(s, ctx, entry, &cells);
    json_t *object, *bytes;
    char name[600];

    if (!rc) {
        size_cells_share(&cells, entry->about.stored_bytes, s->shares);
        object = json_object();
        bytes = json_array();
        for (int64_t i = 0; i < ranks; i++)
            json_array_append_new(bytes, json_count(s->shares[i]));
        snprintf(name, sizeof(name), "%s/%s", entry->object, entry->about.name);
        json_put(object, "name", json_text(name));
        json_put(object, "bytes", bytes);
        json_array_append_new(s->variables, object);
        s->count++;
        s->bytes += entry->about.stored_bytes;
    }
    size_cells_release(&cells);
    return rc;
}

/* Process 0: the text of the file. */
static int make_text(struct sizing *s, struct context *ctx)
{
    json_t *root = json_object();

    json_put(root, "format", json_text(SIZE_GRID_FORMAT));
    json_put(root, "ranks", json_integers(s->ranks, 3));
    json_put(root, "variables", json_incref(s->variables));
    s->text = json_dumps(root, JSON_COMPACT);
    json_decref(root);
    return s->text ? DONE : context_fail_memory(ctx);
}

static int add_step(struct sizing *s, struct context *ctx)
{
    struct entry_cursor cursor = {.patterns = s->args->operands + 1,
                                  .pattern_count = s->args->operand_count - 1};
    struct entry entry;
    int rc = locate_step(&cursor.step, &s->step, ctx, s->ds, s->args);

    if (!rc)
        rc = entry_check_patterns(ctx, cursor, s->step);
    while (!rc && entry_next(&entry, &cursor))
        if (entry.about.present)
            rc = add_variable(s, ctx, &entry);
    if (!rc && !s->count)
        rc = context_fail_missing(ctx, "there are no data in step %" PRId64,
                                  s->step);
    if (!rc)
        rc = make_text(s, ctx);
    bouma_step_free(cursor.step);
    return rc;
}

/* Process 0 reads all. */
static int read_sizes(struct sizing *s, struct context *ctx)
{
    bouma_options opts = {.size = sizeof(opts)};
    int status = bouma_dataset_open(&s->ds, s->args->operands[0], &opts), rc;

    s->shares = calloc((size_t)rank_grid_ranks(s->ranks), sizeof(*s->shares));
    s->variables = json_array();
    if (status)
        rc = context_fail_status(ctx, status, bouma_error_message(s->ds));
    else
        rc = s->shares ? add_step(s, ctx) : context_fail_memory(ctx);
    end_reading_alone(ctx, s->ds);
    return rc;
}

/* ---- the file ------------------------------------------------------------ */

/* Process 0 writes it all. Collective. */
static int write_file(struct sizing *s, struct context *ctx, const char *target)
{
    struct output output;
    int rc = output_create(&output, ctx, target);

    if (!rc && session_rank(ctx->session) == 0) {
        size_t bytes = strlen(s->text);

        s->text[bytes] = '\n'; /* in place of the end, which is not written */
        rc = output_write(&output, ctx, s->text, bytes + 1, 0);
    }
    return output_finish(&output, ctx, rc);
}

static int tell(const struct sizing *s, struct context *ctx, const char *target)
{
    char variables[FORMAT_BYTES], bytes[FORMAT_BYTES];
    json_t *root;

    if (!context_prints(ctx))
        return DONE;
    if (!ctx->json) {
        printf("%s: %s, %s, on %" PRId64 ",%" PRId64 ",%" PRId64 " ranks\n",
               target, format_count(variables, s->count, "variable"),
               format_bytes(bytes, s->bytes), s->ranks[2], s->ranks[1],
               s->ranks[0]);
        return DONE;
    }
    root = json_object();
    json_put(root, "file", json_text(target));
    json_put(root, "step", json_integer(s->step));
    json_put(root, "ranks", json_integers(s->ranks, 3));
    json_put(root, "variables", json_count(s->count));
    json_put(root, "bytes", json_count(s->bytes));
    return print_json(ctx, root);
}

static int parse_request(struct sizing *s, struct context *ctx,
                         const char *target)
{
    const char *ranks = arguments_text(s->args, "ranks");

    if (!BOUMA_WITH_JANSSON)
        return context_fail(ctx, CALL_AT_FAULT,
                            "this %s is built without jansson, and cannot "
                            "write JSON",
                            session_program());
    if (!target)
        return context_fail(ctx, CALL_AT_FAULT,
                            "say where the sizes go: -o sizes.json");
    if (ctx->json && strcmp(target, "-") == 0)
        return context_fail(ctx, CALL_AT_FAULT,
                            "--json and -o - both want standard output");
    if (!rank_grid_parse(ranks ? ranks : "4,4,4", s->ranks))
        return context_fail(ctx, CALL_AT_FAULT,
                            "--ranks %s: is not as 1,2,4 (NZ,NY,NX: along x "
                            "comes last), numbers from 1 on",
                            ranks);
    if (rank_grid_ranks(s->ranks) > SIZE_GRID_MOST_RANKS)
        return context_fail(ctx, CALL_AT_FAULT,
                            "--ranks %s: there can be %" PRId64, ranks,
                            SIZE_GRID_MOST_RANKS);
    return DONE;
}

static int run(struct context *ctx, const struct arguments *args)
{
    const char *target = arguments_text(args, "output");
    struct sizing s = {.args = args};
    int rc = parse_request(&s, ctx, target);

    if (!rc && context_prints(ctx))
        rc = read_sizes(&s, ctx);
    rc = context_agree(ctx, rc);
    if (!rc)
        rc = write_file(&s, ctx, target);
    if (!rc && strcmp(target, "-") != 0)
        rc = tell(&s, ctx, target);
    json_decref(s.variables);
    free(s.shares);
    free(s.text);
    return rc;
}

const struct command cmd_size_grid = {
    .name = "size-grid",
    .summary = "stored bytes of each part of a step, for 'bench' and 'plan'",
    .operands = "DS [OBJECT[/VAR]...] -o OUT",
    .least = 1,
    .most = -1,
    .examples =
        "  bouma size-grid run.bouma --ranks 8,8,8 -o sizes.json\n"
        "  bouma size-grid run.bouma 'flow/*' --step 10 -o sizes.json\n"
        "  mpirun -n 512 bouma-mpi bench io /scratch/me --sizes sizes.json\n",
    .footer =
        "The domain of a grid, and the box around particles, is cut into equal "
        "blocks, one\n"
        "for each rank of the grid. A chunk's bytes are shared out by the "
        "volume that blocks\n"
        "have of it, those of particles by their number. The sums are those of "
        "'bouma info'.\n",
    .options = options,
    .run = run};
