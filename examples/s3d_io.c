/* s3d_io.c -- from MPI-IO to bouma: the checkpoint of a grid simulation (S3D,
 * turbulent flames), through file views of MPI-IO and by one call of bouma. The
 * two files are the same, byte by byte.
 *
 *   mpirun -n 4 s3d_io [--size N] [--species N] [--files N] [DIRECTORY]
 *
 * The grid has N points along each axis (and some more), cut into a block for
 * each rank. The file has four arrays of doubles, one after the other, each
 * whole, in the order of an array in C:
 *
 *     mass fraction [species][z][y][x]
 *     velocity            [3][z][y][x]
 *     pressure               [z][y][x]
 *     temperature            [z][y][x]
 *
 * So a rank's block of an array is many short rows, far apart. MPI-IO describes
 * them by a type for each array, MPI_Type_create_subarray(), as the view of the
 * file. bouma takes any number of variables, and needs only the offset and size
 * of each: here every row is one. That is cheap even for many thousands of
 * rows, and all four arrays go in one call.
 *
 * With --files N, ranks are divided into N groups, each with its own grid and
 * file (s3d.dat.0000, s3d.dat.0001, ...). both_ways.h opens, closes and compares
 * files. */
#define PROGRAM "s3d_io"
#include "both_ways.h"

enum { ARRAYS = 4 };

/* This rank's block, and the grid of the ranks of its file. */
struct block {
    int shape[3], first[3], count[3]; /* along z, y, x; 'first' in the grid */
    int components[ARRAYS];           /* of each array */
    size_t points;                    /* of the block */
    double *data[ARRAYS];             /* [component][z][y][x] */
};

static void *allocate(size_t bytes)
{
    void *block = malloc(bytes + 1);

    if (!block)
        fail("out of memory");
    return block;
}

/* ---- the grid ----------------------------------------------------------- */

/* Cut a grid into blocks, one for each rank of 'comm'. */
static void block_init(struct block *b, int size, int species, MPI_Comm comm)
{
    int rank, ranks, dims[3] = {0, 0, 0}, at[3];

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    MPI_Dims_create(ranks, 3, dims);
    at[0] = rank / (dims[1] * dims[2]);
    at[1] = rank / dims[2] % dims[1];
    at[2] = rank % dims[2];
    b->points = 1;
    for (int axis = 0; axis < 3; axis++) { /* no two edges are the same */
        b->shape[axis] = size + axis;
        b->first[axis] = b->shape[axis] * at[axis] / dims[axis];
        b->count[axis] =
            b->shape[axis] * (at[axis] + 1) / dims[axis] - b->first[axis];
        b->points *= (size_t)b->count[axis];
    }
    b->components[0] = species;
    b->components[1] = 3;
    b->components[2] = b->components[3] = 1;
    for (int i = 0; i < ARRAYS; i++)
        b->data[i] = allocate((size_t)b->components[i] * b->points * 8);
}

static void block_free(struct block *b)
{
    for (int i = 0; i < ARRAYS; i++)
        free(b->data[i]);
}

/* No two values are the same, of whatever rank and array. */
static void fill(struct block *b, int rank)
{
    for (int i = 0; i < ARRAYS; i++)
        for (size_t k = 0; k < (size_t)b->components[i] * b->points; k++)
            b->data[i][k] = 1e9 * rank + 1e8 * i + (double)k;
}

/* The bytes of an array in the file, whole. */
static uint64_t array_bytes(const struct block *b, int array)
{
    return (uint64_t)b->components[array] * (uint64_t)b->shape[0] *
           (uint64_t)b->shape[1] * (uint64_t)b->shape[2] * sizeof(double);
}

/* ---- with MPI-IO -------------------------------------------------------- */

/* This rank's part of an array, as a view of the file. */
static MPI_Datatype view_of(const struct block *b, int array)
{
    int n = b->components[array];
    int shape[4] = {n, b->shape[0], b->shape[1], b->shape[2]};
    int count[4] = {n, b->count[0], b->count[1], b->count[2]};
    int first[4] = {0, b->first[0], b->first[1], b->first[2]};
    MPI_Datatype type;

    check_mpi(MPI_Type_create_subarray(4, shape, count, first, MPI_ORDER_C,
                                       MPI_DOUBLE, &type),
              "MPI_Type_create_subarray");
    check_mpi(MPI_Type_commit(&type), "MPI_Type_commit");
    return type;
}

/* Write all arrays, or read them. */
static void move_mpiio(const struct block *b, MPI_Comm comm, const char *path,
                       int reading)
{
    int mode = reading ? MPI_MODE_RDONLY : MPI_MODE_CREATE | MPI_MODE_WRONLY;
    MPI_Offset at = 0;
    MPI_File file;

    check_mpi(MPI_File_open(comm, path, mode, MPI_INFO_NULL, &file),
              "MPI_File_open");
    if (!reading) /* one that was there is not emptied by itself */
        check_mpi(MPI_File_set_size(file, 0), "MPI_File_set_size");
    for (int i = 0; i < ARRAYS; i++) {
        MPI_Datatype view = view_of(b, i);
        int n = b->components[i] * (int)b->points;

        check_mpi(MPI_File_set_view(file, at, MPI_DOUBLE, view, "native",
                                    MPI_INFO_NULL),
                  "MPI_File_set_view");
        check_mpi(reading
                      ? MPI_File_read_at_all(file, 0, b->data[i], n, MPI_DOUBLE,
                                             MPI_STATUS_IGNORE)
                      : MPI_File_write_at_all(file, 0, b->data[i], n,
                                              MPI_DOUBLE, MPI_STATUS_IGNORE),
                  "MPI_File_write_at_all or MPI_File_read_at_all");
        MPI_Type_free(&view);
        at += (MPI_Offset)array_bytes(b, i);
    }
    check_mpi(MPI_File_close(&file), "MPI_File_close");
}

/* ---- with bouma --------------------------------------------------------- */

/* All rows of a block: where they are in the file and in memory. */
struct rows {
    size_t n;
    uint64_t *count, *size, *offset;
    void **data;
};

static void rows_of_array(struct rows *r, const struct block *b, int array,
                          uint64_t start)
{
    double *data = b->data[array];

    for (int c = 0; c < b->components[array]; c++)
        for (int z = 0; z < b->count[0]; z++)
            for (int y = 0; y < b->count[1]; y++) {
                uint64_t row = (uint64_t)c * (uint64_t)b->shape[0] +
                               (uint64_t)(b->first[0] + z);

                row = row * (uint64_t)b->shape[1] + (uint64_t)(b->first[1] + y);
                r->count[r->n] = (uint64_t)b->count[2];
                r->size[r->n] = sizeof(double);
                r->offset[r->n] = start + (row * (uint64_t)b->shape[2] +
                                           (uint64_t)b->first[2]) *
                                              sizeof(double);
                r->data[r->n] = data;
                data += b->count[2];
                r->n++;
            }
}

static void rows_init(struct rows *r, const struct block *b)
{
    size_t all = 0;
    uint64_t start = 0;

    for (int i = 0; i < ARRAYS; i++)
        all += (size_t)b->components[i];
    all *= (size_t)b->count[0] * (size_t)b->count[1];
    r->n = 0;
    r->count = allocate(all * sizeof(*r->count));
    r->size = allocate(all * sizeof(*r->size));
    r->offset = allocate(all * sizeof(*r->offset));
    r->data = allocate(all * sizeof(*r->data));
    for (int i = 0; i < ARRAYS; i++) {
        rows_of_array(r, b, i, start);
        start += array_bytes(b, i);
    }
}

static void rows_free(struct rows *r)
{
    free(r->count);
    free(r->size);
    free(r->offset);
    free(r->data);
}

/* A program that writes checkpoints of the same grid declares its rows once,
 * then calls bouma_file_write() for each. */
static void write_bouma(bouma_file *file, const struct block *b)
{
    struct rows rows;

    rows_init(&rows, b);
    check(bouma_file_declare(file, rows.n, rows.count, rows.size, rows.offset),
          file);
    check(bouma_file_write(file, (const void *const *)rows.data), file);
    rows_free(&rows);
}

static void read_bouma(bouma_file *file, const struct block *b)
{
    struct rows rows;

    rows_init(&rows, b);
    check(bouma_file_declare(file, rows.n, rows.count, rows.size, rows.offset),
          file);
    check(bouma_file_read(file, rows.data), file);
    rows_free(&rows);
}

/* ---- both, compared ----------------------------------------------------- */

static int same_blocks(const struct block *a, const struct block *b)
{
    for (int i = 0; i < ARRAYS; i++)
        if (memcmp(a->data[i], b->data[i],
                   (size_t)a->components[i] * a->points * sizeof(double)))
            return 0;
    return 1;
}

static int run(int size, int species, const char *directory,
               const bouma_options *options)
{
    char ours[PATH_BYTES - 8], theirs[PATH_BYTES], mine[PATH_BYTES];
    bouma_file *file;
    bouma_file_report report = {.size = sizeof(report)};
    struct block b, back;
    MPI_Comm comm;
    uint64_t bytes = 0;
    int world_rank, group, rank, same;

    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    snprintf(ours, sizeof(ours), "%s/s3d.dat", directory);

    /* With several files, each has a grid of the ranks of its group. */
    file = open_bouma(ours, BOUMA_FILE_MODE_CREATE, options);
    comm = ranks_of_file(file, &group, &rank);
    block_init(&b, size, species, comm);
    block_init(&back, size, species, comm);
    fill(&b, world_rank);
    write_bouma(file, &b);
    check(bouma_file_report_get(&report, file), file);
    close_bouma(file);

    snprintf(theirs, sizeof(theirs), "%s/mpiio.s3d.%d", directory, group);
    path_of_group(mine, ours, group, options);
    move_mpiio(&b, comm, theirs, 0);
    for (int i = 0; i < ARRAYS; i++)
        bytes += array_bytes(&b, i);
    same = all_are(rank > 0 || same_files(mine, theirs, bytes));

    for (int i = 0; i < ARRAYS; i++)
        memset(back.data[i], 0xff, (size_t)b.components[i] * b.points * 8);
    file = open_bouma(ours, BOUMA_FILE_MODE_READ, options);
    read_bouma(file, &back);
    close_bouma(file);
    same = same && all_are(same_blocks(&b, &back));
    for (int i = 0; i < ARRAYS; i++)
        memset(back.data[i], 0xff, (size_t)b.components[i] * b.points * 8);
    move_mpiio(&back, comm, mine, 1);
    same = same && all_are(same_blocks(&b, &back));

    tell("s3d", &report, same);
    remove_both(comm, mine, theirs);
    MPI_Comm_free(&comm);
    block_free(&back);
    block_free(&b);
    return same;
}

int main(int argc, char **argv)
{
    const char *directory = ".";
    int size = 32, species = 11, same;
    bouma_options options = {.size = sizeof(options)};

    MPI_Init(&argc, &argv);
    for (int i = 1; i < argc; i++) {
        if (i + 1 < argc && strcmp(argv[i], "--size") == 0)
            size = atoi(argv[++i]);
        else if (i + 1 < argc && strcmp(argv[i], "--species") == 0)
            species = atoi(argv[++i]);
        else if (i + 1 < argc && strcmp(argv[i], "--files") == 0)
            options.files = atoi(argv[++i]);
        else if (argv[i][0] != '-')
            directory = argv[i];
        else
            fail("see the top of s3d_io.c for what it takes");
    }
    if (size < 1 || size > 1024 || species < 1 || species > 1000)
        fail("--size is from 1 to 1024, --species from 1 to 1000");
    same = run(size, species, directory, &options);
    MPI_Finalize();
    return same ? EXIT_SUCCESS : EXIT_FAILURE;
}
