/* test_damage.c -- every byte of the metadata of a small dataset is changed in
 * turn, every file cut at every length, and thousands of bytes of data flipped:
 * a read gives the right values or an error, verify finds the damage, and a
 * repair that is only asked what it would do does nothing. */
#include "../helpers/arrays.h"
#include "../helpers/check.h"
#include "damage_io.h"
#include "sized.h"

enum { STEPS = 2, ROWS = 10, COLUMNS = 9, MAX_FILES = 16, FLIPS = 10000 };

#define PATH "set.bouma"

/* A file of the dataset, and how much damage of it may hurt. */
enum role {
    ROLE_DATASET,  /* nothing can be read any more */
    ROLE_INDEX,    /* a cache: nothing is lost */
    ROLE_MANIFEST, /* its step is lost */
    ROLE_SUBFILE   /* some of its step is lost */
};

struct known_file {
    char name[96];
    enum role role;
    int64_t step;
    uint64_t bytes, head_bytes;
};

struct world {
    bouma_io *memory;
    struct damage_io io;
    bouma_options options;
    struct known_file files[MAX_FILES];
    int count;
    float temperature[STEPS][ROWS][COLUMNS];
    int16_t motion[STEPS][ROWS][COLUMNS][2];
};

/* What came of one look at the dataset. */
struct outcome {
    int opened;                /* status */
    int bad_reads, good_reads; /* of steps without 'damaged' */
    int damaged_bad, damaged_good;
    int wrong; /* values that are not right, and no error */
    int verified;
    bouma_verify_report report;
    int repaired;
};

/* ---- the dataset -------------------------------------------------------- */

static void fill(struct world *w)
{
    for (int s = 0; s < STEPS; s++)
        for (int y = 0; y < ROWS; y++)
            for (int x = 0; x < COLUMNS; x++) {
                w->temperature[s][y][x] = (float)(s * 100 + y * x) * 0.5f;
                w->motion[s][y][x][0] = (int16_t)(s + y - x);
                w->motion[s][y][x][1] = (int16_t)(s * 1000 + y * 16 + x);
            }
}

static void write_dataset(struct world *w, bouma_order order)
{
    bouma_grid_spec shape = {.size = sizeof(shape),
                             .ndims = 2,
                             .shape = {ROWS, COLUMNS},
                             .patch = {8, 8},
                             .levels = 3};
    bouma_variable_spec kinds[2] = {
        {.size = sizeof(*kinds), .type = BOUMA_TYPE_F32, .unit = "K"},
        {.size = sizeof(*kinds),
         .type = BOUMA_TYPE_I16,
         .components = 2,
         .codec = BOUMA_CODEC_RAW}};
    bouma_box all = {.hi = {ROWS, COLUMNS}};
    bouma_options options = w->options;
    bouma_variable *t, *m;
    bouma_dataset *ds;
    bouma_grid *g;

    options.files = 2;
    options.order = order;
    memset(options.id, 7, sizeof(options.id));
    REQUIRE(!bouma_dataset_create(&ds, PATH, &options));
    bouma_attributes_set_number(bouma_dataset_attributes(ds), "run", 17);
    REQUIRE(!bouma_grid_define(&g, ds, "g", &shape));
    REQUIRE(!bouma_variable_define(&t, g, "temperature", &kinds[0]));
    REQUIRE(!bouma_variable_define(&m, g, "motion", &kinds[1]));
    bouma_attributes_set_text(bouma_variable_attributes(t), "name", "warmth");
    for (int s = 0; s < STEPS; s++) {
        REQUIRE(!bouma_step_begin(ds, s, s * 0.5));
        bouma_attributes_set_number(bouma_dataset_step_attributes(ds), "dt",
                                    0.5);
        REQUIRE(!test_put(t, &all, w->temperature[s]));
        REQUIRE(!test_put(m, &all, w->motion[s]));
        REQUIRE(!bouma_step_end(ds));
    }
    REQUIRE(!bouma_dataset_close(ds));
    bouma_dataset_free(ds);
}

/* ---- files -------------------------------------------------------------- */

static void load_size(struct world *w, struct known_file *f)
{
    const bouma_io *io = w->memory;
    uint8_t head[64];
    void *root, *file;
    size_t done;

    REQUIRE(!io->attach(io->user, &root, PATH, 0));
    REQUIRE(!io->open(io->user, root, &file, f->name, BOUMA_OPEN_MODE_READ));
    REQUIRE(!io->file_size(io->user, file, &f->bytes));
    if (f->role == ROLE_SUBFILE) {
        REQUIRE(!io->read(io->user, file, head, 64, 0, &done) && done == 64);
        /* The length of the body is the u64 at byte 16 of the envelope. */
        f->head_bytes = 64;
        for (int i = 0; i < 8; i++)
            f->head_bytes += (uint64_t)head[16 + i] << 8 * i;
    }
    io->close(io->user, file);
    io->detach(io->user, root);
}

static void know(struct world *w, const char *name, enum role role,
                 int64_t step)
{
    struct known_file *f = &w->files[w->count++];

    REQUIRE(w->count <= MAX_FILES);
    snprintf(f->name, sizeof(f->name), "%s", name);
    f->role = role;
    f->step = step;
    load_size(w, f);
}

static void know_all(struct world *w)
{
    char name[96];

    w->count = 0;
    know(w, "DATASET", ROLE_DATASET, -1);
    know(w, "index", ROLE_INDEX, -1);
    for (int s = 0; s < STEPS; s++) {
        snprintf(name, sizeof(name), "steps/%08d/manifest", s);
        know(w, name, ROLE_MANIFEST, s);
        for (int k = 0; k < 2; k++) {
            snprintf(name, sizeof(name), "steps/%08d/d.%04d.e1a%d", s, k,
                     s + 1);
            know(w, name, ROLE_SUBFILE, s);
        }
    }
}

/* ---- looking ------------------------------------------------------------ */

/* One variable at one level: -1 an error, 0 right, 1 wrong. */
static int read_level(const struct world *w, int64_t step, bouma_variable *v,
                      int temperature, int level)
{
    size_t size = temperature ? sizeof(float) : 2 * sizeof(int16_t);
    uint8_t room[sizeof(w->temperature[0])], *p = room;
    bouma_selection sel = {.size = sizeof(sel)};

    if (bouma_variable_select(&sel, v, level, NULL) || sel.bytes > sizeof(room))
        return 1; /* the manifest is good, so this cannot be */
    if (test_read(v, level, NULL, room))
        return -1;
    for (int y = 0; y < ROWS; y += 1 << level)
        for (int x = 0; x < COLUMNS; x += 1 << level, p += size)
            if (temperature ? memcmp(p, &w->temperature[step][y][x], size) != 0
                            : memcmp(p, w->motion[step][y][x], size) != 0)
                return 1;
    return 0;
}

static void count_read(struct outcome *out, int result, int damaged)
{
    out->wrong += result == 1;
    if (damaged)
        *(result < 0 ? &out->damaged_bad : &out->damaged_good) += 1;
    else
        *(result < 0 ? &out->bad_reads : &out->good_reads) += 1;
}

static void read_step(const struct world *w, struct outcome *out,
                      bouma_dataset *ds, int64_t number, int damaged)
{
    static const char *const names[2] = {"motion", "temperature"};
    bouma_attribute dt = {.size = sizeof(dt)};
    bouma_step *step;
    bouma_grid *g;

    if (bouma_step_open(&step, ds, number)) {
        for (int i = 0; i < 6; i++)
            count_read(out, -1, damaged);
        return;
    }
    g = bouma_step_find_grid(step, "g");
    out->wrong +=
        !g || bouma_attributes_find(&dt, bouma_step_attributes(step), "dt") ||
        *(const double *)dt.values != 0.5;
    for (int i = 0; i < 2 && g; i++) {
        bouma_variable *v = bouma_grid_find_variable(g, names[i]);

        for (int level = 2; level >= 0 && v; level--)
            count_read(out, read_level(w, number, v, i, level), damaged);
        out->wrong += !v;
    }
    bouma_step_free(step);
}

static void look(struct world *w, struct outcome *out, int64_t damaged_step)
{
    bouma_repair_report repair = {.size = sizeof(repair)};
    bouma_dataset *ds;
    char message[640];

    memset(out, 0, sizeof(*out));
    w->io.changes = 0;
    out->opened = bouma_dataset_open(&ds, PATH, &w->options);
    for (int64_t s = 0; s < STEPS && !out->opened; s++)
        read_step(w, out, ds, s, s == damaged_step);
    bouma_dataset_free(ds);
    out->verified =
        bouma_verify(SIZED(&out->report), PATH, BOUMA_DEPTH_FULL, &w->options,
                     NULL, NULL, message, sizeof(message));
    out->repaired = bouma_repair(&repair, PATH, 0, &w->options, NULL, NULL,
                                 message, sizeof(message));
}

/* ---- claims ------------------------------------------------------------- */

static void judge(const struct world *w, const struct known_file *f,
                  const struct damage *d, const struct outcome *o)
{
    int before = check_counts()->failed;
    int found = o->verified || o->report.damages;

    CHECK_EQ(o->wrong, 0);
    CHECK_EQ(w->io.changes, 0);
    switch (f->role) {
    case ROLE_DATASET:
        CHECK(o->opened);
        CHECK(found);
        break;
    case ROLE_INDEX:
        CHECK_EQ(o->opened, BOUMA_OK);
        CHECK_EQ(o->good_reads, STEPS * 6);
        CHECK_EQ(o->verified, BOUMA_OK);
        CHECK_EQ(o->report.damages, 0);
        break;
    case ROLE_MANIFEST:
        CHECK_EQ(o->opened, BOUMA_OK);
        CHECK_EQ(o->good_reads, (STEPS - 1) * 6);
        CHECK_EQ(o->damaged_bad, 6);
        CHECK(found || d->kind == DAMAGE_MISSING);
        break;
    case ROLE_SUBFILE:
        CHECK_EQ(o->opened, BOUMA_OK);
        CHECK_EQ(o->good_reads, (STEPS - 1) * 6);
        CHECK(found);
        /* A head stands at both ends, so one damaged byte in it, or in the
         * zero bytes behind it, takes nothing away. */
        if (d->kind == DAMAGE_FLIP && (d->at < (f->head_bytes + 63) / 64 * 64 ||
                                       d->at >= f->bytes - f->head_bytes))
            CHECK_EQ(o->damaged_good, 6);
    }
    if (check_counts()->failed != before)
        printf("  %s, damage %d at %" PRIu64 " (%" PRIu64 "), mask %02x\n",
               d->name, (int)d->kind, d->at, d->count, d->mask);
}

static void try_damage(struct world *w, const struct known_file *f,
                       struct damage d)
{
    struct outcome o;

    d.name = f->name;
    w->io.damage = d;
    look(w, &o, f->step);
    judge(w, f, &d, &o);
    w->io.damage.kind = DAMAGE_NONE;
}

static void an_undamaged_dataset_is_right(struct world *w)
{
    struct outcome o;

    look(w, &o, -1);
    CHECK_EQ(o.opened, BOUMA_OK);
    CHECK_EQ(o.good_reads, STEPS * 6);
    CHECK_EQ(o.wrong, 0);
    CHECK_EQ(o.verified, BOUMA_OK);
    CHECK_EQ(o.report.damages, 0);
    CHECK_EQ(o.report.notes, 0);
    CHECK_EQ(o.repaired, BOUMA_OK);
    CHECK_EQ(w->io.changes, 0);
}

/* Of a subfile, the bytes between the heads are left to the random flips. */
static void any_changed_byte_of_metadata_is_found(struct world *w,
                                                  uint64_t *random)
{
    for (int i = 0; i < w->count; i++) {
        const struct known_file *f = &w->files[i];

        for (uint64_t at = 0; at < f->bytes; at++) {
            uint8_t bit = (uint8_t)(1u << check_below(random, 8));

            if (f->role == ROLE_SUBFILE && at >= f->head_bytes + 64 &&
                at < f->bytes - f->head_bytes)
                continue;
            try_damage(
                w, f,
                (struct damage){.kind = DAMAGE_FLIP, .at = at, .mask = bit});
            try_damage(
                w, f,
                (struct damage){.kind = DAMAGE_FLIP, .at = at, .mask = 0xff});
        }
    }
}

static void any_shorter_file_is_found(struct world *w)
{
    for (int i = 0; i < w->count; i++)
        for (uint64_t at = 0; at < w->files[i].bytes; at++)
            try_damage(w, &w->files[i],
                       (struct damage){.kind = DAMAGE_CUT, .at = at});
}

static void any_longer_file_is_found(struct world *w)
{
    for (int i = 0; i < w->count; i++)
        for (uint64_t n = 1; n < 200; n += n / 2 + 1)
            try_damage(w, &w->files[i],
                       (struct damage){.kind = DAMAGE_GROW, .count = n});
}

static void random_damage_is_found(struct world *w, uint64_t *random, int count)
{
    for (int n = 0; n < count; n++) {
        const struct known_file *f;

        do
            f = &w->files[check_below(random, w->count)];
        while (f->role != ROLE_SUBFILE);
        try_damage(
            w, f,
            (struct damage){
                .kind = DAMAGE_FLIP,
                .at = f->head_bytes +
                      (uint64_t)check_below(
                          random, (int64_t)(f->bytes - 2 * f->head_bytes)),
                .mask = (uint8_t)(1 + check_below(random, 255))});
    }
}

static void lost_pages_are_found(struct world *w)
{
    for (int i = 0; i < w->count; i++)
        for (uint64_t at = 0; at < w->files[i].bytes; at += 64)
            /* The first bytes are never zero, so there is a change. */
            try_damage(w, &w->files[i],
                       (struct damage){
                           .kind = DAMAGE_ZERO, .at = 0, .count = at + 64});
}

static void missing_and_stray_files_are_found(struct world *w)
{
    for (int i = 0; i < w->count; i++) {
        if (w->files[i].role != ROLE_MANIFEST)
            try_damage(w, &w->files[i],
                       (struct damage){.kind = DAMAGE_MISSING});
        for (int k = 0; k < w->count; k++)
            if (k != i)
                try_damage(w, &w->files[i],
                           (struct damage){.kind = DAMAGE_SWAP,
                                           .other = w->files[k].name});
    }
}

static void run(bouma_order order, int flips)
{
    static struct world w;
    uint64_t random = (uint64_t)order;

    memset(&w, 0, sizeof(w));
    w.memory = bouma_io_memory_new();
    REQUIRE(w.memory);
    damage_io_init(&w.io, w.memory);
    w.options = (bouma_options){.size = sizeof(w.options)};
    w.options.io = &w.io.io;
    fill(&w);
    write_dataset(&w, order);
    know_all(&w);
    an_undamaged_dataset_is_right(&w);
    any_changed_byte_of_metadata_is_found(&w, &random);
    any_shorter_file_is_found(&w);
    any_longer_file_is_found(&w);
    random_damage_is_found(&w, &random, flips);
    lost_pages_are_found(&w);
    missing_and_stray_files_are_found(&w);
    an_undamaged_dataset_is_right(&w);
    bouma_io_memory_free(w.memory);
}

int main(void)
{
    run(BOUMA_ORDER_LEVEL, FLIPS / 2);
    run(BOUMA_ORDER_CHUNK, FLIPS / 2);
    return check_result();
}
