/* repair_unpublished.c -- a step without a manifest that can be read: it gets
 * one, or what is left of it is moved to lost/. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "check/repair.h"
#include "store/step_dir.h"

/* A writing of a step: its manifest that was not published, or a subfile. */
struct found {
    struct bm_generation generation;
    int is_manifest;
};

/* In any order, and perhaps more than once. */
struct writings {
    struct found *list;
    size_t count;
};

/* What is in the directory of a step. */
struct contents {
    const bouma_allocator *a;
    const struct bm_truncations *truncations;
    uint64_t step;
    uint64_t dropped; /* files of writings that were dropped: not counted
                         below */
    struct writings writings;
    int any, movable; /* entries; and some that are moved to lost/ */
    int arrives;      /* a drain has not brought all of its files yet */
};

static int is_same(const struct found *a, const struct found *b)
{
    return a->is_manifest == b->is_manifest &&
           bm_generation_is_same(a->generation, b->generation);
}

/* 0 or ENOMEM. */
static int add_writing(struct writings *w, struct bm_generation g,
                       int is_manifest, const bouma_allocator *a)
{
    struct found one = {g, is_manifest}, *grown;

    if (w->count && is_same(&w->list[w->count - 1], &one))
        return 0;
    grown = bm_grow(a, w->list, w->count, sizeof(*grown));
    if (!grown)
        return ENOMEM;
    w->list = grown;
    w->list[w->count++] = one;
    return 0;
}

/* Of one writing the manifest, which has the attributes, then the subfiles. */
static int latest_first(const void *left, const void *right)
{
    const struct found *a = left, *b = right;

    return bm_generation_is_later(a->generation, b->generation) ? -1
           : bm_generation_is_later(b->generation, a->generation)
               ? 1
               : b->is_manifest - a->is_manifest;
}

static int has_subfiles(const struct writings *w)
{
    for (size_t i = 0; i < w->count; i++)
        if (!w->list[i].is_manifest)
            return 1;
    return 0;
}

static int look(void *context, const char *entry)
{
    struct contents *c = context;
    char name[BM_NAME_BYTES];
    struct bm_generation g;
    uint32_t subfile, epoch;

    if (bm_name_is_folder(entry)) /* what was in it has been looked at */
        return 0;
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
    if (bm_name_parse_manifest_new(entry, &g))
        return add_writing(&c->writings, g, 1, c->a);
    return bm_name_parse_subfile(entry, &subfile, &g)
               ? add_writing(&c->writings, g, 0, c->a)
               : 0;
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
    char name[BM_NAME_BYTES];
    struct bm_generation g;
    uint32_t epoch;

    bm_name_in_step(name, m->step, entry);
    if (m->manifests ? bm_name_parse_manifest_new(entry, &g)
                     : bm_name_parse_mended(entry, &epoch) ||
                           bm_name_written(name, m->step, entry))
        m->rc = bm_repair_move_away(m->r, name);
    return m->rc ? ECANCELED : 0;
}

/* A writer from which the dataset was taken by force may be about to publish
 * its manifest, and has written it by then. Once that is moved it cannot; and
 * if it was quicker, the step is whole, and all of it stays. */
static void move_leftovers(struct leftovers *m)
{
    struct bm_store *s = &m->r->ds.store;
    struct bm_error ignored = {0};
    char manifest[BM_NAME_BYTES];

    m->manifests = 1;
    bm_step_dir_list(s, m->step, move_leftover, m, &ignored);
    m->manifests = 0;
    bm_name_manifest(manifest, m->step);
    if (!m->rc && !bm_store_is_absent(s, manifest))
        m->rc = bm_fail(m->r->error, BOUMA_EBUSY,
                        "%s/%s: was published by another program just now; "
                        "repair the dataset again",
                        s->path, manifest);
    if (!m->rc)
        bm_step_dir_list(s, m->step, move_leftover, m, &ignored);
}

int bm_repair_move_step(struct bm_repair *r, uint64_t step)
{
    struct leftovers mover = {r, step, BOUMA_OK, 0};
    struct bm_error ignored = {0};
    char manifest[BM_NAME_BYTES];

    bm_name_manifest(manifest, step);
    if (!bm_store_is_absent(&r->ds.store, manifest))
        mover.rc = bm_repair_move_away(r, manifest);
    if (!mover.rc)
        bm_step_dir_list(&r->ds.store, step, move_leftover, &mover, &ignored);
    if (!mover.rc)
        bm_step_dir_remove(&r->ds.store, step);
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
                       : c->dropped && !c->writings.count
                           ? "what is left of a step that was dropped on "
                             "purpose moved to lost/"
                       : was_there ? "what is left of the step moved to lost/"
                                   : "the leftovers of a step that was never "
                                     "complete moved to lost/"))
        return BOUMA_OK;
    move_leftovers(&mover);
    if (!mover.rc && (was_there || c->dropped)) {
        bm_step_dir_remove(&r->ds.store, step);
        mover.rc = bm_store_sync_dir(&r->ds.store, BM_NAME_STEPS, r->error);
    }
    return mover.rc;
}

/* Whether a writing may be the step. The latest one may be what a killed writer
 * has left; but whatever is earlier than the one that the index knows was never
 * committed, or was replaced. If the rest of the latest is elsewhere, or on its
 * way, no other is taken but the one that the index knows. */
static int may_be_step(const struct bm_repair *r, const struct contents *c,
                       const struct bm_step_entry *known,
                       struct bm_generation g)
{
    if (known && bm_generation_is_later(known->generation, g))
        return 0;
    return (!c->arrives && !r->is_part) ||
           bm_generation_is_same(g, c->writings.list[0].generation) ||
           (known && bm_generation_is_same(g, known->generation));
}

/* A manifest for a step that has none that can be read, of the latest writing
 * that is whole; EFORMAT if there is no way to one. */
static int find_manifest(struct bm_repair *r, const struct contents *c,
                         const struct bm_step_entry *known, int damaged)
{
    const struct writings *w = &c->writings;
    char dir[BM_NAME_BYTES];
    int rc = BOUMA_EFORMAT;
    size_t i = 0;

    if (w->count) /* else there is no list */
        qsort(w->list, w->count, sizeof(*w->list), latest_first);
    for (; i < w->count && rc == BOUMA_EFORMAT; i++) {
        const struct found *f = &w->list[i];

        if ((i && is_same(f, f - 1)) ||
            !may_be_step(r, c, known, f->generation))
            continue;
        rc = f->is_manifest
                 ? bm_repair_publish_written(r, c->step, f->generation, damaged)
                 : bm_repair_rebuild_manifest(r, c->step, f->generation,
                                              damaged);
    }
    bm_name_step(dir, c->step);
    if (!rc && !bm_generation_is_same(w->list[0].generation,
                                      w->list[i - 1].generation))
        bm_findings_add(&r->findings, BOUMA_SEVERITY_NOTE, (int64_t)c->step,
                        dir,
                        "holds several writings of the step; the latest that "
                        "is whole was chosen, later ones are not whole");
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

/* A step of which no manifest can be made. The index knows it as 'known', which
 * may be NULL. */
static int give_up(struct bm_repair *r, const struct contents *c,
                   const struct bm_step_entry *known)
{
    struct leftovers newer = {r, c->step, BOUMA_OK, 0};
    int is_begun = has_subfiles(&c->writings), arrives = is_begun && c->arrives,
        rc = BOUMA_OK;
    struct bm_error ignored = {0};
    char dir[BM_NAME_BYTES];

    bm_name_step(dir, c->step);
    bm_step_dir_list(&r->ds.store, c->step, look_for_newer, &newer, &ignored);
    if (newer.rc)
        return newer.rc;
    if (arrives || (r->is_part && (is_begun || known))) {
        bm_findings_add(&r->findings, BOUMA_SEVERITY_NOTE, (int64_t)c->step,
                        dir,
                        arrives ? "waits for files that were not drained "
                                  "yet; left as it is"
                                : "its manifest is missing here, and may be "
                                  "on other nodes; left as it is");
        return BOUMA_OK;
    }
    if (known)
        rc = bm_repair_lost_step(r, known);
    return rc ? rc : clear_away(r, c->step, c, known != NULL);
}

int bm_repair_unpublished(struct bm_repair *r, uint64_t number, int damaged)
{
    struct contents c = {
        .a = r->ds.a, .truncations = &r->truncations, .step = number};
    const struct bm_step_entry *known = known_of(r, number);
    int rc = bm_step_dir_list(&r->ds.store, number, look, &c, r->error);

    if (!rc && (c.writings.count || c.dropped || damaged || known)) {
        rc = find_manifest(r, &c, known, damaged);
        if (rc == BOUMA_EFORMAT)
            rc = damaged ? bm_repair_lost_manifest(r, number)
                         : give_up(r, &c, known);
    }
    bm_drop(r->ds.a, c.writings.list);
    return rc;
}
