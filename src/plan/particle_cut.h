/* particle_cut.h -- whether ranks' particles stay whole or are cut, so that
 * files of `split` are alike. */
#ifndef BM_PARTICLE_CUT_H
#define BM_PARTICLE_CUT_H

#include "plan/aggregate.h"

/* What a set of particles is, and what is wanted of its files. */
struct bm_particle_rule {
    int ndims;
    uint64_t bytes;     /* of one particle */
    uint64_t particles; /* of all ranks */
    int ranks;
    bouma_assign assign; /* as it was asked for; 0: nobody did */
    int files;           /* wanted; 0: as many as follow from their size */
    uint64_t file_size;  /* wanted; 0: bm_aggregate_target() */
};

/* Which scheme is meant. */
bouma_assign bm_particle_scheme(bouma_assign assign);

/* The bytes that a file is to have. */
uint64_t bm_particle_file_bytes(const struct bm_particle_rule *r);

/* Whether some of the units, of whole ranks, have to be cut. BOUMA_OK, or what
 * bm_aggregate() returns. */
int bm_particle_must_cut(int *cut, const struct bm_particle_rule *r,
                         const bouma_allocator *a, const struct bm_unit *units,
                         size_t count);

/* Those with more particles than this are cut. */
uint64_t bm_particle_most_uncut(const struct bm_particle_rule *r);

/* The number of points that stand for so many particles that are cut. */
size_t bm_particle_points(const struct bm_particle_rule *r, uint64_t count);

#endif
