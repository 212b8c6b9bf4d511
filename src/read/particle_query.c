/* particle_query.c -- particles by box, ranges of values and quality.
 *
 * The tree over the files says which can have any, the tree of a file which
 * runs of slots. Chunks that these runs meet are read at the levels that are
 * wanted: first the columns that are compared, then the others, and of these
 * only pieces that have a match. */
#include <string.h>

#include "layout/sheet.h"
#include "read/particle_query.h"

/* What is read at once: enough for long reads, little enough for caches. */
#define BATCH_BYTES  ((uint64_t)1 << 19)
#define BATCH_CHUNKS 16

int bm_query_no_memory(struct bm_error *error)
{
    return bm_fail(error, BOUMA_ENOMEM, "no memory to look for particles");
}

static int no_memory(struct bm_query_state *s)
{
    return bm_query_no_memory(&s->step->ds->error);
}

/* ---- which runs --------------------------------------------------------- */

/* All slots that are asked for; there are some. */
static int take_all(struct bm_query_state *s, uint64_t from, uint64_t to)
{
    struct bm_query_file *f = &s->file;

    f->runs = bm_new(s->step->ds->a, 1, sizeof(*f->runs));
    if (!f->runs)
        return no_memory(s);
    f->runs[0] = (struct bm_run){(uint32_t)from, (uint32_t)to, 1};
    f->run_count = 1;
    return BOUMA_OK;
}

/* Particles that are in no tree, of the slots from 'from' up to 'to': they can
 * match unless there is a box. */
static int add_strays(struct bm_query_state *s, uint64_t from, uint64_t to)
{
    struct bm_query_file *f = &s->file;
    uint64_t begin = f->summary->count - f->summary->strays;
    struct bm_run *grown;

    begin = begin > from ? begin : from;
    if (begin >= to || s->query->query.boxed)
        return BOUMA_OK;
    grown =
        bm_resize(s->step->ds->a, f->runs, f->run_count + 1, sizeof(*grown));
    if (!grown)
        return no_memory(s);
    f->runs = grown;
    grown[f->run_count++] = (struct bm_run){(uint32_t)begin, (uint32_t)to, 0};
    return BOUMA_OK;
}

static int find_runs(struct bm_query_state *s, size_t summary, uint64_t from,
                     uint64_t to)
{
    struct bm_query_question *q = &s->asked;
    struct bm_query_file *f = &s->file;
    const struct bm_tree *tree;
    int rc;

    bm_drop(s->step->ds->a, f->runs);
    f->runs = NULL;
    f->run_count = f->next_run = 0;
    if (from >= to)
        return BOUMA_OK;
    if (!q->test_count)
        return take_all(s, from, to);
    rc = bm_step_tree(s->step, f->source, summary, &tree);
    if (rc)
        return rc;
    bm_query_ask_tree(s, tree);
    q->trees->begin = (uint32_t)from;
    q->trees->end = (uint32_t)to;
    if (bm_tree_select(tree, q->trees, &f->runs, &f->run_count))
        return no_memory(s);
    return add_strays(s, from, to);
}

/* ---- one batch ---------------------------------------------------------- */

/* Whether a level has any of the ranks that are wanted; and all of them. */
static int level_wanted(const struct bm_query_state *s, int k)
{
    const struct bm_detail *d = &bm_bat_of(s->set)->detail;

    return d->limit[k] > s->asked.t_from && d->limit[k + 1] < s->asked.t_to;
}

int bm_query_level_whole(const struct bm_query_state *s, int k)
{
    const struct bm_detail *d = &bm_bat_of(s->set)->detail;

    return d->limit[k + 1] >= s->asked.t_from && d->limit[k] <= s->asked.t_to;
}

static void empty_batch(struct bm_query_state *s)
{
    s->batch.piece_count = s->batch.chunk_count = 0;
    s->batch.slots = 0;
}

/* One more; the first of its chunk or not. */
static int add_piece(struct bm_query_state *s,
                     const struct bm_query_piece *piece)
{
    const bouma_allocator *a = s->step->ds->a;
    struct bm_query_batch *b = &s->batch;
    struct bm_query_piece *pieces =
        bm_grow(a, b->pieces, b->piece_count, sizeof(*pieces));
    size_t *first;

    if (!pieces)
        return no_memory(s);
    b->pieces = pieces;
    if (!b->piece_count || pieces[b->piece_count - 1].chunk != piece->chunk) {
        first = bm_grow(a, b->first_piece, b->chunk_count, sizeof(*first));
        if (!first)
            return no_memory(s);
        b->first_piece = first;
        first[b->chunk_count++] = b->piece_count;
    }
    pieces[b->piece_count++] = *piece;
    b->slots += piece->count;
    return BOUMA_OK;
}

/* The levels of a chunk in which a slot of a run is, as bits; none if its ranges
 * tell that nothing matches. */
static uint64_t met_levels(const struct bm_query_state *s, size_t chunk)
{
    struct bm_query_cover cover = bm_query_cover_of(s, chunk);
    uint64_t levels = 0;

    if (!bm_query_may_match(s, chunk))
        return 0;
    if (cover.whole)
        return UINT64_MAX;
    for (size_t i = 0; i < cover.count; i++) {
        struct bm_query_span span;

        bm_query_span(s, chunk, &cover.runs[i], &span);
        for (int k = 0; k < s->set->levels; k++)
            levels |= (uint64_t)(span.begin[k] < span.end[k]) << k;
    }
    return levels;
}

/* Enter pieces of a chunk, of levels whose bits are set; gives their stored
 * bytes, of all columns. */
static int add_chunk(struct bm_query_state *s, size_t chunk, uint64_t levels,
                     uint64_t *bytes)
{
    const struct bm_particle_summary *summary = s->file.summary;
    const struct bm_query_column *columns = s->asked.columns;
    uint64_t values[BM_MAX_LEVELS];
    uint64_t met = met_levels(s, chunk);
    int rc = BOUMA_OK;

    if (s->query->draw)
        met &= bm_query_draw_levels(s, chunk);
    bm_particle_summary_values(s->set, summary->count, summary->seed, chunk,
                               values);
    for (int k = s->set->levels - 1; k >= 0 && !rc; k--) {
        size_t at = chunk * (size_t)s->set->levels + (size_t)k;
        struct bm_query_piece piece = {.chunk = chunk,
                                       .level = k,
                                       .count = (uint32_t)values[k],
                                       .chosen = (size_t)s->batch.slots,
                                       .choice = BM_ALL_MATCH};

        if (!(levels >> k & 1) || !level_wanted(s, k) || !values[k])
            continue;
        if (!(met >> k & 1)) {
            s->done += values[k];
            continue;
        }
        rc = add_piece(s, &piece);
        for (int i = 0; i < s->asked.column_count; i++)
            *bytes += columns[i].section->sizes[at];
    }
    return rc;
}

/* The pieces as files have them: by level, from coarse to fine; or, of files
 * with the levels of a chunk together, as they are. */
static int sort_pieces(struct bm_query_state *s)
{
    struct bm_query_batch *b = &s->batch;
    size_t first[BM_MAX_LEVELS + 1] = {0}, levels = (size_t)s->set->levels;
    int by_level = s->step->manifest.order == BOUMA_ORDER_LEVEL;
    uint32_t *order;

    if (bm_block_grow(s->step->ds->a, &b->by_level,
                      b->piece_count * sizeof(*order)))
        return no_memory(s);
    order = b->by_level.data;
    for (size_t p = 0; p < b->piece_count && !by_level; p++)
        order[p] = (uint32_t)p;
    for (size_t p = 0; p < b->piece_count && by_level; p++)
        first[levels - (size_t)b->pieces[p].level]++;
    for (size_t k = 1; k <= levels; k++)
        first[k] += first[k - 1];
    for (size_t p = 0; p < b->piece_count && by_level; p++)
        order[first[levels - 1 - (size_t)b->pieces[p].level]++] = (uint32_t)p;
    return BOUMA_OK;
}

/* The end of those pieces that a file has one column after the other of. */
static size_t group_end(const struct bm_query_state *s, size_t from)
{
    const struct bm_query_batch *b = &s->batch;
    const uint32_t *order = b->by_level.data;
    size_t to = from + 1;

    if (s->step->manifest.order != BOUMA_ORDER_LEVEL)
        return b->piece_count;
    while (to < b->piece_count &&
           b->pieces[order[to]].level == b->pieces[order[from]].level)
        to++;
    return to;
}

/* Read and check some columns of those pieces that have a match. */
static int read_columns(struct bm_query_state *s, struct bm_fetcher *f,
                        int first, int last)
{
    const struct bm_query_batch *b = &s->batch;
    const uint32_t *order = b->by_level.data;
    size_t width = (size_t)(last - first);
    int rc;

    if (bm_fetcher_begin(f, s->file.source, b->piece_count * width))
        return no_memory(s);
    for (size_t from = 0, to; from < b->piece_count; from = to) {
        to = group_end(s, from);
        for (int i = first; i < last; i++)
            for (size_t k = from; k < to; k++) {
                const struct bm_query_piece *p = &b->pieces[order[k]];

                if (p->choice)
                    bm_fetcher_add(f, s->asked.columns[i].section, p->chunk,
                                   p->level,
                                   order[k] * width + (size_t)(i - first));
            }
    }
    rc = bm_fetcher_read(f);
    return rc ? rc : bm_fetcher_check(f);
}

static void tell_progress(struct bm_query_state *s)
{
    s->done += s->batch.slots;
    bm_step_tell_progress(s->step, s->done < s->total ? s->done : s->total,
                          s->total);
}

static int run_batch(struct bm_query_state *s)
{
    struct bm_query_batch *b = &s->batch;
    int tested = s->asked.tested_count, all = s->asked.column_count;
    int rc = sort_pieces(s);

    if (!rc && !s->query->each) {
        rc = read_columns(s, &b->tested, 0, all);
    } else if (!rc) {
        if (tested)
            rc = read_columns(s, &b->tested, 0, tested);
        if (!rc)
            rc = bm_query_choose(s);
        if (!rc)
            rc = read_columns(s, &b->others, tested, all);
        if (!rc)
            rc = bm_query_deliver(s);
    }
    tell_progress(s);
    empty_batch(s);
    return rc;
}

/* ---- files -------------------------------------------------------------- */

/* The next chunk from 'chunk' on that a run meets; the number of chunks if
 * there is none. */
static size_t next_chunk(struct bm_query_state *s, size_t chunk)
{
    uint32_t size = bm_bat_of(s->set)->detail.chunk;
    struct bm_query_file *f = &s->file;

    while (f->next_run < f->run_count &&
           f->runs[f->next_run].end <= (uint64_t)chunk * size)
        f->next_run++;
    if (f->next_run == f->run_count)
        return (size_t)bm_particle_summary_chunks(s->set, f->summary->count);
    return f->runs[f->next_run].begin / size > chunk
               ? f->runs[f->next_run].begin / size
               : chunk;
}

/* What a file has of the set and of all columns; *index is that of the set
 * among its summaries. */
static int open_file(struct bm_query_state *s, size_t subfile, size_t *index)
{
    struct bm_query_file *f = &s->file;
    struct bm_query_question *q = &s->asked;
    const struct bm_summary_list *all;
    struct bm_source *source;
    int rc = bm_step_source(s->step, subfile, &source), whole;

    if (rc)
        return rc;
    all = &source->head.summaries;
    f->source = subfile;
    *index = 0;
    while (*index < all->count && all->entries[*index]->object != s->set)
        ++*index;
    f->summary = *index < all->count
                     ? bm_particle_summary_of(all->entries[*index])
                     : NULL;
    whole = f->summary != NULL;
    for (int i = 0; i < q->column_count; i++) {
        q->columns[i].section =
            bm_head_section(&source->head, q->columns[i].variable->id);
        whole &= q->columns[i].section != NULL;
    }
    return whole ? BOUMA_OK
                 : bm_fail(&s->step->ds->error, BOUMA_EFORMAT,
                           "subfile %zu has not the particles that the "
                           "manifest says",
                           subfile);
}

/* Count all that a file can have, or files together, and what else it takes to
 * read it. */
static void look_at_all(const struct bm_query_state *s,
                        const struct bm_subfile_info *info,
                        const struct bm_particle_summary *summary,
                        uint64_t bytes)
{
    struct bm_particle_look *look = s->query->look;

    look->heads.over = 1;
    look->heads.bytes += bytes;
    for (int k = 0; k < s->set->levels; k++) {
        look->particles[k] += summary->count;
        for (int i = 0; i < s->asked.column_count; i++) {
            const struct bm_part_info *part =
                bm_subfile_info_part(info, s->asked.columns[i].variable->id);

            look->bytes[k] += part ? part->level_bytes[k] : 0;
        }
    }
}

/* Whether a file's head and, if that is needed, its tree are there, or may be
 * read. If not, all that the file can have is counted. */
static int may_open(struct bm_query_state *s, size_t subfile)
{
    const struct bm_subfile_info *info =
        bm_manifest_record(&s->step->manifest, subfile);
    const struct bm_summary *found =
        bm_summaries_find(&info->summaries, s->set->number);
    const struct bm_particle_summary *summary =
        found ? bm_particle_summary_of(found) : NULL;
    struct bm_particle_look *look = s->query->look;
    uint64_t bytes =
        bm_step_source_loaded(s->step, subfile) ? 0 : info->head_bytes;

    if (s->asked.test_count && summary &&
        !bm_step_has_tree(s->step, subfile, s->set))
        bytes += summary->tree_bytes;
    if (!summary || bm_look_may(&look->heads, bytes))
        return 1;
    look_at_all(s, info, summary, bytes);
    return 0;
}

/* The same for the sheets that may not be loaded. */
static void look_at_sheets(const struct bm_query_state *s,
                           const struct bm_file_tree *tree)
{
    for (size_t i = 0; i < tree->sheet_count; i++) {
        size_t k = tree->sheets[i].sheet;
        uint64_t cost = bm_step_sheet_cost(s->step, k);

        if (cost && bm_file_tree_sheet_matches(tree, i, s->asked.files))
            look_at_all(s, &s->step->manifest.sheets[k].sum,
                        tree->sheets[i].sum,
                        cost + bm_step_sheet_rest(s->step, k));
    }
}

/* Count the pieces of the chunks that runs meet. */
static void look_at_chunks(struct bm_query_state *s, size_t chunks)
{
    const struct bm_particle_summary *summary = s->file.summary;
    const struct bm_query_column *columns = s->asked.columns;
    struct bm_particle_look *look = s->query->look;
    size_t levels = (size_t)s->set->levels;

    for (size_t c = next_chunk(s, 0); c < chunks; c = next_chunk(s, c + 1)) {
        uint64_t values[BM_MAX_LEVELS], met = met_levels(s, c);

        bm_particle_summary_values(s->set, summary->count, summary->seed, c,
                                   values);
        for (size_t k = 0; k < levels; k++) {
            if (!(met >> k & 1))
                continue;
            look->particles[k] += values[k];
            for (int i = 0; i < s->asked.column_count && values[k]; i++)
                look->bytes[k] += columns[i].section->sizes[c * levels + k];
        }
    }
}

/* Chunk after chunk that a run meets, some levels of them, batch by batch. */
static int go_through(struct bm_query_state *s, size_t chunks, uint64_t levels)
{
    uint64_t bytes = 0;
    size_t batch = 0;
    int rc = BOUMA_OK;

    s->file.next_run = 0;
    for (size_t c = next_chunk(s, 0); c < chunks && !rc;
         c = next_chunk(s, c + 1)) {
        rc = add_chunk(s, c, levels, &bytes);
        batch++;
        /* What is only read stays on the shelf: all of it at once, so that what
         * lies together in the file takes one read. */
        if (!rc && s->query->each && bytes >= BATCH_BYTES &&
            batch >= BATCH_CHUNKS) {
            rc = run_batch(s);
            bytes = batch = 0;
        }
    }
    return rc ? rc : run_batch(s);
}

/* Level after level, as they lie in files: then what is read at once is in few
 * places. */
static int go_through_levels(struct bm_query_state *s, size_t chunks)
{
    int rc = BOUMA_OK;

    for (int k = s->set->levels - 1; k >= 0 && !rc; k--)
        if (level_wanted(s, k))
            rc = go_through(s, chunks, (uint64_t)1 << k);
    return rc;
}

/* For whoever takes all of a level, if files have levels one after the other;
 * others look at a chunk only once. */
static int goes_by_levels(const struct bm_query_state *s)
{
    return !s->asked.test_count && !s->query->draw && s->query->each &&
           s->step->manifest.order == BOUMA_ORDER_LEVEL;
}

static int query_file(struct bm_query_state *s, size_t subfile, uint64_t from,
                      uint64_t to)
{
    size_t chunks, index;
    int rc;

    if (s->query->look && !may_open(s, subfile))
        return BOUMA_OK;
    rc = open_file(s, subfile, &index);
    if (rc)
        return rc;
    if (s->query->draw)
        bm_query_draw_file(s);
    chunks = (size_t)bm_particle_summary_chunks(s->set, s->file.summary->count);
    rc = find_runs(s, index, from,
                   to < s->file.summary->count ? to : s->file.summary->count);
    if (!rc && s->query->look) {
        look_at_chunks(s, chunks);
        return BOUMA_OK;
    }
    if (rc)
        return rc;
    return goes_by_levels(s) ? go_through_levels(s, chunks)
                             : go_through(s, chunks, UINT64_MAX);
}

int bm_query_select_files(const struct bm_query_state *s,
                          const struct bm_file_tree *tree, size_t *files,
                          size_t *count, struct bm_look *look)
{
    int rc = bm_step_load_set(s->step, tree, s->asked.files, look);

    *count = rc ? 0 : bm_file_tree_select(tree, s->asked.files, files);
    return rc;
}

int bm_particle_query(const struct bm_particle_query *query)
{
    struct bm_query_state s = {
        .query = query, .step = query->step, .set = query->set};
    const struct bm_file_tree *tree =
        bm_manifest_file_tree(&query->step->manifest, s.set);
    const bouma_allocator *a = query->step->ds->a;
    size_t *files = NULL, count = query->file_count;
    int rc = bm_query_init(&s);

    query->step->open.busy++;
    if (!rc && !query->files) {
        files = bm_new(a, tree->files, sizeof(*files));
        if (!files)
            rc = no_memory(&s);
        else if (!s.asked.never)
            rc =
                bm_query_select_files(&s, tree, files, &count,
                                      query->look ? &query->look->heads : NULL);
        else
            count = 0;
        if (!rc && query->look && !s.asked.never)
            look_at_sheets(&s, tree);
    }
    for (size_t i = 0; i < count && !rc; i++)
        s.total += bm_file_tree_summary(tree, query->files ? query->files[i]
                                                           : files[i])
                       ->count;
    s.total = (uint64_t)((double)s.total * (s.asked.t_to - s.asked.t_from) /
                         bm_bat_of(s.set)->detail.chunk);
    for (size_t i = 0; i < count && !rc && !s.asked.never; i++)
        rc = query_file(&s,
                        bm_file_tree_subfile(
                            tree, query->files ? query->files[i] : files[i]),
                        query->from ? query->from[i] : 0,
                        query->to ? query->to[i] : UINT64_MAX);
    bm_drop(a, files);
    bm_query_release(&s);
    query->step->open.busy--;
    return rc;
}
