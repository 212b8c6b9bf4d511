/* plan_report.c -- see plan_report.h. */
#include "plan_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "format_text.h"

double plan_report_balance(const bouma_plan_report *report)
{
    return (double)report->largest_file * (double)report->files /
           (double)report->stored_bytes;
}

bool plan_report_is_fitted(const bouma_plan_report *report)
{
    return !report->particles && memcmp(report->patch, report->usual_patch,
                                        sizeof(report->patch)) != 0;
}

static double mean_of(int64_t sum, int64_t count)
{
    return (double)sum / (double)count;
}

/* The HZ order, and how ranks share its files. */
static void put_order(json_t *object, const bouma_plan_report *report)
{
    json_t *of_file = json_object(), *of_rank = json_object();

    json_put(object, "hz_template", json_text(report->hz_template));
    json_put(object, "hz_conforms", json_boolean(report->hz_conforms));
    json_put(object, "hz_block_bits", json_integer(report->hz_block_bits));
    json_put(object, "hz_blocks_per_file",
             json_integer(report->hz_blocks_per_file));
    json_put(object, "hz_order",
             json_text(bouma_hz_order_name(report->hz_order)));
    json_put(of_file, "min", json_integer(report->fewest_holders));
    json_put(of_file, "mean",
             json_number(mean_of(report->held_files, report->files)));
    json_put(of_file, "max", json_integer(report->most_holders));
    json_put(object, "ranks_per_file", of_file);
    json_put(of_rank, "min", json_integer(report->fewest_held));
    json_put(of_rank, "mean",
             json_number(mean_of(report->held_files, report->ranks)));
    json_put(of_rank, "max", json_integer(report->most_held));
    json_put(object, "files_per_rank", of_rank);
}

/* What ranks hold, and what is moved to assemble it. */
static void put_patches(json_t *object, const bouma_plan_report *report)
{
    json_t *a_rank = json_object();

    json_put(object, "patches", json_integer(report->patches));
    json_put(object, "shared_patches", json_integer(report->shared_patches));
    json_put(a_rank, "min", json_integer(report->fewest_patches));
    json_put(a_rank, "mean",
             json_number((double)report->patches / (double)report->ranks));
    json_put(a_rank, "max", json_integer(report->most_patches));
    json_put(object, "patches_per_rank", a_rank);
}

static void put_particles(json_t *object, const bouma_plan_report *report)
{
    json_t *a_rank = json_object();

    json_put(object, "particles", json_count(report->particles));
    json_put(a_rank, "min", json_count(report->fewest_particles));
    json_put(a_rank, "mean",
             json_number((double)report->particles / (double)report->ranks));
    json_put(a_rank, "max", json_count(report->most_particles));
    json_put(object, "particles_per_rank", a_rank);
}

/* Sizes of files, and what it took to plan them. */
static void put_files(json_t *object, const bouma_plan_report *report)
{
    json_put(object, "shipped_bytes", json_count(report->shipped_bytes));
    json_put(object, "shipped_messages",
             json_integer(report->shipped_messages));
    if (report->machine) {
        json_put(object, "byte_hops", json_number(report->byte_hops));
        json_put(object, "nodes", json_integer(report->nodes));
        json_put(object, "moved_between_nodes",
                 json_count(report->moved_between));
        json_put(object, "shipped_between_nodes",
                 json_count(report->shipped_between));
    }
    json_put(object, "rounds", json_integer(report->rounds));
    json_put(object, "writers", json_integer(report->writers));
    json_put(object, "files", json_integer(report->files));
    json_put(object, "smallest_file", json_count(report->smallest_file));
    json_put(object, "mean_file", json_count(report->mean_file));
    json_put(object, "largest_file", json_count(report->largest_file));
    json_put(object, "balance", json_number(plan_report_balance(report)));
    json_put(object, "memory_bytes", json_count(report->memory_bytes));
    json_put(object, "seconds", json_number(report->seconds));
}

static void put_set(json_t *object, const bouma_plan_report *report,
                    const bouma_plan_spec *spec)
{
    json_put(object, "assign", json_text(bouma_assign_name(report->assign)));
    json_put(object, "place", json_text(bouma_place_name(report->place)));
    json_put(object, "ranks", json_integer(report->ranks));
    json_put(object, "blocks", json_integers(report->blocks, spec->ndims));
    put_particles(object, report);
    json_put(object, "raw_bytes", json_count(report->raw_bytes));
    json_put(object, "stored_bytes", json_count(report->stored_bytes));
    put_files(object, report);
}

void plan_report_put(json_t *object, const bouma_plan_report *report,
                     const bouma_plan_spec *spec)
{
    bool hz = report->layout == BOUMA_LAYOUT_HZ;

    if (report->particles) {
        put_set(object, report, spec);
        return;
    }
    json_put(object, "layout", json_text(bouma_layout_name(report->layout)));
    json_put(object, "distribute",
             json_text(bouma_distribute_name(report->distribute)));
    json_put(object, "assign",
             hz ? json_null() : json_text(bouma_assign_name(report->assign)));
    json_put(object, "place", json_text(bouma_place_name(report->place)));
    json_put(object, "ranks", json_integer(report->ranks));
    json_put(object, "shape", json_integers(spec->shape, spec->ndims));
    json_put(object, "blocks", json_integers(report->blocks, spec->ndims));
    json_put(object, "patch", json_integers(report->patch, spec->ndims));
    if (hz)
        put_order(object, report);
    else
        json_put(object, "patch_grid",
                 json_integers(report->grid, spec->ndims));
    put_patches(object, report);
    json_put(object, "raw_bytes", json_count(report->raw_bytes));
    json_put(object, "stored_bytes", json_count(report->stored_bytes));
    json_put(object, "moved_bytes", json_count(report->moved_bytes));
    json_put(object, "moved_messages", json_integer(report->moved_messages));
    put_files(object, report);
}

void plan_report_put_usual(json_t *object, const bouma_plan_report *usual,
                           const bouma_plan_spec *spec)
{
    json_t *own = json_object();

    json_put(own, "patch", json_integers(usual->patch, spec->ndims));
    put_patches(own, usual);
    json_put(own, "moved_bytes", json_count(usual->moved_bytes));
    json_put(object, "usual", own);
}

/* What the grid is cut into: blocks of an order, or patches. */
static void print_order(const bouma_plan_report *report)
{
    printf("order    %s; it %s to the ranks\n",
           *report->hz_template ? report->hz_template : "one sample",
           report->hz_conforms ? "conforms" : "does not conform");
    printf("blocks   %" PRId64 " of 2^%d samples, %d in a file; ",
           report->patches, report->hz_block_bits, report->hz_blocks_per_file);
    printf("%" PRId64 " shared by ranks\n", report->shared_patches);
    printf("sharing  a file has samples of %d to %d ranks, mean %.4g; a rank "
           "has some in\n",
           report->fewest_holders, report->most_holders,
           mean_of(report->held_files, report->files));
    printf("         %" PRId64 " to %" PRId64 " files, mean %.4g\n",
           report->fewest_held, report->most_held,
           mean_of(report->held_files, report->ranks));
}

static void print_patches(const bouma_plan_report *report, int n)
{
    char one[FORMAT_BYTES], two[FORMAT_BYTES];

    printf("patches  %" PRId64 " of %s, in %s; ", report->patches,
           format_shape(one, n, report->patch),
           format_shape(two, n, report->grid));
    printf("%" PRId64 " shared by ranks\n", report->shared_patches);
}

/* What the usual patches would do. */
static void print_usual(const bouma_plan_report *usual, int n)
{
    char one[FORMAT_BYTES], two[FORMAT_BYTES];

    printf("         fitted to the blocks; of %s, a rank would get %" PRId64
           " to %" PRId64 ",\n         and %s would be moved\n",
           format_shape(one, n, usual->patch), usual->fewest_patches,
           usual->most_patches, format_bytes(two, usual->moved_bytes));
}

/* What a grid is cut into, and who puts it together. */
static void print_grid(const bouma_plan_report *report,
                       const bouma_plan_report *usual,
                       const bouma_plan_spec *spec)
{
    char one[FORMAT_BYTES], two[FORMAT_BYTES], three[FORMAT_BYTES];
    bool hz = report->layout == BOUMA_LAYOUT_HZ;
    const char *chunks = hz ? "blocks" : "patches";

    printf("grid     %s samples, %s raw, %s stored\n",
           format_shape(one, spec->ndims, spec->shape),
           format_bytes(two, report->raw_bytes),
           format_bytes(three, report->stored_bytes));
    if (hz)
        print_order(report);
    else
        print_patches(report, spec->ndims);
    if (usual)
        print_usual(usual, spec->ndims);
    printf("a rank   %" PRId64 " to %" PRId64 " %s, mean %.4g; "
           "distribute=%s\n",
           report->fewest_patches, report->most_patches, chunks,
           (double)report->patches / (double)report->ranks,
           bouma_distribute_name(report->distribute));
    printf("moved    %s, to put %s together, in %s\n",
           format_bytes(one, report->moved_bytes), chunks,
           format_count(two, (uint64_t)report->moved_messages, "message"));
}

static void print_particles(const bouma_plan_report *report)
{
    char one[FORMAT_BYTES], two[FORMAT_BYTES], three[FORMAT_BYTES];

    printf("set      %s, %s raw, %s stored\n",
           format_count(one, report->particles, "particle"),
           format_bytes(two, report->raw_bytes),
           format_bytes(three, report->stored_bytes));
    printf("a rank   %" PRIu64 " to %" PRIu64 " particles, mean %.4g\n",
           report->fewest_particles, report->most_particles,
           (double)report->particles / (double)report->ranks);
}

void plan_report_print(const bouma_plan_report *report,
                       const bouma_plan_report *usual,
                       const bouma_plan_spec *spec)
{
    char one[FORMAT_BYTES], two[FORMAT_BYTES], three[FORMAT_BYTES];
    bool hz = report->layout == BOUMA_LAYOUT_HZ;

    printf("ranks    %" PRId64 ", in %s blocks\n", report->ranks,
           format_shape(one, spec->ndims, report->blocks));
    if (report->particles)
        print_particles(report);
    else
        print_grid(report, usual, spec);
    printf("shipped  %s, to the writers of files, in %s and %s\n",
           format_bytes(one, report->shipped_bytes),
           format_count(two, (uint64_t)report->shipped_messages, "message"),
           format_count(three, (uint64_t)report->rounds, "round"));
    if (report->machine)
        printf("nodes    %" PRId64 "; between them %s moved, %s shipped\n",
               report->nodes, format_bytes(one, report->moved_between),
               format_bytes(two, report->shipped_between));
    if (report->machine)
        printf(
            "links    %.4g that a shipped byte goes over; %s over one link\n",
            report->shipped_bytes
                ? report->byte_hops / (double)report->shipped_bytes
                : 0,
            format_bytes(one, (uint64_t)report->byte_hops));
    printf("files    %" PRId64 ", written by %s; %s%s%splace=%s\n",
           report->files, format_count(one, (uint64_t)report->writers, "rank"),
           hz ? "" : "assign=", hz ? "" : bouma_assign_name(report->assign),
           hz ? "" : " ", bouma_place_name(report->place));
    printf("sizes    %s to %s, mean %s; largest over mean %.3f\n",
           format_bytes(one, report->smallest_file),
           format_bytes(two, report->largest_file),
           format_bytes(three, report->mean_file), plan_report_balance(report));
    printf("planned  in %s, with %s of memory\n",
           format_seconds(one, report->seconds),
           format_bytes(two, report->memory_bytes));
}
