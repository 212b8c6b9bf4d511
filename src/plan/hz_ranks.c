/* hz_ranks.c -- see hz_ranks.h. */
#include "plan/hz_ranks.h"

#include <limits.h>
#include <string.h>

#include "base/bits.h"

/* ---- templates of parts ------------------------------------------------- */

/* 'bits' characters of an axis behind those that are there. */
static int append(struct bm_hz *hz, int axis, int bits)
{
    if (hz->bits + bits > BM_HZ_BITS)
        return BOUMA_EINVAL;
    for (int i = 0; i < bits; i++) {
        hz->axis[hz->bits++] = (uint8_t)axis;
        hz->count[axis]++;
    }
    for (int d = 0; d < 3; d++)
        hz->mask[d] = hz->mask[d] << bits | (d == axis ? bm_bits_low(bits) : 0);
    return BOUMA_OK;
}

static int prefix_of(struct bm_hz *hz, const int64_t grid[3],
                     bouma_rank_order order)
{
    int rc = BOUMA_OK;

    if (order == BOUMA_RANK_ORDER_MORTON)
        return bm_hz_from_shape(hz, grid, BM_HZ_LONGEST);
    memset(hz, 0, sizeof(*hz));
    for (int i = 0; i < 3 && !rc; i++) {
        int axis = order == BOUMA_RANK_ORDER_ROW_MAJOR ? i : 2 - i;

        rc = append(hz, axis, bm_bits_length((uint64_t)grid[axis] - 1));
    }
    return rc;
}

int bm_hz_ranks_init(struct bm_hz_ranks *r, const int64_t shape[3],
                     const int64_t *block, const int64_t grid[3],
                     bouma_rank_order order)
{
    int64_t count = 1;

    memset(r, 0, sizeof(*r));
    r->order = order ? order : BOUMA_RANK_ORDER_ROW_MAJOR;
    for (int d = 0; d < 3; d++) {
        if (shape[d] < 1 || grid[d] < 1 || grid[d] > INT_MAX / count)
            return BOUMA_EINVAL;
        if (block && (block[d] < 1 || (shape[d] - 1) / block[d] >= grid[d]))
            return BOUMA_EINVAL;
        count *= grid[d];
        r->shape[d] = shape[d];
        r->grid[d] = grid[d];
        if (block)
            r->block[d] = block[d];
        else if (shape[d] % grid[d] == 0)
            r->block[d] = shape[d] / grid[d];
    }
    r->count = (int)count;
    if (prefix_of(&r->prefix, grid, r->order))
        return BOUMA_EINVAL;
    r->whole = count == (int64_t)1 << r->prefix.bits;
    return BOUMA_OK;
}

int bm_hz_ranks_template(struct bm_hz *hz, const struct bm_hz_ranks *r)
{
    struct bm_hz suffix;
    int rc = BOUMA_OK;

    *hz = r->prefix;
    for (int d = 0; d < 3; d++)
        if (!r->block[d] || r->block[d] & (r->block[d] - 1))
            return BOUMA_EINVAL;
    rc = bm_hz_from_shape(&suffix, r->block, BM_HZ_LONGEST);
    for (int i = 0; i < suffix.bits && !rc; i++)
        rc = append(hz, suffix.axis[i], 1);
    return rc;
}

int bm_hz_ranks_template_near(struct bm_hz *hz, const struct bm_hz_ranks *r)
{
    int64_t block[3], grid[3];
    struct bm_hz_ranks near;
    int rc;

    for (int d = 0; d < 3; d++) {
        int64_t most =
            r->block[d] ? r->block[d] : (r->shape[d] - 1) / r->grid[d] + 1;

        if (most > (int64_t)1 << BM_HZ_BITS)
            return BOUMA_EINVAL;
        block[d] = (int64_t)1 << bm_bits_length((uint64_t)most - 1);
        grid[d] = (r->shape[d] - 1) / block[d] + 1; /* cells with samples */
    }
    rc = bm_hz_ranks_init(&near, r->shape, block, grid, r->order);
    return rc ? rc : bm_hz_ranks_template(hz, &near);
}

/* ---- the samples of ranks ----------------------------------------------- */

/* The first sample of cell i along an axis, which has blocks that are as equal
 * as possible; shape * i may overflow. */
static int64_t share(const struct bm_hz_ranks *r, int d, int64_t i)
{
    int64_t each = r->shape[d] / r->grid[d], rest = r->shape[d] % r->grid[d];

    return each * i + rest * i / r->grid[d];
}

/* The cell along an axis that has a sample of the domain. */
static int64_t cell_of(const struct bm_hz_ranks *r, int d, int64_t index)
{
    int64_t cell;

    if (r->block[d])
        return index / r->block[d];
    cell = (int64_t)((double)index / (double)r->shape[d] * (double)r->grid[d]);
    while (cell > 0 && share(r, d, cell) > index)
        cell--;
    while (cell + 1 < r->grid[d] && share(r, d, cell + 1) <= index)
        cell++;
    return cell;
}

struct bm_box bm_hz_ranks_box(const struct bm_hz_ranks *r, int rank)
{
    int64_t cell[3];
    struct bm_box box;

    bm_hz_ranks_cell(r, rank, cell);
    for (int d = 0; d < 3; d++) {
        if (r->block[d]) {
            int64_t last = r->shape[d];

            box.lo[d] = cell[d] * r->block[d];
            box.hi[d] = box.lo[d] + r->block[d];
            box.lo[d] = box.lo[d] < last ? box.lo[d] : last;
            box.hi[d] = box.hi[d] < last ? box.hi[d] : last;
        } else {
            box.lo[d] = share(r, d, cell[d]);
            box.hi[d] = share(r, d, cell[d] + 1);
        }
    }
    return box;
}

/* ---- numbers of ranks --------------------------------------------------- */

/* Cells of the prefix with the same first characters are a box. */
struct cells {
    int64_t lo[3];
    int left[3]; /* 2^left of them along an axis */
};

static struct cells all_cells(const struct bm_hz_ranks *r)
{
    struct cells c = {{0, 0, 0}, {0, 0, 0}};

    for (int d = 0; d < 3; d++)
        c.left[d] = r->prefix.count[d];
    return c;
}

/* Those that are ranks. */
static int64_t ranks_in(const struct bm_hz_ranks *r, const struct cells *c)
{
    int64_t n = 1;

    for (int d = 0; d < 3; d++) {
        int64_t here = r->grid[d] - c->lo[d];
        int64_t most = (int64_t)1 << c->left[d];

        n *= here < 0 ? 0 : here < most ? here : most;
    }
    return n;
}

/* Ranks before a cell in Z order of the prefix: at each character, those of
 * the lower half if it is in the upper one. */
static int count_before(const struct bm_hz_ranks *r, const int64_t cell[3])
{
    struct cells c = all_cells(r);
    int64_t before = 0;

    for (int i = 0; i < r->prefix.bits; i++) {
        int axis = r->prefix.axis[i];

        c.left[axis]--;
        if (cell[axis] >> c.left[axis] & 1) {
            before += ranks_in(r, &c);
            c.lo[axis] += (int64_t)1 << c.left[axis];
        }
    }
    return (int)before;
}

int bm_hz_ranks_at(const struct bm_hz_ranks *r, const int64_t cell[3])
{
    const int64_t *n = r->grid;

    if (r->order == BOUMA_RANK_ORDER_ROW_MAJOR)
        return (int)((cell[0] * n[1] + cell[1]) * n[2] + cell[2]);
    if (r->order == BOUMA_RANK_ORDER_COLUMN_MAJOR)
        return (int)((cell[2] * n[1] + cell[1]) * n[0] + cell[0]);
    return r->whole ? (int)bm_hz_z_of(&r->prefix, cell) : count_before(r, cell);
}

/* The cell of a rank, along the prefix. */
static void find_cell(const struct bm_hz_ranks *r, int rank, int64_t cell[3])
{
    struct cells c = all_cells(r);
    int64_t left = rank;

    for (int i = 0; i < r->prefix.bits; i++) {
        int axis = r->prefix.axis[i];
        int64_t lower;

        c.left[axis]--;
        lower = ranks_in(r, &c);
        if (left >= lower) {
            left -= lower;
            c.lo[axis] += (int64_t)1 << c.left[axis];
        }
    }
    memcpy(cell, c.lo, sizeof(c.lo));
}

void bm_hz_ranks_cell(const struct bm_hz_ranks *r, int rank, int64_t cell[3])
{
    int fast = r->order == BOUMA_RANK_ORDER_COLUMN_MAJOR ? 0 : 2;
    int slow = 2 - fast;

    if (r->order == BOUMA_RANK_ORDER_MORTON) {
        if (r->whole)
            bm_hz_index_of(&r->prefix, (uint64_t)rank, cell);
        else
            find_cell(r, rank, cell);
        return;
    }
    cell[fast] = rank % r->grid[fast];
    cell[1] = rank / r->grid[fast] % r->grid[1];
    cell[slow] = rank / r->grid[fast] / r->grid[1];
}

int bm_hz_ranks_of_sample(const struct bm_hz_ranks *r, const int64_t index[3])
{
    int64_t cell[3];

    for (int d = 0; d < 3; d++)
        cell[d] = cell_of(r, d, index[d]);
    return bm_hz_ranks_at(r, cell);
}

/* ---- the plain case ----------------------------------------------------- */

/* Characters that have an effect: those of the prefix, or those of a template
 * which tell cells apart. */
struct characters {
    int count;
    uint8_t axis[BM_HZ_BITS];
};

/* The prefix, but for bits that are 0 in the whole domain. */
static void prefix_characters(struct characters *out,
                              const struct bm_hz_ranks *r)
{
    int left[3];

    out->count = 0;
    for (int d = 0; d < 3; d++)
        left[d] = r->prefix.count[d];
    for (int i = 0; i < r->prefix.bits; i++) {
        int d = r->prefix.axis[i];

        left[d]--;
        if ((r->shape[d] - 1) / r->block[d] >> left[d])
            out->axis[out->count++] = (uint8_t)d;
    }
}

static void drop_last_of(struct characters *c, int axis)
{
    for (int i = c->count - 1; i >= 0; i--)
        if (c->axis[i] == axis) {
            memmove(c->axis + i, c->axis + i + 1, (size_t)(c->count - 1 - i));
            c->count--;
            return;
        }
}

/* 1 if it is plain that the template conforms: blocks are powers of two, and
 * its characters are first those of the prefix, in their order, and then those
 * of the samples. The last character has no part in the order of any level,
 * and bits that are 0 in the whole domain have none. */
static int plainly_conforms(const struct bm_hz_ranks *r, const struct bm_hz *hz)
{
    struct characters wanted;
    int left[3], found = 0, samples = 0;

    for (int d = 0; d < 3; d++) {
        left[d] = hz->count[d];
        if (!r->block[d] || r->block[d] & (r->block[d] - 1))
            return 0;
    }
    prefix_characters(&wanted, r);
    if (hz->bits) {
        int last = hz->axis[hz->bits - 1];

        if (r->block[last] == 1)
            drop_last_of(&wanted, last);
    }
    for (int i = 0; i < hz->bits - 1; i++) {
        int d = hz->axis[i];

        left[d]--;
        if ((r->shape[d] - 1) >> left[d] == 0)
            continue;
        if ((int64_t)1 << left[d] < r->block[d]) {
            samples = 1;
            continue;
        }
        if (samples || found == wanted.count || wanted.axis[found] != d)
            return 0;
        found++;
    }
    return found == wanted.count;
}

/* ---- any case ----------------------------------------------------------- */

/* Samples of one level with the same first characters: along an axis 2^left of
 * them, 2^shift apart, those beyond the domain with them. */
struct branch {
    int64_t start[3];
    int left[3];
};

struct visits {
    const struct bm_hz_ranks *ranks;
    const struct bm_hz *hz;
    int shift[3]; /* of the level */
    int last;     /* rank visited; -1: none */
};

/* Whether samples of the branch are in the domain; 'rank' is theirs if they
 * are all of one, else -1. */
static int look_at(int *rank, const struct visits *v, const struct branch *b)
{
    const struct bm_hz_ranks *r = v->ranks;
    int64_t cell[3];
    int one = 1;

    for (int d = 0; d < 3; d++) {
        int64_t last;

        if (b->start[d] >= r->shape[d])
            return 0;
        last = (r->shape[d] - 1 - b->start[d]) >> v->shift[d];
        if (last >> b->left[d])
            last = ((int64_t)1 << b->left[d]) - 1;
        last = b->start[d] + last * ((int64_t)1 << v->shift[d]);
        cell[d] = cell_of(r, d, b->start[d]);
        one = one && cell_of(r, d, last) == cell[d];
    }
    *rank = one ? bm_hz_ranks_at(r, cell) : -1;
    return 1;
}

/* Visit the samples of a branch in Z order, by branches that are on one rank;
 * 0 if a rank is below the one before it. 'depth' characters are fixed. */
static int visit(struct visits *v, struct branch b, int depth)
{
    int rank, axis, ascending;

    if (!look_at(&rank, v, &b))
        return 1;
    if (rank >= 0) {
        ascending = rank >= v->last;
        v->last = rank;
        return ascending;
    }
    axis = v->hz->axis[depth];
    b.left[axis]--;
    if (!visit(v, b, depth + 1))
        return 0;
    b.start[axis] += (int64_t)1 << (v->shift[axis] + b.left[axis]);
    return visit(v, b, depth + 1);
}

static int level_conforms(const struct bm_hz_ranks *r, const struct bm_hz *hz,
                          int level)
{
    struct visits v = {.ranks = r, .hz = hz, .last = -1};
    struct branch all;
    int own = hz->axis[level - 1]; /* the axis that the level splits */

    bm_hz_lattice(hz, level - 1, v.shift);
    for (int d = 0; d < 3; d++) {
        all.start[d] = d == own ? (int64_t)1 << (v.shift[d] - 1) : 0;
        all.left[d] = hz->count[d] - v.shift[d];
    }
    return visit(&v, all, 0);
}

int bm_hz_ranks_conform(const struct bm_hz_ranks *r, const struct bm_hz *hz)
{
    if (plainly_conforms(r, hz))
        return 1;
    for (int level = 1; level <= hz->bits; level++) /* level 0 is one sample */
        if (!level_conforms(r, hz, level))
            return 0;
    return 1;
}
