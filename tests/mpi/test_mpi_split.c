/* test_mpi_split.c -- messages of a few bytes and rounds of a few chunks: the
 * paths that large data takes, with small data. */
#include "../helpers/arrays.h"
#include "blocks.h"

#include "../helpers/check.h"
#include "sized.h"

enum { FIELDS = 2 };

static const char *const names[FIELDS] = {"a", "b"};

struct limits {
    uint64_t message_bytes, buffer_bytes;
};

static void write_it(const struct ranks *r, const char *path,
                     const bouma_options *options, const struct field *fields,
                     bouma_codec codec)
{
    bouma_grid_spec spec = {
        .size = sizeof(spec), .ndims = 2, .patch = {8, 4}, .levels = 3};
    uint64_t shared = options->message_bytes, own = shared + 7;
    struct puts puts[FIELDS];
    bouma_record record = {.size = sizeof(record)};
    bouma_dataset *ds;
    bouma_grid *g;
    int rc;

    memcpy(spec.shape, fields[0].shape, sizeof(fields[0].shape));
    CHECK_EQ(bouma_dataset_create_mpi(&ds, MPI_COMM_WORLD, path, options),
             BOUMA_OK);
    /* Texts that are longer than a message. */
    CHECK_EQ(bouma_attributes_set_text(bouma_dataset_attributes(ds), "purpose",
                                       "a text that is longer than messages"),
             BOUMA_OK);
    CHECK_EQ(bouma_grid_define(&g, ds, "g", &spec), BOUMA_OK);
    CHECK_EQ(bouma_step_begin(ds, 1, 2), BOUMA_OK);
    for (int i = 0; i < FIELDS; i++) {
        bouma_variable_spec kind = {.size = sizeof(kind),
                                    .type = fields[i].type,
                                    .components = fields[i].components,
                                    .codec = codec};
        struct cutting cutting;
        bouma_variable *v;

        CHECK_EQ(bouma_variable_define(&v, g, names[i], &kind), BOUMA_OK);
        cutting_make(&cutting, CUT_BISECTION, &fields[i], r->size, &shared);
        CHECK_EQ(puts_make(&puts[i], v, &fields[i], &cutting, 1, &own),
                 BOUMA_OK);
    }
    rc = end_step(&record, ds);
    if (rc)
        printf("%s\n", bouma_error_message(ds));
    CHECK_EQ(rc, BOUMA_OK);
    for (int i = 0; i < FIELDS; i++)
        CHECK_EQ(puts_free(&puts[i]), 0);
    CHECK_EQ(bouma_dataset_close(ds), BOUMA_OK);
    bouma_dataset_free(ds);
}

/* Every rank reads everything, so that most of it comes by message. */
static void read_it(const char *path, const bouma_options *options,
                    const struct field *fields)
{
    bouma_request requests[FIELDS];
    bouma_array arrays[FIELDS];
    bouma_selection s[FIELDS];
    bouma_attribute text = {.size = sizeof(text)};
    bouma_dataset *ds;
    bouma_step *step;
    bouma_grid *g;

    CHECK_EQ(bouma_dataset_open_mpi(&ds, MPI_COMM_WORLD, path, options),
             BOUMA_OK);
    CHECK_EQ(
        bouma_attributes_find(&text, bouma_dataset_attributes(ds), "purpose"),
        BOUMA_OK);
    CHECK_TEXT((const char *)text.values, "longer than messages");
    CHECK_EQ(bouma_step_open(&step, ds, 1), BOUMA_OK);
    REQUIRE(step);
    g = bouma_step_find_grid(step, "g");
    for (int i = 0; i < FIELDS; i++) {
        memset(&requests[i], 0, sizeof(requests[i]));
        requests[i].size = sizeof(requests[i]);
        requests[i].variable = bouma_grid_find_variable(g, names[i]);
        requests[i].level = i;
        memcpy(requests[i].box.hi, fields[i].shape, sizeof(fields[i].shape));
        CHECK_EQ(
            bouma_variable_select(SIZED(&s[i]), requests[i].variable, i, NULL),
            BOUMA_OK);
        arrays[i] = test_array(requests[i].variable, malloc(s[i].bytes));
        arrays[i].bytes = s[i].bytes;
        requests[i].array = &arrays[i];
        REQUIRE(arrays[i].data);
    }
    CHECK_EQ(bouma_step_read(step, requests, FIELDS), BOUMA_OK);
    for (int i = 0; i < FIELDS; i++) {
        CHECK_EQ(field_wrong(&fields[i], &s[i], i, arrays[i].data, 1), 0);
        free(arrays[i].data);
    }
    bouma_step_free(step);
    bouma_dataset_free(ds);
}

static void any_limits_give_the_same_files(struct ranks *r)
{
    static const struct limits limits[] = {
        {0, 0}, {7, 1}, {0, 1}, {64, 3000}, {7, 0}, {3, 100}, {13, UINT64_MAX}};
    /* Many small messages between many ranks take their time. */
    int tries = r->size > 3 ? 4 : (int)(sizeof(limits) / sizeof(limits[0]));
    struct field fields[FIELDS] = {{BOUMA_TYPE_F64, 1, 2, {37, 29, 0}, 1},
                                   {BOUMA_TYPE_I16, 3, 2, {37, 29, 0}, 2}};

    for (int codec = 1; codec <= 2; codec++) {
        char first[512], path[512];

        for (int i = 0; i < tries; i++) {
            bouma_options options = {.size = sizeof(options)};

            options.message_bytes = limits[i].message_bytes;
            options.buffer_bytes = limits[i].buffer_bytes;
            options.durability = BOUMA_DURABILITY_FAST;
            options.files = 3;
            memcpy(options.id, "sixteen letters.", 16);
            path_in(r, path, codec == 1 ? "zstd" : "raw", i);
            write_it(r, path, &options, fields, (bouma_codec)codec);
            read_it(path, &options, fields);
            if (i == 0)
                memcpy(first, path, sizeof(first));
            if (r->rank != 0)
                continue;
            for (int k = 0; k < FIELDS; k++)
                CHECK_EQ(wrong_on_disk(path, 1, names[k], &fields[k]), 0);
            CHECK(same_subfiles(first, path, 1));
        }
    }
}

static void verify_divides_its_work_in_small_messages_too(struct ranks *r)
{
    bouma_verify_report report = {.size = sizeof(report)};
    bouma_options options = {.size = sizeof(options)};
    char path[512], message[256];

    options.message_bytes = 5;
    path_in(r, path, "zstd", 0);
    CHECK_EQ(bouma_verify_mpi(&report, MPI_COMM_WORLD, path, BOUMA_DEPTH_DEEP,
                              &options, NULL, NULL, message, sizeof(message)),
             BOUMA_OK);
    CHECK_EQ(report.damages, 0);
    CHECK_EQ(report.steps, 1);
    CHECK_EQ(report.files, 4);
    CHECK_EQ(report.chunks, 2 * 5 * 8);
}

int main(int argc, char **argv)
{
    struct ranks ranks;

    ranks_init(&ranks, &argc, &argv);
    any_limits_give_the_same_files(&ranks);
    verify_divides_its_work_in_small_messages_too(&ranks);
    return ranks_end(&ranks, check_counts()->failed, check_counts()->checks);
}
