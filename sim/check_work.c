/* check_work.c -- see check_work.h. */
#include "check_work.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/parallel_for.h"
#include "bouma_store.h"
#include "codec/codec.h"
#include "engine/flow_builder.h"
#include "engine/pipe.h"
#include "work.h"

double check_rate_of_zstd(void)
{
    const char *path = getenv("BOUMA_SIM_RATES");
    FILE *file = path ? fopen(path, "r") : NULL;
    char text[8192], message[256];
    struct bm_work_rates rates = {.work = {0}};

    if (!file)
        return 0;
    if (!sim_rates_parse(&rates, text, fread(text, 1, sizeof(text), file),
                         message, sizeof(message)))
        rates.codecs[BOUMA_CODEC_ZSTD].encode = 0;
    fclose(file);
    return rates.codecs[BOUMA_CODEC_ZSTD].encode;
}

/* What is encoded takes the same time whatever it is. */
static int encode_turn(void *context, size_t i, size_t worker)
{
    const struct bm_codec *codec = bm_codec_find(BOUMA_CODEC_ZSTD);
    const bouma_allocator *a = bm_allocator_default();
    struct bm_samples in = {bm_new(a, CHECK_CHUNK, 1), CHECK_CHUNK / 4, 4};
    uint8_t *out = bm_new_raw(a, codec->bound(CHECK_CHUNK), 1);
    struct bm_codec_state state;
    size_t stored;
    int rc = BOUMA_ENOMEM;

    (void)context;
    (void)i;
    (void)worker;
    bm_codec_state_init(&state, a);
    if (in.data && out)
        rc = codec->encode(&state, out, &stored, &in, 0);
    bm_codec_state_release(&state);
    bm_drop(a, in.data);
    bm_drop(a, out);
    return rc;
}

void check_encode(void)
{
    encode_turn(NULL, 0, 0);
}

void check_encode_all(size_t chunks, size_t threads)
{
    bm_parallel_for(encode_turn, NULL, chunks, threads);
}

/* ---- overlap ------------------------------------------------------------- */

static void fill(void *context, size_t tag, uint8_t *room)
{
    (void)room;
    encode_turn(context, tag, 0);
}

static int store(void *context, uint64_t at, uint8_t *data, uint64_t bytes,
                 struct bm_error *error)
{
    const bouma_io *io = bouma_io_posix();
    size_t done;
    int code = io->write(io->user, context, data, (size_t)bytes, at, &done);

    return code ? bm_fail_io(error, code, "a round") : BOUMA_OK;
}

int check_pipe(struct bm_comm *comm, size_t rounds, int buffers, void *file)
{
    struct bm_pipe_options o = {.buffers = buffers,
                                .transport = BOUMA_TRANSPORT_MESSAGES};
    struct bm_pipe_calls calls = {
        .context = file, .fill = fill, .store = store};
    struct bm_pipe_pool pool = {.comm = NULL};
    struct bm_flow_builder made;
    struct bm_flow *flows = NULL;
    struct bm_error error = {0};
    struct bm_pipe *pipe = NULL;
    size_t count = 0;
    int rc = bm_flow_builder_init(&made, comm);

    for (size_t i = 0; i < rounds && !rc; i++)
        bm_flow_builder_add(&made, 0, 1, CHECK_CHUNK, i);
    if (!rc)
        rc = bm_flow_builder_seal(&made, CHECK_CHUNK, &flows, &count);
    bm_flow_builder_release(&made);
    if (!rc)
        rc = bm_pipe_new(&pipe, comm, flows, count, &o, &calls);
    rc = bm_pipe_open(pipe, comm, &pool, rc, &error);
    if (!rc)
        rc = bm_pipe_run(pipe, 1, rc, &error);
    bm_pipe_free(pipe);
    bm_pipe_pool_release(&pool);
    return rc;
}
