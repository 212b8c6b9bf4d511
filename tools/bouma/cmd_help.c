/* cmd_help.c -- bouma help: what the commands do; with --json, all tables. */
#include "arguments.h"
#include "print_json.h"

static const struct option_spec options[] = {{0}};

static void append_options(json_t *list, const struct option_spec *table)
{
    for (; table->name; table++) {
        json_t *object = json_object();

        json_put(object, "name", json_text(table->name));
        json_put(object, "argument",
                 table->argument ? json_text(table->argument) : json_null());
        json_put(object, "choices",
                 table->choices ? json_text(table->choices) : json_null());
        json_put(object, "help", json_text(table->help));
        json_array_append_new(list, object);
    }
}

static json_t *command_json(const struct command *command)
{
    json_t *object = json_object();
    json_t *list = json_array();

    append_options(list, command->options);
    append_options(list, common_options);
    json_put(object, "name", json_text(command->name));
    json_put(object, "summary", json_text(command->summary));
    json_put(object, "usage", json_text(command->operands));
    json_put(object, "options", list);
    return object;
}

/* The tables of one command, or of all. */
static int print_object(struct context *ctx, const struct command *command)
{
    json_t *root = json_object();
    json_t *list = json_array();

    for (int i = 0; commands[i]; i++)
        if (!command || commands[i] == command)
            json_array_append_new(list, command_json(commands[i]));
    json_put(root, "commands", list);
    return print_json(ctx, root);
}

static int run(struct context *ctx, const struct arguments *args)
{
    const struct command *command = NULL;

    if (args->operand_count > 0) {
        command = command_find(args->operands[0]);
        if (!command)
            return command_unknown(ctx, args->operands[0]);
    }
    if (!context_prints(ctx))
        return DONE;
    if (ctx->json)
        return print_object(ctx, command);
    if (command)
        command_print_help(command);
    else
        program_print_help();
    return DONE;
}

const struct command cmd_help = {.name = "help",
                                 .summary = "tell what the commands do",
                                 .operands = "[COMMAND]",
                                 .least = 0,
                                 .most = 1,
                                 .examples = "  bouma help\n"
                                             "  bouma help import\n",
                                 .options = options,
                                 .run = run};
