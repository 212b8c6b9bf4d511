/* read_tiles.c -- see read_tiles.h. */
#include "read/read_tiles.h"

#include <inttypes.h>
#include <string.h>

struct bm_box bm_tiles_around(const struct bm_object *grid,
                              const struct bm_box *box)
{
    struct bm_tiling t;
    struct bm_box out = *box;

    if (!bm_object_tiling(grid, &t))
        return out;
    for (int d = 0; d < 3; d++) {
        int64_t end = (box->hi[d] + t.edge[d] - 1) / t.edge[d] * t.edge[d];

        out.lo[d] = box->lo[d] / t.edge[d] * t.edge[d];
        out.hi[d] = end < t.shape[d] ? end : t.shape[d];
    }
    return out;
}

int bm_tiles_are_apart(const struct bm_read_request *request)
{
    return bm_object_is_tiled(request->variable->object) ||
           !bm_array_is_plain(&request->to, request->variable);
}

int bm_tiles_request(struct bm_read_request *inner, struct bouma_step *step,
                     const struct bm_read_request *request)
{
    const struct bouma_variable *v = request->variable;
    int tiled = bm_object_is_tiled(v->object);
    struct bouma_dataset *ds = step->ds;
    struct bm_lattice l;
    uint64_t bytes;

    *inner = *request;
    if (!bm_tiles_are_apart(request))
        return BOUMA_OK;
    inner->box = bm_tiles_around(v->object, &request->box);
    l = bm_lattice_of(&inner->box, request->level);
    inner->to = bm_array_planar(v, NULL, l.count);
    bytes = bm_lattice_samples(&l) * bm_variable_sample_size(v);
    if (bytes > ds->store.memory_limit)
        return bm_fail(&ds->error, BOUMA_ELIMIT,
                       "the %s of \"%s/%s\" that the box meets have %" PRIu64
                       " bytes, more than the option 'memory_limit' allows; "
                       "read smaller boxes",
                       tiled ? "tiles" : "samples", v->object->name, v->name,
                       bytes);
    inner->to.data = bm_new_raw(ds->a, (size_t)bytes, 1);
    return inner->to.data
               ? BOUMA_OK
               : bm_fail(&ds->error, BOUMA_ENOMEM, "no memory to read");
}

int bm_tiles_give(const struct bm_read_request *request,
                  const struct bm_read_request *inner, struct bouma_step *step)
{
    const struct bouma_variable *v = request->variable;
    int plain = bm_array_is_plain(&request->to, v);
    int tiled = bm_object_is_tiled(v->object);
    struct bm_lattice all, own;
    struct bm_strided part;

    all = bm_lattice_of(&inner->box, request->level);
    own = bm_lattice_of(&request->box, request->level);
    for (int d = 0; d < 3; d++) {
        part.lo[d] = own.start[d] - all.start[d];
        part.hi[d] = part.lo[d] + own.count[d];
        part.stride[d] = request->to.stride[d];
    }
    for (int j = 0; j < v->components && tiled; j++) {
        uint8_t *samples = bm_array_component(&inner->to, j);

        v->object->layout->tiles->inverse(v, samples, &inner->box,
                                          request->level);
        if (plain)
            bm_lattice_unpack(&all, bm_variable_value_size(v), &part,
                              bm_array_component(&request->to, j), samples);
    }
    return plain ? BOUMA_OK : bm_read_deliver(step, request, inner);
}

void bm_tiles_drop(struct bm_read_request *inner, struct bouma_step *step,
                   const struct bm_read_request *request)
{
    if (bm_tiles_are_apart(request))
        bm_drop(step->ds->a, inner->to.data);
    inner->to.data = NULL;
}
