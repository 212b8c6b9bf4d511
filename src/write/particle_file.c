/* particle_file.c -- see particle_file.h. */
#include "write/particle_file.h"

#include <inttypes.h>
#include <string.h>

#include "base/gather.h"
#include "base/hash.h"
#include "base/parallel_for.h"
#include "layout/particle_summary.h"
#include "store/step_dir.h"

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
    for (int j = 0; b->encoded && j < b->set->count; j++)
        bm_buffer_release(&b->encoded[j]);
    bm_drop(a, b->encoded);
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
    b->encoded = bm_new(ds->a, (size_t)set->count, sizeof(*b->encoded));
    if (!b->columns || !b->encoded)
        return bm_fail(&ds->error, BOUMA_ENOMEM, "no memory for particles");
    b->lanes = lanes_of(set);
    for (int j = 0; j < set->count; j++)
        bm_buffer_init(&b->encoded[j], ds->a);
    return BOUMA_OK;
}

/* ---- shape -------------------------------------------------------------- */

/* What the shaping of one file of particles needs. */
struct work {
    struct bm_particle_file *b;
    struct bouma_dataset *ds;
    const struct bm_object *set;
    uint64_t seed;
    size_t chunks;
    uint32_t *order; /* [count], the tree's */
    uint16_t *slots; /* [count], of each chunk by level */
    uint32_t *first; /* [chunks][levels], in 'slots' of the chunk */
    size_t *at;      /* [chunks][levels], see locate_pieces() */
};

/* What a thread needs beside that, to shape one variable after the other. */
struct hand {
    const struct work *w;
    struct bm_codec_state codec;
    uint8_t *sorted;   /* one lane in the order of the tree */
    uint8_t *levelled; /* a variable by level, chunk, component: in 'room',
                          or where it stays */
    uint8_t *room;
    size_t room_bytes;
};

static uint32_t chunk_slots(const struct work *w, size_t chunk)
{
    return bm_particle_summary_chunk_slots(w->set, w->b->count, chunk);
}

/* The particles of a level of a chunk. */
static uint32_t piece_count(const struct work *w, size_t chunk, int level)
{
    const uint32_t *first = w->first + chunk * (size_t)w->set->levels;

    return (level ? first[level - 1] : chunk_slots(w, chunk)) - first[level];
}

static int make_work(struct work *w)
{
    const bouma_allocator *a = w->ds->a;
    size_t levels = (size_t)w->set->levels, n = w->b->count;

    w->chunks = (size_t)bm_particle_summary_chunks(w->set, n);
    w->order = bm_new_raw(a, n, sizeof(*w->order));
    w->slots = bm_new_raw(a, n, sizeof(*w->slots));
    w->first = bm_new_raw(a, w->chunks * levels, sizeof(*w->first));
    w->at = bm_new_raw(a, w->chunks * levels, sizeof(*w->at));
    return w->order && w->slots && w->first && w->at ? BOUMA_OK : BOUMA_ENOMEM;
}

static void drop_work(struct work *w)
{
    const bouma_allocator *a = w->ds->a;

    bm_drop(a, w->order);
    bm_drop(a, w->slots);
    bm_drop(a, w->first);
    bm_drop(a, w->at);
}

/* Which slots have which level, in every chunk. */
static void find_levels(struct work *w)
{
    const struct bm_detail *d = &bm_bat_of(w->set)->detail;

    for (size_t c = 0; c < w->chunks; c++)
        bm_detail_order(d, bm_detail_shift(d, w->seed, c), chunk_slots(w, c),
                        w->slots + c * d->chunk,
                        w->first + c * (size_t)w->set->levels);
}

/* Where the values of a level of a chunk stand among those of the variable,
 * counted in particles: levels coarse to fine, in each the chunks. */
static void locate_pieces(const struct work *w)
{
    size_t levels = (size_t)w->set->levels, next = 0;

    for (int k = (int)levels - 1; k >= 0; k--)
        for (size_t c = 0; c < w->chunks; c++) {
            w->at[c * levels + (size_t)k] = next;
            next += piece_count(w, c, k);
        }
}

/* Ranges of each chunk, and of all, of the lane that is in h->sorted. */
static void find_ranges(const struct hand *h, struct bm_section *s,
                        size_t component, struct bm_range *all)
{
    const struct work *w = h->w;
    const struct bouma_variable *v = s->variable;
    size_t size = bm_variable_value_size(v);

    memset(all, 0, sizeof(*all));
    for (size_t c = 0; c < w->chunks; c++) {
        struct bm_range *r = &s->ranges[c * (size_t)v->components + component];

        bm_range_add(r, v->type,
                     h->sorted + c * bm_bat_of(w->set)->detail.chunk * size,
                     chunk_slots(w, c));
        bm_range_join(all, v->type, r);
    }
}

/* The bins and bitmaps of a variable's lane. */
static void fill_map(const struct hand *h, uint32_t row,
                     const struct bm_range *all, bouma_type type)
{
    struct bm_tree *t = &h->w->b->tree;
    union bm_scalar low = all->low, high = all->high;
    struct bm_bins bins;
    int any = 0, finite = bm_bins_valid(type, low, high);

    if (!finite) {
        memset(&low, 0, sizeof(low));
        memset(&high, 0, sizeof(high));
        bm_bins_widen(&low, &high, &any, type, h->sorted, h->w->b->count);
    }
    bm_bins_init(&bins, type, low, high);
    bins.finite = finite;
    bm_tree_fill_map(t, row, &bins, h->sorted);
}

/* Put the lane that is in h->sorted to its slots among the levels. */
static void split_levels(const struct hand *h, const struct bouma_variable *v,
                         int component)
{
    const struct work *w = h->w;
    size_t size = bm_variable_value_size(v), levels = (size_t)w->set->levels;

    for (size_t c = 0; c < w->chunks; c++) {
        size_t base = c * bm_bat_of(w->set)->detail.chunk;

        for (size_t k = 0; k < levels; k++) {
            uint32_t n = piece_count(w, c, (int)k);
            uint8_t *to = h->levelled +
                          w->at[c * levels + k] * size * (size_t)v->components +
                          (size_t)n * size * (size_t)component;

            bm_gather_near(to, h->sorted + base * size,
                           w->slots + base + w->first[c * levels + k], n, size);
        }
    }
}

/* Encode the pieces of a variable, in the order in which they stand, and record
 * their sizes and checksums. */
static int encode_pieces(struct hand *hand, int j, struct bm_section *s)
{
    const struct work *w = hand->w;
    const struct bouma_variable *v = s->variable;
    const struct bm_codec *codec = bm_codec_find((int)v->codec);
    const struct bm_head *h = &w->b->subfile.head;
    struct bm_buffer *out = &w->b->encoded[j];
    size_t levels = (size_t)w->set->levels, sample = bm_variable_sample_size(v);
    int rc = BOUMA_OK;

    for (int k = (int)levels - 1; k >= 0; k--)
        for (size_t c = 0; c < w->chunks && !rc; c++) {
            size_t i = c * levels + (size_t)k, begin = out->size;
            const uint8_t *values = hand->levelled + w->at[i] * sample;
            size_t n = piece_count(w, c, k), stored = n * sample;
            struct bm_address address = {
                w->ds->id, h->step, h->generation.epoch, h->generation.attempt,
                v->id,     c,       (uint32_t)k};

            if (!codec->sized) {
                rc = bm_values_encode(&hand->codec, out, v, values, n);
                stored = out->size - begin;
                values = stored ? out->data + begin : NULL;
            }
            if (rc)
                break;
            s->sizes[i] = (uint32_t)stored;
            s->hashes[i] = bm_hash_chunk(&address, values, stored);
        }
    return rc;
}

/* Where the lanes of a variable begin. */
static size_t first_lane(const struct bm_set_plan *set, int j)
{
    size_t lane = 0;

    for (int i = 0; i < j; i++)
        lane += (size_t)set->variables[i]->components;
    return lane;
}

/* One variable: sorted, indexed, split into levels, encoded. */
static int shape_variable(struct hand *h, int j)
{
    const struct work *w = h->w;
    struct bm_particle_file *b = w->b;
    const bouma_allocator *a = w->ds->a;
    const struct bouma_variable *v = b->set->variables[j];
    struct bm_section *s = bm_head_section(&b->subfile.head, v->id);
    int sized = bm_codec_find((int)v->codec)->sized;
    size_t bytes = b->count * bm_variable_sample_size(v);
    size_t lane = first_lane(b->set, j);

    if (!sized && h->room_bytes < bytes) {
        bm_drop(a, h->room);
        h->room = bm_new_raw(a, bytes, 1);
        h->room_bytes = h->room ? bytes : 0;
    }
    h->levelled = sized ? bm_buffer_extend(&b->encoded[j], bytes) : h->room;
    if (!h->levelled)
        return BOUMA_ENOMEM;
    for (int c = 0; c < v->components; c++) {
        struct bm_column_data *column = &b->columns[lane + (size_t)c];
        struct bm_range all;

        bm_gather(h->sorted, column->values, w->order, b->count,
                  bm_variable_value_size(v));
        bm_drop(a, column->own);
        column->own = NULL;
        find_ranges(h, s, (size_t)c, &all);
        if (j) /* rows are the lanes behind those of the position */
            fill_map(h,
                     (uint32_t)(lane + (size_t)c) -
                         (uint32_t)b->set->variables[0]->components,
                     &all, v->type);
        split_levels(h, v, c);
    }
    for (size_t i = 0; i < w->chunks; i++)
        s->keys[i] = i;
    if (sized)
        bm_swap_to_little(h->levelled, bytes / bm_variable_value_size(v),
                          bm_variable_value_size(v));
    return encode_pieces(h, j, s);
}

static int shape_turn(void *context, size_t j, size_t worker)
{
    struct hand *hands = context, *h = &hands[worker];

    if (!h->sorted)
        h->sorted = bm_new_raw(h->w->ds->a, h->w->b->count, 8);
    return h->sorted ? shape_variable(h, (int)j) : BOUMA_ENOMEM;
}

/* All variables, on as many threads as there are. */
static int shape_variables(const struct work *w)
{
    const bouma_allocator *a = w->ds->a;
    size_t variables = (size_t)w->b->set->count;
    size_t count = (size_t)bm_dataset_threads(w->ds);
    struct hand *hands;
    int rc;

    if (count > variables)
        count = variables;
    hands = bm_new(a, count, sizeof(*hands));
    if (!hands)
        return BOUMA_ENOMEM;
    for (size_t i = 0; i < count; i++) {
        hands[i].w = w;
        bm_codec_state_init(&hands[i].codec, a);
    }
    rc = bm_parallel_for(shape_turn, hands, variables, count);
    for (size_t i = 0; i < count; i++) {
        bm_codec_state_release(&hands[i].codec);
        bm_drop(a, hands[i].sorted);
        bm_drop(a, hands[i].room);
    }
    bm_drop(a, hands);
    return rc;
}

/* The head: the summary, still without its tree, and a section for each
 * variable. */
static int make_head(struct work *w, const struct bm_step_entry *entry,
                     uint32_t subfiles)
{
    struct bm_particle_file *b = w->b;
    struct bm_head *h = &b->subfile.head;
    struct bm_particle_summary *summary;
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
        rc = bm_head_add_section(h, b->set->variables[j], w->chunks);
    return rc;
}

/* Values within their tolerance, before anything is made of them. */
static void round_values(struct work *w)
{
    struct bm_particle_file *b = w->b;
    size_t lane = 0;

    for (int j = 0; j < b->set->count; j++) {
        const struct bouma_variable *v = b->set->variables[j];
        const struct bm_codec *codec = bm_codec_find((int)v->codec);
        struct bm_section *s = bm_head_section(&b->subfile.head, v->id);

        for (int c = 0; c < v->components; c++, lane++)
            if (codec->round)
                codec->round(v->type, b->columns[lane].own, b->count, v->bound,
                             &s->loss);
    }
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
    }
    rc = bm_tree_build(&b->tree, w->order, &p, bm_bat_of(w->set)->leaf,
                       bm_dataset_threads(w->ds));
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
        round_values(&w);
    if (!rc)
        rc = build_tree(&w);
    if (!rc) {
        find_levels(&w);
        locate_pieces(&w);
        rc = shape_variables(&w);
    }
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
    for (int j = 0; j < b->set->count; j++)
        all += b->encoded[j].size;
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
        const uint8_t *data = b->encoded[j].data;

        for (int k = s->levels - 1; k >= 0 && !rc; k--)
            for (size_t c = 0; c < s->count && !rc; c++) {
                size_t i = c * (size_t)s->levels + (size_t)k;

                if (run.bytes && (run.offset + run.bytes != s->offsets[i] ||
                                  run.data + run.bytes != data))
                    rc = flush(b, &run, error);
                if (!run.bytes)
                    run = (struct run){data, s->offsets[i], 0};
                run.bytes += s->sizes[i];
                data += s->sizes[i];
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
    for (int j = 0; j < b->set->count; j++)
        bm_buffer_release(&b->encoded[j]);
    bm_tree_release(&b->tree);
    bm_file_batch_release(&b->batch);
}
