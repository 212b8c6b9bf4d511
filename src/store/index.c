/* index.c -- see index.h. */
#include "store/index.h"

#include <string.h>

#include "base/hash.h"

void bm_step_list_init(struct bm_step_list *list, const bouma_allocator *a)
{
    memset(list, 0, sizeof(*list));
    list->a = a;
}

void bm_step_list_release(struct bm_step_list *list)
{
    if (list->a)
        bm_drop(list->a, list->entries);
    list->entries = NULL;
    list->count = list->capacity = 0;
}

/* The index of 'step', or where it would be. */
static size_t index_of(const struct bm_step_list *list, uint64_t step)
{
    size_t lo = 0, hi = list->count;

    /* Steps mostly come in ascending order. */
    if (hi && list->entries[hi - 1].step < step)
        return hi;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;

        if (list->entries[mid].step < step)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

const struct bm_step_entry *bm_step_list_find(const struct bm_step_list *list,
                                              uint64_t step)
{
    size_t i = index_of(list, step);

    return i < list->count && list->entries[i].step == step ? &list->entries[i]
                                                            : NULL;
}

int bm_step_list_reserve(struct bm_step_list *list, size_t more)
{
    size_t room = list->capacity * 2 + 16;
    struct bm_step_entry *grown;

    if (list->capacity - list->count >= more)
        return BOUMA_OK;
    if (room < list->count + more)
        room = list->count + more;
    grown = bm_resize(list->a, list->entries, room, sizeof(*grown));
    if (!grown)
        return BOUMA_ENOMEM;
    list->entries = grown;
    list->capacity = room;
    return BOUMA_OK;
}

int bm_step_list_put(struct bm_step_list *list, struct bm_step_entry entry)
{
    size_t i = index_of(list, entry.step);

    list->changes++;
    if (i < list->count && list->entries[i].step == entry.step) {
        list->entries[i] = entry;
        return BOUMA_OK;
    }
    if (bm_step_list_reserve(list, 1))
        return BOUMA_ENOMEM;
    memmove(list->entries + i + 1, list->entries + i,
            (list->count - i) * sizeof(*list->entries));
    list->entries[i] = entry;
    list->count++;
    return BOUMA_OK;
}

int bm_step_list_add(struct bm_step_list *list, struct bm_step_entry entry)
{
    list->changes++;
    if (bm_step_list_reserve(list, 1))
        return BOUMA_ENOMEM;
    list->entries[list->count++] = entry;
    return BOUMA_OK;
}

static int ascends(const struct bm_step_list *list)
{
    for (size_t i = 1; i < list->count; i++)
        if (list->entries[i - 1].step >= list->entries[i].step)
            return 0;
    return 1;
}

/* Move entries to 'to', in the order of one byte of their steps; those that are
 * alike in it stay in order. */
static void sort_by_byte(struct bm_step_entry *to,
                         const struct bm_step_entry *from, size_t count,
                         int shift)
{
    size_t next[256] = {0}, sum = 0;

    for (size_t i = 0; i < count; i++)
        next[from[i].step >> shift & 255]++;
    for (int b = 0; b < 256; b++) {
        size_t n = next[b];

        next[b] = sum;
        sum += n;
    }
    for (size_t i = 0; i < count; i++)
        to[next[from[i].step >> shift & 255]++] = from[i];
}

int bm_step_list_sort(struct bm_step_list *list)
{
    struct bm_step_entry *from = list->entries, *to;
    uint64_t differ = 0;
    size_t kept = 0;

    if (ascends(list))
        return BOUMA_OK;
    to = bm_new_raw(list->a, list->capacity, sizeof(*to));
    if (!to)
        return BOUMA_ENOMEM;
    for (size_t i = 1; i < list->count; i++)
        differ |= from[i].step ^ from[0].step;
    for (int shift = 0; shift < 64; shift += 8)
        if (differ >> shift & 255) {
            struct bm_step_entry *swap = to;

            sort_by_byte(to, from, list->count, shift);
            to = from;
            from = swap;
        }
    for (size_t i = 0; i < list->count; i++)
        if (i + 1 == list->count || from[i].step != from[i + 1].step)
            from[kept++] = from[i];
    list->entries = from;
    list->count = kept;
    bm_drop(list->a, to);
    return BOUMA_OK;
}

const struct bm_step_entry *bm_step_list_next(const struct bm_step_list *list,
                                              size_t *at, uint64_t step)
{
    while (*at < list->count && list->entries[*at].step < step)
        ++*at;
    return *at < list->count && list->entries[*at].step == step
               ? &list->entries[*at]
               : NULL;
}

int bm_generation_is_same(struct bm_generation a, struct bm_generation b)
{
    return a.epoch == b.epoch && a.attempt == b.attempt;
}

int bm_generation_is_later(struct bm_generation a, struct bm_generation b)
{
    return a.epoch != b.epoch ? a.epoch > b.epoch : a.attempt > b.attempt;
}

uint64_t bm_generation_number(struct bm_generation g)
{
    return (uint64_t)g.epoch << 32 | g.attempt;
}

int bm_step_entry_is_same(const struct bm_step_entry *a,
                          const struct bm_step_entry *b)
{
    return a->step == b->step && /* bit for bit: the time may be NaN */
           memcmp(&a->time, &b->time, sizeof(a->time)) == 0 &&
           a->generation.epoch == b->generation.epoch &&
           a->generation.attempt == b->generation.attempt;
}

void bm_put_step_entry(struct bm_buffer *b, const struct bm_step_entry *entry)
{
    bm_put_u64(b, entry->step);
    bm_put_f64(b, entry->time);
    bm_put_u32(b, entry->generation.epoch);
    bm_put_u32(b, entry->generation.attempt);
}

struct bm_step_entry bm_get_step_entry(struct bm_cursor *c)
{
    struct bm_step_entry e;

    e.step = bm_get_u64(c);
    e.time = bm_get_f64(c);
    e.generation.epoch = bm_get_u32(c);
    e.generation.attempt = bm_get_u32(c);
    return e;
}

/* A record's own checksum is seeded with the dataset's id. */
static uint64_t seed_of(const uint8_t id[16])
{
    return bm_hash64(id, 16, 0);
}

static uint64_t record_hash(const uint8_t *record, uint64_t seed)
{
    return bm_hash64(record, BM_INDEX_RECORD - 8, seed);
}

void bm_index_encode(uint8_t record[BM_INDEX_RECORD],
                     const struct bm_step_entry *entry, const uint8_t id[16])
{
    uint64_t time;

    memset(record, 0, BM_INDEX_RECORD);
    memcpy(&time, &entry->time, sizeof(time));
    memcpy(record, "bmstep\r\n", 8);
    bm_store_u64(record + 8, entry->step);
    bm_store_u64(record + 16, time);
    bm_store_u32(record + 24, entry->generation.epoch);
    bm_store_u32(record + 28, entry->generation.attempt);
    bm_store_u64(record + 40, record_hash(record, seed_of(id)));
}

int bm_index_decode(struct bm_step_list *out, const uint8_t *data, size_t bytes,
                    const uint8_t id[16], size_t *bad)
{
    uint64_t seed = seed_of(id);

    *bad = bytes % BM_INDEX_RECORD != 0;
    if (bm_step_list_reserve(out, bytes / BM_INDEX_RECORD))
        return BOUMA_ENOMEM;
    for (; bytes >= BM_INDEX_RECORD;
         data += BM_INDEX_RECORD, bytes -= BM_INDEX_RECORD) {
        struct bm_step_entry entry;
        uint64_t time;

        entry.step = bm_load_u64(data + 8);
        if (bm_load_u64(data + 40) != record_hash(data, seed) ||
            memcmp(data, "bmstep\r\n", 8) || entry.step > INT64_MAX ||
            bm_load_u64(data + 32)) {
            ++*bad;
            continue;
        }
        time = bm_load_u64(data + 16);
        memcpy(&entry.time, &time, sizeof(time));
        entry.generation.epoch = bm_load_u32(data + 24);
        entry.generation.attempt = bm_load_u32(data + 28);
        bm_step_list_add(out, entry); /* there is room */
    }
    return bm_step_list_sort(out);
}

int bm_index_load(struct bm_store *s, const uint8_t id[16],
                  struct bm_step_list *out, size_t *bad, struct bm_error *error)
{
    struct bm_error why = {0};
    struct bm_buffer b;
    int rc;

    *bad = 0;
    bm_buffer_init(&b, s->a);
    rc = bm_store_load(s, BM_NAME_INDEX, &b, s->memory_limit, &why);
    if (rc == BOUMA_ENOTFOUND) {
        rc = BOUMA_OK; /* the directories will tell */
    } else if (rc) {
        rc = bm_fail(error, rc, "%s", why.text);
    } else {
        rc = bm_index_decode(out, b.data, b.size, id, bad);
        if (rc)
            bm_fail(error, rc, "%s: no memory for the index", s->path);
    }
    bm_buffer_release(&b);
    return rc;
}

static int append(struct bm_store *s, const uint8_t id[16],
                  const struct bm_step_entry *entries, size_t count, int sync,
                  struct bm_error *error)
{
    struct bm_buffer b;
    struct bm_file f;
    uint64_t bytes = 0;
    int rc, closed;

    rc = bm_file_open(&f, s, BM_NAME_INDEX, BOUMA_OPEN_MODE_APPEND, error);
    if (rc)
        return rc;
    bm_buffer_init(&b, s->a);
    rc = bm_file_size(&f, &bytes, error);
    /* An append that failed half way may have left a part of a record, behind
     * which no reader would look for the next one. */
    for (; bytes % BM_INDEX_RECORD; bytes++)
        bm_put_u8(&b, 0);
    for (size_t i = 0; i < count; i++) {
        uint8_t *record = bm_buffer_extend(&b, BM_INDEX_RECORD);

        if (record)
            bm_index_encode(record, &entries[i], id);
    }
    if (!rc && b.failed)
        rc = bm_fail(error, BOUMA_ENOMEM, "%s: no memory for the index",
                     s->path);
    if (!rc)
        rc = bm_file_write(&f, b.data, b.size, 0, error);
    if (!rc && sync)
        rc = bm_file_sync(&f, error);
    closed = bm_file_close(&f, error);
    bm_buffer_release(&b);
    return rc ? rc : closed;
}

void bm_index_append(struct bm_store *s, const uint8_t id[16],
                     const struct bm_step_entry *entry)
{
    struct bm_error ignored = {0};

    append(s, id, entry, 1, 0, &ignored);
}

int bm_index_forget_all(struct bm_store *s, const uint8_t id[16],
                        const struct bm_step_list *steps,
                        struct bm_error *error)
{
    int rc = append(s, id, steps->entries, steps->count, 1, error);

    /* The name, too: it may be that of a file whose writer was killed before
     * it was durable, and an older one would come back. */
    return rc ? rc : bm_store_sync_dir(s, "", error);
}

int bm_index_forget(struct bm_store *s, const uint8_t id[16], uint64_t step,
                    struct bm_error *error)
{
    struct bm_step_entry entry = {step, 0, {0, 0}};
    struct bm_step_list one = {.entries = &entry, .count = 1};

    return bm_index_forget_all(s, id, &one, error);
}

void bm_index_remove(struct bm_store *s)
{
    bm_store_remove(s, BM_NAME_INDEX);
    bm_store_remove(s, BM_NAME_INDEX_NEW);
}

int bm_index_rebuild(struct bm_store *s, const uint8_t id[16],
                     const struct bm_step_list *list, struct bm_error *error)
{
    struct bm_buffer b;
    int rc = BOUMA_OK;

    bm_buffer_init(&b, s->a);
    for (size_t i = 0; i < list->count; i++) {
        uint8_t *record = list->entries[i].generation.epoch
                              ? bm_buffer_extend(&b, BM_INDEX_RECORD)
                              : NULL;

        if (record)
            bm_index_encode(record, &list->entries[i], id);
    }
    if (b.failed)
        rc = bm_fail(error, BOUMA_ENOMEM, "%s: no memory for the index",
                     s->path);
    bm_store_remove(s, BM_NAME_INDEX_NEW);
    if (!rc)
        rc = bm_store_save(s, BM_NAME_INDEX_NEW, b.data, b.size, 1, error);
    if (!rc)
        rc = bm_store_publish(s, BM_NAME_INDEX_NEW, BM_NAME_INDEX, 1, error);
    /* Else the old file could come back after what is appended to this one. */
    if (!rc)
        rc = bm_store_sync_dir(s, "", error);
    bm_buffer_release(&b);
    return rc;
}
