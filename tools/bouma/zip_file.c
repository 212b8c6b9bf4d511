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
#include <zlib.h>

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
        return table_refuse(message,
                            "its directory (%llu bytes at offset %llu) is not "
                            "inside of it",
                            (unsigned long long)length,
                            (unsigned long long)offset);
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
        return table_refuse(message,
                            "member '%.*s': nothing at offset %llu, where it "
                            "should be",
                            (int)member->name_length, member->name,
                            (unsigned long long)local);
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
                            "member '%.*s' cannot have %llu bytes, stored in "
                            "%llu",
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

/* Copy what the windows have in common with 'bytes' from 'offset' on. */
static void fill_windows(const struct zip_window *windows, size_t count,
                         const unsigned char *from, uint64_t offset,
                         uint64_t bytes)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t lo = windows[i].offset, hi = lo + windows[i].bytes;

        lo = lo > offset ? lo : offset;
        hi = hi < offset + bytes ? hi : offset + bytes;
        if (lo < hi)
            memcpy(windows[i].to + (lo - windows[i].offset),
                   from + (lo - offset), hi - lo);
    }
}

static uint64_t last_needed(const struct zip_window *windows, size_t count)
{
    uint64_t last = 0;

    for (size_t i = 0; i < count; i++)
        if (windows[i].offset + windows[i].bytes > last)
            last = windows[i].offset + windows[i].bytes;
    return last;
}

static uint32_t checksum(const unsigned char *bytes, uint64_t count)
{
    return (uint32_t)crc32_z(crc32_z(0, NULL, 0), bytes, (size_t)count);
}

/* All of it up to 'last', piece by piece. Returns how many bytes came, and
 * their checksum. */
static uint64_t inflate_windows(const unsigned char *from, uint64_t from_bytes,
                                const struct zip_window *windows, size_t count,
                                uint64_t last, uint32_t *crc)
{
    unsigned char piece[1 << 15];
    z_stream stream = {.next_in = (unsigned char *)from};
    uint64_t done = 0;
    int status = Z_OK;

    *crc = 0;
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
        return 0;
    while (status == Z_OK && done < last) {
        uint64_t came;

        if (stream.avail_in == 0) {
            stream.avail_in =
                (unsigned)(from_bytes < 1 << 30 ? from_bytes : 1 << 30);
            from_bytes -= stream.avail_in;
        }
        stream.next_out = piece;
        stream.avail_out = sizeof(piece);
        status = inflate(&stream, Z_NO_FLUSH);
        came = sizeof(piece) - stream.avail_out;
        if (came == 0 && stream.avail_in == 0 && from_bytes == 0)
            break;
        fill_windows(windows, count, piece, done, came);
        *crc = (uint32_t)crc32_z(*crc, piece, came);
        done += came;
    }
    inflateEnd(&stream);
    return done;
}

bool zip_extract(const struct zip_file *zip, const struct zip_member *member,
                 const struct zip_window *windows, size_t count, bool whole,
                 struct table_message *message)
{
    const unsigned char *from = zip->data + member->offset;
    uint64_t last = whole ? member->bytes : last_needed(windows, count);
    uint64_t done = member->bytes;
    uint32_t crc = 0;

    if (member->deflated) {
        done = inflate_windows(from, member->stored_bytes, windows, count, last,
                               &crc);
    } else {
        fill_windows(windows, count, from, 0, member->bytes);
        if (whole)
            crc = checksum(from, member->bytes);
    }
    if (done < last)
        return table_refuse(message,
                            "member '%.*s' is damaged: %llu of %llu bytes "
                            "could be inflated",
                            (int)member->name_length, member->name,
                            (unsigned long long)done,
                            (unsigned long long)member->bytes);
    if (whole && crc != member->crc)
        return table_refuse(message,
                            "member '%.*s' is damaged: its checksum is wrong",
                            (int)member->name_length, member->name);
    return true;
}
