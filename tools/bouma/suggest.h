/* suggest.h -- the names that there are, for a message about one that there is
 * not. */
#ifndef SUGGEST_H
#define SUGGEST_H

#include "base/nearest.h"

/* All names that there are, and the nearest of them to one that there is not.
 * Start with the word, and add names with what each of them is (may be NULL).
 */
struct name_list {
    struct bm_nearest near;
    char list[512]; /* "rho, T", or "box (grid), stars (particles)" */
    int count;
};
void name_list_add(struct name_list *names, const char *name, const char *kind);

/* "; did you mean 'rho'? There are rho, T", for the end of a message that tells
 * that the word is not there; 'out' has NAME_LIST_BYTES bytes. */
enum { NAME_LIST_BYTES = 1024 };
const char *name_list_text(char *out, const struct name_list *names);

#endif
