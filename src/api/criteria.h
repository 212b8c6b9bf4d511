/* criteria.h -- what a caller asks of particles, checked and completed. */
#ifndef BM_API_CRITERIA_H
#define BM_API_CRITERIA_H

#include "api/api.h"
#include "read/read.h"

/* The criteria, and the memory that they point to. */
struct bm_asked {
    struct bm_criteria criteria;
    bouma_variable **variables;
    struct bm_condition *conditions;
};

/* 'given' may be NULL. To be released in any case. */
int bm_asked_init(struct bm_asked *out, const struct bm_object *set,
                  const bouma_particles_query *given);
/* ESTATE: they cannot be read. */
int bm_api_being_written(const struct bm_object *set);
/* Whether a query can have this text as its 'where'. */
int bm_api_check_where(const struct bm_object *set, const char *text);
/* EINVAL: 'v' (may be NULL) is not a variable of 'set', but 'whose' it should
 * be: "a column's variable". */
int bm_api_not_theirs(const struct bm_object *set, const bouma_variable *v,
                      const char *whose, struct bm_error *error);
/* Only a restart divides particles among ranks. */
int bm_api_check_alone(const struct bm_criteria *asked,
                       const struct bm_object *set);
/* bm_particle_query(), traced. */
int bm_api_query(struct bm_particle_query *query);
void bm_asked_release(struct bm_asked *asked, const bouma_allocator *a);

#endif
