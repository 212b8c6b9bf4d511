/* reading_only.c -- what encoders call. The tables of codecs name encoders, so
 * the linker keeps them, but no function of the module leads to one. What they
 * would need of zstd and zfp is left out: there is no memory for a compressor,
 * and no bit is written. */
#include <errno.h>
#include <time.h>
#include <unistd.h>
#include <zfp.h>
#include <zstd.h>

#include "engine/pipe.h"
#include "write/write.h"

ZSTD_CCtx *ZSTD_createCCtx(void)
{
    return NULL;
}

size_t ZSTD_freeCCtx(ZSTD_CCtx *context)
{
    (void)context;
    return 0;
}

size_t ZSTD_compressBound(size_t bytes)
{
    return bytes;
}

/* A compressor is needed to call it, and there is none. */
size_t ZSTD_compressCCtx(ZSTD_CCtx *context, void *to, size_t room,
                         const void *from, size_t bytes, int level)
{
    (void)context;
    (void)to;
    (void)room;
    (void)from;
    (void)bytes;
    (void)level;
    return 0;
}

bitstream_offset stream_wtell(const bitstream *s)
{
    (void)s;
    return 0;
}

void stream_wseek(bitstream *s, bitstream_offset offset)
{
    (void)s;
    (void)offset;
}

size_t stream_flush(bitstream *s)
{
    (void)s;
    return 0;
}

#define ENCODE(name, type, axes)                                               \
    size_t zfp_encode_block_##name##_##axes(zfp_stream *z, const type *block)  \
    {                                                                          \
        (void)z;                                                               \
        (void)block;                                                           \
        return 0;                                                              \
    }
#define ENCODE_ALL(name, type)                                                 \
    ENCODE(name, type, 1) ENCODE(name, type, 2) ENCODE(name, type, 3)
ENCODE_ALL(int32, int32_t)
ENCODE_ALL(int64, int64_t)
ENCODE_ALL(float, float)
ENCODE_ALL(double, double)

/* ---- the pipeline for writing -------------------------------------------- */

/* A dataset that is opened for reading writes no step. */
int bm_write_finish(struct bouma_dataset *ds, bouma_record *record)
{
    (void)ds;
    (void)record;
    return BOUMA_OK;
}

void bm_write_release(struct bm_carried *carried, const bouma_allocator *a)
{
    (void)carried;
    (void)a;
}

/* Nor has it buffers of a writer. */
void bm_pipe_pool_release(struct bm_pipe_pool *pool)
{
    (void)pool;
}

/* Who reads places no writers on machines, so the name of this one is not
 * asked for. */
int gethostname(char *name, size_t bytes)
{
    (void)name;
    (void)bytes;
    errno = ENOSYS;
    return -1;
}

/* One process waits for no other: the communicator can sleep, but nothing here
 * lets it. */
int nanosleep(const struct timespec *time, struct timespec *left)
{
    (void)time;
    (void)left;
    return 0;
}
