/* test_mpi_node_files.c -- a file for each node, or for every few: whatever
 * nodes ranks are on, what they encode goes to a rank of their nodes and no
 * other, and all of it can be read; of grids, of particles and of plain files,
 * on storage of nodes, too. */
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../helpers/arrays.h"
#include "blocks.h"
#include "pieces.h"

#include "../helpers/check.h"
#include "comm/comm_mpi.h"
#include "dataset/dataset.h"
#include "engine/plain.h"
#include "plan/node_groups.h"
#include "sized.h"

enum { STEPS = 3, PARTICLES = 200 };

enum nodes { ALONE, ONE_NODE, PAIRS, TWO_NODES, ARRANGEMENTS };

static int node_of(enum nodes how, int rank)
{
    return how == ONE_NODE    ? 0
           : how == PAIRS     ? rank / 2
           : how == TWO_NODES ? rank % 2
                              : rank;
}

static int node_count(enum nodes how, int ranks)
{
    int most = 0;

    for (int r = 0; r < ranks; r++)
        most = node_of(how, r) > most ? node_of(how, r) : most;
    return most + 1;
}

/* In all of these arrangements, nodes are numbered by their lowest ranks. */
static int group_of(enum nodes how, int ranks, int per_file, int rank)
{
    int nodes = node_count(how, ranks);
    int groups = (nodes + per_file - 1) / per_file;

    return node_of(how, rank) * groups / nodes;
}

static void settle(struct bm_comm *comm, enum nodes how)
{
    struct bm_error error = {0};

    CHECK_EQ(
        bm_comm_settle(comm, 1 + (uint64_t)node_of(how, comm->rank), &error),
        BOUMA_OK);
}

/* ---- what leaves a group ------------------------------------------------- */

static struct {
    struct bm_comm_functions table; /* counts, then calls those: */
    const struct bm_comm_functions *of;
    enum nodes how;
    int ranks, rank, per_file;
    uint64_t inside, outside; /* bytes that go to writers */
} counted;

static int count_start(struct bm_transfer *t, int channel,
                       const struct bm_message *messages, size_t count,
                       int sending)
{
    for (size_t i = 0; i < count && sending; i++) {
        int same = group_of(counted.how, counted.ranks, counted.per_file,
                            messages[i].peer) ==
                   group_of(counted.how, counted.ranks, counted.per_file,
                            counted.rank);

        *(same ? &counted.inside : &counted.outside) += messages[i].bytes;
    }
    return counted.of->start(t, channel, messages, count, sending);
}

static void count_bytes_of(struct bm_comm *comm, enum nodes how, int per_file)
{
    counted.of = comm->functions;
    counted.table = *comm->functions;
    counted.table.start = count_start;
    counted.how = how;
    counted.ranks = comm->size;
    counted.rank = comm->rank;
    counted.per_file = per_file;
    counted.inside = counted.outside = 0;
    comm->functions = &counted.table;
}

/* ---- datasets ------------------------------------------------------------ */

static const struct field field = {BOUMA_TYPE_F32, 1, 3, {24, 20, 28}, 9};

struct way {
    const char *name;
    bouma_options options;
    bouma_codec codec;
    bouma_layout layout;
    int particles; /* sets */
};

struct run {
    const struct ranks *ranks;
    const struct way *way;
    enum nodes how;
    int per_file;
    char path[512];
    bouma_dataset *ds;
    bouma_variable *v;
    bouma_particles *sets[2];
    float position[PARTICLES * 3];
};

static void run_begin(struct run *r)
{
    bouma_options o = r->way->options;
    bouma_grid_spec grid = {.size = sizeof(grid),
                            .ndims = 3,
                            .shape = {24, 20, 28},
                            .layout = r->way->layout};
    bouma_variable_spec kind = {
        .size = sizeof(kind), .type = field.type, .codec = r->way->codec};
    bouma_particles_spec set = {
        .size = sizeof(set), .ndims = 3, .type = BOUMA_TYPE_F32};
    bouma_grid *g;

    o.size = sizeof(o);
    o.durability = BOUMA_DURABILITY_FAST;
    o.nodes_per_file = r->per_file;
    o.transport = BOUMA_TRANSPORT_MESSAGES; /* which can be counted */
    if (grid.layout == BOUMA_LAYOUT_HZ) {
        grid.hz_block_bits = 8;
        grid.hz_blocks_per_file = 8;
    } else {
        for (int d = 0; d < 3; d++)
            grid.patch[d] = 8;
    }
    path_in(r->ranks, r->path, r->way->name, r->how * 10 + r->per_file);
    REQUIRE(!bouma_dataset_create_mpi(&r->ds, MPI_COMM_WORLD, r->path, &o));
    settle(r->ds->comm, r->how);
    count_bytes_of(r->ds->comm, r->how, r->per_file);
    CHECK_EQ(bouma_grid_define(&g, r->ds, "g", &grid), BOUMA_OK);
    CHECK_EQ(bouma_variable_define(&r->v, g, "v", &kind), BOUMA_OK);
    for (int i = 0; i < r->way->particles; i++)
        CHECK_EQ(
            bouma_particles_define(&r->sets[i], r->ds, i ? "q" : "p", &set),
            BOUMA_OK);
}

/* Every third rank has none. */
static void put_particles(struct run *r)
{
    bouma_array position =
        BOUMA_ARRAY(BOUMA_TYPE_F32, r->position, sizeof(r->position));

    for (int i = 0; i < PARTICLES * 3; i++)
        r->position[i] = (float)(r->ranks->rank + i * 37 % 101);
    for (int i = 0; i < r->way->particles; i++) {
        bouma_column column = {sizeof(column),
                               bouma_particles_position(r->sets[i]), &position};

        if (r->ranks->rank % 3 != 2)
            CHECK_EQ(bouma_particles_put_borrow(r->sets[i], PARTICLES, &column,
                                                1, NULL),
                     BOUMA_OK);
    }
}

/* The groups in which some rank has particles. */
static int groups_with_particles(const struct run *r)
{
    int seen[64] = {0}, n = 0;

    for (int k = 0; k < r->ranks->size; k++) {
        int group = group_of(r->how, r->ranks->size, r->per_file, k);

        if (k % 3 != 2)
            n += !seen[group]++;
    }
    return n;
}

static void write_step(struct run *r, int step, bouma_record *record)
{
    uint64_t shared = 5, own = (uint64_t)r->ranks->rank;
    struct cutting cutting;
    struct puts puts;
    int rc;

    cutting_make(&cutting, (enum cut)((step / 2 + r->how) % CUTS), &field,
                 r->ranks->size, &shared);
    CHECK_EQ(bouma_step_begin(r->ds, step, step), BOUMA_OK);
    CHECK_EQ(puts_make(&puts, r->v, &field, &cutting, step, &own), BOUMA_OK);
    put_particles(r);
    rc = end_step(record, r->ds);
    if (rc)
        printf("%s: %s\n", r->way->name, bouma_error_message(r->ds));
    CHECK_EQ(rc, BOUMA_OK);
    CHECK_EQ(puts_free(&puts), 0);
}

/* The particles of a set that a step has. */
static uint64_t count_particles(bouma_step *step, int set)
{
    bouma_particles_info info = {.size = sizeof(info)};

    bouma_particles_info_get(&info, bouma_step_particles(step, set));
    return info.count;
}

static void check_step(const struct run *r, int step)
{
    uint64_t expected = 0;
    bouma_step_details about = {.size = sizeof(about)};
    bouma_dataset *ds;
    bouma_step *s = NULL;

    CHECK_EQ(wrong_on_disk(r->path, step, "v", &field), 0);
    CHECK_EQ(bouma_dataset_open(&ds, r->path, NULL), BOUMA_OK);
    CHECK_EQ(bouma_step_open(&s, ds, step), BOUMA_OK);
    REQUIRE(s);
    CHECK_EQ(bouma_step_details_get(&about, s), BOUMA_OK);
    CHECK_EQ(about.assign, BOUMA_ASSIGN_PER_NODE);
    for (int k = 0; k < r->ranks->size; k++)
        expected += k % 3 != 2 ? PARTICLES : 0;
    for (int i = 0; i < r->way->particles; i++)
        CHECK_EQ(count_particles(s, i), expected);
    bouma_step_free(s);
    bouma_dataset_free(ds);
}

static void bytes_stay_in_their_group(const struct ranks *ranks,
                                      const struct way *way, enum nodes how,
                                      int per_file)
{
    int groups = group_of(how, ranks->size, per_file, ranks->size - 1) + 1;
    struct run r = {
        .ranks = ranks, .way = way, .how = how, .per_file = per_file};

    for (int k = 0; k < ranks->size; k++) {
        int group = group_of(how, ranks->size, per_file, k);

        groups = group >= groups ? group + 1 : groups;
    }
    run_begin(&r);
    for (int step = 0; step < STEPS; step++) {
        bouma_record record;

        write_step(&r, step, &record);
        if (way->options.async)
            CHECK_EQ(wait_for_step(&record, r.ds), BOUMA_OK);
        if (way->layout == BOUMA_LAYOUT_HZ)
            continue;
        CHECK_EQ(counted.outside, 0);
        CHECK(record.files <= groups * (1 + way->particles));
        CHECK(record.files >= 1 + way->particles * groups_with_particles(&r));
    }
    CHECK_EQ(bouma_dataset_close(r.ds), BOUMA_OK);
    bouma_dataset_free(r.ds);
    for (int step = 0; step < STEPS && !ranks->rank; step++)
        check_step(&r, step);
    MPI_Barrier(MPI_COMM_WORLD);
    if (!ranks->rank)
        remove_tree(r.path);
}

/* A step without a sample has a file all the same, or none. */
static void a_step_may_be_empty(const struct ranks *ranks)
{
    bouma_options o = {.size = sizeof(o), .nodes_per_file = 1};
    bouma_particles_spec set = {
        .size = sizeof(set), .ndims = 3, .type = BOUMA_TYPE_F32};
    bouma_particles *p;
    bouma_dataset *ds;
    char path[512];

    o.durability = BOUMA_DURABILITY_FAST;
    path_in(ranks, path, "empty", 0);
    REQUIRE(!bouma_dataset_create_mpi(&ds, MPI_COMM_WORLD, path, &o));
    CHECK_EQ(bouma_particles_define(&p, ds, "p", &set), BOUMA_OK);
    CHECK_EQ(bouma_step_begin(ds, 0, 0), BOUMA_OK);
    CHECK_EQ(bouma_step_end(ds), BOUMA_OK);
    CHECK_EQ(bouma_dataset_close(ds), BOUMA_OK);
    bouma_dataset_free(ds);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(bouma_dataset_open(&ds, path, NULL), BOUMA_OK);
    bouma_dataset_free(ds);
}

/* ---- storage of nodes ---------------------------------------------------- */

/* The subfiles in a directory, and those below it. */
static int count_subfiles(const char *path)
{
    DIR *dir = opendir(path);
    struct dirent *entry;
    int n = 0;

    while (dir && (entry = readdir(dir))) {
        char below[1600];
        struct stat st;

        snprintf(below, sizeof(below), "%s/%s", path, entry->d_name);
        if (entry->d_name[0] == '.' || lstat(below, &st))
            continue;
        if (S_ISDIR(st.st_mode))
            n += count_subfiles(below);
        else
            n += !strncmp(entry->d_name, "d.", 2);
    }
    if (dir)
        closedir(dir);
    return n;
}

/* Each has its own directory: what its ranks encode is there, in one file of
 * each step, until it is copied. */
static void a_node_keeps_its_own_file(const struct ranks *ranks, enum nodes how)
{
    bouma_options o = {.size = sizeof(o), .nodes_per_file = 1, .persist = 1};
    char path[512], local[800];
    bouma_dataset *ds;
    bouma_variable *v;
    uint64_t shared = 5, own = (uint64_t)ranks->rank;

    path_in(ranks, path, "kept", how);
    for (int r = 0; r < ranks->size; r++) {
        snprintf(local, sizeof(local), "%s.node%d", path, node_of(how, r));
        if (!ranks->rank)
            mkdir(local, 0777);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    snprintf(local, sizeof(local), "%s.node%d", path,
             node_of(how, ranks->rank));
    o.local = local;
    REQUIRE(!bouma_dataset_create_mpi(&ds, MPI_COMM_WORLD, path, &o));
    settle(ds->comm, how);
    CHECK_EQ(field_define(&v, ds, &field), BOUMA_OK);
    for (int step = 0; step < STEPS; step++) {
        struct cutting cutting;
        struct puts puts;

        cutting_make(&cutting, CUT_BLOCKS, &field, ranks->size, &shared);
        CHECK_EQ(bouma_step_begin(ds, step, step), BOUMA_OK);
        CHECK_EQ(puts_make(&puts, v, &field, &cutting, step, &own), BOUMA_OK);
        CHECK_EQ(bouma_step_end(ds), BOUMA_OK);
        CHECK_EQ(puts_free(&puts), 0);
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK_EQ(count_subfiles(local), step + 1);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    CHECK_EQ(bouma_dataset_close(ds), BOUMA_OK);
    bouma_dataset_free(ds);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int step = 0; step < STEPS && !ranks->rank; step++)
        CHECK_EQ(wrong_on_disk(path, step, "v", &field), 0);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* ---- plain files --------------------------------------------------------- */

static bouma_file *open_plain(const struct ranks *ranks, const char *path,
                              enum nodes how, int per_file,
                              bouma_file_mode mode, bouma_place place)
{
    struct bm_options options = {.nodes_per_file = per_file,
                                 .io = bouma_io_posix(),
                                 .durability = BOUMA_DURABILITY_FAST,
                                 .place = place,
                                 .message_bytes = 1 << 30,
                                 .buffer_bytes = 4096,
                                 .buffers = 2,
                                 .timeout = 250};
    struct bm_error error = {0};
    struct bm_comm *comm;
    bouma_file *file;
    int rc;

    REQUIRE(!bm_comm_mpi_new(&comm, bm_allocator_default(), MPI_COMM_WORLD, 250,
                             &error));
    settle(comm, how);
    rc = bm_plain_open(&file, comm, path, mode, &options, &error);
    if (rc && !ranks->rank)
        printf("%s\n", bouma_file_message(file));
    REQUIRE(!rc);
    count_bytes_of(file->comm, how, per_file);
    return file;
}

/* Groups are numbered as nodes are, their ranks ascend, and each file has what
 * its group wrote. */
static void plain_files_are_those_of_groups(const struct ranks *ranks,
                                            enum nodes how, int per_file,
                                            bouma_place place)
{
    int group, rank, size, before = 0, all = 0;
    int mine = group_of(how, ranks->size, per_file, ranks->rank);
    uint64_t random = 1000 * (uint64_t)mine + how, own;
    char path[512], name[600];
    struct pieces pieces;
    struct hand hand;
    struct image image;
    bouma_file *file;

    path_in(ranks, path, "plain", how * 100 + per_file * 10 + (int)place);
    file =
        open_plain(ranks, path, how, per_file, BOUMA_FILE_MODE_CREATE, place);
    CHECK_EQ(bouma_file_group(file, &group, &rank, &size), BOUMA_OK);
    for (int r = 0; r < ranks->size; r++) {
        int same = group_of(how, ranks->size, per_file, r) == mine;

        all += same;
        before += same && r < ranks->rank;
    }
    CHECK(group == mine && rank == before && size == all);
    pieces_disjoint(&pieces, size, 50000, &random);
    own = random + (uint64_t)rank;
    hand_make(&hand, &pieces, rank, &own);
    image_init(&image, 0, group, 0);
    for (int i = 0; i < 2; i++) {
        hand_fill(&hand, group, (unsigned)i);
        CHECK_EQ(hand_declare(&hand, file), BOUMA_OK);
        CHECK_EQ(bouma_file_write(file, (const void *const *)hand.data),
                 BOUMA_OK);
        image_write(&image, &pieces, group, (unsigned)i);
    }
    hand_clear(&hand);
    CHECK_EQ(bouma_file_read(file, hand.data), BOUMA_OK);
    CHECK_EQ(hand_wrong(&hand, group, 1), 0);
    CHECK_EQ(counted.outside, 0);
    CHECK_EQ(bouma_file_close(file), BOUMA_OK);
    bouma_file_free(file);
    MPI_Barrier(MPI_COMM_WORLD);
    snprintf(name, sizeof(name), "%s.%04d", path, group);
    if (rank == 0)
        CHECK(image_is_file(&image, name));
    MPI_Barrier(MPI_COMM_WORLD);
    hand_free(&hand);
    image_free(&image);
    pieces_free(&pieces);
}

int main(int argc, char **argv)
{
    static const struct way ways[] = {
        {"encoded", {.files = 0}, BOUMA_CODEC_ZSTD, BOUMA_LAYOUT_PATCH, 0},
        {"known",
         {.distribute = BOUMA_DISTRIBUTE_GREEDY},
         BOUMA_CODEC_RAW,
         BOUMA_LAYOUT_PATCH,
         0},
        {"middle",
         {.place = BOUMA_PLACE_LOCAL},
         BOUMA_CODEC_ZSTD,
         BOUMA_LAYOUT_PATCH,
         1},
        {"cost",
         {.place = BOUMA_PLACE_COST},
         BOUMA_CODEC_ZSTD,
         BOUMA_LAYOUT_PATCH,
         1},
        {"predicted",
         {.predict = BOUMA_PREDICT_ON, .async = 1},
         BOUMA_CODEC_ZSTD,
         BOUMA_LAYOUT_PATCH,
         0},
        {"both", {.files = 0}, BOUMA_CODEC_ZSTD, BOUMA_LAYOUT_PATCH, 2},
        {"order", {.files = 0}, BOUMA_CODEC_ZSTD, BOUMA_LAYOUT_HZ, 1},
    };
    struct ranks ranks;

    ranks_init(&ranks, &argc, &argv);
    for (int how = 0; how < ARRANGEMENTS; how++)
        for (int per_file = 1; per_file < 3; per_file++) {
            for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
                bytes_stay_in_their_group(&ranks, &ways[i], (enum nodes)how,
                                          per_file);
            for (int place = 1; place < 5; place += 1 + (place == 2))
                plain_files_are_those_of_groups(&ranks, (enum nodes)how,
                                                per_file, (bouma_place)place);
        }
    for (int how = 0; how < ARRANGEMENTS; how++)
        a_node_keeps_its_own_file(&ranks, (enum nodes)how);
    a_step_may_be_empty(&ranks);
    return ranks_end(&ranks, check_counts()->failed, check_counts()->checks);
}
