/* sheet_walk.h -- the records of a step's files, for those who go through all of
 * them: of the sheets of a manifest (sheet.h) one at a time is in memory. */
#ifndef BM_SHEET_WALK_H
#define BM_SHEET_WALK_H

#include "layout/sheet.h"

struct bm_sheet_walk {
    struct bm_manifest *m; /* of all writings */
    /* Take sheet k of writing w, whose manifest is 'm'; NULL: its bytes are
     * lent. */
    int (*load)(void *context, size_t w, struct bm_manifest *m, size_t k,
                struct bm_error *error);
    void *context;
    /* Of the walk itself: */
    struct bm_manifest *at; /* the writing whose sheet it holds, or NULL */
    size_t sheet;
};

/* Go to file i of all writings: its record is there then, till the walk goes on
 * or ends. A sheet that was there before is let be. */
int bm_sheet_walk_to(struct bm_sheet_walk *walk, size_t i,
                     struct bm_error *error);
/* Drop what the walk holds. It may go on. */
void bm_sheet_walk_end(struct bm_sheet_walk *walk);

#endif
