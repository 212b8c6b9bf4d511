#include "fault_alloc.h"

#include <stdlib.h>
#include <string.h>

static void *resize(void *user, void *block, size_t bytes)
{
    struct fault_alloc *memory = user;
    void *result;

    memory->calls++;
    if (memory->at && (memory->calls == memory->at ||
                       (memory->sticky && memory->calls > memory->at))) {
        memory->fired++;
        return NULL;
    }
    result = realloc(block, bytes);
    if (result && !block)
        memory->live++;
    return result;
}

static void release(void *user, void *block)
{
    struct fault_alloc *memory = user;

    if (block)
        memory->live--;
    free(block);
}

void fault_alloc_init(struct fault_alloc *memory)
{
    memset(memory, 0, sizeof(*memory));
    memory->table =
        (bouma_allocator){sizeof(memory->table), memory, resize, release};
}

void fault_alloc_arm(struct fault_alloc *memory, long at, int sticky)
{
    memory->at = at;
    memory->sticky = sticky;
    memory->calls = 0;
    memory->fired = 0;
}

void fault_alloc_disarm(struct fault_alloc *memory)
{
    memory->at = 0;
}
