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

size_t bm_lane_skip(const struct bm_pipe *p, const struct bm_flow *f, size_t i)
{
    while (i < f->count &&
           (f->pieces[i].rank != p->comm->rank || !f->pieces[i].bytes))
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

void bm_lane_advance(const struct bm_pipe *p, struct bm_lane *l,
                     const struct bm_stretch *s)
{
    l->from = s->from + s->bytes;
    if (l->from == s->piece->bytes) {
        l->next = bm_lane_skip(p, l->flow, l->next + 1);
        l->from = 0;
    }
    bm_lane_find_round(l);
}

void bm_lane_most(const struct bm_pipe *p, const struct bm_lane *l,
                  size_t *most, size_t *most_bytes)
{
    const struct bm_flow *f = l->flow;
    size_t round = SIZE_MAX, n = 0;
    uint64_t bytes = 0;

    *most = 0;
    *most_bytes = 0;
    for (size_t i = bm_lane_skip(p, f, 0); i < f->count;
         i = bm_lane_skip(p, f, i + 1)) {
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

static int list_cuts(struct bm_pipe *p)
{
    const struct bm_flow *f = p->own->flow;
    size_t rounds = f->rounds.count;

    p->gathering.first_cut =
        bm_new(p->a, rounds + 2, sizeof(*p->gathering.first_cut));
    if (!p->gathering.first_cut)
        return BOUMA_ENOMEM;
    /* Two places on, so that the second time leaves them where they belong. */
    visit_cuts(f, p->gathering.first_cut + 2, NULL);
    for (size_t r = 0; r < rounds; r++)
        p->gathering.first_cut[r + 2] += p->gathering.first_cut[r + 1];
    p->gathering.cuts = bm_new_raw(p->a, p->gathering.first_cut[rounds + 1],
                                   sizeof(*p->gathering.cuts));
    if (!p->gathering.cuts)
        return BOUMA_ENOMEM;
    visit_cuts(f, p->gathering.first_cut + 1, p->gathering.cuts);
    return BOUMA_OK;
}

static int list_ranks(struct bm_pipe *p)
{
    const struct bm_flow *f = p->own->flow;
    size_t rounds = f->rounds.count, n = 0;
    size_t *seen = bm_new(p->a, (size_t)p->comm->size, sizeof(*seen));

    p->gathering.first_rank =
        bm_new(p->a, rounds + 1, sizeof(*p->gathering.first_rank));
    p->gathering.ranks = bm_new_raw(p->a, p->gathering.first_cut[rounds],
                                    sizeof(*p->gathering.ranks));
    if (seen && p->gathering.first_rank && p->gathering.ranks)
        for (size_t r = 0; r < rounds; r++) {
            for (size_t i = p->gathering.first_cut[r];
                 i < p->gathering.first_cut[r + 1]; i++) {
                int rank = f->pieces[p->gathering.cuts[i]].rank;

                if (seen[rank] == r + 1)
                    continue;
                seen[rank] = r + 1;
                p->gathering.ranks[n++] = rank;
            }
            p->gathering.first_rank[r + 1] = n;
        }
    bm_drop(p->a, seen);
    return seen && p->gathering.first_rank && p->gathering.ranks ? BOUMA_OK
                                                                 : BOUMA_ENOMEM;
}

int bm_gather_list(struct bm_pipe *p)
{
    int rc = list_cuts(p);

    return rc ? rc : list_ranks(p);
}

void bm_gather_most(const struct bm_pipe *p, size_t *most, size_t *most_bytes)
{
    const struct bm_flow *f = p->own->flow;

    *most = *most_bytes = 0;
    for (size_t r = 0; r < f->rounds.count; r++) {
        size_t bytes = 0;

        for (size_t i = p->gathering.first_cut[r];
             i < p->gathering.first_cut[r + 1]; i++)
            bytes += (size_t)bm_stretch_of(f, p->gathering.cuts[i], r).bytes;
        if (p->gathering.first_cut[r + 1] - p->gathering.first_cut[r] > *most)
            *most = p->gathering.first_cut[r + 1] - p->gathering.first_cut[r];
        if (bytes > *most_bytes)
            *most_bytes = bytes;
    }
}
