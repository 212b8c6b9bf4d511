/* wording.h -- the library's messages, in the words of the command line. */
#ifndef WORDING_H
#define WORDING_H

#include "command.h"

/* Copy a message to 'out' (of 'bytes' bytes). Where the library speaks of a
 * field of bouma_options ("set the option 'replace'") for which the command has
 * an option, that one is named ("add --replace"). */
void wording_of(char *out, size_t bytes, const struct command *command,
                const char *message);

#endif
