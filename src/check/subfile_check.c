/* subfile_check.c -- one subfile: its size, its two heads, its checksums, its
 * values. Goes on after damage, so that all of it is found. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "check/check.h"
#include "layout/patch.h"
#include "store/envelope.h"

#define PADDING_PIECE 4096 /* bytes read at once */

struct subfile_check {
    struct bouma_step *step;
    size_t i;
    char name[BM_NAME_BYTES];
    struct bm_file file;
    uint64_t bytes;          /* that the file has */
    bouma_severity severity; /* of what lies beyond them */
    struct bm_check *how;
    int vague; /* something may be well, but could not be read */
    struct bm_findings *out;
    bouma_verify_report *report;
    struct bm_codec_state codec;
    struct bm_buffer raw, samples, dense[2];
    int no_memory;
};

/* Something is wrong with the file: 'status' says of which kind. */
static void damage(struct subfile_check *c, int status, const char *text)
{
    if (status == BOUMA_ENOMEM) {
        c->no_memory = 1; /* which says nothing about the file */
        return;
    }
    c->vague |= status != BOUMA_EFORMAT;
    if (!bm_is_damage(status) && !c->out->failure)
        c->out->failure = status;
    bm_findings_add(c->out, bm_severity_of(status),
                    (int64_t)c->step->manifest.step, c->name, "%s", text);
}

/* What is on record of this writing of the step, or NULL. */
static const struct bm_lost_step *record_of(const struct subfile_check *c)
{
    return bm_loss_is_of(c->how->known, &c->step->manifest) ? c->how->known
                                                            : NULL;
}

static void collect(struct subfile_check *c, uint64_t offset)
{
    if (c->how->lost && bm_lost_step_add_piece(c->how->lost, (uint32_t)c->i,
                                               offset, c->step->ds->a))
        c->no_memory = 1;
}

/* The piece at 'offset' is damaged: a damage, or a note if it is on record and
 * was forgotten. */
static void damaged_piece(struct subfile_check *c, uint64_t offset,
                          const char *text)
{
    const struct bm_lost_step *known = record_of(c);
    char date[BM_LOSS_DATE + 4] = "", when[BM_LOSS_DATE];
    bouma_severity severity = BOUMA_DAMAGE;

    if (known && bm_lost_step_has_piece(known, (uint32_t)c->i, offset)) {
        snprintf(date, sizeof(date), " (%s)", bm_loss_date(when, known));
        severity = known->accepted ? BOUMA_NOTE : BOUMA_DAMAGE;
    }
    bm_findings_add(c->out, severity, (int64_t)c->step->manifest.step, c->name,
                    "%s%s", text, date);
    collect(c, offset);
}

/* Read 'bytes' at 'offset' into c->raw: 1 if that worked. */
static int load(struct subfile_check *c, uint64_t offset, uint64_t bytes)
{
    struct bm_error why = {0};
    char text[128];
    int rc;

    bm_buffer_clear(&c->raw);
    if (bytes > c->step->ds->store.memory_limit) {
        snprintf(text, sizeof(text),
                 "the %" PRIu64 " bytes at byte %" PRIu64
                 " are more than the option 'memory_limit' allows",
                 bytes, offset);
        damage(c, BOUMA_ELIMIT, text);
        return 0;
    }
    if (!bm_buffer_extend(&c->raw, (size_t)bytes)) {
        c->no_memory = 1;
        return 0;
    }
    rc = bm_file_read(&c->file, c->raw.data, (size_t)bytes, offset, &why);
    if (rc) {
        damage(c, rc, why.text);
        return 0;
    }
    c->report->bytes += bytes;
    return 1;
}

/* Whether the ends of a range, or of bounds, are the same number; -0 is written
 * as 0 in the one, and not in the other. */
static int is_same(bouma_type type, bouma_scalar a, bouma_scalar b)
{
    return bm_type_is_float(type) ? a.f >= b.f && a.f <= b.f : a.u == b.u;
}

/* What a cloud says of the values of one component, beside the ranges of their
 * chunks: these know infinities, and the bounds no strays. */
static int fits_range(const struct bm_section *s, int component,
                      bouma_scalar low, bouma_scalar high)
{
    const struct bouma_variable *v = s->variable;
    struct bm_range all = {{0}, {0}, 0, 0};

    for (size_t i = 0; i < s->count; i++)
        bm_range_join(
            &all, v->type,
            &s->ranges[i * (size_t)v->components + (size_t)component]);
    if (bm_type_is_float(v->type) && (isinf(all.low.f) || isinf(all.high.f)))
        return 1;
    return !all.count ||
           (is_same(v->type, all.low, low) && is_same(v->type, all.high, high));
}

/* A fact in which clouds and the ranges of their chunks differ, or NULL. */
static const char *contradicts_ranges(const struct bm_head *head)
{
    for (size_t i = 0; i < head->cloud_count; i++) {
        const struct bm_cloud *c = &head->clouds[i];
        const struct bm_section *s =
            bm_head_section(head, c->set->variables[0]->id);
        uint32_t row = 0;

        for (int d = 0; d < c->set->ndims && s && !c->strays; d++)
            if (!fits_range(s, d, (bouma_scalar){.f = c->low[d]},
                            (bouma_scalar){.f = c->high[d]}))
                return "the bounds of the particles";
        for (int j = 1; j < c->set->count; j++) {
            const struct bouma_variable *v = c->set->variables[j];

            s = bm_head_section(head, v->id);
            for (int k = 0; k < v->components && s; k++, row++)
                if (!fits_range(s, k, c->bins[row].low, c->bins[row].high))
                    return "the range of values of the particles";
        }
    }
    return NULL;
}

/* One copy of the head; 1 if it is good, and then it is in *head. */
static int check_head(struct subfile_check *c, struct bm_head *head,
                      uint64_t offset, const char *which)
{
    const struct bm_manifest *m = &c->step->manifest;
    const struct bm_subfile_info *info = &m->subfiles[c->i];
    struct bm_error why = {0};
    const char *what = NULL;
    int rc;

    bm_head_release(head);
    bm_head_init(head, c->step->ds->a);
    if (!load(c, offset, info->head_bytes))
        return 0;
    rc = bm_head_decode(head, &c->step->schema, NULL, c->raw.data, c->raw.size,
                        info->file_bytes, c->step->ds->id, which, &why);
    /* Whatever version it claims to have. */
    if ((!rc || rc == BOUMA_EVERSION) &&
        !bm_envelope_has_hash(c->raw.data, c->raw.size, info->head_hash)) {
        bm_error_clear(&why);
        rc = bm_fail(&why, BOUMA_EFORMAT,
                     "%s: is not the one the manifest names", which);
    }
    if (!rc)
        rc = bm_manifest_compare(&what, m, c->i, head, info->head_hash);
    if (!rc && !what)
        what = contradicts_ranges(head);
    if (!rc && what)
        rc = bm_fail(&why, BOUMA_EFORMAT,
                     "%s: %s is not what the manifest, or another part of the "
                     "head, says",
                     which, what);
    if (rc)
        damage(c, rc, why.text);
    return !rc;
}

/* The zero bytes between head and data: checked so that no byte of a file goes
 * without a check. In a placed subfile there may be many. */
static void check_padding(struct subfile_check *c, const struct bm_head *head)
{
    uint64_t at = head->head_bytes;

    while (at < head->data_offset && at < c->bytes) {
        uint64_t end =
            head->data_offset < c->bytes ? head->data_offset : c->bytes;
        uint64_t left = end - at;
        uint64_t n = left < PADDING_PIECE ? left : PADDING_PIECE;

        if (!load(c, at, n))
            return;
        for (uint64_t i = 0; i < n; i++)
            if (c->raw.data[i]) {
                damaged_piece(c, head->head_bytes,
                              "bytes between head and data are not zero");
                return;
            }
        at += n;
    }
}

static void damaged_level(struct subfile_check *c, const struct bm_section *s,
                          size_t chunk, int level, const char *what)
{
    uint64_t offset = s->offsets[chunk * (size_t)s->levels + (size_t)level];
    char where[200], text[BM_ERROR_BYTES];

    bm_section_text(where, sizeof(where), s, chunk);
    snprintf(text, sizeof(text),
             "%s: variable \"%s/%s\", level %d, %s, at byte %" PRIu64, what,
             s->variable->grid->name, s->variable->name, level, where, offset);
    damaged_piece(c, offset, text);
}

/* ---- a file that was cut ------------------------------------------------- */

#define NAMED 3 /* chunks */

static int is_lost(const struct subfile_check *c, const struct bm_section *s,
                   size_t chunk, int level)
{
    size_t at = chunk * (size_t)s->levels + (size_t)level;

    return s->sizes[at] && s->offsets[at] + s->sizes[at] > c->bytes;
}

/* Which chunks of a level are lost: their number, and the first ones. */
static void tell_lost_level(struct subfile_check *c, const struct bm_section *s,
                            int level)
{
    char where[NAMED * 200] = "";
    size_t lost = 0, n = 0;

    for (size_t i = 0; i < s->count; i++) {
        char one[200];

        if (!is_lost(c, s, i, level))
            continue;
        if (lost < NAMED) {
            bm_section_text(one, sizeof(one), s, i);
            n += (size_t)snprintf(where + n, sizeof(where) - n, "%s%.150s",
                                  lost ? ", " : "", one);
        }
        lost++;
    }
    if (lost)
        bm_findings_add(c->out, c->severity, (int64_t)c->step->manifest.step,
                        c->name,
                        "lost: variable \"%s/%s\", level %d, %zu of %zu chunks "
                        "(%s%s)",
                        s->variable->grid->name, s->variable->name, level, lost,
                        s->count, where, lost > NAMED ? ", ..." : "");
}

static void tell_lost(struct subfile_check *c, const struct bm_head *head)
{
    for (size_t i = 0; i < head->cloud_count; i++)
        if (head->clouds[i].tree_offset + head->clouds[i].tree_bytes > c->bytes)
            bm_findings_add(c->out, c->severity,
                            (int64_t)c->step->manifest.step, c->name,
                            "lost: the tree over the particles of \"%s\"",
                            head->clouds[i].set->name);
    for (size_t i = 0; i < head->count; i++)
        for (int k = head->sections[i].levels - 1; k >= 0; k--)
            tell_lost_level(c, &head->sections[i], k);
}

/* Whether values may have become others: the range that was noted, widened by
 * the bound, must hold what was decoded, and the other way round. */
static int range_fits(const struct bm_range *noted,
                      const struct bm_range *found,
                      const struct bouma_variable *v)
{
    double slack = bm_variable_slack(v, noted);

    if (!(slack > 0))
        return bm_range_equal(noted, found, v->type);
    if (noted->count != found->count || noted->nans != found->nans)
        return 0;
    return !noted->count || ((found->low.f >= noted->low.f - slack &&
                              found->low.f <= noted->low.f + slack &&
                              found->high.f >= noted->high.f - slack &&
                              found->high.f <= noted->high.f + slack) ||
                             isinf(noted->low.f) || isinf(noted->high.f));
}

/* Decode level k of a chunk, in c->raw, from the coarser one before it, which
 * *dense points to, and have it point to the new one. */
static int decode_level(struct subfile_check *c, const struct bm_patch *p,
                        const struct bouma_variable *v, int k,
                        const uint8_t **dense)
{
    const struct bm_codec *codec = bm_codec_find((int)v->codec);
    struct bm_buffer *to = &c->dense[k & 1];
    struct bm_field f = bm_patch_field(p, v);
    struct bm_samples out = {NULL, (size_t)p->values[k] * (size_t)p->components,
                             p->size};
    struct bm_patch_samples s = {k, NULL, *dense};
    int rc;

    bm_buffer_clear(to);
    bm_buffer_clear(&c->samples);
    if (!bm_buffer_extend(to, bm_patch_dense_bytes(p, k)) ||
        !bm_buffer_extend(&c->samples, bm_patch_level_bytes(p, k)))
        return BOUMA_ENOMEM;
    if (codec->decode_field) {
        rc = bm_codec_decode_fields(codec, &c->codec, to->data, *dense, &f,
                                    p->components, k, c->raw.data, c->raw.size);
    } else {
        out.data = c->samples.data;
        rc = codec->decode(&c->codec, &out, c->raw.data, c->raw.size);
        s.detail = c->samples.data;
        if (!rc)
            bm_patch_merge(p, &s, to->data);
    }
    *dense = to->data;
    return rc;
}

/* Level k of a chunk of particles, in c->raw: its values widen the ranges. */
static int decode_values(struct subfile_check *c,
                         const struct bouma_variable *v, uint64_t count,
                         struct bm_range *ranges)
{
    size_t lane = (size_t)count * bm_variable_value_size(v);
    int rc;

    bm_buffer_clear(&c->samples);
    if (!bm_buffer_extend(&c->samples, lane * (size_t)v->components))
        return BOUMA_ENOMEM;
    rc = bm_values_decode(&c->codec, c->samples.data, v, (size_t)count,
                          c->raw.data, c->raw.size);
    for (int j = 0; j < v->components && !rc; j++)
        bm_range_add(&ranges[j], v->type, c->samples.data + (size_t)j * lane,
                     (size_t)count);
    return rc;
}

/* 1 if level k of a chunk was read, into c->raw, and is what was written. */
static int load_level(struct subfile_check *c, const struct bm_section *s,
                      size_t chunk, int k)
{
    const struct bm_manifest *m = &c->step->manifest;
    size_t at = chunk * (size_t)s->levels + (size_t)k;
    struct bm_address address = {c->step->ds->id,     m->step,
                                 m->generation.epoch, m->generation.attempt,
                                 s->variable->id,     s->keys[chunk],
                                 (uint32_t)k};

    if (!load(c, s->offsets[at], s->sizes[at]))
        return 0;
    if (bm_hash_chunk(&address, c->raw.data, s->sizes[at]) == s->hashes[at]) {
        c->how->whole += s->sizes[at] != 0;
        return 1;
    }
    damaged_level(c, s, chunk, k, "the checksum does not match");
    return 0;
}

/* One chunk: every level's checksum and, if 'deep', its decoding and range. */
static void check_chunk(struct subfile_check *c, const struct bm_section *s,
                        size_t chunk, int deep)
{
    const struct bouma_variable *v = s->variable;
    uint64_t values[BM_MAX_LEVELS], samples;
    struct bm_range ranges[BM_MAX_COMPONENTS];
    const uint8_t *dense = NULL;
    struct bm_patch p;
    int whole = 1, rc;

    memset(ranges, 0, sizeof(*ranges) * (size_t)v->components);
    samples = bm_section_values(s, chunk, values);
    if (v->grid->kind == BM_GRID)
        bm_patch_init(&p, v, bm_tiling_find(&v->grid->tiling, s->keys[chunk]));
    if (deep && samples * bm_variable_sample_size(v) >
                    c->step->ds->store.memory_limit) {
        bm_findings_add(c->out, BOUMA_NOTE, (int64_t)c->step->manifest.step,
                        c->name,
                        "a chunk of \"%s/%s\" is beyond the memory limit, and "
                        "was not decoded",
                        v->grid->name, v->name);
        deep = 0;
    }
    for (int k = s->levels - 1; k >= 0; k--) {
        if (is_lost(c, s, chunk, k) || !load_level(c, s, chunk, k)) {
            whole = 0;
            continue;
        }
        /* A level that builds on a damaged one cannot be decoded. */
        rc = !deep || !whole ? BOUMA_OK
             : v->grid->kind == BM_GRID
                 ? decode_level(c, &p, v, k, &dense)
                 : decode_values(c, v, values[k], ranges);
        if (rc == BOUMA_ENOMEM)
            c->no_memory = 1;
        else if (rc)
            damaged_level(c, s, chunk, k, "the data cannot be decoded");
        whole &= !rc;
    }
    c->report->chunks++;
    if (!deep || !whole)
        return;
    if (v->grid->kind == BM_GRID)
        bm_patch_dense_ranges(&p, v->type, dense, ranges);
    for (int j = 0; j < v->components; j++)
        if (!range_fits(&s->ranges[chunk * (size_t)v->components + (size_t)j],
                        &ranges[j], v))
            damaged_level(c, s, chunk, 0,
                          "the values are not in the range that was noted");
}

/* The tree over the particles: its checksum and, if 'deep', its structure. */
static void check_tree(struct subfile_check *c, const struct bm_cloud *cloud,
                       int deep)
{
    const struct bm_manifest *m = &c->step->manifest;
    struct bm_tree tree;
    int rc;

    if (cloud->tree_offset + cloud->tree_bytes > c->bytes ||
        !load(c, cloud->tree_offset, cloud->tree_bytes))
        return;
    if (bm_cloud_hash_tree(cloud, c->step->ds->id, m->step, m->generation,
                           c->raw.data, c->raw.size) != cloud->tree_hash) {
        damaged_piece(
            c, cloud->tree_offset,
            "the checksum of the tree over the particles does not match");
        return;
    }
    if (!deep)
        return;
    bm_tree_init(&tree, c->step->ds->a);
    rc =
        bm_cloud_decode_tree(&tree, cloud, c->raw.data, c->raw.size, &c->codec);
    bm_tree_release(&tree);
    if (rc)
        damage(c, rc, "the tree over the particles contradicts itself");
}

/* There is no head, as was told since 'before': the whole file is lost. */
static void no_head(struct subfile_check *c, const struct bm_findings *before)
{
    const struct bm_lost_step *known = record_of(c);

    if (known && bm_lost_step_has_piece(known, (uint32_t)c->i, 0)) {
        bm_findings_return(c->out, before);
        damaged_piece(c, 0, "no head of it is whole");
    } else {
        collect(c, 0);
    }
}

static void check_content(struct subfile_check *c, bouma_verify_depth depth)
{
    const struct bm_subfile_info *info = &c->step->manifest.subfiles[c->i];
    struct bm_findings before = *c->out;
    struct bm_head head, second;
    int good, is_cut = c->bytes < info->file_bytes;

    bm_head_init(&head, c->step->ds->a);
    bm_head_init(&second, c->step->ds->a);
    good = check_head(c, &head, 0, "the head at the front");
    if (!is_cut &&
        check_head(c, &second, info->file_bytes - info->head_bytes,
                   "the head at the end") &&
        !good) {
        struct bm_head swap = head;

        head = second;
        second = swap;
        good = 1;
    }
    if (good && c->how->data_only)
        bm_findings_return(c->out, &before);
    if (good && is_cut)
        tell_lost(c, &head);
    if (!good && !c->vague)
        no_head(c, &before);
    if (good && depth >= BOUMA_VERIFY_FULL) {
        check_padding(c, &head);
        for (size_t i = 0; i < head.cloud_count; i++)
            check_tree(c, &head.clouds[i], depth >= BOUMA_VERIFY_DEEP);
        for (size_t s = 0; s < head.count; s++)
            for (size_t k = 0; k < head.sections[s].count; k++)
                check_chunk(c, &head.sections[s], k,
                            depth >= BOUMA_VERIFY_DEEP);
    }
    bm_head_release(&head);
    bm_head_release(&second);
}

int bm_loss_is_of(const struct bm_lost_step *lost, const struct bm_manifest *m)
{
    struct bm_step_entry entry = {m->step, m->time, m->generation};

    return lost && !bm_lost_step_is_whole(lost) &&
           bm_step_entry_is_same(&lost->entry, &entry);
}

/* The file has not its length, or is missing, as 'missing' tells: a damage, or
 * a note if it is known and was forgotten. */
static void note_length(struct subfile_check *c,
                        const struct bm_subfile_info *info, const char *missing)
{
    const struct bm_lost_step *known = record_of(c);
    const struct bm_lost_file *file =
        known ? bm_lost_step_file(known, (uint32_t)c->i) : NULL;
    char date[BM_LOSS_DATE + 4] = "", text[BM_LOSS_DATE];

    c->severity = BOUMA_DAMAGE;
    if (file && file->bytes == c->bytes) {
        snprintf(date, sizeof(date), " (%s)", bm_loss_date(text, known));
        if (known->accepted)
            c->severity = BOUMA_NOTE;
    }
    if (missing)
        bm_findings_add(c->out, c->severity, (int64_t)c->step->manifest.step,
                        c->name, "%s%s", missing, date);
    else
        bm_findings_add(
            c->out, c->severity, (int64_t)c->step->manifest.step, c->name,
            "has %" PRIu64 " bytes where %" PRIu64 " were written%s", c->bytes,
            info->file_bytes, date);
}

int bm_check_subfile(struct bouma_step *step, size_t i, struct bm_check *how,
                     struct bm_findings *out, bouma_verify_report *report)
{
    const struct bm_subfile_info *info = &step->manifest.subfiles[i];
    struct subfile_check c = {
        .step = step, .i = i, .how = how, .out = out, .report = report};
    struct bm_error why = {0}, ignored = {0};
    int failed, rc;

    bm_codec_state_init(&c.codec, step->ds->a);
    bm_buffer_init(&c.raw, step->ds->a);
    bm_buffer_init(&c.samples, step->ds->a);
    bm_buffer_init(&c.dense[0], step->ds->a);
    bm_buffer_init(&c.dense[1], step->ds->a);
    bm_name_subfile(c.name, step->manifest.step, (uint32_t)i,
                    step->manifest.generation);
    report->files++;
    rc = bm_file_open(&c.file, &step->ds->store, c.name, BOUMA_OPEN_READ, &why);
    if (!rc)
        rc = bm_file_size(&c.file, &c.bytes, &why);
    if (rc && rc != BOUMA_ENOTFOUND) {
        damage(&c, rc, why.text);
    } else if (rc || (c.bytes != info->file_bytes && !how->data_only)) {
        note_length(&c, info, rc ? why.text : NULL);
        if (!rc && c.bytes < info->file_bytes && c.bytes >= info->head_bytes)
            check_content(&c, how->depth);
    } else if (how->depth >= BOUMA_VERIFY_META) {
        check_content(&c, how->depth);
    }
    bm_file_close(&c.file, &ignored);
    failed =
        c.no_memory || c.raw.failed || c.samples.failed || out->bytes.failed;
    bm_buffer_release(&c.raw);
    bm_buffer_release(&c.samples);
    bm_buffer_release(&c.dense[0]);
    bm_buffer_release(&c.dense[1]);
    bm_codec_state_release(&c.codec);
    return failed ? BOUMA_ENOMEM : BOUMA_OK;
}
