/* subfile_check.c -- one subfile: its size, its two heads, its checksums, its
 * values. Goes on after damage, so that all of it is found. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "check/check.h"
#include "layout/front.h"
#include "layout/writings.h"

#define PADDING_PIECE 4096 /* bytes read at once */

struct subfile_check {
    struct bouma_step *step; /* the writing that has the file */
    size_t i;                /* its number there */
    uint32_t number;         /* and among all files of the step */
    char name[BM_NAME_BYTES];
    struct bm_file file;
    uint64_t bytes; /* that the file has */
    struct bm_check *how;
    int vague; /* something may be well, but could not be read */
    struct bm_findings *out;
    bouma_verify_report *report;
    struct bm_coder coder;
    struct bm_buffer raw, pieces[2];
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
    if (c->how->lost &&
        bm_lost_step_add_piece(c->how->lost, c->number, offset, c->step->ds->a))
        c->no_memory = 1;
}

/* The piece at 'offset' is damaged: a damage, or a note if it is on record and
 * was forgotten. */
static void damaged_piece(struct subfile_check *c, uint64_t offset,
                          const char *text)
{
    const struct bm_lost_step *known = record_of(c);
    char date[BM_LOSS_DATE + 4] = "", when[BM_LOSS_DATE];
    bouma_severity severity = BOUMA_SEVERITY_DAMAGE;

    if (known && bm_lost_step_has_piece(known, c->number, offset)) {
        snprintf(date, sizeof(date), " (%s)", bm_loss_date(when, known));
        severity =
            known->accepted ? BOUMA_SEVERITY_NOTE : BOUMA_SEVERITY_DAMAGE;
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

static int has_section(const void *head, uint32_t variable)
{
    return bm_head_section(head, variable) != NULL;
}

/* The range of all chunks of a section. */
static struct bm_range range_of(const void *head, uint32_t variable,
                                int component)
{
    const struct bm_section *s = bm_head_section(head, variable);
    struct bm_range all = {{0}, {0}, 0, 0};

    for (size_t i = 0; s && i < s->count; i++)
        bm_range_join(&all, s->variable->type,
                      &s->ranges[i * (size_t)s->variable->components +
                                 (size_t)component]);
    return all;
}

/* A fact in which summaries and the ranges of chunks differ, or NULL. */
static const char *contradicts_ranges(const struct bm_head *head)
{
    struct bm_contents contents = {has_section, range_of, head};
    const char *what = NULL;

    for (size_t i = 0; i < head->summaries.count && !what; i++) {
        const struct bm_summary *s = head->summaries.entries[i];

        what = s->object->layout->summary->contradicts(s, &contents);
    }
    return what;
}

/* One copy of the head; 1 if it is good, and then it is in *head. */
static int check_head(struct subfile_check *c, struct bm_head *head,
                      uint64_t offset, const char *which)
{
    const struct bm_manifest *m = &c->step->manifest;
    const struct bm_subfile_info *info = bm_manifest_record(m, c->i);
    struct bm_head_bytes from;
    struct bm_error why = {0};
    const char *what = NULL;
    int rc;

    bm_head_release(head);
    bm_head_init(head, c->step->ds->a);
    if (!load(c, offset, info->head_bytes))
        return 0;
    from =
        (struct bm_head_bytes){c->raw.data,     c->raw.size, info->file_bytes,
                               c->step->ds->id, which,       NULL};
    rc = bm_head_decode(head, c->step->manifest.schema, NULL, &from, &why);
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

/* What stands before the first head follows from the head. */
static void check_front(struct subfile_check *c, const struct bm_head *head)
{
    struct bm_buffer made;

    if (!head->head_offset || !load(c, 0, head->head_offset))
        return;
    bm_buffer_init(&made, c->step->ds->a);
    bm_front_make(&made, head);
    if (made.failed)
        c->no_memory = 1;
    else if (memcmp(made.data, c->raw.data, made.size))
        damage(c, BOUMA_EFORMAT,
               "the bytes in front of its head, which only other programs "
               "read, are damaged");
    bm_buffer_release(&made);
}

/* The zero bytes between head and data: checked so that no byte of a file goes
 * without a check. In a subfile with stored offsets there may be many. */
static void check_padding(struct subfile_check *c, const struct bm_head *head)
{
    uint64_t begin = head->head_offset + head->head_bytes, at = begin;

    while (at < head->data_offset && at < c->bytes) {
        uint64_t end =
            head->data_offset < c->bytes ? head->data_offset : c->bytes;
        uint64_t left = end - at;
        uint64_t n = left < PADDING_PIECE ? left : PADDING_PIECE;

        if (!load(c, at, n))
            return;
        for (uint64_t i = 0; i < n; i++)
            if (c->raw.data[i]) {
                damaged_piece(c, begin,
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
    char where[200], text[BM_ERROR_BYTES], number[BM_PIECE_TEXT_BYTES];

    bm_section_text(where, sizeof(where), s, chunk);
    snprintf(text, sizeof(text),
             "%s: variable \"%s/%s\", %s%s, at byte %" PRIu64, what,
             s->variable->object->name, s->variable->name,
             bm_piece_text(number, s->variable->object, level), where, offset);
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

/* Which chunks of a level are lost: their number, and the first ones. That the
 * file was cut is the damage; this says what it means. */
static void tell_lost_level(struct subfile_check *c, const struct bm_section *s,
                            int level)
{
    char where[NAMED * 200] = "", number[BM_PIECE_TEXT_BYTES];
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
        bm_findings_add(c->out, BOUMA_SEVERITY_NOTE,
                        (int64_t)c->step->manifest.step, c->name,
                        "lost: variable \"%s/%s\", %s%zu of %zu chunks "
                        "(%s%s)",
                        s->variable->object->name, s->variable->name,
                        bm_piece_text(number, s->variable->object, level), lost,
                        s->count, where, lost > NAMED ? ", ..." : "");
}

static void tell_lost(struct subfile_check *c, const struct bm_head *head)
{
    for (size_t i = 0; i < head->summaries.count; i++) {
        const struct bm_summary *s = head->summaries.entries[i];
        const struct bm_summary_functions *f = s->object->layout->summary;

        if (s->index_offset + f->index(s).bytes > c->bytes)
            bm_findings_add(
                c->out, BOUMA_SEVERITY_NOTE, (int64_t)c->step->manifest.step,
                c->name, "lost: %s of \"%s\"", f->index_name, s->object->name);
    }
    for (size_t i = 0; i < head->count; i++)
        for (int k = head->sections[i].levels - 1; k >= 0; k--)
            tell_lost_level(c, &head->sections[i], k);
}

/* Values of particles are rounded before their ranges are taken, and queries go
 * by these: they are what was decoded. Those of grids may have become others:
 * the range that was recorded, widened by the bound, must hold what was decoded,
 * and the other way round. */
static int range_fits(const struct bm_range *recorded,
                      const struct bm_range *found,
                      const struct bouma_variable *v)
{
    double slack = bm_variable_slack(v, recorded);

    if (!(slack > 0) || v->object->layout->kind == BM_PARTICLES)
        return bm_range_equal(recorded, found, v->type);
    if (recorded->count != found->count || recorded->nans != found->nans)
        return 0;
    return !recorded->count ||
           ((found->low.f >= recorded->low.f - slack &&
             found->low.f <= recorded->low.f + slack &&
             found->high.f >= recorded->high.f - slack &&
             found->high.f <= recorded->high.f + slack) ||
            isinf(recorded->low.f) || isinf(recorded->high.f));
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

/* Whether a chunk can be decoded with the memory there is. */
static int fits_memory(struct subfile_check *c, const struct bm_section *s,
                       size_t chunk)
{
    const struct bouma_variable *v = s->variable;

    if (bm_chunk_value_bytes(v, s->summary, s->keys[chunk], 0) <=
        c->step->ds->store.memory_limit)
        return 1;
    bm_findings_add(c->out, BOUMA_SEVERITY_NOTE,
                    (int64_t)c->step->manifest.step, c->name,
                    "a chunk of \"%s/%s\" is beyond the memory limit, and was "
                    "not decoded",
                    v->object->name, v->name);
    return 0;
}

/* Level k of a chunk, in c->raw. The bytes are kept: samples may lie in them.
 */
static int decode_level(struct subfile_check *c, struct bm_decoding *d, int k)
{
    struct bm_buffer *piece = &c->pieces[k & 1], raw = c->raw;

    c->raw = *piece;
    *piece = raw;
    return d->variable->object->layout->decode_piece(d, piece->data,
                                                     piece->size);
}

static void check_ranges(struct subfile_check *c, const struct bm_section *s,
                         size_t chunk, const struct bm_decoding *d)
{
    const struct bouma_variable *v = s->variable;
    size_t components = (size_t)v->components;
    struct bm_range ranges[BM_MAX_COMPONENTS];

    if (bm_object_is_tiled(v->object)) /* it has coefficients, no values */
        return;
    v->object->layout->ranges(d, ranges);
    for (size_t j = 0; j < components; j++)
        if (!range_fits(&s->ranges[chunk * components + j], &ranges[j], v))
            damaged_level(c, s, chunk, 0,
                          "the values are not in the range that was recorded");
}

/* One chunk: every level's checksum and, if 'deep', its decoding and range. */
static void check_chunk(struct subfile_check *c, const struct bm_section *s,
                        size_t chunk, int deep)
{
    const struct bm_layout *layout = s->variable->object->layout;
    struct bm_decoding d = {.coder = &c->coder,
                            .variable = s->variable,
                            .summary = s->summary,
                            .key = s->keys[chunk]};
    int whole = 1, rc = BOUMA_OK;

    deep = deep && fits_memory(c, s, chunk);
    if (deep)
        rc = layout->decode_begin(&d, NULL);
    for (int k = s->levels - 1; k >= 0; k--) {
        if (is_lost(c, s, chunk, k) || !load_level(c, s, chunk, k)) {
            whole = 0;
            continue;
        }
        /* A level that builds on a damaged one cannot be decoded. */
        if (!rc && deep && whole)
            rc = decode_level(c, &d, k);
        if (rc == BOUMA_ENOMEM)
            c->no_memory = 1;
        else if (rc && whole)
            damaged_level(c, s, chunk, k, "the data cannot be decoded");
        whole &= !rc;
    }
    c->report->chunks++;
    if (deep && whole)
        check_ranges(c, s, chunk, &d);
}

/* The index of an object: its checksum and, if 'deep', its structure. */
static void check_index(struct subfile_check *c, const struct bm_summary *s,
                        int deep)
{
    const struct bm_manifest *m = &c->step->manifest;
    const struct bm_summary_functions *f = s->object->layout->summary;
    struct bm_step_address step = {c->step->ds->id, m->step, m->generation};
    struct bm_index index = f->index(s);
    char text[160];
    int rc;

    if (s->index_offset + index.bytes > c->bytes ||
        !load(c, s->index_offset, index.bytes))
        return;
    if (bm_summary_hash_index(s, &step, c->raw.data, c->raw.size) !=
        index.hash) {
        snprintf(text, sizeof(text), "the checksum of %s does not match",
                 f->index_name);
        damaged_piece(c, s->index_offset, text);
        return;
    }
    rc = deep ? f->check_index(s, c->raw.data, c->raw.size, &c->coder.codec)
              : BOUMA_OK;
    snprintf(text, sizeof(text), "%s contradicts itself", f->index_name);
    if (rc)
        damage(c, rc, text);
}

/* There is no head, as was told since 'before': the whole file is lost, which
 * is one damage. */
static void no_head(struct subfile_check *c, const struct bm_findings *before)
{
    bm_findings_return(c->out, before);
    damaged_piece(c, 0, "no head of it is whole");
}

static void check_content(struct subfile_check *c, bouma_depth depth)
{
    const struct bm_subfile_info *info =
        bm_manifest_record(&c->step->manifest, c->i);
    struct bm_findings before = *c->out;
    struct bm_head head, second;
    int good, is_cut = c->bytes < info->file_bytes;

    bm_head_init(&head, c->step->ds->a);
    bm_head_init(&second, c->step->ds->a);
    good = check_head(c, &head, info->head_offset, "the head at the front");
    if (!is_cut &&
        check_head(c, &second, info->file_bytes - info->head_bytes,
                   "the head at the end") &&
        !good) {
        struct bm_head swap = head;

        head = second;
        second = swap;
        good = 1;
    }
    if (good)
        check_front(c, &head);
    if (good && c->how->data_only)
        bm_findings_return(c->out, &before);
    if (good)
        bm_check_files(&c->step->manifest, c->i, &head, c->name, c->out);
    if (good && is_cut)
        tell_lost(c, &head);
    if (!good && !c->vague)
        no_head(c, &before);
    if (good && depth >= BOUMA_DEPTH_FULL) {
        check_padding(c, &head);
        for (size_t i = 0; i < head.summaries.count; i++)
            check_index(c, head.summaries.entries[i],
                        depth >= BOUMA_DEPTH_DEEP);
        for (size_t s = 0; s < head.count; s++)
            for (size_t k = 0; k < head.sections[s].count; k++)
                check_chunk(c, &head.sections[s], k, depth >= BOUMA_DEPTH_DEEP);
    }
    bm_head_release(&head);
    bm_head_release(&second);
}

void bm_tell_elsewhere(uint64_t files, const struct bm_manifest *m,
                       struct bm_findings *out)
{
    char dir[BM_NAME_BYTES];

    bm_name_step(dir, m->step);
    if (files)
        bm_findings_add(out, BOUMA_SEVERITY_NOTE, (int64_t)m->step, dir,
                        "%" PRIu64 " of %zu files are not here, but on other "
                        "nodes: each has those of its own processes",
                        files, bm_manifest_files(m));
}

int bm_loss_is_of(const struct bm_lost_step *lost, const struct bm_manifest *m)
{
    struct bm_step_entry entry = {m->step, m->time, bm_manifest_committed(m)};

    return lost && !bm_lost_step_is_whole(lost) &&
           bm_step_entry_is_same(&lost->entry, &entry);
}

/* The file has not its length, or is missing, as 'missing' tells: a damage, or
 * a note if it is known and was forgotten. */
static void report_length(struct subfile_check *c,
                          const struct bm_subfile_info *info,
                          const char *missing)
{
    const struct bm_lost_step *known = record_of(c);
    const struct bm_lost_file *file =
        known ? bm_lost_step_file(known, c->number) : NULL;
    char date[BM_LOSS_DATE + 4] = "", text[BM_LOSS_DATE];
    bouma_severity severity = BOUMA_SEVERITY_DAMAGE;

    if (file && file->bytes == c->bytes) {
        snprintf(date, sizeof(date), " (%s)", bm_loss_date(text, known));
        if (known->accepted)
            severity = BOUMA_SEVERITY_NOTE;
    }
    if (missing)
        bm_findings_add(c->out, severity, (int64_t)c->step->manifest.step,
                        c->name, "%s%s", missing, date);
    else
        bm_findings_add(
            c->out, severity, (int64_t)c->step->manifest.step, c->name,
            "has %" PRIu64 " bytes where %" PRIu64 " were written%s", c->bytes,
            info->file_bytes, date);
}

int bm_check_subfile(struct bouma_step *step, size_t i, struct bm_check *how,
                     struct bm_findings *out, bouma_verify_report *report)
{
    const struct bm_subfile_info *info = bm_manifest_file(&step->manifest, i);
    struct bouma_step writing = {.ds = step->ds};
    struct subfile_check c = {.step = &writing,
                              .number = (uint32_t)i,
                              .how = how,
                              .out = out,
                              .report = report};
    struct bm_error why = {0}, ignored = {0};
    int failed, rc;

    writing.manifest = *bm_manifest_with_file(&step->manifest, i, &c.i);
    bm_coder_init(&c.coder, step->ds->a);
    bm_buffer_init(&c.raw, step->ds->a);
    bm_buffer_init(&c.pieces[0], step->ds->a);
    bm_buffer_init(&c.pieces[1], step->ds->a);
    bm_manifest_file_name(c.name, &step->manifest, i);
    if (how->name)
        snprintf(c.name, sizeof(c.name), "%s", how->name);
    report->files++;
    rc = bm_file_open(&c.file, &step->ds->store, c.name, BOUMA_OPEN_MODE_READ,
                      &why);
    if (!rc)
        rc = bm_file_size(&c.file, &c.bytes, &why);
    if (rc == BOUMA_ENOTFOUND && how->is_part) {
        how->elsewhere++;
    } else if (rc && !bm_is_damage(rc)) {
        damage(&c, rc, why.text);
    } else if (rc || (c.bytes != info->file_bytes && !how->data_only)) {
        report_length(&c, info, rc ? why.text : NULL);
        if (!rc && c.bytes < info->file_bytes &&
            c.bytes >= info->head_offset + info->head_bytes)
            check_content(&c, how->depth);
    } else if (how->depth >= BOUMA_DEPTH_META) {
        check_content(&c, how->depth);
    }
    bm_file_close(&c.file, &ignored);
    failed = c.no_memory || c.raw.failed || c.pieces[0].failed ||
             c.pieces[1].failed || out->bytes.failed;
    bm_buffer_release(&c.raw);
    bm_buffer_release(&c.pieces[0]);
    bm_buffer_release(&c.pieces[1]);
    bm_coder_release(&c.coder);
    return failed ? BOUMA_ENOMEM : BOUMA_OK;
}
