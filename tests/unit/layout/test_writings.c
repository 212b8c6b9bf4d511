/* The manifest of a step that was extended: its bytes, and what is no such
 * manifest, whatever its checksum says. */
#include "layout/writings.h"

#include "bouma.h"
#include "check.h"
#include "damage.h"
#include "files.h"
#include "must.h"

#include <unistd.h>

enum { SAMPLES = 40, WRITINGS = 3 };

static uint8_t id[16];

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

        bm_buffer_init(&b, bm_allocator_default());
        bm_manifest_encode(&b, &m, id);
        check_body(&b, data, bytes);
        bm_buffer_release(&b);
    }
    bm_manifest_release(&m);
    bm_schema_release(&schema);
    return rc;
}

/* Step 5 of three writings, each with a variable of grid g; files are 2, 1 and
 * 2. */
static void write_dataset(void)
{
    bouma_grid_spec g = {
        .size = sizeof(g), .ndims = 1, .shape = {SAMPLES}, .patch = {16}};
    bouma_variable_spec v = {.size = sizeof(v), .type = BOUMA_TYPE_I32};
    static const int32_t data[SAMPLES];
    bouma_variable *variable;
    bouma_dataset *ds;
    bouma_grid *grid;

    for (int i = 0; i < WRITINGS; i++) {
        bouma_options o = {.size = sizeof(o), .files = i == 1 ? 1 : 2};
        char name[16];

        snprintf(name, sizeof(name), "v%d", i);
        MUST(ds, i ? bouma_dataset_append(&ds, "d", &o)
                   : bouma_dataset_create(&ds, "d", &o));
        MUST(ds, bouma_grid_define(&grid, ds, "g", &g));
        MUST(ds, bouma_variable_define(&variable, grid, name, &v));
        MUST(ds, i ? bouma_step_extend(ds, 5) : bouma_step_begin(ds, 5, 0.5));
        MUST(ds, bouma_variable_put_borrow(
                     variable, NULL,
                     &BOUMA_ARRAY(BOUMA_TYPE_I32, data, sizeof(data))));
        MUST(ds, bouma_step_end(ds));
        MUST(ds, bouma_dataset_close(ds));
        bouma_dataset_free(ds);
    }
}

static void load(struct bm_buffer *b)
{
    FILE *f = fopen("d/steps/00000005/manifest", "rb");
    long bytes;

    REQUIRE(f && !fseek(f, 0, SEEK_END));
    bytes = ftell(f);
    rewind(f);
    bm_buffer_init(b, bm_allocator_default());
    REQUIRE(bm_buffer_extend(b, (size_t)bytes));
    REQUIRE(fread(b->data, 1, b->size, f) == b->size);
    fclose(f);
    memcpy(id, b->data + 32, 16);
}

/* The manifest, to be changed. */
static struct bm_writing *decode(const struct bm_buffer *b)
{
    struct bm_error error = {0};
    struct bm_writing *w = bm_writing_new(bm_allocator_default(), &error);

    REQUIRE(w);
    REQUIRE(!bm_manifest_decode(&w->manifest, b->data, b->size, id, "file",
                                &error));
    return w;
}

static void files_are_numbered_through(const struct bm_buffer *b)
{
    static const char *const names[] = {"d.0000.e1a1", "d.0001.e1a1",
                                        "d.0000.e2a1", "d.0000.e3a1",
                                        "d.0001.e3a1"};
    struct bm_writing *w = decode(b);
    const struct bm_manifest *m = &w->manifest;

    CHECK_EQ(bm_manifest_writings(m), WRITINGS);
    CHECK_EQ(bm_manifest_files(m), 5);
    for (size_t i = 0; i < 5; i++) {
        char name[BM_NAME_BYTES];
        struct bm_generation g;
        uint32_t subfile;

        bm_manifest_file_name(name, m, i);
        CHECK_TEXT(name, names[i]);
        REQUIRE(bm_name_parse_subfile(names[i], &subfile, &g));
        CHECK(bm_manifest_names(m, subfile, g));
        CHECK(!bm_manifest_names(m, 2, g));
        CHECK_EQ(bm_manifest_number(m, subfile, g), i);
    }
    for (size_t k = 0; k < WRITINGS; k++) {
        const struct bm_manifest *one = bm_manifest_writing(m, k);

        CHECK_EQ(one->generation.epoch, k + 1);
        CHECK_EQ(one->base.epoch, k);
        CHECK_EQ(bm_manifest_committed(one).epoch, WRITINGS);
    }
    CHECK(!bm_manifest_names(m, 0, (struct bm_generation){2, 2}));
    bm_writing_free(w);
}

/* What it comes to if 'change' is made. */
static int with(const struct bm_buffer *b, void (*change)(struct bm_manifest *))
{
    struct bm_writing *w = decode(b);
    struct bm_buffer changed;
    int rc;

    change(&w->manifest);
    bm_buffer_init(&changed, bm_allocator_default());
    bm_manifest_encode(&changed, &w->manifest, id);
    rc = try_manifest(NULL, changed.data, changed.size);
    bm_buffer_release(&changed);
    bm_writing_free(w);
    return rc;
}

static void nothing(struct bm_manifest *m)
{
    (void)m;
}

static void another_step(struct bm_manifest *m)
{
    m->earlier[1]->manifest.step++;
}

static void another_time(struct bm_manifest *m)
{
    m->earlier[0]->manifest.time++;
}

static void same_generation(struct bm_manifest *m)
{
    m->earlier[1]->manifest.generation = m->earlier[0]->manifest.generation;
}

static void later_generation(struct bm_manifest *m)
{
    m->earlier[1]->manifest.generation = (struct bm_generation){9, 1};
}

static void no_epoch(struct bm_manifest *m)
{
    m->earlier[0]->manifest.generation = (struct bm_generation){0, 1};
}

static void variable_twice(struct bm_manifest *m)
{
    m->earlier[1]->schema.objects[0]->variables[0]->name[1] = '0';
}

static void another_shape(struct bm_manifest *m)
{
    m->earlier[1]->schema.objects[0]->spacing[0] = 2;
}

static void endless_files(struct bm_manifest *m)
{
    m->earlier[0]->manifest.record.files = INT64_MAX;
}

static void endless_chunks(struct bm_manifest *m)
{
    m->record.chunks = INT64_MAX;
}

/* A writing has none before it: they are all in one list. */
static void nested(struct bm_manifest *m)
{
    m->earlier[1]->manifest.earlier_count = 1;
}

static void too_many(struct bm_manifest *m)
{
    struct bm_writing *one = m->earlier[0];

    m->earlier = bm_resize(m->a, m->earlier, 200, sizeof(*m->earlier));
    REQUIRE(m->earlier);
    for (; m->earlier_count < 200; m->earlier_count++)
        m->earlier[m->earlier_count] = one;
}

static void what_is_no_one_step_is_refused(const struct bm_buffer *b)
{
    static void (*const wrong[])(struct bm_manifest *) = {
        another_step,     another_time,  same_generation,
        later_generation, no_epoch,      variable_twice,
        another_shape,    endless_files, endless_chunks};

    CHECK_EQ(with(b, nothing), BOUMA_OK);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
        CHECK_EQ(with(b, wrong[i]), BOUMA_EFORMAT);
}

/* Numbers of writings that are not there. */
static void lists_are_bounded(const struct bm_buffer *b)
{
    struct bm_writing *w = decode(b);
    struct bm_buffer changed;

    for (int i = 0; i < 2; i++) {
        size_t count = w->manifest.earlier_count;

        bm_buffer_init(&changed, bm_allocator_default());
        (i ? too_many : nested)(&w->manifest);
        bm_manifest_encode(&changed, &w->manifest, id);
        CHECK_EQ(try_manifest(NULL, changed.data, changed.size), BOUMA_EFORMAT);
        w->manifest.earlier[1]->manifest.earlier_count = 0;
        w->manifest.earlier_count = count;
        bm_buffer_release(&changed);
    }
    bm_writing_free(w);
}

static void damage_is_refused(const struct bm_buffer *b)
{
    struct bm_buffer copy = *b;
    struct damage_counts n =
        hurt_bytes(try_manifest, NULL, b->data, b->size, 0);

    CHECK_EQ(n.accepted, 0);
    n = cut_bytes(try_manifest, NULL, b->data, b->size, 0);
    CHECK_EQ(n.accepted, 0);
    check_damage(try_manifest, NULL, &copy, 1, 37, 4000);
}

int main(void)
{
    char dir[] = "/tmp/test_writings.XXXXXX";
    struct bm_buffer b;

    REQUIRE(mkdtemp(dir) && !chdir(dir));
    write_dataset();
    load(&b);
    files_are_numbered_through(&b);
    what_is_no_one_step_is_refused(&b);
    lists_are_bounded(&b);
    damage_is_refused(&b);
    bm_buffer_release(&b);
    REQUIRE(!remove_tree("d") && !chdir("/") && !rmdir(dir));
    return check_result();
}
