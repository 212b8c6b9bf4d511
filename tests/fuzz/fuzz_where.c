/* fuzz_where.c -- no text makes the compiler of conditions crash, and what it
 * accepts are a few groups of ranges of what there is. */
#include "base/where.h"
#include "fuzz_help.h"

static const struct bm_where_variable variables[] = {
    {"position", BOUMA_TYPE_F32, 2}, {"mass", BOUMA_TYPE_F64, 1},
    {"id", BOUMA_TYPE_I16, 1},       {"big", BOUMA_TYPE_U64, 1},
    {"v", BOUMA_TYPE_F32, 3},        {"c[1]", BOUMA_TYPE_F64, 1}};

static void check_range(const struct bm_where_range *range)
{
    HOLDS(range->variable < 6);
    HOLDS(range->component >= 0 &&
          range->component < variables[range->variable].components);
    if (range->variable == 2)
        HOLDS(range->low.i <= range->high.i);
    else if (range->variable == 3)
        HOLDS(range->low.u <= range->high.u);
    else
        HOLDS(range->low.f <= range->high.f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    struct bm_error error = {0};
    struct bm_where where;
    size_t ranges = 0;
    int rc;

    if (!text)
        exit(1);
    if (size)
        memcpy(text, data, size);
    text[size] = '\0';
    rc = bm_where_compile(&where, bm_allocator_default(), text, variables, 6,
                          &error);
    HOLDS(rc == error.status && !rc == !error.text[0]);
    HOLDS(where.count <= BM_WHERE_GROUPS && where.ranges <= BM_WHERE_RANGES);
    for (size_t g = 0; g < where.count; g++) {
        HOLDS(where.groups[g].count > 0);
        ranges += where.groups[g].count;
        for (size_t i = 0; i < where.groups[g].count; i++)
            check_range(&where.groups[g].ranges[i]);
    }
    HOLDS(ranges == where.ranges);
    bm_where_release(&where);
    free(text);
    return 0;
}
