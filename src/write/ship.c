/* ship.c -- see ship.h. */
#include "write/ship.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/search.h"
#include "plan/schedule.h"

void bm_step_lap(struct bm_step *s, enum bm_phase phase)
{
    double now = bm_clock();

    s->seconds[phase] += now - s->since;
    s->since = now;
}

int bm_step_writer(const struct bm_step *s, size_t file)
{
    return bm_place(s->ds->options.place, s->files.files, s->ds->comm->size,
                    (int64_t)file);
}

struct bm_subfile *bm_step_subfile(struct bm_step *s, size_t i)
{
    return i < s->subfile_count
               ? &s->subfiles[i]
               : &s->particles.bundles[i - s->subfile_count].subfile;
}

size_t bm_step_subfile_count(const struct bm_step *s)
{
    return s->subfile_count + s->particles.bundle_count;
}

/* Whether this rank writes the file or has chunks for it. */
static int concerns(const struct bm_step *s, size_t file)
{
    if (bm_step_writer(s, file) == s->ds->comm->rank)
        return 1;
    for (size_t t = s->files.first[file]; t < s->files.first[file + 1]; t++)
        if (s->plan->owner[s->files.chunk[t]] == s->ds->comm->rank)
            return 1;
    return 0;
}

/* The place of a chunk among this rank's own. */
static size_t place_in_mine(const struct bm_write_plan *plan, size_t chunk)
{
    size_t at = 0;

    BM_BISECT(at, plan->mine_count, i, plan->mine[i] <= chunk);
    return at;
}

/* What one file means for this rank: chunks to send, to take in, or to put in
 * without a message; and the same for their records. */
static int route_file(struct bm_step *s, size_t file, size_t subfile,
                      struct bm_slot *slots)
{
    int me = s->ds->comm->rank, writer = bm_step_writer(s, file);
    size_t first = s->files.first[file];
    size_t count = s->files.first[file + 1] - first;

    for (size_t t = 0; t < count; t++) {
        uint32_t chunk = s->files.chunk[first + t];

        slots[t] = (struct bm_slot){(uint32_t)t, s->plan->owner[chunk],
                                    s->bytes[chunk], 0, 0};
    }
    bm_schedule(slots, count, s->ds->options.buffer_bytes);
    for (size_t i = 0; i < count; i++) {
        const struct bm_slot *slot = &slots[i];
        uint32_t chunk = s->files.chunk[first + slot->place];
        size_t record = bm_record_bytes(bm_plan_chunk(s->plan, chunk).variable);

        if (slot->owner == me && writer == me) {
            s->locals[s->local_count++] = (struct bm_local_chunk){
                slot->round, place_in_mine(s->plan, chunk), subfile,
                slot->place};
        } else if (slot->owner == me) {
            s->send_m[s->sends.count] = place_in_mine(s->plan, chunk);
            bm_route_add(&s->sends, slot->round, writer, slot->bytes);
            bm_route_add(&s->record_sends, 0, writer, record);
        } else if (writer == me) {
            s->arrivals[s->receives.count] =
                (struct bm_arrival){subfile, slot->place};
            bm_route_add(&s->receives, slot->round, slot->owner, slot->bytes);
            bm_route_add(&s->record_receives, 0, slot->owner, record);
        }
        if (s->sends.failed || s->receives.failed || s->record_sends.failed ||
            s->record_receives.failed)
            return BOUMA_ENOMEM;
    }
    return BOUMA_OK;
}

static int local_by_round(const void *left, const void *right)
{
    const struct bm_local_chunk *a = left, *b = right;

    if (a->round != b->round)
        return a->round < b->round ? -1 : 1;
    return a->m < b->m ? -1 : a->m > b->m;
}

int bm_ship_plan(struct bm_step *s)
{
    const bouma_allocator *a = s->ds->a;
    size_t most = 0, incoming = 0, subfile = 0;
    struct bm_slot *slots;
    int rc = BOUMA_OK;

    for (int64_t f = 0; f < s->files.files; f++) {
        size_t n = s->files.first[f + 1] - s->files.first[f];

        most = n > most ? n : most;
        if (bm_step_writer(s, (size_t)f) == s->ds->comm->rank)
            incoming += n;
    }
    slots = bm_new_raw(a, most, sizeof(*slots));
    s->locals = bm_new_raw(a, s->plan->mine_count, sizeof(*s->locals));
    s->send_m = bm_new_raw(a, s->plan->mine_count, sizeof(*s->send_m));
    s->arrivals = bm_new_raw(a, incoming, sizeof(*s->arrivals));
    if (!slots || !s->locals || !s->send_m || !s->arrivals)
        rc = BOUMA_ENOMEM;
    for (size_t f = 0; f < (size_t)s->files.files && !rc; f++) {
        if (concerns(s, f))
            rc = route_file(s, f, subfile, slots);
        subfile += bm_step_writer(s, f) == s->ds->comm->rank;
    }
    if (!rc)
        rc = bm_route_seal(&s->sends) || bm_route_seal(&s->receives) ||
                     bm_route_seal(&s->record_sends) ||
                     bm_route_seal(&s->record_receives)
                 ? BOUMA_ENOMEM
                 : BOUMA_OK;
    if (!rc && s->local_count)
        qsort(s->locals, s->local_count, sizeof(*s->locals), local_by_round);
    bm_drop(a, slots);
    if (rc)
        bm_fail(&s->ds->error, rc, "no memory for the messages of the step");
    return rc;
}

/* ---- ship and store ----------------------------------------------------- */

int bm_ship_records(struct bm_step *s, int rc)
{
    size_t send_count, receive_count;
    const struct bm_message *sends =
        bm_route_messages(&s->record_sends, 0, &send_count);
    const struct bm_message *receives =
        bm_route_messages(&s->record_receives, 0, &receive_count);
    int exchanged;

    for (size_t i = 0; i < s->record_sends.count; i++) {
        size_t m = s->send_m[i];

        memcpy(bm_route_at(&s->record_sends, i),
               s->shaper.records + s->shaper.record_at[m],
               s->shaper.record_at[m + 1] - s->shaper.record_at[m]);
    }
    exchanged = bm_comm_exchange(s->ds->comm, sends, send_count, receives,
                                 receive_count, &s->ds->error);
    for (size_t i = 0; i < s->record_receives.count && !exchanged; i++)
        bm_subfile_note(&s->subfiles[s->arrivals[i].subfile], s->arrivals[i].t,
                        bm_route_at(&s->record_receives, i));
    for (size_t i = 0; i < s->local_count; i++) {
        const struct bm_local_chunk *l = &s->locals[i];

        bm_subfile_note(&s->subfiles[l->subfile], l->t,
                        s->shaper.records + s->shaper.record_at[l->m]);
    }
    return rc ? rc : exchanged;
}

int bm_ship_arrange(struct bm_step *s, int rc)
{
    for (size_t i = 0; i < s->subfile_count && !rc; i++) {
        if (s->shaper.sized)
            bm_subfile_assume_sizes(&s->subfiles[i]);
        rc = bm_subfile_arrange(&s->subfiles[i], s->ds);
    }
    return rc;
}

/* A chunk's bytes: encoded already, or now into 'room'. */
static const uint8_t *chunk_bytes(struct bm_step *s, size_t m, uint8_t *room)
{
    if (!s->shaper.sized)
        return s->shaper.encoded.data + s->shaper.encoded_at[m];
    bm_shaper_fill(&s->shaper, m, room);
    bm_step_lap(s, BM_SHAPE);
    return room;
}

/* Fill the messages of one round. */
static void fill_round(struct bm_step *s, uint32_t round, size_t *next)
{
    for (; *next < s->sends.count && s->sends.items[*next].round == round;
         ++*next) {
        const struct bm_route_item *item = &s->sends.items[*next];
        uint8_t *to = s->sends.data + item->offset;
        size_t m = s->send_m[item->serial];
        const uint8_t *bytes = chunk_bytes(s, m, to);

        if (bytes != to)
            memcpy(to, bytes,
                   s->shaper.encoded_at[m + 1] - s->shaper.encoded_at[m]);
    }
}

/* Store what this rank has for its own files. */
static int store_locals(struct bm_step *s, uint32_t round, size_t *next, int rc)
{
    for (; *next < s->local_count && s->locals[*next].round == round; ++*next) {
        const struct bm_local_chunk *l = &s->locals[*next];
        const uint8_t *bytes = chunk_bytes(s, l->m, s->shaper.samples);

        if (!rc)
            rc = bm_subfile_write(&s->subfiles[l->subfile], l->t, bytes,
                                  &s->ds->error);
        bm_step_lap(s, BM_STORE);
    }
    return rc;
}

static int store_arrivals(struct bm_step *s, uint32_t round, size_t *next,
                          int rc)
{
    for (; *next < s->receives.count && s->receives.items[*next].round == round;
         ++*next) {
        const struct bm_route_item *item = &s->receives.items[*next];
        const struct bm_arrival *a = &s->arrivals[item->serial];

        if (!rc)
            rc = bm_subfile_write(&s->subfiles[a->subfile], a->t,
                                  s->receives.data + item->offset,
                                  &s->ds->error);
    }
    bm_step_lap(s, BM_STORE);
    return rc;
}

int bm_ship_rounds(struct bm_step *s, int rc)
{
    const bouma_options *o = &s->ds->options;
    size_t next_send = 0, next_local = 0, next_arrival = 0;
    uint32_t rounds = s->sends.rounds > s->receives.rounds ? s->sends.rounds
                                                           : s->receives.rounds;

    if (s->local_count && s->locals[s->local_count - 1].round >= rounds)
        rounds = s->locals[s->local_count - 1].round + 1;
    for (uint32_t round = 0; round < rounds; round++) {
        size_t send_count, receive_count;
        const struct bm_message *sends =
            bm_route_messages(&s->sends, round, &send_count);
        const struct bm_message *receives =
            bm_route_messages(&s->receives, round, &receive_count);
        int exchanged;

        fill_round(s, round, &next_send);
        bm_step_lap(s, BM_SHIP);
        exchanged = bm_comm_exchange(s->ds->comm, sends, send_count, receives,
                                     receive_count, &s->ds->error);
        rc = rc ? rc : exchanged;
        bm_step_lap(s, BM_SHIP);
        rc = store_locals(s, round, &next_local, rc);
        rc = store_arrivals(s, round, &next_arrival, rc);
        if (o->progress && s->ds->comm->rank == 0)
            o->progress(o->progress_user, "writing", round + 1, rounds);
    }
    return rc;
}
