/* wavelet.h -- samples as a coarser version of them and what it misses: the
 * multilinear B-spline wavelet (CDF 5/3), by lifting. Along one axis:
 *
 *     x0 d0 x1 d1 x2 d2     d0 = x - (x0 + x1) / 2        detail
 *                           s1 = x1 + (d0 + d1) / 4       coarse sample
 *
 * Beyond the ends the samples go on in a line: the last odd sample, where the
 * number is even, is predicted from the two even ones before it, so that lines
 * have no detail there either; and details are 0.
 *
 * Done along axis 0, then 1, then 2. What is left are the octants of octants.h:
 * octant 0 is the coarser level, the others hold details. */
#ifndef BM_WAVELET_H
#define BM_WAVELET_H

#include "bouma.h"
#include "codec/octants.h"

/* One level of BOUMA_TYPE_F32 or BOUMA_TYPE_F64. 'dense' is spoilt. */
void bm_wavelet_forward(bouma_type type, const struct bm_octants *o,
                        void *sorted, void *dense);

/* And back, with octant 0 in an array of its own. */
void bm_wavelet_inverse(bouma_type type, const struct bm_octants *o,
                        void *dense, const void *sorted, const void *coarse);

#endif
