/* subfile.c -- see subfile.h. */
#include "write/subfile.h"

#include <inttypes.h>
#include <string.h>

#include "layout/front.h"
#include "store/step_dir.h"

/* Chunks by variable, with their keys: a file's chunks are on the order of the
 * step, so those of one variable come by ascending key. */
static int make_table(struct bm_subfile *f, const bouma_allocator *a,
                      const struct bm_write_plan *plan, const uint32_t *chunk,
                      uint32_t variables)
{
    size_t *count = bm_new(a, variables, sizeof(*count));
    int rc = count ? BOUMA_OK : BOUMA_ENOMEM;

    for (size_t t = 0; t < f->chunks && !rc; t++)
        count[bm_plan_chunk(plan, chunk[t]).variable->id]++;
    for (size_t i = 0; i < plan->grid_count && !rc; i++)
        for (size_t j = 0; j < plan->grids[i].count && !rc; j++) {
            struct bouma_variable *v = plan->grids[i].variables[j];

            if (count[v->id])
                rc = bm_head_add_section(&f->head, v, count[v->id]);
            count[v->id] = 0;
        }
    for (size_t t = 0; t < f->chunks && !rc; t++) {
        struct bm_chunk c = bm_plan_chunk(plan, chunk[t]);
        struct bm_section *s = bm_head_section(&f->head, c.variable->id);

        f->slots[t].section = (uint32_t)(s - f->head.sections);
        f->slots[t].index = (uint32_t)count[c.variable->id]++;
        s->keys[f->slots[t].index] = c.key;
    }
    bm_drop(a, count);
    return rc;
}

void bm_subfile_init(struct bm_subfile *f, const struct bouma_dataset *ds,
                     const struct bm_step_entry *entry, uint32_t number,
                     uint32_t subfiles)
{
    memset(f, 0, sizeof(*f));
    bm_head_init(&f->head, ds->a);
    f->head.step = entry->step;
    f->head.time = entry->time;
    f->head.subfile = number;
    f->head.subfiles = subfiles;
    f->head.generation = entry->generation;
    f->head.base = ds->given.base; /* the step has not ended */
    f->head.order = ds->options.order;
}

int bm_subfile_make(struct bm_subfile *f, struct bouma_dataset *ds,
                    const struct bm_write_plan *plan,
                    const struct bm_assignment *files, size_t file)
{
    uint32_t number = f->head.subfile;
    char name[BM_NAME_BYTES];
    int rc;

    f->assigned = file;
    f->chunks = files->first[file + 1] - files->first[file];
    f->slots = bm_new_raw(ds->a, f->chunks, sizeof(*f->slots));
    f->losses = bm_new(ds->a, f->chunks, sizeof(*f->losses));
    rc = f->slots && f->losses
             ? make_table(f, ds->a, plan, files->chunk + files->first[file],
                          ds->schema.variables)
             : BOUMA_ENOMEM;
    if (rc)
        return bm_fail(&ds->error, rc,
                       "no memory for the table of subfile %" PRIu32, number);
    bm_name_subfile(name, f->head.step, number, f->head.generation);
    return bm_step_dir_create(&f->file, &ds->store, name, &ds->error);
}

void bm_subfile_release(struct bm_subfile *f)
{
    struct bm_error ignored = {0};

    if (f->file.store)
        bm_file_close(&f->file, &ignored);
    if (f->head.a) {
        bm_drop(f->head.a, f->slots);
        bm_drop(f->head.a, f->losses);
        bm_drop(f->head.a, f->rooms);
    }
    if (f->front.a) {
        bm_buffer_release(&f->front);
        bm_buffer_release(&f->foreign);
    }
    bm_head_release(&f->head);
}

void bm_subfile_enter(struct bm_subfile *f, size_t t, const uint8_t *record,
                      int sizes)
{
    struct bm_section *s = &f->head.sections[f->slots[t].section];
    size_t index = f->slots[t].index;
    size_t components = (size_t)s->variable->components;
    uint64_t values[BM_MAX_LEVELS];
    uint64_t samples = bm_section_values(s, index, values);

    for (int k = 0; k < s->levels; k++, record += 8) {
        size_t at = index * (size_t)s->levels + (size_t)k;

        if (sizes)
            s->sizes[at] = bm_load_u32(record);
        s->hashes[at] = bm_load_u32(record + 4);
    }
    for (size_t j = 0; j < components; j++, record += 24) {
        struct bm_range *range = &s->ranges[index * components + j];

        range->low.u = bm_load_u64(record);
        range->high.u = bm_load_u64(record + 8);
        range->nans = bm_load_u64(record + 16);
        range->count = samples - range->nans;
    }
    memcpy(&f->losses[t].largest, record, 8);
    memcpy(&f->losses[t].squares, record + 8, 8);
}

/* In the order of chunks, so that the sums are the same however they came. */
static void join_losses(struct bm_subfile *f)
{
    for (size_t t = 0; t < f->chunks; t++)
        bm_loss_join(&f->head.sections[f->slots[t].section].loss,
                     &f->losses[t]);
}

void bm_subfile_assume_sizes(struct bm_subfile *f)
{
    for (size_t i = 0; i < f->head.count; i++) {
        struct bm_section *s = &f->head.sections[i];

        for (size_t n = 0; n < s->count; n++) {
            uint64_t values[BM_MAX_LEVELS];

            bm_section_values(s, n, values);
            for (int k = 0; k < s->levels; k++)
                s->sizes[n * (size_t)s->levels + (size_t)k] =
                    (uint32_t)(values[k] *
                               bm_variable_sample_size(s->variable));
        }
    }
}

int bm_subfile_arrange(struct bm_subfile *f, struct bouma_dataset *ds)
{
    int rc = bm_head_arrange(&f->head, &ds->schema);

    if (rc)
        return bm_fail(&ds->error, rc,
                       "no memory for the head of subfile %" PRIu32,
                       f->head.subfile);
    return bm_file_reserve(&f->file, f->head.file_bytes, &ds->error);
}

/* ---- files with stored offsets ------------------------------------------ */

uint64_t bm_subfile_levels(const struct bm_subfile *f, uint64_t *bytes)
{
    uint64_t sum = 0;

    memset(bytes, 0, BM_MAX_LEVELS * sizeof(*bytes));
    for (size_t i = 0; i < f->head.count; i++) {
        const struct bm_section *s = &f->head.sections[i];

        for (size_t n = 0; n < s->count * (size_t)s->levels; n++) {
            bytes[n % (size_t)s->levels] += s->sizes[n];
            sum += s->sizes[n];
        }
    }
    return sum;
}

/* Where data can begin so that the head fits in front of them, however its
 * chunks come out. No codec makes twice of what it gets, so the bound on the
 * data is generous; it only counts by its logarithm. */
static int leave_head_room(struct bm_subfile *f, const struct bm_schema *schema,
                           uint64_t samples, uint64_t expected)
{
    uint64_t most = 8 * samples + 2 * expected + ((uint64_t)f->chunks << 16);
    uint64_t bound;

    if (most > BM_MAX_DATA_BYTES)
        most = BM_MAX_DATA_BYTES;
    if (bm_head_bound(&bound, &f->head, schema, most))
        return BOUMA_ENOMEM;
    f->head.data_offset =
        (bound + BM_DATA_ALIGNMENT - 1) / BM_DATA_ALIGNMENT * BM_DATA_ALIGNMENT;
    return BOUMA_OK;
}

int bm_subfile_make_rooms(struct bm_subfile *f, struct bouma_dataset *ds,
                          uint64_t expected, const uint64_t *share)
{
    uint64_t of_samples[BM_MAX_LEVELS], samples, sum = 0, at;

    f->head.has_offsets = 1;
    bm_subfile_assume_sizes(f);
    samples = bm_subfile_levels(f, of_samples);
    f->rooms = bm_new(ds->a, BM_MAX_LEVELS, sizeof(*f->rooms));
    if (!f->rooms || leave_head_room(f, &ds->schema, samples, expected))
        return bm_fail(&ds->error, BOUMA_ENOMEM,
                       "no memory for the head of subfile %" PRIu32,
                       f->head.subfile);
    share = share ? share : of_samples;
    for (int k = 0; k < BM_MAX_LEVELS; k++)
        sum += share[k];
    at = f->head.data_offset;
    for (int k = BM_MAX_LEVELS - 1; k > 0; k--) {
        f->rooms[k].at = at;
        /* A tenth more, as levels vary. */
        if (share[k] && f->head.order == BOUMA_ORDER_LEVEL)
            at += (uint64_t)(1.1 * (double)expected * (double)share[k] /
                             (double)sum);
        f->rooms[k].end = at;
    }
    f->rooms[0] = (struct bm_room){at, UINT64_MAX};
    return BOUMA_OK;
}

int bm_subfile_reserve(struct bm_subfile *f, size_t t, int k)
{
    const struct bm_section *s = &f->head.sections[f->slots[t].section];
    size_t at = (size_t)f->slots[t].index * (size_t)s->levels + (size_t)k;
    int room = s->sizes[at] <= f->rooms[k].end - f->rooms[k].at ? k : 0;

    s->offsets[at] = f->rooms[room].at;
    f->rooms[room].at += s->sizes[at];
    return room;
}

int bm_subfile_finish_head(struct bm_subfile *f, struct bouma_dataset *ds)
{
    int rc;

    f->head.data_bytes = f->rooms[0].at - f->head.data_offset;
    rc = bm_head_arrange(&f->head, &ds->schema);
    if (rc == BOUMA_ENOMEM)
        bm_fail(&ds->error, rc, "no memory for the head of subfile %" PRIu32,
                f->head.subfile);
    else if (rc)
        bm_fail(&ds->error, rc,
                "subfile %" PRIu32 ": the head does not fit in front of the "
                "data; write the step with the option 'predict' off",
                f->head.subfile);
    return rc;
}

/* ---- writing ------------------------------------------------------------ */

uint64_t bm_subfile_chunk_bytes(const struct bm_subfile *f, size_t t)
{
    const struct bm_section *s = &f->head.sections[f->slots[t].section];
    size_t row = (size_t)f->slots[t].index * (size_t)s->levels;
    uint64_t bytes = 0;

    for (int k = 0; k < s->levels; k++)
        bytes += s->sizes[row + (size_t)k];
    return bytes;
}

int bm_subfile_write(struct bm_subfile *f, struct bm_file_batch *batch,
                     size_t t, uint64_t from, const uint8_t *data,
                     uint64_t bytes, struct bm_error *error)
{
    const struct bm_section *s = &f->head.sections[f->slots[t].section];
    size_t row = (size_t)f->slots[t].index * (size_t)s->levels;
    int rc = BOUMA_OK;

    for (int k = s->levels - 1; k >= 0 && bytes && !rc;) {
        uint64_t at = s->offsets[row + (size_t)k], run = 0, n;

        /* Levels that lie side by side go in one call. */
        do
            run += s->sizes[row + (size_t)k--];
        while (k >= 0 && s->offsets[row + (size_t)k] == at + run);
        if (from >= run) {
            from -= run;
            continue;
        }
        n = run - from < bytes ? run - from : bytes;
        rc = bm_file_batch_add(batch, &f->file, data, (size_t)n, at + from,
                               error);
        data += n;
        bytes -= n;
        from = 0;
    }
    return rc;
}

int bm_subfile_seal(struct bm_subfile *f, struct bouma_dataset *ds,
                    uint8_t hash[16])
{
    struct bm_buffer *b = &f->front;
    size_t gap = f->head.data_offset - f->head.head_offset - f->head.head_bytes;
    uint8_t *zeros;

    join_losses(f);
    bm_buffer_init(b, ds->a);
    bm_head_encode(b, &f->head, &ds->schema, ds->id, hash);
    zeros = bm_buffer_extend(b, gap);
    if (zeros)
        memset(zeros, 0, gap);
    bm_buffer_init(&f->foreign, ds->a);
    bm_front_make(&f->foreign, &f->head);
    return b->failed || f->foreign.failed
               ? bm_fail(&ds->error, BOUMA_ENOMEM,
                         "no memory for the head of subfile %" PRIu32,
                         f->head.subfile)
               : BOUMA_OK;
}

int bm_subfile_finish(struct bm_subfile *f, int sync, int hold,
                      struct bm_error *error)
{
    uint64_t data_end = f->head.data_offset + f->head.data_bytes;
    int rc = bm_file_write(&f->file, f->front.data, f->head.head_bytes,
                           data_end, error);
    int closed;

    if (!rc && f->foreign.size)
        rc =
            bm_file_write(&f->file, f->foreign.data, f->foreign.size, 0, error);
    /* The first head comes last: see looks_whole() of steps.c. */
    if (!rc)
        rc = bm_file_write(&f->file, f->front.data, f->front.size,
                           f->head.head_offset, error);
    if (!rc && sync)
        rc = bm_file_sync(&f->file, error);
    if (!rc && hold)
        return rc;
    closed = bm_file_close(&f->file, error);
    return rc ? rc : closed;
}
