/* pieces.c -- see pieces.h. */
#include "pieces.h"

#include "../helpers/check.h"

enum { GUARD = 13, GUARD_BYTE = 0xa5 };

/* ---- who has what ------------------------------------------------------- */

/* Often none, often a few, sometimes many. */
static uint64_t random_bytes(uint64_t largest, uint64_t *random)
{
    switch (check_below(random, 6)) {
    case 0:
        return 0;
    case 1:
    case 2:
        return (uint64_t)check_below(random, 9);
    case 3:
    case 4:
        return (uint64_t)check_below(random, 500);
    default:
        return (uint64_t)check_below(random, (int64_t)largest + 1);
    }
}

static void shuffle(struct pieces *p, uint64_t *random)
{
    for (size_t i = p->count; i > 1; i--) {
        size_t k = (size_t)check_below(random, (int64_t)i);
        struct piece swap = p->list[k];

        p->list[k] = p->list[i - 1];
        p->list[i - 1] = swap;
    }
}

static void pieces_new(struct pieces *out, int ranks, uint64_t *random)
{
    out->count = (size_t)check_below(random, 7 * ranks + 1);
    out->list = calloc(out->count + 1, sizeof(*out->list));
    REQUIRE(out->list);
}

void pieces_disjoint(struct pieces *out, int ranks, uint64_t largest,
                     uint64_t *random)
{
    int one = (int)check_below(random, 6), holes = check_below(random, 2) == 0;
    uint64_t at = 0;

    pieces_new(out, ranks, random);
    for (size_t i = 0; i < out->count; i++) {
        struct piece *q = &out->list[i];

        if (holes && check_below(random, 3) == 0)
            at += random_bytes(largest, random);
        /* In some files, one rank has everything. */
        q->rank = one == 0 ? ranks - 1 : (int)check_below(random, ranks);
        q->at = at;
        q->bytes = random_bytes(largest, random);
        at += q->bytes;
    }
    shuffle(out, random);
}

void pieces_any(struct pieces *out, int ranks, uint64_t size, uint64_t largest,
                uint64_t *random)
{
    pieces_new(out, ranks, random);
    for (size_t i = 0; i < out->count; i++) {
        struct piece *q = &out->list[i];

        q->rank = (int)check_below(random, ranks);
        q->at = (uint64_t)check_below(random, (int64_t)size + 1);
        q->bytes = random_bytes(largest, random);
        if (q->bytes > size - q->at)
            q->bytes = size - q->at;
    }
}

uint64_t pieces_bytes(const struct pieces *p)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < p->count; i++)
        sum += p->list[i].bytes;
    return sum;
}

void pieces_free(struct pieces *p)
{
    free(p->list);
}

/* ---- what one rank has -------------------------------------------------- */

/* Some bytes as a number of elements of some size. */
static void split_bytes(uint64_t *count, uint64_t *size, uint64_t bytes,
                        uint64_t *random)
{
    static const uint64_t sizes[] = {1, 2, 3, 4, 8, 38};
    uint64_t wanted = sizes[check_below(random, 6)];

    *size = bytes % wanted ? 1 : wanted;
    *count = bytes / *size;
    if (bytes && check_below(random, 5) == 0) { /* all of it one element */
        *size = bytes;
        *count = 1;
    }
}

void hand_make(struct hand *out, const struct pieces *p, int rank,
               uint64_t *random)
{
    size_t n = 0, at = GUARD;

    out->n = 0;
    out->memory_bytes = GUARD;
    for (size_t i = 0; i < p->count; i++)
        if (p->list[i].rank == rank) {
            out->memory_bytes += (size_t)p->list[i].bytes + GUARD;
            out->n++;
        }
    out->count = calloc(out->n + 1, sizeof(*out->count));
    out->size = calloc(out->n + 1, sizeof(*out->size));
    out->offset = calloc(out->n + 1, sizeof(*out->offset));
    out->data = calloc(out->n + 1, sizeof(*out->data));
    out->memory = malloc(out->memory_bytes);
    REQUIRE(out->count && out->size && out->offset && out->data && out->memory);
    memset(out->memory, GUARD_BYTE, out->memory_bytes);
    for (size_t i = 0; i < p->count; i++) {
        const struct piece *q = &p->list[i];

        if (q->rank != rank)
            continue;
        split_bytes(&out->count[n], &out->size[n], q->bytes, random);
        out->offset[n] = q->at;
        if (q->bytes || check_below(random, 2))
            out->data[n] = out->memory + at;
        at += (size_t)q->bytes + GUARD;
        n++;
    }
}

void hand_free(struct hand *h)
{
    free(h->count);
    free(h->size);
    free(h->offset);
    free(h->data);
    free(h->memory);
}

int hand_declare(const struct hand *h, bouma_file *file)
{
    return bouma_file_declare(file, h->n, h->count, h->size, h->offset);
}

uint8_t byte_of(int file, uint64_t at, unsigned salt)
{
    uint64_t x = (at + 1) * 0x9e3779b97f4a7c15u ^
                 ((uint64_t)salt << 32 | (uint64_t)file) * 0x2545f4914f6cdd1du;

    return (uint8_t)(x >> 40 ^ x >> 57);
}

static void fill_bytes(uint8_t *data, size_t bytes, int file, uint64_t at,
                       unsigned salt)
{
    for (size_t i = 0; i < bytes; i++)
        data[i] = byte_of(file, at + i, salt);
}

void hand_fill(struct hand *h, int file, unsigned salt)
{
    for (size_t i = 0; i < h->n; i++)
        fill_bytes(h->data[i], (size_t)(h->count[i] * h->size[i]), file,
                   h->offset[i], salt);
}

void hand_clear(struct hand *h)
{
    for (size_t i = 0; i < h->n; i++)
        if (h->data[i])
            memset(h->data[i], 0x3c, (size_t)(h->count[i] * h->size[i]));
}

static size_t wrong_guards(const struct hand *h)
{
    size_t at = 0, wrong = 0;

    for (size_t i = 0; i <= h->n; i++) {
        for (size_t k = 0; k < GUARD; k++)
            wrong += h->memory[at + k] != GUARD_BYTE;
        at += GUARD;
        if (i < h->n)
            at += (size_t)(h->count[i] * h->size[i]);
    }
    return wrong;
}

size_t hand_wrong(const struct hand *h, int file, unsigned salt)
{
    size_t wrong = wrong_guards(h);

    for (size_t i = 0; i < h->n; i++)
        for (size_t k = 0; k < h->count[i] * h->size[i]; k++)
            wrong += ((uint8_t *)h->data[i])[k] !=
                     byte_of(file, h->offset[i] + k, salt);
    return wrong;
}

/* ---- what is in a file -------------------------------------------------- */

void image_init(struct image *out, size_t size, int file, unsigned salt)
{
    out->size = size;
    out->bytes = malloc(size + 1);
    REQUIRE(out->bytes);
    fill_bytes(out->bytes, size, file, 0, salt);
}

static void image_grow(struct image *i, size_t size)
{
    if (size <= i->size)
        return;
    i->bytes = realloc(i->bytes, size);
    REQUIRE(i->bytes);
    memset(i->bytes + i->size, 0, size - i->size);
    i->size = size;
}

void image_write(struct image *i, const struct pieces *p, int file,
                 unsigned salt)
{
    for (size_t k = 0; k < p->count; k++) {
        const struct piece *q = &p->list[k];

        if (!q->bytes)
            continue;
        image_grow(i, (size_t)(q->at + q->bytes));
        fill_bytes(i->bytes + q->at, (size_t)q->bytes, file, q->at, salt);
    }
}

void image_free(struct image *i)
{
    free(i->bytes);
}

size_t image_wrong(const struct image *i, const struct hand *h)
{
    size_t wrong = wrong_guards(h);

    for (size_t k = 0; k < h->n; k++) {
        size_t bytes = (size_t)(h->count[k] * h->size[k]);

        REQUIRE(h->offset[k] + bytes <= i->size);
        wrong += bytes && memcmp(h->data[k], i->bytes + h->offset[k], bytes);
    }
    return wrong;
}

void image_save(const struct image *i, const char *path)
{
    FILE *f = fopen(path, "wb");

    REQUIRE(f);
    REQUIRE(fwrite(i->bytes, 1, i->size, f) == i->size);
    REQUIRE(!fclose(f));
}

int image_is_file(const struct image *i, const char *path)
{
    FILE *f = fopen(path, "rb");
    uint8_t *bytes = malloc(i->size + 1);
    size_t n, at = 0;

    REQUIRE(bytes);
    if (!f) {
        printf("%s: cannot be opened\n", path);
        free(bytes);
        return 0;
    }
    n = fread(bytes, 1, i->size + 1, f);
    fclose(f);
    while (at < n && at < i->size && bytes[at] == i->bytes[at])
        at++;
    free(bytes);
    if (n == i->size && at == n)
        return 1;
    printf("%s: %zu bytes or more, should be %zu; wrong from %zu on\n", path, n,
           i->size, at);
    return 0;
}
