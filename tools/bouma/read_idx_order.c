/* read_idx_order.c -- which samples the blocks of an IDX dataset hold, and in
 * which order. */
#include "read_idx_order.h"

#include <string.h>

void idx_order_complete(struct idx_order *order)
{
    memset(order->left, 0, sizeof(order->left));
    for (int i = order->bits - 1; i >= 0; i--) {
        memcpy(order->left[i], order->left[i + 1], 3);
        order->left[i][order->axis[i]]++;
    }
}

uint64_t idx_order_blocks(const struct idx_order *order)
{
    uint64_t leaves = (uint64_t)1 << (order->bits - order->block_bits);

    return order->full ? 2 * leaves - 1 : leaves;
}

static int bit_length(uint64_t n)
{
    return n ? 64 - __builtin_clzll(n) : 0;
}

/* The low end of the region that the first 'depth' splits lead to. */
static void region_first(const struct idx_order *order, int depth,
                         uint64_t prefix, int64_t first[3])
{
    first[0] = first[1] = first[2] = 0;
    for (int i = 0; i < depth; i++)
        if (prefix >> (depth - 1 - i) & 1) {
            int axis = order->axis[i];

            first[axis] |= (int64_t)1 << order->left[i + 1][axis];
        }
}

/* How many splits lead to a block's region, and which. */
static int block_depth(const struct idx_order *order, uint64_t block,
                       uint64_t *prefix)
{
    uint64_t heap = order->full ? block + 1 : block;
    int depth = heap ? bit_length(heap) - 1 : 0;

    *prefix = heap ? heap ^ (uint64_t)1 << depth : 0;
    return depth;
}

struct idx_lattice idx_order_lattice(const struct idx_order *order,
                                     uint64_t block)
{
    uint64_t prefix;
    int depth = block_depth(order, block, &prefix);
    int end = depth + order->block_bits;
    struct idx_lattice out = {.inner = depth};

    region_first(order, depth, prefix, out.first);
    for (int axis = 0; axis < 3; axis++) {
        out.shift[axis] = order->left[end][axis];
        out.count[axis] = order->left[depth][axis] - order->left[end][axis];
    }
    if (!order->full && block) { /* the split behind its own is 1 */
        int axis = order->axis[end];

        out.first[axis] |= (int64_t)1 << order->left[end + 1][axis];
    }
    return out;
}

/* The first i with first + (i << shift) >= edge. */
static int64_t index_from(int64_t first, int shift, int64_t edge)
{
    return edge <= first ? 0 : ((edge - first - 1) >> shift) + 1;
}

uint64_t idx_lattice_inside(const struct idx_lattice *lattice,
                            const bouma_box *box, bouma_box *out)
{
    uint64_t samples = 1;

    for (int axis = 0; axis < 3; axis++) {
        int64_t count = (int64_t)1 << lattice->count[axis];
        int64_t lo = index_from(lattice->first[axis], lattice->shift[axis],
                                box->lo[axis]);
        int64_t hi = index_from(lattice->first[axis], lattice->shift[axis],
                                box->hi[axis]);

        hi = hi < count ? hi : count;
        out->lo[axis] = lo;
        out->hi[axis] = hi;
        samples *= hi > lo ? (uint64_t)(hi - lo) : 0;
    }
    return samples;
}

/* ---- walking ------------------------------------------------------------- */

struct walk {
    const struct idx_order *order;
    const bouma_box *box;
    int depth; /* of the blocks that are looked for */
    int (*each)(void *user, uint64_t block);
    void *user;
};

static int visit(const struct walk *walk, uint64_t block)
{
    struct idx_lattice lattice = idx_order_lattice(walk->order, block);
    bouma_box part;

    return idx_lattice_inside(&lattice, walk->box, &part)
               ? walk->each(walk->user, block)
               : 0;
}

static int descend(const struct walk *walk, int depth, uint64_t prefix,
                   const int64_t first[3])
{
    const struct idx_order *order = walk->order;
    int64_t upper[3] = {first[0], first[1], first[2]};
    int rc;

    for (int axis = 0; axis < 3; axis++)
        if (first[axis] >= walk->box->hi[axis] ||
            first[axis] + ((int64_t)1 << order->left[depth][axis]) <=
                walk->box->lo[axis])
            return 0;
    if (depth == walk->depth) {
        uint64_t heap = (uint64_t)1 << depth | prefix;

        return visit(walk, order->full ? heap - 1 : heap);
    }
    upper[order->axis[depth]] |= (int64_t)1
                                 << order->left[depth + 1][order->axis[depth]];
    rc = descend(walk, depth + 1, 2 * prefix, first);
    return rc ? rc : descend(walk, depth + 1, 2 * prefix + 1, upper);
}

int idx_order_walk(const struct idx_order *order, const bouma_box *box,
                   int (*each)(void *user, uint64_t block), void *user)
{
    static const int64_t zero[3] = {0, 0, 0};
    struct walk walk = {order, box, order->bits - order->block_bits, each,
                        user};
    int leaves = walk.depth, rc;

    if (order->full)
        return descend(&walk, 0, 0, zero);
    rc = visit(&walk, 0);
    for (walk.depth = 0; !rc && walk.depth < leaves; walk.depth++)
        rc = descend(&walk, 0, 0, zero);
    return rc;
}

/* ---- samples ------------------------------------------------------------- */

/* Put the low bits of 'n' where the mask has ones. */
static uint64_t deposit(uint64_t n, uint64_t mask)
{
    uint64_t out = 0;

    for (; mask; mask &= mask - 1, n >>= 1)
        if (n & 1)
            out |= mask & -mask;
    return out;
}

/* How the samples of a block follow one another. */
struct sequence {
    bool row_major;
    int top;          /* block 0: bits of its HZ order; others: -1 */
    uint64_t mask[3]; /* of Z addresses in the block */
};

static struct sequence sequence_of(const struct idx_order *order,
                                   uint64_t block, bool row_major)
{
    struct idx_lattice lattice = idx_order_lattice(order, block);
    struct sequence out = {.row_major = row_major, .top = -1};
    int b = order->block_bits;

    for (int i = 0; i < b; i++)
        out.mask[order->axis[lattice.inner + i]] |= (uint64_t)1 << (b - 1 - i);
    if (!order->full && block == 0)
        out.top = b;
    return out;
}

/* Samples lo <= i < hi along x, out of a block. */
struct row {
    uint8_t *to;
    int64_t stride;
    const uint8_t *in;
    uint64_t base; /* what the other axes add to the place in the block */
    int64_t lo, hi;
    size_t size;
};

#define COPY_ROW(name, bytes)                                                  \
    static void name(const struct row *row, const struct sequence *s)          \
    {                                                                          \
        uint64_t z =                                                           \
            s->row_major ? 0 : deposit((uint64_t)row->lo, s->mask[2]);         \
        uint8_t *to = row->to;                                                 \
                                                                               \
        for (int64_t i = row->lo; i < row->hi; i++, to += row->stride) {       \
            uint64_t at =                                                      \
                s->row_major ? row->base + (uint64_t)i : row->base | z;        \
                                                                               \
            if (s->top >= 0 && !s->row_major) {                                \
                at |= (uint64_t)1 << s->top;                                   \
                at = at >> __builtin_ctzll(at) >> 1;                           \
            }                                                                  \
            memcpy(to, row->in + at * (bytes), (bytes));                       \
            z = ((z | ~s->mask[2]) + 1) & s->mask[2];                          \
        }                                                                      \
    }
COPY_ROW(copy_1, 1)
COPY_ROW(copy_2, 2)
COPY_ROW(copy_4, 4)
COPY_ROW(copy_8, 8)
COPY_ROW(copy_12, 12)
COPY_ROW(copy_any, row->size)
#undef COPY_ROW

typedef void copy_row(const struct row *row, const struct sequence *s);

static copy_row *copier(size_t size)
{
    switch (size) {
    case 1:
        return copy_1;
    case 2:
        return copy_2;
    case 4:
        return copy_4;
    case 8:
        return copy_8;
    case 12:
        return copy_12;
    default:
        return copy_any;
    }
}

void idx_order_unpack(const struct idx_rows *rows,
                      const struct idx_order *order, uint64_t block,
                      const bouma_box *box, const uint8_t *in, bool row_major)
{
    struct idx_lattice of = idx_order_lattice(order, block);
    struct sequence s = sequence_of(order, block, row_major);
    copy_row *copy = copier(rows->size);
    int64_t start = 0, step[3];
    bouma_box part;
    struct row row;

    if (!idx_lattice_inside(&of, box, &part))
        return;
    for (int axis = 0; axis < 3; axis++) {
        start += (of.first[axis] + (part.lo[axis] << of.shift[axis]) -
                  box->lo[axis]) *
                 rows->stride[axis];
        /* An axis that has one sample may have a shift of any size. */
        step[axis] = part.hi[axis] - part.lo[axis] > 1
                         ? rows->stride[axis] << of.shift[axis]
                         : 0;
    }
    row = (struct row){.stride = step[2],
                       .in = in,
                       .lo = part.lo[2],
                       .hi = part.hi[2],
                       .size = rows->size};
    for (int64_t z = part.lo[0]; z < part.hi[0]; z++)
        for (int64_t y = part.lo[1]; y < part.hi[1]; y++) {
            row.to = rows->data + start + (z - part.lo[0]) * step[0] +
                     (y - part.lo[1]) * step[1];
            row.base = row_major
                           ? ((uint64_t)z << (of.count[1] + of.count[2])) +
                                 ((uint64_t)y << of.count[2])
                           : deposit((uint64_t)z, s.mask[0]) |
                                 deposit((uint64_t)y, s.mask[1]);
            copy(&row, &s);
        }
}

/* ---- for writing --------------------------------------------------------- */

bool idx_order_region(const struct idx_order *order, int depth, uint64_t prefix,
                      const bouma_box *domain, bouma_box *out)
{
    bool some = true;

    region_first(order, depth, prefix, out->lo);
    for (int axis = 0; axis < 3; axis++) {
        int64_t end = out->lo[axis] + ((int64_t)1 << order->left[depth][axis]);

        if (out->lo[axis] < domain->lo[axis])
            out->lo[axis] = domain->lo[axis];
        out->hi[axis] = end < domain->hi[axis] ? end : domain->hi[axis];
        some = some && out->lo[axis] < out->hi[axis];
    }
    return some;
}

struct idx_run idx_order_run(const struct idx_order *order, int depth,
                             uint64_t prefix, int level)
{
    int end = level - 1, axis = order->axis[end];
    struct idx_run out = {.bits = end - depth, .lattice = {.inner = depth}};

    out.first = (uint64_t)1 << end | prefix << out.bits;
    region_first(order, depth, prefix, out.lattice.first);
    out.lattice.first[axis] |= (int64_t)1 << order->left[level][axis];
    for (int i = 0; i < 3; i++) {
        out.lattice.shift[i] = order->left[end][i];
        out.lattice.count[i] = order->left[depth][i] - order->left[end][i];
    }
    return out;
}

struct idx_run idx_order_corner(const struct idx_order *order, int depth,
                                uint64_t prefix)
{
    struct idx_run out = {.lattice = {.inner = depth}};
    uint64_t z = (prefix << (order->bits - depth)) | (uint64_t)1 << order->bits;

    out.first = z >> __builtin_ctzll(z) >> 1;
    region_first(order, depth, prefix, out.lattice.first);
    return out;
}

/* Samples lo <= i < hi along x, into a run: the reverse of a row. */
struct packed_row {
    const uint8_t *from;
    int64_t stride;
    uint8_t *out;
    uint64_t base;
    int64_t lo, hi;
    size_t size;
};

#define PACK_ROW(name, bytes)                                                  \
    static void name(const struct packed_row *row, uint64_t mask)              \
    {                                                                          \
        uint64_t z = deposit((uint64_t)row->lo, mask);                         \
        const uint8_t *from = row->from;                                       \
                                                                               \
        for (int64_t i = row->lo; i < row->hi; i++, from += row->stride) {     \
            memcpy(row->out + (row->base | z) * (bytes), from, (bytes));       \
            z = ((z | ~mask) + 1) & mask;                                      \
        }                                                                      \
    }
PACK_ROW(pack_1, 1)
PACK_ROW(pack_2, 2)
PACK_ROW(pack_4, 4)
PACK_ROW(pack_8, 8)
PACK_ROW(pack_12, 12)
PACK_ROW(pack_any, row->size)
#undef PACK_ROW

typedef void pack_row(const struct packed_row *row, uint64_t mask);

static pack_row *packer(size_t size)
{
    switch (size) {
    case 1:
        return pack_1;
    case 2:
        return pack_2;
    case 4:
        return pack_4;
    case 8:
        return pack_8;
    case 12:
        return pack_12;
    default:
        return pack_any;
    }
}

uint64_t idx_order_pack(uint8_t *out, const struct idx_order *order,
                        const struct idx_run *run, const bouma_box *box,
                        const struct idx_rows *rows)
{
    const struct idx_lattice *of = &run->lattice;
    pack_row *pack = packer(rows->size);
    uint64_t samples, mask[3] = {0};
    struct packed_row row;
    const uint8_t *from = rows->data;
    int64_t step[3];
    bouma_box part;

    samples = idx_lattice_inside(of, box, &part);
    if (!samples)
        return 0;
    if (samples < (uint64_t)1 << run->bits)
        memset(out, 0, rows->size << run->bits);
    for (int i = 0; i < run->bits; i++)
        mask[order->axis[of->inner + i]] |= (uint64_t)1 << (run->bits - 1 - i);
    for (int axis = 0; axis < 3; axis++) {
        from += (of->first[axis] + (part.lo[axis] << of->shift[axis]) -
                 box->lo[axis]) *
                rows->stride[axis];
        step[axis] = part.hi[axis] - part.lo[axis] > 1
                         ? rows->stride[axis] << of->shift[axis]
                         : 0;
    }
    row = (struct packed_row){.stride = step[2],
                              .out = out,
                              .lo = part.lo[2],
                              .hi = part.hi[2],
                              .size = rows->size};
    for (int64_t z = part.lo[0]; z < part.hi[0]; z++)
        for (int64_t y = part.lo[1]; y < part.hi[1]; y++) {
            row.from =
                from + (z - part.lo[0]) * step[0] + (y - part.lo[1]) * step[1];
            row.base =
                deposit((uint64_t)z, mask[0]) | deposit((uint64_t)y, mask[1]);
            pack(&row, mask[2]);
        }
    return samples;
}
