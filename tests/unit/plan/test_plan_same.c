/* Plans stay the same, whatever is done to make them faster or smaller: hashes
 * of all that random plans say, as they were when this test was written. With
 * an argument it prints the hashes instead. */
#include "bouma.h"
#include "check.h"

enum { GROUPS = 24, CASES = 50 };

static const uint64_t expected[GROUPS] = {
    0x052241f4227420db, 0x003d9ceaaf5eeca4, 0xda138a16ec2ee725,
    0xe0656c881bf52008, 0x3eee0e56bee6a5b4, 0x6997260c56016460,
    0x7c188cd33cec5993, 0x58cc219a9505646c, 0x2ae330f49e02d45e,
    0x32b725832f01bbe3, 0x9c26df3a0456e4af, 0x0d55f266a14822dc,
    0x0d1edfa5bfa5ea29, 0x55471816e782a8a7, 0xab2c19fed5cd9047,
    0x561a74caedce6522, 0x963eacd83eb76bc9, 0xfea4590f61b92c90,
    0x111b4b5caefd4545, 0x5796c131793d0931, 0x23dc191c0d656450,
    0xcb5c5caf162ea5f7, 0x090f38a2fcc01b54, 0x0ea928dd732d08fd,
};

/* ---- hashes ------------------------------------------------------------- */

static void add(uint64_t *hash, uint64_t value)
{
    for (int i = 0; i < 8; i++) {
        *hash = (*hash ^ (value & 255)) * 1099511628211u;
        value >>= 8;
    }
}

static void add_real(uint64_t *hash, double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof(bits));
    add(hash, bits);
}

static void add_report(uint64_t *hash, const bouma_plan *plan,
                       bouma_plan_report *r)
{
    *r = (bouma_plan_report){.size = sizeof(*r)};
    CHECK_EQ(bouma_plan_report_get(r, plan), BOUMA_OK);
    add(hash, (uint64_t)r->distribute * 64 + r->assign * 8 + r->place);
    for (int d = 0; d < 3; d++) {
        add(hash, (uint64_t)r->blocks[d]);
        add(hash, (uint64_t)r->patch[d]);
        add(hash, (uint64_t)r->grid[d]);
    }
    add(hash, (uint64_t)r->patches);
    add(hash, (uint64_t)r->shared_patches);
    add(hash, (uint64_t)r->fewest_patches);
    add(hash, (uint64_t)r->most_patches);
    add(hash, r->raw_bytes);
    add(hash, r->stored_bytes);
    add(hash, r->moved_bytes);
    add(hash, (uint64_t)r->moved_messages);
    add(hash, r->shipped_bytes);
    add(hash, (uint64_t)r->shipped_messages);
    add(hash, (uint64_t)r->rounds);
    add(hash, (uint64_t)r->writers);
    add(hash, (uint64_t)r->files);
    add(hash, r->smallest_file);
    add(hash, r->largest_file);
    add(hash, r->mean_file);
    add_real(hash, r->byte_hops);
    add(hash, (uint64_t)r->hz_conforms);
    add(hash, (uint64_t)r->fewest_holders);
    add(hash, (uint64_t)r->most_holders);
    add(hash, (uint64_t)r->fewest_held);
    add(hash, (uint64_t)r->most_held);
    add(hash, (uint64_t)r->held_files);
}

static void add_patches(uint64_t *hash, const bouma_plan *plan,
                        const bouma_plan_report *r)
{
    int64_t at[3];

    for (at[0] = 0; at[0] < r->grid[0]; at[0]++)
        for (at[1] = 0; at[1] < (r->grid[1] ? r->grid[1] : 1); at[1]++)
            for (at[2] = 0; at[2] < (r->grid[2] ? r->grid[2] : 1); at[2]++) {
                bouma_plan_patch p = {.size = sizeof(p)};

                CHECK_EQ(bouma_plan_patch_get(&p, plan, at), BOUMA_OK);
                add(hash, (uint64_t)p.owner);
                add(hash, (uint64_t)p.file);
                add(hash, p.bytes);
            }
}

/* Holders come in no order. */
struct holders {
    uint64_t count, sum, squares;
};

static void add_holder(void *user, int rank)
{
    struct holders *h = user;

    h->count++;
    h->sum += (uint64_t)rank;
    h->squares += (uint64_t)rank * (uint64_t)rank;
}

static void add_cost(void *user, const bouma_plan_cost *cost)
{
    uint64_t *hash = user;

    add(hash, (uint64_t)cost->rank);
    add(hash, (uint64_t)cost->node);
    add(hash, (uint64_t)(cost->tier * 4 + cost->fits * 2 + cost->chosen));
    add_real(hash, cost->gather);
    add_real(hash, cost->store);
    add_real(hash, cost->links);
    add_real(hash, cost->wait);
}

static void add_files(uint64_t *hash, const bouma_plan *plan,
                      const bouma_plan_report *r)
{
    for (int64_t i = 0; i < r->files; i++) {
        bouma_plan_file f = {.size = sizeof(f)};
        struct holders h = {0};

        CHECK_EQ(bouma_plan_file_get(&f, plan, i), BOUMA_OK);
        CHECK_EQ(bouma_plan_holders(plan, i, add_holder, &h), BOUMA_OK);
        add(hash, (uint64_t)f.writer);
        add(hash, (uint64_t)f.patches);
        add(hash, f.bytes);
        add(hash, (uint64_t)f.tier);
        add(hash, (uint64_t)(f.first_level * 64 + f.last_level));
        add(hash, h.count);
        add(hash, h.sum);
        add(hash, h.squares);
        if (r->place == BOUMA_PLACE_COST)
            CHECK_EQ(bouma_plan_explain(plan, i, add_cost, hash), BOUMA_OK);
    }
}

/* ---- random plans ------------------------------------------------------- */

static int64_t pick(uint64_t *state, int64_t below)
{
    return (int64_t)((check_random(state) >> 16) % (uint64_t)below);
}

/* Some ranks, mostly of few primes, along some axes. */
static void pick_grid(bouma_plan_spec *spec, uint64_t *state)
{
    static const int64_t longest[4] = {0, 3000, 130, 40};

    spec->ndims = 1 + (int)pick(state, 3);
    spec->ranks = 1;
    for (int d = 0; d < spec->ndims; d++) {
        spec->shape[d] = 1 + pick(state, longest[spec->ndims]);
        spec->blocks[d] = 1 + pick(state, spec->ndims == 1 ? 40 : 5);
        spec->patch[d] = (int64_t)1 << pick(state, spec->ndims == 1 ? 8 : 5);
        if (pick(state, 3) == 0) { /* the blocks are whole patches */
            int64_t whole = spec->patch[d] * spec->blocks[d];

            spec->shape[d] = whole * (1 + pick(state, 2));
        }
        spec->ranks *= (int)spec->blocks[d];
    }
    for (int d = 0; d < 3 && pick(state, 2) == 0; d++)
        if (d == 2)
            memset(spec->blocks, 0, sizeof(spec->blocks));
    spec->rank_order = (bouma_rank_order)pick(state, 4);
    spec->type = pick(state, 2) ? BOUMA_TYPE_F32 : BOUMA_TYPE_U16;
    spec->components = (int)pick(state, 3);
    spec->ratio = pick(state, 3) ? 0 : 1 + (double)pick(state, 90) / 8;
    spec->vary = pick(state, 2) ? 0 : 1 + (double)pick(state, 60);
    if (pick(state, 3) == 0) {
        spec->layout = BOUMA_LAYOUT_HZ;
        memset(spec->patch, 0, sizeof(spec->patch));
        spec->hz_template = pick(state, 2) ? "ranks" : NULL;
        spec->hz_block_bits = 1 + (int)pick(state, 8);
        spec->hz_blocks_per_file = 1 + (int)pick(state, 20);
    }
}

static void pick_options(bouma_options *opts, uint64_t *state)
{
    static const bouma_assign assigns[] = {
        BOUMA_ASSIGN_OPTIMAL, BOUMA_ASSIGN_RUNNING, BOUMA_ASSIGN_COUNT,
        BOUMA_ASSIGN_PER_RANK, BOUMA_ASSIGN_SINGLE};
    static const bouma_place places[] = {BOUMA_PLACE_SPREAD, BOUMA_PLACE_FIRST,
                                         BOUMA_PLACE_COST, BOUMA_PLACE_LOCAL};
    static const char *const machines[] = {
        "torus:4x4x4", "torus:8x8", "dragonfly:4x4x4x2", "fat-tree:4x4x4"};

    opts->distribute = (bouma_distribute)pick(state, 5);
    opts->assign = assigns[pick(state, 5)];
    opts->place = places[pick(state, 4)];
    if (opts->place == BOUMA_PLACE_COST || pick(state, 4) == 0)
        opts->machine = machines[pick(state, 4)];
    if (pick(state, 2))
        opts->files = 1 + (int)pick(state, 30);
    else if (pick(state, 2))
        opts->file_size = 1 + (uint64_t)pick(state, 20000);
    if (pick(state, 2))
        opts->buffer_bytes = 4096 * (1 + (uint64_t)pick(state, 4));
}

static void add_plan(uint64_t *hash, int64_t *made, uint64_t seed)
{
    uint64_t state = seed * 977 + 5;
    bouma_plan_spec spec = {.size = sizeof(spec)};
    bouma_options opts = {.size = sizeof(opts)};
    bouma_plan_report report;
    bouma_plan *plan = NULL;
    char why[300];
    int rc;

    pick_grid(&spec, &state);
    pick_options(&opts, &state);
    rc = bouma_plan_make(&plan, &spec, &opts, why, sizeof(why));
    add(hash, (uint64_t)rc);
    if (rc)
        return;
    *made += 1;
    add_report(hash, plan, &report);
    add_patches(hash, plan, &report);
    add_files(hash, plan, &report);
    bouma_plan_free(plan);
}

static void random_plans_are_as_they_were(int print)
{
    int64_t made = 0;

    for (uint64_t g = 0; g < GROUPS; g++) {
        uint64_t hash = 14695981039346656037u;

        for (uint64_t i = 0; i < CASES; i++)
            add_plan(&hash, &made, g * CASES + i);
        if (print)
            printf("    0x%016" PRIx64 ",\n", hash);
        else
            CHECK_EQ(hash, expected[g]);
    }
    if (print)
        printf("%" PRId64 " plans\n", made);
    CHECK(made > GROUPS * CASES / 2); /* the others are refused */
}

int main(int argc, char **argv)
{
    (void)argv;
    random_plans_are_as_they_were(argc > 1);
    return check_result();
}
