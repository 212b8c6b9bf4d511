/* stored_chunks.c -- see stored_chunks.h. */
#include "read/stored_chunks.h"

static void tell_section(const struct bm_section *s, bm_stored_chunk *each,
                         void *context)
{
    for (size_t i = 0; i < s->count; i++) {
        struct bm_box box = bm_chunk_bounds(s->variable->object, s->keys[i]);
        uint64_t bytes = 0;

        for (int k = 0; k < s->levels; k++)
            bytes += s->sizes[i * (size_t)s->levels + (size_t)k];
        each(context, &box, bytes);
    }
}

int bm_stored_chunks(const struct bouma_variable *v, bm_stored_chunk *each,
                     void *context)
{
    struct bm_file_walk walk = {.step = v->object->schema->step,
                                .variable = v->id};
    int rc = bm_file_walk_next(&walk);

    for (; !rc && walk.part; rc = rc ? rc : bm_file_walk_next(&walk)) {
        const struct bm_section *s = NULL;
        struct bm_source *source;

        rc = bm_step_source(walk.step, walk.file, &source);
        if (!rc)
            s = bm_head_section(&source->head, v->id);
        if (s)
            tell_section(s, each, context);
    }
    return rc;
}
