/* Lists of numbers in which equal neighbours are kept as one. */
#include "bouma.h"
#include "check.h"
#include "plan/even_list.h"

enum { COUNT = 10000 };

/* Put runs of random length; the same numbers are found, one by one and run by
 * run. */
static void check_list(const struct bm_even_list *l, const uint32_t *number,
                       size_t count)
{
    for (size_t i = 0; i < count; i++)
        CHECK_EQ(bm_even_list_get(l, i), number[i]);
    for (size_t i = 0, n; i < count; i += n) {
        uint32_t found;

        n = bm_even_list_run(l, i, count, &found);
        REQUIRE(n > 0 && n <= count - i);
        for (size_t k = 0; k < n; k++)
            CHECK_EQ(found, number[i + k]);
    }
}

static void numbers_are_found_again(int64_t longest)
{
    uint64_t state = 7 + (uint64_t)longest;
    uint32_t *number = malloc(COUNT * sizeof(*number));
    struct bm_even_list l;

    REQUIRE(number && !bm_even_list_init(&l, bm_allocator_default(), COUNT));
    for (size_t i = 0, n; i < COUNT; i += n) {
        uint32_t value = (uint32_t)check_below(&state, 3);

        value = value == 2 ? BM_EVEN_MOST : value;
        n = 1 + (size_t)check_below(&state, longest);
        n = n < COUNT - i ? n : COUNT - i;
        bm_even_list_put(&l, i, n, value);
        for (size_t k = 0; k < n; k++)
            number[i + k] = value;
    }
    check_list(&l, number, COUNT);
    for (int n = 0; n < COUNT / 4; n++) {
        size_t i = (size_t)check_below(&state, COUNT);

        number[i] = (uint32_t)check_below(&state, 5);
        bm_even_list_change(&l, i, number[i]);
    }
    check_list(&l, number, COUNT);
    CHECK_EQ(l.rc, BOUMA_OK);
    bm_even_list_release(&l);
    bm_even_list_release(&l);
    free(number);
}

static void equal_numbers_need_no_groups(void)
{
    struct bm_even_list l;

    REQUIRE(!bm_even_list_init(&l, bm_allocator_default(), COUNT));
    for (size_t i = 0; i < COUNT; i += 5)
        bm_even_list_put(&l, i, 5, 9);
    CHECK_EQ(l.groups, 0);
    bm_even_list_release(&l);
}

int main(void)
{
    numbers_are_found_again(1);
    numbers_are_found_again(7);
    numbers_are_found_again(40);
    equal_numbers_need_no_groups();
    return check_result();
}
