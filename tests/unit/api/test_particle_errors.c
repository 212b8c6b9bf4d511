/* What cannot be done with particles is refused, with a message that says what
 * to do; and what was refused leaves no trace. */
#include "arrays.h"
#include "particle_block.h"
#include "tells.h"

static bouma_io *io;

static bouma_options memory_options(void)
{
    bouma_options o = {.size = sizeof(o)};

    o.io = io;
    o.durability = BOUMA_DURABILITY_FAST;
    return o;
}

/* ---- definitions -------------------------------------------------------- */

static void wrong_definitions_are_refused(void)
{
    const bouma_particles_spec right = {.size = sizeof(right), .ndims = 3};
    const bouma_variable_spec mass = {.size = sizeof(mass),
                                      .type = BOUMA_TYPE_F32};
    const bouma_grid_spec square = {
        .size = sizeof(square), .ndims = 2, .shape = {8, 8}};
    bouma_options o = memory_options();
    bouma_particles_spec spec;
    bouma_variable_spec v;
    bouma_particles *p, *none;
    bouma_variable *variable;
    bouma_dataset *ds;
    bouma_grid *grid;

    CHECK_EQ(bouma_dataset_create(&ds, "defined", &o), BOUMA_OK);
    TELLS(ds, bouma_particles_define(&p, ds, "p", NULL), BOUMA_EINVAL,
          "bouma_particles_spec");
    CHECK(!p);
    TELLS(ds, bouma_particles_define(&p, ds, NULL, &right), BOUMA_EINVAL,
          "name");
    TELLS(ds, bouma_particles_define(&p, ds, "a/b", &right), BOUMA_EINVAL,
          "'/'");
#define WRONG(field, value, status, words)                                     \
    do {                                                                       \
        spec = right;                                                          \
        spec.field = value;                                                    \
        TELLS(ds, bouma_particles_define(&p, ds, "p", &spec), status, words);  \
        CHECK(!p);                                                             \
    } while (0)
    WRONG(size, 3, BOUMA_EINVAL, "size");
    WRONG(ndims, 0, BOUMA_EINVAL, "ndims");
    WRONG(ndims, 4, BOUMA_EINVAL, "ndims");
    WRONG(type, BOUMA_TYPE_I32, BOUMA_EINVAL, "f32");
    WRONG(type, BOUMA_TYPE_STRING, BOUMA_EINVAL, "f32");
    WRONG(leaf, -1, BOUMA_EINVAL, "leaf");
    WRONG(codec, BOUMA_CODEC_WAVELET, BOUMA_EINVAL,
          ", which is not for particles");
    WRONG(codec, BOUMA_CODEC_INTERP, BOUMA_EINVAL,
          ", which is not for particles");
    WRONG(codec, (bouma_codec)77, BOUMA_EINVAL, "codec");
    WRONG(codec, BOUMA_CODEC_QUANTISE, BOUMA_EINVAL, "tolerance");
    WRONG(tolerance, -1, BOUMA_EINVAL, "tolerance");
    WRONG(tolerance, (double)NAN, BOUMA_EINVAL, "tolerance");
    WRONG(tolerance, (double)INFINITY, BOUMA_EINVAL, "tolerance");
#undef WRONG
    CHECK_EQ(bouma_particles_define(&p, ds, "p", &right), BOUMA_OK);
    TELLS(ds, bouma_particles_define(&none, ds, "p", &right), BOUMA_EEXISTS,
          "\"p\"");
    TELLS(ds, bouma_grid_define(&grid, ds, "p", &square), BOUMA_EEXISTS,
          "\"p\"");
    CHECK_EQ(bouma_grid_define(&grid, ds, "g", &square), BOUMA_OK);
    TELLS(ds, bouma_particles_define(&none, ds, "g", &right), BOUMA_EEXISTS,
          "\"g\"");

#define WRONG(field, value, words)                                             \
    do {                                                                       \
        v = mass;                                                              \
        v.field = value;                                                       \
        TELLS(ds, bouma_particles_define_variable(&variable, p, "v", &v),      \
              BOUMA_EINVAL, words);                                            \
        CHECK(!variable);                                                      \
    } while (0)
    WRONG(size, 0, "size");
    WRONG(type, BOUMA_TYPE_STRING, "type");
    WRONG(components, -1, "components");
    WRONG(codec, BOUMA_CODEC_INTERP, ", which is not for particles");
    WRONG(codec, BOUMA_CODEC_WAVELET, ", which is not for particles");
    WRONG(codec, BOUMA_CODEC_QUANTISE, "tolerance");
    WRONG(nominal, 1, "nominal");
#undef WRONG
    v = mass;
    v.tolerance = 0.1;
    v.type = BOUMA_TYPE_I32;
    TELLS(ds, bouma_particles_define_variable(&variable, p, "v", &v),
          BOUMA_EINVAL, "tolerance");
    v.type = BOUMA_TYPE_F32;
    v.tolerance_kind = BOUMA_TOLERANCE_RELATIVE;
    TELLS(ds, bouma_particles_define_variable(&variable, p, "v", &v),
          BOUMA_EINVAL, "absolute");
    v.tolerance_kind = BOUMA_TOLERANCE_ABSOLUTE;
    v.codec = BOUMA_CODEC_RAW;
    TELLS(ds, bouma_particles_define_variable(&variable, p, "v", &v),
          BOUMA_EINVAL, "tolerance");
    TELLS(ds, bouma_particles_define_variable(&variable, p, "v", NULL),
          BOUMA_EINVAL, "bouma_variable_spec");
    TELLS(ds, bouma_particles_define_variable(&variable, p, "position", &mass),
          BOUMA_EEXISTS, "\"p/position\"");
    CHECK_EQ(bouma_particles_define_variable(&variable, p, "v", &mass),
             BOUMA_OK);
    TELLS(ds, bouma_particles_define_variable(&variable, p, "v", &mass),
          BOUMA_EEXISTS, "\"p/v\"");
    v = mass;
    v.codec = BOUMA_CODEC_QUANTISE;
    v.tolerance = 1;
    TELLS(ds, bouma_variable_define(&variable, grid, "v", &v), BOUMA_EINVAL,
          "not for grids");
    CHECK_EQ(bouma_particles_variable_count(p), 1);
    bouma_dataset_free(ds);
}

/* ---- puts --------------------------------------------------------------- */

/* A put that is refused fails the step; the next one is as if nothing had
 * been. */
static void wrong_puts_fail_their_step_only(void)
{
    static const bouma_bounds reversed = {
        .axes = BOUMA_AXES_ZYX, .low = {0, 0, 1}, .high = {1, 1, 0}};
    static const bouma_bounds no_number = {
        .axes = BOUMA_AXES_XYZ, .low = {(double)NAN, 0, 0}, .high = {1, 1, 1}};
    static const bouma_bounds endless = {.axes = BOUMA_AXES_XYZ,
                                         .high = {(double)INFINITY, 1, 1}};
    static const bouma_bounds no_axes = {.high = {1, 1, 1}};
    const bouma_grid_spec square = {
        .size = sizeof(square), .ndims = 2, .shape = {8, 8}};
    const bouma_variable_spec number = {.size = sizeof(number),
                                        .type = BOUMA_TYPE_F64};
    bouma_options o = memory_options();
    struct particle_block_set set, other;
    struct test_column columns[2], one;
    const void *parts[3] = {NULL, NULL, NULL}, *whole_parts[3];
    bouma_variable *sample, *late;
    struct particle_block s;
    bouma_dataset *ds;
    bouma_grid *grid;

    particle_block_make(&s, UNIFORM, 64, 3, BOUMA_TYPE_F64, 0);
    parts[0] = parts[1] = s.mass;
    whole_parts[0] = whole_parts[1] = whole_parts[2] = s.mass;
    CHECK_EQ(bouma_dataset_create(&ds, "put", &o), BOUMA_OK);
    CHECK_EQ(particle_block_define(&set, ds, "dust", 3, BOUMA_TYPE_F64, 0, 0),
             BOUMA_OK);
    CHECK_EQ(particle_block_define(&other, ds, "gas", 3, BOUMA_TYPE_F64, 0, 0),
             BOUMA_OK);
    CHECK_EQ(bouma_grid_define(&grid, ds, "g", &square), BOUMA_OK);
    CHECK_EQ(bouma_variable_define(&sample, grid, "v", &number), BOUMA_OK);
    columns[0] = (struct test_column){.variable = set.variables[POSITION],
                                      .data = s.position};
    TELLS(ds, particle_block_put(&set, &s), BOUMA_ESTATE, "bouma_step_begin");
    TELLS(ds, test_put_particles(set.particles, 0, NULL, 0, NULL), BOUMA_ESTATE,
          "bouma_step_begin");
    CHECK_EQ(bouma_dataset_clear_failures(ds), BOUMA_OK);
    for (int i = 0; i < 19; i++) {
        const char *words = NULL;
        int rc;

        CHECK_EQ(bouma_step_begin(ds, 0, 0), BOUMA_OK);
        CHECK_EQ(particle_block_put(&set, &s), BOUMA_OK);
        columns[1] = (struct test_column){.variable = set.variables[MASS],
                                          .data = s.mass};
        leave_stale(ds);
#define PUT(n, bounds)                                                         \
    test_put_particles(set.particles, s.count, columns, n, bounds)
        switch (i) {
        case 0:
            columns[1].data = NULL;
            words = "\"dust/mass\": the array has no data";
            rc = PUT(2, NULL);
            break;
        case 1:
            columns[1].variable = set.variables[VELOCITY];
            columns[1].data = NULL;
            columns[1].parts = parts; /* the third is missing */
            words = "\"dust/velocity\": the array has a part that is NULL";
            rc = PUT(2, NULL);
            break;
        case 2:
            columns[1].variable = set.variables[POSITION];
            words = "two columns for \"position\"";
            rc = PUT(2, NULL);
            break;
        case 3:
            columns[1].variable = other.variables[MASS];
            words = "variable is not one of theirs: it is \"";
            rc = PUT(2, NULL);
            break;
        case 4:
            columns[1].variable = NULL;
            words = "variable is not one of theirs: it is NULL";
            rc = PUT(2, NULL);
            break;
        case 5:
            words = "no column for the position";
            rc = test_put_particles(set.particles, s.count, columns + 1, 1,
                                    NULL);
            break;
        case 6:
            words = "no columns";
            rc = test_put_particles(set.particles, s.count, NULL, 2, NULL);
            break;
        case 7:
            words = "no column for the position";
            rc = test_put_particles(set.particles, s.count, NULL, 0, NULL);
            break;
        case 8:
            words = "bounds 1 to 0 of axis 0";
            rc = PUT(2, &reversed);
            break;
        case 9:
            words = "bounds: low[0] is NaN";
            rc = PUT(2, &no_number);
            break;
        case 10:
            words = "finite";
            rc = PUT(2, &endless);
            break;
        case 11:
            words = "bouma_particles_put";
            rc = test_put(set.variables[MASS], NULL, s.mass);
            break;
        case 12:
            columns[1].variable = sample;
            words = "variable is not one of theirs";
            rc = PUT(2, NULL);
            break;
        case 13:
            columns[1].stride = 4;
            words = "a stride of 4 bytes";
            rc = PUT(2, NULL);
            break;
        case 14: /* that of a component */
            columns[1] =
                (struct test_column){.variable = set.variables[VELOCITY],
                                     .data = s.velocity,
                                     .stride = -4};
            words = "of 12 bytes each";
            rc = PUT(2, NULL);
            break;
        case 15:
            columns[1] =
                (struct test_column){.variable = set.variables[VELOCITY],
                                     .data = s.velocity,
                                     .stride = 12,
                                     .component_stride = 2};
            words = "a component_stride of 2 bytes";
            rc = PUT(2, NULL);
            break;
        case 16:
            columns[1] =
                (struct test_column){.variable = set.variables[VELOCITY],
                                     .parts = whole_parts,
                                     .stride = 3};
            words = "a stride of 3 bytes";
            rc = PUT(2, NULL);
            break;
        case 17:
            words = "'axes' is 0; set it to BOUMA_AXES_XYZ";
            rc = PUT(2, &no_axes);
            break;
        default: /* the first put has all variables, this one has not */
            words = "\"dust/id\"";
            CHECK_EQ(PUT(2, NULL), BOUMA_OK);
            rc = BOUMA_EINVAL;
        }
#undef PUT
        CHECK_EQ(rc, BOUMA_EINVAL);
        if (i < 18) {
            check_fresh(ds, words);
            CHECK_TEXT(bouma_error_message(ds), words);
        }
        rc = bouma_step_end(ds);
        CHECK_EQ(rc, i < 18 ? BOUMA_EINVAL : BOUMA_EMISMATCH);
        CHECK_TEXT(bouma_error_message(ds), words);
    }
    CHECK_EQ(bouma_step_begin(ds, 0, 0), BOUMA_OK);
    CHECK_EQ(particle_block_put(&set, &s), BOUMA_OK);
    CHECK_EQ(test_put_particles(set.particles, 0, NULL, 0, NULL), BOUMA_OK);
    CHECK_EQ(bouma_step_end(ds), BOUMA_OK);

    /* A variable that is defined behind a put. */
    CHECK_EQ(bouma_step_begin(ds, 1, 0), BOUMA_OK);
    CHECK_EQ(particle_block_put(&set, &s), BOUMA_OK);
    CHECK_EQ(
        bouma_particles_define_variable(&late, set.particles, "late", &number),
        BOUMA_OK);
    one = (struct test_column){.variable = late, .data = s.mass};
    CHECK_EQ(test_put_particles(set.particles, 1, &one, 1, NULL), BOUMA_EINVAL);
    TELLS(ds, bouma_step_end(ds), BOUMA_EINVAL, "position");
    CHECK_EQ(bouma_step_begin(ds, 1, 0), BOUMA_OK);
    CHECK_EQ(particle_block_put(&set, &s), BOUMA_OK);
    CHECK_EQ(bouma_step_end(ds), BOUMA_OK);

    CHECK_EQ(bouma_dataset_close(ds), BOUMA_OK);
    TELLS(ds, particle_block_put(&set, &s), BOUMA_ESTATE, "was closed");
    bouma_dataset_free(ds);
    particle_block_free(&s);
}

/* ---- reading ------------------------------------------------------------ */

static int count_calls(void *user, const bouma_batch *batch)
{
    (void)batch;
    ++*(int *)user;
    return 0;
}

static int never_called(void *user, const bouma_patch_info *patch, int level,
                        const bouma_selection *selection, const void *samples)
{
    (void)user;
    (void)patch;
    (void)level;
    (void)selection;
    (void)samples;
    CHECK(0);
    return 1;
}

static int refuse(void *user, const bouma_batch *batch)
{
    (void)batch;
    ++*(int *)user;
    return 7;
}

/* Reads while it is called. */
struct nested {
    struct particle_block_set *set;
    bouma_variable *sample;
    bouma_dataset *ds;
    int calls;
    int end; /* of the query, the next time */
};

static int read_again(void *user, const bouma_batch *batch)
{
    struct nested *n = user;
    bouma_particle_data *d;
    double room[64];

    (void)batch;
    if (n->calls++)
        return n->end;
    TELLS(n->ds, bouma_particles_read(&d, n->set->particles, NULL),
          BOUMA_ESTATE, "query");
    CHECK(!d);
    TELLS(n->ds, bouma_particles_sample(&d, n->set->particles, NULL, 3, 1),
          BOUMA_ESTATE, "query");
    TELLS(n->ds, bouma_particles_restart(&d, n->set->particles, NULL),
          BOUMA_ESTATE, "query");
    TELLS(n->ds,
          bouma_particles_query_run(n->set->particles, NULL, read_again, n),
          BOUMA_ESTATE, "query");
    TELLS(n->ds, test_read(n->sample, 0, NULL, room), BOUMA_ESTATE, "query");
    return 0;
}

static void write_data(const struct particle_block *s)
{
    const bouma_grid_spec square = {
        .size = sizeof(square), .ndims = 2, .shape = {8, 8}};
    const bouma_variable_spec number = {.size = sizeof(number),
                                        .type = BOUMA_TYPE_F64};
    static double samples[64];
    bouma_options o = memory_options();
    bouma_variable *v, *absent;
    struct particle_block_set set, other;
    bouma_particle_data *d;
    bouma_particles_query q;
    bouma_range range;
    bouma_grid *grid;
    bouma_dataset *ds;

    CHECK_EQ(bouma_dataset_create(&ds, "data", &o), BOUMA_OK);
    CHECK_EQ(particle_block_define(&set, ds, "dust", 3, BOUMA_TYPE_F64, 0, 8),
             BOUMA_OK);
    CHECK_EQ(bouma_particles_define_variable(&absent, set.particles, "absent",
                                             &number),
             BOUMA_OK);
    CHECK_EQ(particle_block_define(&other, ds, "gas", 3, BOUMA_TYPE_F64, 0, 0),
             BOUMA_OK);
    CHECK_EQ(bouma_grid_define(&grid, ds, "g", &square), BOUMA_OK);
    CHECK_EQ(bouma_variable_define(&v, grid, "v", &number), BOUMA_OK);
    CHECK_EQ(bouma_step_begin(ds, 5, 0), BOUMA_OK);
    CHECK_EQ(particle_block_put(&set, s), BOUMA_OK);
    CHECK_EQ(test_put(v, NULL, samples), BOUMA_OK);
    /* What is being written cannot be read. */
    TELLS(ds, bouma_particles_read(&d, set.particles, NULL), BOUMA_ESTATE,
          "open a step");
    CHECK(!d);
    TELLS(ds, bouma_particles_sample(&d, set.particles, NULL, 3, 1),
          BOUMA_ESTATE, "open a step");
    TELLS(ds, bouma_particles_restart(&d, set.particles, NULL), BOUMA_ESTATE,
          "open a step");
    q = (bouma_particles_query){.size = sizeof(q)};
    TELLS(ds, bouma_particles_query_run(set.particles, &q, refuse, &q),
          BOUMA_ESTATE, "open a step");
    TELLS(ds, bouma_variable_range(&range, set.variables[MASS], 0),
          BOUMA_ESTATE, "open a step");
    CHECK_EQ(bouma_step_end(ds), BOUMA_OK);
    CHECK_EQ(bouma_dataset_close(ds), BOUMA_OK);
    bouma_dataset_free(ds);
}

static void wrong_queries_are_refused(void)
{
    bouma_options o = memory_options();
    struct particle_block_set set, other;
    bouma_variable *absent, *sample, *twice[2];
    bouma_particles_query q, long_query[2];
    bouma_bounds box = {.axes = BOUMA_AXES_XYZ};
    bouma_particle_data *d;
    bouma_particles_file file = {.size = sizeof(file)};
    bouma_particles_node node = {.size = sizeof(node)};
    bouma_selection selection = {.size = sizeof(selection)};
    bouma_refinement *r;
    bouma_condition c[2];
    bouma_request request;
    bouma_array to;
    bouma_range range;
    bouma_dataset *ds;
    bouma_step *step;
    struct particle_block s;
    struct nested nested;
    double room[64];
    int calls = 0;

    particle_block_make(&s, UNIFORM, 500, 3, BOUMA_TYPE_F64, 0);
    write_data(&s);
    CHECK_EQ(bouma_dataset_open(&ds, "data", &o), BOUMA_OK);
    CHECK_EQ(bouma_step_open(&step, ds, 5), BOUMA_OK);
    particle_block_find(&set, step, "dust");
    particle_block_find(&other, step, "gas");
    absent = bouma_particles_find_variable(set.particles, "absent");
    sample = bouma_grid_find_variable(bouma_step_find_grid(step, "g"), "v");
    REQUIRE(absent && sample);

    GIVES_NONE(ds, bouma_step_find_particles(step, "stars"),
               "there is no particles \"stars\"; there are \"dust\", \"gas\"");
    GIVES_NONE(ds, bouma_step_find_particles(step, "g"), "is a grid");
    GIVES_NONE(ds, bouma_step_find_grid(step, "dust"), "is a set of particles");
    GIVES_NONE(ds, bouma_step_find_particles(step, NULL), "\"dust\"");
    GIVES_NONE(ds, bouma_step_particles(step, 2), "2 sets of particles");
    GIVES_NONE(ds, bouma_step_particles(step, -1), "-1");
    GIVES_NONE(ds, bouma_particles_find_variable(set.particles, "weight"),
               "\"mass\"");
    GIVES_NONE(ds, bouma_particles_variable(set.particles, 8), "8");
    TELLS(ds, bouma_particles_file_get(NULL, set.particles, 0), BOUMA_EINVAL,
          "the pointer for ");
    TELLS(ds, bouma_particles_node_get(NULL, set.particles, 0), BOUMA_EINVAL,
          "the pointer for ");
    TELLS(ds, bouma_particles_file_get(&file, set.particles, 1),
          BOUMA_ENOTFOUND, "1 files");
    TELLS(ds, bouma_particles_file_get(&file, other.particles, 0),
          BOUMA_ENOTFOUND, "0 files");
    TELLS(ds, bouma_particles_node_get(&node, set.particles, -1),
          BOUMA_ENOTFOUND, "-1");
    TELLS(ds, bouma_variable_range(&range, absent, 0), BOUMA_ENOTFOUND,
          "\"dust/absent\"");

    /* What is for grids. */
    TELLS(ds, test_read(set.variables[MASS], 0, NULL, room), BOUMA_EINVAL,
          "bouma_particles_");
    TELLS(ds, bouma_variable_select(&selection, set.variables[MASS], 0, NULL),
          BOUMA_EINVAL, "bouma_particles_");
    TELLS(ds, bouma_refinement_open(&r, set.variables[MASS], 0, NULL),
          BOUMA_EINVAL, "bouma_particles_");
    CHECK(!r);
    to = test_array(set.variables[MASS], room);
    request = (bouma_request){
        .size = sizeof(request), .variable = set.variables[MASS], .array = &to};
    TELLS(ds, bouma_step_read(step, &request, 1), BOUMA_EINVAL,
          "bouma_particles_");
    {
        bouma_patch_query patches = {.size = sizeof(patches),
                                     .each = never_called};

        TELLS(ds, bouma_variable_query(set.variables[MASS], &patches),
              BOUMA_EINVAL, "bouma_particles_");
    }

#define ASK   bouma_particles_read(&d, set.particles, &q)
#define AGAIN q = (bouma_particles_query){.size = sizeof(q)}
    memset(&q, 0, sizeof(q));
    TELLS(ds, ASK, BOUMA_EINVAL, "sizeof(bouma_particles_query)");
    CHECK(!d);
    memset(long_query, 0xff, sizeof(long_query));
    long_query[0] = (bouma_particles_query){.size = sizeof(long_query)};
    TELLS(ds, bouma_particles_read(&d, set.particles, long_query), BOUMA_EINVAL,
          "sizeof(bouma_particles_query)");
    /* Of a program that knew neither 'order' nor 'shares'. */
    memset(&q, 0xff, sizeof(q));
    memset(&q, 0, offsetof(bouma_particles_query, order));
    q.size = offsetof(bouma_particles_query, order);
    CHECK_EQ(q.shares, -1);
    CHECK_EQ(ASK, BOUMA_OK);
    CHECK(d && d->count > 0);
    bouma_particle_data_free(d);
    AGAIN;
    q.from = 0.6;
    q.quality = 0.5;
    TELLS(ds, ASK, BOUMA_EINVAL, "from 0.6 to 0.5");
    AGAIN;
    q.quality = 1.5;
    TELLS(ds, ASK, BOUMA_EINVAL, "1.5");
    AGAIN;
    q.from = -0.5;
    TELLS(ds, ASK, BOUMA_EINVAL, "-0.5");
    AGAIN;
    q.quality = (double)NAN;
    TELLS(ds, ASK, BOUMA_EINVAL, "nan");
    AGAIN;
    q.box = &box;
    box.low[1] = (double)NAN;
    TELLS(ds, ASK, BOUMA_EINVAL, "low[1] is NaN");
    box = (bouma_bounds){.high = {1, 1, 1}};
    TELLS(ds, ASK, BOUMA_EINVAL, "'axes' is 0");
    box.axes = (bouma_axes)3;
    TELLS(ds, ASK, BOUMA_EINVAL, "'axes' is 3");
    box = (bouma_bounds){.axes = BOUMA_AXES_ZYX};
    AGAIN;
    q.order = (bouma_component_order)3;
    TELLS(ds, ASK, BOUMA_EINVAL, "'order' is 3");
    AGAIN;
    q.condition_count = 1;
    TELLS(ds, ASK, BOUMA_EINVAL, "the conditions are NULL");
    q.conditions = c;
    q.condition_count = 0;
    TELLS(ds, ASK, BOUMA_EINVAL, "'condition_count' is 0");
    q.condition_count = 1;
    c[0] = condition_of(other.variables[MASS], 0, 0, 1);
    c[0].size = 0;
    TELLS(ds, ASK, BOUMA_EINVAL, "sizeof(bouma_condition)");
    c[1] = c[0] = condition_of(set.variables[MASS], 0, 0, 1);
    c[1].size = 8;
    q.condition_count = 2;
    TELLS(ds, ASK, BOUMA_EINVAL, "elements 0 and 1");
    q.condition_count = 1;
    c[0] = condition_of(other.variables[MASS], 0, 0, 1);
    TELLS(ds, ASK, BOUMA_EINVAL, "condition's variable is not one of theirs");
    c[0].variable = sample;
    TELLS(ds, ASK, BOUMA_EINVAL, "condition's variable is not one of theirs");
    c[0].variable = NULL;
    TELLS(ds, ASK, BOUMA_EINVAL, "condition's variable is not one of theirs");
    c[0] = condition_of(set.variables[VELOCITY], 3, 0, 1);
    TELLS(ds, ASK, BOUMA_EINVAL, "component 3");
    c[0] = condition_of(set.variables[MASS], 0, (double)NAN, 1);
    TELLS(ds, ASK, BOUMA_EINVAL, "NaN as its 'low'");
    c[0] = condition_of(set.variables[MASS], 0, 0, (double)NAN);
    TELLS(ds, ASK, BOUMA_EINVAL, "NaN as its 'high'");
    c[0].high.type = BOUMA_TYPE_F32;
    TELLS(ds, ASK, BOUMA_EINVAL, "'high' must be made with bouma_value_int()");
    c[0].low.type = c[0].high.type = (bouma_type)0;
    TELLS(ds, ASK, BOUMA_EINVAL, "neither 'low' nor 'high'");
    c[0] = condition_of(set.variables[MASS], 1, 0, 1);
    TELLS(ds, ASK, BOUMA_EINVAL, "component 1 of \"dust/mass\", which has 1");
    c[0] = condition_of(absent, 0, 0, 1);
    TELLS(ds, ASK, BOUMA_ENOTFOUND, "\"dust/absent\"");
    AGAIN;
    q.variable_count = 1;
    TELLS(ds, ASK, BOUMA_EINVAL, "the variables are NULL");
    q.variables = twice;
    q.variable_count = 0;
    TELLS(ds, ASK, BOUMA_EINVAL, "'variable_count' is 0");
    q.variable_count = 1;
    twice[0] = absent;
    TELLS(ds, ASK, BOUMA_ENOTFOUND, "\"dust/absent\"");
    twice[0] = other.variables[ID];
    TELLS(ds, ASK, BOUMA_EINVAL, "not one of theirs");
    twice[0] = NULL;
    TELLS(ds, ASK, BOUMA_EINVAL, "not one of theirs");
    twice[0] = twice[1] = set.variables[ID];
    q.variable_count = 2;
    TELLS(ds, ASK, BOUMA_EINVAL, "\"dust/id\" is asked for twice");
    TELLS(ds, bouma_particles_query_run(set.particles, NULL, NULL, NULL),
          BOUMA_EINVAL, "function");

    /* Boxes that have nothing are not wrong. */
    AGAIN;
    q.box = &box;
    CHECK_EQ(ASK, BOUMA_OK);
    CHECK_EQ(d->count, 0);
    bouma_particle_data_free(d);
    box.low[0] = 1;
    CHECK_EQ(ASK, BOUMA_OK);
    CHECK_EQ(d->count, 0);
    bouma_particle_data_free(d);
    AGAIN;
    q.from = q.quality = 0.5;
    CHECK_EQ(ASK, BOUMA_OK);
    CHECK_EQ(d->count, 0);
    bouma_particle_data_free(d);
#undef ASK
#undef AGAIN

    TELLS(ds, bouma_particles_query_run(set.particles, NULL, refuse, &calls),
          BOUMA_EABORTED, "ended the query");
    CHECK_EQ(calls, 1);
    nested = (struct nested){&set, sample, ds, 0, 0};
    CHECK_EQ(
        bouma_particles_query_run(set.particles, NULL, read_again, &nested),
        BOUMA_OK);
    CHECK(nested.calls > 1);
    /* What they were told is not what ends the query later. */
    nested = (struct nested){&set, sample, ds, 0, 1};
    TELLS(ds,
          bouma_particles_query_run(set.particles, NULL, read_again, &nested),
          BOUMA_EABORTED, "ended the query");
    calls = 0;
    CHECK_EQ(
        bouma_particles_query_run(set.particles, NULL, count_calls, &calls),
        BOUMA_OK);
    CHECK(calls > 0);
    /* Of a set without particles nothing comes, whatever is asked. */
    CHECK_EQ(bouma_particles_query_run(other.particles, NULL, refuse, &calls),
             BOUMA_OK);

    /* What is read cannot be written. */
    TELLS(ds, particle_block_put(&set, &s), BOUMA_ESTATE, "reading only");
    TELLS(ds,
          bouma_particles_define_variable(&twice[0], set.particles, "x", NULL),
          BOUMA_ESTATE, "reading only");
    bouma_step_free(step);
    bouma_dataset_free(ds);
    particle_block_free(&s);
}

static void nothing_is_done_without_a_handle(void)
{
    bouma_particles_info info = {.size = sizeof(info)};
    bouma_particles_file file = {.size = sizeof(file)};
    bouma_particles_node node = {.size = sizeof(node)};
    bouma_particle_data *d;
    bouma_particles *p;
    bouma_variable *v;

    CHECK_EQ(bouma_particles_define(&p, NULL, "p", NULL), BOUMA_EINVAL);
    CHECK_EQ(bouma_particles_define_variable(&v, NULL, "p", NULL),
             BOUMA_EINVAL);
    CHECK_EQ(test_put_particles(NULL, 1, NULL, 0, NULL), BOUMA_EINVAL);
    CHECK_EQ(bouma_step_particles_count(NULL), 0);
    CHECK(!bouma_step_particles(NULL, 0));
    CHECK(!bouma_step_find_particles(NULL, "p"));
    CHECK_EQ(bouma_particles_variable_count(NULL), 0);
    CHECK(!bouma_particles_position(NULL));
    CHECK(!bouma_particles_variable(NULL, 0));
    CHECK(!bouma_particles_find_variable(NULL, "v"));
    CHECK(!bouma_particles_attributes(NULL));
    bouma_particles_info_get(&info, NULL);
    CHECK(!info.name);
    CHECK_EQ(bouma_particles_file_get(&file, NULL, 0), BOUMA_EINVAL);
    CHECK_EQ(bouma_particles_node_get(&node, NULL, 0), BOUMA_EINVAL);
    CHECK_EQ(bouma_particles_query_run(NULL, NULL, NULL, NULL), BOUMA_EINVAL);
    CHECK_EQ(bouma_particles_read(&d, NULL, NULL), BOUMA_EINVAL);
    CHECK_EQ(bouma_particles_sample(&d, NULL, NULL, 1, 1), BOUMA_EINVAL);
    CHECK_EQ(bouma_particles_restart(&d, NULL, NULL), BOUMA_EINVAL);
    bouma_particle_data_free(NULL);
}

int main(void)
{
    io = bouma_io_memory_new();
    REQUIRE(io);
    unsetenv("BOUMA_OPTIONS");
    wrong_definitions_are_refused();
    wrong_puts_fail_their_step_only();
    wrong_queries_are_refused();
    nothing_is_done_without_a_handle();
    bouma_io_memory_free(io);
    return check_result();
}
