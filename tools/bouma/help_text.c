/* help_text.c -- the help of the program and of its commands, from their
 * tables. */
#include <stdio.h>
#include <string.h>

#include "command.h"

static int left_width(const struct option_spec *option)
{
    int width = (int)strlen(option->name) + 2;

    return width + (option->argument ? (int)strlen(option->argument) + 1 : 0);
}

static int widest(const struct option_spec *table, int width)
{
    for (; table->name; table++)
        if (left_width(table) > width)
            width = left_width(table);
    return width;
}

static void print_options(const struct option_spec *table, int width)
{
    for (; table->name; table++) {
        if (table->letter)
            printf("  -%c, ", table->letter);
        else
            printf("      ");
        printf("--%s%s%s%*s  %s", table->name, table->argument ? " " : "",
               table->argument ? table->argument : "",
               width - left_width(table), "", table->help);
        if (table->choices)
            printf("\n      %*s  %s", width, "", table->choices);
        putchar('\n');
    }
}

void command_print_help(const struct command *command)
{
    int width = widest(command->options, widest(common_options, 0));

    printf("%s %s: %s.\n\nExamples:\n%s\nUsage: %s %s %s\n\nOptions:\n",
           session_program(), command->name, command->summary,
           command->examples, session_program(), command->name,
           command->operands);
    print_options(command->options, width);
    print_options(common_options, width);
    if (command->notes)
        printf("\n%s", command->notes);
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
    printf("\n'%s help COMMAND' tells more about each; '%s --version' tells "
           "the version.\n"
           "Exit status: 0 done, 1 the data or a file is at fault, 2 the call "
           "is.\n",
           session_program(), session_program());
}
