/* query.c -- patches, each at a level of its own: first a look at the tables
 * (which patches, which level), then a fetch for each level that was chosen. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/value.h"
#include "read/read_tiles.h"

/* A chunk that will be read, and where its entry in the tables is. */
struct entry {
    uint64_t key;
    size_t source, index;
    int level;
};

struct query {
    struct bouma_step *step;
    const struct bouma_variable *variable;
    const bouma_patch_query *asked;
    struct bm_box box; /* lifted */
    struct entry *entries;
    size_t count;
    size_t seen;         /* of the patches that are wanted, in subfiles */
    size_t *indices;     /* in the table of the subfile whose turn it is */
    bouma_range *ranges; /* [components], of the patch whose turn it is */
    uint64_t level_bytes[BM_MAX_LEVELS];
    struct bm_block_of_memory samples; /* of some patches */
};

static int may_have(const struct query *q, const struct bm_range *range)
{
    return bm_variable_may_have(q->variable, range, q->asked->low,
                                q->asked->high);
}

/* What the tables tell of a patch; valid until the next. */
static bouma_patch_info describe(struct query *q, const struct bm_section *s,
                                 size_t index)
{
    const struct bouma_variable *v = q->variable;
    struct bm_box box = bm_chunk_bounds(v->object, s->keys[index]);
    bouma_patch_info info = {
        sizeof(info),      bm_box_lower(&box, v->object->ndims),
        v->object->levels, v->components,
        q->ranges,         q->level_bytes};

    for (int j = 0; j < v->components; j++)
        bm_range_public(&q->ranges[j],
                        &s->ranges[index * (size_t)v->components + (size_t)j],
                        v->type);
    for (int k = 0; k < v->object->levels; k++) {
        int piece = bm_added_piece(v->object, k);

        q->level_bytes[k] =
            piece < 0 ? 0 : s->sizes[index * (size_t)s->levels + (size_t)piece];
    }
    return info;
}

/* Decide on one patch, whose entry is there, with a source and an index. */
static int decide(struct query *q, const struct bm_section *s, struct entry *e)
{
    const bouma_patch_query *asked = q->asked;
    bouma_patch_info info;

    e->level = -1;
    if (asked->within &&
        !may_have(q, &s->ranges[e->index * (size_t)q->variable->components +
                                (size_t)asked->component]))
        return BOUMA_OK;
    e->level = asked->level;
    if (asked->choose) {
        info = describe(q, s, e->index);
        e->level = asked->choose(asked->user, &info);
    }
    return e->level < q->variable->object->levels
               ? BOUMA_OK
               : bm_fail(&q->step->ds->error, BOUMA_EINVAL,
                         "level %d was chosen for a patch of "
                         "\"%s/%s\", which has levels 0 to %d",
                         e->level, q->variable->object->name, q->variable->name,
                         q->variable->object->levels - 1);
}

/* The samples of a chunk at a level that lie in the box; there may be none. */
static struct bm_footprint samples_in_box(const struct query *q, uint64_t key,
                                          int level)
{
    const struct bm_object *o = q->variable->object;
    struct bm_chunking c = o->layout->chunking(o);
    struct bm_footprint f;
    struct bm_box part;

    c.level = level;
    f = bm_chunking_footprint(&c, c.calls->find(c.own, key));
    part = bm_footprint_part(&f, &q->box);
    return bm_footprint_cut(&f, &part);
}

/* Look at the chunks of a subfile that are wanted. */
static int look_at(struct query *q, size_t file, const struct bm_section *s,
                   const uint64_t *keys, size_t count)
{
    size_t n = bm_section_common(s, keys, count, q->indices);
    int rc = BOUMA_OK;

    q->seen += n;
    for (size_t i = 0; i < n && !rc; i++) {
        struct entry *e = &q->entries[q->count];

        if (q->count == count)
            return bm_fail(&q->step->ds->error, BOUMA_EFORMAT,
                           "step %" PRIu64 ": a patch is in two subfiles",
                           q->step->manifest.step);
        *e = (struct entry){s->keys[q->indices[i]], file, q->indices[i], -1};
        rc = decide(q, s, e);
        if (!rc && e->level >= 0) {
            struct bm_footprint f = samples_in_box(q, e->key, e->level);

            q->count += bm_footprint_samples(&f) > 0;
        }
    }
    return rc;
}

/* Whether what files have together may matter. */
static int may_matter(void *context, const struct bm_part_info *part,
                      size_t first, size_t files)
{
    const struct query *q = context;
    struct bm_box common;

    (void)first;
    (void)files;
    return bm_box_meet(&common, &part->bounds, &q->box) &&
           (!q->asked->within ||
            may_have(q, &part->ranges[q->asked->component]));
}

/* Look at the tables of all subfiles that may matter. 'keys' are those of
 * the chunks that meet the box. */
static int look(struct query *q, const uint64_t *keys, size_t count)
{
    struct bm_file_walk walk = {.step = q->step,
                                .variable = q->variable->id,
                                .wants = may_matter,
                                .context = q};
    int rc = bm_file_walk_next(&walk);

    for (; !rc && walk.part; rc = rc ? rc : bm_file_walk_next(&walk)) {
        const struct bm_section *s;
        struct bm_source *source;

        if (!may_matter(q, walk.part, walk.number, 1))
            continue;
        rc = bm_step_source(q->step, walk.file, &source);
        s = rc ? NULL : bm_head_section(&source->head, q->variable->id);
        if (s)
            rc = look_at(q, walk.file, s, keys, count);
    }
    if (rc || q->asked->within || q->seen == count)
        return rc;
    return bm_fail(&q->step->ds->error, BOUMA_EFORMAT,
                   "step %" PRIu64 ": %zu of %zu patches are in no subfile",
                   q->step->manifest.step,
                   q->seen < count ? count - q->seen : 0, count);
}

static int by_key(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;

    return a->key < b->key ? -1 : a->key > b->key;
}

/* What is read of a patch. */
struct part {
    const struct entry *entry;
    struct bm_footprint samples;
    size_t bytes;
};

/* 0 if nothing is read. */
static int part_of(const struct query *q, uint64_t key, struct part *part)
{
    struct entry wanted = {.key = key};

    part->entry =
        bsearch(&wanted, q->entries, q->count, sizeof(*q->entries), by_key);
    if (!part->entry)
        return 0;
    part->samples = samples_in_box(q, key, part->entry->level);
    part->bytes = (size_t)bm_footprint_samples(&part->samples) *
                  bm_variable_sample_size(q->variable);
    return part->bytes > 0;
}

/* Not more than the limit: what is larger is refused before it is used. */
static size_t room_for(const void *context, uint64_t key)
{
    const struct query *q = context;
    struct part part;

    return part_of(q, key, &part) &&
                   part.bytes <= q->step->ds->store.memory_limit
               ? part.bytes
               : 0;
}

static void fill(void *context, const struct bm_decoding *chunk, uint8_t *room)
{
    const struct query *q = context;
    struct bm_target target;
    struct part part;

    if (!part_of(q, chunk->key, &part))
        return;
    target.samples = part.samples;
    target.array = bm_array_dense(q->variable, room, part.samples.count);
    q->variable->object->layout->give(chunk, &target);
}

/* Hand the samples of one patch to the caller. */
static int hand_over(void *context, uint64_t key, const uint8_t *room,
                     struct bm_error *error)
{
    struct query *q = context;
    bouma_selection selection = {.size = sizeof(selection)};
    bouma_patch_info info;
    const struct entry *e;
    struct bm_source *source;
    struct part part;
    int rc;

    if (!part_of(q, key, &part))
        return BOUMA_OK;
    e = part.entry;
    bm_selection_of(&selection, q->variable->object,
                    bm_variable_sample_size(q->variable), &part.samples);
    rc = bm_step_source(q->step, e->source, &source);
    if (rc) {
        *error = q->step->ds->error;
        return rc;
    }
    info =
        describe(q, bm_head_section(&source->head, q->variable->id), e->index);
    return q->asked->each(q->asked->user, &info, e->level, &selection, room)
               ? bm_fail(error, BOUMA_EABORTED, "the caller ended the query")
               : BOUMA_OK;
}

/* The chunks for which this level was chosen. */
static int fetch_level(struct query *q, int level, uint64_t *keys,
                       uint64_t *before)
{
    struct bm_fetch_ordered ordered = {.room = room_for,
                                       .fill = fill,
                                       .deliver = hand_over,
                                       .memory = &q->samples};
    struct bm_fetch fetch = {.step = q->step,
                             .variable = q->variable,
                             .fine = level,
                             .coarse = q->variable->object->levels - 1,
                             .keys = keys,
                             .ordered = &ordered,
                             .context = q,
                             .clip = &q->box,
                             .before = *before,
                             .total = q->count};

    for (size_t i = 0; i < q->count; i++)
        if (q->entries[i].level == level)
            keys[fetch.count++] = q->entries[i].key;
    *before += fetch.count;
    return fetch.count ? bm_fetch(&fetch) : BOUMA_OK;
}

int bm_query(struct bouma_step *step, const struct bouma_variable *variable,
             const bouma_patch_query *query, const struct bm_box *lifted)
{
    const bouma_allocator *a = step->ds->a;
    struct query q = {
        .step = step, .variable = variable, .asked = query, .box = *lifted};
    uint64_t *keys = NULL;
    uint64_t before = 0;
    size_t count = 0;
    int rc;

    if (bm_object_is_tiled(variable->object))
        return bm_query_tiles(step, variable, query, lifted);
    rc = bm_chunks_select(&keys, &count, variable->object, lifted, 0);
    step->open.busy++; /* while levels are chosen, too */
    q.entries = bm_new_raw(a, count + 1, sizeof(*q.entries));
    q.ranges = bm_new(a, (size_t)variable->components, sizeof(*q.ranges));
    q.indices = bm_new_raw(a, count, sizeof(*q.indices));
    if (!q.entries || !q.ranges || !q.indices)
        rc = BOUMA_ENOMEM;
    if (rc)
        bm_fail(&step->ds->error, rc, "no memory to query");
    if (!rc)
        rc = look(&q, keys, count);
    if (!rc && q.count)
        qsort(q.entries, q.count, sizeof(*q.entries), by_key);
    for (size_t i = 1; i < q.count && !rc; i++)
        if (q.entries[i].key == q.entries[i - 1].key)
            rc = bm_fail(&step->ds->error, BOUMA_EFORMAT,
                         "step %" PRIu64 ": a patch is in two subfiles",
                         step->manifest.step);
    for (int k = variable->object->levels - 1; k >= 0 && !rc; k--)
        rc = fetch_level(&q, k, keys, &before);
    step->open.busy--;
    bm_drop(variable->object->a, keys);
    bm_drop(a, q.entries);
    bm_drop(a, q.ranges);
    bm_drop(a, q.indices);
    bm_drop(a, q.samples.data);
    return rc;
}
