/* rates.c -- the rates of work that a machine file has: see work.h. */
#include <stdio.h>

#include "machine/machine_file.h"
#include "work.h"

int sim_rates_parse(struct bm_work_rates *out, const char *text, size_t bytes,
                    char *message, size_t message_bytes)
{
    struct bm_description d;
    struct bm_error error = {0};
    int rc;

    bm_description_init(&d, bm_allocator_default());
    rc = bm_machine_file_parse(&d, text, bytes, &error);
    *out = d.rates;
    bm_description_release(&d);
    snprintf(message, message_bytes, "%s", error.text);
    for (int i = 0; i < BM_WORKS && !rc; i++)
        if (out->work[i] <= 0) {
            rc = BOUMA_EINVAL;
            snprintf(message, message_bytes,
                     "has no rate of the work '%s'; bouma probe --work -o FILE "
                     "writes a file with all",
                     bm_work_name(i));
        }
    return !rc;
}
