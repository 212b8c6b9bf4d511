/* Who takes all particles makes few reads, however files are ordered. */
#include "fault_io.h"
#include "must.h"
#include "particle_block.h"

enum { COUNT = 40000 };

/* Calls of the store, to read a share of all particles that were written in an
 * order. */
static long calls_for(bouma_order order, double quality)
{
    bouma_particles_query query = {.size = sizeof(query), .quality = quality};
    bouma_io *memory = bouma_io_memory_new();
    bouma_particle_data *data = NULL;
    struct particle_block_set set;
    struct particle_block s;
    struct fault_io io;
    bouma_options opts;
    bouma_dataset *ds;
    bouma_step *step;
    long calls;

    fault_io_init(&io, memory);
    opts = (bouma_options){.size = sizeof(opts),
                           .io = &io.table,
                           .durability = BOUMA_DURABILITY_FAST,
                           .order = order,
                           .files = 1};
    particle_block_make(&s, UNIFORM, COUNT, 3, BOUMA_TYPE_F32, 0);
    MUST(ds, bouma_dataset_create(&ds, "a.bouma", &opts));
    MUST(ds, particle_block_define(&set, ds, "dust", 3, BOUMA_TYPE_F32,
                                   BOUMA_CODEC_RAW, 0));
    MUST(ds, bouma_step_begin(ds, 0, 0));
    MUST(ds, particle_block_put(&set, &s));
    MUST(ds, bouma_step_end(ds));
    MUST(ds, bouma_dataset_close(ds));
    bouma_dataset_free(ds);
    MUST(ds, bouma_dataset_open(&ds, "a.bouma", &opts));
    MUST(ds, bouma_step_open(&step, ds, 0));
    particle_block_find(&set, step, "dust");
    calls = io.calls;
    MUST(ds, bouma_particles_read(&data, set.particles, &query));
    calls = io.calls - calls;
    CHECK(quality < 1 || data->count == COUNT);
    bouma_particle_data_free(data);
    bouma_step_free(step);
    bouma_dataset_free(ds);
    particle_block_free(&s);
    bouma_io_memory_free(memory);
    return calls;
}

/* Levels one after the other, or the levels of a chunk together. */
static void all_particles_are_in_few_reads(void)
{
    CHECK(calls_for(BOUMA_ORDER_CHUNK, 1) < 40);
    CHECK(calls_for(BOUMA_ORDER_CHUNK, 0.3) < 100);
    CHECK(calls_for(BOUMA_ORDER_LEVEL, 1) < 40);
}

int main(void)
{
    all_particles_are_in_few_reads();
    return check_result();
}
