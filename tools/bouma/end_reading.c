/* end_reading.c -- see end_reading.h. */
#include "end_reading.h"

#include <string.h>

/* The trace of several processes is made when all of them close the dataset. */
static void close_traced(struct context *ctx, bouma_dataset *ds)
{
    int notes = 0;

    while (bouma_dataset_note(ds, notes))
        notes++;
    bouma_dataset_close(ds);
    for (; bouma_dataset_note(ds, notes); notes++)
        context_note(ctx, "%s", bouma_dataset_note(ds, notes));
}

static bool is_traced(void)
{
    char trace[4096];

    return !bouma_options_get(trace, sizeof(trace), NULL, "trace", NULL, 0) &&
           trace[0] && strcmp(trace, "off") != 0;
}

void end_reading(struct context *ctx, bouma_dataset *ds, int rc)
{
    /* The environment may differ from process to process, the calls may not:
     * all of them ask, also those that know the answer. */
    bool alone = rc || !ds || !is_traced();

    if (!session_agree(ctx->session, alone, NULL, 0))
        close_traced(ctx, ds);
    bouma_dataset_free(ds);
}

void end_reading_alone(struct context *ctx, bouma_dataset *ds)
{
    if (ds && is_traced())
        close_traced(ctx, ds);
    bouma_dataset_free(ds);
}
