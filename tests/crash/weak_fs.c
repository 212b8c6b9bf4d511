/* weak_fs.c -- the table of functions over the nodes of weak_node.h, and the
 * machine that dies. */
#include "weak_fs.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chance.h"
#include "weak_node.h"

struct weak_fs {
    bouma_io io;
    struct weak_node *nodes; /* 0 is the directory that holds the datasets */
    size_t node_count, node_room;
    uint64_t chance;
    long calls, die_at;
    int dead;
    int alive;
    char identity[WEAK_NAME_BYTES];
    enum weak_drop drop;
    const char *drop_pattern;
};

struct root {
    int node;
};

struct file {
    int node;
    bouma_open_mode mode;
    char name[WEAK_NAME_BYTES * 2]; /* for the patterns of weak_fs_drop() */
};

/* ---- names ------------------------------------------------------------- */

static int new_node(struct weak_fs *fs, int is_dir)
{
    fs->nodes = weak_one_more(fs->nodes, fs->node_count, &fs->node_room,
                              sizeof(*fs->nodes));
    memset(&fs->nodes[fs->node_count], 0, sizeof(*fs->nodes));
    fs->nodes[fs->node_count].is_dir = is_dir;
    return (int)fs->node_count++;
}

/* The directory that holds the last part of 'name', and that part. ENOENT or
 * ENOTDIR if there is none. */
static int find_parent(const struct weak_fs *fs, const struct root *root,
                       const char *name, int *dir, const char **last)
{
    const char *slash;
    int at = root->node;

    while ((slash = strchr(name, '/')) != NULL) {
        char part[WEAK_NAME_BYTES];
        const struct weak_entry *found;

        snprintf(part, sizeof(part), "%.*s", (int)(slash - name), name);
        found = weak_entries_find(&fs->nodes[at].now_entries, part);
        if (!found)
            return ENOENT;
        if (!fs->nodes[found->node].is_dir)
            return ENOTDIR;
        at = found->node;
        name = slash + 1;
    }
    if (strlen(name) >= WEAK_NAME_BYTES)
        return ENAMETOOLONG;
    *dir = at;
    *last = name;
    return 0;
}

static int find_node(const struct weak_fs *fs, const struct root *root,
                     const char *name, int *node)
{
    const struct weak_entry *found;
    const char *last;
    int dir, rc;

    if (!name[0]) {
        *node = root->node;
        return 0;
    }
    rc = find_parent(fs, root, name, &dir, &last);
    if (rc)
        return rc;
    found = weak_entries_find(&fs->nodes[dir].now_entries, last);
    if (!found)
        return ENOENT;
    *node = found->node;
    return 0;
}

/* ---- the table ---------------------------------------------------------- */

/* Count a call; EIO once the machine is dead. */
static int step_in(struct weak_fs *fs)
{
    if (fs->dead)
        return EIO;
    fs->calls++;
    if (fs->calls == fs->die_at) {
        fs->dead = 1;
        return EIO;
    }
    return 0;
}

static int dropped(const struct weak_fs *fs, enum weak_drop what,
                   const char *name)
{
    return fs->drop == what &&
           (!fs->drop_pattern ||
            fnmatch(fs->drop_pattern, name, FNM_PATHNAME) == 0);
}

static int weak_attach(void *user, void **root, const char *path, int create)
{
    struct weak_fs *fs = user;
    struct weak_entry *found;
    struct root *r;
    int rc = step_in(fs);

    if (rc)
        return rc;
    found = weak_entries_find(&fs->nodes[0].now_entries, path);
    if (create && found)
        return EEXIST;
    if (!create && !found)
        return ENOENT;
    r = weak_must(calloc(1, sizeof(*r)));
    r->node = found ? found->node : new_node(fs, 1);
    if (!found) {
        weak_entries_set(&fs->nodes[0].now_entries, path, r->node);
        weak_entries_set(&fs->nodes[0].durable_entries, path, r->node);
    }
    *root = r;
    return 0;
}

static void weak_detach(void *user, void *root)
{
    (void)user;
    free(root);
}

static int weak_make_dir(void *user, void *root, const char *name)
{
    struct weak_fs *fs = user;
    const char *last;
    int dir, node, rc = step_in(fs);

    if (rc)
        return rc;
    rc = find_parent(fs, root, name, &dir, &last);
    if (rc)
        return rc;
    if (weak_entries_find(&fs->nodes[dir].now_entries, last))
        return dropped(fs, WEAK_DROP_MAKE_EXCLUSIVE, name) ? 0 : EEXIST;
    node = new_node(fs, 1);
    weak_node_change(&fs->nodes[dir], "", last, node);
    return 0;
}

static int weak_list(void *user, void *root, const char *name,
                     int (*each)(void *context, const char *entry),
                     void *context)
{
    struct weak_fs *fs = user;
    struct weak_entries seen = {0};
    int node, rc = step_in(fs);

    if (!rc)
        rc = find_node(fs, root, name, &node);
    if (!rc && !fs->nodes[node].is_dir)
        rc = ENOTDIR;
    if (rc)
        return rc;
    /* 'each' may change the directory. */
    weak_entries_copy(&seen, &fs->nodes[node].now_entries);
    for (size_t i = 0; i < seen.count && !rc; i++)
        rc = each(context, seen.list[i].name);
    free(seen.list);
    return rc;
}

static int weak_sync_dir(void *user, void *root, const char *name)
{
    struct weak_fs *fs = user;
    struct weak_node *n;
    int node, rc = step_in(fs);

    if (!rc)
        rc = find_node(fs, root, name, &node);
    if (rc)
        return rc;
    n = &fs->nodes[node];
    if (!n->is_dir)
        return ENOTDIR;
    n->syncs++;
    if (dropped(fs, WEAK_DROP_SYNC_DIR, name) ||
        (n->syncs == 1 && dropped(fs, WEAK_DROP_FIRST_SYNC_DIR, name)) ||
        (n->syncs > 1 && dropped(fs, WEAK_DROP_LATER_SYNC_DIR, name)))
        return 0;
    weak_node_sync(n);
    return 0;
}

static int weak_publish(void *user, void *root, const char *from,
                        const char *to, int replace)
{
    struct weak_fs *fs = user;
    const char *from_last, *to_last;
    const struct weak_entry *found;
    int from_dir, to_dir, rc = step_in(fs);

    if (!rc)
        rc = find_parent(fs, root, from, &from_dir, &from_last);
    if (!rc)
        rc = find_parent(fs, root, to, &to_dir, &to_last);
    if (rc)
        return rc;
    found = weak_entries_find(&fs->nodes[from_dir].now_entries, from_last);
    if (!found)
        return ENOENT;
    if (!replace && !dropped(fs, WEAK_DROP_PUBLISH_EXCLUSIVE, to) &&
        weak_entries_find(&fs->nodes[to_dir].now_entries, to_last))
        return EEXIST;
    if (from_dir == to_dir) {
        weak_node_change(&fs->nodes[from_dir], from_last, to_last, found->node);
    } else { /* after a crash it may be in both, or in none */
        weak_node_change(&fs->nodes[to_dir], "", to_last, found->node);
        weak_node_change(&fs->nodes[from_dir], from_last, "", found->node);
    }
    return 0;
}

static int remove_entry(struct weak_fs *fs, void *root, const char *name,
                        int is_dir)
{
    const struct weak_entry *found;
    const char *last;
    int dir, rc = step_in(fs);

    if (!rc)
        rc = find_parent(fs, root, name, &dir, &last);
    if (rc)
        return rc;
    found = weak_entries_find(&fs->nodes[dir].now_entries, last);
    if (!found)
        return ENOENT;
    if (fs->nodes[found->node].is_dir != is_dir)
        return is_dir ? ENOTDIR : EISDIR;
    if (fs->nodes[found->node].now_entries.count)
        return ENOTEMPTY;
    weak_node_change(&fs->nodes[dir], last, "", found->node);
    return 0;
}

static int weak_remove(void *user, void *root, const char *name)
{
    return remove_entry(user, root, name, 0);
}

static int weak_remove_dir(void *user, void *root, const char *name)
{
    return remove_entry(user, root, name, 1);
}

static int weak_open(void *user, void *root, void **file, const char *name,
                     bouma_open_mode mode)
{
    struct weak_fs *fs = user;
    struct weak_entry *found;
    struct file *f;
    const char *last;
    int dir, node, rc = step_in(fs);

    if (!rc)
        rc = find_parent(fs, root, name, &dir, &last);
    if (rc)
        return rc;
    found = weak_entries_find(&fs->nodes[dir].now_entries, last);
    if (!found && mode == BOUMA_OPEN_MODE_READ)
        return ENOENT;
    if (found && mode == BOUMA_OPEN_MODE_CREATE &&
        !dropped(fs, WEAK_DROP_CREATE_EXCLUSIVE, name))
        return EEXIST;
    if (found && fs->nodes[found->node].is_dir)
        return EISDIR;
    if (found) {
        node = found->node;
    } else {
        node = new_node(fs, 0);
        weak_node_change(&fs->nodes[dir], "", last, node);
    }
    f = weak_must(calloc(1, sizeof(*f)));
    f->node = node;
    f->mode = mode;
    snprintf(f->name, sizeof(f->name), "%s", name);
    *file = f;
    return 0;
}

static int weak_file_size(void *user, void *file, uint64_t *bytes)
{
    struct weak_fs *fs = user;
    int rc = step_in(fs);

    if (rc)
        return rc;
    *bytes = fs->nodes[((struct file *)file)->node].now.count;
    return 0;
}

static int weak_read(void *user, void *file, void *data, size_t bytes,
                     uint64_t offset, size_t *done)
{
    struct weak_fs *fs = user;
    const struct weak_bytes *now = &fs->nodes[((struct file *)file)->node].now;
    int rc = step_in(fs);

    *done = 0;
    if (rc)
        return rc;
    if (offset < now->count) {
        size_t left = now->count - (size_t)offset;

        *done = bytes < left ? bytes : left;
        memcpy(data, now->data + offset, *done);
    }
    return 0;
}

static int weak_write(void *user, void *file, const void *data, size_t bytes,
                      uint64_t offset, size_t *done)
{
    struct weak_fs *fs = user;
    struct file *f = file;
    struct weak_node *n = &fs->nodes[f->node];
    int was_dead = fs->dead, rc;

    *done = 0;
    if (f->mode == BOUMA_OPEN_MODE_READ)
        return EBADF;
    rc = step_in(fs);
    if (rc && was_dead)
        return rc;
    if (rc) /* dying in this call: any beginning of it was done */
        bytes = (size_t)chance_below(&fs->chance, bytes + 1);
    if (f->mode == BOUMA_OPEN_MODE_APPEND)
        offset = n->now.count;
    weak_node_write(n, (size_t)offset, data, bytes);
    if (!rc)
        *done = bytes;
    return rc;
}

static int weak_sync(void *user, void *file)
{
    struct weak_fs *fs = user;
    struct file *f = file;
    int rc = step_in(fs);

    if (rc || dropped(fs, WEAK_DROP_SYNC, f->name))
        return rc;
    weak_node_sync(&fs->nodes[f->node]);
    return 0;
}

static int weak_close(void *user, void *file)
{
    int rc = step_in(user);

    free(file);
    return rc;
}

static int weak_identity(void *user, char *text, size_t bytes)
{
    struct weak_fs *fs = user;
    int rc = step_in(fs);

    if (!rc)
        snprintf(text, bytes, "%s", fs->identity);
    return rc;
}

static int weak_alive(void *user, const char *text)
{
    return text[0] ? ((struct weak_fs *)user)->alive : -1;
}

/* ---- the machine --------------------------------------------------------- */

void weak_fs_crash(struct weak_fs *fs, enum weak_crash how)
{
    /* How much survives, in eighths. A fair coin for each change alone would
     * hardly ever lose just one of them, or keep just one. */
    static const unsigned survival[] = {1, 4, 7};
    unsigned keep = 0;

    if (how == WEAK_CRASH_SOME_KEPT)
        keep = survival[chance_below(&fs->chance, 3)];
    for (size_t i = 0; i < fs->node_count && how != WEAK_CRASH_KILLED; i++)
        weak_node_crash(&fs->nodes[i], keep, &fs->chance);
    fs->dead = 0;
    fs->die_at = 0;
}

/* ---- making and copying ------------------------------------------------- */

static void set_table(struct weak_fs *fs)
{
    fs->io = (bouma_io){.size = sizeof(fs->io),
                        .user = fs,
                        .attach = weak_attach,
                        .detach = weak_detach,
                        .make_dir = weak_make_dir,
                        .list = weak_list,
                        .sync_dir = weak_sync_dir,
                        .publish = weak_publish,
                        .remove = weak_remove,
                        .remove_dir = weak_remove_dir,
                        .open = weak_open,
                        .file_size = weak_file_size,
                        .read = weak_read,
                        .write = weak_write,
                        .sync = weak_sync,
                        .close = weak_close,
                        .identity = weak_identity,
                        .alive = weak_alive};
}

struct weak_fs *weak_fs_new(uint64_t seed)
{
    struct weak_fs *fs = weak_must(calloc(1, sizeof(*fs)));

    set_table(fs);
    fs->chance = seed;
    weak_fs_set_identity(fs, "weak host, process 1");
    new_node(fs, 1);
    return fs;
}

struct weak_fs *weak_fs_clone(const struct weak_fs *fs, uint64_t seed)
{
    struct weak_fs *copy = weak_must(calloc(1, sizeof(*copy)));

    set_table(copy);
    copy->chance = seed;
    copy->alive = fs->alive;
    copy->drop = fs->drop;
    copy->drop_pattern = fs->drop_pattern;
    memcpy(copy->identity, fs->identity, sizeof(copy->identity));
    copy->node_count = copy->node_room = fs->node_count;
    copy->nodes = weak_must(calloc(fs->node_count, sizeof(*copy->nodes)));
    for (size_t i = 0; i < fs->node_count; i++)
        weak_node_copy(&copy->nodes[i], &fs->nodes[i]);
    return copy;
}

void weak_fs_free(struct weak_fs *fs)
{
    if (!fs)
        return;
    for (size_t i = 0; i < fs->node_count; i++)
        weak_node_release(&fs->nodes[i]);
    free(fs->nodes);
    free(fs);
}

const bouma_io *weak_fs_io(struct weak_fs *fs)
{
    return &fs->io;
}

long weak_fs_calls(const struct weak_fs *fs)
{
    return fs->calls;
}

void weak_fs_die_at(struct weak_fs *fs, long call)
{
    fs->die_at = call;
}

int weak_fs_is_dead(const struct weak_fs *fs)
{
    return fs->dead;
}

void weak_fs_lose_writes(struct weak_fs *fs, void *file)
{
    weak_node_give_up_writes(&fs->nodes[((struct file *)file)->node]);
}

void weak_fs_set_alive(struct weak_fs *fs, int answer)
{
    fs->alive = answer;
}

void weak_fs_set_identity(struct weak_fs *fs, const char *text)
{
    snprintf(fs->identity, sizeof(fs->identity), "%s", text);
}

void weak_fs_drop(struct weak_fs *fs, enum weak_drop what, const char *pattern)
{
    fs->drop = what;
    fs->drop_pattern = pattern;
}
