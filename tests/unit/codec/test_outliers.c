/* A few values that make a variable's range make the bound of a relative
 * tolerance, too: who writes it is told, once, and others are not. */
#include <math.h>

#include "arrays.h"
#include "bouma_store.h"
#include "must.h"
#include "sized.h"

enum { EDGE = 24, COUNT = EDGE * EDGE * EDGE };

/* Writes steps 0 to 2 of the same values, in two blocks. Gives how many notes
 * there are, and the last of them; *info is that of the variable. */
static int notes_of(const double *values, double tolerance, char *note,
                    bouma_variable_info *info)
{
    bouma_io *io = bouma_io_memory_new();
    bouma_variable_spec spec = {.size = sizeof(spec),
                                .type = BOUMA_TYPE_F64,
                                .tolerance = tolerance,
                                .tolerance_kind = BOUMA_TOLERANCE_RELATIVE};
    bouma_grid_spec grid = {
        .size = sizeof(grid), .ndims = 3, .shape = {EDGE, EDGE, EDGE}};
    bouma_dataset *ds;
    bouma_options opts = {.size = sizeof(opts)};
    bouma_grid *g;
    bouma_variable *v;
    int count = 0;

    opts.io = io;
    MUST(ds, bouma_dataset_create(&ds, "x", &opts));
    MUST(ds, bouma_grid_define(&g, ds, "flow", &grid));
    MUST(ds, bouma_variable_define(&v, g, "rho", &spec));
    for (int step = 0; step < 3; step++) {
        bouma_box low = {{0, 0, 0}, {5, EDGE, EDGE}};
        bouma_box high = {{5, 0, 0}, {EDGE, EDGE, EDGE}};

        MUST(ds, bouma_step_begin(ds, step, step));
        MUST(ds, test_put(v, &low, values));
        MUST(ds, test_put(v, &high, values + 5 * EDGE * EDGE));
        MUST(ds, bouma_step_end(ds));
    }
    bouma_variable_info_get(SIZED(info), v);
    note[0] = '\0';
    for (; bouma_dataset_note(ds, count); count++)
        snprintf(note, 512, "%s", bouma_dataset_note(ds, count));
    info->name = NULL;
    bouma_dataset_free(ds);
    bouma_io_memory_free(io);
    return count;
}

static void fill(double *values, double (*at)(int i))
{
    for (int i = 0; i < COUNT; i++)
        values[i] = at(i);
}

static double wave(int i)
{
    return sin(0.05 * i);
}

static void one_outlier_is_told_once(void)
{
    static double values[COUNT];
    bouma_variable_info info = {.size = sizeof(info)};
    char note[512];

    fill(values, wave);
    values[4321] = 1e30;
    values[17] = (double)NAN;
    CHECK_EQ(notes_of(values, 1e-3, note, &info), 1);
    CHECK(strstr(note, "variable \"flow/rho\", step 0: errors up to 1e+27"));
    CHECK(strstr(note, "0.001 of its range"));
    CHECK(strstr(note, "use an absolute tolerance"));
    CHECK(info.bound > 0.99e27 && info.span > 1.5 && info.span <= 2);

    /* As large as to leave nothing of the others, and not larger. */
    values[4321] = 2500;
    CHECK_EQ(notes_of(values, 1e-3, note, &info), 1);
    values[4321] = 1500;
    CHECK_EQ(notes_of(values, 1e-3, note, &info), 0);
}

static double plume(int i)
{
    return i % 256 == 0 ? 1.0 + i : i % 2 * 1e-12;
}

static double constant(int i)
{
    return i == 77 ? 1e30 : 5;
}

static void other_fields_are_not_told_of(void)
{
    static double values[COUNT];
    bouma_variable_info info = {.size = sizeof(info)};
    char note[512];

    fill(values, wave);
    CHECK_EQ(notes_of(values, 1e-3, note, &info), 0);
    CHECK(info.span > info.bound);
    fill(values, plume); /* one value in 256 is no outlier */
    CHECK_EQ(notes_of(values, 1e-3, note, &info), 0);
    fill(values, constant); /* of which nothing is lost */
    CHECK_EQ(notes_of(values, 1e-3, note, &info), 0);
    for (int i = 0; i < COUNT; i++)
        values[i] = (double)NAN;
    CHECK_EQ(notes_of(values, 1e-3, note, &info), 0);
    CHECK(info.span == 0);
}

int main(void)
{
    one_outlier_is_told_once();
    other_fields_are_not_told_of();
    return check_result();
}
