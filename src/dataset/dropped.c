/* dropped.c -- see dropped.h. */
#include "dataset/dropped.h"

#include "dataset/sweep.h"

/* What a place has of a step; UNKNOWN: it cannot be read. */
enum has { NONE, DROPPED, LATER, UNKNOWN };

static int look(const struct bm_dropped *d, struct bm_store *s, uint64_t step,
                enum has *has, struct bm_error *error)
{
    struct bm_error why = {0};
    struct bm_step_entry entry;
    char name[BM_NAME_BYTES];
    struct bm_buffer b;
    int rc;

    bm_name_manifest(name, step);
    bm_buffer_init(&b, s->a);
    rc = bm_store_load(s, name, &b, s->memory_limit, &why);
    if (!rc)
        rc = bm_manifest_peek(&entry, &b, d->id, name, &why);
    bm_buffer_release(&b);
    if (!rc)
        *has = bm_truncations_has(d->truncations, step, entry.generation)
                   ? DROPPED
                   : LATER;
    else
        *has = rc == BOUMA_ENOTFOUND ? NONE : UNKNOWN;
    return rc == BOUMA_ENOMEM ? bm_fail(error, rc, "%s", why.text) : BOUMA_OK;
}

/* As any step is removed: the index forgets it, then the manifest goes,
 * durably, then the files. */
static int remove_manifest(struct bm_store *local_copy, const uint8_t id[16],
                           uint64_t step, struct bm_error *error)
{
    char name[BM_NAME_BYTES];
    int rc = bm_index_forget(local_copy, id, step, error);

    if (rc)
        return rc;
    bm_name_manifest(name, step);
    bm_store_remove(local_copy, name);
    if (!bm_store_is_absent(local_copy, name))
        return bm_fail(error, BOUMA_EIO, "%s/%s: could not be removed",
                       local_copy->path, name);
    bm_name_step(name, step);
    return bm_store_sync_dir(local_copy, name, error);
}

int bm_dropped_remove(const struct bm_dropped *d, uint64_t step, int *removed,
                      struct bm_error *error)
{
    struct bm_generation next = bm_truncations_limit(d->truncations, step);
    enum has here = NONE, there = NONE;
    char dir[BM_NAME_BYTES];
    int rc = look(d, d->local_copy, step, &here, error);

    *removed = 0;
    if (!rc && here == DROPPED)
        rc = look(d, d->place, step, &there, error);
    if (rc || here != DROPPED || there == DROPPED || there == UNKNOWN)
        return rc;
    rc = remove_manifest(d->local_copy, d->id, step, error);
    if (rc)
        return rc;
    next.attempt += next.attempt < UINT32_MAX; /* the first that stays */
    bm_sweep_older(d->local_copy, step, next, 1);
    bm_name_step(dir, step);
    bm_store_remove_dir(d->local_copy, dir);
    *removed = 1;
    return BOUMA_OK;
}

int bm_dropped_remove_all(struct bm_store *local_copy, struct bm_store *place,
                          const uint8_t id[16], uint64_t *removed,
                          struct bm_error *error)
{
    struct bm_truncations t;
    struct bm_dropped d = {local_copy, place, id, &t};
    struct bm_step_list there;
    int rc, one;

    *removed = 0;
    bm_step_list_init(&there, local_copy->a);
    bm_truncations_init(&t, local_copy->a);
    rc = bm_truncations_load(place, id, &t, error);
    if (!rc && t.count)
        rc = bm_steps_list(local_copy, &there, error);
    /* The last one first: who is interrupted leaves steps without a gap. */
    for (size_t i = there.count; i && !rc; i--)
        if (bm_truncations_limit(&t, there.entries[i - 1].step).epoch) {
            rc = bm_dropped_remove(&d, there.entries[i - 1].step, &one, error);
            *removed += (uint64_t)one;
        }
    bm_truncations_release(&t);
    bm_step_list_release(&there);
    return rc;
}
