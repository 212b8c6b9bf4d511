/* api_probe.c -- how fast this machine is, and the machine file of it. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "api/api.h"
#include "api/probe_network.h"
#include "api/probe_transport.h"
#include "base/plain_text.h"
#include "machine/machine_file.h"
#include "machine/measure.h"
#include "machine/quantity.h"

#define MOST_TRIES            100
#define LEAST_TRANSPORT_TRIES 5

/* ---- what is asked ------------------------------------------------------ */

static int check_path(const char *path, const char *what,
                      struct bm_error *error)
{
    if (!path || (path[0] && strlen(path) < BM_PATH_BYTES))
        return BOUMA_OK;
    return bm_fail(error, BOUMA_EINVAL,
                   "the directory '%s' must have 1 to %d bytes", what,
                   BM_PATH_BYTES - 1);
}

static int check_spec(bouma_probe_spec *out, const bouma_probe_spec *given,
                      struct bm_error *error)
{
    int rc;

    memset(out, 0, sizeof(*out));
    if (given && !bm_struct_copy(out, sizeof(*out), given, given->size))
        return bm_fail(
            error, BOUMA_EINVAL,
            "bouma_probe_spec: 'size' is not set to sizeof(bouma_probe_spec), "
            "or fields of a newer version are set");
    out->tries = out->tries ? out->tries : 5;
    out->storage_bytes =
        out->storage_bytes ? out->storage_bytes : (uint64_t)64 << 20;
    if (out->tries < 1 || out->tries > MOST_TRIES)
        return bm_fail(error, BOUMA_EINVAL, "%d tries; 1 to %d are possible",
                       out->tries, MOST_TRIES);
    if (out->storage_bytes > (uint64_t)1 << 50)
        return bm_fail(error, BOUMA_EINVAL,
                       "more than 1 PiB to write: take less");
    for (const char *c = out->local; c && *c; c++)
        if (*c == '"' || (unsigned char)*c < ' ' || *c == 127)
            return bm_fail(error, BOUMA_EINVAL,
                           "the directory 'local' has a character that cannot "
                           "be written to a machine file");
    rc = check_path(out->local, "local", error);
    return rc ? rc : check_path(out->target, "target", error);
}

/* ---- measuring ---------------------------------------------------------- */

struct probe {
    struct bm_comm *comm;
    bouma_probe_spec spec;
    struct bm_options options;
    bouma_probe_report report;
    struct bm_machine *machine;
};

enum { STEPS = 6 };

static void tell_progress(const struct probe *p, int step)
{
    if (p->options.progress)
        p->options.progress(p->options.progress_user, "measuring",
                            (uint64_t)step, STEPS);
}

/* Which ranks are on which node, and what memory nodes have. */
static int find_locations(struct probe *p, struct bm_error *error)
{
    struct bm_comm *comm = p->comm;
    size_t *sizes = bm_new(comm->a, (size_t)comm->size, sizeof(*sizes));
    struct bm_buffer mine, all;
    int rc;

    bm_buffer_init(&mine, comm->a);
    bm_buffer_init(&all, comm->a);
    bm_machine_tell(&mine, "auto");
    rc = sizes && !mine.failed
             ? BOUMA_OK
             : bm_fail(error, BOUMA_ENOMEM, "no memory for locations of ranks");
    rc = bm_comm_agree(comm, rc, error);
    if (!rc)
        rc = bm_comm_collect(comm, &mine, &all, sizes, rc, error);
    if (!rc)
        rc = bm_machine_make(&p->machine, comm->a,
                             &(struct bm_machine_source){.spec = "auto",
                                                         .ranks = comm->size,
                                                         .locations = &all,
                                                         .sizes = sizes},
                             error);
    rc = bm_comm_agree(comm, rc, error);
    bm_buffer_release(&all);
    bm_buffer_release(&mine);
    bm_drop(comm->a, sizes);
    return rc;
}

static void report_locations(struct probe *p)
{
    const struct bm_network *n = bm_machine_network(p->machine);
    const struct bm_tier *tiers;
    size_t count;

    p->report.ranks = p->comm->size;
    for (int r = 0; r < p->comm->size; r++) /* nodes are numbered by ranks */
        if (n->node(n->context, r) == p->report.nodes)
            p->report.nodes++;
    tiers = bm_machine_tiers(p->machine, &count);
    for (size_t i = 0; i < count; i++)
        if (tiers[i].kind == BOUMA_TIER_HBM)
            p->report.hbm_bytes = tiers[i].capacity;
        else
            p->report.dram_bytes = tiers[i].capacity;
}

/* What rank 0 can measure alone. */
static int measure_here(struct probe *p, struct bm_error *error)
{
    const bouma_probe_spec *s = &p->spec;
    const bouma_allocator *a = p->comm->a;
    int rc;

    tell_progress(p, 0);
    rc =
        bm_measure_memory(&p->report.dram, BOUMA_TIER_DRAM, s->tries, a, error);
    tell_progress(p, 1);
    if (!rc && p->report.hbm_bytes)
        rc = bm_measure_memory(&p->report.hbm, BOUMA_TIER_HBM, s->tries, a,
                               error);
    tell_progress(p, 2);
    if (!rc && s->local)
        rc = bm_measure_storage(&p->report.local, s->local, s->storage_bytes,
                                s->tries, a, error);
    tell_progress(p, 3);
    if (!rc && s->target)
        rc = bm_measure_storage(&p->report.target, s->target, s->storage_bytes,
                                s->tries, a, error);
    return rc;
}

/* All ranks get what rank 0 has found. */
static int share_report(struct probe *p, struct bm_error *error)
{
    struct bm_buffer b;
    int rc;

    bm_buffer_init(&b, p->comm->a);
    bm_put_bytes(&b, &p->report, sizeof(p->report));
    rc = b.failed ? bm_fail(error, BOUMA_ENOMEM, "no memory for a report")
                  : BOUMA_OK;
    rc = bm_comm_agree(p->comm, rc, error);
    if (!rc)
        rc = bm_comm_share(p->comm, &b, 0, rc, error);
    if (!rc && b.size == sizeof(p->report))
        memcpy(&p->report, b.data, sizeof(p->report));
    bm_buffer_release(&b);
    return rc;
}

/* What all ranks measure together. */
static int measure_ranks(struct probe *p, struct bm_error *error)
{
    bouma_probe_report *r = &p->report;
    int tries = p->spec.tries, rc;

    if (p->comm->rank == 0)
        tell_progress(p, 4);
    rc = bm_probe_network(p->comm, p->machine, tries, &r->network, error);
    if (!rc && p->comm->rank == 0)
        tell_progress(p, 5);
    if (!rc)
        rc = bm_probe_transports(
            p->comm,
            tries < LEAST_TRANSPORT_TRIES ? LEAST_TRANSPORT_TRIES : tries,
            &r->windows, &r->messages, error);
    if (!rc && r->windows > 0)
        r->transport = r->windows >= r->messages ? BOUMA_TRANSPORT_WINDOWS
                                                 : BOUMA_TRANSPORT_MESSAGES;
    if (!rc && p->comm->rank == 0)
        tell_progress(p, 6);
    return rc;
}

static int measure(struct probe *p, struct bm_error *error)
{
    int rc = find_locations(p, error);

    if (rc)
        return rc;
    report_locations(p);
    if (p->comm->rank == 0)
        rc = measure_here(p, error);
    rc = bm_comm_agree(p->comm, rc, error);
    if (!rc)
        rc = measure_ranks(p, error);
    if (!rc)
        rc = share_report(p, error);
    p->report.local_path = p->spec.local;
    return rc;
}

int bm_api_probe(struct bm_comm *comm, const bouma_probe_spec *spec,
                 const bouma_options *opts, bouma_probe_report *report,
                 char *message, size_t bytes)
{
    struct probe p = {.comm = comm};
    struct bm_error error = {0};
    int rc = bm_options_complete(&p.options, opts, &error);

    if (!rc)
        rc = check_spec(&p.spec, spec, &error);
    if (!rc)
        rc = bm_api_check_report(report, &error);
    rc = bm_comm_agree(comm, rc, &error);
    if (!rc)
        rc = measure(&p, &error);
    bm_machine_free(p.machine);
    bm_comm_free(comm);
    bm_api_tell(message, bytes, error.text);
    if (report)
        bm_reply(report, &p.report, sizeof(p.report));
    return rc;
}

int bouma_probe(bouma_probe_report *report, const bouma_probe_spec *spec,
                const bouma_options *opts, char *message, size_t bytes)
{
    BM_STRICT_MATH;
    struct bm_comm *comm;
    int rc = bm_api_alone(&comm, opts, message, bytes);

    return rc ? rc : bm_api_probe(comm, spec, opts, report, message, bytes);
}

/* ---- the machine file --------------------------------------------------- */

/* Three digits: more would not be the same tomorrow. */
static double rounded(double v)
{
    double unit = v > 0 ? pow(10, floor(log10(v)) - 2) : 1;

    return floor(v / unit + 0.5) * unit;
}

static void describe_tier(struct bm_description *d, bouma_tier kind,
                          const bouma_speed *speed, uint64_t capacity)
{
    if (speed->bandwidth > 0)
        d->tiers[kind - 1] = (struct bm_tier){
            .kind = kind,
            .latency = rounded(speed->latency),
            .bandwidth = rounded(speed->bandwidth),
            .capacity = capacity,
            .persistence =
                kind == BOUMA_TIER_LOCAL ? BM_KEEPS_FOR_JOB : BM_KEEPS_NOTHING};
}

static void put(struct bm_buffer *out, const char *text)
{
    bm_put_bytes(out, text, strlen(text));
}

/* How much was measured, and what the file has no words for. */
static void put_comments(struct bm_buffer *out, const bouma_probe_report *r)
{
    char line[160];

    snprintf(line, sizeof(line),
             "# Measured by %d rank%s on %d node%s%s; see docs/machine.md.\n",
             r->ranks, r->ranks == 1 ? "" : "s", r->nodes,
             r->nodes == 1 ? "" : "s",
             r->nodes == 1 && r->ranks > 1
                 ? ", so the network is the memory between them"
                 : "");
    put(out, line);
    if (r->windows <= 0 || r->messages <= 0)
        return;
    put(out, "# One rank gathers ");
    bm_speed_put(out, rounded(r->windows));
    put(out, " by windows, ");
    bm_speed_put(out, rounded(r->messages));
    put(out, " by messages.\n");
}

static void encode(struct bm_buffer *out, const bouma_probe_report *r)
{
    struct bm_description d;

    bm_description_init(&d, out->a);
    d.latency = rounded(r->network.latency);
    d.bandwidth = rounded(r->network.bandwidth);
    d.target_latency = rounded(r->target.latency);
    d.target_bandwidth = rounded(r->target.bandwidth);
    describe_tier(&d, BOUMA_TIER_DRAM, &r->dram, r->dram_bytes);
    describe_tier(&d, BOUMA_TIER_HBM, &r->hbm, r->hbm_bytes);
    describe_tier(&d, BOUMA_TIER_LOCAL, &r->local, 0);
    if (r->local_path)
        bm_format(d.local, sizeof(d.local), "%s", r->local_path);
    if (bouma_transport_name(r->transport))
        d.transport = r->transport;
    put_comments(out, r);
    bm_machine_file_encode(out, &d);
    bm_description_release(&d);
}

size_t bouma_probe_text(const bouma_probe_report *report, char *text,
                        size_t bytes)
{
    BM_STRICT_MATH;
    bouma_probe_report own = {0};
    struct bm_buffer b;
    size_t size;

    bm_buffer_init(&b, bm_allocator_default());
    if (report && bm_struct_copy(&own, sizeof(own), report, report->size))
        encode(&b, &own);
    size = b.failed ? 0 : b.size;
    if (text && bytes) {
        size_t n = size < bytes ? size : bytes - 1;

        if (n)
            memcpy(text, b.data, n);
        text[n] = 0;
    }
    bm_buffer_release(&b);
    return size;
}
