/* info.h -- the two faces of `bouma info`: for people, and JSON. */
#ifndef INFO_H
#define INFO_H

#include "context.h"

/* An open dataset and the steps that are wanted. */
struct info {
    const char *path;
    bouma_dataset *ds;
    bool one_step;       /* --step was given */
    int64_t first, last; /* first <= i < last: number in the list of steps */
    bool tree;           /* --tree was given */
    bool all;            /* --all was given: nothing is left out */
    int *status;         /* of the last step that could not be opened */
};

/* What is wrong with it, in a word. */
const char *info_trouble(const struct info *info);

/* Tell each step that is lost, or a part of it. */
int info_losses(const struct info *info, struct context *ctx,
                void (*each)(void *user, const bouma_loss *loss), void *user);

int info_print_text(const struct info *info, struct context *ctx);
int info_print_json(const struct info *info, struct context *ctx);

/* Open the i-th step of the list, and tell how it lies on disk. */
int info_open_step(const struct info *info, struct context *ctx, int64_t i,
                   bouma_step **out, bouma_step_details *details);

/* Which grids of a step are in HZ order: what they are cut into, and whether
 * `assign` has had an effect, depends on it. */
enum info_order { NO_HZ, SOME_HZ, ALL_HZ };
enum info_order info_order_of(bouma_step *step);

/* The variables of a grid or of a set of particles. */
struct info_variables {
    bouma_variable *(*at)(void *of, int i);
    void *of;
    int count, levels;
    int hidden; /* further ones, which are not shown */
    bool hz;    /* in HZ order: coarse levels are samples with every codec, and
                the bytes of a level are not on record */
};
int info_print_variables(const struct info_variables *variables,
                         struct context *ctx);
/* There are 'count' of them; unless --all was given, the first few are shown.
 */
void info_variables_limit(struct info_variables *variables,
                          const struct info *info, int count);

int info_print_particles(const struct info *info, struct context *ctx,
                         const bouma_step *step, bouma_particles *particles);

/* How the files of a set are filled. */
struct info_files {
    uint64_t largest, total; /* bytes */
    uint64_t fewest, most;   /* particles in one */
    uint64_t tree_bytes;     /* of the trees in them */
    int depth;               /* of the tree over them; 0: there is none,
                                or a single leaf */
};
struct info_files info_files_of(const bouma_step *step,
                                const bouma_particles *particles);

#endif
