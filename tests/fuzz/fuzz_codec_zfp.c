/* fuzz_codec_zfp.c -- chunks of codec `zfp-reversible`; see fuzz_field.h. */
#include "fuzz_field.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_field(&bm_codec_zfp_reversible, data, size);
}
