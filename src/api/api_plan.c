/* api_plan.c -- what a write would do, without ranks and data. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "api/api.h"
#include "base/clock.h"
#include "layout/head.h"
#include "machine/machine.h"
#include "plan/estimate.h"
#include "plan/schedule.h"
#include "store/text_file.h"

/* ---- memory that is counted --------------------------------------------- */

struct counter {
    const bouma_allocator *a;
    size_t now, peak;
};

/* In front of each block. */
union block_head {
    size_t bytes;
    max_align_t align;
};

static void *count_resize(void *user, void *block, size_t bytes)
{
    struct counter *c = user;
    union block_head *head = block ? (union block_head *)block - 1 : NULL;
    size_t old = head ? head->bytes : 0;

    if (bytes > SIZE_MAX - sizeof(*head))
        return NULL;
    head = c->a->resize(c->a->user, head, sizeof(*head) + bytes);
    if (!head)
        return NULL;
    head->bytes = bytes;
    c->now = c->now - old + bytes;
    c->peak = c->now > c->peak ? c->now : c->peak;
    return head + 1;
}

static void count_release(void *user, void *block)
{
    struct counter *c = user;
    union block_head *head = (union block_head *)block - 1;

    if (!block)
        return;
    c->now -= head->bytes;
    c->a->release(c->a->user, head);
}

/* ---- checks ------------------------------------------------------------- */

struct bouma_plan {
    struct counter counter;
    bouma_allocator a; /* that counts */
    bouma_options options;
    struct bm_machine *machine; /* NULL: nobody asks for it */
    struct bm_estimate_task task;
    struct bm_estimate estimate;
    double seconds;
};

static int check_blocks(bouma_plan *plan, const bouma_plan_spec *spec,
                        struct bm_error *error)
{
    int64_t *blocks = plan->task.blocks, product = 1;
    int first = 3 - spec->ndims, given = 0;

    for (int d = 0; d < spec->ndims; d++)
        given |= spec->blocks[d] != 0;
    if (!given) {
        bm_estimate_blocks(blocks, &plan->task, spec->ranks);
        return BOUMA_OK;
    }
    for (int d = 0; d < 3; d++)
        blocks[d] = d < first ? 1 : spec->blocks[d - first];
    for (int d = 0; d < 3; d++)
        if (blocks[d] < 1 ||
            __builtin_mul_overflow(product, blocks[d], &product))
            product = -1;
    if (product == spec->ranks)
        return BOUMA_OK;
    return bm_fail(
        error, BOUMA_EINVAL,
        "the numbers of blocks along the axes must multiply to the %d ranks",
        spec->ranks);
}

static int check_numbers(const bouma_plan_spec *spec, struct bm_error *error)
{
    if (spec->ranks < 1)
        return bm_fail(error, BOUMA_EINVAL,
                       "%d ranks; there must be at least 1", spec->ranks);
    if (spec->ndims < 1 || spec->ndims > 3)
        return bm_fail(error, BOUMA_EINVAL, "ndims is %d; it must be 1 to 3",
                       spec->ndims);
    if (spec->type == BOUMA_STRING || !bouma_type_size(spec->type))
        return bm_fail(error, BOUMA_EINVAL, "there is no type %d of samples",
                       (int)spec->type);
    if (spec->components < 1 || spec->components > BM_MAX_COMPONENTS)
        return bm_fail(error, BOUMA_EINVAL,
                       "%d components; 1 to %d are possible", spec->components,
                       BM_MAX_COMPONENTS);
    if (!(spec->ratio >= 1e-3 && spec->ratio <= 1e9))
        return bm_fail(error, BOUMA_EINVAL,
                       "a ratio of %g; it can be 0.001 to 1e9", spec->ratio);
    if (!(spec->vary >= 1 && spec->vary <= 1e6))
        return bm_fail(error, BOUMA_EINVAL,
                       "chunks that vary by %g; it can be 1 to 1e6",
                       spec->vary);
    return BOUMA_OK;
}

/* The patches of a grid, as bouma_grid_define() has them. */
static int check_grid(bouma_plan *plan, const bouma_plan_spec *spec,
                      struct bm_error *error)
{
    const char *wrong =
        bm_estimate_grid(&plan->task, spec->ndims, spec->shape, spec->patch);
    uint64_t bytes;

    if (wrong)
        return bm_fail(error, BOUMA_EINVAL, "the grid %s", wrong);
    plan->task.sample_bytes =
        bouma_type_size(spec->type) * (uint64_t)spec->components;
    if (__builtin_mul_overflow(bm_estimate_samples(&plan->task),
                               plan->task.sample_bytes, &bytes) ||
        (double)bytes / spec->ratio > 9e18)
        return bm_fail(error, BOUMA_ELIMIT,
                       "the grid has more bytes than can be counted");
    return BOUMA_OK;
}

/* What the table of a file has for each chunk. */
static void describe_tables(bouma_plan *plan, const bouma_plan_spec *spec)
{
    plan->task.section_bytes = BM_SECTION_BYTES;
    plan->task.row_bytes =
        bm_table_row_bytes(spec->type, spec->components, plan->task.levels,
                           bm_estimate_patch_samples(&plan->task));
    plan->task.copies = BM_HEAD_COPIES;
}

static int check_spec(bouma_plan *plan, const bouma_plan_spec *given,
                      struct bm_error *error)
{
    bouma_plan_spec spec;
    int rc;

    if (!given || !bm_struct_copy(&spec, sizeof(spec), given, given->size))
        return bm_fail(
            error, BOUMA_EINVAL,
            given ? "bouma_plan_spec: 'size' is not set to "
                    "sizeof(bouma_plan_spec), or fields of a newer version are "
                    "set"
                  : "bouma_plan_spec is NULL; it must tell what to plan");
    spec.type = spec.type ? spec.type : BOUMA_F32;
    spec.components = spec.components ? spec.components : 1;
    spec.ratio = spec.ratio != 0 ? spec.ratio : 1;
    spec.vary = spec.vary != 0 ? spec.vary : 1;
    rc = check_numbers(&spec, error);
    if (!rc)
        rc = check_grid(plan, &spec, error);
    if (!rc)
        rc = check_blocks(plan, &spec, error);
    if (!rc)
        describe_tables(plan, &spec);
    plan->task.ranks = spec.ranks;
    plan->task.ratio = spec.ratio;
    plan->task.vary = spec.vary;
    plan->task.options = &plan->options;
    plan->task.most_files = BM_MAX_SUBFILES;
    return rc;
}

/* ---- the machine -------------------------------------------------------- */

/* Nobody is asked where ranks are: they fill nodes in order. */
static int make_machine(bouma_plan *plan, struct bm_error *error)
{
    const char *spec = plan->options.machine;
    int is_file = bm_machine_is_file(spec), rc = BOUMA_OK;
    struct bm_buffer file;

    bm_buffer_init(&file, &plan->a);
    if (is_file)
        rc = bm_text_file_load(&file, spec, error);
    if (!rc)
        rc = bm_machine_make(
            &plan->machine, &plan->a,
            &(struct bm_machine_source){
                .spec = spec,
                .file = is_file ? (const char *)file.data : NULL,
                .file_bytes = file.size,
                .ranks = plan->task.ranks},
            error);
    bm_buffer_release(&file);
    return rc;
}

static int find_machine(bouma_plan *plan, struct bm_error *error)
{
    struct bm_cost_rule *rule = &plan->task.rule;
    const bouma_options *o = &plan->options;
    int rc;

    *rule = (struct bm_cost_rule){
        .only = o->tier,
        .buffers = o->buffers,
        .buffer_bytes = o->buffer_bytes ? o->buffer_bytes : BM_BUFFER_BYTES,
        .persist = o->persist};
    if (!o->machine[0] && !bm_placement_of(o->place)->needs_machine)
        return BOUMA_OK;
    rc = make_machine(plan, error);
    if (!rc) {
        rule->network = bm_machine_network(plan->machine);
        rule->tiers = bm_machine_tiers(plan->machine, &rule->tier_count);
        if (!o->buffer_bytes && bm_machine_stripe(plan->machine))
            rule->buffer_bytes = bm_machine_stripe(plan->machine);
    }
    return rc;
}

/* ---- the plan ----------------------------------------------------------- */

int bouma_plan_make(bouma_plan **out, const bouma_plan_spec *spec,
                    const bouma_options *opts, char *message, size_t bytes)
{
    BM_STRICT_MATH;
    const bouma_allocator *a = bm_api_allocator(opts);
    bouma_plan *plan = bm_new(a, 1, sizeof(*plan));
    struct bm_error error = {0};
    double start = bm_clock();
    int rc;

    if (out)
        *out = NULL;
    if (message && bytes)
        message[0] = 0;
    if (plan) {
        plan->counter.a = a;
        plan->a =
            (bouma_allocator){&plan->counter, count_resize, count_release};
        rc = bm_options_complete(&plan->options, opts, &error);
        if (!rc && !out)
            rc = bm_fail(&error, BOUMA_EINVAL, "there is no place for a plan");
        if (!rc)
            rc = check_spec(plan, spec, &error);
        if (!rc)
            rc = find_machine(plan, &error);
        if (!rc)
            rc = bm_estimate_make(&plan->estimate, &plan->a, &plan->task);
    } else {
        rc = BOUMA_ENOMEM;
    }
    if (rc && !error.status)
        bm_fail(&error, rc,
                rc == BOUMA_ENOMEM ? "no memory to plan for so many ranks or "
                                     "patches"
                                   : "too many patches; choose larger ones");
    if (rc) {
        bm_api_tell(message, bytes, error.text);
        bouma_plan_free(plan);
        return rc;
    }
    plan->seconds = bm_clock() - start;
    *out = plan;
    return BOUMA_OK;
}

void bouma_plan_free(bouma_plan *plan)
{
    if (!plan)
        return;
    bm_estimate_release(&plan->estimate);
    bm_machine_free(plan->machine);
    bm_drop(plan->counter.a, plan);
}

/* ---- what it says ------------------------------------------------------- */

int bouma_plan_report_get(const bouma_plan *plan, bouma_plan_report *out)
{
    BM_STRICT_MATH;
    const struct bm_estimate *e;

    if (!plan || !out)
        return BOUMA_EINVAL;
    e = &plan->estimate;
    memset(out, 0, sizeof(*out));
    out->distribute = plan->options.distribute;
    out->assign = bm_assign_in_order(plan->options.assign);
    out->place = plan->options.place;
    bm_estimate_tell_grid(out, &plan->task);
    out->shared_patches = e->distribution.shared_patches;
    out->fewest_patches = e->fewest_patches;
    out->most_patches = e->distribution.most_patches;
    out->moved_bytes = e->distribution.moved_samples * plan->task.sample_bytes;
    out->moved_messages = e->moved_messages;
    out->shipped_bytes = e->shipped_bytes;
    out->shipped_messages = e->shipped_messages;
    out->rounds = e->rounds;
    out->writers = e->writers;
    out->files = e->files;
    out->smallest_file = UINT64_MAX;
    for (int64_t f = 0; f < e->files; f++) {
        uint64_t bytes = e->file_bytes[f];

        out->stored_bytes += bytes;
        if (bytes > out->largest_file)
            out->largest_file = bytes;
        if (bytes < out->smallest_file)
            out->smallest_file = bytes;
    }
    out->mean_file = out->stored_bytes / (uint64_t)e->files;
    out->memory_bytes = plan->counter.peak;
    out->seconds = plan->seconds;
    out->machine = plan->machine != NULL;
    out->byte_hops = e->byte_hops;
    return BOUMA_OK;
}

int bouma_plan_patch_get(const bouma_plan *plan, const int64_t *at,
                         bouma_plan_patch *out)
{
    int64_t patch;

    if (!plan || !at || !out)
        return BOUMA_EINVAL;
    patch = bm_estimate_patch(&plan->task, at);
    if (patch < 0)
        return BOUMA_ENOTFOUND;
    out->owner = plan->estimate.owner[patch];
    out->file = plan->estimate.file[patch];
    out->bytes = plan->estimate.bytes[patch];
    return BOUMA_OK;
}

int bouma_plan_file_get(const bouma_plan *plan, int64_t file,
                        bouma_plan_file *out)
{
    BM_STRICT_MATH;
    const struct bm_estimate *e;

    if (!plan || !out)
        return BOUMA_EINVAL;
    e = &plan->estimate;
    if (file < 0 || file >= e->files)
        return BOUMA_ENOTFOUND;
    out->writer = e->writer[file];
    out->tier = e->tier[file];
    out->patches = e->file_patches[file];
    out->bytes = e->file_bytes[file];
    return BOUMA_OK;
}

static bouma_plan_cost cost_row(const bouma_plan *plan,
                                const struct bm_cost *cost,
                                const struct bm_cost *choice)
{
    return (bouma_plan_cost){.rank = cost->rank,
                             .node = cost->node,
                             .tier = plan->task.rule.tiers[cost->tier].kind,
                             .fits = cost->fits,
                             .chosen = cost->rank == choice->rank &&
                                       cost->tier == choice->tier,
                             .gather = cost->gather,
                             .store = cost->store,
                             .links = cost->links,
                             .wait = cost->wait};
}

int bouma_plan_explain(const bouma_plan *plan, int64_t file,
                       void (*each)(void *user, const bouma_plan_cost *cost),
                       void *user)
{
    BM_STRICT_MATH;
    const struct bm_estimate *e;
    struct bm_cost *table = NULL;
    size_t count;
    int rc;

    if (!plan || !each || !plan->estimate.choice)
        return BOUMA_EINVAL;
    e = &plan->estimate;
    if (file < 0 || file >= e->files)
        return BOUMA_ENOTFOUND;
    rc = bm_cost_table(&table, &count, plan->counter.a, &plan->task.rule,
                       &e->gathering, file);
    for (size_t i = 0; i < count && !rc; i++) {
        bouma_plan_cost row = cost_row(plan, &table[i], &e->choice[file]);

        each(user, &row);
    }
    bm_drop(plan->counter.a, table);
    return rc;
}
