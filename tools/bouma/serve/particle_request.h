/* particle_request.h -- which particles of a set a request asks for, and in
 * which columns. */
#ifndef SERVE_PARTICLE_REQUEST_H
#define SERVE_PARTICLE_REQUEST_H

#include "reader.h"
#include "sample_types.h"

struct particle_column {
    bouma_variable *variable;
    bouma_variable_info about;
    bool is_position;
};

struct particle_request {
    bouma_particles *particles;
    bouma_particles_info about;
    bouma_particles_query query; /* points to what is below */
    bouma_bounds box;
    bouma_variable **variables;
    struct particle_column *columns; /* [column_count] */
    size_t column_count;
    bool never;  /* nothing can match */
    bool within; /* a budget is given: */
    bouma_budget budget;
    enum sent_type type; /* SENT_OWN or SENT_F32 */
    double origin[BOUMA_MAX_DIMS];
};

/* Read the parameters for the set 'object'. False, and the answer tells, if
 * something is wrong with them. The caller ends *out with
 * particle_request_release(), after a failure too. */
bool particle_request_read(struct particle_request *out,
                           const struct read_step *step,
                           const struct request *request, struct answer *answer,
                           const char *object);
/* Read a budget, too: 'limit' and 'max_bytes'. */
bool particle_request_budget(struct particle_request *wanted,
                             const struct request *request,
                             struct answer *answer);
void particle_request_release(struct particle_request *wanted);

/* Bytes of one particle as it is sent. */
size_t particle_request_row(const struct particle_request *wanted);
/* Particles in the files that the box meets. */
double particle_request_count(const struct particle_request *wanted);
/* Bytes that may have to be decoded, about. */
double particle_request_cost(const struct particle_request *wanted);

#endif
