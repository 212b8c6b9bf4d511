/* fuzz_topology_conf.c -- no text makes the reader of Slurm's topology.conf
 * crash; what it accepts is a tree, or has a switch below itself. And what a
 * rank tells does no harm: the same bytes, taken for that. */
#include <stdio.h>

#include "fuzz_help.h"
#include "machine/machine.h"
#include "machine/machine_file.h"

static void read_conf(const void *text, size_t bytes)
{
    struct bm_description d;
    struct bm_topology t = {0};
    struct bm_error error = {0};
    int rc;

    bm_description_init(&d, bm_allocator_default());
    rc = bm_topology_conf_parse(&d, text, bytes, &error);
    if (!rc)
        rc = bm_description_topology(&t, &d, &error);
    HOLDS(!rc == !error.status && (!rc || error.text[0]));
    for (int i = 1; !rc && i < t.nodes && i < 100; i++)
        HOLDS(bm_fabric_hops(&t, 0, i) == bm_fabric_hops(&t, i, 0));
    bm_topology_release(&t);
    bm_description_release(&d);
}

/* Two ranks, each of which told one half. */
static void hear(uint8_t *told, size_t bytes)
{
    struct bm_buffer all = {.data = told, .size = bytes};
    size_t sizes[2] = {bytes / 2, bytes - bytes / 2};
    struct bm_error error = {0};
    struct bm_machine *m;
    int rc = bm_machine_make(
        &m, bm_allocator_default(),
        &(struct bm_machine_source){
            .spec = "auto", .ranks = 2, .locations = &all, .sizes = sizes},
        &error);

    HOLDS(!rc == !!m && (!rc || error.text[0]));
    if (m) {
        const struct bm_network *n = bm_machine_network(m);

        HOLDS(n->hops(n->context, 0, 1) == n->hops(n->context, 1, 0));
    }
    bm_machine_free(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *copy = fuzz_copy(data, size);

    read_conf(copy, size);
    hear(copy, size);
    free(copy);
    return 0;
}
