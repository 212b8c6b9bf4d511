/* read_tiles.c -- see read_tiles.h. */
#include "read/read_tiles.h"

#include <inttypes.h>
#include <string.h>

bouma_box bm_tiles_around(const struct bm_object *grid, const bouma_box *box)
{
    struct bm_tiling t;
    bouma_box out = *box;

    if (!bm_object_tiling(grid, &t))
        return out;
    for (int d = 0; d < 3; d++) {
        int64_t end = (box->hi[d] + t.edge[d] - 1) / t.edge[d] * t.edge[d];

        out.lo[d] = box->lo[d] / t.edge[d] * t.edge[d];
        out.hi[d] = end < t.shape[d] ? end : t.shape[d];
    }
    return out;
}

int bm_tiles_request(struct bm_read_request *inner, struct bouma_step *step,
                     const struct bm_read_request *request)
{
    const struct bouma_variable *v = request->variable;
    struct bouma_dataset *ds = step->ds;
    struct bm_lattice l;
    uint64_t bytes;

    *inner = *request;
    if (!bm_object_is_tiled(v->object))
        return BOUMA_OK;
    inner->box = bm_tiles_around(v->object, &request->box);
    l = bm_lattice_of(&inner->box, request->level);
    inner->to.stride[2] = (int64_t)bm_variable_value_size(v);
    inner->to.stride[1] = inner->to.stride[2] * l.count[2];
    inner->to.stride[0] = inner->to.stride[1] * l.count[1];
    inner->to.component_stride = inner->to.stride[0] * l.count[0];
    bytes = bm_lattice_samples(&l) * bm_variable_sample_size(v);
    inner->to.data = NULL;
    if (bytes > ds->store.memory_limit)
        return bm_fail(&ds->error, BOUMA_ELIMIT,
                       "the tiles of \"%s/%s\" that the box meets have %" PRIu64
                       " bytes, more than the option 'memory_limit' allows; "
                       "read smaller boxes",
                       v->object->name, v->name, bytes);
    inner->to.data = bm_new_raw(ds->a, (size_t)bytes, 1);
    return inner->to.data
               ? BOUMA_OK
               : bm_fail(&ds->error, BOUMA_ENOMEM, "no memory to read");
}

void bm_tiles_give(const struct bm_read_request *request,
                   const struct bm_read_request *inner)
{
    const struct bouma_variable *v = request->variable;
    struct bm_lattice all, own;
    struct bm_strided part;

    if (!bm_object_is_tiled(v->object))
        return;
    all = bm_lattice_of(&inner->box, request->level);
    own = bm_lattice_of(&request->box, request->level);
    for (int d = 0; d < 3; d++) {
        part.lo[d] = own.start[d] - all.start[d];
        part.hi[d] = part.lo[d] + own.count[d];
        part.stride[d] = request->to.stride[d];
    }
    for (int j = 0; j < v->components; j++) {
        uint8_t *samples = inner->to.data + j * inner->to.component_stride;

        v->object->layout->tiles->inverse(v, samples, &inner->box,
                                          request->level);
        bm_lattice_unpack(&all, bm_variable_value_size(v), &part,
                          request->to.data + j * request->to.component_stride,
                          samples);
    }
}

void bm_tiles_drop(struct bm_read_request *inner, struct bouma_step *step,
                   const struct bm_read_request *request)
{
    if (bm_object_is_tiled(request->variable->object))
        bm_drop(step->ds->a, inner->to.data);
    inner->to.data = NULL;
}
