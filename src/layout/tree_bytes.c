/* tree_bytes.c -- a tree as bytes: docs/format.md has them. Leaves are the
 * nodes with no more particles than a leaf may have, so only inner nodes are
 * stored, in preorder and column by column. */
#include <math.h>
#include <string.h>

#include "layout/tree.h"

/* zstd has at least 4 bytes for each block, which has at most 128 KiB. */
#define ZSTD_MOST 32768

/* ---- encoding ----------------------------------------------------------- */

/* varint of the bytes, then these: see bm_zstd_pack(). */
static int put_packed(struct bm_buffer *out, struct bm_codec_state *state,
                      const void *values, size_t count, size_t size)
{
    struct bm_buffer packed;
    int rc;

    bm_buffer_init(&packed, out->a);
    rc = bm_zstd_pack(state, &packed, values, count, size);
    if (!rc) {
        bm_put_varint(out, packed.size);
        bm_put_bytes(out, packed.data, packed.size);
        rc = out->failed ? BOUMA_ENOMEM : BOUMA_OK;
    }
    bm_buffer_release(&packed);
    return rc;
}

static void put_coordinate(struct bm_buffer *b, bouma_type type, double x)
{
    uint8_t raw[8];

    bm_scalar_store(raw, type, (union bm_scalar){.f = x});
    bm_put_bytes(b, raw, bouma_type_size(type));
}

static int encode_nodes(struct bm_buffer *out, const struct bm_tree *t,
                        struct bm_codec_state *state)
{
    struct bm_buffer axes, lefts, splits;
    size_t inner = t->node_count / 2;
    int rc = BOUMA_OK;

    bm_buffer_init(&axes, out->a);
    bm_buffer_init(&lefts, out->a);
    bm_buffer_init(&splits, out->a);
    for (uint32_t i = 0; i < t->node_count; i++) {
        const struct bm_tree_node *node = &t->nodes[i];
        uint32_t n = node->end - node->begin;
        int64_t off;

        if (!node->right)
            continue;
        off = (int64_t)(t->nodes[i + 1].end - node->begin) -
              (int64_t)bm_tree_left(n, t->leaf);
        bm_put_u8(&axes, node->axis);
        bm_put_varint(&lefts,
                      off < 0 ? (uint64_t)-off * 2 - 1 : (uint64_t)off * 2);
        put_coordinate(&splits, t->type, node->split);
    }
    if (axes.failed || lefts.failed || splits.failed)
        rc = BOUMA_ENOMEM;
    bm_put_varint(out, inner);
    if (!rc)
        rc = put_packed(out, state, axes.data, inner, 1);
    bm_put_varint(out, lefts.size);
    if (!rc)
        rc = put_packed(out, state, lefts.data, lefts.size, 1);
    if (!rc) {
        bm_swap_to_little(splits.data, inner, bouma_type_size(t->type));
        rc = put_packed(out, state, splits.data, inner,
                        bouma_type_size(t->type));
    }
    bm_buffer_release(&splits);
    bm_buffer_release(&lefts);
    bm_buffer_release(&axes);
    return rc;
}

/* v[n], ascending; w[n] is scratch. */
static void sort_words(uint32_t *v, uint32_t *w, size_t n)
{
    for (int shift = 0; shift < 32; shift += 8) {
        size_t next[257] = {0};
        uint32_t *turn = v;

        for (size_t i = 0; i < n; i++)
            next[(v[i] >> shift & 255) + 1]++;
        for (int i = 0; i < 256; i++)
            next[i + 1] += next[i];
        for (size_t i = 0; i < n; i++)
            w[next[v[i] >> shift & 255]++] = v[i];
        v = w; /* after four turns it is back */
        w = turn;
    }
}

/* Bytes of a number in a list of 'distinct' bitmaps; 0: the list would not be
 * shorter than the bitmaps of all leaves. */
static size_t id_bytes(uint64_t distinct, uint64_t leaves)
{
    size_t bytes = distinct <= 256 ? 1 : 2;

    return distinct <= 65536 && 4 * distinct + bytes * leaves < 4 * leaves
               ? bytes
               : 0;
}

static uint32_t index_in(const uint32_t *list, uint32_t count, uint32_t word)
{
    uint32_t low = 0, high = count - 1;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (list[middle] < word)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The bitmaps of one row: those of leaves; w[3][leaves] is scratch. */
static int encode_map(struct bm_buffer *out, const struct bm_tree *t,
                      struct bm_codec_state *state, uint32_t map, uint32_t *w)
{
    const uint32_t *bitmap = t->bitmaps + (size_t)map * t->node_count;
    uint32_t leaves = 0, distinct = 0, *list, *id32;
    uint8_t *id;
    size_t size;
    int rc;

    for (uint32_t i = 0; i < t->node_count; i++)
        if (!t->nodes[i].right)
            w[leaves++] = bitmap[i];
    list = w + leaves;
    id32 = list + leaves;
    memcpy(list, w, leaves * sizeof(*w));
    sort_words(list, id32, leaves);
    for (uint32_t i = 0; i < leaves; i++)
        if (!i || list[i] != list[distinct - 1])
            list[distinct++] = list[i];
    size = id_bytes(distinct, leaves);
    if (!size) {
        bm_put_varint(out, 0);
        return put_packed(out, state, w, leaves, sizeof(*w));
    }
    id = (uint8_t *)id32;
    for (uint32_t i = 0; i < leaves; i++) {
        uint16_t index = (uint16_t)index_in(list, distinct, w[i]);

        if (size == 1)
            id[i] = (uint8_t)index;
        else
            memcpy(id + 2 * (size_t)i, &index, 2);
    }
    bm_put_varint(out, distinct);
    rc = put_packed(out, state, list, distinct, sizeof(*list));
    return rc ? rc : put_packed(out, state, id, leaves, size);
}

int bm_tree_encode(struct bm_buffer *out, const struct bm_tree *t,
                   struct bm_codec_state *state)
{
    uint32_t *scratch;
    int rc = BOUMA_OK;

    bm_put_varint(out, t->leaf);
    bm_put_varint(out, t->count);
    if (t->count) {
        for (int axis = 0; axis < t->ndims; axis++) {
            put_coordinate(out, t->type, t->low[axis]);
            put_coordinate(out, t->type, t->high[axis]);
        }
        rc = encode_nodes(out, t, state);
    }
    scratch = bm_new_raw(t->a, (size_t)t->node_count + 1, 2 * sizeof(*scratch));
    if (!scratch)
        rc = BOUMA_ENOMEM;
    for (uint32_t i = 0; !rc && i < t->maps; i++) {
        const struct bm_bins *bins = &t->bins[i];
        size_t size = bouma_type_size(bins->type);
        uint8_t raw[16];

        bm_scalar_store(raw, bins->type, bins->low);
        bm_scalar_store(raw + size, bins->type, bins->high);
        bm_put_bytes(out, raw, 2 * size);
        if (t->count)
            rc = encode_map(out, t, state, i, scratch);
    }
    bm_drop(t->a, scratch);
    return rc ? rc : out->failed ? BOUMA_ENOMEM : BOUMA_OK;
}

/* ---- decoding ----------------------------------------------------------- */

/* 'count' values that put_packed() wrote, newly allocated: the caller drops
 * them, after a failure, too. */
static int get_packed(void **values, struct bm_cursor *c,
                      const struct bm_tree *t, struct bm_codec_state *state,
                      uint64_t count, size_t size)
{
    uint64_t bytes = bm_get_varint(c);
    const uint8_t *packed;

    *values = NULL;
    if (bytes > bm_cursor_left(c) || count * size > bytes * ZSTD_MOST)
        return BOUMA_EFORMAT;
    packed = bm_get_bytes(c, (size_t)bytes);
    if (c->failed)
        return BOUMA_EFORMAT;
    *values = bm_new_raw(t->a, (size_t)count, size);
    if (!*values)
        return BOUMA_ENOMEM;
    return bm_zstd_unpack(state, *values, (size_t)count, size, packed,
                          (size_t)bytes);
}

/* A finite number; -0 is not stored. */
static int coordinate_of(double *x, const uint8_t *raw, bouma_type type)
{
    *x = bm_scalar_load(raw, type).f;
    return isfinite(*x) && !(*x == 0 && signbit(*x)) ? BOUMA_OK : BOUMA_EFORMAT;
}

/* A run whose node is still to be made, and the region it lies in. */
struct region {
    double low[3], high[3];
    uint32_t begin, end;
    uint32_t parent; /* whose right child it is; UINT32_MAX: none's */
};

/* The columns of inner nodes, and what is still to be read of them. */
struct columns {
    uint8_t *axis;
    uint8_t *splits;
    struct bm_cursor lefts;
    uint32_t inner, done;
    struct region *pending; /* [room] */
    size_t depth, room;
};

static int push_region(struct columns *c, const struct bm_tree *t,
                       const struct region *r)
{
    if (c->depth == c->room) {
        size_t room = c->room ? 2 * c->room : 64;
        void *grown = bm_resize(t->a, c->pending, room, sizeof(*c->pending));

        if (!grown)
            return BOUMA_ENOMEM;
        c->pending = grown;
        c->room = room;
    }
    c->pending[c->depth++] = *r;
    return BOUMA_OK;
}

/* The next node, of a run; those of its children are to be made then. */
static int decode_node(struct bm_tree *t, struct columns *c, struct region *r)
{
    size_t size = bouma_type_size(t->type);
    uint32_t at = t->node_count, n = r->end - r->begin;
    struct bm_tree_node *node;
    struct region right = *r;
    uint64_t zigzag;
    int64_t left;
    int rc;

    if (at == 2 * c->inner + 1 || (n > t->leaf && c->done == c->inner))
        return BOUMA_EFORMAT;
    node = &t->nodes[t->node_count++];
    *node = (struct bm_tree_node){.begin = r->begin, .end = r->end};
    if (r->parent != UINT32_MAX)
        t->nodes[r->parent].right = at;
    if (n <= t->leaf)
        return BOUMA_OK;
    node->axis = c->axis[c->done];
    rc = coordinate_of(&node->split, c->splits + c->done++ * size, t->type);
    if (rc || node->axis >= t->ndims || node->split < r->low[node->axis] ||
        node->split > r->high[node->axis])
        return BOUMA_EFORMAT;
    zigzag = bm_get_varint(&c->lefts);
    if (c->lefts.failed || zigzag > 2 * (uint64_t)UINT32_MAX)
        return BOUMA_EFORMAT;
    left = (int64_t)bm_tree_left(n, t->leaf) +
           (zigzag & 1 ? -(int64_t)(zigzag / 2) - 1 : (int64_t)(zigzag / 2));
    if (left < 1 || left >= (int64_t)n)
        return BOUMA_EFORMAT;
    right.begin += (uint32_t)left;
    right.low[node->axis] = node->split;
    right.parent = at;
    r->end = right.begin;
    r->high[node->axis] = node->split;
    r->parent = UINT32_MAX;
    rc = push_region(c, t, &right);
    return rc ? rc : push_region(c, t, r);
}

static int walk_nodes(struct bm_tree *t, struct columns *c)
{
    struct region r = {.end = t->count, .parent = UINT32_MAX};
    int rc;

    memcpy(r.low, t->low, sizeof(r.low));
    memcpy(r.high, t->high, sizeof(r.high));
    rc = push_region(c, t, &r);
    while (!rc && c->depth) {
        r = c->pending[--c->depth];
        rc = decode_node(t, c, &r);
    }
    if (!rc && (c->done != c->inner || bm_cursor_left(&c->lefts)))
        rc = BOUMA_EFORMAT;
    return rc;
}

static int decode_nodes(struct bm_tree *t, struct bm_cursor *in,
                        struct bm_codec_state *state)
{
    size_t size = bouma_type_size(t->type);
    uint64_t inner = bm_get_varint(in), bytes;
    struct columns c = {0};
    void *axes = NULL, *lefts = NULL, *splits = NULL;
    int rc;

    if (in->failed || inner >= t->count || inner > INT32_MAX)
        return BOUMA_EFORMAT;
    c.inner = (uint32_t)inner;
    rc = get_packed(&axes, in, t, state, inner, 1);
    bytes = bm_get_varint(in);
    if (!rc && (bytes < inner || bytes > 5 * inner))
        rc = BOUMA_EFORMAT;
    if (!rc)
        rc = get_packed(&lefts, in, t, state, bytes, 1);
    if (!rc)
        rc = get_packed(&splits, in, t, state, inner, size);
    if (!rc) {
        bm_swap_to_little(splits, (size_t)inner, size);
        c.axis = axes;
        c.splits = splits;
        c.lefts = bm_cursor_of(lefts, (size_t)bytes);
        t->nodes = bm_new_raw(t->a, 2 * (size_t)inner + 1, sizeof(*t->nodes));
        rc = t->nodes ? walk_nodes(t, &c) : BOUMA_ENOMEM;
    }
    bm_drop(t->a, c.pending);
    bm_drop(t->a, splits);
    bm_drop(t->a, lefts);
    bm_drop(t->a, axes);
    return rc;
}

/* 'leaves' bitmaps, instead of their numbers in a list. */
static int decode_list(uint32_t **words, struct bm_cursor *in,
                       const struct bm_tree *t, struct bm_codec_state *state,
                       uint64_t distinct, uint32_t leaves)
{
    size_t size = id_bytes(distinct, leaves);
    void *list = NULL, *ids = NULL;
    uint8_t *used = NULL;
    int rc;

    *words = NULL;
    if (!size)
        return BOUMA_EFORMAT;
    rc = get_packed(&list, in, t, state, distinct, 4);
    if (!rc)
        rc = get_packed(&ids, in, t, state, leaves, size);
    if (!rc) {
        *words = bm_new_raw(t->a, leaves, sizeof(**words));
        used = bm_new(t->a, (size_t)distinct, 1);
        rc = *words && used ? BOUMA_OK : BOUMA_ENOMEM;
    }
    for (uint32_t i = 0; !rc && i < leaves; i++) {
        uint16_t id = 0;

        if (size == 1)
            id = ((uint8_t *)ids)[i];
        else
            memcpy(&id, (uint8_t *)ids + 2 * (size_t)i, 2);
        if (id >= distinct)
            rc = BOUMA_EFORMAT;
        else
            (*words)[i] = ((uint32_t *)list)[id];
        if (!rc)
            used[id] = 1;
    }
    for (size_t i = 0; !rc && i < distinct; i++)
        if (!used[i] ||
            (i && ((uint32_t *)list)[i] <= ((uint32_t *)list)[i - 1]))
            rc = BOUMA_EFORMAT;
    bm_drop(t->a, used);
    bm_drop(t->a, ids);
    bm_drop(t->a, list);
    return rc;
}

static int decode_map(struct bm_tree *t, struct bm_cursor *in,
                      struct bm_codec_state *state, uint32_t map)
{
    uint32_t *bitmap = t->bitmaps + (size_t)map * t->node_count;
    uint32_t leaves = (t->node_count + 1) / 2, at = 0, *words = NULL;
    uint64_t distinct = bm_get_varint(in);
    void *plain;
    int rc;

    if (distinct) {
        rc = decode_list(&words, in, t, state, distinct, leaves);
    } else {
        rc = get_packed(&plain, in, t, state, leaves, sizeof(*words));
        words = plain;
    }
    for (uint32_t i = 0; !rc && i < t->node_count; i++)
        if (!t->nodes[i].right)
            bitmap[i] = words[at++];
    bm_drop(t->a, words);
    return rc;
}

static int decode_maps(struct bm_tree *t, struct bm_cursor *in,
                       const struct bm_tree_spec *spec,
                       struct bm_codec_state *state)
{
    int rc = BOUMA_OK;

    if (spec->maps > bm_cursor_left(in))
        return BOUMA_EFORMAT;
    rc = bm_tree_add_maps(t, spec->maps);
    for (uint32_t i = 0; !rc && i < spec->maps; i++) {
        bouma_type type = spec->types[i];
        size_t size = bouma_type_size(type);
        const uint8_t *raw = bm_get_bytes(in, 2 * size);
        union bm_scalar low, high;

        if (!raw)
            return BOUMA_EFORMAT;
        low = bm_scalar_load(raw, type);
        high = bm_scalar_load(raw + size, type);
        if (!bm_bins_valid(type, low, high))
            return BOUMA_EFORMAT;
        bm_bins_init(&t->bins[i], type, low, high);
        if (t->count)
            rc = decode_map(t, in, state, i);
    }
    return rc;
}

int bm_tree_decode(struct bm_tree *t, const uint8_t *data, size_t bytes,
                   const struct bm_tree_spec *spec,
                   struct bm_codec_state *state)
{
    struct bm_cursor in = bm_cursor_of(data, bytes);
    size_t size = bouma_type_size(spec->type);
    uint64_t leaf = bm_get_varint(&in), count = bm_get_varint(&in);
    int rc = BOUMA_OK;

    if (in.failed || leaf < 1 || leaf > UINT32_MAX || count > spec->particles)
        return BOUMA_EFORMAT;
    t->ndims = spec->ndims;
    t->type = spec->type;
    t->leaf = (uint32_t)leaf;
    t->count = (uint32_t)count;
    for (int axis = 0; count && axis < t->ndims; axis++) {
        const uint8_t *raw = bm_get_bytes(&in, 2 * size);

        if (!raw || coordinate_of(&t->low[axis], raw, t->type) ||
            coordinate_of(&t->high[axis], raw + size, t->type) ||
            t->low[axis] > t->high[axis])
            return BOUMA_EFORMAT;
    }
    if (count)
        rc = decode_nodes(t, &in, state);
    if (!rc)
        rc = decode_maps(t, &in, spec, state);
    if (!rc && (in.failed || bm_cursor_left(&in)))
        rc = BOUMA_EFORMAT;
    if (!rc)
        bm_tree_join_maps(t);
    return rc;
}
