/* bouma_dataset.h -- datasets and their attributes, for writing and reading. */
#ifndef BOUMA_DATASET_H
#define BOUMA_DATASET_H

#include <stddef.h>
#include <stdint.h>

#include "bouma_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- datasets ----------------------------------------------------------- */

/* Handles. Datasets, steps and refinements are opened and freed; the others
 * belong to a step or, while they are written, to a dataset. */
typedef struct bouma_dataset bouma_dataset; /* the steps of a simulation */
typedef struct bouma_step bouma_step;       /* one of them, to be read */
typedef struct bouma_grid bouma_grid;
typedef struct bouma_particles bouma_particles; /* a set of them */
typedef struct bouma_variable bouma_variable;   /* of a grid, or of particles */
typedef struct bouma_attributes bouma_attributes; /* named values */
typedef struct bouma_refinement
    bouma_refinement; /* a box that is read from coarse to fine */
typedef struct bouma_particles_refinement
    bouma_particles_refinement; /* a query that is read so */

/* Create a dataset: a directory, by convention named NAME.bouma. An empty
 * directory, or what a killed creation left, is taken over; anything else of
 * that name is BOUMA_EEXISTS.
 *
 * With the option 'clobber', an existing dataset is removed first: all its
 * steps, with 'persist' also those in local copies. Nothing else is removed: it
 * is still BOUMA_EEXISTS if the path is not a dataset, or if other files are
 * among those of its steps; and BOUMA_EBUSY while another program writes it.
 * All of that is checked before anything is removed. Other files elsewhere in
 * its directory stay. If the removal is interrupted, either the old dataset or
 * none is there, and the same call does the rest. A directory that cannot be
 * removed because files in it are still open (NFS) is left behind and reported
 * by bouma_dataset_note().
 *
 * 'opts' may be NULL. The caller owns *out and frees it with
 * bouma_dataset_free(), after a failure, too: it holds the message. Collective.
 */
BOUMA_API int bouma_dataset_create(bouma_dataset **out, const char *path,
                                   const bouma_options *opts);

/* Open a dataset to write more steps. Leftovers of a killed writer do no harm;
 * bouma_dataset_note() reports them. BOUMA_EBUSY if the last writer is known to
 * be still running. A writer on another machine cannot be seen: this one then
 * takes over, and the next step of the other one fails with BOUMA_EBUSY. Define
 * grids and variables again, by bouma_define_like() or one by one; they may
 * differ. Collective. */
BOUMA_API int bouma_dataset_append(bouma_dataset **out, const char *path,
                                   const bouma_options *opts);

/* Open a dataset for reading, also while it is being written. With the option
 * 'local', files are read from the local copy in that directory if it has them,
 * and steps that only it has are listed, too: see bouma_dataset_drain().
 * Collective. */
BOUMA_API int bouma_dataset_open(bouma_dataset **out, const char *path,
                                 const bouma_options *opts);

/* Finish writing: flush a group, drain, and release the claim on the dataset.
 * The handle stays, for its message. A step that was begun and not ended is
 * dropped, with BOUMA_ESTATE. Collective. */
BOUMA_API int bouma_dataset_close(bouma_dataset *ds);

/* Free the handle with its grids, variables and attributes. If the dataset was
 * not closed, an unfinished step and the steps of an unfinished group stay
 * unpublished. Collective only if it was opened with MPI.
 *
 * Steps that are still open can be read as before. The communicator and the
 * claim of a writer end at once, so if the dataset had several ranks,
 * collective reads of these steps are BOUMA_ESTATE: each rank reads for itself.
 * All handles can be freed after MPI_Finalize(), too. */
BOUMA_API void bouma_dataset_free(bouma_dataset *ds);

/* The message of the last failed call on 'ds' or on anything that belongs to
 * it. Valid until the next call. For NULL, the text of BOUMA_ENOMEM. A field of
 * bouma_options is named as in "the option 'replace'", so that a program can
 * substitute its own name. */
BOUMA_API const char *bouma_error_message(const bouma_dataset *ds);

/* The same message by another handle: a dataset and all that belongs to it, or
 * was opened from it, have one in common. With these, a function that gets just
 * a variable can tell what failed; and a step has a message when its dataset
 * was freed. */
BOUMA_API const char *bouma_step_message(const bouma_step *step);
BOUMA_API const char *bouma_grid_message(const bouma_grid *grid);
BOUMA_API const char *bouma_particles_message(const bouma_particles *particles);
BOUMA_API const char *bouma_variable_message(const bouma_variable *variable);
BOUMA_API const char *
bouma_attributes_message(const bouma_attributes *attributes);
BOUMA_API const char *
bouma_refinement_message(const bouma_refinement *refinement);
BOUMA_API const char *bouma_particles_refinement_message(
    const bouma_particles_refinement *refinement);

/* The i-th remark, or NULL past the last. bouma_dataset_append() reports
 * leftovers, such as "step 42 is incomplete (5 subfiles, no manifest),
 * ignored"; bouma_step_end() a tolerance that leaves little of a variable's
 * values, partitions that are not written apart since ranks hold samples of
 * several, and the first step without data although there are variables;
 * bouma_dataset_create(), bouma_dataset_truncate() and bouma_step_delete()
 * directories of removed steps that had to stay. */
BOUMA_API const char *bouma_dataset_note(const bouma_dataset *ds, int i);

/* The cost of a step. */
typedef struct bouma_record {
    size_t size;            /* sizeof(bouma_record), set by the caller */
    uint64_t raw_bytes;     /* samples as they were in memory */
    uint64_t stored_bytes;  /* all files but the manifest */
    uint64_t moved_bytes;   /* between ranks, to assemble patches */
    uint64_t shipped_bytes; /* between ranks, to the writers of the files */
    uint64_t moved_messages, shipped_messages; /* in which these went */
    uint64_t largest_file;
    uint64_t mean_file;
    int64_t files;
    int64_t chunks;
    int64_t ranks;
    int64_t most_patches; /* of one rank, to assemble; counted once for all
                             variables that the ranks hold in the same blocks */
    /* Seconds of the phases, on the slowest rank. A thread stores, so storing
     * may overlap with shipping and, in predicted steps and with raw, with
     * shaping: the sum may exceed the time of the step. */
    double describe_seconds, plan_seconds, distribute_seconds, shape_seconds;
    double ship_seconds, store_seconds, commit_seconds;
    double slowest_encode; /* seconds of the rank that encoded longest */
    double mean_encode;    /* of all ranks */
    int64_t predicted;     /* 1: files of grids were chosen by the sizes of the
                              last step: see the option 'predict' */
    int64_t misfits;       /* chunks larger than predicted */
} bouma_record;

/* The record of the last step that was ended on this handle; all zeros if there
 * is none, or if it failed. */
BOUMA_API int bouma_dataset_record_get(bouma_record *out,
                                       const bouma_dataset *ds);

/* ---- positions ---------------------------------------------------------- */

/* The samples of a grid whose positions are in 'bounds', as a box for reads and
 * puts: clipped to the grid, and all zeros if there are none. The position of
 * sample i along an axis is origin + spacing * i, in doubles; a sample exactly
 * at the low end is inside, one at the high end only if 'closed' says so.
 *
 *     bouma_bounds cut = {.axes = BOUMA_AXES_XYZ, .low = {0.25, 0.25, 0},
 *                         .high = {0.75, 0.75, 1}};
 *     bouma_grid_box(&box, grid, &cut);
 *
 * An empty box reads nothing. (NULL in place of a box reads everything.) */
BOUMA_API int bouma_grid_box(bouma_box *out, const bouma_grid *grid,
                             const bouma_bounds *bounds);

/* The other way round: the region of the samples of 'box' (NULL: all), from the
 * position of the first up to, but not including, that of the first sample
 * behind it: boxes that meet have regions that meet. Where the spacing is
 * negative, it is that of the samples alone, with its ends. */
BOUMA_API int bouma_grid_bounds(bouma_bounds *out, const bouma_grid *grid,
                                bouma_axes axes, const bouma_box *box);

/* ---- particles ---------------------------------------------------------- */

/* The position of particles: a variable with a component for each axis, x
 * first. */
BOUMA_API bouma_variable *bouma_particles_position(bouma_particles *particles);

/* The array for one variable of particles, to put or to read into: one sample
 * for each particle. array->stride[0] leads from one particle to the next, and
 * component_stride from one component to the next; a stride of 0 is that of
 * dense values, in both: [n][3] needs no strides, [3][n] a component_stride of
 * n values, an array of structs the stride[0] of a struct. Values must not
 * overlap. Elements of an array of columns follow each other at a distance of
 * their own 'size', which is the same for all.
 *
 *     struct { double x[3]; float mass; } p[1000];
 *     bouma_array x = {.size = sizeof(x), .type = BOUMA_TYPE_F64, .data = p->x,
 *                      .bytes = sizeof(p), .stride = {sizeof(*p)}};
 *     bouma_column column = {sizeof(column), bouma_particles_position(dust),
 *                            &x};
 */
typedef struct bouma_column {
    size_t size; /* sizeof(bouma_column) */
    bouma_variable *variable;
    const bouma_array *array;
} bouma_column;

/* ---- attributes --------------------------------------------------------- */

/* Named values on a dataset, a step, a grid, a set of particles or a variable.
 * Those of a dataset, its grids, sets and variables are stored with each step
 * that is written; a reader gets the dataset's attributes from its newest step
 * (NULL, with a message, if the list of steps cannot be read). In a parallel
 * program, all ranks set the same attributes. */
BOUMA_API bouma_attributes *bouma_dataset_attributes(bouma_dataset *ds);
BOUMA_API bouma_attributes *bouma_step_attributes(bouma_step *step);
BOUMA_API bouma_attributes *bouma_grid_attributes(bouma_grid *grid);
BOUMA_API bouma_attributes *bouma_variable_attributes(bouma_variable *variable);
/* The attributes of the step that is being written (NULL outside one). */
BOUMA_API bouma_attributes *bouma_dataset_step_attributes(bouma_dataset *ds);

/* Set or replace. 'count' values of 'type', copied; for BOUMA_TYPE_STRING the
 * bytes of a text, without a NUL. */
BOUMA_API int bouma_attributes_set(bouma_attributes *attributes,
                                   const char *name, bouma_type type,
                                   size_t count, const void *values);
BOUMA_API int bouma_attributes_set_text(bouma_attributes *attributes,
                                        const char *name, const char *text);
BOUMA_API int bouma_attributes_set_number(bouma_attributes *attributes,
                                          const char *name, double number);
BOUMA_API int bouma_attributes_set_int64(bouma_attributes *attributes,
                                         const char *name, int64_t number);

/* One named value, or several of the same type. */
typedef struct bouma_attribute {
    size_t size; /* sizeof(bouma_attribute), set by the caller */
    const char *name;
    bouma_type type;
    size_t count;
    const void *values; /* aligned; of a string: NUL-terminated */
} bouma_attribute;

/* One attribute by its number, 0 up to the count, or by its name. What is
 * filled in belongs to the attributes, and is valid until they change.
 * BOUMA_ENOTFOUND if there is none. */
BOUMA_API int bouma_attributes_count(const bouma_attributes *attributes);
BOUMA_API int bouma_attributes_get(bouma_attribute *out,
                                   const bouma_attributes *attributes, int i);
BOUMA_API int bouma_attributes_find(bouma_attribute *out,
                                    const bouma_attributes *attributes,
                                    const char *name);

/* The value of an attribute by its name. A number of any type is converted, if
 * that loses nothing: 3 of type f32 is an int64_t, 3.5 is not; 2^53 + 1 of type
 * i64 is no double. Text is never a number, nor a number text. The arrays get
 * exactly 'count' values: bouma_attributes_find() tells how many there are. A
 * text belongs to the attributes, is NUL-terminated and valid until they
 * change.
 *
 * BOUMA_ENOTFOUND if there is no such attribute. BOUMA_EINVAL if its type or
 * the number of its values does not fit, if a value would change, or if a text
 * has a zero byte in it; the message says what there is. What 'out' points to
 * is then 0 or NULL. */
BOUMA_API int bouma_attributes_get_text(const char **out,
                                        const bouma_attributes *attributes,
                                        const char *name);
BOUMA_API int bouma_attributes_get_number(double *out,
                                          const bouma_attributes *attributes,
                                          const char *name);
BOUMA_API int bouma_attributes_get_int64(int64_t *out,
                                         const bouma_attributes *attributes,
                                         const char *name);
BOUMA_API int bouma_attributes_get_numbers(double *out, size_t count,
                                           const bouma_attributes *attributes,
                                           const char *name);
BOUMA_API int bouma_attributes_get_int64s(int64_t *out, size_t count,
                                          const bouma_attributes *attributes,
                                          const char *name);

#ifdef __cplusplus
}
#endif
#endif
