/* test_mpi_plan.c -- a write does what bouma_plan_make() said it would. */
#include "../helpers/arrays.h"
#include "blocks.h"

#include "../helpers/check.h"
#include "sized.h"

/* The block of this rank, as the plan has it. */
static bouma_box own_block(const bouma_plan_spec *spec,
                           const bouma_plan_report *report, int rank)
{
    bouma_box box = {{0}, {0}};

    for (int d = spec->ndims - 1; d >= 0; d--) {
        int64_t n = report->blocks[d], at = rank % n;

        rank /= (int)n;
        box.lo[d] = spec->shape[d] * at / n;
        box.hi[d] = spec->shape[d] * (at + 1) / n;
    }
    return box;
}

static int64_t volume(const bouma_box *box, int ndims)
{
    int64_t samples = 1;

    for (int d = 0; d < ndims; d++)
        samples *= box->hi[d] - box->lo[d];
    return samples;
}

static void write_as(const char *path, const bouma_options *opts,
                     const bouma_plan_spec *plan, const bouma_box *box,
                     bouma_record *record)
{
    bouma_grid_spec shape = {.size = sizeof(shape), .ndims = plan->ndims};
    bouma_variable_spec kind = {.size = sizeof(kind),
                                .type = plan->type,
                                .components = plan->components,
                                .codec = BOUMA_CODEC_RAW};
    int64_t samples = volume(box, plan->ndims);
    void *data = calloc((size_t)samples + 1,
                        bouma_type_size(plan->type) * (size_t)plan->components);
    bouma_dataset *ds;
    bouma_grid *g;
    bouma_variable *v;

    REQUIRE(data);
    memcpy(shape.shape, plan->shape, sizeof(shape.shape));
    memcpy(shape.patch, plan->patch, sizeof(shape.patch));
    shape.layout = plan->layout;
    shape.hz_template = plan->hz_template;
    shape.hz_block_bits = plan->hz_block_bits;
    shape.hz_blocks_per_file = plan->hz_blocks_per_file;
    shape.hz_order = plan->hz_order;
    CHECK_EQ(bouma_dataset_create_mpi(&ds, MPI_COMM_WORLD, path, opts),
             BOUMA_OK);
    CHECK_EQ(bouma_grid_define(&g, ds, "g", &shape), BOUMA_OK);
    CHECK_EQ(bouma_variable_define(&v, g, "v", &kind), BOUMA_OK);
    CHECK_EQ(bouma_step_begin(ds, 0, 0), BOUMA_OK);
    if (samples)
        CHECK_EQ(test_put(v, box, data), BOUMA_OK);
    CHECK_EQ(end_step(record, ds), BOUMA_OK);
    CHECK_EQ(bouma_dataset_close(ds), BOUMA_OK);
    bouma_dataset_free(ds);
    free(data);
}

static void compare(const struct ranks *r, int64_t number,
                    const bouma_plan_spec *spec, const bouma_options *opts)
{
    bouma_plan_report report = {.size = sizeof(report)};
    bouma_record record = {.size = sizeof(record)};
    bouma_plan *plan;
    bouma_box box;
    uint64_t once;
    char path[512];

    REQUIRE(!bouma_plan_make(&plan, spec, opts, NULL, 0));
    bouma_plan_report_get(&report, plan);
    bouma_plan_free(plan);
    box = own_block(spec, &report, r->rank);
    write_as(path_in(r, path, "plan", number), opts, spec, &box, &record);
    CHECK_EQ(report.ranks, record.ranks);
    CHECK_EQ(report.patches, record.chunks);
    CHECK_EQ(report.raw_bytes, record.raw_bytes);
    CHECK_EQ(report.moved_bytes, record.moved_bytes);
    CHECK_EQ(report.shipped_bytes, record.shipped_bytes); /* so are writers */
    CHECK_EQ(report.files, record.files);
    /* A file has names and zeros besides, the same in each but for 63 bytes. */
    CHECK(report.largest_file < record.largest_file);
    CHECK(report.stored_bytes < record.stored_bytes);
    once = record.stored_bytes - report.stored_bytes;
    CHECK(record.largest_file - report.largest_file <=
          once / (uint64_t)record.files + 63);
    CHECK(once <= 1000 * (uint64_t)record.files);
}

/* In HZ order: blocks in rows or along the curve, any template. */
static void compare_orders(const struct ranks *r, int64_t number)
{
    static const int64_t shapes[][3] = {{40, 50, 60}, {64, 64, 64}, {37, 61}};
    static const int ndims[] = {3, 3, 2};

    for (int i = 0; i < 12; i++) {
        int s = i % 3;
        int64_t ranks[3] = {r->size, 1, 1};
        bouma_plan_spec spec = {.size = sizeof(spec),
                                .ranks = r->size,
                                .ndims = ndims[s],
                                .type = BOUMA_TYPE_F32,
                                .components = 1 + i % 2,
                                .layout = BOUMA_LAYOUT_HZ,
                                .hz_block_bits = 8,
                                .hz_blocks_per_file = 1 + 5 * (i % 4),
                                .hz_order = (bouma_hz_order)(1 + i / 6)};
        bouma_options opts = {.size = sizeof(opts)};
        char template[64];

        memcpy(spec.shape, shapes[s], sizeof(shapes[s]));
        if (i % 2) { /* what plans call "ranks" */
            memcpy(spec.blocks, ranks, sizeof(ranks));
            CHECK_EQ(bouma_hz_template(template, sizeof(template), spec.ndims,
                                       spec.shape, ranks, 0, NULL, 0),
                     BOUMA_OK);
            spec.hz_template = template;
        }
        opts.durability = BOUMA_DURABILITY_FAST;
        opts.distribute = (bouma_distribute)(1 + i % 3);
        opts.place = i % 2 ? BOUMA_PLACE_LOCAL : BOUMA_PLACE_SPREAD;
        compare(r, number++, &spec, &opts);
    }
}

/* With a file for each rank and nothing said of how they are cut, slabs and
 * columns are not shipped, along any axis; and where one rank has more than the
 * others, files are equal instead. */
static void compare_blocks(const struct ranks *r, int64_t number)
{
    for (int i = 0; i < 12; i++) {
        int axis = i % 3, uneven = i >= 6;
        bouma_plan_spec spec = {.size = sizeof(spec),
                                .ranks = r->size,
                                .ndims = 3,
                                .shape = {32, 32, 32},
                                .patch = {16, 16, 16},
                                .blocks = {1, 1, 1},
                                .type = BOUMA_TYPE_F32,
                                .components = 1};
        bouma_options opts = {.size = sizeof(opts)};
        bouma_plan_report report = {.size = sizeof(report)};
        bouma_plan *plan;

        spec.blocks[axis] = r->size;
        spec.shape[axis] = uneven ? 8 * r->size + 8 : 16 * r->size;
        opts.durability = BOUMA_DURABILITY_FAST;
        opts.files = r->size;
        opts.planning = i % 6 < 3 ? BOUMA_PLANNING_NODE : BOUMA_PLANNING_LOCAL;
        REQUIRE(!bouma_plan_make(&plan, &spec, &opts, NULL, 0));
        bouma_plan_report_get(&report, plan);
        bouma_plan_free(plan);
        if (!uneven) {
            CHECK_EQ(report.assign, r->size > 1 ? BOUMA_ASSIGN_PER_RANK
                                                : BOUMA_ASSIGN_OPTIMAL);
            CHECK_EQ(report.shipped_bytes, 0);
        } else if (r->size > 2) {
            CHECK_EQ(report.assign, BOUMA_ASSIGN_OPTIMAL);
        }
        compare(r, number++, &spec, &opts);
    }
}

int main(int argc, char **argv)
{
    static const int64_t shapes[][3] = {
        {40, 50, 60}, {64, 64, 64}, {37, 61}, {7, 300}, {1000}};
    static const int ndims[] = {3, 3, 2, 2, 1};
    int64_t number = 0;
    struct ranks r;

    ranks_init(&r, &argc, &argv);
    for (int s = 0; s < 5; s++)
        for (bouma_distribute d = BOUMA_DISTRIBUTE_BALANCED;
             d <= BOUMA_DISTRIBUTE_NONE; d++)
            for (bouma_assign a = BOUMA_ASSIGN_OPTIMAL;
                 a <= BOUMA_ASSIGN_SINGLE; a++) {
                bouma_plan_spec spec = {.size = sizeof(spec),
                                        .ranks = r.size,
                                        .ndims = ndims[s],
                                        .patch = {16, 16, 16},
                                        .type = BOUMA_TYPE_I16,
                                        .components = 1 + s % 2};
                bouma_options opts = {.size = sizeof(opts)};

                memcpy(spec.shape, shapes[s], sizeof(shapes[s]));
                opts.durability = BOUMA_DURABILITY_FAST;
                opts.distribute = d;
                opts.assign = a;
                opts.place = (bouma_place)(1 + number % 3);
                opts.machine = number % 2 ? "torus:2x4,per=1" : "";
                opts.files = (int)(number % 4);
                compare(&r, number++, &spec, &opts);
            }
    compare_orders(&r, number);
    compare_blocks(&r, number + 12);
    return ranks_end(&r, check_counts()->failed, check_counts()->checks);
}
