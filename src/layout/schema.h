/* schema.h -- what a step holds: grids and sets of particles, their variables,
 * attributes. The same structs serve a dataset being written and a step being
 * read, and are what the public handles point to. */
#ifndef BM_SCHEMA_H
#define BM_SCHEMA_H

#include "base/bytes.h"
#include "base/catalogue.h"
#include "base/error.h"
#include "base/tiling.h"
#include "base/type.h"
#include "codec/codec.h"
#include "layout/detail.h"

#define BM_MAX_NAME       255
#define BM_MAX_VARIABLES  4096
#define BM_MAX_COMPONENTS 256
#define BM_MAX_CHUNK      ((uint64_t)1 << 30)
#define BM_MAX_ATTRIBUTE  ((uint64_t)1 << 20) /* bytes */
#define BM_MAX_ATTRIBUTES 4096                /* in one list */
#define BM_MAX_PARTICLES  ((uint64_t)1 << 62) /* of a set */
#define BM_MAX_LEAF       65536               /* particles in a leaf */

/* How messages of EVERSION begin; and that of an attribute. */
#define BM_NEWER "written by a newer version of bouma: "
#define BM_NEWER_ATTRIBUTE                                                     \
    "an attribute has a type that this version does not know"

/* ---- attributes --------------------------------------------------------- */

struct bm_attribute {
    char *name;
    bouma_type type;
    size_t count;
    void *values; /* one NUL more than count for strings */
};

struct bouma_attributes {
    const bouma_allocator *a;
    struct bm_error *error;        /* of the handle they belong to */
    struct bouma_dataset *dataset; /* that a caller sets them for, or NULL */
    struct bm_attribute *entries;
    int count;
    struct bm_catalogue names;
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
/* NULL if there is none of that name. */
struct bm_attribute *
bm_attributes_find(const struct bouma_attributes *attributes, const char *name);
/* BOUMA_OK, ENOMEM, EFORMAT or EVERSION; no message. */
int bm_attributes_decode(struct bouma_attributes *attributes,
                         struct bm_cursor *c);

/* NULL if 'name' can be a name, else what is wrong with it. */
const char *bm_name_check(const char *name);

/* ---- objects and variables ---------------------------------------------- */

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
    double span;  /* of the step: what all values but outliers span, if the
                     tolerance is relative; else 0 */
    int warned;   /* that the bound is beyond it */
    struct bouma_attributes attributes;

    /* Of a step that was written: */
    int present;
    uint64_t raw_bytes, stored_bytes;
    uint64_t level_bytes[BM_MAX_LEVELS];
    struct bm_loss loss;
    struct bm_range *ranges; /* [components] */
};

enum bm_object_kind { BM_GRID = 1, BM_PARTICLES = 2 };

/* A grid, or a set of particles: an object. */
struct bouma_grid {
    struct bm_schema *schema;
    enum bm_object_kind kind;
    uint32_t number; /* its place among all objects of the schema */
    char *name, *unit;
    int ndims;
    int levels;
    struct bouma_attributes attributes;
    struct bouma_variable **variables; /* of particles: the position first */
    int count;
    struct bm_catalogue names; /* of variables */

    /* Grids: */
    int may_be_bare; /* the program has said that it needs no variable */
    struct bm_tiling tiling;
    double origin[3], spacing[3]; /* the grid's own axes first */

    /* Particles: */
    struct bm_detail detail;
    uint32_t leaf;              /* most particles in a leaf of the tree */
    uint64_t particles, strays; /* of a step that was written */
};

/* The public handle of a set of particles. */
struct bouma_particles {
    struct bouma_grid object;
};

struct bm_schema {
    const bouma_allocator *a;
    struct bm_error *error;
    struct bouma_dataset *dataset;
    struct bouma_step *step; /* NULL: being written */
    struct bouma_grid **grids;
    int count;
    struct bm_catalogue names;     /* of objects */
    uint32_t defined;              /* variables of all objects */
    struct bouma_variable **by_id; /* [variables], see bm_schema_number() */
    uint32_t variables;
};

/* The number of levels with which the coarsest keeps at least 64 samples of a
 * whole patch. */
int bm_default_levels(const struct bm_tiling *t);

void bm_schema_init(struct bm_schema *schema, const bouma_allocator *a,
                    struct bm_error *error);
void bm_schema_release(struct bm_schema *schema);

/* Check and add; messages go to the schema's error. */
int bm_schema_add_grid(struct bm_schema *schema, struct bouma_grid **out,
                       const char *name, const bouma_grid_spec *spec);
int bm_schema_add_variable(struct bouma_grid *grid, struct bouma_variable **out,
                           const char *name, const bouma_variable_spec *spec);

int bm_schema_add_particles(struct bm_schema *schema,
                            struct bouma_particles **out, const char *name,
                            const bouma_particles_spec *spec);

/* An object of any kind. */
struct bouma_grid *bm_schema_find(const struct bm_schema *schema,
                                  const char *name);
/* The i-th object of a kind, or NULL; and their number. */
struct bouma_grid *bm_schema_nth(const struct bm_schema *schema,
                                 enum bm_object_kind kind, int i);
int bm_schema_count(const struct bm_schema *schema, enum bm_object_kind kind);
/* "grid" or "particles", for messages. */
const char *bm_object_kind_name(enum bm_object_kind kind);
struct bouma_variable *bm_grid_find_variable(const struct bouma_grid *grid,
                                             const char *name);

/* Give the variables their ids, in the order of grids. BOUMA_OK or ENOMEM. */
int bm_schema_number(struct bm_schema *schema);

void bm_schema_encode(struct bm_buffer *b, const struct bm_schema *schema);
/* Into an empty schema; numbers it, too. BOUMA_OK, ENOMEM, EFORMAT or, where it
 * has what a newer version has added, EVERSION, with a message. 'name' is that
 * of the file. */
int bm_schema_decode(struct bm_schema *schema, struct bm_cursor *c,
                     const char *name, struct bm_error *error);

/* Bytes of one value; and of all components of a sample. */
size_t bm_variable_value_size(const struct bouma_variable *variable);
size_t bm_variable_sample_size(const struct bouma_variable *variable);
/* The place of its first component among those of all variables of its object.
 */
size_t bm_variable_lane(const struct bouma_variable *variable);

/* ---- for schema_particles.c --------------------------------------------- */

/* An object that the schema does not have yet: freed if it is not added. */
struct bouma_grid *bm_object_new(struct bm_schema *schema,
                                 enum bm_object_kind kind, const char *name,
                                 const char *unit);
void bm_object_free(struct bouma_grid *object);
/* Whether there can be one more of that name; and its addition. */
int bm_schema_check_name(const struct bm_schema *schema,
                         enum bm_object_kind kind, const char *name,
                         const char *unit);
int bm_schema_add_object(struct bm_schema *schema, struct bouma_grid *object);
/* Take back the object that was added last. */
void bm_schema_remove_last(struct bm_schema *schema);
/* What is not common to all objects: bytes, and back, into a new object of the
 * schema. BOUMA_OK, ENOMEM or EFORMAT. */
void bm_particles_encode(struct bm_buffer *b, const struct bouma_grid *g);
int bm_particles_decode(struct bm_schema *schema, struct bouma_grid **out,
                        struct bm_cursor *c, int ndims, int levels,
                        const char *name, const char *unit);
/* Whether the variables of a set are what they must be. */
int bm_particles_complete(const struct bouma_grid *g);
/* Whether a codec is for particles. */
int bm_particles_take_codec(bouma_codec codec);

#endif
