/* description.c -- see description.h. */
#include "machine/description.h"

#include <string.h>

void bm_description_init(struct bm_description *d, const bouma_allocator *a)
{
    memset(d, 0, sizeof(*d));
    d->a = a;
    d->target_switch = -1;
    bm_name_table_init(&d->node_names, a);
    bm_name_table_init(&d->switch_names, a);
}

void bm_description_release(struct bm_description *d)
{
    if (!d->a)
        return;
    bm_name_table_release(&d->node_names);
    bm_name_table_release(&d->switch_names);
    bm_drop(d->a, d->nodes);
    bm_drop(d->a, d->switches);
    memset(d, 0, sizeof(*d));
}

/* The index of a name in a table of names, which is also its index in 'list',
 * with room for 'room' entries of 'size' bytes; added if it is new. -1: no
 * memory, or too many names. */
static int enter(struct bm_name_table *names, void **list, size_t *room,
                 size_t size, const char *name, size_t bytes)
{
    if (names->count == BM_MOST_NAMES)
        return bm_name_table_find(names, name, bytes);
    if ((size_t)names->count == *room) {
        size_t more = *room ? 2 * *room : 16;
        void *grown = bm_resize(names->a, *list, more, size);

        if (!grown)
            return -1;
        *list = grown;
        *room = more;
    }
    return bm_name_table_add(names, name, bytes);
}

int bm_description_node(struct bm_description *d, const char *name,
                        size_t bytes, int line)
{
    int count = d->node_names.count;
    void *list = d->nodes;
    int i = enter(&d->node_names, &list, &d->node_room, sizeof(*d->nodes), name,
                  bytes);

    d->nodes = list;
    if (i == count)
        d->nodes[i] = (struct bm_described_node){line, -1, -1, -1};
    return i;
}

int bm_description_switch(struct bm_description *d, const char *name,
                          size_t bytes, int line)
{
    int count = d->switch_names.count;
    void *list = d->switches;
    int i = enter(&d->switch_names, &list, &d->switch_room,
                  sizeof(*d->switches), name, bytes);

    d->switches = list;
    if (i == count)
        d->switches[i] = (struct bm_described_switch){line, -1, 0};
    return i;
}

/* ---- the network -------------------------------------------------------- */

static int make_tree(struct bm_fabric *t, const struct bm_description *d,
                     struct bm_error *error)
{
    int loop = -1;
    int rc =
        bm_fabric_init(t, d->a, d->switch_names.count, d->node_names.count, 2);

    for (int i = 0; !rc && i < t->switches; i++) {
        t->parent[i] = d->switches[i].parent;
        t->up[i] = 2;
    }
    for (int i = 0; !rc && i < t->nodes; i++)
        t->leaf[i] = d->nodes[i].parent;
    t->target = d->target_switch;
    if (!rc)
        loop = bm_fabric_find_loop(t);
    if (loop >= 0)
        return bm_fail(error, BOUMA_EINVAL,
                       "line %d: switch %s is below itself, or %d others are "
                       "above it",
                       d->switches[loop].line,
                       bm_name_table_name(&d->switch_names, loop),
                       BM_FABRIC_DEPTH);
    if (!rc)
        rc = bm_fabric_finish(t);
    return rc ? bm_fail(error, rc, "no memory for %d switches and %d nodes",
                        d->switch_names.count, d->node_names.count)
              : BOUMA_OK;
}

int bm_description_topology(struct bm_topology *out,
                            const struct bm_description *d,
                            struct bm_error *error)
{
    struct bm_model model = d->model;
    int rc;

    if (!model.kind)
        model.kind =
            d->switch_names.count ? &bm_topology_tree : &bm_topology_flat;
    rc = bm_topology_init(out, &model, d->a, error);
    if (rc || model.kind != &bm_topology_tree)
        return rc;
    out->nodes = d->node_names.count;
    return make_tree(&out->tree, d, error);
}
