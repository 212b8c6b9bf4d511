/* importer_idx.c -- IDX datasets of OpenVisus and PIDX: a header, which lists
 * fields and timesteps, and files with blocks of samples. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "idx_dataset.h"
#include "importer.h"
#include "read_idx_block.h"
#include "suggest.h"

/* What 'series->state' is. */
struct state {
    struct idx_dataset dataset;
    size_t *fields; /* of each source */
    bool fill;      /* go on though samples are lost */
};

/* ---- opening ------------------------------------------------------------- */

/* What the header says already. */
static int refuse_options(const struct grid_series *series, struct context *ctx,
                          const struct arguments *args)
{
    static const char *const said[] = {"shape", "type", "components"};

    for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++)
        if (arguments_has(args, said[i]))
            return context_fail(ctx, CALL_AT_FAULT,
                                "%s: has its own; leave out --%s",
                                series->file.path, said[i]);
    return DONE;
}

static int no_field(const struct state *state, struct context *ctx,
                    const char *name)
{
    const struct idx_header *header = &state->dataset.header;
    char list[NAME_LIST_BYTES];
    struct name_list names = {.near = {.word = name}};

    for (size_t i = 0; i < header->field_count; i++)
        name_list_add(&names, header->fields[i].name, NULL);
    return context_fail_missing(ctx, "--var %s: %s has no such field%s", name,
                                state->dataset.path,
                                name_list_text(list, &names));
}

/* The fields that --var names, in that order, or all. */
static int choose_fields(struct state *state, struct context *ctx,
                         const struct arguments *args, int *count)
{
    const struct idx_header *header = &state->dataset.header;
    int vars = arguments_count(args, "var");

    *count = vars ? vars : (int)header->field_count;
    state->fields = calloc((size_t)*count, sizeof(*state->fields));
    if (!state->fields)
        return context_fail_memory(ctx);
    for (int i = 0; i < *count; i++) {
        const char *name = arguments_nth(args, "var", i);
        size_t field = name ? 0 : (size_t)i;

        while (name && field < header->field_count &&
               strcmp(header->fields[field].name, name) != 0)
            field++;
        if (field == header->field_count)
            return no_field(state, ctx, name);
        for (int k = 0; k < i; k++)
            if (state->fields[k] == field)
                return context_fail(ctx, CALL_AT_FAULT,
                                    "--var %s is given twice", name);
        state->fields[i] = field;
    }
    return DONE;
}

static bool machine_is_big(void)
{
    const uint16_t one = 1;

    return *(const uint8_t *)&one == 0;
}

/* a * b, at most UINT64_MAX. */
static uint64_t times(uint64_t a, uint64_t b)
{
    return b && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

/* The part of the process that has most, and a block. */
static uint64_t memory_of(const struct idx_header *header, size_t field,
                          const struct source *source, int processes)
{
    uint64_t layers = ((uint64_t)source->shape[0] + (uint64_t)processes - 1) /
                      (uint64_t)processes;
    uint64_t bytes = times(layers, header->fields[field].sample_bytes);
    uint64_t block = idx_block_memory(header, field);

    for (int i = 1; i < source->ndims; i++)
        bytes = times(bytes, (uint64_t)source->shape[i]);
    return bytes > UINT64_MAX - block ? UINT64_MAX : bytes + block;
}

/* Versions 1 and 2 have f32 in big-endian order, whatever they were written on.
 */
static void set_source(struct source *out, const struct state *state,
                       size_t field, const struct context *ctx)
{
    const struct idx_header *header = &state->dataset.header;
    const struct idx_field *of = &header->fields[field];
    int lifted = 3 - header->ndims;
    bool big = header->big_endian ||
               (header->version <= 2 && of->type == BOUMA_TYPE_F32);

    *out = (struct source){.path = state->dataset.path,
                           .name = of->name,
                           .type = of->type,
                           .ndims = header->ndims,
                           .components = of->components,
                           .swapped = big != machine_is_big()};
    for (int i = 0; i < header->ndims; i++)
        out->shape[i] = header->box.hi[i + lifted] - header->box.lo[i + lifted];
    source_set_strides(out, false);
    out->held = memory_of(header, field, out, session_size(ctx->session));
}

/* A step of its own for each timestep needs names that tell them apart. */
static int choose_steps(struct grid_series *series, struct context *ctx,
                        const struct arguments *args)
{
    const struct state *state = series->state;
    const struct idx_header *header = &state->dataset.header;
    struct step_list list = {.path = series->file.path,
                             .ranges = header->steps,
                             .count = header->step_count};
    int rc = step_choice(&series->steps, &series->step_count, ctx, &list,
                         arguments_text(args, "step"));

    if (!rc && series->step_count > 1 && !idx_names_have_time(header))
        rc = context_fail(ctx, DATA_AT_FAULT,
                          "%s: has %zu timesteps, but their file names are the "
                          "same; choose one by --step N",
                          series->file.path, series->step_count);
    if (!rc && series->step_count > 1 && arguments_has(args, "time"))
        rc = context_fail(ctx, CALL_AT_FAULT,
                          "--time is for one timestep, and there are %zu",
                          series->step_count);
    return rc;
}

static int check_units(const struct grid_series *series, struct context *ctx,
                       const struct arguments *args)
{
    int units = arguments_count(args, "unit");

    if (units <= 1 || units == series->source_count)
        return DONE;
    return context_fail(ctx, CALL_AT_FAULT,
                        "%d --unit for %d fields: give one, or one for each",
                        units, series->source_count);
}

/* Our grids begin at 0, and templates reach no further than they must. */
static void tell_order(const struct idx_header *header,
                       struct grid_series *series)
{
    const struct idx_order *order = &header->order;

    for (int d = 0; d < 3; d++) {
        int splits = order->left[0][d];

        if (order->full || header->box.lo[d] || splits > 40 ||
            header->box.hi[d] > (int64_t)1 << splits ||
            (splits && header->box.hi[d] <= (int64_t)1 << (splits - 1)))
            return;
    }
    if (!order->bits || order->block_bits < 1 || order->block_bits > 30 ||
        header->blocks_per_file < 1 || header->blocks_per_file > INT32_MAX)
        return;
    for (int i = 0; i < order->bits; i++)
        series->hz_template[i] = "zyx"[order->axis[i]];
    series->hz_block_bits = order->block_bits;
    series->hz_blocks_per_file = (int)header->blocks_per_file;
}

static void tell_positions(const struct idx_header *header,
                           const struct context *ctx, const char *path)
{
    if (header->flat)
        context_note(ctx,
                     "%s: its physic_box has no extent along some axis; "
                     "indices serve as positions there",
                     path);
    if (header->matrix_count)
        context_note(
            ctx,
            "%s: its logic_to_physic turns axes, which a grid cannot have; it "
            "is kept as an attribute, and indices serve as positions",
            path);
}

static int open_idx(struct grid_series *series, struct context *ctx,
                    const struct arguments *args)
{
    struct state *state = series->state = calloc(1, sizeof(*state));
    struct idx_message message;
    int rc = refuse_options(series, ctx, args), lifted;

    if (!state)
        return context_fail_memory(ctx);
    if (rc)
        return rc;
    state->fill = arguments_has(args, "fill-missing");
    state->dataset.path = series->file.path;
    if (!idx_parse(&state->dataset.header, series->file.bytes,
                   series->file.size, &message))
        return context_fail(ctx, DATA_AT_FAULT, "%s: %s", series->file.path,
                            message.text);
    rc = choose_fields(state, ctx, args, &series->source_count);
    if (!rc)
        rc = choose_steps(series, ctx, args);
    if (!rc)
        rc = check_units(series, ctx, args);
    if (rc)
        return rc;
    series->sources =
        calloc((size_t)series->source_count, sizeof(*series->sources));
    if (!series->sources)
        return context_fail_memory(ctx);
    for (int i = 0; i < series->source_count; i++)
        set_source(&series->sources[i], state, state->fields[i], ctx);
    lifted = 3 - state->dataset.header.ndims;
    for (int i = 0; i < state->dataset.header.ndims; i++) {
        series->origin[i] = state->dataset.header.origin[i + lifted];
        series->spacing[i] = state->dataset.header.spacing[i + lifted];
    }
    tell_order(&state->dataset.header, series);
    tell_positions(&state->dataset.header, ctx, series->file.path);
    return DONE;
}

static void close_idx(struct grid_series *series)
{
    struct state *state = series->state;

    for (int i = 0; series->sources && i < series->source_count; i++)
        free(series->sources[i].data);
    if (state) {
        idx_release(&state->dataset.header);
        free(state->fields);
    }
    free(state);
}

/* ---- samples ------------------------------------------------------------- */

/* The part of a source that is this process's; false if it has none. */
static bool part_of(struct idx_part *out, const struct grid_series *series,
                    const struct context *ctx, int i, int64_t step)
{
    const struct state *state = series->state;
    const struct idx_header *header = &state->dataset.header;
    int lifted = 3 - header->ndims;
    int64_t first, last;

    source_part(&series->sources[i], ctx, &first, &last);
    *out = (struct idx_part){state->fields[i], step, header->box};
    out->box.lo[lifted] = header->box.lo[lifted] + first;
    out->box.hi[lifted] = header->box.lo[lifted] + last;
    return first < last;
}

/* Samples that cannot be read are an error, whichever process should have had
 * them, unless they are to be filled. Collective. */
static int judge(const struct state *state, struct context *ctx,
                 const struct idx_tally *tally)
{
    uint64_t samples = session_sum(ctx->session, tally->samples);
    uint64_t lost = session_sum(ctx->session, tally->lost);
    uint64_t stopped = session_sum(ctx->session, tally->stopped);
    int rc = DONE;

    if (tally->lost && !state->fill)
        rc =
            context_fail(ctx, DATA_AT_FAULT,
                         "%s; %s%llu of %llu samples cannot be read; "
                         "--fill-missing uses default values for them",
                         tally->first, stopped ? "at least " : "",
                         (unsigned long long)lost, (unsigned long long)samples);
    return context_agree(ctx, rc);
}

/* In one line, whatever the number of files and processes. Collective. */
static void tell_holes(const struct grid_series *series, struct context *ctx,
                       uint64_t holes, uint64_t samples, const char *why)
{
    holes = session_sum(ctx->session, holes);
    samples = session_sum(ctx->session, samples);
    if (holes)
        context_note(ctx,
                     "%s: %llu of %llu samples %s; they have the field's "
                     "default value",
                     series->file.path, (unsigned long long)holes,
                     (unsigned long long)samples, why);
}

/* Nothing is written if it is known before that something is missing. */
static int check_idx(struct grid_series *series, struct context *ctx)
{
    const struct state *state = series->state;
    struct idx_tally tally = {.fill = state->fill};
    struct idx_part part;
    int rc;

    for (size_t s = 0; s < series->step_count; s++)
        for (int i = 0; i < series->source_count; i++)
            if (part_of(&part, series, ctx, i, series->steps[s]) &&
                !tally.stopped)
                idx_dataset_survey(&state->dataset, &part, &tally);
    rc = judge(state, ctx, &tally);
    if (!rc)
        tell_holes(series, ctx, tally.absent, tally.samples,
                   "were never written");
    return rc;
}

static int load_source(struct grid_series *series, struct context *ctx, int i,
                       size_t step, struct idx_tally *tally)
{
    const struct state *state = series->state;
    struct source *source = &series->sources[i];
    struct idx_part part;
    int64_t first, last;

    if (!part_of(&part, series, ctx, i, series->steps[step]))
        return DONE;
    source_part(source, ctx, &first, &last);
    source->from = first;
    if (!source->data)
        source->data = malloc((size_t)((last - first) * source->stride[0]));
    return source->data ? idx_dataset_load(&state->dataset, ctx, &part,
                                           source->data, tally)
                        : context_fail_memory(ctx);
}

static int load_idx(struct grid_series *series, struct context *ctx,
                    size_t step)
{
    const struct state *state = series->state;
    struct idx_tally tally = {.fill = state->fill};
    char why[64];
    int rc = DONE;

    for (int i = 0; !rc && i < series->source_count; i++)
        rc = load_source(series, ctx, i, step, &tally);
    rc = context_agree(ctx, rc);
    if (!rc)
        rc = judge(state, ctx, &tally);
    snprintf(why, sizeof(why), "of timestep %lld cannot be read",
             (long long)series->steps[step]);
    if (!rc)
        tell_holes(series, ctx, tally.lost, tally.samples, why);
    return rc;
}

/* Samples have absolute coordinates in IDX: where those of the grid begin. */
static int describe_idx(const struct grid_series *series, bouma_grid *grid)
{
    const struct state *state = series->state;
    const struct idx_header *header = &state->dataset.header;
    bouma_attributes *to = bouma_grid_attributes(grid);
    int status = bouma_attributes_set(to, "idx_offset", BOUMA_TYPE_I64,
                                      (size_t)header->ndims,
                                      header->box.lo + (3 - header->ndims));

    if (!status && header->matrix_count)
        status =
            bouma_attributes_set(to, "logic_to_physic", BOUMA_TYPE_F64,
                                 (size_t)header->matrix_count, header->matrix);
    return status;
}

const struct importer import_idx = {
    .name = ".idx",
    .suffixes = ".idx",
    .grids = "an IDX dataset of OpenVisus or PIDX: its fields are variables, "
             "its timesteps steps",
    .open_series = open_idx,
    .close_series = close_idx,
    .check_series = check_idx,
    .load_series = load_idx,
    .describe_series = describe_idx};
