/* hz_order.c -- see hz_order.h.
 *
 * Samples go by tiles of up to 4 KiB: boxes of 2^k samples, with whole cache
 * lines along x. Of "zyxzyxzyxzyx" and 4 bytes a sample, a tile is 8 x 8 x 16.
 *
 *     to HZ:  rows --copy--> a tile in C order  --table--> runs
 *     back:   runs --copy--> a tile in HZ order --table--> rows
 *
 * The rows of a tile lie so far apart that they fight for the same few places of
 * the first cache, so they are copied, and the table works on what is close
 * together. The runs of a tile, 512, 256, 128, ... samples of "zyxzyxzyxzyx",
 * belong to a level each.
 *
 * - Tiles are visited along x first, as far as a page goes: each page of the rows
 *   is looked up once. Behind that they are visited on their order.
 * - What the next tile needs is fetched into the second cache meanwhile, a line
 *   for each line that is stored.
 * - Large results are stored around the caches, by whole lines: they would have
 *   to be read first, and would not stay there. */
#include "plan/hz_order.h"

#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "base/bits.h"

enum {
    LINE = 64,
    PAGE = 4096,
    TILE_BITS = 12,
    TILE_BYTES = 4096,
    AROUND_CACHES = 8 << 20, /* results of so many bytes */
    MOST_FETCHES = 8 * TILE_BYTES / LINE
};

struct tiles {
    const struct bm_hz *hz;
    const struct bm_hz_rows *rows;
    enum bm_hz_order order;
    int bits;      /* 2^bits samples are a tile */
    int part_bits; /* 2^part_bits of them follow each other in Z: a part */
    int extent[3]; /* of a tile: 2^extent samples */
    int around;    /* store around the caches */
    /* Each bit of a Z address is in one of these. Those of a tile are its
     * samples, the lowest ones of each axis. */
    uint64_t inside, along_x, outside;
    /* Of each sample in one order, its place in the other: of the runs' in the
     * tile's rows, or back. Runs are part by part, those of a part from the
     * coarsest level on. */
    uint16_t place[1 << TILE_BITS];
    _Alignas(LINE) uint8_t buffer[TILE_BYTES];
    /* Lines that the next tile needs. */
    int fetches, fetched, fetches_per_line;
    const uint8_t *fetch[MOST_FETCHES];
};

/* ---- how tiles are ------------------------------------------------------- */

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

/* Places on Z order, for all samples of a tile: the table for a bit more is the
 * table so far, and once more with that bit's step. */
static void fill_places_on_z(uint16_t *place, const struct tiles *t)
{
    int step[3] = {1 << (t->extent[2] + t->extent[1]), 1 << t->extent[2], 1};
    uint64_t left = t->inside;

    place[0] = 0;
    for (int b = 0; b < t->bits; b++, left &= left - 1) {
        int axis = t->hz->axis[t->hz->bits - 1 - __builtin_ctzll(left)];

        for (int i = 0; i < 1 << b; i++)
            place[(1 << b) + i] = (uint16_t)(place[i] + step[axis]);
        step[axis] *= 2;
    }
}

/* The same on the order of runs. */
static void fill_places_on_hz(uint16_t *place, const uint16_t *on_z,
                              const struct tiles *t)
{
    int part = 1 << t->part_bits;

    for (int first = 0; first < 1 << t->bits; first += part) {
        place[first] = on_z[first];
        /* Level by level, those with the lowest bit at the same place. */
        for (int n = part / 2, low = 1; n; n /= 2, low *= 2)
            for (int i = 0; i < n; i++)
                place[first + n + i] = on_z[first + (2 * i + 1) * low];
    }
}

static void tiles_init(struct tiles *t, const struct bm_hz *hz,
                       enum bm_hz_order order, const struct bm_hz_rows *rows)
{
    uint16_t on_z[1 << TILE_BITS];

    t->hz = hz;
    t->rows = rows;
    t->order = order;
    t->around = hz->bits >= bits_within(rows->size, AROUND_CACHES);
    t->fetches = t->fetched = t->fetches_per_line = 0;
    choose_tiles(t);
    fill_places_on_z(order == BM_ORDER_Z ? t->place : on_z, t);
    if (order == BM_ORDER_HZ)
        fill_places_on_hz(t->place, on_z, t);
}

/* From now on, the places of the rows' samples in runs. */
static void invert_places(struct tiles *t)
{
    uint16_t back[1 << TILE_BITS];
    int count = 1 << t->bits;

    for (int i = 0; i < count; i++)
        back[t->place[i]] = (uint16_t)i;
    memcpy(t->place, back, (size_t)count * sizeof(*back));
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

/* ---- fetches ------------------------------------------------------------- */

/* Some bytes in a row. */
static inline void fetches_add(struct tiles *t, const uint8_t *start,
                               size_t bytes)
{
    const uint8_t *line = start - ((uintptr_t)start & (LINE - 1));

    do {
        if (t->fetches == MOST_FETCHES)
            return;
        t->fetch[t->fetches++] = line;
        line += LINE;
    } while (line < start + bytes);
}

/* Spread over the lines of a tile. */
static void fetches_end(struct tiles *t)
{
    int lines = (int)((t->rows->size << t->bits) / LINE);

    t->fetched = 0;
    t->fetches_per_line = lines ? (t->fetches + lines - 1) / lines : 0;
}

/* The share that is due for a line. */
static inline void fetch_some(struct tiles *t)
{
    int end = t->fetched + t->fetches_per_line;

    end = end < t->fetches ? end : t->fetches;
    for (; t->fetched < end; t->fetched++)
        __builtin_prefetch(t->fetch[t->fetched], 0, 2);
}

/* ---- inner loops ---------------------------------------------------------
 * 'size' is a constant where they are called, for the usual sizes. */

#define INNER static inline __attribute__((always_inline))

/* Samples of a tile from their places. */
INNER void pick(uint8_t *out, const uint8_t *tile, const uint16_t *place,
                int count, size_t size)
{
    for (int i = 0; i < count; i++)
        memcpy(out + (size_t)i * size, tile + place[i] * size, size);
}

INNER void pick_apart(uint8_t *out, int64_t stride, const uint8_t *tile,
                      const uint16_t *place, int count, size_t size)
{
    for (int i = 0; i < count; i++)
        memcpy(out + i * stride, tile + place[i] * size, size);
}

INNER void load_apart(uint8_t *out, const uint8_t *in, int64_t stride,
                      int count, size_t size)
{
    for (int i = 0; i < count; i++)
        memcpy(out + (size_t)i * size, in + i * stride, size);
}

#if defined(__SSE2__)
INNER __m128i one_of(const uint8_t *tile, int place)
{
    int32_t sample;

    memcpy(&sample, tile + (size_t)place * 4, 4);
    return _mm_cvtsi32_si128(sample);
}

INNER __m128i four_of(const uint8_t *tile, const uint16_t *place)
{
    return _mm_unpacklo_epi64(
        _mm_unpacklo_epi32(one_of(tile, place[0]), one_of(tile, place[1])),
        _mm_unpacklo_epi32(one_of(tile, place[2]), one_of(tile, place[3])));
}

/* A line of samples, around the caches. */
INNER void pick_line_around(uint8_t *out, const uint8_t *tile,
                            const uint16_t *place, size_t size)
{
    __m128i *to = (__m128i *)(void *)out;

    if (size == 4) { /* put together in registers */
        for (int i = 0; i < 4; i++)
            _mm_stream_si128(to + i, four_of(tile, place + 4 * i));
    } else {
        __m128i line[4];

        pick((uint8_t *)line, tile, place, (int)(LINE / size), size);
        for (int i = 0; i < 4; i++)
            _mm_stream_si128(to + i, line[i]);
    }
}
#endif

/* A run or a row of samples that lie side by side. */
INNER void pick_lines(uint8_t *out, struct tiles *t, const uint16_t *place,
                      int count, size_t size)
{
    const int per_line = size < LINE ? (int)(LINE / size) : 1;
    int i = 0;

#if defined(__SSE2__)
    uintptr_t head = -(uintptr_t)out & (LINE - 1);

    if (t->around && LINE % size == 0 && head % size == 0 &&
        (int)(head / size) < count) {
        pick(out, t->buffer, place, (int)(head / size), size);
        for (i = (int)(head / size); i + per_line <= count; i += per_line) {
            pick_line_around(out + (size_t)i * size, t->buffer, place + i,
                             size);
            fetch_some(t);
        }
    }
#endif
    for (; i + per_line <= count; i += per_line) {
        pick(out + (size_t)i * size, t->buffer, place + i, per_line, size);
        fetch_some(t);
    }
    pick(out + (size_t)i * size, t->buffer, place + i, count - i, size);
}

/* ---- rows of a tile ------------------------------------------------------ */

static uint8_t *tile_start(const struct tiles *t, uint64_t z)
{
    uint8_t *data = t->rows->data;
    int64_t at[3];

    bm_hz_index_of(t->hz, z, at);
    for (int d = 0; d < 3; d++)
        data += at[d] * t->rows->stride[d];
    return data;
}

INNER void get_rows(struct tiles *t, uint64_t z, size_t size)
{
    const int64_t *stride = t->rows->stride;
    const uint8_t *slab = tile_start(t, z);
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

INNER void put_rows(struct tiles *t, uint64_t z, size_t size)
{
    const int64_t *stride = t->rows->stride;
    uint8_t *slab = tile_start(t, z);
    const uint16_t *place = t->place;
    int count = 1 << t->extent[2];

    for (int i = 0; i < 1 << t->extent[0]; i++, slab += stride[0]) {
        uint8_t *row = slab;

        for (int j = 0; j < 1 << t->extent[1]; j++, row += stride[1]) {
            if (stride[2] != (int64_t)size) {
                pick_apart(row, stride[2], t->buffer, place, count, size);
                fetch_some(t);
            } else {
                pick_lines(row, t, place, count, size);
            }
            place += count;
        }
    }
}

static void fetch_rows(struct tiles *t, uint64_t z)
{
    const int64_t *stride = t->rows->stride;
    const uint8_t *slab = tile_start(t, z);
    int64_t span = stride[2] * ((1 << t->extent[2]) - 1);
    size_t bytes = (size_t)(span < 0 ? -span : span) + t->rows->size;

    slab += span < 0 ? span : 0;
    for (int i = 0; i < 1 << t->extent[0]; i++, slab += stride[0]) {
        const uint8_t *row = slab;

        for (int j = 0; j < 1 << t->extent[1]; j++, row += stride[1])
            fetches_add(t, row, bytes);
    }
}

/* Whether they begin with lines, so that tiles have no parts of lines. */
static int rows_are_lines(const struct bm_hz_rows *rows)
{
    return (((uintptr_t)rows->data | (uintptr_t)rows->stride[0] |
             (uintptr_t)rows->stride[1]) &
            (LINE - 1)) == 0;
}

/* ---- runs of a tile ------------------------------------------------------ */

/* Samples of a tile that follow each other in the order, at this address; the
 * first one is number 'from' of the tile. */
struct run {
    int from, count;
    uint64_t address;
};

/* The runs of a part that begins at a Z address, the longest first; returns
 * their number. */
static int find_runs(struct run runs[TILE_BITS + 1], const struct tiles *t,
                     uint64_t z, int from)
{
    uint64_t guarded = z | (uint64_t)1 << t->hz->bits;
    int p = 0;

    if (t->order == BM_ORDER_Z) {
        runs[0] = (struct run){from, 1 << t->part_bits, z};
        return 1;
    }
    for (int n = (1 << t->part_bits) / 2; n; n /= 2, p++)
        runs[p] =
            (struct run){from + n, n, (guarded | (uint64_t)1 << p) >> (p + 1)};
    runs[p] = (struct run){from, 1, bm_hz_of_z(t->hz, z)};
    return p + 1;
}

/* The runs of part 'k' of a tile: its bits are the tile's highest, of x. */
static int find_part_runs(struct run runs[TILE_BITS + 1], const struct tiles *t,
                          uint64_t z, int k)
{
    uint64_t high = t->inside & ~bm_bits_low(t->part_bits);

    if (k)
        z |= bm_bits_spread((uint64_t)k, high);
    return find_runs(runs, t, z, k << t->part_bits);
}

INNER void put_runs(uint8_t *out, struct tiles *t, uint64_t z, size_t size)
{
    for (int k = 0; k < 1 << (t->bits - t->part_bits); k++) {
        struct run runs[TILE_BITS + 1];
        int count = find_part_runs(runs, t, z, k);

        for (int r = 0; r < count; r++)
            pick_lines(out + runs[r].address * size, t, t->place + runs[r].from,
                       runs[r].count, size);
    }
}

static void get_runs(struct tiles *t, const uint8_t *in, uint64_t z)
{
    size_t size = t->rows->size;

    for (int k = 0; k < 1 << (t->bits - t->part_bits); k++) {
        struct run runs[TILE_BITS + 1];
        int count = find_part_runs(runs, t, z, k);

        for (int r = 0; r < count; r++)
            memcpy(t->buffer + (size_t)runs[r].from * size,
                   in + runs[r].address * size, (size_t)runs[r].count * size);
    }
}

/* All lines, or those that are stored in part: they are read first. */
static void fetch_runs(struct tiles *t, const uint8_t *data, uint64_t z,
                       int partial)
{
    size_t size = t->rows->size;

    for (int k = 0; k < 1 << (t->bits - t->part_bits); k++) {
        struct run runs[TILE_BITS + 1];
        int count = find_part_runs(runs, t, z, k);

        for (int r = 0; r < count; r++) {
            const uint8_t *run = data + runs[r].address * size;
            size_t bytes = (size_t)runs[r].count * size;

            if (!partial || bytes < LINE) {
                fetches_add(t, run, bytes);
            } else if ((uintptr_t)run & (LINE - 1)) {
                fetches_add(t, run, 1);
                fetches_add(t, run + bytes - 1, 1);
            }
        }
    }
}

/* ---- both ways ----------------------------------------------------------- */

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
    uint64_t z = 0, next;

    do {
        next = next_tile(t, z);
        t->fetches = 0;
        fetch_rows(t, next);
        if (t->around)
            fetch_runs(t, out, next, 1);
        fetches_end(t);
        get_rows(t, z, size);
        put_runs(out, t, z, size);
        z = next;
    } while (z);
}

INNER void unpack_tiles(struct tiles *t, const uint8_t *in, size_t size)
{
    int partial = t->around && !rows_are_lines(t->rows);
    uint64_t z = 0, next;

    t->around = t->around && !partial;

    do {
        next = next_tile(t, z);
        t->fetches = 0;
        fetch_runs(t, in, next, 0);
        if (partial)
            fetch_rows(t, next);
        fetches_end(t);
        get_runs(t, in, z);
        put_rows(t, z, size);
        z = next;
    } while (z);
}

/* Stores around the caches come before those that follow. */
static void finish_around(void)
{
#if defined(__SSE2__)
    _mm_sfence();
#endif
}

void bm_hz_pack(uint8_t *out, const struct bm_hz *hz, enum bm_hz_order order,
                const struct bm_hz_rows *rows)
{
    struct tiles t;

    tiles_init(&t, hz, order, rows);
#define PACK(n) pack_tiles(out, &t, n)
    FOR_SIZE(rows->size, PACK)
#undef PACK
    finish_around();
}

void bm_hz_unpack(const struct bm_hz_rows *rows, const struct bm_hz *hz,
                  enum bm_hz_order order, const uint8_t *in)
{
    struct tiles t;

    tiles_init(&t, hz, order, rows);
    invert_places(&t);
#define UNPACK(n) unpack_tiles(&t, in, n)
    FOR_SIZE(rows->size, UNPACK)
#undef UNPACK
    finish_around();
}
