/* wording.c -- the library's messages, in the words of the command line. */
#include "wording.h"

#include <stdio.h>
#include <string.h>

/* The command's option for the field whose name 'text' begins with, up to a
 * quote; false if it has none. */
static bool option_for(struct option_spec *out, const struct command *command,
                       const char *text)
{
    for (int i = 0; command_option(command, i, out, NULL); i++) {
        size_t length = out->field ? strlen(out->field) : 0;

        if (length && strncmp(out->field, text, length) == 0 &&
            text[length] == '\'')
            return true;
    }
    return false;
}

/* The ways in which the library begins, and what is said instead. */
static const struct phrase {
    const char *theirs, *ours;
} phrases[] = {{"set the option '", "add --"},
               {"the option '", "--"},
               {"option '", "--"},
               {NULL, NULL}};

static const struct phrase *phrase_at(const char *text)
{
    const struct phrase *phrase = phrases;

    while (phrase->theirs &&
           strncmp(text, phrase->theirs, strlen(phrase->theirs)) != 0)
        phrase++;
    return phrase->theirs ? phrase : NULL;
}

void wording_of(char *out, size_t bytes, const struct command *command,
                const char *message)
{
    size_t used = 0;

    /* What is wrong in the environment was not given as an option. */
    if (!command || strstr(message, "BOUMA_OPTIONS: ")) {
        snprintf(out, bytes, "%s", message);
        return;
    }
    while (*message && used + 1 < bytes) {
        const struct phrase *phrase = phrase_at(message);
        const char *field = phrase ? message + strlen(phrase->theirs) : NULL;
        struct option_spec option;

        if (field && option_for(&option, command, field)) {
            used += (size_t)snprintf(out + used, bytes - used, "%s%s",
                                     phrase->ours, option.name);
            message = field + strlen(option.field) + 1;
        } else {
            out[used++] = *message++;
        }
    }
    out[used < bytes ? used : bytes - 1] = '\0';
}
