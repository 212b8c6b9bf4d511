/* idx_dataset.c -- an IDX dataset and its files. */
#include "idx_dataset.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "read_idx_block.h"

/* Files that cannot be read, after which it is enough. */
enum { MOST_LOST_FILES = 1000 };

/* The file that the last block was in. */
struct open_file {
    char name[4096];
    int fd;    /* -1: it cannot be read */
    int error; /* why */
    uint64_t bytes;
    bool any; /* there is one */
};

/* What is needed while blocks are visited. */
struct visit {
    const struct idx_dataset *dataset;
    const struct idx_part *part;
    struct idx_tally *tally;
    struct open_file file;
    int lost_files;
    uint8_t *data;           /* NULL: headers only */
    uint8_t *stored, *plain; /* a block */
    size_t stored_room;
    struct idx_message message;
};

/* ---- files --------------------------------------------------------------- */

static void close_file(struct open_file *file)
{
    if (file->any && file->fd >= 0)
        close(file->fd);
    file->any = false;
}

/* Make the file of a block the one that is open; why it cannot be, in
 * 'message'. */
static bool open_file(struct visit *visit, const struct idx_place *place)
{
    struct open_file *file = &visit->file;
    char name[sizeof(file->name)];
    struct stat info;

    if (!idx_file_name(name, sizeof(name), &visit->dataset->header,
                       visit->dataset->path, place)) {
        snprintf(visit->message.text, sizeof(visit->message.text),
                 "the name of a file is too long");
        return false;
    }
    if (!file->any || strcmp(name, file->name) != 0) {
        close_file(file);
        memcpy(file->name, name, sizeof(name));
        file->any = true;
        file->fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        if (file->fd >= 0 &&
            (fstat(file->fd, &info) || !S_ISREG(info.st_mode))) {
            close(file->fd);
            file->fd = -1;
            errno = EINVAL;
        }
        file->error = errno;
        file->bytes = file->fd >= 0 ? (uint64_t)info.st_size : 0;
        visit->lost_files += file->fd < 0;
    }
    if (file->fd < 0)
        snprintf(visit->message.text, sizeof(visit->message.text), "%s",
                 file->error == ENOENT || file->error == ENOTDIR
                     ? "is missing"
                     : "cannot be read");
    return file->fd >= 0;
}

static bool read_bytes(struct visit *visit, void *to, uint64_t offset,
                       size_t bytes)
{
    uint8_t *at = to;

    while (bytes) {
        ssize_t got = pread(visit->file.fd, at, bytes, (off_t)offset);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            snprintf(visit->message.text, sizeof(visit->message.text),
                     "cannot be read: %s",
                     got ? strerror(errno) : "it is cut off");
            return false;
        }
        at += got;
        offset += (uint64_t)got;
        bytes -= (size_t)got;
    }
    return true;
}

/* ---- blocks -------------------------------------------------------------- */

/* The header of a block; why there is none, in 'message'. */
static bool find_block(struct visit *visit, const struct idx_place *place,
                       struct idx_block *out)
{
    const struct idx_header *header = &visit->dataset->header;
    uint8_t bytes[IDX_BLOCK_HEADER];
    struct idx_message why;
    size_t length;
    uint64_t at = idx_block_at(header, place, &length);
    bool ok;

    if (!open_file(visit, place))
        return false;
    if (length && (at > visit->file.bytes || length > visit->file.bytes - at)) {
        snprintf(visit->message.text, sizeof(visit->message.text),
                 "is cut off in its headers: it has %llu bytes",
                 (unsigned long long)visit->file.bytes);
        return false;
    }
    if (length && !read_bytes(visit, bytes, at, length))
        return false;
    ok = length ? idx_block_parse(out, header, place->field, bytes,
                                  visit->file.bytes, &why)
                : idx_block_plain(out, header, place->field, visit->file.bytes,
                                  &why);
    if (!ok)
        snprintf(visit->message.text, sizeof(visit->message.text),
                 "block %llu of %.100s %.300s",
                 (unsigned long long)place->block,
                 header->fields[place->field].name, why.text);
    return ok;
}

/* Into 'plain'. */
static bool load_block(struct visit *visit, const struct idx_place *place,
                       const struct idx_block *block)
{
    const struct idx_header *header = &visit->dataset->header;
    struct idx_message why;

    if (block->size > visit->stored_room) {
        free(visit->stored);
        visit->stored = malloc(block->size);
        visit->stored_room = visit->stored ? block->size : 0;
    }
    if (!visit->stored) {
        snprintf(visit->message.text, sizeof(visit->message.text),
                 "there is no memory for a block");
        return false;
    }
    if (!read_bytes(visit, visit->stored, block->offset, block->size))
        return false;
    if (idx_block_decode(visit->plain, header, place, block, visit->stored,
                         &why))
        return true;
    snprintf(visit->message.text, sizeof(visit->message.text),
             "block %llu of %.100s: %.300s", (unsigned long long)place->block,
             header->fields[place->field].name, why.text);
    return false;
}

static void unpack(const struct visit *visit, uint64_t number, bool row_major)
{
    const struct idx_header *header = &visit->dataset->header;
    const bouma_box *box = &visit->part->box;
    struct idx_rows rows = {
        .data = visit->data,
        .size = header->fields[visit->part->field].sample_bytes};

    rows.stride[2] = (int64_t)rows.size;
    rows.stride[1] = rows.stride[2] * (box->hi[2] - box->lo[2]);
    rows.stride[0] = rows.stride[1] * (box->hi[1] - box->lo[1]);
    idx_order_unpack(&rows, &header->order, number, box, visit->plain,
                     row_major);
}

/* Of all blocks that have samples in the part. Ends the walk when there is no
 * use in going on. */
static int visit_block(void *user, uint64_t number)
{
    struct visit *visit = user;
    struct idx_tally *tally = visit->tally;
    struct idx_place place = {number, visit->part->field, visit->part->step};
    struct idx_lattice lattice =
        idx_order_lattice(&visit->dataset->header.order, number);
    bouma_box part;
    uint64_t samples = idx_lattice_inside(&lattice, &visit->part->box, &part);
    struct idx_block block = {0};
    bool ok = find_block(visit, &place, &block);

    if (ok && !block.absent && visit->data)
        ok = load_block(visit, &place, &block);
    if (!ok) {
        if (!tally->lost)
            snprintf(tally->first, sizeof(tally->first), "%.500s: %s",
                     visit->file.name, visit->message.text);
        tally->lost += samples;
    } else if (block.absent) {
        tally->absent += samples;
    } else if (visit->data) {
        unpack(visit, number, block.row_major);
    }
    tally->stopped = !tally->fill && visit->lost_files > MOST_LOST_FILES;
    return tally->stopped;
}

static uint64_t box_samples(const bouma_box *box)
{
    uint64_t samples = 1;

    for (int axis = 0; axis < 3; axis++)
        samples *= (uint64_t)(box->hi[axis] - box->lo[axis]);
    return samples;
}

void idx_dataset_survey(const struct idx_dataset *dataset,
                        const struct idx_part *part, struct idx_tally *tally)
{
    struct visit visit = {.dataset = dataset, .part = part, .tally = tally};

    tally->samples += box_samples(&part->box);
    idx_order_walk(&dataset->header.order, &part->box, visit_block, &visit);
    close_file(&visit.file);
}

int idx_dataset_load(const struct idx_dataset *dataset, struct context *ctx,
                     const struct idx_part *part, uint8_t *data,
                     struct idx_tally *tally)
{
    const struct idx_header *header = &dataset->header;
    struct visit visit = {.dataset = dataset,
                          .part = part,
                          .tally = tally,
                          .data = data,
                          .plain =
                              malloc(idx_block_bytes(header, part->field))};

    if (!visit.plain)
        return context_fail_memory(ctx);
    tally->samples += box_samples(&part->box);
    memset(data, header->fields[part->field].fill,
           box_samples(&part->box) * header->fields[part->field].sample_bytes);
    idx_order_walk(&header->order, &part->box, visit_block, &visit);
    close_file(&visit.file);
    free(visit.stored);
    free(visit.plain);
    return DONE;
}
