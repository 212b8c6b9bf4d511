/* suggest.c -- nearness of names: the number of letters to insert, delete,
 * change, or swap with their neighbour (optimal string alignment). */
#include "suggest.h"

#include <stdio.h>
#include <string.h>

enum { LONGEST = 40 }; /* longer words are nobody's typing errors */

static int least(int a, int b)
{
    return a < b ? a : b;
}

static int distance(const char *a, const char *b)
{
    int rows[LONGEST + 1][LONGEST + 1];
    int n = (int)strlen(a);
    int m = (int)strlen(b);

    for (int i = 0; i <= n; i++)
        rows[i][0] = i;
    for (int j = 0; j <= m; j++)
        rows[0][j] = j;
    for (int i = 1; i <= n; i++)
        for (int j = 1; j <= m; j++) {
            int change = rows[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            int d = least(change, least(rows[i - 1][j], rows[i][j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                d = least(d, rows[i - 2][j - 2] + 1);
            rows[i][j] = d;
        }
    return rows[n][m];
}

void suggestion_offer(struct suggestion *suggestion, const char *name)
{
    size_t length = strlen(suggestion->word);
    int d;

    if (length > LONGEST || strlen(name) > LONGEST)
        return;
    /* The beginning of a name is as good as one wrong letter. */
    if (length >= 2 && strncmp(suggestion->word, name, length) == 0)
        d = 1;
    else
        d = distance(suggestion->word, name);
    if (d > 1 + (int)length / 4)
        return;
    if (!suggestion->best || d < suggestion->distance) {
        suggestion->best = name;
        suggestion->distance = d;
    }
}

void name_list_add(struct name_list *names, const char *name, const char *kind)
{
    const char *more = ", ...";
    size_t used = strlen(names->list);
    size_t room = sizeof(names->list) - used - strlen(more);

    suggestion_offer(&names->near, name);
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
