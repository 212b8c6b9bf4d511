/* plan_ranks_picture.c -- see plan_ranks_picture.h.
 *
 *     title
 *     place=local                place=spread
 *     levels 0 to 19: 1 file
 *     +---+ +---+ +---+ +---+    +---+ +---+ +---+ +---+
 *     |   | |   | |   | |   |    |   | |   | |   | |   |
 *     +---+ +---+ +---+ +---+    +---+ +---+ +---+ +---+
 *     level 20: 1 file
 *     ...
 *
 * A frame has the ranks of one layer of the first axis, as they lie in the grid;
 * the first row is at the bottom. A rank has the colour of the file that it holds
 * samples of; of several files, stripes. A rank that writes is marked black. */
#include "plan_ranks_picture.h"

#include <stdio.h>
#include <stdlib.h>

#include "format_text.h"
#include "sized.h"

enum {
    PANEL = 480,       /* pixels of a panel's width, but for one frame alone */
    LARGEST_RANK = 12, /* pixels */
    SCALE = 2,
    GAP = 12,
    BETWEEN = 6,   /* layers, which have frames around them */
    COLOURS = 239, /* a prime: things a row apart look other */
    STRIPES = 4,   /* files of a rank that are told apart */
    LEAST_DOT = 3
};

/* Where things are. */
struct view {
    bouma_plan_report report;
    int64_t ranks[3];  /* along each axis, lifted */
    int width, height; /* of a frame */
    int in_row;        /* frames */
    int panel_width, panel_height;
};

/* Files with samples of the same levels. */
struct level_set {
    int64_t first, end; /* files */
    int levels[2];
};

/* The files that a rank has samples of: the first ones. */
struct held {
    int64_t file[STRIPES];
    int count;
};

/* ---- where --------------------------------------------------------------- */

static int pixels_for(int64_t ranks, int each)
{
    return ranks * each > PANEL ? PANEL : (int)ranks * each;
}

/* So many that all rows are full, if that needs no more than twice the rows. */
static int frames_in_row(int64_t frames, int most)
{
    most = most < 1 ? 1 : most;
    most = most > frames ? (int)frames : most;
    for (int n = most; 2 * n > most; n--)
        if (frames % n == 0)
            return n;
    return most;
}

static void view_init(struct view *view, const bouma_plan *plan,
                      const bouma_plan_spec *spec)
{
    int64_t wide;
    int each, rows;

    bouma_plan_report_get(SIZED(&view->report), plan);
    for (int d = 0; d < 3; d++) {
        int axis = d - (3 - spec->ndims);

        view->ranks[d] = axis < 0 ? 1 : view->report.blocks[axis];
    }
    /* As large as fits with all layers in one row, if that can be. */
    wide = view->ranks[0] * view->ranks[2];
    each = wide < PANEL ? (int)((PANEL - view->ranks[0] * BETWEEN) / wide) : 1;
    each = each < 1 ? 1 : each > LARGEST_RANK ? LARGEST_RANK : each;
    view->width = pixels_for(view->ranks[2], each);
    view->height = pixels_for(view->ranks[1], each);
    view->in_row = frames_in_row(view->ranks[0],
                                 (PANEL + BETWEEN) / (view->width + BETWEEN));
    rows = (int)((view->ranks[0] - 1) / view->in_row) + 1;
    view->panel_width = view->in_row * (view->width + BETWEEN) - BETWEEN;
    view->panel_height = rows * (view->height + BETWEEN) - BETWEEN;
}

/* The pixels of a rank in a panel. */
struct spot {
    int x, y, width, height;
};

static struct spot spot_of(const struct view *view, const int64_t at[3])
{
    int64_t wide = view->width, high = view->height;
    int64_t left = at[2] * wide / view->ranks[2];
    int64_t low = at[1] * high / view->ranks[1];
    int64_t right = (at[2] + 1) * wide / view->ranks[2];
    int64_t up = (at[1] + 1) * high / view->ranks[1];
    int frame_x = (int)(at[0] % view->in_row) * (view->width + BETWEEN);
    int frame_y = (int)(at[0] / view->in_row) * (view->height + BETWEEN);

    right = right > left ? right : left + 1; /* many ranks share a pixel */
    up = up > low ? up : low + 1;
    return (struct spot){frame_x + (int)left, frame_y + (int)(high - up),
                         (int)(right - left), (int)(up - low)};
}

static struct spot find_spot(const struct view *view, const bouma_plan *plan,
                             const bouma_plan_spec *spec, int rank)
{
    int64_t at[3] = {0, 0, 0};
    bouma_plan_rank about = {.size = sizeof(about)};

    bouma_plan_rank_get(&about, plan, rank);
    for (int d = 0; d < spec->ndims; d++)
        at[3 - spec->ndims + d] = about.at[d];
    return spot_of(view, at);
}

/* ---- what ---------------------------------------------------------------- */

/* The files from 'first' on that have the same levels. */
static struct level_set find_set(const bouma_plan *plan, int64_t first,
                                 int64_t files)
{
    struct level_set set = {.first = first, .end = first + 1};
    bouma_plan_file file = {.size = sizeof(file)};

    bouma_plan_file_get(&file, plan, first);
    set.levels[0] = file.first_level;
    set.levels[1] = file.last_level;
    for (; set.end < files; set.end++) {
        bouma_plan_file_get(&file, plan, set.end);
        if (file.first_level != set.levels[0] ||
            file.last_level != set.levels[1])
            break;
    }
    return set;
}

static int count_sets(const bouma_plan *plan, int64_t files)
{
    int count = 0;

    for (int64_t at = 0; at < files; count++)
        at = find_set(plan, at, files).end;
    return count;
}

struct listing {
    struct held *held; /* [ranks] */
    int64_t file;
};

static void list_holder(void *user, int rank)
{
    const struct listing *listing = user;
    struct held *held = &listing->held[rank];

    if (held->count < STRIPES)
        held->file[held->count++] = listing->file;
}

/* ---- drawing ------------------------------------------------------------- */

static int ink_of(int64_t number)
{
    return OWN_INK + (int)(number % COLOURS);
}

/* Pale, so that writers stand out. */
static void set_palette(struct canvas *canvas)
{
    for (int i = 0; i < COLOURS; i++) {
        struct colour c = colour_of_number((uint64_t)i);

        canvas->palette[OWN_INK + i] = (struct colour){
            (uint8_t)(c.red / 2 + 127), (uint8_t)(c.green / 2 + 127),
            (uint8_t)(c.blue / 2 + 127)};
    }
}

static void draw_holder(struct canvas *canvas, struct spot spot,
                        const struct held *held)
{
    for (int y = 0; y < spot.height && held->count; y++)
        for (int x = 0; x < spot.width; x++)
            canvas_dot(canvas, spot.x + x, spot.y + y,
                       ink_of(held->file[(x + y) % held->count]));
}

/* In the middle of the rank; of a small one, over its neighbours. */
static void draw_writer(struct canvas *canvas, struct spot spot)
{
    int width = spot.width - 2 * (spot.width / 4);
    int height = spot.height - 2 * (spot.height / 4);

    width = width < LEAST_DOT ? LEAST_DOT : width;
    height = height < LEAST_DOT ? LEAST_DOT : height;
    canvas_fill(canvas, spot.x + (spot.width - width) / 2,
                spot.y + (spot.height - height) / 2, width, height, INK);
}

static void draw_frames(struct canvas *canvas, const struct view *view,
                        int left, int top)
{
    for (int64_t i = 0; i < view->ranks[0]; i++)
        canvas_frame(canvas,
                     left + (int)(i % view->in_row) * (view->width + BETWEEN),
                     top + (int)(i / view->in_row) * (view->height + BETWEEN),
                     view->width, view->height, FAINT);
}

/* A panel: the files of a set, by one plan. */
static int draw_panel(struct canvas *canvas, const struct view *view,
                      const bouma_plan *plan, const bouma_plan_spec *spec,
                      const struct level_set *set, struct spot corner)
{
    struct listing listing = {
        .held = calloc((size_t)view->report.ranks, sizeof(*listing.held))};
    int status = listing.held ? BOUMA_OK : BOUMA_ENOMEM;

    for (int64_t f = set->first; f < set->end && !status; f++) {
        listing.file = f;
        status = bouma_plan_holders(plan, f, list_holder, &listing);
    }
    for (int r = 0; r < view->report.ranks && !status; r++) {
        struct spot spot = find_spot(view, plan, spec, r);

        spot.x += corner.x;
        spot.y += corner.y;
        draw_holder(canvas, spot, &listing.held[r]);
    }
    for (int64_t f = set->first; f < set->end && !status; f++) {
        bouma_plan_file file = {.size = sizeof(file)};
        struct spot spot;

        bouma_plan_file_get(&file, plan, f);
        spot = find_spot(view, plan, spec, file.writer);
        spot.x += corner.x;
        spot.y += corner.y;
        draw_writer(canvas, spot);
    }
    draw_frames(canvas, view, corner.x, corner.y);
    free(listing.held);
    return status;
}

static void set_text(char *text, size_t bytes, const struct level_set *set,
                     const bouma_plan_report *report)
{
    char files[FORMAT_BYTES];

    format_count(files, (uint64_t)(set->end - set->first), "file");
    if (report->layout != BOUMA_LAYOUT_HZ)
        snprintf(text, bytes, "%s", files);
    else if (set->levels[0] == set->levels[1])
        snprintf(text, bytes, "HZ level %d: %s", set->levels[0], files);
    else
        snprintf(text, bytes, "HZ levels %d to %d: %s", set->levels[0],
                 set->levels[1], files);
}

static void title_text(char *text, size_t bytes,
                       const bouma_plan_report *report,
                       const bouma_plan_spec *spec)
{
    char ranks[FORMAT_BYTES], blocks[FORMAT_BYTES], files[FORMAT_BYTES];

    snprintf(text, bytes, "%s, %s, %s%s%s",
             format_count(ranks, (uint64_t)report->ranks, "rank"),
             format_shape(blocks, spec->ndims, report->blocks),
             format_count(files, (uint64_t)report->files, "file"),
             *report->hz_template ? ", " : "", report->hz_template);
}

static int at_least(int a, int b)
{
    return a > b ? a : b;
}

int plan_ranks_picture_draw(struct canvas *out, struct context *ctx,
                            bouma_plan *const *plans, int count,
                            const bouma_plan_spec *spec)
{
    int text = text_height(SCALE), column, row, top, rc, status = BOUMA_OK;
    char line[4 * FORMAT_BYTES + 64];
    struct view view;

    view_init(&view, plans[0], spec);
    title_text(line, sizeof(line), &view.report, spec);
    column =
        2 * GAP + at_least(view.panel_width,
                           text_width("HZ levels 10 to 19: 9 files", SCALE));
    row = text + GAP / 2 + view.panel_height + GAP;
    top = 3 * GAP + 2 * text;
    rc = canvas_init(
        out, ctx, at_least(count * column, text_width(line, SCALE) + 2 * GAP),
        top + row * count_sets(plans[0], view.report.files));
    if (rc)
        return rc;
    set_palette(out);
    canvas_text(out, GAP, GAP, SCALE, line);
    for (int i = 0; i < count; i++) {
        bouma_plan_report report = {.size = sizeof(report)};
        int y = top, left = GAP + i * column;

        bouma_plan_report_get(&report, plans[i]);
        snprintf(line, sizeof(line), "place=%s",
                 bouma_place_name(report.place));
        canvas_text(out, left, 2 * GAP + text, SCALE, line);
        for (int64_t at = 0; at < report.files && !status; y += row) {
            struct level_set set = find_set(plans[i], at, report.files);
            struct spot corner = {.x = left, .y = y + text + GAP / 2};

            set_text(line, sizeof(line), &set, &report);
            canvas_text(out, left, y, SCALE, line);
            status = draw_panel(out, &view, plans[i], spec, &set, corner);
            at = set.end;
        }
    }
    return status
               ? context_fail(ctx, DATA_AT_FAULT, "no memory for the picture")
               : DONE;
}
