/* open_steps.h -- what it takes to open a dataset of very many steps. */
#ifndef OPEN_STEPS_H
#define OPEN_STEPS_H

#include "bouma.h"

/* End the program, which is bench_open; the second unless all is well. */
_Noreturn void fail(const char *what, const char *why);
void check(int rc, const bouma_dataset *ds);

/* Print processor time of opening, of one step, and of the list of all, for
 * datasets of 1,000 to 'most' steps in a directory. They are removed. */
void open_steps_measure(const char *directory, int most);

#endif
