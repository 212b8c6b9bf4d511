/* fetch.c -- chunks of grids from subfiles: which pieces to read, batch by
 * batch, and how a chunk is put together from them. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/keyed.h"
#include "base/search.h"
#include "read/fetcher.h"

#define BATCH_BYTES ((uint64_t)4 << 20) /* read ahead of decoding */

struct batch {
    const struct bm_fetch *fetch;
    uint64_t *keys;   /* of all chunks, ascending */
    uint8_t *found;   /* [count]: which of them some subfile has */
    size_t next;      /* that any_inside() looks at */
    uint8_t *wanted;  /* [subfiles], if the layout says in which they are */
    int fine, coarse; /* pieces; fine > coarse: no new ones are needed */
    struct bm_fetcher fetcher;
    const struct bm_section *section; /* of the subfile at hand */
    const size_t *chunks;             /* indices in the section */
    size_t count;
    size_t done; /* chunks, in all batches before */
};

void bm_selection_of(bouma_selection *out, const struct bm_object *grid,
                     size_t sample_bytes, const struct bm_footprint *samples)
{
    int ndims = grid->ndims;

    memset(out, 0, sizeof(*out));
    out->size = sizeof(*out);
    out->ndims = ndims;
    out->bytes = bm_footprint_samples(samples) * sample_bytes;
    for (int d = 0; d < ndims; d++) {
        int axis = 3 - ndims + d;

        out->shape[d] = samples->count[axis];
        out->first[d] = samples->start[axis];
        out->step[d] = (int64_t)1 << samples->shift[axis];
        out->origin[d] =
            grid->origin[d] + grid->spacing[d] * (double)out->first[d];
        out->spacing[d] =
            grid->spacing[d] * (double)((int64_t)1 << samples->shift[axis]);
    }
}

/* ---- one batch ---------------------------------------------------------- */

static int no_memory(const struct batch *b)
{
    return bm_fail(&b->fetch->step->ds->error, BOUMA_ENOMEM,
                   "no memory to read");
}

/* The tag of a piece of a chunk of the batch. */
static size_t tag_of(const struct batch *b, size_t chunk, int piece)
{
    return chunk * (size_t)(b->coarse - b->fine + 1) +
           (size_t)(piece - b->fine);
}

/* Check and decode the next piece of a chunk. */
static int decode_piece(const struct batch *b, struct bm_decoding *d,
                        const struct bm_extent *piece, struct bm_error *error)
{
    const struct bm_fetcher *f = &b->fetcher;
    int rc = bm_extent_check(f->step, f->source, piece, error);

    if (rc)
        return rc;
    rc =
        d->variable->object->layout->decode_piece(d, piece->data, piece->bytes);
    if (rc == BOUMA_EFORMAT)
        return bm_extent_damaged(f->step, f->source, piece,
                                 "the data cannot be decoded", error);
    return rc ? bm_fail(error, rc, "no memory to decode a chunk") : BOUMA_OK;
}

/* Whether its samples are within the limit, and what is decoded to get them. */
static int check_size(const struct batch *b, const struct bm_decoding *d,
                      struct bm_error *error)
{
    const struct bouma_variable *v = d->variable;
    uint64_t bytes = v->object->layout->sample_bytes(d, d->fine);
    uint64_t decoded = bm_chunk_value_bytes(v, d->summary, d->key, b->fine);

    bytes = decoded > bytes ? decoded : bytes;
    return bytes > b->fetch->step->ds->store.memory_limit
               ? bm_fail(error, BOUMA_ELIMIT,
                         "a chunk of \"%s/%s\" has %" PRIu64
                         " bytes of samples, more than the option "
                         "'memory_limit' allows",
                         v->object->name, v->name, bytes)
               : BOUMA_OK;
}

static uint64_t key_of(const struct batch *b, size_t chunk)
{
    return b->section->keys[b->chunks[chunk]];
}

/* Decode the pieces of one chunk and hand it on. */
static int decode_chunk(void *context, const struct bm_turn *turn)
{
    const struct batch *b = context;
    const struct bm_fetch *fetch = b->fetch;
    const struct bm_layout *layout = fetch->variable->object->layout;
    struct bm_decoding d = {.coder = turn->coder,
                            .variable = fetch->variable,
                            .summary = b->section->summary,
                            .key = key_of(b, turn->number),
                            .level = b->coarse + 1,
                            .clip = fetch->clip,
                            .fine = fetch->fine};
    const uint8_t *kept = b->coarse < b->section->levels - 1
                              ? fetch->coarser(fetch->context, d.key)
                              : NULL;
    int rc = layout->decode_begin(&d, kept);

    rc = rc ? bm_fail(turn->error, rc, "no memory to decode a chunk")
            : check_size(b, &d, turn->error);
    for (int k = b->coarse; k >= b->fine && !rc; k--)
        rc = decode_piece(b, &d, b->fetcher.by_tag[tag_of(b, turn->number, k)],
                          turn->error);
    if (rc || !fetch->ordered)
        return rc ? rc : fetch->each(fetch->context, &d, turn->error);
    fetch->ordered->fill(fetch->context, &d, turn->room);
    return BOUMA_OK;
}

static size_t room_for(const void *context, size_t chunk)
{
    const struct batch *b = context;

    return b->fetch->ordered->room(b->fetch->context, key_of(b, chunk));
}

static int deliver(void *context, const struct bm_turn *turn)
{
    const struct batch *b = context;

    return b->fetch->ordered->deliver(
        b->fetch->context, key_of(b, turn->number), turn->room, turn->error);
}

/* So many chunks of the batch were decoded. */
static void tell_progress(void *context, size_t taken)
{
    const struct batch *b = context;
    const struct bm_fetch *f = b->fetch;

    bm_step_tell_progress(
        f->step, f->before + b->done + (taken < b->count ? taken : b->count),
        f->total ? f->total : f->count);
}

/* The bytes of what is decoded. */
static double bytes_of(const struct batch *b)
{
    const struct bouma_variable *v = b->fetch->variable;
    const struct bm_object *o = v->object;
    double samples =
        ldexp((double)o->layout->most_values(o), -b->fetch->fine * o->ndims);

    return samples * (double)b->count * v->components *
           (double)bm_variable_value_size(v);
}

static int run_batch(struct batch *b)
{
    const struct bm_fetch *f = b->fetch;
    struct bm_work work = {.context = b,
                           .count = b->count,
                           .name = "decode chunk",
                           .run = decode_chunk,
                           .bytes = bytes_of(b),
                           .progress = tell_progress};
    int rc;

    if (bm_fetcher_begin(&b->fetcher, b->fetcher.source,
                         tag_of(b, b->count, b->fine)))
        return no_memory(b);
    for (size_t i = 0; i < b->count; i++)
        for (int k = b->coarse; k >= b->fine; k--)
            bm_fetcher_add(&b->fetcher, b->section, b->chunks[i], k,
                           tag_of(b, i, k));
    rc = bm_fetcher_read(&b->fetcher);
    if (rc)
        return rc;
    if (f->ordered) {
        work.deliver = deliver;
        work.room = room_for;
        work.memory = f->ordered->memory;
    }
    return bm_work_run(f->step, &work);
}

/* ---- all ---------------------------------------------------------------- */

static uint64_t chunk_bytes(const struct batch *b, size_t chunk)
{
    uint64_t bytes = 0;

    for (int k = b->fine; k <= b->coarse; k++)
        bytes +=
            b->section->sizes[chunk * (size_t)b->section->levels + (size_t)k];
    return bytes;
}

int bm_look_may(struct bm_look *look, uint64_t bytes)
{
    uint64_t left = look->limit > look->bytes + look->looked
                        ? look->limit - look->bytes - look->looked
                        : 0;

    if (look->over || bytes > left)
        return 0;
    look->looked += bytes;
    return 1;
}

/* Whether a subfile's head is there, or may be read. If not, all that the
 * subfile can have of the chunks is counted. */
static int may_open(const struct batch *b, size_t file,
                    const struct bm_part_info *part)
{
    const struct bm_fetch *f = b->fetch;
    uint64_t head = bm_manifest_record(&f->step->manifest, file)->head_bytes;

    if (!f->look || bm_step_source_loaded(f->step, file) ||
        bm_look_may(f->look, head))
        return 1;
    f->look->over = 1;
    f->look->bytes += head;
    for (int k = b->fine; k <= b->coarse; k++)
        f->look->bytes += part->level_bytes[k];
    return 0;
}

/* The same for a sheet with records of subfiles: all that these can have. */
static int may_load(void *context, size_t sheet, const struct bm_part_info *sum)
{
    const struct batch *b = context;
    const struct bm_fetch *f = b->fetch;
    uint64_t cost = bm_step_sheet_cost(f->step, sheet);

    if (!f->look || !cost || bm_look_may(f->look, cost))
        return 1;
    f->look->over = 1;
    f->look->bytes += cost + bm_step_sheet_rest(f->step, sheet);
    for (int k = b->fine; k <= b->coarse; k++)
        f->look->bytes += sum->level_bytes[k];
    return 0;
}

/* Count the bytes of chunks. */
static void look_at(const struct batch *b, const size_t *chunks, size_t count)
{
    for (size_t i = 0; i < count; i++)
        b->fetch->look->bytes += chunk_bytes(b, chunks[i]);
}

/* The chunks of one subfile, batch by batch. */
static int fetch_source(struct batch *b, const size_t *chunks, size_t count)
{
    struct bm_trace *trace = b->fetch->step->ds->engine.tracing.trace;
    size_t first = 0;
    int rc = BOUMA_OK;

    while (first < count && !rc) {
        double begun = bm_trace_now(trace);
        uint64_t bytes = 0;
        size_t n = 0;

        do
            bytes += chunk_bytes(b, chunks[first + n++]);
        while (first + n < count &&
               bytes + chunk_bytes(b, chunks[first + n]) <= BATCH_BYTES);
        b->chunks = chunks + first;
        b->count = n;
        rc = run_batch(b);
        if (trace)
            bm_trace_add(trace, "stage", "fetch", begun,
                         &(struct bm_trace_args){
                             .bytes = bytes, .counted = "chunks", .number = n});
        first += n;
        b->done += n;
    }
    return rc;
}

/* Whether some of the chunks lie in the bounds of a subfile's part. Subfiles
 * have mostly chunks behind those of the subfile before: the search goes on
 * where it ended there. */
static int any_inside(struct batch *b, const struct bm_box *bounds)
{
    size_t count = b->fetch->count;

    for (size_t n = 0; n < count; n++) {
        struct bm_box box =
            bm_chunk_bounds(b->fetch->variable->object, b->keys[b->next]);

        if (bm_box_inside(&box, bounds))
            return 1;
        b->next = b->next + 1 < count ? b->next + 1 : 0;
    }
    return 0;
}

/* In the order of the file, so that batches are read in few pieces: that of the
 * table, in which they come, unless the writer stored offsets. */
static int sort_chunks(const struct batch *b, const struct bm_head *head,
                       size_t *chunks, size_t n)
{
    const bouma_allocator *a = b->fetch->step->ds->a;
    struct bm_keyed *by_offset;

    if (!head->has_offsets || !n)
        return BOUMA_OK;
    by_offset = bm_new_raw(a, n, sizeof(*by_offset));
    if (!by_offset)
        return no_memory(b);
    for (size_t i = 0; i < n; i++)
        by_offset[i] = (struct bm_keyed){
            b->section->offsets[chunks[i] * (size_t)b->section->levels +
                                (size_t)b->fine],
            chunks[i]};
    qsort(by_offset, n, sizeof(*by_offset), bm_keyed_compare);
    for (size_t i = 0; i < n; i++)
        chunks[i] = by_offset[i].at;
    bm_drop(a, by_offset);
    return BOUMA_OK;
}

/* Mark chunks of a subfile as found: no two subfiles may have the same. */
static int claim_chunks(struct batch *b, const size_t *chunks, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t key = b->section->keys[chunks[i]];
        size_t at = 0;

        BM_BISECT(at, b->fetch->count, k, b->keys[k] <= key);
        if (b->found[at]++)
            return bm_fail(&b->fetch->step->ds->error, BOUMA_EFORMAT,
                           "step %" PRIu64 ": a chunk is in two subfiles",
                           b->fetch->step->manifest.step);
    }
    return BOUMA_OK;
}

/* The chunks of a subfile that are among those wanted, into chunks[*found]. */
static int find_chunks(struct batch *b, size_t file, size_t *chunks,
                       size_t *found)
{
    const struct bm_fetch *f = b->fetch;
    struct bm_source *source;
    int rc = bm_step_source(f->step, file, &source);

    *found = 0;
    if (rc)
        return rc;
    b->fetcher.source = file;
    b->section = bm_head_section(&source->head, f->variable->id);
    if (b->section)
        *found = bm_section_common(b->section, b->keys, f->count, chunks);
    rc = claim_chunks(b, chunks, *found);
    return rc ? rc : sort_chunks(b, &source->head, chunks, *found);
}

/* If the layout says which of the grid's files has a chunk: mark them. Others
 * are not opened. BOUMA_OK or ENOMEM. */
static int mark_files(struct batch *b)
{
    const struct bm_object *o = b->fetch->variable->object;
    struct bm_chunking c = o->layout->chunking(o);
    size_t files = b->fetch->step->manifest.count;

    if (!c.calls->file)
        return BOUMA_OK;
    b->wanted = bm_new(b->fetch->step->ds->a, files, 1);
    for (size_t i = 0; i < b->fetch->count && b->wanted; i++) {
        int64_t file = c.calls->file(c.own, c.calls->find(c.own, b->keys[i]));

        if ((size_t)file < files)
            b->wanted[file] = 1;
    }
    return b->wanted ? BOUMA_OK : BOUMA_ENOMEM;
}

/* Whether files, from 'first' on of those of the grid, may have some of the
 * chunks; 'part' is what they have together. */
static int may_have(void *context, const struct bm_part_info *part,
                    size_t first, size_t files)
{
    struct batch *b = context;

    for (size_t i = 0; b->wanted && i < files; i++)
        if (b->wanted[first + i])
            return 1;
    return !b->wanted && any_inside(b, &part->bounds);
}

/* The chunks that some subfile has, one subfile after the other. */
static int fetch_files(struct batch *b, size_t *chunks)
{
    const struct bm_fetch *f = b->fetch;
    const struct bm_manifest *m = &f->step->manifest;
    struct bm_file_walk walk = {.step = f->step,
                                .variable = f->variable->id,
                                .wants = may_have,
                                .may_load = may_load,
                                .context = b};
    size_t found = 0;
    int rc = BOUMA_OK;

    while (found < f->count && !rc) {
        size_t n = 0;

        rc = bm_file_walk_next(&walk);
        if (rc || !walk.part)
            break;
        if (!may_have(b, walk.part, walk.number, 1) ||
            !may_open(b, walk.file, walk.part))
            continue;
        rc = find_chunks(b, walk.file, chunks, &n);
        found += n;
        if (!rc && f->look)
            look_at(b, chunks, n);
        else if (!rc)
            rc = fetch_source(b, chunks, n);
    }
    if (rc || found == f->count || (f->look && f->look->over))
        return rc;
    return bm_fail(&f->step->ds->error, BOUMA_EFORMAT,
                   "step %" PRIu64 ": %zu of %zu chunks are in no subfile",
                   m->step, f->count - found, f->count);
}

int bm_fetch(const struct bm_fetch *fetch)
{
    const bouma_allocator *a = fetch->step->ds->a;
    const struct bm_object *o = fetch->variable->object;
    size_t *chunks = bm_new_raw(a, fetch->count, sizeof(*chunks));
    struct batch b = {.fetch = fetch,
                      .fetcher = {.step = fetch->step, .exact = fetch->exact}};
    int rc;

    fetch->step->open.busy++;
    b.keys = bm_new_raw(a, fetch->count, sizeof(*b.keys));
    b.found = bm_new(a, fetch->count, sizeof(*b.found));
    if (b.keys && fetch->count)
        memcpy(b.keys, fetch->keys, fetch->count * sizeof(*b.keys));
    b.fine = bm_finest_piece(o, fetch->fine);
    b.coarse = fetch->coarse < o->levels - 1
                   ? bm_finest_piece(o, fetch->coarse + 1) - 1
                   : bm_pieces(o) - 1;
    rc = chunks && b.keys && b.found &&
                 !bm_keys_sort(&b.keys, fetch->count, a) && !mark_files(&b)
             ? fetch_files(&b, chunks)
             : no_memory(&b);
    bm_fetcher_release(&b.fetcher);
    bm_drop(a, b.wanted);
    bm_drop(a, b.found);
    bm_drop(a, b.keys);
    bm_drop(a, chunks);
    fetch->step->open.busy--;
    return rc;
}
