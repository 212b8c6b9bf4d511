/* Files as they are written with assign=optimal: the largest is as small as any
 * way to cut the chunks into so many runs could make it, tables and all, but
 * for the zeros that align the data. */
#include "arrays.h"
#include "layout/grid_patch.h"
#include "must.h"
#include "read/read.h"

enum { MOST_CHUNKS = 400, GRIDS = 2, VARIABLES = 3 };

/* A chunk as it was stored. */
struct stored {
    struct bouma_variable *variable;
    uint64_t key;
    uint32_t sizes[BM_MAX_LEVELS];
};

struct trial {
    bouma_io *io;
    bouma_dataset *ds;
    bouma_step *step;
    struct stored chunks[MOST_CHUNKS];
    size_t count;
    int64_t files;
    uint64_t largest;
};

/* Noise in one corner, the same number elsewhere: chunks differ in size. */
static void fill(uint8_t *data, const int64_t shape[3], size_t size,
                 uint64_t *state)
{
    size_t n = 0;

    for (int64_t z = 0; z < shape[0]; z++)
        for (int64_t y = 0; y < shape[1]; y++)
            for (int64_t x = 0; x < shape[2]; x++)
                for (size_t b = 0; b < size; b++, n++)
                    data[n] = 3 * z < shape[0] && 2 * x < shape[2]
                                  ? (uint8_t)check_random(state)
                                  : 1;
}

static void write_grids(bouma_dataset *ds, uint64_t *state, bouma_codec codec,
                        uint8_t *data[GRIDS * VARIABLES])
{
    static const bouma_type types[3] = {BOUMA_TYPE_U8, BOUMA_TYPE_I16,
                                        BOUMA_TYPE_I64};
    int grids = 1 + (int)check_below(state, GRIDS);

    for (int g = 0; g < grids; g++) {
        bouma_grid_spec spec = {.size = sizeof(spec), .ndims = 3};
        int variables = 1 + (int)check_below(state, VARIABLES);
        bouma_variable *v[VARIABLES];
        bouma_grid *grid;
        char name[8] = {(char)('a' + g), 0};

        for (int d = 0; d < 3; d++) {
            spec.shape[d] = 1 + check_below(state, 24);
            spec.patch[d] = 8;
        }
        MUST(ds, bouma_grid_define(&grid, ds, name, &spec));
        for (int i = 0; i < variables; i++) {
            bouma_variable_spec about = {.size = sizeof(about),
                                         .type = types[check_below(state, 3)],
                                         .components = 1,
                                         .codec = codec};

            name[0] = (char)('p' + i);
            MUST(ds, bouma_variable_define(&v[i], grid, name, &about));
        }
        for (int i = 0; i < variables; i++) {
            bouma_variable_info about = {.size = sizeof(about)};
            bouma_box all = {{0}, {0}};
            size_t size;

            bouma_variable_info_get(&about, v[i]);
            size = bouma_type_size(about.type);
            memcpy(all.hi, spec.shape, sizeof(spec.shape));
            data[g * VARIABLES + i] =
                malloc(size * (size_t)(all.hi[0] * all.hi[1] * all.hi[2]));
            fill(data[g * VARIABLES + i], spec.shape, size, state);
        }
        if (g == grids - 1)
            MUST(ds, bouma_step_begin(ds, 0, 0));
    }
}

/* Every variable as a whole. */
static void put_all(bouma_dataset *ds, uint8_t *data[GRIDS * VARIABLES])
{
    for (int g = 0; g < ds->schema.count; g++)
        for (int i = 0; i < ds->schema.objects[g]->count; i++) {
            struct bm_object *grid = ds->schema.objects[g];
            bouma_box all = {{0}, {0}};

            memcpy(all.hi, bm_tiling_of(grid)->shape, sizeof(all.hi));
            MUST(ds,
                 test_put(grid->variables[i], &all, data[g * VARIABLES + i]));
        }
}

static uint64_t zeros_of(const struct bm_head *h)
{
    return h->data_offset - h->head_bytes;
}

/* The chunks of all files, in the order of the step. */
static void list_chunks(struct trial *t)
{
    t->count = 0;
    t->largest = 0;
    t->files = (int64_t)t->step->manifest.count;
    for (int g = 0; g < t->step->schema.count; g++) {
        struct bm_object *grid = t->step->schema.objects[g];
        int64_t order[MOST_CHUNKS];

        REQUIRE(bm_tiling_of(grid)->patches * grid->count <= MOST_CHUNKS);
        bm_tiling_order(bm_tiling_of(grid), order);
        for (int64_t p = 0; p < bm_tiling_of(grid)->patches; p++)
            for (int i = 0; i < grid->count; i++) {
                REQUIRE(t->count < MOST_CHUNKS);
                t->chunks[t->count++] = (struct stored){
                    .variable = grid->variables[i],
                    .key = bm_tiling_key(bm_tiling_of(grid), order[p])};
            }
    }
    for (int64_t f = 0; f < t->files; f++) {
        struct bm_source *source;
        uint64_t bytes;

        MUST(t->ds, bm_step_source(t->step, (size_t)f, &source));
        bytes = source->head.file_bytes - zeros_of(&source->head);
        t->largest = bytes > t->largest ? bytes : t->largest;
        for (size_t i = 0; i < t->count; i++) {
            struct stored *c = &t->chunks[i];
            const struct bm_section *s =
                bm_head_section(&source->head, c->variable->id);
            size_t at = 0;
            int found = s && bm_section_common(s, &c->key, 1, &at) == 1;

            for (int k = 0; found && k < s->levels; k++)
                c->sizes[k] = s->sizes[at * (size_t)s->levels + (size_t)k];
        }
    }
}

/* The bytes of a file of these chunks, by the head that it would have. */
static uint64_t file_of(const struct trial *t, size_t from, size_t to)
{
    struct bm_head h;
    uint64_t bytes;

    bm_head_init(&h, bm_allocator_default());
    h.order = BOUMA_ORDER_LEVEL;
    for (uint32_t v = 0; v < t->step->schema.variables; v++) {
        struct bouma_variable *variable = t->step->schema.by_id[v];
        struct bm_section *s;
        size_t n = 0;

        for (size_t i = from; i < to; i++)
            n += t->chunks[i].variable == variable;
        if (!n)
            continue;
        REQUIRE(!bm_head_add_section(&h, variable, n));
        s = &h.sections[h.count - 1];
        n = 0;
        for (size_t i = from; i < to; i++) {
            if (t->chunks[i].variable != variable)
                continue;
            s->keys[n] = t->chunks[i].key;
            memcpy(s->sizes + n++ * (size_t)s->levels, t->chunks[i].sizes,
                   (size_t)s->levels * sizeof(uint32_t));
        }
    }
    REQUIRE(!bm_head_arrange(&h, &t->step->schema));
    bytes = h.file_bytes - zeros_of(&h);
    bm_head_release(&h);
    return bytes;
}

/* Over all cuts: best[f][i] is for f files of the chunks from i on. */
static uint64_t least_largest(const struct trial *t)
{
    size_t n = t->count;
    uint64_t *best = malloc((n + 1) * sizeof(*best));
    uint64_t *cost = malloc((n + 1) * (n + 1) * sizeof(*cost)), least;

    REQUIRE(best && cost);
    for (size_t i = 0; i < n; i++)
        for (size_t k = i + 1; k <= n; k++)
            cost[i * (n + 1) + k] = file_of(t, i, k);
    for (size_t i = 0; i < n; i++)
        best[i] = cost[i * (n + 1) + n];
    best[n] = UINT64_MAX;
    for (int64_t f = 1; f < t->files; f++)
        for (size_t i = 0; i < n; i++) {
            uint64_t value = UINT64_MAX;

            for (size_t k = i + 1; k < n; k++) {
                uint64_t own = cost[i * (n + 1) + k];
                uint64_t worst = own > best[k] ? own : best[k];

                value = worst < value ? worst : value;
            }
            best[i] = value; /* later ones are still those of f files */
        }
    least = best[0];
    free(best);
    free(cost);
    return least;
}

static void the_largest_file_is_as_small_as_it_can_be(void)
{
    uint64_t state = 31;

    for (int tries = 0; tries < 60; tries++) {
        static struct trial t;
        uint8_t *data[GRIDS * VARIABLES] = {NULL};
        bouma_options opts = {.size = sizeof(opts)};

        t.io = bouma_io_memory_new();
        opts.io = t.io;
        opts.durability = BOUMA_DURABILITY_FAST;
        opts.assign = BOUMA_ASSIGN_OPTIMAL;
        opts.files = 1 + (int)check_below(&state, 7);
        MUST(t.ds, bouma_dataset_create(&t.ds, "a.bouma", &opts));
        write_grids(t.ds, &state,
                    tries % 3 ? BOUMA_CODEC_ZSTD : BOUMA_CODEC_RAW, data);
        put_all(t.ds, data);
        MUST(t.ds, bouma_step_end(t.ds));
        MUST(t.ds, bouma_dataset_close(t.ds));
        bouma_dataset_free(t.ds);
        MUST(t.ds, bouma_dataset_open(&t.ds, "a.bouma", &opts));
        MUST(t.ds, bouma_step_open(&t.step, t.ds, 0));
        list_chunks(&t);
        if (t.count <= 80)
            CHECK_EQ(t.largest, least_largest(&t));
        bouma_step_free(t.step);
        bouma_dataset_free(t.ds);
        bouma_io_memory_free(t.io);
        for (int i = 0; i < GRIDS * VARIABLES; i++)
            free(data[i]);
    }
}

int main(void)
{
    the_largest_file_is_as_small_as_it_can_be();
    return check_result();
}
