/* Patches of a grid: their boxes tile it, and their order is that of their
 * Morton keys. */
#include "base/tiling.h"

#include "check.h"

struct keyed {
    uint64_t key;
    int64_t patch;
};

static int by_key(const void *left, const void *right)
{
    const struct keyed *a = left, *b = right;

    return a->key < b->key ? -1 : a->key > b->key;
}

static void check_order(const struct bm_tiling *t)
{
    size_t n = (size_t)t->patches;
    struct keyed *keyed = malloc(n * sizeof(*keyed));
    int64_t *order = malloc((n + 1) * sizeof(*order));

    REQUIRE(keyed && order);
    order[n] = -77;
    bm_tiling_order(t, order);
    CHECK_EQ(order[n], -77);
    for (size_t i = 0; i < n; i++) {
        keyed[i].patch = (int64_t)i;
        keyed[i].key = bm_tiling_key(t, (int64_t)i);
        CHECK_EQ(bm_tiling_find(t, keyed[i].key), i);
    }
    qsort(keyed, n, sizeof(*keyed), by_key);
    for (size_t i = 0; i < n; i++)
        CHECK_EQ(order[i], keyed[i].patch);
    free(keyed);
    free(order);
}

static void check_boxes(const struct bm_tiling *t)
{
    struct bm_box domain = bm_tiling_domain(t);
    uint64_t volume = 0;

    for (int64_t p = 0; p < t->patches; p++) {
        int64_t at[3];
        struct bm_box box = bm_tiling_patch_box(t, p), same, over;

        bm_tiling_at(t, p, at);
        CHECK_EQ(bm_tiling_index(t, at), p);
        same = bm_tiling_box(t, at);
        CHECK(!memcmp(&same, &box, sizeof(box)));
        CHECK(bm_box_inside(&box, &domain));
        CHECK(bm_box_volume(&box) > 0);
        volume += bm_box_volume(&box);
        for (int d = 0; d < 3; d++) {
            CHECK_EQ(box.lo[d], at[d] * t->edge[d]);
            CHECK(box.hi[d] == t->shape[d] ||
                  box.hi[d] == box.lo[d] + t->edge[d]);
        }
        over = bm_tiling_meeting(t, &box);
        for (int d = 0; d < 3; d++) {
            CHECK_EQ(over.lo[d], at[d]);
            CHECK_EQ(over.hi[d], at[d] + 1);
        }
    }
    CHECK_EQ(volume, bm_box_volume(&domain));
}

static void the_order_is_that_of_the_keys(void)
{
    static const int64_t sizes[] = {1, 2, 3, 4, 5, 7, 8, 9, 13, 16, 17, 33};
    enum { N = sizeof(sizes) / sizeof(sizes[0]) };
    struct bm_tiling t;

    for (int64_t n = 1; n < 300; n++) {
        int64_t edge = 4;

        REQUIRE(!bm_tiling_init(&t, 1, &n, &edge));
        CHECK_EQ(t.patches, (n + 3) / 4);
        check_order(&t);
        check_boxes(&t);
    }
    for (int a = 0; a < N; a++)
        for (int b = 0; b < N; b++) {
            int64_t shape[2] = {sizes[a] * 3, sizes[b] * 5}, edge[2] = {2, 4};

            REQUIRE(!bm_tiling_init(&t, 2, shape, edge));
            check_order(&t);
            check_boxes(&t);
        }
    for (int a = 0; a < N; a++)
        for (int b = 0; b < N; b++)
            for (int c = 0; c < N; c++) {
                int64_t shape[3] = {sizes[a], sizes[b], sizes[c]};
                int64_t edge[3] = {1, 2, 2};

                REQUIRE(!bm_tiling_init(&t, 3, shape, edge));
                check_order(&t);
                if ((a + b + c) % 3 == 0)
                    check_boxes(&t);
            }
}

static void long_thin_grids_are_ordered_too(void)
{
    static const int64_t shapes[4][3] = {
        {1, 1, 100000}, {100000, 1, 1}, {1, 50000, 2}, {3, 1, 30000}};
    int64_t edge[3] = {1, 1, 1};
    struct bm_tiling t;

    for (int i = 0; i < 4; i++) {
        REQUIRE(!bm_tiling_init(&t, 3, shapes[i], edge));
        check_order(&t);
    }
}

/* All keys below the next power of two: those that are not in the grid are not
 * found, and no key is found for two patches. */
static void keys_outside_the_grid_are_not_found(void)
{
    static const int64_t shapes[3][3] = {{13, 0, 0}, {5, 9, 0}, {3, 5, 6}};
    int64_t edge[3] = {1, 1, 1};

    for (int ndims = 1; ndims <= 3; ndims++) {
        struct bm_tiling t;
        int64_t found = 0;

        REQUIRE(!bm_tiling_init(&t, ndims, shapes[ndims - 1], edge));
        for (uint64_t key = 0; key < 1 << 16; key++) {
            int64_t p = bm_tiling_find(&t, key);

            CHECK(p >= -1 && p < t.patches);
            if (p >= 0)
                CHECK_EQ(bm_tiling_key(&t, p), key);
            found += p >= 0;
        }
        CHECK_EQ(found, t.patches);
        CHECK_EQ(bm_tiling_find(&t, UINT64_MAX), -1);
        CHECK_EQ(bm_tiling_find(&t, (uint64_t)1 << 63), -1);
        CHECK_EQ(bm_tiling_find(&t, (uint64_t)1 << 62), -1);
        for (int bit = 10; bit < 64; bit++)
            CHECK_EQ(bm_tiling_find(&t, (uint64_t)1 << bit), -1);
    }
}

static void a_box_meets_just_the_patches_it_touches(void)
{
    int64_t shape[3] = {9, 10, 7}, edge[3] = {4, 2, 8};
    struct bm_tiling t;
    uint64_t state = 6;

    REQUIRE(!bm_tiling_init(&t, 3, shape, edge));
    for (int i = 0; i < 500; i++) {
        struct bm_box box, over;

        for (int d = 0; d < 3; d++) {
            box.lo[d] = check_below(&state, shape[d]);
            box.hi[d] =
                box.lo[d] + 1 + check_below(&state, shape[d] - box.lo[d]);
        }
        over = bm_tiling_meeting(&t, &box);
        for (int64_t p = 0; p < t.patches; p++) {
            struct bm_box patch = bm_tiling_patch_box(&t, p), meet;
            int64_t at[3];
            int in = 1;

            bm_tiling_at(&t, p, at);
            for (int d = 0; d < 3; d++)
                in &= at[d] >= over.lo[d] && at[d] < over.hi[d];
            CHECK_EQ(in, bm_box_meet(&meet, &patch, &box));
        }
    }
}

static const char *verdict(int ndims, int64_t a, int64_t b, int64_t c,
                           int64_t edge)
{
    int64_t shape[3] = {a, b, c}, edges[3] = {edge, edge, edge};
    struct bm_tiling t;
    const char *wrong = bm_tiling_init(&t, ndims, shape, edges);

    return wrong ? wrong : "fine";
}

static void limits_are_told(void)
{
    const int64_t big = (int64_t)1 << 40;

    CHECK_TEXT(verdict(0, 1, 1, 1, 1), "1 to 3 axes");
    CHECK_TEXT(verdict(4, 1, 1, 1, 1), "1 to 3 axes");
    CHECK_TEXT(verdict(2, 0, 1, 1, 1), "no samples");
    CHECK_TEXT(verdict(2, 4, -1, 1, 1), "no samples");
    CHECK_TEXT(verdict(1, big, 1, 1, 1024), "2^40");
    CHECK_TEXT(verdict(1, INT64_MAX, 1, 1, 1024), "2^40");
    CHECK_TEXT(verdict(1, big - 1, 1, 1, 1024), "fine");
    CHECK_TEXT(verdict(1, 8, 1, 1, 3), "power of two");
    CHECK_TEXT(verdict(1, 8, 1, 1, 0), "power of two");
    CHECK_TEXT(verdict(1, 8, 1, 1, -4), "power of two");
    CHECK_TEXT(verdict(1, 8, 1, 1, INT64_MIN), "power of two");
    CHECK_TEXT(verdict(3, big - 1, big - 1, 1, 1 << 30), "2^62");
    CHECK_TEXT(verdict(3, big - 1, big - 1, big - 1, 1 << 30), "2^62");
    CHECK_TEXT(verdict(2, (int64_t)1 << 31, (int64_t)1 << 31, 1, 1 << 20),
               "2^62");
    CHECK_TEXT(verdict(2, (int64_t)1 << 31, ((int64_t)1 << 31) - 1, 1, 1 << 20),
               "fine");
    CHECK_TEXT(verdict(1, ((int64_t)1 << 31) + 1, 1, 1, 1), "too many patches");
    CHECK_TEXT(verdict(1, (int64_t)1 << 31, 1, 1, 1), "fine");
    /* A key has 21 bits for each of three axes. */
    CHECK_TEXT(verdict(3, (int64_t)1 << 22, 1, 1, 1), "too many patches");
    CHECK_TEXT(verdict(3, ((int64_t)1 << 21) - 1, 1, 1, 1), "fine");
    CHECK_TEXT(verdict(3, 1 << 12, 1 << 12, 1 << 12, 1), "too many patches");
}

int main(void)
{
    the_order_is_that_of_the_keys();
    long_thin_grids_are_ordered_too();
    keys_outside_the_grid_are_not_found();
    a_box_meets_just_the_patches_it_touches();
    limits_are_told();
    return check_result();
}
