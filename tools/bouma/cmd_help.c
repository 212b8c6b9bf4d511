/* cmd_help.c -- bouma help: what the commands do; with --json, all tables. */
#include "arguments.h"
#include "importer.h"
#include "print_json.h"

static const struct option_spec options[] = {{0}};

/* A text, or nothing. */
static json_t *text_or_null(const char *text)
{
    return text ? json_text(text) : json_null();
}

static json_t *option_json(const struct option_spec *option)
{
    const char letter[2] = {option->letter, '\0'};
    json_t *object = json_object();

    json_put(object, "name", json_text(option->name));
    json_put(object, "letter", text_or_null(letter[0] ? letter : NULL));
    json_put(object, "argument", text_or_null(option->argument));
    json_put(object, "choices", text_or_null(option->choices));
    json_put(object, "field", text_or_null(option->field));
    json_put(object, "help", json_text(option->help));
    return object;
}

static void append_format(json_t *list, const char *name, const char *of,
                          const char *help)
{
    json_t *object;

    if (!help)
        return;
    object = json_object();
    json_put(object, "name", json_text(name));
    json_put(object, "of", json_text(of));
    json_put(object, "help", json_text(help));
    json_array_append_new(list, object);
}

/* The formats of files that a command reads or writes. */
static json_t *formats_json(const struct command *command)
{
    static const char *const of[] = {"", "samples", "particles", "pictures"};
    const struct exporter *out;
    const struct importer *in;
    json_t *list = json_array();

    for (int i = 0; command->imports && (in = importer_at(i)); i++) {
        append_format(list, in->name, "grids", in->grids);
        append_format(list, in->name, "particles", in->particles);
    }
    for (int i = 0; (out = exporter_at(command->exports, i)); i++)
        append_format(list, out->suffix, of[command->exports], out->help);
    return list;
}

static json_t *command_json(const struct command *command)
{
    json_t *object = json_object();
    json_t *list = json_array();
    struct option_spec option;

    for (int i = 0; command_option(command, i, &option, NULL); i++)
        json_array_append_new(list, option_json(&option));
    json_put(object, "name", json_text(command->name));
    json_put(object, "summary", json_text(command->summary));
    json_put(object, "usage", json_text(command->operands));
    json_put(object, "options", list);
    json_put(object, "formats", formats_json(command));
    return object;
}

/* The options that every command has. */
static json_t *common_json(void)
{
    json_t *list = json_array();
    enum option_origin origin;
    struct option_spec option;

    for (int i = 0; command_option(commands[0], i, &option, &origin); i++)
        if (origin == COMMON_OPTION)
            json_array_append_new(list, option_json(&option));
    return list;
}

/* The options of the library. */
static json_t *library_json(void)
{
    json_t *list = json_array();
    const bouma_option_info *about;

    for (int i = 0; (about = bouma_options_info(i)); i++) {
        json_t *object = json_object();

        json_put(object, "name", json_text(about->name));
        json_put(object, "argument", text_or_null(about->argument));
        json_put(object, "choices", text_or_null(about->choices));
        json_put(object, "same",
                 json_boolean(about->use & BOUMA_OPTION_USE_SAME));
        json_put(object, "help", json_text(about->help));
        json_array_append_new(list, object);
    }
    return list;
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
    if (!command) {
        json_put(root, "common", common_json());
        json_put(root, "options", library_json());
    }
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
                                 .summary = "explain the commands",
                                 .operands = "[COMMAND]",
                                 .least = 0,
                                 .most = 1,
                                 .examples = "  bouma help\n"
                                             "  bouma help import\n",
                                 .options = options,
                                 .run = run};
