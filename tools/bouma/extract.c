/* extract.c -- copy the samples of a box at a level into an output file. */
#include "extract.h"

#include <stdlib.h>

#include "component.h"
#include "division.h"
#include "sized.h"

/* Memory that a process takes for samples, unless a single layer of patches
 * needs more. */
static const uint64_t piece_bytes = (uint64_t)256 << 20;

/* Bytes of all components for one sample along the first axis. */
static uint64_t plane_bytes(const struct extract *extract)
{
    int64_t planes = extract->selection.shape[0];

    return planes ? extract->selection.bytes / (uint64_t)planes : 0;
}

static struct division divide(const struct extract *extract,
                              const struct context *ctx)
{
    struct division division = {.box = extract->box,
                                .patch = extract->patch,
                                .step = 1,
                                .size = session_size(ctx->session),
                                .rank = session_rank(ctx->session)};
    uint64_t planes = (uint64_t)extract->patch >> extract->level;
    uint64_t layer = plane_bytes(extract) * (planes ? planes : 1);

    if (layer && piece_bytes / layer > 1)
        division.step = (int64_t)(piece_bytes / layer);
    /* Standard output takes all in its order: process 0 gets the whole box,
     * and the others, beyond its end, nothing. */
    if (extract->output->stream)
        division.size = 1;
    return division;
}

/* A part of the output in memory. */
struct piece {
    bouma_variable_info about;
    bouma_selection part;
    bouma_array array;
    bouma_request request;
    size_t requests;        /* 1, or 0 for a process that just takes part */
    uint64_t offset, bytes; /* in the output */
};

static int prepare(struct piece *out, const struct extract *extract,
                   struct context *ctx, const bouma_box *box)
{
    uint64_t plane, share = 1; /* of the components, in the output */
    int status = bouma_variable_select(SIZED(&out->part), extract->variable,
                                       extract->level, box);

    if (status)
        return context_fail_status(ctx, status,
                                   bouma_error_message(extract->ds));
    if (out->part.bytes == 0)
        return DONE;
    plane = (uint64_t)(out->part.first[0] - extract->selection.first[0]) >>
            extract->level;
    bouma_variable_info_get(SIZED(&out->about), extract->variable);
    if (extract->component >= 0)
        share = (uint64_t)out->about.components;
    out->offset =
        extract->header_bytes + plane * (plane_bytes(extract) / share);
    out->bytes = out->part.bytes / share;
    out->array =
        BOUMA_ARRAY(out->about.type, malloc(out->part.bytes), out->part.bytes);
    out->request = (bouma_request){.size = sizeof(out->request),
                                   .variable = extract->variable,
                                   .level = extract->level,
                                   .box = *box,
                                   .array = &out->array};
    out->requests = 1;
    if (!out->array.data)
        return context_fail(ctx, DATA_AT_FAULT,
                            "no memory for %llu bytes; read a smaller --box or "
                            "a coarser --level",
                            (unsigned long long)out->part.bytes);
    return DONE;
}

static int read_piece(struct piece *piece, const struct extract *extract,
                      struct context *ctx)
{
    int status =
        bouma_step_read(extract->step, &piece->request, piece->requests);

    if (status)
        return context_fail_status(ctx, status,
                                   bouma_error_message(extract->ds));
    if (piece->requests == 0)
        return DONE;
    if (extract->component >= 0)
        component_pick(piece->array.data, piece->array.data,
                       piece->bytes / bouma_type_size(piece->about.type),
                       &piece->about, extract->component);
    return output_write(extract->output, ctx, piece->array.data, piece->bytes,
                        piece->offset);
}

int extract_samples(const struct extract *extract, struct context *ctx)
{
    struct division division = divide(extract, ctx);
    int64_t count = division_pieces(&division);
    int rc = DONE;

    for (int64_t i = 0; !rc && i < count; i++) {
        struct piece piece = {0};
        bouma_box box;

        progress_bar_piece(extract->bar, i, count);
        if (division_piece(&division, i, &box))
            rc = prepare(&piece, extract, ctx, &box);
        rc = context_agree(ctx, rc);
        if (!rc)
            rc = read_piece(&piece, extract, ctx);
        free(piece.array.data);
        rc = context_agree(ctx, rc);
    }
    return rc;
}
