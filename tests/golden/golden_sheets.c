/* golden_sheets.c -- see golden_sheets.h. */
#include "golden_sheets.h"

#include <stdio.h>

#include "layout/sheet.h"
#include "layout/writings.h"

static int load(struct bm_buffer *b, const char *name)
{
    FILE *f = fopen(name, "rb");
    uint8_t data[4096];
    size_t n;

    if (!f)
        return 1;
    while ((n = fread(data, 1, sizeof(data), f)) > 0)
        bm_put_bytes(b, data, n);
    fclose(f);
    return b->failed;
}

static int save(const struct bm_buffer *b, const char *name)
{
    FILE *f = fopen(name, "wb");
    int bad = !f || fwrite(b->data, 1, b->size, f) != b->size;

    return (f && fclose(f)) || bad;
}

/* Each writing has sheets, and no trees over files then. */
static int cut(struct bm_manifest *m, uint32_t files)
{
    for (size_t i = 0; i < m->file_tree_count; i++)
        bm_file_tree_release(&m->file_trees[i]);
    bm_drop(m->a, m->file_trees);
    m->file_trees = NULL;
    m->file_tree_count = 0;
    return m->count ? bm_manifest_cut(m, files) : 0;
}

int golden_cut_manifest(const char *name, uint32_t files)
{
    struct bm_error error = {0};
    struct bm_writing *w = bm_writing_new(bm_allocator_default(), &error);
    struct bm_manifest *m;
    struct bm_buffer b, out;
    int bad;

    if (!w)
        return 1;
    m = &w->manifest;
    bm_buffer_init(&b, m->a);
    bm_buffer_init(&out, m->a);
    bad = load(&b, name) ||
          bm_manifest_decode(m, b.data, b.size, NULL, name, &error);
    for (size_t i = 0; i < m->earlier_count && !bad; i++)
        bad = cut(&m->earlier[i]->manifest, files);
    bad = bad || cut(m, files);
    if (!bad)
        bm_manifest_encode(&out, m, b.data + 32);
    bad = bad || out.failed || save(&out, name);
    if (bad)
        fprintf(stderr, "%s: not cut: %s\n", name, error.text);
    bm_buffer_release(&b);
    bm_buffer_release(&out);
    bm_writing_free(w);
    return bad;
}
