/* partition.c -- see partition.h. */
#include "plan/partition.h"

#include <string.h>

/* Run over the patches that a block meets. */
#define EACH_PATCH(tiling, box, at, patch)                                     \
    for (bouma_box over = bm_tiling_meeting(tiling, box), *once = &over; once; \
         once = NULL)                                                          \
        for (at[0] = over.lo[0]; at[0] < over.hi[0]; at[0]++)                  \
            for (at[1] = over.lo[1]; at[1] < over.hi[1]; at[1]++)              \
                for (at[2] = over.lo[2], patch = bm_tiling_index(tiling, at);  \
                     at[2] < over.hi[2]; at[2]++, patch++)

int bm_partition_init(struct bm_partition *p, const bouma_allocator *a,
                      const struct bm_tiling *tiling,
                      const struct bm_block *blocks, size_t count)
{
    int64_t at[3], patch;

    memset(p, 0, sizeof(*p));
    p->a = a;
    p->tiling = tiling;
    p->blocks = blocks;
    p->block_count = count;
    if (count > UINT32_MAX)
        return BOUMA_ELIMIT;
    p->first = bm_new(a, (size_t)tiling->patches + 2, sizeof(*p->first));
    if (!p->first)
        return BOUMA_ENOMEM;
    /* Counting sort by patch; first[] is one ahead while it is filled. */
    for (size_t b = 0; b < count; b++)
        EACH_PATCH(tiling, &blocks[b].box, at, patch)
    p->first[patch + 2]++;
    for (int64_t i = 0; i < tiling->patches; i++)
        p->first[i + 2] += p->first[i + 1];
    p->part =
        bm_new_raw(a, (size_t)p->first[tiling->patches + 1], sizeof(*p->part));
    if (!p->part) {
        bm_partition_release(p);
        return BOUMA_ENOMEM;
    }
    for (size_t b = 0; b < count; b++)
        EACH_PATCH(tiling, &blocks[b].box, at, patch)
    p->part[p->first[patch + 1]++] = (uint32_t)b;
    return BOUMA_OK;
}

void bm_partition_release(struct bm_partition *p)
{
    if (!p->a)
        return;
    bm_drop(p->a, p->first);
    bm_drop(p->a, p->part);
    p->first = NULL;
    p->part = NULL;
}

bouma_box bm_partition_box(const struct bm_partition *p, int64_t patch,
                           int64_t i)
{
    bouma_box box = bm_tiling_patch_box(p->tiling, patch);

    bm_box_meet(&box, &box, &p->blocks[p->part[i]].box);
    return box;
}

/* Below this number of parts each pair is compared, above it cells are
 * marked. */
#define PAIRWISE 48

/* The part of block part[i] in the patch whose box is 'whole'. */
static bouma_box part_in(const struct bm_partition *p, const bouma_box *whole,
                         int64_t i)
{
    bouma_box box;

    bm_box_meet(&box, whole, &p->blocks[p->part[i]].box);
    return box;
}

static int find_overlap(const struct bm_partition *p, int64_t patch,
                        const bouma_box *whole, struct bm_cover_fault *fault)
{
    for (int64_t i = p->first[patch]; i < p->first[patch + 1]; i++) {
        bouma_box mine = part_in(p, whole, i);

        for (int64_t j = p->first[patch]; j < i; j++) {
            const struct bm_block *other = &p->blocks[p->part[j]];

            if (bm_box_meet(&fault->region, &mine, &other->box)) {
                fault->rank[0] = other->rank;
                fault->rank[1] = p->blocks[p->part[i]].rank;
                return 1;
            }
        }
    }
    return 0;
}

/* Set a row of bits; 1 if one of them was set already. */
static int mark_row(uint64_t *bits, uint64_t from, uint64_t count)
{
    int seen = 0;

    while (count) {
        uint64_t shift = from & 63;
        uint64_t n = 64 - shift < count ? 64 - shift : count;
        uint64_t mask = (n == 64 ? ~(uint64_t)0 : ((uint64_t)1 << n) - 1)
                        << shift;

        seen |= (bits[from >> 6] & mask) != 0;
        bits[from >> 6] |= mask;
        from += n;
        count -= n;
    }
    return seen;
}

/* Mark the cells of every part of a patch in bits[]; 1 at an overlap. */
static int mark_parts(const struct bm_partition *p, int64_t patch,
                      uint64_t *bits)
{
    bouma_box whole = bm_tiling_patch_box(p->tiling, patch);
    int64_t ny = whole.hi[1] - whole.lo[1], nx = whole.hi[2] - whole.lo[2];

    for (int64_t i = p->first[patch]; i < p->first[patch + 1]; i++) {
        bouma_box box = part_in(p, &whole, i);

        for (int64_t z = box.lo[0]; z < box.hi[0]; z++)
            for (int64_t y = box.lo[1]; y < box.hi[1]; y++)
                if (mark_row(
                        bits,
                        (uint64_t)(((z - whole.lo[0]) * ny + y - whole.lo[1]) *
                                       nx +
                                   box.lo[2] - whole.lo[2]),
                        (uint64_t)(box.hi[2] - box.lo[2])))
                    return 1;
    }
    return 0;
}

/* The bounds of the cells of a patch that are not marked. */
static bouma_box bounds_of_unmarked(const bouma_box *whole,
                                    const uint64_t *bits)
{
    bouma_box out = {{0, 0, 0}, {0, 0, 0}};
    uint64_t cell = 0;

    for (int64_t z = whole->lo[0]; z < whole->hi[0]; z++)
        for (int64_t y = whole->lo[1]; y < whole->hi[1]; y++)
            for (int64_t x = whole->lo[2]; x < whole->hi[2]; x++, cell++)
                if (!(bits[cell >> 6] >> (cell & 63) & 1)) {
                    bouma_box one = {{z, y, x}, {z + 1, y + 1, x + 1}};

                    out = bm_box_join(&out, &one);
                }
    return out;
}

/* The parts of a patch have the right volume in sum, and there are few: is no
 * cell in two of them? Their boxes are taken together first. */
static int few_are_disjoint(const struct bm_partition *p, int64_t patch,
                            const bouma_box *whole)
{
    bouma_box boxes[PAIRWISE], common;
    int n = 0;

    for (int64_t i = p->first[patch]; i < p->first[patch + 1]; i++, n++) {
        boxes[n] = part_in(p, whole, i);
        for (int k = 0; k < n; k++)
            if (bm_box_meet(&common, &boxes[k], &boxes[n]))
                return 0;
    }
    return 1;
}

/* A patch whose parts have the right volume in sum is covered if no two meet;
 * one with another volume is at fault anyway, and only the place is sought. */
static int check_patch(const struct bm_partition *p, int64_t patch,
                       struct bm_cover_fault *fault)
{
    bouma_box whole = bm_tiling_patch_box(p->tiling, patch);
    uint64_t volume = bm_box_volume(&whole), sum = 0;
    int64_t parts = p->first[patch + 1] - p->first[patch];
    uint64_t *bits;
    int rc = BOUMA_OK;

    for (int64_t i = p->first[patch]; i < p->first[patch + 1]; i++) {
        bouma_box box = part_in(p, &whole, i);

        sum += bm_box_volume(&box);
    }
    if (sum == volume && (parts == 1 || (parts <= PAIRWISE &&
                                         few_are_disjoint(p, patch, &whole))))
        return BOUMA_OK;
    if (parts <= PAIRWISE && find_overlap(p, patch, &whole, fault))
        return BOUMA_ECOVER;
    if (parts == 0) {
        fault->region = whole;
        fault->rank[0] = fault->rank[1] = -1;
        return BOUMA_ECOVER;
    }
    bits = bm_new(p->a, (size_t)(volume / 64 + 1), sizeof(*bits));
    if (!bits)
        return BOUMA_ENOMEM;
    if (mark_parts(p, patch, bits)) {
        find_overlap(p, patch, &whole, fault);
        rc = BOUMA_ECOVER;
    } else if (sum != volume) {
        fault->region = bounds_of_unmarked(&whole, bits);
        fault->rank[0] = fault->rank[1] = -1;
        rc = BOUMA_ECOVER;
    }
    bm_drop(p->a, bits);
    return rc;
}

int bm_partition_check(const struct bm_partition *p,
                       struct bm_cover_fault *fault)
{
    int rc = BOUMA_OK;

    for (int64_t i = 0; i < p->tiling->patches && !rc; i++)
        rc = check_patch(p, i, fault);
    return rc;
}
