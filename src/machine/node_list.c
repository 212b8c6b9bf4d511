/* node_list.c -- see node_list.h. */
#include "machine/node_list.h"

#include <string.h>

#include "machine/hostlist.h"

static int no_memory(struct bm_node_list *s)
{
    return bm_fail(s->error, BOUMA_ENOMEM, "line %d: no memory for its names",
                   s->line);
}

/* Names are of letters, digits and some signs, so that they can be written
 * again, and there are not too many. */
static int check_name(struct bm_node_list *s, const char *name, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (!(name[i] >= 'a' && name[i] <= 'z') &&
            !(name[i] >= 'A' && name[i] <= 'Z') &&
            !(name[i] >= '0' && name[i] <= '9') && !strchr("._-:+@", name[i]))
            return bm_fail(s->error, BOUMA_EINVAL,
                           "line %d: '%.*s': a name has letters, digits and "
                           "'._-:+@' only",
                           s->line, bytes > 80 ? 80 : (int)bytes, name);
    if (++s->names > BM_MOST_NAMES)
        return bm_fail(s->error, BOUMA_EINVAL,
                       "line %d: the file has more than %d names", s->line,
                       BM_MOST_NAMES);
    return BOUMA_OK;
}

static int find_node(struct bm_node_list *s, const char *name, size_t bytes,
                     int *out)
{
    int rc = check_name(s, name, bytes);

    if (rc)
        return rc;
    *out = bm_description_node(s->d, name, bytes, s->line);
    return *out < 0 ? no_memory(s) : BOUMA_OK;
}

int bm_node_list_switch(struct bm_node_list *s, struct bm_word name, int *out)
{
    int rc = check_name(s, name.text, name.bytes);

    if (rc)
        return rc;
    *out = bm_description_switch(s->d, name.text, name.bytes, s->line);
    return *out < 0 ? no_memory(s) : BOUMA_OK;
}

static int node_below(void *context, const char *name, size_t bytes)
{
    struct bm_node_list *s = context;
    struct bm_described_node *node;
    int i, rc = find_node(s, name, bytes, &i);

    if (rc)
        return rc;
    node = &s->d->nodes[i];
    if (node->parent >= 0 && node->parent != s->parent)
        return bm_fail(s->error, BOUMA_EINVAL,
                       "line %d: node %s is on switch %s already", s->line,
                       bm_name_table_name(&s->d->node_names, i),
                       bm_name_table_name(&s->d->switch_names, node->parent));
    node->parent = s->parent;
    return BOUMA_OK;
}

static int switch_below(void *context, const char *name, size_t bytes)
{
    struct bm_node_list *s = context;
    int i, rc = bm_node_list_switch(s, (struct bm_word){name, bytes}, &i);

    if (!rc && s->d->switches[i].parent < 0)
        s->d->switches[i].parent = s->parent;
    return rc;
}

static int node_itself(void *context, const char *name, size_t bytes)
{
    struct bm_node_list *s = context;
    int i, rc = find_node(s, name, bytes, &i);

    return rc ? rc : s->each(s->context, i);
}

/* What is wrong with the list itself has no line in its message yet. */
static int each_of(struct bm_node_list *s, struct bm_word list,
                   bm_each_host *each)
{
    struct bm_error error = {0};
    int rc = bm_hostlist_each(list.text, list.bytes, each, s, &error);

    if (error.status)
        bm_fail(s->error, rc, "line %d: %s", s->line, error.text);
    return rc;
}

int bm_node_list_nodes(struct bm_node_list *s, struct bm_word list)
{
    return each_of(s, list, node_below);
}

int bm_node_list_switches(struct bm_node_list *s, struct bm_word list)
{
    return each_of(s, list, switch_below);
}

int bm_node_list_each_node(struct bm_node_list *s, struct bm_word list,
                           int (*each)(void *context, int node), void *context)
{
    s->each = each;
    s->context = context;
    return each_of(s, list, node_itself);
}
