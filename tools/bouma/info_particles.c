/* info_particles.c -- bouma info: sets of particles, for people. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "attribute_value.h"
#include "choice_names.h"
#include "format_text.h"
#include "info.h"
#include "locate.h"
#include "text_table.h"

/* ---- the tree over the files --------------------------------------------- */

/* A walk over nodes in preorder. The right children that are still to come are
 * on a stack: each is met where the one before it has ended. */
struct walk {
    int64_t *right; /* [room] */
    int *depth;     /* of these */
    size_t count, room;
    int next; /* depth of the next node */
};

static bool push(struct walk *walk, int64_t right, int depth)
{
    if (walk->count == walk->room) {
        size_t room = walk->room ? 2 * walk->room : 64;
        int64_t *rights = realloc(walk->right, room * sizeof(*rights));
        int *depths;

        if (rights)
            walk->right = rights;
        depths = realloc(walk->depth, room * sizeof(*depths));
        if (depths)
            walk->depth = depths;
        if (!rights || !depths)
            return false;
        walk->room = room;
    }
    walk->right[walk->count] = right;
    walk->depth[walk->count++] = depth;
    return true;
}

/* Call 'each' (may be NULL) with each node and its depth; the largest depth. */
static int walk_tree(const bouma_particles *particles,
                     void (*each)(const bouma_particles_node *node, int depth,
                                  int ndims),
                     int ndims)
{
    struct walk walk = {0};
    bouma_particles_node node = {.size = sizeof(node)};
    int deepest = 0;

    for (int64_t i = 0; !bouma_particles_node_get(&node, particles, i); i++) {
        if (i > 0 && walk.count > 0 && walk.right[walk.count - 1] == i)
            walk.next = walk.depth[--walk.count];
        if (walk.next > deepest)
            deepest = walk.next;
        if (each)
            each(&node, walk.next, ndims);
        if (node.right && !push(&walk, node.right, walk.next + 1))
            break;
        walk.next++;
    }
    free(walk.right);
    free(walk.depth);
    return deepest;
}

static void print_node(const bouma_particles_node *node, int depth, int ndims)
{
    char low[FORMAT_BYTES], high[FORMAT_BYTES], count[FORMAT_BYTES];

    printf("    %*s", 2 * (depth + 1), "");
    if (node->right && node->axis < 0)
        printf("by the order of ranks: ");
    else if (node->right)
        printf("%c at %g: ", "xyz"[node->axis % 3], node -> split);
    else
        printf("file %" PRId64 ": ", node->file);
    printf("%s", format_count(count, node->count, "particle"));
    if (!node->right)
        printf(", %s to %s", format_point(low, ndims, node->low),
               format_point(high, ndims, node->high));
    putchar('\n');
}

/* ---- files --------------------------------------------------------------- */

struct info_files info_files_of(const bouma_step *step,
                                const bouma_particles *particles)
{
    struct info_files out = {.fewest = UINT64_MAX};
    bouma_particles_file file = {.size = sizeof(file)};
    bouma_step_file bytes = {.size = sizeof(bytes)};

    for (int64_t i = 0; !bouma_particles_file_get(&file, particles, i); i++) {
        if (bouma_step_file_get(&bytes, step, file.file))
            bytes.bytes = 0;
        out.total += bytes.bytes;
        out.tree_bytes += file.tree_bytes;
        out.largest = bytes.bytes > out.largest ? bytes.bytes : out.largest;
        out.fewest = file.count < out.fewest ? file.count : out.fewest;
        out.most = file.count > out.most ? file.count : out.most;
    }
    if (out.fewest > out.most)
        out.fewest = 0;
    out.depth = walk_tree(particles, NULL, 0);
    return out;
}

static void print_files(const bouma_step *step,
                        const bouma_particles *particles,
                        const bouma_particles_info *about)
{
    struct info_files files = info_files_of(step, particles);
    uint64_t count = about->files > 0 ? (uint64_t)about->files : 1;
    char largest[FORMAT_BYTES], mean[FORMAT_BYTES], trees[FORMAT_BYTES],
        text[FORMAT_BYTES];
    bouma_step_details details = {.size = sizeof(details)};

    bouma_step_details_get(&details, step);
    printf("    %s, assign=%s, largest %s, mean %s; %" PRIu64 " to %" PRIu64
           " particles in each; trees in them %s\n",
           format_count(text, (uint64_t)about->files, "file"),
           choice_text(bouma_assign_name(details.assign_particles)),
           format_bytes(largest, files.largest),
           format_bytes(mean, files.total / count), files.fewest, files.most,
           format_bytes(trees, files.tree_bytes));
    if (about->tree_nodes > 0)
        printf("    tree over the files: %s, depth %d\n",
               format_count(text, (uint64_t)about->tree_nodes, "node"),
               files.depth);
}

/* ---- a set --------------------------------------------------------------- */

static bouma_variable *variable_at(void *of, int i)
{
    return particle_variable(of, i);
}

/* Bytes of each level of detail, of all variables, and of all up to it. There
 * are many levels, so that each has a line, not a column. */
static int print_levels(bouma_particles *particles,
                        const bouma_particles_info *about, struct context *ctx)
{
    char text[FORMAT_BYTES];
    struct text_table table;
    uint64_t sum = 0;
    int rc;

    if (about->levels < 2)
        return DONE;
    text_table_init(&table, "rrr");
    text_table_add(&table, "LEVEL");
    text_table_add(&table, "BYTES");
    text_table_add(&table, "SO FAR");
    for (int k = about->levels - 1; k >= 0; k--) {
        uint64_t bytes = 0;

        for (int i = 0; i <= about->variables; i++)
            bytes +=
                bouma_variable_level_bytes(particle_variable(particles, i), k);
        sum += bytes;
        text_table_add(&table, "%d", k);
        text_table_add(&table, "%s", format_bytes(text, bytes));
        text_table_add(&table, "%s", format_bytes(text, sum));
    }
    putchar('\n');
    rc = text_table_print(&table, ctx, 4);
    text_table_release(&table);
    return rc;
}

int info_print_particles(const struct info *info, struct context *ctx,
                         const bouma_step *step, bouma_particles *particles)
{
    struct info_variables variables = {.at = variable_at, .of = particles};
    char low[FORMAT_BYTES], high[FORMAT_BYTES];
    bouma_particles_info about = {.size = sizeof(about)};
    int rc;

    bouma_particles_info_get(&about, particles);
    info_variables_limit(&variables, info, particle_variable_count(particles));
    printf("\n  %sparticles %s%s: %" PRIu64 " on %d %s, levels of detail 0 to "
           "%d",
           context_bold(ctx), about.name, context_plain(ctx), about.count,
           about.ndims, about.ndims == 1 ? "axis" : "axes",
           about.levels > 0 ? about.levels - 1 : 0);
    if (about.strays)
        printf("; %" PRIu64 " not at a finite position", about.strays);
    putchar('\n');
    if (about.count > about.strays) {
        printf("    from %s to %s", format_point(low, about.ndims, about.low),
               format_point(high, about.ndims, about.high));
        if (about.unit && about.unit[0]) {
            putchar(' ');
            print_clean(about.unit);
        }
        putchar('\n');
    }
    print_files(step, particles, &about);
    if (info->tree && about.tree_nodes > 0)
        walk_tree(particles, print_node, about.ndims);
    attributes_print(bouma_particles_attributes(particles), 4);
    rc = info_print_variables(&variables, ctx);
    return rc ? rc : print_levels(particles, &about, ctx);
}
