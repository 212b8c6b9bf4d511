/* exact_list_rows.h -- the inner loops of exact_list.c, which includes this file
 * once for each size of words, with
 *
 *     WORD, BITS  an unsigned integer, and how many bits it has
 *     NAME(x)     x with something added that tells the size */
#define TOP ((WORD)1 << (BITS - 1))

/* As in exact_rows.h, but for integers. */
static inline WORD NAME(ordered)(WORD w, const int real, int drop)
{
    return (real ? w ^ ((WORD)(0 - (w >> (BITS - 1))) | TOP) : w) >> drop;
}

static inline WORD NAME(unordered)(WORD w, const int real, int drop)
{
    w <<= drop;
    w = real ? w ^ ((WORD)((w >> (BITS - 1)) - 1) | TOP) : w;
    return w >> drop << drop;
}

static inline WORD NAME(fold)(WORD d)
{
    return (WORD)(d << 1) ^ (WORD)(0 - (d >> (BITS - 1)));
}

static inline WORD NAME(unfold)(WORD f)
{
    return (f >> 1) ^ (WORD)(0 - (f & 1));
}

/* Folded differences of n values, 'last' being the word before the first. */
static inline void NAME(differences)(WORD *restrict folded,
                                     const WORD *restrict w, WORD last,
                                     size_t n, const int real, int drop)
{
    folded[0] = NAME(fold)(NAME(ordered)(w[0], real, drop) - last);
    for (size_t i = 1; i < n; i++)
        folded[i] = NAME(fold)(NAME(ordered)(w[i], real, drop) -
                               NAME(ordered)(w[i - 1], real, drop));
}

static inline void NAME(block)(WORD *folded, const WORD *w, size_t at, size_t n,
                               struct words words)
{
    WORD last = at ? NAME(ordered)(w[at - 1], words.real, words.drop) : 0;

    if (words.real)
        NAME(differences)(folded, w + at, last, n, 1, words.drop);
    else
        NAME(differences)(folded, w + at, last, n, 0, words.drop);
}

/* How many of the last bits are 0 in all, but not all of them. */
BM_CLONES static int NAME(unused_bits)(const void *values, size_t n)
{
    const WORD *restrict w = values;
    WORD all = TOP;

    for (size_t i = 0; i < n; i++)
        all |= w[i];
    return __builtin_ctzll((uint64_t)all);
}

/* How many bits the longest difference of each block has. */
BM_CLONES static void NAME(measure)(uint8_t *lengths, const void *values,
                                    size_t n, struct words words)
{
    for (size_t at = 0; at < n; at += BLOCK) {
        size_t count = n - at < BLOCK ? n - at : BLOCK;
        WORD folded[BLOCK] = {0}, all = 0;

        NAME(block)(folded, values, at, count, words);
        for (size_t i = 0; i < BLOCK; i++)
            all |= folded[i];
        lengths[at / BLOCK] =
            (uint8_t)(all ? 64 - __builtin_clzll((uint64_t)all) : 0);
    }
}

static void NAME(pack)(struct bm_exact_writer *bits, const uint8_t *lengths,
                       const void *values, size_t n, struct words words)
{
    struct bm_exact_writer w = *bits;

    for (size_t at = 0; at < n; at += BLOCK) {
        size_t count = n - at < BLOCK ? n - at : BLOCK, i = 0;
        int length = lengths[at / BLOCK];
        WORD folded[BLOCK];

        NAME(block)(folded, values, at, count, words);
        for (; i + 2 <= count && length <= 28; i += 2)
            bm_exact_put_some(&w, folded[i] | (uint64_t)folded[i + 1] << length,
                              2 * length);
        for (; i < count; i++) {
            if (length == 64) {
                bm_exact_put_some(&w, (uint64_t)folded[i] & 0xffffffff, 32);
                bm_exact_put_some(&w, (uint64_t)folded[i] >> 32, 32);
            } else {
                bm_exact_put_bits(&w, folded[i], length);
            }
        }
    }
    if (w.count)
        w.p++;
    *bits = w;
}

/* The bits of a block near the end of all. */
static void NAME(fetch_last)(WORD *folded, struct bm_exact_reader *r,
                             int length, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t high = 0, low;

        low = bm_exact_get_last_bits(r, length < 32 ? length : 32);
        if (length > 32)
            high = bm_exact_get_last_bits(r, length - 32);
        folded[i] = (WORD)(low | high << 32);
    }
}

/* There are bytes behind. */
static inline void NAME(fetch)(WORD *folded, struct bm_exact_reader *r,
                               int length, size_t n)
{
    uint64_t mask = ((uint64_t)1 << (length & 63)) - 1;
    size_t i = 0;

    for (; i + 2 <= n && length <= 28; i += 2) {
        uint64_t low = bm_load_u64(r->data + r->at / 8) >> (r->at & 7);

        folded[i] = (WORD)(low & mask);
        folded[i + 1] = (WORD)(low >> length & mask);
        r->at += 2 * (uint64_t)length;
    }
    for (; i < n; i++) {
        uint64_t high = 0, low;

        low = bm_exact_get_some(r, length < 32 ? length : 32);
        if (length > 32)
            high = bm_exact_get_some(r, length - 32);
        folded[i] = (WORD)(low | high << 32);
    }
}

static inline void NAME(add_up)(WORD *w, WORD *last, const WORD *folded,
                                size_t n, const int real, int drop)
{
    WORD sum = *last;

    for (size_t i = 0; i < n; i++) {
        sum += NAME(unfold)(folded[i]);
        w[i] = NAME(unordered)(sum, real, drop);
    }
    *last = sum;
}

static void NAME(unpack)(struct bm_exact_reader *bits, const uint8_t *lengths,
                         void *values, size_t n, struct words words)
{
    struct bm_exact_reader r = *bits;
    WORD *w = values, last = 0;

    for (size_t at = 0; at < n; at += BLOCK) {
        size_t count = n - at < BLOCK ? n - at : BLOCK;
        WORD folded[BLOCK];

        if (r.at / 8 + 8 * BLOCK + 16 > r.bytes)
            NAME(fetch_last)(folded, &r, lengths[at / BLOCK], count);
        else
            NAME(fetch)(folded, &r, lengths[at / BLOCK], count);
        if (words.real)
            NAME(add_up)(w + at, &last, folded, count, 1, words.drop);
        else
            NAME(add_up)(w + at, &last, folded, count, 0, words.drop);
    }
    *bits = r;
}

#undef TOP
