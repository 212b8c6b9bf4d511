/* bouma_write.h -- write the steps of a dataset: grids and particles.
 *
 * Example:
 *
 *     double field[64][64] = {{0}};
 *     bouma_grid_spec plate = {
 *         .size = sizeof(plate), .ndims = 2, .shape = {64, 64}};
 *     bouma_variable_spec kelvin = {
 *         .size = sizeof(kelvin), .type = BOUMA_TYPE_F64, .unit = "K"};
 *     bouma_array array = BOUMA_ARRAY(BOUMA_TYPE_F64, field, sizeof(field));
 *     bouma_dataset *run = NULL;
 *     bouma_grid *grid = NULL;
 *     bouma_variable *heat = NULL;
 *
 *     int rc = bouma_dataset_create(&run, "plate.bouma", NULL);
 *     bouma_grid_define(&grid, run, "plate", &plate);
 *     bouma_variable_define(&heat, grid, "heat", &kelvin);
 *     for (int step = 0; step < 10 && !rc; step++) {
 *         bouma_step_begin(run, step, 0.1 * step);
 *         bouma_variable_put_borrow(heat, NULL, &array);
 *         rc = bouma_step_end(run);
 *     }
 *     if (!rc)
 *         rc = bouma_dataset_close(run);
 *     if (rc)
 *         fprintf(stderr, "%s\n", bouma_error_message(run));
 *     bouma_dataset_free(run);
 *
 * What fails in a step fails its end: one status to check. */
#ifndef BOUMA_WRITE_H
#define BOUMA_WRITE_H

#include <stddef.h>
#include <stdint.h>

#include "bouma_dataset.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- writing ------------------------------------------------------------ */

/* A grid. Zero means "choose for me", except in ndims and shape. */
typedef struct bouma_grid_spec {
    size_t size; /* sizeof(bouma_grid_spec) */
    int ndims;   /* 1 to 3 */
    int64_t shape[BOUMA_MAX_DIMS];
    int64_t patch[BOUMA_MAX_DIMS];  /* powers of two; 0: 64 in 3-D, 256 in 2-D,
                                       65536 in 1-D; reduced to the size of the
                                       grid. All 0, and no levels: others if
                                       they fit the blocks of ranks better. The
                                       first step that has data of the grid
                                       settles it */
    int levels;                     /* 0: down to about 64 samples per patch */
    double origin[BOUMA_MAX_DIMS];  /* position of sample 0 */
    double spacing[BOUMA_MAX_DIMS]; /* 0: 1 */
    const char *unit;               /* of positions, such as "m"; may be NULL */
    bouma_layout layout;            /* 0: BOUMA_LAYOUT_PATCH */
    /* For BOUMA_LAYOUT_HZ only, which has blocks instead of patches. Coarse
     * levels take no space there: 0 levels means all, down to one sample. */
    const char *hz_template; /* such as "zyxzyx": the axis that each split
                                halves, the coarsest split first; x is the last
                                axis. It must cover the shape. NULL: the longest
                                axis is split first, of equal ones z, then y */
    int hz_block_bits;       /* log2 of the samples in a block; 0: 15, or less
                                if the grid is smaller */
    int hz_blocks_per_file;  /* blocks of each variable in a file; 0: 512 */
    bouma_hz_order hz_order; /* 0: BOUMA_HZ_ORDER_ROWS */
    /* The grid is cut along the first splits of the template into so many
     * partitions, a power of two; 0: 1. Those that hold samples of a partition
     * write it among themselves, and nothing goes from one partition to another
     * but coarse levels: with BOUMA_HZ_INDEX_GLOBAL, the files that several
     * partitions have samples in; with BOUMA_HZ_INDEX_LOCAL, one block. A rank
     * with samples of two partitions has them written together. With
     * BOUMA_HZ_INDEX_GLOBAL, no more than there are ranks. */
    int hz_partitions;
    bouma_hz_index hz_index; /* 0: BOUMA_HZ_INDEX_GLOBAL */
    /* 1: blocks have wavelet coefficients in place of samples. Smooth fields
     * become smaller, and coarser levels of f32 and f64 are averages, for which
     * no tolerance holds. Boxes that are read take the tiles that they meet:
     * 2^hz_tile_bits samples, those of the last splits (0: 15 bits, or less if
     * the grid is smaller; at most 24). Codecs must keep every bit; with a
     * tolerance, samples are rounded before. Not with 'hz_partitions'. */
    int hz_wavelet;
    int hz_tile_bits;
    /* 1: the files of each step are those of an IDX dataset, too, which
     * OpenVisus and PIDX open as PATH/idx/NAME.idx. Blocks are raw and in the
     * order BOUMA_HZ_ORDER_CURVE; the grid has 2 or 3 axes, and a name without
     * blanks. See the guide, "IDX datasets". */
    int idx;
} bouma_grid_spec;

/* A template for BOUMA_LAYOUT_HZ that suits ranks with a block each: 'ranks'
 * along each axis, numbered in 'order' (0: BOUMA_RANK_ORDER_ROW_MAJOR). The
 * first splits separate the ranks, in their order; the others separate the
 * samples of a rank, and take the axes in turns. So few ranks have samples in
 * one file, and a rank has samples in few files. If all blocks are equal, and
 * powers of two, each level visits the ranks in ascending order. Other blocks
 * are treated as if they were, so the order is only nearly that.
 *
 * The text depends on these numbers alone: no ranks and no dataset are needed.
 * BOUMA_EINVAL for numbers that are not positive, for more than 2^31 - 1 ranks
 * or 62 characters, and if 'out' has room for less than 64 bytes; 'out' is then
 * empty, and 'message' (of 'message_bytes' bytes, may be NULL) says why. */
BOUMA_API int bouma_hz_template(char *out, size_t bytes, int ndims,
                                const int64_t *shape, const int64_t *ranks,
                                bouma_rank_order order, char *message,
                                size_t message_bytes);

/* A variable of a grid or of particles. Zero means "choose for me", except in
 * type. */
typedef struct bouma_variable_spec {
    size_t size; /* sizeof(bouma_variable_spec) */
    bouma_type type;
    int components; /* values per sample, such as 3 for a velocity; 0: 1 */
    bouma_codec codec;
    int codec_level;  /* zstd's level; 0: 1, and for particles 1 or -1 */
    const char *unit; /* of values, such as "K"; may be NULL */
    /* Largest error of any sample; f32 and f64 only; 0 keeps every bit. The
     * default codec is then BOUMA_CODEC_INTERP, where it holds at every level.
     * Coarser levels of BOUMA_CODEC_WAVELET are averages, so there it holds at
     * level 0 only; with BOUMA_LAYOUT_HZ it holds at every level. Grids with
     * 'hz_wavelet' have exact codecs, by default BOUMA_CODEC_ZSTD; there it
     * holds at level 0. */
    double tolerance;
    bouma_tolerance tolerance_kind;
    /* 1 (BOUMA_CODEC_WAVELET only): the tolerance is that of coefficients.
     * Encoding takes half the time, but the errors of samples are not known,
     * and some are larger. */
    int nominal;
} bouma_variable_spec;

/* The codec that a variable of a grid gets: the one it asks for, or the one
 * that is chosen for it. 0 if 'spec' is NULL or its size is not set. */
BOUMA_API bouma_codec bouma_grid_codec(const bouma_variable_spec *spec);

/* Define a grid, and a variable of a grid, before the step that first uses it.
 * All ranks define the same ones in the same order; the end of a step checks
 * that. Names are UTF-8 without '/' and control characters, at most 255 bytes.
 * *out belongs to the dataset. A dataset opened for append has no definitions
 * at first.
 *
 * A definition or an attribute that fails also fails every later
 * bouma_step_end(), on all ranks, with its own message: until the same name is
 * defined (or set) successfully, or the program calls
 * bouma_dataset_clear_failures() to go on without it. So does a grid without
 * variables. So it is enough to check the status at the end of the step, except
 * for calls with a NULL handle, which no dataset knows of. */
BOUMA_API int bouma_grid_define(bouma_grid **out, bouma_dataset *ds,
                                const char *name, const bouma_grid_spec *spec);
BOUMA_API int bouma_variable_define(bouma_variable **out, bouma_grid *grid,
                                    const char *name,
                                    const bouma_variable_spec *spec);

/* Define what a committed step has, as a program does that appends to a
 * dataset: all grids, sets of particles and variables of step 'step' (-1: the
 * last one), with their attributes; and set those attributes of the dataset
 * that the step has. The files of the next step are then, byte for byte, those
 * that the same definitions made by hand would give. ('hz_partitions' with
 * BOUMA_HZ_INDEX_GLOBAL is in no file, so it is 1 then.) Find the handles with
 * bouma_dataset_find_grid() and _particles(). More can be defined.
 *
 * BOUMA_ENOTFOUND if there is no such step, which fails no later step.
 * BOUMA_EEXISTS if a name is defined already: call this first. After a failure
 * nothing is defined. Collective. */
BOUMA_API int bouma_define_like(bouma_dataset *ds, int64_t step);

/* A grid or a set of particles that is defined in this dataset, by its name;
 * bouma_grid_find_variable() then finds its variables. BOUMA_ENOTFOUND if there
 * is none: the message lists those there are, *out is NULL, and the next step
 * fails as after a failed definition, until the name is defined. (That holds
 * for a variable that is not found, too.) Of steps that are read, see
 * bouma_step_find_grid(). */
BOUMA_API int bouma_dataset_find_grid(bouma_grid **out, bouma_dataset *ds,
                                      const char *name);
BOUMA_API int bouma_dataset_find_particles(bouma_particles **out,
                                           bouma_dataset *ds, const char *name);

/* Begin step number 'step' (0 or more, in any order) at 'time', which must be
 * finite. */
BOUMA_API int bouma_step_begin(bouma_dataset *ds, int64_t step, double time);

/* Begin an extension of step number 'step', which is committed: what is put
 * until bouma_step_end() is added to it. The files that the step has are not
 * touched, and readers see it without or with all that was added. It keeps its
 * time and its attributes, and those of its grids; more can be set, and a value
 * that is set again is the new one. These can be added:
 *   - variables of a grid that the step has: BOUMA_EEXISTS if it has data of
 *     the variable, BOUMA_EINVAL if the grid is defined otherwise here
 *     (bouma_define_like() defines it as it is there);
 *   - grids and sets of particles that it does not have. Sets of particles get
 *     no more variables: BOUMA_EEXISTS.
 * The end tells this, and the step is as before then. What is defined and not
 * put adds nothing; an extension without any data is BOUMA_EINVAL.
 *
 * Steps that wait for their group are committed first. An extension is durable
 * when it is committed, whatever 'durability' says, and waits for no group.
 * With 'async' it is committed as any step is. BOUMA_ENOTFOUND: there is no
 * such step. BOUMA_ESTATE: with 'persist', or in a local copy; if the step was
 * deleted, and its files are not all gone; if parts of it are lost, and that is
 * on record, accepted or not (such as its attributes, if repair has made its
 * manifest anew): then it must be written again; and of the end, if the step
 * was written again since the extension began. BOUMA_EINVAL: the step has a
 * grid with 'idx', or one is defined. BOUMA_ELIMIT: it was extended 64 times.
 * Collective. */
BOUMA_API int bouma_step_extend(bouma_dataset *ds, int64_t step);

/* Hand over one block of a variable: the samples of 'box' (NULL: the whole
 * grid), in 'array'. A rank may hand over any number of blocks, or none (an
 * empty box is none); the blocks of all ranks together must cover the grid
 * exactly once. A variable that no rank hands over is absent from the step. A
 * put that fails also fails the step on all ranks, so it is enough to check the
 * status there.
 *
 * bouma_variable_put_borrow() BORROWS THE VALUES UNTIL bouma_step_end()
 * RETURNS. They are read then, not now: do not change or free them before. They
 * may be unaligned. Beware of temporaries: if a Fortran compiler packs an array
 * section for the call, or Python evaluates an expression, the array is gone
 * when the put returns. bouma_variable_put_copy() copies the samples at once;
 * the copy is freed when the step ends. The option 'check' finds arrays that
 * were changed too early, unless they have a function 'copy'.
 *
 * The type of the array may differ from that of the variable, and from rank to
 * rank: see bouma_convert. A tolerance holds for the values as they are once
 * converted; BOUMA_CONVERT_ROUND adds its own error. Values that do not fit are
 * found by bouma_step_end(), or by bouma_variable_put_copy(). No step is
 * written then.
 *
 * An array that is converted, or has a function 'copy', is fetched a part of a
 * chunk at a time: a rank needs memory for the samples of one patch (of one
 * block or tile with BOUMA_LAYOUT_HZ), twice if it does both. One with a
 * function 'copy' is fetched as a whole, when the step ends, if the variable
 * has a relative tolerance or the grid is of BOUMA_LAYOUT_HZ (without
 * 'hz_wavelet'). */
BOUMA_API int bouma_variable_put_borrow(bouma_variable *variable,
                                        const bouma_box *box,
                                        const bouma_array *array);
BOUMA_API int bouma_variable_put_copy(bouma_variable *variable,
                                      const bouma_box *box,
                                      const bouma_array *array);

/* Forget, on this rank, all failed definitions, attributes and puts: the next
 * step is written without them and does not fail because of them. Grids that
 * have no variable now may stay so. */
BOUMA_API int bouma_dataset_clear_failures(bouma_dataset *ds);

/* ---- writing particles -------------------------------------------------- */

/* A set of particles: positions, and any number of variables. Zero means
 * "choose for me", except in ndims. */
typedef struct bouma_particles_spec {
    size_t size; /* sizeof(bouma_particles_spec) */
    int ndims;   /* coordinates of a position, 1 to 3 */
    bouma_type
        type; /* of positions: BOUMA_TYPE_F32 (also 0) or BOUMA_TYPE_F64 */
    const char *unit; /* of positions, such as "m"; may be NULL */
    /* How positions are stored, as in bouma_variable_spec. The tolerance is
     * absolute, and holds for each coordinate. */
    bouma_codec codec;
    int codec_level;
    double tolerance;
    int leaf; /* most particles in a leaf of the tree; 0: 256 */
} bouma_particles_spec;

/* Define a set of particles and its variables, as grids are defined. The codecs
 * for particles are BOUMA_CODEC_ZSTD (the default), _RAW, and with an absolute
 * tolerance _QUANTISE (then the default). Each set has the variable "position"
 * from the start: bouma_particles_position(). */
BOUMA_API int bouma_particles_define(bouma_particles **out, bouma_dataset *ds,
                                     const char *name,
                                     const bouma_particles_spec *spec);
BOUMA_API int bouma_particles_define_variable(bouma_variable **out,
                                              bouma_particles *particles,
                                              const char *name,
                                              const bouma_variable_spec *spec);

/* Hand over 'count' particles (may be 0), with a column for the position and
 * one for each variable that the step is to have. All ranks with particles hand
 * over the same variables. 'bounds' may be NULL, or tell the lowest and the
 * highest coordinates, which saves a pass over the positions; it affects only
 * which file they go to, so wrong bounds lose nothing. They must be finite;
 * 'closed' does not matter. A rank may call this several times, for several
 * blocks. Order is not kept: give particles an id if it matters.
 *
 * ARRAYS ARE BORROWED UNTIL bouma_step_end() RETURNS, as with
 * bouma_variable_put_borrow(): do not change or free them before. (The columns
 * themselves and the bounds are copied.) Only arrays of another type than the
 * variable's, and those with a 'copy' function, are copied at once.
 * bouma_particles_put_copy() copies all values at once. */
BOUMA_API int bouma_particles_put_borrow(bouma_particles *particles,
                                         uint64_t count,
                                         const bouma_column *columns,
                                         size_t column_count,
                                         const bouma_bounds *bounds);
BOUMA_API int bouma_particles_put_copy(bouma_particles *particles,
                                       uint64_t count,
                                       const bouma_column *columns,
                                       size_t column_count,
                                       const bouma_bounds *bounds);

/* Write the step and commit it. After BOUMA_OK it is complete and, by default,
 * durable. After a failure it is either absent or complete; the dataset can
 * still be used, and the step written again. bouma_dataset_record_get() tells
 * what it cost. Collective. */
BOUMA_API int bouma_step_end(bouma_dataset *ds);

/* With the option 'async', bouma_step_end() returns once all data have been
 * copied: whatever it returns, the caller may then change its arrays,
 * definitions and attributes. A thread, which never calls MPI, stores what was
 * gathered. The next collective call on the dataset, or on a step of it,
 * commits the step or reports its failure:
 *
 *     bouma_dataset_wait(), _flush(), _drain(), _refresh(), _truncate(),
 *     _delete_steps(), _close(), bouma_define_like(), bouma_step_open(),
 *     _read(), _delete(), _end(), _abort(), bouma_particles_restart(),
 *     bouma_particles_restart_into()
 *
 * If the previous step has failed, bouma_step_end() and _abort() return that
 * failure and drop the step they were to end; it can be begun again. A program
 * that ends without any of these calls leaves the step uncommitted.
 *
 * How soon it returns depends on the option 'buffers': data that do not fit
 * into the buffers must be stored first. With 'async' the default is 16
 * buffers. */

/* Wait for a step that is still being stored, and commit it; its record then
 * has all times. BOUMA_OK if there is none. Collective. */
BOUMA_API int bouma_dataset_wait(bouma_dataset *ds);

/* Abandon the step. A rank may call this where others call bouma_step_end();
 * all of them then get BOUMA_EABORTED. Collective. */
BOUMA_API int bouma_step_abort(bouma_dataset *ds);

/* Make the steps of an unfinished group visible and durable; then drain, as
 * bouma_dataset_drain(). Collective. */
BOUMA_API int bouma_dataset_flush(bouma_dataset *ds);

/* With the option 'persist' a step is written to a local copy of the dataset on
 * the storage of the node, LOCAL/<last part of the path>, and ends when it is
 * committed there. On one node the local copy is a complete dataset that can be
 * read at once; with several nodes, each has the files that its own ranks have
 * written. A thread on each rank copies steps to the path of the dataset while
 * the program goes on, and checks every byte. They appear there in order,
 * complete and durable.
 *
 * This call waits until all steps are there. After a failure the missing steps
 * are complete in the local copies: the next call (or step, flush or close)
 * tries again, and so does `bouma drain` after the end of the program. Without
 * 'persist' it does nothing. Collective. */
BOUMA_API int bouma_dataset_drain(bouma_dataset *ds);

/* Drop all steps after 'step' (-1: all steps), durably, for a run that restarts
 * from there and writes them anew. Steps are dropped one by one, the last one
 * first; an interrupted call leaves each step either complete or dropped. With
 * 'persist' they are dropped from the local copies as well. Local copies that
 * this call does not know of keep theirs, but the dataset records that they
 * were dropped, and no drain brings them back. Before that, the call waits for
 * a step that is being stored, finishes a group and drains. Collective. */
BOUMA_API int bouma_dataset_truncate(bouma_dataset *ds, int64_t step);

/* Delete a step, or 'count' of them, for good and durably, wherever they are
 * among the others; a damaged one, too. An interrupted call leaves each step
 * either complete or gone, and the same call again does the rest: a step that
 * was deleted before is no failure. BOUMA_ENOTFOUND if there never was such a
 * step: then nothing is deleted. A number can be written again later.
 *
 * As with bouma_dataset_truncate(), copies in local copies that this call does
 * not know of stay, but no drain brings them back; and a step that is being
 * stored, a group and draining are finished first. Many steps at once take less
 * time than one by one. Collective. */
BOUMA_API int bouma_step_delete(bouma_dataset *ds, int64_t step);
BOUMA_API int bouma_dataset_delete_steps(bouma_dataset *ds,
                                         const int64_t *steps, size_t count);

#ifdef __cplusplus
}
#endif
#endif
