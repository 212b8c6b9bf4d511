/* bouma_wasm.h -- what the WebAssembly module exports: reading, with texts and
 * numbers as arguments and JSON as answers, so that JavaScript need not know
 * how structs of C lie in memory. The same functions are compiled for this
 * machine by tests.
 *
 * Those that return a pointer return NULL after a failure, and bw_status() and
 * bw_message() tell which. Texts and data that they return are valid until the
 * next call with the same dataset. The keys of JSON are those of `bouma info
 * --json`; numbers that are not finite are null, and integers beyond 2^53 are
 * strings. */
#ifndef BOUMA_WASM_H
#define BOUMA_WASM_H

#include <stddef.h>
#include <stdint.h>

#include "bouma.h"

struct bw_dataset;
struct bw_query;
struct bw_answers;

/* Open a dataset. The result is freed by bw_close() also if its status tells of
 * a failure; NULL only if there is no memory. */
struct bw_dataset *bw_open(const char *path);
void bw_close(struct bw_dataset *d);

/* How the last call ended: a bouma_status, its name, and what failed. */
int bw_status(const struct bw_dataset *d);
const char *bw_status_name(const struct bw_dataset *d);
const char *bw_message(const struct bw_dataset *d);

/* {"format_version", "steps": [{"step", "time"}]} */
const char *bw_describe(struct bw_dataset *d);

/* {"bytes_read", "files_opened"}, so far */
const char *bw_traffic(struct bw_dataset *d);

/* A step; the caller frees it. */
bouma_step *bw_step_open(struct bw_dataset *d, int64_t step);
void bw_step_free(bouma_step *step);

/* {"step", "time", "objects": [...]} */
const char *bw_step_describe(struct bw_dataset *d, bouma_step *step);

/* Read the samples of a box of a grid: lo of each axis, then hi of each; NULL:
 * all. They become values of 'type' (0: that of the variable), the nearest ones
 * if need be. {"type", "components", "shape", "first", "step", "origin",
 * "spacing", "bytes"}; the array itself is bw_data(). */
const char *bw_read(struct bw_dataset *d, bouma_step *step, const char *grid,
                    const char *variable, int level, const int64_t *box,
                    int type);
const void *bw_data(const struct bw_dataset *d);

/* A query of particles, made bit by bit. bw_query_new() says which, the others
 * add to it and return a status. The box has low of each axis, then high, x
 * first; bits of 'closed' are axes where high is included. A limit has the type
 * 0 (none), BOUMA_TYPE_I64, BOUMA_TYPE_U64 (bits in 'integer') or
 * BOUMA_TYPE_F64. Without variables, all of them are read. */
struct bw_query *bw_query_new(struct bw_dataset *d, bouma_step *step,
                              const char *particles);
int bw_query_box(struct bw_query *q, const double *box, unsigned closed);
int bw_query_where(struct bw_query *q, const char *variable, int component);
int bw_query_limit(struct bw_query *q, int high, int type, int64_t integer,
                   double real);
int bw_query_variable(struct bw_query *q, const char *name);

/* Read the particles above the fraction 'from' up to 'quality'. {"count",
 * "columns": [{"name", "type", "components", "bytes"}]}, whose components lie
 * side by side; the i-th column itself is bw_column(). */
const char *bw_query_run(struct bw_query *q, double from, double quality);
const void *bw_column(const struct bw_dataset *d, int i);
void bw_query_free(struct bw_query *q);

/* What `bouma serve` answers, by its own functions: all of /api/v1 but events
 * (docs/http.md). 'name' is the dataset's name in URLs. NULL if there is no
 * memory. */
struct bw_answers *bw_answers_new(const char *name);
void bw_answers_free(struct bw_answers *a);

/* Answer "/api/v1/...?...": the code, 200 or another. The headers, an object of
 * JSON with texts, and the body are valid until the next call. */
int bw_answers_get(struct bw_answers *a, const char *target);
const char *bw_answers_headers(const struct bw_answers *a);
const void *bw_answers_body(const struct bw_answers *a);
size_t bw_answers_bytes(const struct bw_answers *a);

#endif
