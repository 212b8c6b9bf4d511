/* test_probe.c -- measuring a machine: what is asked, what comes out; not how
 * fast it is. */
#include "bouma.h"
#include "bouma_store.h"
#include "check.h"
#include "fault_alloc.h"
#include "machine/machine.h"
#include "machine/measure.h"

static bouma_probe_spec small_spec(void)
{
    bouma_probe_spec spec = {
        .size = sizeof(spec), .storage_bytes = 10000, .tries = 1};

    return spec;
}

static void a_median_is_in_the_middle(void)
{
    double one[] = {3}, three[] = {9, 1, 5}, four[] = {4, 1, 2, 3};

    CHECK(bm_median(one, 1) == 3);
    CHECK(bm_median(three, 3) == 5);
    CHECK(bm_median(four, 4) == 3);
}

static void count_steps(void *user, const char *what, uint64_t done,
                        uint64_t all)
{
    uint64_t *last = user;

    CHECK(what[0] && done <= all && done >= *last);
    *last = done;
}

static void what_is_asked_for_is_measured(void)
{
    bouma_probe_spec spec = small_spec();
    bouma_probe_report report = {.size = sizeof(report)};
    bouma_options opts = {.size = sizeof(opts)};
    uint64_t last = 0;
    char message[256];

    opts.progress = count_steps;
    opts.progress_user = &last;
    spec.target = "/tmp";
    CHECK_EQ(bouma_probe(&report, &spec, &opts, message, sizeof(message)),
             BOUMA_OK);
    CHECK_EQ(last, 6);
    CHECK(report.ranks == 1 && report.nodes == 1);
    CHECK(report.dram.latency > 0 && report.dram.bandwidth > 0);
    CHECK(report.target.latency > 0 && report.target.bandwidth > 0);
    CHECK(report.network.bandwidth == 0 && report.local.bandwidth == 0);
    CHECK(!report.local_path);
    CHECK(report.windows == 0 && report.messages == 0 && !report.transport);
}

static void a_spec_that_is_wrong_is_told_of(void)
{
    static const struct {
        bouma_probe_spec spec;
        int status;
        const char *words;
    } cases[] = {
        {{0}, BOUMA_EINVAL, "'size' is not set"},
        {{.size = sizeof(bouma_probe_spec), .tries = 101},
         BOUMA_EINVAL,
         "101 tries"},
        {{.size = sizeof(bouma_probe_spec), .tries = -1},
         BOUMA_EINVAL,
         "-1 tries"},
        {{.size = sizeof(bouma_probe_spec), .storage_bytes = UINT64_MAX},
         BOUMA_EINVAL,
         "1 PiB"},
        {{.size = sizeof(bouma_probe_spec), .local = ""},
         BOUMA_EINVAL,
         "'local'"},
        {{.size = sizeof(bouma_probe_spec), .local = "a\nb"},
         BOUMA_EINVAL,
         "'local'"},
        {{.size = sizeof(bouma_probe_spec), .tries = 1, .target = "/not/there"},
         BOUMA_ENOTFOUND,
         "/not/there"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        bouma_probe_report report = {.size = sizeof(report)};
        char message[256] = "";

        CHECK_EQ(bouma_probe(&report, &cases[i].spec, NULL, message,
                             sizeof(message)),
                 cases[i].status);
        CHECK_TEXT(message, cases[i].words);
    }
}

/* ---- no memory ----------------------------------------------------------- */

static void no_memory_is_told_and_none_is_lost(void)
{
    bouma_probe_spec spec = small_spec();
    struct fault_alloc memory;
    int rc = BOUMA_ENOMEM;
    long at;

    spec.target = "/tmp";
    fault_alloc_init(&memory);
    for (at = 1; rc && at < 100; at++) {
        bouma_probe_report report = {.size = sizeof(report)};
        char message[256] = "";
        bouma_options opts = {.size = sizeof(opts)};

        opts.allocator = &memory.table;
        fault_alloc_arm(&memory, at, 0);
        rc = bouma_probe(&report, &spec, &opts, message, sizeof(message));
        CHECK(!rc || (rc == BOUMA_ENOMEM && message[0]));
        CHECK_EQ(memory.live, 0);
    }
    CHECK_EQ(rc, BOUMA_OK);
    CHECK(at > 5);
}

/* ---- the machine file ---------------------------------------------------- */

static void a_report_becomes_a_machine_file(void)
{
    bouma_probe_report report = {
        .size = sizeof(report),
        .ranks = 6,
        .nodes = 3,
        .dram_bytes = (uint64_t)64 << 30,
        .hbm_bytes = (uint64_t)16 << 30,
        .dram = {1.23456e-7, 9.87654e9},
        .hbm = {2e-7, 1e11},
        .network = {1.5e-6, 1.25e10},
        .local = {1e-4, 2e9},
        .target = {1e-3, 5e8},
        .local_path = "/my disk",
        .windows = 4.56789e9,
        .messages = 3e9,
        .transport = BOUMA_TRANSPORT_WINDOWS,
    };
    char text[1024], part[20];
    size_t length = bouma_probe_text(&report, text, sizeof(text)), tiers;
    struct bm_error error = {0};
    struct bm_machine *m;
    const struct bm_tier *t;
    const struct bm_network *n;

    CHECK_EQ(length, strlen(text));
    CHECK_EQ(bouma_probe_text(&report, NULL, 0), length);
    CHECK_EQ(bouma_probe_text(&report, part, sizeof(part)), length);
    CHECK(strlen(part) == sizeof(part) - 1 && !strncmp(part, text, 19));
    CHECK_TEXT(text, "# Measured by 6 ranks on 3 nodes;");
    CHECK_TEXT(text, "# One rank gathers 4.57GB/s by windows, 3GB/s by "
                     "messages.\n");
    REQUIRE(!bm_machine_make(
        &m, bm_allocator_default(),
        &(struct bm_machine_source){
            .spec = "m", .file = text, .file_bytes = length, .ranks = 6},
        &error));
    n = bm_machine_network(m);
    CHECK(n->latency == 1.5e-6 && n->bandwidth == 1.25e10);
    CHECK(n->target_latency == 1e-3 && n->target_bandwidth == 5e8);
    t = bm_machine_tiers(m, &tiers);
    REQUIRE(tiers == 3);
    CHECK(t[0].kind == BOUMA_TIER_HBM && t[0].bandwidth == 1e11);
    CHECK(t[1].kind == BOUMA_TIER_DRAM && t[1].latency == 123e-9 &&
          t[1].bandwidth == 9.88e9); /* three digits */
    CHECK_EQ(t[1].capacity, report.dram_bytes);
    CHECK(t[2].kind == BOUMA_TIER_LOCAL && t[2].latency == 1e-4);
    CHECK(!strcmp(bm_machine_local(m), "/my disk"));
    CHECK_EQ(bm_machine_transport(m), BOUMA_TRANSPORT_WINDOWS);
    bm_machine_free(m);
}

static void what_was_not_measured_is_not_in_the_file(void)
{
    bouma_probe_report report = {
        .size = sizeof(report), .ranks = 1, .nodes = 1, .dram = {1e-7, 1e10}};
    char text[1024];

    CHECK(bouma_probe_text(&report, text, sizeof(text)) < sizeof(text));
    CHECK(!strstr(text, "transport") && !strstr(text, "gathers"));
    CHECK(!strstr(text, "network") && !strstr(text, "target"));
}

int main(void)
{
    a_median_is_in_the_middle();
    what_is_asked_for_is_measured();
    a_spec_that_is_wrong_is_told_of();
    no_memory_is_told_and_none_is_lost();
    a_report_becomes_a_machine_file();
    what_was_not_measured_is_not_in_the_file();
    return check_result();
}
