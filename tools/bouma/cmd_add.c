/* cmd_add.c -- bouma add: more variables for a step that is there. */
#include "choice_names.h"

#include "bouma_lists.h"
#include "import_run.h"

static const struct option_spec options[] = {
    {.name = "into", .argument = "DS", .help = "the dataset (required)"},
    {.name = "step", .argument = "N", .help = "the step (required)"},
    {.field = "force"},
    {.name = "grid",
     .scope = FOR_GRIDS,
     .argument = "NAME",
     .help = "the grid, of the step or a new one; default: grid"},
    {.name = "particles",
     .argument = "NAME",
     .help = "add particles, as a set of that name, which is new"},
    {.name = "var",
     .argument = "NAME",
     .many = true,
     .help = "name of the variable, one for each SRC; default: that of the "
             "file; particles: a column to import; default: all"},
    {.name = "position",
     .scope = FOR_PARTICLES,
     .argument = "COLUMNS",
     .help = "particles: x,y,z or the name of a column of vectors; default: "
             "position, pos, or x,y,z"},
    {.name = "position-tolerance",
     .scope = FOR_PARTICLES,
     .argument = "E",
     .help = "particles: largest error of any coordinate; default: 0, none"},
    {.name = "shape",
     .scope = FOR_GRIDS,
     .argument = "NZ,NY,NX",
     .help = "samples along each axis, slowest first (for .raw)"},
    {.name = "type",
     .scope = FOR_GRIDS,
     .argument = "TYPE",
     .choices = TYPES,
     .help = "type of the values (for .raw)"},
    {.name = "components",
     .scope = FOR_GRIDS,
     .argument = "N",
     .help = "values per sample: the last axis of a .npy file"},
    {.name = "codec",
     .argument = "CODEC",
     .choices = CHOICES(BOUMA_CODEC_LIST),
     .help = "how values are stored; default: zstd, with a tolerance interp "
             "(particles: quantise)"},
    {.name = "tolerance",
     .argument = "E",
     .help = "largest error of any value; default: none, every bit is kept"},
    {.name = "relative",
     .scope = FOR_GRIDS,
     .argument = "E",
     .help = "largest error, as a fraction of the range of the variable"},
    {.name = "codec-level",
     .argument = "N",
     .help = "effort of zstd, 1 to 22; default: 1"},
    {.name = "patch",
     .scope = FOR_GRIDS,
     .argument = "P[,P,P]",
     .help = "a new grid: samples of a patch along each axis, powers of two"},
    {.name = "levels",
     .scope = FOR_GRIDS,
     .argument = "L",
     .help = "a new grid: levels of resolution"},
    {.name = "spacing",
     .scope = FOR_GRIDS,
     .argument = "S[,S,S]",
     .help = "a new grid: distance between samples along each axis"},
    {.name = "origin",
     .scope = FOR_GRIDS,
     .argument = "Z,Y,X",
     .help = "a new grid: position of the first sample"},
    {.name = "length-unit", .argument = "UNIT", .help = "unit of positions"},
    {.name = "unit",
     .scope = FOR_GRIDS,
     .argument = "UNIT",
     .many = true,
     .help = "unit of values, for all variables or one for each"},
    {0}};

static int run(struct context *ctx, const struct arguments *args)
{
    static const char *const refused[] = {"replace", "clobber"};

    if (!arguments_has(args, "step"))
        return context_fail(ctx, CALL_AT_FAULT,
                            "to which step? say it: --step N");
    for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++)
        if (arguments_has(args, refused[i]))
            return context_fail(ctx, CALL_AT_FAULT,
                                "--%s has no meaning here: what a step has "
                                "stays when something is added",
                                refused[i]);
    return arguments_has(args, "particles") ? import_particles(ctx, args)
                                            : import_grid(ctx, args);
}

const struct command cmd_add = {
    .name = "add",
    .summary = "add variables, grids or particles to a step that is there",
    .operands = "SRC... --into DS --step N [options]",
    .least = 1,
    .most = -1,
    .examples = "  bouma add vorticity.npy --into run.bouma --step 40 --grid "
                "fluid\n"
                "  bouma add halos.npz --particles halos --into run.bouma "
                "--step 40\n",
    .footer = "What the step has is not touched, nor written again, and cannot "
              "be changed: to\n"
              "replace it, import the whole step with --replace. A step can be "
              "added to 64 times.\n",
    .options = options,
    .imports = true,
    .takes = BOUMA_OPTION_USE_STEPS,
    .run = run};
