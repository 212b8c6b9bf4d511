/* Structs say their size. A newer program's are longer, and taken if they end in
 * zeros; an older one's are shorter. A size that no struct has was never set:
 * then nothing is read by it. */
#include "arrays.h"
#include "check.h"
#include "must.h"
#include "tells.h"

enum { SAMPLES = 8, UNSET = 1 << 17 };

static bouma_io *io;

static bouma_options memory_options(void)
{
    bouma_options o = {.size = sizeof(o)};

    o.io = io;
    return o;
}

/* Zeros for two elements of an array, at a distance that no struct has. */
static void *zeros(void)
{
    void *room = calloc(3, UNSET);

    REQUIRE(room);
    return room;
}

/* A step with a grid, and one with particles. */
static bouma_dataset *written(const char *path, bouma_step **step)
{
    bouma_options o = memory_options();
    bouma_grid_spec shape = {
        .size = sizeof(shape), .ndims = 1, .shape = {SAMPLES}};
    bouma_variable_spec kind = {.size = sizeof(kind), .type = BOUMA_TYPE_F64};
    double samples[SAMPLES] = {0, 1, 2, 3, 4, 5, 6, 7};
    bouma_dataset *ds;
    bouma_variable *v;
    bouma_grid *grid;

    MUST(ds, bouma_dataset_create(&ds, path, &o));
    MUST(ds, bouma_grid_define(&grid, ds, "g", &shape));
    MUST(ds, bouma_variable_define(&v, grid, "v", &kind));
    MUST(ds, bouma_step_begin(ds, 0, 0));
    MUST(ds, test_put(v, NULL, samples));
    MUST(ds, bouma_step_end(ds));
    MUST(ds, bouma_step_open(step, ds, 0));
    return ds;
}

static bouma_variable *variable_of(bouma_step *step)
{
    return bouma_grid_find_variable(bouma_step_find_grid(step, "g"), "v");
}

static int count_patch(void *user, const bouma_patch_info *patch, int level,
                       const bouma_selection *selection, const void *samples)
{
    (void)patch;
    (void)level;
    (void)selection;
    (void)samples;
    ++*(int *)user;
    return 0;
}

/* ---- claims ------------------------------------------------------------- */

static void queries_of_other_versions_are_taken(void)
{
    struct {
        bouma_patch_query query;
        unsigned char more[16];
    } newer;
    int calls = 0;
    bouma_step *step;
    bouma_dataset *ds = written("query", &step);
    bouma_variable *v = variable_of(step);

    memset(&newer, 0, sizeof(newer));
    newer.query = (bouma_patch_query){
        .size = sizeof(newer), .each = count_patch, .user = &calls};
    CHECK_EQ(bouma_variable_query(v, &newer.query), BOUMA_OK);
    CHECK_EQ(calls, 1);
    newer.more[9] = 1;
    TELLS(ds, bouma_variable_query(v, &newer.query), BOUMA_EINVAL,
          "newer version");
    newer.query.size = 0;
    TELLS(ds, bouma_variable_query(v, &newer.query), BOUMA_EINVAL,
          "'size' is not set");
    newer.query = (bouma_patch_query){.size = sizeof(newer.query)};
    TELLS(ds, bouma_variable_query(v, &newer.query), BOUMA_EINVAL, "'each'");
    CHECK_EQ(calls, 1);
    bouma_step_free(step);
    bouma_dataset_free(ds);
}

static void a_codec_is_asked_for_with_a_size(void)
{
    bouma_variable_spec spec = {.size = sizeof(spec), .tolerance = 0.5};

    CHECK_EQ(bouma_grid_codec(&spec), BOUMA_CODEC_INTERP);
    spec.size = 0;
    CHECK_EQ(bouma_grid_codec(&spec), 0);
    spec.size = offsetof(bouma_variable_spec, tolerance); /* there was none */
    CHECK_EQ(bouma_grid_codec(&spec), BOUMA_CODEC_ZSTD);
}

static void a_size_beyond_all_structs_is_not_set(void)
{
    bouma_grid_spec shape = {.size = UNSET, .ndims = 1, .shape = {SAMPLES}};
    void *room = zeros();
    bouma_step *step;
    bouma_dataset *ds = written("beyond", &step);
    bouma_grid *grid;

    memcpy(room, &shape, sizeof(shape));
    TELLS(ds, bouma_grid_define(&grid, ds, "large", room), BOUMA_EINVAL,
          "'size' is not set");
    bouma_step_free(step);
    bouma_dataset_free(ds);
    free(room);
}

/* They are found by it. */
static void nor_is_that_of_elements(void)
{
    double out[SAMPLES];
    bouma_array array = BOUMA_ARRAY(BOUMA_TYPE_F64, out, sizeof(out));
    unsigned char *room = zeros();
    bouma_step *step;
    bouma_dataset *ds = written("elements", &step);
    bouma_request request = {.size = UNSET,
                             .variable = variable_of(step),
                             .box = {.hi = {SAMPLES}},
                             .array = &array};

    memcpy(room, &request, sizeof(request));
    memcpy(room + UNSET, &request, sizeof(request));
    TELLS(ds,
          bouma_step_read(step, (const bouma_request *)(const void *)room, 2),
          BOUMA_EINVAL, "'size' is not set");
    request.size = SIZE_MAX - 7; /* not even looked for */
    memcpy(room + UNSET, &request, sizeof(request));
    TELLS(ds,
          bouma_step_read(
              step, (const bouma_request *)(const void *)(room + UNSET), 2),
          BOUMA_EINVAL, "'size' is not set");
    request.size = sizeof(request);
    MUST(ds, bouma_step_read(step, &request, 1));
    CHECK(out[7] == 7);
    bouma_step_free(step);
    bouma_dataset_free(ds);
    free(room);
}

static void *resize(void *user, void *block, size_t bytes)
{
    ++*(int *)user;
    return realloc(block, bytes);
}

static void release(void *user, void *block)
{
    (void)user;
    free(block);
}

/* A table of another size may have its functions elsewhere. */
static void an_allocator_of_another_size_is_not_called(void)
{
    int calls = 0;
    bouma_allocator memory = {sizeof(memory), &calls, resize, release};
    bouma_options o = memory_options();
    bouma_dataset *ds;

    o.allocator = &memory;
    MUST(ds, bouma_dataset_create(&ds, "memory", &o));
    bouma_dataset_free(ds);
    CHECK(calls > 0);
    calls = 0;
    memory.size = 0;
    CHECK_EQ(bouma_dataset_create(&ds, "other", &o), BOUMA_EINVAL);
    CHECK_TEXT(bouma_error_message(ds), "'allocator' has a table of 0 bytes");
    bouma_dataset_free(ds);
    CHECK_EQ(calls, 0);
}

int main(void)
{
    io = bouma_io_memory_new();
    REQUIRE(io);
    queries_of_other_versions_are_taken();
    a_codec_is_asked_for_with_a_size();
    a_size_beyond_all_structs_is_not_set();
    nor_is_that_of_elements();
    an_allocator_of_another_size_is_not_called();
    bouma_io_memory_free(io);
    return check_result();
}
