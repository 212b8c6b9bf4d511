/* repair.h -- what the files of repair share. */
#ifndef BM_REPAIR_H
#define BM_REPAIR_H

#include "check/check.h"

struct bm_repair {
    struct bouma_dataset ds; /* only what the checks need */
    int apply;
    int changing; /* since the last look at a step or file: a failure is not of
                     looking any more */
    struct bm_findings findings;
    bouma_repair_report *report;
    struct bm_error *error;
};

/* Tell of an action. Returns whether to carry it out. */
int bm_repair_act(struct bm_repair *r, int64_t step, const char *name,
                  const char *text);
/* Tell of damage that cannot be mended. */
void bm_repair_hopeless(struct bm_repair *r, int64_t step, const char *name,
                        const char *text);
/* What could not be looked at ('rc', with a message in r->error) does not keep
 * the rest from being mended: it is told, and BOUMA_OK is returned. Any other
 * status comes back. */
int bm_repair_leave(struct bm_repair *r, int64_t step, const char *name,
                    int rc);
/* Move a file to lost/, under a name that is free there. */
int bm_repair_move_away(struct bm_repair *r, const char *name);

/* A subfile of which one head is damaged gets it back from the other. */
int bm_repair_subfile(struct bm_repair *r, const struct bm_manifest *m,
                      size_t i);

#endif
