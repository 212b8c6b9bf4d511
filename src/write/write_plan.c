/* write_plan.c -- see write_plan.h. */
#include "write/write_plan.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/search.h"
#include "layout/front.h"
#include "plan/assign.h"
#include "write/own_plan.h"

#define NO_ENTRY   UINT32_MAX
#define BLOCK_SIZE 48

/* ---- descriptions ------------------------------------------------------- */

/* A description is a row of entries, one for each variable with blocks:
 *     u32 variable, u32 earlier entry with the same blocks or NO_ENTRY,
 *     u64 count, and (if none is the same) count times 6 i64 */
struct entry {
    uint32_t variable;
    size_t count;
    const uint8_t *blocks;
};

static void put_box(struct bm_buffer *b, const struct bm_box *box)
{
    for (int d = 0; d < 3; d++) {
        bm_put_i64(b, box->lo[d]);
        bm_put_i64(b, box->hi[d]);
    }
}

static struct bm_box get_box(const uint8_t *p)
{
    struct bm_box box;

    for (int d = 0; d < 3; d++) {
        box.lo[d] = (int64_t)bm_load_u64(p + 16 * d);
        box.hi[d] = (int64_t)bm_load_u64(p + 16 * d + 8);
    }
    return box;
}

/* Puts are sorted by variable; runs of one variable are its entry. */
void bm_plan_describe(struct bm_buffer *out, const struct bm_put *puts,
                      size_t count)
{
    size_t last_at = 0, last_count = 0; /* blocks of the last own list */
    uint32_t last = NO_ENTRY, n = 0;

    for (size_t i = 0, end; i < count; i = end, n++) {
        size_t at;

        for (end = i; end < count && puts[end].variable == puts[i].variable;)
            end++;
        bm_put_u32(out, puts[i].variable->id);
        bm_put_u32(out, NO_ENTRY);
        bm_put_u64(out, end - i);
        at = out->size;
        for (size_t k = i; k < end; k++)
            put_box(out, &puts[k].from.box);
        if (out->failed)
            return;
        if (last != NO_ENTRY && last_count == end - i &&
            !memcmp(out->data + last_at, out->data + at,
                    last_count * BLOCK_SIZE)) {
            bm_store_u32(out->data + at - 12, last);
            out->size = at;
        } else {
            last = n;
            last_at = at;
            last_count = end - i;
        }
    }
}

/* The entries of one rank's description, into entries[]; their number, or -1
 * if there are too many or they make no sense. */
static int parse(struct entry *entries, size_t room, const uint8_t *data,
                 size_t bytes)
{
    struct bm_cursor c = bm_cursor_of(data, bytes);
    size_t n = 0;

    while (bm_cursor_left(&c)) {
        uint32_t variable = bm_get_u32(&c), same = bm_get_u32(&c);
        uint64_t count = bm_get_u64(&c);

        if (n == room || c.failed || (same != NO_ENTRY && same >= n))
            return -1;
        entries[n].variable = variable;
        entries[n].count = count;
        entries[n].blocks = same == NO_ENTRY
                                ? bm_get_bytes(&c, count * BLOCK_SIZE)
                                : entries[same].blocks;
        if (!entries[n].blocks)
            return -1;
        n++;
    }
    return (int)n;
}

/* ---- decompositions ----------------------------------------------------- */

/* What all ranks say of one variable. */
struct gathered {
    uint64_t hash; /* equal hashes: the same blocks on the same ranks */
    size_t blocks;
};

struct reader {
    const struct bm_descriptions *told;
    struct entry *entries;     /* [variables], of the rank that is read */
    struct gathered *gathered; /* [variables], once all are read */
    size_t variables;
};

/* Call 'each' for every entry of every rank. */
static int each_entry(const struct reader *r,
                      void (*each)(void *context, int rank,
                                   const struct entry *entry),
                      void *context)
{
    const size_t *sizes = r->told->sizes;
    const uint8_t *p = r->told->all->data;

    for (int rank = 0; rank < r->told->ranks; p += sizes[rank], rank++) {
        int n = parse(r->entries, r->variables, p, sizes[rank]);

        if (n < 0)
            return BOUMA_ECOMM;
        for (int i = 0; i < n; i++)
            if (r->entries[i].variable < r->variables)
                each(context, rank, &r->entries[i]);
    }
    return BOUMA_OK;
}

static void gather_entry(void *context, int rank, const struct entry *entry)
{
    struct gathered *g = (struct gathered *)context + entry->variable;
    uint64_t v[3] = {g->hash, (uint64_t)rank,
                     bm_hash64(entry->blocks, entry->count * BLOCK_SIZE, 0)};

    g->hash = bm_hash64(v, sizeof(v), 0);
    g->blocks += entry->count;
}

struct collector {
    struct bm_decomposition *d;
    uint32_t variable;
};

static void collect_entry(void *context, int rank, const struct entry *entry)
{
    struct collector *c = context;

    if (entry->variable != c->variable)
        return;
    for (size_t i = 0; i < entry->count; i++) {
        struct bm_block *b = &c->d->blocks[c->d->block_count++];

        b->rank = rank;
        b->box = get_box(entry->blocks + i * BLOCK_SIZE);
    }
}

static int cover_fault(const struct bouma_variable *v,
                       const struct bm_plan_scope *scope,
                       struct bm_cover_fault *fault, struct bm_error *error)
{
    char box[160];

    for (int i = 0; i < 2 && scope && scope->inside; i++)
        if (fault->rank[i] >= 0)
            fault->rank[i] = scope->rank[fault->rank[i]];
    bm_box_text(box, sizeof(box), &fault->region, v->object->ndims);
    if (fault->rank[0] < 0)
        return bm_fail(error, BOUMA_ECOVER,
                       "variable \"%s/%s\": no rank holds the samples in %s; "
                       "the blocks of all ranks together must cover the grid",
                       v->object->name, v->name, box);
    if (fault->rank[0] == fault->rank[1])
        return bm_fail(error, BOUMA_ECOVER,
                       "variable \"%s/%s\": rank %d puts the samples %s twice; "
                       "blocks may not overlap (leave ghost cells out)",
                       v->object->name, v->name, fault->rank[0], box);
    return bm_fail(error, BOUMA_ECOVER,
                   "variable \"%s/%s\": ranks %d and %d both hold the samples "
                   "%s; blocks may not overlap (leave ghost cells out)",
                   v->object->name, v->name, fault->rank[0], fault->rank[1],
                   box);
}

/* If the grid has tiles: who transforms which; its blocks are then those of
 * coefficients. */
static int plan_tiles(struct bm_decomposition *d, const bouma_allocator *a,
                      const struct bm_descriptions *told,
                      bouma_distribute scheme, struct bm_cover_fault *fault)
{
    struct bm_tiling tiling;
    int rc;

    if (!bm_object_tiling(d->grid, &tiling))
        return BOUMA_OK;
    d->tiles = bm_new(a, 1, sizeof(*d->tiles));
    if (!d->tiles)
        return BOUMA_ENOMEM;
    *d->tiles = (struct bm_tile_plan){
        .a = a, .given = d->blocks, .given_count = d->block_count};
    d->blocks = NULL;
    rc = bm_tile_plan_make(d->tiles, a, &tiling, scheme, told->ranks, fault);
    if (rc)
        return rc;
    d->block_count = d->tiles->block_count;
    d->blocks = d->tiles->blocks;
    d->tiles->blocks = NULL;
    return BOUMA_OK;
}

/* The blocks of a variable, and who encodes which of its chunks, those of
 * d->partition.chunking. */
static int decompose(struct bm_decomposition *d, const bouma_allocator *a,
                     const struct reader *r, const struct bouma_variable *v,
                     bouma_distribute scheme, struct bm_error *error)
{
    struct collector c = {d, v->id};
    struct bm_cover_fault fault;
    struct bm_chunking chunking = d->partition.chunking;
    int rc = BOUMA_ENOMEM;

    d->grid = v->object;
    d->blocks = bm_new_raw(a, r->gathered[v->id].blocks, sizeof(*d->blocks));
    d->owner = bm_new_raw(a, (size_t)chunking.count, sizeof(*d->owner));
    if (d->blocks && d->owner)
        rc = each_entry(r, collect_entry, &c);
    if (!rc)
        rc = plan_tiles(d, a, r->told, scheme, &fault);
    if (rc == BOUMA_ECOVER)
        return cover_fault(v, r->told->scope, &fault, error);
    if (!rc)
        rc = bm_partition_init(&d->partition, a, chunking, d->blocks,
                               d->block_count);
    if (!rc)
        rc = bm_partition_check(&d->partition, &fault);
    if (rc == BOUMA_ECOVER)
        return cover_fault(v, r->told->scope, &fault, error);
    if (!rc)
        rc = bm_distribute(d->owner, scheme, &d->partition, r->told->ranks,
                           &d->report);
    return rc;
}

/* ---- the plan ----------------------------------------------------------- */

/* What is not this rank's own. */
static void free_arrays(struct bm_write_plan *plan)
{
    const bouma_allocator *a = plan->a;

    for (size_t i = 0; i < plan->decomposition_count; i++) {
        bm_partition_release(&plan->decompositions[i].partition);
        bm_drop(a, plan->decompositions[i].blocks);
        bm_drop(a, plan->decompositions[i].owner);
        if (plan->decompositions[i].tiles)
            bm_tile_plan_release(plan->decompositions[i].tiles);
    }
    for (size_t i = 0; i < plan->grid_count; i++) {
        if (plan->grids[i].subset)
            bm_drop(a, plan->grids[i].subset->chunk);
        bm_drop(a, plan->grids[i].order);
    }
    bm_drop(a, plan->file);
    bm_drop(a, plan->file_grid);
    bm_drop(a, plan->file_number);
    bm_drop(a, plan->owner);
    bm_drop(a, plan->by_owner);
}

void bm_plan_free(struct bm_write_plan *plan)
{
    const bouma_allocator *a;

    if (!plan)
        return;
    a = plan->a;
    if (!plan->is_view)
        free_arrays(plan);
    for (size_t i = 0; i < plan->decomposition_count; i++)
        bm_drop(a, plan->decompositions[i].tiles);
    for (size_t i = 0; i < plan->grid_count; i++) {
        bm_drop(a, plan->grids[i].subset);
        bm_drop(a, plan->grids[i].variables);
        bm_drop(a, plan->grids[i].of);
    }
    bm_drop(a, plan->decompositions);
    bm_drop(a, plan->grids);
    bm_drop(a, plan->mine);
    bm_drop(a, plan->times.each);
    bm_drop(a, plan->sizes.each);
    bm_drop(a, plan->sizes.size_bytes);
    bm_drop(a, plan->sizes.shares);
    bm_own_plan_free(plan->own, a);
    bm_common_release(&plan->common);
    bm_common_release(&plan->files);
    bm_drop(a, plan);
}

struct bm_chunk bm_plan_chunk(const struct bm_write_plan *plan, size_t chunk)
{
    const struct bm_plan_grid *g;
    size_t grid = 0, at;
    struct bm_chunk out;

    BM_BISECT(grid, plan->grid_count, i, plan->grids[i].first <= chunk);
    g = &plan->grids[grid];
    at = chunk - g->first;
    out.variable = g->variables[at % g->count];
    out.decomposition = g->of[at % g->count];
    out.number = g->order[at / g->count];
    out.key = g->chunking.calls->key(g->chunking.own, out.number);
    return out;
}

/* Whether some rank has blocks of it. */
static int is_present(const struct reader *r, const struct bouma_variable *v)
{
    return r->told->scope ? r->told->scope->present[v->id]
                          : r->gathered[v->id].blocks > 0;
}

/* The chunks that the plan is about. */
static int choose_chunks(struct bm_plan_grid *g, const bouma_allocator *a,
                         const struct bm_plan_scope *scope)
{
    const uint8_t *wanted = scope ? scope->wanted[g->grid->number] : NULL;

    g->chunking = g->grid->layout->chunking(g->grid);
    if (!wanted)
        return BOUMA_OK;
    g->subset =
        bm_chunk_subset_new(a, &g->chunking, scope->inside ? wanted : NULL);
    if (!g->subset)
        return BOUMA_ENOMEM;
    g->chunking = bm_chunk_subset_chunking(g->subset);
    return BOUMA_OK;
}

/* A grid with the variables that are present; each with its decomposition,
 * made anew or shared with an earlier variable of the grid. */
static int plan_grid(struct bm_write_plan *plan, const struct bm_object *grid,
                     const struct reader *r, bouma_distribute scheme,
                     struct bm_error *error)
{
    struct bm_plan_grid *g = &plan->grids[plan->grid_count];
    const struct gathered *gathered = r->gathered;
    int rc = BOUMA_OK;

    g->grid = grid;
    g->first = plan->chunks;
    g->variables = bm_new(plan->a, (size_t)grid->count, sizeof(*g->variables));
    g->of = bm_new(plan->a, (size_t)grid->count, sizeof(*g->of));
    plan->grid_count++;
    if (!g->variables || !g->of || choose_chunks(g, plan->a, r->told->scope))
        return BOUMA_ENOMEM;
    g->order =
        bm_new_raw(plan->a, (size_t)g->chunking.count, sizeof(*g->order));
    if (!g->order)
        return BOUMA_ENOMEM;
    g->chunking.calls->order(g->chunking.own, g->order);
    for (int i = 0; i < grid->count && !rc; i++) {
        struct bouma_variable *v = grid->variables[i];
        struct bm_decomposition *d = NULL;

        if (!is_present(r, v))
            continue;
        for (size_t k = 0; k < g->count && !d; k++)
            if (gathered[g->variables[k]->id].hash == gathered[v->id].hash)
                d = g->of[k];
        if (!d) {
            d = &plan->decompositions[plan->decomposition_count++];
            d->partition.chunking = g->chunking;
            rc = decompose(d, plan->a, r, v, scheme, error);
        }
        g->variables[g->count] = v;
        g->of[g->count++] = d;
        plan->raw_bytes +=
            bm_box_volume(&grid->domain) * bm_variable_sample_size(v);
        if (!rc && d->tiles) {
            plan->tiled = 1;
            plan->tiled_bytes +=
                d->tiles->moved_samples * bm_variable_sample_size(v);
        }
    }
    if (!g->count) { /* none of its variables is in this step */
        bm_drop(plan->a, g->order);
        bm_drop(plan->a, g->variables);
        bm_drop(plan->a, g->of);
        memset(g, 0, sizeof(*g));
        plan->grid_count--;
    }
    plan->chunks += g->count * (size_t)g->chunking.count;
    return rc;
}

/* ---- files that are fixed ------------------------------------------------ */

/* Whose each fixed file is. */
static int name_files(struct bm_write_plan *plan)
{
    size_t n = 0;

    plan->file_grid =
        bm_new(plan->a, (size_t)plan->fixed_files, sizeof(*plan->file_grid));
    if (!plan->file_grid)
        return BOUMA_ENOMEM;
    for (size_t i = 0; i < plan->grid_count; i++) {
        const struct bm_plan_grid *g = &plan->grids[i];

        for (size_t end = n + (size_t)g->chunking.count * g->count; n < end;
             n++)
            if (plan->file[n] != BM_ANY_FILE)
                plan->file_grid[plan->file[n]] = (int)i;
    }
    return BOUMA_OK;
}

/* How many files a layout has fixed for a grid. */
static int64_t files_of(const struct bm_chunking *c)
{
    int64_t files = 0;

    if (c->partitions) /* files ascend */
        return c->calls->file(c->own, c->count - 1) + 1;
    for (int64_t i = 0; i < c->count && c->calls->file; i++) {
        int64_t file = c->calls->file(c->own, i);

        files = file >= files ? file + 1 : files;
    }
    return files;
}

/* The files of a grid's chunks, from 'first' on, into plan->file[n...]. */
static size_t list_files_of(struct bm_write_plan *plan,
                            const struct bm_plan_grid *g, size_t n,
                            int64_t first)
{
    const struct bm_chunking *c = &g->chunking;

    for (int64_t p = 0; p < c->count; p++) {
        int64_t file =
            c->calls->file ? first + c->calls->file(c->own, g->order[p]) : -1;

        for (size_t j = 0; j < g->count; j++)
            plan->file[n++] = file < 0 ? BM_ANY_FILE : (uint32_t)file;
    }
    return n;
}

/* Of all fixed files, those that the plan is about are counted from 0, in their
 * order. */
static int renumber_files(struct bm_write_plan *plan)
{
    uint32_t *to = bm_new(plan->a, (size_t)plan->all_fixed_files, sizeof(*to));
    uint32_t n = 0;

    if (!to)
        return BOUMA_ENOMEM;
    for (size_t i = 0; i < plan->chunks; i++)
        if (plan->file[i] != BM_ANY_FILE)
            to[plan->file[i]] = 1;
    for (int64_t i = 0; i < plan->all_fixed_files; i++)
        n += to[i];
    plan->fixed_files = n;
    plan->file_number = bm_new_raw(plan->a, n, sizeof(*plan->file_number));
    n = 0;
    for (int64_t i = 0; i < plan->all_fixed_files && plan->file_number; i++)
        if (to[i]) {
            plan->file_number[n] = (uint32_t)i;
            to[i] = n++;
        }
    for (size_t i = 0; i < plan->chunks; i++)
        if (plan->file[i] != BM_ANY_FILE)
            plan->file[i] = to[plan->file[i]];
    bm_drop(plan->a, to);
    return plan->file_number ? BOUMA_OK : BOUMA_ENOMEM;
}

int64_t bm_plan_file_number(const struct bm_write_plan *plan, int64_t file)
{
    if (file >= plan->fixed_files)
        return file - plan->fixed_files + plan->all_fixed_files;
    return plan->file_number ? plan->file_number[file] : file;
}

/* Whether the step has the grid, though the plan may not. */
static int has_grid(const struct reader *r, const struct bm_object *o)
{
    for (int i = 0; i < o->count; i++)
        if (o->layout->chunking && is_present(r, o->variables[i]))
            return 1;
    return 0;
}

/* The files that layouts have fixed: those of each grid behind the last's. */
static int list_files(struct bm_write_plan *plan,
                      const struct bm_schema *schema, const struct reader *r)
{
    int fixed = 0;
    size_t n = 0, grid = 0;

    for (size_t i = 0; i < plan->grid_count; i++) {
        const struct bm_chunking_functions *c = plan->grids[i].chunking.calls;

        /* A file with a front has nothing else. */
        assert(c->file || !bm_front_bytes(plan->grids[i].grid));
        fixed |= c->file != NULL;
    }
    if (!fixed)
        return BOUMA_OK;
    plan->file = bm_new_raw(plan->a, plan->chunks, sizeof(*plan->file));
    if (!plan->file)
        return BOUMA_ENOMEM;
    for (int i = 0; i < schema->count; i++) {
        const struct bm_object *o = schema->objects[i];
        struct bm_chunking whole;

        if (!has_grid(r, o))
            continue;
        whole = o->layout->chunking(o);
        if (grid < plan->grid_count && plan->grids[grid].grid == o)
            n = list_files_of(plan, &plan->grids[grid++], n,
                              plan->all_fixed_files);
        plan->all_fixed_files += files_of(&whole);
    }
    plan->fixed_files = plan->all_fixed_files;
    if (r->told->scope && renumber_files(plan))
        return BOUMA_ENOMEM;
    return name_files(plan);
}

/* Whether the plan is about chunks of an object. */
static int is_planned(const struct bm_plan_scope *scope,
                      const struct bm_object *o)
{
    return o->layout->chunking &&
           (!scope || !scope->inside || scope->wanted[o->number]);
}

int bm_plan_make(struct bm_write_plan **out, const bouma_allocator *a,
                 const struct bm_schema *schema, bouma_distribute scheme,
                 const struct bm_descriptions *told, struct bm_error *error)
{
    struct bm_write_plan *plan = bm_new(a, 1, sizeof(*plan));
    struct reader r = {.told = told, .variables = schema->variables};
    int rc = BOUMA_ENOMEM;

    *out = plan;
    r.gathered = bm_new(a, schema->variables, sizeof(*r.gathered));
    r.entries = bm_new(a, schema->variables, sizeof(*r.entries));
    if (!plan || !r.gathered || !r.entries)
        goto out;
    plan->a = a;
    plan->decompositions =
        bm_new(a, schema->variables, sizeof(*plan->decompositions));
    plan->grids = bm_new(a, (size_t)schema->count, sizeof(*plan->grids));
    if (!plan->decompositions || !plan->grids)
        goto out;
    rc = each_entry(&r, gather_entry, r.gathered);
    for (int i = 0; i < schema->count && !rc; i++)
        if (is_planned(told->scope, schema->objects[i]))
            rc = plan_grid(plan, schema->objects[i], &r, scheme, error);
    if (!rc && plan->chunks > UINT32_MAX)
        rc = bm_fail(error, BOUMA_ELIMIT,
                     "the step has %zu chunks, more than 2^32; choose larger "
                     "patches",
                     plan->chunks);
    if (!rc)
        rc = list_files(plan, schema, &r);
    if (!rc)
        rc = bm_plan_list_owners(plan, told->ranks, told->rank);
    if (!rc && scheme == BOUMA_DISTRIBUTE_WEIGHTED) {
        plan->times.each = bm_new(a, plan->chunks, sizeof(*plan->times.each));
        rc = plan->times.each ? BOUMA_OK : BOUMA_ENOMEM;
    }
out:
    if (rc == BOUMA_ENOMEM)
        bm_fail(error, rc, "no memory to plan the step");
    bm_drop(a, r.gathered);
    bm_drop(a, r.entries);
    if (rc && plan) {
        plan->a = a;
        bm_plan_free(plan);
        *out = NULL;
    }
    return rc;
}
