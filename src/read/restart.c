/* restart.c -- particles for all ranks at once, each file read by one of them:
 * two phases, as in writing.
 *
 *     ranks tell their boxes -> readers look for each of them in a slice of
 *     their files -> readers tell how many they found -> the particles go to
 *     the ranks -> the next slice
 *
 * So a reader has no more than a slice of what is for others in its memory; what
 * it finds for itself goes where it stays at once. */
#include "read/restart.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "engine/flow_builder.h"
#include "plan/assign.h"
#include "read/collector.h"
#include "read/restart_boxes.h"
#include "read/shelf.h"

/* What a reader has for a rank. */
struct reply {
    int rank;
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
    const struct bm_criteria *query;
    struct bm_requests requests;
    struct own_file *mine;
    size_t mine_count;
    struct reply *replies; /* [reply_count], room for [ranks]: of the slice at
                              hand, to those who get some, ascending */
    size_t reply_count;
    struct bm_collector found; /* in it, for one rank after the other */
    uint64_t *first; /* [ranks + 1], of what each reader has for this one */
    size_t lanes;    /* of all variables */
    uint64_t sample; /* bytes of a particle in them */
    struct bm_into *into; /* where they go from 'out', or NULL: they stay */
    struct bm_collector out;
    uint64_t had; /* particles in it, before the slice at hand */
    struct bm_pipe *pipe;
};

static int no_memory(struct restart *r)
{
    return bm_fail(&r->step->ds->error, BOUMA_ENOMEM,
                   "no memory to read particles");
}

/* ---- requests -------------------------------------------------------------
 */

/* Collective. */
static int share_requests(struct restart *r, int rc)
{
    struct bouma_dataset *ds = r->step->ds;
    int ranks = ds->comm->size;
    size_t *sizes = bm_new(ds->a, (size_t)ranks, sizeof(*sizes));
    struct bm_buffer mine, all;
    struct bm_cursor c;

    bm_buffer_init(&mine, ds->a);
    bm_buffer_init(&all, ds->a);
    r->requests.all = bm_new(ds->a, (size_t)ranks, sizeof(*r->requests.all));
    r->requests.meet = bm_new(ds->a, (size_t)ranks, sizeof(*r->requests.meet));
    r->first = bm_new(ds->a, (size_t)ranks + 1, sizeof(*r->first));
    bm_put_u32(&mine, r->query ? (uint32_t)r->query->boxed : 0);
    bm_put_u32(&mine, r->query ? r->query->closed : 0);
    for (int d = 0; d < 3; d++) {
        bm_put_f64(&mine, r->query ? r->query->low[d] : 0);
        bm_put_f64(&mine, r->query ? r->query->high[d] : 0);
    }
    if (!rc && (!sizes || !r->requests.all || !r->requests.meet || !r->first ||
                mine.failed))
        rc = no_memory(r);
    rc = bm_comm_collect(ds->comm, &mine, &all, sizes, rc, &ds->error);
    c = bm_cursor_of(all.data, all.size);
    for (int i = 0; i < ranks && !rc; i++) {
        struct bm_request *w = &r->requests.all[i];

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

/* ---- reading ------------------------------------------------------------ */

static int reader_of(const struct restart *r, size_t file)
{
    return bm_spread_file((int64_t)r->requests.tree->files,
                          r->step->ds->comm->size, (int64_t)file);
}

/* A part of a file, small enough to be kept while it is looked through for one
 * rank after the other. */
struct slice {
    size_t file;
    uint64_t at;       /* particles in the files before it */
    uint64_t from, to; /* slots in it */
    int alone; /* it is for this rank only: all of the file, and not kept */
    uint64_t ready; /* slots up to which the shelf has what was stored */
    struct bm_shelf shelf, values;
};

/* Slices whose stored bytes are read at once: in a file, levels and variables
 * come before regions, so a slice alone is many short reads. */
#define SLICES_TOGETHER 4

/* The slots of a slice: whole chunks, of a buffer. The same on all ranks.
 */
static uint64_t slice_slots(const struct restart *r)
{
    uint64_t bytes = r->step->ds->engine.env.buffer_bytes;
    uint64_t each = (r->sample + 1) * bm_bat_of(r->set)->detail.chunk;

    return bm_bat_of(r->set)->detail.chunk * (bytes > each ? bytes / each : 1);
}

/* The slices of this rank's files. */
static uint64_t count_slices(const struct restart *r)
{
    uint64_t slots = slice_slots(r), n = 0;

    for (size_t i = 0; i < r->mine_count; i++)
        n += (bm_file_tree_summary(r->requests.tree, r->mine[i].file)->count +
              slots - 1) /
             slots;
    return n;
}

/* Where particles that are found go. */
struct sink {
    int (*each)(void *context, const bouma_batch *batch);
    void *context;
};

/* Look in a slice for what a request says; without 'each' it is only read. */
static int query_slice(struct restart *r, struct slice *s,
                       const struct bm_request *w, uint64_t from, uint64_t to,
                       struct sink sink)
{
    struct bouma_dataset *ds = r->step->ds;
    struct bm_particle_query query = {.step = r->step,
                                      .set = r->set,
                                      .query = *r->query,
                                      .each = sink.each,
                                      .context = sink.context,
                                      .files = &s->file,
                                      .from = &from,
                                      .to = &to,
                                      .file_count = 1,
                                      .shelf = s->alone ? NULL : &s->shelf,
                                      .values = s->alone ? NULL : &s->values};
    int rc;

    query.query.boxed = w->boxed;
    memcpy(query.query.low, w->low, sizeof(w->low));
    memcpy(query.query.high, w->high, sizeof(w->high));
    query.query.closed = w->closed;
    rc = bm_particle_query(&query);
    if (rc == BOUMA_EABORTED && r->into && r->into->rc)
        return r->into->rc;
    if (rc == BOUMA_EABORTED) { /* which a collector does for memory */
        bm_error_clear(&ds->error);
        rc = no_memory(r);
    }
    return rc;
}

/* What MPI may still use is never given back: if touch with other ranks is
 * lost, particles may be on their way to or from a collector. */
static void let_go(struct restart *r, struct bm_collector *c)
{
    for (size_t i = 0;
         r->step->ds->comm->lost && c->columns && i < r->query->variable_count;
         i++)
        c->columns[i] = NULL;
    bm_collector_release(c);
}

/* Read what the ranks want of a slice and of some that come next, if that is
 * nearly all they have. */
static int read_ahead(struct restart *r, struct slice *s)
{
    const struct bm_particle_summary *c =
        bm_file_tree_summary(r->requests.tree, s->file);
    uint64_t most = SLICES_TOGETHER * slice_slots(r);
    uint64_t end = c->count - s->from < most ? c->count : s->from + most;
    struct bm_request all;
    int rc;

    if (s->from && s->from < s->ready)
        return BOUMA_OK;
    bm_shelf_clear(&s->shelf);
    s->ready = s->to;
    if (!bm_requests_box(&r->requests, c, &all))
        return BOUMA_OK;
    rc = query_slice(r, s, &all, s->from, end, (struct sink){0});
    s->ready = rc ? s->to : end;
    /* It may have met damage that nobody asks for: each reads its own then. */
    if (rc && rc != BOUMA_ENOMEM) {
        bm_error_clear(&r->step->ds->error);
        bm_shelf_clear(&s->shelf);
        rc = BOUMA_OK;
    }
    return rc;
}

/* What this rank finds for itself stays: it goes where all ends up. */
static struct sink sink_of(struct restart *r, int rank)
{
    if (rank != r->step->ds->comm->rank)
        return (struct sink){bm_collector_add, &r->found};
    return r->into ? (struct sink){bm_into_batch, r->into}
                   : (struct sink){bm_collector_add, &r->out};
}

/* Look in a slice for what each rank wants. */
static int collect_slice(struct restart *r, struct slice *s)
{
    const struct bm_particle_summary *c =
        bm_file_tree_summary(r->requests.tree, s->file);
    uint64_t ranks = (uint64_t)r->step->ds->comm->size;
    int rc;

    bm_shelf_clear(&s->values);
    bm_collector_clear(&r->found);
    if (s->from == 0 || r->requests.shares)
        bm_requests_list(&r->requests, c, s->at + s->from, s->at + s->to);
    rc = s->alone ? BOUMA_OK : read_ahead(r, s);
    for (size_t k = 0; k < r->requests.meet_count && !rc; k++) {
        int rank = r->requests.meet[k];
        uint64_t from = s->from, to = s->to, i = (uint64_t)rank;
        struct reply *reply = &r->replies[r->reply_count];

        if (r->requests.shares) {
            uint64_t begin = bm_cut(r->set->particles, ranks, i);
            uint64_t end = bm_cut(r->set->particles, ranks, i + 1);

            begin = begin > s->at ? begin - s->at : 0;
            end = end > s->at ? end - s->at : 0;
            from = begin > from ? begin : from;
            to = end < to ? end : to;
        }
        *reply = (struct reply){.rank = rank, .first = r->found.count};
        if (from < to)
            rc = query_slice(r, s, &r->requests.all[i], from, to,
                             sink_of(r, rank));
        reply->count = r->found.count - reply->first;
        r->reply_count += reply->count != 0;
    }
    return rc;
}

/* The files from 'first' to 'last' - 1 that this rank reads, of which there are
 * 'count' particles; *at is where they begin among those of all files. Of a
 * sheet without such files nothing else is looked at. */
static int list_some(struct restart *r, size_t first, size_t last,
                     uint64_t count, uint64_t *at)
{
    const struct bm_file_tree *tree = r->requests.tree;
    int rank = r->step->ds->comm->rank, rc;
    uint64_t next = *at;

    *at += count;
    if (first == last || reader_of(r, first) > rank ||
        reader_of(r, last - 1) < rank)
        return BOUMA_OK;
    rc = bm_step_load_set_file(r->step, tree, first);
    for (size_t f = first; f < last && !rc; f++) {
        if (reader_of(r, f) == rank)
            r->mine[r->mine_count++] = (struct own_file){f, next};
        next += bm_file_tree_summary(tree, f)->count;
    }
    return rc;
}

/* The files that this rank reads. */
static int list_mine(struct restart *r)
{
    const struct bm_file_tree *tree = r->requests.tree;
    uint64_t at = 0;
    int rc = BOUMA_OK;

    r->mine = bm_new_raw(r->step->ds->a, tree->files, sizeof(*r->mine));
    if (!r->mine)
        return no_memory(r);
    if (!tree->sheet_count)
        return list_some(r, 0, tree->files, r->set->particles, &at);
    for (size_t i = 0; i < tree->sheet_count && !rc; i++) {
        const struct bm_file_tree_sheet *s = &tree->sheets[i];

        rc = list_some(r, s->first, s->first + s->count, s->sum->count, &at);
    }
    return rc;
}

/* What is needed from the beginning to the end. */
static int prepare(struct restart *r)
{
    struct bouma_dataset *ds = r->step->ds;
    int rc = list_mine(r);

    r->replies = bm_new(ds->a, (size_t)ds->comm->size, sizeof(*r->replies));
    if (!rc && (!r->replies || bm_collector_init(&r->found, ds->a, r->query) ||
                bm_collector_init(&r->out, ds->a, r->query)))
        rc = no_memory(r);
    if (!rc && !r->into) /* less will do if there is not so much */
        bm_collector_reserve(
            &r->out,
            bm_requests_expect(&r->requests, ds->comm->rank, r->query));
    return rc;
}

/* Whether nobody else wants any of a file: then nothing of it is kept, and it
 * need not be looked through slice by slice. */
static int is_alone(struct restart *r, const struct slice *s)
{
    const struct bm_particle_summary *c =
        bm_file_tree_summary(r->requests.tree, s->file);

    bm_requests_list(&r->requests, c, s->at, s->at + c->count);
    return r->requests.meet_count == 1 &&
           r->requests.meet[0] == r->step->ds->comm->rank;
}

/* The next slice of this rank's files, if there is one, for all ranks. */
static int collect_next(struct restart *r, size_t *k, struct slice *s)
{
    uint64_t slots = slice_slots(r), count;

    r->reply_count = 0;
    if (*k < r->mine_count &&
        s->to ==
            bm_file_tree_summary(r->requests.tree, r->mine[*k].file)->count) {
        ++*k;
        s->to = 0;
    }
    if (*k >= r->mine_count)
        return BOUMA_OK;
    s->file = r->mine[*k].file;
    s->at = r->mine[*k].at;
    s->from = s->to;
    count = bm_file_tree_summary(r->requests.tree, s->file)->count;
    if (s->from == 0)
        s->alone = is_alone(r, s);
    s->to = s->alone || count - s->from < slots ? count : s->from + slots;
    return collect_slice(r, s);
}

/* ---- particles go to the ranks ------------------------------------------ */

/* Those of the v-th variable. */
static int lanes_of(const struct restart *r, size_t v)
{
    return bm_lanes(r->query, r->query->variables[v]);
}

static size_t size_of(const struct restart *r, size_t v)
{
    return bm_lane_size(r->query, r->query->variables[v]);
}

/* The lanes of what a reader has for a rank, one after the other. Rounds are
 * filled, whatever is in them. */
static void list_lanes(struct restart *r, struct bm_flow_builder *flows,
                       int reader, int rank, uint64_t count)
{
    size_t tag = (size_t)reader * r->lanes;

    for (size_t v = 0; v < r->query->variable_count; v++)
        for (int c = 0; c < lanes_of(r, v); c++)
            bm_flow_builder_add(flows, reader, rank, count * size_of(r, v),
                                tag++);
}

/* Readers tell how many they have for whom, and all ranks learn where that is
 * in the readers' streams. Collective. */
static int share_counts(struct restart *r, struct bm_flow_builder *flows,
                        int rc)
{
    struct bouma_dataset *ds = r->step->ds;
    int ranks = ds->comm->size;
    size_t *sizes = bm_new(ds->a, (size_t)ranks, sizeof(*sizes));
    struct bm_buffer mine, all;
    const uint8_t *at;

    bm_buffer_init(&mine, ds->a);
    bm_buffer_init(&all, ds->a);
    for (size_t i = 0; i < r->reply_count && !rc; i++) {
        bm_put_u32(&mine, (uint32_t)r->replies[i].rank);
        bm_put_u64(&mine, r->replies[i].count);
    }
    if (!rc && (!sizes || mine.failed || bm_flow_builder_init(flows, ds->comm)))
        rc = no_memory(r);
    rc = bm_comm_collect(ds->comm, &mine, &all, sizes, rc, &ds->error);
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

    for (; k >= (size_t)lanes_of(r, v); v++)
        k -= (size_t)lanes_of(r, v);
    return bm_collector_lane(&r->out, v, (int)k) +
           (r->had + r->first[tag / r->lanes]) * size_of(r, v);
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
    size_t i = 0;
    uint64_t begin;

    (void)error;
    BM_BISECT(i, r->reply_count, k, r->replies[k].at <= at);
    for (begin = r->replies[i].at; i < r->reply_count && begin < w.end; i++)
        for (size_t v = 0; v < r->query->variable_count; v++) {
            size_t size = size_of(r, v);
            uint64_t lane = r->replies[i].count * size;

            for (int k = 0; k < lanes_of(r, v) && lane; k++) {
                copy_part(&w, begin, lane,
                          bm_collector_lane(&r->found, v, k) +
                              r->replies[i].first * size);
                begin += lane;
            }
        }
    return BOUMA_OK;
}

static int make_pipe(struct restart *r, struct bm_flow_builder *flows)
{
    struct bouma_dataset *ds = r->step->ds;
    struct bm_pipe_options options = bm_dataset_pipe(ds);
    struct bm_pipe_calls calls = {
        .context = r, .bytes = lane_room, .store = load_found};

    options.reading = 1;
    return bm_flow_builder_pipe(flows, ds->engine.env.buffer_bytes, &r->pipe,
                                ds->comm, &options, &calls);
}

/* What came in a slice goes into the caller's arrays. */
static int pass_on(struct restart *r)
{
    int rc = bm_into_add(r->into, r->out.count,
                         (const void *const *)r->out.columns, r->out.room);

    bm_collector_clear(&r->out);
    return rc;
}

/* What a rank has in the end. */
static int finish(struct restart *r, struct bm_restart_out *out)
{
    if (r->into)
        return bm_into_check(r->into, r->set);
    out->data = bm_collector_finish(&r->out);
    return out->data ? BOUMA_OK : no_memory(r);
}

/* Collective. */
static int deliver(struct restart *r, struct bm_flow_builder *flows, int rc)
{
    struct bouma_dataset *ds = r->step->ds;
    uint64_t at = 0;

    for (size_t i = 0; i < r->reply_count && !rc; i++) {
        r->replies[i].at = at;
        at += r->replies[i].count * r->sample;
    }
    if (!rc) {
        r->had = r->out.count;
        if (bm_collector_extend(&r->out, r->first[ds->comm->size]) ||
            make_pipe(r, flows))
            rc = no_memory(r);
    }
    rc = bm_pipe_open(r->pipe, ds->comm, &ds->engine.pool, rc, &ds->error);
    if (!rc)
        rc = bm_pipe_run(r->pipe, 1, rc, &ds->error);
    if (!rc && r->into)
        rc = pass_on(r);
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
    struct bouma_dataset *ds = r->step->ds;
    size_t k = 0;
    int rc = prepare(r);
    /* The slices of the reader that has most, and whether some rank has
     * failed. */
    uint64_t said[2] = {rc ? 0 : count_slices(r), rc != BOUMA_OK};

    if (bm_comm_max(ds->comm, said, 2, &ds->error))
        rc = BOUMA_ECOMM;
    else if (said[1])
        rc = bm_comm_agree(ds->comm, rc, &ds->error);
    for (uint64_t rounds = said[0]; rounds && !rc; rounds--) {
        struct bm_flow_builder flows = {0};

        rc = collect_next(r, &k, &s);
        rc = share_counts(r, &flows, rc);
        rc = deliver(r, &flows, rc);
        bm_flow_builder_release(&flows);
    }
    bm_shelf_release(&s.shelf);
    bm_shelf_release(&s.values);
    return rc;
}

int bm_restart(struct bm_restart_out *out, struct bouma_step *step,
               struct bm_object *set, const struct bm_criteria *query,
               int shares, int rc)
{
    struct restart r = {
        .step = step,
        .set = set,
        .query = query,
        .into = out->into,
        .requests = {.set = set,
                     .tree = bm_manifest_file_tree(&step->manifest, set),
                     .ranks = step->ds->comm->size,
                     .shares = shares}};
    struct bouma_dataset *ds = step->ds;

    for (size_t v = 0; !rc && v < query->variable_count; v++) {
        r.lanes += (size_t)bm_lanes(query, query->variables[v]);
        r.sample += bm_variable_sample_size(query->variables[v]);
    }
    rc = share_requests(&r, rc);
    if (!rc) {
        bm_requests_close_faces(&r.requests);
        rc = go_through(&r);
        /* What is for others is not needed any more. */
        let_go(&r, &r.found);
        out->counted = !rc; /* no slice failed, on any rank */
        if (!rc)
            rc = finish(&r, out);
        rc = bm_comm_agree(ds->comm, rc, &ds->error);
    }
    if (rc) {
        bouma_particle_data_free(out->data);
        out->data = NULL;
    }
    let_go(&r, &r.out);
    bm_drop(ds->a, r.replies);
    bm_drop(ds->a, r.mine);
    bm_drop(ds->a, r.requests.all);
    bm_drop(ds->a, r.requests.meet);
    bm_drop(ds->a, r.first);
    return rc;
}
