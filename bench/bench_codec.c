/* bench_codec.c -- the lossy codecs on real data, beside zfp on the same
 * samples.
 *
 *   bench_codec DATA [--repetitions 9]
 *
 * DATA are 41 x 128 x 128 f32 (vorticity of a turbulent flow). It is taken
 * apart into patches of 64^3, as the library does; one thread; every repetition
 * goes through all codecs, and medians count. Ratios of sizes come from whole
 * datasets, all files counted. Errors are checked: a missed bound ends the
 * program with an error. A missed target does not. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zfp.h>

#include "bouma.h"
#include "bouma_store.h"
#include "codec/codec.h"
#include "codec/wavelet.h"
#include "flame.h"
#include "measure.h"
#include "score.h"

enum { NZ = 41, NY = 128, NX = 128, EDGE = 64, LEVELS = 5, PATCHES = 4 };
enum { PATCH_SAMPLES = NZ * EDGE * EDGE };

static float field[NZ * NY * NX];
static float patches[PATCHES][PATCH_SAMPLES];

static _Noreturn void fail(const char *what)
{
    fprintf(stderr, "bench_codec: %s\n", what);
    exit(EXIT_FAILURE);
}

/* ---- sizes -------------------------------------------------------------- */

/* Bytes of all files of a dataset with this one variable in one step. */
struct sizes {
    double all, data;
    uint64_t raw;
};

static struct sizes store(const float *data, const int64_t shape[3],
                          int64_t edge, bouma_codec codec, double tolerance)
{
    bouma_io *io = bouma_io_memory_new();
    bouma_grid_spec g = {.size = sizeof(g), .ndims = 3};
    bouma_variable_spec s = {.size = sizeof(s),
                             .type = BOUMA_TYPE_F32,
                             .codec = codec,
                             .tolerance = tolerance,
                             .tolerance_kind = BOUMA_TOLERANCE_RELATIVE};
    bouma_options o = {.size = sizeof(o)};
    bouma_step_details details = {.size = sizeof(details)};
    bouma_record record = {.size = sizeof(record)};
    bouma_variable_info about = {.size = sizeof(about)};
    bouma_variable *v;
    bouma_dataset *ds;
    bouma_grid *grid;
    bouma_step *step;
    struct sizes sizes;
    float *back;

    for (int d = 0; d < 3; d++) {
        g.shape[d] = shape[d];
        g.patch[d] = edge;
    }
    o.io = io;
    if (bouma_dataset_create(&ds, "d", &o) ||
        bouma_grid_define(&grid, ds, "g", &g) ||
        bouma_variable_define(&v, grid, "v", &s) ||
        bouma_step_begin(ds, 0, 0) ||
        bouma_variable_put_borrow(
            v, NULL,
            &BOUMA_ARRAY(BOUMA_TYPE_F32, data,
                         (size_t)(shape[0] * shape[1] * shape[2]) *
                             sizeof(*data))) ||
        bouma_step_end(ds) || bouma_step_open(&step, ds, 0))
        fail(bouma_error_message(ds));
    bouma_step_details_get(&details, step);
    bouma_step_record_get(&record, step);
    v = bouma_grid_find_variable(bouma_step_find_grid(step, "g"), "v");
    bouma_variable_info_get(&about, v);
    sizes.all = (double)(record.stored_bytes + details.manifest_bytes);
    sizes.data = (double)about.stored_bytes;
    sizes.raw = about.raw_bytes;
    back = malloc((size_t)about.raw_bytes);
    if (!back ||
        bouma_variable_read(
            v, 0, NULL, &BOUMA_ARRAY(BOUMA_TYPE_F32, back, about.raw_bytes)))
        fail(bouma_error_message(ds));
    for (uint64_t i = 0; i < about.raw_bytes / sizeof(float); i++)
        if (!(fabs((double)back[i] - (double)data[i]) <= about.bound))
            fail("a value is beyond the bound");
    free(back);
    bouma_step_free(step);
    bouma_dataset_free(ds);
    bouma_io_memory_free(io);
    return sizes;
}

static void compare_sizes(void)
{
    static const struct {
        double tolerance, wanted;
    } cases[] = {{1e-2, 20}, {1e-3, 7.6}, {1e-4, 3.8}};
    static const int64_t shape[3] = {NZ, NY, NX};
    char name[64];

    score_part("%s",
               "compression of the whole dataset, all files, patches of 64^3");
    for (int i = 0; i < 3; i++) {
        struct sizes s =
            store(field, shape, EDGE, BOUMA_CODEC_INTERP, cases[i].tolerance);

        snprintf(name, sizeof(name), "interp %g", cases[i].tolerance);
        score(name, "", (double)s.raw / s.all, SCORE_AT_LEAST, cases[i].wanted);
        s = store(field, shape, EDGE, BOUMA_CODEC_WAVELET, cases[i].tolerance);
        snprintf(name, sizeof(name), "wavelet %g", cases[i].tolerance);
        score(name, "", (double)s.raw / s.all, SCORE_TOLD_MORE, 0);
    }
}

/* The parts of a dataset that are not samples, where there are many patches. */
static void compare_metadata(void)
{
    static const int64_t shape[3] = {256, 256, 256};
    bouma_box box = {{0, 0, 0}, {256, 256, 256}};
    float *data = malloc(256 * 256 * 256 * sizeof(float));
    char name[64];

    if (!data || flame_fill(data, 256, &box))
        fail("no memory");
    score_part("bytes beside the samples, of the compressed data (256^3, "
               "flame, tolerance 1e-4)");
    for (int64_t edge = 64; edge >= 32; edge /= 2) {
        struct sizes s = store(data, shape, edge, BOUMA_CODEC_INTERP, 1e-4);

        snprintf(name, sizeof(name), "patches of %d^3", (int)edge);
        score(name, "%", 100 * (s.all - s.data) / s.data, SCORE_AT_MOST,
              edge == 64 ? 1 : 2);
    }
    free(data);
}

/* A sample more along each axis: seven patches more, of one sample's width. */
static void compare_odd_shape(void)
{
    double each[2];
    float *data = malloc(65 * 65 * 65 * sizeof(float));

    if (!data)
        fail("no memory");
    score_part("%s",
               "bytes a sample of 65^3 over those of 64^3, patches of 64^3");
    for (int flame = 0; flame < 2; flame++) {
        for (int odd = 0; odd < 2; odd++) {
            int64_t n = 64 + odd, shape[3] = {n, n, n};
            bouma_box box = {{80, 0, 80}, {80 + n, n, 80 + n}};

            if (flame && flame_fill(data, 256, &box))
                fail("no memory");
            if (!flame) { /* turbulence has only 41 layers */
                shape[0] = NZ;
                for (int64_t z = 0; z < NZ; z++)
                    for (int64_t y = 0; y < n; y++)
                        memcpy(data + (z * n + y) * n,
                               field + (z * NY + y) * NX,
                               (size_t)n * sizeof(float));
            }
            {
                struct sizes s =
                    store(data, shape, EDGE, BOUMA_CODEC_INTERP, 1e-3);

                each[odd] = s.all / (double)(shape[0] * shape[1] * shape[2]);
            }
        }
        score(flame ? "flame" : "vorticity", "", each[1] / each[0],
              SCORE_AT_MOST, 1.15);
    }
    free(data);
}

/* ---- times -------------------------------------------------------------- */

static size_t zfp_encode(void *out, size_t room, float *samples, double bound)
{
    zfp_field *f = zfp_field_3d(samples, zfp_type_float, EDGE, EDGE, NZ);
    zfp_stream *z = zfp_stream_open(NULL);
    bitstream *bits = stream_open(out, room);
    size_t bytes;

    zfp_stream_set_accuracy(z, bound);
    zfp_stream_set_bit_stream(z, bits);
    zfp_stream_rewind(z);
    bytes = zfp_compress(z, f);
    stream_close(bits);
    zfp_stream_close(z);
    zfp_field_free(f);
    return bytes;
}

static void zfp_decode(float *samples, void *in, size_t room, double bound)
{
    zfp_field *f = zfp_field_3d(samples, zfp_type_float, EDGE, EDGE, NZ);
    zfp_stream *z = zfp_stream_open(NULL);
    bitstream *bits = stream_open(in, room);

    zfp_stream_set_accuracy(z, bound);
    zfp_stream_set_bit_stream(z, bits);
    zfp_stream_rewind(z);
    if (!zfp_decompress(z, f))
        fail("zfp does not decode");
    stream_close(bits);
    zfp_stream_close(z);
    zfp_field_free(f);
}

/* Encode and decode all patches with a codec of the library. */
static void run_codec(const struct bm_codec *codec, int nominal,
                      struct bm_codec_state *state, double bound,
                      double *encode, double *decode)
{
    static float levels[2][PATCH_SAMPLES];
    struct bm_buffer out;

    *encode = *decode = 0;
    bm_buffer_init(&out, state->a);
    for (int p = 0; p < PATCHES; p++) {
        struct bm_box box = {{0, 64 * (p / 2), 64 * (p % 2)},
                             {NZ, 64 * (p / 2) + 64, 64 * (p % 2) + 64}};
        struct bm_lattice lattice[LEVELS];
        struct bm_field f = {.type = BOUMA_TYPE_F32,
                             .size = 4,
                             .levels = LEVELS,
                             .lattice = lattice,
                             .bound = bound,
                             .nominal = nominal};
        struct bm_loss loss = {0, 0};
        uint32_t sizes[LEVELS];
        size_t at = 0;
        double begun;

        for (int k = 0; k < LEVELS; k++)
            lattice[k] = bm_lattice_of(&box, k);
        bm_buffer_clear(&out);
        begun = measure_now();
        if (codec->encode_field(state, &out, sizes, &loss, &f, patches[p]))
            fail("no memory");
        *encode += measure_now() - begun;
        begun = measure_now();
        for (int k = LEVELS - 1; k >= 0; k--) {
            if (codec->decode_field(
                    state, levels[k & 1],
                    k + 1 < LEVELS ? levels[!(k & 1)] : NULL, &f,
                    &(struct bm_coded_level){k, out.data + at, sizes[k]}))
                fail("does not decode");
            at += sizes[k];
        }
        *decode += measure_now() - begun;
        for (int i = 0; i < PATCH_SAMPLES && !nominal; i++)
            if (!(fabs((double)levels[0][i] - (double)patches[p][i]) <= bound))
                fail("a value is beyond the bound");
    }
    bm_buffer_release(&out);
}

static void run_zfp(void *buffer, size_t room, double bound, double *encode,
                    double *decode)
{
    static float back[PATCH_SAMPLES];

    *encode = *decode = 0;
    for (int p = 0; p < PATCHES; p++) {
        double begun = measure_now();

        zfp_encode(buffer, room, patches[p], bound);
        *encode += measure_now() - begun;
        begun = measure_now();
        zfp_decode(back, buffer, room, bound);
        *decode += measure_now() - begun;
    }
}

static void compare_times(double range, int repetitions)
{
    static struct times times[2][4]; /* encode, decode */
    size_t room = sizeof(patches[0]) * 2;
    void *buffer = malloc(room);
    struct bm_codec_state state;
    char name[64];

    if (!buffer)
        fail("no memory");
    bm_codec_state_init(&state, bm_allocator_default());
    score_part("%s", "time over that of zfp (fixed accuracy), one thread");
    for (int digits = 2; digits <= 4; digits++) {
        double bound = range * pow(10, -digits);

        memset(times, 0, sizeof(times));
        for (int r = -1; r < repetitions; r++) { /* one to warm up */
            double t[2][4];

            run_zfp(buffer, room, bound, &t[0][0], &t[1][0]);
            run_codec(&bm_codec_interp, 0, &state, bound, &t[0][1], &t[1][1]);
            run_codec(&bm_codec_wavelet, 0, &state, bound, &t[0][2], &t[1][2]);
            run_codec(&bm_codec_wavelet, 1, &state, bound, &t[0][3], &t[1][3]);
            for (int k = 0; k < 8 && r >= 0; k++)
                times_add(&times[k / 4][k % 4], t[k / 4][k % 4]);
        }
        for (int d = 0; d < 2; d++) {
            snprintf(name, sizeof(name), "interp 1e-%d, %s", digits,
                     d ? "decode" : "encode");
            score_ratio(name, &times[d][1], "zfp", &times[d][0], SCORE_AT_MOST,
                        1);
        }
        for (int w = 2; w < 4; w++) {
            snprintf(name, sizeof(name), "wavelet%s 1e-%d, encode",
                     w == 3 ? ", nominal" : "", digits);
            score_ratio(name, &times[0][w], "zfp", &times[0][0], SCORE_AT_MOST,
                        w == 3 ? 1.25 : 2.2);
        }
    }
    bm_codec_state_release(&state);
    free(buffer);
}

/* The transform alone, one level of 64^3 (7/8 of the work), there and back. */
static void time_transform(int repetitions)
{
    enum { SIDE = 64, COUNT = SIDE * SIDE * SIDE };
    static float dense[COUNT], sorted[COUNT], back[COUNT];
    static struct times forward, inverse, copy;
    const int64_t n[3] = {SIDE, SIDE, SIDE};
    struct bm_octants o;

    bm_octants_init(&o, n);
    for (int r = -1; r < repetitions; r++) {
        double t[4];

        for (int i = 0; i < COUNT; i++)
            dense[i] = patches[0][i % PATCH_SAMPLES];
        t[0] = measure_now();
        memcpy(back, dense, sizeof(dense));
        t[1] = measure_now();
        bm_wavelet_forward(BOUMA_TYPE_F32, &o, sorted, dense);
        t[2] = measure_now();
        bm_wavelet_inverse(BOUMA_TYPE_F32, &o, back, sorted, sorted);
        t[3] = measure_now();
        if (r < 0)
            continue;
        times_add(&copy, t[1] - t[0]);
        times_add(&forward, t[2] - t[1]);
        times_add(&inverse, t[3] - t[2]);
    }
    score_part("%s", "the wavelet transform of a patch of 64^3 f32");
    score_ratio("forward over memcpy", &forward, "memcpy", &copy, SCORE_TOLD,
                0);
    score_ratio("inverse over memcpy", &inverse, "memcpy", &copy, SCORE_TOLD,
                0);
    score("forward", "GB/s",
          (double)sizeof(dense) * 1e-9 / times_median(&forward), SCORE_AT_LEAST,
          1);
    score("inverse", "GB/s",
          (double)sizeof(dense) * 1e-9 / times_median(&inverse), SCORE_AT_LEAST,
          1);
}

int main(int argc, char **argv)
{
    FILE *f = argc > 1 ? fopen(argv[1], "rb") : NULL;
    int repetitions =
        argc > 3 && !strcmp(argv[2], "--repetitions") ? atoi(argv[3]) : 9;
    float low = INFINITY, high = -INFINITY;

    if (!f || fread(field, sizeof(field), 1, f) != 1)
        fail("needs the file of 41 x 128 x 128 f32: bench_codec DATA");
    fclose(f);
    if (repetitions < 1 || repetitions > SCORE_MAX_TIMES)
        fail("--repetitions: from 1 to 200");
    for (int i = 0; i < NZ * NY * NX; i++) {
        low = fminf(low, field[i]);
        high = fmaxf(high, field[i]);
    }
    for (int p = 0; p < PATCHES; p++)
        for (int z = 0; z < NZ; z++)
            for (int y = 0; y < EDGE; y++)
                memcpy(patches[p] + (z * EDGE + y) * EDGE,
                       field + (z * NY + 64 * (p / 2) + y) * NX + 64 * (p % 2),
                       EDGE * sizeof(float));
    compare_sizes();
    compare_metadata();
    compare_odd_shape();
    compare_times((double)high - (double)low, repetitions);
    time_transform(repetitions);
    if (score_end("codecs"))
        fail("the results cannot be written");
    return 0;
}
