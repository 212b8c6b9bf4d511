/* sweep.c -- every allocation and every call of the store fails once, and from
 * then on, in a program without MPI.
 *
 *     sweep [STRIDE [ACT]]   as sweep_mpi */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sized.h"
#include "sweep_acts.h"

static int verify(const char *path, const bouma_options *opts,
                  bouma_verify_report *report, char *message, size_t bytes)
{
    return bouma_verify(SIZED(report), path, BOUMA_DEPTH_DEEP, opts, NULL, NULL,
                        message, bytes);
}

static void compare_alone(int status, int *lowest, int *highest)
{
    *lowest = *highest = status;
}

static int sum_alone(int mine)
{
    return mine;
}

static const struct sweep_team alone = {0,
                                        1,
                                        bouma_dataset_create,
                                        bouma_dataset_append,
                                        bouma_dataset_open,
                                        verify,
                                        bouma_drain,
                                        compare_alone,
                                        sum_alone};

struct totals {
    long points, violations;
};

/* Run 'act' with a fault in call 'at' of the store, or, where 'fault' is NULL,
 * of the allocator. Returns whether it came that far. */
static int try_point(struct totals *totals, const struct sweep_act *act,
                     const struct fault *fault, long at, int sticky)
{
    bouma_io *disk = bouma_io_memory_new();
    struct sweep_run run;
    char context[128];
    int reached;

    if (!disk)
        exit(2);
    snprintf(context, sizeof(context), "%s, %s %ld%s", act->name,
             fault ? fault->name : "allocation", at,
             sticky ? " from then on" : "");
    sweep_run_init(&run, act, &alone, disk, "d.bouma");
    run.context = context;
    if (act->prepare)
        act->prepare(&run);
    if (fault)
        fault_io_arm(&run.io, fault, at, sticky);
    else
        fault_alloc_arm(&run.memory, at, sticky);
    reached = sweep_run_act(&run);
    totals->points += reached;
    totals->violations += run.violations;
    bouma_io_memory_free(disk);
    return reached;
}

/* All indices, until a run ends before the fault; of particles and local copies,
 * which take longer, every 'stride'-th, and with large strides not all of the
 * others. */
static long sweep(struct totals *totals, const struct sweep_act *act,
                  const struct fault *fault, long stride)
{
    long at = 0;
    long step = act->particles || act->persists ? stride : 1 + stride / 32;

    for (int sticky = 0; sticky < 2; sticky++) {
        at = 1 + (step > 1 && sticky);
        while (try_point(totals, act, fault, at, sticky))
            at += step;
    }
    return at - step;
}

/* sweep [STRIDE [ACT]]: of particles and local copies, which take longer, every
 * STRIDE-th call; 4 if nothing is said. Only one act. */
int main(int argc, char **argv)
{
    long violations = 0, chosen = 0, stride = argc > 1 ? atol(argv[1]) : 4;

    if (stride < 1)
        return 2;

    for (int i = 0; i < sweep_act_count; i++) {
        const struct sweep_act *act = &sweep_acts[i];
        struct totals totals = {0, 0};
        long allocations, calls = 0;

        if (!sweep_act_chosen(i, argc > 2 ? argv[2] : NULL))
            continue;
        chosen++;
        allocations = sweep(&totals, act, NULL, stride);
        for (int k = 0; k < fault_count; k++) {
            enum fault_effect effect = fault_list[k].effect;

            /* A repair must believe what it reads. Which errno it is makes a
             * difference to the store only, and grids have tried them all. */
            if ((!act->repairs ||
                 (effect != FAULT_FLIP && effect != FAULT_NOTHING)) &&
                (!act->particles || !k || effect != fault_list[k - 1].effect))
                calls = sweep(&totals, act, &fault_list[k], stride);
        }
        printf("%-10s allocations=%ld calls=%ld points=%ld violations=%ld\n",
               act->name, allocations, calls, totals.points, totals.violations);
        fflush(stdout);
        violations += totals.violations;
    }
    return violations || !chosen ? EXIT_FAILURE : EXIT_SUCCESS;
}
