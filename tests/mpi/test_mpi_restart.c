/* test_mpi_restart.c -- particles that all ranks wrote are read by some of them
 * together: each gets what is in its box, those of boxes that tile the domain
 * get each particle once, and equal shares are equal. */
#include <stddef.h>
#include <time.h>

#include "flock.h"
#include "sized.h"

struct test {
    struct ranks *ranks;
    int64_t number;
    struct flock_spec spec;
    struct flock all;
    uint64_t shared, own;

    MPI_Comm comm; /* of those that read */
    int rank, size;
    bouma_dataset *ds;
    struct particle_block_set set;
    bouma_particles_info info;
    uint8_t *there; /* [all.count] */
    int *times;     /* [all.count], how many ranks have it */
};

static void write_all(struct test *t, const char *path)
{
    struct particle_block_set set, other;
    struct flock_put put;
    bouma_options options = {.size = sizeof(options)};
    bouma_dataset *ds;

    options.durability = BOUMA_DURABILITY_FAST;
    options.files = 1 + (int)check_below(&t->shared, 9);
    options.assign = (bouma_assign)check_below(&t->shared, 9);
    CHECK_EQ(bouma_dataset_create_mpi(&ds, MPI_COMM_WORLD, path, &options),
             BOUMA_OK);
    CHECK_EQ(particle_block_define(&set, ds, "dust", t->spec.ndims,
                                   t->spec.type, 0, 16),
             BOUMA_OK);
    CHECK_EQ(
        particle_block_define(&other, ds, "nothing", 3, BOUMA_TYPE_F32, 0, 0),
        BOUMA_OK);
    for (int step = 0; step < 2; step++) {
        CHECK_EQ(bouma_step_begin(ds, step, 0), BOUMA_OK);
        CHECK_EQ(
            flock_hand_over(&put, &set, &t->all.particle_blocks[t->ranks->rank],
                            PARTICLE_BLOCK_VARIABLES, BOUNDS_NONE, &t->own),
            BOUMA_OK);
        CHECK_EQ(bouma_step_end(ds), BOUMA_OK);
        flock_put_free(&put);
    }
    CHECK_EQ(bouma_dataset_close(ds), BOUMA_OK);
    bouma_dataset_free(ds);
}

/* ---- boxes -------------------------------------------------------------- */

/* This rank's tile of a box, the same cuts on all ranks: through particles
 * where that is possible. */
static void tile(struct test *t, bouma_bounds *box)
{
    uint64_t random = t->shared;
    int first = 0, count = t->size;

    while (count > 1) {
        int axis = (int)check_below(&random, t->spec.ndims), half = count / 2;
        double cut = 0.5 * box->low[axis] + 0.5 * box->high[axis];

        for (int i = 0; i < 9; i++) {
            bouma_bounds p;

            flock_box(&t->all, &p, &random);
            if (p.low[axis] > box->low[axis] && p.low[axis] < box->high[axis])
                cut = p.low[axis];
        }
        while (!(box->low[axis] < box->high[axis]) && t->spec.ndims > 1) {
            /* A flat axis is not cut. */
            axis = (axis + 1) % t->spec.ndims;
            cut = 0.5 * box->low[axis] + 0.5 * box->high[axis];
            if (t->spec.shape == ONE_POINT)
                break;
        }
        if (t->rank < first + half) {
            box->high[axis] = cut;
            count = half;
        } else {
            box->low[axis] = cut;
            first += half;
            count -= half;
        }
    }
}

static void whole_domain(const struct test *t, bouma_particles_query *q,
                         bouma_bounds *box, double more)
{
    *q = (bouma_particles_query){.size = sizeof(*q), .box = box};
    *box = (bouma_bounds){.axes = BOUMA_AXES_XYZ};
    for (int d = 0; d < t->spec.ndims; d++) {
        box->low[d] = t->info.low[d];
        box->high[d] = t->info.high[d] + more;
    }
}

/* Read together; what comes is right. */
static bouma_particle_data *restart(struct test *t,
                                    const bouma_particles_query *q)
{
    bouma_particle_data *d = NULL;
    int rc = bouma_particles_restart(&d, t->set.particles, q);

    CHECK_EQ(rc, BOUMA_OK);
    if (rc) {
        printf("%s\n", bouma_error_message(t->ds));
        return NULL;
    }
    CHECK_EQ(flock_wrong(&t->all, d, t->there), 0);
    return d;
}

/* The number of finite particles that are not with exactly one rank (or, of
 * those that 'q' does not want, with none). */
static uint64_t not_once(struct test *t, const uint8_t *wanted)
{
    uint64_t wrong = 0;

    for (uint64_t i = 0; i < t->all.count; i++)
        t->times[i] = t->there[i];
    MPI_Allreduce(MPI_IN_PLACE, t->times, (int)t->all.count, MPI_INT, MPI_SUM,
                  t->comm);
    for (uint64_t i = 0; i < t->all.count; i++)
        wrong += t->times[i] != wanted[i];
    return wrong;
}

/* What one rank alone finds in the whole of space. */
static uint8_t *wanted_of(struct test *t, const bouma_particles_query *like)
{
    bouma_bounds box = {.axes = BOUMA_AXES_XYZ, .closed = like->box->closed};
    bouma_particles_query q = *like;
    uint8_t *wanted = malloc((size_t)t->all.count + 1);
    bouma_particle_data *d;

    REQUIRE(wanted);
    q.box = &box;
    for (int a = 0; a < 3; a++) {
        box.low[a] = -INFINITY;
        box.high[a] = INFINITY;
    }
    CHECK_EQ(bouma_particles_read(&d, t->set.particles, &q), BOUMA_OK);
    REQUIRE(d);
    CHECK_EQ(flock_wrong(&t->all, d, wanted), 0);
    bouma_particle_data_free(d);
    return wanted;
}

static void tiles_have_each_particle_once(struct test *t)
{
    for (int way = 0; way < 4; way++) {
        bouma_particles_query q;
        bouma_bounds box;
        bouma_particle_data *d;
        bouma_condition c;
        uint8_t *wanted;

        /* The domain is that of the particles, or larger. */
        whole_domain(t, &q, &box, way % 2);
        t->shared++;
        if (t->spec.shape != ONE_POINT || way % 2)
            tile(t, &box);
        else if (t->rank) /* a point: only the first has a box that has it */
            box.low[0] = box.high[0] = -5;
        if (way >= 2) {
            q.quality = 0.37;
            c = condition_of(t->set.variables[KIND], 0, -3, 4);
            q.conditions = &c;
            q.condition_count = 1;
            q.from = 0.02;
        }
        d = restart(t, &q);
        wanted = wanted_of(t, &q);
        CHECK_EQ(not_once(t, wanted), 0);
        free(wanted);
        bouma_particle_data_free(d);
    }
}

/* The particles end at a face that two boxes share: they are in one of them. */
static void a_face_at_the_end_of_particles_is_shared_by_nobody(struct test *t)
{
    bouma_particles_query q;
    bouma_bounds box;
    bouma_particle_data *d;
    uint8_t *wanted;

    whole_domain(t, &q, &box, 1);
    if (t->rank == 0)
        box.high[0] = t->info.high[0];
    else if (t->rank == 1)
        box.low[0] = t->info.high[0];
    else
        box.low[0] = box.high[0] = t->info.high[0] + 10;
    if (t->size < 2)
        box.high[0] = t->info.high[0] + 1;
    d = restart(t, &q);
    wanted = wanted_of(t, &q);
    CHECK_EQ(not_once(t, wanted), 0);
    free(wanted);
    bouma_particle_data_free(d);
}

static void boxes_that_overlap_have_all_of_theirs(struct test *t)
{
    for (int i = 0; i < 3; i++) {
        bouma_particles_query q;
        bouma_bounds box = {0};
        bouma_particle_data *d;

        q = (bouma_particles_query){.size = sizeof(q)};
        q.box = flock_box(&t->all, &box, &t->own) ? &box : NULL;
        box.closed = 1u << check_below(&t->own, t->spec.ndims);
        d = restart(t, &q);
        CHECK_EQ(flock_missed(&t->all, &q, NULL, t->there), 0);
        bouma_particle_data_free(d);
    }
}

static void equal_shares_are_equal(struct test *t)
{
    uint64_t mine = 0, fewest, most;
    bouma_particle_data *d = restart(t, NULL);
    uint8_t *wanted = malloc((size_t)t->all.count + 1);

    REQUIRE(wanted);
    memset(wanted, 1, (size_t)t->all.count + 1);
    if (d)
        mine = d->count;
    MPI_Allreduce(&mine, &fewest, 1, MPI_UINT64_T, MPI_MIN, t->comm);
    MPI_Allreduce(&mine, &most, 1, MPI_UINT64_T, MPI_MAX, t->comm);
    CHECK(most - fewest <= 1);
    CHECK_EQ(not_once(t, wanted), 0);
    free(wanted);
    bouma_particle_data_free(d);
}

/* Of shares, what matches: each once, and nothing else. */
static void shares_of_what_matches(struct test *t)
{
    bouma_particles_query q;
    bouma_bounds box = {.axes = BOUMA_AXES_XYZ};
    bouma_condition c;
    bouma_particle_data *d;
    uint8_t *wanted = malloc((size_t)t->all.count + 1);
    uint64_t k = 0;

    REQUIRE(wanted);
    q = (bouma_particles_query){.size = sizeof(q)};
    q.shares = 1;
    c = condition_of(t->set.variables[KIND], 0, -3, 5);
    q.conditions = &c;
    q.condition_count = 1;
    d = restart(t, &q);
    for (int r = 0; r < t->all.ranks; r++)
        for (uint64_t i = 0; i < t->all.particle_blocks[r].count; i++, k++)
            wanted[k] = t->all.particle_blocks[r].kind[i] >= -3 &&
                        t->all.particle_blocks[r].kind[i] <= 5;
    CHECK_EQ(not_once(t, wanted), 0);
    bouma_particle_data_free(d);
    q.conditions = NULL;
    q.condition_count = 0;
    q.where = "-3 <= kind < 1 | 1 <= kind <= 5 and kind > -9";
    d = restart(t, &q);
    CHECK_EQ(not_once(t, wanted), 0);
    bouma_particle_data_free(d);
    d = NULL;
    CHECK_EQ(bouma_particles_read(&d, t->set.particles, &q), BOUMA_EINVAL);
    CHECK_TEXT(bouma_error_message(t->ds), "restart");
    q.box = &box;
    CHECK_EQ(bouma_particles_restart(&d, t->set.particles, &q), BOUMA_EINVAL);
    free(wanted);
}

/* ---- what is refused ---------------------------------------------------- */

/* All ranks of t->comm have this status, and a message. */
static void refused(struct test *t, int rc, int expected, const char *part)
{
    CHECK_EQ(rc, expected);
    CHECK_TEXT(bouma_error_message(t->ds), part);
}

static void queries_that_differ_are_refused(struct test *t, bouma_step *other)
{
    bouma_particles *elsewhere = bouma_step_find_particles(other, "dust");
    bouma_particles *nothing = bouma_step_find_particles(other, "nothing");
    bouma_variable *list[2] = {t->set.variables[ID], t->set.variables[MASS]};
    int last = t->rank == t->size - 1;
    bouma_particles_query q;
    bouma_bounds box;
    bouma_particle_data *d = NULL;
    bouma_condition c;

    if (t->size < 2)
        return;
    whole_domain(t, &q, &box, 0);
    refused(t, bouma_particles_restart(&d, t->set.particles, last ? NULL : &q),
            BOUMA_EMISMATCH, "share");
    CHECK(!d);
    q.quality = last ? 0.5 : 1;
    refused(t, bouma_particles_restart(&d, t->set.particles, &q),
            BOUMA_EMISMATCH, "qualities");
    q.quality = 1;
    q.variables = list;
    q.variable_count = last ? 1 : 2;
    refused(t, bouma_particles_restart(&d, t->set.particles, &q),
            BOUMA_EMISMATCH, "variables");
    c = condition_of(list[1], 0, 0, last);
    q.variable_count = 2;
    q.conditions = &c;
    q.condition_count = 1;
    refused(t, bouma_particles_restart(&d, t->set.particles, &q),
            BOUMA_EMISMATCH, "conditions");
    q.conditions = NULL;
    q.condition_count = 0;
    q.where = last ? "kind < 3 | kind > 4" : "kind < 3 & kind > 4";
    refused(t, bouma_particles_restart(&d, t->set.particles, &q),
            BOUMA_EMISMATCH, "conditions");
    q.where = last ? "kind <" : "kind < 3";
    refused(t, bouma_particles_restart(&d, t->set.particles, &q), BOUMA_EINVAL,
            "where: at the end");
    q.where = NULL;
    box.low[0] = last ? (double)NAN : 0;
    refused(t, bouma_particles_restart(&d, t->set.particles, &q), BOUMA_EINVAL,
            "NaN");
    refused(
        t,
        bouma_particles_restart(&d, last ? elsewhere : t->set.particles, NULL),
        BOUMA_EMISMATCH, "steps");
    refused(t, bouma_particles_restart(&d, last ? nothing : elsewhere, NULL),
            BOUMA_EMISMATCH, "particles");
    CHECK(!d);
}

static void nothing_comes_of_nothing(struct test *t, bouma_step *step)
{
    bouma_particles *nothing = bouma_step_find_particles(step, "nothing");
    bouma_particles_query q;
    bouma_bounds box;
    bouma_particle_data *d = NULL;

    CHECK_EQ(bouma_particles_restart(&d, nothing, NULL), BOUMA_OK);
    CHECK(d && !d->count);
    bouma_particle_data_free(d);
    whole_domain(t, &q, &box, 0);
    CHECK_EQ(bouma_particles_restart(&d, nothing, &q), BOUMA_OK);
    CHECK(d && !d->count);
    bouma_particle_data_free(d);
}

/* Only ids; and only positions, the coordinates of a particle side by side. */
static void only_what_is_wanted_comes(struct test *t)
{
    bouma_particles_query q;
    bouma_bounds box;
    bouma_particle_data *ids = NULL, *d = NULL;
    size_t ndims = (size_t)t->spec.ndims;
    uint64_t at, among_all, wrong = 0;

    whole_domain(t, &q, &box, 1);
    q.variables = &t->set.variables[ID];
    q.variable_count = 1;
    CHECK_EQ(bouma_particles_restart(&ids, t->set.particles, &q), BOUMA_OK);
    REQUIRE(ids);
    CHECK_EQ(ids->variable_count, 1);
    CHECK_EQ(ids->count, t->info.count - t->info.strays);
    q.variables = &t->set.variables[POSITION];
    q.order = BOUMA_COMPONENT_ORDER_INTERLEAVED;
    CHECK_EQ(bouma_particles_restart(&d, t->set.particles, &q), BOUMA_OK);
    REQUIRE(d);
    CHECK_EQ(d->order, BOUMA_COMPONENT_ORDER_INTERLEAVED);
    CHECK_EQ(d->count, ids->count);
    for (uint64_t i = 0; i < d->count; i++) {
        const struct particle_block *s = flock_find(
            &t->all, ((uint64_t *)ids->columns[0])[i], &at, &among_all);

        for (size_t a = 0; a < ndims && s; a++) {
            size_t k = (size_t)i * ndims + a;
            double x = s->type == BOUMA_TYPE_F32
                           ? (double)((float *)d->columns[0])[k]
                           : ((double *)d->columns[0])[k];

            wrong += x != s->position[at * ndims + a];
        }
        wrong += !s;
    }
    CHECK_EQ(wrong, 0);
    bouma_particle_data_free(ids);
    bouma_particle_data_free(d);
}

/* Into arrays of structs of the caller, the same particles come in the same
 * order; if those of one rank are too small, all are told what they need. */
static void own_arrays_get_the_same(struct test *t)
{
    struct own {
        double at[3];
        uint64_t id;
    } * own;
    bouma_array at = {
        .size = sizeof(at), .type = BOUMA_TYPE_F64, .stride = {sizeof(*own)}};
    bouma_array id = {
        .size = sizeof(id), .type = BOUMA_TYPE_U64, .stride = {sizeof(*own)}};
    const bouma_column columns[2] = {
        {sizeof(*columns), t->set.variables[ID], &id},
        {sizeof(*columns), t->set.variables[POSITION], &at}};
    int last = t->rank == t->size - 1, rc;
    bouma_particle_data *d;
    bouma_particles_query q;
    bouma_bounds box;
    uint64_t count = 77, wrong = 0, least;

    whole_domain(t, &q, &box, 1);
    t->shared++;
    tile(t, &box);
    d = restart(t, &q);
    REQUIRE(d);
    CHECK_EQ(
        bouma_particles_restart_into(&count, t->set.particles, &q, NULL, 0, 0),
        BOUMA_OK);
    CHECK_EQ(count, d->count);
    own = malloc((size_t)(count + 1) * sizeof(*own));
    REQUIRE(own);
    at.data = own->at;
    id.data = &own->id;
    at.bytes = (size_t)(count + 1) * sizeof(*own);
    id.bytes = at.bytes - offsetof(struct own, id);
    rc = bouma_particles_restart_into(&count, t->set.particles, &q, columns, 2,
                                      count + !last);
    CHECK_EQ(rc, BOUMA_OK);
    CHECK_EQ(count, d->count);
    for (uint64_t i = 0; i < count && !rc; i++) {
        wrong += own[i].id != ((uint64_t *)d->columns[ID])[i];
        for (int a = 0; a < t->spec.ndims; a++)
            wrong += own[i].at[a] !=
                     particle_block_position_of(d, t->spec.type, a, i);
    }
    CHECK_EQ(wrong, 0);
    MPI_Allreduce(&count, &least, 1, MPI_UINT64_T, MPI_MIN, t->comm);
    if (least) {
        rc = bouma_particles_restart_into(&count, t->set.particles, &q, columns,
                                          2, last ? count - 1 : count);
        CHECK_EQ(rc, BOUMA_ELIMIT);
        CHECK_EQ(count, d->count);
        CHECK_TEXT(bouma_error_message(t->ds), "the arrays have room for");
    }
    /* One rank has an array without a type. */
    at.type = last ? (bouma_type)0 : BOUMA_TYPE_F64;
    if (least) {
        rc = bouma_particles_restart_into(&count, t->set.particles, &q, columns,
                                          2, count);
        CHECK_EQ(rc, BOUMA_EINVAL);
        CHECK_TEXT(bouma_error_message(t->ds), "no type");
        CHECK_EQ(count, 0);
    }
    free(own);
    bouma_particle_data_free(d);
}

/* All ranks wait for each other. Those that do not read would take the
 * processors from those that do, if they looked all the time. */
static void wait_asleep(void)
{
    const struct timespec nap = {0, 2000000};
    MPI_Request request;
    int done = 0;

    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    while (!done) {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (!done)
            nanosleep(&nap, NULL);
    }
}

/* ---- all of it ---------------------------------------------------------- */

static void read_with(struct test *t, const char *path, int readers)
{
    int in = t->ranks->rank < readers, before = check_counts()->failed;
    bouma_step *step = NULL, *other = NULL;

    MPI_Comm_split(MPI_COMM_WORLD, in, 0, &t->comm);
    MPI_Comm_rank(t->comm, &t->rank);
    MPI_Comm_size(t->comm, &t->size);
    t->shared = (uint64_t)t->number * 64; /* the same on all of them */
    if (in) {
        bouma_options options = {.size = sizeof(options)};

        /* Small buffers, so that particles come in many rounds. */
        options.buffer_bytes = (uint64_t)32 << t->number % 6;
        options.buffers = 1 + (int)(t->number % 3);
        options.transport = (bouma_transport)(t->number / 2 % 3);
        CHECK_EQ(bouma_dataset_open_mpi(&t->ds, t->comm, path, &options),
                 BOUMA_OK);
        CHECK_EQ(bouma_step_open(&step, t->ds, 0), BOUMA_OK);
        CHECK_EQ(bouma_step_open(&other, t->ds, 1), BOUMA_OK);
        particle_block_find(&t->set, step, "dust");
        bouma_particles_info_get(SIZED(&t->info), t->set.particles);
        CHECK_EQ(t->info.count, t->all.count);
        tiles_have_each_particle_once(t);
        a_face_at_the_end_of_particles_is_shared_by_nobody(t);
        boxes_that_overlap_have_all_of_theirs(t);
        equal_shares_are_equal(t);
        shares_of_what_matches(t);
        queries_that_differ_are_refused(t, other);
        nothing_comes_of_nothing(t, step);
        only_what_is_wanted_comes(t);
        own_arrays_get_the_same(t);
        /* After all that was refused, it still works. */
        equal_shares_are_equal(t);
        bouma_step_free(step);
        bouma_step_free(other);
        bouma_dataset_free(t->ds);
    }
    MPI_Comm_free(&t->comm);
    wait_asleep();
    if (check_counts()->failed != before)
        printf("  rank %d of %d, case %" PRId64 ": shape %d, %d-D\n",
               t->ranks->rank, readers, t->number, (int)t->spec.shape,
               t->spec.ndims);
}

static void run(struct test *t, int64_t n)
{
    char path[512];

    t->number = n;
    t->shared = (uint64_t)n * 64 + (uint64_t)t->ranks->size;
    t->own = t->shared * 64 + (uint64_t)t->ranks->rank;
    t->spec.shape = (enum shape)(n % SHAPES);
    t->spec.ndims = 1 + (int)(n / SHAPES + n) % 3;
    if (t->spec.shape == FLAT && t->spec.ndims < 2)
        t->spec.ndims = 3;
    t->spec.type = check_below(&t->shared, 2) ? BOUMA_TYPE_F32 : BOUMA_TYPE_F64;
    t->spec.count = 1 + (uint64_t)check_below(&t->shared, 700);
    t->spec.sharing = (enum sharing)check_below(&t->shared, SHARINGS);
    flock_make(&t->all, &t->spec, t->ranks->size, 0);
    t->there = malloc((size_t)t->all.count + 1);
    t->times = malloc(((size_t)t->all.count + 1) * sizeof(*t->times));
    REQUIRE(t->there && t->times);
    path_in(t->ranks, path, "restart", n);
    write_all(t, path);
    /* As many as wrote, one alone, and some number between. */
    read_with(t, path, t->ranks->size);
    read_with(t, path, 1);
    if (t->ranks->size > 2)
        read_with(t, path, 2 + (int)(n % (t->ranks->size - 2)));
    if (t->ranks->rank == 0)
        remove_tree(path);
    free(t->there);
    free(t->times);
    flock_free(&t->all);
}

/* ---- limits ------------------------------------------------------------- */

enum { FEW = 8, MANY = 20000 };

/* A file of each rank, of which the last is much larger than the others. */
static void write_unequal(const struct ranks *ranks, const char *path)
{
    uint64_t count = ranks->rank == ranks->size - 1 ? MANY : FEW;
    float *x = malloc((size_t)count * sizeof(*x));
    bouma_array array = BOUMA_ARRAY(BOUMA_TYPE_F32, x, count * sizeof(*x));
    bouma_particles_spec spec = {
        .size = sizeof(spec), .ndims = 1, .type = BOUMA_TYPE_F32, .leaf = 2};
    bouma_options options = {.size = sizeof(options),
                             .assign = BOUMA_ASSIGN_PER_RANK};
    bouma_particles *dust;
    bouma_column column;
    bouma_dataset *ds;

    REQUIRE(x);
    for (uint64_t i = 0; i < count; i++)
        x[i] = (float)ranks->rank + (float)i / MANY;
    CHECK_EQ(bouma_dataset_create_mpi(&ds, MPI_COMM_WORLD, path, &options),
             BOUMA_OK);
    CHECK_EQ(bouma_particles_define(&dust, ds, "dust", &spec), BOUMA_OK);
    column =
        (bouma_column){sizeof(column), bouma_particles_position(dust), &array};
    CHECK_EQ(bouma_step_begin(ds, 0, 0), BOUMA_OK);
    CHECK_EQ(bouma_particles_put_borrow(dust, count, &column, 1, NULL),
             BOUMA_OK);
    CHECK_EQ(bouma_step_end(ds), BOUMA_OK);
    CHECK_EQ(bouma_dataset_close(ds), BOUMA_OK);
    bouma_dataset_free(ds);
    free(x);
}

/* The large file is beyond the limit of memory, and the arrays are too small for
 * what the others have. */
static void read_limited(MPI_Comm comm, const char *path)
{
    bouma_options options = {.size = sizeof(options), .memory_limit = 2000};
    float x[2] = {0};
    bouma_array array = BOUMA_ARRAY(BOUMA_TYPE_F32, x, sizeof(x));
    uint64_t count = 77;
    bouma_particles *dust;
    bouma_column column;
    bouma_dataset *ds;
    bouma_step *step;
    int rc;

    CHECK_EQ(bouma_dataset_open_mpi(&ds, comm, path, &options), BOUMA_OK);
    CHECK_EQ(bouma_step_open(&step, ds, 0), BOUMA_OK);
    dust = bouma_step_find_particles(step, "dust");
    REQUIRE(dust);
    column =
        (bouma_column){sizeof(column), bouma_particles_position(dust), &array};
    rc = bouma_particles_restart_into(
        &count, dust,
        &(bouma_particles_query){.size = sizeof(bouma_particles_query)},
        &column, 1, 2);
    CHECK_EQ(rc, BOUMA_ELIMIT);
    CHECK_TEXT(bouma_error_message(ds), "memory_limit");
    CHECK_EQ(count, 0);
    count = 77;
    rc = bouma_particles_read_into(&count, dust, NULL, &column, 1, 2);
    CHECK_EQ(rc, BOUMA_ELIMIT);
    CHECK_TEXT(bouma_error_message(ds), "memory_limit");
    CHECK_EQ(count, 0);
    bouma_step_free(step);
    bouma_dataset_free(ds);
}

/* Who makes arrays of *count particles and calls again must not go in circles:
 * it is a number only if the arrays were too small. */
static void a_limit_of_memory_is_no_count(const struct ranks *ranks)
{
    int readers[2] = {1, ranks->size / 2};
    char path[512];

    if (ranks->size < 2)
        return;
    path_in(ranks, path, "restart_limit", 0);
    write_unequal(ranks, path);
    for (int i = 0; i < 2; i++) { /* each has two files: the second fails */
        int in = ranks->rank < readers[i];
        MPI_Comm comm;

        MPI_Comm_split(MPI_COMM_WORLD, in, 0, &comm);
        if (in)
            read_limited(comm, path);
        MPI_Comm_free(&comm);
        wait_asleep();
    }
    if (ranks->rank == 0)
        remove_tree(path);
}

/* test_mpi_restart [COUNT]: so many datasets; if nothing is said, one or two of
 * each shape. */
int main(int argc, char **argv)
{
    struct ranks ranks;
    struct test t = {.ranks = &ranks};
    int count;

    ranks_init(&ranks, &argc, &argv);
    count = argc > 1 ? atoi(argv[1]) : ranks.size > 3 ? SHAPES : 2 * SHAPES;
    for (int n = 0; n < count; n++)
        run(&t, n);
    a_limit_of_memory_is_no_count(&ranks);
    return ranks_end(&ranks, check_counts()->failed, check_counts()->checks);
}
