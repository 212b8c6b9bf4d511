/* Sheets of a manifest: their bytes, what is told of them without reading them,
 * and all that can be wrong with them. */
#include "layout/sheet.h"

#include "check.h"
#include "damage.h"
#include "layout/sheet_walk.h"
#include "layout/writings.h"
#include "sample_head.h"

enum { FILES = 5 };

static const uint8_t id[16] = {7, 7, 7};

/* A manifest of a step in five subfiles, in sheets of so many; 0: none. */
static struct bm_writing *build(uint32_t sheet_files)
{
    struct bm_writing *w = bm_writing_new(bm_allocator_default(), NULL);
    struct bm_error error = {0};
    struct bm_manifest *m;

    REQUIRE(w);
    bm_schema_release(&w->schema);
    build_schema(&w->schema, &error);
    m = &w->manifest;
    m->step = 42;
    m->time = 0.125;
    m->generation = (struct bm_generation){3, 2};
    m->order = BOUMA_ORDER_LEVEL;
    REQUIRE(!bm_manifest_set_subfiles(m, FILES));
    for (int f = 0; f < FILES; f++) {
        uint8_t hash[16] = {(uint8_t)f};
        struct bm_head h;

        build_head(&h, &w->schema, f, FILES, BOUMA_ORDER_LEVEL);
        REQUIRE(!bm_subfile_info_of(&m->subfiles[f], &h, hash,
                                    bm_allocator_default()));
        bm_head_release(&h);
    }
    bm_manifest_count(&m->record, m);
    if (sheet_files)
        REQUIRE(!bm_manifest_cut(m, sheet_files));
    REQUIRE(!bm_manifest_total(m));
    return w;
}

static void encode(struct bm_buffer *b, const struct bm_writing *w)
{
    bm_buffer_init(b, bm_allocator_default());
    bm_manifest_encode(b, &w->manifest, id);
    REQUIRE(!b->failed);
}

static struct bm_writing *empty(void)
{
    struct bm_writing *w = bm_writing_new(bm_allocator_default(), NULL);

    REQUIRE(w);
    return w;
}

static size_t loaded(const struct bm_manifest *m)
{
    size_t n = 0;

    for (size_t k = 0; k < m->sheet_count; k++)
        n += m->sheets[k].records != NULL;
    return n;
}

static int is_loaded(const struct bm_manifest *m)
{
    return loaded(m) == m->sheet_count;
}

/* What decoding says, with the message that it leaves; 'context': sheets are
 * only lent. */
static int try_bytes(void *context, const uint8_t *data, size_t bytes)
{
    struct bm_error error = {0};
    struct bm_writing *w = empty();
    int rc = context ? bm_manifest_decode_lent(&w->manifest, data, bytes, id,
                                               "file", &error)
                     : bm_manifest_decode(&w->manifest, data, bytes, id, "file",
                                          &error);

    if (rc)
        check_refusal(rc, &error, "file");
    bm_writing_free(w);
    return rc;
}

static int same_record(const struct bm_manifest *a, const struct bm_manifest *b,
                       size_t i)
{
    struct bm_buffer x, y;
    int same;

    bm_buffer_init(&x, a->a);
    bm_buffer_init(&y, a->a);
    bm_subfile_info_encode(&x, bm_manifest_record(a, i), a->schema);
    bm_subfile_info_encode(&y, bm_manifest_record(b, i), b->schema);
    same = x.size == y.size && !memcmp(x.data, y.data, x.size);
    bm_buffer_release(&x);
    bm_buffer_release(&y);
    return same;
}

/* What the step has of each variable; sums of errors may be rounded otherwise.
 */
static void check_totals(const struct bm_schema *a, const struct bm_schema *b)
{
    REQUIRE(a->variables == b->variables);
    for (uint32_t v = 0; v < a->variables; v++) {
        const struct bouma_variable *of = a->by_id[v];
        const struct bm_variable_in_step *x = &of->in_step;
        const struct bm_variable_in_step *y = &b->by_id[v]->in_step;

        CHECK_EQ(x->present, y->present);
        CHECK_EQ(x->raw_bytes, y->raw_bytes);
        CHECK_EQ(x->stored_bytes, y->stored_bytes);
        CHECK(!memcmp(x->level_bytes, y->level_bytes, sizeof(x->level_bytes)));
        for (int j = 0; j < of->components; j++)
            CHECK(bm_range_equal(&x->ranges[j], &y->ranges[j], of->type));
    }
}

static void a_manifest_with_sheets_says_what_a_whole_one_says(void)
{
    for (uint32_t files = 1; files <= 8; files *= 2) {
        struct bm_writing *whole = build(0), *cut = build(files), *is = empty();
        struct bm_error error = {0};
        struct bm_buffer b, again;

        encode(&b, cut);
        REQUIRE(!bm_manifest_decode(&is->manifest, b.data, b.size, id, "file",
                                    &error));
        CHECK_EQ(is->manifest.sheet_files, files);
        CHECK_EQ(is->manifest.sheet_count, (FILES + files - 1) / files);
        CHECK(is_loaded(&is->manifest));
        for (size_t i = 0; i < FILES; i++)
            CHECK(same_record(&whole->manifest, &is->manifest, i));
        check_totals(&whole->schema, &is->schema);
        CHECK(!memcmp(&whole->manifest.record, &is->manifest.record,
                      sizeof(bouma_record)));
        encode(&again, is);
        CHECK_EQ(again.size, b.size);
        CHECK(again.size == b.size && !memcmp(again.data, b.data, b.size));
        bm_buffer_release(&b);
        bm_buffer_release(&again);
        bm_writing_free(whole);
        bm_writing_free(cut);
        bm_writing_free(is);
    }
}

/* A body may have fewer bytes than the step has files. */
static void many_files_need_few_bytes(void)
{
    enum { MANY = 1 << 16 };
    struct bm_writing *w = empty(), *is = empty();
    struct bm_manifest *m = &w->manifest;
    struct bm_error error = {0};
    struct bm_buffer b;

    m->order = BOUMA_ORDER_LEVEL;
    REQUIRE(!bm_schema_number(&w->schema));
    REQUIRE(!bm_manifest_set_subfiles(m, MANY));
    for (size_t i = 0; i < MANY; i++)
        bm_summaries_init(&m->subfiles[i].summaries, m->a);
    REQUIRE(!bm_manifest_cut(m, MANY));
    encode(&b, w);
    CHECK(bm_load_u64(b.data + 16) < MANY);
    CHECK_EQ(
        bm_manifest_decode(&is->manifest, b.data, b.size, id, "file", &error),
        BOUMA_OK);
    CHECK_EQ(is->manifest.count, MANY);
    bm_buffer_release(&b);
    bm_writing_free(is);
    bm_writing_free(w);
}

/* The front alone tells all that is summed up; sheets come in any order. */
static void sheets_are_taken_one_by_one(void)
{
    struct bm_writing *cut = build(2), *is = empty();
    struct bm_manifest *m = &is->manifest;
    struct bm_error error = {0};
    struct bm_buffer b;
    size_t front;

    encode(&b, cut);
    front = 64 + (size_t)bm_load_u64(b.data + 16);
    CHECK(front < b.size);
    REQUIRE(!bm_manifest_decode_front(m, b.data, front, id, "file", &error));
    check_totals(&cut->schema, &is->schema);
    CHECK(!is_loaded(m));
    for (size_t k = m->sheet_count; k-- > 0;) {
        const struct bm_sheet *s = &m->sheets[k];

        CHECK(!s->records);
        CHECK(!bm_manifest_has_file(m, 2 * k));
        REQUIRE(!bm_manifest_take_sheet(m, k, b.data + s->offset,
                                        (size_t)s->bytes, "file", &error));
        CHECK(bm_manifest_has_file(m, 2 * k));
        CHECK(same_record(m, &cut->manifest, 2 * k));
    }
    CHECK(is_loaded(m));
    bm_buffer_release(&b);
    bm_writing_free(cut);
    bm_writing_free(is);
}

/* Sheets that are lent are written again as they are, and hold one set of
 * records at a time for who walks over all files, in whatever order. */
static void a_walk_has_one_sheet_at_a_time(void)
{
    static const size_t order[] = {0, 1, 2, 3, 4, 1, 4, 0};
    struct bm_writing *cut = build(2), *is = empty();
    struct bm_sheet_walk walk = {.m = &is->manifest};
    struct bm_error error = {0};
    struct bm_buffer b, again;

    encode(&b, cut);
    REQUIRE(!bm_manifest_decode_lent(&is->manifest, b.data, b.size, id, "file",
                                     &error));
    CHECK_EQ(loaded(&is->manifest), 0);
    encode(&again, is);
    CHECK(again.size == b.size && !memcmp(again.data, b.data, b.size));
    for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++) {
        REQUIRE(!bm_sheet_walk_to(&walk, order[i], &error));
        CHECK_EQ(loaded(&is->manifest), 1);
        CHECK(bm_manifest_has_file(&is->manifest, order[i]));
        CHECK(same_record(&cut->manifest, &is->manifest, order[i]));
    }
    bm_sheet_walk_end(&walk);
    CHECK_EQ(loaded(&is->manifest), 0);
    bm_buffer_release(&b);
    bm_buffer_release(&again);
    bm_writing_free(cut);
    bm_writing_free(is);
}

/* One that was there before the walk stays, also in its trees. */
static void a_walk_leaves_what_was_there(void)
{
    struct bm_writing *cut = build(2), *is = empty();
    struct bm_manifest *m = &is->manifest;
    struct bm_sheet_walk walk = {.m = m};
    struct bm_error error = {0};
    struct bm_buffer b;

    encode(&b, cut);
    REQUIRE(!bm_manifest_decode_lent(m, b.data, b.size, id, "file", &error));
    REQUIRE(!bm_manifest_take_sheet(m, 1, b.data + m->sheets[1].offset,
                                    (size_t)m->sheets[1].bytes, "file",
                                    &error));
    for (size_t i = 0; i < FILES; i++)
        REQUIRE(!bm_sheet_walk_to(&walk, i, &error));
    bm_sheet_walk_end(&walk);
    CHECK_EQ(loaded(m), 1);
    CHECK(m->sheets[1].records);
    for (size_t t = 0; t < m->file_tree_count; t++)
        for (size_t s = 0; s < m->file_trees[t].sheet_count; s++)
            CHECK_EQ(m->file_trees[t].sheets[s].summaries != NULL,
                     m->file_trees[t].sheets[s].sheet == 1);
    bm_buffer_release(&b);
    bm_writing_free(cut);
    bm_writing_free(is);
}

/* Each byte, and each length. */
static void damage_is_found(void)
{
    struct bm_writing *cut = build(2);
    struct damage_counts n;
    struct bm_buffer b;

    int lent = 1;

    encode(&b, cut);
    for (int i = 0; i < 2; i++) {
        n = hurt_bytes(try_bytes, i ? &lent : NULL, b.data, b.size, 0);
        CHECK_EQ(n.accepted, 0);
        n = cut_bytes(try_bytes, i ? &lent : NULL, b.data, b.size, 0);
        CHECK_EQ(n.accepted, 0);
    }
    bm_put_u8(&b, 0); /* and one that is too long */
    CHECK_EQ(try_bytes(NULL, b.data, b.size), BOUMA_EFORMAT);
    CHECK_EQ(try_bytes(&lent, b.data, b.size), BOUMA_EFORMAT);
    bm_buffer_release(&b);
    bm_writing_free(cut);
}

/* A byte of one sheet: the others can be taken, and it can be once it is right
 * again. */
static void a_damaged_sheet_leaves_the_others(void)
{
    struct bm_writing *cut = build(2);
    struct bm_buffer b;

    encode(&b, cut);
    for (size_t hurt = 0; hurt < 3; hurt++) {
        struct bm_writing *is = empty();
        struct bm_manifest *m = &is->manifest;
        struct bm_error error = {0};

        REQUIRE(
            !bm_manifest_decode_front(m, b.data, b.size, id, "file", &error));
        b.data[m->sheets[hurt].offset + 100] ^= 4;
        for (size_t k = 0; k < 3; k++) {
            int rc = bm_manifest_take_sheet(m, k, b.data + m->sheets[k].offset,
                                            (size_t)m->sheets[k].bytes, "file",
                                            &error);

            CHECK_EQ(rc, k == hurt ? BOUMA_EFORMAT : BOUMA_OK);
        }
        CHECK_TEXT(error.text, "file, sheet ");
        CHECK(!m->sheets[hurt].records);
        b.data[m->sheets[hurt].offset + 100] ^= 4;
        bm_error_clear(&error);
        CHECK(!bm_manifest_take_sheet(m, hurt, b.data + m->sheets[hurt].offset,
                                      (size_t)m->sheets[hurt].bytes, "file",
                                      &error));
        bm_writing_free(is);
    }
    bm_buffer_release(&b);
    bm_writing_free(cut);
}

/* ---- with checksums that fit -------------------------------------------------- */

static void check_refused(const struct bm_writing *w)
{
    struct bm_buffer b;

    encode(&b, w);
    CHECK_EQ(try_bytes(NULL, b.data, b.size), BOUMA_EFORMAT);
    bm_buffer_release(&b);
}

/* The body tells something else of a sheet than its records. */
#define LIE(name, change)                                                      \
    static void name(void)                                                     \
    {                                                                          \
        struct bm_writing *w = build(2);                                       \
        struct bm_sheet *s = w->manifest.sheets;                               \
                                                                               \
        change;                                                                \
        check_refused(w);                                                      \
        bm_writing_free(w);                                                    \
    }

LIE(file_bytes_that_lie_are_refused, s[1].sum.file_bytes++)
LIE(the_largest_file_that_lies_is_refused, s[1].largest--)
LIE(numbers_of_files_that_lie_are_refused, s[0].part_files[0]--)
LIE(chunks_that_lie_are_refused, s[0].sum.parts[0].chunks--;
    s[1].sum.parts[0].chunks++)
LIE(level_bytes_that_lie_are_refused, s[0].sum.parts[0].level_bytes[0]++)
LIE(bounds_that_lie_are_refused, s[2].sum.parts[0].bounds.hi[2]--)
LIE(errors_that_lie_are_refused, s[2].sum.parts[0].loss.squares += 1)
LIE(a_record_that_lies_is_refused, s[1].records[0].file_bytes += 64)
LIE(too_many_files_of_a_variable_are_refused, s[0].part_files[0] = 3)

static void a_part_that_is_not_summed_up_is_refused(void)
{
    struct bm_writing *w = build(2);
    struct bm_sheet *s = w->manifest.sheets;

    s[1].sum.count--;
    check_refused(w);
    s[1].sum.count++; /* it has memory */
    bm_writing_free(w);
}

/* Sheet 1 in the place of sheet 0; and one that lacks a record. */
static void a_sheet_for_other_files_is_refused(void)
{
    for (int lacks = 0; lacks < 2; lacks++) {
        struct bm_writing *w = build(2);
        struct bm_manifest *m = &w->manifest;
        struct bm_sheet_address address = {id, 42, {3, 2}, lacks ? 0 : 1};
        struct bm_buffer b;

        bm_buffer_init(&b, m->a);
        bm_sheet_encode(&b, &m->sheets[0], &address, m->sheets[0].records,
                        lacks ? 1 : 2, m->schema);
        REQUIRE(!b.failed);
        m->sheets[0].stored = b.data;
        check_refused(w);
        bm_buffer_release(&b);
        bm_writing_free(w);
    }
}

/* A number of files for a sheet that this version does not know. */
static void sheets_of_a_newer_version_are_told(void)
{
    struct bm_writing *w = build(2);
    struct bm_buffer b;
    size_t front;

    encode(&b, w);
    front = 64 + (size_t)bm_load_u64(b.data + 16);
    for (int code = 0; code < 256; code++) {
        b.data[64 + 38] = (uint8_t)code;
        mend_envelope(b.data, front);
        CHECK_EQ(try_bytes(NULL, b.data, b.size),
                 code == 2                       ? BOUMA_OK
                 : code <= BM_MAX_SHEET_BITS + 1 ? BOUMA_EFORMAT
                                                 : BOUMA_EVERSION);
    }
    bm_buffer_release(&b);
    bm_writing_free(w);
}

/* Bytes of the body, with a checksum that fits: no crash, and never another
 * sheet than the one that the body tells of. */
static void a_mended_front_is_refused_or_consistent(void)
{
    struct bm_writing *w = build(2);
    uint64_t state = 5;
    struct bm_buffer b;
    size_t front;

    encode(&b, w);
    front = 64 + (size_t)bm_load_u64(b.data + 16);
    for (int i = 0; i < 4000; i++) {
        size_t at = 64 + (size_t)check_below(&state, (int64_t)front - 64);
        uint8_t was = b.data[at];

        b.data[at] = (uint8_t)check_below(&state, 256);
        mend_envelope(b.data, front);
        try_bytes(NULL, b.data, b.size);
        b.data[at] = was;
    }
    bm_buffer_release(&b);
    bm_writing_free(w);
}

/* ---- writings ------------------------------------------------------------------ */

/* Each writing has sheets or not, and those of the oldest come first. */
static void writings_have_sheets_of_their_own(void)
{
    static const uint32_t files[][2] = {{2, 0}, {0, 2}, {1, 4}};

    for (size_t i = 0; i < 3; i++) {
        struct bm_writing *old = build(files[i][0]), *is = empty();
        struct bm_writing *added = build(files[i][1]);
        struct bm_error error = {0};
        struct bm_buffer b, again;

        /* The same grids under other names. */
        for (int k = 0; k < added->schema.count; k++)
            added->schema.objects[k]->name[0] ^= 1;
        added->manifest.generation.epoch++;
        REQUIRE(!bm_writings_extend(&added->manifest, old));
        encode(&b, added);
        REQUIRE(!bm_manifest_decode(&is->manifest, b.data, b.size, id, "file",
                                    &error));
        CHECK_EQ(bm_manifest_files(&is->manifest), 2 * FILES);
        for (size_t f = 0; f < 2 * FILES; f++)
            CHECK(bm_manifest_has_file(&is->manifest, f));
        CHECK_EQ(bm_manifest_writing(&is->manifest, 0)->sheet_files,
                 files[i][0]);
        CHECK_EQ(is->manifest.sheet_files, files[i][1]);
        encode(&again, is);
        CHECK(again.size == b.size && !memcmp(again.data, b.data, b.size));
        bm_buffer_release(&b);
        bm_buffer_release(&again);
        bm_writing_free(is);
        bm_writing_free(added);
    }
}

int main(void)
{
    a_manifest_with_sheets_says_what_a_whole_one_says();
    many_files_need_few_bytes();
    sheets_are_taken_one_by_one();
    a_walk_has_one_sheet_at_a_time();
    a_walk_leaves_what_was_there();
    damage_is_found();
    a_damaged_sheet_leaves_the_others();
    file_bytes_that_lie_are_refused();
    the_largest_file_that_lies_is_refused();
    numbers_of_files_that_lie_are_refused();
    chunks_that_lie_are_refused();
    level_bytes_that_lie_are_refused();
    bounds_that_lie_are_refused();
    errors_that_lie_are_refused();
    a_record_that_lies_is_refused();
    a_part_that_is_not_summed_up_is_refused();
    too_many_files_of_a_variable_are_refused();
    a_sheet_for_other_files_is_refused();
    sheets_of_a_newer_version_are_told();
    a_mended_front_is_refused_or_consistent();
    writings_have_sheets_of_their_own();
    return check_result();
}
