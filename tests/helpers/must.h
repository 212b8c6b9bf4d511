/* must.h -- calls on a dataset without which a test makes no sense. */
#ifndef MUST_H
#define MUST_H

#include "bouma.h"
#include "check.h"

/* The dataset is looked at after the call, which may be the one that makes it.
 */
#define MUST(ds, call)                                                         \
    do {                                                                       \
        int must_rc = (call);                                                  \
        if (must_rc)                                                           \
            printf("%s:%d: %s\n", __FILE__, __LINE__,                          \
                   bouma_error_message(ds));                                   \
        REQUIRE(must_rc == BOUMA_OK);                                          \
    } while (0)

#endif
