/* lift.h -- samples as words, and words as averages and details: the wavelet of
 * wavelet.h (CDF 5/3) in integers, so that it gives back every bit, in place.
 *
 * A word is a signed integer of the sample's size that sorts as the value does.
 * Of an integer it is its value (unsigned ones less half their range). Of f32
 * and f64 it is the number of the value among all of the type, counted from 0:
 * the bits, for those below 0 with the magnitude's bits inverted. With a bound,
 * it is the multiple of a step (see quantise.h) that is nearest, and beyond the
 * last multiple numbers go on as the bits do: so what is large or no number is
 * kept as it is.
 *
 *     x0 d0 x1 d1 x2 d2     d0 = x - mean(x0, x1)                 detail
 *                           s1 = x1 + floor((d0 + d1 + 2) / 4)    average
 *
 * All is modulo 2^bits, so nothing is lost if it overflows. The last odd sample,
 * where the number is even, is predicted from the two even ones before it.
 * Details are kept with the sign in the lowest bit (0, -1, 1, -2, ... as 0, 1,
 * 2, 3, ...), so that small ones have high bytes of 0.
 *
 * Without a bound, f32 and f64 are predicted as values, not as words: words are
 * not linear, above all around 0. An average moves by no more than a quarter of
 * a power of two, as what is more comes from such places; so it is never worse
 * than a sample. Of integers, no average is made, as it could overflow: the
 * coarser ones are samples. */
#ifndef BM_CODEC_LIFT_H
#define BM_CODEC_LIFT_H

#include "codec/quantise.h"

struct bm_words {
    bouma_type type;
    struct bm_quantum quantum; /* a step of 0: exact */
};

struct bm_words bm_words_of(bouma_type type, double bound);

/* Whether coarser samples are averages. */
int bm_words_averages(bouma_type type);

/* Values to words, in place, and back. With a bound, values are those that
 * bm_quantise() gives. Any word gives some value. */
void bm_words_make(const struct bm_words *w, void *values, size_t count);
void bm_words_restore(const struct bm_words *w, void *words, size_t count);

/* Words in memory, of three axes; strides are in words. */
struct bm_word_array {
    void *data;
    int64_t count[3], stride[3];
};

/* One step along an axis, and back. */
void bm_lift_forward(const struct bm_words *w, const struct bm_word_array *a,
                     int axis);
void bm_lift_inverse(const struct bm_words *w, const struct bm_word_array *a,
                     int axis);

#endif
