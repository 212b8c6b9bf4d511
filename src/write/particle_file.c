/* particle_file.c -- see particle_file.h. */
#include "write/particle_file.h"

#include <inttypes.h>
#include <string.h>

#include "base/parallel_for.h"
#include "layout/particle_summary.h"
#include "store/step_dir.h"
#include "write/particle_pieces.h"

static size_t lanes_of(const struct bm_set_plan *set)
{
    size_t n = 0;

    for (int j = 0; j < set->count; j++)
        n += (size_t)set->variables[j]->components;
    return n;
}

void bm_particle_file_release(struct bm_particle_file *b)
{
    const bouma_allocator *a = b->tree_bytes.a;

    if (!a)
        return;
    for (size_t i = 0; i < b->lanes; i++)
        bm_drop(a, b->columns[i].own);
    bm_drop(a, b->columns);
    for (size_t i = 0; i < b->encoded_count; i++)
        bm_buffer_release(&b->encoded[i]);
    bm_drop(a, b->encoded);
    bm_drop(a, b->pieces);
    bm_buffer_release(&b->tree_bytes);
    bm_tree_release(&b->tree);
    bm_subfile_release(&b->subfile);
    bm_file_batch_release(&b->batch);
    memset(b, 0, sizeof(*b));
}

int bm_particle_file_init(struct bm_particle_file *b, struct bouma_dataset *ds,
                          const struct bm_set_plan *set, uint32_t file)
{
    memset(b, 0, sizeof(*b));
    bm_buffer_init(&b->tree_bytes, ds->a);
    bm_tree_init(&b->tree, ds->a);
    b->set = set;
    b->file = file;
    b->count = (size_t)set->counts[file];
    b->columns = bm_new(ds->a, lanes_of(set), sizeof(*b->columns));
    if (!b->columns)
        return bm_fail(&ds->error, BOUMA_ENOMEM, "no memory for particles");
    b->lanes = lanes_of(set);
    return BOUMA_OK;
}

/* ---- shape -------------------------------------------------------------- */

/* What the shaping of one file of particles needs. */
struct work {
    struct bm_particle_file *b;
    struct bouma_dataset *ds;
    const struct bm_object *set;
    uint64_t seed;
    struct bm_particle_order order;
};

static int make_work(struct work *w)
{
    const bouma_allocator *a = w->ds->a;
    struct bm_particle_file *b = w->b;
    size_t widest = 0;

    for (int j = 0; j < b->set->count; j++) {
        size_t size = bm_variable_sample_size(b->set->variables[j]);

        widest = size > widest ? size : widest;
    }
    w->order.slot = bm_new_raw(a, b->count, sizeof(*w->order.slot));
    w->order.room = bm_new_raw(a, b->count, widest);
    return w->order.slot && w->order.room ? BOUMA_OK : BOUMA_ENOMEM;
}

static void drop_work(struct work *w)
{
    bm_tree_route_release(&w->order.route, w->ds->a);
    bm_drop(w->ds->a, w->order.slot);
    bm_drop(w->ds->a, w->order.room);
}

/* The head: the summary, still without its tree, and a section for each
 * variable. */
static int make_head(struct work *w, const struct bm_step_entry *entry,
                     uint32_t subfiles)
{
    struct bm_particle_file *b = w->b;
    struct bm_head *h = &b->subfile.head;
    struct bm_particle_summary *summary;
    size_t chunks = (size_t)bm_particle_summary_chunks(w->set, b->count);
    int rc;

    bm_head_init(h, w->ds->a);
    h->step = entry->step;
    h->time = entry->time;
    h->subfile = b->set->first_subfile + b->file;
    h->subfiles = subfiles;
    h->generation = entry->generation;
    h->base = w->ds->given.base; /* the step has not ended */
    h->order = w->ds->options.order;
    rc = bm_summaries_add(&h->summaries, w->set);
    if (rc)
        return rc;
    summary = bm_particle_summary_of(h->summaries.entries[0]);
    summary->count = b->count;
    summary->seed = w->seed;
    rc = bm_particle_summary_set_rows(summary, b->set->variables + 1,
                                      b->set->count - 1);
    for (int j = 0; j < b->set->count && !rc; j++)
        rc = bm_head_add_section(h, b->set->variables[j], chunks);
    return rc;
}

/* Values that are rounded together; the sum of errors is made of theirs, so it
 * does not depend on threads. */
#define ROUNDED 65536

struct rounding {
    const struct bouma_variable *v;
    uint8_t *values; /* of one lane */
    size_t count;
    struct bm_loss *losses;
};

static int round_some(void *context, size_t i, size_t worker)
{
    const struct rounding *r = context;
    size_t at = i * ROUNDED;
    size_t n = r->count - at < ROUNDED ? r->count - at : ROUNDED;

    (void)worker;
    bm_codec_find((int)r->v->codec)
        ->round(r->v->type, r->values + at * bm_variable_value_size(r->v), n,
                r->v->bound, &r->losses[i]);
    return BOUMA_OK;
}

static int round_lane(const struct work *w, struct rounding *r,
                      struct bm_loss *loss)
{
    size_t blocks = (r->count + ROUNDED - 1) / ROUNDED;

    r->losses = bm_new(w->ds->a, blocks, sizeof(*r->losses));
    if (!r->losses)
        return BOUMA_ENOMEM;
    bm_parallel_for(round_some, r, blocks, (size_t)bm_dataset_threads(w->ds));
    for (size_t i = 0; i < blocks; i++) {
        loss->largest = r->losses[i].largest > loss->largest
                            ? r->losses[i].largest
                            : loss->largest;
        loss->squares += r->losses[i].squares;
    }
    bm_drop(w->ds->a, r->losses);
    return BOUMA_OK;
}

/* Values within their tolerance, before anything is made of them. */
static int round_values(struct work *w)
{
    struct bm_particle_file *b = w->b;
    size_t lane = 0;
    int rc = BOUMA_OK;

    for (int j = 0; j < b->set->count; j++) {
        const struct bouma_variable *v = b->set->variables[j];
        struct bm_section *s = bm_head_section(&b->subfile.head, v->id);

        for (int c = 0; c < v->components; c++, lane++) {
            struct rounding r = {v, b->columns[lane].own, b->count, NULL};

            if (bm_codec_find((int)v->codec)->round && !rc)
                rc = round_lane(w, &r, &s->loss);
        }
    }
    return rc;
}

static int build_tree(struct work *w)
{
    struct bm_particle_file *b = w->b;
    struct bm_positions p = {.ndims = w->set->ndims,
                             .type = w->set->variables[0]->type,
                             .count = b->count};
    struct bm_particle_summary *summary =
        bm_particle_summary_of(b->subfile.head.summaries.entries[0]);
    int rc;

    for (int d = 0; d < p.ndims; d++) {
        p.axis[d] = b->columns[d].values;
        p.stride[d] = (int64_t)bouma_type_size(p.type);
        w->order.route.sorted[d] =
            w->order.room + (size_t)d * b->count * bouma_type_size(p.type);
    }
    rc = bm_tree_build(&b->tree, w->order.slot, &p, bm_bat_of(w->set)->leaf,
                       bm_dataset_threads(w->ds), &w->order.route);
    if (!rc)
        rc = bm_tree_add_maps(&b->tree, summary->rows);
    return rc;
}

/* With all bitmaps there, the tree as bytes, and the summary in full. */
static int finish_tree(struct work *w, struct bm_codec_state *codec)
{
    struct bm_particle_file *b = w->b;
    struct bm_head *h = &b->subfile.head;
    struct bm_particle_summary *summary =
        bm_particle_summary_of(h->summaries.entries[0]);
    struct bm_step_address step = {w->ds->id, h->step, h->generation};

    bm_tree_join_maps(&b->tree);
    if (bm_tree_encode(&b->tree_bytes, &b->tree, codec))
        return BOUMA_ENOMEM;
    summary->strays = b->count - b->tree.count;
    if (b->tree.count) {
        memcpy(summary->low, b->tree.low, sizeof(summary->low));
        memcpy(summary->high, b->tree.high, sizeof(summary->high));
    }
    summary->tree_bytes = b->tree_bytes.size;
    summary->tree_hash = bm_summary_hash_index(
        h->summaries.entries[0], &step, b->tree_bytes.data, b->tree_bytes.size);
    for (uint32_t i = 0; i < summary->rows; i++) {
        summary->bins[i] = b->tree.bins[i];
        summary->bitmaps[i] =
            b->tree.node_count ? b->tree.bitmaps[(size_t)i * b->tree.node_count]
                               : 0;
    }
    return BOUMA_OK;
}

int bm_particle_file_shape(struct bm_particle_file *b, struct bouma_dataset *ds,
                           struct bm_codec_state *codec,
                           const struct bm_step_entry *entry, uint32_t subfiles)
{
    struct work w = {.b = b, .ds = ds, .set = b->set->set};
    int rc;

    w.seed = ((uint64_t)w.set->number << 32) + b->file;
    rc = make_work(&w);
    if (!rc)
        rc = make_head(&w, entry, subfiles);
    if (!rc)
        rc = round_values(&w);
    if (!rc)
        rc = build_tree(&w);
    if (!rc)
        rc = bm_particle_pieces_make(b, ds, w.seed, &w.order);
    if (!rc)
        rc = finish_tree(&w, codec);
    drop_work(&w);
    return rc ? bm_fail(&ds->error, rc, "no memory to sort particles \"%s\"",
                        b->set->set->name)
              : BOUMA_OK;
}

/* ---- store -------------------------------------------------------------- */

/* Writes that are sorted together: a level of a variable is often short. */
#define BATCH_WRITES 1024
#define LEAST_BATCH  ((uint64_t)1 << 20)

/* The bytes up to which those that lie side by side in the file go in one call:
 * a buffer, if that is not small, or all of the file if that is less. */
static size_t batch_bytes(const struct bm_particle_file *b,
                          const struct bouma_dataset *ds)
{
    uint64_t bytes = ds->engine.env.buffer_bytes, all = b->tree_bytes.size;

    bytes = bytes < LEAST_BATCH ? LEAST_BATCH : bytes;
    for (size_t i = 0; i < b->encoded_count; i++)
        all += b->encoded[i].size;
    return (size_t)(all < bytes ? all : bytes) + 1;
}

/* Bytes that lie side by side, in memory and in the file. */
struct run {
    const uint8_t *data;
    uint64_t offset;
    size_t bytes;
};

static int flush(struct bm_particle_file *b, struct run *run,
                 struct bm_error *error)
{
    int rc = bm_file_batch_add(&b->batch, &b->subfile.file, run->data,
                               run->bytes, run->offset, error);

    run->bytes = 0;
    return rc;
}

static int write_all(struct bm_particle_file *b, struct bm_error *error)
{
    const struct bm_head *h = &b->subfile.head;
    struct run run = {NULL, 0, 0};
    int rc = bm_file_batch_add(&b->batch, &b->subfile.file, b->tree_bytes.data,
                               b->tree_bytes.size,
                               h->summaries.entries[0]->index_offset, error);

    for (int j = 0; j < b->set->count && !rc; j++) {
        const struct bm_section *s =
            bm_head_section(h, b->set->variables[j]->id);
        const struct bm_piece_place *places =
            b->pieces + (size_t)j * s->count * (size_t)s->levels;

        for (int k = s->levels - 1; k >= 0 && !rc; k--)
            for (size_t c = 0; c < s->count && !rc; c++) {
                size_t i = c * (size_t)s->levels + (size_t)k;
                const uint8_t *data =
                    b->encoded[places[i].buffer].data + places[i].at;

                if (run.bytes && (run.offset + run.bytes != s->offsets[i] ||
                                  run.data + run.bytes != data))
                    rc = flush(b, &run, error);
                if (!run.bytes)
                    run = (struct run){data, s->offsets[i], 0};
                run.bytes += s->sizes[i];
            }
    }
    if (!rc)
        rc = flush(b, &run, error);
    return rc ? rc : bm_file_batch_flush(&b->batch, error);
}

int bm_particle_file_open(struct bm_particle_file *b, struct bouma_dataset *ds)
{
    const struct bm_head *h = &b->subfile.head;
    char name[BM_NAME_BYTES];
    int rc;

    bm_name_subfile(name, h->step, h->subfile, h->generation);
    if (bm_file_batch_init(&b->batch, ds->a, BATCH_WRITES, batch_bytes(b, ds)))
        return bm_fail(&ds->error, BOUMA_ENOMEM,
                       "no memory to store particles");
    rc = bm_step_dir_create(&b->subfile.file, &ds->store, name, &ds->error);
    return rc ? rc : bm_subfile_arrange(&b->subfile, ds);
}

int bm_particle_file_store(struct bm_particle_file *b, struct bm_error *error)
{
    return write_all(b, error);
}

void bm_particle_file_drop(struct bm_particle_file *b)
{
    for (size_t i = 0; i < b->encoded_count; i++)
        bm_buffer_release(&b->encoded[i]);
    bm_tree_release(&b->tree);
    bm_file_batch_release(&b->batch);
}
