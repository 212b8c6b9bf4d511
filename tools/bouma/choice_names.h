/* choice_names.h -- the words of the library's choices, from the lists in
 * bouma.h. */
#ifndef CHOICE_NAMES_H
#define CHOICE_NAMES_H

#include "bouma_lists.h"

/* "zstd|raw", for tables of options; "zstd, raw", for messages. */
#define CHOICE_WORD(name, value, text)   "|" text
#define CHOICE_COMMA(name, value, text)  ", " text
#define TYPE_WORD(name, value, c, text)  "|" text
#define TYPE_COMMA(name, value, c, text) ", " text
#define CHOICES(list)                    (&(list(CHOICE_WORD))[1])
#define CHOICE_NAMES(list)               (&(list(CHOICE_COMMA))[2])
#define TYPES                            (&(BOUMA_TYPE_LIST(TYPE_WORD))[1])
#define TYPE_NAMES                       (&(BOUMA_TYPE_LIST(TYPE_COMMA))[2])

/* The name of a choice, or "?" for one that the library does not know. */
static inline const char *choice_text(const char *name)
{
    return name ? name : "?";
}

#endif
