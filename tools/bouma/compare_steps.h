/* compare_steps.h -- what two steps differ in: objects, attributes, values.
 *
 * How they are stored (codecs, patches, layouts, files) does not count. */
#ifndef COMPARE_STEPS_H
#define COMPARE_STEPS_H

#include "context.h"
#include "step_entries.h"

/* Something that differs. The texts are there during the call. */
struct difference {
    int64_t step_a, step_b;
    const char *object, *variable; /* NULL: not about one */
    const char *text;              /* what differs; NULL: values */
    /* Values that differ by more than the tolerance: how many, out of how many,
     * and the two that differ most. */
    uint64_t count, total;
    double largest;
    bouma_value a, b;
    int component, components;
    int ndims;                       /* of what follows */
    int64_t index[BOUMA_MAX_DIMS];   /* of the sample, in a grid */
    double position[BOUMA_MAX_DIMS]; /* of the particle in A */
    bool particles;
};

/* Two datasets, and what was found so far. */
struct comparison {
    bouma_dataset *a, *b;
    double tolerance;
    bool numbers_match; /* equal numbers are compared: so are times */
    void (*each)(void *user, const struct difference *difference);
    void *user;
    uint64_t steps, variables, values, differences;
    double largest; /* of all values, within the tolerance or not */
};

/* Compare step 'step_a' of A with 'step_b' of B. */
int compare_steps(struct comparison *comparison, struct context *ctx,
                  int64_t step_a, int64_t step_b);

/* Tell of a difference. */
void comparison_tell(struct comparison *comparison,
                     const struct difference *difference);

/* Compare the values of two sets of particles; 'at' has their steps and name.
 * They are matched by their stored order or, if that differs, by their values:
 * those of integers first, such as identifiers. */
int compare_particles(struct comparison *comparison, struct context *ctx,
                      const struct difference *at, bouma_particles *a,
                      bouma_particles *b);

/* Count two values in 'found'; *largest becomes their distance if that is more.
 * True if they differ by more than the tolerance, and by more than any before.
 */
bool compare_values(struct difference *found,
                    const struct comparison *comparison, bouma_value a,
                    bouma_value b, double *largest);

#endif
