/* clones.h -- inner loops compiled twice, for processors with AVX2 and for all;
 * which is used is found out when the program starts, by glibc (musl cannot).
 */
#ifndef BM_CLONES_H
#define BM_CLONES_H

#include <stdint.h> /* __GLIBC__ */

#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__) &&        \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define BM_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define BM_CLONES
#endif

#endif
