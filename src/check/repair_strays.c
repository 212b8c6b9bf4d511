/* repair_strays.c -- the directory of one step under the number of another, as
 * somebody has copied or renamed it. */
#include "check/repair.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static int any_entry(void *context, const char *entry)
{
    (void)entry;
    *(int *)context = 1;
    return 0;
}

/* Whether the place of a step is free: nothing is in it. */
static int is_free(struct bm_repair *r, uint64_t step)
{
    struct bm_error ignored = {0};
    char dir[BM_NAME_BYTES];
    int any = 0, rc;

    bm_name_step(dir, step);
    rc = bm_store_list(&r->ds.store, dir, any_entry, &any, &ignored);
    return (rc == BOUMA_ENOTFOUND || (!rc && !any)) &&
           !bm_step_list_find(&r->returned, step);
}

/* Give the directory its own number again: at once, so that the step is always
 * whole. */
static int move_back(struct bm_repair *r, uint64_t from, uint64_t to)
{
    struct bm_step_entry back = {to, 0, {0, 0}};
    struct bm_store *s = &r->ds.store;
    char here[BM_NAME_BYTES], there[BM_NAME_BYTES], text[160];
    int rc;

    bm_name_step(here, from);
    bm_name_step(there, to);
    snprintf(text, sizeof(text),
             "holds step %" PRIu64 ", which is missing; renamed back to %.40s",
             to, there);
    if (bm_step_list_put(&r->returned, back))
        return bm_fail(r->error, BOUMA_ENOMEM, "no memory to repair");
    if (!bm_repair_act(r, (int64_t)from, here, text))
        return BOUMA_OK;
    rc = bm_store_publish(s, here, there, 1, r->error);
    return rc ? rc : bm_store_sync_dir(s, BM_NAME_STEPS, r->error);
}

/* A step that stands elsewhere, too. */
static int move_away(struct bm_repair *r, uint64_t from, uint64_t of)
{
    char dir[BM_NAME_BYTES], text[160];

    bm_name_step(dir, from);
    snprintf(text, sizeof(text),
             "holds a copy of step %" PRIu64 ", which is there; moved to lost/",
             of);
    return bm_repair_act(r, (int64_t)from, dir, text)
               ? bm_repair_move_step(r, from)
               : BOUMA_OK;
}

/* One directory of a step. */
static int look_at(struct bm_repair *r, uint64_t step)
{
    const struct bm_step_entry *known = bm_step_list_find(&r->known, step);
    struct bm_step_entry found, own, stray = {step, 0, {0, 0}};
    char name[BM_NAME_BYTES], text[200];
    int rc;

    if (!bm_step_peek(&r->ds.store, step, r->ds.id, &found) ||
        found.step == step)
        return BOUMA_OK;
    if (bm_step_list_put(&r->strays, stray))
        return bm_fail(r->error, BOUMA_ENOMEM, "no memory to repair");
    if (is_free(r, found.step)) {
        rc = move_back(r, step, found.step);
    } else if (bm_step_list_find(&r->returned, found.step) ||
               (bm_step_peek(&r->ds.store, found.step, r->ds.id, &own) &&
                own.step == found.step)) {
        rc = move_away(r, step, found.step);
    } else { /* this may be the better one */
        bm_name_manifest(name, step);
        snprintf(text, sizeof(text),
                 "holds the manifest of step %" PRIu64 ", not of step %" PRIu64
                 "; move one of the two away, or this one back",
                 found.step, step);
        bm_repair_hopeless(r, (int64_t)step, name, text);
        return BOUMA_OK;
    }
    /* What was in its place is lost, which is seen when it is gone. */
    if (!rc && !r->apply && known && known->generation.epoch)
        rc = bm_repair_lost_step(r, known);
    return rc;
}

int bm_repair_strays(struct bm_repair *r)
{
    struct bm_step_list steps;
    int rc;

    bm_step_list_init(&steps, r->ds.a);
    rc = bm_steps_list(&r->ds.store, &steps, r->error);
    for (size_t i = 0; i < steps.count && !rc; i++) {
        r->changing = 0;
        rc = look_at(r, steps.entries[i].step);
    }
    bm_step_list_release(&steps);
    return rc;
}
