/* cmd_import.c -- bouma import: put arrays or particles from files into a
 * dataset. */
#include "choice_names.h"

#include "bouma_lists.h"
#include "import_run.h"
#include "storage_options.h"

static const struct option_spec options[] = {
    {.name = "into",
     .argument = "DS",
     .help = "the dataset; created if it does not exist (required)"},
    {.name = "step",
     .argument = "N",
     .help =
         "number of the step; default: one after the last; of .idx files: "
         "the timesteps to take, N, last or FIRST:END[:EACH]; default: all"},
    {.name = "time",
     .argument = "T",
     .help = "time of the step; default: its number"},
    {.field = "replace"},
    {.field = "clobber"},
    {.field = "force"},
    {.name = "grid",
     .scope = FOR_GRIDS,
     .argument = "NAME",
     .help = "name of the grid; default: grid"},
    {.name = "particles",
     .argument = "NAME",
     .help = "import particles, as a set of that name"},
    {.name = "var",
     .argument = "NAME",
     .many = true,
     .help = "name of the variable, one for each SRC; default: that of the "
             "file; particles: a column to import, .idx: a field; "
             "default: all"},
    {.name = "position",
     .scope = FOR_PARTICLES,
     .argument = "COLUMNS",
     .help = "particles: x,y,z or the name of a column of vectors; default: "
             "position, pos, or x,y,z"},
    {.name = "position-type",
     .scope = FOR_PARTICLES,
     .argument = "TYPE",
     .choices = "f32|f64",
     .help = "particles: type of positions; default: f32 if the columns are, "
             "else f64"},
    {.name = "position-tolerance",
     .scope = FOR_PARTICLES,
     .argument = "E",
     .help = "particles: largest error of any coordinate; default: 0, none"},
    {.name = "tolerance-of",
     .scope = FOR_PARTICLES,
     .argument = "NAME=E",
     .many = true,
     .help = "particles: largest error of one variable; 0: none"},
    {.name = "column",
     .scope = FOR_PARTICLES,
     .argument = "NAME:TYPE[:C]=FILE",
     .many = true,
     .help = "particles: a column of plain values, of C components"},
    {.name = "type-of",
     .scope = FOR_PARTICLES,
     .argument = "NAME=TYPE",
     .many = true,
     .help = "particles: type of a column of a text file; default: i64 or "
             "f64"},
    {.name = "unit-of",
     .scope = FOR_PARTICLES,
     .argument = "NAME=UNIT",
     .many = true,
     .help = "particles: unit of a variable"},
    {.name = "leaf",
     .scope = FOR_PARTICLES,
     .argument = "N",
     .help = "particles: most particles in a leaf of the tree; default: 256"},
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
    {.name = "fill-missing",
     .scope = FOR_GRIDS,
     .help = ".idx: use the field's default value for samples that cannot be "
             "read because a file is missing or damaged; default: fail"},
    STORAGE_OPTIONS,
    {.name = "spacing",
     .scope = FOR_GRIDS,
     .argument = "S[,S,S]",
     .help = "distance between samples along each axis"},
    {.name = "origin",
     .scope = FOR_GRIDS,
     .argument = "Z,Y,X",
     .help = "position of the first sample"},
    {.name = "length-unit", .argument = "UNIT", .help = "unit of positions"},
    {.name = "unit",
     .scope = FOR_GRIDS,
     .argument = "UNIT",
     .many = true,
     .help = "unit of values, for all variables or one for each"},
    {.name = "attr",
     .argument = "NAME=VALUE",
     .many = true,
     .help = "an attribute of the step; numbers are stored as numbers"},
    {.field = "memory_limit",
     .help = "particles, .idx files, and arrays in the other byte order: "
             "memory that a "
             "process may take; default: half of the node's, divided among "
             "its processes"},
    {0}};

static int run(struct context *ctx, const struct arguments *args)
{
    return arguments_has(args, "particles") ? import_particles(ctx, args)
                                            : import_grid(ctx, args);
}

const struct command cmd_import = {
    .name = "import",
    .summary = "put arrays or particles from files into a dataset",
    .operands = "SRC... --into DS [options]",
    .least = 0,
    .most = -1,
    .examples =
        "  bouma import rho.npy --into run.bouma\n"
        "  bouma import rho.raw --shape 512,512,512 --type f32 --into "
        "run.bouma\n"
        "  bouma import rho.npy T.npy --into run.bouma --step 40 --time 0.4\n"
        "  bouma import v.npy --components 3 --unit m/s --into run.bouma\n"
        "  mpirun -n 8 bouma-mpi import rho.npy --into run.bouma --files 4\n"
        "  bouma import sim.idx --into run.bouma --var rho --step 0:100:10\n"
        "  bouma import atoms.npz --particles atoms --into run.bouma\n"
        "  bouma import dump.lammpstrj --particles atoms --into run.bouma\n"
        "  bouma import p.csv --particles p --position-tolerance 1e-3 --into "
        "run.bouma\n",
    .footer =
        "All arrays become variables of one grid, in one step. The fields of "
        "an IDX dataset\n"
        "become variables, its timesteps steps with their numbers. Columns of "
        "particles may\n"
        "come from several files. Frames of a dump become steps: TIMESTEP is "
        "the number,\n"
        "and scaled coordinates become x, y and z.\n"
        "\n"
        "Coarse levels are subsamples of level 0, with the same tolerance. "
        "With the codec\n"
        "wavelet (and layout patch), or with --hz-wavelet, they are averages, "
        "and the tolerance\n"
        "holds at level 0 only.\n",
    .options = options,
    .imports = true,
    .takes = BOUMA_OPTION_USE_STEPS,
    .run = run};
