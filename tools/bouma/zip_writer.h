/* zip_writer.h -- write a .zip file of stored members, such as NumPy's .npz;
 * also beyond 4 GiB (zip64). */
#ifndef ZIP_WRITER_H
#define ZIP_WRITER_H

#include "output.h"

struct zip_writer {
    struct output *output;
    uint64_t offset; /* where the next byte goes */
    struct zip_written *members;
    size_t count;
};

/* The output must outlive *out. The caller ends *out with
 * zip_writer_release(). */
void zip_writer_init(struct zip_writer *out, struct output *output);
void zip_writer_release(struct zip_writer *writer);

/* Begin a member, of which all 'bytes' and their checksum are known, then write
 * just these. */
int zip_writer_begin(struct zip_writer *writer, struct context *ctx,
                     const char *name, uint64_t bytes, uint32_t crc);
int zip_writer_write(struct zip_writer *writer, struct context *ctx,
                     const void *data, size_t bytes);

/* Write the directory. */
int zip_writer_finish(struct zip_writer *writer, struct context *ctx);

#endif
