/* nearest.h -- "did you mean": the nearest of some names to a misspelt one. */
#ifndef BM_NEAREST_H
#define BM_NEAREST_H

/* Start with the word alone, offer it names, and find the nearest one in
 * 'best': NULL as long as none is near enough to be meant. */
struct bm_nearest {
    const char *word;
    const char *best;
    int distance;
};
void bm_nearest_offer(struct bm_nearest *nearest, const char *name);

#endif
