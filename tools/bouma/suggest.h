/* suggest.h -- "did you mean": the nearest of some names to a misspelt one. */
#ifndef SUGGEST_H
#define SUGGEST_H

/* Start with the word alone, offer it names, and find the nearest one in
 * 'best': NULL as long as none is near enough to be meant. */
struct suggestion {
    const char *word;
    const char *best;
    int distance;
};

void suggestion_offer(struct suggestion *suggestion, const char *name);

/* All names that there are, and the nearest of them to one that there is not.
 * Start with the word, and add names with what each of them is (may be NULL).
 */
struct name_list {
    struct suggestion near;
    char list[512]; /* "rho, T", or "box (grid), stars (particles)" */
    int count;
};
void name_list_add(struct name_list *names, const char *name, const char *kind);

/* "; did you mean 'rho'? There are rho, T", for the end of a message that tells
 * that the word is not there; 'out' has NAME_LIST_BYTES bytes. */
enum { NAME_LIST_BYTES = 1024 };
const char *name_list_text(char *out, const struct name_list *names);

#endif
