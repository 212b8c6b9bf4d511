/* where.h -- conditions on particles, from a text such as
 *     3 < mass <= 5 && (velocity[2] > 0 or 'kind of gas' != 2) && x < 0.5
 *
 * Works on names and types alone, so that it can be tested with any text. What
 * comes out are groups of closed ranges, exact for every type: "> 3" of an
 * integer is from 4 on, of a real number from the next double on. All ranges of
 * a group must hold, for one of the groups. NaN is in no range: a negation is
 * that of the comparisons, so that it holds neither for T > 3 nor for
 * !(T > 3), which is T <= 3. */
#ifndef BM_WHERE_H
#define BM_WHERE_H

#include "base/error.h"
#include "base/memory.h"
#include "base/type.h"

enum {
    BM_WHERE_TEXT = 65536, /* bytes of a text */
    BM_WHERE_DEPTH = 64,   /* of parentheses */
    BM_WHERE_TERMS = 512,  /* comparisons in the text */
    BM_WHERE_GROUPS = 256,
    BM_WHERE_RANGES = 4096 /* of all groups */
};

/* What can be named. The first one is the position, whose components are also
 * x, y and z, unless another one has that name. */
struct bm_where_variable {
    const char *name;
    bouma_type type;
    int components;
};

struct bm_where_range {
    size_t variable; /* its number */
    int component;
    bouma_value low, high; /* of the type's kind */
};

/* One range for each component that matters, ascending. */
struct bm_where_group {
    struct bm_where_range *ranges;
    size_t count;
};

/* None of the groups lies within another one, and none is empty. Without any,
 * nothing can match, as with mass < 3 && mass > 5. */
struct bm_where {
    const bouma_allocator *a;
    struct bm_where_group *groups;
    size_t count;
    size_t ranges; /* of all groups */
};

/* Compile 'text': BOUMA_OK, EINVAL, ENOTFOUND (a name), ELIMIT or ENOMEM, with
 * a message that tells where. To be released in any case. */
int bm_where_compile(struct bm_where *out, const bouma_allocator *a,
                     const char *text,
                     const struct bm_where_variable *variables, size_t count,
                     struct bm_error *error);
void bm_where_release(struct bm_where *where);

#endif
