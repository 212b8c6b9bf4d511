/* api_life.c -- how long handles live, and their messages.
 *
 * A caller may free handles in any order, also in a function that the library
 * calls. A refinement and particles in memory hold their step, a step holds its
 * dataset, a call holds what it works on. */
#include <inttypes.h>

#include "api/api.h"
#include "engine/plain.h"
#include "read/particle_refine.h"
#include "write/write.h"

/* ---- freeing ------------------------------------------------------------ */

/* The caller has freed it, and no call is under way: what others have to do
 * with it ends now, the rest with its last step. */
static void end_dataset(bouma_dataset *ds)
{
    bm_write_release(&ds->carried, ds->a);
    bm_dataset_end(ds);
    if (!ds->open_steps)
        bm_dataset_free(ds);
}

void bouma_dataset_free(bouma_dataset *ds)
{
    BM_STRICT_MATH;

    if (!ds || ds->life.freed)
        return;
    ds->life.freed = 1;
    if (!ds->life.calls)
        end_dataset(ds);
}

void bouma_step_free(bouma_step *step)
{
    if (!step || step->freed)
        return;
    step->freed = 1;
    bm_step_drop(step);
}

void bouma_refinement_free(bouma_refinement *refinement)
{
    if (!refinement || refinement->freed)
        return;
    refinement->freed = 1;
    if (!refinement->calls)
        bm_refinement_free(refinement);
}

void bouma_particles_refinement_free(bouma_particles_refinement *refinement)
{
    if (!refinement || refinement->freed)
        return;
    refinement->freed = 1;
    if (!refinement->calls)
        bm_particle_refinement_free(refinement);
}

void bouma_file_free(bouma_file *file)
{
    if (!file || file->freed)
        return;
    file->freed = 1;
    if (!file->calls)
        bm_plain_free(file);
}

/* ---- calls that call back ----------------------------------------------- */

void bm_api_enter(bouma_dataset *ds)
{
    ds->life.calls++;
}

int bm_api_leave(bouma_dataset *ds, int rc)
{
    if (--ds->life.calls == 0 && ds->life.freed && !ds->life.ended)
        end_dataset(ds);
    return rc;
}

void bm_api_enter_step(bouma_step *step)
{
    if (!step)
        return;
    bm_step_hold(step);
    bm_api_enter(step->ds);
}

int bm_api_leave_step(bouma_step *step, int rc)
{
    if (!step)
        return rc;
    bm_api_leave(step->ds, rc); /* it is there as long as the step */
    bm_step_drop(step);
    return rc;
}

int bm_api_check_together(const bouma_step *step)
{
    const struct bm_lifetime *life = &step->ds->life;

    return life->ended && life->together
               ? bm_fail(&step->ds->error, BOUMA_ESTATE,
                         "the dataset of step %" PRIu64
                         " was freed, so collective reads are not possible; "
                         "use bouma_variable_read() or bouma_particles_read() "
                         "on each rank",
                         step->manifest.step)
               : BOUMA_OK;
}

/* ---- messages ----------------------------------------------------------- */

static const char *message_of(const struct bm_error *error)
{
    return error ? error->text : bouma_status_text(BOUMA_ENOMEM);
}

const char *bouma_error_message(const bouma_dataset *ds)
{
    return message_of(ds ? &ds->error : NULL);
}

const char *bouma_step_message(const bouma_step *step)
{
    return message_of(step ? &step->ds->error : NULL);
}

const char *bouma_grid_message(const bouma_grid *grid)
{
    return message_of(grid ? grid->object.schema->error : NULL);
}

const char *bouma_particles_message(const bouma_particles *particles)
{
    return message_of(particles ? particles->object.schema->error : NULL);
}

const char *bouma_variable_message(const bouma_variable *variable)
{
    return message_of(variable ? variable->object->schema->error : NULL);
}

const char *bouma_attributes_message(const bouma_attributes *attributes)
{
    return message_of(attributes ? attributes->error : NULL);
}

const char *bouma_refinement_message(const bouma_refinement *refinement)
{
    return message_of(refinement ? &refinement->step->ds->error : NULL);
}

const char *
bouma_particles_refinement_message(const bouma_particles_refinement *refinement)
{
    return message_of(refinement ? &refinement->step->ds->error : NULL);
}

const char *bouma_file_message(const bouma_file *file)
{
    return message_of(file ? &file->error : NULL);
}
