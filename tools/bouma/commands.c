/* commands.c -- the list of all sub-commands. A new one adds a line here. */
#include <string.h>

#include "command.h"
#include "suggest.h"

const struct option_spec common_options[] = {
    {.name = "json", .help = "print one JSON object and nothing else"},
    {.name = "help", .letter = 'h', .help = "show this help"},
    {0}};

const struct command *const commands[] = {
    &cmd_import, &cmd_info,       &cmd_read,     &cmd_query, &cmd_render,
    &cmd_verify, &cmd_repair,     &cmd_truncate, &cmd_drain, &cmd_plan,
    &cmd_probe,  &cmd_completion, &cmd_help,     NULL};

const struct command *command_find(const char *name)
{
    for (int i = 0; commands[i]; i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}

int command_unknown(struct context *ctx, const char *name)
{
    struct suggestion near = {.word = name};

    for (int i = 0; commands[i]; i++)
        suggestion_offer(&near, commands[i]->name);
    if (near.best)
        return context_fail(ctx, CALL_AT_FAULT,
                            "there is no command '%s'; did you mean '%s'?",
                            name, near.best);
    return context_fail(ctx, CALL_AT_FAULT,
                        "there is no command '%s'; '%s help' lists them", name,
                        session_program());
}
