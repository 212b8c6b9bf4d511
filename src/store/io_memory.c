/* io_memory.c -- the I/O table over a list of files in memory. Several threads
 * may use it, each with datasets of its own: one lock guards the list and what
 * files hold. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bouma.h"
#include "store/store.h"

/* A file or directory, by its full path. Removed files stay in the list,
 * without a name, until the last handle on them is gone: the end of the io. */
struct node {
    char *path;          /* NULL: removed */
    int is_dir, is_link; /* a link's text is its data, with the NUL */
    uint8_t *data;
    size_t size, capacity;
    struct node *next;
};

struct memory {
    bouma_io io;
    pthread_mutex_t lock;
    struct node *nodes;
    int holds; /* the caller's, and one for each root */
};

struct root {
    char *path;
};

struct file {
    struct node *node;
    int append;
};

static char *join(const char *root, const char *name)
{
    size_t n = strlen(root) + strlen(name) + 2;
    char *path = malloc(n);

    if (path)
        snprintf(path, n, *name ? "%s/%s" : "%s", root, name);
    return path;
}

static struct node *find(struct memory *m, const char *path)
{
    for (struct node *n = m->nodes; n; n = n->next)
        if (n->path && !strcmp(n->path, path))
            return n;
    return NULL;
}

static struct node *find_in(struct memory *m, const struct root *root,
                            const char *name, int *code)
{
    char *path = join(root->path, name);
    struct node *node = path ? find(m, path) : NULL;

    *code = !path ? ENOMEM : node ? 0 : ENOENT;
    free(path);
    return node;
}

/* Whether the directory that 'name' is to stand in exists. */
static int has_parent(struct memory *m, const struct root *root,
                      const char *name, int *code)
{
    const char *slash = strrchr(name, '/');
    char *path = join(root->path, name);
    struct node *parent;

    *code = path ? 0 : ENOMEM;
    if (!path)
        return 0;
    path[strlen(path) - strlen(slash ? slash : name) - !slash] = 0;
    parent = find(m, path);
    free(path);
    *code = !parent ? ENOENT : parent->is_dir ? 0 : ENOTDIR;
    return *code == 0;
}

/* Takes 'path' over. */
static int add(struct memory *m, char *path, int is_dir, struct node **out)
{
    struct node *node = path ? calloc(1, sizeof(*node)) : NULL;

    if (!node) {
        free(path);
        return ENOMEM;
    }
    node->path = path;
    node->is_dir = is_dir;
    node->next = m->nodes;
    m->nodes = node;
    if (out)
        *out = node;
    return 0;
}

static int memory_attach(void *user, void **out, const char *path, int create)
{
    struct memory *m = user;
    struct node *node = find(m, path);
    struct root *root;
    int code = 0;

    if (create && node)
        return EEXIST;
    if (!create && !node)
        return ENOENT;
    if (node && !node->is_dir)
        return ENOTDIR;
    root = calloc(1, sizeof(*root));
    if (!root)
        return ENOMEM;
    root->path = join(path, "");
    if (!root->path)
        code = ENOMEM;
    if (!code && create)
        code = add(m, join(path, ""), 1, NULL);
    if (code) {
        free(root->path);
        free(root);
        return code;
    }
    m->holds++;
    *out = root;
    return 0;
}

static int memory_make_dir(void *user, void *root, const char *name)
{
    int code;

    if (find_in(user, root, name, &code))
        return EEXIST;
    if (code != ENOENT || !has_parent(user, root, name, &code))
        return code;
    return add(user, join(((struct root *)root)->path, name), 1, NULL);
}

/* Whether a node is right in the directory of this path; its name there. */
static const char *name_in(const struct node *node, const char *path)
{
    size_t length = strlen(path);

    if (!node->path || strncmp(node->path, path, length) ||
        node->path[length] != '/' || strchr(node->path + length + 1, '/'))
        return NULL;
    return node->path + length + 1;
}

/* Copies of the names of what is in a directory, each with its 0, one after the
 * other: the caller frees *out, after a failure too. */
static int memory_list(void *user, void *root, const char *name, char **out,
                       size_t *bytes)
{
    struct memory *m = user;
    int code;
    struct node *dir = find_in(m, root, name, &code);
    size_t room = 0;

    *out = NULL;
    *bytes = 0;
    if (!dir || !dir->is_dir)
        return dir ? ENOTDIR : code;
    for (struct node *n = m->nodes; n; n = n->next) {
        const char *entry = name_in(n, dir->path);
        size_t more = entry ? strlen(entry) + 1 : 0;

        if (*bytes + more > room) {
            char *grown = realloc(*out, room = 2 * (*bytes + more));

            if (!grown)
                return ENOMEM;
            *out = grown;
        }
        if (entry)
            memcpy(*out + *bytes, entry, more);
        *bytes += more;
    }
    return 0;
}

static int memory_sync_dir(void *user, void *root, const char *name)
{
    int code;

    find_in(user, root, name, &code);
    return code;
}

/* What is in a directory moves with it, from the path 'old' to 'now'. */
static int move_inside(struct memory *m, const char *old, const char *now)
{
    size_t length = strlen(old);

    for (struct node *n = m->nodes; n; n = n->next)
        if (n->path && !strncmp(n->path, old, length) &&
            n->path[length] == '/') {
            char *path = join(now, n->path + length + 1);

            if (!path)
                return ENOMEM;
            free(n->path);
            n->path = path;
        }
    return 0;
}

static int memory_publish(void *user, void *root, const char *from,
                          const char *to, int replace)
{
    int code, old_code;
    struct node *node = find_in(user, root, from, &code);
    struct node *old = find_in(user, root, to, &old_code);
    char *path;

    if (!node)
        return code;
    if (old && !replace)
        return EEXIST;
    if (!has_parent(user, root, to, &code))
        return code;
    path = join(((struct root *)root)->path, to);
    if (!path)
        return ENOMEM;
    if (old) {
        free(old->path);
        old->path = NULL;
    }
    code = node->is_dir ? move_inside(user, node->path, path) : 0;
    free(node->path);
    node->path = path;
    return code;
}

static int memory_remove(void *user, void *root, const char *name)
{
    int code;
    struct node *node = find_in(user, root, name, &code);

    if (!node)
        return code;
    if (node->is_dir)
        return EISDIR;
    free(node->path);
    node->path = NULL;
    return 0;
}

static int memory_remove_dir(void *user, void *root, const char *name)
{
    struct memory *m = user;
    int code;
    struct node *dir = find_in(m, root, name, &code);

    if (!dir || !dir->is_dir)
        return dir ? ENOTDIR : code;
    for (struct node *n = m->nodes; n; n = n->next)
        if (name_in(n, dir->path))
            return ENOTEMPTY;
    free(dir->path);
    dir->path = NULL;
    return 0;
}

static int memory_link(void *user, void *root, const char *name,
                       const char *text)
{
    size_t bytes = strlen(text) + 1;
    struct node *node;
    uint8_t *data;
    int code;

    if (find_in(user, root, name, &code))
        return EEXIST;
    if (code != ENOENT || !has_parent(user, root, name, &code))
        return code;
    data = malloc(bytes);
    code = data ? add(user, join(((struct root *)root)->path, name), 0, &node)
                : ENOMEM;
    if (code) {
        free(data);
        return code;
    }
    memcpy(data, text, bytes);
    node->is_link = 1;
    node->data = data;
    node->size = node->capacity = bytes;
    return 0;
}

static int memory_read_link(void *user, void *root, const char *name,
                            char *text, size_t bytes)
{
    int code;
    struct node *node = find_in(user, root, name, &code);

    if (!node || !node->is_link)
        return node ? EINVAL : code;
    if (node->size > bytes)
        return ENAMETOOLONG;
    memcpy(text, node->data, node->size);
    return 0;
}

/* Links are not followed: they are for other programs. */
static int memory_open(void *user, void *root, void **out, const char *name,
                       bouma_open_mode mode)
{
    int code;
    struct node *node = find_in(user, root, name, &code);
    struct file *file;

    if (code == ENOMEM)
        return code;
    if (mode == BOUMA_OPEN_MODE_CREATE && node)
        return EEXIST;
    if ((mode == BOUMA_OPEN_MODE_READ || mode == BOUMA_OPEN_MODE_VIEW) && !node)
        return ENOENT;
    if (node && node->is_dir)
        return EISDIR;
    if (node && node->is_link)
        return ELOOP;
    if (!node && !has_parent(user, root, name, &code))
        return code;
    file = calloc(1, sizeof(*file));
    if (!file)
        return ENOMEM;
    if (!node) {
        code = add(user, join(((struct root *)root)->path, name), 0, &node);
        if (code) {
            free(file);
            return code;
        }
    }
    file->node = node;
    file->append = mode == BOUMA_OPEN_MODE_APPEND;
    if (mode == BOUMA_OPEN_MODE_EMPTY)
        node->size = 0;
    *out = file;
    return 0;
}

static int memory_file_size(void *user, void *file, uint64_t *bytes)
{
    (void)user;
    *bytes = ((struct file *)file)->node->size;
    return 0;
}

static int memory_read(void *user, void *file, void *data, size_t bytes,
                       uint64_t offset, size_t *done)
{
    struct node *node = ((struct file *)file)->node;

    (void)user;
    *done = 0;
    if (offset < node->size) {
        *done = node->size - (size_t)offset;
        if (*done > bytes)
            *done = bytes;
        memcpy(data, node->data + offset, *done);
    }
    return 0;
}

static int memory_write(void *user, void *file, const void *data, size_t bytes,
                        uint64_t offset, size_t *done)
{
    struct node *node = ((struct file *)file)->node;
    size_t end;

    (void)user;
    if (((struct file *)file)->append)
        offset = node->size;
    if (__builtin_add_overflow((size_t)offset, bytes, &end))
        return EFBIG;
    if (end > node->capacity) {
        size_t room = end + end / 2;
        uint8_t *grown = realloc(node->data, room);

        if (!grown)
            return ENOSPC;
        node->data = grown;
        node->capacity = room;
    }
    if (offset > node->size)
        memset(node->data + node->size, 0, (size_t)offset - node->size);
    if (bytes)
        memcpy(node->data + offset, data, bytes);
    if (end > node->size)
        node->size = end;
    *done = bytes;
    return 0;
}

static int memory_sync(void *user, void *file)
{
    (void)user;
    (void)file;
    return 0;
}

static int memory_close(void *user, void *file)
{
    (void)user;
    free(file);
    return 0;
}

static int memory_identity(void *user, char *text, size_t bytes)
{
    (void)user;
    snprintf(text, bytes, "memory");
    return 0;
}

static int memory_alive(void *user, const char *text)
{
    (void)user;
    (void)text;
    return 0;
}

/* ---- one thread at a time ------------------------------------------------ */

static void lock(void *user)
{
    pthread_mutex_lock(&((struct memory *)user)->lock);
}

static int unlock(void *user, int code)
{
    pthread_mutex_unlock(&((struct memory *)user)->lock);
    return code;
}

static int locked_attach(void *user, void **out, const char *path, int create)
{
    lock(user);
    return unlock(user, memory_attach(user, out, path, create));
}

/* The caller, or a root, lets go of it: the last one frees it. */
static void let_go(struct memory *m)
{
    int left;

    lock(m);
    left = --m->holds;
    unlock(m, 0);
    if (left)
        return;
    while (m->nodes) {
        struct node *node = m->nodes;

        m->nodes = node->next;
        free(node->path);
        free(node->data);
        free(node);
    }
    pthread_mutex_destroy(&m->lock);
    free(m);
}

static void memory_detach(void *user, void *handle)
{
    struct root *root = handle;

    free(root->path);
    free(root);
    let_go(user);
}

static int locked_make_dir(void *user, void *root, const char *name)
{
    lock(user);
    return unlock(user, memory_make_dir(user, root, name));
}

/* What is called back may ask for another list, or have a lock of its own that
 * others have while they wait for this one. */
static int locked_list(void *user, void *root, const char *name,
                       int (*each)(void *context, const char *entry),
                       void *context)
{
    char *names;
    size_t bytes;
    int code;

    lock(user);
    code = unlock(user, memory_list(user, root, name, &names, &bytes));
    for (size_t at = 0; at < bytes && !code; at += strlen(names + at) + 1)
        code = each(context, names + at);
    free(names);
    return code;
}

static int locked_sync_dir(void *user, void *root, const char *name)
{
    lock(user);
    return unlock(user, memory_sync_dir(user, root, name));
}

static int locked_publish(void *user, void *root, const char *from,
                          const char *to, int replace)
{
    lock(user);
    return unlock(user, memory_publish(user, root, from, to, replace));
}

static int locked_remove(void *user, void *root, const char *name)
{
    lock(user);
    return unlock(user, memory_remove(user, root, name));
}

static int locked_remove_dir(void *user, void *root, const char *name)
{
    lock(user);
    return unlock(user, memory_remove_dir(user, root, name));
}

static int locked_open(void *user, void *root, void **out, const char *name,
                       bouma_open_mode mode)
{
    lock(user);
    return unlock(user, memory_open(user, root, out, name, mode));
}

static int locked_link(void *user, void *root, const char *name,
                       const char *text)
{
    lock(user);
    return unlock(user, memory_link(user, root, name, text));
}

static int locked_read_link(void *user, void *root, const char *name,
                            char *text, size_t bytes)
{
    lock(user);
    return unlock(user, memory_read_link(user, root, name, text, bytes));
}

static int locked_file_size(void *user, void *file, uint64_t *bytes)
{
    lock(user);
    return unlock(user, memory_file_size(user, file, bytes));
}

static int locked_read(void *user, void *file, void *data, size_t bytes,
                       uint64_t offset, size_t *done)
{
    lock(user);
    return unlock(user, memory_read(user, file, data, bytes, offset, done));
}

static int locked_write(void *user, void *file, const void *data, size_t bytes,
                        uint64_t offset, size_t *done)
{
    lock(user);
    return unlock(user, memory_write(user, file, data, bytes, offset, done));
}

bouma_io *bouma_io_memory_new(void)
{
    struct memory *m = calloc(1, sizeof(*m));

    if (!m || pthread_mutex_init(&m->lock, NULL)) {
        free(m);
        return NULL;
    }
    m->holds = 1;
    m->io = (bouma_io){
        .size = sizeof(bouma_io),
        .user = m,
        .attach = locked_attach,
        .detach = memory_detach,
        .make_dir = locked_make_dir,
        .list = locked_list,
        .sync_dir = locked_sync_dir,
        .publish = locked_publish,
        .remove = locked_remove,
        .remove_dir = locked_remove_dir,
        .open = locked_open,
        .file_size = locked_file_size,
        .read = locked_read,
        .write = locked_write,
        .sync = memory_sync,
        .close = memory_close,
        .identity = memory_identity,
        .alive = memory_alive,
        .link = locked_link,
        .read_link = locked_read_link,
    };
    return &m->io;
}

int bm_io_check_ranks(const bouma_io *io, int ranks, const char *path,
                      struct bm_error *error)
{
    if (ranks == 1 || io->attach != locked_attach)
        return BOUMA_OK;
    return bm_fail(error, BOUMA_EINVAL,
                   "%s: the I/O table in memory holds files of one process, "
                   "which others cannot see; with %d ranks, use a directory "
                   "that all of them see (in /dev/shm on one node) or a table "
                   "of your own",
                   path, ranks);
}

void bouma_io_memory_free(bouma_io *io)
{
    if (io)
        let_go(io->user);
}
