/* topology_conf.c -- the switches of Slurm's topology.conf (its tree plugin):
 *
 *     SwitchName=s0 Nodes=dev[0-5]
 *     SwitchName=s2 Switches=s[0-1] LinkSpeed=100 */
#include <string.h>
#include <strings.h>

#include "machine/machine_file.h"
#include "machine/node_list.h"

/* If a word is "KEY=value" (in any case), its value, without quotes. */
static int value_of(struct bm_word *value, struct bm_word word, const char *key)
{
    size_t n = strlen(key);

    if (word.bytes <= n || strncasecmp(word.text, key, n) ||
        word.text[n] != '=')
        return 0;
    value->text = word.text + n + 1;
    value->bytes = word.bytes - n - 1;
    if (value->bytes > 1 && value->text[0] == '"' &&
        value->text[value->bytes - 1] == '"') {
        value->text++;
        value->bytes -= 2;
    }
    return 1;
}

static int is_known(struct bm_word word)
{
    struct bm_word value;

    return value_of(&value, word, "SwitchName") ||
           value_of(&value, word, "BlockName");
}

int bm_topology_conf_is(const char *text, size_t bytes)
{
    struct bm_tokenizer lines = {.text = text, .bytes = bytes};
    struct bm_error error = {0};

    return bm_tokenizer_next(&lines, &error) > 0 && is_known(lines.words[0]);
}

static int read_word(struct bm_node_list *s, const struct bm_tokenizer *lines,
                     struct bm_word word)
{
    struct bm_word value;

    if (value_of(&value, word, "Nodes"))
        return bm_node_list_nodes(s, value);
    if (value_of(&value, word, "Switches"))
        return bm_node_list_switches(s, value);
    if (value_of(&value, word, "LinkSpeed")) /* of no use to Slurm either */
        return BOUMA_OK;
    return bm_tokenizer_wrong(lines, word,
                              "behind SwitchName come Nodes=, Switches= and "
                              "LinkSpeed=",
                              s->error);
}

static int read_switch(struct bm_node_list *s, const struct bm_tokenizer *lines)
{
    struct bm_word name = {"", 0};
    int rc;

    s->line = lines->line;
    if (!value_of(&name, lines->words[0], "SwitchName"))
        return bm_tokenizer_wrong(lines, lines->words[0],
                                  "only trees are read here, whose lines begin "
                                  "with SwitchName=",
                                  s->error);
    rc = bm_node_list_switch(s, name, &s->parent);
    for (int i = 1; !rc && i < lines->count; i++)
        rc = read_word(s, lines, lines->words[i]);
    return rc;
}

int bm_topology_conf_parse(struct bm_description *d, const char *text,
                           size_t bytes, struct bm_error *error)
{
    struct bm_tokenizer lines = {.text = text, .bytes = bytes};
    struct bm_node_list s = {.d = d, .error = error};
    int rc, more;

    do {
        more = bm_tokenizer_next(&lines, error);
        rc = more > 0 ? read_switch(&s, &lines) : more;
    } while (!rc && more > 0);
    return rc;
}
