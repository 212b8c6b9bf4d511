/* read_idx_parse.h -- what the parts of the parser of IDX headers share; for
 * read_idx*.c only. */
#ifndef READ_IDX_PARSE_H
#define READ_IDX_PARSE_H

#include "read_idx.h"
#include "text_lines.h"

enum idx_key {
    KEY_VERSION,
    KEY_BOX,
    KEY_BITS,
    KEY_BLOCK_BITS,
    KEY_FILE_BLOCKS,
    KEY_FIELDS,
    KEY_TEMPLATE,
    KEY_TIME,
    KEY_INTERLEAVE_BLOCK,
    KEY_INTERLEAVE,
    KEY_ARCO,
    KEY_PHYSICAL,
    KEY_MATRIX,
    KEY_IO_MODE,
    KEY_ENDIAN,
    KEY_COMPRESSION,
    KEY_COUNT
};

enum { IDX_PAIRS = 5 }; /* of a box, at most: PIDX writes as many */

struct idx_parser {
    struct idx_header *out;
    struct idx_message *message;
    bool xml;
    enum idx_key key;       /* that is read */
    size_t line;            /* where it stands */
    size_t seen[KEY_COUNT]; /* the line of each; 0: it is not there */
    int64_t box[2 * IDX_PAIRS];
    int pairs;
    int mask_axes;
    int64_t block_bits;
    double physical[2 * IDX_PAIRS];
    int physical_pairs;
};

/* Why the key that is read is wrong, or another one. All return false. */
__attribute__((format(printf, 2, 3))) bool idx_refuse(struct idx_parser *parser,
                                                      const char *format, ...);
__attribute__((format(printf, 3, 4))) bool
idx_refuse_key(struct idx_parser *parser, enum idx_key key, const char *format,
               ...);

/* A number of a value. */
bool idx_integer(struct idx_parser *parser, struct piece word, int64_t least,
                 int64_t most, int64_t *out);
bool idx_real(struct idx_parser *parser, struct piece word, double *out);

/* A key of the text form, or an element of the XML form with its value. Those
 * that are not known, or say nothing of use, are skipped. */
bool idx_read_key(struct idx_parser *parser, struct piece name,
                  struct piece value);

/* Both forms, into the parser's keys. */
bool idx_parse_xml(struct idx_parser *parser, const char *text, size_t size);

/* The list of fields; a field, and what is said of it. */
bool idx_read_fields(struct idx_parser *parser, struct piece value);
struct idx_field *idx_add_field(struct idx_parser *parser, struct piece name,
                                struct piece type);
bool idx_set_field(struct idx_parser *parser, struct idx_field *field,
                   struct piece name, struct piece value);

/* Timesteps, and how they are written in names. */
bool idx_read_time(struct idx_parser *parser, struct piece value);
bool idx_set_time_template(struct idx_parser *parser, struct piece value);
bool idx_add_steps(struct idx_parser *parser, struct piece first,
                   struct piece last, struct piece step);
bool idx_read_template(struct idx_parser *parser, struct piece value);

/* A copy of a text; NULL, and a message, if there is no memory. */
char *idx_keep(struct idx_parser *parser, struct piece text);

#endif
