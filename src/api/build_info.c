/* build_info.c -- the version, and how the library was built. */
#include "api/build_info.h"

#include <string.h>

#include "bouma.h"
#include "codec/zfp_blocks.h"

#define TEXT_OF(x)      #x
#define DOTTED(x, y, z) TEXT_OF(x) "." TEXT_OF(y) "." TEXT_OF(z)

const char *bouma_version(void)
{
    return DOTTED(BOUMA_VERSION_MAJOR, BOUMA_VERSION_MINOR,
                  BOUMA_VERSION_PATCH);
}

int bouma_version_number(void)
{
    return BOUMA_VERSION_NUMBER;
}

/* CMakeLists.txt defines these; other builds need not. */
#ifndef BM_BUILD_HWLOC
#define BM_BUILD_HWLOC "unknown"
#endif
#ifndef BM_BUILD_ZSTD
#define BM_BUILD_ZSTD "unknown"
#endif
#ifndef BM_BUILD_XXHASH
#define BM_BUILD_XXHASH "unknown"
#endif
#ifndef BM_BUILD_COMPILER
#define BM_BUILD_COMPILER "unknown"
#endif
#ifndef BM_BUILD_PROCESSOR
#define BM_BUILD_PROCESSOR "unknown"
#endif
#ifndef BM_BUILD_TYPE
#define BM_BUILD_TYPE "unknown"
#endif

static const struct {
    const char *name;
    const char *value;         /* NULL: */
    const char *(*call)(void); /* asks for it */
} facts[] = {{"mpi", NULL, bm_build_mpi},
             {"hwloc", BM_BUILD_HWLOC, NULL},
             {"zstd", BM_BUILD_ZSTD, NULL},
             {"zfp", NULL, bm_zfp_version},
             {"xxhash", BM_BUILD_XXHASH, NULL},
             {"compiler", BM_BUILD_COMPILER, NULL},
             {"processor", BM_BUILD_PROCESSOR, NULL},
             {"type", BM_BUILD_TYPE, NULL}};
enum { FACTS = sizeof(facts) / sizeof(facts[0]) };

const char *bouma_build_field(int i)
{
    return i >= 0 && i < FACTS ? facts[i].name : NULL;
}

const char *bouma_build_info(const char *name)
{
    for (int i = 0; name && i < FACTS; i++)
        if (!strcmp(facts[i].name, name))
            return facts[i].value ? facts[i].value : facts[i].call();
    return NULL;
}
