/* Shuffled values become one zstd frame, plane by plane: any decoder gives them
 * back, noise takes no more than itself, and what is regular is short. */
#include "codec/zstd_planes.h"

#include <zstd.h>

#include "check.h"

enum kind { ZERO, NOISY, COUNTING, SMALL, SKEWED, RUNS, KINDS };

static uint8_t byte_of(enum kind kind, size_t i, uint64_t *state)
{
    switch (kind) {
    case NOISY:
        return (uint8_t)check_below(state, 256);
    case COUNTING:
        return (uint8_t)i;
    case SMALL:
        return (uint8_t)(10 * check_below(state, 4));
    case SKEWED:
        return check_below(state, 10) ? 7 : (uint8_t)check_below(state, 256);
    case RUNS:
        return (uint8_t)(i / 97);
    default:
        return 0;
    }
}

/* The bytes of the frame; what comes back is compared. */
static size_t round_trip(const uint8_t *in, size_t n, size_t planes, int effort)
{
    size_t bytes = n * planes, stored, back;
    uint8_t *out = malloc(bm_zstd_planes_bound(bytes));
    uint8_t *again = malloc(bytes + 1);
    struct bm_codec_state state;

    REQUIRE(out && again);
    bm_codec_state_init(&state, bm_allocator_default());
    stored = bm_zstd_planes(&state, out, in, n, planes, effort);
    CHECK(stored > 0 && stored <= bm_zstd_planes_bound(bytes));
    CHECK_EQ(ZSTD_getFrameContentSize(out, stored), bytes);
    CHECK_EQ(ZSTD_findFrameCompressedSize(out, stored), stored);
    back = ZSTD_decompress(again, bytes, out, stored);
    CHECK_EQ(back, bytes);
    CHECK(back != bytes || !memcmp(again, in, bytes));
    bm_codec_state_release(&state);
    free(out);
    free(again);
    return stored;
}

static void all_kinds_come_back(void)
{
    static const size_t counts[] = {
        1,     2,     15,    16,    63,   64,   65,   255,   256,    819,
        32767, 65536, 65791, 65792, 8192, 8193, 3000, 70000, 131073, 300000};
    uint64_t state = 3;

    for (size_t k = 0; k < sizeof(counts) / sizeof(*counts); k++)
        for (size_t planes = 1; planes <= 8; planes *= 2) {
            size_t n = counts[k];
            uint8_t *in = malloc(n * planes);

            REQUIRE(in);
            for (int turn = 0; turn < (n < 10000 ? 12 : 2); turn++) {
                for (size_t b = 0; b < planes; b++) {
                    enum kind kind = (enum kind)check_below(&state, KINDS);

                    for (size_t i = 0; i < n; i++)
                        in[b * n + i] = byte_of(kind, i, &state);
                }
                round_trip(in, n, planes, turn % 3 ? 0 : 1 + turn % 5);
            }
            free(in);
        }
}

static void what_is_regular_is_short(void)
{
    enum { N = 819, PLANES = 8 };
    static uint8_t in[N * PLANES], frame[2 * N * PLANES];
    uint64_t state = 4;
    size_t alone;

    for (size_t i = 0; i < N; i++)
        for (size_t b = 0; b < PLANES; b++)
            in[b * N + i] = byte_of(b < 5   ? NOISY
                                    : b < 7 ? ZERO
                                            : RUNS,
                                    i, &state);
    CHECK(round_trip(in, N, PLANES, 0) <= 5 * N + 150);
    for (size_t i = 0; i < sizeof(in); i++)
        in[i] = byte_of(NOISY, i, &state);
    CHECK(round_trip(in, N, PLANES, 0) <= sizeof(in) + 16);
    /* Two bits in a byte, as numbers of kinds have them. */
    for (size_t i = 0; i < sizeof(in); i++)
        in[i] = byte_of(i < N ? SMALL : ZERO, i, &state);
    alone = ZSTD_compress(frame, sizeof(frame), in, sizeof(in), 1);
    CHECK(alone < N / 2 && round_trip(in, N, PLANES, 0) <= alone);
    for (size_t i = 0; i < sizeof(in); i++)
        in[i] = byte_of(COUNTING, i, &state);
    CHECK(round_trip(in, N, PLANES, 0) <= 600);
}

int main(void)
{
    all_kinds_come_back();
    what_is_regular_is_short();
    return check_result();
}
