/* Stored offsets: the table of a subfile says where each chunk level lies. What
 * goes through the bytes, what it costs, and all lies about offsets. */
#include "layout/chunk_offsets.h"
#include "layout/particle_summary.h"

#include "check.h"
#include "fault_alloc.h"
#include "head_trial.h"

static const bouma_order orders[2] = {BOUMA_ORDER_LEVEL, BOUMA_ORDER_CHUNK};

enum { MOST = 4096, FAR_AWAY = 100000 };

/* ---- sample offsets ----------------------------------------------------- */

/* Short patches with many levels: most have nothing at the coarse ones. */
static void build_sparse_schema(struct bm_schema *s, struct bm_error *error)
{
    bouma_grid_spec line = {.size = sizeof(line),
                            .ndims = 1,
                            .shape = {31},
                            .patch = {2},
                            .levels = 2};
    bouma_grid_spec plane = {.size = sizeof(plane),
                             .ndims = 2,
                             .shape = {7, 30},
                             .patch = {1, 8},
                             .levels = 4};
    bouma_variable_spec raw = {
        .size = sizeof(raw), .type = BOUMA_TYPE_F64, .codec = BOUMA_CODEC_RAW};
    struct bm_object *g;
    struct bouma_variable *v;

    bm_schema_init(s, bm_allocator_default(), error);
    REQUIRE(!bm_schema_add_grid(s, &g, "line", &line));
    REQUIRE(!bm_schema_add_variable(g, &v, "a", &raw));
    REQUIRE(!bm_schema_add_grid(s, &g, "plane", &plane));
    REQUIRE(!bm_schema_add_variable(g, &v, "a", &raw));
    REQUIRE(!bm_schema_add_variable(g, &v, "b", &raw));
    REQUIRE(!bm_schema_number(s));
}

struct stretch {
    uint64_t *offset; /* of the table */
    uint64_t bytes;
};

/* The levels that have bytes. */
static size_t list_levels(const struct bm_head *h, struct stretch *out)
{
    size_t n = 0;

    for (size_t i = 0; i < h->count; i++) {
        const struct bm_section *s = &h->sections[i];

        for (size_t k = 0; k < s->count * (size_t)s->levels; k++)
            if (s->sizes[k])
                out[n++] = (struct stretch){&s->offsets[k], s->sizes[k]};
    }
    REQUIRE(n <= MOST);
    return n;
}

/* As a writer does it that does not know the sizes yet: room for any head, then
 * the levels in no order, with gaps, and the last one far away. */
static void choose_offsets(struct bm_head *h, const struct bm_schema *schema)
{
    static struct stretch all[MOST];
    size_t n = list_levels(h, all);
    uint64_t state = 7, at, bound;

    h->has_offsets = 1;
    REQUIRE(!bm_head_bound(&bound, h, schema, (uint64_t)1 << 40));
    h->data_offset = at = (bound + 63) / 64 * 64;
    for (; n; n--) {
        size_t pick = (size_t)check_below(&state, (int64_t)n);

        at += check_below(&state, 3) ? 0 : (uint64_t)check_below(&state, 500);
        at += n == 1 ? FAR_AWAY : 0;
        *all[pick].offset = at;
        at += all[pick].bytes;
        all[pick] = all[n - 1];
    }
    h->data_bytes = at - h->data_offset + 3;
    REQUIRE(!bm_head_arrange(h, schema));
}

static int by_offset(const void *left, const void *right)
{
    const struct stretch *a = left, *b = right;

    return *a->offset < *b->offset ? -1 : *a->offset > *b->offset;
}

/* What a reader relies on. */
static void check_offsets(const struct bm_head *h)
{
    static struct stretch all[MOST];
    size_t n = list_levels(h, all);
    uint64_t at = h->data_offset;

    qsort(all, n, sizeof(all[0]), by_offset);
    for (size_t i = 0; i < n; i++) {
        CHECK(*all[i].offset >= at);
        at = *all[i].offset + all[i].bytes;
    }
    CHECK(at <= h->data_offset + h->data_bytes);
    CHECK_EQ(h->file_bytes, h->data_offset + h->data_bytes + h->head_bytes);
    CHECK_EQ(h->data_offset % 64, 0);
    CHECK(h->data_offset >= h->head_bytes);
    CHECK(h->data_offset <= 4 * h->head_bytes + (1 << 20));
}

/* ---- bytes -------------------------------------------------------------- */

/* Encode a head, whatever it says, and decode it again. */
static int through_bytes(const struct bm_head *h,
                         const struct bm_schema *schema)
{
    struct head_trial t = {schema, h->file_bytes, check_offsets};
    struct bm_buffer b;
    int rc;

    head_bytes(&b, h, schema);
    rc = try_head(&t, b.data, b.size);
    bm_buffer_release(&b);
    return rc;
}

static void check_round_trip(const struct bm_schema *schema, bouma_order order)
{
    struct bm_error error = {0};
    struct bm_head_bytes from;
    struct bm_head was, is;
    struct bm_buffer b;

    build_head(&was, schema, 1, 3, order);
    choose_offsets(&was, schema);
    check_offsets(&was);
    CHECK_EQ(through_bytes(&was, schema), BOUMA_OK);
    head_bytes(&b, &was, schema);
    bm_head_init(&is, bm_allocator_default());
    from = (struct bm_head_bytes){b.data,  b.size, was.file_bytes,
                                  head_id, "file", NULL};
    REQUIRE(!bm_head_decode(&is, schema, NULL, &from, &error));
    CHECK(is.has_offsets == 1 && is.data_offset == was.data_offset &&
          is.data_bytes == was.data_bytes && is.count == was.count);
    for (size_t k = 0; k < is.count; k++)
        CHECK(
            !memcmp(is.sections[k].offsets, was.sections[k].offsets,
                    is.sections[k].count * (size_t)is.sections[k].levels * 8));
    bm_head_release(&was);
    bm_head_release(&is);
    bm_buffer_release(&b);
}

static void offsets_go_through_the_bytes(void)
{
    struct bm_error error = {0};
    struct bm_schema schema, sparse;

    build_schema(&schema, &error);
    build_sparse_schema(&sparse, &error);
    for (int i = 0; i < 2; i++) {
        check_round_trip(&schema, orders[i]);
        check_round_trip(&sparse, orders[i]);
    }
    bm_schema_release(&schema);
    bm_schema_release(&sparse);
}

/* Levels of no bytes lie behind the one before them, whatever the writer said,
 * and cost nothing. */
static void levels_of_no_bytes_have_one_offset(void)
{
    static struct stretch all[MOST];
    struct bm_error error = {0};
    struct bm_schema schema;

    build_sparse_schema(&schema, &error);
    for (int i = 0; i < 2; i++) {
        struct bm_head h;
        size_t empty = 0;
        uint64_t bytes;

        build_head(&h, &schema, 0, 1, orders[i]);
        choose_offsets(&h, &schema);
        bytes = h.head_bytes;
        for (size_t k = 0; k < h.count; k++) {
            struct bm_section *s = &h.sections[k];

            for (size_t n = 0; n < s->count * (size_t)s->levels; n++)
                if (!s->sizes[n]) {
                    CHECK(s->offsets[n] >= h.data_offset);
                    CHECK(s->offsets[n] <= h.data_offset + h.data_bytes);
                    s->offsets[n] = n % 2 ? 0 : UINT64_MAX;
                    empty++;
                }
        }
        CHECK(empty > 20 && list_levels(&h, all) > 20);
        CHECK_EQ(bm_head_arrange(&h, &schema), BOUMA_OK);
        CHECK_EQ(h.head_bytes, bytes);
        CHECK_EQ(through_bytes(&h, &schema), BOUMA_OK);
        bm_head_release(&h);
    }
    bm_schema_release(&schema);
}

static void a_subfile_with_offsets_may_be_empty(void)
{
    struct bm_error error = {0};
    struct bm_schema schema;
    struct bm_head h;

    build_schema(&schema, &error);
    build_head(&h, &schema, 1000, 1001, BOUMA_ORDER_LEVEL);
    CHECK_EQ(h.count, 0);
    choose_offsets(&h, &schema);
    h.data_bytes = 0;
    REQUIRE(!bm_head_arrange(&h, &schema));
    CHECK_EQ(through_bytes(&h, &schema), BOUMA_OK);
    bm_head_release(&h);
    bm_schema_release(&schema);
}

static void hurt_offsets_are_refused_or_consistent(void)
{
    struct bm_error error = {0};
    struct bm_schema schema;
    struct damage_counts n;
    struct bm_buffer b;
    struct bm_head h;
    struct head_trial t;

    build_schema(&schema, &error);
    build_head(&h, &schema, 1, 3, BOUMA_ORDER_CHUNK);
    choose_offsets(&h, &schema);
    head_bytes(&b, &h, &schema);
    t = (struct head_trial){&schema, h.file_bytes, check_offsets};
    n = hurt_bytes(try_head, &t, b.data, b.size, 0);
    CHECK_EQ(n.accepted, 0);
    check_damage(try_head, &t, &b, 1, 36, 4000);
    bm_buffer_release(&b);
    bm_head_release(&h);
    bm_schema_release(&schema);
}

/* ---- lies --------------------------------------------------------------- */

/* The levels with the lowest and the highest offset, and the second one. */
struct ends {
    struct stretch first, second, last;
};

static struct ends find_ends(const struct bm_head *h)
{
    static struct stretch all[MOST];
    size_t n = list_levels(h, all);

    REQUIRE(n > 2);
    qsort(all, n, sizeof(all[0]), by_offset);
    return (struct ends){all[0], all[1], all[n - 1]};
}

enum lie {
    TRUTH,
    TOUCHING, /* still the truth */
    AT_THE_END,
    OVERLAP,
    SAME_OFFSET,
    INSIDE_ANOTHER,
    BEFORE_THE_DATA,
    BEHIND_THE_DATA,
    FAR_BEHIND,
    WRAPPED_AROUND,
    TOO_FEW_BYTES,
    TOO_MANY_BYTES,
    LIES
};

static void tell(struct bm_head *h, enum lie lie)
{
    struct ends e = find_ends(h);
    uint64_t end = h->data_offset + h->data_bytes;

    switch (lie) {
    case TOUCHING:
        *e.second.offset = h->data_offset + FAR_AWAY;
        *e.last.offset = *e.second.offset + e.second.bytes;
        break;
    case AT_THE_END:
        *e.last.offset = end - e.last.bytes;
        break;
    case OVERLAP:
        *e.last.offset = *e.first.offset + e.first.bytes - 1;
        break;
    case SAME_OFFSET:
        *e.last.offset = *e.first.offset;
        break;
    case INSIDE_ANOTHER: /* a long one that begins before all others */
        *e.first.offset = h->data_offset;
        *e.last.offset = h->data_offset + e.first.bytes / 2;
        break;
    case BEFORE_THE_DATA:
        *e.last.offset = h->data_offset - e.last.bytes;
        break;
    case BEHIND_THE_DATA:
        *e.last.offset = end - e.last.bytes + 1;
        break;
    case FAR_BEHIND:
        *e.last.offset = (uint64_t)1 << 62;
        break;
    case WRAPPED_AROUND:
        *e.last.offset = UINT64_MAX - e.last.bytes / 2;
        break;
    case TOO_FEW_BYTES:
        h->data_bytes = *e.last.offset + e.last.bytes - h->data_offset - 1;
        break;
    case TOO_MANY_BYTES:
        h->data_bytes = BM_MAX_DATA_BYTES + 1;
        break;
    default:
        break;
    }
}

static void lies_about_offsets_are_refused(void)
{
    struct bm_error error = {0};
    struct bm_schema schema;

    build_schema(&schema, &error);
    for (int i = 0; i < 2; i++)
        for (int lie = TRUTH; lie < LIES; lie++) {
            struct bm_head h;
            int rc;

            build_head(&h, &schema, 0, 2, orders[i]);
            choose_offsets(&h, &schema);
            tell(&h, (enum lie)lie);
            rc = bm_head_arrange(&h, &schema);
            CHECK_EQ(rc, lie == TOO_MANY_BYTES ? BOUMA_EFORMAT : BOUMA_OK);
            rc = through_bytes(&h, &schema);
            CHECK_EQ(rc, lie < OVERLAP ? BOUMA_OK : BOUMA_EFORMAT);
            if (rc != (lie < OVERLAP ? BOUMA_OK : BOUMA_EFORMAT))
                printf("which was lie %d\n", lie);
            bm_head_release(&h);
        }
    bm_schema_release(&schema);
}

/* The data begin where the head has room, not far behind it, and aligned. */
static void the_head_must_fit(void)
{
    struct bm_error error = {0};
    struct bm_schema schema;
    struct bm_head h;
    uint64_t least, most;

    build_schema(&schema, &error);
    build_head(&h, &schema, 0, 1, BOUMA_ORDER_LEVEL);
    choose_offsets(&h, &schema);
    least = (h.head_bytes + 63) / 64 * 64;
    most = (4 * h.head_bytes + (1 << 20)) / 64 * 64;
    for (int i = 0; i < 6; i++) {
        const uint64_t begins[6] = {least,     most,      least - 64,
                                    most + 64, least + 1, least + 32};
        uint64_t moved = begins[i] - h.data_offset;
        int right = i < 2 ? BOUMA_OK : BOUMA_EFORMAT;

        for (size_t k = 0; k < h.count; k++)
            for (size_t n = 0;
                 n < h.sections[k].count * (size_t)h.sections[k].levels; n++)
                h.sections[k].offsets[n] += moved;
        h.data_offset = begins[i];
        CHECK_EQ(bm_head_arrange(&h, &schema), right);
        CHECK_EQ(through_bytes(&h, &schema), right);
    }
    bm_head_release(&h);
    bm_schema_release(&schema);
}

static void another_kind_of_offsets_is_refused(void)
{
    struct bm_error error = {0};
    struct bm_schema schema;
    struct bm_buffer b;
    struct bm_head h;
    struct head_trial t;

    build_schema(&schema, &error);
    build_head(&h, &schema, 0, 1, BOUMA_ORDER_LEVEL);
    choose_offsets(&h, &schema);
    head_bytes(&b, &h, &schema);
    t = (struct head_trial){&schema, h.file_bytes, check_offsets};
    for (uint32_t kind = 0; kind < 8; kind++) {
        bm_store_u32(b.data + ENVELOPE_BYTES + 36, kind);
        mend_envelope(b.data, b.size);
        /* 2 and 3 have a writing that was added to, which is not there. Kinds
         * beyond ours are those of a newer version. */
        CHECK_EQ(try_head(&t, b.data, b.size), kind == 1  ? BOUMA_OK
                                               : kind < 4 ? BOUMA_EFORMAT
                                                          : BOUMA_EVERSION);
    }
    bm_buffer_release(&b);
    bm_head_release(&h);
    bm_schema_release(&schema);
}

/* One particle: its position is one chunk. */
static void build_particles(struct bm_schema *schema, struct bm_head *h,
                            struct bm_error *error)
{
    bouma_particles_spec spec = {.size = sizeof(spec), .ndims = 1};
    struct bouma_particles *set;
    struct bm_section *s;
    uint64_t values[BM_MAX_LEVELS];

    bm_schema_init(schema, bm_allocator_default(), error);
    REQUIRE(!bm_schema_add_particles(schema, &set, "one", &spec));
    REQUIRE(!bm_schema_number(schema));
    bm_head_init(h, bm_allocator_default());
    h->subfiles = 1;
    h->order = BOUMA_ORDER_LEVEL;
    REQUIRE(!bm_summaries_add(&h->summaries, schema->objects[0]));
    bm_particle_summary_of(h->summaries.entries[0])->count = 1;
    bm_particle_summary_of(h->summaries.entries[0])->tree_bytes = 5;
    REQUIRE(!bm_head_add_section(h, schema->by_id[0], 1));
    s = &h->sections[0];
    s->ranges[0].count = bm_section_values(s, 0, values);
    for (int k = 0; k < s->levels; k++)
        s->sizes[k] = (uint32_t)values[k] *
                      (uint32_t)bm_variable_sample_size(schema->by_id[0]);
    REQUIRE(!bm_head_arrange(h, schema));
}

static void particles_have_no_offsets(void)
{
    struct bm_error error = {0};
    struct bm_schema schema;
    struct bm_head h;
    uint64_t file_bytes;

    build_particles(&schema, &h, &error);
    CHECK_EQ(through_bytes(&h, &schema), BOUMA_OK);
    file_bytes = h.file_bytes;
    h.has_offsets = 1;
    h.data_offset += 64;
    h.sections[0].offsets[0] += 64;
    CHECK_EQ(bm_head_arrange(&h, &schema), BOUMA_EFORMAT);
    CHECK(h.file_bytes > file_bytes);
    CHECK_EQ(through_bytes(&h, &schema), BOUMA_EFORMAT);
    bm_head_release(&h);
    bm_schema_release(&schema);
}

/* ---- memory ------------------------------------------------------------- */

static void each_failed_allocation_is_told(void)
{
    struct bm_error error = {0};
    struct bm_schema schema;
    struct bm_buffer b;
    struct bm_head h;
    struct bm_head_bytes from;
    struct fault_alloc memory;
    int rc = BOUMA_ENOMEM, calls = 0;

    fault_alloc_init(&memory);
    build_schema(&schema, &error);
    build_head(&h, &schema, 0, 1, BOUMA_ORDER_LEVEL);
    choose_offsets(&h, &schema);
    head_bytes(&b, &h, &schema);
    from = (struct bm_head_bytes){b.data,  b.size, h.file_bytes,
                                  head_id, "file", NULL};
    bm_head_release(&h);
    for (; rc && calls < 1000; calls++) {
        fault_alloc_arm(&memory, calls + 1, 1);
        bm_head_init(&h, &memory.table);
        rc = bm_head_decode(&h, &schema, NULL, &from, &error);
        CHECK(rc == BOUMA_OK || rc == BOUMA_ENOMEM);
        bm_head_release(&h);
        CHECK_EQ(memory.live, 0);
    }
    CHECK(calls > 20 && calls < 1000);
    bm_buffer_release(&b);
    bm_schema_release(&schema);
}

/* ---- cost --------------------------------------------------------------- */

/* Levels one behind the other cost a byte each, and a little more where another
 * section comes between. */
static void a_regular_layout_costs_a_byte_a_level(void)
{
    static struct stretch all[MOST];
    struct bm_error error = {0};
    struct bm_schema schema;

    build_schema(&schema, &error);
    for (int i = 0; i < 2; i++) {
        struct bm_head h;
        uint64_t plain, moved, breaks = 0;

        build_head(&h, &schema, 0, 1, orders[i]);
        plain = h.head_bytes;
        moved = 4 * plain / 64 * 64 - h.data_offset;
        h.has_offsets = 1;
        h.data_offset += moved;
        for (size_t k = 0; k < h.count; k++) {
            const struct bm_section *s = &h.sections[k];

            breaks += i ? 1 : (uint64_t)s->levels;
            for (size_t n = 0; n < s->count * (size_t)s->levels; n++)
                s->offsets[n] += moved;
        }
        REQUIRE(!bm_head_arrange(&h, &schema));
        CHECK(h.head_bytes >= plain + 8 + list_levels(&h, all));
        CHECK(h.head_bytes <= plain + 8 + list_levels(&h, all) + 2 * breaks);
        CHECK_EQ(through_bytes(&h, &schema), BOUMA_OK);
        bm_head_release(&h);
    }
    bm_schema_release(&schema);
}

/* The largest sizes, each as far as can be from the one before it; and the
 * smallest, for which most room is left over. */
static void no_head_is_larger_than_its_bound(void)
{
    struct bm_error error = {0};
    struct bm_schema schema;

    build_schema(&schema, &error);
    for (int bits = 33; bits < 61; bits += 2)
        for (int small = 0; small < 2; small++) {
            uint64_t data_bytes = (uint64_t)3 << (bits - 1), bound;
            struct bm_head h;

            build_head(&h, &schema, 0, 1, BOUMA_ORDER_CHUNK);
            h.has_offsets = 1;
            REQUIRE(!bm_head_bound(&bound, &h, &schema, data_bytes));
            h.data_offset = (bound + 63) / 64 * 64;
            h.data_bytes = data_bytes;
            for (size_t k = 0; k < h.count; k++) {
                const struct bm_section *s = &h.sections[k];

                for (size_t n = 0; n < s->count * (size_t)s->levels; n++) {
                    s->sizes[n] = small ? 0 : UINT32_MAX;
                    s->offsets[n] =
                        h.data_offset + (n % 2 ? data_bytes - UINT32_MAX : 0);
                }
            }
            CHECK_EQ(bm_head_arrange(&h, &schema), BOUMA_OK);
            CHECK(h.head_bytes <= bound);
            CHECK(small || h.head_bytes + h.head_bytes / 4 > bound);
            h.data_offset += 1 << 20;
            CHECK_EQ(bm_head_arrange(&h, &schema), BOUMA_OK);
            bm_head_release(&h);
        }
    bm_schema_release(&schema);
}

int main(void)
{
    offsets_go_through_the_bytes();
    levels_of_no_bytes_have_one_offset();
    a_subfile_with_offsets_may_be_empty();
    hurt_offsets_are_refused_or_consistent();
    lies_about_offsets_are_refused();
    the_head_must_fit();
    another_kind_of_offsets_is_refused();
    particles_have_no_offsets();
    each_failed_allocation_is_told();
    a_regular_layout_costs_a_byte_a_level();
    no_head_is_larger_than_its_bound();
    return check_result();
}
