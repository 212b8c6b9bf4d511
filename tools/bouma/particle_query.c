/* particle_query.c -- which particles of a set are asked for. */
#include "particle_query.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "locate.h"
#include "numbers.h"
#include "sized.h"

/* ---- options ------------------------------------------------------------- */

static int read_quality(struct particle_query *query, struct context *ctx,
                        const struct arguments *args)
{
    bouma_particles_query *of = &query->query;
    int rc;

    of->quality = 1;
    rc = arguments_number(args, ctx, "quality", &of->quality);
    if (!rc)
        rc = arguments_number(args, ctx, "from", &of->from);
    if (!rc && !(of->from >= 0 && of->from <= of->quality && of->quality <= 1))
        rc = context_fail(ctx, CALL_AT_FAULT,
                          "--from %g and --quality %g: they are fractions, "
                          "with 0 <= from <= quality <= 1",
                          of->from, of->quality);
    query->never = query->never || of->from == of->quality;
    return rc;
}

static int read_box(struct particle_query *query, struct context *ctx,
                    const struct arguments *args)
{
    const char *text = arguments_text(args, "box");
    bouma_bounds *box = &query->box;
    char message[256];

    if (!text)
        return DONE;
    box->axes = BOUMA_AXES_XYZ;
    if (!parse_coordinates(text, query->about.ndims, box->low, box->high,
                           message, sizeof(message)))
        return context_fail(ctx, CALL_AT_FAULT, "--box: %s", message);
    query->query.box = box;
    for (int i = 0; i < query->about.ndims; i++)
        query->never = query->never || box->low[i] == box->high[i];
    return DONE;
}

static int read_where(struct particle_query *query, struct context *ctx,
                      const struct arguments *args)
{
    query->query.where = arguments_text(args, "where");
    if (query->query.where &&
        bouma_particles_check_where(query->particles, query->query.where))
        return context_fail(ctx, CALL_AT_FAULT, "--where: %s",
                            bouma_error_message(query->ds));
    return DONE;
}

static int read_sample(struct particle_query *query, struct context *ctx,
                       const struct arguments *args)
{
    const char *seed = arguments_text(args, "seed");
    int64_t sample = 0;
    int rc = arguments_integer(args, ctx, "sample", 0, &sample);

    if (!rc && seed && (!parse_large(seed, &query->seed) || !query->seed))
        rc = context_fail(ctx, CALL_AT_FAULT,
                          "--seed %s: must be a whole number from 1 to %" PRIu64
                          "; without --seed the sample is an even one",
                          seed, UINT64_MAX);
    query->sampled = arguments_has(args, "sample");
    if (!rc && query->sampled &&
        (arguments_has(args, "quality") || arguments_has(args, "from")))
        rc = context_fail(ctx, CALL_AT_FAULT,
                          "--sample and --%s cannot be combined",
                          arguments_has(args, "from") ? "from" : "quality");
    if (!rc && !query->sampled && arguments_has(args, "seed"))
        rc = context_fail(ctx, CALL_AT_FAULT, "--seed needs --sample N");
    query->sample = (uint64_t)sample;
    if (!rc)
        rc = budget_arguments_read(&query->within, ctx, args);
    if (!rc && query->sampled && query->within.given)
        rc = context_fail(ctx, CALL_AT_FAULT,
                          "--sample and --%s cannot be combined",
                          arguments_has(args, "limit") ? "limit" : "max-bytes");
    return rc;
}

int particle_query_read(struct particle_query *out, struct context *ctx,
                        const struct arguments *args, bouma_dataset *ds,
                        bouma_particles *particles)
{
    int rc;

    *out = (struct particle_query){.ds = ds,
                                   .particles = particles,
                                   .query = {.size = sizeof(out->query)}};
    bouma_particles_info_get(SIZED(&out->about), particles);
    /* A set without particles has all variables, and no values of them. */
    out->never = out->about.count == 0;
    rc = read_quality(out, ctx, args);
    if (!rc)
        rc = read_box(out, ctx, args);
    if (!rc)
        rc = read_where(out, ctx, args);
    return rc ? rc : read_sample(out, ctx, args);
}

void particle_query_release(struct particle_query *query)
{
    bouma_particle_data_free(query->data);
    free(query->variables);
    free(query->infos);
    *query = (struct particle_query){0};
}

/* ---- variables ----------------------------------------------------------- */

int particle_query_add(struct particle_query *query, struct context *ctx,
                       bouma_variable *variable)
{
    size_t room = query->count + 1;
    bouma_variable **variables =
        realloc(query->variables, room * sizeof(*variables));
    bouma_variable_info *infos;

    if (variables)
        query->variables = variables;
    infos = realloc(query->infos, room * sizeof(*infos));
    if (infos)
        query->infos = infos;
    if (!variables || !infos)
        return context_fail_memory(ctx);
    variables[query->count] = variable;
    bouma_variable_info_get(SIZED(&infos[query->count]), variable);
    query->count++;
    query->query.variables = query->variables;
    query->query.variable_count = query->count;
    return DONE;
}

int particle_query_all(struct particle_query *query, struct context *ctx)
{
    int rc = DONE;

    for (int i = 0; !rc && i < particle_variable_count(query->particles); i++) {
        bouma_variable *variable = particle_variable(query->particles, i);
        bouma_variable_info about = {.size = sizeof(about)};

        bouma_variable_info_get(&about, variable);
        if (about.present || query->about.count == 0)
            rc = particle_query_add(query, ctx, variable);
    }
    return rc;
}

int particle_query_these(struct particle_query *query, struct context *ctx,
                         const char *names)
{
    char *copy = strdup(names), *rest = copy;
    int rc = copy ? DONE : context_fail_memory(ctx);

    while (!rc && rest) {
        char *name = strsep(&rest, ",");
        bouma_variable *variable;

        rc = locate_particle_variable(&variable, ctx, query->particles, name);
        for (size_t i = 0; !rc && i < query->count; i++)
            if (query->variables[i] == variable)
                rc = context_fail(ctx, CALL_AT_FAULT,
                                  "--variables has '%s' twice", name);
        if (!rc)
            rc = particle_query_add(query, ctx, variable);
    }
    free(copy);
    return rc;
}

/* ---- running ------------------------------------------------------------- */

struct hand_over {
    int (*each)(void *user, const bouma_batch *batch);
    void *user;
    int rc; /* of 'each' */
};

static int each_batch(void *user, const bouma_batch *batch)
{
    struct hand_over *over = user;

    if (batch->count > 0)
        over->rc = over->each(over->user, batch);
    return over->rc != DONE;
}

static int run_sample(const struct particle_query *query,
                      struct hand_over *over)
{
    bouma_particle_data *data;
    int status = bouma_particles_sample(&data, query->particles, &query->query,
                                        query->sample, query->seed);
    bouma_batch batch = {.size = sizeof(batch)};

    if (status)
        return status;
    batch.count = data->count;
    batch.columns = (const void *const *)data->columns;
    each_batch(over, &batch);
    bouma_particle_data_free(data);
    return BOUMA_OK;
}

static int read_within(struct particle_query *query, struct context *ctx)
{
    bouma_particles_refinement *refinement = NULL;
    int rc = DONE, status = bouma_particles_refinement_open(
                       &refinement, query->particles, &query->query);

    if (!status)
        status =
            bouma_particles_refinement_next(&query->data, SIZED(&query->answer),
                                            refinement, &query->within.budget);
    if (status)
        rc = context_fail_status(ctx, status, bouma_error_message(query->ds));
    bouma_particles_refinement_free(refinement);
    /* It is the budget that is too small. */
    return status == BOUMA_ELIMIT ? CALL_AT_FAULT : rc;
}

int particle_query_read_within(struct particle_query *query,
                               struct context *ctx)
{
    int rc = DONE;

    if (!query->within.given)
        return DONE;
    query->answer.complete = 1;
    query->answer.quality = query->query.quality;
    if (!query->never && session_rank(ctx->session) == 0)
        rc = read_within(query, ctx);
    rc = context_agree(ctx, rc);
    session_broadcast(ctx->session, &query->answer, sizeof(query->answer));
    query->query.quality = query->answer.quality;
    return rc;
}

/* What was read before. */
static int run_data(const struct particle_query *query, struct hand_over *over)
{
    bouma_batch batch = {.size = sizeof(batch)};

    if (!query->data)
        return BOUMA_OK;
    batch.count = query->data->count;
    batch.columns = (const void *const *)query->data->columns;
    each_batch(over, &batch);
    return BOUMA_OK;
}

int particle_query_run(const struct particle_query *query, struct context *ctx,
                       int (*each)(void *user, const bouma_batch *batch),
                       void *user)
{
    struct hand_over over = {each, user, DONE};
    int status;

    if (query->never)
        return DONE;
    status = query->sampled ? run_sample(query, &over)
             : query->within.given
                 ? run_data(query, &over)
                 : bouma_particles_query_run(query->particles, &query->query,
                                             each_batch, &over);
    if (over.rc)
        return over.rc;
    if (status)
        return context_fail_status(ctx, status, bouma_error_message(query->ds));
    return DONE;
}
