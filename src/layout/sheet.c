/* sheet.c -- see sheet.h; docs/format.md has its bytes. */
#include "layout/sheet.h"

#include <stdio.h>
#include <string.h>

#include "layout/writings.h"
#include "store/envelope.h"

/* The least bytes that the body of a manifest has of a part, and of a set. */
#define LEAST_PART 40u
#define LEAST_SET  60u

static void drop_records(struct bm_sheet *s, const bouma_allocator *a)
{
    for (size_t i = 0; i < s->record_count; i++)
        bm_subfile_info_release(&s->records[i], a);
    bm_drop(a, s->records);
    s->records = NULL;
    s->record_count = 0;
}

void bm_sheet_release(struct bm_sheet *s, const bouma_allocator *a)
{
    drop_records(s, a);
    bm_subfile_info_release(&s->sum, a);
    bm_drop(a, s->part_files);
    bm_drop(a, s->set_files);
    s->part_files = s->set_files = NULL;
}

size_t bm_sheet_count_of(size_t files, uint32_t sheet_files)
{
    return (files + sheet_files - 1) / sheet_files;
}

size_t bm_sheet_records(const struct bm_manifest *m, size_t k)
{
    size_t left = m->count - k * m->sheet_files;

    return left < m->sheet_files ? left : m->sheet_files;
}

struct bm_subfile_info *bm_manifest_record(const struct bm_manifest *m,
                                           size_t i)
{
    return m->sheet_files
               ? &m->sheets[i / m->sheet_files].records[i % m->sheet_files]
               : &m->subfiles[i];
}

/* ---- sums ---------------------------------------------------------------- */

static void join_part(struct bm_part_info *sum, const struct bm_part_info *part,
                      const struct bouma_variable *v)
{
    sum->chunks += part->chunks;
    for (int k = 0; k < bm_pieces(v->object); k++)
        sum->level_bytes[k] += part->level_bytes[k];
    bm_loss_join(&sum->loss, &part->loss);
    if (v->object->layout->chunking)
        sum->bounds = bm_box_join(&sum->bounds, &part->bounds);
    for (int j = 0; j < v->components; j++)
        bm_range_join(&sum->ranges[j], v->type, &part->ranges[j]);
}

/* Room for parts, and for how many files have each. */
static int make_parts(struct bm_sheet *s, size_t count,
                      const bouma_allocator *a)
{
    s->part_files = bm_new(a, count, sizeof(*s->part_files));
    s->sum.parts = bm_new(a, count, sizeof(*s->sum.parts));
    return s->part_files && s->sum.parts ? BOUMA_OK : BOUMA_ENOMEM;
}

/* Parts for the variables that files[variables] have; these become their places
 * among them. */
static int list_parts(struct bm_sheet *out, uint32_t *files,
                      const struct bm_schema *schema)
{
    size_t count = 0;

    for (uint32_t v = 0; v < schema->variables; v++)
        count += files[v] > 0;
    if (make_parts(out, count, schema->a))
        return BOUMA_ENOMEM;
    for (uint32_t v = 0; v < schema->variables; v++) {
        size_t n = (size_t)schema->by_id[v]->components, at = out->sum.count;
        struct bm_part_info *sum = &out->sum.parts[at];

        if (!files[v])
            continue;
        sum->variable = v;
        sum->ranges = bm_new(schema->a, n, sizeof(*sum->ranges));
        if (!sum->ranges)
            return BOUMA_ENOMEM;
        out->part_files[at] = files[v];
        files[v] = (uint32_t)at;
        out->sum.count++;
    }
    return BOUMA_OK;
}

/* What all records have of variables. */
static int sum_parts(struct bm_sheet *out,
                     const struct bm_subfile_info *records, size_t count,
                     const struct bm_schema *schema)
{
    uint32_t *files = bm_new(schema->a, schema->variables, sizeof(*files));
    int rc = files ? BOUMA_OK : BOUMA_ENOMEM;

    for (size_t i = 0; i < count && !rc; i++)
        for (size_t k = 0; k < records[i].count; k++)
            files[records[i].parts[k].variable]++;
    if (!rc)
        rc = list_parts(out, files, schema);
    for (size_t i = 0; i < count && !rc; i++)
        for (size_t k = 0; k < records[i].count; k++) {
            const struct bm_part_info *part = &records[i].parts[k];

            join_part(&out->sum.parts[files[part->variable]], part,
                      schema->by_id[part->variable]);
        }
    bm_drop(schema->a, files);
    return rc;
}

/* Where the summaries of each object begin, in a list of all by object:
 * first[objects + 1]. Gives their number. */
static size_t count_summaries(size_t *first,
                              const struct bm_subfile_info *records,
                              size_t count, const struct bm_schema *schema)
{
    size_t all = 0;

    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < records[i].summaries.count; k++)
            first[records[i].summaries.entries[k]->object->number + 1]++;
    for (int o = 0; o < schema->count; o++) {
        all += first[o + 1];
        first[o + 1] = all;
    }
    return all;
}

static int sum_set(struct bm_sheet *out, const struct bm_object *set,
                   const struct bm_summary *const *files, size_t count)
{
    struct bm_summary_list *sums = &out->sum.summaries;
    int rc = bm_summaries_add(sums, set);

    if (rc)
        return rc;
    out->set_files[sums->count - 1] = (uint32_t)count;
    return set->layout->summary->sum(sums->entries[sums->count - 1], files,
                                     count);
}

/* What all records have of sets of particles. */
static int sum_sets(struct bm_sheet *out, const struct bm_subfile_info *records,
                    size_t count, const struct bm_schema *schema)
{
    const bouma_allocator *a = schema->a;
    size_t objects = (size_t)schema->count, all = 0;
    size_t *first = bm_new(a, objects + 1, sizeof(*first));
    size_t *next = bm_new(a, objects + 1, sizeof(*next));
    const struct bm_summary **list = NULL;
    int rc = BOUMA_ENOMEM;

    if (first && next) {
        all = count_summaries(first, records, count, schema);
        list = bm_new(a, all + 1, sizeof(*list));
        out->set_files = bm_new(a, all, sizeof(*out->set_files));
        rc = list && out->set_files ? BOUMA_OK : BOUMA_ENOMEM;
    }
    for (size_t i = 0; i < count && !rc; i++)
        for (size_t k = 0; k < records[i].summaries.count; k++) {
            const struct bm_summary *s = records[i].summaries.entries[k];
            uint32_t o = s->object->number;

            list[first[o] + next[o]++] = s;
        }
    for (size_t o = 0; o < objects && !rc; o++)
        if (next[o])
            rc = sum_set(out, schema->objects[o], &list[first[o]], next[o]);
    bm_drop(a, list);
    bm_drop(a, next);
    bm_drop(a, first);
    return rc;
}

int bm_sheet_sum(struct bm_sheet *out, const struct bm_subfile_info *records,
                 size_t count, const struct bm_schema *schema)
{
    int rc;

    memset(out, 0, sizeof(*out));
    bm_summaries_init(&out->sum.summaries, schema->a);
    rc = sum_sets(out, records, count, schema);
    if (!rc)
        rc = sum_parts(out, records, count, schema);
    for (size_t i = 0; i < count; i++) {
        uint64_t bytes = records[i].file_bytes;

        out->sum.file_bytes += bytes;
        out->largest = bytes > out->largest ? bytes : out->largest;
    }
    return rc;
}

void bm_sheet_encode_sum(struct bm_buffer *b, const struct bm_sheet *s,
                         const struct bm_schema *schema)
{
    const struct bm_summary_list *sets = &s->sum.summaries;

    bm_put_u64(b, s->bytes);
    bm_put_bytes(b, s->hash, 16);
    bm_put_u64(b, s->sum.file_bytes);
    bm_put_u64(b, s->largest);
    bm_put_u32(b, (uint32_t)sets->count);
    for (size_t i = 0; i < sets->count; i++) {
        const struct bm_summary *set = sets->entries[i];

        bm_put_u32(b, set->object->number);
        bm_put_u32(b, s->set_files[i]);
        set->object->layout->summary->encode(b, set);
    }
    bm_put_u32(b, (uint32_t)s->sum.count);
    for (size_t i = 0; i < s->sum.count; i++) {
        bm_put_u32(b, s->part_files[i]);
        bm_part_info_encode(b, &s->sum.parts[i], schema);
    }
}

static int decode_set(struct bm_sheet *out, struct bm_cursor *c,
                      uint32_t records, const struct bm_schema *schema)
{
    struct bm_summary_list *sets = &out->sum.summaries;
    uint32_t number = bm_get_u32(c), files = bm_get_u32(c);
    const struct bm_object *o;
    int rc;

    if (c->failed || number >= (uint32_t)schema->count || !files ||
        files > records ||
        (sets->count &&
         number <= sets->entries[sets->count - 1]->object->number))
        return BOUMA_EFORMAT;
    o = schema->objects[number];
    if (!o->layout->summary)
        return BOUMA_EFORMAT;
    rc = bm_summaries_add(sets, o);
    if (rc)
        return rc;
    out->set_files[sets->count - 1] = files;
    return o->layout->summary->decode_sum(sets->entries[sets->count - 1], c,
                                          files);
}

/* Of several files: of an object with summaries, how many chunks there are
 * depends on how its samples are spread over them. */
static void limits_of(const struct bm_object *o,
                      const struct bm_summary *summary,
                      struct bm_limits *chunks, struct bm_limits *samples)
{
    *samples = o->layout->samples(o, summary);
    *chunks = summary ? (struct bm_limits){1, samples->most}
                      : o->layout->chunks(o, summary);
}

static int decode_part(struct bm_sheet *out, struct bm_cursor *c,
                       uint32_t records, const struct bm_schema *schema)
{
    size_t i = out->sum.count;
    int rc;

    out->part_files[i] = bm_get_u32(c);
    if (c->failed || !out->part_files[i] || out->part_files[i] > records)
        return BOUMA_EFORMAT;
    out->sum.count++;
    rc = bm_part_info_decode(&out->sum.parts[i], c, &out->sum.summaries,
                             limits_of, schema);
    return !rc && i &&
                   out->sum.parts[i].variable <= out->sum.parts[i - 1].variable
               ? BOUMA_EFORMAT
               : rc;
}

static int has_part(const void *list, uint32_t variable)
{
    return bm_subfile_info_part(list, variable) != NULL;
}

int bm_sheet_decode_sum(struct bm_sheet *out, struct bm_cursor *c,
                        uint32_t records, const struct bm_schema *schema)
{
    struct bm_contents contents = {has_part, NULL, &out->sum};
    const uint8_t *hash;
    uint32_t sets, parts = 0;
    int rc;

    memset(out, 0, sizeof(*out));
    bm_summaries_init(&out->sum.summaries, schema->a);
    out->bytes = bm_get_u64(c);
    hash = bm_get_bytes(c, 16);
    out->sum.file_bytes = bm_get_u64(c);
    out->largest = bm_get_u64(c);
    sets = bm_get_u32(c);
    if (c->failed || out->bytes < BM_ENVELOPE_BYTES ||
        out->bytes > BM_MAX_SHEET_BYTES || sets > (uint32_t)schema->count)
        return BOUMA_EFORMAT;
    memcpy(out->hash, hash, 16);
    out->set_files = bm_new(schema->a, sets, sizeof(*out->set_files));
    rc = out->set_files ? BOUMA_OK : BOUMA_ENOMEM;
    for (uint32_t i = 0; i < sets && !rc; i++)
        rc = decode_set(out, c, records, schema);
    if (!rc)
        parts = bm_get_u32(c);
    if (!rc && (c->failed || parts > schema->variables ||
                parts > bm_cursor_left(c) / LEAST_PART))
        rc = BOUMA_EFORMAT;
    if (!rc)
        rc = make_parts(out, parts, schema->a);
    for (uint32_t i = 0; i < parts && !rc; i++)
        rc = decode_part(out, c, records, schema);
    return !rc && !bm_summaries_fit(&out->sum.summaries, &contents)
               ? BOUMA_EFORMAT
               : rc;
}

/* Whether two sums say the same; bytes and hashes aside. BOUMA_OK, ENOMEM or
 * EFORMAT. */
static int compare_sums(const struct bm_sheet *a, const struct bm_sheet *b,
                        const struct bm_schema *schema)
{
    struct bm_buffer left, right;
    struct bm_sheet same = *b;
    int rc;

    same.bytes = a->bytes;
    memcpy(same.hash, a->hash, 16);
    bm_buffer_init(&left, schema->a);
    bm_buffer_init(&right, schema->a);
    bm_sheet_encode_sum(&left, a, schema);
    bm_sheet_encode_sum(&right, &same, schema);
    rc = left.failed || right.failed ? BOUMA_ENOMEM
         : left.size == right.size && !memcmp(left.data, right.data, left.size)
             ? BOUMA_OK
             : BOUMA_EFORMAT;
    bm_buffer_release(&left);
    bm_buffer_release(&right);
    return rc;
}

/* ---- records ------------------------------------------------------------- */

void bm_sheet_encode(struct bm_buffer *b, struct bm_sheet *s,
                     const struct bm_sheet_address *address,
                     const struct bm_subfile_info *records, size_t count,
                     const struct bm_schema *schema)
{
    struct bm_buffer one;

    bm_buffer_init(&one, schema->a);
    bm_envelope_reserve(&one);
    bm_put_u64(&one, address->step);
    bm_put_u32(&one, address->generation.epoch);
    bm_put_u32(&one, address->generation.attempt);
    bm_put_u32(&one, address->number);
    bm_put_u32(&one, (uint32_t)count);
    for (size_t i = 0; i < count; i++)
        bm_subfile_info_encode(&one, &records[i], schema);
    bm_envelope_seal(&one, BM_KIND_SHEET, address->id, s->hash);
    s->bytes = one.size;
    bm_put_bytes(b, one.data, one.size);
    b->failed |= one.failed;
    bm_buffer_release(&one);
}

int bm_manifest_cut(struct bm_manifest *m, uint32_t sheet_files)
{
    size_t count = bm_sheet_count_of(m->count, sheet_files);
    int rc = BOUMA_OK;

    m->sheets = bm_new(m->a, count, sizeof(*m->sheets));
    if (!m->sheets)
        return BOUMA_ENOMEM;
    m->sheet_files = sheet_files;
    for (size_t k = 0; k < count && !rc; k++) {
        struct bm_subfile_info *from = &m->subfiles[k * sheet_files];
        struct bm_sheet *sheet = &m->sheets[m->sheet_count++];
        size_t n = bm_sheet_records(m, k);

        rc = bm_sheet_sum(sheet, from, n, m->schema);
        sheet->records = rc ? NULL : bm_new(m->a, n, sizeof(*from));
        if (!rc && !sheet->records)
            rc = BOUMA_ENOMEM;
        if (rc)
            break;
        memcpy(sheet->records, from, n * sizeof(*from));
        memset(from, 0, n * sizeof(*from));
        sheet->record_count = n;
    }
    if (rc)
        return rc;
    bm_drop(m->a, m->subfiles);
    m->subfiles = NULL;
    return bm_manifest_list_sheets(m);
}

static struct bm_file_tree *tree_of(struct bm_manifest *m,
                                    const struct bm_summary *s)
{
    return (struct bm_file_tree *)bm_manifest_file_tree(m, s->object);
}

/* The records of a sheet, in the trees of sets of particles. BOUMA_OK or
 * ENOMEM. */
static int show_records(struct bm_manifest *m, size_t k)
{
    const struct bm_sheet *sheet = &m->sheets[k];
    const struct bm_summary_list *sets = &sheet->sum.summaries;
    int rc = BOUMA_OK;

    for (size_t n = 0; n < sets->count && !rc; n++)
        if (sets->entries[n]->object->layout->file_tree)
            rc = bm_file_tree_open_sheet(tree_of(m, sets->entries[n]), k);
    for (size_t i = 0; i < sheet->record_count && !rc; i++)
        for (size_t n = 0; n < sheet->records[i].summaries.count; n++) {
            const struct bm_summary *s = sheet->records[i].summaries.entries[n];

            if (s->object->layout->file_tree)
                bm_file_tree_show_file(tree_of(m, s), k,
                                       bm_particle_summary_of(s),
                                       k * m->sheet_files + i);
        }
    return rc;
}

int bm_manifest_list_sheets(struct bm_manifest *m)
{
    int rc = bm_manifest_list_trees(m);

    for (size_t k = 0; k < m->sheet_count && !rc; k++) {
        const struct bm_sheet *sheet = &m->sheets[k];
        const struct bm_summary_list *sets = &sheet->sum.summaries;

        for (size_t n = 0; n < sets->count && !rc; n++)
            if (sets->entries[n]->object->layout->file_tree)
                rc = bm_file_tree_add_sheet(
                    tree_of(m, sets->entries[n]), k,
                    bm_particle_summary_of(sets->entries[n]),
                    sheet->set_files[n]);
    }
    for (size_t k = 0; k < m->sheet_count && !rc; k++)
        if (m->sheets[k].records)
            rc = show_records(m, k);
    return rc;
}

/* The records of a sheet whose envelope was opened. */
static int decode_records(struct bm_manifest *m, size_t k, struct bm_cursor *c)
{
    struct bm_sheet own, *sheet = &m->sheets[k];
    size_t count = bm_sheet_records(m, k);
    int rc = BOUMA_OK;

    bm_get_u64(c); /* the step and the writing: the hash vouches for them */
    bm_get_u64(c);
    if (bm_get_u32(c) != k || bm_get_u32(c) != count || c->failed ||
        count > bm_cursor_left(c) / 40)
        return BOUMA_EFORMAT;
    sheet->records = bm_new(m->a, count, sizeof(*sheet->records));
    if (!sheet->records)
        return BOUMA_ENOMEM;
    for (size_t i = 0; i < count && !rc; i++) {
        sheet->record_count++;
        rc = bm_subfile_info_decode(&sheet->records[i], c, m->schema);
    }
    if (!rc && (c->failed || bm_cursor_left(c)))
        rc = BOUMA_EFORMAT;
    if (rc)
        return rc;
    rc = bm_sheet_sum(&own, sheet->records, count, m->schema);
    if (!rc)
        rc = compare_sums(sheet, &own, m->schema);
    bm_sheet_release(&own, m->a);
    return rc ? rc : show_records(m, k);
}

/* Open the envelope of a sheet that messages call 'full'; it must be the one
 * that the manifest tells of. */
static int open_sheet(const struct bm_sheet *sheet, struct bm_envelope *e,
                      struct bm_cursor *c, const uint8_t *data, size_t bytes,
                      const char *full, struct bm_error *error)
{
    int rc =
        bm_envelope_open(e, c, &(struct bm_metadata){data, bytes, NULL, full},
                         BM_KIND_SHEET, error);

    if (rc)
        return rc;
    return bytes != sheet->bytes || memcmp(e->hash, sheet->hash, 16)
               ? bm_fail(error, BOUMA_EFORMAT,
                         "%s: is not the one that the manifest tells of", full)
               : BOUMA_OK;
}

int bm_manifest_take_sheet(struct bm_manifest *m, size_t k, const uint8_t *data,
                           size_t bytes, const char *name,
                           struct bm_error *error)
{
    struct bm_sheet *sheet = &m->sheets[k];
    char full[1300];
    struct bm_envelope e;
    struct bm_cursor c;
    int rc;

    if (sheet->records)
        return BOUMA_OK;
    bm_sheet_name(full, sizeof(full), m, k, name);
    rc = open_sheet(sheet, &e, &c, data, bytes, full, error);
    if (rc)
        return rc;
    rc = decode_records(m, k, &c);
    if (!rc)
        return BOUMA_OK;
    drop_records(sheet, m->a);
    if (rc == BOUMA_ENOMEM)
        return bm_fail(error, rc, "%s: no memory for it", full);
    return bm_envelope_fail(&e, full, error, "contradicts itself");
}

int bm_manifest_lend_sheet(struct bm_manifest *m, size_t k, const uint8_t *data,
                           size_t bytes, const char *name,
                           struct bm_error *error)
{
    struct bm_sheet *sheet = &m->sheets[k];
    char full[1300];
    struct bm_envelope e;
    struct bm_cursor c;
    int rc;

    bm_sheet_name(full, sizeof(full), m, k, name);
    rc = open_sheet(sheet, &e, &c, data, bytes, full, error);
    if (!rc)
        sheet->stored = data;
    return rc;
}

void bm_manifest_drop_sheet(struct bm_manifest *m, size_t k)
{
    struct bm_sheet *sheet = &m->sheets[k];
    const struct bm_summary_list *sets = &sheet->sum.summaries;

    for (size_t n = 0; n < sets->count; n++)
        if (sets->entries[n]->object->layout->file_tree)
            bm_file_tree_close_sheet(tree_of(m, sets->entries[n]), k);
    drop_records(sheet, m->a);
}

void bm_sheet_name(char *text, size_t room, const struct bm_manifest *m,
                   size_t k, const char *manifest)
{
    size_t first = k * m->sheet_files;

    snprintf(text, room, "%s, sheet %zu (files %zu to %zu)", manifest, k,
             m->first + first, m->first + first + bm_sheet_records(m, k) - 1);
}

uint64_t bm_manifest_place_sheets(struct bm_manifest *m, uint64_t front)
{
    uint64_t at = front;

    for (size_t w = 0; w < bm_manifest_writings(m); w++) {
        struct bm_manifest *one =
            w < m->earlier_count ? &m->earlier[w]->manifest : m;

        for (size_t k = 0; k < one->sheet_count; k++) {
            one->sheets[k].offset = at;
            at += one->sheets[k].bytes;
        }
    }
    return at - front;
}

uint64_t bm_manifest_sheets_begin(const struct bm_manifest *m, uint64_t bytes)
{
    for (size_t w = 0; w < bm_manifest_writings(m); w++)
        if (bm_manifest_writing(m, w)->sheet_count)
            return bm_manifest_writing(m, w)->sheets[0].offset;
    return bytes;
}
