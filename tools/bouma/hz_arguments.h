/* hz_arguments.h -- the options of layout hz, for commands that have them. */
#ifndef HZ_ARGUMENTS_H
#define HZ_ARGUMENTS_H

#include "arguments.h"

/* --layout and all --hz-... but --hz-ranks, into 'grid'. Those of hz without
 * that layout are refused, and so is --patch with it. */
int hz_arguments_read(bouma_grid_spec *grid, struct context *ctx,
                      const struct arguments *args);

/* --rank-order, which needs --hz-template ranks if 'with_template' says so. */
int hz_arguments_rank_order(bouma_rank_order *out, struct context *ctx,
                            const struct arguments *args, bool with_template);

/* Whether --hz-template is the word for the template that fits ranks. */
bool hz_arguments_wants_ranks(const struct arguments *args);

/* That template, for the shape of 'grid' and --hz-ranks, or, without it, for
 * 'ranks' along each axis (NULL: the processes of this call, each with some
 * layers of the first axis). */
int hz_arguments_template(char out[64], struct context *ctx,
                          const struct arguments *args,
                          const bouma_grid_spec *grid, const int64_t *ranks);

/* Note the options that choose files but have no effect, given or in the
 * environment: with layout hz, blocks do. */
void hz_arguments_note_files(const struct context *ctx,
                             const struct arguments *args);

#endif
