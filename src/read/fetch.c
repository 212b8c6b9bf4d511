/* fetch.c -- chunk levels from subfiles. What lies close together in a file is
 * read in one call; every piece is checked before it is decoded. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "layout/patch.h"
#include "read/read.h"

#define BATCH_BYTES ((uint64_t)4 << 20) /* read ahead of decoding */
#define GAP_BYTES   4096                /* read rather than leave out */

/* One chunk level in the file. */
struct piece {
    uint64_t offset;
    uint32_t bytes;
    uint32_t chunk; /* in the batch */
    int level;
    const uint8_t *data; /* once read */
};

struct batch {
    struct bouma_step *step;
    const struct bouma_variable *variable;
    int fine, coarse;
    size_t source;
    const struct bm_section *section;
    size_t *chunks; /* places in the section, ascending */
    size_t count;
    struct piece *pieces; /* [count * levels] */
    uint8_t *raw;
    size_t raw_bytes;
    uint8_t *samples;
    size_t samples_bytes;
    int (*each)(void *context, const struct bm_fetched *fetched);
    void *context;
};

int bm_select(int64_t **out, size_t *count, const bouma_allocator *a,
              const struct bm_tiling *tiling, const bouma_box *box, int level)
{
    bouma_box over = bm_tiling_meeting(tiling, box);
    size_t most = (size_t)bm_box_volume(&over), n = 0;
    struct keyed {
        uint64_t key;
        int64_t patch;
    } *keyed = bm_new_raw(a, most, sizeof(*keyed));
    int64_t at[3];

    *out = bm_new_raw(a, most, sizeof(**out));
    *count = 0;
    if (!keyed || !*out) {
        bm_drop(a, keyed);
        bm_drop(a, *out);
        *out = NULL;
        return BOUMA_ENOMEM;
    }
    for (at[0] = over.lo[0]; at[0] < over.hi[0]; at[0]++)
        for (at[1] = over.lo[1]; at[1] < over.hi[1]; at[1]++)
            for (at[2] = over.lo[2]; at[2] < over.hi[2]; at[2]++) {
                bouma_box patch = bm_tiling_box(tiling, at);
                struct bm_lattice l;

                bm_box_meet(&patch, &patch, box);
                l = bm_lattice_of(&patch, level);
                if (l.count[0] > 0 && l.count[1] > 0 && l.count[2] > 0)
                    keyed[n++] = (struct keyed){bm_morton(at, tiling->ndims),
                                                bm_tiling_index(tiling, at)};
            }
    /* Shell sort: short lists mostly, and no memory of its own. */
    for (size_t gap = n / 2; gap; gap /= 2)
        for (size_t i = gap; i < n; i++) {
            struct keyed one = keyed[i];
            size_t j = i;

            for (; j >= gap && keyed[j - gap].key > one.key; j -= gap)
                keyed[j] = keyed[j - gap];
            keyed[j] = one;
        }
    for (size_t i = 0; i < n; i++)
        (*out)[i] = keyed[i].patch;
    *count = n;
    bm_drop(a, keyed);
    return BOUMA_OK;
}

/* ---- one batch ---------------------------------------------------------- */

static int by_offset(const void *left, const void *right)
{
    const struct piece *a = left, *b = right;

    return a->offset < b->offset ? -1 : a->offset > b->offset;
}

/* At least 'bytes' in a buffer that is kept. */
static int grow(const bouma_allocator *a, uint8_t **data, size_t *have,
                size_t bytes)
{
    uint8_t *fresh;

    if (*data && *have >= bytes)
        return BOUMA_OK;
    fresh = bm_new_raw(a, bytes, 1);
    if (!fresh)
        return BOUMA_ENOMEM;
    bm_drop(a, *data);
    *data = fresh;
    *have = bytes;
    return BOUMA_OK;
}

static size_t list_pieces(struct batch *b)
{
    size_t n = 0, levels = (size_t)b->section->levels;

    for (size_t i = 0; i < b->count; i++)
        for (int k = b->coarse; k >= b->fine; k--) {
            size_t at = b->chunks[i] * levels + (size_t)k;

            b->pieces[n++] =
                (struct piece){b->section->offsets[at], b->section->sizes[at],
                               (uint32_t)i, k, NULL};
        }
    qsort(b->pieces, n, sizeof(*b->pieces), by_offset);
    return n;
}

/* The end of the run of pieces that are read together, from 'first' on. */
static size_t run_end(const struct piece *pieces, size_t first, size_t n,
                      uint64_t *end)
{
    size_t i = first;

    *end = pieces[i].offset + pieces[i].bytes;
    while (++i < n && pieces[i].offset <= *end + GAP_BYTES)
        *end = pieces[i].offset + pieces[i].bytes;
    return i;
}

/* Read all pieces, run by run, each at an aligned place. */
static int read_pieces(struct batch *b, size_t n)
{
    struct bouma_dataset *ds = b->step->ds;
    struct bm_source *source = &b->step->sources[b->source];
    size_t need = 0, at = 0;
    uint64_t end;
    int rc = BOUMA_OK;

    for (size_t i = 0, next; i < n; i = next) {
        next = run_end(b->pieces, i, n, &end);
        need += (size_t)(end - b->pieces[i].offset) + 16;
    }
    if (need > ds->store.memory_limit)
        return bm_fail(&ds->error, BOUMA_ELIMIT,
                       "a read of %zu bytes is beyond the limit", need);
    if (grow(ds->a, &b->raw, &b->raw_bytes, need))
        return bm_fail(&ds->error, BOUMA_ENOMEM, "no memory to read %zu bytes",
                       need);
    for (size_t i = 0, next; i < n && !rc; i = next) {
        uint64_t from = b->pieces[i].offset;

        next = run_end(b->pieces, i, n, &end);
        rc = bm_file_read(&source->file, b->raw + at, (size_t)(end - from),
                          from, &ds->error);
        for (size_t k = i; k < next; k++)
            b->pieces[k].data = b->raw + at + (b->pieces[k].offset - from);
        at += ((size_t)(end - from) + 15) / 16 * 16;
    }
    return rc;
}

/* A message that names the place to the byte. */
static int damaged(struct batch *b, const struct piece *p, const char *what)
{
    struct bouma_dataset *ds = b->step->ds;
    const struct bm_tiling *t = &b->variable->grid->tiling;
    bouma_box box = bm_tiling_patch_box(
        t, bm_tiling_find(t, b->section->keys[b->chunks[p->chunk]]));
    char full[1200], region[160];

    bm_step_source_name(b->step, b->source, full, sizeof(full));
    bm_box_text(region, sizeof(region), &box, t->ndims);
    return bm_fail(&ds->error, BOUMA_EFORMAT,
                   "%s: %s: step %" PRIu64 ", variable \"%s/%s\", level %d, "
                   "patch %s, at byte %" PRIu64
                   "; coarser levels and other regions can still be read",
                   full, what, b->step->manifest.step, b->variable->grid->name,
                   b->variable->name, p->level, region, p->offset);
}

static int check_piece(struct batch *b, const struct piece *p)
{
    const struct bm_manifest *m = &b->step->manifest;
    size_t chunk = b->chunks[p->chunk];
    struct bm_address address = {b->step->ds->id,     m->step,
                                 m->generation.epoch, m->generation.attempt,
                                 b->variable->id,     b->section->keys[chunk],
                                 (uint32_t)p->level};

    if (bm_hash_chunk(&address, p->data, p->bytes) !=
        b->section
            ->hashes[chunk * (size_t)b->section->levels + (size_t)p->level])
        return damaged(b, p, "the checksum does not match");
    return BOUMA_OK;
}

/* Decode the pieces of one chunk and hand it on. Pieces of a codec that stores
 * samples as they are can be used where they are. */
static int deliver(struct batch *b, size_t chunk,
                   const struct piece *const *by_level)
{
    const struct bm_codec *codec = bm_codec_find((int)b->variable->codec);
    const struct bm_tiling *t = &b->variable->grid->tiling;
    struct bouma_dataset *ds = b->step->ds;
    struct bm_fetched f;
    struct bm_patch p;
    uint8_t *to;
    int rc = BOUMA_OK;

    memset(&f, 0, sizeof(f));
    f.patch = bm_tiling_find(t, b->section->keys[b->chunks[chunk]]);
    bm_patch_init(&p, b->variable, f.patch);
    f.geometry = &p;
    if (bm_patch_bytes(&p) + 16 * (size_t)p.levels > ds->store.memory_limit)
        return bm_fail(&ds->error, BOUMA_ELIMIT,
                       "a patch of \"%s/%s\" has %zu bytes of samples, beyond "
                       "the memory limit",
                       b->variable->grid->name, b->variable->name,
                       bm_patch_bytes(&p));
    if (grow(ds->a, &b->samples, &b->samples_bytes,
             bm_patch_bytes(&p) + 16 * (size_t)p.levels))
        return bm_fail(&ds->error, BOUMA_ENOMEM,
                       "no memory to decode %zu bytes", bm_patch_bytes(&p));
    to = b->samples;
    for (int k = b->coarse; k >= b->fine && !rc; k--) {
        const struct piece *piece = by_level[k - b->fine];
        struct bm_samples out = {to, (size_t)p.values[k] * (size_t)p.components,
                                 p.size};

        rc = check_piece(b, piece);
        if (!rc && codec->sized && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) {
            f.level[k] = piece->data;
            continue;
        }
        if (!rc) {
            rc =
                codec->decode(&b->step->codec, &out, piece->data, piece->bytes);
            if (rc == BOUMA_EFORMAT)
                rc = damaged(b, piece, "the data cannot be decoded");
            else if (rc)
                bm_fail(&ds->error, rc, "no memory to decode a chunk");
        }
        f.level[k] = to;
        to += (bm_patch_level_bytes(&p, k) + 15) / 16 * 16;
    }
    return rc ? rc : b->each(b->context, &f);
}

static int run_batch(struct batch *b)
{
    size_t n = list_pieces(b);
    int levels = b->coarse - b->fine + 1;
    int rc = read_pieces(b, n);
    const struct piece **by_chunk;

    if (rc)
        return rc;
    by_chunk =
        bm_new(b->step->ds->a, b->count * (size_t)levels, sizeof(*by_chunk));
    if (!by_chunk)
        return bm_fail(&b->step->ds->error, BOUMA_ENOMEM, "no memory to read");
    for (size_t i = 0; i < n; i++)
        by_chunk[b->pieces[i].chunk * (size_t)levels +
                 (size_t)(b->pieces[i].level - b->fine)] = &b->pieces[i];
    for (size_t i = 0; i < b->count && !rc; i++)
        rc = deliver(b, i, by_chunk + i * (size_t)levels);
    bm_drop(b->step->ds->a, by_chunk);
    return rc;
}

/* ---- all ---------------------------------------------------------------- */

static uint64_t chunk_bytes(const struct batch *b, size_t chunk)
{
    uint64_t bytes = 0;

    for (int k = b->fine; k <= b->coarse; k++)
        bytes +=
            b->section->sizes[chunk * (size_t)b->section->levels + (size_t)k];
    return bytes;
}

/* The chunks of one subfile, batch by batch. */
static int fetch_source(struct batch *b, const size_t *chunks, size_t count)
{
    const bouma_allocator *a = b->step->ds->a;
    size_t first = 0;
    int rc = BOUMA_OK;

    while (first < count && !rc) {
        uint64_t bytes = 0;
        size_t n = 0;

        do
            bytes += chunk_bytes(b, chunks[first + n++]);
        while (first + n < count &&
               bytes + chunk_bytes(b, chunks[first + n]) <= BATCH_BYTES);
        b->chunks = (size_t *)chunks + first;
        b->count = n;
        b->pieces = bm_new_raw(a, n * (size_t)(b->coarse - b->fine + 1),
                               sizeof(*b->pieces));
        rc = b->pieces ? run_batch(b)
                       : bm_fail(&b->step->ds->error, BOUMA_ENOMEM,
                                 "no memory to read");
        bm_drop(a, b->pieces);
        first += n;
    }
    return rc;
}

static const struct bm_part_info *part_of(const struct bm_subfile_info *info,
                                          uint32_t variable)
{
    for (size_t i = 0; i < info->count; i++)
        if (info->parts[i].variable == variable)
            return &info->parts[i];
    return NULL;
}

/* Whether some of the patches lie in the bounds of a subfile's part. */
static int any_inside(const struct bm_tiling *t, const bouma_box *bounds,
                      const int64_t *patches, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        bouma_box box = bm_tiling_patch_box(t, patches[i]);

        if (bm_box_inside(&box, bounds))
            return 1;
    }
    return 0;
}

static int by_place(const void *left, const void *right)
{
    const size_t *a = left, *b = right;

    return *a < *b ? -1 : *a > *b;
}

int bm_fetch(struct bouma_step *step, const struct bouma_variable *variable,
             int fine, int coarse, const int64_t *patches, size_t count,
             int (*each)(void *context, const struct bm_fetched *fetched),
             void *context)
{
    const struct bm_tiling *t = &variable->grid->tiling;
    struct bouma_dataset *ds = step->ds;
    size_t *chunks = bm_new_raw(ds->a, count, sizeof(*chunks)), found = 0;
    struct batch b;
    int rc = BOUMA_OK;

    memset(&b, 0, sizeof(b));
    b.step = step;
    b.variable = variable;
    b.fine = fine;
    b.coarse = coarse;
    b.each = each;
    b.context = context;
    if (!chunks)
        rc = bm_fail(&ds->error, BOUMA_ENOMEM, "no memory to read");
    for (size_t i = 0; i < step->manifest.count && found < count && !rc; i++) {
        const struct bm_part_info *part =
            part_of(&step->manifest.subfiles[i], variable->id);
        struct bm_source *source;
        size_t n = 0;

        if (!part || !any_inside(t, &part->bounds, patches, count))
            continue;
        rc = bm_step_source(step, i, &source);
        if (rc)
            break;
        b.source = i;
        b.section = bm_head_section(&source->head, variable->id);
        for (size_t k = 0; k < count && b.section; k++) {
            int64_t at =
                bm_section_find(b.section, bm_tiling_key(t, patches[k]));

            if (at >= 0)
                chunks[n++] = (size_t)at;
        }
        found += n;
        qsort(chunks, n, sizeof(*chunks), by_place);
        rc = fetch_source(&b, chunks, n);
    }
    if (!rc && found != count)
        rc = bm_fail(&ds->error, BOUMA_EFORMAT,
                     "step %" PRIu64 ": %zu of %zu patches are in no subfile "
                     "or in several",
                     step->manifest.step,
                     found < count ? count - found : found - count, count);
    bm_drop(ds->a, b.raw);
    bm_drop(ds->a, b.samples);
    bm_drop(ds->a, chunks);
    return rc;
}
