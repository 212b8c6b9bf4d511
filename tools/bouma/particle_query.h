/* particle_query.h -- which particles of a set are asked for: --quality,
 * --from, --box, --where, --sample, --limit and --max-bytes, as a query of the
 * library. */
#ifndef PARTICLE_QUERY_H
#define PARTICLE_QUERY_H

#include "arguments.h"
#include "budget_arguments.h"

struct particle_query {
    bouma_dataset *ds;
    bouma_particles *particles;
    bouma_particles_info about;
    bouma_particles_query query;
    bouma_bounds box; /* of the query, if it has one */
    bool never;       /* no particle can match, such as in an empty box */
    bool sampled;     /* --sample was given */
    uint64_t sample, seed;
    struct budget_arguments within;
    bouma_answer answer;        /* with a budget: what came, */
    bouma_particle_data *data;  /* and that, on process 0 */
    bouma_variable **variables; /* that are handed over */
    bouma_variable_info *infos; /* of these */
    size_t count;
};

/* Read the options for a set of the dataset. The caller ends *out with
 * particle_query_release(), after a failure too. */
int particle_query_read(struct particle_query *out, struct context *ctx,
                        const struct arguments *args, bouma_dataset *ds,
                        bouma_particles *particles);
void particle_query_release(struct particle_query *query);

/* Hand over all variables that the step has, or those of "a,b". */
int particle_query_all(struct particle_query *query, struct context *ctx);
int particle_query_these(struct particle_query *query, struct context *ctx,
                         const char *names);
/* One more. */
int particle_query_add(struct particle_query *query, struct context *ctx,
                       bouma_variable *variable);

/* With a budget, read what it allows; the query's quality is then that of what
 * came. Process 0 reads alone, and all learn how far. Without a budget, nothing
 * is done. Collective. */
int particle_query_read_within(struct particle_query *query,
                               struct context *ctx);

/* Give each batch to 'each', which returns an outcome and keeps its message.
 * Only this process. */
int particle_query_run(const struct particle_query *query, struct context *ctx,
                       int (*each)(void *user, const bouma_batch *batch),
                       void *user);

#endif
