/* bench_draw.c -- the bandwidth of each pipeline, as a picture.
 *
 *     title
 *     file-per-process |=========|-|        bars: the median of writes,
 *                      |:::::::::::|-|      and of reads
 *     collective       |====|--|            lines: from the slowest repetition
 *                      |::::::|--|          to the fastest
 *                      +---------------
 *                      0    100    200
 *                            MiB/s
 */
#include "bench_report.h"

#include <math.h>
#include <stdio.h>

#include "format_text.h"
#include "ticks.h"

enum { WIDTH = 560, SCALE = 2, GAP = 10, BAR = 14 };
enum { WRITE_INK = OWN_INK, READ_INK };

#define MEBIBYTE (1024.0 * 1024.0)

struct view {
    const struct bench_request *request;
    const struct bench_report *report;
    double most; /* MiB/s */
    int left, top, row;
};

/* MiB/s; those of no time at all are none. */
static double speed(const struct view *v, double seconds)
{
    return seconds > 0 ? (double)v->report->bytes / MEBIBYTE / seconds : 0;
}

static void find_ends(const struct view *v, const double *seconds, double *slow,
                      double *fast)
{
    double low = seconds[0], high = seconds[0];

    for (int i = 1; i < v->request->repetitions; i++) {
        low = fmin(low, seconds[i]);
        high = fmax(high, seconds[i]);
    }
    *slow = speed(v, high);
    *fast = speed(v, low);
}

static double most_of(const struct view *v)
{
    double most = 0, slow, fast;

    for (int i = 0; i < v->request->count; i++)
        for (int k = 0; k < bench_operations(v->request); k++) {
            find_ends(v, v->report->results[i].seconds[k], &slow, &fast);
            most = fmax(most, fast);
        }
    return most > 0 ? 1.05 * most : 1;
}

static int x_of(const struct view *v, double value)
{
    return v->left + (int)(fmin(value / v->most, 1) * WIDTH + 0.5);
}

static void draw_bar(struct canvas *canvas, const struct view *v,
                     const double *seconds, int y, int ink)
{
    double slow, fast;
    int middle = y + BAR / 2;
    int end = x_of(v, speed(v, bench_median(seconds, v->request->repetitions)));

    find_ends(v, seconds, &slow, &fast);
    canvas_fill(canvas, v->left, y, end - v->left, BAR, ink);
    canvas_line(canvas, x_of(v, slow), middle, x_of(v, fast), middle, INK);
    canvas_line(canvas, x_of(v, slow), middle - 3, x_of(v, slow), middle + 3,
                INK);
    canvas_line(canvas, x_of(v, fast), middle - 3, x_of(v, fast), middle + 3,
                INK);
}

static void draw_rows(struct canvas *canvas, const struct view *v)
{
    for (int i = 0; i < v->request->count; i++) {
        const char *name = v->request->pipelines[i]->name;
        int y = v->top + i * v->row + GAP / 2;

        canvas_text(canvas, v->left - GAP - text_width(name, SCALE),
                    y + (v->row - GAP - text_height(SCALE)) / 2, SCALE, name);
        for (int k = 0; k < bench_operations(v->request); k++)
            draw_bar(canvas, v, v->report->results[i].seconds[k],
                     y + k * (BAR + 2), k ? READ_INK : WRITE_INK);
    }
}

static void draw_axis(struct canvas *canvas, const struct view *v)
{
    struct ticks ticks = ticks_choose(0, v->most, 5, 0);
    int height = v->request->count * v->row, base = v->top + height;
    char text[FORMAT_BYTES];

    canvas_frame(canvas, v->left - 1, v->top - 1, WIDTH + 2, height + 2, INK);
    for (long i = ticks.first; i <= ticks.last; i++) {
        int x = x_of(v, ticks_value(&ticks, i));

        ticks_text(text, &ticks, i);
        canvas_line(canvas, x, base, x, base + GAP / 2, INK);
        canvas_text(canvas, x - text_width(text, SCALE) / 2, base + GAP, SCALE,
                    text);
    }
    snprintf(text, sizeof(text), "MiB/s: %s",
             v->request->read ? "write (dark), read (pale)" : "write");
    canvas_text(canvas, v->left + (WIDTH - text_width(text, SCALE)) / 2,
                base + 2 * GAP + text_height(SCALE), SCALE, text);
}

int bench_report_draw(struct canvas *out, struct context *ctx,
                      const struct bench_request *request,
                      const struct bench_report *report)
{
    struct view v = {.request = request, .report = report};
    char bytes[FORMAT_BYTES], ranks[FORMAT_BYTES], title[3 * FORMAT_BYTES];
    int labels = 0, text = text_height(SCALE), rc;

    for (int i = 0; i < request->count; i++) {
        int width = text_width(request->pipelines[i]->name, SCALE);

        labels = width > labels ? width : labels;
    }
    v.most = most_of(&v);
    v.left = labels + 2 * GAP;
    v.top = 3 * GAP + text;
    v.row = bench_operations(request) * (BAR + 2) + GAP;
    rc = canvas_init(out, ctx, v.left + WIDTH + 5 * GAP,
                     v.top + request->count * v.row + 4 * GAP + 2 * text);
    if (rc)
        return rc;
    out->palette[WRITE_INK] = (struct colour){60, 110, 170};
    out->palette[READ_INK] = (struct colour){160, 195, 230};
    snprintf(title, sizeof(title), "%s, load %s, %s",
             format_count(ranks, (uint64_t)report->ranks, "rank"),
             request->load.load->name, format_bytes(bytes, report->bytes));
    canvas_text(out, GAP, GAP, SCALE, title);
    draw_rows(out, &v);
    draw_axis(out, &v);
    return DONE;
}
