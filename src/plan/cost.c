/* cost.c -- see cost.h. */
#include "plan/cost.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"

/* Where the bytes of a file come from: what is on one node is taken together,
 * as it is equally far from anywhere. */
struct site {
    int node;            /* its index in names[] */
    double ranks, bytes; /* that send */
};

/* Where the bytes of one file come from, and how far that is. */
struct file_sites {
    size_t count;
    struct site *each;
    int *at;           /* a rank of the site */
    double *weight;    /* of the site */
    double *hops;      /* to the site, from all ranks */
    double *byte_hops; /* the same, each times its bytes */
    double bytes;
};

/* What has been placed, and room for one file. */
struct placer {
    const bouma_allocator *a;
    const struct bm_cost_rule *rule;
    const struct bm_gathering *gathering;
    int ranks, nodes;
    double all_bytes;
    size_t dram;          /* the tier that it is */
    int *names;           /* [nodes], the network's numbers, ascending */
    int *node;            /* [ranks], the index of its node in names[] */
    uint64_t *rank_bytes; /* [ranks], that it gathers */
    uint32_t *rank_tiers; /* [ranks], bit t: it has buffers in tier t */
    uint64_t *node_bytes; /* [nodes] */
    uint64_t *used;       /* [nodes][tiers], bytes */
    size_t *site_of;      /* [nodes], 0: none, else its index + 1 */
    struct file_sites sites;
};

/* ---- speeds ------------------------------------------------------------- */

/* Of two bandwidths; 0 is no limit. */
static double slower(double a, double b)
{
    if (!(a > 0))
        return b;
    return b > 0 && b < a ? b : a;
}

static double seconds(double bytes, double bandwidth)
{
    return bandwidth > 0 ? bytes / bandwidth : 0;
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

const char *bm_cost_term_name(int i)
{
    static const char *const names[BM_COST_TERMS] = {"gather", "store", "links",
                                                     "wait"};

    return names[i];
}

double bm_cost_sum(const struct bm_cost *cost)
{
    return cost->gather + cost->store + cost->links + cost->wait;
}

/* ---- one file ----------------------------------------------------------- */

/* All pairs, for networks that know no better. */
static void sum_pairs(const struct bm_network *n, const struct file_sites *s,
                      double *sum)
{
    for (size_t i = 0; i < s->count; i++) {
        sum[i] = 0;
        for (size_t k = 0; k < s->count; k++)
            sum[i] += s->weight[k] * n->hops(n->context, s->at[k], s->at[i]);
    }
}

static int sum_hops(const struct placer *p, double *sum)
{
    const struct bm_network *n = p->rule->network;
    const struct file_sites *s = &p->sites;

    if (n->sums)
        return n->sums(n->context, p->a, s->at, s->weight, s->count, sum);
    sum_pairs(n, s, sum);
    return BOUMA_OK;
}

/* Sum up the file's bytes by node. */
static void list_sites(struct placer *p, int64_t file)
{
    const struct bm_gathering *g = p->gathering;
    struct file_sites *s = &p->sites;

    s->count = 0;
    s->bytes = 0;
    for (size_t i = g->first[file]; i < g->first[file + 1]; i++) {
        size_t *entry = &p->site_of[p->node[g->rank[i]]];

        if (!*entry) {
            s->at[s->count] = g->rank[i];
            s->each[s->count] = (struct site){p->node[g->rank[i]], 0, 0};
            *entry = ++s->count;
        }
        s->each[*entry - 1].ranks += 1;
        s->each[*entry - 1].bytes += (double)g->bytes[i];
        s->bytes += (double)g->bytes[i];
    }
}

static void forget_sites(struct placer *p)
{
    for (size_t i = 0; i < p->sites.count; i++)
        p->site_of[p->sites.each[i].node] = 0;
}

/* Where a file's bytes are, and how far that is from each node of its group. */
static int look_at(struct placer *p, int64_t file)
{
    struct file_sites *s = &p->sites;
    int rc;

    list_sites(p, file);
    for (size_t i = 0; i < s->count; i++)
        s->weight[i] = s->each[i].ranks;
    rc = sum_hops(p, s->hops);
    for (size_t i = 0; i < s->count; i++)
        s->weight[i] = s->each[i].bytes;
    return rc ? rc : sum_hops(p, s->byte_hops);
}

/* The bytes that a rank must have in a tier besides those that it has there. */
static uint64_t wanted(const struct placer *p, int rank, size_t tier)
{
    uint64_t bytes;

    if (p->rule->persist)
        return (uint64_t)p->sites.bytes;
    if (p->rank_tiers[rank] >> tier & 1)
        return 0;
    return __builtin_mul_overflow((uint64_t)p->rule->buffers,
                                  p->rule->buffer_bytes, &bytes)
               ? UINT64_MAX
               : bytes;
}

/* Whether a rank can gather the file in a tier. */
static int fits(const struct placer *p, int rank, size_t tier)
{
    const struct bm_tier *t = &p->rule->tiers[tier];
    uint64_t used = p->used[(size_t)p->node[rank] * p->rule->tier_count + tier];

    if (p->rule->only && t->kind != p->rule->only)
        return 0;
    if (p->rule->persist && t->persistence == BM_KEEPS_NOTHING)
        return 0;
    return !t->capacity ||
           (used <= t->capacity && wanted(p, rank, tier) <= t->capacity - used);
}

/* For the file that was looked at. */
static struct bm_cost cost_of(const struct placer *p, int rank, size_t tier)
{
    const struct bm_network *n = p->rule->network;
    const struct bm_tier *t = &p->rule->tiers[tier];
    size_t at = p->site_of[p->node[rank]] - 1;
    const struct site *site = &p->sites.each[at];
    double inside = slower(p->rule->tiers[p->dram].bandwidth, t->bandwidth);
    double in = slower(n->bandwidth, inside);
    double on = slower(slower(n->bandwidth, t->bandwidth), n->target_bandwidth);
    double share = 1 - p->sites.bytes / p->all_bytes;
    struct bm_cost c = {
        .rank = rank, .node = p->names[site->node], .tier = tier};

    c.fits = fits(p, rank, tier);
    c.gather = larger(n->latency, t->latency) * p->sites.hops[at] +
               t->latency * site->ranks +
               seconds(p->sites.bytes - site->bytes, in) +
               seconds(site->bytes, inside);
    c.store = n->latency * n->hops_to_target(n->context, rank) +
              n->target_latency + seconds(p->sites.bytes, on);
    c.links = share * seconds(p->sites.byte_hops[at], n->bandwidth);
    c.wait = seconds((double)p->node_bytes[site->node], slower(in, on)) +
             seconds((double)p->rank_bytes[rank], inside);
    c.gather = n->without & BM_COST_GATHER ? 0 : c.gather;
    c.store = n->without & BM_COST_STORE ? 0 : c.store;
    c.links = n->without & BM_COST_LINKS ? 0 : c.links;
    c.wait = n->without & BM_COST_WAIT ? 0 : c.wait;
    return c;
}

/* Whether a is to be taken rather than b. They come ascending by rank and tier,
 * so b stays where they are equal. */
static int is_better(const struct bm_cost *a, const struct bm_cost *b)
{
    if (a->fits != b->fits)
        return a->fits;
    return bm_cost_sum(a) < bm_cost_sum(b);
}

/* Of tiers that do not fit, only DRAM can be taken. */
static int can_be(const struct placer *p, const struct bm_cost *c)
{
    return c->fits || c->tier == p->dram;
}

static struct bm_cost choose(const struct placer *p, int64_t file)
{
    const struct bm_gathering *g = p->gathering;
    struct bm_cost best = {.rank = -1};

    for (size_t i = g->first[file]; i < g->first[file + 1]; i++)
        for (size_t t = 0; t < p->rule->tier_count; t++) {
            struct bm_cost c = cost_of(p, g->rank[i], t);

            if (can_be(p, &c) && (best.rank < 0 || is_better(&c, &best)))
                best = c;
        }
    return best;
}

/* The file is gathered there. */
static void take(struct placer *p, const struct bm_cost *c)
{
    int node = p->node[c->rank];

    if (c->fits)
        p->used[(size_t)node * p->rule->tier_count + c->tier] +=
            wanted(p, c->rank, c->tier);
    p->rank_tiers[c->rank] |= (uint32_t)1 << c->tier;
    p->rank_bytes[c->rank] += (uint64_t)p->sites.bytes;
    p->node_bytes[node] += (uint64_t)p->sites.bytes;
}

/* Place a file, or find that nobody sends to it: then the rank is -1. */
static int place_one(struct placer *p, int64_t file, struct bm_cost *out)
{
    int rc = look_at(p, file);

    if (!rc)
        *out = choose(p, file);
    if (!rc && out->rank >= 0)
        take(p, out);
    forget_sites(p);
    return rc;
}

/* ---- all files ---------------------------------------------------------- */

static void placer_release(struct placer *p)
{
    bm_drop(p->a, p->names);
    bm_drop(p->a, p->node);
    bm_drop(p->a, p->rank_bytes);
    bm_drop(p->a, p->rank_tiers);
    bm_drop(p->a, p->node_bytes);
    bm_drop(p->a, p->used);
    bm_drop(p->a, p->site_of);
    bm_drop(p->a, p->sites.each);
    bm_drop(p->a, p->sites.at);
    bm_drop(p->a, p->sites.weight);
    bm_drop(p->a, p->sites.hops);
    bm_drop(p->a, p->sites.byte_hops);
}

static int ascending(const void *left, const void *right)
{
    const int *a = left, *b = right;

    return *a < *b ? -1 : *a > *b;
}

/* The index of a node in names[], mostly that of the rank before, or the next
 * one. */
static int index_of(const struct placer *p, int name, int before)
{
    size_t at = 0;

    if (p->names[before] == name)
        return before;
    if (before + 1 < p->nodes && p->names[before + 1] == name)
        return before + 1;
    BM_BISECT(at, (size_t)p->nodes, i, p->names[i] <= name);
    return (int)at;
}

/* The nodes that ranks are on: there may be many more in the network. */
static void list_nodes(struct placer *p)
{
    const struct bm_network *n = p->rule->network;
    int sorted = 1;

    for (int r = 0; r < p->ranks; r++) {
        p->names[r] = p->node[r] = n->node(n->context, r);
        sorted &= !r || p->node[r - 1] <= p->node[r];
    }
    if (!sorted)
        qsort(p->names, (size_t)p->ranks, sizeof(*p->names), ascending);
    for (int r = 0; r < p->ranks; r++)
        if (!p->nodes || p->names[p->nodes - 1] != p->names[r])
            p->names[p->nodes++] = p->names[r];
    for (int r = 0; r < p->ranks; r++)
        p->node[r] = index_of(p, p->node[r], r ? p->node[r - 1] : 0);
}

static int find_nodes(struct placer *p)
{
    size_t tiers = p->rule->tier_count;

    p->node = bm_new_raw(p->a, (size_t)p->ranks, sizeof(*p->node));
    p->names = bm_new_raw(p->a, (size_t)p->ranks, sizeof(*p->names));
    if (!p->node || !p->names)
        return BOUMA_ENOMEM;
    list_nodes(p);
    p->node_bytes = bm_new(p->a, (size_t)p->nodes, sizeof(*p->node_bytes));
    p->used = bm_new(p->a, (size_t)p->nodes * tiers, sizeof(*p->used));
    p->site_of = bm_new(p->a, (size_t)p->nodes, sizeof(*p->site_of));
    return p->node_bytes && p->used && p->site_of ? BOUMA_OK : BOUMA_ENOMEM;
}

/* Room for the sites of a group of 'most' ranks. */
static int make_room(struct file_sites *s, const bouma_allocator *a,
                     size_t most)
{
    s->each = bm_new_raw(a, most, sizeof(*s->each));
    s->at = bm_new_raw(a, most, sizeof(*s->at));
    s->weight = bm_new_raw(a, most, sizeof(*s->weight));
    s->hops = bm_new_raw(a, most, sizeof(*s->hops));
    s->byte_hops = bm_new_raw(a, most, sizeof(*s->byte_hops));
    return s->each && s->at && s->weight && s->hops && s->byte_hops
               ? BOUMA_OK
               : BOUMA_ENOMEM;
}

static int placer_init(struct placer *p, const bouma_allocator *a,
                       const struct bm_cost_rule *rule,
                       const struct bm_gathering *g)
{
    size_t most = 0;
    int rc;

    assert(g->ranks >= 1);
    assert(rule->tier_count >= 1 && rule->tier_count <= 32);
    memset(p, 0, sizeof(*p));
    p->a = a;
    p->rule = rule;
    p->gathering = g;
    p->ranks = g->ranks;
    for (size_t t = rule->tier_count; t-- > 0;)
        if (rule->tiers[t].kind == BOUMA_TIER_DRAM)
            p->dram = t;
    for (int64_t f = 0; f < g->files; f++) {
        size_t n = g->first[f + 1] - g->first[f];

        most = n > most ? n : most;
    }
    for (size_t i = 0; i < g->first[g->files]; i++)
        p->all_bytes += (double)g->bytes[i];
    rc = find_nodes(p);
    p->rank_bytes = bm_new(a, (size_t)g->ranks, sizeof(*p->rank_bytes));
    p->rank_tiers = bm_new(a, (size_t)g->ranks, sizeof(*p->rank_tiers));
    if (!rc && (!p->rank_bytes || !p->rank_tiers))
        rc = BOUMA_ENOMEM;
    return rc ? rc : make_room(&p->sites, a, most);
}

/* The tier that a choice means. */
static bouma_tier tier_of(const struct bm_cost_rule *rule,
                          const struct bm_cost *c)
{
    return rule->only ? rule->only : rule->tiers[c->tier].kind;
}

int bm_place_by_cost(int *writer, bouma_tier *tier, struct bm_cost *choice,
                     const bouma_allocator *a, const struct bm_cost_rule *rule,
                     const struct bm_gathering *gathering)
{
    struct placer p;
    int rc = placer_init(&p, a, rule, gathering);

    for (int64_t f = 0; f < gathering->files && !rc; f++) {
        struct bm_cost c;

        rc = place_one(&p, f, &c);
        if (rc)
            break;
        if (c.rank < 0)
            c = (struct bm_cost){
                .rank = bm_spread_file(gathering->files, gathering->ranks, f),
                .tier = p.dram};
        writer[f] = c.rank;
        if (tier)
            tier[f] = tier_of(rule, &c);
        if (choice)
            choice[f] = c;
    }
    placer_release(&p);
    return rc;
}

int bm_cost_table(struct bm_cost **out, size_t *count, const bouma_allocator *a,
                  const struct bm_cost_rule *rule,
                  const struct bm_gathering *gathering, int64_t file)
{
    const size_t *first = &gathering->first[file];
    struct bm_cost ignored;
    struct placer p;
    int rc = placer_init(&p, a, rule, gathering);

    *count = 0;
    *out = bm_new(a, (first[1] - first[0]) * rule->tier_count, sizeof(**out));
    if (!rc && !*out)
        rc = BOUMA_ENOMEM;
    for (int64_t f = 0; f < file && !rc; f++)
        rc = place_one(&p, f, &ignored);
    if (!rc)
        rc = look_at(&p, file);
    for (size_t i = first[0]; i < first[1] && !rc; i++)
        for (size_t t = 0; t < rule->tier_count; t++)
            (*out)[(*count)++] = cost_of(&p, gathering->rank[i], t);
    placer_release(&p);
    return rc;
}

double bm_byte_hops(const struct bm_network *network,
                    const struct bm_gathering *gathering, const int *writer)
{
    double sum = 0;

    for (int64_t f = 0; f < gathering->files; f++)
        for (size_t i = gathering->first[f]; i < gathering->first[f + 1]; i++)
            sum +=
                (double)gathering->bytes[i] *
                network->hops(network->context, gathering->rank[i], writer[f]);
    return sum;
}
