/* interp_predict.c -- see interp.h: all that encoder and decoder must do alike,
 * to the last bit. */
#include "codec/interp.h"

#include "codec/clones.h"

#define REAL    float
#define NAME(x) x##_f32
#define ABS     __builtin_fabsf
#define SIGN    __builtin_copysignf
#include "codec/interp_rows.h"
#undef REAL
#undef NAME
#undef ABS
#undef SIGN
#define REAL    double
#define NAME(x) x##_f64
#define ABS     __builtin_fabs
#define SIGN    __builtin_copysign
#include "codec/interp_rows.h"
#undef REAL
#undef NAME
#undef ABS
#undef SIGN

void bm_interp_passes(struct bm_passes *p, const struct bm_field *f)
{
    int64_t n[3];
    int k = 0;

    for (int d = 0; d < 3; d++)
        n[d] = f->lattice[0].count[d];
    for (p->count = 0; n[0] > 1 || n[1] > 1 || n[2] > 1; p->count++) {
        bm_octants_init(&p->octants[p->count], n);
        for (int d = 0; d < 3; d++)
            n[d] = (n[d] + 1) / 2;
    }
    while (k + 1 < f->levels && bm_lattice_samples(&f->lattice[k + 1]))
        k++;
    p->coarsest = k;
    p->root = k < p->count ? k : p->count;
}

size_t bm_interp_samples(const struct bm_passes *p, int j)
{
    const int64_t *n = p->octants[j].n;

    return j < p->count ? (size_t)(n[0] * n[1] * n[2]) : 1;
}

/* Samples that the piece of level k holds. */
size_t bm_interp_piece_samples(const struct bm_passes *p, int k)
{
    return k < p->root ? bm_interp_samples(p, k) - bm_interp_samples(p, k + 1)
                       : bm_interp_samples(p, k);
}

/* The bound, and a step a little below twice of it, so that rounding to the
 * sample's type rarely counts. */
struct bm_quantum bm_interp_quantum(const struct bm_field *f)
{
    struct bm_quantum q;

    if (f->type == BOUMA_TYPE_F32) {
        q.bound = (double)(float)(f->bound * (1 - 0x1p-22));
        q.step = (double)(float)(q.bound * (2 - 0x1p-9));
        q.inverse = (double)(float)(1 / q.step);
    } else {
        q.bound = f->bound * (1 - 0x1p-51);
        q.step = q.bound * (2 - 0x1p-9);
        q.inverse = 1 / q.step;
    }
    return q;
}

/* Whether numbers as small can be trusted. */
int bm_interp_can_quantise(const struct bm_field *f, const struct bm_quantum *q)
{
    double smallest = f->type == BOUMA_TYPE_F32 ? 0x1p-100 : 0x1p-900;

    return q->bound > smallest && q->bound < 1 / smallest;
}

/* ---- prediction --------------------------------------------------------- */

const uint8_t *bm_interp_octant(const struct bm_lookup *l, int p)
{
    return p ? l->sorted + l->octants->at[p] * l->size : l->coarse;
}

/* Sample 2j + 1 of a line from four of its even samples: by what weights. */
enum { MIDDLE, FEW, FIRST, LAST, BEYOND_2, BEYOND_1, CONSTANT };
static const double cubic_weights[PLACES][4] = {
    {-1. / 16, 9. / 16, 9. / 16, -1. / 16},
    {0, 1. / 2, 1. / 2, 0},
    {0, 3. / 8, 6. / 8, -1. / 8},
    {-1. / 8, 6. / 8, 3. / 8, 0},
    {3. / 8, -10. / 8, 15. / 8, 0},
    {0, -1. / 2, 3. / 2, 0},
    {0, 0, 1, 0}};
static const double line_weights[PLACES][4] = {{0, 1. / 2, 1. / 2, 0},
                                               {0, 1. / 2, 1. / 2, 0},
                                               {0, 1. / 2, 1. / 2, 0},
                                               {0, 1. / 2, 1. / 2, 0},
                                               {0, -1. / 2, 3. / 2, 0},
                                               {0, -1. / 2, 3. / 2, 0},
                                               {0, 0, 1, 0}};

void bm_shares_weigh(struct bm_shares *shares)
{
    for (int axis = 0; axis < 3; axis++)
        for (int place = 0; place < PLACES; place++)
            for (int i = 0; i < 4; i++)
                shares->weight[axis][place][i] =
                    shares->cubic[axis] * cubic_weights[place][i] +
                    shares->line[axis] * line_weights[place][i];
}

struct bm_shares bm_shares_of_choice(int choice)
{
    struct bm_shares shares = {.cubic = {0, 0, 0}, .line = {0, 0, 0}};
    int axes = (choice & 1) + (choice >> 1 & 1) + (choice >> 2 & 1);

    for (int axis = 0; axis < 3; axis++)
        if (choice & (4 >> axis))
            (choice & LINEAR ? shares.line : shares.cubic)[axis] = 1. / axes;
    bm_shares_weigh(&shares);
    return shares;
}

/* Which four samples, and which weights. */
struct taps {
    int64_t at[4];
    int place;
};

/* There are 'evens' even samples. */
static inline struct taps taps_at(int64_t j, int64_t evens)
{
    int left = j >= 1, right = j + 2 < evens;
    int64_t from = j - 1;
    struct taps t;

    if (j + 1 >= evens) { /* no right neighbour: at[2] is the left one */
        from = j - 2;
        t.place = j >= 2 ? BEYOND_2 : j >= 1 ? BEYOND_1 : CONSTANT;
    } else {
        t.place = left && right ? MIDDLE : right ? FIRST : left ? LAST : FEW;
    }
    for (int i = 0; i < 4; i++) {
        int64_t at = from + i;

        t.at[i] = at < 0 ? 0 : at >= evens ? evens - 1 : at;
    }
    return t;
}

/* What one axis has of a prediction. */
struct share {
    const double (*weight)[4];
    int more; /* add to what other axes gave */
};

/* The even samples of a line, or rows of them, from which those between are
 * predicted. */
struct evens {
    const uint8_t *data;
    int64_t count, pitch; /* bytes from one to the next */
};

/* Axis 2: along the row itself. */
static void predict_along(const struct bm_lookup *l, uint8_t *row, int64_t n,
                          struct evens evens, struct share share)
{
    int64_t size = (int64_t)l->size, j = 0;

    while (j < n) {
        struct taps t = taps_at(j, evens.count);
        int64_t length = j == 1 && evens.count > 3 ? evens.count - 3 : 1;
        const void *rows[4];

        for (int i = 0; i < 4; i++)
            rows[i] = evens.data + t.at[i] * size;
        l->kernels->blend(row + j * size, rows, share.weight[t.place], length,
                          share.more);
        j += length;
    }
}

/* Axis 0 or 1: across rows; 'row' comes after row j of the even ones. */
static void predict_across(const struct bm_lookup *l, uint8_t *row, int64_t n,
                           int64_t j, struct evens evens, struct share share)
{
    struct taps t = taps_at(j, evens.count);
    const void *rows[4];

    for (int i = 0; i < 4; i++)
        rows[i] = evens.data + t.at[i] * evens.pitch;
    l->kernels->blend(row, rows, share.weight[t.place], n, share.more);
}

/* The predictions for row (z, y) of octant p. */
void bm_interp_predict(const struct bm_lookup *l, uint8_t *row, int p,
                       const struct bm_shares *shares, int64_t z, int64_t y)
{
    const struct bm_octants *o = l->octants;
    int64_t n = o->count[p][2], size = (int64_t)l->size;
    int more = 0;

    for (int axis = 0; axis < 3; axis++) {
        int from = p ^ (4 >> axis);
        const int64_t *count = o->count[from];
        const uint8_t *source = bm_interp_octant(l, from);
        int64_t pitch = count[2] * size, plane = count[1] * pitch;
        struct share share = {shares->weight[axis], more};

        if (shares->cubic[axis] == 0 && shares->line[axis] == 0)
            continue;
        if (axis == 0)
            predict_across(l, row, n, z,
                           (struct evens){source + y * pitch, count[0], plane},
                           share);
        else if (axis == 1)
            predict_across(l, row, n, y,
                           (struct evens){source + z * plane, count[1], pitch},
                           share);
        else
            predict_along(
                l, row, n,
                (struct evens){source + z * plane + y * pitch, count[2], size},
                share);
        more = 1;
    }
}

/* ---- memory ------------------------------------------------------------- */

void bm_interp_lay_out(struct bm_carver *c, struct bm_interp_space *s,
                       struct bm_interp_piece *w, const struct bm_passes *p,
                       int first, size_t size)
{
    size_t n = bm_interp_samples(p, first);
    size_t coarse = first < p->count ? bm_interp_samples(p, first + 1) : 1;
    size_t row = first < p->count ? (size_t)p->octants[first].n[2] : 1;

    s->sorted = bm_carve(c, n * size);
    s->dense[0] = bm_carve(c, coarse * size);
    s->dense[1] = bm_carve(c, coarse * size);
    s->cleaned = bm_carve(c, coarse * size);
    w->symbols = bm_carve(c, n);
    w->context = bm_carve(c, n);
    w->contexts.magnitudes = bm_carve(c, n + 64);
    for (int i = 0; i < 3; i++)
        w->contexts.bends[i] = bm_carve(c, row * size);
    for (int i = 0; i < 2; i++)
        w->contexts.logs[i] = bm_carve(c, row);
    w->contexts.beside = bm_carve(c, row * sizeof(uint16_t));
    w->contexts.before = bm_carve(c, row * sizeof(uint16_t));
    w->row = bm_carve(c, row * size);
    w->codes = bm_carve(c, row * sizeof(int32_t));
}

void bm_interp_piece_init(struct bm_interp_piece *w, const struct bm_field *f,
                          const bouma_allocator *a)
{
    memset(w, 0, sizeof(*w));
    w->field = f;
    w->kernels = f->type == BOUMA_TYPE_F32 ? &bm_interp_f32 : &bm_interp_f64;
    w->quantum = bm_interp_quantum(f);
    bm_buffer_init(&w->choices, a);
    bm_buffer_init(&w->exact, a);
    bm_buffer_init(&w->bits, a);
    bm_buffer_init(&w->where, a);
    bm_buffer_init(&w->coded, a);
}

void bm_interp_piece_release(struct bm_interp_piece *w)
{
    bm_buffer_release(&w->choices);
    bm_buffer_release(&w->exact);
    bm_buffer_release(&w->bits);
    bm_buffer_release(&w->where);
    bm_buffer_release(&w->coded);
}

/* Put the samples that are kept as they are where they belong: until now, what
 * others are predicted from was there. */
void bm_interp_restore(uint8_t *sorted, const struct bm_buffer *where,
                       const uint8_t *exact, size_t size)
{
    struct bm_cursor c = bm_cursor_of(where->data, where->size);

    for (size_t i = 0; i < where->size / 4; i++)
        memcpy(sorted + bm_get_u32(&c) * size, exact + i * size, size);
}
