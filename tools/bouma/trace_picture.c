/* trace_picture.c -- a trace as a picture.
 *
 *     title
 *     rank 0   +---------------------------------------------+
 *              | stages of the main thread; waits are hatched |
 *              | other threads: files                         |
 *     rank 1   ...
 *     legend
 */
#include "trace_picture.h"

#include <stdio.h>
#include <string.h>

#include "format_text.h"
#include "trace_events.h"

enum {
    WIDTH = 960, /* of the time */
    MOST_ROWS = 64,
    SCALE = 2,
    GAP = 12,
    MOST_STAGES = 24
};

struct picture {
    struct canvas *canvas;
    int ranks, rows, row, left, top;
    double seconds;
    char stages[MOST_STAGES][TRACE_WORD];
    int stage_count;
};

/* The row of a rank, of many ranks those that are drawn; -1: it is not. */
static int row_of(const struct picture *p, int rank)
{
    int row = (int)((int64_t)rank * p->rows / p->ranks);

    return (int)((int64_t)row * p->ranks / p->rows) == rank ||
                   p->rows == p->ranks
               ? row
               : -1;
}

static int ink_of(struct picture *p, const char *stage)
{
    int i = 0;

    while (i < p->stage_count && strcmp(p->stages[i], stage))
        i++;
    if (i == p->stage_count && i < MOST_STAGES)
        memcpy(p->stages[p->stage_count++], stage, TRACE_WORD);
    return i < MOST_STAGES ? OWN_INK + i : FAINT;
}

/* Where a moment is: also if the file has become another since its end was
 * looked for. */
static int column_of(const struct picture *p, double moment)
{
    return moment < p->seconds ? (int)(moment / p->seconds * WIDTH) : WIDTH;
}

static int draw_event(void *user, const struct trace_event *e)
{
    struct picture *p = user;
    int row = e->rank < p->ranks ? row_of(p, e->rank) : -1;
    int x = column_of(p, e->begin);
    int end = column_of(p, e->begin + e->seconds);
    int width = end > x ? end - x : 1, part = p->row * 3 / 5, y;

    if (row < 0)
        return DONE;
    y = p->top + row * p->row;
    x += p->left;
    if (!e->track && !strcmp(e->kind, "stage"))
        canvas_fill(p->canvas, x, y, width, part, ink_of(p, e->name));
    else if (!e->track && !strcmp(e->kind, "wait"))
        canvas_fill(p->canvas, x, y + part / 3, width, part / 3, PAPER);
    else if (!strcmp(e->kind, "file"))
        canvas_fill(p->canvas, x, y + part, width, p->row - part - 2, INK);
    return DONE;
}

static void draw_legend(struct picture *p, int y)
{
    int x = GAP, box = text_height(SCALE);

    for (int i = 0; i <= p->stage_count; i++) {
        const char *name = i < p->stage_count ? p->stages[i] : "files";
        int width = box + GAP / 2 + text_width(name, SCALE) + GAP;

        if (x + width > p->canvas->width) {
            x = GAP;
            y += box + GAP / 2;
        }
        canvas_fill(p->canvas, x, y, box, box,
                    i < p->stage_count ? OWN_INK + i : INK);
        canvas_text(p->canvas, x + box + GAP / 2, y, SCALE, name);
        x += width;
    }
}

static void label_rows(const struct picture *p)
{
    int text = text_height(SCALE), last = -text;

    for (int rank = 0; rank < p->ranks; rank++) {
        int row = row_of(p, rank), y = p->top + row * p->row;
        char label[32];

        if (row < 0 || y < last + text)
            continue;
        snprintf(label, sizeof(label), "rank %d", rank);
        canvas_text(p->canvas, GAP, y, SCALE, label);
        last = y;
    }
}

int trace_picture_draw(struct canvas *out, struct context *ctx,
                       const char *path, int ranks, double seconds)
{
    int text = text_height(SCALE), rc;
    struct picture p = {.canvas = out, .ranks = ranks, .seconds = seconds};
    char title[2 * FORMAT_BYTES], time[FORMAT_BYTES], count[FORMAT_BYTES];

    p.rows = ranks < MOST_ROWS ? ranks : MOST_ROWS;
    p.row = p.rows <= 8 ? 40 : p.rows <= 24 ? 20 : 12;
    snprintf(title, sizeof(title), "rank %d", ranks);
    p.left = 2 * GAP + text_width(title, SCALE);
    p.top = 2 * GAP + text;
    rc = canvas_init(out, ctx, p.left + WIDTH + GAP,
                     p.top + p.rows * p.row + 3 * (text + GAP / 2) + GAP);
    if (rc)
        return rc;
    for (int i = 0; i < MOST_STAGES; i++)
        out->palette[OWN_INK + i] = colour_of_number((uint64_t)i);
    snprintf(title, sizeof(title), "%s, %s",
             format_count(count, (uint64_t)ranks, "rank"),
             format_seconds(time, seconds));
    canvas_text(out, GAP, GAP, SCALE, title);
    rc = trace_events_read(ctx, path, draw_event, &p);
    canvas_frame(out, p.left - 1, p.top - 1, WIDTH + 2, p.rows * p.row + 2,
                 FAINT);
    label_rows(&p);
    draw_legend(&p, p.top + p.rows * p.row + GAP);
    return rc;
}
