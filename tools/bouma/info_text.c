/* info_text.c -- bouma info, for people. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "attribute_value.h"
#include "choice_names.h"
#include "format_text.h"
#include "info.h"
#include "text_table.h"

/* ---- a step -------------------------------------------------------------- */

static bouma_variable *variable_at(void *of, int i)
{
    return bouma_grid_variable(of, i);
}

static int print_grid(const struct info *info, struct context *ctx,
                      bouma_grid *grid)
{
    char shape[FORMAT_BYTES], patch[FORMAT_BYTES], origin[FORMAT_BYTES],
        spacing[FORMAT_BYTES];
    struct info_variables variables = {.at = variable_at, .of = grid};
    bouma_grid_info about = {.size = sizeof(about)};

    bouma_grid_info_get(&about, grid);
    info_variables_limit(&variables, info, about.variables);
    variables.levels = about.levels;
    variables.hz = about.layout == BOUMA_LAYOUT_HZ;
    printf("\n  %sgrid %s%s: %s samples, ", context_bold(ctx), about.name,
           context_plain(ctx), format_shape(shape, about.ndims, about.shape));
    if (about.layout == BOUMA_LAYOUT_HZ)
        printf("HZ order%s%s, blocks of %lld (%" PRId64 ")",
               *about.hz_template ? " " : "", about.hz_template,
               1LL << about.hz_block_bits, about.patches);
    else
        printf("patches %s (%" PRId64 ")",
               format_shape(patch, about.ndims, about.patch), about.patches);
    if (about.hz_partitions > 1)
        printf(", %d partitions", about.hz_partitions);
    if (about.hz_wavelet)
        printf(", wavelet in tiles of %lld", 1LL << about.hz_tile_bits);
    printf(", levels 0 to %d\n", about.levels - 1);
    printf("    origin %s; spacing %s",
           format_point(origin, about.ndims, about.origin),
           format_point(spacing, about.ndims, about.spacing));
    if (about.unit && about.unit[0]) {
        putchar(' ');
        print_clean(about.unit);
    }
    putchar('\n');
    if (about.idx)
        printf("    read by OpenVisus%s as %s/idx/%s.idx\n",
               about.ndims == 3 ? " and PIDX" : "", info->path, about.name);
    attributes_print(bouma_grid_attributes(grid), 4);
    return info_print_variables(&variables, ctx);
}

enum info_order info_order_of(bouma_step *step)
{
    int count = bouma_step_grid_count(step), hz = 0;
    bouma_grid_info about = {.size = sizeof(about)};

    for (int i = 0; i < count; i++) {
        bouma_grid_info_get(&about, bouma_step_grid(step, i));
        hz += about.layout == BOUMA_LAYOUT_HZ;
    }
    return !hz ? NO_HZ : hz == count ? ALL_HZ : SOME_HZ;
}

static void print_cost(bouma_step *step, const bouma_step_details *details)
{
    enum info_order order = info_order_of(step);
    bouma_record cost = {.size = sizeof(cost)};
    const bouma_record *record = &cost;
    char text[FORMAT_BYTES], other[FORMAT_BYTES];

    bouma_step_record_get(&cost, step);
    printf("\n  files    %" PRId64 ", largest %s, mean %s; ", record->files,
           format_bytes(text, record->largest_file),
           format_bytes(other, record->mean_file));
    printf("with the manifest %s\n",
           format_bytes(text, record->stored_bytes + details->manifest_bytes));
    printf("  chunks   %" PRId64 ", order=%s distribute=%s", record->chunks,
           choice_text(bouma_order_name(details->order)),
           choice_text(bouma_distribute_name(details->distribute)));
    if (order != ALL_HZ)
        printf(" assign=%s", choice_text(bouma_assign_name(details->assign)));
    printf(" place=%s\n", choice_text(bouma_place_name(details->place)));
    if (record->predicted)
        printf("           predicted by the last step; %s were larger\n",
               format_count(text, (uint64_t)record->misfits, "chunk"));
    printf("  ranks    %" PRId64 ", moved %s between them in %s,\n",
           record->ranks, format_bytes(text, record->moved_bytes),
           format_count(other, record->moved_messages, "message"));
    printf("           and %s to the writers in %s; %s of a rank: %" PRId64
           " at most\n",
           format_bytes(text, record->shipped_bytes),
           format_count(other, record->shipped_messages, "message"),
           order == NO_HZ    ? "patches"
           : order == ALL_HZ ? "blocks"
                             : "patches and blocks",
           record->most_patches);
    printf("  seconds  describe %.3g, plan %.3g, distribute %.3g, shape %.3g, "
           "ship %.3g,\n           store %.3g; encoding: slowest rank %.3g, "
           "mean %.3g\n",
           record->describe_seconds, record->plan_seconds,
           record->distribute_seconds, record->shape_seconds,
           record->ship_seconds, record->store_seconds, record->slowest_encode,
           record->mean_encode);
}

/* Grids, then particles; of many, the first few. */
static int print_objects(const struct info *info, struct context *ctx,
                         bouma_step *step)
{
    const int most = 4;
    int grids = bouma_step_grid_count(step);
    int count = grids + bouma_step_particles_count(step);
    int shown = info->all || count <= most ? count : most;
    int rc = DONE;

    for (int i = 0; !rc && i < shown; i++)
        rc = i < grids
                 ? print_grid(info, ctx, bouma_step_grid(step, i))
                 : info_print_particles(info, ctx, step,
                                        bouma_step_particles(step, i - grids));
    if (!rc && shown < count)
        printf("\n  ... %d more grids and sets of particles; --all shows them, "
               "bouma ls lists them\n",
               count - shown);
    return rc;
}

static int print_step(const struct info *info, struct context *ctx, int64_t i)
{
    bouma_step_details details = {.size = sizeof(details)};
    bouma_step *step;
    int rc = info_open_step(info, ctx, i, &step, &details);

    if (rc)
        return rc;
    printf("\n%sStep %" PRId64 "%s, time %g\n", context_bold(ctx), details.step,
           context_plain(ctx), details.time);
    attributes_print(bouma_step_attributes(step), 2);
    rc = print_objects(info, ctx, step);
    print_cost(step, &details);
    bouma_step_free(step);
    return rc;
}

/* ---- all steps ----------------------------------------------------------- */

static int add_step(struct text_table *table, const struct info *info,
                    struct context *ctx, int64_t i)
{
    bouma_step_details details = {.size = sizeof(details)};
    bouma_record cost = {.size = sizeof(cost)};
    const bouma_record *record = &cost;
    char text[FORMAT_BYTES];
    bouma_step *step;
    int rc = info_open_step(info, ctx, i, &step, &details);

    if (rc)
        return rc;
    bouma_step_record_get(&cost, step);
    bouma_step_free(step);
    text_table_add(table, "%" PRId64, details.step);
    text_table_add(table, "%g", details.time);
    text_table_add(table, "%s", format_bytes(text, record->raw_bytes));
    text_table_add(table, "%s", format_bytes(text, record->stored_bytes));
    text_table_add(table, "%s",
                   format_ratio(text, record->raw_bytes, record->stored_bytes));
    text_table_add(table, "%" PRId64, record->files);
    text_table_add(table, "%s", format_bytes(text, record->largest_file));
    text_table_add(table, "%.2f",
                   (double)record->largest_file /
                       (double)(record->mean_file ? record->mean_file : 1));
    return DONE;
}

static void add_blanks(struct text_table *table, int count)
{
    while (count-- > 0)
        text_table_add(table, "%s", "");
}

/* A step that cannot be opened does not hide the others. */
static void add_damaged(struct text_table *table, const struct info *info,
                        int64_t i)
{
    bouma_step_info which = {.size = sizeof(which)};

    bouma_dataset_step_get(&which, info->ds, i);
    text_table_add(table, "%" PRId64, which.step);
    text_table_add(table, "%s", info_trouble(info));
    add_blanks(table, 6);
}

/* All steps; of many, which take long to open, those at both ends. */
static int print_steps(const struct info *info, struct context *ctx)
{
    const int64_t ends = 5;
    int64_t hidden = info->last - info->first - 2 * ends;
    struct text_table table;
    int rc, worst = DONE;

    text_table_init(&table, "rrrrrrrr");
    text_table_add(&table, "STEP");
    text_table_add(&table, "TIME");
    text_table_add(&table, "RAW");
    text_table_add(&table, "STORED");
    text_table_add(&table, "RATIO");
    text_table_add(&table, "FILES");
    text_table_add(&table, "LARGEST");
    text_table_add(&table, "BALANCE");
    for (int64_t i = info->first; i < info->last; i++) {
        if (!info->all && hidden > 0 && i == info->first + ends) {
            text_table_add(&table, "...");
            text_table_add(&table, "%" PRId64 " more", hidden);
            add_blanks(&table, 6);
            i = info->last - ends;
        }
        rc = add_step(&table, info, ctx, i);
        if (rc) {
            add_damaged(&table, info, i);
            worst = rc;
        }
    }
    rc = text_table_print(&table, ctx, 2);
    text_table_release(&table);
    return rc ? rc : worst;
}

static void print_loss(void *user, const bouma_loss *loss)
{
    const struct context *ctx = user;

    if (loss->accepted)
        return;
    printf("  %slost%s: step %" PRId64, context_red(ctx), context_plain(ctx),
           loss->step);
    if (loss->files > loss->attributes)
        printf(", parts of %" PRId64 " of its files",
               loss->files - loss->attributes);
    if (loss->attributes)
        printf(", attributes, with its manifest");
    if (!loss->files && loss->is_known)
        printf(", time %g", loss->time);
    puts(loss->recorded ? "" : " (not on record: see bouma repair)");
}

int info_print_text(const struct info *info, struct context *ctx)
{
    uint64_t count = (uint64_t)bouma_dataset_step_count(info->ds);
    bouma_dataset_info about = {.size = sizeof(about)};
    char steps[FORMAT_BYTES];
    const char *note;
    int rc, shown, listed;

    bouma_dataset_info_get(&about, info->ds);
    printf("%s%s%s: %s, format %d.%d\n", context_bold(ctx), info->path,
           context_plain(ctx), format_count(steps, count, "step"),
           about.format_major, about.format_minor);
    for (int i = 0; (note = bouma_dataset_note(info->ds, i)); i++) {
        printf("  note: ");
        print_clean(note);
        putchar('\n');
    }
    rc = info_losses(info, ctx, print_loss, ctx);
    attributes_print(bouma_dataset_attributes(info->ds), 2);
    if (info->first == info->last)
        return rc;
    if (!info->one_step) {
        putchar('\n');
        listed = print_steps(info, ctx);
        rc = rc ? rc : listed;
    }
    shown = print_step(info, ctx, info->last - 1);
    return rc ? rc : shown;
}
