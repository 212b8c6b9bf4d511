/* strict_math.h -- numbers that are the same on every machine.
 *
 * What is stored and what is read depends on each bit of a result, on NaN and
 * on denormal numbers. Files whose arithmetic is part of the format, or of a
 * promise, include this one: it refuses compilers that would not keep to
 * IEEE 754 (see cmake/strict_math.cmake).
 *
 * The program around the library may have changed how its processor computes:
 * those that are linked with -ffast-math take denormal numbers for zero, others
 * round in another direction, or want a signal where a result is no number. So
 * each call of the library that computes begins with
 *
 *     BM_STRICT_MATH;
 *
 * and computes as IEEE 754 has it by default till it returns; then all is as it
 * was. Threads that it starts inherit that. tests/check_strict_math.sh finds
 * calls that do not. */
#ifndef BM_STRICT_MATH_H
#define BM_STRICT_MATH_H

#include <fenv.h>
#include <float.h>
#include <stdint.h>

#if defined(__FAST_MATH__) ||                                                  \
    (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "fast arithmetic changes the format: compile with -fno-fast-math"
#endif
#if FLT_EVAL_METHOD != 0
#error "float must be computed as float: see cmake/strict_math.cmake"
#endif
_Static_assert(sizeof(1.0) == sizeof(double), "constants must be double");

/* How the processor computed before. */
struct bm_math {
#if defined(__x86_64__) || defined(__aarch64__)
    uint64_t control;
#else
    fenv_t environment;
#endif
};

static inline struct bm_math bm_math_begin(void)
{
    struct bm_math before;

#if defined(__x86_64__)
    /* All exceptions masked, to nearest, denormal numbers as they are. */
    const uint32_t strict = 0x1f80;
    uint32_t control;

    __asm__ volatile("stmxcsr %0" : "=m"(control) : : "memory");
    before.control = control;
    __asm__ volatile("ldmxcsr %0" : : "m"(strict) : "memory");
#elif defined(__aarch64__)
    __asm__ volatile("mrs %0, fpcr" : "=r"(before.control) : : "memory");
    __asm__ volatile("msr fpcr, %0" : : "r"((uint64_t)0) : "memory");
#else
    fegetenv(&before.environment);
    fesetenv(FE_DFL_ENV);
#endif
    return before;
}

static inline void bm_math_end(const struct bm_math *before)
{
#if defined(__x86_64__)
    const uint32_t control = (uint32_t)before->control;

    __asm__ volatile("ldmxcsr %0" : : "m"(control) : "memory");
#elif defined(__aarch64__)
    __asm__ volatile("msr fpcr, %0" : : "r"(before->control) : "memory");
#else
    fesetenv(&before->environment);
#endif
}

#define BM_STRICT_MATH                                                         \
    const struct bm_math math __attribute__((cleanup(bm_math_end), unused)) =  \
        bm_math_begin()

#endif
