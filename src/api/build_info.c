/* build_info.c -- the version, and how the library was built. */
#include "api/build_info.h"

#include <string.h>

#include "bouma.h"

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

/* CMakeLists.txt defines the values. */
static const struct {
    const char *name;
    const char *value; /* NULL: see bm_build_mpi() */
} facts[] = {{"mpi", NULL},
             {"hwloc", BM_BUILD_HWLOC},
             {"zstd", BM_BUILD_ZSTD},
             {"zfp", BM_BUILD_ZFP},
             {"xxhash", BM_BUILD_XXHASH},
             {"compiler", BM_BUILD_COMPILER},
             {"processor", BM_BUILD_PROCESSOR},
             {"type", BM_BUILD_TYPE}};
enum { FACTS = sizeof(facts) / sizeof(facts[0]) };

const char *bouma_build_field(int i)
{
    return i >= 0 && i < FACTS ? facts[i].name : NULL;
}

const char *bouma_build_info(const char *name)
{
    for (int i = 0; name && i < FACTS; i++)
        if (!strcmp(facts[i].name, name))
            return facts[i].value ? facts[i].value : bm_build_mpi();
    return NULL;
}
