/* idx_text.c -- see idx_text.h. */
#include "layout/idx_text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/plain_text.h"

#define TIME_KEY     "(time)\n"
#define TIME_PART    "time%09d/" /* as readers see it */
#define TEMPLATE_KEY "(filename_template)\n./"

static void put(struct bm_buffer *out, const char *format, ...) BM_PRINTF(2, 3);

/* Texts are short, but for the names in them, which are put as they are. */
static void put(struct bm_buffer *out, const char *format, ...)
{
    char text[128];
    va_list args;
    int n;

    va_start(args, format);
    n = bm_format_list(text, sizeof(text), format, args);
    va_end(args);
    bm_put_bytes(out, text, (size_t)n);
}

static void put_text(struct bm_buffer *out, const char *text)
{
    bm_put_bytes(out, text, strlen(text));
}

/* ---- names --------------------------------------------------------------- */

const char *bm_idx_check_name(const char *name)
{
    if (!*name || *name == '.')
        return "is empty or begins with a dot";
    if (strlen(name) > BM_IDX_MAX_NAME)
        return "has more than 128 bytes";
    for (const char *at = name; *at; at++)
        if ((unsigned char)*at <= ' ' || strchr("%$#/", *at))
            return "has a blank, %, $, # or /";
    return strstr(name, ".idx") ? "has .idx in it" : NULL;
}

int bm_idx_field_name(char *out, const char *name)
{
    int changed = 0;

    for (; *name; name++, out++) {
        int odd = (unsigned char)*name <= ' ' || strchr("+*()[]#", *name);

        *out = odd ? '_' : *name;
        changed |= odd;
    }
    *out = 0;
    return changed;
}

void bm_idx_time_name(char out[BM_IDX_TIME_BYTES], int64_t step)
{
    snprintf(out, BM_IDX_TIME_BYTES, "time%09" PRId64, step);
}

/* PIDX's rule: that many pieces of two digits, each a directory, and a last one
 * of 'digits'. */
static int name_digits(int number_bits, int *directories)
{
    *directories = number_bits > 16 ? (number_bits - 16 + 7) / 8 : 0;
    return number_bits == 0    ? 1
           : number_bits <= 8  ? 2
           : number_bits <= 12 ? 3
                               : 4;
}

int bm_idx_file_name(char out[BM_IDX_FILE_BYTES], int number_bits,
                     uint64_t first)
{
    int directories, digits = name_digits(number_bits, &directories);
    size_t used = 0;

    for (int i = directories - 1; i >= 0; i--)
        used += (size_t)snprintf(out + used, BM_IDX_FILE_BYTES - used, "%02x/",
                                 (unsigned)(first >> (16 + 8 * i) & 0xff));
    snprintf(out + used, BM_IDX_FILE_BYTES - used, "%0*x.bin", digits,
             (unsigned)(first & 0xffff));
    return directories;
}

static const char *type_name(bouma_type type)
{
    static const char *const names[] = {
        [BOUMA_TYPE_I8] = "int8",     [BOUMA_TYPE_I16] = "int16",
        [BOUMA_TYPE_I32] = "int32",   [BOUMA_TYPE_I64] = "int64",
        [BOUMA_TYPE_U8] = "uint8",    [BOUMA_TYPE_U16] = "uint16",
        [BOUMA_TYPE_U32] = "uint32",  [BOUMA_TYPE_U64] = "uint64",
        [BOUMA_TYPE_F32] = "float32", [BOUMA_TYPE_F64] = "float64"};

    return names[type];
}

/* ---- the header ---------------------------------------------------------- */

static int have_same_name(const char *one, const char *other)
{
    for (; *one && *other; one++, other++) {
        char a[2], b[2];

        bm_idx_field_name(a, (char[]){*one, 0});
        bm_idx_field_name(b, (char[]){*other, 0});
        if (*a != *b)
            return 0;
    }
    return *one == *other;
}

static void put_field_name(struct bm_buffer *out, const struct bm_idx_text *t,
                           int field)
{
    const char *name = t->fields[field].name;
    char *to = bm_buffer_extend(out, strlen(name) + 1);

    if (to) {
        bm_idx_field_name(to, name);
        out->size--; /* the NUL */
    }
    /* Two that became the same are told apart. */
    for (int i = 0; i < field; i++)
        if (have_same_name(t->fields[i].name, name)) {
            put(out, "_%d", field);
            return;
        }
}

static void put_fields(struct bm_buffer *out, const struct bm_idx_text *t)
{
    put_text(out, "(fields)\n");
    for (int i = 0; i < t->field_count; i++) {
        const struct bm_idx_field *field = &t->fields[i];

        put_text(out, i ? "+ " : "");
        put_field_name(out, t, i);
        put_text(out, " ");
        if (field->components > 1)
            put(out, "%d*", field->components);
        put_text(out, type_name(field->type));
        put_text(out, " default_compression(");
        put_text(out, t->codec);
        put_text(out, ") default_layout(");
        put_text(out, t->row_major ? "rowmajor" : "hzorder");
        put_text(out, ") default_value(0)\n");
    }
}

/* The steps as runs of equal distances. */
static void put_times(struct bm_buffer *out, const int64_t *n, size_t count)
{
    if (count && n[count - 1] - n[0] == (int64_t)count - 1) {
        put(out, "%" PRId64 " %" PRId64 " %s\n", n[0], n[count - 1], TIME_PART);
        return;
    }
    put_text(out, TIME_PART);
    for (size_t i = 0, last; i < count; i = last + 1) {
        int64_t each = i + 1 < count ? n[i + 1] - n[i] : 1;

        for (last = i; last + 1 < count && n[last + 1] - n[last] == each;)
            last++;
        put(out, " (%" PRId64 ",%" PRId64 ",%" PRId64 ")", n[i], n[last], each);
    }
    put_text(out, "\n");
}

/* x first. */
static void put_boxes(struct bm_buffer *out, const struct bm_idx_text *t)
{
    int first = 3 - t->ndims;

    put_text(out, "(box)\n");
    for (int axis = 2; axis >= first; axis--)
        put(out, "0 %" PRId64 "%s", t->shape[axis] - 1,
            axis > first ? " " : "\n");
    if (!t->placed)
        return;
    put_text(out, "(physic_box)\n");
    for (int axis = 2; axis >= first; axis--)
        put(out, "%.17g %.17g%s", t->origin[axis],
            t->origin[axis] + (double)t->shape[axis] * t->spacing[axis],
            axis > first ? " " : "\n");
}

void bm_idx_put_header(struct bm_buffer *out, const struct bm_idx_text *t)
{
    int directories,
        digits = name_digits(t->bits - t->block_bits, &directories);

    put_text(out, "(version)\n6\n");
    put_boxes(out, t);
    put_fields(out, t);
    put_text(out, "(bits)\nV");
    for (int i = 0; i < t->bits; i++)
        put(out, "%d", 2 - t->axis[i]);
    put(out,
        "\n(bitsperblock)\n%d\n(blocksperfile)\n%" PRId64 "\n"
        "(interleave block)\n0\n",
        t->block_bits, t->blocks_per_file);
    put_text(out, TIME_KEY);
    put_times(out, t->steps, t->step_count);
    put_text(out, TEMPLATE_KEY);
    put_text(out, t->name);
    put_text(out, "/");
    for (int i = 0; i < directories; i++)
        put_text(out, "%02x/");
    put(out, "%%0%dx.bin\n(missing_blocks)\n0\n(arco)\n0\n", digits);
}

/* ---- the timesteps of a header ------------------------------------------- */

/* The line that lists them, up to and without its end; NULL if there is none.
 */
static const char *find_times(const struct bm_buffer *header, size_t *bytes)
{
    const char *text = (const char *)header->data;
    const char *end = text + header->size, *line = text, *stop;
    size_t key = strlen(TIME_KEY);

    while ((size_t)(end - line) >= key && memcmp(line, TIME_KEY, key)) {
        line = memchr(line, '\n', (size_t)(end - line));
        if (!line)
            return NULL;
        line++;
    }
    if ((size_t)(end - line) < key)
        return NULL;
    line += key;
    stop = memchr(line, '\n', (size_t)(end - line));
    *bytes = stop ? (size_t)(stop - line) : 0;
    return stop ? line : NULL;
}

int bm_idx_is_template_of(const struct bm_buffer *header, const char *name)
{
    size_t key = strlen(TEMPLATE_KEY), length = strlen(name);
    size_t bytes = 0;
    const char *end = (const char *)header->data + header->size;
    const char *at = header->size ? find_times(header, &bytes) : NULL;

    if (!at)
        return 0;
    at += bytes + 1; /* the next line */
    return (size_t)(end - at) > key + length &&
           !memcmp(at, TEMPLATE_KEY, key) && !memcmp(at + key, name, length) &&
           at[key + length] == '/';
}

/* A line that is being read, which ends with a byte that is no digit. */
struct reading {
    const char *at;
    int failed;
};

static void expect(struct reading *r, const char *text)
{
    for (; *text && !r->failed; text++)
        if (*r->at == *text)
            r->at++;
        else
            r->failed = 1;
}

static int64_t get_number(struct reading *r)
{
    int64_t n = 0;

    r->failed |= *r->at < '0' || *r->at > '9';
    for (; *r->at >= '0' && *r->at <= '9' && !r->failed; r->at++) {
        n = 10 * n + (*r->at - '0');
        r->failed |= n > BM_IDX_LAST_STEP;
    }
    return n;
}

/* A list that grows; what is added must ascend. */
struct steps {
    const bouma_allocator *a;
    int64_t *list;
    size_t count, room, most;
    int no_memory;
};

static void add_run(struct steps *s, struct reading *r, int64_t first,
                    int64_t last, int64_t each)
{
    r->failed |= each < 1 || last < first || (last - first) % each ||
                 (s->count && s->list[s->count - 1] >= first);
    for (int64_t n = first; n <= last && !r->failed; n += each) {
        int64_t *grown;

        r->failed |= s->count >= s->most;
        grown = r->failed ? NULL
                          : bm_more_room(s->a, s->list, s->count, &s->room,
                                         sizeof(*grown));
        if (!grown) {
            s->no_memory |= !r->failed;
            r->failed = 1;
            return;
        }
        s->list = grown;
        s->list[s->count++] = n;
    }
}

static void get_runs(struct steps *s, struct reading *r)
{
    expect(r, TIME_PART);
    while (!r->failed && *r->at == ' ') {
        int64_t n[3];

        expect(r, " (");
        for (int i = 0; i < 3; i++) {
            n[i] = get_number(r);
            expect(r, i < 2 ? "," : ")");
        }
        if (!r->failed)
            add_run(s, r, n[0], n[1], n[2]);
    }
}

int bm_idx_get_steps(int64_t **steps, size_t *count, const bouma_allocator *a,
                     const struct bm_buffer *header, size_t most)
{
    struct steps s = {.a = a, .most = most};
    struct reading r = {0};
    size_t bytes = 0;

    r.at = header->size ? find_times(header, &bytes) : NULL;
    *steps = NULL;
    *count = 0;
    if (!r.at)
        return BOUMA_EFORMAT;
    if (*r.at >= '0' && *r.at <= '9') {
        int64_t first = get_number(&r), last;

        expect(&r, " ");
        last = get_number(&r);
        expect(&r, " " TIME_PART);
        if (!r.failed)
            add_run(&s, &r, first, last, 1);
    } else {
        get_runs(&s, &r);
    }
    if (!r.failed)
        expect(&r, "\n");
    if (r.failed) {
        bm_drop(a, s.list);
        return s.no_memory ? BOUMA_ENOMEM : BOUMA_EFORMAT;
    }
    *steps = s.list;
    *count = s.count;
    return BOUMA_OK;
}

void bm_idx_put_steps(struct bm_buffer *out, const struct bm_buffer *header,
                      const int64_t *steps, size_t count)
{
    const uint8_t *end = header->data + header->size;
    size_t bytes = 0;
    const uint8_t *line = (const uint8_t *)find_times(header, &bytes);

    bm_put_bytes(out, header->data, (size_t)(line - header->data));
    put_times(out, steps, count);
    line += bytes + 1;
    bm_put_bytes(out, line, (size_t)(end - line));
}

/* ---- files --------------------------------------------------------------- */

static void put_word(uint8_t *at, uint64_t word)
{
    for (int i = 0; i < 4; i++)
        at[i] = (uint8_t)(word >> (24 - 8 * i));
}

void bm_idx_put_block(uint8_t *front, int64_t blocks_per_file, int field,
                      uint64_t slot, const struct bm_idx_block *block)
{
    uint8_t *at =
        front + BM_IDX_BLOCK_HEADER *
                    (1 + (uint64_t)field * (uint64_t)blocks_per_file + slot);

    put_word(at + 8, block->offset);
    put_word(at + 12, block->offset >> 32);
    put_word(at + 16, block->bytes);
    put_word(at + 20, (uint64_t)block->flags);
}
