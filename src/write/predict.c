/* predict.c -- see predict.h. */
#include "write/predict.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "write/ship.h"

/* Bytes that are stored side by side are collected up to this. */
#define STAGE_BYTES ((size_t)256 << 10)

#define MOST_DIVIDED 8

/* Own chunks in the order in which they are encoded. */
struct turn {
    uint64_t at;
    size_t m;
};

/* As many are taken together, at the most. */
#define MOST_TURNS 64

/* Bytes for one range of a file that wait for more. */
struct stage {
    struct bm_file *file; /* NULL: empty */
    uint64_t at;
    size_t used;
    uint8_t *data;
    size_t room; /* bytes there */
};

struct bm_prediction {
    uint64_t *room; /* [chunks], for bytes in the slots; a node's ranks have it
                       in common */
    int division;   /* a buffer is that many smaller ones */
    struct turn *turns;
    size_t turn_count;
    uint8_t *memory; /* slots of this rank's chunks; they never move */
    size_t *at;      /* [mine_count], in 'memory' */
    uint8_t *there;  /* [mine_count]: it is filled */

    /* Of a writer, and used by the thread that stores: */
    uint8_t *stage_memory;
    struct stage stages[BM_MAX_LEVELS]; /* by room of the file */
};

/* ---- slots -------------------------------------------------------------- */

int bm_predict_possible(const struct bm_write_job *job)
{
    return job->ds->options.predict == BOUMA_PREDICT_ON &&
           job->plan.grids->sizes.known && job->plan.grids->chunks;
}

/* What a chunk may have: somewhat more than it had. */
static uint64_t guess_room(const struct bm_write_plan *plan, size_t chunk)
{
    const struct bouma_variable *v = bm_plan_chunk(plan, chunk).variable;
    uint64_t had = plan->sizes.each[chunk];

    return bm_codec_find((int)v->codec)->sized ? had : had + had / 16 + 16;
}

uint64_t bm_predict_slot_bytes(const struct bm_write_job *job, size_t chunk)
{
    return bm_record_bytes(bm_plan_chunk(job->plan.grids, chunk).variable) +
           job->plan.prediction->room[chunk];
}

int bm_predict_fits(const struct bm_write_job *job, size_t chunk)
{
    return job->plan.bytes[chunk] <= job->plan.prediction->room[chunk];
}

uint64_t bm_predict_shipped(const struct bm_write_job *job, size_t chunk)
{
    if (!job->plan.prediction)
        return job->plan.bytes[chunk];
    return bm_predict_slot_bytes(job, chunk) +
           (bm_predict_fits(job, chunk) ? 0 : job->plan.bytes[chunk]);
}

size_t bm_predict_misfits(const struct bm_write_job *job)
{
    size_t n = 0;

    for (size_t i = 0; i < job->plan.grids->chunks && job->plan.prediction; i++)
        n += !bm_predict_fits(job, i);
    return n;
}

/* Rounds are cut short, since the thread has nothing to store before the first
 * one is there, and as many more of them can be under way as the buffers take:
 * this rank looks after them only between two chunks. */
static int divide_buffers(const struct bm_write_job *job)
{
    uint64_t buffer = job->ds->engine.env.buffer_bytes, largest = 1;

    for (size_t i = 0; i < job->plan.grids->chunks; i++)
        if (bm_predict_slot_bytes(job, i) > largest)
            largest = bm_predict_slot_bytes(job, i);
    return buffer / largest >= MOST_DIVIDED ? MOST_DIVIDED
           : buffer > largest               ? (int)(buffer / largest)
                                            : 1;
}

int bm_predict_division(const struct bm_write_job *job)
{
    return job->plan.prediction->division;
}

/* Memory for the slots of this rank's chunks. */
static int make_slots(struct bm_write_job *job)
{
    struct bm_prediction *p = job->plan.prediction;
    size_t bytes = 0;

    for (size_t m = 0; m < job->plan.grids->mine_count; m++) {
        p->at[m] = bytes;
        bytes += (size_t)bm_predict_slot_bytes(job, job->plan.grids->mine[m]);
    }
    p->memory = bm_new_raw(job->ds->a, bytes, 1);
    return p->memory ? BOUMA_OK
                     : bm_fail(&job->ds->error, BOUMA_ENOMEM,
                               "no memory for %zu chunks",
                               job->plan.grids->mine_count);
}

int bm_predict_begin(struct bm_write_job *job)
{
    const bouma_allocator *a = job->ds->a;
    struct bm_prediction *p = bm_new(a, 1, sizeof(*p));
    size_t mine = job->plan.grids->mine_count;
    int rc = p ? BOUMA_OK : BOUMA_ENOMEM, leads = bm_comm_leads(job->comm);

    job->plan.prediction = p;
    job->transit.cargo = BM_SLOTS;
    if (p) {
        if (leads)
            p->room = bm_new_raw(a, job->plan.grids->chunks, sizeof(*p->room));
        p->turns = bm_new_raw(a, mine, sizeof(*p->turns));
        p->at = bm_new_raw(a, mine, sizeof(*p->at));
        p->there = bm_new(a, mine, 1);
        if ((leads && !p->room) || !p->turns || !p->at || !p->there)
            rc = BOUMA_ENOMEM;
    }
    for (size_t i = 0; i < job->plan.grids->chunks && leads && !rc; i++) {
        job->plan.bytes[i] = job->plan.grids->sizes.each[i];
        job->plan.size_bytes[i] = job->plan.grids->sizes.size_bytes[i];
        p->room[i] = guess_room(job->plan.grids, i);
    }
    return rc ? bm_fail(&job->ds->error, rc, "no memory for %zu chunks", mine)
              : rc;
}

uint64_t **bm_predict_room(struct bm_write_job *job)
{
    return &job->plan.prediction->room;
}

void bm_predict_release(struct bm_write_job *job)
{
    const bouma_allocator *a = job->ds->a;
    struct bm_prediction *p = job->plan.prediction;

    if (!p)
        return;
    if (!job->plan.is_view)
        bm_drop(a, p->room);
    bm_drop(a, p->turns);
    bm_drop(a, p->memory);
    bm_drop(a, p->at);
    bm_drop(a, p->there);
    bm_drop(a, p->stage_memory);
    bm_drop(a, p);
    job->plan.prediction = NULL;
}

uint8_t *bm_predict_bytes(void *context, size_t m)
{
    const struct bm_prediction *p =
        ((struct bm_write_job *)context)->plan.prediction;

    return p->there[m] ? p->memory + p->at[m] : NULL;
}

/* ---- encoding ----------------------------------------------------------- */

void bm_predict_turn(struct bm_write_job *job, size_t m, uint64_t at)
{
    job->plan.prediction->turns[job->plan.prediction->turn_count++] =
        (struct turn){at, m};
}

static int by_turn(const void *left, const void *right)
{
    const struct turn *a = left, *b = right;

    if (a->at != b->at)
        return a->at < b->at ? -1 : 1;
    return a->m < b->m ? -1 : a->m > b->m;
}

/* All turns are told: put them in order. */
static void order_turns(struct bm_prediction *p)
{
    if (p->turn_count)
        qsort(p->turns, p->turn_count, sizeof(*p->turns), by_turn);
}

/* An encoded chunk goes into its slot. 1: it fits. */
static int fill_slot(struct bm_write_job *job, size_t m)
{
    struct bm_prediction *p = job->plan.prediction;
    const struct bm_shaper *shaper = &job->held.shaper;
    size_t record = shaper->record_at[m + 1] - shaper->record_at[m];
    size_t room = (size_t)p->room[job->plan.grids->mine[m]];
    size_t bytes = shaper->encoded_bytes[m];
    uint8_t *slot = p->memory + p->at[m];
    int fits = bytes <= room;

    memcpy(slot, shaper->records + shaper->record_at[m], record);
    if (fits && bytes)
        memcpy(slot + record, shaper->encoded.data + shaper->encoded_at[m],
               bytes);
    memset(slot + record + (fits ? bytes : 0), 0, room - (fits ? bytes : 0));
    p->there[m] = 1;
    return fits;
}

/* The next chunks are encoded and go into their slots. Those that do not fit
 * stay where the shaper has them, one after the other. */
static int fill_slots(struct bm_write_job *job, const struct turn *turns,
                      size_t count)
{
    struct bm_shaper *s = &job->held.shaper;
    size_t kept = s->encoded.size, m[MOST_TURNS] = {0};
    int rc;

    for (size_t i = 0; i < count; i++)
        m[i] = turns[i].m;
    rc = bm_shaper_encode(s, m, count);
    for (size_t i = 0; i < count && !rc; i++) {
        size_t bytes = s->encoded_bytes[m[i]];

        if (fill_slot(job, m[i]))
            continue;
        memmove(s->encoded.data + kept, s->encoded.data + s->encoded_at[m[i]],
                bytes);
        s->encoded_at[m[i]] = kept;
        kept += bytes;
    }
    if (!rc)
        s->encoded.size = kept;
    return rc;
}

static int flush_stages(struct bm_prediction *p, struct bm_error *error);

/* As many as keep all threads busy, but so few that most of them are shipped
 * while others are encoded. */
static size_t turns_at_once(const struct bm_prediction *p,
                            const struct bm_shaper *s)
{
    size_t few = p->turn_count / 8, most = bm_shaper_batch(s);

    most = most < MOST_TURNS ? most : MOST_TURNS;
    few = few < s->hand_count ? s->hand_count : few;
    return few < most ? few : most;
}

int bm_predict_carry_out(struct bm_write_job *job)
{
    struct bm_prediction *p = job->plan.prediction;
    size_t most = turns_at_once(p, &job->held.shaper);
    int rc = BOUMA_OK;

    order_turns(p);
    for (size_t i = 0, n; i < p->turn_count && !rc; i += n) {
        n = p->turn_count - i < most ? p->turn_count - i : most;
        rc = fill_slots(job, p->turns + i, n);
        bm_job_lap(job, BM_SHAPE);
        while (!rc && bm_pipe_step(job->transit.pipe))
            ;
        bm_job_lap(job, BM_SHIP);
    }
    rc = bm_ship_chunks(job, 1, rc);
    if (!rc)
        rc = flush_stages(p, &job->ds->error);
    bm_job_lap(job, BM_STORE);
    return rc;
}

/* ---- storing ------------------------------------------------------------ */

/* One for each level that any file has. */
static int make_stages(struct bm_write_job *job)
{
    struct bm_prediction *p = job->plan.prediction;
    uint64_t buffer = job->ds->engine.env.buffer_bytes;
    size_t room = buffer < STAGE_BYTES ? (size_t)buffer : STAGE_BYTES;
    size_t levels = 1;

    for (size_t i = 0; i < job->plan.grids->grid_count; i++)
        if ((size_t)bm_pieces(job->plan.grids->grids[i].grid) > levels)
            levels = (size_t)bm_pieces(job->plan.grids->grids[i].grid);
    p->stage_memory = bm_new_raw(job->ds->a, levels, room);
    if (!p->stage_memory)
        return bm_fail(&job->ds->error, BOUMA_ENOMEM,
                       "no memory to store chunks");
    for (size_t k = 0; k < levels; k++) {
        p->stages[k].data = p->stage_memory + k * room;
        p->stages[k].room = room;
    }
    return BOUMA_OK;
}

/* What the levels of a file had of its bytes in the last step; NULL: this rank
 * did not write it. */
static const struct bm_level_share *
find_share(const struct bm_plan_sizes *sizes, uint32_t file)
{
    size_t at = 0;

    BM_BISECT(at, sizes->share_count, k, sizes->shares[k].file <= file);
    return at < sizes->share_count && sizes->shares[at].file == file
               ? &sizes->shares[at]
               : NULL;
}

/* The bytes that each of this rank's files will have, and how its levels shared
 * them when it had that number the last time. */
int bm_predict_rooms(struct bm_write_job *job)
{
    int rc = make_slots(job);

    job->plan.prediction->division = divide_buffers(job);

    for (size_t i = 0; i < job->held.subfile_count && !rc; i++) {
        struct bm_subfile *f = &job->held.subfiles[i];
        const size_t *first = job->plan.files.first + f->assigned;
        const struct bm_level_share *share =
            find_share(&job->plan.grids->sizes, f->head.subfile);
        uint64_t expected = 0;

        for (size_t t = first[0]; t < first[1]; t++)
            expected += job->plan.bytes[job->plan.files.chunk[t]];
        rc = bm_subfile_make_rooms(f, job->ds, expected,
                                   share ? share->bytes : NULL);
    }
    return rc || !job->held.subfile_count ? rc : make_stages(job);
}

static int flush_stage(struct stage *stage, struct bm_error *error)
{
    struct bm_file *file = stage->file;

    stage->file = NULL;
    return file
               ? bm_file_write(file, stage->data, stage->used, stage->at, error)
               : BOUMA_OK;
}

static int flush_stages(struct bm_prediction *p, struct bm_error *error)
{
    int rc = BOUMA_OK;

    for (int k = 0; k < BM_MAX_LEVELS && !rc; k++)
        rc = flush_stage(&p->stages[k], error);
    return rc;
}

/* Write bytes to an offset, maybe later, with those that come behind them. */
static int put(struct stage *stage, struct bm_file *file, uint64_t at,
               const uint8_t *data, size_t bytes, struct bm_error *error)
{
    int rc = BOUMA_OK;

    if (!bytes)
        return rc;
    if (stage->file && (stage->file != file || stage->at + stage->used != at ||
                        bytes > stage->room - stage->used))
        rc = flush_stage(stage, error);
    if (rc)
        return rc;
    if (bytes >= stage->room)
        return bm_file_write(file, data, bytes, at, error);
    if (!stage->file) {
        stage->file = file;
        stage->at = at;
        stage->used = 0;
    }
    memcpy(stage->data + stage->used, data, bytes);
    stage->used += bytes;
    return rc;
}

/* A whole slot. What it says of its bytes is not believed: if its rank has
 * failed, it may say anything. */
static int store_slot(struct bm_write_job *job, const struct bm_arrival *c,
                      const uint8_t *slot, struct bm_error *error)
{
    struct bm_subfile *f = &job->held.subfiles[c->subfile];
    const struct bm_section *section =
        &f->head.sections[f->slots[c->t].section];
    size_t row = f->slots[c->t].index * (size_t)section->levels;
    size_t record = bm_record_bytes(section->variable);
    const uint8_t *data = slot + record;
    int rc = BOUMA_OK;

    bm_subfile_enter(f, c->t, slot, 1);
    if (bm_subfile_chunk_bytes(f, c->t) > c->bytes - record)
        return rc; /* a misfit: later */
    for (int k = section->levels - 1; k >= 0 && !rc; k--) {
        int room = bm_subfile_reserve(f, c->t, k);
        size_t bytes = section->sizes[row + (size_t)k];

        rc = put(&job->plan.prediction->stages[room], &f->file,
                 section->offsets[row + (size_t)k], data, bytes, error);
        data += bytes;
    }
    return rc;
}

int bm_predict_store(void *context, uint64_t at, uint8_t *data, uint64_t bytes,
                     struct bm_error *error)
{
    struct bm_write_job *job = context;
    size_t i = 0;
    int rc = BOUMA_OK;

    BM_BISECT(i, job->transit.arrival_count, k,
              job->transit.arrivals[k].at <= at);
    for (; bytes && !rc; i++) {
        rc = store_slot(job, &job->transit.arrivals[i], data, error);
        data += job->transit.arrivals[i].bytes;
        bytes -= job->transit.arrivals[i].bytes;
    }
    return rc;
}

/* ---- what did not fit --------------------------------------------------- */

/* Reserve room for the misfits that come to this rank: their records are there.
 */
static void reserve_misfits(struct bm_write_job *job)
{
    for (size_t i = 0; i < job->transit.arrival_count; i++) {
        const struct bm_arrival *c = &job->transit.arrivals[i];
        struct bm_subfile *f = &job->held.subfiles[c->subfile];

        for (int k = f->head.sections[f->slots[c->t].section].levels; k-- > 0;)
            bm_subfile_reserve(f, c->t, k);
    }
}

int bm_predict_ship_misfits(struct bm_write_job *job, int rc)
{
    struct bouma_dataset *ds = job->ds;

    job->transit.cargo = BM_MISFITS;
    if (!rc)
        rc = bm_ship_plan(job);
    rc = bm_pipe_open(job->transit.pipe, job->comm, job->pool, rc, &ds->error);
    if (rc)
        return rc;
    reserve_misfits(job);
    return bm_ship_chunks(job, 1, rc);
}

int bm_predict_make_heads(struct bm_write_job *job, int rc)
{
    for (size_t i = 0; i < job->held.subfile_count && !rc; i++)
        rc = bm_subfile_finish_head(&job->held.subfiles[i], job->ds);
    return rc;
}

/* ---- for the next step -------------------------------------------------- */

int bm_predict_reserve(struct bm_write_job *job)
{
    struct bm_plan_sizes *sizes = &job->plan.grids->sizes;
    struct bm_level_share *grown;

    if (job->ds->options.predict != BOUMA_PREDICT_ON ||
        sizes->share_room >= job->held.subfile_count)
        return BOUMA_OK;
    grown = bm_resize(job->plan.grids->a, sizes->shares,
                      job->held.subfile_count, sizeof(*grown));
    if (!grown)
        return bm_fail(&job->ds->error, BOUMA_ENOMEM,
                       "no memory for the sizes of levels");
    sizes->shares = grown;
    sizes->share_room = job->held.subfile_count;
    return BOUMA_OK;
}

void bm_predict_keep(struct bm_write_job *job)
{
    struct bm_plan_sizes *sizes = &job->plan.grids->sizes;

    if (job->ds->options.predict != BOUMA_PREDICT_ON || !sizes->known)
        return;
    sizes->share_count = job->held.subfile_count;
    for (size_t i = 0; i < job->held.subfile_count; i++) {
        sizes->shares[i].file = job->held.subfiles[i].head.subfile;
        bm_subfile_levels(&job->held.subfiles[i], sizes->shares[i].bytes);
    }
}
