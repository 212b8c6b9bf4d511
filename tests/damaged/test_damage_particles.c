/* test_damage_particles.c -- bytes of a small dataset of particles are changed,
 * its files cut, exchanged or taken away: a query gives the right particles or
 * an error, and verify finds the damage. What repair can mend, it mends. */
#include "../helpers/particle_block.h"
#include "damage_io.h"
#include "sized.h"

enum { COUNT = 700, SUBFILES = 3, FILES = 2 + 1 + SUBFILES, ASKS = 5 };

#define PATH "set.bouma"

struct world {
    bouma_io *memory;
    struct damage_io io;
    bouma_options options;
    struct particle_block particle_block;
    char names[FILES][96];
    uint64_t bytes[FILES], head_bytes[FILES];
    uint8_t there[COUNT];
};

enum { AT_DATASET, AT_INDEX, AT_MANIFEST, AT_SUBFILES };

/* ---- the dataset -------------------------------------------------------- */

static void write_dataset(struct world *w, bouma_order order)
{
    bouma_options options = w->options;
    struct particle_block_set set;
    bouma_dataset *ds;

    options.files = SUBFILES;
    options.order = order;
    memset(options.id, 7, sizeof(options.id));
    REQUIRE(!bouma_dataset_create(&ds, PATH, &options));
    REQUIRE(!particle_block_define(
        &set, ds, "dust", 2, BOUMA_TYPE_F64,
        order == BOUMA_ORDER_LEVEL ? BOUMA_CODEC_ZSTD : BOUMA_CODEC_RAW, 32));
    REQUIRE(!bouma_step_begin(ds, 0, 0));
    REQUIRE(!particle_block_put(&set, &w->particle_block));
    REQUIRE(!bouma_step_end(ds));
    REQUIRE(!bouma_dataset_close(ds));
    bouma_dataset_free(ds);
}

static void know_files(struct world *w)
{
    const bouma_io *io = w->memory;
    void *root, *file;

    snprintf(w->names[AT_DATASET], 96, "DATASET");
    snprintf(w->names[AT_INDEX], 96, "index");
    snprintf(w->names[AT_MANIFEST], 96, "steps/00000000/manifest");
    for (int i = 0; i < SUBFILES; i++)
        snprintf(w->names[AT_SUBFILES + i], 96, "steps/00000000/d.%04d.e1a1",
                 i);
    REQUIRE(!io->attach(io->user, &root, PATH, 0));
    for (int i = 0; i < FILES; i++) {
        uint8_t head[64];
        size_t done;

        REQUIRE(!io->open(io->user, root, &file, w->names[i],
                          BOUMA_OPEN_MODE_READ));
        REQUIRE(!io->file_size(io->user, file, &w->bytes[i]));
        if (i >= AT_SUBFILES) {
            REQUIRE(!io->read(io->user, file, head, 64, 0, &done));
            w->head_bytes[i] = 64;
            for (int k = 0; k < 8; k++)
                w->head_bytes[i] += (uint64_t)head[16 + k] << 8 * k;
        }
        io->close(io->user, file);
    }
    io->detach(io->user, root);
}

/* ---- looking ------------------------------------------------------------ */

struct outcome {
    int opened, bad, good, wrong;
    int verified;
    bouma_verify_report report;
};

static int should_match(const struct particle_block *s, uint64_t k, int ask)
{
    double x = s->position[2 * k], y = s->position[2 * k + 1];

    switch (ask) {
    case 1:
        return x >= 0.2 && x < 0.6 && y >= 0.1 && y < 0.9;
    case 2:
        return s->mass[k] >= 0.5 && s->mass[k] <= 0.8;
    case 3:
        return s->kind[k] >= -2 && s->kind[k] <= 2;
    default:
        return 1;
    }
}

/* -1 an error, 0 right, 1 wrong. */
static int ask(struct world *w, struct particle_block_set *set, int which)
{
    const struct particle_block *s = &w->particle_block;
    bouma_particle_data *d = NULL;
    bouma_particles_query q;
    bouma_bounds box = {.axes = BOUMA_AXES_XYZ};
    bouma_condition c;
    int wrong = 0;

    q = (bouma_particles_query){.size = sizeof(q)};
    switch (which) {
    case 1:
        q.box = &box;
        box.low[0] = 0.2;
        box.high[0] = 0.6;
        box.low[1] = 0.1;
        box.high[1] = 0.9;
        break;
    case 2:
        c = condition_of(set->variables[MASS], 0, 0.5, 0.8);
        q.conditions = &c;
        q.condition_count = 1;
        break;
    case 3:
        c = condition_of(set->variables[KIND], 0, -2, 2);
        q.conditions = &c;
        q.condition_count = 1;
        break;
    case 4:
        q.quality = 0.3;
        break;
    default:
        break;
    }
    if (bouma_particles_read(&d, set->particles, &q))
        return -1;
    memset(w->there, 0, sizeof(w->there));
    for (uint64_t i = 0; i < d->count && !wrong; i++) {
        uint64_t k = ((uint64_t *)d->columns[ID])[i];

        wrong = k >= COUNT || w->there[k] || !particle_block_same(s, k, d, i);
        if (!wrong)
            w->there[k] = 1;
    }
    for (uint64_t k = 0; k < COUNT && which < 4; k++)
        wrong |= w->there[k] != should_match(s, k, which);
    bouma_particle_data_free(d);
    return wrong != 0;
}

static void look(struct world *w, struct outcome *o)
{
    bouma_dataset *ds;
    bouma_step *step = NULL;
    struct particle_block_set set;
    char message[640];
    int opened;

    memset(o, 0, sizeof(*o));
    w->io.changes = 0;
    o->opened = bouma_dataset_open(&ds, PATH, &w->options);
    opened = !o->opened && !bouma_step_open(&step, ds, 0);
    if (opened)
        particle_block_find(&set, step, "dust");
    for (int i = 0; i < ASKS; i++) {
        int result = opened ? ask(w, &set, i) : -1;

        o->bad += result < 0;
        o->good += result == 0;
        o->wrong += result > 0;
    }
    bouma_step_free(step);
    bouma_dataset_free(ds);
    o->verified =
        bouma_verify(SIZED(&o->report), PATH, BOUMA_DEPTH_FULL, &w->options,
                     NULL, NULL, message, sizeof(message));
}

/* ---- damage that only seems --------------------------------------------- */

static void try_damage(struct world *w, int file, struct damage d)
{
    int before = check_counts()->failed, found;
    struct outcome o;

    d.name = w->names[file];
    w->io.damage = d;
    look(w, &o);
    found = o.verified || o.report.damages;
    CHECK_EQ(o.wrong, 0);
    CHECK_EQ(w->io.changes, 0);
    if (file == AT_INDEX) {
        CHECK_EQ(o.good, ASKS);
    } else if (d.kind != DAMAGE_MISSING || file >= AT_SUBFILES) {
        CHECK(found);
    }
    /* A head stands at both ends. */
    if (file >= AT_SUBFILES && d.kind == DAMAGE_FLIP &&
        (d.at < w->head_bytes[file] ||
         d.at >= w->bytes[file] - w->head_bytes[file]))
        CHECK_EQ(o.good, ASKS);
    if (check_counts()->failed != before)
        printf("  %s, damage %d at %" PRIu64 " (%" PRIu64 "), mask %02x\n",
               d.name, (int)d.kind, d.at, d.count, d.mask);
    w->io.damage.kind = DAMAGE_NONE;
}

static void any_damage_is_found(struct world *w, uint64_t *random)
{
    for (int i = 0; i < FILES; i++) {
        uint64_t step = w->bytes[i] / 120 + 1;

        for (uint64_t at = check_random(random) % step; at < w->bytes[i];
             at += 1 + check_random(random) % (2 * step)) {
            uint8_t mask = (uint8_t)(1 + check_below(random, 255));

            try_damage(
                w, i,
                (struct damage){.kind = DAMAGE_FLIP, .at = at, .mask = mask});
            if (at % 4 == 0)
                try_damage(w, i, (struct damage){.kind = DAMAGE_CUT, .at = at});
            if (at % 16 == 0)
                try_damage(w, i,
                           (struct damage){
                               .kind = DAMAGE_ZERO, .at = 0, .count = at + 64});
        }
        try_damage(w, i, (struct damage){.kind = DAMAGE_GROW, .count = 5});
        try_damage(w, i, (struct damage){.kind = DAMAGE_MISSING});
        for (int k = 0; k < FILES; k++)
            if (k != i)
                try_damage(
                    w, i,
                    (struct damage){.kind = DAMAGE_SWAP, .other = w->names[k]});
    }
}

static void check_undamaged(struct world *w)
{
    struct outcome o;

    look(w, &o);
    CHECK_EQ(o.good, ASKS);
    CHECK_EQ(o.verified, BOUMA_OK);
    CHECK_EQ(o.report.damages, 0);
    CHECK_EQ(o.report.notes, 0);
}

/* ---- damage that is mended ---------------------------------------------- */

/* Write a file anew with a byte changed, or take it away. */
static void spoil(struct world *w, int file, int64_t at)
{
    const bouma_io *io = w->memory;
    uint8_t *content = malloc((size_t)w->bytes[file]);
    void *root, *f;
    size_t done;

    REQUIRE(content && !io->attach(io->user, &root, PATH, 0));
    REQUIRE(
        !io->open(io->user, root, &f, w->names[file], BOUMA_OPEN_MODE_READ));
    REQUIRE(!io->read(io->user, f, content, (size_t)w->bytes[file], 0, &done));
    io->close(io->user, f);
    REQUIRE(!io->remove(io->user, root, w->names[file]));
    if (at >= 0) {
        content[at] ^= 0x10;
        REQUIRE(!io->open(io->user, root, &f, w->names[file],
                          BOUMA_OPEN_MODE_CREATE));
        REQUIRE(
            !io->write(io->user, f, content, (size_t)w->bytes[file], 0, &done));
        io->close(io->user, f);
    }
    io->detach(io->user, root);
    free(content);
}

static void repair(struct world *w, uint64_t hopeless)
{
    bouma_repair_report report = {.size = sizeof(report)};
    char message[640];

    CHECK_EQ(bouma_repair(&report, PATH, 1, &w->options, NULL, NULL, message,
                          sizeof(message)),
             BOUMA_OK);
    CHECK(report.actions > 0);
    CHECK_EQ(report.hopeless, hopeless);
}

/* How many nodes the tree over the files has. */
static int64_t tree_nodes(struct world *w)
{
    bouma_particles_info info = {.size = sizeof(info)};
    bouma_dataset *ds;
    bouma_step *step = NULL;

    if (!bouma_dataset_open(&ds, PATH, &w->options) &&
        !bouma_step_open(&step, ds, 0)) {
        bouma_particles_info_get(&info,
                                 bouma_step_find_particles(step, "dust"));
        CHECK_EQ(info.files, SUBFILES);
        CHECK_EQ(info.count, COUNT);
    }
    bouma_step_free(step);
    bouma_dataset_free(ds);
    return info.tree_nodes;
}

static void a_head_is_healed_by_its_copy(struct world *w)
{
    struct outcome o;

    for (int end = 0; end < 2; end++) {
        int file = AT_SUBFILES + end;

        spoil(w, file,
              end ? (int64_t)(w->bytes[file] - w->head_bytes[file] + 100)
                  : 100);
        look(w, &o);
        CHECK_EQ(o.good, ASKS);
        CHECK_EQ(o.report.damages, 1);
        repair(w, 0);
        look(w, &o);
        CHECK_EQ(o.good, ASKS);
        CHECK_EQ(o.report.damages, 0);
    }
}

/* It is made of the heads, which know nothing of the tree over the files; what
 * is found is the same. */
static void a_lost_manifest_is_made_anew(struct world *w)
{
    struct outcome o;

    CHECK_EQ(tree_nodes(w), 2 * SUBFILES - 1);
    spoil(w, AT_MANIFEST, -1);
    look(w, &o);
    CHECK_EQ(o.bad, ASKS);
    repair(w, 1); /* attributes, if it had any */
    look(w, &o);
    CHECK_EQ(o.good, ASKS);
    CHECK_EQ(o.report.damages, 1);
    CHECK_EQ(tree_nodes(w), 0);
    CHECK_EQ(bouma_repair_forget(NULL, PATH, -1, 1, &w->options, NULL, NULL,
                                 NULL, 0),
             BOUMA_OK);
    look(w, &o);
    CHECK_EQ(o.report.damages, 0);
}

static void a_damaged_tree_is_told(struct world *w)
{
    struct outcome o;

    spoil(w, AT_SUBFILES + 2, (int64_t)w->head_bytes[AT_SUBFILES + 2] + 70);
    look(w, &o);
    CHECK(o.bad > 0);
    CHECK_EQ(o.wrong, 0);
    CHECK_EQ(o.report.damages, 1);
}

static void run(bouma_order order)
{
    static struct world w;
    uint64_t random = (uint64_t)order;

    memset(&w, 0, sizeof(w));
    w.memory = bouma_io_memory_new();
    REQUIRE(w.memory);
    damage_io_init(&w.io, w.memory);
    w.options = (bouma_options){.size = sizeof(w.options)};
    w.options.io = &w.io.io;
    particle_block_make(&w.particle_block, WITH_STRAYS, COUNT, 2,
                        BOUMA_TYPE_F64, 0);
    write_dataset(&w, order);
    know_files(&w);
    check_undamaged(&w);
    any_damage_is_found(&w, &random);
    check_undamaged(&w);
    a_head_is_healed_by_its_copy(&w);
    a_lost_manifest_is_made_anew(&w);
    a_damaged_tree_is_told(&w);
    particle_block_free(&w.particle_block);
    bouma_io_memory_free(w.memory);
}

int main(void)
{
    run(BOUMA_ORDER_LEVEL);
    run(BOUMA_ORDER_CHUNK);
    return check_result();
}
