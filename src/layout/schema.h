/* schema.h -- what a step holds: all objects, and their variables in order. */
#ifndef BM_SCHEMA_H
#define BM_SCHEMA_H

#include "layout/layout.h"

struct bm_schema {
    const bouma_allocator *a;
    struct bm_error *error;
    struct bouma_dataset *dataset;
    struct bouma_step *step; /* NULL: being written */
    bouma_order order;       /* of files that are written; 0: the usual one */
    struct bm_object **objects;
    int count;
    struct bm_catalogue names; /* of objects */
    struct bm_object_list {
        struct bm_object **objects;
        int count;
    } of_kind[BM_LAST_KIND + 1];   /* the same objects, kind by kind */
    uint32_t defined;              /* variables of all objects */
    int64_t fixed_files;           /* that layouts may need for the objects */
    struct bouma_variable **by_id; /* [variables], see bm_schema_number() */
    uint32_t variables;
};

void bm_schema_init(struct bm_schema *schema, const bouma_allocator *a,
                    struct bm_error *error);
void bm_schema_release(struct bm_schema *schema);

/* Check and add; messages go to the schema's error. 'spec' is what the layout's
 * define() takes. */
int bm_schema_add(struct bm_schema *schema, struct bm_object **out,
                  const struct bm_layout *layout, const char *name,
                  const char *unit, const void *spec);
/* Of a new grid: number of axes, origin, spacing. */
int bm_schema_set_axes(struct bm_object *o, const bouma_grid_spec *spec);
int bm_schema_add_grid(struct bm_schema *schema, struct bm_object **out,
                       const char *name, const bouma_grid_spec *spec);
/* The codec that a variable of a grid gets. */
bouma_codec bm_schema_grid_codec(const bouma_variable_spec *spec);
int bm_schema_add_variable(struct bm_object *grid, struct bouma_variable **out,
                           const char *name, const bouma_variable_spec *spec);

int bm_schema_add_particles(struct bm_schema *schema,
                            struct bouma_particles **out, const char *name,
                            const bouma_particles_spec *spec);

/* Take back the object that was added last. */
void bm_schema_remove_last(struct bm_schema *schema);

/* An object of any kind. */
struct bm_object *bm_schema_find(const struct bm_schema *schema,
                                 const char *name);
/* The i-th object of a kind, or NULL; and their number. */
struct bm_object *bm_schema_nth(const struct bm_schema *schema,
                                enum bm_object_kind kind, int i);
int bm_schema_count(const struct bm_schema *schema, enum bm_object_kind kind);
/* Give the variables their ids, in the order of grids. BOUMA_OK or ENOMEM. */
int bm_schema_number(struct bm_schema *schema);

void bm_schema_encode(struct bm_buffer *b, const struct bm_schema *schema);
/* Into an empty schema; numbers it, too. BOUMA_OK, ENOMEM, EFORMAT or, where it
 * has what a newer version has added, EVERSION, with a message. 'name' is that
 * of the file. */
int bm_schema_decode(struct bm_schema *schema, struct bm_cursor *c,
                     const char *name, struct bm_error *error);

#endif
