/* test_memory_limit.c -- a small file can claim large content (a bomb): with
 * the option memory_limit, no allocation for it goes beyond, whatever is done
 * with the dataset. */
#include <pthread.h>

#include "../helpers/arrays.h"
#include "../helpers/check.h"
#include "bouma.h"

enum { ROWS = 512, COLUMNS = 1024, LIMIT = 1 << 20 };

#define PATH "bomb.bouma"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* An allocator that records the largest block it was asked for. */
static void *resize(void *user, void *block, size_t bytes)
{
    size_t *largest = user;

    pthread_mutex_lock(&lock);
    if (bytes > *largest)
        *largest = bytes;
    pthread_mutex_unlock(&lock);
    return realloc(block, bytes);
}

static void release(void *user, void *block)
{
    (void)user;
    free(block);
}

static double zeros[ROWS][COLUMNS];

/* 4 MiB of zeros in one patch: a few hundred bytes with zstd. */
static const bouma_grid_spec large = {.size = sizeof(large),
                                      .ndims = 2,
                                      .shape = {ROWS, COLUMNS},
                                      .patch = {ROWS, COLUMNS},
                                      .levels = 2};
/* Four samples, in a block along the curve that is filled up to as many. */
static const bouma_grid_spec filled = {.size = sizeof(filled),
                                       .ndims = 2,
                                       .shape = {2, 2},
                                       .layout = BOUMA_LAYOUT_HZ,
                                       .hz_template = "yxyxyxyxyxyxyxyxyxx",
                                       .hz_block_bits = 19,
                                       .hz_order = BOUMA_HZ_ORDER_CURVE};

static void write_bomb(const bouma_options *options,
                       const bouma_grid_spec *shape)
{
    bouma_variable_spec kind = {.size = sizeof(kind), .type = BOUMA_TYPE_F64};
    bouma_dataset *ds;
    bouma_variable *v;
    bouma_grid *g;

    REQUIRE(!bouma_dataset_create(&ds, PATH, options));
    REQUIRE(!bouma_grid_define(&g, ds, "g", shape));
    REQUIRE(!bouma_variable_define(&v, g, "v", &kind));
    REQUIRE(!bouma_step_begin(ds, 0, 0));
    REQUIRE(!test_put(v, NULL, zeros));
    REQUIRE(!bouma_step_end(ds));
    REQUIRE(!bouma_dataset_close(ds));
    bouma_dataset_free(ds);
}

static void a_read_keeps_to_the_limit(const bouma_options *options)
{
    bouma_box corner = {.hi = {2, 2}};
    bouma_refinement *refinement;
    bouma_request request;
    bouma_array to;
    bouma_dataset *ds;
    bouma_variable *v;
    bouma_step *step;
    double room[4];

    REQUIRE(!bouma_dataset_open(&ds, PATH, options));
    REQUIRE(!bouma_step_open(&step, ds, 0));
    v = bouma_grid_find_variable(bouma_step_find_grid(step, "g"), "v");
    REQUIRE(v);
    CHECK_EQ(test_read(v, 0, &corner, room), BOUMA_ELIMIT);
    CHECK_TEXT(bouma_error_message(ds), "limit");
    to = test_array(v, room);
    request = (bouma_request){sizeof(request), v, 0, corner, &to};
    CHECK_EQ(bouma_step_read(step, &request, 1), BOUMA_ELIMIT);
    CHECK_EQ(bouma_refinement_open(&refinement, v, 0, &corner), BOUMA_ELIMIT);
    bouma_refinement_free(refinement);
    bouma_step_free(step);
    bouma_dataset_free(ds);
}

static void verify_and_repair_keep_to_the_limit(const bouma_options *options)
{
    bouma_verify_report verified = {.size = sizeof(verified)};
    bouma_repair_report repaired = {.size = sizeof(repaired)};
    char message[640];

    CHECK_EQ(bouma_verify(&verified, PATH, BOUMA_DEPTH_FULL, options, NULL,
                          NULL, message, sizeof(message)),
             BOUMA_OK);
    CHECK_EQ(verified.damages, 0);
    /* What cannot be decoded must be told, one way or the other. */
    CHECK(bouma_verify(&verified, PATH, BOUMA_DEPTH_DEEP, options, NULL, NULL,
                       message, sizeof(message)) ||
          verified.damages || verified.notes);
    CHECK_EQ(bouma_repair(&repaired, PATH, 0, options, NULL, NULL, message,
                          sizeof(message)),
             BOUMA_OK);
}

/* ---- many things that each keep to it ------------------------------------ */

#define MANY "many.bouma"

static int count_patch(void *user, const bouma_patch_info *patch, int level,
                       const bouma_selection *selection, const void *samples)
{
    (void)patch;
    (void)level;
    CHECK_EQ(selection->bytes, (uint64_t)LIMIT / 2);
    CHECK(((const double *)samples)[0] == 0);
    ++*(int *)user;
    return 0;
}

/* Eight patches of half the limit, and steps whose list is large. */
static void write_many(const bouma_options *options)
{
    bouma_grid_spec shape = {.size = sizeof(shape),
                             .ndims = 2,
                             .shape = {ROWS, COLUMNS},
                             .patch = {ROWS / 2, COLUMNS / 4},
                             .levels = 1};
    bouma_variable_spec kind = {.size = sizeof(kind), .type = BOUMA_TYPE_F64};
    bouma_dataset *ds;
    bouma_variable *v;
    bouma_grid *g;

    REQUIRE(!bouma_dataset_create(&ds, MANY, options));
    REQUIRE(!bouma_grid_define(&g, ds, "g", &shape));
    REQUIRE(!bouma_variable_define(&v, g, "v", &kind));
    for (int i = 0; i < 200; i++) {
        REQUIRE(!bouma_step_begin(ds, i, 0));
        if (!i)
            REQUIRE(!test_put(v, NULL, zeros));
        REQUIRE(!bouma_step_end(ds));
    }
    REQUIRE(!bouma_dataset_close(ds));
    bouma_dataset_free(ds);
}

/* Patches that are decoded at once lie side by side. */
static void threads_together_keep_to_the_limit(const bouma_options *given)
{
    bouma_options options = *given;
    bouma_patch_query query = {.size = sizeof(query), .each = count_patch};
    bouma_dataset *ds;
    bouma_variable *v;
    bouma_step *step;
    int calls = 0;

    query.user = &calls;
    options.threads = 4;
    REQUIRE(!bouma_dataset_open(&ds, MANY, &options));
    REQUIRE(!bouma_step_open(&step, ds, 0));
    v = bouma_grid_find_variable(bouma_step_find_grid(step, "g"), "v");
    REQUIRE(v);
    CHECK_EQ(bouma_variable_query(v, &query), BOUMA_OK);
    CHECK_EQ(calls, 8);
    bouma_step_free(step);
    bouma_dataset_free(ds);
}

/* Who writes needs the list of steps at once; without the index it is made from
 * directories, and that is told. */
static void an_open_keeps_to_the_limit(const bouma_options *given)
{
    bouma_options options = *given;
    bouma_dataset *ds;

    options.memory_limit = 5000;
    REQUIRE(!bouma_dataset_append(&ds, MANY, &options));
    CHECK(bouma_dataset_note(ds, 0));
    if (bouma_dataset_note(ds, 0))
        CHECK_TEXT(bouma_dataset_note(ds, 0), "memory_limit");
    CHECK_EQ(bouma_dataset_step_count(ds), 200);
    CHECK_EQ(bouma_dataset_close(ds), BOUMA_OK);
    bouma_dataset_free(ds);
}

int main(void)
{
    size_t largest = 0;
    bouma_allocator allocator = {sizeof(allocator), &largest, resize, release};
    bouma_io *io = bouma_io_memory_new();
    bouma_options options = {.size = sizeof(options)};

    REQUIRE(io);
    options.io = io;
    write_many(&options);
    for (int i = 0; i < 2; i++) {
        options.allocator = NULL;
        options.memory_limit = 0;
        options.clobber = i;
        write_bomb(&options, i ? &filled : &large);
        options.clobber = 0;
        options.allocator = &allocator;
        options.memory_limit = LIMIT;
        largest = 0;
        a_read_keeps_to_the_limit(&options);
        CHECK(largest <= LIMIT);
        largest = 0;
        verify_and_repair_keep_to_the_limit(&options);
        CHECK(largest <= LIMIT);
    }
    if (largest <= LIMIT)
        threads_together_keep_to_the_limit(&options);
    CHECK(largest <= LIMIT);
    if (largest > LIMIT)
        printf("the largest allocation was of %zu bytes\n", largest);
    an_open_keeps_to_the_limit(&options);
    bouma_io_memory_free(io);
    return check_result();
}
