/* fuzz_owner.c -- the signature of a writer, which another one reads: whatever
 * it says, the other may go on or is told why not. The first byte of the input
 * says which file has it, and whether the other forces its way. */
#include "fuzz_help.h"
#include "store/identity.h"

enum { CLOSED = 1, FORCES = 2 };

static void try_claim(const uint8_t *data, size_t size, int how)
{
    struct bm_error error = {0};
    char name[BM_NAME_BYTES], note[600] = "";
    bouma_io *io = bouma_io_memory_new();
    struct bm_store store;
    uint32_t epoch = 0;
    int rc;

    memset(&store, 0, sizeof(store));
    HOLDS(io &&
          !bm_store_open(&store, io, bm_allocator_default(), "d", 1, &error));
    store.memory_limit = 1 << 20;
    bm_name_epoch(name, 1);
    HOLDS(!bm_store_make_dir(&store, BM_NAME_EPOCHS, 1, &error));
    HOLDS(!bm_store_make_dir(&store, name, 1, &error));
    if (how & CLOSED)
        bm_name_epoch_closed(name, 1);
    else
        bm_name_epoch_owner(name, 1);
    HOLDS(!bm_store_save(&store, name, data, size, 0, &error));
    rc = bm_epoch_check_idle(&store, (how & FORCES) != 0, &error);
    HOLDS(!rc || error.text[0]);
    bm_error_clear(&error);
    rc = bm_epoch_claim(&store, &epoch, (how & FORCES) != 0, note, sizeof(note),
                        &error);
    HOLDS(rc ? error.text[0] != 0 : epoch == 2);
    bm_store_close(&store);
    bouma_io_memory_free(io);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const bouma_io *posix = bouma_io_posix();
    char *text;
    int alive;

    if (!size)
        return 0;
    text = malloc(size);
    if (!text)
        exit(1);
    memcpy(text, data + 1, size - 1);
    text[size - 1] = 0;
    alive = posix->alive(posix->user, text);
    HOLDS(alive >= -1 && alive <= 1);
    try_claim((const uint8_t *)text, size - 1, data[0]);
    free(text);
    return 0;
}
