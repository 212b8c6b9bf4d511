/* Grids, variables and attributes: what may be defined, and their bytes. */
#include "layout/grid_patch.h"
#include "layout/schema.h"

#include "check.h"
#include "damage.h"
#include "sample_schema.h"

/* ---- bytes -------------------------------------------------------------- */

/* Decode; what comes out must encode to the very same bytes. */
static int try_schema(void *context, const uint8_t *data, size_t bytes)
{
    struct bm_cursor c = bm_cursor_of(data, bytes);
    struct bm_error error = {0}, usual = {0};
    struct bm_schema s;
    struct bm_buffer b;
    int rc;

    (void)context;
    bm_schema_init(&s, bm_allocator_default(), &usual);
    rc = bm_schema_decode(&s, &c, "file", &error);
    if (rc) {
        CHECK(rc == BOUMA_EFORMAT || rc == BOUMA_EVERSION);
        CHECK_EQ(error.status, rc);
        CHECK_TEXT(error.text, "file: ");
    } else {
        bm_buffer_init(&b, bm_allocator_default());
        bm_schema_encode(&b, &s);
        CHECK_EQ(b.size, (size_t)(c.p - data));
        CHECK(!memcmp(b.data, data, b.size));
        bm_buffer_release(&b);
    }
    bm_schema_release(&s);
    return rc;
}

static void encode_sample(struct bm_buffer *b)
{
    struct bm_error error = {0};
    struct bm_schema s;

    build_schema(&s, &error);
    bm_buffer_init(b, bm_allocator_default());
    bm_schema_encode(b, &s);
    REQUIRE(!b->failed);
    bm_schema_release(&s);
}

static void a_schema_goes_through_its_bytes(void)
{
    struct bm_error error = {0};
    struct bouma_variable *v;
    struct bm_object *g;
    struct bm_cursor c;
    struct bm_schema s;
    struct bm_buffer b;

    encode_sample(&b);
    CHECK_EQ(try_schema(NULL, b.data, b.size), BOUMA_OK);
    c = bm_cursor_of(b.data, b.size);
    bm_schema_init(&s, bm_allocator_default(), &error);
    REQUIRE(!bm_schema_decode(&s, &c, "file", &error));
    CHECK_EQ(s.count, 3);
    CHECK_EQ(s.variables, 4);
    g = bm_schema_find(&s, "plane \xc3\xa9");
    REQUIRE(g);
    CHECK(g->ndims == 2 && g->levels == 3 && g->count == 2);
    CHECK(bm_tiling_of(g)->shape[1] == 9 && bm_tiling_of(g)->shape[2] == 14);
    CHECK(bm_tiling_of(g)->edge[1] == 4 && bm_tiling_of(g)->edge[2] == 8);
    CHECK(g->origin[0] == -1.5 && g->spacing[1] == -3);
    CHECK(!strcmp(g->unit, "km"));
    CHECK_EQ(g->attributes.count, 4);
    CHECK(g->attributes.fixed && g->attributes.error == &error);
    v = bm_grid_find_variable(g, "velocity");
    REQUIRE(v);
    CHECK(v->type == BOUMA_TYPE_F32 && v->components == 3 && v->effort == 5);
    CHECK(v->codec == BOUMA_CODEC_ZSTD && !strcmp(v->unit, "m/s"));
    CHECK(v->id == 1 && s.by_id[1] == v);
    CHECK_EQ(bm_variable_value_size(v), 4);
    CHECK(!strcmp(v->attributes.entries[0].values, "heat!"));
    CHECK(!bm_schema_find(&s, "plane"));
    CHECK(!bm_grid_find_variable(g, "count"));
    bm_schema_release(&s);
    bm_schema_release(&s);
    bm_buffer_release(&b);
}

static void an_empty_schema_is_one_too(void)
{
    uint8_t none[8] = {0};

    CHECK_EQ(try_schema(NULL, none, 8), BOUMA_OK);
}

/* Without a checksum of its own: many changes make another valid schema, and
 * all others are refused without harm. */
static void damage_is_refused_or_makes_another_schema(void)
{
    struct bm_buffer b;

    encode_sample(&b);
    check_damage(try_schema, NULL, &b, 0, 35, 20000);
    bm_buffer_release(&b);
}

/* Counts that promise more than there is must not be allocated for. */
static void large_counts_are_refused(void)
{
    uint8_t raw[64] = {0};
    struct bm_buffer b;

    bm_store_u64(raw, UINT64_MAX);
    CHECK_EQ(try_schema(NULL, raw, sizeof(raw)), BOUMA_EFORMAT);
    bm_store_u64(raw, 2);
    CHECK_EQ(try_schema(NULL, raw, sizeof(raw)), BOUMA_EFORMAT);
    encode_sample(&b);
    bm_store_u64(b.data, 4); /* one grid more than there are */
    CHECK_EQ(try_schema(NULL, b.data, b.size), BOUMA_EFORMAT);
    bm_buffer_release(&b);
}

/* ---- definitions -------------------------------------------------------- */

static struct bm_error last;

static int define_grid(struct bm_schema *s, const char *name, int ndims,
                       int64_t n, int64_t edge, int levels)
{
    bouma_grid_spec spec = {.size = sizeof(spec),
                            .ndims = ndims,
                            .shape = {n, n, n},
                            .patch = {edge, edge, edge},
                            .levels = levels};
    struct bm_object *g;
    int rc;

    bm_error_clear(&last);
    rc = bm_schema_add_grid(s, &g, name, &spec);
    CHECK_EQ(g != NULL, rc == BOUMA_OK);
    return rc;
}

static void wrong_grids_are_refused_with_a_reason(void)
{
    char name[300];
    struct bm_schema s;

    bm_schema_init(&s, bm_allocator_default(), &last);
    CHECK_EQ(define_grid(&s, "", 3, 8, 0, 0), BOUMA_EINVAL);
    CHECK_TEXT(last.text, "empty");
    CHECK_EQ(define_grid(&s, "a/b", 3, 8, 0, 0), BOUMA_EINVAL);
    CHECK_TEXT(last.text, "'/'");
    CHECK_EQ(define_grid(&s, "a\nb", 3, 8, 0, 0), BOUMA_EINVAL);
    CHECK_TEXT(last.text, "control");
    memset(name, 'n', 256);
    name[256] = 0;
    CHECK_EQ(define_grid(&s, name, 3, 8, 0, 0), BOUMA_EINVAL);
    CHECK_TEXT(last.text, "255");
    name[255] = 0;
    CHECK_EQ(define_grid(&s, name, 3, 8, 0, 0), BOUMA_OK);
    CHECK_EQ(define_grid(&s, "g", 0, 8, 0, 0), BOUMA_EINVAL);
    CHECK_TEXT(last.text, "ndims is 0");
    CHECK_EQ(define_grid(&s, "g", 4, 8, 0, 0), BOUMA_EINVAL);
    CHECK_EQ(define_grid(&s, "g", 3, 0, 0, 0), BOUMA_EINVAL);
    CHECK_TEXT(last.text, "shape[0] is 0");
    CHECK_EQ(define_grid(&s, "g", 3, -4, 0, 0), BOUMA_EINVAL);
    CHECK_EQ(define_grid(&s, "g", 3, 8, 3, 0), BOUMA_EINVAL);
    CHECK_TEXT(last.text, "power of two");
    CHECK_EQ(define_grid(&s, "g", 3, 8, -8, 0), BOUMA_EINVAL);
    CHECK_EQ(define_grid(&s, "g", 3, 8, 8, 5), BOUMA_EINVAL);
    CHECK_TEXT(last.text, "levels");
    CHECK_EQ(define_grid(&s, "g", 3, 8, 8, -1), BOUMA_EINVAL);
    CHECK_EQ(define_grid(&s, "g", 3, 8, 8, 4), BOUMA_OK);
    CHECK_EQ(define_grid(&s, "g", 3, 8, 8, 4), BOUMA_EEXISTS);
    CHECK_TEXT(last.text, "\"g\"");
    bm_schema_release(&s);
}

static void defaults_are_those_of_the_manual(void)
{
    struct bm_schema s;

    bm_schema_init(&s, bm_allocator_default(), &last);
    REQUIRE(!define_grid(&s, "3", 3, 1000, 0, 0));
    REQUIRE(!define_grid(&s, "2", 2, 1000, 0, 0));
    REQUIRE(!define_grid(&s, "1", 1, 100000, 0, 0));
    REQUIRE(!define_grid(&s, "small", 3, 5, 0, 0));
    REQUIRE(!define_grid(&s, "one", 3, 1, 0, 0));
    CHECK(bm_tiling_of(s.objects[0])->edge[2] == 64 &&
          s.objects[0]->levels == 5);
    CHECK(bm_tiling_of(s.objects[1])->edge[2] == 256 &&
          s.objects[1]->levels == 6);
    CHECK(bm_tiling_of(s.objects[2])->edge[2] == 65536 &&
          s.objects[2]->levels == 11);
    CHECK(bm_tiling_of(s.objects[3])->edge[2] == 8); /* cut down */
    CHECK(bm_tiling_of(s.objects[4])->edge[2] == 1 &&
          s.objects[4]->levels == 1);
    CHECK(s.objects[0]->spacing[0] == 1 && s.objects[0]->origin[0] == 0);
    bm_schema_release(&s);
}

static int define_variable(struct bm_object *g, const char *name, int type,
                           int components, int codec, int level)
{
    bouma_variable_spec spec = {.size = sizeof(spec),
                                .type = (bouma_type)type,
                                .components = components,
                                .codec = (bouma_codec)codec,
                                .codec_level = level};
    struct bouma_variable *v;

    bm_error_clear(&last);
    return bm_schema_add_variable(g, &v, name, &spec);
}

static void wrong_variables_are_refused_with_a_reason(void)
{
    struct bm_object *g;
    struct bm_schema s;

    bm_schema_init(&s, bm_allocator_default(), &last);
    REQUIRE(!define_grid(&s, "g", 1, 1 << 30, 1 << 28, 1));
    g = s.objects[0];
    CHECK_EQ(define_variable(g, "", BOUMA_TYPE_F32, 1, 0, 0), BOUMA_EINVAL);
    CHECK_EQ(define_variable(g, "v", 0, 1, 0, 0), BOUMA_EINVAL);
    CHECK_TEXT(last.text, "type");
    CHECK_EQ(define_variable(g, "v", BOUMA_TYPE_STRING, 1, 0, 0), BOUMA_EINVAL);
    CHECK_EQ(define_variable(g, "v", BOUMA_TYPE_U8, -1, 0, 0), BOUMA_EINVAL);
    CHECK_TEXT(last.text, "components");
    CHECK_EQ(define_variable(g, "v", BOUMA_TYPE_U8, 257, 0, 0), BOUMA_EINVAL);
    CHECK_EQ(define_variable(g, "v", BOUMA_TYPE_U8, 1, 3, 0), BOUMA_EINVAL);
    CHECK_TEXT(last.text, "codec");
    CHECK_EQ(
        define_variable(g, "v", BOUMA_TYPE_F32, 1, BOUMA_CODEC_QUANTISE, 0),
        BOUMA_EINVAL);
    CHECK_TEXT(last.text,
               "quantise, which is not for grids; use zstd, raw, interp");
    CHECK_EQ(define_variable(g, "v", BOUMA_TYPE_U8, 1, 1, 23), BOUMA_EINVAL);
    CHECK_EQ(define_variable(g, "v", BOUMA_TYPE_U8, 1, 1, -1), BOUMA_EINVAL);
    CHECK_EQ(define_variable(g, "v", BOUMA_TYPE_F64, 1, 0, 0), BOUMA_EINVAL);
    CHECK_TEXT(last.text, "1 GiB");
    CHECK_EQ(define_variable(g, "v", BOUMA_TYPE_U8, 5, 0, 0), BOUMA_EINVAL);
    CHECK_EQ(define_variable(g, "v", BOUMA_TYPE_U8, 4, 0, 0), BOUMA_OK);
    CHECK_EQ(define_variable(g, "v", BOUMA_TYPE_U8, 4, 0, 0), BOUMA_EEXISTS);
    CHECK_TEXT(last.text, "\"g/v\"");
    bm_schema_release(&s);
}

static void there_are_limits_to_numbers(void)
{
    struct bm_schema s;
    char name[16];

    bm_schema_init(&s, bm_allocator_default(), &last);
    REQUIRE(!define_grid(&s, "g", 1, 8, 8, 1));
    for (int i = 0; i < BM_MAX_VARIABLES; i++) {
        snprintf(name, sizeof(name), "v%d", i);
        REQUIRE(!define_variable(s.objects[0], name, BOUMA_TYPE_U8, 1, 0, 0));
    }
    CHECK_EQ(define_variable(s.objects[0], "more", BOUMA_TYPE_U8, 1, 0, 0),
             BOUMA_ELIMIT);
    CHECK_EQ(bm_schema_number(&s), BOUMA_OK);
    CHECK_EQ(s.variables, BM_MAX_VARIABLES);
    for (uint32_t i = 0; i < s.variables; i++)
        CHECK_EQ(s.by_id[i]->id, i);
    bm_schema_release(&s);
}

/* Layouts that number their files: 2^20 are the most, of all grids together. */
static void all_grids_share_the_files_of_a_step(void)
{
    bouma_grid_spec half = {.size = sizeof(half),
                            .ndims = 1,
                            .shape = {1 << 20},
                            .layout = BOUMA_LAYOUT_HZ,
                            .hz_block_bits = 1,
                            .hz_blocks_per_file = 1};
    bouma_grid_spec one = {.size = sizeof(one),
                           .ndims = 1,
                           .shape = {4},
                           .layout = BOUMA_LAYOUT_HZ};
    struct bm_error error = {0};
    struct bm_object *g;
    struct bm_schema s;

    bm_schema_init(&s, bm_allocator_default(), &error);
    REQUIRE(!bm_schema_add_grid(&s, &g, "a", &half));
    REQUIRE(!bm_schema_add_grid(&s, &g, "b", &half));
    CHECK_EQ(bm_schema_add_grid(&s, &g, "c", &one), BOUMA_EINVAL);
    CHECK_TEXT(error.text, "\"c\" and those before it would need more than");
    bm_error_clear(&error);
    bm_schema_remove_last(&s);
    CHECK_EQ(bm_schema_add_grid(&s, &g, "c", &one), BOUMA_OK);
    half.shape[0] *= 8;
    CHECK_EQ(bm_schema_add_grid(&s, &g, "d", &half), BOUMA_EINVAL);
    CHECK_EQ(s.fixed_files, ((int64_t)1 << 19) + 1);
    bm_schema_release(&s);
    CHECK_EQ(s.fixed_files, 0);
}

/* A grid of partitions that have an index each is read as it was written; other
 * partitions do not matter to files. Numbers that make no sense are refused. */
static void partitions_stand_in_the_schema(void)
{
    bouma_grid_spec spec = {.size = sizeof(spec),
                            .ndims = 2,
                            .shape = {13, 16},
                            .layout = BOUMA_LAYOUT_HZ,
                            .hz_block_bits = 3,
                            .hz_partitions = 4};
    struct bm_error error = {0};
    size_t plain = 0;

    for (int index = BOUMA_HZ_INDEX_GLOBAL; index <= BOUMA_HZ_INDEX_LOCAL;
         index++) {
        struct bm_schema s, read;
        struct bm_buffer b;
        struct bm_cursor c;
        struct bm_object *g;
        bouma_grid_info info = {.size = sizeof(info)};

        spec.hz_index = (bouma_hz_index)index;
        bm_schema_init(&s, bm_allocator_default(), &error);
        REQUIRE(!bm_schema_add_grid(&s, &g, "a", &spec));
        bm_buffer_init(&b, bm_allocator_default());
        bm_schema_encode(&b, &s);
        bm_schema_release(&s);
        CHECK_EQ(b.size, index == BOUMA_HZ_INDEX_GLOBAL ? b.size : plain + 1);
        plain = b.size;
        c = bm_cursor_of(b.data, b.size);
        bm_schema_init(&read, bm_allocator_default(), &error);
        REQUIRE(!bm_schema_decode(&read, &c, "test", &error));
        g = read.objects[0];
        memset(&info, 0, sizeof(info));
        g->layout->info(g, &info);
        CHECK_EQ(info.hz_index, index);
        CHECK_EQ(info.hz_partitions, index == BOUMA_HZ_INDEX_LOCAL ? 4 : 1);
        CHECK_EQ(g->layout->chunking(g).partitions,
                 index == BOUMA_HZ_INDEX_LOCAL ? 4 : 0);
        bm_schema_release(&read);
        for (size_t i = 0; i < b.size; i++) { /* whatever it is: no harm */
            b.data[i] ^= 0x25;
            c = bm_cursor_of(b.data, b.size);
            bm_schema_init(&read, bm_allocator_default(), &error);
            bm_schema_decode(&read, &c, "test", &error);
            bm_schema_release(&read);
            b.data[i] ^= 0x25;
        }
        bm_buffer_release(&b);
    }
}

static void names_are_utf8(void)
{
    static const char *const good[] = {"a",
                                       "\xc2\x80",
                                       "\xdf\xbf",
                                       "\xe0\xa0\x80",
                                       "\xed\x9f\xbf",
                                       "\xef\xbf\xbf",
                                       "\xf0\x90\x80\x80",
                                       "\xf4\x8f\xbf\xbf",
                                       ".",
                                       "a b"};
    static const char *const bad[] = {"",
                                      NULL,
                                      "\x80",
                                      "\xc0\x80",
                                      "\xc1\xbf",
                                      "\xc2",
                                      "\xc2"
                                      "a",
                                      "\xe0\x9f\xbf",
                                      "\xe1\x80",
                                      "\xed\xa0\x80",
                                      "\xf0\x8f\x80\x80",
                                      "\xf4\x90\x80\x80",
                                      "\xf5\x80\x80\x80",
                                      "\xff",
                                      "a\x7f",
                                      "\x1f",
                                      "/"};

    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        CHECK(!bm_name_check(good[i]));
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        CHECK(bm_name_check(bad[i]) != NULL);
}

/* ---- attributes --------------------------------------------------------- */

static void attributes_are_set_and_replaced(void)
{
    struct bouma_attributes a;
    int32_t one = 1, two[2] = {2, 3};

    bm_attributes_init(&a, bm_allocator_default(), &last);
    CHECK_EQ(bm_attributes_set(&a, "x", BOUMA_TYPE_I32, 1, &one), BOUMA_OK);
    CHECK_EQ(bm_attributes_set(&a, "y", BOUMA_TYPE_STRING, 3, "abc"), BOUMA_OK);
    CHECK_EQ(bm_attributes_set(&a, "x", BOUMA_TYPE_I32, 2, two), BOUMA_OK);
    CHECK_EQ(a.count, 2);
    CHECK_EQ(a.entries[0].count, 2);
    CHECK(!memcmp(a.entries[0].values, two, sizeof(two)));
    CHECK(!strcmp(a.entries[1].values, "abc"));
    /* From its own values. */
    CHECK_EQ(bm_attributes_set(&a, "x", BOUMA_TYPE_I32, 1,
                               (int32_t *)a.entries[0].values + 1),
             BOUMA_OK);
    CHECK_EQ(*(int32_t *)a.entries[0].values, 3);
    bm_attributes_clear(&a);
    CHECK_EQ(a.count, 0);
    bm_attributes_release(&a);
    bm_attributes_release(&a);
}

static int decode_attributes(struct bm_buffer *b)
{
    struct bm_cursor c = bm_cursor_of(b->data, b->size);
    struct bouma_attributes a;
    int rc;

    bm_attributes_init(&a, bm_allocator_default(), &last);
    rc = bm_attributes_decode(&a, &c);
    bm_attributes_release(&a);
    return rc;
}

static void two_attributes_of_one_name_are_damage(void)
{
    struct bm_buffer b;

    bm_buffer_init(&b, bm_allocator_default());
    bm_put_u64(&b, 2);
    for (int i = 0; i < 2; i++) {
        bm_put_text(&b, i ? "b" : "a");
        bm_put_u8(&b, BOUMA_TYPE_U8);
        bm_put_u64(&b, 1);
        bm_put_u8(&b, 7);
    }
    CHECK_EQ(decode_attributes(&b), BOUMA_OK);
    for (size_t i = 0; i < b.size; i++)
        if (b.data[i] == 'b')
            b.data[i] = 'a';
    CHECK_EQ(decode_attributes(&b), BOUMA_EFORMAT);
    bm_buffer_release(&b);
}

int main(void)
{
    a_schema_goes_through_its_bytes();
    an_empty_schema_is_one_too();
    damage_is_refused_or_makes_another_schema();
    large_counts_are_refused();
    wrong_grids_are_refused_with_a_reason();
    defaults_are_those_of_the_manual();
    wrong_variables_are_refused_with_a_reason();
    there_are_limits_to_numbers();
    all_grids_share_the_files_of_a_step();
    partitions_stand_in_the_schema();
    names_are_utf8();
    attributes_are_set_and_replaced();
    two_attributes_of_one_name_are_damage();
    return check_result();
}
