/* growth.c -- something done to N things, for growth.sh to count instructions:
 *
 *   growth steps|walk|attributes|variables|grids|files|assign|drain|planes|
 *          listing|sets|patches|sources N
 *
 * What is counted is what measured() does. */
#include <unistd.h>

#include "arrays.h"
#include "codec/lattice.h"
#include "columns.h"
#include "crowd.h"
#include "files.h"
#include "layout/layout.h"
#include "layout/manifest.h"
#include "plan/assign.h"
#include "write/particle_plan.h"

void measured(void (*work)(void *), void *what);

__attribute__((noinline)) void measured(void (*work)(void *), void *what)
{
    work(what);
}

/* ---- the list of steps -------------------------------------------------- */

static void list_steps(void *what)
{
    bouma_dataset *ds = crowd_visit();

    REQUIRE(bouma_dataset_step_count(ds) == (int64_t) * (size_t *)what);
    bouma_dataset_free(ds);
}

/* In the index in descending order, in the directory in none. */
static void try_steps(size_t n)
{
    uint64_t *order = malloc(n * sizeof(*order));

    REQUIRE(order);
    for (size_t i = 0; i < n; i++)
        order[i] = n - 1 - i;
    crowd_make(n, order, n);
    measured(list_steps, &n);
    crowd_free();
    free(order);
}

/* From one step to the next, and by times. */
static void walk_steps(void *what)
{
    bouma_dataset *ds = crowd_visit();
    bouma_step_info info = {.size = sizeof(info)},
                    same = {.size = sizeof(same)};
    size_t count = 0;

    for (int rc = bouma_dataset_first_step(&info, ds); !rc;
         rc = bouma_dataset_next_step(&info, ds, info.step)) {
        REQUIRE(!bouma_dataset_step_at(&same, ds, info.time));
        REQUIRE(same.step == info.step);
        count++;
    }
    REQUIRE(count == *(size_t *)what);
    bouma_dataset_free(ds);
}

static void try_walk(size_t n)
{
    crowd_make(n, NULL, 0);
    measured(walk_steps, &n);
    crowd_free();
}

/* ---- arrays in Fortran's order ------------------------------------------ */

struct turned {
    struct bm_lattice l;
    struct bm_strided part;
    float *data, *detail, *coarse;
};

static void split_turned(void *what)
{
    struct turned *t = what;

    bm_lattice_split(&t->l, sizeof(float), &t->part, t->data, t->detail,
                     t->coarse);
}

/* n planes of 32 rows, whose samples lie the farther apart the more planes
 * there are. */
static void try_planes(size_t n)
{
    int64_t size = sizeof(float), planes = (int64_t)n;
    struct turned t = {.l = {{0, 0, 0}, {planes, 32, 8}},
                       .part = {{0, 0, 0},
                                {planes, 32, 8},
                                {size, size * planes, size * planes * 32}}};
    size_t samples = 32 * 8 * n;

    t.data = calloc(samples, sizeof(float));
    t.detail = calloc(samples, sizeof(float));
    t.coarse = calloc(samples, sizeof(float));
    REQUIRE(t.data && t.detail && t.coarse);
    measured(split_turned, &t);
    free(t.data);
    free(t.detail);
    free(t.coarse);
}

/* ---- patches of a box ---------------------------------------------------- */

static void select_patches(void *what)
{
    const struct bm_object *o = what;
    uint64_t *keys;
    size_t count;

    REQUIRE(!bm_chunks_select(&keys, &count, o, &o->domain, 0));
    for (size_t i = 1; i < count; i += 997)
        REQUIRE(keys[i - 1] < keys[i]);
    bm_drop(o->a, keys);
}

/* n planes of 64 x 64 patches, whose keys are in Morton order. */
static void try_patches(size_t n)
{
    bouma_grid_spec spec = {.size = sizeof(spec),
                            .ndims = 3,
                            .shape = {4 * (int64_t)n, 256, 256},
                            .patch = {4, 4, 4}};
    struct bm_error error = {0};
    struct bm_schema schema;
    struct bm_object *o;

    bm_schema_init(&schema, bm_allocator_default(), &error);
    REQUIRE(!bm_schema_add_grid(&schema, &o, "g", &spec));
    measured(select_patches, o);
    bm_schema_release(&schema);
}

/* ---- the files of a step ------------------------------------------------ */

struct to_read {
    bouma_variable *variable;
    uint8_t *data;
};

static void read_all(void *what)
{
    const struct to_read *r = what;

    REQUIRE(!test_read(r->variable, 0, NULL, r->data));
}

/* A step with a patch in each of n files, which are not all open at once. */
static void try_sources(size_t n)
{
    bouma_grid_spec spec = {.size = sizeof(spec),
                            .ndims = 1,
                            .shape = {16 * (int64_t)n},
                            .patch = {16},
                            .levels = 1};
    bouma_variable_spec bytes = {
        .size = sizeof(bytes), .type = BOUMA_TYPE_U8, .codec = BOUMA_CODEC_RAW};
    bouma_options o = {.size = sizeof(o),
                       .durability = BOUMA_DURABILITY_FAST,
                       .files = (int)n,
                       .threads = 1};
    char dir[] = "/tmp/growth.XXXXXX", path[64];
    struct to_read r = {.data = calloc(n, 16)};
    bouma_dataset *ds;
    bouma_variable *v;
    bouma_grid *grid;
    bouma_step *step;

    REQUIRE(r.data && mkdtemp(dir));
    snprintf(path, sizeof(path), "%s/d", dir);
    REQUIRE(!bouma_dataset_create(&ds, path, &o));
    REQUIRE(!bouma_grid_define(&grid, ds, "g", &spec));
    REQUIRE(!bouma_variable_define(&v, grid, "v", &bytes));
    REQUIRE(!bouma_step_begin(ds, 0, 0));
    REQUIRE(!test_put(v, NULL, r.data));
    REQUIRE(!bouma_step_end(ds));
    REQUIRE(!bouma_step_open(&step, ds, 0));
    r.variable = bouma_grid_find_variable(bouma_step_find_grid(step, "g"), "v");
    measured(read_all, &r);
    bouma_step_free(step);
    bouma_dataset_free(ds);
    REQUIRE(!remove_tree(dir));
    free(r.data);
}

/* ---- manifests ---------------------------------------------------------- */

static void decode_manifest(void *what)
{
    const struct bm_buffer *b = what;
    struct bm_error error = {0};
    struct bm_schema schema;
    struct bm_manifest m;

    bm_schema_init(&schema, b->a, &error);
    bm_manifest_init(&m, b->a, &schema, &error);
    if (bm_manifest_decode(&m, b->data, b->size, crowd_id, "m", &error))
        printf("%s\n", error.text);
    REQUIRE(!error.status);
    bm_manifest_release(&m);
    bm_schema_release(&schema);
}

/* Names that differ in their last letters only, as they come in no order. */
static const char *name_of(char name[64], size_t i)
{
    snprintf(name, 64, "a name that is not short %zu", i * 2654435761u % 65536);
    return name;
}

static void add_variable(struct bm_object *g, const char *name)
{
    bouma_variable_spec spec = {.size = sizeof(spec), .type = BOUMA_TYPE_U8};
    struct bouma_variable *v;

    REQUIRE(!bm_schema_add_variable(g, &v, name, &spec));
}

static struct bm_object *add_grid(struct bm_schema *s, const char *name)
{
    bouma_grid_spec spec = {.size = sizeof(spec), .ndims = 1, .shape = {4}};
    struct bm_object *g;

    REQUIRE(!bm_schema_add_grid(s, &g, name, &spec));
    return g;
}

/* Chunks of one particle: tables of large ones would hide all else. */
static void add_set(struct bm_schema *s, const char *name)
{
    bouma_particles_spec spec = {.size = sizeof(spec), .ndims = 1};
    static const uint32_t limit[1] = {1};
    struct bm_particles_bat *own;
    struct bouma_particles *set;

    REQUIRE(!bm_schema_add_particles(s, &set, name, &spec));
    own = set->object.own;
    bm_detail_release(&own->detail);
    REQUIRE(!bm_detail_init(&own->detail, s->a, 1, 1, limit));
    set->object.levels = 1;
}

/* As many sets as files, a particle of one set in each. */
static void add_files(struct bm_manifest *m, size_t n)
{
    char name[64];

    for (size_t i = 0; i < n; i++)
        add_set(m->schema, name_of(name, i));
    REQUIRE(!bm_schema_number(m->schema));
    REQUIRE(!bm_manifest_set_subfiles(m, n));
    for (size_t i = 0; i < n; i++) {
        struct bm_subfile_info *info = &m->subfiles[i];
        struct bm_particle_summary *summary;

        bm_summaries_init(&info->summaries, m->a);
        REQUIRE(!bm_summaries_add(&info->summaries, m->schema->objects[i]));
        info->parts = bm_new(m->a, 1, sizeof(*info->parts));
        REQUIRE(info->parts);
        summary = bm_particle_summary_of(info->summaries.entries[0]);
        REQUIRE(!bm_particle_summary_set_rows(summary, NULL, 0));
        info->count = summary->count = 1;
        info->parts->variable = (uint32_t)i;
        info->parts->chunks = 1;
        info->parts->ranges = bm_new(m->a, 1, sizeof(*info->parts->ranges));
        REQUIRE(info->parts->ranges);
        info->parts->ranges->count = 1;
    }
    REQUIRE(!bm_manifest_make_file_trees(m, NULL));
}

static void try_manifest(const char *what, size_t n)
{
    struct bm_error error = {0};
    struct bm_schema schema;
    struct bm_manifest m;
    struct bm_buffer b;
    char name[64];

    bm_schema_init(&schema, bm_allocator_default(), &error);
    bm_manifest_init(&m, bm_allocator_default(), &schema, &error);
    m.order = BOUMA_ORDER_LEVEL;
    if (!strcmp(what, "attributes"))
        for (size_t i = 0; i < n; i++)
            REQUIRE(!bm_attributes_set(&m.attributes, name_of(name, i),
                                       BOUMA_TYPE_U8, 0, NULL));
    if (!strcmp(what, "variables")) {
        struct bm_object *g = add_grid(&schema, "g");

        for (size_t i = 0; i < n; i++)
            add_variable(g, name_of(name, i));
    }
    for (size_t i = 0; i < n && !strcmp(what, "grids"); i++)
        add_variable(add_grid(&schema, name_of(name, i)), "v");
    if (!strcmp(what, "files"))
        add_files(&m, n);
    bm_buffer_init(&b, bm_allocator_default());
    bm_manifest_encode(&b, &m, crowd_id);
    REQUIRE(!b.failed);
    measured(decode_manifest, &b);
    bm_buffer_release(&b);
    bm_manifest_release(&m);
    bm_schema_release(&schema);
}

/* ---- chunks into files -------------------------------------------------- */

static void assign(void *what)
{
    const struct bm_chunk_sizes *sizes = what;
    struct bm_assignment assignment;

    REQUIRE(!bm_assign(&assignment, bm_allocator_default(),
                       BOUMA_ASSIGN_OPTIMAL, sizes,
                       (int64_t)(sizes->count / 100), 1));
    bm_assignment_release(&assignment);
}

/* 100 chunks for each file, but the first chunk is as large as all others: any
 * run of these fits into a file, and half of the files get one chunk each. */
static void try_assign(size_t n)
{
    struct bm_chunk_table *tables = malloc(n * sizeof(*tables));
    uint64_t *bytes = malloc(n * sizeof(*bytes));
    struct bm_chunk_sizes sizes = {
        .count = n, .bytes = bytes, .tables = tables, .sections = 3};

    REQUIRE(tables && bytes);
    for (size_t i = 0; i < n; i++) {
        bytes[i] = i ? 1 + 3 * (i % 10 == 0) : 10 * n;
        tables[i] = (struct bm_chunk_table){(uint32_t)(i % 3), 8, 4};
    }
    measured(assign, &sizes);
    free(bytes);
    free(tables);
}

/* ---- draining ----------------------------------------------------------- */

struct paths {
    char dir[64], near[80], far[80];
    size_t steps;
    bouma_io io; /* files, without waiting for the disk */
};

static int skip_sync(void *user, void *file)
{
    (void)user;
    (void)file;
    return 0;
}

static int skip_sync_dir(void *user, void *root, const char *name)
{
    (void)user;
    (void)root;
    (void)name;
    return 0;
}

static void drain(void *what)
{
    const struct paths *p = what;
    bouma_drain_report report = {.size = sizeof(report)};
    bouma_options o = {.size = sizeof(o)};
    char message[640];

    o.io = &p->io;
    if (bouma_drain(&report, p->near, p->far, 1, &o, message, sizeof(message)))
        printf("%s\n", message);
    REQUIRE(report.published == p->steps && report.removed == p->steps);
}

/* Steps of one byte, from one directory to another. */
static void try_drain(size_t n)
{
    bouma_grid_spec g = {.size = sizeof(g), .ndims = 1, .shape = {1}};
    bouma_variable_spec v = {.size = sizeof(v), .type = BOUMA_TYPE_I8};
    struct paths p = {.dir = "/tmp/growth.XXXXXX", .steps = n};
    const int8_t data = 1;
    bouma_variable *variable;
    bouma_dataset *ds;
    bouma_grid *grid;
    bouma_options o = {.size = sizeof(o)};

    p.io = *bouma_io_posix();
    p.io.sync = skip_sync;
    p.io.sync_dir = skip_sync_dir;
    REQUIRE(mkdtemp(p.dir));
    snprintf(p.near, sizeof(p.near), "%s/near", p.dir);
    snprintf(p.far, sizeof(p.far), "%s/far", p.dir);
    o.durability = BOUMA_DURABILITY_FAST;
    MUST(ds, bouma_dataset_create(&ds, p.near, &o));
    MUST(ds, bouma_grid_define(&grid, ds, "g", &g));
    MUST(ds, bouma_variable_define(&variable, grid, "v", &v));
    for (size_t i = 0; i < n; i++) {
        MUST(ds, bouma_step_begin(ds, (int64_t)i, 0));
        MUST(ds, test_put(variable, NULL, &data));
        MUST(ds, bouma_step_end(ds));
    }
    MUST(ds, bouma_dataset_close(ds));
    bouma_dataset_free(ds);
    measured(drain, &p);
    REQUIRE(!remove_tree(p.dir));
}

/* ---- steps of many objects ---------------------------------------------- */

/* A dataset in a directory that goes with it, and a step of it. */
struct many {
    char dir[64], path[80];
    bouma_io io;
    bouma_dataset *ds;
    bouma_step *step;
    size_t count;
};

static void many_make(struct many *m, size_t n)
{
    bouma_options o = {.size = sizeof(o)};

    memset(m, 0, sizeof(*m));
    m->count = n;
    snprintf(m->dir, sizeof(m->dir), "/tmp/growth.XXXXXX");
    REQUIRE(mkdtemp(m->dir));
    snprintf(m->path, sizeof(m->path), "%s/d", m->dir);
    m->io = *bouma_io_posix();
    m->io.sync = skip_sync;
    m->io.sync_dir = skip_sync_dir;
    o.io = &m->io;
    MUST(m->ds, bouma_dataset_create(&m->ds, m->path, &o));
    MUST(m->ds, bouma_step_begin(m->ds, 0, 0));
}

static void many_free(struct many *m)
{
    bouma_step_free(m->step);
    MUST(m->ds, bouma_dataset_close(m->ds));
    bouma_dataset_free(m->ds);
    REQUIRE(!remove_tree(m->dir));
}

static void end_step(void *what)
{
    struct many *m = what;

    MUST(m->ds, bouma_step_end(m->ds));
}

static void plan_particles(void *what)
{
    struct many *m = what;
    struct bm_particle_plan plan;

    MUST(m->ds, bm_particle_plan_make(&plan, m->ds, BOUMA_OK));
    REQUIRE(plan.files == (int64_t)m->count);
    bm_particle_plan_release(&plan);
}

/* One particle in each of many sets. Just the plan: each file that is written
 * has the schema of all sets. */
static void try_sets(size_t n)
{
    bouma_particles_spec spec = {.size = sizeof(spec), .ndims = 1};
    const float x = 1;
    struct many m;

    many_make(&m, n);
    for (size_t i = 0; i < n; i++) {
        struct test_column c = {.data = &x};
        bouma_particles *set;
        char name[64];

        MUST(m.ds, bouma_particles_define(&set, m.ds, name_of(name, i), &spec));
        c.variable = bouma_particles_position(set);
        MUST(m.ds, test_put_particles(set, 1, &c, 1, NULL));
    }
    measured(plan_particles, &m);
    REQUIRE(bouma_step_abort(m.ds) == BOUMA_EABORTED);
    many_free(&m);
}

/* All grids of a step, by their numbers. */
static void list_grids(void *what)
{
    const struct many *m = what;

    for (size_t i = 0; i < m->count; i++)
        REQUIRE(bouma_step_grid(m->step, (int)i));
    REQUIRE(bouma_step_grid_count(m->step) == (int)m->count);
}

static void try_listing(size_t n)
{
    bouma_grid_spec g = {.size = sizeof(g), .ndims = 1, .shape = {1}};
    bouma_variable_spec v = {.size = sizeof(v), .type = BOUMA_TYPE_I8};
    const int8_t data = 1;
    struct many m;

    many_make(&m, n);
    for (size_t i = 0; i < n; i++) {
        bouma_variable *variable;
        bouma_grid *grid;
        char name[64];

        MUST(m.ds, bouma_grid_define(&grid, m.ds, name_of(name, i), &g));
        MUST(m.ds, bouma_variable_define(&variable, grid, "v", &v));
        MUST(m.ds, test_put(variable, NULL, &data));
    }
    end_step(&m);
    MUST(m.ds, bouma_step_open(&m.step, m.ds, 0));
    measured(list_grids, &m);
    many_free(&m);
}

int main(int argc, char **argv)
{
    size_t n = argc == 3 ? (size_t)atoll(argv[2]) : 0;

    REQUIRE(n > 0);
    if (!strcmp(argv[1], "walk"))
        try_walk(n);
    else if (!strcmp(argv[1], "steps"))
        try_steps(n);
    else if (!strcmp(argv[1], "assign"))
        try_assign(n);
    else if (!strcmp(argv[1], "drain"))
        try_drain(n);
    else if (!strcmp(argv[1], "planes"))
        try_planes(n);
    else if (!strcmp(argv[1], "patches"))
        try_patches(n);
    else if (!strcmp(argv[1], "sets"))
        try_sets(n);
    else if (!strcmp(argv[1], "sources"))
        try_sources(n);
    else if (!strcmp(argv[1], "listing"))
        try_listing(n);
    else
        try_manifest(argv[1], n);
    return check_result();
}
