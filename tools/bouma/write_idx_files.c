/* write_idx_files.c -- the files of blocks of an IDX dataset.
 *
 * Blocks lie behind the headers in the order of their numbers, field after
 * field; those without samples are not there. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "write_idx.h"
#include "write_idx_codec.h"

#define NOWHERE UINT32_MAX
enum { PAGE = 4096 };

/* ---- where things are ---------------------------------------------------- */

static uint64_t head_bytes(const struct idx_write *idx)
{
    return bm_idx_front_bytes(idx->field_count, idx->per_file);
}

static uint64_t data_begin(const struct idx_write *idx)
{
    return (head_bytes(idx) + PAGE - 1) / PAGE * PAGE;
}

static uint64_t block_bytes(const struct idx_write *idx, int field)
{
    return (uint64_t)idx->fields[field].size << idx->order.block_bits;
}

/* Where the blocks of a field begin, if each has so many; field_count: where
 * the file ends. */
static uint64_t field_begin(const struct idx_write *idx, int field,
                            uint64_t blocks)
{
    uint64_t at = data_begin(idx);

    for (int i = 0; i < field; i++)
        at += blocks * block_bytes(idx, i);
    return at;
}

uint64_t idx_write_largest(const struct idx_write *idx)
{
    return field_begin(idx, idx->field_count, (uint64_t)idx->per_file);
}

uint64_t idx_write_sample(const struct idx_write *idx)
{
    uint64_t size = 1;

    for (int i = 0; i < idx->field_count; i++)
        size = idx->fields[i].size > size ? idx->fields[i].size : size;
    return size;
}

static bool is_there(const struct idx_write *idx, uint64_t block)
{
    struct idx_lattice lattice;
    bouma_box part;

    if (block >= idx_order_blocks(&idx->order))
        return false;
    lattice = idx_order_lattice(&idx->order, block);
    return idx_lattice_inside(&lattice, &idx->domain, &part) > 0;
}

/* ---- open files ---------------------------------------------------------- */

static void full_name(char out[PATH_MAX], const struct idx_write_files *files,
                      uint64_t first)
{
    char name[128];

    idx_write_name(name, sizeof(name), files->idx, files->step, first);
    snprintf(out, PATH_MAX, "%s/%s", files->folder, name);
}

/* The directories of a file that are not there yet. */
static void make_directories(char *path, size_t from)
{
    for (char *at = strchr(path + from + 1, '/'); at;
         at = strchr(at + 1, '/')) {
        *at = '\0';
        mkdir(path, 0777);
        *at = '/';
    }
}

static int open_file(int *out, const struct idx_write_files *files,
                     struct context *ctx, uint64_t first)
{
    char path[PATH_MAX];

    full_name(path, files, first);
    *out = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (*out < 0 && errno == ENOENT) {
        make_directories(path, strlen(files->folder));
        *out = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    }
    return *out < 0 ? context_fail_errno(ctx, "write", path) : DONE;
}

static int close_file(struct idx_write_file *file)
{
    int rc = file->file >= 0 ? close(file->file) : 0;

    file->file = -1;
    return rc;
}

/* The file with a block, opened if it is not yet. */
static int find_file(struct idx_write_file **out, struct idx_write_files *files,
                     struct context *ctx, uint64_t block)
{
    const struct idx_write *idx = files->idx;
    uint64_t per_file = (uint64_t)idx->per_file;
    uint64_t number = block / per_file, first = number * per_file;
    struct idx_write_file *file = &files->open[number % IDX_OPEN_FILES];
    int rc;

    *out = file;
    if (file->file >= 0 && file->first == first)
        return DONE;
    if (close_file(file))
        return context_fail_errno(ctx, "write", files->folder);
    if (!file->index)
        file->index = malloc(per_file * sizeof(*file->index));
    if (!file->index)
        return context_fail_memory(ctx);
    rc = open_file(&file->file, files, ctx, first);
    if (rc)
        return rc;
    file->first = first;
    file->blocks = 0;
    for (uint64_t i = 0; i < per_file; i++)
        file->index[i] = is_there(idx, first + i) ? file->blocks++ : NOWHERE;
    return DONE;
}

static int write_at(const struct idx_write_files *files, struct context *ctx,
                    int file, const void *data, size_t bytes, uint64_t offset)
{
    const char *from = data;

    while (bytes > 0) {
        ssize_t n = pwrite(file, from, bytes, (off_t)offset);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return context_fail_errno(ctx, "write", files->folder);
        from += n;
        offset += (uint64_t)n;
        bytes -= (size_t)n;
    }
    return DONE;
}

static int read_at(const struct idx_write_files *files, struct context *ctx,
                   int file, void *data, size_t bytes, uint64_t offset)
{
    char *to = data;

    while (bytes > 0) {
        ssize_t n = pread(file, to, bytes, (off_t)offset);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            errno = n ? errno : EIO;
            return context_fail_errno(ctx, "read", files->folder);
        }
        to += n;
        offset += (uint64_t)n;
        bytes -= (size_t)n;
    }
    return DONE;
}

void idx_write_begin(struct idx_write_files *files, const struct idx_write *idx,
                     const char *folder, int64_t step)
{
    *files =
        (struct idx_write_files){.idx = idx, .folder = folder, .step = step};
    for (int i = 0; i < IDX_OPEN_FILES; i++)
        files->open[i].file = -1;
}

void idx_write_end(struct idx_write_files *files)
{
    for (int i = 0; i < IDX_OPEN_FILES; i++) {
        close_file(&files->open[i]);
        free(files->open[i].index);
        files->open[i].index = NULL;
    }
}

int idx_write_run(struct idx_write_files *files, struct context *ctx, int field,
                  const struct idx_run *run, const void *samples)
{
    const struct idx_write *idx = files->idx;
    int bits = idx->order.block_bits;
    uint64_t block = run->first >> bits, offset;
    uint64_t inside = run->first & (((uint64_t)1 << bits) - 1);
    size_t size = idx->fields[field].size;
    struct idx_write_file *file;
    int rc = find_file(&file, files, ctx, block);

    if (rc)
        return rc;
    offset = field_begin(idx, field, file->blocks) +
             file->index[block - file->first] * block_bytes(idx, field) +
             inside * size;
    return write_at(files, ctx, file->file, samples, size << run->bits, offset);
}

/* ---- finishing ----------------------------------------------------------- */

/* A block of a field. */
struct place {
    int file, field;
    uint64_t block;
};

/* Its bytes, and the flags of its codec; those that it has if they do not
 * become fewer. */
static size_t encode(uint8_t *out, int *flags, const uint8_t *in, size_t bytes,
                     const struct idx_write *idx, const struct place *place)
{
    bool zfp = idx->codec == IDX_WRITE_ZFP;
    size_t got =
        zfp ? idx_compress_zfp(out, in, idx, place->field, place->block)
            : idx_compress(out, in, bytes, idx->codec);

    *flags =
        !got ? IDX_WRITE_RAW : (int)idx->codec | (zfp ? IDX_WRITE_ROWS : 0);
    return got;
}

/* Compress a block, and move it to 'end', which is not behind it. */
static int compress(struct idx_write_files *files, struct context *ctx,
                    const struct place *place, struct bm_idx_block *stored,
                    uint64_t end)
{
    uint8_t *raw = malloc(stored->bytes), *small = malloc(stored->bytes);
    size_t bytes;
    int rc = raw && small ? DONE : context_fail_memory(ctx);

    if (!rc)
        rc = read_at(files, ctx, place->file, raw, stored->bytes,
                     stored->offset);
    if (!rc) {
        bytes = encode(small, &stored->flags, raw, stored->bytes, files->idx,
                       place);
        stored->bytes = bytes ? bytes : stored->bytes;
        stored->offset = end;
        rc = write_at(files, ctx, place->file, bytes ? small : raw,
                      stored->bytes, end);
    }
    free(raw);
    free(small);
    return rc;
}

/* All blocks of a file into its headers. */
static int finish_blocks(struct idx_write_files *files, struct context *ctx,
                         const struct idx_write_file *file, uint8_t *head,
                         uint64_t *end)
{
    const struct idx_write *idx = files->idx;
    int rc = DONE;

    for (int field = 0; field < idx->field_count; field++)
        for (int slot = 0; !rc && slot < idx->per_file; slot++) {
            struct bm_idx_block stored = {.bytes = block_bytes(idx, field)};
            struct place place = {file->file, field,
                                  file->first + (uint64_t)slot};

            if (file->index[slot] == NOWHERE)
                continue;
            stored.offset = field_begin(idx, field, file->blocks) +
                            file->index[slot] * stored.bytes;
            if (idx->codec != IDX_WRITE_RAW)
                rc = compress(files, ctx, &place, &stored, *end);
            bm_idx_put_block(head, idx->per_file, field, (uint64_t)slot,
                             &stored);
            *end = stored.offset + stored.bytes;
        }
    return rc;
}

static int finish_file(struct idx_write_files *files, struct context *ctx,
                       uint64_t first)
{
    const struct idx_write *idx = files->idx;
    uint64_t end = data_begin(idx);
    uint8_t *head = calloc(1, head_bytes(idx));
    struct idx_write_file *file;
    int rc;

    if (!head)
        return context_fail_memory(ctx);
    rc = find_file(&file, files, ctx, first);
    /* Blocks that were not written to the end are so now. */
    if (!rc && ftruncate(file->file, (off_t)field_begin(idx, idx->field_count,
                                                        file->blocks)))
        rc = context_fail_errno(ctx, "write", files->folder);
    if (!rc)
        rc = finish_blocks(files, ctx, file, head, &end);
    if (!rc)
        rc = write_at(files, ctx, file->file, head, head_bytes(idx), 0);
    if (!rc && (ftruncate(file->file, (off_t)end) || close_file(file)))
        rc = context_fail_errno(ctx, "write", files->folder);
    files->files++;
    files->bytes += end;
    free(head);
    return rc;
}

/* Which files there are: those that have a block. */
struct finishing {
    struct idx_write_files *files;
    struct context *ctx;
    uint64_t count, last;
};

static int see_block(void *user, uint64_t block)
{
    struct finishing *all = user;
    uint64_t per_file = (uint64_t)all->files->idx->per_file;
    uint64_t number = block / per_file, turn;

    if (all->count && number == all->last)
        return DONE;
    all->last = number;
    turn = all->count++ % (uint64_t)session_size(all->ctx->session);
    return turn == (uint64_t)session_rank(all->ctx->session)
               ? finish_file(all->files, all->ctx, number * per_file)
               : DONE;
}

int idx_write_finish(struct idx_write_files *files, struct context *ctx)
{
    struct finishing all = {.files = files, .ctx = ctx};

    return idx_order_walk(&files->idx->order, &files->idx->domain, see_block,
                          &all);
}
