/* particle_ship.h -- particles go from the ranks that hold them to the writers
 * of their files. */
#ifndef BM_PARTICLE_SHIP_H
#define BM_PARTICLE_SHIP_H

#include "engine/pipe.h"
#include "write/particle_file.h"

/* What one rank has for a file in one round: some of its particles. */
struct bm_parcel {
    const struct bm_set_plan *set;
    const struct bm_delivery *delivery;
    struct bm_particle_file *particle_file; /* if this rank writes the file */
    uint64_t from, end;                     /* of those of the delivery */
    uint64_t at; /* in the stream of the file's writer */
};

struct bm_particle_write {
    struct bouma_dataset *ds;
    struct bm_particle_plan plan;
    struct bm_particle_file
        *particle_files; /* [particle_file_count], the files of this rank */
    size_t particle_file_count;
    struct bm_codec_state codec;
    struct bm_pipe *pipe;
    struct bm_parcel *sent, *come; /* through the pipe */
    size_t sent_count, come_count;
    uint64_t rounds;                   /* in which this rank has sent some */
    uint64_t raw_bytes, shipped_bytes; /* of all ranks */
};

/* Describe, plan, and have memory for all that follows. 'rc' is this rank's
 * status so far; ends with one status on all ranks. Collective. */
int bm_particles_prepare(struct bm_particle_write *p, struct bouma_dataset *ds,
                         int rc);
void bm_particles_release(struct bm_particle_write *p);

/* All particles to the writers of their files. Collective, but without an
 * agreement at its end. Not to be called if the preparation failed. */
int bm_particles_exchange(struct bm_particle_write *p);

/* Before the i-th file is shaped: if it has particles of this rank alone, they
 * are brought together now, not before, so that only one such file at a time
 * takes memory beside the caller's arrays. */
int bm_particles_take(struct bm_particle_write *p, size_t i);

#endif
