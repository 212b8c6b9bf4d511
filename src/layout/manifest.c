/* manifest.c -- see manifest.h; docs/format.md has its bytes. */
#include "layout/manifest.h"

#include <string.h>

#include "base/search.h"
#include "layout/front.h"
#include "layout/sheet.h"
#include "layout/writings.h"

void bm_manifest_init(struct bm_manifest *m, const bouma_allocator *a,
                      struct bm_schema *schema, struct bm_error *error)
{
    memset(m, 0, sizeof(*m));
    m->a = a;
    m->schema = schema;
    bm_attributes_init(&m->dataset_attributes, a, error);
    bm_attributes_init(&m->attributes, a, error);
}

void bm_manifest_release(struct bm_manifest *m)
{
    if (!m->a)
        return;
    bm_writings_release(m);
    bm_attributes_release(&m->dataset_attributes);
    bm_attributes_release(&m->attributes);
    for (size_t i = 0; i < m->file_tree_count; i++)
        bm_file_tree_release(&m->file_trees[i]);
    bm_drop(m->a, m->file_trees);
    m->file_trees = NULL;
    m->file_tree_count = 0;
    for (size_t i = 0; i < m->count && m->subfiles; i++)
        bm_subfile_info_release(&m->subfiles[i], m->a);
    for (size_t k = 0; k < m->sheet_count; k++)
        bm_sheet_release(&m->sheets[k], m->a);
    bm_drop(m->a, m->sheets);
    m->sheets = NULL;
    m->sheet_count = 0;
    m->sheet_files = 0;
    bm_drop(m->a, m->subfiles);
    m->subfiles = NULL;
    m->count = 0;
}

int bm_manifest_set_subfiles(struct bm_manifest *m, size_t count)
{
    m->subfiles = bm_new(m->a, count, sizeof(*m->subfiles));
    m->count = m->subfiles ? count : 0;
    return m->subfiles ? BOUMA_OK : BOUMA_ENOMEM;
}

/* ---- the whole step ----------------------------------------------------- */

const struct bm_file_tree *bm_manifest_file_tree(const struct bm_manifest *m,
                                                 const struct bm_object *set)
{
    size_t at = 0;

    BM_BISECT(at, m->file_tree_count, i,
              m->file_trees[i].set->number <= set->number);
    return at < m->file_tree_count && m->file_trees[at].set == set
               ? &m->file_trees[at]
               : NULL;
}

int bm_manifest_list_trees(struct bm_manifest *m)
{
    const struct bm_schema *schema = m->schema;

    m->file_trees = bm_new(m->a, (size_t)schema->count, sizeof(*m->file_trees));
    if (!m->file_trees)
        return BOUMA_ENOMEM;
    for (int i = 0; i < schema->count; i++)
        if (schema->objects[i]->layout->file_tree)
            bm_file_tree_init(&m->file_trees[m->file_tree_count++], m->a,
                              schema->objects[i]);
    return BOUMA_OK;
}

/* The files of each set, still without their trees. */
static int list_files(struct bm_manifest *m)
{
    int rc = bm_manifest_list_trees(m);

    for (size_t i = 0; i < m->count && !rc; i++)
        for (size_t k = 0; k < m->subfiles[i].summaries.count && !rc; k++) {
            const struct bm_summary *s = m->subfiles[i].summaries.entries[k];

            if (s->object->layout->file_tree)
                rc = bm_file_tree_add_file(
                    (struct bm_file_tree *)bm_manifest_file_tree(m, s->object),
                    bm_particle_summary_of(s), i);
        }
    return rc;
}

int bm_manifest_make_file_trees(struct bm_manifest *m,
                                const struct bm_aggregation *trees)
{
    int rc = list_files(m);

    for (size_t i = 0; i < m->file_tree_count && !rc; i++)
        rc = bm_file_tree_make(&m->file_trees[i], trees ? trees[i].nodes : NULL,
                               trees ? trees[i].node_count : 0);
    return rc;
}

static void reset_totals(struct bm_schema *schema)
{
    for (int i = 0; i < schema->count; i++)
        schema->objects[i]->particles = schema->objects[i]->strays = 0;
    for (uint32_t id = 0; id < schema->variables; id++) {
        struct bouma_variable *v = schema->by_id[id];
        struct bm_variable_in_step *t = &v->in_step;

        t->present = 0;
        t->raw_bytes = t->stored_bytes = 0;
        memset(t->level_bytes, 0, sizeof(t->level_bytes));
        memset(&t->loss, 0, sizeof(t->loss));
        memset(t->ranges, 0, sizeof(*t->ranges) * (size_t)v->components);
    }
}

static void add_subfile(struct bm_schema *schema,
                        const struct bm_subfile_info *info)
{
    for (size_t i = 0; i < info->summaries.count; i++) {
        const struct bm_summary *s = info->summaries.entries[i];

        s->object->layout->summary->total(schema->objects[s->object->number],
                                          s);
    }
    for (size_t i = 0; i < info->count; i++) {
        const struct bm_part_info *part = &info->parts[i];
        struct bouma_variable *v = schema->by_id[part->variable];
        struct bm_variable_in_step *t = &v->in_step;

        t->present = 1;
        t->raw_bytes += part->chunks; /* chunks, till below */
        for (int k = 0; k < bm_pieces(v->object); k++) {
            t->level_bytes[k] += part->level_bytes[k];
            t->stored_bytes += part->level_bytes[k];
        }
        bm_loss_join(&t->loss, &part->loss);
        for (int j = 0; j < v->components; j++)
            bm_range_join(&t->ranges[j], v->type, &part->ranges[j]);
    }
}

int bm_manifest_total(struct bm_manifest *m)
{
    struct bm_schema *schema = m->schema;
    int rc = BOUMA_OK;

    reset_totals(schema);
    for (size_t i = 0; i < m->count && !m->sheet_files; i++)
        add_subfile(schema, &m->subfiles[i]);
    for (size_t k = 0; k < m->sheet_count; k++)
        add_subfile(schema, &m->sheets[k].sum);
    for (uint32_t id = 0; id < schema->variables; id++) {
        struct bouma_variable *v = schema->by_id[id];
        const struct bm_object *o = v->object;
        uint64_t samples = o->layout->samples(o, NULL).most;

        if (!v->in_step.present) {
            /* Particles have positions. */
            if (o->particles && v == o->variables[0])
                rc = BOUMA_EFORMAT;
            continue;
        }
        if (!o->layout->summary &&
            v->in_step.raw_bytes != o->layout->chunks(o, NULL).most)
            rc = BOUMA_EFORMAT;
        for (int j = 0; j < v->components; j++)
            if (v->in_step.ranges[j].count + v->in_step.ranges[j].nans !=
                samples)
                rc = BOUMA_EFORMAT;
        v->in_step.raw_bytes = samples * bm_variable_sample_size(v);
    }
    return rc;
}

/* ---- bytes -------------------------------------------------------------- */

static void encode_record(struct bm_buffer *b, const bouma_record *r)
{
    bm_put_u64(b, r->raw_bytes);
    bm_put_u64(b, r->stored_bytes);
    bm_put_u64(b, r->moved_bytes);
    bm_put_u64(b, r->shipped_bytes);
    bm_put_u64(b, r->moved_messages);
    bm_put_u64(b, r->shipped_messages);
    bm_put_u64(b, r->largest_file);
    bm_put_u64(b, r->mean_file);
    bm_put_i64(b, r->files);
    bm_put_i64(b, r->chunks);
    bm_put_i64(b, r->ranks);
    bm_put_i64(b, r->most_patches);
    bm_put_f64(b, r->describe_seconds);
    bm_put_f64(b, r->plan_seconds);
    bm_put_f64(b, r->distribute_seconds);
    bm_put_f64(b, r->shape_seconds);
    bm_put_f64(b, r->ship_seconds);
    bm_put_f64(b, r->store_seconds);
    bm_put_f64(b, r->commit_seconds);
    bm_put_f64(b, r->slowest_encode);
    bm_put_f64(b, r->mean_encode);
    bm_put_i64(b, r->predicted);
    bm_put_i64(b, r->misfits);
}

static void decode_record(bouma_record *r, struct bm_cursor *c)
{
    r->raw_bytes = bm_get_u64(c);
    r->stored_bytes = bm_get_u64(c);
    r->moved_bytes = bm_get_u64(c);
    r->shipped_bytes = bm_get_u64(c);
    r->moved_messages = bm_get_u64(c);
    r->shipped_messages = bm_get_u64(c);
    r->largest_file = bm_get_u64(c);
    r->mean_file = bm_get_u64(c);
    r->files = bm_get_i64(c);
    r->chunks = bm_get_i64(c);
    r->ranks = bm_get_i64(c);
    r->most_patches = bm_get_i64(c);
    r->describe_seconds = bm_get_f64(c);
    r->plan_seconds = bm_get_f64(c);
    r->distribute_seconds = bm_get_f64(c);
    r->shape_seconds = bm_get_f64(c);
    r->ship_seconds = bm_get_f64(c);
    r->store_seconds = bm_get_f64(c);
    r->commit_seconds = bm_get_f64(c);
    r->slowest_encode = bm_get_f64(c);
    r->mean_encode = bm_get_f64(c);
    r->predicted = bm_get_i64(c);
    r->misfits = bm_get_i64(c);
}

/* 0: no sheets; else 1 more than the bits of the number of their files. */
static uint8_t sheet_code(uint32_t files)
{
    uint8_t code = 0;

    for (; files; files /= 2)
        code++;
    return code;
}

/* What the body has of each sheet. They go to 'sheets'. */
static void encode_sheets(struct bm_buffer *b, const struct bm_manifest *m,
                          const uint8_t id[16], struct bm_buffer *sheets)
{
    for (size_t k = 0; k < m->sheet_count; k++) {
        struct bm_sheet sheet = m->sheets[k];
        struct bm_sheet_address address = {id, m->step, m->generation,
                                           (uint32_t)k};

        if (sheet.stored)
            bm_put_bytes(sheets, sheet.stored, (size_t)sheet.bytes);
        else
            bm_sheet_encode(sheets, &sheet, &address, sheet.records,
                            bm_sheet_records(m, k), m->schema);
        bm_sheet_encode_sum(b, &sheet, m->schema);
    }
}

/* All but the writings before. Sheets come behind all of these. */
static void encode_body(struct bm_buffer *b, const struct bm_manifest *m,
                        const uint8_t id[16], struct bm_buffer *sheets)
{
    bm_put_u64(b, m->step);
    bm_put_f64(b, m->time);
    bm_put_u32(b, m->generation.epoch);
    bm_put_u32(b, m->generation.attempt);
    bm_put_u64(b, m->nonce);
    bm_put_u8(b, (uint8_t)m->order);
    bm_put_u8(b, (uint8_t)m->distribute);
    bm_put_u8(b, (uint8_t)m->assign);
    bm_put_u8(b, (uint8_t)m->place);
    bm_put_u8(b, (uint8_t)m->assign_particles);
    bm_put_u8(b, (uint8_t)m->earlier_count);
    bm_put_u8(b, sheet_code(m->sheet_files));
    bm_put_u8(b, 0);
    encode_record(b, &m->record);
    bm_attributes_encode(b, &m->dataset_attributes);
    bm_attributes_encode(b, &m->attributes);
    bm_schema_encode(b, m->schema);
    bm_put_u64(b, m->count);
    if (m->sheet_files) {
        encode_sheets(b, m, id, sheets);
        return;
    }
    for (size_t i = 0; i < m->count; i++)
        bm_subfile_info_encode(b, &m->subfiles[i], m->schema);
    for (size_t i = 0; i < m->file_tree_count; i++)
        bm_file_tree_encode(b, &m->file_trees[i]);
}

void bm_manifest_encode(struct bm_buffer *b, const struct bm_manifest *m,
                        const uint8_t id[16])
{
    struct bm_buffer last, sheets;
    uint8_t hash[16];

    bm_buffer_init(&last, m->a);
    bm_buffer_init(&sheets, m->a);
    bm_envelope_reserve(b);
    encode_body(b, m, id, &last);
    for (size_t i = 0; i < m->earlier_count; i++) {
        struct bm_buffer one;

        bm_buffer_init(&one, m->a);
        encode_body(&one, &m->earlier[i]->manifest, id, &sheets);
        bm_put_u64(b, one.size);
        bm_put_bytes(b, one.data, one.size);
        b->failed |= one.failed;
        bm_buffer_release(&one);
    }
    bm_envelope_seal(b, BM_KIND_MANIFEST, id, hash);
    bm_put_bytes(b, sheets.data, sheets.size);
    bm_put_bytes(b, last.data, last.size);
    b->failed |= sheets.failed | last.failed;
    bm_buffer_release(&sheets);
    bm_buffer_release(&last);
}

/* The bytes of a manifest without its sheets, as far as they are there. */
static size_t front_of(const uint8_t *data, size_t bytes)
{
    struct bm_error ignored = {0};
    struct bm_envelope e;

    if (bm_envelope_peek(&e, data, bytes, BM_KIND_MANIFEST, "", &ignored) ||
        e.body_bytes > bytes - BM_ENVELOPE_BYTES)
        return bytes; /* which tells what is wrong */
    return BM_ENVELOPE_BYTES + (size_t)e.body_bytes;
}

int bm_manifest_peek(struct bm_step_entry *out, const struct bm_buffer *b,
                     const uint8_t *id, const char *name,
                     struct bm_error *error)
{
    struct bm_envelope e;
    struct bm_cursor c;
    int rc = bm_envelope_open(
        &e, &c,
        &(struct bm_metadata){b->data, front_of(b->data, b->size), id, name},
        BM_KIND_MANIFEST, error);

    if (rc)
        return rc;
    out->step = bm_get_u64(&c);
    out->time = bm_get_f64(&c);
    out->generation.epoch = bm_get_u32(&c);
    out->generation.attempt = bm_get_u32(&c);
    return c.failed ? bm_fail(error, BOUMA_EFORMAT, "%s: is too short", name)
                    : BOUMA_OK;
}

/* The numbers in front. EVERSION tells what is not known. */
static int decode_front(struct bm_manifest *m, struct bm_cursor *c,
                        size_t *earlier, const char *name,
                        struct bm_error *error)
{
    unsigned sheets, spare;

    m->step = bm_get_u64(c);
    m->time = bm_get_f64(c);
    m->generation.epoch = bm_get_u32(c);
    m->generation.attempt = bm_get_u32(c);
    m->nonce = bm_get_u64(c);
    m->order = (bouma_order)bm_get_u8(c);
    m->distribute = (bouma_distribute)bm_get_u8(c);
    m->assign = (bouma_assign)bm_get_u8(c);
    m->place = (bouma_place)bm_get_u8(c);
    m->assign_particles = (bouma_assign)bm_get_u8(c);
    *earlier = bm_get_u8(c);
    sheets = bm_get_u8(c);
    spare = bm_get_u8(c);
    m->sheet_files =
        sheets && sheets <= BM_MAX_SHEET_BITS + 1 ? 1u << (sheets - 1) : 0;
    spare = sheets && !m->sheet_files ? sheets : spare;
    if (!c->failed && (spare || m->order > BOUMA_ORDER_CHUNK))
        return bm_fail(error, BOUMA_EVERSION,
                       "%s: " BM_NEWER "its order (%d) or bytes that were zero "
                       "(%u) are not known to this version",
                       name, (int)m->order, spare);
    if (m->step > INT64_MAX || m->order < BOUMA_ORDER_LEVEL)
        c->failed = 1;
    decode_record(&m->record, c);
    return BOUMA_OK;
}

/* What is told of sheets. */
static int decode_sheets(struct bm_manifest *m, struct bm_cursor *c,
                         size_t count)
{
    size_t sheets = bm_sheet_count_of(count, m->sheet_files);
    int rc = BOUMA_OK;

    if (!count || sheets > bm_cursor_left(c) / 48)
        return BOUMA_EFORMAT;
    m->sheets = bm_new(m->a, sheets, sizeof(*m->sheets));
    if (!m->sheets)
        return BOUMA_ENOMEM;
    m->count = count;
    for (size_t k = 0; k < sheets && !rc; k++) {
        m->sheet_count++;
        rc = bm_sheet_decode_sum(&m->sheets[k], c,
                                 (uint32_t)bm_sheet_records(m, k), m->schema);
    }
    return rc ? rc : bm_manifest_list_sheets(m);
}

/* The table of subfiles, and the trees over them. */
static int decode_subfiles(struct bm_manifest *m, struct bm_cursor *c)
{
    uint64_t files = bm_get_u64(c);
    size_t count = (size_t)files;
    int rc;

    if (c->failed || files > BM_MAX_SUBFILES)
        return BOUMA_EFORMAT;
    if (m->sheet_files)
        return decode_sheets(m, c, count);
    if (count > bm_cursor_left(c) / 40)
        return BOUMA_EFORMAT;
    rc = bm_manifest_set_subfiles(m, count);
    for (size_t i = 0; i < count && !rc; i++)
        rc = bm_subfile_info_decode(&m->subfiles[i], c, m->schema);
    if (!rc)
        rc = list_files(m);
    for (size_t i = 0; i < m->file_tree_count && !rc; i++)
        rc = bm_file_tree_decode(&m->file_trees[i], c);
    return rc;
}

/* All but the writings before, of which there are *earlier. There is a
 * message only after EVERSION, perhaps. */
static int decode_body(struct bm_manifest *m, struct bm_cursor *c,
                       size_t *earlier, const char *name,
                       struct bm_error *error)
{
    int rc = decode_front(m, c, earlier, name, error);

    if (!rc)
        rc = bm_attributes_decode(&m->dataset_attributes, c);
    if (!rc)
        rc = bm_attributes_decode(&m->attributes, c);
    if (!rc)
        rc = bm_schema_decode(m->schema, c, name, error);
    if (!rc)
        rc = decode_subfiles(m, c);
    return !rc && c->failed ? BOUMA_EFORMAT : rc;
}

/* One of the writings before: what its own manifest had. */
static int decode_earlier(struct bm_manifest *m, struct bm_cursor *c,
                          const char *name, struct bm_error *error)
{
    uint64_t bytes = bm_get_u64(c);
    const uint8_t *data =
        bytes <= bm_cursor_left(c) ? bm_get_bytes(c, (size_t)bytes) : NULL;
    struct bm_writing *w;
    struct bm_cursor body;
    size_t more = 0;
    int rc;

    if (!data || c->failed)
        return BOUMA_EFORMAT;
    w = bm_writing_new(m->a, error);
    if (!w)
        return BOUMA_ENOMEM;
    m->earlier[m->earlier_count++] = w; /* there is room */
    body = bm_cursor_of(data, (size_t)bytes);
    rc = decode_body(&w->manifest, &body, &more, name, error);
    if (!rc && (more || bm_cursor_left(&body)))
        rc = BOUMA_EFORMAT;
    return rc ? rc : bm_manifest_total(&w->manifest);
}

int bm_manifest_decode_front(struct bm_manifest *m, const uint8_t *data,
                             size_t bytes, const uint8_t *id, const char *name,
                             struct bm_error *error)
{
    struct bm_envelope e;
    struct bm_cursor c;
    size_t earlier = 0, front = front_of(data, bytes);
    int rc =
        bm_envelope_open(&e, &c, &(struct bm_metadata){data, front, id, name},
                         BM_KIND_MANIFEST, error);

    if (rc)
        return rc;
    rc = decode_body(m, &c, &earlier, name, error);
    if (!rc && earlier)
        rc = bm_writings_reserve(m, earlier);
    for (size_t i = 0; i < earlier && !rc; i++)
        rc = decode_earlier(m, &c, name, error);
    if (!rc && (c.failed || bm_cursor_left(&c)))
        rc = BOUMA_EFORMAT;
    if (!rc)
        rc = bm_manifest_total(m);
    if (!rc && earlier)
        rc = bm_writings_join(m);
    if (!rc)
        bm_manifest_place_sheets(m, front);
    if (rc == BOUMA_ENOMEM)
        return bm_fail(error, rc, "%s: no memory for the manifest", name);
    if (rc == BOUMA_EVERSION) /* unless front or schema have told what it is */
        return bm_fail(error, rc, "%s: " BM_NEWER BM_NEWER_ATTRIBUTE, name);
    if (rc)
        return bm_envelope_fail(&e, name, error,
                                "the manifest contradicts itself");
    return BOUMA_OK;
}

/* One way or the other. */
typedef int take_sheet(struct bm_manifest *m, size_t k, const uint8_t *data,
                       size_t bytes, const char *name, struct bm_error *error);

/* All sheets of a writing, out of the bytes of the manifest. */
static int take_sheets(struct bm_manifest *m, take_sheet *take,
                       const uint8_t *data, const char *name,
                       struct bm_error *error)
{
    int rc = BOUMA_OK;

    for (size_t k = 0; k < m->sheet_count && !rc; k++)
        rc = take(m, k, data + m->sheets[k].offset, (size_t)m->sheets[k].bytes,
                  name, error);
    return rc;
}

/* With all sheets. */
static int decode_whole(struct bm_manifest *m, take_sheet *take,
                        const uint8_t *data, size_t bytes, const uint8_t *id,
                        const char *name, struct bm_error *error)
{
    int rc = bm_manifest_decode_front(m, data, bytes, id, name, error);
    size_t front = front_of(data, bytes);

    if (rc)
        return rc;
    if (bm_manifest_place_sheets(m, front) != bytes - front)
        return bm_fail(error, BOUMA_EFORMAT,
                       "%s: its sheets are cut off, or something is behind "
                       "them; the file is damaged",
                       name);
    for (size_t i = 0; i < m->earlier_count && !rc; i++)
        rc = take_sheets(&m->earlier[i]->manifest, take, data, name, error);
    return rc ? rc : take_sheets(m, take, data, name, error);
}

int bm_manifest_decode(struct bm_manifest *m, const uint8_t *data, size_t bytes,
                       const uint8_t *id, const char *name,
                       struct bm_error *error)
{
    return decode_whole(m, bm_manifest_take_sheet, data, bytes, id, name,
                        error);
}

int bm_manifest_decode_lent(struct bm_manifest *m, const uint8_t *data,
                            size_t bytes, const uint8_t *id, const char *name,
                            struct bm_error *error)
{
    return decode_whole(m, bm_manifest_lend_sheet, data, bytes, id, name,
                        error);
}
