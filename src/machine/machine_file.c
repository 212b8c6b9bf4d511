/* machine_file.c -- reading the text of a machine; docs/machine.md has it all.
 *
 * A line is a word that says what it is about, a name or two, and then pairs of
 * a key and a value. Both are looked up in tables. */
#include "machine/machine_file.h"

#include <limits.h>
#include <stddef.h>
#include <string.h>

#include "machine/node_list.h"
#include "machine/quantity.h"
#include "machine/tokenizer.h"

struct reading {
    struct bm_description *d;
    struct bm_tokenizer lines;
    struct bm_error *error;
    struct bm_node_list list;

    /* What the line is about. */
    int position, target; /* of its nodes */
    struct bm_tier *tier;
};

static int wrong(struct reading *r, struct bm_word word, const char *what)
{
    return bm_tokenizer_wrong(&r->lines, word, what, r->error);
}

/* A node of a 'node' line; those of a list are at the positions that follow. */
static int set_node(void *context, int i)
{
    struct reading *r = context;
    struct bm_described_node *node = &r->d->nodes[i];

    if (r->position >= 0) {
        if (node->at >= 0 && node->at != r->position)
            return bm_fail(r->error, BOUMA_EINVAL,
                           "line %d: node %s is at another place already",
                           r->lines.line,
                           bm_name_table_name(&r->d->node_names, i));
        node->at = r->position++;
    }
    node->target = r->target >= 0 ? r->target : node->target;
    return BOUMA_OK;
}

/* ---- values ------------------------------------------------------------- */

static int value_seconds(struct reading *r, struct bm_word word, void *to)
{
    return bm_seconds_parse(to, word.text, word.bytes)
               ? BOUMA_OK
               : wrong(r, word, "must be a time such as 1.5us, 100ns or 2ms");
}

static int value_speed(struct reading *r, struct bm_word word, void *to)
{
    return bm_speed_parse(to, word.text, word.bytes)
               ? BOUMA_OK
               : wrong(r, word, "must be a speed such as 12.5GB/s");
}

static int value_size(struct reading *r, struct bm_word word, void *to)
{
    return bm_size_parse(to, word.text, word.bytes)
               ? BOUMA_OK
               : wrong(r, word, "must be a size such as 4M or 192G");
}

static int value_nodes(struct reading *r, struct bm_word word, void *to)
{
    (void)to;
    return bm_node_list_nodes(&r->list, word);
}

static int value_switches(struct reading *r, struct bm_word word, void *to)
{
    (void)to;
    return bm_node_list_switches(&r->list, word);
}

/* The number of a switch; a line for it may still come. */
static int value_switch(struct reading *r, struct bm_word word, void *to)
{
    return bm_node_list_switch(&r->list, word, to);
}

/* A whole number from 'least' on; -1: it is none. */
static int whole(struct bm_word word, int least)
{
    uint64_t v;

    for (size_t i = 0; i < word.bytes; i++)
        if (word.text[i] < '0' || word.text[i] > '9')
            return -1;
    if (!bm_size_parse(&v, word.text, word.bytes) || v > INT_MAX)
        return -1;
    return (int)v < least ? -1 : (int)v;
}

static int value_hops(struct reading *r, struct bm_word word, void *to)
{
    (void)to;
    r->target = whole(word, 0);
    return r->target < 0 ? wrong(r, word, "must be a whole number of links")
                         : BOUMA_OK;
}

/* "0,3,1": a coordinate for each number of the model. */
static int value_at(struct reading *r, struct bm_word word, void *to)
{
    const struct bm_model *model = &r->d->model;
    struct bm_error error = {0};
    struct bm_topology t = {0};
    int position = 0, axis = 0;
    size_t start = 0;

    (void)to;
    if (!model->axes)
        return wrong(r, word,
                     "there are places in a torus, dragonfly or fattree; a "
                     "line 'network' before this one must tell which");
    bm_topology_shape(&t, model, &error); /* was right there */
    for (; start <= word.bytes && axis < t.axes; axis++) {
        const char *comma = memchr(word.text + start, ',', word.bytes - start);
        size_t end = comma ? (size_t)(comma - word.text) : word.bytes;
        int v =
            end == start
                ? -1
                : whole((struct bm_word){word.text + start, end - start}, 0);

        if (v < 0 || v >= t.extent[axis])
            return wrong(r, word, "a coordinate is outside of the network");
        position += v * t.stride[axis];
        start = end + 1;
    }
    if (axis != t.axes || start <= word.bytes)
        return wrong(r, word, "must have as many coordinates as the network");
    r->position = position;
    return BOUMA_OK;
}

static int value_keeps(struct reading *r, struct bm_word word, void *to)
{
    static const char *const names[] = {"nothing", "job", "always"};

    (void)to;
    for (int i = 0; i < 3; i++)
        if (bm_word_is(word, names[i])) {
            r->tier->persistence = (enum bm_persistence)i;
            return BOUMA_OK;
        }
    return wrong(r, word, "must be nothing, job or always");
}

static int value_path(struct reading *r, struct bm_word word, void *to)
{
    (void)to;
    if (r->tier->kind != BOUMA_TIER_LOCAL)
        return wrong(r, word, "only the tier local has a path");
    if (word.bytes >= sizeof(r->d->local) || !word.bytes ||
        memchr(word.text, '"', word.bytes))
        return wrong(r, word, "a path has 1 to 255 bytes, and no '\"'");
    memset(r->d->local, 0, sizeof(r->d->local));
    memcpy(r->d->local, word.text, word.bytes);
    return BOUMA_OK;
}

static int value_term(struct reading *r, struct bm_word word, void *to)
{
    (void)to;
    for (int i = 0; i < BM_COST_TERMS; i++)
        if (bm_word_is(word, bm_cost_term_name(i))) {
            r->d->without |= 1u << i;
            return BOUMA_OK;
        }
    return wrong(r, word, "must be gather, store, links or wait");
}

/* ---- keys --------------------------------------------------------------- */

struct key {
    const char *name;
    int (*value)(struct reading *r, struct bm_word word, void *to);
    size_t offset; /* of what the value is for */
};

#define IN(field) offsetof(struct bm_description, field)
static const struct key network_keys[] = {
    {"latency", value_seconds, IN(latency)},
    {"bandwidth", value_speed, IN(bandwidth)},
    {NULL, NULL, 0}};
static const struct key target_keys[] = {
    {"latency", value_seconds, IN(target_latency)},
    {"bandwidth", value_speed, IN(target_bandwidth)},
    {"stripe", value_size, IN(stripe)},
    {"switch", value_switch, IN(target_switch)},
    {NULL, NULL, 0}};
static const struct key switch_keys[] = {{"nodes", value_nodes, 0},
                                         {"switches", value_switches, 0},
                                         {NULL, NULL, 0}};
static const struct key node_keys[] = {
    {"at", value_at, 0}, {"target", value_hops, 0}, {NULL, NULL, 0}};
static const struct key tier_keys[] = {
    {"latency", value_seconds, offsetof(struct bm_tier, latency)},
    {"bandwidth", value_speed, offsetof(struct bm_tier, bandwidth)},
    {"capacity", value_size, offsetof(struct bm_tier, capacity)},
    {"keeps", value_keeps, 0},
    {"path", value_path, 0},
    {NULL, NULL, 0}};
static const struct key codec_keys[] = {
    {"encode", value_speed, offsetof(struct bm_codec_rates, encode)},
    {"decode", value_speed, offsetof(struct bm_codec_rates, decode)},
    {"encode_list", value_speed, offsetof(struct bm_codec_rates, encode_list)},
    {"decode_list", value_speed, offsetof(struct bm_codec_rates, decode_list)},
    {NULL, NULL, 0}};
static const struct key work_keys[] = {{"rate", value_speed, 0},
                                       {NULL, NULL, 0}};
static const struct key cost_keys[] = {{"without", value_term, 0},
                                       {NULL, NULL, 0}};
static const struct key no_keys[] = {{NULL, NULL, 0}};
#undef IN

static const struct key *find_key(const struct key *keys, struct bm_word word)
{
    while (keys->name && !bm_word_is(word, keys->name))
        keys++;
    return keys->name ? keys : NULL;
}

/* Pairs of keys and values from word 'first' on. */
static int read_pairs(struct reading *r, const struct key *keys, int first,
                      void *base)
{
    const struct bm_tokenizer *l = &r->lines;
    int rc = BOUMA_OK;

    for (int i = first; !rc && i < l->count; i += 2) {
        const struct key *key = find_key(keys, l->words[i]);

        if (!key)
            rc = wrong(r, l->words[i], "is no key of such a line");
        else if (i + 1 == l->count)
            rc = wrong(r, l->words[i], "a value must follow");
        else
            rc = key->value(r, l->words[i + 1], (char *)base + key->offset);
    }
    return rc;
}

/* ---- lines -------------------------------------------------------------- */

static int line_network(struct reading *r)
{
    struct bm_word word = r->lines.words[1];
    struct bm_error error = {0};
    struct bm_topology shape;
    int rc;

    if (find_key(network_keys, word))
        return read_pairs(r, network_keys, 1, r->d);
    if (r->d->model.kind)
        return wrong(r, word, "the file has told of a network already");
    rc = bm_model_parse(&r->d->model, word.text, word.bytes, &error);
    if (!rc)
        rc = bm_topology_shape(&shape, &r->d->model, &error);
    if (rc)
        return bm_fail(r->error, rc, "line %d: %s", r->lines.line, error.text);
    return read_pairs(r, network_keys, 2, r->d);
}

static int line_switch(struct reading *r)
{
    int rc = bm_node_list_switch(&r->list, r->lines.words[1], &r->list.parent);

    if (rc)
        return rc;
    r->d->switches[r->list.parent].filled = 1;
    return read_pairs(r, switch_keys, 2, r->d);
}

static int line_node(struct reading *r)
{
    int rc;

    r->position = r->target = -1;
    rc = read_pairs(r, node_keys, 2, r->d);
    return rc ? rc
              : bm_node_list_each_node(&r->list, r->lines.words[1], set_node,
                                       r);
}

static int line_tier(struct reading *r)
{
    struct bm_word word = r->lines.words[1];

    for (int i = 0; i < BM_TIERS; i++)
        if (bm_word_is(word, bouma_tier_name((bouma_tier)(i + 1)))) {
            r->tier = &r->d->tiers[i];
            if (!r->tier->kind)
                *r->tier = (struct bm_tier){
                    .kind = (bouma_tier)(i + 1),
                    .persistence =
                        i + 1 == BOUMA_TIER_LOCAL ? BM_KEEPS_FOR_JOB : 0};
            return read_pairs(r, tier_keys, 2, r->tier);
        }
    return wrong(r, word, "the tiers are dram, hbm and local");
}

static int line_target(struct reading *r)
{
    return read_pairs(r, target_keys, 1, r->d);
}

static int line_transport(struct reading *r)
{
    struct bm_word word = r->lines.words[1];

    for (int i = 1; i <= 2; i++)
        if (bm_word_is(word, bouma_transport_name((bouma_transport)i))) {
            r->d->transport = (bouma_transport)i;
            return read_pairs(r, no_keys, 2, r->d);
        }
    return wrong(r, word, "must be messages or windows");
}

static int line_codec(struct reading *r)
{
    struct bm_word word = r->lines.words[1];

    for (int i = 1; i < BM_RATED_CODECS; i++) {
        const char *name = bouma_codec_name((bouma_codec)i);

        if (name && bm_word_is(word, name)) /* not all numbers have one */
            return read_pairs(r, codec_keys, 2, &r->d->rates.codecs[i]);
    }
    return wrong(r, word, "is no codec");
}

static int line_work(struct reading *r)
{
    struct bm_word word = r->lines.words[1];

    for (int i = 0; i < BM_WORKS; i++)
        if (bm_word_is(word, bm_work_name(i)))
            return read_pairs(r, work_keys, 2, &r->d->rates.work[i]);
    return wrong(r, word, "is no kind of work");
}

static int line_cost(struct reading *r)
{
    return read_pairs(r, cost_keys, 1, r->d);
}

static const struct {
    const char *name;
    int (*read)(struct reading *r);
} lines[] = {{"network", line_network}, {"switch", line_switch},
             {"node", line_node},       {"tier", line_tier},
             {"target", line_target},   {"transport", line_transport},
             {"codec", line_codec},     {"work", line_work},
             {"cost", line_cost}};

static int read_line(struct reading *r)
{
    struct bm_word word = r->lines.words[0];

    r->list.line = r->lines.line;
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        if (bm_word_is(word, lines[i].name))
            return r->lines.count > 1 ? lines[i].read(r)
                                      : wrong(r, word, "more must follow");
    return wrong(r, word,
                 "a line is about network, switch, node, tier, target, "
                 "transport, codec, work or cost");
}

/* ---- the whole ---------------------------------------------------------- */

/* Every switch that is named has a line of its own. */
static int check_switches(const struct bm_description *d,
                          struct bm_error *error)
{
    const struct bm_topology_kind *kind = d->model.kind;

    for (int i = 0; i < d->switch_names.count; i++)
        if (!d->switches[i].filled)
            return bm_fail(error, BOUMA_EINVAL,
                           "line %d: no line tells what is below switch %s",
                           d->switches[i].line,
                           bm_name_table_name(&d->switch_names, i));
        else if (kind && kind != &bm_topology_tree)
            return bm_fail(error, BOUMA_EINVAL,
                           "line %d: switch %s: a %s has its own switches; "
                           "'network tree' is of those that are named",
                           d->switches[i].line,
                           bm_name_table_name(&d->switch_names, i), kind->name);
    return BOUMA_OK;
}

/* No two nodes have the same position in the model. */
static int check_positions(const struct bm_description *d,
                           struct bm_error *error)
{
    struct bm_topology t;
    int rc = bm_topology_shape(&t, &d->model, error);
    int *taken;

    if (rc || !t.axes)
        return rc;
    taken = bm_new(d->a, (size_t)t.nodes, sizeof(*taken));
    if (!taken)
        return bm_fail(error, BOUMA_ENOMEM, "no memory for %d nodes", t.nodes);
    for (int i = 0; !rc && i < d->node_names.count; i++) {
        int at = d->nodes[i].at;

        if (at >= t.nodes)
            rc = bm_fail(error, BOUMA_EINVAL,
                         "line %d: node %s is behind the last place of the "
                         "network",
                         d->nodes[i].line,
                         bm_name_table_name(&d->node_names, i));
        else if (at >= 0 && taken[at])
            rc =
                bm_fail(error, BOUMA_EINVAL,
                        "line %d: node %s is where another one is, %s",
                        d->nodes[i].line, bm_name_table_name(&d->node_names, i),
                        bm_name_table_name(&d->node_names, taken[at] - 1));
        else if (at >= 0)
            taken[at] = i + 1;
    }
    bm_drop(d->a, taken);
    return rc;
}

static int check_whole(const struct bm_description *d, struct bm_error *error)
{
    int rc = check_switches(d, error);

    return rc || !d->model.axes || !d->node_names.count
               ? rc
               : check_positions(d, error);
}

/* "machine 1" comes first. */
static int read_version(struct reading *r)
{
    struct bm_word nothing = {"", 0};
    int rc = bm_tokenizer_next(&r->lines, r->error);

    if (rc < 0)
        return rc;
    if (!rc || r->lines.count != 2 || !bm_word_is(r->lines.words[0], "machine"))
        return wrong(r, rc ? r->lines.words[0] : nothing,
                     "the first line of a machine file is 'machine 1'");
    if (!bm_word_is(r->lines.words[1], "1"))
        return wrong(r, r->lines.words[1],
                     "this version of the library reads 'machine 1'");
    return BOUMA_OK;
}

int bm_machine_file_parse(struct bm_description *d, const char *text,
                          size_t bytes, struct bm_error *error)
{
    struct reading r = {.d = d,
                        .lines = {.text = text, .bytes = bytes},
                        .error = error,
                        .list = {.d = d, .error = error}};
    int rc = read_version(&r);

    while (!rc) {
        int more = bm_tokenizer_next(&r.lines, error);

        if (more <= 0) {
            rc = more;
            break;
        }
        rc = read_line(&r);
    }
    return rc ? rc : check_whole(d, error);
}
