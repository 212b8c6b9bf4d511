/* progress_bar.h -- a line on a terminal while something takes long.
 *
 * It is drawn on standard error, by process 0, only if that is a terminal, and
 * only once a second has gone by; so scripts and short commands see nothing. */
#ifndef PROGRESS_BAR_H
#define PROGRESS_BAR_H

#include <stdbool.h>
#include <stdint.h>

#include "context.h"

struct progress_bar {
    bool drawn;
    double start, last;    /* seconds */
    int64_t piece, pieces; /* the call at work is one of several; or 0, 0 */
};

/* Let the library's calls with 'opts' drive the bar, which must live as long
 * as the dataset. */
void progress_bar_init(struct progress_bar *bar, const struct context *ctx,
                       bouma_options *opts);

/* The next call is number 'piece' (from 0) of so many alike. */
void progress_bar_piece(struct progress_bar *bar, int64_t piece,
                        int64_t pieces);

/* Take the line away, before anything else is printed. */
void progress_bar_clear(struct progress_bar *bar);

#endif
