/* idx.c -- see idx.h: names, links and timesteps. Headers, and what is done to
 * all grids, are in idx_header.c. */
#include "dataset/idx_names.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "layout/grid_idx.h"

/* ---- names --------------------------------------------------------------- */

void bm_idx_grid_name(char name[BM_NAME_BYTES], const char *grid)
{
    snprintf(name, BM_NAME_BYTES, BM_NAME_IDX "/%.128s", grid);
}

void bm_idx_header_name(char name[BM_NAME_BYTES], const char *grid)
{
    snprintf(name, BM_NAME_BYTES, BM_NAME_IDX "/%.128s" BM_IDX_HEADER_SUFFIX,
             grid);
}

static void entry_name(char name[BM_NAME_BYTES], const char *grid,
                       const char *entry)
{
    snprintf(name, BM_NAME_BYTES, BM_NAME_IDX "/%.128s/%.64s", grid, entry);
}

/* The directory of the links of a version of a step. */
static void links_entry(char out[BM_NAME_BYTES], uint64_t step,
                        struct bm_generation g)
{
    snprintf(out, BM_NAME_BYTES, "%09" PRIu64 ".e%" PRIu32 "a%" PRIu32, step,
             g.epoch, g.attempt);
}

void bm_idx_step_name(char name[BM_NAME_BYTES], const char *grid, uint64_t step)
{
    char time[BM_IDX_TIME_BYTES];

    bm_idx_time_name(time, (int64_t)step);
    entry_name(name, grid, time);
}

/* The name of the link to a file, and its text. */
static void file_link(char name[BM_NAME_BYTES], char text[BM_NAME_BYTES],
                      const struct bm_idx_file *f)
{
    char entry[BM_NAME_BYTES], file[BM_IDX_FILE_BYTES], to[BM_NAME_BYTES];
    int directories = bm_grid_idx_file(file, f->grid, f->first);
    size_t used;

    links_entry(entry, f->step, f->generation);
    entry_name(name, f->grid->name, entry);
    used = strlen(name);
    snprintf(name + used, BM_NAME_BYTES - used, "/%s", file);
    text[0] = 0;
    for (int i = 0; i < directories + 3; i++)
        strcat(text, "../");
    bm_name_subfile(to, f->step, f->subfile, f->generation);
    used = strlen(text);
    snprintf(text + used, BM_NAME_BYTES - used, "%.200s", to);
}

/* Digits up to *end, as a number below 2^32. */
static uint64_t number_at(const char **at)
{
    uint64_t n = 0;

    for (; **at >= '0' && **at <= '9' && n <= UINT32_MAX; (*at)++)
        n = 10 * n + (uint64_t)(**at - '0');
    return n;
}

enum bm_idx_entry bm_idx_entry_of(const char *entry, struct bm_step_entry *out)
{
    int is_time = !strncmp(entry, "time", 4);
    const char *at = entry + (is_time ? 4 : 0);
    char again[BM_NAME_BYTES];
    size_t n;

    memset(out, 0, sizeof(*out));
    out->step = number_at(&at);
    if (is_time) {
        bm_idx_time_name(again, (int64_t)out->step);
        n = strlen(again);
        return strncmp(entry, again, n)                ? BM_IDX_FOREIGN
               : !entry[n]                             ? BM_IDX_TIME
               : !strcmp(entry + n, BM_IDX_NEW_SUFFIX) ? BM_IDX_NEW
                                                       : BM_IDX_FOREIGN;
    }
    if (at[0] == '.' && at[1] == 'e') {
        at += 2;
        out->generation.epoch = (uint32_t)number_at(&at);
        if (*at == 'a') {
            at++;
            out->generation.attempt = (uint32_t)number_at(&at);
        }
    }
    links_entry(again, out->step, out->generation);
    return strcmp(entry, again) ? BM_IDX_FOREIGN : BM_IDX_LINKS;
}

int bm_idx_check(const struct bouma_dataset *ds, const char *grid,
                 struct bm_error *error)
{
    return bm_io_has_links(ds->store.io)
               ? BOUMA_OK
               : bm_fail(error, BOUMA_EINVAL,
                         "grid \"%s\" has 'idx', but the I/O table has no "
                         "symbolic links; leave 'idx' out",
                         grid);
}

/* ---- links --------------------------------------------------------------- */

/* All directories above a name that are not there. */
static int make_dirs(struct bm_store *s, const char *name,
                     struct bm_error *error)
{
    char dir[BM_NAME_BYTES];
    int rc = BOUMA_OK;

    for (const char *slash = strchr(name, '/'); slash && !rc;
         slash = strchr(slash + 1, '/')) {
        snprintf(dir, sizeof(dir), "%.*s", (int)(slash - name), name);
        rc = bm_store_make_dir(s, dir, 1, error);
    }
    return rc;
}

int bm_idx_is_foreign(struct bm_store *s, const char *name)
{
    return bm_store_exists(s, name) || bm_store_is_no_file(s, name);
}

static int tell_foreign(struct bm_store *s, const char *name,
                        struct bm_error *error)
{
    return bm_fail(
        error, BOUMA_EEXISTS,
        "%s/%s: is not a symbolic link: it was not made by this dataset, or "
        "was copied by a program that follows links; move %s/" BM_NAME_IDX
        " away",
        s->path, name, s->path);
}

int bm_idx_link(struct bm_store *s, const struct bm_idx_file *f,
                struct bm_error *error)
{
    char name[BM_NAME_BYTES], text[BM_NAME_BYTES];
    struct bm_error why = {0};
    int rc;

    file_link(name, text, f);
    rc = bm_store_link(s, name, text, &why);
    if (rc == BOUMA_ENOTFOUND) { /* mostly, the directories are there */
        rc = make_dirs(s, name, error);
        return rc ? rc : bm_store_link(s, name, text, error);
    }
    if (rc && bm_idx_is_foreign(s, name))
        return tell_foreign(s, name, error);
    return rc ? bm_fail(error, rc, "%s", why.text) : BOUMA_OK;
}

int bm_idx_is_linked(struct bm_store *s, const struct bm_idx_file *f)
{
    char name[BM_NAME_BYTES], text[BM_NAME_BYTES];

    file_link(name, text, f);
    return bm_store_is_link_to(s, name, text);
}

/* Nothing can be added to a step with such a grid, so it has one writing. */
int bm_idx_load_manifest(struct bm_manifest *m, struct bm_store *s,
                         uint64_t step, const uint8_t *id,
                         struct bm_error *error)
{
    char name[BM_NAME_BYTES];
    int rc = bm_manifest_load_front(m, s, step, NULL, id, error);

    bm_name_manifest(name, step);
    for (size_t k = 0; k < m->sheet_count && !rc; k++)
        if (bm_schema_has_idx(m->schema))
            rc = bm_manifest_load_sheet(m, k, s, name, error);
    return rc;
}

/* Whether a subfile has a part of a grid. */
static int has_part(const struct bm_subfile_info *info,
                    const struct bm_manifest *m, const struct bm_object *grid)
{
    for (size_t i = 0; i < info->count; i++)
        if (m->schema->by_id[info->parts[i].variable]->object == grid)
            return 1;
    return 0;
}

int bm_idx_next(struct bm_idx_walk *w, struct bm_idx_file *out)
{
    const struct bm_manifest *m = w->manifest;

    while (w->at < m->count &&
           !has_part(bm_manifest_record(m, w->at), m, w->grid))
        w->at++;
    if (w->at == m->count || w->counted == bm_grid_idx_files(w->grid))
        return 0;
    *out =
        (struct bm_idx_file){.step = m->step,
                             .generation = m->generation,
                             .grid = w->grid,
                             .subfile = (uint32_t)w->at++,
                             .first = bm_grid_idx_first(w->grid, w->counted++)};
    return 1;
}

int bm_idx_link_step(struct bm_store *s, const struct bm_manifest *m,
                     struct bm_error *error)
{
    int rc = BOUMA_OK;

    for (int i = 0; i < m->schema->count; i++) {
        struct bm_idx_walk w = {.manifest = m, .grid = m->schema->objects[i]};
        struct bm_idx_file f;

        if (!bm_grid_is_idx(w.grid))
            continue;
        while (!rc && bm_idx_next(&w, &f))
            rc = bm_idx_link(s, &f, error);
    }
    return rc;
}

/* ---- removing ------------------------------------------------------------ */

struct removal {
    struct bm_store *s;
    const char *dir;
    int depth;
};

/* Names of files have at most six directories. */
enum { MOST_DEPTH = 8 };

static void remove_tree(struct bm_store *s, const char *dir, int depth);

static int remove_below(void *context, const char *entry)
{
    const struct removal *r = context;
    char name[BM_NAME_BYTES], text[BM_NAME_BYTES];

    if (strlen(r->dir) + strlen(entry) + 2 > sizeof(name))
        return 0;
    strcpy(name, r->dir);
    strcat(name, "/");
    strcat(name, entry);
    bm_store_read_link(r->s, name, text);
    if (text[0])
        bm_store_remove(r->s, name);
    else
        remove_tree(r->s, name, r->depth + 1);
    return 0;
}

/* A directory of links, and of directories of these. */
static void remove_tree(struct bm_store *s, const char *dir, int depth)
{
    struct removal r = {s, dir, depth};
    struct bm_error ignored = {0};

    if (depth < MOST_DEPTH &&
        !bm_store_list(s, dir, remove_below, &r, &ignored))
        bm_store_remove_dir(s, dir);
}

int bm_idx_is_own(struct bm_store *s, const char *grid, const char *entry)
{
    struct bm_step_entry step;
    char name[BM_NAME_BYTES];
    enum bm_idx_entry what = bm_idx_entry_of(entry, &step);

    entry_name(name, grid, entry);
    return what == BM_IDX_LINKS ||
           (what != BM_IDX_FOREIGN && !bm_idx_is_foreign(s, name));
}

void bm_idx_remove_entry(struct bm_store *s, const char *grid,
                         const char *entry)
{
    struct bm_step_entry step;
    char name[BM_NAME_BYTES], text[BM_NAME_BYTES];
    enum bm_idx_entry what = bm_idx_entry_of(entry, &step);

    if (what == BM_IDX_FOREIGN)
        return;
    entry_name(name, grid, entry);
    bm_store_read_link(s, name, text);
    if (text[0]) /* also where a directory should be */
        bm_store_remove(s, name);
    else if (what == BM_IDX_LINKS)
        remove_tree(s, name, 0);
}

void bm_idx_links_name(char name[BM_NAME_BYTES], const char *grid,
                       uint64_t step, struct bm_generation g)
{
    char links[BM_NAME_BYTES];

    links_entry(links, step, g);
    entry_name(name, grid, links);
}

void bm_idx_unlink_grid(struct bm_store *s, const char *grid, uint64_t step,
                        struct bm_generation g)
{
    char links[BM_NAME_BYTES];

    links_entry(links, step, g);
    bm_idx_remove_entry(s, grid, links);
}

void bm_idx_unlink_step(struct bm_store *s, const struct bm_schema *schema,
                        const struct bm_step_entry *entry)
{
    for (int i = 0; i < schema->count; i++)
        if (bm_grid_is_idx(schema->objects[i]))
            bm_idx_unlink_grid(s, schema->objects[i]->name, entry->step,
                               entry->generation);
}

/* ---- timesteps ----------------------------------------------------------- */

int bm_idx_is_shown(struct bm_store *s, const char *grid, uint64_t step,
                    struct bm_generation g)
{
    char name[BM_NAME_BYTES], links[BM_NAME_BYTES];

    bm_idx_step_name(name, grid, step);
    links_entry(links, step, g);
    return bm_store_is_link_to(s, name, links);
}

void bm_idx_links_shown(char out[BM_NAME_BYTES], struct bm_store *s,
                        const char *name, uint64_t step)
{
    struct bm_step_entry e;

    bm_store_read_link(s, name, out);
    if (bm_idx_entry_of(out, &e) != BM_IDX_LINKS || e.step != step)
        out[0] = 0;
}

int bm_idx_show(struct bm_store *s, const char *grid, uint64_t step,
                struct bm_generation g, struct bm_error *error)
{
    char name[BM_NAME_BYTES], links[BM_NAME_BYTES], before[BM_NAME_BYTES];
    char temporary[BM_NAME_BYTES];
    int rc;

    if (bm_idx_is_shown(s, grid, step, g))
        return BOUMA_OK;
    bm_idx_step_name(name, grid, step);
    if (bm_idx_is_foreign(s, name))
        return tell_foreign(s, name, error);
    links_entry(links, step, g);
    bm_idx_links_shown(before, s, name, step);
    snprintf(temporary, sizeof(temporary), "%.250s" BM_IDX_NEW_SUFFIX, name);
    bm_store_remove(s, temporary);
    rc = bm_store_link(s, temporary, links, error);
    if (!rc)
        rc = bm_store_publish(s, temporary, name, 1, error);
    if (!rc && before[0])
        bm_idx_remove_entry(s, grid, before);
    return rc;
}
