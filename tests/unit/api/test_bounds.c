/* Boxes in physical coordinates, against a look at every sample. */
#include <math.h>
#include <string.h>

#include "arrays.h"
#include "bouma.h"
#include "check.h"
#include "tells.h"

static bouma_io *io;

static bouma_dataset *new_dataset(void)
{
    bouma_options o = {.size = sizeof(o)};
    bouma_dataset *ds;

    o.io = io;
    CHECK_EQ(bouma_dataset_create(&ds, "d", &o), BOUMA_OK);
    return ds;
}

static bouma_grid *define(bouma_dataset *ds, const char *name,
                          bouma_grid_spec spec)
{
    bouma_grid *grid = NULL;

    spec.size = sizeof(spec);
    CHECK_EQ(bouma_grid_define(&grid, ds, name, &spec), BOUMA_OK);
    REQUIRE(grid);
    return grid;
}

static int is_inside(double x, const bouma_bounds *b, int i)
{
    return x >= b->low[i] &&
           (b->closed >> i & 1 ? x <= b->high[i] : x < b->high[i]);
}

/* The box by trying each sample of each axis. */
static bouma_box slow_box(const bouma_grid_spec *g, const bouma_bounds *b)
{
    bouma_box box, none;
    int empty = 0;

    memset(&box, 0, sizeof(box));
    memset(&none, 0, sizeof(none));
    for (int d = 0; d < g->ndims; d++) {
        int i = b->axes == BOUMA_AXES_ZYX ? d : g->ndims - 1 - d, any = 0;

        for (int64_t k = 0; k < g->shape[d]; k++) {
            double x = g->origin[d] + g->spacing[d] * (double)k;

            if (!is_inside(x, b, i))
                continue;
            box.lo[d] = any ? box.lo[d] : k;
            box.hi[d] = k + 1;
            any = 1;
        }
        empty |= !any;
    }
    return empty ? none : box;
}

static double some_end(const bouma_grid_spec *g, int d, uint64_t *random)
{
    double x =
        g->origin[d] +
        g->spacing[d] * (double)(check_below(random, g->shape[d] + 4) - 2);

    switch (check_below(random, 5)) {
    case 0:
        return nextafter(x, INFINITY);
    case 1:
        return nextafter(x, -INFINITY);
    case 2:
        return check_below(random, 2) ? INFINITY : -INFINITY;
    default:
        return x; /* exactly at a sample, or behind the last */
    }
}

static void boxes_have_the_samples_inside(void)
{
    static const double spacings[] = {1, 0.1, -0.3, 1e-17, 3e300, -1};
    static const double origins[] = {0, -0.7, 1, 1e16};
    bouma_dataset *ds = new_dataset();
    uint64_t random = 7, wrong = 0, some = 0;

    for (int trial = 0; trial < 40; trial++) {
        bouma_grid_spec g = {.ndims = 1 + trial % 3};
        bouma_grid *grid;
        char name[16];

        for (int d = 0; d < g.ndims; d++) {
            g.shape[d] = 1 + check_below(&random, 13);
            g.spacing[d] = spacings[check_below(&random, 6)];
            g.origin[d] = origins[check_below(&random, 4)];
        }
        snprintf(name, sizeof(name), "g%d", trial);
        grid = define(ds, name, g);
        for (int i = 0; i < 200; i++) {
            bouma_bounds b = {.axes = i % 2 ? BOUMA_AXES_XYZ : BOUMA_AXES_ZYX};
            bouma_box box, right;

            b.closed = (unsigned)check_below(&random, 1 << g.ndims);
            for (int d = 0; d < g.ndims; d++) {
                int k = i % 2 ? g.ndims - 1 - d : d;
                double one = some_end(&g, d, &random);
                double other = some_end(&g, d, &random);

                /* Now and then the wrong way round. */
                b.low[k] = i % 9 ? fmin(one, other) : one;
                b.high[k] = i % 9 ? fmax(one, other) : other;
            }
            right = slow_box(&g, &b);
            wrong += bouma_grid_box(&box, grid, &b) != BOUMA_OK ||
                     memcmp(&box, &right, sizeof(box)) != 0;
            some += right.hi[0] > 0;
        }
    }
    CHECK_EQ(wrong, 0);
    CHECK(some > 1000);
    bouma_dataset_free(ds);
}

/* Bounds of a box give the box again. */
static void bounds_lead_back_to_the_box(void)
{
    bouma_dataset *ds = new_dataset();
    bouma_grid_spec g = {.ndims = 3,
                         .shape = {5, 7, 4},
                         .origin = {-1, 0.3, 100},
                         .spacing = {0.1, -0.7, 1e-3}};
    bouma_grid *grid = define(ds, "g", g);
    uint64_t random = 3;
    bouma_bounds b;
    bouma_box box, back;

    for (int trial = 0; trial < 500; trial++) {
        memset(&box, 0, sizeof(box));
        for (int d = 0; d < 3; d++) {
            box.lo[d] = check_below(&random, g.shape[d]);
            box.hi[d] =
                box.lo[d] + 1 + check_below(&random, g.shape[d] - box.lo[d]);
        }
        CHECK_EQ(bouma_grid_bounds(&b, grid,
                                   trial % 2 ? BOUMA_AXES_XYZ : BOUMA_AXES_ZYX,
                                   &box),
                 BOUMA_OK);
        CHECK_EQ(bouma_grid_box(&back, grid, &b), BOUMA_OK);
        CHECK(!memcmp(&box, &back, sizeof(box)));
    }
    CHECK_EQ(bouma_grid_bounds(&b, grid, BOUMA_AXES_XYZ, NULL), BOUMA_OK);
    CHECK(b.low[0] == 100 && b.high[0] == 100 + 1e-3 * 4 && b.closed == 2);
    box.lo[1] = box.hi[1] = 2;
    CHECK_EQ(bouma_grid_bounds(&b, grid, BOUMA_AXES_XYZ, &box), BOUMA_OK);
    CHECK(b.low[1] == b.high[1]);
    CHECK_EQ(bouma_grid_box(&back, grid, &b), BOUMA_OK);
    CHECK_EQ(back.hi[1], 0);
    bouma_dataset_free(ds);
}

/* One box for particles in space and a grid in a plane, say. */
static void further_axes_do_not_matter(void)
{
    bouma_dataset *ds = new_dataset();
    bouma_grid *grid =
        define(ds, "g", (bouma_grid_spec){.ndims = 2, .shape = {4, 4}});
    bouma_bounds b = {
        .axes = BOUMA_AXES_XYZ, .closed = 5, .high = {2, 1, (double)NAN}};
    bouma_box box;

    CHECK_EQ(bouma_grid_box(&box, grid, &b), BOUMA_OK);
    CHECK(box.hi[1] == 3 && box.hi[0] == 1);
    bouma_dataset_free(ds);
}

static void wrong_bounds_are_refused(void)
{
    bouma_dataset *ds = new_dataset();
    bouma_grid *grid =
        define(ds, "g", (bouma_grid_spec){.ndims = 2, .shape = {4, 4}});
    bouma_bounds b = {.high = {1, 1}};
    bouma_box box = {.hi = {4, 5}};

    TELLS(ds, bouma_grid_box(&box, grid, &b), BOUMA_EINVAL, "'axes' is 0");
    b.axes = BOUMA_AXES_XYZ;
    b.high[1] = (double)NAN;
    TELLS(ds, bouma_grid_box(&box, grid, &b), BOUMA_EINVAL, "high[1] is NaN");
    TELLS(ds, bouma_grid_box(&box, grid, NULL), BOUMA_EINVAL, "NULL");
    TELLS(ds, bouma_grid_box(NULL, grid, &b), BOUMA_EINVAL, "the pointer for ");
    CHECK_EQ(bouma_grid_box(&box, NULL, &b), BOUMA_EINVAL);
    box = (bouma_box){.hi = {4, 5}};
    TELLS(ds, bouma_grid_bounds(&b, grid, BOUMA_AXES_ZYX, &box), BOUMA_EINVAL,
          "0 to 5 of axis 1, which has 4");
    TELLS(ds, bouma_grid_bounds(&b, grid, (bouma_axes)0, NULL), BOUMA_EINVAL,
          "order of axes is 0");
    TELLS(ds, bouma_grid_bounds(NULL, grid, BOUMA_AXES_ZYX, NULL), BOUMA_EINVAL,
          "the pointer for ");
    CHECK_EQ(bouma_grid_bounds(&b, NULL, BOUMA_AXES_ZYX, NULL), BOUMA_EINVAL);
    bouma_dataset_free(ds);
}

/* What is inside is read, and nothing else. */
static void a_region_is_read(void)
{
    static double field[8][6], part[4];
    const bouma_variable_spec number = {.size = sizeof(number),
                                        .type = BOUMA_TYPE_F64};
    const bouma_bounds cut = {
        .axes = BOUMA_AXES_XYZ, .low = {0.2, 0.5}, .high = {0.4, 0.7}};
    bouma_dataset *ds = new_dataset();
    bouma_grid_spec g = {.ndims = 2, .shape = {8, 6}, .spacing = {0.125, 0.1}};
    bouma_grid *grid = define(ds, "g", g);
    bouma_variable *v;
    bouma_step *step;
    bouma_box box;

    for (int y = 0; y < 8; y++)
        for (int x = 0; x < 6; x++)
            field[y][x] = 10.0 * y + x;
    CHECK_EQ(bouma_variable_define(&v, grid, "v", &number), BOUMA_OK);
    CHECK_EQ(bouma_step_begin(ds, 0, 0), BOUMA_OK);
    CHECK_EQ(test_put(v, NULL, field), BOUMA_OK);
    CHECK_EQ(bouma_step_end(ds), BOUMA_OK);
    CHECK_EQ(bouma_step_open(&step, ds, 0), BOUMA_OK);
    grid = bouma_step_grid(step, 0);
    CHECK_EQ(bouma_grid_box(&box, grid, &cut), BOUMA_OK);
    CHECK(box.lo[0] == 4 && box.hi[0] == 6 && box.lo[1] == 2 && box.hi[1] == 4);
    CHECK_EQ(test_read(bouma_grid_variable(grid, 0), 0, &box, part), BOUMA_OK);
    CHECK(part[0] == 42 && part[1] == 43 && part[2] == 52 && part[3] == 53);
    bouma_step_free(step);
    bouma_dataset_free(ds);
}

int main(void)
{
    io = bouma_io_memory_new();
    REQUIRE(io);
    boxes_have_the_samples_inside();
    bouma_io_memory_free(io);
    io = bouma_io_memory_new();
    bounds_lead_back_to_the_box();
    bouma_io_memory_free(io);
    io = bouma_io_memory_new();
    further_axes_do_not_matter();
    bouma_io_memory_free(io);
    io = bouma_io_memory_new();
    wrong_bounds_are_refused();
    bouma_io_memory_free(io);
    io = bouma_io_memory_new();
    a_region_is_read();
    bouma_io_memory_free(io);
    return check_result();
}
