/* concern.c -- see concern.h. */
#include "plan/concern.h"

#include <stdlib.h>
#include <string.h>

#include "base/keyed.h"
#include "base/search.h"

/* ---- writers ------------------------------------------------------------ */

static int is_sorted(const int *writer, size_t files)
{
    for (size_t f = 1; f < files; f++)
        if (writer[f] < writer[f - 1])
            return 0;
    return 1;
}

int bm_writers_init(struct bm_writers *out, const struct bm_assignment *files)
{
    size_t count = (size_t)files->files;
    struct bm_keyed *keyed;

    *out = (struct bm_writers){.files = files};
    if (is_sorted(files->writer, count))
        return BOUMA_OK;
    keyed = bm_new_raw(files->a, count, sizeof(*keyed));
    out->order = bm_new_raw(files->a, count, sizeof(*out->order));
    for (size_t f = 0; f < count && keyed; f++)
        keyed[f] = (struct bm_keyed){(uint64_t)files->writer[f], f};
    if (keyed)
        qsort(keyed, count, sizeof(*keyed), bm_keyed_compare);
    for (size_t i = 0; i < count && keyed && out->order; i++)
        out->order[i] = (uint32_t)keyed[i].at;
    if (!keyed || !out->order)
        bm_writers_release(out);
    bm_drop(files->a, keyed);
    return out->files ? BOUMA_OK : BOUMA_ENOMEM;
}

void bm_writers_release(struct bm_writers *w)
{
    if (w->files)
        bm_drop(w->files->a, w->order);
    memset(w, 0, sizeof(*w));
}

static int writer_at(const struct bm_writers *w, size_t i)
{
    return w->files->writer[bm_writers_file(w, i)];
}

/* The first in the order whose writer is this one or a later one. */
static size_t find_writer(const struct bm_writers *w, int writer)
{
    size_t at = 0, files = (size_t)w->files->files;

    if (!files || writer_at(w, 0) >= writer)
        return 0;
    BM_BISECT(at, files, i, writer_at(w, i) < writer);
    return at + 1;
}

void bm_writers_find(const struct bm_writers *w, int writer, size_t *begin,
                     size_t *end)
{
    *begin = find_writer(w, writer);
    *end = find_writer(w, writer + 1);
}

/* ---- of a rank ---------------------------------------------------------- */

static int ascending(const void *left, const void *right)
{
    const uint32_t *a = left, *b = right;

    return *a < *b ? -1 : *a > *b;
}

static int by_file(const void *left, const void *right)
{
    const struct bm_concern *a = left, *b = right;

    return a->file < b->file ? -1 : a->file > b->file;
}

/* Sort, and drop what is there twice; the number of those that are left. */
static size_t make_set(uint32_t *list, size_t count)
{
    size_t n = 0;

    if (count)
        qsort(list, count, sizeof(*list), ascending);
    for (size_t i = 0; i < count; i++)
        if (!i || list[i] != list[i - 1])
            list[n++] = list[i];
    return n;
}

/* Those of a writer; 'own' are the files for which this rank has chunks. */
static int add_writer(struct bm_concerns *c, const struct bm_writers *w,
                      int writer, int rank, const uint32_t *own, size_t count)
{
    size_t begin, end;

    bm_writers_find(w, writer, &begin, &end);
    for (size_t i = begin; i < end; i++) {
        uint32_t file = bm_writers_file(w, i);
        struct bm_concern *grown =
            bm_grow(c->a, c->each, c->count, sizeof(*grown));
        size_t at = 0;

        if (!grown)
            return BOUMA_ENOMEM;
        c->each = grown;
        BM_BISECT(at, count, k, own[k] <= file);
        grown[c->count++] = (struct bm_concern){
            file, writer == rank || (count && own[at] == file)};
        c->steps++;
    }
    return BOUMA_OK;
}

/* 'own' and 'writers' have room for one more than 'count'. */
static int find_concerns(struct bm_concerns *c, const struct bm_writers *w,
                         int rank, const size_t *mine, size_t count,
                         uint32_t *own, uint32_t *writers)
{
    size_t files, n;
    int rc = BOUMA_OK;

    for (size_t i = 0; i < count; i++)
        own[i] = w->files->file[mine[i]];
    files = make_set(own, count);
    for (size_t i = 0; i < files; i++)
        writers[i] = (uint32_t)w->files->writer[own[i]];
    writers[files] = (uint32_t)rank;
    n = make_set(writers, files + 1);
    c->steps = count + files + n;
    for (size_t i = 0; i < n && !rc; i++)
        rc = add_writer(c, w, (int)writers[i], rank, own, files);
    if (c->count)
        qsort(c->each, c->count, sizeof(*c->each), by_file);
    return rc;
}

int bm_concerns_init(struct bm_concerns *out, const struct bm_writers *w,
                     int rank, const size_t *mine, size_t count)
{
    const bouma_allocator *a = w->files->a;
    uint32_t *own = bm_new_raw(a, count + 1, sizeof(*own));
    uint32_t *writers = bm_new_raw(a, count + 1, sizeof(*writers));
    int rc = BOUMA_ENOMEM;

    *out = (struct bm_concerns){.a = a};
    if (own && writers)
        rc = find_concerns(out, w, rank, mine, count, own, writers);
    bm_drop(a, own);
    bm_drop(a, writers);
    if (rc)
        bm_concerns_release(out);
    return rc;
}

void bm_concerns_release(struct bm_concerns *c)
{
    if (c->a)
        bm_drop(c->a, c->each);
    memset(c, 0, sizeof(*c));
}
