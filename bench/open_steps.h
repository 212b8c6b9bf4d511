/* open_steps.h -- what it takes to open a dataset of very many steps. */
#ifndef OPEN_STEPS_H
#define OPEN_STEPS_H

/* Print processor time of opening, of one step, and of the list of all, for
 * datasets of 1,000 to 100,000 steps in a directory. They are removed. */
void open_steps_measure(const char *directory);

#endif
