/* repair_dirs.c -- the directories of a dataset, if they are missing. */
#include "check/repair.h"
#include "store/identity.h"

/* Make a directory of the dataset, durably. */
static int make_anew(struct bm_repair *r, const char *name, const char *text)
{
    int rc;

    if (!bm_repair_act(r, -1, name, text))
        return BOUMA_OK;
    rc = bm_store_make_dir(&r->ds.store, name, 1, r->error);
    return rc ? rc : bm_store_sync_dir(&r->ds.store, "", r->error);
}

/* The latest epoch of the steps in the index, as far as that can be read. */
static int look_at_index(struct bm_repair *r, uint32_t *epoch)
{
    struct bm_step_list known;
    struct bm_error why = {0};
    size_t bad;
    int rc;

    bm_step_list_init(&known, r->ds.a);
    rc = bm_index_load(&r->ds.store, r->ds.id, &known, &bad, &why);
    for (size_t i = 0; i < known.count; i++)
        if (known.entries[i].generation.epoch > *epoch)
            *epoch = known.entries[i].generation.epoch;
    bm_step_list_release(&known);
    return rc == BOUMA_ENOMEM ? bm_fail(r->error, rc, "%s", why.text)
                              : BOUMA_OK;
}

int bm_repair_epochs(struct bm_repair *r, uint32_t *least)
{
    struct bm_error why = {0};
    uint32_t last = 0, latest = 0;
    int rc = look_at_index(r, &latest);

    if (rc)
        return rc;
    rc = bm_epoch_last(&r->ds.store, &last, &why);
    *least = latest < UINT32_MAX ? latest + 1 : latest;
    if (rc != BOUMA_EFORMAT)
        return rc ? bm_fail(r->error, rc, "%s", why.text) : BOUMA_OK;
    *least = latest;
    rc = bm_epoch_beyond_files(&r->ds.store, least, r->error);
    return rc ? rc
              : make_anew(
                    r, BM_NAME_EPOCHS,
                    "made anew, so that the dataset can be written again");
}

static int ignore_entry(void *context, const char *entry)
{
    (void)context;
    (void)entry;
    return 0;
}

int bm_repair_steps_dir(struct bm_repair *r, int *is_there)
{
    struct bm_error why = {0};
    int rc =
        bm_store_list(&r->ds.store, BM_NAME_STEPS, ignore_entry, NULL, &why);

    *is_there = !rc || r->apply;
    if (rc == BOUMA_ENOTFOUND)
        return make_anew(r, BM_NAME_STEPS,
                         "made anew, so that steps can be written again");
    return rc ? bm_fail(r->error, rc, "%s", why.text) : BOUMA_OK;
}
