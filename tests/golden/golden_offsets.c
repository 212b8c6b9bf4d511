/* golden_offsets.c -- see golden_offsets.h. */
#include "golden_offsets.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "layout/manifest.h"

enum { GAP = 13, FAR_AWAY = 5000, FILLER = 0xa5 };

/* ---- files -------------------------------------------------------------- */

static int load(struct bm_buffer *out, const char *path)
{
    FILE *f = fopen(path, "rb");
    uint8_t part[4096];
    size_t n;

    while (f && (n = fread(part, 1, sizeof(part), f)))
        bm_put_bytes(out, part, n);
    if (f)
        fclose(f);
    return !f || out->failed;
}

static int save(const struct bm_buffer *b, const char *path)
{
    FILE *f = fopen(path, "wb");
    int bad = !f || fwrite(b->data, 1, b->size, f) != b->size;

    return (f && fclose(f)) || bad;
}

/* ---- offsets ------------------------------------------------------------ */

/* A level of a chunk, by its entry in the columns. */
struct level {
    struct bm_section *section;
    size_t entry;
};

static size_t list_levels(const struct bm_head *h, struct level *out)
{
    size_t n = 0;

    for (size_t i = 0; i < h->count; i++) {
        struct bm_section *s = &h->sections[i];

        for (size_t k = 0; k < s->count * (size_t)s->levels; k++)
            if (s->sizes[k]) {
                if (out)
                    out[n] = (struct level){s, k};
                n++;
            }
    }
    return n;
}

static void put(const struct level *l, uint64_t *at)
{
    l->section->offsets[l->entry] = *at;
    *at += l->section->sizes[l->entry];
}

/* From the last of the table to the first, with a gap behind every third; the
 * one in the middle comes last, far away. */
static int choose_offsets(struct bm_head *h, const struct bm_schema *schema)
{
    size_t n = list_levels(h, NULL);
    struct level *levels = bm_new(h->a, n, sizeof(*levels));
    uint64_t bound, at;

    h->has_offsets = 1;
    if (!levels || !n || bm_head_bound(&bound, h, schema, h->file_bytes * 2)) {
        bm_drop(h->a, levels);
        return 1;
    }
    list_levels(h, levels);
    h->data_offset = at =
        (bound + BM_DATA_ALIGNMENT - 1) / BM_DATA_ALIGNMENT * BM_DATA_ALIGNMENT;
    for (size_t i = n; i-- > 0;) {
        if (i != n / 2)
            put(&levels[i], &at);
        if (i % 3 == 0)
            at += GAP;
    }
    at += FAR_AWAY;
    put(&levels[n / 2], &at);
    h->data_bytes = at + GAP - h->data_offset;
    bm_drop(h->a, levels);
    return bm_head_arrange(h, schema);
}

/* The bytes of the new file: the levels of 'old', whose file is 'from'. */
static void move_levels(struct bm_buffer *b, const struct bm_head *h,
                        const struct bm_head *old, const struct bm_buffer *from)
{
    size_t head = b->size;
    uint8_t *data;

    if (!bm_buffer_extend(b, h->file_bytes - head))
        return;
    data = b->data;
    memset(data + head, 0, h->data_offset - head);
    memset(data + h->data_offset, FILLER, h->data_bytes);
    for (size_t i = 0; i < h->count; i++) {
        const struct bm_section *to = &h->sections[i], *s = &old->sections[i];

        for (size_t k = 0; k < s->count * (size_t)s->levels; k++)
            memcpy(data + to->offsets[k], from->data + s->offsets[k],
                   s->sizes[k]);
    }
    memcpy(data + h->file_bytes - head, data, head);
}

static int store_offsets(const char *path, const struct bm_manifest *m,
                         struct bm_subfile_info *info, const uint8_t id[16])
{
    const bouma_allocator *a = m->a;
    struct bm_error error = {0};
    struct bm_buffer from, b;
    struct bm_head_bytes front;
    struct bm_head old, h;
    uint8_t hash[16];
    int bad;

    bm_buffer_init(&from, a);
    bm_buffer_init(&b, a);
    bm_head_init(&old, a);
    bm_head_init(&h, a);
    bad = load(&from, path);
    front = (struct bm_head_bytes){
        from.data, info->head_bytes, from.size, id, path, NULL};
    bad = bad || bm_head_decode(&old, m->schema, NULL, &front, &error) ||
          bm_head_decode(&h, m->schema, NULL, &front, &error) ||
          choose_offsets(&h, m->schema);
    if (!bad) {
        bm_head_encode(&b, &h, m->schema, id, hash);
        move_levels(&b, &h, &old, &from);
        bm_subfile_info_release(info, a);
        bad =
            b.failed || bm_subfile_info_of(info, &h, hash, a) || save(&b, path);
    }
    bm_head_release(&old);
    bm_head_release(&h);
    bm_buffer_release(&from);
    bm_buffer_release(&b);
    return bad;
}

/* ---- the step ----------------------------------------------------------- */

static void count_bytes(struct bm_manifest *m)
{
    bouma_record *r = &m->record;

    r->stored_bytes = r->largest_file = 0;
    for (size_t i = 0; i < m->count; i++) {
        uint64_t bytes = m->subfiles[i].file_bytes;

        r->stored_bytes += bytes;
        if (bytes > r->largest_file)
            r->largest_file = bytes;
    }
    r->mean_file = r->stored_bytes / m->count;
}

int golden_store_offsets(const char *path, int64_t step)
{
    const bouma_allocator *a = bm_allocator_default();
    char manifest[1200], name[BM_NAME_BYTES], file[1200];
    struct bm_error error = {0};
    struct bm_schema schema;
    struct bm_manifest m;
    struct bm_buffer b;
    uint8_t id[16];
    int bad;

    bm_name_manifest(name, (uint64_t)step);
    snprintf(manifest, sizeof(manifest), "%s/%s", path, name);
    bm_buffer_init(&b, a);
    bm_schema_init(&schema, a, &error);
    bm_manifest_init(&m, a, &schema, &error);
    bad = load(&b, manifest) ||
          bm_manifest_decode(&m, b.data, b.size, NULL, manifest, &error);
    if (!bad)
        memcpy(id, b.data + 32, sizeof(id));
    for (size_t i = (size_t)step % 2; i < m.count && !bad; i += 2) {
        bm_name_subfile(name, m.step, (uint32_t)i, m.generation);
        snprintf(file, sizeof(file), "%s/%s", path, name);
        bad = store_offsets(file, &m, &m.subfiles[i], id);
    }
    if (!bad) {
        count_bytes(&m);
        bm_buffer_clear(&b);
        bm_manifest_encode(&b, &m, id);
        bad = b.failed || save(&b, manifest);
    }
    if (bad)
        fprintf(stderr, "%s: step %" PRId64 ": offsets not stored: %s\n", path,
                step, error.text);
    bm_manifest_release(&m);
    bm_schema_release(&schema);
    bm_buffer_release(&b);
    return bad;
}
