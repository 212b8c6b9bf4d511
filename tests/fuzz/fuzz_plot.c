/* fuzz_plot.c -- no text makes the reader of plots crash; what it accepts has
 * ranges that can be drawn. */
#include <math.h>

#include "fuzz_help.h"
#include "plot_data.h"

static void check_range(double low, double high, enum axis_scale scale)
{
    HOLDS(isfinite(low) && isfinite(high) && low < high);
    HOLDS(scale == AXIS_LINEAR || low > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct plot plot;
    char message[80];
    double low, high;

    if (plot_parse(&plot, (const char *)data, size, message, sizeof(message))) {
        HOLDS(plot.count > 0 && plot.count <= PLOT_MOST_SERIES);
        HOLDS(plot.label_count <= PLOT_MOST_LABELS);
        plot_range_y(&plot, &low, &high);
        check_range(low, high, plot.y.scale);
        if (plot.kind == PLOT_CURVES) {
            plot_range_x(&plot, &low, &high);
            check_range(low, high, plot.x.scale);
        }
    }
    plot_release(&plot);
    return 0;
}
