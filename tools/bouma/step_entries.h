/* step_entries.h -- the variables of a step, one after the other: those of its
 * grids, then those of its particles, whose first is the position. */
#ifndef STEP_ENTRIES_H
#define STEP_ENTRIES_H

#include <stdbool.h>

#include "context.h"

/* A variable and the object that has it; all belongs to the step. */
struct entry {
    const char *object;
    bouma_grid *grid;           /* NULL: it is one of particles */
    bouma_particles *particles; /* NULL: it is one of a grid */
    bouma_variable *variable;
    bouma_variable_info about;
};

/* Begin with the step and some patterns; all else is zero. */
struct entry_cursor {
    bouma_step *step;
    /* OBJECT or OBJECT/VAR, in which * and ? and [...] stand for characters as
     * in a shell; an entry is listed if it matches any. None: all are. */
    const char *const *patterns;
    int pattern_count;
    int object, variable; /* the next one */
};

/* The next entry; false if there are no more. */
bool entry_next(struct entry *out, struct entry_cursor *cursor);

/* "grid" or "particles". */
const char *entry_kind(const struct entry *entry);

/* Refuse a pattern that no variable of the step matches, and tell what there
 * is; 'number' is that of the step. */
int entry_check_patterns(struct context *ctx, struct entry_cursor cursor,
                         int64_t number);

#endif
