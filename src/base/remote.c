/* remote.c -- see remote.h. */
#include "base/remote.h"

#include <string.h>

_Static_assert(BM_SPREAD_AXES == 4, "planes, rows, and two more");

/* An axis of values, in the order in which they lie in memory: strides are
 * positive. */
struct axis {
    int number; /* in the spread */
    uint64_t count;
    int64_t stride; /* there */
    int64_t here;   /* in the room */
};

struct box {
    struct axis axes[BM_SPREAD_AXES]; /* from the longest stride */
    int count;
    int64_t first; /* from the first value to the one with the lowest address */
    size_t bytes;
};

/* Axes of one value and those that repeat one are left out. */
static struct box box_of(const struct bm_spread *s)
{
    struct box b = {.bytes = s->size};

    for (int k = 0; k < BM_SPREAD_AXES; k++) {
        struct axis a = {k, s->count[k], s->stride[k], 0};
        int i;

        if (a.count <= 1 || !a.stride)
            continue;
        if (a.stride < 0) {
            b.first += a.stride * (int64_t)(a.count - 1);
            a.stride = -a.stride;
        }
        for (i = b.count++; i && b.axes[i - 1].stride < a.stride; i--)
            b.axes[i] = b.axes[i - 1];
        b.axes[i] = a;
    }
    for (int i = b.count - 1; i >= 0; i--) {
        b.axes[i].here = (int64_t)b.bytes;
        b.bytes *= b.axes[i].count;
    }
    return b;
}

size_t bm_remote_room(const struct bm_spread *there)
{
    return box_of(there).bytes;
}

struct bm_spread bm_remote_view(const struct bm_spread *there, uint8_t *room)
{
    struct box b = box_of(there);
    struct bm_spread view = *there;

    view.data = room;
    memset(view.stride, 0, sizeof(view.stride));
    for (int i = 0; i < b.count; i++) {
        const struct axis *a = &b.axes[i];
        int back = there->stride[a->number] < 0;

        view.stride[a->number] = back ? -a->here : a->here;
        view.data += back ? a->here * (int64_t)(a->count - 1) : 0;
    }
    return view;
}

/* ---- pieces ------------------------------------------------------------- */

/* What is copied: runs of bytes, along as few axes as can be. */
struct runs {
    const struct bm_remote *remote;
    bouma_copy_direction direction;
    struct axis outer[2]; /* a call for each */
    struct axis planes, rows;
    size_t run;
    uint8_t *there, *room;
};

/* Axes that follow on each other become one. */
static int join_axes(struct axis *axes, int count, size_t *run)
{
    int n = 0;

    while (count && axes[count - 1].stride == (int64_t)*run)
        *run *= axes[--count].count;
    for (int i = 0; i < count; i++) {
        struct axis *before = n ? &axes[n - 1] : NULL;

        if (before &&
            before->stride == axes[i].stride * (int64_t)axes[i].count) {
            before->count *= axes[i].count;
            before->stride = axes[i].stride;
            before->here = axes[i].here;
        } else {
            axes[n++] = axes[i];
        }
    }
    return n;
}

static size_t at_most(uint64_t count, size_t limit)
{
    return count < limit ? (size_t)count : limit ? limit : 1;
}

/* So many planes of so many rows of so many bytes, from an offset each. */
struct piece {
    int64_t there, here;
    size_t planes, rows, run;
};

static int copy_piece(const struct runs *r, const struct piece *p)
{
    int out = r->direction == BOUMA_COPY_DIRECTION_FROM_ARRAY;
    uint8_t *there = r->there + p->there, *here = r->room + p->here;
    bouma_copy c = {.size = sizeof(c),
                    .direction = r->direction,
                    .ndims = p->planes > 1 ? 2
                             : p->rows > 1 ? 1
                                           : 0,
                    .to = out ? here : there,
                    .from = out ? there : here,
                    .run = p->run,
                    .count = {p->planes, p->rows}};
    int64_t *far = out ? c.from_stride : c.to_stride;
    int64_t *near = out ? c.to_stride : c.from_stride;

    far[1] = p->rows > 1 ? r->rows.stride : (int64_t)p->run;
    near[1] = p->rows > 1 ? r->rows.here : (int64_t)p->run;
    far[0] = p->planes > 1 ? r->planes.stride : (int64_t)p->rows * far[1];
    near[0] = p->planes > 1 ? r->planes.here : (int64_t)p->rows * near[1];
    return r->remote->copy(r->remote->user, &c);
}

/* All planes, rows and bytes behind an offset, cut so that no piece is too
 * long. */
static int copy_planes(const struct runs *r, int64_t there, int64_t here)
{
    size_t most = r->remote->most ? r->remote->most : BM_REMOTE_BYTES;
    size_t run = at_most(r->run, most);
    /* Rows of a put may overlap; a copy in two axes must not. */
    int apart = r->rows.stride >= (int64_t)r->run;
    size_t rows =
        run < r->run || !apart ? 1 : at_most(r->rows.count, most / run);
    size_t planes = rows < r->rows.count
                        ? 1
                        : at_most(r->planes.count, most / (run * rows));
    int rc = 0;

    for (uint64_t i = 0; i < r->planes.count && !rc; i += planes)
        for (uint64_t j = 0; j < r->rows.count && !rc; j += rows)
            for (uint64_t k = 0; k < r->run && !rc; k += run) {
                struct piece p = {there + (int64_t)i * r->planes.stride +
                                      (int64_t)j * r->rows.stride + (int64_t)k,
                                  here + (int64_t)i * r->planes.here +
                                      (int64_t)j * r->rows.here + (int64_t)k,
                                  at_most(r->planes.count - i, planes),
                                  at_most(r->rows.count - j, rows),
                                  at_most(r->run - k, run)};

                rc = copy_piece(r, &p);
            }
    return rc;
}

int bm_remote_copy(const struct bm_remote *remote,
                   const struct bm_spread *there, uint8_t *room,
                   bouma_copy_direction direction)
{
    struct box b = box_of(there);
    struct runs r = {.remote = remote,
                     .direction = direction,
                     .outer = {{.count = 1}, {.count = 1}},
                     .planes = {.count = 1},
                     .rows = {.count = 1},
                     .run = there->size,
                     .room = room};
    const uint8_t *first = there->data + b.first;
    int count = join_axes(b.axes, b.count, &r.run), rc = 0;

    memcpy(&r.there, &first, sizeof(r.there)); /* written only if it is to */
    if (count > 0)
        r.rows = b.axes[count - 1];
    if (count > 1)
        r.planes = b.axes[count - 2];
    for (int i = 0; i < count - 2; i++)
        r.outer[i] = b.axes[i];
    for (uint64_t i = 0; i < r.outer[0].count && !rc; i++)
        for (uint64_t j = 0; j < r.outer[1].count && !rc; j++)
            rc = copy_planes(
                &r,
                (int64_t)i * r.outer[0].stride + (int64_t)j * r.outer[1].stride,
                (int64_t)i * r.outer[0].here + (int64_t)j * r.outer[1].here);
    return rc;
}
