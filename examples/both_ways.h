/* both_ways.h -- common parts of hacc_io.c and s3d_io.c: open and close files,
 * report errors, and compare the results of MPI-IO and bouma.
 * A program defines PROGRAM, its name, and then includes this. */
#ifndef BOTH_WAYS_H
#define BOTH_WAYS_H

#include <bouma_mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_BYTES = 4096 };

/* ---- errors ------------------------------------------------------------- */

static void fail(const char *what)
{
    fprintf(stderr, "%s: %s\n", PROGRAM, what);
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

static void check(int rc, const bouma_file *file)
{
    if (rc)
        fail(bouma_file_message(file));
}

/* Files, unlike communicators, return their errors. */
static void check_mpi(int rc, const char *what)
{
    if (rc != MPI_SUCCESS)
        fail(what);
}

/* ---- files of bouma ----------------------------------------------------- */

static bouma_file *open_bouma(const char *path, bouma_file_mode mode,
                              const bouma_options *options)
{
    bouma_file *file = NULL;
    int rc = bouma_file_open_mpi(&file, MPI_COMM_WORLD, path, mode, options);

    check(rc, file);
    return file;
}

/* The ranks that share a file with this one, its group and its place there. */
static MPI_Comm ranks_of_file(bouma_file *file, int *group, int *rank)
{
    MPI_Comm comm;

    check(bouma_file_group(file, group, rank, NULL), file);
    MPI_Comm_split(MPI_COMM_WORLD, *group, *rank, &comm);
    return comm;
}

/* The file of a group of ranks, if it was opened as 'path'. */
static void path_of_group(char out[PATH_BYTES], const char *path, int group,
                          const bouma_options *options)
{
    if (options->files > 1)
        snprintf(out, PATH_BYTES, "%s.%04d", path, group);
    else
        snprintf(out, PATH_BYTES, "%s", path);
}

static void close_bouma(bouma_file *file)
{
    check(bouma_file_close(file), file);
    bouma_file_free(file);
}

/* ---- both, compared ----------------------------------------------------- */

static int same_files(const char *left, const char *right, uint64_t bytes)
{
    static char a[65536], b[sizeof(a)];
    FILE *f = fopen(left, "rb"), *g = fopen(right, "rb");
    uint64_t total = 0;
    size_t n = 0;
    int same = f && g;

    while (same && (n = fread(a, 1, sizeof(a), f)) > 0) {
        same = fread(b, 1, n, g) == n && !memcmp(a, b, n);
        total += n;
    }
    same = same && fgetc(g) == EOF && total == bytes;
    if (f)
        fclose(f);
    if (g)
        fclose(g);
    return same;
}

static int all_are(int so)
{
    int all;

    MPI_Allreduce(&so, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return all;
}

static void tell(const char *name, const bouma_file_report *report, int same)
{
    int rank;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        printf("%s: %llu bytes, by %lld rank(s) in at most %lld round(s): %s\n",
               name, (unsigned long long)report->bytes,
               (long long)report->writers, (long long)report->rounds,
               same ? "the same as by MPI-IO" : "NOT the same as by MPI-IO");
}

/* Both files of the ranks of 'comm', when all have done with them. */
static void remove_both(MPI_Comm comm, const char *left, const char *right)
{
    int rank;

    MPI_Comm_rank(comm, &rank);
    MPI_Barrier(comm);
    if (rank == 0) {
        unlink(left);
        unlink(right);
    }
}

#endif
