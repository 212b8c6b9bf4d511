/* idx_view.h -- a reader of IDX datasets that knows nothing of the library but
 * its I/O table: it reads the header, follows the links, and finds each sample
 * by its address, which it computes bit by bit. */
#ifndef IDX_VIEW_H
#define IDX_VIEW_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bouma.h"

enum { IDX_VIEW_STEPS = 64, IDX_VIEW_FIELDS = 8, IDX_VIEW_FILES = 4096 };

struct idx_view {
    const bouma_io *io;
    void *root;
    char grid[64];
    char *text;
    int ndims;
    long size[3]; /* x, y, z */
    char mask[64];
    int bits, block_bits;
    long per_file;
    struct {
        char name[64];
        int bytes, components; /* of a value */
    } fields[IDX_VIEW_FIELDS];
    int field_count;
    long steps[IDX_VIEW_STEPS];
    int step_count;
};

static inline char *idx_view_load(const struct idx_view *v, const char *name,
                                  size_t *bytes)
{
    void *file;
    uint64_t size;
    size_t done, at = 0;
    char *out;

    if (v->io->open(v->io->user, v->root, &file, name, BOUMA_OPEN_MODE_READ))
        return NULL;
    if (v->io->file_size(v->io->user, file, &size))
        abort();
    out = calloc(1, (size_t)size + 1);
    for (; out && at < size; at += done)
        if (v->io->read(v->io->user, file, out + at, (size_t)size - at, at,
                        &done) ||
            !done)
            abort();
    v->io->close(v->io->user, file);
    *bytes = at;
    return out;
}

/* The value of a key: what follows its line. */
static inline const char *idx_view_key(const struct idx_view *v,
                                       const char *key)
{
    const char *at = strstr(v->text, key);

    return at ? at + strlen(key) : "";
}

static inline void idx_view_fields(struct idx_view *v)
{
    const char *at = idx_view_key(v, "(fields)\n");

    while (*at && *at != '(') {
        char type[32];
        int bits = 0, i = v->field_count++;

        at += *at == '+' ? 2 : 0;
        v->fields[i].components = 1;
        if (sscanf(at, "%63s %d*%31s", v->fields[i].name,
                   &v->fields[i].components, type) != 3)
            sscanf(at, "%63s %31s", v->fields[i].name, type);
        sscanf(type + strcspn(type, "0123456789"), "%d", &bits);
        v->fields[i].bytes = bits / 8;
        at = strchr(at, '\n') + 1;
    }
}

static inline void idx_view_times(struct idx_view *v)
{
    const char *at = idx_view_key(v, "(time)\n");
    long a, b, each;

    if (sscanf(at, "%ld %ld time", &a, &b) == 2) {
        for (; a <= b; a++)
            v->steps[v->step_count++] = a;
        return;
    }
    at += strlen("time%09d/");
    for (; sscanf(at, " (%ld,%ld,%ld)", &a, &b, &each) == 3;
         at = strchr(at, ')') + 1)
        for (; a <= b; a += each)
            v->steps[v->step_count++] = a;
}

/* 0 if there is no such dataset. */
static inline int idx_view_open(struct idx_view *v, const bouma_io *io,
                                const char *path, const char *grid)
{
    char name[128], mask[64] = "";
    size_t bytes;

    memset(v, 0, sizeof(*v));
    v->io = io;
    snprintf(v->grid, sizeof(v->grid), "%s", grid);
    if (io->attach(io->user, &v->root, path, 0))
        return 0;
    snprintf(name, sizeof(name), "idx/%s.idx", grid);
    v->text = idx_view_load(v, name, &bytes);
    if (!v->text) {
        io->detach(io->user, v->root);
        return 0;
    }
    v->ndims = sscanf(idx_view_key(v, "(box)\n"), "0 %ld 0 %ld 0 %ld",
                      &v->size[0], &v->size[1], &v->size[2]);
    for (int d = 0; d < 3; d++)
        v->size[d]++;
    sscanf(idx_view_key(v, "(bits)\nV"), "%63s", mask);
    memcpy(v->mask, mask, sizeof(mask));
    v->bits = (int)strlen(mask);
    v->block_bits = atoi(idx_view_key(v, "(bitsperblock)\n"));
    v->per_file = atol(idx_view_key(v, "(blocksperfile)\n"));
    idx_view_fields(v);
    idx_view_times(v);
    return 1;
}

static inline void idx_view_close(struct idx_view *v)
{
    v->io->detach(v->io->user, v->root);
    free(v->text);
}

static inline uint64_t idx_view_address(const struct idx_view *v,
                                        const long at[3])
{
    long left[3] = {at[0], at[1], at[2]};
    uint64_t z = 0;

    for (int i = 0; i < v->bits; i++) {
        int axis = v->mask[v->bits - 1 - i] - '0';

        z |= (uint64_t)(left[axis] & 1) << i;
        left[axis] >>= 1;
    }
    if (!z)
        return 0;
    z |= (uint64_t)1 << v->bits;
    while (!(z & 1))
        z >>= 1;
    return z >> 1;
}

/* The file with a block, by its links; NULL if there is none. */
static inline char *idx_view_file(const struct idx_view *v, long step,
                                  uint64_t first, size_t *bytes)
{
    char name[512], links[256], file[64], target[512], *steps;
    int k = v->bits - v->block_bits;

    snprintf(name, sizeof(name), "idx/%s/time%09ld", v->grid, step);
    if (v->io->read_link(v->io->user, v->root, name, links, sizeof(links)))
        return NULL;
    snprintf(file, sizeof(file), "%0*lx.bin",
             k == 0    ? 1
             : k <= 8  ? 2
             : k <= 12 ? 3
                       : 4,
             (unsigned long)first);
    snprintf(name, sizeof(name), "idx/%.63s/%s/%s", v->grid, links, file);
    if (k > 16 ||
        v->io->read_link(v->io->user, v->root, name, target, sizeof(target)))
        return NULL;
    steps = strstr(target, "steps/");
    return steps && steps - target == 9 ? idx_view_load(v, steps, bytes) : NULL;
}

static inline uint32_t idx_view_word(const char *at)
{
    const unsigned char *p = (const unsigned char *)at;

    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 |
           p[3];
}

/* All samples of a field, [z][y][x][component], which the caller frees; NULL if
 * one of them is nowhere. */
static inline char *idx_view_read(const struct idx_view *v, int field,
                                  long step)
{
    size_t sample =
        (size_t)v->fields[field].bytes * (size_t)v->fields[field].components;
    size_t all = (size_t)(v->size[0] * v->size[1] * v->size[2]), n = 0;
    char **files = calloc(IDX_VIEW_FILES, sizeof(*files));
    size_t *bytes = calloc(IDX_VIEW_FILES, sizeof(*bytes));
    char *out = calloc(all, sample);
    int failed = 0;
    long at[3];

    for (at[2] = 0; at[2] < v->size[2]; at[2]++)
        for (at[1] = 0; at[1] < v->size[1]; at[1]++)
            for (at[0] = 0; at[0] < v->size[0] && !failed; at[0]++, n++) {
                uint64_t h = idx_view_address(v, at);
                uint64_t block = h >> v->block_bits;
                uint64_t number = block / (uint64_t)v->per_file;
                uint64_t slot = block % (uint64_t)v->per_file, offset;
                const char *head;

                if (number >= IDX_VIEW_FILES)
                    abort();
                if (!files[number])
                    files[number] =
                        idx_view_file(v, step, block - slot, &bytes[number]);
                failed = !files[number];
                if (failed)
                    continue;
                head = files[number] + 40 +
                       40 * ((uint64_t)field * (uint64_t)v->per_file + slot);
                offset = (uint64_t)idx_view_word(head + 12) << 32 |
                         idx_view_word(head + 8);
                failed = !offset || idx_view_word(head + 20) ||
                         idx_view_word(head + 16) != sample << v->block_bits ||
                         offset + (sample << v->block_bits) > bytes[number];
                offset += (h & (((uint64_t)1 << v->block_bits) - 1)) * sample;
                if (!failed)
                    memcpy(out + n * sample, files[number] + offset, sample);
            }
    for (int i = 0; i < IDX_VIEW_FILES; i++)
        free(files[i]);
    free(files);
    free(bytes);
    if (failed) {
        free(out);
        return NULL;
    }
    return out;
}

#endif
