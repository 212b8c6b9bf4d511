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

#endif
