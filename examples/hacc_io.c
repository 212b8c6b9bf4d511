/* hacc_io.c -- from MPI-IO to bouma: the output of a particle simulation (HACC,
 * a cosmology code), by a sequence of MPI_File_write_at_all() and by one call
 * of bouma. The two files are the same, byte by byte.
 *
 *   mpirun -n 4 hacc_io [--particles N] [--files N] [DIRECTORY]
 *
 * Each rank has about N particles, with nine variables, in one of two layouts:
 *
 *     aos  rank by rank: all its xx, all its yy, ... all its mask
 *     soa  variable by variable: the xx of all ranks, the yy of all ranks, ...
 *
 * To convert a program, replace these calls of MPI-IO:
 *
 *     MPI_File_open                       bouma_file_open_mpi
 *     the first MPI_File_write_at_all,
 *     ... and the last one                bouma_file_declare, bouma_file_write
 *     MPI_File_close                      bouma_file_close, bouma_file_free
 *
 * MPI-IO sees one variable at a time. bouma sees all of them at once: pieces
 * that are neighbours in the file are gathered across variables and ranks, and
 * written in large pieces by a few ranks, while the next ones are on their way.
 *
 * With --files N, ranks are divided into N groups, each with its own file
 * (hacc.aos.dat.0000, hacc.aos.dat.0001, ...): see bouma_file_group().
 * both_ways.h opens, closes and compares files. */
#define PROGRAM "hacc_io"
#include "both_ways.h"

enum { VARIABLES = 9 };

enum layout { AOS, SOA, LAYOUTS };
static const char *const layout_names[LAYOUTS] = {"aos", "soa"};

/* xx yy zz vx vy vz phi, the identity, and a mask: 38 bytes per particle. */
static const uint64_t sizes[VARIABLES] = {4, 4, 4, 4, 4, 4, 4, 8, 2};

struct particles {
    uint64_t count[VARIABLES];  /* of this rank, for all variables the same */
    uint64_t offset[VARIABLES]; /* bytes, in the file */
    void *data[VARIABLES];
};

/* ---- particles ---------------------------------------------------------- */

static void particles_init(struct particles *p, uint64_t count)
{
    for (int v = 0; v < VARIABLES; v++) {
        p->count[v] = count;
        p->offset[v] = 0;
        p->data[v] = calloc(count + 1, sizes[v]);
        if (!p->data[v])
            fail("out of memory");
    }
}

static void particles_free(struct particles *p)
{
    for (int v = 0; v < VARIABLES; v++)
        free(p->data[v]);
}

/* No two values are the same, of whatever rank and variable. */
static void fill(struct particles *p, int rank)
{
    int64_t *identity = p->data[7];
    uint16_t *mask = p->data[8];

    for (uint64_t i = 0; i < p->count[0]; i++) {
        for (int v = 0; v < 7; v++)
            ((float *)p->data[v])[i] =
                (float)rank + (float)v / 8 + (float)i / (1 << 20);
        identity[i] = (int64_t)rank << 40 | (int64_t)i;
        mask[i] = (uint16_t)(rank << 12 ^ (int)i);
    }
}

/* Where this rank's variables are in the file of the ranks of 'comm'. */
static void locate(struct particles *p, enum layout layout, MPI_Comm comm)
{
    uint64_t count = p->count[0], before = 0, all, at;
    int rank;

    MPI_Comm_rank(comm, &rank);
    MPI_Exscan(&count, &before, 1, MPI_UINT64_T, MPI_SUM, comm);
    MPI_Allreduce(&count, &all, 1, MPI_UINT64_T, MPI_SUM, comm);
    if (rank == 0) /* MPI_Exscan() gives it nothing */
        before = 0;
    at = layout == AOS ? 38 * before : 0;
    for (int v = 0; v < VARIABLES; v++) {
        p->offset[v] = layout == AOS ? at : at + before * sizes[v];
        at += sizes[v] * (layout == AOS ? count : all);
    }
}

/* ---- with MPI-IO -------------------------------------------------------- */

static MPI_Datatype type_of(int v)
{
    return v < 7 ? MPI_FLOAT : v == 7 ? MPI_INT64_T : MPI_UINT16_T;
}

static void write_mpiio(const struct particles *p, MPI_Comm comm,
                        const char *path)
{
    MPI_File file;

    check_mpi(MPI_File_open(comm, path, MPI_MODE_CREATE | MPI_MODE_WRONLY,
                            MPI_INFO_NULL, &file),
              "MPI_File_open");
    check_mpi(MPI_File_set_size(file, 0), "MPI_File_set_size");
    for (int v = 0; v < VARIABLES; v++)
        check_mpi(MPI_File_write_at_all(file, (MPI_Offset)p->offset[v],
                                        p->data[v], (int)p->count[v],
                                        type_of(v), MPI_STATUS_IGNORE),
                  "MPI_File_write_at_all");
    check_mpi(MPI_File_close(&file), "MPI_File_close");
}

static void read_mpiio(struct particles *p, MPI_Comm comm, const char *path)
{
    MPI_File file;

    check_mpi(MPI_File_open(comm, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file),
              "MPI_File_open");
    for (int v = 0; v < VARIABLES; v++)
        check_mpi(MPI_File_read_at_all(file, (MPI_Offset)p->offset[v],
                                       p->data[v], (int)p->count[v], type_of(v),
                                       MPI_STATUS_IGNORE),
                  "MPI_File_read_at_all");
    check_mpi(MPI_File_close(&file), "MPI_File_close");
}

/* ---- with bouma --------------------------------------------------------- */

static void write_bouma(bouma_file *file, const struct particles *p)
{
    check(bouma_file_declare(file, VARIABLES, p->count, sizes, p->offset),
          file);
    check(bouma_file_write(file, (const void *const *)p->data), file);
}

static void read_bouma(bouma_file *file, struct particles *p)
{
    check(bouma_file_declare(file, VARIABLES, p->count, sizes, p->offset),
          file);
    check(bouma_file_read(file, p->data), file);
}

/* ---- both, compared ----------------------------------------------------- */

static int same_particles(const struct particles *a, const struct particles *b)
{
    for (int v = 0; v < VARIABLES; v++)
        if (memcmp(a->data[v], b->data[v], a->count[v] * sizes[v]))
            return 0;
    return 1;
}

/* Write and read in one layout by both ways; whether all came out the same. */
static int try_layout(enum layout layout, const char *directory,
                      uint64_t particles, const bouma_options *options)
{
    char ours[PATH_BYTES - 8], theirs[PATH_BYTES], mine[PATH_BYTES];
    struct particles p, back;
    bouma_file *file;
    bouma_file_report report = {.size = sizeof(report)};
    MPI_Comm comm;
    uint64_t bytes = 38 * particles;
    int world_rank, group, rank, same;

    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    snprintf(ours, sizeof(ours), "%s/hacc.%s.dat", directory,
             layout_names[layout]);
    particles_init(&p, particles);
    particles_init(&back, particles);
    fill(&p, world_rank);

    /* With several files, where particles are depends on the other ranks of the
     * group, which is known when the file is open. */
    file = open_bouma(ours, BOUMA_FILE_MODE_CREATE, options);
    comm = ranks_of_file(file, &group, &rank);
    locate(&p, layout, comm);
    write_bouma(file, &p);
    check(bouma_file_report_get(&report, file), file);
    close_bouma(file);

    path_of_group(mine, ours, group, options);
    snprintf(theirs, sizeof(theirs), "%s/mpiio.%s.%d", directory,
             layout_names[layout], group);
    write_mpiio(&p, comm, theirs);
    MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_UINT64_T, MPI_SUM, comm);
    same = all_are(rank > 0 || same_files(mine, theirs, bytes));

    memcpy(back.offset, p.offset, sizeof(back.offset));
    file = open_bouma(ours, BOUMA_FILE_MODE_READ, options);
    read_bouma(file, &back);
    close_bouma(file);
    same = same && all_are(same_particles(&p, &back));
    for (int v = 0; v < VARIABLES; v++)
        memset(back.data[v], 0xff, particles * sizes[v]);
    read_mpiio(&back, comm, mine);
    same = same && all_are(same_particles(&p, &back));

    tell(layout_names[layout], &report, same);
    remove_both(comm, mine, theirs);
    MPI_Comm_free(&comm);
    particles_free(&back);
    particles_free(&p);
    return same;
}

int main(int argc, char **argv)
{
    const char *directory = ".";
    uint64_t particles = 25000; /* about 1 MB */
    bouma_options options = {.size = sizeof(options)};
    int rank, same = 1;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 1; i < argc; i++) {
        if (i + 1 < argc && strcmp(argv[i], "--particles") == 0)
            particles = strtoull(argv[++i], NULL, 10);
        else if (i + 1 < argc && strcmp(argv[i], "--files") == 0)
            options.files = atoi(argv[++i]);
        else if (argv[i][0] != '-')
            directory = argv[i];
        else
            fail("see the top of hacc_io.c for what it takes");
    }
    /* From half of it to one and a half; the third rank has none. */
    particles = rank == 2 ? 0 : particles * (uint64_t)(4 + rank * 5 % 9) / 8;
    for (int layout = 0; layout < LAYOUTS; layout++)
        same &= try_layout((enum layout)layout, directory, particles, &options);
    MPI_Finalize();
    return same ? EXIT_SUCCESS : EXIT_FAILURE;
}
