/* sheet_walk.c -- see sheet_walk.h. */
#include "layout/sheet_walk.h"

#include "layout/writings.h"

void bm_sheet_walk_end(struct bm_sheet_walk *walk)
{
    if (walk->at)
        bm_manifest_drop_sheet(walk->at, walk->sheet);
    walk->at = NULL;
}

static struct bm_manifest *writing(struct bm_manifest *m, size_t w)
{
    return w < m->earlier_count ? &m->earlier[w]->manifest : m;
}

int bm_sheet_walk_to(struct bm_sheet_walk *walk, size_t i,
                     struct bm_error *error)
{
    struct bm_manifest *m;
    const struct bm_sheet *sheet;
    size_t w = 0, k;
    int rc;

    while (i >= bm_manifest_files(writing(walk->m, w)))
        w++;
    m = writing(walk->m, w);
    if (!m->sheet_files)
        return BOUMA_OK;
    k = (i - m->first) / m->sheet_files;
    sheet = &m->sheets[k];
    if (sheet->records)
        return BOUMA_OK;
    bm_sheet_walk_end(walk);
    rc = walk->load
             ? walk->load(walk->context, w, m, k, error)
             : bm_manifest_take_sheet(m, k, sheet->stored, (size_t)sheet->bytes,
                                      "manifest", error);
    if (!rc) {
        walk->at = m;
        walk->sheet = k;
    }
    return rc;
}
