/* zip_file.h -- the members of a .zip file in memory, such as NumPy's .npz:
 * stored or deflated, also beyond 4 GiB (zip64). */
#ifndef ZIP_FILE_H
#define ZIP_FILE_H

#include <zlib.h>

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

/* A member that is read from its beginning to its end, as far as anyone wants:
 * no more of it is in memory than the caller asks for at once. */
enum { ZIP_AHEAD = 1 << 15 };
struct zip_reader {
    const struct zip_member *member;
    const unsigned char *from; /* what is left of its bytes in the file */
    uint64_t from_bytes;
    uint64_t done; /* bytes that were given */
    uint32_t crc;  /* of these and of what is ahead */
    z_stream stream;
    unsigned char ahead[ZIP_AHEAD]; /* inflated, and not given yet */
    size_t ahead_at, ahead_end;
};

/* Start at the first byte. The caller ends *out with zip_reader_finish(), after
 * a failure too. */
bool zip_reader_start(struct zip_reader *out, const struct zip_file *zip,
                      const struct zip_member *member,
                      struct table_message *message);
void zip_reader_finish(struct zip_reader *reader);

/* The next bytes; false if the member does not have as many. With 'to' NULL
 * they are stepped over. */
bool zip_reader_read(struct zip_reader *reader, void *to, uint64_t bytes,
                     struct table_message *message);

/* Read on to the end, and compare the checksum. */
bool zip_reader_check(struct zip_reader *reader, struct table_message *message);

#endif
