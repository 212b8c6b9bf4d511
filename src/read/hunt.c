/* hunt.c -- particles by box, ranges of values and quality.
 *
 * The tree over the files says which can have any, the tree of a file which
 * runs of places. Chunks that these runs meet are read at the levels that are
 * wanted: first the columns that are compared, then the others, and of these
 * only pieces that have a match. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "read/extents.h"

#define BATCH_BYTES ((uint64_t)4 << 20) /* read at once */

/* A variable that is looked at, or handed over, or both. */
struct column {
    const struct bouma_variable *variable;
    const struct bm_section *section;
    int tested;                       /* it takes part in a test */
    int out;                          /* place among those wanted, or -1 */
    struct bm_block_of_memory values; /* of the piece that is decoded */
    struct bm_block_of_memory picked; /* those of them that match */
};

/* A component must be from low to high. */
struct test {
    int column;
    int component;
    int of_position;
    bouma_scalar low, high;
};

/* A level of a chunk of the batch. */
struct piece {
    size_t chunk;
    int level;
    uint32_t count;
    size_t chosen;        /* where its choice begins in 'choices' */
    uint32_t choice;      /* how many match; UINT32_MAX: all, without a list */
    const uint8_t **data; /* [columns], as stored */
    uint32_t *bytes;      /* [columns] */
};

struct search {
    const struct bm_hunt *hunt;
    struct bouma_step *step;
    const struct bouma_grid *set;
    struct column *columns; /* [column_count], tested ones first */
    int column_count, tested_count, out_count;
    const void **out; /* [out_count], for the caller */
    struct test *tests;
    size_t test_count;
    struct bm_tree_query tree; /* the box is closed */
    uint32_t *wanted;          /* of the file at hand */
    bouma_scalar *least, *most;
    int never; /* nothing can match */
    double t_from, t_to;
    struct bm_codec_state codec;

    /* The file at hand: */
    size_t source;
    const struct bm_cloud *cloud;
    struct bm_run *runs;
    size_t run_count;
    size_t next_run; /* the first that may meet the next chunk */

    /* The batch at hand: */
    struct piece *pieces;
    size_t piece_count, piece_room;
    struct bm_extent *extents;
    const uint8_t **data;
    uint32_t *bytes;
    uint16_t *choices;
    size_t choice_count, choice_room;
    struct bm_block_of_memory raw[2];
    uint16_t *places; /* [chunk] of detail: of chunk 'ordered', by level */
    uint32_t first[BM_MAX_LEVELS];
    size_t ordered;       /* SIZE_MAX: none */
    uint16_t *chosen;     /* [chunk] */
    uint64_t done, total; /* particles, for the progress */
};

static int no_memory(struct search *s)
{
    return bm_fail(&s->step->ds->error, BOUMA_ENOMEM,
                   "no memory to look for particles");
}

/* ---- what is asked ------------------------------------------------------ */

static int column_of(const struct search *s, const struct bouma_variable *v)
{
    for (int i = 0; i < s->column_count; i++)
        if (s->columns[i].variable == v)
            return i;
    return -1;
}

static int add_column(struct search *s, const struct bouma_variable *v)
{
    int at = column_of(s, v);

    if (at >= 0)
        return at;
    s->columns[s->column_count] = (struct column){.variable = v, .out = -1};
    return s->column_count++;
}

/* The row of a tree's bitmaps that a component of an attribute is. */
static uint32_t row_of(const struct bouma_grid *set,
                       const struct bouma_variable *v, int component)
{
    uint32_t row = (uint32_t)component;

    for (int j = 1; set->variables[j] != v; j++)
        if (set->variables[j]->present)
            row += (uint32_t)set->variables[j]->components;
    return row;
}

static int is_empty(bouma_type type, bouma_scalar low, bouma_scalar high)
{
    if (bm_type_is_float(type))
        return !(low.f <= high.f);
    return type >= BOUMA_U8 && type <= BOUMA_U64 ? low.u > high.u
                                                 : low.i > high.i;
}

/* Positions must be from low to high along an axis. */
static void narrow(struct search *s, int axis, double low, double high)
{
    s->tree.boxed = 1;
    s->tree.low[axis] = fmax(s->tree.low[axis], low);
    s->tree.high[axis] = fmin(s->tree.high[axis], high);
    if (!(s->tree.low[axis] <= s->tree.high[axis]))
        s->never = 1;
}

static void add_test(struct search *s, const struct bouma_variable *v,
                     int component, bouma_scalar low, bouma_scalar high)
{
    int column = add_column(s, v);

    s->columns[column].tested = 1;
    s->tested_count = s->column_count; /* nothing else is there yet */
    s->tests[s->test_count++] =
        (struct test){column, component, v == s->set->variables[0], low, high};
    if (is_empty(v->type, low, high))
        s->never = 1;
    else if (v == s->set->variables[0])
        narrow(s, component, low.f, high.f);
    else {
        s->least[s->tree.rows] = low;
        s->most[s->tree.rows] = high;
        ((uint32_t *)s->tree.row)[s->tree.rows++] =
            row_of(s->set, v, component);
    }
}

/* The box as tests of the position: a half-open end becomes the number before
 * it. */
static void test_box(struct search *s)
{
    const bouma_particles_query *q = &s->hunt->query;

    for (int d = 0; d < s->set->ndims && q->boxed; d++) {
        bouma_scalar low = {.f = q->low[d]}, high = {.f = q->high[d]};

        if (!(q->closed >> d & 1))
            high.f = nextafter(high.f, -INFINITY);
        add_test(s, s->set->variables[0], d, low, high);
    }
}

static int prepare(struct search *s)
{
    const bouma_allocator *a = s->step->ds->a;
    const bouma_particles_query *q = &s->hunt->query;
    size_t tests = q->condition_count + 3;
    size_t columns = q->variable_count + q->condition_count + 1;
    uint32_t *row = bm_new(a, tests, sizeof(*row));

    s->tree.row = row;
    s->columns = bm_new(a, columns, sizeof(*s->columns));
    s->out = bm_new(a, q->variable_count, sizeof(*s->out));
    s->tests = bm_new(a, tests, sizeof(*s->tests));
    s->wanted = bm_new(a, tests, sizeof(*s->wanted));
    s->least = bm_new(a, tests, sizeof(*s->least));
    s->most = bm_new(a, tests, sizeof(*s->most));
    s->places = bm_new(a, s->set->detail.chunk, sizeof(*s->places));
    s->chosen = bm_new(a, s->set->detail.chunk, sizeof(*s->chosen));
    if (!row || !s->columns || !s->out || !s->tests || !s->wanted ||
        !s->least || !s->most || !s->places || !s->chosen)
        return no_memory(s);
    s->tree.closed = 7;
    for (int d = 0; d < 3; d++) {
        s->tree.low[d] = -INFINITY;
        s->tree.high[d] = INFINITY;
    }
    test_box(s);
    for (size_t i = 0; i < q->condition_count; i++)
        add_test(s, q->conditions[i].variable, q->conditions[i].component,
                 q->conditions[i].low, q->conditions[i].high);
    for (size_t i = 0; i < q->variable_count; i++)
        s->columns[add_column(s, q->variables[i])].out = (int)i;
    s->out_count = (int)q->variable_count;
    s->t_from = bm_detail_threshold(&s->set->detail, q->from);
    s->t_to = bm_detail_threshold(&s->set->detail, q->quality);
    if (!(s->t_from < s->t_to))
        s->never = 1;
    return BOUMA_OK;
}

static void release(struct search *s)
{
    const bouma_allocator *a = s->step->ds->a;

    for (int i = 0; i < s->column_count; i++) {
        bm_drop(a, s->columns[i].values.data);
        bm_drop(a, s->columns[i].picked.data);
    }
    bm_drop(a, s->columns);
    bm_drop(a, (void *)s->out);
    bm_drop(a, s->tests);
    bm_drop(a, s->wanted);
    bm_drop(a, s->least);
    bm_drop(a, s->most);
    bm_drop(a, (void *)s->tree.row);
    bm_drop(a, s->places);
    bm_drop(a, s->chosen);
    bm_drop(a, s->pieces);
    bm_drop(a, s->extents);
    bm_drop(a, (void *)s->data);
    bm_drop(a, s->bytes);
    bm_drop(a, s->choices);
    bm_drop(a, s->runs);
    bm_drop(a, s->raw[0].data);
    bm_drop(a, s->raw[1].data);
    bm_codec_state_release(&s->codec);
}

/* ---- which runs --------------------------------------------------------- */

/* All places of the file that are asked for. */
static int take_all(struct search *s, uint64_t from, uint64_t to)
{
    s->runs = bm_new(s->step->ds->a, 1, sizeof(*s->runs));
    if (!s->runs)
        return no_memory(s);
    s->runs[0] = (struct bm_run){(uint32_t)from, (uint32_t)to, 1};
    s->run_count = from < to;
    return BOUMA_OK;
}

/* Particles that are in no tree: they can match unless there is a box. */
static int add_strays(struct search *s)
{
    uint64_t begin = s->cloud->count - s->cloud->strays;
    struct bm_run *grown;

    if (!s->cloud->strays || s->hunt->query.boxed)
        return BOUMA_OK;
    grown =
        bm_resize(s->step->ds->a, s->runs, s->run_count + 1, sizeof(*grown));
    if (!grown)
        return no_memory(s);
    s->runs = grown;
    grown[s->run_count++] =
        (struct bm_run){(uint32_t)begin, (uint32_t)s->cloud->count, 0};
    return BOUMA_OK;
}

static int find_runs(struct search *s, size_t cloud, uint64_t from, uint64_t to)
{
    const struct bm_tree *tree;
    int rc;

    bm_drop(s->step->ds->a, s->runs);
    s->runs = NULL;
    s->run_count = s->next_run = 0;
    if (!s->test_count)
        return take_all(s, from, to);
    rc = bm_step_tree(s->step, s->source, cloud, &tree);
    if (rc)
        return rc;
    for (size_t i = 0; i < s->tree.rows; i++)
        s->wanted[i] = bm_bins_select(&tree->bins[s->tree.row[i]], s->least[i],
                                      s->most[i]);
    s->tree.wanted = s->wanted;
    if (bm_tree_select(tree, &s->tree, &s->runs, &s->run_count))
        return no_memory(s);
    return add_strays(s);
}

/* ---- one batch ---------------------------------------------------------- */

/* Whether a level has any of the ranks that are wanted; and all of them. */
static int level_wanted(const struct search *s, int k)
{
    const struct bm_detail *d = &s->set->detail;

    return d->limit[k] > s->t_from && d->limit[k + 1] < s->t_to;
}

static int level_whole(const struct search *s, int k)
{
    const struct bm_detail *d = &s->set->detail;

    return d->limit[k + 1] >= s->t_from && d->limit[k] <= s->t_to;
}

/* Enter the pieces of a chunk; gives their stored bytes, of all columns. */
static int add_chunk(struct search *s, size_t chunk, uint64_t *bytes)
{
    const bouma_allocator *a = s->step->ds->a;
    uint64_t values[BM_MAX_LEVELS];

    bm_cloud_values(s->set, s->cloud->count, s->cloud->seed, chunk, values);
    for (int k = s->set->levels - 1; k >= 0; k--) {
        if (!level_wanted(s, k) || !values[k])
            continue;
        if (s->piece_count == s->piece_room) {
            size_t room = s->piece_room * 2 + 64;
            struct piece *grown = bm_resize(a, s->pieces, room, sizeof(*grown));

            if (!grown)
                return no_memory(s);
            s->pieces = grown;
            s->piece_room = room;
        }
        s->pieces[s->piece_count++] = (struct piece){
            .chunk = chunk, .level = k, .count = (uint32_t)values[k]};
        for (int i = 0; i < s->column_count; i++)
            *bytes +=
                s->columns[i]
                    .section->sizes[chunk * (size_t)s->set->levels + (size_t)k];
    }
    return BOUMA_OK;
}

/* Read some columns of those pieces that have a match. */
static int read_columns(struct search *s, int first, int last, int raw)
{
    size_t n = 0;
    int rc;

    for (size_t p = 0; p < s->piece_count; p++)
        for (int i = first; i < last && s->pieces[p].choice; i++) {
            const struct bm_section *section = s->columns[i].section;
            size_t at = s->pieces[p].chunk * (size_t)section->levels +
                        (size_t)s->pieces[p].level;

            s->extents[n++] = (struct bm_extent){section->offsets[at],
                                                 section->sizes[at],
                                                 (uint32_t)p,
                                                 s->pieces[p].level,
                                                 i,
                                                 NULL};
        }
    rc = bm_extents_read(s->step, s->source, s->extents, n, &s->raw[raw]);
    for (size_t i = 0; i < n && !rc; i++) {
        const struct bm_extent *e = &s->extents[i];
        const struct piece *p = &s->pieces[e->chunk];

        p->data[e->column] = e->data;
        p->bytes[e->column] = e->bytes;
        rc = bm_extent_check(s->step, s->source, s->columns[e->column].section,
                             p->chunk, e, &s->step->ds->error);
    }
    return rc;
}

/* The values of a column of a piece: [components][count], aligned. */
static int decode(struct search *s, const struct piece *p, int column,
                  const uint8_t **out)
{
    struct column *c = &s->columns[column];
    const struct bouma_variable *v = c->variable;
    const uint8_t *stored = p->data[column];
    int rc;

    if (bm_codec_find((int)v->codec)->sized &&
        __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ &&
        !((uintptr_t)stored % bm_variable_value_size(v))) {
        *out = stored;
        return BOUMA_OK;
    }
    if (bm_block_grow(s->step->ds->a, &c->values,
                      (size_t)p->count * bm_variable_sample_size(v)))
        return no_memory(s);
    *out = c->values.data;
    rc = bm_values_decode(&s->codec, c->values.data, v, p->count, stored,
                          p->bytes[column]);
    if (rc == BOUMA_EFORMAT) {
        const struct bm_section *section = c->section;
        struct bm_extent e = {
            section->offsets[p->chunk * (size_t)section->levels +
                             (size_t)p->level],
            p->bytes[column],
            0,
            p->level,
            column,
            stored};

        return bm_extent_damaged(s->step, s->source, section, p->chunk, &e,
                                 "the data cannot be decoded",
                                 &s->step->ds->error);
    }
    return rc ? no_memory(s) : BOUMA_OK;
}

/* ---- tests -------------------------------------------------------------- */

/* Keep those of list[n] whose value is from low to high. */
#define KEEP(name, ctype, member)                                              \
    static uint32_t keep_##name(const void *data, uint16_t *list, uint32_t n,  \
                                bouma_scalar low, bouma_scalar high)           \
    {                                                                          \
        const ctype *v = data;                                                 \
        uint32_t m = 0;                                                        \
                                                                               \
        for (uint32_t i = 0; i < n; i++) {                                     \
            uint16_t at = list[i];                                             \
                                                                               \
            list[m] = at;                                                      \
            m += (v[at] >= low.member) & (v[at] <= high.member);               \
        }                                                                      \
        return m;                                                              \
    }
KEEP(i8, int8_t, i)
KEEP(i16, int16_t, i)
KEEP(i32, int32_t, i)
KEEP(i64, int64_t, i)
KEEP(u8, uint8_t, u)
KEEP(u16, uint16_t, u)
KEEP(u32, uint32_t, u)
KEEP(u64, uint64_t, u)
KEEP(f32, float, f)
KEEP(f64, double, f)

static uint32_t keep(bouma_type type, const void *data, uint16_t *list,
                     uint32_t n, bouma_scalar low, bouma_scalar high)
{
    switch (type) {
    case BOUMA_I8:
        return keep_i8(data, list, n, low, high);
    case BOUMA_I16:
        return keep_i16(data, list, n, low, high);
    case BOUMA_I32:
        return keep_i32(data, list, n, low, high);
    case BOUMA_I64:
        return keep_i64(data, list, n, low, high);
    case BOUMA_U8:
        return keep_u8(data, list, n, low, high);
    case BOUMA_U16:
        return keep_u16(data, list, n, low, high);
    case BOUMA_U32:
        return keep_u32(data, list, n, low, high);
    case BOUMA_U64:
        return keep_u64(data, list, n, low, high);
    case BOUMA_F32:
        return keep_f32(data, list, n, low, high);
    default:
        return keep_f64(data, list, n, low, high);
    }
}

/* What the runs have of a chunk: all of it, wholly inside the box or not; or
 * some places. */
struct cover {
    const struct bm_run *runs; /* that meet it */
    size_t count;
    int whole;  /* one run has all of it */
    int inside; /* no run has to be compared with the box */
};

static struct cover cover_of(const struct search *s, size_t chunk)
{
    uint64_t begin = (uint64_t)chunk * s->set->detail.chunk;
    uint64_t end =
        begin + bm_cloud_chunk_places(s->set, s->cloud->count, chunk);
    struct cover c = {NULL, 0, 0, 1};
    size_t lo = 0, hi = s->run_count;

    while (lo < hi) { /* the first run that ends behind the chunk's begin */
        size_t mid = lo + (hi - lo) / 2;

        if (s->runs[mid].end <= begin)
            lo = mid + 1;
        else
            hi = mid;
    }
    c.runs = &s->runs[lo];
    for (; lo < s->run_count && s->runs[lo].begin < end; lo++) {
        c.count++;
        c.inside &= s->runs[lo].inside;
    }
    c.whole = c.count == 1 && c.runs[0].begin <= begin && c.runs[0].end >= end;
    return c;
}

/* The candidates of a piece by place and rank, into s->chosen: numbers in the
 * piece. */
static uint32_t candidates(struct search *s, const struct piece *p,
                           const struct cover *c)
{
    const struct bm_detail *d = &s->set->detail;
    uint32_t shift = bm_detail_shift(d, s->cloud->seed, p->chunk);
    double offset = bm_detail_offset(s->cloud->seed, p->chunk);
    uint64_t base = (uint64_t)p->chunk * d->chunk;
    int whole_level = level_whole(s, p->level);
    const struct bm_run *run = c->runs, *end = c->runs + c->count;
    const uint16_t *places;
    uint32_t n = 0;

    if (c->whole && whole_level) {
        for (uint32_t i = 0; i < p->count; i++)
            s->chosen[i] = (uint16_t)i;
        return p->count;
    }
    if (s->ordered != p->chunk)
        bm_detail_order(
            d, shift, bm_cloud_chunk_places(s->set, s->cloud->count, p->chunk),
            s->places, s->first);
    s->ordered = p->chunk;
    places = s->places + s->first[p->level];
    for (uint32_t i = 0; i < p->count; i++) {
        uint64_t at = base + places[i];
        double rank = d->rank[places[i] ^ shift] + offset;

        while (run < end && run->end <= at)
            run++;
        if (run == end)
            break;
        s->chosen[n] = (uint16_t)i;
        n += run->begin <= at &&
             (whole_level || (rank >= s->t_from && rank < s->t_to));
    }
    return n;
}

/* Which particles of a piece match. */
static int choose(struct search *s, struct piece *p)
{
    struct cover c = cover_of(s, p->chunk);
    uint32_t n;
    int rc = BOUMA_OK, decoded = -1;
    const uint8_t *values = NULL;

    p->choice = UINT32_MAX;
    if (c.whole && level_whole(s, p->level) && !s->test_count)
        return BOUMA_OK;
    n = candidates(s, p, &c);
    for (size_t i = 0; i < s->test_count && n && !rc; i++) {
        const struct test *t = &s->tests[i];
        const struct bouma_variable *v = s->columns[t->column].variable;

        if (t->of_position && c.inside)
            continue;
        if (t->column != decoded)
            rc = decode(s, p, t->column, &values);
        decoded = t->column;
        if (!rc)
            n = keep(v->type,
                     values + (size_t)t->component * p->count *
                                  bm_variable_value_size(v),
                     s->chosen, n, t->low, t->high);
    }
    if (rc || n == p->count)
        return rc;
    if (s->choice_count + n > s->choice_room) {
        size_t room = (s->choice_room + n) * 2;
        uint16_t *grown =
            bm_resize(s->step->ds->a, s->choices, room, sizeof(*grown));

        if (!grown)
            return no_memory(s);
        s->choices = grown;
        s->choice_room = room;
    }
    if (n)
        memcpy(s->choices + s->choice_count, s->chosen, n * sizeof(uint16_t));
    p->chosen = s->choice_count;
    p->choice = n;
    s->choice_count += n;
    return BOUMA_OK;
}

/* ---- delivery ----------------------------------------------------------- */

#define PICK(bits)                                                             \
    static void pick_##bits(void *to, const void *from, const uint16_t *list,  \
                            uint32_t n)                                        \
    {                                                                          \
        uint##bits##_t *out = to;                                              \
        const uint##bits##_t *in = from;                                       \
                                                                               \
        for (uint32_t i = 0; i < n; i++)                                       \
            out[i] = in[list[i]];                                              \
    }
PICK(8)
PICK(16)
PICK(32)
PICK(64)

static void pick(void *to, const void *from, const uint16_t *list, uint32_t n,
                 size_t size)
{
    switch (size) {
    case 1:
        pick_8(to, from, list, n);
        break;
    case 2:
        pick_16(to, from, list, n);
        break;
    case 4:
        pick_32(to, from, list, n);
        break;
    default:
        pick_64(to, from, list, n);
    }
}

/* Those of a column's values that match. */
static int pick_column(struct search *s, const struct piece *p, int column,
                       const uint8_t **values)
{
    struct column *c = &s->columns[column];
    size_t size = bm_variable_value_size(c->variable);

    if (p->choice == UINT32_MAX)
        return BOUMA_OK;
    if (bm_block_grow(s->step->ds->a, &c->picked,
                      (size_t)p->choice * bm_variable_sample_size(c->variable)))
        return no_memory(s);
    for (int k = 0; k < c->variable->components; k++)
        pick((uint8_t *)c->picked.data + (size_t)k * p->choice * size,
             *values + (size_t)k * p->count * size, s->choices + p->chosen,
             p->choice, size);
    *values = c->picked.data;
    return BOUMA_OK;
}

static int deliver(struct search *s, const struct piece *p)
{
    bouma_batch batch = {p->choice == UINT32_MAX ? p->count : p->choice,
                         s->out};
    int rc = BOUMA_OK;

    if (!batch.count)
        return BOUMA_OK;
    for (int i = 0; i < s->column_count && !rc; i++) {
        const uint8_t *values;

        if (s->columns[i].out < 0)
            continue;
        rc = decode(s, p, i, &values);
        if (!rc)
            rc = pick_column(s, p, i, &values);
        if (!rc)
            s->out[s->columns[i].out] = values;
    }
    if (rc)
        return rc;
    s->step->busy = 1;
    rc = s->hunt->each(s->hunt->context, &batch);
    s->step->busy = 0;
    return rc ? bm_fail(&s->step->ds->error, BOUMA_EABORTED,
                        "the caller ended the query")
              : BOUMA_OK;
}

static int make_room(struct search *s)
{
    const bouma_allocator *a = s->step->ds->a;
    size_t columns = (size_t)s->column_count, n = s->piece_count * columns;

    bm_drop(a, s->extents);
    bm_drop(a, (void *)s->data);
    bm_drop(a, s->bytes);
    s->extents = bm_new_raw(a, n, sizeof(*s->extents));
    s->data = bm_new(a, n, sizeof(*s->data));
    s->bytes = bm_new(a, n, sizeof(*s->bytes));
    if (!s->extents || !s->data || !s->bytes)
        return no_memory(s);
    for (size_t p = 0; p < s->piece_count; p++) {
        s->pieces[p].data = s->data + p * columns;
        s->pieces[p].bytes = s->bytes + p * columns;
        s->pieces[p].choice = UINT32_MAX;
    }
    s->choice_count = 0;
    return BOUMA_OK;
}

static void tell_progress(struct search *s)
{
    const bouma_options *o = &s->step->ds->options;

    for (size_t p = 0; p < s->piece_count; p++)
        s->done += s->pieces[p].count;
    if (o->progress && s->step->ds->comm->rank == 0)
        o->progress(o->progress_user, "reading",
                    s->done < s->total ? s->done : s->total, s->total);
}

static int run_batch(struct search *s)
{
    int rc = make_room(s);

    if (!rc && s->tested_count)
        rc = read_columns(s, 0, s->tested_count, 0);
    for (size_t p = 0; p < s->piece_count && !rc; p++)
        rc = choose(s, &s->pieces[p]);
    if (!rc)
        rc = read_columns(s, s->tested_count, s->column_count, 1);
    for (size_t p = 0; p < s->piece_count && !rc; p++)
        rc = deliver(s, &s->pieces[p]);
    tell_progress(s);
    s->piece_count = 0;
    return rc;
}

/* ---- files -------------------------------------------------------------- */

/* The next chunk from 'chunk' on that a run meets; the number of chunks if
 * there is none. */
static size_t next_chunk(struct search *s, size_t chunk)
{
    uint32_t size = s->set->detail.chunk;

    while (s->next_run < s->run_count &&
           s->runs[s->next_run].end <= (uint64_t)chunk * size)
        s->next_run++;
    if (s->next_run == s->run_count)
        return (size_t)bm_cloud_chunks(s->set, s->cloud->count);
    return s->runs[s->next_run].begin / size > chunk
               ? s->runs[s->next_run].begin / size
               : chunk;
}

static int hunt_file(struct search *s, size_t subfile, uint64_t from,
                     uint64_t to)
{
    struct bm_source *source;
    uint64_t bytes = 0;
    size_t chunks, cloud;
    int rc = bm_step_source(s->step, subfile, &source);

    if (rc)
        return rc;
    s->source = subfile;
    s->ordered = SIZE_MAX;
    s->cloud = bm_head_cloud(&source->head, s->set->number);
    for (int i = 0; i < s->column_count; i++)
        s->columns[i].section =
            bm_head_section(&source->head, s->columns[i].variable->id);
    for (int i = 0; i < s->column_count; i++)
        if (!s->cloud || !s->columns[i].section)
            return bm_fail(&s->step->ds->error, BOUMA_EFORMAT,
                           "subfile %zu has not the particles that the "
                           "manifest says",
                           subfile);
    cloud = (size_t)(s->cloud - source->head.clouds);
    chunks = (size_t)bm_cloud_chunks(s->set, s->cloud->count);
    rc = find_runs(s, cloud, from, to < s->cloud->count ? to : s->cloud->count);
    for (size_t c = next_chunk(s, 0); c < chunks && !rc;
         c = next_chunk(s, c + 1)) {
        rc = add_chunk(s, c, &bytes);
        if (!rc && bytes >= BATCH_BYTES) {
            rc = run_batch(s);
            bytes = 0;
        }
    }
    return rc ? rc : run_batch(s);
}

/* The files that can have what is looked for. */
static size_t select_files(struct search *s, const struct bm_top *top,
                           size_t *files)
{
    struct bm_top_query q = {.boxed = s->tree.boxed && s->hunt->query.boxed,
                             .closed = 7,
                             .row = s->tree.row,
                             .least = s->least,
                             .most = s->most,
                             .rows = s->tree.rows};

    memcpy(q.low, s->tree.low, sizeof(q.low));
    memcpy(q.high, s->tree.high, sizeof(q.high));
    return bm_top_select(top, &q, files);
}

int bm_hunt(const struct bm_hunt *hunt)
{
    struct search s = {.hunt = hunt, .step = hunt->step, .set = hunt->set};
    const struct bm_top *top = bm_manifest_top(&hunt->step->manifest, s.set);
    const bouma_allocator *a = hunt->step->ds->a;
    size_t *files = NULL, count = hunt->file_count;
    int rc;

    bm_codec_state_init(&s.codec, a);
    rc = prepare(&s);
    if (!rc && !hunt->files) {
        files = bm_new(a, top->files, sizeof(*files));
        if (!files)
            rc = no_memory(&s);
        else
            count = s.never ? 0 : select_files(&s, top, files);
    }
    for (size_t i = 0; i < count && !rc; i++)
        s.total += top->clouds[hunt->files ? hunt->files[i] : files[i]]->count;
    s.total =
        (uint64_t)((double)s.total * (s.t_to - s.t_from) / s.set->detail.chunk);
    for (size_t i = 0; i < count && !rc && !s.never; i++)
        rc = hunt_file(&s,
                       top->subfiles[hunt->files ? hunt->files[i] : files[i]],
                       hunt->from ? hunt->from[i] : 0,
                       hunt->to ? hunt->to[i] : UINT64_MAX);
    bm_drop(a, files);
    release(&s);
    return rc;
}
