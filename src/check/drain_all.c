/* drain_all.c -- see drain_all.h. */
#include "check/drain_all.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dataset/local_copy.h"
#include "layout/sheet_walk.h"
#include "layout/writings.h"
#include "store/identity.h"
#include "store/step_dir.h"

/* ---- what there is ------------------------------------------------------ */

/* Whether a local copy has lost a whole step. A record that cannot be read says
 * nothing of a step that is there. */
static int is_gone(const struct bm_lost_step *lost,
                   const struct bm_step_list *list)
{
    const struct bm_step_entry *e = bm_step_list_find(list, lost->entry.step);

    return bm_lost_step_is_whole(lost) &&
           !(lost->recorded < 0 && e && e->generation.epoch);
}

/* Its id, its steps, and those that it has lost. */
static void encode_near(struct bm_buffer *b, const uint8_t *id,
                        const struct bm_loss_list *losses,
                        const struct bm_step_list *list)
{
    bm_put_bytes(b, id, 16);
    bm_put_u64(b, list->count);
    for (size_t i = 0; i < list->count; i++)
        bm_put_step_entry(b, &list->entries[i]);
    for (size_t i = 0; i < losses->count; i++)
        if (is_gone(&losses->steps[i], list)) {
            bm_put_step_entry(b, &losses->steps[i].entry);
            bm_put_i64(b, losses->steps[i].recorded);
        }
}

/* The local copy of this node. That there is none is for all ranks together to
 * complain of. */
static int open_near(struct bm_drain_all *r, struct bm_buffer *mine)
{
    struct bm_error why = {0};
    struct bm_step_list list;
    struct bm_step_search search = {.store = &r->near.store,
                                    .id = r->id,
                                    .found = &list,
                                    .how = BM_FIND_EXACT};
    int rc, major, minor;

    rc = bm_store_open(&r->near.store, r->options->io, r->a, r->near.path, 0,
                       &why);
    if (rc == BOUMA_ENOTFOUND)
        return BOUMA_OK;
    if (rc)
        return bm_fail(r->error, rc, "%s", why.text);
    r->near.exists = 1;
    r->near.store.memory_limit = r->options->memory_limit;
    bm_step_list_init(&list, r->a);
    rc = bm_identity_load(&r->near.store, r->id, &major, &minor, r->error);
    if (!rc)
        rc = bm_steps_find(&search, r->error);
    if (!rc)
        rc = bm_losses_find_all(&r->near.store, r->id, &r->near.losses, 1,
                                r->error);
    if (!rc)
        encode_near(mine, r->id, &r->near.losses, &list);
    if (!rc && mine->failed)
        rc = bm_fail(r->error, BOUMA_ENOMEM, "%s: no memory", r->near.path);
    bm_step_list_release(&list);
    return rc;
}

static int by_writing(const void *left, const void *right)
{
    const struct bm_drain_step *a = left, *b = right;

    if (bm_generation_is_later(a->entry.generation, b->entry.generation))
        return 1;
    if (bm_generation_is_later(b->entry.generation, a->entry.generation))
        return -1;
    return a->entry.step < b->entry.step ? -1 : a->entry.step > b->entry.step;
}

/* The latest writing of a step first, and of equals that of the lowest rank. */
static int by_step(const void *left, const void *right)
{
    const struct bm_drain_step *a = left, *b = right;

    if (a->entry.step != b->entry.step)
        return a->entry.step < b->entry.step ? -1 : 1;
    if (bm_generation_is_later(a->entry.generation, b->entry.generation))
        return -1;
    if (bm_generation_is_later(b->entry.generation, a->entry.generation))
        return 1;
    return a->owner < b->owner ? -1 : a->owner > b->owner;
}

/* Of several that tell of one step, one. */
static void join_steps(struct bm_drain_steps *steps)
{
    size_t kept = 0;

    if (steps->count)
        qsort(steps->each, steps->count, sizeof(*steps->each), by_step);
    for (size_t i = 0; i < steps->count; i++)
        if (!kept ||
            steps->each[kept - 1].entry.step != steps->each[i].entry.step)
            steps->each[kept++] = steps->each[i];
        else if (!steps->each[i].forgotten &&
                 bm_generation_is_later(steps->each[kept - 1].entry.generation,
                                        steps->each[i].entry.generation))
            steps->each[kept - 1].is_older = 1;
    steps->count = kept;
    if (kept)
        qsort(steps->each, kept, sizeof(*steps->each), by_writing);
}

/* A step that a local copy has lost. */
static int join_loss(struct bm_drain_all *r, struct bm_cursor *c)
{
    struct bm_step_entry e = bm_get_step_entry(c);
    int64_t recorded = bm_get_i64(c);
    struct bm_lost_step *lost = bm_losses_append(&r->steps.lost, &e);

    if (!lost)
        return bm_fail(r->error, BOUMA_ENOMEM, "%s: no memory", r->near.path);
    lost->recorded = recorded;
    return BOUMA_OK;
}

/* If several have lost it, the latest writing counts. */
static void join_losses(struct bm_loss_list *list)
{
    size_t kept = 0;

    bm_losses_sort(list);
    for (size_t i = 0; i < list->count; i++) {
        struct bm_lost_step *last = kept ? &list->steps[kept - 1] : NULL;
        const struct bm_lost_step *next = &list->steps[i];

        if (!last || last->entry.step != next->entry.step)
            list->steps[kept++] = *next;
        else if (bm_generation_is_later(next->entry.generation,
                                        last->entry.generation))
            *last = *next;
    }
    list->count = kept;
}

/* From what all ranks have found: the steps, the same on all. */
static int join_lists(struct bm_drain_all *r, const struct bm_buffer *all,
                      const size_t *sizes)
{
    struct bm_cursor c = bm_cursor_of(all->data, all->size);
    int known = 0, rc = BOUMA_OK;

    r->steps.each = bm_new(r->a, all->size / BM_STEP_ENTRY_BYTES + 1,
                           sizeof(*r->steps.each));
    if (!r->steps.each)
        return bm_fail(r->error, BOUMA_ENOMEM, "%s: no memory", r->near.path);
    for (int rank = 0; rank < r->comm->size; rank++) {
        const uint8_t *id = sizes[rank] ? bm_get_bytes(&c, 16) : NULL;
        uint64_t steps;

        if (!id)
            continue;
        if (known && memcmp(id, r->id, 16))
            return bm_fail(r->error, BOUMA_EMISMATCH,
                           "%s: is one dataset on one node, and another one on "
                           "the node of rank %d",
                           r->near.path, rank);
        memcpy(r->id, id, 16);
        known = 1;
        steps = bm_get_u64(&c);
        for (uint64_t n = steps; n; n--) {
            struct bm_step_entry e = bm_get_step_entry(&c);

            r->steps.each[r->steps.count++] = (struct bm_drain_step){
                .entry = e, .owner = rank, .forgotten = !e.generation.epoch};
            if (e.generation.epoch >= r->claim.least)
                r->claim.least = e.generation.epoch < UINT32_MAX
                                     ? e.generation.epoch + 1
                                     : UINT32_MAX;
        }
        for (size_t n = (sizes[rank] - 24 - steps * BM_STEP_ENTRY_BYTES) /
                        (BM_STEP_ENTRY_BYTES + 8);
             n && !rc; n--)
            rc = join_loss(r, &c);
        if (rc)
            return rc;
    }
    if (!known)
        return bm_fail(r->error, BOUMA_ENOTFOUND,
                       "%s: there is no such dataset", r->near.path);
    join_steps(&r->steps);
    join_losses(&r->steps.lost);
    r->report->steps = r->steps.count;
    return BOUMA_OK;
}

/* Collective. */
static int open_stores(struct bm_drain_all *r)
{
    size_t *sizes = bm_new(r->a, (size_t)r->comm->size, sizeof(*sizes));
    struct bm_buffer mine, all;
    int rc = BOUMA_OK;

    bm_buffer_init(&mine, r->a);
    bm_buffer_init(&all, r->a);
    if (!sizes)
        rc = bm_fail(r->error, BOUMA_ENOMEM, "%s: no memory", r->near.path);
    if (!rc)
        rc = open_near(r, &mine);
    rc = bm_comm_collect(r->comm, &mine, &all, sizes, rc, r->error);
    if (!rc)
        rc = join_lists(r, &all, sizes);
    if (!rc && r->comm->rank == 0) {
        rc = bm_store_open_or_make(&r->far.store, r->options->io, r->a,
                                   r->far.path, r->error);
        if (!rc)
            rc = bm_identity_ensure(&r->far.store, r->id, 0, r->error);
        if (rc == BOUMA_EEXISTS)
            bm_fail(r->error, rc,
                    "%s: is another dataset than %s; nothing was copied",
                    r->far.path, r->near.path);
        if (!rc && bm_local_copy_is_marked(&r->far.store, BM_NAME_LOCAL, r->id))
            rc = bm_fail(r->error, BOUMA_EINVAL,
                         "%s: is a local copy; the local copy comes first: "
                         "`bouma drain LOCAL DS`",
                         r->far.path);
    }
    rc = bm_comm_agree(r->comm, rc, r->error);
    if (!rc && r->comm->rank != 0)
        rc = bm_store_open(&r->far.store, r->options->io, r->a, r->far.path, 0,
                           r->error);
    if (!rc && r->near.exists && bm_store_same(&r->near.store, &r->far.store))
        rc = bm_fail(r->error, BOUMA_EINVAL,
                     "%s: cannot be drained to itself (%s)", r->near.path,
                     r->far.path);
    r->far.store.memory_limit = r->options->memory_limit;
    if (!rc)
        rc = bm_drain_load_dropped(&r->far, r->id, r->error);
    bm_buffer_release(&mine);
    bm_buffer_release(&all);
    bm_drop(r->a, sizes);
    return bm_comm_agree(r->comm, rc, r->error);
}

/* ---- copying ------------------------------------------------------------ */

static void tell(void *user, uint64_t bytes)
{
    struct bm_drain_all *r = user;
    const uint64_t parts = 1000;
    uint64_t part;

    r->progress.done += bytes;
    part = r->progress.bytes ? r->progress.done * parts / r->progress.bytes
                             : parts;
    if (r->options->progress && r->comm->rank == 0)
        r->options->progress(r->options->progress_user, "draining",
                             r->progress.at * parts +
                                 (part < parts ? part : parts),
                             r->steps.count * parts);
}

/* What a file has; of a sheet's, their mean, so that none need be loaded. */
static uint64_t expected_bytes(const struct bm_manifest *m, size_t i)
{
    size_t number, k;
    const struct bm_manifest *w = bm_manifest_with_file(m, i, &number);

    if (!w->sheet_files)
        return bm_manifest_record(w, number)->file_bytes;
    k = number / w->sheet_files;
    return w->sheets[k].sum.file_bytes / bm_sheet_records(w, k);
}

int bm_drain_share_out(struct bm_drain_all *r, const struct bm_manifest *m,
                       int *rank_of)
{
    size_t ranks = (size_t)r->comm->size, count = m ? bm_manifest_files(m) : 0;
    size_t *sizes = bm_new(r->a, ranks, sizeof(*sizes));
    uint64_t *load = bm_new(r->a, ranks, sizeof(*load));
    struct bm_buffer mine, all;
    int rc = BOUMA_OK;

    bm_buffer_init(&mine, r->a);
    bm_buffer_init(&all, r->a);
    for (size_t i = 0; i < count; i++) {
        char name[BM_NAME_BYTES];

        bm_manifest_file_name(name, m, i);
        /* One that cannot be looked at is there: who reads it tells why. */
        bm_put_u8(&mine,
                  r->near.exists && !bm_store_is_absent(&r->near.store, name));
    }
    if (!sizes || !load || mine.failed)
        rc = bm_fail(r->error, BOUMA_ENOMEM, "%s: no memory", r->near.path);
    rc = bm_comm_collect(r->comm, &mine, &all, sizes, rc, r->error);
    for (size_t i = 0; i < count && !rc; i++) {
        const uint8_t *has = all.data;

        rank_of[i] = -1;
        for (size_t k = 0; k < ranks; has += sizes[k++])
            if (sizes[k] == count && has[i] &&
                (rank_of[i] < 0 || load[k] < load[rank_of[i]]))
                rank_of[i] = (int)k;
        if (rank_of[i] >= 0)
            load[rank_of[i]] += expected_bytes(m, i);
    }
    r->progress.bytes = rc ? 0 : load[r->comm->rank];
    r->progress.done = 0;
    bm_buffer_release(&mine);
    bm_buffer_release(&all);
    bm_drop(r->a, sizes);
    bm_drop(r->a, load);
    return rc;
}

/* Whether this rank's local copy is known to have lost the file, and the target
 * does not have it: then there is nothing to wait for. */
static int check_lost(const struct bm_drain_near *near,
                      struct bm_drain_far *far, const struct bm_manifest *m,
                      uint32_t i, struct bm_error *error)
{
    const struct bm_lost_step *lost = bm_losses_find(&near->losses, m->step);
    char name[BM_NAME_BYTES], date[BM_LOSS_DATE];

    if (!bm_loss_is_of(lost, m) || !bm_lost_step_file(lost, i) ||
        bm_subfile_is_there(&far->store, m, i))
        return BOUMA_OK;
    bm_manifest_file_name(name, m, i);
    return bm_fail(error, BOUMA_EFORMAT, "%s/%s: is lost (%s)", near->path,
                   name, bm_loss_date(date, lost));
}

/* Rank 0: a step that lacks this file waits for it, and who repairs the target
 * shall know that: there is a copy of it that is not whole yet. It goes when
 * the step is published. Best effort. */
static void mark_waiting(struct bm_store *far, const struct bm_manifest *m,
                         uint32_t file)
{
    struct bm_error ignored = {0};
    char name[BM_NAME_BYTES];
    struct bm_file f;

    bm_name_copy(name, m->step, file, m->generation, 0);
    if (!bm_step_dir_create(&f, far, name, &ignored))
        bm_file_close(&f, &ignored);
}

/* This rank's files; and on rank 0, whether those that no local copy has are
 * there already. */
static int copy_files(struct bm_drain_all *r, struct bm_manifest *m,
                      const int *rank_of, int *missing)
{
    struct bm_sheet_walk walk = {.m = m}; /* in what is lent */
    uint32_t waits_for = 0;
    int rc = BOUMA_OK;

    for (size_t i = 0; i < bm_manifest_files(m) && !rc; i++) {
        uint64_t before = r->copier.bytes;
        size_t number;
        const struct bm_manifest *w = bm_manifest_with_file(m, i, &number);

        if (rank_of[i] < 0 || rank_of[i] == r->comm->rank)
            rc = bm_sheet_walk_to(&walk, i, r->error);
        if (!rc && rank_of[i] == r->comm->rank)
            rc = bm_copy_subfile(&r->copier, m->step, w->generation,
                                 (uint32_t)number,
                                 bm_manifest_record(w, number), r->error);
        else if (!rc && rank_of[i] < 0)
            rc = check_lost(&r->near, &r->far, m, (uint32_t)i, r->error);
        if (!rc && rank_of[i] < 0 && r->comm->rank == 0 &&
            !bm_subfile_is_there(&r->far.store, m, (uint32_t)i)) {
            if (!*missing)
                waits_for = (uint32_t)i;
            ++*missing;
        }
        r->report->files += r->copier.bytes > before;
    }
    bm_sheet_walk_end(&walk);
    if (!rc && *missing)
        mark_waiting(&r->far.store, m, waits_for);
    return rc;
}

/* Copy what a step has in the local copies. *whole is set if it can be
 * published. Collective. */
static int copy_step(struct bm_drain_all *r, uint64_t step,
                     const struct bm_buffer *bytes, int *whole)
{
    char name[BM_NAME_BYTES], full[1300];
    struct bm_schema schema;
    struct bm_manifest m;
    uint64_t missing = 0;
    int *rank_of = NULL, lacks = 0, rc;

    bm_schema_init(&schema, r->a, r->error);
    bm_manifest_init(&m, r->a, &schema, r->error);
    bm_name_manifest(name, step);
    snprintf(full, sizeof(full), "%s/%s", r->near.path, name);
    rc = bm_manifest_decode_lent(&m, bytes->data, bytes->size, r->id, full,
                                 r->error);
    if (!rc) {
        rank_of = bm_new(r->a, bm_manifest_files(&m), sizeof(*rank_of));
        if (!rank_of)
            rc = bm_fail(r->error, BOUMA_ENOMEM, "%s: no memory", r->near.path);
    }
    rc = bm_comm_agree(r->comm, rc, r->error);
    if (!rc)
        rc = bm_drain_share_out(r, &m, rank_of);
    if (!rc) {
        rc = copy_files(r, &m, rank_of, &lacks);
        rc = bm_comm_agree(r->comm, rc, r->error);
    }
    missing = (uint64_t)lacks;
    if (!rc)
        rc = bm_comm_max(r->comm, &missing, 1, r->error);
    *whole = !rc && !missing;
    if (!rc && missing)
        r->report->waiting++;
    bm_drop(r->a, rank_of);
    bm_manifest_release(&m);
    bm_schema_release(&schema);
    return rc;
}

/* Rank 0: who published it may have been killed before it was durable. Nobody
 * is told that it is there before that. */
static int sync_step(struct bm_drain_far *far, uint64_t step,
                     struct bm_error *error)
{
    char dir[BM_NAME_BYTES];
    int rc;

    bm_name_step(dir, step);
    rc = bm_store_sync_dir(&far->store, dir, error);
    if (!rc && !far->dataset_synced)
        rc = bm_store_sync_dir(&far->store, "", error);
    far->dataset_synced = 1;
    return rc ? rc : bm_store_sync_dir(&far->store, BM_NAME_STEPS, error);
}

/* The manifest of the step on all ranks, and what the target has of it: 'done',
 * if that is this writing or a later one, or this one was dropped. Collective.
 */
static int load_step(struct bm_drain_all *r, struct bm_drain_step *s,
                     struct bm_buffer *b, int *done)
{
    enum bm_drain_there there = BM_THERE_NONE;
    char name[BM_NAME_BYTES];
    uint64_t state;
    int rc = BOUMA_OK;

    bm_name_manifest(name, s->entry.step);
    if (r->comm->rank == s->owner)
        rc = bm_store_load(&r->near.store, name, b, r->near.store.memory_limit,
                           r->error);
    rc = bm_comm_share(r->comm, b, s->owner, rc, r->error);
    if (!rc && r->comm->rank == 0)
        rc = bm_drain_compare(r, b, &s->entry, &there);
    if (!rc && there >= BM_THERE_LATER)
        rc = sync_step(&r->far, s->entry.step, r->error);
    rc = bm_comm_agree(r->comm, rc, r->error);
    state = (uint64_t)there;
    if (!rc)
        rc = bm_comm_max(r->comm, &state, 1, r->error);
    bm_drain_update_step(s, rc ? BM_THERE_NONE : (enum bm_drain_there)state);
    *done = state >= BM_THERE_DROPPED;
    return rc;
}

int bm_drain_go_on(struct bm_drain_all *r, uint64_t step, const char *what,
                   int rc)
{
    if (rc != BOUMA_EFORMAT && rc != BOUMA_EVERSION && rc != BOUMA_ELIMIT &&
        rc != BOUMA_EEXISTS)
        return rc;
    if (!r->problem.status) {
        r->problem = *r->error;
        bm_error_prefix(&r->problem, "step %" PRIu64 " was not %s", step, what);
    }
    bm_error_clear(r->error);
    r->report->failed++;
    return BOUMA_OK;
}

/* Collective. */
static int drain_step(struct bm_drain_all *r, struct bm_drain_step *s,
                      struct bm_drain_batch *batch)
{
    struct bm_buffer *b = &batch->manifests[batch->count];
    int rc = BOUMA_OK, done = 0, whole = 0;

    bm_buffer_init(b, r->a);
    if (s->forgotten)
        rc = bm_fail(r->error, BOUMA_EFORMAT,
                     "%s: the manifest of step %" PRIu64 " cannot be read",
                     r->near.path, s->entry.step);
    if (!rc)
        rc = load_step(r, s, b, &done);
    if (!rc && done)
        r->report->present += (uint64_t)s->is_there;
    else if (!rc)
        rc = copy_step(r, s->entry.step, b, &whole);
    rc = bm_drain_go_on(r, s->entry.step, "drained", rc);
    if (whole)
        batch->steps[batch->count++] = s;
    else
        bm_buffer_release(b);
    return rc;
}

/* Collective. */
static int drain_steps(struct bm_drain_all *r)
{
    struct bm_drain_batch *batch = bm_new(r->a, 1, sizeof(*batch));
    int rc =
        batch ? BOUMA_OK
              : bm_fail(r->error, BOUMA_ENOMEM, "%s: no memory", r->near.path);

    rc = bm_comm_agree(r->comm, rc, r->error);
    for (r->progress.at = 0; r->progress.at < r->steps.count && !rc;
         r->progress.at++) {
        rc = drain_step(r, &r->steps.each[r->progress.at], batch);
        if (!rc && batch->count == BM_DRAIN_BATCH)
            rc = bm_drain_publish(r, batch);
        r->progress.bytes = 0;
        if (!rc)
            tell(r, 0);
    }
    /* Also after a failure: what is whole is published. */
    if (batch && batch->count) {
        struct bm_error why = *r->error;
        int flushed;

        bm_error_clear(r->error);
        flushed = rc == BOUMA_ECOMM ? rc : bm_drain_publish(r, batch);
        if (rc)
            *r->error = why;
        rc = rc ? rc : flushed;
        for (size_t i = 0; i < batch->count; i++)
            bm_buffer_release(&batch->manifests[i]);
    }
    bm_drop(r->a, batch);
    if (!rc) {
        rc = r->comm->rank == 0 ? bm_drain_record(r) : BOUMA_OK;
        rc = bm_comm_agree(r->comm, rc, r->error);
    }
    for (size_t i = 0; i < r->steps.count; i++) {
        r->report->older += (uint64_t)r->steps.each[i].is_older;
        r->report->dropped += (uint64_t)r->steps.each[i].dropped;
    }
    return rc;
}

/* ---- the whole ---------------------------------------------------------- */

/* Counts of files and bytes are those of all ranks. Collective. */
static int sum_up(struct bm_drain_all *r, int rc)
{
    size_t *sizes = bm_new(r->a, (size_t)r->comm->size, sizeof(*sizes));
    struct bm_error why = {0};
    struct bm_buffer mine, all;
    struct bm_cursor c;
    int summed = sizes ? BOUMA_OK : BOUMA_ENOMEM;

    bm_buffer_init(&mine, r->a);
    bm_buffer_init(&all, r->a);
    bm_put_u64(&mine, r->report->files);
    bm_put_u64(&mine, r->copier.bytes);
    bm_put_u64(&mine, r->report->published);
    bm_put_u64(&mine, r->report->replaced);
    bm_put_u64(&mine, r->report->losses);
    bm_put_u64(&mine, r->report->removed);
    if (summed || mine.failed)
        summed = bm_fail(&why, BOUMA_ENOMEM, "no memory to sum up");
    summed = bm_comm_collect(r->comm, &mine, &all, sizes, summed, &why);
    r->report->files = r->report->bytes = 0;
    r->report->published = r->report->replaced = 0;
    r->report->losses = r->report->removed = 0;
    c = bm_cursor_of(all.data, all.size);
    for (int k = 0; k < r->comm->size && !summed; k++) {
        uint64_t removed;

        r->report->files += bm_get_u64(&c);
        r->report->bytes += bm_get_u64(&c);
        r->report->published += bm_get_u64(&c);
        r->report->replaced += bm_get_u64(&c);
        r->report->losses += bm_get_u64(&c);
        removed = bm_get_u64(&c);
        if (removed > r->report->removed)
            r->report->removed = removed;
    }
    if (summed && !rc)
        rc = bm_fail(r->error, summed, "%s", why.text);
    bm_buffer_release(&mine);
    bm_buffer_release(&all);
    bm_drop(r->a, sizes);
    return rc;
}

int bm_drain_all(struct bm_comm *comm, struct bm_request *q, const char *near,
                 int remove, bouma_drain_report *report)
{
    struct bm_drain_all r = {.comm = comm,
                             .a = comm->a,
                             .options = &q->options,
                             .near.path = near,
                             .far.path = q->path,
                             .report = report,
                             .error = &q->error};
    int rc;

    bm_losses_init(&r.near.losses, r.a);
    bm_losses_init(&r.steps.lost, r.a);
    bm_step_list_init(&r.far.gone, r.a);
    bm_truncations_init(&r.far.truncations, r.a);
    comm->timeout = q->options.timeout;
    memset(report, 0, sizeof(*report));
    rc = open_stores(&r);
    if (!rc) {
        bm_copier_init(&r.copier, &r.near.store, &r.far.store, r.id, r.a);
        r.copier.told = tell;
        r.copier.user = &r;
        rc = drain_steps(&r);
        if (!rc && remove)
            rc = bm_drain_remove(&r);
        if (rc != BOUMA_ECOMM)
            rc = sum_up(&r, rc);
        bm_copier_release(&r.copier);
    }
    if (!rc && r.problem.status)
        rc = bm_fail(&q->error, r.problem.status, "%s", r.problem.text);
    bm_drain_publish_end(&r.claim, r.a);
    bm_losses_release(&r.near.losses);
    bm_losses_release(&r.steps.lost);
    bm_step_list_release(&r.far.gone);
    bm_truncations_release(&r.far.truncations);
    bm_drop(r.a, r.steps.each);
    bm_store_close(&r.near.store);
    bm_store_close(&r.far.store);
    bm_comm_free(comm);
    return rc;
}
