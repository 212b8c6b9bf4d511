/* arguments.h -- the arguments of a command, parsed by its table of options.
 *
 * Options are written --name VALUE, --name=VALUE or -nVALUE and may stand
 * anywhere; what follows "--" is operands. Names are never abbreviated, so that
 * a new option cannot change what an old script means. */
#ifndef ARGUMENTS_H
#define ARGUMENTS_H

#include "command.h"

struct argument {
    struct option_spec option;
    const char *value; /* NULL for an option that takes none */
};

/* What was given, in its order; the texts are those of argv. */
struct arguments {
    const struct command *command;
    struct argument *given;
    int given_count;
    const char **operands;
    int operand_count;
};

/* Parse argv[0..argc), which starts after the command's name. The caller ends
 * *out with arguments_release(), after a failure too. */
int arguments_parse(struct arguments *out, struct context *ctx,
                    const struct command *command, int argc, char **argv);
void arguments_release(struct arguments *args);

/* Whether an option was given; its value, or NULL; how many times it was given,
 * and the i-th value. */
bool arguments_has(const struct arguments *args, const char *name);
const char *arguments_text(const struct arguments *args, const char *name);
int arguments_count(const struct arguments *args, const char *name);
const char *arguments_nth(const struct arguments *args, const char *name,
                          int i);

/* The value as a number, or as up to MAX_AXES numbers with commas
 * between; outputs stay as they are if the option was not given. */
int arguments_integer(const struct arguments *args, struct context *ctx,
                      const char *name, int64_t least, int64_t *out);
int arguments_number(const struct arguments *args, struct context *ctx,
                     const char *name, double *out);
int arguments_integers(const struct arguments *args, struct context *ctx,
                       const char *name, int64_t *out, int *count);
int arguments_numbers(const struct arguments *args, struct context *ctx,
                      const char *name, double *out, int *count);

/* The value as one of the words in the option's table; NULL if the option was
 * not given. */
int arguments_choice(const struct arguments *args, struct context *ctx,
                     const char *name, const char **out);

/* Set the fields of 'opts' that the given options stand for. */
int arguments_fields(const struct arguments *args, struct context *ctx,
                     bouma_options *opts);

/* Refuse an --assign that is for particles alone; 'why' goes before "there are
 * ..." in the message. */
int arguments_check_grid_assign(const struct arguments *args,
                                struct context *ctx, const char *why);

#endif
