/* Named things are found by name, whatever was added or taken back. */
#include "base/catalogue.h"

#include "bouma.h"
#include "check.h"
#include "fault_alloc.h"

enum { MOST = 500 };

static const char *name_at(const void *list, size_t index)
{
    return ((const char(*)[8])list)[index];
}

static int search(char (*names)[8], size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(names[i], name))
            return (int)i;
    return -1;
}

static void what_is_found_is_what_a_search_finds(void)
{
    static char names[MOST][8];
    struct bm_catalogue c = {NULL, 0};
    uint64_t state = 11;

    for (int tries = 0; tries < 5000; tries++) {
        char name[8];
        size_t rank, before = 0;
        int found;

        snprintf(name, sizeof(name), "%d", (int)check_below(&state, 900));
        found = bm_catalogue_find(&c, names, name_at, name, &rank);
        REQUIRE(found == search(names, c.count, name));
        for (size_t i = 0; i < c.count; i++)
            before += strcmp(names[i], name) < 0;
        REQUIRE(rank == before);
        if (c.count && (c.count == MOST || check_below(&state, 4) == 0)) {
            bm_catalogue_remove_last(&c);
        } else if (found < 0) {
            memcpy(names[c.count], name, sizeof(name));
            REQUIRE(!bm_catalogue_add(&c, bm_allocator_default(), rank));
        }
    }
    CHECK(c.count > MOST / 4);
    bm_catalogue_release(&c, bm_allocator_default());
    CHECK_EQ(bm_catalogue_find(&c, names, name_at, names[0], NULL), -1);
}

static void without_memory_nothing_changes(void)
{
    static char names[2][8] = {"a", "b"};
    struct bm_catalogue c = {NULL, 0};
    struct fault_alloc memory;

    fault_alloc_init(&memory);
    fault_alloc_arm(&memory, 2, 1);
    CHECK_EQ(bm_catalogue_add(&c, &memory.table, 0), BOUMA_OK);
    CHECK_EQ(bm_catalogue_add(&c, &memory.table, 1), BOUMA_ENOMEM);
    CHECK_EQ(c.count, 1);
    CHECK_EQ(bm_catalogue_find(&c, names, name_at, "a", NULL), 0);
    CHECK_EQ(bm_catalogue_find(&c, names, name_at, "b", NULL), -1);
    bm_catalogue_release(&c, &memory.table);
}

int main(void)
{
    what_is_found_is_what_a_search_finds();
    without_memory_nothing_changes();
    return check_result();
}
