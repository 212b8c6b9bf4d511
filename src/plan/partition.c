/* partition.c -- see partition.h. */
#include "plan/partition.h"

#include <string.h>

/* Counting sort by chunk; first[] is one ahead while it is filled. */
static void count_run(void *context, int64_t first, int64_t end)
{
    int64_t *count = context;

    for (int64_t c = first; c < end; c++)
        count[c + 2]++;
}

struct filling {
    struct bm_partition *p;
    uint32_t block;
};

static void fill_run(void *context, int64_t first, int64_t end)
{
    const struct filling *f = context;
    int64_t *next = f->p->first + 1;

    for (int64_t c = first; c < end; c++)
        f->p->part[next[c]++] = f->block;
}

int bm_partition_init(struct bm_partition *p, const bouma_allocator *a,
                      struct bm_chunking chunking,
                      const struct bm_block *blocks, size_t count)
{
    const struct bm_chunking_functions *calls = chunking.calls;
    struct filling f = {p, 0};

    memset(p, 0, sizeof(*p));
    p->a = a;
    p->chunking = chunking;
    p->blocks = blocks;
    p->block_count = count;
    if (count > UINT32_MAX)
        return BOUMA_ELIMIT;
    p->first = bm_new(a, (size_t)chunking.count + 2, sizeof(*p->first));
    if (!p->first)
        return BOUMA_ENOMEM;
    for (size_t b = 0; b < count; b++)
        calls->touched(chunking.own, &blocks[b].box, chunking.level, count_run,
                       p->first);
    for (int64_t i = 0; i < chunking.count; i++)
        p->first[i + 2] += p->first[i + 1];
    p->part =
        bm_new_raw(a, (size_t)p->first[chunking.count + 1], sizeof(*p->part));
    if (!p->part) {
        bm_partition_release(p);
        return BOUMA_ENOMEM;
    }
    for (size_t b = 0; b < count; b++) {
        f.block = (uint32_t)b;
        calls->touched(chunking.own, &blocks[b].box, chunking.level, fill_run,
                       &f);
    }
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

struct bm_footprint bm_partition_part(const struct bm_partition *p,
                                      int64_t chunk, int64_t i)
{
    struct bm_footprint whole = bm_chunking_footprint(&p->chunking, chunk);
    struct bm_box part = bm_footprint_part(&whole, &p->blocks[p->part[i]].box);

    return bm_footprint_cut(&whole, &part);
}

/* Below this number of parts each pair is compared, above it cells are
 * marked. */
#define PAIRWISE 48

/* Parts are counted from the first sample of their chunk. */
static struct bm_box part_in(const struct bm_partition *p,
                             const struct bm_footprint *whole, int64_t i)
{
    return bm_footprint_part(whole, &p->blocks[p->part[i]].box);
}

static struct bm_box region_of(const struct bm_footprint *whole,
                               const struct bm_box *part)
{
    struct bm_footprint some = bm_footprint_cut(whole, part);

    return bm_footprint_bounds(&some);
}

/* ---- chunks whose samples lie apart -------------------------------------- */

/* What is wrong with one of them is wrong with others, too: the box around some
 * of its samples would say little. */
static int lies_apart(const struct bm_footprint *whole)
{
    return whole->shift[0] || whole->shift[1] || whole->shift[2];
}

/* The smallest box around all chunks: the grid. */
static struct bm_box find_domain(const struct bm_partition *p)
{
    struct bm_footprint f = bm_chunking_footprint(&p->chunking, 0);
    struct bm_box domain = bm_footprint_bounds(&f);

    for (int64_t i = 1; i < p->chunking.count; i++) {
        struct bm_box box;

        f = bm_chunking_footprint(&p->chunking, i);
        box = bm_footprint_bounds(&f);
        for (int d = 0; d < 3; d++) {
            if (box.lo[d] < domain.lo[d])
                domain.lo[d] = box.lo[d];
            if (box.hi[d] > domain.hi[d])
                domain.hi[d] = box.hi[d];
        }
    }
    return domain;
}

/* A box without samples of any block, around a sample that is in none: as far
 * as it goes along the last axis, then along the others. */
static struct bm_box find_gap(const struct bm_partition *p,
                              const struct bm_box *sample)
{
    struct bm_box domain = find_domain(p), gap = *sample;

    for (int d = 2; d >= 0; d--) {
        struct bm_box beam = gap, common;

        beam.lo[d] = domain.lo[d];
        beam.hi[d] = domain.hi[d];
        for (size_t b = 0; b < p->block_count; b++) {
            const struct bm_box *box = &p->blocks[b].box;

            if (!bm_box_meet(&common, &beam, box))
                continue;
            if (box->lo[d] >= gap.hi[d])
                beam.hi[d] = box->lo[d];
            else
                beam.lo[d] = box->hi[d];
        }
        gap = beam;
    }
    return gap;
}

static int find_overlap(const struct bm_partition *p, int64_t chunk,
                        const struct bm_footprint *whole,
                        struct bm_cover_fault *fault)
{
    for (int64_t i = p->first[chunk]; i < p->first[chunk + 1]; i++) {
        struct bm_box mine = part_in(p, whole, i);

        for (int64_t j = p->first[chunk]; j < i; j++) {
            struct bm_box other = part_in(p, whole, j), common;

            if (bm_box_meet(&common, &mine, &other)) {
                fault->region = region_of(whole, &common);
                if (lies_apart(whole)) /* all that both have */
                    bm_box_meet(&fault->region, &p->blocks[p->part[j]].box,
                                &p->blocks[p->part[i]].box);
                fault->rank[0] = p->blocks[p->part[j]].rank;
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

/* Mark the samples of every part of a chunk in bits[]; 1 at an overlap. */
static int mark_parts(const struct bm_partition *p, int64_t chunk,
                      const struct bm_footprint *whole, uint64_t *bits)
{
    int64_t ny = whole->count[1], nx = whole->count[2];

    for (int64_t i = p->first[chunk]; i < p->first[chunk + 1]; i++) {
        struct bm_box part = part_in(p, whole, i);

        for (int64_t z = part.lo[0]; z < part.hi[0]; z++)
            for (int64_t y = part.lo[1]; y < part.hi[1]; y++)
                if (mark_row(bits, (uint64_t)((z * ny + y) * nx + part.lo[2]),
                             (uint64_t)(part.hi[2] - part.lo[2])))
                    return 1;
    }
    return 0;
}

/* Whether no sample in a box is marked. */
static int is_unmarked(const struct bm_footprint *whole, const uint64_t *bits,
                       const struct bm_box *box)
{
    int64_t ny = whole->count[1], nx = whole->count[2];

    for (int64_t z = box->lo[0]; z < box->hi[0]; z++)
        for (int64_t y = box->lo[1]; y < box->hi[1]; y++)
            for (int64_t x = box->lo[2]; x < box->hi[2]; x++) {
                uint64_t sample = (uint64_t)((z * ny + y) * nx + x);

                if (bits[sample >> 6] >> (sample & 63) & 1)
                    return 0;
            }
    return 1;
}

/* A box of samples of a chunk that are not marked, from the first one on: as
 * far as it goes, but not over samples of other chunks. */
static struct bm_box find_unmarked(const struct bm_partition *p,
                                   const struct bm_footprint *whole,
                                   const uint64_t *bits)
{
    int64_t ny = whole->count[1], nx = whole->count[2], first = 0;
    struct bm_box out;

    while (bits[first >> 6] >> (first & 63) & 1)
        first++;
    out = (struct bm_box){{first / nx / ny, first / nx % ny, first % nx},
                          {0, 0, 0}};
    for (int d = 0; d < 3; d++)
        out.hi[d] = out.lo[d] + 1;
    for (int d = 2; d >= 0; d--) {
        struct bm_box next = out;

        for (; out.hi[d] < whole->count[d] && !whole->shift[d]; out.hi[d]++) {
            next.lo[d] = out.hi[d];
            next.hi[d] = out.hi[d] + 1;
            if (!is_unmarked(whole, bits, &next))
                break;
        }
    }
    out = region_of(whole, &out);
    return lies_apart(whole) ? find_gap(p, &out) : out;
}

/* The parts of a chunk have the right number of samples in sum, and there are
 * few: is no sample in two of them? Their boxes are taken together first. */
static int few_are_disjoint(const struct bm_partition *p, int64_t chunk,
                            const struct bm_footprint *whole)
{
    struct bm_box boxes[PAIRWISE], common;
    int n = 0;

    for (int64_t i = p->first[chunk]; i < p->first[chunk + 1]; i++, n++) {
        boxes[n] = part_in(p, whole, i);
        for (int k = 0; k < n; k++)
            if (bm_box_meet(&common, &boxes[k], &boxes[n]))
                return 0;
    }
    return 1;
}

/* A chunk whose parts have the right number of samples in sum is covered if no
 * two meet; one with another number is at fault anyway, and only where has to
 * be found. */
static int check_chunk(const struct bm_partition *p, int64_t chunk,
                       struct bm_cover_fault *fault)
{
    struct bm_footprint whole = bm_chunking_footprint(&p->chunking, chunk);
    uint64_t samples = bm_footprint_samples(&whole), sum = 0;
    int64_t parts = p->first[chunk + 1] - p->first[chunk];
    uint64_t *bits;
    int rc = BOUMA_OK;

    for (int64_t i = p->first[chunk]; i < p->first[chunk + 1]; i++)
        sum += bm_footprint_samples_in(&whole, &p->blocks[p->part[i]].box);
    if (sum == samples && (parts == 1 || (parts <= PAIRWISE &&
                                          few_are_disjoint(p, chunk, &whole))))
        return BOUMA_OK;
    if (parts <= PAIRWISE && find_overlap(p, chunk, &whole, fault))
        return BOUMA_ECOVER;
    if (parts == 0) {
        fault->region = bm_footprint_bounds(&whole);
        if (lies_apart(&whole)) {
            struct bm_box one = {{0, 0, 0}, {1, 1, 1}};

            one = region_of(&whole, &one);
            fault->region = find_gap(p, &one);
        }
        fault->rank[0] = fault->rank[1] = -1;
        return BOUMA_ECOVER;
    }
    bits = bm_new(p->a, (size_t)(samples / 64 + 1), sizeof(*bits));
    if (!bits)
        return BOUMA_ENOMEM;
    if (mark_parts(p, chunk, &whole, bits)) {
        find_overlap(p, chunk, &whole, fault);
        rc = BOUMA_ECOVER;
    } else if (sum != samples) {
        fault->region = find_unmarked(p, &whole, bits);
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

    for (int64_t i = 0; i < p->chunking.count && !rc; i++)
        rc = check_chunk(p, i, fault);
    return rc;
}
