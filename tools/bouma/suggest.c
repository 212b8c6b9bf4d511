/* suggest.c -- lists of names, for messages. */
#include "suggest.h"

#include <stdio.h>
#include <string.h>

void name_list_add(struct name_list *names, const char *name, const char *kind)
{
    const char *more = ", ...";
    size_t used = strlen(names->list);
    size_t room = sizeof(names->list) - used - strlen(more);

    bm_nearest_offer(&names->near, name);
    names->count++;
    if (used >= strlen(more) &&
        strcmp(names->list + used - strlen(more), more) == 0)
        return;
    if ((size_t)snprintf(names->list + used, room, "%s%s%s%s%s",
                         used ? ", " : "", name, kind ? " (" : "",
                         kind ? kind : "", kind ? ")" : "") >= room)
        snprintf(names->list + used, sizeof(names->list) - used, "%s",
                 used ? more : "many");
}

const char *name_list_text(char *out, const struct name_list *names)
{
    const char *best = names->near.best;
    const char *there = names->count == 0 ? best ? "" : "there are none"
                        : names->count == 1
                            ? (best ? "There is only " : "there is only ")
                        : best ? "There are "
                               : "there are ";

    if (best)
        snprintf(out, NAME_LIST_BYTES, "; did you mean '%.200s'? %s%s", best,
                 there, names->list);
    else
        snprintf(out, NAME_LIST_BYTES, "; %s%s", there, names->list);
    return out;
}
