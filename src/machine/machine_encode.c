/* machine_encode.c -- writing the text of a machine; docs/machine.md has it. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "machine/machine_file.h"
#include "machine/quantity.h"

static void put(struct bm_buffer *out, const char *text)
{
    bm_put_bytes(out, text, strlen(text));
}

static void put_count(struct bm_buffer *out, const char *key, uint64_t v)
{
    char text[64];

    snprintf(text, sizeof(text), "%s%" PRIu64, key, v);
    put(out, text);
}

static void put_speeds(struct bm_buffer *out, double latency, double bandwidth)
{
    if (latency > 0) {
        put(out, " latency ");
        bm_seconds_put(out, latency);
    }
    if (bandwidth > 0) {
        put(out, " bandwidth ");
        bm_speed_put(out, bandwidth);
    }
}

/* "torus:8x8x4,per=16" */
static void put_model(struct bm_buffer *out, const struct bm_model *model)
{
    put(out, model->kind->name);
    for (int i = 0; i < model->axes; i++)
        put_count(out, i ? "x" : ":", (uint64_t)model->extent[i]);
    if (model->per)
        put_count(out, ",per=", (uint64_t)model->per);
    if (model->io)
        put_count(out, ",io=", (uint64_t)model->io);
}

static void put_network(struct bm_buffer *out, const struct bm_description *d)
{
    if (!d->model.kind && d->latency <= 0 && d->bandwidth <= 0)
        return;
    put(out, "network");
    if (d->model.kind) {
        put(out, " ");
        put_model(out, &d->model);
    }
    put_speeds(out, d->latency, d->bandwidth);
    put(out, "\n");
}

/* The coordinates of a position, for each number of the model. */
static void put_position(struct bm_buffer *out, const struct bm_description *d,
                         int position)
{
    struct bm_error error = {0};
    struct bm_topology t;

    if (bm_topology_shape(&t, &d->model, &error))
        return;
    for (int i = 0; i < t.axes; i++)
        put_count(out, i ? "," : " at ",
                  (uint64_t)(position / t.stride[i] % t.extent[i]));
}

static void put_nodes(struct bm_buffer *out, const struct bm_description *d)
{
    for (int i = 0; i < d->node_names.count; i++) {
        put(out, "node ");
        put(out, bm_name_table_name(&d->node_names, i));
        if (d->nodes[i].at >= 0)
            put_position(out, d, d->nodes[i].at);
        if (d->nodes[i].target >= 0)
            put_count(out, " target ", (uint64_t)d->nodes[i].target);
        put(out, "\n");
    }
}

/* All switches, so that they keep their order; then what is below each. */
static void put_switches(struct bm_buffer *out, const struct bm_description *d)
{
    const struct bm_name_table *names = &d->switch_names;

    for (int s = 0; s < names->count; s++) {
        put(out, "switch ");
        put(out, bm_name_table_name(names, s));
        put(out, "\n");
    }
    for (int s = 0; s < names->count; s++)
        if (d->switches[s].parent >= 0) {
            put(out, "switch ");
            put(out, bm_name_table_name(names, d->switches[s].parent));
            put(out, " switches ");
            put(out, bm_name_table_name(names, s));
            put(out, "\n");
        }
    for (int i = 0; i < d->node_names.count; i++)
        if (d->nodes[i].parent >= 0) {
            put(out, "switch ");
            put(out, bm_name_table_name(names, d->nodes[i].parent));
            put(out, " nodes ");
            put(out, bm_name_table_name(&d->node_names, i));
            put(out, "\n");
        }
}

static void put_tiers(struct bm_buffer *out, const struct bm_description *d)
{
    static const char *const keeps[] = {"nothing", "job", "always"};

    for (int i = 0; i < BM_TIERS; i++) {
        const struct bm_tier *tier = &d->tiers[i];

        if (!tier->kind)
            continue;
        put(out, "tier ");
        put(out, bouma_tier_name(tier->kind));
        put_speeds(out, tier->latency, tier->bandwidth);
        if (tier->capacity) {
            put(out, " capacity ");
            bm_size_put(out, tier->capacity);
        }
        put(out, " keeps ");
        put(out, keeps[tier->persistence]);
        if (tier->kind == BOUMA_TIER_LOCAL && d->local[0]) {
            put(out, " path \"");
            put(out, d->local);
            put(out, "\"");
        }
        put(out, "\n");
    }
}

static void put_target(struct bm_buffer *out, const struct bm_description *d)
{
    if (d->target_latency <= 0 && d->target_bandwidth <= 0 && !d->stripe &&
        d->target_switch < 0)
        return;
    put(out, "target");
    put_speeds(out, d->target_latency, d->target_bandwidth);
    if (d->stripe) {
        put(out, " stripe ");
        bm_size_put(out, d->stripe);
    }
    if (d->target_switch >= 0) {
        put(out, " switch ");
        put(out, bm_name_table_name(&d->switch_names, d->target_switch));
    }
    put(out, "\n");
}

void bm_machine_file_encode(struct bm_buffer *out,
                            const struct bm_description *d)
{
    put(out, "machine 1\n");
    put_network(out, d);
    put_nodes(out, d);
    put_switches(out, d);
    put_tiers(out, d);
    put_target(out, d);
    if (d->transport) {
        put(out, "transport ");
        put(out, bouma_transport_name(d->transport));
        put(out, "\n");
    }
    for (int i = 0; i < BM_COST_TERMS; i++)
        if (d->without >> i & 1) {
            put(out, "cost without ");
            put(out, bm_cost_term_name(i));
            put(out, "\n");
        }
    bm_work_rates_put(out, &d->rates);
}
