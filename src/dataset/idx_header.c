/* idx_header.c -- headers of IDX datasets, and grids that have something in idx/:
 * which there are, and how steps of them are forgotten. See idx.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "dataset/idx_names.h"
#include "layout/grid_idx.h"

#define MOST_HEADER ((uint64_t)1 << 28) /* bytes */
#define MOST_STEPS  ((size_t)1 << 24)   /* that a header is believed to list */

/* ---- headers ------------------------------------------------------------- */

int bm_idx_load_header(struct bm_store *s, const char *grid,
                       struct bm_buffer *out, struct bm_error *error)
{
    struct bm_error why = {0};
    char name[BM_NAME_BYTES];
    int rc;

    bm_idx_header_name(name, grid);
    rc = bm_store_load(s, name, out, MOST_HEADER, &why);
    if (rc)
        bm_buffer_clear(out);
    return rc && rc != BOUMA_ENOTFOUND ? bm_fail(error, rc, "%s", why.text)
                                       : BOUMA_OK;
}

int bm_idx_save_header(struct bm_store *s, const char *grid,
                       const struct bm_buffer *text, struct bm_error *error)
{
    char name[BM_NAME_BYTES], temporary[BM_NAME_BYTES];
    int rc;

    bm_idx_header_name(name, grid);
    snprintf(temporary, sizeof(temporary), "%.250s" BM_IDX_NEW_SUFFIX, name);
    bm_store_remove(s, temporary);
    rc = bm_store_save(s, temporary, text->data, text->size, 0, error);
    return rc ? rc : bm_store_publish(s, temporary, name, 1, error);
}

/* A header of ours, which lists steps[count]; the caller drops them. Another
 * file of that name, or the header of an IDX dataset that somebody put beside
 * ours, has none: it is left alone. Ours leads to NAME/, and to links there. */
struct own_header {
    struct bm_buffer text;
    int64_t *steps;
    size_t count;
};

static int is_own(struct bm_store *s, const char *grid,
                  const struct own_header *h)
{
    char name[BM_NAME_BYTES];

    if (!h->count || !bm_idx_is_template_of(&h->text, grid))
        return 0;
    bm_idx_step_name(name, grid, (uint64_t)h->steps[0]);
    if (bm_idx_is_foreign(s, name))
        return 0;
    bm_idx_step_name(name, grid, (uint64_t)h->steps[h->count - 1]);
    return !bm_idx_is_foreign(s, name);
}

static int load_own(struct own_header *h, struct bm_store *s, const char *grid,
                    struct bm_error *error)
{
    char name[BM_NAME_BYTES], link[BM_NAME_BYTES];
    struct bm_error why = {0};
    int rc;

    memset(h, 0, sizeof(*h));
    bm_buffer_init(&h->text, s->a);
    rc = bm_idx_load_header(s, grid, &h->text, &why);
    if (rc) {
        bm_idx_header_name(name, grid);
        bm_store_read_link(s, name, link);
        return link[0] || bm_store_is_no_file(s, name)
                   ? BOUMA_OK
                   : bm_fail(error, rc, "%s", why.text);
    }
    rc = bm_idx_get_steps(&h->steps, &h->count, s->a, &h->text, MOST_STEPS);
    if (rc == BOUMA_ENOMEM)
        return bm_fail(error, rc, "%s/" BM_NAME_IDX ": no memory", s->path);
    if (!is_own(s, grid, h))
        h->count = 0;
    return BOUMA_OK;
}

static void release_own(struct own_header *h, struct bm_store *s)
{
    bm_drop(s->a, h->steps);
    bm_buffer_release(&h->text);
}

static int remove_header(struct bm_store *s, const char *grid,
                         struct bm_error *error)
{
    char name[BM_NAME_BYTES], temporary[BM_NAME_BYTES];

    bm_idx_header_name(name, grid);
    bm_store_remove(s, name);
    snprintf(temporary, sizeof(temporary), "%.250s" BM_IDX_NEW_SUFFIX, name);
    bm_store_remove(s, temporary);
    return bm_store_is_absent(s, name)
               ? BOUMA_OK
               : bm_fail(error, BOUMA_EIO, "%s/%s: could not be removed",
                         s->path, name);
}

/* ---- grids that have something there ------------------------------------- */

/* Names of grids come twice if there are both, header and directory. */
static int add_grid(void *context, const char *entry)
{
    struct bm_buffer *names = context;
    const char *suffix = strstr(entry, BM_IDX_HEADER_SUFFIX);
    char grid[BM_NAME_BYTES];

    if (suffix && strcmp(suffix, BM_IDX_HEADER_SUFFIX) &&
        strcmp(suffix, BM_IDX_HEADER_SUFFIX BM_IDX_NEW_SUFFIX))
        return 0;

    snprintf(grid, sizeof(grid), "%.*s",
             suffix ? (int)(suffix - entry) : BM_NAME_BYTES - 1, entry);
    if (bm_idx_check_name(grid))
        return 0;
    for (size_t at = 0; at < names->size;
         at += strlen((char *)names->data + at) + 1)
        if (!strcmp((char *)names->data + at, grid))
            return 0;
    bm_put_bytes(names, grid, strlen(grid) + 1);
    return names->failed ? ENOMEM : 0;
}

int bm_idx_list(struct bm_store *s, struct bm_buffer *names,
                struct bm_error *error)
{
    struct bm_error why = {0};
    int rc = bm_store_list(s, BM_NAME_IDX, add_grid, names, &why);

    return rc && rc != BOUMA_ENOTFOUND ? bm_fail(error, rc, "%s", why.text)
                                       : BOUMA_OK;
}

/* All of a grid that is in no step any more. */
struct grid_entries {
    struct bm_store *s;
    const char *grid;
    int any;
};

static int find_entry(void *context, const char *entry)
{
    struct grid_entries *g = context;

    g->any |= bm_idx_is_own(g->s, g->grid, entry);
    return 0;
}

static int remove_entry(void *context, const char *entry)
{
    const struct grid_entries *g = context;

    bm_idx_remove_entry(g->s, g->grid, entry);
    return 0;
}

int bm_idx_has_grid(struct bm_store *s, const char *grid)
{
    struct grid_entries g = {s, grid, 0};
    struct bm_error ignored = {0};
    struct own_header header;
    char name[BM_NAME_BYTES];

    g.any = !load_own(&header, s, grid, &ignored) && header.count;
    release_own(&header, s);
    bm_idx_grid_name(name, grid);
    bm_store_list(s, name, find_entry, &g, &ignored);
    return g.any;
}

void bm_idx_remove_grid(struct bm_store *s, const char *grid)
{
    struct grid_entries g = {s, grid, 0};
    struct bm_error ignored = {0};
    struct own_header header;
    char name[BM_NAME_BYTES];

    if (!load_own(&header, s, grid, &ignored) && header.count)
        remove_header(s, grid, &ignored);
    release_own(&header, s);
    bm_idx_grid_name(name, grid);
    bm_store_list(s, name, remove_entry, &g, &ignored);
    bm_store_remove_dir(s, name);
}

/* Call 'each' for all grids in idx/, until it fails. */
static int each_grid(struct bm_store *s,
                     int (*each)(struct bm_store *s, const char *grid,
                                 int64_t step, struct bm_error *error),
                     int64_t step, struct bm_error *error)
{
    struct bm_buffer names;
    int rc;

    bm_buffer_init(&names, s->a);
    rc = bm_idx_list(s, &names, error);
    for (size_t at = 0; at < names.size && !rc;
         at += strlen((char *)names.data + at) + 1)
        rc = each(s, (char *)names.data + at, step, error);
    bm_buffer_release(&names);
    return rc;
}

/* The header without a step, or without those behind it. One that lists no
 * others goes. */
static int shorten(struct bm_store *s, const char *grid, int64_t step,
                   int behind, struct bm_error *error)
{
    struct own_header old;
    struct bm_buffer new;
    size_t kept = 0;
    int rc;

    bm_buffer_init(&new, s->a);
    rc = load_own(&old, s, grid, error);
    for (size_t i = 0; i < old.count; i++)
        if (behind ? old.steps[i] <= step : old.steps[i] != step)
            old.steps[kept++] = old.steps[i];
    if (!rc && kept)
        bm_idx_put_steps(&new, &old.text, old.steps, kept);
    if (!rc && new.failed)
        rc = bm_fail(error, BOUMA_ENOMEM, "%s/" BM_NAME_IDX ": no memory",
                     s->path);
    else if (!rc && !kept && old.count)
        rc = remove_header(s, grid, error);
    else if (!rc && kept < old.count)
        rc = bm_idx_save_header(s, grid, &new, error);
    release_own(&old, s);
    bm_buffer_release(&new);
    return rc;
}

static int forget_in(struct bm_store *s, const char *grid, int64_t last,
                     struct bm_error *error)
{
    return shorten(s, grid, last, 1, error);
}

int bm_idx_forget(struct bm_store *s, int64_t last, struct bm_error *error)
{
    return each_grid(s, forget_in, last, error);
}

static int forget_one_in(struct bm_store *s, const char *grid, int64_t step,
                         struct bm_error *error)
{
    return shorten(s, grid, step, 0, error);
}

int bm_idx_forget_step(struct bm_store *s, uint64_t step,
                       struct bm_error *error)
{
    return each_grid(s, forget_one_in, (int64_t)step, error);
}

static int drop_in(struct bm_store *s, const char *grid, int64_t step,
                   struct bm_error *error)
{
    char name[BM_NAME_BYTES], links[BM_NAME_BYTES], time[BM_IDX_TIME_BYTES];

    (void)error;
    bm_idx_step_name(name, grid, (uint64_t)step);
    bm_idx_links_shown(links, s, name, (uint64_t)step);
    bm_idx_time_name(time, step);
    bm_idx_remove_entry(s, grid, time);
    if (links[0])
        bm_idx_remove_entry(s, grid, links);
    bm_idx_grid_name(name, grid);
    bm_store_remove_dir(s, name); /* if that was the last one */
    return BOUMA_OK;
}

int bm_idx_withdraw(struct bm_store *s, const char *grid, uint64_t step,
                    struct bm_error *error)
{
    int rc = shorten(s, grid, (int64_t)step, 0, error);

    return rc ? rc : drop_in(s, grid, (int64_t)step, error);
}

void bm_idx_drop(struct bm_store *s, uint64_t step)
{
    struct bm_error ignored = {0};

    each_grid(s, drop_in, (int64_t)step, &ignored);
}

static int clear_in(struct bm_store *s, const char *grid, int64_t step,
                    struct bm_error *error)
{
    (void)step;
    (void)error;
    bm_idx_remove_grid(s, grid);
    return BOUMA_OK;
}

void bm_idx_clear(struct bm_store *s)
{
    struct bm_error ignored = {0};

    each_grid(s, clear_in, 0, &ignored);
    bm_store_remove_dir(s, BM_NAME_IDX);
}
