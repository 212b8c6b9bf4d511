/* hunt.c -- particles by box, ranges of values and quality.
 *
 * The tree over the files says which can have any, the tree of a file which
 * runs of places. Chunks that these runs meet are read at the levels that are
 * wanted: first the columns that are compared, then the others, and of these
 * only pieces that have a match. */
#include <string.h>

#include "base/gather.h"
#include "read/hunt.h"

/* What is read at once: enough for long reads, little enough for caches. */
#define BATCH_BYTES  ((uint64_t)1 << 19)
#define BATCH_CHUNKS 16

int bm_search_no_memory(struct bm_search *s)
{
    return bm_fail(&s->step->ds->error, BOUMA_ENOMEM,
                   "no memory to look for particles");
}

/* ---- which runs --------------------------------------------------------- */

/* All places that are asked for; there are some. */
static int take_all(struct bm_search *s, uint64_t from, uint64_t to)
{
    s->runs = bm_new(s->step->ds->a, 1, sizeof(*s->runs));
    if (!s->runs)
        return bm_search_no_memory(s);
    s->runs[0] = (struct bm_run){(uint32_t)from, (uint32_t)to, 1};
    s->run_count = 1;
    return BOUMA_OK;
}

/* Particles that are in no tree, of the places from 'from' up to 'to': they can
 * match unless there is a box. */
static int add_strays(struct bm_search *s, uint64_t from, uint64_t to)
{
    uint64_t begin = s->cloud->count - s->cloud->strays;
    struct bm_run *grown;

    begin = begin > from ? begin : from;
    if (begin >= to || s->hunt->query.boxed)
        return BOUMA_OK;
    grown =
        bm_resize(s->step->ds->a, s->runs, s->run_count + 1, sizeof(*grown));
    if (!grown)
        return bm_search_no_memory(s);
    s->runs = grown;
    grown[s->run_count++] = (struct bm_run){(uint32_t)begin, (uint32_t)to, 0};
    return BOUMA_OK;
}

static int find_runs(struct bm_search *s, size_t cloud, uint64_t from,
                     uint64_t to)
{
    const struct bm_tree *tree;
    int rc;

    bm_drop(s->step->ds->a, s->runs);
    s->runs = NULL;
    s->run_count = s->next_run = 0;
    if (from >= to)
        return BOUMA_OK;
    if (!s->test_count)
        return take_all(s, from, to);
    rc = bm_step_tree(s->step, s->source, cloud, &tree);
    if (rc)
        return rc;
    for (size_t i = 0; i < s->tree.rows; i++)
        s->wanted[i] = bm_bins_select(&tree->bins[s->tree.row[i]], s->least[i],
                                      s->most[i]);
    s->tree.wanted = s->wanted;
    s->tree.begin = (uint32_t)from;
    s->tree.end = (uint32_t)to;
    if (bm_tree_select(tree, &s->tree, &s->runs, &s->run_count))
        return bm_search_no_memory(s);
    return add_strays(s, from, to);
}

/* ---- one batch ---------------------------------------------------------- */

/* Whether a level has any of the ranks that are wanted; and all of them. */
static int level_wanted(const struct bm_search *s, int k)
{
    const struct bm_detail *d = &bm_bat_of(s->set)->detail;

    return d->limit[k] > s->t_from && d->limit[k + 1] < s->t_to;
}

int bm_search_level_whole(const struct bm_search *s, int k)
{
    const struct bm_detail *d = &bm_bat_of(s->set)->detail;

    return d->limit[k + 1] >= s->t_from && d->limit[k] <= s->t_to;
}

/* Enter the pieces of a chunk; gives their stored bytes, of all columns. */
static int add_chunk(struct bm_search *s, size_t chunk, uint64_t *bytes)
{
    const bouma_allocator *a = s->step->ds->a;
    uint64_t values[BM_MAX_LEVELS];
    uint64_t drawn =
        s->hunt->draw ? bm_search_draw_levels(s, chunk) : UINT64_MAX;

    bm_cloud_values(s->set, s->cloud->count, s->cloud->seed, chunk, values);
    for (int k = s->set->levels - 1; k >= 0; k--) {
        if (!level_wanted(s, k) || !values[k])
            continue;
        if (!(drawn >> k & 1)) {
            s->done += values[k];
            continue;
        }
        if (s->piece_count == s->piece_room) {
            size_t room = s->piece_room * 2 + 64;
            struct bm_hunt_piece *grown =
                bm_resize(a, s->pieces, room, sizeof(*grown));

            if (!grown)
                return bm_search_no_memory(s);
            s->pieces = grown;
            s->piece_room = room;
        }
        s->pieces[s->piece_count++] = (struct bm_hunt_piece){
            .chunk = chunk, .level = k, .count = (uint32_t)values[k]};
        for (int i = 0; i < s->column_count; i++)
            *bytes +=
                s->columns[i]
                    .section->sizes[chunk * (size_t)s->set->levels + (size_t)k];
    }
    return BOUMA_OK;
}

/* Read some columns of those pieces that have a match. */
static int read_columns(struct bm_search *s, int first, int last, int raw)
{
    size_t n = 0;
    int rc;

    for (size_t p = 0; p < s->piece_count; p++)
        for (int i = first; i < last && s->pieces[p].choice; i++) {
            const struct bm_section *section = s->columns[i].section;
            size_t at = s->pieces[p].chunk * (size_t)section->levels +
                        (size_t)s->pieces[p].level;

            s->extents[n++] = (struct bm_extent){section->offsets[at],
                                                 section->sizes[at],
                                                 (uint32_t)p,
                                                 s->pieces[p].level,
                                                 i,
                                                 NULL,
                                                 0};
        }
    rc = s->hunt->shelf
             ? bm_extents_fetch(s->step, s->source, s->extents, n,
                                s->hunt->shelf)
             : bm_extents_read(s->step, s->source, s->extents, n, &s->raw[raw]);
    for (size_t i = 0; i < n && !rc; i++) {
        const struct bm_extent *e = &s->extents[i];
        const struct bm_hunt_piece *p = &s->pieces[e->chunk];

        p->data[e->column] = e->data;
        p->bytes[e->column] = e->bytes;
        rc = bm_extent_check(s->step, s->source, s->columns[e->column].section,
                             p->chunk, e, &s->step->ds->error);
    }
    return rc;
}

/* Where the values of a piece go: if they are kept for other hunts, and are
 * there already, *done is set. NULL if there is no memory. */
static void *room_for_values(struct bm_search *s, const struct bm_hunt_piece *p,
                             int column, uint64_t offset, int *done)
{
    struct bm_hunt_column *c = &s->columns[column];
    size_t bytes = (size_t)p->count * bm_variable_sample_size(c->variable);
    uint64_t end = offset + p->bytes[column];
    const uint8_t *kept;

    *done = 0;
    if (!s->hunt->values || end == offset)
        return bm_block_grow(s->step->ds->a, &c->values, bytes)
                   ? NULL
                   : c->values.data;
    kept = bm_shelf_find(s->hunt->values, offset, end);
    *done = kept != NULL;
    return kept ? (void *)kept
                : bm_shelf_add(s->hunt->values, offset, end, bytes);
}

int bm_search_decode(struct bm_search *s, const struct bm_hunt_piece *p,
                     int column, const uint8_t **out)
{
    struct bm_hunt_column *c = &s->columns[column];
    const struct bouma_variable *v = c->variable;
    const uint8_t *stored = p->data[column];
    struct bm_extent e = {
        .offset = c->section->offsets[p->chunk * (size_t)c->section->levels +
                                      (size_t)p->level],
        .bytes = p->bytes[column],
        .level = p->level};
    struct bm_trace *trace = s->step->ds->tracing.trace;
    double begun = bm_trace_now(trace);
    void *room;
    int rc, done;

    if (bm_codec_find((int)v->codec)->sized &&
        __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ &&
        !((uintptr_t)stored % bm_variable_value_size(v))) {
        *out = stored;
        return BOUMA_OK;
    }
    *out = room = room_for_values(s, p, column, e.offset, &done);
    if (!room)
        return bm_search_no_memory(s);
    if (done)
        return BOUMA_OK;
    rc = bm_values_decode(&s->codec, room, v, p->count, stored,
                          p->bytes[column]);
    if (trace)
        bm_trace_add(trace, "chunk", "decode values", begun,
                     &(struct bm_trace_args){.bytes = p->bytes[column],
                                             .counted = "chunk",
                                             .number = p->chunk});
    if (rc == BOUMA_EFORMAT)
        return bm_extent_damaged(s->step, s->source, c->section, p->chunk, &e,
                                 "the data cannot be decoded",
                                 &s->step->ds->error);
    return rc ? bm_search_no_memory(s) : BOUMA_OK;
}

/* ---- delivery ----------------------------------------------------------- */

/* Those of a column's values that match. */
static int pick_column(struct bm_search *s, const struct bm_hunt_piece *p,
                       int column, const uint8_t **values)
{
    struct bm_hunt_column *c = &s->columns[column];
    size_t size = bm_variable_value_size(c->variable);

    if (p->choice == UINT32_MAX)
        return BOUMA_OK;
    if (bm_block_grow(s->step->ds->a, &c->picked,
                      (size_t)p->choice * bm_variable_sample_size(c->variable)))
        return bm_search_no_memory(s);
    for (int k = 0; k < c->variable->components; k++)
        bm_gather_near((uint8_t *)c->picked.data + (size_t)k * p->choice * size,
                       *values + (size_t)k * p->count * size,
                       s->choices + p->chosen, p->choice, size);
    *values = c->picked.data;
    return BOUMA_OK;
}

static int deliver(struct bm_search *s, const struct bm_hunt_piece *p)
{
    bouma_batch batch = {p->choice == UINT32_MAX ? p->count : p->choice,
                         s->out};
    int rc = BOUMA_OK;

    if (!batch.count)
        return BOUMA_OK;
    for (int i = 0; i < s->column_count && !rc; i++) {
        const uint8_t *values;

        if (s->columns[i].out < 0)
            continue;
        rc = bm_search_decode(s, p, i, &values);
        if (!rc)
            rc = pick_column(s, p, i, &values);
        if (!rc)
            s->out[s->columns[i].out] = values;
    }
    if (rc)
        return rc;
    if (s->hunt->draw)
        s->hunt->draw->keys = s->keys + p->chosen;
    s->step->busy = 1;
    rc = s->hunt->each(s->hunt->context, &batch);
    s->step->busy = 0;
    if (rc) /* where a call that it made has failed, that is the reason */
        return bm_fail(&s->step->ds->error, BOUMA_EABORTED,
                       "the caller ended the query");
    bm_error_clear(&s->step->ds->error);
    return BOUMA_OK;
}

static int make_room(struct bm_search *s)
{
    const bouma_allocator *a = s->step->ds->a;
    size_t columns = (size_t)s->column_count, n = s->piece_count * columns;

    bm_drop(a, s->extents);
    bm_drop(a, (void *)s->data);
    bm_drop(a, s->bytes);
    s->extents = bm_new_raw(a, n, sizeof(*s->extents));
    s->data = bm_new(a, n, sizeof(*s->data));
    s->bytes = bm_new(a, n, sizeof(*s->bytes));
    if (!s->extents || !s->data || !s->bytes)
        return bm_search_no_memory(s);
    for (size_t p = 0; p < s->piece_count; p++) {
        s->pieces[p].data = s->data + p * columns;
        s->pieces[p].bytes = s->bytes + p * columns;
        s->pieces[p].choice = UINT32_MAX;
    }
    s->choice_count = 0;
    return BOUMA_OK;
}

static void tell_progress(struct bm_search *s)
{
    const bouma_options *o = &s->step->ds->options;

    for (size_t p = 0; p < s->piece_count; p++)
        s->done += s->pieces[p].count;
    if (o->progress && s->step->ds->comm->rank == 0)
        o->progress(o->progress_user, "reading",
                    s->done < s->total ? s->done : s->total, s->total);
}

static int run_batch(struct bm_search *s)
{
    int rc = make_room(s);

    if (!rc && !s->hunt->each) {
        rc = read_columns(s, 0, s->column_count, 0);
    } else if (!rc) {
        if (s->tested_count)
            rc = read_columns(s, 0, s->tested_count, 0);
        for (size_t p = 0; p < s->piece_count && !rc; p++)
            rc = bm_search_choose(s, &s->pieces[p]);
        if (!rc)
            rc = read_columns(s, s->tested_count, s->column_count, 1);
        for (size_t p = 0; p < s->piece_count && !rc; p++)
            rc = deliver(s, &s->pieces[p]);
    }
    tell_progress(s);
    s->piece_count = 0;
    return rc;
}

/* ---- files -------------------------------------------------------------- */

/* The next chunk from 'chunk' on that a run meets; the number of chunks if
 * there is none. */
static size_t next_chunk(struct bm_search *s, size_t chunk)
{
    uint32_t size = bm_bat_of(s->set)->detail.chunk;

    while (s->next_run < s->run_count &&
           s->runs[s->next_run].end <= (uint64_t)chunk * size)
        s->next_run++;
    if (s->next_run == s->run_count)
        return (size_t)bm_cloud_chunks(s->set, s->cloud->count);
    return s->runs[s->next_run].begin / size > chunk
               ? s->runs[s->next_run].begin / size
               : chunk;
}

static int hunt_file(struct bm_search *s, size_t subfile, uint64_t from,
                     uint64_t to)
{
    struct bm_source *source;
    uint64_t bytes = 0;
    size_t chunks, place = 0, batch = 0;
    int rc = bm_step_source(s->step, subfile, &source);

    if (rc)
        return rc;
    s->source = subfile;
    s->ordered = SIZE_MAX;
    while (place < source->head.summaries.count &&
           source->head.summaries.entries[place]->object != s->set)
        place++;
    s->cloud = place < source->head.summaries.count
                   ? bm_cloud_of(source->head.summaries.entries[place])
                   : NULL;
    if (s->hunt->draw)
        bm_search_draw_file(s);
    for (int i = 0; i < s->column_count; i++)
        s->columns[i].section =
            bm_head_section(&source->head, s->columns[i].variable->id);
    for (int i = 0; i < s->column_count; i++)
        if (!s->cloud || !s->columns[i].section)
            return bm_fail(&s->step->ds->error, BOUMA_EFORMAT,
                           "subfile %zu has not the particles that the "
                           "manifest says",
                           subfile);
    chunks = (size_t)bm_cloud_chunks(s->set, s->cloud->count);
    rc = find_runs(s, place, from, to < s->cloud->count ? to : s->cloud->count);
    for (size_t c = next_chunk(s, 0); c < chunks && !rc;
         c = next_chunk(s, c + 1)) {
        rc = add_chunk(s, c, &bytes);
        batch++;
        if (!rc && bytes >= BATCH_BYTES && batch >= BATCH_CHUNKS) {
            rc = run_batch(s);
            bytes = batch = 0;
        }
    }
    return rc ? rc : run_batch(s);
}

/* The files that can have what is looked for. */
static size_t select_files(struct bm_search *s, const struct bm_top *top,
                           size_t *files)
{
    struct bm_top_query q = {.boxed = s->tree.boxed && s->hunt->query.boxed,
                             .closed = 7,
                             .row = s->tree.row,
                             .least = s->least,
                             .most = s->most,
                             .rows = s->tree.rows};

    memcpy(q.low, s->tree.low, sizeof(q.low));
    memcpy(q.high, s->tree.high, sizeof(q.high));
    return bm_top_select(top, &q, files);
}

int bm_hunt(const struct bm_hunt *hunt)
{
    struct bm_search s = {.hunt = hunt, .step = hunt->step, .set = hunt->set};
    const struct bm_top *top = bm_manifest_top(&hunt->step->manifest, s.set);
    const bouma_allocator *a = hunt->step->ds->a;
    size_t *files = NULL, count = hunt->file_count;
    int rc;

    bm_codec_state_init(&s.codec, a);
    rc = bm_search_init(&s);
    if (!rc && !hunt->files) {
        files = bm_new(a, top->files, sizeof(*files));
        if (!files)
            rc = bm_search_no_memory(&s);
        else
            count = s.never ? 0 : select_files(&s, top, files);
    }
    for (size_t i = 0; i < count && !rc; i++)
        s.total += top->clouds[hunt->files ? hunt->files[i] : files[i]]->count;
    s.total = (uint64_t)((double)s.total * (s.t_to - s.t_from) /
                         bm_bat_of(s.set)->detail.chunk);
    for (size_t i = 0; i < count && !rc && !s.never; i++)
        rc = hunt_file(&s,
                       top->subfiles[hunt->files ? hunt->files[i] : files[i]],
                       hunt->from ? hunt->from[i] : 0,
                       hunt->to ? hunt->to[i] : UINT64_MAX);
    bm_drop(a, files);
    bm_search_release(&s);
    return rc;
}
