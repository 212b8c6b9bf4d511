/* Footprints against looking at every index. */
#include "plan/chunking.h"

#include "check.h"
#include "decompose.h"

enum { SIDE = 24 }; /* of the cube in which all samples lie */

/* Random footprints inside the cube. */
static struct bm_footprint random_footprint(uint64_t *state)
{
    struct bm_footprint f;

    for (int d = 0; d < 3; d++) {
        int64_t most;

        f.start[d] = check_below(state, SIDE);
        f.shift[d] = (int)check_below(state, 4);
        most = ((SIDE - 1 - f.start[d]) >> f.shift[d]) + 1;
        f.count[d] = 1 + check_below(state, most);
    }
    return f;
}

static struct bm_box random_box(uint64_t *state)
{
    struct bm_box box;

    for (int d = 0; d < 3; d++) {
        box.lo[d] = check_below(state, SIDE);
        box.hi[d] = box.lo[d] + 1 + check_below(state, SIDE - box.lo[d]);
    }
    return box;
}

/* Whether an axis of a footprint has an index. */
static int has(const struct bm_footprint *f, int d, int64_t index)
{
    for (int64_t i = 0; i < f->count[d]; i++)
        if (f->start[d] + i * ((int64_t)1 << f->shift[d]) == index)
            return 1;
    return 0;
}

static void parts_are_what_lies_in_a_box(void)
{
    uint64_t state = 31;

    for (int n = 0; n < 2000; n++) {
        struct bm_footprint f = random_footprint(&state), cut;
        struct bm_box box = random_box(&state),
                      part = bm_footprint_part(&f, &box);
        uint64_t samples = 1;

        cut = bm_footprint_cut(&f, &part);
        for (int d = 0; d < 3; d++) {
            int64_t count = 0;

            for (int64_t i = 0; i < SIDE; i++) {
                int in = has(&f, d, i) && i >= box.lo[d] && i < box.hi[d];

                CHECK_EQ(has(&cut, d, i), in);
                count += in;
            }
            CHECK_EQ(cut.count[d], count);
            samples *= (uint64_t)count;
        }
        CHECK_EQ(bm_footprint_samples(&cut), samples);
        CHECK_EQ(bm_box_volume(&part), samples);
    }
}

static void levels_are_the_multiples(void)
{
    uint64_t state = 32;

    for (int n = 0; n < 2000; n++) {
        struct bm_footprint f = random_footprint(&state);
        int level = (int)check_below(&state, 6);
        struct bm_footprint at = bm_footprint_at_level(&f, level);

        for (int d = 0; d < 3; d++) {
            CHECK(at.count[d] >= 0);
            CHECK(!at.count[d] || at.shift[d] >= level);
            for (int64_t i = 0; i < SIDE; i++)
                CHECK_EQ(has(&at, d, i), has(&f, d, i) && !(i % (1 << level)));
        }
    }
}

static void bounds_are_the_smallest_box(void)
{
    uint64_t state = 33;

    for (int n = 0; n < 500; n++) {
        struct bm_footprint f = random_footprint(&state);
        struct bm_box box = bm_footprint_bounds(&f);

        for (int d = 0; d < 3; d++) {
            CHECK(has(&f, d, box.lo[d]) && has(&f, d, box.hi[d] - 1));
            for (int64_t i = 0; i < SIDE; i++)
                CHECK(!has(&f, d, i) || (i >= box.lo[d] && i < box.hi[d]));
        }
    }
}

static void mark_run(void *context, int64_t first, int64_t end)
{
    int *times = context;

    for (int64_t i = first; i < end; i++)
        times[i]++;
}

static void boxes_touch_the_patches_that_have_samples_there(void)
{
    uint64_t state = 34;

    for (int n = 0; n < 300; n++) {
        struct bm_chunking c;
        struct bm_tiling t;
        struct bm_box box;
        int *times;

        random_tiling(&t, &state, 12);
        c = bm_chunking_of_tiling(&t);
        for (int d = 0; d < 3; d++) {
            box.lo[d] = check_below(&state, t.shape[d]);
            box.hi[d] =
                box.lo[d] + 1 + check_below(&state, t.shape[d] - box.lo[d]);
        }
        times = calloc((size_t)c.count, sizeof(*times));
        REQUIRE(times);
        c.calls->touched(c.own, &box, 0, mark_run, times);
        for (int64_t i = 0; i < c.count; i++) {
            struct bm_footprint f = bm_chunking_footprint(&c, i);
            struct bm_box part = bm_footprint_part(&f, &box);

            CHECK_EQ(times[i], bm_box_volume(&part) > 0);
            CHECK_EQ(c.calls->find(c.own, c.calls->key(c.own, i)), i);
        }
        free(times);
    }
}

/* Any piece of the order, with keys and footprints. */
static void lists_follow_the_order(void)
{
    uint64_t state = 35;

    for (int n = 0; n < 300; n++) {
        struct bm_listed_chunk list[40];
        struct bm_chunking c;
        struct bm_tiling t;
        int64_t *order, first, count;

        random_tiling(&t, &state, 12);
        c = bm_chunking_of_tiling(&t);
        order = malloc((size_t)c.count * sizeof(*order));
        REQUIRE(order);
        c.calls->order(c.own, order);
        first = check_below(&state, c.count);
        count = c.count - first < 40 ? c.count - first : 40;
        bm_chunking_list(&c, first, count, list);
        for (int64_t i = 0; i < count; i++) {
            struct bm_footprint f = c.calls->footprint(c.own, order[first + i]);

            CHECK_EQ(list[i].chunk, order[first + i]);
            CHECK_EQ(list[i].key, c.calls->key(c.own, list[i].chunk));
            for (int d = 0; d < 3; d++) {
                CHECK_EQ(list[i].footprint.start[d], f.start[d]);
                CHECK_EQ(list[i].footprint.count[d], f.count[d]);
                CHECK_EQ(list[i].footprint.shift[d], f.shift[d]);
            }
        }
        for (int64_t i = 0; i < c.count; i++) {
            CHECK_EQ(bm_chunking_position(&c, order[i]), i);
            CHECK(!i || c.calls->key(c.own, order[i - 1]) <
                            c.calls->key(c.own, order[i]));
        }
        free(order);
    }
}

int main(void)
{
    parts_are_what_lies_in_a_box();
    levels_are_the_multiples();
    bounds_are_the_smallest_box();
    boxes_touch_the_patches_that_have_samples_there();
    lists_follow_the_order();
    return check_result();
}
