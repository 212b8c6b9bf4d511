/* idx_mend.c -- all headers and links of idx/, compared with the manifests they
 * follow from, and made anew where they differ: see idx.h. */
#include <stdio.h>
#include <string.h>

#include "dataset/idx.h"
#include "layout/grid_idx.h"

/* The steps that have a grid of this name and definition. A name can have
 * several definitions; its header is that of the last step. */
struct series {
    char *name;
    struct bm_buffer text; /* the header without steps */
    int64_t *steps;
    size_t count, room;
    int broken; /* links of a step could not be made */
};

struct mending {
    const struct bm_idx_mend *how;
    const bouma_allocator *a;
    struct series *series;
    size_t count, room;
    struct bm_error *error;
    int failed; /* the first failure that does not end it, with 'why' */
    struct bm_error why;
};

static int no_memory(struct mending *m)
{
    return bm_fail(m->error, BOUMA_ENOMEM, "%s/" BM_NAME_IDX ": no memory",
                   m->how->store->path);
}

static int tell(const struct mending *m, int64_t step, const char *name,
                const char *wrong, const char *action)
{
    return !m->how->tell ||
           m->how->tell(m->how->context, step, name, wrong, action);
}

static void release(struct mending *m)
{
    for (size_t i = 0; i < m->count; i++) {
        bm_drop(m->a, m->series[i].name);
        bm_drop(m->a, m->series[i].steps);
        bm_buffer_release(&m->series[i].text);
    }
    bm_drop(m->a, m->series);
}

/* ---- what there should be ------------------------------------------------ */

/* The series of a grid; a new one if need be. NULL: no memory. */
static struct series *series_of(struct mending *m, const struct bm_object *grid)
{
    struct bm_buffer text;
    struct series *grown, *s;

    bm_buffer_init(&text, m->a);
    if (bm_grid_idx_header(&text, grid, NULL, 0)) {
        bm_buffer_release(&text);
        return NULL;
    }
    for (size_t i = 0; i < m->count; i++)
        if (!strcmp(m->series[i].name, grid->name) &&
            m->series[i].text.size == text.size &&
            !memcmp(m->series[i].text.data, text.data, text.size)) {
            bm_buffer_release(&text);
            return &m->series[i];
        }
    grown =
        bm_more_room(m->a, m->series, m->count, &m->room, sizeof(*m->series));
    if (grown)
        m->series = grown;
    s = grown ? &m->series[m->count] : NULL;
    if (s) {
        memset(s, 0, sizeof(*s));
        s->name = bm_copy_text(m->a, grid->name);
        s->text = text;
    }
    if (!s || !s->name) {
        bm_buffer_release(&text);
        return NULL;
    }
    m->count++;
    return s;
}

static struct series *add_step(struct mending *m, const struct bm_object *grid,
                               int64_t step)
{
    struct series *s = series_of(m, grid);
    int64_t *grown =
        s ? bm_more_room(m->a, s->steps, s->count, &s->room, sizeof(*s->steps))
          : NULL;

    if (!grown)
        return NULL;
    s->steps = grown;
    s->steps[s->count++] = step;
    return s;
}

/* ---- links --------------------------------------------------------------- */

/* Whether the links of a grid in a step are all there. */
static int is_whole(const struct mending *m, const struct bm_manifest *of,
                    const struct bm_object *grid)
{
    struct bm_idx_walk w = {.manifest = of, .grid = grid};
    struct bm_store *s = m->how->store;
    struct bm_idx_file f;

    if (!bm_idx_is_shown(s, grid->name, of->step, of->generation))
        return 0;
    while (m->how->deep && bm_idx_next(&w, &f))
        if (!bm_idx_is_linked(s, &f))
            return 0;
    return 1;
}

/* What has the name of something here and is no link. A copy of a dataset made
 * by a program that follows links has files in their place. */
static int make_way(const struct mending *m, int64_t step, const char *name)
{
    char text[BM_NAME_BYTES];

    bm_store_read_link(m->how->store, name, text);
    return text[0] || !m->how->move_away ||
                   bm_store_is_absent(m->how->store, name)
               ? BOUMA_OK
               : m->how->move_away(m->how->context, step, name);
}

/* The directories above: a link in the place of one would lead elsewhere, and
 * is not followed. */
static int make_way_above(const struct mending *m, const char *grid)
{
    struct bm_store *s = m->how->store;
    char names[2][BM_NAME_BYTES] = {BM_NAME_IDX}, text[BM_NAME_BYTES];
    int rc = BOUMA_OK;

    snprintf(names[1], BM_NAME_BYTES, BM_NAME_IDX "/%.128s", grid);
    for (int i = 0; i < 2 && !rc && m->how->move_away; i++) {
        bm_store_read_link(s, names[i], text);
        if (text[0])
            bm_store_remove(s, names[i]);
        else if (bm_store_exists(s, names[i])) /* a file */
            rc = m->how->move_away(m->how->context, -1, names[i]);
    }
    return rc;
}

static int mend_links(struct mending *m, const struct bm_manifest *of,
                      const struct bm_object *grid)
{
    struct bm_idx_walk w = {.manifest = of, .grid = grid};
    char time[BM_IDX_TIME_BYTES], name[BM_NAME_BYTES], links[BM_NAME_BYTES];
    struct bm_store *s = m->how->store;
    struct bm_idx_file f;
    int rc, any = 0;

    if (is_whole(m, of, grid))
        return BOUMA_OK;
    bm_idx_time_name(time, (int64_t)of->step);
    snprintf(name, sizeof(name), BM_NAME_IDX "/%.128s/%s", grid->name, time);
    if (!tell(m, (int64_t)of->step, name,
              "links by which other programs read this step as IDX are "
              "missing or wrong",
              "made anew"))
        return BOUMA_OK;
    rc = make_way_above(m, grid->name);
    /* What has the name of a link and is another goes with its directory. */
    bm_idx_unlink_grid(s, grid->name, of->step, of->generation);
    bm_idx_links_name(links, grid->name, of->step, of->generation);
    if (!rc)
        rc = make_way(m, (int64_t)of->step, links);
    if (!rc)
        rc = make_way(m, (int64_t)of->step, name);
    while (!rc && bm_idx_next(&w, &f)) {
        rc = bm_idx_link(s, &f, m->error);
        any = 1;
    }
    return rc || !any
               ? rc
               : bm_idx_show(s, grid->name, of->step, of->generation, m->error);
}

/* Whether the grid has data in a step: else there is nothing to link to. */
static int is_there(const struct bm_manifest *of, const struct bm_object *grid)
{
    struct bm_idx_walk w = {.manifest = of, .grid = grid};
    struct bm_idx_file f;

    return of->step <= BM_IDX_LAST_STEP && bm_idx_next(&w, &f);
}

/* What cannot be made of one grid does not keep others from being mended. */
static int add_grid(struct mending *m, const struct bm_manifest *of,
                    const struct bm_object *grid)
{
    struct series *s = add_step(m, grid, (int64_t)of->step);
    int rc = s ? mend_links(m, of, grid) : no_memory(m);

    if (!rc || rc == BOUMA_ENOMEM)
        return rc;
    s->broken = 1;
    if (!m->failed) {
        m->failed = rc;
        m->why = *m->error;
    }
    return BOUMA_OK;
}

/* A step whose manifest cannot be read is none of the series; who looks for
 * damage tells that. */
static int look_at_step(struct mending *m, uint64_t step)
{
    struct bm_error ignored = {0};
    struct bm_schema schema;
    struct bm_manifest of;
    int rc;

    bm_schema_init(&schema, m->a, &ignored);
    bm_manifest_init(&of, m->a, &schema, &ignored);
    rc = bm_idx_load_manifest(&of, m->how->store, step, m->how->id, &ignored);
    if (rc == BOUMA_ENOMEM)
        no_memory(m);
    else if (rc)
        rc = BOUMA_OK;
    else
        for (int i = 0; i < schema.count && !rc; i++) {
            const struct bm_object *grid = schema.objects[i];

            if (bm_grid_is_idx(grid) && is_there(&of, grid))
                rc = add_grid(m, &of, grid);
        }
    bm_manifest_release(&of);
    bm_schema_release(&schema);
    return rc;
}

/* ---- what is left over --------------------------------------------------- */

struct leftovers {
    const struct mending *m;
    const char *grid;
};

static int has_step(const struct mending *m, const char *grid, int64_t step)
{
    for (size_t i = 0; i < m->count; i++)
        if (!strcmp(m->series[i].name, grid)) {
            const struct series *s = &m->series[i];
            size_t low = 0, high = s->count;

            while (low < high) {
                size_t middle = low + (high - low) / 2;

                if (s->steps[middle] < step)
                    low = middle + 1;
                else
                    high = middle;
            }
            if (low < s->count && s->steps[low] == step)
                return 1;
        }
    return 0;
}

static int is_committed(const struct mending *m, const struct bm_step_entry *e)
{
    const struct bm_step_entry *found =
        bm_step_list_find(m->how->steps, e->step);

    return found && bm_generation_is_same(found->generation, e->generation);
}

static int is_left_over(const struct leftovers *l, const char *entry)
{
    const struct mending *m = l->m;
    struct bm_step_entry e;

    switch (bm_idx_entry_of(entry, &e)) {
    case BM_IDX_NEW:
        return 1;
    case BM_IDX_TIME:
        return !has_step(m, l->grid, (int64_t)e.step);
    case BM_IDX_LINKS:
        /* A link that leads there may be left over, too. */
        return e.generation.epoch < m->how->epoch && !is_committed(m, &e) &&
               (!has_step(m, l->grid, (int64_t)e.step) ||
                !bm_idx_is_shown(m->how->store, l->grid, e.step, e.generation));
    default:
        return 0;
    }
}

static int look_at_entry(void *context, const char *entry)
{
    const struct leftovers *l = context;
    char name[BM_NAME_BYTES];

    snprintf(name, sizeof(name), BM_NAME_IDX "/%.128s/%.64s", l->grid, entry);
    if (is_left_over(l, entry) &&
        bm_idx_is_own(l->m->how->store, l->grid, entry) &&
        tell(l->m, -1, name, "is left over from a step that no longer exists",
             "removed")) {
        bm_idx_remove_entry(l->m->how->store, l->grid, entry);
        make_way(l->m, -1, name); /* best effort, as removing is */
    }
    return 0;
}

/* A grid of which there is something in idx/. */
static void look_at_grid(const struct mending *m, const char *grid)
{
    struct leftovers l = {m, grid};
    struct bm_error ignored = {0};
    char name[BM_NAME_BYTES];

    for (size_t i = 0; i < m->count; i++)
        if (!strcmp(m->series[i].name, grid)) {
            snprintf(name, sizeof(name), BM_NAME_IDX "/%.128s", grid);
            bm_store_list(m->how->store, name, look_at_entry, &l, &ignored);
            return;
        }
    snprintf(name, sizeof(name), BM_NAME_IDX "/%.128s.idx", grid);
    if (bm_idx_has_grid(m->how->store, grid) &&
        tell(m, -1, name, "is the header of a grid that is in no step",
             "removed"))
        bm_idx_remove_grid(m->how->store, grid);
}

static int look_for_leftovers(struct mending *m)
{
    struct bm_buffer names;
    int rc;

    bm_buffer_init(&names, m->a);
    rc = bm_idx_list(m->how->store, &names, m->error);
    for (size_t at = 0; at < names.size && !rc;
         at += strlen((char *)names.data + at) + 1)
        look_at_grid(m, (char *)names.data + at);
    bm_buffer_release(&names);
    return rc;
}

/* ---- headers ------------------------------------------------------------- */

/* Whether another one of the same name has a later step, or lacks links. */
static int is_outdated(const struct mending *m, const struct series *s)
{
    for (size_t i = 0; i < m->count; i++)
        if (!strcmp(m->series[i].name, s->name) &&
            (m->series[i].broken || m->series[i].steps[m->series[i].count - 1] >
                                        s->steps[s->count - 1]))
            return 1;
    return 0;
}

static int mend_header(struct mending *m, const struct series *s)
{
    struct bm_store *store = m->how->store;
    struct bm_error ignored = {0};
    struct bm_buffer is, should;
    char name[BM_NAME_BYTES];
    int rc = BOUMA_OK;

    bm_buffer_init(&is, m->a);
    bm_buffer_init(&should, m->a);
    bm_idx_put_steps(&should, &s->text, s->steps, s->count);
    bm_idx_load_header(store, s->name, &is, &ignored);
    snprintf(name, sizeof(name), BM_NAME_IDX "/%.128s.idx", s->name);
    if (should.failed)
        rc = no_memory(m);
    else if ((is.size != should.size ||
              memcmp(is.data, should.data, is.size)) &&
             tell(m, -1, name,
                  "the header by which other programs read the grid as IDX is "
                  "missing or does not list the committed steps",
                  "written anew"))
        rc = bm_idx_save_header(store, s->name, &should, m->error);
    bm_buffer_release(&is);
    bm_buffer_release(&should);
    return rc;
}

int bm_idx_mend(const struct bm_idx_mend *how, struct bm_error *error)
{
    struct mending m = {.how = how, .a = how->store->a, .error = error};
    int rc = BOUMA_OK;

    for (size_t i = 0; i < how->steps->count && !rc; i++)
        rc = look_at_step(&m, how->steps->entries[i].step);
    for (size_t i = 0; i < m.count && !rc; i++)
        if (!is_outdated(&m, &m.series[i]))
            rc = mend_header(&m, &m.series[i]);
    if (!rc && how->deep)
        rc = look_for_leftovers(&m);
    release(&m);
    if (rc || !m.failed)
        return rc;
    *error = m.why;
    return m.failed;
}
