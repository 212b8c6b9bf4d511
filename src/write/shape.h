/* shape.h -- chunks become bytes: their parts are brought together from the
 * ranks that hold them, split into levels, encoded, and summed up in a record
 * for the rank that will store them. */
#ifndef BM_SHAPE_H
#define BM_SHAPE_H

#include "codec/codec.h"
#include "comm/route.h"
#include "write/write_plan.h"

/* What who encodes a chunk of coefficients is told of its samples. */
struct bm_chunk_facts {
    struct bm_range *ranges; /* [components] */
    struct bm_loss loss;
};

/* Of grids that are stored as coefficients: see shape_tiles.h. */
struct bm_shaper_tiles {
    /* This rank's blocks of each variable, ended by one without data; NULL: it
     * has no tiles. */
    struct bm_memory_box **boxes; /* [variables] */
    size_t variables;
    /* Of each, the tiles that this rank transforms or has parts of. */
    struct bm_tile_list {
        int64_t *tile; /* [count], ascending */
        size_t count;
        int failed;                  /* no memory for one more */
    } * concern;                     /* [variables] */
    struct bm_route sends, receives; /* parts of tiles */
    size_t next;                     /* of them, while they are gone through */
    uint8_t *part;                   /* room for one */
    struct bm_chunk_facts *facts; /* [fact_count], of this rank's parts of its
                                     chunks */
    size_t fact_count;
};

/* What a thread that encodes chunks has for itself. */
struct bm_shaper_hand {
    struct bm_coder coder;
    /* Samples that are not used where they are: of one part at a time. */
    uint8_t *room;
    int failed;   /* some could not be had; told once ranks agree again */
    size_t chunk; /* that failed; of those that did, its first */
    struct bm_error error;  /* why; hand 0 tells the dataset */
    struct bm_buffer bytes; /* of the chunks of a batch */
    double seconds;         /* for the chunks of a batch */
};

struct bm_shaper {
    struct bouma_dataset *ds;
    struct bm_comm *comm; /* of those that have the chunks */
    const struct bm_write_plan *plan;
    const struct bm_step_entry *entry; /* the job's */
    const struct bm_put **first_put; /* [variables], of this rank; NULL: none */
    struct bm_shaper_hand *hands; /* [hand_count]; the first is the caller's */
    size_t hand_count;
    struct bm_route sends, receives; /* parts of patches */
    size_t *first_part; /* [mine_count + 1], serials in 'receives' */
    size_t *sent;       /* [sent_count], chunks with parts that it sends */
    size_t sent_count;
    int sized; /* all sizes are known beforehand */
    struct bm_shaper_tiles tiles;

    /* Of each chunk of plan->mine: */
    uint8_t *records;
    size_t *record_at;        /* [mine_count + 1], in 'records' */
    struct bm_buffer encoded; /* unless sized */
    size_t *encoded_at;       /* [mine_count], in 'encoded' */
    size_t *encoded_bytes;    /* [mine_count] */
    size_t encoded_count;     /* chunks so far */
    uint16_t *hand_of;        /* [mine_count], which hand encoded it */
    uint32_t *times;          /* [mine_count], units of BM_TIME_UNIT */

    double encode_seconds; /* of all chunks, on all threads */
};

/* A record: for each level u32 size and u32 hash, for each component u64 low,
 * high and number of NaN, and the two f64 of the loss. */
size_t bm_record_bytes(const struct bouma_variable *variable);

/* Everything that needs memory, before ranks begin to wait for each other. The
 * puts are sorted by variable. A zeroed shaper can be released. */
int bm_shaper_init(struct bm_shaper *s, struct bouma_dataset *ds,
                   struct bm_comm *comm, const struct bm_write_plan *plan,
                   const struct bm_step_entry *entry);
void bm_shaper_release(struct bm_shaper *s);

/* Send and receive the parts of patches. Not to be called if some rank's
 * bm_shaper_init() failed. */
int bm_shaper_exchange(struct bm_shaper *s);

/* ---- parts of chunks ---- */

/* The samples that block 'k' of the partition has of a chunk; the bytes of these
 * in a message; and the rank that holds them. */
struct bm_footprint bm_part_of(const struct bm_chunk *c, int64_t k);
size_t bm_part_bytes(const struct bm_chunk *c, int64_t k);
int bm_part_rank(const struct bm_chunk *c, int64_t k);

/* Samples of a box that is in memory. */
struct bm_memory_part bm_part_in_box(const struct bm_memory_box *from,
                                     const struct bm_footprint *samples);
/* Samples of a put: where its caller has them, or in h->room, till the next
 * ones. After a failure (h->failed) they are any. */
struct bm_memory_part bm_part_given(struct bm_shaper_hand *h,
                                    const struct bm_put *put,
                                    const struct bm_footprint *samples);
/* A part that this rank holds: samples of a put, or coefficients. */
struct bm_memory_part bm_part_mine(const struct bm_shaper *s,
                                   struct bm_shaper_hand *h,
                                   const struct bm_chunk *c, int64_t k);

/* The samples of a component, dense. */
void bm_part_pack(uint8_t *to, const struct bm_memory_part *from, int component,
                  size_t size);

/* ---- chunks ---- */

/* Encode chunk plan->mine[m] to 'out', which has room for its samples: only
 * with codecs whose size is known before. */
void bm_shaper_fill(struct bm_shaper *s, size_t m, uint8_t *out);

/* Whether samples could not be had: what went wrong with the first of them, or
 * BOUMA_OK. */
int bm_shaper_failed(const struct bm_shaper *s);

/* How many chunks are worth a call of bm_shaper_encode(): more need more
 * memory, fewer leave threads idle. */
size_t bm_shaper_batch(const struct bm_shaper *s);

/* Encode chunks plan->mine[m[i]] to the end of s->encoded, in this order, on the
 * dataset's threads; all of them, if it is NULL. BOUMA_OK or ENOMEM, or why
 * samples could not be had, with a message. */
int bm_shaper_encode(struct bm_shaper *s, const size_t *m, size_t count);

#endif
