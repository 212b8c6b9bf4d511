/* pieces.h -- for tests of plain files: which rank has which bytes of a file,
 * at random, what is in them, and what the file must then be, byte by byte. */
#ifndef PIECES_H
#define PIECES_H

#include <stddef.h>
#include <stdint.h>

#include "bouma_mpi.h"

/* ---- who has what ------------------------------------------------------- */

struct piece {
    int rank; /* of the file's ranks */
    uint64_t at, bytes;
};

/* Of all ranks, in any order; the same everywhere from the same random state.
 */
struct pieces {
    struct piece *list;
    size_t count;
};

/* Pieces that do not overlap, with holes between some of them, many of them
 * empty or tiny, others up to 'largest' bytes. Some ranks may have none. */
void pieces_disjoint(struct pieces *out, int ranks, uint64_t largest,
                     uint64_t *random);
/* Any parts of a file of 'size' bytes; they may overlap. */
void pieces_any(struct pieces *out, int ranks, uint64_t size, uint64_t largest,
                uint64_t *random);
uint64_t pieces_bytes(const struct pieces *p);
void pieces_free(struct pieces *p);

/* ---- what one rank has -------------------------------------------------- */

/* In the form in which it is declared, with memory for it. */
struct hand {
    size_t n;
    uint64_t *count, *size, *offset;
    void **data; /* NULL for some of those without bytes */
    uint8_t *memory;
    size_t memory_bytes;
};

void hand_make(struct hand *out, const struct pieces *p, int rank,
               uint64_t *random);
void hand_free(struct hand *h);
int hand_declare(const struct hand *h, bouma_file *file);

/* What 'file' has at 'at'; another salt gives other bytes. */
uint8_t byte_of(int file, uint64_t at, unsigned salt);

/* Fill it with the bytes of a file. */
void hand_fill(struct hand *h, int file, unsigned salt);
/* The number of bytes that are not those; also of those around the pieces. */
size_t hand_wrong(const struct hand *h, int file, unsigned salt);
/* Fill it with something else, before a read. */
void hand_clear(struct hand *h);

/* ---- what is in a file -------------------------------------------------- */

struct image {
    uint8_t *bytes;
    size_t size;
};

/* A file with 'size' bytes of some other salt. */
void image_init(struct image *out, size_t size, int file, unsigned salt);
/* The file after a write of these pieces. */
void image_write(struct image *i, const struct pieces *p, int file,
                 unsigned salt);
void image_free(struct image *i);
/* The bytes of a hand that are not those of the image; as hand_wrong(). */
size_t image_wrong(const struct image *i, const struct hand *h);

/* Make the file; whether it is that, byte by byte. */
void image_save(const struct image *i, const char *path);
int image_is_file(const struct image *i, const char *path);

#endif
