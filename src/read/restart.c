/* restart.c -- particles for all ranks at once, each file read by one of them:
 * two phases, as in writing.
 *
 *     ranks tell their boxes -> readers look for each of them in a slice of
 *     their files -> readers tell how many they found -> the particles go to
 *     the ranks -> the next slice
 *
 * So a reader has no more than a slice of what is for others in its memory. */
#include "read/restart.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "engine/flows.h"
#include "plan/assign.h"
#include "read/collector.h"
#include "read/shelf.h"

/* What one rank wants. */
struct wish {
    int boxed;
    double low[3], high[3];
    unsigned closed;
    int said; /* by the caller which faces are */
};

/* What a reader has for a rank. */
struct catch
{
    uint64_t at;           /* in the stream of this reader */
    uint64_t first, count; /* of the particles in 'found' */
};

/* A file that this rank reads, and how many particles are in those before. */
struct own_file {
    size_t file;
    uint64_t at;
};

struct restart {
    struct bouma_step *step;
    struct bm_object *set;
    const bouma_particles_query *query;
    int shares; /* no boxes: equal shares */
    const struct bm_top *top;
    struct wish *wishes; /* [ranks] */
    struct own_file *mine;
    size_t mine_count;
    struct catch *catches;     /* [ranks], of the slice at hand */
    struct bm_collector found; /* in it, for one rank after the other */
    uint64_t *first; /* [ranks + 1], of what each reader has for this one */
    size_t lanes;    /* components of all variables */
    uint64_t sample; /* bytes of a particle in them */
    struct bm_collector out;
    uint64_t had; /* particles in it, before the slice at hand */
    struct bm_pipe *pipe;
};

static int no_memory(struct restart *r)
{
    return bm_fail(&r->step->ds->error, BOUMA_ENOMEM,
                   "no memory to read particles");
}

/* ---- wishes ------------------------------------------------------------- */

/* Collective. */
static int share_wishes(struct restart *r, int rc)
{
    struct bouma_dataset *ds = r->step->ds;
    int ranks = ds->comm->size;
    size_t *sizes = bm_new(ds->a, (size_t)ranks, sizeof(*sizes));
    struct bm_buffer mine, all;
    struct bm_cursor c;

    bm_buffer_init(&mine, ds->a);
    bm_buffer_init(&all, ds->a);
    r->wishes = bm_new(ds->a, (size_t)ranks, sizeof(*r->wishes));
    r->first = bm_new(ds->a, (size_t)ranks + 1, sizeof(*r->first));
    bm_put_u32(&mine, r->query ? (uint32_t)r->query->boxed : 0);
    bm_put_u32(&mine, r->query ? r->query->closed : 0);
    for (int d = 0; d < 3; d++) {
        bm_put_f64(&mine, r->query ? r->query->low[d] : 0);
        bm_put_f64(&mine, r->query ? r->query->high[d] : 0);
    }
    if (!rc && (!sizes || !r->wishes || !r->first || mine.failed))
        rc = no_memory(r);
    rc = bm_comm_collect(ds->comm, &mine, &all, sizes, 1, rc, &ds->error);
    c = bm_cursor_of(all.data, all.size);
    for (int i = 0; i < ranks && !rc; i++) {
        struct wish *w = &r->wishes[i];

        w->boxed = (int)bm_get_u32(&c);
        w->closed = bm_get_u32(&c);
        w->said = w->closed != 0;
        for (int d = 0; d < 3; d++) {
            w->low[d] = bm_get_f64(&c);
            w->high[d] = bm_get_f64(&c);
        }
    }
    bm_buffer_release(&mine);
    bm_buffer_release(&all);
    bm_drop(ds->a, sizes);
    return rc;
}

/* The bounds of all finite positions; 0 if there are none. */
static int bounds_of_all(const struct restart *r, double *near, double *far)
{
    int any = 0;

    for (size_t f = 0; f < r->top->files; f++) {
        const struct bm_cloud *c = r->top->clouds[f];

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
 * place where one has no width. */
static int beside(const struct wish *a, const struct wish *b, int but,
                  int ndims)
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
static int any_goes_on(const struct restart *r, int axis, double face)
{
    for (int i = 0; i < r->step->ds->comm->size; i++)
        if (r->wishes[i].boxed && r->wishes[i].high[axis] > face)
            return 1;
    return 0;
}

/* Whether a box beside that of a rank goes on behind a face. */
static int goes_on(const struct restart *r, int rank, int axis, double face)
{
    for (int i = 0; i < r->step->ds->comm->size; i++)
        if (r->wishes[i].boxed && r->wishes[i].high[axis] > face &&
            beside(&r->wishes[i], &r->wishes[rank], axis, r->set->ndims))
            return 1;
    return 0;
}

/* A box that ends at the far face of all particles includes it, unless another
 * rank's box goes on behind it there, which then has it. A box without width
 * has nothing, but where all particles are in one plane. */
static void close_faces(struct restart *r)
{
    double near[3], far[3];

    if (!bounds_of_all(r, near, far))
        return;
    for (int d = 0; d < r->set->ndims; d++) {
        int any = any_goes_on(r, d, far[d]);

        for (int i = 0; i < r->step->ds->comm->size; i++) {
            struct wish *w = &r->wishes[i];

            if (w->boxed && !w->said && w->high[d] >= far[d] &&
                (w->low[d] < w->high[d] || !(near[d] < far[d])) &&
                !(any && goes_on(r, i, d, far[d])))
                w->closed |= 1u << d;
        }
    }
}

/* ---- reading ------------------------------------------------------------ */

static int reader_of(const struct restart *r, size_t file)
{
    return bm_spread_file((int64_t)r->top->files, r->step->ds->comm->size,
                          (int64_t)file);
}

/* A part of a file, small enough to be kept while it is looked through for one
 * rank after the other. */
struct slice {
    size_t file;
    uint64_t at;       /* particles in the files before it */
    uint64_t from, to; /* places in it */
    struct bm_shelf shelf, values;
};

/* The places of a slice: whole chunks, of a buffer. The same on all ranks.
 */
static uint64_t slice_places(const struct restart *r)
{
    uint64_t bytes = r->step->ds->site.buffer_bytes;
    uint64_t each = (r->sample + 1) * bm_bat_of(r->set)->detail.chunk;

    return bm_bat_of(r->set)->detail.chunk * (bytes > each ? bytes / each : 1);
}

/* The slices of the reader that has most. The same on all ranks. */
static int count_slices(const struct restart *r, uint64_t *out)
{
    const bouma_allocator *a = r->step->ds->a;
    uint64_t *count =
        bm_new(a, (size_t)r->step->ds->comm->size, sizeof(*count));
    uint64_t places = slice_places(r);

    if (!count)
        return BOUMA_ENOMEM;
    *out = 0;
    for (size_t f = 0; f < r->top->files; f++) {
        uint64_t *here = &count[reader_of(r, f)];

        *here += (r->top->clouds[f]->count + places - 1) / places;
        *out = *here > *out ? *here : *out;
    }
    bm_drop(a, count);
    return BOUMA_OK;
}

/* Whether a rank's box can have particles of a file. */
static int meets_file(const struct restart *r, const struct wish *w,
                      const struct bm_cloud *c)
{
    int apart = c->strays == c->count;

    for (int d = 0; d < r->set->ndims; d++)
        apart |= c->low[d] > w->high[d] || c->high[d] < w->low[d];
    return r->shares || !w->boxed || !apart;
}

/* Look in a slice for what a wish says; without 'found' it is only read. */
static int hunt_slice(struct restart *r, struct slice *s, const struct wish *w,
                      uint64_t from, uint64_t to, struct bm_collector *found)
{
    struct bouma_dataset *ds = r->step->ds;
    struct bm_hunt hunt = {.step = r->step,
                           .set = r->set,
                           .query = *r->query,
                           .each = found ? bm_collector_add : NULL,
                           .context = found,
                           .files = &s->file,
                           .from = &from,
                           .to = &to,
                           .file_count = 1,
                           .shelf = &s->shelf,
                           .values = &s->values};
    int rc;

    hunt.query.boxed = w->boxed;
    memcpy(hunt.query.low, w->low, sizeof(w->low));
    memcpy(hunt.query.high, w->high, sizeof(w->high));
    hunt.query.closed = w->closed;
    rc = bm_hunt(&hunt);
    if (rc == BOUMA_EABORTED) { /* which the collector does for memory */
        bm_error_clear(&ds->error);
        rc = no_memory(r);
    }
    return rc;
}

/* The part of a file's box that a box, which meets it, has. */
static double part_of_file(const struct restart *r, const struct wish *w,
                           const struct bm_cloud *c)
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

/* How many particles this rank will get, as far as boxes tell. With conditions
 * that is not known. */
static uint64_t expect(const struct restart *r)
{
    const bouma_particles_query *q = r->query;
    uint64_t ranks = (uint64_t)r->step->ds->comm->size, n = 0;
    uint64_t rank = (uint64_t)r->step->ds->comm->rank;
    const struct wish *w = &r->wishes[rank];

    if (q->condition_count)
        return 0;
    if (r->shares)
        n = bm_cut(r->set->particles, ranks, rank + 1) -
            bm_cut(r->set->particles, ranks, rank);
    for (size_t f = 0; f < r->top->files && !r->shares; f++) {
        const struct bm_cloud *c = r->top->clouds[f];

        if (!w->boxed)
            n += c->count;
        else if (meets_file(r, w, c))
            n += some_of(part_of_file(r, w, c), c->count - c->strays);
    }
    return some_of(q->quality - q->from, n);
}

/* The box around all that ranks want of a file; 0 if they leave out much of it,
 * so that reading all that is in it would be a waste. */
static int box_of_all(const struct restart *r, const struct bm_cloud *c,
                      struct wish *out)
{
    double parts = 0;
    int any = 0;

    *out = (struct wish){.boxed = !r->shares, .closed = 7};
    if (r->shares)
        return 1;
    for (int i = 0; i < r->step->ds->comm->size; i++) {
        const struct wish *w = &r->wishes[i];

        if (!meets_file(r, w, c))
            continue;
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

/* What MPI may still use is never given back: if touch with other ranks is
 * lost, particles may be on their way to or from a collector. */
static void let_go(struct restart *r, struct bm_collector *c)
{
    for (size_t i = 0;
         r->step->ds->comm->lost && c->columns && i < c->variable_count; i++)
        c->columns[i] = NULL;
    bm_collector_release(c);
}

/* Look in a slice for what each rank wants. */
static int catch_slice(struct restart *r, struct slice *s)
{
    const struct bm_cloud *c = r->top->clouds[s->file];
    uint64_t ranks = (uint64_t)r->step->ds->comm->size;
    struct wish all;
    int rc = BOUMA_OK;

    bm_shelf_clear(&s->shelf);
    bm_shelf_clear(&s->values);
    bm_collector_clear(&r->found);
    if (box_of_all(r, c, &all))
        rc = hunt_slice(r, s, &all, s->from, s->to, NULL);
    /* It may have met damage that nobody asks for: each reads its own then. */
    if (rc && rc != BOUMA_ENOMEM) {
        bm_error_clear(&r->step->ds->error);
        bm_shelf_clear(&s->shelf);
        rc = BOUMA_OK;
    }
    for (uint64_t i = 0; i < ranks && !rc; i++) {
        uint64_t from = s->from, to = s->to;

        if (r->shares) {
            uint64_t begin = bm_cut(r->set->particles, ranks, i);
            uint64_t end = bm_cut(r->set->particles, ranks, i + 1);

            begin = begin > s->at ? begin - s->at : 0;
            end = end > s->at ? end - s->at : 0;
            from = begin > from ? begin : from;
            to = end < to ? end : to;
        }
        r->catches[i].first = r->found.count;
        if (from < to && meets_file(r, &r->wishes[i], c))
            rc = hunt_slice(r, s, &r->wishes[i], from, to, &r->found);
        r->catches[i].count = r->found.count - r->catches[i].first;
    }
    return rc;
}

/* The files that this rank reads. */
static int list_mine(struct restart *r)
{
    uint64_t at = 0;

    r->mine = bm_new_raw(r->step->ds->a, r->top->files, sizeof(*r->mine));
    if (!r->mine)
        return no_memory(r);
    for (size_t f = 0; f < r->top->files; f++) {
        if (reader_of(r, f) == r->step->ds->comm->rank)
            r->mine[r->mine_count++] = (struct own_file){f, at};
        at += r->top->clouds[f]->count;
    }
    return BOUMA_OK;
}

/* What is needed from the beginning to the end. */
static int prepare(struct restart *r, uint64_t *rounds)
{
    struct bouma_dataset *ds = r->step->ds;
    int rc = list_mine(r);

    r->catches = bm_new(ds->a, (size_t)ds->comm->size, sizeof(*r->catches));
    if (!rc && (!r->catches || count_slices(r, rounds) ||
                bm_collector_init(&r->found, ds->a, r->query->variables,
                                  r->query->variable_count) ||
                bm_collector_init(&r->out, ds->a, r->query->variables,
                                  r->query->variable_count)))
        rc = no_memory(r);
    if (!rc) /* less will do if there is not so much */
        bm_collector_reserve(&r->out, expect(r));
    return rc;
}

/* The next slice of this rank's files, if there is one, for all ranks. */
static int catch_next(struct restart *r, size_t *k, struct slice *s)
{
    uint64_t places = slice_places(r), count;

    for (int i = 0; i < r->step->ds->comm->size; i++)
        r->catches[i].count = 0;
    if (*k < r->mine_count &&
        s->to == r->top->clouds[r->mine[*k].file]->count) {
        ++*k;
        s->to = 0;
    }
    if (*k >= r->mine_count)
        return BOUMA_OK;
    s->file = r->mine[*k].file;
    s->at = r->mine[*k].at;
    s->from = s->to;
    count = r->top->clouds[s->file]->count;
    s->to = count - s->from < places ? count : s->from + places;
    return catch_slice(r, s);
}

/* ---- particles go to the ranks ------------------------------------------ */

/* The lanes of what a reader has for a rank, one after the other. Rounds are
 * filled, whatever is in them. */
static void list_lanes(struct restart *r, struct bm_flows *flows, int reader,
                       int rank, uint64_t count)
{
    size_t tag = (size_t)reader * r->lanes;

    for (size_t v = 0; v < r->query->variable_count; v++)
        for (int c = 0; c < r->query->variables[v]->components; c++)
            bm_flows_add(flows, reader, rank,
                         count * bm_variable_value_size(r->query->variables[v]),
                         tag++);
}

/* Readers tell how many they have for whom, and all ranks learn where that is
 * in the readers' streams. Collective. */
static int share_counts(struct restart *r, struct bm_flows *flows, int rc)
{
    struct bouma_dataset *ds = r->step->ds;
    int ranks = ds->comm->size;
    size_t *sizes = bm_new(ds->a, (size_t)ranks, sizeof(*sizes));
    struct bm_buffer mine, all;
    const uint8_t *at;

    bm_buffer_init(&mine, ds->a);
    bm_buffer_init(&all, ds->a);
    for (int i = 0; i < ranks && !rc; i++)
        if (r->catches[i].count) {
            bm_put_u32(&mine, (uint32_t)i);
            bm_put_u64(&mine, r->catches[i].count);
        }
    if (!rc && (!sizes || mine.failed || bm_flows_init(flows, ds->comm)))
        rc = no_memory(r);
    rc = bm_comm_collect(ds->comm, &mine, &all, sizes, 1, rc, &ds->error);
    at = all.data;
    for (int i = 0; i < ranks && !rc; at += sizes[i], i++) {
        struct bm_cursor c = bm_cursor_of(at, sizes[i]);

        r->first[i + 1] = 0;
        while (bm_cursor_left(&c) >= 12) {
            int to = (int)bm_get_u32(&c);
            uint64_t count = bm_get_u64(&c);

            list_lanes(r, flows, i, to, count);
            if (to == ds->comm->rank)
                r->first[i + 1] = count;
        }
        r->first[i + 1] += r->first[i];
    }
    bm_buffer_release(&mine);
    bm_buffer_release(&all);
    bm_drop(ds->a, sizes);
    return rc;
}

/* Where a lane of what comes from a reader goes. */
static uint8_t *lane_room(void *context, size_t tag)
{
    struct restart *r = context;
    size_t k = tag % r->lanes, v = 0;

    for (; k >= (size_t)r->query->variables[v]->components; v++)
        k -= (size_t)r->query->variables[v]->components;
    return bm_collector_lane(&r->out, v, (int)k) +
           (r->had + r->first[tag / r->lanes]) *
               bm_variable_value_size(r->query->variables[v]);
}

/* A part of the stream. */
struct window {
    uint64_t at, end;
    uint8_t *data;
};

/* What a lane that begins at 'begin' has of a window. */
static void copy_part(const struct window *w, uint64_t begin, uint64_t bytes,
                      const uint8_t *lane)
{
    uint64_t low = w->at > begin ? w->at : begin;
    uint64_t high = w->end < begin + bytes ? w->end : begin + bytes;

    if (low < high)
        memcpy(w->data + (low - w->at), lane + (low - begin),
               (size_t)(high - low));
}

/* The thread's: a round of what this rank found for others. */
static int load_found(void *context, uint64_t at, uint8_t *data, uint64_t bytes,
                      struct bm_error *error)
{
    struct restart *r = context;
    struct window w = {at, at + bytes, data};
    size_t i = 0, ranks = (size_t)r->step->ds->comm->size;
    uint64_t begin;

    (void)error;
    BM_BISECT(i, ranks, k, r->catches[k].at <= at);
    for (begin = r->catches[i].at; i < ranks && begin < w.end; i++)
        for (size_t v = 0; v < r->query->variable_count; v++) {
            const struct bouma_variable *variable = r->query->variables[v];
            size_t size = bm_variable_value_size(variable);
            uint64_t lane = r->catches[i].count * size;

            for (int k = 0; k < variable->components && lane; k++) {
                copy_part(&w, begin, lane,
                          bm_collector_lane(&r->found, v, k) +
                              r->catches[i].first * size);
                begin += lane;
            }
        }
    return BOUMA_OK;
}

static int make_pipe(struct restart *r, struct bm_flows *flows)
{
    struct bouma_dataset *ds = r->step->ds;
    struct bm_pipe_options options = bm_dataset_pipe(ds);
    struct bm_pipe_calls calls = {
        .context = r, .bytes = lane_room, .store = load_found};

    options.reading = 1;
    return bm_flows_pipe(flows, ds->site.buffer_bytes, &r->pipe, ds->comm,
                         &options, &calls);
}

/* Collective. */
static int deliver(struct restart *r, struct bm_flows *flows, int rc)
{
    struct bouma_dataset *ds = r->step->ds;
    uint64_t at = 0;

    for (int i = 0; i < ds->comm->size && !rc; i++) {
        r->catches[i].at = at;
        at += r->catches[i].count * r->sample;
    }
    if (!rc) {
        r->had = r->out.count;
        if (bm_collector_extend(&r->out, r->first[ds->comm->size]) ||
            make_pipe(r, flows))
            rc = no_memory(r);
    }
    rc = bm_pipe_open(r->pipe, ds->comm, &ds->pool, rc, &ds->error);
    if (!rc)
        rc = bm_pipe_run(r->pipe, 1, rc, &ds->error);
    rc = bm_comm_agree(ds->comm, rc, &ds->error);
    bm_pipe_free(r->pipe);
    r->pipe = NULL;
    return rc;
}

/* All slices. Collective. */
static int go_through(struct restart *r)
{
    const bouma_allocator *a = r->step->ds->a;
    struct slice s = {.shelf = {.a = a}, .values = {.a = a}};
    uint64_t rounds = 0;
    size_t k = 0;
    int rc = prepare(r, &rounds);

    rc = bm_comm_agree(r->step->ds->comm, rc, &r->step->ds->error);
    for (; rounds && !rc; rounds--) {
        struct bm_flows flows = {0};

        rc = catch_next(r, &k, &s);
        rc = share_counts(r, &flows, rc);
        rc = deliver(r, &flows, rc);
        bm_flows_release(&flows);
    }
    bm_shelf_release(&s.shelf);
    bm_shelf_release(&s.values);
    return rc;
}

int bm_restart(bouma_particle_data **out, struct bouma_step *step,
               struct bm_object *set, const bouma_particles_query *query,
               int shares, int rc)
{
    struct restart r = {.step = step,
                        .set = set,
                        .query = query,
                        .shares = shares,
                        .top = bm_manifest_top(&step->manifest, set)};
    struct bouma_dataset *ds = step->ds;

    *out = NULL;
    for (size_t v = 0; !rc && v < query->variable_count; v++) {
        r.lanes += (size_t)query->variables[v]->components;
        r.sample += bm_variable_sample_size(query->variables[v]);
    }
    rc = share_wishes(&r, rc);
    if (!rc) {
        close_faces(&r);
        rc = go_through(&r);
        /* What is for others is not needed any more. */
        let_go(&r, &r.found);
        if (!rc)
            *out = bm_collector_finish(&r.out);
        if (!rc && !*out)
            rc = no_memory(&r);
        rc = bm_comm_agree(ds->comm, rc, &ds->error);
    }
    if (rc) {
        bouma_particle_data_free(*out);
        *out = NULL;
    }
    let_go(&r, &r.out);
    bm_drop(ds->a, r.catches);
    bm_drop(ds->a, r.mine);
    bm_drop(ds->a, r.wishes);
    bm_drop(ds->a, r.first);
    return rc;
}
