/* manifest_facts.c -- facts that are stored twice: in the manifest and in the
 * heads of files, or in a part of the manifest and in their sum. */
#include <string.h>

#include "layout/manifest.h"
#include "layout/sheet.h"

const char *bm_manifest_glance(const struct bm_manifest *m, size_t i,
                               const struct bm_head *h)
{
    /* Bit for bit: a time may be NaN. */
    return h->step != m->step                                 ? "the step"
           : memcmp(&h->time, &m->time, sizeof(h->time)) != 0 ? "the time"
           : h->subfile != i                                  ? "the number of "
                                                                "the subfile"
           : h->subfiles != m->count ? "the number of subfiles"
           : h->generation.epoch != m->generation.epoch     ? "the epoch"
           : h->generation.attempt != m->generation.attempt ? "the attempt"
           : !bm_generation_is_same(h->base, m->base) ? "what it was added to"
           : h->order != m->order                     ? "the order"
                                                      : NULL;
}

/* What a subfile has of a variable, as the two tell it. */
static const char *compare_parts(const struct bm_part_info *a,
                                 const struct bm_part_info *b,
                                 const struct bm_schema *schema)
{
    const struct bouma_variable *v = schema->by_id[a->variable];

    if (a->variable != b->variable)
        return "the variables";
    if (a->chunks != b->chunks)
        return "the number of chunks";
    for (int k = 0; k < bm_pieces(v->object); k++)
        if (a->level_bytes[k] != b->level_bytes[k])
            return "the bytes of a level";
    if (memcmp(&a->loss, &b->loss, sizeof(a->loss)) != 0)
        return "the errors of a variable";
    if (v->object->layout->chunking &&
        memcmp(&a->bounds, &b->bounds, sizeof(a->bounds)) != 0)
        return "the bounds of chunks";
    for (int j = 0; j < v->components; j++)
        if (!bm_range_equal(&a->ranges[j], &b->ranges[j], v->type))
            return "the range of a variable";
    return NULL;
}

int bm_manifest_compare(const char **what, const struct bm_manifest *m,
                        size_t i, const struct bm_head *h,
                        const uint8_t head_hash[16])
{
    const struct bm_subfile_info *told = bm_manifest_record(m, i);
    struct bm_subfile_info own;
    int same = 1, rc = bm_subfile_info_of(&own, h, head_hash, m->a);

    *what = bm_manifest_glance(m, i, h);
    if (!rc && !*what)
        *what = own.file_bytes != told->file_bytes   ? "the bytes of the file"
                : own.head_bytes != told->head_bytes ? "the bytes of the head"
                : own.count != told->count           ? "the variables"
                                                     : NULL;
    for (size_t k = 0; !rc && !*what && k < own.count; k++)
        *what = compare_parts(&own.parts[k], &told->parts[k], m->schema);
    if (!rc && !*what)
        rc = bm_summaries_compare(&same, &own.summaries, &told->summaries);
    if (!rc && !*what && !same)
        *what = "what is told of the particles";
    bm_subfile_info_release(&own, m->a);
    return rc;
}

/* Files, or all those of a sheet. */
static void count_files(bouma_record *r, const struct bm_subfile_info *info,
                        uint64_t largest)
{
    r->stored_bytes += info->file_bytes;
    r->largest_file = largest > r->largest_file ? largest : r->largest_file;
    for (size_t k = 0; k < info->count; k++)
        r->chunks += (int64_t)info->parts[k].chunks;
}

void bm_manifest_count(bouma_record *r, const struct bm_manifest *m)
{
    for (size_t i = 0; i < m->count && !m->sheet_files; i++)
        count_files(r, &m->subfiles[i], m->subfiles[i].file_bytes);
    for (size_t k = 0; k < m->sheet_count; k++)
        count_files(r, &m->sheets[k].sum, m->sheets[k].largest);
    r->files = (int64_t)m->count;
    r->mean_file = m->count ? r->stored_bytes / m->count : 0;
}

const char *bm_manifest_check_record(const struct bm_manifest *m)
{
    const bouma_record *r = &m->record;
    bouma_record is = {0};

    for (uint32_t id = 0; id < m->schema->variables; id++)
        is.raw_bytes += m->schema->by_id[id]->in_step.raw_bytes;
    bm_manifest_count(&is, m);
    return r->raw_bytes != is.raw_bytes         ? "raw bytes"
           : r->stored_bytes != is.stored_bytes ? "stored bytes"
           : r->largest_file != is.largest_file ? "the largest file"
           : r->files != is.files               ? "the number of files"
           : r->chunks != is.chunks             ? "the number of chunks"
           : r->mean_file != is.mean_file       ? "the mean file"
                                                : NULL;
}
