/* hz_arguments.c -- see hz_arguments.h. */
#include "hz_arguments.h"

#include <stdio.h>
#include <string.h>

#include "axes.h"
#include "format_text.h"

static int read_blocks(bouma_grid_spec *grid, struct context *ctx,
                       const struct arguments *args)
{
    int64_t bits = 0, blocks = 0;
    const char *order = NULL;
    int rc = arguments_integer(args, ctx, "hz-block-bits", 1, &bits);

    if (!rc)
        rc = arguments_integer(args, ctx, "hz-blocks-per-file", 1, &blocks);
    if (!rc)
        rc = arguments_choice(args, ctx, "hz-order", &order);
    if (!rc && bits > 30)
        rc = context_fail(ctx, CALL_AT_FAULT,
                          "--hz-block-bits %lld: 30 is the most",
                          (long long)bits);
    if (!rc && blocks > INT32_MAX)
        rc = context_fail(ctx, CALL_AT_FAULT,
                          "--hz-blocks-per-file %lld: %d is the most",
                          (long long)blocks, INT32_MAX);
    grid->hz_block_bits = (int)bits;
    grid->hz_blocks_per_file = (int)blocks;
    grid->hz_order = bouma_hz_order_parse(order);
    grid->hz_template = arguments_text(args, "hz-template");
    grid->idx = arguments_has(args, "idx");
    return rc;
}

static int check_partitions(struct context *ctx, int64_t partitions,
                            bouma_hz_index index)
{
    int ranks = session_size(ctx->session);

    if (partitions > 65536)
        return context_fail(ctx, CALL_AT_FAULT,
                            "--hz-partitions %lld: 65536 is the most",
                            (long long)partitions);
    if (partitions & (partitions - 1))
        return context_fail(ctx, CALL_AT_FAULT,
                            "--hz-partitions %lld: must be a power of two",
                            (long long)partitions);
    if (partitions > 1 && partitions > ranks && index != BOUMA_HZ_INDEX_LOCAL)
        return context_fail(ctx, CALL_AT_FAULT,
                            "--hz-partitions %lld: more than the %d rank%s "
                            "that would write them; only --hz-index local "
                            "allows that",
                            (long long)partitions, ranks, ranks > 1 ? "s" : "");
    return DONE;
}

static int read_partitions(bouma_grid_spec *grid, struct context *ctx,
                           const struct arguments *args)
{
    const char *index = NULL;
    int64_t partitions = 0;
    int rc = arguments_integer(args, ctx, "hz-partitions", 1, &partitions);

    if (!rc)
        rc = arguments_choice(args, ctx, "hz-index", &index);
    grid->hz_index = bouma_hz_index_parse(index);
    if (!rc)
        rc = check_partitions(ctx, partitions, grid->hz_index);
    grid->hz_partitions = (int)partitions;
    return rc;
}

static int read_wavelet(bouma_grid_spec *grid, struct context *ctx,
                        const struct arguments *args)
{
    int64_t tile = 0;
    int rc = arguments_integer(args, ctx, "hz-tile-bits", 1, &tile);

    grid->hz_wavelet = arguments_has(args, "hz-wavelet");
    if (!rc && tile && !grid->hz_wavelet)
        rc = context_fail(ctx, CALL_AT_FAULT,
                          "--hz-tile-bits needs --hz-wavelet");
    if (!rc && tile > 24)
        rc = context_fail(ctx, CALL_AT_FAULT,
                          "--hz-tile-bits %lld: 24 is the most",
                          (long long)tile);
    grid->hz_tile_bits = (int)tile;
    return rc;
}

int hz_arguments_read(bouma_grid_spec *grid, struct context *ctx,
                      const struct arguments *args)
{
    static const char *const others[] = {"hz-template",        "hz-block-bits",
                                         "hz-blocks-per-file", "hz-order",
                                         "hz-ranks",           "hz-partitions",
                                         "hz-index",           "hz-wavelet",
                                         "hz-tile-bits",       "idx"};
    const char *layout = NULL;
    int rc = arguments_choice(args, ctx, "layout", &layout);

    grid->layout = bouma_layout_parse(layout);
    if (!rc && grid->layout == BOUMA_LAYOUT_HZ) {
        if (arguments_text(args, "patch"))
            return context_fail(ctx, CALL_AT_FAULT,
                                "--patch is for --layout patch; blocks of hz "
                                "have --hz-block-bits");
        rc = read_blocks(grid, ctx, args);
        if (!rc)
            rc = read_partitions(grid, ctx, args);
        return rc ? rc : read_wavelet(grid, ctx, args);
    }
    for (size_t i = 0; i < sizeof(others) / sizeof(*others) && !rc; i++)
        if (arguments_has(args, others[i]))
            rc = context_fail(ctx, CALL_AT_FAULT, "--%s needs --layout hz",
                              others[i]);
    return rc;
}

bool hz_arguments_wants_ranks(const struct arguments *args)
{
    const char *text = arguments_text(args, "hz-template");

    return text && strcmp(text, "ranks") == 0;
}

int hz_arguments_rank_order(bouma_rank_order *out, struct context *ctx,
                            const struct arguments *args, bool with_template)
{
    const char *order = NULL;
    int rc = arguments_choice(args, ctx, "rank-order", &order);

    *out = bouma_rank_order_parse(order);
    if (!rc && order && with_template && !hz_arguments_wants_ranks(args))
        rc = context_fail(ctx, CALL_AT_FAULT,
                          "--rank-order needs --hz-template ranks");
    return rc;
}

int hz_arguments_template(char out[64], struct context *ctx,
                          const struct arguments *args,
                          const bouma_grid_spec *grid, const int64_t *those)
{
    int64_t ranks[MAX_AXES] = {session_size(ctx->session), 1, 1};
    const char *given = arguments_text(args, "hz-ranks");
    bouma_rank_order order;
    char why[200] = "";
    int axes = grid->ndims, rc;

    for (int i = 0; i < axes && those; i++)
        ranks[i] = those[i];
    rc = arguments_integers(args, ctx, "hz-ranks", ranks, &axes);
    if (!rc)
        rc = hz_arguments_rank_order(&order, ctx, args, true);
    if (!rc && axes != grid->ndims)
        rc = context_fail(ctx, CALL_AT_FAULT,
                          "--hz-ranks %s: the grid has %d %s", given,
                          grid->ndims, grid->ndims == 1 ? "axis" : "axes");
    if (!rc && given && !hz_arguments_wants_ranks(args))
        rc = context_fail(ctx, CALL_AT_FAULT,
                          "--hz-ranks needs --hz-template ranks");
    for (int i = 0; i < grid->ndims && given && !rc; i++)
        if (ranks[i] > grid->shape[i])
            rc = context_fail(ctx, CALL_AT_FAULT,
                              "--hz-ranks %s: the grid has only %lld samples "
                              "along %c",
                              given, (long long)grid->shape[i],
                              "zyx"[3 - grid->ndims + i]);
    if (!rc && bouma_hz_template(out, 64, grid->ndims, grid->shape, ranks,
                                 order, why, sizeof(why)))
        rc = context_fail(ctx, CALL_AT_FAULT, "--hz-template ranks: %s", why);
    return rc;
}

void hz_arguments_note_files(const struct context *ctx,
                             const struct arguments *args)
{
    static const char *const names[] = {"files", "file-size", "assign"};
    static const char *const fields[] = {"files", "file_size", "assign"};

    for (int i = 0; i < 3; i++) {
        char text[32] = "";

        /* A wrong environment is told elsewhere. */
        bouma_options_get(text, sizeof(text), NULL, fields[i], NULL, 0);
        if (arguments_has(args, names[i]))
            snprintf(text, sizeof(text), "%s", arguments_text(args, names[i]));
        /* Files by node are those there are, each written on its node. */
        if (!strncmp(text, "node", 4) || !strcmp(text, "per-node"))
            continue;
        if (arguments_has(args, names[i]) || text[0])
            context_note(ctx,
                         "%s%s has no effect on layout hz: "
                         "--hz-blocks-per-file sets the size of files",
                         arguments_has(args, names[i]) ? "--" : "", names[i]);
    }
}
