/* fuzz_dataset_file.c -- the file DATASET. The first byte of the input says
 * whether the rest is sealed. */
#include "fuzz_help.h"
#include "store/identity.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bm_error error = {0};
    struct bm_store store;
    uint8_t id[16], *copy;
    bouma_io *io;
    int major, minor;

    if (!size)
        return 0;
    copy = fuzz_copy(data + 1, size - 1);
    if (data[0] & 1)
        fuzz_seal(copy, size - 1, BM_KIND_DATASET);
    io = bouma_io_memory_new();
    memset(&store, 0, sizeof(store));
    HOLDS(io &&
          !bm_store_open(&store, io, bm_allocator_default(), "d", 1, &error));
    store.memory_limit = 1 << 20;
    HOLDS(!bm_store_save(&store, BM_NAME_DATASET, copy, size - 1, 0, &error));
    if (!bm_identity_load(&store, id, &major, &minor, &error))
        HOLDS(major == BM_FORMAT_MAJOR && size - 1 == BM_ENVELOPE_BYTES);
    else
        HOLDS(error.text[0]);
    bm_store_close(&store);
    bouma_io_memory_free(io);
    free(copy);
    return 0;
}
