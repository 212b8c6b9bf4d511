/* repair_dirs.c -- the directories of a dataset, if they are missing. */
#include <errno.h>

#include "check/repair.h"
#include "store/identity.h"

/* Writers that have claimed an epoch and left no file cannot be known. With a
 * gap for them nobody gets the epoch of one that may still run, and its next
 * commit finds that it was taken over. */
#define GAP 1000

/* The latest epoch in the names of files. */
struct latest {
    struct bm_repair *r;
    uint32_t epoch;
    int rc;
};

static int look_at_file(void *context, const char *entry)
{
    struct latest *l = context;
    struct bm_generation g;
    uint32_t subfile;

    if ((bm_name_parse_subfile(entry, &subfile, &g) ||
         bm_name_parse_manifest_new(entry, &g) || bm_name_is_copy(entry, &g)) &&
        g.epoch > l->epoch)
        l->epoch = g.epoch;
    return 0;
}

static int look_at_step(void *context, const char *entry)
{
    struct latest *l = context;
    char dir[BM_NAME_BYTES];
    uint64_t step;

    if (!bm_name_parse_step(entry, &step))
        return 0;
    bm_name_step(dir, step);
    l->rc = bm_store_list(&l->r->ds.store, dir, look_at_file, l, l->r->error);
    return l->rc ? ECANCELED : 0;
}

/* Make a directory of the dataset, durably. */
static int make_anew(struct bm_repair *r, const char *name, const char *text)
{
    int rc;

    if (!bm_repair_act(r, -1, name, text))
        return BOUMA_OK;
    rc = bm_store_make_dir(&r->ds.store, name, 1, r->error);
    return rc ? rc : bm_store_sync_dir(&r->ds.store, "", r->error);
}

/* The same of the steps in the index, as far as that can be read. */
static int look_at_index(struct latest *l)
{
    struct bm_step_list known;
    struct bm_error why = {0};
    size_t bad;
    int rc;

    bm_step_list_init(&known, l->r->ds.a);
    rc = bm_index_load(&l->r->ds.store, l->r->ds.id, &known, &bad, &why);
    for (size_t i = 0; i < known.count; i++)
        if (known.entries[i].generation.epoch > l->epoch)
            l->epoch = known.entries[i].generation.epoch;
    bm_step_list_release(&known);
    return rc == BOUMA_ENOMEM ? bm_fail(l->r->error, rc, "%s", why.text)
                              : BOUMA_OK;
}

int bm_repair_epochs(struct bm_repair *r, uint32_t *least)
{
    struct latest latest = {r, 0, BOUMA_OK};
    struct bm_error why = {0};
    uint32_t last = 0;
    int rc = look_at_index(&latest);

    if (rc)
        return rc;
    rc = bm_epoch_last(&r->ds.store, &last, &why);
    *least = latest.epoch < UINT32_MAX ? latest.epoch + 1 : latest.epoch;
    if (rc != BOUMA_EFORMAT)
        return rc ? bm_fail(r->error, rc, "%s", why.text) : BOUMA_OK;
    bm_error_clear(&why);
    rc =
        bm_store_list(&r->ds.store, BM_NAME_STEPS, look_at_step, &latest, &why);
    if (latest.rc)
        return latest.rc;
    if (rc && rc != BOUMA_ENOTFOUND)
        return bm_fail(r->error, rc, "%s", why.text);
    *least = latest.epoch < UINT32_MAX - GAP ? latest.epoch + GAP : UINT32_MAX;
    return make_anew(r, BM_NAME_EPOCHS,
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
