/* kinds.c -- what has the name of a file that writers make and is none, which
 * keeps them from making it; and a file named lost. */
#include <errno.h>
#include <stdio.h>

#include "check/repair.h"
#include "store/identity.h"

/* Where the file waits until there is a lost/ to hold it. */
#define LOST_ASIDE BM_NAME_LOST ".other"

struct kinds {
    struct bm_store *s;
    int (*each)(void *context, const char *name);
    void *context;
    int rc;
};

static void look_at(struct kinds *k, const char *name)
{
    if (!k->rc && bm_store_is_no_file(k->s, name))
        k->rc = k->each(k->context, name);
}

static int look_at_epoch(void *context, const char *entry)
{
    struct kinds *k = context;
    char name[BM_NAME_BYTES];
    uint32_t epoch;

    if (!bm_name_parse_epoch(entry, &epoch))
        return 0;
    bm_name_epoch_owner(name, epoch);
    look_at(k, name);
    bm_name_epoch_owner_new(name, epoch);
    look_at(k, name);
    bm_name_epoch_closed(name, epoch);
    look_at(k, name);
    return k->rc ? ECANCELED : 0;
}

/* Those that are not looked at anyway, as they are read. */
static int find_no_files(struct bm_store *s,
                         int (*each)(void *context, const char *name),
                         void *context)
{
    struct kinds k = {s, each, context, BOUMA_OK};
    struct bm_error ignored = {0};

    look_at(&k, BM_NAME_INDEX_NEW);
    look_at(&k, BM_NAME_TRUNCATIONS_NEW);
    bm_store_list(s, BM_NAME_EPOCHS, look_at_epoch, &k, &ignored);
    return k.rc;
}

/* ---- verify -------------------------------------------------------------- */

static int tell(void *context, const char *name)
{
    bm_findings_add(context, BOUMA_SEVERITY_NOTE, -1, name,
                    "is a directory, a pipe or a device, and no file; `bouma "
                    "repair --apply` moves it to lost/");
    return BOUMA_OK;
}

void bm_check_kinds(struct bm_store *s, struct bm_findings *out)
{
    find_no_files(s, tell, out);
    if (bm_store_exists(s, BM_NAME_LOST))
        bm_findings_add(out, BOUMA_SEVERITY_NOTE, -1, BM_NAME_LOST,
                        "is a file, and no directory; `bouma repair --apply` "
                        "puts that right");
}

/* ---- repair -------------------------------------------------------------- */

static int move(void *context, const char *name)
{
    return bm_repair_no_file(context, -1, name);
}

/* A killed repair may have put it aside already. */
static int make_lost(struct bm_repair *r)
{
    struct bm_store *s = &r->ds.store;
    int is_file = bm_store_exists(s, BM_NAME_LOST), rc = BOUMA_OK;

    if (!is_file && !bm_store_exists(s, LOST_ASIDE))
        return BOUMA_OK;
    if (!bm_repair_act(r, -1, BM_NAME_LOST,
                       "is a file, and no directory; moved to lost/"))
        return BOUMA_OK;
    if (is_file)
        rc = bm_store_publish(s, BM_NAME_LOST, LOST_ASIDE, 0, r->error);
    return rc ? rc : bm_repair_move_away(r, LOST_ASIDE);
}

int bm_repair_kinds(struct bm_repair *r)
{
    int rc = make_lost(r);

    return rc ? rc : find_no_files(&r->ds.store, move, r);
}
