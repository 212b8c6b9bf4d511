/* help_text.c -- the help of the program and of its commands, from their
 * tables. */
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "importer.h"

static int left_width(const struct option_spec *option)
{
    int width = (int)strlen(option->name) + 2;

    return width + (option->argument ? (int)strlen(option->argument) + 1 : 0);
}

static int widest(const struct command *command)
{
    struct option_spec option;
    int width = 0;

    for (int i = 0; command_option(command, i, &option, NULL); i++)
        if (left_width(&option) > width)
            width = left_width(&option);
    return width;
}

/* Print a text that begins at column 'indent', in lines of up to COLUMNS. */
static void print_wrapped(const char *text, int indent)
{
    enum { COLUMNS = 100 };
    int column = indent;

    while (*text) {
        int length = (int)strcspn(text, " ");

        if (column > indent && column + 1 + length > COLUMNS) {
            printf("\n%*s", indent, "");
            column = indent;
        }
        column += printf("%s%.*s", column > indent ? " " : "", length, text);
        text += length;
        text += strspn(text, " ");
    }
}

static void print_option(const struct option_spec *option, int width)
{
    if (option->letter)
        printf("  -%c, ", option->letter);
    else
        printf("      ");
    printf("--%s%s%s%*s  ", option->name, option->argument ? " " : "",
           option->argument ? option->argument : "", width - left_width(option),
           "");
    print_wrapped(option->help, width + 8);
    if (option->choices)
        printf("\n      %*s  %s", width, "", option->choices);
    putchar('\n');
}

/* Those of a command's own table, and those of all commands; or those of the
 * library. */
static void print_options(const struct command *command, bool library)
{
    int width = widest(command), count = 0;
    enum option_origin origin;
    struct option_spec option;

    for (int i = 0; command_option(command, i, &option, &origin); i++) {
        if ((origin == LIBRARY_OPTION) != library)
            continue;
        if (library && count == 0)
            printf("\nOptions of the library, which BOUMA_OPTIONS can also "
                   "set:\n");
        print_option(&option, width);
        count++;
    }
}

static void print_sources(void)
{
    const struct importer *one;

    printf("\nFormats of SRC:\n");
    for (int i = 0; (one = importer_at(i)); i++) {
        if (one->grids)
            printf("  %-11s  grids: %s\n", one->name, one->grids);
        if (one->particles)
            printf("  %-11s  particles: %s\n", one->name, one->particles);
    }
}

static void print_formats(const struct command *command)
{
    const struct exporter *one;

    if (command->imports)
        print_sources();

    for (int i = 0; (one = exporter_at(command->exports, i)); i++)
        printf("%s  %-6s  %s%s\n", i ? "" : "\nFormats of OUT:\n", one->suffix,
               one->help, one->stream ? "; also -" : "");
}

void command_print_help(const struct command *command)
{
    printf("%s %s: %s.\n\nExamples:\n%s\nUsage: %s %s %s\n\nOptions:\n",
           session_program(), command->name, command->summary,
           command->examples, session_program(), command->name,
           command->operands);
    print_options(command, false);
    print_options(command, true);
    print_formats(command);
    if (command->footer)
        printf("\n%s", command->footer);
}

void program_print_help(void)
{
    printf("%s: multiresolution storage for grids and particles.\n\n"
           "Examples:\n"
           "  bouma import rho.npy --into run.bouma\n"
           "  bouma info run.bouma\n"
           "  bouma read run.bouma grid/rho --level 3 -o small.npy\n"
           "  bouma query run.bouma atoms --quality 0.1 -o few.npz\n\n"
           "Commands:\n",
           session_program());
    for (int i = 0; commands[i]; i++)
        printf("  %-12s%s\n", commands[i]->name, commands[i]->summary);
    printf("\n'%s help COMMAND' says more about each; '%s --version' prints "
           "the version.\nExit status: 0 done, 1 the data or a file is at "
           "fault, 2 the call is.\n",
           session_program(), session_program());
}
