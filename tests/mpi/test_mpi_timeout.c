/* With the option 'timeout', ranks do not wait for ever for one that does not
 * come: the call fails, says so, and the handle can be freed. */
#include <mpi.h>

#include "bouma_mpi.h"
#include "check.h"

int main(int argc, char **argv)
{
    char path[64];
    bouma_options options;
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
    bouma_options_init(&options, sizeof(options));
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
    if (rank == 0) {
        char command[128];

        snprintf(command, sizeof(command), "rm -r %s", path);
        CHECK_EQ(system(command), 0);
    }
    MPI_Finalize();
    return check_result();
}
