/* object.h -- grids and sets of particles, their variables, attributes. The
 * same structs serve a dataset being written and a step being read, and are
 * what the public handles point to. */
#ifndef BM_OBJECT_H
#define BM_OBJECT_H

#include "base/bytes.h"
#include "base/catalogue.h"
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
#define BM_MAX_PARTICLES  ((uint64_t)1 << 62) /* of a set */

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

/* What a step that was written has of a variable. */
struct bm_variable_in_step {
    int present;
    uint64_t raw_bytes, stored_bytes;
    uint64_t level_bytes[BM_MAX_LEVELS]; /* of pieces */
    struct bm_loss loss;
    struct bm_range *ranges; /* [components] */
};

struct bouma_variable {
    struct bm_object *object;
    uint32_t id; /* its index among all variables of the schema */
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
    struct bm_variable_in_step in_step;
};

enum bm_object_kind { BM_GRID = 1, BM_PARTICLES = 2, BM_LAST_KIND = 2 };

/* A grid, or a set of particles: what they have in common. */
struct bm_object {
    const bouma_allocator *a;
    struct bm_schema *schema;
    const struct bm_layout *layout;
    enum bm_object_kind kind; /* the layout's */
    uint32_t number;          /* its index among all objects of the schema */
    char *name, *unit;
    int ndims;
    int levels;
    struct bouma_attributes attributes;
    struct bouma_variable **variables; /* of particles: the position first */
    int count;
    struct bm_catalogue names; /* of variables */
    /* Of a step that is read, and whose grid has got more variables since: all
     * of them; else NULL. */
    struct bouma_variable **shown; /* [shown_count] */
    int shown_count;
    struct bouma_attributes
        shown_attributes; /* with 'shown': of all writings */

    /* Grids: */
    int may_be_bare;      /* the program has said that it needs no variable */
    struct bm_box domain; /* all samples, lifted */
    double origin[3], spacing[3]; /* the grid's own axes first */

    /* Particles, of a step that was written: */
    uint64_t particles, strays;

    void *own; /* the layout's, and only its files look inside */
};

/* The public handles. */
struct bouma_grid {
    struct bm_object object;
};
struct bouma_particles {
    struct bm_object object;
};

/* A kind of objects in messages. */
struct bm_kind_words {
    const char *name; /* "grid" */
    const char *one;  /* "a grid" */
    const char *many; /* "grids" */
    const char *its_name;
};
const struct bm_kind_words *bm_kind_words(enum bm_object_kind kind);
/* "grid" or "particles". */
const char *bm_object_kind_name(enum bm_object_kind kind);
struct bouma_variable *bm_grid_find_variable(const struct bm_object *grid,
                                             const char *name);

/* Bytes of one value; and of all components of a sample. */
size_t bm_variable_value_size(const struct bouma_variable *variable);
size_t bm_variable_sample_size(const struct bouma_variable *variable);
/* The index of its first component among those of all variables of its object.
 */
size_t bm_variable_lane(const struct bouma_variable *variable);

#endif
