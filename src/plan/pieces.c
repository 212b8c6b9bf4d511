/* pieces.c -- see pieces.h.
 *
 * A step divides the bounds of some particles into up to 2^12 cells on a Morton
 * order and counts the particles of each. The cells are the leaves of a binary
 * tree (each level halves an axis); of it, every topmost node that has at most
 * 'most' particles is a piece:
 *
 *       +-------+---+-+-+      most 4: pieces of 4, 3, 2 and 1, and a cell #
 *       |  .  . | . |:|.|      of more
 *       |   . . | ..+-+-+
 *       |       |   |#| |
 *       +-------+---+-+-+
 *
 * Cells that alone have more are divided again, twice if need be, into 2^9 by
 * lower bits of the keys that are there already. What is still too much is
 * taken up by a step of its own over just these particles, with their exact
 * bounds.
 *
 * The particles with the least and the greatest coordinate are in different
 * cells unless these are equal, so each step divides, or all are at one place.
 * A step makes every extent at least twice shorter (mostly 1024 times), which
 * the range of a double bounds: there are few steps for any real data, and some
 * thousand one below the other at the very worst. */
#include "plan/pieces.h"

#include <math.h>
#include <string.h>

#include "plan/pieces_keys.h"

/* A mark in of[], until the number of a unit is known. */
#define NOT_FINITE UINT32_MAX

/* ---- steps -------------------------------------------------------------- */

/* Particles that are divided, or are to be: they are together in the list. The
 * first step has all there are, and no list. */
struct cell {
    size_t first, count;
    uint64_t bad; /* of them, not finite: in the first step only */
    double low[3], high[3];
    size_t fill; /* where in the list the next one goes */
};

/* Where the particles of a cell go: the kind, and a number. */
#define TO_UNIT       0u
#define TO_TABLE      0x40000000u /* the place of its first slot */
#define TO_CELL       0x80000000u /* waiting[heavy + number] */
#define KIND_OF(to)   ((to)&0xc0000000u)
#define NUMBER_OF(to) ((to)&0x3fffffffu)
#define MOST_NUMBERS  0x3ffffff0u

struct slot {
    uint32_t count, to;
};

struct work {
    const struct bm_positions *p;
    uint64_t most;
    struct bm_pieces *out;
    size_t unit_room;
    uint32_t *list;       /* particles of cells that have too many */
    uint32_t *aside;      /* room for as many, from the second step on */
    struct cell *waiting; /* a stack of these cells */
    size_t waiting_count, waiting_room;
    struct bm_grid grid;
    struct slot *slots; /* tables, one after the other */
    size_t slot_count, slot_room;
    size_t heavy; /* cells of this step are on the stack from here on */
    size_t start[(1 << BM_TABLE_BITS) + 1];
};

static int add_unit(struct work *w, uint64_t count)
{
    struct bm_pieces *out = w->out;
    struct bm_unit unit = {.count = count};

    if (out->count >= MOST_NUMBERS)
        return BOUMA_ELIMIT;
    if (out->count == w->unit_room) {
        size_t room = w->unit_room ? 2 * w->unit_room : 32;
        void *units = bm_resize(out->a, out->units, room, sizeof(unit));

        if (!units)
            return BOUMA_ENOMEM;
        out->units = units;
        w->unit_room = room;
    }
    for (int d = 0; d < w->p->ndims; d++) {
        unit.low[d] = INFINITY;
        unit.high[d] = -INFINITY;
    }
    out->units[out->count++] = unit;
    return BOUMA_OK;
}

static int add_cell(struct work *w, size_t first, size_t count)
{
    struct cell cell = {.first = first, .count = count, .fill = first};

    if (w->waiting_count == w->waiting_room) {
        size_t room = w->waiting_room ? 2 * w->waiting_room : 32;
        void *cells = bm_resize(w->out->a, w->waiting, room, sizeof(cell));

        if (!cells)
            return BOUMA_ENOMEM;
        w->waiting = cells;
        w->waiting_room = room;
    }
    for (int d = 0; d < w->p->ndims; d++) {
        cell.low[d] = INFINITY;
        cell.high[d] = -INFINITY;
    }
    w->waiting[w->waiting_count++] = cell;
    return BOUMA_OK;
}

/* A table of empty cells; its place. */
static int add_table(struct work *w, int bits, uint32_t *place)
{
    size_t size = (size_t)1 << bits;

    if (w->slot_count + size > MOST_NUMBERS)
        return BOUMA_ELIMIT;
    if (w->slot_count + size > w->slot_room) {
        size_t room = 2 * (w->slot_count + size);
        void *slots = bm_resize(w->out->a, w->slots, room, sizeof(*w->slots));

        if (!slots)
            return BOUMA_ENOMEM;
        w->slots = slots;
        w->slot_room = room;
    }
    memset(w->slots + w->slot_count, 0, size * sizeof(*w->slots));
    *place = (uint32_t)w->slot_count;
    w->slot_count += size;
    return BOUMA_OK;
}

/* The key of each particle into of[], and how many there are in each cell of
 * the first table. */
static void count_first(struct work *w, const uint32_t *which,
                        const struct cell *c)
{
    uint32_t *of = w->out->of, key[BM_BLOCK];
    int shift = w->grid.shift[0];
    struct bm_block b;

    memset(b.at, 0, sizeof(b.at));
    for (size_t from = 0; from < c->count; from += BM_BLOCK) {
        bm_block_load(&b, w->p, which, from, c->count);
        bm_grid_keys(key, &w->grid, &b);
        if (c->bad && !bm_block_finite(&b, w->p->ndims)) {
            for (size_t i = 0; i < b.count; i++) {
                int good = bm_block_finite_at(&b, i);

                of[from + i] = good ? key[i] : NOT_FINITE;
                w->slots[key[i] >> shift].count += (uint32_t)good;
            }
            continue;
        }
        if (which)
            for (size_t i = 0; i < b.count; i++)
                of[which[from + i]] = key[i];
        else
            memcpy(of + from, key, b.count * sizeof(*of));
        for (size_t i = 0; i < b.count; i++)
            w->slots[key[i] >> shift].count++;
    }
}

/* The slot of a key at a level; NULL if it does not go so deep. */
static inline struct slot *slot_of(struct work *w, uint32_t key, int level)
{
    struct slot *slot = &w->slots[key >> w->grid.shift[0]];

    for (int l = 1; l <= level; l++) {
        uint32_t mask = ((uint32_t)1 << w->grid.table_bits[l]) - 1;

        if (KIND_OF(slot->to) != TO_TABLE)
            return NULL;
        slot =
            &w->slots[NUMBER_OF(slot->to) + (key >> w->grid.shift[l] & mask)];
    }
    return slot;
}

/* The same as count_first() for the tables of another level. */
static void count_more(struct work *w, const uint32_t *which, size_t count,
                       int level)
{
    const uint32_t *of = w->out->of;

    for (size_t i = 0; i < count; i++) {
        uint32_t key = of[which ? which[i] : i];
        struct slot *slot = key == NOT_FINITE ? NULL : slot_of(w, key, level);

        if (slot)
            slot->count++;
    }
}

/* Say where every cell of a table goes. */
static int divide_table(struct work *w, size_t table, int level, size_t *listed)
{
    size_t cells = (size_t)1 << w->grid.table_bits[level], cell = 0;
    int rc = BOUMA_OK;

    w->start[0] = 0;
    for (size_t i = 0; i < cells; i++)
        w->start[i + 1] = w->start[i] + w->slots[table + i].count;
    while (cell < cells && !rc) {
        /* The largest node of the binary tree that begins here and fits. */
        size_t size = 1, count;
        uint32_t to = TO_UNIT + (uint32_t)w->out->count, place = 0;

        while (!(cell & size) && 2 * size <= cells &&
               w->start[cell + 2 * size] - w->start[cell] <= w->most)
            size *= 2;
        count = w->start[cell + size] - w->start[cell];
        if (count > w->most && level + 1 < w->grid.levels) {
            rc = add_table(w, w->grid.table_bits[level + 1], &place);
            to = TO_TABLE + place;
        } else if (count > w->most) {
            to = TO_CELL + (uint32_t)(w->waiting_count - w->heavy);
            rc = add_cell(w, *listed, count);
            *listed += count;
        } else if (count) {
            rc = add_unit(w, count);
        }
        for (size_t i = cell; i < cell + size; i++)
            w->slots[table + i].to = to;
        cell += size;
    }
    return rc;
}

/* Count and divide, level after level; particles that are still too many are to
 * be listed from 'first' on, and *listed is how many there are. */
static int divide_cell(struct work *w, const struct cell *c,
                       const uint32_t *which, size_t first, size_t *listed)
{
    size_t end = first, table = 0;
    uint32_t place;
    int rc;

    bm_grid_init(&w->grid, w->p->ndims, c->count - c->bad, w->most);
    bm_grid_scale(&w->grid, c->low, c->high);
    w->heavy = w->waiting_count;
    w->slot_count = 0;
    rc = add_table(w, w->grid.table_bits[0], &place);
    if (rc)
        return rc;
    count_first(w, which, c);
    for (int level = 0; table < w->slot_count && !rc; level++) {
        size_t tables_end = w->slot_count;

        if (level)
            count_more(w, which, c->count, level);
        while (table < tables_end && !rc) {
            rc = divide_table(w, table, level, &end);
            table += (size_t)1 << w->grid.table_bits[level];
        }
    }
    *listed = end - first;
    return rc;
}

/* From the key of each particle to its unit, or to a place in the list that
 * begins with 'list' at 'first'. */
static void place_particles(struct work *w, const uint32_t *which, size_t count,
                            uint32_t *list, size_t first)
{
    uint32_t *of = w->out->of;
    int ndims = w->p->ndims;
    struct bm_block b;

    for (size_t from = 0; from < count; from += BM_BLOCK) {
        bm_block_load(&b, w->p, which, from, count);
        for (size_t i = 0; i < b.count; i++) {
            size_t k = which ? which[from + i] : from + i;
            double *low, *high;
            uint32_t to;

            if (of[k] == NOT_FINITE)
                continue;
            to = slot_of(w, of[k], 0)->to;
            for (int level = 1; KIND_OF(to) == TO_TABLE; level++)
                to = slot_of(w, of[k], level)->to;
            if (KIND_OF(to) == TO_CELL) {
                struct cell *c = &w->waiting[w->heavy + NUMBER_OF(to)];

                list[c->fill++ - first] = (uint32_t)k;
                low = c->low;
                high = c->high;
            } else {
                of[k] = NUMBER_OF(to);
                low = w->out->units[of[k]].low;
                high = w->out->units[of[k]].high;
            }
            for (int d = 0; d < ndims; d++) {
                if (b.at[d][i] < low[d])
                    low[d] = b.at[d][i];
                if (b.at[d][i] > high[d])
                    high[d] = b.at[d][i];
            }
        }
    }
}

/* ---- the whole ---------------------------------------------------------- */

/* Divide all particles, the first step. */
static int divide_all(struct work *w, const struct cell *all)
{
    size_t listed;
    int rc;

    rc = divide_cell(w, all, NULL, 0, &listed);
    if (!rc && listed) {
        w->list = bm_new_raw(w->out->a, listed, sizeof(*w->list));
        w->aside = bm_new_raw(w->out->a, listed, sizeof(*w->aside));
        if (!w->list || !w->aside)
            rc = BOUMA_ENOMEM;
    }
    if (!rc)
        place_particles(w, NULL, all->count, w->list, 0);
    return rc;
}

static int one_place(const struct cell *c)
{
    return c->low[0] == c->high[0] && c->low[1] == c->high[1] &&
           c->low[2] == c->high[2];
}

/* All particles of a cell as one unit. */
static int keep_together(struct work *w, const struct cell *c,
                         const uint32_t *which)
{
    uint32_t unit = (uint32_t)w->out->count, *of = w->out->of;
    int rc = add_unit(w, c->count);

    if (rc)
        return rc;
    memcpy(w->out->units[unit].low, c->low, sizeof(c->low));
    memcpy(w->out->units[unit].high, c->high, sizeof(c->high));
    for (size_t i = 0; i < c->count; i++)
        of[which ? which[i] : i] = unit;
    return BOUMA_OK;
}

/* Divide a cell that has too many, unless it is one place. */
static int divide_again(struct work *w, const struct cell *c)
{
    uint32_t *which = w->list + c->first;
    size_t listed;
    int rc;

    if (one_place(c))
        return keep_together(w, c, which);
    rc = divide_cell(w, c, which, c->first, &listed);
    if (rc)
        return rc;
    place_particles(w, which, c->count, w->aside, c->first);
    memcpy(which, w->aside, listed * sizeof(*which));
    return BOUMA_OK;
}

static int divide(struct work *w)
{
    struct cell all = {.count = w->p->count};
    int rc;

    all.bad = bm_positions_bounds(w->p, all.low, all.high);
    if (!all.count)
        return BOUMA_OK;
    if (all.bad == all.count)
        for (int d = 0; d < 3; d++)
            all.low[d] = all.high[d] = 0;
    /* The others could go with no other unit than this one. */
    if (all.count - all.bad <= w->most || one_place(&all))
        return keep_together(w, &all, NULL);
    rc = divide_all(w, &all);
    while (!rc && w->waiting_count) {
        struct cell next = w->waiting[--w->waiting_count];

        rc = divide_again(w, &next);
    }
    if (!rc && all.bad) {
        for (size_t i = 0; i < all.count; i++)
            if (w->out->of[i] == NOT_FINITE)
                w->out->of[i] = 0;
        w->out->units[0].count += all.bad;
    }
    return rc;
}

int bm_pieces_make(struct bm_pieces *out, const bouma_allocator *a,
                   const struct bm_positions *positions, uint64_t most)
{
    struct work *w;
    int rc = BOUMA_ENOMEM;

    memset(out, 0, sizeof(*out));
    out->a = a;
    if (positions->ndims < 1 || positions->ndims > 3 ||
        (positions->type != BOUMA_F32 && positions->type != BOUMA_F64))
        return BOUMA_EINVAL;
    if (positions->count >= UINT32_MAX)
        return BOUMA_ELIMIT;
    w = bm_new(a, 1, sizeof(*w));
    out->of = bm_new_raw(a, positions->count, sizeof(*out->of));
    if (w && out->of) {
        w->p = positions;
        w->most = most ? most : 1;
        w->out = out;
        rc = divide(w);
    }
    if (w) {
        bm_drop(a, w->slots);
        bm_drop(a, w->waiting);
        bm_drop(a, w->aside);
        bm_drop(a, w->list);
    }
    bm_drop(a, w);
    if (rc)
        bm_pieces_release(out);
    return rc;
}

void bm_pieces_release(struct bm_pieces *p)
{
    if (!p->a)
        return;
    bm_drop(p->a, p->units);
    bm_drop(p->a, p->of);
    memset(p, 0, sizeof(*p));
}
