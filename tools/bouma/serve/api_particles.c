/* api_particles.c -- .../OBJECT/particles: particles by box, values and
 * quality, column by column. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "particle_request.h"
#include "route.h"

/* Columns that grow as particles come. */
struct gathering {
    const struct particle_request *wanted;
    struct answer *answer;
    char **columns;       /* [column_count], from the memory budget */
    uint64_t count, room; /* of particles */
    uint64_t most;        /* as many as an answer can have */
    bool full;            /* there were more */
    bool no_memory;
};

static size_t value_bytes(const struct gathering *g, size_t i)
{
    const bouma_variable_info *about = &g->wanted->columns[i].about;

    return (size_t)about->components *
           sent_type_size(g->wanted->type, about->type);
}

static bool make_room(struct gathering *g, uint64_t more)
{
    uint64_t room = 2 * g->room + more;

    if (more <= g->room - g->count)
        return true;
    room = room < g->most ? room : g->most;
    for (size_t i = 0; i < g->wanted->column_count; i++) {
        char *grown =
            memory_budget_resize(g->answer->memory, g->columns[i],
                                 (size_t)room * value_bytes(g, i) + 8);

        if (!grown)
            return false;
        g->columns[i] = grown;
    }
    g->room = room;
    return true;
}

/* Values of one variable, the components of a particle side by side. */
static void append(struct gathering *g, size_t i, const void *from,
                   uint64_t count)
{
    const struct particle_column *column = &g->wanted->columns[i];
    size_t components = (size_t)column->about.components;
    struct conversion how = {.to = g->wanted->type, .from = column->about.type};
    char *to = g->columns[i] + (size_t)g->count * value_bytes(g, i);

    if (!column->is_position || how.to == SENT_OWN) {
        convert_values(to, 1, from, 1, (size_t)count * components, &how);
        return;
    }
    how.shifts = 1;
    for (size_t c = 0; c < components; c++) {
        how.origin = g->wanted->origin[c];
        convert_values(to + c * sizeof(float), components,
                       (const char *)from + c * bouma_type_size(how.from),
                       components, (size_t)count, &how);
    }
}

static int take_columns(struct gathering *g, const void *const *columns,
                        uint64_t count)
{
    if (count > g->most - g->count) {
        g->full = true;
        return 1;
    }
    if (!make_room(g, count)) {
        g->no_memory = true;
        return 1;
    }
    for (size_t i = 0; i < g->wanted->column_count; i++)
        append(g, i, columns[i], count);
    g->count += count;
    return 0;
}

static int take_batch(void *user, const bouma_batch *batch)
{
    return take_columns(user, batch->columns, batch->count);
}

/* ---- the answer ---------------------------------------------------------- */

#define COLUMNS_BYTES 6000

/* "position:f32:3,T:f32:1"; names are encoded as in URLs. */
static bool list_columns(char *text, const struct particle_request *wanted)
{
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < wanted->column_count; i++) {
        const bouma_variable_info *about = &wanted->columns[i].about;
        char name[900];

        if (!url_encode(name, sizeof(name), about->name))
            return false;
        used += (size_t)snprintf(
            text + used, COLUMNS_BYTES - used, "%s%s:%s:%d", i ? "," : "", name,
            sent_type_name(wanted->type, about->type), about->components);
        if (used >= COLUMNS_BYTES)
            return false;
    }
    return true;
}

static size_t aligned(uint64_t bytes)
{
    return (size_t)(bytes + 7) / 8 * 8;
}

static bool tell_columns(const struct gathering *g, struct answer *answer)
{
    char text[COLUMNS_BYTES];

    if (!list_columns(text, g->wanted)) {
        answer_fail(answer, 413, BOUMA_ELIMIT,
                    "the names of the columns are too long for a header; ask "
                    "for fewer by variables=");
        return false;
    }
    answer_header(answer, "Bouma-Columns", "%s", text);
    return true;
}

/* One column after the other. */
static void put_body(const struct gathering *g, struct answer *answer)
{
    size_t bytes = 0, at = 0;
    char *to;

    for (size_t i = 0; i < g->wanted->column_count; i++)
        bytes = aligned(bytes) + (size_t)g->count * value_bytes(g, i);
    to = answer_body(answer, ANSWER_BYTES, bytes);
    for (size_t i = 0; to && i < g->wanted->column_count; i++) {
        size_t length = (size_t)g->count * value_bytes(g, i);

        memset(to + at, 0, aligned(at) - at);
        at = aligned(at);
        if (length)
            memcpy(to + at, g->columns[i], length);
        at += length;
    }
    if (answer->code < 400)
        answer_header(answer, "Bouma-Count", "%" PRIu64, g->count);
}

static const char *limit_name(bouma_limit limit)
{
    return limit == BOUMA_LIMIT_BYTES    ? "bytes"
           : limit == BOUMA_LIMIT_POINTS ? "points"
                                         : "none";
}

static void tell(struct answer *answer, const bouma_answer *got)
{
    answer_header(answer, "Bouma-Quality", "%.9g", got->quality);
    answer_header(answer, "Bouma-Complete", "%d", got->complete);
    answer_header(answer, "Bouma-Limit", "%s", limit_name(got->limit));
    answer_header(answer, "Bouma-Bytes-Read", "%" PRIu64, got->bytes);
}

/* ---- reading ------------------------------------------------------------- */

static int read_within(struct gathering *g, bouma_answer *got,
                       const struct request *request)
{
    const struct particle_request *wanted = g->wanted;
    bouma_particles_refinement *refinement = NULL;
    bouma_particle_data *data = NULL;
    bouma_budget budget = wanted->budget;
    int rc;

    if (answer_is_head(g->answer, ANSWER_BYTES))
        return BOUMA_OK;
    if (!budget.points || budget.points > g->most)
        budget.points = g->most;
    if (!budget.bytes || budget.bytes > request->limits.cost_bytes)
        budget.bytes = request->limits.cost_bytes;
    rc = bouma_particles_refinement_open(&refinement, wanted->particles,
                                         &wanted->query);
    if (!rc)
        rc = bouma_particles_refinement_next(&data, got, refinement, &budget);
    if (!rc)
        take_columns(g, (const void *const *)data->columns, data->count);
    bouma_particle_data_free(data);
    bouma_particles_refinement_free(refinement);
    return rc;
}

static int read_all(struct gathering *g, bouma_answer *got,
                    const struct request *request)
{
    const bouma_particles_query *query = &g->wanted->query;
    int rc;

    if (particle_request_cost(g->wanted) > (double)request->limits.cost_bytes) {
        answer_fail(g->answer, 413, BOUMA_ELIMIT,
                    "more than %" PRIu64 " bytes would be decoded for these "
                    "particles; ask for a smaller box or quality, or with "
                    "limit= or max_bytes=",
                    request->limits.cost_bytes);
        return BOUMA_OK;
    }
    if (answer_is_head(g->answer, ANSWER_BYTES))
        return BOUMA_OK;
    rc = bouma_particles_query_run(g->wanted->particles, query, take_batch, g);
    got->quality = query->quality - query->from;
    got->complete = query->quality == 1 && query->from == 0;
    return g->full || g->no_memory ? BOUMA_OK : rc;
}

static int gather(struct gathering *g, const struct read_step *step,
                  const struct request *request, struct answer *answer)
{
    bouma_answer got = {.size = sizeof(got), .complete = 1, .quality = 1};
    uint64_t before = reader_bytes(step->ds);
    int rc;

    if (!tell_columns(g, answer))
        return BOUMA_OK;
    rc = g->wanted->never    ? BOUMA_OK
         : g->wanted->within ? read_within(g, &got, request)
                             : read_all(g, &got, request);
    if (rc || answer->code >= 400 || answer->unmeasured)
        return rc;
    if (g->no_memory)
        return BOUMA_ENOMEM;
    if (g->full) {
        answer_fail(answer, 413, BOUMA_ELIMIT,
                    "more than %" PRIu64 " particles match, and the limit of "
                    "an answer is %zu bytes; ask for a smaller box or "
                    "quality, or with limit=",
                    g->most, answer->limit);
        return BOUMA_OK;
    }
    got.bytes = reader_bytes(step->ds) - before;
    put_body(g, answer);
    if (answer->code < 400)
        tell(answer, &got);
    return BOUMA_OK;
}

static int find_particles(void *user, const struct read_step *step,
                          const struct request *request, struct answer *answer)
{
    struct particle_request wanted;
    struct gathering g = {.wanted = &wanted, .answer = answer};
    int rc = BOUMA_OK;

    (void)user;
    if (particle_request_read(&wanted, step, request, answer,
                              request->names[2]) &&
        particle_request_budget(&wanted, request, answer)) {
        g.most = (answer->limit - 8 * wanted.column_count) /
                 particle_request_row(&wanted); /* columns are aligned */
        g.columns = memory_budget_resize(
            answer->memory, NULL, wanted.column_count * sizeof(*g.columns));
        if (!g.columns)
            rc = BOUMA_ENOMEM;
        else
            memset(g.columns, 0, wanted.column_count * sizeof(*g.columns));
        if (!rc)
            rc = gather(&g, step, request, answer);
        for (size_t i = 0; g.columns && i < wanted.column_count; i++)
            memory_budget_release(answer->memory, g.columns[i]);
        memory_budget_release(answer->memory, g.columns);
    }
    particle_request_release(&wanted);
    return rc;
}

void route_api_particles(struct request *request, struct answer *answer)
{
    reader_with_step(request, answer, request->names[0], request->names[1],
                     find_particles, NULL);
}
