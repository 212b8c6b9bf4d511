/* read_pieces.c -- see read_pieces.h. */
#include "read_pieces.h"

#include <stdlib.h>

#include "division.h"
#include "sized.h"

/* Memory for the samples of a piece, unless a single layer of patches needs
 * more. */
static const uint64_t piece_bytes = (uint64_t)64 << 20;

static struct division divide(const bouma_grid_info *grid,
                              const bouma_variable_info *about)
{
    struct division division = {.patch = grid->patch[0], .step = 1, .size = 1};
    uint64_t layer = (uint64_t)division.patch * bouma_type_size(about->type) *
                     (uint64_t)about->components;

    for (int i = 0; i < grid->ndims; i++)
        division.box.hi[i] = grid->shape[i];
    for (int i = 1; i < grid->ndims; i++)
        layer *= (uint64_t)grid->shape[i];
    if (layer && piece_bytes / layer > 1)
        division.step = (int64_t)(piece_bytes / layer);
    return division;
}

static int read_piece(struct context *ctx, bouma_dataset *ds,
                      const struct entry *entry, const bouma_box *box,
                      bouma_array *out, uint64_t *samples)
{
    size_t sample =
        bouma_type_size(entry->about.type) * (size_t)entry->about.components;
    bouma_selection part;
    int status = bouma_variable_select(SIZED(&part), entry->variable, 0, box);

    *out = BOUMA_ARRAY(entry->about.type, NULL, part.bytes);
    *samples = part.bytes / sample;
    if (!status && part.bytes) {
        out->data = malloc(part.bytes);
        if (!out->data)
            return context_fail_memory(ctx);
        status = bouma_variable_read(entry->variable, 0, box, out);
    }
    return status ? context_fail_status(ctx, status, bouma_error_message(ds))
                  : DONE;
}

int read_grid_pieces(struct context *ctx, bouma_dataset *ds,
                     const struct entry *entry,
                     int (*each)(void *user, struct context *ctx,
                                 const struct grid_piece *piece),
                     void *user)
{
    bouma_grid_info grid;
    struct division division;
    int64_t count;
    int rc = DONE;

    bouma_grid_info_get(SIZED(&grid), entry->grid);
    division = divide(&grid, &entry->about);
    count = division_pieces(&division);
    for (int64_t i = 0; !rc && i < count; i++) {
        struct grid_piece piece = {0};
        bouma_array array;

        if (!division_piece(&division, i, &piece.box))
            continue;
        rc = read_piece(ctx, ds, entry, &piece.box, &array, &piece.samples);
        piece.values = array.data;
        if (!rc && piece.samples)
            rc = each(user, ctx, &piece);
        free(array.data);
    }
    return rc;
}
