/* where.h -- conditions on particles, from a text such as
 *     3 < mass <= 5 && velocity[2] > 0 and 'kind of gas' == 2 && x < 0.5
 *
 * Works on names and types alone, so that it can be tested with any text.
 * What comes out are closed ranges, one for each component that is named, exact
 * for every type: "> 3" of an integer is from 4 on, of a real number from the
 * next double on. */
#ifndef WHERE_H
#define WHERE_H

#include <stdbool.h>
#include <stddef.h>

#include "bouma.h"

/* What can be named. The first one is the position, whose components are also
 * x, y and z, unless another one has that name. */
struct where_variable {
    const char *name;
    bouma_type type;
    int components;
};

struct where_range {
    size_t variable; /* its number */
    int component;
    bouma_value low, high; /* of the type's kind */
};

struct where {
    struct where_range *ranges;
    size_t count, room;
    bool never; /* nothing can match, such as mass < 3 && mass > 5 */
};

/* Compile 'text'. On failure 'message' (of 'bytes' bytes) tells what cannot be
 * understood, and where. The caller ends *out with where_release(), after a
 * failure too. */
bool where_compile(struct where *out, const char *text,
                   const struct where_variable *variables, size_t count,
                   char *message, size_t bytes);
void where_release(struct where *where);

#endif
