/* blocks.c -- see blocks.h. */
#include "blocks.h"
#include "../helpers/arrays.h"

#include <dirent.h>
#include <math.h>
#include <unistd.h>

#include "../helpers/check.h"
#include "bouma_lists.h"

/* ---- values ------------------------------------------------------------- */

void field_value(void *out, const struct field *f, const int64_t *at,
                 int component, int64_t step)
{
    uint64_t seed = (uint64_t)(f->salt * 7919u) + (uint64_t)step * 31u +
                    (uint64_t)component * 101u;
    int64_t v = 0;
    double real;

    for (int d = 0; d < f->ndims; d++) {
        v += at[d] * (3 + 4 * d);
        seed = seed * 1000003u + (uint64_t)at[d];
    }
    /* Smooth for the most part, so that zstd has something to do. */
    v = (v + component * 11 + step * 5 + (int64_t)f->salt) % 120;
    if (seed % 13 == 0)
        v = (int64_t)(seed % 97);
    real = (double)v * 0.25 - 7;
    if (seed % 211 == 0)
        real = NAN;
    else if (seed % 223 == 0)
        real = -INFINITY;
    switch (f->type) {
#define CASE(name, value, ctype, text)                                         \
    case BOUMA_##name: {                                                       \
        ctype c =                                                              \
            BOUMA_##name == BOUMA_TYPE_F32 || BOUMA_##name == BOUMA_TYPE_F64   \
                ? (ctype)0                                                     \
                : (ctype)v;                                                    \
        memcpy(out, &c, sizeof(c));                                            \
        break;                                                                 \
    }
        BOUMA_TYPE_LIST(CASE)
#undef CASE
    case BOUMA_TYPE_STRING:
        break;
    }
    if (f->type == BOUMA_TYPE_F32) {
        float c = (float)real;

        memcpy(out, &c, sizeof(c));
    } else if (f->type == BOUMA_TYPE_F64) {
        memcpy(out, &real, sizeof(real));
    }
}

int64_t field_wrong(const struct field *f, const bouma_selection *selection,
                    int level, const void *dense, int64_t step)
{
    const uint8_t *p = dense;
    size_t size = bouma_type_size(f->type);
    int64_t n[3] = {1, 1, 1}, wrong = 0;

    for (int d = 0; d < f->ndims; d++)
        n[d] = selection->shape[d];
    for (int64_t i = 0; i < n[0]; i++)
        for (int64_t j = 0; j < n[1]; j++)
            for (int64_t k = 0; k < n[2]; k++) {
                int64_t at[3] = {i, j, k};

                for (int d = 0; d < f->ndims; d++)
                    at[d] = selection->first[d] + (at[d] << level);
                for (int c = 0; c < f->components; c++, p += size) {
                    uint8_t right[8];

                    field_value(right, f, at, c, step);
                    wrong += memcmp(right, p, size) != 0;
                }
            }
    return wrong;
}

struct seen {
    const struct field *field;
    int level;
    int64_t step, samples, wrong;
};

/* The samples of one patch, which may lie further apart than the level's. */
static int see(void *user, const bouma_patch_info *patch, int level,
               const bouma_selection *selection, const void *samples)
{
    struct seen *seen = user;
    bouma_selection one = *selection;
    const uint8_t *p = samples;
    size_t size =
        bouma_type_size(seen->field->type) * (size_t)seen->field->components;
    int64_t n[3] = {1, 1, 1};

    seen->wrong += level != seen->level || !patch->ranges;
    for (int d = 0; d < one.ndims; d++) {
        n[d] = one.shape[d];
        one.shape[d] = 1;
    }
    for (int64_t i = 0; i < n[0]; i++)
        for (int64_t j = 0; j < n[1]; j++)
            for (int64_t k = 0; k < n[2]; k++, p += size) {
                int64_t at[3] = {i, j, k};

                for (int d = 0; d < one.ndims; d++) {
                    one.first[d] =
                        selection->first[d] + at[d] * selection->step[d];
                    seen->wrong += one.first[d] < patch->box.lo[d] ||
                                   one.first[d] >= patch->box.hi[d] ||
                                   one.first[d] % ((int64_t)1 << level);
                }
                seen->samples++;
                seen->wrong +=
                    field_wrong(seen->field, &one, level, p, seen->step);
            }
    return 0;
}

int64_t query_wrong(const struct field *f, bouma_variable *v, int level,
                    const bouma_box *box, int64_t step)
{
    struct seen seen = {.field = f, .level = level, .step = step};
    bouma_patch_query query = {.size = sizeof(query),
                               .box = box,
                               .level = level,
                               .each = see,
                               .user = &seen};
    int64_t samples = 1;
    bouma_selection all = {.size = sizeof(all)};

    if (bouma_variable_select(&all, v, level, box) ||
        bouma_variable_query(v, &query))
        return 1;
    for (int d = 0; d < all.ndims; d++)
        samples *= all.shape[d];
    return seen.wrong + (seen.samples != samples);
}

int field_define(bouma_variable **out, bouma_dataset *ds, const struct field *f)
{
    bouma_grid_spec spec = {.size = sizeof(spec),
                            .ndims = f->ndims,
                            .patch = {8, 8, 8},
                            .levels = 3};
    bouma_variable_spec kind = {
        .size = sizeof(kind), .type = f->type, .components = f->components};
    bouma_grid *g;
    int rc;

    memcpy(spec.shape, f->shape, sizeof(f->shape));
    rc = bouma_grid_define(&g, ds, "g", &spec);
    return rc ? rc : bouma_variable_define(out, g, "v", &kind);
}

/* ---- decompositions ----------------------------------------------------- */

static bouma_box whole(const struct field *f)
{
    bouma_box box = {{0, 0, 0}, {0, 0, 0}};

    for (int d = 0; d < f->ndims; d++)
        box.hi[d] = f->shape[d];
    return box;
}

static void add(struct cutting *c, int rank, const bouma_box *box)
{
    REQUIRE(c->count < MAX_BLOCKS);
    c->blocks[c->count].rank = rank;
    c->blocks[c->count++].box = *box;
}

/* Rank r of n has the indices from r*extent/n on. */
static void cut_regular(struct cutting *out, const struct field *f,
                        const int64_t *n)
{
    int64_t at[3], rank = 0;

    for (at[0] = 0; at[0] < n[0]; at[0]++)
        for (at[1] = 0; at[1] < n[1]; at[1]++)
            for (at[2] = 0; at[2] < n[2]; at[2]++) {
                bouma_box box = whole(f);

                for (int d = 0; d < f->ndims; d++) {
                    box.lo[d] = at[d] * f->shape[d] / n[d];
                    box.hi[d] = (at[d] + 1) * f->shape[d] / n[d];
                }
                add(out, (int)rank++, &box);
            }
}

static void bisect(struct cutting *out, const struct field *f, bouma_box box,
                   int boxes, int ranks, uint64_t *random)
{
    int d = (int)check_below(random, f->ndims);
    bouma_box low = box, high = box;

    if (boxes == 1 || box.hi[d] - box.lo[d] < 2) {
        add(out, (int)check_below(random, ranks), &box);
        return;
    }
    low.hi[d] = high.lo[d] =
        box.lo[d] + 1 + check_below(random, box.hi[d] - box.lo[d] - 1);
    bisect(out, f, low, boxes / 2, ranks, random);
    bisect(out, f, high, boxes - boxes / 2, ranks, random);
}

void cutting_make(struct cutting *out, enum cut cut, const struct field *f,
                  int ranks, uint64_t *random)
{
    int64_t n[3] = {1, 1, 1};
    bouma_box all = whole(f);

    out->count = 0;
    switch (cut) {
    case CUT_SLABS:
        n[0] = ranks;
        cut_regular(out, f, n);
        break;
    case CUT_BLOCKS:
        /* The largest factor goes to the fastest axis. */
        for (int left = ranks, d = f->ndims - 1, p = 2; left > 1; p++)
            for (; left % p == 0; left /= p) {
                n[d] *= p;
                d = d ? d - 1 : f->ndims - 1;
            }
        cut_regular(out, f, n);
        break;
    case CUT_BISECTION:
        bisect(out, f, all, 1 + (int)check_below(random, 3 * ranks), ranks,
               random);
        break;
    default:
        add(out, ranks - 1, &all);
    }
}

bouma_box random_box(const struct field *f, uint64_t *random)
{
    bouma_box box = whole(f);

    for (int d = 0; d < f->ndims; d++) {
        box.lo[d] = check_below(random, f->shape[d]);
        box.hi[d] =
            box.lo[d] + 1 + check_below(random, f->shape[d] - box.lo[d]);
    }
    return box;
}

int random_levels(const bouma_grid_spec *spec, uint64_t *random)
{
    int most = 1;

    for (int d = 0; d < spec->ndims; d++) {
        int64_t edge = spec->patch[d];

        while (edge > 1 && edge / 2 >= spec->shape[d])
            edge /= 2; /* as the library cuts it down */
        while (edge >> most)
            most++;
    }
    return 1 + (int)check_below(random, most);
}

/* ---- arrays ------------------------------------------------------------- */

void array_make(struct array *out, const struct field *f, const int64_t *shape,
                enum layout layout)
{
    int64_t size = (int64_t)bouma_type_size(f->type), samples = 1;
    int64_t extent[3], ghost = layout == LAYOUT_GHOST ? 2 : 0, first = 0;
    bouma_array *m = &out->layout;
    int64_t begin[3] = {ghost, ghost, ghost};

    memset(out, 0, sizeof(*out));
    for (int d = 0; d < f->ndims; d++) {
        extent[d] = shape[d] + 2 * ghost;
        samples *= extent[d];
    }
    out->bytes = (size_t)(samples * size * f->components);
    out->memory = malloc(out->bytes + 1);
    REQUIRE(out->memory);
    memset(out->memory, 0xa5, out->bytes + 1);
    *m = BOUMA_ARRAY(f->type, out->memory, out->bytes);
    CHECK_EQ(
        bouma_array_inside(m, f->components, f->ndims, extent, begin, NULL, 0),
        samples ? BOUMA_OK : BOUMA_EINVAL);
    out->data = samples ? m->data : out->memory;
    switch (layout) {
    case LAYOUT_DENSE:
    case LAYOUT_GHOST:
        break;
    case LAYOUT_PLANAR:
        for (int d = 0; d < f->ndims; d++)
            m->stride[d] /= f->components;
        m->component_stride = samples * size;
        break;
    case LAYOUT_FORTRAN:
        m->stride[0] = size * f->components;
        for (int d = 1; d < f->ndims; d++)
            m->stride[d] = m->stride[d - 1] * extent[d - 1];
        break;
    default:
        for (int d = 0; d < f->ndims; d++) {
            first += (extent[d] - 1) * m->stride[d];
            m->stride[d] = -m->stride[d];
        }
    }
    out->data += samples ? first : 0;
    m->data = out->data;
    out->given = layout == LAYOUT_DENSE
                     ? BOUMA_ARRAY(f->type, out->memory, out->bytes)
                     : *m;
}

void array_fill(struct array *a, const struct field *f, const bouma_box *box,
                int64_t step)
{
    int64_t lo[3] = {0, 0, 0}, hi[3] = {1, 1, 1}, at[3];

    for (int d = 0; d < f->ndims; d++) {
        lo[d] = box->lo[d];
        hi[d] = box->hi[d];
    }
    for (at[0] = lo[0]; at[0] < hi[0]; at[0]++)
        for (at[1] = lo[1]; at[1] < hi[1]; at[1]++)
            for (at[2] = lo[2]; at[2] < hi[2]; at[2]++)
                for (int c = 0; c < f->components; c++) {
                    int64_t offset = c * a->layout.component_stride;

                    for (int d = 0; d < f->ndims; d++)
                        offset += (at[d] - lo[d]) * a->layout.stride[d];
                    field_value(a->data + offset, f, at, c, step);
                }
    a->copy = malloc(a->bytes + 1);
    REQUIRE(a->copy);
    memcpy(a->copy, a->memory, a->bytes);
}

int array_unchanged(const struct array *a)
{
    return !memcmp(a->copy, a->memory, a->bytes);
}

void array_free(struct array *a)
{
    free(a->memory);
    free(a->copy);
    memset(a, 0, sizeof(*a));
}

int puts_make(struct puts *out, bouma_variable *variable, const struct field *f,
              const struct cutting *cutting, int64_t step, uint64_t *random)
{
    int rank, worst = BOUMA_OK;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    out->count = 0;
    for (int i = 0; i < cutting->count; i++) {
        const bouma_box *box = &cutting->blocks[i].box;
        struct array *a = &out->arrays[out->count];
        int64_t shape[3];
        int rc;

        if (cutting->blocks[i].rank != rank)
            continue;
        for (int d = 0; d < f->ndims; d++)
            shape[d] = box->hi[d] - box->lo[d];
        array_make(a, f, shape, (enum layout)check_below(random, LAYOUTS));
        array_fill(a, f, box, step);
        out->count++;
        rc = bouma_variable_put_borrow(variable, box, &a->given);
        worst = rc ? rc : worst;
    }
    return worst;
}

int puts_free(struct puts *puts)
{
    int changed = 0;

    for (int i = 0; i < puts->count; i++) {
        changed += !array_unchanged(&puts->arrays[i]);
        array_free(&puts->arrays[i]);
    }
    puts->count = 0;
    return changed;
}

/* ---- programs ----------------------------------------------------------- */

void ranks_init(struct ranks *r, int *argc, char ***argv)
{
    const char *base = getenv("TMPDIR");
    int made = 1;

    /* In memory where that is possible: these tests make many small files. */
    if (!base)
        base = access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm";
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &r->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &r->size);
    snprintf(r->dir, sizeof(r->dir), "%s/bouma-mpi-XXXXXX", base);
    if (r->rank == 0)
        made = mkdtemp(r->dir) != NULL;
    MPI_Bcast(&made, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Bcast(r->dir, sizeof(r->dir), MPI_CHAR, 0, MPI_COMM_WORLD);
    REQUIRE(made);
}

int ranks_end(struct ranks *r, int failed, int checks)
{
    int mine[2] = {failed, checks}, all[2];

    MPI_Allreduce(mine, all, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (r->rank == 0) {
        remove_tree(r->dir);
        printf("%d ranks: %d checks, %d failed\n", r->size, all[1], all[0]);
    }
    MPI_Finalize();
    return all[0] != 0;
}

int same_on_all(int rc, const char *message)
{
    char first[1024] = "";
    int root = rc, same, all;

    snprintf(first, sizeof(first), "%s", message);
    MPI_Bcast(&root, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Bcast(first, sizeof(first), MPI_CHAR, 0, MPI_COMM_WORLD);
    same = root == rc && !strncmp(first, message, sizeof(first) - 1);
    if (!same)
        printf("%s (\"%s\"), but rank 0 has %s (\"%s\")\n",
               bouma_status_name(rc), message, bouma_status_name(root), first);
    MPI_Allreduce(&same, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return all;
}

const char *path_in(const struct ranks *r, char *out, const char *name,
                    int64_t number)
{
    snprintf(out, 512, "%s/%s%" PRId64, r->dir, name, number);
    return out;
}

/* Subfiles of 'left' that 'right' does not have alike; all of them counted. */
static int differing(const char *left, const char *right, int64_t step, int *n)
{
    char dir[600], one[1200], other[1200];
    struct dirent *e;
    int differ = 0;
    DIR *d;

    snprintf(dir, sizeof(dir), "%s/steps/%08" PRId64, left, step);
    d = opendir(dir);
    if (!d)
        return 1;
    while ((e = readdir(d))) {
        if (strncmp(e->d_name, "d.", 2))
            continue;
        snprintf(one, sizeof(one), "%s/%s", dir, e->d_name);
        snprintf(other, sizeof(other), "%s/steps/%08" PRId64 "/%s", right, step,
                 e->d_name);
        ++*n;
        differ += !same_file(one, other);
    }
    closedir(d);
    return differ;
}

int same_subfiles(const char *left, const char *right, int64_t step)
{
    int n = 0, m = 0;

    return !differing(left, right, step, &n) &&
           !differing(right, left, step, &m) && n && n == m;
}

int64_t wrong_on_disk(const char *path, int64_t step, const char *variable,
                      const struct field *f)
{
    bouma_dataset *ds;
    bouma_variable *v = NULL;
    bouma_grid_info info = {.size = sizeof(info)};
    bouma_step *s = NULL;
    bouma_grid *g;
    int64_t wrong = 0;
    int rc = bouma_dataset_open(&ds, path, NULL);

    if (!rc)
        rc = bouma_step_open(&s, ds, step);
    g = rc ? NULL : bouma_step_find_grid(s, "g");
    v = g ? bouma_grid_find_variable(g, variable) : NULL;
    if (v)
        bouma_grid_info_get(&info, g);
    wrong += !info.levels;
    for (int level = 0; level < info.levels && !rc; level++) {
        bouma_selection all = {.size = sizeof(all)};
        void *data;

        rc = bouma_variable_select(&all, v, level, NULL);
        data = malloc(all.bytes + 1);
        REQUIRE(data);
        if (!rc)
            rc = test_read(v, level, NULL, data);
        wrong += rc ? 1 : field_wrong(f, &all, level, data, step);
        free(data);
    }
    if (rc)
        printf("%s, step %" PRId64 ": %s\n", path, step,
               bouma_error_message(ds));
    bouma_step_free(s);
    bouma_dataset_free(ds);
    return wrong;
}
