/* Codecs through the public functions: what they promise holds for whole
 * datasets, with patches of all sizes, and verify agrees. */
#include <math.h>

#include "arrays.h"
#include "bouma.h"
#include "check.h"
#include "field.h"

static bouma_io *io;

#define VARIABLES 6

static const bouma_variable_spec specs[VARIABLES] = {
    {.size = sizeof(bouma_variable_spec),
     .type = BOUMA_TYPE_F32,
     .codec = BOUMA_CODEC_WAVELET,
     .tolerance = 1e-3},
    {.size = sizeof(bouma_variable_spec),
     .type = BOUMA_TYPE_F64,
     .codec = BOUMA_CODEC_WAVELET,
     .tolerance = 1e-3,
     .tolerance_kind = BOUMA_TOLERANCE_RELATIVE},
    {.size = sizeof(bouma_variable_spec),
     .type = BOUMA_TYPE_F32,
     .codec = BOUMA_CODEC_WAVELET,
     .tolerance = 1e-3,
     .tolerance_kind = BOUMA_TOLERANCE_RELATIVE,
     .nominal = 1},
    {.size = sizeof(bouma_variable_spec),
     .type = BOUMA_TYPE_F32,
     .codec = BOUMA_CODEC_EXACT},
    {.size = sizeof(bouma_variable_spec),
     .type = BOUMA_TYPE_F64,
     .codec = BOUMA_CODEC_EXACT},
    {.size = sizeof(bouma_variable_spec),
     .type = BOUMA_TYPE_F32,
     .codec = BOUMA_CODEC_INTERP,
     .tolerance = 1e-3}};

/* Sample i, a few of which are not numbers. */
static double sample(int64_t i)
{
    return i % 97 == 13 ? (double)NAN
           : i % 389 == 5
               ? (double)INFINITY
               : sin(0.05 * (double)(i % 211)) + 1e-2 * (double)(i % 7);
}

static void put(bouma_variable *v, bouma_type type, int64_t n, void *data)
{
    for (int64_t i = 0; i < n; i++)
        set_value((uint8_t *)data + (size_t)i * bouma_type_size(type), type,
                  sample(i));
    CHECK_EQ(test_put(v, NULL, data), BOUMA_OK);
}

static void check_variable(bouma_variable *v, const bouma_variable_spec *spec,
                           int64_t n, uint8_t *back)
{
    double most = spec->nominal ? 0.02 : spec->tolerance * 2.1;
    bouma_variable_info info = {.size = sizeof(info)};

    bouma_variable_info_get(&info, v);
    CHECK_EQ(info.codec, spec->codec);
    CHECK_EQ(info.nominal, spec->nominal);
    CHECK(spec->nominal ? isinf(info.largest_error) && isnan(info.psnr)
                        : info.largest_error <= info.bound);
    if (spec->tolerance_kind == BOUMA_TOLERANCE_ABSOLUTE)
        most = spec->tolerance;
    for (int level = 2; level >= 0; level--)
        CHECK_EQ(test_read(v, level, NULL, back), BOUMA_OK);
    for (int64_t i = 0; i < n; i++) {
        double x = sample(i), y;
        float single;

        if (spec->type == BOUMA_TYPE_F32) {
            memcpy(&single, back + 4 * i, 4);
            x = (double)(float)x;
            y = (double)single;
        } else {
            memcpy(&y, back + 8 * i, 8);
        }
        CHECK(isnan(x) ? isnan(y) : isinf(x) ? y == x : fabs(x - y) <= most);
    }
}

static void all_codecs_keep_their_word(void)
{
    static const int64_t shapes[4][3] = {
        {17, 18, 33}, {1, 65, 34}, {1, 1, 1025}, {16, 32, 16}};

    for (int s = 0; s < 4; s++) {
        int ndims = s == 2 ? 1 : s == 1 ? 2 : 3;
        int64_t n = shapes[s][0] * shapes[s][1] * shapes[s][2];
        bouma_grid_spec g = {.size = sizeof(g), .ndims = ndims, .levels = 3};
        uint8_t *data[VARIABLES], *back = malloc((size_t)n * 8);
        bouma_verify_report report = {.size = sizeof(report)};
        bouma_dataset *ds;
        bouma_options o = {.size = sizeof(o)};
        bouma_grid *grid;
        bouma_step *step;
        char path[32], name[32], message[512];

        REQUIRE(back);
        for (int d = 0; d < ndims; d++) {
            g.shape[d] = shapes[s][3 - ndims + d];
            g.patch[d] = 16;
        }
        o.io = io;
        snprintf(path, sizeof(path), "run%d.bouma", s);
        MUST(ds, bouma_dataset_create(&ds, path, &o));
        MUST(ds, bouma_grid_define(&grid, ds, "g", &g));
        MUST(ds, bouma_step_begin(ds, 0, 0));
        for (int i = 0; i < VARIABLES; i++) {
            bouma_variable *v;

            data[i] = malloc((size_t)n * 8);
            REQUIRE(data[i]);
            snprintf(name, sizeof(name), "v%d", i);
            MUST(ds, bouma_variable_define(&v, grid, name, &specs[i]));
            put(v, specs[i].type, n, data[i]);
        }
        MUST(ds, bouma_step_end(ds));
        MUST(ds, bouma_dataset_close(ds));
        bouma_dataset_free(ds);
        MUST(ds, bouma_dataset_open(&ds, path, &o));
        MUST(ds, bouma_step_open(&step, ds, 0));
        for (int i = 0; i < VARIABLES; i++) {
            check_variable(bouma_grid_variable(bouma_step_grid(step, 0), i),
                           &specs[i], n, back);
            free(data[i]);
        }
        bouma_step_free(step);
        bouma_dataset_free(ds);
        CHECK_EQ(bouma_verify(&report, path, BOUMA_DEPTH_DEEP, &o, NULL, NULL,
                              message, sizeof(message)),
                 BOUMA_OK);
        CHECK_EQ(report.damages, 0);
        free(back);
    }
}

static void wrong_variables_are_refused(void)
{
    bouma_grid_spec g = {.size = sizeof(g), .ndims = 1, .shape = {64}};
    bouma_variable_spec spec = specs[3];
    bouma_variable *v;
    bouma_dataset *ds;
    bouma_options o = {.size = sizeof(o)};
    bouma_grid *grid;

    o.io = io;
    MUST(ds, bouma_dataset_create(&ds, "wrong.bouma", &o));
    MUST(ds, bouma_grid_define(&grid, ds, "g", &g));
    spec.tolerance = 1;
    CHECK_EQ(bouma_variable_define(&v, grid, "v", &spec), BOUMA_EINVAL);
    spec = specs[5];
    spec.nominal = 1;
    CHECK_EQ(bouma_variable_define(&v, grid, "v", &spec), BOUMA_EINVAL);
    CHECK_TEXT(bouma_error_message(ds), "wavelet only");
    spec = specs[0];
    spec.nominal = 2;
    CHECK_EQ(bouma_variable_define(&v, grid, "v", &spec), BOUMA_EINVAL);
    spec.nominal = 0;
    spec.tolerance = 0;
    CHECK_EQ(bouma_variable_define(&v, grid, "v", &spec), BOUMA_EINVAL);
    spec = specs[0];
    spec.type = BOUMA_TYPE_I32;
    CHECK_EQ(bouma_variable_define(&v, grid, "v", &spec), BOUMA_EINVAL);
    spec = specs[1];
    CHECK_EQ(spec.tolerance_kind, BOUMA_TOLERANCE_RELATIVE);
    spec.tolerance = 1;
    CHECK_EQ(bouma_variable_define(&v, grid, "v", &spec), BOUMA_EINVAL);
    CHECK_TEXT(bouma_error_message(ds),
               "a fraction of the range, and must be below 1");
    spec.tolerance = 0.999;
    MUST(ds, bouma_variable_define(&v, grid, "v", &spec));
    bouma_dataset_free(ds);
}

int main(void)
{
    io = bouma_io_memory_new();
    REQUIRE(io);
    all_codecs_keep_their_word();
    wrong_variables_are_refused();
    bouma_io_memory_free(io);
    return check_result();
}
