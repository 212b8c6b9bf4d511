/* read_plan.c -- see read_plan.h. */
#include "read/read_plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/image.h"
#include "base/search.h"
#include "plan/distribute.h"

#define REQUEST_BYTES 60
/* In the level of a request: what is read goes to its array later. */
#define DELIVERS ((uint32_t)1 << 31)

/* ---- what all ranks want ------------------------------------------------- */

/* What some rank wants; 'number' is its index among that rank's requests. */
struct rank_request {
    uint32_t variable;
    int level;
    uint32_t number;
    struct bm_block block;
};

static int by_group(const void *left, const void *right)
{
    const struct rank_request *a = left, *b = right;

    if (a->variable != b->variable)
        return a->variable < b->variable ? -1 : 1;
    if (a->level != b->level)
        return a->level < b->level ? -1 : 1;
    if (a->block.rank != b->block.rank)
        return a->block.rank < b->block.rank ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

static void describe(struct bm_buffer *out,
                     const struct bm_read_request *requests,
                     const uint8_t *delivers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        bm_put_u32(out, requests[i].variable->id);
        bm_put_u32(out,
                   (uint32_t)requests[i].level | (delivers[i] ? DELIVERS : 0));
        bm_put_u32(out, (uint32_t)i);
        for (int d = 0; d < 3; d++) {
            bm_put_i64(out, requests[i].box.lo[d]);
            bm_put_i64(out, requests[i].box.hi[d]);
        }
    }
}

static void get_request(struct rank_request *out, struct bm_cursor *in,
                        int rank, int *delivered)
{
    uint32_t level;

    out->variable = bm_get_u32(in);
    level = bm_get_u32(in);
    out->level = (int)(level & ~DELIVERS);
    *delivered |= (level & DELIVERS) != 0;
    out->number = bm_get_u32(in);
    out->block.rank = rank;
    for (int d = 0; d < 3; d++) {
        out->block.box.lo[d] = bm_get_i64(in);
        out->block.box.hi[d] = bm_get_i64(in);
    }
}

/* ---- a group ------------------------------------------------------------- */

size_t bm_read_part_bytes(const struct bouma_variable *v,
                          const struct bm_footprint *part)
{
    return (size_t)bm_footprint_samples(part) * bm_variable_sample_size(v);
}

static struct bm_chunking chunking_of(const struct bm_read_group *g)
{
    const struct bm_object *o = g->variable->object;
    struct bm_chunking chunking = o->layout->chunking(o);

    chunking.level = g->level;
    return chunking;
}

/* Chunks may have no samples at a coarse level: nobody reads those. */
static int has_samples(const struct bm_chunking *chunking, int64_t chunk)
{
    struct bm_footprint f = bm_chunking_footprint(chunking, chunk);

    return bm_footprint_samples(&f) > 0;
}

/* The chunks that are read, in the order of their owners. */
static int order_chunks(struct bm_read_group *g, const bouma_allocator *a,
                        int ranks)
{
    const struct bm_chunking *chunking = &g->partition.chunking;
    size_t *next = bm_new(a, (size_t)ranks + 1, sizeof(*next));

    if (!next)
        return BOUMA_ENOMEM;
    for (int64_t i = 0; i < chunking->count; i++) {
        if (g->owner[i] >= 0 && !has_samples(chunking, i))
            g->owner[i] = -1;
        if (g->owner[i] >= 0)
            next[g->owner[i] + 1]++;
    }
    for (int r = 0; r < ranks; r++)
        next[r + 1] += next[r];
    g->wanted = next[ranks];
    g->by_owner = bm_new_raw(a, g->wanted, sizeof(*g->by_owner));
    for (int64_t i = 0; i < chunking->count && g->by_owner; i++)
        if (g->owner[i] >= 0)
            g->by_owner[next[g->owner[i]]++] = i;
    bm_drop(a, next);
    return g->by_owner ? BOUMA_OK : BOUMA_ENOMEM;
}

/* Whether some chunk has samples that others want than who reads it. */
static int is_shared(const struct bm_read_group *g)
{
    const struct bm_partition *p = &g->partition;

    for (size_t i = 0; i < g->wanted; i++) {
        int64_t chunk = g->by_owner[i];

        for (int64_t k = p->first[chunk]; k < p->first[chunk + 1]; k++) {
            struct bm_footprint part = bm_partition_part(p, chunk, k);

            if (g->blocks[p->part[k]].rank != g->owner[chunk] &&
                bm_footprint_samples(&part))
                return 1;
        }
    }
    return 0;
}

static int plan_group(struct bm_read_group *g, const bouma_allocator *a,
                      const struct rank_request *requests, int ranks)
{
    struct bm_chunking chunking = chunking_of(g);
    int rc;

    g->blocks = bm_new_raw(a, g->count, sizeof(*g->blocks));
    g->number = bm_new_raw(a, g->count, sizeof(*g->number));
    g->owner = bm_new_raw(a, (size_t)chunking.count, sizeof(*g->owner));
    if (!g->blocks || !g->number || !g->owner)
        return BOUMA_ENOMEM;
    for (size_t i = 0; i < g->count; i++) {
        g->blocks[i] = requests[i].block;
        g->number[i] = requests[i].number;
    }
    rc = bm_partition_init(&g->partition, a, chunking, g->blocks, g->count);
    if (!rc)
        rc = bm_distribute_readers(g->owner, &g->partition, ranks);
    return rc ? rc : order_chunks(g, a, ranks);
}

/* ---- the plan ------------------------------------------------------------ */

/* Requests of one group follow each other: the end of those from 'i' on. */
static size_t group_end(const struct rank_request *requests, size_t count,
                        size_t i)
{
    size_t end = i + 1;

    while (end < count && requests[end].variable == requests[i].variable &&
           requests[end].level == requests[i].level)
        end++;
    return end;
}

static int plan_groups(struct bm_read_plan *plan,
                       const struct bm_schema *schema,
                       const struct rank_request *requests, size_t count,
                       int ranks)
{
    size_t groups = 0;
    int rc = BOUMA_OK;

    for (size_t i = 0; i < count; i = group_end(requests, count, i))
        groups++;
    plan->groups = bm_new(plan->a, groups, sizeof(*plan->groups));
    if (!plan->groups)
        return BOUMA_ENOMEM;
    for (size_t i = 0; i < count && !rc;
         i += plan->groups[plan->group_count++].count) {
        struct bm_read_group *g = &plan->groups[plan->group_count];

        g->variable = schema->by_id[requests[i].variable];
        g->level = requests[i].level;
        g->count = group_end(requests, count, i) - i;
        rc = plan_group(g, plan->a, requests + i, ranks);
        plan->shared |= !rc && !plan->shared && is_shared(g);
    }
    return rc;
}

/* On the first rank of a node: from the requests of all. */
static int make_here(struct bm_read_plan *plan, const struct bm_schema *schema,
                     const struct bm_buffer *all, const size_t *sizes,
                     int ranks)
{
    size_t count = all->size / REQUEST_BYTES, n = 0;
    struct rank_request *requests =
        bm_new_raw(plan->a, count, sizeof(*requests));
    struct bm_cursor in = bm_cursor_of(all->data, all->size);
    int rc;

    if (!requests)
        return BOUMA_ENOMEM;
    for (int r = 0; r < ranks; r++)
        for (size_t i = 0; i < sizes[r] / REQUEST_BYTES; i++)
            get_request(&requests[n++], &in, r, &plan->delivered);
    if (count)
        qsort(requests, count, sizeof(*requests), by_group);
    rc = plan_groups(plan, schema, requests, count, ranks);
    bm_drop(plan->a, requests);
    return rc;
}

static void drop_arrays(struct bm_read_plan *plan)
{
    for (size_t i = 0; i < plan->group_count && !plan->is_view; i++) {
        struct bm_read_group *g = &plan->groups[i];

        bm_partition_release(&g->partition);
        bm_drop(plan->a, g->blocks);
        bm_drop(plan->a, g->number);
        bm_drop(plan->a, g->owner);
        bm_drop(plan->a, g->by_owner);
    }
}

void bm_read_plan_release(struct bm_read_plan *plan)
{
    if (!plan->a)
        return;
    drop_arrays(plan);
    bm_drop(plan->a, plan->groups);
    bm_common_release(&plan->common);
    memset(plan, 0, sizeof(*plan));
}

/* ---- on a node ----------------------------------------------------------- */

/* All of 8 bytes, so that there is nothing in between. */
struct plan_facts {
    uint64_t groups, shared, delivered;
};

struct group_facts {
    uint64_t variable, level, count, wanted;
};

#define ARRAY(m, array, count)                                                 \
    ((array) = bm_image_array((m), (array), (size_t)(count), sizeof(*(array))))

/* Of who packs, and of who reads. */
static void arrays(struct bm_image *m, struct bm_read_group *g)
{
    struct bm_partition *p = &g->partition;

    ARRAY(m, g->blocks, g->count);
    ARRAY(m, g->number, g->count);
    ARRAY(m, p->first, p->chunking.count + 1);
    ARRAY(m, p->part, p->first[p->chunking.count]);
    ARRAY(m, g->owner, p->chunking.count);
    ARRAY(m, g->by_owner, g->wanted);
}

static void pack(struct bm_image *m, struct bm_read_plan *plan)
{
    struct plan_facts facts = {plan->group_count, (uint64_t)plan->shared,
                               (uint64_t)plan->delivered};

    bm_image_array(m, &facts, 1, sizeof(facts));
    for (size_t i = 0; i < plan->group_count; i++) {
        struct bm_read_group *g = &plan->groups[i];
        struct group_facts own = {g->variable->id, (uint64_t)g->level, g->count,
                                  g->wanted};

        bm_image_array(m, &own, 1, sizeof(own));
        arrays(m, g);
    }
}

static int fill(struct bm_read_plan *plan)
{
    struct bm_image m = {.at = 0};

    pack(&m, plan);
    m.to = bm_common_room(&plan->common, m.at);
    m.at = 0;
    if (!m.to)
        return BOUMA_ENOMEM;
    pack(&m, plan);
    return BOUMA_OK;
}

/* What is in the image, instead of what this rank has. BOUMA_OK or ENOMEM. */
static int view(struct bm_read_plan *plan, const struct bm_schema *schema)
{
    struct bm_image m = {.from = plan->common.data};
    const struct plan_facts *facts =
        bm_image_array(&m, NULL, 1, sizeof(*facts));
    struct bm_read_group *groups =
        bm_new(plan->a, (size_t)facts->groups, sizeof(*groups));

    if (!groups)
        return BOUMA_ENOMEM;
    drop_arrays(plan);
    bm_drop(plan->a, plan->groups);
    plan->is_view = 1;
    plan->groups = groups;
    plan->group_count = (size_t)facts->groups;
    plan->shared = (int)facts->shared;
    plan->delivered = (int)facts->delivered;
    for (size_t i = 0; i < plan->group_count; i++) {
        struct bm_read_group *g = &groups[i];
        const struct group_facts *own =
            bm_image_array(&m, NULL, 1, sizeof(*own));

        g->variable = schema->by_id[own->variable];
        g->level = (int)own->level;
        g->count = (size_t)own->count;
        g->wanted = (size_t)own->wanted;
        g->partition.chunking = chunking_of(g);
        g->partition.block_count = g->count;
        arrays(&m, g);
        g->partition.blocks = g->blocks;
    }
    return BOUMA_OK;
}

/* The plan of the first rank of the node becomes that of all its ranks. */
static int share(struct bm_read_plan *plan, const struct bm_schema *schema,
                 struct bm_comm *comm, int rc, struct bm_error *error)
{
    struct bm_comm *near = bm_comm_near(comm);

    if (near->size == 1 || comm->lost)
        return rc;
    bm_common_init(&plan->common, plan->a);
    if (!rc && near->rank == 0 && fill(plan))
        rc = bm_fail(error, BOUMA_ENOMEM, "no memory to plan the read");
    rc = bm_common_tell(&plan->common, near, rc, error);
    return rc || !view(plan, schema)
               ? rc
               : bm_fail(error, BOUMA_ENOMEM, "no memory to plan the read");
}

int bm_read_plan_make(struct bm_read_plan *plan, struct bouma_step *step,
                      const struct bm_read_request *requests,
                      const uint8_t *delivers, size_t count, int rc)
{
    struct bouma_dataset *ds = step->ds;
    const struct bm_schema *schema = step->manifest.schema;
    int leads = bm_comm_leads(ds->comm);
    size_t *sizes =
        bm_new(ds->a, leads ? (size_t)ds->comm->size : 0, sizeof(*sizes));
    struct bm_buffer mine, all;

    memset(plan, 0, sizeof(*plan));
    plan->a = ds->a;
    bm_buffer_init(&mine, ds->a);
    bm_buffer_init(&all, ds->a);
    if (!rc)
        describe(&mine, requests, delivers, count);
    if (!sizes && !rc)
        rc = bm_fail(&ds->error, BOUMA_ENOMEM, "no memory to read");
    rc = bm_comm_collect_at_nodes(ds->comm, &mine, &all, sizes, rc, &ds->error);
    if (!rc && leads) {
        rc = make_here(plan, schema, &all, sizes, ds->comm->size);
        if (rc)
            bm_fail(&ds->error, rc, "no memory to plan the read");
    }
    bm_buffer_release(&mine);
    bm_buffer_release(&all);
    bm_drop(ds->a, sizes);
    return share(plan, schema, ds->comm, rc, &ds->error);
}

/* ---- what concerns a rank ------------------------------------------------ */

/* The first in the order of owners that this one or a later one reads. */
static size_t first_of(const struct bm_read_group *g, int owner)
{
    size_t at = 0;

    if (!g->wanted || g->owner[g->by_owner[0]] >= owner)
        return 0;
    BM_BISECT(at, g->wanted, i, g->owner[g->by_owner[i]] < owner);
    return at + 1;
}

void bm_read_group_find(const struct bm_read_group *g, int owner, size_t *begin,
                        size_t *end)
{
    *begin = first_of(g, owner);
    *end = first_of(g, owner + 1);
}

/* The requests of a rank, or where they would be. */
static size_t first_request(const struct bm_read_group *g, int rank)
{
    size_t at = 0;

    if (!g->count || g->blocks[0].rank >= rank)
        return 0;
    BM_BISECT(at, g->count, i, g->blocks[i].rank < rank);
    return at + 1;
}

struct listing {
    const bouma_allocator *a;
    const struct bm_read_group *group;
    int *readers;
    size_t count;
    int failed;
};

static void add_reader(struct listing *l, int reader)
{
    int *grown = l->failed
                     ? NULL
                     : bm_grow(l->a, l->readers, l->count, sizeof(*l->readers));

    if (!grown) {
        l->failed = 1;
        return;
    }
    l->readers = grown;
    grown[l->count++] = reader;
}

static void add_run(void *context, int64_t first, int64_t end)
{
    struct listing *l = context;

    for (int64_t i = first; i < end; i++) {
        int owner = l->group->owner[i];

        if (owner >= 0 && (!l->count || l->readers[l->count - 1] != owner))
            add_reader(l, owner);
    }
}

static int ascending(const void *left, const void *right)
{
    const int *a = left, *b = right;

    return *a < *b ? -1 : *a > *b;
}

int bm_read_plan_readers(const struct bm_read_plan *plan, int rank, int **out,
                         size_t *count)
{
    struct listing l = {.a = plan->a};
    size_t n = 0;

    add_reader(&l, rank);
    for (size_t i = 0; i < plan->group_count; i++) {
        const struct bm_read_group *g = &plan->groups[i];
        const struct bm_chunking *c = &g->partition.chunking;

        l.group = g;
        for (size_t k = first_request(g, rank); k < first_request(g, rank + 1);
             k++)
            c->calls->touched(c->own, &g->blocks[k].box, g->level, add_run, &l);
    }
    if (l.count)
        qsort(l.readers, l.count, sizeof(*l.readers), ascending);
    for (size_t i = 0; i < l.count; i++)
        if (!n || l.readers[i] != l.readers[n - 1])
            l.readers[n++] = l.readers[i];
    *out = l.readers;
    *count = n;
    return l.failed ? BOUMA_ENOMEM : BOUMA_OK;
}
