/* denormals.c -- a user's program that writes denormal numbers and reads them
 * back, bit for bit, with their range. Linked with -Ofast, its own processor
 * takes them for zero. Loading the library changes nothing for a program that
 * is linked without. */
#include <bouma.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "../helpers/arrays.h"

enum { N = 4096 };

static int failed(bouma_dataset *ds, const char *what)
{
    fprintf(stderr, "denormals: %s: %s\n", what, bouma_error_message(ds));
    return 1;
}

int main(int argc, char **argv)
{
    static uint32_t bits[N], back[N];
    bouma_grid_spec shape = {.size = sizeof(shape), .ndims = 1, .shape = {N}};
    bouma_variable_spec kind = {.size = sizeof(kind),
                                .type = BOUMA_TYPE_F32,
                                .codec = BOUMA_CODEC_EXACT};
    bouma_box all = {{0}, {N}};
    bouma_dataset *ds = NULL;
    bouma_variable *v;
    bouma_grid *grid;
    bouma_step *step;
    bouma_range range;
    uint64_t low, high;
    volatile float tiny = 1e-30f;
    int flushes = tiny * 1e-10f == 0;

    if (argc != 2)
        return 2;
#ifdef __FAST_MATH__
    printf("denormals: this program %s\n",
           flushes ? "takes them for zero" : "keeps them");
#else
    if (flushes) {
        fprintf(stderr, "denormals: the library changed the processor\n");
        return 1;
    }
#endif
    for (uint32_t i = 0; i < N; i++)
        bits[i] = 1 + i * 2039; /* all of them denormal */
    if (bouma_dataset_create(&ds, argv[1], NULL) ||
        bouma_grid_define(&grid, ds, "g", &shape) ||
        bouma_variable_define(&v, grid, "v", &kind) ||
        bouma_step_begin(ds, 0, 0) || test_put(v, &all, bits) ||
        bouma_step_end(ds) || bouma_dataset_close(ds))
        return failed(ds, "write");
    bouma_dataset_free(ds);
    if (bouma_dataset_open(&ds, argv[1], NULL) || bouma_step_open(&step, ds, 0))
        return failed(ds, "open");
    v = bouma_grid_find_variable(bouma_step_find_grid(step, "g"), "v");
    if (test_read(v, 0, &all, back) || bouma_variable_range(&range, v, 0))
        return failed(ds, "read");
    memcpy(&low, &range.low, sizeof(low));
    memcpy(&high, &range.high, sizeof(high));
    bouma_step_free(step);
    bouma_dataset_free(ds);
    /* 2^-149 and 8349706 times as much. */
    if (memcmp(bits, back, sizeof(bits)) || low != 0x36a0000000000000u ||
        high != 0x380fda0280000000u) {
        fprintf(stderr, "denormals: NOT the same: range %llx to %llx\n",
                (unsigned long long)low, (unsigned long long)high);
        return 1;
    }
    return 0;
}
