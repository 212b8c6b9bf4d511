/* estimate.c -- see estimate.h. */
#include "plan/estimate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "plan/schedule.h"

/* ---- blocks ------------------------------------------------------------- */

enum { MOST_DIVISORS = 1536 }; /* of any number below 2^31 */

/* Descending; their number. */
static int list_divisors(int *out, int n)
{
    int small = 0, count = 0;

    for (int64_t d = 1; d * d <= n; d++)
        if (n % d == 0)
            out[small++] = n / (int)d;
    count = small;
    for (int i = small - 1; i >= 0; i--)
        if (n / out[i] != out[i])
            out[count++] = n / out[i];
    return count;
}

void bm_estimate_blocks(int64_t blocks[3], const int64_t shape[3], int ndims,
                        int ranks)
{
    int divisors[MOST_DIVISORS];
    int count = list_divisors(divisors, ranks);
    double least = INFINITY;

    /* Axes that the grid does not have are not cut. Among equals, slow axes
     * are. */
    for (int i = 0; i < count; i++)
        for (int k = 0; k < count; k++) {
            int64_t z = divisors[i], y = divisors[k], x = ranks / z / y;
            double surface = (double)z / (double)shape[0] +
                             (double)y / (double)shape[1] +
                             (double)x / (double)shape[2];

            if (ranks / z % y || (z > 1 && ndims < 3) || (y > 1 && ndims < 2) ||
                surface >= least * (1 - 1e-12))
                continue;
            least = surface;
            blocks[0] = z;
            blocks[1] = y;
            blocks[2] = x;
        }
}

/* All blocks that are not empty; the number of them. */
static size_t list_blocks(struct bm_block *blocks,
                          const struct bm_estimate_task *task)
{
    size_t count = 0;

    for (int r = 0; r < task->ranks.count; r++) {
        blocks[count] = (struct bm_block){r, bm_hz_ranks_box(&task->ranks, r)};
        count += bm_box_volume(&blocks[count].box) > 0;
    }
    return count;
}

/* ---- sizes -------------------------------------------------------------- */

/* How much harder a chunk is to compress: 1 far away from, and up to 'vary' at
 * a point of the grid that no symmetry leads to. */
static double weight_of(const struct bm_estimate_task *task, int64_t chunk)
{
    static const double centre[3] = {0.3, 0.4, 0.35};
    struct bm_footprint f =
        bm_chunking_footprint(&task->chunks.chunking, chunk);
    double distance = 0;

    for (int d = 0; d < 3; d++) {
        double middle =
            (double)f.start[d] + ldexp((double)f.count[d], f.shift[d]) / 2;
        double x = middle / (double)task->shape[d] - centre[d];

        if (task->shape[d] > 1)
            distance += x * x;
    }
    return pow(task->vary, exp(-distance / (2 * 0.2 * 0.2)));
}

/* The values of a chunk's pieces. Most chunks are like the one before. */
struct values {
    const struct bm_estimate_chunks *chunks;
    struct bm_footprint of; /* samples, with the lowest bits of the start */
    uint64_t of_piece[BM_ESTIMATE_PIECES];
    uint64_t all; /* 0: none yet */
};

static void find_values(struct values *v, int64_t chunk)
{
    const struct bm_chunking *c = &v->chunks->chunking;
    struct bm_footprint f = bm_chunking_footprint(c, chunk);
    int64_t low = ((int64_t)1 << v->chunks->pieces) - 1;
    int same = v->all > 0;

    for (int d = 0; d < 3; d++) {
        f.start[d] &= low;
        same &= f.start[d] == v->of.start[d] && f.count[d] == v->of.count[d] &&
                f.shift[d] == v->of.shift[d];
    }
    if (same)
        return;
    v->of = f;
    v->all = 0;
    v->chunks->values(v->chunks->object, c->calls->key(c->own, chunk),
                      v->of_piece);
    for (int k = 0; k < v->chunks->pieces; k++)
        v->all += v->of_piece[k];
}

/* The stored bytes of all chunks have the sum that the ratio asks for. */
static void list_sizes(struct bm_estimate *e,
                       const struct bm_estimate_task *task)
{
    int64_t chunks = task->chunks.chunking.count;
    double raw = 0, weighted = 0, scale = 1 / task->ratio;
    struct values values = {.chunks = &task->chunks};

    for (int64_t i = 0; i < chunks; i++) {
        find_values(&values, i);
        e->bytes[i] = values.all * task->sample_bytes;
        if (task->vary > 1) {
            raw += (double)e->bytes[i];
            weighted += (double)e->bytes[i] * weight_of(task, i);
        }
    }
    if (task->vary > 1)
        scale *= raw / weighted;
    for (int64_t i = 0; i < chunks && (task->vary > 1 || scale != 1); i++) {
        double bytes = (double)e->bytes[i] * scale;

        if (task->vary > 1)
            bytes *= weight_of(task, i);
        e->bytes[i] = bytes < 1 ? 1 : (uint64_t)(bytes + 0.5);
    }
}

/* ---- patches put together ----------------------------------------------- */

static int ascending(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;

    return *a < *b ? -1 : *a > *b;
}

/* The number of different ones; they get sorted. */
static int64_t count_different(uint64_t *keys, size_t count)
{
    int64_t different = 0;

    qsort(keys, count, sizeof(*keys), ascending);
    for (size_t i = 0; i < count; i++)
        different += !i || keys[i] != keys[i - 1];
    return different;
}

/* Things of each group, one group after the other: thing[first[g]] up to
 * thing[first[g + 1] - 1] are those of g. */
struct grouping {
    int64_t *first; /* [groups + 1] */
    int64_t *thing; /* [count] */
};

static int group(struct grouping *out, const bouma_allocator *a, int groups,
                 const int *group_of, int64_t count)
{
    out->first = bm_new(a, (size_t)groups + 1, sizeof(*out->first));
    out->thing = bm_new_raw(a, (size_t)count, sizeof(*out->thing));
    if (!out->first || !out->thing)
        return BOUMA_ENOMEM;
    for (int64_t i = 0; i < count; i++)
        out->first[group_of[i] + 1]++;
    for (int g = 0; g < groups; g++)
        out->first[g + 1] += out->first[g];
    /* Filling moves the begin of each group to its end, that is one on. */
    for (int64_t i = 0; i < count; i++)
        out->thing[out->first[group_of[i]]++] = i;
    memmove(out->first + 1, out->first, (size_t)groups * sizeof(*out->first));
    out->first[0] = 0;
    return BOUMA_OK;
}

static void ungroup(struct grouping *g, const bouma_allocator *a)
{
    bm_drop(a, g->first);
    bm_drop(a, g->thing);
}

/* The ranks that send parts to the owner of some patches, into 'senders' if
 * that is not NULL; their number, some counted more than once. */
static size_t list_senders(uint64_t *senders, const struct bm_partition *p,
                           const int64_t *patches, int64_t count, int owner)
{
    size_t n = 0;

    for (int64_t i = 0; i < count; i++)
        for (int64_t k = p->first[patches[i]]; k < p->first[patches[i] + 1];
             k++) {
            int rank = p->blocks[p->part[k]].rank;

            if (rank == owner)
                continue;
            if (senders)
                senders[n] = (uint64_t)rank;
            n++;
        }
    return n;
}

/* A rank sends all its parts for one other rank in one message. */
static int count_moves(struct bm_estimate *e, const struct bm_partition *p,
                       int ranks)
{
    int64_t patches = p->chunking.count;
    struct grouping owned = {0};
    uint64_t *senders = NULL;
    size_t most = 0;
    int rc = group(&owned, e->a, ranks, e->owner, patches);

    e->fewest_patches = patches;
    for (int r = 0; r < ranks && !rc; r++) {
        int64_t n = owned.first[r + 1] - owned.first[r];
        size_t parts =
            list_senders(NULL, p, owned.thing + owned.first[r], n, r);

        e->fewest_patches = n < e->fewest_patches ? n : e->fewest_patches;
        most = parts > most ? parts : most;
    }
    if (!rc) {
        senders = bm_new_raw(e->a, most, sizeof(*senders));
        rc = senders ? BOUMA_OK : BOUMA_ENOMEM;
    }
    for (int r = 0; r < ranks && !rc; r++) {
        int64_t n = owned.first[r + 1] - owned.first[r];

        e->moved_messages += count_different(
            senders,
            list_senders(senders, p, owned.thing + owned.first[r], n, r));
    }
    bm_drop(e->a, senders);
    ungroup(&owned, e->a);
    return rc;
}

/* ---- files -------------------------------------------------------------- */

/* The chunks of the step, on their order. */
struct chunks {
    uint64_t *bytes;
    int *owner;
    struct bm_chunk_table *tables;
    uint32_t *fixed; /* NULL: files are free */
    int64_t fixed_files;
};

/* Bytes of the sizes of a chunk's pieces in a table. Each has its share of the
 * stored bytes. */
static uint64_t size_bytes(const struct values *values, uint64_t stored)
{
    double scale = (double)stored / (double)values->all;
    uint64_t bytes = 0;

    for (int k = values->chunks->pieces - 1; k >= 0; k--)
        bytes += bm_varint_bytes(
            (uint64_t)((double)values->of_piece[k] * scale + 0.5));
    return bytes;
}

/* What chunks cost in tables, as write/table_costs.h has it. */
static void list_tables(struct chunks *c, const struct bm_estimate *e,
                        const struct bm_estimate_task *task)
{
    const struct bm_chunking *chunking = &task->chunks.chunking;
    uint64_t copies = (uint64_t)task->copies, before = 0;
    struct values values = {.chunks = &task->chunks};

    for (int64_t i = 0; i < chunking->count; i++) {
        uint64_t key = chunking->calls->key(chunking->own, e->order[i]);
        uint64_t apart = bm_varint_bytes(key - before);

        find_values(&values, e->order[i]);
        c->tables[i] = (struct bm_chunk_table){
            0,
            (uint32_t)(copies * (task->row_bytes + apart +
                                 size_bytes(&values, c->bytes[i]))),
            (uint32_t)(copies *
                       (task->section_bytes + bm_varint_bytes(key) - apart))};
        before = key;
    }
}

/* Of layouts that say which file a chunk is in. */
static int list_fixed(struct chunks *c, const struct bm_estimate *e,
                      const struct bm_chunking *chunking)
{
    if (!chunking->calls->file)
        return BOUMA_OK;
    c->fixed = bm_new_raw(e->a, (size_t)chunking->count, sizeof(*c->fixed));
    for (int64_t i = 0; i < chunking->count && c->fixed; i++) {
        int64_t file = chunking->calls->file(chunking->own, e->order[i]);

        c->fixed[i] = (uint32_t)file;
        c->fixed_files = file < c->fixed_files ? c->fixed_files : file + 1;
    }
    return c->fixed ? BOUMA_OK : BOUMA_ENOMEM;
}

static int list_chunks(struct chunks *c, struct bm_estimate *e,
                       const struct bm_estimate_task *task)
{
    const struct bm_chunking *chunking = &task->chunks.chunking;
    size_t count = (size_t)chunking->count;

    e->order = bm_new_raw(e->a, count, sizeof(*e->order));
    c->bytes = bm_new_raw(e->a, count, sizeof(*c->bytes));
    c->owner = bm_new_raw(e->a, count, sizeof(*c->owner));
    c->tables = bm_new_raw(e->a, count, sizeof(*c->tables));
    if (!e->order || !c->bytes || !c->owner || !c->tables)
        return BOUMA_ENOMEM;
    chunking->calls->order(chunking->own, e->order);
    for (size_t i = 0; i < count; i++) {
        c->bytes[i] = e->bytes[e->order[i]];
        c->owner[i] = e->owner[e->order[i]];
    }
    list_tables(c, e, task);
    return list_fixed(c, e, chunking);
}

static int assign_chunks(struct chunks *c, struct bm_estimate *e,
                         const struct bm_estimate_task *task)
{
    const struct bm_options *o = task->options;
    size_t count = (size_t)task->chunks.chunking.count;
    struct bm_chunk_sizes sizes = {.count = count,
                                   .bytes = c->bytes,
                                   .owner = c->owner,
                                   .tables = c->tables,
                                   .sections = 1,
                                   .fixed = c->fixed,
                                   .fixed_files = c->fixed_files};
    uint64_t total = 0;
    int64_t files;
    int rc;

    e->file = bm_new_raw(e->a, count, sizeof(*e->file));
    if (!e->file)
        return BOUMA_ENOMEM;
    for (size_t i = 0; i < count; i++)
        total += c->bytes[i];
    files = bm_assign_files(total, count, task->ranks.count, o->files,
                            o->file_size);
    if (files > task->most_files)
        files = task->most_files;
    rc = bm_assign(&e->chunks, e->a, bm_assign_in_order(o->assign), &sizes,
                   files, task->ranks.count);
    if (rc)
        return rc;
    for (size_t i = 0; i < count; i++)
        e->file[e->order[i]] = e->chunks.file[i];
    return BOUMA_OK;
}

static int measure_files(struct bm_estimate *e, const struct chunks *c)
{
    e->files = e->chunks.files;
    e->file_bytes = bm_new(e->a, (size_t)e->files, sizeof(*e->file_bytes));
    if (!e->file_bytes)
        return BOUMA_ENOMEM;
    for (int64_t f = 0; f < e->files; f++) {
        size_t first = e->chunks.first[f], last = e->chunks.first[f + 1];

        for (size_t i = first; i < last; i++) {
            uint32_t chunk = e->chunks.chunk[i];

            e->file_bytes[f] += c->bytes[chunk] + c->tables[chunk].bytes +
                                (i == first ? c->tables[chunk].opening : 0);
        }
    }
    return BOUMA_OK;
}

static int place_files(struct bm_estimate *e, const struct chunks *c,
                       const struct bm_estimate_task *task)
{
    struct bm_chunk_sizes sizes = {.count = (size_t)task->chunks.chunking.count,
                                   .bytes = c->bytes,
                                   .owner = c->owner};
    int ranks = task->ranks.count;
    struct bm_place_task place = {task->options->place, ranks, task->rule};
    const struct bm_placement *p = bm_placement_of(place.scheme);
    size_t files = (size_t)e->files;
    int rc = BOUMA_OK;

    e->writer = bm_new_raw(e->a, files, sizeof(*e->writer));
    e->tier = bm_new_raw(e->a, files, sizeof(*e->tier));
    if (p->needs_machine)
        e->choice = bm_new_raw(e->a, files, sizeof(*e->choice));
    if (!e->writer || !e->tier || (p->needs_machine && !e->choice))
        return BOUMA_ENOMEM;
    if (task->rule.network || p->choose)
        rc = bm_gathering_of_chunks(&e->gathering, e->a, &sizes, &e->chunks,
                                    ranks);
    if (!rc && e->choice)
        rc = p->choose(e->writer, e->tier, e->choice, e->a, &task->rule,
                       &e->gathering);
    else if (!rc)
        rc = bm_place_files(e->writer, e->tier, e->a, &place, e->files,
                            &e->gathering);
    if (!rc && task->rule.network)
        e->byte_hops =
            bm_byte_hops(task->rule.network, &e->gathering, e->writer);
    return rc;
}

/* ---- chunks on their way ------------------------------------------------ */

/* What a writer takes in, round by round. */
struct intake {
    int writer;
    uint64_t buffer;       /* bytes of a round */
    uint64_t rounds;       /* so far */
    struct bm_slot *slots; /* room for the chunks of a file */
    uint64_t *keys;        /* what makes a message: the round and the sender */
    size_t key_count;
};

/* A file: what of it comes from elsewhere. */
static void take_in(struct bm_estimate *e, const struct chunks *c,
                    struct intake *in, int64_t file)
{
    size_t first = e->chunks.first[file];
    size_t count = e->chunks.first[file + 1] - first;
    uint64_t buffer = in->buffer, all;

    for (size_t i = 0; i < count; i++) {
        uint32_t chunk = e->chunks.chunk[first + i];

        in->slots[i] =
            (struct bm_slot){chunk, c->owner[chunk], c->bytes[chunk], 0, 0};
    }
    all = bm_schedule(in->slots, count);
    for (size_t i = 0; i < count; i++) {
        const struct bm_slot *slot = &in->slots[i];

        if (slot->owner == in->writer || !slot->bytes)
            continue;
        e->shipped_bytes += slot->bytes;
        for (uint64_t r = slot->at / buffer;
             r <= (slot->at + slot->bytes - 1) / buffer; r++)
            in->keys[in->key_count++] =
                (in->rounds + r) << 32 | (uint32_t)slot->owner;
    }
    in->rounds += (all + buffer - 1) / buffer;
    if ((int64_t)in->rounds > e->rounds)
        e->rounds = (int64_t)in->rounds;
}

/* What a rank sends to another in one round counts as one message. */
static int count_ships(struct bm_estimate *e, const struct chunks *c,
                       const struct bm_estimate_task *task)
{
    struct grouping written = {0};
    struct intake in = {.buffer = task->rule.buffer_bytes
                                      ? task->rule.buffer_bytes
                                      : BM_BUFFER_BYTES};
    size_t most = 0, most_file = 0;
    int rc = group(&written, e->a, task->ranks.count, e->writer, e->files);

    for (int r = 0; r < task->ranks.count && !rc; r++) {
        size_t all = 0;

        for (int64_t i = written.first[r]; i < written.first[r + 1]; i++) {
            int64_t file = written.thing[i];
            size_t n = e->chunks.first[file + 1] - e->chunks.first[file];

            most_file = n > most_file ? n : most_file;
            /* A chunk may be in several rounds, but most end where one does. */
            all += n + (size_t)(e->file_bytes[file] / in.buffer) + 1;
        }
        most = all > most ? all : most;
        e->writers += written.first[r + 1] > written.first[r];
    }
    if (!rc) {
        in.slots = bm_new_raw(e->a, most_file, sizeof(*in.slots));
        in.keys = bm_new_raw(e->a, most, sizeof(*in.keys));
        rc = in.slots && in.keys ? BOUMA_OK : BOUMA_ENOMEM;
    }
    for (int r = 0; r < task->ranks.count && !rc; r++) {
        in.writer = r;
        in.rounds = 0;
        in.key_count = 0;
        for (int64_t i = written.first[r]; i < written.first[r + 1]; i++)
            take_in(e, c, &in, written.thing[i]);
        e->shipped_messages += count_different(in.keys, in.key_count);
    }
    bm_drop(e->a, in.slots);
    bm_drop(e->a, in.keys);
    ungroup(&written, e->a);
    return rc;
}

/* ---- all of it ---------------------------------------------------------- */

static int make_owners(struct bm_estimate *e,
                       const struct bm_estimate_task *task)
{
    int ranks = task->ranks.count, rc;

    e->blocks = bm_new_raw(e->a, (size_t)ranks, sizeof(*e->blocks));
    rc = e->blocks ? BOUMA_OK : BOUMA_ENOMEM;
    if (!rc)
        rc = bm_partition_init(&e->partition, e->a, task->chunks.chunking,
                               e->blocks, list_blocks(e->blocks, task));
    if (!rc)
        rc = bm_distribute(e->owner, task->options->distribute, &e->partition,
                           ranks, &e->distribution);
    if (!rc)
        rc = count_moves(e, &e->partition, ranks);
    return rc;
}

int bm_estimate_make(struct bm_estimate *e, const bouma_allocator *a,
                     const struct bm_estimate_task *task)
{
    size_t count = (size_t)task->chunks.chunking.count;
    struct chunks chunks;
    int rc;

    memset(e, 0, sizeof(*e));
    memset(&chunks, 0, sizeof(chunks));
    e->a = a;
    e->owner = bm_new_raw(a, count, sizeof(*e->owner));
    e->bytes = bm_new_raw(a, count, sizeof(*e->bytes));
    rc = e->owner && e->bytes ? BOUMA_OK : BOUMA_ENOMEM;
    if (!rc)
        rc = make_owners(e, task);
    if (!rc) {
        list_sizes(e, task);
        rc = list_chunks(&chunks, e, task);
    }
    if (!rc)
        rc = assign_chunks(&chunks, e, task);
    if (!rc)
        rc = measure_files(e, &chunks);
    if (!rc)
        rc = place_files(e, &chunks, task);
    if (!rc)
        rc = count_ships(e, &chunks, task);
    bm_drop(a, chunks.bytes);
    bm_drop(a, chunks.owner);
    bm_drop(a, chunks.tables);
    bm_drop(a, chunks.fixed);
    return rc;
}

void bm_estimate_release(struct bm_estimate *e)
{
    if (!e->a)
        return;
    bm_partition_release(&e->partition);
    bm_assignment_release(&e->chunks);
    bm_drop(e->a, e->blocks);
    bm_drop(e->a, e->owner);
    bm_drop(e->a, e->bytes);
    bm_drop(e->a, e->file);
    bm_drop(e->a, e->order);
    bm_drop(e->a, e->file_bytes);
    bm_drop(e->a, e->writer);
    bm_drop(e->a, e->tier);
    bm_drop(e->a, e->choice);
    bm_gathering_release(&e->gathering);
}
