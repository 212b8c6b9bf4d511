/* manifest.h -- the one file that makes a step: what it holds, and one record
 * for each subfile, by which a reader knows which of them to open. If there are
 * many subfiles, their records are in sheets, which can be read one by one: see
 * sheet.h. */
#ifndef BM_MANIFEST_H
#define BM_MANIFEST_H

#include "layout/file_tree.h"
#include "layout/head.h"
#include "store/index.h"

/* What a subfile has of one variable. */
struct bm_part_info {
    uint32_t variable;
    uint64_t chunks;
    uint64_t level_bytes[BM_MAX_LEVELS];
    struct bm_loss loss;
    struct bm_box bounds;    /* lifted; of grids only */
    struct bm_range *ranges; /* [components] */
};

struct bm_subfile_info {
    uint64_t file_bytes, head_bytes;
    uint64_t head_offset; /* of the first head: see front.h; derived */
    uint8_t head_hash[16];
    struct bm_summary_list summaries;
    struct bm_part_info *parts; /* [count], ascending by variable */
    size_t count;
};

struct bm_writing;
struct bm_sheet;

struct bm_manifest {
    const bouma_allocator *a;
    uint64_t step;
    double time;
    struct bm_generation generation;
    /* Of a step that was extended, see writings.h; else all 0: */
    struct bm_writing **earlier; /* [earlier_count], the oldest first */
    size_t earlier_count;
    struct bm_generation base; /* the writing that this one adds to; derived */
    struct bm_generation
        latest;     /* of such a writing before: the last one of the
                                    step; derived */
    size_t first;   /* files of the writings before; derived */
    uint64_t nonce; /* tells two manifests apart that are equal otherwise */
    bouma_order order;
    bouma_distribute distribute;
    bouma_assign assign, assign_particles;
    bouma_place place;
    bouma_record record;
    struct bouma_attributes dataset_attributes, attributes;
    struct bm_schema *schema;         /* not owned */
    struct bm_subfile_info *subfiles; /* [count]; NULL if there are sheets */
    size_t count;
    uint32_t sheet_files;    /* that a sheet has; 0: there are no sheets */
    struct bm_sheet *sheets; /* [sheet_count] */
    size_t sheet_count;
    struct bm_file_tree
        *file_trees; /* [file_tree_count], of the sets of particles, in order */
    size_t file_tree_count;
};

void bm_manifest_init(struct bm_manifest *m, const bouma_allocator *a,
                      struct bm_schema *schema, struct bm_error *error);
void bm_manifest_release(struct bm_manifest *m);

/* 'count' empty subfiles. BOUMA_OK or ENOMEM. */
int bm_manifest_set_subfiles(struct bm_manifest *m, size_t count);

/* What is told of subfile i, which is there: see sheet.h. */
struct bm_subfile_info *bm_manifest_record(const struct bm_manifest *m,
                                           size_t i);

/* With all subfiles there, the trees over the files of particles: those of
 * trees[sets], or none if that is NULL. BOUMA_OK, ENOMEM or EFORMAT. */
int bm_manifest_make_file_trees(struct bm_manifest *m,
                                const struct bm_aggregation *trees);
/* That of a set, or NULL. */
const struct bm_file_tree *bm_manifest_file_tree(const struct bm_manifest *m,
                                                 const struct bm_object *set);

/* What a head has to say to the manifest; and as bytes, from the rank that
 * wrote the subfile to rank 0, and in the manifest itself. */
int bm_subfile_info_of(struct bm_subfile_info *out, const struct bm_head *h,
                       const uint8_t head_hash[16], const bouma_allocator *a);
void bm_subfile_info_release(struct bm_subfile_info *info,
                             const bouma_allocator *a);
/* A part, as bytes; and back, with the limits to its chunks and samples that an
 * object with this summary (or NULL) has. BOUMA_OK, ENOMEM or EFORMAT. */
typedef void bm_part_limits(const struct bm_object *o,
                            const struct bm_summary *summary,
                            struct bm_limits *chunks,
                            struct bm_limits *samples);
void bm_part_info_encode(struct bm_buffer *b, const struct bm_part_info *part,
                         const struct bm_schema *schema);
int bm_part_info_decode(struct bm_part_info *out, struct bm_cursor *c,
                        const struct bm_summary_list *summaries,
                        bm_part_limits *limits, const struct bm_schema *schema);
/* What it has of a variable, or NULL. */
const struct bm_part_info *
bm_subfile_info_part(const struct bm_subfile_info *info, uint32_t variable);
void bm_subfile_info_encode(struct bm_buffer *b,
                            const struct bm_subfile_info *info,
                            const struct bm_schema *schema);
int bm_subfile_info_decode(struct bm_subfile_info *out, struct bm_cursor *c,
                           const struct bm_schema *schema);

/* Facts that stand in the manifest and in the head of subfile 'i', too: *what
 * is set to one in which they differ, or NULL. BOUMA_OK or ENOMEM. */
int bm_manifest_compare(const char **what, const struct bm_manifest *m,
                        size_t i, const struct bm_head *h,
                        const uint8_t head_hash[16]);
/* Those of them that are cheap to compare: NULL, or one in which they differ.
 */
const char *bm_manifest_glance(const struct bm_manifest *m, size_t i,
                               const struct bm_head *h);
/* What the files are in sum: their number, bytes and chunks, for a record. */
void bm_manifest_count(bouma_record *r, const struct bm_manifest *m);
/* Facts of the record that follow from the subfiles: NULL, or one that does
 * not. With bm_manifest_total() done. */
const char *bm_manifest_check_record(const struct bm_manifest *m);

/* From the subfiles, fill in what the variables have in sum (presence, bytes,
 * ranges). EFORMAT if they do not hold every patch of a present variable, or
 * every particle. */
int bm_manifest_total(struct bm_manifest *m);

/* With its envelope, and with its sheets, into an empty buffer. */
void bm_manifest_encode(struct bm_buffer *b, const struct bm_manifest *m,
                        const uint8_t id[16]);
/* Check no more than the checksum, and tell which step it is, and which writing
 * of it. There may be sheets behind it, which are not looked at. */
int bm_manifest_peek(struct bm_step_entry *out, const struct bm_buffer *b,
                     const uint8_t *id, const char *name,
                     struct bm_error *error);
/* Into an initialised one, whose schema is empty. All sheets must be there. */
int bm_manifest_decode(struct bm_manifest *m, const uint8_t *data, size_t bytes,
                       const uint8_t *id, const char *name,
                       struct bm_error *error);
/* The same, but sheets are not decoded: their checksums are right, and their
 * bytes lent (sheet.h), for as long as 'data' is there. */
int bm_manifest_decode_lent(struct bm_manifest *m, const uint8_t *data,
                            size_t bytes, const uint8_t *id, const char *name,
                            struct bm_error *error);
/* The same without sheets, whether 'data' has them or not. */
int bm_manifest_decode_front(struct bm_manifest *m, const uint8_t *data,
                             size_t bytes, const uint8_t *id, const char *name,
                             struct bm_error *error);

#endif
