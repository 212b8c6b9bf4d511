/* fuzz_idx_steps.c -- the timesteps of a header in idx/, which the library has
 * written, but anybody may have changed: what is accepted ascends, is no more
 * than asked for, and is written again to the same line. */
#include "fuzz_help.h"
#include "layout/idx_text.h"

enum { MOST = 1000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const bouma_allocator *a = bm_allocator_default();
    struct bm_buffer text, again;
    int64_t *steps, *more;
    size_t count, others;

    bm_buffer_init(&text, a);
    bm_buffer_init(&again, a);
    bm_put_bytes(&text, data, size);
    HOLDS(!text.failed);
    if (!bm_idx_get_steps(&steps, &count, a, &text, MOST)) {
        HOLDS(count <= MOST);
        for (size_t i = 0; i < count; i++)
            HOLDS(steps[i] >= 0 && steps[i] <= BM_IDX_LAST_STEP &&
                  (!i || steps[i] > steps[i - 1]));
        bm_idx_put_steps(&again, &text, steps, count);
        HOLDS(!again.failed);
        HOLDS(!bm_idx_get_steps(&more, &others, a, &again, MOST));
        HOLDS(others == count &&
              (!count || !memcmp(more, steps, count * sizeof(*steps))));
        bm_drop(a, more);
        bm_drop(a, steps);
    }
    bm_buffer_release(&text);
    bm_buffer_release(&again);
    return 0;
}
