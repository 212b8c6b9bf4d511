/* render_picture.c -- cells as a picture.
 *
 *     title
 *                              label
 *      y +--------------------+ +--+
 *        |                    | |  | 1.5
 *        |       cells        | |  |
 *        |                    | |  | 1
 *      0 +--------------------+ +--+
 *        0                    x [] NaN
 */
#include "render_picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ticks.h"

enum { USUAL = 512, LARGEST_USUAL = 2048, THINNEST = 8 };
enum { BAR_INKS = INKS - OWN_INK };

static int at_least(int64_t pixels)
{
    return (int)(pixels > THINNEST ? pixels : THINNEST);
}

void render_picture_size(struct render_picture *picture, int64_t size)
{
    int64_t rows = picture->rows.extent, columns = picture->columns.extent;
    int64_t longer = rows > columns ? rows : columns;
    int64_t whole = longer < USUAL ? (USUAL + longer / 2) / longer : 1;
    int64_t shrink = (longer + LARGEST_USUAL - 1) / LARGEST_USUAL;

    if (picture->line) {
        picture->width = (int)(size ? size : USUAL);
        picture->height = picture->width / 2;
    } else if (size) {
        picture->width = at_least((columns * size + longer / 2) / longer);
        picture->height = at_least((rows * size + longer / 2) / longer);
    } else {
        picture->width = at_least(columns * whole / shrink);
        picture->height = at_least(rows * whole / shrink);
    }
}

/* ---- where things are ---------------------------------------------------- */

struct layout {
    int scale;           /* of letters */
    int gap;             /* between things */
    int left, top;       /* of the cells */
    int bar;             /* left end of the colour bar */
    int label;           /* left end of its label */
    int width, height;   /* of the canvas */
    struct ticks values; /* at the bar, or at the left of a line */
    struct ticks rows, columns;
};

/* The number of ticks that there is room for. */
static int ticks_for(int pixels, int room)
{
    int count = pixels / room;

    return count < 1 ? 1 : count > 8 ? 8 : count;
}

static struct layout arrange(const struct render_picture *picture)
{
    int longer =
        picture->width > picture->height ? picture->width : picture->height;
    int scale = longer < USUAL / 2 ? 1 : (longer + USUAL / 4) / (USUAL / 2);
    int text = text_height(scale), right;
    struct layout l = {.scale = scale, .gap = 4 * scale};

    l.values = ticks_choose(picture->low, picture->high,
                            ticks_for(picture->height, 3 * text), 0);
    l.rows =
        ticks_choose(picture->rows.low, picture->rows.high,
                     ticks_for(picture->height, 6 * text), picture->least_tick);
    l.columns =
        ticks_choose(picture->columns.low, picture->columns.high,
                     ticks_for(picture->width, 10 * text), picture->least_tick);
    l.top = 4 * l.gap + 2 * text;
    l.left =
        3 * l.gap + ticks_width(picture->line ? &l.values : &l.rows, scale);
    l.bar = l.left + picture->width + 3 * l.gap;
    if (picture->line)
        right = l.left + picture->width + 3 * l.gap;
    else
        right = l.bar + 6 * l.gap + ticks_width(&l.values, scale);
    l.width = right;
    if (l.gap + text_width(picture->title, scale) > l.width)
        l.width = l.gap + text_width(picture->title, scale);
    if (!picture->line) {
        /* A label that has no room beside the bar begins further left, but not
         * before the end of the rows' name. */
        int first = 3 * l.gap + text_width(picture->rows.name, scale);
        int length = text_width(picture->label, scale);

        l.label = l.bar + length > l.width ? l.width - length : l.bar;
        if (l.label < first)
            l.label = first;
        if (l.label + length > l.width)
            l.width = l.label + length;
    }
    l.width += 2 * l.gap;
    l.height = l.top + picture->height + 4 * l.gap + 2 * text;
    return l;
}

/* ---- cells --------------------------------------------------------------- */

/* Along one axis: pixels, cells, and samples at full resolution. */
struct axis {
    int pixels, cells;
    int64_t extent;
    int level;
};

/* Whether some samples of the level have no cell of their own. */
static bool is_thinned(const struct axis *axis)
{
    return axis->cells <= (axis->extent - 1) >> axis->level;
}

/* The cell that a pixel shows. A sample stands for all up to the next. */
static int cell_at(const struct axis *axis, int pixel)
{
    if (is_thinned(axis))
        return (int)((int64_t)pixel * axis->cells / axis->pixels);
    return (int)((2 * (int64_t)pixel + 1) * axis->extent /
                     (2 * (int64_t)axis->pixels) >>
                 axis->level);
}

/* The place of a pixel's middle between cell 'i' and the next: the part of the
 * way. Samples lie in the middle of their pixels at full resolution. */
static double part_at(const struct axis *axis, int pixel, int *i)
{
    double where = (pixel + 0.5) * (double)axis->extent / axis->pixels - 0.5;

    where = is_thinned(axis) ? cell_at(axis, pixel)
                             : where / (double)((int64_t)1 << axis->level);
    where = fmin(fmax(where, 0), axis->cells - 1);
    *i = (int)where;
    return where - *i;
}

static double cell_value(const struct raster *raster, int row, int column)
{
    return raster
        ->value[(size_t)row * (size_t)raster->columns + (size_t)column];
}

static double mix(double a, double b, double part)
{
    return part > 0 ? a + part * (b - a) : a;
}

static double smooth_value(const struct raster *raster, const struct axis *rows,
                           const struct axis *columns, int y, int x)
{
    int row, column;
    double down = part_at(rows, y, &row), right = part_at(columns, x, &column);
    int next_row = down > 0 ? row + 1 : row;
    int next_column = right > 0 ? column + 1 : column;

    return mix(mix(cell_value(raster, row, column),
                   cell_value(raster, row, next_column), right),
               mix(cell_value(raster, next_row, column),
                   cell_value(raster, next_row, next_column), right),
               down);
}

static int ink_of(const struct render_picture *picture, double value)
{
    double part = (value - picture->low) / (picture->high - picture->low);

    if (isnan(value))
        return picture->blank ? PAPER : MISSING;
    return OWN_INK + (int)(fmin(fmax(part, 0), 1) * (BAR_INKS - 1) + 0.5);
}

/* The first row is at the bottom, as in plots. */
static void draw_cells(struct canvas *canvas, const struct layout *l,
                       const struct render_picture *picture)
{
    const struct raster *raster = picture->raster;
    struct axis rows = {picture->height, raster->rows, picture->rows.extent,
                        picture->level};
    struct axis columns = {picture->width, raster->columns,
                           picture->columns.extent, picture->level};

    for (int y = 0; y < picture->height; y++)
        for (int x = 0; x < picture->width; x++) {
            double value = picture->smooth
                               ? smooth_value(raster, &rows, &columns, y, x)
                               : cell_value(raster, cell_at(&rows, y),
                                            cell_at(&columns, x));

            canvas_dot(canvas, l->left + x, l->top + picture->height - 1 - y,
                       ink_of(picture, value));
        }
}

/* ---- a line -------------------------------------------------------------- */

static int line_y(const struct layout *l, const struct render_picture *picture,
                  double value)
{
    double part = (value - picture->low) / (picture->high - picture->low);

    part = fmin(fmax(part, 0), 1);
    return l->top + picture->height - 1 -
           (int)(part * (picture->height - 1) + 0.5);
}

/* Each cell is a stroke from its smallest to its largest value; strokes are
 * joined where they do not touch. */
static void draw_curve(struct canvas *canvas, const struct layout *l,
                       const struct render_picture *picture)
{
    const struct raster *raster = picture->raster;
    struct axis axis = {picture->width, raster->columns,
                        picture->columns.extent, picture->level};
    double unit = (double)((int64_t)1 << picture->level);
    int last_x = 0, last_file_tree = 0, last_bottom = 0;
    bool joined = false;

    for (int i = 0; i < raster->columns; i++) {
        double where = is_thinned(&axis)
                           ? (i + 0.5) / axis.cells
                           : (i * unit + 0.5) / (double)axis.extent;
        int x = l->left + (int)(where * picture->width);
        int top, bottom;

        if (isnan(raster->value[i])) {
            canvas_fill(canvas, x, l->top + picture->height - l->gap, l->scale,
                        l->gap, MISSING);
            joined = false;
            continue;
        }
        top = line_y(l, picture, raster->high[i]);
        bottom = line_y(l, picture, raster->value[i]);
        canvas_line(canvas, x, top, x, bottom, ACCENT);
        if (joined && last_file_tree > bottom)
            canvas_line(canvas, last_x, last_file_tree, x, bottom, ACCENT);
        else if (joined)
            canvas_line(canvas, last_x, last_bottom < top ? last_bottom : top,
                        x, top, ACCENT);
        joined = true;
        last_x = x;
        last_file_tree = top;
        last_bottom = bottom;
    }
}

/* ---- around it ----------------------------------------------------------- */

/* Numbers at the left or right of x, for values that grow upwards. */
static void draw_value_ticks(struct canvas *canvas, const struct layout *l,
                             const struct render_picture *picture,
                             const struct ticks *ticks, int x, bool leftward)
{
    bool values = ticks == &l->values;
    double low = values ? picture->low : picture->rows.low;
    double high = values ? picture->high : picture->rows.high;

    for (long i = ticks->first; i <= ticks->last; i++) {
        char text[FORMAT_BYTES];
        double part = (ticks_value(ticks, i) - low) / (high - low);
        int y = l->top + picture->height - 1 -
                (int)(part * (picture->height - 1) + 0.5);
        int wide = text_width(ticks_text(text, ticks, i), l->scale);

        canvas_fill(canvas, leftward ? x - l->scale : x, y, l->scale, 1, INK);
        canvas_text(canvas, leftward ? x - l->gap - wide : x + l->gap,
                    y - text_height(l->scale) / 2, l->scale, text);
    }
}

static void draw_column_ticks(struct canvas *canvas, const struct layout *l,
                              const struct render_picture *picture)
{
    int y = l->top + picture->height + 1;

    for (long i = l->columns.first; i <= l->columns.last; i++) {
        char text[FORMAT_BYTES];
        double part = (ticks_value(&l->columns, i) - picture->columns.low) /
                      (picture->columns.high - picture->columns.low);
        int x = l->left + (int)(part * (picture->width - 1) + 0.5);
        int wide = text_width(ticks_text(text, &l->columns, i), l->scale);

        canvas_fill(canvas, x, y, 1, l->scale, INK);
        canvas_text(canvas, x - wide / 2, y + l->gap, l->scale, text);
    }
    canvas_text(
        canvas,
        l->left +
            (picture->width - text_width(picture->columns.name, l->scale)) / 2,
        y + 2 * l->gap + text_height(l->scale), l->scale,
        picture->columns.name);
}

static bool has_missing(const struct raster *raster)
{
    size_t cells = (size_t)raster->rows * (size_t)raster->columns;

    for (size_t i = 0; i < cells; i++)
        if (isnan(raster->value[i]))
            return true;
    return false;
}

static void draw_bar(struct canvas *canvas, const struct layout *l,
                     const struct render_picture *picture)
{
    int width = 4 * l->gap, bottom = l->top + picture->height;

    for (int y = 0; y < picture->height; y++) {
        double part = (double)y / (picture->height - 1);

        canvas_fill(canvas, l->bar, bottom - 1 - y, width, 1,
                    OWN_INK + (int)(part * (BAR_INKS - 1) + 0.5));
    }
    canvas_frame(canvas, l->bar, l->top, width, picture->height, INK);
    draw_value_ticks(canvas, l, picture, &l->values, l->bar + width, false);
    canvas_text(canvas, l->label, 2 * l->gap + text_height(l->scale), l->scale,
                picture->label);
    if (!picture->blank && has_missing(picture->raster)) {
        canvas_fill(canvas, l->bar, bottom + 2 * l->gap, width,
                    text_height(l->scale), MISSING);
        canvas_text(canvas, l->bar + width + l->gap, bottom + 2 * l->gap,
                    l->scale, "NaN");
    }
}

int render_picture_draw(struct canvas *out, struct context *ctx,
                        const struct render_picture *picture)
{
    struct layout l = arrange(picture);
    int rc = canvas_init(out, ctx, l.width, l.height);

    if (rc)
        return rc;
    for (int i = 0; i < BAR_INKS; i++)
        out->palette[OWN_INK + i] =
            colour_map_at(picture->map, (double)i / (BAR_INKS - 1));
    canvas_text(out, l.gap, l.gap, l.scale, picture->title);
    canvas_frame(out, l.left, l.top, picture->width, picture->height, INK);
    draw_column_ticks(out, &l, picture);
    if (picture->line) {
        draw_curve(out, &l, picture);
        draw_value_ticks(out, &l, picture, &l.values, l.left, true);
        canvas_text(out, l.left, 2 * l.gap + text_height(l.scale), l.scale,
                    picture->label);
        return DONE;
    }
    draw_cells(out, &l, picture);
    draw_value_ticks(out, &l, picture, &l.rows, l.left, true);
    canvas_text(out, l.gap, 2 * l.gap + text_height(l.scale), l.scale,
                picture->rows.name);
    draw_bar(out, &l, picture);
    return DONE;
}
