/* test_mpi_front.c -- files that begin with bytes of another format (those of
 * grid_rows.c), behind which the head stands: written in all orders of stages,
 * read, drained; damage anywhere in front of the data is found, and mended to
 * the byte. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../helpers/arrays.h"
#include "columns.h"
#include "layout/front.h"
#include "rows_trial.h"

enum { FILES = 3, FRONT = 16 + 12 * CHUNKS, HEAD = 128 };

/* ---- a file as bytes ----------------------------------------------------- */

struct bytes {
    char name[1600];
    uint8_t *data;
    size_t size, head; /* bytes of its head */
};

static void bytes_load(struct bytes *b)
{
    struct stat st;
    FILE *f = fopen(b->name, "rb");

    REQUIRE(f && !fstat(fileno(f), &st));
    b->size = (size_t)st.st_size;
    b->data = malloc(b->size + 1);
    REQUIRE(b->data && fread(b->data, 1, b->size, f) == b->size);
    fclose(f);
}

/* File 'file' of step 1. */
static struct bytes bytes_of(const struct trial *t, uint32_t file)
{
    char name[BM_NAME_BYTES];
    struct bytes b;

    bm_name_subfile(name, 1, file, (struct bm_generation){1, 2});
    snprintf(b.name, sizeof(b.name), "%s/%s", t->path, name);
    bytes_load(&b);
    REQUIRE(b.size > HEAD + 64);
    b.head = 64 + (size_t)bm_load_u64(b.data + HEAD + 16);
    return b;
}

/* Whether the file has the same bytes as then. */
static int is_as_before(const struct bytes *b)
{
    struct bytes now = *b;
    int same;

    bytes_load(&now);
    same = now.size == b->size && !memcmp(now.data, b->data, b->size);
    free(now.data);
    return same;
}

static void flip(const struct bytes *b, size_t at)
{
    FILE *f = fopen(b->name, "r+b");

    REQUIRE(f && at < b->size);
    CHECK_EQ(fseek(f, (long)at, SEEK_SET), 0);
    CHECK_EQ(fputc(b->data[at] ^ 0x40, f), b->data[at] ^ 0x40);
    fclose(f);
}

/* ---- what they hold ------------------------------------------------------ */

/* The front leads to the chunks of the file: with codec raw, to the samples. */
static void check_front(const struct trial *t)
{
    for (uint32_t i = 0; i < FILES; i++) {
        struct bytes b = bytes_of(t, i);

        CHECK(!memcmp(b.data, "rows of a grid\r\n", 16));
        CHECK(!memcmp(b.data + HEAD, "BOUMA\r\n\x1a", 8));
        CHECK(!memcmp(b.data + HEAD, b.data + b.size - b.head, b.head));
        if (t->cut != CUT_BISECTION) /* which cuts each step anew */
            CHECK_EQ(bm_load_u32(b.data + HEAD + 100), /* stored offsets */
                     t->options.predict == BOUMA_PREDICT_ON);
        CHECK_EQ(bm_load_u64(b.data + b.size - 16), FRONT);
        CHECK_EQ(bm_load_u64(b.data + b.size - 8), b.head);
        for (size_t at = FRONT; at < HEAD; at++)
            CHECK_EQ(b.data[at], 0);
        for (uint32_t c = 0; c < CHUNKS; c++) {
            uint64_t offset = bm_load_u64(b.data + 16 + 12 * c);
            uint32_t size = bm_load_u32(b.data + 24 + 12 * c);
            int64_t at[2] = {c, 0};
            float value;

            CHECK_EQ(size > 0, c % FILES == i);
            CHECK_EQ(offset > 0, c % FILES == i);
            CHECK(offset <= b.size && size <= b.size - offset);
            field_value(&value, &rows_field, at, 0, 1);
            if (size && t->codec == BOUMA_CODEC_RAW)
                CHECK(!memcmp(b.data + offset, &value, sizeof(value)));
        }
        free(b.data);
    }
}

/* ---- damage -------------------------------------------------------------- */

/* What repair does, or would do. */
static bouma_repair_report repair(const struct trial *t, int apply)
{
    bouma_repair_report report = {.size = sizeof(report)};
    char message[512] = "";

    CHECK_EQ(bouma_repair(&report, t->path, apply, NULL, NULL, NULL, message,
                          sizeof(message)),
             BOUMA_OK);
    return report;
}

/* A file that was changed is found, can be read, and is mended to the byte. */
static void check_mended(const struct trial *t, const struct bytes *b)
{
    bouma_repair_report report = {.size = sizeof(report)};

    CHECK(!is_as_before(b));
    CHECK_EQ(damages(t->path), 1);
    CHECK_EQ(wrong_on_disk(t->path, 1, "v", &rows_field), 0);
    report = repair(t, 0);
    CHECK(report.actions == 1 && !report.hopeless);
    CHECK(!is_as_before(b));
    report = repair(t, 1);
    CHECK(report.actions == 1 && !report.hopeless);
    CHECK(is_as_before(b));
    check_all(t->path);
}

static void all_before_the_data_is_mended(const struct trial *t)
{
    struct bytes b = bytes_of(t, 1);
    size_t offsets[] = {0,
                        20,
                        FRONT - 1,
                        FRONT,
                        HEAD - 1,
                        HEAD,
                        HEAD + 12,
                        HEAD + 64,
                        HEAD + 70,
                        b.size - 1,
                        HEAD + b.head - 1,
                        b.size - 9,
                        b.size - b.head};

    for (size_t i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++) {
        flip(&b, offsets[i]);
        check_mended(t, &b);
    }
    flip(&b, 30); /* and the head behind it */
    flip(&b, HEAD + 99);
    CHECK_EQ(damages(t->path), 2);
    CHECK_EQ(repair(t, 1).actions, 1);
    CHECK(is_as_before(&b));
    free(b.data);
}

/* Of a file that was cut in its data the head is still there; of one that was
 * cut in the first head nothing is. */
static void a_cut_file_tells_what_is_lost(const struct trial *t)
{
    struct bytes b = bytes_of(t, 1);
    FILE *f;

    CHECK_EQ(truncate(b.name, (off_t)(b.size - 20)), 0);
    check_mended(t, &b);
    CHECK_EQ(truncate(b.name, (off_t)(HEAD + b.head + 100)), 0);
    CHECK_EQ(damages(t->path), 1);
    CHECK(wrong_on_disk(t->path, 1, "v", &rows_field) > 0);
    CHECK_EQ(repair(t, 0).hopeless, 1);
    CHECK_EQ(truncate(b.name, (off_t)(HEAD + b.head - 1)), 0);
    CHECK(wrong_on_disk(t->path, 1, "v", &rows_field) > 0);
    CHECK_EQ(repair(t, 0).hopeless, 1);
    f = fopen(b.name, "wb");
    REQUIRE(f && fwrite(b.data, 1, b.size, f) == b.size);
    fclose(f);
    check_all(t->path);
    free(b.data);
}

/* Without a manifest, heads are found by the ends of files. */
static void a_manifest_is_made_anew(const struct trial *t)
{
    char name[BM_NAME_BYTES], file[1200], message[512];
    bouma_repair_report report = {.size = sizeof(report)};

    bm_name_manifest(name, 1);
    snprintf(file, sizeof(file), "%s/%s", t->path, name);
    CHECK_EQ(unlink(file), 0);
    report = repair(t, 1);
    CHECK(report.actions > 0);
    CHECK_EQ(bouma_repair_forget(NULL, t->path, -1, 1, NULL, NULL, NULL,
                                 message, sizeof(message)),
             BOUMA_OK);
    check_all(t->path);
}

struct wrong {
    int files, named;
};

static void record_wrong(void *user, const bouma_finding *finding)
{
    struct wrong *w = user;

    w->files += strstr(finding->text, "are in a wrong file") != NULL;
    w->named += strstr(finding->text,
                       "variable \"g/v\": each 8-th row from row 1 on is in "
                       "file 1, its layout puts it into file 2; 3 of 3 "
                       "chunks") != NULL;
}

/* Chunks must be where the layout has them. */
static void chunks_in_wrong_files_are_found(const struct trial *t)
{
    bouma_verify_report report = {.size = sizeof(report)};
    struct wrong wrong = {0, 0};
    char message[512];

    grid_rows_file_shift = 1;
    CHECK_EQ(bouma_verify(&report, t->path, BOUMA_DEPTH_META, NULL,
                          record_wrong, &wrong, message, sizeof(message)),
             BOUMA_OK);
    grid_rows_file_shift = 0;
    CHECK_EQ(report.damages, FILES * STEPS);
    CHECK_EQ(wrong.files, FILES * STEPS);
    CHECK_EQ(wrong.named, STEPS);
}

/* ---- trials -------------------------------------------------------------- */

static void front_init(struct trial *t, const struct ranks *ranks, int number)
{
    trial_init(t, ranks, number);
    t->fixed = FILES;
    t->front = 1;
    t->options.order = number & 1 ? BOUMA_ORDER_CHUNK : BOUMA_ORDER_LEVEL;
    t->options.async = number >> 1 & 1;
    t->options.predict = number >= CUTS ? BOUMA_PREDICT_ON : BOUMA_PREDICT_OFF;
}

static void fronts_go_all_the_way(const struct ranks *ranks, int number)
{
    struct trial t;

    front_init(&t, ranks, number);
    write_steps(&t);
    read_step(&t);
    if (!ranks->rank) {
        check_all(t.path);
        check_front(&t);
    }
    if (!ranks->rank && number % CUTS == 1) {
        all_before_the_data_is_mended(&t);
        a_cut_file_tells_what_is_lost(&t);
        chunks_in_wrong_files_are_found(&t);
        a_manifest_is_made_anew(&t);
        check_front(&t);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Drain does not take a file whose front is damaged. */
static void damage_is_not_drained(const struct trial *t)
{
    char name[BM_NAME_BYTES], other[600], message[512] = "";
    bouma_drain_report report = {.size = sizeof(report)};
    struct bytes b;

    bm_name_subfile(name, 1, 2, (struct bm_generation){1, 2});
    snprintf(b.name, sizeof(b.name), "%s/%s", t->local_copy, name);
    bytes_load(&b);
    flip(&b, 17);
    free(b.data);
    snprintf(other, sizeof(other), "%s.damaged", t->path);
    CHECK_EQ(bouma_drain(&report, t->local_copy, other, 0, NULL, message,
                         sizeof(message)),
             BOUMA_EFORMAT);
    CHECK(strstr(message, "the bytes before its head are damaged") != NULL);
    CHECK_EQ(report.published, STEPS - 1);
}

static void fronts_are_drained(const struct ranks *ranks, int number)
{
    struct trial t;

    front_init(&t, ranks, number);
    trial_persist(&t);
    write_steps(&t);
    if (!ranks->rank) {
        check_all(t.path);
        drain(&t);
        damage_is_not_drained(&t);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* ---- beside other objects ------------------------------------------------ */

enum { ROWS = 2 }; /* grids that have a front */

struct objects {
    bouma_variable *rows[ROWS], *patches;
    bouma_particles *dust;
};

static const struct field patches_field = {
    BOUMA_TYPE_F32, 1, 2, {23, 17, 0}, 9};

static bouma_variable *define_rows(bouma_dataset *ds, const char *name,
                                   int64_t files)
{
    bouma_grid_spec grid = {.size = sizeof(grid),
                            .ndims = 2,
                            .shape = {rows_field.shape[0], rows_field.shape[1]},
                            .patch = {CHUNKS, files, 1},
                            .levels = LEVELS};
    bouma_variable_spec spec = {.size = sizeof(spec),
                                .type = rows_field.type,
                                .components = rows_field.components};
    struct bm_object *object;
    bouma_variable *v = NULL;

    REQUIRE(!bm_schema_add(&ds->schema, &object, &bm_layout_grid_rows, name, "",
                           &grid));
    REQUIRE(!bouma_variable_define(&v, (bouma_grid *)object, "v", &spec));
    return v;
}

static void define_objects(struct objects *o, bouma_dataset *ds)
{
    bouma_particles_spec dust = {.size = sizeof(dust), .ndims = 1};

    REQUIRE(!field_define(&o->patches, ds, &patches_field));
    o->rows[0] = define_rows(ds, "r", FILES);
    REQUIRE(!bouma_particles_define(&o->dust, ds, "dust", &dust));
    o->rows[1] = define_rows(ds, "s", 2);
}

static void write_objects(const struct trial *t)
{
    uint64_t shared = 3, own = 4 + (uint64_t)t->ranks->rank;
    float positions[2] = {(float)t->ranks->rank, 0.5F};
    struct cutting cuttings[ROWS + 1];
    struct puts puts[ROWS + 1];
    struct objects o;
    bouma_dataset *ds;

    REQUIRE(
        !bouma_dataset_create_mpi(&ds, MPI_COMM_WORLD, t->path, &t->options));
    define_objects(&o, ds);
    CHECK_EQ(bouma_step_begin(ds, 1, 0), BOUMA_OK);
    for (int i = 0; i <= ROWS; i++) {
        const struct field *f = i < ROWS ? &rows_field : &patches_field;

        cutting_make(&cuttings[i], t->cut, f, t->ranks->size, &shared);
        CHECK_EQ(puts_make(&puts[i], i < ROWS ? o.rows[i] : o.patches, f,
                           &cuttings[i], 1, &own),
                 BOUMA_OK);
    }
    CHECK_EQ(test_put_particles(o.dust, 2,
                                &(struct test_column){
                                    .variable = bouma_particles_find_variable(
                                        o.dust, "position"),
                                    .data = positions},
                                1, NULL),
             BOUMA_OK);
    CHECK_EQ(bouma_step_end(ds), BOUMA_OK);
    for (int i = 0; i <= ROWS; i++)
        CHECK_EQ(puts_free(&puts[i]), 0);
    CHECK_EQ(bouma_dataset_close(ds), BOUMA_OK);
    bouma_dataset_free(ds);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void check_rows(bouma_step *step, const char *name)
{
    bouma_grid *g = bouma_step_find_grid(step, name);
    bouma_variable *v = g ? bouma_grid_find_variable(g, "v") : NULL;
    bouma_selection all = {.size = sizeof(all)};
    void *data;

    REQUIRE(v && !bouma_variable_select(&all, v, 0, NULL));
    data = malloc(all.bytes);
    REQUIRE(data);
    CHECK_EQ(test_read(v, 0, NULL, data), BOUMA_OK);
    CHECK_EQ(field_wrong(&rows_field, &all, 0, data, 1), 0);
    free(data);
}

/* Files that layouts have fixed come first; the others begin with heads. */
static void check_objects(const struct trial *t)
{
    bouma_verify_report report = {.size = sizeof(report)};
    bouma_dataset *ds;
    bouma_step *step;
    bouma_step_file file = {.size = sizeof(file)};
    char message[512];
    int files = 0;

    CHECK_EQ(bouma_verify(&report, t->path, BOUMA_DEPTH_DEEP, NULL, NULL, NULL,
                          message, sizeof(message)),
             BOUMA_OK);
    CHECK(!report.damages && !report.unchecked && !report.notes);
    CHECK_EQ(wrong_on_disk(t->path, 1, "v", &patches_field), 0);
    REQUIRE(!bouma_dataset_open(&ds, t->path, NULL));
    REQUIRE(!bouma_step_open(&step, ds, 1));
    check_rows(step, "r");
    check_rows(step, "s");
    for (; !bouma_step_file_get(&file, step, files); files++) {
        char name[BM_NAME_BYTES];
        struct bytes b;

        bm_name_subfile(name, 1, (uint32_t)files, (struct bm_generation){1, 1});
        snprintf(b.name, sizeof(b.name), "%s/%s", t->path, name);
        bytes_load(&b);
        CHECK_EQ(!memcmp(b.data, "rows of a grid\r\n", 16), files < FILES + 2);
        CHECK_EQ(!memcmp(b.data, "BOUMA\r\n\x1a", 8), files >= FILES + 2);
        free(b.data);
    }
    CHECK(files > FILES + 2);
    bouma_step_free(step);
    bouma_dataset_free(ds);
}

static void other_objects_are_in_other_files(const struct ranks *ranks,
                                             int number)
{
    struct trial t;

    trial_init(&t, ranks, number);
    write_objects(&t);
    if (!ranks->rank)
        check_objects(&t);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    struct ranks ranks;

    ranks_init(&ranks, &argc, &argv);
    for (int i = 0; i < 2 * CUTS; i++)
        fronts_go_all_the_way(&ranks, i);
    fronts_are_drained(&ranks, 2 * CUTS);
    other_objects_are_in_other_files(&ranks, 2 * CUTS + 1);
    other_objects_are_in_other_files(&ranks, 2 * CUTS + 2);
    return ranks_end(&ranks, check_counts()->failed, check_counts()->checks);
}
