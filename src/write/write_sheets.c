/* write_sheets.c -- see write_sheets.h.
 *
 *   1. Each rank sorts its records by sheet, and tells the leader of each, by a
 *      signal, how many there are, and their bytes.
 *   2. A leader knows how many files its sheets have. When it has heard of all
 *      of them, it makes room; all ranks agree, and send.
 *   3. It decodes the records of each sheet, and encodes the sheet. */
#include "write/write_sheets.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "layout/sheet.h"

/* A signal tells of a sheet, as its number, and in its value of files and
 * bytes. */
#define FILE_BITS 21

/* Some records of one sheet. */
struct load {
    int peer; /* who has them; or who gets them */
    uint32_t sheet;
    size_t files, bytes;
    size_t at; /* in the buffer of those that are sent, or received */
};

/* One of this rank's records. */
struct own {
    uint32_t file;
    const uint8_t *data;
    size_t bytes;
};

struct gathering {
    struct bm_write_job *job;
    struct bm_comm *comm;
    const bouma_allocator *a;
    uint32_t sheet_files;
    size_t files, sheets; /* of the step */
    size_t first, last;   /* the sheets that this rank leads: up to 'last' */
    struct own *own;      /* [own_count] */
    size_t own_count;
    struct bm_buffer sorted; /* own records, by file */
    struct load *sends, *receives;
    size_t send_count, receive_count;
    size_t missing;              /* files that were not heard of yet */
    struct bm_message *messages; /* of sends, then of receives */
    uint8_t *received;
    size_t received_bytes;
};

uint32_t bm_job_sheet_files(const struct bm_write_job *job)
{
    uint32_t files = bm_name_folder_files();

    return (size_t)job->plan.all_files > files ? files : 0;
}

/* ---- records --------------------------------------------------------------- */

void bm_record_put(struct bm_buffer *records, uint32_t file,
                   const struct bm_subfile_info *info,
                   const struct bm_schema *schema)
{
    struct bm_buffer one;

    bm_buffer_init(&one, schema->a);
    bm_subfile_info_encode(&one, info, schema);
    bm_put_u32(records, file);
    bm_put_u64(records, one.size);
    bm_put_bytes(records, one.data, one.size);
    records->failed |= one.failed;
    bm_buffer_release(&one);
}

/* The next one, as bytes. */
static struct own next_record(struct bm_cursor *c)
{
    struct own o = {.file = bm_get_u32(c)};
    uint64_t bytes = bm_get_u64(c);

    o.bytes = bytes <= bm_cursor_left(c) ? (size_t)bytes : 0;
    o.data = bm_get_bytes(c, o.bytes);
    return o;
}

static int tell(int rc, struct bm_error *error)
{
    return rc ? bm_fail(error, rc,
                        rc == BOUMA_ENOMEM ? "no memory for the manifest"
                                           : "the records of the subfiles "
                                             "could not be decoded")
              : BOUMA_OK;
}

/* Into records[count], which are those of the files from 'first' on; each comes
 * once. */
static int decode_records(struct bm_subfile_info *records, size_t first,
                          size_t count, struct bm_cursor *c,
                          const struct bm_schema *schema)
{
    int rc = BOUMA_OK;

    while (bm_cursor_left(c) && !rc) {
        struct own o = next_record(c);
        struct bm_cursor one = bm_cursor_of(o.data, o.bytes);

        if (c->failed || o.file < first || o.file - first >= count ||
            records[o.file - first].file_bytes)
            return BOUMA_ECOMM;
        rc = bm_subfile_info_decode(&records[o.file - first], &one, schema);
    }
    return rc;
}

int bm_records_decode(struct bm_manifest *m, const struct bm_buffer *records,
                      struct bm_error *error)
{
    struct bm_cursor c = bm_cursor_of(records->data, records->size);

    return tell(decode_records(m->subfiles, 0, m->count, &c, m->schema), error);
}

/* ---- who has what ----------------------------------------------------------- */

/* Leaders are spread over the ranks. */
static int leader_of(const struct gathering *g, size_t sheet)
{
    return (int)(sheet * (size_t)g->comm->size / g->sheets);
}

static size_t files_of(const struct gathering *g, size_t sheet)
{
    size_t left = g->files - sheet * g->sheet_files;

    return left < g->sheet_files ? left : g->sheet_files;
}

static int by_file(const void *left, const void *right)
{
    const struct own *a = left, *b = right;

    return a->file < b->file ? -1 : a->file > b->file;
}

/* List this rank's records, and bring them into the order of files. */
static int sort_own(struct gathering *g, const struct bm_buffer *mine)
{
    struct bm_cursor c = bm_cursor_of(mine->data, mine->size);
    size_t count = bm_job_subfile_count(g->job);

    g->own = bm_new(g->a, count, sizeof(*g->own));
    if (!g->own)
        return BOUMA_ENOMEM;
    for (; g->own_count < count; g->own_count++)
        g->own[g->own_count] = next_record(&c);
    if (count)
        qsort(g->own, count, sizeof(*g->own), by_file);
    for (size_t i = 0; i < count; i++) {
        bm_put_u32(&g->sorted, g->own[i].file);
        bm_put_u64(&g->sorted, g->own[i].bytes);
        bm_put_bytes(&g->sorted, g->own[i].data, g->own[i].bytes);
    }
    return g->sorted.failed ? BOUMA_ENOMEM : BOUMA_OK;
}

/* What goes to leaders, this rank itself perhaps among them. */
static int list_sends(struct gathering *g)
{
    size_t at = 0;

    g->sends = bm_new(g->a, g->own_count, sizeof(*g->sends));
    if (!g->sends)
        return BOUMA_ENOMEM;
    for (size_t i = 0; i < g->own_count; i++) {
        uint32_t sheet = g->own[i].file / g->sheet_files;
        struct load *last = g->send_count ? &g->sends[g->send_count - 1] : NULL;
        size_t bytes = 12 + g->own[i].bytes;

        if (!last || last->sheet != sheet) {
            last = &g->sends[g->send_count++];
            *last = (struct load){leader_of(g, sheet), sheet, 0, 0, at};
        }
        last->files++;
        last->bytes += bytes;
        at += bytes;
    }
    return BOUMA_OK;
}

/* The sheets that this rank leads, and room to hear of all their files. */
static int list_led(struct gathering *g)
{
    while (g->first < g->sheets && leader_of(g, g->first) < g->comm->rank)
        g->first++;
    for (g->last = g->first;
         g->last < g->sheets && leader_of(g, g->last) == g->comm->rank;
         g->last++)
        g->missing += files_of(g, g->last);
    g->receives = bm_new(g->a, g->missing, sizeof(*g->receives));
    g->messages =
        bm_new(g->a, g->send_count + g->missing, sizeof(*g->messages));
    return g->receives && g->messages ? BOUMA_OK : BOUMA_ENOMEM;
}

/* ---- messages ---------------------------------------------------------------- */

/* Nothing can go wrong with the list: each signal is for a file at least. */
static int take_note(struct gathering *g, struct load one)
{
    if (!one.files || one.files > g->missing || one.sheet < g->first ||
        one.sheet >= g->last)
        return BOUMA_ECOMM;
    g->missing -= one.files;
    g->receives[g->receive_count++] = one;
    return BOUMA_OK;
}

static int hear_one(struct gathering *g, int *heard, struct bm_error *error)
{
    struct bm_signal s;
    int rc = bm_comm_hear(g->comm, &s, heard, error);

    if (rc || !*heard)
        return rc;
    return take_note(g,
                     (struct load){.peer = s.peer,
                                   .sheet = s.what,
                                   .files = s.value & ((1u << FILE_BITS) - 1),
                                   .bytes = (size_t)(s.value >> FILE_BITS)});
}

/* Tell leaders what there is for them, and hear the same from others. */
static int tell_leaders(struct gathering *g, struct bm_error *error)
{
    double since = bm_clock();
    unsigned idle = 0;
    int rc = BOUMA_OK;

    for (size_t i = 0; i < g->send_count && !rc; i++) {
        const struct load *l = &g->sends[i];

        if (l->peer == g->comm->rank)
            rc = take_note(g, *l);
        else
            rc = bm_comm_signal(
                g->comm,
                &(struct bm_signal){l->peer, l->sheet,
                                    (uint64_t)l->bytes << FILE_BITS | l->files},
                error);
    }
    while (g->missing && !rc) {
        int heard = 0;

        rc = hear_one(g, &heard, error);
        if (heard) {
            idle = 0;
            since = bm_clock();
        } else if (!rc) {
            rc = bm_comm_idle(g->comm, idle++, since, error);
        }
    }
    return rc;
}

static int by_sheet(const void *left, const void *right)
{
    const struct load *a = left, *b = right;

    return a->sheet != b->sheet ? (a->sheet < b->sheet ? -1 : 1)
                                : (a->peer > b->peer) - (a->peer < b->peer);
}

/* Room for what was told of, sheet by sheet. */
static int make_room(struct gathering *g)
{
    if (g->receive_count)
        qsort(g->receives, g->receive_count, sizeof(*g->receives), by_sheet);
    for (size_t i = 0; i < g->receive_count; i++) {
        g->receives[i].at = g->received_bytes;
        g->received_bytes += g->receives[i].bytes;
    }
    g->received = bm_new_raw(g->a, g->received_bytes + 1, 1);
    return g->received ? BOUMA_OK : BOUMA_ENOMEM;
}

/* Between two ranks they go in the order of sheets. */
static int exchange(struct gathering *g, struct bm_error *error)
{
    struct bm_message *receives = g->messages + g->send_count;

    for (size_t i = 0; i < g->send_count; i++)
        g->messages[i] = (struct bm_message){g->sends[i].peer,
                                             g->sorted.data + g->sends[i].at,
                                             g->sends[i].bytes};
    for (size_t i = 0; i < g->receive_count; i++)
        receives[i] = (struct bm_message){g->receives[i].peer,
                                          g->received + g->receives[i].at,
                                          g->receives[i].bytes};
    return bm_comm_exchange(g->comm, g->messages, g->send_count, receives,
                            g->receive_count, error);
}

/* ---- sheets ------------------------------------------------------------------ */

/* One sheet, of the records from receives[*next] on: to rank 0 go its number,
 * its sum and its bytes. */
static int make_sheet(struct gathering *g, size_t k, size_t *next,
                      struct bm_buffer *out)
{
    const struct bm_schema *schema = &g->job->ds->schema;
    struct bm_sheet_address address = {g->job->ds->id, g->job->entry.step,
                                       g->job->entry.generation, (uint32_t)k};
    size_t count = files_of(g, k), bytes = 0;
    const uint8_t *data = g->received;
    struct bm_subfile_info *records = bm_new(g->a, count, sizeof(*records));
    struct bm_sheet sheet = {0};
    struct bm_cursor c;
    struct bm_buffer b;
    int rc = records ? BOUMA_OK : BOUMA_ENOMEM;

    if (*next < g->receive_count)
        data += g->receives[*next].at;
    for (; *next < g->receive_count && g->receives[*next].sheet == k; ++*next)
        bytes += g->receives[*next].bytes;
    c = bm_cursor_of(data, bytes);
    bm_buffer_init(&b, g->a);
    if (!rc)
        rc = decode_records(records, k * g->sheet_files, count, &c, schema);
    if (!rc)
        rc = bm_sheet_sum(&sheet, records, count, schema);
    if (!rc) {
        bm_sheet_encode(&b, &sheet, &address, records, count, schema);
        bm_put_u32(out, (uint32_t)k);
        bm_sheet_encode_sum(out, &sheet, schema);
        bm_put_bytes(out, b.data, b.size);
        rc = b.failed || out->failed ? BOUMA_ENOMEM : BOUMA_OK;
    }
    bm_buffer_release(&b);
    bm_sheet_release(&sheet, g->a);
    for (size_t i = 0; i < count && records; i++)
        bm_subfile_info_release(&records[i], g->a);
    bm_drop(g->a, records);
    return rc;
}

static void release(struct gathering *g)
{
    bm_drop(g->a, g->own);
    bm_drop(g->a, g->sends);
    bm_drop(g->a, g->receives);
    bm_drop(g->a, g->messages);
    if (g->comm->lost) /* MPI may still use what was handed to it */
        return;
    bm_drop(g->a, g->received);
    bm_buffer_release(&g->sorted);
}

int bm_sheets_gather(struct bm_write_job *job, struct bm_buffer *mine, int rc)
{
    struct bouma_dataset *ds = job->ds;
    struct gathering g = {.job = job,
                          .comm = ds->comm,
                          .a = ds->a,
                          .sheet_files = bm_job_sheet_files(job),
                          .files = (size_t)job->plan.all_files};
    size_t next = 0;
    int made;

    g.sheets = bm_sheet_count_of(g.files, g.sheet_files);
    bm_buffer_init(&g.sorted, ds->a);
    if (!rc)
        rc = tell(sort_own(&g, mine) || list_sends(&g) || list_led(&g)
                      ? BOUMA_ENOMEM
                      : BOUMA_OK,
                  &ds->error);
    rc = bm_comm_agree(ds->comm, rc, &ds->error);
    if (!rc) {
        rc = tell_leaders(&g, &ds->error);
        if (!rc)
            rc = tell(make_room(&g), &ds->error);
        rc = bm_comm_agree(ds->comm, rc, &ds->error);
    }
    if (!rc) {
        rc = exchange(&g, &ds->error);
        bm_buffer_clear(mine);
        for (size_t k = g.first; k < g.last && !rc; k++) {
            made = make_sheet(&g, k, &next, mine);
            rc = tell(made, &ds->error);
        }
        rc = bm_comm_agree(ds->comm, rc, &ds->error);
    }
    release(&g);
    return rc;
}

int bm_sheets_decode(struct bm_manifest *m, const struct bm_buffer *all,
                     size_t files, uint32_t sheet_files, struct bm_error *error)
{
    struct bm_cursor c = bm_cursor_of(all->data, all->size);
    size_t sheets = bm_sheet_count_of(files, sheet_files);
    int rc = BOUMA_OK;

    m->count = files;
    m->sheet_files = sheet_files;
    m->sheets = bm_new(m->a, sheets, sizeof(*m->sheets));
    m->sheet_count = m->sheets ? sheets : 0;
    if (!m->sheets)
        rc = BOUMA_ENOMEM;
    for (size_t i = 0; i < sheets && !rc; i++) {
        size_t k = bm_get_u32(&c);

        if (c.failed || k >= sheets || m->sheets[k].stored)
            rc = BOUMA_ECOMM;
        if (!rc)
            rc = bm_sheet_decode_sum(
                &m->sheets[k], &c, (uint32_t)bm_sheet_records(m, k), m->schema);
        if (!rc)
            m->sheets[k].stored = bm_get_bytes(&c, (size_t)m->sheets[k].bytes);
        if (!rc && c.failed)
            rc = BOUMA_ECOMM;
    }
    return tell(rc, error);
}
