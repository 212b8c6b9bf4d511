/* locate.c -- find the step and the variable that a command names. */
#include "locate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "numbers.h"
#include "suggest.h"

static void see_loss(void *user, const bouma_loss *loss)
{
    int64_t *last = user;

    if (!loss->files && loss->step > *last)
        *last = loss->step;
}

/* Whoever asks for the last step shall know if it is not the last that was
 * committed. */
static void note_lost(const struct context *ctx, const char *path, int64_t last)
{
    int64_t lost = last;

    if (context_prints(ctx) &&
        !bouma_losses(path, NULL, see_loss, &lost, NULL, 0) && lost > last)
        context_note(ctx, "step %lld is lost; reading step %lld",
                     (long long)lost, (long long)last);
}

/* The step that is 'back' before the end, of which -1 is the last. */
static int count_back(int64_t *number, struct context *ctx,
                      const bouma_dataset *ds, int64_t back)
{
    bouma_step_info found = {.size = sizeof(found), .step = -1};
    int64_t count = bouma_dataset_step_count(ds);
    int status = BOUMA_OK;

    if (count > 0 && back < -count)
        return context_fail_missing(ctx,
                                    "--step %lld: there are only %lld steps",
                                    (long long)back, (long long)count);
    if (count)
        status = bouma_dataset_step_get(&found, ds, count + back);
    *number = found.step;
    return status ? context_fail_status(ctx, status, bouma_error_message(ds))
                  : DONE;
}

int locate_number(int64_t *number, struct context *ctx, const bouma_dataset *ds,
                  const struct arguments *args)
{
    const char *text = arguments_text(args, "step");

    if (!text || strcmp(text, "last") == 0)
        return count_back(number, ctx, ds, -1);
    if (parse_integer(text, number) && *number < 0)
        return count_back(number, ctx, ds, *number);
    return arguments_integer(args, ctx, "step", 0, number);
}

int locate_step(bouma_step **out, int64_t *number, struct context *ctx,
                bouma_dataset *ds, const struct arguments *args)
{
    int status, rc = locate_number(number, ctx, ds, args);

    *out = NULL;
    if (rc)
        return rc;
    status = bouma_step_open(out, ds, *number);
    if (!status && !arguments_has(args, "step"))
        note_lost(ctx, args->operands[0], *number);
    if (status == BOUMA_ENOTFOUND && !bouma_dataset_step_count(ds))
        return context_fail_missing(ctx, "there is no step in %s yet",
                                    args->operands[0]);
    if (status == BOUMA_ENOTFOUND)
        return context_fail_missing(
            ctx, "there is no step %lld; '%s info %s' lists them",
            (long long)*number, session_program(), args->operands[0]);
    if (status)
        return context_fail_status(ctx, status, bouma_error_message(ds));
    return DONE;
}

/* What a command has asked for. */
struct request {
    const char *object;
    const char *variable; /* NULL: any */
    bool grid, particles; /* of which kinds the object can be */
};

static bool grants(bouma_step *step, const struct request *request)
{
    bouma_grid *grid =
        request->grid ? bouma_step_find_grid(step, request->object) : NULL;
    bouma_variable_info about = {.size = sizeof(about)};

    if (request->particles && bouma_step_find_particles(step, request->object))
        return true;
    if (grid && request->variable)
        bouma_variable_info_get(
            &about, bouma_grid_find_variable(grid, request->variable));
    return grid && (!request->variable || about.present);
}

enum { FAR = 64 }; /* steps that are looked at for what one has not */

/* A step that has it: the last one of those before, or the first one after;
 * "; step 3 has it (--step 3)", or nothing. Collective. */
static const char *elsewhere(char out[96], struct located_step in,
                             const struct request *request)
{
    int64_t count = bouma_dataset_step_count(in.ds), at = 0, past = count;
    bouma_step_info about = {.size = sizeof(about)};

    out[0] = '\0';
    while (at < past) { /* find where it belongs */
        int64_t middle = at + (past - at) / 2;

        if (bouma_dataset_step_get(&about, in.ds, middle))
            return out;
        if (about.step < in.number)
            at = middle + 1;
        else
            past = middle;
    }
    for (int64_t k = 1; k <= 2 * FAR && !out[0]; k++) {
        int64_t i = k <= FAR ? at - k : at + k - FAR;
        bouma_step *step = NULL;

        if (i < 0 || i >= count || bouma_dataset_step_get(&about, in.ds, i))
            continue;
        if (!bouma_step_open(&step, in.ds, about.step) && grants(step, request))
            snprintf(out, 96, "; step %lld has it (--step %lld)",
                     (long long)about.step, (long long)about.step);
        bouma_step_free(step);
    }
    return out;
}

static int not_found(struct context *ctx, const struct name_list *names,
                     const char *what, const char *where, const char *other)
{
    char text[NAME_LIST_BYTES];

    return context_fail_missing(ctx, "there is no %s '%s' in %s%s%s", what,
                                names->near.word, where,
                                name_list_text(text, names), other);
}

/* All that a step has, of either kind. */
static int no_object(struct context *ctx, struct located_step in,
                     const char *what, const struct request *request)
{
    struct name_list names = {.near = {.word = request->object}};
    bouma_particles_info particles = {.size = sizeof(particles)};
    char where[32], other[96];
    bouma_grid_info grid = {.size = sizeof(grid)};

    for (int i = 0; i < bouma_step_grid_count(in.step); i++) {
        bouma_grid_info_get(&grid, bouma_step_grid(in.step, i));
        name_list_add(&names, grid.name, "grid");
    }
    for (int i = 0; i < bouma_step_particles_count(in.step); i++) {
        bouma_particles_info_get(&particles, bouma_step_particles(in.step, i));
        name_list_add(&names, particles.name, "particles");
    }
    snprintf(where, sizeof(where), "step %lld", (long long)in.number);
    return not_found(ctx, &names, what, where, elsewhere(other, in, request));
}

/* What a grid can do, particles do by other commands. */
static int is_particles(struct context *ctx, const char *name)
{
    return context_fail(ctx, CALL_AT_FAULT,
                        "'%s' is a set of particles; read it with: %s query DS "
                        "%s -o OUT.npz",
                        name, session_program(), name);
}

static int no_grid(struct context *ctx, struct located_step in,
                   const struct request *request)
{
    return bouma_step_find_particles(in.step, request->object)
               ? is_particles(ctx, request->object)
               : no_object(ctx, in, "grid", request);
}

static int no_variable(struct context *ctx, struct located_step in,
                       bouma_grid *grid, const struct request *request)
{
    struct name_list names = {.near = {.word = request->variable}};
    bouma_variable_info about = {.size = sizeof(about)};
    char other[96];

    for (int i = 0; i < bouma_grid_variable_count(grid); i++) {
        bouma_variable_info_get(&about, bouma_grid_variable(grid, i));
        if (about.present)
            name_list_add(&names, about.name, NULL);
    }
    return not_found(ctx, &names, "variable", request->object,
                     elsewhere(other, in, request));
}

int locate_variable(bouma_grid **grid, bouma_variable **variable,
                    struct context *ctx, struct located_step in,
                    const char *name)
{
    const char *slash = strchr(name, '/');
    struct request request = {.grid = true};
    bouma_variable_info about = {.size = sizeof(about)};
    char object[256];

    if (!slash || slash == name || !slash[1] ||
        (size_t)(slash - name) >= sizeof(object))
        return context_fail(ctx, CALL_AT_FAULT,
                            "'%s' is not of the form OBJECT/VAR, such as "
                            "grid/rho; 'bouma info' lists what there is",
                            name);
    memcpy(object, name, (size_t)(slash - name));
    object[slash - name] = '\0';
    request.object = object;
    request.variable = slash + 1;
    *grid = bouma_step_find_grid(in.step, object);
    if (!*grid)
        return no_grid(ctx, in, &request);
    *variable = bouma_grid_find_variable(*grid, slash + 1);
    if (*variable)
        bouma_variable_info_get(&about, *variable);
    return about.present ? DONE : no_variable(ctx, in, *grid, &request);
}

/* The only variable of a grid that the step has. */
static int only_variable(bouma_variable **out, struct context *ctx,
                         bouma_grid *grid, const char *name)
{
    struct name_list names = {.near = {.word = ""}};
    bouma_variable_info about = {.size = sizeof(about)};
    int count = 0;

    for (int i = 0; i < bouma_grid_variable_count(grid); i++) {
        bouma_variable_info_get(&about, bouma_grid_variable(grid, i));
        if (!about.present)
            continue;
        *out = bouma_grid_variable(grid, i);
        name_list_add(&names, about.name, NULL);
        count++;
    }
    if (count == 1)
        return DONE;
    return context_fail(ctx, CALL_AT_FAULT,
                        count ? "say which variable of %s: %s/VAR; there are %s"
                              : "%s has no variable in this step%.0s%.0s",
                        name, name, names.list);
}

int locate_drawable(bouma_grid **grid, bouma_variable **variable,
                    struct context *ctx, struct located_step in,
                    const char *name)
{
    const struct request request = {
        .object = name, .grid = true, .particles = true};

    if (strchr(name, '/'))
        return locate_variable(grid, variable, ctx, in, name);
    *grid = bouma_step_find_grid(in.step, name);
    return *grid ? only_variable(variable, ctx, *grid, name)
                 : no_object(ctx, in, "grid or set of particles", &request);
}

int locate_particles(bouma_particles **out, struct context *ctx,
                     struct located_step in, const char *name)
{
    const struct request request = {.object = name, .particles = true};

    *out = bouma_step_find_particles(in.step, name);
    if (*out)
        return DONE;
    if (bouma_step_find_grid(in.step, name))
        return context_fail(ctx, CALL_AT_FAULT,
                            "'%s' is a grid; read it with: %s read DS %s/VAR "
                            "-o OUT.npy",
                            name, session_program(), name);
    return no_object(ctx, in, "set of particles", &request);
}

int locate_particle_variable(bouma_variable **out, struct context *ctx,
                             bouma_particles *particles, const char *name)
{
    struct name_list names = {.near = {.word = name}};
    bouma_variable_info about = {.size = sizeof(about)};
    bouma_particles_info where = {.size = sizeof(where)};

    bouma_particles_info_get(&where, particles);
    *out = bouma_particles_find_variable(particles, name);
    if (*out)
        bouma_variable_info_get(&about, *out);
    /* Of no particles, no value is there of any variable. */
    if (*out && (about.present || where.count == 0))
        return DONE;
    for (int i = 0; i < particle_variable_count(particles); i++) {
        bouma_variable_info_get(&about, particle_variable(particles, i));
        if (about.present)
            name_list_add(&names, about.name, NULL);
    }
    return not_found(ctx, &names, "variable", where.name, "");
}
