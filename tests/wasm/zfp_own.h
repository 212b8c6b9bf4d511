/* zfp_own.h -- a block, as the WebAssembly module decodes it. */
#ifndef ZFP_OWN_H
#define ZFP_OWN_H

#include <stddef.h>
#include <stdint.h>

#include "bouma.h"

/* How many bits it has. */
uint64_t own_decode(void *to, bouma_type type, int axes, int minexp, void *bits,
                    size_t bytes);

#endif
