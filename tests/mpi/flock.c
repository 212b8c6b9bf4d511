/* flock.c -- see flock.h. */
#include "flock.h"
#include "columns.h"

#define IDS_OF_A_RANK 1000000

/* ---- all particles ------------------------------------------------------ */

static uint64_t count_of(const struct flock_spec *spec, int ranks, int rank,
                         int step)
{
    uint64_t n = spec->count * (uint64_t)(step + 1);

    switch (spec->sharing) {
    case SHARE_UNEVENLY:
        return n * (uint64_t)((rank + 1) % 4) / 2 + (uint64_t)rank % 2;
    case SHARE_GAPS:
        return rank % 2 ? 0 : 2 * n;
    case SHARE_LAST:
        return rank == ranks - 1 ? n * (uint64_t)ranks : 0;
    default:
        return n;
    }
}

void flock_make(struct flock *out, const struct flock_spec *spec, int ranks,
                int step)
{
    out->ranks = ranks;
    out->count = 0;
    out->particle_blocks = calloc((size_t)ranks, sizeof(*out->particle_blocks));
    REQUIRE(out->particle_blocks);
    for (int r = 0; r < ranks; r++) {
        struct particle_block *s = &out->particle_blocks[r];

        particle_block_make(s, spec->shape, count_of(spec, ranks, r, step),
                            spec->ndims, spec->type,
                            (uint64_t)r * IDS_OF_A_RANK + 7);
        for (uint64_t i = 0; i < s->count && spec->apart; i++) {
            uint64_t at = i * (uint64_t)spec->ndims;

            s->position_f32[at] += (float)(10 * r);
            s->position[at] = spec->type == BOUMA_TYPE_F32
                                  ? (double)s->position_f32[at]
                                  : s->position[at] + 10 * r;
        }
        out->count += s->count;
    }
}

void flock_free(struct flock *f)
{
    for (int r = 0; r < f->ranks; r++)
        particle_block_free(&f->particle_blocks[r]);
    free(f->particle_blocks);
    f->particle_blocks = NULL;
}

const struct particle_block *flock_find(const struct flock *f, uint64_t id,
                                        uint64_t *at, uint64_t *among_all)
{
    uint64_t rank = id / IDS_OF_A_RANK;

    *at = *among_all = id % IDS_OF_A_RANK - 7;
    if (rank >= (uint64_t)f->ranks || *at >= f->particle_blocks[rank].count)
        return NULL;
    for (uint64_t r = 0; r < rank; r++)
        *among_all += f->particle_blocks[r].count;
    return &f->particle_blocks[rank];
}

/* ---- memory ------------------------------------------------------------- */

static const uint8_t *value_at(const struct particle_block *s, int variable,
                               uint64_t i, int component)
{
    uint64_t at = i * (uint64_t)s->ndims + (uint64_t)component;

    switch (variable) {
    case POSITION:
        return s->type == BOUMA_TYPE_F32 ? (const uint8_t *)&s->position_f32[at]
                                         : (const uint8_t *)&s->position[at];
    case ID:
        return (const uint8_t *)&s->id[i];
    case MASS:
        return (const uint8_t *)&s->mass[i];
    case KIND:
        return (const uint8_t *)&s->kind[i];
    case VELOCITY:
        return (const uint8_t *)&s
            ->velocity[(uint64_t)component * s->count + i];
    case SMALL:
        return &s->small[i];
    default:
        return (const uint8_t *)&s->large[i];
    }
}

static void shape_of(const struct particle_block *s, int variable,
                     int *components, size_t *size)
{
    static const size_t sizes[PARTICLE_BLOCK_VARIABLES] = {0, 8, 8, 4, 4, 1, 8};

    *components = variable == POSITION   ? s->ndims
                  : variable == VELOCITY ? 3
                                         : 1;
    *size = variable == POSITION ? bouma_type_size(s->type) : sizes[variable];
}

static uint8_t *add_memory(struct flock_put *put, size_t bytes)
{
    uint8_t *p = calloc(bytes + 8, 1);

    REQUIRE(p && put->count < 64);
    put->memory[put->count] = p;
    put->bytes[put->count++] = bytes + 8;
    return p;
}

/* Particles from..to, a record for each, without padding: so most values are
 * not aligned; the last one first, if 'backwards'. */
static void as_records(struct flock_put *put, struct test_column *columns,
                       const struct particle_block *s, int variables,
                       uint64_t from, uint64_t to, int backwards)
{
    uint64_t n = to - from;
    size_t record = 0, at = 0, size;
    uint8_t *memory;
    int components;

    for (int v = 0; v < variables; v++) {
        shape_of(s, v, &components, &size);
        record += (size_t)components * size;
    }
    memory = add_memory(put, (size_t)n * record);
    for (int v = 0; v < variables; v++) {
        shape_of(s, v, &components, &size);
        columns[v].stride = backwards ? -(int64_t)record : (int64_t)record;
        columns[v].data = memory + at + (backwards ? (n - 1) * record : 0);
        for (uint64_t i = 0; i < n; i++)
            for (int c = 0; c < components; c++)
                memcpy(memory + at + (backwards ? n - 1 - i : i) * record +
                           (size_t)c * size,
                       value_at(s, v, from + i, c), size);
        at += (size_t)components * size;
    }
}

/* Each variable for itself: components side by side, or one after the other
 * (from an odd address on), or each in an array of its own. */
enum apart { SIDE_BY_SIDE, PLANES, ARRAYS };
static void as_arrays(struct flock_put *put, struct test_column *columns,
                      const void *parts[][3], const struct particle_block *s,
                      int variables, uint64_t from, uint64_t to, enum apart how)
{
    uint64_t n = to - from;

    for (int v = 0; v < variables; v++) {
        uint8_t *memory = NULL;
        int components;
        size_t size;

        shape_of(s, v, &components, &size);
        if (how != ARRAYS)
            memory = add_memory(put, n * size * (size_t)components);
        if (how == PLANES) {
            memory++;
            columns[v].component_stride = (int64_t)(n * size);
        }
        columns[v].data = memory;
        for (int c = 0; c < components; c++) {
            uint8_t *to_c = how == ARRAYS   ? add_memory(put, n * size)
                            : how == PLANES ? memory + (size_t)c * n * size
                                            : memory + (size_t)c * size;
            size_t stride =
                how == SIDE_BY_SIDE ? size * (size_t)components : size;

            parts[v][c] = to_c;
            for (uint64_t i = 0; i < n; i++)
                memcpy(to_c + i * stride, value_at(s, v, from + i, c), size);
        }
        if (how == ARRAYS)
            columns[v].parts = parts[v];
    }
}

static int hand_over_block(struct flock_put *out,
                           const struct particle_block_set *set,
                           const struct particle_block *s, int variables,
                           uint64_t from, uint64_t to,
                           const bouma_bounds *bounds, int layout)
{
    const void *parts[PARTICLE_BLOCK_VARIABLES][3];
    struct test_column columns[PARTICLE_BLOCK_VARIABLES];

    memset(columns, 0, sizeof(columns));
    for (int v = 0; v < variables; v++)
        columns[v].variable = set->variables[v];
    if (layout < 2)
        as_records(out, columns, s, variables, from, to, layout);
    else
        as_arrays(out, columns, parts, s, variables, from, to,
                  (enum apart)(layout - 2));
    return test_put_particles(set->particles, to - from, columns,
                              (size_t)variables, bounds);
}

int flock_hand_over(struct flock_put *out, const struct particle_block_set *set,
                    const struct particle_block *s, int variables,
                    enum bounding bounding, uint64_t *random)
{
    static const bouma_bounds same = {.axes = BOUMA_AXES_XYZ,
                                      .high = {1, 1, 1}};
    static const bouma_bounds wrong = {.axes = BOUMA_AXES_XYZ,
                                       .low = {-1e300, 5, 7},
                                       .high = {-1e299, 5, 1e30}};
    const bouma_bounds *bounds = bounding == BOUNDS_NONE   ? NULL
                                 : bounding == BOUNDS_SAME ? &same
                                                           : &wrong;
    int blocks = 1 + (int)(s->count % 3), worst = BOUMA_OK;

    memset(out, 0, sizeof(*out));
    for (int b = 0; b < blocks; b++) {
        uint64_t from = s->count * (uint64_t)b / (uint64_t)blocks;
        uint64_t to = s->count * (uint64_t)(b + 1) / (uint64_t)blocks;
        int rc = hand_over_block(out, set, s, variables, from, to, bounds,
                                 (int)check_below(random, 5));

        worst = rc ? rc : worst;
    }
    for (int i = 0; i < out->count; i++) {
        out->copy[i] = malloc(out->bytes[i]);
        REQUIRE(out->copy[i]);
        memcpy(out->copy[i], out->memory[i], out->bytes[i]);
    }
    return worst;
}

int flock_put_free(struct flock_put *put)
{
    int changed = 0;

    for (int i = 0; i < put->count; i++) {
        changed += memcmp(put->memory[i], put->copy[i], put->bytes[i]) != 0;
        free(put->memory[i]);
        free(put->copy[i]);
    }
    put->count = 0;
    return changed;
}

/* ---- looking ------------------------------------------------------------ */

uint64_t flock_wrong(const struct flock *f, const bouma_particle_data *d,
                     uint8_t *there)
{
    const uint64_t *id = d->columns[ID];
    uint64_t wrong = 0, at, among_all;

    memset(there, 0, (size_t)f->count);
    for (uint64_t i = 0; i < d->count; i++) {
        const struct particle_block *s = flock_find(f, id[i], &at, &among_all);
        int right = s && !there[among_all] && particle_block_same(s, at, d, i);

        wrong += !right;
        if (s)
            there[among_all] = 1;
    }
    return wrong;
}

static int matches(const struct particle_block *s, uint64_t i,
                   const bouma_particles_query *q, const double *mass)
{
    for (int d = 0; d < s->ndims && q->box; d++) {
        double x = s->position[i * (uint64_t)s->ndims + (uint64_t)d];

        if (!isfinite(x) || !(x >= q->box->low[d]) ||
            !(q->box->closed >> d & 1 ? x <= q->box->high[d]
                                      : x < q->box->high[d]))
            return 0;
    }
    return !mass || (s->mass[i] >= mass[0] && s->mass[i] <= mass[1]);
}

uint64_t flock_missed(const struct flock *f, const bouma_particles_query *q,
                      const double *mass, const uint8_t *there)
{
    uint64_t missed = 0, among_all = 0;

    for (int r = 0; r < f->ranks; r++)
        for (uint64_t i = 0; i < f->particle_blocks[r].count; i++)
            missed += matches(&f->particle_blocks[r], i, q, mass) !=
                      there[among_all++];
    return missed;
}

static double some_coordinate(const struct flock *f, int axis, uint64_t *random)
{
    const struct particle_block *s;

    do
        s = &f->particle_blocks[check_below(random, f->ranks)];
    while (!s->count);
    return s->position[(uint64_t)check_below(random, (int64_t)s->count) *
                           (uint64_t)s->ndims +
                       (uint64_t)axis];
}

int flock_box(const struct flock *f, bouma_bounds *box, uint64_t *random)
{
    box->axes = BOUMA_AXES_XYZ;
    for (int d = 0; d < f->particle_blocks[0].ndims && f->count; d++) {
        double a = some_coordinate(f, d, random);
        double b = some_coordinate(f, d, random);

        box->low[d] = isnan(a) ? -INFINITY : a;
        box->high[d] = isnan(b) ? INFINITY : b;
        if (box->low[d] > box->high[d]) {
            double swap = box->low[d];

            box->low[d] = box->high[d];
            box->high[d] = swap;
        }
    }
    return f->count > 0;
}
