/* A patch as levels: what is taken in parts comes out at any level as the
 * samples a[::2^k] of the array, for any box of it. */
#include "layout/patch.h"

#include "check.h"

/* The whole grid as one array of 'components' values a sample, dense. */
struct field {
    struct bm_schema schema;
    struct bm_error error;
    struct bm_object *grid;
    struct bouma_variable *variable;
    uint8_t *data;
    size_t size, sample;
    int64_t shape[3]; /* lifted */
};

static const bouma_type types[4] = {BOUMA_TYPE_U8, BOUMA_TYPE_I16,
                                    BOUMA_TYPE_F32, BOUMA_TYPE_F64};

static void random_field(struct field *f, uint64_t *state)
{
    bouma_grid_spec g = {.size = sizeof(g)};
    bouma_variable_spec v = {.size = sizeof(v)};
    int longest = 1;

    memset(f, 0, sizeof(*f));
    bm_schema_init(&f->schema, bm_allocator_default(), &f->error);
    g.ndims = 1 + (int)check_below(state, 3);
    for (int d = 0; d < g.ndims; d++) {
        int bits = (int)check_below(state, 5);

        g.shape[d] = 1 + check_below(state, g.ndims == 1 ? 300 : 23);
        g.patch[d] = (int64_t)1 << bits;
        while (g.patch[d] / 2 >= g.shape[d])
            g.patch[d] /= 2;
        while ((1 << (longest - 1)) < g.patch[d])
            longest++;
    }
    g.levels = 1 + (int)check_below(state, longest);
    v.type = types[check_below(state, 4)];
    v.components = 1 + (int)check_below(state, 4);
    REQUIRE(!bm_schema_add_grid(&f->schema, &f->grid, "g", &g));
    REQUIRE(!bm_schema_add_variable(f->grid, &f->variable, "v", &v));
    memcpy(f->shape, bm_tiling_of(f->grid)->shape, sizeof(f->shape));
    f->size = bouma_type_size(v.type);
    f->sample = f->size * (size_t)v.components;
    f->data =
        malloc((size_t)(f->shape[0] * f->shape[1] * f->shape[2]) * f->sample);
    REQUIRE(f->data);
    for (int64_t i = 0;
         i < f->shape[0] * f->shape[1] * f->shape[2] * v.components; i++) {
        double d = (double)check_below(state, 1000);
        float s = (float)d;
        uint64_t n = check_random(state);

        memcpy(f->data + (size_t)i * f->size,
               v.type == BOUMA_TYPE_F64   ? (void *)&d
               : v.type == BOUMA_TYPE_F32 ? (void *)&s
                                          : (void *)&n,
               f->size);
    }
}

static void release_field(struct field *f)
{
    bm_schema_release(&f->schema);
    free(f->data);
}

static uint8_t *field_at(const struct field *f, int64_t z, int64_t y, int64_t x)
{
    return f->data +
           (size_t)((z * f->shape[1] + y) * f->shape[2] + x) * f->sample;
}

/* ---- one patch taken ---------------------------------------------------- */

struct taken {
    struct bm_patch p;
    uint8_t *level[BM_MAX_LEVELS];
    uint8_t *scratch;
};

/* Cut the patch into up to eight parts; take each from an array that is larger
 * than the part by a margin, some of them backwards. */
static void take(struct taken *t, const struct field *f, int64_t patch,
                 uint64_t *state)
{
    int64_t cut[3];

    bm_patch_init(&t->p, f->variable, patch);
    t->scratch = malloc(bm_patch_scratch_bytes(&t->p));
    REQUIRE(t->scratch);
    for (int k = 0; k < t->p.levels; k++) {
        t->level[k] = malloc(bm_patch_level_bytes(&t->p, k) + 1);
        REQUIRE(t->level[k]);
    }
    for (int d = 0; d < 3; d++)
        cut[d] = t->p.box.lo[d] +
                 check_below(state, t->p.box.hi[d] - t->p.box.lo[d] + 1);
    for (int corner = 0; corner < 8; corner++) {
        struct bm_memory_box from = {.array.apart = NULL};
        int empty = 0;

        for (int d = 0; d < 3; d++) {
            int high = corner >> d & 1;

            from.box.lo[d] = high ? cut[d] : t->p.box.lo[d];
            from.box.hi[d] = high ? t->p.box.hi[d] : cut[d];
            empty |= from.box.lo[d] >= from.box.hi[d];
            /* A block reaches over the patch where the grid goes on. */
            if (!high && from.box.lo[d] > 0)
                from.box.lo[d]--;
        }
        if (empty)
            continue;
        from.array.data =
            field_at(f, from.box.lo[0], from.box.lo[1], from.box.lo[2]);
        from.array.component_stride = (int64_t)f->size;
        from.array.stride[2] = (int64_t)f->sample;
        from.array.stride[1] = from.array.stride[2] * f->shape[2];
        from.array.stride[0] = from.array.stride[1] * f->shape[1];
        bm_patch_take(&t->p, &from, t->level, t->scratch);
    }
    bm_patch_fill_coarser(&t->p, t->level, t->scratch);
}

static void drop(struct taken *t)
{
    for (int k = 0; k < t->p.levels; k++)
        free(t->level[k]);
    free(t->scratch);
}

/* Give a random box at a level into a random memory, and compare. */
static void check_give(const struct taken *t, const struct field *f, int at,
                       uint64_t *state)
{
    enum { MARK = 0xa5 };
    int components = f->variable->components;
    int64_t unit = (int64_t)1 << at, n[3];
    struct bm_level_memory to = {.array.apart = NULL};
    struct bm_lattice whole;
    struct bm_patch_samples samples;
    uint8_t *memory, *dense = NULL;
    size_t bytes;
    struct bm_box clip;
    int bad = 0;

    /* The request reaches over the patch, as those of callers do. */
    for (int d = 0; d < 3; d++) {
        clip.lo[d] = check_below(state, f->shape[d]);
        clip.hi[d] =
            clip.lo[d] + 1 + check_below(state, f->shape[d] - clip.lo[d]);
    }
    whole = bm_lattice_of(&clip, at);
    for (int d = 0; d < 3; d++) {
        to.first[d] = whole.start[d];
        n[d] = whole.count[d];
    }
    to.array.component_stride = (int64_t)f->size;
    to.array.stride[2] = (int64_t)f->sample + check_below(state, 2);
    to.array.stride[1] = to.array.stride[2] * n[2];
    to.array.stride[0] = to.array.stride[1] * n[1];
    bytes = (size_t)(to.array.stride[0] * n[0]);
    memory = malloc(bytes + 1);
    REQUIRE(memory);
    memset(memory, MARK, bytes + 1);
    to.array.data = memory;
    if (bytes && check_below(state, 2)) { /* rows from the last to the first */
        to.array.data += to.array.stride[1] * (n[1] - 1);
        to.array.stride[1] = -to.array.stride[1];
    }
    samples = (struct bm_patch_samples){at, t->level[at], dense};
    for (int k = t->p.levels - 1; k > at; k--) {
        struct bm_patch_samples coarser = {k, t->level[k], dense};
        size_t room = bm_patch_dense_bytes(&t->p, k) + 1;
        uint8_t *merged = malloc(room);
        struct bm_window wanted;

        REQUIRE(merged);
        memset(merged, MARK, room); /* no sample that is not wanted is used */
        bm_patch_merge(&t->p, &coarser,
                       check_below(state, 2) &&
                               bm_patch_window(&wanted, &t->p, k, &clip)
                           ? &wanted
                           : NULL,
                       merged);
        free(dense);
        dense = merged;
        samples.dense = dense;
    }
    if (check_below(state, 2)) { /* all samples in one array */
        uint8_t *merged = malloc(bm_patch_dense_bytes(&t->p, at) + 1);

        REQUIRE(merged);
        bm_patch_merge(&t->p, &samples, NULL, merged);
        free(dense);
        dense = merged;
        samples = (struct bm_patch_samples){at, NULL, dense};
    }
    bm_patch_give(&t->p, &samples, &clip, &to);
    free(dense);
    for (int64_t z = 0; z < n[0]; z++)
        for (int64_t y = 0; y < n[1]; y++)
            for (int64_t x = 0; x < n[2]; x++) {
                int64_t where[3] = {(to.first[0] + z) * unit,
                                    (to.first[1] + y) * unit,
                                    (to.first[2] + x) * unit};
                struct bm_box one = {
                    {where[0], where[1], where[2]},
                    {where[0] + 1, where[1] + 1, where[2] + 1}};
                uint8_t *p = to.array.data + z * to.array.stride[0] +
                             y * to.array.stride[1] + x * to.array.stride[2];

                if (bm_box_inside(&one, &t->p.box)) {
                    bad |= memcmp(p, field_at(f, where[0], where[1], where[2]),
                                  f->size * (size_t)components) != 0;
                    memset(p, MARK, f->sample);
                }
            }
    for (size_t i = 0; i <= bytes; i++)
        bad |= (memory[i] != MARK) << 1;
    CHECK_EQ(bad, 0);
    free(memory);
}

static void check_levels(const struct taken *t)
{
    size_t sum = 0;

    for (int k = 0; k < t->p.levels; k++) {
        uint64_t samples = 0, coarser = 0;

        for (int64_t z = t->p.box.lo[0]; z < t->p.box.hi[0]; z++)
            for (int64_t y = t->p.box.lo[1]; y < t->p.box.hi[1]; y++)
                for (int64_t x = t->p.box.lo[2]; x < t->p.box.hi[2]; x++) {
                    int64_t bits = z | y | x;

                    samples += bits % ((int64_t)1 << k) == 0;
                    coarser += bits % ((int64_t)2 << k) == 0;
                }
        if (k == t->p.levels - 1)
            coarser = 0;
        CHECK_EQ(t->p.values[k], samples - coarser);
        CHECK_EQ(bm_patch_level_bytes(&t->p, k),
                 (samples - coarser) * t->p.size * (size_t)t->p.components);
        sum += bm_patch_level_bytes(&t->p, k);
    }
    CHECK_EQ(bm_patch_bytes(&t->p), sum); /* each sample is stored once */
}

static void check_ranges(const struct taken *t, const struct field *f)
{
    struct bm_range got[8];
    bouma_type type = f->variable->type;

    bm_patch_ranges(&t->p, type, t->level, got);
    for (int c = 0; c < f->variable->components; c++) {
        struct bm_range slow;

        memset(&slow, 0, sizeof(slow));
        for (int64_t z = t->p.box.lo[0]; z < t->p.box.hi[0]; z++)
            for (int64_t y = t->p.box.lo[1]; y < t->p.box.hi[1]; y++)
                for (int64_t x = t->p.box.lo[2]; x < t->p.box.hi[2]; x++)
                    bm_range_add(&slow, type,
                                 field_at(f, z, y, x) + (size_t)c * f->size, 1);
        CHECK(bm_range_equal(&got[c], &slow, type));
    }
}

static void patches_give_every_level_of_every_box(void)
{
    uint64_t state = 34;

    for (int tries = 0; tries < 1500; tries++) {
        struct taken t;
        struct field f;

        random_field(&f, &state);
        take(&t, &f, check_below(&state, bm_tiling_of(f.grid)->patches),
             &state);
        check_levels(&t);
        check_ranges(&t, &f);
        for (int at = 0; at < t.p.levels; at++)
            for (int i = 0; i < 3; i++)
                check_give(&t, &f, at, &state);
        drop(&t);
        release_field(&f);
    }
}

/* ---- callers' memory ---------------------------------------------------- */

static void memory_is_lifted(void)
{
    bouma_grid_spec g = {.size = sizeof(g), .ndims = 2, .shape = {8, 8}};
    bouma_variable_spec v = {
        .size = sizeof(v), .type = BOUMA_TYPE_F32, .components = 3};
    bouma_array given = {.stride = {-400, 12}, .component_stride = 4};
    bouma_array zero = {.size = sizeof(zero)};
    struct bm_array a = {.type = BOUMA_TYPE_F32};
    int64_t shape[3] = {1, 5, 7};
    struct bouma_variable *variable;
    struct bm_error error = {0};
    struct bm_object *grid;
    struct bm_schema s;

    bm_schema_init(&s, bm_allocator_default(), &error);
    REQUIRE(!bm_schema_add_grid(&s, &grid, "g", &g));
    REQUIRE(!bm_schema_add_variable(grid, &variable, "v", &v));
    bm_array_lay_out(&a, NULL, variable, shape);
    CHECK(a.stride[2] == 12 && a.stride[1] == 84 && a.component_stride == 4);
    bm_array_lay_out(&a, &zero, variable, shape);
    CHECK(a.stride[2] == 12 && a.stride[1] == 84 && a.component_stride == 4);
    bm_array_lay_out(&a, &given, variable, shape);
    CHECK(a.stride[2] == 12 && a.stride[1] == -400 && a.component_stride == 4);
    bm_schema_release(&s);
}

int main(void)
{
    patches_give_every_level_of_every_box();
    memory_is_lifted();
    return check_result();
}
