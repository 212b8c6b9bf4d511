/* pipe_cuts.c -- which piece lies in which round; see pipe_inside.h. */
#include "engine/pipe_inside.h"

struct bm_stretch bm_stretch_of(const struct bm_flow *f, size_t piece,
                                size_t round)
{
    const struct bm_piece *q = &f->pieces[piece];
    uint64_t begin = f->rounds.start[round], end = f->rounds.start[round + 1];
    uint64_t from = q->at > begin ? 0 : begin - q->at;
    uint64_t to = q->at + q->bytes < end ? q->bytes : end - q->at;

    return (struct bm_stretch){q, from, to - from, q->at + from - begin};
}

size_t bm_flow_first_round(const struct bm_flow *f, size_t piece)
{
    return bm_rounds_find(&f->rounds, f->pieces[piece].at);
}

size_t bm_flow_last_round(const struct bm_flow *f, size_t piece)
{
    const struct bm_piece *q = &f->pieces[piece];

    return bm_rounds_find(&f->rounds, q->at + q->bytes - 1);
}

/* ---- of a rank that has pieces ------------------------------------------ */

size_t bm_flow_skip(const struct bm_flow *f, int rank, size_t i)
{
    while (i < f->count && (f->pieces[i].rank != rank || !f->pieces[i].bytes))
        i++;
    return i;
}

void bm_lane_find_round(struct bm_lane *l)
{
    const struct bm_rounds *r = &l->flow->rounds;
    uint64_t at;

    if (l->next >= l->flow->count) {
        l->round = r->count;
        return;
    }
    at = l->flow->pieces[l->next].at + l->from;
    if (l->round < r->count && r->start[l->round + 1] > at &&
        r->start[l->round] <= at)
        return;
    l->round = bm_rounds_find(r, at);
}

void bm_lane_advance(struct bm_lane *l, int rank, const struct bm_stretch *s)
{
    l->from = s->from + s->bytes;
    if (l->from == s->piece->bytes) {
        l->next = bm_flow_skip(l->flow, rank, l->next + 1);
        l->from = 0;
    }
    bm_lane_find_round(l);
}

void bm_flow_most(const struct bm_flow *f, int rank, size_t *most,
                  size_t *most_bytes)
{
    size_t round = SIZE_MAX, n = 0;
    uint64_t bytes = 0;

    *most = 0;
    *most_bytes = 0;
    for (size_t i = bm_flow_skip(f, rank, 0); i < f->count;
         i = bm_flow_skip(f, rank, i + 1)) {
        size_t last = bm_flow_last_round(f, i);

        for (size_t r = bm_flow_first_round(f, i); r <= last; r++) {
            if (r != round)
                n = bytes = 0;
            round = r;
            n++;
            bytes += bm_stretch_of(f, i, r).bytes;
            if (n > *most)
                *most = n;
            if (bytes > *most_bytes)
                *most_bytes = (size_t)bytes;
        }
    }
}

/* ---- of the gatherer ---------------------------------------------------- */

/* Go through the pieces by round: the number of those in round r is added to
 * place[r], and, if 'cuts' is not NULL, they are put there, from that place
 * on. */
static void visit_cuts(const struct bm_flow *f, size_t *place, size_t *cuts)
{
    for (size_t i = 0; i < f->count; i++) {
        size_t last;

        if (!f->pieces[i].bytes)
            continue;
        last = bm_flow_last_round(f, i);
        for (size_t r = bm_flow_first_round(f, i); r <= last; r++) {
            if (cuts)
                cuts[place[r]] = i;
            place[r]++;
        }
    }
}

static int list_cuts(struct bm_pipe_gathering *g, const struct bm_flow *f,
                     const bouma_allocator *a)
{
    size_t rounds = f->rounds.count;

    g->first_cut = bm_new(a, rounds + 2, sizeof(*g->first_cut));
    if (!g->first_cut)
        return BOUMA_ENOMEM;
    /* Two places on, so that the second time leaves them where they belong. */
    visit_cuts(f, g->first_cut + 2, NULL);
    for (size_t r = 0; r < rounds; r++)
        g->first_cut[r + 2] += g->first_cut[r + 1];
    g->cuts = bm_new_raw(a, g->first_cut[rounds + 1], sizeof(*g->cuts));
    if (!g->cuts)
        return BOUMA_ENOMEM;
    visit_cuts(f, g->first_cut + 1, g->cuts);
    return BOUMA_OK;
}

static int list_ranks(struct bm_pipe_gathering *g, const struct bm_flow *f,
                      int ranks, const bouma_allocator *a)
{
    size_t rounds = f->rounds.count, n = 0;
    size_t *seen = bm_new(a, (size_t)ranks, sizeof(*seen));

    g->first_rank = bm_new(a, rounds + 1, sizeof(*g->first_rank));
    g->ranks = bm_new_raw(a, g->first_cut[rounds], sizeof(*g->ranks));
    if (seen && g->first_rank && g->ranks)
        for (size_t r = 0; r < rounds; r++) {
            for (size_t i = g->first_cut[r]; i < g->first_cut[r + 1]; i++) {
                int rank = f->pieces[g->cuts[i]].rank;

                if (seen[rank] == r + 1)
                    continue;
                seen[rank] = r + 1;
                g->ranks[n++] = rank;
            }
            g->first_rank[r + 1] = n;
        }
    bm_drop(a, seen);
    return seen && g->first_rank && g->ranks ? BOUMA_OK : BOUMA_ENOMEM;
}

int bm_gather_list(struct bm_pipe_gathering *g, const struct bm_flow *f,
                   int ranks, const bouma_allocator *a)
{
    int rc = list_cuts(g, f, a);

    return rc ? rc : list_ranks(g, f, ranks, a);
}

void bm_gather_most(const struct bm_pipe_gathering *g, const struct bm_flow *f,
                    size_t *most, size_t *most_bytes)
{
    *most = *most_bytes = 0;
    for (size_t r = 0; r < f->rounds.count; r++) {
        size_t bytes = 0;

        for (size_t i = g->first_cut[r]; i < g->first_cut[r + 1]; i++)
            bytes += (size_t)bm_stretch_of(f, g->cuts[i], r).bytes;
        if (g->first_cut[r + 1] - g->first_cut[r] > *most)
            *most = g->first_cut[r + 1] - g->first_cut[r];
        if (bytes > *most_bytes)
            *most_bytes = bytes;
    }
}
