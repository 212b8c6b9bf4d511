/* flock.h -- for tests with several ranks: blocks of particles of which each
 * rank has its own, handed over in many memory layouts, and a look at all of
 * them together to compare with what is read. */
#ifndef FLOCK_H
#define FLOCK_H

#include "../helpers/particle_block.h"
#include "blocks.h"

/* How many particles which rank has. */
enum sharing {
    SHARE_EVENLY,
    SHARE_UNEVENLY,
    SHARE_GAPS, /* none on every second rank */
    SHARE_LAST, /* all on the last rank */
    SHARINGS
};

enum bounding {
    BOUNDS_NONE,
    BOUNDS_WRONG,
    BOUNDS_SAME, /* all ranks say the same */
    BOUNDINGS
};

/* The particles of all ranks in one step. */
struct flock {
    int ranks;
    struct particle_block *particle_blocks; /* [ranks] */
    uint64_t count;
};

struct flock_spec {
    enum shape shape;
    enum sharing sharing;
    int ndims;
    bouma_type type;
    uint64_t count; /* of a rank, about */
    int apart;      /* each rank has a box of its own */
};

/* The same on all ranks. */
void flock_make(struct flock *out, const struct flock_spec *spec, int ranks,
                int step);
void flock_free(struct flock *f);

/* The block of particles of a particle by its id, its index there, and its
 * index among all; NULL if there is none. */
const struct particle_block *flock_find(const struct flock *f, uint64_t id,
                                        uint64_t *at, uint64_t *among_all);

/* The memory that was handed over, until the step has ended. */
struct flock_put {
    uint8_t *memory[64], *copy[64];
    size_t bytes[64];
    int count;
};

/* Hand over this rank's block of particles in one block to three, in random
 * layouts; the first 'variables' of its variables. */
int flock_hand_over(struct flock_put *out, const struct particle_block_set *set,
                    const struct particle_block *s, int variables,
                    enum bounding bounding, uint64_t *random);
/* The number of arrays that somebody has changed. */
int flock_put_free(struct flock_put *put);

/* The number of particles in 'd' that are not of the flock, or there twice;
 * there[all] says which are. */
uint64_t flock_wrong(const struct flock *f, const bouma_particle_data *d,
                     uint8_t *there);

/* The number of particles for which 'there' is not what a look at each of them
 * says. 'mass' is NULL, or two ends. */
uint64_t flock_missed(const struct flock *f, const bouma_particles_query *q,
                      const double *mass, const uint8_t *there);

/* A box with ends at coordinates of particles. */
int flock_box(const struct flock *f, bouma_bounds *box, uint64_t *random);

#endif
