/* additions.h -- the numbers of what is added to steps. An addition is a step
 * of its own, with a number that no program can give a step: addition k, from 1
 * on, of step N has 8 10^18 + (k - 1) 10^17 + N, which a reader of file names
 * can read. It counts if it was written later than the step: one that is
 * written again has no additions. */
#ifndef BM_ADDITIONS_H
#define BM_ADDITIONS_H

#include "store/index.h"

#define BM_ADDITIONS_FIRST UINT64_C(8000000000000000000)
#define BM_ADDITIONS_END   UINT64_C(9000000000000000000)
#define BM_ADDITIONS_EACH  UINT64_C(100000000000000000)
#define BM_MOST_ADDITIONS  10 /* of a step */

static inline int bm_is_addition(uint64_t step)
{
    return step >= BM_ADDITIONS_FIRST && step < BM_ADDITIONS_END;
}

/* The k-th addition of a step below BM_ADDITIONS_EACH, from 1 on. */
static inline uint64_t bm_addition_number(uint64_t step, int k)
{
    return BM_ADDITIONS_FIRST + (uint64_t)(k - 1) * BM_ADDITIONS_EACH + step;
}

/* The step that it is added to; any other step itself. */
static inline uint64_t bm_addition_base(uint64_t step)
{
    return bm_is_addition(step) ? step % BM_ADDITIONS_EACH : step;
}

/* Where the additions are in a list of steps. */
struct bm_additions {
    size_t first, end;
};
struct bm_additions bm_additions_in(const struct bm_step_list *list);

/* The steps of a list without additions: their number; and the i-th. */
size_t bm_steps_shown(const struct bm_step_list *list);
const struct bm_step_entry *bm_steps_shown_at(const struct bm_step_list *list,
                                              size_t i);

#endif
