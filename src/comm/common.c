/* common.c -- see common.h. */
#include "comm/common.h"

#include <string.h>

void bm_common_init(struct bm_common *c, const bouma_allocator *a)
{
    *c = (struct bm_common){.a = a, .shared = {NULL, 0, -1}};
}

void bm_common_release(struct bm_common *c)
{
    if (!c->a)
        return;
    bm_shared_release(&c->shared);
    bm_drop(c->a, c->copy);
    bm_common_init(c, c->a);
}

/* Memory of this rank alone. */
static uint8_t *make_copy(struct bm_common *c, size_t bytes)
{
    c->copy = bm_new_raw(c->a, bytes, 1);
    c->data = c->copy;
    c->bytes = c->copy ? bytes : 0;
    return c->copy;
}

static void forget(struct bm_common *c)
{
    int unshared = c->unshared;

    bm_common_release(c);
    c->unshared = unshared;
}

uint8_t *bm_common_room(struct bm_common *c, size_t bytes)
{
    if (c->bytes < bytes || bm_shared_unprotect(&c->shared)) {
        forget(c);
        c->is_new = 1;
        if (!c->unshared && !bm_shared_make(&c->shared, &c->handle, bytes)) {
            c->data = c->shared.data;
            c->bytes = bytes;
        } else {
            make_copy(c, bytes);
        }
    }
    c->used = bytes;
    return c->copy ? c->copy : c->shared.data;
}

/* MPI may still use what was sent or received. */
static int abandon(struct bm_common *c, const struct bm_comm *near,
                   struct bm_error *error)
{
    c->copy = NULL;
    c->shared.data = NULL;
    c->data = NULL;
    c->bytes = c->used = 0;
    return bm_fail(error, BOUMA_ECOMM, "%s", near->why);
}

/* The others map the memory of the first; 'c->unshared' if some cannot. */
static int map(struct bm_common *c, struct bm_comm *near,
               struct bm_error *error)
{
    struct bm_shared_handle handle = c->handle;
    uint64_t failed = 0;
    int rc = near->functions->broadcast(near, &handle, sizeof(handle), 0);

    if (rc)
        return bm_fail(error, BOUMA_ECOMM, "%s", near->why);
    if (!handle.bytes)
        failed = 1;
    else if (near->rank)
        failed = bm_shared_map(&c->shared, &handle) != 0;
    rc = bm_comm_max(near, &failed, 1, error);
    bm_shared_seal(&c->shared);
    c->handle.bytes = 0;
    if (rc || failed) {
        c->unshared = 1;
        if (near->rank)
            bm_shared_release(&c->shared);
        return rc;
    }
    if (near->rank) {
        bm_shared_protect(&c->shared);
        c->data = c->shared.data;
        c->bytes = c->shared.bytes;
    }
    return BOUMA_OK;
}

/* Each has the bytes of the first. */
static int copy(struct bm_common *c, struct bm_comm *near, uint64_t bytes,
                struct bm_error *error)
{
    int rc = BOUMA_OK;

    if (near->rank && c->bytes < bytes) {
        forget(c);
        if (!make_copy(c, (size_t)bytes))
            rc = bm_fail(error, BOUMA_ENOMEM, "no memory for %zu bytes",
                         (size_t)bytes);
    }
    rc = bm_comm_agree(near, rc, error);
    if (rc)
        return rc;
    return near->functions->broadcast(near, c->copy ? c->copy : c->shared.data,
                                      (size_t)bytes, 0)
               ? abandon(c, near, error)
               : BOUMA_OK;
}

int bm_common_tell(struct bm_common *c, struct bm_comm *near, int rc,
                   struct bm_error *error)
{
    /* What the first rank says; the others know nothing. */
    uint64_t said[2] = {(uint64_t)c->is_new, near->rank ? 0 : c->used};

    if (near->rank == 0)
        bm_shared_protect(&c->shared);
    rc = bm_comm_begin(near, "share", 0, said, rc, error);
    if (rc)
        return rc;
    c->is_new = 0;
    if (said[0]) {
        if (near->rank)
            forget(c);
        rc = map(c, near, error);
    }
    return rc || !c->unshared ? rc : copy(c, near, said[1], error);
}
