/* A step whose manifest has sheets: readers load those that they need, and what
 * they read is what they would read by a whole manifest. A sheet that is damaged
 * hides its own files, and is made again. (Four files in a directory, and so in
 * a sheet: see CMakeLists.txt.) */
#include <math.h>
#include <unistd.h>

#include "bouma.h"
#include "check.h"
#include "columns.h"
#include "fault_io.h"
#include "files.h"
#include "layout/sheet.h"
#include "must.h"
#include "read/read.h"

enum {
    EDGE = 64,
    SAMPLES = EDGE * EDGE,
    FILES = 16, /* of the grid; more of the particles */
    SHEET = 4,
    PARTICLES = 20000
};

static bouma_options options(void)
{
    bouma_options o = {.size = sizeof(o),
                       .durability = BOUMA_DURABILITY_FAST,
                       .replace = 1,
                       .files = FILES};

    return o;
}

static void fill(double *out, double salt)
{
    for (int i = 0; i < SAMPLES; i++)
        out[i] = salt + i / EDGE + 0.001 * (i % EDGE);
}

static bouma_variable *define_grid(bouma_dataset *ds, const char *name)
{
    bouma_grid_spec g = {.size = sizeof(g),
                         .ndims = 2,
                         .shape = {EDGE, EDGE},
                         .patch = {8, 8},
                         .levels = 2};
    bouma_variable_spec spec = {
        .size = sizeof(spec), .type = BOUMA_TYPE_F64, .codec = BOUMA_CODEC_RAW};
    bouma_variable *v;
    bouma_grid *grid;

    MUST(ds, bouma_grid_define(&grid, ds, name, &g));
    MUST(ds, bouma_variable_define(&v, grid, "v", &spec));
    return v;
}

static void put_particles(bouma_dataset *ds, bouma_particles *set,
                          bouma_variable *heat)
{
    static double position[PARTICLES][2];
    static float values[PARTICLES];
    uint64_t state = 3;
    struct test_column columns[2] = {
        {.variable = bouma_particles_position(set), .data = position},
        {.variable = heat, .data = values}};

    for (int i = 0; i < PARTICLES; i++) {
        position[i][0] = (double)check_below(&state, 1000) / 1000;
        position[i][1] = (double)check_below(&state, 1000) / 1000;
        values[i] = (float)(position[i][0] + 2 * position[i][1]);
    }
    MUST(ds, test_put_particles_copy(set, PARTICLES, columns, 2, NULL));
}

/* Step 0, with a grid and particles in many files. */
static void make(const char *path, double salt)
{
    bouma_particles_spec p = {
        .size = sizeof(p), .ndims = 2, .type = BOUMA_TYPE_F64};
    bouma_variable_spec spec = {.size = sizeof(spec), .type = BOUMA_TYPE_F32};
    bouma_options o = options();
    bouma_variable *v, *heat;
    double data[SAMPLES];
    bouma_particles *set;
    bouma_dataset *ds;

    if (access(path, F_OK))
        MUST(ds, bouma_dataset_create(&ds, path, &o));
    else
        MUST(ds, bouma_dataset_append(&ds, path, &o));
    v = define_grid(ds, "g");
    MUST(ds, bouma_particles_define(&set, ds, "p", &p));
    MUST(ds, bouma_particles_define_variable(&heat, set, "heat", &spec));
    MUST(ds, bouma_step_begin(ds, 0, 0.5));
    MUST(ds,
         bouma_attributes_set_text(bouma_dataset_attributes(ds), "of", "me"));
    fill(data, salt);
    MUST(ds, test_put_copy(v, NULL, data));
    put_particles(ds, set, heat);
    MUST(ds, bouma_step_end(ds));
    MUST(ds, bouma_dataset_close(ds));
    bouma_dataset_free(ds);
}

static bouma_step *open_step(const char *path, bouma_dataset **ds)
{
    bouma_step *step;

    MUST(*ds, bouma_dataset_open(ds, path, NULL));
    MUST(*ds, bouma_step_open(&step, *ds, 0));
    return step;
}

static void close_step(bouma_step *step, bouma_dataset *ds)
{
    bouma_step_free(step);
    bouma_dataset_free(ds);
}

static size_t loaded(const bouma_step *step)
{
    size_t n = 0;

    for (size_t k = 0; k < step->manifest.sheet_count; k++)
        n += step->manifest.sheets[k].records != NULL;
    return n;
}

static bouma_variable *grid_of(bouma_step *step)
{
    return bouma_grid_find_variable(bouma_step_find_grid(step, "g"), "v");
}

/* A box of the grid, and whether it has what was written. */
static int read_box(bouma_step *step, bouma_box box, double salt)
{
    static double all[SAMPLES], part[SAMPLES];
    int64_t width = box.hi[1] - box.lo[1];
    int rc = test_read(grid_of(step), 0, &box, part);

    fill(all, salt);
    for (int64_t y = box.lo[0]; y < box.hi[0] && !rc; y++)
        CHECK(!memcmp(&part[(y - box.lo[0]) * width],
                      &all[y * EDGE + box.lo[1]],
                      (size_t)width * sizeof(double)));
    return rc;
}

/* One patch of a file: those of a file lie together. */
static bouma_box patch(int64_t y, int64_t x)
{
    return (bouma_box){.lo = {8 * y, 8 * x}, .hi = {8 * y + 8, 8 * x + 8}};
}

/* ---- reading ------------------------------------------------------------------ */

static void a_box_loads_the_sheets_that_it_needs(void)
{
    bouma_dataset_info before = {.size = sizeof(before)}, after = before;
    bouma_dataset *ds;
    bouma_step *step = open_step("d", &ds);
    const struct bm_manifest *m = &step->manifest;
    uint64_t others = 0;

    CHECK_EQ(m->sheet_files, SHEET);
    CHECK(m->count > FILES);
    CHECK_EQ(m->sheet_count, bm_sheet_count_of(m->count, SHEET));
    CHECK_EQ(loaded(step), 0);
    MUST(ds, bouma_dataset_info_get(&before, ds));
    CHECK_EQ(read_box(step, patch(0, 0), 0), BOUMA_OK);
    MUST(ds, bouma_dataset_info_get(&after, ds));
    CHECK_EQ(loaded(step), 1);
    for (size_t k = 0; k < m->sheet_count; k++)
        others += m->sheets[k].records ? 0 : m->sheets[k].bytes;
    /* A sheet, the front of its envelope, a head and a patch. */
    for (size_t k = 0; k < m->sheet_count; k++)
        if (m->sheets[k].records)
            CHECK(after.bytes_read - before.bytes_read <
                  m->sheets[k].bytes + 64 + 4096 + 64 * 8);
    CHECK(others > 3 * m->sheets[0].bytes);
    CHECK_EQ(read_box(step, patch(0, 1), 0), BOUMA_OK);
    CHECK(loaded(step) <= 2);
    CHECK_EQ(read_box(step, (bouma_box){.hi = {EDGE, EDGE}}, 0), BOUMA_OK);
    /* Those of the particles are still not there. */
    CHECK_EQ(loaded(step), FILES / SHEET);
    close_step(step, ds);
}

static int count_patch(void *user, const bouma_patch_info *info, int level,
                       const bouma_selection *selection, const void *samples)
{
    (void)info;
    (void)level;
    (void)selection;
    (void)samples;
    ++*(int *)user;
    return 0;
}

/* Values grow with the rows. */
static void a_range_loads_the_sheets_that_it_needs(void)
{
    int found = 0;
    bouma_patch_query q = {.size = sizeof(q),
                           .within = 1,
                           .low = 0,
                           .high = 1,
                           .each = count_patch,
                           .user = &found};
    bouma_dataset *ds;
    bouma_step *step = open_step("d", &ds);

    MUST(ds, bouma_variable_query(grid_of(step), &q));
    CHECK_EQ(found, EDGE / 8);
    CHECK(loaded(step) >= 1 && loaded(step) < FILES / SHEET);
    q.low = q.high = -1;
    found = 0;
    close_step(step, ds);
    step = open_step("d", &ds);
    MUST(ds, bouma_variable_query(grid_of(step), &q));
    CHECK_EQ(found, 0);
    CHECK_EQ(loaded(step), 0);
    close_step(step, ds);
}

/* The particles of a box, summed up so that order does not matter. */
static double read_particles(bouma_step *step, const bouma_bounds *box,
                             uint64_t *count)
{
    bouma_particles_query q = {.size = sizeof(q), .quality = 1, .box = box};
    bouma_particle_data *d = NULL;
    double sum = 0;

    MUST(step->ds,
         bouma_particles_read(&d, bouma_step_find_particles(step, "p"), &q));
    *count = d->count;
    for (uint64_t i = 0; i < d->count; i++)
        sum += ((const double *)d->columns[0])[2 * i];
    bouma_particle_data_free(d);
    return sum;
}

static void particles_load_the_sheets_that_they_need(void)
{
    bouma_particles_info info = {.size = sizeof(info)};
    bouma_bounds box = {.axes = BOUMA_AXES_XYZ, .high = {0.05, 0.05}};
    bouma_particles_file file = {.size = sizeof(file)};
    uint64_t count, all = 0;
    bouma_dataset *ds;
    bouma_step *step = open_step("d", &ds);
    bouma_particles *set = bouma_step_find_particles(step, "p");

    MUST(ds, bouma_particles_info_get(&info, set));
    CHECK_EQ(info.count, PARTICLES);
    CHECK(info.files > 2 * SHEET);
    CHECK_EQ(info.tree_nodes, 0);
    CHECK(info.low[0] >= 0 && info.low[0] < 0.01 && info.high[1] > 0.99);
    CHECK_EQ(loaded(step), 0);
    read_particles(step, &box, &count);
    CHECK(count > 0 && count < PARTICLES / 50);
    CHECK(loaded(step) >= 1 && loaded(step) <= 2);
    for (int64_t i = 0; i < info.files; i++) {
        MUST(ds, bouma_particles_file_get(&file, set, i));
        all += file.count;
    }
    CHECK_EQ(all, PARTICLES);
    close_step(step, ds);
}

/* ---- as by a whole manifest ----------------------------------------------------- */

/* The same manifest, without sheets. */
static void make_whole(const char *path)
{
    struct bm_error error = {0};
    bouma_dataset *ds;
    bouma_step *step = open_step(path, &ds);
    struct bm_manifest *m = &step->manifest, whole;
    struct bm_buffer b;
    char name[200];
    FILE *f;

    for (size_t k = 0; k < m->sheet_count; k++)
        REQUIRE(!bm_step_load_sheet(step, k, &error));
    whole = *m;
    whole.sheet_files = 0;
    whole.sheets = NULL;
    whole.sheet_count = 0;
    whole.file_trees = NULL;
    whole.file_tree_count = 0;
    REQUIRE(!bm_manifest_set_subfiles(&whole, m->count));
    for (size_t i = 0; i < m->count; i++)
        whole.subfiles[i] = *bm_manifest_record(m, i);
    REQUIRE(!bm_manifest_make_file_trees(&whole, NULL));
    bm_buffer_init(&b, m->a);
    bm_manifest_encode(&b, &whole, ds->id);
    for (size_t i = 0; i < whole.file_tree_count; i++)
        bm_file_tree_release(&whole.file_trees[i]);
    bm_drop(m->a, whole.file_trees);
    bm_drop(m->a, whole.subfiles);
    snprintf(name, sizeof(name), "%s/steps/00000000/manifest", path);
    f = fopen(name, "wb");
    REQUIRE(f && fwrite(b.data, 1, b.size, f) == b.size);
    fclose(f);
    bm_buffer_release(&b);
    close_step(step, ds);
}

static void a_whole_manifest_reads_the_same(void)
{
    bouma_record one = {.size = sizeof(one)}, other = {.size = sizeof(other)};
    uint64_t state = 11, here, there;
    bouma_dataset *cut_ds, *whole_ds;
    bouma_step *cut, *whole;

    REQUIRE(!system("cp -r d whole"));
    make_whole("whole");
    cut = open_step("d", &cut_ds);
    whole = open_step("whole", &whole_ds);
    CHECK_EQ(whole->manifest.sheet_count, 0);
    MUST(cut_ds, bouma_step_record_get(&one, cut));
    MUST(whole_ds, bouma_step_record_get(&other, whole));
    CHECK(!memcmp(&one, &other, sizeof(one)));
    for (int i = 0; i < 60; i++) {
        bouma_box box = {.lo = {0}};
        bouma_bounds bounds = {.axes = BOUMA_AXES_XYZ};
        double a, b;

        for (int d = 0; d < 2; d++) {
            box.lo[d] = check_below(&state, EDGE);
            box.hi[d] = box.lo[d] + 1 + check_below(&state, EDGE - box.lo[d]);
            bounds.low[d] = (double)check_below(&state, 100) / 100;
            bounds.high[d] =
                bounds.low[d] + (double)check_below(&state, 30) / 90;
        }
        CHECK_EQ(read_box(cut, box, 0), BOUMA_OK);
        CHECK_EQ(read_box(whole, box, 0), BOUMA_OK);
        a = read_particles(cut, &bounds, &here);
        b = read_particles(whole, &bounds, &there);
        CHECK_EQ(here, there);
        CHECK(fabs(a - b) <= 1e-9 * (1 + fabs(b)));
        if (i % 20 == 19) { /* and once more from nothing */
            close_step(cut, cut_ds);
            cut = open_step("d", &cut_ds);
        }
    }
    close_step(cut, cut_ds);
    close_step(whole, whole_ds);
}

/* ---- damage ------------------------------------------------------------------- */

static void tell(void *user, const bouma_finding *f)
{
    char *text = user;

    snprintf(text + strlen(text), 4000 - strlen(text), "%s: %s\n", f->name,
             f->text);
}

static uint64_t damages(const char *path, char text[4000])
{
    bouma_verify_report report = {.size = sizeof(report)};
    char message[640];

    text[0] = 0;
    REQUIRE(!bouma_verify(&report, path, BOUMA_DEPTH_DEEP, NULL, tell, text,
                          message, sizeof(message)));
    return report.damages;
}

static bouma_repair_report repair(const char *path, int apply, char text[4000])
{
    bouma_repair_report report = {.size = sizeof(report)};
    char message[640];

    text[0] = 0;
    REQUIRE(!bouma_repair(&report, path, apply, NULL, tell, text, message,
                          sizeof(message)));
    return report;
}

/* Change a byte, or cut the file there. */
static void hurt(const char *name, long at, int cut)
{
    FILE *f = fopen(name, "r+b");
    int was;

    REQUIRE(f && !fseek(f, at, SEEK_SET));
    was = fgetc(f);
    REQUIRE(!fseek(f, at, SEEK_SET) && fputc(was ^ 1, f) != EOF);
    fclose(f);
    if (cut)
        REQUIRE(!truncate(name, at));
}

/* Where a sheet begins. */
static long sheet_at(const char *path, size_t k)
{
    bouma_dataset *ds;
    bouma_step *step = open_step(path, &ds);
    long at = (long)step->manifest.sheets[k].offset;

    close_step(step, ds);
    return at;
}

#define MANIFEST "hurt/steps/00000000/manifest"

static void a_damaged_sheet_hides_its_files_and_is_made_again(void)
{
    for (int cut = 0; cut < 2; cut++) {
        bouma_dataset *ds;
        bouma_step *step;
        char text[4000];
        int refused = 0;

        REQUIRE(!system("rm -rf hurt && cp -r d hurt"));
        hurt(MANIFEST, sheet_at("hurt", 1) + 90, cut);
        step = open_step("hurt", &ds);
        for (int64_t y = 0; y < 8; y++)
            for (int64_t x = 0; x < 8; x++)
                if (read_box(step, patch(y, x), 0)) {
                    CHECK_TEXT(bouma_error_message(ds), ", sheet ");
                    refused++;
                }
        /* A sheet has a quarter of the files; if the manifest is cut off, all
         * but the first are gone. */
        CHECK_EQ(refused, cut ? 48 : 16);
        close_step(step, ds);
        CHECK_EQ(damages("hurt", text),
                 cut ? bm_sheet_count_of(2 * FILES, SHEET) - 1 : 1);
        CHECK_TEXT(text, "sheet 1 (files 4 to 7)");
        CHECK_TEXT(text, "others can");
        CHECK_EQ(repair("hurt", 0, text).actions, 1);
        CHECK(!same_file(MANIFEST, "d/steps/00000000/manifest"));
        CHECK_EQ(repair("hurt", 1, text).actions, 1);
        CHECK_TEXT(text, "made again from the heads");
        CHECK(same_file(MANIFEST, "d/steps/00000000/manifest"));
        CHECK_EQ(damages("hurt", text), 0);
        CHECK_EQ(repair("hurt", 1, text).actions, 0);
    }
}

static void what_is_behind_the_last_sheet_is_damage(void)
{
    bouma_dataset *ds;
    bouma_step *step;
    char text[4000];

    REQUIRE(!system("rm -rf hurt && cp -r d hurt && echo more >>" MANIFEST));
    MUST(ds, bouma_dataset_open(&ds, "hurt", NULL));
    CHECK_EQ(bouma_step_open(&step, ds, 0), BOUMA_EFORMAT);
    bouma_dataset_free(ds);
    CHECK(damages("hurt", text) > 0);
    CHECK_EQ(repair("hurt", 1, text).hopeless, 0);
    CHECK(same_file(MANIFEST, "d/steps/00000000/manifest"));
}

/* Change the last byte of a file, which is of its second head. */
static void hurt_end(const char *name)
{
    struct stat s;

    REQUIRE(!stat(name, &s));
    hurt(name, (long)s.st_size - 1, 0);
}

#define SUBFILE "hurt/steps/00000000/0001/d.0005.e1a1"

/* A file has two heads: with one of them damaged, even so that it does not tell
 * how long it is, sheets are made again of the other. */
static void a_sheet_is_made_again_from_second_heads(void)
{
    static const long at[] = {0, 16, 50, 70};

    for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
        char text[4000];

        REQUIRE(!system("rm -rf hurt && cp -r d hurt"));
        hurt(MANIFEST, sheet_at("hurt", 1) + 90, 0);
        hurt(SUBFILE, at[i], 0);
        CHECK_EQ(repair("hurt", 1, text).hopeless, 0);
        CHECK_TEXT(text, "made again from the heads");
        CHECK_TEXT(text, "a damaged head replaced by its copy");
        CHECK(same_file(MANIFEST, "d/steps/00000000/manifest"));
        CHECK(same_file(SUBFILE, "d/steps/00000000/0001/d.0005.e1a1"));
        CHECK_EQ(damages("hurt", text), 0);
    }
}

/* The size of the record of file i of sheet k. */
static long record_bytes(const char *path, size_t k, size_t i)
{
    struct bm_error error = {0};
    struct bm_buffer b;
    bouma_dataset *ds;
    bouma_step *step = open_step(path, &ds);
    long bytes;

    REQUIRE(!bm_step_load_sheet(step, k, &error));
    bm_buffer_init(&b, ds->a);
    bm_subfile_info_encode(&b, &step->manifest.sheets[k].records[i],
                           step->manifest.schema);
    bytes = (long)b.size;
    bm_buffer_release(&b);
    close_step(step, ds);
    return bytes;
}

/* A file of a damaged sheet that is missing, or has no sound head, hides no
 * other: its record is as it was, and is taken from there. */
static void a_sheet_is_made_again_though_files_are_missing(void)
{
    for (int missing = 0; missing < 3; missing++) {
        char text[4000];

        REQUIRE(!system("rm -rf hurt && cp -r d hurt"));
        hurt(MANIFEST, sheet_at("hurt", 1) + 90, 0); /* file 4 */
        if (missing) {
            REQUIRE(!remove(SUBFILE));
        } else {
            hurt(SUBFILE, 70, 0);
            hurt_end(SUBFILE);
        }
        if (missing == 2)
            REQUIRE(!remove("hurt/steps/00000000/0001/d.0007.e1a1"));
        repair("hurt", 1, text);
        CHECK_TEXT(text, "made again from the heads");
        CHECK(same_file(MANIFEST, "d/steps/00000000/manifest"));
        CHECK(damages("hurt", text) > 0);
        CHECK_TEXT(text, "d.0005.e1a1");
        CHECK(!strstr(text, "sheet"));
    }
}

/* The sheet, and both heads of the file whose record in it is damaged. */
static void a_sheet_that_cannot_be_made_again_is_told(void)
{
    long at = 90 + record_bytes("d", 1, 0);
    bouma_repair_report report;
    bouma_dataset *ds;
    bouma_step *step;
    char text[4000];
    int refused = 0;

    REQUIRE(!system("rm -rf hurt && cp -r d hurt"));
    hurt(MANIFEST, sheet_at("hurt", 1) + at, 0);
    hurt(SUBFILE, 70, 0);
    hurt_end(SUBFILE);
    report = repair("hurt", 1, text);
    CHECK(report.hopeless > 0);
    CHECK_TEXT(text, "sheets of the manifest are damaged");
    step = open_step("hurt", &ds);
    for (int64_t y = 0; y < 8; y++)
        for (int64_t x = 0; x < 8; x++)
            refused += read_box(step, patch(y, x), 0) != BOUMA_OK;
    CHECK_EQ(refused, 16);
    close_step(step, ds);
    CHECK(damages("hurt", text) > 0);
}

/* A drain does not take two that are damaged in the same bytes for sound. */
static void damage_in_both_copies_is_told(void)
{
    bouma_drain_report report = {.size = sizeof(report)};
    char message[640];

    REQUIRE(!system("rm -rf hurt far && cp -r d hurt"));
    CHECK_EQ(
        bouma_drain(&report, "hurt", "far", 0, NULL, message, sizeof(message)),
        BOUMA_OK);
    CHECK_EQ(
        bouma_drain(&report, "hurt", "far", 0, NULL, message, sizeof(message)),
        BOUMA_OK);
    CHECK_EQ(report.present, 1);
    hurt(MANIFEST, sheet_at("d", 1) + 90, 0);
    hurt("far/steps/00000000/manifest", sheet_at("d", 1) + 90, 0);
    CHECK_EQ(
        bouma_drain(&report, "hurt", "far", 0, NULL, message, sizeof(message)),
        BOUMA_EFORMAT);
    CHECK_TEXT(message, "sheet 1");
    CHECK_EQ(report.present, 0);
}

/* ---- a manifest that is replaced while the step is open ------------------------- */

static void extend(const char *path, const char *name)
{
    bouma_options o = options();
    double data[SAMPLES];
    bouma_variable *v;
    bouma_dataset *ds;

    MUST(ds, bouma_dataset_append(&ds, path, &o));
    v = define_grid(ds, name);
    MUST(ds, bouma_step_extend(ds, 0));
    fill(data, 9);
    MUST(ds, test_put_copy(v, NULL, data));
    MUST(ds, bouma_step_end(ds));
    MUST(ds, bouma_dataset_close(ds));
    bouma_dataset_free(ds);
}

static void an_extension_leaves_the_sheets_of_an_open_step(void)
{
    bouma_dataset *ds, *later;
    bouma_step *step, *now;
    bouma_variable *more;
    double data[SAMPLES];
    char text[4000];

    REQUIRE(!system("rm -rf hurt && cp -r d hurt"));
    step = open_step("hurt", &ds);
    CHECK_EQ(read_box(step, patch(0, 0), 0), BOUMA_OK);
    extend("hurt", "more");
    CHECK_EQ(loaded(step), 1);
    CHECK_EQ(read_box(step, (bouma_box){.hi = {EDGE, EDGE}}, 0), BOUMA_OK);
    now = open_step("hurt", &later);
    CHECK_EQ(read_box(now, (bouma_box){.hi = {EDGE, EDGE}}, 0), BOUMA_OK);
    more = bouma_grid_find_variable(bouma_step_find_grid(now, "more"), "v");
    REQUIRE(more);
    CHECK_EQ(test_read(more, 0, NULL, data), BOUMA_OK);
    CHECK(data[0] >= 9 && data[0] <= 9);
    close_step(now, later);
    close_step(step, ds);
    CHECK_EQ(damages("hurt", text), 0);
    /* Of both writings a sheet is damaged. */
    hurt(MANIFEST, sheet_at("hurt", 0) + 80, 0);
    CHECK_EQ(damages("hurt", text), 1);
    CHECK_EQ(repair("hurt", 1, text).hopeless, 0);
    CHECK_EQ(damages("hurt", text), 0);
}

/* ---- a manifest that is replaced while a sheet is looked for ------------------ */

/* A store that does not keep what was opened: each call opens it by its name. */
struct by_name {
    void *root;
    char name[200];
};

static int open_by_name(void *user, void *root, void **file, const char *name,
                        bouma_open_mode mode)
{
    const bouma_io *posix = bouma_io_posix();
    struct by_name *f = malloc(sizeof(*f));
    int rc = posix->open(user, root, file, name, mode);

    REQUIRE(f && mode == BOUMA_OPEN_MODE_READ);
    if (rc) {
        free(f);
        return rc;
    }
    posix->close(user, *file);
    f->root = root;
    snprintf(f->name, sizeof(f->name), "%s", name);
    *file = f;
    return 0;
}

static int size_by_name(void *user, void *file, uint64_t *bytes)
{
    const bouma_io *posix = bouma_io_posix();
    struct by_name *f = file;
    void *real;
    int rc = posix->open(user, f->root, &real, f->name, BOUMA_OPEN_MODE_READ);

    if (rc)
        return rc;
    rc = posix->file_size(user, real, bytes);
    posix->close(user, real);
    return rc;
}

static int read_by_name(void *user, void *file, void *data, size_t bytes,
                        uint64_t offset, size_t *done)
{
    const bouma_io *posix = bouma_io_posix();
    struct by_name *f = file;
    void *real;
    int rc = posix->open(user, f->root, &real, f->name, BOUMA_OPEN_MODE_READ);

    if (rc)
        return rc;
    rc = posix->read(user, real, data, bytes, offset, done);
    posix->close(user, real);
    return rc;
}

static int close_by_name(void *user, void *file)
{
    (void)user;
    free(file);
    return 0;
}

/* Before one of the calls, the step is extended once more. */
static void replace_manifest(void *user, long call)
{
    if (call == *(long *)user)
        REQUIRE(!rename("later", MANIFEST));
}

/* Whether a box was read, of a step that was extended since it was opened, and
 * is so again at call 'at'; 0 if there are fewer calls. */
static int read_while_replaced(const bouma_io *inner, long at)
{
    bouma_options o = {.size = sizeof(o)};
    struct fault_io io;
    bouma_dataset *ds;
    bouma_step *step;
    long calls;

    REQUIRE(!system("cp again later && cp d/steps/00000000/manifest " MANIFEST
                    " && cp once/steps/00000000/manifest now"));
    fault_io_init(&io, inner);
    o.io = &io.table;
    MUST(ds, bouma_dataset_open(&ds, "hurt", &o));
    MUST(ds, bouma_step_open(&step, ds, 0));
    REQUIRE(!rename("now", MANIFEST));
    fault_io_arm(&io, &fault_list[0], 0, 0);
    io.before = replace_manifest;
    io.before_user = &at;
    CHECK_EQ(read_box(step, patch(7, 7), 0), BOUMA_OK);
    calls = io.calls;
    io.before = NULL;
    close_step(step, ds);
    return calls >= at;
}

static void a_manifest_may_be_replaced_at_any_time(void)
{
    bouma_io named = *bouma_io_posix();
    long at;

    REQUIRE(!system("rm -rf once twice && cp -r d once"));
    extend("once", "more");
    REQUIRE(!system("cp -r once twice"));
    extend("twice", "most");
    REQUIRE(!system("cp twice/steps/00000000/manifest again && rm -rf hurt && "
                    "cp -r once hurt"));
    named.open = open_by_name;
    named.file_size = size_by_name;
    named.read = read_by_name;
    named.close = close_by_name;
    for (at = 1; read_while_replaced(bouma_io_posix(), at); at++)
        ;
    CHECK(at > 6);
    for (at = 1; read_while_replaced(&named, at); at++)
        ;
    CHECK(at > 6);
}

static void a_step_that_is_written_again_is_told(void)
{
    bouma_dataset *ds;
    bouma_step *step;

    REQUIRE(!system("rm -rf hurt && cp -r d hurt"));
    step = open_step("hurt", &ds);
    make("hurt", 5);
    CHECK_EQ(read_box(step, patch(0, 0), 0), BOUMA_ESTATE);
    CHECK_TEXT(bouma_error_message(ds), "written again");
    close_step(step, ds);
    step = open_step("hurt", &ds);
    CHECK_EQ(read_box(step, patch(0, 0), 5), BOUMA_OK);
    close_step(step, ds);
}

int main(void)
{
    char dir[] = "/tmp/test_sheets.XXXXXX";

    REQUIRE(mkdtemp(dir) && !chdir(dir));
    make("d", 0);
    a_box_loads_the_sheets_that_it_needs();
    a_range_loads_the_sheets_that_it_needs();
    particles_load_the_sheets_that_they_need();
    a_whole_manifest_reads_the_same();
    a_damaged_sheet_hides_its_files_and_is_made_again();
    what_is_behind_the_last_sheet_is_damage();
    a_sheet_is_made_again_from_second_heads();
    a_sheet_is_made_again_though_files_are_missing();
    a_sheet_that_cannot_be_made_again_is_told();
    damage_in_both_copies_is_told();
    an_extension_leaves_the_sheets_of_an_open_step();
    a_manifest_may_be_replaced_at_any_time();
    a_step_that_is_written_again_is_told();
    REQUIRE(!chdir("/") && !remove_tree(dir));
    return check_result();
}
