/* quantise.c -- see quantise.h; the bytes are described in docs/format.md. */
#include "codec/quantise.h"

#include <math.h>
#include <string.h>

#include "codec/clones.h"

/* ---- steps -------------------------------------------------------------- */

/* Products of these and a step of four bits have as many bits as the type. */
#define LIMIT_F32 0x1p20
#define LIMIT_F64 0x1p49

struct bm_quantum bm_quantum_of(bouma_type type, double bound)
{
    const double least = type == BOUMA_TYPE_F32 ? 0x1p-100 : 0x1p-900;
    const double most = type == BOUMA_TYPE_F32 ? 0x1p100 : 0x1p900;
    struct bm_quantum q = {0, 0,
                           type == BOUMA_TYPE_F32 ? LIMIT_F32 : LIMIT_F64};
    int exponent;

    if (!(bound >= least))
        return q;
    q.step = frexp(bound < most ? bound : most, &exponent);
    q.step = ldexp(floor(q.step * 16), exponent - 3);
    q.inverse = 1 / q.step;
    return q;
}

/* To the nearest integer, for magnitudes below 2^51. */
static inline double nearest(double r)
{
    return (r + 0x1.8p52) - 0x1.8p52;
}

/* ---- rounding ----------------------------------------------------------- */

#define LANES 8

/* The quotient has an error of up to 1/8 with the largest integers, so the
 * nearest multiple may be the next one. Differences to multiples that are so
 * near are exact, and so are these. */
#define ROUND(ctype)                                                           \
    static inline void lanes_##ctype(ctype *v, const struct bm_quantum *q,     \
                                     double *most, double *squares)            \
    {                                                                          \
        const double step = q->step, half = step / 2, limit = q->limit;        \
                                                                               \
        for (int j = 0; j < LANES; j++) {                                      \
            double x = (double)v[j], k = nearest(x * q->inverse);              \
            double d = x - k * step, y;                                        \
                                                                               \
            k += d > half ? 1.0 : 0.0;                                         \
            k -= d < -half ? 1.0 : 0.0;                                        \
            y = k * step;                                                      \
            d = fabs(k) <= limit ? fabs(x - y) : 0; /* not with NaN */         \
            v[j] = fabs(k) <= limit ? (ctype)y : v[j];                         \
            most[j] = d > most[j] ? d : most[j];                               \
            squares[j] += d * d;                                               \
        }                                                                      \
    }                                                                          \
                                                                               \
    BM_CLONES static void round_##ctype(ctype *v, size_t n,                    \
                                        const struct bm_quantum *quantum,      \
                                        struct bm_loss *loss)                  \
    {                                                                          \
        const struct bm_quantum q = *quantum;                                  \
        double most[LANES] = {0}, squares[LANES] = {0};                        \
        ctype rest[LANES] = {0};                                               \
        size_t i = 0;                                                          \
                                                                               \
        for (; i + LANES <= n; i += LANES)                                     \
            lanes_##ctype(v + i, &q, most, squares);                           \
        memcpy(rest, v + i, (n - i) * sizeof(ctype));                          \
        lanes_##ctype(rest, &q, most, squares);                                \
        memcpy(v + i, rest, (n - i) * sizeof(ctype));                          \
        for (int j = 0; j < LANES; j++) {                                      \
            loss->squares += squares[j];                                       \
            if (most[j] > loss->largest)                                       \
                loss->largest = most[j];                                       \
        }                                                                      \
    }

ROUND(float)
ROUND(double)

void bm_quantise(bouma_type type, void *values, size_t count, double bound,
                 struct bm_loss *loss)
{
    struct bm_quantum q = bm_quantum_of(type, bound);

    if (!(q.step > 0) || !count)
        return;
    if (type == BOUMA_TYPE_F32)
        round_float(values, count, &q, loss);
    else
        round_double(values, count, &q, loss);
}

/* ---- integers ----------------------------------------------------------- */

/* A part, that is one component, begins with a byte: */
enum {
    PART_PLAIN = 0,   /* all values as they are */
    PART_BYTES = 1,   /* folded differences of a byte each */
    PART_GOLOMB = 2,  /* and above: as Golomb numbers of this order and above */
    MOST_ORDER = 50,  /* of these */
    PART_KEPT = 0x80, /* a flag: some values are kept as they are */
};

/* What a component is made of. */
struct part {
    uint64_t *folded; /* [integers]; differences, the first one from 0 */
    size_t integers;
    uint32_t *where; /* [kept] */
    uint8_t *values; /* [kept] */
    size_t kept;
    size_t size; /* of a value */
};

/* 0, 1, -1, 2, -2, ... become 0, 1, 2, 3, 4, ...; without a branch, as signs
 * cannot be foreseen. */
static inline uint64_t fold(int64_t v)
{
    uint64_t negative = 0 - (uint64_t)v;

    return negative << 1 ^ (0 - (negative >> 63));
}

static inline int64_t unfold(uint64_t u)
{
    return -(int64_t)(u >> 1 ^ (0 - (u & 1)));
}

/* Memory for a component of 'count' values; 0 if there is none. */
static int part_init(struct part *p, struct bm_codec_state *state, size_t count,
                     size_t size)
{
    uint8_t *work = bm_codec_work(
        state, count * (sizeof(*p->folded) + size + sizeof(*p->where)));

    if (!work)
        return 0;
    p->folded = (uint64_t *)(void *)work;
    work += count * sizeof(*p->folded);
    p->values = work;
    p->where = (uint32_t *)(void *)(work + count * size);
    p->integers = p->kept = 0;
    p->size = size;
    return 1;
}

/* Value i as an integer, or 0 if it is none. */
static inline int integer_at(int64_t *out, const struct bm_quantum *q,
                             bouma_type type, const void *values, size_t i)
{
    double k;

    if (type == BOUMA_TYPE_F32) {
        float v = ((const float *)values)[i], again;

        k = nearest((double)v * q->inverse);
        again = (float)(k * q->step);
        if (!(fabs(k) <= q->limit) || memcmp(&v, &again, sizeof(v)))
            return 0;
    } else {
        double v = ((const double *)values)[i], again;

        k = nearest(v * q->inverse);
        again = k * q->step;
        if (!(fabs(k) <= q->limit) || memcmp(&v, &again, sizeof(v)))
            return 0;
    }
    *out = (int64_t)k;
    return 1;
}

static void take_apart(struct part *p, const struct bm_quantum *q,
                       const struct bm_list *list, const uint8_t *values)
{
    int64_t k, before = 0;

    for (size_t i = 0; i < list->count; i++)
        if (integer_at(&k, q, list->type, values, i)) {
            p->folded[p->integers++] = fold(k - before);
            before = k;
        } else {
            p->where[p->kept] = (uint32_t)i;
            memcpy(p->values + p->kept * p->size, values + i * p->size,
                   p->size);
            p->kept++;
        }
}

/* ---- Golomb numbers ----------------------------------------------------- */

static int floor_log2(uint64_t v)
{
    return 63 - __builtin_clzll(v);
}

static uint64_t golomb_bits(const uint64_t *v, size_t n, size_t every, int k)
{
    uint64_t bits = 0;

    for (size_t i = 0; i < n; i += every)
        bits += (uint64_t)(2 * floor_log2(v[i] + ((uint64_t)1 << k)) - k + 1);
    return bits;
}

/* The order that takes the fewest bits, by some of the numbers: from that of
 * the mean, up or down as long as it gets better. */
static int best_order(const uint64_t *v, size_t n)
{
    size_t every = n / 256 + 1, some = 0;
    uint64_t least;
    double sum = 0;
    int best;

    for (size_t i = 0; i < n; i += every, some++)
        sum += (double)v[i];
    best = some ? floor_log2((uint64_t)(sum / (double)some) + 1) : 0;
    best = best < MOST_ORDER ? best : MOST_ORDER;
    least = golomb_bits(v, n, every, best);
    for (int step = -1; step <= 1; step += 2)
        for (int k = best + step; k >= 0 && k <= MOST_ORDER; k += step) {
            uint64_t bits = golomb_bits(v, n, every, k);

            if (bits >= least)
                break;
            least = bits;
            best = k;
        }
    return best;
}

/* Bits that gather, the lowest first; whole bytes of them are final. */
struct bits_out {
    uint8_t *p;
    uint64_t held;
    int count;
};

/* At most 56. */
static inline void push(struct bits_out *b, uint64_t value, int bits)
{
    b->held |= value << b->count;
    b->count += bits;
    bm_store_u64(b->p, b->held);
    b->p += b->count >> 3;
    b->held >>= b->count & ~7;
    b->count &= 7;
}

/* As bm_golomb_put(), for numbers up to 2^51; 'bits' are those of all. */
static void put_golomb(struct bm_buffer *out, const uint64_t *v, size_t n,
                       int k, uint64_t bits)
{
    /* What is pushed is stored as 8 bytes. */
    struct bits_out b = {bm_buffer_extend(out, (size_t)(bits + 7) / 8 + 8), 0,
                         0};

    if (!b.p)
        return;
    out->size -= 8;
    for (size_t i = 0; i < n; i++) {
        uint64_t all = v[i] + ((uint64_t)1 << k);
        int length = floor_log2(all), ones = length - k;
        uint64_t head = ((uint64_t)1 << ones) - 1;
        uint64_t low = all ^ ((uint64_t)1 << length);

        if (ones + 1 + length <= 56) {
            push(&b, head | low << (ones + 1), ones + 1 + length);
        } else {
            push(&b, head, ones + 1);
            push(&b, low, length);
        }
    }
}

/* 57 bits or more from bit 'at' on; past the end come zeros. */
static inline uint64_t bits_at(const uint8_t *in, size_t bytes, size_t at)
{
    uint64_t word = 0;

    if (at / 8 + 8 <= bytes)
        word = bm_load_u64(in + at / 8);
    else
        for (size_t i = at / 8; i < bytes; i++)
            word |= (uint64_t)in[i] << (8 * (i - at / 8));
    return word >> (at & 7);
}

/* n numbers from exactly these bytes. */
static int get_golomb(uint64_t *v, size_t n, int k, const uint8_t *in,
                      size_t bytes)
{
    size_t at = 0;

    for (size_t i = 0; i < n; i++) {
        uint64_t word = bits_at(in, bytes, at);
        int ones = __builtin_ctzll(~word | (uint64_t)1 << 63);
        int length = k + ones;

        if (length > MOST_ORDER + 1 || at >= 8 * bytes)
            return BOUMA_EFORMAT;
        at += (size_t)ones + 1;
        word = ones + 1 + length <= 57 ? word >> (ones + 1)
                                       : bits_at(in, bytes, at);
        at += (size_t)length;
        v[i] = (word & (((uint64_t)1 << length) - 1)) +
               ((uint64_t)1 << length) - ((uint64_t)1 << k);
    }
    if ((at + 7) / 8 != bytes || (at & 7 && in[bytes - 1] >> (at & 7)))
        return BOUMA_EFORMAT;
    return BOUMA_OK;
}

/* ---- encoding ----------------------------------------------------------- */

/* Packed values, and before them the number of their bytes. */
static int put_packed(struct bm_codec_state *state, struct bm_buffer *out,
                      const void *values, size_t count, size_t size)
{
    size_t at = out->size;
    int rc;

    bm_put_u32(out, 0);
    rc = bm_zstd_pack(state, out, values, count, size);
    if (rc || out->failed)
        return BOUMA_ENOMEM;
    bm_store_u32(out->data + at, (uint32_t)(out->size - at - 4));
    return BOUMA_OK;
}

/* Where the kept values are: how many lie between them. */
static int put_kept(struct bm_codec_state *state, struct bm_buffer *out,
                    const struct part *p)
{
    uint32_t next = 0;

    bm_put_varint(out, p->kept);
    for (size_t i = 0; i < p->kept; i++) {
        bm_put_varint(out, p->where[i] - next);
        next = p->where[i] + 1;
    }
    return put_packed(state, out, p->values, p->kept, p->size);
}

/* With few bits for each there may be repetitions, which zstd finds; a Golomb
 * number has one bit at least. 'at' is where these are. */
static int put_bytes(struct bm_codec_state *state, struct bm_buffer *out,
                     struct part *p, size_t begin, size_t at)
{
    const uint64_t *v = p->folded + 1;
    uint8_t *bytes = (uint8_t *)p->folded; /* never ahead of what is read */
    size_t n = p->integers - 1, end = out->size;
    uint64_t all = 0;
    int rc;

    for (size_t i = 0; i < n; i++)
        all |= v[i];
    if (all > UINT8_MAX)
        return BOUMA_OK;
    for (size_t i = 0; i < n; i++)
        bytes[i] = (uint8_t)v[i];
    rc = bm_zstd_pack(state, out, bytes, n, 1);
    if (rc || out->failed)
        return BOUMA_ENOMEM;
    if (out->size - end < end - at) {
        memmove(out->data + at, out->data + end, out->size - end);
        out->size -= end - at;
        out->data[begin] = (out->data[begin] & PART_KEPT) | PART_BYTES;
    } else {
        out->size = end;
    }
    return BOUMA_OK;
}

/* 'begin' is where the part's first byte is. */
static int put_integers(struct bm_codec_state *state, struct bm_buffer *out,
                        struct part *p, size_t begin)
{
    const uint64_t *v = p->folded + 1;
    size_t n = p->integers - 1, at;
    int k = best_order(v, n);
    uint64_t bits = golomb_bits(v, n, 1, k);

    bm_put_varint(out, p->folded[0]);
    at = out->size;
    put_golomb(out, v, n, k, bits);
    if (out->failed)
        return BOUMA_ENOMEM;
    out->data[begin] |= (uint8_t)(PART_GOLOMB + k);
    return bits < 3 * (uint64_t)n ? put_bytes(state, out, p, begin, at)
                                  : BOUMA_OK;
}

static int put_part(struct bm_codec_state *state, struct bm_buffer *out,
                    const struct bm_quantum *q, const struct bm_list *list,
                    const uint8_t *values)
{
    size_t begin = out->size, size = bouma_type_size(list->type);
    size_t bytes = list->count * size;
    struct part p;
    int rc = BOUMA_OK;

    if (!part_init(&p, state, list->count, size))
        return BOUMA_ENOMEM;
    if (q->step > 0)
        take_apart(&p, q, list, values);
    if (p.integers) {
        bm_put_u8(out, p.kept ? PART_KEPT : 0);
        if (p.kept)
            rc = put_kept(state, out, &p);
        if (!rc)
            rc = put_integers(state, out, &p, begin);
        if (rc || out->size - begin <= bytes)
            return rc;
        out->size = begin;
    }
    bm_put_u8(out, PART_PLAIN);
    memcpy(p.folded, values, bytes); /* to be packed, they may be changed */
    rc = bm_zstd_pack(state, out, p.folded, list->count, size);
    return !rc && out->failed ? BOUMA_ENOMEM : rc;
}

/* Put the size of what was appended since 'begin' before it. */
static void put_size_before(struct bm_buffer *out, size_t begin)
{
    uint8_t raw[10];
    size_t bytes = out->size - begin, head;

    if (out->failed)
        return;
    bm_put_varint(out, bytes);
    if (out->failed)
        return;
    head = out->size - begin - bytes;
    memcpy(raw, out->data + begin + bytes, head);
    memmove(out->data + begin + head, out->data + begin, bytes);
    memcpy(out->data + begin, raw, head);
}

int bm_quantise_encode(struct bm_codec_state *state, struct bm_buffer *out,
                       const void *values, const struct bm_list *list)
{
    struct bm_quantum q = bm_quantum_of(list->type, list->bound);
    size_t bytes = list->count * bouma_type_size(list->type);
    int rc = BOUMA_OK;

    for (int c = 0; c < list->components && list->count && !rc; c++) {
        size_t begin = out->size;

        rc = put_part(state, out, &q, list,
                      (const uint8_t *)values + (size_t)c * bytes);
        if (!rc && c + 1 < list->components)
            put_size_before(out, begin);
    }
    return !rc && out->failed ? BOUMA_ENOMEM : rc;
}

/* ---- decoding ----------------------------------------------------------- */

/* The indices and values of those that are kept. */
static int get_kept(struct bm_codec_state *state, struct bm_cursor *c,
                    struct part *p, size_t count)
{
    uint64_t kept = bm_get_varint(c), at = 0;
    size_t bytes;
    const uint8_t *packed;

    if (c->failed || !kept || kept >= count)
        return BOUMA_EFORMAT;
    for (p->kept = 0; p->kept < kept; p->kept++, at++) {
        uint64_t between = bm_get_varint(c);

        if (c->failed || between >= count - at)
            return BOUMA_EFORMAT;
        at += between;
        p->where[p->kept] = (uint32_t)at;
    }
    bytes = bm_get_u32(c);
    packed = bm_get_bytes(c, bytes);
    if (!packed)
        return BOUMA_EFORMAT;
    return bm_zstd_unpack(state, p->values, p->kept, p->size, packed, bytes);
}

/* All folded differences; 'how' is the first byte without the flag. */
static int get_integers(struct bm_codec_state *state, struct bm_cursor *c,
                        struct part *p, int how)
{
    size_t n = p->integers - 1, left;
    int rc;

    p->folded[0] = bm_get_varint(c);
    left = bm_cursor_left(c);
    if (c->failed)
        return BOUMA_EFORMAT;
    if (how == PART_BYTES) {
        uint8_t *bytes = (uint8_t *)(p->folded + p->integers) - n;

        /* They lie at the end of what they become, never behind it. */
        rc = bm_zstd_unpack(state, bytes, n, 1, c->p, left);
        for (size_t i = 0; i < n && !rc; i++)
            p->folded[1 + i] = bytes[i];
        return rc;
    }
    return get_golomb(p->folded + 1, n, how - PART_GOLOMB, c->p, left);
}

/* The integers back to values, dense; those that are kept come later. */
static int rebuild(void *values, bouma_type type, const struct part *p,
                   const struct bm_quantum *q)
{
    const int64_t limit = (int64_t)q->limit;
    int64_t k = 0;

    for (size_t i = 0; i < p->integers; i++) {
        if (p->folded[i] > (uint64_t)4 * LIMIT_F64)
            return BOUMA_EFORMAT;
        k += unfold(p->folded[i]);
        if (k > limit || k < -limit)
            return BOUMA_EFORMAT;
        if (type == BOUMA_TYPE_F32)
            ((float *)values)[i] = (float)((double)k * q->step);
        else
            ((double *)values)[i] = (double)k * q->step;
    }
    return BOUMA_OK;
}

/* Make room for kept values, from the last one on. */
static void put_back(uint8_t *values, const struct part *p)
{
    size_t end = p->integers + p->kept, from = p->integers;

    for (size_t i = p->kept; i-- > 0;) {
        size_t at = p->where[i], n = end - at - 1;

        from -= n;
        memmove(values + (at + 1) * p->size, values + from * p->size,
                n * p->size);
        memcpy(values + at * p->size, p->values + i * p->size, p->size);
        end = at;
    }
}

static int get_part(struct bm_codec_state *state, uint8_t *values,
                    const struct bm_quantum *q, const struct bm_list *list,
                    struct bm_cursor *c)
{
    size_t size = bouma_type_size(list->type);
    int form = bm_get_u8(c), how = form & ~PART_KEPT, rc = BOUMA_OK;
    struct part p;

    if (c->failed)
        return BOUMA_EFORMAT;
    if (form == PART_PLAIN)
        return bm_zstd_unpack(state, values, list->count, size, c->p,
                              bm_cursor_left(c));
    if (!(q->step > 0) || how < PART_BYTES || how > PART_GOLOMB + MOST_ORDER)
        return BOUMA_EFORMAT;
    if (!part_init(&p, state, list->count, size))
        return BOUMA_ENOMEM;
    if (form & PART_KEPT)
        rc = get_kept(state, c, &p, list->count);
    p.integers = list->count - p.kept;
    if (!rc)
        rc = get_integers(state, c, &p, how);
    if (!rc)
        rc = rebuild(values, list->type, &p, q);
    if (!rc)
        put_back(values, &p);
    return rc;
}

int bm_quantise_decode(struct bm_codec_state *state, void *values,
                       const struct bm_list *list, const uint8_t *in,
                       size_t stored)
{
    struct bm_quantum q = bm_quantum_of(list->type, list->bound);
    size_t bytes = list->count * bouma_type_size(list->type);
    struct bm_cursor c = bm_cursor_of(in, stored);
    int rc = BOUMA_OK;

    if (!list->count)
        return stored ? BOUMA_EFORMAT : BOUMA_OK;
    for (int i = 0; i < list->components && !rc; i++) {
        int last = i + 1 == list->components;
        uint64_t length = last ? bm_cursor_left(&c) : bm_get_varint(&c);
        const uint8_t *part = length > bm_cursor_left(&c)
                                  ? NULL
                                  : bm_get_bytes(&c, (size_t)length);
        struct bm_cursor one;

        if (!part || c.failed)
            return BOUMA_EFORMAT;
        one = bm_cursor_of(part, (size_t)length);
        rc = get_part(state, (uint8_t *)values + (size_t)i * bytes, &q, list,
                      &one);
    }
    return rc;
}

/* A part has two bytes at least, and at most those of its values and one more;
 * and with the largest ones 5 for its size. There are up to 256. */
int bm_quantise_plausible(size_t bytes, size_t stored)
{
    return bytes ? stored >= 2 && stored <= bytes + (size_t)6 * 256
                 : stored == 0;
}

const struct bm_codec bm_codec_quantise = {
    .name = "quantise",
    .uses = BM_FOR_LISTS,
    .lossy = 1,
    .plausible = bm_quantise_plausible,
    .round = bm_quantise,
    .encode_list = bm_quantise_encode,
    .decode_list = bm_quantise_decode,
};
