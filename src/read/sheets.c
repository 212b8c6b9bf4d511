/* sheets.c -- the sheets of a manifest, read when a file of theirs is asked for.
 * See layout/sheet.h. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/search.h"
#include "layout/sheet.h"
#include "layout/writings.h"
#include "read/read.h"
#include "store/envelope.h"

/* Where a sheet lies in a file. */
struct place {
    struct bm_file file;
    char full[1200];   /* the name of the file */
    uint8_t front[16]; /* the checksum of the front that it has */
    uint64_t offset;
};

/* The manifest of a step was replaced since the step was opened. If that was an
 * extension, the sheets of this writing are in the new one, too. That is the one
 * that is open: another may have its name by now. */
static int find_again(const struct bouma_step *step, size_t k,
                      struct bm_file *file, const char *name, uint64_t *offset)
{
    struct bm_writing *w = bm_writing_new(step->ds->a, NULL);
    struct bm_error ignored = {0};
    struct bm_buffer b;
    uint64_t bytes;
    int rc = w ? BOUMA_OK : BOUMA_ENOMEM;

    bm_buffer_init(&b, step->ds->a);
    if (!rc)
        rc = bm_manifest_read_front_of(file, &b, &bytes, &ignored);
    if (!rc)
        rc = bm_manifest_decode_front(&w->manifest, b.data, b.size,
                                      step->ds->id, name, &ignored);
    for (size_t i = 0; !rc && i < bm_manifest_writings(&w->manifest); i++) {
        const struct bm_manifest *m = bm_manifest_writing(&w->manifest, i);

        if (k < m->sheet_count &&
            m->sheets[k].bytes == step->manifest.sheets[k].bytes &&
            !memcmp(m->sheets[k].hash, step->manifest.sheets[k].hash, 16))
            *offset = m->sheets[k].offset;
    }
    bm_buffer_release(&b);
    bm_writing_free(w);
    return rc;
}

/* Look for the sheet in an open manifest. */
static int find_sheet(struct bouma_step *step, size_t k, struct bm_store *store,
                      const char *name, struct place *at,
                      struct bm_error *error)
{
    const struct bm_sheet *sheet = &step->manifest.sheets[k];
    const struct bouma_step *whole = bm_step_whole(step);
    uint8_t front[BM_ENVELOPE_BYTES];
    char which[1300];
    uint64_t bytes;
    int rc = bm_file_size(&at->file, &bytes, error);

    bm_sheet_name(which, sizeof(which), &step->manifest, k, at->full);
    at->offset = sheet->offset;
    if (!rc && bytes >= sizeof(front))
        rc = bm_file_read(&at->file, front, sizeof(front), 0, error);
    if (!rc && bytes >= sizeof(front))
        memcpy(at->front, front + 48, 16);
    if (!rc && memcmp(at->front, whole->front_hash, 16)) {
        at->offset = 0;
        rc = find_again(step, k, &at->file, name, &at->offset);
        if (!at->offset)
            rc = bm_step_is_current(step, store, error);
        if (!rc && !at->offset)
            rc = bm_fail(error, BOUMA_EFORMAT,
                         "%s: is not there any more; open the step again",
                         which);
    }
    if (!rc && (at->offset > bytes || sheet->bytes > bytes - at->offset))
        rc = bm_fail(error, BOUMA_EFORMAT,
                     "%s: is cut off; what is in other files can still be read",
                     which);
    if (!rc && sheet->bytes > store->memory_limit)
        rc = bm_fail(error, BOUMA_ELIMIT,
                     "%s: has %" PRIu64 " bytes, more than the option "
                     "'memory_limit' allows",
                     which, sheet->bytes);
    return rc;
}

/* Load the sheet from one store. 'front' is that of the manifest it was looked
 * for in. */
static int load_once(struct bouma_step *step, size_t k, struct bm_store *store,
                     const char *name, uint8_t front[16],
                     struct bm_error *error)
{
    const bouma_allocator *a = step->ds->a;
    size_t bytes = (size_t)step->manifest.sheets[k].bytes;
    struct bm_error ignored = {0};
    struct place at = {.front = {0}};
    uint8_t *raw = NULL;
    int rc;

    snprintf(at.full, sizeof(at.full), "%s/%s", store->path, name);
    rc = bm_file_open(&at.file, store, name, BOUMA_OPEN_MODE_READ, error);
    if (rc == BOUMA_ENOTFOUND) {
        bm_error_clear(error);
        rc = bm_step_is_current(step, store, error);
    }
    if (rc)
        return rc;
    rc = find_sheet(step, k, store, name, &at, error);
    if (!rc) {
        raw = bm_new_raw(a, bytes, 1);
        rc = raw ? bm_file_read(&at.file, raw, bytes, at.offset, error)
                 : bm_fail(error, BOUMA_ENOMEM, "%s: no memory for a sheet",
                           at.full);
    }
    if (!rc)
        rc = bm_manifest_take_sheet(&step->manifest, k, raw, bytes, at.full,
                                    error);
    bm_drop(a, raw);
    bm_file_close(&at.file, &ignored); /* only read from */
    memcpy(front, at.front, 16);
    return rc;
}

/* Whether the manifest is another one by now. */
static int has_changed(struct bm_store *store, const char *name,
                       const uint8_t front[16])
{
    struct bm_error ignored = {0};
    uint8_t now[BM_ENVELOPE_BYTES];
    struct bm_file f;
    int rc = bm_file_open(&f, store, name, BOUMA_OPEN_MODE_READ, &ignored);

    if (rc)
        return 0;
    rc = bm_file_read(&f, now, sizeof(now), 0, &ignored);
    bm_file_close(&f, &ignored);
    return !rc && memcmp(now + 48, front, 16);
}

/* What seems damaged may be of two manifests, if one was replaced just now and
 * the store does not keep the one that was opened: then a second look decides.
 */
static int load_from(struct bouma_step *step, size_t k, struct bm_store *store,
                     struct bm_error *error)
{
    uint8_t front[16] = {0};
    char name[BM_NAME_BYTES];
    int rc;

    bm_name_manifest(name, bm_step_whole(step)->opened);
    rc = load_once(step, k, store, name, front, error);
    if (rc == BOUMA_EFORMAT && has_changed(store, name, front)) {
        bm_error_clear(error);
        rc = load_once(step, k, store, name, front, error);
    }
    return rc;
}

int bm_step_load_sheet(struct bouma_step *step, size_t k,
                       struct bm_error *error)
{
    struct bm_error why = {0};
    struct bm_store *stores[2];
    int count = bm_dataset_stores(step->ds, stores), rc = BOUMA_EFORMAT;

    if (step->manifest.sheets[k].records)
        return BOUMA_OK;
    for (int i = 0; i < count && rc; i++) {
        bm_error_clear(&why);
        rc = load_from(step, k, stores[i], &why);
    }
    return rc ? bm_fail(error, rc, "%s", why.text) : BOUMA_OK;
}

/* The sheet, and the envelope that tells whether the manifest is still the same.
 */
uint64_t bm_step_sheet_cost(const struct bouma_step *step, size_t k)
{
    const struct bm_sheet *sheet = &step->manifest.sheets[k];

    return sheet->records ? 0 : BM_ENVELOPE_BYTES + sheet->bytes;
}

uint64_t bm_step_sheet_rest(const struct bouma_step *step, size_t k)
{
    const struct bm_subfile_info *sum = &step->manifest.sheets[k].sum;
    uint64_t rest = sum->file_bytes;

    for (size_t i = 0; i < sum->count; i++)
        for (int level = 0; level < BM_MAX_LEVELS; level++) {
            uint64_t data = sum->parts[i].level_bytes[level];

            rest -= data < rest ? data : rest;
        }
    return rest;
}

int bm_step_load_record(struct bouma_step *step, size_t file,
                        struct bm_error *error)
{
    uint32_t files = step->manifest.sheet_files;

    return files ? bm_step_load_sheet(step, file / files, error) : BOUMA_OK;
}

int bm_step_load_file(struct bouma_step *step, size_t i)
{
    size_t k = 0, number;

    bm_manifest_with_file(&step->manifest, i, &number);
    while (k < step->manifest.earlier_count &&
           i >= bm_manifest_files(bm_manifest_writing(&step->manifest, k)))
        k++;
    return bm_step_load_record(bm_step_writing(step, k), number,
                               &step->ds->error);
}

/* ---- files of a variable ---------------------------------------------------- */

/* Go past a sheet that has nothing of interest, or may not be loaded: 1; else
 * load it. */
static int pass_sheet(struct bm_file_walk *w, size_t k, int *passed)
{
    const struct bm_manifest *m = &w->step->manifest;
    const struct bm_sheet *sheet = &m->sheets[k];
    const struct bm_part_info *sum =
        bm_subfile_info_part(&sheet->sum, w->variable);
    size_t files = sum ? sheet->part_files[sum - sheet->sum.parts] : 0;

    *passed = !sum ||
              (w->wants && !w->wants(w->context, sum, w->seen, files)) ||
              (w->may_load && !w->may_load(w->context, k, sum));
    if (!*passed)
        return bm_step_load_sheet(w->step, k, &w->step->ds->error);
    w->seen += files;
    w->next += bm_sheet_records(m, k);
    return BOUMA_OK;
}

int bm_file_walk_next(struct bm_file_walk *w)
{
    const struct bm_manifest *m = &w->step->manifest;
    int rc = BOUMA_OK, passed = 0;

    w->part = NULL;
    while (w->next < m->count && !w->part && !rc) {
        if (m->sheet_files && w->next % m->sheet_files == 0) {
            rc = pass_sheet(w, w->next / m->sheet_files, &passed);
            if (rc || passed)
                continue;
        }
        w->file = w->next++;
        w->part =
            bm_subfile_info_part(bm_manifest_record(m, w->file), w->variable);
        w->number = w->seen;
        w->seen += w->part != NULL;
    }
    return rc;
}

/* ---- files of a set of particles --------------------------------------------- */

int bm_step_load_set_file(struct bouma_step *step, const struct bm_file_tree *t,
                          size_t f)
{
    return t->sheet_count
               ? bm_step_load_sheet(step, bm_file_tree_sheet_of(t, f)->sheet,
                                    &step->ds->error)
               : BOUMA_OK;
}

int bm_step_load_set(struct bouma_step *step, const struct bm_file_tree *t,
                     const struct bm_file_tree_query *query,
                     struct bm_look *look)
{
    int rc = BOUMA_OK;

    for (size_t i = 0; i < t->sheet_count && !rc; i++) {
        size_t k = t->sheets[i].sheet;

        if (!bm_file_tree_sheet_matches(t, i, query))
            continue;
        if (look && !bm_look_may(look, bm_step_sheet_cost(step, k)))
            look->over = 1;
        else
            rc = bm_step_load_sheet(step, k, &step->ds->error);
    }
    return rc;
}
