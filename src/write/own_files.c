/* own_files.c -- see own_plan.h: owners and writers learn of each other, and
 * tell each other sizes. */
#include <stdlib.h>
#include <string.h>

#include "base/keyed.h"
#include "base/search.h"
#include "comm/sparse.h"
#include "write/own_parts.h"

/* ---- which file a chunk is in -------------------------------------------- */

/* How files are cut: see assign.c. */
struct cut {
    bouma_assign assign;
    uint64_t chunks, files;
    uint64_t mine;       /* of `per-rank`: this rank's file */
    const uint64_t *end; /* [files], if they follow from sizes; else NULL */
};

/* By where files end; some may have no chunks. */
static uint32_t find_file(const struct cut *c, uint64_t chunk)
{
    size_t before = 0; /* a file that ends before the chunk does */

    if (chunk < c->end[0])
        return 0;
    BM_BISECT(before, (size_t)c->files, f, c->end[f] <= chunk);
    return (uint32_t)before + 1;
}

static uint32_t file_of(const struct cut *c, uint64_t chunk)
{
    uint64_t each = c->chunks / c->files, rest = c->chunks % c->files;
    uint64_t large = rest * (each + 1); /* chunks of files with one more */

    if (c->end)
        return find_file(c, chunk);
    if (c->assign == BOUMA_ASSIGN_PER_RANK)
        return (uint32_t)c->mine;
    if (chunk < large)
        return (uint32_t)(chunk / (each + 1));
    return (uint32_t)(rest + (chunk - large) / each);
}

/* The number in the step of a chunk of a plan without files. */
static uint64_t number_of(const struct bm_write_plan *plan, size_t chunk)
{
    const struct bm_plan_grid *g;
    size_t grid = 0, at;
    int64_t place;

    BM_BISECT(grid, plan->grid_count, i, plan->grids[i].first <= chunk);
    g = &plan->grids[grid];
    at = chunk - g->first;
    place = bm_chunking_position(&g->subset->whole,
                                 g->subset->chunk[g->order[at / g->count]]);
    return plan->own->first[grid] + at % g->count + g->count * (uint64_t)place;
}

static size_t list_mine_of(const struct bm_write_plan *base, uint64_t *out)
{
    for (size_t i = 0; i < base->mine_count && out; i++)
        out[i] = number_of(base, base->mine[i]);
    return base->mine_count;
}

size_t bm_own_list_mine(const struct bm_making *m, uint64_t *out)
{
    size_t n = 0;

    if (m->base)
        return list_mine_of(m->base, out);
    for (size_t i = 0; i < m->plan->grid_count; i++) {
        const struct bm_plan_grid *g = &m->plan->grids[i];

        for (size_t j = 0; j < g->count; j++) {
            const struct bm_local_result *r =
                &m->results[g->of[j] - m->plan->decompositions];

            for (int64_t c = 0; c < r->chunks->count; c++) {
                if (r->owner[c] != m->job->comm->rank)
                    continue;
                if (out)
                    out[n] = m->first[i] + j +
                             g->count * (uint64_t)bm_chunking_position(
                                            &g->chunking, r->chunks->chunk[c]);
                n++;
            }
        }
    }
    return n;
}

/* How many files there are, and which is this rank's. */
static int cut_files(struct bm_making *m, struct cut *c, size_t mine,
                     struct bm_scan *scan)
{
    const struct bm_options *o = &m->job->ds->options;
    struct bm_comm *comm = m->job->comm;
    uint64_t all[2] = {mine, mine > 0};
    int rc;

    if (m->base) {
        *c = (struct cut){.assign = m->assign,
                          .chunks = m->chunks,
                          .files = m->files,
                          .mine = (uint64_t)comm->rank,
                          .end = m->end};
        return BOUMA_OK;
    }
    rc = bm_comm_reduce(comm, all, 2, 1, &m->job->ds->error);
    c->assign = bm_assign_in_order(o->assign);
    c->chunks = m->chunks;
    c->files = 1;
    m->plan->most_patches = (int64_t)all[0];
    if (c->assign == BOUMA_ASSIGN_COUNT)
        c->files = (uint64_t)bm_assign_files(0, (size_t)m->chunks, comm->size,
                                             o->files, o->file_size);
    if (c->files > BM_MAX_SUBFILES)
        c->files = BM_MAX_SUBFILES;
    if (!rc && c->assign == BOUMA_ASSIGN_PER_RANK) {
        c->files = all[1];
        scan->mine[0] = mine > 0;
        rc = bm_comm_scan(comm, scan, 1, &m->job->ds->error);
        c->mine = scan->before[0];
    }
    m->files = c->files;
    return rc;
}

int bm_own_writer(const struct bm_making *m, uint32_t file)
{
    return bm_placement_of(m->job->ds->options.place)
        ->formula((int64_t)m->files, m->job->comm->size, file);
}

/* ---- owners and writers -------------------------------------------------- */

/* The i-th chunk of this rank. */
static struct bm_own_entry entry_of(const struct bm_making *m,
                                    const struct cut *cut, const uint64_t *mine,
                                    size_t i)
{
    struct bm_own_entry e = {.chunk = mine[i],
                             .file = file_of(cut, mine[i]),
                             .owner = m->job->comm->rank};

    e.writer = bm_own_writer(m, e.file);
    if (m->base)
        e.bytes = m->job->plan.bytes[m->base->mine[i]];
    return e;
}

/* Bytes of an entry in a letter: u64 chunk, u32 file and, if files follow from
 * sizes, u64 bytes. */
static size_t entry_bytes(const struct bm_making *m)
{
    return m->base ? 20 : 12;
}

/* To writers, what is in their files. */
static int tell_writers(const struct bm_making *m, const struct cut *cut,
                        const uint64_t *mine, size_t count, struct bm_mail *out)
{
    struct bm_keyed *by_writer = bm_new_raw(m->a, count, sizeof(*by_writer));

    for (size_t i = 0; i < count && by_writer; i++)
        by_writer[i] = (struct bm_keyed){
            (uint64_t)bm_own_writer(m, file_of(cut, mine[i])), i};
    if (count && by_writer)
        qsort(by_writer, count, sizeof(*by_writer), bm_keyed_compare);
    for (size_t i = 0; i < count && by_writer;) {
        uint64_t writer = by_writer[i].key;

        bm_mail_begin(out, (int)writer);
        for (; i < count && by_writer[i].key == writer; i++) {
            struct bm_own_entry e = entry_of(m, cut, mine, by_writer[i].at);

            bm_put_u64(&out->data, e.chunk);
            bm_put_u32(&out->data, e.file);
            if (m->base)
                bm_put_u64(&out->data, e.bytes);
        }
        bm_mail_end(out);
    }
    bm_drop(m->a, by_writer);
    return by_writer ? BOUMA_OK : BOUMA_ENOMEM;
}

static int by_chunk(const void *left, const void *right)
{
    const struct bm_own_entry *a = left, *b = right;

    return a->chunk < b->chunk ? -1 : a->chunk > b->chunk;
}

/* What has come, as entries: all that is in this rank's files. There is room for
 * 'more' behind them. */
static int read_entries(struct bm_making *m, const struct bm_mail *in,
                        size_t more)
{
    size_t room = in->data.size / entry_bytes(m);

    m->entries = bm_new_raw(m->a, room + more, sizeof(*m->entries));
    if (!m->entries)
        return BOUMA_ENOMEM;
    for (size_t i = 0; i < in->count; i++) {
        struct bm_cursor c = bm_mail_read(in, i);

        while (bm_cursor_left(&c)) {
            struct bm_own_entry e = {.chunk = bm_get_u64(&c),
                                     .file = bm_get_u32(&c),
                                     .owner = in->letters[i].peer,
                                     .writer = m->job->comm->rank};

            if (m->base)
                e.bytes = bm_get_u64(&c);
            if (c.failed || e.chunk >= m->chunks || e.file >= m->files ||
                m->entry_count == room)
                return BOUMA_ECOMM;
            m->entries[m->entry_count++] = e;
        }
    }
    return BOUMA_OK;
}

/* What this rank has in the files of others. */
static void add_mine(struct bm_making *m, const struct cut *cut,
                     const uint64_t *mine, size_t count)
{
    int me = m->job->comm->rank;

    for (size_t i = 0; i < count; i++) {
        struct bm_own_entry e = entry_of(m, cut, mine, i);

        if (e.writer != me)
            m->entries[m->entry_count++] = e;
    }
    if (m->entry_count)
        qsort(m->entries, m->entry_count, sizeof(*m->entries), by_chunk);
}

/* What the exchange needs. */
struct finding {
    struct cut cut;
    struct bm_mail in, out;
    struct bm_scan scan;
    uint64_t *mine;
    size_t count;
};

/* Say why entries could not be told or read. */
static int explain(struct bm_making *m, int rc)
{
    if (!rc)
        return rc;
    return bm_fail(&m->job->ds->error, rc,
                   rc == BOUMA_ENOMEM
                       ? "no memory to plan the step"
                       : "another rank told nonsense of its files");
}

static int swap(struct bm_making *m, struct finding *f, int rc)
{
    struct bm_error *error = &m->job->ds->error;
    uint64_t none = 0;
    struct bm_sparse_values said = {&none, 1, 1};

    explain(m, rc);
    rc = bm_comm_sparse(m->job->comm, &f->out, &f->in, &said, rc, error);
    bm_mail_clear(&f->out);
    return rc;
}

static int find(struct bm_making *m, struct finding *f)
{
    int rc = cut_files(m, &f->cut, f->count, &f->scan);

    if (rc)
        return rc;
    rc = tell_writers(m, &f->cut, f->mine, f->count, &f->out);
    rc = swap(m, f, rc);
    if (rc)
        return rc;
    rc = explain(m, read_entries(m, &f->in, f->count));
    if (!rc)
        add_mine(m, &f->cut, f->mine, f->count);
    return bm_comm_agree(m->job->comm, rc, &m->job->ds->error);
}

int bm_own_files_find(struct bm_making *m)
{
    struct bm_comm *comm = m->job->comm;
    struct finding *f = bm_new(m->a, 1, sizeof(*f));
    int rc = f ? BOUMA_OK : BOUMA_ENOMEM;

    if (f) {
        bm_mail_init(&f->in, m->a);
        bm_mail_init(&f->out, m->a);
        f->mine = bm_new_raw(m->a, bm_own_list_mine(m, NULL), sizeof(*f->mine));
        if (f->mine)
            f->count = bm_own_list_mine(m, f->mine);
        else
            rc = BOUMA_ENOMEM;
    }
    if (rc)
        bm_fail(&m->job->ds->error, rc, "no memory to plan the step");
    rc = bm_comm_agree(comm, rc, &m->job->ds->error);
    if (!rc)
        rc = find(m, f);
    if (!f)
        return rc;
    bm_mail_release(&f->in);
    bm_mail_release(&f->out);
    bm_drop(m->a, f->mine);
    if (!comm->lost) /* else MPI may still use it */
        bm_drop(m->a, f);
    return rc;
}

/* ---- sizes --------------------------------------------------------------- */

static void put_number(struct bm_route *r, size_t serial, uint64_t number)
{
    bm_store_u64(bm_route_at(r, serial), number);
}

static uint64_t get_number(const struct bm_route *r, size_t serial)
{
    return bm_load_u64(bm_route_at(r, serial));
}

static int exchange(struct bm_write_job *job, struct bm_route *sends,
                    struct bm_route *receives)
{
    size_t send_count, receive_count;
    const struct bm_message *out = bm_route_messages(sends, 0, &send_count);
    const struct bm_message *in =
        bm_route_messages(receives, 0, &receive_count);
    int rc = bm_comm_exchange(job->comm, out, send_count, in, receive_count,
                              &job->ds->error);

    bm_route_leak_if_lost(sends, job->comm);
    bm_route_leak_if_lost(receives, job->comm);
    return rc;
}

/* The lists are gone through as when the routes were made: see own_chunks.c. */
int bm_own_plan_sizes(struct bm_write_job *job, int rc)
{
    struct bm_own_plan *own = job->plan.grids->own;
    const struct bm_assignment *files = &own->files;
    const int *owner = job->plan.grids->owner;
    size_t count = files->first[files->files], serial = 0;
    int me = job->comm->rank;

    rc = bm_comm_agree(job->comm, rc, &job->ds->error);
    if (rc)
        return rc;
    for (size_t i = 0; i < count; i++) {
        uint32_t chunk = files->chunk[i];

        if (files->writer[files->file[chunk]] != me)
            put_number(&own->to_writers, serial++, job->plan.bytes[chunk]);
    }
    rc = exchange(job, &own->to_writers, &own->from_owners);
    serial = 0;
    for (size_t i = 0; i < count && !rc; i++) {
        uint32_t chunk = files->chunk[i];

        if (owner[chunk] != me)
            job->plan.bytes[chunk] = get_number(&own->from_owners, serial++);
    }
    return rc;
}

/* ---- places in streams --------------------------------------------------- */

/* Those of all chunks in a file that this rank writes. */
static void place_chunks(const struct bm_write_job *job, int64_t file)
{
    struct bm_own_plan *own = job->plan.grids->own;
    const struct bm_assignment *files = &own->files;
    size_t first = files->first[file], count = files->first[file + 1] - first;

    for (size_t i = 0; i < count; i++) {
        uint32_t chunk = files->chunk[first + i];

        own->slots[i] = (struct bm_slot){.index = (uint32_t)i,
                                         .owner = job->plan.grids->owner[chunk],
                                         .bytes = job->plan.bytes[chunk]};
    }
    own->file_bytes[file] = bm_schedule(own->slots, count);
    for (size_t i = 0; i < count; i++)
        own->at[files->chunk[first + own->slots[i].index]] = own->slots[i].at;
}

/* What goes to those who feed this rank. */
static void tell_places(const struct bm_write_job *job)
{
    struct bm_own_plan *own = job->plan.grids->own;
    const struct bm_assignment *files = &own->files;
    int me = job->comm->rank;
    size_t serial = 0;

    for (int64_t f = 0; f < files->files; f++) {
        if (files->writer[f] != me)
            continue;
        place_chunks(job, f);
        for (size_t i = files->first[f]; i < files->first[f + 1]; i++)
            if (job->plan.grids->owner[files->chunk[i]] != me)
                put_number(&own->to_feeders, serial++,
                           own->at[files->chunk[i]]);
    }
    for (size_t k = 0; k < own->feeders; k++)
        for (int64_t f = 0; f < files->files; f++)
            if (files->writer[f] == me)
                put_number(&own->to_feeders, serial++, own->file_bytes[f]);
}

/* What came from those whom it feeds. */
static void learn_places(const struct bm_write_job *job)
{
    struct bm_own_plan *own = job->plan.grids->own;
    const struct bm_assignment *files = &own->files;
    int me = job->comm->rank;
    size_t serial = 0;

    for (int64_t f = 0; f < files->files; f++)
        for (size_t i = files->first[f];
             i < files->first[f + 1] && files->writer[f] != me; i++)
            own->at[files->chunk[i]] = get_number(&own->from_writers, serial++);
    for (int64_t f = 0; f < files->files; f++)
        if (files->writer[f] != me)
            own->file_bytes[f] = get_number(&own->from_writers, serial++);
}

int bm_own_plan_places(struct bm_write_job *job, int rc)
{
    struct bm_own_plan *own = job->plan.grids->own;

    if (own->placed && job->held.shaper.sized)
        return rc;
    rc = bm_comm_agree(job->comm, rc, &job->ds->error);
    if (rc)
        return rc;
    tell_places(job);
    rc = exchange(job, &own->to_feeders, &own->from_writers);
    if (!rc)
        learn_places(job);
    own->placed = !rc;
    return rc;
}
