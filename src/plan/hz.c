/* hz.c -- see hz.h. */
#include "plan/hz.h"

#include <inttypes.h>
#include <string.h>

#include "base/bits.h"

static const char letters[3] = {'z', 'y', 'x'}; /* of the lifted axes */

/* ---- templates ---------------------------------------------------------- */

static void append(struct bm_hz *hz, int axis)
{
    hz->axis[hz->bits++] = (uint8_t)axis;
    hz->count[axis]++;
    for (int d = 0; d < 3; d++)
        hz->mask[d] = hz->mask[d] << 1 | (d == axis);
}

/* The axis whose turn it is; some have splits left. 'last' had the last one. */
static int choose_axis(const int left[3], int last, enum bm_hz_rule rule)
{
    int axis = 0;

    if (rule == BM_HZ_LONGEST) {
        for (int d = 1; d < 3; d++)
            if (left[d] > left[axis])
                axis = d;
        return axis;
    }
    axis = (last + 2) % 3; /* x, y, z are 2, 1, 0 */
    while (!left[axis])
        axis = (axis + 2) % 3;
    return axis;
}

/* Splits until an axis of so many samples has one each. */
static int splits_of(int64_t samples)
{
    return bm_bits_length((uint64_t)samples - 1);
}

int bm_hz_from_shape(struct bm_hz *hz, const int64_t shape[3],
                     enum bm_hz_rule rule)
{
    int left[3], total = 0, axis = 0;

    memset(hz, 0, sizeof(*hz));
    for (int d = 0; d < 3; d++) {
        if (shape[d] < 1)
            return BOUMA_EINVAL;
        left[d] = splits_of(shape[d]);
        total += left[d];
    }
    if (total > BM_HZ_BITS)
        return BOUMA_EINVAL;
    while (hz->bits < total) {
        axis = choose_axis(left, axis, rule);
        left[axis]--;
        append(hz, axis);
    }
    return BOUMA_OK;
}

/* ---- text --------------------------------------------------------------- */

static int bad_letter(struct bm_error *error, const char *text, size_t at,
                      int ndims)
{
    static const char *const allowed[] = {"x", "x and y", "x, y and z"};
    unsigned char c = (unsigned char)text[at];
    const char *known = strchr("xyz", c);

    if (known)
        return bm_fail(
            error, BOUMA_EINVAL,
            "the template has a '%c' at position %zu, but the grid has "
            "%d %s: only %s",
            c, at + 1, ndims, ndims == 1 ? "axis" : "axes", allowed[ndims - 1]);
    if (c == 'X' || c == 'Y' || c == 'Z')
        return bm_fail(error, BOUMA_EINVAL,
                       "the template has a '%c' at position %zu: write axes in "
                       "lower case",
                       c, at + 1);
    if (c == 'V' || (c >= '0' && c <= '2')) /* a bitmask */
        return bm_fail(
            error, BOUMA_EINVAL,
            "the template has a '%c' at position %zu: axes are %s; a bitmask "
            "of IDX has 0 for x, 1 for y, 2 for z, and V in front",
            c, at + 1, allowed[ndims - 1]);
    if (c < ' ' || c > '~')
        return bm_fail(
            error, BOUMA_EINVAL,
            "the template has byte 0x%02x at position %zu: axes are %s", c,
            at + 1, allowed[ndims - 1]);
    return bm_fail(error, BOUMA_EINVAL,
                   "the template has a '%c' at position %zu: axes are %s", c,
                   at + 1, allowed[ndims - 1]);
}

int bm_hz_parse(struct bm_hz *hz, const char *text, int ndims,
                const int64_t shape[3], struct bm_error *error)
{
    size_t length = strlen(text);

    memset(hz, 0, sizeof(*hz));
    for (size_t i = 0; i < length; i++) {
        const char *letter = memchr(letters, text[i], 3);

        if (!letter || letter - letters < 3 - ndims)
            return bad_letter(error, text, i, ndims);
        if (i < BM_HZ_BITS)
            append(hz, (int)(letter - letters));
    }
    if (length > BM_HZ_BITS)
        return bm_fail(error, BOUMA_EINVAL,
                       "the template has %zu characters: %d are the most",
                       length, BM_HZ_BITS);
    for (int d = 3 - ndims; d < 3; d++)
        if (shape[d] > (int64_t)1 << hz->count[d])
            return bm_fail(error, BOUMA_EINVAL,
                           "the template \"%s\" is too short: the grid has "
                           "%" PRId64 " samples along %c, so it needs %d of "
                           "this letter, not %d",
                           text, shape[d], letters[d], splits_of(shape[d]),
                           hz->count[d]);
    return BOUMA_OK;
}

void bm_hz_text(char text[BM_HZ_BITS + 1], const struct bm_hz *hz)
{
    for (int i = 0; i < hz->bits; i++)
        text[i] = letters[hz->axis[i]];
    text[hz->bits] = 0;
}

/* ---- addresses ---------------------------------------------------------- */

uint64_t bm_hz_z_of(const struct bm_hz *hz, const int64_t index[3])
{
    uint64_t z = 0;

    for (int d = 0; d < 3; d++)
        z |= bm_bits_spread((uint64_t)index[d], hz->mask[d]);
    return z;
}

void bm_hz_index_of(const struct bm_hz *hz, uint64_t z, int64_t index[3])
{
    for (int d = 0; d < 3; d++)
        index[d] = (int64_t)bm_bits_collect(z, hz->mask[d]);
}

/* The bit above the address is a guard: with it, address 0 shifts to 0, too. */
uint64_t bm_hz_of_z(const struct bm_hz *hz, uint64_t z)
{
    uint64_t guarded = z | (uint64_t)1 << hz->bits;

    return guarded >> __builtin_ctzll(guarded) >> 1;
}

uint64_t bm_hz_to_z(const struct bm_hz *hz, uint64_t h)
{
    uint64_t guarded = (2 * h + 1) << (hz->bits - bm_hz_level(h));

    return guarded & bm_bits_low(hz->bits);
}

int bm_hz_level(uint64_t h)
{
    return bm_bits_length(h);
}

void bm_hz_lattice(const struct bm_hz *hz, int level, int shift[3])
{
    for (int d = 0; d < 3; d++)
        shift[d] = bm_bits_count(hz->mask[d] & bm_bits_low(hz->bits - level));
}

/* ---- blocks ------------------------------------------------------------- */

/* The characters that tell the samples of a block apart are those from 'first'
 * on, b of them. */
static int first_character(uint64_t block)
{
    return block ? bm_bits_length(block) - 1 : 0;
}

struct bm_footprint bm_hz_block(const struct bm_hz *hz, int b, uint64_t block)
{
    int behind = hz->bits - first_character(block) - b;
    struct bm_footprint f;

    bm_hz_index_of(hz, bm_hz_to_z(hz, block << b), f.start);
    for (int d = 0; d < 3; d++) {
        uint64_t low = hz->mask[d] & bm_bits_low(behind);
        uint64_t own = hz->mask[d] & bm_bits_low(behind + b) & ~low;

        f.shift[d] = bm_bits_count(low);
        f.count[d] = (int64_t)1 << bm_bits_count(own);
    }
    return f;
}

struct bm_hz bm_hz_block_template(const struct bm_hz *hz, int b, uint64_t block)
{
    struct bm_hz part = {.bits = b};
    int first = first_character(block), behind = hz->bits - first - b;

    memcpy(part.axis, hz->axis + first, (size_t)b);
    for (int d = 0; d < 3; d++) {
        part.mask[d] = hz->mask[d] >> behind & bm_bits_low(b);
        part.count[d] = (uint8_t)bm_bits_count(part.mask[d]);
    }
    return part;
}
