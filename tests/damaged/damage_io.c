/* damage_io.c -- see damage_io.h. */
#include "damage_io.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct file {
    void *inner;
    int damaged;
};

static const bouma_io *inner_of(void *user)
{
    return ((struct damage_io *)user)->inner;
}

static int attach(void *user, void **root, const char *path, int create)
{
    return inner_of(user)->attach(inner_of(user)->user, root, path, create);
}

static void detach(void *user, void *root)
{
    inner_of(user)->detach(inner_of(user)->user, root);
}

static int make_dir(void *user, void *root, const char *name)
{
    ((struct damage_io *)user)->changes++;
    return inner_of(user)->make_dir(inner_of(user)->user, root, name);
}

static int list(void *user, void *root, const char *name,
                int (*each)(void *context, const char *entry), void *context)
{
    const struct damage *damage = &((struct damage_io *)user)->damage;

    if (damage->kind == DAMAGE_CLOSED && !strcmp(name, damage->name))
        return EIO;
    return inner_of(user)->list(inner_of(user)->user, root, name, each,
                                context);
}

static int sync_dir(void *user, void *root, const char *name)
{
    return inner_of(user)->sync_dir(inner_of(user)->user, root, name);
}

static int publish(void *user, void *root, const char *from, const char *to,
                   int replace)
{
    ((struct damage_io *)user)->changes++;
    return inner_of(user)->publish(inner_of(user)->user, root, from, to,
                                   replace);
}

static int remove_name(void *user, void *root, const char *name)
{
    ((struct damage_io *)user)->changes++;
    return inner_of(user)->remove(inner_of(user)->user, root, name);
}

static int open_file(void *user, void *root, void **out, const char *name,
                     bouma_open_mode mode)
{
    struct damage_io *d = user;
    struct file *f = calloc(1, sizeof(*f));
    int code;

    if (!f)
        return ENOMEM;
    d->changes += mode != BOUMA_OPEN_MODE_READ;
    f->damaged = d->damage.kind && !strcmp(name, d->damage.name);
    if (f->damaged && d->damage.kind == DAMAGE_SWAP)
        name = d->damage.other;
    code = f->damaged && d->damage.kind == DAMAGE_MISSING ? ENOENT
           : f->damaged && d->damage.kind == DAMAGE_CLOSED
               ? EIO
               : d->inner->open(d->inner->user, root, &f->inner, name, mode);
    if (code) {
        free(f);
        return code;
    }
    *out = f;
    return 0;
}

static int file_size(void *user, void *file, uint64_t *bytes)
{
    const struct damage *damage = &((struct damage_io *)user)->damage;
    struct file *f = file;
    int code = inner_of(user)->file_size(inner_of(user)->user, f->inner, bytes);

    if (f->damaged && damage->kind == DAMAGE_CUT && damage->at < *bytes)
        *bytes = damage->at;
    if (f->damaged && damage->kind == DAMAGE_GROW)
        *bytes += damage->count;
    return code;
}

static int read_file(void *user, void *file, void *data, size_t bytes,
                     uint64_t offset, size_t *done)
{
    const struct damage *damage = &((struct damage_io *)user)->damage;
    const bouma_io *inner = inner_of(user);
    struct file *f = file;
    uint8_t *p = data;
    int code;

    if (f->damaged && damage->kind == DAMAGE_CUT)
        bytes = offset >= damage->at          ? 0
                : bytes < damage->at - offset ? bytes
                                              : (size_t)(damage->at - offset);
    *done = 0;
    if (!bytes)
        return 0;
    if (f->damaged && damage->kind == DAMAGE_SECTOR && offset <= damage->at &&
        damage->at < offset + bytes)
        return EIO;
    code = inner->read(inner->user, f->inner, data, bytes, offset, done);
    if (code || !f->damaged)
        return code;
    if (damage->kind == DAMAGE_GROW && *done < bytes) {
        uint64_t whole = 0;

        inner->file_size(inner->user, f->inner, &whole);
        while (*done < bytes && offset + *done < whole + damage->count)
            p[(*done)++] = 0x5a;
    }
    for (size_t i = 0; i < *done; i++) {
        if (damage->kind == DAMAGE_FLIP && offset + i == damage->at)
            p[i] ^= damage->mask;
        if (damage->kind == DAMAGE_ZERO && offset + i >= damage->at &&
            offset + i < damage->at + damage->count)
            p[i] = 0;
    }
    return 0;
}

static int write_file(void *user, void *file, const void *data, size_t bytes,
                      uint64_t offset, size_t *done)
{
    ((struct damage_io *)user)->changes++;
    return inner_of(user)->write(inner_of(user)->user,
                                 ((struct file *)file)->inner, data, bytes,
                                 offset, done);
}

static int sync_file(void *user, void *file)
{
    return inner_of(user)->sync(inner_of(user)->user,
                                ((struct file *)file)->inner);
}

static int close_file(void *user, void *file)
{
    int code = inner_of(user)->close(inner_of(user)->user,
                                     ((struct file *)file)->inner);

    free(file);
    return code;
}

static int identity(void *user, char *text, size_t bytes)
{
    return inner_of(user)->identity(inner_of(user)->user, text, bytes);
}

static int alive(void *user, const char *text)
{
    return inner_of(user)->alive(inner_of(user)->user, text);
}

void damage_io_init(struct damage_io *d, const bouma_io *inner)
{
    memset(d, 0, sizeof(*d));
    d->inner = inner;
    d->io = (bouma_io){sizeof(bouma_io),
                       d,
                       attach,
                       detach,
                       make_dir,
                       list,
                       sync_dir,
                       publish,
                       remove_name,
                       open_file,
                       file_size,
                       read_file,
                       write_file,
                       sync_file,
                       close_file,
                       identity,
                       alive,
                       NULL,
                       NULL,
                       NULL,
                       0,
                       NULL,
                       NULL,
                       NULL};
}
