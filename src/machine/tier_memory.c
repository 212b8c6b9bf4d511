/* tier_memory.c -- see tier_memory.h. */
#include "machine/tier_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "machine/machine_hwloc.h"
#include "machine/temp_file.h"
#include "machine/tier_memory_memkind.h"

static size_t page_bytes(void)
{
    long n = sysconf(_SC_PAGESIZE);

    return n > 0 ? (size_t)n : 4096;
}

/* ---- dram --------------------------------------------------------------- */

/* One page more than is wanted, to begin at a page. */
static int dram_new(struct bm_tier_memory *b, struct bm_error *error)
{
    size_t page = page_bytes();

    b->owner = b->bytes <= SIZE_MAX - page
                   ? bm_new_raw(b->a, b->bytes + page, 1)
                   : NULL;
    if (!b->owner)
        return bm_fail(error, BOUMA_ENOMEM,
                       "no memory for a buffer of %zu bytes; set the option "
                       "'buffer_bytes' to less",
                       b->bytes);
    b->data = (uint8_t *)b->owner + (page - (uintptr_t)b->owner % page) % page;
    return BOUMA_OK;
}

static void dram_free(struct bm_tier_memory *b)
{
    bm_drop(b->a, b->owner);
}

/* ---- hbm ---------------------------------------------------------------- */

/* By memkind there is no owner. */
static int hbm_new(struct bm_tier_memory *b, struct bm_error *error)
{
    void *data = bm_memkind_new(b->bytes ? b->bytes : 1, page_bytes());
    int rc = BOUMA_OK;

    if (!data)
        rc = bm_hwloc_memory(&data, &b->owner, b->bytes ? b->bytes : 1, -1,
                             b->a, error);
    b->data = data;
    return rc;
}

static void hbm_free(struct bm_tier_memory *b)
{
    if (b->owner)
        bm_hwloc_memory_free(b->owner);
    else
        bm_memkind_free(b->data);
}

/* ---- local -------------------------------------------------------------- */

/* All blocks of a file. */
static int reserve(int file, size_t bytes, const char *directory,
                   struct bm_error *error)
{
    int code =
        bytes > INT64_MAX ? EFBIG : posix_fallocate(file, 0, (off_t)bytes);

    if (!code)
        return BOUMA_OK;
    if (code == EFBIG || code == EINVAL)
        return bm_fail(error, BOUMA_ENOSPC,
                       "%s: a buffer of %zu bytes is more than a file may "
                       "have here",
                       directory, bytes);
    return bm_fail_io(error, code, "%s: a buffer of %zu bytes", directory,
                      bytes);
}

static int local_new(struct bm_tier_memory *b, const char *directory,
                     struct bm_error *error)
{
    size_t bytes = b->bytes ? b->bytes : 1;
    void *data;
    int file, rc;

    if (!directory || !directory[0])
        return bm_fail(error, BOUMA_ENOTFOUND,
                       "the tier local needs a directory: set the option "
                       "'local'");
    file = bm_temp_file_open(directory, b->a, error);
    if (file < 0)
        return error->status;
    rc = reserve(file, bytes, directory, error);
    if (!rc) {
        data = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (data == MAP_FAILED)
            rc = bm_fail_io(error, errno, "%s: a buffer of %zu bytes",
                            directory, bytes);
        else
            b->data = data;
    }
    close(file);
    return rc;
}

static void local_free(struct bm_tier_memory *b)
{
    munmap(b->data, b->bytes ? b->bytes : 1);
}

/* ---- any ---------------------------------------------------------------- */

int bm_tier_memory_new(struct bm_tier_memory *out, bouma_tier tier,
                       size_t bytes, const char *local,
                       const bouma_allocator *a, struct bm_error *error)
{
    int rc = BOUMA_EINVAL;

    *out = (struct bm_tier_memory){.tier = tier, .bytes = bytes, .a = a};
    switch (tier) {
    case BOUMA_TIER_DRAM:
        rc = dram_new(out, error);
        break;
    case BOUMA_TIER_HBM:
        rc = hbm_new(out, error);
        break;
    case BOUMA_TIER_LOCAL:
        rc = local_new(out, local, error);
        break;
    default:
        bm_fail(error, rc, "there is no tier %d", (int)tier);
    }
    if (rc)
        memset(out, 0, sizeof(*out));
    return rc;
}

void bm_tier_memory_free(struct bm_tier_memory *memory)
{
    if (memory->tier == BOUMA_TIER_DRAM)
        dram_free(memory);
    if (memory->tier == BOUMA_TIER_HBM)
        hbm_free(memory);
    if (memory->tier == BOUMA_TIER_LOCAL)
        local_free(memory);
    memset(memory, 0, sizeof(*memory));
}
