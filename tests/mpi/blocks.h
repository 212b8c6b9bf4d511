/* blocks.h -- for tests with several ranks: grids cut into blocks in many ways,
 * arrays for the blocks in many memory layouts, the values that belong there,
 * and what a test program with MPI needs besides check.h. */
#ifndef BLOCKS_H
#define BLOCKS_H

#include <stdint.h>

#include "../helpers/files.h"
#include "bouma_mpi.h"

/* ---- values ------------------------------------------------------------- */

struct field {
    bouma_type type;
    int components, ndims;
    int64_t shape[3];
    unsigned salt; /* fields with other salt have other values */
};

/* The value of one component of the sample at 'at', into 'out', which has room
 * for it. Floats have a NaN or an infinity now and then. */
void field_value(void *out, const struct field *f, const int64_t *at,
                 int component, int64_t step);

/* The number of values in a dense array that are not those of 'selection'. */
int64_t field_wrong(const struct field *f, const bouma_selection *selection,
                    int level, const void *dense, int64_t step);

/* The number of values of a box (NULL: all) at a level that a query does not
 * give, or not right; one that fails counts as one. */
int64_t query_wrong(const struct field *f, bouma_variable *v, int level,
                    const bouma_box *box, int64_t step);

/* A grid "g" for it, of small patches with three levels, and a variable "v". */
int field_define(bouma_variable **out, bouma_dataset *ds,
                 const struct field *f);

/* ---- decompositions ----------------------------------------------------- */

enum cut {
    CUT_SLABS,     /* along the slowest axis; some may be empty */
    CUT_BLOCKS,    /* a regular arrangement of ranks */
    CUT_BISECTION, /* any number of boxes, each on any rank */
    CUT_LAST_RANK, /* all of it on one */
    CUTS
};

#define MAX_BLOCKS 64

struct cutting {
    struct {
        int rank;
        bouma_box box;
    } blocks[MAX_BLOCKS];
    int count;
};

/* The same on all ranks from the same random state. */
void cutting_make(struct cutting *out, enum cut cut, const struct field *f,
                  int ranks, uint64_t *random);

/* A box inside the field, possibly empty in no axis. */
bouma_box random_box(const struct field *f, uint64_t *random);

/* A number of levels that such a grid can have. */
int random_levels(const bouma_grid_spec *spec, uint64_t *random);

/* ---- arrays ------------------------------------------------------------- */

enum layout {
    LAYOUT_DENSE,
    LAYOUT_GHOST,     /* inside a larger array */
    LAYOUT_PLANAR,    /* each component for itself */
    LAYOUT_FORTRAN,   /* axis 0 fastest */
    LAYOUT_BACKWARDS, /* strides below zero */
    LAYOUTS
};

struct array {
    uint8_t *memory, *copy;
    size_t bytes;
    uint8_t *data;      /* the box's first sample */
    bouma_array layout; /* with its strides */
    bouma_array given;  /* as it is handed over: none if it is dense */
};

/* For the samples of a shape (ndims entries); memory is not yet filled. */
void array_make(struct array *out, const struct field *f, const int64_t *shape,
                enum layout layout);
/* Fill with the values of 'box', and remember all bytes. */
void array_fill(struct array *a, const struct field *f, const bouma_box *box,
                int64_t step);
/* Whether nobody has changed it since. */
int array_unchanged(const struct array *a);
void array_free(struct array *a);

/* The arrays that one rank hands over for a variable, in random layouts. */
struct puts {
    struct array arrays[MAX_BLOCKS];
    int count;
};
/* Returns the worst status of the puts. */
int puts_make(struct puts *out, bouma_variable *variable, const struct field *f,
              const struct cutting *cutting, int64_t step, uint64_t *random);
/* The number of arrays that somebody has changed. */
int puts_free(struct puts *puts);

/* ---- programs ----------------------------------------------------------- */

struct ranks {
    int rank, size;
    char dir[256]; /* empty at first, removed at the end */
};

/* Begin and end a test program. Ending sums up the checks of all ranks and
 * gives the exit status, one same for all. */
void ranks_init(struct ranks *r, int *argc, char ***argv);
int ranks_end(struct ranks *r, int failed, int checks);

/* Whether all ranks have the same status and the same message. */
int same_on_all(int rc, const char *message);

/* A path in the directory of the test, in 'out' of 512 bytes. */
const char *path_in(const struct ranks *r, char *out, const char *name,
                    int64_t number);

/* 1 if two directories of a step have the same subfiles, byte for byte. */
int same_subfiles(const char *left, const char *right, int64_t step);

/* The number of values of a variable of grid "g", read serially at all levels,
 * that are wrong; what cannot be read counts as one, and is told. */
int64_t wrong_on_disk(const char *path, int64_t step, const char *variable,
                      const struct field *f);

#endif
