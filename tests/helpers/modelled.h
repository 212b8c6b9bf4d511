/* modelled.h -- machines of specs such as "torus:8x8". */
#ifndef MODELLED_H
#define MODELLED_H

#include "check.h"
#include "machine/machine.h"

/* The caller ends it with bm_machine_free(). */
static inline struct bm_machine *machine_of(const char *spec, int ranks)
{
    struct bm_error error = {0};
    struct bm_machine *m = NULL;

    if (bm_machine_make(
            &m, bm_allocator_default(),
            &(struct bm_machine_source){.spec = spec, .ranks = ranks}, &error))
        printf("%s: %s\n", spec, error.text);
    REQUIRE(m);
    return m;
}

#endif
