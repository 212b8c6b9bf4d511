/* Sums of the first so many, and how far a limit reaches. */
#include "bouma.h"
#include "check.h"
#include "plan/sums.h"

static void check_sums(size_t count, uint64_t largest, uint64_t *state)
{
    uint64_t *sum = malloc((count + 1) * sizeof(*sum));
    struct bm_sums s;

    REQUIRE(sum && !bm_sums_init(&s, bm_allocator_default(), count, largest));
    CHECK_EQ(s.large != NULL, largest > INT32_MAX);
    sum[0] = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t n = check_random(state) % (largest + 1);

        n = n % 3 ? n : 0;
        bm_sums_put(&s, i, 1, n);
        CHECK_EQ(bm_sums_each(&s, i), n);
        sum[i + 1] = sum[i] + n;
    }
    CHECK_EQ(bm_sums_finish(&s), BOUMA_OK);
    for (size_t i = 0; i <= count; i++)
        CHECK_EQ(bm_sums_before(&s, i), sum[i]);
    for (int n = 0; n < 200; n++) {
        size_t from = (size_t)check_below(state, (int64_t)count + 1);
        uint64_t more = check_random(state) % (sum[count] - sum[from] + 2);
        uint64_t limit = sum[from] + more, reached;
        size_t end = from;

        while (end < count && sum[end + 1] <= limit)
            end++;
        CHECK_EQ(bm_sums_reach(&s, from, limit, &reached), end);
        CHECK_EQ(reached, sum[end]);
    }
    bm_sums_release(&s);
    bm_sums_release(&s);
    free(sum);
}

static void sums_are_those_of_all_before(void)
{
    uint64_t state = 61;

    for (size_t count = 0; count < 100; count++)
        check_sums(count, 9, &state);
    check_sums(3000, INT32_MAX, &state);
    check_sums(3000, (uint64_t)1 << 40, &state);
}

int main(void)
{
    sums_are_those_of_all_before();
    return check_result();
}
