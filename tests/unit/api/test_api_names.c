/* What few programs ask for: the texts of all choices, what codecs are like, the
 * table of POSIX file systems, the counts of a handle. */
#include <stdlib.h>
#include <unistd.h>

#include "arrays.h"
#include "bouma_lists.h"
#include "must.h"

/* Each choice has a text, which leads back to it; others have none. */
#define CHECK_CHOICES(kind, name_of, parse)                                    \
    do {                                                                       \
        int count = 0;                                                         \
        for (int i = 1; name_of((kind)i); i++, count++)                        \
            CHECK_EQ(parse(name_of((kind)i)), i);                              \
        CHECK(count > 1);                                                      \
        CHECK(!name_of((kind)0) && !name_of((kind)-1));                        \
        CHECK_EQ(parse("nonsense"), 0);                                        \
        CHECK_EQ(parse(NULL), 0);                                              \
    } while (0)

static void choices_have_texts(void)
{
    CHECK_CHOICES(bouma_durability, bouma_durability_name,
                  bouma_durability_parse);
    CHECK_CHOICES(bouma_distribute, bouma_distribute_name,
                  bouma_distribute_parse);
    CHECK_CHOICES(bouma_assign, bouma_assign_name, bouma_assign_parse);
    CHECK_CHOICES(bouma_place, bouma_place_name, bouma_place_parse);
    CHECK_CHOICES(bouma_order, bouma_order_name, bouma_order_parse);
    CHECK_CHOICES(bouma_layout, bouma_layout_name, bouma_layout_parse);
    CHECK_CHOICES(bouma_hz_order, bouma_hz_order_name, bouma_hz_order_parse);
    CHECK_CHOICES(bouma_hz_index, bouma_hz_index_name, bouma_hz_index_parse);
    CHECK_CHOICES(bouma_rank_order, bouma_rank_order_name,
                  bouma_rank_order_parse);
    CHECK_CHOICES(bouma_codec, bouma_codec_name, bouma_codec_parse);
    CHECK_CHOICES(bouma_tier, bouma_tier_name, bouma_tier_parse);
    CHECK_CHOICES(bouma_transport, bouma_transport_name, bouma_transport_parse);
    CHECK_CHOICES(bouma_predict, bouma_predict_name, bouma_predict_parse);
    CHECK_CHOICES(bouma_planning, bouma_planning_name, bouma_planning_parse);
}

static void codecs_tell_what_they_are_like(void)
{
    bouma_codec_info info = {.size = sizeof(info)};

    CHECK_EQ(bouma_codec_info_get(&info, BOUMA_CODEC_WAVELET), BOUMA_OK);
    CHECK(info.grids && !info.particles && info.tolerance && info.averages);
    CHECK_EQ(bouma_codec_info_get(&info, BOUMA_CODEC_QUANTISE), BOUMA_OK);
    CHECK(!info.grids && info.particles && info.tolerance && !info.averages);
    CHECK_EQ(bouma_codec_info_get(&info, BOUMA_CODEC_ZSTD), BOUMA_OK);
    CHECK(info.grids && info.particles && !info.tolerance && info.effort);
    CHECK_EQ(bouma_codec_info_get(&info, (bouma_codec)99), BOUMA_EINVAL);
}

static void posix_tells_of_its_directories(void)
{
    const bouma_io *io = bouma_io_posix();
    void *one, *again, *other;
    uint64_t bytes = 0;

    CHECK(io->concurrent);
    REQUIRE(!io->attach(io->user, &one, ".", 0));
    REQUIRE(!io->attach(io->user, &again, "./.", 0));
    REQUIRE(!io->attach(io->user, &other, "/", 0));
    CHECK(io->same(io->user, one, again));
    CHECK(!io->same(io->user, one, other));
    CHECK_EQ(io->block_bytes(io->user, one, &bytes), 0);
    CHECK(bytes > 0);
    io->detach(io->user, other);
    io->detach(io->user, again);
    io->detach(io->user, one);
}

static void handles_count_what_they_write(void)
{
    bouma_io *io = bouma_io_memory_new();
    bouma_grid_spec g = {.size = sizeof(g), .ndims = 1, .shape = {1000}};
    bouma_variable_spec spec = {
        .size = sizeof(spec), .type = BOUMA_TYPE_U8, .codec = BOUMA_CODEC_RAW};
    static uint8_t samples[1000];
    bouma_dataset_info info = {.size = sizeof(info)};
    bouma_variable *v;
    bouma_dataset *ds;
    bouma_grid *grid;
    bouma_options o = {.size = sizeof(o)};

    REQUIRE(io);
    o.io = io;
    MUST(ds, bouma_dataset_create(&ds, "d", &o));
    MUST(ds, bouma_grid_define(&grid, ds, "g", &g));
    MUST(ds, bouma_variable_define(&v, grid, "v", &spec));
    MUST(ds, bouma_step_begin(ds, 0, 0));
    MUST(ds, test_put(v, NULL, samples));
    MUST(ds, bouma_step_end(ds));
    MUST(ds, bouma_dataset_info_get(&info, ds));
    CHECK(info.bytes_written > 1000);
    MUST(ds, bouma_dataset_close(ds));
    bouma_dataset_free(ds);
    bouma_io_memory_free(io);
}

static void plans_tell_the_samples_of_a_rank(void)
{
    bouma_plan_spec spec = {
        .size = sizeof(spec), .ranks = 4, .ndims = 1, .shape = {100}};
    char message[200] = "";
    bouma_plan_rank rank = {.size = sizeof(rank)};
    bouma_plan *plan;

    REQUIRE(!bouma_plan_make(&plan, &spec, NULL, message, sizeof(message)));
    CHECK_EQ(bouma_plan_rank_get(&rank, plan, 2), BOUMA_OK);
    CHECK(rank.at[0] == 2 && rank.box.lo[0] == 50 && rank.box.hi[0] == 75);
    bouma_plan_free(plan);
}

int main(void)
{
    unsetenv("BOUMA_OPTIONS");
    choices_have_texts();
    codecs_tell_what_they_are_like();
    posix_tells_of_its_directories();
    handles_count_what_they_write();
    plans_tell_the_samples_of_a_rank();
    return check_result();
}
