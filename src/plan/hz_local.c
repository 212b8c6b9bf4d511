/* hz_local.c -- see hz_local.h. */
#include "plan/hz_local.h"

#include <string.h>

#include "base/search.h"
#include "plan/hz_partition.h"

/* ---- chunks -------------------------------------------------------------- */

static int64_t partitions(const struct bm_hz_local *o)
{
    return (int64_t)1 << o->bits;
}

/* The kind of the partition at 'origin'; -1: it has no samples. */
static int kind_at(const struct bm_hz_local *o, const int64_t origin[3])
{
    int kind = 0;

    for (int d = 0; d < 3; d++) {
        int64_t left = o->shape[d] - origin[d];

        if (left <= 0)
            return -1;
        kind |= (left < (int64_t)1 << o->inside.count[d]) << d;
    }
    return kind;
}

/* A chunk of a partition: a block of 2^bits samples of its own order. A level of
 * block 0 is block 1 of blocks of just so many samples. */
struct place {
    int64_t partition;
    int64_t origin[3];
    const struct bm_hz_local_kind *kind; /* NULL: it has no samples */
    int bits;
    uint64_t block;
};

static struct place place_of(const struct bm_hz_local *o, int64_t partition)
{
    struct place at = {.partition = partition};
    int kind;

    bm_hz_partition_origin(&o->hz, o->bits, partition, at.origin);
    kind = kind_at(o, at.origin);
    if (kind >= 0)
        at.kind = &o->kinds[kind];
    return at;
}

static void set_part(const struct bm_hz_local *o, struct place *at, int part)
{
    at->bits = o->block_bits - o->bits + part - 1;
    at->block = 1;
}

/* Of a key that is not the top's, and below the last. */
static struct place place_of_key(const struct bm_hz_local *o, uint64_t key)
{
    struct place at = place_of(o, (int64_t)((key - 1) / o->keys));
    uint64_t i = (key - 1) % o->keys, parts = (uint64_t)o->bits;

    if (i < parts) {
        set_part(o, &at, (int)i + 1);
    } else {
        at.bits = o->block_bits;
        at.block = i - parts + 1;
    }
    return at;
}

/* What the domain leaves of it. */
static struct bm_footprint cut_to(struct bm_footprint f, const int64_t shape[3])
{
    for (int d = 0; d < 3; d++) {
        int64_t most = shape[d] > f.start[d]
                           ? ((shape[d] - 1 - f.start[d]) >> f.shift[d]) + 1
                           : 0;

        f.count[d] = f.count[d] < most ? f.count[d] : most;
    }
    return f;
}

/* Counted from the partition's first sample. */
static struct bm_footprint inside_of(const struct bm_hz_local *o,
                                     const struct place *at)
{
    return cut_to(bm_hz_block(&o->inside, at->bits, at->block),
                  at->kind->blocks.shape);
}

static struct bm_footprint top_of(const struct bm_hz_local *o)
{
    return cut_to(bm_hz_block(&o->hz, o->block_bits, 0), o->shape);
}

struct bm_footprint bm_hz_local_footprint(const struct bm_hz_local *o,
                                          uint64_t key)
{
    struct bm_footprint f;
    struct place at;

    if (!key)
        return top_of(o);
    at = place_of_key(o, key);
    f = inside_of(o, &at);
    for (int d = 0; d < 3; d++)
        f.start[d] += at.origin[d];
    return f;
}

struct bm_hz bm_hz_local_template(const struct bm_hz_local *o, uint64_t key)
{
    struct place at;

    if (!key)
        return bm_hz_block_template(&o->hz, o->block_bits, 0);
    at = place_of_key(o, key);
    return bm_hz_block_template(&o->inside, at.bits, at.block);
}

/* ---- the chunking -------------------------------------------------------- */

/* The partition of a chunk that is not the top. */
static int64_t partition_of(const void *own, int64_t chunk)
{
    const struct bm_hz_local *o = own;
    size_t p = 0;

    if (!chunk)
        return -1;
    BM_BISECT(p, (size_t)partitions(o), i, o->first[i] <= chunk);
    return (int64_t)p;
}

static uint64_t key_of(const void *own, int64_t chunk)
{
    const struct bm_hz_local *o = own;
    int64_t p = partition_of(own, chunk);
    struct place at;
    uint64_t before;

    if (p < 0)
        return 0;
    at = place_of(o, p);
    before = 1 + (uint64_t)p * o->keys;
    chunk -= o->first[p];
    if (chunk < at.kind->parts)
        return before + at.kind->part[chunk] - 1;
    return before + (uint64_t)o->bits - 1 +
           bm_hz_blocks_block(&at.kind->blocks, chunk - at.kind->parts + 1);
}

static int64_t find_part(const struct bm_hz_local_kind *kind, int part)
{
    for (int i = 0; i < kind->parts; i++)
        if (kind->part[i] == part)
            return i;
    return -1;
}

static int64_t find(const void *own, uint64_t key)
{
    const struct bm_hz_local *o = own;
    struct place at;
    int64_t i;

    if (!key)
        return 0;
    if ((key - 1) / o->keys >= (uint64_t)partitions(o))
        return -1;
    at = place_of_key(o, key);
    if (!at.kind)
        return -1;
    if ((key - 1) % o->keys < (uint64_t)o->bits) {
        i = find_part(at.kind, (int)((key - 1) % o->keys) + 1);
    } else {
        i = bm_hz_blocks_chunk(&at.kind->blocks, at.block);
        i = i < 0 ? -1 : i - 1 + at.kind->parts;
    }
    return i < 0 ? -1 : o->first[at.partition] + i;
}

static struct bm_footprint footprint(const void *own, int64_t chunk)
{
    return bm_hz_local_footprint(own, key_of(own, chunk));
}

static void order(const void *own, int64_t *out)
{
    const struct bm_hz_local *o = own;

    for (int64_t i = 0; i < o->first[partitions(o)]; i++)
        out[i] = i;
}

/* A file of a partition, counted from its first. */
static int64_t file_inside(const struct bm_hz_local_kind *kind, int64_t chunk)
{
    struct bm_chunking c = bm_hz_blocks_chunking(&kind->blocks);

    return c.calls->file(c.own, chunk) - kind->hollow;
}

static int64_t file_of(const void *own, int64_t chunk)
{
    const struct bm_hz_local *o = own;
    int64_t p = partition_of(own, chunk), i;
    struct place at;

    if (p < 0)
        return 0;
    at = place_of(o, p);
    i = chunk - o->first[p] - at.kind->parts + 1;
    return o->first_file[p] + file_inside(at.kind, i > 0 ? i : 0);
}

struct search {
    const struct bm_hz_local *o;
    const struct bm_box *box;
    int level;
    bm_chunk_run each;
    void *context;
    int64_t blocks; /* the number that block 0 of the partition would have */
    int64_t first, end; /* chunks that are not told yet */
};

static void tell(struct search *s, int64_t first, int64_t end)
{
    if (first != s->end) {
        if (s->end > s->first)
            s->each(s->context, s->first, s->end);
        s->first = first;
    }
    s->end = end;
}

static void tell_blocks(void *context, int64_t first, int64_t end)
{
    struct search *s = context;

    first = first ? first : 1; /* block 0 is cut */
    if (first < end)
        tell(s, s->blocks + first, s->blocks + end);
}

static int has_samples(const struct bm_footprint *f, const struct bm_box *box,
                       int level)
{
    struct bm_footprint at = level ? bm_footprint_at_level(f, level) : *f;

    return bm_footprint_samples_in(&at, box) > 0;
}

static void search_partition(void *context, int64_t partition)
{
    struct search *s = context;
    const struct bm_hz_local *o = s->o;
    struct place at = place_of(o, partition);
    struct bm_chunking blocks;
    struct bm_box box;

    if (!at.kind)
        return;
    for (int d = 0; d < 3; d++) {
        int64_t size = at.kind->blocks.shape[d];

        /* It has samples of coarser levels only if it begins with one. */
        if (o->inside.count[d] < s->level &&
            at.origin[d] & (((int64_t)1 << s->level) - 1))
            return;
        box.lo[d] = s->box->lo[d] - at.origin[d];
        box.hi[d] = s->box->hi[d] - at.origin[d];
        box.lo[d] = box.lo[d] > 0 ? box.lo[d] : 0;
        box.hi[d] = box.hi[d] < size ? box.hi[d] : size;
        if (box.lo[d] >= box.hi[d])
            return;
    }
    for (int i = 0; i < at.kind->parts; i++) {
        struct bm_footprint f;

        set_part(o, &at, at.kind->part[i]);
        f = inside_of(o, &at);
        if (has_samples(&f, &box, s->level))
            tell(s, o->first[partition] + i, o->first[partition] + i + 1);
    }
    s->blocks = o->first[partition] + at.kind->parts - 1;
    blocks = bm_hz_blocks_chunking(&at.kind->blocks);
    blocks.calls->touched(blocks.own, &box, s->level, tell_blocks, s);
}

static void touched(const void *own, const struct bm_box *box, int level,
                    bm_chunk_run each, void *context)
{
    const struct bm_hz_local *o = own;
    struct search s = {o, box, level, each, context, 0, 0, 0};
    struct bm_footprint top = top_of(o);

    if (has_samples(&top, box, level))
        tell(&s, 0, 1);
    bm_hz_partition_touched(&o->hz, o->bits, box, search_partition, &s);
    if (s.end > s.first)
        each(context, s.first, s.end);
}

static void meet(const void *own, const struct bm_box *box,
                 void (*each)(void *context, int64_t partition), void *context)
{
    const struct bm_hz_local *o = own;

    bm_hz_partition_touched(&o->hz, o->bits, box, each, context);
}

struct bm_chunking bm_hz_local_chunking(const struct bm_hz_local *o)
{
    static const struct bm_chunking_functions calls = {.footprint = footprint,
                                                       .touched = touched,
                                                       .key = key_of,
                                                       .find = find,
                                                       .order = order,
                                                       .file = file_of,
                                                       .partition =
                                                           partition_of,
                                                       .meet = meet,
                                                       .coarse_first = 1};

    return (struct bm_chunking){&calls, o, o->first[partitions(o)], 0,
                                partitions(o)};
}

/* ---- all ----------------------------------------------------------------- */

int64_t bm_hz_local_most_files(const struct bm_hz *hz, int block_bits,
                               int64_t blocks_per_file, int r)
{
    struct bm_hz inside = bm_hz_partition_template(hz, r);

    return 1 +
           (bm_hz_blocks_most_files(&inside, block_bits, blocks_per_file) << r);
}

static int make_kind(struct bm_hz_local *o, int kind, int64_t blocks_per_file)
{
    struct bm_hz_local_kind *k = &o->kinds[kind];
    struct place at = {.kind = k};
    int64_t shape[3];

    for (int d = 0; d < 3; d++) {
        int64_t size = (int64_t)1 << o->inside.count[d];

        shape[d] = kind >> d & 1 ? o->shape[d] & (size - 1) : size;
    }
    k->made = 1;
    if (bm_hz_blocks_init(&k->blocks, o->a, &o->inside, shape, o->block_bits,
                          blocks_per_file))
        return BOUMA_ENOMEM;
    for (int part = 1; part <= o->bits; part++) {
        struct bm_footprint f;

        set_part(o, &at, part);
        f = inside_of(o, &at);
        if (bm_footprint_samples(&f))
            k->part[k->parts++] = (uint8_t)part;
    }
    k->hollow = !k->parts && (k->blocks.count == 1 || file_inside(k, 1) > 0);
    return BOUMA_OK;
}

int bm_hz_local_init(struct bm_hz_local *o, const bouma_allocator *a,
                     const struct bm_hz_blocks *whole, int r)
{
    size_t room = ((size_t)1 << r) + 1;
    int rc = BOUMA_OK;

    memset(o, 0, sizeof(*o));
    o->a = a;
    o->hz = whole->hz;
    o->inside = bm_hz_partition_template(&o->hz, r);
    memcpy(o->shape, whole->shape, sizeof(o->shape));
    o->block_bits = whole->block_bits;
    o->bits = r;
    o->keys =
        (uint64_t)r - 1 + ((uint64_t)1 << (o->inside.bits - o->block_bits));
    o->first = bm_new(a, room, sizeof(*o->first));
    o->first_file = bm_new(a, room, sizeof(*o->first_file));
    if (!o->first || !o->first_file)
        return BOUMA_ENOMEM;
    o->first[0] = o->first_file[0] = 1; /* behind the top */
    for (int64_t p = 0; p < partitions(o) && !rc; p++) {
        struct place at = place_of(o, p);

        if (at.kind && !at.kind->made)
            rc =
                make_kind(o, (int)(at.kind - o->kinds), whole->blocks_per_file);
        o->first[p + 1] = o->first[p];
        o->first_file[p + 1] = o->first_file[p];
        if (at.kind && !rc) {
            o->first[p + 1] += at.kind->parts + at.kind->blocks.count - 1;
            o->first_file[p + 1] += at.kind->blocks.files - at.kind->hollow;
        }
    }
    return rc;
}

void bm_hz_local_release(struct bm_hz_local *o)
{
    for (int i = 0; i < 8; i++)
        if (o->kinds[i].made)
            bm_hz_blocks_release(&o->kinds[i].blocks);
    bm_drop(o->a, o->first);
    bm_drop(o->a, o->first_file);
    memset(o, 0, sizeof(*o));
}
