/* estimate.c -- see estimate.h. */
#include "plan/estimate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "plan/schedule.h"

/* ---- the grid ------------------------------------------------------------ */

const char *bm_estimate_grid(struct bm_estimate_task *task, int ndims,
                             const int64_t *shape, const int64_t *patch)
{
    int64_t edge[3];
    const char *wrong;

    bm_tiling_edges(edge, ndims, shape, patch);
    wrong = bm_tiling_init(&task->tiling, ndims, shape, edge);
    if (!wrong)
        task->levels = bm_tiling_levels(&task->tiling);
    return wrong;
}

uint64_t bm_estimate_samples(const struct bm_estimate_task *task)
{
    bouma_box all = bm_tiling_domain(&task->tiling);

    return bm_box_volume(&all);
}

uint64_t bm_estimate_patch_samples(const struct bm_estimate_task *task)
{
    const int64_t *edge = task->tiling.edge;

    return (uint64_t)edge[0] * (uint64_t)edge[1] * (uint64_t)edge[2];
}

void bm_estimate_tell_grid(bouma_plan_report *out,
                           const struct bm_estimate_task *task)
{
    const struct bm_tiling *t = &task->tiling;

    out->ranks = task->ranks;
    for (int d = 0; d < t->ndims; d++) {
        out->blocks[d] = task->blocks[3 - t->ndims + d];
        out->patch[d] = t->edge[3 - t->ndims + d];
        out->grid[d] = t->count[3 - t->ndims + d];
    }
    out->patches = t->patches;
    out->raw_bytes = bm_estimate_samples(task) * task->sample_bytes;
}

int64_t bm_estimate_patch(const struct bm_estimate_task *task,
                          const int64_t *at)
{
    const struct bm_tiling *t = &task->tiling;
    int64_t lifted[3] = {0};
    int first = 3 - t->ndims;

    for (int d = first; d < 3; d++) {
        lifted[d] = at[d - first];
        if (lifted[d] < 0 || lifted[d] >= t->count[d])
            return -1;
    }
    return bm_tiling_index(t, lifted);
}

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

void bm_estimate_blocks(int64_t blocks[3], const struct bm_estimate_task *task,
                        int ranks)
{
    const struct bm_tiling *t = &task->tiling;
    int divisors[MOST_DIVISORS];
    int count = list_divisors(divisors, ranks);
    double least = INFINITY;

    /* Axes that the grid does not have are not cut. Among equals, slow axes
     * are. */
    for (int i = 0; i < count; i++)
        for (int k = 0; k < count; k++) {
            int64_t z = divisors[i], y = divisors[k], x = ranks / z / y;
            double surface = (double)z / (double)t->shape[0] +
                             (double)y / (double)t->shape[1] +
                             (double)x / (double)t->shape[2];

            if (ranks / z % y || (z > 1 && t->ndims < 3) ||
                (y > 1 && t->ndims < 2) || surface >= least * (1 - 1e-12))
                continue;
            least = surface;
            blocks[0] = z;
            blocks[1] = y;
            blocks[2] = x;
        }
}

/* n * i / count for 0 <= i <= count, where n * i may overflow. */
static int64_t share(int64_t n, int64_t i, int64_t count)
{
    return n / count * i + n % count * i / count;
}

bouma_box bm_estimate_block(const struct bm_estimate_task *task, int64_t rank)
{
    const int64_t *n = task->blocks, *shape = task->tiling.shape;
    int64_t at[3] = {rank / (n[1] * n[2]), rank / n[2] % n[1], rank % n[2]};
    bouma_box box;

    for (int d = 0; d < 3; d++) {
        box.lo[d] = share(shape[d], at[d], n[d]);
        box.hi[d] = share(shape[d], at[d] + 1, n[d]);
    }
    return box;
}

/* All blocks that are not empty; the number of them. */
static size_t list_blocks(struct bm_block *blocks,
                          const struct bm_estimate_task *task)
{
    size_t count = 0;

    for (int r = 0; r < task->ranks; r++) {
        blocks[count] = (struct bm_block){r, bm_estimate_block(task, r)};
        count += bm_box_volume(&blocks[count].box) > 0;
    }
    return count;
}

/* ---- sizes -------------------------------------------------------------- */

/* How much harder a patch is to compress: 1 far away from, and up to 'vary' at
 * a point of the grid that no symmetry leads to. */
static double weight_of(const struct bm_estimate_task *task, int64_t patch)
{
    static const double centre[3] = {0.3, 0.4, 0.35};
    const struct bm_tiling *t = &task->tiling;
    double distance = 0;
    int64_t at[3];

    bm_tiling_at(t, patch, at);
    for (int d = 3 - t->ndims; d < 3; d++) {
        double x = ((double)at[d] + 0.5) / (double)t->count[d] - centre[d];

        distance += x * x;
    }
    return pow(task->vary, exp(-distance / (2 * 0.2 * 0.2)));
}

/* The stored bytes of all patches have the sum that the ratio asks for. */
static void list_sizes(struct bm_estimate *e,
                       const struct bm_estimate_task *task)
{
    const struct bm_tiling *t = &task->tiling;
    double raw = 0, weighted = 0, scale = 1 / task->ratio;

    for (int64_t i = 0; i < t->patches; i++) {
        bouma_box box = bm_tiling_patch_box(t, i);

        e->bytes[i] = bm_box_volume(&box) * task->sample_bytes;
        if (task->vary > 1) {
            raw += (double)e->bytes[i];
            weighted += (double)e->bytes[i] * weight_of(task, i);
        }
    }
    if (task->vary > 1)
        scale *= raw / weighted;
    for (int64_t i = 0; i < t->patches && (task->vary > 1 || scale != 1); i++) {
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
    int64_t *order; /* [patches], the patch */
    uint64_t *bytes;
    int *owner;
    struct bm_chunk_table *tables;
    struct bm_assignment files;
};

/* Samples of a box whose indices are multiples of 2^k along all axes. */
static uint64_t samples_at(const bouma_box *box, int k)
{
    uint64_t n = 1;

    for (int d = 0; d < 3; d++)
        n *= (uint64_t)(((box->hi[d] - 1) >> k) - ((box->lo[d] - 1) >> k));
    return n;
}

/* Bytes of the sizes of a chunk's levels in a table. Each level has its share
 * of the stored bytes. */
static uint64_t size_bytes(const struct bm_estimate_task *task, int64_t patch,
                           uint64_t stored)
{
    bouma_box box = bm_tiling_patch_box(&task->tiling, patch);
    double scale = (double)stored / (double)bm_box_volume(&box);
    uint64_t bytes = 0, coarser = 0;

    for (int k = task->levels - 1; k >= 0; k--) {
        uint64_t n = samples_at(&box, k);

        bytes +=
            bm_varint_bytes((uint64_t)((double)(n - coarser) * scale + 0.5));
        coarser = n;
    }
    return bytes;
}

/* What chunks cost in tables, as write/table_costs.h has it. */
static void list_tables(struct chunks *c, const struct bm_estimate_task *task)
{
    uint64_t copies = (uint64_t)task->copies, before = 0;

    for (int64_t i = 0; i < task->tiling.patches; i++) {
        uint64_t key = bm_tiling_key(&task->tiling, c->order[i]);
        uint64_t apart = bm_varint_bytes(key - before);

        c->tables[i] = (struct bm_chunk_table){
            0,
            (uint32_t)(copies * (task->row_bytes + apart +
                                 size_bytes(task, c->order[i], c->bytes[i]))),
            (uint32_t)(copies *
                       (task->section_bytes + bm_varint_bytes(key) - apart))};
        before = key;
    }
}

static int assign_chunks(struct chunks *c, struct bm_estimate *e,
                         const struct bm_estimate_task *task)
{
    const bouma_options *o = task->options;
    size_t count = (size_t)task->tiling.patches;
    struct bm_chunk_sizes sizes;
    uint64_t total = 0;
    int64_t files;
    int rc;

    c->order = bm_new_raw(e->a, count, sizeof(*c->order));
    c->bytes = bm_new_raw(e->a, count, sizeof(*c->bytes));
    c->owner = bm_new_raw(e->a, count, sizeof(*c->owner));
    c->tables = bm_new_raw(e->a, count, sizeof(*c->tables));
    e->file = bm_new_raw(e->a, count, sizeof(*e->file));
    if (!c->order || !c->bytes || !c->owner || !c->tables || !e->file)
        return BOUMA_ENOMEM;
    bm_tiling_order(&task->tiling, c->order);
    for (size_t i = 0; i < count; i++) {
        c->bytes[i] = e->bytes[c->order[i]];
        c->owner[i] = e->owner[c->order[i]];
        total += c->bytes[i];
    }
    list_tables(c, task);
    files = bm_assign_files(total, count, task->ranks, o->files, o->file_size);
    if (files > task->most_files)
        files = task->most_files;
    sizes = (struct bm_chunk_sizes){.count = count,
                                    .bytes = c->bytes,
                                    .owner = c->owner,
                                    .tables = c->tables,
                                    .sections = 1};
    rc = bm_assign(&c->files, e->a, bm_assign_in_order(o->assign), &sizes,
                   files, task->ranks);
    if (rc)
        return rc;
    for (size_t i = 0; i < count; i++)
        e->file[c->order[i]] = c->files.file[i];
    return BOUMA_OK;
}

static int measure_files(struct bm_estimate *e, const struct chunks *c)
{
    e->files = c->files.files;
    e->file_bytes = bm_new(e->a, (size_t)e->files, sizeof(*e->file_bytes));
    e->file_patches = bm_new(e->a, (size_t)e->files, sizeof(*e->file_patches));
    if (!e->file_bytes || !e->file_patches)
        return BOUMA_ENOMEM;
    for (int64_t f = 0; f < e->files; f++) {
        size_t first = c->files.first[f], last = c->files.first[f + 1];

        e->file_patches[f] = (int64_t)(last - first);
        for (size_t i = first; i < last; i++) {
            uint32_t chunk = c->files.chunk[i];

            e->file_bytes[f] += c->bytes[chunk] + c->tables[chunk].bytes +
                                (i == first ? c->tables[chunk].opening : 0);
        }
    }
    return BOUMA_OK;
}

static int place_files(struct bm_estimate *e, const struct chunks *c,
                       const struct bm_estimate_task *task)
{
    struct bm_chunk_sizes sizes = {.count = (size_t)task->tiling.patches,
                                   .bytes = c->bytes,
                                   .owner = c->owner};
    struct bm_place_task place = {task->options->place, task->ranks,
                                  task->rule};
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
        rc = bm_gathering_of_chunks(&e->gathering, e->a, &sizes, &c->files,
                                    task->ranks);
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
    size_t first = c->files.first[file];
    size_t count = c->files.first[file + 1] - first;
    uint64_t buffer = in->buffer, all;

    for (size_t i = 0; i < count; i++) {
        uint32_t chunk = c->files.chunk[first + i];

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
    int rc = group(&written, e->a, task->ranks, e->writer, e->files);

    for (int r = 0; r < task->ranks && !rc; r++) {
        size_t all = 0;

        for (int64_t i = written.first[r]; i < written.first[r + 1]; i++) {
            size_t n = (size_t)e->file_patches[written.thing[i]];

            most_file = n > most_file ? n : most_file;
            /* A chunk may be in several rounds, but most end where one does. */
            all +=
                n + (size_t)(e->file_bytes[written.thing[i]] / in.buffer) + 1;
        }
        most = all > most ? all : most;
        e->writers += written.first[r + 1] > written.first[r];
    }
    if (!rc) {
        in.slots = bm_new_raw(e->a, most_file, sizeof(*in.slots));
        in.keys = bm_new_raw(e->a, most, sizeof(*in.keys));
        rc = in.slots && in.keys ? BOUMA_OK : BOUMA_ENOMEM;
    }
    for (int r = 0; r < task->ranks && !rc; r++) {
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
    struct bm_block *blocks =
        bm_new_raw(e->a, (size_t)task->ranks, sizeof(*blocks));
    struct bm_partition partition = {0};
    int rc = blocks ? BOUMA_OK : BOUMA_ENOMEM;

    if (!rc)
        rc = bm_partition_init(&partition, e->a,
                               bm_chunking_of_tiling(&task->tiling), blocks,
                               list_blocks(blocks, task));
    if (!rc)
        rc = bm_distribute(e->owner, task->options->distribute, &partition,
                           task->ranks, &e->distribution);
    if (!rc)
        rc = count_moves(e, &partition, task->ranks);
    bm_partition_release(&partition);
    bm_drop(e->a, blocks);
    return rc;
}

int bm_estimate_make(struct bm_estimate *e, const bouma_allocator *a,
                     const struct bm_estimate_task *task)
{
    size_t patches = (size_t)task->tiling.patches;
    struct chunks chunks;
    int rc;

    memset(e, 0, sizeof(*e));
    memset(&chunks, 0, sizeof(chunks));
    e->a = a;
    e->owner = bm_new_raw(a, patches, sizeof(*e->owner));
    e->bytes = bm_new_raw(a, patches, sizeof(*e->bytes));
    rc = e->owner && e->bytes ? BOUMA_OK : BOUMA_ENOMEM;
    if (!rc)
        rc = make_owners(e, task);
    if (!rc) {
        list_sizes(e, task);
        rc = assign_chunks(&chunks, e, task);
    }
    if (!rc)
        rc = measure_files(e, &chunks);
    if (!rc)
        rc = place_files(e, &chunks, task);
    if (!rc)
        rc = count_ships(e, &chunks, task);
    bm_assignment_release(&chunks.files);
    bm_drop(a, chunks.order);
    bm_drop(a, chunks.bytes);
    bm_drop(a, chunks.owner);
    bm_drop(a, chunks.tables);
    return rc;
}

void bm_estimate_release(struct bm_estimate *e)
{
    if (!e->a)
        return;
    bm_drop(e->a, e->owner);
    bm_drop(e->a, e->bytes);
    bm_drop(e->a, e->file);
    bm_drop(e->a, e->file_bytes);
    bm_drop(e->a, e->file_patches);
    bm_drop(e->a, e->writer);
    bm_drop(e->a, e->tier);
    bm_drop(e->a, e->choice);
    bm_gathering_release(&e->gathering);
}
