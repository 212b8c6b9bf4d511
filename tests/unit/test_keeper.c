/* The thread that stores: all jobs, in order, and none after a failure. */
#include "engine/keeper.h"

#include "check.h"

enum { JOBS = 200 };

struct work {
    size_t done[JOBS];
    size_t count;
    size_t failing; /* the job that fails; JOBS: none */
};

static int do_job(void *context, size_t job, struct bm_error *error)
{
    struct work *w = context;

    w->done[w->count++] = job;
    return job == w->failing
               ? bm_fail(error, BOUMA_EIO, "job %zu has failed", job)
               : BOUMA_OK;
}

static void jobs_are_done_in_the_order_they_come(void)
{
    for (int wait = 0; wait < 2; wait++) {
        struct work w = {.failing = JOBS};
        struct bm_error error = {0};
        struct bm_keeper *k =
            bm_keeper_new(bm_allocator_default(), JOBS, do_job, &w);
        size_t job, told = 0;

        REQUIRE(k);
        for (size_t i = 0; i < JOBS; i++) {
            bm_keeper_hand(k, JOBS - 1 - i);
            while (bm_keeper_next(k, &job, wait && i % 3 == 0))
                CHECK_EQ(job, JOBS - 1 - told++);
        }
        CHECK_EQ(bm_keeper_wait(k, &error), BOUMA_OK);
        while (bm_keeper_next(k, &job, 1))
            CHECK_EQ(job, JOBS - 1 - told++);
        CHECK_EQ(told, JOBS);
        CHECK_EQ(w.count, JOBS);
        for (size_t i = 0; i < JOBS; i++)
            CHECK_EQ(w.done[i], JOBS - 1 - i);
        CHECK(bm_keeper_seconds(k) >= 0);
        bm_keeper_free(k);
    }
}

static void after_a_failure_the_rest_is_left_out(void)
{
    struct work w = {.failing = 50};
    struct bm_error error = {0};
    struct bm_keeper *k =
        bm_keeper_new(bm_allocator_default(), JOBS, do_job, &w);
    size_t job, told = 0;

    REQUIRE(k);
    for (size_t i = 0; i < JOBS; i++)
        bm_keeper_hand(k, i);
    while (bm_keeper_next(k, &job, 1))
        told++;
    CHECK_EQ(told, JOBS);
    CHECK_EQ(w.count, 51);
    CHECK_EQ(bm_keeper_status(k, &error), BOUMA_EIO);
    CHECK_TEXT(error.text, "job 50 has failed");
    bm_keeper_free(k);
}

/* What was handed over is done before it is gone. */
static void freeing_waits(void)
{
    struct work w = {.failing = JOBS};
    struct bm_keeper *k =
        bm_keeper_new(bm_allocator_default(), JOBS, do_job, &w);

    REQUIRE(k);
    for (size_t i = 0; i < JOBS; i++)
        bm_keeper_hand(k, i);
    bm_keeper_free(k);
    CHECK_EQ(w.count, JOBS);
    bm_keeper_free(NULL);
}

int main(void)
{
    jobs_are_done_in_the_order_they_come();
    after_a_failure_the_rest_is_left_out();
    freeing_waits();
    return check_result();
}
