/* test_mpi_reread.c -- ranks whose boxes cut through all chunks of a few files
 * read these files once together, and each gets what is in its box. */
#include "flock.h"

enum { FILES = 3 };

static void write_all(const struct ranks *ranks, const struct flock *all,
                      const char *path)
{
    uint64_t random = (uint64_t)ranks->rank;
    struct swarm_set set;
    struct flock_put put;
    bouma_options options;
    bouma_dataset *ds;

    bouma_options_init(&options, sizeof(options));
    options.durability = BOUMA_FAST;
    options.files = FILES;
    CHECK_EQ(bouma_dataset_create_mpi(&ds, MPI_COMM_WORLD, path, &options),
             BOUMA_OK);
    CHECK_EQ(swarm_define(&set, ds, "dust", 3, BOUMA_F32, 0, 0), BOUMA_OK);
    CHECK_EQ(bouma_step_begin(ds, 0, 0), BOUMA_OK);
    CHECK_EQ(flock_hand_over(&put, &set, &all->swarms[ranks->rank],
                             SWARM_VARIABLES, BOUNDS_NONE, &random),
             BOUMA_OK);
    CHECK_EQ(bouma_step_end(ds, NULL), BOUMA_OK);
    flock_put_free(&put);
    CHECK_EQ(bouma_dataset_close(ds), BOUMA_OK);
    bouma_dataset_free(ds);
}

/* Slabs along an axis that have all particles; axis 3: equal shares. */
static void read_all(const struct ranks *ranks, const struct flock *all,
                     const char *path, int axis)
{
    uint8_t *there = calloc((size_t)all->count + 1, 1);
    bouma_step_details details;
    bouma_particles_info about;
    bouma_particles_query q;
    bouma_particle_data *d = NULL;
    bouma_dataset_info info;
    struct swarm_set set;
    uint64_t sums[2] = {0};
    bouma_dataset *ds;
    bouma_step *step;

    REQUIRE(there);
    CHECK_EQ(bouma_dataset_open_mpi(&ds, MPI_COMM_WORLD, path, NULL), BOUMA_OK);
    CHECK_EQ(bouma_step_open(&step, ds, 0), BOUMA_OK);
    CHECK_EQ(bouma_step_details_get(step, &details), BOUMA_OK);
    swarm_find(&set, step, "dust");
    bouma_particles_info_get(set.particles, &about);
    bouma_particles_query_init(&q, sizeof(q));
    q.boxed = 1;
    for (int k = 0; k < 3; k++) {
        q.low[k] = about.low[k];
        q.high[k] = about.high[k] + 1;
    }
    if (axis < 3) {
        double low = q.low[axis], width = (q.high[axis] - low) / ranks->size;

        if (ranks->rank)
            q.low[axis] = low + width * ranks->rank;
        if (ranks->rank < ranks->size - 1)
            q.high[axis] = low + width * (ranks->rank + 1);
    }
    CHECK_EQ(bouma_particles_restart(&d, set.particles, axis < 3 ? &q : NULL),
             BOUMA_OK);
    REQUIRE(d);
    CHECK_EQ(flock_wrong(all, d, there), 0);
    if (axis < 3)
        CHECK_EQ(flock_missed(all, &q, NULL, there), 0);
    CHECK_EQ(bouma_dataset_info_get(ds, &info), BOUMA_OK);
    sums[0] = d->count;
    sums[1] = info.bytes_read;
    MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQ(sums[0], all->count);
    if (ranks->rank == 0)
        printf("axis %d: %.3f of the files read\n", axis,
               (double)sums[1] / (double)details.record.stored_bytes);
    CHECK(sums[1] <= details.record.stored_bytes / 100 * 105);
    bouma_particle_data_free(d);
    bouma_step_free(step);
    bouma_dataset_free(ds);
    free(there);
}

int main(int argc, char **argv)
{
    struct flock_spec spec = {.shape = UNIFORM,
                              .sharing = SHARE_EVENLY,
                              .ndims = 3,
                              .type = BOUMA_F32};
    struct ranks ranks;
    struct flock all;
    char path[512];

    ranks_init(&ranks, &argc, &argv);
    spec.count = 160000 / (uint64_t)ranks.size;
    flock_make(&all, &spec, ranks.size, 0);
    path_in(&ranks, path, "reread", 0);
    write_all(&ranks, &all, path);
    for (int axis = 0; axis <= 3; axis++)
        read_all(&ranks, &all, path, axis);
    MPI_Barrier(MPI_COMM_WORLD);
    if (ranks.rank == 0)
        remove_tree(path);
    flock_free(&all);
    return ranks_end(&ranks, check_counts()->failed, check_counts()->checks);
}
