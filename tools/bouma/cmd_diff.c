/* cmd_diff.c -- bouma diff: what two datasets, or two steps, differ in. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arguments.h"
#include "attribute_sets.h"
#include "compare_steps.h"
#include "dataset_steps.h"
#include "format_text.h"
#include "print_json.h"
#include "progress_bar.h"

static const struct option_spec options[] = {
    {.name = "tolerance",
     .argument = "E",
     .help = "values that differ by at most E count as equal; default: 0"},
    {.name = "step",
     .argument = "S",
     .help = "steps of A, N, -N (counted from the end), last, all or "
             "FIRST:END[:EACH]; default: all"},
    {.name = "step-b",
     .argument = "S",
     .help = "steps of B, as many; default: those with the numbers of A's"},
    {0}};

/* A or B. */
struct side {
    char *path;
    const char *steps; /* the text that chooses them; NULL: none */
    bouma_dataset *ds;
    int64_t *list;
    size_t count;
};

struct diff {
    struct side a, b;
    struct comparison comparison;
    struct context *ctx;
    struct progress_bar bar;
    json_t *differences;
};

/* ---- what is printed ----------------------------------------------------- */

static void print_values(const struct difference *found, double tolerance)
{
    char a[FORMAT_BYTES], b[FORMAT_BYTES];

    printf("%" PRIu64 " of %" PRIu64 " values differ", found->count,
           found->total);
    if (tolerance > 0)
        printf(" by more than %g", tolerance);
    printf(", at most by %.9g: %s in A, %s in B", found->largest,
           format_value(a, found->a), format_value(b, found->b));
    if (found->particles && found->ndims)
        printf(", of the particle at %s",
               format_point(a, found->ndims, found->position));
    for (int i = 0; !found->particles && i < found->ndims; i++)
        printf("%s%" PRId64, i ? ", " : ", at [", found->index[i]);
    if (!found->particles && found->ndims)
        putchar(']');
    if (found->components > 1)
        printf(", component %d", found->component);
    putchar('\n');
}

static void print_difference(const struct diff *diff,
                             const struct difference *found)
{
    if (found->step_a >= 0 && found->step_a == found->step_b)
        printf("step %" PRId64 ": ", found->step_a);
    else if (found->step_a >= 0)
        printf("steps %" PRId64 " and %" PRId64 ": ", found->step_a,
               found->step_b);
    if (found->object)
        print_clean(found->object);
    if (found->variable) {
        putchar('/');
        print_clean(found->variable);
    }
    if (found->object)
        printf(": ");
    if (found->text) {
        print_clean(found->text);
        putchar('\n');
    } else {
        print_values(found, diff->comparison.tolerance);
    }
}

static json_t *text_or_null(const char *text)
{
    return text ? json_text(text) : json_null();
}

static void add_difference(json_t *list, const struct difference *found)
{
    json_t *element = json_object();

    json_put(element, "step_a",
             found->step_a < 0 ? json_null() : json_integer(found->step_a));
    json_put(element, "step_b",
             found->step_b < 0 ? json_null() : json_integer(found->step_b));
    json_put(element, "object", text_or_null(found->object));
    json_put(element, "variable", text_or_null(found->variable));
    json_put(element, "text", text_or_null(found->text));
    if (!found->text) {
        json_put(element, "count", json_count(found->count));
        json_put(element, "total", json_count(found->total));
        json_put(element, "largest", json_number(found->largest));
        json_put(element, "a", json_value(found->a));
        json_put(element, "b", json_value(found->b));
        json_put(element, "component", json_integer(found->component));
        if (found->particles)
            json_put(element, "position",
                     json_numbers(found->position, found->ndims));
        else
            json_put(element, "index",
                     json_integers(found->index, found->ndims));
    }
    json_array_append_new(list, element);
}

static void tell(void *user, const struct difference *found)
{
    struct diff *diff = user;

    if (diff->ctx->json) {
        add_difference(diff->differences, found);
    } else {
        progress_bar_clear(&diff->bar);
        print_difference(diff, found);
    }
}

static int print_end(const struct diff *diff)
{
    const struct comparison *all = &diff->comparison;
    char steps[FORMAT_BYTES], variables[FORMAT_BYTES], values[FORMAT_BYTES];
    json_t *root;

    if (!diff->ctx->json) {
        if (all->differences)
            return DONE;
        printf("equal: %s, %s, %s", format_count(steps, all->steps, "step"),
               format_count(variables, all->variables, "variable"),
               format_count(values, all->values, "value"));
        if (all->largest > 0)
            printf("; the largest difference is %.9g", all->largest);
        putchar('\n');
        return DONE;
    }
    root = json_object();
    json_put(root, "a", json_text(diff->a.path));
    json_put(root, "b", json_text(diff->b.path));
    json_put(root, "equal", json_boolean(all->differences == 0));
    json_put(root, "tolerance", json_number(all->tolerance));
    json_put(root, "steps", json_count(all->steps));
    json_put(root, "variables", json_count(all->variables));
    json_put(root, "values", json_count(all->values));
    json_put(root, "largest", json_number(all->largest));
    json_put(root, "differences", json_incref(diff->differences));
    return print_json(diff->ctx, root);
}

/* ---- which steps --------------------------------------------------------- */

/* DS, or DS@STEPS unless something has that very name. */
static int read_operand(struct side *side, struct context *ctx,
                        const char *text)
{
    char *at;

    side->path = strdup(text);
    if (!side->path)
        return context_fail_memory(ctx);
    at = strrchr(side->path, '@');
    if (at && at != side->path && access(text, F_OK) != 0) {
        *at = '\0';
        side->steps = at + 1;
    }
    return DONE;
}

static int read_steps(struct side *side, struct context *ctx,
                      const struct arguments *args, const char *option)
{
    const char *text = arguments_text(args, option);

    if (text && side->steps)
        return context_fail(ctx, CALL_AT_FAULT,
                            "%s@%s and --%s: give one of them", side->path,
                            side->steps, option);
    if (text)
        side->steps = text;
    return DONE;
}

static int read_sides(struct diff *diff, struct context *ctx,
                      const struct arguments *args)
{
    int rc = read_operand(&diff->a, ctx, args->operands[0]);

    if (!rc)
        rc = args->operand_count > 1
                 ? read_operand(&diff->b, ctx, args->operands[1])
                 : read_operand(&diff->b, ctx, diff->a.path);
    if (!rc)
        rc = read_steps(&diff->a, ctx, args, "step");
    if (!rc)
        rc = read_steps(&diff->b, ctx, args, "step-b");
    if (!rc && args->operand_count == 1 && (!diff->a.steps || !diff->b.steps))
        rc = context_fail(ctx, CALL_AT_FAULT,
                          "say what to compare %s with: another dataset, or "
                          "two of its steps by --step N and --step-b M",
                          diff->a.path);
    return rc;
}

static int open_side(struct side *side, struct context *ctx,
                     const bouma_options *opts)
{
    struct dataset_choice choice = {.path = side->path, .text = side->steps};
    int status = bouma_dataset_open(&side->ds, side->path, opts);

    if (status)
        return context_fail_status(ctx, status, bouma_error_message(side->ds));
    choice.ds = side->ds;
    return dataset_steps(&side->list, &side->count, ctx, &choice);
}

static bool has_step(const bouma_dataset *ds, int64_t number)
{
    bouma_step_info next = {.size = sizeof(next)};

    return !bouma_dataset_next_step(&next, ds, number - 1) &&
           next.step == number;
}

/* ---- comparing ----------------------------------------------------------- */

static void tell_missing(struct diff *diff, int64_t step, const char *where)
{
    struct difference found = {.step_a = step, .step_b = step};
    char text[32];

    snprintf(text, sizeof(text), "only in %s", where);
    found.text = text;
    comparison_tell(&diff->comparison, &found);
}

/* The steps of 'list', by their numbers, in both. */
static int compare_numbers(struct diff *diff, struct context *ctx,
                           const struct side *list)
{
    int rc = DONE;

    diff->comparison.numbers_match = true;
    for (size_t i = 0; !rc && i < list->count; i++) {
        int64_t step = list->list[i];

        progress_bar_piece(&diff->bar, (int64_t)i, (int64_t)list->count);
        if (!has_step(diff->a.ds, step))
            tell_missing(diff, step, "B");
        else if (!has_step(diff->b.ds, step))
            tell_missing(diff, step, "A");
        else
            rc = compare_steps(&diff->comparison, ctx, step, step);
    }
    return rc;
}

static int compare_pairs(struct diff *diff, struct context *ctx)
{
    int rc = DONE;

    if (diff->a.count != diff->b.count)
        return context_fail(ctx, CALL_AT_FAULT,
                            "%zu steps of A cannot be compared with %zu of B; "
                            "choose as many",
                            diff->a.count, diff->b.count);
    for (size_t i = 0; !rc && i < diff->a.count; i++) {
        progress_bar_piece(&diff->bar, (int64_t)i, (int64_t)diff->a.count);
        rc = compare_steps(&diff->comparison, ctx, diff->a.list[i],
                           diff->b.list[i]);
    }
    return rc;
}

/* All of both: attributes of the datasets, the steps of A, and those that only
 * B has. */
static int compare_all(struct diff *diff, struct context *ctx)
{
    const char *name = attributes_differ(bouma_dataset_attributes(diff->a.ds),
                                         bouma_dataset_attributes(diff->b.ds));
    struct difference found = {.step_a = -1, .step_b = -1};
    char text[512];
    int rc;

    if (name) {
        snprintf(text, sizeof(text),
                 "the attribute '%s' of the dataset differs", name);
        found.text = text;
        comparison_tell(&diff->comparison, &found);
    }
    rc = compare_numbers(diff, ctx, &diff->a);
    for (size_t i = 0; !rc && i < diff->b.count; i++)
        if (!has_step(diff->a.ds, diff->b.list[i]))
            tell_missing(diff, diff->b.list[i], "B");
    return rc;
}

static int compare(struct diff *diff, struct context *ctx)
{
    if (diff->a.steps && diff->b.steps)
        return compare_pairs(diff, ctx);
    if (diff->a.steps || diff->b.steps)
        return compare_numbers(diff, ctx, diff->a.steps ? &diff->a : &diff->b);
    return compare_all(diff, ctx);
}

static int prepare(struct diff *diff, struct context *ctx,
                   const struct arguments *args)
{
    bouma_options opts = {.size = sizeof(opts)};
    double tolerance = 0;
    int rc = arguments_number(args, ctx, "tolerance", &tolerance);

    if (!rc && !(tolerance >= 0))
        rc = context_fail(ctx, CALL_AT_FAULT,
                          "--tolerance %s: it must not be below 0",
                          arguments_text(args, "tolerance"));
    progress_bar_init(&diff->bar, ctx, &opts);
    if (!rc)
        rc = read_sides(diff, ctx, args);
    if (!rc)
        rc = open_side(&diff->a, ctx, &opts);
    if (!rc)
        rc = open_side(&diff->b, ctx, &opts);
    diff->comparison = (struct comparison){.a = diff->a.ds,
                                           .b = diff->b.ds,
                                           .tolerance = tolerance,
                                           .each = tell,
                                           .user = diff};
    if (ctx->json)
        diff->differences = json_array();
    return rc;
}

static void release(struct side *side)
{
    bouma_dataset_free(side->ds);
    free(side->list);
    free(side->path);
}

static int run(struct context *ctx, const struct arguments *args)
{
    struct diff diff = {.ctx = ctx};
    int rc;

    if (!context_prints(ctx)) /* process 0 reads all */
        return DONE;
    rc = prepare(&diff, ctx, args);
    if (!rc)
        rc = compare(&diff, ctx);
    progress_bar_clear(&diff.bar);
    if (!rc)
        rc = print_end(&diff);
    json_decref(diff.differences);
    release(&diff.a);
    release(&diff.b);
    if (rc) /* whatever the reason: it could not be compared */
        return CALL_AT_FAULT;
    return diff.comparison.differences ? DATA_AT_FAULT : DONE;
}

const struct command cmd_diff = {
    .name = "diff",
    .summary = "tell what two datasets or two steps differ in",
    .operands = "A[@S] [B[@S]] [options]",
    .least = 1,
    .most = 2,
    .examples = "  bouma diff run.bouma again.bouma\n"
                "  bouma diff run.bouma small.bouma --tolerance 1e-3\n"
                "  bouma diff run.bouma@10 run.bouma@20\n"
                "  bouma diff run.bouma --step -2 --step-b last\n",
    .footer =
        "The exit status is 0 if both are equal, 1 if they differ, 2 if they "
        "could not be\n"
        "compared. How they are stored does not count: codecs, patches, "
        "layouts, files. NaN\n"
        "equals NaN. Times and attributes of datasets are compared where "
        "steps have the same\n"
        "number.\n"
        "\n"
        "Particles are matched in their stored order, or by their values, "
        "integers first: with\n"
        "a tolerance, an integer that identifies each is needed if orders "
        "differ.\n",
    .options = options,
    .run = run};
