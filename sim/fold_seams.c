/* fold_seams.c -- where the library asks for buffers that data pass through: they
 * may be folded (fold.h). The linker puts __wrap_f() in the place of f(). */
#include "comm/shared.h"
#include "fold.h"
#include "machine/tier_memory.h"

int sim_port_make(struct bm_shared *out, struct bm_shared_handle *handle,
                  size_t bytes);
int sim_port_make(struct bm_shared *out, struct bm_shared_handle *handle,
                  size_t bytes)
{
    uint8_t *data = sim_fold(bytes);

    if (!data)
        return bm_shared_make(out, handle, bytes);
    /* As if another had made it: it need not be freed. */
    *handle =
        (struct bm_shared_handle){.process = (uintptr_t)data, .bytes = bytes};
    return bm_shared_map(out, handle);
}

int __real_bm_tier_memory_new(struct bm_tier_memory *out, bouma_tier tier,
                              size_t bytes, const char *local,
                              const bouma_allocator *a, struct bm_error *error);
int __wrap_bm_tier_memory_new(struct bm_tier_memory *out, bouma_tier tier,
                              size_t bytes, const char *local,
                              const bouma_allocator *a, struct bm_error *error);
int __wrap_bm_tier_memory_new(struct bm_tier_memory *out, bouma_tier tier,
                              size_t bytes, const char *local,
                              const bouma_allocator *a, struct bm_error *error)
{
    uint8_t *data = tier == BOUMA_TIER_DRAM ? sim_fold(bytes) : NULL;

    if (!data)
        return __real_bm_tier_memory_new(out, tier, bytes, local, a, error);
    *out = (struct bm_tier_memory){tier, data, bytes, a, NULL};
    return BOUMA_OK;
}
