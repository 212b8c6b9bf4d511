/* repair_unpublished.c -- a step without a manifest that can be read: it gets
 * one, or what is left of it is moved to lost/. */
#include <errno.h>
#include <stdio.h>

#include "check/repair.h"

/* What is in the directory of a step. */
struct contents {
    const struct bm_truncations *truncations;
    uint64_t step;
    uint64_t dropped; /* files of writings that were dropped: not counted
                         below */
    struct bm_generation manifest, subfiles; /* the latest ones */
    int manifests;
    uint64_t subfile_count;
    int any, movable; /* entries; and some that are moved to lost/ */
    int arrives;      /* a drain has not brought all of its files yet */
};

static int look(void *context, const char *entry)
{
    struct contents *c = context;
    char name[BM_NAME_BYTES];
    struct bm_generation g;
    uint32_t subfile, epoch;

    c->any = 1;
    c->arrives |= bm_name_is_copy(entry, &g);
    if ((bm_name_parse_manifest_new(entry, &g) ||
         bm_name_parse_subfile(entry, &subfile, &g)) &&
        bm_truncations_has(c->truncations, c->step, g)) {
        c->dropped++;
        c->movable = 1;
        return 0;
    }
    c->movable |=
        bm_name_written(name, 0, entry) || bm_name_parse_mended(entry, &epoch);
    if (bm_name_parse_manifest_new(entry, &g)) {
        if (!c->manifests++ || bm_generation_is_later(g, c->manifest))
            c->manifest = g;
    } else if (bm_name_parse_subfile(entry, &subfile, &g)) {
        if (!c->subfile_count++ || bm_generation_is_later(g, c->subfiles))
            c->subfiles = g;
    }
    return 0;
}

/* What killed writers left of a step. */
struct leftovers {
    struct bm_repair *r;
    uint64_t step;
    int rc;
    int manifests; /* only these */
};

static int move_leftover(void *context, const char *entry)
{
    struct leftovers *m = context;
    char dir[BM_NAME_BYTES], name[BM_NAME_BYTES];
    struct bm_generation g;
    uint32_t epoch;
    int is_mended = bm_name_parse_mended(entry, &epoch);

    if (is_mended) {
        bm_name_step(dir, m->step);
        snprintf(name, sizeof(name), "%.40s/%.80s", dir, entry);
    }
    if (m->manifests ? bm_name_parse_manifest_new(entry, &g) &&
                           bm_name_written(name, m->step, entry)
                     : is_mended || bm_name_written(name, m->step, entry))
        m->rc = bm_repair_move_away(m->r, name);
    return m->rc ? ECANCELED : 0;
}

/* A writer from which the dataset was taken by force may be about to publish
 * its manifest, and has written it by then. Once that is moved it cannot; and
 * if it was quicker, the step is whole, and all of it stays. */
static void move_leftovers(struct leftovers *m, const char *dir)
{
    struct bm_store *s = &m->r->ds.store;
    struct bm_error ignored = {0};
    char manifest[BM_NAME_BYTES];

    m->manifests = 1;
    bm_store_list(s, dir, move_leftover, m, &ignored);
    m->manifests = 0;
    bm_name_manifest(manifest, m->step);
    if (!m->rc && !bm_store_is_absent(s, manifest))
        m->rc = bm_fail(m->r->error, BOUMA_EBUSY,
                        "%s/%s: was published by another program just now; "
                        "repair the dataset again",
                        s->path, manifest);
    if (!m->rc)
        bm_store_list(s, dir, move_leftover, m, &ignored);
}

int bm_repair_move_step(struct bm_repair *r, uint64_t step)
{
    struct leftovers mover = {r, step, BOUMA_OK, 0};
    struct bm_error ignored = {0};
    char dir[BM_NAME_BYTES], manifest[BM_NAME_BYTES];

    bm_name_step(dir, step);
    bm_name_manifest(manifest, step);
    if (!bm_store_is_absent(&r->ds.store, manifest))
        mover.rc = bm_repair_move_away(r, manifest);
    if (!mover.rc)
        bm_store_list(&r->ds.store, dir, move_leftover, &mover, &ignored);
    if (!mover.rc)
        bm_store_remove_dir(&r->ds.store, dir);
    return mover.rc;
}

/* Whether a leftover is of a newer version, which may have a use for it. */
static int look_for_newer(void *context, const char *entry)
{
    struct leftovers *n = context;
    char name[BM_NAME_BYTES];
    struct bm_generation g;
    struct bm_schema own;
    struct bm_head head;
    uint32_t subfile;
    uint8_t hash[16];

    if (!bm_name_parse_subfile(entry, &subfile, &g))
        return 0;
    bm_name_subfile(name, n->step, subfile, g);
    bm_schema_init(&own, n->r->ds.a, n->r->error);
    n->rc = bm_repair_load_head(n->r, &head, hash, NULL, &own, name);
    bm_head_release(&head);
    bm_schema_release(&own);
    if (n->rc == BOUMA_EFORMAT)
        n->rc = BOUMA_OK;
    return n->rc ? ECANCELED : 0;
}

/* What is in the directory of a step of which nothing can be made goes to
 * lost/; of one that 'was_there' the directory goes as well. */
static int clear_away(struct bm_repair *r, uint64_t step,
                      const struct contents *c, int was_there)
{
    struct leftovers mover = {r, step, BOUMA_OK, 0};
    char dir[BM_NAME_BYTES];

    bm_name_step(dir, step);
    if (c->any && !c->movable) /* files of others */
        return BOUMA_OK;
    if (!bm_repair_act(r, (int64_t)step, dir,
                       !c->any ? "the empty directory of the step removed"
                       : c->dropped && !c->manifests && !c->subfile_count
                           ? "what is left of a step that was dropped by a "
                             "truncation moved to lost/"
                       : was_there ? "what is left of the step moved to lost/"
                                   : "the leftovers of a step that was never "
                                     "complete moved to lost/"))
        return BOUMA_OK;
    move_leftovers(&mover, dir);
    if (!mover.rc && (was_there || c->dropped))
        bm_store_remove_dir(&r->ds.store, dir);
    return mover.rc;
}

/* A manifest for a step that has none that can be read; EFORMAT if there is no
 * way to one. */
static int find_manifest(struct bm_repair *r, uint64_t number,
                         const struct contents *c,
                         const struct bm_step_entry *known, int damaged)
{
    int rc = c->manifests
                 ? bm_repair_publish_written(r, number, c->manifest, damaged)
                 : BOUMA_EFORMAT;

    if (rc == BOUMA_EFORMAT && c->subfile_count)
        rc = bm_repair_rebuild_manifest(r, number, c->subfiles, damaged);
    /* The latest may be what a killed writer has left, and an earlier one the
     * one that was committed. Without the index nobody can tell. */
    if (rc == BOUMA_EFORMAT && c->subfile_count && known &&
        bm_generation_is_later(c->subfiles, known->generation))
        rc = bm_repair_rebuild_manifest(r, number, known->generation, damaged);
    return rc;
}

/* What the index knows of a step that is not dropped; NULL: nothing. */
static const struct bm_step_entry *known_of(const struct bm_repair *r,
                                            uint64_t step)
{
    const struct bm_step_entry *e = bm_step_list_find(&r->known, step);

    return e && e->generation.epoch &&
                   !bm_truncations_has(&r->truncations, step, e->generation)
               ? e
               : NULL;
}

int bm_repair_unpublished(struct bm_repair *r, uint64_t number, int damaged)
{
    struct contents c = {.truncations = &r->truncations, .step = number};
    struct leftovers newer = {r, number, BOUMA_OK, 0};
    const struct bm_step_entry *known = known_of(r, number);
    struct bm_error ignored = {0};
    char dir[BM_NAME_BYTES];
    int rc;

    bm_name_step(dir, number);
    rc = bm_store_list(&r->ds.store, dir, look, &c, r->error);
    if (rc ||
        (!c.manifests && !c.subfile_count && !c.dropped && !damaged && !known))
        return rc;
    rc = find_manifest(r, number, &c, known, damaged);
    if (rc != BOUMA_EFORMAT)
        return rc;
    rc = BOUMA_OK;
    if (damaged)
        return bm_repair_lost_manifest(r, number);
    bm_store_list(&r->ds.store, dir, look_for_newer, &newer, &ignored);
    if (newer.rc)
        return newer.rc;
    if ((c.subfile_count && c.arrives) ||
        (r->is_part && (c.subfile_count || known))) {
        bm_findings_add(&r->findings, BOUMA_NOTE, (int64_t)number, dir,
                        c.subfile_count && c.arrives
                            ? "waits for files that were not drained "
                              "yet; left as it is"
                            : "its manifest is missing here, and may be "
                              "on other nodes; left as it is");
        return BOUMA_OK;
    }
    if (known)
        rc = bm_repair_lost_step(r, known);
    return rc ? rc : clear_away(r, number, &c, known != NULL);
}
