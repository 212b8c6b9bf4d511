/* fetch.c -- chunk levels from subfiles. What lies close together in a file is
 * read in one call; every piece is checked before it is decoded. */
#include <inttypes.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel_for.h"
#include "read/extents.h"

#define BATCH_BYTES  ((uint64_t)4 << 20)   /* read ahead of decoding */
#define THREAD_BYTES ((uint64_t)256 << 10) /* that a thread is started for */

struct batch {
    const struct bm_fetch *fetch;
    struct bouma_step *step;
    const struct bouma_variable *variable;
    int fine, coarse;
    size_t source;
    const struct bm_section *section;
    size_t *chunks; /* places in the section, ascending */
    size_t count;
    struct bm_extent *pieces;          /* [count * levels], by offset */
    const struct bm_extent **by_chunk; /* [count][levels] */
    struct bm_block_of_memory raw;
    size_t done;         /* chunks, in all batches */
    atomic_size_t taken; /* of this one */
};

void bm_selection_of(bouma_selection *out, const struct bm_object *grid,
                     size_t sample_bytes, int level, const bouma_box *lifted)
{
    struct bm_lattice l = bm_lattice_of(lifted, level);
    int ndims = grid->ndims;

    memset(out, 0, sizeof(*out));
    out->ndims = ndims;
    out->bytes = bm_lattice_samples(&l) * sample_bytes;
    for (int d = 0; d < ndims; d++) {
        int axis = 3 - ndims + d;

        out->shape[d] = l.count[axis];
        out->first[d] = l.start[axis] << level;
        out->origin[d] =
            grid->origin[d] + grid->spacing[d] * (double)out->first[d];
        out->spacing[d] = grid->spacing[d] * (double)((int64_t)1 << level);
    }
}

/* ---- one batch ---------------------------------------------------------- */

static size_t list_pieces(struct batch *b)
{
    size_t n = 0, levels = (size_t)b->section->levels;

    for (size_t i = 0; i < b->count; i++)
        for (int k = b->coarse; k >= b->fine; k--) {
            size_t at = b->chunks[i] * levels + (size_t)k;

            b->pieces[n++] = (struct bm_extent){b->section->offsets[at],
                                                b->section->sizes[at],
                                                (uint32_t)i,
                                                k,
                                                0,
                                                NULL,
                                                0};
        }
    return n;
}

/* Check and decode the next piece of a chunk. */
static int decode_piece(const struct batch *b, struct bm_decoding *d,
                        const struct bm_extent *piece, struct bm_error *error)
{
    size_t chunk = b->chunks[piece->chunk];
    int rc =
        bm_extent_check(b->step, b->source, b->section, chunk, piece, error);

    if (rc)
        return rc;
    rc =
        b->variable->object->layout->decode_piece(d, piece->data, piece->bytes);
    if (rc == BOUMA_EFORMAT)
        return bm_extent_damaged(b->step, b->source, b->section, chunk, piece,
                                 "the data cannot be decoded", error);
    return rc ? bm_fail(error, rc, "no memory to decode a chunk") : BOUMA_OK;
}

/* Whether its samples are within the limit. */
static int check_size(const struct batch *b, const struct bm_decoding *d,
                      struct bm_error *error)
{
    size_t bytes = b->variable->object->layout->sample_bytes(d, b->fine);

    return bytes > b->step->ds->store.memory_limit
               ? bm_fail(error, BOUMA_ELIMIT,
                         "a patch of \"%s/%s\" has %zu bytes of samples, more "
                         "than the option 'memory_limit' allows",
                         b->variable->object->name, b->variable->name, bytes)
               : BOUMA_OK;
}

/* Decode the pieces of one chunk and hand it on. */
static int deliver(const struct batch *b, struct bm_coder *coder, size_t chunk,
                   struct bm_error *error)
{
    const struct bm_layout *layout = b->variable->object->layout;
    const struct bm_fetch *fetch = b->fetch;
    const struct bm_extent **by_level =
        b->by_chunk + chunk * (size_t)(b->coarse - b->fine + 1);
    struct bm_decoding d = {.coder = coder,
                            .variable = b->variable,
                            .summary = b->section->summary,
                            .key = b->section->keys[b->chunks[chunk]],
                            .level = b->coarse + 1,
                            .clip = fetch->clip,
                            .fine = b->fine};
    const uint8_t *kept = b->coarse < b->section->levels - 1
                              ? fetch->coarser(fetch->context, d.key)
                              : NULL;
    int rc = layout->decode_begin(&d, kept);

    rc = rc ? bm_fail(error, rc, "no memory to decode a chunk")
            : check_size(b, &d, error);
    for (int k = b->coarse; k >= b->fine && !rc; k--)
        rc = decode_piece(b, &d, by_level[k - b->fine], error);
    return rc ? rc : fetch->each(fetch->context, &d, error);
}

/* ---- threads ------------------------------------------------------------ */

/* 'taken' chunks of the batch; only this rank's first thread tells. */
static void tell_progress(const struct batch *b, size_t taken)
{
    const bouma_options *o = &b->step->ds->options;
    const struct bm_fetch *f = b->fetch;

    if (o->progress && b->step->ds->comm->rank == 0)
        o->progress(o->progress_user, "reading",
                    f->before + b->done + (taken < b->count ? taken : b->count),
                    f->total ? f->total : f->count);
}

static int deliver_one(void *context, size_t chunk, size_t worker)
{
    struct batch *b = context;
    int rc = deliver(b, &b->step->workers[worker], chunk,
                     &b->step->worker_errors[worker]);
    size_t taken = atomic_fetch_add(&b->taken, 1) + 1;

    if (!worker)
        tell_progress(b, taken);
    return rc;
}

/* How many threads a batch is worth: by the bytes of what is decoded. */
static int threads_for(const struct batch *b)
{
    const struct bouma_variable *v = b->variable;
    const struct bm_object *o = v->object;
    double samples =
        ldexp((double)o->layout->most_values(o), -b->fine * o->ndims);
    double bytes = samples * (double)b->count * v->components *
                   (double)bm_variable_value_size(v);
    double parts = 1 + bytes / THREAD_BYTES;
    uint64_t most = parts < BM_MAX_THREADS ? (uint64_t)parts : BM_MAX_THREADS;

    most = most < b->count ? most : b->count;
    return most < (uint64_t)b->step->worker_count ? (int)most
                                                  : b->step->worker_count;
}

/* Decode all chunks of a batch on as many threads as there are workers. */
static int deliver_all(struct batch *b)
{
    struct bouma_step *step = b->step;
    int count = threads_for(b), rc;

    for (int i = 0; i < count; i++)
        bm_error_clear(&step->worker_errors[i]);
    atomic_store(&b->taken, 0);
    rc = bm_parallel_for(deliver_one, b, b->count, (size_t)count);
    for (int i = 0; i < count && rc; i++)
        if (step->worker_errors[i].status == rc) {
            step->ds->error = step->worker_errors[i];
            break;
        }
    if (!rc && count > 1) /* the others may have had the last ones */
        tell_progress(b, b->count);
    return rc;
}

int bm_workers_init(struct bouma_step *step)
{
    int threads = bm_dataset_threads(step->ds);

    step->workers =
        bm_new(step->ds->a, (size_t)threads, sizeof(*step->workers));
    step->worker_errors =
        bm_new(step->ds->a, (size_t)threads, sizeof(*step->worker_errors));
    if (!step->workers || !step->worker_errors)
        return BOUMA_ENOMEM;
    step->worker_count = threads;
    for (int i = 0; i < threads; i++)
        bm_coder_init(&step->workers[i], step->ds->a);
    return BOUMA_OK;
}

void bm_workers_release(struct bouma_step *step)
{
    const bouma_allocator *a = step->ds->a;

    for (int i = 0; i < step->worker_count; i++)
        bm_coder_release(&step->workers[i]);
    bm_drop(a, step->workers);
    bm_drop(a, step->worker_errors);
    step->workers = NULL;
    step->worker_errors = NULL;
    step->worker_count = 0;
}

static int run_batch(struct batch *b)
{
    size_t n = list_pieces(b);
    int levels = b->coarse - b->fine + 1;
    int rc = bm_extents_read(b->step, b->source, b->pieces, n, &b->raw);

    if (rc)
        return rc;
    b->by_chunk =
        bm_new(b->step->ds->a, b->count * (size_t)levels, sizeof(*b->by_chunk));
    if (!b->by_chunk)
        return bm_fail(&b->step->ds->error, BOUMA_ENOMEM, "no memory to read");
    for (size_t i = 0; i < n; i++)
        b->by_chunk[b->pieces[i].chunk * (size_t)levels +
                    (size_t)(b->pieces[i].level - b->fine)] = &b->pieces[i];
    rc = deliver_all(b);
    bm_drop(b->step->ds->a, b->by_chunk);
    return rc;
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

/* The chunks of one subfile, batch by batch. */
static int fetch_source(struct batch *b, const size_t *chunks, size_t count)
{
    const bouma_allocator *a = b->step->ds->a;
    size_t first = 0;
    int rc = BOUMA_OK;

    while (first < count && !rc) {
        uint64_t bytes = 0;
        size_t n = 0;

        do
            bytes += chunk_bytes(b, chunks[first + n++]);
        while (first + n < count &&
               bytes + chunk_bytes(b, chunks[first + n]) <= BATCH_BYTES);
        b->chunks = (size_t *)chunks + first;
        b->count = n;
        b->pieces = bm_new_raw(a, n * (size_t)(b->coarse - b->fine + 1),
                               sizeof(*b->pieces));
        rc = b->pieces ? run_batch(b)
                       : bm_fail(&b->step->ds->error, BOUMA_ENOMEM,
                                 "no memory to read");
        bm_drop(a, b->pieces);
        first += n;
        b->done += n;
    }
    return rc;
}

const struct bm_part_info *bm_step_part(const struct bouma_step *step,
                                        size_t file, uint32_t variable)
{
    return bm_subfile_info_part(&step->manifest.subfiles[file], variable);
}

/* Whether some of the chunks lie in the bounds of a subfile's part. */
static int any_inside(const struct bm_object *o, const bouma_box *bounds,
                      const uint64_t *keys, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        bouma_box box = bm_chunk_bounds(o, keys[i]);

        if (bm_box_inside(&box, bounds))
            return 1;
    }
    return 0;
}

static int by_place(const void *left, const void *right)
{
    const size_t *a = left, *b = right;

    return *a < *b ? -1 : *a > *b;
}

struct placed {
    uint64_t offset;
    size_t chunk;
};

static int by_offset(const void *left, const void *right)
{
    const struct placed *a = left, *b = right;

    return a->offset < b->offset ? -1 : a->offset > b->offset;
}

/* In the order of the file, so that batches are read in few pieces: that of the
 * table, unless the writer chose the places. */
static int sort_chunks(const struct batch *b, const struct bm_head *head,
                       size_t *chunks, size_t n)
{
    const bouma_allocator *a = b->step->ds->a;
    struct placed *placed;

    qsort(chunks, n, sizeof(*chunks), by_place);
    if (!head->placed || !n)
        return BOUMA_OK;
    placed = bm_new_raw(a, n, sizeof(*placed));
    if (!placed)
        return bm_fail(&b->step->ds->error, BOUMA_ENOMEM, "no memory to read");
    for (size_t i = 0; i < n; i++)
        placed[i] = (struct placed){
            b->section->offsets[chunks[i] * (size_t)b->section->levels +
                                (size_t)b->fine],
            chunks[i]};
    qsort(placed, n, sizeof(*placed), by_offset);
    for (size_t i = 0; i < n; i++)
        chunks[i] = placed[i].chunk;
    bm_drop(a, placed);
    return BOUMA_OK;
}

int bm_fetch(const struct bm_fetch *fetch)
{
    struct bouma_step *step = fetch->step;
    const struct bouma_variable *variable = fetch->variable;
    const uint64_t *keys = fetch->keys;
    struct bouma_dataset *ds = step->ds;
    size_t count = fetch->count, found = 0;
    size_t *chunks = bm_new_raw(ds->a, count, sizeof(*chunks));
    struct batch b;
    int rc = BOUMA_OK;

    memset(&b, 0, sizeof(b));
    b.fetch = fetch;
    b.step = step;
    b.variable = variable;
    b.fine = fetch->fine;
    b.coarse = fetch->coarse;
    if (!chunks)
        rc = bm_fail(&ds->error, BOUMA_ENOMEM, "no memory to read");
    for (size_t i = 0; i < step->manifest.count && found < count && !rc; i++) {
        const struct bm_part_info *part = bm_step_part(step, i, variable->id);
        struct bm_source *source;
        size_t n = 0;

        if (!part || !any_inside(variable->object, &part->bounds, keys, count))
            continue;
        rc = bm_step_source(step, i, &source);
        if (rc)
            break;
        b.source = i;
        b.section = bm_head_section(&source->head, variable->id);
        for (size_t k = 0; k < count && b.section; k++) {
            int64_t at = bm_section_find(b.section, keys[k]);

            if (at >= 0)
                chunks[n++] = (size_t)at;
        }
        found += n;
        rc = sort_chunks(&b, &source->head, chunks, n);
        if (!rc)
            rc = fetch_source(&b, chunks, n);
    }
    if (!rc && found != count)
        rc = bm_fail(&ds->error, BOUMA_EFORMAT,
                     "step %" PRIu64 ": %zu of %zu chunks are in no subfile "
                     "or in several",
                     step->manifest.step,
                     found < count ? count - found : found - count, count);
    bm_drop(ds->a, b.raw.data);
    bm_drop(ds->a, chunks);
    return rc;
}
