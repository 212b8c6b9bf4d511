/* Files with the levels of a chunk together are for who reads regions: little
 * is read beyond what is wanted. */
#include "must.h"
#include "particle_block.h"

enum { COUNT = 100000 };

static bouma_io *io;
static bouma_dataset *ds;
static bouma_step *step;
static struct particle_block_set set;

static void write_and_open(const struct particle_block *s, bouma_order order)
{
    bouma_options opts = {.size = sizeof(opts),
                          .durability = BOUMA_DURABILITY_FAST,
                          .order = order,
                          .files = 1};

    io = bouma_io_memory_new();
    opts.io = io;
    MUST(ds, bouma_dataset_create(&ds, "a.bouma", &opts));
    MUST(ds, particle_block_define(&set, ds, "dust", s->ndims, s->type,
                                   BOUMA_CODEC_RAW, 0));
    MUST(ds, bouma_step_begin(ds, 0, 0));
    MUST(ds, particle_block_put(&set, s));
    MUST(ds, bouma_step_end(ds));
    MUST(ds, bouma_dataset_close(ds));
    bouma_dataset_free(ds);
    MUST(ds, bouma_dataset_open(&ds, "a.bouma", &opts));
    MUST(ds, bouma_step_open(&step, ds, 0));
    particle_block_find(&set, step, "dust");
}

static void end(void)
{
    bouma_step_free(step);
    bouma_dataset_free(ds);
    bouma_io_memory_free(io);
}

/* The bytes that a query reads once head and tree are there, and what it
 * finds. */
static uint64_t bytes_for(const bouma_particles_query *query, uint64_t *found)
{
    bouma_dataset_info before = {.size = sizeof(before)}, after = before;
    bouma_particle_data *data = NULL;

    MUST(ds, bouma_particles_read(&data, set.particles, query));
    bouma_particle_data_free(data);
    MUST(ds, bouma_dataset_info_get(&before, ds));
    MUST(ds, bouma_particles_read(&data, set.particles, query));
    MUST(ds, bouma_dataset_info_get(&after, ds));
    *found = data->count;
    bouma_particle_data_free(data);
    return after.bytes_read - before.bytes_read;
}

/* A slab of a tenth. */
static uint64_t bytes_of_slab(bouma_order order)
{
    bouma_bounds box = {
        .axes = BOUMA_AXES_XYZ, .low = {0.5, -1, -1}, .high = {0.6, 9, 9}};
    bouma_particles_query query = {.size = sizeof(query), .box = &box};
    uint64_t bytes, found, should = 0;
    struct particle_block s;

    particle_block_make(&s, UNIFORM, COUNT, 3, BOUMA_TYPE_F32, 0);
    write_and_open(&s, order);
    bytes = bytes_for(&query, &found);
    for (uint64_t i = 0; i < COUNT; i++)
        should += s.position[3 * i] >= 0.5 && s.position[3 * i] < 0.6;
    CHECK_EQ(found, should);
    end();
    particle_block_free(&s);
    return bytes;
}

static void regions_are_read_without_much_else(void)
{
    uint64_t by_chunk = bytes_of_slab(BOUMA_ORDER_CHUNK);
    uint64_t by_level = bytes_of_slab(BOUMA_ORDER_LEVEL);

    CHECK(2 * by_chunk < by_level);
}

/* Along a line, mass is the coordinate and up to 0.1 more: a bin of a bitmap is
 * as wide as several chunks, whose ranges are exact. */
static void chunks_are_passed_over_by_their_ranges(void)
{
    enum { BYTES = 45 }; /* of a particle */
    bouma_particles_query query = {.size = sizeof(query)};
    bouma_condition c;
    uint64_t bytes, found, should = 0;
    struct particle_block s;

    particle_block_make(&s, UNIFORM, COUNT, 1, BOUMA_TYPE_F32, 0);
    write_and_open(&s, BOUMA_ORDER_CHUNK);
    c = condition_of(set.variables[MASS], 0, 0, 0.004);
    query.conditions = &c;
    query.condition_count = 1;
    bytes = bytes_for(&query, &found);
    for (uint64_t i = 0; i < COUNT; i++)
        should += s.mass[i] >= 0 && s.mass[i] <= 0.004;
    CHECK_EQ(found, should);
    CHECK(should > 0);
    /* The first chunk, all columns of it, and hardly more. */
    CHECK(bytes < 512 * BYTES * 3 / 2);
    end();
    particle_block_free(&s);
}

int main(void)
{
    regions_are_read_without_much_else();
    chunks_are_passed_over_by_their_ranges();
    return check_result();
}
