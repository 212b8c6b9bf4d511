/* lost.c -- see lost.h. */
#include "dataset/lost.h"

#include "dataset/dataset.h"
#include "layout/writings.h"
#include "store/truncations.h"

int bm_step_peek(struct bm_store *s, uint64_t step, const uint8_t *id,
                 struct bm_step_entry *out)
{
    struct bm_error ignored = {0};
    char name[BM_NAME_BYTES];
    struct bm_buffer b;
    int found;

    bm_name_manifest(name, step);
    bm_buffer_init(&b, s->a);
    found = !bm_store_load(s, name, &b, s->memory_limit, &ignored) &&
            !bm_manifest_peek(out, &b, id, name, &ignored);
    bm_buffer_release(&b);
    return found;
}

/* Whether a file is still as short as the record says, as far as one can
 * tell. */
static int is_short(struct bm_store *s, const struct bm_manifest *m,
                    const struct bm_lost_file *lost)
{
    struct bm_error ignored = {0};
    char name[BM_NAME_BYTES];
    uint64_t bytes = 0;
    struct bm_file f;
    int rc;

    bm_manifest_file_name(name, m, lost->subfile);
    rc = bm_file_open(&f, s, name, BOUMA_OPEN_MODE_READ, &ignored);
    if (rc)
        return rc != BOUMA_ENOTFOUND || !lost->bytes;
    rc = bm_file_size(&f, &bytes, &ignored);
    bm_file_close(&f, &ignored);
    return rc || bytes <= lost->bytes;
}

/* Whether any of the files is. The manifest knows their names, as the step may
 * have been extended; what cannot be told is not over. */
static int any_is_short(struct bm_store *s, const uint8_t id[16],
                        const struct bm_lost_step *l)
{
    struct bm_error ignored = {0};
    struct bm_schema schema;
    struct bm_manifest m;
    int found;

    if (!l->count)
        return 0;
    bm_schema_init(&schema, s->a, &ignored);
    bm_manifest_init(&m, s->a, &schema, &ignored);
    found = bm_manifest_load_front(&m, s, l->entry.step, NULL, id, &ignored) !=
            BOUMA_OK;
    for (uint32_t i = 0; i < l->count && !found; i++)
        found = is_short(s, &m, &l->files[i]);
    bm_manifest_release(&m);
    bm_schema_release(&schema);
    return found;
}

/* Who dropped the step may have died before the record went. */
static int was_dropped(struct bm_store *s, const uint8_t id[16],
                       const struct bm_step_entry *entry)
{
    struct bm_error ignored = {0};
    struct bm_truncations t;
    int was;

    bm_truncations_init(&t, s->a);
    was = !bm_truncations_load(s, id, &t, &ignored) &&
          bm_truncations_has(&t, entry->step, entry->generation);
    bm_truncations_release(&t);
    return was;
}

int bm_loss_is_over(struct bm_store *s, const uint8_t id[16],
                    const struct bm_lost_step *l)
{
    struct bm_step_entry entry;
    int is_there, over;

    if (l->unreadable) /* it may be of parts of the step */
        return 0;
    is_there = bm_step_peek(s, l->entry.step, id, &entry) &&
               entry.step == l->entry.step;
    if (!is_there && was_dropped(s, id, &l->entry))
        return 1;
    /* A step that is there (again) is not lost as a whole. */
    if (bm_lost_step_is_whole(l))
        return is_there;
    /* What cannot be read says nothing. */
    if (is_there && !bm_step_entry_is_same(&entry, &l->entry))
        return 1;
    over = !l->piece_count; /* only repair looks at those again */
    return over && !any_is_short(s, id, l);
}

/* A step that is gone, into a list of which the first 'sorted' are in order. */
static int add_gone(struct bm_loss_list *list, size_t sorted,
                    const struct bm_step_entry *gone)
{
    struct bm_loss_list recorded = {list->a, list->steps, sorted, 0};
    struct bm_lost_step *known = bm_losses_find(&recorded, gone->step);

    if (!known)
        return bm_losses_append(list, gone) ? BOUMA_OK : BOUMA_ENOMEM;
    /* On record, but of an earlier writing, is not on record. */
    if (!bm_lost_step_is_whole(known) ||
        !bm_step_entry_is_same(&known->entry, gone)) {
        bm_lost_step_release(known, list->a);
        *known = (struct bm_lost_step){.entry = *gone};
    }
    return BOUMA_OK;
}

int bm_losses_find_all(struct bm_store *s, const uint8_t id[16],
                       struct bm_loss_list *list, int ask_index,
                       struct bm_error *error)
{
    struct bm_step_list gone;
    int rc = bm_losses_load(s, id, list, error);
    size_t n = 0;

    bm_step_list_init(&gone, s->a);
    for (size_t i = 0; i < list->count && !rc; i++)
        if (!bm_loss_is_over(s, id, &list->steps[i]))
            list->steps[n++] = list->steps[i];
        else
            bm_lost_step_release(&list->steps[i], s->a);
    if (rc) {
        bm_losses_release(list);
    } else {
        list->count = n;
        rc = ask_index ? bm_steps_gone(s, id, &gone, error) : BOUMA_OK;
    }
    for (size_t i = 0; i < gone.count && !rc; i++)
        if (add_gone(list, n, &gone.entries[i]))
            rc = bm_fail(error, BOUMA_ENOMEM, "%s: no memory for its losses",
                         s->path);
    bm_losses_sort(list);
    bm_step_list_release(&gone);
    return rc;
}
