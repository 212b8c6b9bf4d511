/* sweep.c -- see sweep.h. */
#include "dataset/sweep.h"

#include <stdio.h>

struct broom {
    struct bm_store *s;
    uint64_t step;
    struct bm_generation kept;
    int remove;
    uint64_t found;
};

static int sweep_older(void *context, const char *entry)
{
    struct broom *b = context;
    char name[BM_NAME_BYTES];
    struct bm_generation g;
    uint32_t subfile;

    if ((!bm_name_parse_subfile(entry, &subfile, &g) &&
         !bm_name_parse_manifest_new(entry, &g)) ||
        !bm_generation_is_later(b->kept, g) ||
        !bm_name_written(name, b->step, entry))
        return 0;
    b->found++;
    if (b->remove)
        bm_store_remove(b->s, name);
    return 0;
}

uint64_t bm_sweep_older(struct bm_store *s, uint64_t step,
                        struct bm_generation kept, int remove)
{
    struct broom b = {s, step, kept, remove, 0};
    struct bm_error ignored = {0};
    char dir[BM_NAME_BYTES];

    bm_name_step(dir, step);
    bm_store_list(s, dir, sweep_older, &b, &ignored);
    return b.found;
}

static int sweep_any(void *context, const char *entry)
{
    struct broom *b = context;
    char dir[BM_NAME_BYTES], name[BM_NAME_BYTES * 2];
    struct bm_generation g;

    bm_name_step(dir, b->step);
    snprintf(name, sizeof(name), "%s/%s", dir, entry);
    if (bm_name_written(dir, b->step, entry) || bm_name_is_copy(entry, &g))
        bm_store_remove(b->s, name);
    return 0;
}

int bm_sweep_step(struct bm_store *s, uint64_t step, struct bm_error *error)
{
    struct broom b = {.s = s, .step = step};
    struct bm_error ignored = {0}, why = {0};
    char name[BM_NAME_BYTES];
    int rc;

    bm_name_manifest(name, step);
    bm_store_remove(s, name);
    if (!bm_store_is_absent(s, name))
        return bm_fail(error, BOUMA_EIO, "%s/%s: could not be removed", s->path,
                       name);
    bm_name_step(name, step);
    rc = bm_store_sync_dir(s, name, &why);
    if (rc == BOUMA_ENOTFOUND) /* it was removed by one who did not end */
        return BOUMA_OK;
    if (rc)
        return bm_fail(error, rc, "%s", why.text);
    bm_store_list(s, name, sweep_any, &b, &ignored);
    bm_store_remove_dir(s, name);
    return BOUMA_OK;
}

void bm_sweep_all_replaced(struct bouma_dataset *ds)
{
    for (size_t i = 0; i < ds->replaced.count; i++)
        bm_sweep_older(&ds->store, ds->replaced.entries[i].step,
                       ds->replaced.entries[i].generation, 1);
    ds->replaced.count = 0;
}

/* Whether this rank has a step open that was written again since. */
static int reads_older(const struct bouma_dataset *ds)
{
    for (const struct bm_open_step *o = ds->open_steps; o; o = o->next) {
        const struct bm_step_entry *e = bm_step_list_find(&ds->steps, o->step);

        if (e && bm_generation_is_later(e->generation, o->generation))
            return 1;
    }
    return 0;
}

int bm_sweep_replaced(struct bouma_dataset *ds)
{
    uint64_t any = (uint64_t)reads_older(ds);
    int rc = bm_comm_max(ds->comm, &any, 1, &ds->error);

    if (!rc && !any)
        bm_sweep_all_replaced(ds);
    return rc;
}
