/* same_options.c -- what all ranks must give alike when they open a dataset, so
 * that their plans are the same; and, if they do not, who differs in what. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "dataset/dataset.h"

enum {
    MODE,
    DURABILITY,
    GROUP,
    REPLACE,
    FORCE,
    FILES,
    FILE_SIZE,
    DISTRIBUTE,
    ASSIGN,
    PLACE,
    ORDER,
    MESSAGE_BYTES,
    BUFFER_BYTES,
    BEST_AXIS,
    MACHINE,
    TIER,
    PERSIST,
    BUFFERS,
    TRANSPORT,
    ASYNC,
    PREDICT,
    CLOBBER,
    TRACE,
    ID,
    PATH,
    VALUES
};

static const char *const names[VALUES] = {
    "mode",    "durability",    "group",        "replace",   "force",
    "files",   "file_size",     "distribute",   "assign",    "place",
    "order",   "message_bytes", "buffer_bytes", "best_axis", "machine",
    "tier",    "persist",       "buffers",      "transport", "async",
    "predict", "clobber",       "trace",        "id",        "path"};

static void collect(uint64_t v[VALUES], const struct bouma_dataset *ds,
                    const char *path)
{
    const bouma_options *o = &ds->options;

    v[MODE] = (uint64_t)ds->mode;
    v[DURABILITY] = (uint64_t)o->durability;
    v[GROUP] = (uint64_t)o->group;
    v[REPLACE] = (uint64_t)o->replace;
    v[FORCE] = (uint64_t)o->force;
    v[FILES] = (uint64_t)o->files;
    v[FILE_SIZE] = o->file_size;
    v[DISTRIBUTE] = (uint64_t)o->distribute;
    v[ASSIGN] = (uint64_t)o->assign;
    v[PLACE] = (uint64_t)o->place;
    v[ORDER] = (uint64_t)o->order;
    v[MESSAGE_BYTES] = o->message_bytes;
    v[BUFFER_BYTES] = o->buffer_bytes;
    v[BEST_AXIS] = (uint64_t)o->best_axis;
    v[MACHINE] = bm_hash64(o->machine, strlen(o->machine), 0);
    v[TIER] = (uint64_t)o->tier;
    v[PERSIST] = (uint64_t)o->persist;
    v[BUFFERS] = (uint64_t)o->buffers;
    v[TRANSPORT] = (uint64_t)o->transport;
    v[ASYNC] = (uint64_t)o->async;
    v[PREDICT] = (uint64_t)o->predict;
    v[CLOBBER] = (uint64_t)o->clobber;
    v[TRACE] = bm_hash64(o->trace, strlen(o->trace), 0);
    v[ID] = bm_hash64(o->id, 16, 0);
    v[PATH] = bm_hash64(path, strlen(path), 0);
}

uint64_t bm_options_hash(const struct bouma_dataset *ds, const char *path)
{
    uint64_t v[VALUES];

    collect(v, ds, path);
    return bm_hash64(v, sizeof(v), 0);
}

/* The value as the caller would write it. */
static const char *value_text(char *text, size_t bytes, int which,
                              uint64_t value)
{
    const char *name = NULL;

    switch (which) {
    case DURABILITY:
        name = bouma_durability_name((bouma_durability)value);
        break;
    case DISTRIBUTE:
        name = bouma_distribute_name((bouma_distribute)value);
        break;
    case ASSIGN:
        name = value ? bouma_assign_name((bouma_assign)value) : "the default";
        break;
    case PLACE:
        name = bouma_place_name((bouma_place)value);
        break;
    case ORDER:
        name = bouma_order_name((bouma_order)value);
        break;
    case TIER:
        name = value ? bouma_tier_name((bouma_tier)value) : "the default";
        break;
    case TRANSPORT:
        name = value ? bouma_transport_name((bouma_transport)value)
                     : "the default";
        break;
    case PREDICT:
        name = bouma_predict_name((bouma_predict)value);
        break;
    case MACHINE:
    case TRACE:
        name = "another text";
        break;
    }
    snprintf(text, bytes, "%" PRIu64, value);
    return name ? name : text;
}

static const char *mode_text(uint64_t mode)
{
    return mode == BM_MODE_READ     ? "opens"
           : mode == BM_MODE_CREATE ? "creates"
                                    : "appends to";
}

/* Tell the first difference to rank 0, if there is one. */
static int compare(struct bouma_dataset *ds, const char *path,
                   struct bm_cursor *c)
{
    uint64_t mine[VALUES], root[VALUES];
    char here[24], there[24];
    const char *root_path;
    int me = ds->comm->rank, which = 0;

    collect(mine, ds, path);
    for (int i = 0; i < VALUES; i++)
        root[i] = bm_get_u64(c);
    root_path = (const char *)bm_get_bytes(c, bm_cursor_left(c));
    while (which < VALUES && mine[which] == root[which])
        which++;
    switch (which) {
    case VALUES:
        return BOUMA_OK;
    case MODE:
        return bm_fail(
            &ds->error, BOUMA_EMISMATCH,
            "rank %d %s %s, rank 0 %s it; all ranks must make the same call",
            me, mode_text(mine[MODE]), path, mode_text(root[MODE]));
    case ID:
        return bm_fail(&ds->error, BOUMA_EMISMATCH,
                       "rank %d gives %s another identity (option 'id') than "
                       "rank 0",
                       me, path);
    case PATH:
        return bm_fail(&ds->error, BOUMA_EMISMATCH,
                       "rank %d opens the path \"%s\", rank 0 \"%s\"; all "
                       "ranks must open the same dataset",
                       me, path, root_path);
    }
    return bm_fail(&ds->error, BOUMA_EMISMATCH,
                   "rank %d opens %s with %s for option '%s', rank 0 with %s; "
                   "all ranks must give the same options",
                   me, path, value_text(here, sizeof(here), which, mine[which]),
                   names[which],
                   value_text(there, sizeof(there), which, root[which]));
}

int bm_options_mismatch(struct bouma_dataset *ds, const char *path)
{
    uint64_t v[VALUES];
    struct bm_cursor c;
    struct bm_buffer b;
    int rc;

    bm_buffer_init(&b, ds->a);
    collect(v, ds, path);
    for (int i = 0; i < VALUES && ds->comm->rank == 0; i++)
        bm_put_u64(&b, v[i]);
    if (ds->comm->rank == 0)
        bm_put_bytes(&b, path, strlen(path) + 1);
    rc = bm_comm_share(ds->comm, &b, 0, BOUMA_OK, &ds->error);
    c = bm_cursor_of(b.data, b.size);
    if (!rc && ds->comm->rank != 0)
        rc = compare(ds, path, &c);
    rc = bm_comm_agree(ds->comm, rc, &ds->error);
    bm_buffer_release(&b);
    return rc;
}
