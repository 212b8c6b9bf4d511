/* slurm.c -- see slurm.h. */
#include "machine/slurm.h"

#include <stdlib.h>
#include <string.h>

/* Whether two names are of one node, with or without its domain. */
static int same_host(const char *a, const char *b)
{
    size_t n = strcspn(a, ".");

    return n && n == strcspn(b, ".") && !strncmp(a, b, n);
}

static int take_name(struct bm_slurm_location *out, const char *name,
                     const char *host)
{
    size_t n = name ? strlen(name) : 0;

    if (!n || n >= sizeof(out->node) || !same_host(name, host))
        return 0;
    memcpy(out->node, name, n + 1);
    return 1;
}

/* Where the node's name begins in an address: behind as many switches as the
 * pattern has. NULL: the two do not fit. */
static const char *node_of(const char *address, const char *pattern)
{
    while (!strncmp(pattern, "switch.", 7)) {
        const char *dot = strchr(address, '.');

        if (!dot || dot == address)
            return NULL;
        address = dot + 1;
        pattern += 7;
    }
    return strcmp(pattern, "node") || !address[0] ? NULL : address;
}

static void take_address(struct bm_slurm_location *out, const char *address,
                         const char *pattern, const char *host)
{
    const char *node = address && pattern ? node_of(address, pattern) : NULL;
    size_t n = node ? (size_t)(node - address) : 0;

    if (!node || !take_name(out, node, host) || !n || n > sizeof(out->switches))
        return;
    memcpy(out->switches, address, n - 1); /* without the last '.' */
    out->switches[n - 1] = 0;
}

struct counting {
    struct bm_slurm_location *out;
    const char *host;
    long left;
};

static int take_nth(void *context, const char *name, size_t bytes)
{
    struct counting *c = context;
    char copy[BM_HOST_BYTES];

    if (c->left--)
        return BOUMA_OK;
    memcpy(copy, name, bytes);
    copy[bytes] = 0;
    take_name(c->out, copy, c->host);
    return BOUMA_ENOTFOUND; /* of no use any more: ends the list */
}

void bm_slurm_read(struct bm_slurm_location *out, const struct bm_slurm *env,
                   const char *host)
{
    struct bm_error error = {0};

    memset(out, 0, sizeof(*out));
    take_address(out, env->address, env->pattern, host);
    if (!out->node[0])
        take_name(out, env->node_name, host);
    if (!out->node[0] && env->node_list && env->node_id) {
        struct counting c = {out, host, strtol(env->node_id, NULL, 10)};

        if (c.left >= 0)
            bm_hostlist_each(env->node_list, strlen(env->node_list), take_nth,
                             &c, &error);
    }
}
