/* local_copy.c -- see local_copy.h. */
#include "dataset/local_copy.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "dataset/clobber.h"
#include "dataset/drain.h"
#include "dataset/dropped.h"
#include "store/identity.h"

int bm_local_copy_path(char *out, size_t bytes, const char *local,
                       const char *path, struct bm_error *error)
{
    size_t end = strlen(path), begin;

    while (end && path[end - 1] == '/')
        end--;
    for (begin = end; begin && path[begin - 1] != '/'; begin--)
        ;
    path += begin;
    end -= begin;
    if (!end || !strncmp(path, ".", end) || !strncmp(path, "..", end))
        return bm_fail(
            error, BOUMA_EINVAL,
            "the path of the dataset must end in a name, under which its local "
            "copy is kept in the directory of the option 'local'");
    if ((size_t)snprintf(out, bytes, "%s/%.*s", local, (int)end, path) >= bytes)
        return bm_fail(error, BOUMA_EINVAL, "%s/%.*s: the path is too long",
                       local, (int)end, path);
    return BOUMA_OK;
}

/* ---- writing ------------------------------------------------------------ */

static int check_options(struct bouma_dataset *ds)
{
    if (!ds->options.local[0])
        return bm_fail(&ds->error, BOUMA_EINVAL,
                       "the option 'persist' needs the option 'local': the "
                       "directory on storage of the node to keep steps in");
    if (ds->options.durability == BOUMA_DURABILITY_GROUP)
        return bm_fail(&ds->error, BOUMA_EINVAL,
                       "the option 'persist' cannot be combined with the "
                       "option 'durability' = group; use durable or fast");
    return BOUMA_OK;
}

static int refuse(const char *path, struct bm_error *error)
{
    return bm_fail(
        error, BOUMA_EEXISTS,
        "%s: is not empty, and not a bouma dataset; nothing was changed there",
        path);
}

/* The last epoch of a local copy that may be there. */
static int look(struct bouma_dataset *ds, const char *path, uint32_t *last)
{
    struct bm_error why = {0};
    char local_copy[1024];
    struct bm_store s;
    int rc = bm_local_copy_path(local_copy, sizeof(local_copy),
                                ds->options.local, path, &ds->error);

    if (rc)
        return rc;
    rc = bm_store_open(&s, ds->options.io, ds->a, local_copy, 0, &why);
    s.memory_limit = ds->options.memory_limit;
    /* If there can be none, that is to be known before anything is made. */
    if (rc == BOUMA_ENOTFOUND && ds->mode == BM_MODE_CREATE) {
        bm_store_close(&s);
        bm_error_clear(&why);
        rc = bm_store_open(&s, ds->options.io, ds->a, local_copy, 1, &why);
        bm_store_close(&s);
        if (rc && rc != BOUMA_EEXISTS)
            return bm_fail(&ds->error, rc, "%s", why.text);
        return BOUMA_OK;
    }
    if (!rc && ds->mode == BM_MODE_CREATE && !ds->options.clobber &&
        !bm_store_is_absent(&s, BM_NAME_DATASET))
        rc = bm_fail(&ds->error, BOUMA_EEXISTS,
                     "%s: exists already, perhaps from an earlier run: drain "
                     "it (`bouma drain`) or remove it, or choose another name",
                     local_copy);
    else if (!rc && ds->mode == BM_MODE_CREATE && !ds->options.clobber &&
             !bm_clobber_is_vacant(&s))
        rc = refuse(local_copy, &ds->error);
    /* Of a creation that was killed there may be no directory of epochs. */
    if (!rc && bm_epoch_last(&s, last, &why))
        *last = 0;
    bm_store_close(&s);
    if (rc && !ds->error.status)
        rc = rc == BOUMA_ENOTFOUND ? BOUMA_OK
                                   : bm_fail(&ds->error, rc, "%s", why.text);
    return rc;
}

int bm_local_copy_look(struct bouma_dataset *ds, const char *path,
                       uint32_t *least)
{
    uint32_t last = 0;
    uint64_t largest = 0;
    char local_copy[1024] = "";
    int rc = check_options(ds);

    if (!rc)
        rc = look(ds, path, &last);
    rc = bm_comm_agree(ds->comm, rc, &ds->error);
    largest = last;
    if (!rc)
        rc = bm_comm_max(ds->comm, &largest, 1, &ds->error);
    if (!rc)
        rc = bm_local_copy_path(local_copy, sizeof(local_copy),
                                ds->options.local, path, &ds->error);
    return rc ? rc
              : bm_epoch_after(local_copy, (uint32_t)largest, least,
                               &ds->error);
}

/* Several ranks, and programs, may be about it at once. What is in the way is
 * left to who loads the identity. */
static int make_identity(struct bm_store *s, const uint8_t id[16], int anyway,
                         struct bm_error *error)
{
    struct bm_error why = {0};
    int rc = BOUMA_OK;

    if (anyway || bm_clobber_is_vacant(s))
        rc = bm_identity_create(s, id, &why);
    return rc && rc != BOUMA_EEXISTS ? bm_fail(error, rc, "%s", why.text)
                                     : BOUMA_OK;
}

int bm_store_open_or_make(struct bm_store *s, const bouma_io *io,
                          const bouma_allocator *a, const char *path,
                          struct bm_error *error)
{
    struct bm_error why = {0};
    int rc = bm_store_open(s, io, a, path, 1, &why);

    if (rc != BOUMA_EEXISTS)
        return rc ? bm_fail(error, rc, "%s", why.text) : BOUMA_OK;
    bm_store_close(s);
    return bm_store_open(s, io, a, path, 0, error);
}

int bm_identity_ensure(struct bm_store *s, const uint8_t id[16], int anyway,
                       struct bm_error *error)
{
    struct bm_error why = {0};
    int rc = BOUMA_OK, major = 0, minor = 0;
    uint8_t found[16];

    if (bm_store_is_absent(s, BM_NAME_DATASET))
        rc = make_identity(s, id, anyway, error);
    if (!rc) {
        rc = bm_identity_load(s, found, &major, &minor, &why);
        if (rc == BOUMA_ENOTFOUND && bm_store_is_absent(s, BM_NAME_CLOBBERED))
            rc = refuse(s->path, error);
        else if (rc)
            bm_fail(error, rc, "%s", why.text);
    }
    if (!rc && memcmp(found, id, 16))
        rc = BOUMA_EEXISTS;
    return rc;
}

/* One who keeps manifests in a local copy, but is not rank 0: as it is done for
 * any dataset that is opened to append. */
static int sync_local_copy(struct bouma_dataset *ds)
{
    struct bm_step_list found;
    struct bm_step_search search = {.store = &ds->store,
                                    .id = ds->id,
                                    .found = &found,
                                    .how = BM_FIND_SYNC};
    int rc;

    bm_step_list_init(&found, ds->a);
    rc = bm_steps_find(&search, &ds->error);
    if (!rc)
        rc = search.stale ? bm_steps_write_index(&ds->store, ds->id, &found,
                                                 NULL, NULL, &ds->error)
                          : bm_store_sync_dir(&ds->store, "", &ds->error);
    bm_step_list_release(&found);
    return rc ? rc : bm_commit_load_losses(ds);
}

/* Steps that were dropped without the local copy go from it now: else they
 * would be among those that are written next. If the record of these cannot be
 * read they stay: writing goes on, and `bouma drain` tells of it. Notes are
 * those of rank
 * 0, which all ranks have. */
static int drop_steps(struct bouma_dataset *ds)
{
    struct bm_error why = {0};
    uint64_t count = 0;
    int rc =
        bm_dropped_remove_all(&ds->store, &ds->second, ds->id, &count, &why);
    int unknown = rc == BOUMA_EFORMAT || rc == BOUMA_EVERSION;

    if (rc && !unknown)
        return bm_fail(&ds->error, rc, "%s", why.text);
    rc = BOUMA_OK;
    if (ds->comm->rank == 0 && unknown)
        rc = bm_dataset_add_note(ds,
                                 "%s; so steps that were dropped on "
                                 "purpose may still be in %s",
                                 why.text, ds->store.path);
    if (ds->comm->rank == 0 && count && !rc)
        rc = bm_dataset_add_note(
            ds,
            "%" PRIu64 " step%s removed from %s, as %s has "
            "dropped %s",
            count, count == 1 ? " was" : "s were", ds->store.path,
            ds->second.path, count == 1 ? "it" : "them");
    return rc ? bm_fail(&ds->error, rc, "%s: no memory", ds->store.path)
              : BOUMA_OK;
}

int bm_local_copy_enter(struct bouma_dataset *ds)
{
    char path[1024];
    struct bm_store local_copy;
    int rc = bm_local_copy_path(path, sizeof(path), ds->options.local,
                                ds->store.path, &ds->error);

    memset(&local_copy, 0, sizeof(local_copy));
    if (!rc)
        rc = bm_store_open_or_make(&local_copy, ds->options.io, ds->a, path,
                                   &ds->error);
    local_copy.memory_limit = ds->options.memory_limit;
    if (!rc)
        rc = bm_identity_ensure(
            &local_copy, ds->id,
            ds->mode == BM_MODE_CREATE && ds->options.clobber, &ds->error);
    if (rc == BOUMA_EEXISTS)
        bm_fail(&ds->error, rc,
                "%s: belongs to another dataset; drain it (`bouma drain`) or "
                "remove it, or choose another directory for the option 'local'",
                path);
    if (rc) {
        bm_store_close(&local_copy);
        return rc;
    }
    ds->second = ds->store;
    ds->claim.claims_second = ds->claim.claims;
    ds->store = local_copy;
    rc = bm_epoch_take(&ds->store, ds->claim.epoch, ds->options.force,
                       &ds->claim.claims, &ds->error);
    if (!rc && ds->comm->rank == 0 && !ds->claim.claims)
        rc = bm_fail(&ds->error, BOUMA_EBUSY,
                     "%s: is the dataset itself, or was claimed by another "
                     "program just now",
                     path);
    if (!rc && ds->claim.claims) {
        bm_identity_unmark(&ds->store);
        bm_local_copy_mark(&ds->store, BM_NAME_LOCAL, ds->id);
    }
    if (!rc && ds->claim.claims && ds->mode == BM_MODE_APPEND)
        rc = drop_steps(ds);
    if (!rc && ds->comm->rank != 0 && ds->claim.claims)
        rc = sync_local_copy(ds);
    return rc ? rc : bm_drain_new(ds);
}

int bm_local_copy_is_marked(struct bm_store *s, const char *mark,
                            const uint8_t id[16])
{
    struct bm_error ignored = {0};
    struct bm_buffer b;
    int is_marked;

    bm_buffer_init(&b, s->a);
    is_marked = !bm_store_load(s, mark, &b, 16, &ignored) && b.size == 16 &&
                !memcmp(b.data, id, 16);
    bm_buffer_release(&b);
    return is_marked;
}

void bm_local_copy_mark(struct bm_store *s, const char *mark,
                        const uint8_t id[16])
{
    struct bm_error ignored = {0};

    if (bm_local_copy_is_marked(s, mark, id))
        return;
    bm_store_remove(s, mark);
    if (!bm_store_save(s, mark, id, 16, 1, &ignored))
        bm_store_sync_dir(s, "", &ignored);
}

/* ---- reading ------------------------------------------------------------ */

int bm_local_copy_find(struct bouma_dataset *ds)
{
    struct bm_error ignored = {0};
    int major, minor, found;
    char path[1024];
    uint8_t id[16];

    if (!ds->options.local[0] ||
        bm_local_copy_path(path, sizeof(path), ds->options.local,
                           ds->store.path, &ignored))
        return BOUMA_OK;
    found =
        !bm_store_open(&ds->second, ds->options.io, ds->a, path, 0, &ignored) &&
        !bm_identity_load(&ds->second, id, &major, &minor, &ignored) &&
        !memcmp(id, ds->id, 16);
    if (!found)
        bm_store_close(&ds->second);
    ds->second.memory_limit = ds->options.memory_limit;
    return BOUMA_OK;
}
