/* cmd_completion.c -- bouma completion bash: a script for the shell, made from
 * the tables of options. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "print_json.h"

static const struct option_spec options[] = {{0}};

static void write_options(FILE *out, const struct command *command)
{
    struct option_spec option;

    for (int i = 0; command_option(command, i, &option, NULL); i++)
        fprintf(out, "--%s ", option.name);
}

/* "a|b" as words of the shell: "a b". */
static void write_choices(FILE *out, const char *choices)
{
    for (; *choices; choices++)
        fputc(*choices == '|' ? ' ' : *choices, out);
}

/* The command's options, or, for a word without dashes, its operands. */
static void write_commands(FILE *out)
{
    fprintf(out, "    case \"$command\" in\n");
    for (int i = 0; commands[i]; i++) {
        fprintf(out, "    %s) options='", commands[i]->name);
        write_options(out, commands[i]);
        fprintf(out, "' words='");
        if (commands[i]->words)
            write_choices(out, commands[i]->words);
        fprintf(out, "' ;;\n");
    }
    fprintf(out, "    *) options='--version --help' words='");
    for (int i = 0; commands[i]; i++)
        fprintf(out, "%s ", commands[i]->name);
    fprintf(out, "' ;;\n    esac\n");
}

/* What may follow an option that takes one of a few words. */
static void write_values(FILE *out)
{
    fprintf(out, "    case \"$command $before\" in\n");
    for (int i = 0; commands[i]; i++) {
        struct option_spec option;

        for (int k = 0; command_option(commands[i], k, &option, NULL); k++) {
            if (!option.choices)
                continue;
            fprintf(out, "    '%s --%s') options='' words='", commands[i]->name,
                    option.name);
            write_choices(out, option.choices);
            fprintf(out, "' ;;\n");
        }
    }
    fprintf(out, "    esac\n");
}

static void write_bash(FILE *out)
{
    fprintf(out, "# bash completion for bouma and bouma-mpi, made by\n"
                 "# 'bouma completion bash'\n"
                 "_bouma()\n{\n"
                 "    local current=${COMP_WORDS[COMP_CWORD]}\n"
                 "    local before=${COMP_WORDS[COMP_CWORD-1]}\n"
                 "    local command='' options='' words=''\n"
                 "    (( COMP_CWORD > 1 )) && command=${COMP_WORDS[1]}\n");
    write_commands(out);
    write_values(out);
    fprintf(out, "    [[ $current == -* ]] && words=$options\n"
                 "    COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
                 "}\n"
                 "# Where no word fits, names of files are offered.\n"
                 "complete -o default -F _bouma bouma bouma-mpi\n");
}

static int print_object(struct context *ctx)
{
    json_t *root = json_object();
    char *script = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&script, &bytes);

    if (!out) {
        json_decref(root);
        return context_fail_memory(ctx);
    }
    write_bash(out);
    fclose(out);
    json_put(root, "shell", json_text("bash"));
    json_put(root, "script", json_text(script));
    free(script);
    return print_json(ctx, root);
}

static int run(struct context *ctx, const struct arguments *args)
{
    if (strcmp(args->operands[0], "bash") != 0)
        return context_fail(ctx, CALL_AT_FAULT,
                            "there is no completion for '%s'; there is bash",
                            args->operands[0]);
    if (!context_prints(ctx))
        return DONE;
    if (ctx->json)
        return print_object(ctx);
    write_bash(stdout);
    return DONE;
}

const struct command cmd_completion = {
    .name = "completion",
    .summary = "print a script that completes commands in a shell",
    .operands = "bash",
    .least = 1,
    .most = 1,
    .words = "bash",
    .examples = "  source <(bouma completion bash)\n"
                "  bouma completion bash > "
                "~/.local/share/bash-completion/completions/bouma\n",
    .options = options,
    .run = run};
