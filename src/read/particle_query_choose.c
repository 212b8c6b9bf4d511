/* particle_query_choose.c -- which particles of a piece match: by slot, by
 * rank, by the values of each column that is tested. */
#include <math.h>
#include <string.h>

#include "read/particle_query.h"

/* Keep those of list[n] whose value is from low to high. */
#define KEEP(name, ctype, member)                                              \
    static uint32_t keep_##name(const void *data, uint16_t *list, uint32_t n,  \
                                union bm_scalar low, union bm_scalar high)     \
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

static uint32_t (*const keepers[])(const void *data, uint16_t *list, uint32_t n,
                                   union bm_scalar low,
                                   union bm_scalar high) = {
    [BOUMA_TYPE_I8] = keep_i8,   [BOUMA_TYPE_I16] = keep_i16,
    [BOUMA_TYPE_I32] = keep_i32, [BOUMA_TYPE_I64] = keep_i64,
    [BOUMA_TYPE_U8] = keep_u8,   [BOUMA_TYPE_U16] = keep_u16,
    [BOUMA_TYPE_U32] = keep_u32, [BOUMA_TYPE_U64] = keep_u64,
    [BOUMA_TYPE_F32] = keep_f32, [BOUMA_TYPE_F64] = keep_f64};

/* ---- by slot -------------------------------------------------------------- */

struct bm_query_cover bm_query_cover_of(const struct bm_query_state *s,
                                        size_t chunk)
{
    const struct bm_query_file *f = &s->file;
    uint64_t begin = (uint64_t)chunk * bm_bat_of(s->set)->detail.chunk;
    uint64_t end = begin + bm_particle_summary_chunk_slots(
                               s->set, f->summary->count, chunk);
    struct bm_query_cover c = {NULL, 0, 0, 1};
    size_t lo = 0, hi = f->run_count;

    while (lo < hi) { /* the first run that ends behind the chunk's begin */
        size_t mid = lo + (hi - lo) / 2;

        if (f->runs[mid].end <= begin)
            lo = mid + 1;
        else
            hi = mid;
    }
    c.runs = &f->runs[lo];
    for (; lo < f->run_count && f->runs[lo].begin < end; lo++) {
        c.count++;
        c.inside &= f->runs[lo].inside;
    }
    c.whole = c.count == 1 && c.runs[0].begin <= begin && c.runs[0].end >= end;
    return c;
}

void bm_query_span(const struct bm_query_state *s, size_t chunk,
                   const struct bm_run *run, struct bm_query_span *out)
{
    const struct bm_particle_summary *summary = s->file.summary;
    const struct bm_detail *d = &bm_bat_of(s->set)->detail;
    uint32_t shift = bm_detail_shift(d, summary->seed, chunk);
    uint32_t slots =
        bm_particle_summary_chunk_slots(s->set, summary->count, chunk);
    uint64_t base = (uint64_t)chunk * d->chunk;

    bm_detail_before(d, shift,
                     run->begin > base ? (uint32_t)(run->begin - base) : 0,
                     out->begin);
    bm_detail_before(
        d, shift, run->end - base < slots ? (uint32_t)(run->end - base) : slots,
        out->end);
    out->inside = run->inside;
}

/* A chunk while it is looked at, with the memory for it. */
struct look {
    struct bm_query_state *s;
    const struct bm_turn *turn;
    struct bm_query_cover cover;
    struct bm_query_span *spans; /* [cover.count] */
    struct bm_query_chunk chunk;
    int passes;       /* the ranges tell that all in the runs match */
    uint32_t outside; /* of those chosen, the first so many are in runs that
                         have to be compared with the box */
    uint16_t *slots;
    uint16_t *trial; /* [chunk] candidates of a group of tests */
    uint8_t *passed; /* [chunk] those that met one of them */
    uint32_t first[BM_MAX_LEVELS];
    int arranged;
};

/* The slots of its levels: for those who ask for ranks or keys. */
static void arrange(struct look *l)
{
    const struct bm_query_state *s = l->s;
    const struct bm_particle_summary *summary = s->file.summary;
    const struct bm_detail *d = &bm_bat_of(s->set)->detail;
    size_t chunk = l->chunk.chunk;

    if (!l->arranged)
        bm_detail_order(
            d, bm_detail_shift(d, summary->seed, chunk),
            bm_particle_summary_chunk_slots(s->set, summary->count, chunk),
            l->slots, l->first);
    l->arranged = 1;
}

/* Where its runs are in its levels. */
static int find_spans(struct look *l)
{
    struct bm_coder *coder = l->turn->coder;
    struct bm_block_of_memory *room = &coder->room[BM_QUERY_SPANS];

    if (bm_block_grow(coder->a, room, l->cover.count * sizeof(*l->spans)))
        return bm_query_no_memory(l->turn->error);
    l->spans = room->data;
    for (size_t i = 0; i < l->cover.count; i++)
        bm_query_span(l->s, l->chunk.chunk, &l->cover.runs[i], &l->spans[i]);
    return BOUMA_OK;
}

/* A number of ranks from which on, with the offset, they are at least t. */
static uint32_t rank_from(double t, double offset)
{
    double r = ceil(t - offset);

    return r > 0 ? (uint32_t)r : 0;
}

/* Append those of a piece that are in runs of one kind. */
static void list_spans(struct look *l, const struct bm_query_piece *p,
                       int inside)
{
    uint16_t *chosen = l->chunk.chosen;
    uint32_t n = l->chunk.count;

    for (size_t i = 0; i < l->cover.count; i++) {
        const struct bm_query_span *span = &l->spans[i];

        if (span->inside == inside)
            for (uint32_t k = span->begin[p->level]; k < span->end[p->level];
                 k++)
                chosen[n++] = (uint16_t)k;
    }
    l->chunk.count = n;
}

/* Those of list[n] whose rank is wanted. */
static uint32_t keep_ranks(struct look *l, const struct bm_query_piece *p,
                           uint16_t *list, uint32_t n)
{
    const struct bm_query_state *s = l->s;
    const struct bm_detail *d = &bm_bat_of(s->set)->detail;
    uint32_t shift = bm_detail_shift(d, s->file.summary->seed, p->chunk);
    double offset = bm_detail_offset(s->file.summary->seed, p->chunk);
    uint32_t low = rank_from(s->asked.t_from, offset), m = 0;
    uint32_t high = rank_from(s->asked.t_to, offset);
    const uint16_t *slots = l->slots + l->first[p->level];

    for (uint32_t i = 0; i < n; i++) {
        uint32_t rank = d->rank[slots[list[i]] ^ shift];

        list[m] = list[i];
        m += (rank >= low) & (rank < high);
    }
    return m;
}

/* Go on with the first 'outside' candidates of those that were outside, and
 * with 'inside' of the others. */
static void close_up(struct look *l, uint32_t outside, uint32_t inside)
{
    uint16_t *chosen = l->chunk.chosen;

    if (outside < l->outside)
        memmove(chosen + outside, chosen + l->outside,
                inside * sizeof(*chosen));
    l->outside = outside;
    l->chunk.count = outside + inside;
}

/* The candidates of a piece by slot and rank. */
static void list_candidates(struct look *l, const struct bm_query_piece *p)
{
    uint16_t *chosen = l->chunk.chosen;

    l->chunk.count = 0;
    list_spans(l, p, 0);
    l->outside = l->chunk.count;
    list_spans(l, p, 1);
    if (!bm_query_level_whole(l->s, p->level)) {
        arrange(l);
        close_up(
            l, keep_ranks(l, p, chosen, l->outside),
            keep_ranks(l, p, chosen + l->outside, l->chunk.count - l->outside));
    }
}

/* Keep those of list[n] that pass a test of these values of its column. */
static uint32_t keep(const struct look *l, const struct bm_query_piece *p,
                     const struct bm_query_test *t, const uint8_t *values,
                     uint16_t *list, uint32_t n)
{
    const struct bouma_variable *v = l->s->asked.columns[t->column].variable;

    return keepers[v->type](values + (size_t)t->component * p->count *
                                         bm_variable_value_size(v),
                            list, n, t->low, t->high);
}

/* Keep those candidates that pass all common tests. */
static int test_common(struct look *l, const struct bm_query_piece *p)
{
    const struct bm_query_question *q = &l->s->asked;
    const uint8_t *values = NULL;
    int rc = BOUMA_OK, decoded = -1;

    for (size_t i = 0; i < q->common.count && l->chunk.count && !rc; i++) {
        const struct bm_query_test *t = &q->tests[i];

        uint32_t inside = l->chunk.count - l->outside, outside;

        if ((t->of_position && !l->outside) ||
            bm_query_all_pass(l->s, p->chunk, t))
            continue;
        if (t->column != decoded)
            rc = bm_query_values(l->s, l->turn, p, t->column, NULL, &values);
        decoded = t->column;
        if (rc)
            break;
        outside = keep(l, p, t, values, l->chunk.chosen, l->outside);
        if (!t->of_position)
            inside =
                keep(l, p, t, values, l->chunk.chosen + l->outside, inside);
        close_up(l, outside, inside);
    }
    return rc;
}

/* The values of the columns that are tested, each decoded once for all groups:
 * pointers to them, which are NULL before, and then room for each. */
static int make_values(struct look *l, const struct bm_query_piece *p,
                       const uint8_t ***values)
{
    const struct bm_query_question *q = &l->s->asked;
    struct bm_coder *coder = l->turn->coder;
    struct bm_block_of_memory *room = &coder->room[BM_QUERY_TESTED];
    size_t columns = (size_t)q->tested_count, sizes = 0;

    for (size_t i = 0; i < columns; i++)
        sizes += q->columns[i].sample_size;
    if (bm_block_grow(coder->a, room,
                      columns * sizeof(**values) + sizes * p->count))
        return bm_query_no_memory(l->turn->error);
    *values = room->data;
    memset(room->data, 0, columns * sizeof(**values));
    return BOUMA_OK;
}

/* Where those of a column are decoded: columns with larger values come first,
 * so that all are aligned. */
static uint8_t *room_of(const struct look *l, const struct bm_query_piece *p,
                        const uint8_t **values, int column)
{
    const struct bm_query_question *q = &l->s->asked;
    size_t size = q->columns[column].value_size, before = 0;

    for (int i = 0; i < q->tested_count; i++)
        if (q->columns[i].value_size > size ||
            (q->columns[i].value_size == size && i < column))
            before += q->columns[i].sample_size;
    return (uint8_t *)(values + q->tested_count) + before * p->count;
}

/* Keep those of trial[*n] that pass all tests of a group. */
static int test_group(struct look *l, const struct bm_query_piece *p,
                      const struct bm_query_tests *group,
                      const uint8_t **values, uint32_t *n)
{
    int rc = BOUMA_OK;

    for (size_t i = 0; i < group->count && *n && !rc; i++) {
        const struct bm_query_test *t = &l->s->asked.tests[group->first + i];
        const uint8_t **at = &values[t->column];

        if ((t->of_position && l->cover.inside) ||
            bm_query_all_pass(l->s, p->chunk, t))
            continue;
        if (!*at)
            rc = bm_query_values(l->s, l->turn, p, t->column,
                                 room_of(l, p, values, t->column), at);
        if (!rc)
            *n = keep(l, p, t, *at, l->trial, *n);
    }
    return rc;
}

/* Those of list[n] that passed, or did not, into out, which may be the list. */
static uint32_t sift(const struct look *l, uint16_t *out, const uint16_t *list,
                     uint32_t n, uint8_t passed)
{
    uint32_t m = 0;

    for (uint32_t i = 0; i < n; i++) {
        uint16_t at = list[i];

        out[m] = at;
        m += l->passed[at] == passed;
    }
    return m;
}

/* Keep those candidates that pass all tests of some group. */
static int test_groups(struct look *l, const struct bm_query_piece *p)
{
    const struct bm_query_question *q = &l->s->asked;
    const uint8_t **values = NULL;
    int rc = make_values(l, p, &values);

    memset(l->passed, 0, p->count);
    for (size_t g = 0; g < q->group_count && !rc; g++) {
        uint32_t n = sift(l, l->trial, l->chunk.chosen, l->chunk.count, 0);

        rc = test_group(l, p, &q->groups[g], values, &n);
        for (uint32_t i = 0; i < n && !rc; i++)
            l->passed[l->trial[i]] = 1;
    }
    if (!rc)
        l->chunk.count =
            sift(l, l->chunk.chosen, l->chunk.chosen, l->chunk.count, 1);
    return rc;
}

static int test_values(struct look *l, const struct bm_query_piece *p)
{
    int rc = l->passes ? BOUMA_OK : test_common(l, p);

    if (!rc && !l->passes && l->chunk.count && l->s->asked.group_count)
        rc = test_groups(l, p);
    return rc;
}

/* Whether all of the chunk's particles in the runs pass some tests. */
static int all_pass(const struct look *l, struct bm_query_tests tests)
{
    for (size_t i = tests.first; i < tests.first + tests.count; i++) {
        const struct bm_query_test *t = &l->s->asked.tests[i];

        if (!(t->of_position && l->cover.inside) &&
            !bm_query_all_pass(l->s, l->chunk.chunk, t))
            return 0;
    }
    return 1;
}

static int all_match(const struct look *l)
{
    const struct bm_query_question *q = &l->s->asked;
    size_t g = 0;

    while (g < q->group_count && !all_pass(l, q->groups[g]))
        g++;
    return (!q->group_count || g < q->group_count) && all_pass(l, q->common);
}

static int choose_piece(struct look *l, struct bm_query_piece *p)
{
    const struct bm_query_state *s = l->s;
    int drawn = s->query->draw != NULL;
    uint16_t *choices = s->batch.choices.data;
    uint64_t *keys = s->batch.keys.data;
    int rc;

    if (l->cover.whole && bm_query_level_whole(s, p->level) && l->passes &&
        !drawn)
        return BOUMA_OK;
    if (!l->spans) {
        rc = find_spans(l);
        if (rc)
            return rc;
    }
    list_candidates(l, p);
    if (drawn) {
        arrange(l);
        bm_query_draw(s, &l->chunk, p->level);
        l->outside = l->chunk.count; /* which are which is not known now */
    }
    rc = test_values(l, p);
    if (rc || (l->chunk.count == p->count && !drawn))
        return rc;
    p->choice = l->chunk.count;
    if (p->choice)
        memcpy(choices + p->chosen, l->chunk.chosen,
               p->choice * sizeof(*choices));
    if (drawn)
        bm_query_draw_keys(s, &l->chunk, p->level, keys + p->chosen);
    return BOUMA_OK;
}

/* The pieces of a chunk, one after the other: they share its order. */
static int choose_chunk(void *context, const struct bm_turn *turn)
{
    struct bm_query_state *s = context;
    struct bm_query_batch *b = &s->batch;
    struct bm_block_of_memory *room = &turn->coder->room[BM_QUERY_LISTS];
    size_t size = bm_bat_of(s->set)->detail.chunk, i = turn->number;
    size_t next =
        i + 1 < b->chunk_count ? b->first_piece[i + 1] : b->piece_count;
    struct look l = {.s = s, .turn = turn};
    int rc = BOUMA_OK;

    if (bm_block_grow(turn->coder->a, room, size * 7))
        return bm_query_no_memory(turn->error);
    l.slots = room->data;
    l.trial = l.slots + 2 * size;
    l.passed = (uint8_t *)(l.slots + 3 * size);
    l.chunk =
        (struct bm_query_chunk){.chunk = b->pieces[b->first_piece[i]].chunk,
                                .slots = l.slots,
                                .first = l.first,
                                .chosen = l.slots + size};
    l.cover = bm_query_cover_of(s, l.chunk.chunk);
    l.passes = all_match(&l);
    for (size_t p = b->first_piece[i]; p < next && !rc; p++)
        rc = choose_piece(&l, &b->pieces[p]);
    return rc;
}

int bm_query_choose(struct bm_query_state *s)
{
    const bouma_allocator *a = s->step->ds->a;
    const struct bm_query_question *q = &s->asked;
    struct bm_query_batch *b = &s->batch;
    struct bm_work work = {.context = s,
                           .count = b->chunk_count,
                           .name = "decode values",
                           .run = choose_chunk};
    size_t sample = s->query->draw ? sizeof(uint64_t) : 0;

    if (bm_block_grow(a, &b->choices, (size_t)b->slots * sizeof(uint16_t)) ||
        (s->query->draw &&
         bm_block_grow(a, &b->keys, (size_t)b->slots * sizeof(uint64_t))))
        return bm_query_no_memory(&s->step->ds->error);
    for (int i = 0; i < q->tested_count; i++)
        sample += bm_variable_sample_size(q->columns[i].variable);
    work.bytes = (double)b->slots * (double)sample;
    return bm_work_run(s->step, &work);
}
