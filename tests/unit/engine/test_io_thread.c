/* The thread that stores: all jobs, in order, and none after a failure. */
#include "engine/io_thread.h"

#include <stdatomic.h>

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
    for (int i = 0; i < 4; i++) {
        int wait = i & 1, threaded = i > 1;
        struct work w = {.failing = JOBS};
        struct bm_error error = {0};
        struct bm_io_thread *k = bm_io_thread_new(bm_allocator_default(), JOBS,
                                                  do_job, &w, threaded);
        size_t job, told = 0;

        REQUIRE(k);
        for (size_t n = 0; n < JOBS; n++) {
            bm_io_thread_hand(k, JOBS - 1 - n);
            while (bm_io_thread_next(k, &job, wait && n % 3 == 0))
                CHECK_EQ(job, JOBS - 1 - told++);
        }
        CHECK_EQ(bm_io_thread_wait(k, &error), BOUMA_OK);
        while (bm_io_thread_next(k, &job, 1))
            CHECK_EQ(job, JOBS - 1 - told++);
        CHECK_EQ(told, JOBS);
        CHECK_EQ(w.count, JOBS);
        for (size_t n = 0; n < JOBS; n++)
            CHECK_EQ(w.done[n], JOBS - 1 - n);
        CHECK(bm_io_thread_seconds(k) >= 0);
        bm_io_thread_free(k);
    }
}

static void count_wake(void *context)
{
    atomic_fetch_add((_Atomic int *)context, 1);
}

static void each_job_that_is_over_wakes_who_waits(int threaded)
{
    struct work w = {.failing = JOBS / 2};
    _Atomic int woken = 0;
    struct bm_io_thread *k =
        bm_io_thread_new(bm_allocator_default(), JOBS, do_job, &w, threaded);
    struct bm_error error = {0};

    REQUIRE(k);
    bm_io_thread_set_waker(k, count_wake, &woken);
    for (size_t n = 0; n < JOBS; n++)
        bm_io_thread_hand(k, n);
    CHECK_EQ(bm_io_thread_wait(k, &error), BOUMA_EIO);
    bm_io_thread_free(k); /* the last may still be on its way */
    CHECK_EQ(atomic_load(&woken), JOBS);
}

static void after_a_failure_the_rest_is_left_out(int threaded)
{
    struct work w = {.failing = 50};
    struct bm_error error = {0};
    struct bm_io_thread *k =
        bm_io_thread_new(bm_allocator_default(), JOBS, do_job, &w, threaded);
    size_t job, told = 0;

    REQUIRE(k);
    for (size_t i = 0; i < JOBS; i++)
        bm_io_thread_hand(k, i);
    while (bm_io_thread_next(k, &job, 1))
        told++;
    CHECK_EQ(told, JOBS);
    CHECK_EQ(w.count, 51);
    CHECK_EQ(bm_io_thread_status(k, &error), BOUMA_EIO);
    CHECK_TEXT(error.text, "job 50 has failed");
    bm_io_thread_free(k);
}

/* What was handed over to a thread is done before it is gone. */
static void freeing_waits(int threaded)
{
    struct work w = {.failing = JOBS};
    struct bm_io_thread *k =
        bm_io_thread_new(bm_allocator_default(), JOBS, do_job, &w, threaded);

    REQUIRE(k);
    for (size_t i = 0; i < JOBS; i++)
        bm_io_thread_hand(k, i);
    bm_io_thread_free(k);
    CHECK_EQ(w.count, threaded ? JOBS : 0);
    bm_io_thread_free(NULL);
}

/* Without a thread, jobs are done one at a time, when they are asked for. */
static void without_a_thread_jobs_wait_to_be_asked_for(void)
{
    struct work w = {.failing = JOBS};
    struct bm_error error = {0};
    struct bm_io_thread *k =
        bm_io_thread_new(bm_allocator_default(), JOBS, do_job, &w, 0);
    size_t job;

    REQUIRE(k);
    CHECK(!bm_io_thread_next(k, &job, 1));
    for (size_t i = 0; i < 3; i++)
        bm_io_thread_hand(k, i);
    CHECK_EQ(w.count, 0);
    for (size_t i = 0; i < 2; i++) {
        CHECK(bm_io_thread_next(k, &job, (int)i));
        CHECK_EQ(job, i);
        CHECK_EQ(w.count, i + 1);
    }
    CHECK_EQ(bm_io_thread_wait(k, &error), BOUMA_OK);
    CHECK_EQ(w.count, 3);
    bm_io_thread_free(k);
}

int main(void)
{
    jobs_are_done_in_the_order_they_come();
    for (int threaded = 0; threaded < 2; threaded++) {
        each_job_that_is_over_wakes_who_waits(0);
        each_job_that_is_over_wakes_who_waits(1);
        after_a_failure_the_rest_is_left_out(threaded);
        freeing_waits(threaded);
    }
    without_a_thread_jobs_wait_to_be_asked_for();
    return check_result();
}
