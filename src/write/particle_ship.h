/* particle_ship.h -- particles go from the ranks that hold them to the writers
 * of their files. */
#ifndef BM_PARTICLE_SHIP_H
#define BM_PARTICLE_SHIP_H

#include "write/bundle.h"

struct bm_particle_write {
    struct bouma_dataset *ds;
    struct bm_particle_plan plan;
    struct bm_bundle *bundles; /* [bundle_count], the files of this rank */
    size_t bundle_count;
    struct bm_codec_state codec;
    struct bm_message *sends, *receives;
    size_t send_count, receive_count;
    uint8_t **packed; /* [packed_count], what is not sent from where it is */
    size_t packed_count;
    uint64_t raw_bytes, shipped_bytes; /* of all ranks */
};

/* Describe, plan, and have memory for all that follows. 'rc' is this rank's
 * status so far; ends with one status on all ranks. Collective. */
int bm_particles_prepare(struct bm_particle_write *p, struct bouma_dataset *ds,
                         int rc);
void bm_particles_release(struct bm_particle_write *p);

/* Send and receive. Not to be called if the preparation failed. */
int bm_particles_exchange(struct bm_particle_write *p);

#endif
