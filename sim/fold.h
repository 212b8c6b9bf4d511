/* fold.h -- memory for bytes whose values do not matter: any amount of it, in
 * the space of a few pages. The benchmark `bench io` measures how buffers travel,
 * not what is in them; with the variable BOUMA_SIM_FOLD set, its buffers and
 * those of the library that they pass through are such memory, so that as many
 * bytes as the real program has fit into the simulation. */
#ifndef SIM_FOLD_H
#define SIM_FOLD_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where it is, once it is asked for. */
extern uint8_t *sim_fold_begin, *sim_fold_end;

/* 'bytes' bytes at the begin of a page, which need not be freed; NULL: ask for
 * real memory, as the variable is not set, or there is not so much at once. */
void *sim_fold(size_t bytes);

/* What memcpy() is for it: nothing, but compilers need not know. */
void *sim_fold_copy(void *to, const void *from, size_t bytes);

static inline int sim_is_folded(const void *p)
{
    return (const uint8_t *)p >= sim_fold_begin &&
           (const uint8_t *)p < sim_fold_end;
}

#ifdef __cplusplus
}
#endif

#endif
