/* read_idx.h -- the header of an IDX dataset of OpenVisus or PIDX: a text of
 * lines, or XML.
 *
 * It says which box of samples there is, of which fields and timesteps, and how
 * files with blocks of them are called; see read_idx_block.h for these. Works
 * on memory. Axes are those of boxes of 3 axes: axis 2 is x. */
#ifndef READ_IDX_H
#define READ_IDX_H

#include "read_idx_order.h"
#include "step_choice.h"

enum { IDX_MATRIX = 36 }; /* values of the largest (logic_to_physic) */

struct idx_message {
    char text[512];
};

/* How a block is compressed; the numbers are those of block headers. */
enum idx_codec {
    IDX_RAW = 0,
    IDX_ZIP = 3,
    IDX_JPG = 4,
    IDX_PNG = 6,
    IDX_LZ4 = 7,
    IDX_ZFP = 8
};

/* What zfp was told: block headers do not say it. */
struct idx_zfp {
    enum { IDX_ZFP_UNKNOWN, IDX_REVERSIBLE, IDX_PRECISION, IDX_ACCURACY } mode;
    int precision;
    double accuracy;
};

struct idx_field {
    char *name;
    bouma_type type;
    int components;
    size_t sample_bytes;  /* all components */
    uint8_t fill;         /* byte of which samples in no block consist */
    enum idx_codec codec; /* of files without block headers */
    bool row_major;       /* the same */
    struct idx_zfp zfp;
};

struct idx_header {
    int version; /* 1 to 6 */
    int ndims;
    bouma_box box; /* in absolute coordinates; axes there are not: 0 to 1 */
    struct idx_order order;
    int64_t blocks_per_file;
    int64_t arco; /* bytes of a block that is a file; 0: files have several */
    bool big_endian;     /* samples that have more than a byte */
    char *name_template; /* NULL: not told */
    char *time_template; /* "": no time in names */
    struct step_range *steps;
    size_t step_count; /* of ranges; 0: nothing is known of the steps */
    struct idx_field *fields;
    size_t field_count;
    /* Position of the box's low end, and distance of samples; (physic_box)
     * without an extent is not believed. */
    double origin[3], spacing[3];
    bool flat;
    double matrix[IDX_MATRIX]; /* (logic_to_physic), if it turns axes */
    int matrix_count;
};

/* The caller ends *out with idx_release(), after a failure too. */
bool idx_parse(struct idx_header *out, const void *bytes, size_t size,
               struct idx_message *message);
void idx_release(struct idx_header *header);

/* The name of the file that has a block of a field and a timestep, if the
 * header is the file 'path'; false if it is too long. */
struct idx_place {
    uint64_t block;
    size_t field;
    int64_t step;
};
bool idx_file_name(char *out, size_t bytes, const struct idx_header *header,
                   const char *path, const struct idx_place *place);
/* Whether names of files differ from step to step. */
bool idx_names_have_time(const struct idx_header *header);

#endif
