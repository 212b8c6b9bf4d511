/* chunk_plan.c -- see chunk_plan.h. */
#include "chunk_plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/box.h"
#include "base/image.h"
#include "rank_grid.h"

struct place {
    uint64_t key;
    int rank;
};

static int by_key(const void *a, const void *b)
{
    const struct place *x = a, *y = b;

    return (x->key > y->key) - (x->key < y->key);
}

/* The ranks along the curve. */
static int order_ranks(struct chunk_plan *p, const int64_t grid[3])
{
    struct place *places = bm_new_raw(p->a, (size_t)p->ranks, sizeof(*places));

    if (!places)
        return BOUMA_ENOMEM;
    for (int r = 0; r < p->ranks; r++) {
        int64_t at[3], slowest_first[3];

        rank_grid_at(grid, r, at);
        for (int d = 0; d < 3; d++)
            slowest_first[d] = at[2 - d];
        places[r] = (struct place){bm_morton(slowest_first, 3), r};
    }
    qsort(places, (size_t)p->ranks, sizeof(*places), by_key);
    for (int i = 0; i < p->ranks; i++) {
        p->rank_at[i] = places[i].rank;
        p->position[places[i].rank] = i;
    }
    bm_drop(p->a, places);
    return BOUMA_OK;
}

int chunk_plan_init(struct chunk_plan *p, const bouma_allocator *a,
                    const int64_t grid[3], int variables)
{
    size_t ranks = (size_t)rank_grid_ranks(grid), chunks;

    memset(p, 0, sizeof(*p));
    p->a = a;
    p->ranks = (int)ranks;
    p->variables = variables;
    chunks = ranks * (size_t)variables;
    p->rank_at = bm_new_raw(a, ranks, sizeof(*p->rank_at));
    p->position = bm_new_raw(a, ranks, sizeof(*p->position));
    p->bytes = bm_new_raw(a, chunks, sizeof(*p->bytes));
    p->owner = bm_new_raw(a, chunks, sizeof(*p->owner));
    return p->rank_at && p->position && p->bytes && p->owner
               ? order_ranks(p, grid)
               : BOUMA_ENOMEM;
}

static void drop_arrays(struct chunk_plan *p)
{
    if (p->is_view)
        return;
    bm_writers_release(&p->writers);
    bm_assignment_release(&p->files);
    bm_drop(p->a, p->rank_at);
    bm_drop(p->a, p->position);
    bm_drop(p->a, p->bytes);
    bm_drop(p->a, p->owner);
}

void chunk_plan_release(struct chunk_plan *p)
{
    if (!p->a)
        return;
    drop_arrays(p);
    bm_common_release(&p->common);
    memset(p, 0, sizeof(*p));
}

int chunk_plan_make(struct chunk_plan *p, const uint64_t *sizes,
                    bouma_assign scheme, int64_t files,
                    const struct bm_place_task *place)
{
    size_t variables = (size_t)p->variables;
    struct bm_chunk_sizes chunks = {.count = (size_t)p->ranks * variables,
                                    .bytes = p->bytes,
                                    .owner = p->owner};
    int rc;

    for (size_t c = 0; c < chunks.count; c++) {
        p->owner[c] = p->rank_at[c / variables];
        p->bytes[c] = sizes[(size_t)p->owner[c] * variables + c % variables];
    }
    bm_writers_release(&p->writers);
    bm_assignment_release(&p->files);
    rc = bm_assign(&p->files, p->a, scheme, &chunks, files, p->ranks);
    if (!rc)
        rc = bm_place_chunks(&p->files, place, &chunks);
    return rc ? rc : bm_writers_init(&p->writers, &p->files);
}

/* ---- on a node ----------------------------------------------------------- */

#define ARRAY(m, array, count)                                                 \
    ((array) = bm_image_array((m), (array), (size_t)(count), sizeof(*(array))))

/* Of who packs, and of who reads. */
static void walk(struct bm_image *m, struct chunk_plan *p)
{
    size_t chunks = (size_t)p->ranks * (size_t)p->variables;
    int64_t own = p->files.files;

    p->files.files = *(const int64_t *)bm_image_array(m, &own, 1, sizeof(own));
    ARRAY(m, p->position, p->ranks);
    ARRAY(m, p->bytes, chunks);
    ARRAY(m, p->owner, chunks);
    ARRAY(m, p->files.first, p->files.files + 1);
    ARRAY(m, p->files.writer, p->files.files);
    ARRAY(m, p->files.tier, p->files.files);
    ARRAY(m, p->writers.order, p->files.files);
}

static int fill(struct chunk_plan *p)
{
    struct bm_image m = {.at = 0};

    walk(&m, p);
    m.to = bm_common_room(&p->common, m.at);
    m.at = 0;
    if (!m.to)
        return BOUMA_ENOMEM;
    walk(&m, p);
    return BOUMA_OK;
}

int chunk_plan_share(struct chunk_plan *p, const bouma_allocator *a,
                     struct bm_comm *comm, int variables, int rc,
                     struct bm_error *error)
{
    struct bm_comm *near = bm_comm_near(comm);
    struct bm_image m = {.at = 0};

    if (near->size == 1 || comm->lost)
        return rc;
    bm_common_init(&p->common, a);
    if (!rc && near->rank == 0 && fill(p))
        rc = bm_fail(error, BOUMA_ENOMEM, "no memory to plan files");
    rc = bm_common_tell(&p->common, near, rc, error);
    if (rc)
        return rc;
    if (near->rank == 0)
        drop_arrays(p);
    *p = (struct chunk_plan){.a = a,
                             .ranks = comm->size,
                             .variables = variables,
                             .is_view = 1,
                             .common = p->common};
    p->files.a = a;
    p->writers.files = &p->files;
    m.from = p->common.data;
    walk(&m, p);
    return BOUMA_OK;
}
