/* hunt_choose.c -- which particles of a piece match: by place, by rank, by the
 * values of each column that is tested. */
#include <math.h>
#include <string.h>

#include "read/hunt.h"

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

static struct cover cover_of(const struct bm_search *s, size_t chunk)
{
    uint64_t begin = (uint64_t)chunk * bm_bat_of(s->set)->detail.chunk;
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

/* For a chunk: the places of its levels, and which of them are in runs. */
static void arrange(struct bm_search *s, size_t chunk, const struct cover *c)
{
    const struct bm_detail *d = &bm_bat_of(s->set)->detail;
    uint32_t places = bm_cloud_chunk_places(s->set, s->cloud->count, chunk);
    uint64_t base = (uint64_t)chunk * d->chunk;

    if (s->ordered == chunk)
        return;
    s->ordered = chunk;
    bm_detail_order(d, bm_detail_shift(d, s->cloud->seed, chunk), places,
                    s->places, s->first);
    memset(s->in_run, 0, places);
    for (size_t i = 0; i < c->count; i++) {
        uint64_t begin = c->runs[i].begin > base ? c->runs[i].begin - base : 0;
        uint64_t end = c->runs[i].end - base;

        memset(s->in_run + begin, 1,
               (size_t)((end < places ? end : places) - begin));
    }
}

/* A number of ranks from which on, with the offset, they are at least t. */
static uint32_t rank_from(double t, double offset)
{
    double r = ceil(t - offset);

    return r > 0 ? (uint32_t)r : 0;
}

/* The candidates of a piece by place and rank, into s->chosen: numbers in the
 * piece. */
static uint32_t candidates(struct bm_search *s, const struct bm_hunt_piece *p,
                           const struct cover *c)
{
    const struct bm_detail *d = &bm_bat_of(s->set)->detail;
    uint32_t shift = bm_detail_shift(d, s->cloud->seed, p->chunk);
    double offset = bm_detail_offset(s->cloud->seed, p->chunk);
    uint32_t low = rank_from(s->t_from, offset), n = 0;
    uint32_t high = rank_from(s->t_to, offset);
    int whole_level = bm_search_level_whole(s, p->level);
    const uint16_t *places;

    if (c->whole && whole_level) {
        for (uint32_t i = 0; i < p->count; i++)
            s->chosen[i] = (uint16_t)i;
        return p->count;
    }
    arrange(s, p->chunk, c);
    places = s->places + s->first[p->level];
    if (whole_level)
        for (uint32_t i = 0; i < p->count; i++) {
            s->chosen[n] = (uint16_t)i;
            n += s->in_run[places[i]];
        }
    else
        for (uint32_t i = 0; i < p->count; i++) {
            uint32_t rank = d->rank[places[i] ^ shift];

            s->chosen[n] = (uint16_t)i;
            n += s->in_run[places[i]] & (rank >= low) & (rank < high);
        }
    return n;
}

/* Room for n choices more, and their keys if there are any. */
static int make_choice_room(struct bm_search *s, uint32_t n)
{
    const bouma_allocator *a = s->step->ds->a;
    size_t room = (s->choice_room + n) * 2;
    uint16_t *choices;
    uint64_t *keys;

    if (s->choice_count + n <= s->choice_room)
        return BOUMA_OK;
    choices = bm_resize(a, s->choices, room, sizeof(*choices));
    if (!choices)
        return bm_search_no_memory(s);
    s->choices = choices;
    if (s->hunt->draw) {
        keys = bm_resize(a, s->keys, room, sizeof(*keys));
        if (!keys)
            return bm_search_no_memory(s);
        s->keys = keys;
    }
    s->choice_room = room;
    return BOUMA_OK;
}

int bm_search_choose(struct bm_search *s, struct bm_hunt_piece *p)
{
    struct cover c = cover_of(s, p->chunk);
    uint32_t n;
    int rc = BOUMA_OK, decoded = -1;
    const uint8_t *values = NULL;

    p->choice = UINT32_MAX;
    if (c.whole && bm_search_level_whole(s, p->level) && !s->test_count &&
        !s->hunt->draw)
        return BOUMA_OK;
    n = candidates(s, p, &c);
    if (s->hunt->draw) {
        arrange(s, p->chunk, &c);
        n = bm_search_draw(s, p, s->chosen, n);
    }
    for (size_t i = 0; i < s->test_count && n && !rc; i++) {
        const struct bm_hunt_test *t = &s->tests[i];
        const struct bouma_variable *v = s->columns[t->column].variable;

        if (t->of_position && c.inside)
            continue;
        if (t->column != decoded)
            rc = bm_search_decode(s, p, t->column, &values);
        decoded = t->column;
        if (!rc)
            n = keep(v->type,
                     values + (size_t)t->component * p->count *
                                  bm_variable_value_size(v),
                     s->chosen, n, t->low, t->high);
    }
    if (rc || (n == p->count && !s->hunt->draw))
        return rc;
    rc = make_choice_room(s, n);
    if (rc)
        return rc;
    if (n)
        memcpy(s->choices + s->choice_count, s->chosen, n * sizeof(uint16_t));
    p->chosen = s->choice_count;
    p->choice = n;
    s->choice_count += n;
    if (s->hunt->draw)
        bm_search_draw_keys(s, p, s->keys + p->chosen);
    return BOUMA_OK;
}
