/* The manifest of a step: its bytes, and all that can be wrong with them. */
#include "layout/manifest.h"

#include "check.h"
#include "damage.h"
#include "sample_head.h"

enum { SUBFILES = 3 };

static const uint8_t id[16] = {7, 7, 7};

/* A manifest of a step in three subfiles, as a writer would make it. */
static void build_manifest(struct bm_manifest *m, struct bm_schema *schema,
                           struct bm_error *error)
{
    bm_manifest_init(m, bm_allocator_default(), schema, error);
    m->step = 42;
    m->time = 0.125;
    m->generation = (struct bm_generation){3, 2};
    m->nonce = 0x1234;
    m->order = BOUMA_ORDER_LEVEL;
    m->distribute = BOUMA_DISTRIBUTE_GREEDY;
    m->assign = BOUMA_ASSIGN_RUNNING;
    m->place = BOUMA_PLACE_FIRST;
    m->record.raw_bytes = 1000;
    m->record.files = SUBFILES;
    m->record.commit_seconds = 1.5;
    m->record.moved_messages = 7;
    m->record.shipped_messages = 8;
    m->record.most_patches = 9;
    m->record.slowest_encode = 0.5;
    m->record.mean_encode = 0.25;
    m->record.predicted = 1;
    m->record.misfits = 3;
    add_attributes(&m->dataset_attributes);
    add_attributes(&m->attributes);
    REQUIRE(!bm_manifest_set_subfiles(m, SUBFILES));
    for (int f = 0; f < SUBFILES; f++) {
        uint8_t hash[16] = {(uint8_t)f};
        struct bm_head h;

        build_head(&h, schema, f, SUBFILES, BOUMA_ORDER_LEVEL);
        REQUIRE(!bm_subfile_info_of(&m->subfiles[f], &h, hash,
                                    bm_allocator_default()));
        bm_head_release(&h);
    }
}

static void encode_sample(struct bm_buffer *b)
{
    struct bm_error error = {0};
    struct bm_schema schema;
    struct bm_manifest m;

    build_schema(&schema, &error);
    build_manifest(&m, &schema, &error);
    bm_buffer_init(b, bm_allocator_default());
    bm_manifest_encode(b, &m, id);
    REQUIRE(!b->failed);
    bm_manifest_release(&m);
    bm_manifest_release(&m);
    bm_schema_release(&schema);
}

static void check_consistent(const struct bm_manifest *m)
{
    const struct bm_schema *s = m->schema;

    CHECK(m->order == BOUMA_ORDER_LEVEL || m->order == BOUMA_ORDER_CHUNK);
    CHECK(m->step <= INT64_MAX);
    for (uint32_t v = 0; v < s->variables; v++) {
        uint64_t chunks = 0, stored = 0;
        const struct bouma_variable *variable = s->by_id[v];
        struct bm_box domain = variable->object->domain;

        for (size_t f = 0; f < m->count; f++)
            for (size_t k = 0; k < m->subfiles[f].count; k++)
                if (m->subfiles[f].parts[k].variable == v) {
                    chunks += m->subfiles[f].parts[k].chunks;
                    for (int j = 0; j < variable->object->levels; j++)
                        stored += m->subfiles[f].parts[k].level_bytes[j];
                    CHECK(bm_box_inside(&m->subfiles[f].parts[k].bounds,
                                        &domain));
                }
        CHECK_EQ(variable->in_step.present, chunks > 0);
        if (chunks) {
            CHECK_EQ(chunks, bm_tiling_of(variable->object)->patches);
            CHECK_EQ(variable->in_step.stored_bytes, stored);
            CHECK_EQ(variable->in_step.raw_bytes,
                     bm_box_volume(&domain) * bm_variable_value_size(variable) *
                         (uint64_t)variable->components);
        }
    }
}

/* Decode; what comes out must encode to the very same body. */
static int try_manifest(void *context, const uint8_t *data, size_t bytes)
{
    struct bm_error error = {0}, usual = {0};
    struct bm_schema schema;
    struct bm_manifest m;
    int rc;

    (void)context;
    bm_schema_init(&schema, bm_allocator_default(), &usual);
    bm_manifest_init(&m, bm_allocator_default(), &schema, &usual);
    rc = bm_manifest_decode(&m, data, bytes, id, "file", &error);
    if (rc) {
        check_refusal(rc, &error, "file: ");
    } else {
        struct bm_buffer b;

        check_consistent(&m);
        bm_buffer_init(&b, bm_allocator_default());
        bm_manifest_encode(&b, &m, id);
        check_body(&b, data, bytes);
        bm_buffer_release(&b);
    }
    bm_manifest_release(&m);
    bm_schema_release(&schema);
    return rc;
}

static void a_manifest_goes_through_its_bytes(void)
{
    struct bm_error error = {0};
    struct bm_schema was_schema, is_schema;
    struct bm_manifest was, is;
    struct bm_buffer b;

    encode_sample(&b);
    CHECK_EQ(try_manifest(NULL, b.data, b.size), BOUMA_OK);
    build_schema(&was_schema, &error);
    build_manifest(&was, &was_schema, &error);
    bm_schema_init(&is_schema, bm_allocator_default(), &error);
    bm_manifest_init(&is, bm_allocator_default(), &is_schema, &error);
    REQUIRE(!bm_manifest_decode(&is, b.data, b.size, NULL, "file", &error));
    CHECK(is.step == 42 && is.time == 0.125 && is.nonce == 0x1234);
    CHECK(is.generation.epoch == 3 && is.generation.attempt == 2);
    CHECK(is.order == BOUMA_ORDER_LEVEL &&
          is.distribute == BOUMA_DISTRIBUTE_GREEDY &&
          is.assign == BOUMA_ASSIGN_RUNNING && is.place == BOUMA_PLACE_FIRST);
    CHECK(!memcmp(&is.record, &was.record, sizeof(is.record)));
    CHECK(is.attributes.count == 4 && is.dataset_attributes.count == 4);
    CHECK(is.attributes.fixed);
    REQUIRE(is.count == SUBFILES);
    for (int f = 0; f < SUBFILES; f++) {
        const struct bm_subfile_info *x = &is.subfiles[f],
                                     *y = &was.subfiles[f];

        CHECK_EQ(x->file_bytes, y->file_bytes);
        CHECK_EQ(x->head_bytes, y->head_bytes);
        CHECK(!memcmp(x->head_hash, y->head_hash, 16));
        REQUIRE(x->count == y->count);
        for (size_t k = 0; k < x->count; k++) {
            CHECK_EQ(x->parts[k].variable, y->parts[k].variable);
            CHECK_EQ(x->parts[k].chunks, y->parts[k].chunks);
            CHECK(!memcmp(x->parts[k].level_bytes, y->parts[k].level_bytes,
                          sizeof(x->parts[k].level_bytes)));
            CHECK(!memcmp(&x->parts[k].loss, &y->parts[k].loss,
                          sizeof(x->parts[k].loss)));
            CHECK(!memcmp(&x->parts[k].bounds, &y->parts[k].bounds,
                          sizeof(struct bm_box)));
        }
    }
    bm_manifest_release(&was);
    bm_manifest_release(&is);
    bm_schema_release(&was_schema);
    bm_schema_release(&is_schema);
    bm_buffer_release(&b);
}

/* What the manifest says of a subfile is what its head holds. */
static void a_subfile_is_summed_up(void)
{
    struct bm_error error = {0};
    struct bm_schema schema;
    uint8_t hash[16] = {1};
    struct bm_subfile_info info;
    struct bm_head h;

    build_schema(&schema, &error);
    build_head(&h, &schema, 1, 2, BOUMA_ORDER_CHUNK);
    REQUIRE(!bm_subfile_info_of(&info, &h, hash, bm_allocator_default()));
    REQUIRE(info.count == h.count);
    for (size_t i = 0; i < info.count; i++) {
        const struct bm_section *s = &h.sections[i];
        const struct bm_tiling *t = bm_tiling_of(s->variable->object);
        uint64_t stored[BM_MAX_LEVELS] = {0};

        CHECK_EQ(info.parts[i].chunks, s->count);
        for (size_t k = 0; k < s->count * (size_t)s->levels; k++)
            stored[k % (size_t)s->levels] += s->sizes[k];
        CHECK(!memcmp(info.parts[i].level_bytes, stored, sizeof(stored)));
        for (size_t k = 0; k < s->count; k++) {
            struct bm_box box =
                bm_tiling_patch_box(t, bm_tiling_find(t, s->keys[k]));

            CHECK(bm_box_inside(&box, &info.parts[i].bounds));
            for (int j = 0; j < s->variable->components; j++) {
                const struct bm_range *all = &info.parts[i].ranges[j];
                const struct bm_range *one =
                    &s->ranges[k * (size_t)s->variable->components + (size_t)j];

                CHECK(bm_scalar_double(all->low, s->variable->type) <=
                          bm_scalar_double(one->low, s->variable->type) ||
                      !one->count);
                CHECK(bm_scalar_double(all->high, s->variable->type) >=
                          bm_scalar_double(one->high, s->variable->type) ||
                      !one->count);
            }
        }
    }
    bm_subfile_info_release(&info, bm_allocator_default());
    bm_head_release(&h);
    bm_schema_release(&schema);
}

static void damage_is_found_by_the_checksum(void)
{
    struct damage_counts n;
    struct bm_buffer b;

    encode_sample(&b);
    n = hurt_bytes(try_manifest, NULL, b.data, b.size, 0);
    CHECK_EQ(n.accepted, 0);
    n = cut_bytes(try_manifest, NULL, b.data, b.size, 0);
    CHECK_EQ(n.accepted, 0);
    bm_buffer_release(&b);
}

static void mended_damage_is_refused_or_consistent(void)
{
    struct bm_buffer b;

    encode_sample(&b);
    check_damage(try_manifest, NULL, &b, 1, 37, 4000);
    bm_buffer_release(&b);
}

/* The bytes of a manifest that is not right. */
static void check_refused(const struct bm_manifest *m)
{
    struct bm_buffer b;

    bm_buffer_init(&b, bm_allocator_default());
    bm_manifest_encode(&b, m, id);
    CHECK_EQ(try_manifest(NULL, b.data, b.size), BOUMA_EFORMAT);
    bm_buffer_release(&b);
}

/* A manifest lists every patch of a variable or none. */
static void a_missing_patch_is_found(void)
{
    struct bm_error error = {0};
    struct bm_schema schema;
    struct bm_manifest m;

    build_schema(&schema, &error);
    build_manifest(&m, &schema, &error);
    CHECK_EQ(bm_manifest_total(&m), BOUMA_OK);
    m.subfiles[1].parts[0].chunks--;
    CHECK_EQ(bm_manifest_total(&m), BOUMA_EFORMAT);
    check_refused(&m);
    m.subfiles[1].parts[0].chunks++;
    m.subfiles[1].parts[0].ranges[0].count++;
    CHECK_EQ(bm_manifest_total(&m), BOUMA_EFORMAT);
    bm_manifest_release(&m);
    bm_schema_release(&schema);
}

static void parts_out_of_order_are_refused(void)
{
    struct bm_error error = {0};
    struct bm_schema schema;
    struct bm_manifest m;
    struct bm_part_info one;

    build_schema(&schema, &error);
    build_manifest(&m, &schema, &error);
    one = m.subfiles[0].parts[0];
    m.subfiles[0].parts[0] = m.subfiles[0].parts[1];
    m.subfiles[0].parts[1] = one;
    check_refused(&m);
    bm_manifest_release(&m);
    bm_schema_release(&schema);
}

/* Counts of samples that only add up because the sum wraps around. */
static void counts_that_wrap_around_are_refused(void)
{
    struct bm_error error = {0};
    struct bm_schema schema;
    struct bm_manifest m;

    build_schema(&schema, &error);
    build_manifest(&m, &schema, &error);
    m.subfiles[0].parts[0].ranges[0].count += (uint64_t)1 << 63;
    m.subfiles[1].parts[0].ranges[0].count += (uint64_t)1 << 63;
    check_refused(&m);
    bm_manifest_release(&m);
    bm_schema_release(&schema);
}

int main(void)
{
    a_manifest_goes_through_its_bytes();
    a_subfile_is_summed_up();
    damage_is_found_by_the_checksum();
    mended_damage_is_refused_or_consistent();
    a_missing_patch_is_found();
    parts_out_of_order_are_refused();
    counts_that_wrap_around_are_refused();
    return check_result();
}
