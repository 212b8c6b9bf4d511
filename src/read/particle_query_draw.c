/* particle_query_draw.c -- particles by chance: the keys of slots. A file has
 * a stream of splitmix64 of its own, and the key of a slot is the number
 * there. So a particle's key costs nothing to store, levels of a chunk in which
 * nobody has a wanted key need not be read, and no other particle's key can be
 * told from it.
 */
#include "base/mix.h"
#include "read/particle_query.h"

static uint64_t key_of(const struct bm_query_state *s, uint64_t slot)
{
    return bm_mix(s->file.stream + (slot + 1) * BM_MIX_STEP);
}

static int is_drawn(const struct bm_query_state *s, uint64_t slot)
{
    const struct bm_draw *draw = s->query->draw;

    /* One comparison for both ends. */
    return key_of(s, slot) - draw->first <= draw->last - draw->first;
}

void bm_query_draw_file(struct bm_query_state *s)
{
    uint64_t h = bm_mix_next(s->query->draw->seed);

    h = bm_mix_next(h ^ s->step->manifest.step);
    h = bm_mix_next(h ^ s->set->number);
    s->file.stream = bm_mix_next(h ^ s->file.source);
}

uint64_t bm_query_draw_levels(const struct bm_query_state *s, size_t chunk)
{
    const struct bm_detail *d = &bm_bat_of(s->set)->detail;
    const struct bm_query_file *f = &s->file;
    uint32_t shift = bm_detail_shift(d, f->summary->seed, chunk);
    uint32_t slots =
        bm_particle_summary_chunk_slots(s->set, f->summary->count, chunk);
    uint64_t begin = (uint64_t)chunk * d->chunk, end = begin + slots;
    uint64_t levels = 0;

    if (s->query->draw->by_rank ||
        (s->query->draw->first == 0 && s->query->draw->last == UINT64_MAX))
        return UINT64_MAX;
    for (size_t i = f->next_run; i < f->run_count && f->runs[i].begin < end;
         i++) {
        uint64_t p = f->runs[i].begin > begin ? f->runs[i].begin : begin;
        uint64_t last = f->runs[i].end < end ? f->runs[i].end : end;

        for (; p < last; p++)
            if (is_drawn(s, p))
                levels |= (uint64_t)1 << d->level[(p - begin) ^ shift];
    }
    return levels;
}

void bm_query_draw(const struct bm_query_state *s, struct bm_query_chunk *c,
                   int level)
{
    const uint16_t *slots = c->slots + c->first[level];
    uint64_t begin = (uint64_t)c->chunk * bm_bat_of(s->set)->detail.chunk;
    uint32_t m = 0;

    if (s->query->draw->by_rank)
        return;
    for (uint32_t i = 0; i < c->count; i++) {
        uint16_t at = c->chosen[i];

        c->chosen[m] = at;
        m += (uint32_t)is_drawn(s, begin + slots[at]);
    }
    c->count = m;
}

static void rank_keys(const struct bm_query_state *s,
                      const struct bm_query_chunk *c, const uint16_t *slots,
                      uint64_t *keys)
{
    const struct bm_detail *d = &bm_bat_of(s->set)->detail;
    uint64_t seed = s->file.summary->seed;
    uint32_t shift = bm_detail_shift(d, seed, c->chunk);
    uint64_t offset = (uint64_t)(bm_detail_offset(seed, c->chunk) * 0x1p32);

    for (uint32_t i = 0; i < c->count; i++)
        keys[i] =
            ((uint64_t)d->rank[slots[c->chosen[i]] ^ shift] << 32) + offset;
}

void bm_query_draw_keys(const struct bm_query_state *s,
                        const struct bm_query_chunk *c, int level,
                        uint64_t *keys)
{
    const uint16_t *slots = c->slots + c->first[level];
    uint64_t begin = (uint64_t)c->chunk * bm_bat_of(s->set)->detail.chunk;

    if (s->query->draw->by_rank) {
        rank_keys(s, c, slots, keys);
        return;
    }
    for (uint32_t i = 0; i < c->count; i++)
        keys[i] = key_of(s, begin + slots[c->chosen[i]]);
}
