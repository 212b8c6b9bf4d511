/* test_damage_offsets.c -- a subfile whose table has the offsets of its chunks:
 * each byte that means anything is checked, a lost head is taken from the other
 * end, and a lost manifest is made anew. */
#include <unistd.h>

#include "../golden/golden_offsets.h"
#include "../helpers/arrays.h"
#include "../helpers/check.h"
#include "../helpers/files.h"
#include "bouma.h"
#include "layout/head.h"

enum { ROWS = 21, COLUMNS = 18, SAMPLES = ROWS * COLUMNS, ROOM = 1 << 16 };

struct world {
    char base[64], path[128], subfile[160], manifest[160];
    uint8_t bytes[ROOM]; /* of the subfile, as it should be */
    size_t size, head_bytes;
    uint8_t means[ROOM]; /* 1: this byte is checked */
};

static float value_of(int i)
{
    return (float)(i * 37 % 1000) / 8;
}

static void write_dataset(const struct world *w, bouma_order order)
{
    bouma_grid_spec grid = {.size = sizeof(grid),
                            .ndims = 2,
                            .shape = {ROWS, COLUMNS},
                            .patch = {4, 8},
                            .levels = 4};
    bouma_variable_spec spec = {
        .size = sizeof(spec), .type = BOUMA_TYPE_F32, .codec = BOUMA_CODEC_RAW};
    bouma_box box = {{0, 0, 0}, {ROWS, COLUMNS, 0}};
    float values[SAMPLES];
    bouma_options options = {.size = sizeof(options)};
    bouma_dataset *ds;
    bouma_grid *g;
    bouma_variable *v;

    for (int i = 0; i < SAMPLES; i++)
        values[i] = value_of(i);
    options.durability = BOUMA_DURABILITY_FAST;
    options.order = order;
    REQUIRE(!bouma_dataset_create(&ds, w->path, &options));
    REQUIRE(!bouma_grid_define(&g, ds, "plane", &grid));
    REQUIRE(!bouma_variable_define(&v, g, "v", &spec));
    REQUIRE(!bouma_step_begin(ds, 0, 0));
    REQUIRE(!test_put(v, &box, values));
    REQUIRE(!bouma_step_end(ds));
    REQUIRE(!bouma_dataset_close(ds));
    bouma_dataset_free(ds);
    REQUIRE(!golden_store_offsets(w->path, 0));
}

/* Which bytes of the file are there for something. */
static void know_bytes(struct world *w)
{
    struct bm_head_bytes from = {w->bytes, 0, w->size, NULL, "subfile", NULL};
    struct bm_error error = {0};
    struct bm_schema schema;
    struct bm_head h;

    w->head_bytes = 64 + (size_t)bm_load_u64(w->bytes + 16);
    from.bytes = w->head_bytes;
    bm_schema_init(&schema, bm_allocator_default(), &error);
    bm_head_init(&h, bm_allocator_default());
    REQUIRE(!bm_head_decode(&h, NULL, &schema, &from, &error));
    REQUIRE(h.has_offsets && h.head_bytes == w->head_bytes);
    memset(w->means, 1, w->size);
    memset(w->means + h.data_offset, 0, h.data_bytes);
    for (size_t i = 0; i < h.sections[0].count * 4; i++)
        memset(w->means + h.sections[0].offsets[i], 1, h.sections[0].sizes[i]);
    bm_head_release(&h);
    bm_schema_release(&schema);
}

static void begin(struct world *w, bouma_order order)
{
    FILE *f;

    snprintf(w->base, sizeof(w->base), "/tmp/bouma-offsets-XXXXXX");
    REQUIRE(mkdtemp(w->base));
    snprintf(w->path, sizeof(w->path), "%s/set.bouma", w->base);
    snprintf(w->subfile, sizeof(w->subfile), "%s/steps/00000000/d.0000.e1a1",
             w->path);
    snprintf(w->manifest, sizeof(w->manifest), "%s/steps/00000000/manifest",
             w->path);
    write_dataset(w, order);
    f = fopen(w->subfile, "rb");
    REQUIRE(f);
    w->size = fread(w->bytes, 1, ROOM, f);
    REQUIRE(w->size < ROOM);
    fclose(f);
    know_bytes(w);
}

static void end(struct world *w)
{
    remove_tree(w->base);
}

/* ---- what is seen ------------------------------------------------------- */

/* The subfile with 'count' bytes from 'at' on turned over. */
static void spoil(const struct world *w, size_t at, size_t count)
{
    FILE *f = fopen(w->subfile, "r+b");

    REQUIRE(f);
    REQUIRE(!fseek(f, (long)at, SEEK_SET));
    for (size_t i = 0; i < count; i++)
        REQUIRE(fputc(w->bytes[at + i] ^ 0xff, f) != EOF);
    REQUIRE(!fclose(f));
}

static void restore(const struct world *w)
{
    FILE *f = fopen(w->subfile, "wb");

    REQUIRE(f && fwrite(w->bytes, 1, w->size, f) == w->size);
    REQUIRE(!fclose(f));
}

static int is_as_before(const struct world *w)
{
    static uint8_t now[ROOM];
    FILE *f = fopen(w->subfile, "rb");
    size_t n = f ? fread(now, 1, ROOM, f) : 0;

    if (f)
        fclose(f);
    return n == w->size && !memcmp(now, w->bytes, n);
}

static uint64_t damages(const struct world *w, bouma_depth depth)
{
    bouma_verify_report report = {.size = sizeof(report)};

    CHECK_EQ(bouma_verify(&report, w->path, depth, NULL, NULL, NULL, NULL, 0),
             BOUMA_OK);
    return report.damages;
}

/* Whether all levels read as they were written. */
static int reads_right(const struct world *w)
{
    float got[SAMPLES];
    bouma_dataset *ds;
    bouma_step *step;
    int good = 1;

    REQUIRE(!bouma_dataset_open(&ds, w->path, NULL));
    REQUIRE(!bouma_step_open(&step, ds, 0));
    for (int level = 0; level < 4 && good; level++) {
        bouma_variable *v =
            bouma_grid_find_variable(bouma_step_find_grid(step, "plane"), "v");
        bouma_selection sel = {.size = sizeof(sel)};

        REQUIRE(!bouma_variable_select(&sel, v, level, NULL));
        good = !test_read(v, level, NULL, got);
        for (int64_t y = 0; y < sel.shape[0] && good; y++)
            for (int64_t x = 0; x < sel.shape[1] && good; x++) {
                float right = value_of((int)((y * COLUMNS + x) << level));

                good = !memcmp(&got[y * sel.shape[1] + x], &right, 4);
            }
    }
    bouma_step_free(step);
    bouma_dataset_free(ds);
    return good;
}

/* ---- claims ------------------------------------------------------------- */

/* Heads, the zeros behind the first one, and levels; not what lies between. */
static void verify_checks_just_what_means_something(struct world *w)
{
    size_t gaps = 0;

    CHECK_EQ(damages(w, BOUMA_DEPTH_DEEP), 0);
    CHECK(reads_right(w));
    for (size_t at = 0; at < w->size; at += 3) {
        /* Of the gaps, which are long, some bytes will do. */
        if (!w->means[at] && gaps++ % 16)
            continue;
        spoil(w, at, 1);
        CHECK_EQ(damages(w, BOUMA_DEPTH_FULL) > 0, w->means[at]);
        if (!w->means[at])
            CHECK(reads_right(w));
        restore(w);
    }
    CHECK(gaps > 1000);
}

static void repair(const struct world *w, uint64_t actions)
{
    bouma_repair_report report = {.size = sizeof(report)};
    char message[512];

    CHECK_EQ(bouma_repair(&report, w->path, 1, NULL, NULL, NULL, message,
                          sizeof(message)),
             BOUMA_OK);
    CHECK_EQ(report.actions, actions);
    CHECK_EQ(report.hopeless, 0);
}

static void a_lost_head_is_taken_from_the_other_end(struct world *w)
{
    for (int back = 0; back < 2; back++) {
        spoil(w, back ? w->size - w->head_bytes : 0, w->head_bytes);
        CHECK(damages(w, BOUMA_DEPTH_META) > 0);
        CHECK(reads_right(w));
        repair(w, 1);
        CHECK(is_as_before(w));
        CHECK_EQ(damages(w, BOUMA_DEPTH_DEEP), 0);
    }
}

static void a_lost_manifest_is_made_anew(struct world *w)
{
    bouma_repair_report report = {.size = sizeof(report)};

    CHECK(!remove(w->manifest));
    CHECK_EQ(bouma_repair(&report, w->path, 1, NULL, NULL, NULL, NULL, 0),
             BOUMA_OK);
    CHECK(report.actions > 0);
    CHECK_EQ(report.hopeless, 1); /* attributes, if it had any */
    CHECK(is_as_before(w));
    CHECK(reads_right(w));
    CHECK_EQ(damages(w, BOUMA_DEPTH_DEEP), 1);
    CHECK_EQ(
        bouma_repair_forget(&report, w->path, -1, 1, NULL, NULL, NULL, NULL, 0),
        BOUMA_OK);
    CHECK_EQ(damages(w, BOUMA_DEPTH_DEEP), 0);
}

int main(void)
{
    static const bouma_order orders[2] = {BOUMA_ORDER_LEVEL, BOUMA_ORDER_CHUNK};
    static struct world w;

    for (int i = 0; i < 2; i++) {
        begin(&w, orders[i]);
        verify_checks_just_what_means_something(&w);
        a_lost_head_is_taken_from_the_other_end(&w);
        a_lost_manifest_is_made_anew(&w);
        end(&w);
    }
    return check_result();
}
