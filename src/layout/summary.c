/* summary.c -- see summary.h; docs/format.md has the bytes. */
#include "layout/summary.h"

#include <string.h>

#include "base/hash.h"
#include "base/search.h"

void bm_summaries_init(struct bm_summary_list *list, const bouma_allocator *a)
{
    memset(list, 0, sizeof(*list));
    list->a = a;
}

void bm_summaries_release(struct bm_summary_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        struct bm_summary *s = list->entries[i];

        s->object->layout->summary->release(s);
        bm_drop(list->a, s);
    }
    bm_drop(list->a, list->entries);
    list->entries = NULL;
    list->count = 0;
}

int bm_summaries_add(struct bm_summary_list *list,
                     const struct bm_object *object)
{
    struct bm_summary **grown =
        bm_grow(list->a, list->entries, list->count, sizeof(*grown));
    struct bm_summary *s = bm_new(list->a, 1, sizeof(*s));

    list->entries = grown ? grown : list->entries;
    if (!grown || !s) {
        bm_drop(list->a, s);
        return BOUMA_ENOMEM;
    }
    s->object = object;
    grown[list->count++] = s;
    return object->layout->summary->init(s);
}

struct bm_summary *bm_summaries_find(const struct bm_summary_list *list,
                                     uint32_t object)
{
    size_t at = 0;

    BM_BISECT(at, list->count, i, list->entries[i]->object->number <= object);
    return at < list->count && list->entries[at]->object->number == object
               ? list->entries[at]
               : NULL;
}

int bm_summaries_copy(struct bm_summary_list *out,
                      const struct bm_summary_list *list)
{
    int rc = BOUMA_OK;

    for (size_t i = 0; i < list->count && !rc; i++) {
        const struct bm_summary *from = list->entries[i];
        const struct bm_summary_functions *f = from->object->layout->summary;

        rc = bm_summaries_add(out, from->object);
        if (rc)
            break;
        f->release(out->entries[i]);
        rc = f->copy(out->entries[i], from);
    }
    return rc;
}

void bm_summaries_encode(struct bm_buffer *b,
                         const struct bm_summary_list *list)
{
    bm_put_u64(b, list->count);
    for (size_t i = 0; i < list->count; i++) {
        const struct bm_summary *s = list->entries[i];

        bm_put_u32(b, s->object->number);
        s->object->layout->summary->encode(b, s);
    }
}

int bm_summaries_decode(struct bm_summary_list *list,
                        const struct bm_schema *schema, struct bm_cursor *c)
{
    size_t count = bm_get_count(c, 4);
    int rc = BOUMA_OK;

    if (c->failed || count > (size_t)schema->count)
        return BOUMA_EFORMAT;
    for (size_t i = 0; i < count && !rc; i++) {
        uint32_t object = bm_get_u32(c);
        const struct bm_object *o;

        if (c->failed || object >= (uint32_t)schema->count ||
            (i && object <= list->entries[i - 1]->object->number))
            return BOUMA_EFORMAT;
        o = schema->objects[object];
        if (!o->layout->summary)
            return BOUMA_EFORMAT;
        rc = bm_summaries_add(list, o);
        if (!rc)
            rc = o->layout->summary->decode(list->entries[i], c);
    }
    return rc;
}

int bm_summaries_fit(const struct bm_summary_list *list,
                     const struct bm_contents *c)
{
    for (size_t i = 0; i < list->count; i++)
        if (!list->entries[i]->object->layout->summary->fits(list->entries[i],
                                                             c))
            return 0;
    return 1;
}

int bm_summaries_compare(int *same, const struct bm_summary_list *left,
                         const struct bm_summary_list *right)
{
    struct bm_buffer l, r;
    int rc;

    bm_buffer_init(&l, left->a);
    bm_buffer_init(&r, left->a);
    bm_summaries_encode(&l, left);
    bm_summaries_encode(&r, right);
    rc = l.failed || r.failed ? BOUMA_ENOMEM : BOUMA_OK;
    *same = l.size == r.size && (rc || memcmp(l.data, r.data, l.size) == 0);
    bm_buffer_release(&l);
    bm_buffer_release(&r);
    return rc;
}

uint32_t bm_summary_hash_index(const struct bm_summary *s,
                               const struct bm_step_address *step,
                               const void *data, size_t bytes)
{
    struct bm_address address = {step->id,
                                 step->step,
                                 step->generation.epoch,
                                 step->generation.attempt,
                                 s->object->variables[0]->id,
                                 0,
                                 BM_INDEX_LEVEL};

    return bm_hash_chunk(&address, data, bytes);
}
