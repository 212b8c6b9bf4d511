/* zip_writer.c -- write a .zip file of stored members. zip_file.c draws how it
 * is laid out. */
#include "zip_writer.h"

#include <stdlib.h>
#include <string.h>

struct zip_written {
    char *name;
    uint64_t bytes, offset;
    uint32_t crc;
};

/* Fields of a header, put one after the other. */
struct fields {
    unsigned char data[128];
    size_t size;
};

static void put(struct fields *fields, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        fields->data[fields->size++] = (unsigned char)(value >> 8 * i);
}

enum {
    ZIP64 = 45, /* version that is needed */
    PLAIN = 20,
    UTF8 = 1 << 11, /* flag */
    DAY = 0x21 /* 1 January 1980: what is written does not depend on when */
};

/* Past this, numbers of 32 bits are all ones, and the real ones come later. */
static bool is_long(uint64_t value)
{
    return value >= UINT32_MAX;
}

static uint64_t short_of(uint64_t value)
{
    return is_long(value) ? UINT32_MAX : value;
}

void zip_writer_init(struct zip_writer *out, struct output *output)
{
    *out = (struct zip_writer){.output = output};
}

void zip_writer_release(struct zip_writer *writer)
{
    for (size_t i = 0; i < writer->count; i++)
        free(writer->members[i].name);
    free(writer->members);
    *writer = (struct zip_writer){0};
}

int zip_writer_write(struct zip_writer *writer, struct context *ctx,
                     const void *data, size_t bytes)
{
    int rc = output_write(writer->output, ctx, data, bytes, writer->offset);

    writer->offset += bytes;
    return rc;
}

/* What the header of a member and its line in the directory have in common. */
static void put_common(struct fields *to, const struct zip_written *member,
                       bool zip64, size_t extra)
{
    put(to, zip64 ? ZIP64 : PLAIN, 2);
    put(to, UTF8, 2);
    put(to, 0, 2); /* stored */
    put(to, 0, 2); /* midnight */
    put(to, DAY, 2);
    put(to, member->crc, 4);
    put(to, short_of(member->bytes), 4);
    put(to, short_of(member->bytes), 4);
    put(to, strlen(member->name), 2);
    put(to, extra, 2);
}

int zip_writer_begin(struct zip_writer *writer, struct context *ctx,
                     const char *name, uint64_t bytes, uint32_t crc)
{
    struct zip_written *members = realloc(
        writer->members, (writer->count + 1) * sizeof(*writer->members));
    struct zip_written *member;
    struct fields head = {.size = 0}, extra = {.size = 0};
    bool zip64 = is_long(bytes);
    int rc;

    if (members)
        writer->members = members;
    if (!members || !(members[writer->count].name = strdup(name)))
        return context_fail_memory(ctx);
    member = &members[writer->count++];
    member->bytes = bytes;
    member->crc = crc;
    member->offset = writer->offset;
    if (zip64) {
        put(&extra, 1, 2);
        put(&extra, 16, 2);
        put(&extra, bytes, 8);
        put(&extra, bytes, 8);
    }
    put(&head, 0x04034b50, 4);
    put_common(&head, member, zip64, extra.size);
    rc = zip_writer_write(writer, ctx, head.data, head.size);
    if (!rc)
        rc = zip_writer_write(writer, ctx, name, strlen(name));
    return rc ? rc : zip_writer_write(writer, ctx, extra.data, extra.size);
}

static int write_line(struct zip_writer *writer, struct context *ctx,
                      const struct zip_written *member)
{
    struct fields line = {.size = 0}, extra = {.size = 0};
    size_t longs = (is_long(member->bytes) ? 2 : 0) + is_long(member->offset);
    int rc;

    if (longs) {
        put(&extra, 1, 2);
        put(&extra, 8 * longs, 2);
    }
    for (int i = 0; i < 2 && is_long(member->bytes); i++)
        put(&extra, member->bytes, 8);
    if (is_long(member->offset))
        put(&extra, member->offset, 8);
    put(&line, 0x02014b50, 4);
    put(&line, 3 << 8 | ZIP64, 2); /* made on Unix */
    put_common(&line, member, longs > 0, extra.size);
    put(&line, 0, 2);                       /* no comment */
    put(&line, 0, 2);                       /* on the first disk */
    put(&line, 0, 2);                       /* not text */
    put(&line, (uint64_t)0100644 << 16, 4); /* a file that can be read */
    put(&line, short_of(member->offset), 4);
    rc = zip_writer_write(writer, ctx, line.data, line.size);
    if (!rc)
        rc = zip_writer_write(writer, ctx, member->name, strlen(member->name));
    return rc ? rc : zip_writer_write(writer, ctx, extra.data, extra.size);
}

int zip_writer_finish(struct zip_writer *writer, struct context *ctx)
{
    uint64_t start = writer->offset, end, bytes, count = writer->count;
    struct fields record = {.size = 0};
    int rc = DONE;

    for (size_t i = 0; !rc && i < writer->count; i++)
        rc = write_line(writer, ctx, &writer->members[i]);
    end = writer->offset;
    bytes = end - start;
    if (is_long(start) || is_long(bytes) || count >= UINT16_MAX) {
        put(&record, 0x06064b50, 4);
        put(&record, 44, 8); /* bytes of this record from here on */
        put(&record, 3 << 8 | ZIP64, 2);
        put(&record, ZIP64, 2);
        put(&record, 0, 4);
        put(&record, 0, 4);
        put(&record, count, 8);
        put(&record, count, 8);
        put(&record, bytes, 8);
        put(&record, start, 8);
        put(&record, 0x07064b50, 4); /* where that record is */
        put(&record, 0, 4);
        put(&record, end, 8);
        put(&record, 1, 4);
    }
    put(&record, 0x06054b50, 4);
    put(&record, 0, 2);
    put(&record, 0, 2);
    put(&record, count < UINT16_MAX ? count : UINT16_MAX, 2);
    put(&record, count < UINT16_MAX ? count : UINT16_MAX, 2);
    put(&record, short_of(bytes), 4);
    put(&record, short_of(start), 4);
    put(&record, 0, 2);
    return rc ? rc : zip_writer_write(writer, ctx, record.data, record.size);
}
