/* fuzz_machine_file.c -- no text makes the reader of machine files crash. What
 * it accepts, it writes as a text that says the same; and the machine of it has
 * distances. */
#include <stdio.h>

#include "fuzz_help.h"
#include "machine/machine.h"
#include "machine/machine_file.h"

/* The text of what a text says; 0 if it is refused, with a reason. */
static int again(struct bm_buffer *out, const void *text, size_t bytes)
{
    struct bm_description d;
    struct bm_error error = {0};
    int rc;

    bm_buffer_init(out, bm_allocator_default());
    bm_description_init(&d, bm_allocator_default());
    rc = bm_machine_file_parse(&d, text, bytes, &error);
    HOLDS(!rc == !error.status && (!rc || error.text[0]));
    if (!rc)
        bm_machine_file_encode(out, &d);
    bm_description_release(&d);
    return !rc;
}

static void look(const void *text, size_t bytes)
{
    enum { RANKS = 40 };
    struct bm_error error = {0};
    const struct bm_network *n;
    double sums[RANKS], sum = 0;
    struct bm_machine *m;
    int ranks[RANKS];

    if (bm_machine_make(&m, bm_allocator_default(),
                        &(struct bm_machine_source){.spec = "file",
                                                    .file = text,
                                                    .file_bytes = bytes,
                                                    .ranks = RANKS},
                        &error)) {
        HOLDS(!m && error.text[0]);
        return;
    }
    n = bm_machine_network(m);
    for (int i = 0; i < RANKS; i++)
        ranks[i] = i;
    HOLDS(
        !n->sums(n->context, bm_allocator_default(), ranks, NULL, RANKS, sums));
    for (int i = 0; i < RANKS; i++) {
        sum += n->hops(n->context, i, 7);
        HOLDS(n->hops(n->context, i, i) == 0);
        HOLDS(n->hops_to_target(n->context, i) >= 0);
    }
    HOLDS(sum == sums[7]);
    HOLDS(n->latency > 0 && n->bandwidth > 0);
    bm_machine_free(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *copy = fuzz_copy(data, size);
    struct bm_buffer first, second;

    if (again(&first, copy, size)) {
        HOLDS(again(&second, first.data, first.size));
        HOLDS(first.size == second.size &&
              !memcmp(first.data, second.data, first.size));
        bm_buffer_release(&second);
        look(copy, size);
    }
    bm_buffer_release(&first);
    free(copy);
    return 0;
}
