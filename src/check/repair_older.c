/* repair_older.c -- files in the directory of a step that is whole, of an
 * earlier writing by their names. A name may be wrong: somebody may have put
 * the only copy of another step there. So what is in them decides. */
#include <errno.h>
#include <string.h>

#include "check/repair.h"
#include "layout/writings.h"
#include "store/step_dir.h"

/* What becomes of a file. */
enum fate { STAYS, REMOVED, MOVED };

struct older {
    struct bm_repair *r;
    const struct bm_manifest *m;
    enum fate what; /* is done, with 'act'; else it is counted */
    int act;
    uint64_t counts[MOVED + 1];
    int rc;
};

static enum fate fate_of_manifest(const struct older *o, const char *name,
                                  struct bm_generation g)
{
    struct bm_store *s = &o->r->ds.store;
    struct bm_error ignored = {0};
    struct bm_step_entry entry;
    struct bm_buffer b;
    uint64_t bytes;
    int rc;

    bm_buffer_init(&b, s->a);
    rc = bm_manifest_read_front(s, name, &b, &bytes, &ignored);
    if (!rc)
        rc = bm_manifest_peek(&entry, &b, o->r->ds.id, name, &ignored);
    bm_buffer_release(&b);
    if (rc)
        return bm_is_damage(rc) ? MOVED : STAYS;
    return entry.step == o->m->step &&
                   bm_generation_is_same(entry.generation, g)
               ? REMOVED
               : MOVED;
}

static enum fate fate_of_subfile(const struct older *o, const char *name,
                                 struct bm_generation g)
{
    struct bm_repair_front front;
    int rc = bm_repair_peek_head(o->r, name, &front);

    if (rc || memcmp(front.id, o->r->ds.id, 16))
        return !rc || bm_is_damage(rc) ? MOVED : STAYS;
    if (front.step != o->m->step) /* was moved to that step, or will be */
        return STAYS;
    return bm_generation_is_same(front.generation, g) ? REMOVED : MOVED;
}

static int look_at_older(void *context, const char *entry)
{
    struct older *o = context;
    char name[BM_NAME_BYTES];
    struct bm_generation g;
    uint32_t subfile;
    int is_subfile = bm_name_parse_subfile(entry, &subfile, &g);
    enum fate fate;

    if ((!is_subfile && !bm_name_parse_manifest_new(entry, &g)) ||
        !bm_generation_is_later(o->m->generation, g) ||
        (is_subfile && bm_manifest_names(o->m, subfile, g)) ||
        !bm_name_written(name, o->m->step, entry))
        return 0;
    fate =
        is_subfile ? fate_of_subfile(o, name, g) : fate_of_manifest(o, name, g);
    o->counts[fate]++;
    if (!o->act || fate != o->what)
        return 0;
    if (fate == REMOVED)
        bm_store_remove(&o->r->ds.store, name);
    else
        o->rc = bm_repair_move_away(o->r, name);
    bm_step_dir_remove_folder(&o->r->ds.store, name); /* if it is empty now */
    return o->rc ? ECANCELED : 0;
}

int bm_repair_older(struct bm_repair *r, const struct bm_manifest *m)
{
    static const char *const texts[] = {
        [REMOVED] = "the files of an earlier writing of the step removed",
        [MOVED] = "files that look like an earlier writing of the step, and do "
                  "not say that they are of it, moved to lost/"};
    struct older found = {.r = r, .m = m};
    struct bm_error ignored = {0};
    char dir[BM_NAME_BYTES];

    bm_name_step(dir, m->step);
    bm_step_dir_list(&r->ds.store, m->step, look_at_older, &found, &ignored);
    for (enum fate what = REMOVED; what <= MOVED && !found.rc; what++) {
        struct older o = {.r = r, .m = m, .what = what, .act = 1};

        if (found.counts[what] &&
            bm_repair_act(r, (int64_t)m->step, dir, texts[what]))
            bm_step_dir_list(&r->ds.store, m->step, look_at_older, &o,
                             &ignored);
        found.rc = o.rc;
    }
    return found.rc;
}
