/* grid_series.c -- variables of a grid in several steps: see importer.h. */
#include "grid_series.h"

#include <stdlib.h>

#include "importer.h"

int grid_series_open(struct grid_series *out, struct context *ctx,
                     const char *path, const struct arguments *args)
{
    int rc;

    *out = (struct grid_series){.importer = importer_find_series(path)};
    rc = mapped_file_open(&out->file, ctx, path);
    return rc ? rc : out->importer->open_series(out, ctx, args);
}

void grid_series_close(struct grid_series *series)
{
    if (series->importer)
        series->importer->close_series(series);
    free(series->sources);
    free(series->steps);
    mapped_file_close(&series->file);
}
