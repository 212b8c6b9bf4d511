/* info_variables.c -- bouma info: tables of the variables of a grid or of a set
 * of particles. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "attribute_value.h"
#include "choice_names.h"
#include "format_text.h"
#include "info.h"
#include "text_table.h"

static void add_blanks(struct text_table *table, int count)
{
    while (count-- > 0)
        text_table_add(table, "%s", "");
}

/* Two cells: the range of a component, and how many NaN are not in it. */
static void add_range(struct text_table *table, const bouma_variable *variable,
                      int component)
{
    char low[FORMAT_BYTES], high[FORMAT_BYTES];
    bouma_range range;

    if (bouma_variable_range(&range, variable, component)) {
        add_blanks(table, 2);
        return;
    }
    if (range.empty)
        text_table_add(table, "-");
    else
        text_table_add(table, "%s to %s", format_value(low, range.exact_low),
                       format_value(high, range.exact_high));
    text_table_add(table, "%" PRIu64, range.nans);
}

/* Whether the coarse levels have averages where others have samples. */
static bool has_averages(const bouma_variable_info *about)
{
    return about->present && about->averages;
}

/* A row for the variable; of several components, one more for each. */
static void add_variable(struct text_table *table,
                         const struct info_variables *variables, int i)
{
    const bouma_variable *variable = variables->at(variables->of, i);
    bouma_variable_info about = {.size = sizeof(about)};
    char text[FORMAT_BYTES];

    bouma_variable_info_get(&about, variable);
    text_table_add(table, "%s", about.name);
    text_table_add(table, "%s", bouma_type_name(about.type));
    if (!about.present) {
        text_table_add(table, "absent");
        add_blanks(table, 6);
        return;
    }
    text_table_add(table, "%s%s", choice_text(bouma_codec_name(about.codec)),
                   has_averages(&about) ? "*" : "");
    text_table_add(table, "%s", format_bytes(text, about.raw_bytes));
    text_table_add(table, "%s", format_bytes(text, about.stored_bytes));
    text_table_add(table, "%s",
                   format_ratio(text, about.raw_bytes, about.stored_bytes));
    if (about.components == 1)
        add_range(table, variable, 0);
    else
        add_blanks(table, 2);
    text_table_add(table, "%s", about.unit ? about.unit : "");
    for (int c = 0; about.components > 1 && c < about.components; c++) {
        text_table_add(table, "  [%d]", c);
        add_blanks(table, 5);
        add_range(table, variable, c);
        add_blanks(table, 1);
    }
}

static int print_table(const struct info_variables *variables,
                       struct context *ctx)
{
    struct text_table table;
    int rc;

    text_table_init(&table, "lllrrrlrl");
    text_table_add(&table, "VARIABLE");
    text_table_add(&table, "TYPE");
    text_table_add(&table, "CODEC");
    text_table_add(&table, "RAW");
    text_table_add(&table, "STORED");
    text_table_add(&table, "RATIO");
    text_table_add(&table, "RANGE");
    text_table_add(&table, "NAN");
    text_table_add(&table, "UNIT");
    for (int i = 0; i < variables->count; i++)
        add_variable(&table, variables, i);
    rc = text_table_print(&table, ctx, 4);
    text_table_release(&table);
    return rc;
}

/* What the mark in the table means. */
static void print_mark(const struct info_variables *variables)
{
    bool marked = false;

    for (int i = 0; i < variables->count; i++) {
        bouma_variable_info about = {.size = sizeof(about)};

        bouma_variable_info_get(&about, variables->at(variables->of, i));
        marked = marked || has_averages(&about);
    }
    if (marked)
        printf("    * coarse levels are averages; the tolerance holds at level "
               "0 only\n");
}

/* Bytes of each level: what is read in all, up to a level, is their sum from
 * the left. */
static int print_levels(const struct info_variables *variables,
                        struct context *ctx)
{
    char columns[66] = "l", text[FORMAT_BYTES];
    struct text_table table;
    int rc, levels = variables->levels;

    if (levels < 2 || levels > 64 || variables->hz)
        return DONE;
    for (int k = 0; k < levels; k++)
        columns[k + 1] = 'r';
    text_table_init(&table, columns);
    text_table_add(&table, "BYTES OF LEVEL");
    for (int k = levels - 1; k >= 0; k--)
        text_table_add(&table, "%d", k);
    for (int i = 0; i < variables->count; i++) {
        const bouma_variable *variable = variables->at(variables->of, i);
        bouma_variable_info of = {.size = sizeof(of)};

        bouma_variable_info_get(&of, variable);
        if (!of.present)
            continue;
        text_table_add(&table, "%s", of.name);
        for (int k = levels - 1; k >= 0; k--)
            text_table_add(
                &table, "%s",
                format_bytes(text, bouma_variable_level_bytes(variable, k)));
    }
    putchar('\n');
    rc = text_table_print(&table, ctx, 4);
    text_table_release(&table);
    return rc;
}

/* What was allowed and what became of it, of variables with a tolerance. */
static int print_errors(const struct info_variables *variables,
                        struct context *ctx)
{
    struct text_table table;
    int rc = DONE, lossy = 0;

    text_table_init(&table, "lrrrr");
    text_table_add(&table, "ERRORS");
    text_table_add(&table, "TOLERANCE");
    text_table_add(&table, "ALLOWED");
    text_table_add(&table, "LARGEST");
    text_table_add(&table, "PSNR");
    for (int i = 0; i < variables->count; i++) {
        bouma_variable_info about = {.size = sizeof(about)};

        bouma_variable_info_get(&about, variables->at(variables->of, i));
        if (!(about.tolerance > 0) || !about.present)
            continue;
        lossy++;
        text_table_add(&table, "%s", about.name);
        text_table_add(&table, "%g%s%s", about.tolerance,
                       about.tolerance_kind == BOUMA_TOLERANCE_RELATIVE
                           ? " of the range"
                           : "",
                       about.nominal ? ", nominal" : "");
        text_table_add(&table, "%.4g", about.bound);
        if (isinf(about.largest_error)) /* nominal: nobody has measured it */
            text_table_add(&table, "unknown");
        else
            text_table_add(&table, "%.4g", about.largest_error);
        if (isnan(about.psnr))
            text_table_add(&table, "unknown");
        else if (isinf(about.psnr))
            text_table_add(&table, "exact");
        else
            text_table_add(&table, "%.1f dB", about.psnr);
    }
    if (lossy) {
        putchar('\n');
        rc = text_table_print(&table, ctx, 4);
    }
    text_table_release(&table);
    return rc;
}

static void print_attributes(const struct info_variables *variables)
{
    for (int i = 0; i < variables->count; i++) {
        bouma_variable *variable = variables->at(variables->of, i);
        const bouma_attributes *attributes =
            bouma_variable_attributes(variable);
        bouma_variable_info about = {.size = sizeof(about)};

        if (bouma_attributes_count(attributes) == 0)
            continue;
        bouma_variable_info_get(&about, variable);
        printf("    %s\n", about.name);
        attributes_print(attributes, 6);
    }
}

void info_variables_limit(struct info_variables *variables,
                          const struct info *info, int count)
{
    const int most = 10;

    variables->count = info->all || count <= most ? count : most;
    variables->hidden = count - variables->count;
}

int info_print_variables(const struct info_variables *variables,
                         struct context *ctx)
{
    int rc = print_table(variables, ctx);

    if (!rc && variables->hidden)
        printf("    ... %d more; --all shows them\n", variables->hidden);
    if (!rc)
        print_mark(variables);
    if (!rc)
        rc = print_levels(variables, ctx);
    if (!rc)
        rc = print_errors(variables, ctx);
    print_attributes(variables);
    return rc;
}
