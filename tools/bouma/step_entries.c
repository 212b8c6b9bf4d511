/* step_entries.c -- the variables of a step, one after the other. */
#include "step_entries.h"

#include <fnmatch.h>
#include <string.h>

#include "locate.h"
#include "sized.h"
#include "suggest.h"

/* The variable at the cursor, whose object there is; false past its last. */
static bool entry_here(struct entry *out, const struct entry_cursor *cursor)
{
    int grids = bouma_step_grid_count(cursor->step);
    bouma_grid_info grid;
    bouma_particles_info set;

    *out = (struct entry){0};
    if (cursor->object < grids) {
        out->grid = bouma_step_grid(cursor->step, cursor->object);
        bouma_grid_info_get(SIZED(&grid), out->grid);
        out->object = grid.name;
        if (cursor->variable >= grid.variables)
            return false;
        out->variable = bouma_grid_variable(out->grid, cursor->variable);
    } else {
        out->particles =
            bouma_step_particles(cursor->step, cursor->object - grids);
        bouma_particles_info_get(SIZED(&set), out->particles);
        out->object = set.name;
        if (cursor->variable >= particle_variable_count(out->particles))
            return false;
        out->variable = particle_variable(out->particles, cursor->variable);
    }
    bouma_variable_info_get(SIZED(&out->about), out->variable);
    return true;
}

static bool matches(const struct entry *entry, const char *pattern)
{
    char name[2 * 256];
    size_t length = strlen(entry->object);

    /* A name has at most 255 bytes, and none of them is a slash. */
    memcpy(name, entry->object, length + 1);
    if (!strchr(pattern, '/'))
        return fnmatch(pattern, name, 0) == 0;
    name[length] = '/';
    memcpy(name + length + 1, entry->about.name, strlen(entry->about.name) + 1);
    return fnmatch(pattern, name, FNM_PATHNAME) == 0;
}

static bool is_listed(const struct entry *entry,
                      const struct entry_cursor *cursor)
{
    for (int i = 0; i < cursor->pattern_count; i++)
        if (matches(entry, cursor->patterns[i]))
            return true;
    return cursor->pattern_count == 0;
}

bool entry_next(struct entry *out, struct entry_cursor *cursor)
{
    int objects = bouma_step_grid_count(cursor->step) +
                  bouma_step_particles_count(cursor->step);

    while (cursor->object < objects) {
        bool there = entry_here(out, cursor);

        cursor->variable = there ? cursor->variable + 1 : 0;
        cursor->object += !there;
        if (there && is_listed(out, cursor))
            return true;
    }
    return false;
}

const char *entry_kind(const struct entry *entry)
{
    return entry->grid ? "grid" : "particles";
}

static int no_match(struct context *ctx, bouma_step *step, const char *pattern,
                    int64_t number)
{
    struct entry_cursor all = {.step = step};
    struct name_list names = {.near = {.word = pattern}};
    char text[NAME_LIST_BYTES];
    const char *last = NULL;
    struct entry entry;

    while (entry_next(&entry, &all)) {
        if (!last || strcmp(last, entry.object) != 0)
            name_list_add(&names, entry.object, entry_kind(&entry));
        last = entry.object;
    }
    return context_fail_missing(ctx, "there is no '%s' in step %lld%s", pattern,
                                (long long)number,
                                name_list_text(text, &names));
}

int entry_check_patterns(struct context *ctx, struct entry_cursor cursor,
                         int64_t number)
{
    for (int i = 0; i < cursor.pattern_count; i++) {
        struct entry_cursor one = {.step = cursor.step,
                                   .patterns = cursor.patterns + i,
                                   .pattern_count = 1};
        struct entry entry;

        if (!entry_next(&entry, &one))
            return no_match(ctx, cursor.step, cursor.patterns[i], number);
    }
    return DONE;
}
