/* Steps by their neighbours and by their times, compared with a look at all of
 * them. */
#include <math.h>

#include "bouma.h"
#include "check.h"
#include "dataset/step_times.h"
#include "fault_alloc.h"
#include "must.h"

/* ---- the order of times ---------------------------------------------------- */

/* The nearest by a look at all: of those that are equally near the lowest. */
static int64_t look_at_all(const struct bm_step_list *list, double time)
{
    int64_t best = -1;
    double least = INFINITY;

    for (size_t i = 0; i < list->count; i++)
        if (list->entries[i].generation.epoch &&
            fabs(list->entries[i].time - time) < least) {
            least = fabs(list->entries[i].time - time);
            best = (int64_t)list->entries[i].step;
        }
    return best;
}

static void compare(struct bm_step_times *t, const struct bm_step_list *list,
                    double time)
{
    int64_t expected = look_at_all(list, time);
    uint64_t step = 0;
    int rc = bm_step_times_nearest(t, list, time, &step);

    CHECK_EQ(rc, expected < 0 ? BOUMA_ENOTFOUND : BOUMA_OK);
    if (!rc)
        CHECK_EQ(step, expected);
}

/* Times are multiples of a quarter, so that many are alike, or equally far. */
static void nearest_is_that_of_a_look_at_all(void)
{
    uint64_t state = 1;

    for (int trial = 0; trial < 300; trial++) {
        const bouma_allocator *a = bm_allocator_default();
        int64_t spread = 1 + check_below(&state, 40);
        struct bm_step_times t = {0};
        struct bm_step_list list;

        bm_step_list_init(&list, a);
        for (int change = 0; change < 12; change++) {
            struct bm_step_entry e = {
                (uint64_t)check_below(&state, 30),
                0.25 * (double)check_below(&state, spread),
                {(uint32_t)(check_below(&state, 8) != 0), 0}};

            if (trial % 3 == 0)
                e.time = (double)e.step; /* as most are */
            if (trial % 5 == 1 && list.count > 1)
                list.count--; /* as by a truncation */
            REQUIRE(!bm_step_list_put(&list, e));
            for (int i = 0; i < 8; i++)
                compare(&t, &list,
                        0.125 * (double)check_below(&state, 2 * spread + 9) -
                            0.5);
        }
        bm_step_times_release(&t, a);
        bm_step_list_release(&list);
    }
}

static void large_times_are_apart(void)
{
    const bouma_allocator *a = bm_allocator_default();
    struct bm_step_times t = {0};
    struct bm_step_list list;
    uint64_t step;

    bm_step_list_init(&list, a);
    REQUIRE(
        !bm_step_list_put(&list, (struct bm_step_entry){1, -1.5e308, {1, 1}}));
    REQUIRE(
        !bm_step_list_put(&list, (struct bm_step_entry){2, 1.5e308, {1, 1}}));
    CHECK_EQ(bm_step_times_nearest(&t, &list, 1.0e308, &step), BOUMA_OK);
    CHECK_EQ(step, 2);
    CHECK_EQ(bm_step_times_nearest(&t, &list, -1.7e308, &step), BOUMA_OK);
    CHECK_EQ(step, 1);
    bm_step_times_release(&t, a);
    bm_step_list_release(&list);
}

/* ---- the calls -------------------------------------------------------------- */

static bouma_io *io;

static bouma_dataset *create(const bouma_allocator *a)
{
    bouma_options o = {.size = sizeof(o)};
    bouma_dataset *ds;

    o.io = io;
    o.allocator = a;
    MUST(ds, bouma_dataset_create(&ds, "d.bouma", &o));
    return ds;
}

static void write_step(bouma_dataset *ds, int64_t step, double time)
{
    MUST(ds, bouma_step_begin(ds, step, time));
    MUST(ds, bouma_step_end(ds));
}

/* What a call says: a step, or a status. */
static int64_t said(int rc, const bouma_step_info *info)
{
    return rc ? rc : info->step;
}

static void neighbours(const bouma_dataset *ds)
{
    bouma_step_info info = {.size = sizeof(info)};

    CHECK_EQ(said(bouma_dataset_first_step(&info, ds), &info), 3);
    CHECK(info.time == 30);
    CHECK_EQ(said(bouma_dataset_last_step(&info, ds), &info), 20);
    CHECK(info.time == 20);
    CHECK_EQ(said(bouma_dataset_next_step(&info, ds, INT64_MIN), &info), 3);
    CHECK_EQ(said(bouma_dataset_next_step(&info, ds, 2), &info), 3);
    CHECK_EQ(said(bouma_dataset_next_step(&info, ds, 3), &info), 7);
    CHECK_EQ(said(bouma_dataset_next_step(&info, ds, 8), &info), 20);
    CHECK_EQ(said(bouma_dataset_next_step(&info, ds, 20), &info),
             BOUMA_ENOTFOUND);
    CHECK(info.step == 0);
    CHECK_TEXT(bouma_error_message(ds),
               "has no step after step 20; its steps are 3 to 20");
    CHECK_EQ(said(bouma_dataset_next_step(&info, ds, INT64_MAX), &info),
             BOUMA_ENOTFOUND);
    CHECK_EQ(said(bouma_dataset_previous_step(&info, ds, INT64_MAX), &info),
             20);
    CHECK_EQ(said(bouma_dataset_previous_step(&info, ds, 20), &info), 7);
    CHECK_EQ(said(bouma_dataset_previous_step(&info, ds, 4), &info), 3);
    CHECK_EQ(said(bouma_dataset_previous_step(&info, ds, 3), &info),
             BOUMA_ENOTFOUND);
    CHECK_TEXT(bouma_error_message(ds), "has no step before step 3");
    CHECK_EQ(said(bouma_dataset_previous_step(&info, ds, INT64_MIN), &info),
             BOUMA_ENOTFOUND);
    CHECK_EQ(said(bouma_dataset_step_at(&info, ds, 24), &info), 20);
    CHECK_EQ(said(bouma_dataset_step_at(&info, ds, 25), &info), 3);
    CHECK_EQ(said(bouma_dataset_step_at(&info, ds, 1e9), &info), 3);
    CHECK_EQ(said(bouma_dataset_step_at(&info, ds, -1e9), &info), 7);
}

/* On the writer's own handle, and on a reader's that is refreshed. */
static void steps_are_found_by_neighbours_and_times(void)
{
    bouma_dataset *ds, *reader;
    bouma_step_info info = {.size = sizeof(info)};
    bouma_options o = {.size = sizeof(o)};

    io = bouma_io_memory_new();
    REQUIRE(io);
    o.io = io;
    ds = create(NULL);
    CHECK_EQ(bouma_dataset_first_step(&info, ds), BOUMA_ENOTFOUND);
    CHECK_TEXT(bouma_error_message(ds), "has no steps");
    CHECK_EQ(bouma_dataset_last_step(&info, ds), BOUMA_ENOTFOUND);
    CHECK_EQ(bouma_dataset_step_at(&info, ds, 0), BOUMA_ENOTFOUND);
    write_step(ds, 20, 20);
    write_step(ds, 3, 30);
    MUST(reader, bouma_dataset_open(&reader, "d.bouma", &o));
    CHECK_EQ(said(bouma_dataset_step_at(&info, reader, 0), &info), 20);
    write_step(ds, 7, 10);
    neighbours(ds);
    CHECK_EQ(said(bouma_dataset_step_at(&info, reader, 0), &info), 20);
    MUST(reader, bouma_dataset_refresh(reader));
    neighbours(reader);
    CHECK_EQ(bouma_dataset_step_at(&info, reader, NAN), BOUMA_EINVAL);
    CHECK_EQ(bouma_dataset_step_at(NULL, reader, 0), BOUMA_EINVAL);
    info.size = 0;
    CHECK_EQ(bouma_dataset_last_step(&info, reader), BOUMA_EINVAL);
    info.size = sizeof(info);
    CHECK_EQ(bouma_dataset_next_step(&info, NULL, 0), BOUMA_EINVAL);
    bouma_dataset_free(reader);
    MUST(ds, bouma_dataset_truncate(ds, 3));
    CHECK_EQ(said(bouma_dataset_step_at(&info, ds, 0), &info), 3);
    bouma_dataset_free(ds);

    CHECK_EQ(bouma_dataset_open(&ds, "none.bouma", &o), BOUMA_ENOTFOUND);
    CHECK_EQ(bouma_dataset_last_step(&info, ds), BOUMA_ESTATE);
    bouma_dataset_free(ds);
    bouma_io_memory_free(io);
}

static void without_memory_a_time_is_not_found(void)
{
    struct fault_alloc memory;
    bouma_step_info info = {.size = sizeof(info)};
    bouma_dataset *ds;

    io = bouma_io_memory_new();
    REQUIRE(io);
    fault_alloc_init(&memory);
    ds = create(&memory.table);
    write_step(ds, 1, 1);
    fault_alloc_arm(&memory, 1, 1);
    CHECK_EQ(bouma_dataset_step_at(&info, ds, 0), BOUMA_ENOMEM);
    fault_alloc_disarm(&memory);
    CHECK_EQ(said(bouma_dataset_step_at(&info, ds, 0), &info), 1);
    bouma_dataset_free(ds);
    CHECK_EQ(memory.live, 0);
    bouma_io_memory_free(io);
}

/* When all steps are gone, without memory: what there was is still freed. */
static void an_empty_list_needs_no_memory(void)
{
    struct fault_alloc memory;
    struct bm_step_times times = {0};
    struct bm_step_list list;
    uint64_t step;

    fault_alloc_init(&memory);
    bm_step_list_init(&list, &memory.table);
    REQUIRE(!bm_step_list_add(&list, (struct bm_step_entry){3, 1, {1, 1}}));
    CHECK_EQ(bm_step_times_nearest(&times, &list, 1, &step), BOUMA_OK);
    list.count = 0;
    list.changes++;
    fault_alloc_arm(&memory, 1, 1);
    CHECK_EQ(bm_step_times_nearest(&times, &list, 1, &step), BOUMA_ENOTFOUND);
    fault_alloc_disarm(&memory);
    bm_step_times_release(&times, &memory.table);
    bm_step_list_release(&list);
    CHECK_EQ(memory.live, 0);
}

int main(void)
{
    nearest_is_that_of_a_look_at_all();
    large_times_are_apart();
    steps_are_found_by_neighbours_and_times();
    without_memory_a_time_is_not_found();
    an_empty_list_needs_no_memory();
    return check_result();
}
