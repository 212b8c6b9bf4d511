/* life.h -- for tests in which something fails underneath: the life of a
 * dataset on several ranks, from its creation to the reading of what was
 * written, act by act. Each act is one collective call, with what leads up to
 * it. */
#ifndef LIFE_H
#define LIFE_H

#include "blocks.h"

#define LIFE_LIST(X)                                                           \
    X(CREATE, "create")                                                        \
    X(FIRST_STEP, "first step")                                                \
    X(SECOND_STEP, "second step")                                              \
    X(CLOSE, "close")                                                          \
    X(OPEN, "open")                                                            \
    X(OPEN_STEP, "open a step")                                                \
    X(READ, "read a grid")                                                     \
    X(RESTART, "read particles")

enum life_act {
#define LIFE_ENTRY(name, text) LIFE_##name,
    LIFE_LIST(LIFE_ENTRY)
#undef LIFE_ENTRY
        LIFE_ACTS
};
extern const char *const life_names[];

struct life {
    const struct ranks *ranks;
    MPI_Comm comm; /* of its own: what fails on it does not touch others */
    char path[512];
    bouma_options options; /* may be changed before a handle is opened */
    bouma_codec codec;     /* of the grid; 0: the usual one */
    double relative;       /* its tolerance; 0: none */
    int fails;             /* this rank takes its steps back */
    int parts; /* 1: the grid is in HZ order, in two partitions; the last of two
                  ranks or three has one of them for itself */
    bouma_dataset *ds;
    bouma_grid *grid;
    bouma_variable *density;
    bouma_particles *dust;
    bouma_variable *mass;
    bouma_step *step;
    float *samples; /* of this rank, then of all */
    float *positions, *masses;
    int wrong; /* values that were read, with status OK, and are not right */
};

/* A dataset of its own for each 'number'. */
void life_init(struct life *l, const struct ranks *r, int number);
/* Its status. An act that cannot be, since an earlier one failed on this rank,
 * is ECOMM. */
int life_act(struct life *l, enum life_act act);
const char *life_message(const struct life *l);
/* Free what is there, whatever has failed, and remove the dataset. Collective
 * over all ranks, by calls of MPI that belong to the test. 'lost' says that MPI
 * may still use the arrays. */
void life_end(struct life *l, int lost);

#endif
