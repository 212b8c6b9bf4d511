/* weak_node.c -- what may be lost of a file and of a directory. */
#include "weak_node.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chance.h"

#define TEAR_BYTES 64 /* a write is torn at multiples of this */

void *weak_must(void *block)
{
    if (!block) {
        fputs("weak_fs: out of memory\n", stderr);
        exit(2);
    }
    return block;
}

void *weak_one_more(void *list, size_t count, size_t *room, size_t size)
{
    if (count < *room)
        return list;
    *room = *room ? *room * 2 : 8;
    return weak_must(realloc(list, *room * size));
}

static void *copy_of(const void *list, size_t bytes)
{
    return bytes ? memcpy(weak_must(malloc(bytes)), list, bytes) : NULL;
}

/* Write at any offset; a gap before it is zeros. */
static void bytes_put(struct weak_bytes *b, size_t offset, const void *data,
                      size_t count)
{
    size_t end = offset + count;

    if (end > b->room) {
        b->room = end * 2;
        b->data = weak_must(realloc(b->data, b->room));
    }
    if (offset > b->count)
        memset(b->data + b->count, 0, offset - b->count);
    if (count)
        memcpy(b->data + offset, data, count);
    if (end > b->count)
        b->count = end;
}

static void bytes_copy(struct weak_bytes *to, const struct weak_bytes *from)
{
    to->count = 0;
    if (from->count)
        bytes_put(to, 0, from->data, from->count);
}

/* ---- directories -------------------------------------------------------- */

struct weak_entry *weak_entries_find(const struct weak_entries *e,
                                     const char *name)
{
    for (size_t i = 0; i < e->count; i++)
        if (strcmp(e->list[i].name, name) == 0)
            return &e->list[i];
    return NULL;
}

void weak_entries_set(struct weak_entries *e, const char *name, int node)
{
    struct weak_entry *found = weak_entries_find(e, name);

    if (!found) {
        e->list = weak_one_more(e->list, e->count, &e->room, sizeof(*e->list));
        found = &e->list[e->count++];
        memset(found, 0, sizeof(*found));
        snprintf(found->name, sizeof(found->name), "%s", name);
    }
    found->node = node;
}

static void entries_remove(struct weak_entries *e, const char *name)
{
    struct weak_entry *found = weak_entries_find(e, name);

    if (found)
        *found = e->list[--e->count];
}

void weak_entries_copy(struct weak_entries *to, const struct weak_entries *from)
{
    free(to->list);
    to->list = copy_of(from->list, from->count * sizeof(*from->list));
    to->count = to->room = from->count;
}

/* A rename whose first half was lost in a crash still gives the new name: the
 * change knows the node. */
static void change_apply(struct weak_entries *e, const struct weak_change *c)
{
    if (c->from[0])
        entries_remove(e, c->from);
    if (c->to[0])
        weak_entries_set(e, c->to, c->node);
}

void weak_node_change(struct weak_node *dir, const char *from, const char *to,
                      int node)
{
    struct weak_change *c;

    dir->changes = weak_one_more(dir->changes, dir->change_count,
                                 &dir->change_room, sizeof(*dir->changes));
    c = &dir->changes[dir->change_count++];
    memset(c, 0, sizeof(*c));
    snprintf(c->from, sizeof(c->from), "%s", from);
    snprintf(c->to, sizeof(c->to), "%s", to);
    c->node = node;
    change_apply(&dir->now_entries, c);
}

static void dir_sync(struct weak_node *n)
{
    for (size_t i = 0; i < n->change_count; i++)
        change_apply(&n->durable_entries, &n->changes[i]);
    n->change_count = 0;
}

static void dir_crash(struct weak_node *n, unsigned keep, uint64_t *chance)
{
    for (size_t i = 0; i < n->change_count; i++)
        if (chance_below(chance, 8) < keep)
            change_apply(&n->durable_entries, &n->changes[i]);
    n->change_count = 0;
    weak_entries_copy(&n->now_entries, &n->durable_entries);
}

/* ---- files -------------------------------------------------------------- */

void weak_node_write(struct weak_node *file, size_t offset, const void *data,
                     size_t count)
{
    file->writes = weak_one_more(file->writes, file->write_count,
                                 &file->write_room, sizeof(*file->writes));
    file->writes[file->write_count++] =
        (struct weak_write){offset, count, file->journal.count, 0};
    bytes_put(&file->journal, file->journal.count, data, count);
    bytes_put(&file->now, offset, data, count);
}

static void write_sync(struct weak_node *n, const struct weak_write *w)
{
    bytes_put(&n->durable, w->offset, n->journal.data + w->journal_offset,
              w->count);
}

/* Some pieces of the write come through, others stay as they were. */
static void write_tear(struct weak_node *n, const struct weak_write *w,
                       uint64_t *chance)
{
    for (size_t at = 0; at < w->count; at += TEAR_BYTES) {
        size_t left = w->count - at;

        if (chance_below(chance, 2))
            bytes_put(&n->durable, w->offset + at,
                      n->journal.data + w->journal_offset + at,
                      left < TEAR_BYTES ? left : TEAR_BYTES);
    }
}

static void file_sync(struct weak_node *n)
{
    size_t kept = 0;

    for (size_t i = 0; i < n->write_count; i++) {
        if (n->writes[i].lost)
            n->writes[kept++] = n->writes[i];
        else
            write_sync(n, &n->writes[i]);
    }
    n->write_count = kept;
    if (!kept)
        n->journal.count = 0;
}

void weak_node_give_up_writes(struct weak_node *file)
{
    for (size_t i = 0; i < file->write_count; i++)
        file->writes[i].lost = 1;
}

static void file_crash(struct weak_node *n, unsigned keep, uint64_t *chance)
{
    for (size_t i = 0; i < n->write_count; i++) {
        const struct weak_write *w = &n->writes[i];
        size_t end = w->offset + w->count;

        if (keep == 0 || w->lost)
            continue;
        if (chance_below(chance, 8) < keep) {
            write_sync(n, w);
            continue;
        }
        switch (chance_below(chance, 3)) {
        case 0: /* lost */
            break;
        case 1:
            write_tear(n, w, chance);
            break;
        default: /* only the size came through */
            if (end > n->durable.count)
                bytes_put(&n->durable, end, NULL, 0);
        }
    }
    n->write_count = 0;
    n->journal.count = 0;
    bytes_copy(&n->now, &n->durable);
}

/* ---- both --------------------------------------------------------------- */

void weak_node_sync(struct weak_node *n)
{
    if (n->is_dir)
        dir_sync(n);
    else
        file_sync(n);
}

void weak_node_crash(struct weak_node *n, unsigned keep, uint64_t *chance)
{
    if (n->is_dir)
        dir_crash(n, keep, chance);
    else
        file_crash(n, keep, chance);
}

void weak_node_copy(struct weak_node *to, const struct weak_node *from)
{
    memset(to, 0, sizeof(*to));
    to->is_dir = from->is_dir;
    to->syncs = from->syncs;
    bytes_copy(&to->now, &from->now);
    bytes_copy(&to->durable, &from->durable);
    bytes_copy(&to->journal, &from->journal);
    to->writes = copy_of(from->writes, from->write_count * sizeof(*to->writes));
    to->write_count = to->write_room = from->write_count;
    weak_entries_copy(&to->now_entries, &from->now_entries);
    weak_entries_copy(&to->durable_entries, &from->durable_entries);
    to->changes =
        copy_of(from->changes, from->change_count * sizeof(*to->changes));
    to->change_count = to->change_room = from->change_count;
}

void weak_node_release(struct weak_node *n)
{
    free(n->now.data);
    free(n->durable.data);
    free(n->journal.data);
    free(n->writes);
    free(n->now_entries.list);
    free(n->durable_entries.list);
    free(n->changes);
}
