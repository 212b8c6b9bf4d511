/* tier_memory_memkind.c -- see tier_memory_memkind.h. The library is found when
 * it is wanted; it stays loaded, as memory of it may be in use. */
#include "machine/tier_memory_memkind.h"

#include <dlfcn.h>
#include <string.h>

/* What memkind.h declares: a kind is a pointer. */
struct memkind_calls {
    void **high_bandwidth; /* MEMKIND_HBW */
    int (*check)(void *kind);
    int (*align)(void *kind, void **out, size_t alignment, size_t bytes);
    void (*release)(void *kind, void *data);
};

/* ISO C knows no way from void * to a function. */
static void *symbol(void *library, const char *name, void *to)
{
    void *found = dlsym(library, name);

    memcpy(to, &found, sizeof(found));
    return found;
}

static int find(struct memkind_calls *m)
{
    void *library =
        dlopen("libmemkind.so.0", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    int there;

    if (!library)
        return 0;
    there = symbol(library, "MEMKIND_HBW", &m->high_bandwidth) &&
            symbol(library, "memkind_check_available", &m->check) &&
            symbol(library, "memkind_posix_memalign", &m->align) &&
            symbol(library, "memkind_free", &m->release);
    dlclose(library);
    return there;
}

void *bm_memkind_new(size_t bytes, size_t alignment)
{
    struct memkind_calls m;
    void *data = NULL;

    if (!find(&m) || m.check(*m.high_bandwidth) ||
        m.align(*m.high_bandwidth, &data, alignment, bytes))
        return NULL;
    return data;
}

void bm_memkind_free(void *data)
{
    struct memkind_calls m;

    if (data && find(&m))
        m.release(*m.high_bandwidth, data);
}
