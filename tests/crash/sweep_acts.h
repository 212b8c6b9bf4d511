/* sweep_acts.h -- what a program does with the library, in acts. A sweep runs
 * an act with a fault at every call in turn, then once more without: the same
 * handle must do it.
 *
 * The acts are the same with and without MPI; struct sweep_team says how. */
#ifndef SWEEP_ACTS_H
#define SWEEP_ACTS_H

#include "bouma.h"
#include "fault_alloc.h"
#include "fault_io.h"
#include "scenario.h"
#include "sweep_particles.h"

struct sweep_team {
    int rank, ranks;
    int (*create)(bouma_dataset **out, const char *path,
                  const bouma_options *opts);
    int (*append)(bouma_dataset **out, const char *path,
                  const bouma_options *opts);
    int (*open)(bouma_dataset **out, const char *path,
                const bouma_options *opts);
    int (*verify)(const char *path, const bouma_options *opts,
                  bouma_verify_report *report, char *message, size_t bytes);
    int (*drain)(bouma_drain_report *out, const char *local, const char *path,
                 int remove, const bouma_options *opts, char *message,
                 size_t bytes);
    /* The lowest status of all ranks, and the highest. */
    void (*compare)(int status, int *lowest, int *highest);
    int (*sum)(int mine); /* of all ranks */
};

struct sweep_act;

/* One run of an act: its options, its files, and how far it got. */
struct sweep_run {
    const struct sweep_act *act;
    const struct sweep_team *team;
    struct fault_io io;
    struct fault_alloc memory;
    bouma_options opts;

    char path[256], local[256];
    char local_copy[512]; /* that is drained */
    bouma_dataset *ds;
    int is_open, is_closed;
    struct scenario_writer writer;
    struct sweep_particles_writer particles;
    int written[4]; /* by step: this act has written it */

    int moved;           /* the dataset got another path */
    int calm;            /* 1: no fault is to come, nothing may fail */
    const char *context; /* what this run is, for messages */
    long violations;
};

struct sweep_act {
    const char *name;
    /* Make what the act needs to be there; NULL: nothing. */
    void (*prepare)(struct sweep_run *run);
    /* BOUMA_OK, or what failed first; one same status on all ranks. */
    int (*play)(struct sweep_run *run);
    int steps;      /* that must be there in the end: 0 to steps - 1 */
    int old_steps;  /* that must be there whatever fails */
    int reads_only; /* the dataset can be used for the next run again */
    int repairs;    /* not for MPI */
    int particles;  /* that is what steps have, instead of a grid */
    int persists;   /* with a local copy, see sweep_node() */
};

extern const struct sweep_act sweep_acts[];
extern const int sweep_act_count;

/* Whether 'which' names the act number 'i': NULL means all of them, "2/5" every
 * fifth, from the second on, and anything else is a name. */
int sweep_act_chosen(int i, const char *which);

/* The directory of a rank's node, where local copies are. */
void sweep_node(char *out, size_t bytes, const char *path, int rank);

/* Begin a run of 'act' on the dataset 'path' of 'disk'. */
void sweep_run_init(struct sweep_run *run, const struct sweep_act *act,
                    const struct sweep_team *team, const bouma_io *disk,
                    const char *path);

/* Play the act under a fault that the caller has armed and, after 'disarm',
 * once more; free everything, look for leaks and read what must be there.
 * Returns whether the fault was reached on this rank. */
int sweep_run_act(struct sweep_run *run);

/* Count a promise that was broken, and say so. */
void sweep_violation(struct sweep_run *run, const char *format, ...);

#endif
