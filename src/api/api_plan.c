/* api_plan.c -- what a write would do, without ranks and data: the plan is
 * checked and made. api_plan_report.c tells of it. */
#include "api/api_plan.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "engine/io_environment.h"
#include "layout/grid_hz.h"
#include "layout/grid_patch.h"
#include "layout/head.h"
#include "layout/particle_summary.h"
#include "plan/particle_cut.h"
#include "store/text_file.h"
#include "write/own_plan.h"

/* ---- memory that is counted --------------------------------------------- */

/* In front of each block. */
union block_head {
    size_t bytes;
    max_align_t align;
};

static void *count_resize(void *user, void *block, size_t bytes)
{
    struct bm_plan_counter *c = user;
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
    struct bm_plan_counter *c = user;
    union block_head *head = (union block_head *)block - 1;

    if (!block)
        return;
    c->now -= head->bytes;
    c->a->release(c->a->user, head);
}

/* ---- checks ------------------------------------------------------------- */

static int check_numbers(const bouma_plan_spec *spec, struct bm_error *error)
{
    if (spec->ranks < 1)
        return bm_fail(error, BOUMA_EINVAL,
                       "%d ranks; there must be at least 1", spec->ranks);
    if (spec->ndims < 1 || spec->ndims > 3)
        return bm_fail(error, BOUMA_EINVAL, "ndims is %d; it must be 1 to 3",
                       spec->ndims);
    if (spec->type == BOUMA_TYPE_STRING || !bouma_type_size(spec->type))
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
    if (spec->rank_order && !bouma_rank_order_name(spec->rank_order))
        return bm_fail(error, BOUMA_EINVAL, "there is no order %d of ranks",
                       (int)spec->rank_order);
    return BOUMA_OK;
}

/* The ranks along each axis, and their blocks. */
static int check_blocks(bouma_plan *plan, const bouma_plan_spec *spec,
                        struct bm_error *error)
{
    int first = 3 - spec->ndims, given = 0;
    int64_t shape[3] = {1, 1, 1}, blocks[3] = {1, 1, 1}, product = 1;

    for (int d = 0; d < spec->ndims; d++) {
        shape[first + d] = spec->shape[d];
        blocks[first + d] = spec->blocks[d];
        given |= spec->blocks[d] != 0;
        if (spec->shape[d] < 1)
            return bm_fail(error, BOUMA_EINVAL,
                           "the grid has no samples along an axis");
    }
    if (!given)
        bm_estimate_blocks(blocks, shape, spec->ndims, spec->ranks);
    for (int d = 0; d < 3; d++)
        if (blocks[d] < 1 ||
            __builtin_mul_overflow(product, blocks[d], &product))
            product = -1;
    if (product != spec->ranks)
        return bm_fail(error, BOUMA_EINVAL,
                       "the numbers of blocks along the axes must multiply to "
                       "the %d ranks",
                       spec->ranks);
    memcpy(plan->task.shape, shape, sizeof(shape));
    return bm_hz_ranks_init(&plan->task.ranks, shape, NULL, blocks,
                            spec->rank_order)
               ? bm_fail(error, BOUMA_EINVAL, "there are too many blocks")
               : BOUMA_OK;
}

/* Messages of the schema are about a grid with a name. */
static int about_the_grid(struct bm_error *error, int rc)
{
    static const char named[] = "grid \"plan\"", about[] = "the grid";
    size_t length = strlen(error->text);

    if (!strncmp(error->text, named, sizeof(named) - 1)) {
        memmove(error->text + sizeof(about) - 1,
                error->text + sizeof(named) - 1, length - sizeof(named) + 2);
        memcpy(error->text, about, sizeof(about) - 1);
    }
    return rc;
}

/* The grid, as bouma_grid_define() has it. */
static int define_grid(bouma_plan *plan, const bouma_plan_spec *spec)
{
    char own[BM_HZ_BITS + 2];
    bouma_grid_spec grid = {.size = sizeof(grid),
                            .ndims = spec->ndims,
                            .layout = spec->layout,
                            .hz_template = spec->hz_template,
                            .hz_block_bits = spec->hz_block_bits,
                            .hz_blocks_per_file = spec->hz_blocks_per_file,
                            .hz_order = spec->hz_order};
    struct bm_hz hz;

    memcpy(grid.shape, spec->shape, sizeof(grid.shape));
    memcpy(grid.patch, spec->patch, sizeof(grid.patch));
    if (spec->hz_template && !strcmp(spec->hz_template, "ranks") &&
        !bm_hz_ranks_template_near(&hz, &plan->task.ranks)) {
        bm_hz_text(own, &hz);
        grid.hz_template = own;
    }
    return bm_schema_add_grid(&plan->schema, &plan->grid, "plan", &grid);
}

/* What patches would be without a look at the ranks. */
static void tell_usual(bouma_plan *plan)
{
    bouma_grid_info info = {0};

    plan->grid->layout->info(plan->grid, &info);
    memcpy(plan->usual_patch, info.patch, sizeof(plan->usual_patch));
}

/* Edges of patches that are left to the library are chosen as by ranks that
 * write. Such a ratio takes a tolerance. */
#define LOSSY_RATIO 4
static int settle_patches(bouma_plan *plan, const bouma_plan_spec *spec)
{
    struct bm_patch_grid task;
    struct bm_rank_grid ranks;
    int64_t edge[3];
    int rc;

    if (!bm_grid_patch_open(plan->grid))
        return BOUMA_OK;
    rc = bm_rank_grid_init(&ranks, &plan->a, &plan->task.ranks);
    if (!rc) {
        const int64_t *cut[3] = {ranks.cut[0], ranks.cut[1], ranks.cut[2]};

        task = bm_grid_patch_task(plan->grid);
        task.most_samples = BM_MAX_CHUNK / bouma_type_size(spec->type) /
                            (uint64_t)spec->components;
        task.predicted = spec->ratio >= LOSSY_RATIO;
        bm_patch_choose_on_grid(edge, &task, cut, ranks.grid);
        bm_grid_patch_settle(plan->grid, edge);
    }
    bm_rank_grid_release(&ranks);
    return rc;
}

static void values_of(const void *object, uint64_t key,
                      uint64_t values[BM_ESTIMATE_PIECES])
{
    const struct bm_object *o = object;

    o->layout->values(o, NULL, key, values);
}

/* What the plan must know of chunks, and of the tables of files. */
static void describe_chunks(bouma_plan *plan, const bouma_plan_spec *spec)
{
    const struct bm_object *o = plan->grid;

    _Static_assert(BM_ESTIMATE_PIECES >= BM_MAX_LEVELS, "room for all pieces");
    plan->task.chunks =
        (struct bm_estimate_chunks){.chunking = o->layout->chunking(o),
                                    .pieces = bm_pieces(o),
                                    .values = values_of,
                                    .object = o};
    plan->task.section_bytes = BM_SECTION_BYTES;
    plan->task.row_bytes = bm_table_row_bytes(
        spec->type, spec->components, bm_pieces(o), o->layout->most_values(o));
    plan->task.copies = BM_HEAD_COPIES;
}

static int check_grid(bouma_plan *plan, const bouma_plan_spec *spec,
                      struct bm_error *error)
{
    int rc = define_grid(plan, spec);
    uint64_t bytes;

    if (rc)
        return about_the_grid(error, rc);
    tell_usual(plan);
    rc = settle_patches(plan, spec);
    if (rc)
        return rc;
    plan->task.sample_bytes =
        bouma_type_size(spec->type) * (uint64_t)spec->components;
    if (__builtin_mul_overflow(bm_box_volume(&plan->grid->domain),
                               plan->task.sample_bytes, &bytes) ||
        (double)bytes / spec->ratio > 9e18)
        return bm_fail(error, BOUMA_ELIMIT,
                       "the grid has more bytes than can be counted");
    describe_chunks(plan, spec);
    return BOUMA_OK;
}

/* ---- particles ----------------------------------------------------------- */

static int check_particles(bouma_plan *plan, const bouma_plan_spec *spec,
                           struct bm_error *error)
{
    uint64_t bytes;

    if (spec->layout || spec->hz_template || spec->hz_block_bits ||
        spec->hz_blocks_per_file || spec->hz_order || spec->patch[0] ||
        spec->patch[1] || spec->patch[2] || spec->vary != 1)
        return bm_fail(error, BOUMA_EINVAL,
                       "particles have no patches, no layout and no 'vary'");
    if (spec->particles >= (uint64_t)1 << 62)
        return bm_fail(error, BOUMA_ELIMIT, "2^62 particles or more");
    plan->task.sample_bytes = bouma_type_size(spec->type) *
                              (uint64_t)(spec->ndims + spec->components);
    if (__builtin_mul_overflow(spec->particles, plan->task.sample_bytes,
                               &bytes) ||
        (double)bytes / spec->ratio > 9e18)
        return bm_fail(error, BOUMA_ELIMIT,
                       "the particles have more bytes than can be counted");
    plan->task.particles = spec->particles;
    plan->task.ndims = spec->ndims;
    return BOUMA_OK;
}

/* ---- loads --------------------------------------------------------------- */

/* What each rank holds, as the caller says. */
static int ask_loads(bouma_plan *plan, const bouma_plan_spec *spec,
                     struct bm_error *error)
{
    int first = 3 - spec->ndims, ranks = spec->ranks;
    uint64_t sum = 0;

    if (!spec->load)
        return BOUMA_OK;
    plan->loads = bm_new_raw(&plan->a, (size_t)ranks, sizeof(*plan->loads));
    if (!plan->loads)
        return BOUMA_ENOMEM;
    for (int r = 0; r < ranks; r++) {
        int64_t cell[3];

        bm_hz_ranks_cell(&plan->task.ranks, r, cell);
        plan->loads[r] = spec->load(spec->load_user, r, cell + first,
                                    plan->task.ranks.grid + first);
        if (__builtin_add_overflow(sum, plan->loads[r], &sum) || sum >> 62)
            return bm_fail(error, BOUMA_ELIMIT,
                           "the loads of ranks are 2^62 or more in sum");
    }
    if (!sum)
        return bm_fail(error, BOUMA_EINVAL, "no rank has a load");
    plan->task.loads = plan->loads;
    return BOUMA_OK;
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
                  : "bouma_plan_spec is NULL; it must say what to plan");
    spec.type = spec.type ? spec.type : BOUMA_TYPE_F32;
    spec.components = spec.components ? spec.components : 1;
    spec.ratio = spec.ratio != 0 ? spec.ratio : 1;
    spec.vary = spec.vary != 0 ? spec.vary : 1;
    rc = check_numbers(&spec, error);
    if (!rc)
        rc = check_blocks(plan, &spec, error);
    if (!rc)
        rc = spec.particles ? check_particles(plan, &spec, error)
                            : check_grid(plan, &spec, error);
    if (!rc)
        rc = ask_loads(plan, &spec, error);
    plan->ndims = spec.ndims;
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
                .ranks = plan->task.ranks.count},
            error);
    bm_buffer_release(&file);
    return rc;
}

static int find_machine(bouma_plan *plan, struct bm_error *error)
{
    struct bm_cost_rule *rule = &plan->task.rule;
    const struct bm_options *o = &plan->options;
    int rc;

    *rule =
        (struct bm_cost_rule){.only = o->tier,
                              .buffers = o->buffers,
                              .buffer_bytes = bm_io_environment_usual_buffer(o),
                              .persist = o->persist};
    if (!o->machine[0] && o->nodes_per_file)
        return bm_fail(error, BOUMA_EINVAL,
                       "for files by node the plan must know which ranks share "
                       "a node: 'machine' says it, such as flat,per=32");
    if (!o->machine[0] && !bm_placement_of(o->place)->needs_machine)
        return BOUMA_OK;
    rc = make_machine(plan, error);
    if (!rc) {
        rule->network = bm_machine_network(plan->machine);
        rule->tiers = bm_machine_tiers(plan->machine, &rule->tier_count);
        if (!o->buffer_bytes && bm_machine_stripe(plan->machine))
            rule->buffer_bytes = bm_machine_stripe(plan->machine);
        rc = bm_places_ask(&plan->places, &plan->a, rule->network->node,
                           rule->network->context, plan->task.ranks.count);
        plan->task.places = &plan->places;
    }
    return rc;
}

/* ---- the plan ----------------------------------------------------------- */

/* What a write would refuse. */
static int check_planning(const bouma_plan *plan, struct bm_error *error)
{
    const char *why = plan->options.planning == BOUMA_PLANNING_LOCAL
                          ? bm_own_plan_refuses(&plan->options, &plan->schema)
                          : NULL;

    return why ? bm_fail(error, BOUMA_EINVAL,
                         "the option 'planning' is local, but %s", why)
               : BOUMA_OK;
}

static int check_files(const bouma_plan *plan, struct bm_error *error)
{
    return plan->estimate.most_in_file > BM_MAX_PARTICLE_SUMMARY
               ? bm_fail(error, BOUMA_ELIMIT,
                         "a file would have %" PRIu64
                         " particles, which is beyond 2^32; ask for more or "
                         "smaller files",
                         plan->estimate.most_in_file)
               : BOUMA_OK;
}

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
        plan->a = (bouma_allocator){sizeof(plan->a), &plan->counter,
                                    count_resize, count_release};
        bm_schema_init(&plan->schema, &plan->a, &error);
        rc = bm_options_complete(&plan->options, opts, &error);
        if (!rc && !out)
            rc = bm_fail(&error, BOUMA_EINVAL,
                         "the pointer for the plan is NULL");
        if (!rc)
            rc = check_spec(plan, spec, &error);
        if (!rc)
            rc = check_planning(plan, &error);
        if (!rc)
            rc = find_machine(plan, &error);
        if (!rc)
            rc = plan->grid
                     ? bm_estimate_make(&plan->estimate, &plan->a, &plan->task)
                     : bm_estimate_make_particles(&plan->estimate, &plan->a,
                                                  &plan->task);
        if (!rc)
            rc = check_files(plan, &error);
        if (!rc && bm_plan_has_fixed_files(plan))
            rc = bm_estimate_share(&plan->sharing, &plan->estimate,
                                   plan->task.ranks.count);
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
    plan->schema.error = NULL; /* it ends here */
    plan->seconds = bm_clock() - start;
    *out = plan;
    return BOUMA_OK;
}

void bouma_plan_free(bouma_plan *plan)
{
    if (!plan)
        return;
    bm_estimate_release(&plan->estimate);
    bm_schema_release(&plan->schema);
    bm_places_release(&plan->places);
    bm_machine_free(plan->machine);
    bm_drop(&plan->a, plan->loads);
    bm_drop(plan->counter.a, plan);
}
