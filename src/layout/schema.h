/* schema.h -- what a step holds: grids, their variables, attributes. The same
 * structs serve a dataset being written and a step being read, and are what the
 * public handles point to. */
#ifndef BM_SCHEMA_H
#define BM_SCHEMA_H

#include "base/bytes.h"
#include "base/error.h"
#include "base/tiling.h"
#include "base/type.h"
#include "codec/codec.h"

#define BM_MAX_NAME       255
#define BM_MAX_VARIABLES  4096
#define BM_MAX_COMPONENTS 256
#define BM_MAX_CHUNK      ((uint64_t)1 << 30)
#define BM_MAX_ATTRIBUTE  ((uint64_t)1 << 20) /* bytes */
#define BM_MAX_ATTRIBUTES 4096                /* in one list */

/* ---- attributes --------------------------------------------------------- */

struct bm_attribute {
    char *name;
    bouma_type type;
    size_t count;
    void *values; /* one NUL more than count for strings */
};

struct bouma_attributes {
    const bouma_allocator *a;
    struct bm_error *error; /* of the handle they belong to */
    struct bm_attribute *entries;
    int count;
    int fixed; /* belongs to something that was read */
};

void bm_attributes_init(struct bouma_attributes *attributes,
                        const bouma_allocator *a, struct bm_error *error);
void bm_attributes_release(struct bouma_attributes *attributes);
void bm_attributes_clear(struct bouma_attributes *attributes);
int bm_attributes_set(struct bouma_attributes *attributes, const char *name,
                      bouma_type type, size_t count, const void *values);
void bm_attributes_encode(struct bm_buffer *b,
                          const struct bouma_attributes *attributes);
/* BOUMA_OK, ENOMEM or EFORMAT; no message. */
int bm_attributes_decode(struct bouma_attributes *attributes,
                         struct bm_cursor *c);

/* NULL if 'name' can be a name, else what is wrong with it. */
const char *bm_name_check(const char *name);

/* ---- grids and variables ------------------------------------------------ */

struct bouma_variable {
    struct bouma_grid *grid;
    uint32_t id; /* its place among all variables of the schema */
    char *name, *unit;
    bouma_type type;
    int components;
    bouma_codec codec;
    int effort; /* the codec's level */
    double tolerance;
    bouma_tolerance tolerance_kind;
    int nominal;  /* the tolerance is that of coefficients */
    double bound; /* of the step: the tolerance as an absolute number */
    struct bouma_attributes attributes;

    /* Of a step that was written: */
    int present;
    uint64_t raw_bytes, stored_bytes;
    uint64_t level_bytes[BM_MAX_LEVELS];
    struct bm_loss loss;
    struct bm_range *ranges; /* [components] */
};

struct bouma_grid {
    struct bm_schema *schema;
    char *name, *unit;
    struct bm_tiling tiling;
    int levels;
    double origin[3], spacing[3]; /* the grid's own axes first */
    struct bouma_attributes attributes;
    struct bouma_variable **variables;
    int count;
};

struct bm_schema {
    const bouma_allocator *a;
    struct bm_error *error;
    struct bouma_dataset *dataset;
    struct bouma_step *step; /* NULL: being written */
    struct bouma_grid **grids;
    int count;
    struct bouma_variable **by_id; /* [variables], see bm_schema_number() */
    uint32_t variables;
};

void bm_schema_init(struct bm_schema *schema, const bouma_allocator *a,
                    struct bm_error *error);
void bm_schema_release(struct bm_schema *schema);

/* Check and add; messages go to the schema's error. */
int bm_schema_add_grid(struct bm_schema *schema, struct bouma_grid **out,
                       const char *name, const bouma_grid_spec *spec);
int bm_schema_add_variable(struct bouma_grid *grid, struct bouma_variable **out,
                           const char *name, const bouma_variable_spec *spec);

struct bouma_grid *bm_schema_find_grid(const struct bm_schema *schema,
                                       const char *name);
struct bouma_variable *bm_grid_find_variable(const struct bouma_grid *grid,
                                             const char *name);

/* Give the variables their ids, in the order of grids. BOUMA_OK or ENOMEM. */
int bm_schema_number(struct bm_schema *schema);

void bm_schema_encode(struct bm_buffer *b, const struct bm_schema *schema);
/* Into an empty schema; numbers it, too. BOUMA_OK, ENOMEM or EFORMAT, with a
 * message. 'name' is that of the file. */
int bm_schema_decode(struct bm_schema *schema, struct bm_cursor *c,
                     const char *name, struct bm_error *error);

/* Values of one variable's chunk level: samples times components. */
size_t bm_variable_value_size(const struct bouma_variable *variable);

#endif
