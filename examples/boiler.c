/* boiler.c -- a particle simulation that writes its output and restarts from
 * it: coal dust is blown through eight burners into a boiler, where a swirling
 * flow carries it up.
 *
 *   mpirun -n 4 boiler [--steps N] [--particles N] [--restart STEP] [PATH]
 *
 * writes steps 0 to N (--steps), with new particles (--particles) in each, and a
 * small grid: the temperature of the gas. With --restart, it reads the particles
 * of a step back, on any number of ranks, and writes the later steps again: they
 * are the same to the last bit, as nothing depends on ranks.
 *
 * The boiler is divided into cells, and each rank has a block of them, with the
 * particles in it. The flow concentrates the particles, so some ranks have many
 * and others none; the files are nearly equal nonetheless. */
#include <bouma_mpi.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NX = 16, NY = 16, NZ = 32, SUBSTEPS = 20 };

#define CELL      0.0625 /* m, its edge */
#define TIME_STEP 0.01   /* s */

static const int cells[3] = {NX, NY, NZ}; /* along x, y, z */

/* An array of structs, as simulations may have it. */
struct particle {
    double position[3];       /* x, y, z in m */
    double temperature, mass; /* K, kg */
    uint64_t id;
    float velocity[3]; /* m/s */
};

/* This rank's part. */
struct block {
    MPI_Comm comm; /* ranks along x, y, z */
    int rank, ranks;
    int dims[3];
    int first[3], last[3]; /* cells: first <= index < last */
    struct particle *particles;
    size_t count, room;
};

static float gas[NZ][NY][NX]; /* K, of the cells of this rank */

static void check(int rc, const bouma_dataset *ds)
{
    if (rc) {
        fprintf(stderr, "boiler: %s\n", bouma_error_message(ds));
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
}

static void *allocate(void *old, size_t bytes)
{
    void *data = realloc(old, bytes + 1);

    if (!data) {
        fprintf(stderr, "boiler: out of memory\n");
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    return data;
}

/* ---- who has what ------------------------------------------------------- */

static void block_init(struct block *b)
{
    int periods[3] = {0, 0, 0}, dims[3] = {0, 0, 0}, at[3];

    *b = (struct block){.ranks = 0};
    MPI_Comm_size(MPI_COMM_WORLD, &b->ranks);
    MPI_Dims_create(b->ranks, 3, dims);
    for (int axis = 0; axis < 3; axis++) /* most ranks along z, the longest */
        b->dims[axis] = dims[2 - axis];
    MPI_Cart_create(MPI_COMM_WORLD, 3, b->dims, periods, 0, &b->comm);
    MPI_Comm_rank(b->comm, &b->rank);
    MPI_Cart_coords(b->comm, b->rank, 3, at);
    for (int axis = 0; axis < 3; axis++) {
        b->first[axis] = cells[axis] * at[axis] / b->dims[axis];
        b->last[axis] = cells[axis] * (at[axis] + 1) / b->dims[axis];
    }
}

static int owner(const struct block *b, const struct particle *p)
{
    int at[3], rank;

    for (int axis = 0; axis < 3; axis++) {
        int cell = (int)(p->position[axis] / CELL);

        at[axis] = ((cell + 1) * b->dims[axis] - 1) / cells[axis];
    }
    MPI_Cart_rank(b->comm, at, &rank);
    return rank;
}

static void add(struct block *b, const struct particle *p)
{
    if (b->count == b->room) {
        b->room = 2 * b->room + 1000;
        b->particles = allocate(b->particles, b->room * sizeof(*b->particles));
    }
    b->particles[b->count++] = *p;
}

/* Send every particle to the rank in whose block it is now. */
static void migrate(struct block *b)
{
    size_t n = (size_t)b->ranks;
    int *sent = allocate(NULL, 4 * n * sizeof(int)), *got = sent + n;
    int *sent_at = got + n, *got_at = sent_at + n;
    int *to = allocate(NULL, b->count * sizeof(int));
    struct particle *sorted = allocate(NULL, b->count * sizeof(*sorted));
    MPI_Datatype type;

    memset(sent, 0, n * sizeof(int));
    for (size_t i = 0; i < b->count; i++)
        sent[to[i] = owner(b, &b->particles[i])]++;
    MPI_Alltoall(sent, 1, MPI_INT, got, 1, MPI_INT, b->comm);
    sent_at[0] = got_at[0] = 0;
    for (size_t i = 1; i < n; i++) {
        sent_at[i] = sent_at[i - 1] + sent[i - 1];
        got_at[i] = got_at[i - 1] + got[i - 1];
    }
    for (size_t i = 0; i < b->count; i++)
        sorted[sent_at[to[i]]++] = b->particles[i];
    for (size_t i = 0; i < n; i++)
        sent_at[i] -= sent[i];

    b->count = (size_t)(got_at[n - 1] + got[n - 1]);
    b->room = b->count;
    b->particles = allocate(b->particles, b->room * sizeof(*b->particles));
    MPI_Type_contiguous(sizeof(*sorted), MPI_BYTE, &type);
    MPI_Type_commit(&type);
    MPI_Alltoallv(sorted, sent, sent_at, type, b->particles, got, got_at, type,
                  b->comm);
    MPI_Type_free(&type);
    free(sorted);
    free(to);
    free(sent);
}

/* ---- the simulation ----------------------------------------------------- */

/* A number from -1 to 1 that depends on nothing but 'id' and 'which'. */
static double scatter(uint64_t id, uint64_t which)
{
    uint64_t x = (4 * id + which + 1) * 0x9e3779b97f4a7c15u;

    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return (double)(x >> 11) * 0x1p-52 - 1;
}

/* Four burners on each of two floors, one at each corner, blow past the axis of
 * the boiler. Each rank keeps the new particles that are in its block. */
static void inject(struct block *b, uint64_t from, uint64_t to)
{
    for (uint64_t id = from; id < to; id++) {
        int right = id & 1, back = id >> 1 & 1, upper = id >> 2 & 1;
        double angle = atan2(back ? -1 : 1, right ? -1 : 1) + 0.3;
        struct particle p = {
            .position = {0.5 + (right ? 0.46 : -0.46) + 0.03 * scatter(id, 0),
                         0.5 + (back ? 0.46 : -0.46) + 0.03 * scatter(id, 1),
                         (upper ? 0.7 : 0.3) + 0.04 * scatter(id, 2)},
            .velocity = {(float)(2 * cos(angle)), (float)(2 * sin(angle)), 0},
            .temperature = 350,
            .mass = 1e-9 * (1 + 0.5 * scatter(id, 3)),
            .id = id};

        if (owner(b, &p) == b->rank)
            add(b, &p);
    }
}

/* The more particles burn in a cell, the hotter is its gas. */
static void heat(const struct block *b, double usual)
{
    static int number[NZ][NY][NX];

    memset(number, 0, sizeof(number));
    for (size_t i = 0; i < b->count; i++) {
        const double *at = b->particles[i].position;

        number[(int)(at[2] / CELL)][(int)(at[1] / CELL)][(int)(at[0] / CELL)]++;
    }
    for (int z = b->first[2]; z < b->last[2]; z++)
        for (int y = b->first[1]; y < b->last[1]; y++)
            for (int x = b->first[0]; x < b->last[0]; x++)
                gas[z][y][x] = (float)(600 + 1300 * number[z][y][x] /
                                                 (number[z][y][x] + usual));
}

/* The gas turns around the axis, faster near it, rises, and waves. */
static void flow(const double at[3], double time, double out[3])
{
    double x = at[0] - 0.5, y = at[1] - 0.5;
    double turn = 5 / (1 + 20 * (x * x + y * y));

    out[0] = -turn * y + 0.25 * sin(9 * at[2] + 5 * y - 4 * time);
    out[1] = turn * x + 0.25 * sin(7 * at[2] - 6 * x + 5 * time);
    out[2] = 0.5 - 0.5 * (x * x + y * y) + 0.3 * sin(11 * x) * cos(9 * y);
}

/* Drag and gravity; walls throw particles back, and the top lets them out. */
static void move(struct block *b, double time)
{
    for (size_t i = 0; i < b->count;) {
        struct particle *p = &b->particles[i];
        double *at = p->position, wind[3];
        double around =
            gas[(int)(at[2] / CELL)][(int)(at[1] / CELL)][(int)(at[0] / CELL)];

        flow(at, time, wind);
        p->temperature += TIME_STEP * 2 * (around - p->temperature);
        p->mass *= 1 - TIME_STEP * 1e-4 * fmax(p->temperature - 500, 0);
        for (int axis = 0; axis < 3; axis++) {
            double v = p->velocity[axis], end = cells[axis] * CELL;

            v += TIME_STEP * (5 * (wind[axis] - v) - (axis == 2 ? 0.5 : 0));
            at[axis] += TIME_STEP * v;
            if (at[axis] < 0 || (at[axis] >= end && axis < 2)) {
                at[axis] = at[axis] < 0 ? -at[axis] : 2 * end - at[axis];
                at[axis] = fmin(at[axis], nextafter(end, 0));
                v = -v;
            }
            p->velocity[axis] = (float)v;
        }
        if (at[2] < NZ * CELL)
            i++;
        else
            *p = b->particles[--b->count];
    }
}

/* From one output to the next. */
static void simulate(struct block *b, int64_t step, uint64_t new_ones)
{
    for (int i = 0; i < SUBSTEPS; i++) {
        uint64_t k = (uint64_t)(step - 1) * SUBSTEPS + (uint64_t)i;

        inject(b, k * new_ones / SUBSTEPS, (k + 1) * new_ones / SUBSTEPS);
        heat(b, (double)new_ones / 500);
        move(b, TIME_STEP * (double)k);
        migrate(b);
    }
}

/* ---- input and output --------------------------------------------------- */

/* Handles of what a step has. */
struct output {
    bouma_dataset *ds;
    bouma_grid *grid;
    bouma_variable *gas;
    bouma_particles *coal;
    bouma_variable *temperature, *mass, *id, *velocity;
};

/* Open the dataset for writing and define what it holds: the same on all ranks,
 * and again after a restart. */
static void output_init(struct output *out, const struct block *b,
                        const char *path, int again)
{
    bouma_grid_spec lattice = {
        .size = sizeof(lattice),
        .ndims = 3,
        .shape = {NZ, NY, NX}, /* slowest first */
        .patch = {16, 16, 16},
        .origin = {CELL / 2, CELL / 2, CELL / 2}, /* centres of cells */
        .spacing = {CELL, CELL, CELL},
        .unit = "m"};
    bouma_particles_spec set = {
        .size = sizeof(set), .ndims = 3, .type = BOUMA_TYPE_F64, .unit = "m"};
    bouma_variable_spec near = {.size = sizeof(near),
                                .type = BOUMA_TYPE_F32,
                                .unit = "K",
                                .tolerance = 0.5};
    bouma_variable_spec kelvin = {
        .size = sizeof(kelvin), .type = BOUMA_TYPE_F64, .unit = "K"};
    bouma_variable_spec kilogram = {
        .size = sizeof(kilogram), .type = BOUMA_TYPE_F64, .unit = "kg"};
    bouma_variable_spec number = {.size = sizeof(number),
                                  .type = BOUMA_TYPE_U64};
    bouma_variable_spec speed = {.size = sizeof(speed),
                                 .type = BOUMA_TYPE_F32,
                                 .components = 3,
                                 .unit = "m/s"};
    bouma_options opts = {.size = sizeof(opts)};
    int rc;

    opts.replace = again; /* steps after the one that we start from */
    rc = again ? bouma_dataset_append_mpi(&out->ds, b->comm, path, &opts)
               : bouma_dataset_create_mpi(&out->ds, b->comm, path, &opts);
    check(rc, out->ds);
    check(bouma_grid_define(&out->grid, out->ds, "gas", &lattice), out->ds);
    check(bouma_variable_define(&out->gas, out->grid, "temperature", &near),
          out->ds);
    check(bouma_particles_define(&out->coal, out->ds, "coal", &set), out->ds);
    check(bouma_particles_define_variable(&out->temperature, out->coal,
                                          "temperature", &kelvin),
          out->ds);
    check(bouma_particles_define_variable(&out->mass, out->coal, "mass",
                                          &kilogram),
          out->ds);
    check(bouma_particles_define_variable(&out->id, out->coal, "id", &number),
          out->ds);
    check(bouma_particles_define_variable(&out->velocity, out->coal, "velocity",
                                          &speed),
          out->ds);
}

/* Particles are handed over, and read, as they lie in memory: an array has the
 * address of the first value and the distance to the next. */
#define MEMBERS 5
static void describe_members(bouma_array arrays[MEMBERS], struct particle *p,
                             uint64_t count)
{
    const struct {
        bouma_type type;
        void *data;
    } members[MEMBERS] = {{BOUMA_TYPE_F64, p->position},
                          {BOUMA_TYPE_F64, &p->temperature},
                          {BOUMA_TYPE_F64, &p->mass},
                          {BOUMA_TYPE_U64, &p->id},
                          {BOUMA_TYPE_F32, p->velocity}};

    for (int i = 0; i < MEMBERS; i++)
        arrays[i] = (bouma_array){.size = sizeof(*arrays),
                                  .type = members[i].type,
                                  .data = members[i].data,
                                  .bytes = count * sizeof(*p),
                                  .stride = {sizeof(*p)}};
}

static void write_step(const struct output *out, const struct block *b,
                       int64_t step, uint64_t new_ones)
{
    struct particle none, *p = b->count > 0 ? b->particles : &none;
    bouma_array arrays[MEMBERS];
    const bouma_column columns[MEMBERS] = {
        {sizeof(*columns), bouma_particles_position(out->coal), &arrays[0]},
        {sizeof(*columns), out->temperature, &arrays[1]},
        {sizeof(*columns), out->mass, &arrays[2]},
        {sizeof(*columns), out->id, &arrays[3]},
        {sizeof(*columns), out->velocity, &arrays[4]}};
    bouma_box box = {{b->first[2], b->first[1], b->first[0]},
                     {b->last[2], b->last[1], b->last[0]}};
    bouma_array inside = BOUMA_ARRAY(BOUMA_TYPE_F32, gas, sizeof(gas));
    bouma_record record = {.size = sizeof(record)};
    unsigned long long mine = b->count, all, most;

    describe_members(arrays, p, b->count > 0 ? b->count : 1);
    bouma_array_inside(&inside, 1, 3, (int64_t[]){NZ, NY, NX}, box.lo, NULL, 0);
    check(bouma_step_begin(out->ds, step, TIME_STEP * SUBSTEPS * (double)step),
          out->ds);
    check(bouma_attributes_set_number(bouma_dataset_step_attributes(out->ds),
                                      "new particles", (double)new_ones),
          out->ds);
    check(bouma_variable_put_borrow(out->gas, &box, &inside), out->ds);
    check(
        bouma_particles_put_borrow(out->coal, b->count, columns, MEMBERS, NULL),
        out->ds);
    check(bouma_step_end(out->ds), out->ds);
    check(bouma_dataset_record_get(&record, out->ds), out->ds);

    MPI_Reduce(&mine, &all, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, 0, b->comm);
    MPI_Reduce(&mine, &most, 1, MPI_UNSIGNED_LONG_LONG, MPI_MAX, 0, b->comm);
    if (b->rank == 0)
        printf("step %2lld: %7llu particles, at most %6llu on a rank; %5.2f "
               "MiB in %lld file(s)\n",
               (long long)step, all, most,
               (double)record.stored_bytes / 1048576, (long long)record.files);
}

/* Read the particles that a step has in this rank's block, however many ranks
 * wrote it. */
static void read_step(struct block *b, const char *path, int64_t number,
                      uint64_t *new_ones)
{
    static const char *const names[MEMBERS] = {"position", "temperature",
                                               "mass", "id", "velocity"};
    bouma_column columns[MEMBERS];
    bouma_array arrays[MEMBERS];
    bouma_dataset *ds = NULL;
    bouma_step *step;
    bouma_particles *coal;
    bouma_bounds box = {.axes = BOUMA_AXES_XYZ};
    const bouma_particles_query query = {.size = sizeof(query), .box = &box};
    uint64_t mine;
    int64_t count;
    int rc = bouma_dataset_open_mpi(&ds, b->comm, path, NULL);

    check(rc, ds);
    check(bouma_step_open(&step, ds, number), ds);
    check(bouma_attributes_get_int64(&count, bouma_step_attributes(step),
                                     "new particles"),
          ds);
    *new_ones = (uint64_t)count;
    coal = bouma_step_find_particles(step, "coal");
    for (int axis = 0; axis < 3; axis++) {
        box.low[axis] = b->first[axis] * CELL;
        box.high[axis] = b->last[axis] * CELL;
    }

    /* How many there are for this rank; then they come to their places. */
    check(bouma_particles_restart_into(&mine, coal, &query, NULL, 0, 0), ds);
    b->count = mine;
    b->room = b->count + 1;
    b->particles = allocate(b->particles, b->room * sizeof(*b->particles));
    describe_members(arrays, b->particles, b->room);
    for (int i = 0; i < MEMBERS; i++)
        columns[i] = (bouma_column){
            .size = sizeof(*columns),
            .variable = bouma_particles_find_variable(coal, names[i]),
            .array = &arrays[i]};
    check(bouma_particles_restart_into(&mine, coal, &query, columns, MEMBERS,
                                       mine),
          ds);
    bouma_step_free(step);
    bouma_dataset_free(ds);
}

int main(int argc, char **argv)
{
    int64_t steps = 10, restart = -1;
    uint64_t new_ones = 20000;
    const char *path = "boiler.bouma";
    struct block block;
    struct output output = {.ds = NULL};

    MPI_Init(&argc, &argv);
    for (int i = 1; i < argc; i++) {
        if (i + 1 < argc && strcmp(argv[i], "--steps") == 0)
            steps = atoll(argv[++i]);
        else if (i + 1 < argc && strcmp(argv[i], "--particles") == 0)
            new_ones = strtoull(argv[++i], NULL, 10);
        else if (i + 1 < argc && strcmp(argv[i], "--restart") == 0)
            restart = atoll(argv[++i]);
        else if (argv[i][0] != '-')
            path = argv[i];
        else {
            fprintf(stderr, "boiler: %s: see the top of boiler.c\n", argv[i]);
            MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
        }
    }
    block_init(&block);
    if (restart >= 0)
        read_step(&block, path, restart, &new_ones);
    output_init(&output, &block, path, restart >= 0);
    for (int64_t step = restart + 1; step <= steps; step++) {
        if (step > 0) /* step 0 is the empty boiler */
            simulate(&block, step, new_ones);
        heat(&block, (double)new_ones / 500);
        write_step(&output, &block, step, new_ones);
    }
    check(bouma_dataset_close(output.ds), output.ds);
    bouma_dataset_free(output.ds);
    free(block.particles);
    MPI_Comm_free(&block.comm);
    MPI_Finalize();
    return 0;
}
