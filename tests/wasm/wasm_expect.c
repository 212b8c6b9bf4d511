/* wasm_expect.c -- wasm_expect DATA DATASET...: read datasets in many ways by
 * the functions that the WebAssembly module exports, compiled for this machine.
 * What was asked and answered goes to standard output, a line of JSON for each
 * call; what was read goes to the file DATA. replay.js asks the module the
 * same. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bouma_wasm.h"
#include "chance.h"
#include "json.h"

enum { BOXES = 3 };

struct run {
    FILE *data;
    uint64_t at; /* bytes in it */
    uint64_t chance;
    struct bw_dataset *d;
    struct json line;
};

static int64_t draw(struct run *r, int64_t n)
{
    return (int64_t)chance_below(&r->chance, (uint64_t)n);
}

/* ---- lines --------------------------------------------------------------- */

static void begin(struct run *r, const char *call)
{
    json_clear(&r->line);
    json_add(&r->line, "{");
    json_string(&r->line, "call", call);
}

/* How the call ended, and its answer (may be NULL). */
static void end(struct run *r, const char *answer)
{
    json_string(&r->line, "status", bw_status_name(r->d));
    if (bw_status(r->d))
        json_string(&r->line, "message", bw_message(r->d));
    json_key(&r->line, "answer");
    json_add(&r->line, "%s}", answer ? answer : "null");
    if (r->line.failed)
        exit(2);
    puts(r->line.text);
}

static void keep(struct run *r, const char *key, const void *data, size_t bytes)
{
    if (bytes && fwrite(data, 1, bytes, r->data) != bytes)
        exit(2);
    json_key(&r->line, key);
    json_add(&r->line, "[%" PRIu64 ",%zu]", r->at, bytes);
    r->at += bytes;
}

/* The number behind a key of an answer. */
static size_t number_of(const char *answer, const char *key)
{
    const char *found = answer ? strstr(answer, key) : NULL;

    return found ? (size_t)strtoull(found + strlen(key), NULL, 10) : 0;
}

/* ---- grids --------------------------------------------------------------- */

static void read_box(struct run *r, bouma_step *step, const bouma_grid_info *g,
                     const char *variable, int level, const int64_t *box,
                     int type)
{
    long long sides[2 * BOUMA_MAX_DIMS];
    const char *answer;

    begin(r, "read");
    json_string(&r->line, "grid", g->name);
    json_string(&r->line, "variable", variable);
    json_integer(&r->line, "level", level);
    json_string(&r->line, "type",
                type ? bouma_type_name((bouma_type)type) : "");
    for (int i = 0; box && i < 2 * g->ndims; i++)
        sides[i] = box[i];
    if (box)
        json_integers(&r->line, "box", sides, 2 * g->ndims);
    answer = bw_read(r->d, step, g->name, variable, level, box, type);
    if (answer)
        keep(r, "data", bw_data(r->d), number_of(answer, "\"bytes\":"));
    end(r, answer);
}

static void read_variable(struct run *r, bouma_step *step,
                          const bouma_grid_info *g, const char *variable)
{
    static const int types[BOXES] = {0, BOUMA_TYPE_F32, BOUMA_TYPE_U8};
    int64_t box[2 * BOUMA_MAX_DIMS];

    /* One more than there are. */
    for (int level = 0; level <= g->levels; level++)
        read_box(r, step, g, variable, level, NULL, 0);
    for (int i = 0; i < BOXES; i++) {
        int level = (int)draw(r, g->levels);

        for (int d = 0; d < g->ndims; d++) {
            box[d] = draw(r, g->shape[d]);
            box[g->ndims + d] = box[d] + 1 + draw(r, g->shape[d] - box[d]);
        }
        read_box(r, step, g, variable, level, box, types[i]);
    }
    box[g->ndims] = g->shape[0] + 1; /* beyond the grid */
    read_box(r, step, g, variable, 0, box, 0);
}

static void read_grid(struct run *r, bouma_step *step, bouma_grid *grid)
{
    bouma_grid_info g = {.size = sizeof(g)};

    if (bouma_grid_info_get(&g, grid))
        exit(2);
    for (int i = 0; i < g.variables; i++) {
        bouma_variable_info v = {.size = sizeof(v)};

        if (bouma_variable_info_get(&v, bouma_grid_variable(grid, i)))
            exit(2);
        read_variable(r, step, &g, v.name);
    }
    read_box(r, step, &g, "no such variable", 0, NULL, 0);
}

/* ---- particles ----------------------------------------------------------- */

/* What a query asks for, beside the fractions. */
enum { BOX = 1, WHERE = 2, POSITION_ALONE = 4 };

static void add_box(struct run *r, struct bw_query *q,
                    const bouma_particles_info *p)
{
    double box[2 * BOUMA_MAX_DIMS];

    for (int d = 0; d < p->ndims; d++) {
        double span = p->high[d] - p->low[d];

        box[d] = p->low[d] + span * (double)draw(r, 4) / 8;
        box[p->ndims + d] = p->high[d] - span * (double)draw(r, 4) / 8;
    }
    json_reals(&r->line, "box", box, 2 * p->ndims);
    bw_query_box(q, box, 1);
}

static void add_condition(struct run *r, struct bw_query *q,
                          bouma_particles *set, const bouma_particles_info *p)
{
    bouma_variable *v = p->variables ? bouma_particles_variable(set, 0) : NULL;
    bouma_variable_info about = {.size = sizeof(about)};
    bouma_range range;

    v = v ? v : bouma_particles_position(set);
    if (bouma_variable_info_get(&about, v) ||
        bouma_variable_range(&range, v, 0) || range.empty)
        return;
    json_string(&r->line, "where", about.name);
    json_real(&r->line, "low", range.low / 2 + range.high / 2);
    if (!bw_query_where(q, about.name, 0))
        bw_query_limit(q, 0, BOUMA_TYPE_F64, 0, range.low / 2 + range.high / 2);
}

static void keep_columns(struct run *r, const char *answer)
{
    const char *at = answer;

    json_key(&r->line, "columns");
    json_add(&r->line, "[");
    for (int i = 0; at && (at = strstr(at, "\"bytes\":")); i++) {
        keep(r, NULL, bw_column(r->d, i), number_of(at, "\"bytes\":"));
        at++;
    }
    json_add(&r->line, "]");
}

static void query(struct run *r, bouma_step *step, bouma_particles *set,
                  const bouma_particles_info *p, unsigned what, double from,
                  double quality)
{
    struct bw_query *q = bw_query_new(r->d, step, p->name);
    const char *answer;

    begin(r, "particles");
    json_string(&r->line, "name", p->name);
    json_real(&r->line, "from", from);
    json_real(&r->line, "quality", quality);
    if (what & BOX)
        add_box(r, q, p);
    if (what & WHERE)
        add_condition(r, q, set, p);
    if (what & POSITION_ALONE) {
        json_string(&r->line, "only", "position");
        bw_query_variable(q, "position");
    }
    answer = bw_query_run(q, from, quality);
    if (answer)
        keep_columns(r, answer);
    end(r, answer);
    bw_query_free(q);
}

static void read_particles(struct run *r, bouma_step *step,
                           bouma_particles *set)
{
    bouma_particles_info p = {.size = sizeof(p)};

    if (bouma_particles_info_get(&p, set))
        exit(2);
    query(r, step, set, &p, 0, 0, 1);
    query(r, step, set, &p, 0, 0, 0.1);
    query(r, step, set, &p, POSITION_ALONE, 0.1, 0.5);
    query(r, step, set, &p, BOX, 0, 1);
    query(r, step, set, &p, WHERE, 0, 1);
    query(r, step, set, &p, BOX | WHERE | POSITION_ALONE, 0, 0.6);
    query(r, step, set, &p, 0, 0.5, 0.2); /* not a range */
}

/* ---- datasets ------------------------------------------------------------ */

static void read_step(struct run *r, int64_t number)
{
    bouma_step *step;

    begin(r, "step");
    json_integer(&r->line, "number", number);
    step = bw_step_open(r->d, number);
    end(r, step ? bw_step_describe(r->d, step) : NULL);
    if (!step)
        return;
    for (int i = 0; i < bouma_step_grid_count(step); i++)
        read_grid(r, step, bouma_step_grid(step, i));
    for (int i = 0; i < bouma_step_particles_count(step); i++)
        read_particles(r, step, bouma_step_particles(step, i));
    bw_step_free(step);
}

/* The numbers of the steps, out of the answer that lists them. */
static void read_dataset(struct run *r, const char *path)
{
    static const char key[] = "\"step\":";
    const char *answer = NULL, *at;
    char *steps;

    r->d = bw_open(path);
    if (!r->d)
        exit(2);
    begin(r, "open");
    json_string(&r->line, "path", path);
    if (!bw_status(r->d))
        answer = bw_describe(r->d);
    end(r, answer);
    steps = answer ? strdup(answer) : NULL;
    for (at = steps; at && (at = strstr(at, key)); at++)
        read_step(r, strtoll(at + strlen(key), NULL, 10));
    if (steps)
        read_step(r, 123456789);
    free(steps);
    bw_close(r->d);
}

int main(int argc, char **argv)
{
    struct run r = {.chance = 1};

    if (argc < 3 || !(r.data = fopen(argv[1], "wb")))
        return 2;
    for (int i = 2; i < argc; i++)
        read_dataset(&r, argv[i]);
    json_release(&r.line);
    return fclose(r.data) ? 2 : 0;
}
