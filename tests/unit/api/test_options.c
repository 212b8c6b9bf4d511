/* Options: by name, from the environment, and from callers of other versions.
 */
#include "api/api.h"
#include "check.h"
#include "fault_alloc.h"

static char message[BM_ERROR_BYTES];

static int set(bouma_options *o, const char *name, const char *value)
{
    message[0] = 0;
    return bouma_options_set(o, name, value, message, sizeof(message));
}

static bouma_options fresh(void)
{
    bouma_options o;

    memset(&o, 0xee, sizeof(o));
    o = (bouma_options){.size = sizeof(o)};
    return o;
}

/* ---- by name ------------------------------------------------------------ */

static void every_choice_is_set_by_its_name(void)
{
    static const struct {
        const char *name, *value;
        size_t offset;
        int expected;
    } cases[] = {
#define CASE(field, value, expected)                                           \
    {#field, value, offsetof(bouma_options, field), expected}
        CASE(durability, "durable", BOUMA_DURABILITY_DURABLE),
        CASE(durability, "fast", BOUMA_DURABILITY_FAST),
        CASE(durability, "group", BOUMA_DURABILITY_GROUP),
        CASE(replace, "1", 1),
        CASE(replace, "yes", 1),
        CASE(replace, "0", 0),
        CASE(replace, "no", 0),
        CASE(force, "yes", 1),
        CASE(files, "16", 16),
        CASE(files, "0", 0),
        CASE(distribute, "balanced", BOUMA_DISTRIBUTE_BALANCED),
        CASE(distribute, "greedy", BOUMA_DISTRIBUTE_GREEDY),
        CASE(distribute, "none", BOUMA_DISTRIBUTE_NONE),
        CASE(distribute, "weighted", BOUMA_DISTRIBUTE_WEIGHTED),
        CASE(assign, "optimal", BOUMA_ASSIGN_OPTIMAL),
        CASE(assign, "running", BOUMA_ASSIGN_RUNNING),
        CASE(assign, "count", BOUMA_ASSIGN_COUNT),
        CASE(assign, "per-rank", BOUMA_ASSIGN_PER_RANK),
        CASE(assign, "single", BOUMA_ASSIGN_SINGLE),
        CASE(assign, "per-node", BOUMA_ASSIGN_PER_NODE),
        CASE(nodes_per_file, "4", 4),
        CASE(place, "spread", BOUMA_PLACE_SPREAD),
        CASE(place, "first", BOUMA_PLACE_FIRST),
        CASE(place, "cost", BOUMA_PLACE_COST),
        CASE(place, "local", BOUMA_PLACE_LOCAL),
        CASE(tier, "dram", BOUMA_TIER_DRAM),
        CASE(tier, "hbm", BOUMA_TIER_HBM),
        CASE(tier, "local", BOUMA_TIER_LOCAL),
        CASE(persist, "yes", 1),
        CASE(buffers, "3", 3),
        CASE(transport, "messages", BOUMA_TRANSPORT_MESSAGES),
        CASE(transport, "windows", BOUMA_TRANSPORT_WINDOWS),
        CASE(async, "1", 1),
        CASE(predict, "off", BOUMA_PREDICT_OFF),
        CASE(predict, "on", BOUMA_PREDICT_ON),
        CASE(planning, "node", BOUMA_PLANNING_NODE),
        CASE(planning, "local", BOUMA_PLANNING_LOCAL),
        CASE(order, "level", BOUMA_ORDER_LEVEL),
        CASE(order, "chunk", BOUMA_ORDER_CHUNK),
#undef CASE
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        bouma_options o = fresh(), none = fresh();
        int got;

        CHECK_EQ(set(&o, cases[i].name, cases[i].value), BOUMA_OK);
        memcpy(&got, (char *)&o + cases[i].offset, sizeof(got));
        CHECK_EQ(got, cases[i].expected);
        /* And nothing but that. */
        memset((char *)&o + cases[i].offset, 0, sizeof(got));
        CHECK(!memcmp(&o, &none, sizeof(o)));
    }
}

static void every_choice_has_a_name(void)
{
#define NAMED(kind, count, without)                                            \
    for (int i = -1; i < 10; i++) {                                            \
        const char *name = bouma_##kind##_name((bouma_##kind)i);               \
        bouma_options o = fresh();                                             \
                                                                               \
        CHECK_EQ(name != NULL, i > 0 && i <= count && i != without);           \
        if (name)                                                              \
            CHECK_EQ(bouma_##kind##_parse(name), i);                           \
        if (name && strcmp(#kind, "codec"))                                    \
            CHECK_EQ(set(&o, #kind, name), BOUMA_OK);                          \
    }                                                                          \
    CHECK_EQ(bouma_##kind##_parse("best"), 0);                                 \
    CHECK_EQ(bouma_##kind##_parse(""), 0);                                     \
    CHECK_EQ(bouma_##kind##_parse(NULL), 0)
    NAMED(durability, 3, 0);
    NAMED(distribute, 4, 0);
    NAMED(assign, 9, 0);
    NAMED(place, 4, 0);
    NAMED(order, 2, 0);
    NAMED(codec, 7, 5);
    NAMED(tier, 3, 0);
    NAMED(transport, 2, 0);
    NAMED(predict, 2, 0);
    NAMED(planning, 2, 0);
#undef NAMED
    CHECK(!strcmp(bouma_codec_name(BOUMA_CODEC_RAW), "raw"));
    CHECK(!strcmp(bouma_assign_name(BOUMA_ASSIGN_PER_RANK), "per-rank"));
    CHECK_EQ(bouma_durability_parse("group"), BOUMA_DURABILITY_GROUP);
}

static void codecs_tell_what_they_are_like(void)
{
    static const struct {
        bouma_codec codec;
        bouma_codec_info about;
    } cases[] = {
        {BOUMA_CODEC_ZSTD, {sizeof(bouma_codec_info), 1, 1, 0, 1, 0}},
        {BOUMA_CODEC_RAW, {sizeof(bouma_codec_info), 1, 1, 0, 0, 0}},
        {BOUMA_CODEC_INTERP, {sizeof(bouma_codec_info), 1, 0, 1, 0, 0}},
        {BOUMA_CODEC_WAVELET, {sizeof(bouma_codec_info), 1, 0, 1, 0, 1}},
        {BOUMA_CODEC_EXACT, {sizeof(bouma_codec_info), 1, 1, 0, 0, 0}},
        {BOUMA_CODEC_QUANTISE, {sizeof(bouma_codec_info), 0, 1, 1, 0, 0}}};
    static const int none[] = {-1, 0, 5, 8, 1000};
    static const bouma_codec_info nothing = {.size = sizeof(nothing)};
    bouma_codec_info about = {.size = sizeof(about)};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        CHECK_EQ(bouma_codec_info_get(&about, cases[i].codec), BOUMA_OK);
        CHECK(!memcmp(&about, &cases[i].about, sizeof(about)));
    }
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
        CHECK_EQ(bouma_codec_info_get(&about, (bouma_codec)none[i]),
                 BOUMA_EINVAL);
        CHECK(!memcmp(&about, &nothing, sizeof(about)));
    }
    CHECK_EQ(bouma_codec_info_get(NULL, BOUMA_CODEC_RAW), BOUMA_EINVAL);
}

static void a_grid_chooses_its_codec_by_the_tolerance(void)
{
    bouma_variable_spec spec = {.size = sizeof(spec), .type = BOUMA_TYPE_F32};

    CHECK_EQ(bouma_grid_codec(&spec), BOUMA_CODEC_ZSTD);
    spec.tolerance = 0.5;
    CHECK_EQ(bouma_grid_codec(&spec), BOUMA_CODEC_INTERP);
    spec.codec = BOUMA_CODEC_WAVELET;
    CHECK_EQ(bouma_grid_codec(&spec), BOUMA_CODEC_WAVELET);
    CHECK_EQ(bouma_grid_codec(NULL), 0);
}

static void some_ways_to_assign_are_for_particles(void)
{
    for (int i = -1; i < 12; i++)
        CHECK_EQ(bouma_assign_is_for_grids((bouma_assign)i),
                 (i >= BOUMA_ASSIGN_OPTIMAL && i <= BOUMA_ASSIGN_SINGLE) ||
                     i == BOUMA_ASSIGN_PER_NODE);
}

static void sizes_have_units(void)
{
    static const struct {
        const char *text;
        uint64_t bytes;
    } cases[] = {{"0", 0},
                 {"1000", 1000},
                 {"7B", 7},
                 {"1K", 1024},
                 {"1k", 1024},
                 {"1KiB", 1024},
                 {"1KB", 1024},
                 {"64MiB", (uint64_t)64 << 20},
                 {"1.5G", (uint64_t)3 << 29},
                 {"2T", (uint64_t)2 << 40},
                 {"1P", (uint64_t)1 << 50}};
    static const char *const fields[] = {"file_size", "message_bytes",
                                         "buffer_bytes", "memory_limit"};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        for (int f = 0; f < 4; f++) {
            bouma_options o = fresh();
            uint64_t *to[4] = {&o.file_size, &o.message_bytes, &o.buffer_bytes,
                               &o.memory_limit};

            /* A message has at most 1 GiB. */
            if (f == 1 && cases[i].bytes > 1 << 30) {
                CHECK_EQ(set(&o, fields[f], cases[i].text), BOUMA_EINVAL);
                CHECK_TEXT(message, "up to 1GiB");
                continue;
            }
            CHECK_EQ(set(&o, fields[f], cases[i].text), BOUMA_OK);
            CHECK_EQ(*to[f], cases[i].bytes);
        }
}

static void wrong_values_are_told(void)
{
    static const char *const sizes[] = {"",    "x",    "-1",    "1X",
                                        "1 K", "1KK",  "1KiBs", "nan",
                                        "inf", "1e30", "99999P"};
    bouma_options o = fresh(), none = fresh();

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        CHECK_EQ(set(&o, "file_size", sizes[i]), BOUMA_EINVAL);
        CHECK_TEXT(message, "file_size");
        CHECK_EQ(set(&o, "files", sizes[i]), BOUMA_EINVAL);
        CHECK_TEXT(message, "files");
        CHECK_TEXT(message, sizes[i]);
        CHECK_TEXT(message, "0 to 1048576");
    }
    CHECK_EQ(set(&o, "files", "2000000"), BOUMA_EINVAL);
    CHECK_EQ(set(&o, "files", "1K"), BOUMA_EINVAL); /* a number, not a size */
    CHECK_EQ(set(&o, "files", "1.5"), BOUMA_EINVAL);
    CHECK_EQ(set(&o, "timeout", "-1"), BOUMA_EINVAL);
    CHECK_EQ(set(&o, "timeout", "soon"), BOUMA_EINVAL);
    CHECK_EQ(set(&o, "timeout", ""), BOUMA_EINVAL);
    CHECK_EQ(set(&o, "timeout", "nan"), BOUMA_EINVAL);
    CHECK_EQ(set(&o, "assign", "best"), BOUMA_EINVAL);
    CHECK_TEXT(message, "\"best\"");
    CHECK_TEXT(message, "optimal, running, count, per-rank, single");
    CHECK_EQ(set(&o, "replace", "maybe"), BOUMA_EINVAL);
    CHECK_EQ(set(&o, "durability", "group="), BOUMA_EINVAL);
    CHECK_EQ(set(&o, "durability", "group=0"), BOUMA_EINVAL);
    CHECK_EQ(set(&o, "durability", "group=1001"), BOUMA_EINVAL);
    CHECK_EQ(set(&o, "durability", "group=4x"), BOUMA_EINVAL);
    CHECK_EQ(set(&o, "colour", "red"), BOUMA_EINVAL);
    CHECK_TEXT(message, "\"colour\"");
    for (int i = 0; bouma_options_info(i); i++)
        CHECK_TEXT(message, bouma_options_info(i)->name);
    CHECK(!memcmp(&o, &none, sizeof(o))); /* nothing was set by all this */
}

static void a_group_can_have_its_number(void)
{
    bouma_options o = fresh();

    CHECK_EQ(set(&o, "durability", "group=4"), BOUMA_OK);
    CHECK(o.durability == BOUMA_DURABILITY_GROUP && o.group == 4);
    CHECK_EQ(set(&o, "timeout", "2.5"), BOUMA_OK);
    CHECK(o.timeout == 2.5);
}

static void a_message_is_not_needed_and_never_runs_over(void)
{
    bouma_options o = fresh();

    CHECK_EQ(bouma_options_set(&o, "colour", "red", NULL, 0), BOUMA_EINVAL);
    CHECK_EQ(bouma_options_set(&o, "assign", "red", NULL, 100), BOUMA_EINVAL);
    for (size_t n = 1; n < 300; n += 13) {
        char *text = malloc(n);

        REQUIRE(text);
        memset(text, '#', n);
        CHECK_EQ(bouma_options_set(&o, "colour", "red", text, n), BOUMA_EINVAL);
        CHECK(memchr(text, 0, n) != NULL);
        memset(text, '#', n);
        CHECK_EQ(bouma_options_set(&o, "assign", "red", text, n), BOUMA_EINVAL);
        CHECK(memchr(text, 0, n) != NULL);
        free(text);
    }
}

static void fields_are_listed(void)
{
    int n = 0;

    while (bouma_options_info(n))
        n++;
    CHECK_EQ(n, 30);
    CHECK(!bouma_options_info(-1));
    CHECK(!bouma_options_info(1000));
}

/* What programs offer to their users is all in the table. */
static void options_describe_themselves(void)
{
    const bouma_option_info *about;

    for (int i = 0; (about = bouma_options_info(i)); i++) {
        size_t n = strlen(about->name);

        CHECK_EQ(strlen(about->flag), n);
        for (size_t c = 0; c < n; c++)
            CHECK_EQ(about->flag[c],
                     about->name[c] == '_' ? '-' : about->name[c]);
        CHECK(about->help[0] && about->help[strlen(about->help) - 1] != '.');
        CHECK(!about->choices || about->argument);
        CHECK(about->use < 8);
        for (int k = 0; k < i; k++)
            CHECK(strcmp(bouma_options_info(k)->name, about->name));
    }
}

/* Ranks may differ in what concerns them alone. */
static void few_options_may_differ_among_ranks(void)
{
    static const char own[] = "memory_limit timeout threads local writers "
                              "check ";
    char differ[200] = "";
    const bouma_option_info *about;

    for (int i = 0; (about = bouma_options_info(i)); i++)
        if (!(about->use & BOUMA_OPTION_USE_SAME))
            snprintf(differ + strlen(differ), sizeof(differ) - strlen(differ),
                     "%s ", about->name);
    CHECK(!strcmp(differ, own));
}

/* Each word that an option offers is one that it takes. */
static void offered_words_are_taken(void)
{
    const bouma_option_info *about;
    char word[32];
    int words = 0;

    for (int i = 0; (about = bouma_options_info(i)); i++) {
        const char *at = about->choices;

        while (at && *at) {
            size_t n = strcspn(at, "|");
            bouma_options o = fresh();

            snprintf(word, sizeof(word), "%.*s", (int)n, at);
            CHECK_EQ(set(&o, about->name, word), BOUMA_OK);
            at += n + (at[n] == '|');
            words++;
        }
    }
    CHECK_EQ(words, 3 + 4 + 9 + 4 + 2 + 3 + 2 + 2 + 2);
}

/* ---- completing --------------------------------------------------------- */

static int complete(struct bm_options *out, const bouma_options *given)
{
    struct bm_error error = {0};
    int rc = bm_options_complete(out, given, &error);

    snprintf(message, sizeof(message), "%s", error.text);
    CHECK_EQ(error.status, rc);
    return rc;
}

static void what_is_left_open_is_chosen(void)
{
    struct bm_options out;
    bouma_options given = fresh();

    CHECK_EQ(complete(&out, NULL), BOUMA_OK);
    CHECK(out.io == bouma_io_posix() &&
          out.durability == BOUMA_DURABILITY_DURABLE);
    CHECK(out.group == 8 && out.distribute == BOUMA_DISTRIBUTE_BALANCED);
    CHECK(!out.assign && out.order == BOUMA_ORDER_LEVEL);
    CHECK(out.place == BOUMA_PLACE_SPREAD && out.files == 0);
    CHECK_EQ(out.message_bytes, (uint64_t)1 << 30);
    CHECK_EQ(out.buffer_bytes, 0);
    CHECK_EQ(out.buffers, 2);
    CHECK_EQ(out.memory_limit, (uint64_t)16 << 30);
    given.assign = BOUMA_ASSIGN_COUNT;
    given.buffer_bytes = 77;
    CHECK_EQ(complete(&out, &given), BOUMA_OK);
    CHECK(out.assign == BOUMA_ASSIGN_COUNT && out.buffer_bytes == 77);
}

static void wrong_fields_are_refused(void)
{
    struct bm_options out;
    bouma_options o;

#define WRONG(field, value, can)                                               \
    o = fresh();                                                               \
    o.field = value;                                                           \
    CHECK_EQ(complete(&out, &o), BOUMA_EINVAL);                                \
    CHECK_TEXT(message, "option '" #field "' is ");                            \
    CHECK_TEXT(message, can)
    WRONG(durability, (bouma_durability)4, "durable, fast, group");
    WRONG(durability, (bouma_durability)-1, "durable, fast, group");
    WRONG(group, -1, "0 to 1000");
    WRONG(group, 1001, "0 to 1000");
    WRONG(files, -1, "0 to 1048576");
    WRONG(files, (1 << 20) + 1, "0 to 1048576");
    WRONG(nodes_per_file, -1, "0 to 1048576");
    WRONG(distribute, (bouma_distribute)5, "balanced, greedy, none, weighted");
    WRONG(assign, (bouma_assign)10, "per-rank");
    WRONG(place, (bouma_place)5, "spread, first, cost, local");
    WRONG(order, (bouma_order)3, "level, chunk");
    WRONG(message_bytes, ((uint64_t)1 << 30) + 1, "1GiB");
    WRONG(timeout, -1, "or more");
    WRONG(timeout, 0.0 / 0.0, "or more");
    CHECK_TEXT(message, "nan;");
    WRONG(check, 7, "7; it can be -1, 0 or 1");
    WRONG(check, -2, "-1, 0 or 1");
    WRONG(replace, 2, "it can be 0 or 1");
    WRONG(replace, -1, "0 or 1");
    WRONG(force, 2, "0 or 1");
    WRONG(best_axis, 2, "0 or 1");
    WRONG(persist, 2, "0 or 1");
    WRONG(async, 2, "0 or 1");
    WRONG(clobber, 2, "0 or 1");
#undef WRONG
}

/* "node" and "node:K" are numbers of another field; of the two, what is said
 * last counts. */
static void files_can_be_by_node(void)
{
    bouma_options o = fresh();
    char text[32];

    CHECK_EQ(set(&o, "files", "node"), BOUMA_OK);
    CHECK(o.files == 0 && o.nodes_per_file == 1);
    CHECK_EQ(set(&o, "files", "node:12"), BOUMA_OK);
    CHECK(o.files == 0 && o.nodes_per_file == 12);
    CHECK_EQ(bouma_options_get(text, sizeof(text), &o, "files", NULL, 0),
             BOUMA_OK);
    CHECK(!strcmp(text, "node:12"));
    CHECK_EQ(set(&o, "files", "3"), BOUMA_OK);
    CHECK(o.files == 3 && o.nodes_per_file == 0);
    for (int i = 0; i < 5; i++) {
        static const char *const wrong[] = {"node:", "node:0", "node:x",
                                            "nodes", "node:1048577"};

        CHECK_EQ(set(&o, "files", wrong[i]), BOUMA_EINVAL);
        CHECK_TEXT(message, "node, or node:1 to node:1048576");
        CHECK(o.files == 3 && o.nodes_per_file == 0);
    }
}

/* Two ways to say it; and what says something else is refused. */
static void files_by_node_exclude_other_ways(void)
{
    struct bm_options out;
    bouma_options o = fresh();

    o.nodes_per_file = 3;
    CHECK_EQ(complete(&out, &o), BOUMA_OK);
    CHECK(out.assign == BOUMA_ASSIGN_PER_NODE && out.nodes_per_file == 3);
    o.assign = BOUMA_ASSIGN_PER_NODE;
    CHECK_EQ(complete(&out, &o), BOUMA_OK);
    o.nodes_per_file = 0;
    CHECK_EQ(complete(&out, &o), BOUMA_OK);
    CHECK_EQ(out.nodes_per_file, 1);
    o.files = 2;
    CHECK_EQ(complete(&out, &o), BOUMA_EINVAL);
    CHECK_TEXT(message, "leave out 'files'");
    o.files = 0;
    o.file_size = 1000;
    CHECK_EQ(complete(&out, &o), BOUMA_EINVAL);
    CHECK_TEXT(message, "leave out 'file_size'");
    o = fresh();
    o.nodes_per_file = 1;
    o.assign = BOUMA_ASSIGN_SINGLE;
    CHECK_EQ(complete(&out, &o), BOUMA_EINVAL);
    CHECK_TEXT(message, "leave out 'assign'");
}

static void an_io_table_of_another_size_is_refused(void)
{
    bouma_io io = *bouma_io_posix();
    struct bm_options out;
    bouma_options o = fresh();

    io.size -= 8;
    o.io = &io;
    CHECK_EQ(complete(&out, &o), BOUMA_EINVAL);
    CHECK_TEXT(message, "io");
    CHECK(out.io == bouma_io_posix()); /* complete all the same */
}

/* ---- the environment ---------------------------------------------------- */

static int complete_with(struct bm_options *out, const bouma_options *given,
                         const char *environment)
{
    int rc;

    setenv("BOUMA_OPTIONS", environment, 1);
    rc = complete(out, given);
    unsetenv("BOUMA_OPTIONS");
    return rc;
}

static void the_environment_sets_what_is_zero(void)
{
    struct bm_options out;
    bouma_options given = fresh();

    CHECK_EQ(complete_with(&out, NULL,
                           "files=4;order=chunk;file_size=1MiB;;timeout=1.5;"
                           "durability=group=3;replace=1;memory_limit=1G"),
             BOUMA_OK);
    CHECK(out.files == 4 && out.order == BOUMA_ORDER_CHUNK && out.replace == 1);
    CHECK(out.file_size == 1 << 20 && out.timeout == 1.5);
    CHECK(out.durability == BOUMA_DURABILITY_GROUP && out.group == 3);
    CHECK_EQ(out.memory_limit, 1 << 30);
    given.files = 9;
    given.durability = BOUMA_DURABILITY_FAST;
    CHECK_EQ(
        complete_with(&out, &given, "files=4;durability=group=3;order=chunk"),
        BOUMA_OK);
    CHECK(out.files == 9 && out.durability == BOUMA_DURABILITY_FAST);
    CHECK(out.order == BOUMA_ORDER_CHUNK);
    CHECK_EQ(complete_with(&out, NULL, ""), BOUMA_OK);
    CHECK_EQ(complete_with(&out, NULL, ";;"), BOUMA_OK);
    CHECK_EQ(complete_with(&out, NULL, ",,"), BOUMA_OK);
    /* Commas do as well, where they are not part of a value. */
    CHECK_EQ(complete_with(&out, NULL, "files=4,order=chunk"), BOUMA_OK);
    CHECK(out.files == 4 && out.order == BOUMA_ORDER_CHUNK);
    CHECK_EQ(complete_with(&out, NULL, "machine=torus:2x2,per=4;files=3"),
             BOUMA_OK);
    CHECK(out.files == 3 && !strcmp(out.machine, "torus:2x2,per=4"));
}

/* One choice, in two ways: the environment does not turn the other one on. */
static void the_program_chooses_files_or_their_size(void)
{
    struct bm_options out;
    bouma_options given = fresh();

    given.file_size = 1 << 20;
    CHECK_EQ(complete_with(&out, &given, "files=4;order=chunk"), BOUMA_OK);
    CHECK(out.files == 0 && out.file_size == 1 << 20);
    CHECK_EQ(out.order, BOUMA_ORDER_CHUNK);
    given = fresh();
    given.files = 3;
    CHECK_EQ(complete_with(&out, &given, "file_size=1K"), BOUMA_OK);
    CHECK(out.files == 3 && out.file_size == 0);
}

static const char *get(const bouma_options *o, const char *name, size_t room)
{
    static char text[BM_PATH_BYTES];

    memset(text, '#', sizeof(text));
    message[0] = 0;
    return bouma_options_get(text, room, o, name, message, sizeof(message))
               ? NULL
               : text;
}

#define CHECK_SAYS(o, name, what)                                              \
    do {                                                                       \
        const char *says_ = get(o, name, BM_PATH_BYTES);                       \
        CHECK(says_ && !strcmp(says_, what));                                  \
    } while (0)

static void a_program_can_ask_what_is_said(void)
{
    bouma_options o = fresh();

    o.memory_limit = 5;
    o.machine = "torus:2x2";
    o.check = -1;
    setenv("BOUMA_OPTIONS", "files=4;memory_limit=1K;local=/near;timeout=2.5",
           1);
    CHECK_SAYS(&o, "files", "4");
    CHECK_SAYS(NULL, "files", "4");
    CHECK_SAYS(&o, "memory_limit", "5");
    CHECK_SAYS(NULL, "memory_limit", "1024");
    CHECK_SAYS(&o, "local", "/near");
    CHECK_SAYS(&o, "machine", "torus:2x2");
    CHECK_SAYS(NULL, "machine", "");
    CHECK_SAYS(&o, "check", "no");
    CHECK_SAYS(&o, "timeout", "2.5");
    CHECK_SAYS(&o, "group", ""); /* not the default */
    CHECK_SAYS(&o, "assign", "");
    o.assign = BOUMA_ASSIGN_PER_RANK;
    CHECK_SAYS(&o, "assign", "per-rank");
    CHECK(!get(&o, "machine", 9));
    CHECK_TEXT(message, "does not fit into 9 bytes");
    CHECK(get(&o, "machine", 10) != NULL);
    CHECK(!get(&o, "colour", 100));
    CHECK_TEXT(message, "there is no option \"colour\"");
    CHECK(!get(&o, NULL, 100));
    CHECK_EQ(bouma_options_get(NULL, 100, &o, "files", NULL, 0), BOUMA_EINVAL);
    o.size = offsetof(bouma_options, memory_limit); /* of an older version */
    CHECK_SAYS(&o, "memory_limit", "1024");
    o.size = 0;
    CHECK(!get(&o, "files", 100));
    CHECK_TEXT(message, "'size' is not set");
    setenv("BOUMA_OPTIONS", "files=many", 1);
    CHECK(!get(NULL, "order", 100));
    CHECK_TEXT(message, "BOUMA_OPTIONS: option 'files' is \"many\"");
    setenv("BOUMA_OPTIONS", "colour=red", 1);
    CHECK(!get(NULL, "order", 100));
    for (int i = 0; bouma_options_info(i); i++) /* all of them are named */
        CHECK_TEXT(message, bouma_options_info(i)->name);
    unsetenv("BOUMA_OPTIONS");
    CHECK_EQ(bouma_dataset_create(NULL, "x", NULL), BOUMA_EINVAL);
    CHECK_EQ(bouma_dataset_append(NULL, "x", NULL), BOUMA_EINVAL);
    CHECK_EQ(bouma_dataset_open(NULL, "x", NULL), BOUMA_EINVAL);
}

/* What is said of one option sets it again. */
static void what_is_said_can_be_set(void)
{
    static const char *const texts[][2] = {
        {"durability", "group=7"}, {"files", "12"},    {"file_size", "3M"},
        {"place", "cost"},         {"replace", "yes"}, {"check", "no"},
        {"timeout", "0.25"},       {"trace", "off"}};

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        bouma_options o = fresh(), again = fresh();
        const char *says;

        CHECK_EQ(set(&o, texts[i][0], texts[i][1]), BOUMA_OK);
        again.group = o.group; /* has a name of its own */
        says = get(&o, texts[i][0], BM_PATH_BYTES);
        REQUIRE(says);
        CHECK_EQ(set(&again, texts[i][0], says), BOUMA_OK);
        again.trace = again.trace ? o.trace : NULL; /* the text is the same */
        CHECK(!memcmp(&o, &again, sizeof(o)));
    }
}

static void the_tier_has_a_variable_of_its_own(void)
{
    struct bm_options out;
    bouma_options given = fresh();

    setenv("BOUMA_TIER", "hbm", 1);
    CHECK_EQ(complete(&out, NULL), BOUMA_OK);
    CHECK_EQ(out.tier, BOUMA_TIER_HBM);
    given.tier = BOUMA_TIER_LOCAL;
    CHECK_EQ(complete(&out, &given), BOUMA_OK);
    CHECK_EQ(out.tier, BOUMA_TIER_LOCAL);
    setenv("BOUMA_TIER", "tape", 1);
    CHECK_EQ(complete(&out, NULL), BOUMA_EINVAL);
    CHECK_TEXT(message, "BOUMA_TIER");
    CHECK_TEXT(message, "dram, hbm, local");
    unsetenv("BOUMA_TIER");
}

static void texts_have_a_longest_length(void)
{
    char text[BM_PATH_BYTES + 1];
    struct bm_options out;
    bouma_options o = fresh();

    memset(text, 'x', sizeof(text));
    text[BM_PATH_BYTES] = 0;
    CHECK_EQ(set(&o, "machine", text), BOUMA_EINVAL);
    CHECK_TEXT(message, "4095");
    CHECK(!o.machine);
    o.local = text;
    CHECK_EQ(complete(&out, &o), BOUMA_EINVAL);
    CHECK_TEXT(message, "'local' is too long");
    text[BM_PATH_BYTES - 1] = 0;
    CHECK_EQ(complete(&out, &o), BOUMA_OK);
    CHECK(!strcmp(out.local, text));
    CHECK_EQ(set(&o, "machine", text), BOUMA_OK);
    CHECK(o.machine == text);
}

/* They are copied: the caller's may go once the call has returned. */
static void texts_are_copied(void)
{
    char text[32] = "torus:2x2,per=4";
    struct bm_options out;
    bouma_options o = fresh();

    o.machine = text;
    o.trace = "off";
    CHECK_EQ(complete(&out, &o), BOUMA_OK);
    memset(text, '#', sizeof(text));
    CHECK(!strcmp(out.machine, "torus:2x2,per=4") && !out.trace[0]);
}

static void a_wrong_environment_is_told(void)
{
    char text[5000];
    struct bm_options out;

    CHECK_EQ(complete_with(&out, NULL, "colour=red"), BOUMA_EINVAL);
    CHECK_TEXT(message, "BOUMA_OPTIONS");
    CHECK_TEXT(message, "colour");
    CHECK_EQ(complete_with(&out, NULL, "files"), BOUMA_EINVAL);
    CHECK_TEXT(message, "name=value");
    CHECK_EQ(complete_with(&out, NULL, "files=many"), BOUMA_EINVAL);
    CHECK_EQ(complete_with(&out, NULL, "files=4;files=5"), BOUMA_EINVAL);
    CHECK_TEXT(message, "'files' is given twice");
    CHECK_EQ(complete_with(&out, NULL, "clobber=1"), BOUMA_EINVAL);
    CHECK_TEXT(message, "only a program can set it");
    CHECK_EQ(complete_with(&out, NULL, "check=-1"), BOUMA_OK);
    CHECK_EQ(out.check, -1);
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = 0;
    CHECK_EQ(complete_with(&out, NULL, text), BOUMA_EINVAL);
    CHECK_EQ(complete_with(&out, NULL, "message_bytes=2G"), BOUMA_EINVAL);
}

/* ---- structs of other versions ------------------------------------------ */

static void an_older_caller_has_fewer_fields(void)
{
    struct bm_options out;
    bouma_options given = fresh();

    given.files = 5;
    given.timeout = -5; /* beyond what it says it has */
    given.size = offsetof(bouma_options, timeout);
    CHECK_EQ(complete(&out, &given), BOUMA_OK);
    CHECK(out.files == 5 && out.timeout == 1800);
}

static void an_older_callers_allocator_is_used(void)
{
    struct fault_alloc memory;
    bouma_io *io = bouma_io_memory_new();
    bouma_options given = fresh();
    bouma_dataset *ds;

    REQUIRE(io);
    given.io = io;
    fault_alloc_init(&memory);
    given.allocator = &memory.table;
    given.size = offsetof(bouma_options, timeout);
    CHECK_EQ(bouma_dataset_create(&ds, "x", &given), BOUMA_OK);
    CHECK(memory.calls > 0);
    bouma_dataset_free(ds);
    bouma_io_memory_free(io);
}

static void a_newer_callers_extra_fields_must_be_zero(void)
{
    struct {
        bouma_options o;
        char more[16];
    } newer;
    struct bm_options out;

    memset(&newer, 0, sizeof(newer));
    newer.o.size = sizeof(newer);
    newer.o.files = 5;
    CHECK_EQ(complete(&out, &newer.o), BOUMA_OK);
    CHECK_EQ(out.files, 5);
    for (int i = 0; i < 16; i++) {
        newer.more[i] = 1;
        CHECK_EQ(complete(&out, &newer.o), BOUMA_EINVAL);
        CHECK_TEXT(message, "newer version");
        newer.more[i] = 0;
    }
}

static void options_that_were_not_set_up_are_refused(void)
{
    struct bm_options out;
    bouma_options given = fresh();
    bouma_dataset *ds = NULL;
    bouma_io *io = bouma_io_memory_new();

    given.size = 0;
    CHECK_EQ(complete(&out, &given), BOUMA_EINVAL);
    CHECK_TEXT(message, "'size' is not set");
    /* Through the API: a handle that has the message. */
    given.io = io;
    CHECK_EQ(bouma_dataset_create(&ds, "x", &given), BOUMA_EINVAL);
    CHECK_TEXT(bouma_error_message(ds), "'size' is not set");
    bouma_dataset_free(ds);
    given = fresh();
    given.io = io;
    given.files = -3;
    CHECK_EQ(bouma_dataset_create(&ds, "x", &given), BOUMA_EINVAL);
    CHECK_TEXT(bouma_error_message(ds), "files");
    bouma_dataset_free(ds);
    CHECK_EQ(bouma_dataset_create(&ds, "", NULL), BOUMA_EINVAL);
    CHECK_TEXT(bouma_error_message(ds), "path");
    bouma_dataset_free(ds);
    CHECK_EQ(bouma_dataset_open(&ds, NULL, NULL), BOUMA_EINVAL);
    bouma_dataset_free(ds);
    bouma_io_memory_free(io);
}

/* Then no other member was set, either. */
static void nothing_is_used_of_options_without_a_size(void)
{
    static const size_t sizes[] = {0, 1, 9, 31, 33, 1 << 17, SIZE_MAX - 7};

    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        bouma_options *given = malloc(sizeof(*given));
        bouma_verify_report report = {.size = sizeof(report)};
        bouma_dataset *ds = NULL;
        bouma_file *file = NULL;
        char text[200];

        REQUIRE(given);
        memset(given, 0x5a, sizeof(*given));
        given->size = sizes[i];
        CHECK_EQ(bouma_dataset_open(&ds, "x", given), BOUMA_EINVAL);
        CHECK_TEXT(bouma_error_message(ds), "'size' is not set");
        bouma_dataset_free(ds);
        CHECK_EQ(bouma_file_open(&file, "x", BOUMA_FILE_MODE_READ, given),
                 BOUMA_EINVAL);
        CHECK_TEXT(bouma_file_message(file), "'size' is not set");
        bouma_file_free(file);
        CHECK_EQ(bouma_verify(&report, "x", BOUMA_DEPTH_QUICK, given, NULL,
                              NULL, text, sizeof(text)),
                 BOUMA_EINVAL);
        CHECK_TEXT(text, "'size' is not set");
        CHECK_EQ(bouma_options_set(given, "files", "3", text, sizeof(text)),
                 BOUMA_EINVAL);
        CHECK_TEXT(text, "'size' is not set");
        CHECK_EQ(bouma_options_get(text, sizeof(text), given, "files", NULL, 0),
                 BOUMA_EINVAL);
        free(given);
    }
}

int main(void)
{
    unsetenv("BOUMA_OPTIONS");
    every_choice_is_set_by_its_name();
    every_choice_has_a_name();
    codecs_tell_what_they_are_like();
    a_grid_chooses_its_codec_by_the_tolerance();
    some_ways_to_assign_are_for_particles();
    sizes_have_units();
    wrong_values_are_told();
    a_group_can_have_its_number();
    a_message_is_not_needed_and_never_runs_over();
    fields_are_listed();
    options_describe_themselves();
    few_options_may_differ_among_ranks();
    offered_words_are_taken();
    what_is_left_open_is_chosen();
    wrong_fields_are_refused();
    files_can_be_by_node();
    files_by_node_exclude_other_ways();
    an_io_table_of_another_size_is_refused();
    the_environment_sets_what_is_zero();
    the_program_chooses_files_or_their_size();
    a_program_can_ask_what_is_said();
    what_is_said_can_be_set();
    the_tier_has_a_variable_of_its_own();
    texts_have_a_longest_length();
    texts_are_copied();
    a_wrong_environment_is_told();
    an_older_caller_has_fewer_fields();
    an_older_callers_allocator_is_used();
    a_newer_callers_extra_fields_must_be_zero();
    options_that_were_not_set_up_are_refused();
    nothing_is_used_of_options_without_a_size();
    return check_result();
}
