/* forge.h -- a small dataset in memory whose files a test changes at will, and
 * seals again: what is wrong is then not a checksum. */
#ifndef FORGE_H
#define FORGE_H

#include "../helpers/arrays.h"
#include "../helpers/damage.h"
#include "bouma.h"
#include "columns.h"
#include "sized.h"

#define FORGE_PATH "set.bouma"

enum {
    FORGE_STEPS = 3,
    FORGE_EDGE = 32,
    FORGE_FILES = 2,
    FORGE_PARTICLES = 20000
};

/* Where things are in metadata; see docs/format.md. */
enum {
    FORGE_MAJOR = 12,
    FORGE_MINOR = 14,
    FORGE_ZERO = 24,
    FORGE_STEP = 64,
    FORGE_TIME = 72
};

struct forge {
    bouma_io *io;
    bouma_options options;
    int with_particles;
    double tolerance;  /* of a particle's mass */
    bouma_hz_order hz; /* 0: in patches */
};

/* What forge_begin() makes: the grid in patches; particles too; with stored
 * offsets in steps 1 and 2; in HZ order, as rows or along the curve; particles
 * whose masses are rounded. */
enum {
    FORGE_GRID = 0,
    FORGE_DUST = 1,
    FORGE_OFFSETS = 2,
    FORGE_HZ_ROWS = 3,
    FORGE_HZ_CURVE = 4,
    FORGE_ROUNDED_DUST = 5
};

/* A file in memory. */
struct forge_file {
    char name[96];
    uint8_t *data;
    size_t bytes;
};

static inline float forge_value(int step, int y, int x)
{
    return (float)step * 1000 + (float)y * 0.5f + (float)(x * x) * 0.25f;
}

/* The arrays are read when the step ends. */
static inline void forge_put_particles(bouma_particles *dust, int step)
{
    static float at[FORGE_PARTICLES][2], mass[FORGE_PARTICLES];
    struct test_column columns[2] = {
        {.variable = bouma_particles_position(dust), .data = at},
        {.variable = bouma_particles_variable(dust, 0), .data = mass}};
    uint64_t random = (uint64_t)step;

    for (int i = 0; i < FORGE_PARTICLES; i++) {
        at[i][0] = (float)check_below(&random, 1 << 20);
        at[i][1] = (float)check_below(&random, 1 << 20);
        mass[i] = (float)check_below(&random, 1000);
    }
    REQUIRE(!test_put_particles(dust, FORGE_PARTICLES, columns, 2, NULL));
}

static inline void forge_write(struct forge *f)
{
    bouma_grid_spec shape = {.size = sizeof(shape),
                             .ndims = 2,
                             .shape = {FORGE_EDGE, FORGE_EDGE},
                             .patch = {8, 8},
                             .levels = 3,
                             .unit = "m"};
    bouma_variable_spec kind = {.size = sizeof(kind), .type = BOUMA_TYPE_F32};
    bouma_particles_spec particle_block = {
        .size = sizeof(particle_block), .ndims = 2, .type = BOUMA_TYPE_F32};
    static float field[FORGE_EDGE][FORGE_EDGE];
    bouma_box all = {.hi = {FORGE_EDGE, FORGE_EDGE}};
    bouma_particles *dust = NULL;
    bouma_variable *heat, *mass;
    bouma_dataset *ds;
    bouma_grid *g;

    if (f->hz) /* twice as high as the grid: half of the blocks are absent */
        shape = (bouma_grid_spec){.size = sizeof(shape),
                                  .ndims = 2,
                                  .shape = {FORGE_EDGE, FORGE_EDGE},
                                  .levels = 3,
                                  .unit = "m",
                                  .layout = BOUMA_LAYOUT_HZ,
                                  .hz_template = "yyxyxyxyxyx",
                                  .hz_block_bits = 5,
                                  .hz_blocks_per_file = 32,
                                  .hz_order = f->hz};
    REQUIRE(!bouma_dataset_create(&ds, FORGE_PATH, &f->options));
    REQUIRE(!bouma_attributes_set_number(bouma_dataset_attributes(ds),
                                         "numbered", 17));
    REQUIRE(!bouma_grid_define(&g, ds, "meadow", &shape));
    REQUIRE(!bouma_variable_define(&heat, g, "heat", &kind));
    if (f->with_particles) {
        REQUIRE(!bouma_particles_define(&dust, ds, "dust", &particle_block));
        kind.tolerance = f->tolerance;
        REQUIRE(!bouma_particles_define_variable(&mass, dust, "mass", &kind));
    }
    for (int s = 0; s < FORGE_STEPS; s++) {
        for (int y = 0; y < FORGE_EDGE; y++)
            for (int x = 0; x < FORGE_EDGE; x++)
                field[y][x] = forge_value(s, y, x);
        REQUIRE(!bouma_step_begin(ds, s, s * 0.5));
        REQUIRE(!test_put(heat, &all, field));
        if (dust)
            forge_put_particles(dust, s);
        REQUIRE(!bouma_step_end(ds));
    }
    REQUIRE(!bouma_dataset_close(ds));
    bouma_dataset_free(ds);
}

/* A fresh dataset, in order 'order'. */
static inline void forge_begin(struct forge *f, bouma_order order, int what)
{
    memset(f, 0, sizeof(*f));
    f->io = bouma_io_memory_new();
    REQUIRE(f->io);
    f->with_particles = what == FORGE_DUST || what == FORGE_ROUNDED_DUST;
    f->tolerance = what == FORGE_ROUNDED_DUST ? 1 : 0;
    f->hz = what == FORGE_HZ_ROWS    ? BOUMA_HZ_ORDER_ROWS
            : what == FORGE_HZ_CURVE ? BOUMA_HZ_ORDER_CURVE
                                     : 0;
    f->options = (bouma_options){.size = sizeof(f->options)};
    f->options.io = f->io;
    f->options.files = FORGE_FILES;
    f->options.order = order;
    f->options.predict = what == FORGE_OFFSETS ? BOUMA_PREDICT_ON : 0;
    memset(f->options.id, 5, sizeof(f->options.id));
    forge_write(f);
}

static inline void forge_end(struct forge *f)
{
    bouma_io_memory_free(f->io);
}

/* ---- files --------------------------------------------------------------- */

static inline int forge_exists(const struct forge *f, const char *name)
{
    const bouma_io *io = f->io;
    void *root, *file;
    int there;

    REQUIRE(!io->attach(io->user, &root, FORGE_PATH, 0));
    there = !io->open(io->user, root, &file, name, BOUMA_OPEN_MODE_READ);
    if (there)
        io->close(io->user, file);
    io->detach(io->user, root);
    return there;
}

static inline void forge_load(const struct forge *f, struct forge_file *out,
                              const char *name)
{
    const bouma_io *io = f->io;
    void *root, *file;
    uint64_t bytes;
    size_t done;

    snprintf(out->name, sizeof(out->name), "%s", name);
    REQUIRE(!io->attach(io->user, &root, FORGE_PATH, 0));
    REQUIRE(!io->open(io->user, root, &file, name, BOUMA_OPEN_MODE_READ));
    REQUIRE(!io->file_size(io->user, file, &bytes));
    out->bytes = (size_t)bytes;
    out->data = malloc(out->bytes + 1);
    REQUIRE(out->data);
    REQUIRE(!io->read(io->user, file, out->data, out->bytes, 0, &done) &&
            done == out->bytes);
    io->close(io->user, file);
    io->detach(io->user, root);
}

static inline void forge_remove(const struct forge *f, const char *name)
{
    const bouma_io *io = f->io;
    void *root;

    REQUIRE(!io->attach(io->user, &root, FORGE_PATH, 0));
    REQUIRE(!io->remove(io->user, root, name));
    io->detach(io->user, root);
}

/* Put bytes where a file is, which need not be there. */
static inline void forge_save(const struct forge *f, const char *name,
                              const uint8_t *data, size_t bytes)
{
    const bouma_io *io = f->io;
    void *root, *file;
    size_t done;

    if (forge_exists(f, name))
        forge_remove(f, name);
    REQUIRE(!io->attach(io->user, &root, FORGE_PATH, 0));
    REQUIRE(!io->open(io->user, root, &file, name, BOUMA_OPEN_MODE_CREATE));
    REQUIRE(!io->write(io->user, file, data, bytes, 0, &done) && done == bytes);
    io->close(io->user, file);
    io->detach(io->user, root);
}

static inline void forge_name_manifest(char name[96], int step)
{
    snprintf(name, 96, "steps/%08d/manifest", step);
}

/* Subfile 'i' of a step of the first writer. */
static inline void forge_name_subfile(char name[96], int step, int i)
{
    snprintf(name, 96, "steps/%08d/d.%04d.e1a%d", step, i, step + 1);
}

/* The offset of a text in a file: it must be there. */
static inline size_t forge_find(const struct forge_file *file, const void *text,
                                size_t bytes)
{
    for (size_t i = 0; i + bytes <= file->bytes; i++)
        if (!memcmp(file->data + i, text, bytes))
            return i;
    REQUIRE(!"text in file");
    return 0;
}

/* ---- heads --------------------------------------------------------------- */

static inline size_t forge_head_bytes(const struct forge_file *file)
{
    return (size_t)bm_load_u64(file->data + ENVELOPE_BODY) + ENVELOPE_BYTES;
}

/* With the first head of a subfile changed: seal it, copy it to the end, and
 * have the manifest name it. */
static inline void forge_seal_head(const struct forge *f, int step,
                                   struct forge_file *file)
{
    size_t head = forge_head_bytes(file), at;
    struct forge_file manifest;
    uint8_t old[16];
    char name[96];

    memcpy(old, file->data + ENVELOPE_HASH, 16);
    mend_envelope(file->data, head);
    memcpy(file->data + file->bytes - head, file->data, head);
    forge_save(f, file->name, file->data, file->bytes);
    forge_name_manifest(name, step);
    forge_load(f, &manifest, name);
    at = forge_find(&manifest, old, 16);
    memcpy(manifest.data + at, file->data + ENVELOPE_HASH, 16);
    mend_envelope(manifest.data, manifest.bytes);
    forge_save(f, name, manifest.data, manifest.bytes);
    free(manifest.data);
}

/* ---- looking ------------------------------------------------------------- */

/* Read the grid of a step at a level, and compare: BOUMA_OK, or what failed. */
static inline int forge_read(const struct forge *f, int number, int level)
{
    static float field[FORGE_EDGE * FORGE_EDGE];
    bouma_variable *v = NULL;
    bouma_step *step = NULL;
    bouma_dataset *ds;
    const float *p = field;
    int rc = bouma_dataset_open(&ds, FORGE_PATH, &f->options);

    if (!rc)
        rc = bouma_step_open(&step, ds, number);
    if (!rc) {
        v = bouma_grid_find_variable(bouma_step_find_grid(step, "meadow"),
                                     "heat");
        rc = test_read(v, level, NULL, field);
    }
    for (int y = 0; y < FORGE_EDGE && !rc; y += 1 << level)
        for (int x = 0; x < FORGE_EDGE && !rc; x += 1 << level)
            CHECK(*p++ == forge_value(number, y, x));
    bouma_step_free(step);
    bouma_dataset_free(ds);
    return rc;
}

/* What verify or repair has found. */
struct forge_findings {
    bouma_verify_report verified;
    bouma_repair_report repaired;
    char text[8192]; /* a line each: severity, step, name, text */
};

static inline void forge_record(void *user, const bouma_finding *finding)
{
    struct forge_findings *out = user;
    size_t n = strlen(out->text);

    snprintf(out->text + n, sizeof(out->text) - n, "%d %d %s %s\n",
             (int)finding->severity, (int)finding->step, finding->name,
             finding->text);
}

static inline void forge_verify(const struct forge *f,
                                struct forge_findings *out, bouma_depth depth)
{
    char message[640] = "";

    memset(out, 0, sizeof(*out));
    CHECK_EQ(bouma_verify(SIZED(&out->verified), FORGE_PATH, depth, &f->options,
                          forge_record, out, message, sizeof(message)),
             BOUMA_OK);
}

static inline void forge_repair(const struct forge *f,
                                struct forge_findings *out, int apply)
{
    char message[640] = "";

    memset(out, 0, sizeof(*out));
    CHECK_EQ(bouma_repair(SIZED(&out->repaired), FORGE_PATH, apply, &f->options,
                          forge_record, out, message, sizeof(message)),
             BOUMA_OK);
}

#endif
