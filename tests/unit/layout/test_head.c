/* The head of a subfile: offsets that follow from sizes, its bytes, and all
 * that can be wrong with them. */
#include "layout/head.h"

#include "check.h"
#include "head_trial.h"

/* ---- arrangement -------------------------------------------------------- */

struct extent {
    uint64_t offset, bytes;
};

static int by_offset(const void *left, const void *right)
{
    const struct extent *a = left, *b = right;

    if (a->offset != b->offset)
        return a->offset < b->offset ? -1 : 1;
    return a->bytes < b->bytes ? -1 : a->bytes > b->bytes;
}

/* The chunk levels fill the data of the file without gap or overlap. */
static void check_extents(const struct bm_head *h)
{
    static struct extent e[4096];
    uint64_t at = h->data_offset;
    size_t n = 0;

    for (size_t i = 0; i < h->count; i++)
        for (size_t k = 0;
             k < h->sections[i].count * (size_t)h->sections[i].levels; k++)
            e[n++] = (struct extent){h->sections[i].offsets[k],
                                     h->sections[i].sizes[k]};
    qsort(e, n, sizeof(e[0]), by_offset);
    for (size_t i = 0; i < n; at += e[i].bytes, i++)
        CHECK_EQ(e[i].offset, at);
    CHECK_EQ(at, h->data_offset + h->data_bytes);
    CHECK_EQ(h->file_bytes, at + h->head_bytes);
    CHECK_EQ(h->data_offset % 64, 0);
    CHECK(h->data_offset >= h->head_bytes);
    CHECK(h->data_offset < h->head_bytes + 64);
}

static void levels_come_coarse_to_fine(void)
{
    struct bm_error error = {0};
    struct bm_schema schema;
    struct bm_head h;

    build_schema(&schema, &error);
    build_head(&h, &schema, 0, 1, BOUMA_ORDER_LEVEL);
    check_extents(&h);
    /* No byte of a finer level before any byte of a coarser one. */
    for (size_t i = 0; i < h.count; i++)
        for (size_t j = 0; j < h.count; j++) {
            const struct bm_section *a = &h.sections[i], *b = &h.sections[j];

            for (size_t k = 0; k < a->count * (size_t)a->levels; k++)
                for (size_t l = 0; l < b->count * (size_t)b->levels; l++)
                    if (k % (size_t)a->levels > l % (size_t)b->levels)
                        CHECK(a->offsets[k] + a->sizes[k] <= b->offsets[l]);
        }
    bm_head_release(&h);
    build_head(&h, &schema, 0, 1, BOUMA_ORDER_CHUNK);
    check_extents(&h);
    for (size_t i = 0; i < h.count; i++) {
        const struct bm_section *s = &h.sections[i];
        uint64_t at = s->offsets[s->levels - 1];

        for (size_t k = 0; k < s->count; k++)
            for (int level = s->levels - 1; level >= 0; level--) {
                size_t at_level = k * (size_t)s->levels + (size_t)level;

                CHECK_EQ(s->offsets[at_level], at);
                at += s->sizes[at_level];
            }
    }
    bm_head_release(&h);
    bm_head_release(&h);
    bm_schema_release(&schema);
}

/* Every other key up to 'end', and all that the section has: more of them than
 * it has, or fewer. */
static void check_common(const struct bm_section *s, uint64_t first,
                         uint64_t end)
{
    uint64_t keys[4096];
    size_t at[4096], n = 0, expected = 0, found;

    REQUIRE(end <= 4096);
    for (uint64_t key = first; key < end; key += 1 + key % 2)
        keys[n++] = key;
    found = bm_section_common(s, keys, n, at);
    for (size_t i = 0; i < s->count; i++) {
        int is_wanted = 0;

        for (size_t k = 0; k < n; k++)
            is_wanted |= keys[k] == s->keys[i];
        if (is_wanted) {
            REQUIRE(expected < found);
            CHECK_EQ(at[expected++], i);
        }
    }
    CHECK_EQ(found, expected);
}

static void keys_are_found(void)
{
    struct bm_error error = {0};
    struct bm_schema schema;
    struct bm_head h;

    build_schema(&schema, &error);
    build_head(&h, &schema, 1, 2, BOUMA_ORDER_LEVEL);
    for (uint32_t v = 0; v < schema.variables; v++) {
        struct bm_section *s = bm_head_section(&h, v);

        REQUIRE(s && s->variable->id == v && s->count && s->count <= 64);
        for (uint64_t first = 0; first < 40; first++)
            for (uint64_t end = first; end < 40; end++)
                check_common(s, first, end);
        check_common(s, 0, s->keys[s->count - 1] + 1);
        check_common(s, 0, 4096);
        CHECK_EQ(bm_section_common(s, s->keys, s->count, (size_t[64]){0}),
                 s->count);
        CHECK_EQ(
            bm_section_common(s, (uint64_t[]){UINT64_MAX}, 1, (size_t[1]){0}),
            0);
    }
    CHECK(!bm_head_section(&h, schema.variables));
    bm_head_release(&h);
    bm_schema_release(&schema);
}

/* ---- bytes -------------------------------------------------------------- */

static void encode_sample(struct bm_buffer *b, struct bm_schema *schema,
                          struct head_trial *t, bouma_order order)
{
    static struct bm_error error;
    struct bm_head h;

    build_schema(schema, &error);
    build_head(&h, schema, 1, 3, order);
    head_bytes(b, &h, schema);
    *t = (struct head_trial){schema, h.file_bytes, check_extents};
    bm_head_release(&h);
}

static void a_head_goes_through_its_bytes(void)
{
    struct bm_error error = {0};
    struct bm_schema schema;
    struct bm_buffer b;
    struct head_trial t;
    struct bm_head_bytes from;
    struct bm_head was, is;

    encode_sample(&b, &schema, &t, BOUMA_ORDER_CHUNK);
    CHECK_EQ(try_head(&t, b.data, b.size), BOUMA_OK);
    build_head(&was, &schema, 1, 3, BOUMA_ORDER_CHUNK);
    bm_head_init(&is, bm_allocator_default());
    from = (struct bm_head_bytes){b.data, b.size, t.file_bytes,
                                  NULL,   "file", NULL};
    REQUIRE(!bm_head_decode(&is, &schema, NULL, &from, &error));
    CHECK(is.step == 42 && is.time == 0.125 && is.subfile == 1 &&
          is.subfiles == 3 && is.generation.epoch == 3 &&
          is.generation.attempt == 2 && is.order == BOUMA_ORDER_CHUNK);
    REQUIRE(is.count == was.count);
    for (size_t i = 0; i < is.count; i++) {
        struct bm_section *a = &is.sections[i], *o = &was.sections[i];
        size_t ranges = a->count * (size_t)a->variable->components;
        size_t levels = a->count * (size_t)a->levels;

        REQUIRE(a->count == o->count && a->levels == o->levels);
        CHECK(!memcmp(a->keys, o->keys, a->count * sizeof(*a->keys)));
        CHECK(!memcmp(a->sizes, o->sizes, levels * sizeof(*a->sizes)));
        CHECK(!memcmp(a->hashes, o->hashes, levels * sizeof(*a->hashes)));
        CHECK(!memcmp(a->offsets, o->offsets, levels * sizeof(*a->offsets)));
        for (size_t k = 0; k < ranges; k++)
            CHECK(bm_range_equal(&a->ranges[k], &o->ranges[k],
                                 a->variable->type));
    }
    bm_head_release(&was);
    bm_head_release(&is);
    bm_buffer_release(&b);
    bm_schema_release(&schema);
}

static void damage_is_found_by_the_checksum(void)
{
    struct bm_schema schema;
    struct damage_counts n;
    struct bm_buffer b;
    struct head_trial t;

    encode_sample(&b, &schema, &t, BOUMA_ORDER_LEVEL);
    n = hurt_bytes(try_head, &t, b.data, b.size, 0);
    CHECK_EQ(n.accepted, 0);
    n = cut_bytes(try_head, &t, b.data, b.size, 0);
    CHECK_EQ(n.accepted, 0);
    bm_buffer_release(&b);
    bm_schema_release(&schema);
}

static void mended_damage_is_refused_or_consistent(void)
{
    struct bm_schema schema;
    struct bm_buffer b;
    struct head_trial t;

    encode_sample(&b, &schema, &t, BOUMA_ORDER_LEVEL);
    for (int own = 0; own < 2; own++) {
        t.schema = own ? NULL : &schema;
        check_damage(try_head, &t, &b, 1, 36, 4000);
    }
    bm_buffer_release(&b);
    bm_schema_release(&schema);
}

/* Two chunks that were swapped, two sections that were, a chunk twice. */
static void keys_and_sections_out_of_order_are_refused(void)
{
    struct bm_error error = {0};
    struct bm_schema schema;

    build_schema(&schema, &error);
    for (int kind = 0; kind < 4; kind++) {
        struct bm_section *s, one;
        struct bm_buffer b;
        struct bm_head h;
        struct head_trial t;
        uint64_t key;

        build_head(&h, &schema, 0, 1, BOUMA_ORDER_LEVEL);
        s = &h.sections[2]; /* raw: chunks of one size, but at the borders */
        key = s->keys[0];
        if (kind == 1) {
            s->keys[0] = s->keys[1];
            s->keys[1] = key;
        } else if (kind == 2) {
            s->keys[1] = key;
        } else if (kind == 3) {
            one = h.sections[0];
            h.sections[0] = h.sections[1];
            h.sections[1] = one;
        }
        REQUIRE(!bm_head_arrange(&h, &schema));
        head_bytes(&b, &h, &schema);
        t = (struct head_trial){&schema, h.file_bytes, check_extents};
        CHECK_EQ(try_head(&t, b.data, b.size), kind ? BOUMA_EFORMAT : BOUMA_OK);
        bm_buffer_release(&b);
        bm_head_release(&h);
    }
    bm_schema_release(&schema);
}

static void a_file_of_another_size_is_refused(void)
{
    struct bm_schema schema;
    struct bm_buffer b;
    struct head_trial t;

    encode_sample(&b, &schema, &t, BOUMA_ORDER_LEVEL);
    t.file_bytes--;
    CHECK_EQ(try_head(&t, b.data, b.size), BOUMA_EFORMAT);
    t.file_bytes += 2;
    CHECK_EQ(try_head(&t, b.data, b.size), BOUMA_EFORMAT);
    bm_buffer_release(&b);
    bm_schema_release(&schema);
}

static void a_head_of_another_dataset_or_version_is_refused(void)
{
    static const uint8_t other[16] = {9};
    struct bm_error error = {0};
    struct bm_schema schema;
    struct bm_buffer b;
    struct bm_head_bytes from;
    struct bm_head h;
    struct head_trial t;

    encode_sample(&b, &schema, &t, BOUMA_ORDER_LEVEL);
    bm_head_init(&h, bm_allocator_default());
    from = (struct bm_head_bytes){b.data, b.size, t.file_bytes,
                                  other,  "file", NULL};
    CHECK_EQ(bm_head_decode(&h, &schema, NULL, &from, &error), BOUMA_EFORMAT);
    CHECK_TEXT(error.text, "another dataset");
    bm_store_u16(b.data + 12, 2);
    mend_envelope(b.data, b.size);
    CHECK_EQ(try_head(&t, b.data, b.size), BOUMA_EVERSION);
    bm_head_release(&h);
    bm_buffer_release(&b);
    bm_schema_release(&schema);
}

/* ---- ranges ------------------------------------------------------------- */

static void ranges_are_checked(void)
{
    struct bm_range r = {{0}, {0}, 3, 2}, back;
    struct bm_cursor c;
    struct bm_buffer b;

    bm_buffer_init(&b, bm_allocator_default());
    r.low.f = -1;
    r.high.f = 2;
    bm_range_encode(&b, &r, BOUMA_TYPE_F32);
    CHECK_EQ(b.size, 8);
    c = bm_cursor_of(b.data, b.size);
    CHECK_EQ(bm_range_decode(&back, &c, BOUMA_TYPE_F32, 2, 5), BOUMA_OK);
    CHECK(bm_range_equal(&r, &back, BOUMA_TYPE_F32));
    c = bm_cursor_of(b.data, b.size);
    CHECK_EQ(bm_range_decode(&back, &c, BOUMA_TYPE_F32, 6, 5), BOUMA_EFORMAT);
    c = bm_cursor_of(b.data, 7);
    CHECK_EQ(bm_range_decode(&back, &c, BOUMA_TYPE_F32, 2, 5), BOUMA_EFORMAT);
    bm_buffer_clear(&b);
    r.low.f = 3; /* above high */
    bm_range_encode(&b, &r, BOUMA_TYPE_F32);
    c = bm_cursor_of(b.data, b.size);
    CHECK_EQ(bm_range_decode(&back, &c, BOUMA_TYPE_F32, 2, 5), BOUMA_EFORMAT);
    bm_buffer_clear(&b);
    r.low.i = INT64_MAX; /* as doubles they are the same */
    r.high.i = INT64_MAX - 1;
    bm_range_encode(&b, &r, BOUMA_TYPE_I64);
    c = bm_cursor_of(b.data, b.size);
    CHECK_EQ(bm_range_decode(&back, &c, BOUMA_TYPE_I64, 0, 5), BOUMA_EFORMAT);
    bm_buffer_release(&b);
}

int main(void)
{
    levels_come_coarse_to_fine();
    keys_are_found();
    a_head_goes_through_its_bytes();
    damage_is_found_by_the_checksum();
    mended_damage_is_refused_or_consistent();
    keys_and_sections_out_of_order_are_refused();
    a_file_of_another_size_is_refused();
    a_head_of_another_dataset_or_version_is_refused();
    ranges_are_checked();
    return check_result();
}
