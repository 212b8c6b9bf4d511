/* hz_blocks.c -- see hz_blocks.h. */
#include "plan/hz_blocks.h"

#include <string.h>

#include "base/bits.h"
#include "base/search.h"
#include "plan/hz_partition.h"

/* ---- runs of blocks ------------------------------------------------------ */

/* The blocks of a level, as a lattice: those whose first characters say how far
 * along each axis they are. */
struct run {
    int prefix;       /* characters before those inside a block */
    int shift[3];     /* a block is 2^shift samples after the one before it */
    int64_t from[3];  /* the first sample of the first block */
    int64_t limit[3]; /* blocks along each axis that have samples */
};

static struct run run_of(const struct bm_hz_blocks *o, int j)
{
    struct run r = {.prefix = j ? j - 1 : 0};
    int set = r.prefix + o->block_bits; /* the character that is 1 in all */

    for (int d = 0; d < 3; d++) {
        r.shift[d] = o->behind[r.prefix][d];
        if (j && o->hz.axis[set] == d)
            r.from[d] = (int64_t)1 << o->behind[set + 1][d];
        if (o->shape[d] > r.from[d])
            r.limit[d] = ((o->shape[d] - r.from[d] - 1) >> r.shift[d]) + 1;
    }
    return r;
}

/* A part of a run: blocks that have the same first characters. */
struct branch {
    int depth;     /* so many */
    int64_t at[3]; /* the first of them along each axis, */
    int bits[3];   /* and 2^bits of them */
};

static struct branch whole_run(const struct bm_hz_blocks *o,
                               const struct run *r)
{
    struct branch b = {0};

    for (int d = 0; d < 3; d++)
        b.bits[d] = o->behind[0][d] - o->behind[r->prefix][d];
    return b;
}

/* How many blocks of a branch have samples. */
static int64_t count_blocks(const struct run *r, const struct branch *b)
{
    int64_t n = 1;

    for (int d = 0; d < 3; d++) {
        int64_t most = (int64_t)1 << b->bits[d], left = r->limit[d] - b->at[d];

        n *= left < 0 ? 0 : left < most ? left : most;
    }
    return n;
}

/* The half of it in which the next character is 0 or 1. */
static struct branch half_of(const struct bm_hz_blocks *o,
                             const struct branch *b, int bit)
{
    struct branch half = *b;
    int axis = o->hz.axis[half.depth++];

    half.bits[axis]--;
    half.at[axis] += (int64_t)bit << half.bits[axis];
    return half;
}

static int run_of_block(uint64_t block)
{
    return block ? 64 - __builtin_clzll(block) : 0;
}

/* How many blocks before this one have samples, and whether it has some. */
static int64_t count_before(const struct bm_hz_blocks *o, uint64_t block,
                            int *has)
{
    int j = run_of_block(block);
    struct run r = run_of(o, j);
    struct branch b = whole_run(o, &r);
    int64_t n = o->first[j];

    for (int i = r.prefix - 1; i >= 0; i--) {
        struct branch low = half_of(o, &b, 0);
        int bit = (int)(block >> i & 1);

        if (bit)
            n += count_blocks(&r, &low);
        b = bit ? half_of(o, &b, 1) : low;
    }
    *has = count_blocks(&r, &b) > 0;
    return n;
}

/* All blocks have samples. */
static int is_whole(const struct bm_hz_blocks *o)
{
    return o->count == (int64_t)1 << (o->hz.bits - o->block_bits);
}

int64_t bm_hz_blocks_chunk(const struct bm_hz_blocks *o, uint64_t block)
{
    int64_t chunk;
    int has;

    if (is_whole(o))
        return (int64_t)block;
    chunk = count_before(o, block, &has);
    return has ? chunk : -1;
}

uint64_t bm_hz_blocks_block(const struct bm_hz_blocks *o, int64_t chunk)
{
    size_t j = 0;
    struct branch b;
    struct run r;
    uint64_t block;

    if (is_whole(o))
        return (uint64_t)chunk;
    BM_BISECT(j, (size_t)(o->hz.bits - o->block_bits + 1), i,
              o->first[i] <= chunk);
    r = run_of(o, (int)j);
    b = whole_run(o, &r);
    chunk -= o->first[j];
    block = j > 0;
    for (int i = 0; i < r.prefix; i++) {
        struct branch low = half_of(o, &b, 0);
        int64_t before = count_blocks(&r, &low);
        int bit = chunk >= before;

        block = block << 1 | (uint64_t)bit;
        if (bit)
            chunk -= before;
        b = bit ? half_of(o, &b, 1) : low;
    }
    return block;
}

/* Samples of a block along an axis, from the first one on. */
static inline int64_t samples_along(const struct bm_hz_blocks *o,
                                    const struct run *r, int d, int shift,
                                    int64_t start)
{
    int64_t count = (int64_t)1 << (r->shift[d] - shift);
    int64_t most = ((o->shape[d] - 1 - start) >> shift) + 1;

    return count < most ? count : most;
}

/* The samples of block 'at' of a run, which has some in the domain: all at once,
 * as in chunking.c. */
static inline struct bm_footprint
block_at(const struct bm_hz_blocks *o, const struct run *r, const int64_t at[3])
{
    const uint8_t *shift = o->behind[r->prefix + o->block_bits];
    int64_t z = r->from[0] + (at[0] << r->shift[0]);
    int64_t y = r->from[1] + (at[1] << r->shift[1]);
    int64_t x = r->from[2] + (at[2] << r->shift[2]);

    return (struct bm_footprint){{z, y, x},
                                 {samples_along(o, r, 0, shift[0], z),
                                  samples_along(o, r, 1, shift[1], y),
                                  samples_along(o, r, 2, shift[2], x)},
                                 {shift[0], shift[1], shift[2]}};
}

struct bm_footprint bm_hz_blocks_footprint(const struct bm_hz_blocks *o,
                                           uint64_t block)
{
    struct run r = run_of(o, run_of_block(block));
    uint64_t own = block & bm_bits_low(r.prefix); /* without the leading 1 */
    int64_t at[3];

    /* They are the first characters of its samples' addresses. */
    bm_hz_index_of(&o->hz, own << (o->hz.bits - r.prefix), at);
    for (int d = 0; d < 3; d++)
        at[d] >>= r.shift[d];
    return block_at(o, &r, at);
}

/* ---- the chunking -------------------------------------------------------- */

static struct bm_footprint footprint(const void *own, int64_t chunk)
{
    return bm_hz_blocks_footprint(own, bm_hz_blocks_block(own, chunk));
}

struct search {
    const struct bm_hz_blocks *o;
    const struct bm_box *box;
    int level;
    bm_chunk_run each;
    void *context;
    int64_t first, end; /* chunks that are not told yet */
    struct run run;
    int whole;            /* all its blocks have samples */
    int64_t lo[3], hi[3]; /* blocks along each axis that the box meets */
};

static void tell(struct search *s, int64_t first, int64_t count)
{
    if (first != s->end) {
        if (s->end > s->first)
            s->each(s->context, s->first, s->end);
        s->first = first;
    }
    s->end = first + count;
}

enum meets { NONE, SOME, ALL };

/* How many of the blocks of a branch have samples of the level in the box. SOME
 * may be all or none. */
static enum meets meets(const struct search *s, const struct branch *b)
{
    enum meets result = ALL;

    for (int d = 0; d < 3; d++) {
        int size = s->run.shift[d] + b->bits[d];
        int64_t lo = b->at[d] << s->run.shift[d];
        int64_t hi = lo + ((int64_t)1 << size);

        hi = hi < s->o->shape[d] ? hi : s->o->shape[d];
        if (lo >= s->box->hi[d] || hi <= s->box->lo[d] ||
            (size < s->level && lo & (((int64_t)1 << s->level) - 1)))
            return NONE;
        if (lo < s->box->lo[d] || hi > s->box->hi[d] ||
            (b->bits[d] && s->run.shift[d] < s->level))
            result = SOME; /* or, of these, every so many-th */
    }
    return result;
}

/* One block: whether it has samples of the level in the box. */
static int block_meets(const struct search *s, const struct branch *b)
{
    struct bm_footprint f = block_at(s->o, &s->run, b->at);

    if (s->level)
        f = bm_footprint_at_level(&f, s->level);
    return bm_footprint_samples_in(&f, s->box) > 0;
}

/* Go on to the smallest branch that has all the blocks of a branch which the
 * box meets, and to its first chunk; 0 if it meets none. */
static int descend(const struct search *s, struct branch *b, int64_t *chunk)
{
    int64_t lo[3], differ[3];

    for (int d = 0; d < 3; d++) {
        int64_t last = b->at[d] + ((int64_t)1 << b->bits[d]) - 1;

        lo[d] = s->lo[d] > b->at[d] ? s->lo[d] : b->at[d];
        last = s->hi[d] < last ? s->hi[d] : last;
        if (lo[d] > last)
            return 0;
        differ[d] = lo[d] ^ last;
    }
    for (; b->depth < s->run.prefix; b->depth++) {
        int axis = s->o->hz.axis[b->depth], bits = b->bits[axis] - 1;

        if (differ[axis] >> bits)
            break;
        b->bits[axis] = bits;
        if (!(lo[axis] >> bits & 1))
            continue;
        *chunk += s->whole ? (int64_t)1 << (s->run.prefix - b->depth - 1)
                           : count_blocks(&s->run, b);
        b->at[axis] += (int64_t)1 << bits;
    }
    return 1;
}

/* Depth first, so that chunks come in ascending order; 'chunk' is the first one
 * of the branch. */
static void search_branch(struct search *s, struct branch b, int64_t chunk)
{
    /* Those that wait for their turn: one of each depth at most. */
    struct {
        struct branch b;
        int64_t chunk;
    } later[BM_HZ_BITS];
    int waiting = 0;

    for (;;) {
        int some = descend(s, &b, &chunk);
        int64_t count = some ? count_blocks(&s->run, &b) : 0;
        enum meets how = count ? meets(s, &b) : NONE;

        if (how == SOME && b.depth < s->run.prefix) {
            struct branch low = half_of(s->o, &b, 0);

            later[waiting].b = half_of(s->o, &b, 1);
            later[waiting++].chunk = chunk + count_blocks(&s->run, &low);
            b = low;
            continue;
        }
        if (how == ALL || (how == SOME && block_meets(s, &b)))
            tell(s, chunk, count);
        if (!waiting)
            return;
        waiting--;
        b = later[waiting].b;
        chunk = later[waiting].chunk;
    }
}

static void begin_run(struct search *s, int j)
{
    const struct bm_hz_blocks *o = s->o;

    s->run = run_of(o, j);
    s->whole = o->first[j + 1] - o->first[j] == (int64_t)1 << s->run.prefix;
    for (int d = 0; d < 3; d++) {
        s->lo[d] = s->box->lo[d] >> s->run.shift[d];
        s->hi[d] = (s->box->hi[d] - 1) >> s->run.shift[d];
    }
}

static void touched(const void *own, const struct bm_box *box, int level,
                    bm_chunk_run each, void *context)
{
    const struct bm_hz_blocks *o = own;
    struct search s = {
        .o = o, .box = box, .level = level, .each = each, .context = context};

    for (int j = 0; j <= o->hz.bits - o->block_bits; j++) {
        int set = o->block_bits + j - 1; /* the character of the level */

        /* Along its axis, samples are odd multiples of a power of two. */
        if (j && o->behind[set + 1][o->hz.axis[set]] < level)
            continue;
        begin_run(&s, j);
        search_branch(&s, whole_run(o, &s.run), o->first[j]);
    }
    if (s.end > s.first)
        each(context, s.first, s.end);
}

static uint64_t key_of(const void *own, int64_t chunk)
{
    return bm_hz_blocks_block(own, chunk);
}

static int64_t find(const void *own, uint64_t key)
{
    const struct bm_hz_blocks *o = own;

    return key >> (o->hz.bits - o->block_bits) ? -1
                                               : bm_hz_blocks_chunk(o, key);
}

static void order(const void *own, int64_t *out)
{
    for (int64_t i = 0; i < ((const struct bm_hz_blocks *)own)->count; i++)
        out[i] = i;
}

/* A block of a run, and how a step to the next one changes where it is. */
struct walk {
    struct run run;
    uint64_t block;
    int64_t at[3];
    /* Bit i of the block's number: its axis, and how far it leads along it. */
    int axis[BM_HZ_BITS];
    int64_t far[BM_HZ_BITS];
};

static void walk_to(struct walk *w, const struct bm_hz_blocks *o,
                    uint64_t block)
{
    uint64_t own;

    w->block = block;
    w->run = run_of(o, run_of_block(block));
    own = block & bm_bits_low(w->run.prefix); /* without the leading 1 */
    for (int d = 0; d < 3; d++)
        w->at[d] = 0;
    for (int i = 0; i < w->run.prefix; i++) {
        int c = w->run.prefix - 1 - i;

        w->axis[i] = o->hz.axis[c];
        w->far[i] = (int64_t)1 << (o->behind[c + 1][w->axis[i]] -
                                   o->behind[w->run.prefix][w->axis[i]]);
        if (own >> i & 1)
            w->at[w->axis[i]] |= w->far[i];
    }
}

/* To the block of the next chunk. */
static void walk_on(struct walk *w, const struct bm_hz_blocks *o, int64_t chunk)
{
    uint64_t changed = w->block ^ (w->block + 1);
    int inside = 1;

    if (w->block == 0 || changed >> w->run.prefix) { /* the next run */
        walk_to(w, o, bm_hz_blocks_block(o, chunk));
        return;
    }
    w->block++;
    for (int i = 0; changed >> i; i++)
        w->at[w->axis[i]] ^= w->far[i];
    for (int d = 0; d < 3; d++)
        inside &= w->at[d] < w->run.limit[d];
    if (!inside)
        walk_to(w, o, bm_hz_blocks_block(o, chunk));
}

static void list(const void *own, int64_t first, int64_t count,
                 struct bm_listed_chunk *out)
{
    const struct bm_hz_blocks *o = own;
    struct walk w;

    if (count)
        walk_to(&w, o, bm_hz_blocks_block(o, first));
    for (int64_t i = 0; i < count; i++) {
        if (i)
            walk_on(&w, o, first + i);
        out[i] = (struct bm_listed_chunk){first + i, w.block,
                                          block_at(o, &w.run, w.at)};
    }
}

/* Whether a walk is at the first of eight blocks that all have as many samples
 * as they can; the first one has 'f'. */
static int begins_group(const struct walk *w, const struct bm_hz_blocks *o,
                        const struct bm_footprint *f)
{
    int64_t count[3] = {f->count[0], f->count[1], f->count[2]};
    int whole =
        w->run.prefix >= BM_CHUNK_GROUP_BITS && w->block % BM_CHUNK_GROUP == 0;

    for (int i = 0; i < BM_CHUNK_GROUP_BITS && whole; i++)
        count[w->axis[i]] *= 2;
    for (int d = 0; d < 3; d++)
        whole &= f->count[d] == (int64_t)1 << (w->run.shift[d] - f->shift[d]) &&
                 f->start[d] + ((count[d] - 1) << f->shift[d]) < o->shape[d];
    return whole;
}

static int64_t list_groups(const void *own, int64_t first, int64_t count,
                           struct bm_chunk_group *out)
{
    const struct bm_hz_blocks *o = own;
    int64_t groups = 0;
    struct walk w;

    if (count)
        walk_to(&w, o, bm_hz_blocks_block(o, first));
    for (int64_t i = 0; i < count;) {
        struct bm_chunk_group *g = &out[groups++];

        g->first = (struct bm_listed_chunk){first + i, w.block,
                                            block_at(o, &w.run, w.at)};
        g->count = 1;
        if (count - i >= BM_CHUNK_GROUP &&
            begins_group(&w, o, &g->first.footprint)) {
            g->count = BM_CHUNK_GROUP;
            w.block += BM_CHUNK_GROUP - 1;
            for (int k = 0; k < BM_CHUNK_GROUP_BITS; k++) {
                g->axis[k] = w.axis[k];
                g->step[k] = (int64_t)1 << k;
                w.at[w.axis[k]] |= w.far[k];
            }
        }
        i += g->count;
        if (i < count)
            walk_on(&w, o, first + i);
    }
    return groups;
}

static int64_t file_of(const void *own, int64_t chunk)
{
    const struct bm_hz_blocks *o = own;
    int64_t file = (int64_t)bm_hz_blocks_block(o, chunk) / o->blocks_per_file;
    size_t at = 0;

    if (o->as_blocks)
        return bm_hz_blocks_chunk(o->as_blocks, (uint64_t)file);
    if (!o->start)
        return file;
    BM_BISECT(at, (size_t)o->files, i, o->start[i] <= file);
    return (int64_t)at;
}

uint64_t bm_hz_blocks_file_start(const struct bm_hz_blocks *o, int64_t file)
{
    uint64_t number = o->as_blocks ? bm_hz_blocks_block(o->as_blocks, file)
                      : o->start   ? o->start[file]
                                   : (uint64_t)file;

    return number * (uint64_t)o->blocks_per_file;
}

/* Files are blocks in a row, the last one those that are left. */
static int64_t partition_of(const void *own, int64_t chunk)
{
    const struct bm_hz_blocks *o = own;
    uint64_t all = (uint64_t)1 << (o->hz.bits - o->block_bits);
    uint64_t block = bm_hz_blocks_block(o, chunk);
    uint64_t first = block - block % (uint64_t)o->blocks_per_file;
    uint64_t end = first + (uint64_t)o->blocks_per_file;

    return bm_hz_partition_of_blocks(o->partition_bits, first,
                                     end < all ? end : all);
}

static void meet(const void *own, const struct bm_box *box,
                 void (*each)(void *context, int64_t partition), void *context)
{
    const struct bm_hz_blocks *o = own;

    bm_hz_partition_touched(&o->hz, o->partition_bits, box, each, context);
}

struct bm_chunking bm_hz_blocks_chunking(const struct bm_hz_blocks *o)
{
    static const struct bm_chunking_functions calls = {
        .footprint = footprint,
        .touched = touched,
        .key = key_of,
        .find = find,
        .order = order,
        .list = list,
        .list_groups = list_groups,
        .file = file_of,
        .partition = partition_of,
        .meet = meet,
        .coarse_first = 1};
    int64_t partitions =
        o->partition_bits ? (int64_t)1 << o->partition_bits : 0;

    return (struct bm_chunking){&calls, o, o->count, 0, partitions};
}

/* ---- all ----------------------------------------------------------------- */

/* Blocks of so many bits, without files. */
static void count_runs(struct bm_hz_blocks *o, int block_bits)
{
    o->block_bits = block_bits;
    for (int j = 0; j <= o->hz.bits - block_bits; j++) {
        struct run r = run_of(o, j);
        struct branch b = whole_run(o, &r);

        o->first[j + 1] = o->first[j] + count_blocks(&r, &b);
    }
    o->count = o->first[o->hz.bits - block_bits + 1];
}

static int take_files_as_blocks(struct bm_hz_blocks *o)
{
    int bits = o->block_bits + __builtin_ctzll((uint64_t)o->blocks_per_file);

    o->as_blocks = bm_new(o->a, 1, sizeof(*o->as_blocks));
    if (!o->as_blocks)
        return BOUMA_ENOMEM;
    o->as_blocks->hz = o->hz;
    memcpy(o->as_blocks->shape, o->shape, sizeof(o->shape));
    memcpy(o->as_blocks->behind, o->behind, sizeof(o->behind));
    count_runs(o->as_blocks, bits < o->hz.bits ? bits : o->hz.bits);
    o->files = o->as_blocks->count;
    return BOUMA_OK;
}

/* Which of all files have chunks: from the first chunk of each to that of the
 * next, however many are between them. */
static int number_files(struct bm_hz_blocks *o, int64_t all)
{
    uint64_t blocks = (uint64_t)1 << (o->hz.bits - o->block_bits);
    int64_t most = all < o->count ? all : o->count;
    int has;

    o->start = bm_new_raw(o->a, (size_t)most, sizeof(*o->start));
    if (!o->start)
        return BOUMA_ENOMEM;
    for (int64_t chunk = 0; chunk < o->count;) {
        uint64_t file =
            bm_hz_blocks_block(o, chunk) / (uint64_t)o->blocks_per_file;
        uint64_t end = (file + 1) * (uint64_t)o->blocks_per_file;

        o->start[o->files++] = (uint32_t)file;
        chunk = end < blocks ? count_before(o, end, &has) : o->count;
    }
    return BOUMA_OK;
}

int64_t bm_hz_blocks_most_files(const struct bm_hz *hz, int block_bits,
                                int64_t blocks_per_file)
{
    int64_t blocks = (int64_t)1 << (hz->bits - block_bits);

    return (blocks - 1) / blocks_per_file + 1;
}

int bm_hz_blocks_init(struct bm_hz_blocks *o, const bouma_allocator *a,
                      const struct bm_hz *hz, const int64_t shape[3],
                      int block_bits, int64_t blocks_per_file)
{
    int runs = hz->bits - block_bits;
    int64_t all = bm_hz_blocks_most_files(hz, block_bits, blocks_per_file);

    memset(o, 0, sizeof(*o));
    o->a = a;
    o->hz = *hz;
    memcpy(o->shape, shape, sizeof(o->shape));
    o->blocks_per_file = blocks_per_file;
    for (int i = hz->bits - 1; i >= 0; i--) {
        memcpy(o->behind[i], o->behind[i + 1], sizeof(o->behind[i]));
        o->behind[i][hz->axis[i]]++;
    }
    count_runs(o, block_bits);
    for (int d = 0; d < 3; d++)
        o->span[d] = (int64_t)1 << o->behind[runs ? runs - 1 : 0][d];
    if (all > BM_HZ_MAX_FILES)
        return BOUMA_ELIMIT;
    o->files = all;
    if (is_whole(o))
        return BOUMA_OK;
    o->files = 0;
    return blocks_per_file & (blocks_per_file - 1) ? number_files(o, all)
                                                   : take_files_as_blocks(o);
}

void bm_hz_blocks_release(struct bm_hz_blocks *o)
{
    bm_drop(o->a, o->start);
    bm_drop(o->a, o->as_blocks);
    o->start = NULL;
    o->as_blocks = NULL;
}
