/* bouma_read.h -- read the steps of a dataset: grids by box and level,
 * particles by box, value and quality.
 *
 * Example:
 *
 *     float half[32][32];
 *     bouma_array array = BOUMA_ARRAY(BOUMA_TYPE_F32, half, sizeof(half));
 *     bouma_dataset *run = NULL;
 *     bouma_step *step = NULL;
 *
 *     int rc = bouma_dataset_open(&run, "plate.bouma", NULL);
 *     if (!rc)
 *         rc = bouma_step_open(&step, run, 9);
 *     bouma_grid *grid = bouma_step_find_grid(step, "plate");
 *     bouma_variable *heat = bouma_grid_find_variable(grid, "heat");
 *     array.convert = BOUMA_CONVERT_ROUND;
 *     if (!rc)
 *         rc = bouma_variable_read(heat, 1, NULL, &array);
 *     if (rc)
 *         fprintf(stderr, "%s\n", bouma_error_message(run));
 *     bouma_step_free(step);
 *     bouma_dataset_free(run);
 *
 * It reads every second sample, as single precision. */
#ifndef BOUMA_READ_H
#define BOUMA_READ_H

#include <stddef.h>
#include <stdint.h>

#include "bouma_dataset.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- reading ------------------------------------------------------------ */

/* The committed steps, by ascending number. The list is made when a dataset is
 * opened or refreshed; a serial reader makes it at its first use, by one of
 * these calls or for the dataset's attributes, because opening one of very many
 * steps needs no list. The count is -1 if the list cannot be read;
 * bouma_error_message() says why. Not collective. */
typedef struct bouma_step_info {
    size_t size; /* sizeof(bouma_step_info), set by the caller */
    int64_t step;
    double time;
    uint64_t writing; /* another number once the step has been rewritten or
                         extended; 0: not known */
} bouma_step_info;
BOUMA_API int64_t bouma_dataset_step_count(const bouma_dataset *ds);
BOUMA_API int bouma_dataset_step_get(bouma_step_info *out,
                                     const bouma_dataset *ds, int64_t i);

/* The first and the last step; the next one after a number, and the one before
 * it (of which there need not be a step); and the step whose time is nearest to
 * 'time'. Of steps that are equally near, the one with the lowest number is
 * taken; damaged ones whose time is not known are left out. All of them bisect
 * the list above. BOUMA_ENOTFOUND if there is no such step. Not collective.
 *
 *     for (rc = bouma_dataset_first_step(&info, ds); !rc;
 *          rc = bouma_dataset_next_step(&info, ds, info.step))
 */
BOUMA_API int bouma_dataset_first_step(bouma_step_info *out,
                                       const bouma_dataset *ds);
BOUMA_API int bouma_dataset_last_step(bouma_step_info *out,
                                      const bouma_dataset *ds);
BOUMA_API int bouma_dataset_next_step(bouma_step_info *out,
                                      const bouma_dataset *ds, int64_t after);
BOUMA_API int bouma_dataset_previous_step(bouma_step_info *out,
                                          const bouma_dataset *ds,
                                          int64_t before);
BOUMA_API int bouma_dataset_step_at(bouma_step_info *out,
                                    const bouma_dataset *ds, double time);

/* Find steps that were committed since. Collective. */
BOUMA_API int bouma_dataset_refresh(bouma_dataset *ds);

/* The identity (16 bytes) of a dataset, the version of its format, and what
 * this handle has read and written so far, on this rank. */
typedef struct bouma_dataset_info {
    size_t size; /* sizeof(bouma_dataset_info), set by the caller */
    unsigned char id[16];
    int format_major, format_minor;
    uint64_t bytes_read, bytes_written, files_opened;
    uint64_t local_bytes_read; /* of bytes_read: from the directory 'local' */
} bouma_dataset_info;
BOUMA_API int bouma_dataset_info_get(bouma_dataset_info *out,
                                     const bouma_dataset *ds);

/* Open a committed step. The caller owns *out and frees it, also after the
 * dataset. BOUMA_ENOTFOUND if there is no such step; BOUMA_EFORMAT if there was
 * one and it is lost (see bouma_losses()). If another program rewrites the
 * step, reads of it may fail with BOUMA_ESTATE: then free it and open it again.
 * A step that is rewritten by the handle that it was opened from can be read as
 * it was until it is freed. A step that is deleted, or dropped by a truncation,
 * is not kept for those who have it open: reads of it may fail with
 * BOUMA_ENOTFOUND. Collective. */
BOUMA_API int bouma_step_open(bouma_step **out, bouma_dataset *ds,
                              int64_t step);
BOUMA_API void bouma_step_free(bouma_step *step);

/* How a step lies on disk. */
typedef struct bouma_step_details {
    size_t size; /* sizeof(bouma_step_details), set by the caller */
    int64_t step;
    double time;
    bouma_order order;
    bouma_distribute distribute;
    bouma_assign assign;
    bouma_place place;
    uint64_t manifest_bytes;
    bouma_assign assign_particles; /* as 'assign' is that of grids */
    uint64_t tag; /* a checksum of what the step is, the same for all who read
                     it: another one once it has been rewritten or extended */
} bouma_step_details;
BOUMA_API int bouma_step_details_get(bouma_step_details *out,
                                     const bouma_step *step);

/* The cost of a step, as its manifest has it: without the time of the commit,
 * which followed. */
BOUMA_API int bouma_step_record_get(bouma_record *out, const bouma_step *step);

/* The i-th file of a step. BOUMA_ENOTFOUND past the last. */
typedef struct bouma_step_file {
    size_t size; /* sizeof(bouma_step_file), set by the caller */
    uint64_t bytes;
    int64_t chunks;
} bouma_step_file;
BOUMA_API int bouma_step_file_get(bouma_step_file *out, const bouma_step *step,
                                  int64_t i);

/* The grids of a step, and the variables of a grid, by number or by name. NULL
 * if there is none; the message then lists those there are. They belong to the
 * step (grids being written: to the dataset). */
BOUMA_API int bouma_step_grid_count(const bouma_step *step);
BOUMA_API bouma_grid *bouma_step_grid(bouma_step *step, int i);
BOUMA_API bouma_grid *bouma_step_find_grid(bouma_step *step, const char *name);
BOUMA_API int bouma_grid_variable_count(const bouma_grid *grid);
BOUMA_API bouma_variable *bouma_grid_variable(bouma_grid *grid, int i);
BOUMA_API bouma_variable *bouma_grid_find_variable(bouma_grid *grid,
                                                   const char *name);

/* A grid, as it was defined or is stored. */
typedef struct bouma_grid_info {
    size_t size; /* sizeof(bouma_grid_info), set by the caller */
    const char *name;
    int ndims, levels;
    int64_t shape[BOUMA_MAX_DIMS];
    int64_t patch[BOUMA_MAX_DIMS];
    double origin[BOUMA_MAX_DIMS], spacing[BOUMA_MAX_DIMS];
    const char *unit;
    int variables;
    int64_t patches; /* of BOUMA_LAYOUT_HZ: blocks; 'patch' is what one of the
                        finest level spans */
    bouma_layout layout;
    char hz_template[64]; /* of BOUMA_LAYOUT_HZ, else empty */
    int hz_block_bits, hz_blocks_per_file;
    bouma_hz_order hz_order;
    int hz_partitions; /* 1 unless partitions have an index each: to files and
                          readers, others do not matter */
    bouma_hz_index hz_index;
    int hz_wavelet, hz_tile_bits; /* 0: samples, no coefficients */
    int idx; /* it is an IDX dataset, too: idx/NAME.idx in the dataset */
} bouma_grid_info;
BOUMA_API int bouma_grid_info_get(bouma_grid_info *out, const bouma_grid *grid);

/* A variable of a grid or of particles, and what the step has of it. */
typedef struct bouma_variable_info {
    size_t size; /* sizeof(bouma_variable_info), set by the caller */
    const char *name;
    bouma_type type;
    int components;
    bouma_codec codec;
    int codec_level;
    const char *unit;
    int present; /* 1 if this step has it */
    uint64_t raw_bytes, stored_bytes;
    double tolerance; /* as given */
    bouma_tolerance tolerance_kind;
    double bound;         /* the tolerance as an absolute number */
    double largest_error; /* largest error of all samples; infinite if not
                             known, as with 'nominal' */
    double psnr;          /* in dB: the range over the root mean square error;
                             infinite if there is no error, NaN if not known, as
                             with 'nominal' or infinite values */
    int nominal;          /* 1: the tolerance is that of coefficients */
    /* for a variable written with a relative tolerance, in its last step: the
     * range without the outermost thousandth of its values; else 0. If it is
     * less than 'bound', outliers dominate the range, and little may be left of
     * the other values */
    double span;
    int averages; /* 1: coarser levels are averages, for which no tolerance
                     holds; 0: they are samples */
} bouma_variable_info;
BOUMA_API int bouma_variable_info_get(bouma_variable_info *out,
                                      const bouma_variable *variable);

/* Stored bytes of one level; reading it also takes those of the coarser ones. 0
 * if there is no such level. With BOUMA_LAYOUT_HZ all bytes count as those of
 * the coarsest level: what each level has is not on record. */
BOUMA_API uint64_t bouma_variable_level_bytes(const bouma_variable *variable,
                                              int level);

/* The range of one component's values, without NaN, which is counted
 * separately. 'exact_low' and 'exact_high' are exact: i64 or u64 for integers,
 * f64 for f32 and f64; 'low' and 'high' are the same as doubles. 'empty' is 1
 * if there is no value but NaN: then the exact ends have type 0. This struct
 * never grows. */
typedef struct bouma_range {
    double low, high;
    bouma_value exact_low, exact_high;
    uint64_t nans;
    int empty;
} bouma_range;
BOUMA_API int bouma_variable_range(bouma_range *out,
                                   const bouma_variable *variable,
                                   int component);

/* The result of reading 'box' at 'level': its shape, and the position of its
 * first sample. 'box' may be NULL: the whole grid. */
typedef struct bouma_selection {
    size_t size; /* sizeof(bouma_selection), set by the caller */
    int ndims;
    int64_t shape[BOUMA_MAX_DIMS];
    int64_t first[BOUMA_MAX_DIMS]; /* index at full resolution */
    double origin[BOUMA_MAX_DIMS], spacing[BOUMA_MAX_DIMS];
    uint64_t bytes;               /* of a dense array for it */
    int64_t step[BOUMA_MAX_DIMS]; /* to the next sample, at full resolution */
} bouma_selection;
BOUMA_API int bouma_variable_select(bouma_selection *out,
                                    const bouma_variable *variable, int level,
                                    const bouma_box *box);

/* Read the samples of 'box' (NULL: all) at 'level' into 'array', whose shape is
 * that of bouma_variable_select(). Its type may differ from that of the
 * variable: see bouma_convert. After a failure some samples may have been read.
 * Not collective: any rank may read what it likes. */
BOUMA_API int bouma_variable_read(bouma_variable *variable, int level,
                                  const bouma_box *box,
                                  const bouma_array *array);

/* The same box in many steps: of the grid and the variable that have the names
 * of these there, and whatever else differs, the same shape, levels, type and
 * components; else BOUMA_EMISMATCH. 'array' is that of the first step, but its
 * 'bytes' are those of the memory for all. *done (may be NULL) becomes the
 * number of steps that were read, also after a failure, which is that of the
 * next one. A step without the variable is BOUMA_ENOTFOUND.
 *
 *     double history[100];
 *     int64_t steps[100] = {0, 10, 20};
 *     bouma_box point = {{31, 15}, {32, 16}};
 *     bouma_array array =
 *         BOUMA_ARRAY(BOUMA_TYPE_F64, history, sizeof(history));
 *     bouma_series series = {.size = sizeof(series), .steps = steps,
 *                            .step_count = 3, .box = &point, .array = &array};
 *     rc = bouma_variable_read_series(NULL, heat, &series);
 *
 * A reader of one process expects each step to lie in files as the one before,
 * and then opens only the files that have the samples. All that these say is
 * checked, but the manifest is not read: steps are those of the list (see
 * bouma_dataset_step_count()), and one whose manifest is damaged can be read.
 * Where anything is otherwise, the step is opened as by bouma_step_open().
 *
 * Collective: ranks give the same steps; boxes and arrays are their own. */
typedef struct bouma_series {
    size_t size; /* sizeof(bouma_series) */
    const int64_t *steps;
    size_t step_count;
    int level;
    const bouma_box *box; /* NULL: the whole grid */
    const bouma_array *array;
    int64_t step_stride; /* bytes from a step to the next, of which each is
                            behind all of the one before; 0: no gap between
                            dense arrays */
} bouma_series;
BOUMA_API int bouma_variable_read_series(size_t *done, bouma_variable *variable,
                                         const bouma_series *series);

/* The same for any number of boxes on each rank (may be 0) of one step. Each
 * chunk is read by one rank only, which passes it on to the others. A box whose
 * array has another type than the variable, or a function 'copy', is first read
 * into memory of the library. Collective. */
typedef struct bouma_request {
    size_t size; /* sizeof(bouma_request), in all elements */
    bouma_variable *variable;
    int level;
    bouma_box box;
    const bouma_array *array;
} bouma_request;
BOUMA_API int bouma_step_read(bouma_step *step, const bouma_request *requests,
                              size_t count);

/* Read patch by patch, each at its own level: fine where something happens, and
 * coarse, or nothing at all, elsewhere.
 *
 * Patches that do not meet 'box' (NULL: all) are skipped. If 'within' is 1, so
 * are those with no value from 'low' to 'high' in 'component'; files without
 * such values are not read. 'choose' then returns the level for a patch, or -1
 * to skip it; if it is NULL, that is 'level'. 'each' gets the samples of the
 * patch (of its part in 'box') at that level: in the variable's own type,
 * dense, the components of a sample side by side, with shape and position as in
 * 'selection'. It is not called for parts without samples at the level. It
 * returns 0 to continue; anything else ends the call with BOUMA_EABORTED. Both
 * run on the calling thread, 'each' in an order that depends only on the files
 * and levels; neither may read the step (BOUMA_ESTATE).
 *
 * Of a grid of BOUMA_LAYOUT_HZ, the patches are blocks. Their samples lie apart
 * from each other: 'box' is the smallest one around them, and 'step' of the
 * selection tells how far, along each axis. Blocks without samples of the level
 * are skipped. With 'hz_wavelet', the patches are its tiles: 'ranges' are those
 * of the variable, 'level_bytes' are 0, and with 'within' all tiles are read.
 */
typedef struct bouma_patch_info {
    size_t size;   /* sizeof(bouma_patch_info) */
    bouma_box box; /* the whole patch, in samples of level 0 */
    int levels, components;
    const bouma_range *ranges;   /* [components], of the original values: those
                                    read may be outside by the bound */
    const uint64_t *level_bytes; /* [levels], stored */
} bouma_patch_info;

/* Which patches are read, at which levels, and who gets them: see above. */
typedef struct bouma_patch_query {
    size_t size; /* sizeof(bouma_patch_query) */
    const bouma_box *box;
    int level;
    int within, component;
    double low, high;
    int (*choose)(void *user, const bouma_patch_info *patch);
    int (*each)(void *user, const bouma_patch_info *patch, int level,
                const bouma_selection *selection, const void *samples);
    void *user;
} bouma_patch_query;
BOUMA_API int bouma_variable_query(bouma_variable *variable,
                                   const bouma_patch_query *query);

/* Read from coarse to fine: hold 'box' (NULL: all) at 'level', then go to finer
 * levels, reading only the additional bytes. bouma_refinement_next() goes one
 * level further: BOUMA_ENOTFOUND if level 0 is already there. After a failure
 * the old array is still valid.
 *
 * bouma_refinement_get() tells what is there; each of its results may be NULL.
 * The array is dense, of the variable's own type, the components of a sample
 * side by side. It belongs to the refinement, and is valid until that goes on
 * or is freed. */
BOUMA_API int bouma_refinement_open(bouma_refinement **out,
                                    bouma_variable *variable, int level,
                                    const bouma_box *box);
BOUMA_API int bouma_refinement_next(bouma_refinement *refinement);
BOUMA_API int bouma_refinement_get(const void **data,
                                   bouma_selection *selection, int *level,
                                   const bouma_refinement *refinement);
BOUMA_API void bouma_refinement_free(bouma_refinement *refinement);

/* ---- reading within a budget -------------------------------------------- */

/* What one call may read and return; 0 in a field: no limit. */
typedef struct bouma_budget {
    size_t size;     /* sizeof(bouma_budget) */
    uint64_t bytes;  /* most bytes read from storage: data, and also heads of
                        files, trees of particles and, of a step with more than
                        1,024 files, parts of its list of files: these are read
                        once */
    uint64_t points; /* most samples in the array; most particles returned */
    double error;    /* of grids: go on until the error is at most this */
} bouma_budget;

/* What made a call end where it did. */
typedef enum bouma_limit {
    BOUMA_LIMIT_NONE = 0, /* nothing: all is there */
    BOUMA_LIMIT_BYTES = 1,
    BOUMA_LIMIT_POINTS = 2,
    BOUMA_LIMIT_ERROR = 3 /* the error is small enough */
} bouma_limit;

/* What a call within a budget has given, and what the next step takes.
 *
 * The error of level 0 is 'largest_error' of bouma_variable_info, a bound. That
 * of a coarser level is measured: the largest difference of its samples from
 * those that the next coarser level gives in their places (linear along each
 * axis, also beyond its outermost samples). So it tells how much the last level
 * has changed. It is no bound for what finer levels will show: what lies
 * between samples cannot be known from them. NaN is left out; the error is
 * infinite as long as there is only one level to look at.
 *
 * A budget of 'next_bytes' and 'next_points' is enough for one more step. Where
 * files have not been looked at yet, or conditions may rule data out, these are
 * upper limits. 'next_bytes' is 0 if what comes next has been read already;
 * both are 0 if 'complete' is 1. */
typedef struct bouma_answer {
    size_t size;  /* sizeof(bouma_answer), set by the caller */
    int complete; /* 1: level 0, or all particles of the query, are there */
    int level;    /* of the array; of particles: the finest level of detail that
                     was returned, or some of it; -1: none yet */
    double quality;     /* of particles: about this fraction of those that match
                           has been returned, by all calls; of grids 0 */
    uint64_t points;    /* samples in the array; particles of this call */
    uint64_t bytes;     /* that this call has read from storage */
    double error;       /* see above; of particles 0 */
    int error_is_bound; /* 1: a bound; 0: measured */
    bouma_limit limit;
    uint64_t next_bytes, next_points;
} bouma_answer;

/* Open a refinement of 'box' (NULL: all) at the finest level that the budget
 * (NULL: no limits) allows; and go on, with a budget for what comes now. No
 * byte of the data is read twice. The array is that of bouma_refinement_get().
 * 'answer' may be NULL.
 *
 *     bouma_budget budget = {.size = sizeof(budget), .bytes = 10 << 20};
 *     bouma_answer answer = {.size = sizeof(answer)};
 *     bouma_refinement *r;
 *
 *     rc = bouma_refinement_open_within(&r, &answer, heat, NULL, &budget);
 *     while (!rc && !answer.complete) {
 *         ... bouma_refinement_get(&data, &selection, &level, r) ...
 *         rc = bouma_refinement_next_within(&answer, r, &budget);
 *     }
 *
 * If the budget is too small for even one level more, the calls fail with
 * BOUMA_ELIMIT. The message and the answer's 'next_bytes' and 'next_points'
 * tell what is needed. There is no refinement then, or the one that was there
 * is as it was; heads that were read are kept, and not read again. After any
 * other failure, also BOUMA_ELIMIT of the option 'memory_limit', these two are
 * 0, and bouma_refinement_next_within() leaves the finest array that was
 * complete, of which the answer tells. If all is there already, or the error
 * is small enough (BOUMA_LIMIT_ERROR), the call is BOUMA_OK and reads nothing.
 * Not collective. */
BOUMA_API int bouma_refinement_open_within(bouma_refinement **out,
                                           bouma_answer *answer,
                                           bouma_variable *variable,
                                           const bouma_box *box,
                                           const bouma_budget *budget);
BOUMA_API int bouma_refinement_next_within(bouma_answer *answer,
                                           bouma_refinement *refinement,
                                           const bouma_budget *budget);

/* ---- reading particles -------------------------------------------------- */

/* The sets of a step, and their variables, like those of grids. The position is
 * a variable with a handle of its own, bouma_particles_position(): it is not
 * counted among the others and has no number, but can be found by its name,
 * "position". bouma_variable_info_get() and _range() work on all of these
 * variables; their levels are levels of detail. */
BOUMA_API int bouma_step_particles_count(const bouma_step *step);
BOUMA_API bouma_particles *bouma_step_particles(bouma_step *step, int i);
BOUMA_API bouma_particles *bouma_step_find_particles(bouma_step *step,
                                                     const char *name);
BOUMA_API int bouma_particles_variable_count(const bouma_particles *particles);
BOUMA_API bouma_variable *bouma_particles_variable(bouma_particles *particles,
                                                   int i);
BOUMA_API bouma_variable *
bouma_particles_find_variable(bouma_particles *particles, const char *name);
BOUMA_API bouma_attributes *
bouma_particles_attributes(bouma_particles *particles);

/* A set of particles, as the step has it. */
typedef struct bouma_particles_info {
    size_t size; /* sizeof(bouma_particles_info), set by the caller */
    const char *name;
    int ndims;
    bouma_type type; /* of positions */
    const char *unit;
    int variables; /* without the position */
    int levels;    /* of detail */
    uint64_t count;
    uint64_t strays; /* of these: without a finite position */
    double low[BOUMA_MAX_DIMS], high[BOUMA_MAX_DIMS]; /* of finite positions */
    int64_t files;
    int64_t tree_nodes; /* of the tree over the files; 0: no tree */
} bouma_particles_info;
BOUMA_API int bouma_particles_info_get(bouma_particles_info *out,
                                       const bouma_particles *particles);

/* The content of the i-th file of a set. */
typedef struct bouma_particles_file {
    size_t size;  /* sizeof(bouma_particles_file), set by the caller */
    int64_t file; /* number among the files of the step */
    uint64_t count, strays;
    double low[BOUMA_MAX_DIMS], high[BOUMA_MAX_DIMS];
    uint64_t tree_bytes;
} bouma_particles_file;
BOUMA_API int bouma_particles_file_get(bouma_particles_file *out,
                                       const bouma_particles *particles,
                                       int64_t i);

/* The i-th node of the tree over the files, in preorder: the left child of an
 * inner node is the next one. BOUMA_ENOTFOUND past the last. */
typedef struct bouma_particles_node {
    size_t size;   /* sizeof(bouma_particles_node), set by the caller */
    int64_t right; /* number of the right child; 0: a leaf */
    int64_t file;  /* of a leaf, as for bouma_particles_file_get() */
    int axis;      /* -1: none, divided by the order of ranks; or a leaf */
    double split;
    uint64_t count; /* of particles below it */
    double low[BOUMA_MAX_DIMS], high[BOUMA_MAX_DIMS];
} bouma_particles_node;
BOUMA_API int bouma_particles_node_get(bouma_particles_node *out,
                                       const bouma_particles *particles,
                                       int64_t i);

/* The values of a component from low to high, both included. A value without a
 * type is no limit, but one of the two must be given. Numbers of any type are
 * compared exactly, whatever the type of the variable: 2.5 to 3.5 is 3 for an
 * integer. A limit may be infinite. NaN is in no range, and no limit. */
typedef struct bouma_condition {
    size_t size; /* sizeof(bouma_condition) */
    bouma_variable *variable;
    int component;
    bouma_value low, high; /* such as bouma_value_real(0.5) */
} bouma_condition;

/* How the components of a variable lie in an array for n particles. */
typedef enum bouma_component_order {
    BOUMA_COMPONENT_ORDER_PLANAR = 1,     /* [components][n] (default) */
    BOUMA_COMPONENT_ORDER_INTERLEAVED = 2 /* [n][components] */
} bouma_component_order;

/* Some of the particles found: for each wanted variable an array of its type,
 * aligned, in the order that the query asks for. Valid during the call. */
typedef struct bouma_batch {
    size_t size;                 /* set by the library */
    uint64_t count;              /* of particles */
    const void *const *columns;  /* [variables] */
    bouma_component_order order; /* of each column */
} bouma_batch;

/* A query. All but 'size' may be zero: all particles, with all variables.
 * Elements of 'conditions' follow each other at a distance of their own 'size',
 * which is the same for all. */
typedef struct bouma_particles_query {
    size_t size; /* sizeof(bouma_particles_query) */
    /* The fraction of the particles: those above 'from' up to 'quality', 0 to
     * 1; a quality of 0 means 1. Queries from 0 to 0.1, 0.1 to 0.4 and 0.4 to 1
     * return each particle once, and read each byte once. */
    double from, quality;
    const bouma_bounds *box; /* NULL: everywhere, including particles without a
                                finite position, which are in no box */
    const bouma_condition *conditions; /* all must hold; NULL: none */
    size_t condition_count;
    /* Variables to return; NULL: the position and all others that the step has,
     * in their order. */
    bouma_variable *const *variables;
    size_t variable_count;
    bouma_component_order order; /* of what is returned; 0: PLANAR */
    int shares;                  /* 1: an equal share for each rank; only for
                   bouma_particles_restart(), and without a box */
    const char *where;           /* a text, which must hold, too; NULL: none */
} bouma_particles_query;

/* Whether a query of these particles can have this text as its 'where':
 * BOUMA_OK; BOUMA_EINVAL, with a message that tells the character; for a name
 * that they do not have BOUMA_ENOTFOUND. Reads nothing. A text such as
 *
 *     3 < mass <= 5 && (velocity[2] > 0 || 'kind of gas' != 2) && x < 0.5
 *
 * compares variables with numbers: <, <=, >, >=, == and !=, exactly, as
 * bouma_condition does. Names that are no words are put in quotes; x, y and z
 * are the position. From the loosest: 'or' and ||, 'and' and &&, 'not', |, &, !
 * and ~ before parentheses, and comparisons, which may be chained. NaN meets no
 * comparison and no negation of one: !(T > 3) is T <= 3. BOUMA_ELIMIT beyond
 * 64 KiB, 512 comparisons or 64 parentheses in each other; or if it takes more
 * than 256 groups of ranges, in one of which a particle must be, or 4096 ranges
 * in all of them. */
BOUMA_API int bouma_particles_check_where(const bouma_particles *particles,
                                          const char *text);

/* Pass all particles that match, each once, to 'each', batch by batch, in no
 * particular order (but always the same). It returns 0 to continue; anything
 * else ends the call with BOUMA_EABORTED. It may not read the step
 * (BOUMA_ESTATE). Not collective. */
BOUMA_API int bouma_particles_query_run(
    bouma_particles *particles, const bouma_particles_query *query,
    int (*each)(void *user, const bouma_batch *batch), void *user);

/* Particles in memory: the caller owns and frees them; until then 'variables'
 * are there, even if the step is freed. Columns are as in a batch, for all
 * particles. */
typedef struct bouma_particle_data {
    size_t size; /* set by the library */
    uint64_t count;
    size_t variable_count;
    bouma_variable **variables;  /* [variable_count] */
    void **columns;              /* [variable_count] */
    bouma_component_order order; /* of each column */
    const bouma_allocator *allocator;
} bouma_particle_data;
BOUMA_API void bouma_particle_data_free(bouma_particle_data *data);

/* The same as bouma_particles_query_run(), into arrays. 'query' may be NULL:
 * all particles. On failure *out is NULL. */
BOUMA_API int bouma_particles_read(bouma_particle_data **out,
                                   bouma_particles *particles,
                                   const bouma_particles_query *query);

/* How many particles match. Reads the variables of the box and the conditions
 * only; the query's variables do not matter. */
BOUMA_API int bouma_particles_count(uint64_t *count, bouma_particles *particles,
                                    const bouma_particles_query *query);

/* Read the particles that match into arrays of the caller, of any type and
 * layout: a column for each variable that is wanted, with room for 'capacity'
 * particles each. *count becomes their number. If there are more, the call
 * fails with BOUMA_ELIMIT, *count says how many there are, and nothing is
 * written beyond the capacity. After any other failure *count is 0; so it is if
 * BOUMA_ELIMIT comes from another limit, such as the option 'memory_limit'. The
 * query (NULL: all particles) has no variables and no order. Without columns,
 * particles are only counted. Arrays that share memory are BOUMA_EINVAL, in all
 * calls that read into columns; those of members of the same structs do not.
 *
 *     double (*x)[3] = malloc(capacity * sizeof(*x));
 *     bouma_array array =
 *         BOUMA_ARRAY(BOUMA_TYPE_F64, x, capacity * sizeof(*x));
 *     bouma_column column = {sizeof(column), bouma_particles_position(dust),
 *                            &array};
 *     rc = bouma_particles_read_into(&count, dust, NULL, &column, 1, capacity);
 */
BOUMA_API int bouma_particles_read_into(uint64_t *count,
                                        bouma_particles *particles,
                                        const bouma_particles_query *query,
                                        const bouma_column *columns,
                                        size_t column_count, uint64_t capacity);

/* 'count' of the particles that match (all, if there are no more), none twice.
 * 'query' may be NULL; its quality is not used. The same 'seed' gives the same
 * sample on any machine and number of ranks.
 *
 * A seed from 1 on gives a simple random sample: each set of that many
 * particles is equally likely, and samples of different seeds are independent.
 * So the mean of n values with standard deviation s, out of N particles, has
 * the standard error s / sqrt(n) * sqrt(1 - n / N), and the number of particles
 * of some kind in the sample is hypergeometric. The particles are in the order
 * in which they were drawn: the first k are the sample of k. Each level of a
 * chunk that has one of them is read: for samples of more than one particle in
 * some hundred, nearly all data of the query.
 *
 * Seed 0 gives the even sample: it is taken from the coarse levels of detail,
 * so it reads little more than it returns, and it is spread more evenly than a
 * random one. It is always the same; sums over space have a smaller error than
 * the formula says. */
BOUMA_API int bouma_particles_sample(bouma_particle_data **out,
                                     bouma_particles *particles,
                                     const bouma_particles_query *query,
                                     uint64_t count, uint64_t seed);

/* The same into arrays of the caller, as bouma_particles_read_into(), with room
 * for 'count' particles each. *drawn becomes their number. */
BOUMA_API int bouma_particles_sample_into(uint64_t *drawn,
                                          bouma_particles *particles,
                                          const bouma_particles_query *query,
                                          const bouma_column *columns,
                                          size_t column_count, uint64_t count,
                                          uint64_t seed);

/* Read the particles of a query (NULL: all) from coarse to fine, each call as
 * many as its budget (NULL: no limits) allows: those of the lowest levels of
 * detail first, so that what has come so far is spread evenly over all that
 * match. Opening reads nothing; what the query points to is not needed after
 * it.
 *
 * Each call returns particles that have not come before, so that all calls
 * together return each particle of the query once, and read each byte once:
 * levels of detail are read as a whole, and particles beyond budget.points are
 * kept in memory for the next call. As many particles come as the budget
 * allows, exactly budget.points of them unless too few are left or it is the
 * bytes that end the call. They come by ascending level. A level is read if all
 * that it may take is within the bytes, also those for which it then turns out
 * that no particle matches. A budget of error is BOUMA_EINVAL.
 *
 * If the budget is too small for even one level more, the call fails with
 * BOUMA_ELIMIT, as with grids, and *out is NULL. Without particles that match,
 * or when all have come, *out has none, and 'complete' is 1. 'answer' may be
 * NULL. Not collective. */
BOUMA_API int
bouma_particles_refinement_open(bouma_particles_refinement **out,
                                bouma_particles *particles,
                                const bouma_particles_query *query);
BOUMA_API int
bouma_particles_refinement_next(bouma_particle_data **out, bouma_answer *answer,
                                bouma_particles_refinement *refinement,
                                const bouma_budget *budget);

/* The same into arrays of the caller, with room for 'capacity' particles each:
 * a column for each variable of the query, in their order (without any:
 * position, then all others that the step has). No more particles come than
 * there is room for, as if budget.points said so; the answer's 'points' tells
 * how many. After a failure they come with the next call. */
BOUMA_API int bouma_particles_refinement_next_into(
    bouma_answer *answer, bouma_particles_refinement *refinement,
    const bouma_budget *budget, const bouma_column *columns,
    size_t column_count, uint64_t capacity);
BOUMA_API void
bouma_particles_refinement_free(bouma_particles_refinement *refinement);

/* Give each rank the particles of its own box, as after a restart, on any
 * number of ranks; each file is read by one of them.
 *
 * With 'query' NULL on all ranks, or with 'shares' set, each rank gets an equal
 * share of the particles (that match); particles that are close together are on
 * the same rank. Otherwise every rank gives a box; boxes may differ, overlap or
 * leave gaps, but the rest of the query must be the same. Boxes that share a
 * face share no particle. If 'closed' is 0, a box that reaches the far face of
 * the bounds of all particles includes that face, unless the box of some rank
 * continues behind it. A query with neither a box nor shares returns all
 * particles to each rank. Particles without a finite position are in no box.
 * Collective. */
BOUMA_API int bouma_particles_restart(bouma_particle_data **out,
                                      bouma_particles *particles,
                                      const bouma_particles_query *query);

/* The same into arrays of the caller, as bouma_particles_read_into(). All ranks
 * give columns for the same variables, in the same order; arrays and capacities
 * may differ. If those of any rank are too small, the call fails with
 * BOUMA_ELIMIT on all ranks, and *count says how many particles each of them
 * needs room for. After any other failure, that of another limit included,
 * *count is 0 on all ranks. Without columns on all ranks, particles are only
 * counted. Beside the arrays the call takes memory for what comes in one round:
 * see the option 'buffer_bytes'. Collective. */
BOUMA_API int bouma_particles_restart_into(uint64_t *count,
                                           bouma_particles *particles,
                                           const bouma_particles_query *query,
                                           const bouma_column *columns,
                                           size_t column_count,
                                           uint64_t capacity);

/* ---- histograms --------------------------------------------------------- */

/* Bins, and the values that are counted in them. A value is in a bin if it is
 * not below its low edge, and below its high edge; the last bin includes its
 * high edge. NaN is in no bin. Numbers of any type are compared with edges
 * exactly. Counted are the values that a read gives, which a tolerance may have
 * changed. */
typedef struct bouma_histogram_spec {
    size_t size;   /* sizeof(bouma_histogram_spec) */
    int component; /* of the variable */
    size_t bins;   /* 1 to 65536 */
    /* The outermost edges, of bins that are equally wide; both 0: those of the
     * values that the step has on record, without infinite ones. If it has
     * none, 0 and 1; if there is only one, half a unit around it. */
    double low, high;
    const double *edges; /* [bins + 1], ascending; then low and high are 0 */
    int index_only;      /* 1: read no values, only what is known of them */
} bouma_histogram_spec;

/* How many values are in a bin. The count is from 'lower' to 'upper', whatever
 * 'estimate' says; 'error' is the standard error of that. This struct never
 * grows. */
typedef struct bouma_bin {
    double low, high; /* edges */
    uint64_t lower, upper;
    double estimate, error;
} bouma_bin;

/* What counts come from. */
typedef enum bouma_basis {
    BOUMA_BASIS_INDEX = 1,  /* ranges and bitmaps; no value was read */
    BOUMA_BASIS_SAMPLE = 2, /* these, and the values of coarse levels */
    BOUMA_BASIS_EXACT = 3   /* all values: 'lower' is 'upper' */
} bouma_basis;

/* A histogram, beside its bins. */
typedef struct bouma_histogram {
    size_t size; /* sizeof(bouma_histogram), set by the caller */
    bouma_basis basis;
    bouma_bin below, above; /* the first edge, and the last */
    bouma_bin all;          /* all values that match, NaN included */
    int level;              /* the finest that was read; -1: none */
    uint64_t points;        /* values that were looked at */
    uint64_t bytes;         /* that this call has read from storage */
    bouma_limit limit;      /* why no more was read */
    uint64_t next_bytes;    /* that one level more takes, beside these; with
                                'index_only', the rest of the index */
} bouma_histogram;

/* How many particles have which values of a variable of theirs, out of those
 * that match 'query' (NULL: all), whose variables and order do not matter; it
 * has no quality. Without a budget, all of these values are read, batch by
 * batch, and counts are exact.
 *
 * With a budget, the index is read first (trees of files, which tell where
 * particles are, and by bitmaps which values they have), if that takes no more
 * than half of the bytes; then as many levels of detail as the rest allows, as
 * a whole. If these are all, counts are exact. Else those of the levels are
 * scaled up. The standard error is that of a random sample; levels of detail
 * are spread more evenly, so that it is rather too large than too small. A
 * budget of points limits the particles that are looked at. There is always an
 * answer, if only from what the step says of each file: no budget is too small.
 *
 * With 'index_only', no particle is read, and the budget is for the index. The
 * estimate then takes values to be spread evenly over what a bitmap leaves
 * open, and 'error' is that of a number of which only the bounds are known:
 * (upper - lower) / sqrt(12).
 *
 *     bouma_histogram_spec spec = {.size = sizeof(spec), .bins = 20};
 *     bouma_budget budget = {.size = sizeof(budget), .bytes = 1 << 20};
 *     bouma_histogram about = {.size = sizeof(about)};
 *     bouma_bin bins[20];
 *
 *     rc = bouma_particles_histogram(&about, bins, heat, &spec, NULL, &budget);
 *
 * Not collective. */
BOUMA_API int bouma_particles_histogram(bouma_histogram *out, bouma_bin *bins,
                                        bouma_variable *variable,
                                        const bouma_histogram_spec *spec,
                                        const bouma_particles_query *query,
                                        const bouma_budget *budget);

/* The same for the samples of a grid's variable in 'box' (NULL: all). The index
 * is the ranges of patches, which heads of files have. With a budget, the
 * finest level that it allows is taken for a sample; with 'index_only', none
 * is. Where coarser levels are averages ('averages' of bouma_variable_info),
 * 'error' is NaN: what a sample would tell is not known. A budget of error is
 * BOUMA_EINVAL. Not collective. */
BOUMA_API int bouma_variable_histogram(bouma_histogram *out, bouma_bin *bins,
                                       bouma_variable *variable,
                                       const bouma_histogram_spec *spec,
                                       const bouma_box *box,
                                       const bouma_budget *budget);

#ifdef __cplusplus
}
#endif
#endif
