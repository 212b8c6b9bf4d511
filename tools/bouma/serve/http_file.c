/* http_file.c -- a file as a response. Workers read it block by block: they can
 * wait for storage, and the thread that sends cannot.
 *
 * The first block is read with the answer. When one is sent, the connection
 * sleeps, waits in the queue as a request does, and is resumed with the next
 * one. A client holds one block, however long the file is. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "http_inside.h"

#define BLOCK_BYTES (1 << 20)
/* What the library takes at once. */
#define PIECE_BYTES (64 * 1024)

struct sent_file {
    struct job *job;
    struct memory_budget *memory;
    int file;
    uint64_t offset, left; /* of what is not read yet */
    char *block;
    size_t have, sent; /* bytes of the block */
    bool failed;
};

/* The next block; what the file does not have (any more) is a failure. */
static void read_block(struct sent_file *file)
{
    size_t wanted = file->left < BLOCK_BYTES ? (size_t)file->left : BLOCK_BYTES;

    file->have = file->sent = 0;
    while (file->have < wanted && !file->failed) {
        ssize_t n = pread(file->file, file->block + file->have,
                          wanted - file->have, (off_t)file->offset);

        file->failed = n <= 0;
        if (n > 0) {
            file->have += (size_t)n;
            file->offset += (uint64_t)n;
            file->left -= (uint64_t)n;
        }
    }
}

void http_file_work(struct job *job)
{
    read_block(job->file);
}

void http_file_fail(struct job *job)
{
    job->file->failed = true;
}

static ssize_t send_piece(void *user, uint64_t at, char *to, size_t room)
{
    struct sent_file *file = user;
    size_t bytes = file->have - file->sent;

    (void)at;
    if (bytes == 0 && !file->failed && file->left > 0) {
        http_set_phase(file->job->peer, PHASE_WORKING, 0);
        if (http_enqueue(file->job))
            return 0;
    }
    if (bytes == 0)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    if (file->sent == 0)
        http_set_phase(file->job->peer, PHASE_SENDING, bytes);
    bytes = bytes < room ? bytes : room;
    memcpy(to, file->block + file->sent, bytes);
    file->sent += bytes;
    return (ssize_t)bytes;
}

static void free_file(void *user)
{
    struct sent_file *file = user;

    close(file->file);
    memory_budget_release(file->memory, file->block);
    free(file);
}

struct MHD_Response *http_file_response(struct job *job, struct answer *answer,
                                        uint64_t offset, uint64_t bytes)
{
    struct sent_file *file = malloc(sizeof(*file));
    struct MHD_Response *response = NULL;

    if (!file)
        return NULL;
    *file = (struct sent_file){.job = job,
                               .memory = answer->memory,
                               .file = answer->file,
                               .offset = offset,
                               .left = bytes};
    answer->file = -1;
    file->block =
        memory_budget_resize(answer->memory, NULL,
                             bytes < BLOCK_BYTES ? (size_t)bytes : BLOCK_BYTES);
    if (!file->block) {
        answer_fail_status(answer, BOUMA_ENOMEM, NULL);
    } else {
        read_block(file);
        if (file->failed)
            answer_fail(answer, 500, BOUMA_EIO,
                        "the file cannot be read, or has become shorter");
        else
            response = MHD_create_response_from_callback(
                bytes, PIECE_BYTES, send_piece, file, free_file);
    }
    if (response)
        job->file = file;
    else
        free_file(file);
    return response;
}
