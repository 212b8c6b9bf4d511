/* extension.c -- see extension.h. */
#include "write/extension.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "dataset/local_copy.h"
#include "dataset/lost.h"
#include "layout/grid_idx.h"
#include "layout/sheet.h"
#include "layout/writings.h"
#include "store/truncations.h"

/* Where the step is, its manifest can be renamed; so not in a local copy, which
 * has an own one of what the target has. */
static int check_place(struct bouma_dataset *ds, uint64_t step)
{
    if (bm_local_copy_is_marked(&ds->store, BM_NAME_LOCAL, ds->id) ||
        bm_local_copy_is_marked(&ds->store, BM_NAME_PART, ds->id))
        return bm_fail(&ds->error, BOUMA_ESTATE,
                       "%s: is a local copy, whose steps cannot be extended; "
                       "drain it, then extend step %" PRIu64
                       " of the dataset itself",
                       ds->store.path, step);
    return BOUMA_OK;
}

/* Bytes that are on record as lost are so for a writing of the step; with a new
 * one nobody would know of them. */
static int check_losses(struct bouma_dataset *ds, uint64_t step)
{
    const struct bm_lost_step *lost;
    struct bm_error why = {0};
    struct bm_loss_list all;
    int rc;

    bm_losses_init(&all, ds->a);
    rc = bm_losses_load(&ds->store, ds->id, &all, &why);
    if (rc)
        bm_fail(&ds->error, rc, "%s", why.text);
    lost = rc ? NULL : bm_losses_find(&all, step);
    if (lost && !bm_loss_is_over(&ds->store, ds->id, lost))
        rc = bm_fail(&ds->error, BOUMA_ESTATE,
                     "%s: parts of step %" PRIu64 " are lost, which is on "
                     "record; nothing can be added to it (nor to one whose "
                     "manifest was made anew, without its attributes): write "
                     "it again with all that it has",
                     ds->store.path, step);
    bm_losses_release(&all);
    return rc;
}

/* A step that is on record as dropped may still be there, if whoever dropped it
 * was killed. Its files may go at any time. */
static int check_dropped(struct bouma_dataset *ds, const struct bm_manifest *m)
{
    struct bm_error why = {0};
    struct bm_truncations all;
    int dropped = 0, rc;

    bm_truncations_init(&all, ds->a);
    rc = bm_truncations_load(&ds->store, ds->id, &all, &why);
    for (size_t k = 0; k < bm_manifest_writings(m) && !rc && !dropped; k++)
        dropped = bm_truncations_has(&all, m->step,
                                     bm_manifest_writing(m, k)->generation);
    bm_truncations_release(&all);
    if (rc)
        return bm_fail(&ds->error, rc, "%s", why.text);
    return dropped ? bm_fail(&ds->error, BOUMA_ESTATE,
                             "%s: step %" PRIu64 " was deleted, and its files "
                             "are not all gone yet; delete it again",
                             ds->store.path, m->step)
                   : BOUMA_OK;
}

/* The writing that a manifest tells of, and all before it. No record of a file
 * is looked at, so sheets stay bytes, lent by 'manifest'. */
static int decode(struct bouma_dataset *ds, const struct bm_buffer *manifest,
                  const char *name, struct bm_writing **out)
{
    struct bm_writing *w = bm_writing_new(ds->a, &ds->error);
    int rc =
        w ? bm_manifest_decode_lent(&w->manifest, manifest->data,
                                    manifest->size, ds->id, name, &ds->error)
          : bm_fail(&ds->error, BOUMA_ENOMEM, "no memory for a manifest");

    if (rc)
        bm_writing_free(w);
    *out = rc ? NULL : w;
    return rc;
}

/* The same of the manifest that a step has. */
static int decode_stored(struct bouma_dataset *ds,
                         const struct bm_buffer *manifest, uint64_t step,
                         struct bm_writing **out)
{
    char name[BM_NAME_BYTES], full[1300];

    bm_name_manifest(name, step);
    snprintf(full, sizeof(full), "%s/%s", ds->store.path, name);
    return decode(ds, manifest, full, out);
}

/* The bytes of its manifest, with sheets or without. */
static int load(struct bouma_dataset *ds, uint64_t step, int sheets,
                struct bm_buffer *out)
{
    struct bm_error why = {0};
    char name[BM_NAME_BYTES];
    uint64_t bytes;
    int rc;

    bm_name_manifest(name, step);
    rc = sheets ? bm_store_load(&ds->store, name, out, ds->store.memory_limit,
                                &why)
                : bm_manifest_read_front(&ds->store, name, out, &bytes, &why);
    return rc == BOUMA_ENOTFOUND
               ? bm_fail(&ds->error, rc,
                         "%s: has no step %" PRIu64 " to add to",
                         ds->store.path, step)
           : rc ? bm_fail(&ds->error, rc, "%s", why.text)
                : BOUMA_OK;
}

int bm_extension_find(struct bouma_dataset *ds, uint64_t step,
                      struct bm_buffer *out)
{
    struct bm_writing *w = NULL;
    int rc = check_place(ds, step);

    if (!rc)
        rc = load(ds, step, 1, out);
    if (!rc)
        rc = decode_stored(ds, out, step, &w);
    if (!rc && w->manifest.step != step)
        rc = bm_fail(&ds->error, BOUMA_EFORMAT,
                     "%s: holds another step than %" PRIu64
                     "; `bouma repair --apply` puts it right",
                     ds->store.path, step);
    if (!rc && w->manifest.earlier_count == BM_MAX_EARLIER)
        rc = bm_fail(&ds->error, BOUMA_ELIMIT,
                     "step %" PRIu64 " was extended %d times, which is the "
                     "most; write it again with all that it has",
                     step, BM_MAX_EARLIER);
    if (!rc && bm_schema_has_idx(&w->schema))
        rc = bm_fail(&ds->error, BOUMA_EINVAL,
                     "step %" PRIu64 " has a grid with 'idx', so nothing can "
                     "be added to it",
                     step);
    if (!rc)
        rc = check_dropped(ds, &w->manifest);
    if (!rc)
        rc = check_losses(ds, step);
    if (!rc) /* the others add to what the front tells */
        out->size = (size_t)bm_manifest_sheets_begin(&w->manifest, out->size);
    bm_writing_free(w);
    return rc;
}

/* That is still the one of the base. */
static int compare(struct bouma_dataset *ds, const struct bm_step_entry *now,
                   uint64_t step, struct bm_generation base)
{
    return now->step == step && bm_generation_is_same(now->generation, base)
               ? BOUMA_OK
               : bm_fail(&ds->error, BOUMA_ESTATE,
                         "%s: step %" PRIu64 " was written again since its "
                         "extension began; nothing was added",
                         ds->store.path, step);
}

int bm_extension_check(struct bouma_dataset *ds, uint64_t step,
                       struct bm_generation base)
{
    struct bm_step_entry now = {0, 0, {0, 0}};
    struct bm_buffer b;
    int rc;

    bm_buffer_init(&b, ds->a);
    rc = load(ds, step, 0, &b);
    if (!rc)
        rc = bm_manifest_peek(&now, &b, ds->id, ds->store.path, &ds->error);
    if (!rc)
        rc = compare(ds, &now, step, base);
    bm_buffer_release(&b);
    return rc;
}

/* What is stored must come out as it was. */
static int check_bytes(struct bouma_dataset *ds, const struct bm_manifest *m,
                       const struct bm_buffer *stored)
{
    struct bm_buffer again;
    int rc;

    bm_buffer_init(&again, ds->a);
    bm_manifest_encode(&again, m, ds->id);
    rc = again.failed ? BOUMA_ENOMEM
         : again.size == stored->size &&
                 !memcmp(again.data, stored->data, again.size)
             ? BOUMA_OK
             : BOUMA_EVERSION;
    bm_buffer_release(&again);
    return rc ? bm_fail(&ds->error, rc,
                        rc == BOUMA_ENOMEM
                            ? "no memory for a manifest"
                            : "the manifest of step %" PRIu64 " is that of a "
                              "newer version, so nothing can be added",
                        m->step)
              : BOUMA_OK;
}

static int has_data(const struct bm_schema *schema)
{
    for (int i = 0; i < schema->count; i++)
        if (bm_object_has_data(schema->objects[i]))
            return 1;
    return 0;
}

/* Whether what is 'added' fits to all writings of a step. */
static int check_added(struct bouma_dataset *ds, const struct bm_manifest *m,
                       const struct bm_writing *added)
{
    int rc = BOUMA_OK;

    if (!has_data(&added->schema))
        return bm_fail(&ds->error, BOUMA_EINVAL,
                       "nothing is added to step %" PRIu64
                       ": no rank has put a variable",
                       m->step);
    for (size_t k = 0; k < bm_manifest_writings(m) && !rc; k++)
        rc = bm_writings_conflict(bm_manifest_writing(m, k), &added->manifest,
                                  &ds->error);
    return rc;
}

/* Behind all of the step, which is taken over. 'out' may lend what is added. */
static int append(struct bouma_dataset *ds, struct bm_writing *added,
                  struct bm_writing **step, struct bm_buffer *out)
{
    struct bm_buffer whole;
    struct bm_writing *before = *step;
    int rc = bm_writings_extend(&added->manifest, before);

    if (rc != BOUMA_ENOMEM)
        *step = NULL;
    if (rc)
        return bm_fail(&ds->error, rc == BOUMA_EFORMAT ? BOUMA_ELIMIT : rc,
                       rc == BOUMA_EFORMAT
                           ? "step %" PRIu64 " has too many files for more"
                           : "no memory for the manifest of step %" PRIu64,
                       added->manifest.step);
    bm_buffer_init(&whole, ds->a);
    bm_manifest_encode(&whole, &added->manifest, ds->id);
    if (whole.failed) {
        bm_buffer_release(&whole);
        return bm_fail(&ds->error, BOUMA_ENOMEM, "no memory for a manifest");
    }
    bm_buffer_release(out);
    *out = whole;
    return BOUMA_OK;
}

int bm_extension_join(struct bouma_dataset *ds, struct bm_generation base,
                      struct bm_buffer *manifest)
{
    struct bm_writing *added = NULL, *step = NULL;
    struct bm_buffer stored;
    int rc = decode(ds, manifest, ds->store.path, &added);

    bm_buffer_init(&stored, ds->a);
    if (!rc)
        rc = load(ds, added->manifest.step, 1, &stored);
    if (!rc)
        rc = decode_stored(ds, &stored, added->manifest.step, &step);
    if (!rc) {
        const struct bm_manifest *m = &step->manifest;
        struct bm_step_entry now = {m->step, m->time, m->generation};

        rc = compare(ds, &now, added->manifest.step, base);
    }
    if (!rc)
        rc = check_bytes(ds, &step->manifest, &stored);
    if (!rc)
        rc = check_added(ds, &step->manifest, added);
    if (!rc)
        rc = append(ds, added, &step, manifest);
    bm_buffer_release(&stored);
    bm_writing_free(step);
    bm_writing_free(added);
    return rc;
}
