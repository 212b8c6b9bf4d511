/* Values with strides: a hash sees all of them and nothing else, and a copy has
 * them all, whatever the order of the axes, compared with plain loops. */
#include <sys/mman.h>
#include <unistd.h>

#include "base/spread.h"

#include "check.h"

enum { ROOM = 1 << 16 };

static uint8_t memory[ROOM], copy[ROOM];

/* Strides for a random order of axes, with gaps between values, some of them
 * negative; data at the first value. */
static struct bm_spread random_spread(uint64_t *random)
{
    static const size_t sizes[4] = {1, 2, 4, 8};
    struct bm_spread s = {.size = sizes[check_below(random, 4)]};
    int64_t apart = (int64_t)s.size;
    int order[4] = {0, 1, 2, 3};
    int64_t first = 0;

    for (int k = 3; k > 0; k--) {
        int other = (int)check_below(random, k + 1), swap = order[k];

        order[k] = order[other];
        order[other] = swap;
    }
    for (int k = 0; k < 4; k++) {
        int d = order[k];

        s.count[d] = 1 + (uint64_t)check_below(random, 6);
        s.stride[d] = apart + (int64_t)s.size * check_below(random, 3);
        apart = s.stride[d] * (int64_t)s.count[d];
        if (!check_below(random, 3)) {
            first += s.stride[d] * (int64_t)(s.count[d] - 1);
            s.stride[d] = -s.stride[d];
        }
    }
    s.data = memory + first;
    return s;
}

static int64_t offset_of(const struct bm_spread *s, uint64_t number,
                         const int64_t stride[4])
{
    int64_t at = 0;

    for (int k = 3; k >= 0; k--) {
        at += stride[k] * (int64_t)(number % s->count[k]);
        number /= s->count[k];
    }
    return at;
}

static void copies_and_hashes_are_those_of_the_values(void)
{
    uint64_t random = 5;

    for (int trial = 0; trial < 500; trial++) {
        struct bm_spread s = random_spread(&random);
        size_t bytes = bm_spread_bytes(&s), values = bytes / s.size;
        uint8_t used[ROOM] = {0};
        uint64_t hash;
        int64_t stride[4];
        int wrong = 0;

        for (size_t i = 0; i < ROOM; i++)
            memory[i] = (uint8_t)check_random(&random);
        copy[bytes] = 77;
        bm_spread_copy(copy, stride, &s);
        CHECK_EQ(copy[bytes], 77);
        for (uint64_t i = 0; i < values; i++) {
            const uint8_t *value = s.data + offset_of(&s, i, s.stride);

            wrong +=
                memcmp(copy + offset_of(&s, i, stride), value, s.size) != 0;
            memset(used + (value - memory), 1, s.size);
        }
        CHECK_EQ(wrong, 0);
        hash = bm_spread_hash(&s);
        for (size_t i = 0; i < ROOM; i++)
            memory[i] ^= used[i] ? 0 : 0x55;
        CHECK(bm_spread_hash(&s) == hash);
        memory[(s.data - memory) +
               offset_of(&s, (uint64_t)check_below(&random, (int64_t)values),
                         s.stride)] ^= 1;
        CHECK(bm_spread_hash(&s) != hash);
    }
}

static void too_many_bytes_are_none(void)
{
    struct bm_spread s = {
        .size = 8, .count = {1u << 31, 1u << 31, 1, 1}, .stride = {8, 8, 8, 8}};

    CHECK(bm_spread_bytes(&s) == SIZE_MAX);
}

/* Three pages, the one in the middle gone: values there are missed, a gap
 * between values there is not. */
static void what_is_not_mapped_is_known(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *pages =
        mmap(NULL, 3 * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct bm_spread s = {
        .size = 8, .count = {1, 1, 2, 4}, .stride = {0, 0, 0, 8}};

    REQUIRE(pages != MAP_FAILED);
    s.data = pages + page - 32;
    s.stride[2] = (int64_t)page + 32;
    CHECK(bm_spread_is_mapped(&s));
    REQUIRE(!munmap(pages + page, page));
    CHECK(bm_spread_is_mapped(&s));
    s.data += page + 32; /* the same from its end */
    s.stride[2] = -s.stride[2];
    CHECK(bm_spread_is_mapped(&s));
    s.data -= 1;
    CHECK(!bm_spread_is_mapped(&s));
    s.data = pages + page - 31;
    s.count[2] = 1;
    CHECK(!bm_spread_is_mapped(&s));
    s.count[3] = 0;
    CHECK(bm_spread_is_mapped(&s));
    munmap(pages, page);
    munmap(pages + 2 * page, page);
}

int main(void)
{
    what_is_not_mapped_is_known();
    copies_and_hashes_are_those_of_the_values();
    too_many_bytes_are_none();
    return check_result();
}
