/* particle_router.h -- a rank whose particles go to several files.
 *
 * While files are planned, some of its particles stand for all: a sample, whose
 * members are units of `split`. When the tree over all units is there, every
 * particle falls through its planes to a file. */
#ifndef BM_PARTICLE_ROUTER_H
#define BM_PARTICLE_ROUTER_H

#include "plan/aggregate.h"
#include "plan/positions.h"

struct bm_sample {
    const bouma_allocator *a;
    struct bm_unit *units; /* [count], points; their counts add up to all */
    size_t *which;         /* [count], the particles that they are */
    size_t count;          /* 0 if no position is finite */
};

/* About 'points' of the particles, one from each of as many equal runs of them,
 * by chance, but the same each time; without those whose position is not
 * finite. BOUMA_OK or ENOMEM. */
int bm_sample_make(struct bm_sample *out, const bouma_allocator *a,
                   const struct bm_positions *positions, size_t points);
void bm_sample_release(struct bm_sample *s);

struct bm_particle_router {
    const bouma_allocator *a;
    uint32_t *files; /* [count], where particles go, ascending */
    size_t count;
    size_t *first;   /* [count + 1] */
    uint32_t *index; /* the particles for files[i] are index[first[i]] up to
                        the next, in their order */
};

/* 'tree' is that of `split` over units of which the sample's are some: its i-th
 * is in file[i], and goes there in any case, so no file of the tree is without
 * particles. A particle to the left of a plane has a coordinate below or at it,
 * or NaN. BOUMA_OK, ENOMEM, ELIMIT for 2^32 - 1 particles or more. */
int bm_particle_router_make(struct bm_particle_router *out,
                            const bouma_allocator *a,
                            const struct bm_positions *positions,
                            const struct bm_aggregation *tree,
                            const struct bm_sample *sample,
                            const uint32_t *file);
void bm_particle_router_release(struct bm_particle_router *s);

/* The index of a file in s->files, or -1. */
int64_t bm_particle_router_find(const struct bm_particle_router *s,
                                uint32_t file);

#endif
