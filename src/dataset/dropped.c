/* dropped.c -- see dropped.h. */
#include "dataset/dropped.h"

#include "dataset/sweep.h"
#include "store/step_dir.h"

/* What a store has of a step; UNKNOWN: it cannot be read. */
enum has { NONE, DROPPED, LATER, UNKNOWN };

static int look(const struct bm_dropped *d, struct bm_store *s, uint64_t step,
                enum has *has, struct bm_error *error)
{
    struct bm_error why = {0};
    struct bm_step_entry entry;
    char name[BM_NAME_BYTES];
    struct bm_buffer b;
    uint64_t bytes;
    int rc;

    bm_name_manifest(name, step);
    bm_buffer_init(&b, s->a);
    rc = bm_manifest_read_front(s, name, &b, &bytes, &why);
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

/* Whether a step is to go from the local copy. */
static int look_at(const struct bm_dropped *d, uint64_t step, int *goes,
                   struct bm_error *error)
{
    enum has here = NONE, there = NONE;
    int rc = look(d, d->local_copy, step, &here, error);

    if (!rc && here == DROPPED)
        rc = look(d, d->target, step, &there, error);
    *goes = !rc && here == DROPPED && (there == NONE || there == LATER);
    return rc;
}

/* As any step is removed, once the index has forgotten it: the manifest goes,
 * durably, then the files. */
static int remove_step(const struct bm_dropped *d, uint64_t step,
                       struct bm_error *error)
{
    struct bm_generation next = bm_truncations_limit(d->truncations, step);
    struct bm_store *s = d->local_copy;
    char name[BM_NAME_BYTES];
    int rc;

    bm_name_manifest(name, step);
    bm_store_remove(s, name);
    if (!bm_store_is_absent(s, name))
        return bm_fail(error, BOUMA_EIO, "%s/%s: could not be removed", s->path,
                       name);
    bm_name_step(name, step);
    rc = bm_store_sync_dir(s, name, error);
    if (rc)
        return rc;
    next.attempt += next.attempt < UINT32_MAX; /* the first that stays */
    bm_sweep_older(s, step, next);
    bm_step_dir_remove(s, step);
    return BOUMA_OK;
}

int bm_dropped_remove(const struct bm_dropped *d, uint64_t step, int *removed,
                      struct bm_error *error)
{
    int rc = look_at(d, step, removed, error);

    if (!*removed)
        return rc;
    rc = bm_index_forget(d->local_copy, d->id, step, error);
    if (!rc)
        rc = remove_step(d, step, error);
    *removed = !rc;
    return rc;
}

/* Those that are to go, ascending. */
static int find_all(const struct bm_dropped *d, struct bm_step_list *out,
                    struct bm_error *error)
{
    struct bm_step_list there;
    int rc, goes;

    bm_step_list_init(&there, d->local_copy->a);
    rc = bm_steps_list(d->local_copy, &there, error);
    for (size_t i = 0; i < there.count && !rc; i++) {
        uint64_t step = there.entries[i].step;

        if (!bm_truncations_limit(d->truncations, step).epoch)
            continue;
        rc = look_at(d, step, &goes, error);
        if (goes &&
            bm_step_list_put(out, (struct bm_step_entry){step, 0, {0, 0}}))
            rc = bm_fail(error, BOUMA_ENOMEM, "%s: no memory",
                         d->local_copy->path);
    }
    bm_step_list_release(&there);
    return rc;
}

int bm_dropped_remove_all(struct bm_store *local_copy, struct bm_store *target,
                          const uint8_t id[16], uint64_t *removed,
                          struct bm_error *error)
{
    struct bm_truncations t;
    struct bm_dropped d = {local_copy, target, id, &t};
    struct bm_step_list all;
    int rc;

    *removed = 0;
    bm_step_list_init(&all, local_copy->a);
    bm_truncations_init(&t, local_copy->a);
    rc = bm_truncations_load(target, id, &t, error);
    if (!rc && bm_truncations_epoch(&t))
        rc = find_all(&d, &all, error);
    /* All at once: it takes two syncs. */
    if (!rc && all.count)
        rc = bm_index_forget_all(local_copy, id, &all, error);
    /* The last one first: who is interrupted leaves steps without a gap. */
    for (size_t i = all.count; i && !rc; i--) {
        rc = remove_step(&d, all.entries[i - 1].step, error);
        *removed += !rc;
    }
    bm_truncations_release(&t);
    bm_step_list_release(&all);
    return rc;
}
