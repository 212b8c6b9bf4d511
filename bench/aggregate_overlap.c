/* aggregate_overlap.c -- a step takes as long as the slower of shaping and
 * storing, not as both. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "aggregate.h"
#include "bouma_mpi.h"
#include "field.h"
#include "measure.h"
#include "score.h"
#include "slow_io.h"

/* Slabs of 1, 2 or 4 ranks end where patches do: nothing is distributed. */
enum { WARM = 3 };

/* A dataset with one grid in such a storage. */
struct series {
    struct slow_io io;
    bouma_dataset *ds;
    bouma_variable *variable;
    int64_t steps;
    char path[AGGREGATE_PATH_BYTES];
};

struct block {
    bouma_box box;
    float *data;
    size_t bytes;
};

static void check(int rc, const bouma_dataset *ds)
{
    if (rc)
        fail(bouma_error_message(ds));
}

static void block_init(struct block *block, const struct bench *b)
{
    int64_t planes = b->size / 2;
    struct field field;

    if (field_init(&field, b->size))
        fail("no memory");
    block->box = (bouma_box){
        .lo = {planes * b->rank / b->ranks, 0, 0},
        .hi = {planes * (b->rank + 1) / b->ranks, b->size, b->size}};
    block->bytes = field_box_bytes(&block->box);
    block->data = allocate(block->bytes);
    field_fill(&field, &block->box, block->data);
    field_release(&field);
}

static void series_init(struct series *s, const struct bench *b,
                        const char *name, bouma_codec codec,
                        bouma_predict predict)
{
    bouma_grid_spec g = {.size = sizeof(g),
                         .ndims = 3,
                         .shape = {b->size / 2, b->size, b->size}};
    bouma_variable_spec v = {
        .size = sizeof(v), .type = BOUMA_TYPE_F32, .codec = codec};
    bouma_options o = {.size = sizeof(o)};
    bouma_grid *grid;
    int rc;

    slow_io_init(&s->io);
    s->steps = 0;
    aggregate_path(s->path, b, name);
    o.io = &s->io.table;
    o.durability = BOUMA_DURABILITY_FAST;
    o.predict = predict;
    rc = bouma_dataset_create_mpi(&s->ds, MPI_COMM_WORLD, s->path, &o);
    check(rc, s->ds);
    check(bouma_grid_define(&grid, s->ds, "cube", &g), s->ds);
    check(bouma_variable_define(&s->variable, grid, "density", &v), s->ds);
}

static void series_free(struct series *s, const struct bench *b)
{
    check(bouma_dataset_close(s->ds), s->ds);
    bouma_dataset_free(s->ds);
    MPI_Barrier(MPI_COMM_WORLD);
    if (b->rank == 0)
        measure_remove(s->path);
}

/* Seconds of one more step, of the slowest rank. */
static double write_step(struct series *s, const struct block *block)
{
    double begun;

    MPI_Barrier(MPI_COMM_WORLD);
    begun = measure_now();
    check(bouma_step_begin(s->ds, s->steps, 0), s->ds);
    check(bouma_variable_put_borrow(
              s->variable, &block->box,
              &BOUMA_ARRAY(BOUMA_TYPE_F32, block->data, block->bytes)),
          s->ds);
    check(bouma_step_end(s->ds), s->ds);
    s->steps++;
    return slowest(measure_now() - begun);
}

static void compare(const struct bench *b, const struct block *block,
                    bouma_codec codec, bouma_predict predict)
{
    static struct times shape, store, whole;
    double first[WARM], most = 0;
    int n = b->repetitions;
    struct series fast, slow;
    const struct times *longer;
    char text[80];

    shape.count = store.count = whole.count = 0;
    series_init(&fast, b, "fast.bouma", codec, predict);
    series_init(&slow, b, "slow.bouma", codec, predict);
    for (int i = 0; i < WARM; i++) {
        uint64_t before = fast.io.bytes;

        first[i] = write_step(&fast, block);
        most = slowest((double)(fast.io.bytes - before));
    }
    /* The busiest writer then stores as long as the rest takes. */
    slow.io.bytes_per_second = most / measure_median(first, WARM);
    write_step(&slow, block);
    for (int i = 0; i < n; i++) {
        double before = slow.io.busy;

        times_add(&shape, write_step(&fast, block));
        times_add(&whole, write_step(&slow, block));
        times_add(&store, slowest(slow.io.busy - before));
    }
    series_free(&fast, b);
    series_free(&slow, b);
    longer = times_median(&shape) > times_median(&store) ? &shape : &store;
    if (b->rank > 0)
        return;
    snprintf(text, sizeof(text), "%s, predict=%s", bouma_codec_name(codec),
             bouma_predict_name(predict));
    score_ratio(text, &whole, "the longer of shaping and storing", longer,
                SCORE_AT_MOST, 1.2);
}

void bench_overlap(const struct bench *b)
{
    struct block block;

    block_init(&block, b);
    if (b->rank == 0)
        printf("\noverlap: %d rank(s), %d x %d x %d f32, storage as fast as "
               "shaping, "
               "medians of %d\n",
               b->ranks, b->size / 2, b->size, b->size, b->repetitions);
    compare(b, &block, BOUMA_CODEC_RAW, BOUMA_PREDICT_OFF);
    compare(b, &block, BOUMA_CODEC_ZSTD, BOUMA_PREDICT_ON);
    free(block.data);
}
