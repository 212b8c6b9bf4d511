/* work_rates.h -- how many bytes a second one processor gets through, by kind of
 * work. The library does not need to know: a simulated machine does. */
#ifndef BM_WORK_RATES_H
#define BM_WORK_RATES_H

#include "base/bytes.h"
#include "bouma.h"

/* Codecs have rates of their own. */
#define BM_WORK_LIST(X)                                                        \
    X(COPY, "copy")   /* from memory to memory */                              \
    X(HASH, "hash")   /* checksums of chunks */                                \
    X(PATCH, "patch") /* rows of samples into the levels of a patch, and   \
                             their range; or back */   \
    X(ORDER, "order") /* rows of samples into HZ order, or back */             \
    X(FORWARD, "forward") /* samples of tiles to coefficients */               \
    X(INVERSE, "inverse") /* and back */                                       \
    X(SORT, "sort")       /* positions of BM_SORTED_PARTICLES into a tree */   \
    X(ARRANGE, "arrange") /* values into its order, indexed, and by level */

enum bm_work {
#define BM_WORK_ENTRY(name, text) BM_WORK_##name,
    BM_WORK_LIST(BM_WORK_ENTRY)
#undef BM_WORK_ENTRY
        BM_WORKS
};

#define BM_SORTED_PARTICLES ((size_t)1 << 20)

/* Bytes of samples of grids, and of values of particles. */
struct bm_codec_rates {
    double encode, decode, encode_list, decode_list;
};

#define BM_RATED_CODECS (BOUMA_CODEC_EXACT + 1)

/* 0: not told. */
struct bm_work_rates {
    double work[BM_WORKS];
    struct bm_codec_rates codecs[BM_RATED_CODECS]; /* by bouma_codec */
};

/* NULL if there is none with that number. */
const char *bm_work_name(int work);

/* Lines of a machine file. */
void bm_work_rates_put(struct bm_buffer *out, const struct bm_work_rates *r);

#endif
