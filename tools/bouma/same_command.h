/* same_command.h -- all processes of a session run one command.
 *
 * mpirun can start processes with different arguments. Each would wait for what
 * the others never do, so they compare command lines before anything else. */
#ifndef SAME_COMMAND_H
#define SAME_COMMAND_H

#include "context.h"

/* CALL_AT_FAULT on all processes if the words argv[1], argv[2], ... of one are
 * not those of process 0; the message names the first such. Collective. */
int same_command(struct context *ctx, char *const *argv);

#endif
