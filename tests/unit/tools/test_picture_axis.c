/* test_picture_axis.c -- numbers at linear and logarithmic axes, and where
 * values lie. */
#include <math.h>
#include <string.h>

#include "check.h"
#include "picture_axis.h"

/* Of the whole program, where canvases are made; none is here. */
int context_fail(struct context *ctx, int outcome, const char *format, ...)
{
    (void)ctx, (void)format;
    return outcome;
}

/* The texts of all ticks, with spaces between. */
static const char *texts_of(enum axis_scale scale, double low, double high)
{
    static char all[1000];
    struct picture_axis axis;
    char one[FORMAT_BYTES];

    axis_init(&axis, scale, low, high, 5, 0);
    all[0] = 0;
    for (long i = axis.ticks.first; i <= axis.ticks.last; i++)
        snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s%s",
                 all[0] ? " " : "", ticks_text(one, &axis.ticks, i));
    return all;
}

static void ticks_are_round(void)
{
    CHECK(!strcmp(texts_of(AXIS_LINEAR, 0, 10), "0 2 4 6 8 10"));
    CHECK(!strcmp(texts_of(AXIS_LOG, 1, 10000), "1 10 100 1000 10000"));
    CHECK(!strcmp(texts_of(AXIS_LOG, 3, 40), "5 10 20"));
    CHECK(!strcmp(texts_of(AXIS_LOG, 0.05, 0.5), "0.05 0.1 0.2 0.5"));
    CHECK(!strcmp(texts_of(AXIS_LOG, 1e-6, 1e6), "1e-06 0.001 1 1000 1e+06"));
    CHECK(!strcmp(texts_of(AXIS_LOG2, 512, 4096), "512 1024 2048 4096"));
    CHECK(!strcmp(texts_of(AXIS_LOG2, 1024, 1 << 20),
                  "1024 4096 16384 65536 262144 1048576"));
    /* No power lies between. */
    CHECK(!strcmp(texts_of(AXIS_LOG2, 5, 7), "5 5.5 6 6.5 7"));
    CHECK(!strcmp(texts_of(AXIS_LOG, 5.5, 8.5), "6 7 8"));
}

static void values_lie_by_their_scale(void)
{
    struct picture_axis axis;

    axis_init(&axis, AXIS_LINEAR, 10, 20, 5, 0);
    axis.start = 100;
    axis.pixels = 200;
    CHECK_EQ(axis_at(&axis, 15), 200);
    CHECK_EQ(axis_at(&axis, 5), 100); /* beyond an end */
    CHECK_EQ(axis_at(&axis, 50), 300);
    axis.upright = true;
    CHECK_EQ(axis_at(&axis, 12), 60);

    axis_init(&axis, AXIS_LOG, 1, 10000, 5, 0);
    axis.pixels = 400;
    CHECK_EQ(axis_at(&axis, 100), 200);
    axis_init(&axis, AXIS_LOG2, 512, 4096, 5, 0);
    axis.pixels = 300;
    CHECK_EQ(axis_at(&axis, 1024), 100);
    CHECK_EQ(axis_at(&axis, 2048), 200);
}

int main(void)
{
    ticks_are_round();
    values_lie_by_their_scale();
    return check_result();
}
