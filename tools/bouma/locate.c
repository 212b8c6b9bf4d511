/* locate.c -- find the step and the variable that a command names. */
#include "locate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suggest.h"

int locate_step(bouma_step **out, int64_t *number, struct context *ctx,
                bouma_dataset *ds, const struct arguments *args)
{
    bouma_step_info last = {0};
    int status = BOUMA_OK;
    int rc = arguments_integer(args, ctx, "step", 0, number);

    *out = NULL;
    if (rc)
        return rc;
    if (!arguments_has(args, "step")) { /* only then all need be listed */
        int64_t count = bouma_dataset_step_count(ds);

        if (count)
            status = bouma_dataset_step_get(ds, count - 1, &last);
        *number = last.step;
    }
    if (!status)
        status = bouma_step_open(out, ds, *number);
    if (status == BOUMA_ENOTFOUND && !bouma_dataset_step_count(ds))
        return context_fail(ctx, CALL_AT_FAULT, "there is no step in %s yet",
                            args->operands[0]);
    if (status == BOUMA_ENOTFOUND)
        return context_fail(ctx, CALL_AT_FAULT,
                            "there is no step %lld; '%s info %s' lists them",
                            (long long)*number, session_program(),
                            args->operands[0]);
    if (status)
        return context_fail_status(ctx, status, bouma_error_message(ds));
    return DONE;
}

/* Names that there are, gathered while one of them is looked for. */
struct names {
    struct suggestion near;
    char list[512];
};

static void offer(struct names *names, const char *name)
{
    size_t used = strlen(names->list);

    suggestion_offer(&names->near, name);
    snprintf(names->list + used, sizeof(names->list) - used, "%s%s",
             used ? ", " : "", name);
}

static int not_found(struct context *ctx, const struct names *names,
                     const char *what, const char *where)
{
    if (names->near.best)
        return context_fail(ctx, CALL_AT_FAULT,
                            "there is no %s '%s' in %s; did you mean '%s'?",
                            what, names->near.word, where, names->near.best);
    return context_fail(
        ctx, CALL_AT_FAULT, "there is no %s '%s' in %s; there is %s", what,
        names->near.word, where, names->list[0] ? names->list : "none at all");
}

/* What a grid can do, particles do by other commands. */
static int is_particles(struct context *ctx, const char *name)
{
    return context_fail(ctx, CALL_AT_FAULT,
                        "'%s' is a set of particles; read it with: %s query DS "
                        "%s -o OUT.npz",
                        name, session_program(), name);
}

static int no_grid(struct context *ctx, bouma_step *step, const char *name)
{
    struct names names = {.near = {.word = name}};
    bouma_grid_info about;

    if (bouma_step_find_particles(step, name))
        return is_particles(ctx, name);
    for (int i = 0; i < bouma_step_grid_count(step); i++) {
        bouma_grid_info_get(bouma_step_grid(step, i), &about);
        offer(&names, about.name);
    }
    return not_found(ctx, &names, "grid", "this step");
}

static int no_variable(struct context *ctx, bouma_grid *grid, const char *name)
{
    struct names names = {.near = {.word = name}};
    bouma_variable_info about;
    bouma_grid_info where;

    bouma_grid_info_get(grid, &where);
    for (int i = 0; i < bouma_grid_variable_count(grid); i++) {
        bouma_variable_info_get(bouma_grid_variable(grid, i), &about);
        if (about.present)
            offer(&names, about.name);
    }
    return not_found(ctx, &names, "variable", where.name);
}

int locate_variable(bouma_grid **grid, bouma_variable **variable,
                    struct context *ctx, bouma_step *step, const char *name)
{
    const char *slash = strchr(name, '/');
    bouma_variable_info about = {0};
    char object[256];

    if (!slash || slash == name || !slash[1] ||
        (size_t)(slash - name) >= sizeof(object))
        return context_fail(ctx, CALL_AT_FAULT,
                            "'%s' is not of the form OBJECT/VAR", name);
    memcpy(object, name, (size_t)(slash - name));
    object[slash - name] = '\0';
    *grid = bouma_step_find_grid(step, object);
    if (!*grid)
        return no_grid(ctx, step, object);
    *variable = bouma_grid_find_variable(*grid, slash + 1);
    if (*variable)
        bouma_variable_info_get(*variable, &about);
    return about.present ? DONE : no_variable(ctx, *grid, slash + 1);
}

/* The only variable of a grid that the step has. */
static int only_variable(bouma_variable **out, struct context *ctx,
                         bouma_grid *grid, const char *name)
{
    struct names names = {.near = {.word = ""}};
    bouma_variable_info about;
    int count = 0;

    for (int i = 0; i < bouma_grid_variable_count(grid); i++) {
        bouma_variable_info_get(bouma_grid_variable(grid, i), &about);
        if (!about.present)
            continue;
        *out = bouma_grid_variable(grid, i);
        offer(&names, about.name);
        count++;
    }
    if (count == 1)
        return DONE;
    return context_fail(ctx, CALL_AT_FAULT,
                        "say which variable of %s, as %s/VAR; there is %s",
                        name, name, count ? names.list : "none at all");
}

int locate_drawable(bouma_grid **grid, bouma_variable **variable,
                    struct context *ctx, bouma_step *step, const char *name)
{
    if (strchr(name, '/'))
        return locate_variable(grid, variable, ctx, step, name);
    *grid = bouma_step_find_grid(step, name);
    return *grid ? only_variable(variable, ctx, *grid, name)
                 : no_grid(ctx, step, name);
}

int locate_particles(bouma_particles **out, struct context *ctx,
                     bouma_step *step, const char *name)
{
    struct names names = {.near = {.word = name}};
    bouma_particles_info about;

    *out = bouma_step_find_particles(step, name);
    if (*out)
        return DONE;
    if (bouma_step_find_grid(step, name))
        return context_fail(ctx, CALL_AT_FAULT,
                            "'%s' is a grid; read it with: %s read DS %s/VAR "
                            "-o OUT.npy",
                            name, session_program(), name);
    for (int i = 0; i < bouma_step_particles_count(step); i++) {
        bouma_particles_info_get(bouma_step_particles(step, i), &about);
        offer(&names, about.name);
    }
    return not_found(ctx, &names, "set of particles", "this step");
}

int locate_attribute(bouma_variable **out, struct context *ctx,
                     bouma_particles *particles, const char *name)
{
    struct names names = {.near = {.word = name}};
    bouma_variable_info about = {0};
    bouma_particles_info where;

    bouma_particles_info_get(particles, &where);
    *out = bouma_particles_find_variable(particles, name);
    if (*out)
        bouma_variable_info_get(*out, &about);
    /* Of no particles, no value is there of any variable. */
    if (*out && (about.present || where.count == 0))
        return DONE;
    for (int i = 0; i < bouma_particles_variable_count(particles); i++) {
        bouma_variable_info_get(bouma_particles_variable(particles, i), &about);
        if (about.present)
            offer(&names, about.name);
    }
    return not_found(ctx, &names, "variable", where.name);
}
