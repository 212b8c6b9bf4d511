/* estimate_sizes.c -- the stored bytes of chunks, and of their rows in the
 * tables of files; see estimate_parts.h. */
#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "plan/estimate_parts.h"

/* ---- values -------------------------------------------------------------- */

/* The values of a chunk's pieces. Most chunks are like the one before. */
struct values {
    const struct bm_estimate_chunks *chunks;
    struct bm_footprint of; /* samples, with the lowest bits of the start */
    uint64_t of_piece[BM_ESTIMATE_PIECES];
    uint64_t all;            /* 0: none yet */
    uint64_t stored;         /* 0: none yet, of which... */
    uint64_t bytes_of_sizes; /* ...the sizes in a table have these */
};

static void find_values(struct values *v, const struct bm_footprint *footprint,
                        uint64_t key)
{
    int64_t low = ((int64_t)1 << v->chunks->pieces) - 1;
    const struct bm_footprint *f = footprint;
    int same = v->all > 0;

    for (int d = 0; d < 3; d++)
        same &= (f->start[d] & low) == v->of.start[d] &&
                f->count[d] == v->of.count[d] && f->shift[d] == v->of.shift[d];
    if (same)
        return;
    v->of = *f;
    for (int d = 0; d < 3; d++)
        v->of.start[d] &= low;
    v->all = v->stored = 0;
    v->chunks->values(v->chunks->object, key, v->of_piece);
    for (int k = 0; k < v->chunks->pieces; k++)
        v->all += v->of_piece[k];
}

/* Bytes of the sizes of a chunk's pieces in a table. Each has its share of the
 * stored bytes. */
static uint64_t bytes_of_sizes(struct values *v, uint64_t stored)
{
    double scale = (double)stored / (double)v->all;
    uint64_t bytes = 0;

    if (stored == v->stored)
        return v->bytes_of_sizes;
    for (int k = v->chunks->pieces - 1; k >= 0; k--)
        bytes +=
            bm_varint_bytes((uint64_t)((double)v->of_piece[k] * scale + 0.5));
    v->stored = stored;
    v->bytes_of_sizes = bytes;
    return bytes;
}

/* ---- what sizes follow from ---------------------------------------------- */

/* How chunks differ from raw ones. */
struct rule {
    const struct bm_estimate_task *task;
    double scale;
    double *weight;  /* [chunks], with 'vary', else NULL */
    double *density; /* [ranks], bytes of a sample, with loads, else NULL */
    struct bm_holders holders;
};

/* How much harder a chunk is to compress: 1 far away from, and up to 'vary' at
 * a point of the grid that no symmetry leads to. */
static double weight_of(const struct bm_estimate_task *task,
                        const struct bm_footprint *f)
{
    static const double centre[3] = {0.3, 0.4, 0.35};
    double distance = 0;

    for (int d = 0; d < 3; d++) {
        double middle =
            (double)f->start[d] + ldexp((double)f->count[d], f->shift[d]) / 2;
        double x = middle / (double)task->shape[d] - centre[d];

        if (task->shape[d] > 1)
            distance += x * x;
    }
    return pow(task->vary, exp(-distance / (2 * 0.2 * 0.2)));
}

/* The stored bytes of all chunks have the sum that the ratio asks for. */
static int find_weights(struct rule *r, const bouma_allocator *a)
{
    const struct bm_estimate_task *task = r->task;
    const struct bm_chunking *c = &task->chunks.chunking;
    struct values values = {.chunks = &task->chunks};
    double raw = 0, weighted = 0;

    r->weight = bm_new_raw(a, (size_t)c->count, sizeof(*r->weight));
    if (!r->weight)
        return BOUMA_ENOMEM;
    for (int64_t i = 0; i < c->count; i++) {
        struct bm_footprint f = c->calls->footprint(c->own, i);
        double bytes;

        find_values(&values, &f, c->calls->key(c->own, i));
        bytes = (double)(values.all * task->sample_bytes);
        r->weight[i] = weight_of(task, &f);
        raw += bytes;
        weighted += bytes * r->weight[i];
    }
    r->scale *= raw / weighted;
    return BOUMA_OK;
}

static int find_densities(struct rule *r, const struct bm_rank_grid *g)
{
    r->density = bm_new_raw(g->a, (size_t)g->ranks, sizeof(*r->density));
    if (!r->density)
        return BOUMA_ENOMEM;
    for (int i = 0; i < g->ranks; i++) {
        struct bm_box box = bm_hz_ranks_box(&r->task->ranks, i);
        uint64_t samples = bm_box_volume(&box);

        r->density[i] =
            samples ? (double)r->task->loads[i] / (double)samples : 0;
    }
    return bm_holders_init(&r->holders, g);
}

/* Of the bytes of each block, a chunk has those of the samples it shares. */
static double share_of(struct rule *r, const struct bm_footprint *f)
{
    struct bm_holder now;
    double bytes = 0;

    bm_holders_find(&r->holders, f);
    now = bm_holders_first(&r->holders);
    do
        bytes += (double)now.samples * r->density[now.rank];
    while (bm_holders_next(&r->holders, &now));
    return bytes;
}

static uint64_t stored_bytes(struct rule *r, const struct bm_listed_chunk *c,
                             uint64_t raw)
{
    double bytes = (double)raw * r->scale;

    if (r->density)
        bytes = share_of(r, &c->footprint);
    else if (r->weight)
        bytes *= r->weight[c->chunk];
    else if (r->scale == 1)
        return raw;
    return bytes < 1 ? 1 : (uint64_t)(bytes + 0.5);
}

/* ---- all ----------------------------------------------------------------- */

uint64_t bm_estimate_opening(const void *own, size_t place)
{
    const struct bm_estimate_costs *c = own;

    return (uint64_t)c->task->copies *
           (c->task->section_bytes + bm_even_list_get(&c->apart, place));
}

/* The lowest bits of the starts of all chunks in a group are the same. */
static int is_like_others(const struct bm_chunk_group *g, int64_t low)
{
    const struct bm_footprint *f = &g->first.footprint;
    int64_t differ = 0;

    for (int i = 0; i < BM_CHUNK_GROUP_BITS; i++)
        differ |= f->count[g->axis[i]] << f->shift[g->axis[i]] & low;
    return !differ;
}

/* Groups in which all chunks are stored as the first one is. */
static int64_t list_groups(const struct rule *r, const struct bm_chunking *c,
                           int64_t first, int64_t count,
                           struct bm_chunk_group *out)
{
    const struct bm_estimate_chunks *chunks = &r->task->chunks;
    struct bm_listed_chunk list[BM_ESTIMATE_RUN];
    int64_t low = ((int64_t)1 << chunks->pieces) - 1, groups = 0;
    int even = !r->density && !r->weight;

    if (even) {
        groups = bm_chunking_list_groups(c, first, count, out);
        for (int64_t i = 0; i < groups && even; i++)
            even = out[i].count == 1 || is_like_others(&out[i], low);
    }
    if (even)
        return groups;
    bm_chunking_list(c, first, count, list);
    for (int64_t i = 0; i < count; i++)
        out[i] = (struct bm_chunk_group){.count = 1, .first = list[i]};
    return count;
}

/* The next chunks, from the one at 'place' on, which have the values and as many
 * stored bytes each; the largest cost. The first key is 'before' that of the
 * chunk before it, the others follow. */
static uint64_t put(struct bm_estimate *e, struct bm_estimate_costs *costs,
                    struct values *values, uint64_t before, size_t place,
                    const struct bm_chunk_group *g, uint64_t bytes)
{
    const struct bm_estimate_task *task = costs->task;
    uint64_t copies = (uint64_t)task->copies, most = 0;
    uint64_t row = task->row_bytes + bytes_of_sizes(values, bytes);
    uint64_t key_bytes = bm_varint_bytes(g->first.key);
    uint64_t apart = bm_varint_bytes(g->first.key - before);

    bm_sums_put(&e->bytes, place, (size_t)g->count, bytes);
    for (size_t i = 0, n; i < (size_t)g->count; i += n, apart = 1) {
        uint64_t cost = bytes + copies * (row + apart);

        n = apart == 1 ? (size_t)g->count - i : 1;
        bm_sums_put(&costs->each, place + i, n, cost);
        bm_even_list_put(&costs->apart, place + i, n,
                         (uint32_t)(key_bytes - apart));
        most = cost > most ? cost : most;
    }
    return most;
}

/* Fill in all; the largest cost. Owners are told of chunks in the first turn. */
static uint64_t fill(struct bm_estimate *e, struct bm_estimate_costs *costs,
                     struct rule *r, int turn)
{
    const struct bm_estimate_task *task = r->task;
    int64_t count = e->chunking.count, place = 0;
    uint64_t before = 0, most = 0;
    struct values values = {.chunks = &task->chunks};
    struct bm_chunk_group list[BM_ESTIMATE_RUN];

    for (int64_t n, groups; place < count;) {
        n = count - place < BM_ESTIMATE_RUN ? count - place : BM_ESTIMATE_RUN;
        groups = list_groups(r, &e->chunking, place, n, list);
        for (int64_t i = 0; i < groups; place += list[i++].count) {
            struct bm_chunk_group *g = &list[i];
            uint64_t bytes, cost;

            if (turn == 0)
                bm_owners_tell(&e->owners, place, g);
            find_values(&values, &g->first.footprint, g->first.key);
            bytes = stored_bytes(r, &g->first, values.all * task->sample_bytes);
            cost = put(e, costs, &values, before, (size_t)place, g, bytes);
            before = g->first.key + (uint64_t)g->count - 1;
            most = cost > most ? cost : most;
        }
    }
    return most;
}

/* Numbers of 31 bits, unless that is too few. */
static int fill_sums(struct bm_estimate *e, struct bm_estimate_costs *costs,
                     struct rule *r)
{
    size_t count = (size_t)e->chunking.count;
    uint64_t most = BM_EVEN_MOST;
    int rc = BOUMA_OK;

    for (int turn = 0; turn < 2 && !rc; turn++) {
        uint64_t found;

        rc = bm_sums_init(&e->bytes, e->a, count, most);
        if (!rc)
            rc = bm_sums_init(&costs->each, e->a, count, most);
        if (!rc)
            rc = bm_even_list_init(&costs->apart, e->a, count);
        if (rc)
            break;
        found = fill(e, costs, r, turn);
        if (found <= most)
            break;
        most = found;
        bm_sums_release(&e->bytes);
        bm_estimate_costs_release(costs);
    }
    if (!rc)
        rc = bm_sums_finish(&e->bytes);
    if (!rc)
        rc = bm_sums_finish(&costs->each);
    return rc ? rc : costs->apart.rc;
}

int bm_estimate_sizes(struct bm_estimate *e, struct bm_estimate_costs *costs,
                      const struct bm_estimate_task *task)
{
    struct rule rule = {.task = task, .scale = 1 / task->ratio};
    int rc = BOUMA_OK;

    memset(costs, 0, sizeof(*costs));
    costs->task = task;
    if (task->loads)
        rc = find_densities(&rule, &e->ranks);
    else if (task->vary > 1)
        rc = find_weights(&rule, e->a);
    if (!rc)
        rc = fill_sums(e, costs, &rule);
    bm_holders_release(&rule.holders);
    bm_drop(e->a, rule.density);
    bm_drop(e->a, rule.weight);
    return rc;
}

void bm_estimate_costs_release(struct bm_estimate_costs *costs)
{
    bm_sums_release(&costs->each);
    bm_even_list_release(&costs->apart);
}
