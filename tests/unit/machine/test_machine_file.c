/* test_machine_file.c -- texts that describe machines: read, written again, and
 * what is wrong with them told by line and word. */
#include "check.h"
#include "machine/machine.h"
#include "machine/machine_file.h"
#include "machine/quantity.h"

static int parse(struct bm_description *d, const char *text,
                 struct bm_error *error)
{
    memset(error, 0, sizeof(*error));
    bm_description_init(d, bm_allocator_default());
    return bm_machine_file_parse(d, text, strlen(text), error);
}

static struct bm_machine *machine_of(const char *text, int ranks)
{
    struct bm_error error = {0};
    struct bm_machine *m = NULL;

    if (bm_machine_make(&m, bm_allocator_default(),
                        &(struct bm_machine_source){.spec = "here/m",
                                                    .file = text,
                                                    .file_bytes = strlen(text),
                                                    .ranks = ranks},
                        &error))
        printf("%s\n", error.text);
    REQUIRE(m);
    return m;
}

/* ---- quantities ---------------------------------------------------------- */

static double seconds(const char *text)
{
    double v;

    return bm_seconds_parse(&v, text, strlen(text)) ? v : -1;
}

static double speed(const char *text)
{
    double v;

    return bm_speed_parse(&v, text, strlen(text)) ? v : -1;
}

static uint64_t size(const char *text)
{
    uint64_t v;

    return bm_size_parse(&v, text, strlen(text)) ? v : 77;
}

static void quantities_have_units(void)
{
    CHECK(seconds("1.5us") == 1.5e-6);
    CHECK(seconds("100ns") == 100e-9);
    CHECK(seconds("2ms") == 2e-3);
    CHECK(seconds("2e-3") == 2e-3);
    CHECK(seconds(".5s") == .5);
    CHECK(speed("12.5GB/s") == 12.5e9);
    CHECK(speed("12.5G") == 12.5e9);
    CHECK(speed("1GiB/s") == 1073741824.0);
    CHECK(speed("3e9") == 3e9);
    CHECK_EQ(size("192G"), (uint64_t)192 << 30);
    CHECK_EQ(size("1.5K"), 1536);
    CHECK_EQ(size("4MiB"), 4 << 20);
    CHECK_EQ(size("0"), 0);
    CHECK_EQ(size("16383P"), (uint64_t)16383 << 50);
}

static void what_is_no_quantity_is_found(void)
{
    static const char *const wrong[] = {"",    "s",    "1.2.3s", "-1s", "1 s",
                                        "1m",  "1e",   "e5",     "nan", "inf",
                                        "0us", "1e99", "1e-99",  "0x1"};

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        CHECK(seconds(wrong[i]) == -1);
    CHECK(speed("12.5GB/h") == -1);
    CHECK(speed("/s") == -1);
    CHECK(speed("0GB/s") == -1);
    CHECK_EQ(size("16384P"), 77);
    CHECK_EQ(size("99999999999999999999"), 77);
    CHECK_EQ(size("1e30"), 77);
    CHECK_EQ(size("4X"), 77);
    CHECK_EQ(size("-4"), 77);
    CHECK_EQ(size("4MM"), 77);
}

static void quantities_are_written_as_they_are_read(void)
{
    static const char *const times[] = {"1.5us",    "100ns",     "2ms",
                                        "1s",       "999.999ms", "0.25ns",
                                        "1234.56s", "12.3456us"};
    static const char *const speeds[] = {"12.5GB/s", "1B/s", "999.999MB/s",
                                         "1234GB/s", "123456B/s"};
    uint64_t seed = 3;

    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        struct bm_buffer b;

        bm_buffer_init(&b, bm_allocator_default());
        bm_seconds_put(&b, seconds(times[i]));
        bm_put_u8(&b, 0);
        CHECK(!strcmp((char *)b.data, times[i]));
        bm_buffer_release(&b);
    }
    for (size_t i = 0; i < sizeof(speeds) / sizeof(speeds[0]); i++) {
        struct bm_buffer b;

        bm_buffer_init(&b, bm_allocator_default());
        bm_speed_put(&b, speed(speeds[i]));
        bm_put_u8(&b, 0);
        CHECK(!strcmp((char *)b.data, speeds[i]));
        bm_buffer_release(&b);
    }
    for (int i = 0; i < 2000; i++) { /* six digits, of any size */
        double v = (double)(1 + check_below(&seed, 999999)) * 1e-12, back;
        struct bm_buffer b;

        for (int64_t k = check_below(&seed, 14); k; k--)
            v *= 10;
        bm_buffer_init(&b, bm_allocator_default());
        bm_seconds_put(&b, v);
        CHECK(bm_seconds_parse(&back, (char *)b.data, b.size));
        CHECK(back > v * (1 - 1e-6) && back < v * (1 + 1e-6));
        bm_buffer_release(&b);
    }
}

/* ---- whole files --------------------------------------------------------- */

static const char cluster[] =
    "# a small cluster with Lustre\n"
    "machine 1\n"
    "network tree,per=2 latency 1.5us bandwidth 12.5GB/s\n"
    "switch leaf1 nodes a[01-04]\n"
    "switch leaf2 nodes a[05-08]   # and more\n"
    "switch top \\\n"
    "    switches leaf[1-2]\n"
    "node a01,a05 target 2\n"
    "tier dram latency 100ns bandwidth 90GB/s capacity 192G\n"
    "tier hbm bandwidth 180GB/s capacity 16G\n"
    "tier local latency 100us bandwidth 2GB/s capacity 128G keeps job \\\n"
    "  path \"/local scratch\"\n"
    "target latency 1ms bandwidth 20GB/s stripe 4M switch leaf2\n"
    "transport windows\n"
    "cost without links without wait\n";

static void a_file_says_all_of_a_machine(void)
{
    struct bm_machine *m = machine_of(cluster, 16);
    const struct bm_network *n = bm_machine_network(m);
    const struct bm_tier *t;
    size_t tiers;

    CHECK_EQ(n->hops(n->context, 0, 1), 0); /* two on a01 */
    CHECK_EQ(n->hops(n->context, 0, 2), 2);
    CHECK_EQ(n->hops(n->context, 0, 8), 4);
    CHECK_EQ(n->node(n->context, 9), 4);
    CHECK_EQ(n->hops_to_target(n->context, 0), 2); /* a01, as is told */
    CHECK_EQ(n->hops_to_target(n->context, 2), 4); /* a02: up, up, down, out */
    CHECK_EQ(n->hops_to_target(n->context, 10), 2);
    CHECK(n->latency == 1.5e-6 && n->bandwidth == 12.5e9);
    CHECK(n->target_latency == 1e-3 && n->target_bandwidth == 20e9);
    CHECK_EQ(bm_machine_stripe(m), 4 << 20);
    CHECK_EQ(bm_machine_transport(m), BOUMA_TRANSPORT_WINDOWS);
    CHECK_EQ(bm_machine_network(m)->without, BM_COST_LINKS | BM_COST_WAIT);
    CHECK(!strcmp(bm_machine_local(m), "/local scratch"));
    t = bm_machine_tiers(m, &tiers);
    REQUIRE(tiers == 3);
    CHECK_EQ(t[0].kind, BOUMA_TIER_HBM);
    CHECK_EQ(t[1].kind, BOUMA_TIER_DRAM);
    CHECK_EQ(t[2].kind, BOUMA_TIER_LOCAL);
    CHECK(t[1].latency == 100e-9 && t[1].bandwidth == 90e9);
    CHECK_EQ(t[0].capacity, (uint64_t)16 << 30);
    CHECK_EQ(t[2].persistence, BM_KEEPS_FOR_JOB);
    bm_machine_free(m);
}

static void a_file_can_say_next_to_nothing(void)
{
    struct bm_machine *m = machine_of("machine 1\n", 5);
    const struct bm_network *n = bm_machine_network(m);
    const struct bm_tier *t;
    size_t tiers;

    CHECK_EQ(n->hops(n->context, 0, 4), 1);
    t = bm_machine_tiers(m, &tiers);
    CHECK_EQ(tiers, 1);
    CHECK(t->kind == BOUMA_TIER_DRAM && t->bandwidth > 0);
    CHECK(n->latency > 0 && n->target_bandwidth > 0);
    CHECK(!bm_machine_local(m));
    CHECK_EQ(bm_machine_stripe(m), 0);
    bm_machine_free(m);
}

/* Parse, write, parse, write: the two texts are one. */
static void check_round_trip(const char *text)
{
    struct bm_buffer first, second;
    struct bm_description d;
    struct bm_error error;

    bm_buffer_init(&first, bm_allocator_default());
    bm_buffer_init(&second, bm_allocator_default());
    REQUIRE(!parse(&d, text, &error));
    bm_machine_file_encode(&first, &d);
    bm_description_release(&d);
    bm_put_u8(&first, 0);
    if (parse(&d, (char *)first.data, &error))
        printf("%s\n%s", error.text, (char *)first.data);
    REQUIRE(!error.status);
    bm_machine_file_encode(&second, &d);
    bm_put_u8(&second, 0);
    CHECK(!strcmp((char *)first.data, (char *)second.data));
    bm_description_release(&d);
    bm_buffer_release(&first);
    bm_buffer_release(&second);
}

static void a_file_survives_being_written_again(void)
{
    struct bm_buffer text;
    struct bm_description d;
    struct bm_error error;

    check_round_trip(cluster);
    check_round_trip("machine 1");
    check_round_trip("machine 1\nnetwork torus:2x3x4,per=7,io=4\n"
                     "node x at 1,2,3\nnode y[1-3] at 0,1,0 target 0\nnode z");
    check_round_trip("machine 1\nswitch a switches b\nswitch c nodes n1\n"
                     "switch b switches c\nnode n0\ntarget switch b\n");
    check_round_trip("machine 1\ncodec zstd decode_list 5GB/s encode 1GB/s\n"
                     "work copy rate 10GB/s\ncodec quantise encode_list 1MB/s\n"
                     "work arrange rate 3kB/s\n");
    /* Not only twice the same: it says what the first one said. */
    bm_buffer_init(&text, bm_allocator_default());
    REQUIRE(!parse(&d, cluster, &error));
    bm_machine_file_encode(&text, &d);
    bm_description_release(&d);
    bm_put_u8(&text, 0);
    CHECK_TEXT((char *)text.data, "network tree,per=2 latency 1.5us bandwidth "
                                  "12.5GB/s\n");
    CHECK_TEXT((char *)text.data, "node a05 target 2\n");
    CHECK_TEXT((char *)text.data, "switch leaf2 nodes a08\n");
    CHECK_TEXT((char *)text.data, "switch top switches leaf2\n");
    CHECK_TEXT((char *)text.data,
               "tier local latency 100us bandwidth 2GB/s capacity 128G keeps "
               "job path \"/local scratch\"\n");
    CHECK_TEXT((char *)text.data, "target latency 1ms bandwidth 20GB/s stripe "
                                  "4M switch leaf2\n");
    CHECK_TEXT((char *)text.data, "transport windows\n");
    CHECK_TEXT((char *)text.data, "cost without links\ncost without wait\n");
    bm_buffer_release(&text);
}

static void a_file_says_how_fast_a_core_works(void)
{
    struct bm_description d;
    struct bm_error error;
    const struct bm_codec_rates *zstd, *quantise;

    REQUIRE(!parse(&d,
                   "machine 1\nwork sort rate 500MB/s\n"
                   "codec zstd encode 1GB/s decode 4GB/s\n"
                   "codec quantise encode_list 7MB/s decode_list 8MB/s\n",
                   &error));
    zstd = &d.rates.codecs[BOUMA_CODEC_ZSTD];
    quantise = &d.rates.codecs[BOUMA_CODEC_QUANTISE];
    CHECK(d.rates.work[BM_WORK_SORT] == 500e6);
    CHECK(d.rates.work[BM_WORK_COPY] == 0);
    CHECK(zstd->encode == 1e9 && zstd->decode == 4e9);
    CHECK(zstd->encode_list == 0 && zstd->decode_list == 0);
    CHECK(quantise->encode_list == 7e6 && quantise->decode_list == 8e6);
    CHECK(quantise->encode == 0);
    bm_description_release(&d);
}

static void nodes_have_positions_in_a_model(void)
{
    struct bm_machine *m =
        machine_of("machine 1\nnetwork torus:4x4\nnode far at 2,2\n"
                   "node row[1-4] at 1,0 target 9\n",
                   16);
    const struct bm_network *n = bm_machine_network(m);

    /* Without hosts, ranks fill positions in order. */
    CHECK_EQ(n->hops(n->context, 0, 10), 4);
    CHECK_EQ(n->hops_to_target(n->context, 4), 9);
    CHECK_EQ(n->hops_to_target(n->context, 7), 9);
    CHECK_EQ(n->hops_to_target(n->context, 3), 2);
    bm_machine_free(m);
}

static void what_is_wrong_is_told_by_line_and_word(void)
{
    static const struct {
        const char *text, *words;
    } cases[] = {
        {"", "'machine 1'"},
        {"machine 2\n", "line 1: '2': this version"},
        {"\n\nmachin 1\n", "line 3: 'machin'"},
        {"machine 1\nnetwrk flat\n", "line 2: 'netwrk': a line is about"},
        {"machine 1\nnetwork\n", "line 2: 'network': more must follow"},
        {"machine 1\nnetwork ring:4\n", "line 2: 'ring:4': there are"},
        {"machine 1\nnetwork torus:4x\n", "line 2: 'torus:4x'"},
        {"machine 1\nnetwork torus:4000x4000\n", "line 2: the torus has more"},
        {"machine 1\nnetwork flat\nnetwork flat\n", "line 3: 'flat'"},
        {"machine 1\nnetwork flat latency\n", "'latency': a value must follow"},
        {"machine 1\nnetwork flat latency 3x\n", "'3x': must be a time"},
        {"machine 1\nnetwork flat bandwidth 3us\n", "'3us': must be a speed"},
        {"machine 1\nnetwork flat stripe 3\n", "'stripe': is no key"},
        {"machine 1\ntier ssd latency 1us\n", "'ssd': the tiers are"},
        {"machine 1\ntier dram path /x\n", "'/x': only the tier local"},
        {"machine 1\ntier local keeps ever\n", "'ever': must be nothing"},
        {"machine 1\ntier dram capacity lots\n", "'lots': must be a size"},
        {"machine 1\ntarget stripes 8\n", "'stripes': is no key"},
        {"machine 1\ncodec gzip encode 1GB/s\n", "'gzip': is no codec"},
        {"machine 1\ncodec zstd sort 1GB/s\n", "'sort': is no key"},
        {"machine 1\nwork idle rate 1GB/s\n", "'idle': is no kind of work"},
        {"machine 1\nwork copy rate 3us\n", "'3us': must be a speed"},
        {"machine 1\ntarget switch s1\n", "line 2: no line tells what is below "
                                          "switch s1"},
        {"machine 1\nswitch s1 nodes a[1-\n", "line 2: 'a[1-': a '['"},
        {"machine 1\nswitch s1 nodes a[3-1]\n", "a range ends before"},
        {"machine 1\nswitch s1 nodes a[x]\n", "in brackets there are numbers"},
        {"machine 1\nswitch s1 nodes a,,b\n", "a name is missing"},
        {"machine 1\nswitch s1 nodes a]\n", "a ']' has no '['"},
        {"machine 1\nswitch s1 nodes a*b\n", "line 2: 'a*b': a name has"},
        {"machine 1\nswitch s1 nodes a[0-9999999]\n", "more than 1048576"},
        {"machine 1\nswitch s nodes a\nswitch t nodes a\n",
         "line 3: node a is on switch s already"},
        {"machine 1\nswitch a switches b\nswitch b switches a\n",
         "switch a is below itself"},
        {"machine 1\nnetwork torus:4\nswitch a nodes b\n",
         "line 3: switch a: a torus has its own"},
        {"machine 1\nnode a at 0\n", "'0': there are places in a torus"},
        {"machine 1\nnetwork torus:4x4\nnode a at 0,4\n",
         "'0,4': a coordinate"},
        {"machine 1\nnetwork torus:4x4\nnode a at 0\n",
         "'0': must have as many"},
        {"machine 1\nnetwork torus:4x4\nnode a at 0,1,2\n", "as many"},
        {"machine 1\nnetwork torus:4x4\nnode a at 0,\n", "a coordinate"},
        {"machine 1\nnetwork torus:4\nnode a at 1\nnode b at 1\n",
         "line 4: node b is where another one is, a"},
        {"machine 1\nnetwork torus:4\nnode a at 1\nnode a at 2\n",
         "line 4: node a is at another place"},
        {"machine 1\nnetwork torus:4\nnode a[1-3] at 2\n", "behind the last"},
        {"machine 1\nnode a target -1\n", "'-1': must be a whole number"},
        {"machine 1\ntransport pigeons\n", "'pigeons': must be messages"},
        {"machine 1\ntransport windows now\n", "'now': is no key"},
        {"machine 1\ncost without mercy\n", "'mercy': must be gather"},
        {"machine 1\ncost with links\n", "'with': is no key"},
        {"machine 1\ntier local path \"/x\n", "line 2: '/x': a \" has no"},
        {"machine 1\ntier local \x01 x\n", "line 2: has bytes that are not"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct bm_error error = {0};
        struct bm_machine *m;

        CHECK_EQ(bm_machine_make(&m, bm_allocator_default(),
                                 &(struct bm_machine_source){
                                     .spec = "m.txt",
                                     .file = cases[i].text,
                                     .file_bytes = strlen(cases[i].text),
                                     .ranks = 1},
                                 &error),
                 BOUMA_EINVAL);
        CHECK_TEXT(error.text, cases[i].words);
    }
}

static void a_file_that_was_not_read_is_told_of(void)
{
    struct bm_error error = {0};
    struct bm_machine *m;

    CHECK_EQ(bm_machine_make(
                 &m, bm_allocator_default(),
                 &(struct bm_machine_source){.spec = "tours:3", .ranks = 1},
                 &error),
             BOUMA_EINVAL);
    CHECK_TEXT(error.text, "tours:3");
}

/* Blocks of docs/machine.md that are machine files: indented, from "machine 1"
 * or a comment before it up to an empty line. */
static void examples_in_the_documentation_are_right(void)
{
    char line[1024], text[4096] = "";
    int examples = 0;
    FILE *f;

    f = fopen(SOURCE_DIRECTORY "/docs/machine.md", "r");
    REQUIRE(f);
    while (fgets(line, sizeof(line), f)) {
        int begins = !strcmp(line, "    machine 1\n");
        size_t n = strlen(text);

        if (begins || (n && line[0] == ' ')) {
            REQUIRE(n + strlen(line) < sizeof(text));
            memcpy(text + n, line, strlen(line) + 1);
        } else if (n) {
            bm_machine_free(machine_of(text, 4));
            examples++;
            text[0] = 0;
        }
    }
    fclose(f);
    CHECK_EQ(examples, 3);
}

int main(void)
{
    examples_in_the_documentation_are_right();
    quantities_have_units();
    what_is_no_quantity_is_found();
    quantities_are_written_as_they_are_read();
    a_file_says_all_of_a_machine();
    a_file_can_say_next_to_nothing();
    a_file_survives_being_written_again();
    a_file_says_how_fast_a_core_works();
    nodes_have_positions_in_a_model();
    what_is_wrong_is_told_by_line_and_word();
    a_file_that_was_not_read_is_told_of();
    return check_result();
}
