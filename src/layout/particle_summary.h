/* particle_summary.h -- the particles of one set in one subfile, in short: how
 * many, where, and which values they have. It stands in the head of the subfile
 * and, for queries that need not open the file, in the manifest. */
#ifndef BM_PARTICLE_SUMMARY_H
#define BM_PARTICLE_SUMMARY_H

#include "layout/particles_bat.h"
#include "layout/tree.h"
#include "store/store.h"

struct bm_particle_summary {
    const bouma_allocator *a;
    const struct bm_object *set;
    uint64_t count;         /* particles, below 2^32 */
    uint64_t strays;        /* of them: not in the tree */
    uint64_t seed;          /* of the levels of detail */
    double low[3], high[3]; /* of those in the tree */
    uint64_t tree_bytes;    /* as stored */
    uint32_t tree_hash;

    /* For each component of each variable that is here, in their order: */
    uint32_t rows;
    bouma_type *types;
    struct bm_bins *bins;
    uint32_t *bitmaps; /* of all particles in the tree */
};

#define BM_MAX_PARTICLE_SUMMARY (((uint64_t)1 << 32) - 1) /* particles */

/* The summaries of such sets. */
extern const struct bm_summary_functions bm_particle_summary_functions;

static inline struct bm_particle_summary *
bm_particle_summary_of(const struct bm_summary *s)
{
    return s ? s->own : NULL;
}

void bm_particle_summary_init(struct bm_particle_summary *c,
                              const bouma_allocator *a,
                              const struct bm_object *set);
void bm_particle_summary_release(struct bm_particle_summary *c);

/* Rows for these variables; types are filled in. BOUMA_OK or ENOMEM. */
int bm_particle_summary_set_rows(struct bm_particle_summary *c,
                                 struct bouma_variable *const *variables,
                                 int count);

/* The row that a component of a variable is, in a step that has it; not of the
 * position. */
uint32_t bm_particle_row(const struct bm_object *set,
                         const struct bouma_variable *v, int component);

/* Into an uninitialised one, which can be released in any case. */
int bm_particle_summary_copy(struct bm_particle_summary *out,
                             const struct bm_particle_summary *c,
                             const bouma_allocator *a);

void bm_particle_summary_encode(struct bm_buffer *b,
                                const struct bm_particle_summary *c);
int bm_particle_summary_decode(struct bm_particle_summary *c,
                               struct bm_cursor *in);

/* The tree of a summary from its bytes, into an initialised one; it must be the
 * one that the summary tells of. BOUMA_OK, ENOMEM or EFORMAT. */
int bm_particle_summary_decode_tree(struct bm_tree *tree,
                                    const struct bm_particle_summary *c,
                                    const uint8_t *data, size_t bytes,
                                    struct bm_codec_state *state);

/* The chunks that so many slots make. */
uint64_t bm_particle_summary_chunks(const struct bm_object *set,
                                    uint64_t slots);
/* The slots of one chunk. */
uint32_t bm_particle_summary_chunk_slots(const struct bm_object *set,
                                         uint64_t slots, uint64_t chunk);
/* Particles of a chunk at each level, into values[levels]; gives their sum. */
uint64_t bm_particle_summary_values(const struct bm_object *set, uint64_t slots,
                                    uint64_t seed, uint64_t chunk,
                                    uint64_t values[BM_MAX_LEVELS]);

/* One level of a chunk of a variable, [components][count], to bytes (appended)
 * and back. BOUMA_OK, ENOMEM or EFORMAT. */
int bm_values_encode(struct bm_codec_state *state, struct bm_buffer *out,
                     const struct bouma_variable *v, const void *values,
                     size_t count);
int bm_values_decode(struct bm_codec_state *state, void *values,
                     const struct bouma_variable *v, size_t count,
                     const uint8_t *in, size_t stored);

#endif
