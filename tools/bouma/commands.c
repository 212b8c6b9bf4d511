/* commands.c -- the sub-commands by name, and their options. */
#include <string.h>

#include "command.h"
#include "suggest.h"

static const struct option_spec common_options[] = {
    {.name = "json", .help = "print one JSON object and nothing else"},
    {.name = "help", .letter = 'h', .help = "show this help"},
    {0}};

#define ENTRY(name) &cmd_##name,
const struct command *const commands[] = {COMMAND_LIST(ENTRY) NULL};

/* ---- options ------------------------------------------------------------- */

static const bouma_option_info *find_field(const char *name)
{
    const bouma_option_info *about;

    for (int i = 0; (about = bouma_options_info(i)); i++)
        if (strcmp(about->name, name) == 0)
            return about;
    return NULL;
}

/* What a table leaves to the library. */
static struct option_spec complete(struct option_spec option)
{
    const bouma_option_info *about =
        option.field ? find_field(option.field) : NULL;

    if (about) {
        option.name = option.name ? option.name : about->flag;
        option.argument = option.argument ? option.argument : about->argument;
        option.choices = option.choices ? option.choices : about->choices;
        option.help = option.help ? option.help : about->help;
    }
    return option;
}

static int count_options(const struct option_spec *table)
{
    int count = 0;

    while (table[count].name || table[count].field)
        count++;
    return count;
}

/* Whether the library's option is in no table, but one that is taken. */
static bool takes(const struct command *command, const bouma_option_info *about)
{
    const struct option_spec *own = command->options;

    for (; own->name || own->field; own++)
        if (own->field && strcmp(own->field, about->name) == 0)
            return false;
    return (about->use & command->takes) != 0;
}

bool command_option(const struct command *command, int i,
                    struct option_spec *out, enum option_origin *origin)
{
    const int own = count_options(command->options);
    const int common = count_options(common_options);
    const bouma_option_info *about;
    enum option_origin from = OWN_OPTION;

    *out = (struct option_spec){0};
    if (i < own) {
        *out = complete(command->options[i]);
    } else {
        from = LIBRARY_OPTION;
        i -= own;
        for (int k = 0; (about = bouma_options_info(k)); k++)
            if (takes(command, about) && i-- == 0)
                *out = complete((struct option_spec){.field = about->name});
        if (!out->name && i >= 0 && i < common) {
            from = COMMON_OPTION;
            *out = common_options[i];
        }
    }
    if (origin)
        *origin = from;
    return out->name != NULL;
}

/* ---- commands ------------------------------------------------------------ */

const struct command *command_find(const char *name)
{
    for (int i = 0; commands[i]; i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}

int command_unknown(struct context *ctx, const char *name)
{
    struct bm_nearest near = {.word = name};

    for (int i = 0; commands[i]; i++)
        bm_nearest_offer(&near, commands[i]->name);
    if (near.best)
        return context_fail(ctx, CALL_AT_FAULT,
                            "there is no command '%s'; did you mean '%s'?",
                            name, near.best);
    return context_fail(ctx, CALL_AT_FAULT,
                        "there is no command '%s'; '%s help' lists them", name,
                        session_program());
}
