/* quantise.h -- values of particles as multiples of a step: each is off by no
 * more than the bound, or kept as it is.
 *
 * What a value becomes depends on it and the bound alone. So particles are
 * rounded first, then sorted, indexed and stored: what is found by a query is
 * what is read.
 *
 * The step is twice the bound, cut to four significant bits: so all multiples
 * by integers up to a limit are numbers of the type, exactly, the nearest one
 * is within the bound, and the integer can be told from it again. */
#ifndef BM_QUANTISE_H
#define BM_QUANTISE_H

#include "codec/codec.h"

/* A step of 0 if the bound is none. */
struct bm_quantum {
    double step, inverse;
    double limit; /* of the integers' magnitudes */
};
struct bm_quantum bm_quantum_of(bouma_type type, double bound);

/* Round 'count' values of f32 or f64, in place, and add to *loss. A bound of 0,
 * or one that is very small (f32: below 2^-100, f64: 2^-900), changes nothing.
 */
void bm_quantise(bouma_type type, void *values, size_t count, double bound,
                 struct bm_loss *loss);

/* Rounded values to bytes (appended), and back: exactly the same, and that is
 * so for values that are not rounded, too. ENOMEM; EFORMAT. Values that are
 * close to the one before take few bits. */
int bm_quantise_encode(struct bm_codec_state *state, struct bm_buffer *out,
                       const void *values, const struct bm_list *list);
int bm_quantise_decode(struct bm_codec_state *state, void *values,
                       const struct bm_list *list, const uint8_t *in,
                       size_t stored);
/* Whether 'stored' bytes can be what so many bytes of values became. */
int bm_quantise_plausible(size_t bytes, size_t stored);

#endif
