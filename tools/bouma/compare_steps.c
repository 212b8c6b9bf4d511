/* compare_steps.c -- what two steps differ in: objects, attributes, values. */
#include "compare_steps.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attribute_sets.h"
#include "format_text.h"
#include "read_pieces.h"
#include "sample_value.h"
#include "sized.h"

/* ---- what is told -------------------------------------------------------- */

void comparison_tell(struct comparison *comparison,
                     const struct difference *difference)
{
    comparison->differences++;
    comparison->each(comparison->user, difference);
}

__attribute__((format(printf, 3, 4))) static void
tell(struct comparison *comparison, const struct difference *at,
     const char *format, ...)
{
    struct difference difference = *at;
    char text[1024];
    va_list list;

    va_start(list, format);
    vsnprintf(text, sizeof(text), format, list);
    va_end(list);
    difference.text = text;
    comparison_tell(comparison, &difference);
}

static void compare_attributes(struct comparison *comparison,
                               const struct difference *at,
                               const bouma_attributes *a,
                               const bouma_attributes *b)
{
    const char *name = attributes_differ(a, b);

    if (name)
        tell(comparison, at, "the attribute '%s' differs", name);
}

static void compare_units(struct comparison *comparison,
                          const struct difference *at, const char *a,
                          const char *b)
{
    a = a ? a : "";
    b = b ? b : "";
    if (strcmp(a, b) != 0)
        tell(comparison, at, "unit '%s' in A, '%s' in B", a, b);
}

/* ---- values of grids ----------------------------------------------------- */

bool compare_values(struct difference *found,
                    const struct comparison *comparison, bouma_value a,
                    bouma_value b, double *largest)
{
    double distance = value_distance(a, b);
    bool most = distance > found->largest;

    if (distance > *largest)
        *largest = distance;
    if (!(distance > comparison->tolerance))
        return false;
    found->count++;
    if (most) {
        found->largest = distance;
        found->a = a;
        found->b = b;
    }
    return most;
}

/* Two variables while they are compared. */
struct pair {
    struct comparison *comparison;
    const struct entry *a;
    bouma_variable *b;
    int ndims;
    struct difference found;
};

/* The index of sample 'i' of a box. */
static void locate_sample(struct difference *found, const bouma_box *box,
                          int ndims, uint64_t i)
{
    for (int d = ndims - 1; d >= 0; d--) {
        uint64_t extent = (uint64_t)(box->hi[d] - box->lo[d]);

        found->index[d] = box->lo[d] + (int64_t)(i % extent);
        i /= extent;
    }
}

static int compare_piece(void *user, struct context *ctx,
                         const struct grid_piece *piece)
{
    struct pair *pair = user;
    bouma_type type = pair->a->about.type;
    uint64_t components = (uint64_t)pair->a->about.components;
    uint64_t count = piece->samples * components;
    size_t bytes = count * bouma_type_size(type);
    bouma_array array = BOUMA_ARRAY(type, malloc(bytes), bytes);
    int status = array.data
                     ? bouma_variable_read(pair->b, 0, &piece->box, &array)
                     : BOUMA_ENOMEM;
    bool differs = !status && memcmp(piece->values, array.data, bytes) != 0;

    for (uint64_t i = 0; differs && i < count; i++) {
        if (!compare_values(&pair->found, pair->comparison,
                            sample_value(type, piece->values, i),
                            sample_value(type, array.data, i),
                            &pair->comparison->largest))
            continue;
        pair->found.component = (int)(i % components);
        locate_sample(&pair->found, &piece->box, pair->ndims, i / components);
    }
    free(array.data);
    pair->found.total += count;
    if (status == BOUMA_ENOMEM && !array.data)
        return context_fail_memory(ctx);
    return status ? context_fail_status(
                        ctx, status, bouma_error_message(pair->comparison->b))
                  : DONE;
}

static int compare_samples(struct comparison *comparison, struct context *ctx,
                           const struct difference *at, const struct entry *a,
                           bouma_variable *b)
{
    struct pair pair = {.comparison = comparison, .a = a, .b = b, .found = *at};
    bouma_grid_info grid;
    int rc;

    bouma_grid_info_get(SIZED(&grid), a->grid);
    pair.ndims = pair.found.ndims = grid.ndims;
    pair.found.components = a->about.components;
    rc = read_grid_pieces(ctx, comparison->a, a, compare_piece, &pair);
    comparison->variables++;
    comparison->values += pair.found.total;
    if (!rc && pair.found.count)
        comparison_tell(comparison, &pair.found);
    return rc;
}

/* ---- objects ------------------------------------------------------------- */

/* Whether the variables can be compared, value by value. */
static bool are_alike(struct comparison *comparison,
                      const struct difference *at, bouma_variable *a,
                      bouma_variable *b)
{
    bouma_variable_info of_a, of_b = {.size = sizeof(of_b)};
    bool a_has, b_has;

    bouma_variable_info_get(SIZED(&of_a), a);
    if (b)
        bouma_variable_info_get(&of_b, b);
    a_has = of_a.present;
    b_has = b && of_b.present;
    if (a_has != b_has)
        tell(comparison, at, "only in %s", a_has ? "A" : "B");
    if (!a_has || !b_has)
        return false;
    compare_units(comparison, at, of_a.unit, of_b.unit);
    compare_attributes(comparison, at, bouma_variable_attributes(a),
                       bouma_variable_attributes(b));
    if (of_a.type != of_b.type)
        tell(comparison, at, "type %s in A, %s in B",
             bouma_type_name(of_a.type), bouma_type_name(of_b.type));
    if (of_a.components != of_b.components)
        tell(comparison, at, "components: %d in A, %d in B", of_a.components,
             of_b.components);
    return of_a.type == of_b.type && of_a.components == of_b.components;
}

static bool grids_fit(struct comparison *comparison,
                      const struct difference *at, bouma_grid *a, bouma_grid *b)
{
    bouma_grid_info of_a, of_b;
    char text[FORMAT_BYTES], other[FORMAT_BYTES];
    size_t points;

    bouma_grid_info_get(SIZED(&of_a), a);
    bouma_grid_info_get(SIZED(&of_b), b);
    points = (size_t)of_a.ndims * sizeof(double);
    if (of_a.ndims != of_b.ndims ||
        memcmp(of_a.shape, of_b.shape,
               (size_t)of_a.ndims * sizeof(of_a.shape[0])) != 0) {
        tell(comparison, at, "shape %s in A, %s in B",
             format_shape(text, of_a.ndims, of_a.shape),
             format_shape(other, of_b.ndims, of_b.shape));
        return false;
    }
    if (memcmp(of_a.origin, of_b.origin, points) != 0)
        tell(comparison, at, "origin %s in A, %s in B",
             format_point(text, of_a.ndims, of_a.origin),
             format_point(other, of_b.ndims, of_b.origin));
    if (memcmp(of_a.spacing, of_b.spacing, points) != 0)
        tell(comparison, at, "spacing %s in A, %s in B",
             format_point(text, of_a.ndims, of_a.spacing),
             format_point(other, of_b.ndims, of_b.spacing));
    compare_units(comparison, at, of_a.unit, of_b.unit);
    compare_attributes(comparison, at, bouma_grid_attributes(a),
                       bouma_grid_attributes(b));
    return true;
}

static bool sets_fit(struct comparison *comparison, const struct difference *at,
                     bouma_particles *a, bouma_particles *b)
{
    bouma_particles_info of_a, of_b;

    bouma_particles_info_get(SIZED(&of_a), a);
    bouma_particles_info_get(SIZED(&of_b), b);
    compare_attributes(comparison, at, bouma_particles_attributes(a),
                       bouma_particles_attributes(b));
    if (of_a.count != of_b.count)
        tell(comparison, at, "%llu particles in A, %llu in B",
             (unsigned long long)of_a.count, (unsigned long long)of_b.count);
    return of_a.count == of_b.count;
}

static bouma_variable *find_variable(const struct entry *like, bouma_grid *grid,
                                     bouma_particles *particles)
{
    return like->grid
               ? bouma_grid_find_variable(grid, like->about.name)
               : bouma_particles_find_variable(particles, like->about.name);
}

/* The objects and variables of B that A does not have. */
static void tell_additions(struct comparison *comparison, bouma_step *a,
                           bouma_step *b, const struct difference *steps)
{
    struct entry_cursor cursor = {.step = b};
    char told[256] = "";
    struct entry entry;

    while (entry_next(&entry, &cursor)) {
        bouma_grid *grid =
            entry.grid ? bouma_step_find_grid(a, entry.object) : NULL;
        bouma_particles *set =
            entry.grid ? NULL : bouma_step_find_particles(a, entry.object);
        struct difference at = *steps;

        at.object = entry.object;
        if (!grid && !set) {
            if (strcmp(told, entry.object) != 0)
                tell(comparison, &at, "only in B");
            snprintf(told, sizeof(told), "%s", entry.object);
        } else if (entry.about.present && !find_variable(&entry, grid, set)) {
            at.variable = entry.about.name;
            tell(comparison, &at, "only in B");
        }
    }
}

/* The object of the entry, when the first of its variables comes. */
struct object {
    const char *name;
    bouma_grid *grid;     /* of B; NULL: not there */
    bouma_particles *set; /* likewise */
    bool fits;            /* so that its values can be compared */
};

static int begin_object(struct object *out, struct comparison *comparison,
                        struct context *ctx, const struct difference *at,
                        const struct entry *entry, bouma_step *b)
{
    *out = (struct object){.name = entry->object};
    if (entry->grid)
        out->grid = bouma_step_find_grid(b, entry->object);
    else
        out->set = bouma_step_find_particles(b, entry->object);
    if (!out->grid && !out->set)
        tell(comparison, at, "only in A");
    else if (out->grid)
        out->fits = grids_fit(comparison, at, entry->grid, out->grid);
    else
        out->fits = sets_fit(comparison, at, entry->particles, out->set);
    return out->set && out->fits ? compare_particles(comparison, ctx, at,
                                                     entry->particles, out->set)
                                 : DONE;
}

static int compare_entries(struct comparison *comparison, struct context *ctx,
                           bouma_step *a, bouma_step *b,
                           const struct difference *steps)
{
    struct entry_cursor cursor = {.step = a};
    struct object object = {0};
    struct entry entry;
    int rc = DONE;

    while (!rc && entry_next(&entry, &cursor)) {
        struct difference at = *steps;
        bouma_variable *other;

        at.object = entry.object;
        if (!object.name || strcmp(object.name, entry.object) != 0)
            rc = begin_object(&object, comparison, ctx, &at, &entry, b);
        if (rc || (!object.grid && !object.set))
            continue;
        other = find_variable(&entry, object.grid, object.set);
        at.variable = entry.about.name;
        if (are_alike(comparison, &at, entry.variable, other) && object.grid &&
            object.fits)
            rc = compare_samples(comparison, ctx, &at, &entry, other);
    }
    if (!rc)
        tell_additions(comparison, a, b, steps);
    return rc;
}

static void compare_times(struct comparison *comparison,
                          const struct difference *at, const bouma_step *a,
                          const bouma_step *b)
{
    bouma_step_details of_a, of_b;

    bouma_step_details_get(SIZED(&of_a), a);
    bouma_step_details_get(SIZED(&of_b), b);
    if (of_a.time != of_b.time)
        tell(comparison, at, "time %.17g in A, %.17g in B", of_a.time,
             of_b.time);
}

int compare_steps(struct comparison *comparison, struct context *ctx,
                  int64_t step_a, int64_t step_b)
{
    struct difference at = {.step_a = step_a, .step_b = step_b};
    bouma_step *a = NULL, *b = NULL;
    int status = bouma_step_open(&a, comparison->a, step_a), rc = DONE;

    if (status)
        rc = context_fail_status(ctx, status,
                                 bouma_error_message(comparison->a));
    if (!rc && (status = bouma_step_open(&b, comparison->b, step_b)))
        rc = context_fail_status(ctx, status,
                                 bouma_error_message(comparison->b));
    if (!rc && comparison->numbers_match)
        compare_times(comparison, &at, a, b);
    if (!rc) {
        compare_attributes(comparison, &at, bouma_step_attributes(a),
                           bouma_step_attributes(b));
        rc = compare_entries(comparison, ctx, a, b, &at);
        comparison->steps++;
    }
    bouma_step_free(a);
    bouma_step_free(b);
    return rc;
}
