/* layout.h -- how objects lie in files: one table of functions for each way. To
 * add one, write a file that fills the table, and a line in layout.c.
 *
 * Whatever the layout, a variable of an object is stored in chunks, each known
 * by a key and cut into pieces, from the coarsest to the finest: one for each
 * level, or fewer (see bm_finest_piece()). Where pieces lie, how they are
 * checked, gathered, stored and found again is the same for all; what they mean
 * is the layout's. */
#ifndef BM_LAYOUT_H
#define BM_LAYOUT_H

#include "layout/array.h"
#include "layout/object.h"
#include "plan/chunking.h"

/* What a file has of an object, in short. It stands in the head of the file
 * and, for readers that need not open the file, in the manifest. Objects whose
 * layout has no 'summary' have none. */
struct bm_summary {
    const struct bm_object *object;
    void *own;             /* the layout's; NULL: released */
    uint64_t index_offset; /* in the file; derived */
};

/* The index of an object in a file; no bytes: there is none. */
struct bm_index {
    uint64_t bytes;
    uint32_t hash; /* see bm_summary_hash_index() */
};

/* Instead of a level, in the address of an index. */
#define BM_INDEX_LEVEL UINT32_MAX

/* The variables that a file has; and the range of a component's values. */
struct bm_contents {
    int (*has)(const void *list, uint32_t variable);
    struct bm_range (*range)(const void *list, uint32_t variable,
                             int component);
    const void *list;
};

struct bm_summary_functions {
    /* An empty one. BOUMA_OK or ENOMEM. */
    int (*init)(struct bm_summary *s);
    void (*release)(struct bm_summary *s);
    int (*copy)(struct bm_summary *out, const struct bm_summary *s);
    void (*encode)(struct bm_buffer *b, const struct bm_summary *s);
    /* Into an empty one. BOUMA_OK, ENOMEM or EFORMAT. */
    int (*decode)(struct bm_summary *s, struct bm_cursor *c);
    /* What so many files have together, into an empty one; and such a sum from
     * its bytes, which are as those of a file. */
    int (*sum)(struct bm_summary *s, const struct bm_summary *const *files,
               size_t count);
    int (*decode_sum)(struct bm_summary *s, struct bm_cursor *c,
                      uint32_t files);
    /* Whether it can be that of a file with these variables. */
    int (*fits)(const struct bm_summary *s, const struct bm_contents *c);
    /* A fact in which it differs from the ranges of the values, or NULL. */
    const char *(*contradicts)(const struct bm_summary *s,
                               const struct bm_contents *c);
    /* The file may have an index of the object, in front of all chunks. */
    struct bm_index (*index)(const struct bm_summary *s);
    /* Whether its bytes are an index, and one of what the summary tells:
     * EFORMAT if not; BOUMA_OK or ENOMEM. */
    int (*check_index)(const struct bm_summary *s, const uint8_t *data,
                       size_t bytes, struct bm_codec_state *codec);
    const char *index_name; /* for messages: "the tree over the particles" */
    /* Add it to what the object has in all files of a step. */
    void (*total)(struct bm_object *o, const struct bm_summary *s);
};

/* The samples that a file, or all files, must have of each component. */
struct bm_limits {
    uint64_t least, most;
};

/* Codec and memory of a thread that encodes or decodes chunks, kept from one to
 * the next. */
struct bm_coder {
    const bouma_allocator *a;
    struct bm_codec_state codec;
    struct bm_block_of_memory room[5]; /* for whatever the layout likes */
};

void bm_coder_init(struct bm_coder *d, const bouma_allocator *a);
void bm_coder_release(struct bm_coder *d);

/* A chunk that is decoded, piece by piece, from coarse to fine. */
struct bm_decoding {
    struct bm_coder *coder;
    const struct bouma_variable *variable;
    const struct bm_summary *summary; /* of the file, or NULL */
    uint64_t key;
    int level;                 /* that was decoded last; if chunks have fewer
                              pieces than levels: that piece */
    const struct bm_box *clip; /* no other samples are wanted; NULL: all are */
    int fine;                  /* the level at which they are wanted */
    void *own;                 /* the layout's, in the coder's memory */
};

/* A chunk that is put together from its parts, and encoded. */
struct bm_encoding {
    struct bm_coder *coder;
    const struct bouma_variable *variable;
    uint64_t key;
    /* With a codec whose sizes are known before: where the pieces go, one after
     * the other; else NULL. */
    uint8_t *room;
    void *own; /* the layout's, in the coder's memory */

    /* What came out: */
    uint32_t sizes[BM_MAX_LEVELS]; /* of pieces */
    struct bm_range ranges[BM_MAX_COMPONENTS];
    struct bm_loss loss;
};

/* Where the samples of a box lie in memory. */
struct bm_memory_box {
    struct bm_box box; /* lifted, full-resolution samples */
    struct bm_array array;
};

/* Samples of a chunk in memory, as those of the variable. */
struct bm_memory_part {
    struct bm_footprint samples;
    struct bm_array array;
};

/* Where samples go, as those of the variable. */
struct bm_target {
    struct bm_footprint samples; /* no others */
    struct bm_array array;
};

struct bm_head;

#define BM_MAX_FRONT_BYTES ((uint64_t)1 << 30)

/* Files that begin with bytes of another format: see front.h. Such an object
 * has files for itself: its chunking has 'file'. */
struct bm_front_functions {
    /* How many bytes files of the object begin with, at most
     * BM_MAX_FRONT_BYTES: 'define' and 'check_variable' see to that. 0: none,
     * and files are as those of any object. */
    uint64_t (*bytes)(const struct bm_object *o);
    /* These bytes, which are zero before. They follow from the head alone, once
     * all sizes and offsets are there: so they can be checked, and made
     * anew. */
    void (*fill)(uint8_t *out, const struct bm_head *h,
                 const struct bm_object *o);
};

/* Grids whose samples are stored as the coefficients of a transform, each in the
 * place of a sample. It works on boxes of samples, the tiles: a rank that writes
 * must have the whole of a tile, and one that reads gets whole ones. Chunks,
 * pieces and levels are those of the coefficients. */
struct bm_tile_functions {
    /* The tiles of a grid, of three axes always; 0: it has none, and samples are
     * stored as they are. */
    int (*tiling)(const struct bm_object *o, struct bm_tiling *out);
    /* Samples to coefficients, and those of a level to samples; in place, of one
     * component, dense. The box has whole tiles. */
    void (*forward)(const struct bouma_variable *v, void *samples,
                    const struct bm_box *box);
    void (*inverse)(const struct bouma_variable *v, void *coefficients,
                    const struct bm_box *box, int level);
    /* What rounding within the tolerance does to values, in place: added to
     * *loss. */
    void (*round)(const struct bouma_variable *v, void *values, size_t count,
                  struct bm_loss *loss);
    /* Whether coarser levels are averages. */
    int (*averages)(const struct bouma_variable *v);
};

struct bm_layout {
    enum bm_object_kind kind;
    uint8_t code;  /* in files; never changes */
    int pieces;    /* of a chunk; 0: one for each level */
    int scattered; /* the samples of a chunk lie apart from each other */
    enum bm_codec_use use; /* that it has for codecs */
    bouma_codec lossy;     /* of variables with a tolerance and no codec */

    /* ---- schema ---- */
    /* What the caller wants, checked, into a new object: levels, axes, 'own'.
     * Messages go to the schema's error, and begin with the object's name. */
    int (*define)(struct bm_object *o, const void *spec);
    void (*release)(struct bm_object *o);
    /* What is the layout's own, as bytes; and back, into a new object whose
     * ndims and levels are there. BOUMA_OK, ENOMEM or EFORMAT. */
    void (*encode_schema)(struct bm_buffer *b, const struct bm_object *o);
    int (*decode_schema)(struct bm_object *o, struct bm_cursor *c);
    /* The codec of variables with neither a codec nor a tolerance; NULL: zstd.
     */
    bouma_codec (*exact_codec)(const struct bm_object *o);
    /* What is wrong with a variable, as the end of a sentence, or NULL. */
    const char *(*check_variable)(const struct bm_object *o,
                                  const bouma_variable_spec *spec,
                                  int components);
    /* Whether all variables are there that must be. */
    int (*complete)(const struct bm_object *o);
    /* In what the object of rank 'me' differs from rank 0's, as a message; 0 if
     * it does not. */
    int (*differs)(char *text, size_t bytes, const struct bm_object *mine,
                   const struct bm_object *root, int me);

    /* ---- chunks; 's' is the file's summary, or NULL ---- */
    /* The most values of one component that a chunk can have. */
    uint64_t (*most_values)(const struct bm_object *o);
    int (*has_chunk)(const struct bm_object *o, const struct bm_summary *s,
                     uint64_t key);
    /* The values of one component in each piece, into values[pieces]; gives
     * the samples of the chunk. There may be more values, to fill it up. */
    uint64_t (*values)(const struct bm_object *o, const struct bm_summary *s,
                       uint64_t key, uint64_t values[BM_MAX_LEVELS]);
    /* Where a chunk is, for messages: "patch [0:4,0:8]". */
    void (*text)(char *text, size_t bytes, const struct bm_object *o,
                 uint64_t key);
    /* The chunks that a file can have, of each variable; and the samples. */
    struct bm_limits (*chunks)(const struct bm_object *o,
                               const struct bm_summary *s);
    struct bm_limits (*samples)(const struct bm_object *o,
                                const struct bm_summary *s);

    /* ---- grids: chunks as sets of samples ---- */
    /* Which samples are in which chunk, at level 0: all that is planned, who
     * sends what to whom and who reads what for whom, follows from it. NULL:
     * chunks are no sets of samples with indices. */
    struct bm_chunking (*chunking)(const struct bm_object *o);
    /* Tell what is the layout's own. */
    void (*info)(const struct bm_object *o, bouma_grid_info *out);

    /* ---- encoding them ---- */
    /* BOUMA_OK or ENOMEM; once it succeeded, it does so for chunks that are no
     * larger. */
    int (*encode_begin)(struct bm_encoding *e);
    /* Take a part of the chunk; each sample comes once. */
    void (*take)(struct bm_encoding *e, const struct bm_memory_part *from);
    /* With all parts there: the pieces, coarse to fine, behind what is in
     * 'out'; or to e->room, which cannot fail. BOUMA_OK or ENOMEM. */
    int (*encode_pieces)(struct bm_encoding *e, struct bm_buffer *out);

    /* ---- decoding; BOUMA_OK, ENOMEM or EFORMAT ---- */
    /* Begin with the coarsest piece; or, with 'kept' (see below), with the one
     * behind d->level, if level d->fine needs one. */
    int (*decode_begin)(struct bm_decoding *d, const uint8_t *kept);
    /* The next finer piece. Its bytes must stay until the samples were
     * used. */
    int (*decode_piece)(struct bm_decoding *d, const uint8_t *data,
                        size_t bytes);
    /* The range of all values, once the last piece was decoded. */
    void (*ranges)(const struct bm_decoding *d, struct bm_range *ranges);
    /* Bytes of what must be kept of a level; and that of level d->fine, from
     * which another decoding can go on. */
    size_t (*sample_bytes)(const struct bm_decoding *d, int level);
    void (*keep)(const struct bm_decoding *d, uint8_t *samples);

    /* The samples that the chunk and the target have in common; of a grid. */
    void (*give)(const struct bm_decoding *d, const struct bm_target *target);

    /* ---- what a file has of an object; NULL: nothing but chunks ---- */
    const struct bm_summary_functions *summary;
    const struct bm_front_functions *front; /* NULL: files begin with heads */
    const struct bm_tile_functions *tiles;  /* NULL: samples, no coefficients */
    int file_tree; /* the manifest has a tree over its summaries: see file_tree.h */
};

/* Pieces of a chunk. Level k is made of the coarsest ones up to this one: the
 * k-th from the finest; coarser levels than there are pieces share the coarsest
 * piece. */
static inline int bm_pieces(const struct bm_object *o)
{
    return o->layout->pieces ? o->layout->pieces : o->levels;
}
static inline int bm_finest_piece(const struct bm_object *o, int level)
{
    int pieces = bm_pieces(o);

    return level < pieces ? level : pieces - 1;
}
/* The piece that a level needs and the next coarser one does not, or -1. */
static inline int bm_added_piece(const struct bm_object *o, int level)
{
    return level == o->levels - 1     ? bm_pieces(o) - 1
           : level < bm_pieces(o) - 1 ? level
                                      : -1;
}

/* The tiles of a grid whose samples are stored as coefficients: 0 if they are
 * not. Codecs then keep every bit, and a tolerance is the layout's affair. */
static inline int bm_object_tiling(const struct bm_object *o,
                                   struct bm_tiling *out)
{
    return o->layout->tiles && o->layout->tiles->tiling(o, out);
}
static inline int bm_object_is_tiled(const struct bm_object *o)
{
    struct bm_tiling t;

    return bm_object_tiling(o, &t);
}

/* Whether coarser levels of a variable are averages, not samples: codecs make
 * them of levels that are pieces; tiles, of all. */
int bm_variable_averages(const struct bouma_variable *v);

/* The level of a piece, for messages: "level 2, "; or nothing, if pieces are
 * not levels. */
#define BM_PIECE_TEXT_BYTES 32
const char *bm_piece_text(char text[BM_PIECE_TEXT_BYTES],
                          const struct bm_object *o, int piece);

/* Of objects whose layout has 'chunking': the keys of the chunks that have
 * samples of a level in a box, ascending; *keys is the caller's to drop from
 * the object's memory. BOUMA_OK or ENOMEM. */
int bm_chunks_select(uint64_t **keys, size_t *count, const struct bm_object *o,
                     const struct bm_box *box, int level);
/* The same keys in ascending order; *keys may become another block of 'a'.
 * BOUMA_OK or ENOMEM. */
int bm_keys_sort(uint64_t **keys, size_t count, const bouma_allocator *a);
/* The bytes of a chunk's values, from a piece up to the coarsest; those that
 * fill it up count. */
uint64_t bm_chunk_value_bytes(const struct bouma_variable *v,
                              const struct bm_summary *s, uint64_t key,
                              int finest);
/* The smallest box around the samples of a chunk. */
struct bm_box bm_chunk_bounds(const struct bm_object *o, uint64_t key);

/* NULL if there is none; and the largest code of all. */
const struct bm_layout *bm_layout_find(int kind, int code);
int bm_layout_last_code(void);

/* All layouts: a new one adds a line here. A test compiles layout.c with one
 * line more. */
#ifndef BM_LAYOUTS_OF_TEST
#define BM_LAYOUTS_OF_TEST(X)
#endif
#define BM_LAYOUTS(X)                                                          \
    X(grid_patch)                                                              \
    X(grid_hz)                                                                 \
    X(particles_bat)                                                           \
    BM_LAYOUTS_OF_TEST(X)
#define BM_LAYOUTS_ENTRY(name) extern const struct bm_layout bm_layout_##name;
BM_LAYOUTS(BM_LAYOUTS_ENTRY)
#undef BM_LAYOUTS_ENTRY

#endif
