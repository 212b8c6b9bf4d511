/* particle_request.c -- which particles a request asks for. */
#include "particle_request.h"

#include <stdlib.h>
#include <string.h>

#include "locate.h"
#include "numbers.h"
#include "sized.h"

static bool no_memory(struct answer *answer)
{
    answer_fail_status(answer, BOUMA_ENOMEM, NULL);
    return false;
}

/* ---- box, quality, budget ------------------------------------------------ */

static bool read_box(struct particle_request *wanted,
                     const struct request *request, struct answer *answer)
{
    const char *text = request_text(request, "box");
    char message[256];

    if (!text)
        return true;
    wanted->box.axes = BOUMA_AXES_XYZ;
    if (!parse_coordinates(text, wanted->about.ndims, wanted->box.low,
                           wanted->box.high, message, sizeof(message))) {
        answer_fail(answer, 400, BOUMA_EINVAL, "box: %s", message);
        return false;
    }
    wanted->query.box = &wanted->box;
    for (int i = 0; i < wanted->about.ndims; i++)
        wanted->never |= wanted->box.low[i] == wanted->box.high[i];
    return true;
}

static bool read_quality(struct particle_request *wanted,
                         const struct request *request, struct answer *answer)
{
    bouma_particles_query *query = &wanted->query;

    query->quality = 1;
    if (!request_number(request, answer, "quality", &query->quality) ||
        !request_number(request, answer, "from", &query->from))
        return false;
    if (!(query->from >= 0 && query->from <= query->quality &&
          query->quality <= 1)) {
        answer_fail(answer, 400, BOUMA_EINVAL,
                    "from is %g and quality is %g: they are fractions, with 0 "
                    "<= from <= quality <= 1",
                    query->from, query->quality);
        return false;
    }
    wanted->never |= query->from == query->quality;
    return true;
}

bool particle_request_budget(struct particle_request *wanted,
                             const struct request *request,
                             struct answer *answer)
{
    int64_t limit = 0, bytes = 0;

    wanted->within =
        request_text(request, "limit") || request_text(request, "max_bytes");
    if (wanted->within &&
        (request_text(request, "quality") || request_text(request, "from"))) {
        answer_fail(answer, 400, BOUMA_EINVAL,
                    "limit and max_bytes cannot be combined with quality and "
                    "from");
        return false;
    }
    if (!request_integer(request, answer, "limit", 1, INT64_MAX, &limit) ||
        !request_integer(request, answer, "max_bytes", 1, INT64_MAX, &bytes))
        return false;
    wanted->budget = (bouma_budget){.size = sizeof(wanted->budget),
                                    .bytes = (uint64_t)bytes,
                                    .points = (uint64_t)limit};
    return true;
}

/* ---- conditions ---------------------------------------------------------- */

static bool read_where(struct particle_request *wanted,
                       const struct request *request, struct answer *answer)
{
    wanted->query.where = request_text(request, "where");
    if (wanted->query.where &&
        bouma_particles_check_where(wanted->particles, wanted->query.where)) {
        answer_fail(answer, 400, BOUMA_EINVAL, "where: %s",
                    bouma_particles_message(wanted->particles));
        return false;
    }
    return true;
}

/* ---- columns ------------------------------------------------------------- */

static bool add_column(struct particle_request *wanted,
                       bouma_variable *variable)
{
    struct particle_column *column = &wanted->columns[wanted->column_count];

    column->variable = variable;
    column->is_position =
        variable == bouma_particles_position(wanted->particles);
    bouma_variable_info_get(SIZED(&column->about), variable);
    wanted->variables[wanted->column_count++] = variable;
    return column->about.present || wanted->about.count == 0;
}

static void add_all(struct particle_request *wanted)
{
    for (int i = 0; i < particle_variable_count(wanted->particles); i++)
        if (!add_column(wanted, particle_variable(wanted->particles, i)))
            wanted->column_count--; /* the step has no data of it */
}

/* The first name of a list is from *start on; what is given back is its length.
 * A name with a comma is in quotes, as in a condition. */
static size_t first_name(const char *text, const char **start)
{
    bool quoted = *text == '\'' || *text == '"';
    const char *end = quoted ? strchr(text + 1, *text) : NULL;

    if (end && (end[1] == ',' || !end[1])) {
        *start = text + 1;
        return (size_t)(end - *start);
    }
    *start = text;
    return strcspn(text, ",");
}

/* "position,T". A variable that is named twice comes once only. */
static bool add_named(struct particle_request *wanted, struct answer *answer,
                      const char *text, size_t room)
{
    while (*text) {
        const char *start;
        size_t length = first_name(text, &start), i = 0;
        char *name = strndup(start, length);
        bouma_variable *variable =
            name ? bouma_particles_find_variable(wanted->particles, name)
                 : NULL;

        free(name);
        if (!variable) {
            answer_fail(answer, 404, BOUMA_ENOTFOUND, "%s",
                        bouma_particles_message(wanted->particles));
            return false;
        }
        while (i < wanted->column_count && wanted->variables[i] != variable)
            i++;
        if (i == wanted->column_count &&
            (i == room || !add_column(wanted, variable))) {
            answer_fail(answer, 404, BOUMA_ENOTFOUND,
                        "the step has no data of '%.*s'",
                        (int)(length < 100 ? length : 100), start);
            return false;
        }
        text = start + length + (start > text);
        text += *text == ',';
    }
    return true;
}

static bool read_columns(struct particle_request *wanted,
                         const struct request *request, struct answer *answer)
{
    const char *text = request_text(request, "variables");
    size_t room = (size_t)particle_variable_count(wanted->particles);
    int type;

    wanted->columns = calloc(room, sizeof(*wanted->columns));
    wanted->variables = calloc(room, sizeof(*wanted->variables));
    if (!wanted->columns || !wanted->variables)
        return no_memory(answer);
    if (!text)
        add_all(wanted);
    else if (!add_named(wanted, answer, text, room))
        return false;
    wanted->query.variables = wanted->variables;
    wanted->query.variable_count = wanted->column_count;
    wanted->query.order = BOUMA_COMPONENT_ORDER_INTERLEAVED;
    if (wanted->column_count == 0) {
        answer_fail(answer, 400, BOUMA_EINVAL, "variables names none");
        return false;
    }
    if (!request_choice(request, answer, "type", "own|f32", &type) ||
        !request_numbers(request, answer, "origin", wanted->origin,
                         wanted->about.ndims))
        return false;
    wanted->type = (enum sent_type)type;
    if (type == SENT_OWN && request_text(request, "origin")) {
        answer_fail(answer, 400, BOUMA_EINVAL, "origin is for type=f32 only");
        return false;
    }
    return true;
}

/* ---- all of it ----------------------------------------------------------- */

bool particle_request_read(struct particle_request *out,
                           const struct read_step *step,
                           const struct request *request, struct answer *answer,
                           const char *object)
{
    *out = (struct particle_request){0};
    out->query.size = sizeof(out->query);
    out->particles = bouma_step_find_particles(step->step, object);
    if (!out->particles) {
        answer_fail(answer, 404, BOUMA_ENOTFOUND, "%s",
                    bouma_error_message(step->ds));
        return false;
    }
    bouma_particles_info_get(SIZED(&out->about), out->particles);
    return read_box(out, request, answer) &&
           read_quality(out, request, answer) &&
           read_where(out, request, answer) &&
           read_columns(out, request, answer);
}

void particle_request_release(struct particle_request *wanted)
{
    free(wanted->variables);
    free(wanted->columns);
    *wanted = (struct particle_request){0};
}

size_t particle_request_row(const struct particle_request *wanted)
{
    size_t bytes = 0;

    for (size_t i = 0; i < wanted->column_count; i++)
        bytes += (size_t)wanted->columns[i].about.components *
                 sent_type_size(wanted->type, wanted->columns[i].about.type);
    return bytes;
}

static bool meets(const struct particle_request *wanted,
                  const bouma_particles_file *file)
{
    for (int i = 0; wanted->query.box && i < wanted->about.ndims; i++)
        if (file->low[i] >= wanted->box.high[i] ||
            file->high[i] < wanted->box.low[i])
            return false;
    return true;
}

double particle_request_cost(const struct particle_request *wanted)
{
    double count = 0, row = 0;
    bouma_particles_file file = {.size = sizeof(file)};
    bouma_variable_info about = {.size = sizeof(about)};

    for (int64_t i = 0; i < wanted->about.files; i++)
        if (!bouma_particles_file_get(&file, wanted->particles, i) &&
            meets(wanted, &file))
            count += (double)file.count;
    for (size_t i = 0; i < wanted->column_count; i++)
        row += (double)wanted->columns[i].about.components *
               (double)bouma_type_size(wanted->columns[i].about.type);
    /* Conditions may be on all variables. */
    for (int i = 0;
         wanted->query.where && i < particle_variable_count(wanted->particles);
         i++) {
        bouma_variable_info_get(&about,
                                particle_variable(wanted->particles, i));
        row += (double)about.components * (double)bouma_type_size(about.type);
    }
    return count * row * (wanted->query.quality - wanted->query.from);
}
