/* api_read.c -- steps, grids and variables that are read. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "api/api.h"
#include "base/value.h"
#include "layout/writings.h"
#include "read/read.h"
#include "read/series.h"

/* ---- steps -------------------------------------------------------------- */

int bouma_step_open(bouma_step **out, bouma_dataset *ds, int64_t step)
{
    BM_STRICT_MATH;
    double begun;
    int rc;

    if (out)
        *out = NULL;
    rc = bm_api_begin(ds, BM_TO_READ);
    if (rc)
        return rc;
    begun = bm_trace_now(ds->engine.tracing.trace);
    /* A negative number is no step of any dataset: let all ranks hear so. */
    rc = bm_step_open(out, ds, (uint64_t)step);
    return bm_api_traced(ds, "open step", begun, rc);
}

int bouma_step_details_get(bouma_step_details *given, const bouma_step *step)
{
    BM_STRICT_MATH;
    bouma_step_details own = {0}, *out = &own;
    const struct bm_manifest *m;

    if (!bm_reply_begin(given, sizeof(own)))
        return bm_api_no_output(step ? &step->ds->error : NULL,
                                "details of a step");
    if (!step)
        return BOUMA_EINVAL;
    m = &step->manifest;
    out->step = (int64_t)m->step;
    out->time = m->time;
    out->order = m->order;
    out->distribute = m->distribute;
    out->assign = m->assign;
    out->place = m->place;
    out->manifest_bytes = step->manifest_bytes;
    out->assign_particles = m->assign_particles;
    out->tag = step->manifest_hash;
    return bm_reply(given, &own, sizeof(own));
}

/* What an earlier writing of the step takes. The rest tells how the last one
 * was written. */
static void add_record(bouma_record *r, const bouma_record *more)
{
    r->raw_bytes += more->raw_bytes;
    r->stored_bytes += more->stored_bytes;
    r->files += more->files;
    r->chunks += more->chunks;
    if (more->largest_file > r->largest_file)
        r->largest_file = more->largest_file;
    r->mean_file = r->files > 0 ? r->stored_bytes / (uint64_t)r->files : 0;
}

int bouma_step_record_get(bouma_record *given, const bouma_step *step)
{
    bouma_record own;

    if (!bm_reply_begin(given, sizeof(own)))
        return bm_api_no_output(step ? &step->ds->error : NULL,
                                "the record of a step");
    if (!step)
        return BOUMA_EINVAL;
    own = step->manifest.record;
    for (size_t k = 0; k < step->manifest.earlier_count; k++)
        add_record(&own, &bm_manifest_writing(&step->manifest, k)->record);
    return bm_reply(given, &own, sizeof(own));
}

int bouma_step_file_get(bouma_step_file *given, const bouma_step *step,
                        int64_t i)
{
    bouma_step_file own = {0}, *out = &own;
    const struct bm_subfile_info *info;
    int rc;

    if (!bm_reply_begin(given, sizeof(own)))
        return bm_api_no_output(step ? &step->ds->error : NULL,
                                "facts of a file");
    if (!step)
        return BOUMA_EINVAL;
    if (i < 0 || (size_t)i >= bm_manifest_files(&step->manifest)) {
        bm_error_clear(&step->ds->error);
        return bm_fail(
            &step->ds->error, BOUMA_ENOTFOUND,
            "step %" PRIu64
            " has %zu files, counted from 0; there is no number %" PRId64,
            step->manifest.step, bm_manifest_files(&step->manifest), i);
    }
    bm_error_clear(&step->ds->error);
    rc = bm_step_load_file((struct bouma_step *)step, (size_t)i);
    if (rc)
        return rc;
    info = bm_manifest_file(&step->manifest, (size_t)i);
    out->bytes = info->file_bytes;
    for (size_t k = 0; k < info->count; k++)
        out->chunks += (int64_t)info->parts[k].chunks;
    return bm_reply(given, &own, sizeof(own));
}

/* ---- grids and variables ------------------------------------------------ */

struct kind_list {
    const struct bouma_step *step;
    enum bm_object_kind kind;
};

static const char *object_name(const void *list, int i)
{
    const struct kind_list *l = list;
    const struct bm_object *o = bm_step_object(l->step, l->kind, i);

    return o ? o->name : NULL;
}

static const char *variable_name(const void *list, int i)
{
    const struct bm_object *grid = list;

    return i < bm_object_variable_count(grid)
               ? bm_object_variable(grid, i)->name
               : NULL;
}

struct bm_object *bm_api_object(bouma_step *step, enum bm_object_kind kind,
                                int i)
{
    struct bm_object *found;

    if (!step)
        return NULL;
    found = bm_step_object(step, kind, i);
    if (found)
        return found;
    bm_error_clear(&step->ds->error);
    bm_fail(&step->ds->error, BOUMA_ENOTFOUND,
            "step %" PRIu64 " has %d %s, counted from 0; there is no number %d",
            step->manifest.step, bm_step_object_count(step, kind),
            bm_kind_words(kind)->many, i);
    return NULL;
}

struct bm_object *bm_api_find_object(bouma_step *step, enum bm_object_kind kind,
                                     const char *name)
{
    struct bm_object *found =
        step && name ? bm_step_find_object(step, name) : NULL;
    struct kind_list all = {step, kind};

    if (!step || (found && found->kind == kind))
        return found;
    bm_error_clear(&step->ds->error);
    if (found)
        bm_fail(&step->ds->error, BOUMA_ENOTFOUND, "\"%s\" is %s, not %s", name,
                bm_kind_words(found->kind)->one, bm_kind_words(kind)->one);
    else
        bm_api_no_such(&step->ds->error, bm_object_kind_name(kind), name,
                       object_name, &all);
    bm_error_prefix(&step->ds->error, "step %" PRIu64, step->manifest.step);
    return NULL;
}

bouma_variable *bm_api_variable(struct bm_object *object, int i)
{
    int first = object && object->kind == BM_PARTICLES; /* the position */
    int count = object ? bm_object_variable_count(object) - first : 0;

    if (!object)
        return NULL;
    if (i >= 0 && i < count)
        return bm_object_variable(object, first + i);
    bm_error_clear(object->schema->error);
    bm_fail(
        object->schema->error, BOUMA_ENOTFOUND,
        "%s \"%s\" has %d variables%s, counted from 0; there is no number %d",
        bm_object_kind_name(object->kind), object->name, count,
        first ? " beside the position" : "", i);
    return NULL;
}

bouma_variable *bm_api_find_variable(struct bm_object *object, const char *name)
{
    bouma_variable *found =
        object && name ? bm_object_find_variable(object, name) : NULL;

    if (object && !found) {
        bm_error_clear(object->schema->error);
        bm_api_no_such(object->schema->error, "variable", name, variable_name,
                       object);
        bm_error_prefix(object->schema->error, "%s \"%s\"",
                        bm_object_kind_name(object->kind), object->name);
        if (!object->schema->step && object->schema->dataset) /* to write it */
            bm_api_defined(object->schema->dataset, object, name, BM_OF_DATASET,
                           BOUMA_ENOTFOUND);
    }
    return found;
}

int bouma_step_grid_count(const bouma_step *step)
{
    return step ? bm_step_object_count(step, BM_GRID) : 0;
}

bouma_grid *bouma_step_grid(bouma_step *step, int i)
{
    return (bouma_grid *)bm_api_object(step, BM_GRID, i);
}

bouma_grid *bouma_step_find_grid(bouma_step *step, const char *name)
{
    return (bouma_grid *)bm_api_find_object(step, BM_GRID, name);
}

int bouma_grid_variable_count(const bouma_grid *grid)
{
    return grid ? bm_object_variable_count(&grid->object) : 0;
}

bouma_variable *bouma_grid_variable(bouma_grid *grid, int i)
{
    return bm_api_variable(grid ? &grid->object : NULL, i);
}

bouma_variable *bouma_grid_find_variable(bouma_grid *grid, const char *name)
{
    return bm_api_find_variable(grid ? &grid->object : NULL, name);
}

int bouma_grid_info_get(bouma_grid_info *given, const bouma_grid *grid)
{
    BM_STRICT_MATH;
    bouma_grid_info own = {0}, *out = &own;
    const struct bm_object *object;
    int first;

    if (!bm_reply_begin(given, sizeof(own)))
        return bm_api_no_output(grid ? grid->object.schema->error : NULL,
                                "facts of a grid");
    if (!grid)
        return BOUMA_EINVAL;
    object = &grid->object;
    first = 3 - object->ndims;
    out->name = object->name;
    out->ndims = object->ndims;
    out->levels = object->levels;
    for (int d = 0; d < object->ndims; d++) {
        out->shape[d] = object->domain.hi[first + d];
        out->origin[d] = object->origin[d];
        out->spacing[d] = object->spacing[d];
    }
    out->unit = object->unit;
    out->variables = bm_object_variable_count(object);
    out->patches = object->layout->chunking(object).count;
    out->layout = (bouma_layout)object->layout->code;
    object->layout->info(object, out);
    return bm_reply(given, &own, sizeof(own));
}

/* Peak signal to noise: the width of the range over the root of the mean
 * squared error. */
static double psnr_of(const struct bouma_variable *v)
{
    double low = INFINITY, high = -INFINITY, samples = 0;

    for (int j = 0; j < v->components; j++) {
        const struct bm_range *r = &v->in_step.ranges[j];

        samples += (double)r->count;
        if (r->count) {
            low = fmin(low, bm_scalar_double(r->low, v->type));
            high = fmax(high, bm_scalar_double(r->high, v->type));
        }
    }
    if (isinf(v->in_step.loss.squares))
        return NAN; /* nobody looked */
    if (!(v->in_step.loss.squares > 0) || !(high > low))
        return INFINITY;
    if (isinf(high - low))
        return NAN; /* the finite range is not recorded */
    return 20 * log10(high - low) -
           10 * log10(v->in_step.loss.squares / samples);
}

uint64_t bouma_variable_level_bytes(const bouma_variable *variable, int level)
{
    int piece = variable && level >= 0 && level < variable->object->levels
                    ? bm_added_piece(variable->object, level)
                    : -1;

    return piece < 0 ? 0 : variable->in_step.level_bytes[piece];
}

int bouma_variable_info_get(bouma_variable_info *given,
                            const bouma_variable *variable)
{
    BM_STRICT_MATH;
    bouma_variable_info own = {0}, *out = &own;

    if (!bm_reply_begin(given, sizeof(own)))
        return bm_api_no_output(variable ? variable->object->schema->error
                                         : NULL,
                                "facts of a variable");
    if (!variable)
        return BOUMA_EINVAL;
    out->name = variable->name;
    out->type = variable->type;
    out->components = variable->components;
    out->codec = variable->codec;
    out->codec_level = variable->effort;
    out->unit = variable->unit;
    out->present = variable->in_step.present;
    out->raw_bytes = variable->in_step.raw_bytes;
    out->stored_bytes = variable->in_step.stored_bytes;
    out->tolerance = variable->tolerance;
    out->tolerance_kind = variable->tolerance_kind;
    out->bound = variable->bound;
    out->largest_error = variable->in_step.loss.largest;
    out->span = variable->span;
    out->psnr = psnr_of(variable);
    out->nominal = variable->nominal;
    out->averages = bm_variable_averages(variable);
    return bm_reply(given, &own, sizeof(own));
}

/* Whether there is something to read of a variable. */
static int check_present(const bouma_variable *v)
{
    struct bm_error *error = v->object->schema->error;

    if (!v->object->schema->step)
        return bm_fail(error, BOUMA_ESTATE,
                       "variable \"%s/%s\" is being written; open a step to "
                       "read",
                       v->object->name, v->name);
    if (!v->in_step.present)
        return bm_fail(error, BOUMA_ENOTFOUND,
                       "variable \"%s/%s\" is not in this step",
                       v->object->name, v->name);
    return BOUMA_OK;
}

/* Threads of a read or query are at work while it calls its caller back. */
int bm_api_check_idle(const struct bouma_step *step)
{
    return step && step->open.busy
               ? bm_fail(
                     &step->ds->error, BOUMA_ESTATE,
                     "a read or query of this step is under way: its callback "
                     "must not read the step; read after the call has returned")
               : BOUMA_OK;
}

int bouma_variable_range(bouma_range *out, const bouma_variable *variable,
                         int component)
{
    BM_STRICT_MATH;
    struct bm_error *error;
    int rc;

    if (!out)
        return bm_api_no_output(
            variable ? variable->object->schema->error : NULL, "a range");
    memset(out, 0, sizeof(*out));
    if (!variable)
        return BOUMA_EINVAL;
    error = variable->object->schema->error;
    bm_error_clear(error);
    rc = check_present(variable);
    if (rc)
        return rc;
    if (component < 0 || component >= variable->components)
        return bm_fail(error, BOUMA_ENOTFOUND,
                       "variable \"%s/%s\" has %d components, counted from 0; "
                       "there is no number %d",
                       variable->object->name, variable->name,
                       variable->components, component);
    bm_range_public(out, &variable->in_step.ranges[component], variable->type);
    return BOUMA_OK;
}

/* ---- boxes -------------------------------------------------------------- */

/* Check a level and a box (NULL: all of the grid), and lift the box. */
static int check_box(const bouma_variable *v, int level, const bouma_box *box,
                     struct bm_box *lifted)
{
    struct bm_error *error = v->object->schema->error;
    int ndims = v->object->ndims;
    struct bm_box domain = v->object->domain;
    char text[160], whole[160];

    if (!v->object->layout->chunking)
        return bm_fail(error, BOUMA_EINVAL,
                       "\"%s/%s\" is a variable of particles; read those with "
                       "bouma_particles_read()",
                       v->object->name, v->name);
    if (level < 0 || level >= v->object->levels)
        return bm_fail(error, BOUMA_ENOTFOUND,
                       "grid \"%s\" has no level %d; it has levels 0 (full "
                       "resolution) to %d",
                       v->object->name, level, v->object->levels - 1);
    *lifted = box ? bm_box_lift(box, ndims) : domain;
    bm_box_text(text, sizeof(text), lifted, ndims);
    bm_box_text(whole, sizeof(whole), &domain, ndims);
    for (int d = 0; d < 3; d++)
        if (lifted->hi[d] < lifted->lo[d])
            return bm_fail(error, BOUMA_EINVAL,
                           "the box %s ends before it begins", text);
    if (!bm_box_inside(lifted, &domain))
        return bm_fail(error, BOUMA_EINVAL,
                       "the box %s is not inside grid \"%s\", which is %s",
                       text, v->object->name, whole);
    return BOUMA_OK;
}

int bouma_variable_select(bouma_selection *given,
                          const bouma_variable *variable, int level,
                          const bouma_box *box)
{
    bouma_selection own = {0}, *out = &own;
    struct bm_box lifted;
    struct bm_footprint samples;
    int rc;

    if (!bm_reply_begin(given, sizeof(own)))
        return bm_api_no_output(
            variable ? variable->object->schema->error : NULL, "a selection");
    if (!variable)
        return BOUMA_EINVAL;
    bm_error_clear(variable->object->schema->error);
    rc = check_box(variable, level, box, &lifted);
    if (rc)
        return rc;
    samples = bm_footprint_of_box(&lifted);
    samples = bm_footprint_at_level(&samples, level);
    bm_selection_of(out, variable->object, bm_variable_sample_size(variable),
                    &samples);
    return bm_reply(given, &own, sizeof(own));
}

int bm_api_check_readable(struct bm_box *lifted, const bouma_variable *v,
                          int level, const bouma_box *box)
{
    int rc = check_box(v, level, box, lifted);

    if (!rc)
        rc = check_present(v);
    return rc ? rc : bm_api_check_idle(v->object->schema->step);
}

/* A caller's request, checked and in the form of the pipeline. */
static int make_request(struct bm_read_request *out, bouma_variable *v,
                        int level, const bouma_box *box,
                        const bouma_array *array)
{
    struct bm_lattice l;
    int rc = bm_api_check_readable(&out->box, v, level, box);

    if (rc)
        return rc;
    l = bm_lattice_of(&out->box, level);
    out->variable = v;
    out->level = level;
    out->apart = NULL;
    return bm_lattice_samples(&l)
               ? bm_api_array(&out->to, &out->apart, array, v, l.count, 0)
               : BOUMA_OK;
}

static int is_empty(const struct bm_read_request *r)
{
    struct bm_lattice l = bm_lattice_of(&r->box, r->level);

    return bm_lattice_samples(&l) == 0;
}

int bouma_variable_read(bouma_variable *variable, int level,
                        const bouma_box *box, const bouma_array *array)
{
    BM_STRICT_MATH;
    struct bm_read_request r;
    struct bouma_step *step;
    double begun;
    int rc;

    if (!variable)
        return BOUMA_EINVAL;
    bm_error_clear(variable->object->schema->error);
    rc = make_request(&r, variable, level, box, array);
    if (rc || is_empty(&r))
        return rc;
    step = variable->object->schema->step;
    begun = bm_trace_now(step->ds->engine.tracing.trace);
    bm_api_enter_step(step);
    rc = bm_read_box(step, &r);
    bm_drop(step->ds->a, r.apart);
    rc = bm_api_traced(step->ds, "read box", begun, rc);
    return bm_api_leave_step(step, rc);
}

/* What a caller wants of a step. */
struct caller_requests {
    const bouma_request *list; /* [count] */
    size_t count;
};

/* The i-th of a caller's requests. *is_taken: it is for this writing of the step. */
static int make_request_of(struct bm_read_request *out, bouma_step *writing,
                           const bouma_request *requests, size_t i,
                           int *is_taken)
{
    bouma_step *step = bm_step_whole(writing);
    struct bm_error *error = &step->ds->error;
    bouma_request r;
    int rc =
        bm_api_copy_element(error, &r, sizeof(r), requests, i, "bouma_request");

    *is_taken = 0;
    if (rc)
        return rc;
    if (!r.variable || !r.variable->object->schema->step ||
        bm_step_whole(r.variable->object->schema->step) != step)
        return bm_fail(
            error, BOUMA_EINVAL,
            "request %zu is for %s; it must be one of step %" PRIu64, i,
            r.variable ? "a variable of another step" : "no variable",
            step->manifest.step);
    if (r.variable->object->schema->step != writing)
        return BOUMA_OK;
    rc = make_request(out, r.variable, r.level, &r.box, r.array);
    *is_taken = !rc && !is_empty(out);
    return rc;
}

/* Read what is wanted of one writing of the step. 'own' has room for all
 * requests. Collective. */
static int read_writing(bouma_step *writing, struct bm_read_request *own,
                        const struct caller_requests *wanted, int rc)
{
    size_t n = 0;
    int is_taken;

    for (size_t i = 0; i < wanted->count && !rc; i++) {
        rc = make_request_of(&own[n], writing, wanted->list, i, &is_taken);
        n += (size_t)is_taken;
    }
    rc = bm_read_all(writing, own, n, rc);
    for (size_t i = 0; i < n; i++)
        bm_drop(writing->ds->a, own[i].apart);
    return rc;
}

int bouma_step_read(bouma_step *step, const bouma_request *requests,
                    size_t count)
{
    BM_STRICT_MATH;
    struct caller_requests wanted = {requests, count};
    struct bouma_dataset *ds;
    struct bm_read_request *own;
    double begun;
    int rc = BOUMA_OK;

    if (!step)
        return BOUMA_EINVAL;
    ds = step->ds;
    rc = bm_api_begin(ds, BM_TO_READ);
    if (!rc)
        rc = bm_api_check_together(step);
    if (rc)
        return rc;
    own = bm_new(ds->a, count, sizeof(*own));
    if (count && !requests)
        rc = bm_fail(&ds->error, BOUMA_EINVAL,
                     "requests is NULL, but count is %zu", count);
    else if (!own)
        rc = bm_fail(&ds->error, BOUMA_ENOMEM, "no memory for %zu requests",
                     count);
    begun = bm_trace_now(ds->engine.tracing.trace);
    bm_api_enter_step(step);
    /* All ranks know the same writings, and go on only if all is well. */
    for (size_t k = 0; k < bm_manifest_writings(&step->manifest) && (!k || !rc);
         k++)
        rc = read_writing(bm_step_writing(step, k), own, &wanted, rc);
    bm_drop(ds->a, own);
    rc = bm_api_traced(ds, "read boxes of all", begun, rc);
    return bm_api_leave_step(step, rc);
}

/* ---- queries ------------------------------------------------------------ */

/* What a caller asks of the patches of a variable, in a struct of ours. */
static int take_patch_query(bouma_patch_query *q, struct bm_box *lifted,
                            const bouma_variable *variable,
                            const bouma_patch_query *given)
{
    struct bm_error *error = variable->object->schema->error;
    int rc = bm_api_copy_spec(error, q, sizeof(*q), given,
                              given ? given->size : 0, "bouma_patch_query");

    if (rc)
        return rc;
    if (!q->each)
        return bm_fail(error, BOUMA_EINVAL,
                       "a query of patches needs a function 'each'");
    rc = check_box(variable, q->choose ? 0 : q->level, q->box, lifted);
    if (!rc)
        rc = check_present(variable);
    if (!rc)
        rc = bm_api_check_idle(variable->object->schema->step);
    if (!rc && q->within &&
        (q->component < 0 || q->component >= variable->components))
        rc = bm_fail(error, BOUMA_EINVAL,
                     "there is no component %d of \"%s/%s\", which has %d, "
                     "counted from 0",
                     q->component, variable->object->name, variable->name,
                     variable->components);
    if (!rc && q->within && !(q->low <= q->high))
        rc = bm_fail(error, BOUMA_EINVAL,
                     "no value is from %g to %g: give the lower one first",
                     q->low, q->high);
    return rc;
}

int bouma_variable_query(bouma_variable *variable,
                         const bouma_patch_query *query)
{
    BM_STRICT_MATH;
    struct bouma_step *step;
    bouma_patch_query own;
    struct bm_box lifted;
    double begun;
    int rc;

    if (!variable)
        return BOUMA_EINVAL;
    bm_error_clear(variable->object->schema->error);
    rc = take_patch_query(&own, &lifted, variable, query);
    if (rc)
        return rc;
    step = variable->object->schema->step;
    begun = bm_trace_now(step->ds->engine.tracing.trace);
    bm_api_enter_step(step);
    rc = bm_query(step, variable, &own, &lifted);
    rc = bm_api_traced(step->ds, "query patches", begun, rc);
    return bm_api_leave_step(step, rc);
}
