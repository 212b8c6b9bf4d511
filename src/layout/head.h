/* head.h -- the head of a subfile: what it is, what the step holds, and the
 * table of its chunks. It stands at the front of the file and again at its end.
 *
 *     | head | 0 to 63 zero bytes | indices | chunk levels | head |
 *
 * Chunks are grouped by variable (a section), in each by ascending key. Where a
 * chunk level lies is not stored but follows from the sizes and the order:
 *
 *     order=level:  for each level, coarse to fine: for each section: chunks
 *     order=chunk:  for each section: for each chunk: levels, coarse to fine
 *
 * so no offset can point anywhere wrong. A writer that stores chunks before it
 * has all sizes makes a subfile *with stored offsets* instead: they are in the
 * table, and there may be more room behind the first head, and gaps between
 * levels. A file may begin with bytes of another format, in front of the first
 * head: see front.h. */
#ifndef BM_HEAD_H
#define BM_HEAD_H

#include "layout/summary.h"
#include "store/store.h"

#define BM_MAX_SUBFILES   ((uint32_t)1 << 20)
#define BM_MAX_DATA_BYTES ((uint64_t)1 << 61)
#define BM_DATA_ALIGNMENT 64 /* data_offset is a multiple of it */
/* What a subfile with stored offsets may leave free in front of the data,
 * beyond 4 times the bytes of its head. */
#define BM_SPARE_BYTES   ((uint64_t)1 << 20)
#define BM_HEAD_COPIES   2  /* in a file */
#define BM_SECTION_BYTES 28 /* of a section, without its chunks */

/* The chunks of one variable in a subfile, as columns. */
struct bm_section {
    const struct bouma_variable *variable;
    size_t count;
    int levels;              /* pieces of each chunk: see bm_pieces() */
    uint64_t *keys;          /* [count], ascending */
    struct bm_range *ranges; /* [count][components] */
    uint32_t *sizes;         /* [count][levels] */
    uint32_t *hashes;        /* [count][levels] */
    uint64_t *offsets;       /* [count][levels], in the file */
    struct bm_loss loss;     /* of all chunks */
    const struct bm_summary *summary; /* of its object, or NULL */
};

struct bm_head {
    const bouma_allocator *a;
    uint64_t step;
    double time;
    uint32_t subfile, subfiles;
    struct bm_generation generation;
    struct bm_generation base; /* the writing of the step that it adds to; epoch
                                  0: none */
    bouma_order order;
    int has_offsets; /* the table stores them; never with summaries */
    struct bm_summary_list summaries;
    struct bm_section *sections; /* [count], ascending by variable */
    size_t count;
    uint64_t head_bytes, file_bytes; /* derived */
    /* What is in front of the first head, and where that begins: see front.h;
     * derived. */
    uint64_t front_bytes, head_offset;
    /* Derived, and so are the offsets of the sections, unless 'has_offsets'. */
    uint64_t data_offset, data_bytes;
};

void bm_head_init(struct bm_head *h, const bouma_allocator *a);
void bm_head_release(struct bm_head *h);

/* Room for a section's columns, zeroed; behind the summary of its object.
 * BOUMA_OK or ENOMEM. */
int bm_head_add_section(struct bm_head *h,
                        const struct bouma_variable *variable, size_t count);

/* Values of one component that a chunk has at each level, into values[levels];
 * gives their sum. */
uint64_t bm_section_values(const struct bm_section *s, size_t chunk,
                           uint64_t values[BM_MAX_LEVELS]);

/* Bytes of one chunk in the table, but for its key, sizes and offsets; and what
 * they follow from. 'most' values of a component are in a chunk. */
size_t bm_head_row_bytes(const struct bouma_variable *v);
size_t bm_table_row_bytes(bouma_type type, int components, int pieces,
                          uint64_t most);

/* Where in the data a chunk is, for messages: "patch [0:4,0:8]". */
void bm_section_text(char *text, size_t bytes, const struct bm_section *s,
                     size_t chunk);

/* From the sizes, fill in the derived fields. Of a head with stored offsets,
 * these are its own bytes, those of the file, and the offsets of levels that
 * have no bytes; EFORMAT if data_offset leaves too little or too much room for
 * it, or there are summaries. EFORMAT also if an object with a front is not
 * alone. Else BOUMA_OK or ENOMEM. */
int bm_head_arrange(struct bm_head *h, const struct bm_schema *schema);

/* Where a head with stored offsets of these sections, with their keys, ends at
 * most, whatever its sizes and offsets, if its data have no more than so many
 * bytes (at most BM_MAX_DATA_BYTES). Any data_offset from there up to 1 MiB
 * more will do, if it is a multiple of BM_DATA_ALIGNMENT. BOUMA_OK, ENOMEM, or
 * EFORMAT as above. */
int bm_head_bound(uint64_t *out, const struct bm_head *h,
                  const struct bm_schema *schema, uint64_t data_bytes);

struct bm_section *bm_head_section(const struct bm_head *h, uint32_t variable);
/* Which of the keys (ascending) the section has: where they stand in it, into
 * at[count], ascending. Their number. */
size_t bm_section_common(const struct bm_section *s, const uint64_t *keys,
                         size_t count, size_t *at);

/* With its envelope, into an empty buffer; gives the hash of the envelope. */
void bm_head_encode(struct bm_buffer *b, const struct bm_head *h,
                    const struct bm_schema *schema, const uint8_t id[16],
                    uint8_t hash[16]);

/* The bytes of a head, and what is known of its file. */
struct bm_head_bytes {
    const uint8_t *data;
    size_t bytes;
    uint64_t file_bytes; /* the size of the file */
    const uint8_t *id;   /* of the dataset; NULL: any */
    const char *name;    /* for messages */
    /* The step's schema as bytes, if the caller has them for many heads; NULL:
     * they are made. */
    const struct bm_buffer *schema;
};

/* Decode and check all that can be checked. 'schema' is that of the step (its
 * manifest's); NULL if there is none, then 'own' (an empty schema) receives the
 * subfile's own copy. */
int bm_head_decode(struct bm_head *h, const struct bm_schema *schema,
                   struct bm_schema *own, const struct bm_head_bytes *from,
                   struct bm_error *error);

/* How far values of level 0 that are read may lie beyond the range of those
 * that were given. */
double bm_variable_slack(const struct bouma_variable *v,
                         const struct bm_range *range);
/* Whether values that are read may be from low to high, if those that were given
 * have this range. */
int bm_variable_may_have(const struct bouma_variable *v,
                         const struct bm_range *range, double low, double high);

/* Two f64, neither negative nor NaN. BOUMA_OK or EFORMAT. */
int bm_loss_decode(struct bm_loss *loss, struct bm_cursor *c);
void bm_loss_join(struct bm_loss *loss, const struct bm_loss *other);

/* For both tables, here and in the manifest: a range in as many bytes as its
 * type has, twice. */
void bm_range_encode(struct bm_buffer *b, const struct bm_range *range,
                     bouma_type type);
/* 'samples' is what count and nans must add up to. */
int bm_range_decode(struct bm_range *range, struct bm_cursor *c,
                    bouma_type type, uint64_t nans, uint64_t samples);

#endif
