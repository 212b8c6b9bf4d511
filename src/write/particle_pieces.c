/* particle_pieces.c -- see particle_pieces.h.
 *
 * Variables come one after the other, each in two turns of all threads: through
 * its columns as they came, for their ranges (which bins need) and, if there is
 * no order in them, into buckets; then through the chunks. */
#include "write/particle_pieces.h"

#include <string.h>

#include "base/gather.h"
#include "base/hash.h"
#include "base/parallel_for.h"
#include "layout/particle_summary.h"

#define LEAST_SHARE 16384 /* particles for which a thread is started */
#define LOOK        4096  /* particles that are looked at and moved together */

/* What a thread needs for itself. */
struct hand {
    struct bm_codec_state codec;
    uint8_t *lane;     /* one of a chunk, in the order of the tree */
    uint8_t *levelled; /* a variable of a chunk, by level, component */
    struct bm_buffer *out;
};

/* What all threads work on. */
struct work {
    struct bm_particle_file *b;
    struct bouma_dataset *ds;
    const struct bm_object *set;
    const struct bm_particle_order *order;
    uint64_t seed;
    size_t chunks, levels, threads, parts;
    struct hand *hands;      /* [threads] */
    uint16_t *slots;         /* [count], of each chunk by level */
    uint32_t *first;         /* [chunks][levels], in 'slots' of the chunk */
    size_t *at;              /* [chunks][levels], see locate_pieces() */
    struct bm_range *ranges; /* [parts][lanes of the variable at hand] */

    /* The variable at hand: */
    int j;
    const struct bouma_variable *v;
    const struct bm_codec *codec;
    struct bm_section *s;
    size_t lane, value, sample; /* its first lane; bytes */
};

static uint32_t chunk_slots(const struct work *w, size_t chunk)
{
    return bm_particle_summary_chunk_slots(w->set, w->b->count, chunk);
}

/* The particles of a level of a chunk. */
static uint32_t piece_count(const struct work *w, size_t chunk, size_t level)
{
    const uint32_t *first = w->first + chunk * w->levels;

    return (level ? first[level - 1] : chunk_slots(w, chunk)) - first[level];
}

/* ---- levels ------------------------------------------------------------- */

/* Which slots of a chunk have which level. */
static int find_levels(void *context, size_t c, size_t worker)
{
    const struct work *w = context;
    const struct bm_detail *d = &bm_bat_of(w->set)->detail;

    (void)worker;
    bm_detail_order(d, bm_detail_shift(d, w->seed, c), chunk_slots(w, c),
                    w->slots + c * d->chunk, w->first + c * w->levels);
    return BOUMA_OK;
}

/* Where the values of a level of a chunk stand among those of the variable,
 * counted in particles: levels coarse to fine, in each the chunks. */
static void locate_pieces(const struct work *w)
{
    size_t next = 0;

    for (size_t k = w->levels; k-- > 0;)
        for (size_t c = 0; c < w->chunks; c++) {
            w->at[c * w->levels + k] = next;
            next += piece_count(w, c, k);
        }
}

/* ---- columns as they came ----------------------------------------------- */

/* Whether values take the way through buckets. Positions are sorted already. */
static int is_routed(const struct work *w)
{
    return w->j && w->order->route.cell_of;
}

static const uint8_t *column(const struct work *w, int component)
{
    return w->b->columns[w->lane + (size_t)component].values;
}

/* Where a lane is in the room of the order. */
static uint8_t *room_of(const struct work *w, int component)
{
    return w->order->room + (size_t)component * w->b->count * w->value;
}

/* The ranges of a part of each lane, which goes to its buckets. */
static int look_at_part(void *context, size_t part, size_t worker)
{
    const struct work *w = context;
    size_t begin = bm_tree_part(w->b->count, w->parts, part), n;
    size_t end = bm_tree_part(w->b->count, w->parts, part + 1);
    uint32_t next[BM_MOST_BUCKETS];

    (void)worker;
    for (int c = 0; c < w->v->components; c++) {
        struct bm_range *range =
            &w->ranges[part * (size_t)w->v->components + (size_t)c];

        memset(range, 0, sizeof(*range));
        if (is_routed(w))
            bm_tree_route_begin(&w->order->route, part, next);
        for (size_t i = begin; i < end; i += n) {
            n = end - i < LOOK ? end - i : LOOK;
            bm_range_add(range, w->v->type, column(w, c) + i * w->value, n);
            if (is_routed(w))
                bm_tree_route_values(&w->order->route, next, i, n,
                                     room_of(w, c), column(w, c), w->value);
        }
    }
    return BOUMA_OK;
}

/* The row of bitmaps of a lane: those of the position have none. */
static uint32_t row_of(const struct work *w, int component)
{
    return (uint32_t)(w->lane + (size_t)component) -
           (uint32_t)w->b->set->variables[0]->components;
}

/* The bins of a lane, with ranges of its parts. */
static void make_bins(struct work *w, int component)
{
    bouma_type type = w->v->type;
    struct bm_range all = {{0}, {0}, 0, 0};
    struct bm_bins *bins = &w->b->tree.bins[row_of(w, component)];
    int any = 0, finite;

    for (size_t part = 0; part < w->parts; part++)
        bm_range_join(
            &all, type,
            &w->ranges[part * (size_t)w->v->components + (size_t)component]);
    if (bm_type_is_float(type)) {
        all.low.f += 0.0; /* which of -0 and 0 it is depends on parts */
        all.high.f += 0.0;
    }
    finite = bm_bins_valid(type, all.low, all.high);
    if (!finite) {
        memset(&all, 0, sizeof(all));
        bm_bins_widen(&all.low, &all.high, &any, type, column(w, component),
                      w->b->count);
    }
    bm_bins_init(bins, type, all.low, all.high);
    bins->finite = finite;
}

static void look_at_columns(struct work *w)
{
    bm_parallel_for(look_at_part, w, w->parts, w->threads);
    for (int c = 0; c < w->v->components; c++)
        make_bins(w, c);
}

/* ---- chunks ------------------------------------------------------------- */

/* The values of a lane of a chunk in the order of the tree. */
static const uint8_t *sort_lane(const struct work *w, const struct hand *h,
                                size_t base, uint32_t n, int component)
{
    const uint8_t *from =
        w->order->route.cell_of ? room_of(w, component) : column(w, component);

    if (!w->j)
        return room_of(w, component) + base * w->value;
    bm_gather(h->lane, from, w->order->slot + base, n, w->value);
    return h->lane;
}

/* Where the piece of a level goes before it is encoded, or as it is stored. */
static uint8_t *place_piece(const struct work *w, const struct hand *h,
                            size_t i)
{
    return w->codec->sized ? w->b->encoded[w->j].data + w->at[i] * w->sample
                           : h->levelled + w->first[i] * w->sample;
}

/* Put a lane of a chunk to its slots among the levels. */
static void split_levels(const struct work *w, const struct hand *h, size_t c,
                         int component, const uint8_t *lane)
{
    const uint16_t *slots = w->slots + c * bm_bat_of(w->set)->detail.chunk;

    for (size_t k = 0; k < w->levels; k++) {
        size_t i = c * w->levels + k;
        uint32_t n = piece_count(w, c, k);

        bm_gather_near(place_piece(w, h, i) +
                           (size_t)n * w->value * (size_t)component,
                       lane, slots + w->first[i], n, w->value);
    }
}

/* Encode the pieces of a chunk, and record where they are, their sizes and
 * checksums. */
static int encode_pieces(const struct work *w, struct hand *h, size_t c)
{
    const struct bm_head *head = &w->b->subfile.head;
    struct bm_piece_place *places =
        w->b->pieces + (size_t)w->j * w->chunks * w->levels;

    for (size_t k = w->levels; k-- > 0;) {
        size_t i = c * w->levels + k, n = piece_count(w, c, k);
        uint8_t *values = place_piece(w, h, i);
        size_t stored = n * w->sample;
        struct bm_address address = {w->ds->id,
                                     head->step,
                                     head->generation.epoch,
                                     head->generation.attempt,
                                     w->v->id,
                                     c,
                                     (uint32_t)k};

        if (w->codec->sized) {
            places[i] =
                (struct bm_piece_place){(size_t)w->j, w->at[i] * w->sample};
            bm_swap_to_little(values, stored / w->value, w->value);
        } else {
            places[i] = (struct bm_piece_place){
                (size_t)(h->out - w->b->encoded), h->out->size};
            if (bm_values_encode(&h->codec, h->out, w->v, values, n))
                return BOUMA_ENOMEM;
            stored = h->out->size - places[i].at;
            values = stored ? h->out->data + places[i].at : NULL;
        }
        w->s->sizes[i] = (uint32_t)stored;
        w->s->hashes[i] = bm_hash_chunk(&address, values, stored);
    }
    return BOUMA_OK;
}

/* A chunk of the variable: sorted, indexed, split into levels, encoded. */
static int shape_chunk(void *context, size_t c, size_t worker)
{
    const struct work *w = context;
    struct hand *h = &w->hands[worker];
    size_t base = c * bm_bat_of(w->set)->detail.chunk;
    uint32_t n = chunk_slots(w, c);

    w->s->keys[c] = c;
    for (int k = 0; k < w->v->components; k++) {
        const uint8_t *lane = sort_lane(w, h, base, n, k);

        bm_range_add(&w->s->ranges[c * (size_t)w->v->components + (size_t)k],
                     w->v->type, lane, n);
        if (w->j)
            bm_tree_fill_map(&w->b->tree, row_of(w, k), lane, (uint32_t)base,
                             (uint32_t)base + n);
        split_levels(w, h, c, k, lane);
    }
    return encode_pieces(w, h, c);
}

/* ---- variables ---------------------------------------------------------- */

static void drop_columns(const struct work *w)
{
    for (int c = 0; c < w->v->components; c++) {
        struct bm_column_data *data = &w->b->columns[w->lane + (size_t)c];

        bm_drop(w->ds->a, data->own);
        data->own = NULL;
    }
}

static int shape_variable(struct work *w, int j)
{
    int rc;

    w->lane += w->v ? (size_t)w->v->components : 0;
    w->j = j;
    w->v = w->b->set->variables[j];
    w->codec = bm_codec_find((int)w->v->codec);
    w->s = bm_head_section(&w->b->subfile.head, w->v->id);
    w->value = bm_variable_value_size(w->v);
    w->sample = bm_variable_sample_size(w->v);
    if (j)
        look_at_columns(w);
    if (!j || is_routed(w))
        drop_columns(w);
    if (w->codec->sized &&
        !bm_buffer_extend(&w->b->encoded[j], w->b->count * w->sample))
        return BOUMA_ENOMEM;
    rc = bm_parallel_for(shape_chunk, w, w->chunks, w->threads);
    drop_columns(w);
    return rc;
}

/* ---- memory ------------------------------------------------------------- */

/* The widest variable: the bytes of a sample, and its lanes. */
static void find_widest(const struct work *w, size_t *sample, int *lanes)
{
    *sample = 0;
    *lanes = 0;
    for (int j = 0; j < w->b->set->count; j++) {
        const struct bouma_variable *v = w->b->set->variables[j];
        size_t bytes = bm_variable_sample_size(v);

        *sample = bytes > *sample ? bytes : *sample;
        *lanes = v->components > *lanes ? v->components : *lanes;
    }
}

static int make_hands(struct work *w, size_t sample)
{
    size_t chunk = bm_bat_of(w->set)->detail.chunk;
    const bouma_allocator *a = w->ds->a;

    w->hands = bm_new(a, w->threads, sizeof(*w->hands));
    for (size_t i = 0; w->hands && i < w->threads; i++) {
        struct hand *h = &w->hands[i];

        bm_codec_state_init(&h->codec, a);
        h->out = &w->b->encoded[(size_t)w->b->set->count + i];
        h->lane = bm_new_raw(a, chunk, 8);
        h->levelled = bm_new_raw(a, chunk, sample);
        if (!h->lane || !h->levelled)
            return BOUMA_ENOMEM;
    }
    return w->hands ? BOUMA_OK : BOUMA_ENOMEM;
}

static int make_work(struct work *w)
{
    struct bm_particle_file *b = w->b;
    const bouma_allocator *a = w->ds->a;
    size_t most = b->count / LEAST_SHARE + 1, sample, variables;
    int lanes;

    find_widest(w, &sample, &lanes);
    variables = (size_t)b->set->count;
    w->chunks = (size_t)bm_particle_summary_chunks(w->set, b->count);
    w->levels = (size_t)w->set->levels;
    w->threads = (size_t)bm_dataset_threads(w->ds);
    w->threads = w->threads < most ? w->threads : most;
    w->parts = w->order->route.cell_of ? w->order->route.parts : w->threads;
    b->encoded = bm_new(a, variables + w->threads, sizeof(*b->encoded));
    b->pieces =
        bm_new_raw(a, variables * w->chunks * w->levels, sizeof(*b->pieces));
    w->slots = bm_new_raw(a, b->count, sizeof(*w->slots));
    w->first = bm_new_raw(a, w->chunks * w->levels, sizeof(*w->first));
    w->at = bm_new_raw(a, w->chunks * w->levels, sizeof(*w->at));
    w->ranges = bm_new_raw(a, w->parts * (size_t)lanes, sizeof(*w->ranges));
    if (!b->encoded)
        return BOUMA_ENOMEM;
    b->encoded_count = variables + w->threads;
    for (size_t i = 0; i < b->encoded_count; i++)
        bm_buffer_init(&b->encoded[i], a);
    if (!b->pieces || !w->slots || !w->first || !w->at || !w->ranges)
        return BOUMA_ENOMEM;
    return make_hands(w, sample);
}

static void drop_work(struct work *w)
{
    const bouma_allocator *a = w->ds->a;

    for (size_t i = 0; w->hands && i < w->threads; i++) {
        bm_codec_state_release(&w->hands[i].codec);
        bm_drop(a, w->hands[i].lane);
        bm_drop(a, w->hands[i].levelled);
    }
    bm_drop(a, w->hands);
    bm_drop(a, w->slots);
    bm_drop(a, w->first);
    bm_drop(a, w->at);
    bm_drop(a, w->ranges);
}

int bm_particle_pieces_make(struct bm_particle_file *b,
                            struct bouma_dataset *ds, uint64_t seed,
                            const struct bm_particle_order *order)
{
    struct work w = {
        .b = b, .ds = ds, .set = b->set->set, .order = order, .seed = seed};
    int rc = make_work(&w);

    if (!rc) {
        bm_parallel_for(find_levels, &w, w.chunks, w.threads);
        locate_pieces(&w);
    }
    for (int j = 0; j < b->set->count && !rc; j++)
        rc = shape_variable(&w, j);
    drop_work(&w);
    return rc;
}
