/* verify.c -- a whole dataset, the subfiles shared out over the ranks. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "check/check.h"
#include "dataset/local_copy.h"
#include "dataset/sweep.h"
#include "layout/grid_idx.h"
#include "layout/sheet.h"
#include "layout/writings.h"
#include "store/identity.h"

struct verify {
    struct bouma_dataset *ds;
    bouma_depth depth;
    struct bm_findings findings;
    struct bm_loss_list losses;  /* rank 0 */
    struct bm_loss_list records; /* of files; all ranks */
    struct bm_error index;       /* why that cannot be read; rank 0 */
    bouma_verify_report report;
    int has_idx;         /* a step has a grid with 'idx' */
    uint32_t last_epoch; /* rank 0 */
    int is_part;         /* of a local copy of several nodes */
    size_t subfile;      /* counted over all steps, to share out the work */
};

static int note(void *context, const char *text)
{
    struct verify *v = context;

    if (strcmp(text, v->index.text)) /* else it was told as unchecked */
        bm_findings_add(&v->findings, BOUMA_SEVERITY_NOTE, -1, "", "%s", text);
    return BOUMA_OK;
}

/* Losses, as far as they are known; those that only the index knows if that can
 * be read. */
static int look_for_losses(struct verify *v)
{
    struct bouma_dataset *ds = v->ds;
    struct bm_step_list cached;
    struct bm_error why = {0};
    size_t bad;
    int rc, has_index;

    bm_step_list_init(&cached, ds->a);
    rc = bm_index_load(&ds->store, ds->id, &cached, &bad, &why);
    bm_step_list_release(&cached);
    has_index = !rc && !v->is_part; /* else it tells of other nodes, too */
    if (rc && rc != BOUMA_ENOMEM) {
        bm_findings_add(&v->findings, bm_severity_of(rc), -1, BM_NAME_INDEX,
                        "%s; so steps that only it knows, as they are lost, "
                        "are not known",
                        why.text);
        v->index = why;
        bm_error_clear(&why);
        rc = BOUMA_OK;
    }
    if (!rc)
        rc =
            bm_losses_find_all(&ds->store, ds->id, &v->losses, has_index, &why);
    if (rc == BOUMA_ENOMEM)
        return bm_fail(&ds->error, rc, "%s", why.text);
    bm_losses_tell(&v->losses, &v->findings);
    bm_losses_tell_vague(&v->records, &ds->store, ds->id, &v->findings);
    if (rc)
        bm_findings_add(&v->findings, bm_severity_of(rc), -1, BM_NAME_LOST,
                        "%s", why.text);
    return BOUMA_OK;
}

/* Without the index, a step of which nothing is left can only be missed: the
 * steps of a writer count its attempts. */
static void look_for_gaps(struct verify *v, const struct bm_step_list *steps)
{
    for (size_t i = 0; i < steps->count; i++) {
        const struct bm_step_entry *e = &steps->entries[i];
        int same = i && e[-1].generation.epoch == e->generation.epoch;
        uint32_t before = same ? e[-1].generation.attempt : 0;

        if (!e->generation.epoch || e->generation.attempt <= before + 1)
            continue;
        bm_findings_add(&v->findings, BOUMA_SEVERITY_NOTE, (int64_t)e->step,
                        BM_NAME_INDEX,
                        "the writer of step %" PRIu64 " began %" PRIu32
                        " before it that %s not there: they failed, were "
                        "written again or dropped, or were lost together with "
                        "the index",
                        e->step, e->generation.attempt - before - 1,
                        e->generation.attempt - before == 2 ? "is" : "are");
    }
}

/* Rank 0: what lies around, and whether the index is right. */
static int look_around(struct verify *v)
{
    struct bouma_dataset *ds = v->ds;
    struct bm_step_list found;
    struct bm_step_search search = {.store = &ds->store,
                                    .id = ds->id,
                                    .found = &found,
                                    .how = BM_FIND_QUIET,
                                    .note = note,
                                    .context = v};
    struct bm_error why = {0};
    int rc = look_for_losses(v);

    if (!rc && bm_check_truncations(&ds->store, ds->id, &v->findings))
        rc = bm_fail(&ds->error, BOUMA_ENOMEM, "no memory to verify");
    if (rc)
        return rc;
    bm_check_kinds(&ds->store, &v->findings);
    rc = bm_epoch_last(&ds->store, &v->last_epoch, &why);
    if (rc)
        bm_findings_add(&v->findings, bm_severity_of(rc), -1, BM_NAME_EPOCHS,
                        "%s", why.text);
    bm_step_list_init(&found, ds->a);
    rc = bm_steps_find(&search, &ds->error);
    if (!rc && search.stale) {
        int missing = bm_store_is_absent(&ds->store, BM_NAME_INDEX);

        bm_findings_add(&v->findings, BOUMA_SEVERITY_NOTE, -1, BM_NAME_INDEX,
                        "the index %s; it is only a cache, `bouma repair` "
                        "rebuilds it",
                        missing ? "is missing, and steps that were lost with "
                                  "it are not known"
                                : "does not list the committed steps");
        if (missing)
            look_for_gaps(v, &found);
    }
    bm_step_list_release(&found);
    return rc;
}

/* Rank 0: what the manifest of a step tells, and what lies beside it. The index
 * has it 'listed'. */
static void look_at_manifest(struct verify *v, const struct bouma_step *step,
                             const struct bm_step_entry *listed,
                             const struct bm_lost_step *known)
{
    const struct bm_manifest *m = &step->manifest;
    const struct bm_step_entry is = {m->step, m->time, m->generation};
    const char *wrong = NULL;
    struct bm_findings *out = &v->findings;
    char name[BM_NAME_BYTES];
    uint64_t older;

    v->report.bytes += step->manifest_bytes;
    bm_name_manifest(name, m->step);
    for (size_t k = 0; k < bm_manifest_writings(m) && !wrong; k++)
        wrong = bm_manifest_check_record(bm_manifest_writing(m, k));
    if (wrong)
        bm_findings_add(out, BOUMA_SEVERITY_DAMAGE, (int64_t)m->step, name,
                        "its record does not fit its files: %s", wrong);
    if (!bm_step_entry_is_same(listed, &is))
        bm_findings_add(out, BOUMA_SEVERITY_NOTE, (int64_t)m->step,
                        BM_NAME_INDEX,
                        "the index tells of another version of this step; "
                        "it is only a cache, `bouma repair` rebuilds it");
    bm_tell_attributes(known, m, out);
    older = bm_sweep_count(&v->ds->store, m);
    bm_name_step(name, m->step);
    if (older)
        bm_findings_add(out, BOUMA_SEVERITY_NOTE, (int64_t)m->step, name,
                        "%" PRIu64 " file%s left of an earlier writing of "
                        "this step, or of another step; `bouma repair "
                        "--apply` clears up",
                        older, older == 1 ? " is" : "s are");
}

/* One sheet. Ranks that cannot load it do not look at its files: the first of
 * them reports that. BOUMA_OK, ENOMEM or ECOMM. Collective. */
static int load_sheet(struct verify *v, struct bouma_step *writing, size_t k)
{
    struct bouma_dataset *ds = v->ds;
    struct bm_error why = {0};
    int rc = bm_step_load_sheet(writing, k, &why);
    uint64_t own = 0, first; /* the lower a rank, the larger */
    char name[BM_NAME_BYTES];

    if (rc && rc != BOUMA_ENOMEM)
        own = (uint64_t)(ds->comm->size - ds->comm->rank);
    first = own;
    if (bm_comm_max(ds->comm, &first, 1, &ds->error))
        return BOUMA_ECOMM;
    bm_name_manifest(name, writing->manifest.step);
    if (own && own == first)
        bm_findings_add(&v->findings, bm_severity_of(rc),
                        (int64_t)writing->manifest.step, name,
                        "%s; its files cannot be read, others can", why.text);
    return rc == BOUMA_ENOMEM ? rc : BOUMA_OK;
}

/* This rank's share of some subfiles of a step. */
static int look_at_some(struct verify *v, struct bouma_step *step, size_t first,
                        size_t count, struct bm_check *how)
{
    const struct bm_comm *comm = v->ds->comm;
    int rc = BOUMA_OK;

    for (size_t i = first; i < first + count && !rc; i++)
        if (v->subfile++ % (size_t)comm->size == (size_t)comm->rank &&
            bm_manifest_has_file(&step->manifest, i))
            rc = bm_check_subfile(step, i, how, &v->findings, &v->report);
    return rc;
}

/* Those of a writing; if its manifest has sheets, of one after the other, which
 * is dropped then. Ranks that fail still load them. Collective. */
static int look_at_writing(struct verify *v, struct bouma_step *step, size_t w,
                           struct bm_check *how, int rc)
{
    struct bouma_step *one = bm_step_writing(step, w);
    struct bm_manifest *m = &one->manifest;

    if (!m->sheet_files)
        return rc ? rc : look_at_some(v, step, m->first, m->count, how);
    for (size_t k = 0; k < m->sheet_count; k++) {
        int loaded = load_sheet(v, one, k);

        rc = rc ? rc : loaded;
        if (!rc)
            rc = look_at_some(v, step, m->first + k * m->sheet_files,
                              bm_sheet_records(m, k), how);
        bm_manifest_drop_sheet(m, k);
    }
    return rc;
}

/* This rank's share of the subfiles of a step. Collective. */
static int look_at_subfiles(struct verify *v, struct bouma_step *step,
                            const struct bm_lost_step *known)
{
    struct bm_check how = {
        .depth = v->depth, .is_part = v->is_part, .known = known};
    int rc = BOUMA_OK;

    for (size_t w = 0; w < bm_manifest_writings(&step->manifest); w++)
        rc = look_at_writing(v, step, w, &how, rc);
    bm_tell_elsewhere(how.elsewhere, &step->manifest, &v->findings);
    return rc;
}

/* Damage that was found since 'before', or what could not be checked, is none if
 * a writer was at work: the step is another one now. */
static void take_back(struct verify *v, struct bouma_step *step,
                      const struct bm_findings *before)
{
    uint64_t number = step->manifest.step;
    struct bm_error meanwhile = {0};
    char name[BM_NAME_BYTES];

    if ((v->findings.damages == before->damages &&
         v->findings.unchecked == before->unchecked) ||
        !bm_step_is_current(step, &v->ds->store, &meanwhile))
        return;
    bm_name_step(name, number);
    bm_findings_return(&v->findings, before);
    bm_findings_add(&v->findings, BOUMA_SEVERITY_NOTE, (int64_t)number, name,
                    "%s", meanwhile.text);
}

/* Rank 0: whether a step whose manifest is gone was dropped meanwhile. Who does
 * that has the index forget it first; a step that is lost stays in there. */
static int was_dropped(struct verify *v, const char *manifest, uint64_t number)
{
    struct bm_store *s = &v->ds->store;
    const struct bm_step_entry *known;
    struct bm_error ignored = {0};
    struct bm_step_list index;
    size_t bad;
    int is_dropped;

    if (!bm_store_is_absent(s, manifest) ||
        bm_store_is_absent(s, BM_NAME_INDEX))
        return 0;
    bm_step_list_init(&index, v->ds->a);
    is_dropped = !bm_index_load(s, v->ds->id, &index, &bad, &ignored) && !bad;
    known = bm_step_list_find(&index, number);
    is_dropped &= !known || !known->generation.epoch;
    bm_step_list_release(&index);
    return is_dropped;
}

/* Rank 0: a step that could not be opened, as 'rc' and ds->error tell. */
static void note_closed(struct verify *v, uint64_t number, int rc)
{
    char name[BM_NAME_BYTES];

    bm_name_manifest(name, number);
    if (bm_is_damage(rc) && was_dropped(v, name, number))
        bm_findings_add(&v->findings, BOUMA_SEVERITY_NOTE, (int64_t)number,
                        name, "step %" PRIu64 " was removed meanwhile", number);
    else
        bm_findings_add(&v->findings, bm_severity_of(rc), (int64_t)number, name,
                        "%s", v->ds->error.text);
}

/* Open a step. What seems damaged may just have been on its way to be written
 * again: so a second look decides. Collective. */
static int open_step(struct verify *v, struct bouma_step **step,
                     uint64_t number)
{
    int rc;

    bm_error_clear(&v->ds->error);
    rc = bm_step_open(step, v->ds, number);
    if (!bm_is_damage(rc))
        return rc;
    bm_error_clear(&v->ds->error);
    return bm_step_open(step, v->ds, number);
}

/* One step. Rank 0 reports what is wrong with its manifest. Collective. */
static int verify_step(struct verify *v, uint64_t number)
{
    struct bouma_dataset *ds = v->ds;
    /* A copy: opening the step corrects it. */
    struct bm_step_entry listed = *bm_step_list_find(&ds->found.steps, number);
    const struct bm_lost_step *known = bm_losses_find(&v->records, number);
    struct bm_findings before = v->findings;
    struct bouma_step *step;
    int rc = open_step(v, &step, number);

    if (rc == BOUMA_ENOMEM || rc == BOUMA_ECOMM)
        return rc;
    if (ds->comm->rank == 0) {
        v->report.steps++;
        v->report.files++;
    }
    if (rc) {
        if (ds->comm->rank == 0)
            note_closed(v, number, rc);
        bm_error_clear(&ds->error);
        return BOUMA_OK;
    }
    v->has_idx |= bm_schema_has_idx(step->manifest.schema);
    if (ds->comm->rank == 0)
        look_at_manifest(v, step, &listed, known);
    rc = look_at_subfiles(v, step, known);
    if (!rc)
        take_back(v, step, &before);
    bm_step_free(step);
    if (rc)
        bm_fail(&ds->error, rc, "no memory to verify");
    return bm_comm_agree(ds->comm, rc, &ds->error);
}

/* Bring findings and counts of all ranks together. Collective. */
static int bring_together(struct verify *v, struct bm_buffer *all, int rc)
{
    struct bouma_dataset *ds = v->ds;
    size_t *sizes = bm_new(ds->a, (size_t)ds->comm->size, sizeof(*sizes));
    struct bm_buffer mine, counts;
    struct bm_cursor c;

    bm_buffer_init(&mine, ds->a);
    bm_buffer_init(&counts, ds->a);
    bm_put_u64(&mine, v->report.steps);
    bm_put_u64(&mine, v->report.files);
    bm_put_u64(&mine, v->report.chunks);
    bm_put_u64(&mine, v->report.bytes);
    bm_put_u64(&mine, v->findings.notes);
    bm_put_u64(&mine, v->findings.damages);
    bm_put_u64(&mine, v->findings.unchecked);
    if (!sizes && !rc)
        rc = bm_fail(&ds->error, BOUMA_ENOMEM, "no memory to verify");
    rc = bm_comm_collect(ds->comm, &v->findings.bytes, all, sizes, rc,
                         &ds->error);
    if (!rc)
        rc = bm_comm_collect(ds->comm, &mine, &counts, sizes, rc, &ds->error);
    memset(&v->report, 0, sizeof(v->report));
    c = bm_cursor_of(counts.data, counts.size);
    for (int r = 0; r < ds->comm->size && !rc; r++) {
        v->report.steps += bm_get_u64(&c);
        v->report.files += bm_get_u64(&c);
        v->report.chunks += bm_get_u64(&c);
        v->report.bytes += bm_get_u64(&c);
        v->report.notes += bm_get_u64(&c);
        v->report.damages += bm_get_u64(&c);
        v->report.unchecked += bm_get_u64(&c);
    }
    bm_buffer_release(&mine);
    bm_buffer_release(&counts);
    bm_drop(ds->a, sizes);
    return rc;
}

/* A dataset that cannot be listed, as ds->error tells: its own file is damaged,
 * and nothing else can be trusted; or steps/ is missing, and all is lost. */
static int look_from_outside(struct verify *v)
{
    struct bouma_dataset *ds = v->ds;
    struct bm_error why = {0};
    int major, minor, rc;

    if (ds->comm->rank)
        return BOUMA_OK;
    rc = bm_identity_load(&ds->store, ds->id, &major, &minor, &why);
    bm_findings_add(&v->findings, BOUMA_SEVERITY_DAMAGE, -1,
                    rc ? BM_NAME_DATASET : BM_NAME_STEPS, "%s", ds->error.text);
    return rc ? BOUMA_OK : look_for_losses(v);
}

/* Rank 0: ESTATE if the dataset has made way for another one, or is about to:
 * what was found is not true any more. */
static int check_identity(struct verify *v)
{
    struct bouma_dataset *ds = v->ds;
    struct bm_error ignored = {0};
    int major, minor, rc;
    uint8_t id[16];

    rc = bm_identity_load(&ds->store, id, &major, &minor, &ignored);
    if (rc ? rc != BOUMA_ENOTFOUND ||
                 bm_store_is_absent(&ds->store, BM_NAME_CLOBBERED)
           : !memcmp(id, ds->id, 16))
        return BOUMA_OK;
    return bm_fail(&ds->error, BOUMA_ESTATE,
                   "%s: was replaced by another dataset while it was "
                   "verified; verify that",
                   ds->store.path);
}

/* All that there is to look at. Collective. */
static int look_at_all(struct verify *v)
{
    struct bouma_dataset *ds = v->ds;
    struct bm_error why = {0};
    int rc = BOUMA_OK;

    v->is_part = bm_local_copy_is_marked(&ds->store, BM_NAME_PART, ds->id);
    /* A rank that cannot read them takes what is known for news. */
    if (bm_losses_load(&ds->store, ds->id, &v->records, &why) == BOUMA_ENOMEM)
        rc = bm_fail(&ds->error, BOUMA_ENOMEM, "%s", why.text);
    if (ds->comm->rank == 0 && !rc)
        rc = look_around(v);
    rc = bm_comm_agree(ds->comm, rc, &ds->error);
    for (size_t i = 0; i < ds->found.steps.count && !rc; i++) {
        rc = verify_step(v, ds->found.steps.entries[i].step);
        if (ds->options.progress && ds->comm->rank == 0)
            ds->options.progress(ds->options.progress_user, "verifying", i + 1,
                                 ds->found.steps.count);
    }
    if (!rc && ds->comm->rank == 0)
        rc = check_identity(v);
    if (!rc && ds->comm->rank == 0 &&
        bm_check_idx(ds, v->has_idx, v->last_epoch, &v->findings))
        rc = bm_fail(&ds->error, BOUMA_ENOMEM, "no memory to verify");
    return rc;
}

/* The trace ends; one that cannot be written is a finding, but none of the
 * dataset. Collective. */
static void end_trace(struct verify *v, struct bm_request *q)
{
    struct bouma_dataset *ds = v->ds;
    int known = ds->found.note_count;

    bm_dataset_end_trace(ds);
    if (ds->found.note_count > known && q->each) {
        bouma_finding f = {sizeof(f), BOUMA_SEVERITY_NOTE, -1, "",
                           ds->found.notes[known]};

        q->each(q->user, &f);
    }
    v->report.notes += ds->found.note_count > known;
}

int bm_verify(struct bm_comm *comm, struct bm_request *q, bouma_depth depth,
              bouma_verify_report *report)
{
    const bouma_allocator *a = comm->a;
    struct bouma_dataset *ds = NULL;
    struct verify v = {.depth = depth};
    struct bm_options here = q->options;
    struct bm_buffer all;
    int rc;

    here.local[0] = 0; /* this store is checked, and not its local copy */
    rc = bm_dataset_open(&ds, comm, BM_MODE_READ, q->path, &here, a);
    bm_findings_init(&v.findings, a);
    bm_losses_init(&v.losses, a);
    bm_losses_init(&v.records, a);
    bm_buffer_init(&all, a);
    v.ds = ds;
    if (!rc)
        rc = bm_dataset_list(ds);
    if (!rc || rc == BOUMA_EFORMAT) {
        rc = rc ? look_from_outside(&v) : look_at_all(&v);
        rc = bring_together(&v, &all, rc);
    }
    if (!rc) {
        bm_findings_each(&all, a, q->each, q->user);
        if (ds->opened)
            end_trace(&v, q);
        *report = v.report;
    } else {
        bm_fail(&q->error, rc, "%s",
                ds ? ds->error.text : bouma_status_text(BOUMA_ENOMEM));
    }
    bm_buffer_release(&all);
    bm_findings_release(&v.findings);
    bm_losses_release(&v.losses);
    bm_losses_release(&v.records);
    bm_dataset_free(ds);
    return rc;
}
