/* fuzz_tree.c -- the tree of a file of particles. The first byte of the input
 * says how many axes and rows there are, and of which types; the second the
 * number of particles. What is accepted is searched, and is the same once it
 * was encoded and decoded again. */
#include "fuzz_help.h"
#include "layout/tree.h"

/* Children are what their parent is made of, whatever is stored. */
static void check_nodes(const struct bm_tree *t)
{
    for (uint32_t i = 0; i < t->node_count; i++) {
        const struct bm_tree_node *node = &t->nodes[i];
        uint32_t right = node->right;

        HOLDS(node->begin < node->end && node->end <= t->count);
        HOLDS((node->end - node->begin <= t->leaf) == !right);
        if (!right)
            continue;
        HOLDS(right > i + 1 && right < t->node_count);
        HOLDS(node->axis < t->ndims);
        HOLDS(node->split >= t->low[node->axis] &&
              node->split <= t->high[node->axis]);
        HOLDS(t->nodes[i + 1].begin == node->begin);
        HOLDS(t->nodes[i + 1].end == t->nodes[right].begin);
        HOLDS(t->nodes[right].end == node->end);
    }
}

static void search(const struct bm_tree *t, int boxed, uint32_t rows)
{
    static const uint32_t wanted[3] = {0x0000ffff, 0x00ffff00, 0x55555555},
                          row[3] = {0, 1, 2};
    struct bm_tree_query q = {.boxed = boxed,
                              .closed = 5,
                              .wanted = wanted,
                              .row = row,
                              .rows = rows};
    struct bm_run *runs;
    size_t count;

    for (int axis = 0; axis < t->ndims; axis++) {
        q.low[axis] = t->low[axis] * 0.75 + t->high[axis] * 0.25;
        q.high[axis] = axis ? t->high[axis] : t->low[axis] * 0.5;
    }
    HOLDS(!bm_tree_select(t, &q, &runs, &count));
    for (size_t i = 0; i < count; i++) {
        HOLDS(runs[i].begin < runs[i].end && runs[i].end <= t->count);
        HOLDS(!i || runs[i].begin >= runs[i - 1].end);
        HOLDS(boxed || runs[i].inside);
    }
    HOLDS(boxed || rows || count == (t->count > 0));
    bm_drop(t->a, runs);
}

static void check_again(const struct bm_tree *t,
                        const struct bm_tree_spec *spec,
                        struct bm_codec_state *state)
{
    struct bm_buffer b;
    struct bm_tree again;

    bm_buffer_init(&b, t->a);
    bm_tree_init(&again, t->a);
    HOLDS(!bm_tree_encode(&b, t, state));
    HOLDS(!bm_tree_decode(&again, b.data, b.size, spec, state));
    HOLDS(again.node_count == t->node_count && again.leaf == t->leaf);
    HOLDS(!memcmp(again.bitmaps, t->bitmaps,
                  sizeof(*t->bitmaps) * t->maps * t->node_count));
    for (uint32_t i = 0; i < t->node_count; i++)
        HOLDS(again.nodes[i].end == t->nodes[i].end &&
              again.nodes[i].split == t->nodes[i].split);
    bm_tree_release(&again);
    bm_buffer_release(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const bouma_type types[3] = {BOUMA_TYPE_F32, BOUMA_TYPE_I64,
                                        BOUMA_TYPE_U8};
    const bouma_allocator *a = bm_allocator_default();
    struct bm_tree_spec spec = {.types = types};
    struct bm_codec_state state;
    struct bm_tree t;
    uint8_t *copy;
    int rc;

    if (size < 2)
        return 0;
    spec.ndims = 1 + (data[0] & 3) % 3;
    spec.type = data[0] & 4 ? BOUMA_TYPE_F64 : BOUMA_TYPE_F32;
    spec.maps = data[0] >> 3 & 3;
    spec.particles = 1u << data[1] % 17;
    copy = fuzz_copy(data + 2, size - 2);
    bm_codec_state_init(&state, a);
    bm_tree_init(&t, a);
    rc = bm_tree_decode(&t, copy, size - 2, &spec, &state);
    HOLDS(rc == BOUMA_OK || rc == BOUMA_EFORMAT);
    if (!rc) {
        HOLDS(t.count <= spec.particles);
        check_nodes(&t);
        for (uint32_t rows = 0; rows <= spec.maps; rows++) {
            search(&t, 0, rows);
            search(&t, 1, rows);
        }
        check_again(&t, &spec, &state);
    }
    bm_tree_release(&t);
    bm_codec_state_release(&state);
    free(copy);
    return 0;
}
