/* sheet.h -- the records of some subfiles of a step that has many: a part of
 * the manifest with a checksum of its own, so that it can be made by one rank
 * and read only if it is needed. The body of the manifest has of each sheet
 * what its subfiles have together. */
#ifndef BM_SHEET_H
#define BM_SHEET_H

#include "layout/manifest.h"

#define BM_MAX_SHEET_BITS  20 /* of the number of files that a sheet has */
#define BM_MAX_SHEET_BYTES ((uint64_t)1 << 37)
/* Of its body, before the records: what it is for, and their number. */
#define BM_SHEET_ADDRESS_BYTES 24

struct bm_sheet {
    uint64_t bytes; /* with its envelope */
    uint8_t hash[16];
    uint64_t offset; /* in the file of the manifest; derived */
    /* What its subfiles have together: bytes, parts, summaries. */
    struct bm_subfile_info sum;
    uint64_t largest;     /* of the subfiles */
    uint32_t *part_files; /* [sum.count], files that have such a part */
    uint32_t *set_files;  /* [sum.summaries.count] */
    struct bm_subfile_info *records; /* NULL: it is not loaded */
    size_t record_count;
    const uint8_t *stored; /* its bytes, lent; NULL: they follow from the
                              records */
};

void bm_sheet_release(struct bm_sheet *s, const bouma_allocator *a);

/* How many sheets so many files have; and the files that one of them has, from
 * k * m->sheet_files on. */
size_t bm_sheet_count_of(size_t files, uint32_t sheet_files);
size_t bm_sheet_records(const struct bm_manifest *m, size_t k);
/* What messages call sheet k of a manifest of this name. */
void bm_sheet_name(char *text, size_t room, const struct bm_manifest *m,
                   size_t k, const char *manifest);

/* What a sheet of these records is for. */
struct bm_sheet_address {
    const uint8_t *id; /* [16], of the dataset */
    uint64_t step;
    struct bm_generation generation;
    uint32_t number;
};

/* The sum of some records, into an uninitialised one, which can be released in
 * any case. BOUMA_OK, ENOMEM, or EFORMAT if they differ in the variables of
 * particles. */
int bm_sheet_sum(struct bm_sheet *out, const struct bm_subfile_info *records,
                 size_t count, const struct bm_schema *schema);
/* The bytes of a sheet, appended; its size and checksum go to *s. */
void bm_sheet_encode(struct bm_buffer *b, struct bm_sheet *s,
                     const struct bm_sheet_address *address,
                     const struct bm_subfile_info *records, size_t count,
                     const struct bm_schema *schema);

/* What the body of a manifest has of a sheet; and back, into an uninitialised
 * one, which can be released in any case. It has so many records. */
void bm_sheet_encode_sum(struct bm_buffer *b, const struct bm_sheet *s,
                         const struct bm_schema *schema);
int bm_sheet_decode_sum(struct bm_sheet *out, struct bm_cursor *c,
                        uint32_t records, const struct bm_schema *schema);

/* Cut a manifest whose records are all there into sheets of so many files, a
 * power of 2. BOUMA_OK, ENOMEM or EFORMAT. */
int bm_manifest_cut(struct bm_manifest *m, uint32_t sheet_files);
/* An empty tree over files for each set of particles. BOUMA_OK or ENOMEM. */
int bm_manifest_list_trees(struct bm_manifest *m);
/* The files of sets of particles, of a manifest with sheets; called when these
 * have sums. BOUMA_OK, ENOMEM or EFORMAT. */
int bm_manifest_list_sheets(struct bm_manifest *m);

/* Sheet k from its bytes, which must be those that the manifest tells of. After
 * a failure it is as it was before. BOUMA_OK, ENOMEM, EFORMAT or EVERSION. */
int bm_manifest_take_sheet(struct bm_manifest *m, size_t k, const uint8_t *data,
                           size_t bytes, const char *name,
                           struct bm_error *error);
/* Its records go, and can be taken again. */
void bm_manifest_drop_sheet(struct bm_manifest *m, size_t k);
/* The same as bm_manifest_take_sheet(), but it is not decoded: its bytes are
 * lent, for as long as they are there. */
int bm_manifest_lend_sheet(struct bm_manifest *m, size_t k, const uint8_t *data,
                           size_t bytes, const char *name,
                           struct bm_error *error);
/* The bytes of all sheets of all writings, and where they begin: the bytes of
 * the manifest without them. */
uint64_t bm_manifest_place_sheets(struct bm_manifest *m, uint64_t front);
/* Where the first sheet begins; 'bytes', if there is none. */
uint64_t bm_manifest_sheets_begin(const struct bm_manifest *m, uint64_t bytes);

#endif
