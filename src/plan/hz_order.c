/* hz_order.c -- see hz_order.h.
 *
 * Samples go by tiles of up to 4 KiB: boxes of 2^k samples, with whole cache
 * lines along x. Of "zyxzyxzyxzyx" and 4 bytes a sample, a tile is 8 x 8 x 16.
 *
 *     to HZ:  rows --copy--> a tile in C order  --table--> runs
 *     back:   runs --copy--> a tile in HZ order --table--> rows
 *
 * The rows of a tile lie so far apart that they fight for the same few slots
 * of the first cache, so they are copied, and the table works on what is close
 * together. The runs of a tile, 512, 256, 128, ... samples of "zyxzyxzyxzyx",
 * belong to a level each.
 *
 * - Tiles are visited along x first, as far as a page goes: each page of the
 *   rows is looked up once. Behind that they are visited on their order.
 * - The lines that the next tile reads and writes are fetched into the second
 *   cache meanwhile, some for each line that is stored.
 * - Stores go through the caches. Stores around them were no faster where this
 *   was measured (one core of Zen 4), and they need whole lines. */
#include "plan/hz_order.h"

#include <string.h>

#include "base/bits.h"

enum {
    LINE = 64,
    PAGE = 4096,
    TILE_BITS = 12,
    TILE_BYTES = 4096,
    MOST_FETCHES = 512,
    MOST_RUNS = 448 /* of 64 parts of 64 samples, which are the most */
};

/* Samples of a tile that follow each other in the order, at this address; the
 * first one is number 'from' of the tile. */
struct run {
    int from, count;
    uint64_t address;
};

struct tile {
    uint64_t z;     /* of its first sample */
    uint8_t *start; /* where that is in the rows */
    int runs;
    struct run run[MOST_RUNS];
};

/* Lines of the next tile: of its rows, which are the same for all tiles but
 * for their start, and of its runs. Some are due for each line that is
 * stored. */
struct fetches {
    const uint8_t *start;
    int64_t row[MOST_FETCHES]; /* bytes behind the start */
    const uint8_t *run[MOST_FETCHES];
    int rows, rows_done, rows_due;
    int runs, runs_done, runs_due;
};

struct tiles {
    const struct bm_hz *hz;
    const struct bm_hz_rows *rows;
    enum bm_hz_order order;
    int bits;      /* 2^bits samples are a tile */
    int part_bits; /* 2^part_bits of them follow each other in Z: a part */
    int extent[3]; /* of a tile: 2^extent samples */
    int at_lines;  /* each tile's rows begin with a line */
    /* Each bit of a Z address is in one of these. Those of a tile are its
     * samples, the lowest ones of each axis. */
    uint64_t inside, along_x, outside;
    /* Of each sample in one order, its position in the other: of the runs' in
     * the tile's rows, or back. Runs are part by part, those of a part from the
     * coarsest level on. */
    uint16_t slot[1 << TILE_BITS];
    _Alignas(LINE) uint8_t buffer[TILE_BYTES];
    struct tile tile[2]; /* this one and the next, by turns */
    struct fetches fetches;
};

/* ---- how tiles are ------------------------------------------------------ */

/* The largest b with 'size' 2^b no more than 'bytes', which is no less. */
static int bits_within(size_t size, size_t bytes)
{
    return bm_bits_length(bytes / size) - 1;
}

/* The lowest 'n' bits of a mask, or all. */
static uint64_t lowest(uint64_t mask, int n)
{
    return n < bm_bits_count(mask) ? bm_bits_spread(bm_bits_low(n), mask)
                                   : mask;
}

/* Whole lines along x, and the rest of a tile from the finest characters. */
static void choose_tiles(struct tiles *t)
{
    const struct bm_hz *hz = t->hz;
    size_t size = t->rows->size;
    uint64_t all = bm_bits_low(hz->bits), x = hz->mask[2];
    int most = bits_within(size, TILE_BYTES);

    t->bits = hz->bits < most ? hz->bits : most;
    t->bits = t->bits < TILE_BITS ? t->bits : TILE_BITS;
    t->inside = lowest(x, bm_bits_length((LINE - 1) / size));
    t->inside = lowest(t->inside, t->bits);
    t->inside |= lowest(all & ~t->inside, t->bits - bm_bits_count(t->inside));
    t->along_x = lowest(x, bits_within(size, PAGE)) & ~t->inside;
    t->outside = all & ~t->inside & ~t->along_x;
    t->part_bits = __builtin_ctzll(~t->inside);
    for (int d = 0; d < 3; d++)
        t->extent[d] = bm_bits_count(hz->mask[d] & t->inside);
}

/* Slots on Z order, for all samples of a tile: the table for a bit more is
 * the table so far, and once more with that bit's step. */
static void fill_slots_on_z(uint16_t *slot, const struct tiles *t)
{
    int step[3] = {1 << (t->extent[2] + t->extent[1]), 1 << t->extent[2], 1};
    uint64_t left = t->inside;

    slot[0] = 0;
    for (int b = 0; b < t->bits; b++, left &= left - 1) {
        int axis = t->hz->axis[t->hz->bits - 1 - __builtin_ctzll(left)];

        for (int i = 0; i < 1 << b; i++)
            slot[(1 << b) + i] = (uint16_t)(slot[i] + step[axis]);
        step[axis] *= 2;
    }
}

/* The same on the order of runs. */
static void fill_slots_on_hz(uint16_t *slot, const uint16_t *on_z,
                             const struct tiles *t)
{
    int part = 1 << t->part_bits;

    for (int first = 0; first < 1 << t->bits; first += part) {
        slot[first] = on_z[first];
        /* Level by level, those with the lowest bit at the same position. */
        for (int n = part / 2, low = 1; n; n /= 2, low *= 2)
            for (int i = 0; i < n; i++)
                slot[first + n + i] = on_z[first + (2 * i + 1) * low];
    }
}

static void tiles_init(struct tiles *t, const struct bm_hz *hz,
                       enum bm_hz_order order, const struct bm_hz_rows *rows)
{
    uint16_t on_z[1 << TILE_BITS];

    t->hz = hz;
    t->rows = rows;
    t->order = order;
    t->fetches.rows = t->fetches.runs = 0;
    t->at_lines = (((uintptr_t)rows->data | (uintptr_t)rows->stride[0] |
                    (uintptr_t)rows->stride[1]) &
                   (LINE - 1)) == 0;
    choose_tiles(t);
    fill_slots_on_z(order == BM_ORDER_Z ? t->slot : on_z, t);
    if (order == BM_ORDER_HZ)
        fill_slots_on_hz(t->slot, on_z, t);
}

/* From now on, the slots of the rows' samples in runs. */
static void invert_slots(struct tiles *t)
{
    uint16_t back[1 << TILE_BITS];
    int count = 1 << t->bits;

    for (int i = 0; i < count; i++)
        back[t->slot[i]] = (uint16_t)i;
    memcpy(t->slot, back, (size_t)count * sizeof(*back));
}

/* The Z address of the next tile, 0 behind the last. */
static uint64_t next_tile(const struct tiles *t, uint64_t z)
{
    uint64_t along = ((z & t->along_x) - t->along_x) & t->along_x;
    uint64_t beyond = z & t->outside;

    if (!along)
        beyond = (beyond - t->outside) & t->outside;
    return along | beyond;
}

/* The runs of a part that begins at a Z address, the longest first. */
static void add_runs(struct tile *tile, const struct tiles *t, uint64_t z,
                     int from)
{
    uint64_t guarded = z | (uint64_t)1 << t->hz->bits;
    struct run *run = tile->run + tile->runs;
    int p = 0;

    if (t->order == BM_ORDER_Z) {
        *run = (struct run){from, 1 << t->part_bits, z};
        tile->runs++;
        return;
    }
    for (int n = (1 << t->part_bits) / 2; n; n /= 2, p++)
        *run++ =
            (struct run){from + n, n, (guarded | (uint64_t)1 << p) >> (p + 1)};
    *run = (struct run){from, 1, bm_hz_of_z(t->hz, z)};
    tile->runs += p + 1;
}

static void find_tile(struct tile *tile, const struct tiles *t, uint64_t z)
{
    uint64_t parts = t->inside & ~bm_bits_low(t->part_bits), part = 0;
    int64_t at[3];
    int from = 0;

    tile->z = z;
    tile->start = t->rows->data;
    bm_hz_index_of(t->hz, z, at);
    for (int d = 0; d < 3; d++)
        tile->start += at[d] * t->rows->stride[d];
    tile->runs = 0;
    do {
        add_runs(tile, t, z | part, from);
        from += 1 << t->part_bits;
        part = (part - parts) & parts;
    } while (part);
}

/* ---- fetches ------------------------------------------------------------ */

/* The lines of a row: at its samples, if these are further apart, and the last
 * one, which is another if the row does not begin with a line. */
static void fetch_row(struct tiles *t, int64_t row)
{
    int64_t stride = t->rows->stride[2], apart = stride < 0 ? -stride : stride;
    int64_t span = apart * ((1 << t->extent[2]) - 1);
    int64_t lo = stride < 0 ? -span : 0,
            last = span + (int64_t)t->rows->size - 1;
    struct fetches *f = &t->fetches;

    for (int64_t at = 0; at <= last; at += apart > LINE ? apart : LINE)
        if (f->rows < MOST_FETCHES)
            f->row[f->rows++] = row + lo + at;
    if (!t->at_lines && f->rows < MOST_FETCHES)
        f->row[f->rows++] = row + lo + last;
}

/* Of all rows of a tile, once for all tiles. */
static void fetch_rows(struct tiles *t)
{
    for (int i = 0; i < 1 << t->extent[0]; i++)
        for (int j = 0; j < 1 << t->extent[1]; j++)
            fetch_row(t, i * t->rows->stride[0] + j * t->rows->stride[1]);
}

/* The lines of a tile's runs. */
static void fetch_runs(struct tiles *t, const uint8_t *data,
                       const struct tile *tile)
{
    struct fetches *f = &t->fetches;
    size_t size = t->rows->size;

    f->runs = 0;
    for (int r = 0; r < tile->runs; r++) {
        const uint8_t *run = data + tile->run[r].address * size;
        size_t before = (uintptr_t)run & (LINE - 1);
        size_t bytes = (size_t)tile->run[r].count * size + before;

        for (size_t i = 0; i < bytes && f->runs < MOST_FETCHES; i += LINE)
            f->run[f->runs++] = run + (i ? i - before : 0);
    }
}

/* They are spread over the lines of this tile. */
static void begin_fetches(struct tiles *t, const struct tile *next)
{
    struct fetches *f = &t->fetches;
    int lines = (int)((t->rows->size << t->bits) / LINE);

    f->start = next->start;
    f->rows_done = f->runs_done = 0;
    f->rows_due = lines ? (f->rows + lines - 1) / lines : 0;
    f->runs_due = lines ? (f->runs + lines - 1) / lines : 0;
}

/* Those that are due for a line. */
static inline void fetch_due(struct fetches *f)
{
    for (int i = 0; i < f->rows_due && f->rows_done < f->rows; i++)
        __builtin_prefetch(f->start + f->row[f->rows_done++], 0, 2);
    for (int i = 0; i < f->runs_due && f->runs_done < f->runs; i++)
        __builtin_prefetch(f->run[f->runs_done++], 0, 2);
}

/* ---- inner loops ---------------------------------------------------------
 * 'size' is a constant where they are called, for the usual sizes. */

#define INNER static inline __attribute__((always_inline))

/* Samples of a tile from their slots. */
INNER void pick(uint8_t *out, const uint8_t *tile, const uint16_t *slot,
                int count, size_t size)
{
    for (int i = 0; i < count; i++)
        memcpy(out + (size_t)i * size, tile + slot[i] * size, size);
}

INNER void pick_apart(uint8_t *out, int64_t stride, const uint8_t *tile,
                      const uint16_t *slot, int count, size_t size)
{
    for (int i = 0; i < count; i++)
        memcpy(out + i * stride, tile + slot[i] * size, size);
}

INNER void load_apart(uint8_t *out, const uint8_t *in, int64_t stride,
                      int count, size_t size)
{
    for (int i = 0; i < count; i++)
        memcpy(out + (size_t)i * size, in + i * stride, size);
}

/* A run or a row of samples that lie side by side. */
INNER void pick_lines(uint8_t *out, struct tiles *t, const uint16_t *slot,
                      int count, size_t size)
{
    const int per_line = size < LINE ? (int)(LINE / size) : 1;
    int i = 0;

    for (; i + per_line <= count; i += per_line) {
        pick(out + (size_t)i * size, t->buffer, slot + i, per_line, size);
        fetch_due(&t->fetches);
    }
    pick(out + (size_t)i * size, t->buffer, slot + i, count - i, size);
}

/* ---- parts of tiles ----------------------------------------------------- */

INNER void get_rows(struct tiles *t, const struct tile *tile, size_t size)
{
    const int64_t *stride = t->rows->stride;
    const uint8_t *slab = tile->start;
    int count = 1 << t->extent[2];
    size_t bytes = size << t->extent[2];
    uint8_t *out = t->buffer;

    for (int i = 0; i < 1 << t->extent[0]; i++, slab += stride[0]) {
        const uint8_t *row = slab;

        for (int j = 0; j < 1 << t->extent[1]; j++, row += stride[1]) {
            if (stride[2] != (int64_t)size)
                load_apart(out, row, stride[2], count, size);
            else if (bytes == LINE)
                memcpy(out, row, LINE);
            else
                memcpy(out, row, bytes);
            out += bytes;
        }
    }
}

INNER void put_rows(struct tiles *t, const struct tile *tile, size_t size)
{
    const int64_t *stride = t->rows->stride;
    const uint16_t *slot = t->slot;
    uint8_t *slab = tile->start;
    int count = 1 << t->extent[2];

    for (int i = 0; i < 1 << t->extent[0]; i++, slab += stride[0]) {
        uint8_t *row = slab;

        for (int j = 0; j < 1 << t->extent[1]; j++, row += stride[1]) {
            if (stride[2] != (int64_t)size) {
                pick_apart(row, stride[2], t->buffer, slot, count, size);
                fetch_due(&t->fetches);
            } else {
                pick_lines(row, t, slot, count, size);
            }
            slot += count;
        }
    }
}

static void get_runs(struct tiles *t, const struct tile *tile,
                     const uint8_t *in)
{
    size_t size = t->rows->size;

    for (int r = 0; r < tile->runs; r++)
        memcpy(t->buffer + (size_t)tile->run[r].from * size,
               in + tile->run[r].address * size,
               (size_t)tile->run[r].count * size);
}

INNER void put_runs(uint8_t *out, struct tiles *t, const struct tile *tile,
                    size_t size)
{
    for (int r = 0; r < tile->runs; r++)
        pick_lines(out + tile->run[r].address * size, t,
                   t->slot + tile->run[r].from, tile->run[r].count, size);
}

/* ---- both ways ---------------------------------------------------------- */

/* Call something with the size as a constant. */
#define FOR_SIZE(size, call)                                                   \
    switch (size) {                                                            \
    case 1:                                                                    \
        call(1);                                                               \
        break;                                                                 \
    case 2:                                                                    \
        call(2);                                                               \
        break;                                                                 \
    case 4:                                                                    \
        call(4);                                                               \
        break;                                                                 \
    case 8:                                                                    \
        call(8);                                                               \
        break;                                                                 \
    case 12:                                                                   \
        call(12);                                                              \
        break;                                                                 \
    case 16:                                                                   \
        call(16);                                                              \
        break;                                                                 \
    case 24:                                                                   \
        call(24);                                                              \
        break;                                                                 \
    default:                                                                   \
        call(size);                                                            \
    }

INNER void pack_tiles(uint8_t *out, struct tiles *t, size_t size)
{
    struct tile *now = &t->tile[0], *next = &t->tile[1], *swap;

    fetch_rows(t);
    find_tile(now, t, 0);
    do {
        find_tile(next, t, next_tile(t, now->z));
        fetch_runs(t, out, next);
        begin_fetches(t, next);
        get_rows(t, now, size);
        put_runs(out, t, now, size);
        swap = now;
        now = next;
        next = swap;
    } while (now->z);
}

INNER void unpack_tiles(struct tiles *t, const uint8_t *in, size_t size)
{
    struct tile *now = &t->tile[0], *next = &t->tile[1], *swap;

    fetch_rows(t);
    find_tile(now, t, 0);
    do {
        find_tile(next, t, next_tile(t, now->z));
        fetch_runs(t, in, next);
        begin_fetches(t, next);
        get_runs(t, now, in);
        put_rows(t, now, size);
        swap = now;
        now = next;
        next = swap;
    } while (now->z);
}

void bm_hz_pack(uint8_t *out, const struct bm_hz *hz, enum bm_hz_order order,
                const struct bm_hz_rows *rows)
{
    struct tiles t;

    tiles_init(&t, hz, order, rows);
#define PACK(n) pack_tiles(out, &t, n)
    FOR_SIZE(rows->size, PACK)
#undef PACK
}

void bm_hz_unpack(const struct bm_hz_rows *rows, const struct bm_hz *hz,
                  enum bm_hz_order order, const uint8_t *in)
{
    struct tiles t;

    tiles_init(&t, hz, order, rows);
    invert_slots(&t);
#define UNPACK(n) unpack_tiles(&t, in, n)
    FOR_SIZE(rows->size, UNPACK)
#undef UNPACK
}
