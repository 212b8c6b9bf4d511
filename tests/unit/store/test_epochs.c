/* Ranks that share a directory take one epoch: one of them gets it, and no
 * other fails, wherever they meet. */
#include <stdio.h>
#include <stdlib.h>

#include "bouma_store.h"
#include "check.h"
#include "files.h"
#include "store/identity.h"

static const uint8_t id[16] = {4, 5, 6};

/* A table of functions in which, behind the 'at'-th call that lists epochs, the
 * other rank takes the epoch. */
struct meeting {
    bouma_io io;
    struct bm_store *other;
    uint32_t epoch;
    int at, calls, taken;
};

static int list(void *user, void *root, const char *name,
                int (*each)(void *context, const char *entry), void *context)
{
    struct meeting *m = user;
    const bouma_io *posix = bouma_io_posix();
    int code = posix->list(posix->user, root, name, each, context);

    if (m->calls++ == m->at) {
        struct bm_error error = {0};

        CHECK_EQ(bm_epoch_take(m->other, m->epoch, 0, &m->taken, &error),
                 BOUMA_OK);
    }
    return code;
}

static void store_open(struct bm_store *s, const bouma_io *io, const char *path,
                       int create)
{
    struct bm_error error = {0};

    REQUIRE(
        !bm_store_open(s, io, bm_allocator_default(), path, create, &error));
}

/* Returns whether the other came at all. */
static int meet(const char *dir, int at)
{
    struct meeting m = {*bouma_io_posix(), NULL, 0, at, 0, 0};
    struct bm_error error = {0};
    struct bm_store one, other;
    char path[600], note[64];
    int taken = 0;

    m.io.user = &m;
    m.io.list = list;
    snprintf(path, sizeof(path), "%s/%d", dir, at);
    store_open(&other, bouma_io_posix(), path, 1);
    REQUIRE(!bm_identity_create(&other, id, &error));
    CHECK_EQ(bm_epoch_claim(&other, &m.epoch, 0, note, sizeof(note), &error),
             BOUMA_OK);
    CHECK_EQ(bm_epoch_close(&other, m.epoch, &error), BOUMA_OK);
    m.epoch += 3;
    m.other = &other;
    store_open(&one, &m.io, path, 0);
    CHECK_EQ(bm_epoch_take(&one, m.epoch, 0, &taken, &error), BOUMA_OK);
    CHECK_EQ(error.text[0], 0);
    CHECK_EQ(taken + m.taken, 1);
    CHECK_EQ(bm_epoch_close(&other, m.epoch, &error), BOUMA_OK);
    bm_store_close(&one);
    bm_store_close(&other);
    return m.calls > at;
}

int main(void)
{
    char dir[] = "/tmp/bouma-test-epochs-XXXXXX";
    int at = 0;

    REQUIRE(mkdtemp(dir));
    while (meet(dir, at))
        at++;
    CHECK(at >= 3);
    CHECK_EQ(remove_tree(dir), 0);
    return check_result();
}
