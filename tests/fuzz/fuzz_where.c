/* fuzz_where.c -- no text makes the compiler of conditions crash, and what it
 * accepts are ranges of what there is. */
#include <math.h>

#include "fuzz_help.h"
#include "where.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct where_variable variables[] = {
        {"position", BOUMA_TYPE_F32, 2}, {"mass", BOUMA_TYPE_F64, 1},
        {"id", BOUMA_TYPE_I16, 1},       {"big", BOUMA_TYPE_U64, 1},
        {"v", BOUMA_TYPE_F32, 3},        {"c[1]", BOUMA_TYPE_F64, 1}};
    char *text = malloc(size + 1), message[128];
    struct where where;

    if (!text)
        exit(1);
    if (size)
        memcpy(text, data, size);
    text[size] = '\0';
    if (!where_compile(&where, text, variables, 6, message, sizeof(message)))
        HOLDS(message[0] && memchr(message, '\0', sizeof(message)));
    else
        HOLDS(where.count > 0);
    for (size_t i = 0; i < where.count; i++) {
        const struct where_range *range = &where.ranges[i];

        HOLDS(range->variable < 6);
        HOLDS(range->component >= 0 &&
              range->component < variables[range->variable].components);
        if (!where.never && range->variable == 1)
            HOLDS(range->low.f <= range->high.f);
        if (!where.never && range->variable == 2)
            HOLDS(range->low.i <= range->high.i);
        if (!where.never && range->variable == 3)
            HOLDS(range->low.u <= range->high.u);
    }
    where_release(&where);
    free(text);
    return 0;
}
