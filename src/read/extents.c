/* extents.c -- see extents.h. */
#include "read/extents.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"

#define GAP_BYTES     4096 /* read rather than leave out, */
#define UNWANTED_PART 8    /* but no more than this part of all */

static int by_offset(const void *left, const void *right)
{
    const struct bm_extent *a = left, *b = right;

    return a->offset < b->offset ? -1 : a->offset > b->offset;
}

/* Who asks in the order of the file need not wait. */
static void sort(struct bm_extent *extents, size_t count)
{
    size_t i = 1;

    while (i < count && extents[i - 1].offset <= extents[i].offset)
        i++;
    if (i < count)
        qsort(extents, count, sizeof(*extents), by_offset);
}

/* The end of the run of extents that are read together, from 'first' on: they
 * are not further apart than 'gap'. */
static size_t run_end(const struct bm_extent *extents, size_t first, size_t n,
                      uint64_t gap, uint64_t *end)
{
    size_t i = first;

    *end = extents[i].offset + extents[i].bytes;
    /* Pieces without bytes may come behind one that begins where they do. */
    while (++i < n && extents[i].offset <= *end + gap)
        if (extents[i].offset + extents[i].bytes > *end)
            *end = extents[i].offset + extents[i].bytes;
    return i;
}

/* The widest gap to read over, so that few reads are made, but not much is read
 * that nobody wants. */
static uint64_t choose_gap(const struct bm_extent *extents, size_t n)
{
    uint64_t gap = GAP_BYTES, wanted = 0;

    for (size_t i = 0; i < n; i++)
        wanted += extents[i].bytes;
    for (; gap; gap /= 2) {
        uint64_t bytes = 0, end;

        for (size_t i = 0, next; i < n; i = next) {
            next = run_end(extents, i, n, gap, &end);
            bytes += end - extents[i].offset;
        }
        if (bytes - wanted <= wanted / UNWANTED_PART)
            break;
    }
    return gap;
}

/* Of a file that was cut: whether what is wanted is still there. */
static int see_what_is_lost(const struct bouma_step *step, size_t source,
                            const struct bm_extent *extents, size_t count)
{
    const struct bm_subfile_info *info =
        bm_manifest_record(&step->manifest, source);
    int rc = BOUMA_OK;

    if (step->sources[source]->bytes >= info->file_bytes)
        return BOUMA_OK;
    for (size_t i = 0; i < count && !rc; i++) {
        const struct bm_object *o = extents[i].section->variable->object;
        char what[96], level[BM_PIECE_TEXT_BYTES] = "its data";

        if (!o->layout->pieces)
            snprintf(level, sizeof(level), "level %d", extents[i].level);
        snprintf(what, sizeof(what),
                 "some of %s (coarser levels and other regions may be left)",
                 level);
        rc = bm_step_source_has(step, source, extents[i].offset,
                                extents[i].bytes, what, &step->ds->error);
    }
    return rc;
}

/* Memory for a read is bounded, whatever a damaged file says. */
static int check_limit(const struct bouma_dataset *ds, uint64_t bytes,
                       struct bm_error *error)
{
    return bytes <= ds->store.memory_limit
               ? BOUMA_OK
               : bm_fail(error, BOUMA_ELIMIT,
                         "a read of %" PRIu64
                         " bytes is beyond the option 'memory_limit'",
                         bytes);
}

/* Bytes that were read with the head of a file, or NULL. */
static const uint8_t *find_in_front(const struct bm_source *s, uint64_t from,
                                    uint64_t end)
{
    return s->front_bytes && from >= s->front_offset &&
                   end <= s->front_offset + s->front_bytes
               ? (const uint8_t *)s->front.data + (from - s->front_offset)
               : NULL;
}

int bm_extents_read(struct bouma_step *step, size_t source,
                    struct bm_extent *extents, size_t count, int exact,
                    struct bm_block_of_memory *raw)
{
    struct bouma_dataset *ds = step->ds;
    struct bm_source *s = step->sources[source];
    size_t need = 0, at = 0;
    uint8_t *to;
    uint64_t end, gap;
    int rc = BOUMA_OK;

    rc = see_what_is_lost(step, source, extents, count);
    if (rc)
        return rc;
    sort(extents, count);
    gap = exact ? 0 : choose_gap(extents, count);
    for (size_t i = 0, next; i < count; i = next) {
        next = run_end(extents, i, count, gap, &end);
        need += (size_t)(end - extents[i].offset) + 16;
    }
    rc = check_limit(ds, need, &ds->error);
    if (rc)
        return rc;
    if (bm_block_grow(ds->a, raw, need))
        return bm_fail(&ds->error, BOUMA_ENOMEM, "no memory to read %zu bytes",
                       need);
    to = raw->data;
    for (size_t i = 0, next; i < count && !rc; i = next) {
        uint64_t from = extents[i].offset;
        const uint8_t *data;

        next = run_end(extents, i, count, gap, &end);
        if (!i)
            s->first_end = end;
        data = find_in_front(s, from, end);
        if (!data)
            rc = bm_file_read(&s->file, to + at, (size_t)(end - from), from,
                              &ds->error);
        for (size_t k = i; k < next; k++)
            extents[k].data =
                (data ? data : to + at) + (extents[k].offset - from);
        at += ((size_t)(end - from) + 15) / 16 * 16;
    }
    return rc;
}

/* The end of a run of extents that the shelf does not have. Gaps are not read
 * over: what is in them may be there, or is wanted later. */
static size_t missing_end(const struct bm_extent *extents, size_t first,
                          size_t n, uint64_t *end)
{
    size_t i = first;

    *end = extents[i].offset + extents[i].bytes;
    while (++i < n && (!extents[i].data || !extents[i].bytes) &&
           extents[i].offset <= *end)
        if (extents[i].offset + extents[i].bytes > *end)
            *end = extents[i].offset + extents[i].bytes;
    return i;
}

int bm_extents_fetch(struct bouma_step *step, size_t source,
                     struct bm_extent *extents, size_t count,
                     struct bm_shelf *shelf)
{
    struct bouma_dataset *ds = step->ds;
    uint64_t end;
    int rc = see_what_is_lost(step, source, extents, count);

    if (rc)
        return rc;
    sort(extents, count);
    for (size_t i = 0; i < count; i++) {
        extents[i].data = bm_shelf_find(shelf, extents[i].offset,
                                        extents[i].offset + extents[i].bytes);
        extents[i].checked = extents[i].data && extents[i].bytes;
    }
    for (size_t i = 0, next; i < count && !rc; i = next) {
        uint64_t from = extents[i].offset;
        uint8_t *to;

        next = i + 1;
        if (!extents[i].bytes)
            extents[i].data = (const uint8_t *)"";
        if (extents[i].data)
            continue;
        next = missing_end(extents, i, count, &end);
        rc = check_limit(ds, end - from, &ds->error);
        if (rc)
            return rc;
        to = bm_shelf_add(shelf, from, end, (size_t)(end - from));
        if (!to)
            return bm_fail(&ds->error, BOUMA_ENOMEM,
                           "no memory to read %" PRIu64 " bytes", end - from);
        rc = bm_file_read(&step->sources[source]->file, to,
                          (size_t)(end - from), from, &ds->error);
        for (size_t k = i; k < next; k++)
            extents[k].data = to + (extents[k].offset - from);
    }
    return rc;
}

int bm_extent_damaged(const struct bouma_step *step, size_t source,
                      const struct bm_extent *extent, const char *what,
                      struct bm_error *error)
{
    const struct bouma_variable *v = extent->section->variable;
    char full[1200], where[200], level[BM_PIECE_TEXT_BYTES];

    bm_step_source_name(step, source, full, sizeof(full));
    bm_section_text(where, sizeof(where), extent->section, extent->chunk);
    return bm_fail(error, BOUMA_EFORMAT,
                   "%s: %s: step %" PRIu64 ", variable \"%s/%s\", %s"
                   "%s, at byte %" PRIu64
                   "; coarser levels and other regions can still be read",
                   full, what, step->manifest.step, v->object->name, v->name,
                   bm_piece_text(level, v->object, extent->level), where,
                   extent->offset);
}

int bm_extent_check(const struct bouma_step *step, size_t source,
                    const struct bm_extent *extent, struct bm_error *error)
{
    const struct bm_section *section = extent->section;
    size_t chunk = extent->chunk;
    const struct bm_manifest *m = &step->manifest;
    struct bm_address address = {step->ds->id,           m->step,
                                 m->generation.epoch,    m->generation.attempt,
                                 section->variable->id,  section->keys[chunk],
                                 (uint32_t)extent->level};

    if (!extent->checked &&
        bm_hash_chunk(&address, extent->data, extent->bytes) !=
            section->hashes[chunk * (size_t)section->levels +
                            (size_t)extent->level])
        return bm_extent_damaged(step, source, extent,
                                 "the checksum does not match", error);
    return BOUMA_OK;
}
