/* isosurface.c -- count the cells that an isosurface crosses; fine data are
 * read only where the surface can be.
 *
 *   isosurface DATASET GRID VARIABLE VALUE
 *
 * A cell has eight neighbouring samples at its corners. The surface crosses it
 * if some of them are below VALUE and others are not. So a
 * patch that is all below or all above need not be read, not even for the cells
 * that it shares with its neighbours: its range stands for its samples, and
 * level 0 is read only where the range contains the value. (Patches with NaN
 * are read as well, to find these samples. Cells with NaN are not crossed.)
 *
 * The ranges are those of the original samples. Values that are read may be
 * outside by the bound of a lossy variable, so the ranges are widened by it.
 * At the end everything is read, and the count must be the same. */
#include <bouma.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void check(int rc, const bouma_dataset *ds)
{
    if (rc) {
        fprintf(stderr, "isosurface: %s\n", bouma_error_message(ds));
        exit(EXIT_FAILURE);
    }
}

static void *allocate(int64_t count, size_t size)
{
    void *p = calloc((size_t)count, size);

    if (!p) {
        fprintf(stderr, "isosurface: out of memory\n");
        exit(EXIT_FAILURE);
    }
    return p;
}

/* A dataset opened separately, so that its bytes can be counted. */
struct opened {
    bouma_dataset *ds;
    bouma_step *step;
    bouma_variable *variable;
    bouma_grid_info grid;
    bouma_variable_info about;
};

static struct opened open_last(char **name)
{
    struct opened o = {.grid.size = sizeof(o.grid),
                       .about.size = sizeof(o.about)};
    bouma_step_info last = {.size = sizeof(last)};
    bouma_grid *grid;
    int rc = bouma_dataset_open(&o.ds, name[0], NULL);

    check(rc, o.ds);
    check(
        bouma_dataset_step_get(&last, o.ds, bouma_dataset_step_count(o.ds) - 1),
        o.ds);
    check(bouma_step_open(&o.step, o.ds, last.step), o.ds);
    grid = bouma_step_find_grid(o.step, name[1]);
    check(grid ? BOUMA_OK : BOUMA_ENOTFOUND, o.ds);
    o.variable = bouma_grid_find_variable(grid, name[2]);
    check(o.variable ? BOUMA_OK : BOUMA_ENOTFOUND, o.ds);
    bouma_grid_info_get(&o.grid, grid);
    bouma_variable_info_get(&o.about, o.variable);
    if (o.grid.layout != BOUMA_LAYOUT_PATCH) {
        fprintf(stderr, "isosurface: cells need neighbours, as in patches; "
                        "write the grid with layout patch\n");
        exit(EXIT_FAILURE);
    }
    return o;
}

/* Close it; returns the bytes that were read. */
static uint64_t close_again(struct opened *o)
{
    bouma_dataset_info info = {.size = sizeof(info)};

    check(bouma_dataset_info_get(&info, o->ds), o->ds);
    bouma_step_free(o->step);
    bouma_dataset_free(o->ds);
    return info.bytes_read;
}

/* Samples of one component, f32 or f64, as doubles. */
static double sample(const bouma_variable_info *about, const void *data,
                     int64_t i)
{
    return about->type == BOUMA_TYPE_F32 ? (double)((const float *)data)[i]
                                         : ((const double *)data)[i];
}

/* ---- which patches ------------------------------------------------------- */

struct search {
    const struct opened *o;
    double value;
    double *field; /* of the whole grid: samples, or what stands for them */
    int64_t read;  /* patches */
};

/* Where row (z, y) of a patch begins in the field. */
static double *row_of(const struct search *s, const bouma_box *box, int64_t z,
                      int64_t y)
{
    const int64_t *shape = s->o->grid.shape;

    return s->field +
           ((box->lo[0] + z) * shape[1] + box->lo[1] + y) * shape[2] +
           box->lo[2];
}

/* Level 0, or -1 for a patch that is on one side of the surface. */
static int choose(void *user, const bouma_patch_info *patch)
{
    struct search *s = user;
    const bouma_box *box = &patch->box;
    const bouma_range *range = &patch->ranges[0];
    double low = range->low - s->o->about.bound;
    double high = range->high + s->o->about.bound;
    int mixed = low < s->value && high >= s->value;

    if (!range->empty && (mixed || range->nans))
        return 0;
    for (int64_t z = 0; z < box->hi[0] - box->lo[0]; z++)
        for (int64_t y = 0; y < box->hi[1] - box->lo[1]; y++)
            for (int64_t x = 0; x < box->hi[2] - box->lo[2]; x++)
                row_of(s, box, z, y)[x] = range->empty ? NAN : low;
    return -1;
}

static int keep(void *user, const bouma_patch_info *patch, int level,
                const bouma_selection *selection, const void *samples)
{
    struct search *s = user;
    const int64_t *n = selection->shape;
    int64_t i = 0;

    (void)level;
    for (int64_t z = 0; z < n[0]; z++)
        for (int64_t y = 0; y < n[1]; y++)
            for (int64_t x = 0; x < n[2]; x++)
                row_of(s, &patch->box, z, y)[x] =
                    sample(&s->o->about, samples, i++);
    s->read++;
    return 0;
}

/* ---- counting ------------------------------------------------------------ */

/* Cells with a corner below the value and one that is not; none is NaN. */
static int64_t crossed(const double *field, const int64_t shape[3],
                       double value)
{
    int64_t count = 0;

    for (int64_t z = 0; z + 1 < shape[0]; z++)
        for (int64_t y = 0; y + 1 < shape[1]; y++)
            for (int64_t x = 0; x + 1 < shape[2]; x++) {
                int below = 0, above = 0;

                for (int corner = 0; corner < 8; corner++) {
                    double v = field[((z + (corner >> 2)) * shape[1] + y +
                                      (corner >> 1 & 1)) *
                                         shape[2] +
                                     x + (corner & 1)];

                    below += v < value;
                    above += v >= value;
                }
                count += below && above && below + above == 8;
            }
    return count;
}

static int64_t count_some(struct search *s, int64_t samples)
{
    bouma_patch_query query = {
        .size = sizeof(query), .choose = choose, .each = keep, .user = s};
    int64_t result;

    s->field = allocate(samples, sizeof(*s->field));
    check(bouma_variable_query(s->o->variable, &query), s->o->ds);
    result = crossed(s->field, s->o->grid.shape, s->value);
    free(s->field);
    return result;
}

static int64_t count_all(const struct opened *o, double value, int64_t samples)
{
    double *field = allocate(samples, sizeof(*field));
    void *data = allocate(samples, bouma_type_size(o->about.type));
    int64_t result;

    check(bouma_variable_read(
              o->variable, 0, NULL,
              &BOUMA_ARRAY(o->about.type, data,
                           (size_t)samples * bouma_type_size(o->about.type))),
          o->ds);
    for (int64_t i = 0; i < samples; i++)
        field[i] = sample(&o->about, data, i);
    result = crossed(field, o->grid.shape, value);
    free(data);
    free(field);
    return result;
}

int main(int argc, char **argv)
{
    struct opened some, all;
    struct search s = {0};
    int64_t samples = 1, found, there;
    uint64_t some_bytes, all_bytes;

    if (argc != 5) {
        fprintf(stderr, "usage: isosurface DATASET GRID VARIABLE VALUE\n");
        return 2;
    }
    some = open_last(argv + 1);
    if (some.grid.ndims != 3 || some.about.components != 1 ||
        (some.about.type != BOUMA_TYPE_F32 &&
         some.about.type != BOUMA_TYPE_F64)) {
        fprintf(stderr, "isosurface: a variable of 3 axes and type f32 or f64 "
                        "is needed\n");
        return EXIT_FAILURE;
    }
    if (some.about.nominal) {
        fprintf(stderr, "isosurface: the tolerance is nominal, so nobody knows "
                        "how far samples are beyond the ranges\n");
        return EXIT_FAILURE;
    }
    for (int axis = 0; axis < 3; axis++)
        samples *= some.grid.shape[axis];
    s = (struct search){.o = &some, .value = atof(argv[4])};
    found = count_some(&s, samples);
    some_bytes = close_again(&some);

    all = open_last(argv + 1);
    there = count_all(&all, s.value, samples);
    printf("%lld cells are crossed; %lld of %lld patches were read\n",
           (long long)found, (long long)s.read, (long long)all.grid.patches);
    all_bytes = close_again(&all);
    printf("%llu bytes read, %llu to read everything (%.1f%%)\n",
           (unsigned long long)some_bytes, (unsigned long long)all_bytes,
           100 * (double)some_bytes / (double)all_bytes);
    if (found != there)
        fprintf(stderr, "isosurface: there are %lld\n", (long long)there);
    return found == there ? EXIT_SUCCESS : EXIT_FAILURE;
}
