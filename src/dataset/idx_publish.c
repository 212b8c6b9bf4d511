/* idx_publish.c -- a step that was committed is shown to readers of IDX: see
 * idx.h. */
#include <inttypes.h>
#include <string.h>

#include "dataset/idx.h"
#include "layout/grid_idx.h"

/* What is done for a step. */
struct showing {
    struct bouma_dataset *ds;
    const struct bm_step_entry *entry;
    struct bm_step_list steps; /* all that are committed, with this one */
    struct bm_error *error;
};

/* Those that were found, and those of a group that are not listed yet. */
static int list_steps(struct showing *w)
{
    const struct bm_commits *c = &w->ds->commits;
    const struct bm_step_list *found = &w->ds->found.steps;
    int rc = bm_step_list_reserve(&w->steps,
                                  found->count + (size_t)c->held_count + 1);

    for (size_t i = 0; i < found->count && !rc; i++)
        rc = bm_step_list_add(&w->steps, found->entries[i]);
    for (int i = 0; i < c->held_count && !rc; i++)
        if (c->held[i].published)
            rc = bm_step_list_add(&w->steps, c->held[i].entry);
    if (!rc)
        rc = bm_step_list_add(&w->steps, *w->entry);
    if (!rc)
        rc = bm_step_list_sort(&w->steps);
    return rc ? bm_fail(w->error, rc, "no memory") : BOUMA_OK;
}

/* Everything, once: an earlier writer may have been killed on its way, and
 * steps may have another definition of the grid. */
static int mend(struct showing *w)
{
    struct bm_idx_mend all = {.store = &w->ds->store,
                              .id = w->ds->id,
                              .steps = &w->steps,
                              .epoch = w->ds->claim.epoch};

    return bm_idx_mend(&all, w->error);
}

/* Whether all steps but the new one are in the header's list, no others are,
 * and their links lead to the version that is committed. */
static int is_complete(struct showing *w, const char *grid,
                       const int64_t *listed, size_t count)
{
    size_t n = 0;

    for (size_t i = 0; i < w->steps.count; i++) {
        const struct bm_step_entry *e = &w->steps.entries[i];
        int is_listed = n < count && listed[n] == (int64_t)e->step;

        n += (size_t)is_listed;
        if (e->step != w->entry->step &&
            (!is_listed ||
             !bm_idx_is_shown(&w->ds->store, grid, e->step, e->generation)))
            return 0;
    }
    return n == count;
}

/* With the step in it, unless it is there; there is room for one more. */
static size_t insert(int64_t *listed, size_t count, int64_t step)
{
    size_t at = count;

    while (at && listed[at - 1] >= step)
        at--;
    if (at < count && listed[at] == step)
        return count;
    memmove(listed + at + 1, listed + at, (count - at) * sizeof(*listed));
    listed[at] = step;
    return count + 1;
}

/* A header that says the same of the grid gets the step. *fits is cleared if
 * there is no such header. */
static int extend_header(struct showing *w, const struct bm_object *grid,
                         int *fits)
{
    struct bm_store *s = &w->ds->store;
    struct bm_error ignored = {0};
    struct bm_buffer old, new;
    int64_t *listed = NULL, *grown;
    size_t count = 0, more;
    int rc;

    bm_buffer_init(&old, s->a);
    bm_buffer_init(&new, s->a);
    bm_idx_load_header(s, grid->name, &old, &ignored);
    rc = bm_idx_get_steps(&listed, &count, s->a, &old, w->steps.count);
    if (!rc)
        rc = bm_grid_idx_header(&new, grid, listed, count);
    *fits = !rc && old.size == new.size &&
            !memcmp(old.data, new.data, old.size) &&
            (w->ds->commits.idx_mended ||
             is_complete(w, grid->name, listed, count));
    grown = bm_resize(s->a, listed, count + 1, sizeof(*listed));
    listed = grown ? grown : listed;
    if (!grown || rc == BOUMA_ENOMEM)
        rc = bm_fail(w->error, BOUMA_ENOMEM, "no memory");
    else if (*fits) {
        more = insert(listed, count, (int64_t)w->entry->step);
        bm_buffer_clear(&new);
        rc = more > count ? bm_grid_idx_header(&new, grid, listed, more)
                          : BOUMA_OK;
        if (!rc && more > count)
            rc = bm_idx_save_header(s, grid->name, &new, w->error);
    } else
        rc = BOUMA_OK;
    bm_drop(s->a, listed);
    bm_buffer_release(&old);
    bm_buffer_release(&new);
    return rc;
}

/* Whether the step has data of the grid. */
static int has_data(const struct bm_manifest *m, const struct bm_object *grid)
{
    struct bm_idx_walk walk = {.manifest = m, .grid = grid};
    struct bm_idx_file first;

    return bm_grid_is_idx(grid) && m->step <= BM_IDX_LAST_STEP &&
           bm_idx_next(&walk, &first);
}

static int show_grids(struct showing *w, const struct bm_manifest *m)
{
    int rc = BOUMA_OK, all_fit = 1;

    for (int i = 0; i < m->schema->count && !rc; i++) {
        const struct bm_object *grid = m->schema->objects[i];
        int fits = 1;

        if (!has_data(m, grid))
            continue;
        rc = bm_idx_show(&w->ds->store, grid->name, m->step, m->generation,
                         w->error);
        if (!rc)
            rc = extend_header(w, grid, &fits);
        all_fit &= fits;
    }
    if (!rc && !all_fit)
        rc = mend(w);
    w->ds->commits.idx_mended = !rc;
    return rc;
}

/* Whether the step has a grid of this name. */
static int is_in(const struct bm_manifest *m, const char *name)
{
    for (int i = 0; i < m->schema->count; i++)
        if (!strcmp(m->schema->objects[i]->name, name) &&
            has_data(m, m->schema->objects[i]))
            return 1;
    return 0;
}

/* The version of the step before this one may have had other grids, whose files
 * are about to go: links must not lead to them any more. Where that was the last
 * step of a header, older ones may have another definition of the grid. */
static int withdraw_grids(struct showing *w, const struct bm_manifest *m,
                          const struct bm_buffer *names)
{
    struct bm_store *s = &w->ds->store;
    int rc = BOUMA_OK, any_gone = 0;
    struct bm_error ignored = {0};
    struct bm_buffer header;

    bm_buffer_init(&header, s->a);
    for (size_t at = 0; at < names->size && !rc;
         at += strlen((char *)names->data + at) + 1) {
        const char *grid = (char *)names->data + at;
        int was_there;

        if (is_in(m, grid))
            continue;
        bm_buffer_clear(&header);
        bm_idx_load_header(s, grid, &header, &ignored);
        was_there = header.size > 0;
        rc = bm_idx_withdraw(s, grid, m->step, w->error);
        bm_buffer_clear(&header);
        bm_idx_load_header(s, grid, &header, &ignored);
        any_gone |= was_there && !header.size;
    }
    bm_buffer_release(&header);
    return rc || !any_gone ? rc : mend(w);
}

int bm_idx_publish(struct bouma_dataset *ds, const struct bm_step_entry *entry)
{
    struct bm_error why = {0};
    struct showing w = {.ds = ds, .entry = entry, .error = &why};
    struct bm_buffer others;
    struct bm_schema schema;
    struct bm_manifest m;
    int rc = BOUMA_OK;

    if (ds->draining.drain || !bm_io_has_links(ds->store.io))
        return BOUMA_OK;
    bm_buffer_init(&others, ds->a);
    if (ds->options.replace)
        rc = bm_idx_list(&ds->store, &others, &why);
    /* Who has no ranks copies steps of others, and does not know them. */
    if (!rc && !others.size && ds->comm && !bm_schema_has_idx(&ds->schema)) {
        bm_buffer_release(&others);
        return BOUMA_OK;
    }
    bm_schema_init(&schema, ds->a, &why);
    bm_manifest_init(&m, ds->a, &schema, &why);
    bm_step_list_init(&w.steps, ds->a);
    if (!rc)
        rc = bm_idx_load_manifest(&m, &ds->store, entry->step, ds->id, &why);
    if (!rc)
        rc = list_steps(&w);
    if (!rc)
        rc = withdraw_grids(&w, &m, &others);
    if (!rc && bm_schema_has_idx(&schema)) {
        if (!ds->comm)
            rc = bm_idx_link_step(&ds->store, &m, &why);
        if (!rc)
            rc = show_grids(&w, &m);
    }
    if (rc && ds->comm)
        bm_dataset_add_note(ds,
                            "step %" PRIu64
                            " is written, but cannot be read as IDX yet: %s; "
                            "`bouma repair --apply` fixes that",
                            entry->step, why.text);
    bm_buffer_release(&others);
    bm_step_list_release(&w.steps);
    bm_manifest_release(&m);
    bm_schema_release(&schema);
    return rc;
}
