/* idx_check.c -- the names by which other programs read grids as IDX (see
 * dataset/idx.h): verify tells what is missing, repair makes it anew. No data
 * are lost without them, so none of it is damage. */
#include <stdio.h>

#include "check/repair.h"
#include "dataset/idx.h"
#include "dataset/local_copy.h"
#include "layout/grid_idx.h"

/* Whether there is something to look at: local copies have none, and most
 * datasets neither. 'wanted': a step has such a grid. */
static int is_there(struct bm_store *s, const uint8_t *id, int wanted)
{
    struct bm_error ignored = {0};
    struct bm_buffer names;
    int any;

    bm_buffer_init(&names, s->a);
    any = wanted || (!bm_idx_list(s, &names, &ignored) && names.size);
    bm_buffer_release(&names);
    return any && bm_io_has_links(s->io) &&
           !bm_local_copy_is_marked(s, BM_NAME_LOCAL, id) &&
           !bm_local_copy_is_marked(s, BM_NAME_PART, id);
}

static int note(void *context, int64_t step, const char *name,
                const char *wrong, const char *action)
{
    (void)action;
    bm_findings_add(context, BOUMA_SEVERITY_NOTE, step, name,
                    "%s; `bouma repair --apply` puts that right", wrong);
    return 0;
}

int bm_check_idx(struct bouma_dataset *ds, int wanted, uint32_t last,
                 struct bm_findings *out)
{
    struct bm_error why = {0};
    struct bm_idx_mend look = {.store = &ds->store,
                               .id = ds->id,
                               .steps = &ds->found.steps,
                               .deep = 1,
                               .epoch = last, /* its writer may be at work */
                               .tell = note,
                               .context = out};
    int rc;

    if (!is_there(&ds->store, ds->id, wanted))
        return BOUMA_OK;
    rc = bm_idx_mend(&look, &why);
    if (rc && rc != BOUMA_ENOMEM) {
        bm_findings_add(out, bm_severity_of(rc), -1, BM_NAME_IDX, "%s",
                        why.text);
        rc = BOUMA_OK;
    }
    return rc;
}

/* ---- repair -------------------------------------------------------------- */

static int act(void *context, int64_t step, const char *name, const char *wrong,
               const char *action)
{
    char mended[256];

    snprintf(mended, sizeof(mended), "%s; %s", wrong, action);
    return bm_repair_act(context, step, name, mended);
}

static int move_away(void *context, int64_t step, const char *name)
{
    return bm_repair_act(context, step, name,
                         "is in the place of links; moved to lost/")
               ? bm_repair_move_away(context, name)
               : BOUMA_OK;
}

int bm_repair_idx(struct bm_repair *r)
{
    struct bm_step_list found;
    struct bm_step_search search = {.store = &r->ds.store,
                                    .id = r->ds.id,
                                    .found = &found,
                                    .how = BM_FIND_EXACT};
    struct bm_idx_mend all = {.store = &r->ds.store,
                              .id = r->ds.id,
                              .steps = &found,
                              .deep = 1,
                              .epoch =
                                  r->apply ? r->ds.claim.epoch : UINT32_MAX,
                              .tell = act,
                              .move_away = move_away,
                              .context = r};
    int rc;

    if (!is_there(&r->ds.store, r->ds.id, r->has_idx))
        return BOUMA_OK;
    r->changing = 0;
    bm_step_list_init(&found, r->ds.a);
    rc = bm_steps_find(&search, r->error);
    if (!rc)
        rc = bm_idx_mend(&all, r->error);
    bm_step_list_release(&found);
    return rc ? bm_repair_leave(r, -1, BM_NAME_IDX, rc) : BOUMA_OK;
}
