/* plan_picture.c -- a plan as a picture.
 *
 *     title
 *     owner             file
 *     +-------------+   +-------------+
 *     |   patches   |   |   patches   |     black lines: the blocks of ranks
 *     +-------------+   +-------------+
 *     bytes of each file
 *     +-------------------------------+
 *     |   bars                        |
 *     +-------------------------------+
 *     writers by rank
 *     +-------------------------------+
 *     |   for each file, below its    |     coloured: the ranks that send to it,
 *     |   bar: ranks go upwards       |     from the first to the last one;
 *     +-------------------------------+     black: the one that writes it
 */
#include "plan_picture.h"

#include <stdio.h>
#include <stdlib.h>

#include "axes.h"
#include "format_text.h"
#include "sized.h"

enum {
    PANEL = 384, /* pixels of the longer side */
    THINNEST = 24,
    BARS = 96,
    RANKS = 192, /* pixels of all ranks */
    DOT = 3,
    SCALE = 2,
    GAP = 12,
    LEAST_BLOCK = 5, /* pixels of a block whose border is drawn */
    COLOURS = 239    /* a prime: things a row apart look other */
};

/* The two axes that are drawn, or one. */
struct view {
    const bouma_plan *plan;
    bouma_plan_report report;
    const bouma_plan_spec *spec;
    int64_t middle;  /* of the patches along the first axis of three */
    int row, column; /* axes of the grid; row -1: there is none */
    int width, height;
};

static int pixels_for(int64_t extent, int64_t longer)
{
    int64_t pixels = extent * PANEL / longer;

    return (int)(pixels > THINNEST ? pixels : THINNEST);
}

static void view_init(struct view *view, const bouma_plan *plan,
                      const bouma_plan_spec *spec)
{
    int64_t rows, columns, longer;

    *view = (struct view){.plan = plan, .spec = spec};
    bouma_plan_report_get(SIZED(&view->report), plan);
    view->middle = view->report.grid[0] / 2;
    view->row = spec->ndims - 2;
    view->column = spec->ndims - 1;
    columns = spec->shape[view->column];
    rows = view->row >= 0 ? spec->shape[view->row] : 1;
    longer = rows > columns ? rows : columns;
    view->width = pixels_for(columns, longer);
    view->height = pixels_for(rows, longer);
}

/* The sample in the middle of a pixel. */
static int64_t sample_at(const struct view *view, int axis, int pixel)
{
    int pixels = axis == view->column ? view->width : view->height;

    return axis < 0 ? 0
                    : (int64_t)((pixel + 0.5) *
                                (double)view->spec->shape[axis] / pixels);
}

/* The block that a sample lies in: block i ends before shape * (i + 1) / n. */
static int64_t block_at(const struct view *view, int axis, int pixel)
{
    int64_t n = view->report.blocks[axis], shape = view->spec->shape[axis];
    double part = ((double)sample_at(view, axis, pixel) + 0.5) / (double)shape;

    return (int64_t)(part * (double)n);
}

/* Whether the border of a block lies before a pixel, and is to be drawn. */
static bool is_border(const struct view *view, int axis, int pixel)
{
    int pixels = axis == view->column ? view->width : view->height;

    return axis >= 0 && pixel > 0 &&
           view->report.blocks[axis] * LEAST_BLOCK <= pixels &&
           block_at(view, axis, pixel) != block_at(view, axis, pixel - 1);
}

static int ink_of(int64_t number)
{
    return OWN_INK + (int)(number % COLOURS);
}

/* The first row is at the bottom. */
static void draw_panel(struct canvas *canvas, const struct view *view, int left,
                       int top, bool by_file)
{
    for (int y = 0; y < view->height; y++)
        for (int x = 0; x < view->width; x++) {
            int64_t at[MAX_AXES] = {0};
            bouma_plan_patch patch = {.size = sizeof(patch)};
            bool border = is_border(view, view->row, y) ||
                          is_border(view, view->column, x);

            if (view->spec->ndims == 3)
                at[0] = view->middle;
            if (view->row >= 0)
                at[view->row] = sample_at(view, view->row, y) /
                                view->report.patch[view->row];
            at[view->column] = sample_at(view, view->column, x) /
                               view->report.patch[view->column];
            bouma_plan_patch_get(&patch, view->plan, at);
            canvas_dot(canvas, left + x, top + view->height - 1 - y,
                       border ? INK
                              : ink_of(by_file ? patch.file : patch.owner));
        }
    canvas_frame(canvas, left, top, view->width, view->height, INK);
}

/* The largest of the files first <= f < last. */
static uint64_t largest_of(const struct view *view, int64_t first, int64_t last)
{
    uint64_t largest = 0;

    for (int64_t f = first; f < last; f++) {
        bouma_plan_file file = {.size = sizeof(file)};

        bouma_plan_file_get(&file, view->plan, f);
        largest = file.bytes > largest ? file.bytes : largest;
    }
    return largest;
}

static int bar_height(const struct view *view, uint64_t bytes)
{
    return (int)((double)bytes / (double)view->report.largest_file *
                     (BARS - 1) +
                 0.5);
}

/* A bar a file or, of many files, one for the largest of some. A line is at the
 * mean. */
static void draw_bars(struct canvas *canvas, const struct view *view, int left,
                      int top, int width)
{
    int64_t files = view->report.files;
    int bars = files < width ? (int)files : width;
    int mean = top + BARS - bar_height(view, view->report.mean_file);

    for (int i = 0; i < bars; i++) {
        int64_t first = files * i / bars, last = files * (i + 1) / bars;
        int x = (int)((int64_t)width * i / bars);
        int wide = (int)((int64_t)width * (i + 1) / bars) - x;
        int height = bar_height(view, largest_of(view, first, last));

        canvas_fill(canvas, left + x, top + BARS - height,
                    wide > 3 ? wide - 1 : wide, height, ink_of(first));
    }
    canvas_fill(canvas, left, mean, width, 1, INK);
    canvas_frame(canvas, left, top, width, BARS, INK);
}

/* The ranks that send to a file, from the first to the last; none: last is
 * lower. */
struct senders {
    int first, last;
};

/* Those of each file; NULL if there is no memory. */
static struct senders *find_senders(const struct view *view)
{
    const int64_t *grid = view->report.grid;
    struct senders *senders =
        malloc((size_t)view->report.files * sizeof(*senders));

    for (int64_t f = 0; f < view->report.files && senders; f++)
        senders[f] = (struct senders){0, -1};
    for (int64_t i = 0; i < view->report.patches && senders; i++) {
        int64_t at[MAX_AXES] = {0}, rest = i;
        bouma_plan_patch patch = {.size = sizeof(patch)};
        struct senders *s;

        for (int d = view->spec->ndims; d-- > 0; rest /= grid[d])
            at[d] = rest % grid[d];
        bouma_plan_patch_get(&patch, view->plan, at);
        s = &senders[patch.file];
        if (!patch.bytes)
            continue;
        s->first =
            s->last < 0 || patch.owner < s->first ? patch.owner : s->first;
        s->last = patch.owner > s->last ? patch.owner : s->last;
    }
    return senders;
}

/* The pixel of a rank, from the top; the first rank is at the bottom. */
static int row_of(const struct view *view, int rank)
{
    return RANKS - 1 - (int)((int64_t)rank * RANKS / view->report.ranks);
}

/* A column a file, below its bar; many files share one. */
static int draw_writers(struct canvas *canvas, struct context *ctx,
                        const struct view *view, int left, int top, int width)
{
    int64_t files = view->report.files;
    struct senders *senders = find_senders(view);

    if (!senders)
        return context_fail(ctx, DATA_AT_FAULT, "no memory for the picture");
    for (int64_t f = 0; f < files; f++) {
        int x = (int)(width * f / files), high;
        int wide = (int)(width * (f + 1) / files) - x;

        if (senders[f].last < 0)
            continue;
        high = row_of(view, senders[f].first) - row_of(view, senders[f].last);
        canvas_fill(canvas, left + x, top + row_of(view, senders[f].last),
                    wide > 3 ? wide - 1 : wide + !wide, high + 1, ink_of(f));
    }
    for (int64_t f = 0; f < files; f++) {
        int x = (int)(width * (2 * f + 1) / (2 * files));
        bouma_plan_file file = {.size = sizeof(file)};

        bouma_plan_file_get(&file, view->plan, f);
        canvas_fill(canvas, left + x - DOT / 2,
                    top + row_of(view, file.writer) - DOT / 2, DOT, DOT, INK);
    }
    canvas_frame(canvas, left, top, width, RANKS, INK);
    free(senders);
    return DONE;
}

int plan_picture_draw(struct canvas *out, struct context *ctx,
                      const bouma_plan *plan, const bouma_plan_spec *spec)
{
    char title[3 * FORMAT_BYTES],
        where[2 * FORMAT_BYTES] = "", bars[3 * FORMAT_BYTES],
                  shape[FORMAT_BYTES], ranks[FORMAT_BYTES], files[FORMAT_BYTES],
                  mean[FORMAT_BYTES], largest[FORMAT_BYTES];
    int text = text_height(SCALE), right, top, below, writers, width, rc;
    struct view view;

    view_init(&view, plan, spec);
    snprintf(title, sizeof(title), "%s, %s samples",
             format_count(ranks, (uint64_t)view.report.ranks, "rank"),
             format_shape(shape, spec->ndims, spec->shape));
    if (spec->ndims == 3)
        snprintf(where, sizeof(where), ", at z = %lld",
                 (long long)(view.middle * view.report.patch[0]));
    snprintf(bars, sizeof(bars), "%s: mean %s, largest %s",
             format_count(files, (uint64_t)view.report.files, "file"),
             format_bytes(mean, view.report.mean_file),
             format_bytes(largest, view.report.largest_file));
    right = 3 * GAP + view.width;
    if (right < 2 * GAP + text_width("patches by rank", SCALE))
        right = 2 * GAP + text_width("patches by rank", SCALE);
    top = 3 * GAP + 2 * text;
    below = top + view.height + 2 * GAP + text;
    width = right + view.width - GAP;
    if (width < text_width(bars, SCALE))
        width = text_width(bars, SCALE);
    if (width < text_width(title, SCALE) + text_width(where, SCALE))
        width = text_width(title, SCALE) + text_width(where, SCALE);
    writers = below + BARS + 2 * GAP + text;
    rc = canvas_init(out, ctx, width + 2 * GAP, writers + RANKS + GAP);
    if (rc)
        return rc;
    for (int i = 0; i < COLOURS; i++)
        out->palette[OWN_INK + i] = colour_of_number((uint64_t)i);
    canvas_text(out, GAP, GAP, SCALE, title);
    canvas_text(out, GAP + text_width(title, SCALE) + SCALE, GAP, SCALE, where);
    canvas_text(out, GAP, 2 * GAP + text, SCALE, "patches by rank");
    canvas_text(out, right, 2 * GAP + text, SCALE, "patches by file");
    draw_panel(out, &view, GAP, top, false);
    draw_panel(out, &view, right, top, true);
    canvas_text(out, GAP, below - GAP / 2 - text, SCALE, bars);
    draw_bars(out, &view, GAP, below, right + view.width - GAP);
    snprintf(bars, sizeof(bars), "their writers by rank, place=%s",
             bouma_place_name(view.report.place));
    canvas_text(out, GAP, writers - GAP / 2 - text, SCALE, bars);
    return draw_writers(out, ctx, &view, GAP, writers,
                        right + view.width - GAP);
}
