/* import_particles.c -- bouma import --particles: columns from files become a
 * set of particles, in one step or, of dumps, in one for each frame. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "axes.h"
#include "format_text.h"
#include "import_memory.h"
#include "import_request.h"
#include "import_run.h"
#include "import_target.h"
#include "particle_set.h"
#include "print_json.h"
#include "stopwatch.h"
#include "suggest.h"

/* A step that was written. */
struct written {
    int64_t step;
    double time;
    uint64_t count;
    bouma_record record;
};

/* What is needed while the request is carried out. */
struct import {
    struct import_request request;
    struct import_target target;
    struct particle_set set;
    bouma_particles_spec spec;
    bouma_particles *particles; /* defined with the first frame */
    bouma_variable **variables; /* [attribute_count] */
    size_t variable_count;
    uint64_t memory_limit;
    struct written *steps;
    size_t step_count;
    double seconds;
};

/* ---- what is asked for an attribute -------------------------------------- */

/* The value for 'name' among options "NAME=VALUE", or NULL. */
static const char *value_for(const struct arguments *args, const char *option,
                             const char *name)
{
    size_t length = strlen(name);

    for (int i = 0; i < arguments_count(args, option); i++) {
        const char *text = arguments_nth(args, option, i);
        const char *equals = strrchr(text, '=');

        if (equals && (size_t)(equals - text) == length &&
            memcmp(text, name, length) == 0)
            return equals + 1;
    }
    return NULL;
}

static int no_attribute(const struct import *import, struct context *ctx,
                        const char *option, const char *text)
{
    char name[TABLE_NAME], list[NAME_LIST_BYTES];
    struct name_list names = {.near = {.word = name}};

    snprintf(name, sizeof(name), "%.*s", (int)(strrchr(text, '=') - text),
             text);
    name_list_add(&names, "position", NULL);
    for (size_t i = 0; i < import->set.attribute_count; i++)
        name_list_add(&names, import->set.attributes[i]->name, NULL);
    return context_fail_missing(ctx, "--%s %s: there is no such variable%s",
                                option, text, name_list_text(list, &names));
}

/* Every "NAME=VALUE" names a variable or the position. */
static int check_names(const struct import *import, struct context *ctx,
                       const char *option)
{
    const struct arguments *args = import->request.args;

    for (int i = 0; i < arguments_count(args, option); i++) {
        const char *text = arguments_nth(args, option, i);
        const char *equals = strrchr(text, '=');
        bool known = equals && (size_t)(equals - text) == 8 &&
                     memcmp(text, "position", 8) == 0;

        if (!equals || equals == text)
            return context_fail(ctx, CALL_AT_FAULT,
                                "--%s %s: write it as NAME=VALUE", option,
                                text);
        for (size_t k = 0; !known && k < import->set.attribute_count; k++)
            known = value_for(args, option, import->set.attributes[k]->name) ==
                    equals + 1;
        if (!known)
            return no_attribute(import, ctx, option, text);
    }
    return DONE;
}

static int parse_tolerance(struct context *ctx, const char *option,
                           const char *text, double *out)
{
    char *end;

    *out = strtod(text, &end);
    if (end == text || *end || !(*out >= 0) || *out > 1e300)
        return context_fail(ctx, CALL_AT_FAULT,
                            "--%s %s: must be a number of at least 0", option,
                            text);
    return DONE;
}

/* Tolerances are for real numbers; a codec that needs one does not go with
 * attributes that have none. */
static int attribute_spec(const struct import *import, struct context *ctx,
                          const struct table_column *column,
                          bouma_variable_spec *out)
{
    const struct arguments *args = import->request.args;
    const char *tolerance = value_for(args, "tolerance-of", column->name);
    bool real =
        column->type == BOUMA_TYPE_F32 || column->type == BOUMA_TYPE_F64;
    int rc = DONE;

    *out = import->request.variable;
    out->type = column->type;
    out->components = column->components;
    out->unit = value_for(args, "unit-of", column->name);
    if (!real)
        out->tolerance = 0;
    if (tolerance)
        rc = parse_tolerance(ctx, "tolerance-of", tolerance, &out->tolerance);
    if (!rc && !real && out->tolerance > 0)
        rc = context_fail(ctx, CALL_AT_FAULT,
                          "--tolerance-of %s=%s: it is %s, which keeps every "
                          "bit; leave it out",
                          column->name, tolerance,
                          bouma_type_name(column->type));
    if (!(out->tolerance > 0) && import_codec_yields(out->codec))
        out->codec = 0;
    return rc;
}

static int particles_spec(const struct import *import, struct context *ctx,
                          bouma_particles_spec *out)
{
    const struct arguments *args = import->request.args;
    const char *tolerance = value_for(args, "tolerance-of", "position");
    const char *option = "tolerance-of";
    int64_t leaf = 0;
    int rc = arguments_integer(args, ctx, "leaf", 1, &leaf);

    *out = (bouma_particles_spec){.size = sizeof(*out),
                                  .ndims = import->set.ndims,
                                  .type = import->set.type,
                                  .unit = arguments_text(args, "length-unit"),
                                  .codec = import->request.variable.codec,
                                  .codec_level =
                                      import->request.variable.codec_level};
    if (!rc && leaf > INT32_MAX)
        rc = context_fail(ctx, CALL_AT_FAULT,
                          "--leaf %lld: at most %d are possible",
                          (long long)leaf, INT32_MAX);
    out->leaf = (int)leaf;
    if (arguments_has(args, "position-tolerance")) {
        option = "position-tolerance";
        tolerance = arguments_text(args, option);
    }
    if (!rc && tolerance)
        rc = parse_tolerance(ctx, option, tolerance, &out->tolerance);
    if (!(out->tolerance > 0) && import_codec_yields(out->codec))
        out->codec = 0;
    return rc;
}

/* ---- writing ------------------------------------------------------------- */

/* What can be refused is refused before there is a dataset. */
static int check_request(struct import *import, struct context *ctx)
{
    const struct particle_set *set = &import->set;
    bouma_variable_spec of;
    int rc = check_names(import, ctx, "tolerance-of");

    if (!rc)
        rc = check_names(import, ctx, "unit-of");
    if (!rc)
        rc = particles_spec(import, ctx, &import->spec);
    for (size_t i = 0; !rc && i < set->attribute_count; i++)
        rc = attribute_spec(import, ctx, set->attributes[i], &of);
    return rc;
}

static int define(struct import *import, struct context *ctx)
{
    const struct particle_set *set = &import->set;
    int status, rc = DONE;

    import->variable_count = set->attribute_count;
    import->variables =
        calloc(set->attribute_count + 1, sizeof(*import->variables));
    if (!import->variables)
        return context_fail_memory(ctx);
    status =
        bouma_particles_define(&import->particles, import->target.ds,
                               import->request.particles_name, &import->spec);
    for (size_t i = 0; !status && !rc && i < set->attribute_count; i++) {
        bouma_variable_spec of;

        rc = attribute_spec(import, ctx, set->attributes[i], &of);
        if (!rc)
            status = bouma_particles_define_variable(
                &import->variables[i], import->particles,
                set->attributes[i]->name, &of);
    }
    return status ? import_target_failed(&import->target, ctx, status) : rc;
}

/* Everything that can be refused without the particles, in 'target.ds'. */
static int define_all(void *user, struct context *ctx)
{
    struct import *import = user;
    int status, rc = define(import, ctx);

    if (!rc) {
        status = bouma_step_begin(import->target.ds, import->request.step,
                                  import->request.time);
        if (!status)
            status =
                import_target_attributes(&import->target, &import->request);
        if (status)
            rc = import_target_failed(&import->target, ctx, status);
    }
    free(import->variables);
    import->variables = NULL;
    import->particles = NULL;
    return rc;
}

/* All frames have the columns of the first. */
static int compare_frame(const struct import *import, struct context *ctx)
{
    const struct particle_set *set = &import->set;
    bouma_variable_info about = {.size = sizeof(about)};
    bool same = set->attribute_count == import->variable_count;

    for (size_t i = 0; same && i < set->attribute_count; i++) {
        bouma_variable_info_get(&about, import->variables[i]);
        same = strcmp(about.name, set->attributes[i]->name) == 0 &&
               about.type == set->attributes[i]->type;
    }
    if (same)
        return DONE;
    return context_fail(ctx, DATA_AT_FAULT,
                        "%s: the frame of step %lld has other columns than the "
                        "first one; import it separately",
                        set->sources[0].file.path,
                        (long long)particle_set_frame(set)->step);
}

static int put(const struct import *import)
{
    const struct particle_set *set = &import->set;
    size_t count = set->attribute_count + 1;
    void *parts[MAX_AXES];
    bouma_column *columns = calloc(count, sizeof(*columns));
    bouma_array *arrays = calloc(count, sizeof(*arrays));
    int status = columns && arrays ? BOUMA_OK : BOUMA_ENOMEM;

    for (size_t i = 0; !status && i < count; i++) {
        arrays[i] = i ? particle_set_values(set, set->attributes[i - 1])
                      : particle_set_position(set, parts);
        columns[i] = (bouma_column){
            .size = sizeof(*columns),
            .variable = i ? import->variables[i - 1]
                          : bouma_particles_position(import->particles),
            .array = &arrays[i]};
    }
    if (!status)
        status = bouma_particles_put_borrow(import->particles,
                                            set->part.last - set->part.first,
                                            columns, count, NULL);
    free(columns);
    free(arrays);
    return status;
}

/* What a dump tells of its box. */
static int describe_frame(const struct import *import)
{
    const struct lammps_frame *frame = particle_set_frame(&import->set);
    bouma_attributes *to = bouma_particles_attributes(import->particles);
    int status = BOUMA_OK;

    if (frame && frame->box.known) {
        status = bouma_attributes_set(to, "box_low", BOUMA_TYPE_F64, 3,
                                      frame->box.low);
        if (!status)
            status = bouma_attributes_set(to, "box_high", BOUMA_TYPE_F64, 3,
                                          frame->box.high);
        if (!status && frame->box.tilted)
            status = bouma_attributes_set(to, "box_tilt", BOUMA_TYPE_F64, 3,
                                          frame->box.tilt);
        if (!status && frame->boundary[0])
            status =
                bouma_attributes_set_text(to, "box_boundary", frame->boundary);
    }
    if (frame && !status && frame->units[0])
        status = bouma_attributes_set_text(to, "units", frame->units);
    return status;
}

/* A frame tells its step; more than one frame with --step are the next ones. */
static int choose_step(struct import *import, struct context *ctx)
{
    struct import_request *request = &import->request;
    const struct lammps_frame *frame = particle_set_frame(&import->set);
    bool first = import->step_count == 0;
    struct written *last =
        first ? NULL : &import->steps[import->step_count - 1];

    if (!frame)
        return import_target_choose_step(&import->target, ctx, request);
    if (!first && request->time_given)
        return context_fail(ctx, CALL_AT_FAULT,
                            "--time is for one frame, and there are more");
    if (!request->step_given)
        request->step = frame->step;
    else if (!first)
        request->step = last->step + 1;
    if (!request->time_given)
        request->time = frame->timed ? frame->time : (double)request->step;
    return DONE;
}

static int keep_step(struct import *import, struct context *ctx,
                     const bouma_record *record)
{
    struct written *steps = realloc(import->steps, (import->step_count + 1) *
                                                       sizeof(*import->steps));

    if (!steps)
        return context_fail_memory(ctx);
    import->steps = steps;
    steps[import->step_count++] = (struct written){
        import->request.step, import->request.time, import->set.rows, *record};
    return DONE;
}

/* Write the frame that is loaded. A process that fails takes the others along
 * before the collective end. Collective. */
static int write_step(struct import *import, struct context *ctx)
{
    const struct import_request *request = &import->request;
    bouma_record record = {.size = sizeof(record)};
    int status, rc = import->particles ? compare_frame(import, ctx)
                                       : define(import, ctx);

    if (!rc)
        rc = choose_step(import, ctx);
    rc = context_agree(ctx, rc);
    if (rc)
        return rc;
    status = import_target_begin(&import->target, request);
    if (!status)
        status = import_target_attributes(&import->target, request);
    if (!status)
        status = describe_frame(import);
    if (!status)
        status = put(import);
    if (status)
        rc = import_target_failed(&import->target, ctx, status);
    rc = context_agree(ctx, rc);
    if (rc) {
        bouma_step_abort(import->target.ds);
        return rc;
    }
    status = bouma_step_end(import->target.ds);
    bouma_dataset_record_get(&record, import->target.ds);
    if (status)
        return import_target_failed(&import->target, ctx, status);
    if (import->step_count == 0)
        import_target_tell_files(ctx, request, &record,
                                 "there are too few particles or processes "
                                 "for more");
    return context_agree(ctx, keep_step(import, ctx, &record));
}

/* Load the frame that the sources are at, if there is memory for it.
 * Collective. */
static int load_frame(struct import *import, struct context *ctx)
{
    const struct arguments *args = import->request.args;
    int rc = particle_set_choose(&import->set, ctx, args);

    if (!rc && import->step_count == 0)
        import_memory_file_size(&import->request, ctx, &import->set);
    if (!rc)
        rc = import_memory_check(ctx, &import->set, &import->request,
                                 import->memory_limit);
    rc = context_agree(ctx, rc);
    return rc ? rc
              : context_agree(ctx, particle_set_load(&import->set, ctx, args));
}

static int write_dataset(struct import *import, struct context *ctx)
{
    int rc = import_target_open(&import->target, ctx, &import->request);
    bool found = true;

    if (rc)
        return rc;
    while (!rc && found) {
        rc = write_step(import, ctx);
        if (!rc)
            rc = particle_set_next(&import->set, ctx, &found);
        if (!rc && found)
            rc = load_frame(import, ctx);
    }
    return import_target_close(&import->target, ctx, &import->request, rc);
}

/* ---- telling ------------------------------------------------------------- */

static int print_text(const struct import *import)
{
    const struct written *last = &import->steps[import->step_count - 1];
    char raw[FORMAT_BYTES], stored[FORMAT_BYTES], ratio[FORMAT_BYTES],
        files[FORMAT_BYTES], seconds[FORMAT_BYTES], count[FORMAT_BYTES];
    uint64_t particles = 0, raw_bytes = 0, stored_bytes = 0, file_count = 0;

    for (size_t i = 0; i < import->step_count; i++) {
        particles += import->steps[i].count;
        raw_bytes += import->steps[i].record.raw_bytes;
        stored_bytes += import->steps[i].record.stored_bytes;
        file_count += (uint64_t)import->steps[i].record.files;
    }
    printf("%s%s: ", import->request.path,
           import->target.created ? " (new)" : "");
    if (import->step_count == 1)
        printf("step %" PRId64, last->step);
    else
        printf("%zu steps, %" PRId64 " to %" PRId64, import->step_count,
               import->steps[0].step, last->step);
    printf(", %s, %s -> %s (%s) in %s, %s\n",
           format_count(count, particles, "particle"),
           format_bytes(raw, raw_bytes), format_bytes(stored, stored_bytes),
           format_ratio(ratio, raw_bytes, stored_bytes),
           format_count(files, file_count, "file"),
           format_seconds(seconds, import->seconds));
    return DONE;
}

static void put_step(json_t *object, const struct written *step)
{
    json_put(object, "step", json_integer(step->step));
    json_put(object, "time", json_number(step->time));
    json_put(object, "count", json_count(step->count));
    json_put_record(object, &step->record);
}

/* The last step is told twice, so that scripts for one need not look into the
 * list. */
static int print_object(const struct import *import, struct context *ctx)
{
    json_t *root = json_object(), *steps = json_array(), *names = json_array();
    bouma_variable_info about = {.size = sizeof(about)};

    for (size_t i = 0; i < import->variable_count; i++) {
        bouma_variable_info_get(&about, import->variables[i]);
        json_array_append_new(names, json_text(about.name));
    }
    for (size_t i = 0; i < import->step_count; i++) {
        json_t *object = json_object();

        put_step(object, &import->steps[i]);
        json_array_append_new(steps, object);
    }
    json_put(root, "dataset", json_text(import->request.path));
    json_put(root, "created", json_boolean(import->target.created));
    json_put(root, "particles", json_text(import->request.particles_name));
    json_put(root, "attributes", names);
    put_step(root, &import->steps[import->step_count - 1]);
    json_put(root, "steps", steps);
    json_put(root, "seconds", json_number(import->seconds));
    json_put(root, "notes", json_notes(import->target.ds));
    return print_json(ctx, root);
}

int import_particles(struct context *ctx, const struct arguments *args)
{
    double start = stopwatch_now();
    struct import import = {0};
    int rc = import_request_read(&import.request, ctx, args);

    if (!rc)
        rc = particle_set_open(&import.set, ctx, args);
    import.memory_limit = import_memory_limit(ctx, &import.request.opts);
    rc = context_agree(ctx, rc);
    if (!rc)
        rc = load_frame(&import, ctx);
    if (!rc)
        rc = check_request(&import, ctx);
    if (!rc)
        rc = import_target_rehearse(&import.target, ctx, define_all, &import);
    rc = context_agree(ctx, rc);
    if (!rc)
        rc = write_dataset(&import, ctx);
    progress_bar_clear(&import.target.bar);
    import.seconds = stopwatch_now() - start;
    if (!rc && context_prints(ctx))
        rc = ctx->json ? print_object(&import, ctx) : print_text(&import);
    free(import.variables);
    free(import.steps);
    bouma_dataset_free(import.target.ds);
    particle_set_release(&import.set);
    return rc;
}
