/* test_mpi_place.c -- whoever gathers a file, by cost on whatever machine or
 * among its senders: the files are those that other schemes write, and bytes take the ways that the
 * plan says. */
#include "blocks.h"

#include <unistd.h>

#include "../helpers/check.h"

static const char *const machines[] = {"", "flat", "torus:2x2x2,per=1",
                                       "torus:5x3,per=2", "torus:1x8,per=1"};
enum { MACHINES = sizeof(machines) / sizeof(machines[0]), STEPS = 2 };

static const struct field field = {BOUMA_TYPE_F32, 1, 3, {24, 20, 28}, 9};
static const bouma_grid_spec grid = {.size = sizeof(bouma_grid_spec),
                                     .ndims = 3,
                                     .shape = {24, 20, 28},
                                     .patch = {8, 8, 8}};

static bouma_options options_of(int files, bouma_place place,
                                const char *machine)
{
    bouma_options o = {.size = sizeof(o)};

    o.durability = BOUMA_DURABILITY_FAST;
    o.files = files;
    o.place = place;
    o.machine = machine;
    memcpy(o.id, "sixteen letters.", 16);
    return o;
}

/* Two steps of blocks that are cut in one way, with codecs whose sizes are
 * known beforehand and which are not. */
static void write_blocks(const struct ranks *r, const char *path,
                         const bouma_options *opts, enum cut cut,
                         bouma_codec codec)
{
    bouma_variable_spec kind = {
        .size = sizeof(kind), .type = field.type, .codec = codec};
    uint64_t shared = 5, own = (uint64_t)r->rank;
    struct cutting cutting;
    bouma_dataset *ds;
    bouma_variable *v;
    bouma_grid *g;
    int rc = bouma_dataset_create_mpi(&ds, MPI_COMM_WORLD, path, opts);

    if (rc)
        printf("%s\n", bouma_error_message(ds));
    REQUIRE(!rc);
    CHECK_EQ(bouma_grid_define(&g, ds, "g", &grid), BOUMA_OK);
    CHECK_EQ(bouma_variable_define(&v, g, "v", &kind), BOUMA_OK);
    cutting_make(&cutting, cut, &field, r->size, &shared);
    for (int step = 0; step < STEPS; step++) {
        struct puts puts;

        CHECK_EQ(bouma_step_begin(ds, step, 0), BOUMA_OK);
        CHECK_EQ(puts_make(&puts, v, &field, &cutting, step, &own), BOUMA_OK);
        CHECK_EQ(bouma_step_end(ds), BOUMA_OK);
        CHECK_EQ(puts_free(&puts), 0);
    }
    CHECK_EQ(bouma_dataset_close(ds), BOUMA_OK);
    bouma_dataset_free(ds);
}

static void files_are_those_of_other_schemes(const struct ranks *r)
{
    char chosen[512], spread[512];

    for (int n = 0; n < MACHINES * 8; n++) {
        bouma_codec codec = n % 2 ? BOUMA_CODEC_RAW : BOUMA_CODEC_ZSTD;
        enum cut cut = (enum cut)(n % CUTS);
        int files = n % 3 == 2 ? 11 : n % 3 + 1;
        bouma_place place =
            n < MACHINES * 4 ? BOUMA_PLACE_COST : BOUMA_PLACE_LOCAL;
        bouma_options o = options_of(files, place, machines[n % MACHINES]);

        write_blocks(r, path_in(r, chosen, "chosen", n), &o, cut, codec);
        o = options_of(files, BOUMA_PLACE_SPREAD, "");
        write_blocks(r, path_in(r, spread, "spread", n), &o, cut, codec);
        if (r->rank)
            continue;
        for (int step = 0; step < STEPS; step++) {
            CHECK_EQ(wrong_on_disk(chosen, step, "v", &field), 0);
            CHECK(same_subfiles(chosen, spread, step));
        }
        remove_tree(chosen);
        remove_tree(spread);
    }
}

/* Rank 0 reads the file, and tells the others. */
static void a_machine_file_is_read_once_for_all(const struct ranks *r)
{
    static const char text[] = "machine 1\nnetwork torus:3x3,per=1\n"
                               "tier hbm bandwidth 400GB/s capacity 1G\n";
    char file[512], path[512];
    bouma_options o;

    path_in(r, file, "machine", 0);
    if (r->rank == 0) {
        FILE *f = fopen(file, "w");

        REQUIRE(f && fputs(text, f) >= 0 && !fclose(f));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    o = options_of(4, BOUMA_PLACE_COST, file);
    write_blocks(r, path_in(r, path, "from_file", 0), &o, CUT_BLOCKS,
                 BOUMA_CODEC_ZSTD);
    if (r->rank == 0)
        CHECK_EQ(wrong_on_disk(path, 0, "v", &field), 0);
}

/* A machine that cannot be: all ranks hear why, and nothing is made. */
static void wrong_machines_are_refused_by_all(const struct ranks *r)
{
    static const struct {
        const char *machine;
        int status;
        const char *part;
    } wrong[] = {{"torus:8x", BOUMA_EINVAL, "torus:8x"},
                 {"torus:1x1,per=0", BOUMA_EINVAL, "per"},
                 {"./no/such/file", BOUMA_ENOTFOUND, "./no/such/file"}};

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        bouma_options o = options_of(1, BOUMA_PLACE_COST, wrong[i].machine);
        bouma_dataset *ds;
        char path[512];
        int rc = bouma_dataset_create_mpi(
            &ds, MPI_COMM_WORLD, path_in(r, path, "wrong", (int64_t)i), &o);

        CHECK_EQ(rc, wrong[i].status);
        CHECK(same_on_all(rc, bouma_error_message(ds)));
        CHECK_TEXT(bouma_error_message(ds), wrong[i].part);
        CHECK(access(path, F_OK) != 0);
        bouma_dataset_free(ds);
        /* It counts for more than the option 'place'. */
        o.place = BOUMA_PLACE_SPREAD;
        CHECK_EQ(bouma_dataset_create_mpi(&ds, MPI_COMM_WORLD, path, &o),
                 wrong[i].status);
        bouma_dataset_free(ds);
    }
}

int main(int argc, char **argv)
{
    struct ranks r;

    ranks_init(&r, &argc, &argv);
    files_are_those_of_other_schemes(&r);
    a_machine_file_is_read_once_for_all(&r);
    wrong_machines_are_refused_by_all(&r);
    return ranks_end(&r, check_counts()->failed, check_counts()->checks);
}
