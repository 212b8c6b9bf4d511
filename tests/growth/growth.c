/* growth.c -- something done to N things, for growth.sh to count instructions:
 *
 *   growth steps|attributes|variables|grids|files N
 *
 * What is counted is what measured() does. */
#include "crowd.h"
#include "layout/manifest.h"

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
    bouma_variable_spec spec = {.size = sizeof(spec), .type = BOUMA_U8};
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
        struct bm_cloud *cloud;

        bm_summaries_init(&info->summaries, m->a);
        REQUIRE(!bm_summaries_add(&info->summaries, m->schema->objects[i]));
        info->parts = bm_new(m->a, 1, sizeof(*info->parts));
        REQUIRE(info->parts);
        cloud = bm_cloud_of(info->summaries.entries[0]);
        REQUIRE(!bm_cloud_set_rows(cloud, NULL, 0));
        info->count = cloud->count = 1;
        info->parts->variable = (uint32_t)i;
        info->parts->chunks = 1;
        info->parts->ranges = bm_new(m->a, 1, sizeof(*info->parts->ranges));
        REQUIRE(info->parts->ranges);
        info->parts->ranges->count = 1;
    }
    REQUIRE(!bm_manifest_make_tops(m, NULL));
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
                                       BOUMA_U8, 0, NULL));
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

int main(int argc, char **argv)
{
    size_t n = argc == 3 ? (size_t)atoll(argv[2]) : 0;

    REQUIRE(n > 0);
    if (!strcmp(argv[1], "steps"))
        try_steps(n);
    else
        try_manifest(argv[1], n);
    return check_result();
}
