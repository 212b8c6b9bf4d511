/* zip_file.c -- the members of a .zip file in memory.
 *
 * At the end of the file lies a record that tells where the directory is; with
 * zip64, a locator before it tells where a longer record lies:
 *
 *     members ... | directory | [record 64] | [locator] | record | comment
 *
 * The directory is believed, after checks; of what stands in front of a member,
 * only its length counts. */
#include "zip_file.h"

#include <string.h>

enum {
    RECORD = 22,
    LOCATOR = 20,
    RECORD64 = 56,
    ENTRY = 46,
    LOCAL = 30,
    COMMENT = 65535
};

/* deflate makes at most 258 bytes of 2 bits: a member that claims more is
 * forged. */
static const uint64_t most_expansion = 1032;

static uint64_t get(const unsigned char *p, int bytes)
{
    uint64_t value = 0;

    for (int i = bytes - 1; i >= 0; i--)
        value = value << 8 | p[i];
    return value;
}

/* ---- the directory ------------------------------------------------------- */

static const unsigned char *find_record(const unsigned char *data, size_t size)
{
    size_t lowest =
        size > RECORD + COMMENT ? size - RECORD - (size_t)COMMENT : 0;

    for (size_t at = size - RECORD + 1; at-- > lowest;)
        if (memcmp(data + at, "PK\5\6", 4) == 0 &&
            get(data + at + 20, 2) <= size - at - RECORD)
            return data + at;
    return NULL;
}

/* The longer record of zip64, or NULL. */
static const unsigned char *find_record64(const unsigned char *data,
                                          const unsigned char *record)
{
    size_t at = (size_t)(record - data);
    uint64_t where;

    if (at < LOCATOR + RECORD64 || memcmp(record - LOCATOR, "PK\6\7", 4) != 0)
        return NULL;
    where = get(record - LOCATOR + 8, 8);
    if (where > at - LOCATOR - RECORD64 ||
        memcmp(data + where, "PK\6\6", 4) != 0)
        return NULL;
    return data + where;
}

bool zip_open(struct zip_file *out, const void *data, size_t size,
              struct table_message *message)
{
    const unsigned char *record, *record64;
    uint64_t length, offset, end;

    *out = (struct zip_file){.data = data, .size = size};
    record = size >= RECORD ? find_record(data, size) : NULL;
    if (!record)
        return table_refuse(message, "it is not a .npz file, or is cut off: "
                                     "the directory at its end is missing");
    length = get(record + 12, 4);
    offset = get(record + 16, 4);
    end = (uint64_t)(record - out->data);
    record64 = find_record64(data, record);
    if (record64) {
        length = get(record64 + 40, 8);
        offset = get(record64 + 48, 8);
        end = (uint64_t)(record64 - out->data);
    }
    if (offset > end || length > end - offset)
        return table_refuse(
            message,
            "its directory (%llu bytes at offset %llu) is not inside the file",
            (unsigned long long)length, (unsigned long long)offset);
    out->next = offset;
    out->directory_end = offset + length;
    return true;
}

/* Sizes and offset that do not fit into 32 bits stand in an extra field, in
 * this order, each only where the other is all ones. */
static bool read_extra64(struct zip_member *member, uint64_t *local,
                         const unsigned char *extra, size_t length)
{
    uint64_t *const fields[] = {&member->bytes, &member->stored_bytes, local};
    size_t at = 0;

    while (length - at >= 4) {
        size_t id = get(extra + at, 2), bytes = get(extra + at + 2, 2);

        at += 4;
        if (bytes > length - at)
            return false;
        if (id != 1) {
            at += bytes;
            continue;
        }
        for (int i = 0; i < 3; i++) {
            if (*fields[i] != UINT32_MAX)
                continue;
            if (bytes < 8)
                return false;
            *fields[i] = get(extra + at, 8);
            at += 8;
            bytes -= 8;
        }
        return true;
    }
    return true;
}

/* Where the bytes of a member begin: behind a header of their own. */
static bool find_bytes(const struct zip_file *zip, struct zip_member *member,
                       uint64_t local, struct table_message *message)
{
    const unsigned char *header = zip->data + local;

    if (local > zip->size || zip->size - local < LOCAL ||
        memcmp(header, "PK\3\4", 4) != 0)
        return table_refuse(
            message, "member '%.*s' is not at offset %llu, where it should be",
            (int)member->name_length, member->name, (unsigned long long)local);
    member->offset = local + LOCAL + get(header + 26, 2) + get(header + 28, 2);
    if (member->offset > zip->size ||
        member->stored_bytes > zip->size - member->offset)
        return table_refuse(message,
                            "member '%.*s' at offset %llu goes beyond the end "
                            "of the file",
                            (int)member->name_length, member->name,
                            (unsigned long long)local);
    return true;
}

static bool check_member(const struct zip_member *member, unsigned method,
                         unsigned flags, struct table_message *message)
{
    if (flags & 1)
        return table_refuse(message, "member '%.*s' is encrypted",
                            (int)member->name_length, member->name);
    if (method != 0 && method != 8)
        return table_refuse(message,
                            "member '%.*s' is compressed by method %u; save it "
                            "with numpy.savez or numpy.savez_compressed",
                            (int)member->name_length, member->name, method);
    if (!member->deflated
            ? member->bytes != member->stored_bytes
            : member->bytes / most_expansion > member->stored_bytes)
        return table_refuse(message,
                            "member '%.*s' claims to have %llu bytes, which "
                            "the %llu stored ones cannot hold",
                            (int)member->name_length, member->name,
                            (unsigned long long)member->bytes,
                            (unsigned long long)member->stored_bytes);
    return true;
}

bool zip_next(struct zip_file *zip, struct zip_member *out,
              struct table_message *message)
{
    const unsigned char *entry = zip->data + zip->next;
    uint64_t left = zip->directory_end - zip->next, local;
    size_t name, extra, comment;

    *out = (struct zip_member){0};
    if (left == 0)
        return true;
    if (left < ENTRY || memcmp(entry, "PK\1\2", 4) != 0)
        return table_refuse(message, "its directory is damaged at offset %llu",
                            (unsigned long long)zip->next);
    name = get(entry + 28, 2);
    extra = get(entry + 30, 2);
    comment = get(entry + 32, 2);
    if (name + extra + comment > left - ENTRY || name == 0)
        return table_refuse(message, "its directory is damaged at offset %llu",
                            (unsigned long long)zip->next);
    out->name = (const char *)entry + ENTRY;
    out->name_length = name;
    out->deflated = get(entry + 10, 2) == 8;
    out->crc = (uint32_t)get(entry + 16, 4);
    out->stored_bytes = get(entry + 20, 4);
    out->bytes = get(entry + 24, 4);
    local = get(entry + 42, 4);
    if (!read_extra64(out, &local, entry + ENTRY + name, extra))
        return table_refuse(message, "its directory is damaged at offset %llu",
                            (unsigned long long)zip->next);
    zip->next += ENTRY + name + extra + comment;
    return check_member(out, (unsigned)get(entry + 10, 2),
                        (unsigned)get(entry + 8, 2), message) &&
           find_bytes(zip, out, local, message);
}

/* ---- bytes --------------------------------------------------------------- */

bool zip_reader_start(struct zip_reader *out, const struct zip_file *zip,
                      const struct zip_member *member,
                      struct table_message *message)
{
    out->member = member;
    out->from = zip->data + member->offset;
    out->from_bytes = member->stored_bytes;
    out->done = 0;
    out->crc = 0;
    out->stream = (z_stream){0};
    out->ahead_at = out->ahead_end = 0;
    if (member->deflated && inflateInit2(&out->stream, -MAX_WBITS) != Z_OK)
        return table_refuse(message, "no memory to inflate member '%.*s'",
                            (int)member->name_length, member->name);
    return true;
}

void zip_reader_finish(struct zip_reader *reader)
{
    inflateEnd(&reader->stream); /* takes one that was never started */
}

/* Inflate up to 'room' bytes; how many came, 0 at the end or at damage. */
static size_t inflate_some(struct zip_reader *reader, unsigned char *to,
                           size_t room)
{
    z_stream *stream = &reader->stream;
    const unsigned most = 1 << 30;
    int status = Z_OK;

    stream->next_out = to;
    stream->avail_out = (unsigned)(room < most ? room : most);
    room = stream->avail_out;
    while (status == Z_OK && stream->avail_out == room) {
        unsigned given =
            (unsigned)(reader->from_bytes < most ? reader->from_bytes : most);

        stream->next_in = (unsigned char *)reader->from;
        stream->avail_in = given;
        status = inflate(stream, Z_NO_FLUSH);
        given -= stream->avail_in;
        reader->from += given;
        reader->from_bytes -= given;
    }
    room -= stream->avail_out;
    reader->crc = (uint32_t)crc32_z(reader->crc, to, room);
    return room;
}

static size_t take_ahead(struct zip_reader *reader, unsigned char *to,
                         uint64_t bytes)
{
    size_t n = reader->ahead_end - reader->ahead_at;

    n = n < bytes ? n : (size_t)bytes;
    if (to && n)
        memcpy(to, reader->ahead + reader->ahead_at, n);
    reader->ahead_at += n;
    return n;
}

/* Long pieces go straight to where they are wanted. */
static uint64_t inflate_to(struct zip_reader *reader, unsigned char *to,
                           uint64_t bytes)
{
    uint64_t done = take_ahead(reader, to, bytes);

    while (done < bytes) {
        size_t came;

        if (to && bytes - done >= ZIP_AHEAD) {
            came = inflate_some(reader, to + done, (size_t)(bytes - done));
        } else {
            reader->ahead_at = 0;
            reader->ahead_end = inflate_some(reader, reader->ahead, ZIP_AHEAD);
            came = take_ahead(reader, to ? to + done : NULL, bytes - done);
        }
        if (came == 0)
            break;
        done += came;
    }
    return done;
}

/* A stored member has all its bytes in the file, as zip_next() has seen. */
static uint64_t copy_to(struct zip_reader *reader, unsigned char *to,
                        uint64_t bytes)
{
    bytes = bytes < reader->from_bytes ? bytes : reader->from_bytes;
    if (to && bytes)
        memcpy(to, reader->from, (size_t)bytes);
    reader->crc = (uint32_t)crc32_z(reader->crc, reader->from, (size_t)bytes);
    reader->from += bytes;
    reader->from_bytes -= bytes;
    return bytes;
}

bool zip_reader_read(struct zip_reader *reader, void *to, uint64_t bytes,
                     struct table_message *message)
{
    const struct zip_member *member = reader->member;
    uint64_t came = member->deflated ? inflate_to(reader, to, bytes)
                                     : copy_to(reader, to, bytes);

    reader->done += came;
    if (came == bytes)
        return true;
    return table_refuse(message,
                        "member '%.*s' is damaged: only %llu of its %llu bytes "
                        "could be read",
                        (int)member->name_length, member->name,
                        (unsigned long long)reader->done,
                        (unsigned long long)member->bytes);
}

bool zip_reader_check(struct zip_reader *reader, struct table_message *message)
{
    const struct zip_member *member = reader->member;

    if (!zip_reader_read(reader, NULL, member->bytes - reader->done, message))
        return false;
    if (reader->ahead_at < reader->ahead_end)
        return table_refuse(message,
                            "member '%.*s' is damaged: it holds more than its "
                            "%llu bytes",
                            (int)member->name_length, member->name,
                            (unsigned long long)member->bytes);
    if (reader->crc != member->crc)
        return table_refuse(message,
                            "member '%.*s' is damaged: its checksum is wrong",
                            (int)member->name_length, member->name);
    return true;
}
