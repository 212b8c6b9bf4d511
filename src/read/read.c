/* read.c -- boxes of samples, for one rank alone. */
#include "read/read.h"

#include "layout/patch.h"

void bm_read_give(const struct bm_fetched *f, const struct bm_read_request *r)
{
    struct bm_lattice l = bm_lattice_of(&r->box, r->level);

    bm_patch_give(f->geometry, &f->samples, &r->box, l.start, r->data,
                  r->stride, r->component_stride);
}

static int give_to_box(void *context, const struct bm_fetched *f,
                       struct bm_error *error)
{
    (void)error;
    bm_read_give(f, context);
    return BOUMA_OK;
}

int bm_read_box(struct bouma_step *step, const struct bm_read_request *request)
{
    const struct bm_object *grid = request->variable->object;
    struct bm_fetch fetch = {.step = step,
                             .variable = request->variable,
                             .fine = request->level,
                             .coarse = grid->levels - 1,
                             .each = give_to_box,
                             .context = (void *)request,
                             .clip = &request->box};
    int64_t *patches;
    int rc = bm_select(&patches, &fetch.count, step->ds->a, bm_tiling_of(grid),
                       &request->box, request->level);

    if (rc)
        return bm_fail(&step->ds->error, rc, "no memory to read");
    fetch.patches = patches;
    rc = bm_fetch(&fetch);
    bm_drop(step->ds->a, patches);
    return rc;
}
