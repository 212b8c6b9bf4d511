/* sweep_mpi.c -- every allocation and every call of the store fails on one rank
 * or on all, once or from then on: all ranks must return the same status, none
 * may wait for ever.
 *
 *     mpirun -n N sweep_mpi [STRIDE [ACT]]
 *         only every STRIDE-th call; only one act, by name, or a part of them,
 *         such as 2/5
 *
 * Files are in a directory made under $TMPDIR (or /dev/shm: a sync costs
 * nothing there). */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bouma_mpi.h"
#include "files.h"
#include "sized.h"
#include "sweep_acts.h"

#define PARTICLE_STRIDES 9    /* they have more calls, and take longer */
#define PATIENCE_SECONDS 1500 /* for hangs: one run takes milliseconds */

static char context[192]; /* the run at work, also for the signal handler */

/* ---- the team ----------------------------------------------------------- */

static int create(bouma_dataset **out, const char *path,
                  const bouma_options *opts)
{
    return bouma_dataset_create_mpi(out, MPI_COMM_WORLD, path, opts);
}

static int append(bouma_dataset **out, const char *path,
                  const bouma_options *opts)
{
    return bouma_dataset_append_mpi(out, MPI_COMM_WORLD, path, opts);
}

static int open_together(bouma_dataset **out, const char *path,
                         const bouma_options *opts)
{
    return bouma_dataset_open_mpi(out, MPI_COMM_WORLD, path, opts);
}

static int verify(const char *path, const bouma_options *opts,
                  bouma_verify_report *report, char *message, size_t bytes)
{
    return bouma_verify_mpi(SIZED(report), MPI_COMM_WORLD, path,
                            BOUMA_DEPTH_DEEP, opts, NULL, NULL, message, bytes);
}

static int drain(bouma_drain_report *report, const char *local,
                 const char *path, int remove, const bouma_options *opts,
                 char *message, size_t bytes)
{
    return bouma_drain_mpi(SIZED(report), MPI_COMM_WORLD, local, path, remove,
                           opts, message, bytes);
}

static void compare(int status, int *lowest, int *highest)
{
    int mine[2] = {status, -status}, all[2];

    MPI_Allreduce(mine, all, 2, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    *lowest = all[0];
    *highest = -all[1];
}

static int sum(int mine)
{
    int all;

    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

static int any(int mine)
{
    int lowest, highest;

    compare(mine, &lowest, &highest);
    return highest;
}

/* ---- files -------------------------------------------------------------- */

/* An empty directory, the same for all ranks. */
static void make_directory(char *path, size_t bytes, int rank)
{
    if (rank == 0) {
        const char *parent = getenv("TMPDIR");

        snprintf(path, bytes, "%s/bouma-sweep-XXXXXX",
                 parent ? parent : "/dev/shm");
        if (!mkdtemp(path))
            path[0] = 0;
    }
    MPI_Bcast(path, (int)bytes, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (!path[0]) {
        fputs("sweep_mpi: no directory to work in\n", stderr);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
}

/* ---- the sweep ---------------------------------------------------------- */

/* Say where we hang, which mpirun's own time limit would not. */
static void give_up(int signal_number)
{
    static const char text[] = "HANG in: ";

    (void)signal_number;
    if (write(2, text, sizeof(text) - 1) < 0 ||
        write(2, context, strlen(context)) < 0 || write(2, "\n", 1) < 0)
        _exit(4);
    _exit(3);
}

enum where { ON_FIRST_RANK, ON_LAST_RANK, ON_ALL_RANKS, WHERE_COUNT };
static const char *const where_names[] = {"rank 0", "last rank", "all ranks"};

struct sweep {
    struct sweep_team team;
    const struct sweep_act *act;
    char directory[128];
    int ready; /* the dataset of an act that only reads is there */
    long stride, points, violations;
};

/* As in sweep.c; the fault is on the ranks of 'where'. */
static int try_point(struct sweep *s, enum where where,
                     const struct fault *fault, long at, int sticky)
{
    int rank = s->team.rank;
    int here = where == ON_ALL_RANKS ||
               rank == (where == ON_FIRST_RANK ? 0 : s->team.ranks - 1);
    struct sweep_run run;
    char path[160];
    int reached;

    snprintf(context, sizeof(context), "%s, %s, %s %ld%s", s->act->name,
             where_names[where], fault ? fault->name : "allocation", at,
             sticky ? " from then on" : "");
    alarm(PATIENCE_SECONDS);
    snprintf(path, sizeof(path), "%s/d.bouma", s->directory);
    sweep_run_init(&run, s->act, &s->team, bouma_io_posix(), path);
    run.context = context;
    if (s->act->prepare && !s->ready) {
        s->act->prepare(&run);
        s->ready = s->act->reads_only;
    }
    if (here && fault)
        fault_io_arm(&run.io, fault, at, sticky);
    else if (here)
        fault_alloc_arm(&run.memory, at, sticky);
    reached = any(sweep_run_act(&run));
    if (rank == 0 && !s->ready) {
        for (int k = 0; k < s->team.ranks && s->act->persists; k++) {
            char node[512];

            sweep_node(node, sizeof(node), path, k);
            remove_tree(node);
        }
        remove_tree(path);
        strcat(path, "2"); /* see clear_the_way() in sweep_acts.c */
        remove_tree(path);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    s->points += reached;
    s->violations += any(run.violations > 0);
    return reached;
}

static void sweep(struct sweep *s, const struct fault *fault)
{
    for (int i = 0; i < 2 * WHERE_COUNT; i++) {
        long at = 1;

        while (try_point(s, i / 2, fault, at, i % 2))
            at += s->act->particles || s->act->persists
                      ? PARTICLE_STRIDES * s->stride
                      : s->stride;
    }
}

int main(int argc, char **argv)
{
    /* Each kind of fault has its own path through the library; the many errno
     * values do not, and sweep.c has them all. */
    static const char *const faults[] = {"EIO", "ENOSPC",
                                         "EIO after the effect",
                                         "half of the bytes", "a flipped bit"};
    struct sweep s = {.team = {0, 1, create, append, open_together, verify,
                               drain, compare, sum}};
    long violations = 0, chosen = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &s.team.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &s.team.ranks);
    signal(SIGALRM, give_up);
    s.stride = argc > 1 ? atol(argv[1]) : 1;
    make_directory(s.directory, sizeof(s.directory), s.team.rank);

    for (int i = 0; i < sweep_act_count; i++) {
        s.act = &sweep_acts[i];
        if (!sweep_act_chosen(i, argc > 2 ? argv[2] : NULL))
            continue;
        chosen++;
        if (s.act->repairs)
            continue;
        s.points = s.violations = s.ready = 0;
        sweep(&s, NULL);
        for (int k = 0; k < fault_count; k++)
            for (size_t j = 0; j < sizeof(faults) / sizeof(faults[0]); j++)
                if (!strcmp(fault_list[k].name, faults[j]))
                    sweep(&s, &fault_list[k]);
        if (s.team.rank == 0) {
            printf("%-10s ranks=%d points=%ld violations=%ld\n", s.act->name,
                   s.team.ranks, s.points, s.violations);
            fflush(stdout);
            remove_tree(s.directory);
            mkdir(s.directory, 0700);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        violations += s.violations;
    }
    if (s.team.rank == 0)
        remove_tree(s.directory);
    MPI_Finalize();
    return violations || !chosen ? EXIT_FAILURE : EXIT_SUCCESS;
}
