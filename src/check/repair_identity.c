/* repair_identity.c -- the dataset's own file: written anew, with the identity
 * that a manifest or a subfile tells of. */
#include <errno.h>
#include <string.h>

#include "check/repair.h"
#include "store/identity.h"
#include "store/step_dir.h"

struct id_search {
    struct bm_repair *r;
    int found;
};

/* The step whose files are looked at. */
struct head_search {
    struct id_search *ids;
    uint64_t step;
};

/* Take the id from a subfile whose head at the front is whole. */
static int search_head(void *context, const char *entry)
{
    struct head_search *search = context;
    struct bm_repair *r = search->ids->r;
    struct bm_error ignored = {0};
    struct bm_generation g;
    struct bm_envelope e;
    struct bm_cursor body;
    struct bm_buffer b;
    char name[BM_NAME_BYTES];
    uint32_t subfile;
    uint64_t bytes;

    if (!bm_name_parse_subfile(entry, &subfile, &g))
        return 0;
    bm_name_subfile(name, search->step, subfile, g);
    bm_buffer_init(&b, r->ds.a);
    if (!bm_repair_load_front(r, &b, &e, &bytes, name, &ignored) &&
        !bm_envelope_open(&e, &body,
                          &(struct bm_metadata){b.data, b.size, NULL, name},
                          BM_KIND_HEAD, &ignored)) {
        memcpy(r->ds.id, e.id, 16);
        search->ids->found = 1;
    }
    bm_buffer_release(&b);
    return search->ids->found ? ECANCELED : 0;
}

/* If there is no manifest that could tell. */
static int search_heads(void *context, const char *entry)
{
    struct head_search search = {context, 0};
    struct bm_error ignored = {0};

    if (search.ids->found || !bm_name_parse_step(entry, &search.step))
        return 0;
    bm_step_dir_list(&search.ids->r->ds.store, search.step, search_head,
                     &search, &ignored);
    return 0;
}

/* Take the id from the first manifest that is whole. */
static int search_id(void *context, const char *entry)
{
    struct id_search *search = context;
    struct bm_store *s = &search->r->ds.store;
    struct bm_error ignored = {0};
    struct bm_envelope e;
    struct bm_cursor body;
    struct bm_buffer b;
    char name[BM_NAME_BYTES];
    uint64_t step;

    if (search->found || !bm_name_parse_step(entry, &step))
        return 0;
    bm_name_manifest(name, step);
    bm_buffer_init(&b, s->a);
    if (!bm_store_load(s, name, &b, s->memory_limit, &ignored) &&
        !bm_envelope_open(&e, &body,
                          &(struct bm_metadata){b.data, b.size, NULL, name},
                          BM_KIND_MANIFEST, &ignored)) {
        memcpy(search->r->ds.id, e.id, 16);
        search->found = 1;
    }
    bm_buffer_release(&b);
    return 0;
}

int bm_repair_find_identity(struct bm_repair *r, int *anew)
{
    struct bm_store *s = &r->ds.store;
    struct id_search search = {r, 0};
    struct bm_error why = {0}, ignored = {0};
    int rc = bm_identity_load(s, r->ds.id, &r->ds.version.major,
                              &r->ds.version.minor, &why);

    if (rc != BOUMA_EFORMAT)
        return rc ? bm_fail(r->error, rc, "%s", why.text) : BOUMA_OK;
    rc = bm_store_list(s, BM_NAME_STEPS, search_id, &search, &ignored);
    if (!rc && !search.found)
        rc = bm_store_list(s, BM_NAME_STEPS, search_heads, &search, &ignored);
    if (rc && rc != BOUMA_ENOTFOUND)
        return bm_fail(r->error, rc, "%s", ignored.text);
    rc = BOUMA_OK;
    if (!search.found)
        return bm_fail(
            r->error, BOUMA_EFORMAT,
            "%s: its file DATASET is %s, and no manifest or subfile is left "
            "that tells which dataset it was; nothing of it can be "
            "repaired",
            s->path,
            bm_store_is_absent(s, BM_NAME_DATASET) ? "gone" : "damaged");
    *anew = 1;
    return BOUMA_OK;
}

int bm_repair_identity(struct bm_repair *r, int anew)
{
    struct bm_store *s = &r->ds.store;
    struct bm_error why = {0};
    int rc;

    if (!r->apply && !anew)
        return BOUMA_OK;
    rc = bm_identity_load(s, r->ds.id, &r->ds.version.major,
                          &r->ds.version.minor, &why);
    if (rc != BOUMA_EFORMAT || !anew)
        return rc ? bm_fail(r->error, rc, "%s", why.text) : BOUMA_OK;
    rc = BOUMA_OK;
    if (!bm_repair_act(r, -1, BM_NAME_DATASET,
                       "written anew, with the identity found in the steps"))
        return BOUMA_OK;
    if (!bm_store_is_absent(s, BM_NAME_DATASET))
        rc = bm_repair_move_away(r, BM_NAME_DATASET);
    return rc ? rc : bm_identity_create(s, r->ds.id, r->error);
}
