/* idx.h -- the names by which other programs read grids with 'idx' (see
 * layout/grid_idx.h). The files of a step are those of an IDX dataset already;
 * a header and symbolic links lead to them:
 *
 *     idx/NAME.idx                          the header: lists the timesteps
 *     idx/NAME/time000000042                a link to the next one
 *     idx/NAME/000000042.e7a1/0000.bin      a link to ../../../steps/...
 *
 * All of it follows from the manifests, and nothing of bouma reads it. The links
 * to the files are made before a step is committed, where nobody looks for them;
 * a failure there is one of the step. Once the manifest is there, the one link
 * to their directory is renamed over the one that was there before, and then
 * the header is replaced: so other programs see a step as a whole, of the old
 * or the new version. Failures there leave a note; the next who writes to the
 * dataset, or `bouma repair`, makes what is missing. None of it is synced: it
 * may be missing after a power loss. Local copies (see local_copy.h) have none.
 */
#ifndef BM_IDX_H
#define BM_IDX_H

#include "dataset/dataset.h"

/* Whether links can be made where the steps of a grid go: EINVAL if not. */
int bm_idx_check(const struct bouma_dataset *ds, const char *grid,
                 struct bm_error *error);

/* A file of a step; of those of a grid, the one that begins with a block. */
struct bm_idx_file {
    uint64_t step;
    struct bm_generation generation;
    const struct bm_object *grid;
    uint32_t subfile;
    uint64_t first; /* block */
};

int bm_idx_link(struct bm_store *s, const struct bm_idx_file *f,
                struct bm_error *error);
/* Whether the link is there. */
int bm_idx_is_linked(struct bm_store *s, const struct bm_idx_file *f);

/* The manifest of a step, whose files are known if a grid of it has 'idx'. */
int bm_idx_load_manifest(struct bm_manifest *m, struct bm_store *s,
                         uint64_t step, const uint8_t *id,
                         struct bm_error *error);

/* The files of a grid in a step, one after the other: 1 if there is one more. A
 * manifest that has more of them than the grid can have is not believed. */
struct bm_idx_walk {
    const struct bm_manifest *manifest;
    const struct bm_object *grid;
    size_t at;       /* subfile */
    int64_t counted; /* of those that the grid has */
};
int bm_idx_next(struct bm_idx_walk *w, struct bm_idx_file *out);

/* All links to the files of a step. */
int bm_idx_link_step(struct bm_store *s, const struct bm_manifest *m,
                     struct bm_error *error);
/* The name of the directory of the links of a grid. */
void bm_idx_links_name(char name[BM_NAME_BYTES], const char *grid,
                       uint64_t step, struct bm_generation g);
/* Remove the directory of the links of a grid; and, of a step that was not
 * committed, those of all grids. */
void bm_idx_unlink_grid(struct bm_store *s, const char *grid, uint64_t step,
                        struct bm_generation g);
void bm_idx_unlink_step(struct bm_store *s, const struct bm_schema *schema,
                        const struct bm_step_entry *entry);

/* The link from a timestep of a grid to the links of a version of it; what
 * stood there before goes. */
int bm_idx_show(struct bm_store *s, const char *grid, uint64_t step,
                struct bm_generation g, struct bm_error *error);
int bm_idx_is_shown(struct bm_store *s, const char *grid, uint64_t step,
                    struct bm_generation g);

/* Headers. One that is not there is empty, and so is one that cannot be read,
 * with a status. */
int bm_idx_load_header(struct bm_store *s, const char *grid,
                       struct bm_buffer *out, struct bm_error *error);
int bm_idx_save_header(struct bm_store *s, const char *grid,
                       const struct bm_buffer *text, struct bm_error *error);

/* Rank 0: a step has become visible. What cannot be done is told in a note, and
 * returned: then files of an earlier version must stay, as links lead to them.
 */
int bm_idx_publish(struct bouma_dataset *ds, const struct bm_step_entry *entry);

/* Steps behind 'last' are about to be dropped: headers forget them. Then each
 * step, before its files go, which is best effort. All of it may be missing. */
int bm_idx_forget(struct bm_store *s, int64_t last, struct bm_error *error);
/* The same if just this one is. */
int bm_idx_forget_step(struct bm_store *s, uint64_t step,
                       struct bm_error *error);
void bm_idx_drop(struct bm_store *s, uint64_t step);
/* A step was written again, without this grid: the header forgets the step, and
 * its links go. */
int bm_idx_withdraw(struct bm_store *s, const char *grid, uint64_t step,
                    struct bm_error *error);
/* The dataset goes: remove all. */
void bm_idx_clear(struct bm_store *s);

/* Of the directory of a grid: what an entry is. */
enum bm_idx_entry { BM_IDX_FOREIGN, BM_IDX_TIME, BM_IDX_LINKS, BM_IDX_NEW };
enum bm_idx_entry bm_idx_entry_of(const char *entry, struct bm_step_entry *out);
/* Whether it is a link, or a directory for links, of ours by its name. */
int bm_idx_is_own(struct bm_store *s, const char *grid, const char *entry);
/* Remove it; of a directory, only links. */
void bm_idx_remove_entry(struct bm_store *s, const char *grid,
                         const char *entry);

/* The names of grids that have something in idx/, one after the other, each with
 * its NUL. BOUMA_OK, ENOMEM, or why idx/ cannot be listed; none if it is not
 * there. */
int bm_idx_list(struct bm_store *s, struct bm_buffer *names,
                struct bm_error *error);
/* Whether some of it is ours; and remove that. Other files, and the headers of
 * other IDX datasets, stay. */
int bm_idx_has_grid(struct bm_store *s, const char *grid);
void bm_idx_remove_grid(struct bm_store *s, const char *grid);

/* ---- looking at all of it: idx_mend.c ------------------------------------ */

struct bm_idx_mend {
    struct bm_store *store;
    const uint8_t *id;
    const struct bm_step_list *steps; /* that are committed */
    int deep;       /* also each link of each file, and what is left over */
    uint32_t epoch; /* links of this one and later ones are left alone */
    /* Is told what is missing or wrong, and what is to be done; whether to do
     * it. NULL: yes. */
    int (*tell)(void *context, int64_t step, const char *name,
                const char *wrong, const char *action);
    /* Take what is neither a link nor a directory of links, but has the name of
     * one, out of the way. NULL: it stays, and the link cannot be made. */
    int (*move_away)(void *context, int64_t step, const char *name);
    void *context;
};

int bm_idx_mend(const struct bm_idx_mend *m, struct bm_error *error);

#endif
