/* same_options.c -- what all ranks must give alike when they open a dataset, so
 * that their plans are the same; and, if they do not, who differs in what. */
#include <string.h>

#include "base/hash.h"
#include "base/option.h"
#include "dataset/dataset.h"

/* What is compared: the mode, the options of which the table says so, the
 * identity, the path. */
enum { MOST_VALUES = BM_OPTIONS_MOST + 3 };

struct values {
    int count;
    uint64_t v[MOST_VALUES];
    const struct bm_option *option[MOST_VALUES]; /* or NULL */
};

static void add(struct values *to, const struct bm_option *option,
                uint64_t value)
{
    to->v[to->count] = value;
    to->option[to->count++] = option;
}

static void collect(struct values *to, const struct bouma_dataset *ds,
                    const char *path)
{
    const struct bm_option *option;

    to->count = 0;
    add(to, NULL, (uint64_t)ds->mode);
    for (int i = 0; (option = bm_option_at(i)); i++)
        if (option->about.use & BOUMA_OPTION_USE_SAME)
            add(to, option, bm_option_number(option, &ds->options));
    add(to, NULL, bm_hash64(ds->options.id, 16, 0));
    add(to, NULL, bm_hash64(path, strlen(path), 0));
}

uint64_t bm_options_hash(const struct bouma_dataset *ds, const char *path)
{
    struct values mine;

    collect(&mine, ds, path);
    return bm_hash64(mine.v, (size_t)mine.count * sizeof(mine.v[0]), 0);
}

static const char *mode_text(uint64_t mode)
{
    return mode == BM_MODE_READ     ? "opens"
           : mode == BM_MODE_CREATE ? "creates"
                                    : "appends to";
}

/* Tell the first difference to rank 0, if there is one. */
static int compare(struct bouma_dataset *ds, const char *path,
                   struct bm_cursor *c)
{
    const int me = ds->comm->rank;
    const struct bm_option *option;
    const char *root_path;
    struct values mine;
    uint64_t root[MOST_VALUES];
    char here[24], there[24];
    int which = 0;

    collect(&mine, ds, path);
    for (int i = 0; i < mine.count; i++)
        root[i] = bm_get_u64(c);
    root_path = (const char *)bm_get_bytes(c, bm_cursor_left(c));
    while (which < mine.count && mine.v[which] == root[which])
        which++;
    if (which == mine.count)
        return BOUMA_OK;
    option = mine.option[which];
    if (option && option->kind == BM_OPTION_TEXT) /* of which hashes are told */
        return bm_fail(&ds->error, BOUMA_EMISMATCH,
                       "rank %d opens %s with another text for option '%s' "
                       "than rank 0; all ranks must give the same options",
                       me, path, option->about.name);
    if (option)
        return bm_fail(
            &ds->error, BOUMA_EMISMATCH,
            "rank %d opens %s with %s for option '%s', rank 0 with %s; "
            "all ranks must give the same options",
            me, path,
            bm_option_written(option, mine.v[which], here, sizeof(here)),
            option->about.name,
            bm_option_written(option, root[which], there, sizeof(there)));
    if (which == 0)
        return bm_fail(
            &ds->error, BOUMA_EMISMATCH,
            "rank %d %s %s, rank 0 %s it; all ranks must make the same call",
            me, mode_text(mine.v[0]), path, mode_text(root[0]));
    if (which == mine.count - 1)
        return bm_fail(&ds->error, BOUMA_EMISMATCH,
                       "rank %d opens the path \"%s\", rank 0 \"%s\"; all "
                       "ranks must open the same dataset",
                       me, path, root_path);
    return bm_fail(&ds->error, BOUMA_EMISMATCH,
                   "rank %d gives %s another identity (option 'id') than "
                   "rank 0",
                   me, path);
}

int bm_options_mismatch(struct bouma_dataset *ds, const char *path)
{
    struct values mine;
    struct bm_cursor c;
    struct bm_buffer b;
    int rc;

    bm_buffer_init(&b, ds->a);
    collect(&mine, ds, path);
    for (int i = 0; i < mine.count && ds->comm->rank == 0; i++)
        bm_put_u64(&b, mine.v[i]);
    if (ds->comm->rank == 0)
        bm_put_bytes(&b, path, strlen(path) + 1);
    rc = bm_comm_share(ds->comm, &b, 0, BOUMA_OK, &ds->error);
    c = bm_cursor_of(b.data, b.size);
    if (!rc && ds->comm->rank != 0)
        rc = compare(ds, path, &c);
    rc = bm_comm_agree(ds->comm, rc, &ds->error);
    bm_buffer_release(&b);
    return rc;
}
