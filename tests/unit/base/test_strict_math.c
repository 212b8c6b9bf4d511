/* However the program around it computes, the library stores and reads the
 * same: this one takes denormal numbers for zero, rounds upwards, or wants a
 * signal where a result is no number. */
#include "base/strict_math.h"

#include <fenv.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "arrays.h"
#include "bouma.h"
#include "check.h"

enum { N = 16, SAMPLES = N * N * N };

/* What a program can do to itself. */
static void plain(void)
{
}

static void flush_denormals(void)
{
#if defined(__x86_64__)
    __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040);
#elif defined(__aarch64__)
    __asm__ volatile("msr fpcr, %0" : : "r"((uint64_t)1 << 24));
#endif
}

static void round_upwards(void)
{
    fesetround(FE_UPWARD);
}

static void want_signals(void)
{
#if defined(__GLIBC__)
    feenableexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW);
#endif
}

/* Denormal and ordinary numbers, and a few that are none. Made of bits: the
 * processor may not be asked while it computes in another way. */
static void fill(float *x, int with_nan)
{
    for (int i = 0; i < SAMPLES; i++) {
        uint32_t bits = i % 3 ? (uint32_t)i * 977 % 0x7fffff
                              : 0x3f800000u + (uint32_t)i * 1009;

        if (with_nan && i % 501 == 7)
            bits = 0x7fc00000u;
        memcpy(&x[i], &bits, sizeof(bits));
    }
}

/* A step of a grid, by each codec, and one of particles; what was read back
 * and the ranges go to 'out'. */
struct result {
    float back[4][SAMPLES];
    bouma_range range[4];
    uint64_t found;
};

static void write_and_read(struct result *out, const char *path, int with_nan)
{
    static const bouma_codec codecs[4] = {BOUMA_CODEC_ZSTD, BOUMA_CODEC_INTERP,
                                          BOUMA_CODEC_WAVELET,
                                          BOUMA_CODEC_EXACT};
    static const char *const names[4] = {"zstd", "interp", "wavelet", "zfp"};
    static float x[SAMPLES];
    bouma_grid_spec shape = {
        .size = sizeof(shape), .ndims = 3, .shape = {N, N, N}};
    bouma_box all = {{0, 0, 0}, {N, N, N}};
    bouma_dataset *ds = NULL;
    bouma_variable *v;
    bouma_grid *grid;
    bouma_step *step;

    fill(x, with_nan);
    REQUIRE(!bouma_dataset_create(&ds, path, NULL));
    REQUIRE(!bouma_grid_define(&grid, ds, "g", &shape));
    REQUIRE(!bouma_step_begin(ds, 0, 0));
    for (int c = 0; c < 4; c++) {
        bouma_variable_spec kind = {
            .size = sizeof(kind), .type = BOUMA_TYPE_F32, .codec = codecs[c]};

        if (codecs[c] == BOUMA_CODEC_INTERP || codecs[c] == BOUMA_CODEC_WAVELET)
            kind.tolerance = 0x1p-12;
        REQUIRE(!bouma_variable_define(&v, grid, names[c], &kind));
        REQUIRE(!test_put(v, &all, x));
    }
    REQUIRE(!bouma_step_end(ds));
    REQUIRE(!bouma_dataset_close(ds));
    bouma_dataset_free(ds);

    REQUIRE(!bouma_dataset_open(&ds, path, NULL));
    REQUIRE(!bouma_step_open(&step, ds, 0));
    grid = bouma_step_find_grid(step, "g");
    for (int c = 0; c < 4; c++) {
        v = bouma_grid_find_variable(grid, names[c]);
        REQUIRE(v);
        REQUIRE(!test_read(v, 0, &all, out->back[c]));
        REQUIRE(!bouma_variable_range(&out->range[c], v, 0));
    }
    bouma_step_free(step);
    bouma_dataset_free(ds);
}

static void programs_that_compute_otherwise_get_the_same(void)
{
    static void (*const ways[4])(void) = {plain, flush_denormals, round_upwards,
                                          want_signals};
    static struct result results[4];
    char root[] = "/tmp/bouma-strict-XXXXXX", path[64], line[128];
    fenv_t before;

    REQUIRE(mkdtemp(root));
    for (int with_nan = 0; with_nan < 2; with_nan++) {
        memset(results, 0, sizeof(results));
        for (int i = 0; i < 4; i++) {
            snprintf(path, sizeof(path), "%s/%d%d", root, with_nan, i);
            fegetenv(&before);
            ways[i]();
            write_and_read(&results[i], path, with_nan);
            fesetenv(&before);
            CHECK(!memcmp(results[i].back, results[0].back,
                          sizeof(results[0].back)));
            CHECK(!memcmp(results[i].range, results[0].range,
                          sizeof(results[0].range)));
            /* zstd and zfp keep every bit. */
            CHECK(!memcmp(results[i].back[0], results[i].back[3],
                          sizeof(results[0].back[0])));
        }
        CHECK(results[0].range[0].low >= 0 &&
              results[0].range[0].low < 0x1p-126);
    }
    snprintf(line, sizeof(line), "rm -r %s", root);
    CHECK_EQ(system(line), 0);
}

/* A call changes nothing for its caller, not even what happened so far. */
static void calls_leave_the_processor_as_it_was(void)
{
    struct result *r = calloc(1, sizeof(*r));
    char root[] = "/tmp/bouma-strict-XXXXXX", path[64], line[128];

    REQUIRE(r && mkdtemp(root));
    snprintf(path, sizeof(path), "%s/d", root);
    feclearexcept(FE_ALL_EXCEPT);
    feraiseexcept(FE_INEXACT);
    fesetround(FE_DOWNWARD);
    write_and_read(r, path, 1);
    CHECK_EQ(fegetround(), FE_DOWNWARD);
    CHECK(fetestexcept(FE_INEXACT));
#if defined(__x86_64__)
    CHECK(!fetestexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW));
#endif
    fesetenv(FE_DFL_ENV);
    snprintf(line, sizeof(line), "rm -r %s", root);
    CHECK_EQ(system(line), 0);
    free(r);
}

int main(void)
{
    programs_that_compute_otherwise_get_the_same();
    calls_leave_the_processor_as_it_was();
    return check_result();
}
