/* option.c -- the options that have a name. */
#include "base/option.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/plain_text.h"
#include "bouma_lists.h"

/* ---- the table ---------------------------------------------------------- */

#define ENTRY(name, value, text) {text, value},
#define WORD(name, value, text)  "|" text

static const struct bm_choice yes_no[] = {
    {"1", 1}, {"0", 0}, {"yes", 1}, {"no", 0}, {NULL, 0}};
/* Where 0 is "choose for me". */
static const struct bm_choice on_off[] = {{"1", 1},   {"0", -1},  {"yes", 1},
                                          {"no", -1}, {"-1", -1}, {NULL, 0}};

#define FIELD(field)                                                           \
    .about.size = sizeof(bouma_option_info), .about.name = #field,             \
    .given = offsetof(bouma_options, field),                                   \
    .kept = offsetof(struct bm_options, field)
#define CHOICE(field, list, word)                                              \
    FIELD(field),                                                              \
        .about.flag = #field, .about.argument = word,                          \
        .about.choices = &(list(WORD))[1], .kind = BM_OPTION_CHOICE,           \
        .choices = ((const struct bm_choice[]){list(ENTRY){NULL, 0}})
#define FLAG(field, name, words)                                               \
    FIELD(field), .about.flag = name, .kind = BM_OPTION_FLAG, .choices = words
#define COUNT(field, name, limit)                                              \
    FIELD(field), .about.flag = name, .about.argument = "N",                   \
                  .kind = BM_OPTION_INTEGER, .most = limit
#define INTEGER(field, limit) COUNT(field, #field, limit)
#define BYTES(field, name, limit)                                              \
    FIELD(field), .about.flag = name, .about.argument = "BYTES",               \
                  .kind = BM_OPTION_BYTES, .most = limit
#define SECONDS(field)                                                         \
    FIELD(field), .about.flag = #field, .about.argument = "SECONDS",           \
                  .kind = BM_OPTION_SECONDS
#define TEXT(field, word)                                                      \
    FIELD(field), .about.flag = #field, .about.argument = word,                \
                  .kind = BM_OPTION_TEXT
#define USE(what)  .about.use = what
#define HELP(text) .about.help = text

enum {
    SAME = BOUMA_OPTION_USE_SAME,
    STEPS = BOUMA_OPTION_USE_STEPS,
    PLAN = BOUMA_OPTION_USE_PLAN
};

#define GIB ((int64_t)1 << 30)

/* Longer than ranks of a sound job are apart at an output, and than parallel
 * file systems need to recover, during which one rank may wait in a write; not
 * so long that a job which hangs has burnt its hours. */
#define PATIENCE 1800

#ifdef NDEBUG
#define CHECK_BY_DEFAULT (-1)
#else
#define CHECK_BY_DEFAULT 1
#endif

static const struct bm_option table[] = {
    {CHOICE(durability, BOUMA_DURABILITY_LIST, "MODE"), USE(SAME | STEPS),
     .standard = BOUMA_DURABILITY_DURABLE, .prefix = "group=", .count = "group",
     HELP("what survives a power loss; group=K syncs K steps at once")},
    {INTEGER(group, 1000), USE(SAME | STEPS), .standard = 8,
     HELP("steps that become durable together with durability group; default: "
          "8")},
    {FLAG(replace, "replace", yes_no), USE(SAME | STEPS),
     HELP("allow a step that exists to be written again")},
    {FLAG(force, "force", yes_no), USE(SAME | STEPS),
     HELP("go on even if another writer seems to be active")},
    {INTEGER(files, 1 << 20), USE(SAME | STEPS | PLAN), .word = "node",
     .prefix = "node:", .count = "nodes_per_file",
     HELP("number of files of a step, for grids and for each set of particles; "
          "node: one for each node, node:K: for every K nodes; default: files "
          "of about 64 MiB, at most one per rank")},
    {BYTES(file_size, "file-size", 0), USE(SAME | STEPS | PLAN),
     HELP("desired size of a file, such as 64M, if files is not given")},
    {CHOICE(distribute, BOUMA_DISTRIBUTE_LIST, "SCHEME"),
     USE(SAME | STEPS | PLAN), .standard = BOUMA_DISTRIBUTE_BALANCED,
     HELP("which rank assembles and encodes a shared patch; weighted: balance "
          "the encoding times of the previous step")},
    {CHOICE(assign, BOUMA_ASSIGN_LIST, "SCHEME"), USE(SAME | STEPS | PLAN),
     HELP("which file holds a chunk or a particle; kdtree, aug and split: "
          "particles only; per-node: one for each node, as files node; "
          "default: of grids per-rank where each rank has a file and about as "
          "many bytes, else optimal")},
    {CHOICE(place, BOUMA_PLACE_LIST, "SCHEME"), USE(SAME | STEPS | PLAN),
     .standard = BOUMA_PLACE_SPREAD,
     HELP("which rank writes a file; cost: the one that gathers it at the "
          "least cost on the machine; local: the middle one of those that send "
          "to it")},
    {CHOICE(order, BOUMA_ORDER_LIST, "ORDER"), USE(SAME | STEPS),
     .standard = BOUMA_ORDER_LEVEL,
     HELP("order in a file: coarse levels of all chunks first (best for "
          "viewing), or the levels of each chunk together (best for random "
          "access)")},
    {BYTES(message_bytes, "message-bytes", 1 << 30), USE(SAME | STEPS),
     .standard = GIB, HELP("longest message between ranks; default: 1 GiB")},
    {BYTES(buffer_bytes, "buffer-bytes", 0), USE(SAME | STEPS | PLAN),
     HELP(
         "size of each buffer of a writer; default: the block or stripe of the "
         "storage if that is at least 1 MiB, else 1 MiB, with async or predict "
         "4 MiB")},
    {BYTES(memory_limit, "memory-limit", 0), USE(STEPS), .standard = 16 * GIB,
     HELP("largest single allocation for the content of a file, except for "
          "files up to 4 KiB; default: 16 GiB")},
    {SECONDS(timeout), USE(STEPS), .standard = PATIENCE,
     HELP("give up after this time without a message from another rank; "
          "default: 1800; inf: never")},
    {INTEGER(threads, 256), USE(STEPS),
     HELP("worker threads per rank; default: one per processor that the rank "
          "has for itself, up to 8")},
    {FLAG(best_axis, "best-axis", yes_no), USE(SAME | STEPS),
     HELP("split trees over ranks (kdtree, split) along the axis with the most "
          "even split, not along the longest")},
    {TEXT(machine, "SPEC"), USE(SAME | STEPS | PLAN),
     HELP("network and speeds, for place cost: flat, torus:8x8x8 or another "
          "model, auto, or a machine file; default: flat")},
    {CHOICE(tier, BOUMA_TIER_LIST, "TIER"), USE(SAME | STEPS | PLAN),
     .variable = "BOUMA_TIER",
     HELP("memory for the buffers of a writer; local: a file in the directory "
          "local; default: dram, with place cost the cheapest")},
    {TEXT(local, "DIR"), USE(STEPS),
     HELP("a directory on node-local storage: for persist, for tier local, and "
          "to read the steps kept there")},
    {FLAG(persist, "persist", yes_no), USE(SAME | STEPS),
     HELP("commit steps in the directory local, and copy them to the dataset "
          "in the background")},
    {INTEGER(buffers, 4096), USE(SAME | STEPS | PLAN),
     HELP("buffers of a writer: while one is stored, the next is filled; "
          "default: 2, with async 16")},
    {CHOICE(transport, BOUMA_TRANSPORT_LIST, "HOW"), USE(SAME | STEPS),
     HELP("how bytes get to a writer; windows: ranks on its node copy them "
          "into its memory; default: windows, for plain files messages, unless "
          "the machine file says otherwise")},
    {FLAG(async, "async", yes_no), USE(SAME | STEPS),
     HELP("end a step when its data are gathered, and store it in the "
          "background")},
    {CHOICE(predict, BOUMA_PREDICT_LIST, "WHEN"), USE(SAME | STEPS),
     .standard = BOUMA_PREDICT_OFF,
     HELP("from the second step on, choose files by the sizes of the previous "
          "step, so that chunks are stored while others are encoded; default: "
          "off")},
    {INTEGER(writers, 1 << 20), USE(0),
     HELP("ranks that write a plain file (bouma_file_*); default: all ranks up "
          "to 16, else 16 or one in 8, whichever is more")},
    {FLAG(check, "check", on_off), USE(STEPS), .standard = CHECK_BY_DEFAULT,
     HELP("fail a step if an array changes between the put and the end of the "
          "step; default: in debug builds only")},
    {FLAG(clobber, "clobber", yes_no), USE(SAME | STEPS),
     .reason = "removes datasets, so only a program can set it (`bouma import "
               "--clobber`)",
     HELP("start anew: remove a dataset that is there, and never anything "
          "else")},
    {TEXT(trace, "FILE"), USE(SAME | STEPS), .variable = "BOUMA_TRACE",
     HELP("write a trace of all ranks for Perfetto to FILE; off: no trace, "
          "even if BOUMA_TRACE is set")},
    {COUNT(nodes_per_file, "nodes-per-file", 1 << 20), USE(SAME | STEPS | PLAN),
     HELP("one file for every N nodes, written on one of them; the same as "
          "files node:N")},
    {CHOICE(planning, BOUMA_PLANNING_LIST, "WHO"), USE(SAME | STEPS | PLAN),
     .standard = BOUMA_PLANNING_NODE,
     HELP("who knows the plan of a step; node: each node knows all of it; "
          "local: each rank knows its own part (only with place spread and "
          "first); default: node")},
};
enum { OPTIONS = sizeof(table) / sizeof(table[0]) };
_Static_assert((int)OPTIONS <= (int)BM_OPTIONS_MOST, "BM_OPTIONS_MOST");

const struct bm_option *bm_option_at(int i)
{
    return i >= 0 && i < OPTIONS ? &table[i] : NULL;
}

const struct bm_option *bm_option_find(const char *name)
{
    for (int i = 0; i < OPTIONS; i++)
        if (!strcmp(table[i].about.name, name))
            return &table[i];
    return NULL;
}

/* ---- texts -------------------------------------------------------------- */

/* "64M", "64MiB", "1.5G", "1000": powers of 1024. */
static int parse_bytes(const char *text, uint64_t most, uint64_t *out)
{
    static const char units[] = "KMGTP";
    const char *unit;
    char *end;
    double v = bm_parse_real(text, &end);

    if (end == text || !(v >= 0))
        return 0;
    unit = *end ? strchr(units, *end >= 'a' ? *end - 32 : *end) : NULL;
    if (unit) {
        for (const char *u = units; u <= unit; u++)
            v *= 1024;
        end++;
        if (*end == 'i')
            end++;
    }
    if (*end == 'B')
        end++;
    if (*end || v > 9e18)
        return 0;
    *out = (uint64_t)v;
    return !most || *out <= most;
}

/* The member of a choice's name; 1 if there is one. */
static int parse_choice(const struct bm_choice *c, const char *text, int *out)
{
    for (; c->name; c++)
        if (!strcmp(c->name, text)) {
            *out = c->value;
            return 1;
        }
    return 0;
}

static int parse_integer(const char *text, uint64_t most, int *out)
{
    char *end;
    long v = strtol(text, &end, 10);

    *out = (int)v;
    return end != text && !*end && v >= 0 && (uint64_t)v <= most;
}

static int parse_seconds(const char *text, double *out)
{
    char *end;

    *out = bm_parse_real(text, &end);
    return end != text && !*end && *out >= 0;
}

/* ---- fields ------------------------------------------------------------- */

/* What a field holds. */
union value {
    int number;
    uint64_t bytes;
    double seconds;
    const char *text;
};

/* The bytes of a value that is no text. */
static size_t size_of(const struct bm_option *option)
{
    return option->kind == BM_OPTION_BYTES || option->kind == BM_OPTION_SECONDS
               ? 8
               : sizeof(int);
}

static union value get(const struct bm_option *option,
                       const struct bm_options *opts)
{
    const char *field = (const char *)opts + option->kept;
    union value v = {.bytes = 0};

    if (option->kind == BM_OPTION_TEXT)
        v.text = field;
    else
        memcpy(&v, field, size_of(option));
    return v;
}

static void put(const struct bm_option *option, struct bm_options *opts,
                const union value *v)
{
    char *field = (char *)opts + option->kept;

    if (option->kind == BM_OPTION_TEXT)
        memcpy(field, v->text, strlen(v->text) + 1);
    else
        memcpy(field, v, size_of(option));
}

static union value get_given(const struct bm_option *option,
                             const bouma_options *opts)
{
    const char *field = (const char *)opts + option->given;
    union value v = {.bytes = 0};

    if (option->kind == BM_OPTION_TEXT)
        memcpy(&v.text, field, sizeof(v.text));
    else
        memcpy(&v, field, size_of(option));
    return v;
}

static void put_given(const struct bm_option *option, bouma_options *opts,
                      const union value *v)
{
    char *field = (char *)opts + option->given;

    if (option->kind == BM_OPTION_TEXT)
        memcpy(field, &v->text, sizeof(v->text));
    else
        memcpy(field, v, size_of(option));
}

int bm_option_is_in(const struct bm_option *option, size_t size)
{
    return option->given + (option->kind == BM_OPTION_TEXT
                                ? sizeof(const char *)
                                : size_of(option)) <=
           size;
}

/* A value, and that of the option 'count' if the text has both. */
struct parsed {
    union value v, count;
    const struct bm_option *counted; /* NULL: there is no count */
};

static int parse_plain(const struct bm_option *option, union value *v,
                       const char *text)
{
    switch (option->kind) {
    case BM_OPTION_CHOICE:
    case BM_OPTION_FLAG:
        return parse_choice(option->choices, text, &v->number);
    case BM_OPTION_INTEGER:
        return parse_integer(text, option->most, &v->number);
    case BM_OPTION_BYTES:
        return parse_bytes(text, option->most, &v->bytes);
    case BM_OPTION_SECONDS:
        return parse_seconds(text, &v->seconds);
    case BM_OPTION_TEXT:
        break;
    }
    v->text = text;
    return strlen(text) < BM_PATH_BYTES;
}

/* "group=4" is the choice "group", and sets the option 'count' to 4; "node:4"
 * sets that alone, and "node" sets it to 1. */
static int parse(const struct bm_option *option, struct parsed *out,
                 const char *text)
{
    const size_t n = option->prefix ? strlen(option->prefix) : 0;
    char word[32];

    *out = (struct parsed){.v = {.bytes = 0}};
    if (option->word) { /* of the two, the last one said counts */
        out->counted = bm_option_find(option->count);
        out->count.number = !strcmp(text, option->word);
        if (out->count.number)
            return 1;
    }
    if (!n || strncmp(text, option->prefix, n) != 0)
        return parse_plain(option, &out->v, text);
    out->counted = bm_option_find(option->count);
    snprintf(word, sizeof(word), "%.*s", (int)n - 1, option->prefix);
    return parse_integer(text + n, out->counted->most, &out->count.number) &&
           out->count.number &&
           (option->word || parse_plain(option, &out->v, word));
}

int bm_option_give(const struct bm_option *option, bouma_options *opts,
                   const char *text)
{
    struct parsed p;

    if (!parse(option, &p, text))
        return 0;
    put_given(option, opts, &p.v);
    if (p.counted)
        put_given(p.counted, opts, &p.count);
    return 1;
}

int bm_option_set(const struct bm_option *option, struct bm_options *opts,
                  const char *text)
{
    struct parsed p;

    if (!parse(option, &p, text))
        return 0;
    put(option, opts, &p.v);
    if (p.counted)
        put(p.counted, opts, &p.count);
    return 1;
}

/* ---- values ------------------------------------------------------------- */

static const char *choice_name(const struct bm_choice *c, int value)
{
    while (c->name && c->value != value)
        c++;
    return c->name;
}

/* Whether it can have that value; 'text' is the value. */
static int can_be(const struct bm_option *option, union value v, char *text,
                  size_t bytes)
{
    switch (option->kind) {
    case BM_OPTION_FLAG:
    case BM_OPTION_CHOICE:
        snprintf(text, bytes, "%d", v.number);
        return !v.number || choice_name(option->choices, v.number);
    case BM_OPTION_INTEGER:
        snprintf(text, bytes, "%d", v.number);
        return v.number >= 0 && (uint64_t)v.number <= option->most;
    case BM_OPTION_BYTES:
        snprintf(text, bytes, "%" PRIu64, v.bytes);
        return !option->most || v.bytes <= option->most;
    case BM_OPTION_SECONDS:
        bm_format(text, bytes, "%g", v.seconds);
        return v.seconds >= 0;
    case BM_OPTION_TEXT:
        break;
    }
    snprintf(text, bytes, "too long");
    return memchr(v.text, 0, BM_PATH_BYTES) != NULL;
}

int bm_option_take(const struct bm_option *option, struct bm_options *out,
                   const bouma_options *given, char *text, size_t bytes)
{
    union value v = get_given(option, given);

    if (option->kind == BM_OPTION_TEXT && !v.text)
        v.text = "";
    if (!can_be(option, v, text, bytes))
        return 0;
    put(option, out, &v);
    return 1;
}

static int whole_numbers(const struct bm_option *option, char *text,
                         size_t bytes)
{
    return snprintf(text, bytes, "a whole number from 0 to %" PRIu64,
                    option->most);
}

void bm_option_texts(const struct bm_option *option, char *text, size_t bytes)
{
    size_t n = 0;

    switch (option->kind) {
    case BM_OPTION_CHOICE:
    case BM_OPTION_FLAG:
        for (const struct bm_choice *c = option->choices; c->name && n < bytes;
             c++)
            n += (size_t)snprintf(text + n, bytes - n, "%s%s", n ? ", " : "",
                                  c->name);
        if (option->prefix && n < bytes)
            snprintf(text + n, bytes - n, ", %s1 to %s%" PRIu64, option->prefix,
                     option->prefix, bm_option_find(option->count)->most);
        break;
    case BM_OPTION_INTEGER:
        n = (size_t)whole_numbers(option, text, bytes);
        if (option->word && n < bytes)
            snprintf(text + n, bytes - n, ", %s, or %s1 to %s%" PRIu64,
                     option->word, option->prefix, option->prefix,
                     bm_option_find(option->count)->most);
        break;
    case BM_OPTION_BYTES:
        n = (size_t)snprintf(text, bytes, "bytes, such as 1000, 64K or 1MiB");
        if (option->most && n < bytes)
            snprintf(text + n, bytes - n, ", up to %" PRIu64 "GiB",
                     option->most >> 30);
        break;
    case BM_OPTION_SECONDS:
        snprintf(text, bytes,
                 "seconds, 0 or more (0: %" PRId64 ", inf: for ever)",
                 option->standard);
        break;
    case BM_OPTION_TEXT:
        snprintf(text, bytes, "a text of up to %d bytes", BM_PATH_BYTES - 1);
    }
}

void bm_option_numbers(const struct bm_option *option, char *text, size_t bytes)
{
    if (option->kind == BM_OPTION_FLAG)
        snprintf(text, bytes, "%s",
                 choice_name(option->choices, -1) ? "-1, 0 or 1" : "0 or 1");
    else if (option->kind == BM_OPTION_INTEGER)
        whole_numbers(option, text, bytes);
    else
        bm_option_texts(option, text, bytes);
}

int bm_option_is_set(const struct bm_option *option,
                     const struct bm_options *opts)
{
    union value v = get(option, opts);

    switch (option->kind) {
    case BM_OPTION_TEXT:
        return v.text[0] != 0;
    case BM_OPTION_BYTES:
        return v.bytes != 0;
    case BM_OPTION_SECONDS:
        return v.seconds != 0;
    case BM_OPTION_CHOICE:
    case BM_OPTION_FLAG:
    case BM_OPTION_INTEGER:
        break;
    }
    return v.number != 0;
}

void bm_option_inherit(const struct bm_option *option, struct bm_options *opts,
                       const struct bm_options *from)
{
    union value v = get(option, from);

    if (!bm_option_is_set(option, opts))
        put(option, opts, &v);
}

void bm_option_complete(const struct bm_option *option, struct bm_options *opts)
{
    union value v = {.bytes = 0};
    union value is = get(option, opts);

    if (!option->standard)
        return;
    if (option->kind == BM_OPTION_SECONDS)
        v.seconds = is.seconds > 0 ? is.seconds : (double)option->standard;
    else if (option->kind == BM_OPTION_BYTES)
        v.bytes = is.bytes ? is.bytes : (uint64_t)option->standard;
    else
        v.number = is.number ? is.number : (int)option->standard;
    put(option, opts, &v);
}

uint64_t bm_option_number(const struct bm_option *option,
                          const struct bm_options *opts)
{
    union value v = get(option, opts);
    uint64_t bits;

    switch (option->kind) {
    case BM_OPTION_BYTES:
        return v.bytes;
    case BM_OPTION_SECONDS:
        memcpy(&bits, &v.seconds, sizeof(bits));
        return bits;
    case BM_OPTION_TEXT:
        return bm_hash64(v.text, strlen(v.text), 0);
    case BM_OPTION_CHOICE:
    case BM_OPTION_FLAG:
    case BM_OPTION_INTEGER:
        break;
    }
    return (uint64_t)v.number;
}

const char *bm_option_written(const struct bm_option *option, uint64_t number,
                              char *text, size_t bytes)
{
    const char *name = NULL;
    double seconds;

    switch (option->kind) {
    case BM_OPTION_CHOICE:
        name =
            number ? choice_name(option->choices, (int)number) : "the default";
        snprintf(text, bytes, "%d", (int)number);
        break;
    case BM_OPTION_TEXT:
        name = "a text"; /* that the number does not tell */
        break;
    case BM_OPTION_SECONDS:
        memcpy(&seconds, &number, sizeof(seconds));
        bm_format(text, bytes, "%g", seconds);
        break;
    case BM_OPTION_FLAG:
    case BM_OPTION_INTEGER:
        snprintf(text, bytes, "%d", (int)number);
        break;
    case BM_OPTION_BYTES:
        snprintf(text, bytes, "%" PRIu64, number);
    }
    return name ? name : text;
}

int bm_option_text(const struct bm_option *option,
                   const struct bm_options *opts, char *text, size_t bytes)
{
    union value v = get(option, opts);
    const struct bm_option *count =
        option->word ? bm_option_find(option->count) : NULL;
    char number[32];

    if (count && bm_option_is_set(count, opts))
        return snprintf(text, bytes, "%s%d", option->prefix,
                        get(count, opts).number);
    if (!bm_option_is_set(option, opts))
        return snprintf(text, bytes, "%s", "");
    if (option->kind == BM_OPTION_TEXT)
        return snprintf(text, bytes, "%s", v.text);
    if (option->kind == BM_OPTION_FLAG)
        return snprintf(text, bytes, "%s", v.number > 0 ? "yes" : "no");
    return snprintf(text, bytes, "%s",
                    bm_option_written(option, bm_option_number(option, opts),
                                      number, sizeof(number)));
}
