/* progress_bar.c -- a line on a terminal while something takes long. */
#include "progress_bar.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stopwatch.h"

enum { WIDTH = 32 };

static void draw(const char *what, double part)
{
    char line[WIDTH + 1];
    int full = (int)(part * WIDTH);

    memset(line, '#', (size_t)full);
    memset(line + full, '.', (size_t)(WIDTH - full));
    line[WIDTH] = '\0';
    fprintf(stderr, "\r\033[K%-12s [%s] %3.0f %%", what, line, 100 * part);
    fflush(stderr);
}

static void on_progress(void *user, const char *what, uint64_t done,
                        uint64_t total)
{
    struct progress_bar *bar = user;
    double now = stopwatch_now(), part;

    if (total == 0 || now - bar->start < 1.0 || now - bar->last < 0.1)
        return;
    bar->last = now;
    bar->drawn = true;
    part = done < total ? (double)done / (double)total : 1.0;
    if (bar->pieces)
        part = ((double)bar->piece + part) / (double)bar->pieces;
    draw(what, part);
}

void progress_bar_init(struct progress_bar *bar, const struct context *ctx,
                       bouma_options *opts)
{
    const char *term = getenv("TERM");

    *bar = (struct progress_bar){.start = stopwatch_now()};
    if (!context_prints(ctx) || !isatty(STDERR_FILENO) || !term ||
        strcmp(term, "dumb") == 0)
        return;
    opts->progress = on_progress;
    opts->progress_user = bar;
}

void progress_bar_piece(struct progress_bar *bar, int64_t piece, int64_t pieces)
{
    bar->piece = piece;
    bar->pieces = pieces;
}

void progress_bar_clear(struct progress_bar *bar)
{
    if (bar->drawn)
        fprintf(stderr, "\r\033[K");
    bar->drawn = false;
}
