/* arguments.c -- the arguments of a command, parsed by its table of options. */
#include "arguments.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "axes.h"
#include "bouma_lists.h"
#include "numbers.h"
#include "suggest.h"

/* ---- finding options ----------------------------------------------------- */

static bool find_long(struct option_spec *out, const struct command *command,
                      const char *name, size_t length)
{
    for (int i = 0; command_option(command, i, out, NULL); i++)
        if (strlen(out->name) == length && memcmp(out->name, name, length) == 0)
            return true;
    return false;
}

static bool find_short(struct option_spec *out, const struct command *command,
                       char letter)
{
    for (int i = 0; command_option(command, i, out, NULL); i++)
        if (out->letter == letter)
            return true;
    return false;
}

static int unknown_option(struct context *ctx, const struct command *command,
                          const char *name, int length)
{
    struct option_spec option;
    struct bm_nearest near = {0};
    char word[64];

    if ((size_t)length < sizeof(word)) {
        memcpy(word, name, (size_t)length);
        word[length] = '\0';
        near.word = word;
        for (int i = 0; command_option(command, i, &option, NULL); i++)
            bm_nearest_offer(&near, option.name);
    }
    if (near.best)
        return context_fail(ctx, CALL_AT_FAULT,
                            "there is no option --%.*s; did you mean --%s?",
                            length, name, near.best);
    return context_fail(ctx, CALL_AT_FAULT,
                        "there is no option --%.*s; '%s help %s' lists them",
                        length, name, session_program(), command->name);
}

/* ---- parsing ------------------------------------------------------------- */

/* What is left of argv. */
struct cursor {
    int argc;
    char **argv;
    int next;
};

/* Enter one option. 'attached' is the value that came in the same word, or
 * NULL; then the next word is the value, if the option takes one. */
static int add_option(struct arguments *args, struct context *ctx,
                      struct cursor *cursor, const struct option_spec *option,
                      const char *attached)
{
    const char *value = attached;

    if (!option->argument && attached)
        return context_fail(ctx, CALL_AT_FAULT, "--%s takes no value",
                            option->name);
    if (option->argument && !attached) {
        /* A word with two dashes is rather the next option: one was left out.
         * A single dash may begin a negative number. */
        if (cursor->next == cursor->argc ||
            strncmp(cursor->argv[cursor->next], "--", 2) == 0)
            return context_fail(ctx, CALL_AT_FAULT,
                                "--%s needs a value: --%s %s", option->name,
                                option->name, option->argument);
        value = cursor->argv[cursor->next++];
    }
    if (!option->many && arguments_has(args, option->name))
        return context_fail(ctx, CALL_AT_FAULT, "--%s is given twice",
                            option->name);
    args->given[args->given_count++] = (struct argument){*option, value};
    return DONE;
}

static int add_long(struct arguments *args, struct context *ctx,
                    struct cursor *cursor, const char *word)
{
    const char *name = word + 2;
    size_t length = strcspn(name, "=");
    struct option_spec option;

    if (!find_long(&option, args->command, name, length))
        return unknown_option(ctx, args->command, name, (int)length);
    return add_option(args, ctx, cursor, &option,
                      name[length] == '=' ? name + length + 1 : NULL);
}

static int add_short(struct arguments *args, struct context *ctx,
                     struct cursor *cursor, const char *word)
{
    struct option_spec option;

    if (!find_short(&option, args->command, word[1]))
        return context_fail(ctx, CALL_AT_FAULT,
                            "there is no option -%c; '%s help %s' lists them",
                            word[1], session_program(), args->command->name);
    return add_option(args, ctx, cursor, &option, word[2] ? word + 2 : NULL);
}

static int parse_words(struct arguments *args, struct context *ctx,
                       struct cursor *cursor)
{
    bool options = true;

    while (cursor->next < cursor->argc) {
        const char *word = cursor->argv[cursor->next++];
        int rc = DONE;

        /* Numbers below zero are no options. */
        if (!options || word[0] != '-' || word[1] == '\0' ||
            (word[1] >= '0' && word[1] <= '9'))
            args->operands[args->operand_count++] = word;
        else if (strcmp(word, "--") == 0)
            options = false;
        else if (word[1] == '-')
            rc = add_long(args, ctx, cursor, word);
        else
            rc = add_short(args, ctx, cursor, word);
        if (rc)
            return rc;
    }
    return DONE;
}

static int check_operands(const struct arguments *args, struct context *ctx)
{
    const struct command *command = args->command;

    if (arguments_has(args, "help"))
        return DONE;
    if (args->operand_count < command->least)
        return context_fail(
            ctx, CALL_AT_FAULT, "too few arguments; usage: %s %s %s",
            session_program(), command->name, command->operands);
    if (command->most >= 0 && args->operand_count > command->most)
        return context_fail(ctx, CALL_AT_FAULT,
                            "unexpected argument '%s'; usage: %s %s %s",
                            args->operands[command->most], session_program(),
                            command->name, command->operands);
    return DONE;
}

int arguments_parse(struct arguments *out, struct context *ctx,
                    const struct command *command, int argc, char **argv)
{
    struct cursor cursor = {argc, argv, 0};
    size_t room = (size_t)argc + 1;
    int rc;

    *out = (struct arguments){.command = command};
    out->given = calloc(room, sizeof(*out->given));
    out->operands = calloc(room, sizeof(*out->operands));
    if (!out->given || !out->operands)
        return context_fail_memory(ctx);
    rc = parse_words(out, ctx, &cursor);
    return rc ? rc : check_operands(out, ctx);
}

void arguments_release(struct arguments *args)
{
    free(args->given);
    free(args->operands);
}

/* ---- asking -------------------------------------------------------------- */

const char *arguments_nth(const struct arguments *args, const char *name, int i)
{
    for (int n = 0; n < args->given_count; n++)
        if (strcmp(args->given[n].option.name, name) == 0 && i-- == 0)
            return args->given[n].value;
    return NULL;
}

int arguments_count(const struct arguments *args, const char *name)
{
    int count = 0;

    for (int n = 0; n < args->given_count; n++)
        count += strcmp(args->given[n].option.name, name) == 0;
    return count;
}

bool arguments_has(const struct arguments *args, const char *name)
{
    return arguments_count(args, name) > 0;
}

const char *arguments_text(const struct arguments *args, const char *name)
{
    return arguments_nth(args, name, 0);
}

/* A whole number, but one that no int64_t has. */
static bool is_too_large(const char *text)
{
    int64_t value;

    return *text && !text[strspn(text, "0123456789")] &&
           !parse_integer(text, &value);
}

int arguments_integer(const struct arguments *args, struct context *ctx,
                      const char *name, int64_t least, int64_t *out)
{
    const char *text = arguments_text(args, name);
    int64_t value;

    if (!text)
        return DONE;
    if (is_too_large(text))
        return context_fail(ctx, CALL_AT_FAULT,
                            "--%s %s: is too large; the largest is %lld", name,
                            text, (long long)INT64_MAX);
    if (!parse_integer(text, &value) || value < least)
        return context_fail(ctx, CALL_AT_FAULT,
                            "--%s %s: must be a whole number of at least %lld",
                            name, text, (long long)least);
    *out = value;
    return DONE;
}

int arguments_number(const struct arguments *args, struct context *ctx,
                     const char *name, double *out)
{
    const char *text = arguments_text(args, name);

    if (text && !parse_number(text, out))
        return context_fail(ctx, CALL_AT_FAULT,
                            "--%s %s: must be a finite number", name, text);
    return DONE;
}

int arguments_integers(const struct arguments *args, struct context *ctx,
                       const char *name, int64_t *out, int *count)
{
    const char *text = arguments_text(args, name);
    bool fine = !text || parse_integers(text, out, MAX_AXES, count);

    for (int i = 0; text && fine && i < *count; i++)
        fine = out[i] > 0;
    if (!fine)
        return context_fail(ctx, CALL_AT_FAULT,
                            "--%s %s: must be 1 to %d positive whole numbers, "
                            "separated by commas",
                            name, text, MAX_AXES);
    return DONE;
}

int arguments_numbers(const struct arguments *args, struct context *ctx,
                      const char *name, double *out, int *count)
{
    const char *text = arguments_text(args, name);

    if (text && !parse_numbers(text, out, MAX_AXES, count))
        return context_fail(
            ctx, CALL_AT_FAULT,
            "--%s %s: must be 1 to %d finite numbers, separated by commas",
            name, text, MAX_AXES);
    return DONE;
}

/* Whether the words "a|b|c" have 'word' among them. */
static bool is_among(const char *words, const char *word)
{
    size_t length = strlen(word);

    while (words) {
        if (strncmp(words, word, length) == 0 &&
            (words[length] == '|' || words[length] == '\0'))
            return true;
        words = strchr(words, '|');
        words = words ? words + 1 : NULL;
    }
    return false;
}

int arguments_choice(const struct arguments *args, struct context *ctx,
                     const char *name, const char **out)
{
    *out = NULL;
    for (int n = 0; n < args->given_count; n++) {
        const struct option_spec *option = &args->given[n].option;

        if (strcmp(option->name, name) != 0)
            continue;
        *out = args->given[n].value;
        if (!is_among(option->choices, *out))
            return context_fail(ctx, CALL_AT_FAULT,
                                "--%s %s: must be one of %s", name, *out,
                                option->choices);
    }
    return DONE;
}

int arguments_fields(const struct arguments *args, struct context *ctx,
                     bouma_options *opts)
{
    char message[512] = "";

    for (int n = 0; n < args->given_count; n++) {
        const struct option_spec *option = &args->given[n].option;
        const char *value = args->given[n].value;

        if (!option->field)
            continue;
        if (bouma_options_set(opts, option->field, value ? value : "1", message,
                              sizeof(message)))
            return context_fail_status(ctx, BOUMA_EINVAL, message);
    }
    return DONE;
}

/* "optimal, running and single": what grids have. */
static const char *grid_assigns(char *text, size_t room)
{
#define VALUE(name, value, word) value,
    static const bouma_assign all[] = {BOUMA_ASSIGN_LIST(VALUE)};
#undef VALUE
    const char *last = NULL;
    size_t at = 0;

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        if (!bouma_assign_is_for_grids(all[i]))
            continue;
        if (last)
            at += (size_t)snprintf(text + at, room - at, "%s%s", at ? ", " : "",
                                   last);
        last = bouma_assign_name(all[i]);
    }
    snprintf(text + at, room - at, " and %s", last);
    return text;
}

int arguments_check_grid_assign(const struct arguments *args,
                                struct context *ctx, const char *why)
{
    const char *assign = arguments_text(args, "assign");
    char text[512];

    if (!assign || !bouma_assign_parse(assign) ||
        bouma_assign_is_for_grids(bouma_assign_parse(assign)))
        return DONE;
    return context_fail(ctx, CALL_AT_FAULT,
                        "--assign %s is for particles%s there are %s", assign,
                        why, grid_assigns(text, sizeof(text)));
}
