/* crowd.h -- an I/O table around that of memory, through which a dataset seems
 * to have very many steps: directories and records of the index, but no files.
 * It counts what is asked of it. */
#ifndef CROWD_H
#define CROWD_H

#include <errno.h>

#include "arrays.h"
#include "check.h"
#include "must.h"
#include "store/index.h"

struct crowd {
    bouma_io table;
    bouma_io *inner;
    uint64_t *steps;        /* what the directory has */
    size_t count;           /* of those */
    uint8_t *index;         /* the file */
    size_t index_bytes;     /* of that */
    uint64_t lists, opened; /* calls */
    uint64_t bytes;         /* read */
    int broken;             /* the directory cannot be read */
};

static const uint8_t crowd_id[16] = {7, 7, 7};

/* The functions of a table that is not changed get its own state. */
static struct crowd *crowd_here(void)
{
    static struct crowd crowd;

    return &crowd;
}

static int crowd_list(void *user, void *root, const char *name,
                      int (*each)(void *context, const char *entry),
                      void *context)
{
    struct crowd *c = crowd_here();
    int code = 0;

    if (strcmp(name, BM_NAME_STEPS))
        return c->inner->list(user, root, name, each, context);
    c->lists++;
    for (size_t i = 0; i < c->count && !code; i++) {
        char entry[32];

        snprintf(entry, sizeof(entry), "%08" PRIu64, c->steps[i]);
        code = each(context, entry);
    }
    return c->broken ? EIO : code;
}

static int crowd_open(void *user, void *root, void **file, const char *name,
                      bouma_open_mode mode)
{
    struct crowd *c = crowd_here();

    c->opened++;
    *file = c;
    return strcmp(name, BM_NAME_INDEX)
               ? c->inner->open(user, root, file, name, mode)
               : 0;
}

static int crowd_size(void *user, void *file, uint64_t *bytes)
{
    struct crowd *c = crowd_here();

    *bytes = c->index_bytes;
    return file == c ? 0 : c->inner->file_size(user, file, bytes);
}

static int crowd_read(void *user, void *file, void *data, size_t bytes,
                      uint64_t offset, size_t *done)
{
    struct crowd *c = crowd_here();
    int code = 0;

    if (file == c) {
        *done = offset >= c->index_bytes ? 0 : c->index_bytes - (size_t)offset;
        *done = *done < bytes ? *done : bytes;
        memcpy(data, c->index + (*done ? offset : 0), *done);
    } else {
        code = c->inner->read(user, file, data, bytes, offset, done);
    }
    c->bytes += *done;
    return code;
}

static int crowd_close(void *user, void *file)
{
    struct crowd *c = crowd_here();

    return file == c ? 0 : c->inner->close(user, file);
}

/* A dataset "crowd" of 'count' steps, 0 and so on, of which step 0 is real. The
 * directory has them in no order, the index in that of order[orders], which may
 * repeat steps and have others; NULL: ascending, all of them. */
static void crowd_make(size_t count, const uint64_t *order, size_t orders)
{
    struct crowd *c = crowd_here();
    bouma_grid_spec g = {.size = sizeof(g), .ndims = 1, .shape = {4}};
    bouma_variable_spec v = {.size = sizeof(v), .type = BOUMA_TYPE_I8};
    const int8_t data[4] = {1, 2, 3, 4};
    bouma_variable *variable;
    bouma_dataset *ds;
    bouma_grid *grid;
    bouma_options o = {.size = sizeof(o)};
    uint64_t state = count;

    memset(c, 0, sizeof(*c));
    c->inner = bouma_io_memory_new();
    REQUIRE(c->inner);
    memcpy(o.id, crowd_id, 16);
    o.io = c->inner;
    MUST(ds, bouma_dataset_create(&ds, "crowd", &o));
    MUST(ds, bouma_grid_define(&grid, ds, "g", &g));
    MUST(ds, bouma_variable_define(&variable, grid, "v", &v));
    MUST(ds, bouma_step_begin(ds, 0, 0));
    MUST(ds, test_put(variable, NULL, data));
    MUST(ds, bouma_step_end(ds));
    MUST(ds, bouma_dataset_close(ds));
    bouma_dataset_free(ds);

    c->count = count;
    c->steps = malloc(count * sizeof(*c->steps));
    c->index = malloc((order ? orders : count) * BM_INDEX_RECORD);
    REQUIRE(c->steps && c->index);
    for (size_t i = 0; i < count; i++) {
        size_t k = (size_t)check_below(&state, (int64_t)i + 1);

        c->steps[i] = c->steps[k];
        c->steps[k] = i;
    }
    for (size_t i = 0; i < (order ? orders : count); i++) {
        uint64_t step = order ? order[i] : i;
        struct bm_step_entry e = {step, (double)step / 4, {1, (uint32_t)i + 1}};

        bm_index_encode(c->index + i * BM_INDEX_RECORD, &e, crowd_id);
        c->index_bytes += BM_INDEX_RECORD;
    }
    c->table = *c->inner;
    c->table.list = crowd_list;
    c->table.open = crowd_open;
    c->table.file_size = crowd_size;
    c->table.read = crowd_read;
    c->table.close = crowd_close;
}

static bouma_dataset *crowd_visit(void)
{
    bouma_dataset *ds;
    bouma_options o = {.size = sizeof(o)};

    o.io = &crowd_here()->table;
    MUST(ds, bouma_dataset_open(&ds, "crowd", &o));
    return ds;
}

static void crowd_free(void)
{
    struct crowd *c = crowd_here();

    free(c->steps);
    free(c->index);
    bouma_io_memory_free(c->inner);
}

#endif
