/* The library tells its version as text and as a number, and how it was built. */
#include "bouma.h"
#include "check.h"

static void the_number_is_that_of_the_text(void)
{
    int major = 0, minor = 0, patch = 0;

    REQUIRE(sscanf(bouma_version(), "%d.%d.%d", &major, &minor, &patch) == 3);
    CHECK_EQ(bouma_version_number(), major * 10000 + minor * 100 + patch);
    CHECK_EQ(bouma_version_number(), BOUMA_VERSION_NUMBER);
    CHECK(major == BOUMA_VERSION_MAJOR && minor == BOUMA_VERSION_MINOR &&
          patch == BOUMA_VERSION_PATCH);
}

static void each_fact_has_a_value(void)
{
    int count = 0;

    for (; bouma_build_field(count); count++) {
        const char *value = bouma_build_info(bouma_build_field(count));

        CHECK(value && value[0]);
    }
    CHECK(count >= 8);
    CHECK(!bouma_build_field(-1));
    CHECK(!bouma_build_info("nonsense"));
    CHECK(!bouma_build_info(NULL));
}

static void facts_are_those_of_the_build(void)
{
    const char *hwloc = bouma_build_info("hwloc");

    CHECK(!strcmp(bouma_build_info("mpi"), "no"));
    CHECK_EQ(strcmp(hwloc, "no") != 0, BOUMA_WITH_HWLOC);
    CHECK(strchr(bouma_build_info("zstd"), '.') != NULL);
#if defined(__clang__)
    CHECK_TEXT(bouma_build_info("compiler"), "Clang");
#elif defined(__GNUC__)
    CHECK_TEXT(bouma_build_info("compiler"), "GNU");
#endif
}

int main(void)
{
    the_number_is_that_of_the_text();
    each_fact_has_a_value();
    facts_are_those_of_the_build();
    return check_result();
}
