/* weak_node.h -- files and directories with two versions each: what a program
 * sees now, and what is surely on the disk, plus the changes in between. */
#ifndef WEAK_NODE_H
#define WEAK_NODE_H

#include <stddef.h>
#include <stdint.h>

#define WEAK_NAME_BYTES 64

struct weak_bytes {
    unsigned char *data;
    size_t count, room;
};

/* A write that is not synced: where it goes, and where its bytes are in the
 * file's journal. */
struct weak_write {
    size_t offset, count, journal_offset;
    int lost; /* a failed sync gave it up */
};

struct weak_entry {
    char name[WEAK_NAME_BYTES];
    int node;
};

struct weak_entries {
    struct weak_entry *list;
    size_t count, room;
};

/* A change of a directory that is not synced; an empty 'from' is a new entry,
 * an empty 'to' a removal, none empty a rename. */
struct weak_change {
    char from[WEAK_NAME_BYTES], to[WEAK_NAME_BYTES];
    int node;
};

struct weak_node {
    int is_dir;

    /* of a file */
    struct weak_bytes now, durable, journal;
    struct weak_write *writes;
    size_t write_count, write_room;

    /* of a directory */
    struct weak_entries now_entries, durable_entries;
    struct weak_change *changes;
    size_t change_count, change_room;
    int syncs; /* how often it was synced */
};

/* Memory that is there, or the end of the test program. */
void *weak_must(void *block);
/* 'list' with room for one more item of 'size' bytes behind 'count' of them. */
void *weak_one_more(void *list, size_t count, size_t *room, size_t size);

struct weak_entry *weak_entries_find(const struct weak_entries *e,
                                     const char *name);
void weak_entries_set(struct weak_entries *e, const char *name, int node);
void weak_entries_copy(struct weak_entries *to,
                       const struct weak_entries *from);

/* Change a directory, or a file, as seen now. */
void weak_node_change(struct weak_node *dir, const char *from, const char *to,
                      int node);
void weak_node_write(struct weak_node *file, size_t offset, const void *data,
                     size_t count);

/* Make the changes durable; those of a file that were given up stay what they
 * are: readable until a crash. */
void weak_node_sync(struct weak_node *n);
void weak_node_give_up_writes(struct weak_node *file);

/* Keep each change with a chance of 'keep' eighths; a write that is not kept
 * is lost, torn or turned into zeros. 0 keeps nothing at all. What is left is
 * durable. */
void weak_node_crash(struct weak_node *n, unsigned keep, uint64_t *chance);

void weak_node_copy(struct weak_node *to, const struct weak_node *from);
void weak_node_release(struct weak_node *n);

#endif
