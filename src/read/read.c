/* read.c -- boxes of samples, for one rank alone. */
#include "read/read.h"
#include "read/read_tiles.h"

#include <string.h>

void bm_read_give(const struct bm_decoding *chunk,
                  const struct bm_read_request *r)
{
    struct bm_footprint box = bm_footprint_of_box(&r->box);
    struct bm_target target = {.samples = bm_footprint_at_level(&box, r->level),
                               .data = r->to.data,
                               .component_stride = r->to.component_stride};

    memcpy(target.stride, r->to.stride, sizeof(target.stride));
    r->variable->object->layout->give(chunk, &target);
}

static int give_to_box(void *context, const struct bm_decoding *chunk,
                       struct bm_error *error)
{
    (void)error;
    bm_read_give(chunk, context);
    return BOUMA_OK;
}

/* Samples, or coefficients, as they are stored. */
static int read_stored(struct bouma_step *step,
                       const struct bm_read_request *request)
{
    const struct bm_object *grid = request->variable->object;
    struct bm_fetch fetch = {.step = step,
                             .variable = request->variable,
                             .fine = request->level,
                             .coarse = grid->levels - 1,
                             .each = give_to_box,
                             .context = (void *)request,
                             .clip = &request->box};
    uint64_t *keys;
    int rc = bm_chunks_select(&keys, &fetch.count, grid, &request->box,
                              request->level);

    if (rc)
        return bm_fail(&step->ds->error, rc, "no memory to read");
    fetch.keys = keys;
    rc = bm_fetch(&fetch);
    bm_drop(grid->a, keys);
    return rc;
}

int bm_read_box(struct bouma_step *step, const struct bm_read_request *request)
{
    struct bm_read_request inner;
    int rc = bm_tiles_request(&inner, step, request);

    if (!rc)
        rc = read_stored(step, &inner);
    if (!rc)
        bm_tiles_give(request, &inner);
    bm_tiles_drop(&inner, step, request);
    return rc;
}
