/* particle_file.h -- the particles of one file while its writer makes it:
 * received, sorted into a tree, split into levels of detail, encoded, written.
 */
#ifndef BM_PARTICLE_FILE_H
#define BM_PARTICLE_FILE_H

#include "codec/codec.h"
#include "write/particle_plan.h"
#include "write/subfile.h"

/* One component of one variable, of all particles of the file. */
struct bm_column_data {
    const uint8_t *values; /* dense, aligned */
    uint8_t *own;          /* NULL: they are the caller's */
};

/* Where the bytes of a level of a chunk of a variable are. */
struct bm_piece_place {
    size_t buffer; /* of those that are encoded */
    size_t at;
};

struct bm_particle_file {
    const struct bm_set_plan *set;
    uint32_t file; /* of the set */
    size_t count;
    struct bm_column_data *columns; /* [lanes], of the set's variables */
    size_t lanes;
    struct bm_subfile subfile;
    struct bm_tree tree;
    struct bm_buffer tree_bytes;
    struct bm_buffer *encoded; /* [encoded_count] */
    size_t encoded_count;
    struct bm_piece_place *pieces; /* [variables][chunks][levels] */
    struct bm_file_batch batch;    /* for whoever stores it */
};

/* Memory for what comes from other ranks; where all of a column comes from one
 * dense array of this rank, that is used as it is. A zeroed file of particles
 * can be released. */
int bm_particle_file_init(struct bm_particle_file *b, struct bouma_dataset *ds,
                          const struct bm_set_plan *set, uint32_t file);
void bm_particle_file_release(struct bm_particle_file *b);

/* With all particles there: sort, index and encode them. The head has all but
 * its offsets then. */
int bm_particle_file_shape(struct bm_particle_file *b, struct bouma_dataset *ds,
                           struct bm_codec_state *codec,
                           const struct bm_step_entry *entry,
                           uint32_t subfiles);

/* Make the file, and find where everything goes. */
int bm_particle_file_open(struct bm_particle_file *b, struct bouma_dataset *ds);

/* Write it, all but the head. May be done by another thread, which asks for no
 * memory and gives none back; so what was written is dropped by another call.
 */
int bm_particle_file_store(struct bm_particle_file *b, struct bm_error *error);
void bm_particle_file_drop(struct bm_particle_file *b);

#endif
