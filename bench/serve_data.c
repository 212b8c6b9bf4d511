/* serve_data.c -- see serve_data.h. */
#include "serve_data.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cloud_maker.h"
#include "flame.h"
#include "serve_client.h"

void data_check(int rc, const bouma_dataset *ds)
{
    if (rc)
        fail(bouma_error_message(ds));
}

static void end_writing(bouma_dataset *ds)
{
    data_check(bouma_step_end(ds), ds);
    data_check(bouma_dataset_close(ds), ds);
    bouma_dataset_free(ds);
}

void data_write_grid(const char *path, int64_t size)
{
    bouma_box all = {{0}, {size, size, size}};
    size_t bytes = (size_t)(size * size * size) * sizeof(float);
    float *data = malloc(bytes);
    bouma_array array = BOUMA_ARRAY(BOUMA_TYPE_F32, data, bytes);
    bouma_grid_spec spec = {
        .size = sizeof(spec), .ndims = 3, .shape = {size, size, size}};
    bouma_variable_spec lossy = {.size = sizeof(lossy),
                                 .type = BOUMA_TYPE_F32,
                                 .tolerance = 1e-3,
                                 .tolerance_kind = BOUMA_TOLERANCE_RELATIVE};
    bouma_variable_spec raw = {
        .size = sizeof(raw), .type = BOUMA_TYPE_F32, .codec = BOUMA_CODEC_RAW};
    bouma_variable *variables[2] = {NULL, NULL};
    bouma_dataset *ds = NULL;
    bouma_grid *grid = NULL;

    if (!data || flame_fill(data, size, &all) != 0)
        fail("no memory");
    data_check(bouma_dataset_create(&ds, path, NULL), ds);
    data_check(bouma_grid_define(&grid, ds, DATA_GRID, &spec), ds);
    data_check(bouma_variable_define(&variables[0], grid, DATA_LOSSY, &lossy),
               ds);
    data_check(bouma_variable_define(&variables[1], grid, DATA_RAW, &raw), ds);
    data_check(bouma_step_begin(ds, 0, 0), ds);
    for (int i = 0; i < 2; i++)
        data_check(bouma_variable_put_borrow(variables[i], &all, &array), ds);
    end_writing(ds);
    free(data);
}

void data_write_particles(const char *path, uint64_t count)
{
    static const struct cloud_spec blobs = {.blobs = 30,
                                            .narrow = 0.01,
                                            .wide = 0.08,
                                            .background = 0.2,
                                            .seed = 5};
    const int here[3] = {0, 0, 0}, one[3] = {1, 1, 1};
    bouma_particles_spec spec = {
        .size = sizeof(spec), .ndims = 3, .type = BOUMA_TYPE_F32};
    bouma_variable_spec v = {.size = sizeof(v), .type = BOUMA_TYPE_F64};
    bouma_column columns[1 + CLOUD_ATTRIBUTES];
    bouma_array arrays[1 + CLOUD_ATTRIBUTES];
    struct cloud cloud;
    void *parts[3];
    bouma_dataset *ds = NULL;
    bouma_particles *set = NULL;

    if (cloud_make(&cloud, &blobs, count, here, one) != 0)
        fail("no memory");
    data_check(bouma_dataset_create(&ds, path, NULL), ds);
    data_check(bouma_particles_define(&set, ds, "dust", &spec), ds);
    for (int d = 0; d < 3; d++)
        parts[d] = cloud.position[d];
    arrays[0] = (bouma_array){.size = sizeof(*arrays),
                              .type = BOUMA_TYPE_F32,
                              .parts = parts,
                              .bytes = (size_t)count * sizeof(float)};
    columns[0] = (bouma_column){sizeof(*columns), bouma_particles_position(set),
                                &arrays[0]};
    for (int j = 0; j < CLOUD_ATTRIBUTES; j++) {
        bouma_variable *attribute = NULL;

        data_check(bouma_particles_define_variable(&attribute, set,
                                                   cloud_names[j], &v),
                   ds);
        arrays[1 + j] = (bouma_array){.size = sizeof(*arrays),
                                      .type = BOUMA_TYPE_F64,
                                      .data = cloud.attribute[j],
                                      .bytes = (size_t)count * sizeof(double)};
        columns[1 + j] =
            (bouma_column){sizeof(*columns), attribute, &arrays[1 + j]};
    }
    data_check(bouma_step_begin(ds, 0, 0), ds);
    data_check(bouma_particles_put_borrow(set, count, columns,
                                          1 + CLOUD_ATTRIBUTES, NULL),
               ds);
    end_writing(ds);
    cloud_release(&cloud);
}

/* ---- the page cache ------------------------------------------------------ */

/* nftw() has no argument of ours. */
static size_t pages_seen, pages_there;

static int evict_file(const char *path, const struct stat *info, int kind,
                      struct FTW *walk)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t count = ((size_t)info->st_size + page - 1) / page;
    int fd = kind == FTW_F ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    unsigned char *there;
    void *map;

    (void)walk;
    if (fd < 0 || !count) {
        if (fd >= 0)
            close(fd);
        return 0;
    }
    fdatasync(fd); /* what is not stored yet would stay */
    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    map = mmap(NULL, count * page, PROT_READ, MAP_SHARED, fd, 0);
    there = malloc(count);
    if (map == MAP_FAILED || !there || mincore(map, count * page, there) != 0)
        fail("what is in the page cache cannot be known");
    pages_seen += count;
    for (size_t i = 0; i < count; i++)
        pages_there += there[i] & 1;
    free(there);
    munmap(map, count * page);
    close(fd);
    return 0;
}

double data_evict(const char *path)
{
    pages_seen = pages_there = 0;
    if (nftw(path, evict_file, 16, FTW_PHYS) != 0 || !pages_seen)
        fail("the files of a dataset are not found");
    return (double)pages_there / (double)pages_seen;
}

/* ---- reading ------------------------------------------------------------- */

void data_open(struct data_reading *r, const char *path, const char *variable)
{
    *r = (struct data_reading){0};
    data_check(bouma_dataset_open(&r->ds, path, NULL), r->ds);
    data_check(bouma_step_open(&r->step, r->ds, 0), r->ds);
    r->variable = bouma_grid_find_variable(
        bouma_step_find_grid(r->step, DATA_GRID), variable);
    if (!r->variable)
        fail(bouma_error_message(r->ds));
}

void data_close(struct data_reading *r)
{
    bouma_step_free(r->step);
    bouma_dataset_free(r->ds);
}
