/* cmd_import.c -- bouma import: put arrays or particles from files into a
 * dataset. */
#include "choice_names.h"
#include "import_run.h"

static const struct option_spec options[] = {
    {.name = "into",
     .argument = "DS",
     .help = "the dataset; made if there is none (required)"},
    {.name = "step",
     .argument = "N",
     .help = "number of the step; default: one after the last"},
    {.name = "time", .argument = "T", .help = "its time; default: its number"},
    {.name = "replace", .field = "replace", .help = "write over such a step"},
    {.name = "clobber",
     .field = "clobber",
     .help = "start anew: a dataset that is there is removed"},
    {.name = "force",
     .field = "force",
     .help = "although another writer seems to be at work"},
    {.name = "grid",
     .argument = "NAME",
     .help = "name of the grid; default: grid"},
    {.name = "particles",
     .argument = "NAME",
     .help = "import particles, as a set of that name"},
    {.name = "var",
     .argument = "NAME",
     .many = true,
     .help = "name of a variable, for each SRC; default: the file's; of "
             "particles: a column to take; default: all"},
    {.name = "position",
     .argument = "COLUMNS",
     .help = "particles: x,y,z or the name of a column of vectors; default: "
             "position, pos, or x,y,z"},
    {.name = "position-type",
     .argument = "TYPE",
     .choices = "f32|f64",
     .help = "particles: default: f32 if the columns are, else f64"},
    {.name = "position-tolerance",
     .argument = "E",
     .help = "particles: largest error of any coordinate; default: 0, none"},
    {.name = "tolerance-of",
     .argument = "NAME=E",
     .many = true,
     .help = "particles: largest error of one attribute; 0: none"},
    {.name = "column",
     .argument = "NAME:TYPE[:C]=FILE",
     .many = true,
     .help = "particles: a column of plain values, of C components"},
    {.name = "type-of",
     .argument = "NAME=TYPE",
     .many = true,
     .help = "particles: type of a column of a text file; default: i64 or "
             "f64"},
    {.name = "unit-of",
     .argument = "NAME=UNIT",
     .many = true,
     .help = "particles: unit of an attribute"},
    {.name = "leaf",
     .argument = "N",
     .help = "particles: at most so many in a leaf of the tree; default: 256"},
    {.name = "shape",
     .argument = "NZ,NY,NX",
     .help = "samples along each axis, slowest first (for .raw)"},
    {.name = "type",
     .argument = "TYPE",
     .choices = TYPES,
     .help = "type of the values (for .raw)"},
    {.name = "components",
     .argument = "N",
     .help = "values a sample: the last axis of a .npy file"},
    {.name = "codec",
     .argument = "CODEC",
     .choices = CHOICES(BOUMA_CODEC_LIST),
     .help = "how values are stored; default: interp with a tolerance "
             "(quantise of particles), zstd without"},
    {.name = "tolerance",
     .argument = "E",
     .help = "largest error of any value; without one, every bit is kept; of "
             "particles: of attributes that are f32 or f64"},
    {.name = "relative",
     .argument = "E",
     .help = "the same, as a part of the range of the variable's values"},
    {.name = "codec-level",
     .argument = "N",
     .help = "effort of zstd, 1 to 22; default: 1"},
    {.name = "nominal",
     .help = "wavelet: a tolerance of coefficients, not checked; faster"},
    {.name = "patch",
     .argument = "P[,P,P]",
     .help = "samples of a patch along each axis, powers of two"},
    {.name = "levels", .argument = "L", .help = "levels of resolution"},
    {.name = "order",
     .argument = "ORDER",
     .choices = CHOICES(BOUMA_ORDER_LIST),
     .field = "order",
     .help = "coarse levels first, or each chunk's together"},
    {.name = "spacing",
     .argument = "S[,S,S]",
     .help = "distance of samples along each axis"},
    {.name = "origin",
     .argument = "Z,Y,X",
     .help = "position of the first sample"},
    {.name = "length-unit", .argument = "UNIT", .help = "unit of positions"},
    {.name = "unit",
     .argument = "UNIT",
     .many = true,
     .help = "unit of values, for all variables or one for each"},
    {.name = "attr",
     .argument = "NAME=VALUE",
     .many = true,
     .help = "a remark on the step; numbers are kept as such"},
    {.name = "files",
     .argument = "F",
     .field = "files",
     .help = "number of files; default: by bytes and processes"},
    {.name = "file-size",
     .argument = "BYTES",
     .field = "file_size",
     .help = "wanted size of a file, such as 64M"},
    {.name = "memory-limit",
     .argument = "BYTES",
     .field = "memory_limit",
     .help = "particles, and arrays in the other byte order: memory that a "
             "process may take; default: half of the node's, divided among "
             "its processes"},
    {.name = "distribute",
     .argument = "SCHEME",
     .choices = CHOICES(BOUMA_DISTRIBUTE_LIST),
     .field = "distribute",
     .help = "which process puts a patch together"},
    {.name = "assign",
     .argument = "SCHEME",
     .choices = CHOICES(BOUMA_ASSIGN_LIST),
     .field = "assign",
     .help = "which file holds a chunk, or which particles; kdtree, aug and "
             "split: particles only"},
    {.name = "place",
     .argument = "SCHEME",
     .choices = CHOICES(BOUMA_PLACE_LIST),
     .field = "place",
     .help = "which process writes a file"},
    {.name = "machine",
     .argument = "SPEC",
     .field = "machine",
     .help = "flat, torus:8x8x8, ... or a machine file; for --place cost"},
    {.name = "durability",
     .argument = "MODE",
     .choices = &(BOUMA_DURABILITY_LIST(CHOICE_WORD) "=")[1],
     .field = "durability",
     .help = "what survives a power loss; group=K: K steps at once"},
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
        "  bouma import atoms.npz --particles atoms --into run.bouma\n"
        "  bouma import dump.lammpstrj --particles atoms --into run.bouma\n"
        "  bouma import p.csv --particles p --position-tolerance 1e-3 --into "
        "run.bouma\n",
    .notes = "SRC is a .npy file (of 1 to 3 axes, in C or Fortran order), or a "
             ".raw file\nof plain values in C order, in the byte order of this "
             "machine. All of them\nbecome variables of one grid, in one "
             "step.\n\n"
             "With --particles, SRC is a .npz file (each member is a column, "
             "those with two\naxes are vectors), any number of .npy files "
             "(each is a column, or several if it\nhas records), a .csv file "
             "(a line of names, then numbers), or text dumps of\nLAMMPS, "
             "whose frames become steps: TIMESTEP is the number, and scaled\n"
             "coordinates become x, y and z.\n\n"
             "Coarse levels have samples of level 0, within the tolerance if "
             "there is one. With\nthe codec wavelet they are averages, and "
             "the tolerance holds at level 0 only.\n",
    .options = options,
    .run = run};
