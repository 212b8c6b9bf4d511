/* bank.c -- see bank.h. */
#include "machine/bank.h"

#include <string.h>

#define PAGE 4096

int bm_bank_new(struct bm_bank *out, bouma_tier tier, size_t bytes,
                const char *local, const bouma_allocator *a,
                struct bm_error *error)
{
    (void)local;
    memset(out, 0, sizeof(*out));
    if (tier != BOUMA_TIER_DRAM)
        return bm_fail(error, BOUMA_ENOTFOUND, "there is no such tier here");
    out->owner = bm_new_raw(a, bytes + PAGE, 1);
    if (!out->owner)
        return bm_fail(error, BOUMA_ENOMEM, "no memory for %zu bytes", bytes);
    out->data = (uint8_t *)(((uintptr_t)out->owner + PAGE - 1) / PAGE * PAGE);
    out->tier = tier;
    out->bytes = bytes;
    out->a = a;
    return BOUMA_OK;
}

void bm_bank_free(struct bm_bank *bank)
{
    if (bank->a)
        bm_drop(bank->a, bank->owner);
    memset(bank, 0, sizeof(*bank));
}
