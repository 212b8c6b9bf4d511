/* view_annotations.h -- particles as neuroglancer's annotations: names, types
 * and numbers. Pure functions. */
#ifndef SERVE_VIEW_ANNOTATIONS_H
#define SERVE_VIEW_ANNOTATIONS_H

#include "particle_cells.h"

/* The id of a property: a small letter, then letters, digits and '_'. A
 * 'number' other than 0 tells it from others. */
void annotation_id(char *out, size_t room, const char *name, int component,
                   int components, int number);

enum annotation_type {
    ANNOTATION_FLOAT32,
    ANNOTATION_INT32,
    ANNOTATION_UINT32
};
enum annotation_type annotation_type_of(bouma_type type);
/* A value as 4 bytes of that type. */
void annotation_value(void *out, bouma_type type, const void *value);

/* The number of a particle: of its cell, and its index there. And back; false
 * if the tree, whose last depth is 'last', has no such cell. */
uint64_t annotation_number(int ndims, const struct cell *cell, uint64_t index);
bool annotation_cell(struct cell *out, uint64_t *index, int ndims, int last,
                     uint64_t number);

/* How deep the tree of so many particles is. */
int annotation_depth(int ndims, double count);

#endif
