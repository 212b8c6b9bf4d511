/* With the option 'timeout', ranks do not wait for ever for one that does not
 * come: the call fails, says so, and the handle can be freed. */
#include <mpi.h>

#include "bouma_mpi.h"
#include "check.h"

static void *no_memory(void *user, void *block, size_t bytes)
{
    (void)user;
    (void)block;
    (void)bytes;
    return NULL;
}

static void no_release(void *user, void *block)
{
    (void)user;
    (void)block;
}

/* Neither when it is opened, also not by a rank without memory, which just
 * wants to say so; and there is a message. */
static void opening_ends_too(const char *path, int rank, int ranks)
{
    const bouma_allocator none = {sizeof(none), NULL, no_memory, no_release};

    for (int poor = 0; poor < 2; poor++) {
        int mine[2] = {0}, all[2];
        MPI_Request late[2];
        MPI_Comm comm;

        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        if (rank < ranks - 1) {
            bouma_options options = {.size = sizeof(options)};
            bouma_file *file;
            bouma_dataset *ds;

            options.timeout = 0.2;
            options.allocator = poor ? &none : NULL;
            CHECK_EQ(bouma_dataset_open_mpi(&ds, comm, path, &options),
                     BOUMA_ECOMM);
            CHECK_TEXT(bouma_error_message(ds), poor ? "memory" : "timeout");
            bouma_dataset_free(ds);
            CHECK_EQ(bouma_file_open_mpi(&file, comm, path,
                                         BOUMA_FILE_MODE_READ, &options),
                     BOUMA_ECOMM);
            CHECK_TEXT(bouma_file_message(file), poor ? "memory" : "timeout");
            bouma_file_free(file);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        /* It comes after all, so that MPI has nothing left to wait for. */
        for (int i = 0; i < 2 && rank == ranks - 1; i++)
            MPI_Iallreduce(&mine[i], &all[i], 1, MPI_INT, MPI_MAX, comm,
                           &late[i]);
        for (int i = 0; i < 2 && rank == ranks - 1; i++)
            MPI_Wait(&late[i], MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    char path[64];
    bouma_options options = {.size = sizeof(options)};
    bouma_dataset *ds;
    int rank, ranks, pid = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (rank == 0)
        pid =
            (int)(check_random(&(uint64_t){(uint64_t)(uintptr_t)&path}) >> 40);
    MPI_Bcast(&pid, 1, MPI_INT, 0, MPI_COMM_WORLD);
    snprintf(path, sizeof(path), "/dev/shm/bouma-timeout-%d.bouma", pid);
    options.timeout = 60; /* nobody is late while it is opened */
    REQUIRE(!bouma_dataset_create_mpi(&ds, MPI_COMM_WORLD, path, &options));
    bouma_dataset_free(ds);
    MPI_Barrier(MPI_COMM_WORLD);
    options.timeout = 1;
    REQUIRE(!bouma_dataset_append_mpi(&ds, MPI_COMM_WORLD, path, &options));
    if (rank == ranks - 1) {
        MPI_Barrier(MPI_COMM_WORLD); /* the one that does not come */
    } else {
        CHECK_EQ(bouma_dataset_flush(ds), BOUMA_ECOMM);
        CHECK_TEXT(bouma_error_message(ds), "timeout");
        /* And from then on without waiting. */
        CHECK_EQ(bouma_dataset_flush(ds), BOUMA_ECOMM);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    bouma_dataset_free(ds);
    if (ranks > 1)
        opening_ends_too(path, rank, ranks);
    if (rank == 0) {
        char command[128];

        snprintf(command, sizeof(command), "rm -r %s", path);
        CHECK_EQ(system(command), 0);
    }
    MPI_Finalize();
    return check_result();
}
