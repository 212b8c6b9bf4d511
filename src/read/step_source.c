/* step_source.c -- the files of a step that is read: each is opened when it is
 * needed, with its head and the trees over its particles. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "layout/writings.h"
#include "read/read.h"
#include "store/envelope.h"

#define FRONT_BYTES ((uint64_t)8 << 10) /* to read with a head, at most */

void bm_step_close_sources(struct bouma_step *step)
{
    const bouma_allocator *a = step->ds->a;
    struct bm_error ignored = {0};

    for (size_t i = 0; step->sources && i < step->manifest.count; i++) {
        struct bm_source *s = step->sources[i];

        if (!s)
            continue;
        if (s->file.store)
            bm_file_close(&s->file, &ignored);
        for (size_t k = 0; s->trees && k < s->head.summaries.count; k++)
            bm_tree_release(&s->trees[k]);
        bm_drop(a, s->trees);
        bm_head_release(&s->head);
        s->trees = NULL;
        s->loaded = 0;
        s->front_bytes = 0;
    }
    step->open_files = 0;
}

int bm_step_source_loaded(const struct bouma_step *step, size_t i)
{
    return step->sources[i] && step->sources[i]->loaded;
}

void bm_step_source_name(const struct bouma_step *step, size_t i, char *text,
                         size_t bytes)
{
    const struct bm_source *s = step->sources[i];
    const struct bm_store *store = s ? s->file.store : NULL;
    char name[BM_NAME_BYTES];

    bm_name_subfile(name, step->manifest.step, (uint32_t)i,
                    step->manifest.generation);
    snprintf(text, bytes, "%s/%s", store ? store->path : step->ds->store.path,
             name);
}

/* Keep the number of open files bounded. */
static void close_oldest(struct bouma_step *step)
{
    struct bm_error ignored = {0};
    int oldest = 0;

    for (int i = 1; i < step->open_files; i++)
        if (step->held[i]->used < step->held[oldest]->used)
            oldest = i;
    bm_file_close(&step->held[oldest]->file, &ignored);
    step->held[oldest] = step->held[--step->open_files];
}

/* Read the head at 'offset' and check it against the manifest. */
static int load_head(struct bouma_step *step, size_t i, uint64_t offset,
                     const char *full, struct bm_error *error)
{
    const struct bm_subfile_info *info = bm_manifest_record(&step->manifest, i);
    struct bm_source *s = step->sources[i];
    const bouma_allocator *a = step->ds->a;
    struct bm_head_bytes from;
    uint8_t *raw;
    int same = 0, rc = BOUMA_OK;

    if (info->head_bytes > step->ds->store.memory_limit)
        return bm_fail(error, BOUMA_ELIMIT,
                       "%s: its head has %" PRIu64
                       " bytes, more than the option 'memory_limit' allows",
                       full, info->head_bytes);
    raw = bm_new_raw(a, (size_t)info->head_bytes, 1);
    if (!raw)
        return bm_fail(error, BOUMA_ENOMEM, "%s: no memory for its head", full);
    rc = bm_file_read(&s->file, raw, (size_t)info->head_bytes, offset, error);
    bm_head_init(&s->head, a);
    from = (struct bm_head_bytes){.data = raw,
                                  .bytes = (size_t)info->head_bytes,
                                  .file_bytes = info->file_bytes,
                                  .id = step->ds->id,
                                  .name = full};
    if (!rc)
        rc =
            bm_head_decode(&s->head, step->manifest.schema, NULL, &from, error);
    if (!rc &&
        bm_summaries_compare(&same, &s->head.summaries, &info->summaries))
        rc = bm_fail(error, BOUMA_ENOMEM, "%s: no memory for its head", full);
    if (!rc && (memcmp(raw + 48, info->head_hash, 16) ||
                bm_manifest_glance(&step->manifest, i, &s->head) || !same))
        rc = bm_fail(error, BOUMA_EFORMAT,
                     "%s: is not the file that the manifest names", full);
    bm_drop(a, raw);
    if (rc)
        bm_head_release(&s->head);
    return rc;
}

/* How many bytes to read for a head that is expected to have as many as that of
 * another step, and perhaps some more: with it, what is likely to be wanted and
 * lies close behind. */
static uint64_t front_to_read(const struct bm_subfile_info *info,
                              const struct bm_source *s)
{
    uint64_t bytes = info->head_bytes + info->head_bytes / 8;
    uint64_t end =
        s->first_end > info->head_offset ? s->first_end - info->head_offset : 0;
    uint64_t left =
        s->bytes > info->head_offset ? s->bytes - info->head_offset : 0;

    bytes = end > bytes && end - bytes <= FRONT_BYTES ? end : bytes;
    return bytes < left ? bytes : left;
}

/* The same if the manifest is another step's. A head that is as its checksum
 * says, of this file of this writing, needs no manifest to be believed. */
static int load_aimed_head(struct bouma_step *step, size_t i, const char *full,
                           struct bm_error *error)
{
    const struct bm_subfile_info *info = bm_manifest_record(&step->manifest, i);
    struct bm_source *s = step->sources[i];
    struct bm_head_bytes from = {.file_bytes = s->bytes,
                                 .id = step->ds->id,
                                 .name = full,
                                 .schema = &step->schema_bytes};
    uint64_t bytes = front_to_read(info, s);
    struct bm_envelope e;
    int rc;

    if (bytes > step->ds->store.memory_limit)
        return bm_fail(error, BOUMA_ELIMIT, "%s: its head is too large", full);
    if (bm_block_grow(step->ds->a, &s->front, (size_t)bytes))
        return bm_fail(error, BOUMA_ENOMEM, "%s: no memory for its head", full);
    from.data = s->front.data;
    rc = bm_file_read(&s->file, s->front.data, (size_t)bytes, info->head_offset,
                      error);
    if (!rc)
        rc = bm_envelope_peek(&e, from.data, (size_t)bytes, BM_KIND_HEAD, full,
                              error);
    if (!rc && e.body_bytes > bytes - BM_ENVELOPE_BYTES)
        rc = bm_fail(error, BOUMA_EFORMAT, "%s: its head is longer", full);
    bm_head_init(&s->head, step->ds->a);
    if (!rc) {
        from.bytes = BM_ENVELOPE_BYTES + (size_t)e.body_bytes;
        rc =
            bm_head_decode(&s->head, step->manifest.schema, NULL, &from, error);
    }
    if (!rc && bm_manifest_glance(&step->manifest, i, &s->head))
        rc = bm_fail(error, BOUMA_EFORMAT, "%s: is another file", full);
    s->front_offset = info->head_offset;
    s->front_bytes = rc ? 0 : bytes;
    if (rc)
        bm_head_release(&s->head);
    return rc;
}

int bm_step_is_current(const struct bouma_step *step, struct bm_store *store,
                       struct bm_error *error)
{
    const struct bm_manifest *m = &step->manifest;
    struct bm_error ignored = {0};
    struct bm_step_entry now;
    char name[BM_NAME_BYTES];
    struct bm_buffer b;
    uint64_t bytes;
    int rc;

    bm_name_manifest(name, m->step);
    bm_buffer_init(&b, step->ds->a);
    rc = bm_manifest_read_front(store, name, &b, &bytes, &ignored);
    if (rc == BOUMA_ENOTFOUND)
        bm_fail(error, rc,
                "%s: step %" PRIu64 " was removed since it was opened",
                store->path, m->step);
    else if (!rc && !bm_manifest_peek(&now, &b, step->ds->id, name, &ignored) &&
             bm_generation_is_later(now.generation, bm_manifest_committed(m)))
        rc = bm_fail(error, BOUMA_ESTATE,
                     "%s: step %" PRIu64 " was written again since it was "
                     "opened; free it and open it again",
                     store->path, m->step);
    else
        rc = BOUMA_OK;
    bm_buffer_release(&b);
    return rc;
}

/* Load the head: it stands at both ends (behind the front, if there is one), and
 * if one is damaged, or cannot be read, the other serves. Of a file that was cut
 * only the first is left. */
static int load_any_head(struct bouma_step *step, size_t i, const char *full,
                         struct bm_error *error)
{
    const struct bm_subfile_info *info = bm_manifest_record(&step->manifest, i);
    int is_cut = step->sources[i]->bytes < info->file_bytes;
    struct bm_error why = {0}, again = {0};
    int rc = load_head(step, i, info->head_offset, full, &why);

    if (!is_cut &&
        (rc == BOUMA_EFORMAT || rc == BOUMA_EVERSION || rc == BOUMA_EIO))
        rc = load_head(step, i, info->file_bytes - info->head_bytes, full,
                       &again);
    return rc ? bm_fail(error, rc, "%s", why.text) : BOUMA_OK;
}

/* Open the file in one store, and see that it is the right one. One that is too
 * short will do if *is_cut says so; else *is_cut is set. */
static int open_source(struct bouma_step *step, size_t i,
                       struct bm_store *store, int *is_cut,
                       struct bm_error *error)
{
    const struct bm_subfile_info *info = bm_manifest_record(&step->manifest, i);
    struct bm_source *s = step->sources[i];
    char name[BM_NAME_BYTES], full[1200];
    struct bm_error again = {0};
    int rc, cut_will_do = *is_cut;

    bm_name_subfile(name, step->manifest.step, (uint32_t)i,
                    step->manifest.generation);
    snprintf(full, sizeof(full), "%s/%s", store->path, name);
    rc = bm_file_open(&s->file, store, name, BOUMA_OPEN_MODE_READ, &again);
    if (rc == BOUMA_ENOTFOUND) {
        rc = bm_step_is_current(step, store, error);
        return rc ? rc
                  : bm_fail(error, BOUMA_EFORMAT,
                            step->manifest.count > 1
                                ? "%s: the file is missing; what is in other "
                                  "files can still be read"
                                : "%s: the file is missing, and with it all "
                                  "data of the step",
                            full);
    }
    if (rc)
        return bm_fail(error, rc, "%s", again.text);
    rc = bm_file_size(&s->file, &s->bytes, error);
    if (!rc && !step->aimed && s->bytes != info->file_bytes) {
        *is_cut |= s->bytes < info->file_bytes;
        if (!cut_will_do || s->bytes > info->file_bytes ||
            s->bytes < info->head_offset + info->head_bytes)
            rc = bm_fail(error, BOUMA_EFORMAT,
                         "%s: has %" PRIu64 " bytes where %" PRIu64
                         " were written; the file is damaged",
                         full, s->bytes, info->file_bytes);
    }
    if (!rc && !s->loaded) {
        rc = step->aimed ? load_aimed_head(step, i, full, error)
                         : load_any_head(step, i, full, error);
        s->loaded = !rc;
    }
    if (rc)
        bm_file_close(&s->file, &again);
    return rc;
}

/* The writings of a step share them. */
static int most_open_files(struct bouma_step *step)
{
    int writings = (int)bm_manifest_writings(&bm_step_whole(step)->manifest);
    int most = BM_MOST_OPEN_FILES / writings;

    return most > 4 ? most : 4;
}

int bm_step_source(struct bouma_step *step, size_t i, struct bm_source **out)
{
    struct bm_source *s = step->sources[i];
    struct bm_error why = {0}, ignored = {0};
    struct bm_store *stores[2];
    int rc, count, is_cut[2] = {0, 0};
    uint64_t left[2] = {0, 0}; /* of copies that were cut */

    *out = NULL;
    rc = bm_step_load_record(step, i, &step->ds->error);
    if (rc)
        return rc;
    if (!s) {
        s = step->sources[i] = bm_new(step->ds->a, 1, sizeof(*s));
        if (!s)
            return bm_fail(&step->ds->error, BOUMA_ENOMEM,
                           "no memory to open a file");
    }
    *out = s;
    s->used = ++step->clock;
    if (s->file.handle)
        return BOUMA_OK;
    if (step->open_files >= most_open_files(step))
        close_oldest(step);
    count = bm_dataset_stores(step->ds, stores);
    /* The first is the local copy, which is not asked to be whole. */
    rc = BOUMA_EFORMAT;
    for (int k = 0; k < count && rc; k++) {
        bm_error_clear(&why);
        rc = open_source(step, i, stores[k], &is_cut[k], &why);
        left[k] = is_cut[k] ? s->bytes : 0;
    }
    /* Whatever is left of it is of use: coarse levels stand first. The copy of
     * which there is more has more of them. */
    for (int k = 0; k < count && rc; k++) {
        int which = count > 1 && (left[1] >= left[0]) == !k;

        bm_error_clear(&ignored);
        if (is_cut[which])
            rc = open_source(step, i, stores[which], &is_cut[which], &ignored);
    }
    if (rc)
        return bm_fail(&step->ds->error, rc, "%s", why.text);
    step->held[step->open_files++] = s;
    return BOUMA_OK;
}

int bm_step_source_has(const struct bouma_step *step, size_t i, uint64_t offset,
                       uint64_t bytes, const char *what, struct bm_error *error)
{
    uint64_t found = step->sources[i]->bytes;
    char full[1200];

    if (bytes <= found && offset <= found - bytes)
        return BOUMA_OK;
    bm_step_source_name(step, i, full, sizeof(full));
    return bm_fail(
        error, BOUMA_EFORMAT,
        "%s: has %" PRIu64 " bytes where %" PRIu64 " were written: %s is lost",
        full, found, bm_manifest_record(&step->manifest, i)->file_bytes, what);
}

/* Read and decode the tree over the particles of a set. */
static int load_tree(struct bouma_step *step, size_t source,
                     const struct bm_summary *s, struct bm_tree *tree)
{
    const struct bm_manifest *m = &step->manifest;
    const struct bm_particle_summary *summary = bm_particle_summary_of(s);
    struct bouma_dataset *ds = step->ds;
    struct bm_step_address address = {ds->id, m->step, m->generation};
    size_t bytes = (size_t)summary->tree_bytes;
    char full[1200];
    uint8_t *raw;
    int rc;

    bm_step_source_name(step, source, full, sizeof(full));
    if (summary->tree_bytes > ds->store.memory_limit)
        return bm_fail(&ds->error, BOUMA_ELIMIT,
                       "%s: its tree has %" PRIu64
                       " bytes, more than the option 'memory_limit' allows",
                       full, summary->tree_bytes);
    rc = bm_step_source_has(step, source, s->index_offset, summary->tree_bytes,
                            "the tree over its particles", &ds->error);
    if (rc)
        return rc;
    raw = bm_new_raw(ds->a, bytes, 1);
    if (!raw)
        return bm_fail(&ds->error, BOUMA_ENOMEM, "%s: no memory for its tree",
                       full);
    rc = bm_file_read(&step->sources[source]->file, raw, bytes, s->index_offset,
                      &ds->error);
    if (!rc &&
        bm_summary_hash_index(s, &address, raw, bytes) != summary->tree_hash)
        rc = bm_fail(&ds->error, BOUMA_EFORMAT,
                     "%s: the tree of \"%s\" is damaged: its checksum does not "
                     "match; all particles can still be read at once",
                     full, summary->set->name);
    if (!rc) {
        struct bm_codec_state codec;

        bm_codec_state_init(&codec, ds->a);
        rc = bm_particle_summary_decode_tree(tree, summary, raw, bytes, &codec);
        bm_codec_state_release(&codec);
        if (rc)
            bm_fail(&ds->error, rc,
                    rc == BOUMA_ENOMEM ? "%s: no memory for its tree"
                                       : "%s: its tree contradicts itself",
                    full);
    }
    bm_drop(ds->a, raw);
    return rc;
}

int bm_step_has_tree(const struct bouma_step *step, size_t source,
                     const struct bm_object *set)
{
    const struct bm_source *s = step->sources[source];
    const struct bm_summary_list *all;

    if (!s || !s->loaded || !s->trees)
        return 0;
    all = &s->head.summaries;
    for (size_t i = 0; i < all->count; i++)
        if (all->entries[i]->object == set)
            return s->trees[i].a != NULL;
    return 0;
}

int bm_step_tree(struct bouma_step *step, size_t source, size_t summary,
                 const struct bm_tree **out)
{
    struct bm_source *s = step->sources[source];
    int rc = BOUMA_OK;

    *out = NULL;
    if (!s->trees) {
        s->trees =
            bm_new(step->ds->a, s->head.summaries.count, sizeof(*s->trees));
        if (!s->trees)
            return bm_fail(&step->ds->error, BOUMA_ENOMEM,
                           "no memory for trees");
    }
    if (!s->trees[summary].a) {
        bm_tree_init(&s->trees[summary], step->ds->a);
        rc = load_tree(step, source, s->head.summaries.entries[summary],
                       &s->trees[summary]);
        if (rc)
            bm_tree_release(&s->trees[summary]);
        if (rc)
            memset(&s->trees[summary], 0, sizeof(s->trees[summary]));
    }
    *out = &s->trees[summary];
    return rc;
}
