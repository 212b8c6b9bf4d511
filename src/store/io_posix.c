/* io_posix.c -- the I/O table for POSIX file systems. Names are walked part by
 * part from the root's descriptor, never through a symbolic link. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bouma.h"

#if defined(__linux__) && defined(SYS_openat2) && defined(__has_include)
#if __has_include(<linux/openat2.h>)
#include <linux/openat2.h>
#endif
#endif

/* Roots and files are descriptors, handed out as pointers that are one more,
 * so that descriptor 0 is not NULL. */
static void *wrap(int fd)
{
    return (void *)((intptr_t)fd + 1);
}

static int unwrap(void *handle)
{
    return (int)((intptr_t)handle - 1);
}

static int open_retry(int at, const char *name, int flags, mode_t mode)
{
    int fd;

    do
        fd = openat(at, name, flags | O_CLOEXEC, mode);
    while (fd < 0 && errno == EINTR);
    return fd;
}

/* A link to a directory is not followed, but the system says ENOTDIR of it. */
static int why_no_dir(int at, const char *name, int code)
{
    struct stat st;
    int is_link = code == ENOTDIR &&
                  !fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) &&
                  S_ISLNK(st.st_mode);

    return is_link ? ELOOP : code;
}

/* The directory that holds the last part of 'name', which *last is set to.
 * *fd is the caller's to close unless it is the root itself. */
static int walk(int root, const char *name, int *fd, const char **last)
{
    const char *slash;

    *fd = root;
    while ((slash = strchr(name, '/')) != NULL) {
        char part[NAME_MAX + 1];
        size_t n = (size_t)(slash - name);
        int next;

        if (n >= sizeof(part)) {
            next = -1;
            errno = ENAMETOOLONG;
        } else {
            memcpy(part, name, n);
            part[n] = 0;
            next =
                open_retry(*fd, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
        }
        if (next < 0) {
            int code = n < sizeof(part) ? why_no_dir(*fd, part, errno) : errno;

            if (*fd != root)
                close(*fd);
            return code;
        }
        if (*fd != root)
            close(*fd);
        *fd = next;
        name = slash + 1;
    }
    *last = name;
    return 0;
}

/* Open a file to read in one call, where the system walks as walk() does; -1 if
 * it cannot, or the file cannot be opened: walk() tells why. */
static int open_at_once(int root, const char *name, int flags)
{
#ifdef RESOLVE_NO_SYMLINKS
    struct open_how how = {.flags = (uint64_t)(flags | O_CLOEXEC),
                           .resolve = RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH};

    return (int)syscall(SYS_openat2, root, name, &how, sizeof(how));
#else
    (void)root;
    (void)name;
    (void)flags;
    return -1;
#endif
}

static void unwalk(int root, int fd)
{
    if (fd != root)
        close(fd);
}

static int posix_sync(void *user, void *file)
{
    int rc;

    (void)user;
    do
        rc = fsync(unwrap(file));
    while (rc && errno == EINTR);
    return rc ? errno : 0;
}

/* Make a new directory's own name durable, in the directory above it. */
static int sync_parent(const char *path)
{
    char *copy = strdup(path), *slash;
    int fd, rc = 0;

    if (!copy)
        return ENOMEM;
    while ((slash = strrchr(copy, '/')) != NULL && slash != copy && !slash[1])
        *slash = 0;
    if (slash)
        slash[slash == copy] = 0;
    fd = open_retry(AT_FDCWD, slash ? copy : ".", O_RDONLY | O_DIRECTORY, 0);
    free(copy);
    if (fd < 0)
        return errno;
    rc = posix_sync(NULL, wrap(fd));
    close(fd);
    return rc;
}

/* Why a path could not be opened: links that lead to nothing, or round in a
 * circle, are there, which ENOENT denies. */
static int why_not_opened(const char *path, int code)
{
    struct stat st;
    int is_link = (code == ENOENT || code == ELOOP) && !lstat(path, &st) &&
                  S_ISLNK(st.st_mode);

    return is_link ? ENOLINK : code;
}

static int posix_attach(void *user, void **root, const char *path, int create)
{
    int fd, code;

    (void)user;
    if (create) {
        if (mkdir(path, 0777))
            return errno;
        code = sync_parent(path);
        if (code)
            return code;
    }
    fd = open_retry(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, 0);
    if (fd < 0)
        return why_not_opened(path, errno);
    *root = wrap(fd);
    return 0;
}

static void posix_detach(void *user, void *root)
{
    (void)user;
    close(unwrap(root));
}

static int posix_make_dir(void *user, void *root, const char *name)
{
    const char *last;
    int fd, code = walk(unwrap(root), name, &fd, &last);

    (void)user;
    if (code)
        return code;
    code = mkdirat(fd, last, 0777) ? errno : 0;
    unwalk(unwrap(root), fd);
    return code;
}

/* Open the directory 'name' itself; "" is the root. */
static int open_dir(int root, const char *name, int *out)
{
    const char *last;
    int fd, code = walk(root, name, &fd, &last);

    if (code)
        return code;
    *out = open_retry(fd, *last ? last : ".",
                      O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
    code = *out < 0 ? why_no_dir(fd, *last ? last : ".", errno) : 0;
    unwalk(root, fd);
    return code;
}

static int posix_list(void *user, void *root, const char *name,
                      int (*each)(void *context, const char *entry),
                      void *context)
{
    struct dirent *entry;
    int fd, code = open_dir(unwrap(root), name, &fd);
    DIR *dir;

    (void)user;
    if (code)
        return code;
    dir = fdopendir(fd);
    if (!dir) {
        code = errno;
        close(fd);
        return code;
    }
    for (errno = 0; !code && (entry = readdir(dir)) != NULL; errno = 0)
        if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
            code = each(context, entry->d_name);
    if (!code)
        code = errno;
    closedir(dir);
    return code;
}

static int posix_sync_dir(void *user, void *root, const char *name)
{
    int fd, code = open_dir(unwrap(root), name, &fd);

    if (code)
        return code;
    code = posix_sync(user, wrap(fd));
    close(fd);
    return code;
}

/* Rename without replacing: in one step where the system can, else by a link
 * (which fails on an existing name) and the removal of the old name. */
static int rename_new(int from_dir, const char *from, int to_dir,
                      const char *to)
{
#ifdef RENAME_NOREPLACE
    if (!renameat2(from_dir, from, to_dir, to, RENAME_NOREPLACE))
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return errno;
#endif
    if (linkat(from_dir, from, to_dir, to, 0))
        return errno;
    return unlinkat(from_dir, from, 0) ? errno : 0;
}

static int posix_publish(void *user, void *root, const char *from,
                         const char *to, int replace)
{
    const char *from_last, *to_last;
    int from_dir, to_dir, code;

    (void)user;
    code = walk(unwrap(root), from, &from_dir, &from_last);
    if (code)
        return code;
    code = walk(unwrap(root), to, &to_dir, &to_last);
    if (!code) {
        if (replace)
            code = renameat(from_dir, from_last, to_dir, to_last) ? errno : 0;
        else
            code = rename_new(from_dir, from_last, to_dir, to_last);
        unwalk(unwrap(root), to_dir);
    }
    unwalk(unwrap(root), from_dir);
    return code;
}

static int remove_entry(void *root, const char *name, int flags)
{
    const char *last;
    int fd, code = walk(unwrap(root), name, &fd, &last);

    if (code)
        return code;
    code = unlinkat(fd, last, flags) ? errno : 0;
    unwalk(unwrap(root), fd);
    return code;
}

static int posix_remove(void *user, void *root, const char *name)
{
    (void)user;
    return remove_entry(root, name, 0);
}

static int posix_remove_dir(void *user, void *root, const char *name)
{
    (void)user;
    return remove_entry(root, name, AT_REMOVEDIR);
}

static int posix_open(void *user, void *root, void **file, const char *name,
                      bouma_open_mode mode)
{
    static const int flags[] = {
        [BOUMA_OPEN_MODE_READ] = O_RDONLY | O_NONBLOCK | O_NOFOLLOW,
        [BOUMA_OPEN_MODE_CREATE] = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW,
        [BOUMA_OPEN_MODE_APPEND] = O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW,
        [BOUMA_OPEN_MODE_UPDATE] = O_RDWR | O_CREAT | O_NONBLOCK,
        [BOUMA_OPEN_MODE_EMPTY] = O_RDWR | O_CREAT | O_NONBLOCK | O_TRUNC,
        [BOUMA_OPEN_MODE_VIEW] = O_RDONLY | O_NONBLOCK,
    };
    int fd = mode == BOUMA_OPEN_MODE_READ
                 ? open_at_once(unwrap(root), name, flags[mode])
                 : -1;
    const char *last;
    struct stat st;
    int dir, code;

    (void)user;
    if (fd < 0) {
        code = walk(unwrap(root), name, &dir, &last);
        if (code)
            return code;
        fd = open_retry(dir, last, flags[mode], 0666);
        code = fd < 0 ? errno : 0;
        unwalk(unwrap(root), dir);
        if (code)
            return code;
    }
    /* A pipe or device instead of a file would block or have no size. */
    code = fstat(fd, &st) ? errno : 0;
    if (code || !S_ISREG(st.st_mode)) {
        close(fd);
        return code ? code : S_ISDIR(st.st_mode) ? EISDIR : ENOTSUP;
    }
    *file = wrap(fd);
    return 0;
}

static int posix_link(void *user, void *root, const char *name,
                      const char *text)
{
    const char *last;
    int fd, code = walk(unwrap(root), name, &fd, &last);

    (void)user;
    if (code)
        return code;
    code = symlinkat(text, fd, last) ? errno : 0;
    unwalk(unwrap(root), fd);
    return code;
}

static int posix_read_link(void *user, void *root, const char *name, char *text,
                           size_t bytes)
{
    const char *last;
    ssize_t n;
    int fd, code = walk(unwrap(root), name, &fd, &last);

    (void)user;
    if (code)
        return code;
    n = readlinkat(fd, last, text, bytes);
    code = n < 0 ? errno : (size_t)n == bytes ? ENAMETOOLONG : 0;
    if (!code)
        text[n] = 0;
    unwalk(unwrap(root), fd);
    return code;
}

static int posix_same(void *user, void *root, void *other)
{
    struct stat a, b;

    (void)user;
    return !fstat(unwrap(root), &a) && !fstat(unwrap(other), &b) &&
           a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* Lustre and GPFS tell their stripes and blocks by it, others 4096. */
static int posix_block_bytes(void *user, void *root, uint64_t *bytes)
{
    struct stat st;

    (void)user;
    if (fstat(unwrap(root), &st))
        return errno;
    *bytes = st.st_blksize > 0 ? (uint64_t)st.st_blksize : 0;
    return 0;
}

static int posix_file_size(void *user, void *file, uint64_t *bytes)
{
    struct stat st;

    (void)user;
    if (fstat(unwrap(file), &st))
        return errno;
    *bytes = (uint64_t)st.st_size;
    return 0;
}

static int posix_read(void *user, void *file, void *data, size_t bytes,
                      uint64_t offset, size_t *done)
{
    ssize_t n;

    (void)user;
    do
        n = pread(unwrap(file), data, bytes, (off_t)offset);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return errno;
    *done = (size_t)n;
    return 0;
}

static int posix_write(void *user, void *file, const void *data, size_t bytes,
                       uint64_t offset, size_t *done)
{
    ssize_t n;

    (void)user;
    do
        n = pwrite(unwrap(file), data, bytes, (off_t)offset);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return errno;
    *done = (size_t)n;
    return 0;
}

/* Room at once spares the file system a decision for each page, and a full disk
 * shows before the work. Where it cannot be done, it need not be. */
static int posix_reserve(void *user, void *file, uint64_t bytes)
{
    int rc;

    (void)user;
    do
        rc = fallocate(unwrap(file), 0, 0, (off_t)bytes);
    while (rc && errno == EINTR);
    return rc && (errno == ENOSPC || errno == EDQUOT) ? errno : 0;
}

static int posix_close_file(void *user, void *file)
{
    (void)user;
    /* Not repeated after EINTR: on Linux the descriptor is gone already. */
    return close(unwrap(file)) && errno != EINTR ? errno : 0;
}

/* When a process began, in ticks since the machine did: tells apart two that
 * had the same number. 0 if it does not run: also one that has ended, and whose
 * parent has not asked how. */
static unsigned long long start_of(long pid)
{
    char path[64], text[1024], *p;
    unsigned long long start = 0;
    ssize_t n;
    int fd;

    snprintf(path, sizeof(path), "/proc/%ld/stat", pid);
    fd = open_retry(AT_FDCWD, path, O_RDONLY, 0);
    if (fd < 0)
        return 0;
    n = read(fd, text, sizeof(text) - 1);
    close(fd);
    if (n <= 0)
        return 0;
    text[n] = 0;
    /* Behind the name in parentheses, which is field 2: the state. */
    p = strrchr(text, ')');
    if (!p || strlen(p) < 3 || p[2] == 'Z' || p[2] == 'X')
        return 0;
    for (int field = 2; p && field < 22; field++)
        p = strchr(p + 1, ' ');
    return p && sscanf(p, "%llu", &start) == 1 ? start : 0;
}

/* Numbers of processes mean something within one of these only. */
static unsigned long long pid_namespace(void)
{
    struct stat st;

    return stat("/proc/self/ns/pid", &st) ? 0 : (unsigned long long)st.st_ino;
}

static int posix_identity(void *user, char *text, size_t bytes)
{
    char host[256] = "";

    (void)user;
    if (gethostname(host, sizeof(host) - 1))
        return errno;
    snprintf(text, bytes, "host %s pid %ld start %llu namespace %llu", host,
             (long)getpid(), start_of((long)getpid()), pid_namespace());
    return 0;
}

static int posix_alive(void *user, const char *text)
{
    char host[256], mine[256] = "";
    unsigned long long start, space;
    long pid;

    (void)user;
    if (sscanf(text, "host %255s pid %ld start %llu namespace %llu", host, &pid,
               &start, &space) != 4 ||
        gethostname(mine, sizeof(mine) - 1) || strcmp(host, mine) ||
        space != pid_namespace())
        return -1;
    return start != 0 && start_of(pid) == start;
}

const bouma_io *bouma_io_posix(void)
{
    static const bouma_io table = {
        .size = sizeof(bouma_io),
        .attach = posix_attach,
        .detach = posix_detach,
        .make_dir = posix_make_dir,
        .list = posix_list,
        .sync_dir = posix_sync_dir,
        .publish = posix_publish,
        .remove = posix_remove,
        .open = posix_open,
        .file_size = posix_file_size,
        .read = posix_read,
        .write = posix_write,
        .reserve = posix_reserve,
        .remove_dir = posix_remove_dir,
        .block_bytes = posix_block_bytes,
        .sync = posix_sync,
        .close = posix_close_file,
        .identity = posix_identity,
        .alive = posix_alive,
        .concurrent = 1,
        .same = posix_same,
        .link = posix_link,
        .read_link = posix_read_link,
    };

    return &table;
}
