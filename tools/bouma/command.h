/* command.h -- the sub-commands and their options, as tables.
 *
 * These tables, and the library's own of its options, are all there is to know
 * about the grammar: the parser, `bouma help`, the suggestions for misspelt
 * names, the shell completion and the lists in the manual page are made from
 * them. */
#ifndef COMMAND_H
#define COMMAND_H

#include <stdbool.h>

#include "context.h"
#include "exporter.h"

struct arguments;

/* What an option is for, where that is not all that a command can do. */
enum option_scope { FOR_ALL, FOR_GRIDS, FOR_PARTICLES };

/* An option. If it sets an option of the library ('field'), what is left at
 * NULL is as the library says. A table ends with one that has neither name nor
 * field. */
struct option_spec {
    const char *name;     /* without its dashes */
    char letter;          /* of the short form; 0: none */
    bool many;            /* may be given more than once */
    const char *argument; /* what it takes, such as "N"; NULL: nothing */
    const char *choices;  /* "a|b": what it takes, where that is few words */
    const char *field;    /* of bouma_options that it sets; NULL: none */
    const char *help;
    enum option_scope scope;
};

struct command {
    const char *name;
    const char *summary;  /* one line */
    const char *operands; /* "SRC... --into DS" */
    int least, most;      /* number of operands; most < 0: any */
    const char *words;    /* "a|b": what operands can be, besides files; NULL:
                             just that */
    const char *examples; /* lines, each ended */
    const char *footer;   /* lines below the options; NULL: none */
    const struct option_spec *options;
    unsigned takes;        /* BOUMA_OPTION_*: so does it take all options of the
                              library for that; 0: none but those in 'options' */
    bool imports;          /* files of the formats of importer.h */
    enum exported exports; /* what it writes; EXPORT_NOTHING: nothing */
    int (*run)(struct context *ctx, const struct arguments *args);
};

/* Where an option comes from. */
enum option_origin { OWN_OPTION, LIBRARY_OPTION, COMMON_OPTION };

/* The i-th option of a command: those of its table, of the library, and those
 * that every command has; 'origin' may be NULL. False if there are no more. */
bool command_option(const struct command *command, int i,
                    struct option_spec *out, enum option_origin *origin);

/* All commands, up to a NULL. */
extern const struct command *const commands[];

/* All commands, in the order of the help: a new one adds a line here. */
#define COMMAND_LIST(X)                                                        \
    X(import)                                                                  \
    X(add)                                                                     \
    X(info)                                                                    \
    X(ls)                                                                      \
    X(stats)                                                                   \
    X(diff)                                                                    \
    X(read)                                                                    \
    X(query)                                                                   \
    X(histogram)                                                               \
    X(render)                                                                  \
    X(export)                                                                  \
    X(serve)                                                                   \
    X(copy)                                                                    \
    X(watch)                                                                   \
    X(verify)                                                                  \
    X(repair)                                                                  \
    X(truncate)                                                                \
    X(delete_step)                                                             \
    X(drain)                                                                   \
    X(plan)                                                                    \
    X(size_grid)                                                               \
    X(bench)                                                                   \
    X(doctor)                                                                  \
    X(probe)                                                                   \
    X(trace)                                                                   \
    X(plot)                                                                    \
    X(completion)                                                              \
    X(help)
#define COMMAND_LIST_ENTRY(name) extern const struct command cmd_##name;
COMMAND_LIST(COMMAND_LIST_ENTRY)
#undef COMMAND_LIST_ENTRY

/* The command of that name, or NULL. */
const struct command *command_find(const char *name);

/* Complain that there is no command of that name. */
int command_unknown(struct context *ctx, const char *name);

/* Print the help of a command on standard output, or of the whole program. */
void command_print_help(const struct command *command);
void program_print_help(void);

#endif
