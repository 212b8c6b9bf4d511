/* test_idx.c -- grids with 'idx': what is refused, and what readers of IDX see
 * when calls fail, or the writer is killed in any of them. */
#include <errno.h>
#include <stddef.h>

#include "../helpers/arrays.h"
#include "../helpers/fault_io.h"
#include "../helpers/idx_view.h"
#include "check.h"
#include "dataset/idx.h"
#include "layout/grid_idx.h"

#define PATH "/run.bouma"

enum { ROWS = 5, COLUMNS = 6, LAYERS = 3, SAMPLES = ROWS * COLUMNS * LAYERS };

static bouma_grid_spec grid_spec(void)
{
    return (bouma_grid_spec){.size = sizeof(bouma_grid_spec),
                             .ndims = 3,
                             .shape = {LAYERS, ROWS, COLUMNS},
                             .layout = BOUMA_LAYOUT_HZ,
                             .hz_block_bits = 3,
                             .hz_blocks_per_file = 8,
                             .idx = 1};
}

/* ---- what is refused ----------------------------------------------------- */

/* A grid of this name, with a variable, if 'about' is not NULL. */
static void refuse(const char *message, const char *name,
                   const bouma_grid_spec *spec,
                   const bouma_variable_spec *about)
{
    bouma_io *io = bouma_io_memory_new();
    bouma_variable *v = NULL;
    bouma_grid *g = NULL;
    bouma_options opts = {.size = sizeof(opts)};
    bouma_dataset *ds;
    int rc;

    opts.io = io;
    REQUIRE(io && !bouma_dataset_create(&ds, PATH, &opts));
    rc = bouma_grid_define(&g, ds, name, spec);
    if (about) {
        CHECK_EQ(rc, BOUMA_OK);
        rc = bouma_variable_define(&v, g, "v", about);
    }
    CHECK_EQ(rc, BOUMA_EINVAL);
    CHECK_TEXT(bouma_error_message(ds), message);
    bouma_dataset_free(ds);
    bouma_io_memory_free(io);
}

static void what_idx_has_not_is_refused(void)
{
    bouma_grid_spec spec = grid_spec();
    bouma_variable_spec v = {.size = sizeof(v), .type = BOUMA_TYPE_F32};

    refuse("has a name that is none for an IDX dataset", "a b", &spec, NULL);
    refuse("has a name that is none for an IDX dataset", "..", &spec, NULL);
    refuse("has a name that is none for an IDX dataset", "a.idx", &spec, NULL);
    spec.hz_order = BOUMA_HZ_ORDER_ROWS;
    refuse("in the order of the curve", "g", &spec, NULL);
    spec.hz_order = 0;
    spec.hz_partitions = 2;
    spec.hz_index = BOUMA_HZ_INDEX_LOCAL;
    refuse("one index of the whole grid", "g", &spec, NULL);
    spec = grid_spec();
    spec.hz_wavelet = 1;
    refuse("which IDX does not know", "g", &spec, NULL);
    spec = grid_spec();
    spec.idx = 2;
    refuse("neither 0 nor 1", "g", &spec, NULL);
    spec.idx = 1;
    spec.hz_template = "xxxyyyzz";
    spec.shape[0] = 1;
    spec.hz_template = "xxxyyy";
    refuse("does not have all axes", "g", &spec, NULL);
    spec = grid_spec();
    spec.ndims = 1;
    spec.shape[0] = 64;
    refuse("has one axis", "g", &spec, NULL);
    spec = grid_spec();
    v.codec = BOUMA_CODEC_ZSTD;
    refuse("it must be raw", "g", &spec, &v);
    v.codec = 0;
    v.tolerance = 0.1;
    refuse("its blocks are raw", "g", &spec, &v);
    v.tolerance = 0;
    spec = (bouma_grid_spec){.size = sizeof(spec),
                             .ndims = 3,
                             .shape = {1024, 1024, 1024},
                             .layout = BOUMA_LAYOUT_HZ,
                             .hz_blocks_per_file = 32768,
                             .idx = 1};
    refuse("files of more than 4 GiB", "g", &spec, &v);
    spec = (bouma_grid_spec){
        .size = sizeof(spec), .ndims = 2, .shape = {8, 8}, .idx = 1};
    refuse("which is for BOUMA_LAYOUT_HZ", "g", &spec, NULL);
}

/* A table of before there were links does, but not for 'idx'. */
static void older_tables_have_no_links(void)
{
    bouma_io *io = bouma_io_memory_new(), old;
    bouma_grid_spec spec = grid_spec();
    bouma_grid *g = NULL;
    bouma_options opts = {.size = sizeof(opts)};
    bouma_dataset *ds;

    REQUIRE(io);
    memset(&old, 0xee, sizeof(old));
    memcpy(&old, io, offsetof(bouma_io, link));
    old.size = offsetof(bouma_io, link);
    opts.io = &old;
    REQUIRE(!bouma_dataset_create(&ds, PATH, &opts));
    CHECK_EQ(bouma_grid_define(&g, ds, "g", &spec), BOUMA_EINVAL);
    CHECK_TEXT(bouma_error_message(ds), "no symbolic links");
    bouma_dataset_free(ds);
    bouma_io_memory_free(io);
}

/* ---- headers ------------------------------------------------------------- */

static int get_steps(const char *time, int64_t **steps, size_t *count)
{
    struct bm_buffer text;
    int rc;

    bm_buffer_init(&text, bm_allocator_default());
    bm_put_bytes(&text, "(version)\n6\n(time)\n", 19);
    bm_put_bytes(&text, time, strlen(time));
    rc = bm_idx_get_steps(steps, count, bm_allocator_default(), &text, 100);
    bm_buffer_release(&text);
    return rc;
}

static void steps_of_a_header_are_read_back(void)
{
    static const int64_t lists[][5] = {
        {0, 1, 2, 3, 4}, {7, 9, 11, 12, 40}, {3, 5, 6, 8, 9}};
    const bouma_allocator *a = bm_allocator_default();
    const char *wrong[] = {"0 4 time%09d/",
                           "4 0 time%09d/\n",
                           "0 100 time%09d/\n",
                           "time%09d/ (0,4)\n",
                           "time%09d/ (0,4,0)\n",
                           "time%09d/ (0,5,2)\n",
                           "time%09d/ (3,3,1) (3,3,1)\n",
                           "0 99999999999 time%09d/\n",
                           "0 1 time%04d/\n",
                           "-1 3 time%09d/\n",
                           ""};
    int64_t *steps;
    size_t count;

    for (size_t i = 0; i < 3; i++)
        for (size_t n = 0; n <= 5; n++) {
            struct bm_idx_text t = {.name = "g",
                                    .ndims = 2,
                                    .shape = {1, 8, 8},
                                    .bits = 6,
                                    .axis = (const uint8_t *)"\1\2\1\2\1\2",
                                    .block_bits = 2,
                                    .blocks_per_file = 4,
                                    .codec = "raw",
                                    .steps = lists[i],
                                    .step_count = n};
            struct bm_buffer text, again;

            bm_buffer_init(&text, a);
            bm_buffer_init(&again, a);
            bm_idx_put_header(&text, &t);
            CHECK_EQ(bm_idx_get_steps(&steps, &count, a, &text, 5), BOUMA_OK);
            CHECK_EQ(count, n);
            CHECK(!n || !memcmp(steps, lists[i], n * sizeof(*steps)));
            bm_idx_put_steps(&again, &text, steps, count);
            CHECK(again.size == text.size &&
                  !memcmp(again.data, text.data, text.size));
            bm_drop(a, steps);
            bm_buffer_release(&text);
            bm_buffer_release(&again);
        }
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        CHECK_EQ(get_steps(wrong[i], &steps, &count), BOUMA_EFORMAT);
        CHECK(!steps);
    }
}

static void names_have_the_digits_that_pidx_wants(void)
{
    static const struct {
        int bits;
        uint64_t first;
        const char *name;
        int directories;
    } names[] = {{0, 0, "0.bin", 0},
                 {8, 0x1c, "1c.bin", 0},
                 {12, 0x1c, "01c.bin", 0},
                 {16, 0x1c, "001c.bin", 0},
                 {17, 0x1001c, "01/001c.bin", 1},
                 {30, 0x12345678, "12/34/5678.bin", 2}};
    char name[BM_IDX_FILE_BYTES];

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        CHECK_EQ(bm_idx_file_name(name, names[i].bits, names[i].first),
                 names[i].directories);
        CHECK(!strcmp(name, names[i].name));
    }
}

/* ---- failures ------------------------------------------------------------ */

static float value_at(int64_t step, int version, int i)
{
    return (float)(step * 1000 + version * 500 + i);
}

static int write_step(bouma_dataset *ds, bouma_variable *v, int64_t step,
                      int version)
{
    static const bouma_box all = {{0, 0, 0}, {LAYERS, ROWS, COLUMNS}};
    float data[SAMPLES];
    int rc = bouma_step_begin(ds, step, 0);

    for (int i = 0; i < SAMPLES; i++)
        data[i] = value_at(step, version, i);
    if (!rc)
        rc = test_put(v, &all, data);
    return rc ? rc : bouma_step_end(ds);
}

static int define(bouma_dataset *ds, bouma_grid **grid, bouma_variable **v)
{
    bouma_grid_spec spec = grid_spec();
    bouma_variable_spec about = {.size = sizeof(about), .type = BOUMA_TYPE_F32};
    int rc = bouma_grid_define(grid, ds, "g", &spec);

    return rc ? rc : bouma_variable_define(v, *grid, "v", &about);
}

/* The version of a step that all samples have; -1: of none. */
static int version_of(const float *data, int64_t step)
{
    for (int version = 0; data && version < 2; version++) {
        int same = 1;

        for (int i = 0; i < SAMPLES; i++)
            same &= data[i] == value_at(step, version, i);
        if (same)
            return version;
    }
    return -1;
}

/* What a reader of IDX sees of a step: a version, -1: nonsense, -2: nothing. */
static int view_version(const bouma_io *io, int64_t step)
{
    struct idx_view view;
    int version = -2;

    if (!idx_view_open(&view, io, PATH, "g"))
        return version;
    for (int i = 0; i < view.step_count; i++)
        if (view.steps[i] == step) {
            float *data = (float *)(void *)idx_view_read(&view, 0, (long)step);

            version = version_of(data, step);
            free(data);
        }
    idx_view_close(&view);
    return version;
}

/* What the library reads of it; the same numbers. */
static int read_version(const bouma_options *opts, int64_t step)
{
    float data[SAMPLES];
    bouma_dataset *ds = NULL;
    bouma_step *s = NULL;
    int version = -2;

    if (!bouma_dataset_open(&ds, PATH, opts) && !bouma_step_open(&s, ds, step))
        version = test_read(bouma_grid_variable(bouma_step_grid(s, 0), 0), 0,
                            NULL, data)
                      ? -1
                      : version_of(data, step);
    bouma_step_free(s);
    bouma_dataset_free(ds);
    return version;
}

/* Steps 0 and 1, version 0. */
static void prepare(bouma_io *io)
{
    bouma_grid *g = NULL;
    bouma_variable *v = NULL;
    bouma_options opts = {.size = sizeof(opts)};
    bouma_dataset *ds;

    opts.io = io;
    REQUIRE(!bouma_dataset_create(&ds, PATH, &opts));
    REQUIRE(!define(ds, &g, &v));
    CHECK_EQ(write_step(ds, v, 0, 0), BOUMA_OK);
    CHECK_EQ(write_step(ds, v, 1, 0), BOUMA_OK);
    CHECK_EQ(bouma_dataset_close(ds), BOUMA_OK);
    bouma_dataset_free(ds);
}

/* Write step 2, write step 0 again, and drop what is behind 1; all may fail. */
static void work(const bouma_options *opts, int drops)
{
    bouma_dataset *ds = NULL;
    bouma_grid *g = NULL;
    bouma_variable *v = NULL;

    if (!bouma_dataset_append(&ds, PATH, opts) && !define(ds, &g, &v)) {
        write_step(ds, v, 2, 0);
        write_step(ds, v, 0, 1);
        if (drops)
            bouma_dataset_truncate(ds, 1);
        bouma_dataset_close(ds);
    }
    bouma_dataset_free(ds);
}

static void count_findings(void *user, const bouma_finding *f)
{
    *(int *)user += !strncmp(f->name, "idx/", 4);
}

/* Whatever happened: what IDX lists is whole. Once repaired, it is what the
 * library has. */
static void check_after(bouma_io *io, const bouma_options *plain)
{
    bouma_repair_report repaired = {.size = sizeof(repaired)};
    bouma_verify_report report = {.size = sizeof(report)};
    char message[512];
    int idx = 0;

    for (int64_t step = 0; step < 3; step++)
        CHECK(view_version(io, step) != -1);
    CHECK_EQ(bouma_repair(&repaired, PATH, 1, plain, NULL, NULL, message,
                          sizeof(message)),
             BOUMA_OK);
    CHECK_EQ(repaired.hopeless, 0);
    CHECK_EQ(bouma_verify(&report, PATH, BOUMA_DEPTH_FULL, plain,
                          count_findings, &idx, message, sizeof(message)),
             BOUMA_OK);
    CHECK_EQ(report.damages, 0);
    CHECK_EQ(idx, 0);
    for (int64_t step = 0; step < 3; step++)
        CHECK_EQ(view_version(io, step), read_version(plain, step));
}

/* Fail call number 'at'; whether there is one. */
static int fail_call(long at, int sticky, int drops,
                     bouma_durability durability)
{
    /* Of those that fail alone, every other one has done its work. */
    const struct fault failure = {
        "EIO", !sticky && at % 2 ? FAULT_AFTER : FAULT_ERROR, EIO};
    bouma_io *io = bouma_io_memory_new();
    bouma_options opts, plain = {.size = sizeof(plain)};
    struct fault_io faulty;
    int before = check_counts()->failed, fired;

    REQUIRE(io);
    prepare(io);
    plain.io = io;
    fault_io_init(&faulty, io);
    opts = plain;
    opts.io = &faulty.table;
    opts.replace = 1;
    opts.durability = durability;
    opts.group = 2;
    fault_io_arm(&faulty, &failure, at, sticky);
    work(&opts, drops);
    fired = faulty.fired > 0;
    fault_io_disarm(&faulty);
    check_after(io, &plain);
    if (!fired) {
        CHECK_EQ(view_version(io, 0), 1);
        CHECK_EQ(view_version(io, 1), 0);
        CHECK_EQ(view_version(io, 2), drops ? -2 : 0);
    }
    if (check_counts()->failed > before)
        printf("call %ld%s, %s, durability %d\n", at,
               sticky ? " and all behind it" : "", drops ? "drops" : "keeps",
               (int)durability);
    bouma_io_memory_free(io);
    return fired;
}

static void readers_of_idx_see_whole_steps_whatever_fails(void)
{
    for (int drops = 0; drops < 2; drops++)
        for (int sticky = 0; sticky < 2; sticky++)
            for (long at = 1;
                 fail_call(at, sticky, drops, BOUMA_DURABILITY_FAST); at++)
                ;
    for (long at = 1; fail_call(at, 1, 0, BOUMA_DURABILITY_GROUP); at += 3)
        ;
}

/* The next who appends goes on in the same series, and mends what is missing.
 */
static void who_appends_mends(void)
{
    bouma_io *io = bouma_io_memory_new();
    bouma_options opts = {.size = sizeof(opts)};
    void *root;

    REQUIRE(io);
    prepare(io);
    opts.io = io;
    opts.replace = 1;
    REQUIRE(!io->attach(io->user, &root, PATH, 0));
    CHECK_EQ(io->remove(io->user, root, "idx/g.idx"), 0);
    CHECK_EQ(io->remove(io->user, root, "idx/g/time000000001"), 0);
    io->detach(io->user, root);
    CHECK_EQ(view_version(io, 1), -2);
    work(&opts, 0);
    CHECK_EQ(view_version(io, 0), 1);
    CHECK_EQ(view_version(io, 1), 0);
    CHECK_EQ(view_version(io, 2), 0);
    bouma_io_memory_free(io);
}

/* With another variable, earlier steps are another dataset to readers of IDX:
 * the header is that of the last step. */
static void the_header_is_that_of_the_last_step(void)
{
    bouma_variable_spec about = {.size = sizeof(about), .type = BOUMA_TYPE_U8};
    bouma_io *io = bouma_io_memory_new();
    bouma_grid *g = NULL;
    bouma_variable *v = NULL, *w = NULL;
    bouma_verify_report report = {.size = sizeof(report)};
    char message[512];
    struct idx_view view;
    bouma_options opts = {.size = sizeof(opts)};
    bouma_dataset *ds;

    REQUIRE(io);
    prepare(io);
    opts.io = io;
    REQUIRE(!bouma_dataset_append(&ds, PATH, &opts));
    REQUIRE(!define(ds, &g, &v));
    REQUIRE(!bouma_variable_define(&w, g, "w", &about));
    CHECK_EQ(write_step(ds, v, 5, 0), BOUMA_OK);
    CHECK_EQ(write_step(ds, v, 6, 0), BOUMA_OK);
    CHECK_EQ(bouma_dataset_close(ds), BOUMA_OK);
    bouma_dataset_free(ds);
    REQUIRE(idx_view_open(&view, io, PATH, "g"));
    CHECK_EQ(view.field_count, 2);
    CHECK_EQ(view.step_count, 2);
    CHECK_EQ(view.steps[0], 5);
    idx_view_close(&view);
    CHECK_EQ(view_version(io, 5), 0);
    CHECK_EQ(view_version(io, 6), 0);
    CHECK_EQ(bouma_verify(&report, PATH, BOUMA_DEPTH_FULL, &opts, NULL, NULL,
                          message, sizeof(message)),
             BOUMA_OK);
    CHECK_EQ(report.damages + report.notes, 0);
    bouma_io_memory_free(io);
}

/* ---- what others put there ------------------------------------------------ */

static void make_file(const bouma_io *io, void *root, const char *name,
                      const char *text)
{
    size_t done;
    void *file;

    REQUIRE(!io->open(io->user, root, &file, name, BOUMA_OPEN_MODE_CREATE));
    CHECK_EQ(io->write(io->user, file, text, strlen(text), 0, &done), 0);
    CHECK_EQ(io->close(io->user, file), 0);
}

static void check_file(const bouma_io *io, void *root, const char *name,
                       const char *text)
{
    char is[512] = "is gone";
    size_t done;
    void *file;

    if (!io->open(io->user, root, &file, name, BOUMA_OPEN_MODE_READ)) {
        memset(is, 0, sizeof(is));
        CHECK_EQ(io->read(io->user, file, is, sizeof(is) - 1, 0, &done), 0);
        CHECK_EQ(io->close(io->user, file), 0);
    }
    CHECK(!strcmp(is, text));
}

/* Neither truncating nor repairing changes what is not ours, nor fails of it. */
static void files_of_others_stay(void)
{
    static const char other[] = "(version)\n6\n(time)\n0 1 time%09d/\n"
                                "(filename_template)\n./other/%02x.bin\n";
    static const char elsewhere[] = "(version)\n6\n(time)\n0 1 time%09d/\n"
                                    "(filename_template)\n./data/%02x.bin\n";
    bouma_io *io = bouma_io_memory_new();
    char link[256] = "", message[512];
    bouma_repair_report repaired = {.size = sizeof(repaired)};
    bouma_options opts = {.size = sizeof(opts)};
    bouma_dataset *ds;
    void *root;
    int idx = 0;

    REQUIRE(io);
    prepare(io);
    opts.io = io;
    REQUIRE(!io->attach(io->user, &root, PATH, 0));
    make_file(io, root, "idx/notes.idx", "notes");
    make_file(io, root, "idx/README", "text");
    make_file(io, root, "idx/g.idx.old", "old");
    make_file(io, root, "idx/other.idx", other);
    CHECK_EQ(io->make_dir(io->user, root, "idx/other"), 0);
    CHECK_EQ(io->make_dir(io->user, root, "idx/other/time000000000"), 0);
    make_file(io, root, "idx/other/time000000000/00.bin", "data");
    make_file(io, root, "idx/elsewhere.idx", elsewhere);
    CHECK_EQ(io->make_dir(io->user, root, "idx/dir.idx"), 0);
    CHECK_EQ(io->link(io->user, root, "idx/link.idx", "../DATASET"), 0);
    for (int i = 0; i < 2; i++) {
        REQUIRE(!bouma_dataset_append(&ds, PATH, &opts));
        CHECK_EQ(bouma_dataset_truncate(ds, i - 1), BOUMA_OK);
        CHECK_EQ(bouma_dataset_close(ds), BOUMA_OK);
        bouma_dataset_free(ds);
        CHECK_EQ(bouma_repair(&repaired, PATH, 1, &opts, count_findings, &idx,
                              message, sizeof(message)),
                 BOUMA_OK);
        CHECK_EQ(idx, 0);
        check_file(io, root, "idx/notes.idx", "notes");
        check_file(io, root, "idx/README", "text");
        check_file(io, root, "idx/g.idx.old", "old");
        check_file(io, root, "idx/other.idx", other);
        check_file(io, root, "idx/other/time000000000/00.bin", "data");
        check_file(io, root, "idx/elsewhere.idx", elsewhere);
        CHECK_EQ(
            io->read_link(io->user, root, "idx/link.idx", link, sizeof(link)),
            0);
    }
    io->detach(io->user, root);
    bouma_io_memory_free(io);
}

/* A file with the name of a link is kept. */
static void files_make_way_for_links(void)
{
    bouma_io *io = bouma_io_memory_new();
    bouma_repair_report repaired = {.size = sizeof(repaired)};
    bouma_options opts = {.size = sizeof(opts)};
    char message[512];
    void *root;
    int idx = 0;

    REQUIRE(io);
    prepare(io);
    opts.io = io;
    REQUIRE(!io->attach(io->user, &root, PATH, 0));
    for (int i = 0; i < 2; i++)
        CHECK_EQ(io->remove(io->user, root,
                            i ? "idx/g/time000000001" : "idx/g/time000000000"),
                 0);
    make_file(io, root, "idx/g/time000000000", "mine");
    CHECK_EQ(bouma_repair(&repaired, PATH, 1, &opts, count_findings, &idx,
                          message, sizeof(message)),
             BOUMA_OK);
    check_file(io, root, "lost/idx.g.time000000000.0", "mine");
    CHECK_EQ(view_version(io, 0), 0);
    CHECK_EQ(view_version(io, 1), 0);
    io->detach(io->user, root);
    bouma_io_memory_free(io);
}

/* A link that leads to another step's files takes none of them with it. */
static void links_of_other_steps_stay(void)
{
    bouma_io *io = bouma_io_memory_new();
    bouma_repair_report repaired = {.size = sizeof(repaired)};
    bouma_options opts = {.size = sizeof(opts)};
    char message[512], text[256] = "";
    void *root;

    REQUIRE(io);
    prepare(io);
    opts.io = io;
    REQUIRE(!io->attach(io->user, &root, PATH, 0));
    CHECK_EQ(io->read_link(io->user, root, "idx/g/time000000000", text,
                           sizeof(text)),
             0);
    CHECK_EQ(io->remove(io->user, root, "idx/g/time000000001"), 0);
    CHECK_EQ(io->link(io->user, root, "idx/g/time000000001", text), 0);
    CHECK_EQ(bouma_repair(&repaired, PATH, 1, &opts, NULL, NULL, message,
                          sizeof(message)),
             BOUMA_OK);
    CHECK_EQ(view_version(io, 0), 0);
    CHECK_EQ(view_version(io, 1), 0);
    io->detach(io->user, root);
    bouma_io_memory_free(io);
}

/* A link in place of the directory of links goes, not what it leads to. */
static void links_in_place_of_directories_go(void)
{
    bouma_io *io = bouma_io_memory_new();
    char message[512], text[200] = "", links[256], moved[256];
    bouma_repair_report repaired = {.size = sizeof(repaired)};
    bouma_options opts = {.size = sizeof(opts)};
    void *root;

    REQUIRE(io);
    prepare(io);
    opts.io = io;
    REQUIRE(!io->attach(io->user, &root, PATH, 0));
    CHECK_EQ(io->read_link(io->user, root, "idx/g/time000000001", text,
                           sizeof(text)),
             0);
    snprintf(links, sizeof(links), "idx/g/%s", text);
    for (int i = 0; i < 256; i++) {
        snprintf(moved, sizeof(moved), "idx/g/%s/%02x.bin", text, (unsigned)i);
        io->remove(io->user, root, moved);
    }
    CHECK_EQ(io->remove_dir(io->user, root, links), 0);
    CHECK_EQ(io->link(io->user, root, links, "../../steps"), 0);
    CHECK_EQ(bouma_repair(&repaired, PATH, 1, &opts, NULL, NULL, message,
                          sizeof(message)),
             BOUMA_OK);
    CHECK_EQ(view_version(io, 0), 0);
    CHECK_EQ(view_version(io, 1), 0);
    io->detach(io->user, root);
    bouma_io_memory_free(io);
}

static void steps_beyond_those_of_idx_are_refused(void)
{
    bouma_io *io = bouma_io_memory_new();
    bouma_grid *g = NULL;
    bouma_variable *v = NULL;
    bouma_options opts = {.size = sizeof(opts)};
    bouma_dataset *ds;

    REQUIRE(io);
    opts.io = io;
    REQUIRE(!bouma_dataset_create(&ds, PATH, &opts));
    REQUIRE(!define(ds, &g, &v));
    CHECK_EQ(write_step(ds, v, (int64_t)1 << 31, 0), BOUMA_EINVAL);
    CHECK_TEXT(bouma_error_message(ds), "timesteps up to 2147483647");
    CHECK_EQ(write_step(ds, v, ((int64_t)1 << 31) - 1, 0), BOUMA_OK);
    CHECK_EQ(bouma_dataset_close(ds), BOUMA_OK);
    bouma_dataset_free(ds);
    CHECK_EQ(view_version(io, ((int64_t)1 << 31) - 1), 0);
    bouma_io_memory_free(io);
}

/* Manifests are read from files: one may say that a grid is in more files than
 * it has. */
static void files_that_a_grid_cannot_have_are_not_looked_for(void)
{
    enum { MANY = 200 };
    static struct bm_subfile_info files[MANY];
    bouma_variable_spec about = {.size = sizeof(about), .type = BOUMA_TYPE_F32};
    bouma_grid_spec spec = grid_spec();
    struct bm_part_info part = {.variable = 0};
    struct bm_error error = {0};
    struct bm_manifest m = {.subfiles = files, .count = MANY};
    struct bm_idx_walk walk = {.manifest = &m};
    struct bouma_variable *v;
    struct bm_schema schema;
    struct bm_idx_file file;
    struct bm_object *grid;
    uint64_t next = 0;
    int count = 0;

    bm_schema_init(&schema, bm_allocator_default(), &error);
    spec.hz_block_bits = 2;
    spec.hz_blocks_per_file = 3; /* no power of two: files have a table */
    REQUIRE(!bm_schema_add_grid(&schema, &grid, "g", &spec));
    REQUIRE(!bm_schema_add_variable(grid, &v, "v", &about));
    REQUIRE(!bm_schema_number(&schema));
    for (int i = 0; i < MANY; i++) {
        files[i].parts = &part;
        files[i].count = 1;
    }
    m.schema = &schema;
    walk.grid = grid;
    for (; bm_idx_next(&walk, &file); count++) {
        CHECK(file.first >= next);
        next = file.first + 3;
    }
    CHECK_EQ(count, bm_grid_idx_files(grid));
    CHECK(count > 10);
    bm_schema_release(&schema);
}

/* A repair removes the links of steps that are not there, and the directories
 * that they lead to, in whatever order it comes across them. */
static void one_repair_removes_all_that_is_left(void)
{
    bouma_io *io = bouma_io_memory_new();
    bouma_repair_report repaired = {.size = sizeof(repaired)};
    bouma_verify_report report = {.size = sizeof(report)};
    char message[512];
    bouma_options opts = {.size = sizeof(opts)};
    void *root;

    REQUIRE(io);
    prepare(io);
    opts.io = io;
    REQUIRE(!io->attach(io->user, &root, PATH, 0));
    CHECK(!io->make_dir(io->user, root, "idx/g/000000007.e1a7"));
    CHECK(!io->link(io->user, root, "idx/g/time000000007", "000000007.e1a7"));
    CHECK(!io->link(io->user, root, "idx/g/time000000008", "000000008.e1a8"));
    CHECK(!io->make_dir(io->user, root, "idx/g/000000008.e1a8"));
    io->detach(io->user, root);
    CHECK_EQ(bouma_repair(&repaired, PATH, 1, &opts, NULL, NULL, message,
                          sizeof(message)),
             BOUMA_OK);
    CHECK_EQ(repaired.actions, 4);
    CHECK_EQ(bouma_verify(&report, PATH, BOUMA_DEPTH_FULL, &opts, NULL, NULL,
                          message, sizeof(message)),
             BOUMA_OK);
    CHECK_EQ(report.damages + report.notes, 0);
    bouma_io_memory_free(io);
}

/* With 'replace', each commit looks for grids that are gone; but not at all
 * steps, if others have put something into idx/. */
static void later_steps_cost_no_more(void)
{
    bouma_io *io = bouma_io_memory_new();
    bouma_grid *g = NULL;
    bouma_variable *v = NULL;
    struct fault_io counted;
    bouma_options opts = {.size = sizeof(opts)};
    bouma_dataset *ds;
    long calls[12];
    void *root;

    REQUIRE(io);
    prepare(io);
    REQUIRE(!io->attach(io->user, &root, PATH, 0));
    make_file(io, root, "idx/README", "text");
    io->detach(io->user, root);
    fault_io_init(&counted, io);
    opts.io = &counted.table;
    opts.replace = 1;
    REQUIRE(!bouma_dataset_append(&ds, PATH, &opts));
    REQUIRE(!define(ds, &g, &v));
    for (int64_t step = 2; step < 12; step++) {
        counted.calls = 0;
        CHECK_EQ(write_step(ds, v, step, 0), BOUMA_OK);
        calls[step] = counted.calls;
    }
    CHECK_EQ(calls[11], calls[5]);
    bouma_dataset_free(ds);
    bouma_io_memory_free(io);
}

int main(void)
{
    what_idx_has_not_is_refused();
    older_tables_have_no_links();
    steps_of_a_header_are_read_back();
    names_have_the_digits_that_pidx_wants();
    readers_of_idx_see_whole_steps_whatever_fails();
    who_appends_mends();
    the_header_is_that_of_the_last_step();
    files_of_others_stay();
    files_make_way_for_links();
    links_of_other_steps_stay();
    links_in_place_of_directories_go();
    steps_beyond_those_of_idx_are_refused();
    files_that_a_grid_cannot_have_are_not_looked_for();
    one_repair_removes_all_that_is_left();
    later_steps_cost_no_more();
    return check_result();
}
