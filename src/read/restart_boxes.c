/* restart_boxes.c -- see restart_boxes.h. */
#include "read/restart_boxes.h"

#include <math.h>

#include "base/search.h"
#include "plan/rounds.h"

/* The bounds of all finite positions; 0 if there are none. */
static int bounds_of_all(const struct bm_requests *r, double *near, double *far)
{
    int any = 0;

    for (size_t i = 0; i < bm_file_tree_known(r->tree); i++) {
        const struct bm_particle_summary *c = bm_file_tree_of_known(r->tree, i);

        if (c->strays == c->count)
            continue;
        for (int d = 0; d < r->set->ndims; d++) {
            near[d] = !any || c->low[d] < near[d] ? c->low[d] : near[d];
            far[d] = !any || c->high[d] > far[d] ? c->high[d] : far[d];
        }
        any = 1;
    }
    return any;
}

/* Whether two boxes share something along all axes but one: some width, or the
 * plane where one has no width. */
static int beside(const struct bm_request *a, const struct bm_request *b,
                  int but, int ndims)
{
    for (int d = 0; d < ndims; d++) {
        double low = fmax(a->low[d], b->low[d]);
        double high = fmin(a->high[d], b->high[d]);
        int flat = !(a->low[d] < a->high[d]) || !(b->low[d] < b->high[d]);

        if (d != but && !(low < high) && !(flat && low <= high))
            return 0;
    }
    return 1;
}

/* Whether any box goes on behind a face. */
static int any_goes_on(const struct bm_requests *r, int axis, double face)
{
    for (int i = 0; i < r->ranks; i++)
        if (r->all[i].boxed && r->all[i].high[axis] > face)
            return 1;
    return 0;
}

/* Whether a box beside that of a rank goes on behind a face. */
static int goes_on(const struct bm_requests *r, int rank, int axis, double face)
{
    for (int i = 0; i < r->ranks; i++)
        if (r->all[i].boxed && r->all[i].high[axis] > face &&
            beside(&r->all[i], &r->all[rank], axis, r->set->ndims))
            return 1;
    return 0;
}

void bm_requests_close_faces(struct bm_requests *r)
{
    double near[3], far[3];

    if (!bounds_of_all(r, near, far))
        return;
    for (int d = 0; d < r->set->ndims; d++) {
        int any = any_goes_on(r, d, far[d]);

        for (int i = 0; i < r->ranks; i++) {
            struct bm_request *w = &r->all[i];

            if (w->boxed && !w->said && w->high[d] >= far[d] &&
                (w->low[d] < w->high[d] || !(near[d] < far[d])) &&
                !(any && goes_on(r, i, d, far[d])))
                w->closed |= 1u << d;
        }
    }
}

int bm_requests_meet(const struct bm_requests *r, const struct bm_request *w,
                     const struct bm_particle_summary *c)
{
    int apart = c->strays == c->count;

    for (int d = 0; d < r->set->ndims; d++)
        apart |= c->low[d] > w->high[d] || c->high[d] < w->low[d];
    return r->shares || !w->boxed || !apart;
}

/* The part of a file's box that a box, which meets it, has. */
static double part_of_file(const struct bm_requests *r,
                           const struct bm_request *w,
                           const struct bm_particle_summary *c)
{
    double part = 1;

    for (int d = 0; d < r->set->ndims; d++)
        if (c->low[d] < c->high[d])
            part *=
                (fmin(w->high[d], c->high[d]) - fmax(w->low[d], c->low[d])) /
                (c->high[d] - c->low[d]);
    return part;
}

/* About so many of 'count' particles, if they are all alike; rather more, but
 * not more than there are. */
static uint64_t some_of(double part, uint64_t count)
{
    double n = part * (double)count * 17 / 16 + 64;

    return n < (double)count ? (uint64_t)n : count;
}

uint64_t bm_requests_expect(const struct bm_requests *r, int rank,
                            const struct bm_criteria *q)
{
    uint64_t ranks = (uint64_t)r->ranks, at = (uint64_t)rank, n = 0;
    const struct bm_request *w = &r->all[rank];

    if (q->condition_count)
        return 0;
    if (r->shares)
        n = bm_cut(r->set->particles, ranks, at + 1) -
            bm_cut(r->set->particles, ranks, at);
    for (size_t i = 0; i < bm_file_tree_known(r->tree) && !r->shares; i++) {
        const struct bm_particle_summary *c = bm_file_tree_of_known(r->tree, i);

        if (!w->boxed)
            n += c->count;
        else if (bm_requests_meet(r, w, c))
            n += some_of(part_of_file(r, w, c), c->count - c->strays);
    }
    return some_of(q->quality - q->from, n);
}

void bm_requests_list(struct bm_requests *r,
                      const struct bm_particle_summary *c, uint64_t from,
                      uint64_t to)
{
    uint64_t ranks = (uint64_t)r->ranks, all = r->set->particles;
    size_t i = 0;

    r->meet_count = 0;
    if (r->shares) /* the one whose share the first slot is in */
        BM_BISECT(i, (size_t)ranks, k, bm_cut(all, ranks, k) <= from);
    for (; i < ranks && !(r->shares && bm_cut(all, ranks, i) >= to); i++)
        if (bm_requests_meet(r, &r->all[i], c))
            r->meet[r->meet_count++] = (int)i;
}

int bm_requests_box(const struct bm_requests *r,
                    const struct bm_particle_summary *c, struct bm_request *out)
{
    double parts = 0;
    int any = 0;

    *out = (struct bm_request){.boxed = !r->shares, .closed = 7};
    if (r->shares)
        return 1;
    for (size_t i = 0; i < r->meet_count; i++) {
        const struct bm_request *w = &r->all[r->meet[i]];

        if (!w->boxed) {
            out->boxed = 0;
            return 1;
        }
        for (int d = 0; d < r->set->ndims; d++) {
            out->low[d] = any ? fmin(out->low[d], w->low[d]) : w->low[d];
            out->high[d] = any ? fmax(out->high[d], w->high[d]) : w->high[d];
        }
        parts += part_of_file(r, w, c);
        any = 1;
    }
    return any && parts >= 0.9 * part_of_file(r, out, c);
}
