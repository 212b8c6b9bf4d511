/* load.c -- see load.h.
 *
 *     uniform           IOR: every rank the same
 *     random, normal    TAPIOCA, section 5.3: 0 to the most, drawn evenly or
 *                       from a bell
 *     hacc*             HACC-IO: 38 bytes a particle in nine variables
 *     s3d               16 variables, dense where a wrinkled flame is
 *     cloud             particles, every rank the same
 *     boiler            coal is blown in and rises: more and more particles
 *     dam               water that was held back in a quarter of the basin
 *     sizes             a size grid, for any number of ranks */
#include "load.h"

#include <math.h>
#include <string.h>

#include "base/mix.h"
#include "rank_grid.h"
#include "size_grid.h"

#define ROOT_PI 1.77245385090551602730

/* ---- chance -------------------------------------------------------------- */

/* From 0 to below 1; each 'draw' of a rank is another number. */
static double draw(const struct load_request *r, int64_t rank, uint64_t draw)
{
    uint64_t state = bm_mix_next(r->seed) ^ bm_mix_next(2 * (uint64_t)rank);

    return (double)(bm_mix_next(state + draw * BM_MIX_STEP) >> 11) *
           (1.0 / ((uint64_t)1 << 53));
}

/* Box and Muller: mean 0, deviation 1. */
static double draw_normal(const struct load_request *r, int64_t rank)
{
    double radius = sqrt(-2 * log(1 - draw(r, rank, 0)));

    return radius * cos(2 * ROOT_PI * ROOT_PI * draw(r, rank, 1));
}

/* The most that a rank can have, of particles or bytes. */
static double most_of(const struct load_request *r)
{
    uint64_t each = 0;

    for (int i = 0; r->load->widths && i < r->load->variables; i++)
        each += (uint64_t)r->load->widths[i];
    return each ? (double)r->bytes / (double)each : (double)r->bytes;
}

static double even(const struct load_request *r, int64_t rank)
{
    (void)rank;
    return most_of(r);
}

static double random_amount(const struct load_request *r, int64_t rank)
{
    return draw(r, rank, 0) * most_of(r);
}

/* A bell around half of the most, four deviations to either end. */
static double normal_amount(const struct load_request *r, int64_t rank)
{
    double part = 0.5 + draw_normal(r, rank) / 8;

    return fmin(fmax(part, 0), 1) * most_of(r);
}

/* ---- shapes in space ----------------------------------------------------- */

/* The block of a rank along an axis, of all from 0 to 1. */
struct span {
    double low, high;
};

static struct span span_of(const struct load_request *r, int64_t rank, int axis)
{
    int64_t at[3];
    double n = (double)r->grid[axis];

    rank_grid_at(r->grid, rank, at);
    return (struct span){(double)at[axis] / n, (double)(at[axis] + 1) / n};
}

/* The part of exp(-((x - centre) / width)^2) from 0 to 1 that is in a span. */
static double part_of_bell(struct span s, double centre, double width)
{
    double all = erf((1 - centre) / width) - erf(-centre / width);

    return (erf((s.high - centre) / width) - erf((s.low - centre) / width)) /
           all;
}

/* The same of exp(-x / length). */
static double part_of_decay(struct span s, double length)
{
    return (exp(-s.low / length) - exp(-s.high / length)) /
           (1 - exp(-1 / length));
}

/* Where along x the flame is. */
static double flame_at(double y, double z)
{
    double turn = 2 * ROOT_PI * ROOT_PI;

    return 0.4 + 0.15 * sin(turn * y + 1) * cos(turn * z + 0.5);
}

/* Radicals, which are the first variables, are in a thinner sheet than heat. */
static double flame_width(const struct load_request *r, int variable)
{
    return 0.06 + 0.12 * (variable + 1) / r->variables;
}

double load_burnt(const struct load_request *r, const double at[3],
                  int variable)
{
    return 1 / (1 + exp((flame_at(at[1], at[2]) - at[0]) /
                        (0.25 * flame_width(r, variable))));
}

/* A quarter everywhere, the rest around the flame. */
static double s3d(const struct load_request *r, int64_t rank, int variable)
{
    struct span x = span_of(r, rank, 0), y = span_of(r, rank, 1);
    struct span z = span_of(r, rank, 2);
    double flame = flame_at((y.low + y.high) / 2, (z.low + z.high) / 2);
    double part = 0.25 * (x.high - x.low) +
                  0.75 * part_of_bell(x, flame, flame_width(r, variable));

    return part * (double)r->grid[0] * (double)r->bytes / r->variables;
}

/* Two rows of burners in the walls y = 0 and 1; what they blow in rises. From
 * 4.6 to 41.5 million particles (paper 002, section VI). */
static double boiler(const struct load_request *r, int64_t rank)
{
    struct span x = span_of(r, rank, 0), y = span_of(r, rank, 1);
    double all = most_of(r) * (double)rank_grid_ranks(r->grid) *
                 (4.6 + (41.5 - 4.6) * r->time) / 41.5;
    double height = 0.1 + 0.4 * r->time;

    return all * part_of_bell(x, 0.5, 0.25) *
           (part_of_bell(y, 0.15, 0.12) + part_of_bell(y, 0.85, 0.12)) / 2 *
           part_of_decay(span_of(r, rank, 2), height);
}

/* How much of the water is below x: a block up to a quarter at first, then
 * (1 - x / front)^2, Ritter's parabola, when the front is at the other wall. */
static double water_below(double x, double time)
{
    double front = 0.25 + 0.75 * time;

    return x >= front ? 1 : 1 - pow(1 - x / front, 2 * time + 1);
}

static double dam(const struct load_request *r, int64_t rank)
{
    struct span x = span_of(r, rank, 0), y = span_of(r, rank, 1);
    struct span z = span_of(r, rank, 2);
    double all = most_of(r) * (double)rank_grid_ranks(r->grid);

    return all * (water_below(x.high, r->time) - water_below(x.low, r->time)) *
           (y.high - y.low) * (z.high - z.low);
}

static double of_size_grid(const struct load_request *r, int64_t rank,
                           int variable)
{
    int64_t at[3];

    rank_grid_at(r->grid, rank, at);
    return (double)size_grid_bytes(r->sizes, (size_t)variable, r->grid, at);
}

/* ---- the table ----------------------------------------------------------- */

/* XX YY ZZ VX VY VZ phi, pid, mask: 38 bytes. */
static const int hacc_widths[] = {4, 4, 4, 4, 4, 4, 4, 8, 2};
/* Positions in single precision, and 7 or 4 variables in double. */
static const int boiler_widths[] = {4, 4, 4, 8, 8, 8, 8, 8, 8, 8};
static const int dam_widths[] = {4, 4, 4, 8, 8, 8, 8};
/* The same with 14, as in the uniform test of paper 002. */
static const int cloud_widths[] = {4, 4, 4, 8, 8, 8, 8, 8, 8,
                                   8, 8, 8, 8, 8, 8, 8, 8};

#define COUNT_OF(list) ((int)(sizeof(list) / sizeof((list)[0])))
#define HACC_BYTES     ((uint64_t)25000 * 38)

const struct load loads[] = {
    {.name = "uniform",
     .help = "all ranks the same, as IOR",
     .bytes = 1 << 20,
     .variables = 1,
     .axes = 3,
     .amount = even},
    {.name = "random",
     .help = "from none to --bytes, all equally likely",
     .bytes = 100000,
     .variables = 1,
     .axes = 3,
     .amount = random_amount},
    {.name = "normal",
     .help = "the same, by a normal distribution around the half",
     .bytes = 100000,
     .variables = 1,
     .axes = 3,
     .amount = normal_amount},
    {.name = "hacc",
     .help = "25,000 particles a rank of 38 bytes, as HACC-IO",
     .bytes = HACC_BYTES,
     .variables = COUNT_OF(hacc_widths),
     .widths = hacc_widths,
     .axes = 3,
     .amount = even},
    {.name = "hacc-random",
     .help = "none to 25,000 of them, as 'random'",
     .bytes = HACC_BYTES,
     .variables = COUNT_OF(hacc_widths),
     .widths = hacc_widths,
     .axes = 3,
     .amount = random_amount},
    {.name = "hacc-normal",
     .help = "none to 25,000 of them, as 'normal'",
     .bytes = HACC_BYTES,
     .variables = COUNT_OF(hacc_widths),
     .widths = hacc_widths,
     .axes = 3,
     .amount = normal_amount},
    {.name = "s3d",
     .help = "compressed fields of a flame: 16 variables, 9.5 MiB a rank",
     .bytes = 9961472,
     .variables = 16,
     .axes = 3,
     .of_variable = s3d},
    {.name = "cloud",
     .help = "32,768 particles a rank of 124 bytes, all ranks the same",
     .bytes = (uint64_t)32768 * 124,
     .variables = COUNT_OF(cloud_widths),
     .widths = cloud_widths,
     .axes = 3,
     .amount = even},
    {.name = "boiler",
     .help = "coal in a boiler, a series: 27,018 particles a rank at its end",
     .bytes = (uint64_t)27018 * 68,
     .variables = COUNT_OF(boiler_widths),
     .widths = boiler_widths,
     .axes = 3,
     .series = true,
     .amount = boiler},
    {.name = "dam",
     .help = "water behind a dam that breaks, a series: 1,302 particles a rank",
     .bytes = (uint64_t)1302 * 44,
     .variables = COUNT_OF(dam_widths),
     .widths = dam_widths,
     .axes = 2,
     .series = true,
     .amount = dam},
    {.name = "sizes",
     .help = "the sizes of a dataset: see --sizes",
     .axes = 3,
     .of_variable = of_size_grid},
    {0}};

const struct load *load_find(const char *name)
{
    for (const struct load *load = loads; load->name; load++)
        if (!strcmp(load->name, name))
            return load;
    return NULL;
}

uint64_t load_bytes(const struct load_request *r, int64_t rank, int variable)
{
    const struct load *load = r->load;
    uint64_t all, variables = (uint64_t)r->variables;

    if (load->of_variable)
        return (uint64_t)(load->of_variable(r, rank, variable) + 0.5);
    all = (uint64_t)(load->amount(r, rank) + 0.5);
    return load->widths
               ? all * (uint64_t)load->widths[variable]
               : all / variables + ((uint64_t)variable < all % variables);
}
