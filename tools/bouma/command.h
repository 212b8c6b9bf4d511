/* command.h -- the sub-commands and their options, as tables.
 *
 * These tables are all there is to know about the grammar: the parser, `bouma
 * help`, the suggestions for misspelt names and the shell completion are made
 * from them. */
#ifndef COMMAND_H
#define COMMAND_H

#include <stdbool.h>

#include "context.h"

struct arguments;

/* An option; a table of them ends with one without a name. */
struct option_spec {
    const char *name;     /* without its dashes */
    char letter;          /* of the short form; 0: none */
    bool many;            /* may be given more than once */
    const char *argument; /* what it takes, such as "N"; NULL: nothing */
    const char *choices;  /* "a|b": what it takes, where that is few words */
    const char *field;    /* of bouma_options that it sets; NULL: none */
    const char *help;
};

struct command {
    const char *name;
    const char *summary;  /* one line */
    const char *operands; /* "SRC... --into DS" */
    int least, most;      /* number of operands; most < 0: any */
    const char *words;    /* "a|b": what operands can be, besides files; NULL:
                             just that */
    const char *examples; /* lines, each ended */
    const char *notes;    /* lines below the options; NULL: none */
    const struct option_spec *options;
    int (*run)(struct context *ctx, const struct arguments *args);
};

/* The options that every command has. */
extern const struct option_spec common_options[];

/* All commands, up to a NULL. */
extern const struct command *const commands[];

extern const struct command cmd_import;
extern const struct command cmd_info;
extern const struct command cmd_read;
extern const struct command cmd_query;
extern const struct command cmd_render;
extern const struct command cmd_verify;
extern const struct command cmd_repair;
extern const struct command cmd_truncate;
extern const struct command cmd_drain;
extern const struct command cmd_plan;
extern const struct command cmd_probe;
extern const struct command cmd_completion;
extern const struct command cmd_help;

/* The command of that name, or NULL. */
const struct command *command_find(const char *name);

/* Complain that there is no command of that name. */
int command_unknown(struct context *ctx, const char *name);

/* Print the help of a command on standard output, or of the whole program. */
void command_print_help(const struct command *command);
void program_print_help(void);

#endif
