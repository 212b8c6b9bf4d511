/* cmd_ls.c -- bouma ls: the names of what is in a dataset. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "arguments.h"
#include "choice_names.h"
#include "dataset_steps.h"
#include "end_reading.h"
#include "format_text.h"
#include "print_json.h"
#include "sized.h"
#include "step_entries.h"
#include "text_table.h"

static const struct option_spec options[] = {
    {.name = "long",
     .letter = 'l',
     .help = "also kinds, types, shapes or counts, codecs and sizes"},
    {.name = "step",
     .argument = "S",
     .help = "N, -N (counted from the end), last, all or FIRST:END[:EACH]; "
             "default: last"},
    {0}};

/* What is listed, and where it goes. */
struct listing {
    bouma_dataset *ds;
    const struct arguments *args;
    bool details; /* -l */
    bool several; /* steps, so that each line has its number */
    struct text_table table;
    json_t *entries;
};

/* ---- one variable -------------------------------------------------------- */

/* "64 x 64" samples, or the number of particles; times components. */
static void add_extent(struct text_table *table, const struct entry *entry)
{
    char text[FORMAT_BYTES], times[32] = "";
    bouma_particles_info set;
    bouma_grid_info grid;

    if (entry->about.components > 1)
        snprintf(times, sizeof(times), " [%d]", entry->about.components);
    if (entry->grid) {
        bouma_grid_info_get(SIZED(&grid), entry->grid);
        text_table_add(table, "%s%s",
                       format_shape(text, grid.ndims, grid.shape), times);
    } else {
        bouma_particles_info_get(SIZED(&set), entry->particles);
        text_table_add(table, "%" PRIu64 "%s", set.count, times);
    }
}

static void add_row(struct listing *listing, const struct entry *entry,
                    int64_t step)
{
    struct text_table *table = &listing->table;
    const bouma_variable_info *about = &entry->about;
    char text[FORMAT_BYTES];

    if (listing->several)
        text_table_add(table, "%" PRId64, step);
    text_table_add(table, "%s", entry_kind(entry));
    text_table_add(table, "%s", bouma_type_name(about->type));
    add_extent(table, entry);
    text_table_add(table, "%s",
                   about->present ? choice_text(bouma_codec_name(about->codec))
                                  : "absent");
    text_table_add(table, "%s", format_bytes(text, about->raw_bytes));
    text_table_add(table, "%s", format_bytes(text, about->stored_bytes));
    text_table_add(table, "%s",
                   format_ratio(text, about->raw_bytes, about->stored_bytes));
    text_table_add(table, "%s/%s", entry->object, about->name);
}

static void print_name(const struct listing *listing, const struct entry *entry,
                       int64_t step)
{
    if (listing->several)
        printf("%" PRId64 " ", step);
    print_clean(entry->object);
    putchar('/');
    print_clean(entry->about.name);
    putchar('\n');
}

static void add_element(struct listing *listing, const struct entry *entry,
                        int64_t step)
{
    const bouma_variable_info *about = &entry->about;
    json_t *element = json_object();
    bouma_particles_info set;
    bouma_grid_info grid;

    json_put(element, "step", json_integer(step));
    json_put(element, "object", json_text(entry->object));
    json_put(element, "kind", json_text(entry_kind(entry)));
    json_put(element, "variable", json_text(about->name));
    json_put(element, "type", json_text(bouma_type_name(about->type)));
    json_put(element, "components", json_integer(about->components));
    json_put(element, "present", json_boolean(about->present));
    if (entry->grid) {
        bouma_grid_info_get(SIZED(&grid), entry->grid);
        json_put(element, "shape", json_integers(grid.shape, grid.ndims));
    } else {
        bouma_particles_info_get(SIZED(&set), entry->particles);
        json_put(element, "count", json_count(set.count));
    }
    json_put(element, "codec",
             json_text(choice_text(bouma_codec_name(about->codec))));
    json_put(element, "raw_bytes", json_count(about->raw_bytes));
    json_put(element, "stored_bytes", json_count(about->stored_bytes));
    json_array_append_new(listing->entries, element);
}

/* ---- all of them --------------------------------------------------------- */

/* *found counts the variables. */
static int list_step(struct listing *listing, struct context *ctx, int64_t step,
                     uint64_t *found)
{
    struct entry_cursor cursor = {.patterns = listing->args->operands + 1,
                                  .pattern_count =
                                      listing->args->operand_count - 1};
    int status = bouma_step_open(&cursor.step, listing->ds, step);
    struct entry entry;
    int rc = DONE;

    if (status)
        rc = context_fail_status(ctx, status, bouma_error_message(listing->ds));
    if (!rc && !listing->several)
        rc = entry_check_patterns(ctx, cursor, step);
    for (; !rc && entry_next(&entry, &cursor); (*found)++)
        if (ctx->json)
            add_element(listing, &entry, step);
        else if (listing->details)
            add_row(listing, &entry, step);
        else
            print_name(listing, &entry, step);
    bouma_step_free(cursor.step);
    return rc;
}

static void begin(struct listing *listing, const struct context *ctx)
{
    static const char *const heads[] = {"STEP",   "KIND",  "TYPE",
                                        "SIZE",   "CODEC", "RAW",
                                        "STORED", "RATIO", "NAME"};

    if (ctx->json)
        listing->entries = json_array();
    text_table_init(&listing->table,
                    listing->several ? "rllllrrrl" : "llllrrrl");
    for (int i = listing->several ? 0 : 1; listing->details && i < 9; i++)
        text_table_add(&listing->table, "%s", heads[i]);
}

static int end(struct listing *listing, struct context *ctx, int rc)
{
    json_t *root;

    if (!rc && ctx->json) {
        root = json_object();
        json_put(root, "dataset", json_text(listing->args->operands[0]));
        json_put(root, "entries", json_incref(listing->entries));
        rc = print_json(ctx, root);
    } else if (!rc && listing->details) {
        rc = text_table_print(&listing->table, ctx, 0);
    }
    json_decref(listing->entries);
    text_table_release(&listing->table);
    return rc;
}

static int list_steps(struct listing *listing, struct context *ctx)
{
    const char *text = arguments_text(listing->args, "step");
    struct dataset_choice choice = {.ds = listing->ds,
                                    .path = listing->args->operands[0],
                                    .text = text ? text : "last"};
    int64_t *steps = NULL;
    uint64_t found = 0;
    size_t count = 0;
    int rc = dataset_steps(&steps, &count, ctx, &choice);

    if (rc)
        return rc;
    listing->several = count > 1;
    begin(listing, ctx);
    for (size_t i = 0; !rc && i < count; i++)
        rc = list_step(listing, ctx, steps[i], &found);
    free(steps);
    if (!rc && !found && listing->args->operand_count > 1)
        rc = context_fail_missing(ctx, "there is no '%s' in these steps",
                                  listing->args->operands[1]);
    return end(listing, ctx, rc);
}

static int run(struct context *ctx, const struct arguments *args)
{
    struct listing listing = {.args = args,
                              .details = arguments_has(args, "long")};
    int status, rc;

    if (!context_prints(ctx)) /* there is nothing to do for the others */
        return DONE;
    status = bouma_dataset_open(&listing.ds, args->operands[0], NULL);
    rc = status
             ? context_fail_status(ctx, status, bouma_error_message(listing.ds))
             : list_steps(&listing, ctx);
    end_reading_alone(ctx, listing.ds);
    return rc;
}

const struct command cmd_ls = {
    .name = "ls",
    .summary = "list the variables in a dataset",
    .operands = "[-l] DS [PATTERN]",
    .least = 1,
    .most = 2,
    .examples = "  bouma ls run.bouma\n"
                "  bouma ls -l run.bouma 'flow/v*'\n"
                "  bouma ls run.bouma dust --step all\n"
                "  bouma ls run.bouma --json | jq -r '.entries[].variable'\n",
    .footer = "PATTERN is OBJECT or OBJECT/VAR, with *, ? and [...] as in a "
              "shell. If it matches\n"
              "nothing, the exit status is 2.\n",
    .options = options,
    .run = run};
