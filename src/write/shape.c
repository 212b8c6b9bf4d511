/* shape.c -- see shape.h. */
#include "write/shape.h"

#include <string.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/parallel_for.h"
#include "write/shape_tiles.h"

size_t bm_record_bytes(const struct bouma_variable *variable)
{
    return (size_t)bm_pieces(variable->object) * 8 +
           (size_t)variable->components * 24 + 16;
}

/* ---- parts of chunks ---------------------------------------------------- */

struct bm_footprint bm_part_of(const struct bm_chunk *c, int64_t k)
{
    return bm_partition_part(&c->decomposition->partition, c->number, k);
}

size_t bm_part_bytes(const struct bm_chunk *c, int64_t k)
{
    struct bm_footprint part = bm_part_of(c, k);

    return (size_t)bm_footprint_samples(&part) *
           bm_variable_sample_size(c->variable);
}

int bm_part_rank(const struct bm_chunk *c, int64_t k)
{
    const struct bm_partition *p = &c->decomposition->partition;

    return p->blocks[p->part[k]].rank;
}

/* A part as it lies in a message: dense, one component after the other. */
static struct bm_memory_part dense_part(const struct bm_chunk *c, int64_t k,
                                        uint8_t *data)
{
    struct bm_memory_part m = {.samples = bm_part_of(c, k)};

    m.array = bm_array_planar(c->variable, data, m.samples.count);
    return m;
}

struct bm_memory_part bm_part_in_box(const struct bm_memory_box *from,
                                     const struct bm_footprint *samples)
{
    struct bm_footprint box = bm_footprint_of_box(&from->box);

    return (struct bm_memory_part){*samples,
                                   bm_array_part(&from->array, &box, samples)};
}

struct bm_memory_part bm_part_given(struct bm_shaper_hand *h,
                                    const struct bm_put *put,
                                    const struct bm_footprint *samples)
{
    struct bm_memory_part part = bm_part_in_box(&put->from, samples);
    struct bm_cutout w = {put->variable, part.array, *samples};

    if (bm_array_is_plain(&part.array, put->variable))
        return part;
    if (!h->failed)
        h->failed = bm_cutout_fetch(&part.array, &w, h->room, &h->error);
    if (h->failed) /* of any value: the step is not written */
        part.array = bm_array_planar(put->variable, h->room, samples->count);
    return part;
}

/* The blocks of a rank are in the order of its puts. */
struct bm_memory_part bm_part_mine(const struct bm_shaper *s,
                                   struct bm_shaper_hand *h,
                                   const struct bm_chunk *c, int64_t k)
{
    const struct bm_decomposition *d = c->decomposition;
    size_t block = d->partition.part[k] - d->my_first_block;
    struct bm_footprint samples = bm_part_of(c, k);

    return d->tiles ? bm_part_in_box(&s->tiles.boxes[c->variable->id][block],
                                     &samples)
                    : bm_part_given(h, &s->first_put[c->variable->id][block],
                                    &samples);
}

/* With tiles, facts follow the samples. */
static size_t message_bytes(const struct bm_chunk *c, int64_t k)
{
    return bm_part_bytes(c, k) +
           (c->decomposition->tiles ? bm_tiles_fact_bytes(c->variable) : 0);
}

/* List what this rank sends and receives, walking all chunks in order so that
 * both ends list the same. */
static int plan_parts(struct bm_shaper *s)
{
    int me = s->comm->rank;
    size_t m = 0;

    for (size_t i = 0; i < s->plan->chunks && s->plan->moved_bytes; i++) {
        int owner = s->plan->owner[i];
        struct bm_chunk c = bm_plan_chunk(s->plan, i);
        const struct bm_partition *p = &c.decomposition->partition;

        if (owner == me)
            s->first_part[m++] = s->receives.count;
        for (int64_t k = p->first[c.number]; k < p->first[c.number + 1]; k++) {
            int holder = bm_part_rank(&c, k);

            if (holder == owner)
                continue;
            if (holder == me)
                bm_route_add(&s->sends, 0, owner, message_bytes(&c, k));
            else if (owner == me)
                bm_route_add(&s->receives, 0, holder, message_bytes(&c, k));
        }
    }
    s->first_part[s->plan->mine_count] = s->receives.count;
    return bm_route_seal(&s->sends) || bm_route_seal(&s->receives)
               ? BOUMA_ENOMEM
               : BOUMA_OK;
}

void bm_part_pack(uint8_t *to, const struct bm_memory_part *from, int component,
                  size_t size)
{
    struct bm_lattice l = {.start = {0, 0, 0}};
    struct bm_strided part;

    memcpy(l.count, from->samples.count, sizeof(l.count));
    part = bm_lattice_whole(&l, size);
    memcpy(part.stride, from->array.stride, sizeof(part.stride));
    bm_lattice_pack(&l, size, &part,
                    bm_array_component(&from->array, component), to);
}

/* Copy this rank's part of a chunk into a message. */
static void pack_part(struct bm_shaper *s, const struct bm_chunk *c, int64_t k,
                      uint8_t *to)
{
    struct bm_memory_part from = bm_part_mine(s, s->hands, c, k);
    size_t size = bm_variable_value_size(c->variable);
    size_t bytes = (size_t)bm_footprint_samples(&from.samples) * size;

    for (int j = 0; j < c->variable->components; j++)
        bm_part_pack(to + (size_t)j * bytes, &from, j, size);
}

int bm_shaper_exchange(struct bm_shaper *s)
{
    int me = s->comm->rank, rc;
    size_t serial = 0, send_count, receive_count;
    const struct bm_message *sends, *receives;

    for (size_t i = 0; i < s->plan->chunks && s->sends.count; i++) {
        struct bm_chunk c = bm_plan_chunk(s->plan, i);
        const struct bm_partition *p = &c.decomposition->partition;

        if (s->plan->owner[i] == me)
            continue;
        for (int64_t k = p->first[c.number]; k < p->first[c.number + 1]; k++)
            if (bm_part_rank(&c, k) == me)
                pack_part(s, &c, k, bm_route_at(&s->sends, serial++));
    }
    sends = bm_route_messages(&s->sends, 0, &send_count);
    receives = bm_route_messages(&s->receives, 0, &receive_count);
    rc = bm_comm_exchange(s->comm, sends, send_count, receives, receive_count,
                          &s->ds->error);
    bm_route_leak_if_lost(&s->sends, s->comm);
    bm_route_leak_if_lost(&s->receives, s->comm);
    return rc ? rc : bm_shaper_failed(s);
}

/* ---- one chunk ---------------------------------------------------------- */

/* 'out' is where its pieces go, if their sizes are known; else NULL. */
static void begin_chunk(struct bm_shaper_hand *h, struct bm_encoding *e,
                        const struct bm_chunk *c, uint8_t *out)
{
    e->coder = &h->coder;
    e->variable = c->variable;
    e->key = c->key;
    e->room = out;
}

/* What came out of a chunk, into its record; the pieces, one after the other,
 * are 'data'. */
static void record_chunk(struct bm_shaper *s, size_t m,
                         const struct bm_encoding *e, const uint8_t *data)
{
    uint8_t *out = s->records + s->record_at[m];
    int levels = bm_pieces(e->variable->object);
    struct bm_address address = {s->ds->id,
                                 s->entry->step,
                                 s->entry->generation.epoch,
                                 s->entry->generation.attempt,
                                 e->variable->id,
                                 e->key,
                                 0};

    for (int k = levels - 1; k >= 0; k--) {
        address.level = (uint32_t)k;
        bm_store_u32(out + 8 * k, e->sizes[k]);
        bm_store_u32(out + 8 * k + 4,
                     bm_hash_chunk(&address, data, e->sizes[k]));
        data += e->sizes[k];
    }
    out += 8 * levels;
    for (int j = 0; j < e->variable->components; j++, out += 24) {
        bm_store_u64(out, e->ranges[j].low.u);
        bm_store_u64(out + 8, e->ranges[j].high.u);
        bm_store_u64(out + 16, e->ranges[j].nans);
    }
    memcpy(out, &e->loss.largest, 8); /* to be read on a machine of the job */
    memcpy(out + 8, &e->loss.squares, 8);
}

/* Bring the parts of a chunk together. */
static void take_parts(struct bm_shaper *s, struct bm_shaper_hand *h, size_t m,
                       const struct bm_chunk *c, struct bm_encoding *e)
{
    const struct bm_partition *part = &c->decomposition->partition;
    const struct bm_layout *layout = c->variable->object->layout;
    size_t serial = s->first_part[m];

    for (int64_t k = part->first[c->number]; k < part->first[c->number + 1];
         k++) {
        int mine = bm_part_rank(c, k) == s->comm->rank;
        struct bm_memory_part from =
            mine ? bm_part_mine(s, h, c, k)
                 : dense_part(c, k, bm_route_at(&s->receives, serial++));

        layout->take(e, &from);
    }
}

static void trace_chunk(const struct bm_shaper *s, size_t m, double begun,
                        uint64_t bytes)
{
    bm_trace_add(s->ds->engine.tracing.trace, "chunk", "encode chunk", begun,
                 &(struct bm_trace_args){.bytes = bytes,
                                         .counted = "chunk",
                                         .number = s->plan->mine[m]});
}

void bm_shaper_fill(struct bm_shaper *s, size_t m, uint8_t *out)
{
    struct bm_chunk c = bm_plan_chunk(s->plan, s->plan->mine[m]);
    const struct bm_layout *layout = c.variable->object->layout;
    struct bm_encoding e;
    double begun = bm_clock();

    begin_chunk(s->hands, &e, &c, out);
    layout->encode_begin(&e); /* which has its memory, see plan_records() */
    take_parts(s, s->hands, m, &c, &e);
    layout->encode_pieces(&e, NULL);
    bm_tiles_tell_facts(s, m, &c, &e);
    record_chunk(s, m, &e, out);
    s->encode_seconds += bm_clock() - begun;
    if (s->ds->engine.tracing.trace)
        trace_chunk(s, m, begun, s->encoded_bytes[m]);
}

/* Encode one chunk behind those that are in 'out'. What is there after a
 * failure is of no use. */
static int encode_chunk(struct bm_shaper *s, struct bm_shaper_hand *h, size_t m,
                        struct bm_buffer *out)
{
    struct bm_chunk c = bm_plan_chunk(s->plan, s->plan->mine[m]);
    const struct bm_layout *layout = c.variable->object->layout;
    size_t at = out->size;
    struct bm_encoding e;
    int rc;

    begin_chunk(h, &e, &c, NULL);
    rc = layout->encode_begin(&e);
    if (rc)
        return rc;
    take_parts(s, h, m, &c, &e);
    rc = h->failed ? h->failed : layout->encode_pieces(&e, out);
    if (rc)
        return rc;
    bm_tiles_tell_facts(s, m, &c, &e);
    record_chunk(s, m, &e, out->data + at);
    return BOUMA_OK;
}

/* ---- many chunks -------------------------------------------------------- */

/* Of the first chunk of those that failed. */
static const struct bm_shaper_hand *first_failure(const struct bm_shaper *s)
{
    const struct bm_shaper_hand *first = NULL;

    for (size_t i = 0; i < s->hand_count; i++) {
        const struct bm_shaper_hand *h = &s->hands[i];

        if (h->failed && (!first || h->chunk < first->chunk))
            first = h;
    }
    return first;
}

int bm_shaper_failed(const struct bm_shaper *s)
{
    const struct bm_shaper_hand *h = first_failure(s);

    if (h && h->error.status && !s->ds->error.status)
        s->ds->error = h->error;
    return h ? h->failed : BOUMA_OK;
}

/* Chunks that threads encode without waiting for the slowest of them. */
#define CHUNKS_OF_HAND 8

size_t bm_shaper_batch(const struct bm_shaper *s)
{
    return s->hand_count > 1 ? s->hand_count * CHUNKS_OF_HAND : 1;
}

static uint32_t units_of_time(double seconds)
{
    double units = seconds / BM_TIME_UNIT;

    return units < 1 ? 1 : units > UINT32_MAX ? UINT32_MAX : (uint32_t)units;
}

struct batch {
    struct bm_shaper *s;
    const size_t *m; /* NULL: first, first + 1, ... */
    size_t first;
};

static size_t chunk_of(const struct batch *b, size_t i)
{
    return b->m ? b->m[i] : b->first + i;
}

/* Encode one into what its hand has; a single hand, where all of them go. */
static int encode_turn(void *context, size_t i, size_t worker)
{
    const struct batch *b = context;
    struct bm_shaper *s = b->s;
    struct bm_shaper_hand *h = &s->hands[worker];
    struct bm_buffer *out = s->hand_count > 1 ? &h->bytes : &s->encoded;
    size_t m = chunk_of(b, i);
    double begun = bm_clock(), seconds;
    int rc;

    s->hand_of[m] = (uint16_t)worker;
    s->encoded_at[m] = out->size;
    h->chunk = m;
    rc = encode_chunk(s, h, m, out);
    s->encoded_bytes[m] = out->size - s->encoded_at[m];
    seconds = bm_clock() - begun;
    s->times[m] = units_of_time(seconds);
    h->seconds += seconds;
    if (s->ds->engine.tracing.trace)
        trace_chunk(s, m, begun, s->encoded_bytes[m]);
    return rc;
}

/* What the hands have, to the end of what is encoded, in the order of the
 * batch. */
static int join_hands(struct batch *b, size_t count)
{
    struct bm_shaper *s = b->s;

    for (size_t i = 0; i < count; i++) {
        size_t m = chunk_of(b, i), at = s->encoded.size;
        const struct bm_buffer *from = &s->hands[s->hand_of[m]].bytes;

        if (s->encoded_bytes[m])
            bm_put_bytes(&s->encoded, from->data + s->encoded_at[m],
                         s->encoded_bytes[m]);
        s->encoded_at[m] = at;
    }
    return s->encoded.failed ? BOUMA_ENOMEM : BOUMA_OK;
}

static void rest_hands(struct bm_shaper *s)
{
    for (size_t i = 0; i < s->hand_count; i++) {
        s->encode_seconds += s->hands[i].seconds;
        s->hands[i].seconds = 0;
        s->hands[i].bytes.size = 0;
    }
}

static int encode_batch(struct batch *b, size_t count)
{
    struct bm_shaper *s = b->s;
    const struct bm_options *o = &s->ds->options;
    int rc = bm_parallel_for(encode_turn, b, count, s->hand_count), failed;

    if (!rc && s->hand_count > 1)
        rc = join_hands(b, count);
    rest_hands(s);
    s->encoded_count += count;
    if (o->progress && s->ds->comm->rank == 0)
        o->progress(o->progress_user, "encoding", s->encoded_count,
                    s->plan->mine_count);
    failed = bm_shaper_failed(s);
    if (rc && !failed)
        bm_fail(&s->ds->error, rc, "no memory to encode the chunks");
    return failed ? failed : rc;
}

int bm_shaper_encode(struct bm_shaper *s, const size_t *m, size_t count)
{
    size_t most = bm_shaper_batch(s);
    int rc = BOUMA_OK;

    for (size_t done = 0, n; done < count && !rc; done += n) {
        struct batch b = {s, m ? m + done : NULL, done};

        n = count - done < most ? count - done : most;
        rc = encode_batch(&b, n);
    }
    return rc;
}

/* ---- beginning and end -------------------------------------------------- */

static int plan_records(struct bm_shaper *s)
{
    const bouma_allocator *a = s->ds->a;
    size_t n = s->plan->mine_count, at = 0;
    uint8_t there;

    s->record_at = bm_new_raw(a, n + 1, sizeof(*s->record_at));
    s->encoded_at = bm_new(a, n, sizeof(*s->encoded_at));
    s->encoded_bytes = bm_new(a, n, sizeof(*s->encoded_bytes));
    s->first_part = bm_new(a, n + 1, sizeof(*s->first_part));
    s->times = bm_new(a, n, sizeof(*s->times));
    s->hand_of = bm_new(a, n, sizeof(*s->hand_of));
    if (!s->hand_of || !s->record_at || !s->encoded_at || !s->encoded_bytes ||
        !s->first_part || !s->times)
        return BOUMA_ENOMEM;
    for (size_t m = 0; m < n; m++) {
        struct bm_chunk c = bm_plan_chunk(s->plan, s->plan->mine[m]);
        struct bm_encoding e;

        s->record_at[m] = at;
        at += bm_record_bytes(c.variable);
        /* Memory for any of them; with 'sized', samples go elsewhere. */
        begin_chunk(s->hands, &e, &c, s->sized ? &there : NULL);
        if (c.variable->object->layout->encode_begin(&e))
            return BOUMA_ENOMEM;
    }
    s->record_at[n] = at;
    s->records = bm_new(a, at, 1);
    return s->records ? BOUMA_OK : BOUMA_ENOMEM;
}

/* Room for any part of a chunk or tile whose samples are not used where they
 * are. */
static int reserve_room(struct bm_shaper *s)
{
    const struct bm_given *g = &s->ds->given;
    size_t most = 0;

    for (size_t i = 0; i < g->put_count; i++) {
        const struct bouma_variable *v = g->puts[i].variable;
        const struct bm_array *a = &g->puts[i].from.array;
        uint64_t samples = bm_box_volume(&g->puts[i].from.box);
        uint64_t chunk = v->object->layout->most_values(v->object);
        struct bm_tiling t;
        size_t bytes;

        if (bm_array_is_plain(a, v))
            continue;
        if (bm_object_tiling(v->object, &t))
            chunk = (uint64_t)(t.edge[0] * t.edge[1] * t.edge[2]);
        samples = chunk < samples ? chunk : samples;
        bytes = bm_cutout_room(a, v, samples);
        most = bytes > most ? bytes : most;
        bytes = (size_t)samples * bm_variable_sample_size(v);
        most = bytes > most ? bytes : most; /* after a failure */
    }
    for (size_t i = 0; i < s->hand_count && most; i++) {
        s->hands[i].room = bm_new(s->ds->a, most, 1);
        if (!s->hands[i].room)
            return BOUMA_ENOMEM;
    }
    return BOUMA_OK;
}

/* Threads encode where that takes time. A caller's function that copies samples
 * is called by the caller's thread only. */
static size_t count_hands(const struct bm_shaper *s)
{
    const struct bm_given *g = &s->ds->given;
    size_t threads = (size_t)bm_dataset_threads(s->ds);
    size_t chunks = s->plan->mine_count;

    for (size_t i = 0; i < g->put_count; i++)
        if (g->puts[i].from.array.remote.copy)
            return 1;
    if (s->sized || chunks < 2)
        return 1;
    threads = threads < BM_MAX_THREADS ? threads : BM_MAX_THREADS;
    return threads < chunks ? threads : chunks;
}

static int make_hands(struct bm_shaper *s)
{
    const bouma_allocator *a = s->ds->a;
    size_t count = count_hands(s);

    s->hands = bm_new(a, count, sizeof(*s->hands));
    if (!s->hands)
        return BOUMA_ENOMEM;
    s->hand_count = count;
    for (size_t i = 0; i < count; i++) {
        bm_coder_init(&s->hands[i].coder, a);
        bm_buffer_init(&s->hands[i].bytes, a);
    }
    return BOUMA_OK;
}

static void drop_hands(struct bm_shaper *s)
{
    for (size_t i = 0; i < s->hand_count; i++) {
        bm_coder_release(&s->hands[i].coder);
        bm_buffer_release(&s->hands[i].bytes);
        bm_drop(s->ds->a, s->hands[i].room);
    }
    bm_drop(s->ds->a, s->hands);
}

int bm_shaper_init(struct bm_shaper *s, struct bouma_dataset *ds,
                   struct bm_comm *comm, const struct bm_write_plan *plan,
                   const struct bm_step_entry *entry)
{
    int rc;

    memset(s, 0, sizeof(*s));
    s->ds = ds;
    s->comm = comm;
    s->plan = plan;
    s->entry = entry;
    bm_route_init(&s->sends, ds->a);
    bm_route_init(&s->receives, ds->a);
    bm_route_init(&s->tiles.sends, ds->a);
    bm_route_init(&s->tiles.receives, ds->a);
    bm_buffer_init(&s->encoded, ds->a);
    s->sized = 1;
    for (size_t i = 0; i < plan->grid_count; i++)
        for (size_t j = 0; j < plan->grids[i].count; j++)
            s->sized &=
                bm_codec_find((int)plan->grids[i].variables[j]->codec)->sized;
    s->first_put = bm_new(ds->a, ds->schema.variables, sizeof(*s->first_put));
    rc = s->first_put ? make_hands(s) : BOUMA_ENOMEM;
    if (!rc)
        rc = plan_records(s);
    for (size_t i = ds->given.put_count; i-- > 0 && !rc;)
        s->first_put[ds->given.puts[i].variable->id] = &ds->given.puts[i];
    if (!rc)
        rc = plan_parts(s);
    if (!rc)
        rc = bm_tiles_init(s);
    if (!rc)
        rc = reserve_room(s);
    if (rc)
        bm_fail(&ds->error, rc, "no memory to bring the patches together");
    return rc;
}

void bm_shaper_release(struct bm_shaper *s)
{
    if (!s->ds)
        return;
    bm_tiles_release(s);
    bm_drop(s->ds->a, s->first_put);
    drop_hands(s);
    bm_route_release(&s->sends);
    bm_route_release(&s->receives);
    bm_drop(s->ds->a, s->first_part);
    bm_drop(s->ds->a, s->records);
    bm_drop(s->ds->a, s->record_at);
    if (s->comm->lost) /* MPI may still send it */
        s->encoded.data = NULL;
    bm_buffer_release(&s->encoded);
    bm_drop(s->ds->a, s->encoded_at);
    bm_drop(s->ds->a, s->encoded_bytes);
    bm_drop(s->ds->a, s->times);
    bm_drop(s->ds->a, s->hand_of);
    s->ds = NULL;
}
