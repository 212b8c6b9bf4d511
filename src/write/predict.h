/* predict.h -- a step whose files are chosen before its chunks are encoded, by
 * the sizes that they had in the step before.
 *
 * Each chunk has a slot in the stream to its writer: its record, and room for
 * somewhat more bytes than it had. Ranks encode their chunks in the order of
 * the streams, and in between the pipe moves and stores those that are there:
 *
 *     encode   | a | b | c | d | e | ...
 *     ship         | a b   | c d   | ...     rounds end between slots
 *     store                | a b   | ...
 *
 * A chunk that is too large for its slot (a misfit) leaves it empty but for the
 * record. When all are encoded, their sizes are told to everyone, and misfits
 * go to the same writers, behind the others. Files store their offsets
 * (layout/chunk_offsets.h), as chunks are stored as they come. */
#ifndef BM_PREDICT_H
#define BM_PREDICT_H

#include "write/write_job.h"

/* Whether this step can be predicted; the same on all ranks. */
int bm_predict_possible(const struct bm_write_job *job);

/* On the first rank of a node, once plan.bytes has room: fill it with what the
 * chunks had, and find the room of their slots; see bm_files_share(). */
int bm_predict_begin(struct bm_write_job *job);
void bm_predict_release(struct bm_write_job *job);
uint64_t **bm_predict_room(struct bm_write_job *job); /* [chunks] */

/* With the subfiles there: slots of this rank's chunks, and how levels will
 * lie. */
int bm_predict_rooms(struct bm_write_job *job);

/* The bytes of a chunk's slot; whether a chunk fits that has plan.bytes. */
uint64_t bm_predict_slot_bytes(const struct bm_write_job *job, size_t chunk);
int bm_predict_fits(const struct bm_write_job *job, size_t chunk);

/* Into how many each of the pipe's buffers is divided; the same on all ranks.
 * The first rank of a node knows it from bm_predict_begin() on. */
int bm_predict_division(const struct bm_write_job *job);
void bm_predict_divide(struct bm_write_job *job, int division);

/* The bytes that went to the writer for a chunk in the end. */
uint64_t bm_predict_shipped(const struct bm_write_job *job, size_t chunk);

/* Own chunk 'm' is at byte 'at' of the stream to its writer. */
void bm_predict_turn(struct bm_write_job *job, size_t m, uint64_t at);

/* The pipe's: where a slot of this rank is, and how slots are stored. */
uint8_t *bm_predict_bytes(void *context, size_t m);
int bm_predict_store(void *context, uint64_t at, uint8_t *data, uint64_t bytes,
                     struct bm_error *error);

/* Encode, ship and store all that fits. After that bytes are stored that were
 * held back, on the thread that calls, so as to be written with others. */
int bm_predict_carry_out(struct bm_write_job *job);

/* Once plan.bytes is known: the chunks that do not fit. */
size_t bm_predict_misfits(const struct bm_write_job *job);
/* Ship and store these. Collective. */
int bm_predict_ship_misfits(struct bm_write_job *job, int rc);
/* Then, the heads of this rank's files. */
int bm_predict_make_heads(struct bm_write_job *job, int rc);

/* For the prediction of the next step: room for what has to be kept of the
 * levels of this rank's files; and keep it, once sizes are known. */
int bm_predict_reserve(struct bm_write_job *job);
void bm_predict_keep(struct bm_write_job *job);

#endif
