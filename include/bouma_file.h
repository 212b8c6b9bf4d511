/* bouma_file.h -- plain files of any program, written and read by all ranks.
 *
 * Example:
 *
 *     double heat[100] = {0}, flow[300] = {0};
 *     const uint64_t count[] = {100, 300}, size[] = {8, 8};
 *     const uint64_t offset[] = {0, 800};
 *     const void *data[] = {heat, flow};
 *     bouma_file *file = NULL;
 *
 *     int rc = bouma_file_open(&file, "out.dat", BOUMA_FILE_MODE_CREATE, NULL);
 *     if (!rc)
 *         rc = bouma_file_declare(file, 2, count, size, offset);
 *     if (!rc)
 *         rc = bouma_file_write(file, data);
 *     if (!rc)
 *         rc = bouma_file_close(file);
 *     if (rc)
 *         fprintf(stderr, "%s\n", bouma_file_message(file));
 *     bouma_file_free(file);
 *
 * With MPI, bouma_file_open_mpi() opens it, and each rank declares its own. */
#ifndef BOUMA_FILE_H
#define BOUMA_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "bouma_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- plain files of any program ----------------------------------------- */

/* One call for a sequence of MPI_File_write_at_all() or MPI_File_read_at_all():
 * all ranks declare which bytes of a file they have, for any number of
 * variables at once; these are gathered across the variables, and a few ranks
 * write them in large pieces. The bytes in the file are those of the sequence.
 *
 * These options apply: io, allocator, files, nodes_per_file, writers, place,
 * machine, tier, local, buffers, buffer_bytes, message_bytes, transport,
 * timeout, durability (synced only if durable) and progress. */
typedef struct bouma_file bouma_file;

/* How a plain file is opened. */
typedef enum bouma_file_mode {
    /* an existing file */
    BOUMA_FILE_MODE_READ = 1,
    /* a new file; an existing one is emptied, and keeps its owner and links */
    BOUMA_FILE_MODE_CREATE = 2,
    /* created if missing; bytes that are not written stay */
    BOUMA_FILE_MODE_UPDATE = 3
} bouma_file_mode;

/* The caller owns *out and frees it with bouma_file_free(), after a failure,
 * too: it holds the message. With the option 'files' above 1, ranks are divided
 * into that many groups (at most one per rank) of equally many consecutive
 * ranks, each with its own file: PATH.0000, PATH.0001, ... With the option
 * 'nodes_per_file', the ranks of so many nodes are a group. Collective. */
BOUMA_API int bouma_file_open(bouma_file **out, const char *path,
                              bouma_file_mode mode, const bouma_options *opts);
/* Close the file, as bouma_file_close() does, and go on to another one, such as
 * that of the next step, with the same options. What was declared holds for it,
 * and all that was made for it is used again: the plan, buffers, messages and
 * threads. So the first write needs no more than a repeated one. If it fails,
 * free the file. Collective. */
BOUMA_API int bouma_file_reopen(bouma_file *file, const char *path,
                                bouma_file_mode mode);
/* Sync, if the option 'durability' is durable (the default), and close.
 * Collective. */
BOUMA_API int bouma_file_close(bouma_file *file);
/* Collective only if it was opened with MPI. */
BOUMA_API void bouma_file_free(bouma_file *file);
BOUMA_API const char *bouma_file_message(const bouma_file *file);

/* The number of this rank's file, the rank's number within the group of that
 * file, and the size of the group. Any of the pointers may be NULL. */
BOUMA_API int bouma_file_group(const bouma_file *file, int *group, int *rank,
                               int *ranks);

/* Declare that this rank has count[i] elements of size[i] bytes of variable i,
 * from byte offset[i] of its group's file on. Ranks may have different numbers
 * of variables; only bytes matter. The declaration holds until the next one;
 * if all ranks declare what they declared last, nothing is planned anew.
 * Ranges to be written must not overlap between ranks (if they do, one of them
 * is written; within a rank, the last one in the list); ranges to be read may.
 * Collective. */
BOUMA_API int bouma_file_declare(bouma_file *file, size_t variables,
                                 const uint64_t *count, const uint64_t *size,
                                 const uint64_t *offset);

/* Write variable i from data[i], or read it into data[i]. Reading beyond the
 * end of a file is BOUMA_EFORMAT. Collective. */
BOUMA_API int bouma_file_write(bouma_file *file, const void *const *data);
BOUMA_API int bouma_file_read(bouma_file *file, void *const *data);

/* The last write or read, summed over all ranks. */
typedef struct bouma_file_report {
    size_t size;           /* sizeof(bouma_file_report), set by the caller */
    uint64_t bytes;        /* declared */
    uint64_t moved_bytes;  /* between ranks */
    int64_t writers;       /* ranks that wrote or read files */
    int64_t rounds;        /* of the rank with the most */
    uint64_t buffer_bytes; /* of each buffer */
    double seconds;        /* of the slowest rank */
    double store_seconds;  /* of the slowest rank's thread */
} bouma_file_report;
BOUMA_API int bouma_file_report_get(bouma_file_report *out,
                                    const bouma_file *file);

#ifdef __cplusplus
}
#endif
#endif
