/* dataset_found.c -- what there is in a dataset: its steps, its attributes, and
 * notes about what is odd. Rank 0 looks for it, and tells the others. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/plain_text.h"
#include "dataset/dataset_found.h"
#include "store/truncations.h"

/* ---- notes ---------------------------------------------------------------- */

static int add_note(struct bm_found *found, const bouma_allocator *a,
                    const char *text)
{
    char *copy = bm_copy_text(a, text), **grown = NULL;

    if (copy)
        grown =
            bm_grow(a, found->notes, (size_t)found->note_count, sizeof(*grown));
    if (!grown) {
        bm_drop(a, copy);
        return BOUMA_ENOMEM;
    }
    found->notes = grown;
    found->notes[found->note_count++] = copy;
    return BOUMA_OK;
}

int bm_dataset_add_note(struct bouma_dataset *ds, const char *format, ...)
{
    char text[512];
    va_list args;

    va_start(args, format);
    bm_format_list(text, sizeof(text), format, args);
    va_end(args);
    return add_note(&ds->found, ds->a, text);
}

static int note_text(void *context, const char *text)
{
    return bm_dataset_add_note(context, "%s", text);
}

void bm_found_clear_notes(struct bm_found *found, const bouma_allocator *a)
{
    for (int i = 0; i < found->note_count; i++)
        bm_drop(a, found->notes[i]);
    found->note_count = 0;
}

/* ---- what rank 0 finds, as a message to the others ---------------------- */

static void encode_found(struct bm_buffer *b, const struct bm_found *found)
{
    bm_put_u64(b, found->steps.count);
    for (size_t i = 0; i < found->steps.count; i++)
        bm_put_step_entry(b, &found->steps.entries[i]);
    bm_put_u64(b, (uint64_t)found->note_count);
    for (int i = 0; i < found->note_count; i++)
        bm_put_text(b, found->notes[i]);
    bm_attributes_encode(b, &found->attributes);
}

static int decode_found(struct bm_found *found, const bouma_allocator *a,
                        struct bm_cursor *c)
{
    size_t count = bm_get_count(c, BM_STEP_ENTRY_BYTES);
    int rc;

    found->steps.count = 0;
    rc = bm_step_list_reserve(&found->steps, count);
    for (size_t i = 0; i < count && !rc; i++)
        rc = bm_step_list_put(&found->steps, bm_get_step_entry(c));
    count = bm_get_count(c, 2);
    bm_found_clear_notes(found, a);
    for (size_t i = 0; i < count && !rc; i++) {
        int no_memory = 0;
        char *text = bm_get_text(c, a, &no_memory);

        rc = text ? add_note(found, a, text) : BOUMA_ENOMEM;
        bm_drop(a, text);
    }
    bm_attributes_clear(&found->attributes);
    if (!rc)
        rc = bm_attributes_decode(&found->attributes, c);
    found->listed = found->described = 1;
    return rc;
}

static void encode(struct bm_buffer *b, const struct bouma_dataset *ds)
{
    bm_put_bytes(b, ds->id, 16);
    bm_put_u32(b, (uint32_t)ds->version.major);
    bm_put_u32(b, (uint32_t)ds->version.minor);
    bm_put_u32(b, ds->claim.epoch);
    encode_found(b, &ds->found);
}

static int decode(struct bouma_dataset *ds, const struct bm_buffer *b)
{
    struct bm_cursor c = bm_cursor_of(b->data, b->size);
    const uint8_t *id = bm_get_bytes(&c, 16);

    if (id)
        memcpy(ds->id, id, 16);
    ds->version.major = (int)bm_get_u32(&c);
    ds->version.minor = (int)bm_get_u32(&c);
    ds->claim.epoch = bm_get_u32(&c);
    return decode_found(&ds->found, ds->a, &c);
}

int bm_dataset_share_found(struct bouma_dataset *ds, int rc)
{
    struct bm_buffer b;

    bm_buffer_init(&b, ds->a);
    if (ds->comm->rank == 0 && ds->comm->size > 1 && !rc)
        encode(&b, ds);
    rc = bm_comm_share(ds->comm, &b, 0, rc, &ds->error);
    if (!rc && ds->comm->rank != 0 && decode(ds, &b))
        rc = bm_fail(&ds->error, BOUMA_ENOMEM, "%s: no memory for its steps",
                     ds->store.path);
    bm_buffer_release(&b);
    return bm_comm_agree(ds->comm, rc, &ds->error);
}

/* ---- rank 0 ------------------------------------------------------------- */

/* A reader's, whose second store is a local copy: steps that it should not
 * have. */
static int load_dropped(struct bouma_dataset *ds, struct bm_truncations *t)
{
    struct bm_error why = {0};
    int rc = ds->mode == BM_MODE_READ
                 ? bm_truncations_load(&ds->store, ds->id, t, &why)
                 : BOUMA_OK;

    if (rc && rc != BOUMA_ENOMEM)
        rc = bm_dataset_add_note(ds,
                                 "%s; so steps that were dropped on "
                                 "purpose may be listed, as %s has them",
                                 why.text, ds->second.path);
    return rc;
}

/* Add what only the second store has, or has in a later writing. Those that the
 * second one lacks are 'missing' there. */
static int add_second(struct bouma_dataset *ds, struct bm_step_list *found,
                      uint64_t *missing)
{
    struct bm_truncations dropped;
    struct bm_step_list other;
    struct bm_step_search search = {
        .store = &ds->second, .id = ds->id, .found = &other};
    size_t at = 0, count;
    int rc;

    *missing = 0;
    bm_step_list_init(&other, ds->a);
    bm_truncations_init(&dropped, ds->a);
    rc = load_dropped(ds, &dropped);
    if (!rc)
        rc = bm_steps_find(&search, &ds->error);
    for (size_t i = 0; i < found->count && !rc; i++)
        *missing += !bm_step_list_next(&other, &at, found->entries[i].step);
    at = 0;
    count = found->count;
    for (size_t i = 0; i < other.count && !rc; i++) {
        const struct bm_step_list old = {.entries = found->entries,
                                         .count = count};
        const struct bm_step_entry *e =
            bm_step_list_next(&old, &at, other.entries[i].step);

        /* Of those of one step the one that is added last stays. */
        if ((!e || bm_generation_is_later(other.entries[i].generation,
                                          e->generation)) &&
            !bm_truncations_has(&dropped, other.entries[i].step,
                                other.entries[i].generation) &&
            bm_step_list_add(found, other.entries[i]))
            rc = BOUMA_ENOMEM;
    }
    if (!rc)
        rc = bm_step_list_sort(found);
    if (rc == BOUMA_ENOMEM)
        bm_fail(&ds->error, rc, "%s: no memory", ds->second.path);
    bm_truncations_release(&dropped);
    bm_step_list_release(&other);
    return rc;
}

int bm_dataset_find_steps(struct bouma_dataset *ds)
{
    struct bm_step_list found;
    int append = ds->mode == BM_MODE_APPEND, rc;
    struct bm_step_search search = {.store = &ds->store,
                                    .id = ds->id,
                                    .found = &found,
                                    .how =
                                        append ? BM_FIND_SYNC : BM_FIND_PLAIN,
                                    .note = append ? note_text : NULL,
                                    .context = ds};
    uint64_t missing = 0;

    bm_step_list_init(&found, ds->a);
    rc = bm_steps_find(&search, &ds->error);
    /* An index that says the same may be the work of a writer that was killed
     * before its name was durable. The one before it would come back, which
     * knows steps that this one does not, and we are about to write. */
    if (!rc && append)
        rc = search.stale ? bm_steps_write_index(&ds->store, ds->id, &found,
                                                 note_text, ds, &ds->error)
                          : bm_store_sync_dir(&ds->store, "", &ds->error);
    if (!rc && append)
        rc = bm_commit_load_losses(ds);
    if (!rc && ds->second.root)
        rc = add_second(ds, &found, &missing);
    if (!rc && append && missing &&
        bm_dataset_add_note(ds,
                            "%" PRIu64 " step%s in %s only; `bouma drain` "
                            "copies what is missing to %s",
                            missing, missing == 1 ? " is" : "s are",
                            ds->store.path, ds->second.path))
        rc = bm_fail(&ds->error, BOUMA_ENOMEM, "%s: no memory", ds->store.path);
    if (rc) {
        bm_step_list_release(&found);
        return rc;
    }
    found.changes += ds->found.steps.changes + 1;
    bm_step_list_release(&ds->found.steps);
    ds->found.steps = found;
    ds->found.listed = 1;
    return BOUMA_OK;
}

int bm_dataset_stores(struct bouma_dataset *ds, struct bm_store *stores[2])
{
    int reads = ds->mode == BM_MODE_READ;

    stores[0] = ds->second.root && reads ? &ds->second : &ds->store;
    stores[1] = reads ? &ds->store : &ds->second;
    return ds->second.root ? 2 : 1;
}

/* Whether a store has a later writing of a step than 'entry'. */
static int has_later(struct bouma_dataset *ds, struct bm_store *s,
                     const char *name, const struct bm_step_entry *entry)
{
    struct bm_error ignored = {0};
    struct bm_step_entry other;
    struct bm_buffer b;
    uint64_t bytes;
    int later;

    bm_buffer_init(&b, ds->a);
    later = !bm_manifest_read_front(s, name, &b, &bytes, &ignored) &&
            !bm_manifest_peek(&other, &b, ds->id, name, &ignored) &&
            bm_generation_is_later(other.generation, entry->generation);
    bm_buffer_release(&b);
    return later;
}

int bm_dataset_manifest(struct bouma_dataset *ds, uint64_t step,
                        struct bm_buffer *out, uint64_t *bytes,
                        struct bm_store **store, struct bm_error *error)
{
    const struct bm_step_entry *listed =
        bm_step_list_find(&ds->found.steps, step);
    struct bm_error why = {0};
    struct bm_step_entry entry;
    struct bm_store *stores[2];
    char name[BM_NAME_BYTES];
    int count = bm_dataset_stores(ds, stores);

    bm_name_manifest(name, step);
    *store = stores[0];
    if (count > 1) {
        /* The manifest of the local copy is as good as the other if it is not older. */
        if (!bm_manifest_read_front(stores[0], name, out, bytes, &why) &&
            !bm_manifest_peek(&entry, out, ds->id, name, &why) &&
            !(listed
                  ? bm_generation_is_later(listed->generation, entry.generation)
                  : has_later(ds, stores[1], name, &entry)))
            return BOUMA_OK;
        bm_buffer_clear(out);
        *store = stores[1];
    }
    return bm_manifest_read_front(*store, name, out, bytes, error);
}

/* The dataset's attributes are those of its newest step. A manifest that
 * cannot be read does not keep a dataset from being opened. */
int bm_dataset_find_attributes(struct bouma_dataset *ds)
{
    struct bm_error why = {0};
    struct bm_store *store = &ds->store;
    struct bm_schema schema;
    struct bm_manifest m;
    struct bm_buffer b;
    uint64_t newest, bytes;
    int rc = BOUMA_OK;

    bm_attributes_clear(&ds->found.attributes);
    if (!ds->found.steps.count) {
        ds->found.described = 1; /* who asks again keeps what was set */
        return BOUMA_OK;
    }
    newest = ds->found.steps.entries[ds->found.steps.count - 1].step;
    bm_schema_init(&schema, ds->a, &why);
    bm_manifest_init(&m, ds->a, &schema, &why);
    bm_buffer_init(&b, ds->a);
    if (ds->second.root)
        rc = bm_dataset_manifest(ds, newest, &b, &bytes, &store, &why);
    bm_buffer_release(&b);
    if (!rc)
        rc = bm_manifest_load_front(&m, store, newest, NULL, ds->id, &why);
    if (!rc) {
        struct bouma_attributes swap = ds->found.attributes;

        ds->found.attributes = m.dataset_attributes;
        ds->found.attributes.error = &ds->error;
        m.dataset_attributes = swap;
    } else if (rc == BOUMA_ENOMEM) {
        bm_fail(&ds->error, rc, "%s", why.text);
    } else {
        rc = bm_dataset_add_note(ds, "%s", why.text);
    }
    bm_manifest_release(&m);
    bm_schema_release(&schema);
    ds->found.described |= !rc;
    return rc;
}

int bm_dataset_list(struct bouma_dataset *ds)
{
    return ds->found.listed ? BOUMA_OK : bm_dataset_find_steps(ds);
}

int bm_dataset_describe(struct bouma_dataset *ds)
{
    int rc;

    if (ds->found.described)
        return BOUMA_OK;
    rc = bm_dataset_list(ds);
    if (!rc)
        rc = bm_dataset_find_attributes(ds);
    ds->found.attributes.fixed = ds->mode == BM_MODE_READ;
    return rc;
}

int bm_dataset_refresh(struct bouma_dataset *ds)
{
    int rc = bm_comm_begin(ds->comm, "refresh", 0, NULL, BOUMA_OK, &ds->error);

    if (rc)
        return rc;
    if (ds->comm->rank == 0) {
        bm_found_clear_notes(&ds->found, ds->a);
        rc = bm_dataset_find_steps(ds);
        if (!rc && ds->mode == BM_MODE_READ)
            rc = bm_dataset_find_attributes(ds);
    }
    rc = bm_dataset_share_found(ds, rc);
    ds->found.attributes.fixed = ds->mode == BM_MODE_READ;
    return rc;
}
