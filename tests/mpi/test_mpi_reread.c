/* test_mpi_reread.c -- ranks whose boxes cut through all chunks of a few files
 * read these files once together, and each gets what is in its box; none has a
 * whole file in its memory. */
#include "flock.h"

/* ---- memory that is counted --------------------------------------------- */

struct counted {
    size_t now, peak;
};

/* In front of each block, as long as alignment wants it. */
enum { HEADING = 64 };

static void *counted_resize(void *user, void *block, size_t bytes)
{
    struct counted *c = user;
    char *old = block ? (char *)block - HEADING : NULL, *made;
    size_t had = 0;

    if (old)
        memcpy(&had, old, sizeof(had));
    made = realloc(old, bytes + HEADING);
    if (!made)
        return NULL;
    memcpy(made, &bytes, sizeof(bytes));
    c->now += bytes - had;
    c->peak = c->now > c->peak ? c->now : c->peak;
    return made + HEADING;
}

static void counted_release(void *user, void *block)
{
    struct counted *c = user;
    size_t had;

    if (!block)
        return;
    memcpy(&had, (char *)block - HEADING, sizeof(had));
    c->now -= had;
    free((char *)block - HEADING);
}

/* ---- the test ----------------------------------------------------------- */

static void write_all(const struct ranks *ranks, const struct flock *all,
                      const char *path, int files)
{
    uint64_t random = (uint64_t)ranks->rank;
    struct particle_block_set set;
    struct flock_put put;
    bouma_options options = {.size = sizeof(options)};
    bouma_dataset *ds;

    options.durability = BOUMA_DURABILITY_FAST;
    options.files = files;
    CHECK_EQ(bouma_dataset_create_mpi(&ds, MPI_COMM_WORLD, path, &options),
             BOUMA_OK);
    CHECK_EQ(particle_block_define(&set, ds, "dust", 3, BOUMA_TYPE_F32, 0, 0),
             BOUMA_OK);
    CHECK_EQ(bouma_step_begin(ds, 0, 0), BOUMA_OK);
    CHECK_EQ(flock_hand_over(&put, &set, &all->particle_blocks[ranks->rank],
                             PARTICLE_BLOCK_VARIABLES, BOUNDS_NONE, &random),
             BOUMA_OK);
    CHECK_EQ(bouma_step_end(ds), BOUMA_OK);
    flock_put_free(&put);
    CHECK_EQ(bouma_dataset_close(ds), BOUMA_OK);
    bouma_dataset_free(ds);
}

/* Slabs along an axis that have all particles; axis 3: equal shares. */
static void read_all(const struct ranks *ranks, const struct flock *all,
                     const char *path, int axis)
{
    struct counted memory = {0, 0};
    const bouma_allocator allocator = {sizeof(allocator), &memory,
                                       counted_resize, counted_release};
    bouma_options options = {.size = sizeof(options)};
    size_t before;
    uint8_t *there = calloc((size_t)all->count + 1, 1);
    bouma_step_details details = {.size = sizeof(details)};
    bouma_record record = {.size = sizeof(record)};
    bouma_particles_info about = {.size = sizeof(about)};
    bouma_particles_query q;
    bouma_bounds box = {.axes = BOUMA_AXES_XYZ};
    bouma_particle_data *d = NULL;
    bouma_dataset_info info = {.size = sizeof(info)};
    struct particle_block_set set;
    uint64_t sums[2] = {0};
    bouma_dataset *ds;
    bouma_step *step;

    REQUIRE(there);
    options.allocator = &allocator;
    options.buffer_bytes = 1 << 16;
    CHECK_EQ(bouma_dataset_open_mpi(&ds, MPI_COMM_WORLD, path, &options),
             BOUMA_OK);
    CHECK_EQ(bouma_step_open(&step, ds, 0), BOUMA_OK);
    CHECK_EQ(bouma_step_details_get(&details, step), BOUMA_OK);
    bouma_step_record_get(&record, step);
    particle_block_find(&set, step, "dust");
    bouma_particles_info_get(&about, set.particles);
    q = (bouma_particles_query){.size = sizeof(q)};
    q.box = &box;
    for (int k = 0; k < 3; k++) {
        box.low[k] = about.low[k];
        box.high[k] = about.high[k] + 1;
    }
    if (axis < 3) {
        double low = box.low[axis],
               width = (box.high[axis] - low) / ranks->size;

        if (ranks->rank)
            box.low[axis] = low + width * ranks->rank;
        if (ranks->rank < ranks->size - 1)
            box.high[axis] = low + width * (ranks->rank + 1);
    }
    before = memory.now;
    memory.peak = memory.now;
    CHECK_EQ(bouma_particles_restart(&d, set.particles, axis < 3 ? &q : NULL),
             BOUMA_OK);
    REQUIRE(d);
    CHECK_EQ(flock_wrong(all, d, there), 0);
    if (axis < 3)
        CHECK_EQ(flock_missed(all, &q, NULL, there), 0);
    CHECK_EQ(bouma_dataset_info_get(&info, ds), BOUMA_OK);
    /* What it gets, which grows by halves, and some slices. */
    CHECK(memory.peak - before <=
          record.raw_bytes / all->count * d->count * 3 / 2 +
              record.raw_bytes / 3);
    sums[0] = d->count;
    sums[1] = info.bytes_read;
    MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQ(sums[0], all->count);
    if (ranks->rank == 0)
        printf("axis %d: %.3f of the files read, memory of %.3f of all\n", axis,
               (double)sums[1] / (double)record.stored_bytes,
               (double)(memory.peak - before) / (double)record.raw_bytes);
    CHECK(sums[1] <= record.stored_bytes / 100 * 105);
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
                              .type = BOUMA_TYPE_F32};
    struct ranks ranks;
    struct flock all;
    char path[512];

    ranks_init(&ranks, &argc, &argv);
    spec.count = 160000 / (uint64_t)ranks.size;
    flock_make(&all, &spec, ranks.size, 0);
    for (int files = 1; files <= 3; files += 2) {
        path_in(&ranks, path, "reread", files);
        write_all(&ranks, &all, path, files);
        for (int axis = 0; axis <= 3; axis++)
            read_all(&ranks, &all, path, axis);
        MPI_Barrier(MPI_COMM_WORLD);
        if (ranks.rank == 0)
            remove_tree(path);
    }
    flock_free(&all);
    return ranks_end(&ranks, check_counts()->failed, check_counts()->checks);
}
