/* zip_file.h -- the members of a .zip file in memory, such as NumPy's .npz:
 * stored or deflated, also beyond 4 GiB (zip64). */
#ifndef ZIP_FILE_H
#define ZIP_FILE_H

#include "particle_table.h"

struct zip_member {
    const char *name; /* in the file's memory, without an end */
    size_t name_length;
    bool deflated;
    uint64_t offset; /* of its bytes in the file */
    uint64_t stored_bytes, bytes;
    uint32_t crc;
};

/* The memory is the caller's, and must outlive this. */
struct zip_file {
    const unsigned char *data;
    size_t size;
    uint64_t next, directory_end; /* what is left of the directory */
};

/* Find the directory. */
bool zip_open(struct zip_file *out, const void *data, size_t size,
              struct table_message *message);

/* The next member in *out. At the end it is one without a name. */
bool zip_next(struct zip_file *zip, struct zip_member *out,
              struct table_message *message);

/* Bytes of a member that are wanted: so many from 'offset' on. */
struct zip_window {
    uint64_t offset, bytes;
    unsigned char *to;
};

/* Inflate or copy the windows of a member. 'whole' reads it to its end, and
 * compares the checksum. */
bool zip_extract(const struct zip_file *zip, const struct zip_member *member,
                 const struct zip_window *windows, size_t count, bool whole,
                 struct table_message *message);

#endif
