/* test_tier_memory.c -- memory in tiers. */
#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "check.h"
#include "fault_alloc.h"
#include "machine/machine_hwloc.h"
#include "machine/tier_memory.h"

static int count_files(const char *directory)
{
    DIR *d = opendir(directory);
    struct dirent *e;
    int n = 0;

    REQUIRE(d);
    while ((e = readdir(d)))
        n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

static void fill_and_look(struct bm_tier_memory *b)
{
    long page = sysconf(_SC_PAGESIZE);

    CHECK_EQ((uintptr_t)b->data % (uintptr_t)page, 0);
    for (size_t i = 0; i < b->bytes; i++)
        b->data[i] = (uint8_t)(i * 7);
    for (size_t i = 0; i < b->bytes; i += 997)
        CHECK_EQ(b->data[i], (uint8_t)(i * 7));
}

static void dram_begins_at_a_page(void)
{
    static const size_t sizes[] = {0, 1, 4095, 4096, 1000000};

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct bm_error error = {0};
        struct bm_tier_memory b;

        CHECK_EQ(bm_tier_memory_new(&b, BOUMA_TIER_DRAM, sizes[i], NULL,
                                    bm_allocator_default(), &error),
                 BOUMA_OK);
        CHECK_EQ(b.bytes, sizes[i]);
        fill_and_look(&b);
        bm_tier_memory_free(&b);
        CHECK(!b.data && !b.tier);
        bm_tier_memory_free(&b);
    }
}

static void memory_of_a_local_tier_leaves_no_file(void)
{
    char directory[] = "/tmp/bouma-tier-XXXXXX";
    struct bm_error error = {0};
    struct bm_tier_memory b, c;

    REQUIRE(mkdtemp(directory));
    CHECK_EQ(bm_tier_memory_new(&b, BOUMA_TIER_LOCAL, 300000, directory,
                                bm_allocator_default(), &error),
             BOUMA_OK);
    CHECK_EQ(bm_tier_memory_new(&c, BOUMA_TIER_LOCAL, 0, directory,
                                bm_allocator_default(), &error),
             BOUMA_OK);
    CHECK_EQ(count_files(directory), 0);
    fill_and_look(&b);
    bm_tier_memory_free(&b);
    bm_tier_memory_free(&c);
    CHECK_EQ(rmdir(directory), 0);
}

static int local_fails(const char *directory, size_t bytes,
                       struct bm_error *error)
{
    struct bm_tier_memory b;
    int rc;

    memset(error, 0, sizeof(*error));
    rc = bm_tier_memory_new(&b, BOUMA_TIER_LOCAL, bytes, directory,
                            bm_allocator_default(), error);
    CHECK(rc && !b.data && !b.tier && error->text[0]);
    bm_tier_memory_free(&b);
    return rc;
}

static void a_directory_that_is_not_there_is_told_of(void)
{
    struct bm_error error;

    CHECK_EQ(local_fails(NULL, 10, &error), BOUMA_ENOTFOUND);
    CHECK_TEXT(error.text, "the option 'local'");
    CHECK_EQ(local_fails("", 10, &error), BOUMA_ENOTFOUND);
    CHECK_EQ(local_fails("/not/there", 10, &error), BOUMA_ENOTFOUND);
    CHECK_TEXT(error.text, "/not/there");
    CHECK_EQ(local_fails("/dev/null", 10, &error), BOUMA_EIO);
}

/* Blocks are reserved at once, so this is told before anything is stored. */
static void too_little_space_is_told_at_once(void)
{
    struct rlimit old, small;
    struct bm_error error;
    struct bm_tier_memory b;

    CHECK_EQ(local_fails("/tmp", (size_t)1 << 62, &error), BOUMA_ENOSPC);
    CHECK_EQ(local_fails("/tmp", SIZE_MAX, &error), BOUMA_ENOSPC);
    signal(SIGXFSZ, SIG_IGN);
    REQUIRE(!getrlimit(RLIMIT_FSIZE, &old));
    small = old;
    small.rlim_cur = 100000;
    REQUIRE(!setrlimit(RLIMIT_FSIZE, &small));
    CHECK_EQ(local_fails("/tmp", 200000, &error), BOUMA_ENOSPC);
    CHECK_TEXT(error.text, "200000 bytes");
    memset(&error, 0, sizeof(error));
    CHECK_EQ(bm_tier_memory_new(&b, BOUMA_TIER_LOCAL, 90000, "/tmp",
                                bm_allocator_default(), &error),
             BOUMA_OK);
    fill_and_look(&b);
    bm_tier_memory_free(&b);
    REQUIRE(!setrlimit(RLIMIT_FSIZE, &old));
}

static void no_memory_is_told_of(void)
{
    struct fault_alloc none;
    struct bm_error error = {0};
    struct bm_tier_memory b;
    void *data, *owner;

    fault_alloc_init(&none);
    fault_alloc_arm(&none, 1, 1);
    CHECK_EQ(
        bm_tier_memory_new(&b, BOUMA_TIER_DRAM, 10, NULL, &none.table, &error),
        BOUMA_ENOMEM);
    CHECK_TEXT(error.text, "10 bytes");
    memset(&error, 0, sizeof(error));
    CHECK_EQ(bm_tier_memory_new(&b, BOUMA_TIER_DRAM, SIZE_MAX, NULL,
                                bm_allocator_default(), &error),
             BOUMA_ENOMEM);
    memset(&error, 0, sizeof(error));
    CHECK_EQ(bm_hwloc_memory(&data, &owner, 10, 0, &none.table, &error),
             BOUMA_WITH_HWLOC ? BOUMA_ENOMEM : BOUMA_ENOTFOUND);
    memset(&error, 0, sizeof(error));
    CHECK_EQ(bm_tier_memory_new(&b, (bouma_tier)9, 10, NULL,
                                bm_allocator_default(), &error),
             BOUMA_EINVAL);
}

/* On most machines there is none; then that is what is said. */
static void hbm_is_there_or_not_found(void)
{
    struct bm_error error = {0};
    struct bm_inside inside = {0};
    struct bm_tier_memory b;
    int there = bm_hwloc_here(&inside) && inside.hbm;
    int rc = bm_tier_memory_new(&b, BOUMA_TIER_HBM, 100000, NULL,
                                bm_allocator_default(), &error);

    if (there) {
        CHECK_EQ(rc, BOUMA_OK);
        fill_and_look(&b);
    } else if (rc) {
        CHECK_EQ(rc, BOUMA_ENOTFOUND);
        CHECK_TEXT(error.text, "use the tier dram");
    }
    bm_tier_memory_free(&b);
}

/* The way that memory of high bandwidth takes, with the memory there is. */
static void hwloc_gives_memory_of_a_node_if_it_is_there(void)
{
    struct bm_error error = {0};
    void *data, *owner;
    int rc = bm_hwloc_memory(&data, &owner, 100000, 0, bm_allocator_default(),
                             &error);

    if (!BOUMA_WITH_HWLOC) {
        CHECK_EQ(rc, BOUMA_ENOTFOUND);
        CHECK_TEXT(error.text, "built without hwloc");
    } else if (rc) { /* a container may not bind */
        CHECK_EQ(rc, BOUMA_ENOMEM);
        CHECK_TEXT(error.text, "memory node 0");
    } else {
        struct bm_tier_memory b = {.data = data, .bytes = 100000};

        fill_and_look(&b);
        bm_hwloc_memory_free(owner);
    }
    memset(&error, 0, sizeof(error));
    CHECK_EQ(bm_hwloc_memory(&data, &owner, 100000, 9999,
                             bm_allocator_default(), &error),
             BOUMA_ENOTFOUND);
}

int main(void)
{
    dram_begins_at_a_page();
    memory_of_a_local_tier_leaves_no_file();
    a_directory_that_is_not_there_is_told_of();
    too_little_space_is_told_at_once();
    no_memory_is_told_of();
    hbm_is_there_or_not_found();
    hwloc_gives_memory_of_a_node_if_it_is_there();
    return check_result();
}
