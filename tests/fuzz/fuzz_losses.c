/* fuzz_losses.c -- a record of a loss, alone and as one of a dataset. The first
 * byte of the input says whether the rest is sealed. */
#include "fuzz_help.h"
#include "store/losses.h"

enum { STEP = 7 };

/* What was decoded is encoded as the same bytes. */
static void try_record(const uint8_t *data, size_t size)
{
    struct bm_lost_step lost = {0};
    struct bm_error error = {0};
    struct bm_metadata in = {data, size, fuzz_id, "loss"};
    struct bm_buffer b;

    if (bm_loss_decode_record(&lost, bm_allocator_default(), &in, &error)) {
        HOLDS(error.text[0]);
    } else {
        HOLDS(lost.entry.step <= INT64_MAX);
        for (uint32_t i = 0; i < lost.count; i++)
            HOLDS(bm_lost_step_file(&lost, lost.files[i].subfile) ==
                  &lost.files[i]);
        bm_buffer_init(&b, bm_allocator_default());
        bm_loss_encode(&b, &lost, fuzz_id);
        HOLDS(!b.failed && b.size == size);
        HOLDS(!memcmp(b.data + BM_ENVELOPE_BYTES, data + BM_ENVELOPE_BYTES,
                      size - BM_ENVELOPE_BYTES));
        bm_buffer_release(&b);
    }
    bm_lost_step_release(&lost, bm_allocator_default());
}

/* Whatever a file has in it, its name tells a loss of one step, which can be
 * forgotten. */
static void try_file(const uint8_t *data, size_t size)
{
    struct bm_error error = {0};
    char name[BM_NAME_BYTES];
    bouma_io *io = bouma_io_memory_new();
    struct bm_loss_list list;
    struct bm_store store;

    memset(&store, 0, sizeof(store));
    HOLDS(io &&
          !bm_store_open(&store, io, bm_allocator_default(), "d", 1, &error));
    store.memory_limit = 1 << 20;
    bm_name_loss(name, STEP);
    HOLDS(!bm_store_make_dir(&store, BM_NAME_LOST, 1, &error));
    HOLDS(!bm_store_save(&store, name, data, size, 0, &error));
    bm_losses_init(&list, bm_allocator_default());
    HOLDS(!bm_losses_load(&store, fuzz_id, &list, &error));
    HOLDS(list.count == 1 && list.steps->entry.step == STEP);
    bm_losses_release(&list);
    HOLDS(!bm_losses_remove(&store, STEP, &error));
    HOLDS(!bm_losses_load(&store, fuzz_id, &list, &error) && !list.count);
    bm_losses_release(&list);
    bm_store_close(&store);
    bouma_io_memory_free(io);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *copy;

    if (!size)
        return 0;
    copy = fuzz_copy(data + 1, size - 1);
    if (data[0] & 1)
        fuzz_seal(copy, size - 1, BM_KIND_LOSS);
    try_record(copy, size - 1);
    try_file(copy, size - 1);
    free(copy);
    return 0;
}
