/* Files that begin with bytes of another format: where their head stands, what
 * it says of that, and how it is found. The layout is that of
 * tests/layout/grid_rows.c. */
#include "layout/front.h"

#include "check.h"
#include "head_trial.h"
#include "layout/manifest.h"

enum { CHUNKS = 4, VARIABLES = 2, FRONT = 16 + 12 * CHUNKS * VARIABLES };

extern const struct bm_layout bm_layout_grid_rows;

/* Grid "f" with a front and variables "a" and "b", grid "g" without one and
 * with "c". */
static void rows_schema(struct bm_schema *schema, struct bm_error *error)
{
    bouma_grid_spec grid = {.size = sizeof(grid),
                            .ndims = 2,
                            .shape = {11, 5},
                            .patch = {CHUNKS, 2, 1},
                            .levels = 2};
    bouma_variable_spec spec = {.size = sizeof(spec),
                                .type = BOUMA_TYPE_I16,
                                .components = 1,
                                .codec = BOUMA_CODEC_ZSTD};
    struct bm_object *f, *g;
    struct bouma_variable *v;

    bm_schema_init(schema, bm_allocator_default(), error);
    REQUIRE(!bm_schema_add(schema, &f, &bm_layout_grid_rows, "f", "", &grid));
    grid.patch[2] = 0;
    REQUIRE(!bm_schema_add(schema, &g, &bm_layout_grid_rows, "g", "", &grid));
    REQUIRE(!bm_schema_add_variable(f, &v, "a", &spec));
    REQUIRE(!bm_schema_add_variable(f, &v, "b", &spec));
    REQUIRE(!bm_schema_add_variable(g, &v, "c", &spec));
    REQUIRE(!bm_schema_number(schema));
    CHECK_EQ(bm_front_bytes(f), FRONT);
    CHECK_EQ(bm_front_bytes(g), 0);
}

/* Chunks 0 and 2 of the variables first to last. */
static void rows_head(struct bm_head *h, const struct bm_schema *schema,
                      uint32_t first, uint32_t last)
{
    bm_head_init(h, bm_allocator_default());
    h->step = 3;
    h->subfiles = 2;
    h->generation = (struct bm_generation){1, 1};
    h->order = BOUMA_ORDER_LEVEL;
    for (uint32_t id = first; id <= last; id++) {
        struct bm_section *s;

        REQUIRE(!bm_head_add_section(h, schema->by_id[id], 2));
        s = &h->sections[h->count - 1];
        for (size_t i = 0; i < 2; i++) {
            uint64_t values[BM_MAX_LEVELS];

            s->keys[i] = 2 * i;
            s->sizes[i] = 10 + (uint32_t)i + id;
            s->hashes[i] = 77 + id;
            s->ranges[i].count = bm_section_values(s, i, values);
        }
    }
}

static void the_head_stands_behind_the_front(void)
{
    struct bm_error error = {0};
    struct bm_schema schema;
    struct bm_buffer b;
    struct bm_head h;

    rows_schema(&schema, &error);
    rows_head(&h, &schema, 0, 1);
    REQUIRE(!bm_head_arrange(&h, &schema));
    CHECK_EQ(h.front_bytes, FRONT);
    CHECK_EQ(h.head_offset, 128);
    CHECK_EQ(h.data_offset, (128 + h.head_bytes + 63) / 64 * 64);
    CHECK_EQ(h.sections[0].offsets[0], h.data_offset);
    CHECK_EQ(h.file_bytes, h.data_offset + h.data_bytes + h.head_bytes);
    head_bytes(&b, &h, &schema);
    CHECK_EQ(bm_load_u64(b.data + b.size - 16), FRONT);
    CHECK_EQ(bm_load_u64(b.data + b.size - 8), b.size);
    bm_buffer_clear(&b);
    bm_front_make(&b, &h);
    CHECK_EQ(b.size, h.head_offset);
    CHECK(!memcmp(b.data, "rows of a grid\r\n", 16));
    CHECK_EQ(bm_load_u64(b.data + 16), h.sections[0].offsets[0]);
    CHECK_EQ(bm_load_u32(b.data + 24 + 12 * (CHUNKS + 2)),
             h.sections[1].sizes[1]);
    bm_buffer_release(&b);
    bm_head_release(&h);
    bm_schema_release(&schema);
}

static void files_without_a_front_are_as_ever(void)
{
    struct bm_error error = {0};
    struct bm_schema schema;
    struct bm_buffer b;
    struct bm_head h;

    rows_schema(&schema, &error);
    rows_head(&h, &schema, 2, 2);
    REQUIRE(!bm_head_arrange(&h, &schema));
    CHECK(!h.front_bytes && !h.head_offset);
    CHECK_EQ(h.data_offset, (h.head_bytes + 63) / 64 * 64);
    bm_buffer_init(&b, bm_allocator_default());
    bm_front_make(&b, &h);
    CHECK(!b.size && !b.failed);
    bm_buffer_release(&b);
    bm_head_release(&h);
    bm_schema_release(&schema);
}

static void an_object_with_a_front_is_alone(void)
{
    struct bm_error error = {0};
    struct bm_schema schema;
    struct bm_head h;
    uint64_t bound;

    rows_schema(&schema, &error);
    rows_head(&h, &schema, 1, 2);
    CHECK_EQ(bm_head_arrange(&h, &schema), BOUMA_EFORMAT);
    CHECK_EQ(bm_head_bound(&bound, &h, &schema, 1000), BOUMA_EFORMAT);
    bm_head_release(&h);
    bm_schema_release(&schema);
}

static void ignore(const struct bm_head *h)
{
    CHECK(h->head_offset % 64 == 0 && h->head_offset >= h->front_bytes);
    CHECK(h->data_offset >= h->head_offset + h->head_bytes);
}

static int decode(const struct bm_buffer *b, uint64_t file_bytes)
{
    struct head_trial t = {NULL, file_bytes, ignore};

    return try_copy(try_head, &t, b->data, b->size, 1);
}

/* Whatever the two numbers at the end say: only what follows from the object is
 * accepted. The rest is hurt, too. */
static void what_a_head_says_of_its_front_is_checked(void)
{
    struct bm_error error = {0};
    struct bm_schema schema;
    struct head_trial t;
    struct bm_buffer b;
    struct bm_head h;

    rows_schema(&schema, &error);
    rows_head(&h, &schema, 0, 1);
    REQUIRE(!bm_head_arrange(&h, &schema));
    head_bytes(&b, &h, &schema);
    CHECK_EQ(decode(&b, h.file_bytes), BOUMA_OK);
    CHECK_EQ(decode(&b, h.file_bytes - 128), BOUMA_EFORMAT);
    for (size_t at = b.size - 16; at < b.size; at++) {
        b.data[at] ^= 1;
        CHECK_EQ(decode(&b, h.file_bytes), BOUMA_EFORMAT);
        b.data[at] ^= 1;
    }
    t = (struct head_trial){NULL, h.file_bytes, ignore};
    hurt_bytes(try_head, &t, b.data, b.size, 1);
    CHECK_EQ(hurt_bytes(try_head, &t, b.data, b.size, 0).accepted, 0);
    CHECK_EQ(cut_bytes(try_head, &t, b.data, b.size, 1).accepted, 0);
    scramble_bytes(try_head, &t, b.data, b.size, 1, 5, 2000);
    bm_buffer_release(&b);
    bm_head_release(&h);
    bm_schema_release(&schema);
}

static void files_with_offsets_leave_room_behind_the_front(void)
{
    struct bm_error error = {0};
    struct bm_schema schema;
    struct bm_buffer b;
    struct bm_head h;
    uint64_t bound, least, most;

    rows_schema(&schema, &error);
    rows_head(&h, &schema, 0, 1);
    h.has_offsets = 1;
    h.data_bytes = 100;
    REQUIRE(!bm_head_bound(&bound, &h, &schema, 100));
    for (int i = 0; i < 4; i++) {
        h.data_offset = (bound + 63) / 64 * 64;
        for (size_t k = 0; k < 4; k++)
            h.sections[k / 2].offsets[k % 2] = h.data_offset + 20 * k;
        REQUIRE(!bm_head_arrange(&h, &schema));
        CHECK(128 + h.head_bytes <= bound);
        least = (128 + h.head_bytes + 63) / 64 * 64;
        most = (128 + 4 * h.head_bytes + BM_SPARE_BYTES) / 64 * 64;
        head_bytes(&b, &h, &schema);
        CHECK_EQ(decode(&b, h.file_bytes), BOUMA_OK);
        bm_buffer_release(&b);
        bound = i == 0 ? least : i == 1 ? most : bound;
    }
    h.data_offset = least - 64;
    CHECK_EQ(bm_head_arrange(&h, &schema), BOUMA_EFORMAT);
    h.data_offset = most + 64;
    CHECK_EQ(bm_head_arrange(&h, &schema), BOUMA_EFORMAT);
    bm_head_release(&h);
    bm_schema_release(&schema);
}

/* In the manifest, the slot of the head follows from the object, too. */
static void manifests_know_where_heads_are(void)
{
    struct bm_error error = {0};
    struct bm_subfile_info info, again;
    struct bm_schema schema;
    struct bm_cursor c;
    struct bm_buffer b;
    struct bm_head h;
    uint8_t hash[16] = {0};

    rows_schema(&schema, &error);
    rows_head(&h, &schema, 0, 1);
    REQUIRE(!bm_head_arrange(&h, &schema));
    REQUIRE(!bm_subfile_info_of(&info, &h, hash, schema.a));
    CHECK_EQ(info.head_offset, 128);
    bm_buffer_init(&b, schema.a);
    bm_subfile_info_encode(&b, &info, &schema);
    c = bm_cursor_of(b.data, b.size);
    CHECK_EQ(bm_subfile_info_decode(&again, &c, &schema), BOUMA_OK);
    CHECK_EQ(again.head_offset, 128);
    bm_subfile_info_release(&again, schema.a);
    /* No room for a front and two heads. */
    info.file_bytes = 2 * info.head_bytes + 127;
    bm_buffer_clear(&b);
    bm_subfile_info_encode(&b, &info, &schema);
    c = bm_cursor_of(b.data, b.size);
    CHECK_EQ(bm_subfile_info_decode(&again, &c, &schema), BOUMA_EFORMAT);
    bm_subfile_info_release(&again, schema.a);
    bm_subfile_info_release(&info, schema.a);
    bm_buffer_release(&b);
    bm_head_release(&h);
    bm_schema_release(&schema);
}

/* ---- in a file ----------------------------------------------------------- */

/* All bytes of a file with this head; those of its data are 0xdd. */
static void file_bytes(struct bm_buffer *out, struct bm_head *h,
                       const struct bm_schema *schema)
{
    struct bm_buffer head;

    REQUIRE(!bm_head_arrange(h, schema));
    head_bytes(&head, h, schema);
    bm_buffer_init(out, bm_allocator_default());
    bm_front_make(out, h);
    bm_put_bytes(out, head.data, head.size);
    while (out->size < h->data_offset)
        bm_put_u8(out, 0);
    while (out->size < h->data_offset + h->data_bytes)
        bm_put_u8(out, 0xdd);
    bm_put_bytes(out, head.data, head.size);
    REQUIRE(!out->failed && out->size == h->file_bytes);
    bm_buffer_release(&head);
}

/* Where a head is found in a file of these bytes; or the status, negative. */
static int64_t find(const struct bm_buffer *b, size_t bytes)
{
    bouma_io *io = bouma_io_memory_new();
    struct bm_error error = {0};
    struct bm_first_head found;
    struct bm_store s;
    struct bm_file f;
    int rc;

    REQUIRE(io &&
            !bm_store_open(&s, io, bm_allocator_default(), "here", 1, &error));
    REQUIRE(!bm_store_save(&s, "file", b->data, bytes, 0, &error));
    REQUIRE(!bm_file_open(&f, &s, "file", BOUMA_OPEN_MODE_READ, &error));
    rc = bm_front_find_head(&found, &f, bytes, "file", &error);
    CHECK_EQ(error.status, rc);
    if (rc)
        CHECK_TEXT(error.text, "file");
    else
        CHECK(
            !memcmp(found.begin, b->data + found.offset, sizeof(found.begin)));
    bm_file_close(&f, &error);
    bm_store_close(&s);
    bouma_io_memory_free(io);
    return rc ? -rc : (int64_t)found.offset;
}

static void heads_are_found_without_a_manifest(void)
{
    struct bm_error error = {0};
    struct bm_schema schema;
    struct bm_buffer b;
    struct bm_head h;

    rows_schema(&schema, &error);
    rows_head(&h, &schema, 2, 2);
    file_bytes(&b, &h, &schema);
    CHECK_EQ(find(&b, b.size), 0);
    CHECK_EQ(find(&b, b.size - 1), 0);
    CHECK_EQ(find(&b, 50), -BOUMA_EFORMAT);
    b.data[0] ^= 1;
    CHECK_EQ(find(&b, b.size), -BOUMA_EFORMAT);
    bm_buffer_release(&b);
    bm_head_release(&h);

    rows_head(&h, &schema, 0, 1);
    file_bytes(&b, &h, &schema);
    CHECK_EQ(find(&b, b.size), 128);
    for (size_t i = 0; i < b.size; i++) /* the end is gone */
        CHECK_EQ(find(&b, i), -BOUMA_EFORMAT);
    for (size_t i = b.size - 16; i < b.size; i++) { /* or lies */
        b.data[i] ^= 0xff;
        CHECK_EQ(find(&b, b.size), -BOUMA_EFORMAT);
        b.data[i] ^= 0xff;
    }
    b.data[128 + 12] ^= 2; /* the version, which decoding looks into */
    CHECK_EQ(find(&b, b.size), -BOUMA_EVERSION);
    b.data[128] ^= 1;
    CHECK_EQ(find(&b, b.size), -BOUMA_EFORMAT);
    bm_buffer_release(&b);
    bm_head_release(&h);
    bm_schema_release(&schema);
}

int main(void)
{
    the_head_stands_behind_the_front();
    files_without_a_front_are_as_ever();
    an_object_with_a_front_is_alone();
    what_a_head_says_of_its_front_is_checked();
    files_with_offsets_leave_room_behind_the_front();
    manifests_know_where_heads_are();
    heads_are_found_without_a_manifest();
    return check_result();
}
